#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srpold with segment lists of other forms than the default one: of compressed
# SIDs, for paths, probes and reflected probes, and with the turning switch only.
# A's are compressed, B's are not; the kernel's next-csid routers forward both.
# What was on the wire is judged by tshark.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

pcap=$SRPOL_OUT/sent.pcap

# config HOST SEGMENT-LISTS
# There are ids for these paths and no more.
config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "first-path": 16380,
	  "probes": { "interval-ms": 50, "multiplier": 10, "timeout-ms": 500,
	              "wait-to-restore-ms": 300 },
	  "weights": { "delay-us": 10000000 },
	  "reflect": { "keys": "$work/keys.json", "interval-ms": 100 },
	  "segment-lists": $2 }
	END
}

# refused WHAT SEGMENT-LISTS WORDS
refused() {
	config A "$2" >"$work/bad.json"
	check_fails "refused: $1" "$3" srpold --check-config -c "$work/bad.json"
}

# as the engine's paths are in the module: SIDs, bytes of encapsulation
in_module() {
	on "$1" -j path show | gojq -c '[ .[] | [ .segments, .overhead ] ] | sort'
}

changed() {
	[ "$(in_module A)" = "$1" ]
}

reflected() {
	on A -j engine paths | gojq -e '[ .[].reflected | .returned > 2 and
		.hops_there == 3 and .hops == 7 ] | length == 4 and all' >/dev/null
}

# top SORT: what A's paths carry now, into $work/top
top() {
	on A -j path show --top count 1 interval 1s sort "$1" >"$work/top"
}

# of_top FILTER: what it says is so
of_top() {
	gojq -e "$1" "$work/top" >/dev/null
}

hops_are_right() {
	on "$1" -j engine paths |
		gojq -e '[ .[] | .hops == 5 and .hops_wanted == 5 ] | length == 4 and all'
}

# decoded FILTER FIELD...: of what A sent, each once
decoded() {
	local filter=$1 field fields=()
	shift

	for field in "$@"; do
		fields+=(-e "$field")
	done
	tshark -n -r "$pcap" -Y "ipv6.src==fd00:a::1 && $filter" -T fields \
		-E separator=' ' -E occurrence=a "${fields[@]}" 2>/dev/null |
		sort -u
}

# capture: what A sends: all its probes, pings, and a datagram of each of 64 flows
capture() {
	# not fabric_exec: $! has to be tcpdump itself
	ip netns exec "$(fabric_ns hostA)" tcpdump --immediate-mode -U -Q out -i hA \
		-w "$pcap" ip6 2>"$work/tcpdump" &
	tcpdump=$!
	busywait 30 grep -q listening "$work/tcpdump"
	check_equal "every ping is answered" 32 "$(fabric_exec hostA ping -c 32 \
		-i 0.05 -W 10 -I fd00:a::1 fd00:b::1 | grep -c ' bytes from ')"
	fabric_exec hostA python3 - <<-END
		import socket
		for port in range(64):
		    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
		    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 2)
		    s.bind(("fd00:a::1", 0))
		    s.sendto(b"x", ("fd00:b::1", 7000 + port))
	END
	busywait 60 receives A $(($(received A) + 3))
	# tcpdump writes what it has as it comes
	sleep 1.5
	kill "$tcpdump"
	wait "$tcpdump" || :
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
(umask 077; cat >"$work/keys.json" <<-END
	{ "keys": [ { "hosts": [ "A", "B" ],
	              "key": "00112233445566778899aabbccddeeff" } ] }
	END
)
fabric_topology >"$work/topology.json"
refused "compressed SIDs that the topology has not" '{ "usid": true }' \
	'no compressed SIDs'
fabric_topology | gojq '.usid = { block: "fcbb:bb00::/32" } |
	(.switches, .hosts)[] |= (.usid = (.locator |
		sub("fc00:0:"; "fcbb:bb00:") | sub("/48"; "")))' \
	>"$work/topology.json"
gojq '(.switches[] | select(.name == "spine3")) |= del(.usid)' \
	"$work/topology.json" >"$work/lacks.json"
config A '{ "usid": true }' | sed "s/topology.json/lacks.json/" >"$work/bad.json"
check_fails "refused: a switch that has none" 'spine3 has no compressed SID' \
	srpold --check-config -c "$work/bad.json"
refused "a word that is none" '{ "usids": true }' '"usids" is unknown'
refused "neither true nor false" '{ "usid": 1 }' '"usid" is neither'
refused "no hops" '{ "hops": "few" }' '"hops" is neither'
refused "no object" '[]' '"segment-lists" is not an object'
gojq '.usid.block = "ff00::/32"' "$work/topology.json" >"$work/lacks.json"
config A '{}' | sed "s/topology.json/lacks.json/" >"$work/bad.json"
check_fails "refused: a block that is not unicast" 'block: .*unicast' \
	srpold --check-config -c "$work/bad.json"

config A '{ "usid": true }' >"$work/A.json"
config B '{}' >"$work/B.json"
fabric_exec hostB ip addr add fcbb:bb00:b::1/128 dev lo
on A rule add prio 100 dst fd00:b::/64 color 100
on B rule add prio 100 dst fd00:a::/64 color 100
start_engine A
start_engine B
check "A: four paths, probed and up" busywait 60 usable A 4
check "B: likewise" busywait 60 usable B 4
check_equal "A's lists are containers" \
	'[[["fcbb:bb00:21:12:b::"],40],[["fcbb:bb00:22:12:b::"],40],[["fcbb:bb00:23:12:b::"],40],[["fcbb:bb00:24:12:b::"],40]]' \
	"$(in_module A)"
check_equal "B's are not" 80 "$(in_module B | gojq '[ .[][1] ] | unique[0]')"
check_equal "each host decapsulates at its compressed SID" \
	"fcbb:bb00:a::/128 uDT46 fcbb:bb00:b::/128 uDT46" \
	"$(for host in A B; do on $host -j sid show | gojq -r '.[] |
		select(.behavior == "uDT46") | "\(.sid)/\(.prefix_len) \(.behavior)"'
	done | xargs)"
check "its other addresses of that locator stay its own" \
	fabric_exec leaf2 ping -q -c 3 -i 0.2 -W 5 fcbb:bb00:b::1
check "hops of probes are counted right: A" hops_are_right A
check "hops of probes are counted right: B" hops_are_right B
check "reflected probes come back, over as many hops" busywait 60 reflected
capture
check_equal "packets have a container, and no SRH" \
	"$(printf '41 fcbb:bb00:2%d:12:b::\n' 1 2 3 4)" \
	"$(decoded 'udp.dstport>=7000' ipv6.nxt ipv6.dst |
		awk '{ split($1, n, ","); split($2, d, ","); print n[1], d[1] }' | sort -u)"
check_equal "probes have a full SRH of a container and the probe SID" \
	"$(printf 'fcbb:bb00:2%d:12:2%d:11:: fc00:0:a::e,fcbb:bb00:2%d:12:2%d:11::\n' \
		1 1 1 1 2 2 2 2 3 3 3 3 4 4 4 4)" \
	"$(decoded 'ipv6.routing.len==4' ipv6.dst ipv6.routing.srh.addr |
		sed 's/,[^ ]* / /' | sort -u)"
check_equal "none was strange" "0 0" \
	"$(on A -j engine show | gojq -r '"\(.forged) \(.strange)"')"

# ---- what they carry
# not fabric_exec: $! has to be ping itself. Of one flow, so by one path.
ip netns exec "$(fabric_ns hostA)" ping -q -i 0.02 -I fd00:a::1 fd00:b::1 \
	>"$work/ping" &
ping=$!
check "the view of paths" top rate
check "has all that the schema wants" selftests/schema/valid.py path-top "$work/top"
check "every path, with what probes say" of_top 'length == 4 and
	all(.state == "up" and .rtt_ns > 0 and .loss_ppm == 0)'
check "the rate of one ping in 20 ms" of_top '.[0].rate_pps | . > 25 and . < 60'
check "in bits" of_top '.[0] | .rate_bps / .rate_pps / 8 | . > 100 and . < 108'
check "the busiest first, the others idle" of_top '.[1:] | all(.rate_pps == 0)'
kill "$ping"
wait "$ping" || :
check "by round-trip time" top rtt
check "the longest first" of_top '[ .[].rtt_ns ] | . == (sort | reverse)'
check "by id" top id
check "the lowest first" of_top '[ .[].id ] == [ 16380, 16381, 16382, 16383 ]'
check_equal "one of them" 16382 "$(on A -j path show 16382 --top count 1 interval 10ms |
	gojq -r '.[].id')"
check_fails "none" 'no path has the id or name "nosuch"' \
	on A path show nosuch --top interval 3600s
check "as a table" grep -qE '^ *16380 A-spine[0-9]-B[^ ]* +up +hA +0\.0 bit/s +0 +[0-9.]+ms ' \
	<<<"$(on A path show 16380 --top count 1 interval 10ms)"

# ---- a spine that drops
fabric_silence spine3 on
check "A: the path over it is down" busywait 60 \
	state_of A "$(path_over A spine3)" 'down (probes-lost)'
check "the view of paths, by loss" top loss
check "says why it is down, and of the others nothing" of_top 'all(.reason ==
	if .name | contains("spine3") then "probes-lost" else "none" end)'
check "A suspects its link" grep -q spine3 <<<"$(on A engine show | grep suspect)"
fabric_silence spine3 off
check "it is used again" busywait 60 usable A 4

# ---- marks are told by path, also if the only SID is in an SRH for the timestamp
mark() {
	tc -n "$(fabric_ns spine4)" qdisc add dev leaf2 clsact
	tc -n "$(fabric_ns spine4)" filter add dev leaf2 egress matchall \
		action pedit ex munge ip6 traffic_class set 3 retain 3
}

# marked SPINE: packets of its path that B says came with a mark
marked() {
	on A -j engine paths |
		gojq "[ .[] | select(.name | contains(\"$1\")) ][0].reflected.path_ce"
}

mark_is_told() {
	[ "$(marked spine4)" -gt 3 ]
}

timestamps() {
	local id

	for id in 16380 16381 16382 16383; do
		on A path change "$id" timestamp "$1"
	done
}

timestamps on
check "A: overhead of an SRH" busywait 60 eval \
	'[ "$(on A -j path show | gojq "[ .[].overhead ] | unique[0]")" = 80 ]'
mark
capture
check "B tells marks of the path over spine4" busywait 60 mark_is_told
check_equal "and of no other" "0 0 0" \
	"$(for m in 1 2 3; do marked spine$m; done | xargs)"
tc -n "$(fabric_ns spine4)" qdisc del dev leaf2 clsact
timestamps off

# ---- other forms, without a restart, in place
ids=$(on A -j path show | gojq -c '[ .[].id ]')
check_equal "all ids are taken" "[16380,16381,16382,16383]" "$ids"
config A '{}' >"$work/A.json"
kill -HUP "${engine[A]}"
check "SIGHUP: full SIDs" patiently 60 changed \
	'[[["fc00:0:21::1","fc00:0:12::1","fc00:0:b::d6"],80],[["fc00:0:22::1","fc00:0:12::1","fc00:0:b::d6"],80],[["fc00:0:23::1","fc00:0:12::1","fc00:0:b::d6"],80],[["fc00:0:24::1","fc00:0:12::1","fc00:0:b::d6"],80]]'
check "up" patiently 60 usable A 4
config A '{ "hops": "top" }' >"$work/A.json"
kill -HUP "${engine[A]}"
check "SIGHUP: the spine alone" patiently 60 changed \
	'[[["fc00:0:21::1","fc00:0:b::d6"],64],[["fc00:0:22::1","fc00:0:b::d6"],64],[["fc00:0:23::1","fc00:0:b::d6"],64],[["fc00:0:24::1","fc00:0:b::d6"],64]]'
check "up" patiently 60 usable A 4
check "probes name every hop as before" hops_are_right A
config A '{ "usid": true, "hops": "top" }' >"$work/A.json"
kill -HUP "${engine[A]}"
check "SIGHUP: both" patiently 60 changed \
	'[[["fcbb:bb00:21:b::"],40],[["fcbb:bb00:22:b::"],40],[["fcbb:bb00:23:b::"],40],[["fcbb:bb00:24:b::"],40]]'
check "up" patiently 60 usable A 4
check_equal "paths keep their ids" "$ids" "$(on A -j path show | gojq -c '[ .[].id ]')"
cp "$work/topology.json" "$work/regular.json"
gojq '(.hosts[] | select(.name == "B")).nics += [ { name: "hB2", leaf: "leaf1",
	rail: 1, rate: "100G", address: "fd00:bb::1", gateway: "fd00:bb::fe" } ]' \
	"$work/regular.json" >"$work/topology.json"
kill -HUP "${engine[A]}"
check "a peer at two leaves: all hops" patiently 60 changed \
	'[[["fcbb:bb00:21:12:b::"],40],[["fcbb:bb00:22:12:b::"],40],[["fcbb:bb00:23:12:b::"],40],[["fcbb:bb00:24:12:b::"],40]]'

# ---- a reload that the module refuses changes nothing
gojq '(.hosts[] | select(.name == "A")).locator = "ff00:a::/48"' \
	"$work/regular.json" >"$work/topology.json"
config A '{}' >"$work/A.json"
kill -HUP "${engine[A]}"
check "A goes back" patiently 60 grep -q 'unicast.*; back to what was' "$work/A.log"
check "to four paths, probed and up" patiently 60 usable A 4
check_equal "they are what they were" \
	'[["fcbb:bb00:21:12:b::"],["fcbb:bb00:22:12:b::"],["fcbb:bb00:23:12:b::"],["fcbb:bb00:24:12:b::"]]' \
	"$(in_module A | gojq -c '[ .[][0] ]')"

# ---- a uSID that the topology has no more
gojq '(.hosts[] | select(.name == "A")) |= del(.usid)' "$work/regular.json" \
	>"$work/topology.json"
config A '{}' >"$work/A.json"
kill -HUP "${engine[A]}"
check "its SID is deleted" patiently 60 eval \
	'[ "$(on A -j sid show | gojq "[ .[] | select(.behavior == \"uDT46\") ] | length")" = 0 ]'
check "up" patiently 60 usable A 4
# A binding SID that somebody gives to a policy of the engine's
on A policy change color 100 endpoint fd00:b::1 bsid fc00:0:a::b6
cp "$work/regular.json" "$work/topology.json"
on A sid add fcbb:bb00:a::/128 behavior uN
config A '{ "usid": true, "hops": "top" }' >"$work/A.json"
kill -HUP "${engine[A]}"
check "a SID of somebody else's there is told" \
	patiently 60 grep -q 'SID fcbb:bb00:a:: is there with another' "$work/A.log"
check "and left alone" patiently 60 usable A 4
for m in 1 2 3; do
	on A endpoint add fd00:77::/64 to fd00:b::1
	sleep 0.5
	on A endpoint del fd00:77::/64
	sleep 0.5
done
check_equal "and told once, however often the engine looks" 1 \
	"$(grep -c 'SID fcbb:bb00:a:: is there with another' "$work/A.log")"
check_equal "so is a binding SID" 1 \
	"$(on A -j sid show | gojq '[ .[] | select(.sid == "fc00:0:a::b6") ] | length')"
check_equal "it is as it was" uN "$(on A -j sid show fcbb:bb00:a::/128 | gojq -r '.[].behavior')"

# ---- functions that change places
own() {
	on A -j sid show | gojq -r --arg sid "$1" '.[] | select(.sid == $sid) | .behavior'
}
gojq '.functions |= (.decap = "::e" | .probe = "::d6")' "$work/regular.json" \
	>"$work/topology.json"
kill -HUP "${engine[A]}"
check "its SIDs follow: packets end where probes did" patiently 60 eval \
	'[ "$(own fc00:0:a::e)" = End.DT46 ]'
check_equal "and the other way round" probe "$(own fc00:0:a::d6)"
cp "$work/regular.json" "$work/topology.json"
kill -HUP "${engine[A]}"
check "and back" patiently 60 eval '[ "$(own fc00:0:a::e)" = probe ]'
check "up" patiently 60 usable A 4

# ---- a new srpold
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "A ends with status 0"
start_engine A
check "a new srpold finds its paths" patiently 60 usable A 4
check_equal "and keeps them" "$ids" "$(on A -j path show | gojq -c '[ .[].id ]')"
capture
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
