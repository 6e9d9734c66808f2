#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What applications will send, from hosts to the global engine: on the embedded
store, on a real etcd of three members and over three NATS servers. Which of it is
planned for, when, and what becomes of words that are wrong, of others, too many
or too old. Engine and hosts have the sanitizers of selftests/engine; what the
engine shows is held to selftests/schema.
"""

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import bus as b
import engine as e
from engine import HOSTS, RUN, ask, check, store_put, wait_for
from tenants import SCHEMA, fabric, run, valid
from tls import authority, certificate, password

SRPOLD = f"{e.BUILD}/bin/srpold"
STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
SCHEMA["horizons"] = "horizons"
NOTHING = {"demands": 0, "bytes": 0}


def asked(name, what, **more):
    return valid(what, ask(name, what, **more))


def seen(name="fc"):
    return asked(name, "show")["forecasts"]


def pairs(name="fc", source=None):
    """Of leaves of plane 0, by their numbers, and whom they are for."""
    return {(int(p["from"][-1]), int(p["to"][-1])): p["for"]
            for p in asked(name, "plan")["pairs"] if p["from"][4] == "0" and
            (source is None or source in p["for"])}


def now_ms():
    return int(time.time() * 1000)


def word(name, host, *demands, **more):
    """What a host says, as one that is not ours would write it."""
    return json.dumps({"version": 1, "host": host, "demands": list(demands),
                       "topology": ask(name, "show")["topology"],
                       "rest": NOTHING, **more})


def demand(dst, size=1 << 30, **more):
    return {"dst": dst, "bytes": size, "start_ms": now_ms(),
            "duration_ms": 600000, **more}


def tell(hosts, host, *demands):
    """(destination, bytes, in ms, for ms, period in ms)"""
    hosts.tell(f"demand {host} " + ", ".join(
        " ".join(map(str, d)) for d in demands))


def begin(name, store, **more):
    engine = e.start_engine(name, store, forecasts=1000, **more)
    wait_for("leader", lambda: ask(name, "show")["leads"])
    wait_for("a plan", lambda: ask(name, "plan") and True)
    return engine


def test_planned(hosts, name="fc"):
    check(f"{name}: without demands nothing is planned",
          pairs(name) == {} and seen(name)["hosts"] == 0, seen(name))
    tell(hosts, "h0", ("h1", 10 ** 6, 0, 600000, 0), ("h2", 5, 0, 600000, 500))
    wait_for("a plan of forecasts", lambda: set(pairs(name)) == {(0, 1), (0, 2)})
    epoch = ask(name, "show")["epoch"]
    wait_for("hosts with it", lambda: hosts.epoch("h0") >= epoch and
             '"leaf0.1"' in hosts.last("h0")["chunks"]["leaf0.0"])
    now = seen(name)
    check(f"{name}: what a host's applications will send is planned for, and said to be forecast",
          set(map(tuple, pairs(name).values())) == {("forecasts",)} and
          (now["hosts"], now["demands"], now["planned"], now["covered"],
           now["bytes"]) == (1, 2, 2, 0, 10 ** 6 + 5), now)
    why = asked(name, "why", src="h0", dst="h2")
    check(f"{name}: why tells them",
          [(f["bytes"], f["period_ms"], f["state"]) for f in why["forecasts"]] ==
          [(5, 500, "planned")] and
          [p["forecast_bytes"] for p in why["planes"]] == [2.5, 2.5] and
          [p["bytes"] for p in why["planes"]] == [0, 0] and
          why["planes"][0]["planned"], why)


def test_precedence(put, name="fc"):
    put("job/t/a", json.dumps({"demands": [
        {"src": "h0", "dst": "h1", "bytes": 77}]}))
    wait_for("the job", lambda: seen(name)["covered"] == 1)
    wait_for("its plan", lambda: pairs(name)[0, 1] == ["jobs"])
    why = asked(name, "why", src="h0", dst="h1")
    check(f"{name}: a pair that a job announces is the job's, the other one stays forecast",
          pairs(name) == {(0, 1): ["jobs"], (0, 2): ["forecasts"]} and
          seen(name)["planned"] == 1 and
          why["forecasts"][0]["state"] == "covered" and
          [p["bytes"] for p in why["planes"]] == [38.5, 38.5] and
          why["planes"][0]["forecast_bytes"] == 0, (pairs(name), why))
    put("job/t/a", None)
    wait_for("the job's end", lambda: pairs(name).get((0, 1)) == ["forecasts"])
    check(f"{name}: without the job it is forecast again", True)


def test_changes(hosts, name="fc"):
    """Who says the same again and again is told once."""
    count = hosts.stats()["h0"]["forecasts"]
    for i in range(50):
        tell(hosts, "h0", ("h1", 10 ** 6 + i, 0, 610000 + 10 * i, 0),
             ("h2", 5, 0, 610000, 500))
    now = hosts.stats()["h0"]["forecasts"]
    check(f"{name}: what is the same within a 32nd is not told again",
          now - count <= 1, (count, now))


def test_other_times(hosts, name="fc"):
    """Told as often as hosts do: while a word is on its way the next is not taken."""
    for what, field, least, begins, lasts, period in (
            ("begins", "in_ms", 600000, 900000, 2700000, 0),
            ("begins later", "in_ms", 1500000, 1800000, 1800000, 0),
            ("ends", "left_ms", 0, 0, 300000, 0),
            ("ends later", "left_ms", 600000, 0, 1800000, 0),
            ("repeats", "period_ms", 0, 0, 1800000, 1000),
            ("repeats later", "period_ms", 1000, 0, 1800000, 2000)):
        wait_for(f"what {what}", lambda: tell(
            hosts, "h0", ("h1", 10 ** 6, begins, lasts, period)) or any(
                d.get(field, 0) > least for d in
                asked(name, "why", src="h0", dst="h1")["forecasts"]))
    check(f"{name}: another begin or period, and an end that is put off for long, are told", True)
    wait_for("nothing", lambda: tell(hosts, "h0") or
             seen(name)["demands"] == 0 and pairs(name) == {})


def test_time(hosts, name="fc"):
    """What begins later, and what is over."""
    def why():
        return asked(name, "why", src="h0", dst="h3")["forecasts"]

    # a machine that stands still for a second is too late
    for _ in range(8):
        over = now_ms() + 12000
        tell(hosts, "h0", ("h3", 9, 5000, 2000, 0))
        wait_for("one that waits", lambda: now_ms() > over or
                 seen(name)["demands"] == 1 and pairs(name) == {})
        state = why()
        wait_for("its plan", lambda: now_ms() > over or (0, 3) in pairs(name))
        at = why()
        wait_for("its end", lambda: seen(name)["demands"] == 0 and
                 pairs(name) == {})
        if state and state[0]["state"] == "waits" and at and \
                at[0]["left_ms"] > 2000:
            break
    check(f"{name}: what begins later waits",
          state and state[0]["state"] == "waits" and state[0]["in_ms"] > 0, state)
    check(f"{name}: it is in the plan before it begins",
          at and at[0]["left_ms"] > 2000, at)
    wait_for("hosts", lambda: hosts.last("h0")["chunks"].get("leaf0.0", "") == "")
    check(f"{name}: when it is over the plan is what it was",
          hosts.last("h0")["chunks"].get("leaf0.0", "") == "" and
          seen(name)["demands"] == 0 and seen(name)["planned"] == 0,
          hosts.last("h0"))


def wrong_words(name):
    good = demand("h2")
    return [
        ("no JSON", "nonsense"), ("an array", "[]"), ("nothing", ""),
        ("deep", "[" * 60000), ("oversize", " " * 65537),
        ("another version", word(name, "h1", good, version=2)),
        ("another host's", word(name, "h2", good)),
        ("another topology", word(name, "h1", good, topology="0" * 64)),
        ("to nobody", word(name, "h1", demand("nobody"))),
        ("to itself", word(name, "h1", demand("h1"))),
        ("to a switch", word(name, "h1", demand("leaf0.2"))),
        ("of another rail", word(name, "h1", demand("h2", rail=3))),
        ("no bytes", word(name, "h1", demand("h2", 0))),
        ("negative bytes", word(name, "h1", demand("h2", -1))),
        ("too many bytes", word(name, "h1", demand("h2", 1 << 53))),
        ("bytes that are text", word(name, "h1", demand("h2", "5"))),
        ("in two days", word(name, "h1", demand(
            "h2", start_ms=now_ms() + 2 * 86400000))),
        ("without a time", word(name, "h1", {"dst": "h2", "bytes": 1})),
        ("too long", word(name, "h1", demand("h2", duration_ms=86400001))),
        ("twice the same", word(name, "h1", good, good)),
        ("too many demands", word(name, "h1", *(
            demand("h2", period_ms=1 + i) for i in range(257)))),
    ]


def test_wrong(put, name="fc"):
    key = "demand/0/leaf0.1/h1"
    bad = []
    for what, text in wrong_words(name):
        put(key, word(name, "h1", demand("h2")))
        wait_for(f"a good one before {what}", lambda: seen(name)["hosts"] == 1)
        before = seen(name)["refused"]
        put(key, text)
        wait_for(f"refusal: {what}", lambda: seen(name)["refused"] > before)
        if seen(name)["refused"] != before + 1 or seen(name)["hosts"]:
            bad.append((what, seen(name)))
    check(f"{name}: words that are wrong are refused and counted, and what was said before ends",
          not bad, bad)
    # the plan follows up to a second later
    wait_for("their end", lambda: pairs(name) == {})
    before = seen(name)["refused"]
    keys = ["demand/0/leaf0.2/h1", "demand/0/nobody/h1", "demand/0/leaf0.1/x",
            "demand/0/h1", "demand/0/leaf0.1/leaf0.1"]
    for k in keys:
        put(k, word(name, "h1", demand("h2")))
    wait_for("refusals", lambda: seen(name)["refused"] == before + len(keys))
    check(f"{name}: a host's word is under its own leaf and name only",
          seen(name)["hosts"] == 0 and pairs(name) == {}, seen(name))
    put(key, word(name, "h1", demand("h2"), later="x"))
    wait_for("it", lambda: seen(name)["hosts"] == 1)
    check(f"{name}: what a later version may add is passed over", True)
    for k in [*keys, key]:
        put(k, None)
    wait_for("nothing", lambda: seen(name)["hosts"] == 0 and pairs(name) == {})


def fill(put, name):
    """All that there is room for, over before long; a machine may be slow."""
    for left in 3000, 10000, 30000:
        end = now_ms() + left
        for i, host in enumerate(HOSTS):
            put(f"demand/0/leaf0.{i}/{host}", word(name, host, *(
                demand(HOSTS[i - 1], (1 << 40) + k, period_ms=1 + k,
                       start_ms=end - 60000, duration_ms=60000)
                for k in range(250))))
        wait_for("a full house, or its end", lambda: now_ms() > end or
                 seen(name)["demands"] == 1000)
        if now_ms() < end:
            break


def test_many(hosts, put, name="fc"):
    hosts.tell("demands h1 300 1000")
    wait_for("most of them", lambda: seen(name)["demands"] == 256)
    now = seen(name)
    check(f"{name}: of 300 demands of a host 256 are told one by one, the largest ones",
          now["unnamed"] == 44 and now["unnamed_bytes"] == sum(
              range(1000, 1044)) and not now["cut"], now)
    for host in "h0", "h2", "h3":
        hosts.tell(f"demands {host} 256 5000")
    wait_for("all there is room for", lambda: seen(name)["demands"] == 1000)
    now = seen(name)
    check(f"{name}: more than the engine is to keep is left out and counted",
          now["cut"] == 24 and now["hosts"] == 4 and now["unnamed"] == 44, now)
    for host in HOSTS:
        tell(hosts, host)
    wait_for("nothing", lambda: seen(name)["demands"] == 0 and
             pairs(name) == {})
    fill(put, name)
    wait_for("their end", lambda: seen(name)["demands"] == 0)
    put("demand/0/leaf0.1/h1", word(name, "h1", *(
        demand("h2", period_ms=1 + k) for k in range(256))))
    wait_for("what comes after them", lambda: seen(name)["hosts"] == 1)
    now = seen(name)
    check(f"{name}: what is over takes no room from what comes",
          now["demands"] == 256 and not now["cut"], now)
    for i, host in enumerate(HOSTS):
        put(f"demand/0/leaf0.{i}/{host}", None)
    wait_for("nothing", lambda: seen(name)["hosts"] == 0 and pairs(name) == {})
    check(f"{name}: taken back, there is nothing left",
          seen(name)["cut"] == seen(name)["unnamed"] == 0, seen(name))


def made(name):
    """Plans but for the first one of each term: on a busy machine the store may be
    silent for longer than a lease is valid."""
    stats = ask(name, "show")["stats"]
    return stats["plans"] - stats["elected"]


def test_flood(put, name="fc"):
    """A host that does not keep to any rate."""
    before = made(name)
    start = time.monotonic()
    for i in range(400):
        put("demand/0/leaf0.1/h1", word(name, "h1", demand("h2", 1 + i)))
    put("demand/0/leaf0.1/h1", word(name, "h1", demand("h3", 4321)))
    wait_for("the last word", lambda: set(pairs(name)) == {(1, 3)})
    plans = made(name) - before
    seconds = time.monotonic() - start
    check(f"{name}: of 400 words a plan a second follows, and the last one counts",
          plans <= seconds + 2, (plans, seconds))
    put("demand/0/leaf0.1/h1", None)
    wait_for("nothing", lambda: pairs(name) == {})


def test_lease(hosts, name="fc"):
    tell(hosts, "h0", ("h1", 10 ** 9, 0, 3600000, 0))
    wait_for("a plan", lambda: set(pairs(name)) == {(0, 1)})
    hosts.process.end(signal.SIGKILL)
    wait_for("the end of the lease", lambda: seen(name)["hosts"] == 0 and
             pairs(name) == {})
    check(f"{name}: what a dead host said ends with its lease", True)


def horizons(name="fc"):
    h = asked(name, "horizons")
    return h, {x["in_s"]: x for x in h["horizons"]}


def near(is_, want, part=0.01):
    return abs(is_ - want) <= part * want


def test_horizons(put, name="fc"):
    """NICs of 400G in each of two planes: 800G from a host to another."""
    h, at = horizons(name)
    check(f"{name}: nothing is said, nothing is ahead",
          h["first_overload"] is None and h["ends"] == [] and
          not any(x["links"] for x in at.values()), h)
    # 40 GB/s for ever, as of a begin that is over
    put("job/t/now", json.dumps({
        "demands": [{"src": "h1", "dst": "h0", "bytes": 40 * 10 ** 9}],
        "times": {"start_ms": now_ms() - 5000, "period_ms": 1000}}))
    wait_for("the job", lambda: horizons(name)[0]["demands"] == 1)
    h, at = horizons(name)
    check(f"{name}: a job with a period: 320G on two planes, at each horizon",
          all(near(x["links"][0]["bps"], 160 * 10 ** 9) and
              near(x["links"][0]["part"], 0.4) and x["demands"] == 1 and
              not x["overloaded"] for x in at.values()) and
          h["first_overload"] is None, h)
    check(f"{name}: and 0.4 s for what is sent of it at a time",
          [(x["source"], x["name"]) for x in h["ends"]] == [("job", "t/now")] and
          near(h["ends"][0]["end_s"], 0.4), h["ends"])

    def soon():
        """
        What is ahead with 150 GB/s from another host, between 4 and 8 s from now;
        None, if it was not told within two seconds.
        """
        begins = now_ms() + 4000
        put(key, word(name, "h2", demand("h0", 600 * 10 ** 9, start_ms=begins,
                                         duration_ms=4000)))
        wait_for("the forecast", lambda: now_ms() > begins or
                 horizons(name)[0]["demands"] == 2)
        found = horizons(name)
        return found if now_ms() < begins - 2000 else None

    key = "demand/0/leaf0.2/h2"
    h, at = wait_for("a forecast in time", soon)
    first = h["first_overload"]
    check(f"{name}: a forecast beside it: the link that will be overloaded first, and when",
          first and 2 < first["in_s"] <= 4 and first["to"] == "h0" and
          near(first["part"], 1.9), h)
    check(f"{name}: at each horizon what there is then",
          at[1]["demands"] == 1 and at[5]["demands"] == 2 and
          at[10]["demands"] == 1 and not at[1]["overloaded"] and
          at[5]["overloaded"] > 0 and not at[10]["overloaded"] and
          near(at[5]["links"][0]["part"], 1.9), h)
    # a job for the same hosts: the forecast does not count any more, as it would
    put(key, word(name, "h2", demand("h0", 600 * 150 * 10 ** 9, duration_ms=600000)))
    wait_for("a longer one", lambda: horizons(name)[0]["first_overload"] and
             horizons(name)[1][10]["demands"] == 2)
    put("job/t/soon", json.dumps({
        "demands": [{"src": "h2", "dst": "h0", "bytes": 10 ** 9}]}))
    wait_for("the job", lambda: horizons(name)[0]["untimed"] == 1)
    h, at = horizons(name)
    check(f"{name}: where a job says something the forecast does not count",
          h["first_overload"] is None and
          sorted(x["source"] for x in h["ends"]) == ["job", "untimed"], h)
    put(key, None)
    wait_for("the forecast's end", lambda: seen(name)["demands"] == 0)
    for job in "now", "soon":
        put(f"job/t/{job}", None)
    wait_for("nothing", lambda: horizons(name)[0]["demands"] == 0)


def test_horizons_times(put, name="fc"):
    """What is over, half of what is sent once, a period, and an hour from now."""
    def job(word, src, dst, **times):
        put(f"job/t/{word}", json.dumps({
            "demands": [{"src": src, "dst": dst, "bytes": 40 * 10 ** 9}],
            "times": times}))

    began = now_ms() - 300000
    job("gone", "h1", "h0", start_ms=began, duration_ms=1000)
    job("half", "h2", "h1", start_ms=began, duration_ms=600000)
    job("often", "h3", "h2", start_ms=began, duration_ms=600000, period_ms=1000)
    put("demand/0/leaf0.0/h0", word(
        name, "h0", demand("h3", 10 ** 11), demand("h3", 1, period_ms=1000),
        demand("h2", start_ms=now_ms() + 3600000)))
    put("demand/0/leaf0.1/h1", word(name, "h1", demand("h3", 1)))
    wait_for("all of it", lambda: seen(name)["demands"] == 4 and any(
        x["name"] == "t/often" for x in horizons(name)[0]["ends"]))
    h, _ = horizons(name)
    ends = {x["name"]: x["end_s"] for x in h["ends"]}
    check(f"{name}: what is over, or begins after the last horizon, is not ahead",
          sorted(ends) == ["h0", "h1", "t/half", "t/often"] and
          h["demands"] == 5, h)
    check(f"{name}: what hosts forecast ends with the last of it, host by host",
          ends["h0"] > 0.1 > ends["h1"], ends)
    check(f"{name}: of what is sent once the rest counts, of each period all",
          0 < ends["t/half"] < 0.21 and near(ends["t/often"], 0.4), ends)
    for key in ("job/t/gone", "job/t/half", "job/t/often",
                "demand/0/leaf0.0/h0", "demand/0/leaf0.1/h1"):
        put(key, None)
    wait_for("nothing", lambda: horizons(name)[0]["demands"] == 0)


def test_horizons_many(put, name="fc"):
    put("job/t/many", json.dumps({
        "demands": [{"src": "h1", "dst": "h0", "bytes": 10 ** 6}] * 5000,
        "times": {"start_ms": now_ms(), "period_ms": 1000}}))
    wait_for("the job", lambda: horizons(name)[0]["demands"] == 5000)
    h, at = horizons(name)
    check(f"{name}: of very many demands loads are told, and not when they end",
          h["ends"] is None and at[1]["ended"] is None and
          near(at[1]["links"][0]["bps"], 20 * 10 ** 9), h)
    put("job/t/many", None)
    wait_for("nothing", lambda: horizons(name)[0]["demands"] == 0)


def test_horizons_reserved(name="fc"):
    """By the command: what is kept for a job counts, not what it announces."""
    run(name, "tenant", "add", "red", "color", "10", "guaranteed", "400G")
    fabric(name, "job", "add", "train", "tenant", "red", "demand", "h0", "h1",
           str(10 ** 12), "bandwidth", "200G", "in", "3s", "lasts", "1s")

    def late():
        """What is ahead with another job, if that was told soon enough."""
        began = time.monotonic()
        fabric(name, "job", "add", "late", "demand", "h0", "h2", str(10 ** 11),
               "in", "7s", "lasts", "2s", "every", "500ms")
        wait_for("both", lambda: time.monotonic() - began > 9 or
                 horizons(name)[0]["demands"] == 2)
        found = fabric(name, "horizons")
        if time.monotonic() - began < 1.4:
            return found
        fabric(name, "job", "del", "late")
        return None

    h = wait_for("a job in time", late)
    at = {x["in_s"]: x for x in h["horizons"]}
    check(f"{name}: a reservation counts with its bandwidth, a job when it sends",
          h["reserved"] == 1 and h["untimed"] == 0 and
          near(at[1]["links"][0]["bps"], 100 * 10 ** 9) and
          near(at[5]["links"][0]["bps"], 100 * 10 ** 9) and
          h["first_overload"]["from"] == "h0" and
          5.5 < h["first_overload"]["in_s"] <= 7 and
          {x["name"]: x["source"] for x in h["ends"]} ==
          {"red/train": "reservation", "default/late": "job"}, h)
    text = subprocess.run([f"{e.BUILD}/bin/srpol", "fabric", "horizons",
                           "socket", f"{RUN}/{name}.sock"], check=True,
                          capture_output=True, text=True).stdout
    check(f"{name}: as text", "first-overload in" in text and
          "reservation red/train demands 1 ends-in" in text, text)
    code, _, why = run(name, "job", "add", "x", "demand", "h0", "h2", "5",
                       "lasts", "0s")
    check(f"{name}: a time of nothing is refused", code and "lasts" in why, why)
    fabric(name, "job", "del", "train", "tenant", "red")
    fabric(name, "job", "del", "late")
    wait_for("nothing", lambda: horizons(name)[0]["demands"] == 0)


def put_embedded(key, value):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(STORE["socket"])
        s.sendall(json.dumps({"id": 1, "op": "txn", "compare": [], "put": [
            [f"/srpol/{key}", value, 0]]}).encode() + b"\n")
        assert json.loads(s.makefile().readline())["succeeded"]


def test_embedded():
    engine = begin("fc", STORE)
    hosts = e.Hosts("fc-hosts", HOSTS, STORE, **{"lease-s": 10})
    test_planned(hosts)
    test_precedence(put_embedded)
    test_changes(hosts)
    test_other_times(hosts)
    test_time(hosts)
    test_wrong(put_embedded)
    test_many(hosts, put_embedded)
    test_flood(put_embedded)
    test_horizons(put_embedded)
    test_horizons_times(put_embedded)
    test_horizons_many(put_embedded)
    test_horizons_reserved()
    test_lease(hosts)
    check("fc: the engine ends as it should", engine.end() == 0)
    hosts = e.Hosts("fc-hosts", HOSTS, STORE, **{"lease-s": 10})
    engine = e.start_engine("fc", STORE)
    wait_for("leader", lambda: ask("fc", "show")["leads"])
    tell(hosts, "h0", ("h1", 10 ** 9, 0, 600000, 0))
    store_put("job/t/a", e.JOB)
    wait_for("a plan", lambda: len(pairs()) == 12)
    wait_for("the host's word", lambda: hosts.stats()["h0"]["forecasts"] > 0)
    put_embedded("job/t/a", None)
    wait_for("a plan", lambda: pairs() == {})
    check("fc: an engine that is not told to listen does not",
          seen()["max"] == seen()["hosts"] == 0, seen())
    check("fc: all end as they should", engine.end() == 0 and
          hosts.end() == 0)


def test_etcd():
    etcd = e.Etcd()
    store = {"kind": "etcd", "endpoints": etcd.endpoints}
    engine = begin("fe", store, **{"lease-s": 10})
    hosts = e.Hosts("fe-hosts", HOSTS, store, **{"lease-s": 10})

    def put(key, value):
        if value is None:
            etcd.ctl("del", f"/srpol/{key}")
        else:
            etcd.put(key, value)

    test_planned(hosts, "fe")
    test_precedence(put, "fe")
    test_time(hosts, "fe")
    tell(hosts, "h0", ("h1", 10 ** 9, 0, 600000, 0))
    wait_for("a plan", lambda: set(pairs("fe")) == {(0, 1)})
    other = e.start_engine("fe2", store, forecasts=1000, **{"lease-s": 10})
    engine.end(signal.SIGKILL)
    wait_for("another leader", lambda: ask("fe2", "show")["leads"])
    wait_for("its plan", lambda: pairs("fe2") == {(0, 1): ["forecasts"]})
    check("fe: the next leader knows them, too", True)
    test_lease(hosts, "fe2")
    check("fe: the engine ends as it should", other.end() == 0)


def test_nats():
    nats = b.Nats()
    over = {"servers": nats.urls}
    port = e.free_ports(1)[0]
    engine = begin("fb", STORE, bus=over, page=f"127.0.0.1:{port}")
    hosts = e.Hosts("fb-hosts", HOSTS, STORE, bus=over)
    test_planned(hosts, "fb")
    test_time(hosts, "fb")
    check("fb: nothing of it is stored", not b.stored("demand/"))
    tell(hosts, "h0", ("h1", 10 ** 9, 0, 600000, 0))
    wait_for("a plan", lambda: set(pairs("fb")) == {(0, 1)})
    s = nats.client(0)
    before = seen("fb")["refused"]

    def publish(subject, body):
        body = body.encode()
        s.sendall(f"PUB {subject} {len(body)}\r\n".encode() + body + b"\r\n")

    # what is larger is dropped by the bus
    words = [w for what, w in wrong_words("fb") if what != "oversize"]
    for text in words:
        publish("srpol.demand.0.leaf0=2E1.h1", text)
    publish("srpol.demand.0.leaf0=2E2.h1", word("fb", "h1", demand("h2")))
    publish("srpol.demand.0.=", "x")
    wait_for("refusals", lambda: seen("fb")["refused"] == before +
             len(words) + 2)
    check("fb: what is wrong is refused and counted, others' words stay",
          seen("fb")["hosts"] == 1 and set(pairs("fb")) == {(0, 1)}, seen("fb"))
    before = made("fb")
    start = time.monotonic()
    text = word("fb", "h1", demand("h2", 4321))
    for i in range(5000):
        publish("srpol.demand.0.leaf0=2E1.h1", text.replace("4321", str(1 + i)))
    # one of these may be lost, the last one as well
    wait_for("h1", lambda: publish("srpol.demand.0.leaf0=2E1.h1", text) or
             set(pairs("fb")) == {(0, 1), (1, 2)})
    plans = made("fb") - before
    seconds = time.monotonic() - start
    check("fb: of five thousand messages a plan a second follows",
          plans <= seconds + 2 and ask("fb", "show")["load"]["refused"] == 0,
          (plans, seconds))
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as f:
        lines = dict(line.rsplit(" ", 1) for line in f.read().decode().splitlines())
    taken = [float(lines[f"srpol_fabric_bus_{x}_total"]) for x in ("messages", "dropped")]
    check("fb: metrics have messages of forecasts among those of the bus",
          sum(taken) >= 5000, taken)
    hosts.process.end(signal.SIGKILL)
    wait_for("the end of what they said", lambda: seen("fb")["hosts"] == 0 and
             pairs("fb") == {})
    check("fb: what dead hosts said ends", True)
    check("fb: the engine ends as it should", engine.end() == 0)


def test_permissions():
    """Servers that were set up before there were forecasts."""
    authority("ca")
    certificate("server", "ca")
    for user in ("engine", "h0"):
        password(user, user)
    url = b.Secure("secure", "server").url
    engine = begin("fp", STORE, bus=b.login(url, "engine"))
    wait_for("the bus", lambda: ask("fp", "show")["bus"] == "connected")
    hosts = e.Hosts("fp-hosts", ["h0"], STORE, bus=b.login(url, "h0"))
    tell(hosts, "h0", ("h1", 10 ** 6, 0, 60000, 0))
    for log in "fp", "fp-hosts":
        wait_for(f"a complaint to {log}", lambda: "Permissions Violation" in
                 open(f"{e.OUT}/{log}.log", encoding="utf-8").read())
    hosts.tell("measured h0 leaf0.0 spine0.0 5000")
    wait_for("the load", lambda: ask("fp", "show")["load"]["bps"] == 5000000)
    check("fp: servers that do not permit forecasts permit loads as before",
          seen("fp")["hosts"] == 0 and ask("fp", "show")["bus"] == "connected",
          seen("fp"))
    check("fp: all end as they should", engine.end() == 0 and hosts.end() == 0)


def test_config():
    def says(program, config):
        with open(f"{RUN}/config.json", "w", encoding="ascii") as f:
            json.dump({"topology": f"{RUN}/topology.json", **config}, f)
        return subprocess.run([program, "-c", f"{RUN}/config.json",
                               "--check-config"], capture_output=True,
                              text=True, check=False)

    bad = []
    for program, config, words in (
            (e.FABRICD, {"forecasts": 1 << 20}, None),
            (e.FABRICD, {"forecasts": (1 << 20) + 1}, '"forecasts"'),
            (e.FABRICD, {"forecasts": True}, '"forecasts"'),
            (SRPOLD, {"hosts": ["h0"], "fabric": {"demand-ms": 100}}, None),
            (SRPOLD, {"hosts": ["h0"], "fabric": {"demand-ms": 0}}, None),
            (SRPOLD, {"hosts": ["h0"], "fabric": {"demand-ms": 99}},
             '"demand-ms" is 0 or at least 100'),
            (SRPOLD, {"hosts": ["h0"], "fabric": {"demand-ms": -1}},
             '"demand-ms"')):
        done = says(program, config)
        if (words is None) != (done.returncode == 0) or \
                (words or "") not in done.stderr:
            bad.append((config, done))
    check("configurations that are wrong are refused, by name", not bad, bad)


if __name__ == "__main__":
    sys.exit(e.main((test_config, test_embedded, test_etcd, test_nats,
                     test_permissions)))
