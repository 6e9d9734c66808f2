#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernel.sh: print the folder below which boot/, lib/modules/ and usr/src/ hold the
# kernel that kver.sh names and its headers: nothing where they are installed.
#
# kernel.sh fetch [test]: if kver.sh has none to name, unpack Debian's 6.12 into the
# cache, for all checkouts. It is not installed: it would be what this machine boots
# next, and its initramfs takes minutes to make.
#
# kernel.sh cache: print that folder, ~/.cache/srpol/guest. For make under sudo it is
# the one of the user, if only that has a kernel.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/sbin:/sbin

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/srpol/guest
has_kernel() {
	compgen -G "$1/*/boot/vmlinuz-*" >/dev/null
}
if [ -n "${SUDO_USER:-}" ] && [ -z "${XDG_CACHE_HOME:-}" ] && ! has_kernel "$cache"; then
	home=$(getent passwd "$SUDO_USER" | cut -d : -f 6) || home=
	! has_kernel "$home/.cache/srpol/guest" || cache=$home/.cache/srpol/guest
fi

# unpack RELEASE FOLDER, with what names /usr/src changed. The steps are chained
# with &&: "set -e" is off in here.
unpack() {
	local kver=$1 root=$2 new=${2%/*}/.${2##*/}.new
	local modules=$new/lib/modules/$1

	# no glob of a reader finds what is not whole
	rm -rf "$root" "${root%/*}"/.*.new &&
		"$here/unpack.sh" -t "$new" "linux-image-$kver" \
			"linux-headers-$kver" "linux-headers-${kver%-*}-common" \
			"linux-kbuild-${kver%-*}" &&
		sed -i "s,^include /,include $root/," \
			"$new/usr/src/linux-headers-$kver/Makefile" &&
		ln -sfn "$root$(readlink "$modules/build")" "$modules/build" &&
		ln -sfn "$root$(readlink "$modules/source")" "$modules/source" &&
		depmod -b "$new" "$kver" &&
		mv "$new" "$root"
}

# The release that Debian's package of this machine's 6.12 stands for.
newest() {
	local arch

	arch=$(dpkg --print-architecture)
	apt-cache show --no-all-versions "linux-image-6.12-$arch" 2>/dev/null |
		sed -n 's/^Depends: linux-image-\([^ ,]*\).*/\1/p'
}

fetch() {
	local kver

	kver=$(newest)
	if [ -z "$kver" ]; then
		"$here/apt-update.sh" >&2
		kver=$(newest)
	fi
	[ -n "$kver" ] || return
	echo "kernel: Linux $kver and its headers are unpacked into $cache:" \
		"120 MB to download, 210 on disk" >&2
	unpack "$kver" "$cache/$kver"
}

if [ "${1:-}" = cache ]; then
	echo "$cache"
	exit
fi
if [ "${1:-}" = fetch ]; then
	! "$here/kver.sh" "${2:-}" >/dev/null 2>&1 || exit 0
	if [[ $cache = *[[:space:],\&]* ]]; then
		echo "kernel: make cannot work with headers in \"$cache\":" \
			"set XDG_CACHE_HOME (sudo needs --preserve-env=XDG_CACHE_HOME)" >&2
		exit 1
	fi
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
	! "$here/kver.sh" "${2:-}" >/dev/null 2>&1 || exit 0
	# once more, as unpack.sh makes new lists when old ones name what is gone
	fetch || fetch || {
		echo "kernel: Debian's linux-image-6.12 cannot be had (is" \
			"bookworm-security in /etc/apt/sources.list?)" >&2
		exit 1
	}
	exit
fi

kver=$("$here/kver.sh" test)
[ ! -d "$cache/$kver" ] || echo "$cache/$kver"
