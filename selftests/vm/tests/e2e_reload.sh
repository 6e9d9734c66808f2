#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srpold whose files change under it: what is new is in force at once, what stays
# keeps its ids, and a change that is refused leaves all as it was.
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

# config HOST NAME SEGMENT-LISTS
# There are ids for four paths, and one of a job.
config() {
	cat >"$work/$1.json" <<-END
	{ "topology": "$work/$1.topology.json", "hosts": [ "$2" ],
	  "first-path": 16379,
	  "probes": { "interval-ms": 50, "multiplier": 10, "timeout-ms": 500,
	              "wait-to-restore-ms": 300 },
	  "weights": { "delay-us": 10000000 },
	  "reflect": { "keys": "$work/keys.json", "interval-ms": 100 },
	  "segment-lists": $3 }
	END
}

# topology FILTER: of both hosts, from the fabric's by gojq
topology() {
	fabric_topology | gojq "$1" >"$work/A.topology.json"
	cp "$work/A.topology.json" "$work/B.topology.json"
}

# keys NAME NAME: of the two hosts
keys() {
	(umask 077; cat >"$work/keys.json" <<-END
		{ "keys": [ { "hosts": [ "$1", "$2" ],
		              "key": "00112233445566778899aabbccddeeff" } ] }
		END
	)
}

reload() {
	kill -HUP "${engine[A]}"
}

runs() {
	kill -0 "${engine[A]}"
}

# made N: A's engine has changed the module so often
made() {
	[ "$(grep -c 'made or changed' "$work/A.log")" -ge "$1" ]
}

# all_are STATE: the paths of A's engine in the module
all_are() {
	on A -j path show | gojq -e --arg state "$1" \
		'map(select(.origin == "engine")) | length >= 4 and all(.state == $state)' \
		>/dev/null
}

# in_module: ids and SIDs per list of the engine's paths
in_module() {
	on A -j path show |
		gojq -c '[ .[] | select(.origin == "engine") |
			[ .id, (.segments | length) ] ] | sort'
}

# begin: engines of both hosts, in namespaces without anything of srpol's
begin() {
	start_engine A
	start_engine B
	check "$1: probed and up" patiently 60 usable A 4
}

finish() {
	stop_engines
	engine=()
	[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
	rm -f "$work"/*.log /run/srpold/*.jobs
	on A dev del hA
	on B dev del hB
	rmmod srpol
	insmod kmod/srpol.ko
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
group=/sys/fs/cgroup/srpol-reload-$$
mkdir "$group"
at_exit rmdir "$group"
at_exit rm -f /run/srpold/*.jobs

usid='.usid = { block: "fcbb:bb00::/32" } | (.switches, .hosts)[] |= (.usid =
	(.locator | sub("fc00:0:"; "fcbb:bb00:") | sub("/48"; "")))'
in_block='(.switches, .hosts)[] |= (.locator |= sub("fc00:0:"; "fcbb:bb00:"))'

# ---- leaf2 forgets its compressed SID, so lists of full ones are wanted
keys A B
topology "$usid"
config A A '{ "usid": true }'
config B B '{}'
begin "compressed"
fabric_exec leaf2 ip -6 route del fcbb:bb00:12::/48
check "they get lost: all are down" patiently 60 all_are down
config A A '{}'
reload
check "full SIDs" patiently 60 made 2
# a verdict lasts ten seconds
check "are in use at once, whatever was said of the lists before" \
	busywait 1 all_are up
check_equal "ids are the same" '[[16379,3],[16380,3],[16381,3],[16382,3]]' \
	"$(in_module)"
fabric_exec leaf2 ip -6 route add fcbb:bb00:12::/48 encap seg6local action End \
	flavors next-csid lblen 32 nflen 16 dev sid0

# ---- a reload that is refused: B has another name, and the locator is none.
# Meanwhile the data plane has lost the map of reflected probes.
on A engine demand add mine src A dst B bytes 1000000 for 600s
cp "$work/A.topology.json" "$work/good.json"
ip -n "$(fabric_ns hostA)" link add hX type veth peer name hY
gojq '(.hosts[] | select(.name == "B")).name = "C" |
    (.hosts[] | select(.name == "A")) |= (.locator = "ff00:a::/48" |
	.nics += [ { name: "hX", leaf: "leaf2", rail: 1, rate: "1G",
		     address: "fd00:aa::1", gateway: "fd00:aa::fe" } ])' \
	"$work/good.json" >"$work/A.topology.json"
keys A C
pin=$(find /sys/fs/bpf/srpol -path "*$(fabric_ns hostA)*" -name fars)
check "there is such a map" [ -n "$pin" ]
rm -f "$pin"
reload
check "the reload is refused" patiently 60 grep -q 'back to what was' "$work/A.log"
check "srpold goes on" patiently 60 usable A 4
check "with the demand" eval '[ "$(on A -j engine demand show | gojq length)" = 1 ]'
check "it runs" runs
check_equal "and no other NIC is an uplink" '["hA"]' \
	"$(on A -j dev show | gojq -c '[ .[].dev ]')"
finish

# ---- long names, locators in the block, and a function without compressed SID
keys gpu-node-0001 gpu-node-0002
topology "$usid | $in_block | walk(if type == \"string\" then
	sub(\"^A\$\"; \"gpu-node-0001\") | sub(\"^B\$\"; \"gpu-node-0002\") |
	sub(\"^spine(?<n>[0-9])\$\"; \"spine-\\(.n)\") else . end) |
	(.switches[] | select(.name == \"spine-2\")).functions =
		[ { name: \"sum\", kind: \"aggregate\", function: \"::a1\" } ]"
config A gpu-node-0001 '{ "usid": true }'
config B gpu-node-0002 '{ "usid": true }'
begin "long names"
check "a job through the function" on A job add j cgroup "$group" via sum
check_equal "has full SIDs beside containers" \
	'[[16379,1],[16380,1],[16381,1],[16382,1],[16383,3]]' "$(in_module)"
config A gpu-node-0001 '{}'
reload
check "full SIDs for all" patiently 60 eval '[ "$(in_module)" = "[[16379,3],[16380,3],[16381,3],[16382,3],[16383,3]]" ]'
config A gpu-node-0001 '{ "usid": true }'
reload
check "and back, with no other ids" patiently 60 eval '[ "$(in_module)" = "[[16379,1],[16380,1],[16381,1],[16382,1],[16383,3]]" ]'
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "A ends with status 0"
start_engine A
check "a new srpold has them up" patiently 60 usable A 5
check_equal "and the same" '[[16379,1],[16380,1],[16381,1],[16382,1],[16383,3]]' \
	"$(in_module)"
finish

# ---- full lists end at the compressed SID of the host
keys A B
topology "$usid | $in_block | .functions.decap = \"::\""
config A A '{ "usid": true }'
config B B '{}'
begin "one SID for both"
check_equal "that is there once" "fcbb:bb00:a:: End.DT46" \
	"$(on A -j sid show | gojq -r '.[] | select(.behavior | test("DT46")) |
		"\(.sid) \(.behavior)"')"
finish

# ---- B's GPU has one more NIC, which becomes its first, and goes; A has a job of the
# color that the engine shall have, and then another address
keys A B
two='(.hosts[] | select(.name == "B")).nics |= . + [ .[0] + { name: "hB2", plane: 1,
	address: "fd00:b::2" } ]'
swapped='(.hosts[] | select(.name == "B")).nics[].plane |= 1 - (. // 0)'

# prefixes: of the engine, and where they lead to
prefixes() {
	on A -j endpoint show | gojq -c '[ .[] | select(.origin == "engine") |
		[ .prefix, .to ] ] | sort'
}

# lead WHERE: they are these
lead() {
	[ "$(prefixes)" = "$1" ]
}

# probes FILTER: it holds for A's paths, as srpold tells
probes() {
	on A -j engine paths | gojq -e "length >= 4 and $1" >/dev/null
}

# watch_paths: from now on, by none_was_up
watch_paths() {
	: >"$work/events"
	srpol -n "$(fabric_ns hostA)" monitor config >"$work/events" &
	monitor=$!
	busywait 20 watching || not_ok "the monitor runs"
}

# watching: it sees what is done now
watching() {
	on A endpoint add fd00:b::9/128 to fd00:b::1
	on A endpoint del fd00:b::9/128
	[ -s "$work/events" ]
}

none_was_up() {
	kill $monitor
	wait $monitor 2>/dev/null || :
	check_equal "no path was up meanwhile" "" \
		"$(grep 'path .* up' "$work/events" || :)"
	check "and all are down" all_are down
}

# restart: A's engine, watched from before its end on
restart() {
	watch_paths
	kill -KILL "${engine[A]}"
	wait "${engine[A]}" 2>/dev/null || :
	start_engine A
}

# deleted_all: commands that delete all objects
deleted_all() {
	echo "endpoint del fd00:b::1/128"
	on A -j policy show | gojq -r '.[] |
		"policy del color \(.color) endpoint \(.endpoint)"'
	on A -j path show | gojq -r '.[] | "path del \(.id)"'
}

# made_again: paths that somebody has deleted are down once more
made_again() {
	deleted_all >"$work/all"
	kill -STOP "${engine[A]}"
	check "all are deleted" on A -batch "$work/all"
	kill -CONT "${engine[A]}"
	check "and made again" busywait 10 eval \
		'[ "$(on A -j path show | gojq length)" -ge 4 ]'
	# a verdict is repeated every three seconds
	pause 0.3
	check "they are down" all_are down
}

topology "$two"
config A A '{}'
config B B '{}'
begin "two NICs"
check_equal "both addresses lead to the first" \
	'[["fd00:b::1/128","fd00:b::1"],["fd00:b::2/128","fd00:b::1"]]' "$(prefixes)"
on A endpoint add fd00:b::3/128 to fd00:b::1
topology "$two | $swapped"
reload
check "and to the other, once that is the first" patiently 20 lead \
	'[["fd00:b::1/128","fd00:b::2"],["fd00:b::2/128","fd00:b::2"]]'
topology .
reload
check "one that is no more leads nowhere" patiently 20 lead '[["fd00:b::1/128","fd00:b::1"]]'
check "an operator's stays" eval 'on A endpoint show | grep -q fd00:b::3'

on A job add red qp 77 color 1000
sed -i 's/"first-path"/"color": 1000, &/' "$work/A.json"
reload
check "a color that a job has is refused" patiently 20 \
	grep -q '"color": 1000 is that of job "red"' "$work/A.log"
config A A '{}'
ip -n "$(fabric_ns hostA)" link set hA name away
reload
check "without its NIC, too" patiently 20 \
	grep -q 'no NIC of this host.*stays' "$work/A.log"
ip -n "$(fabric_ns hostA)" link set away name hA
check "srpold goes on" runs
check "and its paths are up" patiently 20 usable A 4

topology '(.hosts[] | select(.name == "A")).nics[0].address = "fd00:a::9"'
reload
sources() {
	[ "$(on A -j path show |
		gojq -c '[ .[] | select(.origin == "engine") | .src ] | unique')" = "$1" ]
}
check "packets come from A's new address" patiently 20 sources '["fd00:a::9"]'

# ---- a new srpold revokes the verdict of the former one when probes come back
fabric_exec leaf2 ip -6 route del fc00:0:12::1/128
check "all are down" patiently 20 all_are down
restart
check "its own probes get lost" patiently 20 probes 'all(.lost > 10)'
none_was_up
sed -i '0,/"interval-ms": 50/ s//"interval-ms": 2000/' "$work/A.json"
restart
check "without hurry" patiently 40 probes 'all(.sent > 6)'
none_was_up
made_again
config A A '{}'
watch_paths
reload
check "reloaded" patiently 20 probes 'all(.lost > 10 and .sent < 100)'
check "the data plane goes and comes" on A dev del hA
check "with the programs" on A dev add hA role uplink
check "which srpold sees" patiently 20 grep -q 'loaded anew' "$work/A.log"
lost=$(on A -j engine paths | gojq 'map(.lost) | max')
check "probes get lost again" patiently 20 probes "all(.lost > $lost + 20)"
topology .
reload
check "with another address" patiently 20 sources '["fd00:a::1"]'
check "they get lost again" patiently 20 probes 'all(.lost > 10 and .sent < 100)'
none_was_up

# ---- a reload is refused that would have given them other lists: C's ids are taken
config A A '{ "usid": true }'
sed -i 's/16379/16376/' "$work/A.json"
on A path add 16376 segs fc00:0:99::1 dev hA via fd00:a::fe name by-hand
topology '.hosts += [ (.hosts[] | select(.name == "B")) | .name = "C" |
	.locator = "fc00:0:c::/48" | .nics[0].name = "hC" |
	.nics[0].address = "fd00:c::1" ] | '"$usid"
watch_paths
reload
check "no room, so back" patiently 20 grep -q 'no room for.* back to what was' "$work/A.log"
check "their probes are still lost" patiently 20 probes 'all(.lost > 10)'
none_was_up
on A path del 16376
config A A '{}'
topology .

# ---- paths that are made again, just after it was said of them
said_just_now() {
	probes 'all(.lost > 10 and .sent < 50)' && return
	! probes 'all(.sent >= 50)' || reload
	return 1
}
reload
check "it was said just now" busywait 60 said_just_now
made_again

# ---- paths that somebody restores just as they were
on A export srpol >"$work/saved"
reload
check "it was said just now" busywait 60 said_just_now
deleted_all >"$work/all"
kill -STOP "${engine[A]}"
check "all are deleted" on A -batch "$work/all"
check "and restored" on A replace -f "$work/saved"
check "up, as nothing is said of them" all_are up
kill -CONT "${engine[A]}"
pause 0.3
check "they are down" all_are down

fabric_exec leaf2 ip -6 route add fc00:0:12::1/128 encap seg6local action End dev sid0
kill -KILL "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
start_engine A
check "started again: probed" busywait 10 probes 'all(.received > 0)'
# a verdict is repeated every three seconds
now=${EPOCHREALTIME/./}
check "and up, whatever was said of them" busywait 1 all_are up
check "at once" [ $((${EPOCHREALTIME/./} - now)) -lt 1000000 ]

# ---- one of two NICs has another XDP program by now, and a pin is gone
gojq '(.hosts[] | select(.name == "A")) |= (.nics += [ { name: "hX", leaf: "leaf2",
	rail: 1, rate: "1G", address: "fd00:aa::1", gateway: "fd00:aa::fe" } ])' \
	"$work/good.json" >"$work/A.topology.json"
config A A '{}'
sed -i 's/16379/16000/' "$work/A.json"
reload
check "both are uplinks" patiently 20 eval \
	'[ "$(on A -j dev show | gojq -c "map(.dev) | sort")" = "[\"hA\",\"hX\"]" ]'
check "probes of one come back" patiently 20 eval \
	'on A -j engine paths | gojq -e "map(select(.received > 0)) | length >= 4" >/dev/null'
on A dev del hX
pins=${pin%/*}
nsenter --net="/run/netns/$(fabric_ns hostA)" build/tools/sbin/bpftool net attach \
	xdpgeneric pinned "$pins/prog_uplink" dev hX
rm "$pins/pairs"
reload
check "hX is in the way of a reload" patiently 20 \
	grep -q 'XDP program.*back to what was' "$work/A.log"
check "srpold goes on" patiently 20 grep -q 'hX:.*stay as they are' "$work/A.log"
check "without the pin, too" patiently 20 grep -q 'no probes are sent to peers' "$work/A.log"
check "it runs, probes come back" patiently 20 eval \
	'on A -j engine paths | gojq -e "map(select(.received > 0)) | length >= 4" >/dev/null'
over_hA() {
	[ "$(on A -j path show | gojq 'map(select(.dev == "hA" and .state == "up")) | length')" -ge 4 ]
}
check "and their paths are up" over_hA

# ---- the data plane is loaded anew, with all pins, and nothing is in the way
nsenter --net="/run/netns/$(fabric_ns hostA)" build/tools/sbin/bpftool net detach \
	xdpgeneric dev hX
on A dev del hA
on A dev add hA role uplink
check "which is seen" patiently 20 grep -q 'loaded anew' "$work/A.log"
check "probes go to peers again" patiently 20 eval \
	'on A -j engine paths | gojq -e "any(.reflected.returned > 0)" >/dev/null'

# ---- and loses the key that its probes have to have
by_socket() {
	on A -j engine show | gojq .by_socket
}
rm "$pins/probe_key"
: >"$work/A.log"
reload
check "its map of probes is not used then" patiently 20 \
	grep -q 'no map of probes' "$work/A.log"
before=$(by_socket)
check "packet sockets get them" patiently 20 eval '[ "$(by_socket)" -gt $((before + 200)) ]'
check "the paths are up" over_hA
check_equal "XDP counts none as forged" 0 "$(on A -j engine show | gojq .forged)"
check_equal "nothing begins anew all the time" 0 "$(grep -c 'loaded anew' "$work/A.log")"

# ---- peers' probes go on to be reflected then, but not by a key that is revoked
of_B() {
	on B -j engine paths | gojq "map(.reflected.$1) | add"
}
more_of_B() {
	[ "$(of_B "$1")" -gt "$2" ]
}
check "B's probes are reflected" patiently 20 more_of_B returned "$(of_B returned)"
sed -i 's/00112233/33221100/' "$work/keys.json"
: >"$work/A.log"
reload
check "another key" patiently 20 grep -q 'turns no probes round' "$work/A.log"
pause 0.5
before=$(of_B returned)
check "B sends more" patiently 20 more_of_B sent $(($(of_B sent) + 20))
check_equal "they are not" "$before" "$(of_B returned)"

# ---- a data plane without a map of probes, just as it was loaded
unload_data_plane() {
	on A -j dev show | gojq -r '.[] | "dev del \(.dev)"' | on A -batch -
}
reload_data_plane() {
	unload_data_plane && on A dev add hA role uplink
}
check "the data plane is loaded anew" reload_data_plane
check "which is seen" patiently 20 grep -q 'loaded anew' "$work/A.log"
probe_sid() {
	on A -j sid show | gojq -er '.[] | select(.behavior == "probe").sid'
}
check "there is a SID for probes" patiently 20 probe_sid
sid=$(probe_sid)
kill -STOP "${engine[A]}"
check "and once more" reload_data_plane
rm "$pins/probes"
: >"$work/A.log"
kill -CONT "${engine[A]}"
check "a lost map is seen, too" patiently 20 grep -q 'no map of probes' "$work/A.log"
before=$(by_socket)
check "packet sockets get them" patiently 20 eval '[ "$(by_socket)" -gt $((before + 40)) ]'
forged=$(on A -j engine show | gojq .forged)
check "they do" patiently 20 eval '[ "$(by_socket)" -gt $((before + 200)) ]'
check "the paths are up" over_hA
check_equal "no answer of peers counts as forged" "$forged" \
	"$(on A -j engine show | gojq .forged)"
check "a SID of probes that is not srpold's" on A sid add "$sid" behavior probe
check "is told" patiently 20 grep -q "SID $sid is somebody else's" "$work/A.log"
check "until it is deleted" on A sid del "$sid"
: >"$work/A.log"
reload
check "one of another behavior" on A sid add "$sid" behavior End
check "is told, too" patiently 20 grep -q "SID $sid is somebody else's" "$work/A.log"
check "until it is deleted" on A sid del "$sid"
before=$(by_socket)
check "and probes are back" patiently 20 eval '[ "$(by_socket)" -gt $((before + 40)) ]'
check "the paths are up" patiently 20 over_hA

# ---- without any key, none has to be deleted
reflects() {
	on A -j sid show | gojq -e 'any(.behavior == "reflect")' >/dev/null
}
check "there is a SID for peers' probes" reflects
rm "$pins/pairs"
gojq 'del(.reflect)' "$work/A.json" >"$work/none.json"
mv "$work/none.json" "$work/A.json"
check "probes go on for a while" patiently 20 probes 'all(.sent >= 100)'
sent=$(on A -j engine paths | gojq '[ .[].sent ] | min')
reload
check "without keys" patiently 20 probes "all(.sent < $sent)"
check "the paths are up" patiently 20 over_hA
check "nothing is reflected by keys that nobody can revoke" patiently 20 eval '! reflects'
check_equal "it is in force" 0 "$(grep -c 'back to what' "$work/A.log")"

# ---- the module is unloaded and loaded again
stop_engine() {
	kill "${engine[$1]}"
	wait "${engine[$1]}" || :
	unset "engine[$1]"
}
stop_engine B
on B dev del hB
check "nothing holds the module" unload_data_plane
rmmod srpol
insmod kmod/srpol.ko
: >"$work/A.log"
check "an uplink in the new module" on A dev add hA role uplink
check "has srpold's paths" patiently 20 over_hA
check "which told" grep -q 'the module was loaded anew' "$work/A.log"
deleted_all >"$work/all"
check "it hears that others delete them" on A -batch "$work/all"
check "and restores them" patiently 20 over_hA
kill -STOP "${engine[A]}"
check "nothing holds it" unload_data_plane
rmmod srpol
insmod kmod/srpol.ko
on A dev add hA role uplink
kill -HUP "${engine[A]}"
kill -CONT "${engine[A]}"
check "and so it has after a reload" patiently 20 over_hA
check "states are asked for in vain once at most" [ "$(grep -c 'states of paths' "$work/A.log")" -le 1 ]
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
