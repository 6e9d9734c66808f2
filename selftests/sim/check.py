#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Results beside the bands that were committed before them, as KTAP.

check.py FILE...: JSON lines from sim, oracle, packets, namespaces. A band for
which there is no result is left out: "make check" does not run everything.
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def read(files):
    rows = {}
    for name in files:
        with open(name) as f:
            for row in map(json.loads, f):
                if 'row' in row:
                    rows[row['case'], row['row']] = row
    oracle = [r for (case, _), r in rows.items() if case == 'oracle']
    if oracle:
        rows['oracle', 'worst'] = {'value': max(r['value'] for r in oracle)}
        rows['oracle', 'flows'] = {'value': max(r['flows'] for r in oracle)}
    return rows


def bands():
    with open(os.path.join(HERE, 'bands.json')) as f:
        return json.load(f)


def judge(rows):
    """(band, value, met) of each band there is a result for."""
    for band in bands():
        row = rows.get((band['case'], band['row']))
        if row is None:
            continue
        value = row['value']
        met = value is not None and band['min'] <= value <= band['max']
        yield band, value, met


def main():
    number = failed = 0
    print('KTAP version 1')
    for band, value, met in judge(read(sys.argv[1:])):
        number += 1
        failed += not met
        print(f"{'ok' if met else 'not ok'} {number} {band['case']}: "
              f"{band['what']}")
        print(f"# {value:.6g}, band {band['min']:g} to {band['max']:g}")
    print(f'1..{number}')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
