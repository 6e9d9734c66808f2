#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The module with its real data plane, attached and detached by the srpol
command: replay, and loading and unloading while packets flow.

    A                                    B
    fd00:1::1/64  v0 ---------------- v0  fd00:1::2/64

Both are namespaces; v0 of A becomes the uplink.
"""

import os
import struct
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from bpfmap import Map                                  # noqa: E402
from ktap import busywait, cleanup, eq, main, run, test  # noqa: E402
from srpol import BUILD                                 # noqa: E402

PINS = "/sys/fs/bpf/srpol"
ROUNDS = 4

net.load_module()
cleanup(run, "rm", "-rf", PINS)
b = net.Netns()
a = net.Netns("link add v0 mtu 9000 type veth peer name v0 mtu 9000 "
              f"netns {b.name}\n")
for ns_, last_ in ((a, 1), (b, 2)):
    ns_.ip(f"link set v0 up\naddr add fd00:1::{last_}/64 dev v0 nodad\n")
v0 = a.ifindex("v0")


def srpol(*words):
    """Run the command for namespace A."""
    return run(f"{BUILD}/bin/srpol", "-n", a.name, *words)


def pinned(name):
    return Map(f"{PINS}/{a.name}/{name}")


def users():
    with open("/sys/module/srpol/refcnt", encoding="ascii") as f:
        return int(f.read())


def configure(client):
    """Steers what goes to fd00:1::2 over path 1; path 2 is out of service."""
    for i in (1, 2, 3):
        client.new("path", id=i, sids=[f"fc00::{i}"],
                   **({"ifindex": v0, "via": "fd00:1::2"} if i < 3 else {}),
                   admin_down=i == 2)
    busywait(lambda: client.get("path", id=1)["state"] == "up")
    client.new("policy", color=1, endpoint="fd00::b",
               candidate=[{"segment_list": [{"path": 1}, {"path": 2}]}])
    client.new("policy", color=2, endpoint="::")
    client.new("rule", priority=1, color=1)
    client.new("endpoint", prefix="fd00:1::2", address="fd00::b")
    client.new("sid", sid="fc00:a::1", behavior=20)


def forget(client):
    for kind, key in (("policy", ("color", "endpoint")), ("path", ("id",)),
                      ("rule", ("priority",)),
                      ("endpoint", ("prefix", "prefix_len")),
                      ("sid", ("sid",))):
        for obj in client.dump(kind):
            client.delete(kind, **{k: obj[k] for k in key})


def words(data):
    return struct.unpack(f"{len(data) // 4}I", data)


@test
def replay():
    "attached by the command it takes everything, and lets go of it"
    client = a.client()
    configure(client)
    srpol("dev", "add", "v0", "role", "uplink")
    config = client.get("config")
    eq(config["data_plane"], "ebpf")
    assert users(), "the module can be unloaded"
    assert subprocess.run(["rmmod", "srpol"], check=False,
                          capture_output=True).returncode, "unloaded"
    with pinned("paths") as m:
        eq(m.max_entries, config["limits"]["paths"])
        for i, up, present in ((1, 1, 1), (2, 0, 1), (3, 0, 0)):
            eq(words(m[struct.pack("I", i)])[1:3], (up, present), f"path {i}")
    for name, kind in (("policies", "policy_index"), ("sids", "sids"),
                       ("endpoints", "endpoint_index"), ("devs", "devices")):
        with pinned(kind) as m:
            eq(len(m.keys()), config["used"][name], kind)
            eq(m.max_entries, config["limits"][name], kind)
    eq([d["ifindex"] for d in client.dump("dev")], [v0])
    srpol("dev", "del", "v0")
    busywait(lambda: not users())
    assert "data_plane" not in client.get("config")
    eq(client.dump("dev"), [])
    eq(os.path.exists(f"{PINS}/{a.name}"), False)
    forget(client)
    client.close()


@test
def under_traffic():
    "load, attach, change, detach and unload while packets flow"
    ping = subprocess.Popen(
        ["ip", "netns", "exec", a.name, "ping", "-q", "-i", "0.01",
         "fd00:1::2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(ROUNDS):
            client = a.client()
            configure(client)
            srpol("dev", "add", "v0", "role", "uplink")

            def steered():
                with pinned("flow_sets") as sets:
                    return any(any(tags) for _, tags in sets.items())

            busywait(steered, 10, "a flow in the flow table")
            client.change("path", id=1, sids=["fc00::1", "fc00::2"])
            client.change("path", id=2, admin_down=0)
            client.change("policy", color=1, endpoint="fd00::b", buckets=256)
            client.replace("rule", priority=1, action="bypass")
            assert ping.poll() is None, "ping has ended"
            srpol("dev", "del", "v0")
            busywait(lambda: not users())
            client.close()
            net.unload_module()
            run("insmod", net.srpol.MODULE)
            net.srpol.forget_family()
    finally:
        ping.kill()
        ping.wait()


@test
def namespace_ends():
    "a namespace ends while attached; its pins are all that is left"
    client = a.client()
    configure(client)
    srpol("dev", "add", "v0", "role", "uplink")
    client.close()
    folder = f"{PINS}/{a.name}"
    net.ip(f"link add {a.name} type veth peer name end netns {a.name}\n")
    name = a.name
    a.delete()
    busywait(lambda: not os.path.exists(f"/sys/class/net/{name}"))
    run("rm", "-r", folder)
    busywait(lambda: not users())


main()
