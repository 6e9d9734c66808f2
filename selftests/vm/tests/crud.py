#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Create, read, change, dump and delete every object over netlink with the
kernel's YNL client; notifications and events.

    d0 (dummy, up, fd00:1::1/64), neighbors fd00:1::2 and ::3 permanent

All in one namespace. A dummy always has carrier and a permanent neighbor is
always valid, so a path via fd00:1::2 is up.
"""

import errno
import os
import struct
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import (CLOCK_MONOTONIC_COARSE, before, busywait,     # noqa: E402
                  cleanup, eq, main, match, test)
from rawnl import RawSocket                             # noqa: E402
from srpol import (KINDS, Netlink, Refused, Srpol, configured,  # noqa: E402
                   family_id, text, without)

net.load_module()
ns = net.Netns("link add d0 type dummy\nlink set d0 up\n"
               "addr add fd00:1::1/64 dev d0 nodad\n"
               "neigh add fd00:1::2 lladdr 02:00:00:00:00:02 dev d0\n"
               "neigh add fd00:1::3 lladdr 02:00:00:00:00:03 dev d0\n")
d0 = ns.ifindex("d0")
client = ns.client()
config = ns.listener("config")
events = ns.listener("events")

# with block-len 32 and csid-len 32 these are containers without a gap
SIDS16 = [text(f"fc00:{i:x}:{i:x}::") for i in range(1, 17)]


def refused(err, call, *args, msg="", attr=None, **kwargs):
    """The call must be refused in exactly this way."""
    try:
        call(*args, **kwargs)
    except Refused as why:
        eq(why.errno, err, f"errno of {why}")
        match(why.msg, msg)
        if attr is not None:
            eq(why.attr, attr, "attribute to blame")
        return why
    raise AssertionError(f"not refused: {args} {kwargs}")


@before
def forget():
    """Remove all objects and what was heard of them."""
    client.clear()
    config.take()
    events.take()


# kind: key, an object with all members, another with as few as may be, one
# that is changed in the members given, what defaults an entered object has
OBJECTS = {
    "path": (
        {"id": 7},
        {"name": "p-all", "origin": "engine", "sids": SIDS16,
         "encap": "full", "src": "fd00:1::1", "ifindex": d0,
         "via": "fd00:1::2", "admin_down": 1, "block_len": 32,
         "block": "fc00:1::", "csid_len": 32, "tlv": [{"type": 124, "value": b"abc"},
                                 {"type": 255, "value": b""}],
         "timestamp": 1},
        {"sids": ["fc00::9"]},
        {"sids": ["fc00:2:1::", "fc00:1::"], "block": "fc00:2::",
         "name": "changed"},
        {"origin": "static", "encap": "reduced"}),
    "rule": (
        {"priority": 100},
        {"name": "c-all", "origin": "engine", "action": "steer",
         "color": 3, "ifindex": d0, "mark": 0x10, "mark_mask": 0xff,
         "src": "fd00:a::", "src_len": 64, "dst": "fd00:b::",
         "dst_len": 48, "proto": 17, "sport_min": 1, "sport_max": 65535,
         "dport_min": 4791, "dport_max": 4791, "qp_min": 0,
         "qp_max": 0xffffff, "opcode": [0, 4, 63, 64, 255], "dscp": 63,
         "pkey": 0xffff, "vlan": 4094, "cgroup": 1, "mode": "spray",
         "ordering": "weak"},
        {"action": "bypass"},
        {"color": 4, "qp_min": 5, "qp_max": 6, "ordering": "partial"},
        {"origin": "static", "ordering": "strong"}),
    "endpoint": (
        {"prefix": "fd00:b::", "prefix_len": 48},
        {"address": "fd00::b", "origin": "engine"},
        {"address": "::ffff:a00:1"},
        {"address": "::"},
        {"origin": "static"}),
    "sid": (
        {"sid": "fc00:0:a::", "prefix_len": 64},
        {"behavior": 52, "origin": "engine", "block_len": 40,
         "ifindex": d0, "via": "fd00:1::2"},
        {"behavior": 43},
        {"block_len": 24},
        {"origin": "static", "block_len": 32}),
    "dev": (
        {"ifindex": d0},
        {"role": "port", "xdp_mode": "generic", "hook": "tc",
         "source": "loose"},
        {"role": "uplink"},
        {"xdp_mode": "native", "hook": "xdp"},
        {"xdp_mode": "auto", "hook": "auto", "source": "none"}),
    "policy": (
        {"color": 10, "endpoint": "fd00::b"},
        {"name": "pol-all", "bsid": "fc00:b51d::1", "origin": "engine",
         "mode": "active-backup", "symmetric": 1, "spray": "random", "flowlet_timeout": 1,
         "threshold": 1000000, "dwell_time": 0, "wait_to_restore": 3600000,
         "buckets": 256, "backup_color": 11,
         "drop_upon_invalid": 1,
         "candidate": [
             {"preference": 200, "protocol_origin": 20, "asn": 65000,
              "node": "fd00::99", "discriminator": 5, "name": "first",
              "segment_list": [{"path": 1, "weight": 2}, {"path": 2, "weight": 1}]},
             {"preference": 50, "protocol_origin": 30, "asn": 0,
              "node": "::", "discriminator": 9, "name": "second",
              "segment_list": [{"path": 2, "weight": 0}]}]},
        {},
        {"drop_upon_invalid": 1, "buckets": 512, "mode": "on-congestion"},
        {"origin": "static", "mode": "hash", "symmetric": 0,
         "spray": "round-robin", "flowlet_timeout": 500000, "threshold": 3,
         "dwell_time": 100, "wait_to_restore": 1000, "buckets": 128,
         "drop_upon_invalid": 0}),
}


def two_paths():
    for i in (1, 2):
        client.new("path", id=i, sids=[f"fc00::{i}"], ifindex=d0,
                   via=f"fd00:1::{i + 1}")


def check_object(kind):
    """One object through its whole life."""
    key, everything, least, change, defaults = OBJECTS[kind]
    if kind == "policy":
        two_paths()
        config.take()

    def now():
        return configured(kind, client.get(kind, **key))

    def heard(name):
        got = [(n, m) for n, m in config.take() if n.startswith(kind)]
        eq([n for n, _ in got], [name], "notifications")
        return got[0][1]

    refused(errno.ENOENT, client.get, kind, **key)
    refused(errno.ENOENT, client.delete, kind, **key)
    refused(errno.ENOENT, client.change, kind, **key, **everything)
    eq(config.take(), [], "notifications of refused requests")

    client.new(kind, **key, **everything)
    want = {**key, **everything}
    eq(now(), want, "what was entered")
    eq(heard(f"{kind}-ntf"), client.get(kind, **key), "notification")
    eq([o for o in client.dump(kind)
        if key.items() <= o.items()],
       [client.get(kind, **key)], "dump")

    before = client.get(kind, **key)
    refused(errno.EEXIST, client.new, kind, **key, **least, msg="exists")
    refused(errno.EEXIST, client.new, kind, Netlink.NLM_F_CREATE, **key,
            **least, msg="exists")
    eq(client.get(kind, **key), before, "after a refusal")
    eq(config.take(), [], "notifications of refused requests")

    client.change(kind, **key, **change)
    eq(now(), {**want, **change}, "a change keeps what is not given")
    eq(heard(f"{kind}-ntf"), client.get(kind, **key), "notification")

    client.replace(kind, **key, **least)
    eq(now(), {**key, **defaults, **least}, "a replacement starts anew")
    heard(f"{kind}-ntf")
    client.replace(kind, **key, **{**everything, "origin": "static"}
                   if kind != "dev" else everything)
    eq(now(), {**want, "origin": "static"} if kind != "dev" else want,
       "replaced")
    heard(f"{kind}-ntf")

    before = client.get(kind, **key)
    client.delete(kind, **key)
    eq(without(heard(f"{kind}-del-ntf"), ("users",)),
       without(before, ("users",)), "notification")
    refused(errno.ENOENT, client.get, kind, **key)
    refused(errno.ENOENT, client.delete, kind, **key)
    client.replace(kind, **key, **least)
    eq(now(), {**key, **defaults, **least}, "CREATE|REPLACE creates")
    client.delete(kind, **key)
    eq([o for o in client.dump(kind) if key.items() <= o.items()], [], "dump")


def register_objects():
    for kind in KINDS:
        def fn(kind=kind):
            check_object(kind)
        fn.__name__ = f"crud_{kind}"
        fn.__doc__ = f"{kind}: new, change, replace, get, dump, del, notify"
        test(fn)


register_objects()


@test
def sid_order():
    "segment lists of 1 to 16 SIDs come back in order of travel"
    for n in range(1, 17):
        client.replace("path", id=1, sids=SIDS16[:n], encap="full")
        eq(client.get("path", id=1)["sids"], SIDS16[:n])
        eq(client.get("path", id=1)["overhead"], 48 + 16 * n)
        client.change("path", id=1, encap="reduced")
        eq(client.get("path", id=1)["overhead"],
           48 + 16 * (n - 1) if n > 1 else 40)


@test
def settings():
    "config: defaults, every setting, notification"
    was = client.get("config")
    eq(without(was, ("generation", "limits", "used")),
       {"src": "::", "hop_limit": 64, "dscp_mode": "uniform", "dscp": 0,
        "flow_label": "hash-qp", "icmp_errors": 1, "retry_interval": 1000,
        "path_id": "none", "psn_observer": 0, "drop_events": 100,
        "remembered_routes": 1})
    new = {"src": "fd00:1::1", "hop_limit": 255, "dscp_mode": "pipe",
           "dscp": 46, "flow_label": "inherit", "icmp_errors": 0,
           "retry_interval": 0, "path_id": "label", "psn_observer": 1,
           "drop_events": 1000000, "remembered_routes": 0,
           "sr_domain": [{"prefix": "fd00::", "prefix_len": 8},
                         {"prefix": "::", "prefix_len": 0}],
           "sr_source": [{"prefix": "fd01::", "prefix_len": 16}]}
    for name, value in new.items():
        client.config(**{name: value})
        eq(client.get("config")[name], value, name)
        eq(config.wait("config-ntf")[name], value, name)
    eq({k: client.get("config")[k] for k in new}, new)
    client.config(dscp_mode="uniform")
    eq(client.get("config")["dscp"], 0, "DSCP without pipe")
    client.config(**{k: was[k] for k in new if k in was and k != "dscp"},
                  sr_domain=[{}], sr_source=[{}])
    now = client.get("config")
    eq(without(now, ("generation",)), without(was, ("generation",)))
    assert now["generation"] == was["generation"] + len(new) + 2


@test
def revisions():
    "a policy that was changed meanwhile is not overwritten"
    two_paths()
    key = {"color": 7, "endpoint": "fd00::b"}
    client.new("policy", **key)
    seen = client.get("policy", **key)["revision"]
    client.replace("policy", **key)
    eq(client.get("policy", **key)["revision"], seen, "nothing has changed")
    client.replace("policy", **key, threshold=9)
    eq(client.get("policy", **key)["revision"] == seen, False, "now it has")
    was = client.picture()
    for call in client.replace, client.change:
        refused(errno.ESTALE, call, "policy", **key, revision=seen, threshold=5,
                msg="changed meanwhile", attr="revision")
    refused(errno.ESTALE, client.replace, "policy", color=8, endpoint="::",
            revision=seen, attr="revision")
    eq(client.picture(), was, "nothing was")
    client.replace("policy", **key, threshold=5,
                   revision=client.get("policy", **key)["revision"])


@test
def same_again():
    "what is defined as it is changes nothing and nobody hears of it"
    two_paths()
    for kind, (key, everything, least, _, _) in OBJECTS.items():
        if kind == "path":
            everything = {**everything, "origin": "static"}
        client.replace(kind, **key, **everything)
        config.take()
        was = client.picture()
        client.replace(kind, **key, **everything)
        client.change(kind, **key, **everything)
        client.change(kind, **key)
        eq(client.picture(), was, kind)
        eq(config.take(), [], kind)
    for name in ("src", "hop_limit", "retry_interval", "path_id"):
        client.config(**{name: was["config"][name]})
    client.config(sr_domain=[{}])
    client.config()
    eq(client.picture(), was, "config")
    eq(config.take(), [], "config")


def pinned_lists(key):
    cand, = client.get("policy", **key)["candidate"]
    return [li["buckets"] for li in cand["segment_list"]]


@test
def pinned():
    "active-backup: first list that works, next at once, back after the wait-to-restore"
    for i in (1, 2, 3):
        client.new("path", id=i, sids=[f"fc00::{i}"], ifindex=d0,
                   via="fd00:1::2")
    key = {"color": 3, "endpoint": "fd00::b"}
    client.new("policy", **key, mode="active-backup", wait_to_restore=3600000, candidate=[
        {"segment_list": [{"path": 3, "weight": 0}, {"path": 2}, {"path": 1}]}])
    eq(pinned_lists(key), [0, 128, 0])
    client.change("path", id=2, admin_down=1)
    eq(pinned_lists(key), [0, 0, 128])
    client.change("path", id=2, admin_down=0)
    eq(pinned_lists(key), [0, 0, 128])
    # back again while it waits: at once if the one in use fails
    client.change("path", id=1, admin_down=1)
    eq(pinned_lists(key), [0, 128, 0])
    client.change("path", id=1, admin_down=0)
    client.change("policy", **key, wait_to_restore=700)
    client.change("path", id=2, admin_down=1)
    eq(pinned_lists(key), [0, 0, 128])
    # the module counts ticks, and so does this clock
    start = time.clock_gettime(CLOCK_MONOTONIC_COARSE)
    client.change("path", id=2, admin_down=0)
    busywait(lambda: pinned_lists(key) == [0, 128, 0])
    took = time.clock_gettime(CLOCK_MONOTONIC_COARSE) - start
    assert took >= 0.7 - time.clock_getres(CLOCK_MONOTONIC_COARSE), took
    # no wait-to-restore, another order, another mode and back
    client.change("policy", **key, wait_to_restore=0)
    client.change("path", id=2, admin_down=1)
    client.change("path", id=2, admin_down=0)
    busywait(lambda: pinned_lists(key) == [0, 128, 0])
    client.change("policy", **key, candidate=[
        {"segment_list": [{"path": 1}, {"path": 2}]}])
    eq(pinned_lists(key), [128, 0])
    client.change("policy", **key, mode="hash")
    eq(pinned_lists(key), [64, 64])
    client.change("policy", **key, mode="active-backup")
    eq(pinned_lists(key), [128, 0])


@test
def containers():
    "containers: plain SIDs beside them, lengths kept, taken back"
    client.new("path", id=1, block_len=48, sids=[
        "fcbb:bb00:1:100:200:300::", "fc00::1:0:0:1",
        "fcbb:bb00:1::"])
    got = client.get("path", id=1)
    eq((got["block_len"], got["csid_len"]), (48, 16))
    client.change("path", id=1, csid_len=32)
    eq(client.get("path", id=1)["csid_len"], 32)
    client.change("path", id=1, block_len=0)
    got = client.get("path", id=1)
    assert "block_len" not in got and "csid_len" not in got


@test
def overhead():
    "TLVs and the timestamp count, and a single SID gets an SRH for them"
    for members, length in (
            ({}, 40), ({"timestamp": 1}, 40 + 24 + 16),
            ({"tlv": [{"type": 9, "value": b"x" * 6}]}, 40 + 24 + 8),
            ({"tlv": [{"type": 9, "value": b"x" * 7}]}, 40 + 24 + 16),
            ({"tlv": [{"type": 9}] * 4, "timestamp": 1}, 40 + 24 + 8 + 16)):
        client.replace("path", id=1, sids=["fc00::1"], ifindex=d0,
                       via="fd00:1::2", **members)
        got = client.get("path", id=1)
        eq((got["overhead"], got["mtu"]), (length, 1500 - length))


@test
def sid_prefixes():
    "SIDs of one address and several lengths; defaults of the behaviors"
    client.new("sid", sid="fc00:0:7::", behavior=43)
    eq(without(client.get("sid", sid="fc00:0:7::"), ("id",)),
       {"sid": "fc00:0:7::", "behavior": 43, "origin": "static",
        "prefix_len": 48, "block_len": 32, "state": "up",
        "reason": "none"})
    client.change("sid", sid="fc00:0:7::", block_len=24)
    client.new("sid", sid="fc00:0:7::", behavior=1)
    eq(client.get("sid", sid="fc00:0:7::",
                  prefix_len=128)["behavior"], 1)
    refused(errno.ENOENT, client.get, "sid", sid="fc00:0:7::",
            msg="or several", attr="sid")
    refused(errno.ENOENT, client.delete, "sid", sid="fc00:0:7::")
    refused(errno.ENOENT, client.get, "sid", sid="fc00:0:7::",
            prefix_len=64)
    client.delete("sid", sid="fc00:0:7::", prefix_len=128)
    client.change("sid", sid="fc00:0:7::", behavior=64)
    got = client.get("sid", sid="fc00:0:7::")
    eq((got["prefix_len"], got["block_len"]), (48, 24))
    for code, length in ((1, 128), (2, 128), (18, 128), (19, 128), (20, 128),
                         (28, 128), (29, 128), (43, 48), (44, 48), (48, 48),
                         (62, 48), (63, 48), (64, 48)):
        client.new("sid", sid="fc00:0:9::", behavior=code)
        eq(client.get("sid", sid="fc00:0:9::")["prefix_len"], length)
        client.delete("sid", sid="fc00:0:9::")


@test
def sid_dscp():
    "the DSCP of what is decapsulated: pipe by default, and only where it is"
    def mode():
        return client.get("sid", sid="fc00::d6").get("dscp_mode")

    for code in (16, 17, 18, 19, 20, 28, 29, 48, 62, 63, 64):
        adjacency = {"ifindex": d0, "via": "10.0.0.1" if code == 17 else "fd00:1::2"}
        client.replace("sid", sid="fc00:0:7::", prefix_len=48, behavior=code,
                       **(adjacency if code in (16, 17) else {}))
        eq(client.get("sid", sid="fc00:0:7::")["dscp_mode"], "pipe")
    client.new("sid", sid="fc00::d6", behavior=20, dscp_mode="uniform")
    eq(mode(), "uniform")
    client.change("sid", sid="fc00::d6", behavior=18)
    eq(mode(), "uniform")
    client.change("sid", sid="fc00::d6", behavior=1)
    eq(mode(), None)
    client.change("sid", sid="fc00::d6", behavior=20)
    eq(mode(), "pipe")


@test
def adjacencies():
    "SIDs with an adjacency follow device and neighbor, IPv4 too"
    def state(sid):
        got = client.get("sid", sid=sid)
        return got["state"], got["reason"]

    ns.ip("link add d7 type dummy\nlink set d7 arp on up\n"
          "addr add 10.7.0.1/24 dev d7\n"
          "neigh add fd00:7::2 lladdr 02:00:00:00:07:02 dev d7\n"
          "neigh add 10.7.0.2 lladdr 02:00:00:00:07:04 dev d7\n")
    d7 = ns.ifindex("d7")
    for n, (code, via) in enumerate(((5, "fd00:7::2"), (6, "fd00:7::2"),
                                     (16, "fd00:7::2"), (52, "fd00:7::2"),
                                     (17, "10.7.0.2"))):
        sid = f"fc00:0:7:{n + 1}::"
        client.new("sid", sid=sid, behavior=code, ifindex=d7, via=via)
        got = client.get("sid", sid=sid)
        eq((got["ifindex"], got["via"]), (d7, text(via)))
        eq(state(sid), ("up", "none"))
    eq(client.get("config")["used"]["nexthops"], 2)
    ns.ip("neigh del 10.7.0.2 dev d7\n")
    busywait(lambda: state("fc00:0:7:5::")[0] != "up")
    eq(state("fc00:0:7:1::"), ("up", "none"))
    ns.ip("neigh replace 10.7.0.2 lladdr 02:00:00:00:07:05 dev d7\n")
    busywait(lambda: state("fc00:0:7:5::")[0] == "up")
    ns.ip("link set d7 down\n")
    busywait(lambda: state("fc00:0:7:1::") == ("down", "device-down"))
    ns.ip("link del d7\n")
    eq({state(f"fc00:0:7:{n}::") for n in range(1, 6)},
       {("down", "no-device")})
    busywait(lambda: not client.get("config")["used"]["nexthops"])
    client.replace("sid", sid="fc00:0:7:4::", prefix_len=64, behavior=43)


@test
def used():
    "config counts what is in use"
    two_paths()
    client.new("policy", color=1, endpoint="::", buckets=256)
    client.new("sid", sid="fc00::1", behavior=1)
    client.new("dev", ifindex=d0, role="uplink")
    client.new("rule", priority=1, color=1)
    client.new("endpoint", prefix="::", prefix_len=0, address="fd00::1")
    eq(client.get("config")["used"],
       {"paths": 2, "nexthops": 2, "policies": 1, "bucket_rows": 4,
        "rules": 1, "endpoints": 1, "sids": 1, "devs": 1})
    forget()
    eq(set(client.get("config")["used"].values()), {0})


@test
def busy():
    "a path in use is not deleted, and the extack names the policy"
    two_paths()
    far = "fd00:1111:2222:3333:4444:5555:6666:7777"
    for color, endpoint in ((10, "fd00::b"), (0xfffffffe, far)):
        client.new("policy", color=color, endpoint=endpoint,
                   candidate=[{"segment_list": [{"path": 1}]}])
        eq(client.get("path", id=1)["users"], 1)
        why = refused(errno.EBUSY, client.delete, "path", id=1, attr="id")
        match(why.msg, f"policy.* {color} .*{endpoint}$")
        client.delete("policy", color=color, endpoint=endpoint)
    client.delete("path", id=1)


@test
def bsid_taken():
    "a binding SID belongs to one policy, and the extack names it"
    far = "fd00:1111:2222:3333:4444:5555:6666:7777"
    client.new("policy", color=0xfffffffe, endpoint=far, bsid="fc00::b")
    why = refused(errno.EEXIST, client.new, "policy", color=2,
                  endpoint="::", bsid="fc00::b", attr="bsid")
    match(why.msg, f"policy.* {0xfffffffe} .*{far}$")
    client.change("policy", color=0xfffffffe, endpoint=far, bsid="fc00::b")


@test
def last_list():
    "a policy can lose its last list and its last candidate path"
    two_paths()
    key = {"color": 1, "endpoint": "fd00::b"}
    client.new("policy", **key, candidate=[{"segment_list": [{"path": 1}]}])
    eq(client.get("policy", **key)["state"], "up")
    client.replace("policy", **key, candidate=[{}])
    policy = client.get("policy", **key)
    eq((policy["state"], policy["reason"]), ("down", "no-valid-candidate"))
    eq(policy["candidate"][0]["reason"], "no-valid-list")
    client.replace("policy", **key)
    policy = client.get("policy", **key)
    eq((policy["state"], policy["reason"]), ("down", "no-candidate"))
    eq(client.get("path", id=1)["users"], 0)


@test
def origins():
    "the engine alters its own objects and no static ones"
    two_paths()
    for kind, (key, _, least, change, _) in OBJECTS.items():
        if kind == "dev":
            continue
        client.new(kind, **key, **least)
        before = client.get(kind, **key)
        for op in (client.change, client.replace):
            refused(errno.EPERM, op, kind, **key, **least,
                    origin="engine", msg="static", attr="origin")
        refused(errno.EPERM, client.delete, kind, **key, origin="engine",
                msg="static", attr="origin")
        eq(client.get(kind, **key), before)
        client.delete(kind, **key)
        client.new(kind, **key, **least, origin="engine")
        # the least path has no compressed SIDs, and so no block
        client.change(kind, **key, origin="engine",
                      **{k: v for k, v in change.items() if k != "block"})
        client.replace(kind, **key, origin="static", **least)
        eq(client.get(kind, **key)["origin"], "static")
        client.delete(kind, **key)


@test
def priorities():
    "rules are dumped in order of priority, the extremes included"
    prios = [0xffffffff, 5, 0, 70000, 1]
    for prio in prios:
        client.new("rule", priority=prio, action="bypass")
    eq([c["priority"] for c in client.dump("rule")], sorted(prios))


@test
def rule_matches():
    "each match alone comes back as it was entered"
    for match_ in ({"mark": 0}, {"src": "10.0.0.0", "src_len": 104},
                   {"dst": "::ffff:0:0", "dst_len": 96},
                   {"dst": "fd00::1"}, {"sport_min": 7},
                   {"dport_min": 1, "dport_max": 2}, {"qp_min": 9},
                   {"opcode": list(range(256))}, {"opcode": [255]},
                   {"dscp": 0}, {"pkey": 0}, {"proto": 0}, {"proto": 255},
                   {"vlan": 0}, {"vlan": 1}, {"cgroup": 1},
                   {"ifindex": d0}):
        client.new("rule", priority=1, action="bypass", **match_)
        got = configured("rule", client.get("rule", priority=1))
        want = {k: text(v) if k in ("src", "dst") else v
                for k, v in match_.items()}
        if "mark" in want:
            want["mark_mask"] = 0xffffffff
        if "dst" in want:
            want.setdefault("dst_len", 128)
        for name in ("sport", "qp"):
            if name + "_min" in want:
                want[name + "_max"] = want[name + "_min"]
        eq(got, {"priority": 1, "origin": "static", "action": "bypass",
                 "ordering": "strong", **want})
        client.delete("rule", priority=1)


@test
def rule_change():
    "a change of a rule to any address or to its present action is coherent"
    client.new("rule", priority=1, color=5, src="fd00::", src_len=16)
    client.change("rule", priority=1, action="steer", dscp=3)
    eq(configured("rule", client.get("rule", priority=1)),
       {"priority": 1, "origin": "static", "action": "steer", "color": 5,
        "ordering": "strong", "src": "fd00::", "src_len": 16, "dscp": 3})
    client.change("rule", priority=1, src="::", src_len=0)
    eq(configured("rule", client.get("rule", priority=1)),
       {"priority": 1, "origin": "static", "action": "steer", "color": 5,
        "ordering": "strong", "dscp": 3})


@test
def rule_path():
    "a rule with a path is in mode hash; any path that can be may be named"
    want = {"priority": 1, "origin": "static", "action": "steer", "color": 5,
            "ordering": "strong", "mode": "hash"}
    client.new("rule", priority=1, color=5, path=9)
    eq(configured("rule", client.get("rule", priority=1)), {**want, "path": 9})
    client.change("rule", priority=1, path=7)
    eq(configured("rule", client.get("rule", priority=1)),
       {**want, "path": 7})
    client.change("rule", priority=1, dscp=3)
    eq(configured("rule", client.get("rule", priority=1)),
       {**want, "path": 7, "dscp": 3})
    client.delete("rule", priority=1)
    client.new("rule", priority=1, color=5)
    client.change("rule", priority=1, mode="spray", ordering="weak")
    client.change("rule", priority=1, path=2)
    eq(configured("rule", client.get("rule", priority=1)),
       {**want, "path": 2, "ordering": "weak"})


@test
def rule_reasons():
    "a rule says why it steers nothing"
    def reason():
        return client.get("rule", priority=1)["reason"]

    two_paths()
    client.new("rule", priority=1, color=5)
    eq(reason(), "no-uplink")
    client.new("dev", ifindex=d0, role="port")
    eq(reason(), "no-uplink")
    client.change("dev", ifindex=d0, role="uplink")
    eq(reason(), "no-policy")
    client.new("policy", color=5, endpoint="fd00::1")
    eq(reason(), "no-policy-up")
    client.change("policy", color=5, endpoint="fd00::1",
                  candidate=[{"segment_list": [{"path": 1}]}])
    eq(reason(), "none")
    client.change("path", id=1, admin_down=1)
    eq(reason(), "no-policy-up")
    client.change("path", id=1, admin_down=0)
    client.delete("policy", color=5, endpoint="fd00::1")
    eq(reason(), "no-policy")
    ns.ip("link add d9 type dummy")
    client.change("rule", priority=1, action="bypass",
                  ifindex=ns.ifindex("d9"))
    eq(reason(), "none")
    ns.ip("link del d9")
    eq(reason(), "no-device")


@test
def long_dump():
    "a dump over many messages holds everything once and in order"
    for i in range(1, 301):
        client.new("path", id=i, sids=SIDS16)
    eq([p["id"] for p in client.dump("path")], list(range(1, 301)))


def is_marked(change):
    """Has a message of a dump NLM_F_DUMP_INTR, if that happens after its first part?"""
    with ns:
        raw = RawSocket()
    raw.sock.send(raw.message(family_id(), 1, b"", Netlink.NLM_F_DUMP))
    marked = done = False
    part = raw.sock.recv(4096)
    change()
    while not done:
        while len(part) >= 16:
            length, kind, flags = struct.unpack_from("IHH", part)
            marked |= bool(flags & 0x10)
            done |= kind == Netlink.NLMSG_DONE
            part = part[(length + 3) & ~3:]
        part = b"" if done else raw.sock.recv(1 << 17)
    raw.close()
    return marked


@test
def interrupted_dump():
    "a dump during which something changed is marked as inconsistent, no other one"
    for i in range(1, 101):
        client.new("path", id=i, sids=SIDS16)
    eq(is_marked(lambda: client.get("path", id=1)), False, "nothing changed")
    eq(is_marked(lambda: client.new("path", id=200, sids=["fc00::1"])), True,
       "a path came")


@test
def largest_policy():
    "the largest policy is replied, dumped to a new socket and notified"
    for i in range(1, 65):
        client.new("path", id=i, sids=[f"fc00::{i:x}"], ifindex=d0,
                   via="fd00:1::2")
    candidates = [
        {"preference": c, "protocol_origin": 30, "asn": c, "node": "::",
         "discriminator": c, "name": "n" * 31,
         "segment_list": [{"path": i, "weight": 65535} for i in range(1, 65)]}
        for c in range(1, 9)]
    config.take()
    key = {"color": 1, "endpoint": "fd00::b"}
    client.new("policy", **key, candidate=candidates)
    policy = client.get("policy", **key)
    eq(policy["candidate"][-1].get("active"), True)
    eq([li["buckets"] for li in policy["candidate"][-1]["segment_list"]], [2] * 64)
    eq(configured("policy", policy)["candidate"], candidates)
    eq(config.wait("policy-ntf"), policy)
    with ns:
        fresh = Srpol()
    eq(fresh.dump("policy"), [policy])
    fresh.close()


@test
def path_events():
    "events: a path going up and down with its reason and name"
    client.new("path", id=1, name="one", sids=["fc00::1"], ifindex=d0,
               via="fd00:1::2")
    eq(events.wait("path-event", id=1),
       {"id": 1, "name": "one", "state": "up", "reason": "none"})
    client.change("path", id=1, admin_down=1)
    eq(events.wait("path-event", id=1),
       {"id": 1, "name": "one", "state": "down", "reason": "admin-down"})
    client.change("path", id=1, admin_down=0)
    events.wait("path-event", id=1, state="up")
    client.new("path", id=2, sids=["fc00::2"], src="fd00:1::1")
    eq(events.wait("path-event", id=2),
       {"id": 2, "state": "unresolved", "reason": "no-route"})


@test
def policy_events():
    "events: a policy going up and down, another candidate path selected"
    two_paths()
    client.new("policy", color=3, endpoint="fd00::b", name="pol",
               candidate=[{"preference": 200, "segment_list": [{"path": 1}]},
                          {"preference": 100, "segment_list": [{"path": 2}]}])
    up = events.wait("policy-event")
    eq(without(up, ("id",)), {"color": 3, "endpoint": "fd00::b",
                              "name": "pol", "state": "up",
                              "reason": "none"})
    client.change("path", id=1, admin_down=1)
    eq(events.wait("policy-event"), up)
    policy = client.get("policy", color=3, endpoint="fd00::b")
    eq([c.get("active") for c in policy["candidate"]], [None, True])
    eq([c["reason"] for c in policy["candidate"]], ["no-valid-list", "none"])
    eq(policy["candidate"][0]["segment_list"][0]["reason"], "path-not-up")
    client.change("path", id=2, admin_down=1)
    eq(without(events.wait("policy-event"), ("id",)),
       {"color": 3, "endpoint": "fd00::b", "name": "pol", "state": "down",
        "reason": "no-valid-candidate"})
    client.change("path", id=1, admin_down=0)
    events.wait("policy-event", state="up")


# standards.md C.3: what decides, the candidate paths, which of them wins
VECTORS = [
    ("preference before origin",
     [{"preference": 100, "protocol_origin": 30},
      {"preference": 200, "protocol_origin": 20}], 1),
    ("higher origin",
     [{"preference": 100, "protocol_origin": 30},
      {"preference": 100, "protocol_origin": 10}], 0),
    ("lower originator node",
     [{"node": "6500:1::"}, {"node": "6500::"}], 1),
    ("lower originator AS before node",
     [{"asn": 65001, "node": "::1"}, {"asn": 65000, "node": "::2"}], 1),
    ("higher discriminator",
     [{"discriminator": 5}, {"discriminator": 9}], 1),
    ("an invalid one does not take part",
     [{"preference": 300, "segment_list": [{"path": 3}]}, {"preference": 100}], 1),
    ("nor does one of weight 0",
     [{"preference": 300, "segment_list": [{"path": 1, "weight": 0}]},
      {"preference": 100}], 1),
    ("one valid list is enough",
     [{"preference": 300, "segment_list": [{"path": 3}, {"path": 1}]},
      {"preference": 100}], 0),
    ("default preference is 100",
     [{"preference": 99}, {}, {"preference": 101, "segment_list": []}], 1),
    ("extremes of preference",
     [{"preference": 0xffffffff}, {"preference": 0}], 0),
]


@test
def selection():
    "the active candidate path is that of RFC 9256 2.9"
    two_paths()
    client.new("path", id=3, sids=["fc00::3"], ifindex=d0, via="fd00:1::2",
               admin_down=1)
    key = {"color": 3, "endpoint": "fd00::b"}
    for name, candidates, winner in VECTORS:
        for reverse in (False, True):
            # where nothing decides on identity, it speaks for the loser
            cands = [{"segment_list": [{"path": 1}], **c} for c in candidates]
            if not any({"asn", "node", "discriminator"} & c.keys()
                       for c in candidates):
                for i, c in enumerate(cands):
                    c["asn"] = 9 if i == winner else i
            for c in cands:
                c.setdefault("discriminator", 1)
            if reverse:
                cands.reverse()
            client.replace("policy", **key, candidate=cands)
            got = client.get("policy", **key)["candidate"]
            want = len(cands) - 1 - winner if reverse else winner
            eq([bool(c.get("active")) for c in got],
               [i == want for i in range(len(got))], name)
            for i, c in enumerate(got):
                if i != want:
                    assert c["reason"] in ("not-best", "no-valid-list")


@test
def shares():
    "buckets follow the weights, a lost path moves its own buckets only"
    for i in (1, 2, 3):
        client.new("path", id=i, sids=[f"fc00::{i}"], ifindex=d0,
                   via="fd00:1::2")
    key = {"color": 3, "endpoint": "fd00::b"}

    def buckets():
        return [li["buckets"] for li in
                client.get("policy", **key)["candidate"][0]["segment_list"]]

    for n in (128, 256, 512, 1024):
        client.replace("policy", **key, buckets=n, candidate=[
            {"segment_list": [{"path": 1, "weight": 2}, {"path": 2, "weight": 2},
                      {"path": 3, "weight": 1}]}])
        got = buckets()
        eq(sum(got), n)
        for have, want in zip(got, (0.4, 0.4, 0.2)):
            assert abs(have - want * n) < 1, got
        client.change("path", id=3, admin_down=1)
        eq(buckets()[2], 0)
        eq(sum(buckets()), n)
        client.change("path", id=3, admin_down=0)
        eq(buckets(), got)


@test
def tiny_weights():
    "a list that is up has at least one bucket, however small its weight"
    for i in range(1, 65):
        client.new("path", id=i, sids=[f"fc00::{i:x}"], ifindex=d0,
                   via="fd00:1::2")
    key = {"color": 3, "endpoint": "fd00::b"}

    def shares_of(*weights):
        client.replace("policy", **key, candidate=[{"segment_list": [
            {"path": i, "weight": w} for i, w in enumerate(weights, 1)]}])
        return pinned_lists(key)

    eq(shares_of(65535, 1), [127, 1])
    eq(shares_of(65535, 0, 1), [127, 0, 1])
    eq(shares_of(65535, *[1] * 63), [65] + [1] * 63)
    client.change("path", id=64, admin_down=1)
    eq(pinned_lists(key), [66] + [1] * 62 + [0])


@test
def prefix_lengths():
    "a prefix without its length is one address, IPv4 too"
    for i, address in enumerate(("fd00::9", "10.0.0.9"), 1):
        client.new("rule", priority=i, color=1, src=address, dst=address)
        got = client.get("rule", priority=i)
        eq((got["src_len"], got["dst_len"]), (128, 128))
        client.new("endpoint", prefix=address, address="fd00::b")
        client.get("endpoint", prefix=address, prefix_len=128)
    for name in ("sr_domain", "sr_source", "report_from"):
        client.config(**{name: [{"prefix": "fd00::9"}]})
        eq([e["prefix_len"] for e in client.get("config")[name]], [128])
        client.config(**{name: [{}]})


@test
def backup():
    "a backup may come and go in any order"
    two_paths()
    one = {"color": 1, "endpoint": "fd00::b"}
    two = {"color": 2, "endpoint": "fd00::b"}
    client.new("policy", **one, backup_color=2)
    client.new("policy", **two, backup_color=1)
    client.new("policy", color=2, endpoint="::")
    client.delete("policy", **two)
    client.delete("policy", color=2, endpoint="::")
    client.delete("policy", **one)


@test
def many_on_one_next_hop():
    "many paths over one next hop go down and up together"
    for i in range(1, 33):
        client.new("path", id=i, sids=[f"fc00::{i:x}"], ifindex=d0,
                   via="fd00:1::2", src="fd00:1::1")
    for state, reason in (("down", "device-down"), ("up", "none")):
        ns.ip(f"link set d0 {'up' if state == 'up' else 'down'}\n" +
              ("neigh replace fd00:1::2 lladdr 02:00:00:00:00:02 dev d0\n"
               if state == "up" else ""))
        busywait(lambda: {(p["state"], p["reason"])
                          for p in client.dump("path")} == {(state, reason)})


cleanup(client.close)
main()
