#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Failure does not wait for configuration: links go down and come up while ten
thousand policies are replaced and while they are dumped, with the real data
plane attached. A link that is down is out of use, in the data plane too, when
the system call that set it down returns.

    init                      ns                             other
                              u0 ---- p0  uplink, fd00:0::2
                              u1 ---- p1  uplink, fd00:1::2
                                                             links come and go

SRPOL_TIMEOUT=600
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
import time
from statistics import median

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from bpfmap import Map                                  # noqa: E402
from ktap import (busywait, cleanup, eq, main, run, say,    # noqa: E402
                  test)
from srpol import BUILD                                 # noqa: E402

PINS = "/sys/fs/bpf/srpol"
OUT = os.environ.get("SRPOL_OUT", "/tmp")
POLICIES, PATHS, LISTS = 10000, 16000, 8
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
RTM_NEWLINK, RTM_DELLINK = 16, 17
NLM_F_REQUEST, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL = 1, 4, 0x400, 0x200
IFLA_IFNAME, IFLA_LINKINFO, IFLA_INFO_KIND = 3, 18, 1
NOBODY = 65534

# Waiting for a transaction would take ten seconds here, in each round. A busy
# host adds to all times, and now and then very much to one of them; in a guest
# that does not depend on the host SRPOL_LIMIT_MS says by how much medians may
# differ (campaign.sh failure).
LIMIT = int(os.environ.get("SRPOL_LIMIT_MS", "250")) / 1000
WORST = 2.0

net.load_module()
cleanup(run, "rm", "-rf", PINS)
other = net.Netns()
ns = net.Netns(*(f"link add u{i} type veth peer name p{i}\n"
                 f"link set u{i} up\nlink set p{i} up\n"
                 f"addr add fd00:{i}::1/64 dev u{i} nodad\n"
                 f"neigh add fd00:{i}::2 lladdr 02:00:00:00:00:02 dev u{i} "
                 "nud permanent\n" for i in (0, 1)))
with ns:
    for dev in ("u0", "u1"):
        ns.sysctl(f"net/ipv6/conf/{dev}/keep_addr_on_down", 1)
client = ns.client()
u1 = ns.ifindex("u1")


def srpol(*words):
    return [f"{BUILD}/bin/srpol", "-n", ns.name, *words]


def write(name, weights):
    path = os.path.join(OUT, name)
    with open(path, "w", encoding="ascii") as file:
        for i in range(1, PATHS + 1):
            file.write(f"path add {i} segs fc00:0:{i:x}::,fc00:1:{i:x}:: "
                       f"dev u{i % 2} via fd00:{i % 2}::2\n")
        for color in range(1, POLICIES + 1):
            words = "".join(
                f" segment-list {(color * LISTS + k) % PATHS + 1} weight {w}"
                for k, w in enumerate(weights))
            file.write(f"policy add color {color} endpoint fd02::{color:x} "
                       f"candidate{words}\n")
    return path


FILES = [write("equal", [1] * LISTS), write("other", [1, 2] * (LISTS // 2))]
run(*srpol("dev", "add", "u0", "role", "uplink"))
run(*srpol("dev", "add", "u1", "role", "uplink"))
run(*srpol("replace", "-f", FILES[0]))


class Link:
    """u1, set down and up by the shortest way there is."""

    def __init__(self):
        with ns:
            self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def set(self, up):
        name = b"u1".ljust(16, b"\0")
        flags = struct.unpack_from("16sH", fcntl.ioctl(
            self.sock, SIOCGIFFLAGS, name + b"\0" * 24))[1]
        flags = flags | IFF_UP if up else flags & ~IFF_UP
        request = struct.pack("16sH22x", name, flags)
        start = time.monotonic()
        fcntl.ioctl(self.sock, SIOCSIFFLAGS, request)
        return time.monotonic() - start


class Foreign:
    """Adds and deletes a link in a namespace that has nothing to do with it."""

    def __init__(self):
        with other:
            self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.sock.bind((0, 0))

    @staticmethod
    def attr(number, payload):
        return struct.pack("HH", 4 + len(payload), number) + payload + \
            b"\0" * (-len(payload) % 4)

    def request(self, kind, flags):
        body = struct.pack("BxHiII", 0, 0, 0, 0, 0) + \
            self.attr(IFLA_IFNAME, b"x0\0") + self.attr(
                IFLA_LINKINFO, self.attr(IFLA_INFO_KIND, b"dummy\0"))
        self.sock.send(struct.pack("IHHII", 16 + len(body), kind,
                                   NLM_F_REQUEST | NLM_F_ACK | flags, 1, 0) +
                       body)
        error = struct.unpack_from("i", self.sock.recv(4096), 16)[0]
        eq(error, 0, "rtnetlink")

    def once(self):
        start = time.monotonic()
        self.request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL)
        took = time.monotonic() - start
        self.request(RTM_DELLINK, 0)
        return took


link, foreign = Link(), Foreign()
# What it measures against stays as it is: a replace of real-time priority would
# keep the kernel's own threads, which RCU needs, off the processor.
os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK,
                      os.sched_param(10))


def in_use():
    """What the data plane says of the next hop over u1."""
    with Map(f"{PINS}/{ns.name}/nexthops") as m:
        for key in range(1, 8):
            ifindex, up = struct.unpack("II", m[struct.pack("I", key)])
            if ifindex == u1:
                return bool(up)
    raise AssertionError("no next hop over u1")


def one_round():
    """Seconds: link down, link up, foreign link added."""
    down = link.set(False)
    assert not in_use(), "packets still go to a device that is down"
    up = link.set(True)
    return down, up, foreign.once()


def settle():
    run("ip", "-n", ns.name, "neigh", "replace", "fd00:1::2", "lladdr",
        "02:00:00:00:00:02", "dev", "u1", "nud", "permanent")
    busywait(lambda: client.get("path", id=1)["state"] == "up", 60)


settle()
calm = [one_round() for _ in range(20)]
settle()


def compare(what, busy):
    say(f"{what}: {len(busy)} rounds")
    columns = list(zip(("link down", "link up", "foreign link added"),
                       zip(*busy), zip(*calm)))
    for name, b, c in columns:
        say(f"{name}: {median(b) * 1000:.1f} ms, {median(c) * 1000:.1f} ms "
            f"when calm; at most {max(b) * 1000:.1f}, {max(c) * 1000:.1f} ms")
    # others may have begun something meanwhile
    settle()
    after = list(zip(*(one_round() for _ in range(20))))
    for (name, b, c), a in zip(columns, after):
        say(f"{name}: {median(a) * 1000:.1f} ms when calm again")
        assert median(b) < max(median(c), median(a)) + LIMIT, name
    settle()
    return max(map(max, busy))


@test
def during_a_replace():
    "links go down, up and come while 10000 policies are replaced"
    # a host takes its time now and then, a transaction each time
    for n in range(3):
        busy = []
        with subprocess.Popen(srpol("replace", "-f", FILES[1 - n % 2])) as process:
            while process.poll() is None:
                busy.append(one_round())
        eq(process.returncode, 0)
        assert len(busy) > 10, busy
        worst = compare("replace", busy)
        if worst < WORST:
            break
    assert worst < WORST, worst
    policies = client.get("config")["used"]["policies"]
    eq(policies, POLICIES)


@test
def during_dumps():
    "the same while nobody dumps all policies again and again"
    readers = [subprocess.Popen(
        ["setpriv", "--reuid", str(NOBODY), "--clear-groups", "sh", "-c",
         'while "$@" >/dev/null; do :; done', "sh",
         *srpol("policy", "show")[:1], "policy", "show"],
        preexec_fn=lambda: net._setns(os.open(f"/run/netns/{ns.name}",
                                              os.O_RDONLY)))
        for _ in range(4)]
    busy = []
    end = time.monotonic() + 10
    try:
        while time.monotonic() < end:
            busy.append(one_round())
        eq([reader.poll() for reader in readers], [None] * 4, "who reads")
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()
    compare("dumps", busy)


@test
def all_follow():
    "afterwards every policy has what its paths are"
    settle()

    def followed(color):
        policy = client.get("policy", color=color,
                            endpoint=f"fd02::{color:x}")
        return all(li["state"] == "up" and li["buckets"]
                   for c in policy["candidate"] for li in c["segment_list"])

    for color in range(1, POLICIES + 1, 97):
        busywait(lambda color=color: followed(color), 60)


main()
