#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A job of srpold that goes through a function of spines 2 and 4: what its control
# group sends passes the function's SID there, and what others send does not. The
# spines do End at it, and count.
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

group=/sys/fs/cgroup/srpol-functions-$$

# both hosts are in this namespace
on() {
	shift
	srpol "$@"
}

down() {
	srpol dev del hA 2>/dev/null || :
	srpol dev del hB 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
	rm -f /run/srpold/*.jobs
	rmdir "$group" 2>/dev/null || :
	rm -rf "$work"
}

# send CGROUP.PROCS PORT: five datagrams of each of 64 flows
send() {
	python3 - "$1" "$2" <<-'END'
	import socket, sys
	open(sys.argv[1], "w").write("0")
	for port in range(int(sys.argv[2]), int(sys.argv[2]) + 64):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.bind(("fd00:a::1", port))
	    for _ in range(5):
	        s.sendto(b"x" * 100, ("fd00:b::1", 9))
	END
}

# What spines 2 and 4 have counted at the function's SID
passed() {
	local m sum=0

	for m in 2 4; do
		sum=$((sum + $(fabric_exec spine$m ip -s -6 route show \
			"fc00:0:2$m::a1/128" | grep -o 'packets [0-9]*' |
			cut -d ' ' -f 2)))
	done
	echo $sum
}

at_exit fabric_down
fabric_up
for m in 2 4; do
	fabric_exec spine$m ip -6 route add fc00:0:2$m::a1/128 \
		encap seg6local action End count dev sid0
done
insmod kmod/srpol.ko
at_exit down
at_exit stop_engines
mkdir -p "$group"
fabric_topology | gojq '.switches[] |=
	if .name == "spine2" or .name == "spine4" then
		.functions = [ { name: "sum", kind: "aggregate",
				 function: "::a1" } ]
	elif .name == "spine3" then
		.functions = [ { name: "odd", kind: "aggregate",
				 function: "::a1" } ]
	else . end' >"$work/topology.json"
cat >"$work/both.json" <<END
{ "topology": "$work/topology.json", "hosts": [ "A", "B" ],
  "probes": { "interval-ms": 500, "multiplier": 3, "timeout-ms": 500,
              "wait-to-restore-ms": 1000 },
  "weights": { "delay-us": 1000000 } }
END
srpold -c "$work/both.json" 2>"$work/both.log" &
engine[both]=$!
check "paths of both hosts are probed and up" patiently 60 usable A 8

check_fails "a function that no switch offers" "no switch offers" \
	on A job add x cgroup "$group" via compress
check "a job that goes through one" on A job add reduce cgroup "$group" via sum
check_equal "its paths have its SID in place of the switch's" \
	'[["fc00:0:22::a1","fc00:0:12::1","fc00:0:b::d6"],["fc00:0:24::a1","fc00:0:12::1","fc00:0:b::d6"]]' \
	"$(on A -j engine paths | gojq -c '[ .[] | select(.host == "A" and
		(.name // "" | startswith("reduce-"))) | .segments ] | sort')"
reduce_ids() {
	on A -j engine paths | gojq -c '[ .[] | select(.host == "A" and
		(.name // "" | startswith("reduce-"))) | .path ]'
}
ids=$(reduce_ids)
check_fails "another one that would miss it" "no path to any peer passes" \
	on A job add x pid 1 paths spine1 via sum
check_equal "leaves these paths their ids" "$ids" "$(reduce_ids)"
check_equal "it is told" sum "$(on A -j job show reduce | gojq -r '.[0].via')"
send /sys/fs/cgroup/cgroup.procs 20000
check_equal "what others send does not pass it" 0 "$(passed)"
send "$group/cgroup.procs" 30000
check_equal "what the job sends does" 320 "$(passed)"
check "it goes" on A job del reduce
check_equal "and its paths with it" 8 "$(on A -j engine paths | gojq length)"
send "$group/cgroup.procs" 40000
check_equal "nothing passes any more" 320 "$(passed)"

# ---- of three disjoint jobs the third has the third spine, of two the second has not
for job in one two; do
	check "job $job" on A job add $job pid 1 paths disjoint
done
check "one through the third spine" on A job add three pid 1 paths disjoint via odd
check "the first goes" on A job del one
check_equal "the other one lacks its function" '[["three",true],["two",null]]' \
	"$(on A -j job show | gojq -c '[ .[] | [ .name, .lacks_paths ] ] | sort')"
