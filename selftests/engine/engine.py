#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The global engine end to end, without a module: srpol-fabricd and hosts with
srpold's own code (simhost), on the embedded store and on a real etcd of three
members on loopback. A run that hosts were killed, stopped and lied to in is
then held to a record of all that was ever written (etcdctl watch): whatever a
host applied is, chunk by chunk, what the store had at the revision of that
epoch's head.

SRPOL_EPOCHS: how many plans (default 24; "make long-engine" has 100)
SRPOL_SEED: of the moments at which engines are told to end
"""

import base64
import contextlib
import hashlib
import http.client
import http.server
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
OUT = os.environ.get("SRPOL_OUT") or tempfile.mkdtemp()
# sockets have short names
RUN = tempfile.mkdtemp(prefix="srpol-")
EPOCHS = int(os.environ.get("SRPOL_EPOCHS", "24"))
SEED = int(os.environ.get("SRPOL_SEED", "20261122"))
FABRICD = f"{BUILD}/selftests/engine/srpol-fabricd"
SIMHOST = f"{BUILD}/selftests/engine/simhost"
ETCDCTL = f"{BUILD}/tools/bin/etcdctl"
PATIENCE = 240

number = failures = 0
processes = []


def check(name, good, why=""):
    global number, failures
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} {name}", flush=True)
    if not good:
        failures += 1
        print(f"# {why}", flush=True)


def wait_for(what, condition):
    """Until it is so, or nobody would believe that it ever will be."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            found = condition()
        except (OSError, LookupError, ValueError):
            found = None
        if found:
            return found
        time.sleep(0.02)
    raise TimeoutError(what)


class Process:
    def __init__(self, name, *command, **more):
        self.name = name
        self.log = open(f"{OUT}/{name}.log", "ab")
        self.p = subprocess.Popen(command, stderr=self.log,
                                  **{"stdout": self.log, **more})
        processes.append(self)

    def end(self, sig=signal.SIGTERM):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGCONT)
            self.p.send_signal(sig)
        try:
            return self.p.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            # it would be in the way of what comes next
            self.p.kill()
            raise


def stopped(process):
    """It was told to, which takes effect when it is next to run."""
    with open(f"/proc/{process.p.pid}/stat") as stat:
        wait_for("stop", lambda: stat.seek(0) == 0 and
                 stat.read().split()[2] == "T")


# --- fabric and jobs

LEAVES, SPINES = 4, 4
CHUNKS = 2		# that a host reads


def topology():
    """Each host is on two leaves, in two planes: it reads two chunks."""
    t = {"srpol-topology": 1, "switches": [], "hosts": [], "links": []}
    for plane in range(2):
        for i in range(LEAVES):
            t["switches"].append({
                "name": f"leaf{plane}.{i}", "role": "leaf", "plane": plane,
                "locator": f"fc00:0:1{plane}{i}::/48"})
        for i in range(SPINES):
            t["switches"].append({
                "name": f"spine{plane}.{i}", "role": "spine",
                "plane": plane, "locator": f"fc00:0:2{plane}{i}::/48"})
            for leaf in range(LEAVES):
                t["links"].append({"from": f"leaf{plane}.{leaf}",
                                   "to": f"spine{plane}.{i}",
                                   "rate": "400G"})
    for i in range(LEAVES):
        t["hosts"].append({
            "name": f"h{i}", "locator": f"fc00:1:{i + 1}::/48", "nics": [
                {"name": f"eth{plane}", "leaf": f"leaf{plane}.{i}",
                 "plane": plane, "rate": "400G",
                 "address": f"fd00:{i + 1}:{plane + 1}::1",
                 "gateway": f"fd00:{i + 1}:{plane + 1}::fe"}
                for plane in range(2)]})
    with open(f"{RUN}/topology.json", "w") as f:
        json.dump(t, f)


HOSTS = [f"h{i}" for i in range(LEAVES)]
JOB = json.dumps({"all-to-all": {"hosts": HOSTS, "bytes": 1 << 30}})


def ask(engine, request, **more):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(30)  # other things may have the processors
        s.connect(f"{RUN}/{engine}.sock")
        s.sendall(json.dumps({"version": 1, "request": request,
                              **more}).encode() + b"\n")
        answer = json.loads(s.makefile().readline())
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer["reply"]


def start_engine(name, store, verbose=True, **more):
    """
    With a lease that no pause ends where nobody else could lead: an embedded store
    does not keep keys with leases when it is started anew, so nobody waits for it.
    """
    lease = 60 if store["kind"] == "embedded" else 2
    with open(f"{RUN}/{name}.json", "w") as f:
        json.dump({"name": name, "topology": f"{RUN}/topology.json",
                   "socket": f"{RUN}/{name}.sock", "lease-s": lease,
                   "settle-ms": 5, "file": f"{RUN}/store.json",
                   "store": store, **more}, f)
    return Process(name, FABRICD, "-c", f"{RUN}/{name}.json",
                   *(["--verbose"] if verbose else []))


class Hosts:
    """A process with hosts; what they applied is in a file."""

    def __init__(self, name, hosts, store, folder=None, **more):
        self.hosts = hosts
        self.file = f"{OUT}/{name}.applied"
        folder = f"{RUN}/{folder or store['kind']}"
        os.makedirs(folder, exist_ok=True)
        with open(f"{RUN}/{name}.json", "w") as f:
            json.dump({"topology": f"{RUN}/topology.json", "folder": folder,
                       "store": store, **more}, f)
        self.process = Process(name, SIMHOST, f"{RUN}/{name}.json", *hosts,
                               stdin=subprocess.PIPE,
                               stdout=open(self.file, "ab"))

    def tell(self, line):
        self.process.p.stdin.write(f"{line}\n".encode())
        self.process.p.stdin.flush()

    def end(self):
        """They end when nobody can tell them anything any more."""
        self.process.p.stdin.close()
        return self.process.p.wait()

    def lines(self):
        with open(self.file) as f:
            return [json.loads(line) for line in f if line.endswith("\n")]

    def applied(self):
        return [line for line in self.lines() if "epoch" in line and
                "stats" not in line]

    def epoch(self, host):
        return max((a["epoch"] for a in self.applied()
                    if a["host"] == host), default=0)

    def last(self, host):
        return [a for a in self.applied() if a["host"] == host][-1]

    def stats(self):
        before = len(self.lines())
        self.tell("stats")
        wait_for("statistics", lambda: sum(
            "stats" in line for line in self.lines()[before:]) ==
            len(self.hosts))
        return {line["stats"]: line for line in self.lines()[before:]
                if "stats" in line}


# --- embedded store

def stored():
    """All keys with their values."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{RUN}/store.sock")
        s.sendall(json.dumps({"id": 1, "op": "range", "key": "/srpol/",
                              "prefix": True, "revision": 0}).encode() + b"\n")
        kvs = json.loads(s.makefile().readline())["kvs"]
    return {kv[0][len("/srpol/"):]: kv[1] for kv in kvs}


def store_put(key, value, lease=0):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{RUN}/store.sock")
        s.sendall(json.dumps({"id": 1, "op": "txn", "compare": [], "put": [
            [f"/srpol/{key}", value, lease]]}).encode() + b"\n")
        return json.loads(s.makefile().readline())["succeeded"]


def store_lease(lease=0, seconds=600):
    """A lease that is granted, or kept; 0: it is over, None: it is refused."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{RUN}/store.sock")
        s.sendall(json.dumps({"id": 1, "op": "lease", "seconds": seconds,
                              "lease": lease}).encode() + b"\n")
        return json.loads(s.makefile().readline()).get("lease")


def term_lasts():
    """
    Whether a term lasts for six seconds, with leases of two. A machine that has no
    time for it ends some; one that is never renewed does not last, and a pause adds
    three seconds to it at most.
    """
    term = ask("lease", "show")["term"]
    end = time.monotonic() + 6
    while time.monotonic() < end:
        time.sleep(0.1)
        if not term or ask("lease", "show")["term"] != term:
            return False
    return True


def test_lease():
    """Nothing is written when a lease is granted; then the store is killed."""
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    more = {"file": f"{RUN}/lease.store", "lease-s": 2}
    engine = start_engine("lease", store, **more)
    wait_for("leader", lambda: ask("lease", "show")["leads"])
    leases = [store_lease() for _ in range(3)]
    engine.end(signal.SIGKILL)
    engine = start_engine("lease", store, **more)
    wait_for("leader", lambda: ask("lease", "show")["leads"])
    again = [store_lease() for _ in range(3)]
    kept = [store_lease(lease) for lease in leases]
    check("store: no lease lasts less than a second or more than an hour",
          [store_lease(seconds=s) for s in (-1, 0, 3601, 1 << 62)] == 4 * [None])
    check("store: a lease is renewed for as long as it was granted, whatever is said",
          [store_lease(again[0], s) for s in (0, 3601, 1 << 62)] == 3 * [again[0]])
    check("the engine goes on leading when its first lease is over",
          wait_for("a term longer than three leases", term_lasts))
    check("store: the lease of one who was there before a restart is no other's",
          kept == [0, 0, 0] and not set(leases) & set(again),
          (leases, again, kept))
    check("lease: the engine ends as it should", engine.end() == 0)


def test_lease_end():
    """When leases end: whatever others do, and not as the store stood still."""
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    engine = start_engine("ends", store, **{"lease-s": 2})
    wait_for("leader", lambda: ask("ends", "show")["leads"])
    others = store_lease()
    wait_for("a key", lambda: store_put("odd/leased", "x", store_lease(seconds=1)))
    check("store: a lease ends although others are renewed all the time",
          wait_for("its end", lambda: store_lease(others) == others and
                   "odd/leased" not in stored()))
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f"{RUN}/store.sock")
        answers = s.makefile()
        lease, kept = store_lease(seconds=2), []
        # the second time, soon after: that it was late once does not count then
        for _ in range(2):
            engine.p.send_signal(signal.SIGSTOP)
            # when the store's timer is over, which it then finds first
            time.sleep(1.2)
            s.sendall(json.dumps({"id": 1, "op": "lease", "seconds": 2,
                                  "lease": lease}).encode() + b"\n")
            time.sleep(1.8)
            engine.p.send_signal(signal.SIGCONT)
            kept.append(json.loads(answers.readline()).get("lease"))
    check("store: renewals that come while it does not run count", kept == 2 * [lease],
          (kept, lease))
    check("store: its leader, which stood still with it, leads again",
          wait_for("leader", lambda: ask("ends", "show")["leads"]))
    check("ends: the engine ends as it should", engine.end() == 0)


def test_malformed():
    """What is no request of the store changes nothing in it."""
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    engine = start_engine("odd", store, file=f"{RUN}/odd.store")
    wait_for("leader", lambda: ask("odd", "show")["leads"])
    store_put("job/t/a", JOB)
    for what, request in (
            ("a number for a value", {"op": "txn", "compare": [], "put": [
                ["/srpol/job/t/a", 5, 0]]}),
            ("an object for a value", {"op": "txn", "compare": [], "put": [
                ["/srpol/job/t/a", {}, 0]]}),
            ("the end of no lease", {"op": "revoke", "lease": 0}),
            ("the end of a lease that is not named", {"op": "revoke"})):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(f"{RUN}/store.sock")
            s.sendall(json.dumps({"id": 1, **request}).encode() + b"\n")
            answer = json.loads(s.makefile().readline())
        check(f"store: {what} changes nothing",
              stored().get("job/t/a") == JOB and
              not answer.get("succeeded"), answer)
    # a name is cut in what is said about it, but not in a character
    for before in "", "a", "ab":
        try:
            said = ask("odd", before + "\u20ac" * 400)
        except (ValueError, LookupError) as why:
            said = str(why)
        check(f"request: what is wrong with a long name is said ({len(before)})",
              "\u20ac\u20ac" in said, said)
    for name in "a\nb", "\x1b[31mred", "a\x7f":
        try:
            said = ask("odd", "job-add", name=name, **json.loads(JOB))
        except ValueError as why:
            said = str(why)
        check(f"job: a name that a terminal would obey is refused ({name!r})",
              "control character" in said, said)
    for request, more, text in (
            ("show", {"job": 1}, '"job" is unknown in request "show"'),
            ("diff", {"from": "leaf0.0"}, '"from"'),
            ("horizons", {"seconds": 5}, '"seconds"'),
            ("functions", {"name": "x"}, '"name"'),
            ("advise", {"tenant": "t"}, '"tenant"'),
            ("tenants", {"name": "t"}, '"name"'),
            ("tenant-del", {"name": "t", "force": True}, '"force"'),
            ("job-del", {"name": "a", "tenant": "t", "what-if": True}, '"what-if"'),
            ("jobs", {"tenant": "t"}, '"tenant"'),
            ("jobs", {"name": 5}, '"name" is not a string'),
            ("plan", {"to": "leaf0.0"}, '"to"'),
            ("plan", {"from": ["leaf0.0"]}, '"from" is not a string'),
            ("why", {"src": "h0", "dst": "h1", "color": 5}, '"color"'),
            ("what-if", {"from": "leaf0.0", "to": "spine0.0", "down": 1}, '"down"')):
        try:
            said = ask("odd", request, **more)
        except ValueError as why:
            said = str(why)
        check(f"request: {request} is refused with what it does not know ({text})",
              text in said, said)
    check("malformed: what was refused has not been done",
          ask("odd", "show")["jobs"] == ["t/a"])
    check("malformed: the engine ends as it should", engine.end() == 0)


def spoil_saved():
    """The plans that all hosts but the last have on disk."""
    def spoil(host, what):
        with open(f"{RUN}/embedded/{host}.plan") as f:
            saved = json.load(f)
        what(saved["plan"])
        with open(f"{RUN}/embedded/{host}.plan", "w") as f:
            json.dump(saved, f)

    def other_page(plan):
        number, text = next(iter(plan["pages"].items()))
        plan["pages"][number] = text.replace('"seen":{', '"seen":{"h9":1,', 1)

    spoil("h0", lambda plan: plan["pages"].clear())
    spoil("h1", lambda plan: plan["chunks"].clear())
    spoil("h2", other_page)


def test_embedded():
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    engine = start_engine("emb", store)
    wait_for("leader", lambda: ask("emb", "show")["leads"])
    hosts = Hosts("emb-hosts", HOSTS, store)
    store_put("job/t/a", JOB)
    wait_for("first plan", lambda: all(hosts.last(h)["chunks"]
                                       for h in HOSTS))
    check("embedded: a host has the chunks of its own leaves",
          sorted(hosts.last("h1")["chunks"]) == ["leaf0.1", "leaf1.1"],
          hosts.last("h1"))

    hosts.tell("report h0 leaf0.0 spine0.2 0")
    wait_for("report seen", lambda: hosts.last("h0")["seen"] == 1 and
             hosts.epoch("h2") == hosts.epoch("h0"))
    line = json.loads(hosts.last("h0")["chunks"]["leaf0.0"].split("\n")[0])
    check("embedded: a link that a host reported down is not planned with",
          line["weights"] == "ff0f", line)
    check("embedded: what others send to that leaf avoids it as well",
          '"leaf0.0","weights":"ff0f"' in hosts.last("h2")["chunks"]["leaf0.2"],
          hosts.last("h2"))

    down = ask("emb", "what-if", **{"from": "leaf0.1", "to": "spine0.0"})
    check("embedded: what-if changes pairs of that leaf only, and nothing in force",
          down["pairs_changed"] == 6 and down["unplaced"] == 0 and
          all("leaf0.1" in (c["from"], c["to"]) for c in down["changes"]) and
          ask("emb", "show")["epoch"] == hosts.epoch("h0"), down)
    why = ask("emb", "why", src="h0", dst="h1")
    check("embedded: why names who reported the link",
          why["planes"][0]["paths"][2]["weight"] == 0 and
          why["planes"][0]["paths"][2]["links"][0]["reported_by"] == ["h0"],
          why)
    wait_for("acknowledgements", lambda: [
        h["epoch"] for h in ask("emb", "show")["hosts"]] ==
        [hosts.epoch("h0")] * len(HOSTS))
    check("embedded: every host acknowledged the epoch", True)

    store_put("job/t/b", "{\"demands\": [{\"src\": \"h0\"}]}")
    wait_for("refusal", lambda: ask("emb", "show")["stats"]["refused"] == 1)
    check("embedded: a malformed job is refused, counted, changes nothing",
          ask("emb", "show")["jobs"] == ["t/a"])

    before = hosts.epoch("h0")
    store_put("plan/0/18446744073709551615/leaf0.0", "x")
    store_put("index/0/9007199254740992", "x")
    store_put("plan/0/", "x")
    store_put("plan/0//", "x")
    check("embedded: the engine ends as it should", engine.end() == 0)
    engine = start_engine("emb", store)
    wait_for("epochs go on", lambda: all(hosts.epoch(h) > before
                                         for h in HOSTS))
    check("embedded: after a restart epochs and term go on, whatever keys there are",
          all(s["replayed"] == s["bad_head"] == 0
              for s in hosts.stats().values()) and
          before < hosts.epoch("h0") < before + 9, hosts.stats())

    engine.end()
    check("embedded: hosts end as they should", hosts.end() == 0)
    with open(hosts.file, "w"):
        pass
    hosts = Hosts("emb-hosts", HOSTS, store)
    check("embedded: without a store the last plan on the disk is in force",
          wait_for("plans from the disk", lambda: all(
              hosts.epoch(h) > before for h in HOSTS)))
    engine = start_engine("emb", store)
    hosts.tell("report h0 leaf0.0 spine0.2 0")
    wait_for("acknowledgements", lambda: len(ask("emb", "show")["hosts"]) ==
             len(HOSTS) and ask("emb", "show")["reports"])
    reports = ask("emb", "show")["reports"]
    check("embedded: what a plan has seen of a host is not new after a restart",
          [r["number"] for r in reports] == [1], reports)
    engine.end()
    hosts.end()
    spoil_saved()
    hosts = Hosts("emb-spoilt", HOSTS, store)
    wait_for("a plan from the disk", lambda: hosts.epoch(HOSTS[-1]))
    check("embedded: one of which something is not there or other is left alone",
          {a["host"] for a in hosts.applied()} == {HOSTS[-1]},
          hosts.applied())
    hosts.end()


def refused(name, config):
    """What an engine says that does not start."""
    with open(f"{RUN}/{name}.json", "w") as f:
        json.dump({"name": name, "topology": f"{RUN}/topology.json",
                   **config}, f)
    done = subprocess.run([FABRICD, "-c", f"{RUN}/{name}.json"], check=False,
                          text=True, timeout=PATIENCE, stderr=subprocess.PIPE)
    return done.stderr if done.returncode == 1 else f"? {done}"


def test_start():
    """Engines that must not start, and what they leave."""
    os.mkdir(f"{RUN}/half")
    with open(f"{RUN}/half/letter", "w") as f:
        f.write("dear")
    store = {"kind": "embedded", "socket": f"{RUN}/half/store.sock"}
    said = refused("half", {"store": store, "file": f"{RUN}/half/store",
                            "socket": f"{RUN}/half/letter"})
    check("start: a file where the socket should be is left alone",
          "letter is there and no socket" in said and
          open(f"{RUN}/half/letter").read() == "dear", said)
    check("start: one that fails half way leaves no socket",
          not os.path.exists(f"{RUN}/half/store.sock"))
    os.symlink(f"{RUN}/half/letter", f"{RUN}/half/link")
    said = refused("half", {"store": {**store, "socket": f"{RUN}/half/link"},
                            "file": f"{RUN}/half/store",
                            "socket": f"{RUN}/half/sock"})
    check("start: neither is a link there followed nor replaced",
          "link is there and no socket" in said and
          os.path.islink(f"{RUN}/half/link"), said)

    whole = {"cluster": 1, "revision": 9, "lease": 1,
             "keys": [["/srpol/x", "y", 2, 3]]}
    for what, text in (
            ("empty", ""), ("half", json.dumps(whole)[:-9]),
            ("without keys", json.dumps({**whole, "keys": {}})),
            ("newer than itself", json.dumps({**whole, "revision": 2})),
            ("with a key twice", json.dumps({**whole,
                                             "keys": whole["keys"] * 2})),
            ("of no cluster", json.dumps({**whole, "cluster": 0})),
            ("of too high a revision", json.dumps({**whole,
                                                   "revision": 1 << 62}))):
        with open(f"{RUN}/half/bad", "w") as f:
            f.write(text)
        said = refused("half", {"store": store, "file": f"{RUN}/half/bad",
                                "socket": f"{RUN}/half/sock"})
        check(f"start: a store's file that is {what} is refused and stays",
              f"{RUN}/half/bad" in said and
              open(f"{RUN}/half/bad").read() == text, said)

    first = start_engine("first", store, file=f"{RUN}/half/store")
    wait_for("leader", lambda: ask("first", "show")["leads"])
    said = refused("second", {
        "store": {**store, "socket": f"{RUN}/half/second.sock"},
        "file": f"{RUN}/half/store", "socket": f"{RUN}/half/sock"})
    check("start: two engines do not serve one file",
          "another process has it locked" in said and
          not os.path.exists(f"{RUN}/half/second.sock"), said)
    said = refused("second", {
        "store": store, "file": f"{RUN}/half/other",
        "socket": f"{RUN}/half/sock"})
    check("start: nor one socket", f"process {first.p.pid} has" in said, said)
    first.p.send_signal(signal.SIGSTOP)
    stopped(first)
    waiting = []
    try:
        while len(waiting) < 10000:
            s = socket.socket(socket.AF_UNIX)
            s.setblocking(False)
            waiting.append(s)
            s.connect(f"{RUN}/first.sock")
    except BlockingIOError:
        pass
    said = refused("second", {
        "store": {**store, "socket": f"{RUN}/half/second.sock"},
        "file": f"{RUN}/half/other", "socket": f"{RUN}/first.sock"})
    check("start: not even if nobody could connect to it any more",
          "first.sock" in said and "has" in said and len(waiting) < 10000,
          said)
    for s in waiting:
        s.close()
    first.p.send_signal(signal.SIGCONT)
    check("start: SIGHUP ends an engine as SIGTERM does",
          first.end(signal.SIGHUP) == 0 and
          not os.path.exists(f"{RUN}/half/store.sock") and
          not os.path.exists(f"{RUN}/first.sock"))


def test_silence():
    """A store that is not there, as with the likeliest mistakes."""
    port, = free_ports(1)
    store = {"kind": "etcd", "endpoints": [f"http://127.0.0.1:{port}/"]}
    with open(f"{RUN}/silent.json", "w") as f:
        json.dump({"topology": f"{RUN}/topology.json", "store": store,
                   "socket": f"{RUN}/silent.sock", "lease-s": 1}, f)
    engine = Process("silent", FABRICD, "-c", f"{RUN}/silent.json")
    hosts = Hosts("silent-hosts", HOSTS[:1], store, "silent")

    def said(name):
        with open(f"{OUT}/{name}.log") as log:
            return log.read()

    for name in "silent", "silent-hosts":
        wait_for(f"{name} says so", lambda: "cannot be read" in said(name))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Nobody)
    server.paths = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wait_for("requests", lambda: len(server.paths) > 20)
    check("store: one that does not answer is named, once",
          all(said(name).count("cannot be read") == 1
              for name in ("silent", "silent-hosts")), said("silent"))
    check("store: a slash behind an endpoint is none too many",
          all(path.startswith("/v3/") for path in server.paths),
          server.paths[:3])
    check("store: all end as they should without one",
          engine.end() == 0 and hosts.end() == 0)
    server.shutdown()
    server.server_close()


class Nobody(http.server.BaseHTTPRequestHandler):
    """Not etcd."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.server.paths.append(self.path)
        self.send_error(404)


def test_end():
    """Signals at any moment."""
    store = {"kind": "embedded", "socket": f"{RUN}/end/store.sock"}
    os.mkdir(f"{RUN}/end")
    wrong = []
    chance = random.Random(SEED)
    for number in range(60):
        engine = start_engine("end", store, file=f"{RUN}/end/store",
                              socket=f"{RUN}/end/socket")
        # it has to be there to be told; before that it ends as any program
        wait_for("engine", lambda: os.path.exists(f"{RUN}/end/socket") or
                 engine.p.poll() is not None)
        time.sleep(chance.random() * 0.1)
        sig = chance.choice([signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
        ended = engine.end(sig)
        left = [f for f in os.listdir(f"{RUN}/end") if "sock" in f]
        if ended or left:
            wrong.append((number, sig, ended, left))
    check(f"end: in order, whenever it is told (seed {SEED})", not wrong, wrong)


def test_disk():
    """A disk that takes nothing: what cannot be kept does not happen."""
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    file = f"{RUN}/disk.store"
    engine = start_engine("disk", store, file=file)
    wait_for("leader", lambda: ask("disk", "show")["leads"])
    hosts = Hosts("disk-hosts", HOSTS[:2], store, "disk")
    store_put("job/t/a", JOB)
    wait_for("first plan", lambda: all(hosts.last(h)["chunks"]
                                       for h in hosts.hosts))
    epoch, term = (ask("disk", "show")[x] for x in ("epoch", "term"))
    # nothing can be written where a folder is, once nothing is being written there
    def make_folder():
        with contextlib.suppress(FileExistsError):
            os.mkdir(f"{file}.new")
            return True
        return False
    wait_for("room for a folder", make_folder)
    check("disk: a change that cannot be kept is refused",
          not store_put("job/t/b", JOB))
    hosts.tell("report h0 leaf0.0 spine0.2 0")
    wait_for("a second try", lambda: hosts.stats()["h0"]["reports"] > 1)
    now = ask("disk", "show")
    check("disk: nobody heard of it", now["jobs"] == ["t/a"] and
          hosts.epoch("h0") == hosts.epoch("h1") == epoch, now)
    engine.end(signal.SIGKILL)
    os.rmdir(f"{file}.new")
    engine = start_engine("disk", store, file=file)
    wait_for("a plan after that", lambda: all(
        hosts.epoch(h) > epoch and hosts.last(h)["seen"] in (0, 1)
        for h in hosts.hosts))
    wait_for("report seen", lambda: hosts.last("h0")["seen"] == 1)
    check("disk: then epochs and terms go on",
          hosts.last("h0")["term"] > term and all(
              s["replayed"] == 0 for s in hosts.stats().values()),
          hosts.stats())
    check("disk: all end as they should",
          engine.end() == 0 and hosts.end() == 0)


def test_damaged():
    """Keys of the plan in force that were changed while there was no engine."""
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    file = f"{RUN}/damaged.store"

    def start():
        engine = start_engine("damaged", store, file=file)
        wait_for("leader", lambda: ask("damaged", "show")["leads"])
        return engine

    def log():
        with open(f"{OUT}/damaged.log") as f:
            return f.read()

    engine = start()
    hosts = Hosts("damaged-hosts", HOSTS, store, "damaged", **{"lease-s": 60})
    store_put("job/t/a", JOB)
    wait_for("a plan", lambda: all(hosts.last(h)["chunks"] for h in HOSTS))
    index = "its index is damaged"
    for what, key, old, new, said in (
            ("head", "plan/0/head", '"version":2', '"version":1', "the head is damaged"),
            ("index", r"index/0/\d+", '"algorithm":"', '"algorithm":"x', index),
            ("page", r"index/0/\d+/\d+", '"seen":{}', '"seen":{"h9":7}', index)):
        wait_for("acknowledgements", lambda: [
            h["epoch"] for h in ask("damaged", "show")["hosts"]] ==
            [hosts.epoch("h0")] * len(HOSTS))
        before, count = hosts.epoch("h0"), log().count(said)
        engine.end()
        with open(file) as f:
            saved = json.load(f)
        keys = [kv for kv in saved["keys"] if re.fullmatch(f"/srpol/{key}", kv[0])
                and old in kv[1]]
        for kv in keys:
            kv[1] = kv[1].replace(old, new)
        with open(file, "w") as f:
            json.dump(saved, f)
        engine = start()
        wait_for("a plan after it", lambda: all(
            hosts.epoch(h) > before and hosts.last(h)["chunks"] for h in HOSTS))
        check(f"damaged: the {what} is written anew, in a later epoch, and it is said",
              keys and log().count(said) == count + 1, (keys, log()))
    check("damaged: all end as they should", engine.end() == 0 and hosts.end() == 0)


# --- etcd

def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def done_at_last(run, or_says=None):
    """What a command came to that succeeded, or complained of this only."""
    def attempt():
        done = run()
        return done if not done.returncode or \
            or_says and or_says in done.stderr else None
    return wait_for("etcdctl", attempt)


class Etcd:
    """@election_ms: without a word of their leader so long, members elect another"""

    def __init__(self, election_ms=500):
        self.election_ms = election_ms
        self.ports = free_ports(3)
        self.peers = free_ports(3)
        self.members = [None] * 3
        self.endpoints = [f"http://127.0.0.1:{p}" for p in self.ports]
        for i in range(3):
            self.start(i)
        self.ctl("put", "warm", "1")

    def start(self, i):
        peer = f"http://127.0.0.1:{self.peers[i]}"
        self.members[i] = Process(
            f"etcd{i}", f"{BUILD}/tools/bin/etcd", "--name", f"m{i}",
            "--data-dir", f"{RUN}/etcd{i}",
            "--listen-client-urls", self.endpoints[i],
            "--advertise-client-urls", self.endpoints[i],
            "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer,
            "--initial-cluster", ",".join(
                f"m{k}=http://127.0.0.1:{self.peers[k]}" for k in range(3)),
            "--initial-cluster-state", "new", "--heartbeat-interval",
            str(self.election_ms // 10), "--election-timeout",
            str(self.election_ms), "--unsafe-no-fsync",
            "--experimental-watch-progress-notify-interval", "5s")

    def once(self, *words, stdin=None, endpoints=None):
        """Ends soon while etcd is there, but for pauses of the machine."""
        return subprocess.run(
            [ETCDCTL, "--endpoints", ",".join(endpoints or self.endpoints),
             "--command-timeout", "60s", "--dial-timeout", "60s", *words],
            input=stdin, text=True, env={**os.environ, "ETCDCTL_API": "3"},
            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ctl(self, *words, stdin=None):
        """
        What is said of something that is done, and may be done twice: while etcd
        elects a leader it refuses, which says nothing about any key.
        """
        return done_at_last(lambda: self.once(*words, stdin=stdin)).stdout

    def put(self, key, value):
        self.ctl("put", f"/srpol/{key}", stdin=value)

    def get(self, key):
        """Nothing if there is no such key."""
        return self.ctl("get", "--print-value-only", f"/srpol/{key}")[:-1]

    def revision(self):
        return json.loads(self.ctl("get", "x", "-w", "json"))["header"][
            "revision"]

    def compact(self, revision):
        """It may have been done although nobody said so."""
        done_at_last(lambda: self.once("compaction", str(revision)),
                     "required revision has been compacted")

    def leader(self):
        """Which member leads the others."""
        def look():
            for i in range(3):
                done = self.once("endpoint", "status", "-w", "json",
                                 endpoints=[self.endpoints[i]])
                if done.returncode:
                    continue
                state = json.loads(done.stdout)[0]["Status"]
                if state["leader"] == state["header"]["member_id"]:
                    return [i]
            return None
        return wait_for("etcd's leader", look)[0]


class Record(threading.Thread):
    """
    All that is ever written, from outside. etcd ends a watch that has gone
    without a leader for some elections; the next one goes on where it ended.
    """

    def __init__(self, etcd):
        super().__init__(daemon=True)
        self.etcd = etcd
        self.watch(1)
        self.start()

    def watch(self, revision):
        self.process = Process(
            "record", ETCDCTL, "--endpoints", ",".join(self.etcd.endpoints),
            "watch", "--prefix", "/srpol/", "-w", "json", "--rev",
            str(revision), env={**os.environ, "ETCDCTL_API": "3"},
            stdout=open(f"{OUT}/record", "ab"))

    def run(self):
        # processes are killed at the end, by a signal
        while self.process.p.wait() >= 0:
            time.sleep(0.1)
            self.watch(newest(recorded()) + 1)

    def complete(self):
        """Until it has the newest of what there is."""
        there = json.loads(self.etcd.ctl("get", "--prefix", "/srpol/", "-w",
                                         "json"))["kvs"]
        last = max(kv["mod_revision"] for kv in there)
        wait_for("the record", lambda: newest(recorded()) >= last)


def newest(events):
    return events[-1][0] if events else 0


def recorded():
    """What was written: (revision, key, value or None), in order."""
    events = []
    with open(f"{OUT}/record") as f:
        for line in f:
            if not line.endswith("\n"):
                break
            for e in json.loads(line).get("Events") or []:
                kv = e["kv"]
                key = base64.b64decode(kv["key"]).decode()
                value = None if e.get("type") == 1 else base64.b64decode(
                    kv.get("value", ""))
                events.append((kv["mod_revision"], key[len("/srpol/"):],
                               value))
    return sorted(events, key=lambda e: e[0])


def digest(text):
    return hashlib.blake2b(text, digest_size=32).hexdigest()


def meant_by(state):
    """
    What the head means in a state of the store: its digest and { leaf: text }, if
    index, pages and chunks fit, by our own reckoning.
    """
    def lines(text, wanted):
        if digest(text) != wanted:
            raise ValueError
        return [json.loads(x) for x in text.decode().splitlines()]

    head = json.loads(state["plan/0/head"])
    chunks = {}
    for page in lines(state[f"index/0/{head['epoch']:010}"], head["digest"])[1:]:
        text = state[f"index/0/{page['epoch']:010}/{page['page']:05}"]
        for x in lines(text, page["digest"])[1:]:
            chunk = state[f"plan/0/{x['epoch']:010}/{x['leaf']}"]
            if digest(chunk) != x["digest"]:
                raise ValueError
            chunks[x["leaf"]] = chunk.decode()
    return head["digest"], chunks


def good_epochs(events):
    """What each head that fits meant, when it was written, by its digest."""
    state, epochs, revision = {}, {}, 0

    def look():
        try:
            name, chunks = meant_by(state)
        except (KeyError, ValueError, TypeError):
            return
        epochs[name] = chunks

    for at, key, value in events:
        if at != revision:
            look()
            revision = at
        if value is None:
            state.pop(key, None)
        else:
            state[key] = value
    look()
    return epochs


def check_history(groups):
    epochs = good_epochs(recorded())
    applied = [a for g in groups for a in g.applied()]
    strange = [a for a in applied if a["digest"] not in epochs]
    mixed = [a for a in applied if a["digest"] in epochs and any(
        epochs[a["digest"]][leaf] != text
        for leaf, text in a["chunks"].items())]
    partial = [a for a in applied if a["digest"] in epochs and
               len(a["chunks"]) != (CHUNKS if epochs[a["digest"]] else 0)]
    check(f"no host applied a mixed or unknown plan ({len(applied)} applied, "
          f"{len(epochs)} epochs)", applied and not strange and not mixed and
          not partial, (strange + mixed + partial)[:3])
    back = []
    for g in groups:
        for host in g.hosts:
            e = [(a["term"], a["epoch"]) for a in g.applied()
                 if a["host"] == host]
            back += [host] if e != sorted(set(e)) else []
    check("epochs and terms of a host never went back", not back, back)


class Run:
    """
    A cluster, two engines, hosts in two processes. Leases are longer than pauses of
    the machine, so that nobody else leads but when a test has made it so.
    """

    def __init__(self):
        self.etcd = Etcd()
        self.store = {"kind": "etcd", "endpoints": self.etcd.endpoints}
        self.record = Record(self.etcd)
        self.engines = {n: self.engine(n) for n in "AB"}
        self.leader()
        self.near = Hosts("near", HOSTS[:2], self.store)
        self.far = Hosts("far", HOSTS[2:], self.store)
        self.jobs = 0
        self.etcd.put("job/t/all", JOB)
        self.settled()

    def engine(self, name):
        """One that lets events settle for so long that it can be stopped."""
        return start_engine(name, self.store, **{"settle-ms": 500, "lease-s": 6})

    def leader(self):
        def find():
            for name, engine in self.engines.items():
                if engine.p.poll() is None and ask(name, "show")["leads"]:
                    return name
            return None
        return wait_for("a leader", find)

    def change(self):
        """A link is reported with another capacity, by a host or another."""
        self.jobs += 1
        host = self.jobs % 2
        self.near.tell(f"report h{host} leaf{self.jobs // 2 % 2}.{host} "
                       f"spine{self.jobs // 2 % 2}.{self.jobs % SPINES} "
                       f"{(1 + self.jobs % 15) * 10 ** 10}")

    def epoch(self):
        return json.loads(self.etcd.get("plan/0/head"))["epoch"]

    def settled(self, *groups):
        """All hosts have what the head says; the number of its epoch."""
        def same():
            now = self.epoch()
            return now if all(g.epoch(h) == now
                              for g in groups or (self.near, self.far)
                              for h in g.hosts) else None
        return wait_for("hosts on the head's epoch", same)

    def changes(self, n):
        for _ in range(n):
            before = self.epoch()
            self.change()
            wait_for("a new epoch", lambda: self.epoch() > before)


def test_kill_etcd(run, n):
    run.changes(n)
    leader = run.etcd.leader()
    run.etcd.members[leader].end(signal.SIGKILL)
    run.changes(n)
    run.settled()
    check("etcd: epochs go on when etcd's leader is killed", True)
    run.etcd.start(leader)


def test_two_gone(run, n):
    """Without a quorum nothing is written, and hosts keep what they have."""
    before = run.settled()
    for i in 0, 1:
        run.etcd.members[i].end(signal.SIGKILL)
    run.change()
    wait_for("the leader gives up", lambda: not any(
        ask(name, "show")["leads"] for name in run.engines))
    check("etcd: without two of three members nothing changes", all(
        g.epoch(h) == before for g in (run.near, run.far) for h in g.hosts))
    for i in 0, 1:
        run.etcd.start(i)
    run.changes(n)
    run.settled()
    check("etcd: when they are back, epochs go on", True)


def test_kill_engine(run, n):
    name = run.leader()
    term = ask(name, "show")["term"]
    run.engines[name].end(signal.SIGKILL)
    other, = set(run.engines) - {name}

    def later():
        now = ask(other, "show")
        return now["leads"] and now["term"] > term

    check("etcd: another engine leads when the leader is killed, in a later term",
          wait_for("a later term", later))
    run.changes(n)
    run.settled()
    run.engines[name] = run.engine(name)
    wait_for("the first one stands by",
             lambda: ask(name, "show")["leader"] == other)


def test_fencing(run, n):
    """
    A leader is stopped with a plan under way, past its lease. What it then
    tries is refused. It may also hear first that it is not leader any more, so
    this is done until it did try.
    """
    fenced = rounds = 0
    while not fenced and rounds < 20:
        rounds += 1
        name = run.leader()
        old = run.engines[name]
        stats = ask(name, "show")["stats"]
        before = stats["fenced"]
        run.change()
        wait_for("the event", lambda: ask(name, "show")["stats"]["events"] !=
                 stats["events"])
        old.p.send_signal(signal.SIGSTOP)
        wait_for("somebody else's term", lambda: (
            run.etcd.get("engine/0/leader") not in ("", name)))
        run.changes(1)
        old.p.send_signal(signal.SIGCONT)
        wait_for("the old leader knows",
                 lambda: not ask(name, "show")["leads"])
        fenced = ask(name, "show")["stats"]["fenced"] - before
    run.changes(n)
    run.settled()
    check(f"etcd: a leader stopped past its lease is refused ({rounds} rounds)",
          fenced > 0)


def test_compaction(run, n):
    """Hosts are away while all that they would have to hear is compacted."""
    run.far.process.p.send_signal(signal.SIGSTOP)
    run.changes(n)
    run.settled(run.near)
    # no further than the record has come, which would not go on otherwise
    run.etcd.put("mark", "1")
    mark = json.loads(run.etcd.ctl("get", "/srpol/mark", "-w", "json"))
    revision = mark["kvs"][0]["mod_revision"]
    wait_for("the record", lambda: newest(recorded()) >= revision)
    run.etcd.compact(revision)
    # whichever member they watched: their watches break
    for i in range(3):
        run.etcd.members[i].end(signal.SIGKILL)
        run.etcd.start(i)
        run.etcd.ctl("put", "warm", "2")
    run.far.process.p.send_signal(signal.SIGCONT)
    run.settled()
    check("etcd: hosts that were away during a compaction come up to date",
          True)


def text_of(lines):
    return "".join(json.dumps(x, sort_keys=True, separators=(",", ":")) + "\n"
                   for x in lines)


def forge(run, change):
    """
    A head that looks newer than the one in force, with something wrong: @change gets
    it, the lines of its index, and those of the pages by number, and says which of
    these it changed.
    """
    def lines(key):
        return [json.loads(x) for x in run.etcd.get(key).splitlines()]

    head = json.loads(run.etcd.get("plan/0/head"))
    index = lines(f"index/0/{head['epoch']:010}")
    pages = {x["page"]: lines(f"index/0/{x['epoch']:010}/{x['page']:05}")
             for x in index[1:]}
    head["epoch"] += 1
    index[0]["epoch"] += 1
    changed = change(head, index, pages) or ()
    for line in index[1:]:
        if line["page"] in changed:
            text = text_of(pages[line["page"]])
            line["epoch"] = head["epoch"]
            line["digest"] = digest(text.encode())
            run.etcd.put(f"index/0/{head['epoch']:010}/{line['page']:05}", text)
    if not head.pop("keep", False):
        head["digest"] = digest(text_of(index).encode())
    run.etcd.put(f"index/0/{head['epoch']:010}", text_of(index))
    run.etcd.put("plan/0/head", json.dumps(head))


def counts(run, what):
    return {h: s[what] for g in (run.near, run.far) for h, s in g.stats().items()}


def counted_by_all(run, what, before):
    """Once, but for a key that had to be written again as etcd did not answer."""
    def all_did():
        now = counts(run, what)
        return all(now[h] > before[h] for h in HOSTS)
    return wait_for(what, all_did)


def test_lies(run):
    run.settled()
    # nobody repairs it meanwhile
    for engine in run.engines.values():
        engine.p.send_signal(signal.SIGSTOP)
        stopped(engine)
    now = run.settled()
    old = run.etcd.get("plan/0/head")

    def bad_chunk(head, index, pages):
        for entry in (x for page in pages.values() for x in page[1:]):
            key = f"plan/0/{entry['epoch']:010}/{entry['leaf']}"
            text = run.etcd.get(key).rstrip("\n") + "\n"
            entry["epoch"] = head["epoch"]
            entry["digest"] = digest(b"another")
            run.etcd.put(f"plan/0/{head['epoch']:010}/{entry['leaf']}",
                         text.replace("\"weights\":\"f", "\"weights\":\"e"))
        return pages

    def bad_page(head, index, pages):
        for line in index[1:]:
            old = f"index/0/{line['epoch']:010}/{line['page']:05}"
            line["epoch"] = head["epoch"]
            line["digest"] = digest(b"another")
            run.etcd.put(f"index/0/{head['epoch']:010}/{line['page']:05}",
                         run.etcd.get(old))

    def other_page(head, index, pages):
        """What belongs to other leaves, with a digest that is right."""
        for page in pages.values():
            page[0]["page"] += 1
        return pages

    def bad_index(head, index, pages):
        head["keep"] = True

    def bad_topology(head, index, pages):
        index[0]["topology"] = digest(b"another")

    for name, what, change in (
            ("chunk", "bad_chunk", bad_chunk), ("page", "bad_index", bad_page),
            ("page of others", "bad_index", other_page),
            ("index", "bad_index", bad_index),
            ("topology", "topology", bad_topology)):
        before = counts(run, what)
        forge(run, change)
        counted_by_all(run, what, before)
        check(f"etcd: {name}: refused by all hosts, and counted as {what}", all(
            g.epoch(h) == now for g in (run.near, run.far)
            for h in g.hosts))
        run.etcd.put("plan/0/head", old)

    one = {**json.loads(old), "version": 1, "seen": {}}
    for head in {"epoch": 1}, one:
        before = counts(run, "bad_head")
        run.etcd.put("plan/0/head", json.dumps(head))
        counted_by_all(run, "bad_head", before)
    check("etcd: bad_head: what is none, and one of version 1, are refused by all "
          "hosts, and counted", True)

    before = counts(run, "replayed")
    head = json.loads(old)
    head["epoch"] -= 1
    run.etcd.put("plan/0/head", json.dumps(head))
    counted_by_all(run, "replayed", before)
    check("etcd: replayed: refused by all hosts, and counted", all(
        g.epoch(h) == now for g in (run.near, run.far) for h in g.hosts))

    for engine in run.engines.values():
        engine.p.send_signal(signal.SIGCONT)
    run.leader()
    run.change()
    wait_for("a plan over the lies", lambda: run.epoch() > now + 1)
    run.settled()
    check("etcd: the engine writes over what others wrote", True)


class Liar(http.server.ThreadingHTTPServer):
    """Stands between etcd and others, and answers as it is told to."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, etcd):
        super().__init__(("127.0.0.1", 0), LiarHandler)
        self.etcd = etcd
        self.lie = None
        self.told = 0
        self.times = []
        self.streams = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def say(self, lie):
        self.lie, self.told, self.times = lie, 0, []
        for stream in list(self.streams):
            try:
                stream.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def handle_error(self, request, client_address):
        pass


class LiarHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, response):
        """A watch: line by line."""
        self.server.streams.add(self.connection)
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in response:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        lie = self.server.lie
        etcd = http.client.HTTPConnection(self.server.etcd)
        if lie and lie.only and self.path != lie.only:
            lie = None
        if lie and (self.path == "/v3/watch" or not lie.truth):
            self.server.told += 1
            self.server.times.append(time.monotonic())
            lie.tell(self, b"{}")
            return
        etcd.request("POST", self.path, body)
        response = etcd.getresponse()
        if self.path == "/v3/watch":
            self.stream(response)
            return
        truth = response.read()
        if lie:
            self.server.told += 1
            lie.tell(self, truth)
        else:
            self.answer(response.status, truth)


class Lie:
    """@truth: it is made of what etcd says; @only: about this path."""

    def __init__(self, name, tell, truth=False, only=None):
        self.name, self.tell, self.truth = name, tell, truth
        self.only = only


def twist(change):
    """A lie about each key of a true answer."""
    def tell(handler, truth):
        try:
            answer = json.loads(truth)
        except ValueError:
            answer = {}
        kvs = answer.get("kvs", [])
        for r in answer.get("responses", []):
            kvs += r.get("response_range", {}).get("kvs", [])
        for kv in kvs or answer.setdefault("kvs", [{}]):
            change(kv)
        handler.answer(200, json.dumps(answer).encode())
    return tell


def slowly(handler, _):
    """Half of an answer, and then nothing for longer than anybody waits."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b"{")
    handler.wfile.flush()
    handler.connection.settimeout(30)
    handler.connection.recv(1)


BLANK = b" " * (1 << 20)


def hugely(handler, _):
    """More than any answer has; who does not want it hangs up."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 30))
    handler.end_headers()
    for _ in range(1 << 10):
        handler.wfile.write(BLANK)


def endlessly(handler, _):
    """The same, without saying how much it is; and no end of a line in it."""
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    for _ in range(1 << 10):
        handler.wfile.write(BLANK)


LIES = [
    Lie("nothing", lambda h, _: h.answer(200, b"{}")),
    Lie("null", lambda h, _: h.answer(200, b"null")),
    Lie("no JSON", lambda h, _: h.answer(200, b"<html>Sign in</html>")),
    Lie("other types", lambda h, _: h.answer(200, json.dumps({
        "header": ["cluster_id"], "kvs": "x", "responses": {"a": 1},
        "result": 7, "ID": {}}).encode())),
    Lie("numbers that are none", lambda h, _: h.answer(200, json.dumps({
        "header": {"cluster_id": "x", "revision": "-1"}, "ID": "-1",
        "succeeded": "true"}).encode())),
    Lie("an error", lambda h, _: h.answer(500, b'{"error": 3, "code": "y"}')),
    Lie("values that are no base64", twist(lambda kv: kv.update(
        value=base64.b64encode(b"A" * 300000).decode() + "!")), True),
    Lie("keys that nobody asked for", twist(lambda kv: kv.update(
        key=base64.b64encode(b"/liar/x").decode())), True),
    Lie("keys of others", twist(lambda kv: kv.update(
        key=base64.b64encode(b"x").decode())), True),
    Lie("half of an answer", slowly),
    Lie("an endless answer", hugely),
    Lie("an endless answer that does not say so", endlessly),
]


def test_garbage(etcd):
    """Answers that etcd does not give: a proxy's, say, or somebody else's."""
    liar = Liar(etcd.endpoints[0][len("http://"):])
    store = {"kind": "etcd", "prefix": "/liar/",
             "endpoints": [f"http://127.0.0.1:{liar.server_port}"]}

    engine = start_engine("garbage", store)
    hosts = Hosts("garbage-hosts", HOSTS[:2], store, "garbage")
    etcd.ctl("put", "/liar/job/t/all", stdin=JOB)
    wait_for("a plan", lambda: all(hosts.last(h)["chunks"]
                                   for h in hosts.hosts))
    for number, lie in enumerate(LIES):
        liar.say(lie)
        dead = None
        try:
            wait_for("lies", lambda: engine.p.poll() is not None or
                     hosts.process.p.poll() is not None or liar.told >= 8)
            liar.say(None)
            before = hosts.epoch("h0")
            hosts.tell(f"report h0 leaf0.0 spine0.0 {(30 - 2 * number) * 10 ** 10}")
            wait_for("a plan after that", lambda: all(
                hosts.epoch(h) > before for h in hosts.hosts))
        except (TimeoutError, OSError) as why:
            dead = f"{why}: engine {engine.p.poll()}, hosts " \
                   f"{hosts.process.p.poll()}"
        check(f"etcd answers {lie.name}: nobody dies, all goes on after it",
              not dead, dead)
        if dead:
            return
    with open(f"{OUT}/garbage.log") as log:
        check("etcd answers an endless answer: it is read to the limit, and told as such",
              "an answer of more than 64 MiB" in log.read())
    stats = hosts.stats().values()
    check("etcd answers garbage: it is never taken for another store",
          all(s["resets"] == 0 and s["replayed"] == 0 for s in stats), stats)
    planned = {h: [bool(a["chunks"]) for a in hosts.applied()
                   if a["host"] == h] for h in hosts.hosts}
    check("etcd answers garbage: the engine never planned without the job",
          all(p == sorted(p) for p in planned.values()), planned)
    check("etcd answers garbage: all end as they should",
          engine.end() == 0 and hosts.end() == 0)
    liar.shutdown()


def test_unwritten(etcd):
    """Acknowledgements that etcd does not take, with a lease that is long."""
    liar = Liar(etcd.endpoints[0][len("http://"):])
    store = {"kind": "etcd", "prefix": "/unwritten/",
             "endpoints": etcd.endpoints}
    # an election is an epoch, and it is one that is deleted which is waited for
    engine = start_engine("unwritten", store, **{"lease-s": 60})
    hosts = Hosts("unwritten-hosts", HOSTS[:1], {
        **store, "endpoints": [f"http://127.0.0.1:{liar.server_port}"]},
        "unwritten", **{"lease-s": 600})

    def acked():
        return json.loads(etcd.ctl("get", "--print-value-only",
                                   "/unwritten/ack/0/h0"))["epoch"]

    def refused_for_a_while():
        """Seconds between attempts to write that an epoch without the job is there."""
        etcd.ctl("put", "/unwritten/job/t/all", stdin=JOB)
        wait_for("acknowledgement", lambda: hosts.last("h0")["chunks"]["leaf0.0"] and
                 acked() == hosts.epoch("h0"))
        before = hosts.epoch("h0")
        liar.say(Lie("no", lambda h, _: h.answer(503, b'{"error": "no"}'),
                     only="/v3/kv/txn"))
        etcd.ctl("del", "/unwritten/job/t/all")
        wait_for("the next epoch", lambda: hosts.epoch("h0") > before)
        wait_for("six attempts", lambda: liar.told >= 6)
        # the first may be followed by one at once, as watches began anew
        times = liar.times[1:6]
        return [b - a for a, b in zip(times, times[1:])]

    try:
        # a pause of this program makes one gap longer and the next one shorter
        for _ in range(5):
            gaps = refused_for_a_while()
            good = all(gap >= least for gap, least in
                       zip(gaps, (0.1, 0.2, 0.4, 0.8)))
            before = hosts.stats()["h0"]["retries"]
            liar.say(None)
            wait_for("acknowledgement", lambda: acked() == hosts.epoch("h0"))
            if good:
                break
        check("an acknowledgement that is not taken is written again, later each time",
              good, gaps)
        check("it is written long before the lease is a third over",
              before >= 5, hosts.stats())
    except TimeoutError as why:
        check(f"an acknowledgement that is not taken is written again: {why}",
              False, f"{liar.told} attempts")
    check("unwritten: all end as they should",
          engine.end() == 0 and hosts.end() == 0)
    liar.shutdown()


def test_all_gone(run, n):
    for member in run.etcd.members:
        member.end(signal.SIGKILL)
    run.change()
    for i in range(3):
        run.etcd.start(i)
    run.changes(n)
    run.settled()
    check("etcd: when all of etcd was gone, epochs go on", True)


def test_etcd():
    run = Run()
    n = max(1, EPOCHS // 8)
    test_kill_etcd(run, n)
    test_two_gone(run, n)
    test_kill_engine(run, n)
    test_fencing(run, n)
    test_compaction(run, n)
    test_all_gone(run, n)
    test_lies(run)
    while run.epoch() < EPOCHS:
        run.changes(1)
    run.settled()
    run.record.complete()
    check_history([run.near, run.far])
    check("etcd: hosts end as they should", run.near.end() == 0 and
          run.far.end() == 0)
    check("etcd: engines end as they should", all(
        e.end() == 0 for e in run.engines.values()))
    test_unwritten(run.etcd)
    test_garbage(run.etcd)


def main(tests):
    print("KTAP version 1")
    for old in os.listdir(OUT):
        os.remove(f"{OUT}/{old}")
    # run.sh gives us a network namespace of our own
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False,
                   stderr=subprocess.DEVNULL)
    topology()
    try:
        for test in tests:
            try:
                test()
            except (TimeoutError, LookupError, OSError,
                    ValueError) as why:
                check(f"{test.__name__}: {why}", False, f"logs in {OUT}")
    finally:
        for process in reversed(processes):
            process.end(signal.SIGKILL)
        subprocess.run(["rm", "-rf", RUN], check=False)
    print(f"1..{number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main((test_start, test_end, test_silence, test_disk, test_damaged,
                   test_lease, test_lease_end, test_malformed, test_embedded,
                   test_etcd)))
