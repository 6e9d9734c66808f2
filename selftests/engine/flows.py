#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Jobs that say how many flows they send: asked for by the command as users have it,
each flow given a path by srpol-fabricd, told to hosts (simhost), and shown. Two
planes of four spines: eight paths between any two hosts.
"""

import json
import subprocess
import sys

import engine as e
import tenants as t
from engine import HOSTS, RUN, check, wait_for
from tenants import ALL, add, fabric

TWO = ("demand", "h0", "h1", "8000000")


def paths(hosts, color=0, src="h0", dst="h1"):
    """{PATH: FLOWS} as that host was told; None: nothing."""
    lines = hosts.last(src)["chunks"][f"leaf0.{src[1:]}"].splitlines()
    for line in map(json.loads, lines):
        if line.get("src") == src and line["dst"] == dst and \
                line.get("color", 0) == color:
            return dict(line["flows"])
    return None


def add_job(name, *words):
    reply = add("w", name, *words)
    assert reply["decision"] == "accept", reply


def test_refusals():
    for flows in 0, 257:
        said = t.error("w", "job-add", name="x", flows=flows, demands=[
            {"src": "h0", "dst": "h1", "bytes": 8000000}])
        check(f"refused: {flows} flows", "from 1 to 256" in said, said)
    for words in ("flows", "many"), ("flows",), ("flows", "0"), ("flows", "257"):
        status, _, said = t.run("w", "job", "add", "x", *TWO, *words)
        check(f"refused by the command: {' '.join(words)}",
              status == 1 and "flows" in said, said)


def test_paths(hosts):
    add_job("eight", *TWO, "flows", "8")
    told = wait_for("paths", lambda: paths(hosts))
    check("eight flows have eight paths", told == {i: 1 for i in range(8)}, told)
    check("hosts are told nothing of the pair of leaves beside",
          not t.chunk_lines(hosts, "h0", "leaf0.0", 0))
    why = fabric("w", "why", "h0", "h1")
    check("why says which path has how many",
          [p["flows"] for plane in why["planes"] for p in plane["paths"]] ==
          [1] * 8, why)
    plan = fabric("w", "plan", "from", "leaf0.0")
    check("so does the plan", [(f["src"], f["dst"], len(f["paths"]))
                               for f in plan["flows"]] == [("h0", "h1", 8)], plan)
    text = subprocess.run([t.SRPOL, "fabric", "plan", "socket",
                           f"{RUN}/w.sock"], capture_output=True, text=True,
                          check=True).stdout
    check("in text, too", "flows from h0 rail 0 to h1 rail 0 paths 0:1,1:1,2:1,"
          in text, text)
    job = fabric("w", "jobs", "eight")[0]
    check("the job says how many they are, and has a plan", job["flows"] == 8 and
          job["state"] == "planned" and job["links"], job)


def test_others(hosts):
    """A second job of the same size goes where the first is not."""
    e.store_put("job/t/four", json.dumps({"demands": [
        {"src": "h0", "dst": "h2", "bytes": 4000000}], "flows": 4}))
    told = wait_for("paths", lambda: paths(hosts, dst="h2"))
    check("four more flows have four paths", sorted(told.values()) == [1] * 4,
          told)
    e.store_put("job/t/rest", json.dumps({"demands": [
        {"src": "h0", "dst": "h3", "bytes": 4000000}], "flows": 4}))
    more = wait_for("paths", lambda: paths(hosts, dst="h3"))
    check("and the next four the others", sorted([*told, *more]) ==
          list(range(8)), (told, more))


def test_link(hosts):
    before = paths(hosts), paths(hosts, dst="h2"), paths(hosts, dst="h3")
    hosts.tell("report h1 leaf0.0 spine0.2 0")
    wait_for("the plan after it", lambda: hosts.last("h1")["seen"] and
             2 not in paths(hosts))
    after = paths(hosts), paths(hosts, dst="h2"), paths(hosts, dst="h3")
    check("none takes a link that is down, and all have a path",
          all(2 not in p for p in after) and
          [sum(p.values()) for p in after] == [8, 4, 4], after)
    moved = sum(max(0, b.get(i, 0) - a.get(i, 0))
                for b, a in zip(before, after) for i in range(8))
    check("few others moved", moved <= 4, (before, after))
    diff = fabric("w", "diff")
    check("what changed is shown", any(
        {f["path"] for f in c["before"]} - {f["path"] for f in c["after"]} == {2}
        for c in diff["flows"]), diff)
    trial = fabric("w", "plan", "what-if", "link-down", "leaf0.0", "spine0.1")
    check("so is what another one would change", any(
        1 in {f["path"] for f in c["before"]} and
        1 not in {f["path"] for f in c["after"]} for c in trial["flows"]), trial)
    t.tell_until(hosts, "report h1 leaf0.0 spine0.2 400000000000",
                 "all paths again", lambda: any(
                     2 in paths(hosts, dst=h) for h in HOSTS[1:]))


def test_tenants(hosts):
    t.tenants_of("w", "red color 10 guaranteed 800G",
                 "blue color 20 paths spine0.0,spine0.1,spine1.0,spine1.1")
    add_job("slice", "tenant", "blue", *TWO, "flows", "4")
    told = wait_for("paths", lambda: paths(hosts, 20))
    check("flows of a tenant are in its color, on its paths",
          set(told) <= {0, 1, 4, 5} and sum(told.values()) == 4, told)
    add_job("kept", "tenant", "red", *TWO, "flows", "4", "bandwidth", "100G")
    wait_for("a reservation", lambda: t.state("w", "kept") == "reserved")
    check("those of a reservation have its weights",
          paths(hosts, 10) is None and t.chunk_lines(hosts, "h0", "leaf0.0", 10))
    kept = t.chunk_lines(hosts, "h0", "leaf0.0", 10)
    add_job("loose", "tenant", "red", *TWO, "flows", "1")
    wait_for("a plan with it", lambda: t.state("w", "loose") == "planned")
    check("nor do another job's flows take what is kept",
          paths(hosts, 10) is None and
          t.chunk_lines(hosts, "h0", "leaf0.0", 10) == kept,
          hosts.last("h0")["chunks"])
    fabric("w", "job", "del", "slice", "tenant", "blue")
    wait_for("no paths", lambda: paths(hosts, 20) is None)
    check("they go with their job", True)


def test_beside(hosts):
    """A policy's weights are for all that it carries."""
    add_job("plain", *TWO)
    wait_for("no paths of flows", lambda: paths(hosts) is None)
    check("where a job without flows sends the weights are its own",
          t.chunk_lines(hosts, "h0", "leaf0.0", 0)["leaf0.1"] == "ffff",
          hosts.last("h0")["chunks"])
    fabric("w", "job", "del", "plain")
    wait_for("paths again", lambda: paths(hosts))


def test_others_load(hosts):
    """What others send by weights is seen: they go where that is not."""
    fabric("w", "job", "del", "eight")
    wait_for("no paths", lambda: paths(hosts) is None)
    t.run("w", "tenant", "add", "green", "color", "30", "paths",
          "spine0.0,spine1.0")
    wait_for("a tenant", lambda: len(fabric("w", "tenants")) == 3)
    add_job("heavy", "tenant", "green", "demand", "h0", "h1", "900000000")
    wait_for("its weights", lambda: t.chunk_lines(hosts, "h0", "leaf0.0", 30))
    add_job("light", "demand", "h0", "h1", "6000000", "flows", "6")
    told = wait_for("paths", lambda: paths(hosts))
    check("flows are where others are not", sum(told.values()) == 6 and
          set(told) <= {1, 2, 3, 5, 6, 7}, told)


def test_stays(hosts):
    """What comes later, and is greater, finds a path beside what is there."""
    add_job("first", "demand", "h3", "h1", "1000000", "flows", "1")
    was = wait_for("a path", lambda: paths(hosts, src="h3", dst="h1"))
    add_job("later", "demand", "h3", "h2", "8000000", "flows", "1")
    later = wait_for("another", lambda: paths(hosts, src="h3", dst="h2"))
    now = paths(hosts, src="h3", dst="h1")
    check("a flow stays when a greater one comes", now == was and
          now.keys() != later.keys(), (was, now, later))
    for name in "first", "later":
        fabric("w", "job", "del", name)
    wait_for("their paths taken back", lambda: not hosts.last("h3")["chunks"])


def test_takeover(hosts, server, store):
    check("the engine ends as it should", server.end() == 0)
    server = e.start_engine("w", store)
    # a host may be behind with the last epoch of the one that ended
    wait_for("an epoch of the next leader",
             lambda: e.ask("w", "show")["stats"]["published"])
    wait_for("that it is applied", lambda: {hosts.epoch(h) for h in HOSTS} ==
             {e.ask("w", "show")["epoch"]})
    check("the next leader gives all of them paths",
          sum(paths(hosts).values()) == 8 and
          sum(paths(hosts, dst="h3").values()) == 4, paths(hosts))
    return server


def test_flows():
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    server = e.start_engine("w", store)
    wait_for("leader", lambda: e.ask("w", "show")["leads"])
    hosts = e.Hosts("w-hosts", HOSTS, store, **{"lease-s": 60})
    test_refusals()
    test_paths(hosts)
    test_others(hosts)
    test_link(hosts)
    test_tenants(hosts)
    test_beside(hosts)
    test_stays(hosts)
    server = test_takeover(hosts, server, store)
    reply = add("w", "all", *ALL, "flows", "2")
    check("an all-to-all may be flows", reply["decision"] == "accept", reply)
    wait_for("its paths", lambda: paths(hosts, src="h3", dst="h2"))
    fabric("w", "job", "del", "all")
    test_others_load(hosts)
    check("the engine ends as it should", server.end() == 0)
    check("hosts end as they should", hosts.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_flows,)))
