#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A path for each flow, by the global engine: two tenants' jobs of one flow each do
# not meet, though neither host knows why; QPs of a job of seven take the paths that
# are left for them beside another's one; and all of it follows when a spine falls
# silent and when it is back. Real QPs, spines by their own counters.
#
# SRPOL_CLOCK=counted
# SRPOL_DEBUG=kernel
# SRPOL_TIMEOUT=900

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=init
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/fabric/rdma.sh
. selftests/fabric/rdma.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh
# shellcheck source=selftests/vm/tests/fabricd_lib.sh
. selftests/vm/tests/fabricd_lib.sh
# shellcheck source=selftests/vm/tests/jobs_lib.sh
. selftests/vm/tests/jobs_lib.sh
BYTES=262144
QPS=7
# shellcheck source=selftests/vm/tests/qps_lib.sh
. selftests/vm/tests/qps_lib.sh

# told TENANT: how many flows from A to B the plan has on each spine
told() {
	fabric why A B tenant "$1" | gojq -r '.planes[0].paths |
		sort_by(.links[0].to) | map(.flows) | join(" ")'
}

told_is() {
	[ "$(told "$1")" = "$2" ]
}

# in_all TENANT: flows from A to B that the plan has
in_all() {
	told "$1" | tr ' ' '\n' | paste -sd + | bc
}

# spines_of TENANT: numbers of those that it has
spines_of() {
	told "$1" | tr ' ' '\n' | grep -nv '^0$' | cut -d : -f 1 | paste -sd ' '
}

# beside TENANT OTHER: both have flows, of each spine as many together
beside() {
	[ "$(paste -d + <(told "$1" | tr ' ' '\n') <(told "$2" | tr ' ' '\n') |
		bc | paste -sd ' ')" = "$3" ]
}

# follows COLOR TENANT: the module has the engine's weights for A's policy to B
follows() {
	[ "$(srpol -j policy show color "$1" | gojq -r '[ .[] |
		select(.endpoint | startswith("fd00:b:")) |
		.candidates[] | select(.preference == 100 and .active) |
		[ .segment_lists[] | select(.buckets > 0) ] | length ] |
		join(" ")')" = \
		"$(spines_of "$2" | wc -w)" ]
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit stop_engines
at_exit stop_programs
at_exit stop_fabricd
rdma_up
start_both '"interval-ms": 500' "\"fabric\": { \"folder\": \"$work\",
	\"damp-ms\": 200, \"store\": { \"socket\": \"$work/store.sock\" } }"
cat >"$work/fabricd.json" <<-END
{ "name": "engine", "topology": "$work/topology.json", "lease-s": 60,
  "file": "$work/store.json", "socket": "$work/control.sock",
  "store": { "socket": "$work/store.sock" } }
END
start_fabricd
check "paths of both hosts are probed and up" patiently 60 usable A 8
check "the engine leads" patiently 30 eval 'fabric show | gojq -e .leads'
check "two tenants" eval "fabric tenant add red color 10 guaranteed 1G &&
	fabric tenant add blue color 20 guaranteed 1G"
check "a job of each, of programs" eval "
	srpol job add red comm red color 10 placement qp &&
	srpol job add blue comm blue color 20"

# ---- one flow each
check "each announces a flow" eval "
	fabric job add r tenant red demand A B 1000000 flows 1 &&
	fabric job add b tenant blue demand A B 1000000 flows 1"
check "both have a path" patiently 30 eval \
	'[ "$(in_all red) $(in_all blue)" = "1 1" ]'
red=$(spines_of red)
blue=$(spines_of blue)
check "which is not the same" [ "$red" != "$blue" ]
begin first red || not_ok "QPs of red" "$(<"$work/first.out")"
begin second blue || not_ok "QPs of blue" "$(<"$work/second.out")"
check "QPs of red have rules" patiently 60 holds_as_many red hA
check "those of blue" patiently 60 holds_as_many blue hA
check "the module has one path for each" patiently 30 eval \
	'follows 10 red && follows 20 blue'
before=$(fabric_spine_packets)
check "red sends" send first
check "by that spine alone" went "$before" "$red"
before=$(fabric_spine_packets)
check "blue sends" send second
check "by its own" went "$before" "$blue"

# ---- seven, beside one
check "red has seven flows now" eval "fabric job del r tenant red &&
	fabric job add r tenant red demand A B 7000000 flows 7"
check "with the one of blue two on each spine" patiently 30 \
	beside red blue "2 2 2 2"
check_equal "blue's stays where it is" "$blue" "$(spines_of blue)"
check "the module has them" patiently 30 follows 10 red
check "they send" send first
check "each QP has the path of a flow" patiently 60 spread_is red "$(told red)"
check "they send again" send first
check_equal "and stay" "$(told red)" "$(spread red)"

# ---- a spine less
fabric_silence "spine$blue" on
check "the spine of blue falls silent: the plan has nobody there" \
	patiently 60 eval '[ "$(in_all red) $(in_all blue)" = "7 1" ] &&
	[[ " $(spines_of red) $(spines_of blue) " != *" $blue "* ]]'
check "nor has the module" patiently 30 eval 'follows 10 red && follows 20 blue'
check "QPs of red are where it wants them" patiently 60 spread_is red "$(told red)"
before=$(fabric_spine_packets)
check "blue sends" send second
check "by its new one" went "$before" "$(spines_of blue)"
fabric_silence "spine$blue" off
check "it speaks again: two on each" patiently 120 beside red blue "2 2 2 2"
check "QPs of red follow" patiently 60 eval 'spread_is red "$(told red)"'

# ---- without the engine
plan="$(told red) $(told blue)"
stop_fabricd
check "the engine goes: they send" eval 'send first && send second'
start_fabricd "${fd[@]}"
check "and is back: two on each spine" patiently 60 beside red blue "2 2 2 2"
echo "# before it went $plan, now $(told red) $(told blue)"
check "red's job ends" fabric job del r tenant red
check "nothing is said of it" patiently 30 eval '[ "$(in_all red)" = 0 ]'
check "red sends, by paths of its own" send first
# the second one has the pipe of the first
end second "blue's program ends"
end first "red's program ends"
check_equal "srpol dropped nothing" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
