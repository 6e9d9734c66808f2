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
# Each program has a guest of its own, because lockdep is off after its first
# report. A program passes only if, once it is done and the module is unloaded,
# the kernel's log is clean and no memory is lost. Logs and kernel logs:
# build/logs/debug/NAME/. Last line: "N passed, N failed, N skipped".

set -euo pipefail

# Nothing of a make that called us is meant for the makes below.
unset MAKEFLAGS MFLAGS MAKELEVEL

self=$(cd "$(dirname "$0")" && pwd)/${0##*/}
cd "${self%/*/*/*}"
export BUILD=${BUILD:-$PWD/build}
logs=$BUILD/logs/debug
cache=${XDG_CACHE_HOME:-$HOME/.cache}/srpol/debug-kernel
tarball=/usr/src/linux-source-6.12.tar.xz

# All programs for guests but those without the module, and the one that is
# about how long something takes.
declare -A programs
for program in selftests/vm/tests/*; do
	name=${program##*/}
	name=${name%.*}
	case $name in
	fabric-seg6 | rdma | failure) continue ;;
	esac
	[ ! -x "$program" ] || programs[$name]=$program
done

# how much longer than usual a program may take here
slower=${SRPOL_SLOWER:-6}

# What the log of a kernel that found nothing does not hold. "WARNING:" and
# "BUG:" begin what KASAN, lockdep, RCU and DEBUG_ATOMIC_SLEEP have to say.
# Stalls are missing: a busy host is enough to cause them.
trouble='WARNING:|BUG:|Oops|ODEBUG|UBSAN|refcount_t:|INFO: task|INFO: trying'
trouble+='|general protection fault|suspicious RCU|possible (circular|recurs)'
trouble+='|unregister_netdevice: waiting|kmemleak: [0-9]+ new'

# shellcheck source=selftests/report.sh
. selftests/report.sh

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

# guest PROGRAM: in the guest
guest() {
	local program=$1 log=$SRPOL_OUT/log status=0 found tree release

	tree=$SRPOL_DEBUG_TREE
	release=/lib/modules/$(uname -r)
	# for modprobe: everything is built in
	mkdir -p "$release"
	cp "$tree"/modules.builtin{,.modinfo} "$tree/modules.order" "$release"
	depmod
	mount --bind "$SRPOL_DEBUG_OUT/selftests/vm/fault/srpol.ko" \
		"$BUILD/selftests/vm/fault/srpol.ko"
	mount --bind "$SRPOL_MODULE" kmod/srpol.ko

	echo scan=off >/sys/kernel/debug/kmemleak

	timeout -k 10 $((slower * $(time_limit "$program"))) "$program" \
		>"$log" 2>&1 || status=$?
	if [ -d /sys/module/srpol ] && ! rmmod srpol; then
		echo "not ok - module can be unloaded" >>"$log"
	fi

	found=$(leaks)
	dmesg >"$SRPOL_OUT/dmesg"
	if [ -n "$found" ]; then
		printf 'not ok - no memory is lost\n%s\n' "$found" >>"$log"
	fi
	if grep -qE "$trouble" "$SRPOL_OUT/dmesg"; then
		{
			echo "not ok - kernel log is clean"
			grep -nE -A 80 "$trouble" "$SRPOL_OUT/dmesg"
		} >>"$log"
	elif ! grep -qE '^ *debug_locks: *1' /proc/lockdep_stats; then
		echo "not ok - lockdep has seen all of it" >>"$log"
	fi
	echo "$status" >"$SRPOL_OUT/status"
}

# build_kernel TREE: unpack and build
build_kernel() {
	local tree=$1 here=${self%/*} log=$cache/build.log line

	echo "debug-kernel: building a kernel in $cache, see $log"
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

# Sets $tree to that of a built kernel. Two may come here at the same time.
find_kernel() {
	local key tool

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
	key=$(stat -Lc '%s-%Y' "$tarball")-$({
		cat "${self%/*}/debug-kernel.config"
		declare -f build_kernel
	} | cksum | cut -d ' ' -f 1)
	tree=$cache/linux
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
	if [ "$(cat "$cache/stamp" 2>/dev/null)" != "$key" ]; then
		rm -f "$cache/stamp"
		build_kernel "$tree"
		echo "$key" >"$cache/stamp"
	fi
	exec 9>&-
}

# The module for that kernel, and the one with failing allocations, from copies
# of the sources.
build_modules() {
	local out=$SRPOL_DEBUG_OUT

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

wanted() {
	local word

	[ ${#words[@]} -gt 0 ] || return 0
	for word in "${words[@]}"; do
		[[ $1 != *"$word"* ]] || return 0
	done
	return 1
}

# of_sources NAME: what a result of a program is of
of_sources() {
	{
		cat "$SRPOL_DEBUG_TREE/.config" "${programs[$1]}"
		declare -f build_kernel
		find kmod \( -name '*.[ch]' ! -name '*.mod.c' -o -name Kbuild \) \
			-print0 | sort -z | xargs -0 cat
	} | sha256sum
}

# passed_before NAME
passed_before() {
	[ "${SRPOL_RESUME:-0}" = 1 ] &&
		[ "$(of_sources "$1")" = "$(cat "$cache/passed/$1" 2>/dev/null)" ]
}

# run NAME: one program in a guest, its "passed failed skipped" in a file
run() {
	local name=$1 dir=$logs/$1 start=$EPOCHREALTIME died=0 counts
	local program=${programs[$1]} clock=() limit

	mkdir "$dir"
	! grep -aqm1 'SRPOL_CLOCK=counted' "$program" || clock=(-i)
	limit=$((300 + slower * $(time_limit "$program")))
	# no5lvl: an interrupt while identify_cpu() has cleared the capabilities
	# finds KASAN with other limits of what addresses there are
	SRPOL_MESSAGES=${SRPOL_MESSAGES:-500} \
		setpriv --pdeathsig TERM \
		selftests/vm/vm.sh -t $limit -m 3G -a no5lvl "${clock[@]}" \
		-o "$dir" -- \
		"$self" guest "$program" 2>"$dir/stderr" || died=1
	if [ $died -eq 0 ]; then
		counts=$(tally "$dir/log" "$(<"$dir/status")")
	else
		cat "$dir/stderr" >>"$dir/log"
		counts="0 1 0 the guest died of it"
	fi
	report "debug.$name" "$dir/log" "$(elapsed_ms "$start")" "$counts"
	echo "$counts" >"$dir/tally"
	[[ ! $counts =~ ^[1-9][0-9]*" 0 0 "*$ ]] ||
		of_sources "$name" >"$cache/passed/$name"
}

case ${1:-} in
guest)
	guest "$2"
	exit
	;;
esac
words=("$@")

[ -e "$BUILD/selftests/vm/mock/large.bpf.o" ] || die "run 'make' first"
find_kernel
export SRPOL_DEBUG_TREE=$tree
export SRPOL_DEBUG_OUT=$BUILD/debug
export SRPOL_KERNEL=$tree/arch/x86/boot/bzImage
export SRPOL_MODULE=$SRPOL_DEBUG_OUT/kmod/srpol.ko

rm -rf "$logs"
mkdir -p "$logs" "$cache/passed"
build_modules >"$logs/modules.log" 2>&1 || {
	tail -n 30 "$logs/modules.log" >&2
	die "the module could not be built for this kernel"
}
# builds or probes what all guests need, before they start together
selftests/vm/vm.sh -t 300 -o "$logs/probe" -- true

# guests end with the subshells that started them
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
before=0
for name in "${!programs[@]}"; do
	wanted "$name" || continue
	if passed_before "$name"; then
		before=$((before + 1))
		continue
	fi
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n || :
	done
	run "$name" &
done
wait
trap - EXIT

passed=0
failed=0
skipped=0
for name in "${!programs[@]}"; do
	[ -d "$logs/$name" ] || continue
	read -r p f s why <"$logs/$name/tally" || p=0 f=1 s=0
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
done
[ $before -eq 0 ] || echo "$before programs passed before, and did not run"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $((passed + skipped + before)) -gt 0 ]
