# SPDX-License-Identifier: GPL-2.0
"""
Part of e2e_malformed.sh:

    e2e_malformed.py NAMESPACE

Sends malformed packets by device "host" of that namespace to hA; none may
come through, each must be counted under the reason expected here. Prints
"ok NAME" or "not ok NAME | WHY".
"""

import collections
import ctypes
import fcntl
import json
import os
import random
import socket
import struct
import subprocess
import sys
import time

END, DT4, DT6, DT46 = (socket.inet_pton(socket.AF_INET6, f"fc00:0:a::{x}")
                       for x in ("1", "d4", "d66", "d6"))
OTHER = socket.inet_pton(socket.AF_INET6, "fc00:0:21::1")
SOURCE = socket.inet_pton(socket.AF_INET6, "fd00:b::1")
HOST = {6: "fd00:a::1", 4: "10.0.10.1"}
PORT = 7777
UDP, V4, V6, ROUTING = 17, 4, 41, 43
NO_NEXT, HOP, FRAGMENT, DEST = 59, 0, 44, 60

packets = []


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    n = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while n >> 16:
        n = (n & 0xffff) + (n >> 16)
    return ~n & 0xffff


def inner4(size=40):
    a = socket.inet_aton("10.0.20.1")
    b = socket.inet_aton(HOST[4])
    udp = struct.pack("!4H", PORT, PORT, 8 + size, 0) + bytes(size)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, UDP,
                       0, a, b)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + udp


def inner6(size=40):
    b = socket.inet_pton(socket.AF_INET6, HOST[6])
    udp = struct.pack("!4H", PORT, PORT, 8 + size, 0) + bytes(size)
    sum_ = checksum(SOURCE + b + struct.pack("!II", len(udp), UDP) + udp)
    udp = udp[:6] + struct.pack("!H", sum_) + udp[8:]
    return struct.pack("!IHBB", 6 << 28, len(udp), UDP, 64) + SOURCE + b + udp


INNER = {V4: inner4(), V6: inner6()}


def outer(sid, nh, payload, hops=64, length=None, version=6, tc=0):
    length = len(payload) if length is None else length
    return struct.pack("!IHBB", version << 28 | tc << 20, length, nh, hops) \
        + SOURCE + sid + payload


def srh(nh, sids, left, kind=4, hdrlen=None, last=None):
    hdrlen = 2 * len(sids) if hdrlen is None else hdrlen
    last = len(sids) - 1 if last is None else last
    return struct.pack("!BBBBBBH", nh, hdrlen & 0xff, kind, left & 0xff,
                       last & 0xff, 0, 0) + b"".join(sids)


def bad(reason, packet):
    packets.append((reason, packet))


def both():
    return INNER.items()


def make():
    """Fill the list; everything for IPv6 and IPv4 inside."""
    for nh, ip in both():
        good = outer(DT46, ROUTING, srh(nh, [DT46, OTHER], 0) + ip)
        # the cable cut it
        for cut in range(40, len(good)):
            bad("truncated", good[:cut])
        # the sender cut it within the SRH, or within the inner packet
        for cut in range(40, len(good)):
            short = good[:4] + struct.pack("!H", cut - 40) + good[6:cut]
            bad("truncated" if cut < 80 else "bad-inner", short)
        # or pretends that the packet is longer
        for more in range(1, 40):
            bad("truncated", outer(DT46, nh, ip, length=len(ip) + more))
        for version in set(range(16)) - {6}:
            bad("bad-outer", outer(DT46, nh, ip, version=version))
        for kind in range(256):
            if kind != 4:
                bad("bad-routing-type",
                    outer(DT46, ROUTING, srh(nh, [DT46, OTHER], 0,
                                             kind=kind) + ip))
        # last entry beyond the list; no list at all; and a list beyond the
        # packet
        for last in range(2, 256, 5):
            bad("bad-hdrlen", outer(DT46, ROUTING,
                                    srh(nh, [DT46, OTHER], 0, last=last) + ip))
        bad("bad-hdrlen", outer(DT46, ROUTING, srh(nh, [], 0, last=0) + ip))
        bad("bad-hdrlen", outer(DT46, ROUTING, srh(nh, [], 0, last=255) + ip))
        for hdrlen in range(20, 256, 5):
            bad("truncated", outer(DT46, ROUTING, srh(nh, [DT46, OTHER], 0,
                                                      hdrlen=hdrlen) + ip))
        # one more than the last entry is a list that was reduced
        for left in range(3, 256, 5):
            for sid in DT46, END:
                bad("bad-segments-left",
                    outer(sid, ROUTING, srh(nh, [sid, OTHER], left) + ip))
        for left in 1, 2:
            for sid in DT46, DT6 if nh == V6 else DT4:
                bad("segments-left",
                    outer(sid, ROUTING, srh(nh, [sid, OTHER], left) + ip))
        second = srh(nh, [DT46], 0) + ip
        bad("nested-srh", outer(DT46, ROUTING,
                                srh(ROUTING, [DT46, OTHER], 0) + second))
        bad("nested-srh", outer(END, ROUTING,
                                srh(ROUTING, [DT46, END], 1) + second))
        for ext in HOP, FRAGMENT, DEST:
            option = struct.pack("!BBIH", nh, 0, 0, 0)
            bad("ext-header", outer(DT46, ext, option + ip))
            bad("ext-header", outer(DT46, ROUTING,
                                    srh(ext, [DT46, OTHER], 0) + option + ip))
        for other in UDP, NO_NEXT, 58, 6, 132, V4 if nh == V6 else 255:
            bad("upper-layer" if other != V4 else "bad-inner",
                outer(DT46, ROUTING, srh(other, [DT46, OTHER], 0) + ip))
        bad("upper-layer", outer(DT4 if nh == V6 else DT6, nh, ip))
        bad("upper-layer", outer(END, nh, ip))
        bad("no-segments-left", outer(END, ROUTING, srh(nh, [END], 0) + ip))
        for hops in 0, 1:
            bad("hop-limit", outer(END, ROUTING,
                                   srh(nh, [DT46, END], 1) + ip, hops=hops))
        bad("bad-inner", outer(DT46, nh, b""))
        for flip in range(16):
            # inner version
            if flip != ip[0] >> 4:
                bad("bad-inner", outer(DT46, nh, bytes([flip << 4 |
                                                        ip[0] & 15]) + ip[1:]))
        bad("ecn-drop", outer(DT46, nh, ip, tc=3))
    for ihl in range(5):
        bad("bad-inner", outer(DT46, V4, bytes([0x40 | ihl]) + INNER[V4][1:]))
    for length in range(20):
        bad("bad-inner", outer(DT46, V4, INNER[V4][:2] +
                               struct.pack("!H", length) + INNER[V4][4:]))


def reasons():
    out = subprocess.check_output(["srpol", "-j", "stats", "show", "all"])
    return {r["reason"]: r["packets"] for r in json.loads(out)}


def drops():
    out = subprocess.check_output(["srpol", "-j", "stats", "show", "all"])
    return {r["reason"] for r in json.loads(out) if r["drop"]}


def say(name, why):
    print(f"not ok {name} | {why}" if why else f"ok {name}", flush=True)


def leaf_socket(namespace):
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    assert libc.setns(there, 0) == 0
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind(("host", 0))
    assert libc.setns(here, 0) == 0
    return s


def mac(dev):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        # SIOCGIFHWADDR
        return fcntl.ioctl(s, 0x8927, struct.pack("256s", dev))[18:24]


def arrived(sockets):
    n = 0
    for s in sockets:
        while True:
            try:
                s.recv(2048)
            except BlockingIOError:
                break
            n += 1
    return n


def settle(name, least):
    """Reasons, once that many packets were counted: the wire has a queue."""
    end = time.monotonic() + 10
    while True:
        now = reasons()
        if sum(now[k] - before[k] for k in name) >= least or \
                time.monotonic() > end:
            return now
        time.sleep(0.1)


make()
random.Random(8754).shuffle(packets)
link = leaf_socket(sys.argv[1])
ethernet = mac(b"hA") + bytes.fromhex("020000000001") + b"\x86\xdd"
listeners = []
for version, address in HOST.items():
    listener = socket.socket(socket.AF_INET6 if version == 6 else
                             socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind((address, PORT))
    listener.setblocking(False)
    listeners.append(listener)

valid = [outer(DT46, V6, INNER[V6]), outer(DT46, V4, INNER[V4]),
         outer(DT46, ROUTING, srh(V6, [DT46, OTHER], 0) + INNER[V6]),
         outer(DT46, ROUTING, srh(V4, [DT46, OTHER], 0) + INNER[V4]),
         outer(END, ROUTING, srh(V6, [DT46, END], 1) + INNER[V6]),
         outer(END, ROUTING, srh(V4, [DT46, END], 1) + INNER[V4])]


def send_valid(name):
    global before
    before = reasons()
    for packet in valid:
        link.send(ethernet + packet)
    after = settle(["decap"], len(valid))
    got = after["decap"] - before["decap"], arrived(listeners)
    say(name, got != (len(valid), len(valid)) and
        f"{got[0]} decapsulated, {got[1]} delivered, not {len(valid)}")


named = drops()
send_valid("valid packets are delivered before")
before = reasons()
want = collections.Counter(reason for reason, _ in packets)
for number, (_, packet) in enumerate(packets):
    link.send(ethernet + packet)
    if number % 64 == 63:
        time.sleep(0.02)
after = settle(named, len(packets))
got = {k: after[k] - before[k] for k in after}
total = sum(got[k] for k in named)

print(f"{len(packets)} packets: {dict(want)}", flush=True)
say("there are more than a thousand", len(packets) < 1000 and len(packets))
say("none is decapsulated or goes on", (got["decap"] or got["end"]) and
    f"{got['decap']} and {got['end']}")
say("none is delivered", arrived(listeners))
say("named drop reasons rise by as many as were sent",
    total != len(packets) and f"{total}, not {len(packets)}")
for reason in sorted(set(want) | {k for k in named if got[k]}):
    say(f"each as expected: {reason}", got[reason] != want[reason] and
        f"{got[reason]}, not {want[reason]}")
send_valid("valid packets are delivered after")
