#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1
"""
Tell srpold of transfers of a KV cache, so that paths are weighed by them before
they begin. As a command:

    kv_transfer.py SRC DST BYTES [--in S] [--window S] [--socket PATH] [-- COMMAND...]

SRC and DST are hosts of the topology or addresses of their NICs. With a COMMAND,
which moves the cache, the transfer is taken back when that ends, and the status is
the command's, whether srpold is there or not. Without, it is believed until its
window is over; the status is 1 if srpold did not take it. In a serving system:

    transfers = kv_transfer.Transfers()     # once in a process, after it forked
    t = transfers.begin("prefill3", "decode7", size, start=0.05, window=2)
    ...
    t.end()

None of that waits for srpold: a thread speaks to it, tries again while it is not
there, and gives up what is over. The messages are in Documentation/interface.rst.
"""

import argparse
import collections
import json
import os
import socket
import subprocess
import sys
import threading
import time

SOCKET = "/run/srpold/default.demands"
DAY = 86400
DAY_MS = 1000 * DAY
WAITING_MAX = 1024
ANSWER_MAX = 65536


def seconds(value):
    """At most a day; a ValueError if it is no number."""
    value = float(value)
    if value != value:
        raise ValueError("not a number of seconds")
    return min(max(value, -DAY), DAY)


def read_line(s, end):
    """One that is whole before that time, or what there is of it."""
    line = b""
    while not line.endswith(b"\n") and len(line) < ANSWER_MAX:
        s.settimeout(max(end - time.monotonic(), 0.001))
        more = s.recv(ANSWER_MAX)
        if not more:
            break
        line += more
    return line


class Transfer:
    def __init__(self, transfers, owner, begins, ends, demand):
        self.transfers, self.owner, self.demand = transfers, owner, demand
        self.begins, self.ends = begins, ends
        self.said = self.over = self.queued = False

    def end(self):
        """It is done, or will not be."""
        self.over = True
        self.transfers.queue(self)

    def request(self):
        """What is to be said now; None: nothing."""
        now = time.monotonic()
        demands = []
        if now >= self.ends or (self.over and not self.said):
            return None
        if not self.over:
            begins = max(self.begins, now)
            demands = [{**self.demand,
                        "in-ms": min(int((begins - now) * 1000), DAY_MS),
                        "for-ms": min(max(int((self.ends - begins) * 1000), 1),
                                      DAY_MS)}]
        return {"version": 1, "request": "demands", "owner": self.owner,
                "demands": demands}


class Transfers:
    """
    taken, refused, dropped: requests that srpold took or refused, and transfers
    that nobody was told of as too many waited; error: the last one
    """

    def __init__(self, path=None, owner="kv", patience=1, retry=5):
        self.path = path or os.environ.get("SRPOL_DEMANDS") or SOCKET
        self.owner = f"{owner[:30]}-{os.getpid()}"
        self.patience, self.retry = patience, retry
        self.taken = self.refused = self.dropped = self.count = 0
        self.error = None
        self.closing = False
        self.waiting = collections.deque()
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def begin(self, src, dst, size, start=0, window=60):
        """
        It sends that many bytes within a window of seconds, from start on; what
        is longer than a day is a day
        """
        begins = time.monotonic() + seconds(start)
        window = seconds(window)
        demand = {"src": str(src), "dst": str(dst), "bytes": int(size)}
        with self.changed:
            self.count += 1
            owner = f"{self.owner}-{self.count}"
        t = Transfer(self, owner, begins, begins + window, demand)
        self.queue(t)
        return t

    def queue(self, t):
        with self.changed:
            if t.queued:
                return
            if len(self.waiting) >= WAITING_MAX:
                self.dropped += 1
                return
            t.queued = True
            self.waiting.append(t)
            self.changed.notify()

    def close(self, wait=0):
        """What waits is tried once more, for so many seconds at most."""
        with self.changed:
            self.closing = True
            self.changed.notify()
        self.thread.join(wait)

    def run(self):
        while True:
            with self.changed:
                while not self.waiting and not self.closing:
                    self.changed.wait()
                if not self.waiting:
                    return
                t = self.waiting.popleft()
                t.queued = False
            request = t.request()
            if request and not self.say(t, request):
                if self.closing:
                    return
                self.again(t)

    def again(self, t):
        with self.changed:
            if not t.queued:
                t.queued = True
                self.waiting.appendleft(t)
            if not self.closing:
                end = time.monotonic() + self.retry
                while not self.closing and time.monotonic() < end:
                    self.changed.wait(end - time.monotonic())

    def say(self, t, request):
        """Whether srpold was there and answered."""
        try:
            with socket.socket(socket.AF_UNIX) as s:
                end = time.monotonic() + self.patience
                s.settimeout(self.patience)
                s.connect(self.path)
                t.said = True
                s.sendall(json.dumps(request).encode() + b"\n")
                answer = json.loads(read_line(s, end))
            if not isinstance(answer, dict):
                raise ValueError("an answer that is none")
        except (OSError, ValueError, RecursionError) as why:
            self.error = f"{self.path}: {why}"
            return False
        if "error" in answer:
            self.refused += 1
            self.error = answer["error"]
        else:
            self.taken += 1
        return True


def main():
    parser = argparse.ArgumentParser(description="Tell srpold of a transfer.")
    parser.add_argument("src")
    parser.add_argument("dst")
    parser.add_argument("bytes", type=int)
    parser.add_argument("--in", dest="start", type=seconds, default=0, metavar="S")
    parser.add_argument("--window", type=seconds, default=60, metavar="S")
    parser.add_argument("--socket", metavar="PATH")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    command = words[at + 1:]
    args = parser.parse_args(words[:at])

    transfers = Transfers(args.socket)
    t = transfers.begin(args.src, args.dst, args.bytes, args.start, args.window)
    status = 0
    if command:
        try:
            status = subprocess.call(command)
        except OSError as why:
            print(f"{command[0]}: {why.strerror}", file=sys.stderr)
            status = 127
        t.end()
    transfers.close(wait=2)
    if transfers.error:
        print(f"srpold: {transfers.error}", file=sys.stderr)
    if command:
        return status if status >= 0 else 128 - status
    return 0 if transfers.taken else 1


if __name__ == "__main__":
    sys.exit(main())
