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

[ "$(id -u)" -eq 0 ] || skip_all "needs root"

work=$(mktemp -d)
at_exit rm -rf "$work"
mkdir "$work/pins"
mount -t bpf bpf "$work/pins" || skip_all "no bpffs"
at_exit umount "$work/pins"

FABRIC_HOSTS=netns
at_exit fabric_down
fabric_up || skip_all "no SRv6 fabric on this kernel"

# topology RATE...: of spines 1 to 4, in Mbit/s, to both leaves
topology() {
	local m sep=

	cat <<-END
	{ "srpol-topology": 1,
	  "switches": [
	   {"name": "leaf1", "role": "leaf", "locator": "fc00:0:11::/48"},
	   {"name": "leaf2", "role": "leaf", "locator": "fc00:0:12::/48"},
	   {"name": "spine1", "role": "spine", "locator": "fc00:0:21::/48"},
	   {"name": "spine2", "role": "spine", "locator": "fc00:0:22::/48"},
	   {"name": "spine3", "role": "spine", "locator": "fc00:0:23::/48"},
	   {"name": "spine4", "role": "spine", "locator": "fc00:0:24::/48"}],
	  "hosts": [
	   {"name": "A", "locator": "fc00:0:a::/48", "nics": [
	    {"name": "hA", "leaf": "leaf1", "rate": "10G", "address": "fd00:a::1"}]},
	   {"name": "B", "locator": "fc00:0:b::/48", "nics": [
	    {"name": "hB", "leaf": "leaf2", "rate": "10G", "address": "fd00:b::1"}]}],
	  "links": [
	END
	for m in 1 2 3 4; do
		echo "$sep{\"from\": \"leaf1\", \"to\": \"spine$m\", \"rate\": \"${!m}M\"},"
		echo "{\"from\": \"leaf2\", \"to\": \"spine$m\", \"rate\": \"${!m}M\"}"
		sep=,
	done
	echo ']}'
}

# limit RATE...: TBF on leaf1's ports to the spines
limit() {
	local m

	for m in 1 2 3 4; do
		ip netns exec "$(fabric_ns leaf1)" tc qdisc replace \
			dev "spine$m" root tbf rate "${!m}mbit" \
			burst 60kb limit 240kb
	done
}

tbf_drops() {
	ip netns exec "$(fabric_ns leaf1)" tc -s -j qdisc show |
		jq '[.[] | select(.kind == "tbf") | .drops] | add'
}

mac() {
	fabric_exec "$1" cat "/sys/class/net/$2/address"
}

leaf_mac() {
	ip netns exec "$(fabric_ns "$1")" cat /sys/class/net/host/address
}

unpin() {
	rm -rf "$work/pins/${1:?}"
}

# steer ALG MODE RATE...: by a topology with these rates
steer() {
	local alg=$1 mode=$2
	shift 2

	unpin a
	mkdir "$work/pins/a"
	topology "$@" >"$work/topology.json"
	fabric_exec hostA "$tools/shares" -a "$alg" -m "$mode" \
		-p "$work/pins/a" -s fd00:a::1 -n "$(leaf_mac leaf1)" \
		"$work/topology.json" hA >"$work/predicted"
}

decap_b() {
	mkdir "$work/pins/b"
	fabric_exec hostB "$bpf/attach" -p "$work/pins/b" -s fd00:b::1 \
		-n "$(leaf_mac leaf2)" -l fc00:0:b::d6 hB \
		fc00:0:21::1 fc00:0:11::1 fc00:0:a::d6
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

# deviation: the worst of a share from its prediction, in percent
deviation() {
	sort "$work/predicted" | join - "$work/got" | awk '{
		d = $2 ? ($3 / $2 - 1) * 100 : $3 * 100
		if (d < 0) d = -d
		if (d > worst) worst = d
	} END { printf "%.3f", worst }'
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

decap_b || skip_all "no eBPF data plane on this kernel"
packets=120000

limit 40 40 40 40
steer wecmp hash 40 40 40 40
traffic $packets 120
compare "four even spines, flows"
check_equal "nothing dropped at 75 % load" 0 "$(got drops)"

limit 40 40 40 20
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

limit 40 10 30 20
steer wecmp hash 40 10 30 20
traffic $packets 75
compare "four different rates, flows"

limit 40 40 40 40
steer minmax hash 40 40 40 40
traffic $packets 30
compare "minmax, even spines"

echo "# json {\"case\": \"namespaces\", \"row\": \"worst\", \"value\": $worst}"
