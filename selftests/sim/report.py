#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tables and charts of the simulator.

report.py DIR: reads DIR/*.jsonl; writes sim.json, sim.txt and charts there,
prints the text, and fails when a result is not within its band.
"""

import glob
import json
import math
import os
import re
import sys

import matplotlib
matplotlib.use('svg')
matplotlib.rcParams['svg.fonttype'] = 'none'
matplotlib.rcParams['svg.hashsalt'] = 'srpol'
from matplotlib import pyplot  # noqa: E402

import check  # noqa: E402

# Okabe and Ito: told apart by everyone
COLORS = {'minmax': '#0072b2', 'minmax-qps': '#003c5e', 'spray': '#d55e00', 'ecmp1': '#999999',
          'ecmp4': '#777777', 'ecmp16': '#555555', 'ethereal': '#009e73',
          'wecmp': '#56b4e9', 'reps': '#cc79a7', 'mrc': '#e69f00',
          'adaptive': '#f0e442', 'flowlet': '#bbbbbb', 'random': '#e69f00'}


def table(head, lines):
    lines = [tuple(map(str, line)) for line in [head, *lines]]
    wide = [max(map(len, column)) for column in zip(*lines)]
    text = ['  '.join([line[0].ljust(wide[0])] +
                      [c.rjust(n) for c, n in zip(line[1:], wide[1:])])
            for line in lines]
    text.insert(1, '  '.join('-' * n for n in wide))
    return '\n'.join(line.rstrip() for line in text) + '\n'


def number(v):
    return '-' if v is None else f'{v:.4g}'


def bands_table(rows):
    return table(('band', 'result', 'from', 'to', ''),
                 [(f"{b['case']}: {b['what']}",
                   '-' if v is None else f'{v:.6g}', f"{b['min']:g}",
                   f"{b['max']:g}", 'met' if met else 'MISSED')
                  for b, v, met in check.judge(rows)])


def case_table(rows, case):
    lines = []
    for (name, row), r in rows.items():
        if name == case:
            lines.append((row, number(r['value']), number(r.get('min')),
                          number(r.get('max')), r.get('seeds', 1),
                          number(r.get('bound'))))
    return table((case, 'mean', 'min', 'max', 'seeds', 'bound'), lines)


def series(rows, case, pattern):
    """x and y of the rows of a case whose name has a number at (...)."""
    points = []
    for (name, row), r in rows.items():
        m = re.fullmatch(pattern, row)
        if name == case and m and r['value'] is not None:
            points.append((float(m[1]), r['value']))
    return list(zip(*sorted(points))) or [(), ()]


class Chart:
    def __init__(self, title, x, y):
        self.figure, self.axes = pyplot.subplots(figsize=(6.4, 4))
        self.axes.set_title(title)
        self.axes.set_xlabel(x)
        self.axes.set_ylabel(y)
        self.axes.grid(True, linewidth=0.3)

    def line(self, label, points, color=None):
        if len(points[0]):
            self.axes.plot(*points, marker='o', label=label,
                           color=color or COLORS.get(label))

    def save(self, folder, name):
        if self.axes.get_legend_handles_labels()[0]:
            self.axes.legend()
        self.figure.tight_layout()
        self.figure.savefig(os.path.join(folder, name + '.svg'),
                            metadata={'Date': None})
        pyplot.close(self.figure)


def bars(rows, folder, name, title, case, labels):
    names = [n for n in labels if (case, labels[n]) in rows]
    if not names:
        return
    chart = Chart(title, '', 'completion / bound')
    values = [rows[case, labels[n]]['value'] for n in names]
    chart.axes.bar(names, values, color=[COLORS.get(n, '#0072b2')
                                         for n in names])
    chart.axes.axhline(1, color='black', linewidth=0.8)
    chart.axes.tick_params(axis='x', rotation=45)
    chart.save(folder, name)


def charts(rows, folder):
    schemes = ['ecmp1', 'ecmp4', 'ecmp16', 'flowlet', 'spray', 'adaptive',
               'reps', 'mrc', 'ethereal', 'wecmp', 'minmax-qps', 'minmax']
    bars(rows, folder, 'sim-uneven', '3 % of uplinks at half rate, 512 GPUs',
         'uneven', {s: s for s in schemes})
    bars(rows, folder, 'sim-fig1c', 'Fig. 1C: one link halved, all-to-all',
         'fig1c', {s: s + '/bound' for s in schemes})
    chart = Chart('Links down, ring of 128', 'links', 'completion / healthy')
    for s in schemes:
        chart.line(s, series(rows, 'links-down', s + r'-(\d+)'))
    chart.save(folder, 'sim-links-down')
    chart = Chart('A link dies; the controller learns of it later',
                  'delay in ms', 'completion / healthy')
    for s in schemes:
        chart.line(s, series(rows, 'known', s + r'-([\d.]+)ms'))
    chart.axes.set_xscale('symlog', linthresh=0.1)
    chart.save(folder, 'sim-known')
    chart = Chart('Greatest queue of a switch', 'MiB per flow', 'bytes')
    for label, s in (('spray', 'rotation'), ('random', 'random'),
                     ('minmax', 'minmax')):
        chart.line(s, series(rows, 'rotation', s + r'-(\d+)MiB-queue'),
                   COLORS[label])
    chart.save(folder, 'sim-rotation')
    chart = Chart('Sizes are wrong, permutation at 2:1', 'error in %',
                  'completion / bound')
    chart.line('any leaf', series(rows, 'wrong-sizes', r'error-([\d.]+)%'),
               '#56b4e9')
    chart.line('next leaf',
               series(rows, 'wrong-sizes', r'tight-error-([\d.]+)%'),
               '#0072b2')
    chart.line('next leaf, queue pairs',
               series(rows, 'wrong-sizes', r'tight-qps-error-([\d.]+)%'),
               '#003c5e')
    chart.save(folder, 'sim-wrong-sizes')
    chart = Chart('Probes to cover all paths with P = 0.9', 'paths', 'probes')
    chart.line('random 5-tuples', series(rows, 'fig2a', r'probes(\d+)'),
               COLORS['spray'])
    chart.line('loops', series(rows, 'fig2a', r'loops(\d+)'),
               COLORS['minmax'])
    chart.save(folder, 'sim-probes')
    chart = Chart('Incast: a victim beside paused ports', 'senders',
                  "victim's part of its port")
    for kb in (100, 1000, 10000):
        chart.line(f'XOFF {kb} KB', series(
            rows, 'incast', rf'victim-(\d+)-senders-{kb}KB'),
            {100: '#0072b2', 1000: '#009e73', 10000: '#d55e00'}[kb])
    chart.save(folder, 'sim-incast')


def growth(rows):
    """Seconds and MiB by number of GPUs, c * n^e fitted to what was measured."""
    names = sorted({row[:-5] for case, row in rows
                    if case == 'scale' and row.endswith('-gpus')},
                   key=lambda n: rows['scale', n + '-gpus']['value'])
    text = []
    for family in ('leaf-spine', 'clos'):
        for what in ('plan-s', 'change-s', 'mib', 'plan-mib'):
            points = [(rows['scale', n + '-gpus']['value'],
                       rows['scale', f'{n}-{what}']['value'])
                      for n in names if n.startswith(family)]
            points = [(math.log(x), math.log(y)) for x, y in points if y > 0]
            if len(points) < 2:
                continue
            n = len(points)
            mx, my = (sum(p[i] for p in points) / n for i in (0, 1))
            e = (sum((x - mx) * (y - my) for x, y in points) /
                 sum((x - mx) ** 2 for x, y in points))
            at = math.exp(my + e * (math.log(1e5) - mx))
            text.append((f'{family} {what}', n, f'{e:.2f}', number(at)))
    return table(('grows as n^e', 'points', 'e', 'at 100,000 GPUs'), text)


def main():
    folder = sys.argv[1]
    rows = check.read(sorted(glob.glob(os.path.join(folder, '*.jsonl'))))
    text = [bands_table(rows)]
    for case in dict.fromkeys(case for case, _ in rows):
        text.append(case_table(rows, case))
    text.append(growth(rows))
    text = '\n'.join(text)
    with open(os.path.join(folder, 'sim.txt'), 'w') as f:
        f.write(text)
    with open(os.path.join(folder, 'sim.json'), 'w') as f:
        json.dump(list(rows.values()), f, indent=1)
    charts(rows, folder)
    print(text)
    sys.exit(not all(met for _, _, met in check.judge(rows)))


if __name__ == '__main__':
    main()
