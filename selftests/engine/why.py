#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srpol fabric why between hosts of several GPUs: each rail has leaves of its own, and so
paths of its own.
"""

import json
import subprocess
import sys

import engine as e
from engine import RUN, ask, check, store_put, wait_for
from tenants import SRPOL, fabric, refused

SPINES = 2
STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}


def topology():
    """Two groups of a host each, with a leaf for each of its two GPUs; h1 has one more."""
    leaves = [f"l{g}.{r}" for g in range(2) for r in range(3) if (g, r) != (0, 2)]
    spines = [f"s{i}" for i in range(SPINES)]
    t = {"srpol-topology": 1,
         "switches": [{"name": name, "role": "leaf" if name[0] == "l" else "spine",
                       "locator": f"fc00:0:{i + 1:x}::/48"}
                      for i, name in enumerate(leaves + spines)],
         "links": [{"from": a, "to": b, "rate": "400G"} for a in leaves for b in spines],
         "hosts": [{"name": f"h{g}", "locator": f"fc00:1:{g + 1}::/48", "nics": [
             {"name": f"e{x[-1]}", "leaf": x, "rail": int(x[-1]), "rate": "400G"}
             for x in leaves if x.startswith(f"l{g}")]} for g in range(2)]}
    with open(f"{RUN}/two-rails.json", "w", encoding="utf-8") as f:
        json.dump(t, f)
    return f"{RUN}/two-rails.json"


def test_rails():
    server = e.start_engine("rails", STORE, topology=topology())
    wait_for("an epoch", lambda: ask("rails", "show")["epoch"])
    store_put("job/t/a", json.dumps({"demands": [
        {"src": "h0", "dst": "h1", "rail": 1, "bytes": 10 ** 9}]}))
    wait_for("a plan", lambda: ask("rails", "plan")["pairs"])

    def asked(*words):
        said = fabric("rails", "why", "h0", "h1", *words)
        return (said["rail"], said["dst_rail"]), [
            (p["from"], p["to"], p["planned"], p["bytes"], len(p["paths"]))
            for p in said["planes"]]

    for words, rails, plane in (
            ((), (0, 0), ("l0.0", "l1.0", False, 0, SPINES)),
            (("rail", "1"), (1, 1), ("l0.1", "l1.1", True, 10 ** 9, SPINES)),
            (("rail", "0", "to-rail", "2"), (0, 2), ("l0.0", "l1.2", False, 0, SPINES))):
        said = asked(*words)
        check(f"why {' '.join(words) or 'without rails'}: paths of rails {rails}",
              said == (rails, [plane]), said)
    text = subprocess.run([SRPOL, "fabric", "why", "h0", "h1", "rail", "1", "socket",
                           f"{RUN}/rails.sock"], capture_output=True, text=True,
                          check=True).stdout
    check("text has the rails", text.startswith("from h0 rail 1 to h1 rail 1 epoch "), text)
    for words, text in (
            (("h0", "h1", "rail", "2"), 'host "h0" has no NIC of rail 2'),
            (("h0", "h1", "rail", "0", "to-rail", "5"), 'host "h1" has no NIC of rail 5'),
            (("h0", "l0.0"), 'no host "l0.0"'), (("h9", "h1"), 'no host "h9"')):
        said = refused("rails", "why", *words)
        check(f"why {' '.join(words)} is refused: {text}", text in said, said)
    check("the engine ends as it should", server.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_rails,)))
