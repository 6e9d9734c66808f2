#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A tenant's user asks for more than the engine has time for: the engine goes on with what
it is there for, and others are answered.
"""

import json
import subprocess
import sys

import engine as e
import tenants as t
from engine import JOB, RUN, check, wait_for

LINES = 200		# of one client, fewer than it may send in a second
ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
n = int(sys.argv[2])
s.sendall(b'{"version":1,"request":"jobs"}\\n' * n)
f = s.makefile()
for _ in range(n):
    print(f.readline(), end="")
"""


def ask(user, n=1):
    """What a user is told who asks @n times at once."""
    done = subprocess.run(["/usr/bin/python3", "-c", ASK, f"{RUN}/s.sock", str(n)],
                          user=user, group=user, extra_groups=[], check=True,
                          stdout=subprocess.PIPE, text=True, timeout=e.PATIENCE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_share():
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    subprocess.run(["chmod", "755", RUN], check=True)
    engine = e.start_engine("s", store, users={"nobody": "red", "daemon": "blue"})
    wait_for("leader", lambda: e.ask("s", "show")["leads"])
    for i in range(200):
        e.store_put(f"job/red/j{i}", JOB)
    wait_for("jobs", lambda: len(e.ask("s", "jobs")) == 200 and
             e.ask("s", "show")["epoch"])
    one = ask(t.NOBODY)
    check("a tenant's user is told of its jobs", len(one[0]["reply"]) == 200)
    many = ask(t.NOBODY, LINES)
    refused = [a for a in many if "too much is asked for" in a.get("error", "")]
    check("who asks all the time is refused after a while",
          LINES / 2 < len(refused) < LINES, len(refused))
    check("a user of another tenant is answered", wait_for(
        "an answer", lambda: "reply" in ask(t.DAEMON)[0]))
    check("so is an operator", e.ask("s", "show")["leads"])
    check("and the first one, some time later", wait_for(
        "an answer", lambda: "reply" in ask(t.NOBODY)[0]))
    check("the engine ends as it should", engine.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_share,)))
