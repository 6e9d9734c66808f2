#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Ten thousand policies of eight segment lists each, sixteen thousand segment
lists in all, replaced as a whole, with the real data plane attached.

    v0 (uplink) ---------------- v1, whose address is a permanent neighbor

SRPOL_TIMEOUT=600
"""

import os
import struct
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from bpfmap import Map                                  # noqa: E402
from ktap import cleanup, eq, main, match, run, test    # noqa: E402
from srpol import BUILD                                 # noqa: E402

PINS = "/sys/fs/bpf/srpol"
FILE = os.path.join(os.environ.get("SRPOL_OUT", "/tmp"), "scale")
POLICIES, PATHS, LISTS = 10000, 16000, 8
BUCKETS = 128
MOST_POLICIES = 16383
SAMPLE = 97             # every so many policies are looked at in the maps

net.load_module()
cleanup(run, "rm", "-rf", PINS)
ns = net.Netns("link add v0 type veth peer name v1\n"
               "link set v0 up\nlink set v1 up\n"
               "addr add fd00:1::1/64 dev v0 nodad\n"
               "neigh add fd00:1::2 lladdr 02:00:00:00:00:02 dev v0\n")
client = ns.client()


def srpol(*words, check=True):
    return subprocess.run([f"{BUILD}/bin/srpol", "-n", ns.name, *words],
                          check=check, capture_output=True, text=True)


def lists_of(color, step):
    return [(color * LISTS + k * step) % PATHS + 1 for k in range(LISTS)]


def write(step, weights, policies=POLICIES):
    with open(FILE, "w", encoding="ascii") as file:
        for i in range(1, PATHS + 1):
            file.write(f"path add {i} segs fc00:0:{i:x}::,fc00:1:{i:x}:: "
                       "dev v0 via fd00:1::2\n")
        for color in range(1, policies + 1):
            words = "".join(f" segment-list {path} weight {weight}" for path, weight
                            in zip(lists_of(color, step), weights))
            file.write(f"policy add color {color} endpoint fd02::{color:x} "
                       f"candidate{words}\n")


def u32s(data):
    return struct.unpack(f"{len(data) // 4}I", data)


def pinned(name):
    return Map(f"{PINS}/{ns.name}/{name}")


def generation():
    """What packets see; one more with each transaction."""
    with pinned("state") as state:
        return u32s(state[struct.pack("I", 0)][:8])[1]


def buckets():
    """Of a sample of the policies: color to the buckets of each path."""
    found = {}
    gen = generation()
    with pinned("policies") as policies, pinned("bucket_rows") as rows:
        eq(rows.value_size, 2 * BUCKETS)
        for number in range(1, POLICIES + 1, SAMPLE):
            ver, color, *more = u32s(policies[struct.pack("I", number)])
            ahead = (2 * gen - (ver & ~1)) & 0x80000000
            copy = (ver & 1) ^ bool(ahead)
            row, n = more[6 + 10 * copy:][:2]
            eq(n, BUCKETS)
            row = struct.unpack(f"{BUCKETS}H", rows[struct.pack("I", row)])
            found[color] = {path: row.count(path) for path in set(row)}
    return found


def replaced(step, weights):
    write(step, weights)
    was = generation()
    srpol("replace", "-f", FILE)
    eq(generation(), was + 1, "one transaction")
    used = client.get("config")["used"]
    eq((used["policies"], used["paths"]), (POLICIES, PATHS))
    found = buckets()
    eq(len(found), len(range(1, POLICIES + 1, SAMPLE)))
    for color, by_path in found.items():
        expected = dict(zip(lists_of(color, step), weights))
        eq(set(by_path), set(expected), f"paths of color {color}")
        for path, n in by_path.items():
            share = BUCKETS * expected[path] / sum(weights)
            assert abs(n - share) < 1, (color, path, n, share)


@test
def all_new():
    "10000 policies, 16000 paths in one transaction"
    srpol("dev", "add", "v0", "role", "uplink")
    replaced(1, [1] * LISTS)


@test
def all_weights():
    "all policies with other weights"
    replaced(1, [1, 2, 3, 4, 1, 2, 3, 4])


@test
def all_lists():
    "all policies with other lists"
    replaced(3, [1] * LISTS)


@test
def too_many():
    "more than there is room for: refused, and nothing has changed"
    before = client.get("config"), buckets()
    write(5, [1] * LISTS, MOST_POLICIES + 1)
    result = srpol("replace", "-f", FILE, check=False)
    eq(result.returncode, 2)
    match(result.stderr, f"policy table is full \\({MOST_POLICIES}\\), "
                         "with what this transaction deletes")
    eq((client.get("config"), buckets()), before)


@test
def all_gone():
    "all of them removed in one transaction"
    with open(FILE, "w", encoding="ascii"):
        pass
    srpol("replace", "empty", "-f", FILE)
    config = client.get("config")
    eq([config["used"][what] for what in ("policies", "paths",
                                          "bucket_rows")], [0, 0, 0])
    srpol("dev", "del", "v0")


main()
