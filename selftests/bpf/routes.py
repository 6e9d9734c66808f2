# SPDX-License-Identifier: GPL-2.0
"""
Part of routes.sh:

    routes.py cases|neighbor ID PINS ATTACH BPFTOOL MAC-OF-A

sends packets with inner packets of all sorts from L to the SID of A, with and
without forwarding in XDP, and compares where they come out. Prints "ok NAME" or
"not ok NAME | WHY".
"""

import ctypes
import os
import select
import socket
import struct
import subprocess
import sys
import time

from scapy.layers.inet import ICMP, IP, IPOption_NOP, TCP, UDP
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6,
                                IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                                IPv6ExtHdrHopByHop, PadN)
from scapy.layers.l2 import Ether
from scapy.layers.sctp import SCTP
from scapy.packet import Raw

PART, ID, PINS, ATTACH, BPFTOOL, MAC = sys.argv[1:]
SID = "fc00:0:a::46"
MARK = b"routes.py, marked"
DATA = Raw(MARK)
FROM4, TO4 = "192.0.2.2", "192.0.2.3"
FROM6, TO6 = "2001:db8:b::1", "2001:db8:c::1"
MANY4, MANY6 = "203.0.113.1", "2001:db8:ec::1"     # two next hops
libc = ctypes.CDLL(None)


def enter(node):
    fd = os.open(f"/run/netns/{ID}-{node}", os.O_RDONLY)
    assert libc.setns(fd, 0x40000000) == 0
    os.close(fd)


def opened(node, dev):
    enter(node)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.bind((dev, 3))
    s.setsockopt(socket.SOL_SOCKET, 33, 4 << 20)       # SO_RCVBUFFORCE
    return s


def a(*command):
    """A command on A; what it prints."""
    return subprocess.run(["ip", "netns", "exec", f"{ID}-a", *command],
                          check=True, text=True, stdout=subprocess.PIPE).stdout


def a_ip(words):
    a("ip", *words.split())


def sysctl(**settings):
    for name, value in settings.items():
        a("sysctl", "-qw", f"net.{name.replace('__', '.')}={value}")


def reason(name):
    out = subprocess.run([ATTACH, "-r", PINS], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    return int(dict(line.split()[:2] for line in out.splitlines())[name])


def in_xdp(on):
    key = [str(b) for b in struct.pack(
        "<I", int(a("cat", "/sys/class/net/a0/ifindex")))]
    subprocess.run([BPFTOOL, "map", "update" if on else "delete", "pinned",
                    f"{PINS}/forward_from", "key", *key,
                    *(["value", *key] if on else [])], check=True)
    # what is remembered is void once there is another route
    a_ip("-6 route add 2001:db8:ffff::/48 dev lo")
    a_ip("-6 route del 2001:db8:ffff::/48 dev lo")
    a_ip("route add 198.51.100.255 dev lo")
    a_ip("route del 198.51.100.255 dev lo")


def frame(inner, tail=b""):
    return bytes(Ether(dst=MAC, src="02:00:00:00:00:01") /
                 IPv6(src="fd00:a::fe", dst=SID, hlim=64,
                      nh=41 if inner.version == 6 else 4) /
                 Raw(bytes(inner) + tail))


def report(name, good, why=""):
    print(f"ok {name}" if good else f"not ok {name} | {why}", flush=True)


class Rig:
    def __init__(self):
        self.l = opened("l", "la")
        self.out = {"c": opened("c", "c0"), "e": opened("c", "e0")}
        self.sentinels = 0

    def forget(self):
        for s in (*self.out.values(), self.l):
            s.settimeout(0.001)
            try:
                while s.recv(70000):
                    pass
            except (TimeoutError, BlockingIOError):
                pass

    def comes(self, text, seconds):
        """By which devices frames with this text come, until one does."""
        names, end = set(), time.monotonic() + seconds
        while not names and (left := end - time.monotonic()) > 0:
            ready = select.select(self.out.values(), [], [], left)[0]
            for name, s in self.out.items():
                if s not in ready:
                    continue
                got, where = s.recvfrom(70000)
                if text in got and where[2] != socket.PACKET_OUTGOING:
                    names.add(name)
        return names

    def sentinel(self, name, six):
        """Send what A's stack forwards, for its options, and wait until it comes;
        the devices by which marked frames came before it."""
        self.sentinels += 1
        text = f"sentinel {self.sentinels}.".encode()
        if six:
            inner = IPv6(src=FROM6, dst=f"fd00:{name}::1") / IPv6ExtHdrHopByHop(
                options=[PadN(optdata=bytes(4))])
        else:
            inner = IP(src=FROM4, dst={"c": "10.0.3.1", "e": "10.0.4.1"}[name],
                       options=[IPOption_NOP()] * 4)
        self.l.send(frame(inner / UDP(sport=1, dport=9) / Raw(text)))
        end = time.monotonic() + 60
        names, s = set(), self.out[name]
        while time.monotonic() < end:
            s.settimeout(max(0.001, end - time.monotonic()))
            got, where = s.recvfrom(70000)
            if where[2] == socket.PACKET_OUTGOING:
                continue
            if MARK in got:
                names.add(name)
            if text in got:
                return names
        raise TimeoutError(text)

    def where(self, data):
        """Where a packet comes out: by c, by e, or not at all: then those that come
        behind it do, twice, as XDP sends what it has when it has no more. They are
        of the other family, for which nothing is in the way."""
        self.forget()
        self.l.send(data)
        names = self.comes(MARK, 0.05)
        six = data[20] != 41
        for _ in range(2):
            if not names:
                names = self.sentinel("c", six) | self.sentinel("e", six)
        return "".join(sorted(names)) or "-"

    def same(self, name, inners, tail=b"", wanted=None, used=""):
        """The stack and XDP do the same; @wanted: which is this, else all come out;
        @used: by each of these."""
        frames = [frame(inner, tail) for inner in inners]
        seen = []
        for on in (False, True):
            in_xdp(on)
            seen.append("".join(self.where(f) for f in frames))
        report(name, seen[0] == seen[1] and wanted in (None, seen[0]) and
               (wanted or "-" not in seen[0]) and set(used) <= set(seen[0]),
               f"stack {seen[0]}, XDP {seen[1]}, wanted {wanted or used}")

    def fast(self, name, inners):
        """And these are forwarded by XDP, so that the others say something."""
        self.same(name, inners, wanted="c" * len(inners))
        frames = [frame(inner) for inner in inners]
        # more than one goes by the stack if they take seconds
        for _ in range(20):
            before = reason("FORWARDED")
            for f in frames:
                self.where(f)
            n = reason("FORWARDED") - before
            if n >= len(inners) - 1:
                break
        report(f"{name}: in XDP", n >= len(inners) - 1, f"{n} packets")


def udp4(src=FROM4, dst=TO4, sport=1, dport=7777, **fields):
    return IP(src=src, dst=dst, **fields) / UDP(sport=sport, dport=dport) / DATA


def udp6(src=FROM6, dst=TO6, sport=1, dport=7777, **fields):
    return IPv6(src=src, dst=dst, **fields) / \
        UDP(sport=sport, dport=dport) / DATA


def test_plain(rig):
    rig.fast("UDP, IPv4", [udp4(sport=i) for i in range(4)])
    rig.fast("UDP, IPv6", [udp6(sport=i) for i in range(4)])
    rig.fast("TCP", [IPv6(src=FROM6, dst=TO6) / TCP() / DATA,
                     IP(src=FROM4, dst=TO4) / TCP() / DATA])
    rig.fast("pings", [IPv6(src=FROM6, dst=TO6) / ICMPv6EchoRequest() / DATA,
                       IP(src=FROM4, dst=TO4) / ICMP() / DATA])


def test_families(rig):
    """Bytes 8 to 15 of these addresses are what IPv4's look-up would read."""
    a_ip("-6 route add blackhole 2001:db8:dead::/48")
    ones = "0:ffff:ffff:ffff:ffff"
    rig.same("a blackhole, and an address that ends in ones",
             [udp6("2001:db8:b:1:a00:301::", f"2001:db8:dead:{ones}")],
             wanted="-")
    rig.same("a route, and an address that ends in ones",
             [udp6("2001:db8:b:1:a00:401::", f"2001:db8:c:{ones}")],
             wanted="c")
    a_ip("-6 route del blackhole 2001:db8:dead::/48")


def test_sources(rig):
    a_ip("route add default dev ac metric 1")
    for what, src in (("loopback", "127.0.0.1"), ("none", "0.0.0.0"),
                      ("A's own", "10.0.3.254"), ("A's at the fabric",
                                                  "192.0.2.1")):
        rig.same(f"source: {what}", [udp4(src)], wanted="-")
    rig.same("source of IPv6: none", [udp6("::")], wanted="-")
    rig.same("source of IPv6: loopback", [udp6("::1")], wanted="-")
    rig.same("destination: none", [udp4(dst="0.0.0.0")], wanted="-")
    sysctl(ipv4__conf__a0__rp_filter=1)
    rig.same("strict rp_filter", [udp4("10.0.4.77")], wanted="-")
    sysctl(ipv4__conf__a0__rp_filter=0)
    rig.same("and without it", [udp4("10.0.4.77")], wanted="c")
    a_ip("route del default dev ac metric 1")


def test_rules(rig):
    options = IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(4))])
    sctp = SCTP(sport=1, dport=7777)
    cases = (
        ("-6", "ipproto udp dport 7777", "UDP", udp6()),
        ("-6", "ipproto udp dport 7777", "UDP behind options",
         IPv6(src=FROM6, dst=TO6) / options / UDP(sport=1, dport=7777) / DATA),
        ("-6", "ipproto sctp dport 7777", "SCTP, IPv6",
         IPv6(src=FROM6, dst=TO6, nh=132) / sctp / DATA),
        ("-6", "ipproto udp", "a fragment",
         IPv6(src=FROM6, dst=TO6) / IPv6ExtHdrFragment(m=1, id=9) /
         UDP(sport=1, dport=7777) / DATA),
        ("-4", "ipproto sctp dport 7777", "SCTP, IPv4",
         IP(src=FROM4, dst=TO4, proto=132) / sctp / DATA),
        ("-4", "ipproto udp dport 7777", "UDP, IPv4", udp4()),
        ("-4", "iif a0", "what comes by a0", udp4()))
    for family, rule, what, inner in cases:
        a_ip(f"{family} rule add {rule} blackhole")
        rig.same(f"rule {rule}: {what}", [inner], wanted="-")
        a_ip(f"{family} rule del {rule} blackhole")


def test_multipath(rig):
    a_ip("-6 route add 2001:db8:ec::/48 nexthop via fd00:c::1 dev ac "
         "nexthop via fd00:e::1 dev ae")
    a_ip("route add 203.0.113.0/24 nexthop via 10.0.3.1 dev ac "
         "nexthop via 10.0.4.1 dev ae")
    a_ip("route add 198.51.100.0/24 via inet6 fd00:a::fe dev a0")
    a_ip("route add 198.18.0.0/15 via inet6 fd00:a::fe dev a0")
    many = range(1, 13)
    rig.same("flow labels", [udp6(dst=MANY6, fl=i) for i in many], used="ce")
    rig.same("addresses, IPv6",
             [udp6(f"2001:db8:b::{i:x}", MANY6) for i in many], used="ce")
    rig.same("addresses, IPv4",
             [udp4(f"198.51.100.{i}", MANY4) for i in many], used="ce")
    rig.same("an error goes where its flow goes, IPv6",
             [IPv6(src=f"2001:db8:f::{i:x}", dst=MANY6) / ICMPv6PacketTooBig() /
              udp6(MANY6, f"2001:db8:b::{i:x}") for i in many], used="ce")
    rig.same("an error goes where its flow goes, IPv4",
             [IP(src=f"198.18.0.{i}", dst=MANY4) /
              ICMP(type=3, code=4, nexthopmtu=1280) /
              udp4(MANY4, f"198.51.100.{i}") for i in many], used="ce")
    for policy in 1, 2:
        sysctl(ipv4__fib_multipath_hash_policy=policy,
               ipv6__fib_multipath_hash_policy=policy)
        # 1: by ports, 2: by addresses, of inner packets if there are any
        ports, inner = ("ce", "") if policy == 1 else ("", "ce")
        rig.same(f"policy {policy}: ports, IPv4",
                 [udp4(dst=MANY4, sport=i) for i in many], used=ports)
        rig.same(f"policy {policy}: ports, IPv6",
                 [udp6(dst=MANY6, sport=i) for i in many], used=ports)
        rig.same(f"policy {policy}: ports of SCTP",
                 [IP(src=FROM4, dst=MANY4, proto=132) /
                  SCTP(sport=i, dport=1) / DATA for i in many], used=ports)
        rig.same(f"policy {policy}: ports behind options",
                 [IPv6(src=FROM6, dst=MANY6) /
                  IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(4))]) /
                  UDP(sport=i, dport=1) / DATA for i in many], used=ports)
        rig.same(f"policy {policy}: inner addresses",
                 [IP(src=FROM4, dst=MANY4) / IP(src=f"10.9.9.{i}",
                                                dst="10.8.8.8") /
                  UDP() / DATA for i in many], used=inner)
    sysctl(ipv4__fib_multipath_hash_policy=0,
           ipv6__fib_multipath_hash_policy=0)


def test_sizes(rig):
    big = [IPv6(src=FROM6, dst=TO6) / UDP() / DATA / Raw(bytes(n))
           for n in (1400, 3000, 6000, 8000)]
    rig.fast("sizes", big)
    a_ip("link set ac mtu 1500")
    rig.same("3000 bytes behind the inner packet", [udp6(), udp4()],
             tail=bytes(3000), wanted="cc")
    a_ip("link set ac mtu 9000")
    a_ip("-6 route change 2001:db8:c::/48 via fd00:c::1 mtu lock 1400")
    rig.same("the locked MTU of a route", [big[0]], wanted="-")
    a_ip("-6 route change 2001:db8:c::/48 via fd00:c::1")


def test_firewall(rig):
    """From when there is one, all packets pass it."""
    in_xdp(True)
    before = reason("FORWARDED")
    # at once, so that only one of them may go by the stack
    for _ in range(2):
        rig.l.send(frame(udp6()))
    for _ in range(2):
        rig.sentinel("c", False)
    report("without a firewall: in XDP", reason("FORWARDED") > before)
    for what, on, off in (
            ("a firewall", ("nft", "add table ip6 f; add chain ip6 f c { "
                            "type filter hook forward priority 0; "
                            "policy drop; }"), ("nft", "delete table ip6 f")),
            ("forwarding off", ("sysctl", "-qw",
                                "net.ipv6.conf.all.forwarding=0"),
             ("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1"))):
        rig.where(frame(udp6()))
        a(*on)
        report(f"{what}: at once", rig.where(frame(udp6())) == "-")
        a(*off)
        if what == "forwarding off":
            a_ip("-6 route replace default via fd00:a::fe src 2001:db8:a::1")


def test_neighbor():
    """One flow, 10 ms apart, for at most 120 s."""
    rig = Rig()
    in_xdp(True)
    # a flow that XDP has not seen yet, so that there has been no pause in it
    data, end = frame(udp6(sport=4242)), time.monotonic() + 120
    new = bytes.fromhex("020000000099")
    s = rig.out["c"]
    healed = False
    while time.monotonic() < end and not healed:
        rig.l.send(data)
        s.settimeout(0.01)
        try:
            while True:
                got = s.recv(70000)
                healed = healed or (MARK in got and got[:6] == new)
        except (TimeoutError, BlockingIOError):
            pass
    report("a steady flow follows a neighbor that has another address", healed,
           a("ip", "-6", "neigh", "show", "dev", "ac"))


def main():
    if PART == "neighbor":
        test_neighbor()
        return
    rig = Rig()
    for test in (test_plain, test_families, test_sources, test_rules,
                 test_multipath, test_sizes, test_firewall):
        test(rig)


main()
