#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Binding SIDs end to end: what B sends to A comes back to B's uplink, for the
# binding SID of a policy, whose outer header kernel routers take over other
# spines to one that decapsulates it; then the first list goes on to A.
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

bsid=fc00:0:b::b6
policy=(color 600 endpoint fc00:0:23::d6)
pcap=$SRPOL_OUT/leaf2.pcap

commands() {
	echo "path add 601 segs fc00:0:22::1,fc00:0:12::1,fc00:0:23::d6 encap full dev hB via fd00:b::fe"
	echo "path add 602 segs fc00:0:22::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe"
	echo "policy add color 100 endpoint fd00:b::1 candidate segment-list 602"
	echo "policy add ${policy[*]} bsid $bsid drop-upon-invalid on candidate segment-list 601"
	echo "path replace 11 segs fc00:0:21::1,fc00:0:12::1,$bsid,fc00:0:24::1,fc00:0:a::d6 dev hB via fd00:b::fe"
}

ping_a() {
	ping -q -c "${1:-3}" -i 0.05 -W 10 -I fd00:b::1 fd00:a::1
}

sid_field() {
	srpol -j -s sid show $bsid | gojq -r ".[0].$1"
}

# bound N: pings pass, and so many of them by the policy of the binding SID
bound() {
	local before

	before=$(e2e_reason end-b6)
	ping_a 3 && [ $(($(e2e_reason end-b6) - before)) -eq "$1" ]
}

refused() {
	local output
	! output=$(srpol "${@:2}" 2>&1) && grep -q "$1" <<<"$output"
}

commands >"$SRPOL_OUT/commands"
e2e_up <"$SRPOL_OUT/commands"
fabric_exec spine3 ip -6 route add fc00:0:23::d6/128 \
	encap seg6local action End.DT6 table main dev leaf1
fabric_exec spine3 ip -6 route add fc00:0:24::/48 via fd00:1:3::1 dev leaf1
# as bare veth takes no frames from XDP
fabric_exec leaf2 ethtool -K host gro on
# what the policy passes through is forwarded by the kernel
sysctl -q net.ipv6.conf.all.forwarding=1
ip -6 route add fc00:0:24::/48 via fd00:b::fe dev hB

check_equal "the policy's binding SID is a local SID" \
	"End.B6.Encaps 600 fc00:0:23::d6" \
	"$(sid_field behavior) $(sid_field color) $(sid_field endpoint)"
e2e_capture leaf2 host in "$pcap" ip6
check "ping through the binding SID" ping_a
e2e_captured
check_equal "counted" "yes yes" \
	"$([ "$(e2e_reason end-b6)" -ge 3 ] && echo yes) $(
	[ "$(sid_field stats.packets)" -ge 3 ] && echo yes)"
check_equal "tshark: the policy's outer header around what came" \
	"fc00:0:22::1,fc00:0:24::1,fd00:a::1|2,1" \
	"$(tshark -n -r "$pcap" -Y "ipv6.dst==fc00:0:22::1 && icmpv6.type==128" \
		-T fields -E separator='|' -E aggregator=, -e ipv6.dst \
		-e ipv6.routing.segleft 2>/dev/null | sort -u)"

srpol path replace 601 segs fc00:0:22::1,fc00:0:12::1,fc00:0:23::d6 \
	encap reduced dev hB via fd00:b::fe
check "ping with the reduced SRH" bound 3
check_equal "that is the other behavior" End.B6.Encaps.Red \
	"$(sid_field behavior)"

srpol path change 601 admin down
check "drop-upon-invalid" eval "! ping_a 1"
srpol policy change "${policy[@]}" drop-upon-invalid off
check "passed through to the next segment" bound 0
srpol path change 601 admin up
check "and back" bound 3

check "the SID cannot be deleted" refused "binding SID of policy 600" \
	sid del $bsid
check "nor changed" refused "binding SID of policy 600" \
	sid replace $bsid behavior End
check "nor made by hand" refused "made by its policy" \
	sid add fc00:0:b::b7 behavior End.B6.Encaps
check "a binding SID is no other SID" refused "such a local SID" \
	policy change "${policy[@]}" bsid fc00:0:b::d6
srpol policy change "${policy[@]}" bsid fc00:0:b::b8
check_equal "another one takes its place" "fc00:0:b::b8" \
	"$(srpol -j sid show | gojq -r '.[] | select(.color == 600).sid')"
check_equal "the export has the policy only" 0 \
	"$(srpol export | grep -c '^sid add.*b8' || :)"
srpol export >"$SRPOL_OUT/export"
check "which can be loaded again" srpol replace -f "$SRPOL_OUT/export"
check_equal "with its SID" "fc00:0:b::b8" \
	"$(srpol -j sid show | gojq -r '.[] | select(.color == 600).sid')"
srpol policy del "${policy[@]}"
check_equal "it goes with the policy" "" \
	"$(srpol -j sid show | gojq -r '.[] | select(.color == 600).sid')"
