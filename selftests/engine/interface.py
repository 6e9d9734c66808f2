#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Documentation/interface: schemas against what programs really say and take, and the
same messages as protobuf, by protoc, Python's protobuf and libprotobuf-c. What the
engine and hosts say is read from their store; what srpold takes is asked of its own
code (demandd), what the engine takes of srpol-fabricd. A message with one member
changed has to be refused if the schema says so, and taken if it does not, but for
what no schema can know, such as names of hosts.
"""

import copy
import glob
import importlib.util
import ipaddress
import json
import os
import socket
import subprocess
import sys
import threading
import time

import jsonschema
from google.protobuf import json_format

import engine as e
import functions
from engine import BUILD, HOSTS, RUN, TOP, ask, check, wait_for

INTERFACE = f"{TOP}/Documentation/interface"
KV = f"{TOP}/Documentation/examples/kv_transfer.py"
PATHS = f"{TOP}/Documentation/examples/watch_paths.py"
STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
ODD = [None, True, -1, 0, 1, 1.5, 1 << 53, "", "x", "a/b", [], {}, [1], [{}]]
# Names of members of pairs, which are arrays in JSON.
PAIRS = {("Load", "links"): ("link", "kbps"),
         ("Index", "limits"): ("color", "rate"),
         ("Flows", "flows"): ("path", "flows")}
seen = {}		# messages that were really said or taken, by name


def schema(name):
    with open(f"{INTERFACE}/{name}.json", encoding="ascii") as f:
        return json.load(f)


NAMES = sorted(os.path.basename(f)[:-5]
               for f in glob.glob(f"{INTERFACE}/*.json"))
VALID = {n: jsonschema.Draft7Validator(schema(n)) for n in NAMES}


def good(name, value):
    """A message that a program said or took."""
    errors = [f"{'/'.join(map(str, x.absolute_path))}: {x.message}"
              for x in VALID[name].iter_errors(value)]
    if errors:
        check(f"{name} is what its schema says", False, (errors, value))
    else:
        seen.setdefault(name, []).append(value)
    return value


def talk(path, line):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(30)
        s.connect(path)
        s.sendall(line.encode() + b"\n")
        return json.loads(s.makefile().readline())


def mutations(message, at):
    """The message with one member of what is at a place changed."""
    def find(m):
        for key in at:
            m = m[key]
        return m
    for key in [*find(message), "unknown"]:
        for odd in [*ODD, "gone"]:
            m = copy.deepcopy(message)
            if odd == "gone":
                find(m).pop(key, None)
            else:
                find(m)[key] = odd
            yield (*at, key, odd), m


def compare(name, message, places, take, known):
    """
    @take: says why a message is refused, None if it is taken; @known: words of
    reasons that schemas cannot know
    """
    wrong, n, refused = [], 0, 0
    for at in places:
        for what, m in mutations(message, at):
            n += 1
            valid, why = VALID[name].is_valid(m), take(m)
            refused += why is not None
            if valid != (why is None) and not (
                    valid and any(k in why for k in known)):
                wrong.append((what, valid, why))
            elif why is None:
                good(name, m)
    check(f"{name}: of {n} that were changed {refused} are refused, as its schema says",
          not wrong and 0 < refused < n, wrong[:5])


# --- srpold

def test_srpold():
    path = f"{RUN}/demandd.sock"
    demandd = e.Process("demandd", f"{BUILD}/selftests/engine/demandd",
                        f"{RUN}/topology.json", path)
    wait_for("demandd", lambda: os.path.exists(path))

    def take(m):
        answer = good("DemandResponse", talk(path, json.dumps(m)))
        return answer.get("error")

    whole = {"version": 1, "request": "demands", "owner": "rank0", "demands": [
        {"src": "h0", "dst": "fd00:2:1::1", "bytes": 1 << 30, "in-ms": 5,
         "for-ms": 1000, "period-ms": 100, "job": "train"},
        {"src": "h0", "dst": "h2", "bytes": 1}]}
    check("DemandRequest: a good one is taken", take(good(
        "DemandRequest", whole)) is None)
    # the frame is the request server's, which knows requests by name
    compare("DemandRequest", whole, [("demands", 0), ("demands", 1), ()], take,
            ("no host or address", "no job"))
    command = [f"{BUILD}/bin/srpol", "engine", "demand"]
    subprocess.run([*command, "add", "mine", "src", "h0", "dst", "h3", "bytes",
                    "77", "in", "5s", "for", "10s", "every", "250ms", "socket",
                    path], check=True)
    shown = subprocess.run([*command, "show", "socket", path], check=True,
                           text=True, capture_output=True).stdout
    check("by the command likewise, and shown with its period", any(
        "demand mine" in x and "bytes 77" in x and x.endswith("every 250ms")
        for x in shown.splitlines()), shown)
    demandd.end()


class Between(threading.Thread):
    """Takes what clients say on a socket, and gives it to another one."""

    def __init__(self, path, to):
        super().__init__(daemon=True)
        self.to, self.requests = to, []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        self.start()

    def run(self):
        while True:
            with self.socket.accept()[0] as s:
                line = s.makefile().readline().strip()
                self.requests.append(good("DemandRequest", json.loads(line)))
                answer = good("DemandResponse", talk(self.to, line))
                try:
                    s.sendall(json.dumps(answer).encode() + b"\n")
                except OSError:
                    pass	# who asked did not wait for it


def full_socket(path):
    """Of a srpold that stopped; who connects is never accepted."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(0)
    kept = [server]
    while True:
        s = socket.socket(socket.AF_UNIX)
        s.setblocking(False)
        kept.append(s)
        try:
            s.connect(path)
        except BlockingIOError:
            return kept


class Hostile(threading.Thread):
    """
    Answers a client after the other with something else, and those that come after
    them as the last, until it is enough; then no one. @sent: parts of each answer
    that a client stayed for.
    """

    def __init__(self, path, answers):
        super().__init__(daemon=True)
        self.answers, self.sent = answers, []
        self.enough = False
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        self.start()

    def run(self):
        self.socket.settimeout(0.1)
        while not self.enough:
            try:
                s = self.socket.accept()[0]
            except TimeoutError:
                continue
            self.sent.append(0)
            with s:
                try:
                    s.makefile().readline()
                    for part in self.answers[min(len(self.sent), len(self.answers)) - 1]:
                        s.sendall(part)
                        self.sent[-1] += 1
                except OSError:
                    pass
        self.socket.close()


def drops():
    """An answer that does not come to its end for a minute."""
    for _ in range(600):
        time.sleep(0.1)
        yield b" "


def kv_command(path, *words):
    """Exit status and seconds of the example as a command."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, KV, "h0", "h2", "4096", "--window", "20",
                           "--socket", path, *words], check=False, timeout=60,
                          stderr=subprocess.PIPE, text=True)
    return done.returncode, time.monotonic() - began, done.stderr


def test_kv_hostile(kv, between):
    """Whatever it is told, and by whom, the next transfer is announced."""
    path = f"{RUN}/kv-hostile.sock"
    answers = [[b"5\n"], [b"null\n"], [b"[1]\n"], [b"\xff\n"], [b'{"vers'], [],
               [b"[" * 60000 + b"\n"], drops(), [b"x" * 1000000] * 1000,
               [b'{"version": 1, "reply": {"demands": 1}}\n']]
    hostile = Hostile(path, answers)
    told = kv.Transfers(path, patience=0.5, retry=0.05)
    told.begin("h0", "h2", 7)
    try:
        wait_for("an answer that is one", lambda: told.taken)
    finally:
        hostile.enough = True
        hostile.join(e.PATIENCE)
        # of the two without an end: parts are a tenth of a second, and a megabyte
        check("kv: answers that are none do not end its thread, nor keep it",
              told.thread.is_alive() and told.taken == 1 and
              len(hostile.sent) >= len(answers) and
              hostile.sent[7] < 150 and hostile.sent[8] < 1000,
              (told.taken, told.refused, told.error, hostile.sent))
    told.close(wait=5)

    at = len(between.requests)
    # for longer than any pause, so that nothing is told twice
    odd = kv.Transfers(f"{RUN}/kv.sock", patience=10)
    odd.begin("h0", "h2", 7, window=float("inf"))
    odd.begin("h0", "h2", 7, start=float("inf"))
    odd.begin("h0", "h2", 7, start=-5, window=1e300)
    odd.begin("h0", ipaddress.ip_address("fd00:3:1::1"), 1e6)
    for wrong in ({"start": float("nan")}, {"window": float("nan")},
                  {"size": float("nan")}, {"size": float("inf")}):
        try:
            odd.begin(**{"src": "h0", "dst": "h2", "size": 7, **wrong})
            check(f"kv: {wrong} is refused", False)
        except (ValueError, OverflowError):
            pass
    odd.begin("h0", "h3", 8)
    try:
        wait_for("all of them", lambda: odd.taken == 5)
    finally:
        said = [(round(d["in-ms"] / 60000), round(d["for-ms"] / 60000),
                 d["dst"], d["bytes"]) for r in between.requests[at:]
                for d in r["demands"]]
        day = 1440
        check("kv: times that have no end are a day", said == [
            (0, day, "h2", 7), (day, 1, "h2", 7), (0, day, "h2", 7),
            (0, 1, "fd00:3:1::1", 1000000), (0, 1, "h3", 8)], (said, odd.error))
    odd.close(wait=5)


def test_kv():
    """Documentation/examples/kv_transfer.py, as a module and as a command."""
    spec = importlib.util.spec_from_file_location("kv_transfer", KV)
    kv = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kv)
    behind, path = f"{RUN}/kv-demandd.sock", f"{RUN}/kv.sock"
    demandd = e.Process("kv-demandd", f"{BUILD}/selftests/engine/demandd",
                        f"{RUN}/topology.json", behind)
    wait_for("demandd", lambda: os.path.exists(behind))

    def known():
        return talk(behind, '{"version": 1, "request": "demands-show"}')["reply"]

    early = kv.Transfers(path, patience=10, retry=0.1)
    first = early.begin("h0", "fd00:3:1::1", 1 << 30, start=600, window=20)
    second = early.begin("h1", "h2", 7)
    never = early.begin("h1", "h3", 9)
    never.end()
    wait_for("an attempt", lambda: early.error)
    between = Between(path, behind)
    wait_for("both", lambda: early.taken == 2)
    said = {r["owner"]: r["demands"] for r in between.requests}
    demand = said[first.owner][0]
    # who announced them is here, which is how srpold could come
    check("kv: transfers are told when srpold comes, nobody waited for that",
          set(said) == {first.owner, second.owner} and
          (demand["src"], demand["dst"], demand["bytes"]) ==
          ("h0", "fd00:3:1::1", 1 << 30) and
          500000 < demand["in-ms"] < 600000 and
          19900 <= demand["for-ms"] <= 20000, between.requests)
    check("kv: srpold knows them", len(known()) == 2, known())
    first.end()
    wait_for("its end", lambda: early.taken == 3)
    check("kv: one that is over is taken back, the other is not",
          between.requests[-1]["demands"] == [] and
          [d["owner"] for d in known()] == [second.owner], known())
    early.begin("nobody", "h2", 7)
    wait_for("refusal", lambda: early.refused == 1)
    check("kv: a host that is not there spoils nothing", len(known()) == 1 and
          "no host" in early.error, early.error)
    second.end()
    early.close(wait=30)
    check("kv: at the end nothing is left", known() == [] and
          not early.thread.is_alive(), known())

    def in_time(*words):
        """The command, and what it told; again if srpold was too slow for it."""
        for _ in range(8):
            wait_for("nothing", lambda: known() == [])
            at = len(between.requests)
            status = kv_command(path, *words)
            if not status[2]:
                break
        return status, between.requests[at:]

    status, requests = in_time("--", "sh", "-c", "sleep 0.5; exit 3")
    check("kv: the command tells, runs another one and takes it back",
          status[0] == 3 and not status[2] and [
              [d["bytes"] for d in r["demands"]] for r in requests] == [[4096], []],
          (status, requests))
    status, _ = in_time()
    check("kv: alone it leaves the demand to its window", status[0] == 0 and
          [d["bytes"] for d in known()] == [4096], (status, known()))
    test_kv_hostile(kv, between)
    demandd.end()

    full = f"{RUN}/kv-full.sock"
    kept = full_socket(full)
    for what, where in ("no socket", f"{RUN}/kv-none.sock"), ("a full one", full):
        runs = kv_command(where, "--", "sh", "-c", "sleep 0.5; exit 3")
        alone = kv_command(where)
        check(f"kv: with {what} the command runs all the same, and it is said",
              runs[0] == 3 and alone[0] == 1 and where in runs[2] and
              max(runs[1], alone[1]) < 20, (runs, alone))
        lost = kv.Transfers(where)
        began = time.monotonic()
        for _ in range(2000):
            lost.begin("h0", "h2", 1)
        lost.close()
        took = time.monotonic() - began
        lost.close(wait=30)
        # two thousand times any wait would be longer than a pause of the machine
        check(f"kv: with {what} nobody waits, and what is too much is dropped",
              took < 20 and lost.dropped >= 2000 - kv.WAITING_MAX - 1 and
              lost.taken == 0 and not lost.thread.is_alive(),
              (took, lost.dropped))
    for s in kept:
        s.close()


class Watcher:
    """A client that watches, and keeps what it is told."""

    def __init__(self, path, *requests):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.settimeout(60)
        self.lines = self.socket.makefile()
        self.events = []
        for request in requests:
            self.say(request)

    def say(self, request):
        self.socket.sendall(json.dumps({"version": 1, **request}).encode() + b"\n")

    def until(self, what, condition):
        """Reads up to an event for which that is true."""
        while True:
            line = self.lines.readline()
            if not line:
                raise AssertionError(f"no more is told, before {what}")
            event = json.loads(line)
            if "event" not in event:
                good("DemandResponse" if "demands" in event.get("reply", {}) else
                     "WatchResponse", event)
                continue
            self.events.append(good("WatchEvent", event))
            if condition(event):
                return event

    def since(self, at, what, condition):
        """Likewise, of the events from the one with that number on."""
        for event in self.events[at:]:
            if condition(event):
                return event
        return self.until(what, condition)

    def close(self):
        self.lines.close()
        self.socket.close()


def test_watch_paths(path, says):
    """Documentation/examples/watch_paths.py, as a module and as a command."""
    spec = importlib.util.spec_from_file_location("watch_paths", PATHS)
    watch_paths = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(watch_paths)
    paths = watch_paths.Paths(path, retry=0.05)
    wait_for("the state", lambda: len(paths.told) == 1)
    with open(f"{e.OUT}/watch_paths", "w+", encoding="ascii") as out:
        command = e.Process("watch_paths", sys.executable, PATHS, "--socket", path,
                            stdout=out)
        wait_for("a line", lambda: out.seek(0) == 0 and out.read())
        before = paths.usable("h1"), paths.usable("h9")
        says(1, 2)
        wait_for("the failure", lambda: paths.usable("h1") < 1)
        says(1, 1)
        wait_for("the recovery", lambda: paths.usable("h1") == 1)
        wait_for("its line", lambda: out.seek(0) == 0 and "recovery" in out.read())
        out.seek(0)
        check("watch_paths.py: it knows how many paths are usable, and tells it",
              before == (1, 1) and out.read().splitlines() == [
                  "h0 to h1: 8 of 8 paths",
                  "h0 to h1: 7 of 8 paths without h0-spine0.0-h1 because of failure",
                  "h0 to h1: 8 of 8 paths because of recovery"], before)
        command.end()
    lost = watch_paths.Paths(f"{RUN}/nobody.sock", retry=0.05)
    wait_for("an attempt", lambda: lost.error)
    check("watch_paths.py: without srpold nothing is known", lost.usable("h1") == 1 and
          "nobody.sock" in lost.error, lost.error)


def test_watch_command(path, says):
    """srpol engine watch, as text and as JSON."""
    command = [f"{BUILD}/bin/srpol", "engine", "watch"]
    with open(f"{e.OUT}/watch_text", "w+", encoding="ascii") as out, \
         open(f"{e.OUT}/watch_json", "w+", encoding="ascii") as lines:
        text = e.Process("watch_text", *command, "every", "100ms", "socket", path,
                         stdout=out)
        plain = e.Process("watch_json", command[0], "-j", *command[1:], "socket", path,
                          stdout=lines)

        def said(*words):
            out.seek(0)
            shown = out.read()
            return all(w in shown for w in words)

        wait_for("text of the state", lambda: said(
            " paths h0 to h1 rail 0 color 100 endpoint fd00:2:1::1 by engine usable 8 "
            "fallback plain-ip\n\t path 1 h0-spine0.0-h1 up weight 1 share 13% segs ",
            " qps job train color 1000\n\tqp 17 dst :: path 1\n", " plan host h0 epoch ",
            " links total 18 down 0 bad 0\n\tlink h0-leaf0.0 up capacity ",
            " measured h0 to h1 rail 0 color 100 endpoint fd00:2:1::1\n"
            "\tpath 1 loss 0ppm ce 0ppm cnp 0ppm rtt 0.040ms min 0.030ms queue "))
        says(1, 2)
        wait_for("text of a failure", lambda: said(
            " usable 7 fallback plain-ip because failure\n"
            "\tchanged path 1 h0-spine0.0-h1 down (probes-lost)\n",
            "\n\tmoved qp 17 dst :: from 1 to 2 because "))
        says(1, 1)
        wait_for("text of the recovery", lambda: said(" because recovery\n"))
        lines.seek(0)
        events = [json.loads(x) for x in lines.read().splitlines(True)
                  if x.endswith("\n")]
        check("srpol engine watch: text has what is told, and JSON is as it came",
              {good("WatchEvent", x)["event"] for x in events} ==
              {"paths", "qps", "plan", "links"}, events)
        text.end()
        plain.end()
    refused = subprocess.run([*command, "every", "5ms", "socket", path], check=False,
                             text=True, capture_output=True)
    for options in [], ["-j"]:
        with open("/dev/full", "w", encoding="ascii") as full:
            unwritten = subprocess.run(
                [command[0], *options, *command[1:], "socket", path], check=False,
                text=True, stdout=full, stderr=subprocess.PIPE, timeout=e.PATIENCE)
        check(f"srpol engine watch {options}: it ends when it cannot write, and says so",
              unwritten.returncode == 2 and
              "output could not be written" in unwritten.stderr, unwritten)
    check("srpol engine watch: what is refused is said", refused.returncode == 2 and
          'srpold: "every-ms" is 0 or a number from 100' in refused.stderr, refused)


def announce(owner, *pairs):
    return {"request": "demands", "owner": owner, "demands": [
        {"src": src, "dst": dst, "bytes": 1 << 20} for src, dst in pairs]}


def test_watch_other_topology():
    """
    A destination that ended, which one who does not read was not told, is there again
    after a reload, at another place among those of the engine.
    """
    path, file = f"{RUN}/otherd.sock", f"{RUN}/other.json"
    with open(f"{RUN}/topology.json", encoding="ascii") as f:
        topology = json.load(f)
    with open(file, "w", encoding="ascii") as f:
        json.dump(topology, f)
    demandd = e.Process("otherd", f"{BUILD}/selftests/engine/demandd", file, path)
    wait_for("demandd", lambda: os.path.exists(path))

    def tell(m):
        return talk(path, json.dumps({"version": 1, **m}))["reply"]

    far = announce("rank0", ("h0", "h3"))
    slow = Watcher(path, far, {"request": "watch", "every-ms": 100})
    slow.until("its state", lambda x: x["event"] == "measured")
    wait_for("that it is behind", lambda: tell({"request": "sizes"})["unread"])
    tell(announce("rank0"))
    # the end is noted before any other demands are
    beside = Watcher(path, announce("rank1", ("h0", "h2")), {"request": "watch"})
    beside.until("its state", lambda x: x["event"] == "links")
    topology["hosts"] = [h for h in topology["hosts"] if h["name"] in ("h0", "h3")]
    with open(file, "w", encoding="ascii") as f:
        json.dump(topology, f)
    tell({"request": "reload", "hosts": 1})
    beside.until("the end", lambda x: x["event"] == "end")
    tell(far)
    new = beside.until("what is there again", lambda x: x["event"] == "paths")
    told = slow.until("it, too", lambda x: x["event"] == "paths")
    slow.until("what is measured", lambda x: x["event"] == "measured" and
               x["time_us"] > told["time_us"])
    check("watch: a destination that is there again in another topology",
          new["dst"] == told["dst"] == "h3" and new["paths"] == told["paths"], (new, told))
    for watcher in slow, beside:
        watcher.close()
    check("watch: srpold's code ends after another topology", demandd.end() == -15)


def test_watch():
    path = f"{RUN}/watchd.sock"
    demandd = e.Process("watchd", f"{BUILD}/selftests/engine/demandd",
                        f"{RUN}/topology.json", path)
    wait_for("demandd", lambda: os.path.exists(path))

    def says(number, state):
        talk(path, json.dumps({"version": 1, "request": "module-says",
                               "path": number, "state": state}))

    def sizes():
        return talk(path, '{"version": 1, "request": "sizes"}')["reply"]

    def take(m):
        return good("WatchResponse", talk(path, json.dumps(m))).get("error")

    compare("WatchRequest", {"version": 1, "request": "watch", "owner": "rank0",
                             "every-ms": 100}, [()], take, ())
    wait_for("that nobody watches", lambda: sizes()["kept"] == 0)

    # state first, then what changes
    first = Watcher(path, announce("rank0", ("h0", "fd00:2:1::1")),
                    {"request": "watch", "every-ms": 100})
    paths = first.until("paths", lambda x: x["event"] == "paths")
    kinds = {"plan", "paths", "qps", "links", "measured"}
    first.until("all kinds", lambda x: kinds == {y["event"] for y in first.events})
    share = int(100 / len(paths["paths"]) + 0.5)
    check("watch: the state first: all paths, each with its share",
          paths["dst"] == "h1" and paths["changes"] == paths["because"] == [] and
          paths["usable"] == len(paths["paths"]) > 1 and
          {(x["state"], x["percent"]) for x in paths["paths"]} == {("up", share)},
          paths)
    down = paths["paths"][1]["path"]
    at = len(first.events)
    says(down, 2)
    now = first.since(at, "the failure", lambda x: x["event"] == "paths")
    check("watch: a path is down, and why; others have its share",
          [(x["path"], x["state"], x["reason"]) for x in now["changes"]] ==
          [(down, "down", "probes-lost")] and now["because"] == ["failure"] and
          [x["percent"] for x in now["paths"] if x["path"] == down] == [0] and
          now["usable"] == paths["usable"] - 1, now)
    moved = first.since(at, "a QP", lambda x: x["event"] == "qps" and
                        x["moved"])["moved"]
    check("watch: a QP moved", [(x["qp"], x["from"], x["path"]) for x in moved] ==
          [(17, 1, 2)], moved)
    first.since(at, "an epoch", lambda x: x["event"] == "plan" and x["epoch"] == 8)
    says(down, 1)
    now = first.until("the recovery", lambda x: x["event"] == "paths")
    check("watch: it is up again", now["because"] == ["recovery"] and
          now["changes"][0]["state"] == "up", now)

    # demands come and go
    first.say(announce("rank0", ("h0", "fd00:2:1::1"), ("h0", "fd00:3:1::1")))
    new = first.until("another one", lambda x: x["event"] == "paths")
    first.say(announce("rank0", ("h0", "fd00:3:1::1")))
    end = first.until("an end", lambda x: x["event"] == "end")
    check("watch: demands begin and end", new["dst"] == "h2" and
          end["endpoint"] == paths["endpoint"], (new, end))

    # with a name only its own
    other = Watcher(path, announce("rank1", ("h0", "fd00:2:1::1")),
                    {"request": "watch", "owner": "rank1"})
    only = other.until("its paths", lambda x: x["event"] == "paths")
    other.until("links", lambda x: x["event"] == "links")
    check("watch: with an owner, no other demands and no jobs", only["dst"] == "h1" and
          "qps" not in {x["event"] for x in other.events} and
          1 == sum(x["event"] == "paths" for x in other.events), other.events)

    # one that does not read, while things change until there is no room for it
    slow = Watcher(path, {"request": "watch"})
    slow.until("its state", lambda x: x["event"] == "links")
    flips, unread = 0, 0
    while flips < 5000 and not unread:
        says(down, 2)
        other.until("down", lambda x: x["event"] == "paths" and
                    x["because"] == ["failure"])
        says(down, 1)
        other.until("up", lambda x: x["event"] == "paths" and
                    x["because"] == ["recovery"])
        flips += 1
        unread = sizes()["unread"]
    more = []
    for _ in range(50):
        says(down, 2)
        other.until("down", lambda x: x["event"] == "paths" and
                    x["because"] == ["failure"])
        says(down, 1)
        other.until("up", lambda x: x["event"] == "paths" and
                    x["because"] == ["recovery"])
        more.append(sizes()["unread"])
    # a line each, of this one and of the first one, which does not read now either
    line = max(len(json.dumps(x, separators=(",", ":"))) for x in first.events) + 1
    check("watch: what one does not read is not kept, and others are told all of it",
          0 < unread and max(more) <= 2 * line, (flips, unread, max(more), line))
    says(down, 2)
    late = slow.until("that it is late", lambda x: x["event"] == "late")
    last = slow.until("the state", lambda x: x["event"] == "paths" and
                      x["endpoint"] == paths["endpoint"])
    check("watch: it goes on with how much it missed, and with the state",
          late["coalesced"] >= 50 and last["because"] == ["failure", "recovery"] and
          last["usable"] == paths["usable"] - 1, (late, last))

    says(down, 1)
    first.say(announce("rank0", ("h0", "fd00:2:1::1")))
    first.until("the end of another", lambda x: x["event"] == "end" and
                x["endpoint"] == new["endpoint"])
    test_watch_paths(path, says)
    test_watch_command(path, says)

    # the engine has no paths any more, while one still has to be told the end of them
    while not sizes()["unread"]:
        other.say({"request": "watch", "owner": "rank1"})
        slow.say({"request": "watch"})
        other.until("its state", lambda x: x["event"] == "links")

    def reload(hosts):
        talk(path, json.dumps({"version": 1, "request": "reload", "hosts": hosts}))

    reload(0)
    end = other.until("the end", lambda x: x["event"] == "end")
    time.sleep(0.3)	# looks at everything
    says(1, 2)
    reload(1)
    back = other.until("new paths", lambda x: x["event"] == "paths")
    check("watch: a configuration without paths, and back",
          end["endpoint"] == paths["endpoint"] and back["usable"] == paths["usable"] and
          back["because"] == [], (end, back))
    slow.until("its end or state", lambda x: x["event"] in ("end", "paths") and
               x["time_us"] >= end["time_us"])

    # limits, and connections that come after them
    many = [Watcher(path, {"request": "watch"}) for _ in range(28)]
    wait_for("32 of them", lambda: sizes()["kept"] == 32)
    check("watch: 32 and no more", "32 watch already" in
          take({"version": 1, "request": "watch"}), sizes())
    idle = [Watcher(path) for _ in range(100)]
    check("watch: others that connect do not replace them",
          wait_for("an answer beside them", sizes)["kept"] == 32)
    for watcher in many + idle:
        watcher.close()
    wait_for("that they left", lambda: sizes()["kept"] == 4)
    says(down, 2)
    other.until("down", lambda x: x["event"] == "paths" and x["because"] == ["failure"])
    says(down, 1)
    first.until("what was measured", lambda x: x["event"] == "measured")
    check("watch: those that stayed are told", other.until(
        "up", lambda x: x["event"] == "paths" and x["because"] == ["recovery"]))
    for watcher in first, other, slow:
        watcher.close()
    check("watch: srpold's code ends as it should", demandd.end() == -15)


# --- the engine and hosts

def put(key, value):
    assert e.store_put(key, value)


def keep_stored():
    """Each key with its schema; those that have none are the engine's own."""
    for key, text in e.stored().items():
        first = key.split("/")[0]
        if key.startswith("cfg/topology/"):
            good("Topology", json.loads(text))
        elif first == "plan" and key.endswith("/head"):
            good("Head", json.loads(text))
        elif first == "plan":
            for line in text.splitlines():
                of = json.loads(line)
                good("Flows" if "flows" in of else "Pair", of)
        elif first == "index":
            head, *lines = map(json.loads, text.splitlines())
            is_page = key.count("/") == 3
            good("Page" if is_page else "Index", head)
            for line in lines:
                good("Chunk" if is_page else "IndexLine", line)
        elif first in ("job", "link", "load", "demand", "ack"):
            good({"job": "Job", "link": "Report", "load": "Load",
                  "demand": "Forecasts", "ack": "Ack"}[first], json.loads(text))


def take_job(m):
    answer = good("JobResponse", talk(f"{RUN}/if.sock", json.dumps(m)))
    if "error" in answer:
        return answer["error"]
    reply = answer["reply"]
    if reply["decision"] == "accept" and not reply["what_if"]:
        ask("if", "job-del", name=reply["job"], tenant=reply["tenant"])
    return None


def test_jobs():
    whole = {"version": 1, "request": "job-add", "name": "j", "tenant": "t",
             "demands": [{"src": "h0", "dst": "h1", "rail": 0, "bytes": 5}],
             "in-ms": 1000, "duration-ms": 2000, "period-ms": 300, "flows": 2}
    check("JobRequest: a good one is taken",
          take_job(good("JobRequest", whole)) is None)
    semantic = "no host", "slash", "sends nothing", "no switch offers"
    compare("JobRequest", whole, [("demands", 0), ()], take_job, semantic)
    both = {**whole, "all-to-all": {"hosts": HOSTS, "bytes": 1}}
    check("JobRequest: traffic of both sorts is refused",
          take_job(both) and not VALID["JobRequest"].is_valid(both))
    whole = {"version": 1, "request": "job-add", "name": "j", "tenant": "red",
             "all-to-all": {"hosts": HOSTS, "rail": 0, "bytes": 10 ** 9},
             "guaranteed": "200G", "max": "300G", "for-s": 60}
    check("JobRequest: one with bandwidth is taken",
          take_job(good("JobRequest", whole)) is None)
    compare("JobRequest", whole, [("all-to-all",)], take_job, semantic)
    compare("JobRequest", {
        "version": 1, "request": "job-add", "name": "j", "tenant": "blue",
        "all-to-all": {"hosts": HOSTS, "bytes": 10 ** 9}, "via": "sum"}, [()],
        take_job, (*semantic, "no tenant", "the tenant's other jobs"))
    elastic = {**whole, "least": "100G", "priority": 0, "what-if": True}
    check("JobRequest: one that is elastic is taken",
          take_job(good("JobRequest", elastic)) is None)
    compare("JobRequest", elastic, [()], take_job, (
        *semantic, "no such tenant", "is of a job with", "are of a job with", "is more than",
        "is less than"))
    deadline = {"version": 1, "request": "job-add", "name": "j", "tenant": "red",
                "demands": [{"src": "h0", "dst": "h1", "bytes": 10 ** 9}],
                "deadline-ms": 10 ** 4, "in-ms": 5, "duration-ms": 10 ** 3}
    check("JobRequest: one with a deadline is taken",
          take_job(good("JobRequest", deadline)) is None)
    compare("JobRequest", deadline, [()], take_job, (
        *semantic, "no such tenant", "it takes", "is before", "is of a job", "sends"))
    take_job(good("JobRequest", {**whole, "guaranteed": "1800G", "max": "2T"}))
    ask("if", "job-add", name="low", tenant="red", guaranteed="400G", least="1G",
        priority=1, **{"all-to-all": whole["all-to-all"]})
    wait_for("its epoch", lambda: [j["state"] for j in ask("if", "jobs")
                                   if j["name"] == "low"] == ["reserved"])
    take_job(good("JobRequest", {**elastic, "priority": 7, "guaranteed": "600G",
                                 "max": "2T", "least": "600G"}))
    ask("if", "job-del", name="low", tenant="red")
    check("JobResponse: with one that is lowered", any(
        m.get("reply", {}).get("lowered") for m in seen["JobResponse"]),
        seen["JobResponse"][-1])
    check("JobResponse: with a link and an offer", any(
        m.get("reply", {}).get("offer") and m["reply"]["link"]
        for m in seen["JobResponse"]), seen["JobResponse"][-1])


def test_forecasts():
    """In the order in which they are written, so that the last one says it."""
    topology = ask("if", "show")["topology"]
    number = 0

    def word(host, dst, size):
        return {"version": 1, "host": host, "topology": topology, "demands": [
            {"rail": 0, "dst": dst, "dst_rail": 0, "bytes": size,
             "start_ms": 1000, "duration_ms": 86400000, "period_ms": 9}],
            "rest": {"demands": 1, "bytes": 2}}

    now = int(time.time() * 1000)

    def fresh(m):
        for d in m["demands"]:
            d["start_ms"] = now
        return m

    def take(m):
        nonlocal number
        number += 1
        before = ask("if", "show")["forecasts"]["refused"]
        put("demand/0/leaf0.1/h1", json.dumps(m))
        put("demand/0/leaf0.2/h2", json.dumps(fresh(word("h2", "h3",
                                                         10 ** 6 + number))))
        wait_for("the word after it", lambda: [
            f["bytes"] for f in ask("if", "why", src="h2", dst="h3")["forecasts"]]
            == [10 ** 6 + number])
        after = ask("if", "show")["forecasts"]["refused"]
        return None if after == before else "refused"

    whole = fresh(word("h1", "h2", 5))
    check("Forecasts: a good one is taken", take(whole) is None)
    # names of hosts, the digest, and that of day are not the schema's
    wrong = []
    for at in [("demands", 0), ("rest",), ()]:
        for what, m in mutations(whole, at):
            valid, why = VALID["Forecasts"].is_valid(m), take(m)
            named = what[-1] in ("x", "a/b") or what[-2:] == ("start_ms", 1 << 53)
            if valid != (why is None) and not (valid and named) and not (
                    what[-2] in ("rail", "dst_rail") and valid):
                wrong.append((what, valid, why))
            elif why is None:
                good("Forecasts", m)
    check(f"Forecasts: {number} are taken and refused as the schema says",
          not wrong, wrong[:5])
    for key in "demand/0/leaf0.1/h1", "demand/0/leaf0.2/h2":
        put(key, None)


def test_reports():
    def take(m):
        stats = ask("if", "show")["stats"]
        put("link/0/leaf0.1/h1", json.dumps(m))
        after = wait_for("the report", lambda: [
            x for x in [ask("if", "show")["stats"]] if x["events"] > stats["events"]])
        return None if after[0]["refused"] == stats["refused"] else "refused"

    whole = {"number": 5, "links": [
        {"from": "h1", "to": "leaf0.1", "capacity": 7}], "suspects": [
            {"confidence": 50, "links": [{"from": "leaf0.1", "to": "spine0.3"}]}],
             "passes": [{"from": "h1", "but": ["leaf0.1"]}]}
    check("Report: a good one is taken", take(whole) is None)
    wrong, n = [], 0
    for at in [("links", 0), ("suspects", 0, "links", 0), ("suspects", 0),
               ("passes", 0), ()]:
        for what, m in mutations(whole, at):
            if m == whole:
                continue
            n += 1
            valid, why = VALID["Report"].is_valid(m), take(m)
            # which names there are is not the schema's
            if valid != (why is None) and not (valid and what[-1] in ("x", "a/b")):
                wrong.append((what, valid, why))
            elif why is None:
                good("Report", m)
    check(f"Report: {n} are taken and refused as the schema says", not wrong, wrong[:5])
    put("link/0/leaf0.1/h1", None)


def test_engine():
    functions.with_functions()
    engine = e.start_engine("if", STORE, forecasts=1000)
    wait_for("leader", lambda: ask("if", "show")["leads"])
    hosts = e.Hosts("if-hosts", HOSTS, STORE)
    ask("if", "tenant-add", name="red", color=10, guaranteed=2 * 10 ** 12,
        max=2 * 10 ** 12, priority=7)
    put("job/t/a", e.JOB)
    hosts.tell("report h0 leaf0.0 spine0.2 100000000000")
    hosts.tell("suspect h1 50 leaf0.1 spine0.3 leaf0.2 spine0.3")
    hosts.tell("pass h2 leaf0.2 spine0.3")
    time.sleep(0.2)
    hosts.tell("pass h2 leaf0.2 spine0.3")
    hosts.tell("measured h0 h0 leaf0.0 5000 leaf0.0 spine0.1 3000")
    hosts.tell("demand h1 h0 1000000 0 60000 0, h2 5 100 60000 500")
    wait_for("a plan with the report", lambda: hosts.last("h0")["seen"] == 1)
    ask("if", "job-add", name="kept", tenant="red", demands=[
        {"src": "h0", "dst": "h1", "bytes": 5}], guaranteed="100G",
        **{"in-ms": 1000, "period-ms": 500})
    ask("if", "tenant-add", name="blue", color=11)
    ask("if", "tenant-add", name="green", color=12)
    put("job/green/flows", json.dumps({**json.loads(e.JOB), "flows": 3}))
    put("job/blue/via", json.dumps({**json.loads(e.JOB), "via": "sum"}))
    wait_for("paths of flows", lambda: '"flows"' in
             hosts.last("h0")["chunks"]["leaf0.0"])
    wait_for("words of hosts", lambda: {"load", "demand", "link", "ack"} <=
             {k.split("/")[0] for k in e.stored()})
    wait_for("limits", lambda: hosts.last("h0")["limits"])
    wait_for("acknowledgements", lambda: [
        h["epoch"] for h in ask("if", "show")["hosts"]] ==
        [hosts.epoch("h0")] * len(HOSTS))
    keep_stored()
    check("engine and hosts say what the schemas say", {
        "Topology", "Head", "Index", "IndexLine", "Page", "Chunk", "Pair", "Flows",
        "Job",
        "Report", "Load", "Forecasts", "Ack"} <= set(seen), sorted(seen))
    hosts.end()
    # a job is not deleted before they have acknowledged, or their leases are over
    wait_for("the end of leases", lambda: not ask("if", "show")["hosts"])
    test_jobs()
    test_forecasts()
    test_reports()
    check("the engine ends as it should", engine.end() == 0)


# --- protobuf

def named(descriptor, spec, at):
    """Members that schema and .proto do not both have."""
    if "oneOf" in spec and not spec.get("properties"):
        spec = {"properties": {k: v for s in spec["oneOf"]
                               for k, v in s["properties"].items()}}
    fields = {f.json_name: f for f in descriptor.fields}
    odd = [f"{at}.{k}" for k in set(fields) ^ set(spec["properties"])]
    for key, sub in spec["properties"].items():
        field = fields.get(key)
        if not field or not field.message_type or \
                field.message_type.GetOptions().map_entry:
            continue
        if (descriptor.name, key) not in PAIRS:
            odd += named(field.message_type, sub.get("items", sub), f"{at}.{key}")
    return odd


def to_mapping(name, m):
    """Pairs are objects; a rate may be a number in JSON."""
    m = copy.deepcopy(m)
    for (of, key), names in PAIRS.items():
        if of == name and key in m:
            m[key] = [dict(zip(names, pair)) for pair in m[key]]
    for key in ("guaranteed", "max", "least"):
        if name == "JobRequest" and isinstance(m.get(key), int):
            m[key] = str(m[key])
    return m


def plain(m):
    """What is 0, empty or null is not there."""
    if isinstance(m, dict):
        m = {k: plain(v) for k, v in m.items()}
        return {k: v for k, v in m.items() if v not in (None, 0, "", [], {})}
    return [plain(v) for v in m] if isinstance(m, list) else m


def numbers(m):
    """64 bits are text in protobuf's JSON; rates and names stay what they are."""
    if isinstance(m, dict):
        return {k: int(v) if isinstance(v, str) and v.isdigit() and
                k not in ("weights", "guaranteed", "max", "least", "name", "job", "owner",
                          "digest", "topology") else
                int(v) if k == "guaranteed" and "decision" in m or
                k == "guaranteed" and "after_s" in m or
                k == "guaranteed" and set(m) == {"guaranteed"} else
                numbers(v) for k, v in m.items()}
    return [numbers(v) for v in m] if isinstance(m, list) else m


def without_unknown(m, descriptor):
    """Schemas that are open let through what has no field."""
    return json_format.Parse(json.dumps(m), descriptor._concrete_class(),
                             ignore_unknown_fields=True)


def test_protobuf():
    subprocess.run(["protoc", f"--proto_path={INTERFACE}", f"--python_out={RUN}",
                    f"{INTERFACE}/srpol.proto"], check=True)
    sys.path.insert(0, RUN)
    pb2 = importlib.import_module("srpol_pb2")
    types = pb2.DESCRIPTOR.message_types_by_name
    for name in NAMES:
        jsonschema.Draft7Validator.check_schema(schema(name))
    odd = [x for n in NAMES for x in named(types[n], schema(n), n)]
    check(f"{len(NAMES)} schemas are schemas, and name what srpol.proto does",
          not odd, odd)
    echo = subprocess.Popen([f"{BUILD}/selftests/engine/proto_echo"], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wrong, sizes, count = [], {}, 0
    for name in NAMES:
        for m in seen.get(name, []):
            mapped = to_mapping(name, m)
            packed = without_unknown(mapped, types[name]).SerializeToString()
            echo.stdin.write(f"{name} {packed.hex()}\n")
            echo.stdin.flush()
            line = echo.stdout.readline().strip()
            back = types[name]._concrete_class()
            if line == "none":
                wrong.append((name, m))
                continue
            back.ParseFromString(bytes.fromhex(line))
            again = numbers(json_format.MessageToDict(back))
            first = numbers(json_format.MessageToDict(
                without_unknown(mapped, types[name])))
            count += 1
            if plain(again) != plain(first) or (
                    name not in ("DemandRequest", "Forecasts") and
                    plain(again) != plain(numbers(mapped))):
                wrong.append((name, m, again))
            total = sizes.setdefault(name, [0, 0])
            total[0] += len(json.dumps(m, separators=(",", ":")))
            total[1] += len(packed)
    check(f"{count} messages that programs said or took are the same by way of protobuf and libprotobuf-c",
          not wrong and set(sizes) == set(NAMES), (wrong[:3], set(NAMES) - set(sizes)))
    for name, (text, packed) in sorted(sizes.items()):
        print(f"# {name}: {text} bytes as JSON, {packed} as protobuf")
    echo.stdin.write("Forecasts ffffff\nForecasts 0a\nNobody 00\n")
    echo.stdin.flush()
    check("what is no message is none",
          [echo.stdout.readline().strip() for _ in range(3)] == ["none"] * 3)
    echo.stdin.close()
    check("libprotobuf-c's program ends as it should", echo.wait() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_srpold, test_watch, test_watch_other_topology, test_kv,
                     test_engine, test_protobuf)))
