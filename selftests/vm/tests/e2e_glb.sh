#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Hosts tell each other of links near them that work badly: B sees nothing of a
# queue that A sees, but uses the spine less, since A says so. Nothing is said
# while nothing is new. Who forges, records and repeats, or speaks of what is not
# near him, changes nothing and is counted.
#
# SRPOL_CLOCK=counted
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

PORT=8624
recorder=

stop() {
	[ -n "$recorder" ] || return 0
	kill "$recorder" 2>/dev/null || :
	wait "$recorder" 2>/dev/null || :
}

# config HOST DELAY-US ALGORITHM
config() {
	cat <<-END
	{ "topology": "$work/topology.json", "hosts": [ "$1" ],
	  "probes": { "interval-ms": 20, "multiplier": 40, "timeout-ms": 1000,
	              "wait-to-restore-ms": 300 },
	  "weights": { "algorithm": "$3", "interval-ms": 300, "delay-us": $2,
	               "loss-ppm": 1000000 },
	  "reflect": { "keys": "$work/keys.json", "interval-ms": 60000 },
	  "glb": {} }
	END
}

# glb HOST EXPRESSION: of what the engine shows
glb() {
	on "$1" -j engine show | gojq ".glb | $2"
}

glb_is() {
	[ "$(glb "$1" "$2")" = true ]
}

# agreed: both know each other, and all that was said has arrived
agreed() {
	glb_is A '.peers[0] | .known and (.pending | not)' &&
		glb_is B '.peers[0] | .known and (.pending | not)'
}

# link HOST SPINE KEY: what it knows of leaf1's link to the spine
link() {
	on "$1" -j engine topology |
		gojq ".[] | select(.from == \"leaf1\" and .to == \"$2\") | .$3"
}

link_is() {
	link "$1" "$2" "$3" | gojq -e ". $4" >/dev/null
}

lowered() {
	buckets B | gojq -e '.[2] * 10 < .[0] * 9' >/dev/null
}

even() {
	buckets B | gojq -e 'max - min <= 1' >/dev/null
}

# send SOURCE HEX[,HEX]... [N]: to B, from its leaf
send() {
	fabric_exec leaf2 python3 selftests/vm/tests/e2e_glb.py send "$1" \
		fd00:b::1 $PORT "${@:2}"
}

# counted NAME N SOURCE HEX: B refuses N of what is sent
counted() {
	local before

	before=$(glb B ".$1")
	send "$3" "$4" "$2"
	patiently 60 glb_is B ".$1 >= $before + $2"
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop
fabric_topology >"$work/topology.json"
(umask 077; cat >"$work/keys.json" <<-END
	{ "keys": [ { "hosts": [ "A", "B" ],
	              "key": "00112233445566778899aabbccddeeff" } ] }
	END
)
config A 1000 wecmp >"$work/A.json"
config B 10000000 glb >"$work/B.json"
check "the configuration is good" srpold --check-config -c "$work/A.json"
sed '/"reflect"/d' "$work/A.json" >"$work/bad.json"
check_fails "refused: nobody has a key" '"glb" without "keys"' \
	srpold --check-config -c "$work/bad.json"
for bad in '"port": 0' '"port": 65536' '"pott": 1'; do
	sed "s/\"glb\": {}/\"glb\": { $bad }/" "$work/A.json" >"$work/bad.json"
	check_fails "refused: $bad" '"p.*t"' \
		srpold --check-config -c "$work/bad.json"
done

# ---- they meet; A comes later
fabric_exec hostB python3 selftests/vm/tests/e2e_glb.py record "$work/recorded" \
	hB $PORT >"$work/recorder" &
recorder=$!
check "the recorder is ready" patiently 30 grep -q ready "$work/recorder"
start_engine B
check "B: four paths, probed and up" patiently 60 usable B 4
check_equal "whom it does not know" false "$(glb B '.peers[0].known')"
start_engine A
check "A: four paths, probed and up" patiently 60 usable A 4
check "they agree" patiently 60 agreed
check_equal "with a rule of the engine's" '["glb","roce"]' \
	"$(on A -j rule show | gojq -c '[ .[].name ] | sort')"
sent=$(glb A .sent),$(glb B .sent)
n=$(received B)
check "time passes" patiently 60 receives B $((n + 100))
check_equal "nothing is new, nothing is said" "$sent" \
	"$(glb A .sent),$(glb B .sent)"
check "B: all paths have the same weight" even

# ---- a queue that A sees
modprobe sch_netem
tc -n "$(fabric_ns spine3)" qdisc add dev leaf1 root netem delay 5ms
check "A sees it" patiently 120 link_is A spine3 quality_percent '< 100'
check "B hears of it" patiently 60 link_is B spine3 heard_percent '< 100'
check "B itself sees nothing" link_is B spine3 quality_percent '== 100'
check_equal "of that link only" '[ "leaf1-spine3" ]' \
	"$(glb B '[ .peers[0].says[].link ]' | gojq -c . | sed 's/\[/[ /; s/]/ ]/')"
check "and uses the spine less" patiently 60 lowered
check "A knows how long it took until B had it" glb_is A \
	'.peers[0] | .took_us > 0 and .took_us <= .took_max_us'
echo "# from A's word to B's acknowledgment: $(glb A '.peers[0].took_us') us," \
	"at most $(glb A '.peers[0].took_max_us') us"
check_equal "A, which says so, hears nothing" 100 \
	"$(link A spine3 heard_percent)"

# ---- what is refused
heard=$(glb B '.peers[0].says')
# what A said first, and last, before anything of ours is recorded, too
first=$(head -n 1 "$work/recorded")
last=$(tail -n 1 "$work/recorded")
check "malformed: what is none" counted malformed 3 fd00:a::1 1234
check "forged: a tag that is wrong" counted forged 3 fd00:a::1 \
	"${last%??}$(printf %02x $((0x${last: -2} ^ 1)))"
check "strange: from somebody else" counted strange 3 fd00:2:3::1 "$last"
check "stale: recorded in this session" counted stale 3 fd00:a::1 "$last"
check "stale: the hello of before" counted stale 3 fd00:a::1 "$first"
check "A is still believed" patiently 60 agreed
[ "$(glb B '.peers[0].says')" != "$heard" ] && echo "# meanwhile: $(glb B .)"
check "and of that link only" glb_is B \
	'[ .peers[0].says[].link ] == [ "leaf1-spine3" ]'

# ---- B begins anew: it has to be told, and what was recorded before counts no more
kill "${engine[B]}"
wait "${engine[B]}" || not_ok "B ends with status 0"
start_engine B
check "B is told again" patiently 120 link_is B spine3 heard_percent '< 100'
# In B's first session the answer depended on whether A's first hello answered
# one of B's: it named that session then. None names this one.
check "limited: hellos without end" patiently 60 eval \
	'send fd00:a::1 $first 200; glb_is B ".limited > 0"'
mapfile -t before < <(sort -u "$work/recorded")
send fd00:a::1 "$(IFS=,; echo "${before[*]}")"
check "they agree, whatever is repeated" patiently 60 agreed
check "still of that link only" glb_is B \
	'[ .peers[0].says[].link ] == [ "leaf1-spine3" ]'

# ---- the queue is gone
tc -n "$(fabric_ns spine3)" qdisc del dev leaf1 root
check "B hears that, too" patiently 300 link_is B spine3 heard_percent '== 100'
check "and all paths have the same weight" patiently 60 even
check "they agree" patiently 60 agreed
echo "# A: $(glb A . | gojq -c .)"
echo "# B: $(glb B . | gojq -c .)"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
