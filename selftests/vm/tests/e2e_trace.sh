#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srpol path trace through kernel routers: each of them is told, in order, and so
# are the SIDs that probes go to from there; paths in each form are traced to the
# end, whatever their state; routers that drop or refuse are told as well. Switches
# that choose by the flow label are found by several of these.
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

pcap=$SRPOL_OUT/probes.pcap

# hops JSON: of each hop who answered, where the probe went from there, what
# the answer was and how often it came
hops() {
	gojq -r '.[].hops[] | [ .hop, (.answers[] |
		.from, .to // "-", .answer, .count) ] | join(" ")' "$1"
}

# trace PATH WORD...: into $SRPOL_OUT/trace, as JSON
trace() {
	srpol -j path trace "$@" >"$SRPOL_OUT/trace"
}

reached() {
	trace "$@" && gojq -e '.[0].reached' "$SRPOL_OUT/trace" >/dev/null
}

# fails_after HOP ANSWER: the last trace was not well, and ended so
fails_after() {
	gojq -e --argjson hop "$1" --arg answer "$2" '.[0] | (.reached | not) and
		.hops[-1].hop == $hop and .hops[-1].answers[0].answer == $answer' \
		"$SRPOL_OUT/trace" >/dev/null
}

# sent FIELD: of the probes that left, each value once
sent() {
	tshark -n -r "$pcap" -Y 'icmpv6.type==128' \
		-T fields -E occurrence=f -e "$1" 2>/dev/null | sort -nu | xargs
}

e2e_up <<-END
	path add 1 name three segs fc00:0:21::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
	path add 2 segs fc00:0:22::1,fc00:0:12::1,fc00:0:b::d6 encap full timestamp on dev hA via fd00:a::fe
	path add 3 segs fc00:0:23::1,fc00:0:b::d6 tlv 130:0102 dev hA via fd00:a::fe
	path add 4 usids fcbb:bb00::/32 24,12 segs fc00:0:b::d6 dev hA via fd00:a::fe
	path add 5 usids fcbb:bb00::/32 24,12,b dev hA via fd00:a::fe
	path add 6 segs fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
END

# the fabric has routes to its switches only: answers of B's SID go home, too
back=()
for m in 1 2 3 4; do
	back+=(nexthop via "fd00:2:$m::2" dev "spine$m")
done
ip -n "$(fabric_ns leaf2)" -6 route add fd00:a::/64 "${back[@]}"

e2e_capture leaf1 host in "$pcap" ip6
check "the path is traced to its end" reached three interval 20ms
e2e_captured
check_equal "by its four hops" \
	"1 fd00:a::fe fc00:0:21::1 time-exceeded 3
2 fd00:1:1::2 fc00:0:12::1 time-exceeded 3
3 fd00:2:1::1 fc00:0:b::d6 time-exceeded 3
4 fc00:0:b::d6 - reached 3" "$(hops "$SRPOL_OUT/trace")"
check "the schema has it all" selftests/schema/valid.py path-trace "$SRPOL_OUT/trace"
check_equal "probes have its segment list, and one flow label" \
	"fc00:0:21::1 2 1" \
	"$(sent ipv6.dst) $(sent ipv6.routing.segleft) $(sent ipv6.flow | wc -w)"
check_equal "with hop limits one by one" "1 2 3 4" "$(sent ipv6.hlim)"
check_equal "their checksum is good" 1 "$(sent icmpv6.checksum.status)"
check_equal "none was steered, though a rule matches all" 0 "$(e2e_reason steered)"
check "as text" grep -qE \
	'^	hop 2 fd00:1:1::2 to fc00:0:12::1 1/1 rtt [0-9.]+/[0-9.]+/[0-9.]+ ms$' \
	<<<"$(srpol path trace 1 count 1)"
check_equal "in short" "path 1 name three up dev hA reached at hop 4" \
	"$(srpol -br path trace 1 count 1)"
check_equal "on one line" 1 "$(srpol -o path trace 1 count 1 | wc -l)"

for ((i = 2; i <= 5; i++)); do
	check "path $i is traced to its end" reached "$i" count 2 interval 20ms
done

# ---- switches between
spines=()
for m in 1 2 3 4; do
	spines+=(nexthop via "fd00:1:$m::2" dev "spine$m")
done
ip -n "$(fabric_ns leaf1)" -6 route add fc00:0:12::/48 "${spines[@]}"
check "a sparse list is traced" reached 6 interval 20ms
check_equal "by one router at each hop" "1 1 1 1" \
	"$(gojq -r '[ .[].hops[].answers | length ] | join(" ")' "$SRPOL_OUT/trace")"
check "and with 32 flow labels" reached 6 labels 32 interval 20ms
check_equal "by all four spines" "fd00:1:1::2 fd00:1:2::2 fd00:1:3::2 fd00:1:4::2" \
	"$(gojq -r '.[].hops[1].answers[].from' "$SRPOL_OUT/trace" | sort | xargs)"
check_equal "each probe once" 32 \
	"$(gojq '[ .[].hops[1].answers[].count ] | add' "$SRPOL_OUT/trace")"
check_equal "and by each label the last SID" 32 \
	"$(gojq '.[0].labels_reached' "$SRPOL_OUT/trace")"
ip -n "$(fabric_ns spine2)" -6 route replace prohibit fc00:0:12::/48
check_fails "one of these refuses" "" trace 6 labels 32 interval 20ms wait 300ms
check "the others are traced to the end" gojq -e '.[0] | (.reached | not) and
	.labels_reached > 8 and .labels_reached < 32 and
	(.labels_reached as $n | .hops[3].answers | map(.count) == [ $n ])' "$SRPOL_OUT/trace"
check_equal "and the one is told" "fd00:1:2::2 prohibited" \
	"$(gojq -r '.[0].hops[1].answers[] | select(.answer != "time-exceeded") |
		"\(.from) \(.answer)"' "$SRPOL_OUT/trace")"
ip -n "$(fabric_ns spine2)" -6 route replace fc00:0:12::/48 via fd00:2:2::1 dev leaf2
ip netns exec "$(fabric_ns leaf1)" sysctl -qw net.ipv6.fib_multipath_hash_policy=1
check "by ports, which the packets have not" reached 6 labels 32 interval 20ms
check_equal "it is one spine" 1 \
	"$(gojq '.[].hops[1].answers | length' "$SRPOL_OUT/trace")"

srpol config set flow-label zero
check_fails "several labels where all packets have none" 'flow label 0' trace 6 labels 2
check "one" reached 6 count 1
srpol config set path-id label
check_fails "more labels than the path's id leaves" 'labels: .*64' trace 6 labels 65
check "as many as it leaves" reached 6 labels 64 interval 20ms
srpol config set path-id none flow-label hash-qp

# ---- a probe without an SRH, which a rule matches and a policy would take
ip -n "$(fabric_ns leaf1)" -6 route add fc00:0:b::/48 via fd00:1:1::2 dev spine1
srpol path add 7 segs fc00:0:b::d6 dev hA via fd00:a::fe
srpol policy add color 100 endpoint :: candidate segment-list 1
busywait 20 e2e_paths_up
check "one SID is traced to its end" reached 7 interval 20ms
check_equal "as it is" "1 fd00:a::fe fc00:0:b::d6 time-exceeded 3
2 fd00:1:1::2 fc00:0:b::d6 time-exceeded 3
3 fd00:2:1::1 fc00:0:b::d6 time-exceeded 3
4 fc00:0:b::d6 - reached 3" "$(hops "$SRPOL_OUT/trace")"
check_equal "and not steered" 0 "$(e2e_reason steered)"
srpol policy del color 100 endpoint ::

# ---- the user has seen enough
srpol -j path trace 1 count 500 interval 50ms >"$SRPOL_OUT/trace" &
trace=$!
# it has a packet socket by then
busywait 20 eval 'grep -q 86dd "/proc/$trace/net/packet"'
sleep 1
kill -INT "$trace"
rc=0
wait "$trace" || rc=$?
check_equal "an interrupt ends it, and no error is told" 0 $rc
check_equal "what was found is shown" "1 2 3 4" "$(gojq -r '[ .[].hops[].hop ] | join(" ")' "$SRPOL_OUT/trace")"
check "after more than one round, and less than all" gojq -e \
	'.[].hops[0].sent | . > 1 and . < 500' "$SRPOL_OUT/trace"

# ---- what is wrong
srpol path change 1 admin down
check "a path that is down is traced, too" reached 1 count 1
check_equal "and it says so" down "$(gojq -r '.[0].state' "$SRPOL_OUT/trace")"
srpol path change 1 admin up
fabric_silence spine1 on
check_fails "a spine that drops" "" trace 1 wait 300ms
check "is where it ends" fails_after 1 time-exceeded
check "the schema has that, too" selftests/schema/valid.py path-trace "$SRPOL_OUT/trace"
check "and the text says it" grep -q ' not reached: nothing answers behind hop 1$' \
	<<<"$(srpol path trace 1 wait 300ms || :)"
fabric_silence spine1 off
srpol config set report-from fd00::/16
ip -n "$(fabric_ns leaf1)" -6 route replace prohibit fc00:0:21::/48
check_fails "a router that refuses" "" trace 1 count 1 wait 300ms
check "is told with its reason" fails_after 1 prohibited
check_equal "which takes no packet off the path" up \
	"$(srpol -j path show 1 | gojq -r '.[0].state')"
check "and where" grep -q ' not reached: refused at hop 1$' \
	<<<"$(srpol path trace 1 wait 300ms || :)"
check_fails "a next hop that is not there" 'where to send to: neighbor-' sh -c \
	'srpol path add 9 segs fc00:0:b::d6 dev hA via fd00:a::77 && srpol path trace 9'

check_fails "no path" 'no path has the id or name "none"' srpol path trace none
check_fails "no word" 'path' srpol path trace
check_fails "no round" 'count: "0" is not a number from 1 to 500' srpol path trace 1 count 0
check_fails "more labels than rounds" 'labels: 3 take as many rounds' srpol path trace 1 labels 3 count 2
check_fails "too many hops" 'hops: .*64' srpol path trace 1 hops 65
check_fails "a wait that is none" 'wait: "1ns"' srpol path trace 1 wait 1ns
check_fails "given twice" '"hops" is given twice' srpol path trace 1 hops 2 hops 3
check_fails "unprivileged" 'ermi' setpriv --reuid=65534 --clear-groups \
	--inh-caps=-all --bounding-set=-all "$(command -v srpol)" path trace 1
