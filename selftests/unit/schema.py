#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The JSON schemas know every word that the commands print for a number."""
import json
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

from ktap import eq, main, test                         # noqa: E402

# Property of an object in a schema, and the table of lib/names.c with its words.
# A property "a.b" is "b" of the objects in "a".
TABLES = {
    "path": {"origin": "origins", "state": "path_states",
             "reason": "path_reasons", "encap": "encaps"},
    "policy": {"origin": "origins", "state": "policy_states",
               "reason": "policy_reasons", "mode": "modes",
               "spray": "sprays",
               "candidates.protocol_origin": "protocol_origins",
               "candidates.state": "policy_states",
               "candidates.reason": "policy_reasons",
               "candidates.segment_lists.state": "policy_states",
               "candidates.segment_lists.reason": "policy_reasons"},
    "rule": {"origin": "origins", "ordering": "orderings",
             "reason": "rule_reasons", "policies.state": "policy_states",
             "policies.reason": "policy_reasons"},
    "rule-test": {"mode": "modes", "ordering": "orderings"},
    "endpoint": {"origin": "origins"},
    "sid": {"behavior": "behaviors", "origin": "origins",
            "state": "path_states", "reason": "path_reasons"},
    "dev": {"role": "dev_roles", "source": "source_checks",
            "xdp": "xdp_modes"},
    "config": {"dscp_mode": "dscp_modes", "flow_label": "flow_labels",
               "path_id": "path_ids"},
    "flow": {"mode": "modes"},
}

# The same in the events of "monitor", by the object that an event is of.
EVENTS = {
    "path": {"state": "path_states", "reason": "path_reasons"},
    "policy": {"state": "policy_states", "reason": "policy_reasons"},
}


def tables():
    """Words of each table. Of two words for one number the first is printed."""
    with open(os.path.join(TOP, "lib/names.c"), encoding="utf-8") as f:
        text = f.read()
    found = {}
    for name, body in re.findall(
            r"const struct srpol_name srpol_(\w+)\[\] = \{(.*?)\n\};", text,
            re.DOTALL):
        words = {}
        for number, word in re.findall(r"\{ (\w+), \"([^\"]+)\" \}", body):
            words.setdefault(number, word)
        found[name] = sorted(words.values())
    return found


def schema(name):
    path = os.path.join(TOP, "selftests/schema", f"{name}.json")
    with open(path, encoding="utf-8") as f:
        return json.load(f)["items"]


def words(item, where):
    """The words that the schema of an object allows a property to be."""
    first, *rest = where.split(".", 1)
    found = item["properties"][first]
    return words(found["items"], rest[0]) if rest else sorted(found["enum"])


def same(item, properties, what):
    known = tables()
    for where, table in properties.items():
        eq(words(item, where), known[table], f"{where} of {what}")


def event(kind):
    """The schema of the event that an object of a kind has another state."""
    for one in schema("monitor")["oneOf"]:
        properties = one["properties"]
        if properties["event"].get("enum") == ["state"] and \
                properties["object_type"].get("enum") == [kind]:
            return one
    raise AssertionError(f"monitor.json has no state of {kind}")


@test
def objects():
    "objects that are shown"
    for name, properties in TABLES.items():
        same(schema(name), properties, name)


@test
def events():
    "events of monitor"
    for kind, properties in EVENTS.items():
        same(event(kind), properties, kind)


def watch_event(kind):
    """Properties of an event of srpold to those who watch."""
    path = os.path.join(TOP, "Documentation/interface/WatchEvent.json")
    with open(path, encoding="ascii") as f:
        for one in json.load(f)["oneOf"]:
            if one["properties"]["event"]["const"] == kind:
                return one["properties"]
    raise AssertionError(f"WatchEvent.json has no {kind}")


@test
def watching():
    "events of srpold: states, and reasons of paths and of changes"
    path = os.path.join(TOP, "netlinkd/srpold/watch_events.c")
    with open(path, encoding="ascii") as f:
        reasons = re.search(r"reasons\[\] = \{(.*?)\}", f.read(), re.DOTALL)
    because = sorted(re.findall(r'"(\w+)"', reasons.group(1)))
    known = tables()
    paths = watch_event("paths")
    for of in "paths", "changes":
        item = paths[of]["items"]["properties"]
        eq(sorted(item["state"]["enum"]), known["path_states"], f"state in {of}")
        eq(sorted([*item["reason"]["enum"], "none"]), known["path_reasons"],
           f"reason in {of}")
    eq(sorted(paths["because"]["items"]["enum"]), because, "because of paths")
    moved = watch_event("qps")["moved"]["items"]["properties"]
    eq(sorted(moved["because"]["items"]["enum"]), because, "because of QPs")


if __name__ == "__main__":
    main()
