#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# arm64.sh [WORD...]: the tests of data plane and module, and end-to-end
# programs, or those whose name holds one of the words, on Debian's 6.12 kernel
# for arm64, the architecture of DPUs, in emulated guests.
#
# All is built here by a cross compiler, against the libraries of a root file
# system for arm64 that nothing is run in but the guests:
#
#	${XDG_CACHE_HOME:-~/.cache}/srpol/arm64/root
#
# Its packages are unpacked, not configured. "arm64.sh renew" makes it anew.
# Needs root, to mount this folder there for the guests. Objects and logs:
# build/arm64. Last line: "N passed, N failed, N skipped".
#
# QEMU's processors for arm64 order memory accesses as this machine's do: what
# a weaker order would break is not seen here.

set -euo pipefail

# Nothing of a make that called us is meant for the makes below.
unset MAKEFLAGS MFLAGS MAKELEVEL

self=$(cd "$(dirname "$0")" && pwd)/${0##*/}
cd "${self%/*/*}"
top=$PWD
native=${BUILD:-$top/build}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/srpol/arm64
root=$cache/root
mirror=http://deb.debian.org

die() {
	echo "arm64: $*" >&2
	exit 1
}

# for mmdebstrap, the kernel in KVER included
packages() {
	cat <<-END | sed 's/[[:space:]]*#.*//' | paste -sd ,
	base-files
	base-passwd
	bash
	bsdutils
	dash
	coreutils
	diffutils
	findutils
	grep
	gzip
	hostname
	libc-bin
	mawk
	mount
	sed
	tar
	util-linux
	busybox-static		# initramfs of the guest
	ethtool
	iperf3
	iproute2
	iputils-ping
	gojq
	kmod
	perftest
	ibverbs-providers
	ibverbs-utils
	procps
	prometheus		# for promtool
	python3
	python3-jsonschema
	python3-scapy
	python3-yaml
	rdma-core
	rdmacm-utils
	socat
	tcpdump
	tshark
	libc6-dev		# what is linked with
	libcap-dev
	libcap-ng-dev
	libcmocka-dev
	libcurl4-openssl-dev
	libelf-dev
	libjansson-dev
	libmicrohttpd-dev
	libmnl-dev
	libnats-dev
	libnl-3-dev
	libnl-route-3-dev
	libsodium-dev
	zlib1g-dev
	linux-headers-$KVER
	linux-image-$KVER
	END
}

build_root() {
	local list

	list="$(packages) $kernel"
	if [ "$(cat "$cache/stamp" 2>/dev/null)" = "$list" ]; then
		return
	fi
	echo "arm64: unpacking a root file system in $root, a gigabyte"
	mkdir -p "$cache"
	rm -rf "$cache/stamp" "$root"
	# The date of this machine may be past that of the mirror's lists.
	mmdebstrap --quiet --variant=extract --architectures=arm64 \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='APT::Install-Recommends "false"' \
		--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
		--include="$(packages)" bookworm "$root" \
		"deb $mirror/debian bookworm main" \
		"deb $mirror/debian-security bookworm-security main" \
		>"$cache/log" 2>&1 || {
		tail -n 20 "$cache/log" >&2
		die "no root file system, see $cache/log${kernel:+; if Debian has a newer kernel by now, remove $kernel}"
	}
	# what scripts of the packages would have done
	ln -s mawk "$root/usr/bin/awk"
	cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
	cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
	echo 'tcpdump:x:106:112::/nonexistent:/usr/sbin/nologin' >>"$root/etc/passwd"
	echo 'tcpdump:x:112:' >>"$root/etc/group"
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
	printf 'passwd: files\ngroup: files\nhosts: files\n' \
		>"$root/etc/nsswitch.conf"
	# the scripts of kbuild run here
	rm -rf "$root/usr/lib/linux-kbuild-${KVER%-*}"
	ln -s "$kernel/usr/lib/linux-kbuild-${KVER%-*}" "$root/usr/lib/"
	sed -i "s,^include /usr,include $root/usr," \
		"$root/usr/src/linux-headers-$KVER/Makefile"
	depmod -b "$root" "$KVER"
	echo "$list" >"$cache/stamp"
}

# What the guests need of "make tests", for arm64.
build() {
	local cc="${CROSS_COMPILE}gcc --sysroot=$root" dir

	mkdir -p "$BUILD/logs" "$BUILD/tools/bin"
	ln -sfn "$native/ksrc" "$BUILD/ksrc"
	# which make check unpacks there
	ln -sfn /usr/bin/promtool "$BUILD/tools/bin/"
	BUILD=$native selftests/tools.sh source
	selftests/tools.sh

	mkdir -p "$BUILD/kmod"
	(cd kmod && find . \( -name '*.[ch]' ! -name '*.mod.c' -o -name Kbuild \) \
		-exec cp -u --parents -t "$BUILD/kmod" {} +)
	make -s -C "$KDIR" M="$BUILD/kmod" modules
	make -s -C selftests/vm/fault KDIR="$KDIR"
	selftests/has-btf.sh "$BUILD/kmod/srpol.ko" || die "srpol.ko has no BTF"

	for dir in bpf lib netlinkd selftests/bpf selftests/vm/mock; do
		mkdir -p "$BUILD/$dir" "$BUILD/bin"
		make -s -j"$(nproc)" -C $dir CC="$cc" AR="${CROSS_COMPILE}ar"
	done
}

# In a mount namespace of its own the guests' root holds this folder, and the
# module in its place.
run_guests() {
	mkdir -p "$root$top" "$root$BUILD"
	mount --bind "$top" "$root$top"
	mount --bind "$BUILD" "$root$BUILD"
	touch "$top/kmod/srpol.ko"
	mount --bind "$BUILD/kmod/srpol.ko" "$root$top/kmod/srpol.ko"
	export SRPOL_ROOT=$root SRPOL_ARCH=aarch64
	# emulation is that much slower than that of this machine's kind
	export SRPOL_SLOWER=${SRPOL_SLOWER:-4}
	exec selftests/run.sh "$@"
}

if [ "${1:-}" = guests ]; then
	shift
	run_guests "$@"
fi
export BUILD=$native/arm64

[ "$(id -u)" -eq 0 ] || die "root only"
[ "$(uname -m)" != aarch64 ] || die "this machine is one: make check"
if [ "${1:-}" = renew ]; then
	rm -f "$cache/stamp"
	shift
fi
selftests/deps.sh test gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
	mmdebstrap qemu-system-arm

kernel=$(selftests/kernel.sh)
KVER=$(selftests/kver.sh test)
export KVER=${KVER%-*}-arm64
export KDIR=$root/usr/src/linux-headers-$KVER
export ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- SRPOL_SYSROOT=$root
export SRPOL_HOST_BPFTOOL
SRPOL_HOST_BPFTOOL=$(sed -n 's/^BPFTOOL := //p' "$native/tools/tools.mk")
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig
export PKG_CONFIG_SYSROOT_DIR=$root

build_root
build

# One of each kind of what a packet meets: rules and modes, encapsulation and
# its end, ports, host, probes, RDMA; the module's objects and their life.
[ $# -gt 0 ] || set -- bpf.encap bpf.port bpf.classify bpf.context bpf.select \
	bpf.modes bpf.adaptive bpf.too_big bpf.decap bpf.sids bpf.signals \
	bpf.explain bpf.malformed bpf.apply bpf.generations bpf.flows \
	bpf.rule_index bpf.host bpf.probe bpf.fragments bpf.reflect bpf.binding \
	bpf.usids bpf.scope bpf.errors \
	vm.crud vm.apply vm.dataplane vm.state vm.lifetime vm.ebpf vm.negative \
	vm.e2e_encap vm.e2e_usid vm.e2e_modes vm.e2e_rdma vm.e2e_port \
	vm.e2e_host vm.e2e_malformed vm.e2e_replace vm.e2e_bsid vm.e2e_probe \
	vm.e2e_silent vm.e2e_engine
exec unshare -m "$self" guests "$@"
