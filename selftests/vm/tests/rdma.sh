#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Soft-RoCE over the fabric with the kernel's own seg6, as a reference: what
# fails here is not srpol's fault.

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/fabric/rdma.sh
. selftests/fabric/rdma.sh

steer() {
	ip sr tunsrc set fd00:a::1
	ip -batch - <<-EOF
	route add fc00:0:20::/44 via fd00:a::fe dev hA
	route add fcbb:bb00:20::/44 via fd00:b::fe dev hB
	route add fcbb:bb00:a::/48 encap seg6local action End.DT6 table 255 dev hA
	route add fc00:0:b::d6/128 encap seg6local action End.DT6 table 255 dev hB
	route replace fd00:b::1/128 encap seg6 mode encap segs fc00:0:22::1,fc00:0:b::d6 via fd00:a::fe dev hA table 1001
	route replace fd00:a::1/128 encap seg6 mode encap segs fcbb:bb00:22:a:: via fd00:b::fe dev hB table 1002
	EOF
}

spine2_carried() {
	fabric_spine_packets | awk '
		{ print }
		$1 == 2 { good = $2 > 250 && $3 > 4 }
		$1 != 2 && $2 + $3 > 20 { bad = 1 }
		END { exit !good || bad }'
}

at_exit fabric_down
fabric_up
steer
at_exit rdma_down
rdma_up
check "RDMA writes of 4 QPs complete" \
	rdma_bw "$SRPOL_OUT/bw" ib_write_bw 18515 6 -q 4 -s 65536 -n 5
check "spine 2, and no other, carried them" spine2_carried
