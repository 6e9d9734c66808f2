#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tables and chart of the bench.

report.py [-t] DIR: reads {cost,forward,gso,scale,memory}.jsonl and, if it is
there, control.json from DIR; writes bench.txt, bench.json and bench.svg there,
and prints the text. With -t there is no chart, which matplotlib draws.
"""

import argparse
import datetime
import json
import os
import platform

# Over the ceiling, as once recorded on other machines (ns per packet in a rig
# like this one): netgroup/rocev2-srv6, second version; and Vinbero, which
# forwards in XDP what End.DT6 decapsulates
ROCEV2_SRV6 = 342 / 116
VINBERO_DT6 = 636 / 274

MEMORY_LIMIT = 96 << 20

HOW_TO_READ = """\
How to read it. Times are ns per packet on one processor, p10 of many short
windows in which all rows take turns; medians beside them. Times of a shared
machine move by a factor of two: compare rows of one run, by ratios, and take
less than 10 % for noise. "Forwarding" is a whole rig, generator and sink
included. "Programs alone" is BPF_PROG_TEST_RUN, less an empty program run in
the same way: hot caches, no device; TC there runs on cold packets and compares
with TC only.

"Two processors" runs the programs on two at once, each with flows of its own:
1 is twice as much as one of them does. The empty program tells what the
machine leaves of that.

Not measured: a NIC (DMA, its driver's XDP), caches that others use. Frames are 3200 bytes; nothing here is limited by their size.
"""

TC_EMPTY = 'empty, TC'


def read_lines(folder, name):
    with open(os.path.join(folder, name + '.jsonl')) as f:
        return {r['row']: r for r in map(json.loads, f)}


def net(cost, row, key='p10'):
    """Cost of a program without what an empty one costs."""
    return cost[row][key] - cost[cost[row]['less']][key]


class Target:
    """What was to be reached, and what was."""

    def __init__(self, name, value, limit, unit='', at_least=False):
        self.name, self.value, self.limit = name, value, limit
        self.unit, self.at_least = unit, at_least

    @property
    def met(self):
        if self.at_least:
            return self.value >= self.limit
        return self.value <= self.limit

    def cells(self):
        sign = '>=' if self.at_least else '<='
        return (self.name, f'{self.value:.2f}{self.unit}',
                f'{sign} {self.limit:g}{self.unit}',
                'met' if self.met else 'MISSED')


def targets(cost, forward, gso, scale, memory):
    ns = {row: r['p10'] for row, r in forward.items()}
    port = ns['port, hash, 3 SIDs']
    ceiling = ns['XDP_REDIRECT, the ceiling']
    encap = ns['kernel, seg6 encap, 3 SIDs']
    egress = ns['TC, redirect, egress, hash, 3 SIDs']
    hot = net(cost, 'port, hash, 3 SIDs')
    rule = net(cost, 'port, 1 rule')
    yield Target('XDP host port / ceiling', port / ceiling, 1.6)
    yield Target('kernel seg6 encap / XDP host port', encap / port, 2.0,
                 at_least=True)
    yield Target('rocev2-srv6 v2 (recorded) / XDP host port, over the ceiling',
                 ROCEV2_SRV6 / (port / ceiling), 1.8, at_least=True)
    yield Target('XDP host port / floor of steering, alone',
                 hot / net(cost, 'floor of steering, 3 SIDs'), 1.3)
    for mode, limit in (('flowlet', 45), ('spray', 12), ('adaptive', 12)):
        yield Target(f'mode {mode} - hash', net(cost, f'port, {mode}') - hot,
                     limit, ' ns')
    yield Target('65536 flows / one, alone',
                 net(cost, 'port, 65536 flows') / hot, 2.0)
    yield Target('65536 flows in bursts of 16 / one',
                 ns['port, 65536 flows, bursts of 16'] / port, 1.15)
    yield Target('4095 rules / 1 rule, known flow',
                 net(cost, 'port, 4095 rules') / rule, 1.1)
    yield Target('4095 rules of the worst kind, first packet of a flow',
                 max(net(cost, row) for row in cost
                     if row == 'port, 4095 rules, first packet' or
                     row.startswith('the same by ')) / 1000, 6, ' us')
    yield Target('TC egress / push + redirect',
                 egress / ns['TC, push of 3 SIDs, redirect'], 1.1)
    yield Target('kernel seg6 encap / TC egress', encap / egress, 1,
                 at_least=True)
    yield Target('kernel seg6 encap / TC egress behind kernel forwarding',
                 encap / ns['kernel forwards, egress, hash, 3 SIDs'], 1,
                 at_least=True)
    yield Target('TCP by srpol / by kernel seg6',
                 gso['TCP, srpol egress, 3 SIDs']['gbps'] /
                 gso['TCP, kernel seg6 encap.red, 3 SIDs']['gbps'], 1,
                 at_least=True)
    yield Target('XDP decapsulation, alone',
                 net(cost, 'uplink, End.DT46, IPv6'), 40, ' ns')
    yield Target('kernel End.DT6 / XDP decapsulation and redirect',
                 ns['kernel, End.DT6'] / ns['uplink, End.DX6'], 2.5,
                 at_least=True)
    yield Target('XDP decapsulation and forwarding / ceiling',
                 ns['uplink, End.DT46, XDP forwards'] / ceiling, 1.3)
    yield Target('Vinbero End.DT6 (recorded) / XDP forwards, over the ceiling',
                 VINBERO_DT6 / (ns['uplink, End.DT46, XDP forwards'] / ceiling),
                 1.8, at_least=True)
    yield Target('two processors, XDP host port / empty program',
                 scale['port, hash, 3 SIDs']['scaling'] /
                 scale['empty']['scaling'], 0.95, at_least=True)
    yield Target('memory of all maps',
                 sum(r['bytes'] for r in memory.values()) / 2**20,
                 MEMORY_LIMIT / 2**20, ' MiB')


def control_targets(control):
    for row in control['rows']:
        if row.get('target') is not None:
            yield (row['name'], f"{row['value']:g} {row.get('unit') or ''}",
                   row['target'], 'met' if row.get('met') else 'MISSED')


def table(head, rows):
    """Text of a table: first column to the left, others to the right."""
    rows = [tuple(map(str, r)) for r in [head, *rows]]
    wide = [max(map(len, column)) for column in zip(*rows)]
    lines = ['  '.join([r[0].ljust(wide[0])] +
                       [c.rjust(n) for c, n in zip(r[1:], wide[1:])])
             for r in rows]
    lines.insert(1, '  '.join('-' * n for n in wide))
    return '\n'.join(line.rstrip() for line in lines) + '\n'


def forward_table(forward):
    ceiling = forward['XDP_REDIRECT, the ceiling']['p10']
    encap = forward['kernel, seg6 encap, 3 SIDs']['p10']
    return table(
        ('forwarding', 'p10', 'median', 'max', 'to ceiling', 'seg6 encap to it',
         'Mpps'),
        ((row, f"{r['p10']:.0f}", f"{r['median']:.0f}", f"{r['max']:.0f}",
          f"{r['p10'] / ceiling:.2f}", f"{encap / r['p10']:.2f}",
          f"{1000 / r['p10']:.2f}") for row, r in forward.items()))


def cost_table(cost):
    floors = {'empty': 'floor of steering, 3 SIDs',
              'empty, SRv6': 'floor of decapsulation',
              TC_EMPTY: 'floor of TC: push of 3 SIDs'}
    rows = []
    for row, r in cost.items():
        if 'less' not in r:
            continue
        # there is no least program for what a probe is
        floor = floors.get(r['less'])
        rows.append((row, f'{net(cost, row):.1f}',
                     f"{net(cost, row, 'median'):.1f}",
                     f'{net(cost, row) / net(cost, floor):.2f}' if floor
                     else ''))
    return table(('programs alone', 'p10', 'median', 'to their floor'), rows)


def gso_table(gso):
    plain = gso['TCP, plain']['gbps']
    return table(('one TCP stream, MTU 9000', 'Gb/s', 'best', 'to plain',
                  'super-packets', 'bytes each'),
                 ((row, r['gbps'], r['best'], f"{r['gbps'] / plain:.2f}",
                   f"{100 * r['super']:.0f} %", f"{r['bytes']:.0f}")
                  for row, r in gso.items()))


def scale_table(scale):
    return table(('two processors, ns per packet', 'one', 'both at once',
                  'scaling'),
                 ((row, r['alone'], r['both'], f"{r['scaling']:.2f}")
                  for row, r in scale.items()))


def host_table(cost, memory):
    """What a host spends on it: time at some rates, and memory."""
    rows = []
    for mpps, gbps in ((0.1, 3.3), (0.5, 16.4), (1, 32.8), (2.04, 66.9)):
        rows.append((f'{mpps} Mpps = {gbps} Gb/s of 4096-byte packets',
                     *(f'{net(cost, row) * mpps / 10:.1f} %' for row in
                       ('port, hash, 3 SIDs', 'uplink, End.DT46, IPv6'))))
    text = table(('share of one processor', 'XDP host port', 'XDP decap'),
                 rows)
    total = sum(r['bytes'] for r in memory.values())
    text += '\n' + table(
        ('map memory at default sizes', 'MiB'),
        [(name, f"{r['bytes'] / 2**20:.2f}") for name, r in memory.items()
         if r['bytes'] >= 2**20] +
        [('the other maps', f"""{sum(
            r['bytes'] for r in memory.values()
            if r['bytes'] < 2**20) / 2**20:.2f}"""),
         ('all maps', f'{total / 2**20:.2f}')])
    return text


def machine():
    model = platform.machine()
    with open('/proc/cpuinfo') as f:
        for line in f:
            if line.startswith('model name'):
                model = line.split(':', 1)[1].strip()
                break
    return (f'{model}, {os.cpu_count()} processors, Linux '
            f'{platform.release()}')


COLORS = (('port', '#0072b2'), ('uplink', '#0072b2'), ('TC, redirect, egress',
          '#0072b2'), ('kernel forwards, egress', '#0072b2'),
          ('kernel', '#d55e00'))

CHART_ROWS = (
    'XDP_REDIRECT, the ceiling', 'floor of steering, 3 SIDs',
    'port, hash, 3 SIDs', 'port, hash, 6 SIDs', 'port, hash, 6 uSIDs',
    'port, flowlet', 'port, spray', 'port, adaptive', 'uplink, End.DX6',
    'uplink, End.DT46, XDP forwards',
    'TC, redirect', 'TC, push of 3 SIDs, redirect',
    'TC, redirect, egress, hash, 3 SIDs',
    'kernel forwards, egress, hash, 3 SIDs', 'kernel, IPv6 forwarding',
    'kernel, seg6 encap, 3 SIDs', 'kernel, seg6 encap, 6 SIDs',
    'kernel, End', 'kernel, End.DT6')


def color_of(row):
    return next((c for prefix, c in COLORS if row.startswith(prefix)), '#999')


def draw(forward, gso, about, path):
    import matplotlib
    matplotlib.use('svg')
    matplotlib.rcParams['svg.fonttype'] = 'none'
    matplotlib.rcParams['svg.hashsalt'] = 'srpol'
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(10.5, 5.2), gridspec_kw={'width_ratios': (4, 1)},
        layout='constrained')
    rows = CHART_ROWS[::-1]
    ns = [forward[row]['p10'] for row in rows]
    ceiling = forward['XDP_REDIRECT, the ceiling']['p10']
    left.barh(rows, ns, color=[color_of(row) for row in rows])
    for y, value in enumerate(ns):
        left.text(value + max(ns) / 150, y,
                  f'{value:.0f} ns, {value / ceiling:.2f}x', va='center',
                  fontsize=8)
    left.axvline(ceiling, color='#444', linestyle=':', linewidth=1)
    left.set_xlim(0, max(ns) * 1.17)
    left.tick_params(labelsize=8)
    left.set_title('forwarding, ns per packet: srpol blue, kernel SRv6 orange',
                   fontsize=10)
    bars = list(gso)[::-1]
    right.barh([b.removeprefix('TCP, ').split(',')[0] for b in bars],
               [gso[b]['gbps'] for b in bars],
               color=['#0072b2' if 'srpol' in b else
                      '#d55e00' if 'kernel' in b else '#999' for b in bars])
    right.set_title('TCP with GSO, Gb/s', fontsize=10)
    right.tick_params(labelsize=8)
    figure.text(0.005, 0.005, about, fontsize=7, color='#666')
    figure.get_layout_engine().set(rect=(0, 0.03, 1, 0.97))
    figure.savefig(path, metadata={'Date': None})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-t', action='store_true')
    parser.add_argument('folder')
    args = parser.parse_args()
    folder = args.folder
    cost, forward, gso, scale, memory = (
        read_lines(folder, n)
        for n in ('cost', 'forward', 'gso', 'scale', 'memory'))
    control = None
    path = os.path.join(folder, 'control.json')
    if os.path.exists(path):
        with open(path) as f:
            control = json.load(f)
    about = f'{datetime.date.today()}, {machine()}'
    met = list(targets(cost, forward, gso, scale, memory))
    rows = [t.cells() for t in met]
    if control:
        rows += control_targets(control)
    text = '\n'.join((
        f'srpol bench, {about}\n', HOW_TO_READ, forward_table(forward),
        cost_table(cost), gso_table(gso), scale_table(scale),
        host_table(cost, memory),
        table(('target', 'measured', 'wanted', ''), rows)))
    with open(os.path.join(folder, 'bench.txt'), 'w') as f:
        f.write(text)
    with open(os.path.join(folder, 'bench.json'), 'w') as f:
        json.dump({
            'about': about, 'forward': list(forward.values()),
            'cost': list(cost.values()), 'gso': list(gso.values()),
            'scale': list(scale.values()),
            'memory': list(memory.values()), 'control': control,
            'targets': [{'name': t.name, 'value': t.value, 'limit': t.limit,
                         'at_least': t.at_least, 'met': t.met} for t in met],
        }, f, indent=1)
        f.write('\n')
    if not args.t:
        draw(forward, gso, about, os.path.join(folder, 'bench.svg'))
    print(text)


if __name__ == '__main__':
    main()
