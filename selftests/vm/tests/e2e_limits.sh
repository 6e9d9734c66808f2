#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two tenants on host A, one greedy, on links of 10 Mbit/s (TBF at leaf1): red
# sends as much as it can, blue what it is guaranteed. Without a maximum red takes
# what is blue's; with one host A holds red to it, and blue has its guarantee, by
# the counters of what arrives at B. Once where packets wait at the device (qdisc
# fq), once where they are dropped.
#
# SRPOL_CLOCK=counted SRPOL_TIMEOUT=900

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
FABRIC_SPINES=1
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh
# shellcheck source=selftests/vm/tests/fabricd_lib.sh
. selftests/vm/tests/fabricd_lib.sh

LINK=10000	# kbit/s
RED=5000	# maximum
BLUE=3500	# guarantee: with outer headers both fit

config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "probes": { "interval-ms": 100, "multiplier": 10, "timeout-ms": 500,
	              "wait-to-restore-ms": 300 },
	  "weights": { "delay-us": 10000000 },
	  "fabric": { "folder": "$work", "damp-ms": 200,
	              "store": { "socket": "$work/store.sock" } } }
	END
}

# send PORT KBPS MS: datagrams of 4800 bytes; by how many ms it was late at worst
send() {
	fabric_exec hostA python3 - "$@" <<-'END'
	import socket, sys, time
	port, kbps, ms = map(int, sys.argv[1:])
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.bind(("fd00:a::1", port))
	s.setblocking(False)
	start = time.monotonic()
	due = start
	late = 0
	while due - start < ms / 1000:
	    now = time.monotonic()
	    if now < due:
	        time.sleep(due - now)
	    late = max(late, now - due)
	    try:
	        s.sendto(bytes(4752), ("fd00:b::1", port))
	    except BlockingIOError:
	        pass
	    due += 4800 * 8 / (kbps * 1000)
	print(int(late * 1000))
	END
}

# arrived PORT: packets of 4800 bytes at B, by then without outer headers
arrived() {
	tc -n "$(fabric_ns hostB)" -s -j filter show dev hB ingress |
		gojq --argjson port "$1" '[ .[] |
			select(.options.keys.dst_port? == $port) ] |
			.[0].options.actions[0].stats.packets'
}

# limit FIELD: of red, at host A
limit() {
	on A -j engine show | gojq "[ .limits[] | select(.color == 10) ] |
		if length == 1 then .[0].$1 else null end"
}

limit_is() {
	[ "$(limit "$1")" = "$2" ]
}

# plan_is EPOCH: 0: none
plan_is() {
	[ "$(on A -j engine show | gojq '.fabric[0].epoch')" = "$1" ]
}

# contend: both send for MS; sets got_red and got_blue, kbit/s that arrived. Again
# if one of them was late: it makes up for that, faster than it is meant to.
MS=6000
contend() {
	local red blue red_sends late tries

	for ((tries = 0; tries < 5; tries++)); do
		red=$(arrived 1010)
		blue=$(arrived 1020)
		send 1010 15000 "$MS" >"$work/late" &
		red_sends=$!
		late=$(send 1020 "$BLUE" "$MS")
		wait "$red_sends"
		# what waits at leaf1 is 240 ms
		sleep 1
		[ "$late" -gt 50 ] || [ "$(<"$work/late")" -gt 50 ] || break
	done
	got_red=$((($(arrived 1010) - red) * 38400 / MS))
	got_blue=$((($(arrived 1020) - blue) * 38400 / MS))
	echo "# red $got_red kbit/s, blue $got_blue kbit/s of $BLUE;" \
		"limit: $(on A -j engine show 2>/dev/null | gojq -c '.limits')"
}

# held: red has no more than its maximum within 5 %: what it did not use before it
# sent, 52 ms, and what waits when it has sent, 105 ms, are half of that. Nor is
# it much less: a sender that was late by more than the former does not get that back.
held() {
	[ $((20 * got_red)) -le $((21 * RED)) ] && [ $((20 * got_red)) -ge $((17 * RED)) ]
}

# within VALUE OF: by 5 %
within() {
	[ $((20 * $1)) -ge $((19 * $2)) ] && [ $((20 * $1)) -le $((21 * $2)) ]
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop_fabricd
fabric_topology | sed "s/\"rate\": \"[0-9]*G\"/\"rate\": \"${LINK}k\"/" \
	>"$work/topology.json"
config A >"$work/A.json"
config B >"$work/B.json"
cat >"$work/fabricd.json" <<-END
{ "name": "engine", "topology": "$work/topology.json", "lease-s": 60,
  "file": "$work/store.json", "socket": "$work/control.sock",
  "store": { "socket": "$work/store.sock" } }
END
ip netns exec "$(fabric_ns leaf1)" tc qdisc replace dev spine1 root tbf \
	rate "${LINK}kbit" burst 10kb limit 300kb
tc -n "$(fabric_ns hostB)" qdisc add dev hB clsact
for port in 1010 1020; do
	tc -n "$(fabric_ns hostB)" filter add dev hB ingress protocol ipv6 \
		prio $port flower ip_proto udp dst_port $port action drop
done

start_engine A
start_engine B
start_fabricd
check "paths are usable" patiently 60 usable A 1
check "the engine leads" patiently 30 eval 'fabric show | gojq -e .leads'
check "two tenants" eval "fabric tenant add red color 10 guaranteed 1M &&
	fabric tenant add blue color 20 guaranteed ${BLUE}k"
check "blue's job has its guarantee" eval "fabric job add b tenant blue \
	hosts A,B bytes 1000000 bandwidth ${BLUE}k | gojq -e '.decision == \"accept\"'"
on A job add red src fd00:a::1/128 color 10
on A job add blue src fd00:a::1/128 color 20
on A rule add prio 50 dport 1010 color 10
on A rule add prio 51 dport 1020 color 20
check "flows of both have a policy" patiently 60 eval "
	on A policy show color 10 | grep -q up && on A policy show color 20 |
	grep -q up"

# gets_through PORT: something that is sent there arrives
gets_through() {
	send "$1" 1000 200
	[ "$(arrived "$1")" -gt 0 ]
}

check "and what they send arrives" eval "
	patiently 60 gets_through 1010 && patiently 60 gets_through 1020"
contend
check "without a maximum the greedy one takes what is the other's" \
	[ $((20 * got_blue)) -lt $((19 * BLUE)) -a "$got_red" -gt "$RED" ]
check_equal "nothing is limited" null "$(limit rate)"

check "red gets a maximum" fabric tenant add red color 10 guaranteed 1M \
	max "${RED}k"
check "host A knows it" patiently 30 limit_is rate $((RED * 1000))
check_equal "without fq it drops what is more" false "$(limit paced)"
contend
check "the greedy one is held to its maximum" held
check "the other one has its guarantee within 5 %" \
	within "$got_blue" "$BLUE"
check "drops are counted for the color, and by their reason" eval '
	n=$(limit dropped) && [ "$n" -gt 0 ] &&
	[ "$(on A -j stats show | gojq "[ .. | objects | select(.reason? == \"limited\") ] |
		.[0].packets")" = "$n" ]'

modprobe sch_fq
fabric_exec hostA tc qdisc replace dev hA root fq
check "with fq at the device packets wait for their time" \
	patiently 30 limit_is paced true
contend
check "then the greedy one is held to its maximum, too" held
check "and the other one its guarantee" within "$got_blue" "$BLUE"
check "packets were delayed" eval '[ "$(limit delayed)" -gt 0 ]'

# ---- nobody there, and back
kill -9 "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
stop_fabricd
contend
check "without srpold and the engine the limit stays" held
start_engine A
check "srpold takes it from the plan on its disk" \
	patiently 60 limit_is rate $((RED * 1000))
kill -9 "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
rm "$work/A.plan"
start_engine A
check "srpold has no plan" patiently 60 plan_is 0
check_equal "and the limit stays until it has one" $((RED * 1000)) "$(limit rate)"
start_fabricd
check "the engine leads again" patiently 30 eval 'fabric show | gojq -e .leads'
check "red's maximum is taken back" fabric tenant add red color 10 guaranteed 1M
check "and host A limits nothing" patiently 30 limit_is rate null

# ---- a host that is to follow no plan any more
check "red gets one again" eval "fabric tenant add red color 10 guaranteed 1M \
	max ${RED}k && patiently 30 limit_is rate $((RED * 1000))"
kill "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
config A | gojq 'del(.fabric)' >"$work/A.json"
start_engine A
check "host A without a plan limits nothing" patiently 60 limit_is rate null
