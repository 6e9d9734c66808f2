#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
"Between two of your own hosts" of the README: what is to be pasted, pasted.
"""

import json
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import cleanup, eq, main, match, run, test    # noqa: E402

with open(os.path.join(TOP, "README.md"), encoding="utf-8") as f:
    BLOCK = re.search(r"<!-- selftests/vm/tests/readme.py .*?```sh\n(.*?)```",
                      f.read(), re.S).group(1)

net.load_module()
for ns_ in "A", "B":
    cleanup(run, "ip", "netns", "del", ns_)


def path_packets(host):
    shown = json.loads(run("srpol", "-n", host, "-j", "-s", "path", "show"))
    return [path["stats"]["packets"] for path in shown]


@test
def pasted():
    "every line works, in the order given"
    # as when it is pasted: each line by itself, and none may fail
    script = "set -e -o pipefail\n" + BLOCK
    done = subprocess.run(["bash", "-c", script], text=True,
                          capture_output=True, check=False)
    eq(done.returncode, 0, done.stdout + done.stderr)
    match(done.stdout, "3 packets transmitted, 3 received", "ping")
    match(done.stdout, r"(?s)path 1.*packets 3", "counters")
    match(done.stdout, r"steered: encapsulated.*\n.*rule prio 100", "test")
    match(done.stdout, r"\thop 1 fc00:0:b::d6 reached 3/3 ", "trace")
    eq(re.findall(r"(?m)^\S+ +(?:warning|error) .*", done.stdout), [],
       "doctor")


@test
def both_ways():
    "packets of both directions took the path"
    eq((path_packets("A"), path_packets("B")), ([3], [3]), "packets")


@test
def flows():
    "flow show names protocol and rule, filters, and has a table"
    def shown(*words):
        return run("srpol", "-n", "A", "flow", "show", *words)

    flow = "flow src fd00:a::1 dst fd00:b::1 proto ipv6-icmp "
    match(shown("dst", "fd00:b::/64"), f"{flow}.* rule prio 100 color 100 ")
    match(shown("proto", "ipv6-icmp"), flow)
    eq(shown("proto", "tcp"), "")
    eq(shown("port", "4791"), "")
    flow, = json.loads(run("srpol", "-n", "A", "-j", "flow", "show", "dst",
                           "fd00:b::/64"))
    eq((flow["proto"], flow["rule_prio"], flow["path"]), (58, 100, 1))
    match(shown("--top", "count", "1", "dst", "fd00:b::/64"),
          r"(?m)^SRC +DST +FLOW +COLOR +PATH .*\n"
          r"fd00:a::1 +fd00:b::1 +ipv6-icmp +100 +1 ")
    match(run("srpol", "-n", "A", "path", "show", "--top", "count", "1",
              "interval", "10ms"),
          r"(?m)^ PATH NAME STATE DEV  +RATE +PKT/S .*\n"
          r" +1 +up    ethA +0\.0 bit/s +0 +- +- +- +- +0\.00 +0 +0$")


@test
def other_addresses():
    "the steering prefix is what addresses behind the endpoint need"
    run("ip", "-n", "B", "addr", "add", "fd00:b::7/128", "dev", "lo")
    run("ip", "netns", "exec", "A", "ping", "-c", "1", "-W", "2", "fd00:b::7")
    eq(path_packets("A"), [4], "with it")
    run("srpol", "-n", "A", "endpoint", "del", "fd00:b::/64")
    run("ip", "netns", "exec", "A", "ping", "-c", "1", "-W", "2", "fd00:b::7")
    eq(path_packets("A"), [4], "without it: as it is")
    match(run("srpol", "-n", "A", "rule", "test", "src", "fd00:a::1", "dst",
              "fd00:b::7"), "no steering prefix holds fd00:b::7", "and why")


@test
def taken_away():
    "nothing stays behind"
    for host in "A", "B":
        run("srpol", "-n", host, "dev", "del", f"eth{host}")
        run("srpol", "-n", host, "replace", "empty", "-f", "/dev/null")
        eq(run("srpol", "-n", host, "-j", "path", "show").strip(), "[]", host)
    net.unload_module()
    eq(os.path.exists("/sys/fs/bpf/srpol"), False, "pins")


main()
