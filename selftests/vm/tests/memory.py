#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What is configured is charged to the memory of who configured it, the index of
colors included, which grows with the colors and not with what they are for.

    d0 (dummy, up, fd00:1::1/64, neighbor fd00:1::2)
"""

import os
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import busywait, cleanup, eq, main, say, test     # noqa: E402
from srpol import EXCL                                  # noqa: E402

ROOT = "/sys/fs/cgroup"
GROUP = f"{ROOT}/srpol-memory"
COLORS = 512
# Colors so far apart that each needs three nodes of its own, of 576 bytes, in
# either of the tables of colors, those there are and those that are up.
NODES = 2 * 3 * 576 * COLORS

net.load_module()
ns = net.Netns("link add d0 type dummy\nlink set d0 up\n"
               "addr add fd00:1::1/64 dev d0 nodad\n"
               "neigh add fd00:1::2 lladdr 02:00:00:00:00:02 dev d0\n")
d0 = ns.ifindex("d0")


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def charged():
    """Bytes of kernel objects."""
    with open(f"{GROUP}/memory.stat", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f
                    if line.startswith("slab "))


def settled():
    """Likewise, when all of it is there: the kernel adds up every two seconds."""
    for _ in range(20):
        before = charged()
        time.sleep(2.5)
        if charged() == before:
            return before
    raise AssertionError("what is charged goes on changing")


class Inside:
    """A process in the group, which does what it is told to and stays."""

    def __init__(self, steps):
        here, there = os.pipe()
        self.go_fd = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            status = 1
            try:
                write(f"{GROUP}/cgroup.procs", str(os.getpid()))
                os.close(self.go_fd[1])
                for _ in steps():
                    os.write(there, b"x")
                    os.read(self.go_fd[0], 1)
                    status = 0
            finally:
                os._exit(status)
        os.close(there)
        os.close(self.go_fd[0])
        self.done = here

    def wait(self):
        eq(os.read(self.done, 1), b"x", "the process in the group")

    def go_on(self):
        os.write(self.go_fd[1], b"x")

    def end(self):
        os.close(self.go_fd[1])
        os.waitpid(self.pid, 0)


def policies():
    client = ns.client()
    client.new("path", id=1, sids=["fc00::1"], ifindex=d0, via="fd00:1::2")
    busywait(lambda: client.get("path", id=1)["state"] == "up")
    yield
    client.apply(*(
        ("policy-new", {"color": i << 22, "endpoint": "fd00::b",
                        "candidate": [{"segment_list": [{"path": 1}]}]}, EXCL)
        for i in range(1, COLORS + 1)))
    yield
    client.clear()
    yield


@test
def colors():
    "the tables of colors are charged, and given back"
    write(f"{ROOT}/cgroup.subtree_control", "+memory")
    os.mkdir(GROUP)
    cleanup(os.rmdir, GROUP)
    inside = Inside(policies)
    try:
        inside.wait()
        before = charged()
        inside.go_on()
        inside.wait()
        busywait(lambda: settled() > before + NODES, 60,
                 f"{NODES} bytes charged beside {before}")
        full = settled()
        inside.go_on()
        inside.wait()
        busywait(lambda: charged() < full - NODES, 60,
                 f"{NODES} bytes given back of {full}")
        say(f"{COLORS} policies of as many colors: {full - before} bytes")
    finally:
        inside.end()


main()
