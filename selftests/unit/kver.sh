#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which kernel srpol is built for and which guests boot, by what is installed and
# what is unpacked: in a mount namespace with folders of its own.

set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1:-}" != inside ]; then
	# Root of a user namespace could not read what another user keeps to himself.
	as_root=
	[ "$(id -u)" -eq 0 ] || as_root=-r
	exec unshare -m $as_root selftests/unit/kver.sh inside
fi
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

unset KVER SUDO_USER
work=$(mktemp -d)
at_exit rm -rf "$work"
export XDG_CACHE_HOME=$work/cache
mkdir -p "$work/bin" "$XDG_CACHE_HOME/srpol/guest"
# There need not be a /lib/modules here, which a file system could be mounted on.
mount -t tmpfs tmpfs /boot
mkdir /boot/{upper,work}
mount -t overlay -o lowerdir=/lib,upperdir=/boot/upper,workdir=/boot/work overlay /lib
[ ! -d /lib/modules ] || mount -t tmpfs tmpfs /lib/modules
modules=/lib/modules
flavour=$(uname -m | sed 's/x86_64/amd64/;s/aarch64/arm64/')

# runs RELEASE: what uname -r says from here on
runs() {
	printf '#!/bin/sh\n[ "$1" = -r ] && echo %s || exec /bin/uname "$@"\n' "$1" \
		>"$work/bin/uname"
	chmod +x "$work/bin/uname"
}
PATH=$work/bin:$PATH

# kernel ROOT RELEASE: with its headers, below ROOT
kernel() {
	mkdir -p "$1/boot" "$1/lib/modules/$2"/{build,kernel}
	touch "$1/boot/vmlinuz-$2"
}

unpacked() {
	kernel "$XDG_CACHE_HOME/srpol/guest/$1" "$1"
}

runs "6.1.0-50-$flavour"
check_equal "none: what to do" "1: kver.sh: no kernel >= 6.12 with headers here; run 'make test-deps'" \
	"$(status=0; message=$(selftests/kver.sh test 2>&1) || status=$?; echo "$status: $message")"

unpacked "6.12.9+deb12-$flavour"
unpacked "6.12.73+deb12-$flavour"
unpacked "6.12.99+deb12-cloud-$flavour"
unpacked "6.12.98+deb12-$flavour"
rm "$XDG_CACHE_HOME/srpol/guest/6.12.98+deb12-$flavour/boot/"*
newest=6.12.73+deb12-$flavour
check_equal "the newest that is unpacked and whole" "$newest" "$(selftests/kver.sh test)"
check_equal "it is built for, too, on an older kernel" "$newest" "$(selftests/kver.sh)"
check_equal "where it is" "$XDG_CACHE_HOME/srpol/guest/$newest" "$(selftests/kernel.sh)"
check "fetch has nothing to do" env PATH="$PATH" selftests/kernel.sh fetch test

runs "6.16.3+deb13-$flavour"
check_equal "a newer kernel without headers is not built for" "$newest" "$(selftests/kver.sh)"
mkdir -p "$modules/6.16.3+deb13-$flavour/build"
check_equal "with headers it is" "6.16.3+deb13-$flavour" "$(selftests/kver.sh)"
check_equal "they are where they are installed" "" \
	"$(KVER=$(selftests/kver.sh) selftests/kernel.sh)"
check_equal "guests boot what they did" "$newest" "$(selftests/kver.sh test)"

kernel "" "6.12.50+deb12-$flavour"
check_equal "also if one is installed later" "$newest" "$(selftests/kver.sh test)"
runs "6.1.0-50-$flavour"
# what is left of "unpack", if it is interrupted
mkdir -p "$work/home/.cache/srpol/guest" "$work/root/.cache/srpol/guest"
kernel "$work/home/.cache/srpol/guest/$newest" "$newest"
kernel "$work/root/.cache/srpol/guest/.$newest.new" "$newest"
printf '#!/bin/sh\necho "me:x:1:1::%s:/bin/sh"\n' "$work/home" >"$work/bin/getent"
chmod +x "$work/bin/getent"
check_equal "under sudo it is the user's, if root's is not whole" \
	"$work/home/.cache/srpol/guest" \
	"$(env -u XDG_CACHE_HOME HOME="$work/root" SUDO_USER=me selftests/kernel.sh cache)"
check_equal "which is built for, as it can be booted" "6.12.50+deb12-$flavour" \
	"$(selftests/kver.sh)"
rm -r "$XDG_CACHE_HOME"
check_equal "with none unpacked they boot the installed one" "6.12.50+deb12-$flavour" \
	"$(selftests/kver.sh test)"
check_equal "and it is where it is" "" "$(selftests/kernel.sh)"
check "fetch has nothing to do then" selftests/kernel.sh fetch test
check_equal "nothing is unpacked" "" "$(find "$work/cache" 2>/dev/null)"
check_equal "KVER wins" 6.13 "$(KVER=6.13 selftests/kver.sh test)"
