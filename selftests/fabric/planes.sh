# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Hosts with a NIC on each of several planes, to be sourced after fabric.sh with
# FABRIC_HOSTS=netns. As in draft-xu-rtgwg-fare-in-sun 1, a plane is one switch,
# and each NIC has a Y-cable: two cables to its switch.
#
#	host A --- u0 === hA plane0 hB === u0 --- host B	fc00:0:30::1
#	       \-- u1 === hA plane1 hB === u1 --/		fc00:0:31::1
#	       \-- u2 === hA plane2 hB === u2 --/		fc00:0:32::1
#	       \-- u3 === hA plane3 hB === u3 --/		fc00:0:33::1
#
# Host C is attached as the others are. NIC M of host A has fd00:M:a::1, its
# port fd00:M:a::fe; host A has the locator fc00:0:a::/48, at all planes.
#
# A pair of cables is a bond at both ends, of cables x and y; their drivers say
# 10 Gbit/s, and that of the bond says what those with carrier come to.
#
# A host sends to another one's address by any of its NICs; a switch does not
# forward that, but what is encapsulated.
#
# FABRIC_PLANES		number of planes, default 4

FABRIC_PLANES=${FABRIC_PLANES:-4}

planes_hosts=(A B C)

planes_bond() {
	echo "link add name $1 mtu $FABRIC_MTU type bond mode balance-xor miimon 10
	link set $2x master $1
	link set $2y master $1
	link set $1 up"
}

planes_links() {
	local m host cable mtu="mtu $FABRIC_MTU"

	for m in "${fabric_nodes[@]}"; do
		echo "netns add $fabric_id-$m"
	done
	for ((m = 0; m < FABRIC_PLANES; m++)); do
		for host in "${planes_hosts[@]}"; do
			for cable in x y; do
				echo "link add name u$m$cable $mtu netns $fabric_id-host$host" \
					"type veth peer name h$host$cable $mtu" \
					"netns $fabric_id-plane$m"
			done
		done
	done
}

planes_switch() {
	local m=$1 host own

	echo "link set lo up
	link add sid0 type veth peer name sid1
	link set sid0 up
	link set sid1 up
	route add fc00:0:3$m::1/128 encap seg6local action End dev sid0"
	for host in "${planes_hosts[@]}"; do
		own=${host,}
		planes_bond "h$host" "h$host"
		echo "addr add fd00:$m:$own::fe/64 dev h$host nodad
		route add fc00:0:$own::/48 via fd00:$m:$own::1 dev h$host
		-6 rule add pref 10 iif h$host to fd00::/16 unreachable"
	done
}

planes_host() {
	local own=${1,} host m hops=''

	echo "link set lo up"
	for ((m = 0; m < FABRIC_PLANES; m++)); do
		planes_bond "u$m" "u$m"
		echo "addr add fd00:$m:$own::1/64 dev u$m nodad"
		hops+=" nexthop via fd00:$m:$own::fe dev u$m"
	done
	for host in "${planes_hosts[@]}"; do
		[ "$host" != "$1" ] || continue
		for ((m = 0; m < FABRIC_PLANES; m++)); do
			echo "route add fd00:$m:${host,}::/64$hops"
		done
	done
}

# planes_up: as fabric_up; fabric_down is for both
planes_up() {
	local m host

	fabric_id=$(mktemp -u srpol-XXXXXX)
	fabric_nodes=()
	for ((m = 0; m < FABRIC_PLANES; m++)); do
		fabric_nodes+=("plane$m")
	done
	for host in "${planes_hosts[@]}"; do
		fabric_nodes+=("host$host")
	done

	planes_links | ip -batch - || return
	for ((m = 0; m < FABRIC_PLANES; m++)); do
		planes_switch "$m" | fabric_batch "plane$m" router || return
	done
	for host in "${planes_hosts[@]}"; do
		planes_host "$host" | fabric_batch "host$host" host || return
	done
}

# planes_neighbors: as fabric_neighbors
planes_neighbors() {
	local m host own

	for ((m = 0; m < FABRIC_PLANES; m++)); do
		for host in "${planes_hosts[@]}"; do
			own=${host,}
			fabric_neighbor "host$host" "fd00:$m:$own::fe" "u$m" "plane$m" "h$host"
			fabric_neighbor "plane$m" "fd00:$m:$own::1" "h$host" "host$host" "u$m"
		done
	done
}

# planes_cable PLANE HOST CABLE up|down: at the switch; both ends see the carrier
planes_cable() {
	ip -n "$fabric_id-plane$1" link set "h$2$3" "$4"
}

# planes_topology: the topology file of this fabric, for srpold
planes_topology() {
	local m host last=$((FABRIC_PLANES - 1))

	cat <<-END
	{
	  "srpol-topology": 1,
	  "functions": { "end": "::1", "decap": "::d6", "probe": "::e" },
	  "switches": [
	END
	for ((m = 0; m <= last; m++)); do
		echo "    { \"name\": \"plane$m\", \"role\": \"leaf\", \"plane\": $m," \
			"\"locator\": \"fc00:0:3$m::/48\" }$([ $m = $last ] || echo ,)"
	done
	echo '  ],'
	echo '  "hosts": ['
	for host in "${planes_hosts[@]}"; do
		echo "    { \"name\": \"$host\", \"locator\": \"fc00:0:${host,}::/48\", \"nics\": ["
		for ((m = 0; m <= last; m++)); do
			echo "      { \"name\": \"u$m\", \"leaf\": \"plane$m\", \"plane\": $m," \
				"\"rate\": \"10G\", \"cables\": 2," \
				"\"address\": \"fd00:$m:${host,}::1\"," \
				"\"gateway\": \"fd00:$m:${host,}::fe\" }$([ $m = $last ] || echo ,)"
		done
		echo "    ] }$([ "$host" = "${planes_hosts[-1]}" ] || echo ,)"
	done
	echo '  ],'
	echo '  "links": []'
	echo '}'
}

# planes_count: count encapsulated packets at the switches' ports, by their host
planes_count() {
	local m from to pref

	for ((m = 0; m < FABRIC_PLANES; m++)); do
		for from in "${planes_hosts[@]}"; do
			echo "qdisc add dev h$from clsact"
			pref=1
			for to in "${planes_hosts[@]}"; do
				echo "filter add dev h$from ingress pref $((pref++))" \
					"protocol ipv6 flower dst_ip fc00:0:${to,}::d6 action pass"
			done
		done | tc -n "$fabric_id-plane$m" -batch - || return
	done
}

# planes_packets FROM TO: what each plane has received from one for the other
planes_packets() {
	local m

	for ((m = 0; m < FABRIC_PLANES; m++)); do
		tc -n "$fabric_id-plane$m" -s -j filter show dev "h$1" ingress |
			gojq --arg to "fc00:0:${2,}::d6" '[ .[].options |
				select(.keys.dst_ip == $to) |
				.actions[].stats.packets ] | add'
	done
}
