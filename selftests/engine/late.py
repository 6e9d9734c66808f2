#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What etcd answers late, or not at all. Between the engine, hosts and a real etcd are
two proxies, each of which is a member for them. They hold requests back, as a member
does that has lost the others, and let them through in an order that is rare, but may
be.
"""

import base64
import http.client
import http.server
import itertools
import json
import os
import sys
import threading
import time

import engine as e
from engine import HOSTS, JOB, check, wait_for

REQUEST_S = 3		# after which srpol-fabricd gives a request up
READS = "range cfg/topology/0"	# what a new leader reads first
REPORT = "link/0/leaf0.0/h0"


def key_of(text):
    return base64.b64decode(text).decode()[len("/srpol/"):]


def words_of(path, body):
    """What a request is: "keepalive 7", "range plan/0/", "txn put a, delete b"."""
    what, q = path.rsplit("/", 1)[1], json.loads(body)
    if what == "range":
        return f"range {key_of(q['key'])}"
    if what in ("keepalive", "revoke"):
        return f"{what} {q['ID']}"
    if what == "txn":
        return "txn " + ", ".join(
            f"put {key_of(o['request_put']['key'])}" if "request_put" in o else
            f"delete {key_of(o['request_delete_range']['key'])}"
            for o in q["success"])
    return what


class Member(http.server.ThreadingHTTPServer):
    """
    @hold: given the words of a request, an event that it waits for before etcd gets
    it, or None
    @silent: keys whose watches begin, and say nothing after that
    @late: given the key of a watch, an event that each of its lines waits for, or None
    @watched: keys that were watched, as often as they were
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, etcd):
        super().__init__(("127.0.0.1", 0), Handler)
        self.etcd = etcd
        self.hold = lambda words: None
        self.silent = ()
        self.late = lambda key: None
        self.watched = []
        self.held = []
        self.done = []
        self.streams = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        pass


class Handler(e.LiarHandler):
    def in_time(self, key, lines):
        for line in lines:
            event = self.server.late(key)
            if event:
                event.wait(e.PATIENCE)
            yield line

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        etcd = http.client.HTTPConnection(self.server.etcd)
        if self.path == "/v3/watch":
            etcd.request("POST", self.path, body)
            key = key_of(json.loads(body)["create_request"]["key"])
            self.server.watched.append(key)
            lines = self.in_time(key, etcd.getresponse())
            self.stream(itertools.islice(lines, 1) if key in self.server.silent else
                        lines)
            return
        words = words_of(self.path, body)
        event = self.server.hold(words)
        if event:
            begin = time.monotonic()
            self.server.held.append(words)
            event.wait(e.PATIENCE)
            # nobody waits for it any more; etcd has not got it
            if time.monotonic() - begin > REQUEST_S - 0.2:
                self.close_connection = True
                return
        etcd.request("POST", self.path, body)
        response = etcd.getresponse()
        answer = response.read()
        self.server.done.append(words)
        self.answer(response.status, answer)


def keys(etcd):
    """All keys, with value and create revision."""
    found = json.loads(etcd.ctl("get", "--prefix", "/srpol/", "-w", "json"))
    return {key_of(kv["key"]): (base64.b64decode(kv["value"]),
                                kv["create_revision"]) for kv in found.get("kvs", [])}


def misfit(etcd):
    """What does not fit the head in force."""
    try:
        e.meant_by({key: value for key, (value, _) in keys(etcd).items()})
    except (KeyError, ValueError) as why:
        return f"{type(why).__name__} {why}"
    return None


class Outage:
    """
    etcd has no quorum: nothing is answered. Only the lease does not end, as the leader
    that etcd then elects extends all of them.
    """

    def __init__(self, member):
        self.member = member
        self.over = threading.Event()
        self.over_for_reader = threading.Event()

    def hold(self, words):
        if words == READS:
            return self.over_for_reader
        if words.startswith("keepalive"):
            etcd = http.client.HTTPConnection(self.member.etcd)
            etcd.request("POST", "/v3/lease/keepalive",
                         json.dumps({"ID": words.split()[1]}))
            etcd.getresponse().read()
        return self.over


class Aftermath:
    """
    What its first answers are. The reading of the leader that gave up gets its answers
    when that one leads again; of two that read the keys of the plan the second one
    waits for chunks, and a head waits until somebody has swept.
    """

    def __init__(self, member):
        self.plans = 0
        self.member = member

    def comes(self, words, seconds=2.5):
        """Set when a request of that beginning was carried out, or after a while."""
        event = threading.Event()
        before = len(self.member.done)

        def look():
            end = time.monotonic() + seconds
            while time.monotonic() < end and not any(
                    d.startswith(words) for d in self.member.done[before:]):
                time.sleep(0.01)
            event.set()

        threading.Thread(target=look, daemon=True).start()
        return event

    def hold(self, words):
        if words == "range plan/0/":
            self.plans += 1
            return self.comes("txn put plan/0/0") if self.plans == 2 else None
        if words.endswith("put plan/0/head"):
            return self.comes("txn delete plan/0/")
        return None


def give_up(etcd, member):
    """
    An outage in which the leader gives up while it reads what is there, of a plan
    without an answer. Where the machine has no time for it, that may take more than one.
    """
    for attempt in range(8):
        outage = Outage(member)
        member.held.clear()
        member.hold = outage.hold
        etcd.put(REPORT, json.dumps({"number": attempt + 1, "links": [
            {"from": "leaf0.0", "to": "spine0.2", "capacity": attempt}]}))
        wait_for("the end of its term", lambda: not e.ask("before", "show")["leads"])
        if READS in member.held and any(w.startswith("txn put plan/")
                                        for w in member.held):
            return outage
        member.hold = lambda words: None
        outage.over_for_reader.set()
        outage.over.set()
        wait_for("a leader", lambda: e.ask("before", "show")["leads"])
    raise TimeoutError("a term that ends between a plan and what follows")


def test_led_before(etcd):
    """
    A leader without an answer gives up, and finds its key where it was: it must not go
    on in the term in which requests of its are still under way.
    """
    member = Member(etcd.endpoints[0][len("http://"):])
    engine = e.start_engine("before", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 5, "settle-ms": 20})
    etcd.put("job/t/a", JOB)
    wait_for("a plan", lambda: e.ask("before", "show")["epoch"] and
             not misfit(etcd))
    outage = give_up(etcd, member)
    # if its key is gone as well, this is no case of it
    key = keys(etcd).get("engine/0/leader")
    aftermath = Aftermath(member)
    released = aftermath.comes("txn put engine/")
    member.hold = aftermath.hold
    outage.over.set()
    released.wait()
    time.sleep(0.1)
    outage.over_for_reader.set()
    wait_for("a leader", lambda: e.ask("before", "show")["leads"])
    wait_for("its plan", lambda: any(w.endswith("put plan/0/head")
                                     for w in member.done[-20:]) and
             released.is_set() and e.ask("before", "show")["leads"])
    member.hold = lambda words: None
    epoch = e.ask("before", "show")["epoch"]
    etcd.put("job/t/b", json.dumps({"demands": [
        {"src": "h0", "dst": "h1", "bytes": 1}]}))
    wait_for("another plan", lambda: e.ask("before", "show")["epoch"] > epoch)
    why = misfit(etcd)
    check("late: all that the head refers to is there", not why, why)
    check("late: it leads in another term than that of the key that it found",
          key and e.ask("before", "show")["term"] > key[1], key)
    check("late: the engine ends as it should", engine.end() == 0)
    member.shutdown()


def test_hung_member(etcd):
    """A member that hangs costs neither the leader's lease nor a host's."""
    members = [Member(end[len("http://"):]) for end in etcd.endpoints[:2]]
    store = {"kind": "etcd", "endpoints": [m.url() for m in members]}
    engine = e.start_engine("hung", store, **{"lease-s": 5})
    hosts = e.Hosts("hung-hosts", HOSTS[:2], store, "hung", **{"lease-s": 6})
    etcd.put("job/t/a", JOB)
    for host in range(2):
        hosts.tell(f"report h{host} leaf0.{host} spine0.0 200000000000")
    wait_for("a plan, and reports", lambda: all(
        hosts.last(h)["chunks"] for h in HOSTS[:2]) and REPORT in keys(etcd))

    def lasting():
        return {k: create for k, (_, create) in keys(etcd).items()
                if k.startswith(("link/", "engine/"))}

    def renewed(member, since):
        return {w for w in member.done[since:] if w.startswith("keepalive")}

    wait_for("renewals", lambda: len(renewed(members[0], 0) |
                                     renewed(members[1], 0)) == 3)
    before, asked = lasting(), 0
    for hung, other in ((0, 1), (1, 0), (0, 1)):
        over = threading.Event()
        since = len(members[other].done)
        members[hung].held.clear()
        members[hung].hold = lambda words, over=over: over
        wait_for("renewals by the other one",
                 lambda: len(renewed(members[other], since)) == 3)
        asked += sum(w.startswith("keepalive") for w in members[hung].held)
        members[hung].hold = lambda words: None
        over.set()
    check("hung: members that hung had been asked for renewals", asked >= 3, asked)
    check("hung: the leader's key and the reports are those of before",
          lasting() == before, (before, lasting()))
    check("hung: all end as they should", engine.end() == 0 and hosts.end() == 0)
    for member in members:
        member.shutdown()


def test_takeover(etcd):
    """A leader that cannot read what is there says why, but not each time."""
    member = Member(etcd.endpoints[0][len("http://"):])
    never = threading.Event()
    member.hold = lambda words: never if words == "range plan/0/" else None
    engine = e.start_engine("new", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 30})

    begin = engine.log.tell()

    def failures():
        with open(engine.log.name, encoding="utf-8") as f:
            f.seek(begin)
            return [line for line in f if "the leader before left" in line]

    etcd.put("job/t/a", JOB)
    wait_for("the third attempt", lambda: member.held.count("range plan/0/") >= 3)
    said = failures()
    check("takeover: it is said once that it fails, and why", len(said) == 1 and
          "cannot be read: " in said[0] and said[0].split("read: ")[1][0] != ";", said)
    member.hold = lambda words: None
    never.set()
    wait_for("a plan", lambda: e.ask("new", "show")["epoch"])
    check("takeover: the engine ends as it should", engine.end() == 0)
    member.shutdown()


def test_refused_once(etcd, epoch):
    """
    Two engines are asked for bandwidth of a tenant at once. The one that is refused
    decides anew, and then hosts have to acknowledge first: that is its answer.
    """
    member = Member(etcd.endpoints[0][len("http://"):])
    stores = [{"kind": "etcd", "endpoints": [url]} for url in
              (etcd.endpoints[1], member.url())]
    engines = [e.start_engine(name, store, **{"lease-s": 30})
               for name, store in zip(("quick", "slow"), stores)]
    etcd.put("cfg/tenant/red", json.dumps({"color": 5, "guaranteed": 10 ** 12}))
    # a host that applies nothing any more, or nothing yet: a store that was lost had more
    etcd.put("ack/0/h0", json.dumps({"epoch": epoch}))
    wait_for("a plan", lambda: any(e.ask(name, "show")["epoch"]
                                   for name in ("quick", "slow")))
    wait_for("the tenant", lambda: all(e.ask(name, "tenants")
                                       for name in ("quick", "slow")))
    first = threading.Event()
    member.hold = lambda words: (first if words.startswith("txn put job/red/b")
                                 else None)
    said = []

    def add(name, job):
        try:
            return e.ask(name, "job-add", name=job, tenant="red",
                         guaranteed=10 ** 9, **json.loads(JOB))
        except ValueError as why:
            return {"error": str(why)}

    asks = threading.Thread(target=lambda: said.append(add("slow", "b")))
    asks.start()
    wait_for("its transaction", lambda: any(w.startswith("txn put job/red/b")
                                            for w in member.held))
    quick = add("quick", "a")
    first.set()
    asks.join()
    check("refused once: who came first is accepted",
          quick.get("decision") == "accept", quick)
    check(f"refused once: the other one waits for a host that has epoch {epoch}",
          said[0].get("decision") == "defer" and
          "hosts have not acknowledged" in said[0]["reason"], said)
    check("refused once: engines end as they should",
          [engine.end() for engine in engines] == [0, 0])
    member.shutdown()


def test_silent(etcd):
    """
    Watches of one member fall silent, while it answers all else: what was written is
    read, and nothing is tried without end.
    """
    member = Member(etcd.endpoints[0][len("http://"):])
    member.silent = "cap/0", "resv/0/"
    engine = e.start_engine("mute", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 30})
    etcd.put("cfg/tenant/red", json.dumps({"color": 5, "guaranteed": 10 ** 12}))
    wait_for("the tenant", lambda: e.ask("mute", "tenants"))
    replies = [e.ask("mute", "job-add", name=job, tenant="red", guaranteed=10 ** 9,
                     **json.loads(JOB)) for job in ("a", "b")]
    check("silent: bandwidth is reserved, and again",
          [r["decision"] for r in replies] == ["accept", "accept"], replies)
    wait_for("both", lambda: {j["name"]: j["state"] for j in e.ask("mute", "jobs")} ==
             {"a": "reserved", "b": "reserved"})
    steps = sum(w.startswith("txn put resv/") for w in member.done)
    check("silent: without many attempts", steps < 500, steps)
    check("silent: there are other watches", member.watched.count("cap/0") > 1 and
          member.watched.count("resv/0/") > 1, member.watched)
    check("silent: the engine ends as it should", engine.end() == 0)
    member.shutdown()


def test_tenant(etcd):
    """A tenant is answered for when the engine has heard of it: jobs may follow at once."""
    member, known = Member(etcd.endpoints[0][len("http://"):]), threading.Event()
    engine = e.start_engine("heard", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 30})
    wait_for("a leader", lambda: e.ask("heard", "show")["leads"])
    member.late = lambda key: known if key == "cfg/tenant/" else None
    threading.Timer(1, known.set).start()
    e.ask("heard", "tenant-add", name="soon", color=9, guaranteed=10 ** 12)
    reply = e.ask("heard", "job-add", name="first", tenant="soon", guaranteed=10 ** 9,
                  **json.loads(JOB))
    check("a tenant that was added can have jobs at once",
          reply.get("decision") == "accept", reply)
    e.ask("heard", "job-del", name="first", tenant="soon")

    # what the store tells of jobs is late now: one that was just added can be deleted
    jobs = threading.Event()
    member.late = lambda key: jobs if key == "job/" else None
    e.ask("heard", "job-add", name="short", **json.loads(JOB))
    threading.Timer(1, jobs.set).start()
    reply = e.ask("heard", "job-del", name="short")
    check("a job that was added can be deleted at once", reply.get("deleted") == "short", reply)
    member.late = lambda key: known if key == "cfg/tenant/" else None

    known.clear()
    said = []
    asks = threading.Thread(target=lambda: said.append(e.ask(
        "heard", "tenant-add", name="last", color=8, guaranteed=10 ** 12)))
    asks.start()
    wait_for("it is written", lambda: etcd.get("cfg/tenant/last"))
    check("heard: the engine ends as it should", engine.end() == 0)
    asks.join()
    check("and says of a tenant that is written that it is", said == [{"tenant": "last"}], said)
    known.set()
    member.shutdown()


def answered(engine, request, **more):
    """The answer, also if it is an error, and the seconds that it took."""
    begin = time.monotonic()
    try:
        answer = e.ask(engine, request, **more)
    except ValueError as why:
        answer = {"error": str(why)}
    return answer, time.monotonic() - begin


def test_deleted(etcd):
    """
    The store tells late of a job that was deleted: its name is free all the same, and so is
    its tenant, once it is said that it is deleted.
    """
    member, known = Member(etcd.endpoints[0][len("http://"):]), threading.Event()
    known.set()
    member.late = lambda key: known if key == "job/" else None
    member.hold = lambda words: known if words == "range job/" else None
    engine = e.start_engine("gone", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 30})
    wait_for("a leader", lambda: e.ask("gone", "show")["leads"])

    def come_and_go(job):
        """The job is deleted, which is told a second later."""
        e.ask("gone", "job-add", **job, **json.loads(JOB))
        wait_for("the job", lambda: job["name"] in {j["name"] for j in e.ask("gone", "jobs")})
        known.clear()
        threading.Timer(1, known.set).start()
        return answered("gone", "job-del", **job)[0]

    reply = come_and_go({"name": "x"})
    check("deleted: it is said once the engine has heard of it",
          reply.get("deleted") == "x" and not e.ask("gone", "jobs"), reply)
    reply = answered("gone", "job-add", name="x", **json.loads(JOB))[0]
    check("deleted: another one may have its name at once", reply.get("decision") == "accept",
          reply)
    known.wait()
    e.ask("gone", "tenant-add", name="red", color=5, guaranteed=10 ** 12)
    come_and_go({"name": "y", "tenant": "red"})
    reply = answered("gone", "tenant-del", name="red")[0]
    check("deleted: its tenant can be deleted at once", reply == {"tenant": "red"}, reply)

    # what the store tells does not come, and the engine ends
    known.wait()
    e.ask("gone", "job-add", name="z", **json.loads(JOB))
    wait_for("the job", lambda: "z" in {j["name"] for j in e.ask("gone", "jobs")})
    known.clear()
    said = []
    asks = threading.Thread(target=lambda: said.append(answered("gone", "job-del", name="z")))
    asks.start()
    wait_for("its end", lambda: not etcd.get("job/default/z"))
    check("deleted: the engine ends as it should", engine.end() == 0)
    asks.join()
    check("and says of a job that is deleted that it is", said[0][0].get("deleted") == "z", said)
    known.set()
    member.shutdown()


def test_untold(etcd):
    """
    The store does not tell of a job that was added. It is not said to be none, and of others
    that are none this is said at once.
    """
    member, known = Member(etcd.endpoints[0][len("http://"):]), threading.Event()
    known.set()
    member.late = lambda key: known if key == "job/" else None
    member.hold = lambda words: known if words == "range job/" else None
    engine = e.start_engine("untold", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 30})
    wait_for("a leader", lambda: e.ask("untold", "show")["leads"])
    known.clear()
    e.ask("untold", "job-add", name="x", **json.loads(JOB))
    reply, seconds = answered("untold", "job-del", name="y")
    check("untold: that there is no other job is said at once",
          reply == {"error": "there is no such job"} and seconds < 5, (reply, seconds))
    reply, seconds = answered("untold", "job-del", name="x")
    check("untold: of the one that was added it is said that the store has not told of it",
          "has not told yet" in reply.get("error", ""), (reply, seconds))
    known.set()
    reply = answered("untold", "job-del", name="x")[0]
    check("untold: it is deleted when it is asked again", reply.get("deleted") == "x", reply)
    check("untold: the engine ends as it should", engine.end() == 0)
    member.shutdown()


def test_no_reports(etcd):
    """Reports alone cannot be read: jobs and tenants are shown, as they were read."""
    member, never = Member(etcd.endpoints[0][len("http://"):]), threading.Event()
    member.hold = lambda words: never if words == "range link/0/" else None
    engine = e.start_engine("blind", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 30})
    etcd.put("cfg/tenant/red", json.dumps({"color": 5}))
    etcd.put("job/red/x", JOB)
    for what, name in ("tenants", "red"), ("jobs", "x"):
        said = wait_for("it", lambda request=what: [
            a for a in [answered("blind", request)[0]]
            if a and (len(member.held) > 2 or "error" not in a)])[0]
        check(f"no reports: {what} are shown", "error" not in said and
              [x["name"] for x in said] == [name], said)
    never.set()
    check("no reports: the engine ends as it should", engine.end() == 0)
    member.shutdown()


def test_stale(etcd):
    """
    The leader waits for more events before it plans, and meanwhile another engine gives
    the room that is back to somebody. The leader hears first that something changed, and
    what it was later: until then it gives that room to nobody.
    """
    member, settle_s, known = Member(etcd.endpoints[0][len("http://"):]), 5, threading.Event()
    known.set()
    member.hold = lambda words: known if words == "range resv/0/" else None
    member.late = lambda key: known if key == "resv/0/" else None
    leader = e.start_engine("lead", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 30, "settle-ms": 1000 * settle_s})
    wait_for("a leader", lambda: e.ask("lead", "show")["leads"])
    other = e.start_engine("other", {"kind": "etcd", "endpoints": [etcd.endpoints[1]]},
                           **{"lease-s": 30})
    for tenant, color in ("red", 5), ("blue", 6):
        etcd.put(f"cfg/tenant/{tenant}", json.dumps({"color": color, "guaranteed": 10 ** 12}))

    def add(engine, tenant, rate, **more):
        return e.ask(engine, "job-add", name="x", tenant=tenant, guaranteed=rate * 10 ** 9,
                     demands=[{"src": "h0", "dst": "h1", "bytes": 1000}], **more)["decision"]

    def has(tenant):
        """The bandwidth of its job, if it has paths."""
        record = json.loads(etcd.get(f"resv/0/{tenant}/x"))
        return record["guaranteed"] // 10 ** 9 if "weights" in record else 0

    def uplink(rate):
        n = next(number)
        etcd.put(REPORT, json.dumps({"number": n, "links": [
            {"from": "h0", "to": "leaf0.0", "capacity": rate * 10 ** 9}]}))
        wait_for("the report", lambda: all(
            [r["number"] for r in e.ask(name, "show")["reports"]] == [n]
            for name in ("lead", "other")))

    def give():
        """What the other engine decides, if that is before the leader plans."""
        uplink(0)
        wait_for("less for it", lambda: has("red") <= 400 and
                 e.ask("other", "jobs")[-1]["state"] == "reserved")
        # no other event has its timer set any more
        time.sleep(settle_s + 2)
        begin = time.monotonic()
        uplink(400)
        known.clear()
        decision = add("other", "blue", 300)
        if time.monotonic() - begin < settle_s - 1:
            return decision
        known.set()
        if decision == "accept":
            e.ask("other", "job-del", name="x", tenant="blue")
            wait_for("its end", lambda: not etcd.get("resv/0/blue/x"))
        return None

    number = itertools.count(1)
    wait_for("tenants", lambda: all(len(e.ask(name, "tenants")) == 2
                                    for name in ("lead", "other")))
    decisions = [add("lead", "red", 700, least=10 ** 11), wait_for("time for it", give)]
    time.sleep(settle_s + 2)
    late = has("red")
    plans = e.ask("lead", "show")["stats"]["plans"]
    known.set()
    check("stale: room that is back is given away by another engine",
          decisions == ["accept"] * 2, decisions)
    check("stale: and not a second time", late + 300 <= 800, late)
    wait_for("a plan, now that all is known",
             lambda: e.ask("lead", "show")["stats"]["plans"] > plans)
    wait_for("the end of its steps", lambda: {j["state"] for j in e.ask("other", "jobs")} ==
             {"reserved"})
    check("stale: nobody lost anything, then either", has("blue") == 300 and
          400 <= has("red") <= 500 and e.ask("lead", "show")["stats"]["lost"] == 0,
          (has("red"), has("blue")))
    check("stale: engines end as they should", [leader.end(), other.end()] == [0, 0])
    member.shutdown()


def test_lost_once(etcd):
    """What is written is heard of late: meanwhile nothing is counted or told again."""
    member, known = Member(etcd.endpoints[0][len("http://"):]), threading.Event()
    known.set()
    member.late = lambda key: known if key in ("cap/0", "resv/0/") else None
    engine = e.start_engine("once", {"kind": "etcd", "endpoints": [member.url()]},
                            **{"lease-s": 30})
    etcd.put("cfg/tenant/red", json.dumps({"color": 5, "guaranteed": 10 ** 12}))
    wait_for("the tenant", lambda: e.ask("once", "tenants"))
    reply = e.ask("once", "job-add", name="x", tenant="red", guaranteed=700 * 10 ** 9,
                  demands=[{"src": "h0", "dst": "h1", "bytes": 1000}])
    check("once: bandwidth is reserved", reply["decision"] == "accept", reply)
    wait_for("it", lambda: e.ask("once", "jobs")[0]["state"] == "reserved")

    def record():
        return json.loads(etcd.get("resv/0/red/x"))

    def count():
        with open(engine.log.name, encoding="utf-8") as f:
            f.seek(begin)
            return f.read().count("reservation of job red/x is lost")

    begin = engine.log.tell()
    known.clear()
    member.done.clear()
    etcd.put(REPORT, json.dumps({"number": 1, "links": [
        {"from": "h0", "to": "leaf0.0", "capacity": 0}]}))
    wait_for("its loss, and more attempts", lambda: record().get("lost") and sum(
        w.startswith("txn put resv/0/red/x") for w in member.done) > 2)
    known.set()
    wait_for("its loss", lambda: e.ask("once", "jobs")[0]["state"] == "lost")
    lost = e.ask("once", "show")["stats"]["lost"]
    check("once: one loss is counted once", lost == 1, lost)
    check("once: and told once", count() == 1, count())
    check("once: the engine ends as it should", engine.end() == 0)
    member.shutdown()


def test_ended(etcd):
    """A leader that is told to end ends its lease: nobody waits until it is over."""
    store = {"kind": "etcd", "endpoints": etcd.endpoints}
    first = e.start_engine("first", store, **{"lease-s": 600})
    wait_for("a leader", lambda: e.ask("first", "show")["leads"])
    second = e.start_engine("second", store, **{"lease-s": 600})
    wait_for("the other one", lambda: e.ask("second", "show")["leader"] == "first")
    check("ended: the leader ends as it should", first.end() == 0)
    check("ended: the other one leads", wait_for(
        "it", lambda: e.ask("second", "show")["leads"]))
    check("ended: and ends as it should", second.end() == 0)


def test_late():
    etcd = e.Etcd()
    test_led_before(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_hung_member(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_takeover(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_refused_once(etcd, 1)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_refused_once(etcd, 10 ** 6)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_tenant(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_deleted(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_untold(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_no_reports(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_silent(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_stale(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_lost_once(etcd)
    etcd.ctl("del", "--prefix", "/srpol/")
    test_ended(etcd)


if __name__ == "__main__":
    os.makedirs(e.OUT, exist_ok=True)
    sys.exit(e.main((test_late,)))
