#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# New package lists while another apt is at it, by an apt-get that says so once.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

work=$(mktemp -d)
at_exit rm -rf "$work"
export work

# apt ERROR: what apt-get says from here on, but for the first time
apt() {
	rm -f "$work/been"
	cat >"$work/apt-get" <<-EOF
	#!/bin/sh
	if [ ! -e "$work/been" ]; then
		: >"$work/been"
		echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1" >&2
		exit 100
	fi
	echo "Hit: lists"
	[ -z "$1" ] || { echo "$1" >&2; exit 100; }
	EOF
	printf '#!/bin/sh\nexec "$@"\n' >"$work/sudo"
	chmod +x "$work"/{apt-get,sudo}
}

run() {
	status=0
	PATH=$work:$PATH selftests/apt-update.sh >"$work/out" 2>"$work/err" || status=$?
}

apt ""
run
check_equal "it waits for the lock of the lists" 0 $status
check_equal "and says that" "waiting for another apt" "$(<"$work/err")"
check_equal "what apt-get says is there" "Hit: lists" "$(<"$work/out")"
apt "E: no network"
run
check_equal "another error is one" 100 $status
check "and is said" grep -q 'no network' "$work/err"
