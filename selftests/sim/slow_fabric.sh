# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Four kernel SRv6 spines behind TBF, and the eBPF programs on host A and B, for
# what compares predictions with counters; to be sourced after ktap.sh and
# fabric.sh, with $bpf and $tools set.

slow_fabric_up() {
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	work=$(mktemp -d)
	at_exit rm -rf "$work"
	mkdir "$work/pins"
	mount -t bpf bpf "$work/pins" || skip_all "no bpffs"
	at_exit umount "$work/pins"
	at_exit fabric_down
	fabric_up || skip_all "no SRv6 fabric on this kernel"
	fabric_neighbors
	slow_fabric_decap || skip_all "no eBPF data plane on this kernel"
}

# slow_fabric_topology RATE...: of spines 1 to 4, in Mbit/s, to both leaves
slow_fabric_topology() {
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

# slow_fabric_limit RATE...: TBF on leaf1's ports to the spines, in Mbit/s;
# SLOW_FABRIC_QUEUE bytes wait there
slow_fabric_limit() {
	local m

	for m in 1 2 3 4; do
		ip netns exec "$(fabric_ns leaf1)" tc qdisc replace \
			dev "spine$m" root tbf rate "${!m}mbit" \
			burst "${SLOW_FABRIC_BURST:-60kb}" \
			limit "${SLOW_FABRIC_QUEUE:-240kb}"
	done
}

slow_fabric_mac() {
	ip netns exec "$(fabric_ns "$1")" cat /sys/class/net/host/address
}

# slow_fabric_steer [OPTION OF shares...]: by $work/topology.json; what it
# predicts goes to $work/predicted
slow_fabric_steer() {
	rm -rf "$work/pins/a"
	mkdir "$work/pins/a"
	fabric_exec hostA "$tools/shares" "$@" -p "$work/pins/a" \
		-s fd00:a::1 -n "$(slow_fabric_mac leaf1)" \
		"$work/topology.json" hA >"$work/predicted"
}

slow_fabric_decap() {
	mkdir "$work/pins/b"
	fabric_exec hostB "$bpf/attach" -p "$work/pins/b" -s fd00:b::1 \
		-n "$(slow_fabric_mac leaf2)" -l fc00:0:b::d6 hB \
		fc00:0:21::1 fc00:0:11::1 fc00:0:a::d6
}
