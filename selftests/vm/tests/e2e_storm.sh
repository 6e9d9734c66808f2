#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Changes without end, of devices on the host and of links in the fabric: srpold does
# not grow, the module hears of weights once an interval at most, and what was said
# last is what counts.
#
# SRPOL_TIMEOUT=1200

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

EVENTS=20000		# of devices
WORDS=5000		# on a link
INTERVAL_MS=500		# weights change so often at most

# kB of memory that srpold has
resident() {
	awk '/^VmRSS/ { print $2 }' "/proc/${engine[A]}/status"
}

generation() {
	on A -j config show | gojq '.[0].generation'
}

# words N: so many on the same link, one after the other; prints how long it took
words() {
	python3 - "/run/srpold/$(fabric_ns hostA).sock" "$1" <<-END
		import json, socket, sys, time
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		f = s.makefile("rw")
		begun = time.monotonic()
		for i in range(int(sys.argv[2])):
		    f.write(json.dumps({"version": 1, "request": "link",
		                        "from": "leaf1", "to": "spine2",
		                        "capacity": (40 + i % 50) * 10 ** 9}) + "\n")
		    f.flush()
		    reply = json.loads(f.readline())
		    assert "link" in str(reply), reply
		print(int((time.monotonic() - begun) * 1000))
	END
}

# devices N: a device that is none of ours changes so often
devices() {
	local i

	ip -n "$(fabric_ns hostA)" link add other type dummy
	for ((i = 0; i < $1; i++)); do
		echo "link set other mtu $((1500 + i % 100))"
	done | ip -n "$(fabric_ns hostA)" -batch -
	ip -n "$(fabric_ns hostA)" link del other
}

halved() {
	buckets A | gojq -e '.[1] * 3 < .[0] * 2 and .[0] == .[2]' >/dev/null
}

even() {
	[ "$(buckets A)" = "[32,32,32,32]" ]
}

at_exit fabric_down
fabric_up
modprobe dummy
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
fabric_topology >"$work/topology.json"
cat >"$work/A.json" <<END
{ "topology": "$work/topology.json", "hosts": [ "A" ],
  "probes": { "interval-ms": 200, "multiplier": 20, "timeout-ms": 3000 },
  "weights": { "algorithm": "wecmp", "interval-ms": $INTERVAL_MS,
               "delay-us": 10000000 } }
END
start_engine A
check "four paths, probed and up" patiently 240 usable A 4
# what it needs once
words 100 >/dev/null
devices 100
check "a link of half the capacity has fewer packets" eval \
	'on A engine link set leaf1 spine2 capacity 50G && patiently 60 halved'
at=$(resident)

# ---- of a link of the fabric
before=$(generation)
ms=$(words $WORDS)
after=$(generation)
echo "# $WORDS words on a link in $ms ms, $((after - before)) changes of the module"
check "words on a link: weights change once an interval at most" \
	[ $((after - before)) -le $((ms / INTERVAL_MS + 2)) ]
check "and they did change" [ "$after" -gt "$before" ]
on A engine link set leaf1 spine2 capacity 50G
check "what was said last counts" patiently 60 halved
on A engine link reset leaf1 spine2
check "and nothing once it is taken back" patiently 60 even

# ---- of devices
before=$(generation)
begun=${EPOCHREALTIME/./}
devices $EVENTS
ms=$(((${EPOCHREALTIME/./} - begun) / 1000))
echo "# $EVENTS changes of a device in $ms ms"
check_equal "a device that is none of its own: the module hears nothing" "$before" \
	"$(generation)"
check "no path went down" usable A 4
path=$(path_over A spine1)
ip -n "$(fabric_ns hostA)" link set hA down
check "its own one: the path is down" patiently 60 state_of A "$path" down
ip -n "$(fabric_ns hostA)" link set hA up
check "and up again" patiently 60 state_of A "$path" ' up'
check "as all are" patiently 240 usable A 4

echo "# memory: $at kB before, $(resident) kB after"
check "srpold has not grown" [ "$(resident)" -le $((at + 1024)) ]
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
