#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Weights of srpold's policies: what a feed or an operator says a link can
# carry, and a link that loses one packet in a hundred. Paths stay up all the
# while: that is not failure.
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

# by which everybody may say what he will send
demands=$(mktemp -u /tmp/demands.XXXXXX)

# announce REQUEST: as a user without privileges; prints the answer
announce() {
	setpriv --reuid 65534 --clear-groups python3 - "$1" <<-END
	import socket, sys
	engine = socket.socket(socket.AF_UNIX)
	engine.connect("$demands")
	text = sys.argv[1].replace("\n", " ")
	engine.sendall(f'{{"version": 1, {text}}}\n'.encode())
	print(engine.makefile().readline(), end="")
	END
}

# $1: of weights, what differs
config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "A" ],
	  "probes": { "interval-ms": 5, "multiplier": 5, "timeout-ms": 200,
	              "wait-to-restore-ms": 300 },
	  "demands": "$demands",
	  "weights": { "interval-ms": 400, "feed": "$work/feed/feed.json",
	               "delay-us": 5000$1 } }
	END
}

weights() {
	on A -j policy show color 100 |
		gojq -c '[ .[0].candidates[0].segment_lists[].weight ]'
}

weights_are() {
	[ "$(weights)" = "$1" ]
}

# feed TEXT: replaces the feed as a program would
feed() {
	mkdir -p "$work/feed"
	echo "$1" >"$work/feed/feed.new"
	mv "$work/feed/feed.new" "$work/feed/feed.json"
}

# link SPINE KEY: what the engine knows of leaf1's link to it
link() {
	on A -j engine topology |
		gojq -r ".[] | select(.from == \"leaf1\" and .to == \"$1\") | .$2"
}

# named SPINE WORD: a link of it, and of no other one, works badly
named() {
	on A -j engine show | gojq -e --arg spine "$1" --arg word "$2" '
		[ .degraded[] | select(.now == $word) | .link ] |
		length > 0 and all(contains($spine))' >/dev/null
}

# lowered N: the N-th path has less than half of the first one's buckets
lowered() {
	buckets A | gojq -e ".[$1] * 2 < .[0]" >/dev/null
}

# raised N FROM: the N-th path has more buckets than FROM
raised() {
	buckets A | gojq -e ".[$1] > $2" >/dev/null
}

# flows: of host A, "PORT PATH" by source port
flows() {
	on A -j flow show dst fd00:b::1 |
		gojq -r '.[] | select(.sport >= 20000) | "\(.sport) \(.path)"' |
		sort -n
}

# send N: a datagram of each of N flows
send() {
	fabric_exec hostA python3 - "$1" <<-'END'
	import socket, sys
	for port in range(20000, 20000 + int(sys.argv[1])):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.bind(("fd00:a::1", port))
	    s.sendto(b"x", ("fd00:b::1", 9))
	END
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
fabric_topology >"$work/topology.json"
config "" >"$work/A.json"

for key in '"algorithm": "best"' '"intervall-ms": 5' '"peers": { "C": "glb" }' \
	   '"peers": { "B": "glbb" }' '"loss-ppm": 0'; do
	config ", $key" >"$work/bad.json"
	check_fails "refused: $key" "weights|algorithm|host \"C\"|loss-ppm" \
		srpold --check-config -c "$work/bad.json"
done
feed '{ "links": [ { "from": "leaf1", "to": "leaf2", "capacity": "1G" } ] }'
check_fails "a feed that is wrong is told" 'links\[0\]: no link' \
	srpold --check-config -c "$work/A.json"
rm -r "$work/feed"

on A rule add prio 100 dst fd00:b::/64 color 100
start_engine A
check "host A: four paths, probed and up" patiently 60 usable A 4
check_equal "all weigh the same" "[1,1,1,1]" "$(weights)"

# ---- what somebody says
send 64
check_equal "64 flows" 64 "$(flows | wc -l)"
flows >"$work/before"
p4=$(path_over A spine4)
generation=$(on A -j config show | gojq '.[0].generation')
check "an operator: half of a plane" \
	on A engine link set leaf1 spine4 capacity 50G
check "weights are 2:2:2:1" busywait 30 weights_are "[2,2,2,1]"
check_equal "that was one change" $((generation + 1)) \
	"$(on A -j config show | gojq '.[0].generation')"
check_equal "who says so is shown" "50000000000 operator" \
	"$(link spine4 capacity_bps) $(link spine4 capacity_from)"
send 64
check_equal "flows of the other planes did not move" \
	"$(grep -v " $p4\$" "$work/before")" \
	"$(join <(grep -v " $p4\$" "$work/before") <(flows) |
		awk '{ print $1, $3 }')"
check "some of the plane's did" [ "$(flows | grep -c " $p4\$")" -lt \
	"$(grep -c " $p4\$" "$work/before")" ]
on A engine why B >"$work/why"
for line in "demand A rail 0 to B rail 0" "algorithm wecmp (FARE" \
	    "weight 1 buckets 1[89] up narrowest leaf1-spine4 50000000000bit/s from operator" \
	    "if leaf1-spine4 were as good as new: weights 1:1:1:1" \
	    "if leaf1-spine1 were down: weights 0:2:2:1" "flow dst fd00:b::1"; do
	check "why: $line" grep -q "$line" "$work/why"
done
check_fails "why for nobody" "no NIC of a peer" on A engine why fd00:c::1
check_fails "why for a QP that nobody sends to" "no flow to QP" \
	on A engine why qp 17

# ---- what applications say
check "a user says what he will send" grep -q '"demands":2' <<<"$(announce \
	'"request": "demands", "owner": "job", "demands": [
	 {"src": "A", "dst": "fd00:b::1", "bytes": 3000},
	 {"src": "B", "dst": "A", "bytes": 5, "for-ms": 3600000, "in-ms": 10}]')"
check_equal "it is kept with who said it" '["job",65534,3000,"fd00:b::1",100]' \
	"$(on A -j engine demand show |
		gojq -c '.[0] | [ .owner, .uid, .bytes, .dst, .color ]')"
check "and part of why" grep -q "announced 3000 bytes" <<<"$(on A engine why B)"
check "all else is not for him" grep -q '"link\\" is unknown' <<<"$(announce \
	'"request": "link", "from": "leaf1", "to": "spine4", "capacity": "1G"')"
for demand in '"src": "A", "dst": "C", "bytes": 1' \
	      '"src": "A", "dst": "B", "bytes": 0' \
	      '"src": "A", "dst": "B", "bytes": 9007199254740992' \
	      '"src": "A", "dst": "B", "bytes": -1' \
	      '"src": "A", "dst": "B", "bytes": 1e300' \
	      '"src": "A", "dst": "B", "bytes": 1, "for-ms": 9223372036854775807' \
	      '"src": "A", "dst": "B", "bytes": 1, "for": 1' \
	      '"src": "A", "dst": "B", "bytes": 1, "job": "nobody"' \
	      '"src": "A", "dst": 5, "bytes": 1'; do
	check "refused: $demand" grep -q 'error":"demands\[1\]: .*' <<<"$(announce \
		'"request": "demands", "owner": "job", "demands": [
		 {"src": "A", "dst": "B", "bytes": 7}, {'"$demand"'}]')"
done
for number in NaN 1e999 9223372036854775808; do
	check "no JSON: $number" grep -q 'error":"a request is' <<<"$(announce \
		'"request": "demands", "owner": "job", "demands": [
		 {"src": "A", "dst": "B", "bytes": '"$number"'}]')"
done
check "neither is what is as deep as a well" grep -q 'error":"a request is' <<<"$(announce \
	'"request": "demands", "owner": "job", "demands": '"$(
	printf '[%.0s' {1..50000}; printf ']%.0s' {1..50000})")"
check_equal "what was refused changed nothing" "2 9" "$(on A -j engine show |
	gojq -r '"\(.demands) \(.demands_refused)"')"
check "the command" on A engine demand add mine src A dst B bytes 10 in 1s for 3600s
check_fails "what it refuses" 'no host or address "C"' \
	on A engine demand add mine src A dst C bytes 10
check "taken back" on A engine demand del mine
check_equal "by its owner only" 2 "$(on A -j engine demand show | gojq length)"
check "and by the user" grep -q '"demands":0' <<<"$(announce \
	'"request": "demands", "owner": "job", "demands": []')"
check "one who talks all the time is let go" setpriv --reuid 65534 \
	--clear-groups python3 - <<-END
	import socket
	engine = socket.socket(socket.AF_UNIX)
	engine.connect("$demands")
	try:
	    for n in range(1000):
	        engine.sendall(b'{"version": 1, "request": "nothing"}\n')
	    engine.settimeout(20)
	    while engine.recv(65536):
	        pass
	except (BrokenPipeError, ConnectionResetError):
	    pass
	END
check_equal "and counted" 1 "$(on A -j engine show | gojq .clients_dropped)"
check "reset" on A engine link reset leaf1 spine4
check "weights are what they were" busywait 30 weights_are "[1,1,1,1]"
send 64
check_equal "and so are the flows" "$(<"$work/before")" "$(flows)"
check_fails "a link that is none" "no link" \
	on A engine link set leaf1 leaf2 capacity 50G
check_fails "a rate that is none" "no rate" \
	on A engine link set leaf1 spine4 capacity fast

feed '{ "links": [ { "from": "spine4", "to": "leaf2", "capacity": "50G" },
	{ "from": "leaf1", "to": "spine2", "state": "down" } ] }'
check "the feed, whose folder was not there: one plane halved, one gone" \
	busywait 30 weights_are "[2,0,2,1]"
feed '{ "links": [ { "from": "spine4", "to": "spine5", "capacity": "50G" } ] }'
check "a wrong one changes nothing and is told" busywait 30 \
	grep -q 'no node "spine5"; what was in force stays' "$work/A.log"
check_equal "weights stay" "[2,0,2,1]" "$(weights)"
kill -HUP "${engine[A]}"
feed '{ "links": [] }'
check "an empty one: as the topology says" \
	busywait 30 weights_are "[1,1,1,1]"
rm -r "$work/feed"
check "a folder that is gone is told" busywait 30 grep -q \
	'feed.json: its folder: No such file or directory; what was in force stays' "$work/A.log"
feed '{ "links": [ { "from": "spine4", "to": "leaf2", "capacity": "50G" } ] }'
check "the feed in a folder that was made again" busywait 30 weights_are "[2,2,2,1]"
feed '{ "links": [] }'
check "and again" busywait 30 weights_are "[1,1,1,1]"
check "after the reload it probes on" busywait 60 usable A 4

# ---- a link that loses one packet in a hundred
ns=$(fabric_ns spine3)
tc -n "$ns" qdisc add dev leaf1 clsact
tc -n "$ns" filter add dev leaf1 ingress matchall \
	action pass random determ drop 100
check "one packet in a hundred is lost: the link is named" \
	patiently 60 named spine3 loss
check "its path is used less" patiently 60 lowered 2
check "the path is up" state_of A "$(path_over A spine3)" ' up'
check_equal "all four are" 4 "$(on A -j engine show | gojq .paths_usable)"
check "the log says so" grep -qE 'link .*spine3.*: loss, used at' \
	"$work/A.log"
tc -n "$ns" qdisc del dev leaf1 clsact
least=$(buckets A | gojq '.[2]')
check "it loses no more: it is used more again" \
	patiently 60 raised 2 "$least"
check_equal "no other link was blamed" "" \
	"$(grep ': loss' "$work/A.log" | grep -v spine3 || :)"

kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
