#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
libnccl-profiler-srpol.so, loaded as NCCL does, under traces in NCCL's order;
what it says is read from a socket. Run as it is installed and under the
address and thread sanitizers. SRPOL_TIMEOUT=600
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading

import jsonschema

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
RUN = tempfile.mkdtemp(prefix="srpol-")
HOSTS = "a,b,c,d"
MIB = 1 << 20
ERROR = re.compile(r"Sanitizer|runtime error")

# What it says is held to the interface.
with open(f"{TOP}/Documentation/interface/DemandRequest.json",
          encoding="ascii") as file:
    SCHEMA = jsonschema.Draft7Validator(json.load(file))

number = failures = 0
wrong, lines = [], [0]


def check(name, good, why=""):
    global number, failures
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} {name}", flush=True)
    if not good:
        failures += 1
        print(f"# {why}", flush=True)


class Srpold:
    """
    The socket of srpold; what is said lands in lists by owner. ends: it is
    started anew after the first line.
    """

    def __init__(self, reads=True, ends=False):
        self.ends = ends
        self.path = f"{RUN}/demands"
        if os.path.exists(self.path):
            os.remove(self.path)
        self.said = {}
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(8)
        self.threads = []
        if reads:
            threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.socket.accept()[0]
            except OSError:
                return
            t = threading.Thread(target=self.read, args=(client,),
                                 daemon=True)
            self.threads.append(t)
            t.start()

    def read(self, client):
        try:
            for line in client.makefile():
                o = json.loads(line)
                wrong.extend(x.message for x in SCHEMA.iter_errors(o))
                lines[0] += 1
                if o["version"] == 1 and o["request"] == "demands":
                    self.said.setdefault(o["owner"], []).append(o["demands"])
                client.send(b'{"version": 1, "reply": {}}\n',
                            socket.MSG_NOSIGNAL)
                if self.ends:
                    self.ends = False
                    client.shutdown(socket.SHUT_RDWR)
                    break
        except OSError:
            # it went without reading the last answer
            pass
        client.close()

    def all(self):
        """What one owner said, when it is through."""
        # whoever connected before this has been accepted when it is
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(self.path)
            last.shutdown(socket.SHUT_WR)
            last.recv(1)
        for t in self.threads:
            t.join(30)
        return list(self.said.values())[0] if self.said else []

    def close(self):
        # what accept() waits for ends only so
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def replay(kind, version, *what, **env):
    folder = f"{BUILD}/selftests/nccl/{kind}"
    done = subprocess.run(
        [f"{folder}/replay", f"{folder}/libnccl-profiler-srpol.so",
         str(version), *map(str, what)], text=True, capture_output=True,
        timeout=120, check=False, env={
            "SRPOL_HOSTS": HOSTS, "SRPOL_DEMANDS": f"{RUN}/demands",
            "SRPOL_ITERATION_MS": "50", "PATH": os.environ["PATH"],
            **env})
    done.good = done.returncode == 0 and not ERROR.search(done.stderr)
    done.why = f"{done.returncode}: {done.stdout} {done.stderr[-2000:]}"
    done.stats = {}
    for line in done.stdout.splitlines():
        if line.startswith("stats "):
            words = line.split()[1:]
            done.stats = dict(zip(words[::2], map(int, words[1::2])))
    return done


def say(kind, version, *what, **env):
    """What srpold hears of it, and how it ended."""
    srpold = Srpold()
    done = replay(kind, version, *what, **env)
    said = srpold.all()
    srpold.close()
    return said, done


def to(demands):
    return {(d["src"], d["dst"]): d["bytes"] for d in demands}


def test_versions(kind):
    for version in 4, 5, 6:
        said, done = say(kind, version, "init", "ring", 16 * MIB, 1, "sleep",
                         500, "final", "close")
        # 2 (8 - 1) / 8 of 64 MiB cross a border, half of it by each rank
        check(f"{kind} v{version}: a ring's bytes go to the next host, exactly",
              done.good and said and all(
                  to(d) == {("b", "c"): 2 * 7 * 64 * MIB // 8 // 2}
                  for d in said[:-1]), (said, done.why))
        check(f"{kind} v{version}: at the end all is taken back",
              said and said[-1] == [], said)
        check(f"{kind} v{version}: it asks for collectives, messages, proxies",
              "mask 14\n" in done.stdout, done.stdout)


def test_model(kind):
    said, done = say(kind, 6, "init", "gather", MIB, 1, "sleep", 400, "final")
    check(f"{kind}: an all-gather sends what the other ranks have",
          done.good and to(said[0]) == {("b", "c"): 7 * MIB // 2},
          (said, done.why))
    said, done = say(kind, 6, "init", "send", 5 * MIB, 7, "send", 3 * MIB, 0,
                     "send", MIB, 3, "sleep", 400, "final")
    check(f"{kind}: messages go where they go, those on the host nowhere",
          done.good and to(said[-2]) == {("b", "d"): 5 * MIB,
                                         ("b", "a"): 3 * MIB},
          (said, done.why))
    said, done = say(kind, 5, "init", "proxy", 3000, 6, "proxy", 1000, 0,
                     "tree", 4 * MIB, 1, "sleep", 400, "final")
    whole = 2 * 7 * 16 * MIB // 8 // 2
    check(f"{kind}: what proxies send tells where a collective goes",
          done.good and to(said[0]) == {("b", "d"): whole * 3 // 4,
                                        ("b", "a"): whole // 4},
          (said, done.why))
    said, done = say(kind, 6, "init", "tree", 3 * MIB, 1, "sleep", 400,
                     "final")
    check(f"{kind}: without that word, a tree's go everywhere alike",
          done.good and to(said[0]) == {
              ("b", h): 2 * 7 * 12 * MIB // 8 // 2 // 3 for h in "acd"},
          (said, done.why))
    said, done = say(kind, 6, "init", "ring", MIB, 1, "sleep", 400, "final",
                     SRPOL_JOB="j\"x", SLURM_JOB_ID="77")
    check(f"{kind}: job and owner are named", done.good and
          said[0][0]["job"] == "j?x" and said[0][0]["for-ms"] == 10000,
          (said, done.why))


    said, done = say(kind, 6, "init", "setenv", "SRPOL_JOB", "setenv",
                     "SRPOL_DEMANDS", "ring", MIB, 1, "sleep", 400, "final",
                     SRPOL_JOB="j")
    check(f"{kind}: what the program does to its environment later is not "
          "looked at", done.good and said and said[0][0]["job"] == "j",
          (said, done.why))


def test_hosts(kind):
    said, done = say(kind, 6, "init", "ring", 16 * MIB, 1, "sleep", 300,
                     "final", SRPOL_HOSTS="gpu[08-10],x[1]y")
    check(f"{kind}: hosts are read as Slurm writes them", done.good and
          list(to(said[0])) == [("gpu09", "gpu10")], (said, done.why))
    for what, env in (("init", {"SRPOL_HOSTS": "a,b"}),
                      ("init", {"SRPOL_HOSTS": ""}),
                      ("init", {"SRPOL_HOSTS": "a[1-"}),
                      ("init", {"SRPOL_HOSTS": "a[9-1],b,c,d"}),
                      ("init", {"SRPOL_HOSTS": "a," + "b" * 99 + ",c,d"}),
                      ("init", {"SRPOL_HOSTS": "a[1-99999999]"}),
                      ("init1", {}), ("init3", {})):
        said, done = say(kind, 6, what, "ring", 16 * MIB, 3, "sleep", 100,
                         "final", "close", **env)
        check(f"{kind}: {what} {str(env)[17:40]}: where ranks are is not known, "
              "so nothing is asked for or said",
              done.good and not said and "mask 0\n" in done.stdout,
              (said, done.why))


def test_several(kind):
    folder = f"{BUILD}/selftests/nccl/{kind}"
    ring = {("b", "c"): 2 * 7 * 64 * MIB // 8 // 2}
    for what in ("init", "init1"), ("init1", "init"):
        # what is said is of the one whose hosts are known
        order = ["final"] if what[1] == "init1" else []
        said, done = say(kind, 6, *what, *order, "ring", 16 * MIB, 1, "sleep",
                         400, *["final"] * (2 - len(order)), "close")
        check(f"{kind}: {' and '.join(what)}: NCCL's one mask is for both",
              done.good and said and to(said[0]) == ring and
              done.stdout.count("mask 14\n") == 2 - (what[0] == "init1"),
              (said, done.why))
    said, done = say(kind, 6, "init", "ring", 16 * MIB, 3, "init1", "ring", 10,
                     4, "final", "final", "close",
                     SRPOL_NEXT_PROFILER=f"{folder}/libchained-6.so")
    check(f"{kind}: the next one hears of all communicators what it wanted at "
          "the first", done.good and "inits 2 colls 7 " in done.stdout and
          "finals 2 wrong 0" in done.stdout, done.why)
    said, done = say(kind, 6, "init", "ring", 16 * MIB, 3, "final", "close",
                     SRPOL_NEXT_PROFILER=f"{folder}/libchained-6.so",
                     CHAINED_STOP="2")
    check(f"{kind}: the next one may want less later",
          done.good and "colls 2 " in done.stdout, done.why)


def test_threads(kind):
    times = 2000
    said, done = say(kind, 6, "init", "threads", 1000, times, "sleep", 300,
                     "final", "close")
    check(f"{kind}: eight threads at once", done.good, done.why)
    # each all-reduce of 4000 bytes is one note; its receiving proxy is none, nor
    # is what NCCL tells of above it, a group and a call
    want = 8 * times * 2 * 7 * 4000 / 8 / 2
    got = max((sum(to(d).values()) for d in said), default=0)
    dropped = done.stats.get("dropped", -1)
    check(f"{kind}: nothing is counted twice, what is dropped is counted",
          done.stats.get("events") == 8 * times * 4 and got <= want and
          (dropped > 0 or got > 0), (got, want, done.stats))
    print(f"# {kind}: {done.stats}")


def test_gone(kind):
    if os.path.exists(f"{RUN}/demands"):
        os.remove(f"{RUN}/demands")
    done = replay(kind, 6, "init", "ring", 16 * MIB, 100, "sleep", 300,
                  "threads", 1000, 200, "final", "close")
    check(f"{kind}: no srpold: the program goes on, losses are counted",
          done.good and done.stats["lost"] > 0 and done.stats["sent"] == 0,
          done.why)
    srpold = Srpold(ends=True)
    done = replay(kind, 6, "init", "ring", 16 * MIB, 1, "sleep", 1500, "ring",
                  32 * MIB, 1, "sleep", 500, "final", "close")
    said = srpold.all()
    check(f"{kind}: srpold that is started anew: the next line is for the new "
          "one", done.good and done.stats["lost"] == 0 and [
              to(d) for d in said] == [
                  {("b", "c"): 7 * 16 * MIB // 2}, {("b", "c"): 7 * 16 * MIB},
                  {}], (said, done.why))
    srpold.close()
    srpold = Srpold(reads=False)
    what = []
    for i in range(60):
        what += ["ring", (i + 2) * MIB, 1, "sleep", 60]
    done = replay(kind, 6, "init", *what, "final", "close",
                  SRPOL_HOSTS=",".join(["x" * 40 + str(i) for i in range(4)]))
    check(f"{kind}: srpold that reads nothing: the program goes on",
          done.good and done.stats["sent"] > 0, done.why)
    srpold.close()


def test_fork(kind):
    srpold = Srpold()
    done = replay(kind, 6, "init", "ring", 16 * MIB, 1, "sleep", 100, "fork",
                  "ring", 32 * MIB, 1, "sleep", 300, "final")
    srpold.all()
    owners = srpold.said
    check(f"{kind}: after a fork both have a word, each its own", done.good and
          len(owners) == 2 and all(said[-1] == [] for said in owners.values()),
          (owners, done.why))
    srpold.close()


def test_pxn(kind):
    folder = f"{BUILD}/selftests/nccl/{kind}"
    for version, env in ((4, {}), (6, {}), (6, {
            "SRPOL_NEXT_PROFILER": f"{folder}/libchained-6.so"})):
        said, done = say(kind, version, "init", "pxn", 1000, 0, "proxy", 1000,
                         6, "tree", 4 * MIB, 1, "sleep", 400, "final", **env)
        check(f"{kind} v{version}{' chained' if env else ''}: what a proxy does "
              "for another process (PXN) is not ours, nor are its pointers",
              done.good and said and
              to(said[0]) == {("b", "d"): 2 * 7 * 16 * MIB // 8 // 2} and
              "wrong 0" in done.stdout + ("" if env else "wrong 0"),
              (said, done.why))


def test_chained(kind):
    folder = f"{BUILD}/selftests/nccl/{kind}"
    for own, other in ((6, 6), (6, 4), (4, 4), (5, 4)):
        said, done = say(kind, own, "init", "ring", 16 * MIB, 3, "send", MIB,
                         7, "proxy", 1000, 4, "sleep", 300, "final", "close",
                         SRPOL_NEXT_PROFILER=f"{folder}/libchained-{other}.so")
        line = re.search(r"chained .*", done.stdout)
        check(f"{kind}: v{own} before one that has v{other}: it hears all it "
              "asked for, with its own handles", done.good and line and
              line[0].startswith(
                  f"chained inits 1 colls 3 count {3 * 16 * MIB} proxies 5 ") and
              line[0].endswith("finals 1 wrong 0") and
              " records 3 " in line[0] and said, done.why)
    # collectives alone, proxy operations, steps: NCCL tells of what is above
    for other, mask, want in (4, 2, "colls 3 "), (6, 2, "colls 3 "), \
            (4, 8, "proxies 3 "), (6, 8, "proxies 3 "), (6, 16, "proxies 3 "):
        said, done = say(kind, 6, "init", "ring", 16 * MIB, 3, "sleep", 300,
                         "final", "close", CHAINED_MASK=str(mask),
                         SRPOL_NEXT_PROFILER=f"{folder}/libchained-{other}.so")
        check(f"{kind}: one that has v{other} and asks for {mask} hears of what "
              "is above it as well, as it would from NCCL",
              done.good and said and want in done.stdout and
              "colls 3 " in done.stdout and "wrong 0" in done.stdout, done.why)
    for path in (f"{folder}/libchained-6.so", "/nowhere.so", "/etc/passwd"):
        said, done = say(kind, 4, "init", "ring", 16 * MIB, 1, "sleep", 300,
                         "final", "close", SRPOL_NEXT_PROFILER=path)
        check(f"{kind}: v4 before {os.path.basename(path)}, which does not "
              "fit: it is not used", done.good and said and
              "chained" not in done.stdout, done.why)
    said, done = say(kind, 6, "init3", "ring", 16 * MIB, 1, "final", "close",
                     SRPOL_NEXT_PROFILER=f"{folder}/libchained-6.so")
    check(f"{kind}: the next one hears of communicators that we say nothing of",
          done.good and not said and "colls 1 " in done.stdout, done.why)


def test_names():
    library = f"{BUILD}/lib/libnccl-profiler-srpol.so"
    done = subprocess.run(["nm", "-D", "--defined-only", library], text=True,
                          capture_output=True, check=True)
    names = {line.split()[-1] for line in done.stdout.splitlines()}
    check("make nccl: the library exports its interfaces and nothing else",
          names == {"ncclProfiler_v4", "ncclProfiler_v5", "ncclProfiler_v6",
                    "srpol_profiler_stats"}, names)
    done = subprocess.run(
        [f"{BUILD}/selftests/nccl/plain/replay",
         f"{BUILD}/lib/librccl-profiler-srpol.so", "6", "init", "final"],
        text=True, capture_output=True, check=False,
        env={"SRPOL_HOSTS": HOSTS})
    check("make nccl: RCCL's name is the same library", done.returncode == 0,
          done.stderr)


def main():
    print("KTAP version 1")
    try:
        test_names()
        for kind in "plain", "asan", "tsan":
            for test in (test_versions, test_model, test_hosts, test_several,
                         test_threads, test_gone, test_fork, test_pxn, test_chained):
                # TSan knows no threads after a fork of a program with threads
                if kind == "tsan" and test is test_fork:
                    continue
                try:
                    test(kind)
                except (LookupError, subprocess.TimeoutExpired) as why:
                    check(f"{kind}: {test.__name__}: {why!r}", False)
        check("all that was said is what Documentation/interface says",
              lines[0] and not wrong, (lines, wrong[:3]))
    finally:
        subprocess.run(["rm", "-rf", RUN], check=False)
    print(f"1..{number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
