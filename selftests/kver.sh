#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kver.sh: print the kernel release that srpol is built for: the running one if it
# is at least 6.12 and has headers, or else the newest 6.12 of Debian that is
# installed with its headers, or that kernel.sh has unpacked.
#
# kver.sh test: the one it is tested on, which guests boot: such a 6.12, but rather
# the unpacked one, which installing others does not change.
#
# KVER in the environment wins.

set -euo pipefail

if [ -n "${KVER:-}" ]; then
	echo "$KVER"
	exit
fi

# Debian's name of the flavour for this machine
flavour=$(uname -m | sed 's/x86_64/amd64/;s/aarch64/arm64/')
cache=$("${0%/*}/kernel.sh" cache)

# Debian's 6.12 kernels below the root file systems
releases() {
	local root modules kver

	for root; do
		for modules in "$root"/lib/modules/6.12*-"$flavour"; do
			kver=${modules##*/}
			[[ $kver != *-@(cloud|rt)-* ]] &&
				[ -d "$modules/build" ] &&
				[ -d "$modules/kernel" ] &&
				[ -r "$root/boot/vmlinuz-$kver" ] || continue
			echo "$kver"
		done
	done | sort -V
}

running=$(uname -r)
if [ "${1:-}" != test ] && [ -d "/lib/modules/$running/build" ] &&
	[ "$(printf '6.12\n%s\n' "$running" | sort -V | head -n 1)" = 6.12 ]; then
	kver=$running
else
	unpacked=$(releases "$cache"/*/ | tail -n 1)
	installed=$(releases "" | tail -n 1)
	if [ "${1:-}" = test ]; then
		kver=${unpacked:-$installed}
	else
		kver=${installed:-$unpacked}
	fi
fi

if [ -z "$kver" ]; then
	echo "kver.sh: no kernel >= 6.12 with headers here; run 'make test-deps'" >&2
	exit 1
fi
echo "$kver"
