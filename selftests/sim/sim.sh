#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sim.sh: all the simulator has: flow level, SimGrid, ns-3, namespaces. Results
# go to build/sim as JSON lines, tables (sim.txt) and charts (*.svg). The status
# tells whether all are within the bands. SIM_GIB=0 leaves out the packet-level
# runs of 1 GiB, which take most of the time.

set -euo pipefail

cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}
tools=$BUILD/selftests/sim/tools
out=$BUILD/sim
mkdir -p "$out"
rm -f "$out"/*.jsonl

# packets NAME ARGUMENT...
packets() {
	local name=$1
	shift

	echo "sim: packets $*"
	"$tools/packets" "$@" >"$out/$name.part"
	mv "$out/$name.part" "$out/$name.jsonl"
}

echo "sim: flow level"
"$tools/sim" -o "$out/flow.jsonl"
echo "sim: SimGrid"
"$tools/oracle" >"$out/oracle.jsonl" 2>"$out/oracle.log"
echo "sim: namespaces"
selftests/sim/shares.sh >"$out/shares.log" ||
	{ cat "$out/shares.log"; exit 1; }
sed -n 's/^# json //p' "$out/shares.log" >"$out/shares.jsonl"

packets fig1c fig1c 64 3
packets fig1b fig1b 64 3
packets incast incast
packets rotation rotation 64 3
if [ "${SIM_GIB:-1}" = 1 ]; then
	packets fig1c-gib fig1c 1024 1 &
	packets fig1b-gib fig1b 1024 1
	wait $!
fi
selftests/sim/report.py "$out"
