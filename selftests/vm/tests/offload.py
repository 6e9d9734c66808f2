#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srpol export rte-flow, read by DPDK's testpmd on a port that is no NIC: the
bytes of headers are held to scapy's, the rules to testpmd's parser. That a NIC
takes them is not tested: there is none. SRPOL_TIMEOUT=600
"""

import re
import subprocess

from scapy.layers.inet6 import (IPv6, IPv6ExtHdrSegmentRouting)
from scapy.layers.l2 import Ether

from cli_lib import forget, ns, srpol
from ktap import cleanup, eq, main, match, test

CONFIG = """
config set src fd00:1::1 hop-limit 50
path add 1 segs fc00::1,fc00::2 dev u0 via fd00:1::2
path add 2 segs fc00::4 dev u0 via fd00:1::2
path add 3 segs fc00::1,fc00::2,fc00::3,fc00::4,fc00::5 dev u0 via fd00:1::2
path add 4 segs fc00::1,fc00::2,fc00::3,fc00::4,fc00::5,fc00::6 dev u0 \
via fd00:1::2
path add 5 segs fc00::1,fc00::2 encap full dev u0 via fd00:1::2
path add 6 segs fc00::1 timestamp on dev u0 via fd00:1::2
path add 7 segs fc00::1 admin down dev u0 via fd00:1::2
path add 8 usids fcbb:bb00::/32 11,21,31,41,51,61,d046 dev u0 via fd00:1::2
path add 9 segs fc11:1111:1111:1111:1111:1111:1111:1111,\
fc22:2222:2222:2222:2222:2222:2222:2222,\
fc33:3333:3333:3333:3333:3333:3333:3333,\
fc44:4444:4444:4444:4444:4444:4444:4444,\
fc55:5555:5555:5555:5555:5555:5555:5555 dev u0 via fd00:1::2
path add 10 segs fc11:1111:1111:1111:1111:1111:1111:1111,\
fc22:2222:2222:2222:2222:2222:2222:2222,\
fc33:3333:3333:3333:3333:3333:3333:3333 dev u0 via fd00:1::2
policy add color 1 endpoint fd00::b candidate segment-list 1 weight 3 \
segment-list 2
policy add color 2 endpoint 10.0.0.1 candidate segment-list 3 segment-list 4 \
segment-list 5 segment-list 6 segment-list 7
policy add color 3 endpoint fd00::b mode flowlet candidate segment-list 8 \
segment-list 9 segment-list 10
policy add color 4 endpoint fd00::b candidate segment-list 4
policy add color 5 endpoint fd00::b
policy add color 6 endpoint fd00::b candidate segment-list 1 weight 255 \
segment-list 2
policy add color 6 endpoint fd00::c candidate segment-list 1
policy add color 6 endpoint :: candidate segment-list 1
endpoint add fd00:b::/64 to fd00::b
endpoint add 10.0.0.0/8 to 10.0.0.1
rule add prio 1 proto udp dport 4791 color 1
rule add prio 2 proto tcp sport 7 dst fd00:b::7/128 dscp 26 vlan 12 color 1
rule add prio 3 src 10.1.0.0/16 proto udp dport 100-200 color 2
rule add prio 4 src fd00:a::/64 color 3
rule add prio 5 proto tcp color 4
rule add prio 6 proto 58 color 5
rule add prio 7 qp 17 color 1
rule add prio 8 mark 1/1 color 1
rule add prio 9 dev u0 color 1
rule add prio 10 proto udp dport 53 mode flowlet color 1
rule add prio 11 dst fd00:c::/64 bypass
rule add prio 12 bypass
rule add prio 13 color 1
rule add prio 14 proto udp dport 7777 color 6
rule add prio 15 proto udp dport 7778 color 1 path 2
rule add prio 16 dst fd00:b::8/128 color 3 path 8
rule add prio 17 proto udp dport 7779 color 1 path 10
rule add prio 18 proto udp dport 7780 color 4 path 4
"""

said = []


def testpmd(text):
    """What it prints, a list for each line of text."""
    done = subprocess.run(
        ["dpdk-testpmd", "--no-huge", "-m", "256", "--no-pci", "--no-shconf",
         "--no-telemetry", "--vdev=net_null0", "-l", "0,1", "--", "-i",
         "--total-num-mbufs=2048"],
        input=text + "\nquit\n", text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False)
    return done.stdout


def exported():
    if not said:
        forget()
        srpol(batch=CONFIG)
        said.append(srpol("export", "rte-flow"))
    return said[0]


def lines(word):
    return [x for x in exported().splitlines() if x.startswith(word)]


def header(sids, full=False, inner=41):
    """What a packet gets in front of it, by scapy; the NIC fills lengths."""
    srh_sids = sids if full else sids[1:]
    p = Ether(src=ns.run("cat", "/sys/class/net/u0/address").strip(),
              dst="02:00:00:00:00:02", type=0x86dd) / IPv6(
                  src="fd00:1::1", dst=sids[0], hlim=50, plen=0,
                  nh=43 if srh_sids else inner)
    if srh_sids:
        p /= IPv6ExtHdrSegmentRouting(
            addresses=srh_sids[::-1], segleft=len(sids) - 1,
            lastentry=len(srh_sids) - 1, nh=inner)
    return bytes(p)


def wanted():
    five = [f"fc00::{i}" for i in range(1, 6)]
    return [header(five[:2]), header(["fc00::4"]), header(five, inner=4),
            header(five[:2], full=True, inner=4),
            header(["fcbb:bb00:11:21:31:41:51:61", "fcbb:bb00:d046::"]),
            header([f"fc{i}{i}" + f":{i}{i}{i}{i}" * 7 for i in (1, 2, 3)])]


@test
def headers():
    "headers are those that scapy makes, byte for byte; the greatest has 126"
    eq(len(lines("set raw_encap")), len(wanted()), "headers")
    out = testpmd("\n".join(
        lines("set") + [f"show raw_encap {i}" for i in range(len(wanted()))]))
    eq("Bad arguments" in out or "Error" in out, False, out)
    found = []
    for block in re.split(r"index: \d+ at .*", out)[1:]:
        found.append(bytes.fromhex("".join(
            x for line in re.findall(r"^[0-9A-F]{8}: ([0-9A-F ]+)\|", block,
                                     re.M) for x in line.split())))
    eq([x.hex() for x in found], [x.hex() for x in wanted()], "bytes")
    eq(max(map(len, found)), 126, "the greatest")


@test
def rules():
    "testpmd understands every rule"
    flows = lines("flow create")
    out = testpmd("\n".join(lines("set") + flows))
    eq("Bad arguments" in out, False, out)
    # a port without a NIC refuses each one, after it was understood
    eq(out.count("Function not implemented: Function not implemented"),
       len(flows), out)


@test
def parser_refuses():
    "and does not understand what is wrong"
    flow = lines("flow create")[0]
    out = testpmd(flow.replace("raw_encap", "raw_emcap") + "\n" +
                  flow.replace("pattern eth", "pattern nothing"))
    eq(out.count("Bad arguments"), 2, out)


@test
def shares():
    "weights become buckets of source ports; order is that of rules"
    first = [x for x in lines("flow create") if " dst is 4791 " in x]
    eq([re.search(r"src spec (\d+) src mask 0x(\w+).* raw_encap index (\d)",
                  x).groups() for x in first],
       [("0", "3", "0"), ("1", "3", "0"), ("2", "3", "0"), ("3", "3", "1")],
       "3 to 1")
    priorities = [int(re.search(r"priority (\d+)", x)[1])
                  for x in lines("flow create")]
    eq(priorities, sorted(priorities), "priorities")
    two = next(x for x in lines("flow create") if "vid is 12" in x)
    match(two, r"/ ipv6 dst spec fd00:b::7 dst prefix 128 tc spec 0x68 tc "
          r"mask 0xfc / tcp src is 7 / end actions raw_decap index 0 / "
          r"raw_encap index 0 / port_id id 0 / end$", "one list of two")
    three = [x for x in lines("flow create") if "last 200" in x]
    eq(len(three), 2, three)
    match(three[0], r"/ ipv4 src spec 10.1.0.0 src prefix 16 dst spec "
          r"10.0.0.0 dst prefix 8 / udp src spec 0 src mask 0x1 dst spec 100 "
          r"dst last 200 dst mask 0xffff / end", "a range")
    eq([x for x in lines("flow create") if "raw_encap" not in x][0].split(
        " pattern ")[1], "eth / ipv6 dst spec fd00:c:: dst prefix 64 / end "
        "actions port_id id 0 / end", "bypass")


@test
def paths():
    "a rule's path is the only one, while packets take it"
    def of(text):
        return [re.search(r"raw_encap index (\d)", x)[1]
                for x in lines("flow create") if text in x]

    eq(of(" dst is 7778 "), ["1"], "path 2")
    eq(of(" dst spec fd00:b::8 "), ["4"], "path 8, for all protocols")
    eq(of(" dst is 7779 "), ["0", "0", "0", "1"], "not the policy's")
    eq(of(" dst is 7780 "), [], "none that the NIC could have")
    match(exported(), r"(?m)^# rule prio 17: path 10 is no segment list that "
          r"packets take: a hash instead$", "said")
    # that of prio 4 is
    eq(exported().count("color 3 endpoint fd00::b: mode flowlet"), 1,
       "a rule with a path is hashed anyhow")


@test
def reasons():
    "what is left out is said, with the reason"
    text = exported()
    for why in (r"segment list 4 left out: 6 SIDs make 142 bytes",
                r"segment list 6 left out: it has TLVs",
                r"segment list 9 left out: testpmd reads no line that long",
                r"color 3 endpoint fd00::b: mode flowlet becomes a hash",
                r"color 4 endpoint fd00::b left out: no segment list",
                r"color 5 endpoint fd00::b left out: no candidate path",
                r"color 6 endpoint fd00::c left out: no steering prefix",
                r"color 6 endpoint :: left out: no steering prefix",
                r"segment list 2 left out: of 16 parts of the source ports its weight makes none",
                r"rule prio 7 left out: queue pairs.*23.07",
                r"rule prio 8 left out: marks", r"rule prio 9 left out: which",
                r"rule prio 10 left out: its mode",
                r"one segment list of several"):
        match(text, rf"(?m)^# .*({why})", why)


@test
def versions():
    "a steering prefix of all addresses leads IPv4, too, as it does in the data plane"
    forget()
    srpol(batch="config set src fd00:1::1\n"
                "path add 1 segs fc00::1 dev u0 via fd00:1::2\n"
                "policy add color 1 endpoint fd00::b candidate segment-list 1\n"
                "endpoint add ::/0 to fd00::b\n"
                "rule add prio 1 dst 10.1.0.0/16 color 1\n"
                "rule add prio 2 src 10.2.0.0/16 color 1\n"
                "rule add prio 3 src fd00:a::/64 color 1\n"
                "rule add prio 4 color 1\n"
                "rule add prio 5 dst fd00:b::7/128 color 1\n")
    text = srpol("export", "rte-flow").splitlines()
    flows = [x for x in text if x.startswith("flow create")]
    eq([re.search(r" pattern eth / (.*) / end actions", x)[1] for x in flows],
       ["ipv4 dst spec 10.1.0.0 dst prefix 16", "ipv4 src spec 10.2.0.0 src prefix 16",
        "ipv6 src spec fd00:a:: src prefix 64", "ipv6", "ipv4",
        "ipv6 dst spec fd00:b::7 dst prefix 128"], "patterns")
    out = testpmd("\n".join([x for x in text if x.startswith("set")] + flows))
    eq("Bad arguments" in out, False, out)
    eq(out.count("Function not implemented: Function not implemented"), len(flows), out)


cleanup(forget)
main()
