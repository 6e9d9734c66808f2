# SPDX-License-Identifier: GPL-2.0
"""
The data plane of selftests/vm/mock: registration, what it was told, what it is
to refuse.
"""

import errno
import os
import struct

from bpfmap import Map
from ktap import busywait, eq, run
from srpol import BUILD

BPFFS = "/sys/fs/bpf"
LINKS = f"{BPFFS}/mocklinks"
BPFTOOL = f"{BUILD}/tools/sbin/bpftool"

METHODS = ["", "reset", "config_set", "nexthop_set", "nexthop_del",
           "path_set", "path_state", "path_del", "row_set", "policy_set",
           "policy_hide", "policy_del", "rule_set", "rule_commit",
           "endpoint_set", "endpoint_hide", "endpoint_del",
           "endpoint_revert", "sid_set", "sid_hide", "sid_del",
           "sid_revert", "dev_set", "dev_del", "revert", "commit",
           "quote_check"]
BROKEN = ["row of a live policy written", "slot of a live rule written",
          "path over an unknown next hop", "next hop of a usable path removed",
          "path in a live table removed", "bucket of an unknown path",
          "state of an unknown path", "policy over a row never written",
          "removal of what is not there", "id of another SID in use",
          "path of a removed next hop set up", "removal of what is visible",
          "revert of what was not staged", "commit of nothing"]


def register(ns, size="large", links=LINKS):
    """Register it in a namespace; raises with what bpftool says if not."""
    for name in os.listdir(BPFFS):
        if name.startswith("mock_"):
            os.unlink(f"{BPFFS}/{name}")
    with ns:
        out = run(BPFTOOL, "struct_ops", "register",
                  f"{BUILD}/selftests/vm/mock/{size}.bpf.o", links,
                  check=False)
    if not os.path.exists(f"{links}/mock"):
        raise AssertionError(out)


def remove(links=LINKS):
    """Take the registration away, and the maps."""
    if os.path.exists(f"{links}/mock"):
        os.unlink(f"{links}/mock")
    for name in os.listdir(BPFFS):
        if name.startswith("mock_"):
            os.unlink(f"{BPFFS}/{name}")


def detach(client):
    """Take the registration away and wait until the module has noticed."""
    remove()
    busywait(lambda: "data_plane" not in client.get("config"))


def table(name):
    """One of its maps."""
    return Map(f"{BPFFS}/mock_{name}")


def control():
    """What the mock counts, as a dict."""
    with table("control") as m:
        v = u32s(m[b"\0\0\0\0"])
    return {"broken": v[3], "failed": v[4],
            "calls": dict(zip(METHODS, v[7:]))}


def fail(method="", skip=0, error=errno.EIO):
    """Refuse that call from now on, or none."""
    with table("control") as m:
        v = list(u32s(m[b"\0\0\0\0"]))
        v[:5] = METHODS.index(method), skip, error, v[3], 0
        m[b"\0\0\0\0"] = struct.pack(f"{len(v)}I", *v)


def label(value):
    """The flow label that quoted packets must have, 0 for any."""
    with table("control") as m:
        v = list(u32s(m[b"\0\0\0\0"]))
        v[6] = value
        m[b"\0\0\0\0"] = struct.pack(f"{len(v)}I", *v)


def generation():
    """Numbers of commits and of those that classify flows again."""
    with table("generation") as m:
        return u32s(m[b"\0\0\0\0"])


def contract_kept():
    broken = control()["broken"]
    eq([b for i, b in enumerate(BROKEN) if broken >> i & 1], [],
       "broken contract")


def u32s(data):
    return struct.unpack(f"{len(data) // 4}I", data)


def view():
    """
    What the mock was told, without what may differ after a replay. A row is
    written before the policy that uses it is published, by a commit, and the
    module commits by itself when a next hop changes: maps read before and
    after a commit do not belong together.
    """
    def undisturbed():
        commits = generation()[0]
        try:
            seen = one_view()
        except KeyError:
            return None         # a policy over a row that came after the rows
        return generation()[0] == commits and seen

    return busywait(undisturbed, what="commits without end, or a policy over a "
                                      "row never written")


def one_view():
    """One look at the maps, one after the other."""
    def values(name):
        with table(name) as m:
            return [v for _, v in m.items()]

    hops = {i: (dev, up) for i, dev, up in map(u32s, values("nexthops"))}
    paths = {}
    for v in values("paths"):
        id_, hop, up, mtu, length, off = struct.unpack_from("4I2H", v)
        # a path that is not up is not looked at
        paths[id_] = (hops.get(hop), mtu, length, off,
                      v[24:24 + 14 + length]) if up else None
    rows = {row: path for row, *path in
            (struct.unpack("I128H", v) for v in values("rows"))}
    policies = {}
    for v in values("policies"):
        id_, color, endpoint, row, n, mode, drop_upon_invalid, backup, *more = \
            struct.unpack("II16s10I", v)
        buckets = [p for r in range(row, row + n // 128) for p in rows[r]]
        policies[id_] = (color, endpoint, mode, drop_upon_invalid, backup, *more,
                         buckets)
    rules = {u32s(v[:4])[0]: v[4:] for v in values("rules")}
    with table("order") as m:
        order = m[b"\0\0\0\0"]
    n, key = u32s(order[:8])
    slots = u32s(order[264:264 + 4 * n])
    with table("config") as m:
        config = m[b"\0\0\0\0"]
    return {"paths": {i: p for i, p in paths.items() if p},
            "policies": policies, "rules": [rules[s] for s in slots],
            "key": key, "opclass": order[8:264],
            "endpoints": sorted(values("endpoints")),
            "sids": sorted(values("sids")), "devs": sorted(values("devs")),
            "config": config}


def waiting():
    """What was staged and neither committed nor taken back."""
    found = []
    for name in ("paths", "policies", "endpoints", "sids"):
        with table(f"next_{name}") as m:
            found += [(name, key) for key in m.keys()]
    with table("next_single") as m:
        config, order = u32s(m[b"\0\0\0\0"][:8])
    return found + ["config"] * config + ["order"] * order
