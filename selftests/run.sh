#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [WORD...]: run all test programs, or those whose name holds one of the
# words. A test program is an executable that prints KTAP; it comes from
#
#	selftests/unit, build/selftests/unit	run natively
#	selftests/sim/flow.sh			runs natively
#	selftests/engine/*.py			likewise, with etcd on loopback
#	selftests/nccl/nccl.py			runs natively
#	selftests/bench/insns.sh, selftests/boot	boot a guest of their own
#	selftests/bpf, build/selftests/bpf	run natively, as root on a
#	selftests/fabric, selftests/bench/rigs.sh,	kernel >= 6.12; else in a guest
#	selftests/sim/whatif.sh, epochs.sh
#	selftests/vm/tests			run in a guest
#
# With SRPOL_ROOT=FOLDER guests have that root file system and nothing runs
# natively (see arm64.sh). SRPOL_SLOWER=N: programs in guests may take N times
# their limits. SRPOL_CHECKER=SCRIPT: only what needs the module runs, in guests in
# which the script looks at the kernel, too, with what vm.sh gets from SRPOL_GUEST,
# without the programs that SRPOL_EXCEPT names, and with logs in SRPOL_LOGS (see
# debug-kernel.sh).
#
# Guests run many programs per boot, about as many guests as there are processors;
# native programs run one after the other beside them.
# When a guest dies, the program that was running failed, and another guest
# goes on with the rest. Logs: build/logs/NAME.log and build/logs/vm/NAME/.
#
# Last line: "N passed, N failed, N skipped". A skip is an error unless
# SRPOL_ALLOW_SKIP=1. While a run goes on in this tree another one is refused,
# with status 2: it would wipe the logs of the first.

set -euo pipefail

cd "$(dirname "$0")/.."
top=$PWD
export BUILD=${BUILD:-$top/build}
KVER=$(selftests/kver.sh test)
export KVER
logs=${SRPOL_LOGS:-$BUILD/logs}
words=("$@")
PATH=$PATH:/usr/sbin:/sbin
if [ -z "${SRPOL_KERNEL:-}${SRPOL_ROOT:-}" ] &&
	! modinfo -F vermagic kmod/srpol.ko 2>/dev/null | grep -q "^$KVER "; then
	echo "run.sh: kmod/srpol.ko is not for Linux $KVER: make tests" >&2
	exit 2
fi

# for cmocka programs
export CMOCKA_MESSAGE_OUTPUT=TAP

# shellcheck source=selftests/report.sh
. selftests/report.sh

passed=0
failed=0
skipped=0
guests=()

cleanup() {
	local pid

	for pid in "${guests[@]}" ${natives:+"$natives"}; do
		kill "$pid" 2>/dev/null || :
	done
	wait
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

wanted() {
	local word

	[[ " ${SRPOL_EXCEPT:-} " != *" $1 "* ]] || return 1
	[ ${#words[@]} -gt 0 ] || return 0
	for word in "${words[@]}"; do
		[[ $1 != *"$word"* ]] || return 0
	done
	return 1
}

# programs FOLDER [FILE]: "NAME PATH" of each executable there and in its twin
# below build/ that is wanted; a name is unit.encap, bpf.decap, vm.rdma and the
# like
programs() {
	local folder=$1 file=${2:-*} path name

	# shellcheck disable=SC2231
	for path in {,"$BUILD/"}"selftests/$folder"/$file; do
		[ -f "$path" ] && [ -x "$path" ] || continue
		name=${path##*/}
		name=${folder%%/*}.${name%.*}
		! wanted "$name" || echo "$name $path"
	done
}

is_capable() {
	[ -z "${SRPOL_ROOT:-}" ] && [ "$(id -u)" -eq 0 ] &&
		[ "$(printf '6.12\n%s\n' "$(uname -r)" | sort -V |
			head -n 1)" = 6.12 ]
}

count() {
	local p f s why

	read -r p f s why <<<"$1"
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
}

# run_native NAME PROGRAM: in a network namespace of its own where we may, so
# that no test can touch this machine's network
run_native() {
	local name=$1 program=$2 log=$logs/$1.log start=$EPOCHREALTIME
	local status=0 counts isolate=()

	[ "$(id -u)" -ne 0 ] || isolate=(unshare --net)
	# not what an earlier run left there
	rm -rf "${logs:?}/$name"
	mkdir -p "$logs/$name"
	SRPOL_OUT=$logs/$name timeout -k 10 "$(time_limit "$program")" \
		"${isolate[@]}" "$program" >"$log" 2>&1 </dev/null 9>&- &
	native=$!
	wait "$native" || status=$?
	native=
	counts=$(tally "$log" "$status")
	report "$name" "$log" "$(elapsed_ms "$start")" "$counts"
	echo "$counts" >>"$shared/natives"
}

# run_natives LIST: programs "NAME PATH", one after the other; what they come to
# goes into $shared/natives
run_natives() {
	local name program

	native=
	trap '[ -z "$native" ] || kill "$native"; exit 143' TERM
	while read -r name program; do
		[ -z "$name" ] || run_native "$name" "$program"
	done <<<"$1"
}

# remaining [LIST]: how many programs of the list, or of both, no guest has begun
remaining() {
	local n=0 name program

	while read -r name program; do
		[ -d "$shared/$name" ] || n=$((n + 1))
	done < <(cat "$shared/${1:-free}" "$shared/${1:-counted}" | sort -u)
	echo $n
}

# start_guest: one more guest works on a list: on that whose clock counts
# instructions, which costs time, when nothing of the other is left. It hangs if it
# spends half an hour on a program. (The program's own limit is of no use then: it
# goes by the guest's clock, which may go at a tenth of the speed, or stand.)
start_guest() {
	local list=free clock=() seconds=$((1500 * ${SRPOL_SLOWER:-1}))
	local silence=$((1800 * ${SRPOL_SLOWER:-1}))

	if [ "$(remaining free)" -eq 0 ]; then
		list=counted
		clock=(-i)
	fi
	number=$((number + 1))
	mkdir "$shared/guest-$number"
	echo boots >"$shared/guest-$number/program"
	# shellcheck disable=SC2086
	selftests/vm/vm.sh ${SRPOL_GUEST:-} "${clock[@]}" \
		-t $((4 * seconds)) -b "$silence:$shared/guest-$number/program" \
		-o "$shared" -- \
		selftests/vm/batch.sh "$number" "$list" $seconds \
		2>"$shared/guest-$number/stderr" 9>&- &
	guests[number]=$!
}

# after_guest NUMBER STATUS: what the guest began and did not finish, it died
# of. False when guests are of no use here.
after_guest() {
	local number=$1 status=$2 name program dir victim=

	while read -r name program; do
		dir=$shared/$name
		[ -d "$dir" ] && [ ! -f "$dir/tally" ] &&
			[ "$(cat "$dir/guest" 2>/dev/null)" = "$number" ] ||
			continue
		victim=$name
		cat "$shared/guest-$number/stderr" >>"$dir/log"
		echo "0 1 0 the guest died of it" >"$dir/tally"
		report "$name" "$dir/log" 0 "$(<"$dir/tally")"
	done < <(cat "$shared/free" "$shared/counted")

	[ "$status" -ne 0 ] && [ -z "$victim" ] || return 0
	cat "$shared/guest-$number/stderr" >&2
	return 1
}

# is_room: memory for another guest, should it use all that it may
is_room() {
	[ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -gt $((3 << 20)) ]
}

# run_guests: what $shared/free and $shared/counted list, in guests: as many as
# there are processors, and as many again once only programs are left for
# which it does not matter how fast their guest is. They wait a lot.
run_guests() {
	local jobs more pid i status usable=1 name program

	jobs=$(nproc)
	more=$jobs
	i=$(remaining)
	[ "$i" -gt 0 ] || return 0
	[ "$jobs" -le "$i" ] || jobs=$i
	# builds or probes what all guests need, before they start together
	# shellcheck disable=SC2086
	selftests/vm/vm.sh ${SRPOL_GUEST:-} -t $((600 * ${SRPOL_SLOWER:-1})) -- true
	for ((i = 0; i < jobs; i++)); do
		start_guest
	done

	while [ ${#guests[@]} -gt 0 ]; do
		status=0
		wait -n -p pid "${guests[@]}" || status=$?
		for i in "${!guests[@]}"; do
			[ "${guests[i]}" = "$pid" ] || continue
			unset "guests[i]"
			after_guest "$i" "$status" || usable=0
		done
		if [ $usable -eq 1 ] && [ "$(remaining)" -gt 0 ]; then
			start_guest
		fi
		while [ $usable -eq 1 ] && [ "$more" -gt 0 ] &&
			[ "$(remaining free)" -eq 0 ] &&
			[ "$(remaining)" -gt 0 ] && is_room; do
			start_guest
			more=$((more - 1))
		done
	done

	while read -r name program; do
		if [ -f "$shared/$name/tally" ]; then
			count "$(<"$shared/$name/tally")"
		else
			echo "FAIL  $name: not run"
			count "0 1 0"
		fi
	done < <(cat "$shared/free" "$shared/counted")
}

# long_first: the programs that are read, those with the highest limit first, so
# that no guest begins a long one when the others are done
long_first() {
	local name program

	while read -r name program; do
		[ -z "$name" ] ||
			echo "$(time_limit "$program") $name $program"
	done | sort -k 1,1nr -k 2 | cut -d ' ' -f 2-
}

# One run at a time has the logs. Programs do not inherit the lock: what one of
# them leaves behind would keep it.
take_logs() {
	mkdir -p "$logs"
	exec 9>>"$logs/.lock"
	if ! flock -n 9; then
		echo "run.sh: $logs is in use by $(<"$logs/.lock")" >&2
		exit 2
	fi
	echo "pid $$ since $(date +%T): run.sh ${words[*]}" >"$logs/.lock"
}

take_logs
shared=$logs/vm
rm -rf "$shared"
mkdir "$shared"
natives=
number=0

native_list=$(programs unit; programs sim flow.sh; programs engine "*.py"
	      programs nccl nccl.py
	      programs boot
	      programs bench insns.sh)
guest_list=$(programs vm/tests)
if [ -n "${SRPOL_CHECKER:-}" ]; then
	native_list=
elif is_capable; then
	native_list+=$'\n'$(programs sim whatif.sh; programs sim epochs.sh
			    programs fabric; programs bpf; programs bench rigs.sh)
else
	guest_list+=$'\n'$(programs fabric; programs bpf; programs bench rigs.sh)
	# the servers that these start are of this machine
	[ -n "${SRPOL_ROOT:-}" ] ||
		guest_list+=$'\n'$(programs sim whatif.sh; programs sim epochs.sh)
fi

if [ -n "${SRPOL_ROOT:-}" ]; then
	native_list=
elif [[ $native_list$guest_list == *[![:space:]]* ]]; then
	selftests/unpack.sh prometheus usr/bin/promtool
	selftests/unpack.sh etcd-server usr/bin/etcd
	selftests/unpack.sh etcd-client usr/bin/etcdctl
	selftests/unpack.sh nats-server usr/sbin/nats-server
	selftests/unpack.sh gobgpd usr/bin/gobgpd
	selftests/unpack.sh gobgpd usr/bin/gobgp
	selftests/unpack.sh -t "$BUILD/tools/slurm" munge libmunge2 slurm-client \
		slurmctld slurmd slurm-wlm-basic-plugins
	for plugin in ptp bridge host-local; do
		selftests/unpack.sh containernetworking-plugins \
			"usr/lib/cni/$plugin"
	done
fi

# End to end, hosts wait for switches and for each other, and a few programs
# compare times: there the time of the guest must not depend on what else this
# machine does. They say so in a line "SRPOL_CLOCK=counted" (a comment will do).
: >"$shared/free"
: >"$shared/counted"
: >"$shared/natives"
while read -r name program; do
	list=free
	! grep -aqm1 'SRPOL_CLOCK=counted' "$program" || list=counted
	echo "$name $program" >>"$shared/$list"
done < <(long_first <<<"$guest_list")

# Native programs mostly wait: they run beside the guests.
run_natives "$native_list" &
natives=$!
run_guests
wait "$natives" || failed=$((failed + 1))
natives=
while read -r counts; do
	count "$counts"
done <"$shared/natives"

echo "$passed passed, $failed failed, $skipped skipped"
if [ $((passed + failed + skipped)) -eq 0 ] || [ $failed -gt 0 ]; then
	exit 1
fi
[ $skipped -eq 0 ] || [ "${SRPOL_ALLOW_SKIP:-0}" = 1 ]
