#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Both uplinks of a host are in one bridge, and what the host sends by one of them
# comes back by the other, as it was: a bridge that does not know a MAC address
# floods. XDP cannot send by the second one, whose other end has no NAPI, and hands
# packets over to TC.

# shellcheck source=selftests/bpf/nodes.sh
. "${0%/*}/nodes.sh"

on l ip link add br0 mtu 9000 type bridge || skip_all "no bridge here"
on l ip link set br0 up
on l ip -6 addr del fd00:a::fe/64 dev la
on l ip link set la master br0
on l ip link set lc master br0
on l ip -6 addr add fd00:a::fe/64 dev br0
on l ip -6 route replace fc00:0:a::/48 via fd00:a::1
on l ip -6 route replace fc00:0:1::e/128 encap seg6local action End dev br0
neighbor a fd00:a::fe a0 l br0
neighbor l fd00:a::1 br0 a a0

# what is decapsulated goes by a1 to a MAC address that nobody has
steer_a_by_bridge() {
	steer a a0,a1 -s fd00:a::1 -n "$(mac l br0)" -l fc00:0:a::46 \
		-H a1 -x 02:00:00:00:00:99 fc00:0:1::e fc00:0:b::46
}

# At first, so that the bridge and hosts know each other.
check "hosts reach each other by the bridge" \
	on a ping -n -q -c 1 -W 60 fd00:a::fe
check "attach A, two uplinks" steer_a_by_bridge
check "attach B" steer_b
sent=$(counter a a1 tx_packets)
back=$(counter a a0 rx_packets)
# the request, and then what A sent by the other uplink
came_back() {
	[ "$(counter a a0 rx_packets)" -ge $((back + 2)) ] &&
		[ "$(counter a a1 tx_packets)" -gt "$sent" ]
}
check_fails "a packet for nobody" "100% packet loss" \
	on b ping -n -q -c 1 -W 1 2001:db8:c::1
check "it was sent, and came back" busywait 20 came_back
sent=$(($(counter a a1 tx_packets) - sent))
# the echo request once; neighbors and multicast listeners besides
check "it was not sent again" [ $sent -lt 100 ]
# what is under way for ever ends with this
on a ip link set a1 down
