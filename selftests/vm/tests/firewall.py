#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Firewalls that track connections, as firewalld, Docker and kube-proxy make them: which
packets they see of those that srpol steers, and what srpol doctor says of it.

    pod eth0 --- p0 (port)  A  u0 --- u0  B
    2001:db8:1::2             uplinks      2001:db8:b::1
    10.1.0.2                               10.9.0.1

All that A and B send each other is steered, as is what the pod sends to B.

SRPOL_TIMEOUT=600
"""

import json
import os
import socket
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import before, busywait, cleanup, eq, main, match, run, test  # noqa: E402

FAMILIES = {6: socket.AF_INET6, 4: socket.AF_INET}
FAR = {6: "2001:db8:b::1", 4: "10.9.0.1"}
PORT = 7000

# What kube-proxy has in its forward chain
KUBE = """
table inet kube {
	chain forward {
		type filter hook forward priority filter; policy accept;
		ct state invalid counter drop
	}
}
"""

# What Docker has there; EARLY comes before it
DOCKER = """
table inet docker {
	chain forward {
		type filter hook forward priority filter; policy drop;
		EARLY
		ct state established,related accept
		iifname "p0" accept
		counter
	}
}
"""

# A zone of firewalld that has one port open
FIREWALLD = """
table inet firewalld {
	chain reverse_path {
		type filter hook prerouting priority raw;
		meta nfproto ipv6 icmpv6 type nd-neighbor-solicit accept
		fib saddr . mark . iif oif missing counter drop
	}
	chain own {
		type filter hook input priority filter; policy accept;
		EARLY
		ct state established,related accept
		iifname "lo" accept
		ct state invalid counter drop
		meta l4proto ipv6-icmp accept
		tcp dport OPEN accept
		counter reject with icmpx type admin-prohibited
	}
	chain sent {
		type filter hook output priority filter; policy drop;
		ct state established,related,new accept
	}
}
"""

# The advice of srpol-dev(8)
NOTRACK = """
table inet srpol {
	chain prerouting {
		type filter hook prerouting priority raw;
		iifname "u0" ip6 daddr 2001:db8:1::/64 notrack
		iifname "u0" ip daddr 10.1.0.0/24 notrack
	}
}
"""
ACCEPT = ('iifname "u0" ip6 daddr 2001:db8:1::/64 accept\n'
          'iifname "u0" ip daddr 10.1.0.0/24 accept')

net.load_module()
cleanup(run, "rm", "-rf", "/sys/fs/bpf/srpol")
a, b, pod = net.Netns(), net.Netns(), net.Netns()
a.ip(f"link add u0 type veth peer name u0 netns {b.name}\n"
     f"link add p0 type veth peer name eth0 netns {pod.name}\n"
     "link set u0 up\nlink set p0 up\naddr add fd00:1::1/64 dev u0 nodad\n"
     "addr add 2001:db8:1::1/64 dev p0 nodad\naddr add 10.1.0.1/24 dev p0\n"
     "route add 2001:db8:b::1 via fd00:1::2\n"
     "route add 10.9.0.1 via inet6 fd00:1::2 dev u0\n")
b.ip("link set u0 up\naddr add fd00:1::2/64 dev u0 nodad\n"
     "addr add 2001:db8:b::1/128 dev lo nodad\naddr add 10.9.0.1/32 dev lo\n"
     "route add 2001:db8::/32 via fd00:1::1 src 2001:db8:b::1\n"
     "route add 10.1.0.0/24 via inet6 fd00:1::1 dev u0 src 10.9.0.1\n")
pod.ip("link set eth0 up\naddr add 2001:db8:1::2/64 dev eth0 nodad\n"
       "addr add 10.1.0.2/24 dev eth0\n"
       "route add default via 2001:db8:1::1\nroute add default via 10.1.0.1\n")


def srpol(where, *words, batch=None, status=0):
    done = subprocess.run(
        ["srpol", "-n", where.name, *words, *(("-b", "-") if batch else ())],
        input=batch, text=True, capture_output=True, check=False)
    eq(done.returncode, status, f"exit status of {words}: {done.stderr!r}")
    return done.stdout


def path(where, number):
    found, = json.loads(srpol(where, "-j", "path", "show", str(number)))
    return found["state"], found["reason"]


def setup(where, sid, far_sid, far, *prefixes):
    with where:
        where.sysctl("net/ipv6/conf/all/forwarding", 1)
        where.sysctl("net/ipv4/ip_forward", 1)
    srpol(where, batch=f"dev add u0\nsid add {sid} behavior End.DT46\n"
          f"path add 1 segs {far_sid} dev u0 via {far}\n"
          "policy add color 1 endpoint :: candidate segment-list 1\n" +
          "".join(f"rule add prio {i} dst {prefix} color 1\n"
                  for i, prefix in enumerate(prefixes, 1)))
    cleanup(srpol, where, "dev", "del", "u0")
    busywait(lambda: path(where, 1)[0] == "up", what="path up")


setup(a, "fc00:a::46", "fc00:b::46", "fd00:1::2", "2001:db8:b::/48",
      "10.9.0.0/24")
setup(b, "fc00:b::46", "fc00:a::46", "fd00:1::1", "2001:db8:1::/64",
      "2001:db8:a::/64", "10.1.0.0/24")


def firewall(where, rules, early="", opened=PORT):
    text = rules.replace("EARLY", early).replace("OPEN", str(opened))
    where.run("nft", "-f", "-", input=text)


def dropped(where):
    """Packets that the counters of the firewall have counted."""
    rules = json.loads(where.run("nft", "-j", "list", "ruleset"))["nftables"]
    return sum(e["counter"]["packets"] for r in rules if "rule" in r
               for e in r["rule"]["expr"] if isinstance(e.get("counter"), dict))


def notes():
    """What doctor of A says of firewalls; it is in nobody's way otherwise."""
    checks = json.loads(srpol(a, "-j", "doctor"))
    return [c["text"] for c in checks if c["check"] == "firewall"]


class Call:
    """A TCP connection to B, on which bytes come and go."""

    def __init__(self, where, family):
        with b:
            self.server = socket.create_server(
                (FAR[family], PORT), family=FAMILIES[family])
        with where:
            self.client = socket.socket(FAMILIES[family])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.server.close()

    def passes(self):
        self.client.settimeout(60)
        self.server.settimeout(60)
        self.client.connect(self.server.getsockname()[:2])
        peer, _ = self.server.accept()
        with peer:
            peer.settimeout(60)
            self.client.sendall(b"there")
            eq(peer.recv(100), b"there")
            peer.sendall(b"back" * 2000)
            got = 0
            while got < 8000:
                got += len(self.client.recv(8000))

    def is_dropped_at(self, where):
        """Does not connect, since the firewall drops something?"""
        had = dropped(where)
        self.client.setblocking(False)
        self.client.connect_ex(self.server.getsockname()[:2])
        busywait(lambda: dropped(where) > had, what="dropped")
        try:
            self.client.getpeername()
        except OSError:
            return True
        return False


def pass_all(where, families=(6, 4)):
    for family in families:
        with Call(where, family) as call:
            call.passes()


@before
def clean():
    for where in a, b:
        where.run("nft", "flush", "ruleset")


@test
def own():
    "a host's own connections are tracked as they are without srpol"
    firewall(a, FIREWALLD, opened=22)
    firewall(b, FIREWALLD)
    pass_all(a)
    eq((dropped(a), dropped(b)), (0, 0), "dropped")
    eq(notes(), [], "doctor")


@test
def closed():
    "what is decapsulated passes the firewall: a port that is closed stays so"
    firewall(b, FIREWALLD, opened=22)
    for family in 6, 4:
        with Call(a, family) as call:
            eq(call.is_dropped_at(b), True, f"IPv{family}")


@test
def virtual_port():
    "connections of a virtual port are tracked, and pass reverse-path filters"
    a.ip("route del 2001:db8:b::1 via fd00:1::2\n")
    cleanup(srpol, a, "dev", "del", "srpol0")
    srpol(a, "dev", "add", "srpol0", "role", "host", "address",
          "2001:db8:a::1/128", "prefix", "2001:db8:b::/48")
    firewall(a, FIREWALLD, opened=22)
    pass_all(a, (6,))
    eq(dropped(a), 0, "dropped")
    eq(notes(), [], "doctor")
    a.ip("route add 2001:db8:b::1 via fd00:1::2\n")


@test
def port():
    "answers to a port are invalid to connection tracking, unless exempted"
    srpol(a, "dev", "add", "p0", "role", "port")
    cleanup(srpol, a, "dev", "del", "p0")
    pass_all(pod)
    eq(notes(), [], "no firewall")
    for name, rules, early, exempt in (
            ("kube forward", KUBE, "", NOTRACK),
            ("docker forward", DOCKER, ACCEPT, "")):
        firewall(a, rules)
        for family in 6, 4:
            with Call(pod, family) as call:
                eq(call.is_dropped_at(a), True, f"{name}, IPv{family}")
        found = notes()
        eq(len(found), 2, found)
        for family, text in zip((6, 4), found):
            match(text, rf"may drop the answers .*\(IPv{family}: {name}\)$")
        clean()
        firewall(a, rules, early)
        if exempt:
            firewall(a, exempt)
        pass_all(pod)
        eq(dropped(a), 0, f"{name}, exempted")
        clean()
    firewall(a, KUBE.replace("inet", "ip"))
    found, = notes()
    match(found, r"\(IPv4: kube forward\)$", "a table of IPv4")
    clean()
    firewall(a, "".join(KUBE.replace("kube", f"kube{i}") for i in range(50)))
    found = notes()
    eq(len(found), 2, found)
    for text in found:
        match(text, r": (kube\d+ forward, )+\.\.\.\)$", "no room for all names")
    clean()
    firewall(a, DOCKER.replace("ct state established,related accept", ""))
    eq(notes(), [], "no connections are tracked")


@test
def report():
    "what routers report is invalid to connection tracking, unless accepted"
    srpol(a, "config", "set", "report-from", "fd00:1::/64")
    cleanup(srpol, a, "config", "set", "report-from", "none")
    srpol(a, batch="path add 9 segs fc00:9::1 dev u0 via fd00:1::2\n"
          "policy add color 9 endpoint :: candidate segment-list 9\n"
          "rule add prio 9 dst 2001:db8:9::/48 color 9\n")
    a.ip("route add 2001:db8:9::/48 via fd00:1::2\n")

    def send():
        """B has no route to the SID, and says so."""
        with a, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            s.sendto(b"x", ("2001:db8:9::1", 9))

    early = ("icmpv6 type destination-unreachable ip6 saddr fd00:1::/64 "
             "accept")
    eq(notes(), [], "no firewall")
    firewall(a, FIREWALLD, opened=22)
    send()
    busywait(lambda: dropped(a) > 0, what="dropped")
    eq(path(a, 9), ("up", "none"), "not accepted")
    found, = notes()
    match(found, r"report-from report, as invalid \(firewalld own\)$")
    clean()
    firewall(a, FIREWALLD, early, 22)

    def reported():
        send()
        return path(a, 9) == ("down", "unreachable-reported")

    busywait(reported, what="accepted")


main()
