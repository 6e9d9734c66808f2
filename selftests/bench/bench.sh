#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh [quick]: measure srpol beside the kernel's own SRv6 and beside what
# this machine can do at most, into build/bench: bench.txt, bench.json and
# bench.svg. Needs root and Linux 6.12 or later; everything that is measured
# runs in network namespaces of its own, the control plane in a guest. "quick"
# takes fewer rounds and leaves the guest out.
#
# Fails if something could not be measured, not if it is slow: tables tell that.

set -euo pipefail

cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}
programs=$BUILD/selftests/bench
out=$BUILD/bench
rounds=100
quick=

die() {
	echo "bench: $*" >&2
	exit 1
}

case ${1:-} in
quick)
	quick=1
	rounds=20
	;;
"")	;;
*)	die "usage: bench.sh [quick]" ;;
esac

[ "$(id -u)" -eq 0 ] || die "needs root"
[ "$(printf '6.12\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.12 ] ||
	die "needs Linux 6.12 or later, this is $(uname -r)"

mkdir -p "$out"
rm -f "$out"/*.jsonl "$out"/control.json

# measure NAME COMMAND...: into NAME.jsonl, whole or not at all
measure() {
	local name=$1
	shift

	echo "bench: $name" >&2
	"$@" >"$out/$name.new"
	mv "$out/$name.new" "$out/$name.jsonl"
}

measure cost unshare --net "$programs/cost" -w "$rounds"
measure forward unshare --net "$programs/forward" -w "$rounds"
measure gso unshare --net "$programs/gso" -w $((rounds / 10 + 2)) -t 1
measure scale unshare --net "$programs/scale" -w "$rounds"
measure memory "$programs/memory"
if [ -z "$quick" ] && [ -x selftests/bench/control.sh ]; then
	echo "bench: control plane, in a guest" >&2
	selftests/bench/control.sh >&2
fi
selftests/bench/report.py "$out"
