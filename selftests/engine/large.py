#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What is larger than a store takes at once, on a real etcd: the steps of many large
reservations that are due at the same moment, an index with all too many tenants, and
chunks that an earlier engine has left.
"""

import json
import re
import signal
import sys

import engine as e
import tenants as t
from engine import HOSTS, check, wait_for
from tenants import G, fabric, run, state, tenant

JOBS = [f"large{i}" for i in range(8)]
DEMANDS = 4000		# of each: all records together are more than etcd takes
ETCD_TAKES = 1536 << 10
LATE = re.compile("(epoch [0-9]+|steps of reservations): "
                  ".*(timed out|Timeout was reached).* again$")


def unexplained(engine):
    """
    How many transactions failed for another reason than that etcd did not answer in
    time, which a busy machine is enough for: the log has the reason of each.
    """
    with open(f"{e.OUT}/{engine}.log", encoding="utf-8") as f:
        late = [line for line in f if LATE.match(line)]
    return t.stats(engine)["unsure"] - len(late)


def reserve(name, engine):
    return e.ask(engine, "job-add", name=name, tenant=name, guaranteed=G, demands=[
        {"src": "h0", "dst": HOSTS[1 + i % 3], "bytes": 10 ** 15 + i}
        for i in range(DEMANDS)])


def test_large():
    etcd = e.Etcd()
    store = {"kind": "etcd", "endpoints": etcd.endpoints}
    engine = e.start_engine("l", store, **{"lease-s": 60})
    wait_for("leader", lambda: e.ask("l", "show")["leads"])
    hosts = e.Hosts("l-hosts", HOSTS, store, **{"lease-s": 600})
    for i, name in enumerate(JOBS):
        tenant("l", f"{name} color {10 + i} guaranteed 10G")
    t.add("l", "first", *t.ALL)
    wait_for("acknowledgements", lambda: len(e.ask("l", "show")["hosts"]) ==
             len(HOSTS) and e.ask("l", "show")["epoch"])

    # nobody acknowledges anything before all are there
    hosts.process.p.send_signal(signal.SIGSTOP)
    e.stopped(hosts.process)
    replies = [reserve(name, "l") for name in JOBS]
    check("large reservations are accepted", {r["decision"] for r in replies} ==
          {"accept"}, [r["reason"] for r in replies])
    size = sum(len(etcd.get(f"resv/0/{name}/{name}")) for name in JOBS)
    check("their records do not fit into one transaction", size > ETCD_TAKES, size)
    wait_for("a plan for all", lambda: all(
        fabric("l", "jobs", name)[0]["epoch"] for name in JOBS))
    hosts.process.p.send_signal(signal.SIGCONT)
    check("when hosts acknowledge all of them at once, all are settled", wait_for(
        "the second steps", lambda: {state("l", name) for name in JOBS} ==
        {"reserved"}))
    check("no transaction was refused for its size", unexplained("l") == 0, t.stats("l"))

    epoch = e.ask("l", "show")["epoch"]
    hosts.tell("report h0 leaf0.0 spine0.1 0")
    check("plans go on", wait_for("another epoch", lambda: json.loads(
        etcd.get("plan/0/head"))["epoch"] > epoch))
    check("the engine ends as it should", engine.end() == 0)
    check("hosts end as they should", hosts.end() == 0)

    longer_than_the_lease(etcd, store)
    etcd.ctl("del", "--prefix", "/srpol/job/many/")
    etcd.ctl("del", "--prefix", "/srpol/resv/0/many/")
    too_many_tenants(etcd, store)
    left_behind(etcd, store)


TENANTS = 19000		# what hosts are told of them is more than a value of the store
PUTS = 128		# that a transaction of etcd may have


def too_many_tenants(etcd, store):
    """Whoever may write tenants can write more than hosts can be told."""
    def said():
        with open(f"{e.OUT}/x.log", encoding="utf-8") as f:
            return [line for line in f if "larger than" in line]

    def epoch():
        return e.ask("x", "show")["epoch"]

    engine = e.start_engine("x", store, **{"lease-s": 60})
    wait_for("an epoch", lambda: e.ask("x", "show")["leads"] and epoch())
    for i in range(0, TENANTS, PUTS):
        etcd.ctl("txn", stdin="\n" + "".join(
            f"put /srpol/cfg/tenant/many{k} " + json.dumps(json.dumps(
                {"color": 10 ** 6 + k, "backup": 5, "max": 2 ** 50})) + "\n"
            for k in range(i, min(i + PUTS, TENANTS))) + "\n\n")
    wait_for("a word of it", lambda: said() and
             len(e.ask("x", "tenants")) >= TENANTS)
    before, stats = epoch(), t.stats("x")
    said_so = t.refused("x", "tenant", "add", "more", "color", "6")
    check("one more tenant is refused", "hosts cannot be told of more" in said_so, said_so)
    run("x", "job", "del", "first")
    wait_for("another plan", lambda: t.stats("x")["plans"] > stats["plans"])
    check("what is too large is not written", epoch() == before and
          t.stats("x")["unsure"] == stats["unsure"], t.stats("x"))
    check("the log says so once, with the key", len(said()) == 1 and
          "index/0/" in said()[0], said())
    etcd.ctl("del", "--prefix", "/srpol/cfg/tenant/many")
    check("when there is less, epochs go on", wait_for("an epoch", lambda: epoch() > before))
    check("this engine ends as it should, too", engine.end() == 0)


LEFT = 66		# chunks of 1 MiB: more than an engine takes as one answer


def left_behind(etcd, store):
    """Of an engine that did not finish: the next one sweeps them."""
    for i in range(LEFT):
        etcd.put(f"plan/0/0000000001/left{i}", "x" * (1 << 20))
    engine = e.start_engine("y", store, **{"lease-s": 60})
    check("chunks that are large together keep no engine from leading", wait_for(
        "an epoch", lambda: e.ask("y", "show")["stats"]["published"]))
    check("they are swept", not etcd.ctl("get", "--prefix", "--keys-only",
                                         "/srpol/plan/0/0000000001/left").strip())
    check("and the last engine ends as it should", engine.end() == 0)


COPIES = 250		# of a reservation; half of them find no room any more


def longer_than_the_lease(etcd, store):
    """
    An engine that computes for longer than its lease lasts has to get another one, or
    nobody would ever write a step or a plan again.
    """
    engine = e.start_engine("z", store, **{"lease-s": 1})
    hosts = e.Hosts("z-hosts", HOSTS, store, **{"lease-s": 600})
    tenant("z", "many color 99 guaranteed 800G")
    wait_for("the tenant", lambda: "many" in [x["name"] for x in fabric("z", "tenants")])
    t.add("z", "origin", "tenant", "many", *t.ALL, "bandwidth", f"{600 // COPIES}G")
    wait_for("it", lambda: state("z", "origin") == "reserved")
    job, record = (etcd.get(f"{kind}/many/origin") for kind in ("job", "resv/0"))
    for i in range(0, COPIES, PUTS // 2):
        etcd.ctl("txn", stdin="\n" + "".join(
            f"put /srpol/{kind}/many/copy{k} {json.dumps(text)}\n"
            for k in range(i, min(i + PUTS // 2, COPIES))
            for kind, text in (("job", job), ("resv/0", record))) + "\n\n")
    wait_for("all", lambda: len(fabric("z", "jobs")) > COPIES)
    hosts.tell("report h0 h0 leaf0.0 0")
    check("what takes longer than a lease is done in a longer one", wait_for(
        "a step", lambda: '"lost"' in etcd.get(f"resv/0/many/copy{COPIES - 1}")))
    with open(f"{e.OUT}/z.log", encoding="utf-8") as f:
        said = [line for line in f if "its lease will last" in line]
    check("and the log says so", said, said)
    check("that engine ends as it should", engine.end() == 0)
    check("and so do its hosts", hosts.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_large,)))
