# SPDX-License-Identifier: GPL-2.0
"""Packets made by hand."""

import struct

from srpol import packed


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ip6(src, dst, nexthdr, payload, hop_limit=64, version=6, label=0):
    return struct.pack("!IHBB", version << 28 | label, len(payload), nexthdr,
                       hop_limit) + packed(src) + packed(dst) + payload
