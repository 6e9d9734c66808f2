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
	gojq -nc --arg key "/srpol/job/$1" --arg value "$2" \
		'{ id: 1, op: "txn", compare: [], put: [ [ $key, $value, 0 ] ] }' |
		socat -t 2 - "unix:$work/store.sock" | gojq -e .succeeded
}

# stored KEY: its value
stored() {
	gojq -nc --arg key "/srpol/$1" \
		'{ id: 1, op: "range", key: $key, prefix: false, revision: 0 }' |
		socat -t 2 - "unix:$work/store.sock" | gojq -r '.kvs[0][1]'
}

# planned LIST: weights from leaf1 to leaf2
planned() {
	[ "$(fabric plan from leaf1 | gojq -c '.pairs[0].weights')" = "$1" ]
}

# candidate HOST PREFERENCE [COLOR]: whether it is active, and the buckets of
# its lists
candidate() {
	on "$1" -j policy show color "${3:-100}" | gojq -c --argjson p "$2" '
		[ .[0].candidates[] | select(.preference == $p) ] | .[0] |
		[ .active // false, [ .segment_lists[].buckets ] ]'
}

candidate_is() {
	[ "$(candidate "$1" "$2" "${4:-100}")" = "$3" ]
}

# on_epoch: both hosts have applied the epoch in force
on_epoch() {
	fabric show | gojq -e '.epoch as $e | .leads and
		(.hosts | length == 2 and all(.epoch == $e))'
}

port=20000

# sent: 2000 flows from host A to host B, three packets of 1400 bytes each, so that
# probes are little beside them; prints what each spine had of what leaf1 sent
# meanwhile, in percent
sent() {
	local before

	before=$(fabric_spine_bytes)
	fabric_exec hostA python3 - $port <<-'END'
	import socket, sys
	for port in range(int(sys.argv[1]), int(sys.argv[1]) + 2000):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.bind(("fd00:a::1", port))
	    for _ in range(3):
	        s.sendto(bytes(1400), ("fd00:b::1", 9))
	END
	paste -d ' ' <(echo "$before") <(fabric_spine_bytes) | awk '
		{ n[NR] = $5 - $2; sum += n[NR] }
		END { for (i = 1; i <= NR; i++) printf "%.0f\n", 100 * n[i] / sum }'
}

# spines_have PERCENT...: of packets that are sent now, within 5 percent of all
spines_have() {
	local got

	got=$(sent)
	port=$((port + 2000))
	echo "# spines have" $got
	paste -d ' ' <(printf '%s\n' "$@") <(echo "$got") | awk '
		{ d = $1 - $2; if (d < -5 || d > 5) bad = 1 }
		END { exit bad || NR != 4 }'
}
