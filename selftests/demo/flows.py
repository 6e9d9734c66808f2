#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""flows.py A B: two thousand UDP flows from each of two addresses to the
other, all at the same pace, until it is ended."""

import resource
import socket
import sys
import time

FLOWS = 2000
PORT = 9999


def udp(address, port):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.bind((address, port))
    return s


def main():
    a, b = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_NOFILE, (3 * FLOWS, 3 * FLOWS))
    # nobody reads there, but then nobody answers that the port is closed
    sinks = [udp(a, PORT), udp(b, PORT)]
    flows = [(udp(src, 20000 + i), (dst, PORT)) for i in range(FLOWS)
             for src, dst in ((a, b), (b, a))]
    while sinks:
        for s, to in flows:
            s.sendto(bytes(1000), to)
        time.sleep(0.5)


main()
