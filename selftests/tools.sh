#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tools.sh [source]: what Debian 12 ships too old, built from Debian's own
# linux-source-6.12 into build/:
#
#   build/ksrc		the parts of the kernel tree in use: tools/lib/bpf,
#			bpftool, ynl, kselftest headers, scripts/checkpatch.pl
#   build/tools		include/, lib/libbpf.a, sbin/bpftool
#   build/tools/tools.mk	LIBBPF_CFLAGS, LIBBPF_LIBS and BPFTOOL for make
#   build/vmlinux.h	types of the 6.12 kernel srpol is built for, never
#			those of the kernel this machine happens to run
#
# With CROSS_COMPILE, ARCH and SRPOL_SYSROOT they are for another machine, and
# SRPOL_HOST_BPFTOOL is one that runs here (see selftests/arm64.sh).
# With the argument "source", only build/ksrc. Steps that are done are not
# done again; the system's libbpf and bpftool are taken where new enough.

set -euo pipefail

# Nothing of a make that called us is meant for the makes below.
unset MAKEFLAGS MFLAGS MAKELEVEL

cd "$(dirname "$0")/.."
top=$PWD
build=${BUILD:-$top/build}
ksrc=$build/ksrc
tools=$build/tools
log=$build/logs/tools.log
tarball=/usr/src/linux-source-6.12.tar.xz
cross=()
[ -z "${SRPOL_SYSROOT:-}" ] ||
	cross=(CROSS_COMPILE="$CROSS_COMPILE" ARCH="$ARCH"
	       CC="${CROSS_COMPILE}gcc --sysroot=$SRPOL_SYSROOT")
libbpf_floor=1.4
bpftool_floor=7.4

die() {
	echo "tools: $*" >&2
	exit 1
}

# run NAME COMMAND...: quiet when all is well, the log's end when it is not.
# The steps below chain their commands with &&: "set -e" is off in here.
run() {
	local name=$1
	shift

	echo "  TOOLS   $name"
	if ! "$@" >>"$log" 2>&1; then
		tail -n 30 "$log" >&2
		die "$name failed, see $log"
	fi
}

# is_done STAMP KEY: was this step done for this KEY?
is_done() {
	[ -f "$1" ] && [ "$(<"$1")" = "$2" ]
}

at_least() {
	[ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

unpack_source() {
	local part parts=()

	# tools/include takes bpf_perf_event.h of arm64 from the kernel's own
	for part in COPYING arch/arm64/include/uapi/asm \
		    kernel/bpf scripts Documentation/netlink \
		    tools/arch tools/bpf tools/build tools/include \
		    tools/lib tools/net tools/scripts \
		    tools/testing/selftests/kselftest.h \
		    tools/testing/selftests/kselftest_harness.h \
		    tools/testing/selftests/kselftest; do
		parts+=("linux-source-6.12/$part")
	done

	# ynl-gen-c.py looks upwards for the kernel's root by the name
	# MAINTAINERS, and does not stop at / when there is none.
	rm -rf "$ksrc" "$ksrc.new" &&
		mkdir -p "$ksrc.new" &&
		tar -x -I 'xz -T0' -f "$tarball" -C "$ksrc.new" \
			--strip-components=1 "${parts[@]}" &&
		touch "$ksrc.new/MAINTAINERS" &&
		mv "$ksrc.new" "$ksrc"
}

build_libbpf() {
	mkdir -p "$tools/lib" "$build/obj/libbpf" &&
		make -C "$ksrc/tools/lib/bpf" -j"$(nproc)" \
			OUTPUT="$build/obj/libbpf/" DESTDIR="$tools" prefix= "${cross[@]}" \
			"$build/obj/libbpf/libbpf.a" install_headers &&
		cp "$build/obj/libbpf/libbpf.a" "$tools/lib/"
}

# Debian 12's own linux/bpf.h knows no TCX.
install_uapi() {
	mkdir -p "$tools/include/linux" &&
		cp "$ksrc"/tools/include/uapi/linux/{bpf,bpf_common,if_link}.h \
			"$tools/include/linux/"
}

# Neither a disassembler nor pid lookup is needed; without them bpftool needs
# no clang, no libbfd and half the time.
build_bpftool() {
	mkdir -p "$tools/sbin" "$build/obj/bpftool" &&
		make -C "$ksrc/tools/bpf/bpftool" -j"$(nproc)" \
			OUTPUT="$build/obj/bpftool/" "${cross[@]}" \
			feature-clang-bpf-co-re=0 feature-llvm=0 \
			feature-libbfd=0 feature-libbfd-liberty=0 \
			feature-libbfd-liberty-z=0 &&
		cp "$build/obj/bpftool/bpftool" "$tools/sbin/"
}

dump_types() {
	local btf=$types

	if [ "${types##*/}" != vmlinux ]; then
		btf=$build/obj/vmlinux-$kver
		"$ksrc/scripts/extract-vmlinux" "$types" >"$btf" || return
	fi
	"$bpftool" btf dump file "$btf" format c >"$build/vmlinux.h.new" &&
		mv -f "$build/vmlinux.h.new" "$build/vmlinux.h"
}

[ -e "$tarball" ] || die "$tarball is not there; run 'make test-deps'"
mkdir -p "$build/logs" "$build/obj"

# Two makes or VMs may come here at the same time.
exec 9>"$build/obj/tools.lock"
flock 9

source_id=$(stat -Lc '%s-%Y' "$tarball")
parts_id="$source_id $(declare -f unpack_source | cksum)"
if ! is_done "$ksrc/.srpol-stamp" "$parts_id"; then
	run "unpack linux-source-6.12" unpack_source
	echo "$parts_id" >"$ksrc/.srpol-stamp"
fi
[ "${1:-}" != source ] || exit 0

mkdir -p "$tools"
if pkg-config --atleast-version=$libbpf_floor libbpf 2>/dev/null; then
	libbpf_cflags=$(pkg-config --cflags libbpf)
	libbpf_libs=$(pkg-config --libs libbpf)
else
	if ! is_done "$tools/.libbpf-stamp" "$source_id"; then
		run "libbpf" build_libbpf
		echo "$source_id" >"$tools/.libbpf-stamp"
	fi
	if ! is_done "$tools/.uapi-stamp" "$source_id"; then
		run "linux/bpf.h" install_uapi
		echo "$source_id" >"$tools/.uapi-stamp"
	fi
	libbpf_cflags="-I$tools/include"
	libbpf_libs="$tools/lib/libbpf.a -lelf -lz"
fi

bpftool=$(PATH=$PATH:/usr/sbin command -v bpftool || :)
version=$("${bpftool:-false}" version 2>/dev/null |
	sed -n 's/^bpftool v//p') || version=0
if [ ${#cross[@]} -gt 0 ] || ! at_least $bpftool_floor "${version:-0}"; then
	bpftool=$tools/sbin/bpftool
	if ! is_done "$tools/.bpftool-stamp" "$source_id"; then
		run "bpftool" build_bpftool
		echo "$source_id" >"$tools/.bpftool-stamp"
	fi
fi

bpftool=${SRPOL_HOST_BPFTOOL:-$bpftool}
kver=$(selftests/kver.sh)
kernel=$(KVER=$kver selftests/kernel.sh)
types=${KDIR:-$kernel/lib/modules/$kver/build}/vmlinux
[ -e "$types" ] || types=$kernel/boot/vmlinuz-$kver
types_id="$kver $(stat -Lc '%s-%Y' "$types" 2>/dev/null || :)"
if ! is_done "$tools/.types-stamp" "$types_id"; then
	run "vmlinux.h of $kver" dump_types
	echo "$types_id" >"$tools/.types-stamp"
fi

new=$(cat <<EOF
# written by selftests/tools.sh
LIBBPF_CFLAGS := $libbpf_cflags
LIBBPF_LIBS := $libbpf_libs
BPFTOOL := $bpftool
EOF
)
is_done "$tools/tools.mk" "$new" || echo "$new" >"$tools/tools.mk"
