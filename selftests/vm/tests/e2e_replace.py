# SPDX-License-Identifier: GPL-2.0
"""
Part of e2e_replace.sh:

    e2e_replace.py send PROGRESS STOP CAPTURE...
                                        packets of all policies in turn, numbered,
                                        a line in PROGRESS each round, until
                                        the file STOP is there; never so many
                                        that a capture loses some
    e2e_replace.py all NUMBER CAPTURE...	true if each has that many packets
    e2e_replace.py judge SENT ARRIVED   which path each packet took, and whether
                                        it arrived

The judge prints "ok NAME" or "not ok NAME | WHY".
"""

import os
import socket
import struct
import sys
import time

POLICIES = int(os.environ["POLICIES"])
FIRST_PORT = int(os.environ["FIRST_PORT"])
SWITCHES = 3                    # old to new, back, and to new again
ETH, IPV6, SRH, UDP = 14, 40, 8, 8
SPINE = struct.Struct(">H")     # third word of fc00:0:2N::1


def send(progress, stop, *captures):
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s, \
            open(progress, "a", encoding="ascii") as rounds:
        s.bind(("fd00:a::1", 0))
        number = 0
        while not os.path.exists(stop):
            for n in range(1, POLICIES + 1):
                s.sendto(struct.pack(">Q", number),
                         ("fd00:b::1", FIRST_PORT + n))
                number += 1
            print(number, file=rounds, flush=True)
            # tcpdump writes each by itself; this many it can leave for later
            while not are_all(number - 10000, *captures):
                time.sleep(0.01)


def packets(name):
    """(number, policy, spine) of each packet, in order of capture."""
    with open(name, "rb") as f:
        data = f.read()
    at = 24
    while at + 16 <= len(data):
        length, = struct.unpack_from("<I", data, at + 8)
        frame = data[at + 16:at + 16 + length]
        at += 16 + length
        srh = ETH + IPV6
        # element 0 is the last segment; what the reduced SRH leaves out, the
        # spine, is in the destination until it was visited
        spine, = SPINE.unpack_from(frame, ETH + 24 + 4)
        inner = srh + (frame[srh + 1] + 1) * 8
        port, = struct.unpack_from(">H", frame, inner + IPV6 + 2)
        number, = struct.unpack_from(">Q", frame, inner + IPV6 + UDP)
        yield number, port - FIRST_PORT, spine - 0x20


def are_all(number, *captures):
    """All packets are of one size: no need to read them."""
    for name in captures if int(number) > 0 else ():
        with open(name, "rb") as f:
            head = f.read(24 + 16)
        if len(head) < 24 + 16:
            return False
        length, = struct.unpack_from("<I", head, 24 + 8)
        if os.stat(name).st_size < 24 + int(number) * (16 + length):
            return False
    return True


def report(name, why):
    print(f"not ok {name} | {why}" if why else f"ok {name}")


def judge(sent_file, arrived_file):
    sent = list(packets(sent_file))
    arrived = {number for number, _, _ in packets(arrived_file)}
    lost = [number for number, _, _ in sent if number not in arrived]
    print(f"# {len(sent)} packets")
    report("packets of all policies were seen",
           len(sent) < 4 * POLICIES and f"only {len(sent)}")
    numbers = [number for number, _, _ in sent]
    report("every packet was steered, in order",
           numbers != list(range(len(numbers))) and "numbers are missing")
    report("none was lost", lost and f"{len(lost)} lost, first {lost[0]}")
    wrong = [p for p in sent if p[2] not in (1 + p[1] % 2, 3 + p[1] % 2)]
    report("none took a path of neither configuration",
           wrong and f"{len(wrong)}, first {wrong[0]}")
    new = [spine >= 3 for _, _, spine in sent]
    switches = sum(a != b for a, b in zip(new, new[1:]))
    report("all policies moved at one point, each time",
           switches != SWITCHES and f"{switches} changes, not {SWITCHES}")


if sys.argv[1] == "send":
    send(*sys.argv[2:])
elif sys.argv[1] == "all":
    sys.exit(not are_all(*sys.argv[2:]))
else:
    judge(*sys.argv[2:])
