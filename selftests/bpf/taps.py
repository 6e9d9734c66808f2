#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A virtual machine's network, without the machine.

    taps.py [--fragments] NETNS DEV NETNS DEV

Two taps as a hypervisor opens them, virtio headers and all offloads: what leaves
one comes in by the other, with its pending checksum, its segment size and all
its 64 KiB. So the second namespace is to the first what a guest with virtio-net
is to its host. With --fragments the first tap makes packets of which no more
than the Ethernet header is linear, as some drivers do.

Prints "ready" and goes on until it is ended.
"""
import argparse
import ctypes
import fcntl
import os
import select
import struct

TUNSETIFF, TUNSETOFFLOAD = 0x400454ca, 0x400454d0
IFF_TAP, IFF_NAPI, IFF_NAPI_FRAGS = 0x0002, 0x0010, 0x0020
IFF_NO_PI, IFF_VNET_HDR = 0x1000, 0x4000
CSUM, TSO4, TSO6, TSO_ECN, USO4, USO6 = 1, 2, 4, 8, 0x20, 0x40
CLONE_NEWNET = 0x40000000
VNET_HDR = 10
PAGE = 4096

libc = ctypes.CDLL(None, use_errno=True)


def tap(netns, dev, flags=0):
    "A tap that is up, MTU 9000; the process stays in its namespace."
    with open(f"/run/netns/{netns}", "rb") as ns:
        if libc.setns(ns.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack(
        "16sH22x", dev.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | flags))
    fcntl.ioctl(fd, TUNSETOFFLOAD, CSUM | TSO4 | TSO6 | TSO_ECN | USO4 | USO6)
    os.spawnlp(os.P_WAIT, "ip", "ip", "link", "set", dev, "mtu", "9000", "up")
    return fd


def pieces(frame):
    "virtio header, Ethernet header, and then as much as fits a fragment"
    rest = memoryview(frame)[VNET_HDR + 14:]
    return ([frame[:VNET_HDR], frame[VNET_HDR:VNET_HDR + 14]] +
            [rest[at:at + PAGE] for at in range(0, len(rest), PAGE)])


def carry(source, sink, fragments):
    "All that waits there, as wires do: what finds no room is lost."
    while True:
        try:
            frame = os.read(source, VNET_HDR + 14 + 65536 + 4)
        except BlockingIOError:
            return
        try:
            os.writev(sink, pieces(frame) if fragments else [frame])
        except OSError:
            pass


def main():
    "Carry frames both ways."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fragments", action="store_true")
    parser.add_argument("netns_a")
    parser.add_argument("dev_a")
    parser.add_argument("netns_b")
    parser.add_argument("dev_b")
    args = parser.parse_args()
    ends = (tap(args.netns_a, args.dev_a,
                IFF_NAPI | IFF_NAPI_FRAGS if args.fragments else 0),
            tap(args.netns_b, args.dev_b))
    print("ready", flush=True)
    poll = select.poll()
    for fd in ends:
        poll.register(fd, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == ends[1]:
                carry(ends[1], ends[0], args.fragments)
            else:
                carry(ends[0], ends[1], False)


main()
