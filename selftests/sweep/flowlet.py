#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Balance and reordering of mode flowlet against the policy's gap.

flowlet.py DIR: reads what build/selftests/bpf/tools/flowlet prints from the
standard input, writes flowlet.txt, flowlet.csv and flowlet.svg to DIR. Exits 1
if the curves are not what the mode promises.
"""

import collections
import csv
import math
import os
import sys

PATHS = 4
DELAY_US = (0, 40, 80, 120)     # of paths 1 to 4, on top of what all have
SKEW_US = max(DELAY_US) - min(DELAY_US)
WINDOW_US = 10000

NOTE = """\
Measured: which path each packet took and when. The shipped srpol_egress chose,
in real time, one packet after the other (BPF_PROG_TEST_RUN); flowlets and moves
are its own counters, here of {rounds} rounds of {seconds:g} s, eight QPs each.
Modelled: the sender (bursts and idle times drawn from a seeded bounded Pareto
distribution) and the network: {n} paths of constant delay,
{delays} us, so a skew of {skew} us; no queue, no loss.

balance    bytes of the busiest path / mean of the paths, 1 is even; "overall"
           over a round, mean of the rounds; "worst" of them; "window" over
           {window:g} ms: sum of the busiest / sum of the means
reordered  packets that arrive after a later one of their QP (RFC 4737)
"""
COLUMNS = ('gap', 'overall', 'worst', 'window', 'packets', 'reordered',
           'percent', 'flowlets', 'moves')


class Total:
    """What all runs of one gap add up to."""

    def __init__(self):
        self.overall = []
        self.busiest = self.mean = 0
        self.packets = self.reordered = self.flowlets = self.moves = 0

    @property
    def window(self):
        return self.busiest / self.mean

    @property
    def percent(self):
        return 100 * self.reordered / self.packets

    def row(self, gap_us):
        return (f'{gap_us} us' if gap_us else 'hash',
                f'{sum(self.overall) / len(self.overall):.3f}',
                f'{max(self.overall):.3f}', f'{self.window:.3f}',
                self.packets, self.reordered, f'{self.percent:.3f}',
                self.flowlets, self.moves)


def read_runs(lines):
    """Yield (gap in us, seconds, {flow: (flowlets, moves)}, packets)."""
    run = None
    for line in lines:
        kind, *words = line.split()
        if kind == 'run':
            if run:
                yield run
            run = (int(words[1]) // 1000, float(words[2]), {}, [])
        elif kind == 'flow':
            run[2][int(words[0])] = tuple(map(int, words[1:]))
        elif kind == 'packet':
            run[3].append(tuple(map(int, words)))
        else:
            sys.exit(line)
    if run:
        yield run


def reordered(sent):
    """Packets of a flow, (ns, path) as sent, that arrive after a later one."""
    arrivals = sorted((ns + 1000 * DELAY_US[path - 1], number)
                      for number, (ns, path) in enumerate(sent))
    late = highest = 0
    for _, number in arrivals:
        late += number < highest
        highest = max(highest, number)
    return late


def add_run(total, flows, packets, is_hash):
    paths = [0] * PATHS
    windows = collections.defaultdict(lambda: [0] * PATHS)
    sent = collections.defaultdict(list)
    for flow, ns, path, size in packets:
        paths[path - 1] += size
        windows[ns // (1000 * WINDOW_US)][path - 1] += size
        sent[flow].append((ns, path))
    total.overall.append(max(paths) * PATHS / sum(paths))
    for window in windows.values():
        total.busiest += max(window)
        total.mean += sum(window) / PATHS
    total.packets += len(packets)
    for flow, trace in sent.items():
        flowlets, moves = flows[flow]
        seen = sum(a[1] != b[1] for a, b in zip(trace, trace[1:]))
        if seen != moves:
            sys.exit(f'flow {flow} moved {seen} times, srpol says {moves}')
        if is_hash and moves:
            sys.exit(f'flow {flow} moved in mode hash')
        total.reordered += reordered(trace)
        total.flowlets += flowlets
        total.moves += moves


def table(rows):
    rows = [tuple(map(str, r)) for r in rows]
    wide = [max(map(len, column)) for column in zip(*rows)]
    return ''.join('  '.join(w.rjust(n) for w, n in zip(r, wide)) + '\n'
                   for r in rows)


class Chart:
    """Two curves over a log x axis, each with an axis of its own."""

    WIDTH, HEIGHT = 760, 440
    LEFT, RIGHT, TOP, BOTTOM = 70, 70, 64, 56
    BLUE, ORANGE, GREY = '#0072b2', '#d55e00', '#777'

    def __init__(self, gaps):
        self.first, self.last = math.log10(gaps[0]), math.log10(gaps[-1])
        self.out = []

    def x(self, gap_us):
        part = (math.log10(gap_us) - self.first) / (self.last - self.first)
        return self.LEFT + part * (self.WIDTH - self.LEFT - self.RIGHT)

    def y(self, part):
        return (self.HEIGHT - self.BOTTOM -
                part * (self.HEIGHT - self.TOP - self.BOTTOM))

    def text(self, x, y, what, anchor='middle', color='#222', more=''):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" '
                        f'text-anchor="{anchor}" {more}>{what}</text>')

    def line(self, x1, y1, x2, y2, color, more=''):
        self.out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
                        f'y2="{y2:.1f}" stroke="{color}" {more}/>')

    def grid(self, gaps):
        for gap in gaps:
            self.line(self.x(gap), self.y(0), self.x(gap), self.y(1), '#eee')
            self.text(self.x(gap), self.y(0) + 18,
                      f'{gap} us' if gap < 1000 else f'{gap // 1000} ms')
        self.text(self.WIDTH / 2, self.HEIGHT - 12,
                  'gap of the policy (log scale)')
        x = self.x(SKEW_US)
        self.line(x, self.y(0), x, self.y(1), self.GREY,
                  'stroke-dasharray="2 4"')
        self.text(x + 6, self.y(.75), f'path skew {SKEW_US} us', 'start',
                  self.GREY)

    def axis(self, lowest, highest, name, color, right):
        """Return: value -> part of the height."""
        ticks, step = steps(highest - lowest)
        x = self.WIDTH - self.RIGHT if right else self.LEFT
        for i in range(ticks + 1):
            y = self.y(i / ticks)
            self.text(x + (8 if right else -8), y + 4,
                      f'{lowest + i * step:.4g}', 'start' if right else 'end',
                      color)
        self.line(x, self.y(0), x, self.y(1), color)
        at = self.WIDTH - 16 if right else 20
        self.text(at, self.y(.5), name, color=color,
                  more=f'transform="rotate(-90 {at} {self.y(.5):.1f})"')
        return lambda value: (value - lowest) / (ticks * step)

    def curve(self, points, color):
        at = [(self.x(gap), self.y(part)) for gap, part in points]
        path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in at)
        self.out.append(f'<polyline points="{path}" fill="none" '
                        f'stroke="{color}" stroke-width="2"/>')
        self.out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" '
                     f'fill="{color}"/>' for x, y in at]

    def legend(self, entries):
        x = self.LEFT
        for name, color, more in entries:
            self.line(x, 44, x + 24, 44, color, f'stroke-width="2" {more}')
            self.text(x + 30, 48, name, 'start')
            x += 56 + 6.6 * len(name)

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" '
                f'width="{self.WIDTH}" height="{self.HEIGHT}" '
                f'font-family="sans-serif" font-size="12">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n' +
                '\n'.join(self.out) + '\n</svg>\n')


def steps(value):
    """(number of ticks, step) of a scale of round numbers up to @value."""
    base = 10 ** math.floor(math.log10(value or 1))
    step = next(base * f for f in (.1, .2, .5, 1, 2) if value <= base * f * 6)
    return max(1, math.ceil(value / step)), step


def draw(totals):
    gaps = sorted(g for g in totals if g)
    chart = Chart(gaps)
    chart.grid(gaps)
    balance = chart.axis(1, max(t.window for t in totals.values()),
                         f'busiest path / mean, {WINDOW_US // 1000} ms windows',
                         chart.BLUE, False)
    late = chart.axis(0, max(t.percent for t in totals.values()),
                      'packets reordered, %', chart.ORANGE, True)
    y = chart.y(balance(totals[0].window))
    dashes = 'stroke-dasharray="8 4"'
    chart.line(chart.LEFT, y, chart.WIDTH - chart.RIGHT, y, chart.BLUE, dashes)
    chart.line(chart.LEFT, chart.y(0), chart.WIDTH - chart.RIGHT, chart.y(0),
               '#222')
    chart.curve([(g, balance(totals[g].window)) for g in gaps], chart.BLUE)
    chart.curve([(g, late(totals[g].percent)) for g in gaps], chart.ORANGE)
    chart.text(chart.WIDTH / 2, 22,
               'mode flowlet: path choice measured, path delays modelled',
               more='font-size="15"')
    chart.legend((('balance (left)', chart.BLUE, ''),
                  ('balance in mode hash (left)', chart.BLUE, dashes),
                  ('reordered (right); hash: 0', chart.ORANGE, '')))
    return chart.svg()


def promises(totals):
    """What does not hold of what Documentation/modes.rst says."""
    for gap, total in totals.items():
        if (not gap or gap >= SKEW_US) and total.reordered:
            yield f'gap {gap} us: reordering, although above the skew'
    gaps = sorted(g for g in totals if g)
    if not totals[gaps[0]].reordered:
        yield f'gap {gaps[0]} us: no reordering, although below the skew'
    if not totals[gaps[0]].window < totals[gaps[-1]].window:
        yield 'balance is not better with the smallest gap'
    if not totals[gaps[0]].window < totals[0].window:
        yield 'balance is not better than in mode hash'


def main():
    folder = sys.argv[1]
    totals = collections.defaultdict(Total)
    seconds = 0
    for gap, seconds, flows, packets in read_runs(sys.stdin):
        if packets:
            add_run(totals[gap], flows, packets, not gap)
    if len(totals) < 2:
        sys.exit('no runs')
    rows = [totals[gap].row(gap) for gap in sorted(totals)]
    text = table([COLUMNS] + rows) + '\n' + NOTE.format(
        rounds=len(totals[0].overall), seconds=seconds, n=PATHS,
        delays='/'.join(map(str, DELAY_US)), skew=SKEW_US,
        window=WINDOW_US / 1000)
    with open(os.path.join(folder, 'flowlet.txt'), 'w') as f:
        f.write(text)
    with open(os.path.join(folder, 'flowlet.csv'), 'w', newline='') as f:
        csv.writer(f).writerows([COLUMNS] + rows)
    with open(os.path.join(folder, 'flowlet.svg'), 'w') as f:
        f.write(draw(totals))
    print(text, end='')
    broken = list(promises(totals))
    for what in broken:
        print('not as promised:', what)
    return 1 if broken else 0


if __name__ == '__main__':
    sys.exit(main())
