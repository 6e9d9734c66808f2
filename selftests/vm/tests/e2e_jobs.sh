#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs: two control groups with disjoint paths share no spine, counted by the
# spines; and jobs outlive the engine.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=init
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

groups=/sys/fs/cgroup/srpol-jobs-$$

# both hosts are in this namespace
on() {
	shift
	srpol "$@"
}

start() {
	srpold -c "$work/both.json" 2>>"$work/both.log" &
	engine[both]=$!
}

down() {
	srpol dev del hA 2>/dev/null || :
	srpol dev del hB 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
	rm -f /run/srpold/*.jobs
	rmdir "$groups"/* "$groups" 2>/dev/null || :
	rm -rf "$work"
}

# send GROUP PORT: five datagrams of each of 64 flows, from that control group
send() {
	python3 - "$groups/$1/cgroup.procs" "$2" <<-'END'
	import socket, sys
	open(sys.argv[1], "w").write("0")
	for port in range(int(sys.argv[2]), int(sys.argv[2]) + 64):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.bind(("fd00:a::1", port))
	    for _ in range(5):
	        s.sendto(b"x" * 100, ("fd00:b::1", 9))
	END
}

# from_a BEFORE: packets from A since then, by spine
from_a() {
	paste -d ' ' <(echo "$1") <(fabric_spine_packets) |
		awk '{ print $1, $5 - $2 }'
}

# only PACKETS SPINE SPINE: what a job sent, 320, went by these; the others saw
# probes and neighbors
only() {
	awk -v a="$2" -v b="$3" '
		$1 == a || $1 == b { own += $2 }
		$1 != a && $1 != b && $2 > 80 { bad = 1 }
		END { exit bad || own < 320 }' <<<"$1"
}

# spines JOB: those that it used, and the flows it has
spines() {
	on A -j job show "$1" | gojq -c '[ .[0].use[] | select(.bytes > 0) |
		.name | ltrimstr("A-") | rtrimstr("-B") ] | sort'
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit stop_engines
mkdir -p "$groups/one" "$groups/two"
fabric_topology >"$work/topology.json"
cat >"$work/both.json" <<END
{ "topology": "$work/topology.json", "hosts": [ "A", "B" ],
  "probes": { "interval-ms": 500, "multiplier": 3, "timeout-ms": 500,
              "wait-to-restore-ms": 1000 },
  "weights": { "delay-us": 1000000 } }
END

start
check "paths of both hosts are probed and up" patiently 60 usable A 8

# ---- two jobs by control group
check "job one" on A job add one cgroup "$groups/one" paths disjoint
check "job two" on A job add two cgroup "${groups#/sys/fs/cgroup}/two" \
	paths disjoint
before=$(fabric_spine_packets)
send one 20000
one=$(from_a "$before")
before=$(fabric_spine_packets)
send two 30000
two=$(from_a "$before")
check_equal "one: by its own count two spines" '["spine1","spine3"]' \
	"$(spines one)"
check_equal "two: the other two" '["spine2","spine4"]' "$(spines two)"
check "the spines say the same of one" only "$one" 1 3
check "and of two" only "$two" 2 4
[ $ktap_failures -eq 0 ] || printf '# %s\n' "$one" / "$two"
check_equal "64 flows on two paths" 62 \
	"$(on A -j job show one | gojq '.[0].collisions')"
check_equal "bytes are counted" true \
	"$(on A -j job show two | gojq '.[0].bytes >= 32000')"
check "why: the job's policy is there too" eval \
	'on A -j engine why B | gojq -e "[ .policies[].color ] == [ 100, 1000, 1001 ]"'

check_fails "a name twice" "is there" on A job add one pid 1
check_fails "a color twice" "somebody else" on A job add x pid 1 color 1000
check_fails "a switch that is none" 'no switch "spine9"' \
	on A job add x pid 1 paths spine9
check_fails "no selector" "exactly one of" on A job add x color 7
check_fails "two of them" "exactly one of" on A job add x pid 1 comm y
check "a third and a fourth" eval \
	'on A job add x pid 1 paths disjoint && on A job add y pid 1 paths disjoint'
check_fails "a fifth: no path is left" "no path is left" \
	on A job add z pid 1 paths disjoint
check_equal "nothing of it stays" 4 "$(on A -j job show | gojq length)"
check "they go" eval 'on A job del x && on A job del y'

# ---- the engine goes and comes back
rules=$(on A -j rule show | gojq -c 'map(del(.id))')
kill -9 "${engine[both]}"
wait "${engine[both]}" 2>/dev/null || :
start
check "killed and started anew: probed and up" patiently 60 usable A 8
check_equal "the jobs are there" '["one","two"]' \
	"$(on A -j job show | gojq -c '[ .[].name ]')"
check_equal "their rules too" "$rules" \
	"$(on A -j rule show | gojq -c 'map(del(.id))')"

# ---- no room for rules: the engine goes on with all else
room=$(on A -j config show | gojq '.[0].tables.rules | .size - 1 - .used')
seq "$room" | sed 's/.*/rule add prio 10000& dst fd00:ffff::\/64 bypass/' |
	srpol -b -
check_fails "a job for whose rule there is no room" "no room" \
	on A job add full qp 5
check_equal "nothing of it stays" 2 "$(on A -j job show | gojq length)"
kill -STOP "${engine[both]}"
srpol rule del prio 40000
srpol rule add prio 10000 bypass
srpol policy del color 1001 endpoint fd00:b::1
kill -CONT "${engine[both]}"
check "a policy that somebody deletes is made again" patiently 30 eval \
	'on A -j policy show color 1001 | gojq -e "any(.endpoint == \"fd00:b::1\")"'
check_equal "a rule for which there is no room is not" null \
	"$(on A -j rule show | gojq -c 'map(select(.prio == 40000))[0]')"
check "that is said" grep -q "there is room for" "$work/both.log"
check_equal "and that its job lacks it" '[1,0]' \
	"$(on A -j job show | gojq -c '[ .[].rules_missing ]')"
srpol rule del prio 10000
check "once there is room it is made" patiently 30 eval \
	'on A -j rule show | gojq -e "any(.prio == 40000)"'
seq "$room" | sed 's/.*/rule del prio 10000&/' | srpol -b -
check_equal "rules are as before" "$rules" \
	"$(on A -j rule show | gojq -c 'map(del(.id))')"

# ---- a deletion that the module does not follow
srpol -b - <<<$'dev del hA\ndev del hB'
rmmod srpol
check_fails "without the module a job is not deleted" "." on A job del one
check_equal "it stays, and where it was" '["one","two"]' \
	"$(gojq -c '[ .[].name ]' /run/srpold/default.sock.jobs)"
insmod kmod/srpol.ko
kill -9 "${engine[both]}"
wait "${engine[both]}" 2>/dev/null || :
start
check "with the module again: probed and up" patiently 60 usable A 8
check_equal "the jobs are there still" '["one","two"]' \
	"$(on A -j job show | gojq -c '[ .[].name ]')"
check_equal "with their rules" "$rules" \
	"$(on A -j rule show | gojq -c 'map(del(.id))')"

# ---- while the engine is away, the topology loses what a job names
check "a job for one spine" on A job add named qp 77 paths spine4
kept=$(gojq . /run/srpold/default.sock.jobs)
kill "${engine[both]}"
wait "${engine[both]}" 2>/dev/null || :
cp "$work/topology.json" "$work/whole.json"
gojq 'del(.switches[] | select(.name == "spine4")) |
    del(.links[] | select(.to == "spine4"))' "$work/whole.json" \
	>"$work/topology.json"
start
check "started with three spines: probed and up" patiently 60 usable A 6
check_equal "the job stays and uses them all" 3 \
	"$(on A -j job show named | gojq '.[0].use | length / 2')"
check "that is said in the log" grep -q \
	'job "named": no path is left for .* all of them' "$work/both.log"
check "and shown" eval 'on A job show named | grep -q lacks-paths'
check "another job is added" on A job add other qp 88
check "and goes" on A job del other
check_equal "the file has the first as it was" "$kept" \
	"$(gojq . /run/srpold/default.sock.jobs)"
cp "$work/whole.json" "$work/topology.json"
kill -HUP "${engine[both]}"
check "the spine is back: probed and up" patiently 60 usable A 8
check_equal "the job has its path again" '["A-spine4-B","B-spine4-A"]' \
	"$(on A -j job show named | gojq -c '[ .[0].use[].name ] | sort')"
check_equal "and that is not shown any more" 0 \
	"$(on A job show named | grep -c lacks-paths)"

check "all jobs go" eval 'for j in one two named; do on A job del $j; done'
check_equal "policies and rules are as without" "2 1" \
	"$(on A -j policy show | gojq length) $(on A -j rule show | gojq length)"

# ---- a file of jobs that cannot be read
kill "${engine[both]}"
wait "${engine[both]}" 2>/dev/null || :
printf '[ { "name": "cut"' >/run/srpold/default.sock.jobs
start
check "with half a file of jobs: probed and up" patiently 60 usable A 8
check "it is said that they are lost" grep -q \
	'default.sock.jobs: line 1: .*; the jobs of before' "$work/both.log"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
