#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A host port that is the tap of a virtual machine, among the hosts of nodes.sh:
# C is the machine. Its checksums are pending, its TCP comes in super-packets,
# with all that was agreed on when it booted; and in the second half a packet
# has no more than 14 linear bytes.
#
# SRPOL_TIMEOUT=600

# shellcheck source=selftests/bpf/nodes.sh
. "${0%/*}/nodes.sh"

here=$PWD/selftests/bpf

# machine [--fragments]: taps between A and C
machine() {
	local said

	coproc TAPS { exec python3 "$here/taps.py" "$@" "$id-a" ac "$id-c" c0; }
	# not ours to write to, and it has a name of its own
	# shellcheck disable=SC2153
	taps=$TAPS_PID
	read -r -t 120 said <&"${TAPS[0]}" && [ "$said" = ready ]
}
taps=
unplug() {
	[ -n "$taps" ] || return 0
	kill "$taps"
	wait "$taps"
	taps=
}
at_exit unplug

# srh_from_c: a packet to A's SID, on to B's
srh_from_c() {
	on c python3 - "$(mac a ac)" "$(mac c c0)" <<-EOF
	import socket, struct, sys
	def ip(text):
	    return socket.inet_pton(socket.AF_INET6, text)
	def mac(text):
	    return bytes.fromhex(text.replace(":", ""))
	s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
	s.bind(("c0", 0))
	srh = bytes([59, 2, 4, 1, 0, 0, 0, 0]) + ip("fc00:0:b::46")
	s.send(mac(sys.argv[1]) + mac(sys.argv[2]) + b"\x86\xdd" +
	       struct.pack(">IHBB", 6 << 28, len(srh), 43, 64) +
	       ip("2001:db8:c::1") + ip("fc00:0:a::46") + srh)
	EOF
}

# no_wrong_sum: neither A, B nor C saw one
no_wrong_sum() {
	local node

	for node in a b c; do
		on "$node" nstat -asz TcpInCsumErrors UdpInCsumErrors \
			Udp6InCsumErrors
	done | awk '$2 ~ /^[0-9]/ && $2 { exit 1 }'
}

# with WHAT: everything a machine sends
with() {
	local before

	before=$(forwarded)
	check "$1: ping, IPv6" ping_c 2001:db8:b::1
	check "$1: ping, IPv4" ping_c 192.0.2.2
	check "$1: jumbo" ping_c -M "do" -s $((9000 - 64 - 48)) 2001:db8:b::1
	check_equal "$1: only the answers went through the stack" 9 \
		$(($(forwarded) - before))
	check "$1: TCP over IPv6, super-packets stay whole" \
		tcp 2001:db8:b::1 c
	check "$1: TCP over IPv4, super-packets stay whole" tcp 192.0.2.2 c
	for sum in 0 1; do
		check "$1: UDP, IPv6, no checksum: $sum" \
			udp_sum 2001:db8:b::1 $sum
		check "$1: UDP, IPv4, no checksum: $sum" udp_sum 192.0.2.2 $sum
	done
	check "$1: too big, the sender learns, IPv6" udp_learns 2001:db8:b::1
	check "$1: too big, the sender learns, IPv4" udp_learns 192.0.2.2
	before=$(reason a SID_FROM_PORT)
	check "$1: a segment list of its own" srh_from_c
	check "$1: is dropped and counted" busywait 20 eval \
		"[ \"\$(reason a SID_FROM_PORT)\" -eq $((before + 1)) ]"
	check "$1: no checksum was wrong" no_wrong_sum
}

machine || skip_all "no taps with virtio headers"
connect_c
check "attach, with the tap a port at TC" eval "steer_a -H ac && steer_b"
check_equal "no XDP there" null "$(xdp_mode a ac)"
check "its offloads are as they come" eval \
	'on c ethtool -k c0 | grep -q "^tcp-segmentation-offload: on"'
with "virtio"

# A tap takes frames from XDP, but none whose end is in fragments.
check "attach, forward in XDP to the tap" steer_a -H ac -F ac
check "forward in XDP: ping, past the stack" by_xdp 3 ping_c 2001:db8:b::1
check "forward in XDP: jumbo" \
	ping_c -M "do" -s $((9000 - 64 - 48)) 2001:db8:b::1
check "End.DX6 to the tap" steer_a -H ac -x "$(mac c c0)"
check "End.DX6: ping" ping_c 2001:db8:b::1
check "End.DX6: jumbo" ping_c -M "do" -s $((9000 - 64 - 48)) 2001:db8:b::1

unplug
machine --fragments || {
	not_ok "taps with NAPI fragments"
	exit
}
connect_c
# else it makes linear what it wants to compare
on a ethtool -K ac gro off
check "attach to another tap of that name" steer_a -H ac
with "14 linear bytes"
