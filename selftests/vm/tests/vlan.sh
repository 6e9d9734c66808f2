#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# VLAN tags among the hosts of nodes.sh, on veth devices as they come. C is behind
# a trunk of A's, and an uplink of A's is a trunk as well:
#
#	C c0 (VLAN 100) --- t0:at --- (VLAN 100) ac A
#	A a7 (VLAN 7) ----- a1:lc --- (VLAN 7) l7 L
#
# SRPOL_TIMEOUT=900

modprobe -q 8021q
# shellcheck source=selftests/bpf/nodes.sh
. "${0%/*}/../../bpf/nodes.sh"

# vlan NODE TRUNK DEV VID
vlan() {
	on "$1" ip link add link "$2" name "$3" type vlan id "$4" ||
		skip_all "the kernel has no VLAN devices"
	on "$1" ip link set "$3" up
}

link c t0 a at
vlan c t0 c0 100
vlan a at ac 100
vlan a a1 a7 7
vlan l lc l7 7
connect_c
on a ip -6 addr add fd00:a7::1/64 dev a7
on l ip -6 addr add fd00:a7::fe/64 dev l7

# errors_tagged TAGS...: send on the trunk of C what does not fit A's path, with
# each of these tags, in hexadecimal, and see that the error has them, and is as
# the one without any in all else. The kernel gives the outermost tag of what
# comes in beside the frame, with all its bits.
errors_tagged() {
	python3 - "$id" "$(mac a at)" "$(mac c t0)" "$@" <<-EOF
	import ctypes, os, socket, struct, sys
	libc = ctypes.CDLL(None)
	fd = os.open("/run/netns/%s-c" % sys.argv[1], os.O_RDONLY)
	assert libc.setns(fd, 0x40000000) == 0
	s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
	s.bind(("t0", 3))
	s.setsockopt(263, 8, 1)                      # PACKET_AUXDATA
	s.settimeout(5)
	def mac(text):
	    return bytes.fromhex(text.replace(":", ""))
	def ip(text):
	    return socket.inet_pton(socket.AF_INET6 if ":" in text else
	                            socket.AF_INET, text)
	def checksum(b):
	    n = sum(struct.unpack(">%dH" % (len(b) // 2), b))
	    n = (n & 0xffff) + (n >> 16)
	    return ~(n + (n >> 16)) & 0xffff
	udp = struct.pack(">HHHH", 9, 9, 8950, 1) + bytes(8942)
	v4 = struct.pack(">HHHHBBH", 0x4500, 8970, 0, 0x4000, 64, 17, 0)
	v4 += ip("192.0.2.3") + ip("192.0.2.2")
	v4 = v4[:10] + struct.pack(">H", checksum(v4)) + v4[12:]
	v6 = struct.pack(">IHBB", 6 << 28, 8950, 17, 64)
	v6 += ip("2001:db8:c::1") + ip("2001:db8:b::1")
	packets = { b"\x08\x00": (v4, 9, b"\x01", 20, 3),
	            b"\x86\xdd": (v6, 6, b"\x3a", 40, 2) }
	def receive():
	    frame, aux, flags, sender = s.recvmsg(10000, 100)
	    if sender[2] == 4:                       # PACKET_OUTGOING
	        return b""
	    status, *_, tci, tpid = struct.unpack("=IIIHHHH", aux[0][2])
	    tag = struct.pack(">HH", tpid, tci) if status & 0x10 else b""
	    return frame[:12] + tag + frame[12:]
	def error(tags, proto):
	    net, at, nh, length, kind = packets[proto]
	    s.send(mac(sys.argv[2]) + mac(sys.argv[3]) + tags + proto + net + udp)
	    while True:
	        frame = receive()
	        got = frame[frame.find(proto, 12) + 2:]
	        if got[at:at + 1] == nh and got[length] == kind:
	            return frame
	for proto in packets:
	    plain = error(b"", proto)
	    assert plain[:14] == mac(sys.argv[3]) + mac(sys.argv[2]) + proto
	    for tags in sys.argv[4:]:
	        tags = bytes.fromhex(tags)
	        got, want = error(tags, proto), plain[:12] + tags + plain[12:]
	        assert got == want, "\n" + got[:60].hex() + "\n" + want[:60].hex()
	EOF
}

# answer_tag: the tag of the answers that C gets
answer_tag() {
	python3 - "$id" <<-EOF
	import ctypes, os, socket, struct, subprocess, sys
	libc = ctypes.CDLL(None)
	fd = os.open("/run/netns/%s-c" % sys.argv[1], os.O_RDONLY)
	assert libc.setns(fd, 0x40000000) == 0
	s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
	s.bind(("t0", 3))
	s.setsockopt(263, 8, 1)                      # PACKET_AUXDATA
	s.settimeout(5)
	subprocess.run(["ping", "-q", "-c", "1", "-W", "5", "2001:db8:b::1"],
	               check=True, stdout=subprocess.DEVNULL)
	while True:
	    frame, aux, flags, sender = s.recvmsg(10000, 100)
	    if sender[2] != 4 and frame[20:21] == b"\x3a" and frame[54] == 129:
	        break
	print(struct.unpack("=IIIHHHH", aux[0][2])[5:])
	EOF
}

iperf() {
	on b iperf3 -s -1 -D -I "$pins.pid" >/dev/null
	busywait 20 eval "on b ss -Hltn sport = 5201 | grep -q LISTEN" &&
		on c timeout 60 iperf3 -c "$1" -n 4M
}

steered() {
	echo "$(reason a STEERED) $(reason a DECAP)"
}

steer_b

# --- a workload behind a trunk ---

for hook in H h; do
	check "port -$hook: VLAN 100 is steered" steer_a -$hook at -v 100 -F at
	check "ping, IPv6" ping_c 2001:db8:b::1
	check "ping, IPv4" ping_c 192.0.2.2
	check_equal "steered there and decapsulated back" "6 6" "$(steered)"
	check_equal "the stack sends the answers by the VLAN device" 0 \
		"$(reason a FORWARDED)"
	check_equal "with its tag" "(100, 33024)" "$(answer_tag)"
	check "too big: the sender learns, IPv6" udp_learns 2001:db8:b::1
	check "too big: the sender learns, IPv4" udp_learns 192.0.2.2
	on c ip -6 route flush cache
	on c ip -4 route flush cache
	check "port -$hook: all is steered" steer_a -$hook at
	check "errors have the tags of their packets, byte by byte" \
		errors_tagged 81000064 8100b064 88a8f3e8 88a8b3e881007064 \
		81000064810000658100e066 81007000
	steer_a -$hook at -v 101
	check_fails "port -$hook: of VLAN 101 there is nothing" \
		"100% packet loss" on c ping -n -q -c 1 -W 1 2001:db8:b::1
	check_equal "steered" "0 0" "$(steered)"
done

# What a NIC would hand to XDP: the tag is in the frame. A veth takes what XDP
# sends by it while its peer has GRO.
on c ethtool -K t0 tx off tx-vlan-hw-insert off >/dev/null
on l ethtool -K la gro on >/dev/null
steer_a -h at -v 100
check "XDP port, tags in the frame: ping" ping_c 2001:db8:b::1
check_equal "steered" "3 3" "$(steered)"
on c ethtool -K t0 tx on tx-vlan-hw-insert on >/dev/null
on l ethtool -K la gro off >/dev/null

steer_a -H at -v 100
check "TCP over IPv6, with all offloads" iperf 2001:db8:b::1
check "TCP over IPv4, with all offloads" iperf 192.0.2.2

# XDP ends the SID of an adjacency, and TC sends by the VLAN device.
check "End.DX6 by a VLAN device" steer_a -H ac -x "$(mac c c0)"
check_equal "the uplink is in native mode" 1 "$(xdp_mode a a0)"
check "ping, IPv6" ping_c 2001:db8:b::1
check_equal "steered and decapsulated" "3 3" "$(steered)"
check_equal "with its tag" "(100, 33024)" "$(answer_tag)"

# --- an uplink that is a VLAN device ---

on l ip -6 route replace fc00:0:a::/48 via fd00:a7::1
steer_a7() {
	steer a "$@" -s fd00:a::1 -n "$(mac l l7)" -l fc00:0:a::46 \
		fc00:0:1::e fc00:0:b::46
}
tagged_rx() {
	counter l l7 rx_packets
}

check "an uplink on VLAN 7" steer_a7 a7 -H at -v 100
before=$(tagged_rx)
check "ping, IPv6" ping_c 2001:db8:b::1
check "ping, IPv4" ping_c 192.0.2.2
check_equal "steered there and decapsulated back" "6 6" "$(steered)"
check "in VLAN 7" [ $(($(tagged_rx) - before)) -ge 6 ]
check "TCP over IPv6" iperf 2001:db8:b::1
check "TCP over IPv4" iperf 192.0.2.2

# Native XDP cannot send by it, and leaves that to TC.
on c ethtool -K t0 tx off tx-vlan-hw-insert off >/dev/null
check "the same from an XDP port" steer_a7 a7 -h at -v 100
check_equal "in native mode" 1 "$(xdp_mode a at)"
before=$(tagged_rx)
check "ping, IPv6" ping_c 2001:db8:b::1
check "ping, IPv4" ping_c 192.0.2.2
check_equal "steered there, each once, and decapsulated back" "6 6" \
	"$(steered)"
check "in VLAN 7" [ $(($(tagged_rx) - before)) -ge 6 ]
check "TCP over IPv6" iperf 2001:db8:b::1
