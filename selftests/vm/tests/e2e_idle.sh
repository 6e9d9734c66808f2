#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Nothing happens, and srpold says nothing: with its defaults, on both hosts, no path
# is down and no link is suspected. SRPOL_IDLE seconds of it; make long-idle has an
# hour, of a guest in which idle time is passed over.
#
# SRPOL_CLOCK=counted
# SRPOL_TIMEOUT=600

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

idle=${SRPOL_IDLE:-20}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
start_both
check "host A: four paths, probed and up" patiently 60 usable A 4
check "host B: likewise" patiently 60 usable B 4
# in nanoseconds, printed as milliseconds or as they are
check "srpold has the shortest slices of the processor" \
	grep -qE '^se\.slice +: +(0\.100000|100000)$' "/proc/${engine[A]}/sched"
mkfifo "$work/never"
for ((s = 0; s < idle; s += 10)); do
	read -rt 10 <>"$work/never" || :
	[ $((s % 300)) -ne 290 ] || echo "# $((s + 10)) s"
done
for host in A B; do
	check_equal "host $host: no path was down, no link is worse" "" \
		"$(grep -E 'is down|used at|suspect' "$work/$host.log" || :)"
	check_equal "host $host: no link is suspected" "[]" \
		"$(on $host -j engine show | gojq -c .suspects)"
	check "host $host: all paths are up" usable $host 4
	echo "# $host: probes that came back $(on $host -j engine paths |
		gojq '[ .[].received ] | add'), lost $(on $host -j engine paths |
		gojq '[ .[].lost ] | add'), ticks that came late $(on $host -j engine show |
		gojq .late_ticks)"
done
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
