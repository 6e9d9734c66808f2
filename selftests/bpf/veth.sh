#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs on veth devices, among the hosts of nodes.sh.
#
# SRPOL_TIMEOUT=600

# shellcheck source=selftests/bpf/nodes.sh
. "${0%/*}/nodes.sh"

hostdev=$BUILD/selftests/bpf/tools/hostdev

link c c0 a ac
connect_c

# Without the programs nothing gets through: the hop has no such route.
check_fails "unsteered packets end at the hop" "100% packet loss" \
	on a ping -n -q -c 1 -W 1 2001:db8:b::1

check "attach on both hosts, MTU 9000" eval "steer_a && steer_b"
check_equal "XDP is native" "1 1 1" \
	"$(xdp_mode a a0) $(xdp_mode a a1) $(xdp_mode b b0)"
check "nobody holds the programs but the pins" \
	eval "! pidof $attach"

check "ping, IPv6 inside" ping_b 2001:db8:b::1
check "ping, IPv4 inside" ping_b 192.0.2.2
check "three steered packets and three answers each" eval \
	'[ "$(reason a STEERED)" -eq 6 ] && [ "$(reason b DECAP)" -eq 6 ] &&
	 [ "$(reason b STEERED)" -eq 6 ] && [ "$(reason a DECAP)" -eq 6 ]'
# sid_error: L is told that A's SID does not take UDP
sid_error() {
	on l python3 - <<-EOF
	import errno, socket, sys
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.setsockopt(41, 25, 1)                      # IPV6_RECVERR
	s.connect(("fc00:0:a::46", 5400))
	s.settimeout(60)
	s.send(bytes(100))
	try:
	    s.recv(1)
	except OSError as e:
	    sys.exit(e.errno != errno.EPROTO and str(e))
	EOF
}
# It takes no frames from XDP. A rule matches what TC sends there for XDP.
check "an error goes back to a router as it is" sid_error
check_equal "and is not steered" 6 "$(reason a STEERED)"
check "a router pings a SID" pings l fc00:0:a::46
check "with large packets" pings l -s 8900 fc00:0:a::46
check_equal "all answered by XDP" 6 "$(reason a ECHO)"
check "the largest packet that fits, IPv6" \
	ping_b -M "do" -s $((9000 - 64 - 48)) 2001:db8:b::1
check "the largest packet that fits, IPv4" \
	ping_b -M "do" -s $((9000 - 64 - 28)) 192.0.2.2

steer_a -f
steer_b -f
check "full SRH, IPv6" ping_b 2001:db8:b::1
check "full SRH, IPv4" ping_b 192.0.2.2
steer_a
steer_b

check_fails "too big by a byte: local sender learns, IPv6" "mtu: ?8936" \
	on a ping -n -c 3 -i 0.1 -W 60 -M "do" -s $((9000 - 64 - 47)) \
		2001:db8:b::1
check_fails "too big by a byte: local sender learns, IPv4" "mtu ?= ?8936" \
	on a ping -n -c 3 -i 0.1 -W 60 -M "do" -s $((9000 - 64 - 27)) 192.0.2.2

check "too big: forwarded sender learns, IPv6" udp_learns 2001:db8:b::1
check "too big: forwarded sender learns, IPv4" udp_learns 192.0.2.2
on a ethtool -K ac tx off >/dev/null
# What was learnt goes with the routes it was learnt for.
on c ip -6 route del default
on c ip -4 route del default
on c ip -6 route add default via fd00:c::fe src 2001:db8:c::1
on c ip -4 route add default via 10.0.3.254 src 192.0.2.3
check "the same over a wire without offload, IPv6" udp_learns 2001:db8:b::1
check "the same over a wire without offload, IPv4" udp_learns 192.0.2.2

check "TCP over IPv6, super-packets stay whole" tcp 2001:db8:b::1
check "TCP over IPv4, super-packets stay whole" tcp 192.0.2.2

check "UDP with segments, IPv6" udp_gso 2001:db8:b::1
check "UDP with segments, IPv4" udp_gso 192.0.2.2

# The kernel keeps the state of one tunnel: with a checksum inside VXLAN that is left
# to the device, the packet goes on as it is.
vxlan() {
	on "$1" ip link add vx mtu 1400 type vxlan id 7 local "192.0.2.$2" \
		remote "192.0.2.$3" dstport 4789 &&
		on "$1" ip addr add "10.7.0.$2/24" dev vx &&
		on "$1" ip link set vx up
}

vxlan_udp() {
	steered=$(reason a STEERED)
	refused=$(reason a ENCAP_REFUSED)
	on a bash -c 'echo x >/dev/udp/10.7.0.2/9'
	steered=$(($(reason a STEERED) - steered))
	refused=$(($(reason a ENCAP_REFUSED) - refused))
}

vxlan a 1 2
vxlan b 2 1
check "what is in VXLAN is steered" ping_b 10.7.0.2
# (what looks for neighbors in there has no such checksum)
vxlan_udp
check_equal "not if its checksum is left to the device" 1 "$refused"
on a ethtool -K vx tx off >/dev/null
vxlan_udp
check "without that offload it is" [ "$steered" -ge 1 ]
check_equal "and not refused" 0 "$refused"
on a ip link del vx
on b ip link del vx

# By the other link, although the route says the first; the packet meets the
# program again there, and is not encapsulated again.
steer_a -o a1 -n "$(mac l lc)"
before=$(counter l lc rx_packets)
check "redirect to another uplink" ping_b 2001:db8:b::1
check "all went that way, encapsulated once" eval \
	'[ $(($(counter l lc rx_packets) - before)) -ge 3 ] &&
	 [ "$(reason a STEERED)" -eq 3 ] && [ "$(reason a TUNNELED)" -eq 3 ]'

steer_a -t 100
check "a VLAN tag in the packet's metadata stays behind" \
	ping_b 2001:db8:b::1
check "tagged packets were steered" eval '[ "$(reason a STEERED)" -eq 3 ]'

# A steers what C sends where it comes in. Frames are redirected to veth devices
# whose peer has NAPI, that is GRO here, and their checksums have to be there.
on c ethtool -K c0 tx off gro on >/dev/null
on l ethtool -K la gro on >/dev/null
check "attach a host port" steer_a -h ac
check_equal "its XDP is native" 1 "$(xdp_mode a ac)"
before=$(forwarded)
check "host port: ping, IPv6 inside" ping_c 2001:db8:b::1
check_equal "only the answers went through the stack" 3 \
	$(($(forwarded) - before))
check "host port: ping, IPv4 inside" ping_c 192.0.2.2
check_equal "steered once each" "6 0" \
	"$(reason a STEERED) $(reason a TUNNELED)"

# ifindex NODE DEV: as four bytes, for bpftool
ifindex() {
	local i

	i=$(on "$1" cat "/sys/class/net/$2/ifindex")
	echo $((i & 255)) $((i >> 8 & 255)) $((i >> 16 & 255)) $((i >> 24))
}

# port_bytes: a datagram of C's as it arrives at L, byte by byte; but for the
# flow label, which must not be 0. L does not have the SID: what it does to a
# packet of its own shows in the capture.
port_bytes() {
	python3 - "$id" "$(mac l la)" "$(mac a a0)" <<-EOF
	import os, socket, struct, sys, ctypes
	libc = ctypes.CDLL(None)
	def enter(ns):
	    fd = os.open("/run/netns/%s-%s" % (sys.argv[1], ns), os.O_RDONLY)
	    assert libc.setns(fd, 0x40000000) == 0
	def tap(ns, dev):
	    enter(ns)
	    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
	                      socket.htons(3))
	    s.bind((dev, 3))
	    s.settimeout(60)
	    return s
	payload = b"from the port, %d" % os.getpid()
	def capture(s):
	    while True:
	        frame = s.recv(2000)
	        if frame.endswith(payload):
	            return frame
	def mac(text):
	    return bytes.fromhex(text.replace(":", ""))
	def ip(text):
	    return socket.inet_pton(socket.AF_INET6, text)
	la, c0 = tap("l", "la"), tap("c", "c0")
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.sendto(payload, ("2001:db8:b::1", 5400))
	inner, got = bytearray(capture(c0)[14:]), capture(la)
	inner[7] -= 1                                # a hop, RFC 8986 5.1
	srh = bytes([41, 2, 4, 1, 0, 0, 0, 0]) + ip("fc00:0:b::46")
	label = struct.unpack(">I", got[14:18])[0] & 0xfffff
	assert label
	want = (mac(sys.argv[2]) + mac(sys.argv[3]) + b"\x86\xdd" +
	        struct.pack(">IHBB", 6 << 28 | label, len(srh + inner), 43, 64) +
	        ip("fd00:a::1") + ip("fc00:0:1::f") + srh + inner)
	assert got == want, "\n" + got.hex() + "\n" + want.hex()
	EOF
}
steer a a0,a1 -s fd00:a::1 -n "$(mac l la)" -l fc00:0:a::46 -h ac \
	fc00:0:1::f fc00:0:b::46
check "host port: the bytes on the uplink" port_bytes

check "host port, End.DX6 to the host" steer_a -h ac -x "$(mac c c0)"
before=$(forwarded)
check "ping, both ways past the stack" ping_c 2001:db8:b::1
check_equal "nothing was forwarded by it" 0 $(($(forwarded) - before))
check_equal "steered and decapsulated" "3 3" \
	"$(reason a STEERED) $(reason a DECAP)"

# Pods have no GRO: a device to one takes no frames from XDP, and TC sends.
on c ethtool -K c0 gro off >/dev/null
check "End.DX6 to a host that takes no frames from XDP" \
	steer_a -h ac -x "$(mac c c0)"
before=$(forwarded)
check "ping, both ways past the stack, at the pod's defaults" \
	ping_c 2001:db8:b::1
check_equal "nothing was forwarded by the stack" 0 $(($(forwarded) - before))
# Metadata crosses a veth. Another data plane, of which the program that reads it
# is left, takes it for nothing: its device of that number is none, or another.
steer c c0 -s 2001:db8:c::1 -n "$(mac a ac)" -l fc00:0:c::46 \
	fc00:0:1::e fc00:0:a::46
rm "$pins/c/xdp-c0" "$pins/c/tcx-c0"
check "ping, and the pod has uplinks of its own" ping_c 2001:db8:b::1
unsteer c
# XDP does not see a tag in metadata, which is of the link the packet came by. The
# program that tags what leaves L is what is left of a data plane there.
steer l la -t 9 -s fd00:a::fe -n "$(mac a a0)" -l fc00:0:1::46 \
	fc00:0:a::46 fc00:0:b::46
rm "$pins/l/xdp-la" "$pins/l/tcx-la" "$pins/l/uplink-tc-la"
check "ping, packets come with a tag in metadata" ping_c 2001:db8:b::1
unsteer l
on c ethtool -K c0 gro on >/dev/null

# Decapsulate and forward in XDP, by the kernel's routes, which may change.
check "forward in XDP" steer_a -h ac -F ac
check "ping, both ways past the stack, IPv6" by_xdp 3 ping_c 2001:db8:b::1
check "ping, both ways past the stack, IPv4" by_xdp 3 ping_c 192.0.2.2
on a ip -6 route replace blackhole 2001:db8:c::/48
before=$(reason a FORWARDED)
check_fails "a route that goes is not used any more" "100% packet loss" \
	no_ping c 2001:db8:b::1
check_equal "at once" "$before" "$(reason a FORWARDED)"
on a ip -6 route replace 2001:db8:c::/48 via fd00:c::1
check "and used again when it is back, in XDP" by_xdp 3 ping_c 2001:db8:b::1
# Another address of the neighbor's: known to A's kernel, it is to XDP within a
# second. With its own C forgets those of its neighbors.
new_address() {
	on c ip link set c0 address "$1" &&
		c_knows_a &&
		on a ip neigh replace fd00:c::1 lladdr "$1" dev ac &&
		on a ip neigh replace 10.0.3.1 lladdr "$1" dev ac &&
		busywait 20 on c ping -n -q -c 1 -W 1 2001:db8:b::1
}
old=$(mac c c0)
check "the neighbor's address changes" new_address 02:00:00:00:00:cc
check "and back" new_address "$old"
# Rules of the kernel may look at the DSCP.
for family in -4 -6; do
	on a ip $family rule add dsfield 0x10 blackhole
done
check_fails "a rule for a DSCP is kept, IPv4" "100% packet loss" \
	no_ping c 192.0.2.2 -Q 0x10
check_fails "a rule for a DSCP is kept, IPv6" "100% packet loss" \
	no_ping c 2001:db8:b::1 -Q 0x10
check "packets without it pass" eval "ping_c 192.0.2.2 && ping_c 2001:db8:b::1"
for family in -4 -6; do
	on a ip $family rule del dsfield 0x10 blackhole
done
# Of several next hops the flow label chooses, as in the stack.
link c c1 a ac1
on c ethtool -K c1 gro on >/dev/null
on a ip -6 addr add fd00:c1::fe/64 dev ac1
on c ip -6 addr add fd00:c1::1/64 dev c1
neighbor a fd00:c1::1 ac1 c c1
on c ip -6 addr add 2001:db8:c::2/128 dev lo
on a ip -6 route add 2001:db8:c::2/128 nexthop via fd00:c::1 dev ac \
	nexthop via fd00:c1::1 dev ac1
# by_label: which of C's devices packets from B come in by, label by label
by_label() {
	on c python3 - <<-EOF &
	import socket
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.setsockopt(41, 49, 1)                      # IPV6_RECVPKTINFO
	s.setsockopt(17, 102, 1)                     # UDP_NO_CHECK6_RX
	s.bind(("2001:db8:c::2", 4000))
	s.settimeout(60)
	seen = set()
	while len({label for label, dev in seen}) < 22:
	    data, (info,), _, _ = s.recvmsg(9, 99)
	    seen.add((int(data), socket.if_indextoname(
	        int.from_bytes(info[2][16:20], "little"))))
	print(*(f"{label} {dev}" for label, dev in sorted(seen)), sep="\n")
	EOF
	busywait 60 eval "on c ss -Huln sport = 4000 | grep -q 4000"
	on b python3 - <<-EOF
	import socket
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.setsockopt(41, 33, 1)                      # IPV6_FLOWINFO_SEND
	# no checksum is pending, as in a frame from a NIC
	s.setsockopt(17, 101, 1)                     # UDP_NO_CHECK6_TX
	for label in range(1, 65, 3):
	    for _ in range(3):
	        s.sendto(b"%d" % label, ("2001:db8:c::2", 4000, label, 0))
	EOF
	wait $!
}
on b bash -c 'echo 0 >/proc/sys/net/ipv6/flowlabel_consistency'
steer_a -h ac
stack=$(by_label)
check_equal "the stack takes both next hops, by label" "c0 c1" \
	"$(cut -d " " -f 2 <<<"$stack" | sort -u | xargs)"
check "forward in XDP, to either" steer_a -h ac -F ac,ac1
check_equal "each label takes the next hop that the stack would take" \
	"$stack" "$(by_label)"
check "by XDP" busywait 20 eval '[ "$(reason a FORWARDED)" -ge 44 ]'
# still: nothing is under way any more that XDP will forward
still() {
	local before

	before=$(reason a FORWARDED)
	pause 0.2
	[ "$(reason a FORWARDED)" = "$before" ]
}
# What leaves by an uplink is steered there, if there are rules.
read -ra index < <(ifindex a ac)
check "the port becomes an uplink" on a "$BUILD/tools/sbin/bpftool" \
	map update pinned "$pins/a/uplinks" \
	key "${index[@]}" value "${index[@]}"
# what is remembered is from before
on a ip -6 route replace 2001:db8:c::/48 via fd00:c::1
busywait 20 still
before=$(reason a FORWARDED)
check "ping, and the packets leave by an uplink" ping_c 2001:db8:b::1
check_equal "none past its program" "$before" "$(reason a FORWARDED)"

# TC ingress of the port: devices as they come, with all offloads.
on c ethtool -K c0 tx on gro off >/dev/null
on l ethtool -K la gro off >/dev/null

check "a host port at TC" steer_a -H ac
check_equal "no XDP there" null "$(xdp_mode a ac)"
before=$(forwarded)
check "TC port: ping, IPv6 inside" ping_c 2001:db8:b::1
check "TC port: ping, IPv4 inside" ping_c 192.0.2.2
check "TC port: jumbo" ping_c -M "do" -s $((9000 - 64 - 48)) 2001:db8:b::1
check_equal "only the answers went through the stack" 9 \
	$(($(forwarded) - before))
check "TC port: TCP over IPv6, super-packets stay whole" \
	tcp 2001:db8:b::1 c
check "TC port: TCP over IPv4, super-packets stay whole" tcp 192.0.2.2 c
check "TC port: too big, the sender learns, IPv6" udp_learns 2001:db8:b::1
check "TC port: too big, the sender learns, IPv4" udp_learns 192.0.2.2

for sum in 0 1; do
	check "TC port: UDP, IPv6, no checksum: $sum" udp_sum 2001:db8:b::1 $sum
	check "TC port: UDP, IPv4, no checksum: $sum" udp_sum 192.0.2.2 $sum
done

# A virtual port: A's own applications have an address of their own by it.
host_gro() {
	on a ethtool -k srpol0 | grep -q '^generic-receive-offload: on'
}
no_link_local() {
	! on a ip -6 addr show dev srpol0 scope link | grep -q inet6
}
# Not multicast: either end may report its groups (MLD) a second after it was made,
# or between the one counter and the other: then they are read again.
rx_host() {
	on a bash -c '
		mcast() {
			awk "\$1 == \"Ip6InMcastPkts\" { print \$2 }" \
				/proc/net/dev_snmp6/srpol0
		}
		until before=$(mcast)
			packets=$(</sys/class/net/srpol0/statistics/rx_packets)
			[ "$before" = "$(mcast)" ]; do
			:
		done
		echo $((packets - before))'
}
ping_host() {
	local from=$1
	shift

	pings a -I "$from" "$@"
}

on l ip -6 route add 2001:db8:a::/48 via fd00:a::1
check "a virtual port" on a "$hostdev" add srpol0 8900 \
	2001:db8:a:1::1/128,192.0.2.7/32 2001:db8:b::/48,192.0.2.2/32
check "its GRO is on" host_gro
check "it says nothing by itself" no_link_local
check_equal "source of a route, IPv4" "192.0.2.7" "$(on a ip route get 192.0.2.2 |
	sed -n 's/.* src \([^ ]*\).*/\1/p')"
check "attached" steer_a -V srpol0
before=$(rx_host)
check "virtual port: ping, IPv6" ping_host 2001:db8:a:1::1 2001:db8:b::1
check "virtual port: ping, IPv4" ping_host 192.0.2.7 192.0.2.2
check_equal "the answers came in by it" 6 $(($(rx_host) - before))
# the program of the uplink sees them again, encapsulated
check_equal "steered once each, by TC both ways" "6 6 6" \
	"$(reason a STEERED) $(reason a TUNNELED) $(reason a HOST)"
check "virtual port: the largest packet" ping_host 2001:db8:a:1::1 \
	2001:db8:b::1 -M "do" -s $((8900 - 48))
# Of two who do not agree on the size, the smaller one still gets all.
ping_smaller() {
	local dev

	dev=$(on a ip -j link show srpol0 | gojq -r '.[].link')
	on a ip link set "$dev" mtu "$2"
	on a ip link set srpol0 mtu "$1"
	pings b -s 8000 2001:db8:a:1::1 && pings b -s 8000 192.0.2.7
}
check "virtual port: packets above its MTU" ping_smaller 4000 8900
check "virtual port: and of both ends" ping_smaller 4000 4000
check "virtual port: and below it" ping_smaller 8900 8900
check "virtual port: TCP over IPv6, super-packets stay whole" tcp 2001:db8:b::1
check "virtual port: TCP over IPv4, super-packets stay whole" tcp 192.0.2.2
check_equal "no checksum was wrong" "0 0" "$(on a nstat -asz TcpInCsumErrors |
	awk '/^Tcp/ { print $2 }') $(on b nstat -asz TcpInCsumErrors |
	awk '/^Tcp/ { print $2 }')"

# In XDP, as from a NIC whose frames are plain: these are, but for TCP's.
check "virtual port: XDP leads to it" steer_a -V srpol0 -F srpol0-port
before=$(rx_host)
check "ping, IPv6" ping_host 2001:db8:a:1::1 2001:db8:b::1
check "ping, IPv4" ping_host 192.0.2.7 192.0.2.2
check_equal "the answers came in by it" 6 $(($(rx_host) - before))
check_equal "all by XDP" "6 0" "$(reason a FORWARDED) $(reason a HOST)"

unsteer a
check_fails "what nobody steers is unreachable, and its sender is told" \
	"\+3 errors" on a ping -n -q -c 3 -i 0.05 -W 60 \
		-I 2001:db8:a:1::1 2001:db8:b::1
# What is shown and saved of it is all that it has.
give_addresses() {
	local i

	for ((i = $1; i < $2; i++)); do
		echo "addr add 2001:db8:a:2::$i/128 dev srpol0"
	done | on a ip -6 -batch -
}
check "virtual port: many addresses" give_addresses 0 126
check_equal "all are read, and all prefixes" "128 2" "$(on a "$hostdev" show srpol0)"
check "virtual port: one more" give_addresses 126 127
check_equal "which is not forgotten in silence" "128 2 more" "$(on a "$hostdev" show srpol0)"
check "removed" on a "$hostdev" del srpol0
check_equal "with its rules and routes" "" "$(on a ip rule | grep srpol0
	on a ip -6 rule | grep srpol0
	on a ip route show table all | grep srpol0
	on a ip -6 route show table all | grep srpol0)"

steer_a
check "steered again" ping_b 2001:db8:b::1
unsteer a
# the kernel takes programs off a moment after the last reference to them
check "removed pins: no steering" busywait 60 \
	eval "! on a ping -n -q -c 1 -W 1 2001:db8:b::1"
