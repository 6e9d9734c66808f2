#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The global engine with srpold on two hosts, module and packets: a job is
# announced, the plan comes, flows follow it; what only the other host knows of
# a link reaches this one by the plan; the engine goes, srpold goes, the plan
# stays; a spine that drops without a word leaves the plan.
#
# SRPOL_CLOCK=counted

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

# job NAME: its state
job() {
	fabric jobs "$1" | gojq -r '.[0].state // "none"'
}

job_is() {
	[ "$(job "$1")" = "$2" ]
}

# shares PORT: of flows from host A from PORT on, in percent, in order of the
# spines
shares() {
	local spine

	for spine in 1 2 3 4; do
		on A -j flow show dst fd00:b::1 | gojq \
			--argjson path "$(path_over A spine$spine)" \
			--argjson port "$1" '
			[ .[] | select(.sport >= $port) ] |
			100 * ([ .[] | select(.path == $path) ] | length) / length'
	done
}

# follow_from PORT PERCENT...: flows have these shares, within 5 percent of all
follow_from() {
	local port=$1
	shift

	paste -d ' ' <(printf '%s\n' "$@") <(shares "$port") | awk '
		{ d = $1 - $2; if (d < -5 || d > 5) { print; bad = 1 } }
		END { exit bad || NR != 4 }'
}

# told FILTER EVENT: true of the list of such events
told() {
	gojq -es "map(select(.event == \"$2\")) | $1" "$work/watched" >/dev/null
}

send() {
	fabric_exec hostA python3 - "$1" "$2" <<-'END'
	import socket, sys
	first, n = int(sys.argv[1]), int(sys.argv[2])
	for port in range(first, first + n):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.bind(("fd00:a::1", port))
	    s.sendto(b"x", ("fd00:b::1", 9))
	END
}

# traffic HOST PEER: a thousand flows of it, until stop_traffic
senders=()
traffic() {
	# not fabric_exec: $! has to be python itself
	ip netns exec "$(fabric_ns "host$1")" python3 - "fd00:${1,,}::1" \
		"fd00:${2,,}::1" <<-'END' &
	import socket, sys, time
	flows = []
	for port in range(10000, 11000):
	    flows.append(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
	    flows[-1].bind((sys.argv[1], port))
	while True:
	    for s in flows:
	        s.sendto(bytes(1000), (sys.argv[2], 9))
	    time.sleep(0.2)
	END
	senders+=($!)
}

stop_traffic() {
	local pid

	for pid in "${senders[@]}"; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	senders=()
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop_fabricd
at_exit stop_traffic
fabric_topology >"$work/topology.json"
config A >"$work/A.json"
config B >"$work/B.json"
cat >"$work/fabricd.json" <<-END
{ "name": "engine", "topology": "$work/topology.json", "lease-s": 60,
  "forecasts": 100,
  "file": "$work/store.json", "socket": "$work/control.sock",
  "store": { "socket": "$work/store.sock" } }
END

check "the engine's configuration is good" \
	srpol-fabricd --check-config -c "$work/fabricd.json"
sed 's/"lease-s"/"leases"/' "$work/fabricd.json" >"$work/bad.json"
check_fails "a wrong key is named" '"leases" is unknown' \
	srpol-fabricd --check-config -c "$work/bad.json"
sed 's/"damp-ms"/"damping"/' "$work/A.json" >"$work/bad.json"
check_fails "likewise of srpold" '"damping" is unknown in "fabric"' \
	srpold --check-config -c "$work/bad.json"
gojq --arg cert "$work/no.pem" '.fabric.bus = { servers: ["tls://[::1]:4222"], cacert: $cert }' \
	"$work/A.json" >"$work/bad.json"
check_fails "a certificate that is not there" "bus: .*no.pem" \
	srpold --check-config -c "$work/bad.json"
check_fails "no engine, and the command says so" "srpol-fabricd does not run" \
	fabric show

on A rule add prio 100 dst fd00:b::/64 color 100
start_engine A
start_engine B
check "without a global engine the local ones work" patiently 60 usable A 4
check_equal "with their own candidate path" '[true,[32,32,32,32]]' \
	"$(candidate A 50)"
# not on: $! has to be srpol itself
srpol -n "$(fabric_ns hostA)" -j engine watch >"$work/watched" &
watcher=$!

# ---- a demand
start_fabricd
check "the engine leads" patiently 30 eval 'fabric show | gojq -e .leads'
on A engine demand add mine src A dst B bytes 1000000 for 600s every 1s
check "what an application of host A will send is planned for" \
	patiently 30 planned '[15,15,15,15]'
check "as a forecast" eval \
	"fabric plan from leaf1 | gojq -e '.pairs[0].for == [\"forecasts\"]'"
check "host A follows that plan" \
	patiently 30 candidate_is A 100 '[true,[32,32,32,32]]'
# the module has it before srpold looks at what changed, and the topic ends with the demand
check "who watches is told that: weights are the plan's, because of it" \
	patiently 30 told 'map(select(.color == 100)) | any(.by == "engine") and
		any(.by == "plan" and (.because | index("plan")))' paths
check_fails "who has no demand is told so" 'no demand of owner "min" and user 0' \
	on A engine demand del min
on A engine demand del mine
check "taken back, it is not" patiently 30 planned null
check "and host A has its own candidate path" patiently 30 candidate_is A 50 \
	'[true,[32,32,32,32]]'
check "a job is announced" announce t/train \
	'{ "all-to-all": { "hosts": [ "A", "B" ], "bytes": 1000000000 } }'
check "it is planned for" patiently 30 planned '[15,15,15,15]'
check "both hosts applied that, and say so" patiently 30 on_epoch
check_equal "the plan is the active candidate path" '[true,[32,32,32,32]]' \
	"$(candidate A 100)"
check_equal "the local one is there, and is not" '[false,[0,0,0,0]]' \
	"$(candidate A 50 | sed 's/null/0/g')"

# ---- what only host B knows
on B engine link set leaf2 spine2 capacity 20G
check "what host B says of its link is planned with" \
	patiently 30 planned '[15,3,15,15]'
check "both hosts applied that" patiently 30 on_epoch
check "host A, which knows nothing of it, has the plan's buckets" \
	patiently 30 candidate_is A 100 '[true,[40,8,40,40]]'
check "why says who reported it" eval \
	"fabric why A B | gojq -e '.planes[0].paths[1].links[1].reported_by == [\"B\"]'"
send 20000 1000
check "flows follow the plan within 5 %" follow_from 20000 31 6 31 31

# ---- what the engine knows of traffic
check "when that is over no host says that it sends something" \
	patiently 60 eval "fabric show | gojq -e '.load.bps == 0'"
on B rule add prio 100 dst fd00:a::/64 color 100
traffic A B
traffic B A
check "what both hosts measure is the plan, within 5 %" patiently 120 eval \
	"fabric show | gojq -e '.load | .hosts == 2 and .off_plan != null and
		.off_plan < 0.05'"
stop_traffic
check "and nothing when nothing is sent" patiently 60 eval \
	"fabric show | gojq -e '.load.bps == 0'"
on B rule del prio 100

# ---- a tenant, whose flows have links of their own
check "a tenant is made" fabric tenant add red color 7 paths spine1,spine3 \
	guaranteed 10G
check "its job reserves bandwidth" eval "fabric job add slice tenant red \
	hosts A,B bytes 1000000 bandwidth 4G |
	gojq -e '.class == \"reservation\"'"
check "hosts acknowledge that" patiently 60 job_is slice reserved
check "what would not fit is refused, with what would" eval "
	{ fabric job add more tenant red hosts A,B bytes 1000000 \\
		bandwidth 9G || :; } |
	gojq -e '.decision == \"reject\" and .offer.guaranteed == 6000000000'"
on A job add mine src fd00:a::1/128 color 7
check "its flows' policy has the plan's weights of the color" \
	patiently 60 candidate_is A 100 '[true,[64,0,64,0]]' 7
check_equal "that of all traffic is as before" \
	'[true,[40,8,40,40]]' "$(candidate A 100)"
on A rule add prio 50 dst fd00:b::/64 color 7
send 30000 1000
check "the tenant's flows take its links only" follow_from 30000 50 0 50 0
on A rule del prio 50
on A job del mine
check "the job ends" fabric job del slice tenant red
check "and so does its bandwidth" \
	patiently 60 eval "fabric tenants | gojq -e '.[0].reserved == 0 and .[0].jobs == 0'"
check "and the tenant, when hosts have acknowledged that" \
	patiently 60 fabric tenant del red

# ---- what an application is told of it
check "who watches is told of the plan that is in force, too" patiently 60 told \
	".[-1] | .epoch == $(fabric show | gojq .epoch) and .host == \"A\"" plan
check "and of the tenant's job: half by each of its spines" told 'map(select(.job == "mine")) |
	any(.by == "plan" and (.paths | sort_by(.name) | map(.percent)) == [ 50, 0, 50, 0 ])' paths
check "and of its end" told 'any(.color == 7)' end
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work/watched"

# ---- nobody there
epoch=$(fabric show | gojq .epoch)
stop_fabricd
check "without the engine the plan stays" \
	candidate_is A 100 '[true,[40,8,40,40]]'
kill -9 "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
rc=0
wait $watcher || rc=$?
check_equal "who watches is told no more, and says so" 2 $rc
generation=$(on A -j config show | gojq '.[0].generation')
start_engine A
check "srpold comes again" patiently 60 usable A 4
check_equal "with the plan on its disk" "$epoch false" \
	"$(on A -j engine show | gojq -r '.fabric[0] | "\(.epoch) \(.connected)"')"
check_equal "nothing changed in the module" "$generation" \
	"$(on A -j config show | gojq '.[0].generation')"

# ---- a spine that drops without a word
start_fabricd
check "the engine leads again, and hosts follow" patiently 60 on_epoch
check "hosts tell that probes pass the links up from them and their leaves" \
	patiently 60 eval '[ "$(stored link/0/leaf1/A | gojq -c .passes)" = \
		"[{\"from\":\"A\"},{\"from\":\"leaf1\"}]" ]'
fabric_silence spine3 on
check "the spine leaves the plan" patiently 60 planned '[15,3,0,15]'
check_equal "as both hosts suspect both of its links" \
	'[["down","several-hosts",["A","B"]],["down","several-hosts",["A","B"]]]' \
	"$(fabric show | gojq -c '[ .suspects[] |
		[ .state, .reason, .suspected_by ] ]')"
check_equal "which no probe of host A passes" '[{"from":"A"},{"but":["spine3"],"from":"leaf1"}]' \
	"$(stored link/0/leaf1/A | gojq -c .passes)"
check "both hosts applied that" patiently 60 on_epoch
check "host A sends nothing over it, by the plan" \
	patiently 60 eval 'candidate A 100 | gojq -e ".[0] and .[1][2] == 0"'
fabric_silence spine3 off
check "it comes back when it has been well for a while" \
	patiently 120 planned '[15,3,15,15]'
check "and host A sends over it, by the plan" \
	patiently 60 eval 'candidate A 100 | gojq -e ".[0] and .[1][2] > 0"'

# ---- a plan for another topology
sed 's/"delay-ns": [0-9]*/"delay-ns": 7/' "$work/topology.json" |
	sed 's/"rate": "100G"/"rate": "101G"/' >"$work/other.json"
stop_fabricd
sed -i "s,topology.json,other.json," "$work/fabricd.json"
before=$(candidate A 100)
start_fabricd
check "a plan for another topology is refused, and counted" patiently 60 eval \
	"on A -j engine show | gojq -e '.fabric[0].refused_by.topology > 0'"
check_equal "and nothing changed" "$before" "$(candidate A 100)"
