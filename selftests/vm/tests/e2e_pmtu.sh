#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A link between two switches that takes 1500 bytes where all others take 9000:
# srpold finds it by long probes, and TCP and RDMA go on by the other paths.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=init
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/fabric/rdma.sh
. selftests/fabric/rdma.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

log=$SRPOL_OUT

# both hosts are in this namespace
on() {
	shift
	srpol "$@"
}

down() {
	srpol dev del hA 2>/dev/null || :
	srpol dev del hB 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
	rm -rf "$work"
}

# set_mtu BYTES: of the link between leaf 1 and spine 2
set_mtu() {
	ip -n "$(fabric_ns leaf1)" link set spine2 mtu "$1"
	ip -n "$(fabric_ns spine2)" link set leaf1 mtu "$1"
}

# narrow N: so many paths are known to lose full packets, spine 2's
narrow() {
	on A -j engine paths | gojq -e --argjson n "$1" '
		[ .[] | select(.mtu_narrow) | .name | contains("spine2") ] |
		length == $n and all' >/dev/null
}

# mtu NAME LEAST MOST: what a path was found to take
mtu() {
	on A -j engine paths | gojq -e --arg name "$1" "
		.[] | select(.name == \$name) | .mtu >= $2 and .mtu <= $3" \
		>/dev/null
}

# doctor VERDICT TEXT: srpol doctor has a line of that text, a pattern
doctor() {
	{ srpol doctor || :; } | grep -E "$1 +.*$2" >/dev/null
}

# transfer: 16 connections from A to B, a megabyte each
transfer() {
	timeout 120 python3 - <<-'END'
	import socket, threading
	SIZE = 1 << 20
	got = []
	def serve(c):
	    n = 0
	    while data := c.recv(65536):
	        n += len(data)
	    got.append(n)
	def send(port):
	    s = socket.socket(socket.AF_INET6)
	    s.bind(("fd00:a::1", port))
	    s.connect(("fd00:b::1", 5001))
	    s.sendall(bytes(SIZE))
	    s.close()
	listener = socket.socket(socket.AF_INET6)
	listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
	listener.bind(("fd00:b::1", 5001))
	listener.listen(16)
	base = 20000 + __import__("os").getpid() % 20000
	senders = [threading.Thread(target=send, args=(base + i,)) for i in range(16)]
	for t in senders: t.start()
	servers = []
	for _ in senders:
	    servers.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
	    servers[-1].start()
	for t in senders + servers: t.join()
	assert got == [SIZE] * 16, got
	END
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit rdma_down
rdma_up
at_exit stop_engines
fabric_topology >"$work/topology.json"
cat >"$work/both.json" <<END
{ "topology": "$work/topology.json", "hosts": [ "A", "B" ],
  "probes": { "interval-ms": 50, "multiplier": 4, "timeout-ms": 100,
              "wait-to-restore-ms": 300 },
  "weights": { "delay-us": 1000000 } }
END
srpol rule add prio 100 proto tcp dst fd00::/16 color 100
set_mtu 1500

srpold -c "$work/both.json" 2>>"$work/both.log" &
engine[both]=$!
check "paths of both hosts are probed and up" patiently 60 usable A 8
check "both ways over spine 2 lose full packets" patiently 60 narrow 2
p2=$(path_over A A-spine2)
check "the module does not use the path" \
	patiently 20 state_of A "$p2" 'down (probes-degraded)'
check "what it takes is found" patiently 60 mtu A-spine2-B 1492 1500
check "and what the way back takes" patiently 60 mtu B-spine2-A 1492 1500
check "other paths take what the device does" mtu A-spine1-B 9000 9000
check "srpol doctor names one of them, and both numbers" doctor warning \
	'path [0-9]+ .*spine2.* and 1 more lose packets of 9000 bytes: .* has (149[2-9]|1500)$'
check "srpol doctor has asked srpold" doctor ok 'srpold answers, it has 8 paths'
check_equal "the log says so once per path" 2 \
	"$(grep -c 'spine2.* loses packets of 9000 bytes' "$work/both.log")"
check "TCP: 16 connections complete" transfer
check "RDMA: 8 QPs complete" rdma_bw "$log/bw" ib_write_bw 18515 6 \
	-q 8 -s 65536 -n 5 -t 1
set_mtu 9000
check "mended: full packets pass" patiently 60 narrow 0
check "the path is used again" patiently 20 state_of A "$p2" ' up'
check_equal "with its share" '[32,32,32,32]' "$(buckets A)"
check "srpol doctor knows" eval "! doctor warning 'packets of 9000 bytes'"

transfer &
transfer=$!
set_mtu 1500
check "narrow again while TCP sends: found again" patiently 60 narrow 2
rc=0
wait $transfer || rc=$?
check_equal "the transfer goes on, to its end" 0 $rc

for m in 1 3 4; do
	ip -n "$(fabric_ns leaf1)" link set "spine$m" mtu 1500
	ip -n "$(fabric_ns "spine$m")" link set leaf1 mtu 1500
done
check "no path takes full packets: all are used" patiently 60 eval \
	'[ "$(on A -j path show | gojq "[ .[] | select(.state == \"up\") ] | length")" = 8 ]'
check "srpol doctor says so" doctor warning 'and 7 more lose packets of 9000 bytes'
kill -KILL "${engine[both]}"
wait "${engine[both]}" 2>/dev/null || :
unset "engine[both]"
check "srpol doctor: the engine of these paths is gone" doctor warning \
	'srpold does not answer: perhaps nobody probes 8 paths of an engine'
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
