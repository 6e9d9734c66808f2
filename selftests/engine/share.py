#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Tenants' users ask for more than the engine has time for, also all the time: the engine
goes on with what it is there for, and others are answered, of the same tenant as well.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import engine as e
import tenants as t
from engine import JOB, RUN, check, wait_for

SYS, SYNC, GAMES = 3, 4, 5
LINES = 200		# of one client, fewer than it may send in a second
ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
n = int(sys.argv[2])
s.sendall((sys.argv[3] + "\\n").encode() * n)
f = s.makefile()
for _ in range(n):
    print(f.readline(), end="")
"""
ALWAYS = """
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
n = int(sys.argv[2])
f = s.makefile()
while True:
    s.sendall((sys.argv[3] + "\\n").encode() * n)
    for _ in range(n):
        print("refused" if "too much" in f.readline() else "answered", flush=True)
    time.sleep(0.2)
"""
AT_ONCE = 40		# who sends more than 256 in a second is disconnected
ASKS = 8
BEFORE = 160		# jobs, with fewer demands than a what-if looks at
WHAT_IFS = 32		# of a tenant that may wait
ROUNDS = 5		# in which a busy machine has time for too much once


def script(user, text, n=1, request=None):
    """A user's script, which sends @n requests at once."""
    line = json.dumps({"version": 1, "request": "jobs", **(request or {})})
    return {"args": ["/usr/bin/python3", "-c", text, f"{RUN}/s.sock", str(n), line],
            "user": user, "group": user, "extra_groups": []}


def ask(user, n=1, request=None):
    """What a user is told who asks @n times at once."""
    done = subprocess.run(**script(user, ASK, n, request), check=True,
                          stdout=subprocess.PIPE, text=True, timeout=e.PATIENCE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_refused(answer):
    return "too much is asked for" in answer.get("error", "")


def refusals(answers):
    return [a["error"] for a in answers if is_refused(a)]


def test_what_ifs():
    """As many as may wait: they are decided later, at the expense of who asks."""
    t.tenant("s", "red color 10 guaranteed 800G")
    for i in range(BEFORE):
        e.store_put(f"job/red/j{i}", JOB)
    wait_for("jobs", lambda: len(e.ask("s", "jobs")) == BEFORE and e.ask("s", "show")["epoch"])
    what_if = {"request": "job-add", "name": "w", "guaranteed": t.G, "what-if": True,
               **json.loads(JOB)}
    check("a what-if is answered", "ends" in ask(t.NOBODY, request=what_if)[0].get("reply", {}))
    refused = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryFile("w+") as said:
            many = subprocess.Popen(**script(t.NOBODY, ASK, WHAT_IFS, what_if), stdout=said)
            while not refused and many.poll() is None:
                refused += refusals(ask(t.NOBODY))
            many.wait(e.PATIENCE)
            said.seek(0)
            answers = [json.loads(line) for line in said]
        if refused:
            break
    check("who has what-ifs waiting is refused what else it asks for", refused)
    check("they are all answered", len(answers) == WHAT_IFS and
          all("ends" in a.get("reply", {}) or is_refused(a) for a in answers), answers)
    check("a user of another tenant is answered then", "reply" in ask(t.DAEMON)[0])


def test_stranger():
    """Who has no tenant is only told so, but long lines have to be read for that."""
    long = {"request": "job-add", "name": "w", "demands": [0] * 40000}
    answers = ask(SYNC, 12, long)
    check("who has no tenant is told so", "has no tenant" in answers[0].get("error", ""),
          answers[0])
    check("and refused when that takes too long", refusals(answers), answers)
    check("others are answered then", "reply" in ask(t.DAEMON)[0])
    wait_for("time", lambda: "has no tenant" in ask(SYNC)[0]["error"])


def connect(user):
    os.seteuid(user)
    try:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(e.PATIENCE)
        s.connect(f"{RUN}/s.sock")
    finally:
        os.seteuid(0)
    return s


def test_room(engine):
    """Both ask before anything is decided, one of them for more than may wait."""
    line = json.dumps({"version": 1, "request": "job-del", "name": "none"}).encode() + b"\n"
    noise, quiet = connect(t.NOBODY), connect(t.BIN)
    engine.p.send_signal(signal.SIGSTOP)
    e.stopped(engine)
    noise.sendall(line * AT_ONCE)
    quiet.sendall(line)
    engine.p.send_signal(signal.SIGCONT)
    said = {}
    for s, n in ((noise, AT_ONCE), (quiet, 1)):
        with s, s.makefile() as f:
            said[s] = [json.loads(f.readline())["error"] for _ in range(n)]
    check("as many may wait as are said to", AT_ONCE - WHAT_IFS ==
          sum("questions wait already" in text for text in said[noise]), said[noise])
    check("another user of the tenant is heard then", "no such job" in said[quiet][0],
          said[quiet])


def noisy(user):
    """A user who asks again whatever the answer is; what it got is in a file."""
    said = f"{e.OUT}/noisy-{user}"
    with open(said, "wb") as f:
        more = script(user, ALWAYS, AT_ONCE)
        process = e.Process(f"noisy-{user}", *more.pop("args"), stdout=f, **more)

    def words():
        with open(said, encoding="ascii") as f:
            return f.read().splitlines()

    return process, words


def test_noise():
    """Users of three tenants ask all the time."""
    def both(words):
        return "refused" in words and "answered" in words

    noise = [noisy(user) for user in (t.NOBODY, t.DAEMON, SYS)]
    wait_for("noise", lambda: all(both(words()) for _, words in noise))
    before = [len(words()) for _, words in noise]
    refused = {t.BIN: [], GAMES: []}
    for _ in range(ASKS):
        for user, said in refused.items():
            said += refusals(ask(user))
        time.sleep(1.1)
    check("a quiet tenant is answered although noisy ones go on", not refused[GAMES],
          refused[GAMES])
    check("so is a quiet user of a noisy one's tenant", not refused[t.BIN], refused[t.BIN])
    for (process, words), n in zip(noise, before):
        check(f"{process.name} was refused and answered meanwhile", both(words()[n:]) and
              process.p.poll() is None)
        process.end()


def test_share():
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    subprocess.run(["chmod", "755", RUN], check=True)
    engine = e.start_engine("s", store, users={
        "nobody": "red", "daemon": "blue", "bin": "red", "sys": "green", "games": "black"})
    wait_for("leader", lambda: e.ask("s", "show")["leads"])
    tenants = "red", "blue", "green"
    test_room(engine)
    test_stranger()
    test_what_ifs()
    for i in range(200):
        for tenant in tenants:
            e.store_put(f"job/{tenant}/j{i}", JOB)
    wait_for("jobs", lambda: len(e.ask("s", "jobs")) == 200 * len(tenants) and
             e.ask("s", "show")["epoch"])
    one = wait_for("time", lambda: [a for a in ask(t.NOBODY) if "reply" in a])
    check("a tenant's user is told of its jobs", len(one[0]["reply"]) == 200)
    many = ask(t.NOBODY, LINES)
    refused = refusals(many)
    check("who asks all the time is refused after a while",
          LINES / 2 < len(refused) < LINES, len(refused))
    check("a user of another tenant is answered", "reply" in ask(t.DAEMON)[0])
    check("so is an operator", e.ask("s", "show")["leads"])
    seconds = {int(re.search(r"in (\d+) s at the latest", said)[1]) for said in refused}
    check("and the first one, when it was said to be", 0 < max(seconds) <= 60, seconds)
    time.sleep(max(seconds))
    check("then it is", "reply" in ask(t.NOBODY)[0])
    test_noise()
    check("the engine ends as it should", engine.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_share,)))
