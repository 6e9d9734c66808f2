#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
How long packets go to a dead switch:

    e2e_silent.py send SOURCE SINK FLOWS US   one datagram of the next flow each
                                              US microseconds, until killed
    e2e_silent.py sink ADDRESS                takes them, until killed
    e2e_silent.py watch LOG SID               in the switch: lines "IN NS" and
                                              "OUT NS" of LOG: when the last
                                              packet to SID came in by leaf1
                                              and left by leaf2, until killed
"""

import select
import signal
import socket
import struct
import sys
import time

PORT = 9
ETH_P_ALL = 3
OUTGOING = 4
SO_TIMESTAMPNS = 35
LAST = slice(14 + 40 + 8, 14 + 40 + 8 + 16)	# first entry of the SRH


def send(source, sink, flows, us):
    sockets = []
    for port in range(20000, 20000 + flows):
        s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        s.bind((source, port))
        s.connect((sink, PORT))
        sockets.append(s)
    step = us * 1000
    due = time.monotonic_ns()
    while True:
        for s in sockets:
            try:
                s.send(b"x" * 64)
            except OSError:
                pass
            due += step
            left = due - time.monotonic_ns()
            if left > 0:
                time.sleep(left / 1e9)
            elif left < -10 * step:
                due = time.monotonic_ns()


def sink(address):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.bind((address, PORT))
    print("ready", flush=True)
    signal.pause()


def capture(dev):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                      socket.htons(ETH_P_ALL))
    s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    s.bind((dev, ETH_P_ALL))
    s.setblocking(False)
    return s


def newest(s, sid, outgoing, last):
    """Time of the last packet to @sid that is there, @last if there is none."""
    while True:
        try:
            frame, control, _, addr = s.recvmsg(128, 64)
        except BlockingIOError:
            return last
        if (addr[2] == OUTGOING) != outgoing or frame[LAST] != sid or \
           frame[20] != 43:
            continue
        for _, kind, data in control:
            if kind == SO_TIMESTAMPNS:
                sec, ns = struct.unpack("qq", data[:16])
                last = sec * 10**9 + ns


def watch(log, sid):
    sid = socket.inet_pton(socket.AF_INET6, sid)
    came, left = capture("leaf1"), capture("leaf2")
    last_in = last_out = 0
    with open(log, "w", encoding="ascii") as f:
        while True:
            select.select([came, left], [], [])
            last_in = newest(came, sid, False, last_in)
            last_out = newest(left, sid, True, last_out)
            f.seek(0)
            print(f"IN {last_in} OUT {last_out} ", file=f, flush=True)


if sys.argv[1] == "send":
    send(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
elif sys.argv[1] == "sink":
    sink(sys.argv[2])
else:
    watch(sys.argv[2], sys.argv[3])
