#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A tenant whose paths are limited to two of four spines, with a backup color: both
# fail, and its packets go by the policy of that color, without anybody being asked;
# they come back with the spines. It stays when srpold or the engine is gone, and
# goes when the tenant has it no more, or when the plan cannot be followed after a
# reload. Likewise of a job that names one itself.
#
# SRPOL_CLOCK=counted SRPOL_TIMEOUT=900

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh
# shellcheck source=selftests/vm/tests/fabricd_lib.sh
. selftests/vm/tests/fabricd_lib.sh
# shellcheck source=selftests/vm/tests/followers_lib.sh
. selftests/vm/tests/followers_lib.sh

RED=(red color 10 paths "spine1,spine2")

# backup COLOR: color of the backup of A's policy of that color
backup() {
	on A -j policy show color "$1" | gojq '.[0].backup_color // 0'
}

backup_is() {
	[ "$(backup "$1")" = "$2" ]
}

# weights PREFERENCE: of the lists of red's candidate path, in order of the spines:
# 1 for any but 0
weights() {
	on A -j policy show color 10 | gojq -c --argjson p "$1" '
		[ .[0].candidates[] | select(.preference == $p) ] | .[0] |
		[ .segment_lists[]?.weight | if . > 0 then 1 else 0 end ]'
}

weights_are() {
	[ "$(weights "$1")" = "$2" ]
}

# counted REASON: packets of host A, by reason
counted() {
	on A -j stats show all | gojq "[ .. | objects | select(.reason? == \"$1\") ] |
		map(.packets) | add // 0"
}

# grows REASON COMMAND...: the command succeeds, and packets are counted by that reason
grows() {
	local reason=$1 before
	shift

	before=$(counted "$reason")
	"$@" && [ "$(counted "$reason")" -gt "$before" ]
}

not_grows() {
	local reason=$1 before
	shift

	before=$(counted "$reason")
	"$@" && [ "$(counted "$reason")" = "$before" ]
}

# send: some packets from A to B
send() {
	fabric_exec hostA python3 - <<-'END'
	import socket
	for port in range(5000, 5100):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.bind(("fd00:a::1", port))
	    s.sendto(b"x", ("fd00:b::1", 9))
	END
}

# silence on|off: of both spines of the tenant
silence() {
	fabric_silence spine1 "$1"
	fabric_silence spine2 "$1"
}

# gap MS FILE: the longest time in which nothing of a flow of a packet every 5 ms
# arrives at B, in milliseconds; a line in the file once it has begun
gap() {
	fabric_exec hostB python3 - "$1" "$2" <<-'END' &
	import socket, sys, time
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.bind(("fd00:b::1", 9999))
	end = last = longest = 0
	while not end or last < end:
	    s.settimeout(30 if end else None)
	    try:
	        s.recv(64)
	    except TimeoutError:
	        end = last
	    now = time.monotonic()
	    if not end:
	        end = now + int(sys.argv[1]) / 1000
	        print("begins", file=open(sys.argv[2], "w"), flush=True)
	    else:
	        longest = max(longest, now - last)
	    last = now
	print(int(longest * 1000), file=open(sys.argv[2], "a"), flush=True)
	END
	receiver=$!
	ip netns exec "$(fabric_ns hostA)" python3 - <<-'END' &
	import socket, time
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.bind(("fd00:a::1", 9999))
	while True:
	    s.sendto(b"x", ("fd00:b::1", 9999))
	    time.sleep(0.005)
	END
	sender=$!
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop_fabricd
fabric_topology >"$work/topology.json"
config A >"$work/A.json"
config B >"$work/B.json"
cat >"$work/fabricd.json" <<-END
{ "name": "engine", "topology": "$work/topology.json", "lease-s": 60,
  "file": "$work/store.json", "socket": "$work/control.sock",
  "store": { "socket": "$work/store.sock" } }
END
start_engine A
start_engine B
start_fabricd
check "paths are usable" patiently 60 usable A 4
check "the engine leads" patiently 30 eval 'fabric show | gojq -e .leads'

# ---- without a backup, as it always was
check "host A has a job in the tenant's color" \
	on A job add red src fd00:a::1/128 color 10
check "a tenant of two spines has another job" eval "fabric tenant add ${RED[*]} &&
	fabric job add r tenant red hosts A,B bytes 1000000"
check "its weights are the plan's" patiently 60 weights_are 100 '[1,1,0,0]'
check_equal "without a backup there is none" 0 "$(backup 10)"
check_equal "and other paths are the last resort" '[1,1,1,1]' "$(weights 50)"

# ---- with one
check_fails "a tenant is not its own backup" '"backup" is the tenant.s own color' \
	fabric tenant add "${RED[@]}" backup 10
check "the tenant gets one" fabric tenant add "${RED[@]}" backup 100
check "host A has it in its policy" patiently 60 backup_is 10 100
check_equal "which is limited to the tenant's spines" '[1,1,0,0]' "$(weights 50)"
check_equal "the policies to all peers are not" '[32,32,32,32]' \
	"$(candidate A 50 | gojq -c '.[1]')"
check "packets of the color are on both of its spines" \
	patiently 60 spines_have 50 50 0 0

# ---- nobody there who could be asked
stop_fabricd
generation=$(on A -j config show | gojq '.[0].generation')
kill -9 "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
start_engine A
check "srpold comes again, without the engine" patiently 60 usable A 4
check_equal "by the plan on its disk the module has all that" \
	"$generation 100" "$(on A -j config show | gojq '.[0].generation') $(backup 10)"
gap 12000 "$work/gap"
check "a flow goes" busywait 60 grep -q begins "$work/gap"
silence on
wait "$receiver"
kill "$sender"
wait "$sender" 2>/dev/null || :
lost=$(tail -n 1 "$work/gap")
echo "# both spines fall silent: nothing arrived for $lost ms"
# probes every 20 ms, three in a row, and what a busy guest adds
check "both spines fall silent, and without the engine it is back within a second" \
	[ "$lost" -lt 1000 ]
check "packets are on spines of the backup color alone" \
	patiently 60 spines_have 0 0 50 50
check "and counted as such" grows backup spines_have 0 0 50 50
kill -9 "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
check "without srpold, too" spines_have 0 0 50 50
start_engine A
check "srpold comes again" patiently 60 eval 'on A -j engine show | gojq -e .fabric[0].epoch'
check "and leaves it so" spines_have 0 0 50 50
start_fabricd
check "the engine leads again, and has no path for the tenant" patiently 60 \
	planned '[0,0,0,0]'
check "hosts follow that" patiently 60 on_epoch
check "which changes nothing" spines_have 0 0 50 50

silence off
check "the spines speak again: packets are on them" \
	patiently 120 spines_have 50 50 0 0
check "by the plan" patiently 60 weights_are 100 '[1,1,0,0]'

# ---- another one
check "another tenant's color becomes the backup" eval "
	fabric tenant add blue color 20 paths spine3 &&
	on A job add blue src fd00:a::2/128 color 20 paths spine3 &&
	fabric tenant add ${RED[*]} backup 20 && patiently 60 backup_is 10 20"
check_equal "which has none itself" 0 "$(backup 20)"
check "each is the other's" eval "
	fabric tenant add blue color 20 paths spine3 backup 10 &&
	patiently 60 backup_is 20 10"
silence on
check "both fail: packets take that tenant's paths" \
	patiently 60 spines_have 0 0 100 0
check "a color is the backup that host A has no policy of" eval "
	fabric tenant add ${RED[*]} backup 77 && patiently 60 backup_is 10 77"
check "that is as if there were none: packets are sent as they are" \
	patiently 60 grows invalid-passthrough send
check "and by no other color's paths" not_grows backup send
silence off

# ---- without
check "the tenant has none any more" eval "fabric tenant add ${RED[*]} &&
	patiently 60 backup_is 10 0"
check "and its policy all paths" patiently 60 weights_are 50 '[1,1,1,1]'
check "it gets it back" eval "fabric tenant add ${RED[*]} backup 100 &&
	patiently 60 backup_is 10 100"

# ---- two hosts in a namespace: a reload is refused, and by then the certificate of the
# bus can be read for the first of them only
mkdir "$work/both"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 \
	-subj /CN=bus -keyout "$work/key.pem" -out "$work/ca.pem" 2>"$work/openssl.log"
kill "${engine[B]}"
wait "${engine[B]}" || not_ok "B ends with status 0"
unset "engine[B]"
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "A ends with status 0"
config A | gojq --arg w "$work" '.hosts = [ "A", "B" ] | .fabric += { folder: "\($w)/both",
	bus: { servers: [ "tls://localhost:1" ], cacert: "\($w)/ca.pem" } }' \
	>"$work/A.json"
start_engine A
check "A and B in one namespace follow the plan" patiently 60 eval \
	'on A -j engine show | gojq -e "[ .fabric[].epoch ] | length == 2 and all(. > 0)"'
check "with its backup" patiently 60 backup_is 10 100
check_equal "and its limit" '[1,1,0,0]' "$(weights 50)"
mv "$work/ca.pem" "$work/once.pem"
mkfifo "$work/ca.pem"
(
	# it is gone by the time that its first reader has the certificate
	exec 9>"$work/ca.pem"
	rm "$work/ca.pem"
	cat "$work/once.pem" >&9
) &
once=$!
gojq '.hosts += [ (.hosts[] | select(.name == "B")) | .name = "C" |
	.locator = "fc00:0:c::/48" | .nics[0].name = "hC" |
	.nics[0].address = "fd00:c::1" ]' "$work/topology.json" >"$work/more.json"
# somebody has taken too many of the sixteen ids that are left
for id in {16368..16380}; do
	on A path add "$id" segs fc00:0:99::1 dev hA via fd00:a::fe
done
gojq --arg w "$work" 'del(.fabric) | ."first-path" = 16368 |
	.topology = "\($w)/more.json"' "$work/A.json" >"$work/new.json"
mv "$work/new.json" "$work/A.json"
kill -HUP "${engine[A]}"
check "there is no room for the new paths, so back" patiently 60 \
	grep -q 'no room for.*back to what was' "$work/A.log"
check "without a plan" patiently 60 grep -q 'no plan is followed' "$work/A.log"
kill $once 2>/dev/null || :
for id in {16368..16380}; do
	on A path del "$id"
done
check "and so without its backup" patiently 20 backup_is 10 0
check_equal "and on all paths" '[1,1,1,1]' "$(weights 50)"
start_engine B
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "A ends with status 0"
config A >"$work/A.json"
start_engine A
check "with the plan, it has it again" patiently 60 backup_is 10 100

kill "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
config A | gojq 'del(.fabric)' >"$work/A.json"
start_engine A
check "a host that follows no plan any more has none" patiently 60 backup_is 10 0
check "and uses all paths" patiently 60 usable A 4

# ---- by the job itself
on A job del red
check_fails "a job is not its own backup" '"backup": 10 is the job.s own color' \
	on A job add red src fd00:a::1/128 color 10 backup 10
check "a job names a backup" on A job add red src fd00:a::1/128 color 10 \
	paths spine1,spine2 backup 100
check_equal "it is shown" "backup 100" \
	"$(on A job show red | grep -o 'backup [0-9]*')"
check_equal "and in the module" 100 "$(backup 10)"
check "packets are on its spines" patiently 60 spines_have 50 50 0 0
silence on
check "both fail: packets are on others" patiently 60 spines_have 0 0 50 50
kill -9 "${engine[A]}"
wait "${engine[A]}" 2>/dev/null || :
start_engine A
check "another srpold knows of it" patiently 60 eval "
	on A -j job show red | gojq -e '.[0].backup == 100'"
silence off
check "the spines are back: so are packets" patiently 120 spines_have 50 50 0 0
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
