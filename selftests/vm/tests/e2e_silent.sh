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
# the machine, which may be busy. SRPOL_SLOWER=N: probes are so much rarer, as a
# kernel that checks what it does cannot answer them in 3 ms.
#
# SRPOL_CLOCK=counted
# SRPOL_TIMEOUT=1800
# SRPOL_DEBUG=kernel

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
interval=$((3 * ${SRPOL_SLOWER:-1}))
declare -A nth=()
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

# The loops below look at files, without a process: on a processor that is
# emulated each one costs as much as a second of probes.

# until_true SECONDS COMMAND...
until_true() {
	local end=$((SECONDS + $1 + 1))
	shift

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt 0.02 <>"$work/never" || :
	done
}

# last SPINE: times when packets last came in and went out, into in and out
last() {
	read -r _ in _ out _ <"$work/$1" || :
}

# carries SPINE SINCE: it sent packets on after that
carries() {
	local in=0 out=0

	last "$1"
	[ "$out" -gt "$2" ]
}

all_carry() {
	local spine in out now=0

	for spine in "${spines[@]}"; do
		last "$spine"
		[ "$out" -le "$now" ] || now=$out
	done
	for spine in "${spines[@]}"; do
		until_true 60 carries "$spine" "$now" || return
	done
}

# no_more SPINE: nothing came for a tenth of a second
no_more() {
	local in=0 out=0 was

	last "$1"
	was=$in
	read -rt 0.1 <>"$work/never" || :
	last "$1"
	[ "$in" = "$was" ]
}

# told TEXT N: srpold has said that so often
told() {
	local log

	log=$(<"$work/A.log")
	log=${log//"$1"/$'\001'}
	log=${log//[!$'\001']}
	[ ${#log} -ge "$2" ]
}

# fail SPINE N: for the N-th time; microseconds go to $work/times
fail() {
	local spine=$1 n=$2 in=0 out=0 suspects

	fabric_silence "$spine" on
	until_true 60 told "$spine-B is down" "$n" || return
	suspects=$(on A -j engine show | gojq -r '[ .suspects[].link ] | join(" ")')
	case $suspects in
	*"$spine"*)	[[ ${suspects//$spine} != *spine* ]] ||
				echo "$spine: $suspects" >>"$work/wrong" ;;
	*)		echo "$spine: nothing" >>"$work/wrong" ;;
	esac
	until_true 60 no_more "$spine" || return
	last "$spine"
	echo $(((in - out) / 1000)) >>"$work/times"
	echo "# $spine: $(((in - out) / 1000)) us"
	fabric_silence "$spine" off
	until_true 60 told "$spine-B answers again" "$n" && all_carry
}

# distribution NAME LIMIT-US
distribution() {
	local name=$1 limit=$2 n spine

	rm -f "$work/times" "$work/wrong"
	check "$name: four paths, probed and up" busywait 60 usable A 4
	check "$name: flows over all spines" all_carry
	for ((n = 0; n < failures; n++)); do
		spine=${spines[n % 4]}
		nth[$spine]=$((${nth[$spine]:-0} + 1))
		fail "$spine" "${nth[$spine]}" || {
			not_ok "$name: failure $n, of $spine"
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
		gojq .late_ticks)"
	check_equal "$name: the right link, and no other, is named" "" \
		"$(cat "$work/wrong" 2>/dev/null || :)"
}

mkfifo "$work/never"
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
	ip netns exec "$(fabric_ns "$spine")" python3 selftests/vm/tests/e2e_silent.py \
		watch "$work/$spine" fc00:0:b::d6 &
	watchers+=($!)
done
ip netns exec "$(fabric_ns hostB)" python3 selftests/vm/tests/e2e_silent.py sink fd00:b::1 \
	>"$work/sink" &
pids+=($!)
check "the sink is ready" busywait 30 grep -q ready "$work/sink"

config "\"interval-ms\": $interval, \"multiplier\": 3," >"$work/A.json"
start_engine A
renice -n -15 -p "${engine[A]}" >/dev/null
check "the engine is there" busywait 60 usable A 4
ip netns exec "$(fabric_ns hostA)" python3 selftests/vm/tests/e2e_silent.py \
	send fd00:a::1 fd00:b::1 64 "${SRPOL_GAP_US:-500}" &
pids+=($!)
read -r fast slow <<<"${SRPOL_LIMITS:-}"
distribution "probes every $interval ms" "$fast"

config '' >"$work/A.json"
kill -HUP "${engine[A]}"
check "the defaults" busywait 30 eval \
	'on A -j engine show | gojq -e ".interval_ms == 10" >/dev/null'
distribution "defaults" "$slow"

check_equal "no path was down but those of dead spines" $((2 * failures)) \
	"$(grep -c 'is down' "$work/A.log")"
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
