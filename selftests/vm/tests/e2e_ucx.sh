#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPI over UCX over RDMA between the hosts, on paths of srpold, up a ladder: rping,
# ib_write_bw, ucx_perftest, then MPI programs that were not changed: an all-reduce
# round a ring and an uneven all-to-all, as two jobs with spines of their own. A
# spine falls silent under the ring, which goes on, with every sum right.
#
# Both hosts are in this namespace, the only one in which rxe works: a rank is on
# the host whose device UCX may use. UCX 1.13 needs GIDs of IPv6 with rxe.
#
# SRPOL_CLOCK=counted
# SRPOL_TIMEOUT=900

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
# shellcheck source=selftests/vm/tests/jobs_lib.sh
. selftests/vm/tests/jobs_lib.sh

build=${BUILD:-$PWD/build}

# ucx HOST: sets the array of variables with which UCX is on that host, by RDMA alone
ucx() {
	local gid=rdma_a

	[ "$1" = A ] || gid=rdma_b
	variables=("UCX_NET_DEVICES=rxe$1:1"
		   "UCX_IB_GID_INDEX=$(rdma_gid "rxe$1" "${!gid}")"
		   "UCX_TLS=rc_verbs,ud_verbs,self")
}

# mpi NAME PROGRAM [ARG...]: two ranks on A, two on B, in the background; the name
# is what the kernel knows its QPs by
mpi() {
	local name=$1 program=$2 host variable variables options=()
	shift 2

	ln -sf "$build/selftests/mpi/$program" "$work/$name"
	for host in A B; do
		options+=(${options:+:} -np 2)
		ucx $host
		for variable in "${variables[@]}"; do
			options+=(-x "$variable")
		done
		options+=("$work/$name" "$@")
	done
	exec mpirun --allow-run-as-root --oversubscribe --mca plm isolated --mca pml ucx \
		--mca osc ucx --mca mpi_yield_when_idle 1 "${options[@]}" >"$work/$name.out" 2>"$work/$name.err"
}

# iterations NAME: that it has printed
iterations() {
	grep -c '^iteration' "$work/$1.out" || :
}

# goes_on NAME N: it has begun more than so many
goes_on() {
	[ "$(iterations "$1")" -gt "$2" ]
}

# all_ruled JOB COMM: each QP of that program has a rule of the job; some of them
# UCX makes in a thread
all_ruled() {
	local there back

	there=$(qps ".comm == \"$2\"" rxeA)
	back=$(qps ".comm == \"$2\"" rxeB)
	[ "$(gojq length <<<"$there")" -gt 1 ] && ruled_is "$1" hA "$there" &&
		ruled_is "$1" hB "$back"
}

rping_works() {
	rping -s -a fd00:b::1 -C 10 -p 9000 >"$work/rping.server" 2>&1 &
	pid[rping]=$!
	busywait 30 eval 'rdma -j resource show cm_id |
		gojq -e "any(.[]; .state == \"LISTEN\")"' >/dev/null &&
		rping -c -a fd00:b::1 -I fd00:a::1 -C 10 -p 9000 -v
}

ucx_perftest_works() {
	local variables

	ucx B
	env "${variables[@]}" ucx_perftest -p 9001 >"$work/ucx.server" 2>&1 &
	pid[ucx]=$!
	ucx A
	busywait 30 rdma_listens 9001 &&
		env "${variables[@]}" timeout 100 ucx_perftest -p 9001 -t tag_bw -s 65536 -n 40 \
			-w 2 localhost
}

# connected COMM N: each host's device has so many QPs of that program that have a peer
connected() {
	local dev

	for dev in rxeA rxeB; do
		[ "$(rdma -j -d resource show qp link $dev | of_processes |
			gojq "[ .[] | select(.comm == \"$1\" and .rqpn > 1) ] |
			    length")" -ge "$2" ] || return
	done
}

# settled JOB: bytes that it has sent, once srpold has counted all of them
settled() {
	local was='' now

	now=$(sent "$1")
	until [ "$now" = "$was" ]; do
		sleep 3
		was=$now
		now=$(sent "$1")
	done
	echo "$now"
}

# over BEFORE SPINE...: bytes that these had since then, both ways
over() {
	local before=$1
	shift

	paste -d ' ' <(echo "$before") <(fabric_spine_bytes) | awk -v own=" $* " '
		index(own, " " $1 " ") { sum += $5 - $2 + $6 - $3 }
		END { print sum + 0 }'
}

# as_counted BYTES COUNTED: what spines had is what srpold counts for the job, with
# outer headers, which are more than an acknowledgment, and probes
as_counted() {
	echo "spines had $1 bytes, the job counts $2"
	[ "$1" -ge "$2" ] && [ "$1" -le $(($2 * 3 / 2)) ]
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit stop_engines
at_exit stop_programs
rdma_up
# two ranks of a host are each other's neighbors: rxe loops back what is for its MAC
for dev in hA hB; do
	ip neigh add fd00:${dev#h}::1 lladdr "$(</sys/class/net/$dev/address)" \
		dev $dev nud permanent
done
start_both '"interval-ms": 100'
check "paths of both hosts are probed and up" patiently 60 usable A 8

# ---- up the ladder
check "rping" rping_works
check "ib_write_bw" rdma_bw "$work/bw" ib_write_bw 9002 6 -s 4096 -n 50 -t 4
check "ucx_perftest" ucx_perftest_works

# ---- two programs, two jobs, spines of their own
check "a job for the ring" srpol job add ring comm ring paths spine1,spine2
check "a job for the all-to-all" srpol job add mixer comm mixer paths spine3,spine4
: >"$work/goes-on"
mpi ring ring 1 4000 "$work/goes-on" &
pid[ring]=$!
check "its QPs have rules" patiently 100 all_ruled ring ring
# a rank that waits takes all the time that a processor has: one program at a time
check "it waits" pkill -STOP -x ring
mpi mixer shuffle 400 8000 "$work/never" "$work/go" &
pid[mixer]=$!
check "the all-to-all is connected" busywait 60 connected mixer 6
check "its QPs have rules, too" patiently 100 all_ruled mixer mixer
ring=$(settled ring) mixer=$(settled mixer)
before=$(fabric_spine_bytes)
touch "$work/go"
check "both go on" pkill -CONT -x ring
ended=0
wait "${pid[mixer]}" || ended=$?
unset "pid[mixer]"
check_equal "the all-to-all ends, all of it right" 0 $ended
check "the ring waits again" pkill -STOP -x ring
check "the ring's bytes went over its own spines" \
	as_counted "$(over "$before" 1 2)" $(($(settled ring) - ring))
check "those of the all-to-all over the others" \
	as_counted "$(over "$before" 3 4)" $(($(settled mixer) - mixer))
check "there were many of both" [ $(($(sent ring) - ring)) -gt 1000000 -a \
	$(($(sent mixer) - mixer)) -gt 1000000 ]
check "by their own counts, too" used_only ring spine1 spine2
check "both of them" used_only mixer spine3 spine4

# ---- a spine falls silent
fabric_silence spine1 on
check "the ring goes on" pkill -CONT -x ring
n=$(iterations ring)
check "srpold sees it" patiently 60 grep -q 'A-spine1-B is down' "$work/both.log"
check "and gets round" patiently 100 goes_on ring $((n + 10))
pkill -STOP -x ring
ring=$(settled ring)
before=$(fabric_spine_bytes)
pkill -CONT -x ring
n=$(iterations ring)
check "again and again" patiently 100 goes_on ring $((n + 50))
pkill -STOP -x ring
check "over its other spine alone" \
	as_counted "$(over "$before" 2)" $(($(settled ring) - ring))
pkill -CONT -x ring
rm "$work/goes-on"
ended=0
wait "${pid[ring]}" || ended=$?
unset "pid[ring]"
check_equal "and ends well, every sum right" 0 $ended
check_equal "srpol dropped nothing" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
[ $ktap_failures -eq 0 ] || grep -v iteration "$work"/*.{log,out,err} | sed 's/^/# /'
