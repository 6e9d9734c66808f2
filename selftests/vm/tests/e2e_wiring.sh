#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two cables swapped: at leaf 1 those to spine 1 and spine 2.
#
#	leaf1 port spine1 ---.  .--- leaf1 port of spine 1
#	                      \/
#	leaf1 port spine2 ---'  '--- leaf1 port of spine 2
#
# Where next hops are addresses of links they are not found then, and probes are
# lost. Where they are found all the same, the spine that a packet came to
# instead sends it on by leaf 2: probes come back, by too many hops.
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

in_ns() {
	ip -n "$(fabric_ns "$1")" "${@:2}"
}

# What a device loses when it is moved to another namespace
dress() {
	local m=$1

	in_ns "spine$m" -batch - <<-END
	link set leaf1 up
	addr add fd00:1:$m::2/64 dev leaf1 nodad
	route replace fc00:0:11::/48 via fd00:1:$m::1 dev leaf1
	route replace fc00:0:a::/48 via fd00:1:$m::1 dev leaf1
	route replace fd00:a::/64 via fd00:1:$m::1 dev leaf1
	END
}

swap() {
	in_ns spine1 link set leaf1 netns "$(fabric_ns spine2)" name swapped
	in_ns spine2 link set leaf1 netns "$(fabric_ns spine1)"
	in_ns spine2 link set swapped name leaf1
	dress 1
	dress 2
}

# Next hops answer at whatever port, and each spine knows a way to the other one
unnumbered() {
	in_ns leaf1 addr add fd00:1:2::1/128 dev spine1 nodad
	in_ns leaf1 addr add fd00:1:1::1/128 dev spine2 nodad
	in_ns spine1 addr add fd00:1:2::2/128 dev leaf1 nodad
	in_ns spine2 addr add fd00:1:1::2/128 dev leaf1 nodad
	in_ns spine1 route add fc00:0:22::/48 via fd00:2:1::1 dev leaf2
	in_ns spine2 route add fc00:0:21::/48 via fd00:2:2::1 dev leaf2
}

show() {
	on A -j engine show | gojq -c "$1"
}

# both KEY: cables of spine 1 and of spine 2 are named there, and no others
both() {
	show ".$1" | gojq -e '[ .[].link ] |
		any(contains("spine1")) and any(contains("spine2")) and
		all(contains("spine1") or contains("spine2"))' >/dev/null
}

none() {
	[ "$(show ".$1")" = '[]' ]
}

hops() {
	[ "$(on A -j engine paths | gojq -c '[ .[].hops ]')" = "$1" ]
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
fabric_topology >"$work/topology.json"
cat >"$work/A.json" <<END
{ "topology": "$work/topology.json", "hosts": [ "A" ],
  "probes": { "interval-ms": 50, "multiplier": 5, "timeout-ms": 500,
              "wait-to-restore-ms": 300 },
  "weights": { "interval-ms": 300, "delay-us": 10000000 } }
END
start_engine A
check "four paths, probed and up" patiently 60 usable A 4
check "five hops each, as their segments say" patiently 20 hops '[5,5,5,5]'
check "nothing is suspected" eval 'none suspects && none wrong_wiring'

# ---- next hops are addresses of links
swap
check "two cables swapped: two paths are down" patiently 90 eval \
	'[ "$(show .paths_usable)" = 2 ]'
check "cables of both spines are suspected, and no others" \
	patiently 30 both suspects
check "no probe came by another number of hops" none wrong_wiring
echo "# $(show .suspects)"

# ---- next hops that are found at any port
unnumbered
check "probes go round by leaf 2: all four paths are up" \
	patiently 90 usable A 4
check "by two hops more" patiently 60 hops '[7,7,5,5]'
check "that is wrong wiring, of both spines and no others" \
	patiently 60 both wrong_wiring
check "no cable is suspected of losing them" patiently 30 none suspects
echo "# $(show .wrong_wiring)"
check "the log says so" patiently 20 grep -qE \
	'link .*spine[12].*: wrong wiring: 1 probes' "$work/A.log"
check "as text, too" eval 'on A engine show | grep -q "wrong-wiring .*spine"'

# ---- put right
swap
check "swapped back: five hops again" patiently 90 hops '[5,5,5,5]'
check "nothing is wrong any more" patiently 60 eval \
	'none suspects && none wrong_wiring'
check "the log says that, too" patiently 20 grep -q \
	'no sign of wrong wiring any more' "$work/A.log"
check_equal "no cable of another spine was ever named" "" \
	"$(grep 'wrong wiring' "$work/A.log" | grep 'spine[34]' || :)"

kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
