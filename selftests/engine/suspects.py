#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Links that hosts suspect: what one host guesses takes no link from all others. Two
hosts on each of three leaves, three spines. Reports are written as hosts would
write them; at the end hosts write them themselves (simhost).

	a0 a1    b0 b1    c0 c1
	 leaf0    leaf1    leaf2
	   spine0 spine1 spine2
"""

import json
import subprocess
import sys
import time

import engine as e
from engine import BUILD, RUN, ask, check, store_put, wait_for

LEAVES, SPINES = 3, 3
HOSTS = [f"{x}{i}" for x in "abc" for i in range(2)]
STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
WAIT = 1		# seconds until what others pass counts in a tie
numbers = {}


def leaf_of(host):
    return f"leaf{'abc'.index(host[0])}"


def topology():
    t = {"srpol-topology": 1, "switches": [], "hosts": [], "links": []}
    for i in range(LEAVES):
        t["switches"].append({"name": f"leaf{i}", "role": "leaf",
                              "locator": f"fc00:0:1{i}::/48"})
    for i in range(SPINES):
        t["switches"].append({"name": f"spine{i}", "role": "spine",
                              "locator": f"fc00:0:2{i}::/48"})
        t["links"] += [{"from": f"leaf{k}", "to": f"spine{i}", "rate": "400G"}
                       for k in range(LEAVES)]
    for i, host in enumerate(HOSTS):
        t["hosts"].append({
            "name": host, "locator": f"fc00:1:{i + 1}::/48", "nics": [{
                "name": "eth0", "leaf": leaf_of(host), "rate": "400G",
                "address": f"fd00:{i + 1}::1", "gateway": f"fd00:{i + 1}::fe"}]})
    with open(f"{RUN}/topology.json", "w") as f:
        json.dump(t, f)


def report(host, suspects=(), passes=(), links=()):
    """@suspects: (confidence, link...), @passes: node or (node, but...)."""
    numbers[host] = numbers.get(host, 0) + 1
    said = {"number": numbers[host],
            "links": [{"from": a, "to": b, "capacity": c} for a, b, c in links]}
    if suspects:
        said["suspects"] = [
            {"confidence": s[0], "links": [dict(zip(("from", "to"), x.split("-")))
                                           for x in s[1:]]} for s in suspects]
    if passes:
        said["passes"] = [{"from": p} if isinstance(p, str) else
                          {"from": p[0], "but": list(p[1:])} for p in passes]
    assert store_put(f"link/0/{leaf_of(host)}/{host}", json.dumps(said))


def paths(src, dst):
    return ask("s", "why", src=src, dst=dst)["planes"][0]["paths"]


def down():
    """
    Links that the last plan does without. No path over them has a weight, but while
    the plan changes; then it is None.
    """
    none, used = set(), set()
    for src, dst in ("a0", "b0"), ("a0", "c0"), ("b0", "c0"):
        for path in paths(src, dst):
            for link in path["links"]:
                name = "-".join(sorted((link["from"], link["to"])))
                if not link["capacity"]:
                    none.add(name)
                if path["weight"] > 0:
                    used.add(name)
    return None if none & used else sorted(none)


def suspects():
    return {f"{s['from']}-{s['to']}": f"{s['state']} {s['reason']}"
            for s in ask("s", "show")["suspects"]}


def seen():
    """The engine has planned with all reports."""
    shown = {r["host"]: r["number"] for r in ask("s", "show")["reports"]}
    return all(shown.get(h) == n for h, n in numbers.items())


def becomes(name, links, reasons):
    """The plan does without these links, for these reasons, and that stays so."""
    try:
        wait_for(name, lambda: seen() and down() == links and suspects() == reasons)
        time.sleep(WAIT + 0.5)
        check(name, down() == links and suspects() == reasons, (down(), suspects()))
    except TimeoutError:
        check(name, False, (down(), suspects()))


def test_tie():
    tie = 50, "leaf0-spine1", "leaf1-spine1"
    report("a0", [tie])
    becomes("a tie of one host takes no link", [], {
        "leaf0-spine1": "kept unsure", "leaf1-spine1": "kept unsure"})
    shown = subprocess.run([f"{BUILD}/bin/srpol", "fabric", "show", "socket",
                            f"{RUN}/s.sock"], check=True, capture_output=True,
                           text=True).stdout
    check("the command says so", "suspect leaf0-spine1 kept reason unsure suspected 1 "
          "passed 0 suspected-by a0\n" in shown, shown)
    advice = [(x["symptom"], x["evidence"].get("from"), x["evidence"].get("suspected_by"))
              for x in ask("s", "advise")]
    check("so does its advice", ("link-suspected", "leaf1", ["a0"]) in advice, advice)
    report("b0", [tie])
    becomes("a second host with the same tie does", ["leaf0-spine1", "leaf1-spine1"], {
        "leaf0-spine1": "down several-hosts", "leaf1-spine1": "down several-hosts"})
    report("b0", [(50, "leaf1-spine1", "leaf2-spine1")])
    becomes("one with another tie takes the link that both have", ["leaf1-spine1"], {
        "leaf0-spine1": "kept explained", "leaf1-spine1": "down several-hosts",
        "leaf2-spine1": "kept explained"})
    report("b0")
    becomes("without it no link is missing", [], {
        "leaf0-spine1": "kept unsure", "leaf1-spine1": "kept unsure"})


def test_elimination(server):
    report("a1", passes=["leaf0"])
    becomes("others pass one link of a tie: it is the other one", ["leaf1-spine1"], {
        "leaf0-spine1": "kept passed", "leaf1-spine1": "down others-passed"})
    check("the engine ends as it should", server.end() == 0)
    server = start()
    wait_for("a plan", lambda: ask("s", "plan")["pairs"])
    check("the next leader's first plan knows it", down() == ["leaf1-spine1"], down())
    report("b1", passes=["leaf1"])
    becomes("others pass the other one, too: both stay", [], {
        "leaf0-spine1": "kept passed", "leaf1-spine1": "kept passed"})
    report("b1", passes=[("leaf1", "spine1")])
    becomes("they do not any more: it is that one", ["leaf1-spine1"], {
        "leaf0-spine1": "kept passed", "leaf1-spine1": "down others-passed"})
    report("a1", [(100, "leaf0-spine1")], passes=[("leaf0", "spine1")])
    becomes("the first one is certain: it explains the tie", ["leaf0-spine1"], {
        "leaf0-spine1": "down certain", "leaf1-spine1": "kept explained"})
    for host in "a0", "a1", "b1":
        report(host)
    becomes("nothing is suspected", [], {})
    return server


def test_late():
    """Who passed a link of a tie notices a bit later that it does not."""
    report("a1", passes=["leaf0"])
    wait_for("that", seen)
    report("a0", [(50, "leaf0-spine1", "leaf1-spine1")])
    wait_for("the tie", lambda: "leaf0-spine1" in suspects())
    first = suspects()
    report("a1", [(100, "leaf0-spine1")], passes=[("leaf0", "spine1")])
    becomes("what others passed a moment ago decides no tie",
            ["leaf0-spine1"], {"leaf0-spine1": "down certain",
                               "leaf1-spine1": "kept explained"})
    check("until they would have noticed", first in (
        {"leaf0-spine1": "kept passed", "leaf1-spine1": "kept waits"},
        {"leaf0-spine1": "kept passed", "leaf1-spine1": "down others-passed"}), first)
    for host in "a0", "a1":
        report(host)
    becomes("nothing is suspected any more", [], {})


def test_second():
    for host in "a1", "c1":
        report(host, passes=[leaf_of(host)])
    wait_for("that", seen)
    report("a0", [(50, "leaf0-spine1", "leaf1-spine1")])
    time.sleep(WAIT / 2)
    report("c0", [(50, "leaf1-spine2", "leaf2-spine2")])
    becomes("a tie that comes while another one waits is decided, too",
            ["leaf1-spine1", "leaf1-spine2"], {
                "leaf0-spine1": "kept passed", "leaf1-spine1": "down others-passed",
                "leaf2-spine2": "kept passed", "leaf1-spine2": "down others-passed"})
    for host in "a0", "a1", "c0", "c1":
        report(host)
    becomes("nothing is suspected once more", [], {})


def test_certain():
    took = []
    for _ in range(5):
        began = time.monotonic()
        report("c0", [(100, "leaf2-spine0")])
        wait_for("that", lambda: down() == ["leaf2-spine0"])
        took.append(time.monotonic() - began)
        report("c0")
        wait_for("and back", lambda: down() == [])
    print("# out of the plan after ms:", *(round(1000 * t) for t in took), flush=True)
    check("a link that a host is sure of is out at once", min(took) < WAIT / 2, took)
    report("c0", [(75, "leaf2-spine0")])
    becomes("75 % are enough", ["leaf2-spine0"], {"leaf2-spine0": "down certain"})
    report("c1", passes=["c1", "leaf2"])
    becomes("but not if others' probes pass it", [], {"leaf2-spine0": "kept passed"})
    report("a0", [(80, "leaf2-spine0")])
    becomes("two hosts that are sure are", ["leaf2-spine0"], {
        "leaf2-spine0": "down several-hosts"})
    report("a0", [(60, "leaf2-spine0", "leaf0-spine0")])
    becomes("a tie of the second one that has another answer is not", ["leaf0-spine0"], {
        "leaf0-spine0": "down others-passed", "leaf2-spine0": "kept passed"})
    for host in "a0", "c0", "c1":
        report(host)
    becomes("all is well", [], {})


def test_liar():
    for host in "a0", "b0":
        report(host, passes=[host, leaf_of(host)])
    wait_for("that", seen)
    report("c0", links=[("leaf0", "spine0", 0), ("leaf1", "spine2", 0)])
    becomes("links of others are not down because one host says so", [], {
        "leaf0-spine0": "kept passed", "leaf1-spine2": "kept passed"})
    report("c0", [(100, "leaf0-spine0"), (100, "b0-leaf1")])
    becomes("nor because it is sure", [], {
        "leaf0-spine0": "kept passed", "b0-leaf1": "kept passed"})
    report("c0", links=[("leaf0", "spine0", 100 * 10 ** 9)])
    wait_for("that", lambda: seen() and not suspects() and
             paths("a0", "b0")[0]["links"][0]["capacity"] == 100 * 10 ** 9)
    check("what a feed or an operator says of a link's capacity counts as before", True)
    report("c0", links=[("c0", "leaf2", 0)])
    report("c1", [(100, "leaf2-spine0")], passes=["c1"])
    advice = wait_for("that", lambda: [x for x in ask("s", "advise") if seen() and
                                       x["evidence"].get("to") == "c0" or
                                       x["evidence"].get("from") == "c0"])
    check("a host's own link is down when it says so", advice[0]["symptom"] ==
          "link-down" and advice[0]["evidence"]["reported_by"] == ["c0"], advice)
    wait_for("the other one", lambda: down() == ["leaf2-spine0"])
    refused = ask("s", "show")["stats"]["refused"]
    for wrong in ({"passes": [{"from": "leaf0"}]}, {"passes": [{"from": "a0"}]},
                  {"passes": [{"from": "leaf2", "but": ["leaf1"]}]},
                  {"passes": [{"from": "leaf2", "but": 1}]}, {"passes": {}},
                  {"suspects": [{"confidence": 101, "links": [
                      {"from": "leaf2", "to": "spine0"}]}]},
                  {"suspects": [{"confidence": 50, "links": []}]},
                  {"suspects": [{"confidence": 50, "links": 17 * [
                      {"from": "leaf2", "to": "spine0"}]}]},
                  {"links": 1025 * [{"from": "leaf0", "to": "spine0", "capacity": 0}]}):
        refused += 1
        store_put("link/0/leaf2/c1", json.dumps({"number": 99, "links": [], **wrong}))
        wait_for("refusal", lambda: ask("s", "show")["stats"]["refused"] == refused)
    check("a host passes no links that are not above it, and says no other nonsense",
          down() == ["leaf2-spine0"], down())
    for host in HOSTS:
        report(host)
    becomes("all is well again", [], {})


def told(host):
    text = e.stored().get(f"link/0/{leaf_of(host)}/{host}")
    return text and json.loads(text)


def until(hosts, command, host, condition):
    """Tell a host again and again, as srpold does, until its report is so."""
    def is_so():
        hosts.tell(command)
        time.sleep(0.05)
        return condition(told(host))
    wait_for(command, is_so)


def test_hosts():
    """What hosts write, and when: better news after a while (here 0.1 s) only."""
    for host in HOSTS:
        store_put(f"link/0/{leaf_of(host)}/{host}", None)
    wait_for("that", lambda: not ask("s", "show")["reports"])
    hosts = e.Hosts("s-hosts", ["a0", "a1"], STORE, "suspects", **{"lease-s": 60})
    hosts.tell("pass a0")
    hosts.stats()
    check("what passes is not told at once", not told("a0"), told("a0"))
    until(hosts, "pass a0", "a0", lambda r: r)
    check("but after a while, in short", told("a0") == {
        "number": 1, "links": [], "passes": [{"from": "a0"}, {"from": "leaf0"}]},
        told("a0"))
    hosts.tell("pass a0 leaf0 spine1")
    wait_for("exception", lambda: told("a0")["passes"][1].get("but") == ["spine1"])
    check("a link that no longer passes is, under the same number",
          told("a0")["number"] == 1, told("a0"))
    hosts.tell("suspect a0 50 leaf0 spine1 leaf1 spine1")
    wait_for("tie", lambda: told("a0").get("suspects"))
    check("so is a suspicion, under the next one", told("a0") == {
        "number": 2, "links": [], "passes": [
            {"from": "a0"}, {"from": "leaf0", "but": ["spine1"]}],
        "suspects": [{"confidence": 50, "links": [
            {"from": "leaf0", "to": "spine1"}, {"from": "leaf1", "to": "spine1"}]}]},
        told("a0"))
    hosts.tell("suspect a0 100 leaf1 spine1")
    wait_for("it", lambda: told("a0")["number"] == 3)
    check("one that knows more takes its place", told("a0")["suspects"] == [
        {"confidence": 100, "links": [{"from": "leaf1", "to": "spine1"}]}], told("a0"))
    wait_for("a plan", lambda: down() == ["leaf1-spine1"])
    hosts.tell("suspect a0 100")
    check("one that is over stays for a while", told("a0")["number"] == 3)
    until(hosts, "suspect a0 100", "a0", lambda r: "suspects" not in r)
    wait_for("a plan", lambda: down() == [])
    hosts.tell("suspect a1 60 leaf0 spine2 leaf1 spine2")
    wait_for("it", lambda: told("a1"))
    hosts.tell("suspect a1 60")
    check("hosts end as they should", hosts.end() == 0)
    hosts = e.Hosts("s-hosts", ["a1"], STORE, "suspects", **{"lease-s": 60})
    hosts.tell("suspect a1 60 leaf0 spine2 leaf1 spine2")
    wait_for("its report", lambda: hosts.stats()["a1"]["reports"])
    check("what a plan has seen is no news after a restart",
          told("a1")["number"] == 1 and told("a1")["suspects"][0]["confidence"] == 60,
          told("a1"))
    check("hosts that came again end as they should", hosts.end() == 0)


LINKS, SUSPICIONS, CABLES = 960, 32, 16		# the most that srpold reports


def test_largest():
    """What a host may report is taken, and one link more is not."""
    links = [("leaf1", f"spine{i % SPINES}", 0) for i in range(LINKS)]
    tie = [(50, *(f"leaf{i % LEAVES}-spine{i % SPINES}" for i in range(CABLES)))
           for _ in range(SUSPICIONS)]
    refused = ask("s", "show")["stats"]["refused"]
    report("b0", tie, links=links)
    check("the largest report is taken", wait_for("it", seen))
    report("b0", [*tie, (50, "leaf0-spine0")], links=links)
    wait_for("a refusal", lambda: ask("s", "show")["stats"]["refused"] > refused)
    check("one that suspects a link more is not", not seen())
    report("b0")
    wait_for("no report", seen)


def start():
    server = e.start_engine("s", STORE)
    wait_for("a leader", lambda: ask("s", "show")["leads"])
    return server


def test_suspects():
    topology()
    server = start()
    store_put("job/t/all", json.dumps({"all-to-all": {"hosts": HOSTS,
                                                      "bytes": 1 << 30}}))
    wait_for("a plan", lambda: ask("s", "plan")["pairs"])
    test_tie()
    server = test_elimination(server)
    test_late()
    test_second()
    test_certain()
    test_liar()
    test_largest()
    test_hosts()
    check("the engine ends as it should, again", server.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_suspects,)))
