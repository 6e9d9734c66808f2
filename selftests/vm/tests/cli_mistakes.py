#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
A hundred mistakes at the command line: each is refused with one sentence that
names the word, and the range or what to do; nothing changes.
"""

import subprocess

from cli_lib import (OK, REFUSED, USAGE, client, everything, forget, ns, srpol,
                     srpol_error)
from ktap import cleanup, eq, main, match, test
from srpol import KINDS

NUMBER = "is not a number from"

# command, what the sentence says
WORDS = (
    ("", "Usage"),
    ("frob", 'object "frob" is unknown, try "srpol help"'),
    ("path frob", 'command "frob" is unknown'),
    ("path add", "id: a value is missing"),
    ("path add 0 segs fc00::1", f'id: "0" {NUMBER} 1 to 16383'),
    ("path add 16384 segs fc00::1", f'id: "16384" {NUMBER} 1 to 16383'),
    ("path add -1 segs fc00::1", f'id: "-1" {NUMBER} 1'),
    ("path add 4294967297 segs fc00::1", f'id: "4294967297" {NUMBER} 1 to 16383'),
    ("path del 0", f'id: "0" {NUMBER} 1 to 16383'),
    ("path add 1x segs fc00::1", 'id: "1x"'),
    ("path add 9 segs", "segs: a value is missing"),
    ("path add 9 segs fc00::g", 'segs: "fc00::g" is not an IPv6 address'),
    ("path add 9 segs fc00::1,", 'segs: "" is not an IPv6 address'),
    ("path add 9 segs 10.0.0.1", 'segs: "10.0.0.1" is not an IPv6 address'),
    ("path add 9 segs fc00::1 segs fc00::2", '"segs" is given twice'),
    ("path add 9 usids fcbb::/32 1 usids fcbb::/32 2",
     '"usids" is given twice'),
    ("path add 9 usids fcbb::/32", "usids: a value is missing"),
    ("path add 9 usids fcbb:: 1", '"fcbb::" is not a block such as fcbb:bb00::/32'),
    ("path add 9 usids fcbb::/32 0", "a compressed SID is 0 or longer than 16"),
    ("path add 9 usids fcbb::/32 10000", "0 or longer than 16 bits"),
    ("path add 9 usids fcbb::/32 zz", '"zz" is not a list of compressed SIDs'),
    ("path add 9 usids fcbb::/32 -18446744073709551615",
     "is not a list of compressed SIDs"),
    ("path add 9 usids fcbb::/20 1", "a block of 20 bits and SIDs of 16"),
    ("path add 9 usids ::/0 1", "a block of 0 bits and SIDs of 16"),
    ("path add 9 usids fcbb::/32 1,2 usid-block fcbb::/48",
     "blocks of 48 and of 32 bits"),
    ("path add 9 usid-block fcbb::/48 usids fcbb::/32 1",
     "blocks of 48 and of 32 bits"),
    ("path add 9 usids fcbb::/32 1 usid-len 65",
     f'usid-len: "65" {NUMBER} 8 to 64, in steps of 8'),
    ("path add 9 usids fcbb::/32 1 usid-len 12",
     f'usid-len: "12" {NUMBER} 8 to 64, in steps of 8'),
    ("path add 9 usids fcbb::/32 1 usid-len 0", f'usid-len: "0" {NUMBER} 8'),
    ("path trace 1 count 0", f'count: "0" {NUMBER} 1 to 500'),
    ("path trace 1 labels 257", f'labels: "257" {NUMBER} 1 to 256'),
    ("path trace 1 hops 0", f'hops: "0" {NUMBER} 1 to 64'),
    ("path add 9 usids fcbb::/32 1 segs fc00::1 usids fcbb::/48 1",
     "blocks of 32 and of 48 bits"),
    ("path add 9 segs fc00::1 dev nosuchdev", 'no device "nosuchdev"'),
    ("path add 9 segs fc00::1 via 10.0.0.1", 'via: "10.0.0.1" is not an IPv6'),
    ("path add 9 segs fc00::1 src fe80", 'src: "fe80" is not an IPv6 address'),
    ("path add 9 segs fc00::1 encap fully", '"fully" is not one of .*reduced'),
    ("path add 9 segs fc00::1 encap full encap full",
     '"encap" is given twice'),
    ("path add 9 segs fc00::1 tlv 9:0g", '"9:0g" is not TYPE:HEX'),
    ("path add 9 segs fc00::1 tlv 9:+1", '"9:\\+1" is not TYPE:HEX'),
    ("path add 9 segs fc00::1 tlv 256:00", "is not TYPE:HEX"),
    ("path add 9 segs fc00::1 tlv 9:0x12", "is not TYPE:HEX"),
    ("path add 9 segs fc00::1 tlv 9:001", "is not TYPE:HEX"),
    ("path add 9 segs fc00::1 tlv -18446744073709551607:00", "is not TYPE:HEX"),
    ("path add 9 segs fc00::1" + 2000 * " tlv 9:00",
     "has more than fits into a request"),
    ("path add 9 usids fcbb::/32 12345678123456781 usid-len 64",
     "is not a list of compressed SIDs"),
    ("path add 9 segs fc00::1 admin off", '"off" is not one of up down'),
    ("path add 9 segs fc00::1 timestamp yes", '"yes" is not one of'),
    ("path add 9 segs fc00::1 name " + 32 * "n", "is longer than 31 bytes"),
    ("path add 9 segs fc00::1 origin me", '"me" is not one of static engine'),
    ("path add 9 segs fc00::1 colour 3", '"colour" is unexpected'),
    ("path del", "id: a value is missing"),
    ("path del 9 9", '"9" is unexpected'),
    ("path show 1 2", '"2" is unexpected'),
    ("path show id", "path: a value is missing"),
    ("path show name", "path: a value is missing"),
    ("policy show name", "name: a value is missing"),
    ("rule show name", "name: a value is missing"),
    ("policy add", 'a policy is named by "color N endpoint ADDR"'),
    ("policy add color 9", "color N endpoint ADDR"),
    ("policy add color x endpoint ::", f'color: "x" {NUMBER}'),
    ("policy add color 0 endpoint ::", f'color: "0" {NUMBER} 1 to 4294967295'),
    ("policy del color 8 endpoint :: color 7", '"color" is given twice'),
    ("policy show endpoint :: endpoint 10.0.0.1", '"endpoint" is given twice'),
    ("policy add color 9 endpoint 300.0.0.1", '"300.0.0.1" is not an address'),
    ("policy add color 9 endpoint :: mode pinned", '"pinned" is not one of'),
    ("policy add color 9 endpoint :: mode hash mode hash",
     '"mode" is given twice'),
    ("policy add color 9 endpoint :: flowlet-timeout 5x",
     'flowlet-timeout: "5x" is not a time'),
    ("policy add color 9 endpoint :: flowlet-timeout 10s",
     r"from 1ns to 4294967295ns \(4\.29497s\)"),
    ("policy add color 9 endpoint :: flowlet-timeout 0", "from 1ns"),
    ("policy add color 9 endpoint :: dwell-time 2h", "is not a time"),
    ("policy add color 9 endpoint :: dwell-time 1500us", "in whole ms"),
    ("config set retry-interval 1us", "in whole ms"),
    ("policy add color 9 endpoint :: dwell-time 3601s", "3600000ms"),
    ("policy add color 9 endpoint :: wait-to-restore -1s", "from 0ms"),
    ("policy add color 9 endpoint :: buckets 100",
     "a power of two from 128 to 1024"),
    ("policy add color 9 endpoint :: buckets 2048", "power of two"),
    ("policy add color 9 endpoint :: threshold many", f"threshold.*{NUMBER}"),
    ("policy add color 9 endpoint :: threshold 0",
     f'threshold: "0" {NUMBER} 1 to 1000000'),
    ("policy add color 9 endpoint :: threshold 1000001",
     f'threshold: "1000001" {NUMBER} 1 to 1000000'),
    ("policy add color 9 endpoint :: drop-upon-invalid drop",
     '"drop" is not one of off on|"drop" is not one of on off'),
    ("policy add color 9 endpoint :: candidate list 1",
     '"list" is unexpected'),
    ("policy add color 9 endpoint :: candidate segment-list 1 weight 65536",
     f'weight: "65536" {NUMBER} 0 to 65535'),
    ("policy add color 9 endpoint :: candidate segment-list 0",
     f'segment-list: "0" {NUMBER} 1 to 16383'),
    ("policy add color 9 endpoint :: candidate segment-list 16384",
     f'segment-list: "16384" {NUMBER} 1 to 16383'),
    ("policy add color 9 endpoint :: candidate preference 1 preference 2",
     '"preference" is given twice'),
    ("policy add color 9 endpoint :: candidate protocol-origin ospf",
     '"ospf" is not one of'),
    ("policy add color 9 endpoint :: candidate originator 1",
     '"1" is not ASN:ADDR'),
    ("policy add color 9 endpoint :: candidate originator 4294967297:10.1.1.1",
     "is not ASN:ADDR"),
    ("policy add color 9 endpoint :: candidate originator -1:10.1.1.1",
     "is not ASN:ADDR"),
    ("policy candidate color 7 endpoint 10.0.0.1",
     'takes add, replace or del, not "color"'),
    ("policy candidate del color 7 endpoint 10.0.0.1 preference 5",
     "0 candidate paths of the policy match; name exactly one"),
    ("policy candidate del color 7 endpoint 10.0.0.1 preference 200 segment-list 2",
     '"segment-list" is unexpected'),
    ("policy candidate del color 7 endpoint 10.0.0.1 preference first",
     f'preference: "first" {NUMBER}'),
    ("policy add color 9 endpoint :: candidate candidate-name " + 40 * "c",
     "longer than 31"),
    ("rule add prio", "prio: a value is missing"),
    ("rule add color 1", 'a rule is named by "prio N"'),
    ("rule add prio 9 dport 20-10 color 1", 'dport: "20-10"'),
    ("rule add prio 9 sport 70000 color 1", "from 0 to 65535"),
    ("rule add prio 9 qp 16777216 color 1", "from 0 to 16777215"),
    ("rule add prio 9 proto quic color 1", f'proto: "quic" {NUMBER}'),
    ("rule add prio 9 proto udp proto tcp color 1", '"proto" is given twice'),
    ("rule add prio 9 color 0", f'color: "0" {NUMBER} 1 to 4294967295'),
    ("rule add prio 9 color 1 path 0", f'path: "0" {NUMBER} 1 to 16383'),
    ("rule add prio 9 color 1 path 16384", f'path: "16384" {NUMBER} 1 to 16383'),
    ("rule add prio 9 opcode send,nop,ack color 1",
     'opcode: "nop" is unknown: an operation such as .*, or 0 to 255'),
    ("rule add prio 9 opcode 256 color 1", '"256" is unknown: .* 0 to 255'),
    ("rule add prio 9 opcode 4294967301 color 1", '"4294967301" is unknown'),
    ("rule test src fd00::1 dst fd00::2 opcode nop",
     'opcode: "nop" is unknown: an operation such as .*, or 0 to 255'),
    ("rule add prio 9 sport 1-" + 31 * "0" + "25 color 1", "nor a range N-M"),
    ("rule add prio 9 dscp 64 color 1", 'dscp: "64" is not a DSCP'),
    ("rule add prio 9 dscp cs9 color 1", "cs0 to cs7"),
    ("rule add prio 9 vlan 4095 color 1", "from 0 to 4094"),
    ("rule add prio 9 mark 1/x color 1", '"1/x" is not MARK or MARK/MASK'),
    ("rule add prio 9 mark 1/ color 1", '"1/" is not MARK or MARK/MASK'),
    ("rule add prio 9 mark /1 color 1", '"/1" is not MARK or MARK/MASK'),
    ("rule add prio 9 mark -18446744073709551615 color 1",
     "is not MARK or MARK/MASK"),
    ("rule add prio 9 mark 1/4294967296 color 1", "is not MARK or MARK/MASK"),
    ("rule add prio 9 src fd00::/129 color 1", '"fd00::/129" is not a prefix'),
    ("rule add prio 9 src fd00::/+8 color 1", r'"fd00::/\+8" is not a prefix'),
    ("rule add prio 9 src fd00::/-18446744073709551608 color 1",
     "is not a prefix"),
    ("rule add prio 9 pkey 65536 color 1", "from 0 to 65535"),
    ("rule add prio 9 dev nosuchdev color 1", 'no device "nosuchdev"'),
    ("rule add prio 9 cgroup nosuchgroup color 1", "nosuchgroup"),
    ("rule add prio 9 cgroup ../.. color 1", "is no control group"),
    ("rule add prio 9 cgroup cgroup.procs color 1", "is no control group"),
    ("rule add prio 9 ordering loose color 1", '"loose" is not one of'),
    ("rule test src 10.0.0.1", "a packet has a src and a dst"),
    ("rule test src fd00::1 dst fd00::2 qp 5 qp 6", '"qp" is given twice'),
    ("rule test src 10.0.0.1 dst fd00::1", "different families"),
    ("rule test src fd00::1 dst fd00::2 proto tcp qp 5", "which has proto udp"),
    ("rule test src fd00::1 dst fd00::2 dport 80 opcode ack",
     "which has dport 4791"),
    ("endpoint add", "prefix: a value is missing"),
    ("endpoint add fd00::/129 to ::", '"fd00::/129" is not a prefix'),
    ("endpoint add fd00::/64 to nowhere", '"nowhere" is not an address'),
    ("endpoint add fd00::/64 via ::", '"via" is unexpected'),
    ("sid add fc00::1 behavior End.Y", '"End.Y" is not one of'),
    ("sid add fc00::1/129 behavior End", "is not a prefix"),
    ("sid add fc00::1 behavior End.DT6 dscp 10", '"10" is not one of'),
    ("sid add fc00::1 behaviour End", '"behaviour" is unexpected'),
    ("config set", "nothing to set"),
    ("config set hop-limit 256", f'hop-limit: "256" {NUMBER} 1 to 255'),
    ("config set hop-limit 0", f'hop-limit: "0" {NUMBER} 1 to 255'),
    ("config set drop-events 1000001",
     f'drop-events: "1000001" {NUMBER} 0 to 1000000'),
    ("config set hop-limit 9 hop-limit 9", '"hop-limit" is given twice'),
    ("config set src 10.0.0.1", '"10.0.0.1" is not an IPv6 address'),
    ("config set dscp pipe 64", "is not a DSCP"),
    ("config set retry-interval 2h", "3600000ms"),
    ("config set sr-domain fc00::/200",
     'sr-domain: "fc00::/200" is not a prefix such as fc00::/32'),
    ("config set sr-source ,", 'sr-source: "" is not a prefix'),
    ("config set report-from fc00::/16,,fd00::/8",
     'report-from: "" is not a prefix'),
    ("config set report-from " + ",".join(1100 * ["fc00::/16"]),
     "has more than fits into a request"),
    ("config set flow-label random", '"random" is not one of'),
    ("dev add", "dev: a value is missing"),
    ("dev add nosuchdev role uplink", 'no device "nosuchdev"'),
    ("dev add u0 role downlink", '"downlink" is not one of'),
    ("dev add u0 xdp offload", '"offload" is not one of'),
    ("dev add u0 role uplink role port", '"role" is given twice'),
    ("dev add u0 xdp generic hook tc", "two words for one option"),
    ("dev add s0 role host mtu 1400 mtu 1500", '"mtu" is given twice'),
    ("dev add s0 role uplink address ::1/128", "are for role host"),
    ("dev add s0 role host hook tc", "no choice of hook"),
    ("dev add s0 role host mtu 1279", f'mtu: "1279" {NUMBER} 1280 to 65535'),
    ("dev add s0 role host mtu 65536", f'mtu: "65536" {NUMBER} 1280 to 65535'),
    ("dev add s0 role host address nonsense", '"nonsense" is not a prefix'),
    ("dev add s0 role host peer sixteenletters16", "longer than a device's"),
    ("dev change u0", "u0 is no virtual port"),
    ("dev change u0 mtu 1400", "are not changed"),
    ("flow show sort colour", "is not one of rate bytes "),
    ("path show --top sort colour", "is not one of rate rtt "),
    ("flow show active 0", "from 1ms"),
    ("flow show color 7 color 8", '"color" is given twice'),
    ("export juniper", '"juniper" is not a form'),
    ("export frr sonic", '"sonic" is unexpected'),
    ("export gobgp target 1.2.3.4 x", '"x" is unexpected'),
    ("monitor everything", '"everything" is unexpected'),
    ("replace", "Usage: srpol replace"),
    ("replace -f", "-f: a value is missing"),
    ("replace -f /nonexistent", "/nonexistent: No such file"),
    ("-batch /nonexistent", "/nonexistent: No such file"),
    ("-batch /dev/null path show", '"path" is unexpected after -batch /dev/null'),
    ("-c=sometimes path show", '"sometimes" is not one of always auto never'),
    ("--frob", "Usage: srpol"),
)

# refused by the module, or because there is none of it
REFUSALS = (
    ("path add 1 segs fc00::1", "object exists"),
    ("path change 99 segs fc00::1", "does not exist"),
    ("path del 99", r"no path has this id"),
    ("path del 2", "policy .*7"),
    ("path add 9", r"a path needs a SID \(missing segs\)"),
    ("path show 999", 'no path has the id or name "999"'),
    ("path show nosuchname", 'no path has the id or name "nosuchname"'),
    ("policy add color 8 endpoint ::", "object exists"),
    ("policy add color 9 endpoint :: candidate segment-list 99",
     "no path has this id"),
    ("policy show color 999", "no policy has color 999"),
    ("policy show color 8 endpoint 10.0.0.1 nosuchname",
     'no policy has color 8 endpoint 10.0.0.1 name "nosuchname"'),
    ("policy show nosuchname", 'no policy has name "nosuchname"'),
    ("policy del color 999 endpoint ::", "no policy"),
    ("rule add prio 9", "needs a color or bypass"),
    ("rule add prio 9 proto tcp qp 1 color 1", "RoCE"),
    ("rule add prio 9 mode spray color 1", "ordering partial or weak"),
    ("rule add prio 9 bypass path 1", "bypass takes no path"),
    ("rule add prio 9 color 1 path 1 mode adaptive", "is in mode hash"),
    ("rule show prio 999", "no rule has prio 999"),
    ("rule show nosuchname", 'no rule has name "nosuchname"'),
    ("rule del prio 999", "no rule"),
    ("endpoint show 192.0.2.0/24", "no steering prefix 192.0.2.0/24"),
    ("endpoint del 192.0.2.0/24", "no"),
    ("sid add fc00::1 behavior End.X", "missing dev"),
    ("sid add fc00::1 behavior End dscp uniform", r"does not decapsulate \(dscp\)"),
    ("sid show fc00::99", "no local SID fc00::99"),
    ("sid show fcbb:bb00:a::/64", "no local SID fcbb:bb00:a::/64"),
    ("dev show u1", "srpol is not on this device"),
    ("dev add u1 role uplink source strict", r"at ports only.* \(source\)"),
    ("config set src ff02::1", "src"),
)


def state():
    return [client.dump(kind) for kind in KINDS]


@test
def words():
    "what makes no sense: status 1, the word and its range are named"
    everything()
    before = state()
    for line, why in WORDS:
        said = srpol_error(*line.split(), status=USAGE)
        match(said, why, line)
        eq("Error" in said or "Usage" in said, True, line)
    eq(state(), before, "nothing was changed by it")


@test
def refusals():
    "what is refused or not there: status 2, one sentence says why"
    everything()
    before = state()
    for line, why in REFUSALS:
        match(srpol_error(*line.split(), status=REFUSED),
              rf"^Error: srpol: .*{why}.*\.\n$", line)
    eq(state(), before, "nothing was changed by it")


@test
def nothing_to_replace_with():
    "an empty replace is refused: a pipe whose writer failed wipes nothing"
    everything()
    before = state()
    for writer in "false", "echo", "echo '# only a comment'":
        done = subprocess.run(["sh", "-c", f"{writer} | srpol -n {ns.name} "
                               "replace -f -"], text=True,
                              capture_output=True, check=False)
        eq(done.returncode, USAGE, writer)
        match(done.stderr, 'has no command; "srpol replace empty', writer)
    eq(state(), before, "nothing was changed by it")
    forget()
    srpol("path", "add", "1", "segs", "fc00::1")
    srpol("replace", "empty", "-f", "/dev/null", status=OK)
    eq(client.dump("path"), [], "static paths")
    forget()


@test
def order_of_words():
    "usid-len counts wherever it stands, segs and usids may take turns"
    forget()
    srpol(batch="path add 1 usids fcbb::/32 11,21 usid-len 32\n"
                "path add 2 usid-len 32 usids fcbb::/32 11,21\n"
                "path add 3 usids fcbb:bb00::/32 1,2 segs fc00::1 "
                "usids fcbb:bb00::/32 3\n")
    one, two, three = client.dump("path")
    eq(one["sids"], two["sids"], "either order")
    eq(one["sids"], ["fcbb::11:0:21:0:0"], "packed by 32 bits")
    eq(three["sids"], ["fcbb:bb00:1:2::", "fc00::1", "fcbb:bb00:3::"],
       "in turns")
    forget()


@test
def forms_of_output():
    "-oneline, -brief, -human, -color, list, delete, names as keys"
    everything()
    lines = srpol("-o", "path", "list").splitlines()
    eq(len(lines), 3, "a line each")
    match(lines[0], r"^path 1 name path one .*\\\tsegs ", "joined")
    lines = srpol("-br", "policy", "show").splitlines()
    eq([line.split()[:3] for line in lines],
       [["policy", "color", "7"], ["policy", "color", "8"]], "brief")
    match(srpol("-c", "path", "show"), "\033\\[32m up\033\\[0m", "color")
    eq("\033" in srpol("-c=never", "path", "show"), False, "no color")
    match(srpol("path", "show", "path one"), "^path 1 ", "by name")
    match(srpol("rule", "show", "five"), "proto udp .*dscp 26", "rule by name")
    srpol("rule", "add", "prio", "40", "dscp", "cs3", "proto", "tcp", "bypass")
    match(srpol("rule", "show", "prio", "40"), "proto tcp .*dscp 24", "words")
    srpol("rule", "delete", "prio", "40")
    eq(len(client.dump("rule")), 3, "deleted")


cleanup(forget)
main()
