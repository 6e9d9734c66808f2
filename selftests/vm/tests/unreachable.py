#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
ICMPv6 Destination Unreachable as a failure signal: reports that are to be
believed, forged ones, retry interval and backoff. Then the same with a real seg6
router that has lost the way.

    A                                    B
    fd00:1::1/64  v0 ---------------- v0  fd00:1::2/64  router, seg6
    fd00:2::1/64  v1 ---------------- v1  fd00:2::2/64

A: v0 is srpol's uplink, v1 is not. Reports are made by hand and put on the
wire at B. That a report is ignored shows when a second one, for the path
SENTINEL, has had its effect: all packets go through one processor's queue.
"""

import errno
import itertools
import os
import socket
import struct
import sys
import threading
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import mock                                             # noqa: E402
import net                                              # noqa: E402
from kprobes import Kprobes                             # noqa: E402
from ktap import (CLOCK_MONOTONIC_COARSE, before, busywait,     # noqa: E402
                  cleanup, eq, main, run, say, test)
from packet import checksum, ip6                        # noqa: E402
from srpol import EXCL, REPLACE, Refused, packed        # noqa: E402

os.sched_setaffinity(0, {0})

SRC = "fd00:1::1"
SIDS = ["fc00:21::1", "fc00:12::1", "fc00:b::46"]
SENTINEL = 99
HOLD = 300                      # ms
FOR_GOOD = 60000
ROUTERS = [{"prefix": f"fd00:{i}::", "prefix_len": 64} for i in (1, 2)]

net.load_module()
b = net.Netns()
a = net.Netns(*(f"link add v{i} mtu 9000 type veth peer name v{i} mtu 9000 "
                f"netns {b.name}\n" for i in (0, 1)))
for ns_, last_ in ((a, 1), (b, 2)):
    ns_.ip("".join(f"link set v{i} up\n"
                   f"addr add fd00:{i + 1}::{last_}/64 dev v{i} nodad\n"
                   for i in (0, 1)))
v0, v1 = a.ifindex("v0"), a.ifindex("v1")
client = a.client()
events = a.listener("events")
client.new("dev", ifindex=v0, role="uplink")


def mac(ns, dev):
    return bytes.fromhex(ns.run("cat", f"/sys/class/net/{dev}/address")
                         .strip().replace(":", ""))


def port(dev):
    with b:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        s.bind((dev, 0))
    return s, mac(a, dev) + mac(b, dev) + b"\x86\xdd"


cleanup(run, "rm", "-rf", mock.LINKS)
cleanup(mock.remove)
PORTS = {dev: port(dev) for dev in ("v0", "v1")}


INNER = ip6("fd00:a::1", "fd00:b::1", 17, b"\0" * 40)


def quote(sids, left, encap, src=SRC, dst=None, inner=41, routing_type=4,
          last=None, hdrlen=None, segments=None, srh_left=None, label=0):
    """The outer packet of a path with so many segments left."""
    in_srh = len(sids) if encap == "full" else len(sids) - 1
    if dst is None:
        dst = sids[len(sids) - 1 - left]
    if not in_srh:
        return ip6(src, dst, inner, INNER)
    listed = list(reversed(sids))[:in_srh] if segments is None else segments
    srh = struct.pack("!BBBBBBH", inner,
                      2 * len(listed) if hdrlen is None else hdrlen,
                      routing_type, left if srh_left is None else srh_left,
                      len(listed) - 1 if last is None else last, 0, 0)
    return ip6(src, dst, 43, srh + b"".join(map(packed, listed)) + INNER,
               label=label)


def report(quoted, dev="v0", type_=1, code=0, src="fd00:1::2", dst=SRC,
           bad_checksum=False, hop_by_hop=False, cut=1232):
    """Put a report on the wire."""
    s, ethernet = PORTS[dev]
    icmp = struct.pack("!BBHI", type_, code, 0, 0) + quoted[:cut]
    pseudo = packed(src) + packed(dst) + struct.pack("!II", len(icmp), 58)
    total = checksum(pseudo + icmp) ^ (1 if bad_checksum else 0)
    icmp = icmp[:2] + struct.pack("!H", total) + icmp[4:]
    if hop_by_hop:
        packet = ip6(src, dst, 0, bytes((58, 0, 1, 4, 0, 0, 0, 0)) + icmp)
    else:
        packet = ip6(src, dst, 58, icmp)
    s.send(ethernet + packet)


def arrived():
    """Reports that the stack of A has had, after the module has."""
    with open(f"/proc/{os.getpid()}/net/snmp6", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f
                    if line.startswith("Icmp6InDestUnreachs"))


def state(id_=1):
    p = client.get("path", id=id_)
    return p["state"], p["reason"]


UP = ("up", "none")
REPORTED = ("down", "unreachable-reported")


@before
def start():
    """Only the sentinel path, up."""
    for p in client.dump("policy"):
        client.delete("policy", color=p["color"], endpoint=p["endpoint"])
    for p in client.dump("path"):
        client.delete("path", id=p["id"])
    client.config(retry_interval=FOR_GOOD, report_from=ROUTERS)
    new(SENTINEL, ["fc00:99::1"], "reduced")


def new(id_, sids, encap, **members):
    client.new("path", id=id_, sids=sids, encap=encap, ifindex=v0,
               via="fd00:1::2", src=SRC, **members)
    busywait(lambda: state(id_) == UP)
    events.take()


names = itertools.count()


def rename(id_):
    """Any change of a path makes it forget what was reported."""
    client.change("path", id=id_, name=f"again {next(names)}")
    eq(state(id_), UP)


def believed(quoted, id_=1, **kwargs):
    """The report takes the path down; then put it back up."""
    report(quoted, **kwargs)
    events.wait("path-event", id=id_, state="down",
                reason="unreachable-reported")
    # an error reported for a path that is down already changes nothing
    rename(id_)


def ignored(what, quoted, ids=(1,), **kwargs):
    """The report is without effect, and the next one is not."""
    report(quoted, **kwargs)
    report(quote(["fc00:99::1"], 0, "reduced"))
    events.wait("path-event", id=SENTINEL, state="down")
    for i in ids:
        eq(state(i), UP, what)
    rename(SENTINEL)


@test
def retry():
    "admin up ends the retry interval; a change to what it is does not"
    new(1, ["fc00:77::1"], "reduced")
    report(quote(["fc00:77::1"], 0, "reduced"))
    events.wait("path-event", id=1, state="down")
    client.change("path", id=1)
    eq(state(1), REPORTED)
    client.change("path", id=1, admin_down=0)
    eq(state(1), UP)
    at = client.get("config")["generation"]
    client.change("path", id=1, admin_down=0)
    eq(client.get("config")["generation"], at, "once is enough")
    client.delete("path", id=1)


@test
def forms():
    "reports about every form of header and every place on the way"
    for encap in ("full", "reduced"):
        for n in (1, 2, 3):
            new(n, SIDS[:n], encap)
            for left in range(n):
                believed(quote(SIDS[:n], left, encap), n)
            believed(quote(SIDS[:n], 0, encap, inner=4), n)
            client.delete("path", id=n)
    sids = [f"fc00:{i}::1" for i in range(1, 17)]
    for encap in ("full", "reduced"):
        new(16, sids, encap)
        for left in (15, 8, 0):
            believed(quote(sids, left, encap), 16)
        client.delete("path", id=16)


@test
def tlvs():
    "reports about headers with TLVs, and about those that lack them"
    more = {"tlv": [{"type": 9, "value": b"abc"}], "timestamp": 1}
    for encap in ("full", "reduced"):
        for n in (1, 3):
            new(n, SIDS[:n], encap, **more)
            listed = n if encap == "full" or n == 1 else n - 1
            form = {"segments": SIDS[:n][::-1][:listed], "last": listed - 1}
            for left in range(n):
                believed(quote(SIDS[:n], left, "full",
                               hdrlen=2 * listed + 3, **form), n)
                ignored("no TLVs", quote(SIDS[:n], left, "full",
                                         hdrlen=2 * listed, **form), (n,))
            client.delete("path", id=n)
    new(1, SIDS, "full")
    ignored("TLVs", quote(SIDS, 1, "full", hdrlen=9))


@test
def containers():
    "reports from the middle of a container"
    sids = ["fcbb:bb00:100:200:300::", "fc00:1::1", "fcbb:bb00:400:500::"]
    for encap in ("full", "reduced"):
        new(1, sids, encap, block_len=32)
        for left, seen in ((2, ("100:200:300", "200:300", "300")),
                           (0, ("400:500", "500"))):
            for csids in seen:
                believed(quote(sids, left, encap,
                               dst=f"fcbb:bb00:{csids}::"))
        for left, dst in ((2, "fcbb:bb00:200:400::"), (2, "fcbb:bb00::"),
                          (2, "fcbb:bb00:100:200::"), (2, "fcbb:bb01:300::"),
                          (1, "fc00:1:0:0:0:0:1::"), (0, "fcbb:bb00:300::"),
                          (2, "fcbb:bb00:300::1")):
            ignored(dst, quote(sids, left, encap, dst=dst))
        client.delete("path", id=1)


@test
def codes():
    "codes that mean the way is lost, and what means something else"
    new(1, SIDS, "full")
    q = quote(SIDS, 1, "full")
    for code in (0, 1, 2, 3, 5, 6):
        believed(q, code=code)
    ignored("port unreachable", q, code=4)
    for type_ in (2, 3, 4, 128, 129):
        ignored(f"type {type_}", q, type_=type_)


@test
def forged():
    "reports that quote what no path of ours would have sent"
    new(1, SIDS, "full")
    new(2, SIDS[:1], "reduced")
    new(3, SIDS[:2], "reduced")
    ids = (1, 2, 3)
    other = ["fc00:66::1", *SIDS[1:]]
    good = quote(SIDS, 1, "full")
    for what, quoted in (
            ("another segment list", quote(other, 1, "full")),
            ("another order", quote([SIDS[1], SIDS[0], SIDS[2]], 1, "full")),
            ("a shorter list", quote(SIDS[1:], 1, "full")),
            ("a longer list", quote(["fc00:1::1"] + SIDS, 1, "full")),
            ("another source", quote(SIDS, 1, "full", src="fd00:1::66")),
            ("another destination",
             quote(SIDS, 1, "full", dst="fc00:66::1")),
            ("a destination that is not next", quote(SIDS, 1, "full",
                                                     dst=SIDS[0])),
            ("more segments left than there are",
             quote(SIDS, 0, "full", srh_left=3)),
            ("segments left 255", quote(SIDS, 0, "full", srh_left=255)),
            ("a last entry that is too small",
             quote(SIDS, 1, "full", last=1)),
            ("a last entry of 255", quote(SIDS, 1, "full", last=255)),
            ("a header too short for its list",
             quote(SIDS, 1, "full", hdrlen=4)),
            ("routing type 3", quote(SIDS, 1, "full", routing_type=3)),
            ("the full form of a reduced path", quote(SIDS[:2], 1, "full")),
            ("the reduced form of a full path", quote(SIDS, 1, "reduced")),
            ("a list of nothing",
             quote(SIDS, 1, "full", segments=[], last=0)),
            ("no IPv6", b"\x45" + good[1:]),
            ("UDP to the only SID", ip6(SRC, SIDS[0], 17, b"\0" * 40)),
            ("ICMPv6 to the SIDs", quote(SIDS, 1, "full", inner=58)),
            ("UDP to the SIDs", quote(SIDS[:2], 0, "reduced", inner=17)),
            ("nothing", b""), ("39 bytes", good[:39]),
            ("an IPv6 header alone", good[:40]),
            ("half an SRH", good[:44]), ("an SRH cut off", good[:95])):
        ignored(what, quoted, ids)
    for what, how in (("a bad checksum", {"bad_checksum": True}),
                      ("a device that is no uplink",
                       {"dev": "v1", "src": "fd00:2::2"}),
                      ("an option in front of it", {"hop_by_hop": True}),
                      ("another host's address", {"dst": "fd00:1::77"})):
        ignored(what, good, ids, **how)
    # as short as can be: the quote ends with the segment list
    believed(good, cut=96)


@test
def strangers():
    "reports from who is not one of the configured routers"
    new(1, SIDS, "full")
    q = quote(SIDS, 1, "full")
    for src in ("2001:db8::5", "fd00:3::2", "fe80::2"):
        ignored(src, q, src=src)
    client.config(report_from=[{}])
    with a:
        before_ = arrived()
        report(q)
        busywait(lambda: arrived() > before_)
    client.config(report_from=ROUTERS)
    ignored("nobody", b"")
    believed(q)


@test
def flow_label():
    "a report that quotes a flow label which the data plane does not write"
    mock.register(a)
    try:
        new(1, SIDS, "full")
        mock.label(0x12345)
        report(quote(SIDS, 1, "full"))
        busywait(lambda: mock.control()["calls"]["quote_check"])
        eq(state(), UP)
        report(quote(SIDS, 1, "full", label=0x12345))
        events.wait("path-event", id=1, state="down")
        mock.label(0)
        rename(1)
        mock.contract_kept()
    finally:
        mock.detach(client)


@test
def in_a_vrf():
    "reports on an uplink that belongs to a VRF"
    a.ip("link add vrf0 type vrf table 100\nlink set vrf0 up\n"
         "link set v0 master vrf0\naddr replace fd00:1::1/64 dev v0 nodad\n")
    try:
        new(1, SIDS, "full")
        believed(quote(SIDS, 1, "full"))
    finally:
        a.ip("link set v0 nomaster\nlink del vrf0\n"
             "addr replace fd00:1::1/64 dev v0 nodad\n")


@test
def flood_elsewhere():
    "a flood of reports in one namespace does not blind another"
    there = net.Netns()
    other = net.Netns("link add v0 type veth peer name v0 netns "
                      f"{there.name}\nlink set v0 up\n"
                      f"addr add {SRC}/64 dev v0 nodad\n")
    there.ip("link set v0 up\naddr add fd00:1::2/64 dev v0 nodad\n")
    stranger = other.client()
    dev = other.ifindex("v0")
    stranger.config(report_from=ROUTERS)
    stranger.new("dev", ifindex=dev, role="uplink")
    stranger.new("path", id=1, sids=["fc00:66::1"], ifindex=dev,
                 via="fd00:1::2", src=SRC)
    with there:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        s.bind(("v0", 0))
    mine = PORTS["v0"]
    PORTS["flood"] = s, mac(other, "v0") + mac(there, "v0") + b"\x86\xdd"
    eq(mine, PORTS["v0"])
    new(1, SIDS, "full")
    for _ in range(20):
        for _ in range(100):
            report(quote(["fc00:77::1"], 0, "reduced"), dev="flood")
        believed(quote(SIDS, 1, "full"))
    stranger.close()


@test
def ambiguous():
    "a reduced list that lost its first SID and could be of two paths"
    new(1, SIDS, "reduced")
    new(2, ["fc00:22::1", *SIDS[1:]], "reduced")
    for left in (0, 1):
        ignored("ambiguous", quote(SIDS, left, "reduced"), (1, 2))
    believed(quote(SIDS, 2, "reduced"))
    client.delete("path", id=2)
    believed(quote(SIDS, 0, "reduced"))


@test
def not_an_uplink_any_more():
    "no uplink, no reports"
    new(1, SIDS, "full")
    new(2, SIDS[:2], "full")
    client.delete("dev", ifindex=v0)
    with a:
        before_ = arrived()
        report(quote(SIDS, 1, "full"))
        busywait(lambda: arrived() > before_)
    client.new("dev", ifindex=v0, role="uplink")
    ignored("nothing", b"")


class Storm(threading.Thread):
    """
    The same reports over and over: as a real-time thread, which runs also while
    the test is in a long system call.
    """

    def __init__(self, quotes):
        super().__init__(daemon=True)
        self.quotes, self.stopped, self.rounds = quotes, False, 0

    def run(self):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        while not self.stopped:
            for q in self.quotes:
                report(q)
                time.sleep(0.002)       # the module looks at 640 in a second
            self.rounds += 1

    def __enter__(self):
        self.start()
        busywait(lambda: self.rounds)

    def __exit__(self, *_):
        self.stopped = True
        self.join()


@test
def while_deleted():
    "reports about paths while one transaction deletes them, with many others"
    many = range(100, 1100)
    ends = [many[0], many[len(many) // 2], many[-1]]
    for _ in range(3):
        client.apply(*(("path-new",
                        {"id": i, "sids": [f"fc00:1:{i:x}::1"], "ifindex": v0,
                         "via": "fd00:1::2", "src": SRC, "encap": "reduced"},
                        EXCL) for i in many))
        with Storm([quote([f"fc00:1:{i:x}::1"], 0, "reduced") for i in ends]):
            for i in ends:
                busywait(lambda i=i: state(i) == REPORTED)
            client.apply(*(("path-del", {"id": i}) for i in many))
        eq([p["id"] for p in client.dump("path")], [SENTINEL])
        events.take()
    ignored("nobody's", b"", ())


@test
def while_changed():
    "a report finds a path by the segment list that is in force"
    new(1, SIDS, "full")
    other = ["fc00:22::1", *SIDS[1:]]
    old, now = (quote(s, 2, "full") for s in (SIDS, other))
    wanted = {"id": 1, "sids": other, "encap": "full", "ifindex": v0,
              "via": "fd00:1::2", "src": SRC}
    nobody = ("path-del", {"id": 7})
    for change in (("path-del", {"id": 1}), ("path-new", wanted, REPLACE)):
        try:
            client.apply(change, nobody)
        except Refused as e:
            eq(e.errno, errno.ENOENT)
        else:
            raise AssertionError("a path that is not there was deleted")
        ignored("never in force", now)
        believed(old)
    client.apply(("path-del", {"id": 1}), ("path-new", wanted, EXCL))
    ignored("not in force any more", old)
    believed(now)


def reported_again(calls, id_=1):
    """
    How long the module then holds the path down, in its own unit.
    """
    before_ = len(calls.values("waits"))
    report(quote(SIDS, 2, "full"))
    events.wait("path-event", id=id_, state="down")
    return max(calls.values("waits")[before_:])


@test
def backoff():
    "each report soon after a retry doubles the retry interval, four times"
    new(1, SIDS, "full")
    with Kprobes(waits="__srpol_queue_tick value=$arg2:u64") as calls:
        waits = []
        for _ in range(6):
            waits.append(reported_again(calls))
            eq(state(), REPORTED)
            # it is up before its retry, so the next one is soon after it
            rename(1)
    say(waits)
    eq(waits, [waits[0] * n for n in (1, 2, 4, 8, 16, 16)])


@test
def retry_interval():
    "a reported path is tried again after the retry interval"
    client.config(retry_interval=HOLD)
    new(1, SIDS, "full")
    with Kprobes(waits="__srpol_queue_tick value=$arg2:u64") as calls:
        # the module counts ticks, and so does this clock
        start_ = time.clock_gettime(CLOCK_MONOTONIC_COARSE)
        first = reported_again(calls)
        events.wait("path-event", id=1, state="up")
        took = time.clock_gettime(CLOCK_MONOTONIC_COARSE) - start_
        tick = time.clock_getres(CLOCK_MONOTONIC_COARSE)
        say(f"held down for {took:.3f} s, ticks of {tick * 1000:.0f} ms")
        assert took >= HOLD / 1000 - tick, took
        assert abs(first * tick - HOLD / 1000) <= 2 * tick, first
        # after four times as long in peace it is not doubled
        calm = time.monotonic() + HOLD / 1000 * 4 + 0.3
        busywait(lambda: time.monotonic() > calm)
        eq(events.take(), [])
        eq(reported_again(calls), first)


@test
def retry_never():
    "retry interval 0: down until the configuration or the next hop changes"
    client.config(retry_interval=0)
    q = quote(SIDS, 1, "full")
    a.ip("route add fc00::/16 via fd00:1::2\n")
    try:
        client.new("path", id=1, sids=SIDS, encap="full", src=SRC)
        busywait(lambda: state() == UP)
        report(q)
        events.wait("path-event", id=1, state="down")
        later = time.monotonic() + 2.5
        busywait(lambda: time.monotonic() > later)
        eq(state(), REPORTED)
        a.ip("route replace fc00::/16 via fd00:2::2\n")
        busywait(lambda: state() == UP)
        a.ip("route replace fc00::/16 via fd00:1::2\n")
        busywait(lambda: client.get("path", id=1)["out_ifindex"] == v0)
        busywait(lambda: state() == UP)
        report(q)
        busywait(lambda: state() == REPORTED)
        client.change("path", id=1, name="changed")
        eq(state(), UP)
    finally:
        a.ip("route del fc00::/16\n")


@test
def other_reasons():
    "a reported path that also loses its device says so, and comes back"
    new(1, SIDS, "full")
    client.config(retry_interval=60000)
    report(quote(SIDS, 1, "full"))
    busywait(lambda: state() == REPORTED)
    client.change("path", id=1, admin_down=1)
    eq(state(), ("down", "admin-down"))
    # not up, so there is nothing to report
    report(quote(SIDS, 1, "full"))
    ignored("admin-down", b"", ())
    client.change("path", id=1, admin_down=0)
    eq(state(), UP)


@test
def policy_follows():
    "buckets leave a reported path and return to it"
    new(1, SIDS, "full")
    new(2, ["fc00:22::1", *SIDS[1:]], "full")
    key = {"color": 1, "endpoint": "fd00::b"}
    client.new("policy", **key, candidate=[{"segment_list": [{"path": 1},
                                                     {"path": 2}]}])

    def buckets():
        return [li["buckets"] for li in
                client.get("policy", **key)["candidate"][0]["segment_list"]]

    eq(buckets(), [64, 64])
    report(quote(SIDS, 2, "full"))
    busywait(lambda: buckets() == [0, 128])
    rename(1)
    busywait(lambda: buckets() == [64, 64])
    # also when it comes back by itself
    client.config(retry_interval=HOLD)
    events.take()
    report(quote(SIDS, 2, "full"))
    events.wait("path-event", id=1, state="down")
    events.wait("path-event", id=1, state="up")
    busywait(lambda: buckets() == [64, 64])


@test
def real_router():
    "a kernel router that lost the way to the next SID"
    with b:
        for name, value in (("net/ipv6/conf/all/forwarding", 1),
                            ("net/ipv6/conf/all/seg6_enabled", 1),
                            ("net/ipv6/conf/v0/seg6_enabled", 1),
                            ("net/ipv6/icmp/ratelimit", 0)):
            b.sysctl(name, value)
    b.ip(f"route add {SIDS[0]}/128 encap seg6local action End dev v1\n")
    run("ip", "-n", a.name, "sr", "tunsrc", "set", SRC)
    a.ip("route add fc00::/16 via fd00:1::2 dev v0\n")
    for mode, encap in (("encap", "full"), ("encap.red", "reduced")):
        for sids in (SIDS, SIDS[1:], SIDS[2:]):
            new(1, sids, encap)
            a.ip(f"route replace fd00:b::/64 encap seg6 mode {mode} segs "
                 f"{','.join(sids)} dev v0\n")
            with a, socket.socket(socket.AF_INET6,
                                  socket.SOCK_DGRAM) as s:
                s.sendto(b"x" * 100, ("fd00:b::1", 4791))
            events.wait("path-event", id=1, state="down",
                        reason="unreachable-reported")
            client.delete("path", id=1)
            events.take()
    a.ip("route del fd00:b::/64\nroute del fc00::/16\n")


main()
