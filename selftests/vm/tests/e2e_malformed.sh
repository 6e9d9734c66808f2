#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# More than a thousand malformed SRv6 packets come in by the wire.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/e2e_lib.sh
. selftests/vm/tests/e2e_lib.sh

e2e_up <<-END
	sid add fc00:0:a::1 behavior End
	sid add fc00:0:a::d4 behavior End.DT4
	sid add fc00:0:a::d66 behavior End.DT6
	config set icmp-errors off
END

# Its packets go out where leaf1 has host A, and its socket for what comes of
# them is host A's.
e2e_verdicts /usr/bin/python3 selftests/vm/tests/e2e_malformed.py \
	"$(fabric_ns leaf1)"
check_equal "the kernel has nothing to complain about" "" \
	"$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace' || :)"
