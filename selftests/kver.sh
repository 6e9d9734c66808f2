#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Print the kernel release that srpol is built for and tested on: the newest
# 6.12 of Debian whose headers are installed, or else the running kernel when
# that is at least as new and has headers. KVER in the environment wins.

set -euo pipefail

# Debian's name of the flavour for this machine
flavour=$(uname -m | sed 's/x86_64/amd64/;s/aarch64/arm64/')

if [ -n "${KVER:-}" ]; then
	echo "$KVER"
	exit
fi

kver=$(find /lib/modules -mindepth 2 -maxdepth 2 -name build \
	-path "*/6.12*-$flavour/*" -printf '%h\n' 2>/dev/null |
	grep -vE "(cloud|rt)-$flavour\$" | sed 's,.*/,,' | sort -V | tail -n 1) || :

if [ -z "$kver" ]; then
	running=$(uname -r)
	oldest=$(printf '6.12\n%s\n' "$running" | sort -V | head -n 1)
	if [ "$oldest" = 6.12 ] && [ -d "/lib/modules/$running/build" ]; then
		kver=$running
	fi
fi

if [ -z "$kver" ]; then
	echo "kver.sh: no headers of a kernel >= 6.12 here; run 'make test-deps'" >&2
	exit 1
fi
echo "$kver"
