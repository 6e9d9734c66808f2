#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Priority, least rate and deadline of jobs: who is lowered for whom, that nothing is
given before hosts have acknowledged that others have less, and that it comes back;
on the embedded store, and on etcd with two engines, of which the leading one is
killed in between.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import engine as e
import tenants as t
from engine import HOSTS, RUN, check, wait_for
from tenants import G, NOBODY, add, fabric, refused, run, state, tenant

SIZE = "1000000000"
PAIR = ("demand", "h0", "h1", SIZE)
NIC = 800 * G		# of h0: two planes


def job(name, words, who="p", size=SIZE, user=None):
    """A job from h0 to h1, with bandwidth; @words: NAME tenant T ..."""
    tenant_name, *more = words.split()
    return add(who, name, "tenant", tenant_name, "demand", "h0", "h1", size, *more,
               user=user)


def kept(name, who="p"):
    found = fabric(who, "jobs", name)
    return found[0]["reservation"] if found else None


def rate(name, who="p"):
    r = kept(name, who)
    return r and r["guaranteed"]


def settled(rates, who="p"):
    """These jobs, with these rates in Gbit/s, as hosts have acknowledged."""
    wait_for(f"{rates}", lambda: {
        j["name"]: j["reservation"]["guaranteed"] / G
        for j in fabric(who, "jobs") if j["state"] == "reserved"} == rates)
    return True


def lowered(reply):
    return {x["job"]: (x["from"] // G, x["to"] // G) for x in reply["lowered"]}


def end(*names, who="p"):
    for name, of in names:
        wait_for("deletion", lambda: run(who, "job", "del", name, "tenant",
                                         of)[0] == 0)


def records():
    return {k.split("/", 2)[2]: json.loads(v) for k, v in e.stored().items()
            if k.startswith("resv/")}


def test_what_if():
    reply = job("low", "blue bandwidth 800G least 200G priority 2")
    check("an elastic job gets all that is free", reply["decision"] == "accept" and
          reply["guaranteed"] == reply["wanted"] == NIC, reply)
    settled({"low": 800})
    stats, epoch = t.stats("p"), fabric("p", "show")["epoch"]
    words = "red bandwidth 500G priority 5"
    reply = job("high", f"{words} what-if")
    check("what-if: who would be lowered, and by how much", reply["decision"] ==
          "accept" and reply["what_if"] and reply["lowered"] == [
              {"tenant": "blue", "job": "low", "from": NIC, "to": 300 * G}], reply)
    ends = {x["job"]: (x["now_s"], x["then_s"]) for x in reply["ends"]}
    check("and when jobs would end: two share what one had", list(ends) ==
          ["low", "high"] and ends["high"][0] is None and all(
              abs(is_s - s) < 0.05 * s for is_s, s in (
                  (ends["low"][0], 0.01), (ends["low"][1], 0.02),
                  (ends["high"][1], 0.02))), reply["ends"])
    own = job("high", f"{words} what-if", user=NOBODY)
    check("but of one's own tenant only", [x["job"] for x in own["ends"]] ==
          ["high"], own["ends"])
    check("a tenant's user is not told whose job it is", own["lowered"] == [
        {"tenant": None, "job": None, "from": NIC, "to": 300 * G}], own)
    for priority, what in (2, "the same"), (1, "a lower"):
        reply = job("high", f"red bandwidth 500G priority {priority} what-if")
        check(f"for {what} priority nobody would be", reply["decision"] ==
              "lower-priority" and not reply["lowered"] and reply["link"] and
              reply["ends"] is None, reply)
    reply = job("high", "red bandwidth 700G priority 5 what-if")
    check("nobody would be lowered below what is enough", reply["decision"] ==
          "lower-priority" and not reply["lowered"], reply)
    check("but what could be had at its expense is offered",
          reply["offer"]["guaranteed"] == 600 * G, reply)
    check("what-if changes nothing, and counts nothing",
          state("p", "high") is None and rate("low") == NIC and
          fabric("p", "show")["epoch"] == epoch and t.stats("p") == {
              **t.stats("p"), **{k: stats[k] for k in (
                  "accepted", "rejected", "lowered", "deferred")}})
    status, _, _ = run("p", "job", "add", "high", "tenant", "red", *PAIR,
                       "bandwidth", "700G", "priority", "5", "what-if")
    check("its exit status is that of the answer", status == 2)
    done = subprocess.run([t.SRPOL, "fabric", "job", "add", "high", "tenant",
                             *words.split()[:1], *PAIR, *words.split()[1:],
                             "what-if", "socket", f"{RUN}/p.sock"],
                            capture_output=True, text=True, check=False)
    text = done.stdout.splitlines()
    check("as text", done.returncode == 0 and text[0] ==
          "what-if job red/high accept as reservation" and text[2] ==
          "\twould-be-lowered job blue/low from 800G to 300G" and
          text[3].startswith("\tjob blue/low ends-after now 0.01s with-it 0.0") and
          text[4].startswith("\tjob red/high ends-after with-it 0.0") and
          len(text) == 5, text)


def test_many():
    """What takes long is not done: a tenant's user would keep all others waiting."""
    def ends(n):
        r = e.ask("p", "job-add", name="many", tenant="red", guaranteed=G, demands=[
            {"src": "h0", "dst": HOSTS[1 + i % 3], "bytes": G + i} for i in range(n)],
            **{"what-if": True})
        return r["decision"] == "accept" and r["ends"] and [x["job"] for x in r["ends"]]
    check("what-if: 2048 demands have ends", ends(2048) == ["many"], ends(2048))
    check("more have none, and are decided all the same", ends(2049) is None)

    def most(name, n, **more):
        """As short as it can be: a request has a mebibyte at most."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(e.PATIENCE)
            s.connect(f"{RUN}/p.sock")
            s.sendall(json.dumps({
                "version": 1, "request": "job-add", "name": name, "tenant": "red",
                "guaranteed": 25 * G, "demands": [
                    {"src": "h0", "dst": "h1", "bytes": 1}] * n, **more},
                separators=(",", ":")).encode() + b"\n")
            return json.loads(s.makefile().readline())["reply"]

    first = most("first", 2600)
    reply = most("second", 30200, **{"what-if": True})
    check("of 32768 demands that have reservations there are no more",
          first["decision"] == "accept" and reply["decision"] == "reject" and
          reply["reason"].startswith("32800 demands "), (first, reply))
    end(("first", "red"))
    settled({})


def test_many_ask():
    """Questions that take long are answered one after the other, others in between."""
    took = []
    decisions = set()

    def ask(name):
        began = time.monotonic()
        r = e.ask("p", "job-add", name=name, tenant="red", guaranteed=600 * G, demands=[
            {"src": "h0", "dst": "h1", "bytes": G}] * 4000, **{"what-if": True})
        took.append(time.monotonic() - began)
        decisions.add(r["decision"])

    job("solid", "blue bandwidth 400G")
    settled({"solid": 400})
    threads = [threading.Thread(target=ask, args=(f"many{i}",)) for i in range(12)]
    for thread in threads:
        thread.start()
    wait_for("the first answer", lambda: took)
    worst = 0
    while any(thread.is_alive() for thread in threads):
        began = time.monotonic()
        fabric("p", "tenants")
        worst = max(worst, time.monotonic() - began)
    check("questions that take long do not keep others waiting", decisions ==
          {"lower-priority"} and 0 < worst < max(took) / 3, (decisions, worst, took))
    end(("solid", "blue"))


def test_two_steps(hosts):
    """What was taken from one is another's when all hosts have acknowledged."""
    hosts.process.p.send_signal(signal.SIGSTOP)
    reply = job("high", "red bandwidth 500G priority 5")
    check("it is accepted at once, at the expense of another", reply["decision"] ==
          "accept" and lowered(reply) == {"low": (800, 300)} and
          not reply["what_if"] and reply["ends"] is None, reply)
    wait_for("both", lambda: state("p", "high") == "waiting" and
             state("p", "low") == "moving")
    before = records()
    check("one record has both rates, the other one waits",
          before["blue/low"]["guaranteed"] == 300 * G and
          before["blue/low"]["guaranteed_before"] == NIC and
          before["red/high"]["waits"] is True, before)
    reply = job("more", "green bandwidth 100G priority 5")
    check("nobody else gets what is kept for it", reply["decision"] == "defer" and
          "acknowledged" in reply["reason"], reply)
    check("hosts are not told of it, whatever is planned meanwhile",
          state("p", "high") == "waiting" and 10 not in {
              p["color"] for p in fabric("p", "plan")["pairs"]})
    hosts.process.p.send_signal(signal.SIGCONT)
    settled({"low": 300, "high": 500})
    check("when they have acknowledged, it begins", 10 in {
        p["color"] for p in fabric("p", "plan")["pairs"]} and
        "guaranteed_before" not in records()["blue/low"] and
        "waits" not in records()["red/high"], records())
    text = subprocess.run([t.SRPOL, "fabric", "jobs", "low", "socket",
                             f"{RUN}/p.sock"], capture_output=True, text=True,
                            check=False).stdout.splitlines()[0]
    check("as text, jobs says what it has of what", text.startswith(
        "job blue/low reserved since-epoch ") and text.endswith(
            " guaranteed 300G of 800G least 200G priority 2"), text)
    end(("high", "red"))
    check("when it ends, the other one rises", settled({"low": 800}))
    hosts.process.p.send_signal(signal.SIGSTOP)
    job("high", "red bandwidth 500G priority 5")
    wait_for("it", lambda: state("p", "high") == "waiting")
    end(("high", "red"))
    check("one that waits can be deleted at once", state("p", "high") is None and
          "red/high" not in records())
    hosts.process.p.send_signal(signal.SIGCONT)
    check("and nothing remains of it", settled({"low": 800}))
    end(("low", "blue"))


def test_order():
    job("a", "blue bandwidth 400G least 100G priority 3")
    job("b", "green bandwidth 400G least 100G priority 2")
    settled({"a": 400, "b": 400})
    reply = job("c", "red bandwidth 250G priority 5")
    check("the lowest priority is lowered first", lowered(reply) ==
          {"b": (400, 150)}, reply)
    settled({"a": 400, "b": 150, "c": 250})
    reply = job("d", "red bandwidth 300G least 200G priority 6")
    check("then the next one, by what is enough for the new one",
          reply["guaranteed"] == 200 * G and lowered(reply) ==
          {"a": (400, 250), "b": (150, 100)}, reply)
    settled({"a": 250, "b": 100, "c": 250, "d": 200})
    end(("c", "red"))
    check("what is free goes to the highest priority first",
          settled({"a": 400, "b": 100, "d": 300}))
    reply = job("f", "red bandwidth 100G priority 4 what-if")
    check("own jobs are no others in that", lowered(reply) == {"a": (400, 300)},
          reply)
    end(("d", "red"))
    check("and then to the next one", settled({"a": 400, "b": 400}))
    reply = job("g", "red bandwidth 100G priority 0 least 1G")
    check("without room for what is enough there is nothing",
          reply["decision"] == "lower-priority" and
          reply["offer"]["guaranteed"] == 0, reply)
    end(("a", "blue"), ("b", "green"))
    settled({})


def test_less():
    """There is less than is wanted, but enough."""
    job("solid", "blue bandwidth 500G priority 3")
    settled({"solid": 500})
    reply = job("some", "red bandwidth 400G least 100G")
    check("what is left is given, and it is said why not more",
          reply["decision"] == "accept" and reply["guaranteed"] == 300 * G and
          reply["wanted"] == 400 * G and not reply["lowered"] and
          "less than wanted" in reply["reason"] and reply["link"], reply)
    settled({"solid": 500, "some": 300})
    r = kept("some")
    check("jobs says so", (r["wanted"], r["least"], r["priority"]) ==
          (400 * G, 100 * G, 3), r)
    tenant("p", "tiny color 50 guaranteed 120G")
    reply = job("tiny1", "tiny bandwidth 100G least 1G what-if")
    check("nobody is lowered by a job of the same priority",
          reply["decision"] == "lower-priority", reply)
    end(("solid", "blue"))
    settled({"some": 400})
    reply = job("tiny1", "tiny bandwidth 100G")
    reply = job("tiny2", "tiny bandwidth 100G least 10G")
    check("a tenant has no more than its limit", reply["guaranteed"] == 20 * G and
          "tenant tiny has no more left" in reply["reason"], reply)
    settled({"some": 400, "tiny1": 100, "tiny2": 20})
    reply = job("tiny3", "tiny bandwidth 5G what-if")
    check("what jobs of the same priority could do without is not left of it",
          reply["decision"] == "reject" and
          "has 0G of its guaranteed 120G left" in reply["reason"], reply)
    end(("tiny1", "tiny"))
    check("and what is left of it rises", settled({"some": 400, "tiny2": 100}))
    end(("tiny2", "tiny"), ("some", "red"))
    settled({})


def test_links(hosts):
    """A link is gone: less for those who can, and others are lowered again."""
    job("high", "red bandwidth 500G priority 5")
    job("low", "blue bandwidth 300G least 50G priority 2")
    settled({"high": 500, "low": 300})
    reply = job("solid", "green bandwidth 100G least 10G priority 1")
    check("nobody is lowered for a lower priority",
          reply["decision"] == "lower-priority", reply)
    reply = job("solid", "green bandwidth 100G priority 3")
    check("another one at the expense of the lowest", lowered(reply) ==
          {"low": (300, 200)}, reply)
    settled({"high": 500, "low": 200, "solid": 100})
    what = {j["name"]: j["reservation"] for j in fabric(
        "p", "plan", "what-if", "link-down", "h0", "leaf0.0")["jobs"]}
    check("what-if tells what a link would do to them", what == {
        "high": "lost", "low": "kept", "solid": "kept"} or what == {
        "high": "lost", "low": "moved", "solid": "moved"}, what)
    hosts.tell("report h0 h0 leaf0.0 0")
    wait_for("loss", lambda: state("p", "high") == "lost")
    check("who cannot have less loses, and others share what is left",
          settled({"low": 300, "solid": 100}))
    t.tell_until(hosts, "report h0", "return",
                 lambda: state("p", "high") == "reserved")
    # hosts use both planes alike, and solid stays on the one that it went to
    check("when it is back, others are lowered for it again",
          settled({"high": 500, "low": 100, "solid": 100}))
    end(("high", "red"), ("solid", "green"))
    settled({"low": 300})
    end(("low", "blue"))
    settled({})
    job("low", "blue bandwidth 800G least 50G priority 2")
    settled({"low": 800})
    hosts.tell("report h0 h0 leaf0.0 0")
    check("an elastic one has less instead of nothing", settled({"low": 400}))
    t.tell_until(hosts, "report h0", "return",
                 lambda: rate("low") == NIC)
    check("and all of it again", settled({"low": 800}))
    end(("low", "blue"))
    settled({})


def test_deadline():
    # 40 Gbit within ten seconds
    began = time.time()
    reply = job("d", "red deadline 10s", size="5000000000")
    check("a deadline is a bandwidth: bytes by time", reply["decision"] == "accept"
          and 4 * G <= reply["guaranteed"] == reply["wanted"] < 4.4 * G, reply)
    r = kept("d")
    check("it is not elastic, and the deadline is told", r["least"] ==
          r["wanted"] == r["guaranteed"] and 9 < r["deadline_ms"] / 1000 - began <
          20 and r["until"] == -(-r["deadline_ms"] // 1000), r)
    end(("d", "red"))
    reply = job("d", "red bandwidth 100G deadline 10s", size="5000000000")
    r = kept("d")
    check("with more bandwidth it is what is enough", reply["guaranteed"] ==
          100 * G and 4 * G <= r["least"] < 4.4 * G, r)
    end(("d", "red"))
    reply = job("d", "red in 6s deadline 10s", size="5000000000")
    check("it counts from when the job begins", 10 * G <= reply["guaranteed"] <
          12 * G, reply)
    end(("d", "red"))
    reply = job("d", "red deadline 2s", size="5000000")
    check("when it is over, so is the job", reply["decision"] == "accept" and
          wait_for("its end", lambda: state("p", "d") is None))
    # the later others end, the more it would take
    job("solid", "blue bandwidth 799G for 600s")
    wait_for("nothing else", lambda: list(records()) == ["blue/solid"] and
             state("p", "solid") == "reserved")
    for words, decision in ("red deadline 700s", "defer"), ("red deadline 400s",
                                                           "lower-priority"):
        reply = job("d", f"{words} what-if", size="400000000000")
        check(f"a deadline counts in what is deferred: {words}",
              reply["decision"] == decision, reply)
    end(("solid", "blue"))
    settled({})


def test_later():
    """When it fits is the first of all ends at which it does."""
    job("solid", "blue bandwidth 300G")
    settled({"solid": 300})
    rates = {"solid": 300}
    for i in range(1, 6):
        job(f"b{i}", f"blue bandwidth 100G for {1000 * i}s")
        rates[f"b{i}"] = 100
        settled(rates)
    for ask, after in (100, 1000), (101, 2000), (300, 3000), (500, 5000), (501, None):
        offer = job("later", f"red bandwidth {ask}G what-if")["offer"]
        check(f"{ask}G fit after {after} s", offer["after_s"] is None if after is None
              else after - 240 < offer["after_s"] <= after, offer)
    end(*((name, "blue") for name in rates))


def test_bad_words():
    for words, text in (
            ("bandwidth 1G least 2G", "\"least\" is more than"),
            ("bandwidth 1G least 0", "no rate"),
            ("least 1G", "\"least\" is of a job"),
            ("priority 1", "\"priority\" are of a job"),
            ("deadline 5s for 5s", "\"deadline-ms\" is of a job without"),
            ("deadline 5s every 5s", "\"deadline-ms\" is of a job without"),
            ("deadline 5s in 5s", "\"deadline-ms\" is before"),
            ("deadline 5s in 3s lasts 3s", "\"deadline-ms\" is before"),
            ("deadline 1ms bandwidth 1G", "\"deadline-ms\": it takes")):
        said = refused("p", "job", "add", "x", "tenant", "red", *PAIR,
                       *words.split())
        check(f"refused: {words}", text in said, said)
    said = t.error("p", "job-add", name="x", tenant="red", guaranteed="1G", priority=8,
                   demands=[{"src": "h0", "dst": "h1", "bytes": 1000}])
    check("a job has no other priority", '"priority" is not a number from 0 to 7' in said,
          said)
    for words in "50d", "0", "x":
        status, _, said = run("p", "job", "add", "x", "tenant", "red", *PAIR,
                              "deadline", words)
        check(f"refused: deadline {words}", status == 1 and "deadline" in said,
              said)
    said = refused("p", "job", "add", "x", "tenant", "green", *PAIR, "bandwidth",
                   "1G", "priority", "6")
    check("a tenant's jobs have its greatest priority at most",
          "jobs of tenant green may have 5 at most" in said, said)
    tenant("p", "modest color 60 guaranteed 1T priority 1")
    job("m", "modest bandwidth 1G")
    check("and that is what they have if it is below the default",
          kept("m")["priority"] == 1 and {x["name"]: x["priority"] for x in
                                          fabric("p", "tenants")}["modest"] == 1)
    end(("m", "modest"))
    said = t.error("p", "tenant-add", name="x", color=9, priority=8)
    check("a tenant has no other priority", '"priority" is not a number from 0 to 7'
          in said, said)
    for what, words in (("below its least rate", {"least": 6}),
                        ("that waits perhaps", {"waits": "yes"}),
                        ("that waits and ends", {"waits": True, "ends": True}),
                        ("that waits without weights", {"waits": True})):
        before = t.stats("p")["refused"]
        e.store_put("resv/0/red/forged", json.dumps({
            "color": 10, "guaranteed": 5, "least": 5, "wanted": 7, "max": 0,
            "until": 0, "settled": False, "ends": False, "job": e.JOB, **words}))
        wait_for("refusal", lambda: t.stats("p")["refused"] == before + 1)
        check(f"a record {what} is refused", state("p", "forged") is None)


def test_demoted():
    """What a tenant's jobs may have is lowered: jobs that are there have less, too."""
    def may_have(priority):
        tenant("p", f"green color 30 guaranteed 800G priority {priority}")
        return wait_for("it", lambda: kept("top")["priority"] == priority)

    job("top", "green bandwidth 800G least 100G priority 5")
    settled({"top": 800})
    words = "red bandwidth 500G priority 5"
    reply = job("high", f"{words} what-if")
    check("nobody of the same priority is lowered", reply["decision"] ==
          "lower-priority", reply)
    check("a job has what its tenant may have by now", may_have(1))
    reply = job("high", f"{words} what-if")
    check("and is lowered for others then", lowered(reply) == {"top": (800, 300)},
          reply)
    may_have(5)
    reply = job("high", f"{words} what-if")
    check("until the tenant may have more again", reply["decision"] ==
          "lower-priority", reply)
    may_have(1)
    job("high", words)
    check("hosts are told so", settled({"top": 300, "high": 500}))
    end(("high", "red"), ("top", "green"))
    settled({})
    tenant("p", "green color 30 guaranteed 800G priority 5")


def test_embedded():
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    users = {"nobody": "red"}
    server = e.start_engine("p", store, users=users)
    wait_for("leader", lambda: e.ask("p", "show")["leads"])
    hosts = e.Hosts("p-hosts", HOSTS, store, **{"lease-s": 60})
    for words in ("red color 10 guaranteed 800G priority 7",
                  "blue color 20 guaranteed 800G",
                  "green color 30 guaranteed 800G priority 5"):
        tenant("p", words)
    add("p", "first", "hosts", ",".join(HOSTS), "bytes", "1000")
    wait_for("acknowledgements", lambda: len(e.ask("p", "show")["hosts"]) ==
             len(HOSTS) and e.ask("p", "show")["epoch"])
    run("p", "job", "del", "first")
    test_many()
    test_many_ask()
    test_what_if()
    test_two_steps(hosts)
    test_order()
    test_demoted()
    test_less()
    test_links(hosts)
    test_deadline()
    test_later()
    test_bad_words()
    job("low", "blue bandwidth 800G least 200G priority 2")
    job("high", "red bandwidth 500G priority 5")
    settled({"low": 300, "high": 500})
    before = records()
    check("the engine ends as it should", server.end() == 0)
    server = e.start_engine("p", store, users=users)
    wait_for("leader", lambda: e.ask("p", "show")["leads"])
    settled({"low": 300, "high": 500})
    check("after a restart all is as it was", records() == before, records())
    end(("high", "red"))
    check("and goes on", settled({"low": 800}))
    check("it ends as it should", server.end() == 0)
    check("hosts end as they should", hosts.end() == 0)


# --- etcd

def in_force(value):
    """What hosts may use by a record."""
    r = json.loads(value)
    if r.get("waits") or not ("weights" in r or "before" in r):
        return 0
    return max(r["guaranteed"], r.get("guaranteed_before", 0))


def check_record(least):
    """Of all that was ever written."""
    now, most, low, waits = {}, 0, set(), set()
    for revision, key, value in e.recorded():
        if not key.startswith("resv/"):
            continue
        r = json.loads(value) if value is not None else {}
        now[key] = (revision, in_force(value) if r else 0)
        name = key.split("/")[-1]
        if name in least and r and not r["ends"] and r["guaranteed"] < least[name]:
            low.add((name, r["guaranteed"]))
        if r.get("waits"):
            waits.add(name)
        # those of a transaction have the same revision
        most = max(most, sum(rate for _, rate in now.values()))
    check(f"hosts never had more than there is ({most // G} of {NIC // G} Gbit/s)",
          0 < most <= NIC)
    check("nobody was ever lowered below what is enough", not low, low)
    check("who needed others to be lowered has waited for it", {
        "high", "late"} <= waits, waits)


def test_etcd():
    etcd = e.Etcd()
    store = {"kind": "etcd", "endpoints": etcd.endpoints}
    record = e.Record(etcd)
    lease = {"lease-s": 10}
    engines = {n: e.start_engine(n, store, **lease) for n in "AB"}

    def leader():
        for name, process in engines.items():
            if process.p.poll() is None and e.ask(name, "show")["leads"]:
                return name
        return None

    first = wait_for("a leader", leader)
    other = "AB".replace(first, "")
    hosts = e.Hosts("q-hosts", HOSTS, store, **{"lease-s": 60})
    for words in ("red color 10 guaranteed 800G priority 7",
                  "blue color 20 guaranteed 800G", "green color 30 guaranteed 800G"):
        tenant(first, words)
    wait_for("tenants", lambda: all(len(fabric(n, "tenants")) == 3
                                    for n in engines))
    job("low", "blue bandwidth 500G least 100G priority 2", first)
    wait_for("acknowledgements", lambda: len(e.ask(first, "show")["hosts"]) ==
             len(HOSTS) and e.ask(first, "show")["epoch"])
    job("mid", "green bandwidth 300G least 100G priority 3", first)
    settled({"low": 500, "mid": 300}, first)

    # asked of the other engine; the leader is killed when hosts have not answered
    hosts.process.p.send_signal(signal.SIGSTOP)
    reply = job("high", "red bandwidth 500G priority 5", other)
    check("an engine that does not lead lowers others as well",
          reply["decision"] == "accept" and lowered(reply) ==
          {"low": (500, 100), "mid": (300, 200)}, reply)
    wait_for("the first step", lambda: json.loads(
        etcd.get("resv/0/red/high"))["waits"])
    engines[first].end(signal.SIGKILL)
    wait_for("another leader", lambda: leader() == other)
    check("the next leader keeps what is under way", all(
        state(other, name) == what for name, what in (
            ("high", "waiting"), ("low", "moving"), ("mid", "moving"))))
    hosts.process.p.send_signal(signal.SIGCONT)
    check("and completes it", settled({"low": 100, "mid": 200, "high": 500}, other))

    # the leader is killed when hosts have not answered that they rise again
    engines[first] = e.start_engine(first, store, **lease)
    end(("high", "red"), who=other)
    engines[other].end(signal.SIGKILL)
    wait_for("another leader", lambda: leader() == first)
    check("what is free is given back by the next leader, all of it",
          settled({"low": 500, "mid": 300}, first))

    # several ask two engines for the same at a time
    engines[other] = e.start_engine(other, store, **lease)
    wait_for("it", lambda: len(fabric(other, "jobs")) == 2)
    replies = {}

    def ask(i):
        def once():
            _, reply, text = run((first, other)[i % 2], "job", "add", f"late{i}"
                                 if i else "late", "tenant", "red", *PAIR,
                                 "bandwidth", "200G", "priority", "6")
            return {"decision": "accept"} if "of that name" in text else reply
        replies[i] = wait_for(f"an answer about {i}", once)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = [i for i, r in replies.items() if r["decision"] == "accept"]
    # 800 less twice 100, and the tenant has 800; each changes its color alone
    check("of those that ask two engines at a time as many are accepted as fit",
          0 < len(taken) <= 3 and all(
              r["decision"] in ("lower-priority", "defer")
              for i, r in replies.items() if i not in taken), replies)
    wait_for("all settled", lambda: all(j["state"] == "reserved"
                                        for j in fabric(first, "jobs")))
    rates = {j["name"]: j["reservation"]["guaranteed"]
             for j in fabric(first, "jobs")}
    check("links are full, and those of lower priority have what is left",
          sum(rates.values()) == NIC and min(rates.values()) >= 100 * G, rates)
    for i in taken:
        end((f"late{i}" if i else "late", "red"), who=first)
    check("which they get back", settled({"low": 500, "mid": 300}, first))
    if 0 not in taken:
        job("late", "red bandwidth 200G priority 6", first)
        settled({"low": 300, "mid": 300, "late": 200}, first)
    record.complete()
    check_record({"low": 100 * G, "mid": 100 * G})
    check("hosts end as they should", hosts.end() == 0)
    check("engines end as they should", all(
        p.end() == 0 for p in engines.values()))


def main():
    # other users have to reach the sockets
    os.chmod(RUN, 0o755)
    return e.main((test_embedded, test_etcd))


if __name__ == "__main__":
    sys.exit(main())
