#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The srpol command: what was entered is what it shows and what the kernel's YNL
client sees; the shape of its JSON, batch files, exit statuses, who may write,
monitor, doctor.

    u0 (veth, up, fd00:1::1/64), neighbour fd00:1::2 permanent

in a namespace, which srpol is told of by -n.
"""

import ipaddress
import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import busywait, cleanup, eq, main, match, test   # noqa: E402
from srpol import KINDS, without                        # noqa: E402

OK, USAGE, REFUSED = 0, 1, 2
NOBODY = "65534"

NO_MODULE = subprocess.run(["srpol", "-j", "doctor"], text=True, check=False,
                           stdout=subprocess.PIPE)

net.load_module()
ns = net.Netns("link add u0 type veth peer name u1\nlink set u0 up\n"
               "link set u1 up\naddr add fd00:1::1/64 dev u0 nodad\n"
               "neigh add fd00:1::2 lladdr 02:00:00:00:00:02 dev u0\n")
client = ns.client()


def srpol(*words, batch=None, status=OK, error="^$", netns=ns.name, under=()):
    """Run srpol, return its output; status and stderr must be these."""
    where = ("-n", netns) if netns else ()
    if batch is not None:
        words = (*words, "-b", "-")
    done = subprocess.run([*under, "srpol", *where, *words], input=batch,
                          encoding="utf-8", errors="surrogateescape",
                          capture_output=True, check=False)
    eq(done.returncode, status, f"exit status of {words}: {done.stderr!r}")
    match(done.stderr, error, f"stderr of {words}")
    return done.stdout


def show(*words, options=()):
    return json.loads(srpol("-j", *options, *words, "show"))


def forget():
    """Remove all objects."""
    loaded.clear()
    commands = [f"policy del color {o['color']} endpoint {o['endpoint']}"
                for o in show("policy")]
    commands += [f"{kind} del {o[key]}" for kind, key in
                 (("path", "id"), ("endpoint", "prefix"), ("sid", "sid"),
                  ("dev", "dev")) for o in show(kind)]
    commands += [f"class del prio {o['prio']}" for o in show("class")]
    srpol(batch="\n".join(commands))


loaded = []


def everything():
    """All there is in EVERYTHING, and nothing else; takes seconds."""
    if not loaded:
        forget()
        srpol(batch=EVERYTHING)
        loaded.append(True)


# Every keyword once, and an object with nothing but what it must have.
EVERYTHING = """
path add 1 segs fc00::1,fc00::2,fc00::3 encap full src fd00:1::1 dev u0 \
via fd00:1::2 name "path one" admin down origin engine
path add 2 segs fc00::4 dev u0 via fd00:1::2
policy add color 7 endpoint 10.0.0.1 name seven bsid fc00:b::1 mode hash \
buckets 128 backup-color 8 on-fail drop origin engine \
candidate preference 200 protocol bgp originator 65000:10.1.1.1 \
discriminator 5 cname first list 1 weight 3 list 2 \
candidate list 2 weight 9
policy add color 8 endpoint ::
class add prio 5 name five dev u0 mark 0x10/0xf0 src fd00:a::/64 \
dst fd00:b::/64 proto udp sport 100-200 dport 4791 qp 17-30 opcode cnp,0x11 \
dscp 26 pkey 0x8001 color 7 origin engine
class add prio 6 bypass
endpoint add 10.0.0.0/8 to 10.0.0.1 origin engine
endpoint add fd00:b::/64 to ::
sid add fc00:a::d6 behavior End.DT46 origin engine
sid add fc00:a::1 behavior End
dev add u0 role uplink xdp generic
config set src fd00:1::1 hop-limit 50 dscp pipe 10 flow-label hash \
icmp-errors off hold-time 500
"""

# Spelled out by hand: what a user who typed that expects to read.
ENTERED = {
    "path": [
        {"id": 1, "name": "path one", "origin": "engine", "encap": "full",
         "segments": ["fc00::1", "fc00::2", "fc00::3"], "order": "travel",
         "src": "fd00:1::1", "dev": "u0", "via": "fd00:1::2",
         "admin_down": True, "state": "down", "reason": "admin-down",
         "overhead": 40 + 8 + 3 * 16, "mtu": 1500 - 96, "users": 1,
         "out": {"dev": "u0", "via": "fd00:1::2", "src": "fd00:1::1",
                 "lladdr": "02:00:00:00:00:02"}},
        {"id": 2, "name": "", "origin": "static", "encap": "reduced",
         "segments": ["fc00::4"], "order": "travel", "src": "", "dev": "u0",
         "via": "fd00:1::2", "admin_down": False, "state": "up",
         "reason": "none", "overhead": 40, "mtu": 1460, "users": 2,
         "out": {"dev": "u0", "via": "fd00:1::2", "src": "fd00:1::1",
                 "lladdr": "02:00:00:00:00:02"}}],
    "policy": [
        {"color": 7, "endpoint": "10.0.0.1", "name": "seven",
         "bsid": "fc00:b::1", "origin": "engine", "state": "up",
         "reason": "none", "mode": "hash", "buckets": 128, "on_fail": "drop",
         "backup_color": 8, "candidates": [
             {"preference": 200, "protocol": "bgp", "asn": 65000,
              "node": "10.1.1.1", "discriminator": 5, "name": "first",
              "active": True, "state": "up", "reason": "none", "lists": [
                  {"path": 1, "name": "path one", "weight": 3,
                   "state": "down", "reason": "path-not-up",
                   "path_reason": "admin-down", "buckets": 0,
                   "segments": ["fc00::1", "fc00::2", "fc00::3"],
                   "dev": "u0", "via": "fd00:1::2"},
                  {"path": 2, "name": "", "weight": 1, "state": "up",
                   "reason": "none", "path_reason": "none", "buckets": 128,
                   "segments": ["fc00::4"], "dev": "u0",
                   "via": "fd00:1::2"}]},
             {"preference": 100, "protocol": "config", "asn": 0, "node": "::",
              "discriminator": 2, "name": "", "active": False, "state": "up",
              "reason": "not-best", "lists": [
                  {"path": 2, "name": "", "weight": 9, "state": "up",
                   "reason": "none", "path_reason": "none", "buckets": 0,
                   "segments": ["fc00::4"], "dev": "u0",
                   "via": "fd00:1::2"}]}]},
        {"color": 8, "endpoint": "::", "name": "", "bsid": "",
         "origin": "static", "state": "down", "reason": "no-candidate",
         "mode": "hash", "buckets": 128, "on_fail": "passthrough",
         "backup_color": 0, "candidates": []}],
    "class": [
        {"prio": 5, "name": "five", "origin": "engine", "match": {
            "dev": "u0", "mark": 0x10, "mask": 0xf0, "src": "fd00:a::/64",
            "dst": "fd00:b::/64", "proto": 17, "sport": [100, 200],
            "dport": [4791, 4791], "qp": [17, 30], "opcodes": [0x11, 0x81],
            "dscp": 26, "pkey": 0x8001},
         "action": "steer", "color": 7, "reason": "none", "policies": [
             {"endpoint": "10.0.0.1", "name": "seven", "state": "up",
              "reason": "none"}]},
        {"prio": 6, "name": "", "origin": "static", "match": {},
         "action": "bypass", "color": 0, "reason": "none", "policies": []}],
    "endpoint": [
        {"prefix": "10.0.0.0/8", "to": "10.0.0.1", "origin": "engine"},
        {"prefix": "fd00:b::/64", "to": "::", "origin": "static"}],
    "sid": [
        {"sid": "fc00:a::d6", "behavior": "End.DT46", "origin": "engine"},
        {"sid": "fc00:a::1", "behavior": "End", "origin": "static"}],
    "dev": [
        {"dev": "u0", "role": "uplink", "running": True, "mtu": 1500,
         "xdp": "generic", "xdp_used": "generic", "egress_attached": True,
         "ingress_attached": True, "holds_module": True,
         "pins": f"/sys/fs/bpf/srpol/{ns.name}"}],
    "config": [
        {"src": "fd00:1::1", "hop_limit": 50, "dscp_mode": "pipe",
         "dscp": 10, "flow_label": "hash", "icmp_errors": False,
         "hold_time": 500, "data_plane": "ebpf"}],
}
# Members whose values are the kernel's choice.
CHOSEN = {"policy": {"id"}, "class": {"id"}, "sid": {"id"},
          "dev": {"ifindex"}, "config": {"generation", "tables"}}
ORDER = {"path": "id", "policy": "color", "class": "prio",
         "endpoint": "prefix", "sid": "id", "dev": "dev", "config": "src"}


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


def path_json(o):
    return {"id": o["id"], "name": o.get("name", ""), "origin": o["origin"],
            "state": o["state"], "reason": o["reason"],
            "segments": [plain(s) for s in o["sids"]], "order": "travel",
            "encap": o["encap"], "src": plain(o.get("src")),
            "dev": dev(o.get("ifindex")), "via": plain(o.get("via")),
            "admin_down": bool(o.get("admin_down")),
            "out": {"dev": dev(o.get("out_ifindex")),
                    "via": plain(o.get("out_via")),
                    "lladdr": o.get("out_lladdr", ""),
                    "src": plain(o.get("out_src"))},
            "overhead": o["overhead"], "mtu": o.get("mtu", 0),
            "users": o["users"]}


PROTOCOLS = {10: "pcep", 20: "bgp", 30: "config"}
BEHAVIORS = {1: "End", 18: "End.DT6", 19: "End.DT4", 20: "End.DT46"}


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
                "protocol": PROTOCOLS[c["protocol_origin"]],
                "asn": c["asn"], "node": plain(c["node"]),
                "discriminator": c["discriminator"],
                "active": bool(c.get("active")), "state": c["state"],
                "reason": c["reason"],
                "lists": [list_json(li) for li in c.get("list", [])]}

    return {"color": o["color"], "endpoint": plain(o["endpoint"]),
            "name": o.get("name", ""), "bsid": plain(o.get("bsid")),
            "origin": o["origin"], "state": o["state"],
            "reason": o["reason"], "mode": o["mode"], "id": o["id"],
            "buckets": o["buckets"], "on_fail": o["on_fail"],
            "backup_color": o.get("backup_color", 0),
            "candidates": [candidate_json(c)
                           for c in o.get("candidate", [])]}


def class_json(o):
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
            ("pkey", "pkey"), ("opcode", "opcodes"):
        if key in o:
            found[name] = o[key]
    policies = [policy_json(p) for p in client.dump("policy")]
    return {"prio": o["priority"], "name": o.get("name", ""),
            "origin": o["origin"], "match": found, "action": o["action"],
            "color": o.get("color", 0), "reason": o["reason"], "id": o["id"],
            "policies": [{k: p[k] for k in ("endpoint", "name", "state",
                                            "reason")} for p in policies
                         if p["color"] == o.get("color")]}


def endpoint_json(o):
    return {"prefix": prefix(o["prefix"], o["prefix_len"]),
            "to": plain(o["address"]), "origin": o["origin"]}


def sid_json(o):
    return {"sid": plain(o["sid"]), "behavior": BEHAVIORS[o["behavior"]],
            "origin": o["origin"], "id": o["id"]}


@test
def other_client_agrees():
    "the kernel's YNL client dumps the same objects"
    everything()
    for kind, as_json in (("path", path_json), ("policy", policy_json),
                          ("class", class_json), ("endpoint", endpoint_json),
                          ("sid", sid_json)):
        dumped = [as_json(o) for o in client.dump(kind)]
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
       {**without(dumped, {"limits", "used"}),
        "icmp_errors": bool(dumped["icmp_errors"])}, "config")
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
    "JSON is a list of 0, 1 or many objects with the same keys"
    forget()
    for kind in KINDS:
        eq(srpol("-j", kind, "show").strip(), "[]", f"no {kind}")
    everything()
    for kind in KINDS:
        keys = {tuple(shape(o)) for o in show(kind)}
        eq(len(keys), 1, f"sets of keys of {kind}")
    many = shape(show("path")[1])
    eq([shape(o) for o in json.loads(srpol("-j", "path", "show", "2"))],
       [many], "one path")
    eq([shape(o) for o in json.loads(srpol("-j", "policy", "show", "color",
                                           "8"))],
       [shape(show("policy")[1])], "one policy")
    eq(json.loads(srpol("-j", "class", "show", "prio", "6")),
       show("class")[1:], "one class")
    eq(json.loads(srpol("-j", "-p", "policy", "show")), show("policy"),
       "-p says the same")
    for kind in "path", "policy", "class":
        for o in show(kind, options=["-s"]):
            eq(o["stats"], {"packets": 0, "bytes": 0}, f"counters of {kind}")


@test
def text_round_trip():
    "text names everything the JSON has in the chain of a policy"
    everything()
    out = srpol("policy", "show", "color", "7")
    for word in ("policy color 7 endpoint 10.0.0.1 name seven",
                 "bsid fc00:b::1", "origin engine", "on-fail drop",
                 "backup-color 8", "candidate preference 200 protocol bgp "
                 "originator 65000:10.1.1.1 discriminator 5 cname first",
                 "list 1", "weight 3", "path-not-up", "admin-down",
                 "segs fc00::1,fc00::2,fc00::3", "not-best", "dev u0"):
        assert word in out, f"{word!r} is not in {out!r}"


@test
def statuses():
    "refused is 2, and says why; what makes no sense is 1"
    everything()
    for words, why in (
            ("path add 1 segs fc00::1", "object exists"),
            ("policy add color 8 endpoint ::", "object exists"),
            ("class add prio 6 bypass", "object exists"),
            ("endpoint add 10.0.0.0/8 to ::", "object exists"),
            ("sid add fc00:a::1 behavior End", "object exists"),
            ("dev add u0 role uplink", "(object exists|is an uplink)"),
            ("path change 99 segs fc00::1", "does not exist"),
            ("path del 99", r"no path has this id \(id\)"),
            ("path del 2", "policy .*7"),
            ("path add 3", r"a path needs a SID \(missing segs\)"),
            ("policy add color 9 endpoint :: candidate list 99", "99|path"),
            ("class add prio 9 proto tcp qp 1 color 1", "RoCE")):
        error = srpol_error(*words.split(), status=REFUSED)
        match(error, rf"^Error: srpol: .*{why}.*\.\n$", words)
        assert error.count("srpol:") == 1, error
    for words, why in (
            ("frob", '"frob" is unknown'), ("path frob", '"frob" is unknown'),
            ("path add 3 segs fc00::1 colour 3", '"colour"'),
            ("path add x segs fc00::1", '"x" is not a number'),
            ("path add 3 segs fc00::g", '"fc00::g" is not an IPv6 address'),
            ("path add 3 segs fc00::1 encap fully", "is not one of"),
            ("path add 3 segs", "value is missing"),
            ("policy add color 9 endpoint 300.0.0.1", "300.0.0.1"),
            ("class add prio 9 dport 20-10 color 1", "20-10"),
            ("class add prio 9 qp 16777216 color 1", "16777216"),
            ("endpoint add fd00::/129 to ::", "fd00::/129"),
            ("config set hop-limit 256", "256"),
            ("sid add fc00::1 behavior End.X", "End.X"),
            ("dev add nosuchdev role uplink", "nosuchdev"),
            ("--frob", "Usage: srpol")):
        match(srpol_error(*words.split(), status=USAGE), why, words)
    for words in "path", "policy", "class", "endpoint", "sid", "config", \
            "stats", "flow", "monitor", "doctor":
        match(srpol(words, "help"), f"Usage: srpol {words}", words)
    shown = {kind: show(kind) for kind in KINDS}
    eq([[without(o, CHOSEN.get(k, ())) for o in shown[k]] for k in
        ("path", "policy")], [ENTERED["path"], ENTERED["policy"]],
       "nothing was changed by it")


def srpol_error(*words, status):
    """What srpol says on stderr."""
    done = subprocess.run(["srpol", "-n", ns.name, *words], text=True,
                          capture_output=True, check=False)
    eq(done.returncode, status, f"exit status of {words}: {done.stderr!r}")
    return done.stderr


@test
def json_names():
    "names with any bytes give JSON that can be read"
    forget()
    srpol(batch="path add 1 segs fc00::1 name 'a\"b\\c'\n"
                "path add 2 segs fc00::1 name \u20ac\n"
                "path add 3 segs fc00::1 name a\udcff\udce2\udc82z\n"
                "path add 4 segs fc00::1 name \x1b[1m\n")
    done = subprocess.run(["srpol", "-n", ns.name, "-j", "path", "show"],
                          stdout=subprocess.PIPE, check=True)
    names = [o["name"] for o in json.loads(done.stdout.decode("utf-8"))]
    eq(names, ['a"b\\c', "\u20ac", "a\ufffd\ufffd\ufffdz", "\x1b[1m"],
       "names")


@test
def batch_syntax():
    "batch: comments, quotes, continued lines, empty lines, no last newline"
    forget()
    srpol(batch="# a comment\n\n   \t\n"
                "path add 1 segs \\\n  fc00::1,\\\nfc00::2 # and one more\n"
                "path add 2 segs fc00::1 name 'two words'\n"
                "path add 3 segs fc00::1 name \"it's # no comment\"\n"
                "path add 4 segs fc00::1 name a#b")
    eq([(o["name"], o["segments"]) for o in show("path")],
       [("", ["fc00::1", "fc00::2"]), ("two words", ["fc00::1"]),
        ("it's # no comment", ["fc00::1"]), ("a#b", ["fc00::1"])], "paths")


@test
def batch_errors():
    "batch: stops at the first error and names its line; -force goes on"
    forget()
    lines = ("# one\npath add 1 segs \\\nfc00::1\n"
             "path add 1 segs fc00::2\npath add 3 segs fc00::3\n")
    srpol(batch=lines, status=REFUSED,
          error=r"object exists\.\nCommand failed -:4\n$")
    eq([o["id"] for o in show("path")], [1], "paths")
    srpol("-force", batch=lines, status=REFUSED,
          error=r"(?s)failed -:3\n.*failed -:4\n$")
    eq([(o["id"], o["segments"]) for o in show("path")],
       [(1, ["fc00::1"]), (3, ["fc00::3"])], "paths")
    srpol(batch="path add 4 segs fc00::1 name 'open\n", status=USAGE,
          error="unbalanced quotes.*\nCommand failed -:1")
    srpol("-b", "/nonexistent", status=USAGE, error="/nonexistent: No such")
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("\npath del 1\npath dell 3\n")
        f.flush()
        srpol("-batch", f.name, status=USAGE,
              error=f"(?s)\"dell\" is unknown.*failed {f.name}:3\n$")
    eq([o["id"] for o in show("path")], [3], "paths")


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
               "policy del color 7 endpoint ::", "class del prio 5",
               "endpoint del 10.0.0.0/8", "sid del fc00:a::1",
               "dev del lo"]
    done = subprocess.run([*nobody, "srpol", "-force", "-b", "-"],
                          input="\n".join(writes), text=True,
                          capture_output=True, check=False)
    eq(done.returncode, REFUSED, "exit status")
    errors = [e for e in done.stderr.splitlines() if e.startswith("Error")]
    eq(len(errors), len(writes), f"errors: {done.stderr!r}")
    for e, line in zip(errors, writes):
        match(e, r"Operation not permitted", line)
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


@test
def monitor():
    "-j monitor: each line is JSON and tells what happened, in order"
    forget()
    with subprocess.Popen(["srpol", "-n", ns.name, "-j", "monitor"],
                          stdout=subprocess.PIPE) as process:
        cleanup(process.kill)
        os.set_blocking(process.stdout.fileno(), False)
        got = b""

        def heard(what):
            nonlocal got
            got += process.stdout.read() or b""
            return what in got

        # it listens once it says so
        def listens():
            srpol("config", "set", "hold-time", "1000")
            return heard(b"config")

        busywait(listens, 20)
        got = b""
        srpol(batch="path add 91 segs fc00::1 dev u0 via fd00:1::2 name m\n"
                    "sid add fc00::9 behavior End\n"
                    "endpoint add ::/0 to ::\n"
                    "policy add color 8 endpoint :: candidate list 91\n"
                    "class add prio 99 bypass\n"
                    "class del prio 99\n")
        ns.ip("link set u0 down")
        busywait(lambda: heard(b'"state":"down"'), 20)
        ns.ip("link set u0 up\naddr replace fd00:1::1/64 dev u0 nodad\n"
              "neigh replace fd00:1::2 lladdr 02:00:00:00:00:02 dev u0\n")
        srpol(batch="policy del color 8 endpoint ::\npath del 91\n")
        busywait(lambda: heard(b'"event":"del","object_type":"path"'), 20)
        process.kill()
    lines = [json.loads(line) for line in got.decode().splitlines()]
    for line in lines:
        eq(len(line), 1, f"events in {line}")
    events = [line[0] for line in lines]
    for e in events:
        match(e["time"], r"^\d+\.\d{6}$", "time")
    sets = [(e["event"], e["object_type"]) for e in events
            if e["event"] != "state"]
    want = [("set", kind) for kind in ("path", "sid", "endpoint", "policy",
                                       "class")]
    want += [("del", kind) for kind in ("class", "policy", "path")]
    eq([s for s in sets if s != ("set", "config")], want, "notifications")
    down = [e for e in events if e["event"] == "state" and
            e["object_type"] == "path" and e["state"] == "down"]
    eq(down and (down[0]["id"], down[0]["name"]), (91, "m"), "path down")
    added = next(e for e in events if e["event"] == "set" and
                 e["object_type"] == "path")
    eq(added["object"][0]["segments"], ["fc00::1"], "the object in it")


def doctor(status):
    """What it says, by check and verdict."""
    out = srpol("-j", "doctor", status=status)
    return {(c["check"], c["verdict"]): c for c in json.loads(out)}


@test
def doctor_status():
    "doctor: 0 when all is well, 1 for warnings, 2 for errors, and advice"
    forget()
    eq(NO_MODULE.returncode, 2, "exit status without the module")
    worst = {c["check"]: c for c in json.loads(NO_MODULE.stdout)}
    eq((worst["module"]["verdict"], worst["module"]["advice"]),
       ("error", "modprobe srpol"), "without the module")
    found = doctor(1)
    match(found["devices", "warning"]["advice"], "srpol dev add", "no uplink")
    srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                "policy add color 8 endpoint :: candidate list 1\n"
                "class add prio 1 color 8\ndev add u0 role uplink\n")
    found = doctor(0)
    eq({verdict for _, verdict in found}, {"ok"}, "verdicts")
    srpol("path", "replace", "1", "segs", "fc00::1", "dev", "u0", "via",
          "fd00:1::2", "admin", "down")
    match(doctor(1)["path", "warning"]["text"], "admin-down", "path")
    sids = ",".join(f"fc00::{i}" for i in range(1, 17))
    srpol("path", "replace", "1", "segs", sids, "dev", "u0", "via",
          "fd00:1::2")
    ns.ip("link set u0 mtu 1280")
    found = doctor(1)
    match(found["path", "warning"]["text"], "mtu-too-small", "path")
    match(found["class", "warning"]["text"], "no-policy-up", "rule")


cleanup(forget)
main()
