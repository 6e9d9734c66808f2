#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make demo: RDMA of an unmodified application over a fabric of SRv6 routers,
# steered by srpol; a spine dies, the traffic moves. Everything runs in a
# virtual machine; the report is build/demo/report.html.

set -euo pipefail

cd "$(dirname "$0")/../.."
out=${BUILD:-$PWD/build}/demo
limit=${SRPOL_DEMO_TIMEOUT:-3600}

rm -rf "$out"
mkdir -p "$out"

echo "srpol demo: booting Linux $(selftests/kver.sh test) (Ctrl-C ends it, nothing stays behind)"
status=0
selftests/vm/vm.sh -i -t "$limit" -o "$out" -- \
	selftests/demo/guest.sh || status=$?

if [ $status -eq 0 ]; then
	for pcap in "$out"/hostA.*.pcap; do
		/usr/bin/python3 selftests/demo/capture.py "$pcap" \
			"${pcap/hostA/spine}" fc00:0:23::1 fc00:0:21::1 \
			fc00:0:22::1 fc00:0:24::1
	done >"$out/failovers.jsonl"
	/usr/bin/python3 selftests/demo/report.py "$out" || status=$?
	rm -f "$out"/*.pcap
fi
exit $status
