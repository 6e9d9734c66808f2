#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# campaign.sh PART [TIMES]: what takes too long for make check. Says how often
# it was well; what failed stays in build/campaign/NAME.N.log. Those of the first
# four that were interrupted go on where they were if the commit is the same.
#
#	demo, check	the two commands again and again, beside two processes
#			that do nothing but use the processor
#	e2e		likewise the end-to-end programs, all of them TIMES
#	stalls		all tests, while their processes and guests are stopped for up
#			to 1.2 s at random moments
#	unload		of the module, against the end of namespaces under
#			traffic, TIMES in one guest
#	namespaces	TIMES of them, with the module loaded but unused and
#			without it, on a processor whose clock counts instructions
#	failure		links beside a replace and dumps, on one processor whose
#			clock counts instructions: within 5 ms of what they take
#			when nothing else happens
#	silent		spines that fall silent under traffic, TIMES at probes
#			every 3 ms and TIMES at srpold's defaults, likewise: how
#			long packets go to the dead one
#	idle		TIMES seconds in which nothing happens, and srpold says so
#	kill		srpold, killed TIMES times at random moments
#	deb		the Debian packages in a root file system of their own
#	engine		the global engine with 100 epochs, beside the two processes
#	epochs		TIMES epochs under killed engines and etcd, packets counted
#	fanout		how long a plan takes to 100 to 1000 hosts, by a real etcd
#	whatif		what the engine predicts of TIMES cut links, and what they
#			then do
#	ecmp		all-to-alls of TIMES MPI programs on slow links: by ECMP,
#			hashed and placed by srpol
#	demand		TIMES demands of an application: how soon packets go as they
#			want, on one processor whose clock counts instructions

set -euo pipefail

cd "$(dirname "$0")/.."
out=${BUILD:-$PWD/build}/campaign
hogs=()

cleanup() {
	local pid

	for pid in "${hogs[@]}"; do
		kill "$pid" 2>/dev/null || :
	done
	wait
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start_hogs() {
	local n

	for n in 1 2; do
		while :; do :; done &
		hogs+=($!)
	done
}

# results NAME: the file with a line "N ok" or "N FAIL", seconds and perhaps a program
# for each result so far, which is only of this commit, unchanged
results() {
	local file=$out/$1.results commit

	commit=$(git rev-parse HEAD 2>/dev/null || echo none)
	git diff --quiet HEAD 2>/dev/null || commit+=", changed, $$"
	if [ "$(head -n 1 "$file" 2>/dev/null)" != "# $commit" ]; then
		echo "# $commit" >"$file"
	fi
	echo "$file"
}

# last FILE: number of the last result in it
last() {
	sed -n '$ s/^\([0-9]\+\) .*/\1/p' "$1"
}

start_stalls() {
	selftests/stalls.py &
	hogs+=($!)
}

# repeat NAME TIMES COMMAND...
repeat() {
	local name=$1 times=$2 n good start file
	shift 2

	file=$(results "$name")
	n=$(last "$file")
	for ((n = ${n:-0} + 1; n <= times; n++)); do
		start=$SECONDS
		if "$@" >"$out/$name.$n.log" 2>&1 </dev/null; then
			echo "$n ok $((SECONDS - start))" >>"$file"
			# what a program says of times and numbers
			[ "$times" -gt 1 ] || sed -n 's/^# //p' "$out/$name.$n.log"
			rm -f "$out/$name.$n.log"
		else
			echo "$n FAIL $((SECONDS - start))" >>"$file"
			echo "$name: $n failed after $((SECONDS - start)) s:" \
				"$out/$name.$n.log"
		fi
	done
	good=$(grep -c ' ok ' "$file" || :)
	times=$(grep -vc '^#' "$file" || :)
	rm -f "$file"
	echo "$name: $good of $times"
	[ "$good" -eq "$times" ]
}

# rounds NAME TIMES WORD: all test programs with the word, TIMES of them together
rounds() {
	local name=$1 times=$2 word=$3 n file log status

	file=$(results "$name")
	n=$(last "$file")
	for ((n = ${n:-0} + 1; n <= times; n++)); do
		log=$out/$name.$n.log
		status=0
		selftests/run.sh "$word" >"$log" 2>&1 </dev/null || status=$?
		sed -n -E "s/^(ok|FAIL|skip) +([^ :]+) .* passed, .* skipped +([0-9.]+) s\$/$n \1 \3 \2/p
			s/^(FAIL) +([^ :]+): not run\$/$n \1 0 \2/p" \
			"$log" >"$out/$name.round"
		# it did not run, or failed in another way than by a program
		[ $status -eq 0 ] || grep -q ' FAIL ' "$out/$name.round" ||
			echo "$n FAIL 0 run.sh" >>"$out/$name.round"
		cat "$out/$name.round" >>"$file"
		if [ $status -eq 0 ]; then
			rm -f "$log"
		else
			echo "$name: round $n failed: $log"
		fi
	done
	status=0
	awk -v times="$times" '
		!/^#/ { all[$4]++; good[$4] += $2 == "ok" }
		END { for (p in good) { print p ": " good[p] " of " all[p]
					bad += good[p] < all[p] || all[p] < times }
		      exit bad || !length(good) }' "$file" \
		>"$out/$name.summary" || status=1
	sort "$out/$name.summary"
	rm -f "$file" "$out/$name.round"
	return $status
}

# in_guest PROGRAM WORD [OPTION OF vm.sh...]: the tests of a program in
# selftests/vm/tests whose name has the word
in_guest() {
	local program=$1 word=$2
	shift 2

	selftests/vm/vm.sh -t 14400 -o "$out/vm" "$@" -- \
		"selftests/vm/tests/$program" "$word"
}

# once NAME COMMAND...
once() {
	local name=$1
	shift

	mkdir -p "$out/vm"
	repeat "$name" 1 "$@" || status=1
}

mkdir -p "$out"
status=0
case ${1:-} in
demo)
	start_hogs
	repeat demo "${2:-10}" selftests/demo/demo.sh || status=1
	;;
check)
	start_hogs
	repeat check "${2:-3}" selftests/run.sh || status=1
	;;
stalls)
	start_stalls
	repeat stalls "${2:-1}" selftests/run.sh || status=1
	kill -0 "${hogs[0]}" 2>/dev/null || {
		echo "stalls: stalls.py has ended before the tests: it needs root and cgroup v2"
		status=1
	}
	;;
e2e)
	start_hogs
	rounds e2e "${2:-20}" vm.e2e_ || status=1
	;;
unload)
	export SRPOL_LOOPS=${2:-200}
	once unload in_guest lifetime.py unload_while
	;;
namespaces)
	export SRPOL_NAMESPACES=${2:-1000} SRPOL_ACCEL=tcg
	export SRPOL_ROUNDS=9 SRPOL_CLOCK=counted
	once namespaces in_guest unused.py "" -c 1 -a nokaslr \
		-q -icount -q shift=0,sleep=off -q -rtc -q clock=vm
	;;
failure)
	export SRPOL_LIMIT_MS=5 SRPOL_ACCEL=tcg
	once failure in_guest failure.py "" -c 1 -a nokaslr -q -icount \
		-q shift=1,sleep=off -q -rtc -q clock=vm
	;;
silent)
	export SRPOL_FAILURES=${2:-20} SRPOL_LIMITS="15000 50000" SRPOL_ACCEL=tcg
	once silent in_guest e2e_silent.sh "" -c 1 -a nokaslr -q -icount \
		-q shift=0,sleep=off -q -rtc -q clock=vm
	;;
idle)
	export SRPOL_IDLE=${2:-3600} SRPOL_ACCEL=tcg
	once idle in_guest e2e_idle.sh "" -c 1 -a nokaslr -q -icount \
		-q shift=0,sleep=off -q -rtc -q clock=vm
	;;
kill)
	export SRPOL_KILLS=${2:-100}
	once kill in_guest e2e_kill.sh "" -i
	;;
deb)
	selftests/deps.sh test debhelper dh-dkms dkms dpkg-dev fakeroot \
		lintian mmdebstrap "linux-headers-6.12-$(dpkg --print-architecture)"
	repeat deb "${2:-1}" selftests/deb/deb.sh || status=1
	;;
engine)
	start_hogs
	export SRPOL_EPOCHS=100
	repeat engine "${2:-10}" selftests/run.sh engine.engine || status=1
	;;
fanout)
	once fanout selftests/bench/fanout.py
	;;
epochs)
	export SRPOL_EPOCHS=${2:-100}
	once epochs selftests/sim/epochs.sh
	;;
whatif)
	export SRPOL_CUTS=${2:-20} SRPOL_PACKETS=48000
	once whatif selftests/sim/whatif.sh
	;;
demand)
	export SRPOL_DEMANDS=${2:-200} SRPOL_LIMITS="20000 50000" SRPOL_ACCEL=tcg
	once demand in_guest e2e_demand.sh "" -c 1 -a nokaslr -q -icount \
		-q shift=0,sleep=off -q -rtc -q clock=vm
	;;
ecmp)
	export SRPOL_TRIALS=${2:-3}
	once ecmp selftests/vm/vm.sh -i -t 14400 -o "$out/vm" -- selftests/mpi/ecmp.sh
	;;
*)
	echo "usage: campaign.sh PART [TIMES]" >&2
	exit 2
	;;
esac
exit $status
