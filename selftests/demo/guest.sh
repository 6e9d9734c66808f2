#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo, inside the guest. Leaves in $SRPOL_OUT what report.py needs:
#
#	samples		what sampler.py saw
#	marks		lines "TIME TEXT", for the chart
#	commands	the srpol commands, as typed
#	events		srpol monitor
#	results		lines "NAME=VALUE"
#
# Exits 0 only when everything it claims was seen.

set -euo pipefail

cd "$(dirname "$0")/../.."
. selftests/ktap.sh >/dev/null
. selftests/fabric/fabric.sh
. selftests/fabric/rdma.sh

out=$SRPOL_OUT
qps=64
size=65536
iterations=${SRPOL_DEMO_ITERATIONS:-40}
dead=3
cuts=${SRPOL_DEMO_CUTS:-3}
bold=$'\e[1m' plain=$'\e[0m'

say() {
	printf '\n%s== %s%s\n' "$bold" "$*" "$plain"
}

mark() {
	echo "$EPOCHREALTIME $*" >>"$out/marks"
}

result() {
	echo "$1=$2" >>"$out/results"
}

# Run an srpol command as the user would type it.
run() {
	echo "  \$ $*"
	echo "$*" >>"$out/commands"
	"$@"
}

fail() {
	echo "DEMO FAILED: $*" >&2
	exit 1
}

# per_spine BEFORE AFTER: packets or bytes from A that each spine got in between
per_spine() {
	paste -d ' ' <(echo "$1") <(echo "$2") | awk '{ print $5 - $2 }'
}

spread() {
	sort -n | awk '{ v[NR] = $1 } END {
		printf "%.1f", v[1] ? (v[NR] - v[1]) * 100 / v[1] : 999 }'
}

samplers=()
stop() {
	local pid

	for pid in "${samplers[@]}"; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	samplers=()
}

# whatever of it is there
unload() {
	[ -d /sys/module/srpol ] || return 0
	srpol dev del hA 2>/dev/null || :
	srpol dev del hB 2>/dev/null || :
	rmmod srpol
}

configure() {
	local i

	run srpol dev add hA role uplink
	run srpol dev add hB role uplink
	echo "  # host B and host A end SRv6 at these SIDs"
	run srpol sid add fc00:0:b::d6 behavior End.DT46
	run srpol sid add fc00:0:a::d6 behavior End.DT46
	echo "  # a path over each spine, there and back"
	for i in 1 2 3 4; do
		run srpol path add "$i" segs "fc00:0:2$i::1,fc00:0:12::1,fc00:0:b::d6" dev hA via fd00:a::fe name "A-spine$i-B"
	done
	for i in 1 2 3 4; do
		run srpol path add "1$i" segs "fc00:0:2$i::1,fc00:0:11::1,fc00:0:a::d6" dev hB via fd00:b::fe name "B-spine$i-A"
	done
	echo "  # a policy for each host: all four spines, equal weights"
	run srpol policy add color 100 endpoint fd00:b::1 name to-B candidate preference 100 segment-list 1 segment-list 2 segment-list 3 segment-list 4
	run srpol policy add color 100 endpoint fd00:a::1 name to-A candidate preference 100 segment-list 11 segment-list 12 segment-list 13 segment-list 14
	run srpol endpoint add fd00:b::/64 to fd00:b::1
	run srpol endpoint add fd00:a::/64 to fd00:a::1
	echo "  # routers of the fabric are believed when they have no way on for a path,"
	echo "  # which is tried again after a minute"
	run srpol config set report-from fc00::/7 retry-interval 60000
	echo "  # steer RoCEv2 and nothing else"
	run srpol rule add prio 1000 name roce proto udp dport 4791 color 100
}

paths_up() {
	[ "$(srpol -j path show | grep -o '"state":"up"' | wc -l)" -ge 8 ]
}

path_up() {
	srpol -j path show "$1" | grep -q '"state":"up"'
}

transfer() {
	local log=$1
	shift

	echo "  host A \$ ib_write_bw -d rxeA $* hostB"
	# it polls for completions without end, on both hosts: only when there
	# is nothing else to do, or nothing else is done in the guest
	(
		chrt -i -p 0 $BASHPID
		rdma_bw "$out/$log" ib_write_bw 18515 6 "$@"
	) || {
		tail -n 5 "$out/$log".* >&2
		fail "ib_write_bw did not complete"
	}
	awk '/^ [0-9]/ { printf "  %s QPs done, %.0f MB/s\n", q, $4 }' \
		q="$(sed -n 's/.*Number of qps *: *\([0-9]*\).*/\1/p' "$out/$log.client" | head -n 1)" \
		"$out/$log.client"
}

# sent_again PATH: packets that its flows repeated. On a busy machine the ring of a
# veth overflows now and then, and rxe goes back to what was lost.
sent_again() {
	srpol -j flow show path "$1" | gojq '[ .[].retransmits ] | add // 0'
}

phase_spread() {
	local before after got again=() once=() i

	say "1. $qps QPs of an unmodified ib_write_bw, spread over four spines"
	before=$(fabric_spine_packets)
	mark "spread"
	transfer spread -q $qps -s $size -n "$iterations"
	after=$(fabric_spine_packets)
	mapfile -t got < <(per_spine "$before" "$after")
	for i in 0 1 2 3; do
		again[i]=$(sent_again $((i + 1)))
		once[i]=$((got[i] - again[i]))
	done
	echo "  packets from A by spine: ${got[*]}, of these sent again: ${again[*]}"
	result spread_packets "${got[*]}"
	result spread_percent "$(printf '%s\n' "${once[@]}" | spread)"
	awk -v s="$(printf '%s\n' "${once[@]}" | spread)" 'BEGIN { exit s > 25 }' ||
		fail "spines are not within 25 % of each other"
}

# The destination QPs of a transfer, in order, are host B's.
last_qp() {
	sed -n 's/.*local address.*QPN 0x\([0-9a-f]*\).*/\1/p' "$1.server" |
		tail -n 1
}

phase_pinned() {
	local first i qp before after got total were=() once=()

	say "2. QPs pinned to spines by destination QP"
	first=$((16#$(last_qp "$out/spread") + 1))
	for i in 1 2 3 4; do
		run srpol policy add color 20$i endpoint fd00:b::1 name only-spine$i candidate segment-list $i
	done
	# 1, 2, 5 and 8 QPs of the next 16, so that the shares tell them apart
	qp=$first
	for i in "1 1" "2 2" "3 5" "4 8"; do
		run srpol rule add prio 10"${i% *}" dst fd00:b::/64 qp $qp-$((qp + ${i#* } - 1)) color 20"${i% *}"
		qp=$((qp + ${i#* }))
	done
	for i in 1 2 3 4; do
		were+=("$(sent_again $i)")
	done
	before=$(fabric_spine_packets)
	mark "pinned 1:2:5:8"
	transfer pinned -q 16 -s $size -n "$iterations"
	after=$(fabric_spine_packets)
	mapfile -t got < <(per_spine "$before" "$after")
	total=$((got[0] + got[1] + got[2] + got[3]))
	echo "  packets from A by spine: ${got[*]} of $total, asked for 1:2:5:8"
	result pinned_packets "${got[*]}"
	run srpol -s rule show | sed 's/^/    /'
	for i in 0 1 2 3; do
		once[i]=$((got[i] - $(sent_again $((i + 1))) + were[i]))
	done
	echo "  without those sent again: ${once[*]}"
	# ACKs of the way back are not pinned, so allow a little
	awk -v g="${once[*]}" 'BEGIN {
		split(g, p, " "); split("1 2 5 8", w, " ")
		t = p[1] + p[2] + p[3] + p[4]
		for (i = 1; i <= 4; i++) {
			d = p[i] / t - w[i] / 16
			if (d > 0.03 || d < -0.03) exit 1
		} }' || fail "QPs did not keep to their spines"
	for i in 1 2 3 4; do
		run srpol rule del prio 10$i
		run srpol policy del color 20$i endpoint fd00:b::1
	done
}

# While the guest is busy every new process takes a second or so: what waits
# for things to happen under load does without.

# seen SPINE: set $packets to what it has received, by the last sample
seen() {
	local samples

	mapfile -t samples <"$out/samples"
	# shellcheck disable=SC2206
	samples=(${samples[-1]})
	packets=${samples[$1]}
}

seen_more() {
	seen "$1"
	[ "$packets" -gt "$2" ]
}

# await SECONDS COMMAND...: as busywait
await() {
	local end=$((SECONDS + $1))
	shift

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		read -rt 0.1 -u 9 || :
	done
}

# The hand that pulls the cables is there before they are pulled, and goes
# first: to start a process takes seconds while the guest is busy.
arm_cutter() {
	local n

	for n in 1 2; do
		rm -f "/tmp/leaf$n.cut"
		mkfifo "/tmp/leaf$n.cut"
		chrt -f 50 ip -n "$(fabric_ns leaf$n)" -batch - \
			<"/tmp/leaf$n.cut" &
		samplers+=($!)
	done
	exec 7>/tmp/leaf1.cut 8>/tmp/leaf2.cut
}

# downs N: was the path reported down N times?
downs() {
	[ "$(grep -c "A-spine$dead-B down" "$out/events")" -ge "$1" ]
}

# cut N: for the Nth time, with a capture of its own
cut_spine() {
	local n=$1 dumps file fd start packets

	# What leaves host A, up to and with the BTH, and what reaches the spine.
	# They must keep up: what they have not read when they end is lost.
	chrt -f 10 tcpdump --immediate-mode -q -p -i hA -Q out -s 160 -B 16384 \
		-w /tmp/hostA.pcap ip6 2>"$out/tcpdump.hostA" &
	dumps=($!)
	# not fabric_exec: $! has to be tcpdump itself
	ip netns exec "$(fabric_ns spine$dead)" chrt -f 10 \
		tcpdump --immediate-mode -q -p -i leaf1 -Q in -s 60 \
		-w /tmp/spine.pcap ip6 2>"$out/tcpdump.spine" &
	dumps+=($!)
	samplers+=("${dumps[@]}")
	for file in hostA spine; do
		busywait 30 grep -q listening "$out/tcpdump.$file" ||
			fail "tcpdump did not start"
	done
	arm_cutter
	seen $dead
	await 60 seen_more $dead $((packets + 300)) ||
		fail "no load on spine$dead"

	echo "  leaf1 \$ ip -6 route del fc00:0:2$dead::/48; ip link set spine$dead down"
	# A switch takes the routes of a dead port out in a moment. Linux first
	# waits for grace periods, in which the port passes neither packets
	# nor errors, and these take long under emulation: so route first.
	for fd in 7 8; do
		echo "route del fc00:0:2$dead::/48" >&$fd
	done
	fabric_cut_spine $dead
	mark "cut $n"
	await 20 downs "$n" || fail "the path was not taken down"
	# a second of traffic after it
	seen 1
	await 30 seen_more 1 $((packets + 400)) || fail "traffic stopped"
	exec 7>&- 8>&-
	kill "${dumps[@]}"
	wait "${dumps[@]}" || :
	cp /tmp/hostA.pcap "$out/hostA.$n.pcap"
	cp /tmp/spine.pcap "$out/spine.$n.pcap"
}

restore_spine() {
	fabric_restore_spine $dead
	mark "back"
	run srpol path change $dead admin up
	run srpol path change 1$dead admin up
	busywait 20 path_up $dead || fail "the path did not come back"
}

phase_failure() {
	local load n start packets

	say "3. spine$dead dies under load, $cuts times"
	mark "load"
	seen $dead
	start=$packets
	# At a given rate, and the QPs take turns: at full speed one would see
	# how long an emulated kernel without idle time takes to get around to
	# things.
	transfer failure -q 32 -s 4096 -t 1 -n $((16 * cuts * iterations)) \
		--rate_limit=0.04 --rate_units=g --rate_limit_type=SW \
		--burst_size=1 &
	load=$!
	await 60 seen_more $dead $((start + 200)) ||
		fail "no load on spine$dead"
	for ((n = 1; n <= cuts; n++)); do
		cut_spine $n
		[ $n -lt "$cuts" ] || break
		echo "  spine$dead returns, for the next time"
		restore_spine
	done
	wait $load || fail "the transfer did not survive"
	echo "  transfer completed, no QP error"
	grep "spine$dead" "$out/events" | head -n 4 | sed 's/^/    /'
}

phase_return() {
	local start packets

	say "4. spine$dead returns"
	echo "  # it would be tried again by itself; no need to wait for that"
	restore_spine
	seen $dead
	start=$packets
	transfer return -q $qps -s $size -n $((iterations / 2))
	await 5 seen_more $dead $((start + 500)) ||
		fail "no traffic on spine$dead"
	echo "  spine$dead carries traffic again"
}

# engine_paths N: so many paths answer their probes
engine_paths() {
	[ "$(srpol -j engine paths 2>/dev/null | gojq '[ .[] |
		select(.probed and .state == "up" and .received > 2) ] |
		length')" = "$1" ]
}

silent_down() {
	srpol path show A-spine2-B | grep -q 'down (probes-lost)'
}

# One srpold that has both hosts, as both are in this namespace.
phase_engine() {
	local load start packets

	say "5. The same from a topology file alone: srpold, the local SR engine"
	echo "  # all that was typed above goes; the uplinks stay"
	run srpol replace empty -f /dev/null
	fabric_topology >"$out/topology.json"
	echo '{ "topology": "'"$out"'/topology.json", "hosts": [ "A", "B" ],
	  "probes": { "interval-ms": 20, "multiplier": 3, "timeout-ms": 20,
	              "wait-to-restore-ms": 500 },
	  "weights": { "delay-us": 100000 },
	  "fabric": { "folder": "/tmp", "damp-ms": 500, "load-ms": 1000,
	              "store": { "socket": "/tmp/store.sock" } } }' >"$out/srpold.json"
	echo "  \$ srpold -c srpold.json &"
	srpold -c "$out/srpold.json" 2>"$out/srpold.log" &
	samplers+=($!)
	await 60 engine_paths 8 ||
		fail "srpold did not bring up its paths: $(cat "$out/srpold.log")"
	run srpol engine show | sed 's/^/    /'
	mark "srpold"
	transfer engine -q 32 -s 4096 -t 1 -n $((10 * iterations)) \
		--rate_limit=0.04 --rate_units=g --rate_limit_type=SW \
		--burst_size=1 &
	load=$!
	seen 2
	start=$packets
	await 60 seen_more 2 $((start + 200)) || fail "no load on spine2"
	echo "  spine2 \$ tc filter add dev leaf1 ingress matchall action drop"
	echo "  # carrier stays, no switch says a word"
	fabric_silence spine2 on
	mark "silent"
	await 20 silent_down || fail "the silent loss was not seen"
	run srpol path show A-spine2-B | sed -n '1p; 2s/^/    /p'
	srpol engine show | grep suspect | sed 's/^[[:space:]]*/    /'
	wait $load || fail "the transfer did not survive the silent loss"
	echo "  transfer completed, no QP error"
	fabric_silence spine2 off
	await 60 engine_paths 8 || fail "spine2 did not come back"
	echo "  spine2 answers its probes and is used again"
}

fabric_shown() {
	srpol -j fabric show socket /tmp/fabricd.sock 2>/dev/null |
		gojq -e "$1" >/dev/null
}

# planned FILTER: of the plan's weights from leaf1 to leaf2, by spine
planned() {
	srpol -j fabric plan from leaf1 socket /tmp/fabricd.sock 2>/dev/null |
		gojq -e ".pairs[0].weights | $1" >/dev/null
}

# follows BYTES_BEFORE WANTED...: do spines have these shares since then, within
# 5 % of all? Sets got. In bytes, as probes are small, and go to all of them.
follows() {
	local before=$1 now
	shift

	now=$(fabric_spine_bytes)
	mapfile -t got < <(per_spine "$before" "$now")
	paste -d ' ' <(printf '%s\n' "${got[@]}") <(printf '%s\n' "$@") |
		awk '{ n[NR] = $1; w[NR] = $2; all += $1; wanted += $2 } END {
			for (i = 1; i <= NR; i++) {
				d = all ? n[i] / all - w[i] / wanted : 1
				off += d < 0 ? -d : d
			}
			exit all < 5000000 || off / 2 > 0.05 }'
}

page() {
	curl -sf "http://127.0.0.1:8080/api/state" | gojq -r "$1"
}

# Nothing but a file and sockets: no server is needed on one machine.
phase_fabric() {
	local before

	say "6. One plan for the fabric: srpol-fabricd, the global SR engine"
	echo '{ "name": "demo", "topology": "'"$out"'/topology.json", "lease-s": 5,
	  "file": "/tmp/store.json", "socket": "/tmp/fabricd.sock",
	  "page": "127.0.0.1:8080",
	  "store": { "socket": "/tmp/store.sock" } }' >"$out/srpol-fabricd.json"
	echo "  \$ srpol-fabricd -c srpol-fabricd.json &"
	srpol-fabricd -c "$out/srpol-fabricd.json" 2>"$out/srpol-fabricd.log" &
	samplers+=($!)
	await 60 fabric_shown '.leads' ||
		fail "srpol-fabricd does not lead: $(cat "$out/srpol-fabricd.log")"
	run srpol fabric job add train hosts A,B bytes 1000000000 socket /tmp/fabricd.sock |
		sed 's/^/    /'
	await 60 planned '. == [15, 15, 15, 15]' || fail "no plan came"
	await 60 fabric_shown '.epoch as $e | .hosts | length == 2 and
		all(.epoch == $e)' || fail "the hosts did not apply the plan"
	run srpol fabric plan from leaf1 socket /tmp/fabricd.sock | sed 's/^/    /'
	echo "  # both hosts acknowledged it; now the job's 2000 flows each way"
	run srpol rule add prio 500 proto udp dport 9999 color 100
	chrt -i 0 selftests/demo/flows.py fd00:a::1 fd00:b::1 &
	samplers+=($!)
	mark "plan"
	before=$(fabric_spine_bytes)
	await 60 follows "$before" 15 15 15 15 ||
		fail "spines are off the plan: ${got[*]}"
	echo "  bytes from A by spine: ${got[*]}, planned 15:15:15:15"
	result plan_bytes "${got[*]}"
	# nothing measured is null, which is less than any number
	await 60 fabric_shown '.load | .hosts == 2 and .off_plan != null and
		.off_plan < 0.05' ||
		fail "the engine does not see the traffic follow its plan"
	echo "  what the page shows at http://127.0.0.1:8080/, by GET /api/state:"
	page '"    \(.load.hosts) hosts measure \(.load.bps / 1e6 | round) Mbit/s, \(100 * .load.off_plan | round) % off the plan"'

	echo "  spine2 \$ tc filter add dev leaf1 ingress matchall action drop"
	fabric_silence spine2 on
	mark "silent"
	await 20 silent_down || fail "the silent loss was not seen"
	echo "  the local engines saw it and moved the traffic, on their own:"
	before=$(fabric_spine_bytes)
	await 60 follows "$before" 1 0 1 1 ||
		fail "traffic did not leave spine2: ${got[*]}"
	echo "  bytes from A by spine: ${got[*]}"
	await 60 planned '.[1] == 0 and .[0] > 0' || fail "the plan kept spine2"
	await 60 fabric_shown '.epoch as $e | .hosts | all(.epoch == $e)' ||
		fail "the hosts did not apply the next plan"
	mark "epoch"
	echo "  and the next epoch makes it the plan of all:"
	run srpol fabric diff socket /tmp/fabricd.sock | sed 's/^/    /'
	before=$(fabric_spine_bytes)
	await 60 follows "$before" 1 0 1 1 ||
		fail "spines are off the new plan: ${got[*]}"
	result replan_bytes "${got[*]}"
	await 60 fabric_shown '.load.off_plan | . != null and . < 0.05' ||
		fail "the engine does not see the traffic follow its new plan"
	page '"    epoch \(.engine.epoch): \(.failures.down) link down, \(100 * .load.off_plan | round) % off the plan"'
	result off_plan "$(page '100 * .load.off_plan | round')"
	fabric_silence spine2 off
}

say "Two hosts, two leaves, four spines: a fabric of kernel SRv6 routers"
at_exit fabric_down
fabric_up
# the switches are hardware: what they forward does not wait for the hosts
for pid in $(pgrep '^ksoftirqd/'); do
	chrt -f -p 1 "$pid"
done
at_exit rdma_down
rdma_up
insmod kmod/srpol.ko
at_exit unload
rm -f "$out"/{samples,marks,commands,results,events}

say "Configuration, as an operator types it"
configure
busywait 20 paths_up || { srpol path show; fail "paths did not come up"; }
srpol policy show | sed 's/^/    /'
srpol -j policy show >"$out/policies.json"

# a pipe nobody writes to, to wait on
exec 9<> <(:)
at_exit stop
chrt -f 20 srpol -t monitor >"$out/events" &
samplers+=($!)
chrt -f 20 selftests/demo/sampler.py "$out/samples" "$(fabric_ns spine1)" \
	"$(fabric_ns spine2)" "$(fabric_ns spine3)" "$(fabric_ns spine4)" &
samplers+=($!)

phase_spread
phase_pinned
phase_failure
phase_return
phase_engine
phase_fabric
stop

say "What happened to packets"
run srpol stats show | sed 's/^/    /'
unload
