#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Transactions: all of it or nothing, at one point, in module and data plane.

    d0 (dummy, fd00:1::1/64), permanent neighbors ::2 to ::9

In one namespace, with the data plane of selftests/vm/mock, which keeps what
is staged apart until it is committed.
"""

import errno
import os
import struct
import sys
import threading
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import mock                                             # noqa: E402
import net                                              # noqa: E402
from ktap import (before, busywait, cleanup, eq, main, match, run,  # noqa: E402
                  say, test)
from srpol import (CHANGE, EXCL, REPLACE, Netlink, Refused,     # noqa: E402
                   nested, without)

NEIGHBORS = "".join(
    f"neigh replace fd00:1::{j} lladdr 02:00:00:00:00:0{j} dev d0\n"
    for j in range(2, 10))

net.load_module()
ns = net.Netns("link add d0 type dummy\nlink set d0 mtu 9000 arp on up\n"
               "addr add fd00:1::1/64 dev d0 nodad\n" + NEIGHBORS)
with ns:
    ns.sysctl("net/ipv6/conf/d0/keep_addr_on_down", 1)
d0 = ns.ifindex("d0")
client = ns.client()
config = ns.listener("config")
events = ns.listener("events")
cleanup(run, "rm", "-rf", mock.LINKS)
cleanup(mock.remove)
mock.register(ns)

POLICY = {"color": 1, "endpoint": "fd00::b"}
PREFIX = {"prefix": "fd00:b::", "prefix_len": 48}


def path(i, flags=EXCL, **members):
    return ("path-new", {"id": i, "sids": [f"fc00::{i:x}"], "ifindex": d0,
                         "via": f"fd00:1::{2 + i % 8}", **members}, flags)


def policy(color, *paths, flags=EXCL, **members):
    return ("policy-new", {"color": color, "endpoint": "fd00::b",
                           "candidate": [{"segment_list": [{"path": p}
                                                   for p in paths]}],
                           **members}, flags)


BASE = [
    path(1), path(2), path(3), policy(1, 1, 2, backup_color=2),
    policy(2, 3, bsid="fc00:b::2"),
    ("rule-new", {"priority": 1, "color": 1, "opcode": [4]}, EXCL),
    ("rule-new", {"priority": 2, "color": 2}, EXCL),
    ("endpoint-new", {**PREFIX, "address": "fd00::b"}, EXCL),
    ("sid-new", {"sid": "fc00:a::1", "behavior": 5, "ifindex": d0,
                 "via": "fd00:1::2"}, EXCL),
    ("sid-new", {"sid": "fc00:a::2", "behavior": 20}, EXCL),
]


@before
def configure():
    """The configuration that transactions meet, entered as one."""
    mock.fail()
    client.clear()
    client.config(hop_limit=64, path_id="none", sr_domain=[{}])
    client.apply(*BASE)
    config.take()
    events.take()
    mock.contract_kept()


def state():
    """Module and data plane, what is staged included."""
    return client.picture(), mock.view(), mock.waiting()


def refused(err, *requests, msg="", attr=None, miss=None, index=None):
    """The transaction must be refused in exactly this way, without effect."""
    was = state()
    try:
        client.apply(*requests)
    except Refused as why:
        eq(why.errno, err, f"errno of {why}")
        match(why.msg, msg)
        for name, want in (("attr", attr), ("miss", miss), ("index", index)):
            if want is not None:
                eq(getattr(why, name), want, f"{name} of {why}")
    else:
        raise AssertionError(f"not refused: {requests}")
    eq(state(), was, f"after {requests}")
    eq(config.take(), [], "notifications")
    eq(events.take(), [], "events")
    mock.contract_kept()


# One of each kind in each way, for the same transaction
EVERYTHING = [
    ("config-set", {"hop_limit": 9, "path_id": "tag"}),
    path(4), path(1, CHANGE, timestamp=1), path(2, REPLACE, encap="full"),
    policy(3, 4, 1, buckets=512), policy(1, 4, 2, flags=CHANGE),
    policy(2, 4, flags=REPLACE, buckets=256, symmetric=1),
    ("path-del", {"id": 3}),
    ("rule-new", {"priority": 3, "color": 3}, EXCL),
    ("rule-new", {"priority": 1, "dscp": 3}, CHANGE),
    ("rule-del", {"priority": 2}),
    ("endpoint-new", {**PREFIX, "address": "fd00::c"}, CHANGE),
    ("endpoint-new", {"prefix": "::", "prefix_len": 0, "address": "::"},
     EXCL),
    ("sid-new", {"sid": "fc00:a::3", "behavior": 1}, EXCL),
    ("sid-new", {"sid": "fc00:a::1", "via": "fd00:1::3"}, CHANGE),
    ("sid-del", {"sid": "fc00:a::2"}),
    ("policy-del", {"color": 1, "endpoint": "fd00::b"}),
]


@test
def one_commit():
    "many requests are one commit, staged once for each object"
    commits, epoch = mock.generation()
    calls = mock.control()["calls"]
    client.apply(*EVERYTHING)
    mock.contract_kept()
    eq(mock.generation(), (commits + 1, epoch + 1))
    now = mock.control()["calls"]
    eq({m: now[m] - calls[m] for m in now if now[m] != calls[m] and
        m not in ("nexthop_set", "nexthop_del", "path_state", "row_set")},
       {"config_set": 1, "path_set": 3, "path_del": 1, "policy_set": 2,
        "policy_hide": 1, "policy_del": 1, "rule_set": 2,
        "rule_commit": 1, "endpoint_set": 2, "sid_set": 2,
        # one of them a binding SID, with its policy
        "sid_hide": 2, "sid_del": 2,
        "commit": 1})
    eq([p["id"] for p in client.dump("path")], [1, 2, 4])
    eq([p["color"] for p in client.dump("policy")], [2, 3])
    eq([c["priority"] for c in client.dump("rule")], [1, 3])
    eq([name for name, _ in config.take()],
       ["config-ntf", "path-ntf", "path-ntf", "path-ntf", "policy-ntf",
        "policy-ntf", "rule-ntf", "rule-ntf", "endpoint-ntf",
        "endpoint-ntf", "sid-ntf", "sid-ntf", "sid-del-ntf", "sid-del-ntf",
        "rule-del-ntf", "policy-del-ntf", "path-del-ntf"],
       "users come after what they use and go before it")
    seen = mock.view()
    mock.detach(client)
    mock.register(ns)
    eq(mock.view(), seen, "after a replay")


# What is refused, in a transaction as alone: request, errno, words, attribute
BAD = [
    (path(9, sids=["ff02::1"]), errno.EINVAL, "not a unicast", "sids.sid"),
    (path(1), errno.EEXIST, "exists", None),
    (("path-new", {"id": 9}, EXCL), errno.EINVAL, "needs a SID", None),
    (("path-del", {"id": 2}), errno.EBUSY, "in use by policy 1", "id"),
    (policy(9, 77), errno.ENOENT, "no path", "candidate.segment-list.path"),
    (policy(9, 1, bsid="fc00:b::2"), errno.EEXIST, "policy 2", "bsid"),
    (("policy-del", {"color": 9, "endpoint": "::"}), errno.ENOENT,
     "no policy", "color"),
    (("rule-new", {"priority": 9, "color": 1, "mode": "spray"}, EXCL),
     errno.EINVAL, "spray needs", "mode"),
    (("endpoint-new", {**PREFIX, "prefix_len": 129}, REPLACE), errno.ERANGE,
     "range", "prefix-len"),
    (("sid-new", {"sid": "fc00:a::9", "behavior": 99}, EXCL),
     errno.EOPNOTSUPP, "not supported", "behavior"),
    (("config-set", {"hop_limit": 0}), errno.ERANGE, "range", "hop-limit"),
]


@test
def refused_first_last_between():
    "a bad request of any kind: same words, its attribute, no effect"
    for bad, err, words, attr in BAD:
        for before_, after in (((), ()), ((path(8),), ()),
                               ((), (path(8),)), ((path(8), path(7)),
                                                  (path(6),))):
            refused(err, *before_, bad, *after, msg=words, attr=attr,
                    index=len(before_))
    refused(errno.EINVAL, path(8), ("path-new", {"id": 9}, EXCL),
            miss="sids", index=1)


@test
def refused_in_the_middle():
    "everything, with a bad request in each place"
    bad = ("rule-del", {"priority": 99})
    for i in range(len(EVERYTHING) + 1):
        refused(errno.ENOENT, *EVERYTHING[:i], bad, *EVERYTHING[i:],
                msg="no rule", attr="priority", index=i)


@test
def refused_by_the_data_plane():
    "everything, with each call of the data plane refused"
    number = 0
    for method in ("config_set", "path_set", "row_set", "policy_set",
                   "policy_hide", "rule_set", "rule_commit",
                   "endpoint_set", "sid_set", "sid_hide"):
        for skip in range(20):
            mock.fail(method, skip)
            was = state()
            try:
                client.apply(*EVERYTHING)
            except Refused as why:
                eq(why.errno, errno.EIO)
                match(why.msg, "data plane refused")
                assert why.index is not None, why
                eq(state(), was, f"call {skip} of {method}")
                mock.contract_kept()
                number += 1
                continue
            configure()
            break
    say(f"{number} refused calls")
    assert number > 15, number


@test
def again_and_again():
    "an object that is touched several times ends up as the last one says"
    commits, _ = mock.generation()
    client.apply(
        path(5), path(5, CHANGE, name="five"), ("path-del", {"id": 5}),
        path(5, name="again"), policy(5, 5), ("policy-del",
                                              {"color": 5,
                                               "endpoint": "fd00::b"}),
        policy(5, 5, 1), policy(5, 5, flags=CHANGE, buckets=256),
        policy(5, 5, flags=CHANGE, buckets=512),
        ("rule-new", {"priority": 1, "color": 7}, REPLACE),
        ("rule-new", {"priority": 1, "dscp": 1}, CHANGE),
        ("rule-new", {"priority": 9, "color": 7}, EXCL),
        ("rule-del", {"priority": 9}),
        ("endpoint-del", PREFIX),
        ("endpoint-new", {**PREFIX, "address": "fd00::d"}, EXCL),
        ("sid-del", {"sid": "fc00:a::2"}),
        ("sid-new", {"sid": "fc00:a::2", "behavior": 18}, EXCL),
        policy(1, 5, flags=CHANGE), ("path-del", {"id": 2}), path(2),
        policy(2, 1, bsid="fc00:b::3", flags=CHANGE),
        policy(6, 1, bsid="fc00:b::2"))
    eq(mock.generation()[0], commits + 1)
    mock.contract_kept()
    eq(client.get("path", id=5)["name"], "again")
    eq(client.get("path", id=5)["users"], 2)
    eq(client.get("policy", color=5, endpoint="fd00::b")["buckets"], 512)
    eq((client.get("rule", priority=1)["color"],
        client.get("rule", priority=1)["dscp"]), (7, 1))
    eq(client.get("endpoint", **PREFIX)["address"], "fd00::d")
    eq(client.get("sid", sid="fc00:a::2")["behavior"], 18)
    seen = mock.view()
    mock.detach(client)
    mock.register(ns)
    eq(mock.view(), seen, "after a replay")


@test
def nothing():
    "what ends up as it was is no change: no commit, nobody hears of it"
    was, gen = state(), mock.generation()
    calls = mock.control()["calls"]
    client.apply()
    client.apply(*((op, m, REPLACE) for op, m, _ in BASE))
    client.apply(path(20),
                 ("path-del", {"id": 20}))
    client.apply(("endpoint-del", PREFIX), ("rule-del", {"priority": 1}),
                 ("policy-del", {"color": 2, "endpoint": "fd00::b"}),
                 ("path-del", {"id": 3}), BASE[2], BASE[4], BASE[5],
                 BASE[7])
    client.apply(("config-set", {"hop_limit": 9}),
                 ("config-set", {"hop_limit": 64}))
    eq(state(), was)
    eq(mock.generation(), gen)
    eq(mock.control()["calls"], calls)
    eq(config.take(), [])
    eq(events.take(), [])


@test
def reclassified():
    "flows are classified again only if they may be mapped to something else"
    for again, request in (
            (0, path(1, CHANGE, timestamp=1)), (0, policy(1, 2, flags=CHANGE)),
            (0, ("config-set", {"hop_limit": 9})),
            (1, ("config-set", {"flow_label": "hash"})),
            (1, policy(1, 2, flags=CHANGE, symmetric=1)),
            (1, policy(1, 2, flags=CHANGE, mode="adaptive")),
            (0, policy(1, 2, flags=CHANGE, flowlet_timeout=7)), (1, policy(9, 1)),
            (0, path(3, CHANGE, admin_down=1)),
            (1, ("policy-del", {"color": 9, "endpoint": "fd00::b"})),
            (1, ("rule-del", {"priority": 2})),
            (1, ("endpoint-del", PREFIX)),
            (1, ("config-set", {"flow_label": "hash-qp"}))):
        commits, epoch = mock.generation()
        client.apply(request)
        eq(mock.generation(), (commits + 1, epoch + again), request)


@test
def failure_is_no_reclassification():
    "a lost neighbor is one commit, and flows are not classified again"
    commits, epoch = mock.generation()
    ns.ip("neigh del fd00:1::3 dev d0\n")
    events.wait("path-event", id=1)
    ns.ip("neigh replace fd00:1::3 lladdr 02:00:00:00:00:03 dev d0\n")
    events.wait("path-event", id=1, state="up")
    now = mock.generation()
    assert now[0] > commits, now
    eq(now[1], epoch)
    mock.contract_kept()


@test
def devices():
    "devices are no part of transactions, and reading is not either"
    for op, members in (("dev-new", {"ifindex": d0, "role": "uplink"}),
                        ("dev-del", {"ifindex": d0})):
        refused(errno.EOPNOTSUPP, path(8), (op, members, EXCL),
                msg="devices are no part", index=1)
    for op, members in (("path-get", {"id": 1}), ("config-get", {}),
                        ("apply", {})):
        refused(errno.EOPNOTSUPP, path(8), (op, members), msg="not a write",
                index=1)
    refused(errno.EOPNOTSUPP, path(8)[:2] + (REPLACE | EXCL,), index=0)


@test
def garbage():
    "embedded messages that are none"
    good = client.message(*path(8))

    def with_length(n):
        return struct.pack("I", n) + good[4:]

    for bad, err in ((b"", errno.EINVAL), (good[:15], errno.EINVAL),
                     (good[:16], errno.EINVAL), (good[:-4], errno.EINVAL),
                     (good + b"\0\0\0\0", errno.EINVAL),
                     (with_length(len(good) + 4), errno.EINVAL),
                     (with_length(len(good) - 4), errno.EINVAL),
                     (with_length(0), errno.EINVAL),
                     (with_length(0xffffffff), errno.EINVAL),
                     (good[:16] + b"\xff" + good[17:], errno.EOPNOTSUPP),
                     (good[:16] + b"\0" + good[17:], errno.EOPNOTSUPP)):
        refused(err, path(7), bad, index=1)
    body = nested(99, b"1234", 0)
    refused(errno.EINVAL, path(7), struct.pack("I", len(good) + 8) +
            good[4:] + body, msg="[Uu]nknown", index=1)
    # the types, numbers and addresses of the outer header are not looked at
    client.apply(good[:4] + b"\xff\xff" + good[6:8] + b"\xff" * 8 + good[16:])
    eq(client.get("path", id=8)["state"], "up")
    # a request without a message, an empty one of no name
    for request in (nested(1, b""), nested(1, nested(1, b"", 0)),
                    nested(1, nested(2, good, 0)), nested(2, b"")):
        head = client.ynl.nlproto.message(
            Netlink.NLM_F_REQUEST | Netlink.NLM_F_ACK,
            client.ynl.ops["apply"].req_value, 1, 5)
        client.ynl.sock.send(struct.pack("I", 4 + len(head) + len(request)) +
                             head + request)
        eq(struct.unpack_from("i", client.ynl.sock.recv(9999), 16)[0],
           -errno.EINVAL)


@test
def all_or_nothing_limits():
    "a table that fills up in the middle"
    refused(errno.ERANGE, *(path(i) for i in range(1020, 1026)),
            msg="up to 1023", attr="id", index=4)
    refused(errno.ENOSPC, *(policy(i, 1) for i in range(10, 80)),
            msg=r"policy table is full \(63\)")
    refused(errno.ENOSPC, *(policy(i, 1, buckets=1024)
                            for i in range(10, 60)),
            msg="bucket row table is full")
    refused(errno.ENOSPC, *(("rule-new", {"priority": i, "color": 1}, EXCL)
                            for i in range(10, 80)),
            msg=r"rule table is full \(63\)", index=61)


@test
def backups():
    "backups in one transaction find each other in any order"
    client.clear()
    client.apply(path(1), policy(1, 1, backup_color=2),
                 policy(2, 1, backup_color=1))
    id_of = {p["color"]: p["id"] for p in client.dump("policy")}

    def backup():
        return {p[0]: p[4] for p in mock.view()["policies"].values()}

    eq(backup(), {1: id_of[2], 2: id_of[1]})
    client.apply(("policy-del", {"color": 2, "endpoint": "fd00::b"}))
    eq(backup(), {1: 0})
    mock.contract_kept()


@test
def thousand():
    "1000 policies in one transaction, changed and deleted in one each"
    mock.detach(client)
    client.clear()
    paths = [path(i) for i in range(1, 9)]

    def timed(what, requests):
        messages = [client.message(op, *rest) for op, *rest in requests]
        start = time.monotonic()
        client.apply_messages(messages)
        say(f"{what}: {time.monotonic() - start:.2f} s")

    timed("new", paths + [policy(c, *range(1, 9))
                          for c in range(1, 1001)])
    eq(client.get("config")["used"]["policies"], 1000)
    eq(client.get("path", id=1)["users"], 1000)
    timed("replaced", [policy(c, *range(1, 8), flags=REPLACE)
                       for c in range(1, 1001)])
    was = client.picture()
    timed("the same", [policy(c, *range(1, 8), flags=REPLACE)
                       for c in range(1, 1001)])
    eq(client.picture(), was)
    timed("deleted", [("policy-del", {"color": c, "endpoint": "fd00::b"})
                      for c in range(1, 1001)])
    eq(client.dump("policy"), [])
    eq(client.get("config")["used"]["bucket_rows"], 0)
    client.clear()
    mock.register(ns)


@test
def freed():
    "the ids and shares of a refused transaction are free again"
    was = client.picture()
    try:
        client.apply(policy(7, 1), path(30), ("path-del", {"id": 99}))
    except Refused as why:
        eq(why.index, 2)
    client.apply(policy(7, 1))
    eq(client.get("policy", color=7, endpoint="fd00::b")["id"],
       max(p["id"] for p in was["policy"]) + 1)
    eq(without(client.get("config")["used"], ("policies", "bucket_rows")),
       without(was["config"]["used"], ("policies", "bucket_rows")))


@test
def storm():
    "neighbors and links come and go while transactions succeed and fail"
    stop = threading.Event()

    def flap():
        while not stop.is_set():
            ns.ip("neigh del fd00:1::3 dev d0\n"
                  "neigh del fd00:1::4 dev d0\n" + NEIGHBORS +
                  "link set d0 down\nlink set d0 up\n" + NEIGHBORS)

    thread = threading.Thread(target=flap)
    thread.start()
    number = 0
    try:
        end = time.monotonic() + 8
        while time.monotonic() < end:
            client.apply(*EVERYTHING[:2], *(
                path(i, REPLACE, timestamp=number & 1) for i in (1, 2, 3)),
                policy(7, 1, 2, 3, flags=REPLACE, flowlet_timeout=number + 1),
                policy(8, 3, 2, flags=REPLACE, mode="active-backup",
                       wait_to_restore=number % 50))
            try:
                client.apply(path(1, CHANGE, admin_down=1), path(50),
                             policy(7, 50, 1, flags=REPLACE), path(51),
                             ("policy-del", {"color": 77, "endpoint": "::"}))
            except Refused as why:
                eq(why.index, 4)
            else:
                raise AssertionError("not refused")
            client.apply(("path-del", {"id": 4}),
                         ("policy-del", {"color": 8, "endpoint": "fd00::b"}))
            mock.contract_kept()
            number += 1
    finally:
        stop.set()
        thread.join()
    ns.ip(NEIGHBORS)
    say(f"{number} rounds")
    busywait(lambda: {p["state"] for p in client.dump("path")} == {"up"})

    def agree():
        return all(p[0][1] for p in mock.view()["paths"].values()) and \
            sorted(mock.view()["paths"]) == [1, 2, 3]

    busywait(agree)

    def shares():
        lists = client.get("policy", color=7,
                           endpoint="fd00::b")["candidate"][0]["segment_list"]
        return sorted(li["buckets"] for li in lists)

    busywait(lambda: shares() == [42, 43, 43])
    mock.contract_kept()
    eq(mock.waiting(), [])
    seen = mock.view()
    mock.detach(client)
    mock.register(ns)
    eq(mock.view(), seen, "after a replay")


main()
