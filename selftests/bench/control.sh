#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# control.sh [PART...]: the bench of the control plane: adding, showing and
# replacing paths and policies, their memory, a single change, failover;
# against the kernel's seg6 routes, in a guest. Parts: add, replace, memory,
# change, failover; default all. Needs what "make" builds. Prints a table,
# leaves build/bench/control.json. Succeeds if all was measured; whether a
# target was met the table says.
#
# One processor: two of an emulated guest take turns on one of the host, a
# tenth of a second each, which is not what is to be measured. What compares
# with the kernel runs in turns, so that a busy host disturbs both sides alike.
# What has a time for its target, replace and failover, runs in a guest in
# which each instruction takes 2 ns, whatever the host does (QEMU's -icount):
# half a billion instructions per second is less than what the emulation makes
# on an idle host.

set -euo pipefail

cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}
out=$BUILD/bench
parts=("$@")
[ $# -gt 0 ] || parts=(add replace memory change failover)
pieces=()

# measure NAME PART... -- ARGUMENT OF vm.sh...
measure() {
	local name=$1 list=()
	shift

	while [ "$1" != -- ]; do
		list+=("$1")
		shift
	done
	shift
	[ ${#list[@]} -gt 0 ] || return 0
	rm -f "$out/$name.json"
	selftests/vm/vm.sh -c 1 -m 2G -t 900 -o "$out" "$@" -- \
		selftests/bench/control/guest.py "$name" "${list[@]}"
	pieces+=("$out/$name.json")
}

mkdir -p "$out"
timed=()
counted=()
for part in "${parts[@]}"; do
	case $part in
	add|memory|change)
		timed+=("$part")
		;;
	replace|failover)
		counted+=("$part")
		;;
	*)
		echo "control.sh: no part $part" >&2
		exit 2
		;;
	esac
done
measure timed "${timed[@]}" --
SRPOL_ACCEL=tcg measure counted "${counted[@]}" -- -a nokaslr \
	-q -icount -q shift=1,sleep=off -q -rtc -q clock=vm
selftests/bench/control/table.py "$out/control.json" "${pieces[@]}"
