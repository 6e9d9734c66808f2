#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Results beside the bands that were committed before them, as KTAP.

check.py [-n CASE,...] FILE...: JSON lines from sim, oracle, packets, namespaces. A
band for which there is no result is missed, unless its case is one of -n: "make
check" does not run everything.
"""

import argparse
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


def judge(rows, not_run=()):
    """(band, value or None, met) of each band but those of cases that are not run."""
    for band in bands():
        if band['case'] in not_run:
            continue
        value = rows.get((band['case'], band['row']), {}).get('value')
        met = value is not None and band['min'] <= value <= band['max']
        yield band, value, met


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('-n', dest='not_run', default='', metavar='CASE,...',
                        help='cases that were not run')
    parser.add_argument('file', nargs='+')
    args = parser.parse_args()
    number = failed = 0
    print('KTAP version 1')
    for band, value, met in judge(read(args.file), args.not_run.split(',')):
        number += 1
        failed += not met
        result = 'no result' if value is None else f'{value:.6g}'
        print(f"{'ok' if met else 'not ok'} {number} {band['case']}: "
              f"{band['what']}")
        print(f"# {result}, band {band['min']:g} to {band['max']:g}")
    print(f'1..{number}')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
