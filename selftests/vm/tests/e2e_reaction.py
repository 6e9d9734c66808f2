# SPDX-License-Identifier: GPL-2.0
"""
How soon QPs leave a marked path:

    e2e_reaction.py CAPTURE QPS SID SINCE

CAPTURE has what went between the sender and its switch, in both directions; QPS is
what "rdma -j resource show qp" said of the sender; SID is the first one of the marked
path; SINCE is when marking began. Prints a line for each QP that left:

    QP CNPS LATE MICROSECONDS

CNPs that it got before its first packet by another path, packets by the marked path
after the last of these CNPs, and the time from the first CNP to that packet.
"""

import json
import subprocess
import sys

CNP = 0x81


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


def main(capture, qps, sid, since):
    with open(qps, encoding="ascii") as f:
        local = {q["rqpn"]: q["lqpn"] for q in json.load(f) if "rqpn" in q}
    at, cnps, late, moved = {}, {}, {}, set()
    for when, dst, opcode, qp in packets(capture):
        if opcode == CNP:
            if when > float(since) and qp not in moved:
                cnps.setdefault(qp, []).append(when)
                late[qp] = 0
            continue
        # acknowledgements have numbers of the sender's
        if qp not in local or local[qp] in moved:
            continue
        qp = local[qp]
        if qp in cnps and at.get(qp) == sid and dst != sid:
            moved.add(qp)
            print(qp, len(cnps[qp]), late[qp],
                  round((when - cnps[qp][0]) * 1e6))
        elif qp in cnps:
            late[qp] += dst == sid
        at[qp] = dst


main(*sys.argv[1:])
