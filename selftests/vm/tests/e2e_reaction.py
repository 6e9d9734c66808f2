# SPDX-License-Identifier: GPL-2.0
"""
How soon QPs leave a marked path:

    e2e_reaction.py CAPTURE QPS SID SINCE THRESHOLD DWELL-MS

CAPTURE has what went between the sender and its switch, in both directions; QPS is
what "rdma -j resource show qp" said of the sender; SID is the first one of the marked
path; SINCE is when marking began; THRESHOLD is how many signals make a path bad, and
DWELL-MS how long a QP stays on it then. Prints a line for each QP that left:

    QP CNPS MILLISECONDS LATE

CNPs that it got before its first packet by another path, and when that was, since the
path was bad for the first time: as many CNPs as the threshold had come for QPs on it;
and how many of its packets took the path after the dwell time. (An emulated guest may
stand still meanwhile: that counts as milliseconds, and sends nothing.) Once other QPs
have left, too few CNPs may come for a while: the path is good then, and the dwell time
begins anew when it is bad again.
"""

import json
import subprocess
import sys

ACK, CNP = 0x11, 0x81
HALF_LIFE = (1 << 27) / 1e9     # SRPOL_LEVEL_SHIFT
TICK = 0.01                     # the data plane counts CNPs by the coarse clock


class Level:
    """Signals of a path, as the data plane counts them: quality.h."""

    def __init__(self):
        self.signals = self.since = 0

    def at(self, when):
        return self.signals * 0.5 ** max(0, (when - self.since) // HALF_LIFE)

    def signal(self, when):
        left = int(self.at(when) * 256) / 256
        if left:
            self.since += max(0, (when - self.since) // HALF_LIFE) * HALF_LIFE
        else:
            self.since = when
        self.signals = left + 1


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
    threshold, dwell = int(threshold), float(dwell_ms) / 1e3
    on, cnps, late, level, first, bad = set(), {}, {}, Level(), None, None
    for when, dst, opcode, qp in packets(capture):
        if bad and level.at(when + TICK) < threshold:
            bad, late = None, {}
        if opcode == CNP and when > float(since):
            cnps[qp] = cnps.get(qp, 0) + 1
            if qp in on:
                level.signal(when)
            if not bad and level.at(when) >= threshold:
                bad = when
                first = first or when
        # the receiver sends nothing else, and may use the same numbers for its QPs
        if opcode in (ACK, CNP):
            continue
        qp = local[qp]
        if dst == sid:
            on.add(qp)
            if bad and when - bad > dwell:
                late[qp] = late.get(qp, 0) + 1
        elif first and qp in on:
            on.remove(qp)
            print(qp, cnps.get(qp, 0), round((when - first) * 1e3), late.get(qp, 0))


main(*sys.argv[1:])
