#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# TCP super-packets through the encapsulation; packets that get too big by it,
# and what their senders are told; congestion marks of the fabric, and how they
# get to the receiver.
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

# Packets with a mark go by spine 2, which has congestion.
e2e_up <<-END
	path add 1 segs fc00:0:21::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
	path add 2 segs fc00:0:22::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
	policy add color 100 endpoint fd00:b::1 candidate segment-list 1
	policy add color 2 endpoint fd00:b::1 candidate segment-list 2
	rule add prio 1 mark 2 color 2
END
# In the first word of an IPv6 header the ECN field is bits 20 and 21.
fabric_exec spine2 tc -batch - <<-END
	qdisc add dev leaf1 clsact
	filter add dev leaf1 ingress protocol ipv6 matchall action pedit munge offset 0 u32 set 0x00300000 retain 0x00300000
END

e2e_verdicts /usr/bin/python3 selftests/vm/tests/e2e_mtu_gso_ecn.py
