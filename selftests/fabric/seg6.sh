#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The fabric itself, steered with nothing but the kernel's own seg6: what fails
# here is not srpol's fault. A to B goes over classic SIDs, B to A over uSIDs:
# with both hosts in one namespace, one SID has one way out.

set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh

# steer_to_b SIDS, steer_to_a SIDS: what hosts send to each other
steer_to_b() {
	fabric_exec hostA ip -6 route replace fd00:b::1/128 \
		encap seg6 mode encap segs "$1" via fd00:a::fe dev hA \
		table "$table_a"
}

steer_to_a() {
	fabric_exec hostB ip -6 route replace fd00:a::1/128 \
		encap seg6 mode encap segs "$1" via fd00:b::fe dev hB \
		table "$table_b"
}

decap() {
	fabric_exec hostA ip -batch - <<-EOF
	sr tunsrc set fd00:a::1
	route add fc00:0:10::/44 via fd00:a::fe dev hA
	route add fc00:0:20::/44 via fd00:a::fe dev hA
	route add fcbb:bb00:a::/48 encap seg6local action End.DT6 table 255 dev hA
	EOF
	fabric_exec hostB ip -batch - <<-EOF
	sr tunsrc set fd00:b::1
	route add fcbb:bb00:20::/44 via fd00:b::fe dev hB
	route add fc00:0:b::d6/128 encap seg6local action End.DT6 table 255 dev hB
	EOF
}

ping_b() {
	fabric_pings -s "${1:-56}" -I fd00:a::1 fd00:b::1
}

no_ping_b() {
	! fabric_exec hostA ping -6 -q -c 2 -i 0.2 -W 1 \
		-I fd00:a::1 fd00:b::1
}

unreachables() {
	fabric_exec hostA awk '$1 == "Icmp6InDestUnreachs" { print $2 }' \
		/proc/net/snmp6
}

# was_told COMMAND...: it succeeds, and host A gets ICMPv6 errors for it
was_told() {
	local before

	before=$(unreachables)
	"$@" && busywait 20 told_since "$before"
}

told_since() {
	[ "$(unreachables)" -gt "$1" ]
}

# only_spine BEFORE M: both ways of three pings of 1000 bytes took spine M, and no
# other one, where devices only say what they are
only_spine() {
	local before=$1 m=$2

	paste -d ' ' <(echo "$before") <(fabric_spine_bytes) |
		awk -v m="$m" '
		{ ab = $5 - $2; ba = $6 - $3 }
		{ print "spine " $1 ": " ab " " ba }
		$1 == m && (ab < 3000 || ba < 3000) { bad = 1 }
		$1 != m && (ab >= 1000 || ba >= 1000) { bad = 1 }
		END { exit bad }'
}

at_exit fabric_down
fabric_up
fabric_neighbors
table_a=1001 table_b=1002
if [ "$FABRIC_HOSTS" = netns ]; then
	table_a=main table_b=main
fi

check "what is not steered is not delivered, and host A is told" \
	was_told no_ping_b

decap
for m in 1 2 3 4; do
	steer_to_b "fc00:0:2$m::1,fc00:0:b::d6"
	steer_to_a "fcbb:bb00:2$m:a::"
	before=$(fabric_spine_bytes)
	check "A and B reach each other over spine $m" ping_b 1000
	check "spine $m, and no other, carried it" only_spine "$before" "$m"
done
check "8 KB packets pass" ping_b 8192

fabric_cut_spine 4
check "leaf reports the SID of a dead spine" was_told no_ping_b
fabric_restore_spine 4
fabric_neighbors
check "restored spine carries again" busywait 20 fabric_exec hostA \
	ping -n -q -c 1 -W 1 -I fd00:a::1 fd00:b::1

steer_to_b fc00:0:11::1,fc00:0:23::1,fc00:0:12::1,fc00:0:b::d6
check "four SIDs: leaf, spine, leaf, host" ping_b
steer_to_b fc00:0:23::99,fc00:0:b::d6
check "spine reports a SID it does not have" was_told no_ping_b
