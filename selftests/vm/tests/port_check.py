#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What a port may send: sources, packets for the host itself, routes that change.

    pod eth0 ---- p0 ns (port; 2001:db8:1::1/64, 10.1.0.1/24) u0 (uplink)
    2001:db8:1::2, 10.1.0.2; in other hands 2001:db8:66::6, 10.66.0.6

SRPOL_TIMEOUT=600
"""

import ctypes
import json
import os
import platform
import socket
import struct
import subprocess

from cli_lib import forget, net, ns, show, srpol, srpol_error, REFUSED
from ktap import cleanup, eq, main, match, run, test

GOOD = {6: "2001:db8:1::2", 4: "10.1.0.2"}
SPOOFED = {6: "2001:db8:66::6", 4: "10.66.0.6"}
FAR = {6: "2001:db8:b::1", 4: "192.0.2.1"}
HOST = {6: ("2001:db8:1::1", "fd00:1::1"), 4: ("10.1.0.1", "10.2.0.1")}
FAMILY = {6: socket.AF_INET6, 4: socket.AF_INET}

pod = net.Netns()
ns.ip(f"link add p0 type veth peer eth0 netns {pod.name}\n"
      "addr add 2001:db8:1::1/64 dev p0 nodad\naddr add 10.1.0.1/24 dev p0\n"
      "link set p0 up\n"
      "route add default via fd00:1::2 dev u0\n"
      "addr add 10.2.0.1/24 dev u0\n"
      "neigh add 10.2.0.2 lladdr 02:00:00:00:00:02 dev u0\n"
      "route add default via 10.2.0.2 dev u0\n"
      "route add blackhole 10.77.0.0/16\n")
pod.ip("addr add 2001:db8:1::2/64 dev eth0 nodad\n"
       "addr add 10.1.0.2/24 dev eth0\n"
       "addr add 2001:db8:66::6/128 dev eth0 nodad\n"
       "addr add 10.66.0.6/32 dev eth0\nlink set eth0 up\n"
       "route add default via 2001:db8:1::1\nroute add default via 10.1.0.1\n")
with ns:
    ns.sysctl("net/ipv6/conf/all/forwarding", 1)
    ns.sysctl("net/ipv4/ip_forward", 1)


def reasons():
    found = {}

    def walk(value):
        if isinstance(value, dict):
            if "reason" in value and "packets" in value:
                found[value["reason"]] = value["packets"]
            for v in value.values():
                walk(v)
        elif isinstance(value, list):
            for v in value:
                walk(v)

    walk(json.loads(srpol("-j", "stats", "show", "all")))
    return found


def send(src, dst, family, port=9, count=2, where=pod):
    """Datagrams of one flow."""
    with where:
        s = socket.socket(FAMILY[family], socket.SOCK_DGRAM)
    with s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((src, 4000))
        for _ in range(count):
            s.sendto(b"x" * 64, (dst, port))


def outcome(*args, **kwargs):
    """What becomes of such packets."""
    before = reasons()
    send(*args, **kwargs)
    now = reasons()
    return {k: now[k] - before[k] for k in ("steered", "spoofed", "local", "bypass")
            if now[k] != before[k]}


def port(*words):
    if any(d["dev"] == "p0" for d in show("dev")):
        srpol("dev", "del", "p0")
    srpol("dev", "add", "p0", "role", "port", *words)
    return [d["source"] for d in show("dev") if d["dev"] == "p0"][0]


@test
def strict():
    "strict, the default where a route leads back by the port"
    eq(port(), "strict", "chosen")
    match(srpol("export", "srpol"), "dev add p0 role port source strict")
    for family in 6, 4:
        eq(outcome(GOOD[family], FAR[family], family), {"steered": 2}, family)
        for _ in range(2):
            eq(outcome(SPOOFED[family], FAR[family], family), {"spoofed": 2},
               family)
    flows = {f["src"] for f in show("flow")}
    eq(flows & set(SPOOFED.values()), set(), "no flow is made of them")


@test
def local():
    "what is for the host itself goes to its stack"
    for family in 6, 4:
        for address in HOST[family]:
            with ns:
                s = socket.socket(FAMILY[family], socket.SOCK_DGRAM)
            with s:
                s.bind((address, 7000))
                s.settimeout(20)
                eq(outcome(GOOD[family], address, family, 7000),
                   {"local": 2}, address)
                eq(s.recv(100), b"x" * 64, "and arrives")


@test
def routes_change():
    "known flows are looked at again when routes change"
    eq(outcome(GOOD[6], FAR[6], 6), {"steered": 2})
    ns.ip("route add 2001:db8:1::2/128 via fd00:1::2 dev u0\n")
    eq(outcome(GOOD[6], FAR[6], 6, count=9)["spoofed"] >= 8, True,
       "the route back leads elsewhere")
    ns.ip("route del 2001:db8:1::2/128\n")
    eq(outcome(GOOD[6], FAR[6], 6), {"steered": 2}, "as before")
    ns.ip(f"addr add {FAR[4]}/32 dev u0\n")
    eq(outcome(GOOD[4], FAR[4], 4), {"local": 2}, "it is this host's now")
    ns.ip(f"addr del {FAR[4]}/32 dev u0\n")
    eq(outcome(GOOD[4], FAR[4], 4), {"steered": 2}, "no more")


@test
def no_route():
    "a destination that there is no route to is steered as the rules say"
    ns.ip("route del default via fd00:1::2 dev u0\n"
          "route del default via 10.2.0.2 dev u0\n")
    for family in 6, 4:
        eq(outcome(GOOD[family], FAR[family], family), {"steered": 2}, family)
    ns.ip("route add default via fd00:1::2 dev u0\n"
          "route add default via 10.2.0.2 dev u0\n")


@test
def bypass():
    "what a rule leaves alone at a port is left alone at the uplink as well"
    srpol(batch="rule add prio 0 name alone dev p0 bypass\n")
    for family in 6, 4:
        eq(outcome(GOOD[family], FAR[family], family), {"bypass": 2}, family)
    counted = [r["stats"]["packets"]
               for r in json.loads(srpol("-s", "-j", "rule", "show"))
               if r.get("name") == "alone"]
    eq(counted, [4], "by its rule")
    eq(outcome("2001:db8:1::1", FAR[6], 6, where=ns), {"steered": 2},
       "not what others send")
    srpol("rule", "del", "prio", "0")
    eq(outcome(GOOD[6], FAR[6], 6), {"steered": 2}, "without the rule")


class Marker:
    """A program at TC egress of a device, before others, that sets tc_index."""

    BPF = {"x86_64": 321}.get(platform.machine(), 280)
    PROG_LOAD, LINK_CREATE = 5, 28
    SCHED_CLS, TCX_EGRESS, BEFORE = 3, 47, 8

    def __init__(self, where, dev, value):
        insns = ctypes.create_string_buffer(b"".join(struct.pack("=BBhi", *i) for i in (
            (0xb7, 2, 0, value),        # r2 = value
            (0x63, 1 | 2 << 4, 44, 0),  # skb->tc_index = r2
            (0xb7, 0, 0, -1),           # TCX_NEXT
            (0x95, 0, 0, 0))))
        license_ = ctypes.create_string_buffer(b"GPL")
        prog = self.bpf(self.PROG_LOAD, struct.pack(
            "=IIQQIIQII16sII", self.SCHED_CLS, 4, ctypes.addressof(insns),
            ctypes.addressof(license_), 0, 0, 0, 0, 0, b"marker", 0,
            self.TCX_EGRESS))
        attr = struct.pack("=IIIIIIQ", prog, where.ifindex(dev),
                           self.TCX_EGRESS, self.BEFORE, 0, 0, 0)
        with where:
            self.link = self.bpf(self.LINK_CREATE, attr)
        os.close(prog)

    def bpf(self, command, attr):
        libc = ctypes.CDLL(None, use_errno=True)
        fd = libc.syscall(self.BPF, command, attr, len(attr))
        if fd < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return fd

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.link)


@test
def forged_bypass():
    "the mark of what a port left alone counts from the port's program only"
    mark = 0x7300
    srpol(batch="rule del prio 1\nrule add prio 2 dev u0 color 1\n")
    try:
        for family in 6, 4:
            eq(outcome(GOOD[family], FAR[family], family), {"steered": 2},
               "the rule is for the uplink")
        with Marker(pod, "eth0", mark | 3):
            for family in 6, 4:
                eq(outcome(GOOD[family], FAR[family], family), {"steered": 2},
                   "the mark that the pod sets is taken away")
        with Marker(ns, "u0", mark):
            eq(outcome("2001:db8:1::1", FAR[6], 6, where=ns), {"steered": 2},
               "on what did not come in by a port it is not believed")
            eq(outcome(GOOD[6], FAR[6], 6), {}, "the program does set it")
    finally:
        srpol(batch="rule del prio 2\nrule add prio 1 color 1\n")


@test
def loose_and_none():
    "loose: any source that is routed, but no address of this host; none: all"
    eq(port("source", "loose"), "loose")
    pod.ip("addr add 10.77.0.7/32 dev eth0\naddr add 10.1.0.1/32 dev eth0\n"
           "route del default\nroute add default dev eth0\n"
           "neigh replace 192.0.2.1 lladdr "
           + ns_mac("p0") + " dev eth0\n")
    eq(outcome(SPOOFED[6], FAR[6], 6), {"steered": 2}, "by the default route")
    eq(outcome("10.77.0.7", FAR[4], 4), {"spoofed": 2}, "blackholed")
    eq(outcome("10.1.0.1", FAR[4], 4), {"spoofed": 2}, "the host's own")
    eq(port("source", "none"), "none")
    eq(outcome("10.77.0.7", FAR[4], 4), {"steered": 2}, "anything")
    eq(outcome(GOOD[6], HOST[6][0], 6), {"local": 2}, "the host's all the same")
    match(srpol_error("dev", "add", "u1", "source", "strict", status=REFUSED),
          "at ports only")


@test
def not_steered():
    "what is not steered has its source checked as well"
    eq(port(), "strict", "chosen")

    def tunnel(src):
        """IPv6 in IPv6, which no rule is for."""
        before = reasons()
        with pod:
            s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 41)
        with s:
            s.bind((src, 0))
            s.sendto(b"\x60" + b"\0" * 5 + b"\x3b\x40" + b"\0" * 32,
                     (FAR[6], 0))
        now = reasons()
        return [k for k in ("tunneled", "spoofed") if now[k] != before[k]]

    eq(tunnel(GOOD[6]), ["tunneled"], "its own source")
    eq(tunnel(SPOOFED[6]), ["spoofed"], "another's")

    def headers(src):
        """More headers than anybody reads."""
        before = reasons()
        with pod:
            s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 60)
        with s:
            s.bind((src, 0))
            # destination options, seven times
            s.sendto((b"\x3c\0\1\4" + b"\0" * 4) * 7, (FAR[6], 0))
        now = reasons()
        return [k for k in ("unparsed", "spoofed") if now[k] != before[k]]

    eq(headers(GOOD[6]), ["unparsed"], "its own source")
    eq(headers(SPOOFED[6]), ["spoofed"], "another's")

    def spoofed(l3, mac=None):
        """Is a packet, sent as it is from eth0, taken for one?"""
        before = reasons()
        with pod:
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        with s:
            s.bind(("eth0", 0))
            to = bytes.fromhex((mac or ns_mac("p0")).replace(":", ""))
            s.send(to + b"\2\0\0\0\0\7" + (b"\x08\0" if l3[0] == 0x45 else
                                            b"\x86\xdd") + l3)
        now = reasons()
        # the pod's own stack sends what is of the link whenever it likes
        eq(any(now[k] != before[k] for k in
               ("foreign-mac", "link-scope", "spoofed")), True, "it is counted")
        return now["spoofed"] != before["spoofed"]

    def packed(address):
        return socket.inet_pton(socket.AF_INET6 if ":" in address else
                                socket.AF_INET, address)

    def solicit(src, dst):
        return b"\x60\0\0\0\0\x18\x3a\xff" + packed(src) + packed(dst) + \
            b"\x87" + b"\0" * 7 + packed(dst)

    def udp(src, dst):
        head = b"\x45\0\0\x1c\0\0\0\0\x40\x11" + b"\0\0" + packed(src) + \
            packed(dst)
        total = sum(head[i] << 8 | head[i + 1] for i in range(0, 20, 2))
        total = (total & 0xffff) + (total >> 16)
        total = ~(total + (total >> 16)) & 0xffff
        return head[:10] + total.to_bytes(2, "big") + head[12:] + \
            b"\0\x09\0\x09\0\x08\0\0"

    group, another = "ff:ff:ff:ff:ff:ff", "02:00:00:00:00:08"
    for l3, mac, wanted, why in (
            (solicit(GOOD[6], HOST[6][0]), None, False, "it looks for us"),
            (solicit("fe80::9", HOST[6][0]), None, False, "as it may, too"),
            (solicit(SPOOFED[6], FAR[6]), None, True, "as if it did"),
            (udp("169.254.9.9", FAR[4]), None, True, "no address of its own"),
            (udp("240.1.2.3", FAR[4]), None, True, "nor is that one"),
            (udp(GOOD[4], "224.0.0.9"), None, False, "to a group"),
            (udp(GOOD[4], HOST[4][0]), group, False, "to a group's MAC"),
            (udp(SPOOFED[4], HOST[4][0]), group, True, "to that, another's"),
            (udp(SPOOFED[4], HOST[4][0]), another, False, "bridged, if at all")):
        eq(spoofed(l3, mac), wanted, why)
    eq(port("source", "none"), "none")
    eq(headers(SPOOFED[6]), ["unparsed"], "not checked")
    eq(tunnel(SPOOFED[6]), ["tunneled"], "not checked")


@test
def vrf():
    "a port in a VRF: the routes of its table count"
    ns.ip("link add blue type vrf table 77\nlink set blue up\n"
          "link set p0 master blue\n")
    ns.ip("addr replace 2001:db8:1::1/64 dev p0 nodad\n"
          "route replace 2001:db8:1::/64 dev p0 table 77\n")
    try:
        eq(port(), "strict", "chosen")
        for family in 6, 4:
            eq(outcome(GOOD[family], FAR[family], family), {"steered": 2},
               family)
            eq(outcome(SPOOFED[family], FAR[family], family), {"spoofed": 2},
               family)
    finally:
        ns.ip("link del blue\n")
        ns.ip("addr replace 2001:db8:1::1/64 dev p0 nodad\n"
              "addr replace 10.1.0.1/24 dev p0\n")


def ns_mac(dev):
    return json.loads(run("ip", "-n", ns.name, "-j", "link", "show", "dev",
                          dev))[0]["address"]


@test
def virtual_port():
    "a virtual port: its own addresses, by default"
    srpol("dev", "add", "srpol0", "role", "host", "address",
          "2001:db8:a::1/128", "prefix", "2001:db8:b::/48")
    eq([d["source"] for d in show("dev") if d["dev"] == "srpol0"], ["strict"])
    eq(outcome("2001:db8:a::1", FAR[6], 6, where=ns), {"steered": 2})
    eq(outcome("2001:db8:1::1", FAR[6], 6, where=ns), {"spoofed": 2})
    ns.ip("addr add 2001:db8:a::2/128 dev srpol0 nodad\n")
    srpol("dev", "change", "srpol0")
    eq(outcome("2001:db8:a::2", FAR[6], 6, where=ns), {"steered": 2}, "added")
    srpol("dev", "del", "srpol0")
    srpol("dev", "add", "srpol0", "role", "host", "prefix", "2001:db8:b::/48")
    eq([d["source"] for d in show("dev") if d["dev"] == "srpol0"], ["none"],
       "without an address")
    eq(outcome("2001:db8:1::1", FAR[6], 6, where=ns), {"steered": 2})
    srpol("dev", "del", "srpol0")
    match(srpol_error("dev", "add", "srpol0", "role", "host", "source", "loose",
                      status=REFUSED), "no loose check")
    eq(subprocess.run(["ip", "-n", ns.name, "link", "show", "srpol0"],
                      capture_output=True, check=False).returncode, 1,
       "nothing is left of it")


srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
      "policy add color 1 endpoint :: candidate segment-list 1\n"
      "rule add prio 1 color 1\ndev add u0\n")
cleanup(forget)
main()
