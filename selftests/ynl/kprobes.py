# SPDX-License-Identifier: GPL-2.0
"""
How often the kernel calls some of its functions, by kprobe events.

    with Kprobes(begins="srpol_events_net_start") as calls:
        ...
        eq(calls.all(), {"begins": 1})

    with Kprobes(waits="__srpol_queue_tick value=$arg2:u64") as calls:
        ...
        longest = max(calls.values("waits"))
"""

import os

from ktap import run

TRACING = "/sys/kernel/tracing"


class Kprobes:
    """Probes at functions, each with a name of ours; where they end, they go."""

    def __init__(self, **functions):
        self.functions = functions

    def __enter__(self):
        run("sh", "-c", f"mountpoint -q {TRACING} || "
            f"mount -t tracefs tracefs {TRACING}")
        for name, function in self.functions.items():
            _write("kprobe_events", f"p:srpol/{name} {function}\n")
            if "value=" not in function:
                _write(f"events/srpol/{name}/filter",
                       f"common_pid == {os.getpid()}")
        _write("trace", "", os.O_TRUNC)
        _write("events/srpol/enable", "1")
        return self

    def __exit__(self, *_):
        _write("events/srpol/enable", "0")
        for name in self.functions:
            _write("kprobe_events", f"-:srpol/{name}\n")

    def all(self):
        """By whomever: {name: number}."""
        found = dict.fromkeys(self.functions, 0)
        with open(f"{TRACING}/kprobe_profile", encoding="ascii") as f:
            for line in f:
                name, hits = line.split()[:2]
                found[name] = int(hits)
        return found

    def own(self):
        """By this process: {name: number}."""
        return {name: sum(f" {name}: " in line for line in _trace())
                for name in self.functions}

    @staticmethod
    def values(name):
        """The argument "value" of all calls so far, but for those of workqueues."""
        return [int(line.rsplit("value=", 1)[1]) for line in _trace()
                if f" {name}: " in line and "kworker/" not in line]


def _trace():
    with open(f"{TRACING}/trace", encoding="ascii", errors="replace") as f:
        return f.read().splitlines()


def _write(name, text, flags=os.O_APPEND):
    """Write into a file there; it cannot be sought in, to append."""
    fd = os.open(f"{TRACING}/{name}", os.O_WRONLY | flags)
    try:
        os.write(fd, text.encode("ascii"))
    finally:
        os.close(fd)
