#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Spines that fall silent, one after the other, while 64 flows go over all four:
# how long do packets go to the dead one? Measured at the spine itself: from the
# last packet that it forwarded to the last one that came. SRPOL_FAILURES of them
# at probes every 3 ms, and so many at the defaults.
#
# make long-silent has 20 of each, and SRPOL_LIMITS: the most microseconds that
# are allowed. Here times are only told: an idle guest's clock follows that of
# the machine, which may be busy.
#
# SRPOL_CLOCK=counted
# SRPOL_TIMEOUT=1800

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

failures=${SRPOL_FAILURES:-3}
spines=(spine1 spine2 spine3 spine4)
watchers=()
pids=()

stop() {
	local pid

	for pid in "${watchers[@]}" "${pids[@]}"; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
}

# config PROBES
config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "A" ],
	  "probes": { $1 "wait-to-restore-ms": 300 },
	  "weights": { "delay-us": 100000 } }
	END
}

# last SPINE: "IN NS OUT NS" of it
last() {
	head -n 1 "$work/$1"
}

# moved SPINE WAS: packets went over it since
moved() {
	local was now

	read -r _ was _ <<<"$2"
	read -r _ now _ <<<"$(last "$1")"
	[ "$now" -gt "$was" ]
}

all_carry() {
	local spine

	for spine in "${spines[@]}"; do
		moved "$spine" "$(<"$work/$spine.was")" || return 1
	done
}

wait_for_all() {
	local spine

	for spine in "${spines[@]}"; do
		last "$spine" >"$work/$spine.was"
	done
	busywait 60 all_carry
}

no_more() {
	local was

	was=$(last "$1")
	sleep 0.2
	! moved "$1" "$was"
}

suspects() {
	on A -j engine show | jq -r '.suspects[].link' | sort -u
}

named() {
	grep -q "$1" <<<"$(suspects)"
}

# fail SPINE: the time in microseconds, into $work/times
fail() {
	local spine=$1 in out others

	fabric_silence "$spine" on
	busywait 60 state_of A "$(path_over A "$spine")" 'down (probes-lost)' ||
		return
	busywait 60 named "$spine" || return
	others=$(suspects | grep -v "$spine" || :)
	[ -z "$others" ] || echo "$spine: $others" >>"$work/wrong"
	busywait 60 no_more "$spine" || return
	read -r _ in _ out <<<"$(last "$spine")"
	echo $(((in - out) / 1000)) >>"$work/times"
	fabric_silence "$spine" off
	busywait 60 usable A 4 && wait_for_all
}

# distribution NAME LIMIT-US
distribution() {
	local name=$1 limit=$2 n

	rm -f "$work/times" "$work/wrong"
	check "$name: four paths, probed and up" busywait 60 usable A 4
	check "$name: flows over all spines" wait_for_all
	for ((n = 0; n < failures; n++)); do
		fail "${spines[n % 4]}" || {
			not_ok "$name: failure $n of ${spines[n % 4]}"
			return
		}
	done
	echo "# $name: ms from failure to the last packet:" \
		"$(sort -n "$work/times" | awk '{ printf "%.1f ", $1 / 1000 }')"
	sort -n "$work/times" | awk -v name="$name" '
		{ t[NR] = $1 / 1000; sum += t[NR] }
		END { printf "# %s: min %.1f median %.1f mean %.1f max %.1f of %d\n",
		      name, t[1], t[int((NR + 1) / 2)], sum / NR, t[NR], NR }'
	check_equal "$name: packets leave a dead spine${limit:+ in $limit us}" \
		"$failures" "$(awk -v limit="${limit:-60000000}" \
			'$1 < limit' "$work/times" | wc -l)"
	echo "# $name: ticks that came late: $(on A -j engine show |
		jq .late_ticks)"
	check_equal "$name: the right link, and no other, is named" "" \
		"$(cat "$work/wrong" 2>/dev/null || :)"
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop
fabric_topology >"$work/topology.json"
on A rule add prio 100 dst fd00:b::/64 color 100

# host B ends what comes, by hand: no engine of its own probes
on B dev add hB role uplink
on B sid add fc00:0:b::d6 behavior End.DT46
for spine in "${spines[@]}"; do
	fabric_exec "$spine" python3 selftests/vm/tests/e2e_silent.py \
		watch "$work/$spine" fc00:0:b::d6 &
	watchers+=($!)
done
fabric_exec hostB python3 selftests/vm/tests/e2e_silent.py sink fd00:b::1 \
	>"$work/sink" &
pids+=($!)
check "the sink is ready" busywait 30 grep -q ready "$work/sink"

config '"interval-ms": 3, "multiplier": 3,' >"$work/A.json"
start_engine A
renice -n -15 -p "${engine[A]}" >/dev/null
check "the engine is there" busywait 60 usable A 4
fabric_exec hostA python3 selftests/vm/tests/e2e_silent.py \
	send fd00:a::1 fd00:b::1 64 "${SRPOL_GAP_US:-500}" &
pids+=($!)
read -r fast slow <<<"${SRPOL_LIMITS:-}"
distribution "probes every 3 ms" "$fast"

config '' >"$work/A.json"
kill -HUP "${engine[A]}"
check "the defaults" busywait 30 eval \
	'on A -j engine show | jq -e ".interval_ms == 10" >/dev/null'
distribution "defaults" "$slow"

check_equal "no path was down but those of dead spines" $((2 * failures)) \
	"$(grep -c 'is down' "$work/A.log")"
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
