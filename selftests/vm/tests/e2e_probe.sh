#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Probes that XDP takes: srpold finds them in the data plane's map. Somebody on
# the link who records them and sends them again, changed or not, neither keeps
# a dead path alive nor kills a live one.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "probes": { "interval-ms": 20, "multiplier": 3, "timeout-ms": 40,
	              "wait-to-restore-ms": 300 },
	  "weights": { "delay-us": 100000 } }
	END
}

show() {
	on A -j engine show | gojq "$1"
}

# path SPINE KEY: of the path over it
path() {
	on A -j engine paths | gojq ".[] | select(.name | contains(\"$1\")) | .$2"
}

counted() {
	[ "$(show ".$1")" -ge "$2" ]
}

reason() {
	on A -j stats show all |
		gojq "[ .[] | select(.reason == \"$1\") | .packets ] | add // 0"
}

# on leaf1, which is where host A's link ends
record() {
	fabric_exec leaf1 timeout 60 python3 selftests/vm/tests/e2e_probe.py \
		record host "$@"
}

send() {
	fabric_exec leaf1 timeout 120 python3 \
		selftests/vm/tests/e2e_probe.py send host "$@"
}

down_all_the_while() {
	local n

	for ((n = 0; n < 20; n++)); do
		[ "$(path "$1" state)" = '"down"' ] || return 1
		pause 0.05
	done
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
fabric_topology >"$work/topology.json"
config A >"$work/A.json"

start_engine A
check "four paths, probed and up" busywait 60 usable A 4
check "their probes are taken by XDP" busywait 30 counted by_xdp 40
by_socket=$(show .by_socket)
check "the probe SID is the engine's" grep -qE \
	'^sid fc00:0:a::e.* behavior probe .*origin engine' \
	<<<"$(on A sid show | tr '\n' ' ' | sed 's/ sid /\nsid /g')"
on A -j engine paths >"$work/paths"
check_equal "each went five hops, and came whole" '[5]' \
	"$(gojq -c '[ .[].hops ] | unique' "$work/paths")"
check "RTTs, as a histogram too" gojq -e '
	all(.[]; .rtt_min_ms > 0 and .rtt_ms >= .rtt_min_ms and
	         (.rtt_log2_ns | add) >= .received)' "$work/paths"

# metric NAME: values of host A's samples of that name
metric() {
	on A metrics | awk -v name="srpol_$1" '{ n = $1; sub(/{.*/, "", n) }
		n == name { print $NF }'
}

# 1/10 s would be a lot here, and 0 none
times() {
	metric "$1" | awk '$1 > 0 && $1 < 0.1 { n++ } END { print n, NR }'
}

check_equal "metrics: srpold answers, with its paths" "1 4 4" \
	"$(metric engine_up) $(metric engine_paths) $(metric engine_paths_usable)"
check_equal "the RTT of each, in seconds" "4 4" \
	"$(times engine_path_rtt_seconds)"
check_equal "none loses any" "0 0 0 0" \
	"$(metric engine_path_loss_ratio | xargs)"
check_equal "links that probes take are up" "1" \
	"$(metric engine_link_up | sort -u)"
check_equal "no sample is there twice" "" \
	"$(on A metrics | sed -n 's/^\(srpol.*\) [^ ]*$/\1/p' | sort | uniq -d)"
for form in openmetrics text; do
	on A metrics $form | "${BUILD:-build}/tools/bin/promtool" check metrics \
		>"$work/promtool" 2>&1 || :
	# in OpenMetrics the help of a counter is at its family's name
	check_equal "promtool has nothing to say of $form" "" \
		"$(grep -v '_total no help text$' "$work/promtool" || :)"
done
check_equal "nothing went wrong" "0 0 0" \
	"$(on A -j engine show | gojq -r '"\(.forged) \(.strange) \(.stale)"')"

# ---- forgeries while all is well
record "$work/probes" fc00:0:23::1 8
echo "# recorded $(wc -l <"$work/probes") probes over spine3"
received=$(path spine3 received)
send "$work/probes" same 40 1
check "sent again: stale" busywait 20 counted stale 40
send "$work/probes" tag 40 1
check "with another tag: forged" busywait 20 counted forged 40
send "$work/probes" seq 40 1
check "with another number: forged" busywait 20 counted forged 80
send "$work/probes" list 40 1
check "with another list: strange" busywait 20 counted strange 40
check "the log says so, and what list it was" \
	busywait 20 grep -q 'probe-strange: from fd00:a::1, 5 segments' "$work/A.log"
send "$work/probes" noise 500 1
check_equal "noise: all four paths are up" 4 "$(show .paths_usable)"
check "no answer was counted that was not sent" gojq -e '
	all(.[]; .received + .late <= .sent)' <<<"$(on A -j engine paths)"
check "drops are counted by name" [ "$(reason probe-stale)" -ge 40 ]
check "and of the forged ones" [ "$(reason probe-forged)" -ge 80 ]
check_equal "none of all that came to the socket" "$by_socket" \
	"$(show .by_socket)"
check "meanwhile probes were answered" \
	[ "$(path spine3 received)" -gt "$received" ]

# ---- a dead path stays dead
check "the last ones are recorded" record "$work/probes" fc00:0:23::1 64
send "$work/probes" same 4000 1 &
sender=$!
fabric_silence spine3 on
check "a spine falls silent while its probes are sent again: down" \
	busywait 60 state_of A "$(path_over A spine3)" 'down (probes-lost)'
check "it stays so" down_all_the_while spine3
check_equal "the others are up" 3 "$(show .paths_usable)"
wait $sender || not_ok "they were sent all the while"
check "still" down_all_the_while spine3
fabric_silence spine3 off
check "it answers again: up" busywait 60 usable A 4

# ---- the SID, and the data plane
on A -force sid del fc00:0:a::e
check "the SID deleted by hand is made again" busywait 30 eval \
	'on A sid show | grep -q "fc00:0:a::e"'
by_xdp=$(show .by_xdp)
check "probes are taken by XDP again" \
	busywait 30 counted by_xdp $((by_xdp + 20))
check "four paths" busywait 60 usable A 4
on A dev del hA
on A dev add hA role uplink xdp generic
check "another data plane, another map: found" \
	busywait 30 grep -q 'data plane was loaded anew' "$work/A.log"
check "four paths again" busywait 60 usable A 4
check "by generic XDP" busywait 30 counted by_xdp 20

# ---- a second host at leaf2: what is between the leaves is probed once
gojq '.hosts += [ .hosts[1] + { "name": "C", "locator": "fc00:0:c::/48" } ] |
	.hosts[2].nics[0] += { "name": "hC", "address": "fd00:cc::1",
	                       "gateway": "fd00:cc::fe" }' \
	"$work/topology.json" >"$work/three.json"
config A | sed 's/topology.json/three.json/' >"$work/A.json"
kill -HUP "${engine[A]}"
check "eight paths" busywait 60 usable A 8
check_equal "metrics: eight RTTs, of four paths' probes" "8 8 4" \
	"$(times engine_path_rtt_seconds) $(on A metrics |
	   grep -c '^srpol_engine_path_probes_total.*"sent"')"
check_equal "they are those of the other paths, too" '[2,2,2,2]' "$(on A -j \
	engine paths | gojq -c '[ group_by(.probes_of)[] | length ]')"

kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
