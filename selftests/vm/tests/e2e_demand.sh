#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# From a demand to the first packet that goes as it wants: a third leaf, whose host C
# has spine1 only, is to send to B; what A sends to B leaves spine1. SRPOL_DEMANDS
# times, and times are told. make long-demand has 200, and SRPOL_LIMITS: the most
# microseconds that the median and the 99th percentile may have.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

times=${SRPOL_DEMANDS:-5}
demands=$(mktemp -u /tmp/demands.XXXXXX)

# third_leaf: below spine1 alone; nobody is there but it answers probes
third_leaf() {
	fabric_nodes+=(leaf3)
	ip netns add "$(fabric_ns leaf3)"
	ip link add name spine1 mtu "$FABRIC_MTU" netns "$(fabric_ns leaf3)" type veth \
		peer name leaf3 mtu "$FABRIC_MTU" netns "$(fabric_ns spine1)"
	fabric_batch leaf3 router <<-END
	link set lo up
	link set spine1 up
	link add sid0 type veth peer name sid1
	link set sid0 up
	link set sid1 up
	addr add fd00:3:1::1/64 dev spine1 nodad
	route add fc00:0:13::1/128 encap seg6local action End dev sid0
	route add fc00::/16 via fd00:3:1::2 dev spine1
	END
	fabric_batch spine1 <<-END
	link set leaf3 up
	addr add fd00:3:1::2/64 dev leaf3 nodad
	route add fc00:0:13::/48 via fd00:3:1::1 dev leaf3
	END
}

# topology: links are slower than NICs (a veth has 10G), so that one spine is too
# little for what A sends
topology() {
	fabric_topology | gojq '
		.switches += [ { "name": "leaf3", "role": "leaf",
				 "locator": "fc00:0:13::/48" } ] |
		.hosts += [ { "name": "C", "locator": "fc00:0:c::/48", "nics": [
			{ "name": "hC", "leaf": "leaf3", "rate": "100G",
			  "address": "fd00:c::1", "gateway": "fd00:c::fe" } ] } ] |
		.links += [ { "from": "leaf3", "to": "spine1" } ] |
		.links[].rate = "5G"'
}

# percentile N: of the times, in microseconds
percentile() {
	sort -n "$work/times" | awk -v share="$1" '
		{ value[NR] = $1 }
		END { n = int(NR * share / 100 + 0.999); print value[n < 1 ? 1 : n] }'
}

at_exit fabric_down
fabric_up
third_leaf
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
topology >"$work/topology.json"
cat >"$work/A.json" <<-END
{ "topology": "$work/topology.json", "hosts": [ "A" ], "demands": "$demands",
  "probes": { "interval-ms": 20, "multiplier": 5, "timeout-ms": 400 },
  "weights": { "algorithm": "minmax", "interval-ms": 400, "delay-us": 10000000 } }
END
on A rule add prio 100 dst fd00:b::/64 color 100
start_engine A
check "four paths to B and one to C, probed and up" patiently 60 usable A 5
check "packets go as demands want, each time" fabric_exec hostA bash -c \
	"python3 selftests/vm/tests/e2e_demand.py $demands hA fd00:a::1 fd00:b::1 \
		fc00:0:21::1 $times >$work/times"
check_equal "$times times" "$times" "$(wc -l <"$work/times")"
echo "# from a demand to the first packet that follows, of $times: median" \
	"$(percentile 50) us, 99th percentile $(percentile 99) us, most" \
	"$(percentile 100) us"
if [ -n "${SRPOL_LIMITS:-}" ]; then
	read -r median most <<<"$SRPOL_LIMITS"
	check "the median is within $median us" [ "$(percentile 50)" -lt "$median" ]
	check "the 99th percentile within $most us" [ "$(percentile 99)" -lt "$most" ]
fi
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
