#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Who calls whom in the module is one direction: kmod/Kbuild lists its files from
below to above, and a file includes headers of files that come before it, and
its own. Headers do not include each other in a circle. netns.h is the ground
that all stand on.
"""

import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

from ktap import eq, main, test                         # noqa: E402

KMOD = os.path.join(TOP, "kmod")
GROUND = {"netns.h", "pure.h"}

# Headers of objects that are more than one file: the first of them counts.
FIRST = {"path.h": "quote", "policy.h": "table", "rule.h": "rule"}


def read(name):
    with open(os.path.join(KMOD, name), encoding="ascii") as file:
        return file.read()


def included(name):
    return re.findall(r'^#include "([^"]+)"', read(name), re.M)


def order():
    lines = [line for line in read("Kbuild").splitlines()
             if line.startswith("srpol-y")]
    return [name[:-2] for line in lines for name in line.split("=")[1].split()]


@test
def direction():
    "headers of files above are not included"
    files = order()
    upwards = []
    for at, name in enumerate(files):
        for header in included(f"{name}.c"):
            base = header[:-2]
            owner = FIRST.get(header, base)
            if header in GROUND or base == name or owner not in files:
                continue
            # the files of an object share its header
            if name.startswith(base + "_"):
                continue
            if files.index(owner) > at:
                upwards.append(f"{name}.c includes {header}")
    eq(upwards, [])


@test
def circles():
    "headers do not include each other in a circle"
    headers = [n for n in os.listdir(KMOD) if n.endswith(".h")]

    def reach(name, seen):
        for other in included(name):
            assert other not in seen, f"{' -> '.join(seen)} -> {other}"
            if other in headers:
                reach(other, seen + [other])

    for name in headers:
        reach(name, [name])


@test
def all_listed():
    "every file of the module is in the list"
    files = {n[:-2] for n in os.listdir(KMOD)
             if n.endswith(".c") and not n.endswith(".mod.c")}
    eq(files, set(order()))


main()
