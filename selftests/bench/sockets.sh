#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sockets.sh [ROUNDS [SECONDS]]: what the ways of a socket's packets into the
# fabric cost beside each other, one TCP stream each, MTU 9000, default offloads:
#
#	plain		routed by A, not encapsulated
#	uplink		steered at TC egress of A's uplink
#	virtual		steered at the other end of A's virtual port
#	pod plain	of C behind a veth, routed by A
#	pod port	of C, steered at TC ingress of A's port
#
#	 C --- c0:ac A a0 ---- la L lb ---- b0 B
#
# L routes, and is the kernel's own End.DT6 for what is encapsulated; answers
# come plain. So B is the same for all: native XDP on its veth would copy each
# super-packet. Rounds are interleaved: only ratios of one run count. Root, a
# kernel >= 6.12, and "make tests" before.

set -euo pipefail

cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}
rounds=${1:-8}
seconds=${2:-2}
tools=$BUILD/selftests/bpf/tools
id=bench-$$
pins=$(mktemp -d)

cleanup() {
	local node

	rm -rf "$pins/a"
	for node in a b c l; do
		ip netns del "$id-$node" 2>/dev/null || :
	done
	umount "$pins" 2>/dev/null || :
	rmdir "$pins"
}
trap cleanup EXIT

on() {
	local node=$1
	shift
	ip netns exec "$id-$node" "$@"
}

mac() {
	on "$1" cat "/sys/class/net/$2/address"
}

mount -t bpf bpf "$pins"
for node in a b c l; do
	ip netns add "$id-$node"
	# shellcheck disable=SC2016
	on $node bash -c 'ip link set lo up
		for dev in all default; do
			echo 0 >/proc/sys/net/ipv6/conf/$dev/accept_dad
			echo 1 >/proc/sys/net/ipv6/conf/$dev/forwarding
		done'
done

# link NODE DEV NODE DEV
link() {
	ip link add "$2" mtu 9000 netns "$id-$1" type veth \
		peer name "$4" mtu 9000 netns "$id-$3"
	on "$1" ip link set "$2" up
	on "$3" ip link set "$4" up
}
link a a0 l la
link b b0 l lb
link c c0 a ac

on a ip -6 addr add fd00:a::1/64 dev a0
on a ip -6 addr add fd00:c::fe/64 dev ac
on a ip -6 route add default via fd00:a::fe
on a ip -6 route add 2001:db8:c::/48 via fd00:c::1
on b ip -6 addr add fd00:b::1/64 dev b0
on b ip -6 addr add 2001:db8:b::1/128 dev lo
on b ip -6 addr add 2001:db8:b::2/128 dev lo
on b ip -6 route add default via fd00:b::fe
on c ip -6 addr add fd00:c::1/64 dev c0
on c ip -6 addr add 2001:db8:c::1/128 dev lo
on c ip -6 route add default via fd00:c::fe src 2001:db8:c::1
on l ip -6 addr add fd00:a::fe/64 dev la
on l ip -6 addr add fd00:b::fe/64 dev lb
on l ip -6 route add 2001:db8:b::/48 via fd00:b::1
on l ip -6 route add fd00:c::/64 via fd00:a::1
on l ip -6 route add 2001:db8:a::/48 via fd00:a::1
on l ip -6 route add 2001:db8:c::/48 via fd00:a::1
on l ip -6 route add fc00:0:b::46/128 encap seg6local action End.DT6 \
	table main dev lb
on a "$tools/hostdev" add srpol0 8920 2001:db8:a:1::1/128 2001:db8:b::2/128

# steer ARG...: attach to the uplink, and to what is said
steer() {
	mkdir "$pins/a"
	on a "$tools/attach" -p "$pins/a" -s fd00:a::1 -n "$(mac l la)" \
		-l fc00:0:a::46 "$@" a0 fc00:0:b::46
}

listening() {
	on b ss -Hltn sport = 5201 | grep -q .
}

# stream NODE SOURCE DESTINATION: Gb/s
stream() {
	local server

	on b iperf3 -s -1 >/dev/null 2>&1 &
	server=$!
	until listening; do
		sleep 0.05
	done
	on "$1" iperf3 -c "$3" -B "$2" -t "$seconds" -O 0.5 -J |
		gojq '.end.sum_received.bits_per_second / 1e9'
	wait $server
}

measure() {
	case $1 in
	plain)		stream a fd00:a::1 2001:db8:b::1 ;;
	uplink)		steer; stream a fd00:a::1 2001:db8:b::1 ;;
	virtual)	steer -V srpol0
			stream a 2001:db8:a:1::1 2001:db8:b::2 ;;
	pod-plain)	stream c 2001:db8:c::1 2001:db8:b::1 ;;
	pod-port)	steer -H ac; stream c 2001:db8:c::1 2001:db8:b::1 ;;
	esac
	rm -rf "$pins/a"
}

rows=(plain uplink virtual pod-plain pod-port)
for ((i = 0; i < rounds; i++)); do
	for row in "${rows[@]}"; do
		echo "$row $(measure "$row")"
	done
done | sort -k 1,1 -k 2,2n | awk '
	{ v[$1, n[$1]++] = $2 }
	END {
		printf "%-10s %6s %6s %6s  Gb/s\n", "", "min", "median", "max"
		for (row in n) {
			median[row] = v[row, int(n[row] / 2)]
			printf "%-10s %6.1f %6.1f %6.1f\n", row, v[row, 0],
				median[row], v[row, n[row] - 1]
		}
		printf "uplink to plain %.2f, virtual to plain %.2f, " \
			"virtual to uplink %.2f, pod port to pod plain %.2f\n",
			median["uplink"] / median["plain"],
			median["virtual"] / median["plain"],
			median["virtual"] / median["uplink"],
			median["pod-port"] / median["pod-plain"]
	}'
