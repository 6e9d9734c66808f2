#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
How long a plan takes to all hosts: a real etcd of three members, srpol-fabricd
as it is shipped, and up to 1000 hosts with srpold's own code to follow plans
(simhost: only the module is not there), all on this machine and its loopback.

An observer watches the store. For each epoch and host it has the time from the
head's event to that of the host's acknowledgement, so both ends are seen by the
same clock at the same place, and what is measured is watch, reads of index, page
and chunk, digests, and the acknowledgement's transaction through all members.
Neither etcd nor hosts wait for a disk.

Points: FANOUT_POINTS, default 100,200,400,700,1000; epochs at each:
FANOUT_EPOCHS, default 10; hosts of a leaf: FANOUT_PER_LEAF, default 32. Writes $BUILD/bench/fanout.json and prints tables;
nothing is held to a time.
"""

import base64
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import threading
import time

# hosts save what they apply, each on its own disk: not all on one
os.environ["TMPDIR"] = "/dev/shm"
TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
LOGS = os.path.join(os.environ.get("BUILD", f"{TOP}/build"), "bench/fanout")
shutil.rmtree(LOGS, ignore_errors=True)
os.makedirs(LOGS)
os.environ["SRPOL_OUT"] = LOGS
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../engine"))
import engine  # noqa: E402
from engine import BUILD, RUN, wait_for  # noqa: E402

POINTS = [int(x) for x in os.environ.get(
    "FANOUT_POINTS", "100,200,400,700,1000").split(",")]
EPOCHS = int(os.environ.get("FANOUT_EPOCHS", "10"))
FAR = (10_000, 100_000)
PER_PROCESS = 100
PER_LEAF = int(os.environ.get("FANOUT_PER_LEAF", "32"))
SPINES = 8

engine.FABRICD = f"{BUILD}/bin/srpol-fabricd"
engine.SIMHOST = f"{BUILD}/selftests/engine/simhost-plain"
engine.PATIENCE = 600


def topology(hosts):
    """Leaves below 8 spines, a NIC a host."""
    leaves = -(-hosts // PER_LEAF)
    t = {"srpol-topology": 1, "switches": [], "hosts": [], "links": []}
    for i in range(leaves):
        t["switches"].append({"name": f"leaf{i}", "role": "leaf",
                              "locator": f"fc00:0:{0x100 + i:x}::/48"})
    for s in range(SPINES):
        t["switches"].append({"name": f"spine{s}", "role": "spine",
                              "locator": f"fc00:0:{0x10 + s:x}::/48"})
        t["links"] += [{"from": f"leaf{i}", "to": f"spine{s}", "rate": "400G"}
                       for i in range(leaves)]
    for h in range(hosts):
        t["hosts"].append({
            "name": f"h{h}", "locator": f"fc00:1:{h + 1:x}::/48", "nics": [
                {"name": "eth0", "leaf": f"leaf{h // PER_LEAF}",
                 "rate": "400G", "address": f"fd00:{h + 1:x}::1",
                 "gateway": f"fd00:{h + 1:x}::fe"}]})
    with open(f"{RUN}/topology.json", "w") as f:
        json.dump(t, f)
    return [f"h{i * PER_LEAF}" for i in range(leaves)]


class Observer(threading.Thread):
    """When heads and acknowledgements were seen."""

    def __init__(self, etcd):
        super().__init__(daemon=True)
        self.heads, self.acks, self.bytes = {}, {}, {}
        self.p = subprocess.Popen(
            [engine.ETCDCTL, "--endpoints", ",".join(etcd.endpoints), "watch",
             "--prefix", "/srpol/", "-w", "json"], stdout=subprocess.PIPE,
            env={**os.environ, "ETCDCTL_API": "3"})
        self.start()

    def run(self):
        for line in self.p.stdout:
            now = time.monotonic()
            for e in json.loads(line).get("Events") or []:
                if e.get("type") == 1:
                    continue
                key = base64.b64decode(e["kv"]["key"]).decode()
                value = base64.b64decode(e["kv"].get("value", ""))
                parts = key.split("/")
                if key == "/srpol/plan/0/head":
                    epoch = json.loads(value)["epoch"]
                    self.heads[epoch] = now
                    self.bytes.setdefault(epoch, {})["head"] = len(value)
                elif parts[2] == "ack":
                    epoch = json.loads(value)["epoch"]
                    self.acks.setdefault(epoch, {}).setdefault(parts[4], now)
                elif parts[2] == "index":
                    self.keep(parts[4], "page" if len(parts) > 5 else "index",
                              value)
                elif parts[2] == "plan":
                    self.keep(parts[4], "chunk", value)

    def keep(self, epoch, what, value):
        """The longest of them counts."""
        of = self.bytes.setdefault(int(epoch), {})
        of[what] = max(of.get(what, 0), len(value))

    def end(self):
        self.p.terminate()
        self.p.wait()


def memory(process):
    """MiB of its own."""
    with open(f"/proc/{process.p.pid}/smaps_rollup") as f:
        fields = dict(line.split(":") for line in f if ":" in line and
                      "-" not in line.split(":")[0])
    return int(fields["Pss"].split()[0]) / 1024


def processor(processes):
    """Seconds of processor time that they took."""
    total = 0
    for p in processes:
        with open(f"/proc/{p.p.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def loopback():
    """Bytes that went over it; this process has a network of its own."""
    with open("/proc/net/dev") as f:
        for line in f:
            if line.split(":")[0].strip() == "lo":
                return int(line.split(":")[1].split()[0])
    return 0


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


def measure(n):
    jobs = topology(n)
    etcd = engine.Etcd()
    store = {"kind": "etcd", "endpoints": etcd.endpoints}
    fabricd = engine.start_engine("fanout", store, **{"settle-ms": 50,
                                                      "lease-s": 60})
    wait_for("leader", lambda: engine.ask("fanout", "show")["leads"])
    names = [f"h{i}" for i in range(n)]
    groups = [engine.Hosts(f"hosts{i}", names[i:i + PER_PROCESS], store,
                           **{"lease-s": 600})
              for i in range(0, n, PER_PROCESS)]
    observer = Observer(etcd)
    # an all-to-all between hosts of all leaves, and then links that change
    etcd.put("job/t/all", json.dumps({"all-to-all": {"hosts": jobs,
                                                     "bytes": 1 << 30}}))

    def all_acked():
        epoch = engine.ask("fanout", "show")["epoch"]
        return epoch if len(observer.acks.get(epoch, ())) == n and \
            epoch in observer.heads else None

    def at_rest():
        epoch = all_acked()
        return epoch if epoch and len(observer.bytes.get(
            epoch, ())) >= 4 else None

    epoch = wait_for("the first plan", at_rest)
    members = [m for m in etcd.members if m]
    hosts = [g.process for g in groups]
    roles = {"etcd": members, "hosts": hosts, "engine": [fabricd]}
    delays, sent, took = [], [], {role: [] for role in roles}
    for i in range(EPOCHS):
        before = loopback()
        used = {role: processor(of) for role, of in roles.items()}
        etcd.put("link/0/leaf0/h0", json.dumps({"number": i + 1, "links": [
            {"from": f"leaf{i % len(jobs)}", "to": f"spine{i % SPINES}",
             "capacity": 100_000_000_000 + i}]}))
        last = epoch
        epoch = wait_for("an epoch", lambda: (
            lambda e: e if e and e > last else None)(all_acked()))
        at = observer.heads[epoch]
        delays += [max(0, t - at) for t in observer.acks[epoch].values()]
        sent.append(loopback() - before)
        for role, of in roles.items():
            took[role].append(processor(of) - used[role])
    point = {
        "hosts": n, "leaves": len(jobs), "epochs": EPOCHS,
        "p50_ms": 1e3 * quantile(delays, .5), "p99_ms": 1e3 * quantile(delays, .99),
        "max_ms": 1e3 * max(delays),
        **{f"{role}_cpu_ms": 1e3 * quantile(x, .5) for role, x in took.items()},
        "loopback_kB": quantile(sent, .5) / 1e3,
        "etcd_MiB": max(memory(m) for m in members),
        "engine_MiB": memory(fabricd),
        "host_kiB": 1024 * sum(memory(h) for h in hosts) / n,
        **{f"{k}_bytes": v for k, v in observer.bytes[epoch].items()},
    }
    observer.end()
    for g in groups:
        g.end()
    fabricd.end()
    for m in members:
        m.end(9)
    os.system(f"rm -rf {RUN}/*")
    return point


def line_through(points):
    """Least squares: (a, b) of y = a + b * x."""
    n = len(points)
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    var = sum((x - mx) ** 2 for x, _ in points)
    slope = sum((x - mx) * (y - my) for x, y in points) / var if var else 0
    return my - slope * mx, slope


def texts(p):
    """What a host reads of an epoch, in bytes."""
    return sum(p[f"{k}_bytes"] for k in ("head", "index", "page", "chunk"))


def page_leaves(leaves):
    """As lib/plan's page.c has it."""
    return max(16, math.isqrt(leaves - 1) + 1)


def texts_of(last, leaves, peers):
    """Likewise with so many leaves, each of which sends to so many others."""
    per = page_leaves(last["leaves"])
    line = (last["page_bytes"] - 40) / min(per, last["leaves"])
    per = page_leaves(leaves)
    return (last["head_bytes"] + 135 + 97 * -(-leaves // per) + 40 + line * per +
            last["chunk_bytes"] / (last["leaves"] - 1) * peers)


def model(points):
    """
    Two points that nobody measured: all leaves send to all others, or to 31.
    A host reads texts, whose lines are counted; bytes are linear in these. Of etcd's
    processor time each host has as much as in the mean of what was measured, of its
    memory as much as the line through the points has.
    """
    sent = line_through([(texts(p) / 1e3, p["loopback_kB"] / p["hosts"])
                         for p in points])
    etcd = sum(p["etcd_cpu_ms"] / p["hosts"] for p in points) / len(points)
    memory_of = line_through([(p["hosts"], p["etcd_MiB"]) for p in points])
    print(f"# model: {sent[0]:.1f} kB + {sent[1]:.2f} * texts, etcd {etcd:.2f} ms, "
          f"{1024 * memory_of[1]:.0f} KiB per host")
    for hosts in FAR:
        leaves = -(-hosts // PER_LEAF)
        for peers in leaves - 1, 31:
            size = texts_of(points[-1], leaves, peers)
            print(f"# not measured: {hosts} hosts, {leaves} leaves, each sends to "
                  f"{peers}: texts {size:.0f} bytes, etcd {etcd * hosts / 1e3:.0f} s, "
                  f"loopback {(sent[0] + sent[1] * size / 1e3) * hosts / 1e6:.1f} GB, "
                  f"a member {(memory_of[0] + memory_of[1] * hosts) / 1024:.1f} GiB")


def main():
    # a network of our own, so that its counters are ours
    if "FANOUT_INSIDE" not in os.environ:
        os.environ["FANOUT_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "-n", sys.executable,
                              os.path.abspath(__file__)])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    points = []
    try:
        for n in POINTS:
            points.append(measure(n))
            print(f"# {json.dumps(points[-1])}", flush=True)
    finally:
        for process in reversed(engine.processes):
            process.end(9)
        os.system(f"rm -rf {RUN}")
    keys = [k for k in points[0] if k not in ("hosts", "leaves", "epochs")]
    keys = [k for k in keys if all(k in p for p in points)]
    where = f"{BUILD}/bench"
    os.makedirs(where, exist_ok=True)
    with open(f"{where}/fanout.json", "w") as f:
        json.dump({"processors": os.cpu_count(), "load": os.getloadavg(),
                   "points": points}, f, indent=1)
    print(f"# {'hosts':24}" + "".join(f"{p['hosts']:>10}" for p in points))
    for k in keys:
        print(f"# {k:24}" + "".join(f"{p[k]:10.4g}" for p in points))
    model(points)
    return 0


if __name__ == "__main__":
    sys.exit(main())
