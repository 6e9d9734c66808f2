#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What XDP forwards passes by what there is at the device it leaves by, and with
"config set remembered-routes off" does not.

    fabric f0 ---- u0 ns (uplink, decapsulates) p0 (port) ---- eth0 pod
    frames: plain, from a packet socket    2001:db8:1::2, 10.1.0.2

u0 is a veth, from which XDP does not forward as its frames need not be plain;
these are, so that it is put into the map as another device would be.

SRPOL_TIMEOUT=600
"""

import glob
import json
import socket
import struct

from cli_lib import net, srpol
from bpfmap import Map
from ktap import busywait, cleanup, eq, main, run, test

PODS = {6: "2001:db8:1::2", 4: "10.1.0.2"}
FAMILY = {6: socket.AF_INET6, 4: socket.AF_INET}
SID = "fc00:a::d6"

fabric, host, pod = net.Netns(), net.Netns(), net.Netns()
host.ip(f"link add u0 type veth peer f0 netns {fabric.name}\n"
        f"link add p0 type veth peer eth0 netns {pod.name}\n"
        "addr add fd00:1::1/64 dev u0 nodad\nlink set u0 up\n"
        "addr add 2001:db8:1::1/64 dev p0 nodad\n"
        "addr add 10.1.0.1/24 dev p0\nlink set p0 up\n"
        "route add blackhole 10.77.0.0/16\n"
        # the stack, which could refuse it, has packets without a way back
        "route add 192.0.2.0/24 dev u0\n")
fabric.ip("link set f0 up\n")
pod.ip("addr add 2001:db8:1::2/64 dev eth0 nodad\n"
       "addr add 10.1.0.2/24 dev eth0\nlink set eth0 up\n"
       "route add default via 2001:db8:1::1\nroute add default via 10.1.0.1\n")
with host:
    host.sysctl("net/ipv6/conf/all/forwarding", 1)
    host.sysctl("net/ipv4/ip_forward", 1)
# a veth takes frames from XDP while its peer has NAPI
pod.run("ethtool", "-K", "eth0", "gro", "on")


def address(ns, dev):
    return ns.run("cat", f"/sys/class/net/{dev}/address").strip()


# a filter that drops all would take solicitations, too
host.ip("".join(f"neigh replace {PODS[v]} lladdr {address(pod, 'eth0')} dev p0 "
                "nud permanent\n" for v in PODS))
pod.ip("".join(f"neigh replace {router} lladdr {address(host, 'p0')} dev eth0 "
               "nud permanent\n" for router in ("2001:db8:1::1", "10.1.0.1")))
pod.run("ping", "-c1", "-W20", "2001:db8:1::1")
pod.run("ping", "-c1", "-W20", "10.1.0.1")


def mac(ns, dev):
    return bytes.fromhex(address(ns, dev).replace(":", ""))


def packed(address):
    return socket.inet_pton(socket.AF_INET6 if ":" in address else
                            socket.AF_INET, address)


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def datagram(family, dst, payload):
    """From another tenant's host, to port 9."""
    length = 8 + len(payload)
    if family == 6:
        src, dst = packed("2001:db8:b::1"), packed(dst)
        pseudo = src + dst + struct.pack("!II", length, 17)
    else:
        src, dst = packed("192.0.2.1"), packed(dst)
        pseudo = src + dst + struct.pack("!HH", 17, length)
    udp = struct.pack("!HHHH", 4000, 9, length, 0) + payload
    udp = udp[:6] + struct.pack("!H", checksum(pseudo + udp)) + payload
    if family == 6:
        return struct.pack("!IHBB", 6 << 28, length, 17, 64) + src + dst + udp
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, 17, 0) \
        + src + dst
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + udp


FRAME = mac(host, "u0") + mac(fabric, "f0") + b"\x86\xdd"
with fabric:
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    wire.bind(("f0", 0))
ears = {}
with pod:
    for version, address in PODS.items():
        ears[version] = socket.socket(FAMILY[version], socket.SOCK_DGRAM)
        ears[version].bind((address, 9))
        ears[version].settimeout(20)
sent = 0


def send(family, dst=None):
    """A datagram, encapsulated; what it holds."""
    global sent
    sent += 1
    payload = f"number {sent:08}".encode()
    inner = datagram(family, dst or PODS[family], payload)
    outer = struct.pack("!IHBB", 6 << 28, len(inner),
                        41 if family == 6 else 4, 64)
    wire.send(FRAME + outer + packed("fc00:9::1") + packed(SID) + inner)
    return payload


def arrives(family):
    payload = send(family)
    while ears[family].recv(100) != payload:
        pass


def count(reason):
    stats = json.loads(srpol("-j", "stats", "show", "all", netns=host.name))
    return sum(s["packets"] for s in stats if s["reason"] == reason)


def dropped():
    """What the filter at the exit device has dropped."""
    return json.loads(run("tc", "-n", host.name, "-j", "-s", "filter", "show",
                          "dev", "p0", "egress"))[1]["options"]["actions"][0][
                              "stats"]["packets"]


def forwards(family):
    """Does XDP forward it?"""
    before = count("forwarded")
    arrives(family)
    return count("forwarded") > before


def filtered(n, family):
    before = dropped()
    for _ in range(n):
        send(family)
    # multicast listener reports are dropped there, too
    busywait(lambda: dropped() >= before + n, 20)


@test
def on():
    "on, the default: XDP forwards, past a filter at the device it leaves by"
    for family in PODS:
        busywait(lambda: forwards(family), 20)
    host.run("tc", "qdisc", "add", "dev", "p0", "clsact")
    host.run("tc", "filter", "add", "dev", "p0", "egress", "protocol", "all",
             "matchall", "action", "drop")
    for family in PODS:
        before = count("forwarded"), dropped()
        for _ in range(50):
            send(family)

        def past():
            """All came to XDP or the filter; so many passed that by."""
            now = count("forwarded") - before[0]
            return now + dropped() - before[1] >= 50 and now
        # but for the first ones after a pause, which go to the stack
        passed = busywait(past, 20)
        eq([ears[family].recv(100)[:7] for _ in range(passed)],
           [b"number "] * passed, "what passed by arrives")


@test
def off():
    "off: within a second the stack forwards, and the filter drops"
    srpol("config", "set", "remembered-routes", "off", netns=host.name)
    for family in PODS:
        def seen():
            before = dropped()
            send(family)
            return dropped() > before
        busywait(seen, 20)
    before = count("forwarded")
    for family in PODS:
        filtered(20, family)
    eq(count("forwarded"), before, "XDP forwarded none")
    for family, ear in ears.items():
        ear.settimeout(0)
        heard = []
        try:
            while True:
                heard.append(ear.recv(100))
        except BlockingIOError:
            pass
        eq(f"number {sent:08}".encode() in heard, False, family)
        ear.settimeout(20)
    host.run("tc", "filter", "del", "dev", "p0", "egress")
    for family in PODS:
        eq(forwards(family), False, "without the filter they arrive")


@test
def routes():
    "a route that becomes a blackhole counts at once, with on as well"
    srpol("config", "set", "remembered-routes", "on", netns=host.name)
    for family in PODS:
        busywait(lambda: forwards(family), 20)
    host.ip("route add blackhole 2001:db8:1::2/128\n"
            "route add blackhole 10.1.0.2/32\n")
    before = count("forwarded")
    for family in PODS:
        for _ in range(5):
            send(family)
    host.ip("route del blackhole 2001:db8:1::2/128\n"
            "route del blackhole 10.1.0.2/32\n")
    eq(count("forwarded"), before, "none is forwarded")
    for family in PODS:
        busywait(lambda: forwards(family), 20)


@test
def soft_uplinks():
    "XDP does not forward from a VLAN device on a veth: checksums are pending"
    host.ip("link add link u0 name u7 up type vlan id 7\n")
    cleanup(lambda: srpol(batch="dev del u7\n", netns=host.name))
    srpol(batch="dev add u7 role uplink\n", netns=host.name)
    with Map(found[0]) as devices:
        eq([struct.unpack("=I", key)[0] for key in devices.keys()],
           [host.ifindex("u0")], "only the device that was put there here")


srpol(batch=f"sid add {SID} behavior End.DT46\n"
      "dev add u0 role uplink xdp native\ndev add p0 role port\n",
      netns=host.name)
cleanup(lambda: srpol(batch="dev del u0\ndev del p0\n", netns=host.name))
found = glob.glob("/sys/fs/bpf/srpol/*/forward_from")
eq(len(found), 1, "data planes")
with Map(found[0]) as plain:
    index = struct.pack("=I", host.ifindex("u0"))
    plain[index] = index.ljust(plain.value_size, b"\0")
main()
