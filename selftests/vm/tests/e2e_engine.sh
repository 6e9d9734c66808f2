#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srpold on two hosts of the fabric, with a topology file and nothing else: it
# makes the paths, probes them, sees a spine that drops without a word, and
# leaves alone what it did not make. Each host is a namespace of its own.
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

config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "probes": { "interval-ms": 20, "multiplier": 3, "timeout-ms": 20,
	              "wait-to-restore-ms": 300 },
	  "weights": { "delay-us": 100000 } }
	END
}

time_exceeded() {
	local node n=0

	for node in leaf1 leaf2 spine1 spine2 spine3 spine4; do
		n=$((n + $(fabric_exec $node awk '
			$1 == "Icmp6OutTimeExcds" { print $2 }' \
			/proc/net/snmp6)))
	done
	echo $n
}

lost_of_ping() {
	fabric_exec hostA ping -q -i 0.02 -c "$1" -W 1 -I fd00:a::1 fd00:b::1 |
		sed -n 's/^\([0-9]*\) packets transmitted, \([0-9]*\) received.*/\1 \2/p' |
		awk '{ print $1 - $2 }'
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
fabric_topology >"$work/topology.json"
config A >"$work/A.json"
config B >"$work/B.json"

check "the configuration is good" srpold --check-config -c "$work/A.json"
sed 's/"wait-to-restore-ms": 300/"wait": 300/' "$work/A.json" >"$work/bad.json"
check_fails "a wrong key is named" '"wait" is unknown in "probes"' \
	srpold --check-config -c "$work/bad.json"
gojq '. + { "hosts": [ "A", "A" ] }' "$work/A.json" >"$work/bad.json"
check_fails "so is a host that is there twice" '"hosts" has "A" twice' \
	srpold --check-config -c "$work/bad.json"
sed 's/fc00:0:21::/fc00:0:2x::/' "$work/topology.json" >"$work/bad"
sed "s,$work/topology.json,$work/bad," "$work/A.json" >"$work/bad.json"
check_fails "a wrong topology is told with its line" 'bad: line [0-9]+:.*locator' \
	srpold --check-config -c "$work/bad.json"

gojq '. + { "first-path": 16382 }' "$work/A.json" >"$work/bad.json"
check_fails "paths that no ids are left for are told, and why" \
	'4 paths to 1 endpoints, and no room.* 16383, .*"first-path", 16382' \
	timeout 60 srpold -n "$(fabric_ns hostA)" -c "$work/bad.json"
check_equal "none is made" "[]" "$(on A -j path show)"

# what an operator made: an id the engine would take, and a rule for all
on A path add 8192 segs fc00:0:99::1 dev hA via fd00:a::fe name by-hand
on A rule add prio 100 dst fd00:b::/64 color 100
on B rule add prio 100 dst fd00:a::/64 color 100
by_hand=$(on A -j path show 8192)

start_engine A
start_engine B
check "host A: four paths, probed and up" busywait 60 usable A 4
check "host B: likewise" busywait 60 usable B 4
second() {
	gojq ". + $1" "$work/A.json" >"$work/second.json"
	timeout 60 srpold -n "$(fabric_ns hostA)" -c "$work/second.json"
}
check_fails "a second srpold of the namespace is refused" "another srpold" \
	second '{}'
check_fails "by another socket as well" "another process has it locked" \
	second "{ \"socket\": \"$work/second.sock\" }"
echo dear >"$work/letter"
check_fails "a file is not taken for a socket" "letter is there and no socket" \
	second "{ \"socket\": \"$work/second.sock\", \"demands\": \"$work/letter\" }"
check "they leave the file, and no sockets" \
	test "$(cat "$work/letter")" = dear -a ! -e "$work/second.sock"
check_equal "the first one's probes are nobody else's" 0 \
	"$(on A -j engine show | gojq .forged)"
check_equal "the policy has them all" "[32,32,32,32]" "$(buckets A)"
check_equal "they are the engine's" '["engine"]' \
	"$(on A -j path show | gojq -c '[ .[] | select(.id != 8192) | .origin ] | unique')"
check_equal "the operator's path is untouched" "$by_hand" \
	"$(on A -j path show 8192)"
check_equal "host A reaches host B" 0 "$(lost_of_ping 20)"
check "steered, over SRv6" [ "$(on A -j stats show all |
	gojq '.[] | select(.reason == "steered") | .packets')" -ge 20 ]
check_equal "no switch answered a probe" 0 "$(time_exceeded)"
check_equal "nothing forged, nothing strange" "0 0" \
	"$(on A -j engine show | gojq -r '"\(.forged) \(.strange)"')"
check_equal "topology: every link is known to be up" '["up"]' \
	"$(on A -j engine topology | gojq -c '[ .[] |
		select(.to != "leaf2" or .from != "B") | .state ] | unique')"

check_fails "a second srpold refuses and says who is there" \
	"process ${engine[A]}" \
	srpold -n "$(fabric_ns hostA)" -c "$work/A.json"

# ---- a spine that drops without a word
p3=$(path_over A spine3)
fabric_silence spine3 on
check "the path over it is down: probes lost" \
	busywait 60 state_of A "$p3" 'down (probes-lost)'
check_equal "its buckets went to the others" 0 "$(buckets A | gojq '.[2]')"
check "the engine suspects its link" \
	grep -q spine3 <<<"$(on A engine show | grep suspect)"
check "so do the metrics, which have the link as down" grep -qE \
	'^srpol_engine_link_suspect_ratio.cable="[0-9]+",link="[^"]*spine3[^"]*". (1|0\.[0-9]+)$' \
	<<<"$(on A metrics)"
check_equal "the links of the others are up" '"spine3"' \
	"$(on A metrics | sed -n 's/^srpol_engine_link_up.*to=\(.*\)} 0$/\1/p' |
		sort -u)"
check_equal "three paths stay" 3 \
	"$(on A -j engine show | gojq .paths_usable)"
check_equal "host A still reaches host B" 0 "$(lost_of_ping 50)"
fabric_silence spine3 off
check "it answers again and is used again" busywait 60 usable A 4
check "after wait-to-restore the module has it up" \
	busywait 60 state_of A "$p3" ' up'
check_equal "the buckets are what they were" "[32,32,32,32]" "$(buckets A)"

# ---- the engine goes
ids=$(on A -j path show | gojq -c '[ .[].id ]')
at=$(on A -j config show | gojq '.[0].generation')
kill -9 "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
check_equal "killed: its metrics say so, and no more" "srpol_engine_up 0" \
	"$(on A metrics | grep '^srpol_engine')"
check_equal "killed: forwarding goes on" 0 "$(lost_of_ping 20)"
check_fails "srpol engine says so" "srpold does not run" on A engine show
start_engine A
check "started again: four paths" busywait 60 usable A 4
check_equal "the same objects" "$ids" "$(on A -j path show | gojq -c '[ .[].id ]')"
check_equal "nothing was changed for it" "$at" \
	"$(on A -j config show | gojq '.[0].generation')"

# ---- the prober is not there for a while
watch_config "$work/events" -n "$(fabric_ns hostA)" || not_ok "the monitor runs"
late=$(on A -j engine show | gojq .late_ticks)
kill -STOP "${engine[A]}"
sleep 1
kill -CONT "${engine[A]}"
check "stopped for a second: it notices" busywait 30 eval \
	'[ "$(on A -j engine show | gojq .late_ticks)" -gt "$late" ]'
check "and probes go on" busywait 30 usable A 4
watched_config || not_ok "the monitor ran all the while"
check_equal "no path was declared down" "" "$(grep down "$work/events" || :)"

# ---- somebody else's packets
fabric_exec leaf1 ping -q -c 3 -W 1 fc00:0:a::e >/dev/null 2>&1 || :
check "what is no probe of ours is counted, not believed" busywait 20 eval \
	'[ "$(on A -j engine show | gojq .forged)" -ge 3 ]'
check "garbage on the socket does no harm" eval \
	'head -c 100000 /dev/urandom | timeout 5 socat -u - "UNIX-CONNECT:/run/srpold/$(fabric_ns hostA).sock" || :'
check "it still answers" on A engine show
check "nor do 1000 clients that say nothing, or too much" timeout 120 python3 - \
	"/run/srpold/$(fabric_ns hostA).sock" <<-'END'
	import json, resource, socket, sys
	hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
	resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
	def client():
	    s = socket.socket(socket.AF_UNIX)
	    s.connect(sys.argv[1])
	    return s
	def ask(s, line):
	    s.sendall(line + b"\n")
	    return json.loads(s.makefile().readline())
	held = [client() for _ in range(1000)]
	show = b'{"version": 1, "request": "show"}'
	assert "reply" in ask(client(), show)
	for line in (b"[" * 4000, b'{"version": 2, "request": "show"}', b"{}",
	             b'{"version": 1, "request": "nothing"}', b"",
	             b'{"version": 1, "request": "why", "qp": -1}',
	             b'{"version": 1, "request": "job-add", "name": []}',
	             b'{"version": 1, "request": "link", "from": 1}'):
	    assert "error" in ask(client(), line), line
	big = client()
	try:
	    for _ in range(1000):
	        big.sendall(b"x" * 4096)
	    sys.exit("a line without end was taken")
	except OSError:
	    pass
	dropped = ask(client(), show)["reply"]["clients_dropped"]
	assert dropped >= 930, dropped
	END
check_equal "it may do what it has to, and no more" 000000c400203000 \
	"$(awk '$1 == "CapEff:" { print $2 }' "/proc/${engine[A]}/status")"

# ---- reload
p=$(path_over A spine1)
sed -i 's/"interval-ms": 20/"interval-ms": 30/' "$work/A.json"
kill -HUP "${engine[A]}"
check "SIGHUP: the new interval is in force" busywait 30 eval \
	'[ "$(on A -j engine show 2>/dev/null | gojq .interval_ms)" = 30.0 ] ||
	 [ "$(on A -j engine show 2>/dev/null | gojq .interval_ms)" = 30 ]'
check_equal "and the objects are the same" "$p" "$(path_over A spine1)"
echo '{' >"$work/A.json"
kill -HUP "${engine[A]}"
check "a wrong file changes nothing and is told" busywait 30 \
	grep -q 'what was in force stays' "$work/A.log"
gojq '.hosts[] |= (.nics += [ .nics[0] + { "name": "h\(.name)1", "rail": 1,
	"address": "fd00:\(.name | ascii_downcase):1::1" } ])' \
	"$work/topology.json" >"$work/rails.json"
# by a NIC that is there: four more paths than there are, and two ids
gojq '(.hosts[].nics[] | select(.name == "hA1").name) = "lo"' "$work/rails.json" \
	>"$work/more.json"
config A | sed 's/topology.json/more.json/' |
	gojq '. + { "first-path": 16382 }' >"$work/A.json"
kill -HUP "${engine[A]}"
check "so does a file with fewer ids than paths" busywait 30 \
	grep -q 'no room for them.*; what was in force stays' "$work/A.log"
check "paths are probed on" busywait 30 usable A 4

config A | sed 's/topology.json/rails.json/' >"$work/A.json"
kill -HUP "${engine[A]}"
check "why of a host is of all its rails" busywait 30 eval \
	'[ "$(on A -j engine why B | gojq -c "[ .policies[].to.rail ]")" = "[0,1]" ]'
check_equal "that of an address is of its own" "[1]" \
	"$(on A -j engine why fd00:b:1::1 | gojq -c '[ .policies[].to.rail ]')"

kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
check_equal "ended: forwarding goes on" 0 "$(lost_of_ping 20)"
check_equal "no socket is left" "" \
	"$(ls "/run/srpold/$(fabric_ns hostA).sock" 2>/dev/null || :)"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
