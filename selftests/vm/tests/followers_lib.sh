# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# srpold on hosts A and B, which follow srpol-fabricd; to be sourced after
# fabricd_lib.sh.

# config HOST: its store is a Unix socket, which all namespaces reach
config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "probes": { "interval-ms": 20, "multiplier": 3, "timeout-ms": 20,
	              "wait-to-restore-ms": 300 },
	  "weights": { "delay-us": 100000 },
	  "fabric": { "folder": "$work", "damp-ms": 200, "load-ms": 300,
	              "demand-ms": 300,
	              "store": { "socket": "$work/store.sock" } } }
	END
}

# announce JOB TEXT
announce() {
	jq -nc --arg key "/srpol/job/$1" --arg value "$2" \
		'{ id: 1, op: "txn", compare: [], put: [ [ $key, $value, 0 ] ] }' |
		socat -t 2 - "unix:$work/store.sock" | jq -e .succeeded
}

# planned LIST: weights from leaf1 to leaf2
planned() {
	[ "$(fabric plan from leaf1 | jq -c '.pairs[0].weights')" = "$1" ]
}

# candidate HOST PREFERENCE [COLOR]: whether it is active, and the buckets of
# its lists
candidate() {
	on "$1" -j policy show color "${3:-100}" | jq -c --argjson p "$2" '
		[ .[0].candidates[] | select(.preference == $p) ] | .[0] |
		[ .active // false, [ .segment_lists[].buckets ] ]'
}

candidate_is() {
	[ "$(candidate "$1" "$2" "${4:-100}")" = "$3" ]
}

# on_epoch: both hosts have applied the epoch in force
on_epoch() {
	fabric show | jq -e '.epoch as $e | .leads and
		(.hosts | length == 2 and all(.epoch == $e))'
}
