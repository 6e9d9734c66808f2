#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What srpol-fabricd tells programs: /metrics, held to promtool and to another
parser, the Grafana dashboard, which must ask for nothing that is not there,
and /stream, whose changes must add up to the state.
"""

import json
import re
import subprocess
import sys
import time

from prometheus_client.openmetrics.parser import \
    text_string_to_metric_families

import engine
from engine import BUILD, RUN, TOP, ask, check, store_put, wait_for
from page import STORE, Page, link, report

OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}


def metrics(page):
    """By name and labels, of both formats."""
    families = {}
    for family in text_string_to_metric_families(
            page.get("/metrics", headers=OPENMETRICS)[1].decode()):
        for s in family.samples:
            families[s.name, tuple(sorted(s.labels.items()))] = s.value
    return families


def value(page, name, **labels):
    return metrics(page).get((f"srpol_fabric_{name}",
                              tuple(sorted(labels.items()))))


def test_metrics(page):
    answer, text = page.get("/metrics")
    check("a scraper that wants nothing else gets the older text format",
          answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
          and b"# EOF" not in text and
          b"# TYPE srpol_fabric_plans_total counter" in text)
    answer, modern = page.get("/metrics", headers=OPENMETRICS)
    check("who accepts OpenMetrics gets it", modern.endswith(b"# EOF\n") and
          answer.headers["Content-Type"].startswith(
              "application/openmetrics-text; version=1.0.0"))
    for name, body in (("text", text), ("OpenMetrics", modern)):
        done = subprocess.run([f"{BUILD}/tools/bin/promtool", "check",
                               "metrics"], input=body, capture_output=True,
                              check=False)
        # as for "srpol metrics": in OpenMetrics a counter's help stands at
        # its family, which promtool does not know
        said = [x for x in (done.stdout + done.stderr).decode().splitlines()
                if name == "text" or not x.endswith("_total no help text")]
        check(f"promtool finds nothing wrong in {name}", not said, said)
    check("the job is counted, and its demands",
          value(page, "jobs") == 1 and value(page, "demands") == 12,
          metrics(page))
    report("h0", 1, link("leaf0.0", "spine0.2", 0),
           link("leaf1.1", "spine1.3", 100000000000))
    wait_for("the link", lambda: value(page, "links", state="down") == 1)
    check("links by state, and how much of its rate a link carries",
          value(page, "links", state="reduced") == 1 and
          value(page, "links", state="up") == 38 and
          value(page, "link_capacity_ratio", **{
              "from": "leaf1.1", "to": "spine1.3"}) == 0.25, metrics(page))
    check("switches have the time that their busiest link needs",
          value(page, "switch_busy_seconds", switch="spine0.0",
                tier="spine") > 0)


# What the hosts of an even all-to-all send over the fabric's cables, in kbit/s:
# each of the 2 * 4 * 4 carries the same, either way.
def even(kbps):
    return [(f"leaf{p}.{i}", f"spine{p}.{s}", kbps) for p in range(2)
            for i in range(engine.LEAVES) for s in range(engine.SPINES)]


def measured(hosts, host, loads, down=True):
    words = [f"{a} {b} {k}" for a, b, k in loads if a.endswith(f".{host[1:]}")]
    words += [f"{b} {a} {k}" for a, b, k in loads
              if down and a.endswith(f".{host[1:]}")]
    hosts.tell(f"measured {host} {' '.join(words)}")


def planning(page):
    """Events, and the epoch in force, after half a second."""
    time.sleep(0.5)
    return value(page, "events_total"), page.state()["engine"]["epoch"]


def all_planned(page):
    """The same, once what came before is planned for."""
    last = None
    while last != (now := planning(page)):
        last = now
    return now


def test_measured(page, hosts):
    state = page.state()["load"]
    check("nobody said anything: nothing is compared",
          state["hosts"] == 0 and state["off_plan"] is None, state)
    planned = all_planned(page)
    for host in engine.HOSTS:
        measured(hosts, host, even(40_000_000))
    wait_for("all hosts", lambda: page.state()["load"]["hosts"] == 4)
    state = page.state()
    check("traffic as planned is not off the plan", state["load"]["off_plan"] < 0.02,
          state["load"])
    check("the sum over hosts is all that they send",
          state["load"]["bps"] == 64 * 40e9, state["load"])
    check("a drawn link has its load",
          all(abs(x["used"] - 0.1) < 1e-6 for x in state["links"]), state["links"])
    check("and so has a switch", abs(state["tiers"][0]["blocks"][0]["used"] -
                                     0.1) < 1e-6, state["tiers"][0])
    block = json.loads(page.get("/api/block?tier=spine&block=0")[1])
    check("the links of a block have theirs, by direction",
          all(x["out_bps"] == x["in_bps"] == 40e9 for x in block["links"]), block)
    check("metrics have it", value(page, "measured_hosts") == 4 and
          abs(value(page, "measured_bytes_per_second") - 64 * 5e9) < 1 and
          abs(value(page, "switch_used_ratio", switch="leaf0.1",
                    tier="leaf") - 0.1) < 1e-6 and
          abs(value(page, "link_used_ratio", **{
              "from": "leaf0.1", "to": "spine0.2"}) - 0.1) < 1e-6 and
          value(page, "off_plan_ratio") < 0.02, metrics(page))
    show = ask("page", "show")["load"]
    check("srpol fabric show has the sum", show["hosts"] == 4 and
          show["bps"] == 64 * 40e9 and show["off_plan"] < 0.02, show)

    s = Stream(page)
    while not s.syncs:
        s.read()
    # all that a leaf sends goes up one cable
    one = [x for x in even(40_000_000) if x[0] != "leaf0.0"]
    one.append(("leaf0.0", "spine0.0", 160_000_000))
    measured(hosts, "h0", one, down=False)
    down = "/load/links[from=leaf0.0][to=spine0.0]/used"
    s.until(down, 0.4)
    off = page.state()["load"]["off_plan"]
    # 64 links planned alike; of 56 parts one has four, 52 have one, 11 none
    check("traffic elsewhere than planned is told as such",
          abs(off - (4 / 56 - 1 / 64 + 52 * (1 / 56 - 1 / 64))) < 0.01, off)
    check("the stream has it by its path", s.atomic == 1, s.atomic)

    before = hosts.stats()["h0"]["loads"]
    for _ in range(5):
        measured(hosts, "h0", [(a, b, k + 1_000_000 // 4) for a, b, k in one],
                 down=False)
    check("what is nearly the same is not written again",
          hosts.stats()["h0"]["loads"] == before, hosts.stats())
    check("loads are no events, and no reason to plan",
          planning(page) == planned, (planned, planning(page)))


def test_measured_ends(page, hosts):
    topology = page.state()["engine"]["topology"]
    good = {"topology": topology, "links": [[0, 5]], "rest": 0}
    wrong = ["nonsense", "[]", "{}", {**good, "topology": "0" * 64},
             {**good, "links": [[0, -1]]}, {**good, "links": [[99999, 1]]},
             {**good, "links": [[1, 1], [0, 1]]}, {**good, "links": [[1, 1], [1, 1]]},
             {**good, "links": [[0]]}, {**good, "links": [[0, 1 << 32]]},
             {**good, "links": [[i, 1] for i in range(1025)]},
             {**good, "links": [[0, 1e308]]}, {**good, "links": [[0, float("nan")]]},
             {**good, "links": [[-1, 1]]}, {**good, "links": [[0, 1 << 70]]},
             "[" * 100_000, '{"links":' * 10_000, {**good, "rest": 1e308},
             {**good, "rest": -1}, {**good, "more": 1}]
    refused = value(page, "measured_refused_total")
    for text in wrong:
        store_put("load/0/leaf0.0/h0", text if isinstance(text, str) else
                  json.dumps(text))
    store_put("load/0/leaf0.0/nobody", json.dumps(good))
    wait_for("refusals", lambda: value(page, "measured_refused_total") ==
             refused + len(wrong) + 1)
    check("what is no load is refused and counted, and its host's no longer counts",
          value(page, "measured_hosts") == 3, metrics(page))
    refused = value(page, "measured_refused_total")
    hosts.tell("measured h1 h2 leaf0.2 400000")
    wait_for("a refusal", lambda: value(page, "measured_refused_total") > refused and
             value(page, "measured_hosts") < 3)
    check("nobody says what another host's NIC sends",
          value(page, "measured_hosts") == 2, metrics(page))
    hosts.process.end(9)
    wait_for("the end of leases", lambda: page.state()["load"]["hosts"] == 0)
    state = page.state()
    check("what dead hosts said ends with their lease", state["load"]["bps"] == 0 and
          all(x["used"] == 0 for x in state["links"]), state["load"])


def test_dashboard(page):
    with open(f"{TOP}/Documentation/grafana-fabric.json") as f:
        dashboard = json.load(f)
    told = {name for name, _ in metrics(page)}
    asked = set()
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            asked |= set(re.findall(r"srpol_\w+", target["expr"]))
    check("the dashboard asks for metrics that exist", asked and
          asked <= told, asked - told)
    forgotten = told - asked - {"srpol_fabric_engine_info",
                                "srpol_fabric_term"}
    check("and for all of them", not forgotten, forgotten)
    queries = f"{RUN}/rules.yml"
    with open(queries, "w") as f:
        json.dump({"groups": [{"name": "x", "rules": [
            {"record": f"x:{i}", "expr": t["expr"]} for i, t in enumerate(
                t for p in dashboard["panels"] for t in p["targets"])]}]}, f)
    done = subprocess.run([f"{BUILD}/tools/bin/promtool", "check", "rules",
                           queries], capture_output=True, check=False)
    check("Prometheus understands its queries", done.returncode == 0,
          done.stderr + done.stdout)
    places = [tuple(p["gridPos"].values()) for p in dashboard["panels"]]
    check("panels do not lie on each other", not any(
        a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and
        a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
        for i, a in enumerate(places) for b in places[:i]), places)


def paths(state):
    """The state as the stream has it, by our own reckoning."""
    out = {}

    def name(o, i):
        for ends in ("from", "to"), ("src", "dst"):
            if ends[0] in o:
                return "".join(f"[{key}={o[key]}]" for key in (
                    *ends, "rail", "dst_rail", "color") if key in o)
        for key in ("name", "tier", "host", "job"):
            if isinstance(o.get(key), str):
                return f"[{key}={o[key]}]"
        return f"[index={i}]"

    def go(path, v):
        if isinstance(v, dict):
            for key, member in v.items():
                go(f"{path}/{key}", member)
        elif isinstance(v, list) and v and isinstance(v[0], dict):
            for i, o in enumerate(v):
                go(path + name(o, i), o)
        else:
            out[path] = v

    go("", state)
    return out


class Stream:
    def __init__(self, page):
        self.values = {}
        self.atomic = self.syncs = self.deleted = 0
        self.file = wait_for("a stream", lambda: self.begin(page))

    def begin(self, page):
        """None if too much is asked for at the moment."""
        s = page.socket("GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n")
        file = s.makefile("rb")
        status = file.readline()
        while file.readline() not in (b"\r\n", b""):
            pass
        return file if b" 200 " in status else None

    def read(self):
        line = json.loads(self.file.readline())
        if "sync_response" in line:
            self.syncs += 1
            return
        update = line["update"]
        if update.get("atomic"):
            self.atomic += 1
            self.values = {}
        for path in update.get("delete", []):
            self.deleted += 1
            del self.values[path]
        for u in update.get("update", []):
            self.values[u["path"]] = u["val"]

    def until(self, path, wanted):
        while self.values.get(path) != wanted:
            self.read()


def test_stream(page):
    s = Stream(page)
    while not s.syncs:
        s.read()
    check("the stream begins with all there is, then says that this was all",
          s.atomic == 1 and s.values["/engine/name"] == "page")
    cut = "/links[from=leaf0.0][to=spine0.3]/capacity"
    check("a link has a path", s.values[cut] == 400000000000, s.values)
    report("h0", 2, link("leaf0.0", "spine0.3", 0))
    s.until(cut, 0)
    check("a link that is cut is told by its path", s.atomic == 1)
    report("h0", 3)
    s.until(cut, 400000000000)
    s.until("/failures/n", 0)
    check("what is gone is deleted", s.deleted > 0 and not any(
        p.startswith("/failures/links[") for p in s.values))
    store_put("job/t/b", engine.JOB)
    s.until("/jobs/n", 2)
    s.until("/plan/demands", 24)
    want = paths(page.state())
    while s.values != want:
        s.read()
    check("all changes together are the state", s.atomic == 1 and s.syncs == 1)

    def first():
        with Stream(page).file as file:
            return file.readline()

    # it has the time at which it was made
    check("whoever connects again gets the same line while nothing changes",
          wait_for("two in a row", lambda: first() == first()))


def test_all():
    page = Page("page")
    store_put("job/t/a", engine.JOB)
    wait_for("a plan", lambda: (page.state()["plan"] or {}).get("demands"))
    for test in (test_metrics, test_stream):
        test(page)
    hosts = engine.Hosts("load-hosts", engine.HOSTS, STORE, **{"lease-s": 10})
    wait_for("plans", lambda: all(hosts.epoch(h) for h in engine.HOSTS))
    test_measured(page, hosts)
    report("h0", 9, link("leaf1.1", "spine1.3", 100000000000))
    wait_for("the link", lambda: value(page, "links", state="reduced"))
    test_dashboard(page)
    test_measured_ends(page, hosts)
    check("the engine ends as it should", page.process.end() == 0)


if __name__ == "__main__":
    sys.exit(engine.main((test_all,)))
