#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Congestion that stays, seen by srpold's probes alone: a spine that marks all it
# sends on, and one in front of whose port packets wait. Paths stay up all the
# while; they are used less.
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

pids=()

stop() {
	local pid

	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
}

# $1: of weights, what differs. A queue that is full loses packets, which is not
# what this is about.
config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "A" ],
	  "probes": { "interval-ms": 10, "multiplier": 20, "timeout-ms": 400,
	              "wait-to-restore-ms": 300 },
	  "weights": { "interval-ms": 400, "delay-us": 10000,
	               "loss-ppm": 900000$1 } }
	END
}

# named SPINE WORD: a link of it, and of no other one, works badly
named() {
	on A -j engine show | gojq -e --arg spine "$1" --arg word "$2" '
		[ .degraded[] | select(.now == $word) | .link ] |
		length > 0 and all(contains($spine))' >/dev/null
}

# lowered N: the N-th path has less than half of the first one's buckets
lowered() {
	buckets A | gojq -e ".[$1] * 2 < .[0]" >/dev/null
}

# raised N FROM: the N-th path has more buckets than FROM
raised() {
	buckets A | gojq -e ".[$1] > $2" >/dev/null
}

# path SPINE EXPRESSION: of the path over it
path() {
	on A -j engine paths | gojq -e "[ .[] | select(.name | contains(\"$1\")) ][0] |
		$2" >/dev/null
}

# others SPINE EXPRESSION: of each path but that over it
others() {
	on A -j engine paths | gojq -e "[ .[] | select(.name | contains(\"$1\") | not) |
		$2 ] | length == 3 and all" >/dev/null
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop
fabric_topology >"$work/topology.json"
for key in '"ce-ppm": 0' '"cnp-ppm": 1000001' '"ce": 5'; do
	config ", $key" >"$work/bad.json"
	check_fails "refused: $key" 'ce-ppm|cnp-ppm|"ce"' \
		srpold --check-config -c "$work/bad.json"
done
config "" >"$work/A.json"
on A rule add prio 100 dst fd00:b::/64 color 100
on B dev add hB role uplink
on B sid add fc00:0:b::d6 behavior End.DT46
start_engine A
check "four paths, probed and up" patiently 60 usable A 4
check_equal "no congestion mark yet" "[0]" \
	"$(on A -j engine paths | gojq -c '[ .[].ce ] | unique')"

# ---- a spine that marks
tc -n "$(fabric_ns spine3)" qdisc add dev leaf2 clsact
tc -n "$(fabric_ns spine3)" filter add dev leaf2 egress matchall \
	action pedit ex munge ip6 traffic_class set 3 retain 3
check "all packets over a spine are marked: its link is named" \
	patiently 60 named spine3 congestion
check "by the marks on probes" path spine3 '.ce > 10 and .ce_ppm > 50000'
check "no other path's probes have any" \
	others spine3 '.ce == 0 and .ce_ppm == 0'
check "its path is used less" patiently 60 lowered 2
check "the log says so" grep -qE 'link .*spine3.*: congestion, used at' \
	"$work/A.log"
check_equal "all four are up" 4 "$(on A -j engine show | gojq .paths_usable)"
tc -n "$(fabric_ns spine3)" qdisc del dev leaf2 clsact
least=$(buckets A | gojq '.[2]')
check "no marks any more: it is used more again" \
	patiently 120 raised 2 "$least"

# ---- a spine that has a queue
ip netns exec "$(fabric_ns hostB)" python3 selftests/vm/tests/e2e_silent.py sink fd00:b::1 \
	>"$work/sink" &
pids+=($!)
check "the sink is ready" busywait 30 grep -q ready "$work/sink"
tc -n "$(fabric_ns spine2)" qdisc add dev leaf2 root tbf rate 400kbit \
	burst 2000 limit 3000
ip netns exec "$(fabric_ns hostA)" python3 selftests/vm/tests/e2e_silent.py \
	send fd00:a::1 fd00:b::1 64 1000 &
pids+=($!)
check "a queue in front of a spine's port that stays: its link is named" \
	patiently 60 named spine2 delay
check "its path is used less" patiently 60 lowered 1
check_equal "all four are up" 4 "$(on A -j engine show | gojq .paths_usable)"
echo "# $(on A -j engine paths | gojq -r '.[] |
	"\(.name) least \(.rtt_min_ms) ms smoothed \(.rtt_ms) ms queue \(.queue_ms) ms"' |
	paste -sd ,)"
tc -n "$(fabric_ns spine2)" qdisc del dev leaf2 root
least=$(buckets A | gojq '.[1]')
check "no queue any more: it is used more again" \
	patiently 120 raised 1 "$least"
check_equal "no other link was blamed" "" \
	"$(grep -E ': (delay|congestion), used' "$work/A.log" |
		grep -v 'spine[23]' || :)"
check_equal "no path was down" "" "$(grep 'is down' "$work/A.log" || :)"

kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
