#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Virtual ports in hostile hands: devices and rules that belong to others, names
that cannot be, requests that fail half-way, ports deleted behind srpol's back.
Whatever happens, nothing of others is touched and nothing is half there.

SRPOL_TIMEOUT=600
"""

import contextlib
import json
import os
import re
import subprocess
import tempfile

from cli_lib import (OK, REFUSED, TOP, USAGE, forget, net, ns, show, srpol,
                     srpol_error)
from ktap import before, cleanup, eq, main, match, run, test

PORT = ("role", "host", "address", "2001:db8:a::1/128", "prefix",
        "2001:db8:b::/48")


def ip(*words):
    return run("ip", "-n", ns.name, *words)


def links():
    return {link["ifname"] for link in json.loads(ip("-j", "link"))}


def rules():
    return ip("-6", "rule") + ip("-4", "rule")


def state():
    """All that a refused command has to leave as it is."""
    show_all = "link\naddr\nrule\nroute show table all\n"
    return [re.sub(r"\b(valid|expires|age) \S+|\bqlen \d+", "", text)
            for text in (run("ip", "-n", ns.name, "-6", "-o", "-batch", "-",
                             input=show_all),
                         run("ip", "-n", ns.name, "-4", "-o", "-batch", "-",
                             input=show_all), srpol("export", "srpol"))]


def addresses(dev):
    return {a["local"] for link in json.loads(ip("-j", "address", "show", "dev",
                                                 dev))
            for a in link.get("addr_info", ())}


def prefixes(dev):
    return {r["dst"] for r in json.loads(ip("-j", "-6", "route", "show", "dev",
                                            dev)) if "gateway" in r}


def findings():
    out = subprocess.run(["srpol", "-n", ns.name, "-j", "doctor"], text=True,
                         stdout=subprocess.PIPE, check=False).stdout
    return [c["text"] for c in json.loads(out)
            if c["verdict"] in ("warning", "error")]


@contextlib.contextmanager
def unchanged(what):
    was = state()
    yield
    for now, then in zip(state(), was):
        eq(now, then, what)


@before
def clean():
    """An uplink, and nothing else."""
    for dev in links() & {"srpol0", "mine", "other"}:
        ip("link", "del", dev)
    for family in "-4", "-6":
        while "iif srpol0-port" in ip(family, "rule"):
            ip(family, "rule", "del", "iif", "srpol0-port")
    srpol("replace", "empty", "-f", "/dev/null")


@test
def not_ours():
    "a device that srpol did not make is not taken for a virtual port"
    ip("link", "add", "mine", "type", "veth", "peer", "mine-port")
    for dev in "mine", "u1", "lo":
        with unchanged(dev):
            match(srpol_error("dev", "add", dev, *PORT, status=USAGE),
                  f"{dev} is there, and srpol did not make it")
    srpol("dev", "del", "mine", status=REFUSED, error="not attached to "
          "this device")
    eq("mine" in links(), True, "not deleted either")


@test
def same_again():
    "the same again is taken, something else is refused and changes nothing"
    srpol("dev", "add", "srpol0", *PORT)
    with unchanged("the same"):
        srpol("dev", "add", "srpol0", *PORT)
        srpol("dev", "add", "srpol0", "role", "host")
    for words, why in (
            (("address", "2001:db8:a::2/128"),
             "without address 2001:db8:a::2/128, which .*change"),
            (("prefix", "2001:db8:c::/48"), "without prefix 2001:db8:c::/48"),
            (("peer", "elsewhere"), "with peer srpol0-port, not elsewhere"),
            (("mtu", "1400"), "with mtu 1280, not 1400"),
            (("table", "77"), "with table 0, not 77")):
        with unchanged(words):
            match(srpol_error("dev", "add", "srpol0", *PORT, *words,
                              status=USAGE), why)


@test
def names():
    "names that the kernel would change, cut or refuse"
    for name in ("srpol%d", "a-very-long-name-for-it", "a/b", "..", "a:b",
                 "a b"):
        with unchanged(name):
            match(srpol_error("dev", "add", name, *PORT, status=USAGE),
                  "is no name for a device|longer than")
            match(srpol_error("dev", "add", "srpol0", *PORT, "peer", name,
                              status=USAGE),
                  "is no name for a device|longer than")
    with unchanged("the name of another"):
        srpol("dev", "add", "srpol0", *PORT, "peer", "u1", status=REFUSED,
              error="exists")


@test
def other_end():
    "the other end is not for other commands"
    srpol("dev", "add", "srpol0", *PORT)
    with unchanged("the other end"):
        for words in (("add", "srpol0-port", "role", "port"),
                      ("add", "srpol0-port"), ("del", "srpol0-port")):
            match(srpol_error("dev", *words, status=USAGE),
                  "srpol0-port is the other end of virtual port srpol0")
    eq(show("dev")[-1]["ingress_attached"], True, "its programs are there")


@test
def rules_of_others():
    "a rule of the operator's for the other end stays"
    srpol("dev", "add", "srpol0", *PORT)
    ip("-6", "rule", "add", "pref", "50", "iif", "srpol0-port", "lookup", "99")
    ip("-4", "rule", "add", "pref", "51", "iif", "srpol0-port", "unreachable")
    srpol("dev", "del", "srpol0")
    match(ip("-6", "rule"), "^.*\n?.*50:.*iif srpol0-port.* lookup 99", "IPv6")
    match(ip("-4", "rule"), "51:.*iif srpol0-port.* unreachable", "IPv4")
    eq(rules().count("iif srpol0-port"), 2, "ours are gone")
    eq("srpol0" in links(), False, "the port is gone")


@test
def table_of_others():
    "that rule is not shown as the port's table"
    srpol("dev", "add", "srpol0", *PORT)
    ip("-6", "rule", "add", "pref", "50", "iif", "srpol0-port", "lookup", "99")
    eq([d.get("table") for d in show("dev") if d["dev"] == "srpol0"], [None])
    srpol("dev", "del", "srpol0")


@test
def deleted_by_others():
    "ip link del: doctor tells what is left, the next command removes it"
    srpol("dev", "add", "srpol0", *PORT)
    ip("link", "del", "srpol0")
    eq(rules().count("iif srpol0-port"), 2, "rules stay")
    match("\n".join(findings()), '"ip rule iif srpol0-port" was left', "doctor")
    match("\n".join(findings()), "an address of a deleted virtual port")
    srpol("dev", "del", "srpol0", status=USAGE, error='no device "srpol0"')
    eq(rules().count("srpol0-port"), 0, "swept")
    eq([f for f in findings() if "virtual port" in f], [], "doctor")
    srpol("dev", "add", "srpol0", *PORT)
    eq(rules().count("iif srpol0-port"), 2, "made again")


@test
def renamed():
    "the other end renamed: its rules no longer hold, doctor says so"
    srpol("dev", "add", "srpol0", *PORT)
    ip("link", "set", "srpol0-port", "name", "other")
    match("\n".join(findings()), "other end, other, was renamed")
    srpol("dev", "del", "srpol0")
    eq(rules().count("srpol0-port"), 0, "swept")


@test
def alias_changed():
    "a port whose alias was changed is detached, but not deleted"
    srpol("dev", "add", "srpol0", *PORT)
    ip("link", "set", "srpol0", "alias", "of another")
    srpol("dev", "del", "srpol0", status=REFUSED, error="srpol0 stays")
    eq("srpol0" in links(), True, "not deleted")
    eq([d["dev"] for d in show("dev")], ["u0"], "detached")


@test
def half_made():
    "a port that cannot be made leaves nothing"
    for words in (("prefix", "2001:db8:b::/48"),   # given twice
                  ("address", "ff02::1/128"), ("mtu", "65535", "peer", "lo")):
        with unchanged(words):
            srpol("dev", "add", "srpol0", *PORT, *words, status=REFUSED,
                  error="exists|nvalid|annot")


@test
def half_changed():
    "a change that cannot be made changes nothing"
    srpol("dev", "add", "srpol0", *PORT)
    with unchanged("a prefix that is there"):
        srpol("dev", "change", "srpol0", "address", "2001:db8:a::7/128",
              "prefix", "2001:db8:c::/48", "prefix", "2001:db8:b::/48",
              status=REFUSED, error="route to 2001:db8:b::/48: File exists")
    with unchanged("an address that is there"):
        srpol("dev", "change", "srpol0", "address", "2001:db8:a::1/128")


def replace(text, status=OK, error="^$"):
    with tempfile.NamedTemporaryFile("w", suffix=".srpol") as file:
        file.write(text)
        file.flush()
        srpol("replace", "-f", file.name, status=status, error=error)


@test
def replaced():
    "replace: a port gets what it has not; a file that is refused makes none"
    with unchanged("a file with a mistake"):
        replace(f"dev add srpol0 {' '.join(PORT)}\n"
                "rule add prio 1 dev srpol0-port color 1\nrule add prio\n",
                status=USAGE, error="prio")
    with unchanged("a file that the module refuses"):
        replace(f"dev add srpol0 {' '.join(PORT)}\n"
                "policy add color 1 endpoint :: candidate segment-list 99\n",
                status=REFUSED, error="no path has this id")
    replace(f"dev add srpol0 {' '.join(PORT)}\n"
            "rule add prio 1 dev srpol0-port color 1\n")
    eq(prefixes("srpol0"), {"2001:db8:b::/48"}, "made")
    eq([d["mtu"] for d in show("dev") if d["dev"] == "srpol0"], [1280],
       "MTU: what any path would leave")
    bigger = (f"dev add srpol0 {' '.join(PORT)} address 2001:db8:a::3/128 "
              "prefix 2001:db8:c::/48\n")
    with unchanged("more of it, in a file that is refused"):
        replace(bigger + "path change 9 mtu 1400\n", status=USAGE, error=".")
    replace(bigger)
    eq(prefixes("srpol0"), {"2001:db8:b::/48", "2001:db8:c::/48"}, "prefixes")
    eq("2001:db8:a::3" in addresses("srpol0"), True, "address")
    eq([f for f in findings() if "goes past" in f], [], "uplinks know of it")
    with unchanged("another role"):
        replace("dev add u0 role port\nrule add prio 9 color 1\n",
                status=USAGE, error="u0 is there with role uplink, not port")


def restore(text):
    """The unit that systemd starts, on a file of the operator's."""
    with tempfile.TemporaryDirectory() as etc:
        with open(f"{etc}/{ns.name}.srpol", "w", encoding="ascii") as file:
            file.write(text)
        return subprocess.run(
            [f"{TOP}/netlinkd/dist/restore", ns.name], text=True, check=False,
            capture_output=True,
            env={**os.environ, "SRPOL_ETC": etc, "SRPOL_WAIT": "0",
                 "SRPOL_COMMAND": "srpol"})


@test
def restored():
    "a file by hand is restored: no peer, other order, comments, names"
    done = restore("# dev nothere\n"
                   "dev add srpol0  address 2001:db8:a::1/128 role host # dev x\n"
                   "path add 1 segs fc00::1 name \"rack dev seven\" \\\n"
                   "  dev u0 via fd00:1::2\n"
                   "rule add prio 1 dev srpol0-port color 1\n")
    eq((done.returncode, done.stderr), (0, ""), "restored")
    eq("srpol0-port" in links(), True, "made")
    with unchanged("a device that does not come"):
        done = restore("dev add nothere role uplink\n")
        eq(done.returncode, 75, "status")
        match(done.stderr, "device nothere of .* does not come")


@test
def table():
    "table ID: what srpol leaves alone is forwarded by its routes"
    far = net.Netns()
    ip("link", "add", "other", "type", "veth", "peer", "far", "netns", far.name)
    far.ip("addr add 2001:db8:f::2/64 dev far nodad\nlink set far up\n"
           "route add default via 2001:db8:f::1\n")
    ns.ip("addr add 2001:db8:f::1/64 dev other nodad\nlink set other up\n"
          "route add 2001:db8:b::/48 via 2001:db8:f::2 table 77\n")
    far.ip("addr add 2001:db8:b::1/128 dev lo\n")
    with ns:
        ns.sysctl("net/ipv6/conf/all/forwarding", 1)
    srpol("dev", "add", "srpol0", *PORT)
    lost = subprocess.run(["ip", "netns", "exec", ns.name, "ping", "-c", "1",
                           "-W", "10", "2001:db8:b::1"], text=True,
                          capture_output=True, check=False).stdout
    match(lost, "[Uu]nreachable", "without a table")
    srpol("dev", "del", "srpol0")
    srpol("dev", "add", "srpol0", *PORT, "table", "77")
    eq(rules().count("lookup 77"), 2, "a rule for each family")
    eq([d.get("table") for d in show("dev") if d["dev"] == "srpol0"], [77])
    match(srpol("export", "srpol"), "dev add srpol0 .* table 77 source strict\n",
          "saved")
    # the neighbors may have to be found first
    run("ip", "netns", "exec", ns.name, "ping", "-c", "9", "-i", "0.3", "-W",
        "20", "2001:db8:b::1")
    srpol("dev", "del", "srpol0")
    eq(rules().count("lookup 77"), 0, "removed")
    with ns:
        ns.sysctl("net/ipv6/conf/all/forwarding", 0)


srpol("dev", "add", "u0")
cleanup(forget)
main()
