#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What srpol-fabricd predicts with "plan what-if link-down" beside what then
# happens: a job sends so much from A to B over four spines with links of random
# rates (TBF), on the real data plane. For each cut: how long the job is to take
# with the plan in force, where hosts leave what is down ("local"), and with the
# plan that would follow ("planned"). Then a spine is cut and all of it sent,
# first with the former's weights, then with those of the plan that the engine
# really made. The queues hold everything, so nothing is lost, and what there is
# to see is which part waits where.
#
# Two times are compared: the one that the busiest link needs for the bytes that
# its spine counted, within 5 % in any case, and the one from the first packet
# that arrives at B to the last, which is told: on a busy machine the first ones
# come late.
#
# SRPOL_CUTS: how many cuts (default 2; "make long-whatif" has 20)
# SRPOL_PACKETS: how much is sent (default 8000, 2 s; there it is 48000)
# SRPOL_SEED: of rates and cuts
# SRPOL_TIMEOUT=300

set -euo pipefail

cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}
bpf=$BUILD/selftests/bpf/tools
tools=$BUILD/selftests/sim/tools
cuts=${SRPOL_CUTS:-2}
RANDOM=${SRPOL_SEED:-20261122}

# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/sim/slow_fabric.sh
. selftests/sim/slow_fabric.sh

SLOW_FABRIC_BURST=5kb
SLOW_FABRIC_QUEUE=100mb
slow_fabric_up

packets=${SRPOL_PACKETS:-8000}
fabricd=
stop_fabricd() {
	[ -n "$fabricd" ] || return 0
	kill "$fabricd" 2>/dev/null || :
	wait "$fabricd" 2>/dev/null || :
	fabricd=
}
at_exit stop_fabricd

fabric() {
	"$BUILD/bin/srpol" -j fabric "$@" socket "$work/control.sock"
}

# put KEY VALUE: into the embedded store, as a host or a scheduler would
put() {
	gojq -nc --arg key "/srpol/$1" --arg value "$2" \
		'{ id: 1, op: "txn", compare: [], put: [ [ $key, $value, 0 ] ] }' |
		socat -t 60 - "unix:$work/store.sock" | gojq -e .succeeded >/dev/null
}

leads() {
	fabric show 2>/dev/null | gojq -e .leads >/dev/null
}

weights() {
	fabric plan from leaf1 2>/dev/null | gojq -c '.pairs[0].weights'
}

# start_engine RATE...: one for a topology with these rates, and a job of $bytes
start_engine() {
	stop_fabricd
	rm -f "$work"/store.*
	slow_fabric_topology "$@" >"$work/topology.json"
	cat >"$work/fabricd.json" <<-END
	{ "name": "engine", "topology": "$work/topology.json",
	  "file": "$work/store.json", "socket": "$work/control.sock",
	  "settle-ms": 5, "store": { "socket": "$work/store.sock" } }
	END
	"$BUILD/bin/srpol-fabricd" -c "$work/fabricd.json" 2>"$work/fabricd.log" &
	fabricd=$!
	busywait 30 leads || return
	put job/t/x '{ "demands": [ { "src": "A", "dst": "B", "bytes": '"$bytes"' } ] }'
	busywait 30 planned
}

planned() {
	[ "$(weights)" != null ] && [ -n "$(weights)" ]
}

# planned_without SPINE: the plan in force has nothing for it
planned_without() {
	weights | gojq -e ".[$1 - 1] == 0" >/dev/null 2>&1
}

backlog() {
	ip netns exec "$(fabric_ns leaf1)" tc -s -j qdisc show |
		gojq '[ .[] | select(.kind == "tbf") | .backlog ] | add'
}

# has_passed PACKETS: so many have come to spines since "$work/before_packets"
has_passed() {
	[ "$(backlog)" = 0 ] &&
		fabric_spine_packets | paste -d ' ' "$work/before_packets" - |
		awk -v want="$1" '{ n += $5 - $2 } END { exit n < want }'
}

mark() {
	fabric_spine_packets >"$work/before_packets"
	fabric_spine_bytes >"$work/before"
}

# send WEIGHTS RATE...: all of it; sets busy, what the busiest link needs for
# what its spine counted, and wall, from the first arrival at B to the last
send() {
	local weights=$1 watcher
	shift

	slow_fabric_steer -m spray -w "$weights"
	mark
	# not fabric_exec: $! has to be the program itself
	ip netns exec "$(fabric_ns hostB)" selftests/sim/arrivals.py hB \
		>"$work/arrivals" &
	watcher=$!
	busywait 30 grep -q ready "$work/arrivals" || return
	fabric_exec hostA "$tools/shares" -c $packets -r 2000 -o fd00:b::1
	busywait 120 has_passed "$packets" || return
	kill $watcher
	wait $watcher || return
	wall=$(tail -n 1 "$work/arrivals")
	fabric_spine_bytes >"$work/after"
	busy=$(paste -d ' ' "$work/before" "$work/after" |
		awk -v rates="$*" '{ split(rates, r, " ")
			s = ($5 - $2) * 8 / (r[$1] * 1e6)
			if (s > worst) worst = s } END { print worst }')
}

# off A B: by so many percent
off() {
	awk "BEGIN { d = ($1 / $2 - 1) * 100; printf \"%.2f\", d < 0 ? -d : d }"
}

worst=0
worst_wall=0

# compare NAME PREDICTED
compare() {
	local d w

	d=$(off "$busy" "$2")
	w=$(off "$wall" "$2")
	echo "# $1: predicted $2 s, links busy for $busy s ($d %), arrived within $wall s ($w %)"
	check "$1: within 5 %" awk "BEGIN { exit !($d <= 5) }"
	worst=$(awk "BEGIN { print ($d > $worst) ? $d : $worst }")
	worst_wall=$(awk "BEGIN { print ($w > $worst_wall) ? $w : $worst_wall }")
}

# without WEIGHTS SPINE: as hosts have them when they leave a path
without() {
	gojq -r ".[$2 - 1] = 0 | join(\",\")" <<<"$1"
}

# what a packet of the sender is on the wire
slow_fabric_limit 1000 1000 1000 1000
slow_fabric_topology 1000 1000 1000 1000 >"$work/topology.json"
slow_fabric_steer -m spray -w 1,1,1,1
mark
fabric_exec hostA "$tools/shares" -c 1000 -r 100 fd00:b::1
busywait 30 has_passed 1000
fabric_spine_bytes >"$work/after"
size=$(paste -d ' ' "$work/before" "$work/after" |
	awk '{ n += $5 - $2 } END { printf "%d", n / 1000 }')
bytes=$((size * packets))
echo "# $packets packets of $size bytes"

for ((cut = 1; cut <= cuts; cut++)); do
	rates=()
	for spine in 1 2 3 4; do
		rates+=($((4 + RANDOM % 5)))
	done
	dead=$((1 + RANDOM % 4))
	leaf=$((1 + RANDOM % 2))
	slow_fabric_limit "${rates[@]}"
	if ! start_engine "${rates[@]}"; then
		not_ok "cut $cut: the engine plans" "$(tail -n 3 "$work/fabricd.log")"
		break
	fi
	before=$(weights)
	fabric plan what-if link-down leaf$leaf spine$dead >"$work/what_if"
	put link/0/leaf1/A '{ "number": 1, "links": [ { "from": "leaf'$leaf'",
		"to": "spine'$dead'", "capacity": 0 } ] }'
	check "cut $cut, leaf$leaf-spine$dead of ${rates[*]} Mbit/s: the engine plans without it" \
		busywait 30 planned_without $dead
	fabric_cut_spine $dead
	send "$(without "$before" $dead)" "${rates[@]}"
	compare "cut $cut, hosts alone" "$(gojq '.local_s' "$work/what_if")"
	send "$(weights | gojq -r 'join(",")')" "${rates[@]}"
	compare "cut $cut, the next plan" "$(gojq '.planned_s' "$work/what_if")"
	fabric_restore_spine $dead
	fabric_neighbors
done
echo "# $cuts cuts: off by $worst % at most, by the clock $worst_wall %"
