#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
guest.py NAME PART...: parts of the bench of the control plane, in a guest: the
module with the eBPF data plane attached, against the kernel's own seg6 routes.
What is compared runs in turns, in one guest; a value is the median of the
rounds, beside it is the 10th percentile. Time is CLOCK_MONOTONIC of the guest.
Writes $SRPOL_OUT/NAME.json.

    init namespace                     namespace "peer"
    fd00:0::1/64  u0 ---------------- p0  fd00:0::2/64
    fd00:1::1/64  u1 ---------------- p1  fd00:1::2/64
"""

import json
import os
import platform
import subprocess
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
BUILD = os.environ.get("BUILD", f"{TOP}/build")
TOOLS = f"{BUILD}/selftests/bench/control"
OUT = os.environ["SRPOL_OUT"]
WORK = "/run/bench"

PEER = ("ip", "netns", "exec", "peer")
TRACING = "/sys/kernel/tracing"
NETDEV_CHANGE, NETDEV_GOING_DOWN = 4, 10        # linux/netdevice.h

TABLE = 999
BATCH = 2000            # objects added in one batch
SINGLE = 40            # objects added by a command each
ROUNDS = 5
POLICIES = 10000        # of what is replaced
PATHS = 16000           # their distinct segment lists
LISTS = 8
REPLACE_ROUNDS = 2      # to the instruction nearly the same
CHANGE_ROUNDS = 8
FAILOVER_ROUNDS = 5     # odd: each time begins with what is not configured
FAILOVER_POLICIES = 1000
MEMORY = 8000           # objects of a kind whose memory is measured
MEMORY_RULES = 4000

rows = []


def run(*words, **more):
    return subprocess.run(words, check=True, text=True,
                          stdout=subprocess.PIPE, **more).stdout


def timed(*words):
    """Seconds that a command takes."""
    start = time.monotonic()
    run(*words)
    return time.monotonic() - start


def spawned(lines):
    """Seconds that many commands take, one after the other."""
    return int(run(f"{TOOLS}/spawn", write("spawn", lines))) / 1e9


def write(name, lines):
    path = f"{WORK}/{name}"
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def median(values):
    return percentile(values, 0.5)


def report(name, unit, values, kernel=None, target=None, met=None):
    """A row: values of ours and of the kernel; @met says whether it is good."""
    values = list(values)
    kernel = kernel and list(kernel)
    value = median(values)
    row = {"name": name, "value": round(value, 3),
           "p10": round(percentile(values, 0.1), 3), "unit": unit,
           "kernel_value": None, "kernel_p10": None, "ratio": None,
           "target": target, "met": None}
    if kernel:
        row["kernel_value"] = round(median(kernel), 3)
        row["kernel_p10"] = round(percentile(kernel, 0.1), 3)
        row["ratio"] = round(value / median(kernel), 3)
    if met:
        row["met"] = met(row)
    rows.append(row)
    print(f"# {name}: {row['value']} {unit}", file=sys.stderr, flush=True)


def segs(number):
    return ",".join(f"fc00:{i}:{number:x}::1" for i in range(3))


def route_line(number):
    return (f"route add fd02::{number:x} encap seg6 mode encap "
            f"segs {segs(number)} dev u0 table {TABLE}")


def path_line(number, via=0):
    return (f"path add {number} segs {segs(number)} dev u{via} "
            f"via fd00:{via}::2")


def policy_line(number, lists, weights=None):
    words = "".join(
        f" segment-list {path}" + (f" weight {weights[i]}" if weights else "")
        for i, path in enumerate(lists))
    return f"policy add color {number} endpoint fd02::{number:x} candidate{words}"


def setup():
    os.makedirs(WORK, exist_ok=True)
    run("insmod", f"{TOP}/kmod/srpol.ko")
    run("ip", "netns", "add", "peer")
    for i in (0, 1):
        run("ip", "-b", "-", input=f"""
            link add u{i} mtu 9000 type veth peer name p{i} mtu 9000 netns peer
            link set u{i} up
            addr add fd00:{i}::1/64 dev u{i} nodad
            """)
        run("ip", "-n", "peer", "-b", "-", input=f"""
            link set p{i} up
            addr add fd00:{i}::2/64 dev p{i} nodad
            """)
        # a link that comes back is as it was
        for where, dev in ((), f"u{i}"), (PEER, f"p{i}"):
            run(*where, "sysctl", "-q", f"net.ipv6.conf.{dev}.accept_dad=0",
                f"net.ipv6.conf.{dev}.keep_addr_on_down=1")
    # no errors, which would take the paths down
    run("ip", "-n", "peer", "route", "add", "blackhole", "fc00::/16")
    run("srpol", "-b", "-", input="""
        dev add u0 role uplink
        dev add u1 role uplink
        """)
    for i in (0, 1):
        run("ping", "-q", "-c", "1", f"fd00:{i}::2")
    # makes the table, without which there is nothing to flush
    run("ip", "-6", "route", "add", "unreachable", "fd02::/16", "table",
        str(TABLE))
    write("empty", [])


def clear():
    run("srpol", "replace", "empty", "-f", f"{WORK}/empty")
    run("ip", "-6", "route", "flush", "table", str(TABLE))


def objects_of(kind):
    return sum(line.startswith(kind)
               for line in run("srpol", kind, "show").splitlines())


def adding():
    """Paths, policies and seg6 routes: by batch and by single commands."""
    route = [route_line(i) for i in range(1, BATCH + 1)]
    path = [path_line(i) for i in range(1, BATCH + 1)]
    policy = [policy_line(i, [i]) for i in range(1, BATCH + 1)]
    both = [line for pair in zip(path, policy) for line in pair]
    files = {"route": write("routes", route), "path": write("paths", path),
             "policy": write("policies", policy), "both": write("both", both)}
    batch = {kind: [] for kind in files}
    single = {kind: [] for kind in files}
    dump = {kind: [] for kind in ("route", "path", "policy")}
    pairs = {"route": [write(f"route{i}", route[i:i + 1])
                       for i in range(SINGLE)],
             "both": [write(f"both{i}", both[2 * i:2 * i + 2])
                      for i in range(SINGLE)]}
    pair = {kind: [] for kind in pairs}
    start = []

    for _ in range(ROUNDS):
        clear()
        batch["route"].append(timed("ip", "-6", "-b", files["route"]) / BATCH)
        batch["path"].append(timed("srpol", "-b", files["path"]) / BATCH)
        batch["policy"].append(timed("srpol", "-b", files["policy"]) / BATCH)
        dump["route"].append(BATCH / timed("ip", "-6", "route", "show",
                                           "table", str(TABLE)))
        dump["path"].append(BATCH / timed("srpol", "path", "show"))
        dump["policy"].append(BATCH / timed("srpol", "policy", "show"))
        clear()
        batch["both"].append(timed("srpol", "-b", files["both"]) / BATCH)
        clear()
        single["route"].append(spawned(f"ip -6 {line}" for line in
                                       route[:SINGLE]) / SINGLE)
        single["path"].append(spawned(f"srpol {line}" for line in
                                      path[:SINGLE]) / SINGLE)
        single["policy"].append(spawned(f"srpol {line}" for line in
                                        policy[:SINGLE]) / SINGLE)
        clear()
        pair["route"].append(spawned(f"ip -6 -b {name}" for name in
                                     pairs["route"]) / SINGLE)
        pair["both"].append(spawned(f"srpol -b {name}" for name in
                                    pairs["both"]) / SINGLE)
        start.append(spawned(["/bin/true"] * SINGLE) / SINGLE)
    clear()

    def rates(times):
        return [1 / t for t in times]

    def micro(times):
        return [t * 1e6 for t in times]

    route_rate = rates(batch["route"])
    report("paths added, -batch", "1/s", rates(batch["path"]), route_rate)
    report("policies added, -batch", "1/s", rates(batch["policy"]),
           route_rate)
    report("path + policy, -batch", "us", micro(batch["both"]),
           micro(batch["route"]), "<= 1 route", lambda r: r["ratio"] <= 1)
    route_rate = rates(single["route"])
    report("paths added, single commands", "1/s", rates(single["path"]),
           route_rate)
    report("policies added, single commands", "1/s", rates(single["policy"]),
           route_rate)
    report("path + policy, two commands to one", "us",
           micro(a + b for a, b in zip(single["path"], single["policy"])),
           micro(single["route"]), "<= 1 route", lambda r: r["ratio"] <= 1)
    report("path + policy, one command each (-b)", "us", micro(pair["both"]),
           micro(pair["route"]), "<= 1 route", lambda r: r["ratio"] <= 1)
    report("a command that does nothing, /bin/true", "us", micro(start))
    for kind in ("path", "policy"):
        report(f"{kind} show", "1/s", dump[kind], dump["route"])


def config_lines(step, weights=None, first=0):
    """POLICIES of LISTS each, over PATHS distinct segment lists."""
    for i in range(1, PATHS + 1):
        yield path_line(i, i % 2).replace("fc00:2:", f"fc00:{2 + first}:")
    for i in range(1, POLICIES + 1):
        yield policy_line(i, [(i * LISTS + k * step) % PATHS + 1
                              for k in range(LISTS)], weights)


def replacing():
    files = {
        "base": write("base", config_lines(1)),
        "weights": write("weights", config_lines(1, [1, 2, 3, 1, 2, 3, 1, 2])),
        "lists": write("lists", config_lines(3)),
        "sids": write("sids", config_lines(5, [3] * LISTS, 7)),
    }
    took = {kind: [] for kind in ("empty", "weights", "lists", "sids",
                                  "same")}

    def replace(name):
        return timed("srpol", "replace", "-f", files[name])

    for _ in range(REPLACE_ROUNDS):
        clear()
        took["empty"].append(replace("base"))
        took["weights"].append(replace("weights"))
        replace("base")
        took["lists"].append(replace("lists"))
        took["sids"].append(replace("sids"))
        took["same"].append(replace("sids"))
    if objects_of("policy") != POLICIES:
        raise SystemExit("not all policies are there")
    clear()
    what = {"empty": "from nothing", "weights": "all weights changed",
            "lists": "all lists changed",
            "sids": "all lists, weights and SIDs changed",
            "same": "nothing changed"}
    for kind, values in took.items():
        report(f"replace of {POLICIES} x {LISTS}, {what[kind]}", "s", values,
               None, "< 5 s", lambda r: r["value"] < 5)


def slab():
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("Slab:"):
                return int(line.split()[1]) * 1024
    raise SystemExit("no Slab in /proc/meminfo")


def memory():
    clear()
    path = write("paths", (path_line(i) for i in range(1, MEMORY + 1)))
    policy = write("policies", (
        policy_line(i, [(i + k) % MEMORY + 1 for k in range(LISTS)])
        for i in range(1, MEMORY + 1)))
    rule = write("rules", (f"rule add prio {i} proto udp dport {i} color 1"
                           for i in range(1, MEMORY_RULES + 1)))
    for name, file, n, target in (
            ("path of 3 SIDs", path, MEMORY, 512),
            (f"policy of {LISTS} lists", policy, MEMORY, 1024),
            ("rule", rule, MEMORY_RULES, None)):
        before = slab()
        run("srpol", "-b", file)
        report(f"memory of a {name}, beside maps", "bytes",
               [(slab() - before) / n], None,
               target and f"<= {target}",
               target and (lambda r, most=target: r["value"] <= most))
    clear()


def changing():
    clear()
    took = {}
    for line in run(f"{TOOLS}/change", "u0", "fd00:0::2",
                    str(CHANGE_ROUNDS)).splitlines():
        kind, ns = line.split()
        took.setdefault(kind, []).append(int(ns) / 1e3)
    for kind, name in (("path", "change of a path"),
                       ("policy", f"change of a policy of {LISTS} lists"),
                       ("again", "change of a path, again at once")):
        report(f"{name}, until the ack", "us", took[kind], took["route"])
        for share in (0.9, 0.99):
            report(f"{name}, {share * 100:.0f} of 100 within", "us",
                   [percentile(took[kind], share)],
                   [percentile(took["route"], share)])
    clear()


def trace(name, text):
    with open(f"{TRACING}/{name}", "w", encoding="ascii") as file:
        file.write(text)


def trace_times():
    """When a device was about to go down, or its carrier changed: ns."""
    times = []
    with open(f"{TRACING}/trace", encoding="ascii") as file:
        for line in file:
            if line.endswith((f"event=0x{NETDEV_CHANGE:x}\n",
                              f"event=0x{NETDEV_GOING_DOWN:x}\n")):
                before = line.split(": netdev:")[0].split()[-1]
                times.append(int(float(before) * 1e6) * 1000)
    return times


def failing():
    """u0 dies under policies with two paths over either link."""
    n = FAILOVER_POLICIES
    paths = [path_line(i, (i - 1) // 2 % 2) for i in range(1, 4 * n + 1)]
    rest = ["endpoint add fd04::/64 to fd02::1", "rule add prio 1 color 1"]
    files = [write(name, paths + [
        policy_line(i, [4 * (i - 1) + k for k in (1, 2, 3, 4)], weights)
        for i in range(1, n + 1)] + rest)
        for name, weights in (("failover", None), ("other", [1, 2, 2, 1]))]
    clear()
    run("ip", "-6", "route", "replace", "fd04::/64", "via", "fd00:1::2",
        "dev", "u1")
    run("srpol", "-b", files[0])
    trace("kprobe_events", "p:srpol/netdev srpol_netdev_event event=%si")
    trace("trace_clock", "mono")
    trace("events/srpol/enable", "1")
    for way, name, during in (("down", "link set down", ()),
                              ("carrier", "carrier lost", ()),
                              ("down", "link set down during a replace",
                               files[::-1]),
                              ("carrier", "carrier lost during a replace",
                               files)):
        trace("trace", "")
        out = run(f"{TOOLS}/failover", "peer", way, str(FAILOVER_ROUNDS),
                  *during)
        failover_rows(name, [[int(word) for word in line.split()]
                             for line in out.splitlines()], trace_times(),
                      not during)
    trace("events/srpol/enable", "0")
    trace("kprobe_events", "")
    clear()


def failover_rows(name, rounds, events, alone):
    """The event is the first one in the module while the link was killed."""
    learnt = [next(t for t in events if t >= r[0]) for r in rounds]
    begin, _, last, moved, compiled, lost = zip(*rounds)

    def ms(start, end):
        return [(b - a) / 1e6 for a, b in zip(start, end)]

    name = f"failover, {name}:"
    report(f"{name} event to first packet", "ms", ms(learnt, moved), None,
           "< 1 ms", lambda r: r["value"] < 1)
    report(f"{name} last old to first new packet", "ms", ms(last, moved))
    report(f"{name} request to first packet", "ms", ms(begin, moved))
    if alone:
        report(f"{name} event to {FAILOVER_POLICIES} compiled", "ms",
               ms(learnt, compiled), None, "< 50 ms",
               lambda r: r["value"] < 50)
    report(f"{name} packets lost", "", lost)


def main():
    parts = {"add": adding, "replace": replacing, "memory": memory,
             "change": changing, "failover": failing}
    setup()
    for name in sys.argv[2:]:
        parts[name]()
    with open(f"{OUT}/{sys.argv[1]}.json", "w", encoding="ascii") as file:
        json.dump({"kernel": platform.release(), "cpus": os.cpu_count(),
                   "rows": rows}, file, indent=1)


main()
