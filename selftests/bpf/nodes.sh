# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Hosts and a hop for the programs on real devices, to be sourced: MTU 9000,
# native XDP, TCX; the hop is the kernel's own seg6local End, which knows no
# inner address:
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
# What is between C and A the script says: c0 and ac, then connect_c.

set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
export BUILD=${BUILD:-$PWD/build}
attach=$BUILD/selftests/bpf/tools/attach

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

on a ip -6 addr add fd00:a::1/64 dev a0
on a ip -6 addr add 2001:db8:a::1/128 dev lo nodad
on a ip addr add 192.0.2.1/32 dev lo
on a ip -6 route add default via fd00:a::fe src 2001:db8:a::1
on a ip -4 route add default via inet6 fd00:a::fe src 192.0.2.1
on b ip -6 addr add fd00:b::1/64 dev b0
on b ip -6 addr add 2001:db8:b::1/128 dev lo nodad
on b ip addr add 192.0.2.2/32 dev lo
on b ip -6 route add default via fd00:b::fe src 2001:db8:b::1
on b ip -4 route add default via inet6 fd00:b::fe src 192.0.2.2
on c ip -6 addr add 2001:db8:c::1/128 dev lo nodad
on c ip addr add 192.0.2.3/32 dev lo
on l ip -6 addr add fd00:a::fe/64 dev la
on l ip -6 addr add fd00:b::fe/64 dev lb
on l ip -6 route add fc00:0:a::/48 via fd00:a::1
on l ip -6 route add fc00:0:b::/48 via fd00:b::1
on l ip -6 route add fc00:0:1::e/128 encap seg6local action End dev la ||
	skip_all "the kernel has no seg6local"

mac() {
	on "$1" cat "/sys/class/net/$2/address"
}

# neighbor NODE ADDRESS DEV NODE DEV: who that is. Nobody has to be asked, which can
# fail when the machine is busy, and no packet waits for an answer.
neighbor() {
	on "$1" ip neigh replace "$2" lladdr "$(mac "$4" "$5")" dev "$3"
}

neighbor a fd00:a::fe a0 l la
neighbor l fd00:a::1 la a a0
neighbor b fd00:b::fe b0 l lb
neighbor l fd00:b::1 lb b b0

# connect_c: addresses and routes of C and of A towards it, as soon as there are
# c0 and ac between them
connect_c() {
	on a ip -6 addr add fd00:c::fe/64 dev ac
	on a ip addr add 10.0.3.254/24 dev ac
	on a ip -6 route add 2001:db8:c::/48 via fd00:c::1
	on a ip route add 192.0.2.3 via 10.0.3.1
	on c ip -6 addr add fd00:c::1/64 dev c0
	on c ip addr add 10.0.3.1/24 dev c0
	on c ip -6 route add default via fd00:c::fe src 2001:db8:c::1
	on c ip route add default via 10.0.3.254 src 192.0.2.3
	neighbor a fd00:c::1 ac c c0
	neighbor a 10.0.3.1 ac c c0
	c_knows_a
}

c_knows_a() {
	neighbor c fd00:c::fe c0 a ac
	neighbor c 10.0.3.254 c0 a ac
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

# pings NODE ARGUMENTS...: three, and each is answered. (Of three by one ping the
# last ones may be lost: after the first answer it waits no longer than for that.)
pings() {
	local node=$1
	shift

	for _ in 1 2 3; do
		on "$node" ping -n -q -c 1 -W 60 "$@" || return
	done
}

ping_b() {
	pings a "$@"
}

ping_c() {
	pings c "$@"
}

# no_ping NODE ARGUMENTS...: three that nobody answers
no_ping() {
	on "$1" ping -n -q -c 3 -i 0.05 -W 1 "${@:2}"
}

xdp_mode() {
	on "$1" ip -j link show "$2" | gojq '.[].xdp.mode'
}

# What A forwarded by its stack.
forwarded() {
	on a awk '$1 == "Ip6OutForwDatagrams" { n += $2 }
		$1 == "Ip:" && !column { for (i = 2; i <= NF; i++)
			if ($i == "ForwDatagrams") column = i; next }
		$1 == "Ip:" { n += $column }
		END { print n }' /proc/net/snmp6 /proc/net/snmp
}

# by_xdp PACKETS COMMAND...: so many come to A's SID while the command runs, and XDP
# forwards each. The stack gets one of a neighbor that is new to XDP, and another one
# now and then (SRPOL_FIB_UNUSED in bpf/forward.h); if the machine is so busy that it
# gets one of these, the command runs again. There is no third way.
by_xdp() {
	local packets=$1 fast stack tries
	shift

	for ((tries = 0; tries < 20; tries++)); do
		fast=$(reason a FORWARDED)
		stack=$(forwarded)
		"$@" || return
		fast=$(($(reason a FORWARDED) - fast))
		stack=$(($(forwarded) - stack))
		echo "$fast by XDP, $stack by the stack"
		[ $((fast + stack)) -eq "$packets" ] || return
		[ $fast -lt "$packets" ] || return 0
	done
	return 1
}

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
	end, sent = time.monotonic() + 60, 0
	while time.monotonic() < end or sent < 100:
	    try:
	        s.send(bytes(8950 if six else 8960))
	    except OSError as e:
	        if e.errno == errno.EMSGSIZE:
	            mtu = s.getsockopt(level, 24 if six else 14)
	            sys.exit(mtu != 8936)
	        if e.errno != errno.ECONNREFUSED:
	            raise
	    sent += 1
	    time.sleep(0.02)
	sys.exit("nothing learnt")
	EOF
}
# tcp ADDRESS [NODE]: one stream of 100 MB. As many packets come by the first link as
# A steered: a super-packet is one to both, and of those there were some.
tcp() {
	local node=${2:-a} packets bytes steered server

	on b iperf3 -s -1 -p 5201 >/dev/null 2>&1 &
	server=$!
	busywait 60 eval "on b ss -Hltn sport = 5201 | grep -q LISTEN"
	packets=$(counter l la rx_packets)
	bytes=$(counter l la rx_bytes)
	steered=$(reason a STEERED)
	on "$node" timeout 120 iperf3 -c "$1" -n 100M || {
		kill $server
		return 1
	}
	wait $server
	packets=$(($(counter l la rx_packets) - packets))
	bytes=$(($(counter l la rx_bytes) - bytes))
	steered=$(($(reason a STEERED) - steered))
	echo "$packets packets of $((bytes / packets)) bytes, $steered steered"
	# besides, what hosts say of themselves; iperf3 leaves what is under way at its end
	[ $bytes -gt 50000000 ] && [ $((packets - steered)) -le 50 ] &&
		[ $((bytes / packets)) -gt 9100 ]
}
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
	r.settimeout(60)
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
	r.settimeout(60)
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
