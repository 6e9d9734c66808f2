#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
table.py RESULT PIECE...: put the pieces that guest.py wrote together in the
file RESULT and print them as a table. The ratio is ours to the kernel's.
"""

import json
import os
import platform
import sys
import time


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.machine()


def text(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def main():
    rows = []
    for path in sys.argv[2:]:
        with open(path, encoding="ascii") as file:
            piece = json.load(file)
        rows += piece["rows"]
        os.remove(path)
    machine = (f"{processor()}; guest with Linux {piece['kernel']}, "
               f"{piece['cpus']} CPU")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        json.dump({"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                   "machine": machine, "rows": rows}, file, indent=1)
    print(machine)
    print(f"{'':<59} {'srpol':>9} {'p10':>9} {'kernel':>9} {'ratio':>6}"
          "  target")
    for row in rows:
        name = row["name"] + (f", {row['unit']}" if row["unit"] else "")
        met = {None: "", True: "met", False: "MISSED"}[row["met"]]
        print(f"{name:<59} {text(row['value']):>9} {text(row['p10']):>9} "
              f"{text(row['kernel_value']):>9} {text(row['ratio']):>6}  "
              f"{row['target'] or ''} {met}".rstrip())


main()
