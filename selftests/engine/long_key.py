#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Keys of jobs that no engine writes, as they are longer, or no text: who may write jobs
may write them into the store, and the page shows jobs by their keys.
"""

import base64
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


def test_no_text():
    """What a terminal would obey, and what JSON cannot say."""
    etcd = e.Etcd()
    store = {"kind": "etcd", "endpoints": etcd.endpoints}
    port = e.free_ports(1)[0]
    engine = e.start_engine("n", store, page=f"127.0.0.1:{port}")
    for key, n in ((b"job/a\xffb/x", 1), (b"job/red/a\xc3", 2),
                   (b"job/red/\x1b[31mx", 3), (b"job/a\nb/x", 4), (b"job/b\x7f/x", 5),
                   (b"job/c\0b/x", 6), (b"job/a\0b/x", 7)):
        urllib.request.urlopen(f"{etcd.endpoints[0]}/v3/kv/put", timeout=60, data=json.dumps({
            "key": base64.b64encode(b"/srpol/" + key).decode(),
            "value": base64.b64encode(e.JOB.encode()).decode()}).encode()).close()
        wait_for("refusal", lambda n=n: e.ask("n", "show")["stats"]["refused"] == n)
        check(f"a key that is {key} is refused", not e.ask("n", "show")["jobs"])
    etcd.put("job/red/x", e.JOB)
    wait_for("a job", lambda: e.ask("n", "show")["jobs"] == ["red/x"])
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/state", timeout=60) as f:
        state = json.load(f)
    check("the page has jobs of those whose they are",
          [state["tenants"][job["tenant"]] for job in state["jobs"]["list"]] == ["red"],
          (state["tenants"], state["jobs"]))
    check("the engine ends as it should", engine.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_long_key, test_no_text)))
