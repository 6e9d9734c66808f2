#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# apt-update.sh: apt-get update, when no other apt is at it any more, as one often is
# on a fresh machine: apt-get waits for the lock of dpkg, but not for that of the
# package lists.

set -euo pipefail

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

# update: its errors and warnings go into $message
update() {
	{ message=$("${as_root[@]}" apt-get -q update 2>&1 >&3); } 3>&1
}

for ((tries = 0; tries < 120; tries++)); do
	status=0
	update || status=$?
	[ $status -ne 0 ] && [[ $message == */lists/lock* ]] || break
	[ $tries -gt 0 ] || echo "waiting for another apt" >&2
	sleep 5
done
[ -z "$message" ] || echo "$message" >&2
exit "$status"
