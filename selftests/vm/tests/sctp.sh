#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SCTP with default offloads: packets of its super-packets have sizes of their own,
# and the kernel does not let programs encapsulate them. They go on unsteered, and
# are counted; what comes as single packets is steered.

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

# on NODE COMMAND...: the namespaces are H (a host), V (a pod of it), F (a peer)
on() {
	ip netns exec "$@"
}

# link NODE DEV NODE DEV
link() {
	ip link add "$2" mtu 9000 netns "$1" type veth peer name "$4" mtu 9000 netns "$3"
	ip -n "$1" link set "$2" up
	ip -n "$3" link set "$4" up
}

reason() {
	build/bin/srpol -n H -j stats show |
		gojq --arg name "$1" '[ .[] | select(.reason == $name) ][0].packets'
}

# transfer: one association from V to F; prints how many bytes came
transfer() {
	local server

	on F python3 - <<-'END' >"$SRPOL_OUT/server" &
	import socket
	s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 132)
	s.bind(("fd00:b::1", 5000))
	s.listen()
	print("listens", flush=True)
	c, _ = s.accept()
	n = 0
	while data := c.recv(65536):
	    n += len(data)
	print(n, flush=True)
	END
	server=$!
	busywait 20 grep -q listens "$SRPOL_OUT/server"
	on V python3 - <<-'END'
	import socket
	s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 132)
	s.settimeout(60)
	s.connect(("fd00:b::1", 5000))
	for _ in range(100):
	    s.send(bytes(10000))
	s.close()
	END
	wait $server || :
	tail -n 1 "$SRPOL_OUT/server"
}

modprobe sctp || skip_all "the kernel has no SCTP"
insmod kmod/srpol.ko
for node in H V F; do
	ip netns add $node
	ip -n $node link set lo up
	on $node sysctl -qw net.ipv6.conf.all.forwarding=1
done
link H u0 F f0
link H p0 V e0
ip -n V link set e0 mtu 1500
ip -n H addr add fd00:a::1/64 dev u0 nodad
ip -n H addr add fd00:c0::1/64 dev p0 nodad
ip -n H route add fd00:b::/64 via fd00:a::b
ip -n F addr add fd00:a::b/64 dev f0 nodad
ip -n F addr add fd00:b::1/128 dev lo nodad
ip -n F route add fd00:c0::/64 via fd00:a::1
ip -n F -6 route add fc00:0:b::d6/128 encap seg6local action End.DT6 table 255 dev f0
ip -n V addr add fd00:c0::2/64 dev e0 nodad
ip -n V -6 route add default via fd00:c0::1
build/bin/srpol -n H -b - <<-END
	path add 1 segs fc00:0:b::d6 dev u0 via fd00:a::b
	policy add color 1 endpoint fd00:b::1 candidate segment-list 1
	rule add prio 10 dev p0 color 1
	dev add u0 role uplink
	dev add p0 role port
END
check "steered" busywait 10 on V ping -n -q -c 1 -W 1 fd00:b::1

check_equal "all bytes come, with default offloads" 1000000 "$(transfer)"
check "super-packets are not steered, and counted" [ "$(reason sctp-gso)" -gt 50 ]
check_equal "none is too big" 0 "$(reason too-big)"

on V ethtool -K e0 tx-sctp-segmentation off
before=$(reason sctp-gso)
steered=$(reason steered)
check_equal "all bytes come, without the offload" 1000000 "$(transfer)"
check_equal "no super-packets" "$before" "$(reason sctp-gso)"
check "packets are steered" [ "$(reason steered)" -gt $((steered + 700)) ]

build/bin/srpol -n H -b - <<<$'dev del p0\ndev del u0'
rmmod srpol
for node in H V F; do
	ip netns del $node
done
