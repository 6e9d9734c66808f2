# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# srpold on the hosts of the fabric, each in a namespace of its own; to be
# sourced after ktap.sh and fabric.sh. The test writes $work/HOST.json.

work=$(mktemp -d)
declare -A engine=()

on() {
	local host=$1
	shift

	srpol -n "$(fabric_ns "host$host")" "$@"
}

start_engine() {
	local host=$1

	srpold -n "$(fabric_ns "host$host")" -c "$work/$host.json" \
		2>>"$work/$host.log" &
	engine[$host]=$!
}

# start_both: with their defaults
start_both() {
	local host

	fabric_topology >"$work/topology.json"
	for host in A B; do
		echo "{ \"topology\": \"$work/topology.json\", \"hosts\": [ \"$host\" ] }" \
			>"$work/$host.json"
		start_engine $host
	done
}

stop_engines() {
	local pid

	for pid in "${engine[@]}"; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
}

unload() {
	on A dev del hA 2>/dev/null || :
	on B dev del hB 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
	rm -rf "$work"
}

# usable HOST N: so many paths are usable, and each answered
usable() {
	on "$1" -j engine paths 2>/dev/null | gojq -e --argjson n "$2" '
		[ .[] | select(.probed and .state == "up" and .received > 2) ] |
		length == $n' >/dev/null
}

# received HOST: fewest probes that came back of any path
received() {
	on "$1" -j engine paths | gojq '[ .[].received ] | min'
}

# receives HOST N
receives() {
	[ "$(received "$1")" -ge "$2" ]
}

# path HOST SPINE: id of the path over it
path_over() {
	on "$1" -j engine paths | gojq ".[] | select(.name | contains(\"$2\")) | .path"
}

# buckets HOST: of each list of the engine's policy, in order
buckets() {
	on "$1" -j policy show color 100 |
		gojq -c '[ .[0].candidates[0].segment_lists[].buckets ]'
}

# watch_config FILE [-n NAMESPACE]: what changes in the module there is a line of the
# file, until watched_config
watch_config() {
	watched=("$@")
	srpol -t "${@:2}" monitor config >"$1" &
	watcher=$!
	patiently 20 config_is_watched
}

# config_is_watched: what is changed now is in the file
config_is_watched() {
	local prefix=fd00:ffff:$((RANDOM % 10000))::/64

	srpol "${watched[@]:1}" endpoint add "$prefix" to fd00:ffff::1
	srpol "${watched[@]:1}" endpoint del "$prefix"
	grep -q "$prefix" "${watched[0]}"
}

# watched_config: all that was changed until now is in the file
watched_config() {
	patiently 20 config_is_watched || return
	kill "$watcher"
	wait "$watcher" 2>/dev/null || :
}

state_of() {
	on "$1" path show "$2" | head -n 1 | grep -q "$3"
}

# patiently SECONDS COMMAND...: as busywait, for what takes long: a guest that
# does nothing else but look has a slow clock
patiently() {
	local end=$((SECONDS + 3 * $1 * ${SRPOL_SLOWER:-1} + 1))
	shift

	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		pause 0.3
	done
}
