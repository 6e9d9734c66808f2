#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Where IPv6 is off the module refuses to load, and an unprivileged user cannot
# make anything of its netlink family.

set -euo pipefail

cd "$(dirname "$0")/../.."
BUILD=${BUILD:-$PWD/build}

# shellcheck disable=SC2016
guest='
	insmod kmod/srpol.ko 2>&1 && echo "loaded"
	dmesg | grep "srpol: IPv6 is disabled"
	setpriv --reuid 65534 --clear-groups unshare -Urn \
		'"$BUILD"'/bin/srpol path add 1 segs fc00::1 2>&1
	[ -e /sys/module/srpol ] || echo "no module"
	echo "alive"'

echo "KTAP version 1"
echo "1..3"
out=$(selftests/vm/vm.sh -t 200 -o "${SRPOL_OUT:-$BUILD/vm/no_ipv6}" \
	-a ipv6.disable=1 -- bash -c "$guest") || :
while read -r line; do
	echo "# $line"
done <<<"$out"

# check NUMBER WORDS NAME
check() {
	if grep -qi "$2" <<<"$out"; then
		echo "ok $1 $3"
	else
		echo "not ok $1 $3"
	fi
}
check 1 "srpol: IPv6 is disabled" "the module says why it does not load"
check 2 "^no module$" "nobody else loads it"
check 3 "^alive$" "the machine lives"
