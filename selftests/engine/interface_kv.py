# SPDX-License-Identifier: GPL-2.0
"""
Documentation/examples/kv_transfer.py, as a module and as a command, against srpold's
own code (demandd) and against what is not srpold. A part of interface.py.
"""

import importlib.util
import ipaddress
import json
import os
import socket
import subprocess
import sys
import threading
import time

import engine as e
from engine import BUILD, RUN, TOP, check, wait_for
from messages import good, talk

KV = f"{TOP}/Documentation/examples/kv_transfer.py"


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
