#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Compressed SIDs end to end: lists typed as uSIDs, forwarded by the kernel's
# own next-csid routers, ended by uN and uDT46 of the receiving host. What was
# on the wire is judged by tshark.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/e2e_lib.sh
. selftests/vm/tests/e2e_lib.sh

block=fcbb:bb00::/32
pcap=$SRPOL_OUT/sent.pcap
size=100

# By number, which is the mark: the list as typed; overhead; destination of
# the first hop; segments left and list as the SRH has them
cases=(
	"usids $block 22,12,b,d046|40|fcbb:bb00:22:12:b:d046::||"
	"usids $block 11,22,12,23,12,b|40|fcbb:bb00:11:22:12:23:12:b||"
	"usids $block 11,22,12,23,12,24,12,b|64|fcbb:bb00:11:22:12:23:12:24|1|fcbb:bb00:12:b::"
	"usids $block 11,22,12,23,12,24,12,b encap full|80|fcbb:bb00:11:22:12:23:12:24|1|fcbb:bb00:12:b::,fcbb:bb00:11:22:12:23:12:24"
	"usids $block 22,12 segs fc00:0:b::d6|64|fcbb:bb00:22:12::|1|fc00:0:b::d6"
	"usid-len 32 usids $block 22,12,b|40|fcbb:bb00:0:22:0:12:0:b||"
)
# the last has a structure that the fabric does not speak
forwarded=5

field() {
	cut -d '|' -f "$2" <<<"${cases[$1 - 1]}"
}

commands() {
	local i

	echo "sid add fcbb:bb00:b::/48 behavior uN"
	echo "sid add fcbb:bb00:d046::/48 behavior uDT46"
	for ((i = 1; i <= ${#cases[@]}; i++)); do
		echo "path add $((400 + i)) $(field $i 1) dev hA via fd00:a::fe"
		echo "policy add color $((400 + i)) endpoint fd00:b::1 candidate segment-list $((400 + i))"
		echo "rule add prio $i mark $i color $((400 + i))"
	done
}

# on_wire MARK: fields of the requests with that mark's destination, once
on_wire() {
	tshark -n -r "$pcap" -Y "icmpv6.type==128 && ipv6.dst==$(field "$1" 3)" \
		-T fields -E separator='|' -E occurrence=f -e ipv6.plen \
		-e ipv6.routing.segleft 2>/dev/null | sort -u
}

lists() {
	tshark -n -r "$pcap" -Y "icmpv6.type==128 && ipv6.dst==$(field "$1" 3)" \
		-T fields -E aggregator=, -e ipv6.routing.srh.addr \
		2>/dev/null | sort -u
}

unpacked() {
	srpol path show $((400 + $1)) |
		sed -n 's/.* usids \([^ ]* [^ ]*\).*/\1/p'
}

commands >"$SRPOL_OUT/commands"
e2e_up <"$SRPOL_OUT/commands"

for ((i = 1; i <= ${#cases[@]}; i++)); do
	check_equal "$(field $i 1): overhead" "$(field $i 2)" \
		"$(srpol -j path show $((400 + i)) |
			grep -o '"overhead":[0-9]*' | cut -d : -f 2)"
done
check_equal "path show unpacks eight uSIDs of two containers" \
	"$block 11,22,12,23,12,24,12,b" "$(unpacked 3)"
check_equal "and those of 32 bits" "$block 22,12,b" "$(unpacked 6)"

e2e_capture leaf1 host in "$pcap" ip6
for ((i = 1; i <= forwarded; i++)); do
	# shellcheck disable=SC2086
	check "$(field $i 1): kernel routers forward it, host B ends it" \
		ping -q -c 2 -i 0.02 -W 10 -m $i -s $size -I fd00:a::1 fd00:b::1
done
e2e_captured

# payload: SRH, inner IPv6 header, ICMPv6 header, data
for ((i = 1; i <= forwarded; i++)); do
	[ "$(field $i 1)" != "$(field 4 1)" ] || continue
	[ "$i" -ne 3 ] || continue
	check_equal "$(field $i 1): as tshark sees it" \
		"$(($(field $i 2) - 40 + 40 + 8 + size))|$(field $i 4)" \
		"$(on_wire $i)"
	check_equal "$(field $i 1): its SRH" "$(field $i 5)" "$(lists $i)"
done
check_equal "two containers, reduced and full: as tshark sees them" \
	"$((24 + 40 + 8 + size))|1
$((40 + 40 + 8 + size))|1" "$(on_wire 3)"
check_equal "their SRHs" "$(field 3 5)
$(field 4 5)" "$(lists 3)"
check_equal "host B shifted to its next uSID" yes \
	"$([ "$(e2e_reason usid-next)" -ge 2 ] && echo yes)"
check_equal "nothing was dropped" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
