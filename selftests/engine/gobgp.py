#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What "srpol export gobgp" writes, given to a real gobgpd (Debian's 3.10) as its
documentation says, with curl: the headend it is for, a BGP speaker of this test,
hears of it what RFC 9830 says, byte by byte from gobgpd's own encoder.
"""

import ipaddress
import socket
import struct
import subprocess
import sys

import engine as e
from engine import BUILD, OUT, RUN, check, wait_for

GOBGPD, GOBGP = f"{BUILD}/tools/bin/gobgpd", f"{BUILD}/tools/bin/gobgp"
ROUTES = f"{BUILD}/selftests/engine/gobgp_routes"
API = "127.0.0.1:50051"
CONFIG = """
[global.config]
  as = 65000
  router-id = "192.0.2.1"
  port = 1790
  local-address-list = ["127.0.0.1"]
[[neighbors]]
  [neighbors.config]
    neighbor-address = "127.0.0.2"
    peer-as = 65000
  [neighbors.transport.config]
    passive-mode = true
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv6-srpolicy"
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv4-srpolicy"
"""


class Headend:
    """Just enough of RFC 4271 to hear updates of SAFI 73."""

    def __init__(self):
        self.s = socket.socket()
        self.s.bind(("127.0.0.2", 0))
        self.s.settimeout(e.PATIENCE)
        self.s.connect(("127.0.0.1", 1790))
        caps = bytes((1, 4, 0, 2, 0, 73, 1, 4, 0, 1, 0, 73,
                      65, 4)) + struct.pack(">I", 65000)
        self.tell(1, struct.pack(">BHHIBBB", 4, 65000, 600, 0xc0000202,
                                 2 + len(caps), 2, len(caps)) + caps)
        assert self.hear()[0] == 1
        self.tell(4)
        assert self.hear()[0] == 4

    def tell(self, kind, body=b""):
        self.s.sendall(b"\xff" * 16 + struct.pack(">HB", 19 + len(body), kind)
                       + body)

    def read(self, n):
        data = b""
        while len(data) < n:
            more = self.s.recv(n - len(data))
            if not more:
                raise OSError("gobgpd closed the session")
            data += more
        return data

    def hear(self):
        n, kind = struct.unpack(">HB", self.read(19)[16:])
        return kind, self.read(n - 19)

    def routes(self, n):
        """The next so many routes, by color and distinguisher."""
        found = {}
        while len(found) < n:
            kind, body = self.hear()
            if kind != 2:
                self.tell(4)
                continue
            route = attributes(body)
            if route:
                found[route["color"], route["distinguisher"]] = route
        return found


def attributes(body):
    route, at = {}, 4 + struct.unpack(">H", body[:2])[0]
    while at < len(body):
        flags, kind = body[at], body[at + 1]
        size = 2 if flags & 0x10 else 1
        n = int.from_bytes(body[at + 2:at + 2 + size], "big")
        value = body[at + 2 + size:at + 2 + size + n]
        at += 2 + size + n
        if kind == 14:			# MP_REACH_NLRI
            assert value[:3] in (b"\0\1\x49", b"\0\2\x49")
            nlri = value[5 + value[3]:]
            assert nlri[0] == 8 * (len(nlri) - 1) == (192 if value[1] == 2
                                                      else 96)
            route["distinguisher"], route["color"] = struct.unpack(
                ">II", nlri[1:9])
            route["endpoint"] = address(nlri[9:])
        elif kind == 16:		# extended communities
            route["communities"] = value.hex()
        elif kind == 23:		# tunnel encapsulation
            assert struct.unpack(">HH", value[:4]) == (15, n - 4)
            route.update(sub_tlvs(value[4:]))
    return route


def address(data):
    return str(ipaddress.ip_address(data))


def tlvs(data):
    while data:
        size = 2 if data[0] >= 128 else 1
        n = int.from_bytes(data[1:1 + size], "big")
        yield data[0], data[1 + size:1 + size + n]
        data = data[1 + size + n:]


def sub_tlvs(data):
    route = {"lists": []}
    for kind, value in tlvs(data):
        if kind == 12:
            route["preference"] = struct.unpack(">HI", value)[1]
        elif kind == 13:
            route["bsid"] = address(value[2:])
        elif kind == 129:
            route["name"] = value[1:].decode()
        elif kind == 128:
            sids, weight = [], None
            for part, what in tlvs(value[1:]):
                if part == 9:
                    weight = struct.unpack(">HI", what)[1]
                else:
                    assert part == 13 and len(what) == 18, (part, what)
                    sids.append(address(what[2:]))
            route["lists"].append((weight, sids))
        else:
            route[kind] = value.hex()
    return route


def give(body):
    """As srpol-export(8) says; gRPC's own status."""
    done = subprocess.run(
        ["curl", "-sS", "--http2-prior-knowledge", "-H",
         "content-type: application/grpc", "-H", "te: trailers",
         "--data-binary", "@-", "-D", "-", "-o", f"{OUT}/answer",
         f"http://{API}/apipb.GobgpApi/AddPathStream"],
        input=body, capture_output=True, timeout=e.PATIENCE, check=False)
    lines = dict(line.split(": ", 1) for line in
                 done.stdout.decode().splitlines() if ": " in line)
    return int(lines["grpc-status"])


def written(*words):
    return subprocess.run([ROUTES, *words], capture_output=True,
                          check=True).stdout


def up():
    with socket.create_connection(("127.0.0.1", 50051)):
        pass
    return Headend()


TAIL = ["fc00:0:12::1", "fc00:0:b::d6"]
TARGET = "0102c00002020000"		# of 192.0.2.2


def test_gobgp():
    with open(f"{RUN}/gobgpd.toml", "w", encoding="ascii") as f:
        f.write(CONFIG)
    server = e.Process("gobgpd", GOBGPD, "-f", f"{RUN}/gobgpd.toml",
                       "--api-hosts", API, "--log-plain")
    headend = wait_for("gobgpd", up)
    check("gobgpd takes what is written", give(written()) == 0)
    routes = headend.routes(4)
    check("the headend has color, endpoint, preference, name, binding SID, lists and weights",
          routes[99, 1] == {
              "distinguisher": 1, "color": 99, "endpoint": "fd00:b::1",
              "communities": TARGET, "preference": 200, "name": "train",
              "bsid": "fc00:0:b6:1:2:3:4:5",
              "lists": [(3, ["fc00:0:21::1", *TAIL]),
                        (1, ["fc00:0:22::a1", *TAIL])]}, routes)
    check("each candidate path is a route; compressed lists are their containers",
          routes[99, 2] == {
              "distinguisher": 2, "color": 99, "endpoint": "fd00:b::1",
              "communities": TARGET, "preference": 100,
              "bsid": "fc00:0:b6:1:2:3:4:5",
              "lists": [(65535, ["fcbb:bb00:22:12:b::"])]}, routes)
    last = {"distinguisher": 1, "color": 4294967295, "endpoint": "::",
            "communities": TARGET, "preference": 0,
            "lists": [(1, ["fc00:0:22::a1", *TAIL])]}
    check("without a binding SID, to any endpoint",
          routes[4294967295, 1] == last, routes)
    check("to an IPv4 endpoint", routes[7, 1] == {
        "distinguisher": 1, "color": 7, "endpoint": "10.0.0.1",
        "communities": TARGET, "preference": 100,
        "lists": [(1, ["fcbb:bb00:22:12:b::"])]}, routes)
    check("written anew with another preference",
          give(written("7")) == 0 and headend.routes(1) == {
              (4294967295, 1): {**last, "preference": 7}})
    # 8 bytes of preference, 8 of the name, 53 lists of 72
    large = subprocess.run([ROUTES, "0", "53"], capture_output=True, check=True)
    check("as much as a message of BGP has room for is told",
          give(large.stdout) == 0 and
          [len(r["lists"]) for k, r in sorted(headend.routes(3).items())] ==
          [1, 53, 1])
    large = subprocess.run([ROUTES, "1", "54"], capture_output=True, check=False)
    check("more is left out, and said, as gobgpd would take it and tell nobody",
          large.returncode == 2 and give(large.stdout) == 0 and
          b"color 8 endpoint fd00:b::1 left out: the segment lists of preference 100 are 3904 bytes"
          in large.stderr and large.stdout.count(b"apipb.SRPolicyNLRI") == 2,
          large.stderr)
    check("what is cut off is refused", give(written()[:-1]) != 0)
    done = subprocess.run([GOBGP, "global", "rib", "-a", "ipv6-srpolicy"],
                          capture_output=True, text=True, check=False)
    check("gobgp itself does not know the family, which is why",
          done.returncode != 0 and "unsupported address family" in
          done.stdout + done.stderr, done)
    headend.s.close()
    check("gobgpd ends as it should", server.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_gobgp,)))
