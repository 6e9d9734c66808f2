#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whose candidate path packets follow, by what spines count: the local engine's
# (preference 50), the global engine's (100), an operator's (200) in the same
# policy. The operator's stays through epochs and a new srpold, and when it is
# deleted packets follow the plan again.
#
# SRPOL_CLOCK=counted
# SRPOL_DEBUG=kernel

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh
# shellcheck source=selftests/vm/tests/fabricd_lib.sh
. selftests/vm/tests/fabricd_lib.sh
# shellcheck source=selftests/vm/tests/followers_lib.sh
. selftests/vm/tests/followers_lib.sh

POLICY=(color 100 endpoint fd00:b::1)

# preferences HOST [COLOR]: of the candidate paths there are, the active one first
preferences() {
	on "$1" -j policy show color "${2:-100}" | gojq -c '
		[ .[0].candidates | sort_by(.active | not)[].preference ]'
}

preferences_are() {
	[ "$(preferences "$1" "${3:-100}")" = "$2" ]
}

# weights HOST PREFERENCE: of its segment lists, the greatest is 15
weights() {
	on "$1" -j policy show color 100 | gojq -c --argjson p "$2" '
		[ .[0].candidates[] | select(.preference == $p).segment_lists[].weight ] |
		max as $max | [ .[] | . * 15 / $max | round ]'
}

# restart_engine_with_race HOST: so that it stops before it sends a transaction while
# $work/race is there; see before_apply.c
restart_engine_with_race() {
	local host=$1

	gcc -D_GNU_SOURCE -shared -fPIC -Wall -Ikmod/include/uapi \
		selftests/vm/race/before_apply.c -o "$work/before_apply.so" -lmnl -ldl
	kill "${engine[$host]}"
	wait "${engine[$host]}" 2>/dev/null || :
	SRPOL_RACE=$work/race LD_PRELOAD=$work/before_apply.so \
		start_engine "$host"
	check "srpold of host $host is started anew" patiently 60 usable "$host" 4
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop_fabricd
fabric_topology >"$work/topology.json"
config A >"$work/A.json"
config B >"$work/B.json"
cat >"$work/fabricd.json" <<-END
{ "name": "engine", "topology": "$work/topology.json", "lease-s": 60,
  "file": "$work/store.json", "socket": "$work/control.sock",
  "store": { "socket": "$work/store.sock" } }
END
on A rule add prio 100 dst fd00:b::/64 color 100

# ---- an operator's and the local engine's
start_engine A
start_engine B
check "local engines work" patiently 60 usable A 4
on A path add 7 segs fc00:0:22::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe name by-hand
check "the local engine's candidate path, on four spines" spines_have 25 25 25 25
on A policy candidate add "${POLICY[@]}" preference 200 segment-list 7
check_equal "an operator's comes: it is active, the local one waits" "[200,50]" \
	"$(preferences A)"
check "packets follow the operator's" spines_have 0 100 0 0

# ---- and the global engine's
start_fabricd
check "the global engine leads" patiently 30 eval 'fabric show | gojq -e .leads'
check "a job is announced" announce t/train \
	'{ "all-to-all": { "hosts": [ "A", "B" ], "bytes": 1000000000 } }'
check "it is planned for, and both hosts applied that" \
	patiently 60 eval 'planned "[15,15,15,15]" && on_epoch'
check_equal "all three are there, and the operator's is active" "[200,50,100]" \
	"$(preferences A | gojq -c '[.[0]] + (.[1:] | sort)')"
check "packets still follow the operator's" spines_have 0 100 0 0
on A policy candidate del "${POLICY[@]}" preference 200
check_equal "without it the global one is active, not the local one" "[100,50]" \
	"$(preferences A)"
check "packets follow the plan" spines_have 25 25 25 25

# ---- epochs while the operator's is there
on A policy candidate add "${POLICY[@]}" preference 200 segment-list 7
check "packets follow the operator's again" spines_have 0 100 0 0
epoch=$(fabric show | gojq .epoch)
on B engine link set leaf2 spine1 capacity 20G
check "the next epoch has other weights, and both hosts applied it" \
	patiently 60 eval 'planned "[3,15,15,15]" && on_epoch'
check "it is another one" [ "$(fabric show | gojq .epoch)" -gt "$epoch" ]
check_equal "they are in host A's policy" "[3,15,15,15]" "$(weights A 100)"
check_equal "beside the operator's, which is active" 200 \
	"$(preferences A | gojq '.[0]')"
check "packets follow the operator's" spines_have 0 100 0 0

# ---- srpold comes anew
kill -9 "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
generation=$(on A -j config show | gojq '.[0].generation')
start_engine A
check "srpold is killed and comes again" patiently 60 usable A 4
check_equal "it has nothing to change" "$generation" \
	"$(on A -j config show | gojq '.[0].generation')"
check_equal "the operator's is active" 200 "$(preferences A | gojq '.[0]')"

# ---- an operator's that cannot be used
on A path change 7 admin down
check_equal "while the operator's path is down the plan counts" 100 \
	"$(preferences A | gojq '.[0]')"
check "packets follow the plan" spines_have 6 31 31 31
on A path change 7 admin up
check_equal "and then the operator's" 200 "$(preferences A | gojq '.[0]')"

# ---- the operator is done
on A policy candidate del "${POLICY[@]}" preference 200
check "packets follow the plan as it is now" spines_have 6 31 31 31
on A policy candidate add "${POLICY[@]}" segment-list 7
check_equal "of the plan's preference the operator's is active as well" "100 7" \
	"$(on A -j policy show color 100 | gojq -r '.[0].candidates[] |
		select(.active) | "\(.preference) \(.segment_lists[0].path)"')"
check "packets follow it" spines_have 0 100 0 0
on A policy candidate del "${POLICY[@]}" discriminator \
	"$(on A -j policy show color 100 | gojq '.[0].candidates[] |
		select(.segment_lists[0].path == 7).discriminator')"
check_equal "and not once it is deleted" "[100,50]" "$(preferences A)"

# ---- a policy, and a path, that the engine needs no more
on A job add mine src fd00:a::1/128 color 7
on A policy candidate add color 7 endpoint fd00:b::1 preference 200 segment-list 7
on A job del mine
check "a job ends: of its policy the operator's candidate path stays" \
	patiently 30 preferences_are A "[200]" 7
on A job add mine src fd00:a::1/128 color 7
check "it begins again, and the engine's are beside it" patiently 30 eval \
	'preferences A 7 | gojq -e ".[0] == 200 and length > 1"'
on A policy candidate del color 7 endpoint fd00:b::1 preference 200

# ---- at the very moment when srpold deletes a policy
restart_engine_with_race A
on A path add 8 segs fc00:0:22::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
touch "$work/race"
on A job del mine &
job_del=$!
check "a job ends: srpold has read the policy, and is about to delete it" \
	patiently 30 [ -e "$work/race.now" ]
on A policy candidate add color 7 endpoint fd00:b::1 preference 200 segment-list 8
rm "$work/race.now"
status=0
wait $job_del || status=$?
check_equal "the job is deleted all the same" 0 $status
check "the candidate path that an operator added then stays" \
	patiently 30 preferences_are A "[200]" 7
on A policy del color 7 endpoint fd00:b::1
on A path del 8

last=$(path_over A spine4)
on A policy candidate add "${POLICY[@]}" preference 200 segment-list "$last"
FABRIC_SPINES=3 fabric_topology >"$work/three.json"
sed -i "s,topology.json,three.json," "$work/A.json"
kill -HUP "${engine[A]}"
check "a topology without spine4 is read: the engine has three paths" \
	patiently 60 usable A 3
check "the operator's goes on over the one that is no more the engine's" \
	spines_have 0 0 0 100
on A policy candidate del "${POLICY[@]}" preference 200
check "without it that path goes" patiently 30 eval \
	"! on A path show $last"
check "and packets go over the other three" spines_have 33 33 33 0
[ $ktap_failures -eq 0 ] || sed "s/^/# /" "$work"/*.log
