#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flowlet.sh [ROUNDS [MILLISECONDS]]: balance and reordering of mode flowlet
# against the policy's gap, into build/sweep: flowlet.txt, flowlet.csv and
# flowlet.svg. Needs root and the eBPF object ("make bpf").

set -euo pipefail

cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}

make -s -C selftests/bpf "$BUILD/selftests/bpf/tools/flowlet"
mkdir -p "$BUILD/sweep"
unshare --net "$BUILD/selftests/bpf/tools/flowlet" "$@" |
	selftests/sweep/flowlet.py "$BUILD/sweep"
