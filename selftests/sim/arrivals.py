#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""arrivals.py DEVICE: until it is ended (SIGTERM), looks at frames of 300 bytes and more that come
in there; then prints the seconds between the first and the last, by the kernel's clock, so that it
does not matter when this program gets to see them. Says "ready" first."""

import select
import signal
import socket
import struct
import sys

ETH_P_ALL = 3
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33


def main():
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 128 << 20)
    s.bind((sys.argv[1], ETH_P_ALL))
    s.setblocking(False)
    print("ready", flush=True)
    first = last = None
    while True:
        try:
            frame, told, _, at = s.recvmsg(400, 64)
        except BlockingIOError:
            if ended:
                break
            select.select([s], [], [], 0.1)
            continue
        if at[2] == socket.PACKET_OUTGOING or len(frame) < 300:
            continue
        for _, kind, data in told:
            if kind == SO_TIMESTAMPNS:
                last = sum(x * y for x, y in zip(struct.unpack("qq", data), (1, 1e-9)))
        first = first or last
    print(last - first if first else "nothing")


main()
