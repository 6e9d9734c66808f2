#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Hosts with a NIC on each of four planes, and srpold on each of them: cables and
# NICs that fail, here and at a peer. What is on the other planes stays there, and
# so does what other hosts are sent.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/fabric/planes.sh
. selftests/fabric/planes.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

tool=selftests/vm/tests/e2e_planes.py
flows=128
declare -A receiver=()

address() {
	echo "fd00:0:${1,}::1"
}

config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "probes": { "interval-ms": 50, "multiplier": 5, "timeout-ms": 250,
	              "wait-to-restore-ms": 300 },
	  "weights": { "interval-ms": 400, "feed": "$work/feed-$1.json",
	               "delay-us": 10000000 } }
	END
}

# weights FROM TO
weights() {
	on "$1" -j policy show color 100 | gojq -c --arg to "$2" '.[] |
		select(.name == $to) |
		[ .candidates[0].segment_lists[].weight ]'
}

# weights_are FROM TO WEIGHTS
weights_are() {
	[ "$(weights "$1" "$2")" = "$3" ]
}

# feed HOST TEXT: replaces its feed as a program would
feed() {
	echo "$2" >"$work/feed.new"
	mv "$work/feed.new" "$work/feed-$1.json"
}

# path FROM PLANE TO: its id
path() {
	on "$1" -j engine paths |
		gojq --arg name "$1-plane$2-$3" '.[] | select(.name == $name) | .path'
}

# flow_paths FROM TO: "PORT PATH" of each flow, by port
flow_paths() {
	on "$1" -j flow show dst "$(address "$2")" |
		gojq -r '.[] | select(.sport >= 20000) | "\(.sport) \(.path)"' |
		sort -n
}

# stayed FILE PATH FROM TO: flows that were not on the path have not moved
stayed() {
	[ "$(grep -v " $2\$" "$1")" = \
	  "$(join <(grep -v " $2\$" "$1") <(flow_paths "$3" "$4") |
	     awk '{ print $1, $3 }')" ]
}

# share FROM PLANE TO: how many flows are there
share() {
	flow_paths "$1" "$3" | grep -c " $(path "$1" "$2" "$3")\$" || :
}

arrived() {
	wc -l <"$work/$1.received"
}

# all_arrived HOST N
all_arrived() {
	[ "$(arrived "$1")" -eq "$2" ]
}

# more_arrived HOST N
more_arrived() {
	[ "$(arrived "$1")" -gt "$2" ]
}

# burst FROM TO ROUNDS: of each flow; all of them arrive
burst() {
	local before

	before=$(arrived "$2")
	fabric_exec "host$1" python3 $tool send "$(address "$1")" "$(address "$2")" \
		$flows "$3"
	patiently 20 all_arrived "$2" $((before + flows * $3))
}

# as_told FROM TO: in two rounds each plane gets two datagrams of each flow that is
# on it, as the table of flows says, and nothing else
as_told() {
	local before after m

	before=$(planes_packets "$1" "$2")
	burst "$1" "$2" 2 || return
	after=$(planes_packets "$1" "$2")
	for m in 0 1 2 3; do
		echo $((2 * $(share "$1" $m "$2")))
	done >"$work/told"
	paste <(echo "$before") <(echo "$after") | awk '{ print $2 - $1 }' |
		diff "$work/told" -
}

# down FROM PLANE TO: the path is
down() {
	state_of "$1" "$(path "$@")" ' down'
}

# carrier HOST PLANE 0|1
carrier() {
	[ "$(fabric_exec "host$1" cat "/sys/class/net/u$2/carrier")" = "$3" ]
}

cables() {
	local cable

	for cable in x y; do
		planes_cable "$1" "$2" $cable "$3"
	done
}

# the last datagram of the stream has arrived
stream_is_over() {
	[ "$(tail -n 1 "$work/B.received")" = \
	  "$(tail -n 1 "$work/stream" | cut -d ' ' -f 1)" ]
}

stop_receivers() {
	kill "${receiver[@]}" 2>/dev/null || :
}

unload_planes() {
	local host m

	for host in "${planes_hosts[@]}"; do
		for m in 0 1 2 3; do
			on "$host" dev del u$m 2>/dev/null || :
		done
	done
	unload
}

at_exit fabric_down
modprobe bonding || skip_all "the kernel has no bonding"
planes_up
planes_neighbors
planes_count
insmod kmod/srpol.ko
at_exit unload_planes
at_exit stop_engines
at_exit stop_receivers
planes_topology >"$work/topology.json"
for host in A B C; do
	config $host >"$work/$host.json"
	on $host rule add prio 100 dst fd00::/16 color 100
	on $host config set report-from fd00::/16
	start_engine $host
	: >"$work/$host.received"
	fabric_exec host$host python3 $tool receive "$work/$host.received" &
	receiver[$host]=$!
done
for host in A B C; do
	check "host $host: eight paths, probed and up" patiently 60 usable $host 8
done
check_equal "NICs that are bonds have generic XDP" "generic generic generic generic" \
	"$(on A -j dev show | gojq -r '[ .[].xdp_used ] | join(" ")')"
fabric_exec hostA ip link add bond9 type bond
check_fails "native XDP of a bond is refused" "runs on the devices in it" \
	on A dev add bond9 xdp native
check_equal "all planes weigh the same" "[1,1,1,1] [1,1,1,1] [1,1,1,1]" \
	"$(weights A B) $(weights A C) $(weights B A)"

check "$flows flows to B: each plane has what the table of flows says" as_told A B
check "and to C" as_told A C
flow_paths A B >"$work/A-B"
flow_paths A C >"$work/A-C"
check_equal "that is all flows" "$flows $flows" \
	"$(wc -l <"$work/A-B") $(wc -l <"$work/A-C")"
was=$(share A 3 B)
echo "# flows on plane 3: $was of $flows to B, $(share A 3 C) to C"

# ---- one cable of a NIC here: its driver says so
planes_cable 3 A y down
check "one of two cables of A's NIC on plane 3: to B 2:2:2:1" \
	patiently 30 weights_are A B "[2,2,2,1]"
check_equal "to C as well, and between B and C nothing changes" \
	"[2,2,2,1] [1,1,1,1]" "$(weights A C) $(weights B C)"
check_equal "who says so is shown" "10000000000 device" \
	"$(on A -j engine topology | gojq -r '.[] |
		select(.from == "A" and .to == "plane3") |
		"\(.capacity_bps) \(.capacity_from)"')"
check "the planes have what the table of flows says" as_told A B
check "flows of the other planes did not move" stayed "$work/A-B" "$(path A 3 B)" A B
now=$(share A 3 B)
check "plane 3 has less, $now flows for $was" [ "$now" -lt "$was" ]
check_equal "of 128 buckets an eighth and a half" true \
	"$(on A -j policy show color 100 | gojq '.[0].candidates[0].segment_lists |
		.[3].buckets as $n | $n >= 18 and $n <= 19')"
planes_cable 3 A y up
check "both cables: 1:1:1:1" patiently 30 weights_are A B "[1,1,1,1]"
check "and to C" patiently 30 weights_are A C "[1,1,1,1]"
check "flows are sent" eval 'burst A B 1 && burst A C 1'
check_equal "each is where it was" "$(cat "$work/A-B" "$work/A-C")" \
	"$(flow_paths A B; flow_paths A C)"

# ---- one cable of a peer's NIC: a feed says so
planes_cable 3 B y down
feed A '{ "links": [ { "from": "B", "to": "plane3", "capacity": "10G" } ] }'
check "one of two cables of B's: from A to B 2:2:2:1" \
	patiently 30 weights_are A B "[2,2,2,1]"
check "B sees it without a feed" patiently 30 weights_are B A "[2,2,2,1]"
check_equal "from A to C nothing changes" "[1,1,1,1]" "$(weights A C)"
check "flows are sent to both" eval 'burst A B 1 && burst A C 1'
check_equal "none to C has moved" "$(<"$work/A-C")" "$(flow_paths A C)"
check "none to B of another plane has" stayed "$work/A-B" "$(path A 3 B)" A B
planes_cable 3 B y up
feed A '{ "links": [] }'
check "both cables: 1:1:1:1" patiently 30 weights_are A B "[1,1,1,1]"
check "at B, too" patiently 30 weights_are B A "[1,1,1,1]"

# ---- a NIC without carrier, here and so at a peer
check "flows from B to A" burst B A 1
flow_paths B A >"$work/B-A"
: >"$work/B.received"
fabric_exec hostA python3 $tool stream "$(address A)" "$(address B)" $flows \
	"$work/stream" &
stream=$!
check "a stream over all planes" patiently 20 more_arrived B 200
cables 3 A down
check "no carrier on plane 3: the path is down" patiently 20 down A 3 B
check "to C, too" patiently 20 down A 3 C
at=$(arrived B)
check "the stream goes on" patiently 20 more_arrived B $((at + 200))
: >"$work/stream.end"
wait $stream
check "to its end" patiently 20 stream_is_over
read -r lost span <<<"$(python3 $tool lost "$work/stream" "$work/B.received")"
echo "# lost of the stream: $lost datagrams within $span ms"
# By the carrier there is hardly one. If five probes had to find it there would be thirty:
# there is hardly one a millisecond, of which plane 3 has a fifth.
check "and hardly one of it was lost" [ "$lost" -le 15 ]
before=$(planes_packets A B | tail -n 1)
check "then nothing is lost" burst A B 3
check_equal "nothing more takes plane 3" "$before" \
	"$(planes_packets A B | tail -n 1)"
check "flows of the other planes did not move" stayed "$work/A-B" "$(path A 3 B)" A B
check_equal "weights are what they were" "[1,1,1,1]" "$(weights A B)"

fabric_exec hostB python3 $tool send "$(address B)" "$(address A)" $flows 1
check "B is told by the switch: its path to A is down" patiently 20 down B 3 A
check "its path to C is up" state_of B "$(path B 3 C)" ' up'
feed B '{ "links": [ { "from": "A", "to": "plane3", "state": "down" } ] }'
check "and by a feed: to A 1:1:1:0" patiently 30 weights_are B A "[1,1,1,0]"
check_equal "to C nothing changes" "[1,1,1,1]" "$(weights B C)"
check "then nothing from B is lost" burst B A 3
check "its flows on the other planes did not move" \
	stayed "$work/B-A" "$(path B 3 A)" B A

cables 3 A up
feed B '{ "links": [] }'
check "carrier again: all paths of A are up" patiently 60 usable A 8
check "and all of B" patiently 60 usable B 8
check "1:1:1:1" patiently 30 weights_are B A "[1,1,1,1]"
check "flows are sent" eval 'burst A B 1 && burst B A 1'
check_equal "each is where it was" "$(cat "$work/A-B" "$work/B-A")" \
	"$(flow_paths A B; flow_paths B A)"

# ---- the first NIC, which has the address that others send to
cables 0 A down
feed B '{ "links": [ { "from": "A", "to": "plane0", "state": "down" } ] }'
check "no carrier on plane 0: the path is down" patiently 20 down A 0 B
check "B has it from a feed" patiently 30 weights_are B A "[0,1,1,1]"
check "nothing from A is lost" burst A B 1
check "nor to A's address on plane 0" burst B A 1
check "flows of the other planes did not move" stayed "$work/A-B" "$(path A 0 B)" A B
cables 0 A up
check "carrier again: all paths of A are up" patiently 60 usable A 8
check "flows are sent" burst A B 1
check_equal "each is where it was" "$(<"$work/A-B")" "$(flow_paths A B)"

for host in A B C; do
	kill "${engine[$host]}"
	wait "${engine[$host]}" || not_ok "it ends with status 0"
done
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
