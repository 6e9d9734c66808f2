#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What the global engine plans with "minmax" for a job stays as it is when another
job of the same tenant ends, whether the tenant has its own paths or not.
"""

import json
import socket
import sys

import engine as e
import tenants as t
from engine import RUN, check, wait_for


def topology():
    """Four leaves of eight hosts, and eight spines."""
    names = [(f"s{i}", "spine") for i in range(8)] + [
        (f"l{i}", "leaf") for i in range(4)]
    with open(f"{RUN}/rings-topology.json", "w", encoding="ascii") as f:
        json.dump({"srpol-topology": 1, "switches": [
            {"name": name, "role": role, "locator": f"fc00:0:{i + 1:x}::/48"}
            for i, (name, role) in enumerate(names)], "links": [
            {"from": f"l{i}", "to": f"s{k}", "rate": "400G"}
            for i in range(4) for k in range(8)], "hosts": [
            {"name": f"h{i}", "locator": f"fc00:1:{i + 1:x}::/48", "nics": [
                {"name": "e0", "leaf": f"l{i // 8}", "rate": "400G"}]}
            for i in range(32)]}, f)


def ring(hosts):
    return json.dumps({"demands": [
        {"src": f"h{host}", "dst": f"h{hosts[(i + 1) % len(hosts)]}",
         "bytes": 1 << 26} for i, host in enumerate(hosts)]})


def test_stays():
    """A job of a tenant ends, another one of it stays where it is."""
    def put(name, value):
        before = e.ask("rings", "show")
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(f"{RUN}/rings-store.sock")
            s.sendall(json.dumps({"id": 1, "op": "txn", "compare": [], "put": [
                [f"/srpol/{name}", value, 0]]}).encode() + b"\n")
            s.makefile().readline()
        # that of a change before may come first
        wait_for("its epoch", lambda: any(
            f"job/{j['tenant']}/{j['name']}" == name and j["epoch"]
            for j in e.ask("rings", "jobs")) if value else
            e.ask("rings", "show")["epoch"] > before["epoch"])
        return {(p["from"], p["to"]): p["weights"]
                for p in e.ask("rings", "plan")["pairs"]
                if {p["from"], p["to"]} != {"l2", "l3"}}

    topology()
    store = {"kind": "embedded", "socket": f"{RUN}/rings-store.sock"}
    server = e.start_engine("rings", store, algorithm="minmax",
                            topology=f"{RUN}/rings-topology.json",
                            file=f"{RUN}/rings-store.json")
    wait_for("leader", lambda: e.ask("rings", "show")["leads"])
    spines = ",".join(f"s{i}" for i in range(8))
    for name, words in ("own", f"color 20 paths {spines}"), ("all", "color 30"):
        t.tenant("rings", f"{name} {words}")
        put(f"job/{name}/other", ring([16, 25, 18, 27, 20, 29, 22, 31]))
        now = put(f"job/{name}/ring", ring([
            0, 9, 17, 26, 2, 24, 11, 4, 19, 13, 28, 6, 15, 21, 1, 8, 30, 3]))
        after = put(f"job/{name}/other", None)
        check(f"tenant {name}: a job that ends moves none of another one",
              now == after and len(now) > 6, (now, after))
        put(f"job/{name}/ring", None)
    check("rings: the engine ends as it should", server.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_stays,)))
