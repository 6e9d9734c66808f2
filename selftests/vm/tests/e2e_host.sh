#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A virtual port (role host): the applications of a host have its addresses and
# go by it, whatever uplink is up. Two uplinks to the same leaf, multipath
# default route; the one the route and half of the flows use loses its carrier.
#
#	srpol0 ~ srpol0-port  hostA hA (uplink) ---- leaf1 --- fabric --- leaf2
#	2001:db8:a::1               hC (uplink) -- hostc |                   | hB
#	192.0.2.1                                                 hostB: srpol0
#							          2001:db8:b::1
#							          192.0.2.2
# SRPOL_TIMEOUT=400
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
export FABRIC_HOSTS=netns
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/e2e_lib.sh
. selftests/vm/tests/e2e_lib.sh

on() {
	local node=$1
	shift

	srpol -n "$(fabric_ns "$node")" "$@"
}

in_a() {
	fabric_exec hostA "$@"
}

down() {
	printf 'dev del srpol0\ndev del hA\ndev del hC\n' |
		on hostA -force -b - 2>/dev/null || :
	printf 'dev del srpol0\ndev del hB\n' |
		on hostB -force -b - 2>/dev/null || :
	fabric_down
	rmmod srpol || :
}

# The second uplink of host A.
second_uplink() {
	ip link add hC mtu "$FABRIC_MTU" netns "$(fabric_ns hostA)" type veth \
		peer name hostc mtu "$FABRIC_MTU" netns "$(fabric_ns leaf1)"
	ip -n "$(fabric_ns leaf1)" -batch - <<-END
	addr add fd00:c::fe/64 dev hostc nodad
	link set hostc up
	END
	ip -n "$(fabric_ns hostA)" -batch - <<-END
	addr add fd00:c::1/64 dev hC nodad
	link set hC up
	END
	ip -n "$(fabric_ns hostA)" -6 route add default \
		nexthop via fd00:a::fe dev hA nexthop via fd00:c::fe dev hC
	# probes and answers come back by either
	fabric_exec leaf1 ip -6 route append fc00:0:a::/48 via fd00:c::1 \
		dev hostc metric 2048
}

srpol_up() {
	insmod kmod/srpol.ko
	on hostA -b - <<-END
	config set sr-source fd00:a::/64,fd00:b::/64,fd00:c::/64
	sid add fc00:0:a::d6 behavior End.DT46
	path add 1 segs fc00:0:21::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe
	path add 2 segs fc00:0:22::1,fc00:0:12::1,fc00:0:b::d6 dev hC via fd00:c::fe
	policy add color 1 endpoint fd00:b::1 candidate segment-list 1 segment-list 2
	endpoint add 2001:db8:b::/48 to fd00:b::1
	endpoint add 192.0.2.2/32 to fd00:b::1
	rule add prio 10 color 1
	dev add hA role uplink
	dev add hC role uplink
	END
	on hostB -b - <<-END
	sid add fc00:0:b::d6 behavior End.DT46
	path add 1 segs fc00:0:21::1,fc00:0:11::1,fc00:0:a::d6 dev hB via fd00:b::fe
	policy add color 1 endpoint fd00:a::1 candidate segment-list 1
	endpoint add 2001:db8:a::/48 to fd00:a::1
	endpoint add 192.0.2.1/32 to fd00:a::1
	rule add prio 1 color 1
	dev add hB role uplink
	END
}

up() {
	on hostA -j path show | gojq -e 'length == 2 and all(.state == "up")' &&
		on hostB -j path show | gojq -e 'length == 1 and all(.state == "up")'
}

# What the host has that "dev del" is to take away again.
state() {
	in_a ip -o link show | cut -d : -f 2
	in_a ip -6 rule show
	in_a ip -4 rule show
	in_a ip -6 route show table all
	in_a ip -4 route show table all
	in_a ip -6 neigh show nud permanent
}

source_of() {
	in_a ip route get "$1" | sed -n 's/.* src \([^ ]*\).*/\1/p' | head -n 1
}

iperf() {
	fabric_exec hostB iperf3 -s -1 -D -I "$SRPOL_OUT/pid" >/dev/null
	busywait 20 fabric_exec hostB \
		sh -c 'ss -Hltn "sport = :5201" | grep -q .' &&
		in_a timeout 60 iperf3 -c "$1" -n 1M
}

rx() {
	fabric_exec "$1" cat "/sys/class/net/$2/statistics/rx_packets"
}

rm -f "$SRPOL_OUT"/{ready,sent,go-on}
fabric_up
at_exit down
second_uplink
srpol_up
check "the paths come up" busywait 20 up
state >"$SRPOL_OUT/before"
tc_links() {
	find "/sys/fs/bpf/srpol/$(fabric_ns hostA)" -name 'link_tc_*' | sort
}
tc_links >"$SRPOL_OUT/tc_links"

check "a virtual port" on hostA dev add srpol0 role host \
	address 2001:db8:a::1/128 address 192.0.2.1/32 \
	prefix 2001:db8:b::/48 prefix 192.0.2.2/32
check "one on the other host, which gets an address later" \
	on hostB dev add srpol0 role host address 192.0.2.2/32 \
	prefix 192.0.2.1/32 prefix 2001:db8:a::/48
fabric_exec hostB ip addr add 2001:db8:b::1/128 dev srpol0 nodad
check "it is taken up" on hostB dev change srpol0

on hostA dev show srpol0 | tee "$SRPOL_OUT/show" | sed 's/^/# /'
check "srpol dev show knows it" grep -q \
	'role host up .* hook tc' "$SRPOL_OUT/show"
check "and what it has" grep -q 'peer srpol0-port address.* prefix' \
	"$SRPOL_OUT/show"
check_equal "MTU: what the paths leave" $((FABRIC_MTU - 80)) \
	"$(in_a cat /sys/class/net/srpol0/mtu)"
check_equal "source, IPv6" 2001:db8:a::1 "$(source_of 2001:db8:b::1)"
check_equal "source, IPv4" 192.0.2.1 "$(source_of 192.0.2.2)"
check "the gateway is permanent" eval \
	'in_a ip -6 neigh show dev srpol0 | grep -q PERMANENT'
check_fails "its MAC is not the device's own" nothing-found eval \
	'in_a ip -6 neigh show dev srpol0 |
	 grep "$(in_a cat /sys/class/net/srpol0/address)" || {
	 echo nothing-found; false; }'
on hostA save "$SRPOL_OUT/saved"
check "srpol save makes it again" grep -q \
	'^dev add srpol0 role host address.* prefix .* peer srpol0-port mtu' \
	"$SRPOL_OUT/saved"
check "what is saved is what there is" on hostA replace -f "$SRPOL_OUT/saved"
on hostA save "$SRPOL_OUT/saved-again"
check "and stays" cmp "$SRPOL_OUT/saved" "$SRPOL_OUT/saved-again"

check "another address and prefix, by one command" on hostB dev change srpol0 \
	address 2001:db8:b::9/128 prefix 2001:db8:aa::/48
check "the address is reached" in_a ping -q -c 1 -W 20 2001:db8:b::9
before=$(rx hostB srpol0)
check "ping, IPv6" in_a ping -q -c 3 -i 0.1 -W 20 2001:db8:b::1
check "ping, IPv4" in_a ping -q -c 3 -i 0.1 -W 20 192.0.2.2
check "all of it came in by the virtual port" \
	[ $(($(rx hostB srpol0) - before)) -ge 6 ]
check "TCP with default offloads, IPv6" iperf 2001:db8:b::1
check "TCP with default offloads, IPv4" iperf 192.0.2.2
check_equal "no checksum was wrong" 0 "$(fabric_exec hostB nstat -asz \
	TcpInCsumErrors | awk '$1 == "TcpInCsumErrors" { print $2 }')"

# 16 UDP flows of numbered packets and one of TCP; what is missing at B.
cat >"$SRPOL_OUT/flows.py" <<'END'
import os, socket, struct, sys, time

ADDR, FLOWS = "2001:db8:b::1", 16

def receive(ready):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)   # SO_RCVBUFFORCE
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((ADDR, 5600))
    open(ready, "w").close()
    got = [set() for _ in range(FLOWS)]
    last = [None] * FLOWS
    s.settimeout(120)
    while None in last:
        flow, nr, final = struct.unpack("!III", s.recv(100))
        if final:
            last[flow] = nr
        else:
            got[flow].add(nr)
    for flow in range(FLOWS):
        print(flow, last[flow], last[flow] - len(got[flow]))

def send(go_on, report):
    socks = []
    for flow in range(FLOWS):
        s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        s.bind(("::", 6000 + flow))
        s.connect((ADDR, 5600))
        socks.append(s)
    nr = 0
    while os.path.exists(go_on):
        for flow, s in enumerate(socks):
            s.send(struct.pack("!III", flow, nr, 0))
        nr += 1
        with open(report, "w") as f:
            f.write(str(nr))
        time.sleep(0.06)
    # the end is said often enough to be heard
    for _ in range(20):
        for flow, s in enumerate(socks):
            try:
                s.send(struct.pack("!III", flow, nr, 1))
            except ConnectionRefusedError:
                return          # it has heard
        time.sleep(0.05)

(receive if sys.argv[1] == "receive" else send)(*sys.argv[2:])
END

rounds() {
	[ "$(cat "$SRPOL_OUT/sent" 2>/dev/null || echo 0)" -ge "$1" ]
}

tx() {
	in_a cat "/sys/class/net/$1/statistics/tx_packets"
}

fabric_exec hostB python3 "$SRPOL_OUT/flows.py" receive "$SRPOL_OUT/ready" \
	>"$SRPOL_OUT/lost" 2>"$SRPOL_OUT/lost.err" &
receiver=$!
busywait 60 test -e "$SRPOL_OUT/ready"
touch "$SRPOL_OUT/go-on"
by_a=$(tx hA) by_c=$(tx hC)
in_a python3 "$SRPOL_OUT/flows.py" send "$SRPOL_OUT/go-on" "$SRPOL_OUT/sent" &
sender=$!
check "flows are under way" busywait 120 rounds 20
echo "# packets by hA: $(($(tx hA) - by_a)), by hC: $(($(tx hC) - by_c))"
check "by both uplinks" [ $(($(tx hA) - by_a)) -ge 20 -a \
	$(($(tx hC) - by_c)) -ge 20 ]
# the far end goes, so that this one loses its carrier
fabric_exec leaf1 ip link set host down
now=$(cat "$SRPOL_OUT/sent")
check "they go on" busywait 120 rounds $((now + 30))
rm "$SRPOL_OUT/go-on"
wait $sender || not_ok "they were sent"
if wait $receiver; then
	ok "all flows end"
else
	not_ok "all flows end" "$(cat "$SRPOL_OUT/lost.err")"
fi
sed 's/^/# flow, sent, lost: /' "$SRPOL_OUT/lost"
check_equal "no flow lost more than a packet" "" \
	"$(awk '$3 > 1' "$SRPOL_OUT/lost")"
check_equal "there were 16" 16 "$(wc -l <"$SRPOL_OUT/lost")"
check "TCP by the other uplink" iperf 2001:db8:b::1
check_equal "the virtual port is up" up "$(in_a cat \
	/sys/class/net/srpol0/operstate)"

# What srpol leaves alone is not to come back in a circle.
on hostA rule del prio 10
check_fails "what is not steered is unreachable, and its sender is told" \
	"[Uu]nreachable" in_a ping -c 1 -W 5 2001:db8:b::1
on hostA rule add prio 10 color 1
check "steered again" busywait 10 in_a ping -q -c 1 -W 2 2001:db8:b::1

# Without the first uplink's routes, which went with its carrier.
fabric_exec leaf1 ip link set host up
check "the first path is back" busywait 30 up
check "removed" on hostA dev del srpol0
# but for the routes of the uplinks, whose carrier came and went
others() {
	grep -v 'dev h[AC]\|^default\|nexthop' || :
}
check_equal "with all that it had" "$(others <"$SRPOL_OUT/before")" \
	"$(state | others)"
check_equal "programs at TC ingress are those of the uplinks" \
	"$(<"$SRPOL_OUT/tc_links")" "$(tc_links)"
check_fails "only what srpol made is a virtual port" "did not make it" \
	on hostA dev add lo role host
