#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A device that srpol is attached to is moved to another network namespace, as into
# a container: programs go with it. They do nothing there, and are gone as soon as
# anybody looks.

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

# on NODE COMMAND...: the namespaces are H (a host), X (a container), F (a peer)
on() {
	ip netns exec "$@"
}

move() {
	ip -n "$1" link set u0 netns "$2"
	ip -n "$2" link set u0 up
	ip -n "$2" addr replace fd00:a::1/64 dev u0 nodad
	ip -n "$2" route replace fd00:b::/64 via fd00:a::b
}

# F sends to a SID of H; whoever decapsulates that answers
decapsulates() {
	on F ping -n -q -c 1 -W 1 2001:db8::1
}

# F has an answer to what is not encapsulated only
plain() {
	on "$1" ping -n -q -c 1 -W 60 fd00:b::1
}

xdp_on() {
	ip -n "$1" -j link show u0 | gojq -e '.[0].xdp' >/dev/null
}

devs() {
	build/bin/srpol -n "$1" -j dev show | gojq -c '[ .[].dev ]'
}

devs_are() {
	[ "$(devs "$1")" = "$2" ]
}

insmod kmod/srpol.ko
for node in H X F; do
	ip netns add $node
	ip -n $node link set lo up
done
ip link add u0 netns H type veth peer name f0 netns F
ip -n F link set f0 up
ip -n F addr add fd00:a::b/64 dev f0 nodad
ip -n F addr add fd00:b::1/128 dev lo
ip -n F route add 2001:db8::1/128 encap seg6 mode encap segs fc00:0:a::d6 dev f0
ip -n F route add fc00:0:a::/48 via fd00:a::1
for node in H X; do
	on $node sysctl -qw net.ipv6.conf.all.forwarding=1
	ip -n $node addr add 2001:db8::1/128 dev lo
done
ip -n H link set u0 up
ip -n H addr add fd00:a::1/64 dev u0 nodad
build/bin/srpol -n H -b - <<-END
	sid add fc00:0:a::d6 behavior End.DT6
	path add 1 segs fc00:0:b::d6 dev u0 via fd00:a::b
	policy add color 1 endpoint fd00:b::1 candidate segment-list 1
	rule add prio 10 dst fd00:b::/64 color 1
	dev add u0 role uplink
END

check "H has an uplink" busywait 10 decapsulates

# ---- nobody watches
move H X
check "moved to X: the programs go with it" xdp_on X
check "X sends what is its own, as it is" plain X
check_fails "nothing is decapsulated in X" "100% packet loss" decapsulates
check_equal "H has no device" "[]" "$(devs H)"
check "X gets an uplink of it all the same" build/bin/srpol -n X dev add u0
check_equal "it has that" '["u0"]' "$(devs X)"
build/bin/srpol -n X dev del u0
check "without it no program is left" eval "! xdp_on X"
move X H
check "back in H, it can be attached to" build/bin/srpol -n H dev add u0
check "and is an uplink" busywait 10 decapsulates

# ---- back before anybody has looked
move H X
move X H
check_equal "there and back: H does not have it" "[]" "$(devs H)"
check "it can be attached to" build/bin/srpol -n H dev add u0
check "and is an uplink" busywait 10 decapsulates

# ---- H watches its devices
build/bin/srpol -n H dev watch >"$SRPOL_OUT/watch" &
watch=$!
check "the watch knows it" busywait 10 grep -q role "$SRPOL_OUT/watch"
move H X
check "moved to X: detached" busywait 10 eval "! xdp_on X"
move X H
check "back in H: an uplink again" busywait 10 devs_are H '["u0"]'
check "it is used" busywait 10 decapsulates

# ---- the watch looks only when all is over
kill -STOP $watch
move H X
move X H
check "there and back: H does not have it" busywait 10 devs_are H "[]"
kill -CONT $watch
check "it is an uplink again" busywait 10 devs_are H '["u0"]'
check "it is used" busywait 10 decapsulates
build/bin/srpol -n H dev del u0
check "what somebody takes away stays away" busywait 10 \
	grep -q "u0: no more role" "$SRPOL_OUT/watch"
check_equal "it is no uplink" "[]" "$(devs H)"
kill $watch
wait $watch 2>/dev/null || :

# ---- the namespace that it came from ends
move H X
ip netns del H
check "H is gone: X gets an uplink of it" build/bin/srpol -n X dev add u0
build/bin/srpol -n X dev del u0
check "the module can be unloaded" busywait 10 rmmod srpol
for node in X F; do
	ip netns del $node
done
