#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs of real QPs: by the name of a program, by process, by numbers. Rules are
# there while the QPs are, the spines see what the job's paths are, and what it
# sent is what perftest says that it did.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=init
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/fabric/rdma.sh
. selftests/fabric/rdma.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

export RDMA_TIMEOUT=400
SIZE=8192
ROUNDS=150
QPS=4
# what each transfer sends from A to B, without any header
PAYLOAD=$((SIZE * ROUNDS * QPS))

# both hosts are in this namespace
on() {
	shift
	srpol "$@"
}

down() {
	rdma_down
	srpol dev del hA 2>/dev/null || :
	srpol dev del hB 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
	rm -f /run/srpold/*.jobs
	rm -rf "$work"
}

# transfer NAME TOOL PORT: in the background, slowly enough to be looked at
transfer() {
	rdma_bw "$work/$1" "$2" "$3" 6 -q $QPS -s $SIZE -n $ROUNDS \
		--rate_limit=0.002 --rate_units=g --rate_limit_type=SW \
		--burst_size=2 &
	transfer=$!
}

# qps COMM: numbers at B of what A's processes of that name send to
qps() {
	rdma -j -d resource show qp link rxeA | jq -c --arg comm "$1" '
		[ .[] | select(.comm == $comm and .rqpn > 1) | .rqpn ] |
		unique | sort'
}

qps_are() {
	[ "$(qps "$1" | jq length)" -eq "$2" ]
}

# ruled COLOR DEV: all QP numbers that rules of that color have for that device
ruled() {
	srpol -j rule show | jq -c --argjson color "$1" --arg dev "$2" '
		[ .[] | select(.color == $color and .match.dev == $dev) |
		  .match.qp | range(.[0]; .[1] + 1) ] | sort'
}

ruled_is() {
	[ "$(ruled "$1" "$2")" = "$3" ]
}

rules_of() {
	[ "$(srpol -j job show "$1" | jq '.[0].rules')" -eq "$2" ]
}

# sent JOB: bytes that its policies to B took, with the inner headers
sent() {
	srpol -j job show "$1" | jq '[ .[0].use[] | select(.name | endswith("-B")) | .bytes ] | add'
}

sends() {
	[ "$(sent "$1")" -gt 0 ]
}

# the spines that a job's paths from A turn at, by its own count
spines() {
	srpol -j job show "$1" | jq -c '[ .[0].use[] | select(.bytes > 0) | .name |
		select(startswith("A-")) | ltrimstr("A-") | rtrimstr("-B") ] | sort'
}

# from_a BEFORE SPINE...: packets from A since then by these spines, and by others
from_a() {
	local before=$1
	shift

	paste -d ' ' <(echo "$before") <(fabric_spine_packets) |
		awk -v own=" $* " '
			index(own, " spine" $1 " ") { a += $5 - $2; next }
			{ b += $5 - $2 }
			END { print a + 0, b + 0 }'
}

# right BYTES: between the payload, and that with headers and some sent again
right() {
	[ "$1" -ge $PAYLOAD ] && [ "$1" -le $((PAYLOAD * 115 / 100)) ]
}

ended() {
	wait $transfer || not_ok "the transfer completes" "$(tail -n 2 "$work"/*.client)"
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit stop_engines
rdma_up
fabric_topology >"$work/topology.json"
cat >"$work/both.json" <<END
{ "topology": "$work/topology.json", "hosts": [ "A", "B" ],
  "probes": { "interval-ms": 500, "multiplier": 3, "timeout-ms": 500,
              "wait-to-restore-ms": 1000 },
  "weights": { "delay-us": 10000000, "interval-ms": 200 } }
END
srpold -c "$work/both.json" 2>>"$work/both.log" &
engine[both]=$!
check "paths of both hosts are probed and up" patiently 60 usable A 8

# ---- by the name of a program
check "a job by name" srpol job add bw comm ib_write_bw paths spine1,spine2
check "and one by another name" srpol job add bystander comm ib_read_bw \
	paths spine3,spine4
color=$(srpol -j job show bw | jq '.[0].color')
check_equal "no QP, no rule" '[]' "$(ruled "$color" hA)"
before=$(fabric_spine_packets)
transfer write ib_write_bw 18620
check "its QPs are there" patiently 60 qps_are ib_write_bw $QPS
numbers=$(qps ib_write_bw)
check "and get rules, these and no others" patiently 60 \
	ruled_is "$color" hA "$numbers"
check "the other job has none" rules_of bystander 0
check "the data plane sees the job's flows" patiently 60 sends bw
check_equal "by its own spines" '["spine1","spine2"]' "$(spines bw)"
ended
bytes=$(sent bw)
echo "# payload $PAYLOAD, job bw sent $bytes"
check "it sent what it sent" right "$bytes"
read -r own others < <(from_a "$before" spine1 spine2)
echo "# packets from A by its spines $own, by the others $others"
check "which went by its spines" [ "$own" -gt $((4 * others)) ]
check "the QPs go, and their rules with them" patiently 60 eval \
	'ruled_is "$color" hA "[]" && rules_of bw 0'
check "the job itself stays" srpol job show bw
check_equal "the other job sent nothing" null "$(sent bystander | sed 's/^0$/null/')"
srpol job del bw

# ---- by process: only its own, though another one of that name runs
transfer first ib_write_bw 18621
one=$transfer
check "QPs of one process" patiently 60 qps_are ib_write_bw $QPS
transfer second ib_write_bw 18622
two=$transfer
check "and of another one of the same name" patiently 60 \
	qps_are ib_write_bw $((2 * QPS))
pid=$(rdma -j -d resource show qp link rxeA | jq '
	[ .[] | select(.comm == "ib_write_bw" and .rqpn > 1) ][0].pid')
numbers=$(rdma -j -d resource show qp link rxeA | jq -c --argjson pid "$pid" '
	[ .[] | select(.pid == $pid and .rqpn > 1) | .rqpn ] | unique | sort')
check "a job by process" srpol job add proc pid "$pid" paths spine3
color=$(srpol -j job show proc | jq '.[0].color')
check "its QPs get rules, those of the other one do not" patiently 60 \
	ruled_is "$color" hA "$numbers"
check "its flows change over" patiently 60 sends proc
check_equal "to its spine" '["spine3"]' "$(spines proc)"

# ---- by numbers: the other one's
rest=$(rdma -j -d resource show qp link rxeA | jq -c --argjson pid "$pid" '
	[ .[] | select(.comm == "ib_write_bw" and .rqpn > 1 and .pid != $pid) |
	  .rqpn ] | unique | sort')
range=$(jq -r '"\(.[0])-\(.[-1])"' <<<"$rest")
check_equal "the numbers are in a row" $QPS "$(jq '.[-1] - .[0] + 1' <<<"$rest")"
check "a job by numbers" srpol job add range qp "$range" paths spine4
check "has its rule at once" rules_of range 1
check "its flows change over" patiently 60 sends range
check_equal "to its spine" '["spine4"]' "$(spines range)"
transfer=$one
ended
transfer=$two
ended
check "the process is gone, and so are its rules" patiently 60 rules_of proc 0
check "numbers are no process: that rule stays" rules_of range 1
check_fails "a range that is none" "." srpol job add bad qp 9-3
check "all go" eval 'for j in bystander proc range; do srpol job del $j; done'
check_equal "rules are as without jobs" 1 "$(srpol -j rule show | jq length)"
check_equal "srpol dropped nothing" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
