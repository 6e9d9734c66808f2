#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Operator > reservation > job > forecast > default, as a whole: of one pair of hosts,
what a host is told as each of them comes, and as each of them goes again. That an
operator's candidate path outranks a plan's on the host is in e2e_fabric.sh.
"""

import json
import sys

import engine as e
import tenants as t
from engine import HOSTS, RUN, ask, check, wait_for
from forecasts import begin, pairs, tell
from tenants import add, fabric, run, tenants_of

STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
COLOR = 10


def told(hosts):
    """Weights from h0 to h1 without a color and in the tenant's, on plane 0."""
    chunk = hosts.last("h0")["chunks"].get("leaf0.0", "")
    lines = [json.loads(line) for line in chunk.splitlines()]
    return tuple(next((x["weights"] for x in lines if x.get("to") == "leaf0.1" and
                       x.get("color", 0) == color), None) for color in (0, COLOR))


def word():
    """What became of the forecast, and how many bytes of it count."""
    why = ask("pr", "why", src="h0", dst="h1")
    return (why["forecasts"][0]["state"],
            sum(p["forecast_bytes"] for p in why["planes"]))


def test_precedence():
    engine = begin("pr", STORE)
    hosts = e.Hosts("pr-hosts", HOSTS, STORE, **{"lease-s": 60})
    wait_for("a plan", lambda: hosts.epoch("h0"))
    check("default: the plan says nothing of the pair, weights are the host's",
          told(hosts) == (None, None) and pairs("pr") == {}, told(hosts))

    tell(hosts, "h0", ("h1", 10 ** 9, 0, 600000, 0))
    wait_for("its plan", lambda: told(hosts)[0])
    check("a forecast: the plan has weights for it",
          told(hosts) == ("ffff", None) and pairs("pr") == {(0, 1): ["forecasts"]}
          and word() == ("planned", 10 ** 9), (told(hosts), word()))

    add("pr", "said", "demand", "h0", "h1", "77000")
    wait_for("its plan", lambda: pairs("pr") == {(0, 1): ["jobs"]})
    why = ask("pr", "why", src="h0", dst="h1")
    check("a job outranks the forecast: its bytes count, the forecast's do not",
          word() == ("covered", 0) and
          sum(p["bytes"] for p in why["planes"]) == 77000, why)
    fabric("pr", "job", "del", "said")
    wait_for("the forecast again", lambda: word() == ("planned", 10 ** 9))

    # half of what two of eight spines carry, by the operator's choice of them
    words = ("red", "color", str(COLOR), "guaranteed", "800G", "paths")
    tenants_of("pr", " ".join((*words, "spine0.0,spine1.0")))
    reply = add("pr", "kept", "tenant", "red", "demand", "h0", "h1", "1000000",
                "bandwidth", "400G")
    check("a reservation is accepted", reply["class"] == "reservation", reply)
    wait_for("its second step", lambda: t.state("pr", "kept") == "reserved")
    wait_for("its plan", lambda: told(hosts)[1])
    check("a reservation outranks the forecast: weights in its color, by its links",
          told(hosts)[1] == "f000" and word() == ("covered", 0),
          (told(hosts), word()))

    # what is forecast beside it gets what is left
    tell(hosts, "h0", ("h1", 10 ** 9, 0, 600000, 0),
         ("h2", 10 ** 9, 0, 600000, 0))

    def other():
        return t.chunk_lines(hosts, "h0", "leaf0.0", 0).get("leaf0.2")

    beside = wait_for("a forecast beside it", other)
    check("another forecast is placed on what the reservation leaves",
          int(beside[0], 16) < min(int(w, 16) for w in beside[1:]) and
          told(hosts)[1] == "f000", beside)

    # the operator moves the tenant
    before = hosts.epoch("h0")
    status, _, text = run("pr", "tenant", "add", *words, "spine0.3,spine1.3")
    wait_for("another plan", lambda: told(hosts)[1] not in (None, "f000"))
    check("the operator outranks the reservation: it goes where it may go now",
          status == 0 and told(hosts)[1] == "000f" and hosts.epoch("h0") > before,
          (text, told(hosts)))
    # while it moves, what it had is kept for it as well
    now = wait_for("room", lambda: t.state("pr", "kept") == "reserved" and
                   other()[0] == "f" and other())
    check("the forecast beside it makes room there", now == beside[::-1],
          (beside, now))

    # and back, one after the other
    fabric("pr", "job", "del", "kept", "tenant", "red")
    wait_for("the forecast again", lambda: told(hosts) == ("ffff", None) and
             word() == ("planned", 10 ** 9))
    check("without the reservation the forecast counts again", True)
    tell(hosts, "h0")
    wait_for("nothing", lambda: told(hosts) == (None, None) and pairs("pr") == {})
    check("without the forecast it is the default again", True)
    check("the engine ends as it should", engine.end() == 0)
    check("hosts end as they should", hosts.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_precedence,)))
