#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Who may write: the owner of the network namespace and nobody else.

    init namespaces: root configures d0 (dummy) and objects in a namespace
    a child becomes uid nobody, with and without a user namespace of its own

The child reports by its exit status and what it writes to a pipe.
"""

import ctypes
import errno
import os
import sys
import traceback

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import before, eq, main, run, test            # noqa: E402
from srpol import (EXCL, KINDS, MODULE, Listener, Refused,  # noqa: E402
                   Srpol)

NOBODY = 65534
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000

net.load_module()
run("modprobe", "dummy")
ns = net.Netns("link add d0 type dummy\nlink set d0 up\n"
               "addr add fd00:1::1/64 dev d0 nodad\n"
               "neigh add fd00:1::2 lladdr 02:00:00:00:00:02 dev d0\n")
d0 = ns.ifindex("d0")
client = ns.client()


def objects(dev):
    """One of each kind."""
    return [
        ("path", {"id": 1, "sids": ["fc00::1"], "ifindex": dev,
                  "via": "fd00:1::2"}),
        ("policy", {"color": 1, "endpoint": "fd00::b",
                    "candidate": [{"segment_list": [{"path": 1}]}]}),
        ("rule", {"priority": 1, "color": 1}),
        ("endpoint", {"prefix": "fd00:b::", "prefix_len": 48,
                      "address": "fd00::b"}),
        ("sid", {"sid": "fc00:a::1", "behavior": 20}),
        ("dev", {"ifindex": dev, "role": "uplink"}),
    ]


KEYS = {"path": ["id"], "policy": ["color", "endpoint"],
        "rule": ["priority"], "endpoint": ["prefix", "prefix_len"],
        "sid": ["sid"], "dev": ["ifindex"]}

for kind_, members_ in objects(d0):
    client.new(kind_, **members_)
COMPLETE = client.everything()


@before
def unchanged():
    """Whatever a child did: the configuration is what it was."""
    eq(client.everything(), COMPLETE)


def child(fn, *args):
    """Run fn in a child; its exception is ours."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        status = 0
        try:
            fn(*args)
        except BaseException:
            status = 1
            os.write(writer, traceback.format_exc()[-3000:].encode())
        os._exit(status)
    os.close(writer)
    with open(reader, "rb") as f:
        said = f.read().decode()
    if os.waitpid(pid, 0)[1]:
        raise AssertionError(f"child: {said}")


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def writes(c):
    """All that can be written: operation and members."""
    for kind, members in objects(d0):
        key = {k: members[k] for k in KEYS[kind]}
        yield f"{kind}-new", members, EXCL
        yield f"{kind}-del", key, 0
        yield f"{kind}-del", {}, 0
    yield "path-verdict", {"id": 1, "verdict": "down", "lifetime": 9}, 0
    yield "config-set", {"hop_limit": 3}, 0
    yield "config-set", {}, 0
    yield "apply", {}, 0
    yield "apply", {"request": [{"message": c.message("rule-del",
                                                      {"priority": 1})}]}, 0


def all_refused(c):
    number = 0
    for op, members, flags in writes(c):
        try:
            c.op(op, members, flags)
        except Refused as why:
            eq(why.errno, errno.EPERM, op)
        else:
            raise AssertionError(f"{op} not refused")
        number += 1
    # every operation of the specification that is not for everyone
    protected = {n for n, op in c.ynl.ops.items()
                 if "uns-admin-perm" in op.yaml.get("flags", [])}
    eq({op for op, _, _ in writes(c)}, protected)


@test
def nobody_writes():
    "uid nobody: every write is refused with EPERM"
    def fn():
        become_nobody()
        all_refused(Srpol())
    with ns:
        child(fn)
    unchanged()


@test
def nobody_reads():
    "uid nobody: objects, settings and notifications can be read"
    def fn():
        become_nobody()
        c = Srpol()
        eq(c.everything(), COMPLETE)
        for kind, members in objects(d0):
            c.get(kind, **{k: members[k] for k in KEYS[kind]})
        listener = Listener("config", "events")
        with open("/proc/self/status", encoding="ascii") as f:
            assert "CapEff:\t0000000000000000" in f.read()
        listener.close()
    with ns:
        child(fn)


@test
def borrowed_socket():
    "a socket that root opened does not lend its rights, nor the reverse"
    def as_nobody():
        become_nobody()
        all_refused(client)

    def as_root():
        os.setresuid(NOBODY, NOBODY, 0)
        c = Srpol()
        os.setresuid(0, 0, 0)
        all_refused(c)
    child(as_nobody)
    with ns:
        child(as_root)
    unchanged()


def unshare():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    for name, value in (("setgroups", "deny"), ("gid_map", f"0 {NOBODY} 1"),
                        ("uid_map", f"0 {NOBODY} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as f:
            f.write(value)


@test
def user_namespace():
    "root of a user namespace writes in its own network namespace"
    def fn():
        become_nobody()
        # lets a process that changed its uid write to its own /proc files
        ctypes.CDLL(None).prctl(4, 1)
        inherited = client
        unshare()
        c = Srpol()
        for kind in KINDS:
            eq(c.dump(kind), [], kind)
        net.ip("link add d0 type dummy\nlink set d0 up\n"
               "addr add fd00:1::1/64 dev d0 nodad\n"
               "neigh add fd00:1::2 lladdr 02:00:00:00:00:02 dev d0\n")
        import socket
        dev = socket.if_nametoindex("d0")
        for kind, members in objects(dev):
            c.new(kind, **members)
        c.config(hop_limit=3)
        eq(c.get("config")["hop_limit"], 3)
        eq(c.get("path", id=1)["state"], "up")
        eq(c.get("policy", color=1, endpoint="fd00::b")["state"], "up")
        # the other namespace is out of reach even with a socket in it
        all_refused(inherited)
        for kind, members in reversed(objects(dev)):
            if kind == "path":
                continue
            c.delete(kind, **{k: members[k] for k in KEYS[kind]})
        c.delete("path", id=1)
    with ns:
        child(fn)
    unchanged()


@test
def user_namespace_same_net():
    "root of a user namespace that kept its network namespace writes nothing"
    def fn():
        become_nobody()
        ctypes.CDLL(None).prctl(4, 1)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWUSER):
            raise OSError(ctypes.get_errno(), "unshare")
        c = Srpol()
        with open("/proc/self/status", encoding="ascii") as f:
            assert "CapEff:\t0000000000000000" not in f.read()
        all_refused(c)
    with ns:
        child(fn)
    unchanged()



@test
def autoload():
    "nobody makes the kernel load the module by asking for its family"
    eq(run("modinfo", "-F", "alias", MODULE), "")


main()
