#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A fabric whose index has several pages: 40 leaves in two planes, so that the leaves
of most hosts are on different ones. Hosts (simhost) read their own, see what they
reported, and have all of it on their disks; the engine writes what changed, leaves no
key behind, and goes on where another one was.
"""

import json
import sys

import engine as e
from engine import RUN, check, wait_for

e.LEAVES = 20
HOSTS = [f"h{i}" for i in range(e.LEAVES)]
JOB = json.dumps({"all-to-all": {"hosts": HOSTS, "bytes": 1 << 30}})
STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}


def have_both(hosts):
    """Each host has what the plan says of both its leaves."""
    return all(set(hosts.last(h)["chunks"]) == {f"leaf0.{h[1:]}", f"leaf1.{h[1:]}"}
               and all(hosts.last(h)["chunks"].values()) for h in HOSTS)


def pages():
    """{PAGE: EPOCH} of keys, and how many pages, indices and chunks there are."""
    keys = [k.split("/") for k in e.stored()]
    return ({int(k[3]): int(k[2]) for k in keys
             if k[0] == "index" and len(k) == 4},
            sum(k[0] == "index" and len(k) == 4 for k in keys),
            sum(k[0] == "index" and len(k) == 3 for k in keys),
            sum(k[0] == "plan" and len(k) == 4 for k in keys))


def at_rest(hosts):
    """The engine has deleted what it has to, and all hosts say where they are."""
    return wait_for("acknowledgements", lambda: {
        h["epoch"] for h in e.ask("p", "show")["hosts"]} == {hosts.epoch("h0")})


def test_pages():
    server = e.start_engine("p", STORE)
    wait_for("leader", lambda: e.ask("p", "show")["leads"])
    hosts = e.Hosts("p-hosts", HOSTS, STORE, **{"lease-s": 60})
    e.store_put("job/t/all", JOB)
    check("hosts have the chunks of both leaves",
          wait_for("a plan", lambda: have_both(hosts)))
    at_rest(hosts)
    was = pages()
    check("16 leaves are on a page, and there is one index, a chunk a leaf",
          sorted(was[0]) == [0, 1, 2] and was[1:] == (3, 1, 40), was)

    hosts.tell("report h19 leaf0.19 spine0.2 0")
    wait_for("the report", lambda: hosts.last("h19")["seen"] == 1)
    at_rest(hosts)
    now = pages()
    check("a report is seen by who made it",
          {hosts.last(h)["seen"] for h in HOSTS[:19]} == {0})
    check("nothing is left of pages that changed", sorted(now[0]) == [0, 1, 2] and
          now[1:] == (3, 1, 40), now)
    check("of planes it is not in, nothing changed", now[0][2] == was[0][2] and
          now[0][1] != was[0][1], (was, now))

    before = hosts.epoch("h5")
    check("the engine ends as it should", server.end() == 0)
    server = e.start_engine("p", STORE)
    # what hosts report has a lease, which ends with its store: they say it again
    wait_for("an epoch with the report", lambda: all(
        hosts.epoch(h) > before for h in HOSTS) and
        hosts.last("h19")["seen"] == 1)
    check("another one goes on from there", have_both(hosts) and all(
        s["bad_head"] == s["bad_index"] == s["bad_chunk"] == s["replayed"] == 0
        for s in hosts.stats().values()), hosts.stats())
    at_rest(hosts)
    again = pages()
    check("with the page that is still good, and leaves nothing behind",
          sorted(again[0]) == [0, 1, 2] and again[0][2] == was[0][2] and
          again[1:] == (3, 1, 40), (now, again))
    check("engine and hosts end as they should",
          server.end() == 0 and hosts.end() == 0)
    with open(hosts.file, "w", encoding="ascii"):
        pass
    hosts = e.Hosts("p-hosts", HOSTS, STORE, **{"lease-s": 60})
    check("hosts have all of it on their disks", wait_for(
        "plans from the disk", lambda: have_both(hosts) and
        hosts.last("h19")["seen"] == 1))
    check("they end as they should", hosts.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_pages,)))
