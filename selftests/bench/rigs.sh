#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rigs.sh: whether "make bench" would have something to say: each of its
# programs sets up its namespaces, sends, and measures every row it has, for one
# short window. How fast it was does not matter here.
#
# SRPOL_TIMEOUT=500

cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-$PWD/build}
programs=$BUILD/selftests/bench

# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

# rows COMMAND...: it succeeds, and prints lines of JSON, each with a row
rows() {
	local out

	# a client that gets no answer waits for one
	out=$(timeout 120 "$@") || return
	[ -n "$out" ] && jq -es 'all(has("row"))' >/dev/null <<<"$out" ||
		{ echo "no rows: $out"; return 1; }
}

check "programs alone" rows unshare --net "$programs/cost" -w 1
check "forwarding" rows unshare --net "$programs/forward" -w 1
check "TCP with segmentation offload" \
	rows unshare --net "$programs/gso" -w 1 -t 1
check "two processors" rows unshare --net "$programs/scale" -w 1
