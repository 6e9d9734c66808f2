#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What lib/alg predicts, on the real data plane: the eBPF programs steer what A
# sends to B over four spines of the kernel's own SRv6 routers (fabric.sh), whose
# links TBF limits. Weights and segment lists come from a topology file with the
# same rates. Then the spines' counters tell which part went where, and TBF
# whether a link got more than it can carry.
#
# SRPOL_TIMEOUT=180

set -euo pipefail

cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}
bpf=$BUILD/selftests/bpf/tools
tools=$BUILD/selftests/sim/tools

# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh

FABRIC_HOSTS=netns
# shellcheck source=selftests/sim/slow_fabric.sh
. selftests/sim/slow_fabric.sh

slow_fabric_up

tbf_drops() {
	ip netns exec "$(fabric_ns leaf1)" tc -s -j qdisc show |
		gojq '[.[] | select(.kind == "tbf") | .drops] | add'
}

# steer ALG MODE RATE...: by a topology with these rates
steer() {
	local alg=$1 mode=$2
	shift 2

	slow_fabric_topology "$@" >"$work/topology.json"
	slow_fabric_steer -a "$alg" -m "$mode"
}

# traffic PACKETS MBIT: the spines' parts of it, and what TBF dropped
traffic() {
	local drops

	drops=$(tbf_drops)
	fabric_spine_packets >"$work/before"
	fabric_exec hostA "$tools/shares" -c "$1" -r "$2" fd00:b::1
	sleep 0.3	# what TBF still holds
	fabric_spine_packets >"$work/after"
	drops=$(($(tbf_drops) - drops))
	paste -d ' ' "$work/before" "$work/after" |
		awk -v drops=$drops '{ n[$1] = $5 - $2; sum += $5 - $2 }
		END { for (s in n) printf "spine%s %.6f\n", s, n[s] / sum
		      print "drops", drops; print "packets", sum }' |
		sort >"$work/got"
}

# deviation: the worst of a share from its prediction, in percent; all, if it is not
# four spines that there are both of
deviation() {
	sort "$work/predicted" | join - "$work/got" | awk '{
		d = $2 ? ($3 / $2 - 1) * 100 : $3 * 100
		if (d < 0) d = -d
		if (d > worst) worst = d
	} END { printf "%.3f", NR == 4 ? worst : 100 }'
}

worst=0

# compare NAME: shares within 5 % of what was predicted, and nothing dropped
compare() {
	local d

	d=$(deviation)
	echo "# $1: predicted $(awk '{printf "%s ", $2}' "$work/predicted")"
	echo "# $1: counted   $(awk '/^spine/ {printf "%s ", $2}' "$work/got")"
	check "$1: shares within 5 % ($d %)" \
		awk "BEGIN { exit !($d <= 5) }"
	worst=$(awk "BEGIN { print ($d > $worst) ? $d : $worst }")
	echo "# json {\"case\": \"namespaces\", \"row\": \"$1\", \"value\": $d}"
}

got() {
	awk -v what="$1" '$1 == what { print $2 }' "$work/got"
}

packets=120000

slow_fabric_limit 40 40 40 40
steer wecmp hash 40 40 40 40
traffic $packets 120
compare "four even spines, flows"
check_equal "nothing dropped at 75 % load" 0 "$(got drops)"

slow_fabric_limit 40 40 40 20
traffic $packets 200
check "a spine at half rate drops when nobody knows" \
	[ "$(got drops)" -gt 1000 ]
steer wecmp hash 40 40 40 20
traffic $packets 112
compare "one at half rate, flows"
check_equal "nothing dropped at 80 % load" 0 "$(got drops)"

steer wecmp spray 40 40 40 20
traffic $packets 112
compare "one at half rate, packets sprayed"
check_equal "nothing dropped at 80 % load, sprayed" 0 "$(got drops)"

slow_fabric_limit 40 10 30 20
steer wecmp hash 40 10 30 20
traffic $packets 75
compare "four different rates, flows"

slow_fabric_limit 40 40 40 40
steer minmax hash 40 40 40 40
traffic $packets 30
compare "minmax, even spines"

echo "# json {\"case\": \"namespaces\", \"row\": \"worst\", \"value\": $worst}"
