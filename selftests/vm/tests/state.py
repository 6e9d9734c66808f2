#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
State that is no configuration: verdicts from outside, the order of events and
notifications, and what an event made that the data plane refused.

    d0 (dummy, fd00:1::1/64), permanent neighbors ::2 to ::5

In one namespace, with the data plane of selftests/vm/mock.
"""

import errno
import os
import sys
import threading
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import mock                                             # noqa: E402
import net                                              # noqa: E402
from ktap import (CLOCK_MONOTONIC_COARSE, before, busywait,     # noqa: E402
                  cleanup, eq, main, match, run, say, test)
from srpol import EXCL, Refused                         # noqa: E402

NEIGHBORS = "".join(
    f"neigh replace fd00:1::{j} lladdr 02:00:00:00:00:0{j} dev d0\n"
    for j in range(2, 6))

net.load_module()
ns = net.Netns("link add d0 type dummy\nlink set d0 mtu 9000 arp on up\n"
               "addr add fd00:1::1/64 dev d0 nodad\n" + NEIGHBORS)
with ns:
    ns.sysctl("net/ipv6/conf/d0/keep_addr_on_down", 1)
d0 = ns.ifindex("d0")
client = ns.client()
events = ns.listener("events")
both = ns.listener("config", "events")
cleanup(run, "rm", "-rf", mock.LINKS)
cleanup(mock.remove)
mock.register(ns)

KEY = {"color": 1, "endpoint": "fd00::b"}


@before
def start():
    """Two paths, up, in two candidate paths and one policy."""
    mock.fail()
    ns.ip("link set d0 up\n" + NEIGHBORS)
    client.clear()
    for i in (1, 2, 3):
        client.new("path", id=i, sids=[f"fc00::{i}"], ifindex=d0,
                   via=f"fd00:1::{i + 1}")
    busywait(lambda: all(state(i) == ("up", "none") for i in (1, 2, 3)))
    client.new("policy", **KEY, candidate=[{"segment_list": [
        {"path": 1}, {"path": 2}]}, {"preference": 50, "segment_list": [
            {"path": 3}]}])
    events.take()
    both.take()
    mock.contract_kept()


def state(i=1):
    path = client.get("path", id=i)
    return path["state"], path["reason"]


def verdict(value, lifetime=60000, i=1, **more):
    client.op("path-verdict", {"id": i, "verdict": value,
                               "lifetime": lifetime, **more})


def buckets():
    return [[li["buckets"] for li in c["segment_list"]]
            for c in client.get("policy", **KEY)["candidate"]]


@test
def down():
    "a path that probes find down is left at once, and says why"
    generation = client.get("config")["generation"]
    verdict("down", owner=7, probed_mtu=8000)
    eq(state(), ("down", "probes-lost"))
    assert not mock.view()["paths"].get(1), "the data plane uses it"
    busywait(lambda: buckets()[0] == [0, 128])
    got = client.get("path", id=1)
    eq((got["verdict"], got["owner"], got["probed_mtu"]), ("down", 7, 8000))
    assert 0 < got["lifetime"] <= 60000, got
    events.wait("path-event", id=1, state="down", reason="probes-lost")
    verdict("up", owner=7)
    events.wait("path-event", id=1, state="up")
    busywait(lambda: buckets()[0] == [64, 64])
    eq(client.get("config")["generation"], generation, "no configuration")


@test
def degraded():
    "a path that is degraded is used and shown"
    verdict("degraded", verdict_reason="probes-degraded")
    eq(state(), ("up", "none"))
    got = client.get("path", id=1)
    eq((got["verdict"], got["verdict_reason"]),
       ("degraded", "probes-degraded"))
    verdict("up", lifetime=0)
    assert "verdict" not in client.get("path", id=1)


@test
def expires():
    "a verdict is forgotten after its lifetime"
    # lifetimes are told by ticks: so is this clock, which is behind the exact
    # one by as many of them as a busy host has held back
    clock = CLOCK_MONOTONIC_COARSE
    start_ = time.clock_gettime(clock)
    verdict("down", lifetime=300)
    events.wait("path-event", id=1, state="down", reason="probes-lost")
    events.wait("path-event", id=1, state="up")
    took = time.clock_gettime(clock) - start_
    assert took >= 0.3 - time.clock_getres(clock), took
    assert "verdict" not in client.get("path", id=1)


@test
def expires_in_any_order():
    "a verdict that ends soon does not wait for one that ends late"
    for late_first in (True, False):
        for i, lifetime in sorted(((1, 500), (2, 3600000)),
                                  reverse=late_first):
            verdict("down", lifetime=lifetime, i=i)
        events.wait("path-event", id=1, state="up")
        eq(state(2), ("down", "probes-lost"))
        verdict("up", i=2)
        events.take()
    # from two sides at once
    other = ns.client()
    for _ in range(50):
        thread = threading.Thread(target=other.op, args=("path-verdict", {
            "id": 2, "verdict": "down", "lifetime": 3600000}))
        thread.start()
        verdict("down", lifetime=20)
        thread.join()
        events.wait("path-event", id=1, state="up")
        verdict("up", i=2)
        events.take()
    other.close()


@test
def other_reasons_first():
    "a path that is down for another reason says that one"
    verdict("down")
    client.change("path", id=1, admin_down=1)
    eq(state(), ("down", "admin-down"))
    client.change("path", id=1, admin_down=0)
    eq(state(), ("down", "probes-lost"))
    client.delete("policy", **KEY)
    client.delete("path", id=1)
    client.new("path", id=1, sids=["fc00::1"], ifindex=d0, via="fd00:1::2")
    busywait(lambda: state() == ("up", "none"))


@test
def refused():
    "what a verdict must have"
    for members, err, words in (
            ({"verdict": "down", "lifetime": 1}, errno.EINVAL, ""),
            ({"id": 1, "lifetime": 1}, errno.EINVAL, ""),
            ({"id": 1, "verdict": "down"}, errno.EINVAL, ""),
            ({"id": 9, "verdict": "down", "lifetime": 1}, errno.ENOENT,
             "no path"),
            ({"id": 1, "verdict": "down", "lifetime": 1,
              "verdict_reason": "no-route"}, errno.EINVAL,
             "the module finds")):
        try:
            client.op("path-verdict", members)
        except Refused as why:
            eq(why.errno, err, members)
            match(why.msg, words)
        else:
            raise AssertionError(f"not refused: {members}")


def verdicts_meanwhile(messages):
    """While a transaction goes on: how many verdicts, the longest, and the whole."""
    other = ns.client()
    thread = threading.Thread(target=other.apply_messages, args=(messages,))
    longest, rounds = 0, 0
    start_ = time.monotonic()
    thread.start()
    while thread.is_alive():
        begin = time.monotonic()
        verdict("down" if rounds % 2 else "up")
        longest = max(longest, time.monotonic() - begin)
        rounds += 1
    thread.join()
    took = time.monotonic() - start_
    other.close()
    eq(client.get("config")["used"]["paths"], 993)
    say(f"{rounds} verdicts in {took:.2f} s, {longest * 1000:.1f} ms at most")
    return rounds, longest, took


@test
def during_a_transaction():
    "a verdict does not wait for a transaction"
    messages = [client.message("path-new", {
        "id": i, "sids": [f"fc00::{i:x}"], "ifindex": d0,
        "via": f"fd00:1::{2 + i % 4}"}, EXCL) for i in range(10, 1000)]
    # one that waits does so each time, a host that is busy now and then
    for _ in range(10):
        rounds, longest, took = verdicts_meanwhile(messages)
        if rounds > 4 and longest < took / 2:
            return
        start()
    raise AssertionError("it waits")


@test
def order_of_events():
    "the first event of an object comes after the notification of the object"
    both.take()
    client.apply(*(("path-new", {"id": i, "sids": [f"fc00::{i:x}"],
                                 "ifindex": d0, "via": "fd00:1::2"}, EXCL)
                   for i in range(10, 20)),
                 ("policy-new", {"color": 2, "endpoint": "::", "candidate": [
                     {"segment_list": [{"path": 10}]}]}, EXCL))
    seen, up = set(), 0
    for name, members in both.take():
        key = members.get("id") if name.startswith("path") else "policy"
        if name.endswith("-ntf"):
            seen.add(key)
        else:
            assert key in seen, f"{name} of {key} before it was announced"
            up += members["state"] == "up"
    eq(up, 11)


@test
def refused_sid():
    "a SID that the data plane refuses is tried again, and shown meanwhile"
    client.new("sid", sid="fc00:a::1", behavior=5, ifindex=d0,
               via="fd00:1::2")
    eq(client.get("sid", sid="fc00:a::1")["state"], "up")
    mock.fail("sid_set")
    ns.ip("neigh replace fd00:1::2 lladdr 02:00:00:00:00:99 dev d0\n")
    busywait(lambda: client.get("sid", sid="fc00:a::1")["reason"]
             == "no-resources")
    mock.fail()
    busywait(lambda: client.get("sid", sid="fc00:a::1")["state"] == "up")
    sid = mock.view()["sids"][0]
    eq(sid[-20:-14].hex(), "020000000099")
    mock.contract_kept()


@test
def refused_sid_request():
    "a request whose SID is refused changes nothing at all"
    was = client.picture(), mock.view(), mock.waiting()
    mock.fail("sid_set")
    try:
        client.apply(("path-new", {"id": 9, "sids": ["fc00::9"]}, EXCL),
                     ("sid-new", {"sid": "fc00:a::9", "behavior": 1}, EXCL))
    except Refused as why:
        eq(why.errno, errno.EIO)
    else:
        raise AssertionError("not refused")
    eq((client.picture(), mock.view(), mock.waiting()), was)
    mock.contract_kept()


@test
def refused_policy():
    "a policy that the data plane refuses is tried again without another event"
    mock.fail("row_set")
    ns.ip("neigh del fd00:1::2 dev d0\n")
    busywait(lambda: state() == ("down", "neighbor-failed"), 20)
    busywait(lambda: mock.control()["failed"])
    eq(buckets()[0], [64, 64])
    mock.fail()
    busywait(lambda: buckets()[0] == [0, 128])
    mock.contract_kept()


@test
def candidate_returns():
    "a candidate path that returns has the buckets it had before"
    def table():
        policies = mock.view()["policies"]
        return next(p for p in policies.values() if p[0] == 1)[-1]

    for weights in ((1, 3), (2, 2), (5, 1)):
        client.change("policy", **KEY, candidate=[{"segment_list": [
            {"path": 1, "weight": weights[0]},
            {"path": 2, "weight": weights[1]}]}, {
                "preference": 50, "segment_list": [{"path": 3},
                                                   {"path": 1}]}])
    was = table()
    for _ in range(2):
        for i in (1, 2):
            verdict("down", i=i)
        busywait(lambda: buckets()[1][0] == 128)
        for i in (1, 2):
            verdict("up", i=i)
        busywait(lambda: sum(buckets()[0]) == 128)
        busywait(lambda: table() == was)


@test
def engine_and_operator():
    "an engine neither changes nor deletes what an operator configured"
    for op, members in (("path-new", {"id": 1, "name": "x"}),
                        ("path-del", {"id": 1}),
                        ("policy-del", KEY)):
        try:
            client.op(op, {**members, "origin": "engine"}, 0x100)
        except Refused as why:
            eq(why.errno, errno.EPERM, op)
            eq(why.attr, "origin")
        else:
            raise AssertionError(f"{op} not refused")


@test
def full_table():
    "a full table says that what the transaction deletes still counts"
    requests = [("sid-new", {"sid": f"fc00:a::{i:x}", "behavior": 1}, EXCL)
                for i in range(1, 64)]
    client.apply(*requests)
    try:
        client.apply(("sid-del", {"sid": "fc00:a::1"}),
                     ("sid-new", {"sid": "fc00:b::1", "behavior": 1}, EXCL))
    except Refused as why:
        eq(why.errno, errno.ENOSPC)
        match(why.msg, r"full \(63\), with what this transaction deletes")
    else:
        raise AssertionError("not refused")
    client.delete("sid", sid="fc00:a::1")
    client.new("sid", sid="fc00:b::1", behavior=1)


@test
def block():
    "plain SIDs before and after compressed ones"
    client.new("path", id=9, ifindex=d0, via="fd00:1::2", block_len=32,
               block="fcbb:bb00::", sids=["fc00:1:0:1::1",
                                          "fcbb:bb00:100:200::",
                                          "fc00:2:0:1::1"])
    eq(client.get("path", id=9)["block"], "fcbb:bb00::")
    try:
        client.change("path", id=9, sids=["fcbb:bb00:100:0:200::"],
                      block="fcbb:bb00::")
    except Refused as why:
        match(why.msg, "follows the end of container")
    else:
        raise AssertionError("not refused")
    # a change keeps what it does not give
    client.change("path", id=9, sids=["fc00:1:0:1::1", "fcbb:bb00:300::"])
    eq(client.get("path", id=9)["block"], "fcbb:bb00::")
    # but does not guess the rest of the block
    try:
        client.change("path", id=9, block_len=48)
    except Refused as why:
        eq((why.errno, why.attr), (errno.EINVAL, "block-len"))
        match(why.msg, "a longer block-len needs a block")
    else:
        raise AssertionError("not refused")
    client.change("path", id=9, block_len=48, block="fcbb:bb00:300::1")
    eq(client.get("path", id=9)["block"], "fcbb:bb00:300::")
    client.change("path", id=9, block_len=32)
    eq(client.get("path", id=9)["block"], "fcbb:bb00::")
    # that of the first SID is the default, though it was given
    client.change("path", id=9, sids=["fcbb:bb00:300::"], block="fcbb:bb00::")
    client.change("path", id=9, block_len=48)
    eq(client.get("path", id=9)["block"], "fcbb:bb00:300::")
    client.change("path", id=9, sids=["fc00:1:1::", "fcbb:bb00:300::"])
    eq(client.get("path", id=9)["block"], "fc00:1:1::")


main()
