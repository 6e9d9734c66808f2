#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# campaign.sh demo|check|e2e|unload|deb [TIMES]: what takes too long for make
# check: the two commands again and again beside two processes that do nothing
# but use the processor, each end-to-end program by itself, the module unloaded
# again and again, the Debian packages in a root file system of their own. Says
# how often it was well; what failed stays in build/campaign/NAME.N.log.

set -euo pipefail

cd "$(dirname "$0")/.."
out=${BUILD:-$PWD/build}/campaign
hogs=()

cleanup() {
	local pid

	for pid in "${hogs[@]}"; do
		kill "$pid" 2>/dev/null || :
	done
	wait
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start_hogs() {
	local n

	for n in 1 2; do
		while :; do :; done &
		hogs+=($!)
	done
}

# repeat NAME TIMES COMMAND...
repeat() {
	local name=$1 times=$2 n good=0 start
	shift 2

	for ((n = 1; n <= times; n++)); do
		start=$SECONDS
		if "$@" >"$out/$name.$n.log" 2>&1 </dev/null; then
			good=$((good + 1))
			rm -f "$out/$name.$n.log"
		else
			echo "$name: $n failed after $((SECONDS - start)) s:" \
				"$out/$name.$n.log"
		fi
	done
	echo "$name: $good of $times"
	[ $good -eq "$times" ]
}

mkdir -p "$out"
status=0
case ${1:-} in
demo)
	start_hogs
	repeat demo "${2:-10}" selftests/demo/demo.sh || status=1
	;;
check)
	start_hogs
	repeat check "${2:-3}" selftests/run.sh || status=1
	;;
e2e)
	start_hogs
	for program in selftests/vm/tests/e2e_*.sh; do
		name=${program##*/}
		repeat "${name%.sh}" "${2:-20}" \
			selftests/run.sh "vm.${name%.sh}" || status=1
	done
	;;
unload)
	# of the module, against the end of namespaces
	export SRPOL_LOOPS=${2:-200}
	repeat unload 1 selftests/run.sh vm.lifetime || status=1
	;;
deb)
	selftests/deps.sh test debhelper dh-dkms dkms dpkg-dev fakeroot \
		lintian mmdebstrap
	repeat deb "${2:-1}" selftests/deb/deb.sh || status=1
	;;
*)
	echo "usage: campaign.sh demo|check|e2e|unload|deb [TIMES]" >&2
	exit 2
	;;
esac
exit $status
