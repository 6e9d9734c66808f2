# SPDX-License-Identifier: GPL-2.0
"""
Part of b6.sh:

    b6.py full|reduced|errors KERNEL-MAC SRPOL-MAC BSID SOURCE SID,SID... PCAP

sends packets for the binding SID to k0 and x0, and holds what comes out of k1
and x1 against each other (full) and against what scapy makes of RFC 8986 4.13.
With "errors" it sends what x is to answer, or not, with an ICMPv6 error, and holds
that against RFC 8986. Prints "ok NAME" or "not ok NAME | WHY"; writes what came out of x1.
"""

import socket
import sys

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (ICMPv6DestUnreach,
                                ICMPv6PacketTooBig, ICMPv6ParamProblem,
                                ICMPv6TimeExceeded, IPv6,
                                IPv6ExtHdrSegmentRouting)
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import PcapWriter

ETH_P_IPV6 = 0x86dd
HOPS = 64

mode, kernel_mac, srpol_mac, bsid, source, sids, pcap = sys.argv[1:]
sids = sids.split(",")


def srh(segments, left, **fields):
    """Segments in order of travel."""
    return IPv6ExtHdrSegmentRouting(addresses=segments[::-1], segleft=left,
                                    lastentry=len(segments) - 1, tag=0,
                                    **fields)


def inners():
    """Name and packet."""
    data = Raw(bytes(range(100)))
    yield "UDP over IPv6", IPv6(src="fd00::1", dst="fd00::2", tc=0x4a,
                                fl=0x12345) / UDP(sport=9, dport=10) / data
    yield "TCP over IPv4", IP(src="10.0.0.1", dst="10.0.0.2", tos=2,
                              id=7) / TCP(sport=9, dport=10) / data
    yield "1400 bytes", IPv6(src="fd00::1", dst="fd00::2") / \
        UDP(sport=11, dport=12) / Raw(bytes(1400))


def cases():
    """Name, packet, the same one step on its way."""
    for name, inner in inners():
        for at, travel in (("second of three",
                            ["fc00:0:31::1", bsid, "fc00:0:32::1"]),
                           ("first of two", [bsid, "fc00:0:32::1"])):
            left = len(travel) - 1 - travel.index(bsid)
            for hops, tc in ((HOPS, 0), (2, 0xb9)):
                def at_hop(dst, left, hops, tc=tc, travel=travel,
                           inner=inner):
                    return IPv6(src="fc00:0:98::1", dst=dst, hlim=hops,
                                tc=tc) / srh(travel, left) / inner
                yield (f"{name}, {at}, hop limit {hops}, class {tc:#x}",
                       at_hop(bsid, left, hops),
                       at_hop("fc00:0:32::1", left - 1, hops - 1), tc)


def expected(step, tc):
    outer = IPv6(src=source, dst=sids[0], hlim=HOPS, tc=tc, fl=0)
    listed = sids if mode == "full" else sids[1:]
    header = srh(listed, len(sids) - 1)
    return bytes(outer / header / step)


def opened(dev):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                      socket.htons(ETH_P_IPV6))
    s.bind((dev, ETH_P_IPV6))
    s.settimeout(60)
    return s


def frame_to(mac):
    return bytes(Ether(dst=mac, src="02:00:00:00:00:01", type=ETH_P_IPV6))


def received(s):
    """The next packet that is ours."""
    while True:
        frame = s.recv(4096)
        if frame[22:38] == socket.inet_pton(socket.AF_INET6, source):
            return frame


def as_srpol(kernel):
    """
    What differs on purpose: the kernel copies the hop limit of what came and
    counts that down; and it leaves out S12, to count down what came.
    """
    b = bytearray(kernel)
    b[7] = HOPS
    b[40 + 8 + 16 * len(sids) + 7] -= 1
    return bytes(b)


def report(name, why):
    print(f"not ok {name} | {why}" if why else f"ok {name}")


def compare(name, got, want):
    why = None
    if got != want:
        why = f"{IPv6(got)!r} {got.hex()} is not {IPv6(want)!r} {want.hex()}"
    report(name, why)


DECAP = "fc00:0:b::46"
QUOTE = 1280 - 40 - 8
SENDER = "fc00:0:98::1"


def error_cases():
    """Name, packet, the error about it or None."""
    inner = IPv6(src="fd00::1", dst="fd00::2") / UDP(sport=9, dport=10)
    path = ["fc00:0:31::1", bsid, "fc00:0:32::1"]

    def at(sid=bsid, src=SENDER, hops=HOPS):
        return IPv6(src=src, dst=sid, hlim=hops)

    # What is wrong is as long as is quoted, and longer.
    long = inner / Raw(bytes(1500))
    yield "hop limit 1", at(hops=1) / srh(path, 1) / long, \
        ICMPv6TimeExceeded(code=0)
    bad = srh(path, 4)
    yield "segments left beyond the last entry", at() / bad / inner, \
        ICMPv6ParamProblem(code=0, ptr=43)
    bad = srh(path, 1)
    bad.lastentry = 9
    yield "last entry beyond the length", at() / bad / inner, \
        ICMPv6ParamProblem(code=0, ptr=43)
    yield "no segment left at a binding SID", at() / srh([bsid], 0) / inner, \
        ICMPv6ParamProblem(code=4, ptr=64)
    yield "no SRH at a binding SID", at() / UDP() / Raw(bytes(1500)), \
        ICMPv6ParamProblem(code=4, ptr=40)
    yield "segments left at End.DT46", \
        at(DECAP) / srh([DECAP, "fc00::1"], 1) / inner, \
        ICMPv6ParamProblem(code=0, ptr=43)
    yield "UDP at End.DT46", at(DECAP) / UDP() / Raw(bytes(100)), \
        ICMPv6ParamProblem(code=4, ptr=40)
    yield "too big for the policy", at() / srh(path, 1) / inner / \
        Raw(bytes(1800)), ICMPv6PacketTooBig(mtu=1900 - 40 - 56)
    yield "an error of ICMPv6", at(hops=1) / srh(path, 1) / \
        ICMPv6DestUnreach() / Raw(bytes(64)), None
    yield "a bare one", at(DECAP) / ICMPv6DestUnreach() / \
        Raw(bytes(64)), None
    for src in "ff02::1", "fe80::1", "::", "::1":
        yield f"from {src}", at(src=src, hops=1) / srh(path, 1) / inner, None


def errors():
    """RFC 4443 2.4 (c), 3.2 to 3.4: as scapy writes them."""
    writer = PcapWriter(pcap, linktype=1)
    x0 = opened("x0")
    for name, packet, want in error_cases():
        packet = bytes(packet)
        x0.send(frame_to(srpol_mac) + packet)
        if not want:
            continue
        frame = x0.recv(4096)
        while frame[20] != 58 or frame[54] > 127:
            frame = x0.recv(4096)
        writer.write(Ether(frame))
        # what the kernel says of the route to the sender: of device "out"
        want = IPv6(src="fd00:2::1", dst=SENDER, hlim=HOPS) / want
        compare(name, frame[14:], bytes(want / Raw(packet[:QUOTE])))
        report(f"{name}: to whom the frame came from",
               frame[:6] != bytes.fromhex("020000000001") and
               frame[:12].hex())
    # An answer to what must not have any would come before this one.
    marker = bytes(IPv6(src=SENDER, dst=bsid) / UDP(sport=77))
    x0.send(frame_to(srpol_mac) + marker)
    frame = x0.recv(4096)
    while frame[20] != 58 or frame[54] > 127:
        frame = x0.recv(4096)
    report("nothing else is answered", frame[62:] != marker and frame.hex())
    writer.close()


def main():
    writer = PcapWriter(pcap, linktype=1)
    k0, k1, x0, x1 = map(opened, ("k0", "k1", "x0", "x1"))
    for name, packet, step, tc in cases():
        # lengths and checksums as scapy writes them
        packet, step = bytes(packet), IPv6(bytes(step))
        x0.send(frame_to(srpol_mac) + packet)
        frame = received(x1)
        writer.write(Ether(frame))
        compare(f"{name}: as scapy has it", frame[14:], expected(step, tc))
        if mode == "full":
            k0.send(frame_to(kernel_mac) + packet)
            compare(f"{name}: as the kernel has it", frame[14:],
                    as_srpol(received(k1)[14:]))
    writer.close()


if mode == "errors":
    errors()
else:
    main()
