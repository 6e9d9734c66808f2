#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unmodified RDMA applications over virtual ports: rxe is on the workload's ends,
# and finds its device by the one a packet came in by. Host A has two uplinks;
# one of them loses its carrier under a transfer.
#
#	rxeA: srpol0 2001:db8:a::1	hA, hC -- leaf1 -- spines -- leaf2 -- hB
#	rxeB: srpol1 2001:db8:b::1
#
# SRPOL_TIMEOUT=400
#
# SRPOL_CLOCK=counted
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
RDMA_DEV_A=srpol0 RDMA_DEV_B=srpol1
rdma_a=2001:0db8:000a:0000:0000:0000:0000:0001
rdma_b=2001:0db8:000b:0000:0000:0000:0000:0001

# Both hosts are in this namespace: what is for the other one is not local.
local_rules() {
	printf '%s\n' "rule $1 pref 5 oif srpol0 lookup main" \
		"rule $1 pref 6 oif srpol1 lookup main" \
		"rule $1 pref 7 iif lo from 2001:db8:a::1 to 2001:db8:b::1 lookup main" \
		"rule $1 pref 8 iif lo from 2001:db8:b::1 to 2001:db8:a::1 lookup main" |
		ip -6 -batch -
}

ports_down() {
	local_rules del 2>/dev/null || :
	printf 'dev del srpol0\ndev del srpol1\ndev del hC\n' |
		srpol -force -b - 2>/dev/null || :
	ip link del hC 2>/dev/null || :
}

second_uplink() {
	ip link add hC mtu "$FABRIC_MTU" type veth \
		peer name hostc mtu "$FABRIC_MTU" netns "$(fabric_ns leaf1)"
	ip -n "$(fabric_ns leaf1)" addr add fd00:c::fe/64 dev hostc nodad
	ip -n "$(fabric_ns leaf1)" link set hostc up
	ip addr add fd00:c::1/64 dev hC nodad
	ip link set hC up
	ip -n "$(fabric_ns leaf1)" -6 route append fc00:0:a::/48 \
		via fd00:c::1 dev hostc metric 2048
}

sent() {
	echo "$(<"/sys/class/infiniband/rxeA/ports/1/hw_counters/sent_pkts")"
}

received() {
	echo "$(<"/sys/class/infiniband/rxeB/ports/1/hw_counters/rcvd_pkts")"
}

transferring() {
	[ "$(sent)" -gt $((start + $1)) ]
}

tx() {
	echo "$(<"/sys/class/net/$1/statistics/tx_packets")"
}

e2e_up <<-END
config set sr-source fd00:a::/64,fd00:b::/64,fd00:c::/64
END
second_uplink
at_exit ports_down
srpol -b - <<-END
dev add hC role uplink
path add 1 segs fc00:0:21::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
path add 2 segs fc00:0:22::1,fc00:0:12::1,fc00:0:b::d6 dev hC via fd00:c::fe
policy add color 200 endpoint fd00:b::1 candidate segment-list 1 segment-list 2
policy add color 200 endpoint fd00:a::1 candidate segment-list 11
endpoint add 2001:db8:b::/48 to fd00:b::1
endpoint add 2001:db8:a::/48 to fd00:a::1
rule add prio 100 proto udp dport 4791 color 200
dev add srpol0 role host address 2001:db8:a::1/128 prefix 2001:db8:b::/48
dev add srpol1 role host address 2001:db8:b::1/128 prefix 2001:db8:a::/48
END
local_rules add
check "the paths come up" busywait 20 e2e_paths_up
at_exit rdma_down
rdma_up

start=$(sent)
check "RDMA writes of 4 QPs complete" \
	rdma_bw "$log/bw" ib_write_bw 18515 6 -q 4 -s 65536 -n 5 -t 1
check_equal "the RDMA MTU is 4096" 4096 \
	"$(sed -n 's/.*Mtu *: *\([0-9]*\).*/\1/p' "$log/bw.client")"
check "packets were steered" [ "$(e2e_reason steered)" -ge 300 ]
check_equal "rxe B got all that A sent" "$(sent)" "$(received)"

# One packet of each QP is under way at a time, and 1200 are sent a second, so that they
# are not all there before the cable is pulled.
tc qdisc add dev srpol0 root tbf rate 40mbit burst 16k limit 1m
start=$(sent)
by_a=$(tx hA) by_c=$(tx hC)
rdma_bw "$log/long" ib_write_bw 18520 6 -q 8 -s 4096 -n 400 -t 1 &
transfer=$!
check "a transfer is under way" busywait 60 transferring 400
check "by both uplinks" [ $(($(tx hA) - by_a)) -ge 20 -a \
	$(($(tx hC) - by_c)) -ge 20 ]
fabric_exec leaf1 ip link set host down
by_c=$(tx hC)
if wait $transfer; then
	ok "it completes without that uplink"
else
	not_ok "it completes without that uplink" \
		"$(tail -n 3 "$log/long.client")"
fi
check "by the other one" [ $(($(tx hC) - by_c)) -ge 400 ]
echo "# $(($(tx hC) - by_c)) packets by hC since then"
echo "# A sent $(sent) packets, B received $(received)"
check "each QP lost a packet at most" [ $(($(sent) - $(received))) -le 8 ]
check_equal "srpol dropped nothing" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
[ $ktap_failures -eq 0 ] || fabric_drops | sed 's/^/# /'

rdma_down
local_rules del
check "removed" srpol -b - <<<$'dev del srpol0\ndev del srpol1'
check_equal "nothing is left" "" "$(ip -6 rule | grep 'srpol[01]' ||
	ip -4 rule | grep 'srpol[01]' || ip -o link | grep 'srpol[01]' || :)"
