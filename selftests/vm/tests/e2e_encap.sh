#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every encoding, over kernel SRv6 routers, IPv6 and IPv4 inside: what is sent
# arrives, and scapy and tshark agree on what was on the wire.
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

# By number: list and encapsulation. Packets with that mark go by it.
lists=(
	fcbb:bb00:22:12:b::
	fc00:0:21::1,fc00:0:b::d6
	fc00:0:23::1,fc00:0:12::1,fc00:0:b::d6
	fc00:0:11::1,fc00:0:24::1,fc00:0:12::1,fc00:0:b::d6
)

commands() {
	local i=0 list encap

	for list in "${lists[@]}"; do
		for encap in reduced full; do
			i=$((i + 1))
			echo "path add $((200 + i)) segs $list encap $encap dev hA via fd00:a::fe"
			echo "policy add color $((200 + i)) endpoint fd00:b::1 candidate segment-list $((200 + i))"
			echo "rule add prio $i mark $i color $((200 + i))"
			echo "$i $list $encap" >>"$SRPOL_OUT/cases"
		done
	done
}

pings() {
	local mark

	for mark in 1 2 3 4 5 6 7 8; do
		# shellcheck disable=SC2086
		check "list $(sed -n "${mark}p" "$SRPOL_OUT/cases"): ping of $1" \
			ping -q -c 2 -i 0.02 -W 10 -m $mark -Q 0xb8 -s 100 $1
	done
}

rm -f "$SRPOL_OUT/cases"
commands >"$SRPOL_OUT/commands"
# or the captures show checksums that are still to be filled in
e2e_up <"$SRPOL_OUT/commands"
ethtool -K hA tx off >/dev/null

e2e_capture leaf1 host in "$SRPOL_OUT/sent.pcap" ip6
e2e_capture leaf2 host out "$SRPOL_OUT/arrived.pcap" ip6
pings "-I fd00:a::1 fd00:b::1"
pings "-I 10.0.10.1 10.0.20.1"
check "UDP arrives as it was sent" \
	/usr/bin/python3 selftests/vm/tests/e2e_encap.py send
e2e_captured

e2e_verdicts /usr/bin/python3 selftests/vm/tests/e2e_encap.py scapy "$SRPOL_OUT"
e2e_verdicts /usr/bin/python3 selftests/vm/tests/e2e_encap.py tshark "$SRPOL_OUT"
check_equal "nothing was dropped" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
