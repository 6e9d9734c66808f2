#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A switch marks what it sends over one path: CNPs come back, the path loses its
# adaptive QPs and gets them back when it is over. A pinned QP stays. What is only
# encapsulated on congestion is left alone before and after.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/fabric/rdma.sh
. selftests/fabric/rdma.sh
# shellcheck source=selftests/vm/tests/e2e_lib.sh
. selftests/vm/tests/e2e_lib.sh

log=$SRPOL_OUT
export RDMA_TIMEOUT=240
# flows FILTER...: those that are alive
flows() {
	srpol -j flow show roce dst fd00:b::/64 active 10s "$@"
}

# with MODE FILTER...: is there a flow in that mode?
with() {
	local mode=$1
	shift

	flows "$@" | grep -q "\"mode\":\"$mode\""
}

without() {
	! with "$@"
}

# total KEY: over all flows to B
total() {
	flows | tr ',{}' '\n' |
		awk -F : -v key="\"$1\"" '$1 == key { n += $2 } END { print n + 0 }'
}

# mark_ce SPINE on|off: it marks all that it sends to leaf 2 CE
mark_ce() {
	local spine
	spine=$(fabric_ns "spine$1")

	if [ "$2" = on ]; then
		ip netns exec "$spine" tc qdisc add dev leaf2 clsact
		ip netns exec "$spine" tc filter add dev leaf2 \
			egress matchall action pedit ex munge ip6 traffic_class \
			set 3 retain 3
	else
		ip netns exec "$spine" tc qdisc del dev leaf2 clsact
	fi
}

path_packets() {
	srpol -j -s path show "$1" |
		sed 's/.*"stats":{"packets":\([0-9]*\).*/\1/'
}

grows() {
	[ "$(path_packets "$1")" -gt $(($2 + 50)) ]
}

# counted REASON NUMBER: more than so many packets, and fifty
counted() {
	[ "$(e2e_reason "$1")" -gt $(($2 + 50)) ]
}

# encapsulated: packets that took a path to B
encapsulated() {
	srpol -j -s path show | gojq '[ .[] | select(.id <= 4).stats.packets ] | add'
}

# left_alone: packets go on, fifty at least, and meanwhile none is encapsulated
left_alone() {
	local alone steered

	alone=$(e2e_reason not-congested)
	steered=$(encapsulated)
	busywait 20 counted not-congested "$alone" && [ "$(encapsulated)" -eq "$steered" ]
}

are_encapsulated() {
	[ "$(encapsulated)" -gt $(($1 + 50)) ]
}

at_exit rdma_down
e2e_spines >"$log/commands"
e2e_up <"$log/commands"
rdma_up

srpol -b - <<-END
	policy change ${e2e_policy[*]} mode adaptive threshold 3 dwell-time 200ms flowlet-timeout 4s
	policy add color 201 endpoint fd00:b::1 mode active-backup candidate segment-list 1
END
# ECN-capable, at a rate that leaves the emulated guest time for the rest. perftest's
# own limit would go round a loop all the time, and a guest whose clock counts
# instructions executes all of them.
tc qdisc add dev hA root tbf rate 10mbit burst 16k limit 1m
at_exit tc qdisc del dev hA root
rdma_bw "$log/adaptive" ib_send_bw 18609 6 -q 4 -s 8192 \
	-n 1000 --tclass=2 -t 1 -e -u 18 &
transfer=$!
/usr/bin/python3 selftests/vm/tests/e2e_cnp.py hB rxeB "$log/cnp" &
reflector=$!
at_exit kill $reflector
check "CNPs are answered" busywait 60 grep -q ready "$log/cnp"
check "path 1 has QPs" busywait 60 grows 1 "$(path_packets 1)"
# not all of them begin at the same time
elsewhere() {
	flows | tr '{' '\n' |
		sed -n 's/.*"qp":\([0-9]*\).*"path":[2-4],.*/\1/p' |
		head -n 1 | grep .
}
check "other paths have QPs, too" busywait 60 elsewhere
pinned=$(elsewhere)
srpol rule add prio 60 "${e2e_roce[@]}" qp "$pinned" color 201
check "a QP is pinned to path 1 too" busywait 60 with active-backup qp "$pinned"

before=$(path_packets 1)
rdma -j -d resource show qp link rxeA >"$log/qps"
e2e_capture leaf1 host inout "$log/mark.pcap" ip6
since=$EPOCHREALTIME
mark_ce 1 on
check "its adaptive QPs leave the marked path" busywait 60 \
	without adaptive path 1
echo "# $(($(wc -l <"$log/cnp") - 1)) CNPs," \
	"$(($(path_packets 1) - before)) packets on the path since the mark," \
	"$(total moves) moves"
check "the pinned QP stays" busywait 20 grows 1 "$(path_packets 1)"
e2e_enough
/usr/bin/python3 selftests/vm/tests/e2e_reaction.py "$log/mark.pcap" "$log/qps" \
	fc00:0:21::1 "$since" 3 200 >"$log/reaction"
sed 's/^/# QP, CNPs, milliseconds since the path is bad, packets after the dwell time: /' \
	"$log/reaction"
# A QP sends two packets each time. They wait in the qdisc until all have had their turn,
# and the dwell time counts from the QP's next packet: two to four are seen later. If it
# was twice as long there would be fifteen.
check "each left it after the dwell time, and a few packets" \
	awk '{ n++; if ($3 < 200 || $4 > 6) wrong = 1 } END { exit !n || wrong }' \
	"$log/reaction"
check "CNPs were attributed to flows" [ "$(total cnp)" -ge 3 ]
check "and to the path" sh -c \
	"srpol -s path show 1 | grep -q 'cnp [1-9]'"
mark_ce 1 off
check "they return after it is over" busywait 60 with adaptive path 1
if wait $transfer; then
	ok "the transfer completes"
else
	not_ok "the transfer completes" "$(tail -n 2 "$log/adaptive.client")"
fi

# on-congestion: what is not encapsulated needs a way of its own
ip -n "$(fabric_ns leaf1)" route add fd00:b::/64 via fd00:1:4::2 dev spine4
srpol rule delete prio 60
srpol policy change "${e2e_policy[@]}" mode on-congestion threshold 3 wait-to-restore 2s
rdma_bw "$log/congestion" ib_send_bw 18610 6 -q 2 -s 8192 \
	-n 1000 --tclass=2 -t 1 -e -u 18 &
transfer=$!
check "on-congestion: nothing is encapsulated" busywait 60 left_alone
steered=$(encapsulated)
mark_ce 4 on
check "on-congestion: it is, once CNPs come back" \
	busywait 60 are_encapsulated "$steered"
mark_ce 4 off
check "on-congestion: and no longer, after it is over" busywait 60 left_alone
if wait $transfer; then
	ok "on-congestion: the transfer completes"
else
	not_ok "on-congestion: the transfer completes" \
		"$(tail -n 2 "$log/congestion.client")"
fi
check_equal "srpol dropped nothing" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
