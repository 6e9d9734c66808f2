#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A virtual machine (a namespace) behind a host port: what it sends is steered
# at TC ingress, which is what "role port" chooses for a veth, or in XDP, and
# leaves by the uplink without passing the stack of the host; what it must not
# send is dropped. Offloads are as they come until XDP's turn.
#
#	vm eth0 --- vm0 (port) hostA hA (uplink) --- fabric --- hB hostB
#	fd00:c::2, 10.0.30.2
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
export FABRIC_HOSTS=netns
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/e2e_lib.sh
. selftests/vm/tests/e2e_lib.sh

in_vm() {
	ip netns exec "$vm" "$@"
}

on() {
	local node=$1
	shift

	srpol -n "$(fabric_ns "$node")" "$@"
}

down() {
	printf 'dev del vm0\ndev del hA\n' | on hostA -force -b - || :
	on hostB dev del hB || :
	ip netns del "$vm" || :
	fabric_down
	rmmod srpol || :
}

machine_up() {
	vm=$(fabric_ns vm)
	ip netns add "$vm"
	ip -n "$(fabric_ns hostA)" -batch - <<-END
	link add vm0 mtu $FABRIC_MTU type veth peer name eth0 mtu $FABRIC_MTU netns $vm
	link set vm0 up
	addr add fd00:c::1/64 dev vm0 nodad
	addr add 10.0.30.1/24 dev vm0
	END
	ip -n "$vm" -batch - <<-END
	link set lo up
	link set eth0 up
	addr add fd00:c::2/64 dev eth0 nodad
	addr add 10.0.30.2/24 dev eth0
	END
	ip -n "$vm" -6 route add default via fd00:c::1
	ip -n "$vm" route add default via 10.0.30.1
	fabric_exec hostB ip -6 route add fd00:c::/64 via fd00:b::fe
	fabric_exec hostB ip route add 10.0.30.0/24 via 10.0.20.254
	fabric_exec hostA sysctl -qw net.ipv6.conf.all.forwarding=1 \
		net.ipv4.ip_forward=1
}

srpol_up() {
	insmod kmod/srpol.ko
	on hostA -b - <<-END
	config set sr-domain fc00:0::/32 sr-source fd00:a::/64,fd00:b::/64
	sid add fc00:0:a::d6 behavior End.DT46
	path add 1 segs fc00:0:21::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
	path add 2 segs fc00:0:22::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
	policy add color 1 endpoint fd00:b::1 candidate segment-list 1
	policy add color 2 endpoint fd00:b::1 candidate segment-list 2
	endpoint add fd00:b::/64 to fd00:b::1
	endpoint add 10.0.20.0/24 to fd00:b::1
	rule add prio 10 dev vm0 dst fd00:b::/64 color 1
	rule add prio 11 dev vm0 dst 10.0.20.0/24 color 1
	rule add prio 20 dev hA color 2
	dev add hA role uplink
	dev add vm0 role port
	END
	on hostB -b - <<-END
	sid add fc00:0:b::d6 behavior End.DT46
	path add 1 segs fc00:0:21::1,fc00:0:11::1,fc00:0:a::d6 dev hB via fd00:b::fe
	policy add color 1 endpoint :: candidate segment-list 1
	rule add prio 1 color 1
	dev add hB role uplink
	END
}

up() {
	on hostA -j path show | gojq -e 'length >= 2 and all(.state == "up")' &&
		on hostB -j path show | gojq -e 'length == 1 and all(.state == "up")'
}

reason() {
	on hostA -j stats show all | tr '}' '\n' |
		sed -n "s/.*\"reason\":\"$1\".*\"packets\":\([0-9]*\).*/\1/p"
}

rule_packets() {
	on hostA -j -s rule show prio "$1" | grep -o '"packets":[0-9]*' |
		cut -d : -f 2
}

hook() {
	on hostA -j dev show | grep -o '"hook":"[^"]*"' | cut -d '"' -f 4
}

inner_hops() {
	tshark -n -r "$SRPOL_OUT/sent.pcap" -Y 'ipv6.routing' -T fields \
		-E aggregator=, -e ipv6.hlim -e ip.ttl 2>/dev/null | sort -u
}

fabric_up
at_exit down
machine_up
srpol_up
check "the paths come up" busywait 20 up
check_equal "the port is at TC" tc "$(hook)"

e2e_capture leaf1 host in "$SRPOL_OUT/sent.pcap" ip6
check "IPv6 of the machine reaches host B" \
	in_vm ping -q -c 3 -i 0.1 -W 10 fd00:b::1
check "IPv4 does" in_vm ping -q -c 3 -i 0.1 -W 10 10.0.20.1
e2e_captured
check_equal "its rules matched by port" "3 3" \
	"$(rule_packets 10) $(rule_packets 11)"
check_equal "nothing of it passed TC egress" 0 "$(rule_packets 20)"
check_equal "the inner hop limit went down by one" "64	63
64,63	" "$(inner_hops)"

iperf() {
	fabric_exec hostB iperf3 -s -1 -D -I "$SRPOL_OUT/pid" >/dev/null
	busywait 20 fabric_exec hostB \
		sh -c 'ss -Hltn "sport = :5201" | grep -q .' &&
		in_vm timeout 60 iperf3 -c "$1" -n 1M
}
check "TCP through the port, IPv6" iperf fd00:b::1
check "TCP through the port, IPv4" iperf 10.0.20.1

# too_big: an error comes; what the kernel knows from the last one is not enough
too_big() {
	ip -n "$vm" -6 route flush cache
	check_fails "too big after encapsulation: the machine is told" \
		"Packet too big: mtu=$((FABRIC_MTU - 80))" \
		in_vm ping -c 1 -W 10 -M "do" -s $((FABRIC_MTU - 48)) fd00:b::1
}

dropped=$(reason sid-from-port)
check_fails "a packet to a local SID is dropped" "100% packet loss" \
	in_vm ping -q -c 1 -W 1 fc00:0:a::d6
check_fails "and one to any SID of the domain" "100% packet loss" \
	in_vm ping -q -c 1 -W 1 fc00:0:21::1
check_equal "both were counted" 2 "$(($(reason sid-from-port) - dropped))"

on hostA rule del prio 10
check "what no rule of the port takes goes through the stack" \
	in_vm ping -q -c 2 -i 0.1 -W 10 fd00:b::1
check_equal "and is steered at the uplink" yes \
	"$([ "$(rule_packets 20)" -ge 2 ] && echo yes)"
on hostA rule add prio 10 dev vm0 dst fd00:b::/64 color 1

too_big

on hostA dev del vm0
# what makes a veth take what XDP sends, and what XDP cannot do for it
fabric_exec leaf1 ethtool -K host gro on
in_vm ethtool -K eth0 tx off >/dev/null
check "the same by XDP" on hostA dev add vm0 role port hook xdp
check_equal "the port is at both hooks" "xdp, tc" "$(hook)"
before=$(rule_packets 20)
check "IPv6 of the machine reaches host B" \
	in_vm ping -q -c 3 -i 0.1 -W 10 fd00:b::1
check "IPv4 does" in_vm ping -q -c 3 -i 0.1 -W 10 10.0.20.1
check_equal "nothing of it passed TC egress" "$before" "$(rule_packets 20)"
check "TCP through the port, IPv6" iperf fd00:b::1
too_big
check_equal "srpol doctor says that a veth is better at TC" 1 \
	"$({ on hostA doctor || :; } | grep -c 'loses checksums')"

# The other end of the uplink stops to take what XDP sends.
takes_no_frames() {
	on hostA doctor | grep 'takes no frames from XDP' || :
}
check_equal "srpol doctor has nothing to say about the uplink" "" \
	"$(takes_no_frames)"
fabric_exec leaf1 ethtool -K host gro off
check_equal "that it stops taking frames is a warning" 1 \
	"$(takes_no_frames | grep -c 'any more: .* are dropped')"
check_fails "what is lost" "100% packet loss" \
	in_vm ping -q -c 1 -W 1 fd00:b::1
on hostA dev del vm0
check "the remedy that it names" on hostA dev add vm0 role port hook xdp
check "IPv6 of the machine reaches host B again" \
	in_vm ping -q -c 3 -i 0.1 -W 10 fd00:b::1
check_equal "and the warning is a note" 1 \
	"$(takes_no_frames | grep -c 'go by TC')"
fabric_exec leaf1 ethtool -K host gro on
on hostA dev del vm0
on hostA dev add vm0 role port hook xdp
check_equal "all is as it was" "" "$(takes_no_frames)"

# a fabric that is reached by a VLAN
fabric_exec hostA ip link add link hA name hA.7 up type vlan id 7
fabric_exec leaf1 ip link add link host name host.7 up type vlan id 7
fabric_exec hostA ip addr add fd00:a7::1/64 dev hA.7 nodad
fabric_exec leaf1 ip addr add fd00:a7::fe/64 dev host.7 nodad
check "a VLAN device is an uplink" on hostA dev add hA.7 role uplink
check_equal "srpol doctor says that XDP leaves to TC what goes there" 1 \
	"$({ on hostA doctor || :; } | grep -c 'takes no frames from XDP: ')"
on hostA -b - <<-END
path add 3 segs fc00:0:21::1,fc00:0:12::1,fc00:0:b::d6 dev hA.7 via fd00:a7::fe
policy add color 3 endpoint fd00:b::1 candidate segment-list 3
rule add prio 5 dev vm0 dst fd00:b::/64 color 3
END
check "a path over it comes up" busywait 20 up
by_vlan() {
	local packets rx

	packets=$(rule_packets 5)
	rx=$(fabric_exec leaf1 cat \
		/sys/class/net/host.7/statistics/rx_packets)
	check "$1: IPv6 of the machine reaches host B" \
		in_vm ping -q -c 3 -i 0.1 -W 10 fd00:b::1
	check_equal "by its rule" 3 $(($(rule_packets 5) - packets))
	check "in the VLAN" [ $(($(fabric_exec leaf1 cat \
		/sys/class/net/host.7/statistics/rx_packets) - rx)) -ge 3 ]
}
by_vlan "XDP port"
on hostA dev del vm0
on hostA dev add vm0 role port
check_equal "srpol doctor says nothing of it of a port at TC" 0 \
	"$({ on hostA doctor || :; } | grep -c 'takes no frames from XDP')"
by_vlan "TC port"
on hostA rule del prio 5
check "it is given back" on hostA dev del hA.7
