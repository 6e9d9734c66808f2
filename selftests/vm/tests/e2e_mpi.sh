#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An MPI program that was not changed, with libsrpol-pmpi.so: srpold knows what
# it sends from host A to host B, to the byte, and no more once it has ended.
# Its ranks are all in host A's namespace; the library is told where they are.
#
# Needs the srpol module, openmpi. Prints KTAP.

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

build=${BUILD:-build}
bytes=3000000

# ranks OPTION...: two on either host; what they send lands in $work/sent
ranks() {
	fabric_exec hostA mpirun --allow-run-as-root --oversubscribe \
		--mca btl self,vader --mca plm isolated \
		-np 2 -x SRPOL_HOST=A "$@" : -np 2 -x SRPOL_HOST=B "$@" \
		>"$work/sent" 2>"$work/mpi.err"
}

# what A sends to B in an iteration: ranks 0 and 1 to ranks 2 and 3
truth() {
	awk '$1 < 2 && $2 >= 2 { sum += $3 } END { print sum + 0 }' "$work/sent"
}

# sums SRC: "DEMANDS BYTES" announced from there
sums() {
	on A -j engine demand show | gojq -r --arg src "$1" '
		[ .[] | select(.src == $src) | .bytes ] | "\(length) \(add // 0)"'
}

printed() {
	[ "$(wc -l <"$work/sent")" -eq 16 ]
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
fabric_topology >"$work/topology.json"
cat >"$work/A.json" <<-END
{ "topology": "$work/topology.json", "hosts": [ "A" ],
  "demands": "$work/demands",
  "weights": { "algorithm": "minmax", "delay-us": 1000000 } }
END
start_engine A
check "four paths, probed and up" patiently 60 usable A 4

touch "$work/goes-on"
ranks -x LD_PRELOAD="$build/lib/libsrpol-pmpi.so" \
	-x SRPOL_DEMANDS="$work/demands" -x SRPOL_ITERATION_MS=100000 \
	"$build/selftests/mpi/shuffle" 3 $bytes "$work/goes-on" &
mpi=$!
check "the program runs" patiently 120 printed
check_equal "A's two ranks say what they send to B, to the byte" \
	"2 $(truth)" "$(sums A)"
check "and so do B's ranks" [ "$(sums B | cut -d ' ' -f 1)" -eq 2 ]
check "it is part of why packets go where they go" \
	grep -q "announced $(truth) bytes" <<<"$(on A engine why B)"
rm "$work/goes-on"
ended=0
wait $mpi || ended=$?
check_equal "the program ends well" 0 $ended
check_equal "and takes back what it said" "0 0" "$(sums A)"

check "a program whose srpold is not there does not notice" \
	ranks -x LD_PRELOAD="$build/lib/libsrpol-pmpi.so" \
	-x SRPOL_DEMANDS="$work/nowhere" "$build/selftests/mpi/shuffle" 2 1000

# it is stopped: its socket fills, and nobody waits for it
kill -STOP "${engine[A]}"
check "nor one whose srpold does not read" \
	ranks -x LD_PRELOAD="$build/lib/libsrpol-pmpi.so" \
	-x SRPOL_DEMANDS="$work/demands" "$build/selftests/mpi/shuffle" 2000 1000
kill -CONT "${engine[A]}"
check "srpold goes on" patiently 30 usable A 4
[ $ktap_failures -eq 0 ] || sed "s/^/# /" "$work"/*.log "$work/mpi.err"
