#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srpol doctor: what it finds, one fault at a time, and that it finds nothing
without the fault. Also why native XDP was refused, which doctor tells of later.
"""

import contextlib
import json
import os
import subprocess

from cli_lib import (NO_MODULE, OK, REFUSED, forget, free_data_plane,
                     keep_data_plane, ns, srpol, srpol_error)
from ktap import before, busywait, cleanup, eq, main, match, run, test

PINS = f"/sys/fs/bpf/srpol/{ns.name}"


def doctor(status, under=()):
    """What it says, by check and verdict."""
    out = srpol("-j", "doctor", status=status, under=under)
    return {(c["check"], c["verdict"]): c for c in json.loads(out)}


def says(check, pattern):
    """Verdicts of a check on what matches the pattern."""
    out = subprocess.run(["srpol", "-n", ns.name, "-j", "doctor"], text=True,
                         stdout=subprocess.PIPE, check=False).stdout
    found = []
    for c in json.loads(out):
        with contextlib.suppress(AssertionError):
            match(c["text"], pattern)
            if c["check"] == check:
                found.append(c["verdict"])
    return found


def sysctl(name, value):
    with ns:
        ns.sysctl(f"net/{name}", value)


def offload(dev, name, on):
    ns.run("ethtool", "-K", dev, name, on)


@test
def bpffs():
    "doctor: no BPF file system"
    eq(doctor(1)["bpffs", "ok"]["text"], "/sys/fs/bpf is mounted")
    # in a mount namespace of its own: the guest's stays
    found = doctor(1, under=("unshare", "--mount", "sh", "-c",
                             'umount /sys/fs/bpf && exec "$@"', "sh"))
    eq(found["bpffs", "warning"]["text"], "/sys/fs/bpf is not mounted")
    match(found["bpffs", "warning"]["advice"], "mount -t bpf bpf /sys/fs/bpf")


@test
def data_plane():
    "doctor: no uplink, and nothing loaded"
    found = doctor(1)
    match(found["devices", "warning"]["advice"], "srpol dev add", "no uplink")
    assert not os.path.exists(PINS), "the data plane is loaded"
    keep_data_plane()
    cleanup(free_data_plane)
    match(doctor(1)["devices", "warning"]["advice"], "srpol dev add", "but a port")


@before
def clean():
    forget()
    ns.ip("link set u0 mtu 1500\nlink set u1 mtu 1500\n"
          "addr replace fd00:1::1/64 dev u0 nodad\n"
          "neigh replace fd00:1::2 lladdr 02:00:00:00:00:02 dev u0\n")


@test
def doctor_status():
    "doctor: 0 when all is well, 1 for warnings, 2 for errors, and advice"
    eq(NO_MODULE.returncode, 2, "exit status without the module")
    worst = {c["check"]: c for c in json.loads(NO_MODULE.stdout)}
    eq((worst["module"]["verdict"], worst["module"]["advice"]),
       ("error", "modprobe srpol"), "without the module")
    srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                "policy add color 8 endpoint :: candidate segment-list 1\n"
                "rule add prio 1 color 8\ndev add u0 role uplink\n")
    found = doctor(0)
    eq({verdict for _, verdict in found}, {"ok"}, "verdicts")
    srpol("path", "replace", "1", "segs", "fc00::1", "dev", "u0", "via",
          "fd00:1::2", "admin", "down")
    match(doctor(1)["path", "warning"]["text"], "admin-down", "path")
    sids = ",".join(f"fc00::{i}" for i in range(1, 17))
    srpol("path", "replace", "1", "segs", sids, "dev", "u0", "via",
          "fd00:1::2")
    ns.ip("link set u0 mtu 1280")
    busywait(lambda: says("rule", "no-policy-up"))
    found = doctor(1)
    match(found["path", "warning"]["text"], "mtu-too-small", "path")
    match(found["rule", "warning"]["text"], "no-policy-up", "rule")


@test
def unused():
    "doctor: what nothing takes, and what is down, though another one steers"
    srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                "policy add color 1 endpoint fd00:b::1 backup-color 2 "
                "candidate segment-list 1\n"
                "policy add color 2 endpoint fd00:b::1 candidate segment-list 1\n"
                "policy add color 3 endpoint fd00:b::1 bsid fc00:b::3 "
                "candidate segment-list 1\n"
                "endpoint add fd00:b::/64 to fd00:b::1\n"
                "rule add prio 1 color 1\ndev add u0 role uplink\n")
    eq([says(check, "") for check in ("policy", "endpoint")], [[], []],
       "a backup and one with a binding SID are in use")
    there_is_a_sid = {"forwarding", "sr-domain"}
    eq({check for check, verdict in doctor(0) if verdict != "ok"}, there_is_a_sid,
       "what else it notes")
    nothing = "no rule gives color 2, so nothing takes the policy to fd00:b::{}$"
    srpol("policy", "add", "color", "2", "endpoint", "fd00:b::2", "candidate",
          "segment-list", "1")
    eq(says("policy", nothing.format(2)), ["note"], "backup of another endpoint")
    eq(says("policy", nothing.format(1)), [], "but not this")
    srpol("policy", "change", "color", "1", "endpoint", "fd00:b::1",
          "backup-color", "0")
    eq(says("policy", nothing.format(1)), ["note"], "no backup any more")
    srpol("policy", "add", "color", "1", "endpoint", "fd00:b::2")
    eq(says("policy", "^the policy of color 1 to fd00:b::2 is down: no-candidate$"),
       ["warning"], "down")
    eq(says("rule", ""), [], "though the rule steers")
    srpol("endpoint", "add", "fd00:c::/64", "to", "fd00:b::3")
    lost = "^the steering prefix fd00:c::/64 leads to fd00:b::3, where no policy is$"
    eq(says("endpoint", lost), ["note"], "a wrong endpoint")
    srpol("policy", "add", "color", "1", "endpoint", "::")
    eq(says("endpoint", lost), [], "for which there is that of ::")


@test
def sr_domain():
    "doctor: local SIDs that take packets from anyone"
    anyone = "^packets to local SIDs are accepted from any source$"
    eq(says("sr-domain", anyone), [], "without a SID")
    srpol("sid", "add", "fc00:a::1", "behavior", "End")
    eq(says("sr-domain", anyone), ["note"])
    for setting in "sr-domain", "sr-source":
        srpol("config", "set", setting, "fc00::/16")
        eq(says("sr-domain", anyone), [], setting)
        srpol("config", "set", setting, "none")


@test
def forwarding():
    "doctor: forwarding is off, for all devices or for an uplink alone"
    srpol(batch="dev add u0 role uplink\nsid add fc00:a::1 behavior End\n"
                "sid add fc00:a::4 behavior End.DT4")
    for family, switch, alone, what in (
            ("ipv6", "ipv6/conf/all/forwarding", "note",
             "IPv6 is off for uplink u0: .* to the stack"),
            ("ipv4", "ipv4/ip_forward", "warning",
             "IPv4 is off for uplink u0: .* drops them")):
        good = f"^{what[:4]}, for local SIDs"
        sysctl(switch, 0)
        eq(says("forwarding", good), ["note"], f"{family} off")
        sysctl(switch, 1)
        eq(says("forwarding", good), ["ok"], f"{family} on")
        sysctl(f"{family}/conf/u0/forwarding", 0)
        eq(says("forwarding", what), [alone], f"{family} off for u0")
        eq(says("forwarding", good), [], f"{family} is not well")
        # not of a device that is no uplink
        sysctl(f"{family}/conf/u0/forwarding", 1)
        sysctl(f"{family}/conf/u1/forwarding", 0)
        eq(says("forwarding", good), ["ok"], f"{family} off for u1")
        sysctl(switch, 0)
    for behavior, families in (
            ("probe", ""), ("End", "6"), ("End.DT4", "4"), ("End.DT6", "6"),
            ("End.DT46", "64"), ("uN", "6"), ("uDT4", "4"), ("uDT6", "6"),
            ("uDT46", "64")):
        forget()
        srpol("sid", "add", "fcbb:bb00:a::", "behavior", behavior)
        eq("".join(f for f in "64" if says("forwarding", f"^IPv{f}, for")),
           families, behavior)


@test
def rp_filter():
    "doctor: a strict reverse-path filter, if there are SIDs"
    strict = "strict reverse-path filter"
    srpol("dev", "add", "u0", "role", "uplink")
    cleanup(sysctl, "ipv4/conf/u0/rp_filter", 0)
    cleanup(sysctl, "ipv4/conf/all/rp_filter", 0)
    for everywhere, here, sid, want in (
            (0, 1, False, []), (0, 1, True, ["warning"]),
            (1, 0, True, ["warning"]), (1, 2, True, []), (0, 0, True, [])):
        if sid:
            srpol("sid", "replace", "fc00:a::4", "behavior", "End.DT4")
        sysctl("ipv4/conf/all/rp_filter", everywhere)
        sysctl("ipv4/conf/u0/rp_filter", here)
        eq(says("u0", strict), want, f"all {everywhere}, u0 {here}")


@test
def ipv6_disabled():
    "doctor: IPv6 is disabled on an uplink"
    srpol(batch="dev add u0\ndev add u1 role port\n")
    off = "IPv6 is disabled on the uplink"
    eq(says("u0", off), [], "as it is")
    for dev, want in ("u1", []), ("u0", ["warning"]):
        sysctl(f"ipv6/conf/{dev}/disable_ipv6", 1)
        eq(says(dev, off), want, dev)
        sysctl(f"ipv6/conf/{dev}/disable_ipv6", 0)
    eq(says("u0", off), [], "enabled again")


@test
def no_uplink():
    "doctor: a path by a device that is no uplink, though another one is"
    ns.ip("addr add fd00:2::1/64 dev u1 nodad\n"
          "neigh add fd00:2::2 lladdr 02:00:00:00:00:03 dev u1\n")
    cleanup(ns.ip, "addr del fd00:2::1/64 dev u1\n")
    srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                "path add 2 segs fc00::1 dev u1 via fd00:2::2\n"
                "dev add u0 role uplink\n")
    text = "^path 2 by it, but it is no uplink"
    eq(says("u1", text), ["warning"])
    srpol(batch="path add 3 segs fc00::2 dev u1 via fd00:2::2\n"
                "path add 4 segs fc00::3 dev u1 via fd00:2::2\n")
    eq(says("u1", "^path 2 and 2 more by it, but it is no uplink"), ["warning"], "once")
    eq(says("u1", "is no uplink"), ["warning"], "and no more")
    srpol(batch="path del 3\npath del 4\n")
    eq(says("u0", "is no uplink"), [], "of the other one")
    srpol("dev", "add", "u1", "role", "port")
    eq(says("u1", text), ["warning"], "a port")
    srpol("dev", "del", "u1")
    srpol("dev", "add", "u1")
    eq(says("u1", text), [], "an uplink")


@test
def mtu():
    "doctor: a path leaves less than the MTU that RDMA derives from the device"
    srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                "dev add u0 role uplink")
    for size, verdict, inner, outer in (
            (1500, "ok", 1024, 1024), (2143, "ok", 1024, 1024),
            (2144, "warning", 1024, 2048), (2183, "warning", 1024, 2048),
            (2184, "ok", 2048, 2048), (4200, "warning", 2048, 4096),
            (9000, "ok", 4096, 4096)):
        ns.ip(f"link set u0 mtu {size}")
        text = (f"^MTU {size} leaves {size - 40} for inner packets: "
                f"RDMA MTU {inner}, without a path {outer}$")
        busywait(lambda t=text, v=verdict: says("u0", t) == [v], what=size)


def driver():
    """What is said of the driver of u0."""
    return [c["text"] for c in json.loads(
        srpol("-j", "doctor", status=OK)) if c["check"] == "u0" and
        c["text"].startswith("driver ")]


@test
def drivers():
    "doctor: driver, native XDP, target of XDP, VLAN stripping, MTU"
    def line(target, strip, size):
        return [f"driver veth, native XDP yes, target of XDP redirect {target}"
                f", VLAN stripping {strip}, MTU {size}"]

    srpol("dev", "add", "u0", "role", "uplink")
    eq(driver(), line("no", "on", 1500), "as it comes")
    offload("u0", "rxvlan", "off")
    cleanup(offload, "u0", "rxvlan", "on")
    eq(driver(), line("no", "off", 1500), "rxvlan off")
    offload("u1", "gro", "on")
    eq(driver(), line("yes", "off", 1500), "GRO of the other end")
    offload("u1", "gro", "off")
    ns.ip("link set u0 mtu 2000")
    eq(driver(), line("no", "off", 2000), "MTU")


@test
def ipvlan():
    "doctor: an uplink that is an ipvlan device, which never sees a SID"
    run("modprobe", "ipvlan")
    ns.ip("link add iv0 link u1 type ipvlan mode l2\nlink set iv0 up")
    srpol("dev", "add", "iv0", "role", "uplink", "xdp", "generic")
    eq(says("iv0", "gives packets for SIDs to its parent"), ["warning"])
    ns.ip("link del iv0\nlink add mv0 link u1 type macvlan\nlink set mv0 up")
    srpol("dev", "add", "mv0", "role", "uplink", "xdp", "generic")
    eq(says("mv0", "gives packets for SIDs to its parent"), [], "macvlan")
    ns.ip("link del mv0")


@test
def no_native_xdp():
    "a driver without native XDP is told as such, and doctor says so"
    run("modprobe", "dummy", "numdummies=0")
    ns.ip("link add d0 mtu 1400 type dummy\nlink set d0 up")
    cleanup(ns.ip, "link del d0")
    match(srpol_error("dev", "add", "d0", "role", "uplink", "xdp", "native",
                      status=REFUSED),
          r"driver dummy has no native XDP for this device \(MTU 1400\), try "
          "xdp generic")
    srpol("dev", "add", "d0", "role", "uplink")
    eq(says("d0", "^driver dummy, native XDP no, target of XDP redirect no, "
            ".*MTU 1400$"), ["ok"], "doctor")
    eq(says("d0", "XDP is generic"), [], "which is no news then")


@test
def native_xdp_refused():
    "a driver that has native XDP and refuses it is not said to have none"
    # veth wants a queue for each one that packets come from
    ns.ip("link add q1 numtxqueues 2 type veth peer name q0 numrxqueues 1\n"
          "link set q1 up\nlink set q0 up")
    cleanup(ns.ip, "link del q0")
    match(srpol_error("dev", "add", "q0", "role", "uplink", "xdp", "native",
                      status=REFUSED),
          r"driver veth refuses native XDP on this device now: .*dmesg.*MTU "
          r"\(1500\).*ethtool -k")
    slow = "^XDP is generic, which is slow: driver veth has native XDP"
    srpol("dev", "add", "q0", "role", "uplink")
    eq(says("q0", slow), [], "the driver does not say so now")
    ns.run("ethtool", "-L", "q1", "tx", "1")
    eq(says("q0", slow), ["note"], "xdp auto")
    srpol("dev", "del", "q0")
    srpol("dev", "add", "q0", "role", "uplink", "xdp", "generic")
    eq(says("q0", slow), [], "as it was asked for")


@test
def bond():
    "native XDP of a bond runs on the devices in it, so there is none"
    run("modprobe", "bonding", "max_bonds=0")
    ns.ip("link add w0 type veth peer name w1\nlink set w1 up\n"
          "link add b0 type bond mode balance-rr\nlink set w0 master b0\n"
          "link set b0 up")
    cleanup(ns.ip, "link del w0\nlink del b0")
    match(srpol_error("dev", "add", "b0", "role", "uplink", "xdp", "native",
                      status=REFUSED),
          "native XDP of a bond runs on the devices in it, .*try xdp generic")
    srpol("dev", "add", "b0", "role", "uplink")
    eq(says("b0", "^driver bonding, native XDP no"), ["ok"], "doctor")
    eq(says("b0", "XDP is generic"), [], "which is no news then")
    match(srpol_error("dev", "add", "w0", status=REFUSED),
          "bond, bridge or macvlan device above this one has an XDP program")
    assert "dev w0" not in srpol("dev", "show"), "refused, but has a role"


def masters():
    """What doctor says of devices that belong to another one."""
    return {c["check"]: c["text"] for c in json.loads(
        subprocess.run(["srpol", "-n", ns.name, "-j", "doctor"], text=True,
                       stdout=subprocess.PIPE, check=False).stdout)
        if "belongs to" in c["text"]}


@test
def belongs_to():
    "doctor: roles of devices that belong to a bond or a bridge, not of a VRF's"
    run("modprobe", "bonding", "max_bonds=0")
    run("modprobe", "bridge")
    run("modprobe", "vrf")
    ns.ip("link add m0 type veth peer name m1\nlink set m1 up\n"
          "link add n0 type veth peer name n1\nlink set n1 up\n"
          "link set n0 up\n")
    cleanup(ns.ip, "link del m0\nlink del n0\n")
    srpol(batch="dev add m0\ndev add n0 role port\n")
    eq(masters(), {}, "by themselves")
    ns.ip("link add v1 type vrf table 99\nlink set m0 master v1\n"
          "link set n0 master v1\n")
    eq(masters(), {}, "in a VRF")
    ns.ip("link del v1\nlink add b1 type bond mode active-backup\n"
          "link set m0 down\nlink set m0 master b1\n"
          "link add br1 type bridge\nlink set n0 master br1\n")
    cleanup(ns.ip, "link del b1\nlink del br1\n")
    found = masters()
    eq(sorted(found), ["m0", "n0"], found)
    match(found["m0"], r"an uplink that belongs to b1 \(bond\)", "m0")
    match(found["n0"], r"a port that belongs to br1 \(bridge\)", "n0")


@test
def kernel_sids():
    "doctor: a SID that the kernel has as a seg6local route, too"
    srpol(batch="dev add u0 role uplink\nsid add fc00:a::1 behavior End\n"
                "sid add fc00:a:: behavior End\n"
                "sid add fcbb:bb00:a::/48 behavior uN")
    ns.ip("route add fc00:a::/64 encap seg6local action End dev u0\n"
          "route add fc00:a::2 encap seg6local action End dev u0\n"
          "route add fc00:a::1/128 dev u0\n"
          "route add fcbb:bb00::/32 encap seg6local action End dev u0")
    eq(says("sid", "seg6local"), [], "routes for other SIDs")
    ns.ip("route replace fc00:a::1/128 encap seg6local action End dev u0\n"
          "route add fcbb:bb00:a:1::/64 encap seg6local action End dev u0 "
          "table 77")
    for prefix in "fc00:a::1/128", "fcbb:bb00:a:1::/64":
        eq(says("sid", f"seg6local route for {prefix}, too"), ["warning"],
           prefix)
    for prefix in ("fc00:a::/64", "fc00:a::2", "fc00:a::1/128",
                   "fcbb:bb00::/32", "fcbb:bb00:a:1::/64 table 77"):
        ns.ip(f"route del {prefix}")
    eq(says("sid", "seg6local"), [], "without them")


@test
def ip_rules():
    "doctor: an ip rule that comes before that of a virtual port"
    def rules(verb, *lines):
        for line in lines:
            run("ip", "-n", ns.name, *verb.split(), *line.split())

    srpol("dev", "add", "srpol0", "role", "host", "address",
          "2001:db8:a::1/128")
    before_it = r"^IPv6 rule (\d+) comes before the one .* srpol0-port: "
    harmless = ("pref 20 oif u0 lookup main", "pref 21 iif u0 lookup main",
                "pref 22 lookup local", "pref 40000 lookup main")
    rules("-6 rule add", *harmless)
    eq(says("srpol0", before_it), [], "not in its way")
    for line in ("pref 30 lookup main", "pref 30 iif srpol0-port lookup 99",
                 "pref 30 from 2001:db8::/32 blackhole"):
        rules("-6 rule add", line)
        eq(says("srpol0", before_it.replace(r"(\d+)", "30")), ["warning"],
           line)
        rules("-6 rule del", line)
    rules("-4 rule add", "pref 31 lookup main")
    eq(says("srpol0", before_it.replace("6", "4").replace(r"(\d+)", "31")),
       ["warning"], "IPv4")
    rules("-4 rule del", "pref 31 lookup main")
    rules("-6 rule del", *harmless)
    srpol("dev", "del", "srpol0")


cleanup(forget)
main()
