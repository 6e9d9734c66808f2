#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The room that jobs may take in the store: as many large jobs as they like are added by a
tenant's user and by operators, also at once; an engine that starts after that can read
all that was accepted, and jobs can be deleted.
"""

import json
import socket
import subprocess
import sys
import threading
import time

import engine as e
from engine import HOSTS, RUN, check, wait_for

JOBS = 70		# of which an engine could not read all as one answer
OTHERS = 7		# jobs of another shard
OPERATORS = 4		# who ask at once
DEMANDS = 7200		# of GPUs with long names: a text a little below what a key may have
USERS_ROOM, ALL_USERS_ROOM, ROOM = 4, 12, 16	# MiB
LONG = [host + "x" * 45 for host in HOSTS]
TEXT = [{"src": LONG[0], "dst": LONG[1 + i % 3], "bytes": 10 ** 12 + i}
        for i in range(DEMANDS)]
SIZE = len(json.dumps({"demands": TEXT}, separators=(",", ":")))
ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.stdin.buffer.read())
print(s.makefile().readline())
"""


def long_names():
    with open(f"{RUN}/topology.json", encoding="ascii") as f:
        topology = json.load(f)
    for host, name in zip(topology["hosts"], LONG):
        host["name"] = name
    with open(f"{RUN}/topology.json", "w", encoding="ascii") as f:
        json.dump(topology, f)


def user_adds(name, user, tenant):
    """What the engine says to a user of a tenant, or None: it was added."""
    done = subprocess.run(
        ["/usr/bin/python3", "-c", ASK, f"{RUN}/r.sock"], stdout=subprocess.PIPE,
        user=user, group="nogroup", extra_groups=[], check=True, timeout=e.PATIENCE,
        text=True, input=json.dumps({"version": 1, "request": "job-add", "name": name,
                                     "tenant": tenant, "demands": TEXT}) + "\n")
    return json.loads(done.stdout).get("error")


def user_is_told(name, user="nobody", tenant="red"):
    """The same, once there is time for it."""
    return wait_for("time", lambda: [
        x for x in [user_adds(name, user, tenant)] if not x or "too much is asked for" not in x])[0]


def operator_adds(name):
    """With more patience than others have: it is much to be read."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(e.PATIENCE)
        s.connect(f"{RUN}/r.sock")
        s.sendall(json.dumps({"version": 1, "request": "job-add", "name": name,
                              "demands": TEXT}).encode() + b"\n")
        return json.loads(s.makefile().readline()).get("error")


def operators_add():
    """All at once: how many jobs were added, and what was said of those that were not."""
    added, said, waited = [], set(), set()

    def some(first):
        for i in range(first, JOBS, OPERATORS):
            error, asked = operator_adds(f"j{i}"), 1
            # what others were just told is heard later, and an answer may be lost
            while error and asked < 20 and ("not told yet" in error or
                                            "did not say" in error):
                waited.add(error)
                time.sleep(0.5)
                error, asked = operator_adds(f"j{i}"), asked + 1
            if error and not ("there is a job" in error and asked > 1):
                said.add(error)
                break
            added.append(f"j{i}")
    threads = [threading.Thread(target=some, args=(i,)) for i in range(OPERATORS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return added, said, waited


def room_is_kept(store, taken=0):
    """@taken of other shards' jobs, in bytes."""
    kind = store["kind"]
    more = {"users": {"nobody": "red", "daemon": "blue"}, "lease-s": 60, "settle-ms": 1000}
    engine = e.start_engine("r", store, **more)
    wait_for("leader", lambda: e.ask("r", "show")["leads"])
    said, n = None, 0
    while not said and n < JOBS:
        said = user_is_told(f"u{n}")
        n += not said
    check(f"{kind}: a tenant's user may add jobs of {USERS_ROOM} MiB",
          (n + 1) * SIZE > USERS_ROOM << 20 >= n * SIZE, (n, SIZE))
    check(f"{kind}: who is refused is told why", said and f"up to {USERS_ROOM} MiB" in said and
          "of tenant red would take 4." in said, said)

    if taken:
        said, more_of = None, 0
        while not said and more_of < JOBS:
            said = user_is_told(f"u{more_of}", "daemon", "blue")
            more_of += not said
        check(f"{kind}: users of all tenants leave room for operators",
              f"users may add jobs up to {ALL_USERS_ROOM} MiB" in said and
              more_of * SIZE < USERS_ROOM << 20, (more_of, said))
        n += more_of

    added, said, waited = operators_add()
    total = taken + (n + len(added)) * SIZE
    check(f"{kind}: operators may add others up to {ROOM} MiB",
          total <= ROOM << 20 < total + SIZE, (n, len(added), SIZE, said, waited))
    check(f"{kind}: they are told so, too", any(
        f"{ROOM} MiB are the most" in x or "not told yet of other" in x for x in said), said)
    e.ask("r", "job-del", name=added[0])
    wait_for("deletion", lambda: len(e.ask("r", "show")["jobs"]) == n + len(added) - 1)
    check(f"{kind}: what was deleted leaves room for another one",
          operator_adds("again") is None)

    engine.end()
    engine = e.start_engine("r", store, **more)
    check(f"{kind}: an engine that starts can read all of them", wait_for(
        "an epoch", lambda: e.ask("r", "show")["stats"]["published"]))
    e.ask("r", "job-del", name="u0", tenant="red")
    check(f"{kind}: jobs can be deleted", wait_for("deletion", lambda: len(
        e.ask("r", "show")["jobs"]) == n + len(added) - 1))
    check(f"{kind}: the engine ends as it should", engine.end() == 0)


def test_embedded():
    subprocess.run(["chmod", "755", RUN], check=True)
    long_names()
    room_is_kept({"kind": "embedded", "socket": f"{RUN}/store.sock"})


def test_etcd():
    """With jobs of hosts of another shard, as its engine writes them."""
    etcd = e.Etcd()
    others = json.dumps({"demands": [{**d, "src": "x" + d["src"], "dst": "x" + d["dst"]}
                                     for d in TEXT]}, separators=(",", ":"))
    for i in range(OTHERS):
        etcd.put(f"job//x{i}", others)
    room_is_kept({"kind": "etcd", "endpoints": etcd.endpoints}, OTHERS * len(others))


if __name__ == "__main__":
    sys.exit(e.main((test_embedded, test_etcd)))
