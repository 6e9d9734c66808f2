#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Binding SIDs beside the kernel's own seg6local End.B6.Encaps. The same packets
# go through both, over veth pairs, and come out the same, byte by byte, but for
# hop limits; scapy and tshark say what they are to be, with the reduced SRH too,
# which the kernel does not have:
#
#	    k0 ---- in K out ---- k1
#	S				S
#	    x0 ---- in X out ---- x1
#
#	K	kernel: BSID is End.B6.Encaps
#	X	srpol: BSID is that of a policy, XDP
#
# Errors of ICMPv6 come back by x0.

set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-$PWD/build}
attach=$BUILD/selftests/bpf/tools/attach
out=${SRPOL_OUT:-$(mktemp -d)}
mkdir -p "$out"

# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

[ "$(id -u)" -eq 0 ] || skip_all "needs root"

id=srpol-b6-$$
pins=$(mktemp -d)
at_exit rmdir "$pins"
mount -t bpf bpf "$pins" || skip_all "no bpffs"
at_exit umount "$pins"

bsid=fc00:0:b6::1
source=fc00:0:99::1
list=fc00:0:21::1,fc00:0:22::1,fc00:0:23::1

on() {
	local node=$1
	shift
	ip netns exec "$id-$node" "$@"
}

for node in s k x; do
	ip netns add "$id-$node" || exit 1
	at_exit ip netns del "$id-$node"
	# shellcheck disable=SC2016
	on $node bash -c '
		for dev in all default; do
			echo 0 >/proc/sys/net/ipv6/conf/$dev/accept_dad
			echo 1 >/proc/sys/net/ipv6/conf/$dev/forwarding
			echo 1 >/proc/sys/net/ipv6/conf/$dev/seg6_enabled
		done
		ip link set lo up'
done

# link NODE: its two pairs; the receiving ends take frames from XDP
link() {
	ip link add "${1}0" mtu 2000 netns "$id-s" type veth \
		peer name in mtu 2000 netns "$id-$1" || exit 1
	ip link add out mtu 2000 netns "$id-$1" type veth \
		peer name "${1}1" mtu 2000 netns "$id-s" || exit 1
	on s ethtool -K "${1}0" gro on
	on s ethtool -K "${1}1" gro on
	on s ip link set "${1}0" up
	on s ip link set "${1}1" up
	on "$1" ip link set in up
	on "$1" ip link set out up
	on "$1" ip -6 addr add fd00:1::1/64 dev in nodad
	on "$1" ip -6 addr add fd00:2::1/64 dev out nodad
	on "$1" ip -6 neigh add fd00:2::2 lladdr "$(mac s "${1}1")" dev out
	on "$1" ip -6 route add default via fd00:2::2 dev out
}

mac() {
	on "$1" cat "/sys/class/net/$2/address"
}

# steer [-f]: X anew, with the full SRH
steer() {
	unsteer
	mkdir "$pins/x" && on x "$attach" "$@" -p "$pins/x" -s $source \
		-n "$(mac s x1)" -l fc00:0:b::46 -o out -B $bsid in,out \
		${list//,/ }
}

unsteer() {
	[ ! -d "$pins/x" ] || rm -rf "$pins/x"
}

# judge MODE: lines "ok NAME" and "not ok NAME | WHY"
judge() {
	local output rc=0

	output=$(on s /usr/bin/python3 selftests/bpf/b6.py "$1" \
		"$(mac k in)" "$(mac x in)" $bsid $source $list \
		"$out/$1.pcap") || rc=$?
	relay "$1: " <<<"$output"
	check_equal "$1: the judge ran to its end" 0 $rc
}

# seen FILE FIELD...: what tshark sees in the first packet
seen() {
	local file=$1
	shift
	tshark -n -r "$file" -c 1 -T fields -E separator='|' -E aggregator=, \
		"${@/#/-e}" 2>/dev/null
}

link k
link x
on k ip sr tunsrc set $source
on k ip -6 route add $bsid/128 encap seg6local action End.B6.Encaps \
	srh segs $list dev out || skip_all "the kernel has no End.B6.Encaps"
at_exit unsteer

check "X is attached, full SRH" steer -f
judge full
check_equal "tshark: addresses and next headers" \
	"$source,fc00:0:98::1,fd00::1|fc00:0:21::1,fc00:0:32::1,fd00::2|43,43,17" \
	"$(seen "$out/full.pcap" ipv6.src ipv6.dst ipv6.nxt)"
check_equal "tshark: segments left, last entry" "2,0|2,2" \
	"$(seen "$out/full.pcap" ipv6.routing.segleft \
		ipv6.routing.srh.last_entry)"

judge errors
check_equal "tshark: types, codes, pointers of the errors" \
	"3|0|
4|0|43
4|0|43
4|4|64
4|4|40
4|0|43
4|4|40
2|0|" "$(tshark -n -r "$out/errors.pcap" -T fields -E separator='|' \
		-E occurrence=f -e icmpv6.type -e icmpv6.code \
		-e icmpv6.pointer 2>/dev/null)"
check_equal "tshark: checksums that are wrong" "" "$(tshark -n \
	-r "$out/errors.pcap" -Y "icmpv6.checksum.status == 0" 2>/dev/null)"
check_equal "and all of them were looked at" 8 "$(tshark -n \
	-r "$out/errors.pcap" -Y "icmpv6.checksum.status == 1" 2>/dev/null |
	wc -l)"

check "X is attached, reduced SRH" steer
judge reduced
check_equal "tshark: segments left, last entry" "2,0|1,2" \
	"$(seen "$out/reduced.pcap" ipv6.routing.segleft \
		ipv6.routing.srh.last_entry)"

# An uplink that takes no frames from XDP: TC sends what XDP made.
on s ethtool -K x1 gro off
check "X is attached, its way out takes no frames from XDP" steer
judge reduced
