#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Jobs that go through functions of switches: asked for and refused by the command
as users have it, planned for, told to hosts (simhost), and shown with segment
lists. What a function does is the topology file's model; that it is opaque is
said wherever it is shown.
"""

import json
import subprocess
import sys

import engine as e
import tenants as t
from engine import HOSTS, RUN, check, wait_for
from tenants import ALL, add, fabric, refused, run

SUM = "spine0.1", "spine0.3", "spine1.1"


def with_functions():
    """The model adds up 4:1 at SUM; zip is where no path of h0 to h1 turns back."""
    with open(f"{RUN}/topology.json", encoding="ascii") as f:
        topology = json.load(f)
    topology["usid"] = {"block": "fcbb:bb00::/32"}
    for i, node in enumerate(topology["switches"] + topology["hosts"]):
        node["usid"] = f"fcbb:bb00:{i + 1:x}::"
        if node["name"] in SUM:
            node["functions"] = [
                {"name": "sum", "kind": "aggregate", "function": "::a1",
                 "usid": f"fcbb:bb00:a{i + 1:02x}::", "ratio": 0.25,
                 "rate": "3.2T"}]
        if node["name"] == "leaf0.3":
            node["functions"] = [{"name": "zip", "kind": "compress",
                                  "function": "::a2", "ratio": 0.5}]
    with open(f"{RUN}/topology.json", "w", encoding="ascii") as f:
        json.dump(topology, f)


def weights(hosts, host, leaf, color):
    return set(t.chunk_lines(hosts, host, leaf, color).values())


def test_refusals():
    for words, text in (
            (("job", "add", "x", "tenant", "red", *ALL, "via", "magic"),
             'no switch offers a function of name or kind "magic"'),
            (("job", "add", "x", "tenant", "red", *ALL, "via", "multicast"),
             'no switch offers a function of name or kind "multicast"'),
            (("job", "add", "x", "tenant", "red", "demand", "h0", "h1", "5",
              "via", "zip"),
             'no path from h0 to h1 passes a switch that offers "zip": leaf0.3'),
            (("job", "add", "x", *ALL, "via", "sum"), "there is no tenant"),
            (("job", "add", "x", "tenant", "nobody", *ALL, "via", "sum"),
             'no tenant "nobody"'),
            (("why", "h0", "h1", "tenant", "nobody"), 'no tenant "nobody"')):
        said = refused("f", *words)
        check(f"refused: {' '.join(words)}", text in said, said)


def test_planned(hosts):
    e.store_put("job/red/idle", '{"demands": [], "via": "sum"}')
    wait_for("a job that sends nothing", lambda: "red/idle" in
             e.ask("f", "show")["jobs"])
    reply = add("f", "reduce", "tenant", "red", *ALL, "via", "sum")
    check("a job may ask for a function", reply["decision"] == "accept", reply)
    wait_for("its plan", lambda: t.state("f", "reduce") == "planned" and
             weights(hosts, "h1", "leaf0.1", 10))
    check("paths of its tenant's color pass a switch that offers it",
          weights(hosts, "h1", "leaf0.1", 10) == {"0f0f"} and
          weights(hosts, "h1", "leaf1.1", 10) == {"0f00"} and
          not weights(hosts, "h1", "leaf0.1", 0), hosts.last("h1"))
    job = fabric("f", "jobs", "reduce")[0]
    run("f", "job", "del", "idle", "tenant", "red")
    wait_for("its end", lambda: "red/idle" not in e.ask("f", "show")["jobs"])
    check("jobs tells what it goes through", job["via"] == "sum", job)
    add("f", "plain", "tenant", "blue", *ALL)
    wait_for("its plan", lambda: t.state("f", "plain") == "planned")
    check("others take all paths, without a color",
          wait_for("weights", lambda: weights(hosts, "h1", "leaf0.1", 0)) ==
          {"ffff"} and weights(hosts, "h1", "leaf0.1", 10) == {"0f0f"},
          hosts.last("h1"))
    e.store_put(f"job/red/{'0' * 100}", '{"demands": []}')
    wait_for("a job whose name is too long", lambda: any(
        "0" * 100 in name for name in e.ask("f", "show")["jobs"]))
    check("a color has one function",
          "the tenant's other jobs have sum" in refused(
              "f", "job", "add", "more", "tenant", "red", *ALL) and
          "the tenant's other jobs have none" in refused(
              "f", "job", "add", "more", "tenant", "blue", *ALL, "via", "sum"))
    e.store_put("job/blue/zz", json.dumps({**json.loads(e.JOB),
                                           "via": "sum"}))
    wait_for("a job that a scheduler wrote", lambda: "blue/zz" in
             e.ask("f", "show")["jobs"])
    add("f", "other", "tenant", "blue", *ALL)
    wait_for("the next plan", lambda: t.state("f", "other") == "planned")
    check("also if a scheduler writes it: it is not planned for",
          not weights(hosts, "h1", "leaf0.1", 20), hosts.last("h1"))
    e.store_put("job/red/zz", e.JOB)
    wait_for("a job without a function, of a tenant with one", lambda: (
        "job/red/zz is not planned for: hosts tell packets by the tenant's "
        "color: function none is asked for") in
        open(f"{e.OUT}/f.log", encoding="utf-8").read())
    check("nor one without a function, of a tenant with one",
          weights(hosts, "h1", "leaf0.1", 10) == {"0f0f"})
    check("both are shown so", wait_for("their states", lambda: [
        (j["state"], j["epoch"]) for j in fabric("f", "jobs", "zz")] ==
            [("unplanned", None)] * 2))
    plans = t.stats("f")["plans"]
    hosts.tell("report h0 leaf0.0 spine0.0 100000000000")
    wait_for("another plan", lambda: t.stats("f")["plans"] > plans)
    with open(f"{e.OUT}/f.log", encoding="utf-8") as f:
        told = [line for line in f if "red/zz is not planned for" in line]
    check("which is told once, not with each plan", len(told) == 1, told)
    t.tell_until(hosts, "report h0", "weights as before", lambda: weights(
        hosts, "h1", "leaf0.1", 0) == {"ffff"})
    run("f", "job", "del", "zz", "tenant", "red")
    wait_for("its end", lambda: "red/zz" not in e.ask("f", "show")["jobs"])


def test_shown():
    found = fabric("f", "functions")
    check("functions are told with their switch, SID, model and jobs",
          sorted(fn["switch"] for fn in found if fn["name"] == "sum") ==
          sorted(SUM) and all(
              fn["jobs"] == [{"tenant": "red", "name": "reduce"}] and
              fn["model"] == {"ratio": 0.25, "rate": 3200000000000}
              for fn in found if fn["name"] == "sum") and
          [fn for fn in found if fn["name"] == "zip"] == [
              {"switch": "leaf0.3", "name": "zip", "kind": "compress",
               "sid": "fc00:0:103::a2", "usid": None, "jobs": [],
               "model": {"ratio": 0.5, "rate": None}}], found)
    text = subprocess.run([t.SRPOL, "fabric", "functions", "socket",
                           f"{RUN}/f.sock"], capture_output=True, text=True,
                          check=True).stdout
    check("as text it is said that it is a model",
          text.count("opaque; simulated ratio 0.25 rate 3200000000000bit/s "
                     "jobs red/reduce\n") == 3, text)
    paths = fabric("f", "why", "h0", "h1", "tenant", "red")["planes"][0]["paths"]
    check("a path's segment list has its SID in place of the switch's",
          [p["weight"] for p in paths] == [0, 15, 0, 15] and
          paths[1]["segments"] == ["fc00:0:201::a1", "fc00:0:101::1",
                                   "fc00:1:2::d6"] and
          paths[1]["usids"][0].startswith("fcbb:bb00:a") and
          paths[1]["function"]["switch"] == "spine0.1" and
          paths[0]["function"] is None and paths[0]["segments"] == [], paths)
    paths = fabric("f", "why", "h0", "h1")["planes"][0]["paths"]
    check("those of others do not", all(p["function"] is None for p in paths)
          and paths[1]["segments"][0] == "fc00:0:201::1", paths)
    text = subprocess.run([t.SRPOL, "fabric", "why", "h0", "h1", "tenant",
                           "red", "socket", f"{RUN}/f.sock"],
                          capture_output=True, text=True, check=True).stdout
    check("as text as well", "function sum of spine0.3" in text and
          "segs fc00:0:203::a1,fc00:0:101::1,fc00:1:2::d6" in text, text)


def test_model():
    """
    h0 sends 3 GB; the three that send to each host share its two NICs: 30 ms.
    Behind an aggregation there is a quarter of that, so the sender's NICs limit,
    which send all of it: as long. With half of them down the receiver's would.
    """
    what = fabric("f", "plan", "what-if", "link-down", "leaf0.0", "spine0.1")
    jobs = {job["name"]: job for job in what["jobs"]}
    check("what-if has a job go through another switch",
          jobs["reduce"]["local_s"] is not None and
          jobs["reduce"]["planned_s"] is not None, what)
    many = [x for src in HOSTS[1:] for x in ("demand", src, "h0", "1000000000")]
    for name in ("plain", "other", "zz"):
        run("f", "job", "del", name, "tenant", "blue")
    run("f", "job", "del", "reduce", "tenant", "red")
    wait_for("no jobs", lambda: not fabric("f", "jobs"))
    add("f", "incast", "tenant", "red", *many)
    wait_for("its plan", lambda: t.state("f", "incast") == "planned")
    plain = end_of("incast")
    run("f", "job", "del", "incast", "tenant", "red")
    wait_for("no jobs", lambda: not fabric("f", "jobs"))
    add("f", "incast", "tenant", "red", *many, "via", "sum")
    wait_for("its plan", lambda: t.state("f", "incast") == "planned")
    summed = end_of("incast")
    check("three to one: without it h0's NICs limit, with it those of the senders",
          abs(plain - 8 * 3e9 / 800e9) < 1e-6 and
          abs(summed - 8 * 1e9 / 800e9) < 1e-6, (plain, summed))


def end_of(name):
    what = fabric("f", "plan", "what-if", "link-down", "leaf0.3", "spine0.0")
    return {job["name"]: job for job in what["jobs"]}[name]["now_s"]


def test_reserved(hosts):
    run("f", "job", "del", "incast", "tenant", "red")
    wait_for("no jobs", lambda: not fabric("f", "jobs"))
    reply = add("f", "kept", "tenant", "red", "demand", "h0", "h1", "1000",
                "bandwidth", "100G", "via", "sum")
    check("bandwidth is kept on paths that pass it",
          reply["decision"] == "accept", reply)
    wait_for("the second step", lambda: t.state("f", "kept") == "reserved")
    check("by weights of its color", weights(hosts, "h0", "leaf0.0", 10) ==
          {"0f0f"}, hosts.last("h0"))
    job = fabric("f", "jobs", "kept")[0]
    behind = [link for link in job["links"] if link["to"] == "leaf0.1"]
    check("as if it did nothing: behind it there is as much of it",
          behind and sum(link["reserved"] for link in behind) == sum(
              link["reserved"] for link in job["links"]
              if link["from"] == "leaf0.0"), job)
    hosts.tell("report h0 leaf0.0 spine0.1 0")
    hosts.tell("report h0 leaf0.0 spine0.3 0")
    hosts.tell("report h0 leaf1.0 spine1.1 0")
    wait_for("loss", lambda: t.state("f", "kept") == "lost")
    reply = add("f", "late", "tenant", "red", "demand", "h0", "h1", "1000",
                "bandwidth", "1G", "via", "sum")
    check("where none is left it is refused, and said what is missing",
          reply["decision"] != "accept" and
          "passes a switch that offers sum" in reply["reason"], reply)


def test_functions():
    with_functions()
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    server = e.start_engine("f", store)
    wait_for("leader", lambda: e.ask("f", "show")["leads"])
    hosts = e.Hosts("f-hosts", HOSTS, store, **{"lease-s": 60})
    t.tenants_of("f", "red color 10 guaranteed 800G",
                 "blue color 20 guaranteed 800G")
    test_refusals()
    test_planned(hosts)
    test_shown()
    test_model()
    test_reserved(hosts)
    check("the engine ends as it should", server.end() == 0)
    check("hosts end as they should", hosts.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_functions,)))
