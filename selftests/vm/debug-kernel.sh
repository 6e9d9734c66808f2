#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# debug-kernel.sh [WORD...]: run the tests of the module, or those whose name
# holds one of the words, in guests with a kernel that checks what it does:
# KASAN, lockdep, RCU, sleeping in atomic context, kmemleak, DEBUG_OBJECTS.
#
# The kernel is built from Debian's linux-source-6.12 and debug-kernel.config,
# once (20 minutes of two processors), in
#
#	${XDG_CACHE_HOME:-~/.cache}/srpol/debug-kernel
#
# SRPOL_DEBUG_TREE=DIR takes a kernel tree that is built already, as it is.
# SRPOL_SLOWER=N: how many times its usual limit a program may take, 6 by default;
# more beside other work.
# SRPOL_RESUME=1: not those that passed before, on the same kernel, with the same
# sources of the module and of themselves. All of them take two processors for
# some hours.
#
# run.sh runs them, in guests that it calls this script in: before the first
# program and after each. A program passes only if, once it is done and the module
# is unloaded, the kernel's log is clean and no memory is lost; after a report the
# rest has another guest, as lockdep is off then. Logs: build/logs/debug/vm/NAME/.
# Last line: "N passed, N failed, N skipped".

set -euo pipefail

# Nothing of a make that called us is meant for the makes below.
unset MAKEFLAGS MFLAGS MAKELEVEL

self=$(cd "$(dirname "$0")" && pwd)/${0##*/}
cd "${self%/*/*/*}"
export BUILD=${BUILD:-$PWD/build}
export SRPOL_LOGS=$BUILD/logs/debug
cache=${XDG_CACHE_HOME:-$HOME/.cache}/srpol/debug-kernel
tarball=/usr/src/linux-source-6.12.tar.xz

# Without the module, or about how long something takes, or about SCTP, which this
# kernel has not.
not_here=(vm.fabric-seg6 vm.rdma vm.failure vm.sctp)

die() {
	echo "debug-kernel: $*" >&2
	exit 1
}

# What kmemleak finds, in the second of two scans: only what has not changed
# between them is reported. Objects younger than 5 s are not looked at.
leaks() {
	local kmemleak=/sys/kernel/debug/kmemleak

	sleep 6
	echo scan >$kmemleak
	echo scan >$kmemleak
	cat $kmemleak
}

# prepare: in a guest, before its first program
prepare() {
	local release

	release=/lib/modules/$(uname -r)
	# for modprobe: everything is built in
	mkdir -p "$release"
	cp "$SRPOL_DEBUG_TREE"/modules.{builtin,builtin.modinfo,order} "$release"
	depmod
	mount --bind "$SRPOL_DEBUG_OUT/selftests/vm/fault/srpol.ko" \
		"$BUILD/selftests/vm/fault/srpol.ko"
	mount --bind "$SRPOL_MODULE" kmod/srpol.ko
	echo scan=off >/sys/kernel/debug/kmemleak
}

# after: in a guest, when a program has ended and the module should be gone; says
# what is wrong as a program would, and is false then
after() {
	local found status=0

	if [ -d /sys/module/srpol ]; then
		echo "not ok - module can be unloaded"
		status=1
	fi
	found=$(leaks)
	if [ -n "$found" ]; then
		printf 'not ok - no memory is lost\n%s\n' "$found"
		status=1
	fi
	if ! grep -qE '^ *debug_locks: *1' /proc/lockdep_stats; then
		echo "not ok - lockdep has seen all of it"
		status=1
	fi
	return $status
}

# unpack_kernel TREE
unpack_kernel() {
	local tree=$1

	rm -rf "$tree"
	mkdir -p "$tree"
	tar -x -I 'xz -T0' -f "$tarball" -C "$tree" --strip-components=1
	# The kernel's verifier is not what is looked at, and takes most of
	# the time of a program that loads the real data plane; of the rest
	# most goes into who allocated what, from how deep.
	echo 'KASAN_SANITIZE_verifier.o := n' >>"$tree/kernel/bpf/Makefile"
	sed -i 's/^\(#define KASAN_STACK_DEPTH\) 64$/\1 6/' \
		"$tree/mm/kasan/kasan.h"
	sed -i 's/^\(#define MAX_TRACE\)\t\t16\>/\1 6/' "$tree/mm/kmemleak.c"
}

# build_kernel TREE: with another configuration what it changes
build_kernel() {
	local tree=$1 here=${self%/*} log=$cache/build.log line

	echo "debug-kernel: building a kernel in $cache, see $log"
	{
		make -C "$tree" tinyconfig &&
			(cd "$tree" && scripts/kconfig/merge_config.sh -m \
				.config "$here/debug-kernel.config") &&
			make -C "$tree" olddefconfig
	} >"$log" 2>&1 || die "no configuration, see $log"
	# dependencies that are not met make options disappear
	while read -r line; do
		grep -qxF "$line" "$tree/.config" || die "lost: $line"
	done < <(grep '^CONFIG_' "$here/debug-kernel.config")
	make -C "$tree" -j"$(nproc)" bzImage modules >>"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		die "the kernel could not be built, see $log"
	}
}

# make_kernel TREE: what of it is not there yet, or is of something else
make_kernel() {
	local tree=$1 source key

	source=$(stat -Lc '%s-%Y' "$tarball")-$(declare -f unpack_kernel | cksum)
	key=$source-$(cksum <"${self%/*}/debug-kernel.config")
	if [ "$(cat "$cache/source" 2>/dev/null)" != "$source" ]; then
		rm -f "$cache/source"
		unpack_kernel "$tree"
		echo "$source" >"$cache/source"
	fi
	if [ "$(cat "$cache/stamp" 2>/dev/null)" != "$key" ]; then
		rm -f "$cache/stamp"
		build_kernel "$tree"
		echo "$key" >"$cache/stamp"
	fi
}

# Sets $tree to that of a built kernel. Two may come here at the same time.
find_kernel() {
	local tool

	if [ -n "${SRPOL_DEBUG_TREE:-}" ]; then
		tree=$(cd "$SRPOL_DEBUG_TREE" && pwd)
		[ -r "$tree/arch/x86/boot/bzImage" ] ||
			die "no kernel in $tree: make bzImage modules"
		return
	fi
	[ -e "$tarball" ] || die "$tarball is not there; run 'make test-deps'"
	for tool in bc bison flex; do
		command -v $tool >/dev/null || die "no $tool; run 'make test-deps'"
	done
	tree=$cache/linux
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
	make_kernel "$tree"
	exec 9>&-
}

# The module for that kernel, and the one with failing allocations, from copies
# of the sources.
build_modules() {
	local out=$SRPOL_DEBUG_OUT

	# kbuild would keep type information of the kernel that was there before,
	# and this kernel leaves it aside
	[ "$out/kmod/srpol.ko" -nt "$SRPOL_DEBUG_TREE/vmlinux" ] ||
		rm -rf "$out"
	mkdir -p "$out/kmod"
	(
		cd kmod
		find . \( -name '*.[ch]' ! -name '*.mod.c' -o -name Kbuild \) \
			-exec cp -u --parents -t "$out/kmod" {} +
	)
	make -C "$SRPOL_DEBUG_TREE" M="$out/kmod" modules &&
		make -C selftests/vm/fault BUILD="$out" \
			KDIR="$SRPOL_DEBUG_TREE"
}

# of_sources PROGRAM: what a result of a program is of: of the kernel its version,
# and what checks or schedules; not which drivers it has beside those of the program
of_sources() {
	{
		cat "$SRPOL_DEBUG_TREE/include/config/kernel.release" "$1"
		grep -E 'KASAN|LOCK|RCU|DEBUG|FAULT|PREEMPT|SMP|HZ|STACK' \
			"$SRPOL_DEBUG_TREE/.config"
		declare -f unpack_kernel
		find kmod \( -name '*.[ch]' ! -name '*.mod.c' -o -name Kbuild \) \
			-print0 | sort -z | xargs -0 cat
	} | sha256sum
}

# remember_passed: those that passed in this run until now, of what was there when
# it began
remember_passed() {
	local name tally

	for name in "${!sources[@]}"; do
		tally=$SRPOL_LOGS/vm/$name/tally
		# an earlier run's is older than the module
		if [ "$tally" -nt "$SRPOL_LOGS/modules.log" ] &&
			grep -qsE '^[1-9][0-9]* 0 0 *$' "$tally"; then
			echo "${sources[$name]}" >"$cache/passed/$name"
		fi
	done
}

# name_of PROGRAM: as run.sh calls it
name_of() {
	local name=${1##*/}

	echo "vm.${name%.*}"
}

case ${1:-} in
prepare | after)
	"$1"
	exit
	;;
esac

[ -e "$BUILD/selftests/vm/mock/large.bpf.o" ] || die "run 'make' first"
find_kernel
export SRPOL_DEBUG_TREE=$tree
export SRPOL_DEBUG_OUT=$BUILD/debug
export SRPOL_KERNEL=$tree/arch/x86/boot/bzImage
export SRPOL_MODULE=$SRPOL_DEBUG_OUT/kmod/srpol.ko

mkdir -p "$SRPOL_LOGS" "$cache/passed"
build_modules >"$SRPOL_LOGS/modules.log" 2>&1 || {
	tail -n 30 "$SRPOL_LOGS/modules.log" >&2
	die "the module could not be built for this kernel"
}

# What a result of this run is of, by program
declare -A sources
before=0
for program in selftests/vm/tests/*; do
	name=$(name_of "$program")
	sources[$name]=$(of_sources "$program")
	[ "${SRPOL_RESUME:-0}" = 1 ] &&
		[ "${sources[$name]}" = "$(cat "$cache/passed/$name" 2>/dev/null)" ] ||
		continue
	before=$((before + 1))
	not_here+=("$name")
done
[ $before -eq 0 ] || echo "$before programs passed before, and do not run"

export SRPOL_EXCEPT="${not_here[*]}"
export SRPOL_MESSAGES=${SRPOL_MESSAGES:-500}
export SRPOL_SLOWER=${SRPOL_SLOWER:-6}
export SRPOL_CHECKER=$self
# no5lvl: an interrupt while identify_cpu() has cleared the capabilities finds
# KASAN with other limits of what addresses there are
export SRPOL_GUEST="-m 3G -a no5lvl"

trap 'kill "$runner" 2>/dev/null || :; wait "$runner" || :; remember_passed' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
selftests/run.sh "$@" &
runner=$!
# Hours can end by something that nobody can catch.
while kill -0 "$runner" 2>/dev/null; do
	sleep 30 &
	wait -n "$runner" $! || :
	remember_passed
done
wait "$runner"
