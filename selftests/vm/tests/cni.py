#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srpol as a chained CNI plugin, after Debian's own plugins, called as a container
runtime calls them.

    pod eth0 ---- vethX ns (a port while the pod lives)    u0 (uplink) ---- u1

Color 1 leads by SID fc00::1, color 2 by fc00::2: what comes out at u1 says which
color a packet had.

SRPOL_TIMEOUT=1500
"""

import functools
import json
import os
import shutil
import socket
import subprocess
import tempfile

# before the module is loaded: a pod that is deleted on a machine without it
BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(
    os.path.abspath(__file__)), "../../../build"))
NO_MODULE = {command: subprocess.run(
    [f"{BUILD}/cni/srpol"], input='{"cniVersion": "1.0.0", "name": "pods"}',
    text=True, capture_output=True, check=False,
    env={"CNI_COMMAND": command, "CNI_CONTAINERID": "c", "CNI_IFNAME": "eth0"})
             for command in ("DEL", "VERSION")}

from cli_lib import TOP, forget, ns, show, srpol             # noqa: E402
from cni_lib import (BRIDGE, DATA, PTP, SRPOL, Call, Pod,
                     refusal)                                # noqa: E402
from ktap import before, busywait, cleanup, eq, main, match, test  # noqa: E402

VERSION, FIELD, ENVIRONMENT, DECODE, CONFIG = 1, 2, 4, 6, 7
COLOR, NO_PORT, REFUSED, MISSING = 100, 101, 102, 103
FAR = {6: "2001:db8:b::1", 4: "192.0.2.1"}
FAMILY = {6: socket.AF_INET6, 4: socket.AF_INET}


def srpol_with(**members):
    return {**SRPOL, **members}


def state():
    """All that srpol has, and which devices there are."""
    links = json.loads(ns.run("ip", "-j", "link", "show"))
    return (srpol("export", "srpol"), show("rule"),
            [d["dev"] for d in show("dev")], [l["ifname"] for l in links])


@before
def clean():
    """What a test that failed has left."""
    srpol(batch="".join([f"rule del prio {r['prio']}\n" for r in show("rule")
                         if r["prio"] != 9] +
                        [f"dev del {d['dev']}\n" for d in show("dev")
                         if d["dev"] != "u0"]))
    if not show("dev"):
        srpol("dev", "add", "u0")


def leaves_nothing(fn):
    """A test after which everything is as before."""
    @functools.wraps(fn)
    def both():
        was = state()
        fn()
        eq(state(), was, "afterwards")
    return test(both)


class Sniffer:
    """What comes out at the other end of the uplink."""

    def __init__(self):
        with ns:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                        socket.htons(0x86dd))
        self.socket.bind(("u1", 0x86dd))
        self.socket.settimeout(20)

    def sid(self, payload):
        """Destination of the outer header of the packet that holds this."""
        while True:
            frame = self.socket.recv(2000)
            if payload in frame:
                return socket.inet_ntop(socket.AF_INET6, frame[38:54])


def send(pod, family, source=None):
    """Send a datagram with a payload that no other has; return that."""
    with pod.netns:
        s = socket.socket(FAMILY[family], socket.SOCK_DGRAM)
    payload = os.urandom(32)
    with s:
        s.bind((source or pod.address(family), 0))
        s.sendto(payload, (FAR[family], 9))
    return payload


def color_of(pod, family):
    """By which color is that steered which a pod sends?"""
    sniffer = Sniffer()
    with sniffer.socket:
        return int(sniffer.sid(send(pod, family)).rpartition(":")[2])


def spoofed():
    """Packets dropped for their source."""
    def walk(value):
        if isinstance(value, list):
            return sum(map(walk, value))
        if not isinstance(value, dict):
            return 0
        if value.get("reason") == "spoofed":
            return value["packets"]
        return sum(map(walk, value.values()))

    return walk(json.loads(srpol("-j", "stats", "show", "all")))


@leaves_nothing
def life():
    "a pod: its packets are steered, the result is handed on, DEL leaves nothing"
    was = state()
    pod = Pod().add()
    eq(pod.results[-1], pod.results[-2], "the result")
    pod.check()
    port, = (d for d in show("dev") if d["dev"] == pod.veth())
    eq((port["role"], port["source"], port["ingress_attached"]),
       ("port", "strict", True), "the port")
    rules = {r["match"]["src"]: r for r in show("rule") if r["prio"] != 9}
    eq(set(rules), {pod.address(4) + "/32", pod.address(6) + "/128"},
       "sources")
    for rule in rules.values():
        eq((rule["match"]["dev"], rule["color"], rule["reason"]),
           (pod.veth(), 1, "none"), "a rule")
        match(rule["name"], "^cni-[0-9a-f]{26}$", "name")
    for family in 4, 6:
        eq(color_of(pod, family), 1, f"IPv{family}")
    pod.delete()
    eq(state(), was, "afterwards")
    pod.delete()
    eq(state(), was, "once more")


@leaves_nothing
def two_pods():
    "two pods: each has the color it asks for, and not the other's address"
    one = Pod().add()
    two = Pod(annotations={"srpol/color": "2", "other": "x"}).add()
    for pod, color in (one, 1), (two, 2):
        for family in 4, 6:
            eq(color_of(pod, family), color, f"color {color}")
    one.netns.ip(f"addr add {two.address(4)}/32 dev eth0\n"
                 f"addr add {two.address(6)}/128 dev eth0 nodad\n")
    for family in 4, 6:
        was = spoofed()
        send(one, family, two.address(family))
        busywait(lambda was=was: spoofed() > was, 20,
                 f"IPv{family}: another pod's address is dropped")
    one.delete()
    eq(color_of(two, 6), 2, "the other one is still there")
    two.check()
    two.delete()


def choose(pod, color, plugin=SRPOL, namespace=None, asked=None, args=()):
    """ADD and DEL of the last plugin with these; None: refused."""
    pod.plugins = (*pod.plugins[:-1], plugin)
    pod.args = ";".join(("IgnoreUnknown=1", f"K8S_POD_NAMESPACE={namespace}",
                         *args))
    pod.annotations = {"srpol/color": asked} if asked else {}
    what = f"{plugin} {namespace} {asked} {args}"
    if color is None:
        eq(refusal(pod.add_last().result).code, COLOR, what)
    else:
        eq(pod.add_last().result(), pod.results[-1], what)
        pod.call("CHECK", plugin, pod.results[-1]).result()
    eq({r["color"] for r in show("rule") if r["prio"] != 9},
       {color} if color else set(), what)
    eq(pod.veth() in [d["dev"] for d in show("dev")], bool(color), "port")
    if color is not None:
        pod.del_last().result()
        eq([d["dev"] for d in show("dev")], ["u0"], "ports, afterwards")


@leaves_nothing
def asking():
    "which color: by annotation, args.cni, CNI_ARGS, and the namespace's own"
    tenants = srpol_with(namespaces={"blue": {"color": 2},
                                     "none": {"colors": [1]}})
    del tenants["color"]
    del tenants["colors"]
    pod = Pod()
    pod.add_first()
    choose(pod, 2, args=["SRPOL_COLOR=2"])
    choose(pod, 2, srpol_with(args={"cni": {"color": 2}}))
    choose(pod, 2, tenants, "blue")
    choose(pod, 0, tenants, "none")
    choose(pod, 1, tenants, "none", asked="1")
    choose(pod, 0, tenants, "green")
    for asked in "3", "1x", "0":
        choose(pod, None, asked=asked)
    choose(pod, None, asked="2", args=["SRPOL_COLOR=1"])
    choose(pod, None, tenants, "blue", asked="1")
    choose(pod, None, tenants, "green", asked="2")
    pod.plugins = (PTP, SRPOL)
    pod.delete()


@leaves_nothing
def undone():
    "what fails half-way is undone"
    # port and one of two rules would fit
    srpol("rule", "add", "prio", "6", "bypass")
    pod = Pod(PTP, srpol_with(prio=[5, 6]))
    pod.add_first()
    was = state()
    refused = refusal(pod.add_last().result)
    eq(refused.code, REFUSED)
    match(refused.error["details"], "priorities from 5 to 6 are taken")
    eq(state(), was, "as before")
    pod.delete()
    srpol("rule", "del", "prio", "6")

    # the module takes the port, but the kernel does not take the program: there
    # is something else where it would be pinned
    pod = Pod()
    pod.add_first()
    was = state()
    ifindex = ns.ifindex(pod.veth())
    pin = f"/sys/fs/bpf/srpol/{ns.name}/link_tc_{ifindex}"
    os.mkdir(pin)
    refused = refusal(pod.add_last().result)
    eq(refused.code, REFUSED)
    os.rmdir(pin)
    eq(state(), was, "as before")
    pod.results.append(pod.add_last().result())
    pod.check()
    pod.delete()

    # nobody takes the result
    pod = Pod()
    pod.add_first()
    was = state()
    with open("/dev/full", "wb") as full, ns:
        done = subprocess.run(
            [f"{BUILD}/cni/srpol"], stdout=full, check=False, text=True,
            input=json.dumps(pod.config(SRPOL, pod.results[-1])),
            env=pod.env("ADD"))
    eq(done.returncode, 1, "status")
    eq(state(), was, "as before")
    # nor is there anybody any more
    reader, writer = os.pipe()
    os.close(reader)
    with ns:
        done = subprocess.run(
            [f"{BUILD}/cni/srpol"], stdout=writer, check=False, text=True,
            input=json.dumps(pod.config(SRPOL, pod.results[-1])),
            env=pod.env("ADD"))
    os.close(writer)
    eq(done.returncode, 1, "status")
    eq(state(), was, "as before")
    pod.delete()


@leaves_nothing
def checks():
    "CHECK finds what somebody has taken away or changed"
    pod = Pod().add()
    prio = max(r["prio"] for r in show("rule"))

    def missing(pattern):
        refused = refusal(pod.check)
        eq(refused.code, MISSING, pattern)
        match(refused.error["msg"], pattern)

    srpol("rule", "change", "prio", str(prio), "color", "2")
    missing("gives color 1")
    srpol("rule", "change", "prio", str(prio), "color", "1")
    pod.check()
    srpol("rule", "del", "prio", str(prio))
    missing("gives color 1 to what .* sends")
    # ADD has what is missing made anew, and nothing twice
    pod.add_last().result()
    pod.check()
    eq(len(show("rule")), 3, "rules")
    # as if an ADD had been killed before the program was there
    os.unlink(f"/sys/fs/bpf/srpol/{ns.name}/link_tc_{ns.ifindex(pod.veth())}")
    missing("program of ports is not on")
    pod.add_last().result()
    pod.check()
    srpol("dev", "del", pod.veth())
    missing("is no port")
    srpol("dev", "add", pod.veth(), "role", "port", "source", "none")
    missing("source none")
    eq(refusal(pod.add_last().result).code, NO_PORT, "nor is it taken")
    pod.delete()


@leaves_nothing
def gone():
    "DEL when namespace, device, result or rules are gone, and without them"
    pod = Pod().add()
    pod.results = [None]
    pod.del_last(CNI_NETNS="").result()
    pod.delete()

    pod = Pod().add()
    pod.netns.delete()
    busywait(lambda: pod.veth() not in state()[3], 20, "device")
    eq(len(show("rule")), 3, "its rules are still there")
    eq({r["reason"] for r in show("rule")} - {"none"}, {"no-device"})
    pod.delete()

    # a container that has ended: its path, as a PID's, is another pod's by now
    pod = Pod().add()
    was = state()
    pod.del_last(CNI_CONTAINERID="ended").result()
    eq(state(), was, "the other pod has its port and its rules")
    pod.check()
    pod.delete()

    # nobody says that it is gone: the next one clears up
    pod = Pod().add()
    was = {r["name"] for r in show("rule") if r["prio"] != 9}
    pod.netns.delete()
    busywait(lambda: pod.veth() not in state()[3], 20, "device")
    other = Pod().add()
    names = {r["name"] for r in show("rule") if r["prio"] != 9}
    eq((len(was), len(names), was & names), (1, 1, set()), "rules")
    other.delete()
    pod.delete()

    pod = Pod().add()
    for rule in show("rule")[1:]:
        srpol("rule", "del", "prio", str(rule["prio"]))
    pod.del_last().result()
    pod.delete()

    pod = Pod().add()
    srpol("dev", "del", pod.veth())
    pod.delete()

    # what would be refused at ADD
    pod = Pod().add()
    pod.plugins = (PTP, srpol_with(color="wrong", unknown=1))
    pod.delete()
    eq((NO_MODULE["DEL"].returncode, NO_MODULE["DEL"].stdout), (0, ""),
       "without the module")


@leaves_nothing
def ten_at_once():
    "ten pods at the same time, of which one has to load the data plane"
    pods = [Pod(annotations={"srpol/color": str(1 + i % 2)})
            for i in range(10)]
    for pod in pods:
        pod.add_first()
    srpol("dev", "del", "u0")
    for pod, call in [(pod, pod.add_last()) for pod in pods]:
        pod.results.append(call.result())
    eq(len({r["prio"] for r in show("rule")}), 21, "rules")
    for call in [pod.call("CHECK", SRPOL, pod.results[-1]) for pod in pods]:
        call.result()
    srpol("dev", "add", "u0")
    for i in 0, 9:
        eq(color_of(pods[i], 4), 1 + i % 2, f"pod {i}")
    for call in [pod.del_last() for pod in pods]:
        call.result()
    for pod in pods:
        pod.delete()


@leaves_nothing
def versions():
    "versions of the specification"
    for answer in NO_MODULE["VERSION"].stdout, json.dumps(
            Call("srpol", '{"cniVersion": "1.0.0"}',
                 {"CNI_COMMAND": "VERSION"}).result()):
        eq(json.loads(answer), {
            "cniVersion": "1.0.0",
            "supportedVersions": ["0.3.0", "0.3.1", "0.4.0", "1.0.0"]})
    for version in "0.3.1", "0.4.0":
        pod = Pod(version=version).add()
        eq(pod.results[-1], pod.results[-2], version)
        eq(pod.results[-1]["cniVersion"], version)
        if version != "0.3.1":
            pod.check()
        eq(color_of(pod, 4), 1, version)
        pod.delete()
    pod = Pod()
    pod.add_first()
    for version in "0.2.0", "1.1.0", "2":
        pod.version = version
        eq(refusal(pod.add_last().result).code, VERSION, version)
    pod.version = "1.0.0"
    pod.delete()


@leaves_nothing
def wrong():
    "what is wrong is refused with the code for it, and nothing is made"
    pod = Pod()
    pod.add_first()
    was = state()
    prev = pod.results[-1]
    good = pod.config(SRPOL, prev)

    def code(config, **env):
        return refusal(Call("srpol", config, pod.env("ADD", **env))
                       .result).code

    for text in "", "{", "[]", '{"cniVersion": "1.0.0",}', "\xff":
        eq(code(text), DECODE, text)
    eq(code({**good, "colour": 1}), FIELD)
    for member in ({"color": 0}, {"color": "1"}, {"color": 1 << 32},
                   {"colors": 1}, {"colors": [0]}, {"bridge": "yes"},
                   {"namespaces": []}, {"namespaces": {"a": 1}},
                   {"namespaces": {"a": {"color": -1}}},
                   {"prio": 5}, {"prio": [2, 1]}, {"prio": [1, 2, 3]},
                   {"name": ""}, {"prevResult": None},
                   {"prevResult": {**prev, "ips": []}},
                   {"prevResult": {**prev, "ips": [{"address": "x"}]}}):
        eq(code({**good, **member}), CONFIG, member)
    for env in ({"CNI_COMMAND": ""}, {"CNI_COMMAND": "GC"},
                {"CNI_CONTAINERID": ""}, {"CNI_CONTAINERID": "../x"},
                {"CNI_IFNAME": ""}, {"CNI_IFNAME": "a/b"},
                {"CNI_IFNAME": "a" * 16}, {"CNI_NETNS": ""},
                {"CNI_ARGS": "x"}):
        eq(code(good, **env), ENVIRONMENT, env)
    for env in ({"CNI_IFNAME": "eth1"}, {"CNI_IFNAME": "lo"},
                {"CNI_NETNS": "/run/netns/nobody"}):
        alone = {**prev, "ips": [{"address": "10.9.0.2/24"}]}
        eq(code({**good, "prevResult": alone}, **env), NO_PORT, env)
    # not the pod's own: the route to it leads elsewhere
    eq(code({**good, "prevResult": {**prev, "ips": [
        {"address": "192.0.2.7/24"}]}}), NO_PORT)
    eq(state(), was, "nothing is made")
    pod.delete()


@leaves_nothing
def strangers():
    "a device whose other end is in another pod, by numbers that fit one of ours"
    pod = Pod()
    pod.add_first()
    outside = ns.ifindex(pod.veth())
    inside = pod.netns.ifindex("eth0")
    one, two = Pod(), Pod()
    one.netns.ip(f"link add eth0 index {inside} type veth peer eth0 "
                 f"index {outside} netns {two.netns.name}\n")
    one.results = pod.results
    refused = refusal(one.add_last().result)
    eq(refused.code, NO_PORT)
    match(refused.error["details"], "no veth whose other end is in this")
    pod.delete()


@leaves_nothing
def bridge():
    "pods at a bridge: only if that is wanted, and then the bridge is the port"
    pod = Pod(BRIDGE, SRPOL)
    pod.add_first()
    refused = refusal(pod.add_last().result)
    eq(refused.code, NO_PORT)
    match(refused.error["msg"], "is at bridge cni0")
    pod.delete()
    wanted = srpol_with(bridge=True)
    was = srpol("export", "srpol")
    one = Pod(BRIDGE, wanted).add()
    eq(srpol("export", "srpol"),
       was + "# pods are at it: dev add cni0 role port source strict\n",
       "the bridge comes with a pod, and is not saved")
    two = Pod(BRIDGE, wanted, annotations={"srpol/color": "2"}).add()
    for pod, color in (one, 1), (two, 2):
        pod.check()
        for family in 4, 6:
            eq(color_of(pod, family), color, f"IPv{family}")
    one.delete()
    eq(color_of(two, 4), 2, "the other one is still there")
    two.delete()
    eq([d["dev"] for d in show("dev")], ["u0", "cni0"], "it stays")
    srpol("dev", "del", "cni0")
    ns.ip("link del cni0\n")


@leaves_nothing
def example():
    "the example that is there to be copied, as it is"
    with open(f"{TOP}/Documentation/examples/10-srpol.conflist",
              encoding="ascii") as f:
        conflist = json.load(f)
    pod = Pod(*conflist["plugins"], version=conflist["cniVersion"])
    pod.add_first()
    for namespace, asked, color in (
            ("default", None, 100), ("default", "101", 101),
            ("default", "200", None), ("team-a", None, 200),
            ("team-a", "202", 202), ("team-a", "100", None),
            ("kube-system", None, 0)):
        choose(pod, color, conflist["plugins"][-1], namespace, asked)
    pod.delete()


@leaves_nothing
def operators():
    "what pods have is in no saved configuration, and outlives a new one"
    was = srpol("export", "srpol")
    pod = Pod().add()
    eq(srpol("export", "srpol"), was, "nothing of the pod")
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as f:
        f.write(was + "rule add prio 7 dst 2001:db8:77::/48 bypass\n")
        f.flush()
        srpol("replace", "-f", f.name)
    pod.check()
    eq(color_of(pod, 6), 1, "still steered")
    pod.delete()
    srpol("rule", "del", "prio", "7")


# a rule of the operator's, so that sources are checked from the beginning
srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
      "path add 2 segs fc00::2 dev u0 via fd00:1::2\n"
      "policy add color 1 endpoint :: candidate segment-list 1\n"
      "policy add color 2 endpoint :: candidate segment-list 2\n"
      "rule add prio 9 dst 2001:db8:99::/48 bypass\ndev add u0\n")
cleanup(shutil.rmtree, DATA)
cleanup(forget)
main()
