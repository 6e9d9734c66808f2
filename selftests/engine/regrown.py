#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A topology whose leaves get another number of spines while bandwidth is reserved: the
weights that are stored are of paths that are no more.
"""

import json
import sys

import engine as e
import tenants as t
from engine import HOSTS, RUN, check, wait_for
from tenants import G, add, fabric, run, state, tenant

SPINE = {"name": "spine0.9", "role": "spine", "plane": 0,
         "locator": "fc00:0:209::/48"}


def grow():
    """One more spine in the first plane."""
    with open(f"{RUN}/topology.json", encoding="ascii") as f:
        topology = json.load(f)
    topology["switches"].append(SPINE)
    topology["links"] += [{"from": f"leaf0.{i}", "to": SPINE["name"], "rate": "400G"}
                          for i in range(e.LEAVES)]
    with open(f"{RUN}/topology.json", "w", encoding="ascii") as f:
        json.dump(topology, f)


def reserved(job):
    found = fabric("g", "jobs", job)
    return found and found[0]["state"] == "reserved" and \
        found[0]["reservation"]["guaranteed"]


def weights(job, plane):
    """How many paths the stored weights of the first plane's leaf are of."""
    record = json.loads(e.stored()[f"resv/0/red/{job}"])
    return {len(json.loads(line)["weights"]) for line in
            record["weights"][f"leaf{plane}.0"].splitlines()}


def test_regrown():
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    engine = e.start_engine("g", store)
    wait_for("leader", lambda: e.ask("g", "show")["leads"])
    hosts = e.Hosts("g-hosts", HOSTS, store, **{"lease-s": 60})
    tenant("g", "red color 10 guaranteed 800G")
    add("g", "kept", "tenant", "red", *t.ALL, "bandwidth", "500G")
    wait_for("the reservation", lambda: reserved("kept") == 500 * G)
    before = weights("kept", 0), weights("kept", 1)
    check("weights are of all paths", before == ({e.SPINES}, {e.SPINES}), before)
    check("the engine ends as it should", engine.end() == 0)
    check("hosts end as they should", hosts.end() == 0)

    grow()
    engine = e.start_engine("g", store)
    hosts = e.Hosts("g-hosts", HOSTS, store, **{"lease-s": 60})
    check("with another spine the reservation gets other paths", wait_for(
        "the reservation", lambda: reserved("kept") == 500 * G))
    after = weights("kept", 0), weights("kept", 1)
    check("and these are of all paths that there are",
          after == ({e.SPINES + 1}, {e.SPINES}), after)
    check("its bandwidth counts", {x["name"]: x["reserved"] for x in
                                   fabric("g", "tenants")} == {"red": 500 * G})
    check("what was too much still is", add("g", "more", "tenant", "red", *t.ALL,
          "bandwidth", "400G")["decision"] != "accept")
    check("it can be deleted", run("g", "job", "del", "kept", "tenant", "red")[0] == 0
          and wait_for("its end", lambda: "resv/0/red/kept" not in e.stored()))
    check("and added again", add("g", "kept", "tenant", "red", *t.ALL, "bandwidth",
          "100G")["decision"] == "accept" and
          wait_for("it", lambda: state("g", "kept") == "reserved"))
    check("it ends as it should", engine.end() == 0)
    check("hosts, too", hosts.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_regrown,)))
