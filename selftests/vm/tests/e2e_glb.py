#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What srpolds tell each other, seen and sent by somebody else:

    e2e_glb.py record FILE DEV PORT           a line of hexadecimal digits per
                                              message that comes in, until killed
    e2e_glb.py send SOURCE SINK PORT HEX[,HEX]... [N]
                                              N of each, from whichever address
"""

import socket
import sys

ETH_P_IPV6 = 0x86dd
IPV6_FREEBIND = 78
OUTGOING = 4


def record(name, dev, port):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                      socket.htons(ETH_P_IPV6))
    s.bind((dev, ETH_P_IPV6))
    with open(name, "w", encoding="ascii") as f:
        print("ready", flush=True)
        while True:
            frame, addr = s.recvfrom(2000)
            if addr[2] == OUTGOING or frame[20] != socket.IPPROTO_UDP or \
               int.from_bytes(frame[56:58], "big") != port:
                continue
            print(frame[62:].hex(), file=f, flush=True)


def send(source, sink, port, text, n):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)
    s.bind((source, 0))
    for data in text.split(",") * n:
        s.sendto(bytes.fromhex(data), (sink, port))


if sys.argv[1] == "record":
    record(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    send(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5],
         int((sys.argv + ["1"])[6]))
