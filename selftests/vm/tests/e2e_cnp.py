# SPDX-License-Identifier: GPL-2.0
"""
The notification point of DCQCN, which rxe does not have:

    e2e_cnp.py DEVICE RDMA_DEVICE LOG

answers each CE-marked RoCEv2 packet that comes in on DEVICE with a CNP, at
most one per QP and 5 ms, until it is killed. Which QP to name is what RDMA
netlink says. A line in LOG for each: time, QP.
"""

import ipaddress
import json
import socket
import struct
import subprocess
import sys
import time
import zlib

ETH_P_IPV6 = 0x86dd
ROCE_PORT = 4791
IPV6, UDP, BTH, ICRC = 40, 8, 12, 4
CNP, BECN, CE = 0x81, 0x40, 3
CNP_RESERVED = 16
INTERVAL = 0.005


def icrc(src, dst, udp, bth, rest):
    """IBTA annex A17.3.3: fields that may change on the way are ones."""
    length = UDP + len(bth) + len(rest) + ICRC
    masked = b"\xff" * 8 + b"\x6f\xff\xff\xff" + \
        struct.pack(">HBB", length, socket.IPPROTO_UDP, 0xff) + src + dst + \
        udp[:6] + b"\xff\xff" + bth[:4] + b"\xff" + bth[5:] + rest
    return struct.pack("<I", zlib.crc32(masked))


def cnp(src, dst, qp):
    length = UDP + BTH + CNP_RESERVED + ICRC
    udp = struct.pack(">HHHH", 49152, ROCE_PORT, length, 0)
    bth = struct.pack(">BBHII", CNP, 0, 0xffff, BECN << 24 | qp, 0)
    rest = bytes(CNP_RESERVED)
    return udp + bth + rest + icrc(src, dst, udp, bth, rest)


class Qps:
    """Remote QP by local QP."""

    def __init__(self, device):
        self.device = device
        self.remote = {}

    def __getitem__(self, local):
        if local not in self.remote:
            out = subprocess.run(["rdma", "-j", "-d", "resource", "show",
                                  "qp", "link", self.device], text=True,
                                 stdout=subprocess.PIPE, check=True).stdout
            self.remote = {q["lqpn"]: q["rqpn"] for q in json.loads(out)
                           if "rqpn" in q}
        return self.remote.get(local)


def main(dev, rdma_dev, log):
    qps = Qps(rdma_dev)
    last = {}
    receiver = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                             socket.htons(ETH_P_IPV6))
    receiver.bind((dev, ETH_P_IPV6))
    sender = None
    with open(log, "w", encoding="ascii", buffering=1) as lines:
        print("ready", file=lines)
        while True:
            packet, where = receiver.recvfrom(256)
            if where[2] == socket.PACKET_OUTGOING or \
                    packet[6] != socket.IPPROTO_UDP or \
                    packet[1] >> 4 & 3 != CE:
                continue
            port, = struct.unpack_from(">H", packet, IPV6 + 2)
            if port != ROCE_PORT:
                continue
            qp = struct.unpack_from(">I", packet, IPV6 + UDP + 4)[0] & 0xffffff
            now = time.monotonic()
            if now - last.get(qp, 0) < INTERVAL or qps[qp] is None:
                continue
            last[qp] = now
            src, dst = packet[24:40], packet[8:24]
            if not sender:
                # the source decides over the way out where both ends are
                # addresses of one namespace
                sender = socket.socket(socket.AF_INET6, socket.SOCK_RAW,
                                       socket.IPPROTO_UDP)
                sender.bind((str(ipaddress.IPv6Address(src)), 0))
            sender.sendto(cnp(src, dst, qps[qp]),
                          (str(ipaddress.IPv6Address(dst)), 0))
            print(now, qp, file=lines)


main(*sys.argv[1:])
