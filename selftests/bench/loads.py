#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What it costs to tell what hosts measured: 100 hosts with srpold's own code
(simhost), srpol-fabricd as it is shipped, and three servers, once of etcd, once
of NATS beside an etcd that has no loads to carry; processor time and bytes over
loopback for each load that is told, idle time of the same length taken off.

Each host tells LOADS_LINKS links (default 64), LOADS_ROUNDS times (default 50).
Prints a table; nothing is held to it. Needs a network namespace of its own, as
it counts loopback's bytes: unshare --net selftests/bench/loads.py
"""

import os
import sys
import time

import fanout
from fanout import engine, wait_for
from bus import Nats

HOSTS = 100
LINKS = int(os.environ.get("LOADS_LINKS", "64"))
ROUNDS = int(os.environ.get("LOADS_ROUNDS", "50"))


def rate():
    return engine.ask("A", "show")["load"]["bps"]


def tell(hosts, round_):
    """Twice or half of what it was, so that it is told."""
    before = sum(s["loads"] for s in hosts.stats().values())
    for h in hosts.hosts:
        hosts.tell(f"many {h} {LINKS} {1000 << round_ % 2}")
    wait_for("all loads", lambda: sum(
        s["loads"] for s in hosts.stats().values()) >= before + HOSTS)


def settled(hosts, round_):
    """What the engine makes of it when nothing more comes."""
    tell(hosts, round_)
    last = 0
    while last != (last := rate()):
        time.sleep(2)
    return last


def measure(name, groups, hosts):
    wanted = [settled(hosts, i) for i in range(2)]
    begin = time.monotonic()
    before = [fanout.processor(g) for g in groups] + [fanout.loopback()]
    for i in range(ROUNDS):
        tell(hosts, i)
        wait_for("the engine", lambda: rate() == wanted[i % 2])
    now = [fanout.processor(g) for g in groups] + [fanout.loopback()]
    took = time.monotonic() - begin
    time.sleep(took)
    idle = [fanout.processor(g) for g in groups] + [fanout.loopback()]
    n = ROUNDS * HOSTS
    cost = [(b - a - (c - b)) / n for a, b, c in zip(before, now, idle)]
    print(f"{name:>24} {cost[0] * 1e6:8.0f} {cost[1] * 1e6:8.0f} "
          f"{cost[2] * 1e6:8.0f} {cost[3]:8.0f}", flush=True)


def run(name, bus):
    etcd = engine.Etcd()
    nats = Nats() if bus else None
    store = {"kind": "etcd", "endpoints": etcd.endpoints}
    more = {"bus": {"servers": nats.urls}} if bus else {}
    fabricd = engine.start_engine("A", store, **more)
    wait_for("leader", lambda: engine.ask("A", "show")["leads"])
    hosts = engine.Hosts("hosts", [f"h{i}" for i in range(HOSTS)], store, **more)
    if bus:
        wait_for("the bus", lambda: engine.ask("A", "show")["bus"] == "connected")
    etcd.put("job/t/all", engine.json.dumps(
        {"all-to-all": {"hosts": ["h0", "h32"], "bytes": 1 << 30}}))
    wait_for("plans", lambda: all(hosts.epoch(h) for h in hosts.hosts))
    servers = [p for p in (nats.members if bus else etcd.members)]
    measure(name, [servers, [fabricd], [hosts.process]], hosts)
    for p in reversed(engine.processes):
        p.end(9)
    engine.processes.clear()
    os.system(f"rm -rf {engine.RUN}/etcd*")


def main():
    os.system("ip link set lo up")
    fanout.topology(HOSTS)
    print(f"{HOSTS} hosts, {LINKS} links each; per load, processor time in us")
    print(f"{'':>24} {'servers':>8} {'engine':>8} {'host':>8} {'bytes':>8}")
    try:
        run("etcd", False)
        run("NATS", True)
    finally:
        for p in reversed(engine.processes):
            p.end(9)
        os.system(f"rm -rf {engine.RUN}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
