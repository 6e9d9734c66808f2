#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
How soon packets go as a demand wants it:

    e2e_demand.py DEMANDS DEV SOURCE SINK SID TIMES

Whoever moves a KV cache says so on the socket DEMANDS: C will send to B, by the
only spine that C has. What A, here, sends to B has to leave that one, SID. A line
for each time: microseconds from before the demand was written to the first packet
of a flow of that spine that goes by another one.
"""

import json
import socket
import sys
import time

PORT = 9
ETH_P_ALL = 3
OUTGOING = 4
ROUTING = 43
FLOWS = range(20000, 20032)
PATIENCE = 20


class Flows:
    """Datagrams of some flows, and the first SID that each got."""

    def __init__(self, dev, source, sink):
        self.seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(ETH_P_ALL))
        self.seen.bind((dev, 0))
        self.seen.setblocking(False)
        self.out = {}
        for port in FLOWS:
            s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            s.bind((source, port))
            s.connect((sink, PORT))
            self.out[port] = s

    def send(self, port):
        """The first SID of what is sent; None if it is not seen leaving."""
        while self.frame():
            pass
        self.out[port].send(b"x")
        while frame := self.frame():
            if frame.source == port:
                return frame.sid
        return None

    def frame(self):
        try:
            data, origin = self.seen.recvfrom(2048)
        except BlockingIOError:
            return None
        return Frame(data, origin[2] == OUTGOING)

    def on(self, sid):
        """A flow that goes there; None: none does."""
        for port in self.out:
            if self.send(port) == sid:
                return port
        return None


class Frame:
    """What it is first for, and the source port inside it."""

    def __init__(self, data, leaves):
        self.sid, self.source = data[38:54], None
        inner = 54
        if not leaves or len(data) < 120 or data[12:14] != b"\x86\xdd":
            return
        if data[20] == ROUTING:
            inner += 8 * (data[55] + 1)
        self.source = int.from_bytes(data[inner + 40:inner + 42], "big")


class Client:
    """An application; each demand by a connection of its own."""

    def __init__(self, path, owner):
        self.path, self.owner = path, owner

    def say(self, *demands):
        request = {"version": 1, "request": "demands", "owner": self.owner,
                   "demands": [{"src": src, "dst": dst, "bytes": 1 << 30,
                                "for-ms": 3600000} for src, dst in demands]}
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.path)
        text = (json.dumps(request) + "\n").encode()
        before = time.monotonic_ns()
        s.sendall(text)
        return before, s

    @staticmethod
    def answer(s):
        line = s.makefile().readline()
        s.close()
        if '"demands":' not in line:
            raise SystemExit(f"refused: {line}")


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while (found := condition()) is None:
        if time.monotonic() > end:
            raise SystemExit(f"in vain: {what}")
        time.sleep(0.01)
    return found


def main():
    path, dev, source, sink, sid, times = sys.argv[1:]
    sid = socket.inet_pton(socket.AF_INET6, sid)
    flows = Flows(dev, source, sink)
    own, cache = Client(path, "own"), Client(path, "cache")
    Client.answer(own.say(("A", "B"))[1])
    for _ in range(int(times)):
        port = until("a flow over the spine", lambda: flows.on(sid))
        # weights have not changed for an interval, and nobody asked for that
        time.sleep(0.5)
        before, s = cache.say(("C", "B"))
        end = before + PATIENCE * 1_000_000_000
        now = flows.send(port)
        while now is None or now == sid:
            if time.monotonic_ns() > end:
                Client.answer(s)
                raise SystemExit("in vain: a packet by another spine")
            time.sleep(0.0002)
            now = flows.send(port)
        took = time.monotonic_ns() - before
        Client.answer(s)
        print(took // 1000, flush=True)
        time.sleep(0.5)
        Client.answer(cache.say()[1])


if __name__ == "__main__":
    main()
