# SPDX-License-Identifier: GPL-2.0
"""
The srpol command under test, and a namespace for it that srpol is told of by
-n:

    u0 (veth, up, fd00:1::1/64), neighbor fd00:1::2 permanent
"""

import json
import os
import shlex
import subprocess
import sys

import jsonschema

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                      # noqa: E402
from ktap import eq, match                      # noqa: E402

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


KEEPER = "k0"


def keep_data_plane():
    """Until free_data_plane() it stays loaded, which takes seconds: by a port."""
    ns.ip(f"link add {KEEPER} type veth peer name k1\nlink set k1 up\n"
          f"link set {KEEPER} up")
    srpol("dev", "add", KEEPER, "role", "port")


def free_data_plane():
    srpol("dev", "del", KEEPER)
    ns.ip(f"link del {KEEPER}")


def forget():
    """Remove all objects."""
    loaded.clear()
    commands = [f"policy del color {o['color']} endpoint {o['endpoint']}"
                for o in show("policy")]
    commands += [f"{kind} del {shlex.quote(str(o[key]))}" for kind, key in
                 (("path", "id"), ("endpoint", "prefix"),
                  ("dev", "dev")) for o in show(kind) if o[key] != KEEPER]
    commands += [f"sid del {o['sid']}/{o['prefix_len']}"
                 for o in show("sid") if "color" not in o]
    commands += [f"rule del prio {o['prio']}" for o in show("rule")]
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
via fd00:1::2 name "path one" admin down tlv 125:0a0b timestamp on origin engine
path add 2 segs fc00::4 dev u0 via fd00:1::2
path add 3 usids fcbb:bb00::/32 11,21,31,41,51,61,d046 dev u0 via fd00:1::2
policy add color 7 endpoint 10.0.0.1 name seven bsid fc00:b::1 \
mode adaptive symmetric on spray random flowlet-timeout 20us threshold 7 dwell-time 2s \
wait-to-restore 30ms buckets 128 backup-color 8 drop-upon-invalid on origin engine \
candidate preference 200 protocol-origin bgp originator 65000:10.1.1.1 \
discriminator 5 candidate-name first segment-list 1 weight 3 segment-list 2 \
candidate segment-list 2 weight 9
policy add color 8 endpoint ::
rule add prio 5 name five dev u0 mark 0x10/0xf0 src fd00:a::/64 \
dst fd00:b::/64 proto udp sport 100-200 dport 4791 qp 17-30 opcode cnp,0x11 \
dscp 26 pkey 0x8001 vlan 12 ordering weak mode spray color 7 origin engine
rule add prio 6 bypass
rule add prio 8 qp 9 color 8 path 2
endpoint add 10.0.0.0/8 to 10.0.0.1 origin engine
endpoint add fd00:b::/64 to ::
sid add fc00:a::d6 behavior End.DT46 dscp uniform origin engine
sid add fc00:a::1 behavior End
sid add fcbb:bb00:a::/48 behavior uN
sid add fc00:a::e behavior End.X dev u0 via fd00:1::2
dev add u0 role uplink xdp generic
config set src fd00:1::1 hop-limit 50 dscp pipe 10 flow-label hash \
icmp-errors off retry-interval 500 path-id tag sr-domain fc00::/16,fcbb:bb00::/32 \
sr-source fd00::/8 report-from fd00:1::/64,fc00:0:11::/48 \
psn-observer on drop-events 7 remembered-routes off
"""

NO_ADJACENCY = {"prefix_len": 128, "block_len": 0, "dev": "", "via": "",
                "state": "up", "reason": "none"}

# Spelled out by hand: what a user who typed that expects to read.
ENTERED = {
    "path": [
        {"id": 1, "name": "path one", "origin": "engine", "encap": "full",
         "segments": ["fc00::1", "fc00::2", "fc00::3"], "order": "travel",
         "src": "fd00:1::1", "dev": "u0", "via": "fd00:1::2",
         "admin_down": True, "state": "down", "reason": "admin-down",
         "tlvs": [{"type": 125, "value": "0a0b"}], "timestamp": True,
         "overhead": 40 + 8 + 3 * 16 + 24, "mtu": 1500 - 120, "users": 1,
         "out": {"dev": "u0", "via": "fd00:1::2", "src": "fd00:1::1",
                 "lladdr": "02:00:00:00:00:02"}},
        {"id": 2, "name": "", "origin": "static", "encap": "reduced",
         "segments": ["fc00::4"], "order": "travel", "src": "", "dev": "u0",
         "via": "fd00:1::2", "admin_down": False, "state": "up",
         "tlvs": [], "timestamp": False,
         "reason": "none", "overhead": 40, "mtu": 1460, "users": 2,
         "out": {"dev": "u0", "via": "fd00:1::2", "src": "fd00:1::1",
                 "lladdr": "02:00:00:00:00:02"}},
        {"id": 3, "name": "", "origin": "static", "encap": "reduced",
         "segments": ["fcbb:bb00:11:21:31:41:51:61", "fcbb:bb00:d046::"],
         "usids": {"block": "fcbb:bb00::/32", "csid_len": 16,
                   "csids": ["11", "21", "31", "41", "51", "61", "d046"]},
         "order": "travel", "src": "", "dev": "u0", "via": "fd00:1::2",
         "admin_down": False, "state": "up", "reason": "none", "tlvs": [],
         "timestamp": False, "overhead": 40 + 8 + 16, "mtu": 1500 - 64,
         "users": 0,
         "out": {"dev": "u0", "via": "fd00:1::2", "src": "fd00:1::1",
                 "lladdr": "02:00:00:00:00:02"}}],
    "policy": [
        {"color": 7, "endpoint": "10.0.0.1", "name": "seven",
         "bsid": "fc00:b::1", "origin": "engine", "state": "up",
         "reason": "none", "mode": "adaptive", "symmetric": True,
         "spray": "random", "flowlet_timeout_ns": 20000, "threshold": 7,
         "dwell_time_ms": 2000, "wait_to_restore_ms": 30, "buckets": 128,
         "drop_upon_invalid": True,
         "backup_color": 8, "candidates": [
             {"preference": 200, "protocol_origin": "bgp", "asn": 65000,
              "node": "10.1.1.1", "discriminator": 5, "name": "first",
              "active": True, "state": "up", "reason": "none", "segment_lists": [
                  {"path": 1, "name": "path one", "weight": 3,
                   "state": "down", "reason": "path-not-up",
                   "path_reason": "admin-down", "buckets": 0,
                   "segments": ["fc00::1", "fc00::2", "fc00::3"],
                   "dev": "u0", "via": "fd00:1::2"},
                  {"path": 2, "name": "", "weight": 1, "state": "up",
                   "reason": "none", "path_reason": "none", "buckets": 128,
                   "segments": ["fc00::4"], "dev": "u0",
                   "via": "fd00:1::2"}]},
             {"preference": 100, "protocol_origin": "config", "asn": 0, "node": "::",
              "discriminator": 2, "name": "", "active": False, "state": "up",
              "reason": "not-best", "segment_lists": [
                  {"path": 2, "name": "", "weight": 9, "state": "up",
                   "reason": "none", "path_reason": "none", "buckets": 0,
                   "segments": ["fc00::4"], "dev": "u0",
                   "via": "fd00:1::2"}]}]},
        {"color": 8, "endpoint": "::", "name": "", "bsid": "",
         "origin": "static", "state": "down", "reason": "no-candidate",
         "mode": "hash", "symmetric": False, "spray": "round-robin",
         "flowlet_timeout_ns": 500000, "threshold": 3, "dwell_time_ms": 100,
         "wait_to_restore_ms": 1000, "buckets": 128, "drop_upon_invalid": False,
         "backup_color": 0, "candidates": []}],
    "rule": [
        {"prio": 5, "name": "five", "origin": "engine", "match": {
            "dev": "u0", "mark": 0x10, "mask": 0xf0, "src": "fd00:a::/64",
            "dst": "fd00:b::/64", "proto": 17, "sport": [100, 200],
            "dport": [4791, 4791], "qp": [17, 30], "opcodes": [0x11, 0x81],
            "dscp": 26, "pkey": 0x8001, "vlan": 12},
         "action": "steer", "color": 7, "mode": "spray", "ordering": "weak", "reason": "none", "policies": [
             {"endpoint": "10.0.0.1", "name": "seven", "state": "up",
              "reason": "none"}]},
        {"prio": 6, "name": "", "origin": "static", "match": {},
         "action": "bypass", "color": 0, "mode": "", "ordering": "strong",
         "reason": "none", "policies": []},
        {"prio": 8, "name": "", "origin": "static", "match": {"qp": [9, 9]},
         "action": "steer", "color": 8, "mode": "hash", "ordering": "strong",
         "path": 2, "reason": "no-policy-up", "policies": [
             {"endpoint": "::", "name": "", "state": "down",
              "reason": "no-candidate"}]}],
    "endpoint": [
        {"prefix": "10.0.0.0/8", "to": "10.0.0.1", "origin": "engine"},
        {"prefix": "fd00:b::/64", "to": "::", "origin": "static"}],
    "sid": [
        {"sid": "fc00:b::1", "behavior": "End.B6.Encaps", "color": 7,
         "endpoint": "10.0.0.1", "origin": "engine", "prefix_len": 128,
         "state": "up", "reason": "none"},
        {"sid": "fc00:a::d6", "behavior": "End.DT46", "dscp_mode": "uniform",
         "origin": "engine", **NO_ADJACENCY},
        {"sid": "fc00:a::1", "behavior": "End", "origin": "static",
         **NO_ADJACENCY},
        {"sid": "fcbb:bb00:a::", "behavior": "uN", "origin": "static",
         **NO_ADJACENCY, "prefix_len": 48, "block_len": 32},
        {"sid": "fc00:a::e", "behavior": "End.X", "origin": "static",
         **NO_ADJACENCY, "dev": "u0", "via": "fd00:1::2"}],
    "dev": [
        {"dev": "u0", "role": "uplink", "running": True, "mtu": 1500,
         "xdp": "generic", "xdp_used": "generic", "egress_attached": True,
         "ingress_attached": True, "holds_module": True,
         "pins": f"/sys/fs/bpf/srpol/{ns.name}"}],
    "config": [
        {"src": "fd00:1::1", "hop_limit": 50, "dscp_mode": "pipe",
         "dscp": 10, "flow_label": "hash", "icmp_errors": False,
         "retry_interval_ms": 500, "path_id": "tag", "psn_observer": True,
         "sr_domain": ["fc00::/16", "fcbb:bb00::/32"], "sr_source": ["fd00::/8"],
         "report_from": ["fd00:1::/64", "fc00:0:11::/48"],
         "drop_events": 7, "remembered_routes": False,
         "data_plane": "ebpf"}],
}


def present(value):
    """What is absent is not in JSON: no empty strings, no colors of none."""
    if isinstance(value, list):
        return [present(v) for v in value]
    if not isinstance(value, dict):
        return value
    return {k: present(v) for k, v in value.items() if v != "" and
            not (v == 0 and k in ("backup_color", "block_len", "color"))}


ENTERED = present(ENTERED)
# Members whose values are the kernel's choice.
CHOSEN = {"policy": {"id"}, "rule": {"id"}, "sid": {"id"},
          "dev": {"ifindex"}, "config": {"generation", "tables"}}
ORDER = {"path": "id", "policy": "color", "rule": "prio",
         "endpoint": "prefix", "sid": "id", "dev": "dev", "config": "src"}


def valid(name, text):
    """Parse JSON and check it against selftests/schema/NAME.json."""
    path = os.path.join(TOP, "selftests/schema", f"{name}.json")
    with open(path, encoding="ascii") as f:
        schema = json.load(f)
    value = json.loads(text)
    errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in
              jsonschema.Draft7Validator(schema).iter_errors(value)]
    eq(errors, [], f"schema {name}")
    return value


def srpol_error(*words, status):
    """What srpol says on stderr."""
    done = subprocess.run(["srpol", "-n", ns.name, *words], text=True,
                          capture_output=True, check=False)
    eq(done.returncode, status, f"exit status of {words}: {done.stderr!r}")
    return done.stderr
