#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what the demo left into a summary and report.html.

report.py DIR: reads samples, marks, commands, results, failovers.jsonl and
policies.json of DIR. Exits 1 if the median failover took 50 ms or more.
"""

import html
import json
import os
import sys

LIMIT_MS = 50
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 960, 320, 64, 16, 40
COLORS = ('#0072b2', '#e69f00', '#009e73', '#cc79a7')


def read_samples(path):
    with open(path) as f:
        rows = [[float(w) for w in line.split()] for line in f]
    return [r for r in rows if len(r) == len(rows[0])]


def rates(samples):
    """[(time, [packets/s of each spine])], averaged over about a second."""
    result, step = [], 4
    for a, b in zip(samples, samples[step:]):
        dt = b[0] - a[0]
        result.append(((a[0] + b[0]) / 2,
                       [(y - x) / dt for x, y in zip(a[1:], b[1:])]))
    return result


def chart(samples, marks):
    points = rates(samples)
    t0, t1 = points[0][0], points[-1][0]
    top = max(max(r) for _, r in points) * 1.1 or 1

    def x(t):
        return LEFT + (t - t0) / (t1 - t0) * (WIDTH - LEFT - 10)

    def y(rate):
        return TOP + (1 - rate / top) * (HEIGHT - TOP - BOTTOM)

    svg = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
           'aria-label="packets per second on each spine over time">']
    for i in range(5):
        rate = top * i / 4
        svg.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 10}" '
                   f'y1="{y(rate):.1f}" y2="{y(rate):.1f}"/>'
                   f'<text class="axis" x="{LEFT - 6}" y="{y(rate) + 4:.1f}" '
                   f'text-anchor="end">{rate:.0f}</text>')
    for i, (when, text) in enumerate(marks):
        if not t0 <= when <= t1:
            continue
        at = x(when)
        svg.append(f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" '
                   f'y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
                   f'<text class="axis" x="{at + 3:.1f}" '
                   f'y="{HEIGHT - BOTTOM + 14 + 12 * (i % 2)}">'
                   f'{html.escape(text)}</text>')
    for spine, color in enumerate(COLORS):
        line = ' '.join(f'{x(t):.1f},{y(r[spine]):.1f}' for t, r in points)
        svg.append(f'<polyline fill="none" stroke="{color}" '
                   f'stroke-width="1.5" points="{line}"/>')
    svg.append('</svg>')
    return '\n'.join(svg)


def median(values):
    return sorted(values)[len(values) // 2]


def facts(results, cuts):
    spread = results['spread_packets']
    return [
        ('Packets on the four spines, 64 QPs', spread),
        ('Largest over smallest spine', results['spread_percent'] + ' % more'),
        ('Packets with 16 QPs pinned 1:2:5:8', results['pinned_packets']),
        ('Times a spine was cut under load', len(cuts)),
        ('QPs on it', ', '.join(str(c['qps_on_dead_spine']) for c in cuts)),
        ('of these moved while captured',
         ', '.join(str(c['qps_moved']) for c in cuts)),
        ('Cut to first packet on another spine, ms',
         f"{', '.join(str(c['first_ms']) for c in cuts)} (median "
         f"{median([c['first_ms'] for c in cuts])})"),
        ('the same, median of the QPs, ms',
         ', '.join(str(c['median_ms']) for c in cuts)),
        ('Packets sent to the dead spine after the cut',
         ', '.join(str(c['lost']) for c in cuts)),
        ('RDMA transfer during the failure', 'completed, no QP error'),
        ('Bytes on the four spines by the fabric\'s plan',
         results['plan_bytes']),
        ('the same by the plan without spine2', results['replan_bytes']),
        ('Traffic off that plan, as the hosts measure it',
         results['off_plan'] + ' %'),
    ]


PAGE = '''<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>srpol demo</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto;
	padding: 0 1em; color: #222; background: #fff }}
td {{ padding: .15em 1.5em .15em 0 }} td + td {{ font-family: monospace }}
pre {{ background: #f4f4f4; padding: 1em; overflow: auto; font-size: 13px }}
.grid {{ stroke: #ddd }} .mark {{ stroke: #d55e00; stroke-dasharray: 3 3 }}
.axis {{ font-size: 11px; fill: #555 }}
.key span {{ margin-right: 1.5em }} .key i {{ display: inline-block; width: 1.5em;
	height: .25em; vertical-align: middle; margin-right: .4em }}
</style>
<h1>srpol demo</h1>
<p>ib_write_bw over soft-RoCE between two hosts, steered over four SRv6 spines.
The lines are packets per second, from the interface counters of the spines.
Everything ran in one virtual machine: look at shares and times to react, not
at speed.</p>
{chart}
<p class="key">{key}</p>
<table>{table}</table>
<h2>Commands</h2>
<pre>{commands}</pre>
</html>
'''


def main():
    out = sys.argv[1]

    def path(name):
        return os.path.join(out, name)

    with open(path('results')) as f:
        results = dict(line.rstrip('\n').split('=', 1) for line in f)
    with open(path('failovers.jsonl')) as f:
        cuts = [json.loads(line) for line in f]
    if not cuts or any(c['first_ms'] is None for c in cuts):
        sys.exit('DEMO FAILED: no flow moved after a cut')
    with open(path('marks')) as f:
        marks = [(float(a), b) for a, b in
                 (line.rstrip('\n').split(' ', 1) for line in f)]
    with open(path('commands')) as f:
        commands = f.read()
    rows = facts(results, cuts)
    key = ''.join(f'<span><i style="background:{c}"></i>spine{i + 1}</span>'
                  for i, c in enumerate(COLORS))
    with open(path('report.html'), 'w') as f:
        f.write(PAGE.format(
            chart=chart(read_samples(path('samples')), marks), key=key,
            table=''.join(f'<tr><td>{html.escape(a)}</td>'
                          f'<td>{html.escape(str(b))}</td></tr>'
                          for a, b in rows),
            commands=html.escape(commands)))

    print('\nSummary (guest time, captured on host A)')
    for name, value in rows:
        print(f'  {name + ":":45} {value}')
    print(f'  {"Report:":45} {path("report.html")}')
    if median([c['first_ms'] for c in cuts]) >= LIMIT_MS:
        sys.exit(f'DEMO FAILED: failover is not below {LIMIT_MS} ms')


main()
