#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The srpol command: watching. rule test, metrics, monitor, dev watch.
"""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time

from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families)

from cli_lib import (client, everything, forget, free_data_plane,
                     keep_data_plane, net, ns, show, srpol, valid)
from bpfmap import Map
from ktap import busywait, cleanup, eq, main, match, run, test
from srpol import BUILD


keep_data_plane()


# What is asked, and what the answer must hold: rules 5 and 6 of EVERYTHING
# and what stands behind them.
ASKED = (
    ("src fd00:a::1 dst fd00:b::2 qp 17 opcode ack sport 100 mark 0x10 "
     "dscp 26 pkey 0x8001 vlan 12 dev u0",
     {"prio": 5, "rule": "five", "color": 7, "ordering": "weak"}),
    ("src fd00:a::1 dst fd00:b::2 qp 17 opcode ack sport 100 mark 0x10 "
     "dscp af31 pkey 0x8001 vlan 12 dev u0 proto udp dport 4791", {"prio": 5}),
    ("src fd00:a::1 dst fd00:b::2 qp 17 opcode ack sport 100 mark 0x10 "
     "dscp 26 pkey 0x8001 vlan 13 dev u0", {"result": "bypass", "prio": 6}),
    ("src 10.0.0.1 dst 10.2.0.1 proto tcp sport 5 dport 80",
     {"result": "bypass", "prio": 6}),
    ("src fe80::1 dst fe80::2", {"result": "link-scope"}),
)


@test
def rule_test():
    "rule test says which rule, policy and path, as packets then would get"
    everything()
    for words, want in ASKED:
        answer, = valid("rule-test", srpol("-j", "rule", "test",
                                            *words.split()))
        eq({k: answer.get(k) for k in want}, want, words)
    forget()
    srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                "path add 2 segs fc00::2 dev u0 via fd00:1::2 admin down\n"
                "policy add color 1 endpoint fd00:b::1 mode active-backup "
                "candidate segment-list 2 segment-list 1\n"
                "endpoint add fd00:b::/64 to fd00:b::1\n"
                "rule add prio 1 qp 100-199 color 1\ndev add u0 role uplink")
    answer, = valid("rule-test", srpol(
        "-j", "rule", "test", "src", "fd00:a::1", "dst", "fd00:b::7", "qp",
        "150"))
    eq({k: answer[k] for k in ("result", "prio", "mode", "path", "primary")},
       {"result": "steered", "prio": 1, "mode": "active-backup", "path": 1,
        "primary": 2}, "QP 150")
    match(srpol("rule", "test", "src", "fd00:a::1", "dst", "fd00:b::7", "qp",
                "150"), r"(?s)steered.*rule prio 1.*policy color 1 endpoint "
          r"fd00:b::1.*path 1", "text")
    answer, = valid("rule-test", srpol(
        "-j", "rule", "test", "src", "fd00:a::1", "dst", "fd00:b::7", "qp",
        "200"))
    eq(answer["result"], "no-rule", "QP 200")
    for path, why in ((1, None), (2, "is not up"), (3, "is no active segment"),
                      (9, "is not there")):
        srpol(batch="path replace 3 segs fc00::3 dev u0 via fd00:1::2\n"
                    f"rule replace prio 1 qp 100-199 color 1 path {path}")
        said = srpol("rule", "test", "src", "fd00:a::1", "dst", "fd00:b::7",
                     "qp", "150")
        match(said, r"(?m)^\tpath 1\b", "the path that is taken")
        eq(re.findall(r"-> by hash: path (\d+), which the rule names, (.*)",
                      said)[:1],
           [] if not why else
           [(str(path), re.search(f"{why}.*", said)[0])], "why another one")
        answer, = valid("rule-test", srpol(
            "-j", "rule", "test", "src", "fd00:a::1", "dst", "fd00:b::7",
            "qp", "150"))
        eq((answer["mode"], answer.get("rule_path")),
           ("hash", path if why else None), "JSON")
    srpol("path", "replace", "1", "segs", "fc00::1", "dev", "u0", "via",
          "fd00:1::2", "admin", "down")
    answer, = valid("rule-test", srpol(
        "-j", "rule", "test", "src", "fd00:a::1", "dst", "fd00:b::7", "qp",
        "150"))
    eq(answer["result"], "invalid-passthrough", "no path is up")
    eq(show("stats") and [r["packets"] for r in show("stats")
                          if r["reason"] == "steered"], [0], "nothing counted")


def openmetrics(text):
    """Samples by name and labels; complains about what is not OpenMetrics."""
    samples, families = {}, {}
    lines = text.splitlines()
    eq(lines[-1], "# EOF", "last line")
    for line in lines[:-1]:
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name not in families, f"{name} twice"
            families[name] = kind
        elif not line.startswith("#"):
            name, labels, value = re.fullmatch(
                r'([a-z_]+)(?:\{(.*)\})? (\d+)', line).groups()
            family = name.removesuffix("_total")
            eq(families[family], "counter" if name != family else "gauge",
               f"type of {name}")
            assert (name, labels) not in samples, line
            samples[name, labels] = int(value)
    return samples


@test
def metrics():
    "metrics is OpenMetrics text with every object"
    everything()
    srpol(batch="sid add fc00:b:: behavior End\n"
                "sid add fc00:b::/64 behavior End\n")
    got = openmetrics(srpol("metrics"))
    eq(got["srpol_path_up", 'path="1",name="path one"'], 0, "path 1")
    eq(got["srpol_path_up", 'path="2",name=""'], 1, "path 2")
    eq(got["srpol_path_down_reason", 'path="1",reason="admin-down"'], 1,
       "why")
    for family, n in (("path_packets_total", 3), ("policy_bytes_total", 2),
                      ("rule_packets_total", 3), ("sid_dropped_total", 7)):
        eq(len([1 for name, _ in got if name == f"srpol_{family}"]), n, family)
    eq(got["srpol_table_entries", 'table="paths"'], 3, "paths in use")
    # whoever publishes the file would take it for whole
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(["srpol", "-n", ns.name, "metrics"], text=True,
                              stdout=full, stderr=subprocess.PIPE, check=False)
    eq(done.returncode, 2, "exit status on a full disk")
    match(done.stderr, "standard output could not be written", "why")


@test
def metrics_lint():
    "promtool finds nothing wrong in either format; counters keep their type"
    everything()
    text = srpol("metrics", "text")
    match(text, r"# TYPE srpol_path_packets_total counter\n", "type")
    eq("# EOF" in text or "# UNIT" in text, False, "OpenMetrics in it")
    for form in "text", "openmetrics":
        done = subprocess.run([f"{BUILD}/tools/bin/promtool", "check",
                               "metrics"], text=True, capture_output=True,
                              input=srpol("metrics", form), check=False)
        # it does not know that in OpenMetrics the help of a counter stands
        # at its family, whose name has no suffix; all else is a fault
        said = [line for line in (done.stdout + done.stderr).splitlines()
                if form == "text" or not line.endswith("_total no help text")]
        eq(said, [], form)
    families = {f.name: f for f in
                text_string_to_metric_families(srpol("metrics"))}
    eq(families["srpol_path_bytes"].type, "counter", "by another parser")
    eq(families["srpol_path_bytes"].unit, "bytes", "its unit")


@test
def monitor():
    "-j monitor: each line is JSON and tells what happened, in order"
    forget()
    with subprocess.Popen(["srpol", "-n", ns.name, "-j", "monitor"],
                          stdout=subprocess.PIPE) as process:
        cleanup(process.kill)
        os.set_blocking(process.stdout.fileno(), False)
        got = b""

        def heard(what):
            nonlocal got
            got += process.stdout.read() or b""
            return what in got

        # it listens once it says so
        def listens():
            for time in "1000", "1001":
                srpol("config", "set", "retry-interval", time)
            return heard(b"config")

        busywait(listens, 20)
        got = b""
        srpol("-force",
              batch="path add 91 segs fc00::1 dev u0 via fd00:1::2 name m\n"
                    "sid add fc00::9 behavior End\n"
                    "endpoint add ::/0 to ::\n"
                    "policy add color 8 endpoint :: candidate segment-list 91\n"
                    "rule add prio 99 bypass\n"
                    "rule del prio 99\n")
        ns.ip("link set u0 down")
        busywait(lambda: heard(b'"state":"down"'), 20)
        ns.ip("link set u0 up\naddr replace fd00:1::1/64 dev u0 nodad\n"
              "neigh replace fd00:1::2 lladdr 02:00:00:00:00:02 dev u0\n")
        srpol("-force", batch="policy del color 8 endpoint ::\npath del 91\n")
        busywait(lambda: heard(b'"event":"del","object_type":"path"'), 20)
        process.kill()
    lines = [json.loads(line) for line in got.decode().splitlines()]
    for line in lines:
        eq(len(line), 1, f"events in {line}")
    events = [line[0] for line in lines]
    for e in events:
        match(e["time"], r"^\d+\.\d{6}$", "time")
    sets = [(e["event"], e["object_type"]) for e in events
            if e["event"] != "state"]
    want = [("set", kind) for kind in ("path", "sid", "endpoint", "policy",
                                       "rule")]
    want += [("del", kind) for kind in ("rule", "policy", "path")]
    eq([s for s in sets if s != ("set", "config")], want, "notifications")
    down = [e for e in events if e["event"] == "state" and
            e["object_type"] == "path" and e["state"] == "down"]
    eq(down and (down[0]["id"], down[0]["name"]), (91, "m"), "path down")
    added = next(e for e in events if e["event"] == "set" and
                 e["object_type"] == "path")
    eq(added["object"][0]["segments"], ["fc00::1"], "the object in it")


@test
def drops():
    "monitor drops: a dropped packet is told with its reason, one from before is not"
    forget()
    srpol(batch="config set drop-events 100\n"
                "policy add color 1 endpoint :: drop-upon-invalid on\n"
                "rule add prio 1 color 1\ndev add u0 role uplink\n")

    def dropped():
        return sum(r["packets"] for r in show("stats") if r["reason"] == "invalid-drop")

    # the data plane keeps these, as nobody reads them; they are longer than all others
    had = dropped()
    ns.run("ping", "-c", "10", "-i", "0.01", "-W", "1", "-s", "500", "fd00:1::2",
           check=False)
    assert dropped() - had >= 10, "no packet before the monitor begins"
    with subprocess.Popen(["srpol", "-n", ns.name, "-j", "monitor", "drops"],
                          stdout=subprocess.PIPE) as process:
        cleanup(process.kill)
        os.set_blocking(process.stdout.fileno(), False)
        got = b""

        def heard():
            nonlocal got
            ns.run("ping", "-c", "1", "-W", "1", "fd00:1::2", check=False)
            got += process.stdout.read() or b""
            return b"\n" in got

        busywait(heard, 20)
        process.kill()
    for line in got.splitlines():
        event, = valid("monitor", line)
        eq({k: event[k] for k in ("event", "reason", "dev", "src", "dst")},
           {"event": "drop", "reason": "invalid-drop", "dev": "u0",
            "src": "fd00:1::1", "dst": "fd00:1::2"}, "event")
        assert event["len"] < 500, event


def role_of(dev):
    """Role and hook of a device, None if it has none."""
    for d in show("dev"):
        if d["dev"] == dev:
            return d["role"], d["xdp"], d["ingress_attached"]
    return None


@test
def dev_watch():
    "dev watch: a device that is created anew gets its role, not one taken off"
    forget()
    free_data_plane()
    srpol("dev", "watch", "now", status=1, error="now")
    ns.ip("link add w0 type veth peer name w1")
    ns.ip("link add w2 type veth peer name w3")
    srpol("dev", "add", "w0", "role", "uplink", "xdp", "generic")
    with subprocess.Popen(["srpol", "-n", ns.name, "dev", "watch"],
                          stdout=subprocess.PIPE, text=True) as watch:
        def says(line):
            eq(watch.stdout.readline(), line + "\n", "what it says")
        try:
            says("w0: role uplink")
            srpol("dev", "add", "w2", "role", "port")
            says("w2: role port")
            srpol(batch="rule add prio 1 dev w2 dst fd00::/16 color 1\n"
                        "rule add prio 2 dev w2 color 2 origin engine\n"
                        "rule add prio 3 dev u0 color 3\n")
            first = ns.ifindex("w2")
            for dev, peer, role in (("w0", "w1", "uplink"), ("w2", "w3", "port"),
                                    ("w0", "w1", "uplink")):
                had = role_of(dev)
                ns.ip(f"link del {dev}")
                eq(role_of(dev), None, "role without a device")
                ns.ip(f"link add {dev} type veth peer name {peer}")
                says(f"{dev}: is back with role {role}")
                eq(role_of(dev), had, f"{dev} as it was")
                at = ns.ifindex("w2")
                eq([r["ifindex"] for r in client.dump("rule")],
                   [at, first, ns.ifindex("u0")], "devices of rules")
                eq(show("rule")[1]["reason"],
                   "no-policy" if at == first else "no-device",
                   "rule of the engine")
            srpol("dev", "del", "w2")
            says("w2: no more role port")
            ns.ip("link del w2")
            ns.ip("link add w2 type veth peer name w3")
            ns.ip("link del w0")
            ns.ip("link add w0 type veth peer name w1")
            says("w0: is back with role uplink")
            eq(role_of("w2"), None, "role that was taken off")
        finally:
            watch.terminate()
            watch.wait()
    for dev in ("w0", "w2"):
        ns.ip(f"link del {dev}")
    forget()


@test
def dev_watch_refused():
    "dev watch: a device that cannot have its role is tried ever less often, another at once"
    forget()
    keep_data_plane()
    ns.ip("link add w0 type veth peer name w1")
    srpol("dev", "add", "w0", "role", "uplink", "xdp", "native")
    with subprocess.Popen(["srpol", "-n", ns.name, "dev", "watch"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as watch:
        refused = "w0: is back, but cannot have role uplink\n"
        try:
            eq({watch.stdout.readline() for _ in range(2)},
               {"k0: role port\n", "w0: role uplink\n"}, "roles")
            # a driver without native XDP
            ns.ip("link del w0\nlink add w0 type dummy")
            eq(watch.stdout.readline(), refused, "first attempt")
            begin = time.monotonic()
            eq([watch.stdout.readline() for _ in range(3)], 3 * [refused], "more of them")
            waited = time.monotonic() - begin
            assert waited > 6, f"four attempts within {waited} s, not 7"
            # the next one is in 8 s: another device is not kept waiting, whatever its index
            begin = time.monotonic()
            ns.ip(f"link del w0\nlink add w0 index {ns.ifindex('w0')} type dummy")
            eq(watch.stdout.readline(), refused, "another device of that index")
            ns.ip("link del w0\nlink add w0 type veth peer name w1")
            # where that took a second, there was one more attempt
            line = watch.stdout.readline()
            while line == refused:
                line = watch.stdout.readline()
            eq(line, "w0: is back with role uplink\n", "one with native XDP")
            waited = time.monotonic() - begin
            assert waited < 7, f"tried after {waited} s"
            eq(role_of("w0")[0], "uplink", "its role")
        finally:
            watch.terminate()
            watch.wait()
    ns.ip("link del w0")
    free_data_plane()
    forget()


@test
def frames_in_fragments():
    "of a tap it is known that it takes no frame in fragments from XDP"
    forget()
    run("modprobe", "tun")
    with net.Netns() as far:
        ns.ip(f"link add w0 type veth peer name w1 netns {far.name}\n"
              "tuntap add dev t0 mode tap\n"
              "link set w0 up\nlink set t0 up")
        far.ip("link set w1 up")
        far.run("ethtool", "-K", "w1", "gro", "on")
        srpol("dev", "add", "w0", "role", "uplink")
        srpol("dev", "add", "t0", "role", "port")
        pins = f"/sys/fs/bpf/srpol/{ns.name}"
        veth, tap = (struct.pack("=I", ns.ifindex(dev)) for dev in ("w0", "t0"))

        def keys(name):
            with Map(f"{pins}/{name}") as m:
                return set(m.keys())

        eq(keys("forward_to"), {veth, tap}, "what XDP may send by")
        eq(keys("linear_xdp"), {tap}, "what takes no fragments")
        srpol("dev", "del", "t0")
        eq(keys("linear_xdp"), set(), "once the tap has no role")
        ns.ip("link del w0\nlink del t0")
    forget()


@test
def dev_watch_frames():
    "dev watch: what XDP may send by is what takes its frames now"
    forget()
    with net.Netns() as far:
        ns.ip(f"link add w0 type veth peer name w1 netns {far.name}\n"
              "link set w0 up")
        far.ip("link set w1 up")
        srpol("dev", "add", "w0", "role", "uplink")
        pins = f"/sys/fs/bpf/srpol/{ns.name}"
        key = struct.pack("=I", ns.ifindex("w0"))

        def takes(wanted):
            for name in ("uplinks_xdp", "forward_to"):
                with Map(f"{pins}/{name}") as m:
                    if (key in list(m.keys())) != wanted:
                        return False
            return True

        def gro(on):
            far.run("ethtool", "-K", "w1", "gro", on)

        assert takes(False), "without GRO at the other end"
        gro("on")
        with subprocess.Popen(["srpol", "-n", ns.name, "dev", "watch"],
                              stdout=subprocess.PIPE, text=True) as watch:
            try:
                # before it began, and since
                busywait(lambda: takes(True), 20)
                for _ in range(3):
                    gro("off")
                    busywait(lambda: takes(False), 20)
                    gro("on")
                    busywait(lambda: takes(True), 20)
            finally:
                watch.terminate()
                watch.wait()
        ns.ip("link del w0")
    forget()


@test
def dev_watch_reload():
    "dev watch: the module may go and come back; each is said once"
    forget()
    said = f"/tmp/watch.{os.getpid()}"
    with open(said, "ab") as errors, subprocess.Popen(
            ["srpol", "-n", ns.name, "dev", "watch"], stdout=subprocess.PIPE,
            stderr=errors, text=True) as watch:
        try:
            ns.ip("link add w0 type veth peer name w1")
            for _ in range(2):
                srpol("dev", "add", "w0", "role", "uplink", "xdp", "generic")
                eq(watch.stdout.readline(), "w0: role uplink\n", "role")
                forget()
                eq(watch.stdout.readline(), "w0: no more role uplink\n",
                   "no more role")
                os.truncate(said, 0)
                busywait(lambda: not subprocess.run(
                    ["rmmod", "srpol"], check=False,
                    stderr=subprocess.DEVNULL).returncode, 20)
                for i in range(5):
                    ns.ip(f"link add x{i} type veth peer name y{i}")
                    ns.ip(f"link del x{i}")
                busywait(lambda: os.path.getsize(said), 20)
                net.load_module()
                eq(watch.stdout.readline(), "module srpol is back\n", "back")
                with open(said, encoding="ascii") as f:
                    eq(f.read().count("Error"), 1, "times it complained")
        finally:
            watch.terminate()
            watch.wait()
            os.remove(said)
    ns.ip("link del w0")


@test
def flow_top():
    "flow show --top: of the data plane that there is, and ends without one"
    forget()
    add = "dev", "add", "w0", "role", "uplink", "xdp", "generic"
    ns.ip("link add w0 type veth peer name w1")
    # it ends in any moment of a look
    for _ in range(3):
        srpol(*add)
        with subprocess.Popen(["srpol", "-n", ns.name, "-j", "flow", "show", "--top",
                               "interval", "1ms"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as top:
            try:
                eq(top.stdout.readline(), "[]\n", "no flows")
                # replaced between two looks at it
                top.send_signal(signal.SIGSTOP)
                srpol("dev", "del", "w0")
                srpol(*add)
                top.send_signal(signal.SIGCONT)
                for _ in range(9):
                    eq(top.stdout.readline(), "[]\n", "no flows of another one")
                srpol("dev", "del", "w0")
                said = top.communicate(timeout=60)[1]
                eq(top.returncode, 2, "status without one")
                match(said, "no data plane is attached", "why")
            finally:
                top.kill()
    ns.ip("link del w0")


@test
def long_name():
    "path show --top: that a long name of a namespace leaves srpold no socket is said once"
    name = 100 * "n"
    run("ip", "netns", "add", name)
    cleanup(run, "ip", "netns", "del", name)
    run("ip", "-n", name, "link", "add", "w0", "type", "veth", "peer", "name", "w1")
    srpol("dev", "add", "w0", "role", "uplink", "xdp", "generic", netns=name)
    why = r"^Error: srpol: srpold has no socket by the name of this network namespace, .*\.\n$"
    eq(srpol("-j", "path", "show", "--top", "interval", "1ms", "count", "3", netns=name,
             error=why), 3 * "[]\n", "what it shows")
    match(srpol("metrics", netns=name, error=why), "(?m)^srpol_engine_up 0$", "metrics")
    srpol("dev", "del", "w0", netns=name)


@test
def trace_name():
    "path trace: of several paths of a name none is taken, the ids are told"
    forget()

    def trace(*words, error="^$"):
        return srpol("path", "trace", *words, "count", "1", "hops", "1", "wait", "10ms",
                     status=2, error=error)

    add = "path add {} name {} segs fc00::{} dev u0 via fd00:1::2\n"
    srpol(batch="".join(add.format(*p) for p in ((1, "x", 1), (2, "x", 2), (3, "y", 3),
                                                 (4, "2", 4))) +
          "dev add u0 role uplink\n")
    for words in ("x",), ("name", "x"):
        eq(trace(*words, error='^Error: srpol: 2 paths have the name "x", give an id: '
                 r"1, 2\.\n$"), "", "nothing is traced")
    for words, said in ((("y",), "path 3 name y"), (("2",), "path 2 name x"),
                        (("id", "2"), "path 2 name x"), (("name", "2"), "path 4 name 2")):
        match(trace(*words), f"^{said} up dev u0 not reached", words)
    srpol(batch="".join(add.format(16300 + i, "x", 5) for i in range(20)))
    trace("x", error='22 paths have the name "x", give an id: 1, 2, 16300, .*, 16313, '
          r"\.\.\.\.\n$")
    trace("z", error='no path has the id or name "z"')


@test
def flow_names():
    "flow show --top: a policy that was made since the last look is not taken for deleted"
    forget()
    srpol("dev", "add", "u0", "role", "uplink")
    with subprocess.Popen(["srpol", "-n", ns.name, "-j", "flow", "show", "--top",
                           "interval", "3s"], stdout=subprocess.PIPE, text=True) as top:
        try:
            eq(top.stdout.readline(), "[]\n", "no flows")
            srpol(batch="path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                        "policy add color 1 endpoint fd00:1::2 candidate segment-list 1\n"
                        "rule add prio 7 proto udp color 1\n")
            with ns, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as udp:
                udp.sendto(b"", ("fd00:1::2", 9))
            flow = next(flow for line in top.stdout for flow in json.loads(line)
                        if flow["dport"] == 9)
        finally:
            top.kill()
    eq({k: flow.get(k) for k in ("verdict", "path", "color", "rule_prio")},
       {"verdict": "steered", "path": 1, "color": 1, "rule_prio": 7}, "its names")


def ring_of(process):
    """The id of the ring buffer that a monitor reads, None if there is none."""
    folder = f"/proc/{process.pid}/fdinfo"
    for fd in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError), \
                open(f"{folder}/{fd}", encoding="ascii") as f:
            info = dict(re.findall(r"^(\w+):\t(\S+)$", f.read(), re.M))
            if info.get("map_type") == "27":
                return info["map_id"]
    return None


@test
def monitor_unloaded():
    "monitor: reads drops of a data plane that is loaded anew, ends with the module"
    forget()
    ns.ip("link add w0 type veth peer name w1")
    add = "dev", "add", "w0", "role", "uplink", "xdp", "generic"
    srpol(*add)
    with contextlib.ExitStack() as all_of_them:
        monitors = [all_of_them.enter_context(subprocess.Popen(
            ["srpol", "-n", ns.name, "monitor", *what], text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
            for what in ((), ("drops",), ("config",))]
        for process in monitors:
            all_of_them.callback(process.kill)
        rings = set()
        for _ in range(3):
            for process in monitors[:2]:
                busywait(lambda p=process: ring_of(p) not in {None, *rings}, 20,
                         f"another ring buffer for {process.args}")
            rings |= {ring_of(process) for process in monitors[:2]}
            srpol("dev", "del", "w0")
            srpol(*add)
        forget()
        busywait(lambda: not subprocess.run(
            ["rmmod", "srpol"], check=False,
            stderr=subprocess.DEVNULL).returncode, 20)
        net.load_module()
        for process in monitors:
            eq(process.wait(20), 2, f"status of {process.args}")
            match(process.stderr.read(), "^Error: srpol: module srpol was "
                  "unloaded, and all objects with it\\.\n$", "why")
    ns.ip("link del w0")


cleanup(forget)
main()
