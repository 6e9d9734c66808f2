#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs on real devices, MTU 9000, native XDP, TCX; the hop in between
# is the kernel's own seg6local End, which knows no inner address:
#
#	 C --- c0:ac A a0 ------- la L lb ------- b0 B
#	             a1 ------- lc
#
#	A	2001:db8:a::1, 192.0.2.1	SID fc00:0:a::46 (End.DT46)
#	B	2001:db8:b::1, 192.0.2.2	SID fc00:0:b::46 (End.DT46)
#	C	2001:db8:c::1, 192.0.2.3	behind A, which steers for it:
#						when it forwards, or as XDP port
#	L	SID fc00:0:1::e (End)
#
# SRPOL_TIMEOUT=600

set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-$PWD/build}
attach=$BUILD/selftests/bpf/tools/attach
hostdev=$BUILD/selftests/bpf/tools/hostdev

# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

[ "$(id -u)" -eq 0 ] || skip_all "needs root"

id=srpol-$$
pins=$(mktemp -d)
at_exit rmdir "$pins"
mount -t bpf bpf "$pins" || skip_all "no bpffs"
at_exit umount "$pins"

on() {
	local node=$1
	shift
	ip netns exec "$id-$node" "$@"
}

for node in a b c l; do
	ip netns add "$id-$node" || exit 1
	at_exit ip netns del "$id-$node"
	# shellcheck disable=SC2016
	on $node bash -c '
		for dev in all default; do
			echo 0 >/proc/sys/net/ipv6/conf/$dev/accept_dad
			echo 1 >/proc/sys/net/ipv6/conf/$dev/forwarding
		done
		echo 1 >/proc/sys/net/ipv4/ip_forward
		ip link set lo up'
done

# link NODE DEV NODE DEV
link() {
	ip link add "$2" mtu 9000 netns "$id-$1" type veth \
		peer name "$4" mtu 9000 netns "$id-$3" || exit 1
	on "$1" ip link set "$2" up
	on "$3" ip link set "$4" up
}

link a a0 l la
link a a1 l lc
link b b0 l lb
link c c0 a ac

on a ip -6 addr add fd00:a::1/64 dev a0
on a ip -6 addr add fd00:c::fe/64 dev ac
on a ip addr add 10.0.3.254/24 dev ac
on a ip -6 addr add 2001:db8:a::1/128 dev lo
on a ip addr add 192.0.2.1/32 dev lo
on a ip -6 route add default via fd00:a::fe src 2001:db8:a::1
on a ip -6 route add 2001:db8:c::/48 via fd00:c::1
on a ip route add 192.0.2.3 via 10.0.3.1
on a ip -4 route add default via inet6 fd00:a::fe src 192.0.2.1
on b ip -6 addr add fd00:b::1/64 dev b0
on b ip -6 addr add 2001:db8:b::1/128 dev lo
on b ip addr add 192.0.2.2/32 dev lo
on b ip -6 route add default via fd00:b::fe src 2001:db8:b::1
on b ip -4 route add default via inet6 fd00:b::fe src 192.0.2.2
on c ip -6 addr add fd00:c::1/64 dev c0
on c ip addr add 10.0.3.1/24 dev c0
on c ip -6 addr add 2001:db8:c::1/128 dev lo
on c ip addr add 192.0.2.3/32 dev lo
on c ip -6 route add default via fd00:c::fe src 2001:db8:c::1
on c ip route add default via 10.0.3.254 src 192.0.2.3
on l ip -6 addr add fd00:a::fe/64 dev la
on l ip -6 addr add fd00:b::fe/64 dev lb
on l ip -6 route add fc00:0:a::/48 via fd00:a::1
on l ip -6 route add fc00:0:b::/48 via fd00:b::1
on l ip -6 route add fc00:0:1::e/128 encap seg6local action End dev la ||
	skip_all "the kernel has no seg6local"

mac() {
	on "$1" cat "/sys/class/net/$2/address"
}

# reason NODE NAME: how often it was counted
reason() {
	"$attach" -r "$pins/$1" | awk -v name="$2" '$1 == name { print $2 }'
}

# counter NODE DEV NAME: statistics of a device
counter() {
	on "$1" cat "/sys/class/net/$2/statistics/$3"
}

# steer NODE DEVS ATTACH-ARGUMENTS...: anew
steer() {
	local node=$1 devs=$2
	shift 2

	unsteer "$node"
	mkdir "$pins/$node" &&
		on "$node" "$attach" -p "$pins/$node" "${@:1:$#-2}" "$devs" \
			"${@: -2}"
}

unsteer() {
	if [ -d "$pins/$1" ]; then
		rm -f "$pins/$1"/*
		rmdir "$pins/$1"
	fi
}
at_exit unsteer a
at_exit unsteer b

steer_a() {
	steer a a0,a1 -s fd00:a::1 -n "$(mac l la)" -l fc00:0:a::46 "$@" \
		fc00:0:1::e fc00:0:b::46
}

steer_b() {
	steer b b0 -s fd00:b::1 -n "$(mac l lb)" -l fc00:0:b::46 "$@" \
		fc00:0:1::e fc00:0:a::46
}

ping_b() {
	on a ping -n -q -c 3 -i 0.05 -W 5 "$@"
}

# Without the programs nothing gets through: the hop has no such route.
check_fails "unsteered packets end at the hop" "100% packet loss" \
	on a ping -n -q -c 1 -W 1 2001:db8:b::1

check "attach on both hosts, MTU 9000" eval "steer_a && steer_b"
xdp_mode() {
	on "$1" ip -j link show "$2" | jq '.[].xdp.mode'
}
check_equal "XDP is native" "1 1 1" \
	"$(xdp_mode a a0) $(xdp_mode a a1) $(xdp_mode b b0)"
check "nobody holds the programs but the pins" \
	eval "! pidof $attach"

check "ping, IPv6 inside" ping_b 2001:db8:b::1
check "ping, IPv4 inside" ping_b 192.0.2.2
check "three steered packets and three answers each" eval \
	'[ "$(reason a STEERED)" -eq 6 ] && [ "$(reason b DECAP)" -eq 6 ] &&
	 [ "$(reason b STEERED)" -eq 6 ] && [ "$(reason a DECAP)" -eq 6 ]'
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
	on a ping -n -c 3 -i 0.1 -W 1 -M "do" -s $((9000 - 64 - 47)) \
		2001:db8:b::1
check_fails "too big by a byte: local sender learns, IPv4" "mtu ?= ?8936" \
	on a ping -n -c 3 -i 0.1 -W 1 -M "do" -s $((9000 - 64 - 27)) 192.0.2.2

# A UDP sender leaves the checksum to the device; what it learns from must be
# right for all that, also after it went over a wire without offload.
udp_learns() {
	on c python3 - "$1" <<-EOF
	import errno, socket, sys, time
	six = ":" in sys.argv[1]
	s = socket.socket(socket.AF_INET6 if six else socket.AF_INET,
	                  socket.SOCK_DGRAM)
	level, name = (41, 23) if six else (0, 10)   # IP_MTU_DISCOVER
	s.setsockopt(level, name, 2)                 # DO
	s.connect((sys.argv[1], 9))
	end = time.monotonic() + 5
	while time.monotonic() < end:
	    try:
	        s.send(bytes(8950 if six else 8960))
	    except OSError as e:
	        if e.errno == errno.EMSGSIZE:
	            mtu = s.getsockopt(level, 24 if six else 14)
	            sys.exit(mtu != 8936)
	        if e.errno != errno.ECONNREFUSED:
	            raise
	    time.sleep(0.02)
	sys.exit("nothing learnt")
	EOF
}
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

# tcp ADDRESS [NODE]: one stream of 200 MB, and the mean size of its packets on
# the first link
tcp() {
	local node=${2:-a} packets bytes server

	on b iperf3 -s -1 -p 5201 >/dev/null 2>&1 &
	server=$!
	busywait 5 eval "on b ss -Hltn sport = 5201 | grep -q LISTEN"
	packets=$(counter l la rx_packets)
	bytes=$(counter l la rx_bytes)
	on "$node" timeout 60 iperf3 -c "$1" -n 200M || {
		kill $server
		return 1
	}
	wait $server
	packets=$(($(counter l la rx_packets) - packets))
	bytes=$(($(counter l la rx_bytes) - bytes))
	echo "$((bytes / packets)) bytes per packet"
	[ $bytes -gt 200000000 ] && [ $((bytes / packets)) -gt 18000 ]
}
check "TCP over IPv6, super-packets stay whole" tcp 2001:db8:b::1
check "TCP over IPv4, super-packets stay whole" tcp 192.0.2.2

# udp_gso ADDRESS: 40 datagrams of 1200 bytes in one system call
udp_gso() {
	local before

	before=$(counter l la rx_packets)
	python3 - "$1" "$id" <<-EOF || return 1
	import ctypes, os, socket, sys
	libc = ctypes.CDLL(None)
	def enter(ns):
	    fd = os.open("/run/netns/%s-%s" % (sys.argv[2], ns), os.O_RDONLY)
	    assert libc.setns(fd, 0x40000000) == 0
	family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
	enter("b")
	r = socket.socket(family, socket.SOCK_DGRAM)
	r.bind((sys.argv[1], 5300))
	r.settimeout(10)
	enter("a")
	s = socket.socket(family, socket.SOCK_DGRAM)
	s.setsockopt(17, 103, 1200)                  # UDP_SEGMENT
	s.sendto(b"".join(bytes([i]) * 1200 for i in range(40)),
	         (sys.argv[1], 5300))
	got = [r.recv(2000) for i in range(40)]
	assert got == [bytes([i]) * 1200 for i in range(40)], got
	EOF
	before=$(($(counter l la rx_packets) - before))
	echo "$before packets"
	[ $before -lt 10 ]
}
check "UDP with segments, IPv6" udp_gso 2001:db8:b::1
check "UDP with segments, IPv4" udp_gso 192.0.2.2

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
ping_c() {
	on c ping -n -q -c 3 -i 0.05 -W 5 "$@"
}

# What A forwarded by its stack, IPv6.
forwarded() {
	on a awk '$1 == "Ip6OutForwDatagrams" { print $2 }' /proc/net/snmp6
}

check "attach a host port" steer_a -h ac
check_equal "its XDP is native" 1 "$(xdp_mode a ac)"
before=$(forwarded)
check "host port: ping, IPv6 inside" ping_c 2001:db8:b::1
check_equal "only the answers went through the stack" 3 \
	$(($(forwarded) - before))
check "host port: ping, IPv4 inside" ping_c 192.0.2.2
check_equal "steered once each" "6 0" \
	"$(reason a STEERED) $(reason a TUNNELED)"

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
	    s.settimeout(5)
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

# Decapsulate and forward in XDP, by the kernel's routes, which may change.
check "forward in XDP" steer_a -h ac -F ac
before=$(forwarded)
check "ping, both ways past the stack, IPv6" ping_c 2001:db8:b::1
check "ping, both ways past the stack, IPv4" ping_c 192.0.2.2
check_equal "all by XDP" "6 0" \
	"$(reason a FORWARDED) $(($(forwarded) - before))"
on a ip -6 route replace blackhole 2001:db8:c::/48
before=$(reason a FORWARDED)
check_fails "a route that goes is not used any more" "100% packet loss" \
	ping_c 2001:db8:b::1
check_equal "at once" "$before" "$(reason a FORWARDED)"
on a ip -6 route replace 2001:db8:c::/48 via fd00:c::1
check "and used again when it is back" ping_c 2001:db8:b::1
# but for one packet, perhaps: the first one after a pause
check "in XDP" [ "$(reason a FORWARDED)" -ge $((before + 2)) ]
# Another address of the neighbor's: known to A's kernel, it is to XDP within a
# second.
new_address() {
	on c ip link set c0 address "$1" &&
		on a ip neigh replace fd00:c::1 lladdr "$1" dev ac &&
		busywait 3 on c ping -n -q -c 1 -W 1 2001:db8:b::1
}
old=$(mac c c0)
check "the neighbor's address changes" new_address 02:00:00:00:00:cc
check "and back" new_address "$old"

# TC ingress of the port: devices as they come, with all offloads.
on c ethtool -K c0 tx on gro off >/dev/null
on l ethtool -K la gro off >/dev/null

check "a host port at TC" steer_a -H ac
check_equal "no XDP there" null "$(xdp_mode a ac)"
before=$(forwarded)
check "TC port: ping, IPv6 inside" ping_c 2001:db8:b::1
check "TC port: ping, IPv4 inside" ping_c 192.0.2.2
check "TC port: jumbo" ping_c -M "do" -s $((9000 - 64 - 48)) 2001:db8:b::1
check_equal "only the answers went through the stack" 6 \
	$(($(forwarded) - before))
check "TC port: TCP over IPv6, super-packets stay whole" \
	tcp 2001:db8:b::1 c
check "TC port: TCP over IPv4, super-packets stay whole" tcp 192.0.2.2 c
check "TC port: too big, the sender learns, IPv6" udp_learns 2001:db8:b::1
check "TC port: too big, the sender learns, IPv4" udp_learns 192.0.2.2

# udp_sum ADDRESS NO_CHECK: a datagram arrives whose checksum the sender left to
# the device, or left out
udp_sum() {
	python3 - "$1" "$2" "$id" <<-EOF
	import ctypes, os, socket, sys
	libc = ctypes.CDLL(None)
	def enter(ns):
	    fd = os.open("/run/netns/%s-%s" % (sys.argv[3], ns), os.O_RDONLY)
	    assert libc.setns(fd, 0x40000000) == 0
	six = ":" in sys.argv[1]
	family = socket.AF_INET6 if six else socket.AF_INET
	enter("b")
	r = socket.socket(family, socket.SOCK_DGRAM)
	if six:
	    r.setsockopt(17, 102, 1)                 # UDP_NO_CHECK6_RX
	r.bind((sys.argv[1], 5301))
	r.settimeout(5)
	enter("c")
	s = socket.socket(family, socket.SOCK_DGRAM)
	if sys.argv[2] == "1" and six:
	    s.setsockopt(17, 101, 1)                 # UDP_NO_CHECK6_TX
	elif sys.argv[2] == "1":
	    s.setsockopt(1, 11, 1)                   # SO_NO_CHECK
	s.sendto(b"with or without", (sys.argv[1], 5301))
	assert r.recv(100) == b"with or without"
	EOF
}
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
rx_host() {
	counter a srpol0 rx_packets
}
ping_host() {
	on a ping -n -q -c 3 -i 0.05 -W 5 -I "$1" "$2"
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
	"\+3 errors" ping_host 2001:db8:a:1::1 2001:db8:b::1
check "removed" on a "$hostdev" del srpol0
check_equal "with its rules and routes" "" "$(on a ip rule | grep srpol0
	on a ip -6 rule | grep srpol0
	on a ip route show table all | grep srpol0
	on a ip -6 route show table all | grep srpol0)"

steer_a
check "steered again" ping_b 2001:db8:b::1
unsteer a
check_fails "removed pins: no steering" "100% packet loss" \
	on a ping -n -q -c 1 -W 1 2001:db8:b::1
