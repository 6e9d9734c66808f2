#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
stalls.py [SECONDS]: until it is told to end, stop processes of this tree at random
moments, for 0.1 to SECONDS (default 1.2) and go on, as a machine does that gives
its processors to somebody else: one, some, or all at a time. Of this tree are
those that run in it, or whose command names a file of it; what measures or
reports, run.sh and who calls it, is left alone. They are frozen by a cgroup (v2):
some tests send SIGSTOP themselves, and mean it.

SRPOL_SEED: of moments, processes and times
"""

import os
import random
import signal
import sys
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
SPARED = ("selftests/run.sh", "selftests/campaign.sh", "selftests/stalls.py")


def ancestors():
    """This process, and who called it."""
    pids, pid = set(), os.getpid()
    while pid:
        pids.add(pid)
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            pid = int(f.read().rsplit(")", 1)[1].split()[1])
    return pids


def of_this_tree(but):
    """Process ids; a process that ends meanwhile is none."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                command = os.fsdecode(f.read())
            here = os.readlink(f"/proc/{name}/cwd") + "/"
        except OSError:
            continue
        if command and int(name) not in but and \
                (here.startswith(f"{TOP}/") or f"{TOP}/" in command) and \
                not any(s in command for s in SPARED):
            found.append(int(name))
    return found


class Freezer:
    """A cgroup of our own; what is in it does not run."""

    def __init__(self):
        with open("/proc/self/mounts", encoding="utf-8") as f:
            self.root = next(line.split()[1] for line in f
                             if line.split()[2] == "cgroup2")
        self.own = f"{self.root}/srpol-stalls-{os.getpid()}"
        os.mkdir(self.own)

    @staticmethod
    def write(folder, name, value):
        with open(f"{folder}/{name}", "w", encoding="ascii") as f:
            f.write(str(value))

    def freeze(self, pids, seconds):
        """For so long; then they are where they were."""
        homes = []
        try:
            for pid in pids:
                try:
                    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as f:
                        home = next(line[3:].strip() for line in f
                                    if line.startswith("0::"))
                    self.write(self.own, "cgroup.procs", pid)
                except (OSError, StopIteration):    # it has ended
                    continue
                homes.append((pid, f"{self.root}{home}"))
            self.write(self.own, "cgroup.freeze", 1)
            time.sleep(seconds)
        finally:
            self.write(self.own, "cgroup.freeze", 0)
            for pid, home in homes:
                try:
                    self.write(home, "cgroup.procs", pid)
                except OSError:
                    pass

    def end(self):
        """Without what was born or is dying in it."""
        with open(f"{self.own}/cgroup.procs", encoding="ascii") as f:
            for pid in f.read().split():
                try:
                    self.write(self.root, "cgroup.procs", pid)
                except OSError:
                    pass
        os.rmdir(self.own)


def main():
    longest = float(sys.argv[1]) if len(sys.argv) > 1 else 1.2
    moments = random.Random(int(os.environ.get("SRPOL_SEED", time.time())))
    but = ancestors()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    freezer = Freezer()
    try:
        while True:
            time.sleep(moments.uniform(0.1, 1.5))
            pids = of_this_tree(but)
            some = min(len(pids), moments.choice((1, 1, 2, 99)))
            freezer.freeze(moments.sample(pids, some),
                           longest * moments.choice((1 / 12, 1 / 4, 1 / 2, 1)))
    finally:
        freezer.end()


main()
