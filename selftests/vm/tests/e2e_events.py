#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
An application that watches what becomes of its paths:

    e2e_events.py watch SOCKET REQUEST...   says each request, then prints a line
                                            for each line that comes, with "heard_us"
    e2e_events.py refused SOCKET N          connections of one user that watch, and
                                            what the one after N of them is told
    e2e_events.py check LOG...              each line of these is what its schema
                                            says: prints how many, or what is wrong
"""

import json
import os
import socket
import sys
import time

INTERFACE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         "../../../Documentation/interface")


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s


def watch(path, *requests):
    s = connect(path)
    for request in requests:
        s.sendall(request.encode() + b"\n")
    for line in s.makefile():
        print(json.dumps({"heard_us": time.time_ns() // 1000,
                          "line": json.loads(line)}), flush=True)


def refused(path, n):
    kept = []
    for _ in range(int(n) + 1):
        kept.append(connect(path))
        kept[-1].sendall(b'{"version": 1, "request": "watch"}\n')
        answer = json.loads(kept[-1].makefile().readline())
        if "error" in answer:
            break
    print(len(kept) - 1, answer.get("error"))


def check(*logs):
    import jsonschema
    valid = {}
    for name in "WatchEvent", "WatchResponse", "DemandResponse":
        with open(f"{INTERFACE}/{name}.json", encoding="ascii") as f:
            valid[name] = jsonschema.Draft7Validator(json.load(f))
    n = 0
    for log in logs:
        with open(log, encoding="ascii") as f:
            lines = [json.loads(x)["line"] for x in f if x.endswith("\n")]
        for line in lines:
            n += 1
            names = ["WatchEvent"] if "event" in line else \
                ["WatchResponse", "DemandResponse"]
            if not any(valid[x].is_valid(line) for x in names):
                sys.exit(f"{log}: {line}: {valid[names[0]].is_valid(line)}")
    print(n)


{"watch": watch, "refused": refused, "check": check}[sys.argv[1]](*sys.argv[2:])
