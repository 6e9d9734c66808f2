#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Requests that must be refused: with which error, which words, which attribute
to blame, and that nothing has changed afterwards. Then tables that are full.

    d0 (dummy, up, fd00:1::1/64, uplink)  d1 (dummy, port with a source check)

All in one namespace.
"""

import errno
import os
import struct
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import net                                              # noqa: E402
from ktap import eq, main, match, say, test             # noqa: E402
from rawnl import RawSocket, attr                       # noqa: E402
from srpol import (CHANGE, EXCL, REPLACE, Refused, family_id,   # noqa: E402
                   packed)

net.load_module()
ns = net.Netns("link add d0 type dummy\nlink set d0 up\n"
               "link add d1 type dummy\n"
               "addr add fd00:1::1/64 dev d0 nodad\n")
d0, d1 = ns.ifindex("d0"), ns.ifindex("d1")
client = ns.client()

EINVAL, ERANGE, ENOENT = errno.EINVAL, errno.ERANGE, errno.ENOENT
ENODEV, E2BIG, EEXIST = errno.ENODEV, errno.E2BIG, errno.EEXIST
EOPNOTSUPP, ENOSPC = errno.EOPNOTSUPP, errno.ENOSPC

NOT_UNICAST = ("::", "::1", "ff02::1", "10.0.0.1")
LONG = "x" * 32

PATH = {"id": 50, "sids": ["fc00::1"]}
POLICY = {"color": 50, "endpoint": "fd00::b"}
RULE = {"priority": 50, "color": 1}
ENDPOINT = {"prefix": "fd00:50::", "prefix_len": 48, "address": "fd00::b"}
SID = {"sid": "fc00::50", "behavior": 1}


def lists(*entries):
    return {"candidate": [{"segment_list": list(entries)}]}


# operation, flags, members, errno, what the message says, attribute to blame
# ("-x": attribute x is reported as missing, "-1": number 1 of a nest)
TABLE = [
    ("path-get", 0, {}, EINVAL, "", "-id"),
    ("path-get", 0, {"id": 0}, ERANGE, "range", "id"),
    ("path-get", 0, {"id": 99}, ENOENT, "no path has this id", "id"),
    ("path-del", 0, {}, EINVAL, "", "-id"),
    ("path-del", 0, {"id": 99}, ENOENT, "no path has this id", "id"),
    ("path-del", 0, {"id": 1}, errno.EBUSY, "policy 1 fd00::b", "id"),
    ("path-new", EXCL, {"sids": ["fc00::1"]}, EINVAL, "", "-id"),
    ("path-new", EXCL, {**PATH, "id": 0}, ERANGE, "range", "id"),
    ("path-new", EXCL, {**PATH, "id": 16384}, ERANGE, "up to 16383", "id"),
    ("path-new", EXCL, {**PATH, "id": 0xffffffff}, ERANGE, "16383", "id"),
    ("path-new", CHANGE, PATH, ENOENT, "does not exist", ""),
    ("path-new", 0, PATH, ENOENT, "does not exist", ""),
    ("path-new", EXCL, {**PATH, "id": 1}, EEXIST, "exists", ""),
    ("path-new", EXCL, {**PATH, "name": LONG}, EINVAL, "validation", "name"),
    ("path-new", EXCL, {**PATH, "origin": 2}, ERANGE, "range", "origin"),
    ("path-new", REPLACE, {"id": 1, "sids": ["fc00::1"], "origin": 1},
     errno.EPERM, "static", "origin"),
    ("path-new", EXCL, {"id": 50}, EINVAL, "needs a SID", "-sids"),
    ("path-new", EXCL, {**PATH, "sids": [f"fc00::{i}" for i in range(1, 18)]},
     E2BIG, "more than 16 SIDs", "sids"),
    ("path-new", EXCL, {**PATH, "sids": [{}]}, EINVAL, "", "-1"),
    ("path-new", EXCL, {**PATH, "sids": [{"sid": b"x" * 15}]}, ERANGE,
     "size out of range", "sids.sid"),
    ("path-new", EXCL, {**PATH, "sids": [{"sid": b"x" * 17}]}, ERANGE,
     "size out of range", "sids.sid"),
    ("path-new", EXCL, {**PATH, "sids": ["fc00::1", "fe80::1"]}, EINVAL,
     "link-local", "sids.sid"),
    ("path-new", EXCL, {**PATH, "encap": 2}, ERANGE, "range", "encap"),
    ("path-new", EXCL, {**PATH, "src": b"x"}, ERANGE, "size out of range", "src"),
    ("path-new", EXCL, {**PATH, "ifindex": 0}, ERANGE, "range", "ifindex"),
    ("path-new", EXCL, {**PATH, "ifindex": 9999}, ENODEV, "no such device",
     "ifindex"),
    ("path-new", EXCL, {**PATH, "ifindex": 0xffffffff}, ENODEV,
     "no such device", "ifindex"),
    ("path-new", EXCL, {**PATH, "via": "fe80::1"}, EINVAL, "needs a device",
     "via"),
    ("path-new", EXCL, {**PATH, "admin_down": 2}, ERANGE, "range",
     "admin-down"),
    ("path-new", EXCL, {**PATH, "csid_len": 16}, EINVAL,
     "csid-len without block-len", "csid-len"),
    ("path-new", CHANGE, {"id": 1, "csid_len": 16}, EINVAL,
     "csid-len without block-len", "csid-len"),
    ("path-new", EXCL, {**PATH, "block_len": 0, "csid_len": 16}, EINVAL,
     "csid-len without block-len", "csid-len"),
    ("path-new", EXCL, {**PATH, "block": "fcbb:bb00::"}, EINVAL,
     "block without block-len", "block"),
    ("path-new", CHANGE, {"id": 1, "block": "fcbb:bb00::"}, EINVAL,
     "block without block-len", "block"),
    ("path-new", EXCL, {**PATH, "block_len": 33}, EINVAL, "multiple of 8",
     "block-len"),
    ("path-new", EXCL, {**PATH, "block_len": 121}, ERANGE, "range",
     "block-len"),
    *[("path-new", EXCL, {**PATH, "block_len": 32, "csid_len": n}, EINVAL,
       "multiple of 8 from 8 to 64", "csid-len") for n in (0, 4, 20, 72)],
    ("path-new", EXCL, {**PATH, "block_len": 72, "csid_len": 64}, EINVAL,
     "exceed 128", "csid-len"),
    ("path-new", EXCL, {**PATH, "block_len": 120}, EINVAL, "exceed 128",
     "block-len"),
    ("path-new", EXCL, {"id": 50, "block_len": 32, "sids": [
        "fcbb:bb00:1:2::", "fcbb:bb00:1:0:2::"]}, EINVAL,
     "follows the end of container fcbb:bb00:1:0:2::", "sids.sid"),
    ("path-new", CHANGE, {"id": 1, "block_len": 32}, EINVAL,
     "follows the end", "block-len"),
    *[("path-new", EXCL, {**PATH, "tlv": [{"type": n}]}, err, words,
       "tlv.type") for n, err, words in (
          (0, ERANGE, "range"), (4, EINVAL, "padding"),
          (5, EOPNOTSUPP, "HMAC is not supported"))],
    ("path-new", EXCL, {**PATH, "tlv": [{"value": b"x"}]}, EINVAL, "", "-1"),
    ("path-new", EXCL, {**PATH, "tlv": [{"type": 9, "value": b"x" * 39}]},
     E2BIG, "longer than 38", "tlv.value"),
    ("path-new", EXCL, {**PATH, "tlv": [{"type": 9}] * 5}, E2BIG,
     "more than 4 TLVs", "tlv"),
    ("path-new", EXCL, {"id": 50, "encap": "full", "timestamp": 1,
                        "sids": [f"fc00::{i}" for i in range(1, 17)],
                        "tlv": [{"type": 9, "value": b"x" * 38}] * 2}, E2BIG,
     "400 bytes, at most 370", "tlv"),
    ("path-new", EXCL, {**PATH, "timestamp": 2}, ERANGE, "range", "timestamp"),
    # what only replies have
    ("path-new", EXCL, {**PATH, "state": 1}, EINVAL, "(Unknown|Unsupported) attribute",
     "state"),
    ("path-new", EXCL, {**PATH, "users": 1}, EINVAL, "(Unknown|Unsupported) attribute",
     "users"),
    *[("path-new", EXCL, {**PATH, "sids": [a]}, EINVAL,
       "SID is not a unicast", "sids.sid") for a in NOT_UNICAST],
    *[("path-new", EXCL, {**PATH, "src": a}, EINVAL,
       "source is not a unicast", "src") for a in NOT_UNICAST],
    *[("path-new", EXCL, {**PATH, "ifindex": d0, "via": a}, EINVAL,
       "next hop is not a unicast", "via") for a in NOT_UNICAST],

    ("policy-get", 0, {"endpoint": "::"}, EINVAL, "", "-color"),
    ("policy-get", 0, {"color": 1}, EINVAL, "", "-endpoint"),
    ("policy-get", 0, {"color": 1, "endpoint": "::"}, ENOENT, "no policy",
     "color"),
    ("policy-del", 0, {"color": 9, "endpoint": "fd00::b"}, ENOENT,
     "no policy", "color"),
    ("policy-new", EXCL, {"endpoint": "::"}, EINVAL, "", "-color"),
    ("policy-new", EXCL, {"color": 1}, EINVAL, "", "-endpoint"),
    ("policy-new", EXCL, {**POLICY, "color": 0}, ERANGE, "range", "color"),
    ("policy-new", EXCL, {**POLICY, "endpoint": "ff02::1"}, EINVAL,
     "multicast", "endpoint"),
    ("policy-new", EXCL, {**POLICY, "color": 1}, EEXIST, "exists", ""),
    ("policy-new", CHANGE, POLICY, ENOENT, "does not exist", ""),
    ("policy-new", EXCL, {**POLICY, "name": LONG}, EINVAL, "validation", "name"),
    ("policy-new", EXCL, {**POLICY, "buckets": 127}, ERANGE, "range",
     "buckets"),
    ("policy-new", EXCL, {**POLICY, "buckets": 2048}, ERANGE, "range",
     "buckets"),
    ("policy-new", EXCL, {**POLICY, "buckets": 192}, EINVAL, "power of two",
     "buckets"),
    ("policy-new", EXCL, {**POLICY, "backup_color": 50}, EINVAL,
     "own backup", "backup-color"),
    ("policy-new", CHANGE, {**POLICY, "color": 1, "backup_color": 1}, EINVAL,
     "own backup", "backup-color"),
    ("policy-new", EXCL, {**POLICY, "mode": 6}, ERANGE, "range", "mode"),
    ("policy-new", EXCL, {**POLICY, "symmetric": 2}, ERANGE, "range",
     "symmetric"),
    ("policy-new", EXCL, {**POLICY, "spray": 2}, ERANGE, "range", "spray"),
    ("policy-new", EXCL, {**POLICY, "flowlet_timeout": 0}, ERANGE, "range", "flowlet-timeout"),
    ("policy-new", EXCL, {**POLICY, "threshold": 0}, ERANGE, "range",
     "threshold"),
    ("policy-new", EXCL, {**POLICY, "threshold": 1000001}, ERANGE, "range",
     "threshold"),
    ("policy-new", EXCL, {**POLICY, "dwell_time": 3600001}, ERANGE, "range",
     "dwell-time"),
    ("policy-new", EXCL, {**POLICY, "wait_to_restore": 3600001}, ERANGE, "range",
     "wait-to-restore"),
    ("policy-new", EXCL, {**POLICY, "drop_upon_invalid": 2}, ERANGE, "range",
     "drop-upon-invalid"),
    *[("policy-new", EXCL, {**POLICY, "bsid": a}, EINVAL,
       "binding SID is not a unicast", "bsid") for a in NOT_UNICAST],
    ("policy-new", EXCL, {**POLICY, "bsid": "fc00:b::1"}, EEXIST,
     "binding SID of policy 1 fd00::b", "bsid"),
    ("policy-new", EXCL, {**POLICY, "candidate": [{"discriminator": i}
                                                  for i in range(9)]},
     E2BIG, "more than 8 candidate paths", "candidate"),
    ("policy-new", EXCL, {**POLICY, **lists(*[{"path": 1}] * 65)}, E2BIG,
     "more than 64 segment lists", "candidate"),
    ("policy-new", EXCL, {**POLICY, **lists({"path": 99})}, ENOENT,
     "no path has this id", "candidate.segment-list.path"),
    ("policy-new", EXCL, {**POLICY, **lists({"path": 0})}, ERANGE, "range",
     "candidate.segment-list.path"),
    ("policy-new", EXCL, {**POLICY, **lists({"weight": 1})}, EINVAL, "",
     "-1"),
    ("policy-new", EXCL, {**POLICY, **lists({"path": 1, "weight": 65536})},
     ERANGE, "range", "candidate.segment-list.weight"),
    ("policy-new", EXCL, {**POLICY, **lists({"path": 1}, {"path": 1})},
     EINVAL, "twice", "candidate.segment-list"),
    ("policy-new", EXCL, {**POLICY, "candidate": [{"protocol_origin": 15}]},
     EINVAL, "10, 20 or 30", "candidate.protocol-origin"),
    ("policy-new", EXCL, {**POLICY, "candidate": [{"node": b"x" * 4}]},
     ERANGE, "size out of range", "candidate.node"),
    ("policy-new", EXCL, {**POLICY, "candidate": [{"name": LONG}]},
     EINVAL, "validation", "candidate.name"),
    ("policy-new", EXCL, {**POLICY, "candidate": [{"discriminator": 1},
                                                  {"discriminator": 1}]},
     EINVAL, "same origin", "candidate"),
    # preference is not part of the identity
    ("policy-new", EXCL, {**POLICY, "candidate": [
        {"discriminator": 1, "preference": 1},
        {"discriminator": 1, "preference": 2}]},
     EINVAL, "same origin", "candidate"),
    # the second candidate path is bad: the first must not stay behind
    ("policy-new", REPLACE, {**POLICY, "color": 1, "candidate": [
        {"segment_list": [{"path": 2}]}, {"segment_list": [{"path": 99}]}]},
     ENOENT, "no path", "candidate.segment-list.path"),

    ("rule-get", 0, {}, EINVAL, "", "-priority"),
    ("rule-get", 0, {"priority": 9}, ENOENT, "no rule", "priority"),
    ("rule-del", 0, {}, EINVAL, "", "-priority"),
    ("rule-del", 0, {"priority": 9}, ENOENT, "no rule", "priority"),
    ("rule-new", EXCL, {"color": 1}, EINVAL, "", "-priority"),
    ("rule-new", EXCL, {**RULE, "priority": 1}, EEXIST, "exists", ""),
    ("rule-new", CHANGE, RULE, ENOENT, "does not exist", ""),
    ("rule-new", EXCL, {"priority": 50}, EINVAL, "color or bypass",
     "-color"),
    ("rule-new", EXCL, {"priority": 50, "action": "steer"}, EINVAL,
     "color or bypass", "-color"),
    ("rule-new", EXCL, {**RULE, "color": 0}, EINVAL, "color is 0",
     "color"),
    ("rule-new", EXCL, {**RULE, "action": "bypass"}, EINVAL,
     "takes no color", "color"),
    ("rule-new", EXCL, {**RULE, "action": 2}, ERANGE, "range", "action"),
    ("rule-new", EXCL, {**RULE, "name": LONG}, EINVAL, "validation", "name"),
    ("rule-new", EXCL, {**RULE, "ifindex": 9999}, ENODEV,
     "no such device", "ifindex"),
    ("rule-new", EXCL, {**RULE, "mark_mask": 1}, EINVAL,
     "mask without mark", "mark-mask"),
    ("rule-new", EXCL, {**RULE, "mark": 1, "mark_mask": 0}, ERANGE,
     "range", "mark-mask"),
    ("rule-new", EXCL, {**RULE, "mark": 3, "mark_mask": 1}, EINVAL,
     "outside its mask", "mark"),
    ("rule-new", EXCL, {**RULE, "src": "fd00::1", "src_len": 64}, EINVAL,
     "host bits", "src"),
    ("rule-new", EXCL, {**RULE, "dst": "fd00::1", "dst_len": 127}, EINVAL,
     "host bits", "dst"),
    ("rule-new", EXCL, {**RULE, "src_len": 64}, EINVAL,
     "length without prefix", "src-len"),
    ("rule-new", EXCL, {**RULE, "dst_len": 64}, EINVAL,
     "length without prefix", "dst-len"),
    ("rule-new", EXCL, {**RULE, "src": "::", "src_len": 129}, ERANGE,
     "range", "src-len"),
    ("rule-new", EXCL, {**RULE, "dst": b"x" * 4}, ERANGE, "size out of range", "dst"),
    ("rule-new", EXCL, {**RULE, "src": "10.0.0.1", "dst": "fd00::1"},
     EINVAL, "different address families", ""),
    # 0.0.0.0/0 is IPv4, a shorter prefix is not
    ("rule-new", EXCL, {**RULE, "src": "0.0.0.0", "src_len": 96,
                        "dst": "fd00::1"},
     EINVAL, "different address families", ""),
    ("rule-new", EXCL, {**RULE, "src": "10.0.0.1", "dst": "fd00::",
                        "dst_len": 8},
     EINVAL, "different address families", ""),
    ("rule-new", CHANGE, {"priority": 2, "src": "10.0.0.1"}, EINVAL,
     "different address families", ""),
    ("rule-new", EXCL, {**RULE, "sport_max": 5}, EINVAL,
     "needs its minimum", "sport-max"),
    ("rule-new", EXCL, {**RULE, "dport_min": 5, "dport_max": 4}, EINVAL,
     "below minimum", "dport-max"),
    ("rule-new", EXCL, {**RULE, "qp_max": 5}, EINVAL, "needs its minimum",
     "qp-max"),
    ("rule-new", EXCL, {**RULE, "qp_min": 5, "qp_max": 4}, EINVAL,
     "below minimum", "qp-max"),
    ("rule-new", EXCL, {**RULE, "qp_min": 1 << 24}, ERANGE, "range",
     "qp-min"),
    ("rule-new", EXCL, {**RULE, "dscp": 64}, ERANGE, "range", "dscp"),
    ("rule-new", EXCL, {**RULE, "proto": 6, "qp_min": 5}, EINVAL,
     "RoCEv2", ""),
    ("rule-new", EXCL, {**RULE, "proto": 6, "opcode": [1]}, EINVAL,
     "RoCEv2", ""),
    ("rule-new", EXCL, {**RULE, "proto": 6, "pkey": 1}, EINVAL,
     "RoCEv2", ""),
    ("rule-new", EXCL, {**RULE, "proto": 58, "sport_min": 5}, EINVAL,
     "UDP and TCP only", ""),
    ("rule-new", EXCL, {**RULE, "proto": 58, "dport_min": 5}, EINVAL,
     "UDP and TCP only", ""),
    ("rule-new", EXCL, {**RULE, "vlan": 4095}, ERANGE, "range", "vlan"),
    ("rule-new", EXCL, {**RULE, "cgroup": 1 << 40}, ENOENT,
     "no cgroup has this id", "cgroup"),
    ("rule-new", EXCL, {**RULE, "mode": 6}, ERANGE, "range", "mode"),
    ("rule-new", EXCL, {**RULE, "ordering": 3}, ERANGE, "range",
     "ordering"),
    ("rule-new", EXCL, {**RULE, "mode": "spray"}, EINVAL,
     "spray needs ordering partial or weak", "mode"),
    ("rule-new", EXCL, {**RULE, "mode": "spray", "ordering": "strong"},
     EINVAL, "spray needs ordering partial or weak", "mode"),
    ("rule-new", CHANGE, {"priority": 1, "mode": "spray"}, EINVAL,
     "spray needs ordering partial or weak", "mode"),
    ("rule-new", CHANGE, {"priority": 2, "ordering": "strong"}, EINVAL,
     "spray needs ordering partial or weak", "ordering"),
    ("rule-new", EXCL, {**RULE, "path": 0}, ERANGE, "range", "path"),
    ("rule-new", EXCL, {**RULE, "path": 65536}, ERANGE,
     "path ids go up to", "path"),
    ("rule-new", EXCL, {**RULE, "path": 1, "mode": "flowlet"}, EINVAL,
     "a rule with a path is in mode hash", "mode"),
    ("rule-new", EXCL, {"priority": 7, "action": "bypass", "path": 1}, EINVAL,
     "bypass takes no path", "path"),
    # a change is checked together with what is there (rule 1 has proto 17)
    ("rule-new", CHANGE, {"priority": 1, "proto": 6}, EINVAL, "RoCEv2", ""),

    ("endpoint-get", 0, {}, EINVAL, "", "-prefix"),
    ("endpoint-get", 0, {"prefix": "fd00:b::", "prefix_len": 47}, ENOENT,
     "no such steering prefix", "prefix"),
    ("endpoint-del", 0, {"prefix": "fd00:b::", "prefix_len": 16}, EINVAL,
     "host bits", "prefix"),
    ("endpoint-new", EXCL, {"address": "::"}, EINVAL, "", "-prefix"),
    ("endpoint-new", EXCL, {**ENDPOINT, "prefix": "fd00:50::1"}, EINVAL,
     "host bits", "prefix"),
    ("endpoint-new", EXCL, {**ENDPOINT, "prefix_len": 129}, ERANGE, "range",
     "prefix-len"),
    ("endpoint-new", EXCL, {"prefix": "fd00:50::"}, EINVAL, "", "-address"),
    ("endpoint-new", EXCL, {**ENDPOINT, "address": "ff02::1"}, EINVAL,
     "multicast", "address"),
    ("endpoint-new", EXCL, {**ENDPOINT, "prefix": "fd00:b::"}, EEXIST,
     "exists", ""),
    ("endpoint-new", CHANGE, ENDPOINT, ENOENT, "does not exist", ""),

    ("sid-get", 0, {}, EINVAL, "", "-sid"),
    ("sid-get", 0, {"sid": "fc00::51"}, ENOENT, "no such local SID", "sid"),
    ("sid-del", 0, {}, EINVAL, "", "-sid"),
    ("sid-del", 0, {"sid": "fc00::51"}, ENOENT, "no such local SID", "sid"),
    ("sid-new", EXCL, {"behavior": 1}, EINVAL, "", "-sid"),
    ("sid-new", EXCL, {"sid": "fc00::50"}, EINVAL, "", "-behavior"),
    ("sid-new", EXCL, {**SID, "behavior": 0}, EOPNOTSUPP, "not supported",
     "behavior"),
    ("sid-new", EXCL, {**SID, "behavior": 3}, EOPNOTSUPP, "not supported",
     "behavior"),
    ("sid-new", CHANGE, {"sid": "fc00:a::1", "behavior": 9}, EOPNOTSUPP,
     "not supported", "behavior"),
    ("sid-get", 0, {"sid": "fc00:a::1", "prefix_len": 127}, ENOENT,
     "no such local SID", "sid"),
    ("sid-new", EXCL, {**SID, "prefix_len": 0}, ERANGE, "range",
     "prefix-len"),
    ("sid-new", EXCL, {**SID, "prefix_len": 112}, EINVAL,
     "beyond the first 112", "sid"),
    ("sid-new", EXCL, {**SID, "behavior": 43}, EINVAL, "beyond the first 48",
     "sid"),
    ("sid-new", EXCL, {**SID, "block_len": 32}, EINVAL, "no locator block",
     "block-len"),
    *[("sid-new", EXCL, {"sid": "fc00:0:7::", "behavior": 43,
                         "block_len": n}, EINVAL, "below 48", "block-len")
      for n in (0, 20, 48, 56)],
    ("sid-new", EXCL, {"sid": "fc00::", "behavior": 43, "prefix_len": 32},
     EINVAL, "below 32", "prefix-len"),
    ("sid-new", EXCL, {"sid": "fc00:0:7::", "behavior": 43,
                       "prefix_len": 50}, EINVAL, "multiple of 8",
     "prefix-len"),
    *[("sid-new", EXCL, {**SID, "behavior": b, "ifindex": d0}, EINVAL,
       "has no adjacency", "ifindex") for b in (1, 2, 18, 19, 20, 28, 29)],
    ("sid-new", EXCL, {**SID, "via": "fd00::1"}, EINVAL, "has no adjacency",
     "via"),
    *[("sid-new", EXCL, {**SID, "behavior": b, "dscp_mode": "pipe"}, EINVAL,
       "does not decapsulate", "dscp-mode") for b in (1, 2, 32768)],
    *[("sid-new", EXCL, {**SID, "behavior": b}, EINVAL, "needs an adjacency",
       "-ifindex") for b in (5, 6, 16, 17)],
    ("sid-new", EXCL, {**SID, "behavior": 5, "ifindex": d0}, EINVAL,
     "needs an adjacency", "-via"),
    ("sid-new", EXCL, {**SID, "behavior": 5, "via": "fe80::1"}, EINVAL,
     "needs an adjacency", "-ifindex"),
    ("sid-new", EXCL, {**SID, "behavior": 5, "ifindex": 9999,
                       "via": "fe80::1"}, ENODEV, "no such device",
     "ifindex"),
    ("sid-new", EXCL, {**SID, "behavior": 5, "ifindex": d0,
                       "via": "10.0.0.1"}, EINVAL, "wrong address family",
     "via"),
    ("sid-new", EXCL, {**SID, "behavior": 17, "ifindex": d0,
                       "via": "fe80::1"}, EINVAL, "wrong address family",
     "via"),
    *[("sid-new", EXCL, {**SID, "behavior": 17, "ifindex": d0, "via": a},
       EINVAL, "not a unicast IPv4", "via") for a in
      ("127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255")],
    *[("sid-new", EXCL, {**SID, "behavior": 5, "ifindex": d0, "via": a},
       EINVAL, "not a unicast IPv6", "via") for a in ("::1", "ff02::1")],
    *[("sid-new", EXCL, {**SID, "sid": a}, EINVAL, "SID is not a unicast",
       "sid") for a in NOT_UNICAST],
    ("sid-new", EXCL, {**SID, "sid": "fc00:a::1"}, EEXIST, "exists", ""),
    ("sid-new", CHANGE, SID, ENOENT, "does not exist", ""),

    ("dev-get", 0, {}, EINVAL, "", "-ifindex"),
    ("dev-get", 0, {"ifindex": 1}, ENOENT, "not attached", "ifindex"),
    ("dev-del", 0, {"ifindex": 1}, ENOENT, "not attached", "ifindex"),
    ("dev-new", EXCL, {"role": 1}, EINVAL, "", "-ifindex"),
    ("dev-new", EXCL, {"ifindex": 1}, EINVAL, "", "-role"),
    ("dev-new", EXCL, {"ifindex": 1, "role": 0}, ERANGE, "range", "role"),
    ("dev-new", EXCL, {"ifindex": 1, "role": 4}, ERANGE, "range", "role"),
    ("dev-new", EXCL, {"ifindex": 1, "role": 1, "xdp_mode": 4}, ERANGE,
     "range", "xdp-mode"),
    ("dev-new", EXCL, {"ifindex": 9999, "role": 1}, ENODEV,
     "no such device", "ifindex"),
    ("dev-new", EXCL, {"ifindex": d0, "role": 1}, EEXIST, "exists", ""),
    ("dev-new", CHANGE, {"ifindex": d1, "role": 1}, EINVAL, "at ports only",
     "role"),
    ("dev-new", CHANGE, {"ifindex": d1, "role": 3}, EINVAL, "no loose check",
     "role"),
    ("dev-new", CHANGE, {"ifindex": d0, "source": 1}, EINVAL, "at ports only",
     "source"),
    ("dev-new", CHANGE, {"ifindex": 1, "role": 1}, ENOENT, "does not exist",
     ""),

    ("config-set", 0, {"hop_limit": 0}, ERANGE, "range", "hop-limit"),
    ("config-set", 0, {"hop_limit": 256}, ERANGE, "range", "hop-limit"),
    ("config-set", 0, {"dscp_mode": 2}, ERANGE, "range", "dscp-mode"),
    ("config-set", 0, {"dscp_mode": 1, "dscp": 64}, ERANGE, "range", "dscp"),
    ("config-set", 0, {"dscp": 1}, EINVAL, "dscp-mode pipe", "dscp"),
    ("config-set", 0, {"dscp_mode": 0, "dscp": 1}, EINVAL, "pipe", "dscp"),
    ("config-set", 0, {"flow_label": 4}, ERANGE, "range", "flow-label"),
    ("config-set", 0, {"icmp_errors": 2}, ERANGE, "range", "icmp-errors"),
    ("config-set", 0, {"retry_interval": 3600001}, ERANGE, "range", "retry-interval"),
    ("config-set", 0, {"path_id": 3}, ERANGE, "range", "path-id"),
    ("config-set", 0, {"psn_observer": 2}, ERANGE, "range", "psn-observer"),
    ("config-set", 0, {"remembered_routes": 2}, ERANGE, "range",
     "remembered-routes"),
    ("config-set", 0, {"drop_events": 1000001}, ERANGE, "range",
     "drop-events"),
    ("config-set", 0, {"hop_limit": 9, "sr_domain": [
        {"prefix": "fd00::", "prefix_len": 7}]}, EINVAL, "host bits",
     "sr-domain.prefix"),
    ("config-set", 0, {"sr_domain": [{"prefix": "::", "prefix_len": 129}]},
     ERANGE, "range", "sr-domain.prefix-len"),
    ("config-set", 0, {"sr_domain": [{"prefix_len": 8}]}, EINVAL, "", "-1"),
    ("config-set", 0, {"sr_domain": [{}, {}]}, EINVAL, "", "-1"),
    ("config-set", 0, {"sr_domain": [{"prefix": "fd00::1"}] * 9}, E2BIG,
     "more than 8 prefixes", "sr-domain"),
    ("config-set", 0, {"sr_domain": [{"prefix": "fd00::1"}] * 5,
                       "sr_source": [{"prefix": "fd00::2"}] * 4}, E2BIG,
     "more than 8 prefixes", "sr-source"),
    *[("config-set", 0, {"src": a, "hop_limit": 9}, EINVAL,
       "source is not a unicast", "src") for a in NOT_UNICAST[1:]],
]


def configure():
    for i in (1, 2):
        client.new("path", id=i, sids=[f"fc00::{i}"])
    client.new("policy", color=1, endpoint="fd00::b", bsid="fc00:b::1",
               **lists({"path": 1}))
    client.new("rule", priority=1, color=1, proto=17, qp_min=5)
    client.new("rule", priority=2, color=1, mode="spray", ordering="weak",
               dst="fd00::1")
    client.new("endpoint", prefix="fd00:b::", prefix_len=48,
               address="fd00::b")
    client.new("sid", sid="fc00:a::1", behavior=20)
    client.new("dev", ifindex=d0, role="uplink")
    client.new("dev", ifindex=d1, role="port", source="loose")


configure()
COMPLETE = client.everything()


@test
def refusals():
    "every bad request: its error, its message, its attribute, no effect"
    wrong = []
    for op, flags, members, error, words, blame in TABLE:
        request = f"{op} {members} flags {flags:#x}"
        try:
            client.op(op, members, flags)
            wrong.append(f"{request}: not refused")
        except Refused as why:
            try:
                eq(why.errno, error, "errno")
                match(why.msg, words, "message")
                eq(f"-{why.miss}" if why.miss else why.attr, blame,
                   "attribute")
                assert why.msg or why.miss, "no explanation"
            except AssertionError as failure:
                wrong.append(f"{request}: {failure} ({why})")
        now = client.everything()
        if now != COMPLETE:
            wrong.append(f"{request}: changed something")
            raise AssertionError("\n".join(wrong))
    say(f"{len(TABLE)} requests")
    if wrong:
        raise AssertionError("\n".join(wrong))


@test
def malformed():
    "operations and attributes that do not exist, nests without the flag"
    with ns:
        raw = RawSocket()
    family = family_id()
    number = struct.pack("I", 50)
    sid = attr(1, packed("fc00::1"))
    good = attr(1, number) + attr(4, sid, nested=True)
    for cmd, body, error in (
            (0, b"", EOPNOTSUPP), (4, b"", EOPNOTSUPP),
            (34, b"", EOPNOTSUPP), (200, b"", EINVAL),
            (2, good + attr(0x3ff), EINVAL),
            (2, good + attr(100, b"x" * 8), EINVAL),
            (2, attr(1, number) + attr(4, sid), EINVAL),
            (2, attr(1, number) + attr(4, sid + attr(2), nested=True),
             EINVAL),
            (2, attr(1, number + b"\0\0\0\0") + attr(4, sid, nested=True),
             EINVAL),
            (2, attr(1, number[:3]) + attr(4, sid, nested=True), ERANGE),
            (2, good + b"\1", EINVAL), (2, good + b"\3\0\1\0", EINVAL),
            (2, attr(1, number, length=200), EINVAL)):
        got = raw.errno(raw.message(family, cmd, body, EXCL))
        if error == ERANGE:
            assert got in (EINVAL, ERANGE), got
        else:
            eq(got, error, f"cmd {cmd} {body.hex()}")
        eq(client.everything(), COMPLETE)
    eq(raw.errno(raw.message(family, 2, good, EXCL)), 0, "the good one")
    client.delete("path", id=50)
    raw.close()


def bulk(messages):
    """Send many messages without acknowledgement; the errors of them."""
    with ns:
        raw = RawSocket(seconds=0.5)
    family = family_id()
    errors = []
    batch = b""

    def flush():
        nonlocal batch
        raw.sock.send(batch)
        batch = b""

    for op, body in messages:
        cmd = client.ynl.ops[op].req_value
        message = bytearray(raw.message(family, cmd, body, EXCL))
        message[6:8] = struct.pack("H", 1 | EXCL)
        batch += bytes(message) + b"\0" * (-len(message) % 4)
        if len(batch) > 16000:
            flush()
    flush()
    try:
        while True:
            data = raw.sock.recv(1 << 17)
            errors.append(-struct.unpack_from("i", data, 16)[0])
    except TimeoutError:
        pass
    raw.close()
    return errors


def u32(number, value):
    return attr(number, struct.pack("I", value))


def full(what, kind, make, limit, one_more, key):
    """Fill a table; the next one is refused and named; room after a del."""
    have = len(client.dump(kind)) if limit < 1100 else \
        client.get("config")["used"][what]
    errors = bulk(make(i) for i in range(limit - have))
    eq(errors, [], "errors while filling")
    eq(client.get("config")["used"][what], limit)
    try:
        client.new(kind, **one_more)
    except Refused as why:
        eq(why.errno, ENOSPC)
        match(why.msg, f"table is full \\({limit}\\)")
    else:
        raise AssertionError("not refused")
    eq(client.get("config")["used"][what], limit)
    client.delete(kind, **key)
    client.new(kind, **one_more)


def addr(number, prefix, i):
    return attr(number, packed(f"{prefix}:{i >> 16:x}:{i & 0xffff:x}"))


@test
def full_sids():
    "table of local SIDs full"
    full("sids", "sid", lambda i: ("sid-new", addr(1, "fc00:1:", i) + u32(2, 1)),
         1023, {"sid": "fc00:2::", "behavior": 1}, {"sid": "fc00:1::"})


@test
def full_rules():
    "table of rules full"
    full("rules", "rule", lambda i: ("rule-new", u32(1, i + 100) + u32(5, 1)),
         4095, {"priority": 99, "color": 1}, {"priority": 100})


@test
def full_endpoints():
    "table of steering prefixes full"
    full("endpoints", "endpoint",
         lambda i: ("endpoint-new", addr(1, "fd01:1:", i) + addr(3, "fd00:", 1)),
         16384, {"prefix": "fd02::", "address": "::"},
         {"prefix": "fd01:1::"})


@test
def full_policies():
    "table of policies full, and of their buckets"
    def make(size):
        return lambda i: ("policy-new", u32(1, i + 1000) + addr(2, "fd00:", 9) +
                          u32(client.ynl.attr_sets["policy"]["buckets"].value,
                              size))

    eq(bulk(map(make(1024), range(2047))), [])
    for size in (1024, 512):
        try:
            client.new("policy", color=9, endpoint="::", buckets=size)
        except Refused as why:
            eq(why.errno, ENOSPC)
            match(why.msg, "bucket row table is full")
        else:
            assert size == 512, "not refused"
            client.delete("policy", color=9, endpoint="::")
            break
    used = client.get("config")["used"]["policies"]
    for color in range(1000, 3047):
        client.delete("policy", color=color, endpoint="fd00::9")
    eq(client.get("config")["used"]["policies"], used - 2047)
    full("policies", "policy", make(128), 16383,
         {"color": 9, "endpoint": "::"},
         {"color": 1000, "endpoint": "fd00::9"})


@test
def full_next_hops():
    "table of next hops full; a path without a next hop is refused whole"
    def make(i):
        return ("path-new", u32(1, i + 100) + attr(4, attr(1, packed("fc00::1")),
                                          nested=True) +
                u32(7, d0) + addr(8, "fd00:1:", i + 16))

    eq(bulk(map(make, range(1023))), [])
    eq(client.get("config")["used"]["nexthops"], 1023)
    paths = client.get("config")["used"]["paths"]
    for members in ({"id": 5, "sids": ["fc00::1"]}, {"id": 1}):
        try:
            client.op("path-new", {**members, "ifindex": d0,
                                   "via": "fd00:1::2"},
                      CHANGE if members["id"] == 1 else EXCL)
        except Refused as why:
            eq(why.errno, ENOSPC)
            match(why.msg, "next hop table is full")
        else:
            raise AssertionError("not refused")
    eq(client.get("config")["used"]["paths"], paths)
    assert "via" not in client.get("path", id=1)
    client.delete("path", id=100)
    client.change("path", id=1, ifindex=d0, via="fd00:1::2")


@test
def full_devices():
    "table of devices full"
    ns.ip("".join(f"link add x{i} type dummy\n" for i in range(64)))
    for i in range(62):
        client.new("dev", ifindex=ns.ifindex(f"x{i}"), role="uplink")
    try:
        client.new("dev", ifindex=ns.ifindex("x63"), role="uplink")
    except Refused as why:
        eq(why.errno, ENOSPC)
        match(why.msg, "device table is full \\(64\\)")
    else:
        raise AssertionError("not refused")


main()
