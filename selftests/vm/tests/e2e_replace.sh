#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A whole configuration of 1000 policies and 1000 rules is replaced while
# packets of all of them are under way, to and fro: no packet is lost, none
# takes a path that neither configuration has, and all move at one point.
#
#	old: policy N goes over spine 1 or 2	new: over spine 3 or 4
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/e2e_lib.sh
. selftests/vm/tests/e2e_lib.sh

export POLICIES=1000
export FIRST_PORT=10000
out=$SRPOL_OUT
judge=selftests/vm/tests/e2e_replace.py

# configuration FIRST: policies over the spines FIRST and FIRST + 1
configuration() {
	local n m

	sed 's/^dev/# dev/' "$out/base"
	for m in 1 2 3 4; do
		echo "path add $m segs fc00:0:2$m::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe"
	done
	for ((n = 1; n <= POLICIES; n++)); do
		echo "policy add color $n endpoint fd00:b::1 candidate segment-list $(($1 + n % 2))"
		echo "rule add prio $n dst fd00:b::/64 proto udp dport $((FIRST_PORT + n)) color $n"
	done
}

generation() {
	srpol -j config show | grep -o '"generation":[0-9]*'
}

sent() {
	[ "$(wc -l <"$out/progress")" -ge "$1" ]
}

e2e_up </dev/null
srpol export srpol >"$out/base"
configuration 1 >"$out/old"
configuration 3 >"$out/new"

check "a configuration of 1000 policies is applied" \
	srpol replace -f "$out/old"
check_equal "it is all there" "$((POLICIES + 1))" \
	"$(srpol policy show | grep -c ^policy)"
before=$(generation)
check "the same once more" srpol replace -f "$out/old"
check_equal "changes nothing" "$before" "$(generation)"

e2e_capture leaf1 host in "$out/sent.pcap" 'ip6 proto 43'
e2e_capture leaf2 host out "$out/arrived.pcap" 'ip6 proto 43'
: >"$out/progress"
/usr/bin/python3 $judge send "$out/progress" "$out/stop" "$out/sent.pcap" \
	"$out/arrived.pcap" &
sender=$!
check "packets are under way" busywait 60 sent 3
for turn in new old new; do
	start=$EPOCHREALTIME
	check "replaced by $turn" srpol replace -f "$out/$turn"
	echo "# it took $(((${EPOCHREALTIME/./} - ${start/./}) / 1000)) ms"
	check "packets went on" busywait 60 sent \
		$(($(wc -l <"$out/progress") + 2))
done
touch "$out/stop"
wait $sender || not_ok "the sender ran to its end"
# Each packet is written by itself, and this machine may be slow at that.
check "all packets were captured" busywait 120 /usr/bin/python3 $judge all \
	"$(tail -n 1 "$out/progress")" "$out/sent.pcap" "$out/arrived.pcap"
e2e_captured

e2e_verdicts /usr/bin/python3 $judge judge "$out/sent.pcap" \
	"$out/arrived.pcap"
check_equal "nothing was dropped" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
