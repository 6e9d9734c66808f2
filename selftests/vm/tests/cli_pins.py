#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What srpol dev and doctor do when the pins are not what they seem: names of
namespaces that are used again, two commands at a time, mount namespaces that
end, users without rights.
"""

import json
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import busywait, cleanup, eq, main, match, run, test  # noqa: E402

BPFTOOL = os.path.join(os.environ.get("BUILD", os.path.join(TOP, "build")),
                       "tools/sbin/bpftool")
PINS = "/sys/fs/bpf/srpol"
NAME = f"srpol-again-{os.getpid()}"
LINKS = ("link add u0 type veth peer name u1\nlink set u0 up\n"
         "link set u1 up\naddr add fd00:1::1/64 dev u0 nodad\n"
         "neigh add fd00:1::2 lladdr 02:00:00:00:00:02 dev u0\n")

net.load_module()
cleanup(run, "rm", "-rf", PINS)


def make():
    """A namespace of always the same name, with an uplink to be."""
    if os.path.exists(f"/run/netns/{NAME}"):
        delete()
    net.ip(f"netns add {NAME}")
    run("ip", "-n", NAME, "-batch", "-", input=LINKS)


def delete():
    run("ip", "netns", "del", NAME)


def srpol(*words, status=0, under=()):
    done = subprocess.run([*under, "srpol", "-n", NAME, *words], text=True,
                          capture_output=True, check=False)
    eq(done.returncode, status, f"exit status of {words}: {done.stderr!r}")
    return done.stdout + done.stderr


def foreign(verb, dev, *prog):
    """Attach or detach an XDP program that is not srpol's."""
    run("nsenter", f"--net=/run/netns/{NAME}", BPFTOOL, "net", verb,
        "xdpgeneric", *prog, "dev", dev)


def state():
    """What a refused dev add has to leave as it is."""
    folder = f"{PINS}/{NAME}"
    maps = {name: run(BPFTOOL, "-j", "map", "dump", "pinned",
                      f"{folder}/{name}")
            for name in ("uplinks", "uplinks_xdp", "forward_to",
                         "forward_from")}
    return sorted(os.listdir(folder)), maps, srpol("-j", "dev", "show")


def doctor(check):
    out = subprocess.run(["srpol", "-n", NAME, "-j", "doctor"], text=True,
                         stdout=subprocess.PIPE, check=False).stdout
    return [(c["verdict"], c["text"]) for c in json.loads(out)
            if c["check"] == check]


def steers():
    """Does a ping from the namespace take the path configured now?"""
    srpol("path", "replace", "1", "segs", "fc00::1", "dev", "u0", "via",
          "fd00:1::2")
    srpol("policy", "replace", "color", "1", "endpoint", "::", "candidate",
          "segment-list", "1")
    srpol("rule", "replace", "prio", "1", "color", "1")

    def path_packets():
        stats = json.loads(srpol("-j", "-s", "path", "show", "1"))
        return stats[0]["stats"]["packets"]

    before = path_packets()
    run("ip", "netns", "exec", NAME, "ping", "-c", "1", "-W", "1",
        "fd00:1::2", check=False)
    return path_packets() > before


@test
def default_name():
    "the namespace of process 1 has that name for who must not trace it, too"
    few = ("setpriv", "--bounding-set=-all,+net_admin", "--inh-caps=-all")
    for under in ((), few, ("unshare", "-n")):
        # what pins are named by, too
        done = subprocess.run([*under, "srpol", "engine", "show"], text=True,
                              capture_output=True, check=False)
        found = re.search(r"/run/srpold/(\S+)\.sock", done.stderr)
        assert found, done.stderr
        match(found[1], "^netns-" if "unshare" in under else "^default$",
              f"name as {under} sees it")


def links(name):
    """A namespace that "ip netns" calls so, with an uplink to be."""
    net.ip(f"netns add {name}")
    cleanup(lambda: run("ip", "netns", "del", name, check=False))
    run("ip", "-n", name, "-batch", "-", input=LINKS)


def shown(*where):
    """The devices of a namespace, and whether their programs are attached."""
    devs = json.loads(run("srpol", *where, "-j", "dev", "show"))
    return [(d["dev"], d["egress_attached"], d["ingress_attached"])
            for d in devs]


@test
def default_taken():
    "a namespace that ip netns calls default is not taken for that of process 1"
    links("default")
    net.ip("link add w0 type veth peer name w1")
    cleanup(net.ip, "link del w0")
    net.ip("link set w0 up")
    run("srpol", "dev", "add", "w0")
    run("srpol", "-n", "default", "dev", "add", "u0")
    both = [("w0", True, True)], [("u0", True, True)]
    eq((shown(), shown("-n", "default")), both, "both attached")
    run("srpol", "-n", "default", "dev", "del", "u0")
    eq((shown(), shown("-n", "default")), (both[0], []), "one deleted")
    run("srpol", "dev", "del", "w0")


@test
def dots():
    "names with dots, which the BPF file system does not take, have folders too"
    name = f"srpol.{os.getpid()}%2e"
    links(name)
    run("srpol", "-n", name, "dev", "add", "u0")
    eq(shown("-n", name), [("u0", True, True)])
    net.ip(f"netns del {name}")
    folders = os.listdir(PINS)
    eq(folders, [f"srpol%2e{os.getpid()}%252e"])
    make()
    srpol("dev", "add", "u0")
    eq(os.listdir(PINS), [NAME], "swept")
    delete()


@test
def name_again():
    "a namespace of a name that was used before starts from nothing"
    make()
    srpol("dev", "add", "u0", "role", "uplink")
    assert steers(), "in the first"
    delete()
    make()
    assert os.path.exists(f"{PINS}/{NAME}"), "the first left no pins"
    (verdict, text), = doctor("pins")
    eq(verdict, "error", text)
    match(text, f"{NAME} was left by another network namespace")
    srpol("stats", "show", status=2)
    srpol("dev", "add", "u0", "role", "uplink")
    assert steers(), "in the second"
    eq([v for v, _ in doctor("pins")], ["ok"], "doctor")
    delete()


@test
def orphans():
    "pins of a namespace that is gone are told, and go with the next dev add"
    make()
    srpol("dev", "add", "u0")
    delete()
    other = net.Netns(LINKS)
    out = subprocess.run(["srpol", "-n", other.name, "doctor"], text=True,
                         stdout=subprocess.PIPE, check=False).stdout
    match(out, f"{PINS}/{NAME} was left by a deleted network namespace")
    run("srpol", "-n", other.name, "dev", "add", "u0")
    assert not os.path.exists(f"{PINS}/{NAME}"), "still there"
    assert os.path.exists(f"{PINS}/{other.name}"), "removed its own"
    run("srpol", "-n", other.name, "dev", "del", "u0")


@test
def two_at_a_time():
    "two first dev add at the same time: both devices are attached"
    make()
    run("ip", "-n", NAME, "link", "add", "w0", "type", "veth", "peer", "name",
        "w1")
    for _ in range(2):
        adding = [subprocess.Popen(["srpol", "-n", NAME, "dev", "add", dev])
                  for dev in ("u0", "w0")]
        eq([p.wait() for p in adding], [0, 0], "exit status")
        shown = json.loads(srpol("-j", "dev", "show"))
        eq([(d["dev"], d["egress_attached"], d["ingress_attached"])
            for d in shown], [("u0", True, True), ("w0", True, True)],
           "attached")
        deleting = [subprocess.Popen(["srpol", "-n", NAME, "dev", "del", dev])
                    for dev in ("u0", "w0")]
        eq([p.wait() for p in deleting], [0, 0], "exit status of del")
        assert not os.path.exists(f"{PINS}/{NAME}"), "pins stay"
    delete()


@test
def registration_lost():
    "doctor tells when programs forward by maps that nobody writes"
    make()
    srpol("dev", "add", "u0")
    os.unlink(f"{PINS}/{NAME}/link_dp")
    (verdict, text), = doctor("pins")
    eq(verdict, "error", text)
    match(text, "link_dp is missing")
    srpol("dev", "del", "u0")
    srpol("dev", "add", "u0")
    assert steers(), "after that"
    delete()


@test
def older_data_plane():
    "a data plane of another version is told as such, and what to do about it"
    make()
    run("ip", "-n", NAME, "link", "add", "w0", "type", "veth", "peer", "name",
        "w1")
    srpol("dev", "add", "u0")
    os.unlink(f"{PINS}/{NAME}/uplinks_xdp")
    for role in ("uplink", "port"):
        text = srpol("dev", "add", "w0", "role", role, status=2)
        match(text, "another version of srpol and has no uplinks_xdp: "
              '"srpol dev del" of all devices')
        shown = json.loads(srpol("-j", "dev", "show"))
        eq([d["dev"] for d in shown], ["u0"], "devices")
    srpol("dev", "del", "u0")
    srpol("dev", "add", "u0")
    for role in ("uplink", "port"):
        srpol("dev", "add", "w0", "role", role)
        srpol("dev", "del", "w0")
    srpol("flow", "show")
    os.unlink(f"{PINS}/{NAME}/flow_details")
    text = srpol("flow", "show", status=2)
    match(text, "loaded by another version of srpol: \"srpol dev del\"")
    (verdict, text), = doctor("pins")
    eq(verdict, "error", text)
    match(text, "was loaded by another version of srpol")
    delete()


def other_layout(name, kind, key, value):
    """Put a map with other values, and one entry, in the place of a pinned one."""
    pin = f"{PINS}/{NAME}/{name}"
    os.unlink(pin)
    run(BPFTOOL, "map", "create", pin, "type", kind, "key", str(key), "value",
        str(value), "entries", "64", "name", name)
    run(BPFTOOL, "map", "update", "pinned", pin, "key", *["0"] * key, "value",
        *["1"] * value)


@test
def other_values():
    "a map whose values have another size is not read or written, and told"
    make()
    run("ip", "-n", NAME, "link", "add", "w0", "type", "veth", "peer", "name",
        "w1")
    srpol("dev", "add", "u0")
    for name, *layout in (("reasons", "array", 4, 4096),
                          ("probes", "array", 4, 8),
                          ("path_stats", "array", 4, 65536),
                          ("limits", "percpu_hash", 4, 48),
                          ("host_addrs", "hash", 16, 4096)):
        eq([v for v, _ in doctor("pins")], ["ok"], "doctor before")
        other_layout(name, *layout)
        told = (f"{NAME} was loaded by another version of srpol, whose map "
                f'{name} has another layout: "srpol dev del" of all devices')
        for words in (("stats", "show"), ("metrics",), ("flow", "show"),
                      ("-s", "path", "show"), ("dev", "add", "w0"),
                      ("dev", "add", "h0", "role", "host", "address",
                       "fd00:a::1/128")):
            match(srpol(*words, status=2), told, words)
        eq([d for d, *_ in shown("-n", NAME)], ["u0"], "devices")
        (verdict, text), = doctor("pins")
        eq(verdict, "error", text)
        match(text, "was loaded by another version of srpol")
        srpol("dev", "del", "u0")
        srpol("dev", "add", "u0")
    other_layout("reasons", "array", 4, 4096)
    srpol("path", "add", "7", "segs", "fc00::7", "dev", "u0", "via", "fe80::7")
    archive = f"/tmp/{NAME}.tar.gz"
    cleanup(run, "rm", "-f", archive)
    srpol("bug-report", archive)
    match(run("tar", "-xOzf", archive, "--wildcards", "*/path.json"),
          '"id": 7', "paths in a bug report")
    delete()


def lose(what):
    """Remove pins; the kernel detaches the programs a moment later."""
    run("sh", "-c", f"rm -r {PINS}/{NAME}{what}")
    busywait(lambda: not any(egress or ingress
                             for _, egress, ingress in shown("-n", NAME)),
             what="detached")


@test
def half():
    "devices that lost their programs get them back from dev add and replace"
    make()
    port = ("dev", "add", "u1", "role", "port")
    host = ("dev", "add", "h0", "role", "host", "address", "fd00:a::1/128")
    for add in ("dev", "add", "u0"), port, host:
        srpol(*add)
    whole = shown("-n", NAME)
    eq([any(programs) for _, *programs in whole], [True] * 3, "at first")
    text = srpol("export", "srpol")
    for what in "", "/link_*":
        lose(what)
        run("srpol", "-n", NAME, "replace", "-f", "-", input=text)
        eq(shown("-n", NAME), whole, f"replace without {what or 'all'}")
        lose(what)
        for add in ("dev", "add", "u0"), port, host:
            srpol(*add)
        eq(shown("-n", NAME), whole, f"dev add without {what or 'all'}")
    assert steers(), "in the end"
    match(srpol("dev", "add", "u0", status=2), "object exists")
    delete()


@test
def xdp_slot_taken():
    "an XDP program of others is not replaced, and the refusal leaves nothing"
    make()
    srpol("dev", "add", "u0", "role", "uplink")
    foreign("attach", "u1", "pinned", f"{PINS}/{NAME}/prog_uplink")
    before = state()
    text = srpol("dev", "add", "u1", "role", "port", "hook", "xdp", status=2)
    match(text, r"XDP program srpol_uplink \(id \d+\) is on the device")
    eq(state(), before, "pins, maps of devices and roles")
    delete()


def lose_xdp(dev):
    """Remove the pin of XDP alone; the kernel detaches it a moment later."""
    index = run("ip", "netns", "exec", NAME, "cat",
                f"/sys/class/net/{dev}/ifindex").strip()
    os.unlink(f"{PINS}/{NAME}/link_ingress_{index}")
    busywait(lambda: (dev, True, False) in shown("-n", NAME),
             what="XDP detached")


@test
def xdp_slot_taken_later():
    "an XDP program of others where srpol's was: refused, the role stays"
    make()
    srpol("dev", "add", "u0")
    text = srpol("export", "srpol") + "dev add u1 role port\n"
    lose_xdp("u0")
    foreign("attach", "u0", "pinned", f"{PINS}/{NAME}/prog_uplink")
    before = state()
    for words in ("dev", "add", "u0"), ("replace", "-f", "-"):
        done = subprocess.run(["srpol", "-n", NAME, *words], text=True,
                              input=text, capture_output=True, check=False)
        eq(done.returncode, 2, f"{words}: {done.stderr!r}")
        match(done.stderr,
              r"XDP program srpol_uplink \(id \d+\) is on the device")
        eq(state(), before, f"{words}: pins, maps of devices and roles")
    match(done.stderr, "that was u0: nothing has changed for it and the devices after it")
    foreign("detach", "u0")
    srpol("dev", "add", "u0")
    eq(shown("-n", NAME), [("u0", True, True)], "without it")
    lose_xdp("u0")
    match(srpol("dev", "add", "u0", "xdp", "none", status=2),
          "an uplink processes local SIDs in XDP")
    eq(shown("-n", NAME), [("u0", True, False)], "xdp none")
    delete()


@test
def native_refused_later():
    "XDP that the driver does not take any more costs no device its role"
    make()
    # veth wants a queue for each one that packets come from
    run("ip", "-n", NAME, "-batch", "-", input="link add q1 numtxqueues 2 "
        "type veth peer name q0 numrxqueues 1\nlink set q1 up\n"
        "link set q0 up\n")
    srpol("dev", "add", "q0")
    lose_xdp("q0")
    match(srpol("dev", "add", "q0", "xdp", "native", status=2),
          "driver veth refuses native XDP")
    eq([name for name, *_ in shown("-n", NAME)], ["q0"], "the role")
    srpol("dev", "add", "q0")
    eq(shown("-n", NAME), [("q0", True, True)], "xdp auto")
    delete()


@test
def ip_netns_exec():
    "ip netns exec srpol dev add is refused, as its pins would not stay"
    make()
    done = subprocess.run(["ip", "netns", "exec", NAME, "srpol", "dev", "add",
                           "u0"], text=True, capture_output=True, check=False)
    eq(done.returncode, 2, done.stderr)
    match(done.stderr, 'use "srpol -n NAME"')
    eq(srpol("-j", "dev", "show").strip(), "[]", "nothing was added")
    delete()


# A mount namespace of which its process 1 is part, too: the guest's stays.
PRIVATE = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c")
WITHOUT_BPFFS = """
umount /sys/fs/bpf
echo refused: $(SRPOL_NO_BPFFS_MOUNT=1 srpol -n "$1" dev add u0 2>&1)
echo mounted: $(grep -c ' /sys/fs/bpf bpf ' /proc/mounts)
srpol -n "$1" dev add u0
echo mounted: $(grep -c ' /sys/fs/bpf bpf .*mode=700' /proc/mounts)
echo pins: $(ls /sys/fs/bpf/srpol)
srpol -n "$1" dev del u0
"""


@test
def no_bpffs():
    "dev add mounts a BPF file system, unless SRPOL_NO_BPFFS_MOUNT is set"
    make()
    before = run("find", "/sys/fs/bpf")
    out = run(*PRIVATE, WITHOUT_BPFFS, "sh", NAME).splitlines()
    match(out[0], "^refused: .*no BPF file system: "
          r"mount -t bpf bpf /sys/fs/bpf\.$", "SRPOL_NO_BPFFS_MOUNT")
    eq(out[1:], ["mounted: 0", "mounted: 1", f"pins: {NAME}"], "then")
    eq(run("find", "/sys/fs/bpf"), before, "the guest's")
    delete()


@test
def unprivileged():
    "who may not read the maps is told so, and gets no zeros"
    # "srpol -n" needs rights of its own: look at the guest's namespace
    net.ip("link add u9 type veth peer name u8\nlink set u9 up\n"
           "link set u8 up\n")
    cleanup(net.ip, "link del u9\n")
    run("srpol", "dev", "add", "u9")
    cleanup(run, "srpol", "dev", "del", "u9")

    def nobody(*words, status):
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534",
                               "--clear-groups", "srpol", *words], text=True,
                              capture_output=True, check=False)
        eq(done.returncode, status, f"{words}: {done.stderr!r}")
        return done

    for words in (("metrics",), ("stats", "show"), ("flow", "show"),
                  ("-s", "path", "show"), ("monitor", "drops")):
        match(nobody(*words, status=2).stderr, "Permission denied", words)
        eq(nobody(*words, status=2).stdout, "", words)
    text = nobody("dev", "show", status=0).stdout
    match(text, "programs not shown: Permission denied")
    assert "NOT ATTACHED" not in text, text
    device, = json.loads(nobody("-j", "dev", "show", status=0).stdout)
    assert "egress_attached" not in device, device
    text = nobody("doctor", status=0).stdout
    assert "dev del" not in text, text
    match(text, "run srpol doctor as root")


cleanup(lambda: os.path.exists(f"/run/netns/{NAME}") and delete())
main()
