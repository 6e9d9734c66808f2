#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Watch the spines: a live line on the screen and all samples in a file.

sampler.py OUT NAMESPACE...: every 0.25 s read how many packets each spine
(namespaces in order) has received from the leaves, append
"TIME PACKETS PACKETS ..." to OUT (CLOCK_REALTIME seconds, cumulative counts),
and print rates every second. Ends on SIGTERM. The numbers are the spines' own
interface counters, not srpol's.
"""

import ctypes
import os
import signal
import sys
import time

CLONE_NEWNET = 0x40000000
INTERVAL = 0.25
LINES_PER_HEADER = 8

libc = ctypes.CDLL(None, use_errno=True)


def open_counters(namespace):
    """An open /proc/net/dev of a namespace; it stays bound to it."""
    fd = os.open(f'/run/netns/{namespace}', os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), 'setns')
    os.close(fd)
    return open('/proc/thread-self/net/dev')


def received(counters):
    counters.seek(0)
    total = 0
    for line in counters:
        name, _, rest = line.partition(':')
        if name.strip().startswith('leaf'):
            total += int(rest.split()[1])
    return total


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    out = open(sys.argv[1], 'a', buffering=1)
    spines = [open_counters(name) for name in sys.argv[2:]]
    shown, shown_at, lines = [received(s) for s in spines], time.time(), 0
    while True:
        time.sleep(INTERVAL)
        now, counts = time.time(), [received(s) for s in spines]
        print(f'{now:.6f}', *counts, file=out)
        if now - shown_at < 1:
            continue
        rates = [(c - s) / (now - shown_at) for c, s in zip(counts, shown)]
        shown, shown_at = counts, now
        if max(rates) < 10:
            lines = 0
            continue
        if lines % LINES_PER_HEADER == 0:
            print('      packets/s  ', *(f'{"spine%d" % (i + 1):>9}'
                                         for i in range(len(spines))))
        lines += 1
        print('                 ', *(f'{r:9.0f}' for r in rates), flush=True)


main()
