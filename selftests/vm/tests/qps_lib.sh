# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# QPs of programs that send when they are told to, and the spines that they take;
# to be sourced after jobs_lib.sh, with BYTES that each QP sends at a time, in packets
# of 1024, and QPS of a program.

PAYLOAD=$((BYTES * QPS))
PACKETS=$((PAYLOAD / 1024))
declare -A fd=()

# begin NAME COMM [threads]: QPs of a process of that name, which wait for a word
begin() {
	local file name=$1 comm=$2
	shift 2

	ln -sf "$PWD/build/selftests/rdma/qps" "$work/$comm"
	mkfifo "$work/$name.in"
	"$work/$comm" rxeA "$(rdma_gid rxeA "$rdma_a")" rxeB \
		"$(rdma_gid rxeB "$rdma_b")" $QPS "$@" \
		<"$work/$name.in" >"$work/$name.out" 2>&1 &
	pid[$name]=$!
	exec {file}>"$work/$name.in"
	fd[$name]=$file
	patiently 60 grep -q ready "$work/$name.out"
}

has_written() {
	[ "$(grep -c written "$work/$1.out")" -gt "$2" ]
}

# send NAME: its QPs write BYTES each, and all of it is acknowledged
send() {
	local n

	n=$(grep -c written "$work/$1.out" || :)
	echo "write $BYTES" >&"${fd[$1]}"
	patiently 200 has_written "$1" "$n"
}

# end NAME WHAT: it closes its QPs; not in a subshell
end() {
	local p=${pid[$1]} file=${fd[$1]} rc=0

	exec {file}>&-
	wait "$p" || rc=$?
	unset "pid[$1]"
	check_equal "$2" 0 $rc
}

# holds_as_many JOB DEV: rules for the QPs of one process
holds_as_many() {
	[ "$(ruled "$1" "$2" | gojq length)" -eq $QPS ]
}

# went BEFORE SPINE...: what A sent since then, PACKETS and a few more, went by
# these; the others saw probes and neighbors
went() {
	local before=$1 own others
	shift

	read -r own others < <(paste -d ' ' <(echo "$before") \
		<(fabric_spine_packets) | awk -v own=" $* " '
			index(own, " " $1 " ") { a += $5 - $2; next }
			{ b += $5 - $2 }
			END { print a + 0, b + 0 }')
	echo "of packets from A $own, by other spines $others"
	[ "$own" -ge $PACKETS ] && [ "$others" -lt $((PACKETS / 4)) ]
}

# right BYTES: between the payload, and that with headers and some sent again
right() {
	echo "payload $PAYLOAD, sent $1"
	[ "$1" -ge $PAYLOAD ] && [ "$1" -le $((PAYLOAD * 13 / 10)) ]
}

# paths_of JOB: QPs to B that are placed, with the spine that each takes
paths_of() {
	gojq -c -n --argjson rules "$(srpol -j rule show)" \
		--argjson paths "$(srpol -j engine paths)" \
		--argjson color "$(color_of "$1")" '
		[ $rules[] | select(.color == $color and .path) | . as $r |
		  $paths[] | select(.path == $r.path and
				    (.name | startswith("A-"))) |
		  { qp: $r.match.qp[0],
		    spine: (.name | capture("spine(?<n>[0-9])").n | tonumber) } ] |
		sort_by(.qp)'
}

# rules_with_path: those for QPs that are placed
rules_with_path() {
	srpol -j rule show | gojq -c '[ .[] | select(.path) ]'
}

# spread JOB: how many of them each spine has
spread() {
	paths_of "$1" | gojq -r '[ .[].spine ] as $all | [ range(1; 5) as $n |
		[ $all[] | select(. == $n) ] | length ] | join(" ")'
}

spread_is() {
	[ "$(spread "$1")" = "$2" ]
}

placed_is() {
	[ "$(srpol -j job show "$1" | gojq '.[0].placed')" = "$2" ]
}
