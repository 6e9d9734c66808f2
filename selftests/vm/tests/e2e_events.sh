#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Applications are told what becomes of their paths: of a spine that is cut, of all
# of them, and of their return; where traffic goes then, as the module and the spines
# say, too. Another user is told nothing of it, and one that does not read disturbs
# nobody. Times are told, from before the cut to the line that the application read.
#
# SRPOL_CLOCK=counted
# SRPOL_DEBUG=kernel
# SRPOL_TIMEOUT=900

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

demands=$(mktemp -u /tmp/demands.XXXXXX)
APP=1001
OTHER=1002
client=$PWD/selftests/vm/tests/e2e_events.py
declare -A pid=()

stop_watchers() {
	local p

	for p in "${pid[@]}"; do
		kill -CONT "$p" 2>/dev/null || :
		kill "$p" 2>/dev/null || :
		wait "$p" 2>/dev/null || :
	done
}

# announce OWNER: a request
announce() {
	echo '{ "version": 1, "request": "demands", "owner": "'"$1"'", "demands": [
		{ "src": "A", "dst": "B", "bytes": 1000000, "for-ms": 3600000 } ] }' |
		tr -d '\n'
}

# withdraw OWNER: likewise
withdraw() {
	echo '{ "version": 1, "request": "demands", "owner": "'"$1"'", "demands": [] }'
}

watch='{ "version": 1, "request": "watch" }'

# watch NAME USER SOCKET REQUEST...: an application, into $work/NAME
watch() {
	local name=$1 user=$2
	shift 2

	setpriv --reuid "$user" --regid "$user" --clear-groups \
		python3 "$client" watch "$@" >"$work/$name" 2>"$work/$name.err" &
	pid[$name]=$!
}

# lines NAME FILTER: of its lines, those for which that is true, as a list
lines() {
	gojq -cs "[ .[] | .heard_us as \$heard_us | .line | select($2) |
		.heard_us = \$heard_us ]" "$work/$1"
}

# has NAME FILTER: one of its lines is so; not while there is no file, or half a line
has() {
	local found

	found=$(lines "$1" "$2" 2>/dev/null) && [ "$found" != "[]" ]
}

# first NAME FILTER VALUE: that of the first such line
first() {
	lines "$1" "$2" | gojq -c ".[0] | $3"
}

now_us() {
	local now=$EPOCHREALTIME

	echo "${now/[.,]/}"
}

# tells NAME SINCE FILTER: it was told of paths after that
tells() {
	has "$1" ".event == \"paths\" and .time_us > $2 and ($3)"
}

# told_of NAME SPINE STATE SINCE: that spine's path is in that state, and why
told_of() {
	tells "$1" "$4" ".changes | any(.name == \"A-$2-B\" and .state == \"$3\")"
}

# shares NAME SINCE: of the last line about paths, by spine
shares() {
	lines "$1" ".event == \"paths\" and .time_us > $2" | gojq -c \
		'.[-1].paths | sort_by(.name) | map(.percent)'
}

# by_module: the same, by the buckets that the module has
by_module() {
	local paths

	paths=$(on A -j engine paths)
	on A -j policy show color 100 | gojq -c --argjson paths "$paths" '
		.[0].buckets as $n | .[0].candidates | map(select(.active)) |
		.[0].segment_lists | map(.path as $p |
			{ name: ($paths[] | select(.path == $p) | .name),
			  percent: (100 * .buckets / $n | round) }) |
		sort_by(.name) | map(.percent)'
}

# shares_are NAME SINCE PERCENT...: both say so, within 2 percent
shares_are() {
	local name=$1 since=$2 said
	shift 2

	for said in "$(shares "$name" "$since")" "$(by_module)"; do
		gojq -e --argjson want "[$(IFS=,; echo "$*")]" \
			'[ ., $want ] | transpose | all((.[0] - .[1]) | . > -3 and . < 3)' \
			<<<"$said" >/dev/null || return
	done
}

# send: five packets of each of 64 new flows, so large that probes are little beside them
port=20000
send() {
	fabric_exec hostA python3 - "$port" <<-'END'
	import socket, sys
	for port in range(int(sys.argv[1]), int(sys.argv[1]) + 64):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.bind(("fd00:a::1", port))
	    for _ in range(5):
	        s.sendto(bytes(4000), ("fd00:b::1", 9))
	END
	port=$((port + 64))
}

# stood_still: a line each time that a busy machine lets this guest wait for as long as
# makes a tick late (420 ms)
stood_still() {
	exec python3 -c '
import time

last = time.monotonic()
while True:
    time.sleep(0.02)
    now = time.monotonic()
    if now - last > 0.4:
        print(now - last, flush=True)
    last = now'
}

late_ticks() {
	on A -j engine show | gojq .late_ticks
}

# cut_and_heal SPINE WHAT: it is heard of both; prints the times
cut_and_heal() {
	local spine=spine$1 what=$2 since heard

	since=$(now_us)
	fabric_cut_spine "$1"
	check "$what: $spine is cut: the application is told" \
		patiently 60 told_of app "$spine" down "$since"
	heard=$(first app ".time_us > $since and (.changes // [] |
		any(.name == \"A-$spine-B\" and .state == \"down\"))" .heard_us)
	echo "# $what: from the cut to what the application read: $((heard - since)) us"
	check "$what: because of a failure" tells app "$since" \
		'.because | index("failure")'
	check "$what: and that three are left" patiently 30 \
		tells app "$since" '.usable == 3 and .by == "engine"'
	since=$(now_us)
	fabric_restore_spine "$1"
	check "$what: $spine is back: it is told" \
		patiently 120 told_of app "$spine" up "$since"
	check "$what: because of its recovery" tells app "$since" \
		'.because | index("recovery")'
	check "$what: a quarter each again" patiently 60 \
		shares_are app "$since" 25 25 25 25
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop_watchers
fabric_topology >"$work/topology.json"
cat >"$work/A.json" <<-END
{ "topology": "$work/topology.json", "hosts": [ "A" ], "demands": "$demands",
  "probes": { "interval-ms": 20, "multiplier": 3, "timeout-ms": 400,
              "wait-to-restore-ms": 300 },
  "weights": { "interval-ms": 400, "delay-us": 10000000 } }
END
on A rule add prio 100 dst fd00:b::/64 color 100
on B dev add hB role uplink
on B sid add fc00:0:b::d6 behavior End.DT46
start_engine A
check "four paths, probed and up" patiently 60 usable A 4

# ---- state first
watch app $APP "$demands" "$(announce app)" "$watch"
watch other $OTHER "$demands" "$watch"
watch root 0 "$demands" "$watch"
check "an application is told its paths" patiently 30 has app '.event == "paths"'
check_equal "one destination" '{"all":false,"destinations":1,"jobs":0,"left_out":0}' \
	"$(first app '.reply.all != null' .reply)"
check_equal "from where to where" '["A","B",100,"fd00:b::1"]' \
	"$(first app '.event == "paths"' '[ .src, .dst, .color, .endpoint ]')"
check_equal "four paths, each up with a quarter" '[["up",25]]' \
	"$(first app '.event == "paths"' '.paths | map([.state, .percent]) | unique')"
check_equal "by segment lists that the module has" \
	"$(on A -j path show | gojq -c '[ .[] | .segments ] | sort')" \
	"$(first app '.event == "paths"' '[ .paths[].segments ] | sort')"
check "its links, all up" patiently 30 has app \
	'.event == "links" and .down == 0 and .total == (.links | length) and
	 (.links | all(.state == "up"))'
check "the superuser is told of it, too" patiently 30 has root '.event == "paths"'
check_equal "by all demands" true "$(first root '.reply.all != null' .reply.all)"

# ---- a failure
since=$(now_us)
cut_and_heal 2 "alone"
check "the links to the spine were told down" has app \
	".event == \"links\" and .time_us > $since and
	 (.links | any((.link | contains(\"spine2\")) and .state == \"down\"))"

# ---- by what is sent
since=$(now_us)
fabric_cut_spine 3
check "another one is cut: shares follow, in the module, too" patiently 60 \
	shares_are app "$since" 33 33 0 33
before=$(fabric_spine_bytes)
send
# all of it, and a tenth at least by each of the three
check "flows go where it was told" eval 'paste -d " " <(echo "$before") \
	<(fabric_spine_bytes) | awk "\$1 != 3 {
			n = \$5 - \$2; sum += n; used += n > 128000; print \$1, n }
		END { exit used != 3 || sum < 64 * 5 * 4000 }"'
for m in 1 2 4; do
	fabric_cut_spine $m
done
check "all are cut: no path is left, packets go as plain IP" patiently 60 \
	tells app "$since" '.usable == 0 and .fallback == "plain-ip"'
on A policy change color 100 endpoint fd00:b::1 drop-upon-invalid on
check "the policy drops them now" patiently 60 \
	tells app "$since" '.usable == 0 and .fallback == "drop" and
		.because == [ "operator" ]'
on A policy change color 100 endpoint fd00:b::1 drop-upon-invalid off
# routes need all ports to be up
for m in 1 2 3 4; do
	for n in 1 2; do
		ip -n "$(fabric_ns leaf$n)" link set spine$m up
	done
done
for m in 1 2 3 4; do
	fabric_restore_spine $m
done
check "all are back" patiently 120 shares_are app "$since" 25 25 25 25

# ---- one that stops reading
watch stopped $APP "$demands" "$(announce stopped)" \
	'{ "version": 1, "request": "watch", "owner": "stopped", "every-ms": 100 }'
check "another application, with what is measured" patiently 30 has stopped \
	'.event == "measured" and (.measured | all(.rtt_ms > 0))'
kill -STOP "${pid[stopped]}"
pause 8
late=$(late_ticks)
stood_still >"$work/stood-still" &
pid[witness]=$!
since=$(now_us)
cut_and_heal 2 "beside one that stopped"
check "srpold was not late because of it" \
	[ "$(late_ticks)" -le $((late + $(wc -l <"$work/stood-still"))) ]
kill "${pid[witness]}"
kill -CONT "${pid[stopped]}"
check "it goes on: how much it has missed" patiently 30 has stopped \
	'.event == "late" and .coalesced > 0 and .late_ms > 1000'
check "and the state as it is" patiently 30 shares_are stopped "$since" 25 25 25 25
kill "${pid[stopped]}"

# ---- demands that end, and that begin
watch told $APP "$demands" "$(withdraw stopped)" "$(withdraw app)"
check "without demands it is told the end" patiently 30 has app \
	'.event == "end" and .endpoint == "fd00:b::1" and .color == 100'
since=$(now_us)
watch again $APP "$demands" "$(announce app)"
check "with one again, the paths" patiently 30 tells app "$since" '.usable == 4'
cut_and_heal 1 "again"

# ---- the engine is told other things, and goes
kill -HUP "${engine[A]}"
check "a reload: four paths, probed and up" patiently 60 usable A 4
cut_and_heal 3 "after a reload"
check_equal "eight of a user may watch" "8 8 watchers of a user are the most" \
	"$(setpriv --reuid 1003 --regid 1003 --clear-groups \
		python3 "$client" refused "$demands" 8)"
check "the command tells it as text" eval 'timeout 5 srpol -n \
	"$(fabric_ns hostA)" engine watch every 100ms >"$work/text" || :;
	grep -q "paths A to B rail 0 color 100" "$work/text" &&
	grep -q "measured A to B" "$work/text" &&
	grep -q "link leaf1-spine1 up" "$work/text"'

# ---- who hears what
check_equal "another user is told of no paths, and of no links" '["links"]' \
	"$(lines other .event | gojq -c 'map(.event) | unique')"
check_equal "there were none" 0 "$(lines other '.links // [] | length > 0' | gojq length)"
check "each line is as its schema says" eval \
	'python3 "$client" check "$work"/{app,other,root,stopped,told,again} >"$work/checked"'
echo "# $(cat "$work/checked") lines"
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "srpold ends with status 0"
[ $ktap_failures -eq 0 ] || tail -n 30 "$work"/{*.log,*.err,app} | sed 's/^/# /'
