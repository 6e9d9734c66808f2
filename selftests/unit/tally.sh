#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a run makes of a program's log and status: one that ends too early, or prints
# nothing, has failed.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/report.sh
. selftests/report.sh

work=$(mktemp -d)
at_exit rm -r "$work"

# what | status | log, a line at each slash | passed, failed, skipped, reason
while IFS='|' read -r what status log want; do
	tr / '\n' <<<"$log" >"$work/log"
	check_equal "$what" "$want" "$(tally "$work/log" "$status" | sed 's/ *$//')"
done <<'END'
as planned|0|1..2/ok 1 a/ok 2 b|2 0 0
the plan at the end|0|ok 1 a/ok 2 b/1..2|2 0 0
no plan|0|ok 1 a/ok 2 b|2 0 0
one that failed|1|1..2/ok 1 a/not ok 2 b|1 1 0
one that failed, and nobody says so|0|ok 1 a/not ok 2 b|1 1 0
results of parts do not count|0|1..1/    not ok 1 a/ok 1 b|1 0 0
fewer than planned|0|1..3/ok 1 a/ok 2 b|2 1 0 planned 3 tests, ran 2
more than planned|0|1..1/ok 1 a/ok 2 b|2 1 0 planned 1 tests, ran 2
nothing|0||0 1 0 no result, exit status 0
nothing, and failed|1|Traceback|0 1 0 no result, exit status 1
ended by a command that failed|1|ok 1 a|1 1 0 exit status 1
ended by a command whose status is that of a skip|4|ok 1 a|1 1 0 exit status 4
the same, with a plan that was kept|4|1..1/ok 1 a|1 1 0 exit status 4
ended by a signal|139|ok 1 a|1 1 0 exit status 139
ended for its time|124|ok 1 a|1 1 0 timed out
killed for its time|137|1..1/ok 1 a|1 1 0 timed out
one skipped|0|1..2/ok 1 a/ok 2 b # SKIP no device|1 0 1
all skipped|4|1..0 # SKIP needs root|0 0 1
all skipped, by the status|4||0 0 1
all skipped, and failed|1|1..0 # SKIP needs root|0 1 1 exit status 1
skipped after a result|4|ok 1 a/1..0 # SKIP no device|1 1 1 planned 0 tests, ran 1
END
