#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Somebody on the link to a host who records probes and sends what looks like
them:

    e2e_probe.py record DEV FILE SID N     N probes that leave by DEV and have
                                           SID in their segment list
    e2e_probe.py send DEV FILE HOW N MS    send what was recorded, N frames, one
                                           each MS milliseconds; HOW: same, tag,
                                           list, seq, noise
"""

import os
import random
import socket
import sys
import time

ETH_P_ALL = 3
OUTGOING = 4
ETH, IPV6, SRH = 14, 40, 8
PROBE = 862


def open_device(dev, proto):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(proto))
    s.bind((dev, proto))
    return s


def udp_of(frame):
    """Offset of the UDP header behind an SRH, 0: this is no such packet."""
    if len(frame) < ETH + IPV6 + SRH or frame[12:14] != b"\x86\xdd" or \
       frame[ETH + 6] != 43 or frame[ETH + IPV6] != socket.IPPROTO_UDP:
        return 0
    return ETH + IPV6 + 8 * (frame[ETH + IPV6 + 1] + 1)


def record(dev, path, sid, n):
    sid = socket.inet_pton(socket.AF_INET6, sid)
    s = open_device(dev, ETH_P_ALL)
    frames = []
    while len(frames) < n:
        frame, addr = s.recvfrom(65536)
        udp = udp_of(frame)
        if addr[2] != OUTGOING or not udp or \
           int.from_bytes(frame[udp + 2:udp + 4], "big") != PROBE or \
           sid not in frame[ETH + IPV6 + SRH:udp] or len(frame) > 1000:
            continue
        frames.append(frame)
    with open(path, "w", encoding="ascii") as f:
        for frame in frames:
            print(frame.hex(), file=f)


def altered(frame, how):
    frame = bytearray(frame)
    udp = udp_of(frame)
    if how == "tag":
        frame[-1] ^= 1
    elif how == "list":
        frame[ETH + IPV6 + SRH + 16 + 5] ^= 1
    elif how == "seq":
        frame[udp + 8 + 3] ^= 0x55
    elif how == "noise":
        at = random.randrange(ETH + IPV6, len(frame))
        frame[at:] = os.urandom(len(frame) - at)
    return bytes(frame)


def send(dev, path, how, n, ms):
    with open(path, encoding="ascii") as f:
        frames = [bytes.fromhex(line) for line in f]
    s = open_device(dev, 0)
    for i in range(n):
        s.send(altered(frames[i % len(frames)], how))
        time.sleep(ms / 1000)


if sys.argv[1] == "record":
    record(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
else:
    send(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]),
         float(sys.argv[6]))
