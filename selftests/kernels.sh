#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernels.sh [WORD...]: build the module without a warning of gcc (W=1) or
# sparse, against
#
#	6.12-amd64, 6.12-arm64	the headers of the kernel it is made for, by this
#				machine's compilers
#	sid-amd64, sid-arm64	the newest that Debian has, by sid's compilers
#
# or those whose name holds one of the words. Nothing of it is installed on
# this machine but a cross compiler: headers for arm64 are unpacked, and sid
# is a root file system of its own, in
#
#	${XDG_CACHE_HOME:-~/.cache}/srpol/kernels
#
# "kernels.sh renew" takes sid as it is now. Needs root, for chroot. Logs:
# build/logs/kernels/NAME.log. Last line: "N passed, N failed, 0 skipped".

set -euo pipefail

# Nothing of a make that called us is meant for the makes below.
unset MAKEFLAGS MFLAGS MAKELEVEL

cd "$(dirname "$0")/.."
BUILD=${BUILD:-$PWD/build}
logs=$BUILD/logs/kernels
cache=${XDG_CACHE_HOME:-$HOME/.cache}/srpol/kernels
sid=$cache/sid
mirror=http://deb.debian.org/debian
kver=$(selftests/kver.sh test)
kernel=$(selftests/kernel.sh)
flavour=${kver##*-}
die() {
	echo "kernels: $*" >&2
	exit 1
}

# The date of this machine may be past that of the mirror's lists.
lasting='Acquire::Check-Valid-Until "false";'

# apt with lists and settings of its own, for arm64 beside amd64
scratch_apt() {
	local state=$cache/apt

	mkdir -p "$state"/{lists/partial,archives/partial,parts}
	echo "$lasting" >"$state/conf"
	apt-get -q -c "$state/conf" -o Dir::State="$state" \
		-o Dir::State::lists="$state/lists" \
		-o Dir::State::status=/dev/null \
		-o Dir::Cache="$state" -o Dir::Etc::sourceparts="$state/parts" \
		-o Dir::Etc::sourcelist="$state/sources.list" \
		-o APT::Architectures::=amd64 -o APT::Architectures::=arm64 \
		"$@"
}

# The folder of 6.12's headers for ARCH. Those of another architecture use the
# scripts of this one, which belong to the same package.
headers_612() {
	local arch=$1 to=$cache/$kver-$1 version=${kver%-*} suite
	local headers=$to/usr/src/linux-headers-${kver%-*}-$1

	if [ "$arch" = "$flavour" ]; then
		echo "$kernel/usr/src/linux-headers-$kver"
		return
	fi
	echo "$headers"
	[ ! -e "$to/done" ] || [ "$(<"$to/done")" != "$kernel" ] || return 0
	rm -rf "$to"
	mkdir -p "$to/usr/lib" "$cache/apt"
	for suite in " bookworm" "-security bookworm-security"; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
			"$mirror$suite main"
	done >"$cache/apt/sources.list"
	# "set -e" is off in here, as build_612 is called
	scratch_apt update >&2 &&
		(cd "$to" && scratch_apt download \
			"linux-headers-$version-$arch:$arch") >&2 &&
		dpkg-deb -x "$to"/*.deb "$to" &&
		ln -s "$kernel/usr/lib/linux-kbuild-$version" "$to/usr/lib/" &&
		sed -i "s,^include /,include $kernel/," "$headers/Makefile" &&
		echo "$kernel" >"$to/done"
}

# A root file system with sid's compilers and headers.
root_sid() {
	local headers script

	[ ! -e "$cache/sid.done" ] || return 0
	rm -rf "$sid"
	mkdir -p "$cache"
	mmdebstrap --quiet --aptopt="$lasting" --variant=apt \
		--architectures=amd64,arm64 \
		--include=gcc,make,sparse,pahole,linux-headers-amd64 \
		--include=linux-headers-arm64:arm64 sid "$sid" "$mirror" ||
		return
	# Debian's headers lack it, and then any sparse is "not available"
	for headers in "$sid"/usr/src/linux-headers-*-common; do
		script=$headers/scripts/checker-valid.sh
		printf '#!/bin/sh\necho 1\n' >"$script"
		chmod +x "$script"
	done
	touch "$cache/sid.done"
}

# fill FOLDER: with the module's sources
fill() {
	rm -rf "$1"
	mkdir -p "$1"
	(cd kmod && find . \( -name '*.[ch]' ! -name '*.mod.c' -o \
		-name Kbuild \) -exec cp --parents -t "$1" {} +)
}

build_612() {
	local arch=$1 work=$BUILD/kernels/$kver-$1 headers

	headers=$(headers_612 "$arch") || {
		echo "no headers; if Debian has a newer kernel by now," \
			"see testing.rst on renewing the unpacked one"
		return 1
	}
	fill "$work"
	echo "kernel ${kver%-*}-$arch, gcc of this machine"
	make -C "$headers" M="$work" W=1 C=2 modules
}

build_sid() {
	local arch=$1 headers

	root_sid || return
	headers=$(cd "$sid/usr/src" && echo linux-headers-*-"$arch")
	fill "$sid/srpol"
	echo "kernel ${headers#linux-headers-}, gcc of sid"
	# objtool wants /proc
	unshare -m sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' - \
		"$sid" make -C "/usr/src/$headers" M=/srpol W=1 C=2 modules
}

# complaints LOG: of gcc or sparse about our files, not about the kernel's
complaints() {
	grep -E '(warning|error|WARNING|ERROR):|sparse is not available' "$1" |
		grep -vE '^[^ :]*/usr/src/linux-headers|^(\./)?(include|arch)/'
}

wanted() {
	local word

	[ ${#words[@]} -gt 0 ] || return 0
	for word in "${words[@]}"; do
		[[ $1 != *"$word"* ]] || return 0
	done
	return 1
}

words=("$@")
if [ "${1:-}" = renew ]; then
	rm -f "$cache/sid.done"
	words=()
fi
[ "$(id -u)" -eq 0 ] || die "root only"
selftests/deps.sh test gcc-aarch64-linux-gnu mmdebstrap
mkdir -p "$logs"

passed=0
failed=0
for name in "6.12-$flavour" 6.12-arm64 sid-amd64 sid-arm64; do
	wanted "$name" || continue
	log=$logs/$name.log
	rm -f "$log.complaints"
	arch=${name##*-}
	status=0
	case $name in
	sid-*)	build_sid "$arch" >"$log" 2>&1 || status=$? ;;
	*)	build_612 "$arch" >"$log" 2>&1 || status=$? ;;
	esac
	if [ $status -eq 0 ] && ! complaints "$log" >"$log.complaints"; then
		echo "ok    $name: $(grep -m 1 '^kernel ' "$log")"
		passed=$((passed + 1))
	else
		echo "FAIL  $name: status $status, see $log"
		head -n 20 "$log.complaints" 2>/dev/null || tail -n 3 "$log"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
