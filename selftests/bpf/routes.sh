#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What A decapsulates and forwards in XDP goes where its stack would send it: the
# same packets once with and once without forwarding in XDP, out of the same
# devices, for routes, rules, sources and sizes of all sorts. A has two links to C.

# shellcheck source=selftests/bpf/nodes.sh
. "${0%/*}/nodes.sh"

link c c0 a ac
link c e0 a ae
connect_c
on a ip addr add 10.0.4.254/24 dev ae
on a ip -6 addr add fd00:e::fe/64 dev ae
on c ip addr add 10.0.4.1/24 dev e0
on c ip -6 addr add fd00:e::1/64 dev e0
# frames from XDP are taken by a veth whose peer has NAPI
on c ethtool -K c0 gro on >/dev/null
on c ethtool -K e0 gro on >/dev/null
on l ethtool -K la gro on >/dev/null

neighbor a 10.0.4.1 ae c e0
neighbor a fd00:e::1 ae c e0

check "attach, forward in XDP by two devices" steer a a0 -s fd00:a::1 \
	-n "$(mac l la)" -l fc00:0:a::46 -F ac,ae fc00:0:1::e fc00:0:b::46

# judge PART: lines "ok NAME" and "not ok NAME | WHY"
judge() {
	local output rc=0

	output=$(/usr/bin/python3 selftests/bpf/routes.py "$1" "$id" "$pins/a" \
		"$attach" "$BUILD/tools/sbin/bpftool" "$(mac a a0)") || rc=$?
	relay "" <<<"$output"
	check_equal "$1: the judge ran to its end" 0 $rc
}

judge cases

# A neighbor that is silent about its new address: the stack of A finds out within
# some seconds, though XDP does all the forwarding.
on a ip -6 neigh flush dev ac
on a ip -6 neigh flush dev ae
on c ip link set c0 address 02:00:00:00:00:99
on a ip -6 neigh replace fd00:c::1 lladdr 02:00:00:00:00:98 nud stale dev ac
on c sysctl -qw net.ipv6.conf.c0.ndisc_notify=0
judge neighbor
