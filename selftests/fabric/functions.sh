#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A job that goes through functions of switches, on a fabric of kernel routers:
# srpol-fabricd plans for it and says the segment lists, the kernel's own seg6
# sends by them. The function is a SID of spines 2 and 4 at which they do End and
# count, and nothing else: what a function does is not srpol's business. That
# packets pass it, in order, and the switch's own SID not, is. A to B goes over
# classic SIDs, B to A over uSIDs.

set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh

bin=${BUILD:-$PWD/build}/bin
work=$(mktemp -d)
at_exit rm -rf "$work"

fabric() {
	"$bin/srpol" -j fabric "$@" socket "$work/f.sock"
}

# With uSIDs as fabric.sh has them, and a function of two spines
topology() {
	fabric_topology | gojq '.usid = { block: "fcbb:bb00::/32" } |
		(.switches, .hosts)[] |= (.usid = (.locator |
			sub("fc00:0:"; "fcbb:bb00:") | sub("/48"; ""))) |
		.switches[] |= if .name == "spine2" or .name == "spine4" then
			.functions = [ { name: "sum", kind: "aggregate",
				function: "::a1", ratio: 0.25, usid: (
				.usid | sub(":2"; ":a")) } ] else . end'
}

start() {
	cat >"$work/f.json" <<-END
	{ "name": "f", "topology": "$work/topology.json",
	  "socket": "$work/f.sock", "file": "$work/store.json",
	  "store": { "kind": "embedded", "socket": "$work/store.sock" } }
	END
	"$bin/srpol-fabricd" -c "$work/f.json" 2>"$work/f.log" &
	engine=$!
	at_exit stop
}

stop() {
	kill "$engine" 2>/dev/null && wait "$engine" || :
}

leads() {
	[ "$(fabric show | gojq .leads)" = true ]
}

planned() {
	[ "$(fabric jobs reduce | gojq -r '.[0].state')" = planned ]
}

# lists SRC DST FORM: a path of the job a line: switch, weight, list
lists() {
	fabric why "$1" "$2" tenant red | gojq -r --arg form "$3" '
		.planes[0].paths[] | select(.weight > 0) |
		"\(.function.switch) \(.weight) \(.[$form] | join(","))"'
}

# The function's SIDs at spine M; the counters of what spine M and leaf 2 do
offer() {
	fabric_exec "spine$1" ip -6 -batch - <<-END
	route add fc00:0:2$1::a1/128 encap seg6local action End count dev sid0
	route add fcbb:bb00:a$1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev sid0
	route replace fc00:0:2$1::1/128 encap seg6local action End count dev sid0
	route replace fcbb:bb00:2$1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev sid0
	END
}

# Packets that NODE has counted at SID
packets() {
	fabric_exec "$1" ip -s -6 route show "$2" |
		grep -o 'packets [0-9]*' | cut -d ' ' -f 2
}

# Packets of the function of spine M, by SID and by uSID, of the next segment, of the
# spine itself
all_packets() {
	echo "$(packets "spine$1" "fc00:0:2$1::a1/128")" \
		"$(packets "spine$1" "fcbb:bb00:a$1::/48")" \
		"$(packets leaf2 fc00:0:12::1/128)" \
		"$(packets "spine$1" "fc00:0:2$1::1/128")" \
		"$(packets "spine$1" "fcbb:bb00:2$1::/48")"
}

still() {
	local before

	before=$(all_packets "$1")
	pause 0.2
	[ "$(all_packets "$1")" = "$before" ]
}

# A to B by the one, B to A by the other list
steer() {
	fabric_exec hostA ip -6 route replace fd00:b::1/128 encap seg6 \
		mode encap segs "$1" via fd00:a::fe dev hA table "$table_a"
	fabric_exec hostB ip -6 route replace fd00:a::1/128 encap seg6 \
		mode encap segs "$2" via fd00:b::fe dev hB table "$table_b"
}

ping_b() {
	fabric_pings -I fd00:a::1 fd00:b::1
}

no_ping_b() {
	! fabric_exec hostA ping -6 -q -c 2 -i 0.2 -W 1 -I fd00:a::1 fd00:b::1
}

at_exit fabric_down
fabric_up
fabric_neighbors
table_a=1001 table_b=1002
if [ "$FABRIC_HOSTS" = netns ]; then
	table_a=main table_b=main
fi
fabric_exec hostA ip -batch - <<-END
sr tunsrc set fd00:a::1
route add fcbb:bb00:a::/48 encap seg6local action End.DT6 table 255 dev hA
END
fabric_exec hostB ip -batch - <<-END
sr tunsrc set fd00:b::1
route add fc00:0:b::d6/128 encap seg6local action End.DT6 table 255 dev hB
END
# the counter of the segment behind the function, and the way to uSIDs of functions
fabric_exec leaf2 ip -6 -batch - <<-END
route replace fc00:0:12::1/128 encap seg6local action End count dev sid0
route add fcbb:bb00:a2::/48 via fd00:2:2::2 dev spine2
route add fcbb:bb00:a4::/48 via fd00:2:4::2 dev spine4
END

topology >"$work/topology.json"
start
check "the engine leads" busywait 10 leads
check_fails "a function that no switch offers" "no switch offers" \
	fabric job add x hosts A,B bytes 1 via compress
check "a tenant" fabric tenant add red color 10
check "a job that asks for it" busywait 10 \
	fabric job add reduce tenant red hosts A,B bytes 1000000 via aggregate
check "is planned for" busywait 10 planned
check_equal "over the spines that offer it, with its SID" \
"spine2 15 fc00:0:22::a1,fc00:0:12::1,fc00:0:b::d6
spine4 15 fc00:0:24::a1,fc00:0:12::1,fc00:0:b::d6" "$(lists A B segments)"
check_equal "and its uSID" \
"spine2 15 fcbb:bb00:a2:11:a::
spine4 15 fcbb:bb00:a4:11:a::" "$(lists B A usids)"

for m in 2 4; do
	steer "$(lists A B segments | awk -v s=spine$m '$1 == s { print $3 }')" \
	      "$(lists B A usids | awk -v s=spine$m '$1 == s { print $3 }')"
	check "spine $m does not do it yet: nothing passes" no_ping_b
	offer $m
	# the last of those that did not pass have come to somewhere
	busywait 20 still $m
	read -ra before < <(all_packets $m)
	check "spine $m does: packets pass, both ways" ping_b
	read -ra after < <(all_packets $m)
	check_equal "at the function's SID" 3 $((after[0] - before[0]))
	check_equal "and its uSID" 3 $((after[1] - before[1]))
	check_equal "then at the next segment" 3 $((after[2] - before[2]))
	check_equal "not at the switch's own" "0 0" \
		"$((after[3] - before[3])) $((after[4] - before[4]))"
done
