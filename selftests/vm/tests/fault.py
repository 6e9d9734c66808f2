#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Failing allocations: every request with its first, second, third ... allocation
made to fail. It is refused and nothing has changed, or it did not matter.

The module is built for this from the same sources with selftests/vm/fault,
because Debian's kernel has no failslab. The data plane is selftests/vm/mock.

    d0 (dummy, fd00:1::1/64, neighbors fd00:1::2 to ::9 permanent)
"""

import errno
import os
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import srpol                                            # noqa: E402
import mock                                             # noqa: E402
import net                                              # noqa: E402
from ktap import before, busywait, cleanup, eq, main, run, say, test  # noqa: E402
from srpol import BUILD, CHANGE, EXCL, KINDS, REPLACE, Refused  # noqa: E402

PARAMETERS = "/sys/module/srpol/parameters"
NO_MEMORY = (errno.ENOMEM, errno.ENOBUFS)

srpol.MODULE = f"{BUILD}/selftests/vm/fault/srpol.ko"
net.load_module()
ns = net.Netns("link add d0 type dummy\nlink set d0 up arp on\n"
               "link add d1 type dummy\n"
               "addr add fd00:1::1/64 dev d0 nodad\n")
with ns:
    ns.sysctl("net/ipv6/conf/d0/keep_addr_on_down", 1)
d0, d1 = ns.ifindex("d0"), ns.ifindex("d1")
client = ns.client()
# someone to notify
listener = ns.listener("config", "events")


def parameter(name, value=None):
    with open(f"{PARAMETERS}/{name}", "r+", encoding="ascii") as f:
        if value is None:
            return int(f.read())
        f.write(str(value))
        return value


def arm(nth):
    parameter("fault_hits", 0)
    parameter("fault_nth", nth)


def disarm():
    """Was there a failure?"""
    parameter("fault_nth", 0)
    return parameter("fault_hits") > 0


def neighbors():
    ns.ip("".join(f"neigh replace fd00:1::{j} lladdr 02:00:00:00:00:0{j} "
                  "dev d0\n" for j in range(2, 10)))


def mock_register():
    """False if it was refused."""
    try:
        mock.register(ns)
    except AssertionError:
        return False
    return True


def mock_remove():
    mock.detach(client)


cleanup(run, "rm", "-rf", mock.LINKS)
cleanup(mock.remove)

OBJECTS = [
    ("path-new", {"id": 1, "sids": ["fc00::1"], "ifindex": d0,
                  "via": "fd00:1::2"}),
    ("path-new", {"id": 2, "sids": ["fc00::1", "fc00::2"], "ifindex": d0,
                  "via": "fd00:1::3"}),
    ("path-new", {"id": 3, "sids": ["fc00::3"]}),
    ("policy-new", {"color": 1, "endpoint": "fd00::b", "backup_color": 2,
                    "candidate": [{"segment_list": [{"path": 1}, {"path": 2}]},
                                  {"segment_list": [{"path": 3}]}]}),
    ("rule-new", {"priority": 1, "color": 1}),
    ("endpoint-new", {"prefix": "fd00:b::", "prefix_len": 48,
                      "address": "fd00::b"}),
    ("sid-new", {"sid": "fc00:a::1", "behavior": 20}),
    ("dev-new", {"ifindex": d0, "role": "uplink"}),
]

REQUESTS = [
    ("path-new", EXCL, {"id": 9, "sids": ["fc00::9"], "ifindex": d0,
                        "via": "fd00:1::9"}),
    ("path-new", CHANGE, {"id": 1, "ifindex": d0, "via": "fd00:1::9"}),
    ("path-new", REPLACE, {"id": 2, "sids": ["fc00::9"]}),
    ("path-get", 0, {"id": 1}),
    ("policy-new", EXCL, {"color": 2, "endpoint": "fd00::b", "buckets": 512,
                          "candidate": [{"segment_list": [{"path": 1}]},
                                        {"segment_list": [{"path": 2}]}]}),
    ("policy-new", CHANGE, {"color": 1, "endpoint": "fd00::b",
                            "name": "changed"}),
    ("policy-new", CHANGE, {"color": 1, "endpoint": "fd00::b",
                            "buckets": 1024}),
    ("policy-new", REPLACE, {"color": 1, "endpoint": "fd00::b",
                             "candidate": [{"segment_list": [{"path": 2}]}]}),
    ("policy-get", 0, {"color": 1, "endpoint": "fd00::b"}),
    ("policy-del", 0, {"color": 1, "endpoint": "fd00::b"}),
    ("rule-new", EXCL, {"priority": 2, "color": 1}),
    ("rule-new", CHANGE, {"priority": 1, "color": 2}),
    ("rule-del", 0, {"priority": 1}),
    ("endpoint-new", EXCL, {"prefix": "::", "prefix_len": 0,
                            "address": "fd00::c"}),
    ("endpoint-new", CHANGE, {"prefix": "fd00:b::", "prefix_len": 48,
                              "address": "fd00::c"}),
    ("endpoint-del", 0, {"prefix": "fd00:b::", "prefix_len": 48}),
    ("sid-new", EXCL, {"sid": "fc00:a::2", "behavior": 1}),
    ("sid-new", CHANGE, {"sid": "fc00:a::1", "behavior": 1}),
    ("sid-new", CHANGE, {"sid": "fc00:a::1", "behavior": 5, "ifindex": d0,
                         "via": "fd00:1::8"}),
    ("sid-del", 0, {"sid": "fc00:a::1"}),
    ("dev-new", EXCL, {"ifindex": d1, "role": "uplink"}),
    ("dev-del", 0, {"ifindex": d0}),
    ("config-set", 0, {"hop_limit": 9}),
    ("config-set", 0, {"path_id": "tag", "flow_label": "zero"}),
    ("config-get", 0, {}),
]

# All of them but for those of devices and the reading ones, together.
TOGETHER = [(op, members, flags) for op, flags, members in REQUESTS
            if not op.startswith("dev-") and not op.endswith("-get")]


@before
def configure():
    """The configuration that the requests meet."""
    disarm()
    client.clear()
    client.config(hop_limit=64, path_id="none", flow_label="hash-qp")
    neighbors()
    for op, members in OBJECTS:
        client.op(op, members, EXCL)
    eq([p["state"] for p in client.dump("path")], ["up", "up", "unresolved"])


def picture():
    return client.picture()


def unchanged(was, what=""):
    """As it was, once the tick has tried again what it lacked memory for."""
    for _ in range(3):
        try:
            busywait(lambda: picture() == was, 2)
            return
        except AssertionError:
            continue
    eq(picture(), was, what)


def try_all(what):
    """Each request with each of its allocations failing."""
    refused = harmless = 0
    for op, flags, members in REQUESTS:
        was = picture()
        for nth in range(1, 30):
            arm(nth)
            try:
                client.op(op, members, flags)
            except Refused as why:
                assert disarm(), f"{op} {members} refused by itself: {why}"
                assert why.errno in NO_MEMORY, why
                unchanged(was, f"{op} {members} allocation {nth}")
                refused += 1
                continue
            hit = disarm()
            configure()
            was = picture()
            if not hit:
                break
            harmless += 1
        else:
            raise AssertionError(f"{op}: no end of allocations")
    say(f"{what}: {refused} refused, {harmless} that did not matter")
    assert refused >= len(REQUESTS), refused


def try_apply(what):
    """A transaction of everything, with each of its allocations failing."""
    was = picture()
    seen = mock.view() if "data_plane" in was["config"] else None
    refused = harmless = 0
    for nth in range(1, 400):
        arm(nth)
        try:
            client.apply(*TOGETHER)
        except Refused as why:
            assert disarm(), f"refused by itself: {why}"
            assert why.errno in NO_MEMORY, why
            unchanged(was, f"allocation {nth}")
            if seen:
                eq(mock.view(), seen, f"allocation {nth}")
                eq(mock.waiting(), [], f"allocation {nth}")
            refused += 1
            continue
        hit = disarm()
        configure()
        was = picture()
        seen = seen and mock.view()
        if not hit:
            break
        harmless += 1
    else:
        raise AssertionError("no end of allocations")
    say(f"{what}: {refused} refused, {harmless} that did not matter")
    assert refused > 20


@test
def transactions():
    "transactions without memory leave everything as it was"
    try_apply("no data plane")
    assert mock_register()
    try_apply("data plane")
    mock.contract_kept()
    mock_remove()


@test
def requests():
    "requests without memory, no data plane"
    try_all("no data plane")


@test
def requests_attached():
    "requests without memory, with a data plane"
    assert mock_register()
    try_all("data plane")
    mock_remove()


@test
def lost_notification():
    "a listener learns that a notification was lost"
    config = ns.listener("config")
    lost = False
    # the module's own work allocates as well, now and then
    for n in range(200):
        arm(1 + n % 20)
        try:
            client.change("path", id=1, name=f"name {n}")
        except Refused:
            continue
        finally:
            disarm()
        try:
            config.take()
        except OSError as why:
            eq(why.errno, errno.ENOBUFS)
            lost = True
            break
    config.close()
    assert lost, "nobody noticed"


@test
def dumps():
    "dumps allocate nothing that could fail"
    was = picture()
    for kind in KINDS:
        whole = client.dump(kind)
        for nth in range(1, 9):
            arm(nth)
            eq(client.dump(kind), whole, kind)
            disarm()
    unchanged(was)


@test
def events():
    "devices and routes without memory: in the end everything is up again"
    client.change("path", id=3, src="fd00:1::1")
    hits = 0
    for nth in range(1, 16):
        ns.ip("link set d0 down\n")
        arm(nth)
        ns.ip("link set d0 up\nroute add fc00::/16 via fd00:1::4\n")
        neighbors()
        busywait(lambda: {p["state"] for p in client.dump("path")} == {"up"})
        hits += disarm()
        ns.ip("route del fc00::/16\n")
        busywait(lambda: client.get("path", id=3)["state"] != "up")
    assert hits, "no allocation failed"


@test
def registration():
    "a data plane that could not be attached can be later"
    was = picture()
    refused = 0
    for nth in range(1, 9):
        arm(nth)
        done = mock_register()
        hit = disarm()
        if done:
            eq(client.get("config")["data_plane"], "mock")
            mock_remove()
        else:
            assert hit, "refused by itself"
            refused += 1
        unchanged(was)
        if not hit:
            break
    assert refused, "no allocation failed"
    assert mock_register()
    mock_remove()


main()
