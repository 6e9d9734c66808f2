# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An SRv6 fabric of kernel routers, to be sourced.
#
#	                    spine1 (fc00:0:21::1)
#	                   /                     \
#	  hA --- host leaf1 --- spine2 --- leaf2 host --- hB
#	fd00:a::1          \--- spine3 ---/             fd00:b::1
#	10.0.10.1           \-- spine4 --/              10.0.20.1
#
#	node	locator		SIDs (kernel)		uSID (next-csid, 32+16)
#	leafN	fc00:0:1N::/48	fc00:0:1N::1 End	fcbb:bb00:1N::/48
#	spineN	fc00:0:2N::/48	fc00:0:2N::1 End	fcbb:bb00:2N::/48
#	host A	fc00:0:a::/48	none: srpol's part	fcbb:bb00:a::/48
#	host B	fc00:0:b::/48				fcbb:bb00:b::/48
#
# Leaf ports towards hosts: fd00:a::fe, fd00:b::fe, 10.0.10.254, 10.0.20.254.
# Links: leaf N port spineM fd00:N:M::1 - fd00:N:M::2 spine M port leafN.
#
# A leaf forwards to its own host and to the spines' locators, each over its
# direct link only, and nowhere else: a packet from A to B that is not steered
# ends at leaf1 with "no route". What the leaves originate themselves (ICMPv6
# errors) reaches both hosts. Spines reach everything.
#
# FABRIC_HOSTS=init	hA and hB both in this namespace, with policy routing
#			that puts A<->B traffic on the wire: rdma_rxe works in
#			the initial namespace only. Default in the guest, and
#			refused outside of it.
# FABRIC_HOSTS=netns	hA and hB in namespaces of their own; works on any
#			kernel with seg6. Default elsewhere.
# FABRIC_MTU		of all links, default 9000
# FABRIC_SPINES		default 4

FABRIC_MTU=${FABRIC_MTU:-9000}
FABRIC_SPINES=${FABRIC_SPINES:-4}

fabric_id=
fabric_nodes=()

fabric_in_guest() {
	[ -e /run/srpol/guest-init ]
}

# fabric_ns NODE: namespace of leaf1, spine3, ..., and of hostA, hostB when
# these have one
fabric_ns() {
	echo "$fabric_id-$1"
}

# fabric_exec NODE COMMAND...: run a command where NODE is
fabric_exec() {
	local node=$1
	shift

	if [ "$FABRIC_HOSTS" = init ] && [[ $node == host* ]]; then
		"$@"
	else
		ip netns exec "$fabric_id-$node" "$@"
	fi
}

# fabric_drops: counters of drops that are not 0, of all devices; what to look
# at when packets are missing
fabric_drops() {
	local node

	for node in "${fabric_nodes[@]}" hostA hostB; do
		fabric_exec "$node" ip -s -s -j link show 2>/dev/null |
			gojq -r --arg node "$node" '.[] | .ifname as $dev |
				.stats64 | to_entries[] | .key as $way |
				.value | to_entries[] |
				select(.value > 0 and
				       (.key | test("dropped|error|fifo"))) |
				"\($node) \($dev) \($way) \(.key) \(.value)"'
	done | sort -u
}

# fabric_batch NODE [router|host]: ip commands on stdin, after the settings for
# a router or host if one is named; all in as few processes as will do. Lines
# that start with -4 or -6 go last, since a batch knows one family only.
# Duplicate address detection is off, or no neighbor could be resolved in the
# first second.
fabric_batch() {
	# shellcheck disable=SC2016
	fabric_exec "$1" bash -c '
		cd /proc/sys/net/ipv6/conf
		for dev in ${1:+all default */}; do
			echo 0 >$dev/accept_dad
			echo 1 >$dev/seg6_enabled
			echo 1 >$dev/keep_addr_on_down
			echo 1 >$dev/ignore_routes_with_linkdown
		done
		if [ "$1" = router ]; then
			echo 1 >all/forwarding
			echo 1 >/proc/sys/net/ipv4/ip_forward
			echo 10 >/proc/sys/net/ipv6/icmp/ratelimit
		fi
		nl=$'"'\n'"'
		while read -r line; do
			case $line in
			"-4 "*)	v4+=${line#-4 }$nl ;;
			"-6 "*)	v6+=${line#-6 }$nl ;;
			*)	any+=$line$nl ;;
			esac
		done
		for batch in "ip:$any" "ip -4:$v4" "ip -6:$v6"; do
			[ -n "${batch#*:}" ] || continue
			${batch%%:*} -batch - <<<"${batch#*:}" || exit
		done' bash "${2:-}"
}

fabric_leaf_routes() {
	local n=$1 m=$2

	echo "route add fc00:0:2$m::/48 via fd00:$n:$m::2 dev spine$m
	route add fcbb:bb00:2$m::/48 via fd00:$n:$m::2 dev spine$m"
}

# The other leaf's host, for packets this leaf originates
fabric_leaf_error_routes() {
	local n=$1 peer=$2 m hops=''

	for ((m = 1; m <= FABRIC_SPINES; m++)); do
		hops+=" nexthop via fd00:$n:$m::2 dev spine$m onlink"
	done
	echo "route replace fd00:$peer::/64 table 100$hops"
}

fabric_leaf() {
	local n=$1 own=$2 peer=$3 net4=$4 m

	echo "link set lo up
	link add sid0 type veth peer name sid1
	link set sid0 up
	link set sid1 up
	link set host up
	addr add fd00:$own::fe/64 dev host nodad
	addr add 10.0.$net4.254/24 dev host
	route add fc00:0:1$n::1/128 encap seg6local action End dev sid0
	route add fcbb:bb00:1$n::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 dev sid0
	route add fc00:0:$own::/48 via fd00:$own::1 dev host
	route add fcbb:bb00:$own::/48 via fd00:$own::1 dev host
	-6 rule add pref 10 iif lo lookup 100"
	for ((m = 1; m <= FABRIC_SPINES; m++)); do
		echo "link set spine$m up
		addr add fd00:$n:$m::1/64 dev spine$m nodad"
		fabric_leaf_routes "$n" "$m"
	done
	fabric_leaf_error_routes "$n" "$peer"
}

fabric_spine() {
	local m=$1 n host

	echo "link set lo up
	link add sid0 type veth peer name sid1
	link set sid0 up
	link set sid1 up
	route add fc00:0:2$m::1/128 encap seg6local action End dev sid0
	route add fcbb:bb00:2$m::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 dev sid0"
	for n in 1 2; do
		host=a
		[ $n -eq 1 ] || host=b
		echo "link set leaf$n up
		addr add fd00:$n:$m::2/64 dev leaf$n nodad
		route add fc00:0:1$n::/48 via fd00:$n:$m::1 dev leaf$n
		route add fcbb:bb00:1$n::/48 via fd00:$n:$m::1 dev leaf$n
		route add fc00:0:$host::/48 via fd00:$n:$m::1 dev leaf$n
		route add fcbb:bb00:$host::/48 via fd00:$n:$m::1 dev leaf$n
		route add fd00:$host::/64 via fd00:$n:$m::1 dev leaf$n"
	done
}

# fabric_host DEV OWN PEER OWN4 PEER4 TABLE
fabric_host() {
	local dev=$1 own=$2 peer=$3 own4=$4 peer4=$5 table=$6

	echo "link set lo up
	link set $dev up
	addr add fd00:$own::1/64 dev $dev nodad
	addr add 10.0.$own4.1/24 dev $dev
	route add fd00:$peer::/64 via fd00:$own::fe dev $dev table $table
	route add 10.0.$peer4.0/24 via 10.0.$own4.254 dev $dev table $table
	route add fc00::/16 via fd00:$own::fe dev $dev table $table
	route add fcbb:bb00::/32 via fd00:$own::fe dev $dev table $table"
	[ "$table" != main ] || return 0
	echo "route add fd00:$own::/64 dev $dev table $table
	route add 10.0.$own4.0/24 dev $dev table $table"
}

# What sends local-to-local traffic of the two hosts in one namespace out by
# the right port: the rule for local addresses moves behind rules by device
# and by address pair. $1 is add or del.
fabric_policy_rules() {
	local do=$1 family a b

	for family in -4 -6; do
		a=10.0.10.1 b=10.0.20.1
		[ $family = -4 ] || a=fd00:a::1 b=fd00:b::1
		[ "$do" = add ] && echo "$family rule add pref 100 lookup local"
		[ "$do" = del ] && echo "$family rule add pref 0 lookup local"
		echo "$family rule $do pref 10 oif hA lookup 1001
		$family rule $do pref 11 oif hB lookup 1002
		$family rule $do pref 12 iif lo from $a to $b lookup 1001
		$family rule $do pref 13 iif lo from $b to $a lookup 1002"
		[ "$do" = add ] && echo "$family rule del pref 0"
		[ "$do" = del ] && echo "$family rule del pref 100"
	done
	return 0
}

fabric_links() {
	local n m node where_a='' where_b='' mtu="mtu $FABRIC_MTU"

	for node in "${fabric_nodes[@]}"; do
		echo "netns add $fabric_id-$node"
	done
	if [ "$FABRIC_HOSTS" = netns ]; then
		where_a="netns $fabric_id-hostA"
		where_b="netns $fabric_id-hostB"
	fi
	echo "link add name hA $mtu $where_a type veth peer name host $mtu netns $fabric_id-leaf1
	link add name hB $mtu $where_b type veth peer name host $mtu netns $fabric_id-leaf2"
	for n in 1 2; do
		for ((m = 1; m <= FABRIC_SPINES; m++)); do
			echo "link add name spine$m $mtu netns $fabric_id-leaf$n type veth" \
				"peer name leaf$n $mtu netns $fabric_id-spine$m"
		done
	done
}

fabric_up() {
	local m

	if fabric_in_guest; then
		FABRIC_HOSTS=${FABRIC_HOSTS:-init}
	else
		FABRIC_HOSTS=${FABRIC_HOSTS:-netns}
	fi
	if [ "$FABRIC_HOSTS" = init ] && ! fabric_in_guest; then
		echo "fabric: FABRIC_HOSTS=init is for the guest only" >&2
		return 1
	fi

	fabric_id=$(mktemp -u srpol-XXXXXX)
	fabric_nodes=(leaf1 leaf2)
	for ((m = 1; m <= FABRIC_SPINES; m++)); do
		fabric_nodes+=("spine$m")
	done
	if [ "$FABRIC_HOSTS" = netns ]; then
		fabric_nodes+=(hostA hostB)
	fi

	fabric_links | ip -batch - || return
	fabric_leaf 1 a b 10 | fabric_batch leaf1 router || return
	fabric_leaf 2 b a 20 | fabric_batch leaf2 router || return
	for ((m = 1; m <= FABRIC_SPINES; m++)); do
		fabric_spine "$m" | fabric_batch "spine$m" router || return
	done

	if [ "$FABRIC_HOSTS" = netns ]; then
		fabric_host hA a b 10 20 main | fabric_batch hostA host &&
			fabric_host hB b a 20 10 main |
				fabric_batch hostB host
		return
	fi
	for m in hA hB; do
		# one's own address comes back as a source; ARP must not
		# answer for the other host
		echo 1 >/proc/sys/net/ipv4/conf/$m/accept_local
		echo 0 >/proc/sys/net/ipv4/conf/$m/rp_filter
		echo 1 >/proc/sys/net/ipv4/conf/$m/arp_ignore
		echo 2 >/proc/sys/net/ipv4/conf/$m/arp_announce
	done
	{
		fabric_host hA a b 10 20 1001
		fabric_host hB b a 20 10 1002
		fabric_policy_rules add
	} | fabric_batch hostA host
}

fabric_mac() {
	fabric_exec "$1" cat "/sys/class/net/$2/address"
}

# fabric_neighbor NODE ADDRESS DEV NODE DEV
fabric_neighbor() {
	fabric_exec "$1" ip neigh replace "$2" lladdr "$(fabric_mac "$4" "$5")" \
		dev "$3"
}

# fabric_neighbors: all know their neighbors, for programs that count each packet:
# nobody has to ask, which can fail when the machine is busy. What goes down forgets.
fabric_neighbors() {
	local n m own net4 NIC

	for n in 1 2; do
		own=a net4=10 NIC=A
		[ $n -eq 1 ] || own=b net4=20 NIC=B
		fabric_neighbor leaf$n fd00:$own::1 host host$NIC h$NIC
		fabric_neighbor leaf$n 10.0.$net4.1 host host$NIC h$NIC
		fabric_neighbor host$NIC fd00:$own::fe h$NIC leaf$n host
		fabric_neighbor host$NIC 10.0.$net4.254 h$NIC leaf$n host
		for ((m = 1; m <= FABRIC_SPINES; m++)); do
			fabric_neighbor leaf$n fd00:$n:$m::2 "spine$m" "spine$m" leaf$n
			fabric_neighbor "spine$m" fd00:$n:$m::1 leaf$n leaf$n "spine$m"
		done
	done
}

# May be called at any time, after a fabric_up that failed half way too
fabric_down() {
	local node

	[ -n "$fabric_id" ] || return 0
	if [ "$FABRIC_HOSTS" = init ]; then
		fabric_policy_rules del | fabric_batch hostA 2>/dev/null || :
		ip link del hA 2>/dev/null || :
		ip link del hB 2>/dev/null || :
	fi
	for node in "${fabric_nodes[@]}"; do
		ip netns del "$fabric_id-$node" 2>/dev/null || :
	done
	fabric_id=
}

# fabric_cut_spine M: the leaves' ports to spine M go down: carrier is lost at
# both ends, the routes to the spine's SIDs go, and the leaves answer
# "destination unreachable" to packets for them
fabric_cut_spine() {
	local n

	for n in 1 2; do
		ip -n "$fabric_id-leaf$n" link set "spine$1" down
	done
}

fabric_restore_spine() {
	local m=$1 n peer

	for n in 1 2; do
		peer=b
		[ $n -eq 1 ] || peer=a
		{
			echo "link set spine$m up"
			fabric_leaf_routes $n "$m"
			fabric_leaf_error_routes $n $peer
		} | ip -n "$fabric_id-leaf$n" -batch - || return
	done
}

# fabric_topology: the topology file of this fabric, for srpold
fabric_topology() {
	local m

	cat <<-END
	{
	  "srpol-topology": 1,
	  "functions": { "end": "::1", "decap": "::d6", "probe": "::e",
	                 "reflect": "::f1" },
	  "switches": [
	    { "name": "leaf1", "role": "leaf", "locator": "fc00:0:11::/48" },
	    { "name": "leaf2", "role": "leaf", "locator": "fc00:0:12::/48" },
	END
	for ((m = 1; m <= FABRIC_SPINES; m++)); do
		echo "    { \"name\": \"spine$m\", \"role\": \"spine\"," \
			"\"locator\": \"fc00:0:2$m::/48\" }$([ $m = $FABRIC_SPINES ] || echo ,)"
	done
	cat <<-END
	  ],
	  "hosts": [
	    { "name": "A", "locator": "fc00:0:a::/48", "nics": [
	      { "name": "hA", "leaf": "leaf1", "rate": "100G",
	        "address": "fd00:a::1", "gateway": "fd00:a::fe" } ] },
	    { "name": "B", "locator": "fc00:0:b::/48", "nics": [
	      { "name": "hB", "leaf": "leaf2", "rate": "100G",
	        "address": "fd00:b::1", "gateway": "fd00:b::fe" } ] }
	  ],
	  "links": [
	END
	for ((m = 1; m <= FABRIC_SPINES; m++)); do
		echo "    { \"from\": \"leaf1\", \"to\": \"spine$m\", \"rate\": \"100G\" },"
		echo "    { \"from\": \"leaf2\", \"to\": \"spine$m\", \"rate\": \"100G\" }$([ $m = $FABRIC_SPINES ] || echo ,)"
	done
	echo "  ]"
	echo "}"
}

# fabric_silence SPINE on|off: it takes packets of leaf1 and nobody hears of
# them again: no carrier is lost, no error is sent
fabric_silence() {
	local ns

	ns=$(fabric_ns "$1")
	if [ "$2" = on ]; then
		tc -n "$ns" qdisc add dev leaf1 clsact
		tc -n "$ns" filter add dev leaf1 ingress matchall action drop
	else
		tc -n "$ns" qdisc del dev leaf1 clsact
	fi
}

# fabric_spine_counters FIELD: a line "SPINE A_TO_B B_TO_A" for each spine: that
# field of /proc/net/dev, "name: bytes packets ...", of its devices leaf1 and leaf2
fabric_spine_counters() {
	local m

	for ((m = 1; m <= FABRIC_SPINES; m++)); do
		ip netns exec "$fabric_id-spine$m" \
			awk -v spine="$m" -v field="$1" -F '[: ]+' '
				$2 == "leaf1" { a = $field }
				$2 == "leaf2" { b = $field }
				END { print spine, a + 0, b + 0 }' /proc/net/dev
	done
}

# fabric_pings ARGUMENTS...: three of host A's, and each is answered. (Of three by one
# ping the last ones may be lost: after the first answer it waits no longer than for
# that.)
fabric_pings() {
	for _ in 1 2 3; do
		fabric_exec hostA ping -n -q -c 1 -W 60 "$@" || return
	done
}

# What each spine has received from leaf1 and from leaf2
fabric_spine_packets() {
	fabric_spine_counters 4
}

fabric_spine_bytes() {
	fabric_spine_counters 3
}
