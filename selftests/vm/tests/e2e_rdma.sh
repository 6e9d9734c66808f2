#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unmodified RDMA applications over srpol: writes, reads and sends, with IPv6
# and IPv4 GIDs, spread over all spines; nobody of user space is needed for it;
# and how the module is let go of.
#
# SRPOL_CLOCK=counted
#
# SRPOL_SLOWER=N: the transfer without programs of user space is so much shorter.
#
# SRPOL_DEBUG=kernel

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
export RDMA_TIMEOUT=200

# A veth whose peer runs native XDP drops what exceeds its ring of 256 frames.
# So what is in flight is bounded: 1 message per QP (-t 1), a packet per 4 KiB.

commands() {
	local m

	for m in 1 2 3 4; do
		echo "path add $m segs fc00:0:2$m::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe"
		echo "path add 2$m segs fc00:0:2$m::1,fc00:0:11::1,fc00:0:a::d6 dev hB via fd00:b::fe"
	done
	echo "policy add color 200 endpoint fd00:b::1 candidate segment-list 1 segment-list 2 segment-list 3 segment-list 4"
	echo "policy add color 200 endpoint fd00:a::1 candidate segment-list 21 segment-list 22 segment-list 23 segment-list 24"
	echo "rule add prio 100 name roce proto udp dport 4791 color 200"
}

# transfer NAME TOOL PORT FAMILY ARG...
transfer() {
	local name=$1
	shift

	check "$name" rdma_bw "$log/bw$2" "$@"
}

# from_a BEFORE AFTER: packets from A by spine
from_a() {
	paste -d ' ' <(echo "$1") <(echo "$2") | awk '{ print $5 - $2 }'
}

# spread MINIMUM COUNTS: four spines, each with so many at least
spread() {
	awk -v min="$1" '$1 >= min { n++ } END { exit n != 4 }' <<<"$2"
}

# What went by the spines was steered there, all of it: a leaf has no other
# route
steered_covers() {
	local sum

	sum=$(awk '{ n += $1 } END { print n }' <<<"$1")
	[ "$(e2e_reason steered)" -ge "$sum" ]
}

# cheap: to start a process takes long while the guest is busy
sent() {
	echo "$(</sys/class/net/hA/statistics/tx_packets)"
}

transferring() {
	[ "$(sent)" -gt $((start + 200)) ]
}

rxe_counter() {
	echo "$(<"/sys/class/infiniband/$1/ports/1/hw_counters/$2")"
}

at_exit rdma_down
commands >"$log/commands"
e2e_up <"$log/commands"
rdma_up

before=$(fabric_spine_packets)
transfer "IPv6: RDMA writes of 8 QPs" ib_write_bw 18515 6 \
	-q 8 -s 65536 -n 5 -t 1
after=$(fabric_spine_packets)
counts=$(from_a "$before" "$after")
echo "# packets from A by spine:" $counts
check_equal "the RDMA MTU is 4096" 4096 \
	"$(sed -n 's/.*Mtu *: *\([0-9]*\).*/\1/p' "$log/bw18515.client")"
# by the hash of each QP, so not necessarily even
check "IPv6: packets went by at least two spines" \
	awk '$1 >= 80 { n++ } END { exit n < 2 }' <<<"$counts"
check "srpol steered all the spines saw" steered_covers "$counts"

before=$(fabric_spine_packets)
transfer "IPv4: RDMA writes of 16 QPs" ib_write_bw 18516 4 \
	-q 16 -s 32768 -n 10 -t 1
counts=$(from_a "$before" "$(fabric_spine_packets)")
echo "# packets from A by spine:" $counts
check "IPv4: packets went by all spines" spread 80 "$counts"
transfer "IPv6: RDMA reads of 2 QPs" ib_read_bw 18517 6 -q 2 -s 65536 -n 5 -o 1 -t 1
transfer "IPv6: sends of 2 QPs" ib_send_bw 18518 6 -q 2 -s 16384 -n 5 -t 1
transfer "IPv4: sends of 2 QPs" ib_send_bw 18519 4 -q 2 -s 16384 -n 5 -t 1

# The programs of user space go while packets are under way.
srpol monitor >/dev/null &
monitor=$!
start=$(sent)
rdma_bw "$log/long" ib_write_bw 18520 6 -q 4 -s 65536 \
	-n $((300 / ${SRPOL_SLOWER:-1})) -t 1 &
transfer=$!
check "a transfer is under way" busywait 30 transferring
kill -9 $monitor
wait $monitor 2>/dev/null || :
start=$(sent)
check "the transfer goes on without it" busywait 60 transferring
check_equal "no srpol process was left" "" "$(pgrep -x srpol || :)"
if wait $transfer; then
	ok "it completed"
else
	not_ok "it completed" "$(tail -n 3 "$log/long.client")
$(($(sent) - start)) packets since it went on"
fi

# rxe counts what it receives after it checked the ICRC
check_equal "rxe B got all that A sent, ICRC good" \
	"$(rxe_counter rxeA sent_pkts)" "$(rxe_counter rxeB rcvd_pkts)"
check_equal "rxe A got all that B sent, ICRC good" \
	"$(rxe_counter rxeB sent_pkts)" "$(rxe_counter rxeA rcvd_pkts)"
for counter in out_of_seq_request rcvd_seq_err retry_exceeded_err \
	retry_rnr_exceeded_err; do
	for dev in rxeA rxeB; do
		check_equal "$dev: $counter" 0 "$(rxe_counter $dev $counter)"
	done
done
check_equal "no complaint of rxe in the log" "" \
	"$(dmesg | grep -iE 'icrc|rxe.*(err|warn)' || :)"
check_equal "srpol dropped nothing" "" \
	"$(srpol stats show | awk '$2 == "drop"')"

# where packets went, should one be missing: "tx dropped" of a veth is its ring
# of 256 frames, and the machine's business
[ $ktap_failures -eq 0 ] || fabric_drops | sed 's/^/# /'

check_fails "the module can not be unloaded while attached" "in use" \
	rmmod srpol
srpol dev show >"$log/devs"
check "srpol dev show says why" \
	grep -q 'holds module srpol until "srpol dev del"' "$log/devs"
check "srpol dev del, of both" srpol -b - <<<$'dev del hA\ndev del hB'
check "now it unloads" rmmod srpol
check "its pins are gone" [ ! -e /sys/fs/bpf/srpol ]
check_equal "no XDP program is left on the uplinks" "" \
	"$(ip link show hA | grep xdp || :; ip link show hB | grep xdp || :)"
