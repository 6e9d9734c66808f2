#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
stalls.py [SECONDS]: until it is told to end, stop processes of this tree at random
moments, for 0.1 to SECONDS (default 1.2) and go on, as a machine does that gives
its processors to somebody else: one, some, or all at a time. Of this tree are
those that run in it, or whose command names a file of it; what measures or
reports, run.sh and who calls it, is left alone.

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


def send(pids, sig):
    for pid in pids:
        try:
            os.kill(pid, sig)
        except ProcessLookupError:
            pass


def main():
    longest = float(sys.argv[1]) if len(sys.argv) > 1 else 1.2
    moments = random.Random(int(os.environ.get("SRPOL_SEED", time.time())))
    but = ancestors()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        time.sleep(moments.uniform(0.1, 1.5))
        pids = of_this_tree(but)
        pids = moments.sample(pids, min(len(pids), moments.choice((1, 1, 2, 99))))
        try:
            send(pids, signal.SIGSTOP)
            time.sleep(longest * moments.choice((1 / 12, 1 / 4, 1 / 2, 1)))
        finally:
            send(pids, signal.SIGCONT)


main()
