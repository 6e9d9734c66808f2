#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""When did the QPs of a dead spine move? Answered from captures.

capture.py HOST_PCAP SPINE_PCAP DEAD_SID SID...: HOST_PCAP holds what host A
sent (Ethernet, outer IPv6), SPINE_PCAP what reached the spine that died. The
cut is the last packet that got through to it. For each QP whose last packet
before the cut had DEAD_SID as its first segment, find its first packet with
another. Prints a JSON object.
"""

import ipaddress
import json
import struct
import sys

ROCE_PORT = 4791
HOLD = 0.9    # the path is tried again after 1 s


def packets(path):
    """Yield (time, frame) of a classic little-endian pcap of Ethernet."""
    with open(path, 'rb') as f:
        magic, = struct.unpack('<I', f.read(24)[:4])
        scale = {0xa1b2c3d4: 1e-6, 0xa1b23c4d: 1e-9}[magic]
        while True:
            head = f.read(16)
            if len(head) < 16:
                return
            sec, frac, caplen, _ = struct.unpack('<IIII', head)
            yield sec + frac * scale, f.read(caplen)


def parse(frame):
    """(first segment, destination QP) of an encapsulated RoCEv2 packet."""
    if frame[12:14] != b'\x86\xdd':
        return None
    dst, at, proto = frame[38:54], 54, frame[20]
    if proto == 43:
        proto, at = frame[at], at + 8 * (frame[at + 1] + 1)
    if proto == 41:
        proto, at = frame[at + 6], at + 40
    elif proto == 4:
        proto, at = frame[at + 9], at + 4 * (frame[at] & 15)
    if proto != 17 or len(frame) < at + 16:
        return None
    if struct.unpack('>H', frame[at + 2:at + 4])[0] != ROCE_PORT:
        return None
    return dst, int.from_bytes(frame[at + 13:at + 16], 'big')


def main():
    dead, *others = (ipaddress.ip_address(a).packed for a in sys.argv[3:])
    # Only packets for it: neighbor solicitations may come much later.
    cut = max(when for when, frame in packets(sys.argv[2])
              if frame[38:54] == dead)
    spine_of, moved, lost = {}, {}, 0
    for when, frame in packets(sys.argv[1]):
        parsed = parse(frame)
        if not parsed:
            continue
        sid, qp = parsed
        if sid != dead and sid not in others:
            continue
        if when < cut:
            spine_of[qp] = sid
        elif sid == dead:
            lost += when - cut < HOLD
        elif spine_of.get(qp) == dead and qp not in moved:
            moved[qp] = when
    on_dead = sorted(q for q, s in spine_of.items() if s == dead)
    times = sorted((t - cut) * 1e3 for t in moved.values())
    print(json.dumps({
        'qps_on_dead_spine': len(on_dead),
        'qps_moved': len(times),
        'first_ms': round(times[0], 3) if times else None,
        'median_ms': round(times[len(times) // 2], 3) if times else None,
        'lost': lost,
    }))


main()
