#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A run of the tests does not wipe the logs of one that goes on.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

build=$(mktemp -d)
logs=$build/logs
at_exit rm -r "$build"
mkdir -p "$logs/vm"
echo kept >"$logs/vm/log"

run() {
	BUILD=$build selftests/run.sh no-program-has-this-name
}

exec {lock}>"$logs/.lock"
echo "pid 1, a run of somebody" >"$logs/.lock"
flock "$lock"
check_fails "a second run is refused, and told whose the first is" \
	"in use by pid 1, a run of somebody" run
check_equal "what the first one has written is there" kept \
	"$(cat "$logs/vm/log" 2>&1)"
exec {lock}>&-
check_fails "once it has ended there is one again" "0 passed, 0 failed" \
	eval 'run 2>&1'
check "which has begun anew" [ ! -e "$logs/vm/log" ]
check "and says who it is" grep -q '^pid [0-9]* since .*no-program' "$logs/.lock"
