#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Thousands of malformed messages: valid requests of every kind with lengths,
types, nesting, flags or bytes spoilt. A refused one must not change anything,
an accepted one must leave a configuration that can be dumped, and the kernel
must not complain.

The seed is printed; SRPOL_SEED=N in the environment repeats a run,
SRPOL_MESSAGES=N changes the number of messages.

    d0 (dummy, up, fd00:1::1/64, neighbor fd00:1::2)

All in one namespace.
"""

import collections
import errno
import os
import random
import re
import struct
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import eq, main, run, say, test               # noqa: E402
from rawnl import RawSocket                             # noqa: E402
from srpol import (CHANGE, EXCL, REPLACE, Netlink, Refused,     # noqa: E402
                   encode, nested)

SEED = int(os.environ.get("SRPOL_SEED", "20260611"))
MESSAGES = int(os.environ.get("SRPOL_MESSAGES", "4000"))
NEST = Netlink.NLA_F_NESTED

net.load_module()
ns = net.Netns("link add d0 type dummy\nlink set d0 up\n"
               "addr add fd00:1::1/64 dev d0 nodad\n"
               "neigh add fd00:1::2 lladdr 02:00:00:00:00:02 dev d0\n")
d0 = ns.ifindex("d0")
client = ns.client()
with ns:
    raw = RawSocket()
family = client.ynl.nlproto.family_id

CANDIDATES = [{"preference": 200, "name": "first",
               "segment_list": [{"path": 1, "weight": 2}, {"path": 2}]},
              {"preference": 50, "protocol_origin": 20, "asn": 65000,
               "node": "fd00::9", "discriminator": 5,
               "segment_list": [{"path": 2, "weight": 1}]}]

BASE = [
    ("path-new", {"id": 1, "sids": ["fc00::1"], "ifindex": d0,
                  "via": "fd00:1::2"}),
    ("path-new", {"id": 2, "sids": ["fc00::1", "fc00::2"], "encap": "full"}),
    ("policy-new", {"color": 1, "endpoint": "fd00::b",
                    "candidate": CANDIDATES}),
    ("rule-new", {"priority": 1, "color": 1, "proto": 17, "qp_min": 5}),
    ("endpoint-new", {"prefix": "fd00:b::", "prefix_len": 48,
                      "address": "fd00::b"}),
    ("sid-new", {"sid": "fc00:a::1", "behavior": 20}),
    ("dev-new", {"ifindex": d0, "role": "uplink"}),
]

VALID = BASE + [
    ("path-new", {"id": 3, "name": "three", "origin": "engine",
                  "sids": [f"fc00::{i}" for i in range(1, 17)],
                  "encap": "full", "src": "fd00:1::1", "ifindex": d0,
                  "via": "fd00:1::2", "admin_down": 1, "block_len": 112,
                  "tlv": [{"type": 9, "value": b"1234567"}, {"type": 10}],
                  "timestamp": 1}),
    ("path-new", {"id": 4, "sids": ["fcbb:bb00:1:2:3::"], "block_len": 32,
                  "csid_len": 16, "timestamp": 1}),
    ("policy-new", {"color": 2, "endpoint": "::", "name": "two",
                    "bsid": "fc00:b::2", "buckets": 512, "backup_color": 1,
                    "drop_upon_invalid": 1, "mode": "active-backup", "symmetric": 1,
                    "spray": "random", "flowlet_timeout": 5, "threshold": 6,
                    "dwell_time": 7, "wait_to_restore": 8,
                    "candidate": CANDIDATES}),
    ("rule-new", {"priority": 2, "name": "two", "action": "steer",
                   "color": 3, "ifindex": d0, "mark": 1, "mark_mask": 255,
                   "src": "fd00:a::", "src_len": 64, "dst": "fd00:b::",
                   "dst_len": 48, "proto": 17, "sport_min": 1,
                   "sport_max": 9, "dport_min": 4791, "qp_min": 1,
                   "qp_max": 9, "opcode": [0, 4, 255], "dscp": 3,
                   "pkey": 7, "vlan": 8, "cgroup": 1, "mode": "spray",
                   "ordering": "weak"}),
    ("sid-new", {"sid": "fc00:a:1::", "behavior": 52, "prefix_len": 64,
                 "block_len": 32, "ifindex": d0, "via": "fd00:1::2"}),
    ("sid-new", {"sid": "fc00:a:2::", "behavior": 17, "ifindex": d0,
                 "via": "10.0.0.1", "dscp_mode": "uniform"}),
    ("config-set", {"src": "fd00:1::1", "hop_limit": 9, "dscp_mode": "pipe",
                    "dscp": 3, "flow_label": "zero", "icmp_errors": 0,
                    "retry_interval": 5, "path_id": "tag", "psn_observer": 1,
                    "drop_events": 7, "remembered_routes": 0, "sr_domain": [
                        {"prefix": "fd00::", "prefix_len": 8},
                        {"prefix": "fc00::", "prefix_len": 8}]}),
    ("path-get", {"id": 1}), ("path-del", {"id": 2}),
    ("policy-get", {"color": 1, "endpoint": "fd00::b"}),
    ("policy-del", {"color": 1, "endpoint": "fd00::b"}),
    ("rule-get", {"priority": 1}), ("rule-del", {"priority": 1}),
    ("endpoint-get", {"prefix": "fd00:b::", "prefix_len": 48}),
    ("endpoint-del", {"prefix": "fd00:b::", "prefix_len": 48}),
    ("sid-get", {"sid": "fc00:a::1"}), ("sid-del", {"sid": "fc00:a::1"}),
    ("dev-get", {"ifindex": d0}), ("dev-del", {"ifindex": d0}),
    ("config-get", {}),
]


def attribute_offsets(body, start=0, end=None):
    """Where attributes begin, those in nests included."""
    end = len(body) if end is None else end
    found = []
    while start + 4 <= end:
        length, kind = struct.unpack_from("HH", body, start)
        if length < 4:
            break
        found.append(start)
        if kind & NEST:
            found += attribute_offsets(body, start + 4,
                                       min(start + length, end))
        start += (length + 3) & ~3
    return found


def spoil(rng, body):
    """Change one thing; body is what follows the generic netlink header."""
    body = bytearray(body)
    offsets = attribute_offsets(body)
    at = rng.choice(offsets) if offsets else 0
    if not offsets:
        return body + rng.randbytes(rng.randrange(1, 40))
    length, kind = struct.unpack_from("HH", body, at)

    def put(new_length, new_kind):
        struct.pack_into("HH", body, at, new_length & 0xffff,
                         new_kind & 0xffff)

    what = rng.randrange(12)
    if what == 0:               # a wrong length
        put(rng.choice((0, 1, 3, 4, 5, length - 1, length + 1, length + 4,
                        0xffff, rng.randrange(0x10000))), kind)
    elif what == 1:             # another attribute
        put(length, rng.choice((0, kind ^ 1, rng.randrange(40),
                                0x3fff, rng.randrange(0x10000))))
    elif what == 2:             # nest flag or byte order flag
        put(length, kind ^ rng.choice((0x8000, 0x4000, 0xc000)))
    elif what == 3:             # random bytes in the value
        for _ in range(rng.randrange(1, 5)):
            if length > 4:
                body[min(at + 4 + rng.randrange(length - 4),
                         len(body) - 1)] = rng.randrange(256)
    elif what == 4:             # cut off
        del body[rng.randrange(len(body)):]
    elif what == 5:             # twice
        body[at:at] = body[at:at + ((length + 3) & ~3)]
    elif what == 6:             # gone
        del body[at:at + ((length + 3) & ~3)]
    elif what == 7:             # something behind
        body += rng.randbytes(rng.randrange(1, 64))
    elif what == 8:             # extreme numbers
        if length == 8 and at + 8 <= len(body):
            struct.pack_into("I", body, at + 4, rng.choice(
                (0, 1, 2, 127, 128, 255, 256, 1023, 16383, 16384, 65535,
                 65536, 0x7fffffff, 0x80000000, 0xffffffff)))
    elif what == 9:             # an unknown attribute in between
        body[at:at] = struct.pack("HH", 8, rng.randrange(30, 200)) + \
            rng.randbytes(4)
    elif what == 10:            # many of the same
        piece = bytes(body[at:at + ((length + 3) & ~3)])
        body[at:at] = piece * rng.choice((8, 17, 65, 300))
    else:                       # bytes anywhere
        for _ in range(rng.randrange(1, 8)):
            body[rng.randrange(len(body))] = rng.randrange(256)
    return body[:60000]


def configure():
    """The configuration that the messages meet."""
    client.clear()
    for op, members in BASE:
        client.op(op, members, EXCL)


def transactions(rng, valid):
    """Bodies of apply: valid, spoilt and much spoilt writes."""
    writes = [v for v in valid if not v[0].endswith("-get")]
    messages = []
    for _ in range(rng.choice((1, 2, 3, 8))):
        _, cmd, body = rng.choice(writes)
        if rng.randrange(3) == 0:
            body = spoil(rng, body)
        flags = 5 | rng.choice((EXCL, REPLACE, REPLACE, CHANGE, 0))
        message = struct.pack("IHHIIBBH", 20 + len(body), 0, flags, 0, 0,
                              cmd, 1, 0) + body
        if rng.randrange(6) == 0:
            message = bytearray(message)
            for _ in range(rng.randrange(1, 4)):
                message[rng.randrange(20)] = rng.randrange(256)
        messages.append(nested(1, nested(1, bytes(message), 0)))
    return b"".join(messages)


def complaints():
    """What the kernel has logged that it should not."""
    return [line for line in run("dmesg").splitlines()
            if re.search("WARNING|BUG|Oops|UBSAN|KASAN|Call Trace", line)]


@test
def spoilt():
    "malformed messages are refused without effect or do no harm"
    rng = random.Random(SEED)
    say(f"SRPOL_SEED={SEED} SRPOL_MESSAGES={MESSAGES}")
    valid = []
    for op, members in VALID:
        message = client.ynl._encode_message(client.ynl.ops[op],
                                             encode(members), [], 1)
        valid.append((op, client.ynl.ops[op].req_value, message[20:]))
    configure()
    before = client.everything()
    generation = client.get("config")["generation"]
    errors = collections.Counter()
    accepted = 0
    for n in range(MESSAGES):
        op, cmd, body = rng.choice(valid)
        times = rng.choice((1, 1, 1, 2, 3)) if body else 1
        if n % 4 == 0:
            op, cmd = "apply", client.ynl.ops["apply"].req_value
            body = transactions(rng, valid)
            times = rng.choice((0, 0, 0, 1, 2))
        for _ in range(times):
            body = spoil(rng, body)
        flags = rng.choice((EXCL, EXCL, REPLACE, REPLACE, CHANGE, 0,
                            Netlink.NLM_F_DUMP, rng.randrange(0x10000)))
        if rng.randrange(20) == 0:
            cmd = rng.randrange(256)
        message = raw.message(family, cmd, bytes(body), flags,
                              version=rng.choice((1, 1, 0, 255)),
                              reserved=rng.choice((0, 0, 0xffff)))
        try:
            error = raw.errno(message)
        except TimeoutError:
            raise AssertionError(f"message {n} ({op}) was not answered: "
                                 f"{message.hex()}") from None
        errors[error] += 1
        now = client.get("config")["generation"]
        if error:
            eq(now, generation, f"generation after refused message {n} "
               f"({op}) {errno.errorcode[error]} {message.hex()}")
        elif now != generation:
            accepted += 1
            if accepted % 8 == 0:
                configure()
            before = client.everything()
            generation = client.get("config")["generation"]
        if n % 50 == 0:
            eq(client.everything(), before, f"after message {n}")
    say(", ".join(f"{errno.errorcode.get(e, 'accepted')} {count}"
                  for e, count in errors.most_common()))
    assert sum(errors.values()) - errors[0] >= MESSAGES / 2, "too tame"
    # some change something, and some are refused for what is configured
    assert accepted >= MESSAGES / 100, f"too wild: {accepted} accepted"
    assert {errno.EBUSY, errno.EEXIST, errno.ENOENT} <= errors.keys(), errors
    eq(complaints(), [])




@test
def still_alive():
    "after that everything can still be configured, dumped and deleted"
    configure()
    for kind in ("path", "policy", "rule", "endpoint", "sid", "dev"):
        assert client.dump(kind), kind
    eq(client.get("policy", color=1, endpoint="fd00::b")["state"], "up")
    try:
        client.delete("path", id=1)
    except Refused as why:
        eq(why.errno, errno.EBUSY)
    else:
        raise AssertionError("not refused")


main()
