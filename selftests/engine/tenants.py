#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Jobs with bandwidth, tenants and advice of the global engine, by the command as
users have it: on the embedded store, and on a real etcd of three members with
two engines, of which the leading one is killed. All JSON is held to
selftests/schema.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import jsonschema

import engine as e
from engine import HOSTS, PATIENCE, RUN, check, wait_for

SRPOL = f"{e.BUILD}/bin/srpol"
G = 10 ** 9
NOBODY, DAEMON, BIN = 65534, 1, 2
SCHEMA = {"job": "job", "jobs": "jobs", "tenants": "tenants",
          "advise": "advise", "show": "show", "plan": "plan", "why": "why",
          "diff": "diff", "functions": "functions"}


def valid(name, value):
    with open(f"{e.TOP}/selftests/schema/fabric-{name}.json",
              encoding="ascii") as f:
        schema = json.load(f)
    errors = [f"{'/'.join(map(str, x.absolute_path))}: {x.message}" for x in
              jsonschema.Draft7Validator(schema).iter_errors(value)]
    if errors:
        check(f"JSON is what schema fabric-{name} says", False, errors)
    return value


def run(name, *words, user=None):
    """srpol fabric WORDS: exit status, JSON or None, what it complains of."""
    line = [SRPOL, "-j", "fabric", *words, "socket", f"{RUN}/{name}.sock"]
    more = {"user": user, "group": user, "extra_groups": []} if user else {}
    done = subprocess.run(line, capture_output=True, text=True, check=False,
                          timeout=PATIENCE, **more)
    reply = json.loads(done.stdout) if done.stdout else None
    if reply is not None:
        what = "what-if" if words[:2] == ("plan", "what-if") else SCHEMA[words[0]]
        valid(what, reply)
    return done.returncode, reply, done.stderr


def fabric(name, *words, user=None):
    _, reply, text = run(name, *words, user=user)
    if reply is None:
        raise ValueError(f"{words}: {text}")
    return reply


def refused(name, *words, user=None):
    status, _, text = run(name, *words, user=user)
    return text if status == 2 else f"exit status {status}"


def error(engine, request, **more):
    """What an engine says of a request that the command would not send."""
    try:
        return f"? {e.ask(engine, request, **more)}"
    except ValueError as why:
        return str(why)


def state(name, job):
    found = fabric(name, "jobs", job)
    return found[0]["state"] if found else None


def tenant(name, words):
    """Add a tenant, or change it, which is the same when it is done twice."""
    wait_for(f"tenant {words}", lambda: run(name, "tenant", "add",
                                            *words.split())[0] == 0)


def tenants_of(name, *tenants):
    for words in tenants:
        tenant(name, words)
    wait_for("tenants", lambda: len(fabric(name, "tenants")) == len(tenants))


def stats(name):
    return fabric(name, "show")["stats"]


def add(name, job, *words, user=None):
    return fabric(name, "job", "add", job, *words, user=user)


def tell_until(hosts, line, what, condition):
    """A host says that it is better more than once, as srpold does."""
    def look():
        hosts.tell(line)
        return condition()
    return wait_for(what, look)


def chunk_lines(hosts, host, leaf, color):
    """What it was told of pairs of leaves, by the other leaf."""
    return {line["to"]: line["weights"] for line in
            map(json.loads, hosts.last(host)["chunks"][leaf].splitlines())
            if "to" in line and line.get("color", 0) == color}


ALL = ("hosts", ",".join(HOSTS), "bytes", "1000000000")


# --- embedded store

def test_accept(hosts):
    tenants_of("t", "red color 10 guaranteed 500G max 600G",
               "blue color 20 guaranteed 800G "
               "paths spine0.0,spine0.1,spine1.0,spine1.1",
               "big color 30 guaranteed 100T")
    reply = add("t", "train", "tenant", "red", *ALL, "bandwidth", "400G/600G")
    check("a reservation that fits is accepted",
          reply["decision"] == "accept" and
          reply["class"] == "reservation", reply)
    wait_for("the second step", lambda: state("t", "train") == "reserved")
    job = fabric("t", "jobs", "train")[0]
    check("it says since which epoch, and what it takes of links",
          job["epoch"] == fabric("t", "show")["epoch"] and
          max(link["reserved"] for link in job["links"]) == 200 * G and
          job["reservation"]["guaranteed"] == 400 * G, job)
    check("hosts are told weights of the tenant's color",
          len(chunk_lines(hosts, "h1", "leaf0.1", 10)) == 3 and
          not chunk_lines(hosts, "h1", "leaf0.1", 20), hosts.last("h1"))
    check("and the tenant's maximum, of who has one",
          [hosts.last(h)["limits"] for h in HOSTS] == [[[10, 600 * G]]] * 4,
          hosts.last("h1")["limits"])
    reply = add("t", "small", *ALL)
    check("a job without a bandwidth is a forecast",
          reply["class"] == "forecast", reply)
    wait_for("its plan", lambda: state("t", "small") == "planned")


def accepted(job, tenant_name, *bandwidth):
    """Once hosts have acknowledged that others gave it up."""
    return wait_for("acceptance", lambda: next(
        (r for r in [add("t", job, "tenant", tenant_name, *ALL, "bandwidth",
                         *bandwidth)] if r["decision"] == "accept"), None))


def test_refusals():
    reply = add("t", "more", "tenant", "red", *ALL, "bandwidth", "200G")
    check("more than the tenant has left is rejected, with what it has",
          reply["decision"] == "reject" and
          reply["offer"]["guaranteed"] == 100 * G and
          "100G of its guaranteed 500G left" in reply["reason"], reply)
    status, _, _ = run("t", "job", "add", "more", "tenant", "red", *ALL,
                       "bandwidth", "200G")
    check("the command's exit status says that it was not accepted",
          status == 2)
    reply = add("t", "more", "tenant", "red", *ALL, "bandwidth", "100G")
    check("what was offered is accepted", reply["decision"] == "accept", reply)

    reply = add("t", "wide", "tenant", "big", *ALL, "bandwidth", "700G")
    check("what others have reserved is refused, with the link and what is left",
          reply["decision"] == "lower-priority" and
          reply["link"]["left"] < reply["link"]["wanted"] and
          0 < reply["offer"]["guaranteed"] <= 300 * G and
          reply["offer"]["after_s"] is None, reply)
    offer = reply["offer"]["guaranteed"]
    reply = add("t", "huge", "tenant", "big", *ALL, "bandwidth", "900G")
    check("what the fabric could never carry is rejected",
          reply["decision"] == "reject" and
          "more than the fabric can carry" in reply["reason"], reply)
    reply = add("t", "sliced", "tenant", "blue", *ALL, "bandwidth",
                f"{offer}", "for", "60s")
    sliced = reply["decision"] == "accept"
    check("what was offered to one is accepted of another in its slice",
          sliced, reply)
    reply = add("t", "wide", "tenant", "big", *ALL, "bandwidth", f"{offer}")
    check("what is free when others end is deferred until then",
          reply["decision"] == "defer" and
          reply["offer"]["after_s"] is not None and
          1 <= reply["offer"]["after_s"] <= 60, reply)
    # one whose time is over soon is accepted when hosts have given up the other
    run("t", "job", "del", "sliced", "tenant", "blue")
    accepted("sliced", "blue", f"{offer}", "for", "2s")
    wait_for("the end of its time", lambda: state("t", "sliced") is None)
    reply = accepted("wide", "big", f"{offer}")
    check("and accepted then", reply["class"] == "reservation", reply)
    run("t", "job", "del", "wide", "tenant", "big")

    s = stats("t")
    check("refusals are counted", s["rejected"] == 3 and s["lowered"] == 1 and
          s["deferred"] >= 1 and s["accepted"] == 6, s)


def test_slice(hosts):
    wait_for("nobody there", lambda: state("t", "wide") is None)
    reply = accepted("slice", "blue", "100G")
    wait_for("the second step", lambda: state("t", "slice") == "reserved")
    lines = chunk_lines(hosts, "h2", "leaf1.2", 20)
    check("a tenant's paths turn at its switches only",
          len(lines) == 3 and all(w[2:] == "00" and w[:2] != "00"
                                  for w in lines.values()), (reply, lines))
    why = fabric("t", "why", "h0", "h1")
    check("why is as it was", why["planes"][0]["planned"], why)
    fabric("t", "plan")
    fabric("t", "diff")


def test_bad_words():
    for words, text in (
            (("job", "add", "x", *ALL, "bandwidth", "0"), "no rate"),
            (("job", "add", "x", *ALL, "bandwidth", "2000T"), "no rate"),
            (("job", "add", "x", *ALL, "bandwidth", "5G/4G"), "less than"),
            (("job", "add", "x", *ALL, "bandwidth", "5G"), "no such tenant"),
            (("job", "add", "a/b", *ALL), "slash"),
            (("job", "add", "train", "tenant", "red", *ALL), "that name"),
            (("job", "add", "x", "hosts", "h0,h9", "bytes", "1"), "h9"),
            (("job", "add", "x", "tenant", "big", "hosts", "h0", "bytes", "1",
              "bandwidth", "1G"), "sends nothing"),
            (("job", "add", "x", *ALL, "for", "5s"), "guaranteed"),
            (("job", "del", "x"), "no such job"),
            (("tenant", "add", "x"), "color"),
            (("tenant", "add", "x", "color", "10"), "red"),
            (("tenant", "add", "x", "color", "9", "paths", "leaf0.0"),
             "leaf0.0"),
            (("tenant", "add", "x", "color", "9", "max", "1G", "guaranteed",
              "2G"), "more than"),
            (("tenant", "del", "red"), "has job"),
            (("tenant", "del", "x"), "no tenant")):
        said = refused("t", *words)
        check(f"refused: {' '.join(words)[:60]}", text in said, said)
    for request, more, text in (
            ("job-add", {"demands": [{"src": "h0", "dst": "h1", "bytes": 1 << 53}]},
             "2^53"),
            ("tenant-add", {"color": 1}, '"color" is not a number from 2')):
        said = error("t", request, name="x", **more)
        check(f"refused by the engine: {request} {more}", text in said, said)
    for users, text in (
            ({"no-such-user": "red"}, 'no user "no-such-user"'),
            ({"nobody": "red", str(NOBODY): "blue"}, f"user {NOBODY}, who is there twice")):
        with open(f"{RUN}/bad.json", "w", encoding="ascii") as f:
            json.dump({"topology": f"{RUN}/topology.json", "users": users}, f)
        done = subprocess.run([e.FABRICD, "--check-config", "-c",
                               f"{RUN}/bad.json"], capture_output=True, text=True,
                              check=False)
        check(f"users that cannot be are named: {text}", done.returncode == 1 and
              text in done.stderr, done.stderr)
    before = stats("t")["refused"]
    e.store_put("resv/0/red/forged", "{\"guaranteed\": -1}")
    e.store_put("cfg/tenant/red", "{\"color\": 0}")
    wait_for("refusal", lambda: stats("t")["refused"] == before + 2)
    check("a reservation and a tenant that cannot be read change nothing",
          [t["color"] for t in fabric("t", "tenants")] == [30, 20, 10] and
          state("t", "forged") is None)

    e.store_put("job/default/broken", "nonsense")
    wait_for("it", lambda: state("t", "broken") == "unreadable")
    said = refused("t", "job", "add", "broken", *ALL)
    check("a job whose key cannot be read is not written over, and it is said",
          "delete it first" in said, said)
    check("it can be deleted", run("t", "job", "del", "broken")[0] == 0 and
          wait_for("its end", lambda: state("t", "broken") is None))


def ask_store(**request):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{RUN}/store.sock")
        s.sendall(json.dumps({"id": 1, **request}).encode() + b"\n")
        return json.loads(s.makefile().readline())


def test_meanwhile():
    """A tenant that is written all the time, for a while."""
    tenant("t", "meanwhile color 77")
    key = "/srpol/cfg/tenant/meanwhile"
    value = ask_store(op="range", key=key, prefix=False)["kvs"][0][1]
    for words in ("add", "meanwhile", "color", "77", "max", "1G"), ("del", "meanwhile"):
        until = threading.Event()
        timer = threading.Timer(0.2, until.set)

        def write():
            while not until.is_set():
                ask_store(op="txn", compare=[], put=[[key, value, 0]])

        writers = [threading.Thread(target=write) for _ in range(8)]
        for writer in writers:
            writer.start()
        timer.start()
        try:
            status, _, text = run("t", "tenant", *words)
        finally:
            until.set()
            for writer in writers:
                writer.join()
        check(f"tenant {words[0]}, while it is written", status == 0, text)
        run("t", "tenant", "add", "meanwhile", "color", "77")
    run("t", "tenant", "del", "meanwhile")


def test_users():
    denied = stats("t")["denied"]
    check("a tenant's user sees its own jobs and tenant only",
          {j["tenant"] for j in fabric("t", "jobs", user=NOBODY)} == {"red"} and
          [t["name"] for t in fabric("t", "tenants", user=NOBODY)] == ["red"])
    for words, user in (
            (("job", "del", "slice", "tenant", "blue"), NOBODY),
            (("job", "add", "x", "tenant", "blue", *ALL), NOBODY),
            (("tenant", "add", "red", "color", "10", "guaranteed", "9T"),
             NOBODY),
            (("tenant", "del", "red"), NOBODY),
            (("plan",), NOBODY), (("show",), NOBODY), (("why", "h0", "h1"),
                                                      NOBODY),
            (("jobs",), BIN), (("job", "add", "x", *ALL), BIN)):
        said = refused("t", *words, user=user)
        check(f"user {user} may not: {' '.join(words)[:40]}",
              "operators only" in said or "not this user's" in said or
              "has no tenant" in said, said)
    now = stats("t")["denied"]
    check("all of that is counted, and changed nothing",
          now == denied + 9 and state("t", "slice") == "reserved" and
          [t["guaranteed"] for t in fabric("t", "tenants")
           if t["name"] == "red"] == [500 * G], now)
    reply = add("t", "own", "demand", "h0", "h1", "1000", user=DAEMON)
    check("a user's job is its tenant's without a word",
          reply["tenant"] == "blue" and reply["decision"] == "accept", reply)
    check("and can be deleted by it", run("t", "job", "del", "own",
                                          user=DAEMON)[0] == 0)


def acknowledged():
    """The epoch that all hosts have, so that nothing is under way."""
    now = fabric("t", "show")
    return len(now["hosts"]) == len(HOSTS) and now["epoch"] if {
        h["epoch"] for h in now["hosts"]} == {now["epoch"]} else None


def test_what_if():
    before = wait_for("acknowledgements", acknowledged)
    reply = fabric("t", "plan", "what-if", "link-down", "h0", "leaf0.0")
    fates = {j["name"]: j for j in reply["jobs"]}
    check("what-if tells what becomes of each job and of its reservation",
          fates["small"]["reservation"] == "none" and
          fates["train"]["reservation"] == "kept" and
          fates["slice"]["reservation"] == "lost" and
          fates["train"]["planned_s"] > fates["train"]["now_s"] and
          reply["planned_s"] == max(j["planned_s"] for j in fates.values()),
          reply["jobs"])
    check("and nothing is changed by it",
          fabric("t", "show")["epoch"] == before and
          state("t", "slice") == "reserved")


def advice(symptom):
    return [a["evidence"] for a in fabric("t", "advise")
            if a["symptom"] == symptom]


def test_links(hosts):
    check("nothing to advise of links and hosts while all is well",
          not any(advice(s) for s in ("link-down", "host-silent",
                                      "reservation-lost",
                                      "above-guarantee")))
    hosts.tell("report h3 leaf0.3 spine0.1 0")
    wait_for("the report", lambda: advice("link-down"))
    wait_for("all of it is settled", lambda: state("t", "train") == "reserved"
             and state("t", "slice") == "reserved" and
             hosts.last("h3")["seen"] > 0)
    down = advice("link-down")[0]
    check("a link that is down is advised on, with who says so",
          down["reported_by"] == ["h3"] and down["rate"] == 400 * G, down)
    lines = [chunk_lines(hosts, "h3", "leaf0.3", color) for color in (10, 20)]
    check("reservations leave it", all(
        len(told) == 3 and all(w[1] == "0" for w in told.values())
        for told in lines), lines)
    hosts.tell("report h3 h3 leaf0.3 0")
    wait_for("loss", lambda: state("t", "slice") == "lost")
    lost = {x["job"]: x for x in advice("reservation-lost")}
    check("what does not fit any more is said to be lost, the newest first",
          set(lost) == {"slice", "more"} and state("t", "train") != "lost" and
          stats("t")["lost"] >= 2 and
          lost["slice"]["reason"], lost)
    own = fabric("t", "advise", user=DAEMON)
    check("a tenant's user is advised on its own jobs only",
          [a["evidence"].get("job") for a in own] == ["slice"], own)
    tell_until(hosts, "report h3", "return", lambda: {state("t", j) for j in
                                ("train", "more", "slice")} == {"reserved"})
    check("what was lost comes back when the links do", True)
    tenant("t", "red color 10 guaranteed 450G")
    above = wait_for("advice", lambda: advice("above-guarantee"))
    check("a tenant above its guarantee is advised on", above == [
        {"tenant": "red", "reserved": 500 * G, "guaranteed": 450 * G}], above)
    tenant("t", "red color 10 guaranteed 500G")
    e.store_put("link/0/leaf0.0/h0", "nonsense")
    e.store_put("link/0/leaf0.1/h1",
                '{"number": 5, "links": [{"from": "leaf0.1", '
                '"to": "spine0.0", "capacity": 100000000000}]}')
    e.store_put("link/0/leaf0.1/h1", "nonsense")
    stale = wait_for("stale report", lambda: advice("stale-report"))
    check("a report that is followed by nonsense is said to be stale",
          {"host": "h1", "number": 5} in stale, stale)
    check("a link that carries less is advised on", advice("link-degraded"))


def test_two_steps(hosts):
    """
    What hosts have not acknowledged is not given to others, as long as their
    leases say that they live.
    """
    reply = add("t", "old", "tenant", "big", "demand", "h0", "h1", "1000",
                "bandwidth", "150G")
    check("some more bandwidth is reserved", reply["decision"] == "accept",
          reply)
    wait_for("the second step", lambda: state("t", "old") == "reserved")
    hosts.process.p.send_signal(signal.SIGSTOP)
    run("t", "job", "del", "old", "tenant", "big")
    tenant("t", "late color 40 guaranteed 1T")
    reply = add("t", "new", "tenant", "late", "demand", "h0", "h1", "1000",
                "bandwidth", "150G")
    check("what was shrunk is not given away before hosts acknowledge",
          reply["decision"] == "defer" and
          "acknowledged" in reply["reason"], reply)
    behind = advice("host-behind")
    check("hosts that did not acknowledge are advised on",
          {b["host"] for b in behind} == set(HOSTS), behind)
    hosts.process.p.send_signal(signal.SIGCONT)
    reply = add("t", "new", "tenant", "late", "demand", "h0", "h1", "1000",
                "bandwidth", "150G")
    check("and is when they have", reply["decision"] == "accept", reply)


# asks more than one question at a time, as another user
ASK = """
import json, os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[3]))
asked = []
for i in range(int(sys.argv[2])):
    asked.append(socket.socket(socket.AF_UNIX))
    asked[-1].connect(sys.argv[1])
    asked[-1].sendall(json.dumps({
        "version": 1, "request": "job-add", "name": f"q{i}", "guaranteed": 10 ** 9,
        "demands": [{"src": "h0", "dst": "h1", "bytes": 1000}]}).encode() + b"\\n")
print(json.dumps([json.loads(s.makefile().readline()) for s in asked]))
"""
QUESTIONS = 32		# of a tenant's users, which may wait at a time


def test_many_questions(hosts):
    """A tenant's users cannot keep others from asking, however many questions wait."""
    hosts.process.p.send_signal(signal.SIGSTOP)
    e.stopped(hosts.process)
    reply = add("t", "w", "demand", "h0", "h1", "1000", "bandwidth", "1G", user=DAEMON)
    check("a tenant's job is about to be told hosts", reply["decision"] == "accept",
          reply)
    with subprocess.Popen([sys.executable, "-c", ASK, f"{RUN}/t.sock",
                           str(QUESTIONS + 1), str(DAEMON)],
                          stdout=subprocess.PIPE) as users:
        operator = add("t", "o", "tenant", "red", "demand", "h0", "h1", "1000",
                       "what-if")
        replies = json.loads(users.stdout.read())
    check("one question of its users too many is refused", sorted(
        r.get("error", "waited") for r in replies) == [
            f"{QUESTIONS} questions wait already"] + ["waited"] * QUESTIONS, replies)
    check("an operator is answered", operator["decision"] == "accept", operator)
    hosts.process.p.send_signal(signal.SIGCONT)
    wait_for("the second step", lambda: state("t", "w") == "reserved")
    check("and the job can be deleted", run("t", "job", "del", "w",
                                            user=DAEMON)[0] == 0)
    wait_for("its end", lambda: state("t", "w") is None)


def test_deleted_early(hosts):
    """A job may end before hosts know of it; whoever deletes it asks once."""
    words = ("tenant", "late", "demand", "h2", "h3", "1000", "bandwidth", "10G")
    wait_for("the second step", lambda: state("t", "new") == "reserved")
    hosts.process.p.send_signal(signal.SIGSTOP)
    e.stopped(hosts.process)
    reply = add("t", "hasty", *words)
    check("a job is accepted that no host knows of", reply["decision"] == "accept", reply)
    check("it can be deleted before one does",
          run("t", "job", "del", "hasty", "tenant", "late")[0] == 0 and
          wait_for("its end", lambda: state("t", "hasty") is None))
    check("its bandwidth is not free before", "resv/0/late/hasty" in e.stored())
    said = refused("t", "job", "add", "hasty", *words)
    check("another one of that name has to wait, and is told what for",
          "acknowledged yet that the job that had this name has ended" in said, said)
    said = refused("t", "job", "add", "hasty", *words[:6])
    check("one without bandwidth as well, as it would inherit that",
          "acknowledged yet that the job that had this name has ended" in said, said)
    hosts.process.p.send_signal(signal.SIGCONT)
    check("when hosts have acknowledged it, its reservation ends by itself", wait_for(
        "its end", lambda: "resv/0/late/hasty" not in e.stored()))
    check("and the name is free", add("t", "hasty", *words)["decision"] == "accept")
    e.store_put("job/late/hasty", "nonsense")
    check("it ends as well when somebody writes nonsense for the job", wait_for(
        "its end", lambda: "resv/0/late/hasty" not in e.stored()))
    check("which can be deleted, too",
          run("t", "job", "del", "hasty", "tenant", "late")[0] == 0)
    wait_for("its end", lambda: "resv/0/late/hasty" not in e.stored())


def sleeps(process):
    """How often it has waited for something so far."""
    with open(f"/proc/{process.p.pid}/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f
                    if line.startswith("voluntary_ctxt_switches"))


def test_over_early(server, hosts):
    """A job's time may be over before hosts know of it; nobody is busy with waiting."""
    hosts.process.p.send_signal(signal.SIGSTOP)
    e.stopped(hosts.process)
    reply = add("t", "brief", "tenant", "late", "demand", "h3", "h1", "1000", "bandwidth",
                "10G", "for", "1s")
    check("a job is accepted for a second", reply["decision"] == "accept", reply)
    until = fabric("t", "jobs", "brief")[0]["reservation"]["until"]
    time.sleep(max(0, until + 1 - time.time()))
    before = sleeps(server)
    time.sleep(2)
    woken = sleeps(server) - before
    check("it is kept until hosts acknowledge it", state("t", "brief") == "admitted")
    check("which the leader waits for without looking all the time", woken < 100,
          woken)
    hosts.process.p.send_signal(signal.SIGCONT)
    check("and ends then", wait_for("its end", lambda: state("t", "brief") is None))
    wait_for("the end of both steps", lambda: "resv/0/late/brief" not in e.stored())


def test_limits(hosts):
    """What hosts are told that may be sent in a color."""
    def limit_is(rate):
        wait_for(f"limit {rate}", lambda: all(
            dict(hosts.last(h)["limits"]).get(50) == rate for h in HOSTS))
        return True

    def job(name, *bandwidth):
        return add("t", name, "tenant", "cap", "demand", "h2", "h3", "1000",
                   *bandwidth)["decision"]

    check("a tenant whose maximum was taken back has no limit any more",
          wait_for("no limit", lambda: all(
              10 not in dict(hosts.last(h)["limits"]) for h in HOSTS)))
    tenant("t", "cap color 50 guaranteed 1T")
    decisions = [job("c1", "bandwidth", "1G/2G")]
    check("without a maximum of the tenant its job's is the limit",
          limit_is(2 * G) and decisions == ["accept"], decisions)
    decisions.append(job("c2", "bandwidth", "1G/3G"))
    check("of several jobs it is the sum", limit_is(5 * G))
    plans = stats("t")["plans"]
    e.store_put("job/cap/c0", "nonsense")
    wait_for("a plan that all hosts follow", lambda: state("t", "c0") == "unreadable" and
             (shown := fabric("t", "show"))["stats"]["plans"] > plans and
             {h["epoch"] for h in shown["hosts"]} == {shown["epoch"]})
    check("whatever else there is that cannot be read", limit_is(5 * G))
    run("t", "job", "del", "c0", "tenant", "cap")
    tenant("t", "cap color 50 guaranteed 4G max 4G")
    check("but not more than the tenant's", limit_is(4 * G))
    decisions.append(job("c3"))
    check("a job that has none leaves the tenant's",
          limit_is(4 * G) and decisions == ["accept"] * 3, decisions)
    tenant("t", "cap color 50 guaranteed 1T")
    check("or none at all", limit_is(None))
    for name in "c1", "c2", "c3":
        run("t", "job", "del", name, "tenant", "cap")
    wait_for("the end of the jobs", lambda: run(
        "t", "tenant", "del", "cap")[0] == 0)


def test_backups(hosts):
    """A tenant's backup color, as hosts are told it."""
    def told(value):
        wait_for(f"backups {value}", lambda: all(
            hosts.last(h)["backups"] == value for h in HOSTS))
        return True

    check("nobody has a backup, and hosts are told none", told([]) and
          {t["backup"] for t in fabric("t", "tenants")} == {0})
    tenant("t", "b1 color 51 backup 52 paths spine0.1,spine0.0")
    first = wait_for("a backup", lambda: hosts.last("h0")["backups"])
    check("hosts are told of it, with the switches of the tenant",
          len(first) == 1 and first[0]["color"] == 51 and
          first[0]["backup"] == 52 and len(first[0]["paths"]) == 2 and
          first[0]["paths"] == sorted(first[0]["paths"]), first)
    tenant("t", "b2 color 52 backup 53")
    two = [first[0], {"color": 52, "backup": 53}]
    check("of several, in the order of colors", told(two))
    shown = {t["name"]: t["backup"] for t in fabric("t", "tenants")}
    check("the command shows them", (shown["b1"], shown["b2"], shown["red"]) ==
          (52, 53, 0), shown)
    said = refused("t", "tenant", "add", "b3", "color", "53", "backup", "53")
    check("refused: a tenant that is its own backup", '"backup" is the tenant' in said,
          said)
    said = error("t", "tenant-add", name="b3", color=53, backup=0)
    check("refused: backup 0", '"backup" is not a number from 1' in said, said)
    tenant("t", "b2 color 52 backup 51")
    check("each may be the other's", told([first[0], {"color": 52, "backup": 51}]))
    for name in "b1", "b2":
        run("t", "tenant", "del", name)
    check("they end with their tenants", told([]))
    tenant("t", "b1 color 51 backup 52 paths spine0.1,spine0.0,spine0.1")
    check("a switch that is named twice is told once", told([first[0]]))
    run("t", "tenant", "del", "b1")
    check("it ends, too", told([]))


def test_at_once():
    """Requests for one color, before the first of them is written."""
    clients = [socket.socket(socket.AF_UNIX) for _ in range(8)]
    for client in clients:
        client.connect(f"{RUN}/t.sock")
    for i, client in enumerate(clients):
        client.sendall(json.dumps({"version": 1, "request": "tenant-add", "name": f"b{i}",
                                   "color": 51}).encode() + b"\n")
    replies = [json.loads(client.makefile().readline()) for client in clients]
    for client in clients:
        client.close()
    got = [r["reply"]["tenant"] for r in replies if "reply" in r]
    check("of tenants that ask for one color at once, one has it", len(got) == 1 and
          all("color 51 is that of" in r["error"] for r in replies if "error" in r),
          replies)
    for name in got:
        wait_for("its end", lambda n=name: run("t", "tenant", "del", n)[0] == 0)
    for name in "", "a/b", "a\nb", "a\x1b[31mb", "a\x7f":
        said = refused("t", "tenant", "add", name, "color", "51")
        check(f"refused: a tenant {name!r}", '"name" ' in said, said)


def test_one_color(hosts):
    """Two tenants of one color, by engines at one moment, or keys that somebody wrote."""
    def told(backups, rates):
        def look():
            last = hosts.last("h0")
            return (last["backups"] == backups and
                    [x for x in last["limits"] or [] if x[0] == 51] == rates)
        return wait_for(f"{backups}, {rates}", look)

    for name, color in ("b2", 53), ("b1", 52):
        e.store_put(f"cfg/tenant/{name}", json.dumps(
            {"color": 51, "backup": color, "max": color * G}))
    check("of two tenants of one color, the first by name has it",
          told([{"color": 51, "backup": 52}], [[51, 52 * G]]))
    run("t", "tenant", "del", "b1")
    check("when it is deleted, the other one",
          told([{"color": 51, "backup": 53}], [[51, 53 * G]]))
    run("t", "tenant", "del", "b2")
    check("which ends as others do", told([], []))


def test_switch_gone(hosts):
    """A switch of a tenant that the topology does not have any more, as after a restart."""
    def stored(*paths):
        e.store_put("cfg/tenant/b1", json.dumps(
            {"color": 51, "backup": 52, "paths": paths}))

    def shown():
        return {t["name"]: t["paths"] for t in fabric("t", "tenants")}

    stored("spine9.9", "spine0.1")
    check("the tenant stays, with the switches that are there",
          wait_for("tenant", lambda: shown()["b1"]) == ["spine0.1"])
    check("and so does its backup, with one switch", wait_for(
        "backup", lambda: [len(b["paths"]) for b in hosts.last("h0")["backups"]
                           if b["color"] == 51]) == [1])
    for paths, text in (("spine0.0,spine9.9", "spine9.9"), ("spine9.9", "spine9.9")):
        said = refused("t", "tenant", "add", "b1", "color", "51", "paths", paths)
        check(f"requests name what is there: {paths}", text in said, said)
    for wrong in ("spine9.9",), ("spine0.0", "leaf0.0"), ("spine0.0", 7):
        before = stats("t")["refused"]
        stored(*wrong)
        wait_for("refusal", lambda n=before: stats("t")["refused"] > n)
        check(f"{wrong}: what was said before stays", shown()["b1"] == ["spine0.1"])
    run("t", "tenant", "del", "b1")
    wait_for("its end", lambda: not hosts.last("h0")["backups"])


def test_unread():
    """What an engine of another version wrote, or one of another topology."""
    def there():
        return {t["name"] for t in fabric("t", "tenants")}

    for value in ("x", '{"color":51,"paths":["spine9.9"]}', '{"color":51,"new":1}'):
        before = stats("t")["refused"]
        e.store_put("cfg/tenant/b1", value)
        wait_for("refusal", lambda n=before: stats("t")["refused"] > n)
        check(f"no tenant: {value}", "b1" not in there())
        tenant("t", "b1 color 51 backup 52")
        wait_for("tenant", lambda: "b1" in there())
        check("it is replaced",
              json.loads(e.stored()["cfg/tenant/b1"]) == {"color": 51, "backup": 52})
        wait_for("its end", lambda: run("t", "tenant", "del", "b1")[0] == 0)
        before = stats("t")["refused"]
        e.store_put("cfg/tenant/b1", value)
        wait_for("refusal", lambda n=before: stats("t")["refused"] > n)
        wait_for("its end", lambda: run("t", "tenant", "del", "b1")[0] == 0)
        check("or deleted", "cfg/tenant/b1" not in e.stored())
        said = refused("t", "tenant", "del", "b1")
        check("once", "no tenant" in said, said)


def test_collectives():
    """What a collective becomes in the store, as others write it, and in the plan."""
    def stored(job, *words):
        reply = add("t", job, *words)
        value = json.loads(e.stored()[f"job/{reply['tenant']}/{job}"])
        fabric("t", "job", "del", job)
        return value

    def ring(hosts, size, last=True):
        pairs = list(zip(hosts, hosts[1:] + hosts[:1]))
        return {"demands": [{"src": a, "dst": b, "rail": 0, "bytes": size}
                            for a, b in (pairs if last else pairs[:-1])]}

    order = ["h2", "h0", "h3", "h1"]
    words = "hosts", ",".join(order), "bytes", "1000"
    for kind, value in (
            ("all-reduce", ring(order, 1500)), ("all-gather", ring(order, 750)),
            ("reduce-scatter", ring(order, 750)),
            ("broadcast", ring(order, 1000, last=False)),
            ("all-to-all", {"all-to-all": {"hosts": order, "rail": 0,
                                           "bytes": 250}})):
        found = stored("x", "collective", kind, *words)
        check(f"{kind}: demands in the order of hosts, of so many bytes",
              found == value, found)
    found = stored("x", "bytes", "7", "hosts", "h0,h1", "rail", "0",
                   "collective", "all-reduce", "flows", "2", "lasts", "1s")
    check("words in any order, with those of other jobs",
          {**ring(["h0", "h1"], 7), "flows": 2} ==
          {k: v for k, v in found.items() if k != "times"} and
          found["times"]["duration_ms"] == 1000, found)
    found = stored("x", *words)
    check("without the word, hosts are what they were",
          found == {"all-to-all": {"hosts": order, "bytes": 1000}}, found)
    reply = add("t", "ring", "tenant", "big", "collective", "all-reduce", "hosts",
                "h0,h1,h2,h3", "bytes", "1000000000", "bandwidth", "1G")
    check("a bandwidth is for what the busiest one sends or receives",
          reply["decision"] == "accept", reply)
    job = wait_for("the second step", lambda: next(
        (j for j in fabric("t", "jobs", "ring") if j["state"] == "reserved"), None))
    links = {(x["from"], x["to"]): x["reserved"] for x in job["links"]
             if x["from"][0] == "h"}
    check("each host sends to one other, and has all of it for that",
          links and sum(links.values()) == 4 * G, job["links"])
    fabric("t", "job", "del", "ring", "tenant", "big")

    start = "job", "add", "x", "collective"
    for more, text in (
            (("ring", *words), '"kind" is none of all-reduce'),
            (("all-reduce", "hosts", "h0,h1"), '"bytes" is missing'),
            (("all-reduce", "hosts", "h0", "bytes", "1"), '"hosts" is not'),
            (("all-reduce", "bytes", "1"), '"hosts" is not'),
            (("all-reduce", "hosts", "h0,h1,h0", "bytes", "1"),
             '"hosts": "h0" is there twice'),
            (("all-reduce", "hosts", "h0,h9", "bytes", "1"), "h9"),
            (("all-reduce", *words, "rail", "7"), "rail 7"),
            (("all-reduce", *words, "demand", "h0", "h1", "5"), '"collective"'),
            (("all-reduce", "hosts", "h0,h1,h2", "bytes", "9007199254740991"),
             '"bytes"')):
        said = refused("t", *start, *more)
        check(f"refused: collective {' '.join(more)[:50]}", text in said, said)
    said = error("t", "job-add", name="x", collective={
        "kind": "all-reduce", "hosts": ["h0", "h1"], "bytes": 1000, "rail": 64})
    check("refused: rail 64", '"rail" is not a number from 0 to 63' in said, said)
    said = refused("t", "job", "add", "x", "collective", "all-reduce")
    check("a collective alone is refused", '"hosts"' in said, said)
    status, _, said = run("t", *start, "all-reduce", *words, "collective",
                          "broadcast")
    check("two collectives are no job", status == 1 and "twice" in said, said)


def test_storage():
    """Checkpoints of the same hosts at the same time, in a color of their own."""
    store = {"kind": "embedded", "socket": f"{RUN}/sto-store.sock"}
    server = e.start_engine("sto", store, file=f"{RUN}/sto-store.json")
    wait_for("leader", lambda: e.ask("sto", "show")["leads"])
    hosts = e.Hosts("sto-hosts", HOSTS, store, "sto")

    def told():
        """Weights from h0 to h1, by color."""
        lines = [json.loads(line) for line in hosts.last("h0")["chunks"].get(
            "leaf0.0", "").splitlines()]
        return {x.get("color", 0): x["weights"] for x in lines
                if x.get("to") == "leaf0.1"}

    tenants_of("sto", "train color 10 guaranteed 800G "
               "paths spine0.0,spine0.1,spine0.2,spine1.0,spine1.1,spine1.2",
               "storage color 60 max 100G paths spine0.3,spine1.3")
    add("sto", "step", "tenant", "train", *ALL, "bandwidth", "200G")
    wait_for("training", lambda: state("sto", "step") == "reserved" and
             10 in told())
    before = told()
    reply = add("sto", "checkpoint", "tenant", "storage", "demand", "h0", "h1",
                "9000000000000")
    wait_for("both colors", lambda: set(told()) == {10, 60})
    now = told()
    check("storage has a color of its own, with weights on its links only",
          reply["decision"] == "accept" and now[60] == "000f" and
          now[10][3] == "0" and now[10][:3] != "000", now)
    check("it leaves those of training as they were", now[10] == before[10] and
          state("sto", "step") == "reserved", (before, now))
    check("hosts hold it to its maximum, and training to none", [
        hosts.last(h)["limits"] for h in HOSTS] == [[[60, 100 * G]]] * 4,
        hosts.last("h0")["limits"])
    fabric("sto", "job", "del", "checkpoint", "tenant", "storage")
    wait_for("its end", lambda: 60 not in told())
    check("when it is over, training's weights are those", told() == before,
          told())
    check("storage: the engine ends as it should", server.end() == 0)
    hosts.end()


def test_balance():
    """What one engine plans badly, and another algorithm would not."""
    store = {"kind": "embedded", "socket": f"{RUN}/ecmp-store.sock"}
    server = e.start_engine("ecmp", store, algorithm="ecmp",
                            file=f"{RUN}/ecmp-store.json")
    wait_for("leader", lambda: e.ask("ecmp", "show")["leads"])
    add("ecmp", "a", *ALL)
    found = wait_for("imbalance", lambda: [
        a for a in fabric("ecmp", "advise") if a["symptom"] == "imbalance"])
    heat = found[0]["evidence"]
    check("links that are hotter than the mean are advised on, with what would help",
          "minmax" in found[0]["advice"] and heat["algorithm"] == "ecmp" and
          heat["with_minmax_s"] < heat["hottest_s"] > heat["mean_s"], found)
    server.end()


def test_embedded():
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    users = {"nobody": "red", str(DAEMON): "blue"}
    server = e.start_engine("t", store, users=users)
    wait_for("leader", lambda: e.ask("t", "show")["leads"])
    silent = fabric("t", "advise")
    check("hosts that follow no plan are advised on",
          [a["symptom"] for a in silent] == ["host-silent"] and
          silent[0]["evidence"]["hosts"] == HOSTS, silent)
    hosts = e.Hosts("t-hosts", HOSTS, store, **{"lease-s": 60})
    e.store_put("job/t/first", e.JOB)
    wait_for("acknowledgements", lambda: len(e.ask("t", "show")["hosts"]) ==
             len(HOSTS) and e.ask("t", "show")["epoch"])
    test_accept(hosts)
    test_refusals()
    test_slice(hosts)
    test_bad_words()
    test_meanwhile()
    test_users()
    test_what_if()
    test_two_steps(hosts)
    test_many_questions(hosts)
    test_deleted_early(hosts)
    test_over_early(server, hosts)
    test_links(hosts)
    test_limits(hosts)
    test_backups(hosts)
    test_at_once()
    test_one_color(hosts)
    test_switch_gone(hosts)
    test_unread()
    test_collectives()
    before = {j["name"]: j["state"] for j in fabric("t", "jobs")}
    check("the engine ends as it should", server.end() == 0)
    server = e.start_engine("t", store, users=users)
    wait_for("leader", lambda: e.ask("t", "show")["leads"])
    wait_for("jobs as before", lambda: {
        j["name"]: j["state"] for j in fabric("t", "jobs")} == before)
    check("jobs and reservations are there after a restart", True)
    check("it ends as it should", server.end() == 0)
    check("hosts end as they should", hosts.end() == 0)


# --- etcd

TENANTS = 8
EACH = 150


def hold_of(value):
    """What a reservation keeps, however far it is."""
    r = json.loads(value)
    return r["guaranteed"] if "weights" in r or "before" in r else 0


def check_record():
    """No more was ever reserved than the hosts' NICs carry."""
    kept, most = {}, 0
    for _, key, value in e.recorded():
        if not key.startswith("resv/"):
            continue
        kept[key] = hold_of(value) if value is not None else 0
        most = max(most, sum(kept.values()))
    check(f"never was more reserved than there is ({most // G} of 800 Gbit/s)",
          0 < most <= 800 * G)


def ask_all(names):
    """Questions to two engines at a time, all for the same links."""
    replies = {}

    def answer(i):
        _, reply, text = run(names[i % 2], "job", "add", f"j{i}", "tenant", f"t{i}",
                             "demand", "h0", "h1", "1000000", "bandwidth",
                             f"{EACH}G")
        # it was written, and etcd came to no answer in time
        return {"decision": "accept"} if "a job of that name" in text else reply

    def one(i):
        replies[i] = wait_for(f"an answer about j{i}", lambda: answer(i))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(TENANTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return replies


def states(name):
    return {j["name"]: j["state"] for j in fabric(name, "jobs")}


def test_etcd():
    etcd = e.Etcd()
    store = {"kind": "etcd", "endpoints": etcd.endpoints}
    record = e.Record(etcd)
    # no pause ends a lease: who leads is killed here, or leads
    lease = {"lease-s": 10}
    engines = {n: e.start_engine(n, store, **lease) for n in "AB"}

    def leader():
        for name, process in engines.items():
            if process.p.poll() is None and e.ask(name, "show")["leads"]:
                return name
        return None

    first = wait_for("a leader", leader)
    other = "AB".replace(first, "")
    hosts = e.Hosts("e-hosts", HOSTS, store, **{"lease-s": 60})
    etcd.put("job/t/first", e.JOB)
    wait_for("acknowledgements", lambda: len(e.ask(first, "show")["hosts"]) ==
             len(HOSTS) and e.ask(first, "show")["epoch"])
    tenants_of(first, *(f"t{i} color {i + 2} guaranteed 400G"
                        for i in range(TENANTS)))
    wait_for("tenants", lambda: len(fabric(other, "tenants")) == TENANTS)
    replies = ask_all((first, other))
    taken = {f"j{i}" for i, r in replies.items() if r["decision"] == "accept"}
    check("of questions to two engines at once as many are accepted as fit",
          len(replies) == TENANTS and len(taken) == 800 // EACH and all(
              r["decision"] in ("lower-priority", "defer")
              for i, r in replies.items() if f"j{i}" not in taken), replies)
    wait_for("reservations", lambda: all(
        states(first).get(j) == "reserved" for j in taken))
    check("the other engine knows them as well", wait_for(
        "them", lambda: set(states(other)) == {"first", *taken}))

    # one ends, and hosts do not acknowledge before another engine leads
    hosts.process.p.send_signal(signal.SIGSTOP)
    gone = sorted(taken)[0]
    run(other, "job", "del", gone, "tenant", gone.replace("j", "t"))
    ending = f"resv/0/{gone.replace('j', 't')}/{gone}"
    wait_for("its first step", lambda: json.loads(etcd.get(ending))["ends"])
    engines[first].end(signal.SIGKILL)
    wait_for("another leader", lambda: leader() == other)
    check("a reservation that ends is kept by the next leader until hosts acknowledge",
          json.loads(etcd.get(ending))["ends"])
    hosts.process.p.send_signal(signal.SIGCONT)
    wait_for("its end", lambda: not etcd.get(ending))
    taken.remove(gone)
    wait_for("states", lambda: all(states(other).get(j) == "reserved"
                                   for j in taken))
    check("every other reservation is kept when the leader is killed",
          set(states(other)) == {"first", *taken}, states(other))
    reply = add(other, "next", "tenant", "t0", "demand", "h0", "h1", "1000000",
                "bandwidth", f"{EACH}G")
    check("what was given up can be had from the next leader",
          reply["decision"] == "accept", reply)
    wait_for("it", lambda: states(other)["next"] == "reserved")
    taken.add("next")

    # a link fails while nobody leads: the next one says who has lost
    engines[other].end(signal.SIGKILL)
    hosts.tell("report h0 h0 leaf0.0 0")
    engines = {n: e.start_engine(n, store, **lease) for n in "AB"}
    now = wait_for("a leader", leader)
    wait_for("loss", lambda: e.ask(now, "show")["reports"] and sum(
        states(now)[j] == "lost" for j in taken) == len(taken) - 400 // EACH)
    wait_for("all settled", lambda: all(states(now)[j] in ("lost", "reserved")
                                        for j in taken))
    check("every reservation is kept, or said to be lost", sorted(
        states(now)[j] for j in taken) == ["lost"] * 3 + ["reserved"] * 2,
        states(now))
    # who deletes or changes a key by himself ends what was kept for it
    kept = next(j for j in taken if states(now)[j] == "reserved")
    tenant = next(j["tenant"] for j in fabric(now, "jobs")
                  if j["name"] == kept)
    etcd.ctl("del", f"/srpol/job/{tenant}/{kept}")
    wait_for("its end", lambda: not etcd.get(f"resv/0/{tenant}/{kept}"))
    check("a reservation ends with its job's key", wait_for(
        "the end of both", lambda: kept not in states(now)))
    taken.remove(kept)
    tell_until(hosts, "report h0", "return", lambda: all(states(now)[j] == "reserved"
                                   for j in taken))
    record.complete()
    check_record()
    check("hosts end as they should", hosts.end() == 0)
    check("engines end as they should", all(
        p.end() == 0 for p in engines.values()))


def main():
    # other users have to reach the sockets
    os.chmod(RUN, 0o755)
    return e.main((test_balance, test_storage, test_embedded, test_etcd))


if __name__ == "__main__":
    sys.exit(main())
