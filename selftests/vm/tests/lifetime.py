#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
End of namespaces, devices and of the module with everything configured.

    init                     NAME (one or more)
    NAME  ------------- veth  v0  fd00:1::1/64, neighbors fd00:1::2 .. ::9
                              d0  fd00:2::1/64, neighbors fd00:2::2 .. ::9

The end of the veth in the initial namespace disappears when NAME is really
gone: its name tells when. A reference that was not given back keeps the
device, and so the namespace.

SRPOL_LOOPS says how often unloading meets the end of namespaces.

SRPOL_TIMEOUT=2400
"""

import os
import socket
import struct
import sys
import threading
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import ktap                                             # noqa: E402
import net                                              # noqa: E402
from kprobes import Kprobes                             # noqa: E402
from packet import checksum, ip6                        # noqa: E402
from srpol import packed                                # noqa: E402
from ktap import busywait, eq, main, say, test          # noqa: E402

net.load_module()


def namespace():
    """A namespace with its two devices."""
    ns = net.Netns("link add d0 type dummy\nlink set d0 up\n"
                   "addr add fd00:2::1/64 dev d0 nodad\n")
    net.ip(f"link add {ns.name} type veth peer name v0 netns {ns.name}\n"
           f"link set {ns.name} up\n")
    ns.ip("link set v0 up\naddr add fd00:1::1/64 dev v0 nodad\n" +
          "".join(f"neigh add fd00:{i}::{j} lladdr 02:00:00:00:00:{j:02} "
                  f"dev {dev}\n"
                  for i, dev in ((1, "v0"), (2, "d0")) for j in range(2, 10)))
    return ns


def configure(ns):
    """Some of everything: many paths per next hop, policies, backups."""
    client = ns.client()
    v0, d0 = ns.ifindex("v0"), ns.ifindex("d0")
    number = 0
    for i, dev in ((1, v0), (2, d0)):
        for j in range(2, 10):
            for _ in range(2):
                number += 1
                client.new("path", id=number, ifindex=dev,
                           via=f"fd00:{i}::{j}", sids=[f"fc00::{number:x}"])
    # one that never resolves, one without a route
    client.new("path", id=100, sids=["fc00::1"], ifindex=v0,
               via="fd00:1::99")
    client.new("path", id=101, sids=["fc00::1"])
    for color in range(1, 5):
        client.new("policy", color=color, endpoint="fd00::b",
                   buckets=128 << (color % 4), backup_color=color % 4 + 1,
                   bsid=f"fc00:b::{color}",
                   candidate=[{"segment_list": [{"path": p} for p in
                                        range(1, number + 1)]},
                              {"segment_list": [{"path": 100}, {"path": 101}]}])
        client.new("rule", priority=color, color=color, ifindex=v0)
        client.new("endpoint", prefix=f"fd00:b:{color}::", prefix_len=48,
                   address="fd00::b")
        client.new("sid", sid=f"fc00:a::{color}", behavior=20)
    client.new("dev", ifindex=v0, role="uplink")
    client.new("dev", ifindex=d0, role="uplink")
    busywait(lambda: sum(p["state"] == "up" for p in client.dump("path"))
             == number)
    eq(client.get("config")["used"]["nexthops"], 17)
    return client


@test
def namespaces():
    "namespaces end with everything configured in them"
    longest = 0
    for _ in range(10):
        ns = namespace()
        configure(ns).close()
        name = ns.name
        assert net.is_there(name)
        start = time.monotonic()
        ns.delete()
        net.gone(name)
        longest = max(longest, time.monotonic() - start)
    say(f"longest end of a namespace: {longest:.2f} s")


@test
def namespace_with_open_socket():
    "a socket keeps the namespace and its configuration, and then lets go"
    ns = namespace()
    client = configure(ns)
    name = ns.name
    ns.delete()
    assert net.is_there(name)
    eq(len(client.dump("path")), 34)
    client.delete("policy", color=1, endpoint="fd00::b")
    client.close()
    net.gone(name)


@test
def isolation():
    "namespaces do not see each other's objects"
    one, two = namespace(), namespace()
    a, b = configure(one), two.client()
    for kind in ("path", "policy", "rule", "endpoint", "sid", "dev"):
        eq(b.dump(kind), [])
    eq(set(b.get("config")["used"].values()), {0})
    b.new("path", id=1, sids=["fc00::1"], name="b")
    assert "name" not in a.get("path", id=1)
    b.delete("path", id=1)
    eq(len(a.dump("path")), 34)
    events = two.listener("config", "events")
    a.change("path", id=1, admin_down=1)
    eq(events.take(), [])
    for c in (a, b, events):
        c.close()


@test
def unload():
    "20 times: load, configure two namespaces, unload, delete their devices"
    spaces = [namespace(), namespace()]
    for _ in range(20):
        for ns in spaces:
            configure(ns).close()
        net.unload_module()
        ktap.run("insmod", net.srpol.MODULE)
        net.srpol.forget_family()
        client = spaces[0].client()
        eq(client.dump("path"), [])
        eq(set(client.get("config")["used"].values()), {0})
        client.close()
    # has the module let go of the devices? If not, the kernel says so after 5 s,
    # and batch.sh that it did
    for ns in spaces:
        start = time.monotonic()
        ns.ip("link del v0\nlink del d0\n")
        took = time.monotonic() - start
        assert took < ktap.patience(20), f"deletion took {took:.1f} s"


class Traffic(threading.Thread):
    """
    What the module sees of packets, into a namespace by its veth: reports that
    a router cannot reach the SID of path 5, and UDP.
    """

    ROUTER, HOST, SID = "fd00:1::2", "fd00:1::1", "fc00::5"

    def __init__(self, ns):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.bind((ns.name, 0))
        mac = ns.run("cat", "/sys/class/net/v0/address").strip()
        ethernet = bytes.fromhex(mac.replace(":", "")) + b"\x02" * 6 + \
            b"\x86\xdd"
        inner = ip6("fd00:a::1", "fd00:b::1", 17, bytes(40))
        icmp = struct.pack("!BBHI", 1, 0, 0, 0) + \
            ip6(self.HOST, self.SID, 41, inner)
        pseudo = packed(self.ROUTER) + packed(self.HOST) + \
            struct.pack("!II", len(icmp), 58)
        icmp = icmp[:2] + struct.pack("!H", checksum(pseudo + icmp)) + icmp[4:]
        self.packets = [ethernet + ip6(self.ROUTER, self.HOST, 58, icmp),
                        ethernet + ip6(self.ROUTER, self.HOST, 17, bytes(40))]
        self.stopped = False

    def run(self):
        with self.socket:
            while not self.stopped:
                for packet in self.packets:
                    try:
                        self.socket.send(packet)
                    except OSError:     # its veth is down, or gone
                        pass
                time.sleep(0.005)

    def stop(self):
        self.stopped = True
        self.join()


class Flapper(threading.Thread):
    """Sets links up and down and routes in and out until told to stop."""

    def __init__(self, ns):
        super().__init__(daemon=True)
        self.ns, self.stopped = ns, False
        self.rounds, self.failure = 0, None

    def run(self):
        try:
            while not self.stopped:
                self.ns.ip(
                    "link set v0 down\nroute add fc00::/64 dev d0\n"
                    "link set d0 mtu 1300\nlink set v0 up\n"
                    "neigh replace fd00:2::2 lladdr 02:00:00:00:01:00 "
                    "dev d0\naddr add fd00:2::7/64 dev d0 nodad\n"
                    "link set d0 mtu 1500\nroute del fc00::/64 dev d0\n"
                    "addr del fd00:2::7/64 dev d0\n")
                self.rounds += 1
        except Exception as why:    # told in the main thread
            self.failure = why

    def stop(self):
        self.stopped = True
        self.join()
        if self.failure:
            raise self.failure


@test
def unload_under_events():
    "unload and load while links, routes, neighbors and addresses change"
    ns = namespace()
    with ns:
        ns.sysctl("net/ipv6/conf/v0/keep_addr_on_down", 1)
    for _ in range(8):
        client = configure(ns)
        flapper = Flapper(ns)
        flapper.start()
        busywait(lambda f=flapper: f.rounds > 1 or f.failure, 60)
        client.close()
        net.unload_module()
        flapper.stop()
        ktap.run("insmod", net.srpol.MODULE)
        net.srpol.forget_family()
        ns.ip("".join(f"neigh replace fd00:1::{j} lladdr 02:00:00:00:00:{j:02}"
                      " dev v0\n" for j in range(2, 10)))


@test
def unload_while_a_namespace_ends():
    "unload while configured namespaces end, links flap and packets come in"
    loops = int(os.environ.get("SRPOL_LOOPS", "8"))
    living = namespace()
    with living:
        living.sysctl("net/ipv6/conf/v0/keep_addr_on_down", 1)
    for _ in range(loops):
        ending = [namespace() for _ in range(3)]
        traffic = [Traffic(ns) for ns in (living, *ending)]
        for ns, sender in zip((living, *ending), traffic):
            client = configure(ns)
            client.config(retry_interval=1,
                          report_from=[{"prefix": Traffic.ROUTER}])
            events = ns.listener("events")
            sender.start()
            # packets reach the module
            events.wait("path-event", 60, id=5, reason="unreachable-reported")
            events.close()
            client.close()
        flapper = Flapper(living)
        flapper.start()
        names = [ns.name for ns in ending]
        threads = [threading.Thread(target=ns.delete) for ns in ending]
        for thread in threads:
            thread.start()
        net.unload_module()
        for thread in threads:
            thread.join()
        flapper.stop()
        for sender in traffic:
            sender.stop()
        for name in names:
            net.gone(name)
        ktap.run("insmod", net.srpol.MODULE)
        net.srpol.forget_family()
        living.ip("".join(
            f"neigh replace fd00:1::{j} lladdr 02:00:00:00:00:{j:02} dev v0\n"
            for j in range(2, 10)))


@test
def unused_registers_nothing():
    "a namespace has hooks and notifiers from its first write until it ends"
    with Kprobes(begins="srpol_events_net_start",
                 ends="srpol_events_net_unlisten") as calls:
        unused, used = namespace(), namespace()
        client = unused.client()
        eq(client.dump("path"), [])
        client.get("config")
        client.close()
        eq(calls.all(), {"begins": 0, "ends": 0})
        client = used.client()
        client.new("path", id=1, sids=["fc00::1"])
        client.close()
        eq(calls.all(), {"begins": 1, "ends": 0})
        for ns in (unused, used):
            name = ns.name
            ns.delete()
            net.gone(name)
        eq(calls.all(), {"begins": 1, "ends": 1})


@test
def busy_module():
    "configuration alone does not keep the module from being unloaded"
    ns = namespace()
    client = configure(ns)
    with open("/sys/module/srpol/refcnt", encoding="ascii") as f:
        eq(f.read().strip(), "0")
    client.close()


main()
