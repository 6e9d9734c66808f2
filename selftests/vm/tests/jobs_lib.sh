# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Jobs of RDMA programs, with one srpold for both hosts, which are in this
# namespace; to be sourced after engine_lib.sh, with FABRIC_HOSTS=init.

# shellcheck disable=SC2034	# ended by name in stop_programs
declare -A pid=()

on() {
	shift
	srpol "$@"
}

stop_programs() {
	local p

	for p in "${pid[@]}"; do
		kill "$p" 2>/dev/null || :
		wait "$p" 2>/dev/null || :
	done
}

down() {
	rdma_down
	srpol dev del hA 2>/dev/null || :
	srpol dev del hB 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
	rm -f /run/srpold/*.jobs
	rm -rf "$work"
}

# start_both PROBES [MORE]: one engine, with these settings of probes, and more
start_both() {
	fabric_topology >"$work/topology.json"
	cat >"$work/both.json" <<-END
	{ "topology": "$work/topology.json", "hosts": [ "A", "B" ],
	  "probes": { $1, "multiplier": 3, "timeout-ms": 500,
	              "wait-to-restore-ms": 1000 },
	  "weights": { "delay-us": 10000000, "interval-ms": 200 }${2:+, $2} }
	END
	srpold -c "$work/both.json" 2>>"$work/both.log" &
	engine[both]=$!
}

# of_processes: RDMA resources from stdin; where the kernel names a thread that
# made one, its process instead
of_processes() {
	local list thread process

	list=$(cat)
	for thread in $(gojq '.[].pid // empty' <<<"$list" | sort -u); do
		process=$(awk '$1 == "Tgid:" { print $2 }' "/proc/$thread/status")
		list=$(gojq --argjson thread "$thread" --argjson process "$process" \
			--arg comm "$(<"/proc/$process/comm")" '
			map(if .pid == $thread
			    then .pid = $process | .comm = $comm
			    else . end)' <<<"$list")
	done
	echo "$list"
}

# qps FILTER DEVICE: numbers of what those QPs send to, by the kernel
qps() {
	rdma -j -d resource show qp link "$2" | of_processes | gojq -c "[ .[] |
		select(.rqpn > 1 and $1) | .rqpn ] | unique | sort"
}

# ruled JOB [DEV]: all QP numbers that its rules have, for that device or any
ruled() {
	local color

	color=$(color_of "$1")
	srpol -j rule show | gojq -c --argjson color "${color:-0}" \
		--arg dev "${2:-null}" '
		[ .[] | select(.color == $color and
			       (.match.dev // "null") == $dev) |
		  .match.qp | range(.[0]; .[1] + 1) ] | sort'
}

ruled_is() {
	[ "$(ruled "$1" "$2")" = "$3" ]
}

color_of() {
	srpol -j job show "$1" | gojq '.[0].color'
}

# sent JOB: bytes, with the inner headers and what acknowledges
sent() {
	srpol -j job show "$1" | gojq '.[0].bytes'
}

# used JOB: the spines that its flows from A turn at, by its own count
used() {
	srpol -j job show "$1" | gojq -r '[ .[0].use[] | select(.bytes > 0) |
		.name | select(startswith("A-")) | ltrimstr("A-") |
		rtrimstr("-B") ] | sort | join(" ")'
}

# used_only JOB SPINE...: some of these, and no others
used_only() {
	local spine had

	had=$(used "$1")
	echo "by its own count $had"
	[ -n "$had" ] || return
	for spine in $had; do
		[[ " ${*:2} " == *" $spine "* ]] || return
	done
}
