#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Two engines on an etcd of three members: the one that stands by knows no epoch, so no
host is behind for it, and has no plan, also if it is one that led before. If it has
another topology it says so before it leads.
"""

import functools
import json
import signal
import subprocess
import sys

from prometheus_client.openmetrics.parser import \
    text_string_to_metric_families

import engine as e
from engine import HOSTS, ask, check, wait_for
from page import Page
from telemetry import OPENMETRICS
from tenants import SRPOL, fabric, refused, run


def shown(name):
    """What fabric show prints."""
    return subprocess.run([SRPOL, "fabric", "show", "socket", f"{e.RUN}/{name}.sock"],
                          capture_output=True, text=True, check=False).stdout


def states(page, family):
    """Samples by state."""
    text = page.get("/metrics", headers=OPENMETRICS)[1].decode()
    return {s.labels["state"]: s.value for f in text_string_to_metric_families(text)
            for s in f.samples if s.name == f"srpol_fabric_{family}"}


class Engine(Page):
    """One with a page, that does not have to lead."""

    def __init__(self, name, store, **more):
        self.name = name
        self.port = e.free_ports(1)[0]
        self.process = e.start_engine(
            name, store, page=f"127.0.0.1:{self.port}", forecasts=100, **{"lease-s": 10},
            **more)
        wait_for("it", lambda: ask(name, "show"))

    def leads(self):
        return ask(self.name, "show")["leads"]

    def names(self):
        text = self.get("/metrics", headers=OPENMETRICS)[1].decode()
        return {s.name for f in text_string_to_metric_families(text) for s in f.samples}


@functools.cache
def a_store():
    """The etcd of all tests, and what an engine's configuration says of it."""
    etcd = e.Etcd()
    return etcd, {"kind": "etcd", "endpoints": etcd.endpoints}


PLANNED = {f"srpol_fabric_{x}" for x in (
    "demands", "planned_bytes", "switch_busy_seconds", "forecasts", "forecast_bytes")}


def has_no_plan(a, what):
    """What an engine says that stands by, while all hosts have acknowledged the epoch."""
    hosts = states(a, "hosts")
    check(f"{what}: its metrics count no host as behind, and none as silent",
          hosts == {"silent": 0, "unknown": 0}, hosts)
    check(f"{what}: nor do they have what is planned", not a.names() & PLANNED,
          a.names() & PLANNED)
    state = a.state()
    check(f"{what}: its page has no host on another epoch, and no plan",
          (state["counts"]["acked"], state["counts"]["behind"], state["plan"],
           state["change"], state["engine"]["epoch"]) == (0, 0, None, None, 0) and
          sum(b.get("behind", 0) for t in state["tiers"] for b in t["blocks"]) == 0,
          state)
    text = shown(a.name)
    check(f"{what}: fabric show says that it stands by, and of no host that it is behind",
          " standby leader " in text and "hosts 4\n" in text and
          "on-another-epoch" not in text and " pairs 0\n" in text, text)
    check(f"{what}: jobs have no links", [x["links"] for x in fabric(a.name, "jobs")] ==
          [[]], fabric(a.name, "jobs"))
    for words in (("plan",), ("diff",), ("why", "h0", "h1"), ("horizons",),
                  ("plan", "what-if", "link-down", "leaf0.0", "spine0.0")):
        text = refused(a.name, *words)
        check(f"{what}: {' '.join(words[:2])} is answered with who has a plan",
              "has no plan: " in text and " leads" in text, text)


def test_standby():
    etcd, store = a_store()
    engines = [Engine(name, store) for name in ("one", "two")]
    first = wait_for("a leader", lambda: [a for a in engines if a.leads()])[0]
    second = next(a for a in engines if a is not first)
    hosts = e.Hosts("standby-hosts", HOSTS, store, **{"lease-s": 60})

    def settled(leader):
        """All hosts have acknowledged a plan with the job, and both engines know."""
        epoch = ask(leader.name, "show")["epoch"]
        return ask(leader.name, "plan")["pairs"] and all(
            [h["epoch"] for h in ask(a.name, "show")["hosts"]] == [epoch] * len(HOSTS)
            for a in engines) and epoch

    def settled_alone(leader):
        epoch = ask(leader.name, "show")["epoch"]
        return epoch and ask(leader.name, "plan")["pairs"] and all(
            h["epoch"] == epoch for h in ask(leader.name, "show")["hosts"])

    etcd.put("job/t/a", e.JOB)
    wait_for("acknowledgements", lambda: settled(first))
    check("the leader counts its hosts",
          wait_for("them", lambda: states(first, "hosts") == {
              "applied": 4, "behind": 0, "silent": 0, "unknown": 0}))
    check("and what hosts foresee", set(states(first, "forecasts")) ==
          {"planned", "covered", "waits"})
    has_no_plan(second, "an engine that never led")

    # two plans, so that there would be a difference to tell
    epoch = ask(first.name, "show")["epoch"]
    hosts.tell("report h0 leaf0.0 spine0.0 50000000000")
    wait_for("another plan", lambda: settled(first) > epoch)
    check("the leader answers with its last change",
          run(first.name, "diff")[0] == 0, run(first.name, "diff"))
    first.process.p.send_signal(signal.SIGSTOP)
    e.stopped(first.process)
    wait_for("another leader", lambda: second.leads() and ask(second.name, "plan"))
    first.process.p.send_signal(signal.SIGCONT)
    wait_for("the old leader knows", lambda: not first.leads())
    hosts.tell("report h0 leaf0.0 spine0.1 50000000000")
    epoch = ask(second.name, "show")["epoch"]
    wait_for("a plan of the new leader", lambda: settled(second) > epoch)
    has_no_plan(first, "an engine that led before")
    check("the new leader counts its hosts",
          wait_for("them", lambda: states(second, "hosts") == {
              "applied": 4, "behind": 0, "silent": 0, "unknown": 0}))

    # the other one has planned in between, so its own two last plans are none
    ended = second.process.end()
    wait_for("the first one leads again", lambda: first.leads() and settled_alone(first))
    check("a leader that led before does not compare with a plan of then",
          "has not made two plans" in refused(first.name, "diff") and
          first.state()["change"] is None, first.state()["change"])
    check("all end as they should", hosts.end() == 0 and ended == 0 and
          first.process.end() == 0)


def other_topology(name):
    """A file whose topology has one host less."""
    with open(f"{e.RUN}/topology.json", encoding="utf-8") as f:
        t = json.load(f)
    t["hosts"].pop()
    with open(f"{e.RUN}/{name}.json", "w", encoding="utf-8") as f:
        json.dump(t, f)
    return f"{e.RUN}/{name}.json"


def test_topology():
    store = a_store()[1]

    def differs(a):
        found = [x["evidence"] for x in fabric(a.name, "advise")
                 if x["symptom"] == "topology-differs"]
        text = a.get("/metrics", headers=OPENMETRICS)[1].decode()
        return found, " 1" if "\nsrpol_fabric_topology_differs 1\n" in text else " 0"

    def said(a, text):
        with open(f"{e.OUT}/{a.name}.log", encoding="utf-8") as f:
            return sum(text in line for line in f)

    new = Engine("new", store, shard="1")
    wait_for("it leads", new.leads)
    old = Engine("old", store, shard="1", topology=other_topology("fewer"))
    topology = {a.name: ask(a.name, "show")["topology"] for a in (new, old)}
    what = {"leader": "new", "topology": topology["new"], "own": topology["old"]}
    wait_for("it knows", lambda: differs(old)[0])
    check("an engine with another topology than the leader's advises on that, and has a "
          "metric", differs(old) == ([what], " 1"), differs(old))
    check("and its log says so", wait_for("it", lambda: said(
        old, f"new leads with another topology, {topology['new']}; this engine has "
        f"{topology['old']}")) == 1)
    check("for the leader it is not another one", differs(new) == ([], " 0"), differs(new))

    ended = new.process.end()
    wait_for("the other one leads", old.leads)
    check("a leader does not differ from itself", differs(old) == ([], " 0"), differs(old))
    check("but says that the topology is not that of before", wait_for("it", lambda: said(
        old, "the topology is another one than that of who led before")) == 1)
    same = Engine("same", store, shard="1", topology=f"{e.RUN}/fewer.json")
    wait_for("it knows the leader", lambda: ask("same", "show")["leader"] == "old")
    wait_for("and the store", lambda: "store-silent" not in {
        x["symptom"] for x in fabric("same", "advise")})
    check("one with the same topology has nothing to say",
          differs(same) == ([], " 0") and not said(same, "another topology"), differs(same))
    new = Engine("new2", store, shard="1")
    wait_for("it knows", lambda: differs(new)[0])
    check("one that has been away is told, too", wait_for("it", lambda: said(
        new, f"old leads with another topology, {topology['old']}")) == 1)
    check("all end as they should", ended == 0 and [
        a.process.end() for a in (new, same, old)] == [0, 0, 0])


if __name__ == "__main__":
    sys.exit(e.main((test_standby, test_topology)))
