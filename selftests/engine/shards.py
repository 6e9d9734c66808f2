#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Two shards, pods of three hosts with topologies of their own, in one etcd of three
members: each has a leader and its own plan, and hosts get no other one; reservations
are counted per shard; without any engine of one shard the other's epochs go on.
"""

import json
import signal
import sys

import engine as e
import tenants as t
from engine import RUN, ask, check, wait_for

PODS = "ab"
STORE = {}


def hosts_of(pod):
    return [f"{pod}{i}" for i in range(3)]


def leaf(pod, i):
    return f"{pod}-leaf{i}"


def topology(pod):
    """Three leaves, two spines, a host on each leaf."""
    n = PODS.index(pod) + 1
    spines = [f"{pod}-spine{i}" for i in range(2)]
    topo = {
        "srpol-topology": 1,
        "switches":
            [{"name": leaf(pod, i), "role": "leaf",
              "locator": f"fc00:{n}:1{i}::/48"} for i in range(3)] +
            [{"name": name, "role": "spine", "locator": f"fc00:{n}:2{i}::/48"}
             for i, name in enumerate(spines)],
        "links": [{"from": leaf(pod, i), "to": spine, "rate": "400G"}
                  for i in range(3) for spine in spines],
        "hosts": [{"name": name, "locator": f"fc00:{n}:3{i}::/48", "nics": [
            {"name": "eth0", "leaf": leaf(pod, i), "rate": "400G",
             "address": f"fd00:{n}:{i}::1", "gateway": f"fd00:{n}:{i}::fe"}]}
            for i, name in enumerate(hosts_of(pod))],
    }
    with open(f"{RUN}/topology-{pod}.json", "w") as f:
        json.dump(topo, f)


def start(name):
    """
    An engine of the shard that its name begins with. No pause ends its lease: who
    is elected meanwhile writes an epoch, in a term that is another.
    """
    return e.start_engine(name, STORE, shard=name[0],
                          topology=f"{RUN}/topology-{name[0]}.json",
                          **{"lease-s": 10})


class Pod:
    def __init__(self, pod):
        self.pod = pod
        topology(pod)
        self.engines = {name: start(name) for name in (f"{pod}1", f"{pod}2")}
        self.hosts = e.Hosts(f"pod-{pod}", hosts_of(pod), STORE, shard=pod,
                             topology=f"{RUN}/topology-{pod}.json",
                             **{"lease-s": 60})

    def leader(self):
        """Who leads, of the engines that run."""
        leads = [name for name, engine in self.engines.items()
                 if engine.p.poll() is None and ask(name, "show")["leads"]]
        return leads[0] if len(leads) == 1 else None

    def ask(self, *words, **more):
        return ask(wait_for("a leader", self.leader), *words, **more)

    def fabric(self, *words):
        return t.fabric(wait_for("a leader", self.leader), *words)

    def job(self, name, *words):
        return self.fabric("job", "add", name, "hosts",
                           ",".join(hosts_of(self.pod)), "bytes", "1000000",
                           *words)

    def settled(self):
        """The epoch in force, once all hosts have applied it."""
        def same():
            show = self.ask("show")
            return show["epoch"] if len(show["hosts"]) == 3 and all(
                h["epoch"] == show["epoch"] == self.hosts.epoch(h["host"])
                for h in show["hosts"]) else None
        return wait_for(f"epoch of pod {self.pod}", same)

    def in_term(self):
        """The same, with the term that it is of."""
        def same():
            term = self.ask("show")["term"]
            epoch = self.settled()
            return (term, epoch) if self.ask("show")["term"] == term else None
        return wait_for(f"an epoch of a term of pod {self.pod}", same)

    def planned(self):
        """Every host has something to send to both others."""
        def all_pairs():
            return all(len(self.hosts.last(h)["chunks"][leaf(self.pod, i)]
                           .splitlines()) >= 2
                       for i, h in enumerate(hosts_of(self.pod)))
        wait_for(f"a plan of pod {self.pod}", all_pairs)
        return self.settled()


def keys(etcd, prefix):
    return etcd.ctl("get", "--prefix", "--keys-only", f"/srpol/{prefix}").split()


def test_plans(etcd, a, b):
    for pod in a, b:
        check(f"{pod.pod}: one engine of the shard leads, by a key of its own",
              wait_for("a leader with its key", lambda p=pod: p.leader() and
                       etcd.get(f"engine/{p.pod}/leader") == p.leader()))
        topo = wait_for("its topology", lambda p=pod: json.loads(
            etcd.get(f"cfg/topology/{p.pod}")))
        check(f"{pod.pod}: the topology there is the shard's",
              (topo["nodes"], topo["links"]) == (8, 9), topo)

    def idle():
        """Epochs of pod b before and after a job of pod a, in one term."""
        before = b.in_term()
        a.job("train")
        a.planned()
        after = b.in_term()
        if before[0] == after[0]:
            return before, after
        a.fabric("job", "del", "train")
        return None

    before, after = wait_for("no election", idle)
    check("a job of pod a's hosts is no epoch of pod b's", before == after,
          (before, after))
    b.job("other")
    b.planned()
    for pod in a, b:
        other = "ba"[PODS.index(pod.pod)]
        show = pod.ask("show")
        check(f"{pod.pod}: the shard knows of its own job only",
              [j.split("/")[-1] for j in show["jobs"]] ==
              ["train" if pod is a else "other"], show["jobs"])
        check(f"{pod.pod}: and the other's is not refused, it is not its own",
              show["stats"]["refused"] == 0, show["stats"])
        chunks = keys(etcd, f"plan/{pod.pod}/")
        check(f"{pod.pod}: chunks are of the shard's leaves",
              chunks and not any(f"{other}-leaf" in k for k in chunks), chunks)
        applied = pod.hosts.applied()

        def same(pod=pod):
            head = json.loads(etcd.get(f"plan/{pod.pod}/head"))["digest"]
            return {pod.hosts.last(h)["digest"] for h in hosts_of(pod.pod)} == \
                {head}

        check(f"{pod.pod}: its hosts have what the shard's head says",
              wait_for("the head's digest", same))
        check(f"{pod.pod}: and have never applied a chunk of others",
              all(set(x["chunks"]) <= {leaf(pod.pod, int(x["host"][1]))}
                  for x in applied), applied)
        check(f"{pod.pod}: nothing was refused by a host", all(
            s["bad_head"] == s["replayed"] == s["bad_index"] ==
            s["bad_chunk"] == s["topology"] == 0
            for s in pod.hosts.stats().values()))


def test_reservations(etcd, a, b):
    t.tenants_of(wait_for("a leader", a.leader), "red color 10 guaranteed 300G")
    for pod in a, b:
        wait_for("the tenant", lambda: pod.fabric("tenants"))
        reply = pod.job(f"kept-{pod.pod}", "tenant", "red", "bandwidth", "200G")
        check(f"{pod.pod}: a reservation of two thirds of what the tenant may have",
              reply["decision"] == "accept", reply)
    for pod in a, b:
        wait_for("its second step", lambda: t.state(
            pod.leader(), f"kept-{pod.pod}") == "reserved")
        reserved = pod.fabric("tenants")[0]["reserved"]
        check(f"{pod.pod}: what is reserved is the shard's, by a key of its own",
              reserved == 200 * 10 ** 9 and keys(etcd, f"resv/{pod.pod}/") ==
              [f"/srpol/resv/{pod.pod}/red/kept-{pod.pod}"] and
              keys(etcd, f"cap/{pod.pod}"), reserved)
        reply = pod.job("more", "tenant", "red", "bandwidth", "200G")
        check(f"{pod.pod}: what is left is counted in the shard",
              reply["decision"] == "reject" and
              reply["offer"]["guaranteed"] == 100 * 10 ** 9, reply)
        check(f"{pod.pod}: its hosts have weights of that color", wait_for(
            "weights", lambda p=pod: sorted(t.chunk_lines(
                p.hosts, hosts_of(p.pod)[0], leaf(p.pod, 0), 10)) ==
            [leaf(p.pod, 1), leaf(p.pod, 2)]))


def test_mistakes(a, b):
    name = wait_for("a leader", a.leader)
    status, _, text = t.run(name, "job", "add", "astray", "hosts", "b0,b1",
                            "bytes", "1000")
    check("a job of the other shard's hosts is refused where it is asked for",
          status == 2 and 'no host "b0"' in text, text)
    status, _, text = t.run(name, "job", "add", "both", "hosts", "a0,b1",
                            "bytes", "1000")
    check("so is one of hosts of both", status == 2 and 'no host "b1"' in text,
          text)
    status, _, text = t.run(name, "job", "add", "other", "hosts", "a0,a1",
                            "bytes", "1000")
    check("and one whose name a job of the other shard has, with that reason",
          status == 2 and "another shard" in text, text)
    status, _, text = t.run(name, "job", "del", "other")
    check("nor can it delete that", status == 2, text)
    check("all of that changed nothing in pod b", "other" in [
        x["name"] for x in b.fabric("jobs")])


def test_tenant_of_both(a, b):
    """What a tenant has in the other shard keeps it, and its color."""
    t.tenant(wait_for("a leader", a.leader), "blue color 20 guaranteed 100G")
    wait_for("the tenant", lambda: len(b.fabric("tenants")) == 2)
    reply = b.job("away", "tenant", "blue", "bandwidth", "100G")
    check("a tenant has a reservation in pod b", reply["decision"] == "accept", reply)
    wait_for("pod a's knowledge of it",
             lambda: b.ask("show")["epoch"] and t.state(b.leader(), "away"))
    name = wait_for("a leader", a.leader)
    for words in (("add", "blue", "color", "21", "guaranteed", "100G"),
                  ("del", "blue")):
        said = t.refused(name, "tenant", *words)
        check(f"which is a reason to refuse tenant {words[0]} in pod a",
              '"away"' in said and "another shard" in said, said)
    check("so it is still there", [x["color"] for x in b.fabric("tenants")
                                   if x["name"] == "blue"] == [20])
    b.fabric("job", "del", "away", "tenant", "blue")
    wait_for("its end", lambda: t.run(a.leader(), "tenant", "del", "blue")[0] == 0)
    wait_for("the tenant's end", lambda: len(b.fabric("tenants")) == 1)


def test_leader_gone(etcd, a, b):
    """All engines of pod b are killed: pod a's go on. Then b's second one is there."""
    # of a job that was deleted before hosts knew of it
    wait_for("the end of its reservation", lambda: not keys(etcd, "resv/b/blue/"))
    before = b.settled()
    term = a.ask("show")["term"]
    head = etcd.get("plan/b/head")
    for engine in b.engines.values():
        engine.end(signal.SIGKILL)
    epochs = []
    for i in range(6):
        last = epochs[-1] if epochs else a.ask("show")["epoch"]
        a.hosts.tell(f"report a{i % 3} a-leaf{i % 3} a-spine{i % 2} "
                     f"{(100 + i) * 10 ** 9}")
        wait_for("an epoch", lambda: a.ask("show")["epoch"] > last)
        epochs.append(a.settled())
    check("without an engine of pod b six more epochs of pod a, by all its hosts",
          len(epochs) == 6, epochs)
    wait_for("the lease to end", lambda: not keys(etcd, "engine/b/leader"))
    check("pod b's leader is gone, pod a's has its term",
          a.ask("show")["term"] == term)
    check("pod b has its last plan", etcd.get("plan/b/head") == head and
          {b.hosts.epoch(h) for h in hosts_of("b")} == {before})
    b.engines = {"b3": start("b3")}
    b.hosts.tell("report b0 b-leaf0 b-spine0 50000000000")
    wait_for("an epoch of another leader", lambda: b.ask("show")["epoch"] > before)
    # the first one may be what there was before the report
    wait_for("one with the report", lambda: b.hosts.last("b0")["seen"] == 1)
    check("another engine of pod b goes on from there",
          b.ask("show")["term"] > term, b.hosts.last("b0"))
    # weights may be others than before, which hosts have to acknowledge
    wait_for("the second step", lambda: t.state("b3", "kept-b") == "reserved")
    check("which reservations survived",
          b.fabric("tenants")[0]["reserved"] == 200 * 10 ** 9)


def test_standby(a, b):
    """The leader of pod a is killed, and its other engine is there."""
    first, before = wait_for("a leader", a.leader), a.settled()
    term = b.ask("show")["term"]
    a.engines[first].end(signal.SIGKILL)
    second = wait_for("another leader", a.leader)
    a.hosts.tell("report a0 a-leaf0 a-spine0 50000000000")
    wait_for("its epoch", lambda: a.ask("show")["epoch"] > before)
    a.settled()
    check("the shard's other engine leads, and hosts follow it",
          second != first and a.pod == second[0])
    check("which is no news for pod b", b.ask("show")["term"] == term)


def test_shards():
    etcd = e.Etcd()
    STORE.update({"kind": "etcd", "endpoints": etcd.endpoints})
    a, b = Pod("a"), Pod("b")
    test_plans(etcd, a, b)
    test_reservations(etcd, a, b)
    test_mistakes(a, b)
    test_tenant_of_both(a, b)
    test_leader_gone(etcd, a, b)
    test_standby(a, b)
    for pod in a, b:
        check(f"{pod.pod}: hosts end as they should", pod.hosts.end() == 0)
        check(f"{pod.pod}: engines end as they should", all(
            x.end() == 0 for x in pod.engines.values()
            if x.p.poll() is None))


if __name__ == "__main__":
    sys.exit(e.main((test_shards,)))
