#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Keys of jobs that are longer than any engine writes: who may write jobs may write them
into the store, and the page shows jobs by their keys.
"""

import json
import sys
import urllib.request

import engine as e
from engine import HOSTS, RUN, check, wait_for

LONGEST = 255		# bytes of a key that an engine takes


def key(length):
    """Of a job, with a tenant's name that is as long as that allows."""
    return f"job/{'t' * (length - len('job//x'))}/x"


def test_long_key():
    store = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
    port = e.free_ports(1)[0]
    engine = e.start_engine("k", store, page=f"127.0.0.1:{port}")
    wait_for("leader", lambda: e.ask("k", "show")["leads"])
    hosts = e.Hosts("k-hosts", HOSTS, store, **{"lease-s": 60})

    def shown():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60):
            pass
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/state",
                                    timeout=60) as f:
            return json.load(f)

    e.store_put(key(LONGEST), e.JOB)
    wait_for("the longest key", lambda: len(e.ask("k", "show")["jobs"]) == 1)
    check("the page has a job with the longest key", wait_for("it", lambda: [
        job["job"][-5:] for job in shown()["jobs"]["list"]] == ["ttt/x"]))
    for length in LONGEST + 1, LONGEST + 9, 70 * LONGEST:
        before = e.ask("k", "show")["stats"]["events"]
        e.store_put(key(length), e.JOB)
        state = wait_for("the page after that", lambda n=before: (
            s := shown())["stats"]["events"] > n and s)
        check(f"a key of {length} bytes is refused", state["jobs"]["n"] == 1)
    check("the engine ends as it should", engine.end() == 0)
    check("hosts end as they should", hosts.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_long_key,)))
