#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A topology whose leaves get another number of spines while bandwidth is reserved: the
weights that are stored are of paths that are no more. And one that loses a host, or all
hosts of a job.
"""

import json
import sys

import engine as e
import late
import tenants as t
from messages import good
from engine import HOSTS, RUN, check, wait_for
from tenants import G, add, fabric, run, state, tenant

SPINE = {"name": "spine0.9", "role": "spine", "plane": 0,
         "locator": "fc00:0:209::/48"}


def change(how):
    with open(f"{RUN}/topology.json", encoding="ascii") as f:
        topology = json.load(f)
    how(topology)
    with open(f"{RUN}/topology.json", "w", encoding="ascii") as f:
        json.dump(topology, f)


def grow(topology):
    """One more spine in the first plane."""
    topology["switches"].append(SPINE)
    topology["links"] += [{"from": f"leaf0.{i}", "to": SPINE["name"], "rate": "400G"}
                          for i in range(e.LEAVES)]


gone = []


def lose_host(topology):
    """The last one."""
    gone.append(topology["hosts"].pop())


def find_host(topology):
    topology["hosts"].append(gone.pop())


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
    tenant("g", "red color 10 guaranteed 1600G")
    add("g", "kept", "tenant", "red", *t.ALL, "bandwidth", "500G")
    wait_for("the reservation", lambda: reserved("kept") == 500 * G)
    before = weights("kept", 0), weights("kept", 1)
    check("weights are of all paths", before == ({e.SPINES}, {e.SPINES}), before)
    check("the engine ends as it should", engine.end() == 0)
    check("hosts end as they should", hosts.end() == 0)

    change(grow)
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
          "500G")["decision"] == "accept" and
          wait_for("it", lambda: state("g", "kept") == "reserved"))
    add("g", "pair", "tenant", "red", "demand", HOSTS[-2], HOSTS[-1], "1000")
    e.store_put("job/red/wrong", '{"demands": 5}')
    check("it ends as it should", engine.end() == 0)
    check("hosts, too", hosts.end() == 0)
    host_gone(store)


def host_gone(store):
    """A host that a job with bandwidth runs on is taken out of the topology."""
    change(lose_host)
    engine = e.start_engine("g", store)
    hosts = e.Hosts("g-hosts", HOSTS[:-1], store, **{"lease-s": 60})
    check("without a host of its job the reservation is lost", wait_for(
        "its state", lambda: state("g", "kept") == "lost"))
    lost = fabric("g", "jobs", "kept")[0]["reservation"]["lost"]
    check("and why is said", "hosts" in lost and "not of this topology" in lost, lost)
    check("a job that cannot be read is shown", state("g", "wrong") == "unreadable")
    add("g", "other", "tenant", "red", "demand", "h0", "h1", "1000", "bandwidth", "400G")
    check("others get bandwidth", wait_for("it", lambda: state("g", "other") ==
                                           "reserved"))
    check("engine and hosts end", [engine.end(), hosts.end()] == [0, 0])

    change(find_host)
    engine = e.start_engine("g", store)
    hosts = e.Hosts("g-hosts", HOSTS, store, **{"lease-s": 60})
    wait_for("a plan that all hosts follow", lambda: (shown := e.ask("g", "show")) and
             shown["stats"]["published"] and [h["epoch"] for h in shown["hosts"]] ==
             [shown["epoch"]] * len(HOSTS))
    found = {j["name"]: j["state"] for j in fabric("g", "jobs")}
    check("when the host is back, those that came meanwhile stay, and what was lost "
          "waits for room", found["kept"] == "lost" and found["other"] == "reserved" and
          t.stats("g")["moved"] == t.stats("g")["lost"] == 0, (found, t.stats("g")))
    check("engine and hosts end once more", [engine.end(), hosts.end()] == [0, 0])

    change(lose_host)
    change(lose_host)
    engine = e.start_engine("g", store)
    hosts = e.Hosts("g-hosts", HOSTS[:-2], store, **{"lease-s": 60})
    check("a job of which all hosts are gone is shown", wait_for(
        "its state", lambda: state("g", "pair") == "unreadable"))
    for job in ("kept", "wrong", "pair"):
        check(f"job {job} can be deleted", run("g", "job", "del", job, "tenant", "red")[0]
              == 0 and wait_for("its end", lambda job=job: not [
                  key for key in e.stored() if key.endswith(f"/red/{job}")]))
    check("and added again", add("g", "kept", "tenant", "red", "demand", "h0", "h1",
          "1000", "bandwidth", "100G")["decision"] == "accept")
    check("after that the engine ends as it should", engine.end() == 0)
    check("and so do hosts", hosts.end() == 0)


class After:
    """Of what a member holds back until it has answered something else."""

    def __init__(self, member, words):
        self.member, self.words = member, words
        member.done.clear()

    def wait(self, _):
        wait_for(self.words, lambda: self.words in self.member.done)


def test_all_gone():
    """
    All hosts of a job are taken out of the topology, in etcd, where it could be a job of
    another shard: the job itself tells whose it is.
    """
    e.topology()
    etcd = e.Etcd()
    member = late.Member(etcd.endpoints[0][len("http://"):])
    reads = "range job/", "range resv/0/"

    def start(first, then):
        after = After(member, first)
        member.hold = lambda words: after if words == then else None
        return e.start_engine("a", {"kind": "etcd", "endpoints": [member.url()]},
                              **{"lease-s": 30})

    def record():
        return json.loads(etcd.get("resv/0/red/pair"))

    engine = start(*reads)
    wait_for("leader", lambda: e.ask("a", "show")["leads"])
    tenant("a", "red color 10 guaranteed 1600G")
    add("a", "pair", "tenant", "red", "demand", HOSTS[-2], HOSTS[-1], "1000", "bandwidth",
        "100G")
    add("a", "plain", "tenant", "red", "demand", HOSTS[-2], HOSTS[-1], "1000")
    # as another engine has it, on hosts of another shard
    etcd.put("job/red/away", json.dumps({"demands": [
        {"src": "x0", "dst": "x1", "bytes": 1}]}))
    wait_for("its bandwidth", lambda: state("a", "pair") == "reserved")
    for job in "pair", "plain", "away":
        good("Job", json.loads(etcd.get(f"job/red/{job}")))
    check("all gone: the engine ends as it should", engine.end() == 0)
    change(lose_host)
    change(lose_host)
    for order in reads, reads[::-1]:
        engine = start(*order)
        check(f"all gone: the reservation is lost ({order[0]} is read first)", wait_for(
            "a plan, and its state", lambda: e.ask("a", "show")["epoch"] and
            state("a", "pair") == "lost"))
        why = wait_for("the record", lambda: record()["lost"])
        check("all gone: which is recorded, with the reason", "hosts" in why and
              not {"weights", "before"} & set(record()) and not record()["ends"], record())
        check("all gone: a job of another shard is not shown",
              [j["name"] for j in fabric("a", "jobs")] == ["pair", "plain"],
              fabric("a", "jobs"))
        check("all gone: one without bandwidth is, as one that cannot be read",
              state("a", "plain") == "unreadable")
        check("all gone: the engine ends once more", engine.end() == 0)
    change(find_host)
    change(find_host)
    engine = start(*reads)
    check("all gone: it returns with the hosts", wait_for(
        "it", lambda: state("a", "pair") == "reserved"))
    check("all gone: and the engine ends", engine.end() == 0)
    change(lose_host)
    change(lose_host)
    engine = start(*reads)
    wait_for("its state", lambda: state("a", "pair") == "lost")
    said = t.refused("a", "tenant", "del", "red")
    check("all gone: its tenant cannot be deleted before it", '"pair"' in said, said)
    etcd.ctl("del", "/srpol/job/red/away")
    check("all gone: the job can be deleted",
          run("a", "job", "del", "pair", "tenant", "red")[0] == 0)
    check("all gone: as can the one without bandwidth",
          run("a", "job", "del", "plain", "tenant", "red")[0] == 0)
    check("all gone: and then their tenant", wait_for("its end", lambda: run(
        "a", "tenant", "del", "red")[0] == 0) and not [
            key for key in late.keys(etcd) if "/red" in key])
    check("all gone: after that the engine ends", engine.end() == 0)
    member.shutdown()


if __name__ == "__main__":
    sys.exit(e.main((test_regrown, test_all_gone)))
