# SPDX-License-Identifier: GPL-2.0
"""
What srpold's code (demandd) tells of the paths of demands: to clients, to
Documentation/examples/watch_paths.py, and to srpol engine watch. A part of
interface.py.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time

import engine as e
from engine import BUILD, RUN, TOP, check, wait_for
from messages import compare, good, talk

PATHS = f"{TOP}/Documentation/examples/watch_paths.py"


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
