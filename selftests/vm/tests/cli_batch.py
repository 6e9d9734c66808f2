#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The srpol command: batch files, candidate paths, bug reports, exports.
"""

import json
import os
import re
import subprocess
import tempfile

from cli_lib import (OK, REFUSED, USAGE, everything, forget, ns, show, srpol)
from ktap import busywait, cleanup, eq, main, match, run, test
from srpol import KINDS, without


@test
def batch_syntax():
    "batch: comments, quotes, continued lines, empty lines, no last newline"
    forget()
    srpol(batch="# a comment\n\n   \t\n"
                "path add 1 segs \\\n  fc00::1,\\\nfc00::2 # and one more\n"
                "path add 2 segs fc00::1 name 'two words'\n"
                "path add 3 segs fc00::1 name \"it's # no comment\"\n"
                "path add 4 segs fc00::1 name a#b")
    eq([(o.get("name", ""), o["segments"]) for o in show("path")],
       [("", ["fc00::1", "fc00::2"]), ("two words", ["fc00::1"]),
        ("it's # no comment", ["fc00::1"]), ("a#b", ["fc00::1"])], "paths")


@test
def batch_errors():
    "batch: is one transaction and names the line; -force goes on"
    forget()
    lines = ("# one\npath add 1 segs \\\nfc00::1\n"
             "path add 1 segs fc00::2\npath add 3 segs fc00::3\n")
    srpol(batch=lines, status=REFUSED,
          error=r"object exists.*\nCommand failed -:4, nothing was changed\n$")
    eq(show("path"), [], "paths")
    srpol("-force", batch=lines, status=REFUSED, error=r"(?s)failed -:4\n$")
    eq([(o["id"], o["segments"]) for o in show("path")],
       [(1, ["fc00::1"]), (3, ["fc00::3"])], "paths")
    srpol(batch="path add 4 segs fc00::1 name 'open\n", status=USAGE,
          error="unbalanced quotes.*\nCommand failed -:1")
    srpol("-b", "/nonexistent", status=USAGE, error="/nonexistent: No such")
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("\npath del 1\npath dell 3\n")
        f.flush()
        srpol("-batch", f.name, status=USAGE,
              error=f"(?s)\"dell\" is unknown.*failed {f.name}:3\n")
    eq([o["id"] for o in show("path")], [1, 3], "paths")
    text = srpol(batch="path del 1\npath show\npath del 99\n",
                 status=REFUSED, error="failed -:3")
    assert "path 3" in text and "path 1" not in text, text
    eq([o["id"] for o in show("path")], [3],
       "what came before a command that shows is done")


@test
def apart():
    "batch: what is no request to the module ends the transaction; no replace in one"
    forget()
    srpol(batch="path add 1 segs fc00::1\ntopology generate hosts 1 nic-rate 1G\n"
                "path del 99\n", status=REFUSED,
          error="failed -:3, only what is before line 3 was carried out\n")
    eq([o["id"] for o in show("path")], [1], "what came before it is done")
    srpol(batch="path add 2 segs fc00::2\nengine show socket /nonexistent\n",
          status=REFUSED, error="(?s)does not run.*"
          "\nWhat is before line 2 was carried out\n")
    eq([o["id"] for o in show("path")], [1, 2], "likewise")
    # it shows something to itself, but waits for the rest
    srpol(batch="policy add color 5 endpoint fd00::5 candidate segment-list 1\n")
    candidate = "policy candidate add color 5 endpoint fd00::5 preference 200 segment-list 2\n"
    srpol(batch=candidate + "path del 99\n", status=REFUSED,
          error="failed -:2, nothing was changed\n")
    srpol(batch="path add 7 segs fc00::7\n" + candidate + "path del 99\n", status=REFUSED,
          error="failed -:3, only what is before line 2 was carried out\n")
    eq([o["id"] for o in show("path")], [1, 2, 7], "paths")
    eq(len(show("policy")[0]["candidates"]), 1, "candidates")
    srpol(batch="policy del color 5 endpoint fd00::5\npath del 7\n")
    srpol(batch="engine show socket \\\n/nonexistent\n", status=REFUSED,
          error="(?s)does not run.*\nThe transaction was not carried out\n")
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("path add 3 segs fc00::3\n")
        f.flush()
        lines = (f"path add 4 segs fc00::4\nreplace -f {f.name}\n"
                 "path add 5 segs fc00::5\npath frob\n")
        srpol(batch=lines, status=USAGE, error="has no place in one.*\n.*-:2\n")
        eq([o["id"] for o in show("path")], [1, 2], "nothing of it")
        srpol("-force", batch=lines, status=USAGE, error="(?s)failed -:4\n$")
    eq([o["id"] for o in show("path")], [3, 5], "each by itself")
    forget()


@test
def unreadable():
    "batch, replace: what cannot be read whole is not carried out"
    keep = "path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
    forget()
    srpol(batch=keep)
    before = show("path")
    # as a file system leaves it after a loss of power
    cut = f"{keep}path add 2 segs fc00::2 dev u0\0 via fd00:1::2\n"
    for how in ("-b", "-"), ("replace", "-f", "-"):
        done = subprocess.run(["srpol", "-n", ns.name, *how], text=True,
                              input=cut, capture_output=True, check=False)
        eq(done.returncode, USAGE, f"{how}, null byte")
        match(done.stderr, r"^Error: -:2: a null byte\.\n")
    for what, why in (("/", "reading /: Is a directory"),
                      ("-", "reading -: Bad file descriptor")):
        for how in (("-b", what), ("-force", "-b", what),
                    ("replace", "-f", what), ("replace", "empty", "-f", what)):
            done = subprocess.run(
                ["sh", "-c", 'exec timeout 60 srpol -n "$@" <&-', "sh",
                 ns.name, *how], stderr=subprocess.PIPE, text=True,
                check=False)
            eq(done.returncode, USAGE, f"{how} of {what}")
            match(done.stderr, f"^Error: {why}\\.\n")
    eq(show("path"), before, "paths")


@test
def no_output():
    "a closed standard output cannot be written, and is no socket of srpol"
    forget()
    for words, status in (("path add 1 segs fc00::1 dev u0", OK),
                          ("path show", REFUSED), ("-V", REFUSED)):
        done = subprocess.run(["sh", "-c", f"srpol -n {ns.name} {words} >&-"],
                              stderr=subprocess.PIPE, text=True, check=False)
        eq(done.returncode, status, words)
        match(done.stderr, "could not be written" if status else "^$", words)


@test
def full_output():
    "a full disk: each command that prints says so, and none goes on printing"
    everything()
    full = "^Error: srpol: standard output could not be written\\.\n$"
    lines = [f"{form} {kind} show" for kind in (*KINDS, "config")
             for form in ("", "-j")]
    lines += [f"{form} policy show" for form in ("-o", "-br", "-s", "-j -p")]
    lines += [f"export {form}" for form in
              ("srpol", "frr", "sonic", "iproute2", "rte-flow",
               "gobgp target 192.0.2.1")]
    lines += ["metrics", "metrics text", "doctor", "-j doctor", "-V", "-j -V",
              "help", "-help", "path help", "topology generate hosts 2 nic-rate 1G",
              "rule test src fd00:a::1 dst fd00:b::1", "stats show all",
              "-j stats show", "-j flow show", "flow sync",
              "flow show --top interval 10ms", "-j flow show --top interval 10ms",
              "path show --top interval 10ms", "-j path show --top interval 10ms"]
    for line in lines:
        with open("/dev/full", "w", encoding="ascii") as disk:
            done = subprocess.run(["timeout", "60", "srpol", "-n", ns.name,
                                   *line.split()], stdout=disk, text=True,
                                  stderr=subprocess.PIPE, check=False)
        eq(done.returncode, REFUSED, line)
        match(done.stderr, full, line)
    with open("/dev/full", "w", encoding="ascii") as disk:
        monitor = subprocess.Popen(["timeout", "60", "srpol", "-n", ns.name,
                                    "monitor", "config"], stdout=disk, text=True,
                                   stderr=subprocess.PIPE)

    def is_over():
        srpol("path", "replace", "99", "segs", "fc00::1", "admin", "down")
        srpol("path", "del", "99")
        return monitor.poll() is not None

    busywait(is_over)
    eq(monitor.returncode, REFUSED, "monitor")
    match(monitor.stderr.read(), full, "monitor")


@test
def candidates():
    "policy candidate add, replace, del leave the other candidate paths alone"
    forget()
    srpol(batch="path add 1 segs fc00::1\npath add 2 segs fc00::2\n"
                "policy add color 1 endpoint fd00:b::1 name keep buckets 256 "
                "candidate segment-list 1 weight 3 segment-list 2\n")
    key = "color", "1", "endpoint", "fd00:b::1"

    def candidate(*words, **expect):
        srpol("policy", "candidate", words[0], *key, *words[1:], **expect)
        policy, = show("policy")
        eq((policy["name"], policy["buckets"]), ("keep", 256), "the policy")
        return [(c["preference"], c["discriminator"], c.get("name"),
                 [(s["path"], s["weight"]) for s in c["segment_lists"]])
                for c in policy["candidates"]]

    first = (100, 1, None, [(1, 3), (2, 1)])
    eq(candidate("add", "preference", "200", "candidate-name", "better",
                 "segment-list", "2"),
       [first, (200, 2, "better", [(2, 1)])], "added")
    eq(candidate("replace", "preference", "200", "segment-list", "1"),
       [first, (200, 2, None, [(1, 1)])], "replaced")
    eq(candidate("add", "preference", "50"),
       [first, (200, 2, None, [(1, 1)]), (50, 3, None, [])], "without lists")
    eq(candidate("del", "discriminator", "2"),
       [first, (50, 3, None, [])], "deleted")
    eq(candidate("del", "preference", "999", status=USAGE,
                 error="0 candidate paths"), [first, (50, 3, None, [])], "")
    eq(candidate("del", "preference", "50"), [first], "the last but one")
    srpol("policy", "change", *key, "bsid", "fc00:b::1", "mode", "flowlet", "symmetric",
          "on", "spray", "random", "flowlet-timeout", "700us", "threshold", "7", "dwell-time",
          "7ms", "wait-to-restore", "8ms", "backup-color", "9", "drop-upon-invalid", "on")

    def settings():
        return without(show("policy")[0], {"candidates", "state", "reason"})

    before = settings()
    eq(candidate("del", "preference", "100"), [], "the last one")
    eq(settings(), before, "all else stays as it was")
    eq(show("policy")[0]["state"], "down", "it steers nothing")
    eq(candidate("add", "segment-list", "1", "weight", "3", "segment-list", "2"), [first],
       "and there is one again")
    candidate("del", status=USAGE, error="which candidate path")
    words = "candidate-name", "discriminator", "segment-list", "1"
    eq(candidate("add", "preference", "7", *words),
       [first, (7, 2, "discriminator", [(1, 1)])], "a keyword as a name")
    eq(candidate("replace", "candidate-name", "discriminator", "preference", "7",
                 "segment-list", "2"),
       [first, (7, 2, "discriminator", [(2, 1)])], "by that name")
    candidate("del", "candidate-name", "discriminator")
    srpol(batch="".join(f"path add {i} segs fc00::{i:x}\n"
                        for i in range(3, 65)))
    every = [word for i in range(1, 65)
             for word in ("segment-list", str(i), "weight", "2")]
    eq(candidate("add", "preference", "9", *every),
       [first, (9, 2, None, [(i, 2) for i in range(1, 65)])], "all that go in")
    candidate("del", "preference", "9")
    srpol("policy", "candidate", "add", "color", "9", "endpoint", "::",
          status=REFUSED, error="no policy has color 9 and endpoint ::")
    forget()


@test
def candidates_at_once():
    "two who change candidate paths at once: nobody's change is lost"
    everything()
    forget()
    srpol(batch="path add 1 segs fc00::1\npolicy add color 9 endpoint :: "
          "candidate segment-list 1\n")
    added = {100}
    for first in range(200, 260, 6):
        at_once = [(n, subprocess.Popen(
            ["srpol", "-n", ns.name, "policy", "candidate", "add", "color", "9",
             "endpoint", "::", "preference", str(n), "discriminator", str(n)],
            stderr=subprocess.PIPE, text=True)) for n in range(first, first + 3)]
        for n, process in at_once:
            said = process.communicate()[1]
            if not process.returncode:
                added.add(n)
            else:
                match(said, "changed meanwhile; try again", str(n))
        there = {c["preference"] for c in show("policy")[0]["candidates"]}
        eq(there, added, "those that were said to be added")
        # there may be eight
        if len(there) > 5:
            break
    forget()


@test
def bug_report():
    "bug-report packs state, counters, maps and the kernel's words"
    everything()
    # not in /tmp, which is the host's: others write there
    with tempfile.TemporaryDirectory() as folder:
        archive = f"{folder}/report.tar.gz"
        os.environ["TMPDIR"] = folder
        eq(srpol("bug-report", archive), f"{archive}\n", "its name")
        del os.environ["TMPDIR"]
        eq(os.listdir(folder), ["report.tar.gz"], "nothing else is left")
        run("tar", "-xzf", archive, "-C", folder)
        top, = (d for d in os.listdir(folder) if d.startswith("srpol-bug"))
        top = f"{folder}/{top}"
        with open(f"{top}/policy.json", encoding="utf-8") as f:
            eq([p["color"] for p in json.load(f)], [7, 8], "policies")
        for name, word in (("version", "Linux"), ("links", "u0"),
                           ("stats", "steered"), ("config.srpol", "path add"),
                           ("pins", "link_dp"), ("doctor", "kernel")):
            with open(f"{top}/{name}", encoding="utf-8") as f:
                match(f.read(), word, name)


@test
def exports():
    "export frr, sonic, iproute2, gobgp: lists in order, weights, preferences, SIDs"
    everything()
    frr = srpol("export", "frr")
    match(frr, r"(?s)segment-list srpol-1\n   index 10 ipv6-address fc00::1\n"
          r"   index 20 ipv6-address fc00::2\n   index 30 ipv6-address "
          r"fc00::3\n.*policy color 7 endpoint 10.0.0.1\n   name seven\n"
          r"   candidate-path preference 200 name c1-1 explicit segment-list "
          r"srpol-1 weight 3\n", "frr")
    sonic = json.loads(srpol("export", "sonic"))
    eq(sonic["SRV6_SID_LIST"]["srpol-1"],
       {"10": "fc00::1", "20": "fc00::2", "30": "fc00::3"}, "sonic list")
    eq(sonic["SRV6_POLICY"]["7|10.0.0.1"],
       {"binding_sid": "fc00:b::1", "name": "seven"}, "sonic policy")
    eq(sonic["SRV6_POLICY"]["7|10.0.0.1|200|c1-1"],
       {"seg_name": "srpol-1", "weight": "3"}, "sonic candidate")
    eq([(k.split("|")[1], s["decap_dscp_mode"])
        for k, s in sonic["SRV6_MY_SIDS"].items()],
       [("fcbb:bb00:a::/48", "pipe")], "sonic SIDs")
    eq(list(sonic["SRV6_MY_LOCATORS"].values()),
       [{"prefix": "fcbb:bb00:a::", "block_len": "32", "node_len": "16",
         "func_len": "0"}], "sonic locators")
    commands = srpol("export", "iproute2")
    match(commands, r"(?m)^ip -4 route replace 10.0.0.0/8 encap seg6 mode "
          r"encap.red segs fc00::4 dev u0 # color 7$", "iproute2 route")
    match(commands, r"(?m)^# segment list 1 left out: admin-down$", "a list that is down")
    match(commands, r"(?m)^ip -4 route replace 10.0.0.1/32 encap .* # color 7$",
          "the endpoint itself")
    match(commands, r"(?m)^# no route for color 8 endpoint ::", "not for all")
    routes = subprocess.run(["srpol", "-n", ns.name, "export", "gobgp",
                             "target", "192.0.2.2"], capture_output=True,
                            check=True).stdout
    assert routes[0] == 0 and b"apipb.SRPolicyNLRI" in routes, routes
    srpol("export", "gobgp", status=USAGE, error="target")
    srpol("export", "gobgp", "target", "fc00::1", status=USAGE,
          error="no IPv4 address")
    # as they are, in a namespace where nothing is lost by it; twice is no harm
    lines = [line for line in commands.splitlines() if "srpol-sids" in line]
    sids = [line.split()[4] for line in lines if "action" in line]
    assert len(sids) >= 2, commands
    ns.run("sh", "-e", "-c", "\n".join(lines * 2))
    for sid in sids:
        match(ns.run("ip", "-6", "route", "get", sid.split("/")[0]),
              "encap seg6local action End", "packets get there")
    ns.ip("link del srpol-sids\n")


@test
def export_routes():
    "export iproute2: the kernel takes routes of several lists, and of large weights"
    forget()
    srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                "path add 2 segs fc00::2 dev u0 via fd00:1::2\n"
                "policy add color 9 endpoint fd00:9::1 candidate "
                "segment-list 1 weight 65535 segment-list 2 weight 3\n"
                "policy add color 9 endpoint 10.9.0.1 candidate "
                "segment-list 1 weight 512 segment-list 2 weight 256\n"
                "policy add color 9 endpoint fc00::2 candidate segment-list 1\n"
                "endpoint add fd00:9::/64 to fd00:9::1\n"
                "endpoint add fc00::/16 to fd00:9::1\n"
                "endpoint add ::/0 to fd00:9::1\n"
                "endpoint add 10.9.0.0/16 to 10.9.0.1\n")
    routes = [line.split(" #")[0].split() for line in
              srpol("export", "iproute2").splitlines() if line.startswith("ip ") and
              "nexthop" in line]
    eq(sorted(words[4] for words in routes),
       ["10.9.0.0/16", "10.9.0.1/32", "fd00:9::/64", "fd00:9::1/128"])
    text = srpol("export", "iproute2")
    for prefix, segment_list, more in (
            ("fc00::2/128", 2, "$"),
            *((p, 1, f"; if that has a longer route:\n# ip -6 route replace {p} ")
              for p in ("fc00::/16", "::/0"))):
        match(text, f"(?m)^# no route to {prefix} for color 9, the first SID of segment list "
              f"{segment_list} is there{more}", "not once more")
    for words in routes:
        ns.run(*words)
    for family, prefix, weights in (("-6", "fd00:9::/64", ["256", "1"]),
                                    ("-6", "fd00:9::1/128", ["256", "1"]),
                                    ("-4", "10.9.0.0/16", ["256", "128"]),
                                    ("-4", "10.9.0.1/32", ["256", "128"])):
        there = ns.run("ip", family, "route", "show", prefix)
        ns.run("ip", family, "route", "del", prefix)
        eq(re.findall(r"encap seg6.* weight (\d+)", there), weights, there)


@test
def export_device():
    "export iproute2: a device whose name means something to a shell"
    forget()
    name = "a;b'c"
    ns.run("ip", "link", "add", name, "type", "veth", "peer", "name", "abc")
    for dev in name, "abc":
        ns.run("ip", "link", "set", dev, "up")
    ns.run("ip", "addr", "add", "fd00:5::1/64", "dev", name, "nodad")
    ns.run("ip", "neigh", "add", "fd00:5::2", "lladdr", "02:00:00:00:00:05", "dev", name)
    srpol("path", "add", "1", "segs", "fc00::5", "dev", name, "via", "fd00:5::2")
    srpol("policy", "add", "color", "11", "endpoint", "fd00:11::1", "candidate",
          "segment-list", "1")
    busywait(lambda: show("path")[0]["state"] == "up")
    line, = [line for line in srpol("export", "iproute2").splitlines()
             if line.startswith("ip -6 route") and "fd00:11::1" in line]
    ns.run("sh", "-c", line)
    there = ns.run("ip", "-6", "route", "show", "fd00:11::1")
    ns.run("ip", "link", "del", name)
    assert f" dev {name} " in there, (line, there)


cleanup(forget)
main()
