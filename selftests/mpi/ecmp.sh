#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An all-to-all of an MPI program over UCX, eight ranks on two hosts, on slow links
# over four spines: the same QPs by the leaves' ECMP without srpol, then as a job
# whose QPs are hashed, and as one whose QPs are placed. How long it takes, and how
# much more than its share the busiest spine had. SRPOL_TRIALS programs, each with
# QPs of its own. In the guest, with a clock that counts instructions.

set -euo pipefail
cd "$(dirname "$0")/../.."
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

trials=${SRPOL_TRIALS:-3}
build=${BUILD:-$PWD/build}
RATE=10			# Mbit/s of each link between leaf and spine
RANKS=4			# of each host
EVEN="even 2 100000"	# what is measured
ZIPF="zipf 2 400000"
told=			# the program's stdin

# ecmp add|del: leaves send what is not steered to all spines, by addresses and ports
ecmp() {
	local n m hops peer

	for n in 1 2; do
		peer=b hops=
		[ $n -eq 1 ] || peer=a
		for ((m = 1; m <= FABRIC_SPINES; m++)); do
			hops+=" nexthop via fd00:$n:$m::2 dev spine$m"
		done
		# shellcheck disable=SC2086
		ip -n "$(fabric_ns leaf$n)" route "$1" fd00:$peer::/64 $hops
		fabric_exec leaf$n sysctl -qw net.ipv6.fib_multipath_hash_policy=1
	done
}

# slow: links between leaves and spines; what a QP has under way has room to wait
slow() {
	local n m

	for n in 1 2; do
		for ((m = 1; m <= FABRIC_SPINES; m++)); do
			tc -n "$(fabric_ns leaf$n)" qdisc add dev "spine$m" root \
				tbf rate ${RATE}mbit burst 20kb limit 16mb
		done
	done
}

# program: RANKS ranks on A, as many on B
program() {
	local host gid options=()

	for host in A B; do
		gid=rdma_a
		[ $host = A ] || gid=rdma_b
		[ ${#options[@]} -eq 0 ] || options+=(:)
		options+=(-np "$RANKS" -x "UCX_NET_DEVICES=rxe$host:1"
			  -x "UCX_IB_GID_INDEX=$(rdma_gid rxe$host "${!gid}")"
			  -x "UCX_TLS=rc_verbs,ud_verbs,self" -x UCX_RC_TIMEOUT=8s
			  -x UCX_RNDV_SCHEME=put_zcopy
			  "$build/selftests/mpi/exchange")
	done
	# ranks that wait take all time that they get: the network's work goes first
	exec nice -n 19 mpirun --allow-run-as-root --oversubscribe --mca plm isolated --mca pml ucx \
		--mca osc ucx --mca mpi_yield_when_idle 1 \
		--mca coll_tuned_use_dynamic_rules 1 \
		--mca coll_tuned_alltoallv_algorithm 1 "${options[@]}"
}

# answered N: for more than the N-th time; or it has ended
answered() {
	[ "$(grep -c took "$work/exchange.out")" -gt "$1" ] ||
		! kill -0 "${pid[exchange]}" 2>/dev/null
}

# exchange ORDER: prints the seconds that it took. Before and after ranks are
# stopped: those that wait would take all the time that there is.
exchange() {
	local n

	n=$(grep -c took "$work/exchange.out" || :)
	pkill -CONT -x exchange || :
	echo "$1" >&"$told"
	patiently 600 answered "$n" && kill -0 "${pid[exchange]}" || return
	pkill -STOP -x exchange
	tail -n 1 "$work/exchange.out" | cut -d ' ' -f 2
}

# measure TRIAL SCHEME ORDER: "TRIAL SCHEME KIND SECONDS THERE BACK" to
# $work/results, the last two of the busiest spine: 1 is its share
measure() {
	local before seconds

	before=$(fabric_spine_bytes)
	seconds=$(exchange "$3") || return
	paste -d ' ' <(echo "$before") <(fabric_spine_bytes) |
		awk -v what="$1 $2 ${3%% *} $seconds" '
		{
			there = $5 - $2; back = $6 - $3
			a += there; b += back
			if (there > most_there) most_there = there
			if (back > most_back) most_back = back
		}
		END { printf "%s %.2f %.2f\n", what, most_there * NR / a, most_back * NR / b }' |
		tee -a "$work/results"
}

# all_ruled: each QP to the other host has a rule of the job
all_ruled() {
	[ "$(ruled x hA | gojq length)" -ge $((RANKS * RANKS)) ] &&
		[ "$(ruled x hB | gojq length)" -ge $((RANKS * RANKS)) ]
}

# still_placed: all are, and nobody has moved for three intervals
still_placed() {
	local paths

	paths=$(srpol -j rule show)
	[ "$(srpol -j job show x | gojq '.[0].placed')" -ge $((2 * RANKS * RANKS)) ] &&
		sleep 1 && [ "$paths" = "$(srpol -j rule show)" ]
}

# trial N
trial() {
	local file scheme ended=0

	ecmp add
	rm -f "$work/in"
	mkfifo "$work/in"
	: >"$work/exchange.out"
	program <"$work/in" >"$work/exchange.out" 2>"$work/exchange.err" &
	pid[exchange]=$!
	exec {told}>"$work/in"
	check "trial $1: ranks are connected" exchange "even 3 2000"
	for file in "$EVEN" "$ZIPF"; do
		check "ECMP: $file" measure "$1" ecmp "$file"
		tail -n 1 "$work/results" | sed 's/^/# /'
	done
	ecmp del

	# who holds the other end of its stdin keeps the program
	srpold -c "$work/both.json" 2>>"$work/both.log" {told}>&- &
	engine[both]=$!
	check "paths of both hosts are probed and up" patiently 100 usable A 8
	for scheme in hash qp; do
		check "a job: $scheme" srpol job add x comm exchange placement $scheme
		check "its QPs have rules" patiently 100 all_ruled
		for file in "$EVEN" "$ZIPF"; do
			# what is sent again and again has been seen
			check "it begins" exchange "${file/ 2 / 10 }"
			[ $scheme = hash ] ||
				check "its QPs are placed" patiently 100 still_placed
			check "$scheme: $file" measure "$1" $scheme "$file"
			tail -n 1 "$work/results" | sed 's/^/# /'
		done
		check "the job goes" srpol job del x
	done
	check_equal "srpol dropped nothing" "" \
		"$(srpol stats show | awk '$2 == "drop"')"

	exec {told}>&-
	pkill -CONT -x exchange
	wait "${pid[exchange]}" || ended=$?
	unset "pid[exchange]"
	check_equal "the program ends, all of it right" 0 $ended
	stop_engines
	engine=()
	srpol dev del hA
	srpol dev del hB
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit stop_engines
at_exit stop_programs
rdma_up
slow
# two ranks of a host are each other's neighbors: rxe loops back what is for its MAC
for dev in hA hB; do
	ip neigh add fd00:${dev#h}::1 lladdr "$(</sys/class/net/$dev/address)" \
		dev $dev nud permanent
done
fabric_topology >"$work/topology.json"
cat >"$work/both.json" <<-END
{ "topology": "$work/topology.json", "hosts": [ "A", "B" ],
  "probes": { "interval-ms": 200, "multiplier": 5, "timeout-ms": 5000,
              "wait-to-restore-ms": 0 },
  "weights": { "delay-us": 10000000, "interval-ms": 200 } }
END
for ((n = 1; n <= trials; n++)); do
	trial $n
done
echo "# of $trials trials, mean and worst; busiest spine: 1 is its share"
awk '{
	key = $3 " " $2
	n[key]++; sum[key] += $4
	if ($4 > most[key]) most[key] = $4
	m = $5 > $6 ? $5 : $6
	busy[key] += m
	if (m > worst[key]) worst[key] = m
} END {
	for (key in n)
		printf "# %s: seconds %.2f %.2f, busiest spine %.2f %.2f\n", key,
			sum[key] / n[key], most[key], busy[key] / n[key], worst[key]
}' "$work/results" | sort
check "QPs that are placed go evenly" awk '
	$2 == "qp" && $3 == "even" && ($5 > 1.15 || $6 > 1.15) { exit 1 }' "$work/results"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/{both.log,exchange.err}
