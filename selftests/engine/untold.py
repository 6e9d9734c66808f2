#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
More flows below a leaf than the store takes in one value: hosts below it are told
nothing, and srpol-fabricd does not say otherwise; other leaves, and plans that
follow, are as ever.
"""

import json
import sys

import engine as e
import tenants as t
from engine import RUN, check, wait_for
from tenants import add, fabric

LONG = "a-host-with-a-name-as-long-as-names-may-be-"
MANY, FEW = [f"{LONG}{i:03}" for i in range(100)], [f"few{i}" for i in range(8)]
HOST = MANY[0], FEW[0]


def topology():
    """Most hosts are below one of two leaves."""
    switches = [{"name": f"leaf{i}", "role": "leaf", "plane": 0,
                 "locator": f"fc00:0:1{i}::/48"} for i in range(2)]
    switches += [{"name": f"spine{i}", "role": "spine", "plane": 0,
                  "locator": f"fc00:0:2{i}::/48"} for i in range(4)]
    hosts = [{"name": name, "locator": f"fc00:1:{i:x}::/48", "nics": [
        {"name": "eth0", "leaf": f"leaf{int(name in FEW)}", "plane": 0,
         "rate": "400G", "address": f"fd00:{i:x}:1::1",
         "gateway": f"fd00:{i:x}:1::fe"}]}
        for i, name in enumerate(MANY + FEW, 1)]
    links = [{"from": f"leaf{leaf}", "to": f"spine{spine}", "rate": "400G"}
             for leaf in range(2) for spine in range(4)]
    with open(f"{RUN}/topology.json", "w", encoding="ascii") as f:
        json.dump({"srpol-topology": 1, "switches": switches, "hosts": hosts,
                   "links": links}, f)


def add_job(name, *words):
    reply = add("u", name, *words)
    assert reply["decision"] == "accept", reply


def told(hosts, leaf):
    """(pairs of leaves, pairs of GPUs) of a leaf's chunk, as its host has it"""
    chunk = hosts.last(HOST[leaf])["chunks"].get(f"leaf{leaf}", "")
    lines = [json.loads(line) for line in chunk.splitlines()]
    flows = sum("src" in line for line in lines)
    return len(lines) - flows, flows


def planned(leaf):
    return len(fabric("u", "plan", "from", f"leaf{leaf}")["flows"])


def test_untold():
    topology()
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    server = e.start_engine("u", store, **{"lease-s": 60})
    wait_for("leader", lambda: e.ask("u", "show")["leads"])
    hosts = e.Hosts("u-hosts", HOST, store, **{"lease-s": 60})
    add_job("one", "demand", MANY[0], FEW[0], "8000000", "flows", "2")
    wait_for("its paths", lambda: told(hosts, 0) == (0, 1))

    add_job("all", "hosts", ",".join(MANY + FEW), "bytes", "1000000", "flows", "4")
    wait_for("a plan that both hosts have", lambda: told(hosts, 1)[1] and
             hosts.epoch(HOST[0]) == hosts.epoch(HOST[1]))
    check("a leaf with few hosts is told all paths",
          told(hosts, 1) == (0, len(FEW) * (len(MANY + FEW) - 1)),
          told(hosts, 1))
    check("one with too many is told nothing", told(hosts, 0) == (0, 0),
          told(hosts, 0))
    check("the plan says what hosts were told",
          (planned(0), planned(1)) == (0, told(hosts, 1)[1]),
          (planned(0), planned(1)))
    why = fabric("u", "why", *HOST)
    check("so does why", not any(path.get("flows") for plane in why["planes"]
                                 for path in plane["paths"]), why)

    add_job("two", "demand", FEW[0], MANY[1], "8000000", "flows", "2")
    wait_for("another plan", lambda: t.state("u", "two") == "planned")
    check("plans go on", planned(1) and not planned(0))
    with open(f"{e.OUT}/u.log", encoding="utf-8") as f:
        said = [line for line in f if "too many to tell" in line]
    check("the log says so, once", len(said) == 1 and "1 leaves" in said[0], said)

    fabric("u", "job", "del", "all")
    wait_for("paths as before", lambda: told(hosts, 0) == (0, 1))
    check("when they are gone hosts are told again", planned(0) == 1)
    check("the engine ends as it should", server.end() == 0)
    check("hosts end as they should", hosts.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_untold,)))
