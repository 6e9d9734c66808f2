#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srpold whose NIC is created again, as by a driver that is loaded anew: with another
# index than before, or with the same one, without srpol dev watch. Probes go on, and
# a failure is noticed. Then one that goes away during a reload, and one whose place at
# XDP somebody else has taken. Before all that, another switch takes over the address of
# the next hop.
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

index() {
	ip -n "$host" -j link show hA | gojq '.[0].ifindex'
}

# away_and_back [COMMAND...]: the device leaves the namespace and comes back without
# its role, as a new one does; COMMAND is run while it is away
away_and_back() {
	ip -n "$host" link set hA netns "$elsewhere"
	"$@"
	ip -n "$elsewhere" link set hA netns "$host"
	ip -n "$host" -batch - <<-END
	link set hA up
	addr add fd00:a::1/64 dev hA nodad
	route replace fd00:b::/64 via fd00:a::fe dev hA
	route replace fc00::/16 via fd00:a::fe dev hA
	END
}

# take_index: some other device has the index that hA had
take_index() {
	ip -n "$host" link add other index "$before" type dummy
}

# goes_on: probes are sent and come back, more of them than before
goes_on() {
	usable A 4 && [ "$(received A)" -gt "$got" ]
}

renewals() {
	grep -c "NIC hA has another device" "$work/A.log" || :
}

modprobe -q dummy
at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
host=$(fabric_ns hostA)
elsewhere=$host-elsewhere
ip netns add "$elsewhere"
at_exit ip netns del "$elsewhere"

fabric_topology >"$work/topology.json"
for name in A B; do
	cat >"$work/$name.json" <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$name" ], "first-path": 16380,
	  "probes": { "interval-ms": 20, "multiplier": 10, "timeout-ms": 200 } }
	END
	start_engine "$name"
done
check "probed and up" patiently 60 usable A 4
check_equal "the device is the one that was there" 0 "$(renewals)"

ip -n "$(fabric_ns leaf1)" link set host address 02:00:00:00:00:77
check "the switch does not take frames of old any more: all paths are down" patiently 20 \
	usable A 0
ip -n "$host" neigh replace fd00:a::fe lladdr 02:00:00:00:00:77 dev hA nud permanent
check "probes go to its new Ethernet address: all are up" patiently 20 usable A 4

before=$(index)
away_and_back take_index
ip -n "$host" link del other
check "created again, it has another index" [ "$(index)" != "$before" ]
check "which is noticed" patiently 20 eval '[ "$(renewals)" = 1 ]'
got=0
check "it is probed and up" patiently 60 goes_on
got=$(received A)
check "by it" patiently 60 goes_on
check_equal "its paths keep their ids, of which there are no others" \
	"[16380,16381,16382,16383]" "$(on A -j path show | gojq -c '[ .[].id ]')"
check_equal "and an uplink, with its programs" '[["hA",true,true]]' \
	"$(on A -j dev show | gojq -c 'map([.dev, .egress_attached, .ingress_attached])')"

before=$(index)
away_and_back :
check_equal "back, it has the same index" "$before" "$(index)"
check "which is noticed, too" patiently 20 eval '[ "$(renewals)" = 2 ]'
got=0
check "it is probed and up again" patiently 60 goes_on
got=$(received A)
check "and stays so" patiently 60 goes_on
check_equal "nothing begins anew all the time" 2 "$(renewals)"

# ---- it goes away while a reload is under way, just after it was found to be there: a
# certificate is read then
cp "$work/A.json" "$work/before.json"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 \
	-subj /CN=bus -keyout "$work/key.pem" -out "$work/ca.pem" 2>"$work/openssl.log"
mkfifo "$work/slow.pem"
gojq --arg w "$work" '.fabric = { folder: $w, store: { socket: "\($w)/store.sock" },
	bus: { servers: [ "tls://localhost:1" ], cacert: "\($w)/slow.pem" } }' \
	"$work/before.json" >"$work/A.json"
kill -HUP "${engine[A]}"
exec {slow}>"$work/slow.pem"
ip -n "$host" link set hA name away
cat "$work/ca.pem" >&"$slow"
exec {slow}>&-
mv "$work/before.json" "$work/A.json"
check "without its NIC a reload fails" patiently 20 \
	grep -q 'no NIC of this host.*back to what was' "$work/A.log"
check "srpold waits for one" patiently 20 grep -q 'one that comes is used' "$work/A.log"
check "and answers meanwhile" patiently 20 on A engine show
ip -n "$host" link set away name hA
check "it is back, which is noticed" patiently 20 eval '[ "$(renewals)" = 3 ]'
got=0
check "it is probed and up once more" patiently 60 goes_on
got=$(received A)
check "and stays so, too" patiently 60 goes_on
check_equal "all is as before" 3 "$(renewals)"

fabric_silence spine1 on
check "a silent spine is noticed" patiently 60 \
	state_of A "$(path_over A spine1)" "down (probes-lost)"

devices() {
	on A -j dev show | gojq -c 'map([.dev, .egress_attached, .ingress_attached])'
}

# foreign VERB [PROGRAM...]: an XDP program of others on hA
foreign() {
	# with the BPF file system of this mount namespace
	nsenter --net="/run/netns/$host" "$BUILD/tools/sbin/bpftool" net "$1" \
		xdpgeneric "${@:2}" dev hA
}

refused() {
	! timeout 60 srpold -n "$host" -c "$work/A.json" 2>"$work/refused.log"
}

kill "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
pins=/sys/fs/bpf/srpol/$host
rm "$pins/link_ingress_$(index)"
check "without its pin, XDP is detached" patiently 20 eval \
	'[ "$(devices)" = "[[\"hA\",true,false]]" ]'
foreign attach pinned "$pins/prog_uplink"
check "srpold does not begin while an XDP program of others is there" refused
check "and names it" grep -q "XDP program srpol_uplink (id [0-9]*) is on the device" \
	"$work/refused.log"
check_equal "the device stays an uplink, with its other programs" \
	'[["hA",true,false]]' "$(devices)"
foreign detach
start_engine A
check "without that program it does" patiently 60 usable A 3
check_equal "and attaches its own" '[["hA",true,true]]' "$(devices)"

kill "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
rm "$pins/probes"
"$BUILD/tools/sbin/bpftool" map create "$pins/probes" type array key 4 value 8 \
	entries 64 name probes
check "srpold does not begin with a data plane of another version" refused
check "and says so" grep -q "loaded by another version of srpol, whose map probes" \
	"$work/refused.log"
on A dev del hA
start_engine A
check "with a new one it does" patiently 60 usable A 3

[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
