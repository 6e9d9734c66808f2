#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Documentation/interface: schemas against what programs really say and take, and the
same messages as protobuf, by protoc, Python's protobuf and libprotobuf-c. What the
engine and hosts say is read from their store; what srpold takes is asked of its own
code (demandd), what the engine takes of srpol-fabricd. A message with one member
changed has to be refused if the schema says so, and taken if it does not, but for
what no schema can know, such as names of hosts.
"""

import copy
import importlib
import json
import os
import subprocess
import sys
import time

import jsonschema
from google.protobuf import json_format

import engine as e
import functions
from engine import BUILD, HOSTS, RUN, ask, check, wait_for
from interface_kv import test_kv
from interface_watch import test_watch, test_watch_other_topology
from messages import INTERFACE, NAMES, VALID, compare, good, mutations, schema, seen, talk

STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
# Names of members of pairs, which are arrays in JSON.
PAIRS = {("Load", "links"): ("link", "kbps"),
         ("Index", "limits"): ("color", "rate"),
         ("Flows", "flows"): ("path", "flows")}


# --- srpold

def test_srpold():
    path = f"{RUN}/demandd.sock"
    demandd = e.Process("demandd", f"{BUILD}/selftests/engine/demandd",
                        f"{RUN}/topology.json", path)
    wait_for("demandd", lambda: os.path.exists(path))

    def take(m):
        answer = good("DemandResponse", talk(path, json.dumps(m)))
        return answer.get("error")

    whole = {"version": 1, "request": "demands", "owner": "rank0", "demands": [
        {"src": "h0", "dst": "fd00:2:1::1", "bytes": 1 << 30, "in-ms": 5,
         "for-ms": 1000, "period-ms": 100, "job": "train"},
        {"src": "h0", "dst": "h2", "bytes": 1}]}
    check("DemandRequest: a good one is taken", take(good(
        "DemandRequest", whole)) is None)
    # the frame is the request server's, which knows requests by name
    compare("DemandRequest", whole, [("demands", 0), ("demands", 1), ()], take,
            ("no host or address", "no job"))
    command = [f"{BUILD}/bin/srpol", "engine", "demand"]
    subprocess.run([*command, "add", "mine", "src", "h0", "dst", "h3", "bytes",
                    "77", "in", "5s", "for", "10s", "every", "250ms", "socket",
                    path], check=True)
    shown = subprocess.run([*command, "show", "socket", path], check=True,
                           text=True, capture_output=True).stdout
    check("by the command likewise, and shown with its period", any(
        "demand mine" in x and "bytes 77" in x and x.endswith("every 250ms")
        for x in shown.splitlines()), shown)
    demandd.end()

# --- the engine and hosts

def put(key, value):
    assert e.store_put(key, value)


def keep_stored():
    """Each key with its schema; those that have none are the engine's own."""
    for key, text in e.stored().items():
        first = key.split("/")[0]
        if key.startswith("cfg/topology/"):
            good("Topology", json.loads(text))
        elif first == "plan" and key.endswith("/head"):
            good("Head", json.loads(text))
        elif first == "plan":
            for line in text.splitlines():
                of = json.loads(line)
                good("Flows" if "flows" in of else "Pair", of)
        elif first == "index":
            head, *lines = map(json.loads, text.splitlines())
            is_page = key.count("/") == 3
            good("Page" if is_page else "Index", head)
            for line in lines:
                good("Chunk" if is_page else "IndexLine", line)
        elif first in ("job", "link", "load", "demand", "ack"):
            good({"job": "Job", "link": "Report", "load": "Load",
                  "demand": "Forecasts", "ack": "Ack"}[first], json.loads(text))


def take_job(m):
    answer = good("JobResponse", talk(f"{RUN}/if.sock", json.dumps(m)))
    if "error" in answer:
        return answer["error"]
    reply = answer["reply"]
    if reply["decision"] == "accept" and not reply["what_if"]:
        ask("if", "job-del", name=reply["job"], tenant=reply["tenant"])
    return None


def test_jobs():
    whole = {"version": 1, "request": "job-add", "name": "j", "tenant": "t",
             "demands": [{"src": "h0", "dst": "h1", "rail": 0, "bytes": 5}],
             "in-ms": 1000, "duration-ms": 2000, "period-ms": 300, "flows": 2}
    check("JobRequest: a good one is taken",
          take_job(good("JobRequest", whole)) is None)
    semantic = "no host", "slash", "sends nothing", "no switch offers"
    compare("JobRequest", whole, [("demands", 0), ()], take_job, semantic)
    both = {**whole, "all-to-all": {"hosts": HOSTS, "bytes": 1}}
    check("JobRequest: traffic of both sorts is refused",
          take_job(both) and not VALID["JobRequest"].is_valid(both))
    whole = {"version": 1, "request": "job-add", "name": "j", "tenant": "red",
             "all-to-all": {"hosts": HOSTS, "rail": 0, "bytes": 10 ** 9},
             "guaranteed": "200G", "max": "300G", "for-s": 60}
    check("JobRequest: one with bandwidth is taken",
          take_job(good("JobRequest", whole)) is None)
    compare("JobRequest", whole, [("all-to-all",)], take_job, semantic)
    compare("JobRequest", {
        "version": 1, "request": "job-add", "name": "j", "tenant": "blue",
        "all-to-all": {"hosts": HOSTS, "bytes": 10 ** 9}, "via": "sum"}, [()],
        take_job, (*semantic, "no tenant", "the tenant's other jobs"))
    collective = {"version": 1, "request": "job-add", "name": "j", "tenant": "red",
                  "collective": {"kind": "all-reduce", "hosts": HOSTS, "rail": 0,
                                 "bytes": 10 ** 9}}
    for kind in ("all-reduce", "all-gather", "reduce-scatter", "broadcast",
                 "all-to-all"):
        collective["collective"]["kind"] = kind
        check(f"JobRequest: {kind} is taken",
              take_job(good("JobRequest", collective)) is None)
    compare("JobRequest", collective, [("collective",), ()], take_job, semantic)
    both = {**collective, "all-to-all": {"hosts": HOSTS, "bytes": 1}}
    check("JobRequest: a collective and traffic of another sort is refused",
          "collective" in take_job(both) and not VALID["JobRequest"].is_valid(both))
    elastic = {**whole, "least": "100G", "priority": 0, "what-if": True}
    check("JobRequest: one that is elastic is taken",
          take_job(good("JobRequest", elastic)) is None)
    compare("JobRequest", elastic, [()], take_job, (
        *semantic, "no such tenant", "is of a job with", "are of a job with", "is more than",
        "is less than"))
    deadline = {"version": 1, "request": "job-add", "name": "j", "tenant": "red",
                "demands": [{"src": "h0", "dst": "h1", "bytes": 10 ** 9}],
                "deadline-ms": 10 ** 4, "in-ms": 5, "duration-ms": 10 ** 3}
    check("JobRequest: one with a deadline is taken",
          take_job(good("JobRequest", deadline)) is None)
    compare("JobRequest", deadline, [()], take_job, (
        *semantic, "no such tenant", "it takes", "is before", "is of a job", "sends"))
    take_job(good("JobRequest", {**whole, "guaranteed": "1800G", "max": "2T"}))
    ask("if", "job-add", name="low", tenant="red", guaranteed="400G", least="1G",
        priority=1, **{"all-to-all": whole["all-to-all"]})
    wait_for("its epoch", lambda: [j["state"] for j in ask("if", "jobs")
                                   if j["name"] == "low"] == ["reserved"])
    take_job(good("JobRequest", {**elastic, "priority": 7, "guaranteed": "600G",
                                 "max": "2T", "least": "600G"}))
    ask("if", "job-del", name="low", tenant="red")
    check("JobResponse: with one that is lowered", any(
        m.get("reply", {}).get("lowered") for m in seen["JobResponse"]),
        seen["JobResponse"][-1])
    check("JobResponse: with a link and an offer", any(
        m.get("reply", {}).get("offer") and m["reply"]["link"]
        for m in seen["JobResponse"]), seen["JobResponse"][-1])


def test_forecasts():
    """In the order in which they are written, so that the last one says it."""
    topology = ask("if", "show")["topology"]
    number = 0

    def word(host, dst, size):
        return {"version": 1, "host": host, "topology": topology, "demands": [
            {"rail": 0, "dst": dst, "dst_rail": 0, "bytes": size,
             "start_ms": 1000, "duration_ms": 86400000, "period_ms": 9}],
            "rest": {"demands": 1, "bytes": 2}}

    now = int(time.time() * 1000)

    def fresh(m):
        for d in m["demands"]:
            d["start_ms"] = now
        return m

    def take(m):
        nonlocal number
        number += 1
        before = ask("if", "show")["forecasts"]["refused"]
        put("demand/0/leaf0.1/h1", json.dumps(m))
        put("demand/0/leaf0.2/h2", json.dumps(fresh(word("h2", "h3",
                                                         10 ** 6 + number))))
        wait_for("the word after it", lambda: [
            f["bytes"] for f in ask("if", "why", src="h2", dst="h3")["forecasts"]]
            == [10 ** 6 + number])
        after = ask("if", "show")["forecasts"]["refused"]
        return None if after == before else "refused"

    whole = fresh(word("h1", "h2", 5))
    check("Forecasts: a good one is taken", take(whole) is None)
    # names of hosts, the digest, and that of day are not the schema's
    wrong = []
    for at in [("demands", 0), ("rest",), ()]:
        for what, m in mutations(whole, at):
            valid, why = VALID["Forecasts"].is_valid(m), take(m)
            named = what[-1] in ("x", "a/b") or what[-2:] == ("start_ms", 1 << 53)
            if valid != (why is None) and not (valid and named) and not (
                    what[-2] in ("rail", "dst_rail") and valid):
                wrong.append((what, valid, why))
            elif why is None:
                good("Forecasts", m)
    check(f"Forecasts: {number} are taken and refused as the schema says",
          not wrong, wrong[:5])
    for key in "demand/0/leaf0.1/h1", "demand/0/leaf0.2/h2":
        put(key, None)


def test_reports():
    def take(m):
        stats = ask("if", "show")["stats"]
        put("link/0/leaf0.1/h1", json.dumps(m))
        after = wait_for("the report", lambda: [
            x for x in [ask("if", "show")["stats"]] if x["events"] > stats["events"]])
        return None if after[0]["refused"] == stats["refused"] else "refused"

    whole = {"number": 5, "links": [
        {"from": "h1", "to": "leaf0.1", "capacity": 7}], "suspects": [
            {"confidence": 50, "links": [{"from": "leaf0.1", "to": "spine0.3"}]}],
             "passes": [{"from": "h1", "but": ["leaf0.1"]}]}
    check("Report: a good one is taken", take(whole) is None)
    wrong, n = [], 0
    for at in [("links", 0), ("suspects", 0, "links", 0), ("suspects", 0),
               ("passes", 0), ()]:
        for what, m in mutations(whole, at):
            if m == whole:
                continue
            n += 1
            valid, why = VALID["Report"].is_valid(m), take(m)
            # which names there are is not the schema's
            if valid != (why is None) and not (valid and what[-1] in ("x", "a/b")):
                wrong.append((what, valid, why))
            elif why is None:
                good("Report", m)
    check(f"Report: {n} are taken and refused as the schema says", not wrong, wrong[:5])
    put("link/0/leaf0.1/h1", None)


def test_engine():
    functions.with_functions()
    engine = e.start_engine("if", STORE, forecasts=1000)
    wait_for("leader", lambda: ask("if", "show")["leads"])
    hosts = e.Hosts("if-hosts", HOSTS, STORE)
    ask("if", "tenant-add", name="red", color=10, guaranteed=2 * 10 ** 12,
        max=2 * 10 ** 12, priority=7)
    put("job/t/a", e.JOB)
    hosts.tell("report h0 leaf0.0 spine0.2 100000000000")
    hosts.tell("suspect h1 50 leaf0.1 spine0.3 leaf0.2 spine0.3")
    hosts.tell("pass h2 leaf0.2 spine0.3")
    time.sleep(0.2)
    hosts.tell("pass h2 leaf0.2 spine0.3")
    hosts.tell("measured h0 h0 leaf0.0 5000 leaf0.0 spine0.1 3000")
    hosts.tell("demand h1 h0 1000000 0 60000 0, h2 5 100 60000 500")
    wait_for("a plan with the report", lambda: hosts.last("h0")["seen"] == 1)
    ask("if", "job-add", name="kept", tenant="red", demands=[
        {"src": "h0", "dst": "h1", "bytes": 5}], guaranteed="100G",
        **{"in-ms": 1000, "period-ms": 500})
    ask("if", "tenant-add", name="blue", color=11)
    ask("if", "tenant-add", name="green", color=12, backup=11,
        paths=["spine0.0", "spine1.0"])
    put("job/green/flows", json.dumps({**json.loads(e.JOB), "flows": 3}))
    put("job/blue/via", json.dumps({**json.loads(e.JOB), "via": "sum"}))
    wait_for("paths of flows", lambda: '"flows"' in
             hosts.last("h0")["chunks"]["leaf0.0"])
    wait_for("words of hosts", lambda: {"load", "demand", "link", "ack"} <=
             {k.split("/")[0] for k in e.stored()})
    wait_for("limits and backups", lambda: hosts.last("h0")["limits"] and
             hosts.last("h0")["backups"])
    wait_for("acknowledgements", lambda: [
        h["epoch"] for h in ask("if", "show")["hosts"]] ==
        [hosts.epoch("h0")] * len(HOSTS))
    keep_stored()
    check("engine and hosts say what the schemas say", {
        "Topology", "Head", "Index", "IndexLine", "Page", "Chunk", "Pair", "Flows",
        "Job",
        "Report", "Load", "Forecasts", "Ack"} <= set(seen), sorted(seen))
    hosts.end()
    # a job is not deleted before they have acknowledged, or their leases are over
    wait_for("the end of leases", lambda: not ask("if", "show")["hosts"])
    test_jobs()
    test_forecasts()
    test_reports()
    check("the engine ends as it should", engine.end() == 0)


# --- protobuf

def named(descriptor, spec, at):
    """Members that schema and .proto do not both have."""
    if "oneOf" in spec and not spec.get("properties"):
        spec = {"properties": {k: v for s in spec["oneOf"]
                               for k, v in s["properties"].items()}}
    fields = {f.json_name: f for f in descriptor.fields}
    odd = [f"{at}.{k}" for k in set(fields) ^ set(spec["properties"])]
    for key, sub in spec["properties"].items():
        field = fields.get(key)
        if not field or not field.message_type or \
                field.message_type.GetOptions().map_entry:
            continue
        if (descriptor.name, key) not in PAIRS:
            odd += named(field.message_type, sub.get("items", sub), f"{at}.{key}")
    return odd


def to_mapping(name, m):
    """Pairs are objects; a rate may be a number in JSON."""
    m = copy.deepcopy(m)
    for (of, key), names in PAIRS.items():
        if of == name and key in m:
            m[key] = [dict(zip(names, pair)) for pair in m[key]]
    for key in ("guaranteed", "max", "least"):
        if name == "JobRequest" and isinstance(m.get(key), int):
            m[key] = str(m[key])
    return m


def plain(m):
    """What is 0, empty or null is not there."""
    if isinstance(m, dict):
        m = {k: plain(v) for k, v in m.items()}
        return {k: v for k, v in m.items() if v not in (None, 0, "", [], {})}
    return [plain(v) for v in m] if isinstance(m, list) else m


def numbers(m):
    """64 bits are text in protobuf's JSON; rates and names stay what they are."""
    if isinstance(m, dict):
        return {k: int(v) if isinstance(v, str) and v.isdigit() and
                k not in ("weights", "guaranteed", "max", "least", "name", "job", "owner",
                          "digest", "topology") else
                int(v) if k == "guaranteed" and "decision" in m or
                k == "guaranteed" and "after_s" in m or
                k == "guaranteed" and set(m) == {"guaranteed"} else
                numbers(v) for k, v in m.items()}
    return [numbers(v) for v in m] if isinstance(m, list) else m


def without_unknown(m, descriptor):
    """Schemas that are open let through what has no field."""
    return json_format.Parse(json.dumps(m), descriptor._concrete_class(),
                             ignore_unknown_fields=True)


def test_protobuf():
    subprocess.run(["protoc", f"--proto_path={INTERFACE}", f"--python_out={RUN}",
                    f"{INTERFACE}/srpol.proto"], check=True)
    sys.path.insert(0, RUN)
    pb2 = importlib.import_module("srpol_pb2")
    types = pb2.DESCRIPTOR.message_types_by_name
    for name in NAMES:
        jsonschema.Draft7Validator.check_schema(schema(name))
    odd = [x for n in NAMES for x in named(types[n], schema(n), n)]
    check(f"{len(NAMES)} schemas are schemas, and name what srpol.proto does",
          not odd, odd)
    echo = subprocess.Popen([f"{BUILD}/selftests/engine/proto_echo"], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wrong, sizes, count = [], {}, 0
    for name in NAMES:
        for m in seen.get(name, []):
            mapped = to_mapping(name, m)
            packed = without_unknown(mapped, types[name]).SerializeToString()
            echo.stdin.write(f"{name} {packed.hex()}\n")
            echo.stdin.flush()
            line = echo.stdout.readline().strip()
            back = types[name]._concrete_class()
            if line == "none":
                wrong.append((name, m))
                continue
            back.ParseFromString(bytes.fromhex(line))
            again = numbers(json_format.MessageToDict(back))
            first = numbers(json_format.MessageToDict(
                without_unknown(mapped, types[name])))
            count += 1
            if plain(again) != plain(first) or (
                    name not in ("DemandRequest", "Forecasts") and
                    plain(again) != plain(numbers(mapped))):
                wrong.append((name, m, again))
            total = sizes.setdefault(name, [0, 0])
            total[0] += len(json.dumps(m, separators=(",", ":")))
            total[1] += len(packed)
    check(f"{count} messages that programs said or took are the same by way of protobuf and libprotobuf-c",
          not wrong and set(sizes) == set(NAMES), (wrong[:3], set(NAMES) - set(sizes)))
    for name, (text, packed) in sorted(sizes.items()):
        print(f"# {name}: {text} bytes as JSON, {packed} as protobuf")
    echo.stdin.write("Forecasts ffffff\nForecasts 0a\nNobody 00\n")
    echo.stdin.flush()
    check("what is no message is none",
          [echo.stdout.readline().strip() for _ in range(3)] == ["none"] * 3)
    echo.stdin.close()
    check("libprotobuf-c's program ends as it should", echo.wait() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_srpold, test_watch, test_watch_other_topology, test_kv,
                     test_engine, test_protobuf)))
