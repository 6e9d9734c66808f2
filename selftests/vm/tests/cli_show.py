#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The srpol command: what was entered is what it shows and what the kernel's YNL
client sees; the shape of its JSON, exit statuses, who may write.
"""

import ipaddress
import json
import os
import subprocess

from cli_lib import (CHOSEN, ENTERED, EVERYTHING, NOBODY, OK, ORDER, REFUSED,
                     USAGE, client, everything, forget, ns, present, show,
                     srpol, srpol_error, valid)
from ktap import cleanup, eq, main, match, run, test
from srpol import KINDS, without


@test
def entered_is_shown():
    "what was entered is what is shown, every keyword"
    everything()
    for kind, want in ENTERED.items():
        got = sorted(show(kind), key=lambda o: o[ORDER[kind]])
        eq([without(o, CHOSEN.get(kind, ())) for o in got], want, kind)


# The same objects by another client: the members of a reply as JSON has them.

def plain(address):
    """An address as srpol prints it."""
    if address is None:
        return ""
    ip = ipaddress.IPv6Address(address)
    return str(ip.ipv4_mapped or ip)


def prefix(address, length):
    ip = ipaddress.IPv6Address(address)
    return f"{plain(address)}/{length - 96 if ip.ipv4_mapped else length}"


def dev(ifindex):
    return {0: "", None: "", ns.ifindex("u0"): "u0"}[ifindex]


def usids_json(o):
    """Containers unpacked; all of the test have SIDs of 16 bits."""
    if not o.get("block_len"):
        return {}
    csids = []
    for sid in o["sids"]:
        words = ipaddress.IPv6Address(sid).exploded.split(":")[2:]
        csids += [w.lstrip("0") for w in words if w != "0000"]
    block = ipaddress.IPv6Network((o["sids"][0], o["block_len"]), strict=False)
    return {"usids": {"block": str(block), "csid_len": o["csid_len"],
                      "csids": csids}}


def path_json(o):
    return {"id": o["id"], "name": o.get("name", ""), "origin": o["origin"],
            "state": o["state"], "reason": o["reason"],
            "segments": [plain(s) for s in o["sids"]], "order": "travel",
            "encap": o["encap"], "src": plain(o.get("src")),
            "dev": dev(o.get("ifindex")), "via": plain(o.get("via")),
            "admin_down": bool(o.get("admin_down")),
            "timestamp": bool(o.get("timestamp")),
            "tlvs": [{"type": t["type"], "value": t["value"].hex()}
                     for t in o.get("tlv", [])], **usids_json(o),
            "out": {"dev": dev(o.get("out_ifindex")),
                    "via": plain(o.get("out_via")),
                    "lladdr": o.get("out_lladdr", ""),
                    "src": plain(o.get("out_src"))},
            "overhead": o["overhead"], "mtu": o.get("mtu", 0),
            "users": o["users"]}


PROTOCOLS = {10: "pcep", 20: "bgp", 30: "config"}
BEHAVIORS = {1: "End", 5: "End.X", 43: "uN", 14: "End.B6.Encaps",
             27: "End.B6.Encaps.Red", 18: "End.DT6", 19: "End.DT4", 20: "End.DT46"}


def policy_json(o):
    paths = {p["id"]: path_json(p) for p in client.dump("path")}

    def list_json(li):
        path = paths[li["path"]]
        return {**{k: li[k] for k in ("path", "weight", "state", "reason",
                                      "buckets")},
                "name": path["name"], "path_reason": path["reason"],
                "segments": path["segments"], "dev": path["out"]["dev"],
                "via": path["out"]["via"]}

    def candidate_json(c):
        return {"preference": c["preference"], "name": c.get("name", ""),
                "protocol_origin": PROTOCOLS[c["protocol_origin"]],
                "asn": c["asn"], "node": plain(c["node"]),
                "discriminator": c["discriminator"],
                "active": bool(c.get("active")), "state": c["state"],
                "reason": c["reason"],
                "segment_lists": [list_json(li) for li in c.get("segment_list", [])]}

    return {"color": o["color"], "endpoint": plain(o["endpoint"]),
            "name": o.get("name", ""), "bsid": plain(o.get("bsid")),
            "origin": o["origin"], "state": o["state"],
            "reason": o["reason"], "mode": o["mode"], "id": o["id"],
            "symmetric": bool(o["symmetric"]), "spray": o["spray"],
            "flowlet_timeout_ns": o["flowlet_timeout"], "threshold": o["threshold"],
            "dwell_time_ms": o["dwell_time"], "wait_to_restore_ms": o["wait_to_restore"],
            "buckets": o["buckets"], "drop_upon_invalid": bool(o["drop_upon_invalid"]),
            "backup_color": o.get("backup_color", 0),
            "candidates": [candidate_json(c)
                           for c in o.get("candidate", [])]}


def rule_json(o):
    found = {}
    if "ifindex" in o:
        found["dev"] = dev(o["ifindex"])
    if "mark" in o:
        found |= {"mark": o["mark"], "mask": o["mark_mask"]}
    for key in "src", "dst":
        if key in o:
            found[key] = prefix(o[key], o[f"{key}_len"])
    for key in "sport", "dport", "qp":
        if f"{key}_min" in o:
            found[key] = [o[f"{key}_min"], o[f"{key}_max"]]
    for key, name in ("proto", "proto"), ("dscp", "dscp"), \
            ("pkey", "pkey"), ("opcode", "opcodes"), ("vlan", "vlan"):
        if key in o:
            found[name] = o[key]
    policies = [policy_json(p) for p in client.dump("policy")]
    return {"prio": o["priority"], "name": o.get("name", ""),
            "origin": o["origin"], "match": found, "action": o["action"],
            "color": o.get("color", 0), "reason": o["reason"], "id": o["id"],
            "mode": o.get("mode", ""), "ordering": o["ordering"],
            **({"path": o["path"]} if "path" in o else {}),
            "policies": [{k: p[k] for k in ("endpoint", "name", "state",
                                            "reason")} for p in policies
                         if p["color"] == o.get("color")]}


def endpoint_json(o):
    return {"prefix": prefix(o["prefix"], o["prefix_len"]),
            "to": plain(o["address"]), "origin": o["origin"]}


def sid_json(o):
    return {"sid": plain(o["sid"]), "behavior": BEHAVIORS[o["behavior"]],
            "origin": o["origin"], "id": o["id"],
            "prefix_len": o["prefix_len"], "block_len": o.get("block_len", 0),
            "dev": dev(o.get("ifindex")), "via": plain(o.get("via")),
            "state": o["state"], "reason": o["reason"],
            **({"dscp_mode": o["dscp_mode"]} if "dscp_mode" in o else {}),
            **({"color": o["color"], "endpoint": plain(o["endpoint"])}
               if "color" in o else {})}


@test
def other_client_agrees():
    "the kernel's YNL client dumps the same objects"
    everything()
    for kind, as_json in (("path", path_json), ("policy", policy_json),
                          ("rule", rule_json), ("endpoint", endpoint_json),
                          ("sid", sid_json)):
        dumped = present([as_json(o) for o in client.dump(kind)])
        eq(len(dumped), len(ENTERED[kind]), f"number of {kind}")
        eq(show(kind), dumped, kind)
    shown, = show("dev")
    dumped, = client.dump("dev")
    eq({k: shown[k] for k in ("ifindex", "role", "mtu", "xdp", "running")},
       {"ifindex": dumped["ifindex"], "role": dumped["role"],
        "mtu": dumped["mtu"], "xdp": dumped["xdp_mode"],
        "running": bool(dumped["running"])}, "dev")
    shown, = show("config")
    dumped = client.get("config")
    eq(without(shown, {"tables"}),
       {**without(dumped, {"limits", "used", "retry_interval"}),
        "retry_interval_ms": dumped["retry_interval"],
        "icmp_errors": bool(dumped["icmp_errors"]),
        "psn_observer": bool(dumped["psn_observer"]),
        "remembered_routes": bool(dumped["remembered_routes"]),
        "sr_domain": [prefix(d["prefix"], d["prefix_len"])
                      for d in dumped["sr_domain"]],
        **{key: [prefix(d["prefix"], d["prefix_len"]) for d in dumped[key]]
           for key in ("sr_source", "report_from")}}, "config")
    eq(shown["tables"], {k: {"used": dumped["used"][k], "size": size}
                         for k, size in dumped["limits"].items()}, "tables")


def shape(value):
    """Keys and types; an object of "match" has what is matched."""
    if isinstance(value, dict):
        return {k: shape(v) if k != "match" else "match"
                for k, v in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


@test
def json_shape():
    "JSON is a list of 0, 1 or many objects; a key has one type in all"
    forget()
    for kind in KINDS:
        eq(srpol("-j", kind, "show").strip(), "[]", f"no {kind}")
    everything()
    for kind in KINDS:
        types = {}
        for o in show(kind):
            for key, value in o.items():
                is_ = type(value)
                eq(types.setdefault(key, is_), is_, f"{key} of {kind}")
    many = shape(show("path")[1])
    eq([shape(o) for o in json.loads(srpol("-j", "path", "show", "2"))],
       [many], "one path")
    eq([shape(o) for o in json.loads(srpol("-j", "policy", "show", "color",
                                           "8"))],
       [shape(show("policy")[1])], "one policy")
    eq(json.loads(srpol("-j", "rule", "show", "prio", "6")),
       show("rule")[1:2], "one rule")
    eq(json.loads(srpol("-j", "-p", "policy", "show")), show("policy"),
       "-p says the same")
    for kind in "path", "policy", "rule":
        for o in show(kind, options=["-s"]):
            eq([o["stats"]["packets"], o["stats"]["bytes"]], [0, 0],
               f"counters of {kind}")


@test
def json_schemas():
    "all JSON is what selftests/schema says, with and without counters"
    everything()
    for kind in (*KINDS, "config", "flow", "stats"):
        valid(kind, srpol("-j", kind, "show"))
        valid(kind, srpol("-j", "-s", kind, "show"))


@test
def text_round_trip():
    "text names everything the JSON has in the chain of a policy"
    everything()
    out = srpol("policy", "show", "color", "7")
    for word in ("policy color 7 endpoint 10.0.0.1 name seven",
                 "bsid fc00:b::1", "origin engine", "drop-upon-invalid on",
                 "backup-color 8", "candidate preference 200 protocol-origin bgp "
                 "originator 65000:10.1.1.1 discriminator 5 candidate-name first",
                 "segment-list 1", "weight 3", "path-not-up", "admin-down",
                 "segs fc00::1,fc00::2,fc00::3", "not-best", "dev u0"):
        assert word in out, f"{word!r} is not in {out!r}"


@test
def statuses():
    "refused is 2, and says why; what makes no sense is 1"
    everything()
    for words, why in (
            ("path add 1 segs fc00::1", "object exists"),
            ("policy add color 8 endpoint ::", "object exists"),
            ("rule add prio 6 bypass", "object exists"),
            ("endpoint add 10.0.0.0/8 to ::", "object exists"),
            ("sid add fc00:a::1 behavior End", "object exists"),
            ("dev add u0 role uplink", "(object exists|is an uplink)"),
            ("path change 99 segs fc00::1", "does not exist"),
            ("path del 99", r"no path has this id \(id\)"),
            ("path del 2", "policy .*7"),
            ("path add 9", r"a path needs a SID \(missing segs\)"),
            ("policy add color 9 endpoint :: candidate segment-list 99", "99|path"),
            ("rule add prio 9 proto tcp qp 1 color 1", "RoCE"),
            ("rule add prio 9 mode spray color 1",
             r"spray needs ordering partial or weak.*\(mode\)"),
            ("sid add fc00::1 behavior End.X", "missing dev")):
        error = srpol_error(*words.split(), status=REFUSED)
        match(error, rf"^Error: srpol: .*{why}.*\.\n$", words)
        assert error.count("srpol:") == 1, error
    for words, why in (
            ("frob", '"frob" is unknown'), ("path frob", '"frob" is unknown'),
            ("path add 9 segs fc00::1 colour 3", '"colour"'),
            ("path add x segs fc00::1", '"x" is not a number'),
            ("path add 9 segs fc00::g", '"fc00::g" is not an IPv6 address'),
            ("path add 9 segs fc00::1 encap fully", "is not one of"),
            ("path add 9 segs", "value is missing"),
            ("policy add color 9 endpoint 300.0.0.1", "300.0.0.1"),
            ("rule add prio 9 dport 20-10 color 1", "20-10"),
            ("rule add prio 9 qp 16777216 color 1", "16777216"),
            ("endpoint add fd00::/129 to ::", "fd00::/129"),
            ("config set hop-limit 256", "256"),
            ("sid add fc00::1 behavior End.Y", "End.Y"),
            ("policy add color 9 endpoint :: flowlet-timeout 5x", "not a time"),
            ("path add 9 usids fcbb::/32 0", "compressed SID is 0"),
            ("path add 9 usids fcbb::/20 1", "do not make a container"),
            ("path add 9 segs fc00::1 tlv 9:0g", "is not TYPE:HEX"),
            ("rule add prio 9 cgroup nosuchgroup color 1", "nosuchgroup"),
            ("export juniper", "is not a form"),
            ("rule test src 10.0.0.1 dst fd00::1", "different families"),
            ("dev add nosuchdev role uplink", "nosuchdev"),
            ("--frob", "Usage: srpol")):
        match(srpol_error(*words.split(), status=USAGE), why, words)
    for words in "path", "policy", "rule", "endpoint", "sid", "config", \
            "stats", "flow", "monitor", "doctor", "metrics", "replace", \
            "export":
        match(srpol(words, "help"), f"Usage: srpol {words}", words)
    shown = {kind: show(kind) for kind in KINDS}
    eq([[without(o, CHOSEN.get(k, ())) for o in shown[k]] for k in
        ("path", "policy")], [ENTERED["path"], ENTERED["policy"]],
       "nothing was changed by it")


@test
def json_names():
    "names are printable UTF-8, and JSON says what was entered"
    forget()
    srpol(batch="path add 1 segs fc00::1 name 'a\"b\\c'\n"
                "path add 2 segs fc00::1 name \u20ac\n")
    for name in "a\udcff\udce2\udc82z", "\x1b[1m", "a\nb", "\x7f":
        srpol("path", "add", "3", "segs", "fc00::1", "name", name,
              status=REFUSED, error=r"a name is printable UTF-8 \(name\)")
        srpol("policy", "add", "color", "3", "endpoint", "::", "name", name,
              status=REFUSED, error="a name is printable UTF-8")
        srpol("policy", "add", "color", "3", "endpoint", "::", "candidate",
              "candidate-name", name, status=REFUSED,
              error="a name is printable UTF-8")
        srpol("rule", "add", "prio", "3", "name", name, "bypass",
              status=REFUSED, error="a name is printable UTF-8")
    done = subprocess.run(["srpol", "-n", ns.name, "-j", "path", "show"],
                          stdout=subprocess.PIPE, check=True)
    names = [o["name"] for o in json.loads(done.stdout.decode("utf-8"))]
    eq(names, ['a"b\\c', "\u20ac"], "names")


@test
def unprivileged():
    "uid nobody may read; every write is refused: Operation not permitted"
    nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
              "--clear-groups")
    # where they run there is no u0
    writes = [line for line in EVERYTHING.replace("u0", "lo").splitlines()
              if line]
    writes += ["path replace 1 segs fc00::1", "path del 1",
               "policy replace color 7 endpoint ::",
               "policy del color 7 endpoint ::", "rule del prio 5",
               "endpoint del 10.0.0.0/8", "sid del fc00:a::1",
               "dev del lo"]
    done = subprocess.run([*nobody, "srpol", "-force", "-b", "-"],
                          input="\n".join(writes), text=True,
                          capture_output=True, check=False)
    eq(done.returncode, REFUSED, "exit status")
    errors = [e for e in done.stderr.splitlines() if e.startswith("Error")]
    eq(len(errors), len(writes), f"errors: {done.stderr!r}")
    for e, line in zip(errors, writes):
        match(e, r"Operation not permitted|Permission denied", line)
    for kind in KINDS:
        eq(srpol("-j", kind, "show", netns=None, under=nobody).strip(), "[]",
           kind)


@test
def netns():
    "-n acts in that namespace and no other; a wrong one is named"
    forget()
    srpol("path", "add", "1", "segs", "fc00::1")
    eq(len(client.dump("path")), 1, "paths there")
    eq(srpol("-j", "path", "show", netns=None).strip(), "[]", "paths here")
    eq(json.loads(ns.run("srpol", "-j", "path", "show")), show("path"),
       "seen from within")
    srpol("path", "show", netns="nosuchns", status=REFUSED, error="nosuchns")
    long = 80 * "n"
    run("ip", "netns", "add", long)
    cleanup(run, "ip", "netns", "del", long)
    srpol("save", netns=long)
    eq([os.path.exists(f"/etc/srpol/{n}.srpol") for n in (long, long[:63])],
       [True, False], "saved by its whole name")
    srpol("engine", "show", netns=long, status=REFUSED,
          error=f"does not run in this network namespace: .*/{long}.sock: No such file")


cleanup(forget)
main()
