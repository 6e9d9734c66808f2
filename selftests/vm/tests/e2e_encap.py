# SPDX-License-Identifier: GPL-2.0
"""
Part of e2e_encap.sh:

    e2e_encap.py send		UDP over each list, received and compared
    e2e_encap.py scapy DIR	judge DIR/{sent,arrived}.pcap of DIR/cases
    e2e_encap.py tshark DIR	the same, by another decoder

Judges print "ok NAME" or "not ok NAME | WHY".
"""

import collections
import ipaddress
import socket
import subprocess
import sys

MARKS = range(1, 9)
PER_FLOW = 3
FIRST_PORT = 40000
PORT = 4000
TOS = {6: 0x4a, 4: 0x2a}        # a DSCP and ECT(0)
HOSTS = {6: ("fd00:a::1", "fd00:b::1"), 4: ("10.0.10.1", "10.0.20.1")}
SOURCE = "fd00:a::1"
HOPS = 64


def payload(version, mark, number):
    """300 bytes nobody else sends."""
    head = b"%d %d %d " % (version, mark, number)
    rest = range(300 - len(head))
    return head + bytes((mark * 31 + i * 7) % 256 for i in rest)


def udp(version):
    return socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET,
                         socket.SOCK_DGRAM)


def send():
    for version, (a, b) in HOSTS.items():
        receiver = udp(version)
        receiver.bind((b, PORT))
        receiver.settimeout(10)
        for mark in MARKS:
            with udp(version) as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
                if version == 6:
                    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS,
                                 TOS[6])
                else:
                    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, TOS[4])
                s.bind((a, FIRST_PORT + mark))
                for number in range(PER_FLOW):
                    data = payload(version, mark, number)
                    s.sendto(data, (b, PORT))
                    got, sender = receiver.recvfrom(4096)
                    assert got == data, (version, mark, number, got)
                    assert sender[:2] == (a, FIRST_PORT + mark), sender
        receiver.close()


class Case:
    """A segment list in one of the encodings, and what it must look like."""

    def __init__(self, line):
        mark, sids, self.encap = line.split()
        self.mark = int(mark)
        self.sids = sids.split(",")
        self.name = f"{len(self.sids)} SIDs {self.encap}"
        # RFC 8754 2: last segment first; RFC 8754 4.1.1: reduced leaves
        # out the first, which is in the destination already
        self.list = self.sids[::-1]
        if self.encap == "reduced":
            self.list = self.list[:-1]
        # the destination that reaches the host
        self.last = self.sids[-1]
        if "," not in sids:
            self.last = "fcbb:bb00:b::"


def cases(folder):
    with open(f"{folder}/cases", encoding="ascii") as f:
        return {c.mark: c for c in map(Case, f)}


def address(text):
    return str(ipaddress.ip_address(text))


def differences(got, want):
    return "; ".join(f"{k} is {got.get(k)!r}, not {want[k]!r}"
                     for k in want if got.get(k) != want[k])


def report(name, why):
    print(f"not ok {name} | {why}" if why else f"ok {name}")


class Verdicts(collections.defaultdict):
    """First complaint by name; None when there is none."""

    def __init__(self):
        super().__init__(lambda: None)

    def note(self, name, why):
        self[name] = self[name] or why or None

    def print(self):
        for name in sorted(self):
            report(name, self[name])


def want_outer(case, version, at_leaf1, tc, length):
    """Fields of the outer header; without the flow label."""
    srh = 8 + 16 * len(case.list) if case.list else 0
    left = len(case.sids) - 1 if at_leaf1 else 0
    want = {"src": SOURCE, "tc": tc, "payload": srh + length,
            "dst": case.sids[0] if at_leaf1 else case.last,
            "next": 43 if srh else {6: 41, 4: 4}[version]}
    if at_leaf1:
        want["hops"] = HOPS
    if srh:
        want |= {"type": 4, "left": left, "last": len(case.list) - 1,
                 "list": case.list, "hdrlen": 2 * len(case.list),
                 "srh next": {6: 41, 4: 4}[version], "flags": 0, "tag": 0}
    return want


def scapy_judge(folder):
    from scapy.layers.inet import ICMP, IP, UDP
    from scapy.layers.inet6 import (ICMPv6EchoRequest, IPv6,
                                    IPv6ExtHdrSegmentRouting)
    from scapy.utils import PcapReader

    def outer_fields(ip):
        got = {"src": ip.src, "dst": ip.dst, "tc": ip.tc, "hops": ip.hlim,
               "payload": ip.plen, "next": ip.nh}
        srh = ip.payload
        if isinstance(srh, IPv6ExtHdrSegmentRouting):
            got |= {"type": srh.type, "left": srh.segleft,
                    "last": srh.lastentry, "hdrlen": srh.len,
                    "list": [address(a) for a in srh.addresses],
                    "srh next": srh.nh, "tag": srh.tag,
                    "flags": int(srh.oam) | int(srh.hmac) |
                    int(srh.protected) | int(srh.alert)}
        return got

    def expected_inner(inner, version, mark, number):
        """The packet srpol was given, but for what the kernel chose."""
        a, b = HOSTS[version]
        body = UDP(sport=FIRST_PORT + mark, dport=PORT) / \
            payload(version, mark, number)
        if version == 6:
            return bytes(IPv6(src=a, dst=b, tc=TOS[6], fl=inner.fl,
                              hlim=64) / body)
        return bytes(IP(src=a, dst=b, tos=TOS[4], id=inner.id, ttl=64,
                        flags=inner.flags) / body)

    def read(name):
        with PcapReader(f"{folder}/{name}.pcap") as packets:
            for packet in packets:
                ip = packet[IPv6]
                inner = ip.payload
                if isinstance(inner, IPv6ExtHdrSegmentRouting):
                    inner = inner.payload
                if isinstance(inner, (IP, IPv6)):
                    yield ip, inner, 4 if isinstance(inner, IP) else 6

    everything = cases(folder)
    verdicts = Verdicts()
    inner_bytes = {}
    seen = collections.Counter()
    labels = collections.defaultdict(set)
    for where in "sent", "arrived":
        at_leaf1 = where == "sent"
        for ip, inner, version in read(where):
            tc = inner.tos if version == 4 else inner.tc
            raw = bytes(inner.original)
            if inner.haslayer(UDP) and inner[UDP].dport == PORT:
                data = bytes(inner[UDP].payload)
                _, mark, number = map(int, data.split(b" ", 3)[:3])
                key = version, mark, number
                case = everything[mark]
                name = f"scapy: {case.name}, IPv{version} UDP"
                if tc != TOS[version]:
                    verdicts.note(name, f"inner traffic class {tc}")
                if at_leaf1:
                    labels[version, mark].add(ip.fl)
                    if raw != expected_inner(inner, *key):
                        verdicts.note(name, "inner bytes differ: "
                                      + raw.hex())
                    inner_bytes[key] = raw
                elif raw != inner_bytes.get(key):
                    verdicts.note(name, "inner bytes changed on the way")
            elif inner.haslayer(ICMP) or inner.haslayer(ICMPv6EchoRequest):
                # by path, in order: which ping it was shows in the list
                case = next((c for c in everything.values()
                             if not differences(outer_fields(ip), want_outer(
                                 c, version, at_leaf1, tc, len(raw)))), None)
                if not case:
                    verdicts.note("scapy: pings",
                                  f"fit no case: {outer_fields(ip)}")
                    continue
                name = f"scapy: {case.name}, IPv{version} ping"
                if tc != 0xb8:
                    verdicts.note(name, f"inner traffic class {tc}")
                if (inner.src, inner.dst) != HOSTS[version]:
                    verdicts.note(name, f"inner {inner.src} {inner.dst}")
            else:
                continue
            seen[name, where] += 1
            verdicts.note(name, differences(
                outer_fields(ip),
                want_outer(case, version, at_leaf1, tc, len(raw))))
            if not 0 < ip.fl < 1 << 20:
                verdicts.note(name, f"flow label {ip.fl}")
    for case in everything.values():
        for version in HOSTS:
            for kind, n in ("UDP", PER_FLOW), ("ping", 2):
                name = f"scapy: {case.name}, IPv{version} {kind}"
                for where in "sent", "arrived":
                    got = seen[name, where]
                    verdicts.note(name, got != n and
                                  f"{got} packets {where}, not {n}")
    for (version, mark), used in labels.items():
        verdicts.note("scapy: one flow, one flow label", len(used) != 1 and
                      f"IPv{version} flow {mark} has {used}")
    several = len(set.union(*labels.values())) if labels else 0
    verdicts.note("scapy: flow labels tell flows apart",
                  several < len(labels) - 1 and f"{several} labels")
    verdicts.print()


FIELDS = ("ipv6.src ipv6.dst ipv6.tclass ipv6.flow ipv6.hlim ipv6.plen "
          "ipv6.nxt ipv6.routing.type ipv6.routing.segleft "
          "ipv6.routing.srh.last_entry ipv6.routing.srh.addr udp.srcport "
          "udp.length udp.checksum.status ip.dsfield ip.checksum.status "
          "_ws.malformed _ws.expert.severity").split()


def tshark_judge(folder):
    command = ["tshark", "-n", "-r", f"{folder}/sent.pcap", "-T", "fields",
               "-Y", f"udp.dstport=={PORT}", "-E", "separator=|",
               "-o", "udp.check_checksum:TRUE",
               "-o", "ip.check_checksum:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    verdicts = Verdicts()
    seen = collections.Counter()
    everything = cases(folder)
    for line in done.stdout.splitlines():
        f = {k: v.split(",") if v else [] for k, v in
             zip(FIELDS, line.split("|"))}
        mark = int(f["udp.srcport"][0]) - FIRST_PORT
        version = 4 if f["ip.dsfield"] else 6
        case = everything[mark]
        name = f"tshark: {case.name}, IPv{version} UDP"
        inner = int(f["udp.length"][0]) + (20 if version == 4 else 40)
        want = want_outer(case, version, True, TOS[version], inner)
        got = {"src": f["ipv6.src"][0], "dst": f["ipv6.dst"][0],
               "tc": int(f["ipv6.tclass"][0], 0),
               "hops": int(f["ipv6.hlim"][0]),
               "payload": int(f["ipv6.plen"][0]),
               "next": int(f["ipv6.nxt"][0])}
        if f["ipv6.routing.type"]:
            got |= {"type": int(f["ipv6.routing.type"][0]),
                    "left": int(f["ipv6.routing.segleft"][0]),
                    "last": int(f["ipv6.routing.srh.last_entry"][0]),
                    "list": f["ipv6.routing.srh.addr"]}
        verdicts.note(name, differences(
            got, {k: v for k, v in want.items()
                  if k not in ("hdrlen", "srh next", "flags", "tag")}))
        tc = (f["ip.dsfield"] or f["ipv6.tclass"][1:])[0]
        verdicts.note(name, int(tc, 0) != TOS[version] and
                      f"inner traffic class {tc}")
        verdicts.note(name, int(f["ipv6.flow"][0], 0) == 0 and "flow label 0")
        # 1: good
        for checksum in ["udp.checksum.status"] + \
                ["ip.checksum.status"] * (version == 4):
            verdicts.note(name, f[checksum][:1] != ["1"] and
                          f"{checksum} {f[checksum]}")
        verdicts.note(name, f["_ws.malformed"] and "malformed")
        seen[name] += 1
    for case in everything.values():
        for version in HOSTS:
            name = f"tshark: {case.name}, IPv{version} UDP"
            verdicts.note(name, seen[name] != PER_FLOW and
                          f"{seen[name]} packets, not {PER_FLOW}")
    verdicts.print()


if sys.argv[1] == "send":
    send()
else:
    {"scapy": scapy_judge, "tshark": tshark_judge}[sys.argv[1]](sys.argv[2])
