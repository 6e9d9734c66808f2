#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What the global engine advises on hosts that it does not know, on those that are ahead
of it, and while the store does not answer; what its log says of wrong reports and loads.
"""

import json
import sys

import engine as e
from engine import HOSTS, ask, check, store_put, wait_for
from page import STORE, Page
from standby import shown, states
from tenants import add, fabric, refused, state, tenant

PAIR = "demand", "h0", "h1", "1000", "bandwidth"


def advice(name):
    """Evidence by symptom."""
    found = {}
    for a in fabric(name, "advise"):
        found.setdefault(a["symptom"], []).append(a["evidence"])
    return found


def acknowledge(host, epoch):
    store_put(f"ack/0/{host}", json.dumps({"epoch": epoch}))


def test_unknown():
    """A host that was renamed in the topology, and still runs with its old name."""
    page = Page("adv")
    epoch = wait_for("an epoch", lambda: ask("adv", "show")["epoch"])
    for host in HOSTS:
        acknowledge(host, epoch)
    # names that no host can have
    for name in "h" * 48, "h1\x1b":
        acknowledge(name, epoch)
    acknowledge("h9", epoch)
    wait_for("acknowledgments", lambda: [
        h["host"] for h in ask("adv", "show")["hosts"]] == [*HOSTS, "h9"])
    tenant("adv", "red color 10 guaranteed 1T")
    reply = add("adv", "a", "tenant", "red", *PAIR, "100G")
    check("a job is accepted", reply["decision"] == "accept", reply)
    wait_for("its epoch", lambda: ask("adv", "show")["epoch"] > epoch)
    epoch = ask("adv", "show")["epoch"]
    for host in HOSTS:
        acknowledge(host, epoch)
    wait_for("acknowledgments", lambda: "host-behind" not in advice("adv"))
    check("its reservation waits for the host that the topology does not have",
          state("adv", "a") == "admitted", state("adv", "a"))
    said = advice("adv")
    check("which is advised on", said.get("host-unknown") == [
        {"n": 1, "hosts": ["h9"]}], said)
    check("metrics count it apart", states(page, "hosts") == {
        "applied": 4, "behind": 0, "silent": 0, "unknown": 1}, states(page, "hosts"))
    text = shown("adv")
    check("so does fabric show", "\thosts 4 on-another-epoch 0 unknown 1\n" in text, text)
    counts = page.state()["counts"]
    check("the page counts hosts of the topology only",
          (counts["acked"], counts["behind"]) == (4, 0), counts)
    reply = add("adv", "b", "tenant", "red", *PAIR, "100G")
    check("a job that has to wait for it is told its name",
          reply["decision"] == "defer" and reply["reason"].endswith("; host h9 has not acknowledged yet"), reply)
    store_put("ack/0/h9", None)
    wait_for("the second step", lambda: state("adv", "a") == "reserved")
    check("without it all is settled", "host-unknown" not in advice("adv"))

    # epochs were counted anew, in another store
    acknowledge("h3", epoch + 1000)
    behind = wait_for("it", lambda: advice("adv").get("host-behind"))
    check("a host with an epoch that is later than any is advised on",
          [(b["host"], b["epoch"], b["in_force"]) for b in behind] ==
          [("h3", epoch + 1000, epoch)], behind)
    check("the engine ends as it should", page.process.end() == 0)


def test_reasons():
    """What is wrong with a report or a load is in the log."""
    server = e.start_engine("why", STORE, file=f"{e.RUN}/why.store")
    wait_for("leader", lambda: ask("why", "show")["leads"])

    def link(**more):
        return {"number": 1, "links": [{"from": "leaf0.0", "to": "spine0.0",
                                        "capacity": 0, **more}]}

    def said():
        with open(f"{e.OUT}/why.log", encoding="utf-8") as f:
            return f.read().splitlines()

    key, none, kept = "link/0/leaf0.0/h0", "wrong report: ", (
        "wrong report, the last good one stays: ")
    for at, value, text in (
            (key, {"number": 1}, none + 'a report is JSON with "number", "links", '
             'perhaps "suspects" and "passes"'),
            (key, link(to="nowhere"), none + "the topology has no link leaf0.0 to nowhere"),
            (key, link(to="\x1b[31m"), none + "no name of a link"),
            ("link/0/leaf0.0/h9", link(), none + "the topology has no such host below "
             "that leaf"),
            (key, link(), None),
            (key, {**link(), "links": 5}, kept + '"links", "suspects" and "passes" are '
             "lists"),
            (key.replace("link/", "load/"), {"topology": "0" * 64, "links": [], "rest": 0},
             "wrong load, it does not count: the host has another topology"),
            # the third would not be told
            (key.replace("link/", "load/"), {"topology": ask("why", "show")["topology"],
                                             "links": [[99999, 1]], "rest": 0},
             "wrong load, it does not count: links are not those of the topology, "
             "in ascending order")):
        store_put(at, json.dumps(value))
        if text:
            wait_for("the log", lambda n=at: any(
                x.startswith(f"{n}: wrong") for x in said()))
            check(f"the log has the reason: {text.split(': ')[-1]}", wait_for(
                "it", lambda x=f"{at}: {text}": x in said()))
    check("the engine ends as it should", server.end() == 0)


def test_silent():
    """Nothing listens where the store should be."""
    server = e.start_engine("deaf", {"kind": "etcd", "endpoints": ["http://127.0.0.1:1"]})
    wait_for("the engine", lambda: ask("deaf", "show"))
    check("the one advice is on a store that does not answer",
          advice("deaf") == {"store-silent": [{"store": "etcd"}]}, advice("deaf"))
    for what in "jobs", "tenants":
        said = refused("deaf", what)
        check(f"{what} are not said to be none", "the store does not answer" in said, said)
    check("the engine ends as it should", server.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_unknown, test_reasons, test_silent)))
