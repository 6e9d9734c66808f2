#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The module and its data plane: replay at registration, the same picture by
steps and by replay, refusals and what they leave behind, limits, the life of
registration, module and namespace.

    d0 (dummy, fd00:1::1/64), d1 (dummy, fd00:2::1/64), permanent neighbors
    ::2 to ::9 on each

In one namespace. The data plane is selftests/vm/mock, which stores what it is
told, watches the contract of dp.h and refuses calls at will.
"""

import ctypes
import errno
import json
import os
import platform
import random
import struct
import subprocess
import sys
import threading
from concurrent import futures

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
import mock                                             # noqa: E402
from bpfmap import Map                                  # noqa: E402
from ktap import (before, busywait, cleanup, eq, main, match, run,  # noqa: E402
                  say, test)
from kprobes import Kprobes                             # noqa: E402
from mock import (BPFFS, LINKS, contract_kept, control, fail,  # noqa: E402
                  generation, u32s, view)
from srpol import CHANGE, EXCL, REPLACE, Refused, packed    # noqa: E402

CGROUPS = "/run/srpol-cgroups"
SEED = int(os.environ.get("SRPOL_SEED", "20260612"))
net.load_module()


class World:
    """The namespace, its devices, a client."""


w = World()


@before
def build():
    """A new namespace without configuration and without a data plane."""
    mock.remove()
    run("rm", "-rf", LINKS + "2")
    if hasattr(w, "ns"):
        w.client.close()
        w.ns.delete()
    w.ns = net.Netns("".join(
        f"link add d{i} type dummy\nlink set d{i} mtu 9000 arp on up\n"
        f"addr add fd00:{i + 1}::1/64 dev d{i} nodad\n" +
        "".join(f"neigh add fd00:{i + 1}::{j} lladdr 02:00:00:00:0{i}:0{j} "
                f"dev d{i}\n" for j in range(2, 10)) for i in (0, 1)))
    with w.ns:
        for i in (0, 1):
            w.ns.sysctl(f"net/ipv6/conf/d{i}/keep_addr_on_down", 1)
    w.dev = [w.ns.ifindex("d0"), w.ns.ifindex("d1")]
    w.client = w.ns.client()


cleanup(mock.remove)
cleanup(run, "rm", "-rf", LINKS, LINKS + "2")


def mock_register(size="large", ns=None, links=LINKS):
    mock.register(ns or w.ns, size, links)


def detach():
    mock.detach(w.client)


# Configuration

def lists(*paths):
    return [{"path": p, "weight": i + 1} for i, p in enumerate(paths)]


def some_objects():
    """Some of everything."""
    yield "config-set", {"dscp_mode": "pipe", "dscp": 7, "src": "fd00:1::1"}
    for i in range(1, 7):
        yield "path-new", {
            "id": i, "sids": [f"fc00:{j}::{i}" for j in range(1, i + 1)],
            "encap": "full" if i % 2 else "reduced",
            "ifindex": w.dev[i % 2], "via": f"fd00:{i % 2 + 1}::{2 + i // 4}"}
    yield "path-new", {"id": 7, "sids": ["fc00::7"], "ifindex": w.dev[0],
                       "via": "fd00:1::2", "admin_down": 1}
    yield "path-new", {"id": 8, "sids": ["fc00::8"]}
    yield "policy-new", {"color": 1, "endpoint": "fd00::b", "buckets": 256,
                         "backup_color": 2, "drop_upon_invalid": 1,
                         "candidate": [{"segment_list": lists(1, 2, 3, 7)},
                                       {"preference": 9,
                                        "segment_list": lists(4)}]}
    yield "policy-new", {"color": 2, "endpoint": "fd00::b",
                         "candidate": [{"segment_list": lists(5, 6)}]}
    yield "policy-new", {"color": 3, "endpoint": "::ffff:a00:1"}
    yield "rule-new", {"priority": 20, "color": 1, "opcode": [4, 5, 100],
                        "qp_min": 1, "qp_max": 9}
    yield "rule-new", {"priority": 10, "color": 2, "dscp": 3, "mark": 1,
                        "src": "10.0.0.0", "src_len": 104, "dport_min": 4791,
                        "proto": 17, "ifindex": w.dev[0]}
    yield "rule-new", {"priority": 30, "action": "bypass", "pkey": 5,
                        "opcode": [5, 6]}
    yield "endpoint-new", {"prefix": "fd00:b::", "prefix_len": 48,
                           "address": "fd00::b"}
    yield "endpoint-new", {"prefix": "::", "prefix_len": 0,
                           "address": "::ffff:a00:1"}
    yield "sid-new", {"sid": "fc00:a::1", "behavior": 18}
    yield "sid-new", {"sid": "fc00:a::2", "behavior": 20}
    yield "sid-new", {"sid": "fc00:a:3::", "behavior": 52,
                      "ifindex": w.dev[1], "via": "fd00:2::2"}
    yield "dev-new", {"ifindex": w.dev[0], "role": "uplink"}


def configure():
    for op, members in some_objects():
        w.client.op(op, members, EXCL)
    states = {p["id"]: p["state"] for p in w.client.dump("path")}
    eq(states, {1: "up", 2: "up", 3: "up", 4: "up", 5: "up", 6: "up",
                7: "down", 8: "unresolved"})


def expected_rewrite(i):
    """The bytes of path i of some_objects(), made independently."""
    sids = [packed(f"fc00:{j}::{i}") for j in range(1, i + 1)]
    listed = sids[::-1] if i % 2 else sids[:0:-1]
    mac = bytes.fromhex(w.ns.run("cat", f"/sys/class/net/d{i % 2}/address")
                        .strip().replace(":", ""))
    out = bytes((2, 0, 0, 0, i % 2, 2 + i // 4)) + mac + b"\x86\xdd"
    out += struct.pack("!IHBB", 6 << 28, 0, 43 if listed else 0, 64)
    out += packed("fd00:1::1") + sids[0]
    if listed:
        out += struct.pack("!BBBBBBH", 0, 2 * len(listed), 4, i - 1,
                           len(listed) - 1, 0, 0) + b"".join(listed)
    return out


@test
def replay():
    "registration replays everything, byte by byte"
    configure()
    mock_register()
    eq(w.client.get("config")["data_plane"], "mock")
    v = view()
    contract_kept()
    eq(sorted(v["paths"]), [1, 2, 3, 4, 5, 6])
    for i in range(1, 7):
        hop, mtu, length, off, rewrite = v["paths"][i]
        want = expected_rewrite(i)
        eq(rewrite, want, f"rewrite string of path {i}")
        eq((hop, mtu, length), ((w.dev[i % 2], 1), 9000, len(want) - 14))
        eq(off, 54 if len(want) > 54 else 20)
    by_color = {p[0]: p for p in v["policies"].values()}
    id_of = {p["color"]: p["id"] for p in w.client.dump("policy")}
    color, endpoint, mode, drop_upon_invalid, backup, *more, table = by_color[1]
    eq(more, [0, 500000, 3, 100, 1000], "flags and parameters")
    eq((endpoint, mode, drop_upon_invalid, backup),
       (packed("fd00::b"), 0, 1, id_of[2]))
    eq(len(table), 256)
    shares = {p: table.count(p) for p in set(table)}
    eq(set(shares), {1, 2, 3})
    for p, share in shares.items():
        assert abs(share - 256 * p / 6) <= 1, shares
    policy = w.client.get("policy", color=1, endpoint="fd00::b")
    eq({li["path"]: li["buckets"] for li in policy["candidate"][0]["segment_list"]},
       {**shares, 7: 0})
    eq(by_color[3][1:5], (packed("10.0.0.1"), 0, 0, 0))
    eq(by_color[3][-1], [])
    # priority is the third of the words, the first is the slot
    eq([u32s(r[:12])[1] for r in v["rules"]], [10, 20, 30])
    eq(v["key"], 0b11111, "what rules look at")
    opclasses = v["opclass"]
    eq(len(set(opclasses)), 4)
    eq(opclasses[4], opclasses[100])
    eq(len({opclasses[4], opclasses[5], opclasses[6], opclasses[7]}), 4)
    eq(v["config"], bytes((0, 1, 7, 1, 0, 0, 0, 0)) +
       struct.pack("II", 100, 0) + bytes(256))
    eq([u32s(d) for d in v["devs"]], [(w.dev[0], 1, 0, 0)])
    eq(sorted(s[4:20] for s in v["sids"]),
       [packed("fc00:a::1"), packed("fc00:a::2"), packed("fc00:a:3::")])
    eq(sorted((e[:16], e[20:]) for e in v["endpoints"]),
       [(packed("::"), packed("10.0.0.1")),
        (packed("fd00:b::"), packed("fd00::b"))])


def grace_period():
    """Wait for one of RCU, and for those before it."""
    membarrier = 324 if platform.machine() == "x86_64" else 283
    everybody = 1
    assert ctypes.CDLL(None).syscall(membarrier, everybody, 0, 0) == 0


@test
def attached_a_moment_ago():
    "what a data plane was told when it came is not rewritten under its readers"
    def message(i, flags, sid):
        return w.client.message("path-new", {
            "id": i, "sids": [sid], "ifindex": w.dev[0], "via": "fd00:1::2"},
            flags)

    def each_once(messages):
        """Nothing but the registration is younger than a grace period."""
        yield from messages
        raise AssertionError("no change has waited for a grace period")

    ids = range(1, 101)
    changes = each_once([message(i, CHANGE, f"fc00:1::{i:x}") for i in ids])
    w.client.apply(*(message(i, EXCL, f"fc00::{i:x}") for i in ids))
    with Kprobes(waits="synchronize_rcu_expedited") as calls, \
         futures.ThreadPoolExecutor(1) as pool:
        # a grace period may end before the change comes, now and then
        while not calls.own()["waits"]:
            mock.detach(w.client)
            grace_period()
            coming = pool.submit(mock_register)
            while not coming.done() and not os.path.exists(f"{LINKS}/mock"):
                pass
            w.client.apply_messages([next(changes)])
            coming.result()
        # long after the registration nothing does
        grace_period()
        waited = calls.own()
        w.client.apply_messages([next(changes)])
        eq(calls.own(), waited)


def policy_of(color):
    """Mode, flags, parameters and buckets of a policy in the mock."""
    for p in view()["policies"].values():
        if p[0] == color:
            return {"mode": p[2], "flags": p[5], "flowlet_timeout": p[6],
                    "threshold": p[7], "dwell_time": p[8],
                    "wait_to_restore": p[9], "buckets": p[10]}
    raise AssertionError(f"no policy of color {color}")


SYMMETRIC, RANDOM, EVEN = 1, 2, 4


@test
def policy_parameters():
    "mode, flags and parameters of policies; order of pinned ones"
    mock_register()
    for i in (1, 2, 3):
        w.client.new("path", id=i, sids=[f"fc00::{i}"], ifindex=w.dev[0],
                     via=f"fd00:1::{1 + i}")
    w.client.new("path", id=4, sids=["fc00::4"])
    key = {"color": 1, "endpoint": "::"}
    w.client.new("policy", **key, mode="adaptive", symmetric=1,
                 spray="random", flowlet_timeout=7, threshold=8, dwell_time=9,
                 wait_to_restore=10, candidate=[{"segment_list": lists(1, 2)}])
    now = policy_of(1)
    now.pop("buckets")
    eq(now, {"mode": 4, "flags": SYMMETRIC | RANDOM, "flowlet_timeout": 7,
             "threshold": 8, "dwell_time": 9, "wait_to_restore": 10})
    for weights, flags in (((3, 3), EVEN), ((1, 2), 0), ((5, 0), EVEN)):
        w.client.replace("policy", **key, candidate=[{"segment_list": [
            {"path": p, "weight": n} for p, n in zip((1, 2), weights)]}])
        eq(policy_of(1)["flags"], flags, weights)
    for mode in range(6):
        w.client.change("policy", **key, mode=mode)
        eq(policy_of(1)["mode"], mode)

    # 4 has never been resolved, 3 has no weight: neither is in the order
    w.client.replace("policy", **key, mode="active-backup", wait_to_restore=300,
                     buckets=256, candidate=[{"segment_list": [
                         {"path": 2, "weight": 7}, {"path": 4},
                         {"path": 1}, {"path": 3, "weight": 0}]}])

    def order():
        return policy_of(1)["buckets"]

    eq(order(), [2, 1] * 128)
    w.ns.ip("neigh del fd00:1::3 dev d0\n")
    # the other takes over at once; the one that failed is the next to try
    busywait(lambda: order() == [1, 2] * 128)
    w.ns.ip("neigh replace fd00:1::3 lladdr 02:00:00:00:00:03 dev d0\n")
    busywait(lambda: w.client.get("path", id=2)["state"] == "up")
    busywait(lambda: order() == [2, 1] * 128)
    contract_kept()


@test
def path_headers():
    "timestamp, TLVs, tag: what is in the rewrite string"
    mock_register()
    w.client.new("path", id=0x123, sids=["fc00::1"], ifindex=w.dev[0],
                 via="fd00:1::2", timestamp=1,
                 tlv=[{"type": 9, "value": b"abc"}])
    with mock.table("paths") as m:
        raw = m[struct.pack("I", 0x123)]
    length, _, timestamp = struct.unpack_from("3H", raw, 16)
    eq((length, timestamp), (40 + 24 + 8 + 16, 14 + 40 + 24 + 8))
    rewrite = raw[24:24 + 14 + length]
    eq(rewrite[14 + 40 + 24:], b"\x09\x03abc\x04\x01\0" +
       b"\x7c\x0e\x01\x23" + bytes(12))
    eq(rewrite[60:62], b"\0\0", "no tag")
    epoch = generation()[1]
    w.client.config(path_id="tag")
    with mock.table("paths") as m:
        raw = m[struct.pack("I", 0x123)]
    eq(raw[24 + 60:24 + 62], b"\x01\x23", "tag")
    eq(generation()[1], epoch)
    w.client.config(path_id="label")
    with mock.table("paths") as m:
        eq(m[struct.pack("I", 0x123)][24:24 + 14 + length], rewrite)
    eq(view()["config"][4], 2)


@test
def settings():
    "domain, observer and drop events of the settings"
    mock_register()
    w.client.config(psn_observer=1, drop_events=5, sr_domain=[
        {"prefix": "fd00::", "prefix_len": 8}, {"prefix": "fc00::1"}])
    config = view()["config"]
    eq(config[:16], bytes((0, 0, 0, 1, 0, 1, 2, 2)) +
       struct.pack("II", 5, 0))
    eq(config[16:80], packed("fd00::") + packed("ff00::") +
       packed("fc00::1") + b"\xff" * 16)
    w.client.config(sr_source=[{"prefix": "fe00::", "prefix_len": 8}])
    w.client.config(sr_domain=[{"prefix": "fb00::", "prefix_len": 8}])
    config = view()["config"]
    eq(config[6:8], bytes((2, 1)), "SID blocks first, then sources")
    eq(config[16:80], packed("fb00::") + packed("ff00::") +
       packed("fe00::") + packed("ff00::"))
    w.client.config(sr_domain=[{}])
    eq(view()["config"][6:8], bytes((1, 0)), "a source is left")
    w.client.config(sr_source=[{}])
    eq((view()["config"][6], view()["config"][16:]), (0, bytes(256)))


@test
def rules():
    "VLAN, cgroup, mode and ordering of rules"
    mock_register()
    w.client.new("rule", priority=1, color=1, vlan=0x123, cgroup=1,
                 mode="spray", ordering="weak")
    w.client.new("rule", priority=2, color=1)
    v = view()
    eq(v["key"], 0b1100000)
    first, second = v["rules"]
    match_ = u32s(first[8:12])[0]
    eq(match_, 0b11 << 11)
    # without the slot: cgroup_level, cgroup, vlan, mode, ordering at the end
    level, cgroup, vlan, mode, ordering = struct.unpack("=IQHBBxxxx",
                                                        first[-20:])
    eq((level, cgroup, vlan, mode, ordering), (0, 1, 0x123, 3, 2))
    eq(tuple(second[-8:-4]), (0, 0, 255, 0))

    run("mkdir", "-p", CGROUPS)
    run("mount", "-t", "cgroup2", "none", CGROUPS)
    try:
        inner = f"{CGROUPS}/srpol-a/srpol-b"
        os.makedirs(inner)
        id_ = os.stat(inner).st_ino
        w.client.change("rule", priority=1, cgroup=id_)
        eq(struct.unpack("=IQ", view()["rules"][0][-20:-8]), (2, id_))
        eq(w.client.get("rule", priority=1)["cgroup"], id_)
        os.rmdir(inner)
        os.rmdir(os.path.dirname(inner))
        # a rule for a cgroup that is gone stays, a new one is refused
        w.client.change("rule", priority=1, name="gone")
        try:
            w.client.change("rule", priority=1, cgroup=id_)
        except Refused as why:
            eq((why.errno, why.attr), (errno.ENOENT, "cgroup"))
        else:
            raise AssertionError("not refused")
    finally:
        run("umount", CGROUPS)


@test
def adjacencies():
    "next hop and addresses of SIDs follow device and neighbor"
    mock_register()
    w.ns.ip("addr add 10.1.0.1/24 dev d0\n"
            "neigh add 10.1.0.2 lladdr 02:00:00:00:00:44 dev d0\n")
    mac = bytes.fromhex(w.ns.run("cat", "/sys/class/net/d0/address")
                        .strip().replace(":", ""))

    def sids():
        out = {}
        for v in view()["sids"]:
            _, sid, behavior, length, block, hop, l2, _, _ = \
                struct.unpack("I16s4I12s2I", v)
            out[sid] = (behavior, length, block, hop, l2)
        return out

    w.client.new("sid", sid="fc00:a::1", behavior=5, ifindex=w.dev[0],
                 via="fd00:1::2")
    w.client.new("sid", sid="fc00:a:1::", behavior=43)
    w.client.new("sid", sid="fc00:a::4", behavior=17, ifindex=w.dev[0],
                 via="10.1.0.2")
    eq(sids(), {
        packed("fc00:a::1"): (5, 128, 0, 1,
                              bytes.fromhex("020000000002") + mac),
        packed("fc00:a:1::"): (43, 48, 32, 0, bytes(12)),
        packed("fc00:a::4"): (17, 128, 0, 2,
                              bytes.fromhex("020000000044") + mac)})
    w.ns.ip("neigh replace 10.1.0.2 lladdr 02:00:00:00:00:55 dev d0\n"
            "neigh replace fd00:1::2 lladdr 02:00:00:00:00:66 dev d0\n")
    busywait(lambda: sids()[packed("fc00:a::4")][4][:6] ==
             bytes.fromhex("020000000055"))
    busywait(lambda: sids()[packed("fc00:a::1")][4][:6] ==
             bytes.fromhex("020000000066"))
    w.ns.ip("link set d0 address 02:00:00:00:77:77\n")
    busywait(lambda: sids()[packed("fc00:a::1")][4][6:] ==
             bytes.fromhex("020000007777"))
    w.client.change("sid", sid="fc00:a::1", ifindex=w.dev[1],
                    via="fd00:2::2")
    eq(sids()[packed("fc00:a::1")][4][:6], bytes.fromhex("020000000102"))
    w.ns.ip("link del d0\n")
    busywait(lambda: sids()[packed("fc00:a::4")][3:] == (0, bytes(12)))
    w.client.delete("sid", sid="fc00:a::1")
    w.client.delete("sid", sid="fc00:a::4")
    with mock.table("nexthops") as m:
        busywait(lambda: m.keys() == [])
    contract_kept()


@test
def step_by_step():
    "configured step by step it is the same as replayed"
    mock_register()
    configure()
    contract_kept()
    steps = view()
    detach()
    mock_register()
    eq(view(), steps)


def random_step(rng):
    """One request or event of any kind; refusals are fine."""
    path = rng.randrange(1, 9)
    dev = rng.randrange(2)
    key = {"color": rng.randrange(1, 4),
           "endpoint": rng.choice(("fd00::b", "::"))}
    prefix = {"prefix": f"fd00:b:{rng.randrange(3)}::", "prefix_len": 48}
    sid = {"sid": f"fc00:a::{rng.randrange(1, 4)}"}
    flags = rng.choice((EXCL, REPLACE, REPLACE, CHANGE))
    some = rng.sample(range(1, 9), rng.randrange(5))

    def link(state):
        w.ns.ip(f"link set d{dev} {state}\n" + ("".join(
            f"neigh replace fd00:{dev + 1}::{j} "
            f"lladdr 02:00:00:00:0{dev}:0{j} dev d{dev}\n"
            for j in range(2, 10)) if state == "up" else ""))

    steps = [
        lambda: w.client.op("path-new", {
            "id": path, "ifindex": w.dev[dev],
            "via": f"fd00:{dev + 1}::{rng.randrange(2, 10)}",
            "encap": rng.randrange(2), "admin_down": rng.randrange(4) == 0,
            "sids": [f"fc00:{j}::1" for j in
                     range(1, rng.randrange(2, 18))]}, flags),
        lambda: w.client.change("path", id=path,
                                admin_down=rng.randrange(2)),
        lambda: w.client.delete("path", id=path),
        lambda: w.client.op("policy-new", {
            **key, "buckets": rng.choice((128, 256, 512)),
            "backup_color": rng.choice((0, key["color"] % 3 + 1)),
            "candidate": [{"preference": rng.randrange(5), "segment_list": [
                {"path": p, "weight": rng.randrange(4)} for p in some]},
                          {"segment_list": [{"path": p} for p in some[:2]]}]},
            flags),
        lambda: w.client.delete("policy", **key),
        lambda: w.client.op("rule-new", {
            "priority": rng.randrange(4), "color": rng.randrange(1, 4),
            "opcode": rng.sample(range(256), rng.randrange(1, 9))}, flags),
        lambda: w.client.delete("rule", priority=rng.randrange(4)),
        lambda: w.client.op("endpoint-new", {
            **prefix, "address": f"fd00::{rng.randrange(9)}"}, flags),
        lambda: w.client.delete("endpoint", **prefix),
        lambda: w.client.op("sid-new", {
            **sid, "behavior": rng.choice((1, 18, 19, 20))}, flags),
        lambda: w.client.delete("sid", **sid),
        lambda: w.client.op("dev-new", {"ifindex": w.dev[dev], "role": 1},
                            flags),
        lambda: w.client.delete("dev", ifindex=w.dev[dev]),
        lambda: w.client.config(hop_limit=rng.randrange(1, 256)),
        lambda: w.client.config(src=rng.choice(("::", "fd00:9::1"))),
        lambda: link("down"), lambda: link("up"), lambda: link("up"),
        lambda: w.ns.ip(f"link set d{dev} mtu "
                        f"{rng.choice((1500, 9000, 1300))}\n"),
        lambda: w.ns.ip(f"link set d{dev} address 02:00:00:00:00:"
                        f"{rng.randrange(16, 99)}\n"),
        lambda: w.ns.ip(f"neigh replace fd00:{dev + 1}::"
                        f"{rng.randrange(2, 10)} lladdr 02:00:00:00:09:"
                        f"{rng.randrange(16, 99)} dev d{dev}\n"),
        lambda: run("ip", "-n", w.ns.name, "neigh", "del",
                    f"fd00:{dev + 1}::{rng.randrange(2, 10)}", "dev",
                    f"d{dev}", check=False),
    ]
    try:
        rng.choice(steps)()
    except Refused as why:
        assert why.errno in (errno.EEXIST, errno.ENOENT, errno.EBUSY,
                             errno.EINVAL), why


def packed_mac(text):
    return bytes.fromhex(text.replace(":", ""))


def quiet():
    """Wait until the events have been worked off: the module's picture of the
    paths and the data plane's agree, and no neighbor in use is being asked,
    which would change both later."""
    def agree():
        known = {(w.ns.ifindex(n["dev"]), n["dst"]) for n in json.loads(
            w.ns.run("ip", "-6", "-j", "neigh", "show"))
                 if n["state"][0] in ("PERMANENT", "REACHABLE", "STALE")}
        up = {p["id"]: p for p in w.client.dump("path") if p["state"] == "up"}
        told = {i: p for i, p in view()["paths"].items() if p[0][1]}
        return up.keys() == told.keys() and \
            all((p["out_ifindex"], p["out_via"]) in known and
                p["mtu"] + p["overhead"] == told[i][1] and
                packed_mac(p["out_lladdr"]) == told[i][4][:6]
                for i, p in up.items())
    busywait(agree, 30, "the same paths in module and data plane")


@test
def same_by_steps_and_by_replay():
    "random requests and events: by steps and by replay it is the same"
    rng = random.Random(SEED)
    say(f"SRPOL_SEED={SEED}")
    configure()
    mock_register()
    for round_ in range(12):
        for _ in range(40):
            random_step(rng)
        busywait(lambda: w.client.get("config"))
        quiet()
        contract_kept()
        steps = view()
        detach()
        mock_register()
        eq(view(), steps, f"after round {round_}")
        contract_kept()


# Requests that the data plane may refuse: operation, flags, members
def requests():
    return [
        ("config-set", 0, {"dscp": 9, "hop_limit": 9}),
        ("config-set", 0, {"src": "fd00:9::9"}),
        ("path-new", EXCL, {"id": 20, "sids": ["fc00::20"],
                            "ifindex": w.dev[0], "via": "fd00:1::9"}),
        ("path-new", EXCL, {"id": 20, "sids": ["fc00::20"],
                            "ifindex": w.dev[0], "via": "fd00:1::2"}),
        ("path-new", CHANGE, {"id": 1, "sids": ["fc00::20"]}),
        ("path-new", CHANGE, {"id": 1, "ifindex": w.dev[0],
                              "via": "fd00:1::9"}),
        ("path-new", REPLACE, {"id": 8, "sids": ["fc00::20"],
                               "ifindex": w.dev[0], "via": "fd00:1::9"}),
        ("policy-new", EXCL, {"color": 9, "endpoint": "fd00::b",
                              "buckets": 512,
                              "candidate": [{"segment_list": lists(1, 2)}]}),
        ("policy-new", EXCL, {"color": 9, "endpoint": "::"}),
        ("policy-new", CHANGE, {"color": 1, "endpoint": "fd00::b",
                                "candidate": [{"segment_list": lists(4, 5)}]}),
        ("policy-new", CHANGE, {"color": 1, "endpoint": "fd00::b",
                                "buckets": 1024}),
        ("policy-new", REPLACE, {"color": 1, "endpoint": "fd00::b"}),
        ("policy-new", CHANGE, {"color": 3, "endpoint": "::ffff:a00:1",
                                "candidate": [{"segment_list": lists(1)}]}),
        ("rule-new", EXCL, {"priority": 15, "color": 1}),
        ("rule-new", CHANGE, {"priority": 20, "color": 3}),
        ("rule-del", 0, {"priority": 20}),
        ("endpoint-new", EXCL, {"prefix": "fd00:c::", "prefix_len": 48,
                                "address": "fd00::c"}),
        ("endpoint-new", CHANGE, {"prefix": "fd00:b::", "prefix_len": 48,
                                  "address": "fd00::c"}),
        ("endpoint-del", 0, {"prefix": "fd00:b::", "prefix_len": 48}),
        ("sid-new", EXCL, {"sid": "fc00:a::3", "behavior": 1}),
        ("sid-new", CHANGE, {"sid": "fc00:a::1", "behavior": 1}),
        ("policy-del", 0, {"color": 1, "endpoint": "fd00::b"}),
        ("dev-new", EXCL, {"ifindex": w.dev[1], "role": "uplink"}),
        ("dev-new", CHANGE, {"ifindex": w.dev[0], "xdp_mode": "native"}),
    ]


# Which call of the data plane each kind of request stands or falls with.
DECISIVE = {
    "config-set": ("config_set",),
    "path-new": ("nexthop_set", "path_set"),
    "policy-new": ("row_set", "policy_set"),
    "rule-new": ("rule_set", "rule_commit"),
    "rule-del": ("rule_commit",),
    "endpoint-new": ("endpoint_set",), "endpoint-del": ("endpoint_hide",),
    "policy-del": ("policy_hide",), "sid-new": ("sid_set",),
    "dev-new": ("dev_set",),
}


def picture():
    """All that can be seen over netlink, shares of buckets included."""
    return w.client.picture()


@test
def refusals():
    "a call refused by the data plane refuses the request and changes nothing"
    configure()
    mock_register()
    number = 0
    for op, flags, members in requests():
        for method in DECISIVE[op]:
            # the state of a next hop that is there can not be refused
            tries = 1 if method == "nexthop_set" else 4
            for skip in range(tries):
                before_ = picture()
                seen = view()
                what = f"{op} {members}, call {skip + 1} of {method}"
                fail(method, skip)
                try:
                    w.client.op(op, members, flags)
                except Refused as why:
                    fail()
                    eq(why.errno, errno.EIO, what)
                    match(why.msg, "data plane refused", what)
                    eq(picture(), before_, what)
                    eq(view(), seen, what)
                    number += 1
                    continue
                # so many calls are not made; the request went through
                eq(control()["failed"], 0, what)
                fail()
                build()
                configure()
                mock_register()
                break
            contract_kept()
    say(f"{number} refused calls")
    assert number > 25, number


@test
def limits():
    "each full table of the data plane is named, with its size"
    mock_register("small")
    eq(w.client.get("config")["limits"],
       {"paths": 16, "nexthops": 4, "policies": 6, "bucket_rows": 12,
        "rules": 6, "endpoints": 4, "sids": 4, "devs": 2})

    def fill(op, make, room, words, error=errno.ENOSPC):
        for i in range(1, room + 1):
            w.client.op(op, make(i), EXCL)
        before_ = w.client.everything()
        try:
            w.client.op(op, make(room + 1), EXCL)
        except Refused as why:
            eq(why.errno, error)
            match(why.msg, words)
        else:
            raise AssertionError(f"{op}: not refused after {room}")
        eq(w.client.everything(), before_)

    fill("path-new", lambda i: {
        "id": i, "sids": ["fc00::1"], "ifindex": w.dev[0],
        "via": f"fd00:1::{i + 1}"}, 3, r"next hop table is full \(3\)")
    fill("path-new", lambda i: {
        "id": 3 + i, "sids": [f"fc00::{i}"], "ifindex": w.dev[0],
        "via": "fd00:1::2"}, 12, "up to 15", errno.ERANGE)
    # 11 rows, 2 for each of these
    fill("policy-new", lambda i: {"color": i, "endpoint": "::"}, 5,
         r"policy table is full \(5\)")
    w.client.delete("policy", color=5, endpoint="::")
    try:
        w.client.new("policy", color=6, endpoint="::", buckets=256)
    except Refused as why:
        match(why.msg, r"bucket row table is full \(11\)")
    else:
        raise AssertionError("not refused")
    fill("rule-new", lambda i: {"priority": i, "color": 1}, 5,
         r"rule table is full \(5\)")
    fill("endpoint-new", lambda i: {"prefix": f"fd00:{i}::",
                                    "prefix_len": 32, "address": "::"}, 4,
         r"endpoint table is full \(4\)")
    fill("sid-new", lambda i: {"sid": f"fc00::{i}", "behavior": 1}, 3,
         r"SID table is full \(3\)")
    w.ns.ip("link add d9 type veth peer name d8")
    fill("dev-new", lambda i: {"ifindex": (0, *w.dev, w.ns.ifindex("d9"))[i],
                               "role": "uplink"}, 2,
         r"device table is full \(2\)")
    w.ns.ip("link del d9")
    contract_kept()


@test
def too_large_for_it():
    "a data plane too small for the configuration is not attached"
    def refused(words):
        try:
            mock_register("small")
        except AssertionError as why:
            match(str(why), words)
        else:
            raise AssertionError("was attached")
        config = w.client.get("config")
        assert "data_plane" not in config
        eq(config["limits"]["paths"], 16384)
        eq(w.client.everything(), before_)

    add = {
        "path": ("path-new", {"id": 16, "sids": ["fc00::1"],
                              "ifindex": w.dev[0], "via": "fd00:1::2"}),
        "rule": ("rule-new", {"priority": 9, "color": 1}),
    }
    configure()
    before_ = w.client.everything()
    refused("No space left")
    for color, endpoint in ((1, "fd00::b"), (2, "fd00::b"),
                            (3, "::ffff:a00:1")):
        w.client.delete("policy", color=color, endpoint=endpoint)
    for p in range(1, 9):
        w.client.delete("path", id=p)
    mock_register("small")
    detach()
    # rows are given out in order, and both sets of a policy's count
    for color in range(1, 8):
        w.client.new("policy", color=color, endpoint="::")
    for color in range(1, 6):
        w.client.delete("policy", color=color, endpoint="::")
    w.client.delete("policy", color=7, endpoint="::")
    mock_register("large")      # the other set of rows is live now
    detach()
    before_ = w.client.everything()
    refused("No space left")
    w.client.delete("policy", color=6, endpoint="::")
    for name, (op, members) in add.items():
        w.client.op(op, members, EXCL)
        if name == "path":
            before_ = w.client.everything()
            refused("No space left")
            w.client.delete("path", id=16)
    mock_register("small")
    eq(w.client.get("config")["data_plane"], "mock")


@test
def one_per_namespace():
    "one data plane in a namespace, another one in another"
    configure()
    mock_register()
    fds = [Map(f"{BPFFS}/mock_control")]
    try:
        mock_register(links=LINKS + "2")
    except AssertionError as why:
        match(str(why), "busy")
    else:
        raise AssertionError("two in one namespace")
    other = net.Netns()
    mock_register(ns=other, links=LINKS + "2")
    c = other.client()
    eq(c.get("config")["data_plane"], "mock")
    eq(view()["paths"], {})
    w.client.new("path", id=30, sids=["fc00::1"], ifindex=w.dev[0],
                 via="fd00:1::2")
    eq(view()["paths"], {})
    os.unlink(f"{LINKS}2/mock")
    busywait(lambda: "data_plane" not in c.get("config"))
    eq(w.client.get("config")["data_plane"], "mock")
    c.close()
    other.delete()
    fds[0].close()


@test
def events():
    "a lost device reaches the data plane at once, a neighbor when it failed"
    for i in (1, 2):
        w.client.new("path", id=i, sids=["fc00::1"], ifindex=w.dev[0],
                     via=f"fd00:1::{i + 1}")
    w.client.new("policy", color=1, endpoint="::",
                 candidate=[{"segment_list": lists(1, 2)}])
    mock_register()

    def hops():
        with mock.table("nexthops") as m:
            return [up for _, _, up in sorted(u32s(v) for _, v in m.items())]

    def buckets():
        return {p: t.count(p) for *_, t in view()["policies"].values()
                for p in set(t)}

    eq(hops(), [1, 1])
    # it is asked again, and nobody answers, which nobody knows yet
    with w.ns:
        w.ns.sysctl("net/ipv6/neigh/d0/retrans_time_ms", 60000)
    w.ns.ip("neigh del fd00:1::2 dev d0\n")
    busywait(lambda: "INCOMPLETE" in w.ns.run("ip", "neigh", "show", "fd00:1::2"))
    eq(hops(), [1, 1])
    with w.ns:
        w.ns.sysctl("net/ipv6/neigh/d0/retrans_time_ms", 1000)
    w.ns.ip("neigh del fd00:1::2 dev d0\n")
    busywait(lambda: hops() == [0, 1], 30)
    busywait(lambda: buckets() == {2: 128})
    w.ns.ip("neigh replace fd00:1::2 lladdr 02:00:00:00:00:02 dev d0\n")
    busywait(lambda: hops() == [1, 1])
    busywait(lambda: set(buckets()) == {1, 2})
    w.ns.ip("link set d0 down\n")
    # in the system call: no waiting
    eq(hops(), [0, 0])
    busywait(lambda: buckets() == {})
    w.ns.ip("link del d0\n")
    busywait(lambda: hops() == [])
    contract_kept()


@test
def resilience():
    "a policy defined anew moves the buckets that must move, and no other"
    for i in range(1, 9):
        w.client.new("path", id=i, sids=[f"fc00::{i}"], ifindex=w.dev[0],
                     via="fd00:1::2")
    key = {"color": 1, "endpoint": "::"}
    mock_register()

    def table(*paths, **members):
        w.client.replace("policy", **key, candidate=[
            {"segment_list": [{"path": p} for p in paths]}], **members)
        (*_, buckets), = view()["policies"].values()
        return buckets

    first = table(*range(1, 9))
    eq({first.count(p) for p in range(1, 9)}, {16})
    eq(table(8, 7, 6, 5, 4, 3, 2, 1), first, "another order")
    fewer = table(1, 2, 3, 4, 5, 6, 7)
    for old, new in zip(first, fewer):
        assert new == old if old != 8 else new != 8
    again = table(*range(1, 9))
    moved = sum(a != b for a, b in zip(fewer, again))
    eq((moved, again.count(8)), (16, 16), "for the one that came back")
    # another candidate path with some of the same paths
    w.client.change("policy", **key, candidate=[
        {"preference": 200, "segment_list": [{"path": p} for p in range(1, 9)]},
        {"preference": 100, "segment_list": [{"path": p} for p in (8, 1)]}])
    for p in range(2, 9):
        w.client.change("path", id=p, admin_down=1)
    (*_, only), = view()["policies"].values()
    eq(set(only), {1})
    w.client.change("path", id=1, admin_down=1)
    eq(next(iter(view()["policies"].values()))[-1], [])
    for p in range(1, 9):
        w.client.change("path", id=p, admin_down=0)
    (*_, back), = view()["policies"].values()
    eq(sorted(back), sorted(again))


@test
def epochs():
    "flows are classified anew after every change that could alter them"
    configure()
    mock_register()

    def epoch():
        return generation()[1]

    for op, flags, members in (
            ("config-set", 0, {"flow_label": "hash"}),
            ("rule-new", EXCL, {"priority": 1, "color": 1}),
            ("rule-new", CHANGE, {"priority": 1, "color": 2}),
            ("rule-del", 0, {"priority": 1}),
            ("endpoint-new", EXCL, {"prefix": "fd00:c::", "prefix_len": 48,
                                    "address": "::"}),
            ("endpoint-new", CHANGE, {"prefix": "fd00:c::", "prefix_len": 48,
                                      "address": "fd00::c"}),
            ("endpoint-del", 0, {"prefix": "fd00:c::", "prefix_len": 48}),
            ("policy-new", EXCL, {"color": 9, "endpoint": "::"}),
            ("policy-del", 0, {"color": 9, "endpoint": "::"})):
        was = epoch()
        w.client.op(op, members, flags)
        assert epoch() > was, f"{op} {members}"


def module_users():
    with open("/sys/module/srpol/refcnt", encoding="ascii") as f:
        return int(f.read())


@test
def module_pinned():
    "the module can not be unloaded while attached, and can afterwards"
    configure()
    mock_register()
    done = subprocess.run(["rmmod", "srpol"], check=False,
                          capture_output=True, text=True)
    assert done.returncode, "unloaded"
    match(done.stderr, "in use")
    eq(len(view()["paths"]), 6)
    mock.remove()
    busywait(lambda: module_users() == 0)
    net.unload_module()
    run("insmod", net.srpol.MODULE)
    net.srpol.forget_family()
    w.client.close()
    w.client = w.ns.client()


@test
def namespace_ends():
    "a namespace ends with a data plane attached; the pin may go later"
    for _ in range(5):
        build()
        configure()
        # dummies tell nothing about the end of a namespace: a veth does
        net.ip(f"link add {w.ns.name} type veth peer name v0 "
               f"netns {w.ns.name}\n")
        mock_register()
        name = w.ns.name
        w.client.close()
        w.ns.delete()
        busywait(lambda n=name: not os.path.exists(f"/sys/class/net/{n}"))
        assert module_users(), "the link should hold the module"
        del w.ns
        mock.remove()
        busywait(lambda: module_users() == 0)


@test
def attach_while_busy():
    "attached and detached again and again while links and paths change"
    configure()
    rng = random.Random(SEED)
    stop = threading.Event()

    def flap():
        while not stop.is_set():
            w.ns.ip("link set d0 down\nlink set d0 up\n"
                    "neigh replace fd00:1::2 lladdr 02:00:00:00:00:02 "
                    "dev d0\nneigh replace fd00:2::2 lladdr "
                    "02:00:00:00:01:77 dev d1\n"
                    "neigh replace fd00:2::2 lladdr 02:00:00:00:01:02 "
                    "dev d1\n")

    thread = threading.Thread(target=flap)
    thread.start()
    try:
        for _ in range(10):
            mock_register()
            for _ in range(5):
                w.client.change("path", id=rng.randrange(1, 8),
                                admin_down=rng.randrange(2))
            contract_kept()
            detach()
    finally:
        stop.set()
        thread.join()


main()
