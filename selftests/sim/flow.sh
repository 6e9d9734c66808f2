#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The flow-level part of the simulator against its bands, and maxmin against
# SimGrid: what "make check" has of "make sim".
#
# SRPOL_TIMEOUT=300

set -euo pipefail

cd "$(dirname "$0")/../.."
tools=${BUILD:-$PWD/build}/selftests/sim/tools
out=${SRPOL_OUT:-$(mktemp -d)}

"$tools/oracle" >"$out/oracle.jsonl" 2>"$out/simgrid.log" &
"$tools/sim" -c -o "$out/sim.jsonl"
wait $! || {
	cat "$out/simgrid.log"
	exit 1
}
selftests/sim/check.py -n fig1b-packets,fig1c-packets,rotation,namespaces \
	"$out/sim.jsonl" "$out/oracle.jsonl"
