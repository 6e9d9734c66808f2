#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The example of srpol-fabric(8), line by line, with a fabric that has its names."""

import json
import shlex
import subprocess
import sys
import time

import engine as e
from engine import RUN, TOP, check, wait_for
from page import STORE
from tenants import SRPOL


def topology():
    """Hosts a, b and c, each below a leaf; spine1 can aggregate."""
    switches = [{"name": f"leaf{i}", "role": "leaf", "plane": 0,
                 "locator": f"fc00:0:1{i}::/48"} for i in range(1, 4)]
    switches += [{"name": f"spine{i}", "role": "spine", "plane": 0,
                  "locator": f"fc00:0:2{i}::/48"} for i in range(1, 4)]
    switches[3]["functions"] = [{"name": "sum", "kind": "aggregate", "function": "::a1",
                                 "ratio": 0.5}]
    hosts = [{"name": name, "locator": f"fc00:1:{i}::/48", "nics": [
        {"name": "eth0", "leaf": f"leaf{i}", "plane": 0, "rate": "400G",
         "address": f"fd00:{i}:1::1", "gateway": f"fd00:{i}:1::fe"}]}
        for i, name in enumerate("abc", 1)]
    links = [{"from": f"leaf{leaf}", "to": f"spine{spine}", "rate": "400G"}
             for leaf in range(1, 4) for spine in range(1, 4)]
    with open(f"{RUN}/topology.json", "w", encoding="ascii") as f:
        json.dump({"srpol-topology": 1, "switches": switches, "hosts": hosts,
                   "links": links}, f)


def example():
    with open(f"{TOP}/Documentation/man/srpol-fabric.8", encoding="ascii") as f:
        text = f.read().split(".SH EXAMPLE\n.nf\n")[1].split(".fi\n")[0]
    return text.splitlines()


def run(line):
    return subprocess.run([SRPOL, *shlex.split(line)[1:], "socket", f"{RUN}/x.sock"],
                          capture_output=True, text=True, check=False)


def test_example():
    topology()
    server = e.start_engine("x", STORE)
    wait_for("a plan", lambda: e.ask("x", "plan"))
    lines = example()
    check("there are some", len(lines) >= 8, lines)
    for line in lines:
        done = run(line)
        # who types them is slower
        while "not acknowledged yet" in done.stdout:
            time.sleep(0.1)
            done = run(line)
        check(line, done.returncode == 0, done.stdout + done.stderr)
    check("the engine ends as it should", server.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_example,)))
