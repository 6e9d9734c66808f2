#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rigs.sh: whether "make bench" would have something to say: each of its
# programs sets up its namespaces, sends, and measures every row it has, for one
# short window, and the tables are made of it. How fast it was does not matter
# here. Without the control plane, which takes minutes in a guest.
#
# SRPOL_TIMEOUT=500

cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-$PWD/build}
programs=$BUILD/selftests/bench
out=$(mktemp -d)

# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

trap 'rm -rf "$out"; ktap_finish' EXIT

# rows NAME COMMAND...: it succeeds, and prints lines of JSON, each with a row
rows() {
	local name=$1
	shift

	"$@" >"$out/$name.jsonl" || return
	gojq -es 'length > 0 and all(has("row"))' "$out/$name.jsonl"
}

report() {
	selftests/bench/report.py -t "$out" &&
		gojq -e '.targets | length > 0' "$out/bench.json"
}

check "programs alone" rows cost unshare --net "$programs/cost" -w 1
check "forwarding" rows forward unshare --net "$programs/forward" -w 1
check "TCP with segmentation offload" \
	rows gso unshare --net "$programs/gso" -w 1 -t 1
check "two processors" rows scale unshare --net "$programs/scale" -w 1
check "memory" rows memory "$programs/memory"
check "tables" report
