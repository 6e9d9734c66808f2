#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The srpol command: what a file says is made so. replace, export srpol.
"""

import json
import os
import subprocess
import tempfile

from cli_lib import (CHOSEN, OK, REFUSED, USAGE, everything, forget, loaded,
                     ns, show, srpol)
from ktap import busywait, cleanup, eq, main, match, run, test
from srpol import KINDS, without


def state():
    """All configuration, without what the kernel chose or found."""
    return {kind: [without(o, {*CHOSEN.get(kind, ()), "generation"})
                   for o in show(kind)] for kind in (*KINDS, "config")}


def generation():
    return show("config")[0]["generation"]


def replace(text, status=OK, error="^$"):
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(text)
        f.flush()
        return srpol("replace", "-f", f.name, status=status, error=error)


@test
def export_replace():
    "export srpol is what replace -f makes the same of; twice changes nothing"
    everything()
    before, exported = state(), srpol("export", "srpol")
    replace(exported.replace(" origin engine", ""))
    plain_state = state()
    at = generation()
    replace(srpol("export", "srpol"))
    eq(generation(), at, "generation after the second time")
    eq(state(), plain_state, "state after the second time")
    for kind, objects in before.items():
        eq([without(o, {"origin"}) for o in plain_state[kind]],
           [without(o, {"origin"}) for o in objects], kind)
    replace("path add 2 segs fc00::9\n")
    eq([(o["id"], o["segments"]) for o in show("path")], [(2, ["fc00::9"])],
       "paths")
    eq([show(k) for k in ("policy", "rule", "endpoint", "sid")],
       [[], [], [], []], "all else went")
    eq(show("config")[0]["hop_limit"], 64, "hop limit is the default again")
    loaded.clear()


@test
def created_again():
    "a device that is created again, or not there now, is exported by its name"
    def make():
        ns.ip("link add w0 type veth peer name w1\nlink set w0 up\n"
              "link set w1 up\naddr add fd00:2::1/64 dev w0 nodad")

    forget()
    make()
    lines = ("path add 1 segs fc00::1 dev w0 via fd00:2::2\n"
             "rule add prio 1 dev w0 color 1\n"
             "sid add fc00:e::1/128 behavior End.X dev w0 via fd00:2::2\n")
    srpol(batch=lines.replace("/128", ""))
    exported = srpol("export", "srpol")
    eq(sorted(exported.splitlines()), sorted(lines.splitlines()), "before")
    for change in (lambda: ns.ip("link del w0")), make:
        change()
        eq(srpol("export", "srpol"), exported, "export")
        eq([show("path")[0]["dev"], show("sid")[0]["dev"],
            show("rule")[0]["match"]["dev"]], ["w0"] * 3, "show")
    busywait(lambda: show("path")[0]["out"].get("dev") == "w0")
    srpol("dev", "add", "w0")
    eq(show("rule")[0]["reason"], "no-device", "the rule is for the old one")
    replace(exported)
    eq(show("rule")[0]["reason"], "no-policy", "and for the new one now")
    srpol("dev", "del", "w0")
    ns.ip("link del w0")


@test
def odd_device():
    "a device with a quote in its name, which the kernel allows"
    name = "w'0#\\"
    run("ip", "-n", ns.name, "link", "add", name, "type", "veth", "peer", "name", "w1")
    forget()
    srpol("path", "add", "1", "segs", "fc00::1", "dev", name)
    srpol("rule", "add", "prio", "1", "dev", name, "color", "1")
    srpol("dev", "add", name)
    srpol("dev", "add", "v'0", "role", "host", "peer", "v#\"0")
    exported = srpol("export", "srpol")
    replace(exported)
    eq(srpol("export", "srpol"), exported)
    eq([show("path")[0]["dev"], show("rule")[0]["match"]["dev"]], [name] * 2)
    eq(sorted(o["dev"] for o in show("dev")), ["v'0", name])
    forget()
    srpol(batch=exported)
    eq(srpol("export", "srpol"), exported)
    forget()
    run("ip", "-n", ns.name, "link", "del", "w1")


@test
def export_is_short():
    "export leaves out what is default, names what a reboot renumbers"
    forget()
    cgroup = f"/srpol-{os.getpid()}"
    os.mkdir(f"/sys/fs/cgroup{cgroup}")
    cleanup(os.rmdir, f"/sys/fs/cgroup{cgroup}")
    text = (f"path add 2 segs fc00::4 dev u0 via fd00:1::2\n"
            f"policy add color 8 endpoint :: candidate segment-list 2\n"
            f"endpoint add fd00:b::/64 to ::\n"
            f"sid add fcbb:bb00:a::/48 behavior uN\n"
            f"rule add prio 6 cgroup '{cgroup}' proto udp color 8\n"
            f"rule add prio 7 dev u0 bypass\n"
            f"dev add u0 role uplink\n")
    replace(text)
    eq(srpol("export", "srpol"), text, "the same words")
    with tempfile.TemporaryDirectory() as folder:
        saved = f"{folder}/saved"
        srpol("save", saved)
        with open(saved, encoding="ascii") as f:
            eq(f.read().split("\n", 1)[1], text, "saved")
        eq(os.listdir(folder), ["saved"], "nothing else is left")
        at = generation()
        srpol("replace", "-f", saved)
        eq(generation(), at, "and it is what there is")
        srpol("save", f"{folder}/nowhere/x", status=REFUSED,
              error="No such file")
        at_once = [subprocess.Popen(["srpol", "-n", ns.name, "save", saved])
                   for _ in range(4)]
        eq([process.wait() for process in at_once], 4 * [OK], "four at once")
        eq(sorted(os.listdir(folder)), ["saved"], "and nothing else is left")
        deep = f"{folder}/{200 * 'd'}"
        os.mkdir(deep)
        long = f"{deep}/{100 * 'f'}"
        # one of a name that this was cut off to
        for path in long[:263], long:
            srpol("save", path)
        eq(len(os.listdir(deep)), 2, "both are there")

        kept, link = f"{folder}/kept", f"{folder}/link"
        os.symlink("kept", link)
        open(kept, "w", encoding="ascii").close()
        srpol("save", link)
        eq(os.readlink(link), "kept", "a link to a file stays one")
        with open(kept, encoding="ascii") as f:
            eq(f.read().split("\n", 1)[1], text, "saved where it leads to")
        os.mkfifo(f"{folder}/fifo")
        for path in f"{folder}/fifo", deep:
            kind = os.stat(path).st_mode
            srpol("save", path, status=REFUSED, error="is not a file")
            eq(os.stat(path).st_mode, kind, "what is no file stays what it is")
        srpol("save", "-", status=USAGE, error='"srpol export" writes')
    forget()


@test
def cgroup_gone():
    "a rule whose control group is gone is told of, and keeps no file from being read"
    forget()
    cgroup = f"/srpol-gone-{os.getpid()}"
    os.mkdir(f"/sys/fs/cgroup{cgroup}")
    id_ = os.stat(f"/sys/fs/cgroup{cgroup}").st_ino
    rest = "path add 2 segs fc00::4\nrule add prio 7 bypass\n"
    replace(f"{rest}rule add prio 6 cgroup {cgroup} bypass\n")
    # where control groups cannot be seen, nothing is said of them
    hidden = subprocess.run(["ip", "netns", "exec", ns.name, "srpol", "export"], text=True,
                            check=True, stdout=subprocess.PIPE).stdout
    match(hidden, f"(?m)^rule add prio 6 cgroup {id_} bypass$")
    os.rmdir(f"/sys/fs/cgroup{cgroup}")
    checks = json.loads(srpol("-j", "doctor", status=1))
    eq([c["text"] for c in checks if "matches nothing" in c["text"]],
       ["rule 6 matches nothing: its control group is gone"])
    exported = srpol("export")
    eq([line for line in exported.splitlines() if "gone" in line and line[0] == "#"] != [],
       True, exported)
    replace(exported)
    eq([o["prio"] for o in show("rule")], [7])
    eq([o["id"] for o in show("path")], [2])
    forget()


@test
def replace_bsids():
    "replace -f: binding SIDs change hands, with policies and local SIDs too"
    policy = "policy add color {} endpoint fd00:b::{} {} candidate segment-list 1\n"
    first, second, none = "bsid fc00:b::1", "bsid fc00:b::2", ""

    def wanted(one, two, sids=(), *others):
        text = "path add 1 segs fc00::1\n"
        text += "".join(policy.format(*p) for p in ((1, 1, one), (1, 2, two),
                                                    *others) if p[2] != "gone")
        return text + "".join(f"sid add {s} behavior End\n" for s in sids)

    def there():
        return {s["sid"]: (s["behavior"], s.get("endpoint"))
                for s in show("sid")}

    forget()
    for file, sids in (
            (wanted(first, second), {1: 1, 2: 2}),
            (wanted(second, first), {1: 2, 2: 1}),
            (wanted(none, second, ["fc00:b::1"]), {1: None, 2: 2}),
            (wanted(first, none, ["fc00:b::2"]), {1: 1, 2: None}),
            (wanted("gone", first), {1: 2}),
            (wanted(first, "gone", ["fc00:b::2"]), {1: 1, 2: None}),
            (wanted("gone", "gone", ["fc00:b::1"], (1, 3, second)),
             {1: None, 2: 3})):
        replace(file)
        eq(there(), {f"fc00:b::{n}": ("End.B6.Encaps.Red", f"fd00:b::{e}")
                     if e else ("End", None) for n, e in sids.items()})


@test
def replace_refused():
    "replace -f: a file that is refused changes nothing and names the line"
    everything()
    before, at = state(), generation()
    good = "path add 5 segs fc00::5\n"
    for text, status, why in (
            (good + "policy add color 9 endpoint :: candidate segment-list 4\n",
             REFUSED, r"no path has this id.*\n.*:2, nothing was changed"),
            (good + good, USAGE, "lines 1 and 2 define the same object"),
            (good + "path del 5\n", USAGE, "not what to delete"),
            (good + "path show\n", USAGE, "has no place"),
            (good + "engine link reset a b socket /nonexistent\n", USAGE,
             "has no place in such a file"),
            (good + "replace -f /dev/null\npath add 2 segs fc00::9\n", USAGE,
             "has no place in one.*:2"),
            (good + "path add x segs fc00::1\n", USAGE, "failed .*:2")):
        replace(text, status, f"(?s){why}")
        eq((state(), generation()), (before, at), text)
    forget()
    srpol(batch="path add 77 segs fc00::7 origin engine\n"
                "path add 6 segs fc00::6\n")
    replace("path add 5 segs fc00::5\n")
    eq([o["id"] for o in show("path")], [5, 77],
       "the engine's paths stay, static ones go")
    srpol(batch="policy add color 3 endpoint :: candidate segment-list 5 "
                "origin engine\n")
    replace("path add 6 segs fc00::6\n", REFUSED, "in use by policy 3")


@test
def largest_policy():
    "a policy with all segment lists there can be: export srpol, replace -f"
    forget()
    text = "".join(f"path add {i} segs fc00::{i:x}\n" for i in range(1, 65))
    text += "policy add color 1 endpoint fd00:b::1"
    for preference in range(1, 9):
        text += f" candidate preference {preference}" + "".join(
            f" segment-list {i} weight {i + 1}" for i in range(1, 65))
    text += "\n"
    replace(text)
    eq(srpol("export", "srpol"), text)
    policy, = show("policy")
    eq([len(c["segment_lists"]) for c in policy["candidates"]], 8 * [64])
    forget()


@test
def devices_refused():
    "replace -f: devices that cannot be as the file says are told beforehand"
    forget()
    replace("path add 1 segs fc00::1\ndev add u0 role uplink xdp generic\n")
    for text, why in (
            ("dev add u0\ndev add u0 role uplink xdp generic\n",
             "the file has u0 twice"),
            ("dev add u1 role port\ndev add u1\n", "the file has u1 twice"),
            ("dev add u0 role port\n", "is there with role uplink, not port"),
            ("dev add u0 xdp native\n",
             "is there with xdp generic, not native")):
        replace("path add 2 segs fc00::2\n" + text, USAGE, why)
        eq(([o["id"] for o in show("path")], [o["dev"] for o in show("dev")]),
           ([1], ["u0"]), text)
    replace("dev add u0\nconfig set dscp pipe 10\nconfig set dscp uniform\n")
    config, = show("config")
    eq((config["dscp_mode"], show("dev")[0]["xdp"]), ("uniform", "generic"),
       "the last line counts")
    replace("config set dscp uniform\nconfig set dscp pipe 11\n")
    eq(show("config")[0]["dscp"], 11, "likewise")
    replace("\n".join(f"config set {key} " + ",".join(400 * ["fc00::/16"])
                      for key in ("sr-domain", "sr-source", "report-from")),
            USAGE, "more than fits into a request")
    forget()


@test
def replace_after_one():
    "replace -f: what one that failed would have deleted is not left to the next one"
    forget()
    srpol(batch="policy add color 1 endpoint ::\nsid add fc00::9 behavior End\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
                ("bad", "".join(f"config set {key} " + ",".join(400 * ["fc00::/16"]) + "\n"
                                for key in ("sr-domain", "sr-source", "report-from"))),
                ("good", "path add 5 segs fc00::5\n")):
            with open(f"{folder}/{name}", "w", encoding="ascii") as f:
                f.write(text)
        srpol("-force", batch=f"replace -f {folder}/bad\nreplace -f {folder}/good\n",
              status=USAGE, error=r"^Error: .* more than fits into a request\.\n"
              r"Command failed -:1\n$")
    eq([[o["id"] for o in show("path")], show("policy"), show("sid")], [[5], [], []])
    forget()


cleanup(forget)
main()
