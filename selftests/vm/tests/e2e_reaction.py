# SPDX-License-Identifier: GPL-2.0
"""
How soon QPs leave a marked path:

    e2e_reaction.py CAPTURE QPS SID SINCE THRESHOLD DWELL-MS

CAPTURE has what went between the sender and its switch, in both directions; QPS is
what "rdma -j resource show qp" said of the sender; SID is the first one of the marked
path; SINCE is when marking began; THRESHOLD is how many signals make a path bad, and
DWELL-MS how long a QP stays on it then. Prints a line for each QP that left:

    QP CNPS MILLISECONDS LATE

CNPs that it got before its first packet by another path, and when that was, since as
many CNPs as the threshold had come for QPs on the path; and how many of its packets
took the path after the dwell time. (An emulated guest may stand still meanwhile: that
counts as milliseconds, and sends nothing.)
"""

import json
import subprocess
import sys

ACK, CNP = 0x11, 0x81


def packets(capture):
    """The last one may be cut off, of which tshark complains in the end."""
    out = subprocess.run(
        ["tshark", "-n", "-r", capture, "-d", "udp.port==4791,infiniband", "-Y",
         "infiniband", "-T", "fields", "-E", "occurrence=f", "-e", "frame.time_epoch",
         "-e", "ipv6.dst", "-e", "infiniband.bth.opcode", "-e",
         "infiniband.bth.destqp"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    for line in out.stdout.splitlines():
        when, dst, opcode, qp = line.split("\t")
        yield float(when), dst, int(opcode, 0), int(qp, 0)


def main(capture, qps, sid, since, threshold, dwell_ms):
    with open(qps, encoding="ascii") as f:
        local = {q["rqpn"]: q["lqpn"] for q in json.load(f) if "rqpn" in q}
    on, cnps, late, signals, bad = set(), {}, {}, 0, None
    for when, dst, opcode, qp in packets(capture):
        if opcode == CNP and when > float(since):
            cnps[qp] = cnps.get(qp, 0) + 1
            signals += qp in on
            if not bad and signals == int(threshold):
                bad = when
        # the receiver sends nothing else, and may use the same numbers for its QPs
        if opcode in (ACK, CNP):
            continue
        qp = local[qp]
        took = (when - bad) * 1e3 if bad else 0
        if dst == sid:
            on.add(qp)
            late[qp] = late.get(qp, 0) + (took > float(dwell_ms))
        elif bad and qp in on:
            on.remove(qp)
            print(qp, cnps.get(qp, 0), round(took), late[qp])


main(*sys.argv[1:])
