#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What epochs.sh does once there is a fabric; see there."""

import json
import os
import shutil
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../engine"))
import engine as e  # noqa: E402
from engine import check, wait_for  # noqa: E402

A, B = os.environ["EPOCHS_A"], os.environ["EPOCHS_B"]
e.HOSTS[:] = ["A", "B"]
e.JOB = json.dumps({"all-to-all": {"hosts": e.HOSTS, "bytes": 1 << 30}})
e.CHUNKS = 1

# 64 flows, 500 packets a second, until nobody listens any more; then how many
SEND = """
import select, socket, struct, sys
flows = []
for port in range(20000, 20064):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.bind(("fd00:a::1", port))
    flows.append(s)
n = 0
while not select.select([sys.stdin], [], [], 0.002)[0]:
    flows[n % 64].sendto(struct.pack("!Q", n) + bytes(400), ("fd00:b::1", 7))
    n += 1
print(n)
"""

RECEIVE = """
import select, socket, struct, sys, time
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
s.bind(("fd00:b::1", 7))
s.settimeout(0.2)
print("ready", flush=True)
seen = set()
sent = until = 0
while not until or (len(seen) < sent and time.monotonic() < until):
    try:
        seen.add(struct.unpack("!Q", s.recv(2000)[:8])[0])
    except TimeoutError:
        pass
    if not until and select.select([sys.stdin], [], [], 0)[0]:
        sent, until = int(sys.stdin.readline()), time.monotonic() + 60
print(len(seen), max(seen, default=-1))
"""


class Run(e.Run):
    """Host A's plans go to its data plane."""

    def __init__(self):
        self.etcd = e.Etcd()
        self.store = {"kind": "etcd", "endpoints": self.etcd.endpoints}
        self.record = e.Record(self.etcd)
        self.engines = {n: self.engine(n) for n in "AB"}
        self.leader()
        self.near = e.Hosts("near", ["A"], self.store)
        self.far = e.Hosts("far", ["B"], self.store)
        self.jobs = self.plans = 0
        self.etcd.put("job/t/all", e.JOB)
        self.settled()

    def change(self):
        """Host A knows something else of a link; not of that to spine 1, whose
        weight test_lies() changes."""
        self.jobs += 1
        self.near.tell(f"report A leaf1 spine{2 + self.jobs % 3} "
                       f"{(5 + self.jobs % 15 * 6) * 10 ** 6}")


class DataPlane(threading.Thread):
    """Has what host A applies come to count."""

    def __init__(self, hosts):
        super().__init__(daemon=True)
        self.hosts, self.done, self.weights = hosts, 0, set()
        self.over = threading.Event()
        self.shares = e.Process(
            "shares", "ip", "netns", "exec", A,
            *os.environ["EPOCHS_SHARES"].split(),
            os.environ["EPOCHS_TOPOLOGY"], "hA", stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        for _ in range(4):
            self.shares.p.stdout.readline()
        self.start()

    def run(self):
        while not self.over.wait(0.02):
            for plan in self.hosts.applied()[self.done:]:
                self.done += 1
                for line in plan["chunks"].get("leaf1", "").splitlines():
                    self.put([int(x, 16) for x in json.loads(line)["weights"]])

    def put(self, weights):
        self.weights.add(tuple(weights))
        self.shares.p.stdin.write(
            (",".join(map(str, weights)) + "\n").encode())
        self.shares.p.stdin.flush()
        if self.shares.p.stdout.readline() != b"done\n":
            raise ValueError("the data plane does not take it")


def python(name, namespace, text):
    return e.Process(name, "ip", "netns", "exec", namespace, "python3", "-c",
                     text, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def said(process, sent=0):
    """What it says when it is told to end, once so many packets have come."""
    process.p.stdin.write(f"{sent}\n".encode())
    process.p.stdin.flush()
    return [int(x) for x in process.p.stdout.readline().split()]


def test_epochs():
    shutil.copy(os.environ["EPOCHS_TOPOLOGY"], f"{e.RUN}/topology.json")
    run = Run()
    plane = DataPlane(run.near)
    receiver = python("receiver", B, RECEIVE)
    receiver.p.stdout.readline()
    sender = python("sender", A, SEND)
    first = run.epoch()
    n = max(1, e.EPOCHS // 8)
    for test in (e.test_kill_etcd, e.test_two_gone, e.test_kill_engine,
                 e.test_fencing, e.test_compaction, e.test_all_gone):
        test(run, n)
    e.test_lies(run)
    while run.epoch() - first < e.EPOCHS:
        run.changes(1)
    run.settled()
    last = run.epoch()
    wait_for("the data plane", lambda: plane.done == len(run.near.applied()))
    sent = said(sender)[0]
    arrived, newest = said(receiver, sent)
    print(f"# {last - first} epochs, {plane.done} of them applied by host A, "
          f"{len(plane.weights)} different weights: {sent} packets sent, "
          f"{arrived} arrived")
    check("plans came to count in the data plane while packets went", plane.done > n
          and len(plane.weights) > 4 and plane.is_alive(), plane.weights)
    plane.over.set()
    check("each packet that was sent arrived", 0 < sent == arrived and
          newest == sent - 1, (sent, arrived, newest))
    run.record.complete()
    e.check_history([run.near, run.far])
    check("all end as they should", run.near.end() == 0 and
          run.far.end() == 0 and all(
              x.end() == 0 for x in run.engines.values()))


if __name__ == "__main__":
    sys.exit(e.main([test_epochs]))
