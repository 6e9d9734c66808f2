#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Documentation/examples/bgp_feed.py with a real gobgpd of host h0.0: switches of four planes, which
this test plays, announce what they reach of two other hosts, and how much that carries. What comes
of it is a feed that srpold accepts.
"""

import ipaddress
import json
import os
import socket
import struct
import subprocess
import sys
import time

import engine as e
from engine import BUILD, OUT, RUN, TOP, check, wait_for

GOBGPD, GOBGP = f"{BUILD}/tools/bin/gobgpd", f"{BUILD}/tools/bin/gobgp"
SRPOL, SRPOLD = f"{BUILD}/bin/srpol", f"{BUILD}/bin/srpold"
FEEDER = f"{TOP}/Documentation/examples/bgp_feed.py"
TOPOLOGY, FEED = f"{RUN}/topology.json", f"{RUN}/feed/feed.json"
PORT, API = 1790, 50051
RATE = 800 * 10**9
NON_TRANSITIVE, TRANSITIVE = 0x4004, 0x0004


def make_topology():
    text = subprocess.run(
        [SRPOL, "topology", "generate", "hosts", "3", "planes", "4", "nic-rate", "400G",
         "nic-cables", "2"], capture_output=True, check=True).stdout
    with open(TOPOLOGY, "wb") as f:
        f.write(text)
    return json.loads(text)


def configure(nics):
    with open(f"{RUN}/gobgpd.toml", "w", encoding="ascii") as f:
        f.write(f"""
[global.config]
  as = 65001
  router-id = "192.0.2.1"
  port = {PORT}
  local-address-list = [{", ".join(f'"{nic["address"]}"' for nic in nics)}]
""")
        for plane, nic in enumerate(nics):
            f.write(f"""
[[neighbors]]
  [neighbors.config]
    neighbor-address = "{nic["gateway"]}"
    peer-as = {65100 + plane}
  [neighbors.transport.config]
    passive-mode = true
  [neighbors.timers.config]
    idle-hold-time-after-reset = 1
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv6-unicast"
""")


class Switch:
    """Just enough of RFC 4271 and 4760 to announce routes."""

    def __init__(self, plane, nic):
        self.asn, self.address = 65100 + plane, nic["gateway"]
        self.peer = nic["address"]
        self.open()

    def try_to_open(self):
        self.s = socket.socket(socket.AF_INET6)
        self.s.bind((self.address, 0))
        self.s.settimeout(e.PATIENCE)
        self.s.connect((self.peer, PORT))
        caps = bytes((1, 4, 0, 2, 0, 1, 65, 4)) + struct.pack(">I", self.asn)
        self.tell(1, struct.pack(">BHHIBBB", 4, self.asn, 600, self.asn, 2 + len(caps), 2,
                                 len(caps)) + caps)
        for kind in (1, 4):
            header = self.s.recv(19, socket.MSG_WAITALL)
            if not header:
                raise ConnectionResetError(self.peer)
            size, told = struct.unpack(">HB", header[16:])
            self.s.recv(size - 19, socket.MSG_WAITALL)
            assert told == kind
            self.tell(4)
        return True

    def open(self):
        """gobgpd waits a while before it takes a neighbor, or takes one back."""
        wait_for("session", self.try_to_open)

    def tell(self, kind, body=b""):
        self.s.sendall(b"\xff" * 16 + struct.pack(">HB", 19 + len(body), kind) + body)

    def update(self, attributes):
        self.tell(2, struct.pack(">HH", 0, len(attributes)) + attributes)

    def announce(self, prefix, bit_rate=None, community=NON_TRANSITIVE):
        reach = b"\0\2\1\x10" + ipaddress.ip_address(self.address).packed + b"\0" + nlri(prefix)
        attributes = bytes((0x40, 1, 1, 0, 0x40, 2, 6, 2, 1)) + struct.pack(">I", self.asn)
        if bit_rate is not None:
            attributes += bytes((0xc0, 16, 8)) + struct.pack(
                ">HHf", community, self.asn % 65536, bit_rate / 8)
        self.update(attributes + bytes((0x80, 14, len(reach))) + reach)

    def withdraw(self, prefix):
        gone = b"\0\2\1" + nlri(prefix)
        self.update(bytes((0x80, 15, len(gone))) + gone)


def nlri(prefix):
    net = ipaddress.ip_network(prefix)
    return bytes([net.prefixlen]) + net.network_address.packed[:(net.prefixlen + 7) // 8]


def start_gobgpd():
    return e.Process("gobgpd", GOBGPD, "-f", f"{RUN}/gobgpd.toml", "--api-hosts",
                     f"127.0.0.1:{API}", "--log-plain")


def connected(nics):
    for nic in nics:
        with socket.create_connection((nic["address"], PORT)):
            pass
    with socket.create_connection(("127.0.0.1", API)):
        return True


def feed():
    try:
        with open(FEED, encoding="ascii") as f:
            return json.load(f)["links"]
    except FileNotFoundError:
        return None


def said_by_feeder():
    with open(f"{OUT}/feeder.log", encoding="utf-8") as f:
        return f.read()


def is_fed(name, *links):
    wait_for(name, lambda: feed() == list(links))
    check(name, True)


def is_taken(me):
    """By srpold, which reads it as it does when it is running."""
    config = f"{RUN}/srpold.json"
    with open(config, "w", encoding="ascii") as f:
        json.dump({"topology": TOPOLOGY, "hosts": [me], "weights": {"feed": FEED}}, f)
    done = subprocess.run([SRPOLD, "--check-config", "-c", config], capture_output=True,
                          text=True, check=False)
    check("srpold accepts that", done.returncode == 0, done.stderr)


def test_feed():
    topology = make_topology()
    me, b, c = topology["hosts"]
    nics = me["nics"]
    for nic in nics:
        for address in nic["address"], nic["gateway"]:
            subprocess.run(["ip", "addr", "add", f"{address}/128", "dev", "lo", "nodad"],
                           check=True)
    os.mkdir(os.path.dirname(FEED))
    configure(nics)
    server = start_gobgpd()
    wait_for("gobgpd", lambda: connected(nics))
    switches = [Switch(plane, nic) for plane, nic in enumerate(nics)]
    for host in b, c:
        for switch in switches:
            switch.announce(host["locator"])
    to_b = [{"from": b["name"], "to": nic["leaf"]} for nic in b["nics"]]
    to_c = [{"from": c["name"], "to": nic["leaf"]} for nic in c["nics"]]

    feeder = e.Process("feeder", FEEDER, TOPOLOGY, me["name"], FEED, "--gobgp",
                       f"{GOBGP} -p {API}", "--settle", "3600")
    is_fed("all is reached at its full rate: nothing is to be said")
    switches[3].announce(b["locator"], RATE / 2)
    half = {**to_b[3], "capacity": RATE // 2}
    is_fed("a cable of a peer is gone, half of the bandwidth is announced", half)
    is_taken(me["name"])
    switches[1].announce(c["locator"], RATE / 4, TRANSITIVE)
    is_fed("a transitive community counts as well", half, {**to_c[1], "capacity": RATE // 4})
    switches[1].announce(c["locator"], 2 * RATE)
    is_fed("no NIC has more than the topology says", half)
    switches[0].withdraw(c["locator"])
    down = {**to_c[0], "state": "down"}
    is_fed("what is withdrawn is down there, and nowhere else", half, down)
    is_taken(me["name"])
    switches[2].announce(b["locator"], 0)
    is_fed("so is a bandwidth of nothing", {**to_b[2], "state": "down"}, half, down)
    switches[2].announce(b["locator"])
    switches[0].announce("::/0")
    switches[3].announce(b["locator"])
    is_fed("a default route leads to no host; the peer's cable is back", down)
    folder = os.path.dirname(FEED)
    os.rename(folder, f"{folder}-away")
    subprocess.run([GOBGP, "-p", str(API), "global", "rib", "add", c["locator"], "-a", "ipv6"],
                   check=True)
    switches[3].announce(b["locator"], RATE / 2)
    wait_for("that it cannot be written", lambda: FEED + " cannot be written" in said_by_feeder())
    time.sleep(2)	# in which it tries again, and has said so
    os.rename(f"{folder}-away", folder)
    is_fed("it goes on when the feed can be written again; the host's own routes lead nowhere",
           half, down)
    switches[3].announce(b["locator"])
    is_fed("the cable is back once more", down)
    switches[0].s.close()
    is_fed("a switch without a session says nothing")
    switches[0].open()
    switches[0].announce(b["locator"])
    switches[1].withdraw(b["locator"])
    is_fed("nor of what it has not announced since it is back", {**to_b[1], "state": "down"})
    stands = os.stat(FEED).st_mtime_ns
    server.end()
    time.sleep(3)
    check("without gobgpd the feed stays", os.stat(FEED).st_mtime_ns == stands)
    server = start_gobgpd()
    wait_for("gobgpd", lambda: connected(nics))
    for switch in switches:
        switch.open()
    for switch in switches[:3]:
        switch.announce(b["locator"])
    switches[3].announce(b["locator"], RATE / 2)
    is_fed("it comes back", half)
    check("the feeder ends as it should", feeder.end() == 0)
    feeder = e.Process("feeder", FEEDER, TOPOLOGY, me["name"], FEED, "--gobgp",
                       f"{GOBGP} -p {API}", "--settle", "1")
    is_fed("what was never announced is down once there was time for it", half,
           *({**link, "state": "down"} for link in to_c))
    is_taken(me["name"])
    check("and ends again", feeder.end() == 0)
    check("nothing but the feed is left", os.listdir(os.path.dirname(FEED)) == ["feed.json"])
    said = said_by_feeder()
    check("it said once that gobgpd was gone, and that the feed could not be written",
          said.count("no answer, the feed stays") == 1 and said.count(" cannot be written: ") == 1 and
          said.count("\n") == 2, said)
    done = subprocess.run([FEEDER, TOPOLOGY, "nobody", FEED], capture_output=True, text=True,
                          check=False)
    check("a host that is none is refused", done.returncode == 1 and
          "no host nobody" in done.stderr, done.stderr)
    check("gobgpd ends as it should", server.end() == 0)


if __name__ == "__main__":
    if "SRPOL_OWN_NETNS" not in os.environ:
        os.environ["SRPOL_OWN_NETNS"] = "1"
        os.execvp("unshare", ["unshare", "--net", *(["-r"] if os.geteuid() else []), "sh", "-c",
                              'ip link set lo up && exec "$0" "$@"', sys.executable, *sys.argv])
    sys.exit(e.main((test_feed,)))
