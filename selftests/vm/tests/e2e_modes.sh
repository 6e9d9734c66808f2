#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unmodified RDMA in every mode; spraying by opcode, and what reordering does
# to rxe.
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
export RDMA_TIMEOUT=90
# by_spine COMMAND...: packets from A that each spine got meanwhile
by_spine() {
	local before

	before=$(fabric_spine_packets)
	"$@" || return
	paste -d ' ' <(echo "$before") <(fabric_spine_packets) |
		awk '{ printf "%d ", $5 - $2 }'
}

# transfer NAME PORT ARG...: counts by spine go to the variable counts
transfer() {
	local name=$1 port=$2
	shift 2

	if counts=$(by_spine rdma_bw "$log/$port" ib_write_bw "$port" 6 "$@")
	then
		ok "$name"
		echo "# packets from A by spine: $counts"
	else
		not_ok "$name" "$(tail -n 2 "$log/$port.client")"
		counts='0 0 0 0'
	fi
}

used() {
	awk -v min="$1" '{ for (i = 1; i <= NF; i++) n += $i >= min }
		END { print n }' <<<"$counts"
}

rxe_counter() {
	echo "$(<"/sys/class/infiniband/$1/ports/1/hw_counters/$2")"
}

# unsteered: are there flows whose last packet got no path, as the command has it?
unsteered() {
	srpol -j flow show roce dst fd00:b::/64 |
		gojq -e 'any(.verdict == "unsteered" and .path == 0)' >/dev/null &&
		srpol flow show roce dst fd00:b::/64 |
		grep -q ' color 200 .* mode on-congestion unsteered packets '
}

reorder() {
	srpol -j flow show roce dst fd00:b::/64 | tr ',{}' '\n' |
		awk -F : '$1 == "\"reorder\"" { n += $2 } END { print n + 0 }'
}

at_exit rdma_down
e2e_spines >"$log/commands"
e2e_up <"$log/commands"
rdma_up

# modes

for mode in hash flowlet adaptive; do
	srpol policy change "${e2e_policy[@]}" mode $mode
	transfer "mode $mode: 8 QPs write" 18600 -q 8 -s 65536 -n 5
	check "mode $mode: by two spines at least" [ "$(used 20)" -ge 2 ]
done

srpol policy change "${e2e_policy[@]}" mode active-backup
transfer "mode active-backup: 8 QPs write" 18603 -q 8 -s 65536 -n 5
check_equal "mode active-backup: by one spine" 1 "$(used 5)"
srpol path change 1 admin down
transfer "mode active-backup: the first list is down" 18604 -q 2 -s 65536 -n 5
check "mode active-backup: the second spine took it" \
	awk '{ exit !($2 > 50 && $1 < 5) }' <<<"$counts"
srpol path change 1 admin up

srpol policy change "${e2e_policy[@]}" mode spray
transfer "mode spray, rule strong: 1 QP writes" 18605 -q 1 -s 65536 -n 5
check_equal "nothing is sprayed without leave" 1 "$(used 20)"
check "and that is counted" [ "$(e2e_reason spray-unsafe)" -ge 50 ]
srpol policy change "${e2e_policy[@]}" mode hash

# on-congestion: what is not encapsulated needs a way of its own
ip -n "$(fabric_ns leaf1)" route add fd00:b::/64 via fd00:1:4::2 dev spine4
srpol policy change "${e2e_policy[@]}" mode on-congestion wait-to-restore 60s
steered=$(e2e_reason steered)
transfer "mode on-congestion: 2 QPs write without encapsulation" 18606 -q 2 -s 65536 -n 5
check "mode on-congestion: it was left alone" [ "$(e2e_reason not-congested)" -ge 90 ]
check_equal "mode on-congestion: by the underlay's one way" 1 "$(used 20)"
check "and flow show does not call it steered" unsteered
srpol policy change "${e2e_policy[@]}" mode hash
ip -n "$(fabric_ns leaf1)" route del fd00:b::/64
echo "# steered meanwhile: $(($(e2e_reason steered) - steered))"

# spraying, with permission

srpol rule add prio 50 "${e2e_roce[@]}" opcode write-middle ordering weak mode spray \
	color 200
e2e_capture leaf1 host in "$log/spray.pcap" 'ip6 proto 43'
transfer "write-middle sprayed over four even paths: 1 QP" 18607 -q 1 \
	-s 65536 -n 20
e2e_captured
tshark -n -r "$log/spray.pcap" -d udp.port==4791,infiniband -T fields \
	-E occurrence=f -e infiniband.bth.opcode -e ipv6.dst 2>/dev/null |
	sort | uniq -c >"$log/opcodes"
sed 's/^/# /' "$log/opcodes"
check "write-middle (7) took all spines in equal shares" awk '
	$2 == 7 { n++; sum += $1; if (!min || $1 < min) min = $1 }
	END { exit !(n == 4 && min > 0.23 * sum) }' "$log/opcodes"
check "first (6) and last (8) stayed on one" awk '
	$2 == 6 || $2 == 8 { n[$2]++ }
	END { exit !(n[6] == 1 && n[8] == 1) }' "$log/opcodes"

out_of_order=$(rxe_counter rxeB out_of_seq_request) naks=$(reorder)
ip netns exec "$(fabric_ns spine2)" tc qdisc add dev leaf2 root netem delay 4ms
transfer "the same with 4 ms more on one path" 18608 -q 1 -s 65536 -n 5
ip netns exec "$(fabric_ns spine2)" tc qdisc del dev leaf2 root
out_of_order=$(($(rxe_counter rxeB out_of_seq_request) - out_of_order))
echo "# rxe saw $out_of_order packets out of order"
check "rxe can not reorder: it refuses them" [ $out_of_order -gt 0 ]
check "NAKs are the flow's reordering counter" [ "$(reorder)" -gt "$naks" ]
check_equal "srpol dropped nothing" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
