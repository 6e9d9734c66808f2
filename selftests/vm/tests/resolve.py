#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Resolution of paths, and what devices, neighbors, routes and addresses do to
them. Reports the time from the loss of a link to the event.

    A                                    B
    fd00:1::1/64  v0 ---------------- v0  fd00:1::2/64
    fd00:2::1/64  v1 ---------------- v1  fd00:2::2/64

Both are namespaces of their own, made anew for each test. Addresses survive
the link going down (keep_addr_on_down).
"""

import errno
import fcntl
import os
import re
import select
import socket
import struct
import sys
import threading
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from kprobes import Kprobes                             # noqa: E402
from ktap import (before, busywait, eq, main, match, patience,   # noqa: E402
                  say, test)
from srpol import EXCL, Refused, packed                 # noqa: E402

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

net.load_module()


class World:
    """A, B, and in A: a client, a listener, the devices' indices."""


w = World()


@before
def build():
    """Throw the old world away and make a new one."""
    if hasattr(w, "a"):
        w.client.close()
        w.events.close()
        w.a.delete()
        w.b.delete()
    w.b = net.Netns()
    w.a = net.Netns(f"link add v0 type veth peer name v0 netns {w.b.name}\n"
                    f"link add v1 type veth peer name v1 netns {w.b.name}\n")
    for ns, last in ((w.a, 1), (w.b, 2)):
        with ns:
            ns.sysctl("net/ipv6/conf/all/keep_addr_on_down", 1)
        ns.ip("".join(f"link set v{i} up\n"
                      f"addr add fd00:{i + 1}::{last}/64 dev v{i} nodad\n"
                      for i in (0, 1)))
    w.v0, w.v1 = w.a.ifindex("v0"), w.a.ifindex("v1")
    w.client = w.a.client()
    w.events = w.a.listener("events")


def path(id_=1):
    return w.client.get("path", id=id_)


def is_(state, reason="none", id_=1, seconds=10):
    """Wait until the path is in this state for this reason."""
    def look():
        p = path(id_)
        return (p["state"], p["reason"]) == (state, reason)
    try:
        busywait(look, seconds)
    except AssertionError:
        p = path(id_)
        raise AssertionError(f"path {id_} is {p['state']} ({p['reason']}), "
                             f"not {state} ({reason})") from None


def heard(state, reason="none", id_=1, seconds=10):
    """Wait for the event that says so."""
    return w.events.wait("path-event", seconds, id=id_, state=state,
                         reason=reason)


def new(id_=1, sids=("fc00:21::1", "fc00:12::1"), **members):
    w.client.new("path", id=id_, sids=sids, **members)


def set_up(ns, dev, up):
    """Without the time it takes to start a program."""
    with ns, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        name = dev.encode().ljust(16, b"\0")
        flags = struct.unpack_from("16sH", fcntl.ioctl(
            s, SIOCGIFFLAGS, name + b"\0" * 24))[1]
        flags = flags | IFF_UP if up else flags & ~IFF_UP
        fcntl.ioctl(s, SIOCSIFFLAGS,
                    struct.pack("16sH22x", name, flags))


def prompt_delete(ns, batch):
    """
    Deletion of a device waits for all references to it; when it does for 5 s,
    the kernel says so, and batch.sh that it did.
    """
    start = time.monotonic()
    ns.ip(batch)
    took = time.monotonic() - start
    assert took < patience(20), f"{batch.strip()} took {took:.1f} s"


@test
def via_and_device():
    "next hop and device given: unresolved, then up when it answers"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    mac = w.b.run("cat", "/sys/class/net/v0/address").strip()
    p = path()
    eq((p["out_ifindex"], p["out_via"], p["out_src"], p["out_lladdr"]),
       (w.v0, "fd00:1::2", "fd00:1::1", mac))
    eq((p["overhead"], p["mtu"]), (64, 1500 - 64))


@test
def late_neighbor():
    "a neighbor that does not answer fails once and is found when it comes"
    new(ifindex=w.v0, via="fd00:1::99")
    heard("unresolved", "neighbor-unresolved")
    heard("down", "neighbor-failed", seconds=10)
    # it is asked again and again meanwhile, which is nobody's news, even if
    # the device gives a reason to look
    for size in range(1400, 1450):
        w.a.ip(f"link set v0 mtu {size}\n")
    eq(w.events.take(), [])
    w.b.ip("addr add fd00:1::99/64 dev v0 nodad\n")
    heard("up", seconds=5)


@test
def link_local_next_hop():
    "a next hop may be link-local"
    w.b.ip("addr add fe80::99/64 dev v0 nodad\n")
    new(ifindex=w.v0, via="fe80::99")
    is_("up")
    eq((path()["out_via"], path()["out_src"]), ("fe80::99", "fd00:1::1"))


@test
def by_route():
    "resolved by route: gateway, moved, on link, gone"
    new()
    is_("unresolved", "no-route")
    assert "out_ifindex" not in path()
    w.a.ip("route add fc00:21::/48 via fd00:1::2\n")
    heard("up")
    eq((path()["out_ifindex"], path()["out_via"]), (w.v0, "fd00:1::2"))
    w.a.ip("route replace fc00:21::/48 via fd00:2::2\n")
    busywait(lambda: path().get("out_ifindex") == w.v1)
    is_("up")
    eq((path()["out_via"], path()["out_src"]), ("fd00:2::2", "fd00:2::1"))
    w.a.ip("route del fc00:21::/48\n")
    heard("unresolved", "no-route")
    # on link: the SID itself is the neighbor
    w.b.ip("addr add fc00:21::1/48 dev v1 nodad\n")
    w.a.ip("route add fc00:21::/48 dev v1\n")
    heard("up")
    eq(path()["out_via"], "fc00:21::1")
    for kind in ("unreachable", "blackhole", "prohibit"):
        w.a.ip(f"route add {kind} fc00:21::1/128\n")
        heard("unresolved", "no-route")
        w.a.ip(f"route del {kind} fc00:21::1/128\n")
        heard("up")
    # one's own address is no way to anywhere
    w.a.ip("addr add fc00:21::1/128 dev v0 nodad\n")
    heard("unresolved", "no-route")


@test
def device_by_route():
    "device given without next hop: only routes over it count"
    w.a.ip("route add fc00:21::/48 via fd00:1::2\n")
    new(1, ifindex=w.v0)
    new(2, ifindex=w.v1)
    is_("up", id_=1)
    is_("unresolved", "no-route", id_=2)
    w.a.ip("route add fc00:21::/48 via fd00:2::2 metric 2000\n")
    is_("up", id_=2)
    eq(path(2)["out_ifindex"], w.v1)
    is_("up", id_=1)


@test
def second_best_route():
    "a route that is not the best of its prefix can be lost, too"
    w.a.ip("route add fc00:21::/48 via fd00:1::2\n"
           "route add fc00:21::/48 via fd00:2::2 metric 2000\n")
    new(ifindex=w.v1)
    heard("up")
    w.a.ip("route del fc00:21::/48 via fd00:2::2\n")
    heard("unresolved", "no-route")


@test
def next_hop_object():
    "a next hop object that changes moves the path"
    w.a.ip("nexthop add id 1 via fd00:1::2 dev v0\n"
           "route add fc00:21::/48 nhid 1\n")
    new()
    heard("up")
    w.a.ip("nexthop replace id 1 via fd00:2::2 dev v1\n")
    busywait(lambda: path()["out_ifindex"] == w.v1)
    is_("up")
    w.a.ip("nexthop del id 1\n")
    is_("unresolved", "no-route")


class Churn(threading.Thread):
    """
    A route that nobody uses comes and goes all the time: a real-time thread, on
    the processor that the module's work is on.
    """

    NEW, DELETE, REQUEST, CREATE = 24, 25, 1, 0x400
    CPUS = "/sys/devices/virtual/workqueue/cpumask"

    def __init__(self, ns, ifindex):
        super().__init__(daemon=True)
        with ns:
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        route = struct.pack("=8BIHH16sHHI", socket.AF_INET6, 64, 0, 0, 254, 4,
                            0, 1, 0, 20, 1, packed("fd00:77::"), 8, 4, ifindex)
        self.messages = [struct.pack("=IHHII", 16 + len(route), kind, flags, 0,
                                     0) + route
                         for kind, flags in ((self.NEW, self.REQUEST |
                                              self.CREATE),
                                             (self.DELETE, self.REQUEST))]
        self.stopped, self.rounds = False, 0

    def run(self):
        os.sched_setaffinity(0, {0})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        while not self.stopped:
            for message in self.messages:
                self.socket.send(message)
                time.sleep(0.001)
            self.rounds += 1

    def __enter__(self):
        with open(self.CPUS, "r+", encoding="ascii") as f:
            self.cpus = f.read()
            f.write("1")
        self.start()
        busywait(lambda: self.rounds)

    def __exit__(self, *_):
        self.stopped = True
        self.join()
        self.socket.close()
        with open(self.CPUS, "w", encoding="ascii") as f:
            f.write(self.cpus)


@test
def route_among_many():
    "the last of many paths follows its route while other routes come and go"
    last = 16000
    one = w.client.message("path-new", {"id": 0x01020304, "ifindex": w.v0,
                                        "sids": ["fc00:9::1"],
                                        "via": "fd00:1::2"}, EXCL)
    w.client.apply_messages([one.replace(struct.pack("=I", 0x01020304),
                                         struct.pack("=I", i))
                             for i in range(1, last)])
    w.a.ip("route add fc00:8::/64 via fd00:1::2\n")
    new(last, sids=["fc00:8::1"])
    is_("up", id_=last)
    eq(path(last)["out_ifindex"], w.v0)
    with Churn(w.a, w.v0), Kprobes(looks="srpol_path_stage") as calls:
        w.a.ip("route replace fc00:8::/64 via fd00:2::2\n")
        busywait(lambda: path(last)["out_ifindex"] == w.v1, 20)
        # at all paths once or twice, and on until that is seen here
        looks = calls.all()["looks"]
    assert looks < 10 * last, f"{looks} looks at paths"


@test
def neighbor_lost():
    "a neighbor that stops answering takes the path down, and back up"
    for name, value in (("base_reachable_time_ms", 200),
                        ("delay_first_probe_time", 1),
                        ("retrans_time_ms", 100)):
        with w.a:
            w.a.sysctl(f"net/ipv6/neigh/v0/{name}", value)
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    w.b.ip("addr del fd00:1::2/64 dev v0\n")
    heard("down", "neighbor-failed", seconds=20)
    w.b.ip("addr add fd00:1::2/64 dev v0 nodad\n")
    heard("up")


def neighbor(state):
    return state in w.a.run("ip", "neigh", "show", "fd00:1::2", "dev", "v0")


@test
def neighbor_deleted():
    "a neighbor entry taken away by hand is asked again; packets go on"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    lladdr = path()["out_lladdr"]
    for command in ("neigh del fd00:1::2 dev v0",
                    "neigh change fd00:1::2 dev v0 nud failed",
                    "neigh flush dev v0", "neigh flush dev v0",
                    "neigh flush dev v0"):
        w.a.run("ip", *command.split())
        busywait(lambda: neighbor("REACHABLE"))
    eq(w.events.take(), [])
    eq((path()["state"], path()["out_lladdr"]), ("up", lladdr))


@test
def neighbor_deleted_and_gone():
    "a neighbor that is asked again and does not answer takes the path down"
    with w.a:
        w.a.sysctl("net/ipv6/neigh/v0/retrans_time_ms", 100)
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    w.b.ip("addr del fd00:1::2/64 dev v0\n")
    w.a.ip("neigh del fd00:1::2 dev v0\n")
    heard("down", "neighbor-failed")
    w.b.ip("addr add fd00:1::2/64 dev v0 nodad\n")
    heard("up")


@test
def adjacency_alone():
    "the neighbor of a SID is kept confirmed, also if there are no paths"
    w.client.new("sid", sid="fc00:a::1", behavior=5, ifindex=w.v0,
                 via="fd00:1::2")
    busywait(lambda: w.client.get("sid", sid="fc00:a::1")["state"] == "up")
    with Kprobes(asks="srpol_nexthop_solicit") as calls:
        busywait(lambda: calls.all()["asks"] > 2)


@test
def other_neighbors():
    "the failure of a neighbor that no path leaves by is nothing to the module"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    failure = ("neigh replace fd00:1::77 lladdr 02:00:00:00:00:77 dev v0 "
               "nud permanent\n"
               "neigh change fd00:1::77 dev v0 nud failed\n")
    with Kprobes(ticks="srpol_tick") as calls:
        start = time.monotonic()
        # many at a time: a busy machine takes half a second to start ip
        while time.monotonic() < start + 3:
            w.a.ip(10 * failure)
        took = time.monotonic() - start
        ticks = calls.all()["ticks"]
    assert ticks <= took + 1, f"{ticks} ticks in {took:.1f} s"


@test
def neighbor_table_full():
    "neighbors that others fill the table with do not take a path down"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    # the kernel spares entries that are younger than 5 s
    busywait(lambda: int(re.search(r" used \d+/\d+/(\d+)", w.a.run(
        "ip", "-s", "-6", "neigh", "show", "fd00:1::2"))[1]) > 5, 30)
    other = net.Netns("link add d0 type dummy\nlink set d0 arp on up\n")
    limit = "/proc/sys/net/ipv6/neigh/default/gc_thresh"
    was = []
    for i in (1, 2, 3):
        with open(f"{limit}{i}", encoding="ascii") as f:
            was.append(f.read())
    try:
        for i in (1, 2, 3):
            with open(f"{limit}{i}", "w", encoding="ascii") as f:
                f.write("16")
        other.run("ip", "-force", "-batch", "-", check=False, input="".join(
            f"neigh add fd00:9::{i:x} lladdr 02:00:00:00:00:01 dev d0 "
            "nud reachable\n" for i in range(1, 64)))
        w.a.ip("link set v0 mtu 1400\n")
        busywait(lambda: path()["mtu"] == 1400 - 64)
        assert w.a.run("ip", "neigh", "show", "fd00:1::2"), "it is gone"
        heard("up")
        eq(path()["state"], "up")
    finally:
        for i, text in zip((3, 2, 1), reversed(was)):
            with open(f"{limit}{i}", "w", encoding="ascii") as f:
                f.write(text)


@test
def device_created_anew():
    "a device of the same name brings its paths and SIDs back"
    new(ifindex=w.v0, via="fd00:1::2")
    w.client.new("sid", sid="fc00:a::1", behavior=5, ifindex=w.v0,
                 via="fd00:1::2")
    heard("up")
    w.a.ip("link del v0\n")
    heard("down", "no-device")
    busywait(lambda: w.client.get("sid", sid="fc00:a::1")["reason"]
             == "no-device")
    w.a.ip(f"link add v0 type veth peer name v0 netns {w.b.name}\n"
           "link set v0 up\naddr add fd00:1::1/64 dev v0 nodad\n")
    w.b.ip("link set v0 up\naddr add fd00:1::2/64 dev v0 nodad\n")
    heard("up")
    eq(path()["out_ifindex"], w.a.ifindex("v0"))
    busywait(lambda: w.client.get("sid", sid="fc00:a::1")["state"] == "up")


@test
def device_renamed():
    "a device that is given the name of one that has gone takes its place"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    w.a.ip("link del v0\n")
    heard("down", "no-device")
    w.a.ip(f"link add other type veth peer name v0 netns {w.b.name}\n"
           "link set other up\naddr add fd00:1::1/64 dev other nodad\n")
    w.b.ip("link set v0 up\naddr add fd00:1::2/64 dev v0 nodad\n")
    # nothing else happens to it after that
    w.a.run("ping", "-6", "-c", "1", "-W", "5", "fd00:1::2")
    eq(path()["reason"], "no-device")
    w.a.ip("link set other name v0\n")
    heard("up")


@test
def neighbor_moved():
    "a neighbor with another Ethernet address is followed, with an event"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    w.a.ip("neigh replace fd00:1::2 lladdr 02:00:00:00:00:77 dev v0 "
           "nud permanent\n")
    busywait(lambda: path()["out_lladdr"] == "02:00:00:00:00:77")
    eq(path()["state"], "up")
    heard("up")
    eq(w.events.take(), [])


@test
def carrier():
    "loss of carrier: down at once, up when it returns; paths over others stay"
    new(1, ifindex=w.v0, via="fd00:1::2")
    new(2, ifindex=w.v1, via="fd00:2::2")
    for i in (1, 2):
        is_("up", id_=i)
    w.events.take()
    w.events.dropped.clear()
    took = []
    for _ in range(3):
        start = time.monotonic()
        set_up(w.b, "v0", False)
        while not select.select([w.events.ynl.sock], [], [], 5)[0]:
            pass
        took.append(time.monotonic() - start)
        heard("down", "device-down")
        set_up(w.b, "v0", True)
        heard("up")
    say("from carrier loss to the event, three times in a row:",
        ", ".join(f"{t * 1000:.1f} ms" for t in took))
    eq([m for _, m in w.events.dropped + w.events.take() if m["id"] == 2], [])


@test
def device_down():
    "the device set down and up"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    w.events.take()
    start = time.monotonic()
    set_up(w.a, "v0", False)
    while not select.select([w.events.ynl.sock], [], [], 5)[0]:
        pass
    say(f"from device down to the event: "
        f"{(time.monotonic() - start) * 1000:.1f} ms")
    heard("down", "device-down")
    eq(path()["out_ifindex"], w.v0)
    set_up(w.a, "v0", True)
    heard("up")


@test
def device_down_by_route():
    "the device of a route set down: no route"
    w.a.ip("route add fc00:21::/48 via fd00:1::2\n")
    new()
    heard("up")
    set_up(w.a, "v0", False)
    is_("unresolved", "no-route")


@test
def device_deleted():
    "a device deleted under several paths: no-device, and no reference left"
    for i in range(1, 9):
        new(i, ifindex=w.v0, via="fd00:1::2")
    w.a.ip("route add fc00:21::/48 via fd00:1::2\n")
    new(9)
    w.client.new("policy", color=1, endpoint="::",
                 candidate=[{"segment_list": [{"path": i} for i in range(1, 10)]}])
    w.client.new("dev", ifindex=w.v0, role="uplink")
    for i in range(1, 10):
        is_("up", id_=i)
    prompt_delete(w.a, "link del v0\n")
    for i in range(1, 9):
        is_("down", "no-device", id_=i)
    is_("unresolved", "no-route", id_=9)
    eq(w.client.dump("dev"), [])
    busywait(lambda: w.client.get("policy", color=1, endpoint="::")["state"]
             == "down")
    busywait(lambda: not w.client.get("config")["used"]["nexthops"])
    # a path without its device can still be changed, but not to another such
    w.client.change("path", id=1, name="still")
    try:
        w.client.change("path", id=1, ifindex=w.v0)
    except Refused as why:
        eq(why.errno, errno.ENODEV)
    else:
        raise AssertionError("not refused")


@test
def device_to_other_namespace():
    "a device that moves to another namespace is gone"
    new(1, ifindex=w.v0, via="fd00:1::2")
    new(2, ifindex=w.v0, via="fd00:1::2")
    w.client.new("dev", ifindex=w.v0, role="uplink")
    is_("up", id_=2)
    prompt_delete(w.a, f"link set v0 netns {w.b.name} name moved\n")
    for i in (1, 2):
        is_("down", "no-device", id_=i)
    eq(w.client.dump("dev"), [])
    prompt_delete(w.b, "link del moved\n")


@test
def mtu():
    "MTU changes are seen; less than 1280 for the inner packet is too small"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    for size in (9000, 1344):
        w.a.ip(f"link set v0 mtu {size}\n")
        busywait(lambda size=size: path()["mtu"] == size - 64)
        eq(path()["state"], "up")
    w.a.ip("link set v0 mtu 1343\n")
    heard("down", "mtu-too-small")
    w.a.ip("link set v0 mtu 1500\n")
    heard("up")


@test
def own_mac():
    "another Ethernet address of the device: its neighbor is asked anew"
    new(ifindex=w.v0, via="fd00:1::2")
    heard("up")
    # the kernel forgets neighbors by that, in this call
    w.a.ip("link set v0 address 02:00:00:00:00:55\n")
    busywait(lambda: neighbor("REACHABLE"))
    is_("up")
    eq(path()["out_via"], "fd00:1::2")


@test
def source():
    "outer source: given, configured, or chosen and kept up to date"
    new(1, ifindex=w.v0, via="fd00:1::2")
    new(2, ifindex=w.v0, via="fd00:1::2", src="fd00:1::77")
    for i in (1, 2):
        is_("up", id_=i)
    eq((path(1)["out_src"], path(2)["out_src"]), ("fd00:1::1", "fd00:1::77"))
    w.client.config(src="fd00:5::5")
    eq((path(1)["out_src"], path(2)["out_src"]), ("fd00:5::5", "fd00:1::77"))
    w.client.config(src="::")
    eq(path(1)["out_src"], "fd00:1::1")
    w.a.ip("addr add fd00:1::5/64 dev v0 nodad\n"
           "addr del fd00:1::1/64 dev v0\n")
    busywait(lambda: path(1)["out_src"] == "fd00:1::5")
    eq(path(1)["state"], "up")


@test
def temporary():
    "a temporary address is no outer source, though the kernel prefers it"
    with w.a:
        w.a.sysctl("net/ipv6/conf/all/use_tempaddr", 2)
        w.a.sysctl("net/ipv6/conf/v0/use_tempaddr", 2)
    w.a.ip("addr del fd00:1::1/64 dev v0\n"
           "addr add fd00:1::9/64 dev v0 nodad mngtmpaddr\n")
    there = busywait(lambda: re.search(
        r"inet6 (\S+)/64 scope global temporary dynamic \n",
        w.a.run("ip", "-6", "addr", "show", "dev", "v0")), what="temporary")
    route = w.a.run("ip", "-6", "route", "get", "fd00:1::2")
    match(route, f"src {there[1]} ", "the kernel's choice")
    new(ifindex=w.v0, via="fd00:1::2")
    is_("up")
    eq(path()["out_src"], "fd00:1::9")


@test
def no_source():
    "without a global address there is no source, until one is valid"
    w.a.ip("addr del fd00:1::1/64 dev v0\naddr del fd00:2::1/64 dev v1\n")
    match(w.a.run("ip", "-6", "addr", "show", "dev", "v0"), "fe80::")
    w.b.ip("addr add fe80::99/64 dev v0 nodad\n")
    new(ifindex=w.v0, via="fe80::99")
    is_("unresolved", "no-source")
    # this one is tentative first
    with w.a:
        w.a.sysctl("net/ipv6/conf/all/accept_dad", 1)
        w.a.sysctl("net/ipv6/conf/v0/accept_dad", 1)
    w.a.ip("addr add fd00:1::1/64 dev v0\n")
    heard("up")
    eq(path()["out_src"], "fd00:1::1")


@test
def not_ethernet():
    "a device without Ethernet header can not be used"
    w.a.ip("link add t0 type ip6tnl local fd00:1::1 remote fd00:1::2\n"
           "link set t0 up\n")
    new(ifindex=w.a.ifindex("t0"), via="fd00:1::2")
    is_("down", "device-type")
    new(2, ifindex=1, via="fd00:1::2")
    is_("down", "device-type", id_=2)
    # programs would take bytes of the IP header for an Ethernet type
    for dev in "t0", "lo":
        for role in "uplink", "port":
            try:
                w.client.new("dev", role=role, ifindex=w.a.ifindex(dev))
                why = None
            except Refused as refused:
                why = refused.msg, refused.attr
            eq(why, ("not an Ethernet device", "ifindex"), f"{dev}, {role}")
    eq(w.client.dump("dev"), [])


@test
def shared_next_hop():
    "next hops are shared, and freed with the last path"
    for i in range(1, 4):
        new(i, ifindex=w.v0, via="fd00:1::2")
    new(4, ifindex=w.v1, via="fd00:2::2")
    eq(w.client.get("config")["used"]["nexthops"], 2)
    w.client.change("path", id=1, ifindex=w.v1, via="fd00:2::2")
    eq(path(1)["out_ifindex"], w.v1)
    for i in (2, 3):
        w.client.delete("path", id=i)
    eq(w.client.get("config")["used"]["nexthops"], 1)


@test
def admin_down():
    "admin-down hides every other reason"
    new(ifindex=w.v0, via="fd00:1::2", admin_down=1)
    is_("down", "admin-down")
    set_up(w.b, "v0", False)
    busywait(lambda: "NO-CARRIER" in w.a.run("ip", "link", "show", "v0"))
    is_("down", "admin-down")
    w.client.change("path", id=1, admin_down=0)
    is_("down", "device-down")
    set_up(w.b, "v0", True)
    is_("up")


main()
