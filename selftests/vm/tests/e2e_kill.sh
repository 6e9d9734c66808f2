#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srpold is killed at random moments, while links change and so weights are
# written: packets go on, none is lost; it begins again with the same objects, and
# what an operator made is untouched. Stopped for ten seconds it declares nothing
# down when it goes on.
#
# SRPOL_KILLS: how often it is killed; make long-kill has 100
# SRPOL_CLOCK=counted
# SRPOL_TIMEOUT=600

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

kills=${SRPOL_KILLS:-5}
RANDOM=${SRPOL_SEED:-$$}
ping=

stop_ping() {
	[ -z "$ping" ] || kill "$ping" 2>/dev/null || :
	[ -z "$ping" ] || wait "$ping" 2>/dev/null || :
}

config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "probes": { "interval-ms": 20, "multiplier": 10, "timeout-ms": 200 },
	  "weights": { "algorithm": "wecmp", "delay-us": 10000000,
	               "interval-ms": 100 } }
	END
}

# What there is on A, but for what counts and changes by itself
objects() {
	on A -j path show | gojq -c '.[] | [ .id, .name, .origin, .segments ]'
	on A -j policy show | gojq -c '.[] | [ .color, .endpoint, (.candidates[] |
		[ .preference, (.segment_lists[] |
		  [ .path, .weight ]) ]) ]'
	on A -j rule show | gojq -c '.[] | [ .prio, .name, .color, .origin ]'
	on A -j sid show | gojq -c '.[] | [ .sid, .behavior, .origin ]'
}

as_before() {
	objects >"$work/now"
	cmp -s "$work/before" "$work/now"
}

# Until it is told to stop; a word that was begun is waited for, or the next engine
# would get it
up_and_down() {
	local stop=

	trap 'stop=1' TERM
	while [ -z "$stop" ]; do
		on A engine link set leaf1 spine2 capacity 50G || :
		on A engine link set leaf1 spine2 capacity 100G || :
	done >/dev/null 2>&1
}

generation() {
	on A -j config show | gojq '.[0].generation'
}

late_ticks() {
	on A -j engine show | gojq .late_ticks
}

# kill_once: a link's capacity goes up and down until that; not in a subshell
written=0
kill_once() {
	local moment=$((RANDOM % 400)) words before

	before=$(generation)
	up_and_down &
	words=$!
	read -rt "0.$(printf %03d "$moment")" <>"$work/never" || :
	kill -9 "${engine[A]}"
	wait "${engine[A]}" 2>/dev/null || :
	kill $words 2>/dev/null || :
	wait $words 2>/dev/null || :
	before=$(($(generation) - before))
	written=$((written + before))
	echo "# after $moment ms and $before changes of the module"
	start_engine A
}

mkfifo "$work/never"
at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop_ping
fabric_topology >"$work/topology.json"
config A >"$work/A.json"
config B >"$work/B.json"

# what an operator made
on A path add 8192 segs fc00:0:99::1 dev hA via fd00:a::fe name by-hand
on A policy add color 7 endpoint fd00:c::1 candidate segment-list 8192
on A sid add fc00:0:a::77 behavior End.DT46
on A rule add prio 100 dst fd00:b::/64 color 100
on B rule add prio 100 dst fd00:a::/64 color 100
start_engine A
start_engine B
check "host A: four paths, probed and up" patiently 60 usable A 4
check "host B: likewise" patiently 60 usable B 4
objects >"$work/before"
check_equal "the operator has a path, an SID and a rule" 3 \
	"$(grep -c '"static"' "$work/before")"
check "and a policy" grep -q '^\[7,"fd00:c::1",.*\[8192,1\]' "$work/before"

# what a shell starts in the background ignores INT, after which ping sums up
ip netns exec "$(fabric_ns hostA)" env --default-signal=INT \
	ping -i 0.02 -W 5 -I fd00:a::1 fd00:b::1 >"$work/ping" 2>&1 &
ping=$!
for ((n = 1; n <= kills; n++)); do
	kill_once
	check "killed $n: four paths again" patiently 60 usable A 4
	check "the same objects with the same weights" patiently 60 as_before
done
check "before it was killed weights were written, at least once" [ $written -gt 0 ]
[ $ktap_failures -eq 0 ] || diff "$work/before" "$work/now" || :

late=$(late_ticks)
kill -STOP "${engine[A]}"
read -rt 10 <>"$work/never" || :
kill -CONT "${engine[A]}"
check "stopped for ten seconds: it notices" patiently 60 eval \
	'[ "$(late_ticks)" -gt "$late" ]'
check "and probes go on" patiently 60 usable A 4
check_equal "nothing was declared down" "" "$(grep "is down" "$work/A.log" || :)"
check "nothing is changed" as_before

kill -INT $ping
wait $ping || :
ping=
sed -n 's/^\([0-9]* packets.*\)/# \1/p' "$work/ping"
check "packets went on, none was lost" \
	grep -qE '^[0-9]+ packets transmitted, .* 0% packet loss' "$work/ping"
# steered N: so many packets at least, and none that was to be was not
steered() {
	on A -j stats show all | gojq -e --argjson n "$1" '
		map({ key: .reason, value: .packets }) | from_entries |
		.steered >= $n and ."no-policy" == 0 and
		."invalid-passthrough" == 0 and ."invalid-drop" == 0'
}
check "all of them steered" \
	steered "$(sed -n 's/^\([0-9]*\) packets transmitted.*/\1/p' "$work/ping")"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
