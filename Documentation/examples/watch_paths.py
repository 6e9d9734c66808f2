#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1
"""
Hear from srpold what becomes of the paths of one's demands. As a command, a line for
each change, until it is killed:

    watch_paths.py [--owner NAME] [--socket PATH]

In a serving system that chooses among replicas:

    paths = watch_paths.Paths()     # once in a process, after it forked
    best = max(replicas, key=lambda host: paths.usable(host))

usable() does not wait: a thread listens, and connects again when srpold was away.
Demands are announced by kv_transfer.py or otherwise. The messages are in
Documentation/interface.rst.
"""

import argparse
import json
import socket
import sys
import threading
import time

SOCKET = "/run/srpold/default.demands"


class Paths:
    """@changed: called with each event, by the thread; may be None."""

    def __init__(self, path=SOCKET, owner=None, changed=None, retry=1):
        self.path, self.retry, self.changed = path, retry, changed
        self.request = {"version": 1, "request": "watch"}
        if owner:
            self.request["owner"] = owner
        self.told = {}		# last event of each destination
        self.error = None
        threading.Thread(target=self.run, daemon=True).start()

    def usable(self, host):
        """Share of the paths to a host that are usable; 1 if nothing is known."""
        events = [e for e in list(self.told.values())
                  if e["dst"] == host and e["paths"]]
        paths = sum(len(e["paths"]) for e in events)
        return sum(e["usable"] for e in events) / paths if paths else 1

    def run(self):
        while True:
            try:
                self.listen()
            except (OSError, ValueError, KeyError) as why:
                self.error = f"{self.path}: {why}"
            # what was told is as old as the connection
            self.told = {}
            time.sleep(self.retry)

    def listen(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.path)
            s.sendall(json.dumps(self.request).encode() + b"\n")
            for line in s.makefile():
                self.take(json.loads(line))

    def take(self, event):
        if "error" in event:
            raise ValueError(event["error"])
        key = event.get("color"), event.get("source"), event.get("endpoint")
        if event.get("event") == "paths":
            self.told[key] = event
        elif event.get("event") == "end":
            self.told.pop(key, None)
        if "event" in event and self.changed:
            self.changed(event)


def show(event):
    if event["event"] != "paths":
        return
    down = [p.get("name", str(p["path"])) for p in event["paths"] if p["state"] != "up"]
    print(f"{event['src']} to {event['dst']}: {event['usable']} of",
          f"{len(event['paths'])} paths", *(["without", *down] if down else []),
          *(["because of", *event["because"]] if event["because"] else []), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--owner")
    parser.add_argument("--socket", default=SOCKET)
    args = parser.parse_args()
    paths = Paths(args.socket, args.owner, show)
    said = None
    while True:
        time.sleep(1)
        if paths.error != said:
            said = paths.error
            print(said, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
