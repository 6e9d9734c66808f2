#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Congestion that only CNPs tell of: a spine marks packets of RDMA of full size,
# and not the probes. The peer answers with CNPs for live QPs; srpold uses the
# link less, one step an interval at most, and more again when it is over.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=init
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/fabric/rdma.sh
. selftests/fabric/rdma.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

export RDMA_TIMEOUT=500
INTERVAL_MS=400

# both hosts are in this namespace, the engine is A's
on() {
	shift
	srpol "$@"
}

down() {
	rdma_down
	printf 'dev del hA\ndev del hB\n' | srpol -force -b - 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
	rm -rf "$work"
}

weights() {
	srpol -j policy show color 100 endpoint fd00:b::1 |
		gojq -c '[ .[0].candidates[0].segment_lists[].weight ]'
}

# share N: of the N-th path, in percent of the first one's weight
share() {
	weights | gojq ".[$1] * 100 / .[0] | floor"
}

lowered() {
	[ "$(share "$1")" -lt "$2" ]
}

raised() {
	[ "$(share "$1")" -gt "$2" ]
}

path() {
	srpol -j engine paths | gojq -e "[ .[] | select(.name | contains(\"$1\")) ][0] |
		$2" >/dev/null
}

# others SPINE EXPRESSION: of each path but that over it
others() {
	srpol -j engine paths | gojq -e "[ .[] | select(.name | contains(\"$1\") | not) |
		$2 ] | length == 3 and all" >/dev/null
}

named() {
	srpol -j engine show | gojq -e --arg spine "$1" '
		[ .degraded[] | select(.now == "congestion") | .link ] |
		length > 0 and all(contains($spine))' >/dev/null
}

flows_on() {
	srpol -j flow show roce dst fd00:b::/64 active 10s path "$1" |
		gojq -e 'length > 0' >/dev/null
}

steps() {
	srpol -j engine topology | gojq '[ .[].quality_steps ] | max'
}

now_ms() {
	awk '{ print int($1 * 1000) }' /proc/uptime
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit stop_engines
rdma_up
fabric_topology >"$work/topology.json"
cat >"$work/A.json" <<END
{ "topology": "$work/topology.json", "hosts": [ "A" ],
  "probes": { "interval-ms": 50, "multiplier": 20, "timeout-ms": 1000,
              "wait-to-restore-ms": 300 },
  "weights": { "interval-ms": $INTERVAL_MS, "delay-us": 10000000,
               "loss-ppm": 1000000 } }
END
# the way back is B's own business
srpol -b - <<-END
	dev add hA role uplink
	dev add hB role uplink
	sid add fc00:0:b::d6 behavior End.DT46
	path add 11 segs fc00:0:21::1,fc00:0:11::1,fc00:0:a::d6 dev hB via fd00:b::fe
	policy add color 100 endpoint fd00:a::1 candidate segment-list 11
END
srpold -c "$work/A.json" 2>>"$work/A.log" &
engine[A]=$!
check "four paths, probed and up" patiently 60 usable A 4

# some 26 s, of which the guest sleeps most: see e2e_congestion.sh
tc qdisc add dev hA root tbf rate 6mbit burst 16k limit 1m
at_exit tc qdisc del dev hA root
rdma_bw "$work/write" ib_send_bw 18630 6 -q 16 -s 8192 -n 150 --tclass=2 \
	-t 1 -e -u 18 &
transfer=$!
/usr/bin/python3 selftests/vm/tests/e2e_cnp.py hB rxeB "$work/cnp" &
reflector=$!
at_exit kill $reflector
check "CNPs are answered" busywait 60 grep -q ready "$work/cnp"
spine3=$(path_over A spine3)
check "QPs use the path over spine 3" patiently 60 flows_on "$spine3"
before=$(share 2)
check "its weight is that of the others" [ "$before" -ge 99 ]

# ---- only packets of 4096 to 8191 bytes are marked
begin=$(now_ms)
first=$(steps)
tc -n "$(fabric_ns spine3)" qdisc add dev leaf2 clsact
tc -n "$(fabric_ns spine3)" filter add dev leaf2 egress protocol ipv6 u32 \
	match u16 0x1000 0xf000 at 4 \
	action pedit ex munge ip6 traffic_class set 3 retain 3
check "its link is named" patiently 90 named spine3
check "by CNPs, and by no mark on probes" \
	path spine3 '.cnp_ppm >= 1000 and .ce == 0 and .ce_ppm == 0'
check "no other path has any" others spine3 '.cnp_ppm == 0'
check "it is used less" patiently 90 lowered 2 80
check "and less" patiently 120 lowered 2 60
changed=$(($(steps) - first))
took=$(($(now_ms) - begin))
echo "# $changed steps in $took ms, $(($(wc -l <"$work/cnp") - 1)) CNPs, weights $(weights)"
# intervals are spread by a quarter, two bad ones cost a step
check "one change in an interval at most" \
	[ "$changed" -le $((took * 4 / (3 * INTERVAL_MS) + 1)) ]
check_equal "all paths are up" 4 "$(srpol -j engine show | gojq .paths_usable)"

# ---- it is over
tc -n "$(fabric_ns spine3)" qdisc del dev leaf2 clsact
least=$(share 2)
check "no marks any more: it is used more again" \
	patiently 200 raised 2 "$least"
if wait $transfer; then
	ok "the transfer completes"
else
	not_ok "the transfer completes" "$(tail -n 2 "$work/write.client")"
fi
check "and as much as the others, though nobody sends any more" \
	patiently 300 raised 2 98
check_equal "no path was down" "" "$(grep 'is down' "$work/A.log" || :)"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/A.log
