#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Probes that the peer reflects: loss, delay and congestion marks of the way
# there and of the way back are told apart, and the marks on data that reached
# the peer come back. Who has no key, or records and sends again, gets nothing.
#
# SRPOL_CLOCK=counted
#
# SRPOL_SLOWER=N: probes are so much rarer, as a kernel that checks what it does
# loses those that it has no time for.
#
# SRPOL_DEBUG=kernel

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

key=00112233445566778899aabbccddeeff
slower=${SRPOL_SLOWER:-1}

# config HOST RATE
config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "probes": { "interval-ms": $((50 * slower)), "multiplier": 20,
	              "timeout-ms": 1000, "wait-to-restore-ms": 300 },
	  "weights": { "interval-ms": 500, "delay-us": 10000000,
	               "loss-ppm": 1000000 },
	  "reflect": { "keys": "$work/keys.json", "interval-ms": $((100 * slower)),
	               "rate": $2 } }
	END
}

keys() {
	(umask 077; printf '%s\n' "$1" >"$work/$2.json")
}

# path SPINE EXPRESSION: of the reflected probes of the path over it
path() {
	on A -j engine paths | gojq -e "[ .[] | select(.name | contains(\"$1\")) ][0].reflected |
		$2" >/dev/null
}

# number SPINE KEY
number() {
	on A -j engine paths |
		gojq "[ .[] | select(.name | contains(\"$1\")) ][0].reflected.$2"
}

all_paths() {
	on A -j engine paths | gojq -e "[ .[].reflected | $1 ] |
		length == 4 and all" >/dev/null
}

# reason HOST NAME
reason() {
	on "$1" -j stats show all |
		gojq "[ .[] | select(.reason == \"$2\") | .packets ] | add // 0"
}

counted() {
	[ "$(reason "$1" "$2")" -ge "$3" ]
}

send() {
	fabric_exec leaf2 timeout 120 python3 \
		selftests/vm/tests/e2e_probe.py send host "$@"
}

# mark SPINE LEAF on|off: all packets it sends to that leaf get CE
mark() {
	if [ "$3" = on ]; then
		tc -n "$(fabric_ns "$1")" qdisc add dev "$2" clsact
		tc -n "$(fabric_ns "$1")" filter add dev "$2" egress matchall \
			action pedit ex munge ip6 traffic_class set 3 retain 3
	else
		tc -n "$(fabric_ns "$1")" qdisc del dev "$2" clsact
	fi
}

# lose SPINE LEAF on|off: what it receives from that leaf
lose() {
	if [ "$3" = on ]; then
		tc -n "$(fabric_ns "$1")" qdisc add dev "$2" clsact
		tc -n "$(fabric_ns "$1")" filter add dev "$2" ingress matchall \
			action drop
	else
		tc -n "$(fabric_ns "$1")" qdisc del dev "$2" clsact
	fi
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
fabric_topology >"$work/topology.json"

# ---- what is refused
keys "{ \"keys\": [ { \"hosts\": [ \"A\", \"B\" ], \"key\": \"$key\" } ] }" keys
config A 1000 >"$work/A.json"
config B 1000 >"$work/B.json"
check "keys are read" srpold --check-config -c "$work/A.json"
chmod 640 "$work/keys.json"
check_fails "refused: others may read the keys" 'keys.json: others' \
	srpold --check-config -c "$work/A.json"
chmod 600 "$work/keys.json"
sed "s/keys.json/bad.json/" "$work/A.json" >"$work/refused.json"
for bad in '"hosts": [ "A", "C" ], "key": "'$key'"' \
	   '"hosts": [ "A", "A" ], "key": "'$key'"' \
	   '"hosts": [ "A" ], "key": "'$key'"' \
	   '"hosts": [ "A", "B" ], "key": "'${key%f}'"' \
	   '"hosts": [ "A", "B" ], "key": "'${key%f}'g"' \
	   '"hosts": [ "A", "B" ], "key": "'${key%f}'\u0011"' \
	   '"hosts": [ "A", "B" ], "key": "'$key'", "also": "no key"' \
	   '"hosts": [ "A", "B" ], "kay": "'$key'"'; do
	keys "{ \"keys\": [ { $bad } ] }" bad
	check_fails "refused: ${bad//$key/KEY}" 'bad.json: .*("hosts"|host "|"key"|"kay"|"also")' \
		srpold --check-config -c "$work/refused.json"
done
keys '{ "keys": [] }' bad
sed '/"keys"/s/"interval-ms": [0-9]*/"interval-ms": 1/' "$work/A.json" \
	>"$work/refused.json"
check_fails "refused: too often" '"interval-ms" is not a number' \
	srpold --check-config -c "$work/refused.json"
sed -i 's/, *$/,/; /"reflect": "::f1"/d; s/"probe": "::e",/"probe": "::e" },/' \
	"$work/topology.json"
check_fails "refused: no SID to turn round at" 'no "reflect" in "functions"' \
	srpold --check-config -c "$work/A.json"
fabric_topology >"$work/topology.json"

# ---- there and back
# a veth takes frames from the XDP of its other end if it has a program, or GRO
fabric_exec leaf2 ethtool -K host gro on
on A rule add prio 100 dst fd00:b::/64 color 100
# so that marks can be told by path: the list of the SRH does not have spines
on A config set path-id tag
on B config set path-id tag
start_engine B
check "the reflecting SID is the engine's" patiently 60 eval \
	'on B -j sid show | gojq -e ".[] | select(.sid == \"fc00:0:b::f1\" and
		.behavior == \"reflect\" and .origin == \"engine\")"'
start_engine A
check "four paths, probed and up" patiently 60 usable A 4
check "probes come back from the peer by all four" \
	patiently 60 all_paths '.returned > 5'
on A -j engine paths >"$work/paths"
echo "# $(gojq -c '.[].reflected' "$work/paths" | head -n 1)"
check "three hops there, seven in all" all_paths \
	'.hops_there == 3 and .hops == 7'
check "none is lost, none is marked" all_paths \
	'.lost_there + .lost_back + .ce_there + .ce_back + .path_ce == 0'
check "B counts them" counted B reflected 20
check "as text, too" grep -q 'reflected sent [0-9]* reached [0-9]*' \
	<<<"$(on A engine paths)"

# ---- lost there, lost on the way back
lose spine2 leaf1 on
check "packets to the peer are lost: none comes back" patiently 60 eval \
	'path spine2 ".sent > .returned + 10"'
lose spine2 leaf1 off
check "they were lost on the way there" patiently 60 \
	path spine2 '.lost_there >= 8 and .lost_back == 0'
lose spine3 leaf2 on
check "packets from the peer are lost: none comes back" patiently 60 eval \
	'path spine3 ".sent > .returned + 10"'
lose spine3 leaf2 off
check "they were lost on the way back" patiently 60 \
	path spine3 '.lost_back >= 8 and .lost_there == 0'
check "nothing by the others" eval \
	'path spine1 ".lost_there + .lost_back == 0" &&
	 path spine4 ".lost_there + .lost_back == 0"'

# ---- marks
mark spine4 leaf2 on
check "marked on the way there" patiently 60 path spine4 \
	'.ce_there > 3 and .ce_back == 0'
mark spine1 leaf1 on
check "marked on the way back" patiently 60 path spine1 \
	'.ce_back > 3 and .ce_there == 0'
mark spine1 leaf1 off
check_equal "no data was sent, so that none was marked" 0 \
	"$(number spine4 path_ce)"
ip netns exec "$(fabric_ns hostA)" python3 - <<-END
	import socket
	for port in range(20000, 20400):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, 2)
	    s.bind(("fd00:a::1", port))
	    s.sendto(b"x" * 100, ("fd00:b::1", 9))
	    s.close()
END
check "marked data: the peer tells how much by that path" patiently 60 path \
	spine4 '.path_ce > 3'
sent=$(on A -s -j path show "$(path_over A spine4)" | gojq '.[0].stats.packets')
check "all of what went by it, $sent packets" patiently 30 eval \
	'[ "$(number spine4 path_ce)" = "$sent" ]'
check "none by the others" eval \
	'for m in 1 2 3; do path spine$m ".path_ce == 0" || exit; done'
mark spine4 leaf2 off

# ---- the prober begins anew, by a clock that was set back
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
replayed=$(reason B reflect-replayed)
date -s "-1 hour" >/dev/null
start_engine A
check "begun anew by a clock that was set back: nothing is replayed" \
	patiently 60 eval 'usable A 4 && all_paths ".returned > 15"'
date -s "+1 hour" >/dev/null
check_equal "B takes none for replayed" "$replayed" \
	"$(reason B reflect-replayed)"
check "what was marked before is known" path spine4 ".path_ce == $sent"
check_equal "and is no congestion of now" 0 "$(on A -j engine paths |
	gojq '[ .[] | select(.name | contains("spine4")) ][0].path_ce_ppm')"

# ---- delay, by clocks that have nothing to do with each other
modprobe sch_netem
tc -n "$(fabric_ns spine2)" qdisc add dev leaf2 root netem delay 60ms
check "a queue on the way there" patiently 60 path spine2 \
	'.queue_there_ms > 40 and .queue_back_ms < 20'
tc -n "$(fabric_ns spine2)" qdisc del dev leaf2 root
tc -n "$(fabric_ns spine3)" qdisc add dev leaf1 root netem delay 60ms
check "a queue on the way back" patiently 60 path spine3 \
	'.queue_back_ms > 40 and .queue_there_ms < 20'
tc -n "$(fabric_ns spine3)" qdisc del dev leaf1 root

# ---- somebody on the link to the peer
fabric_exec leaf2 timeout 60 python3 selftests/vm/tests/e2e_probe.py \
	record host "$work/asks" fc00:0:b::f1 8
send "$work/asks" same 40 1
check "sent again: replayed" patiently 30 counted B reflect-replayed 40
send "$work/asks" tag 40 1
check "with another tag: forged" patiently 30 counted B reflect-forged 40
send "$work/asks" seq 40 1
check "with another number: forged" patiently 30 counted B reflect-forged 80
send "$work/asks" list 40 1
check "with another list: forged" patiently 30 counted B reflect-forged 120
send "$work/asks" noise 300 1
check "A takes them for nothing that it sent" all_paths \
	'.returned <= .reached and .reached <= .sent'
check "and its own come back all the while" eval \
	'n=$(number spine1 returned)
	 patiently 30 path spine1 ".returned > $n + 5"'

# ---- keys are changed, on one host after the other
forged=$(reason B reflect-forged),$(reason A probe-forged)
next=ffeeddccbbaa99887766554433221100
for host in A B; do
	config "$host" 1000 | sed "s/keys.json/keys$host.json/" >"$work/$host.json"
done
for step in "A $key $next" "B $key $next" "A $next $key" "B $next $key" \
	    "A $next" "B $next"; do
	read -r host new also <<<"$step"
	keys "{ \"keys\": [ { \"hosts\": [ \"A\", \"B\" ], \"key\": \"$new\"${also:+,
		\"also\": \"$also\"} } ] }" "keys$host"
	before=$(on A -j engine paths | gojq -c '[ .[].reflected.returned ]')
	kill -HUP "${engine[$host]}"
	[ "$host" = B ] || check "A has read its keys" patiently 60 eval \
		'[ "$(number spine1 returned)" -lt "$(gojq .[0] <<<"$before")" ]'
	n=$(number spine1 returned)
	check "${step//[0-9a-f][0-9a-f][0-9a-f]*/} changes its keys: probes come back" \
		patiently 60 path spine1 ".returned > $n + 8"
done
check_equal "none was refused meanwhile" "$forged" \
	"$(reason B reflect-forged),$(reason A probe-forged)"
for host in A B; do
	config "$host" 1000 >"$work/$host.json"
done
keys "{ \"keys\": [ { \"hosts\": [ \"A\", \"B\" ], \"key\": \"$next\" } ] }" keys
key=$next

# ---- a peer that asks for too much, and one whose key is taken back
config B $((slower > 1 ? 1 : 5)) >"$work/B.json"
kill -HUP "${engine[B]}"
check "more than it may a second: the rest is dropped, and counted" \
	patiently 60 counted B reflect-limited 20
config B 1000 >"$work/B.json"
keys '{ "keys": [] }' keys
kill -HUP "${engine[B]}"
before=$(reason B reflect-strange)
check "the key is taken back: nothing is reflected" \
	patiently 60 counted B reflect-strange $((before + 20))
check_equal "A's paths are up: they are judged without the peer" 4 \
	"$(on A -j engine show | gojq .paths_usable)"
keys "{ \"keys\": [ { \"hosts\": [ \"A\", \"B\" ], \"key\": \"$key\" } ] }" keys
kill -HUP "${engine[B]}"
n=$(number spine1 returned)
check "with the key again" patiently 60 path spine1 ".returned > $n + 5"

for host in A B; do
	kill "${engine[$host]}"
	wait "${engine[$host]}" || not_ok "it ends with status 0"
done
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
