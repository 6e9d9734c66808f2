# SPDX-License-Identifier: GPL-2.0
"""
Messages of Documentation/interface: their schemas, those that were really said or
taken, and messages with one member changed. For interface.py and its parts.
"""

import copy
import glob
import json
import os
import socket

import jsonschema

from engine import TOP, check

INTERFACE = f"{TOP}/Documentation/interface"
ODD = [None, True, -1, 0, 1, 1.5, 1 << 53, "", "x", "a/b", [], {}, [1], [{}]]
seen = {}		# messages that were really said or taken, by name


def schema(name):
    with open(f"{INTERFACE}/{name}.json", encoding="ascii") as f:
        return json.load(f)


NAMES = sorted(os.path.basename(f)[:-5]
               for f in glob.glob(f"{INTERFACE}/*.json"))
VALID = {n: jsonschema.Draft7Validator(schema(n)) for n in NAMES}


def good(name, value):
    """A message that a program said or took."""
    errors = [f"{'/'.join(map(str, x.absolute_path))}: {x.message}"
              for x in VALID[name].iter_errors(value)]
    if errors:
        check(f"{name} is what its schema says", False, (errors, value))
    else:
        seen.setdefault(name, []).append(value)
    return value


def talk(path, line):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(30)
        s.connect(path)
        s.sendall(line.encode() + b"\n")
        return json.loads(s.makefile().readline())


def mutations(message, at):
    """The message with one member of what is at a place changed."""
    def find(m):
        for key in at:
            m = m[key]
        return m
    for key in [*find(message), "unknown"]:
        for odd in [*ODD, "gone"]:
            m = copy.deepcopy(message)
            if odd == "gone":
                find(m).pop(key, None)
            else:
                find(m)[key] = odd
            yield (*at, key, odd), m


def compare(name, message, places, take, known):
    """
    @take: says why a message is refused, None if it is taken; @known: words of
    reasons that schemas cannot know
    """
    wrong, n, refused = [], 0, 0
    for at in places:
        for what, m in mutations(message, at):
            n += 1
            valid, why = VALID[name].is_valid(m), take(m)
            refused += why is not None
            if valid != (why is None) and not (
                    valid and any(k in why for k in known)):
                wrong.append((what, valid, why))
            elif why is None:
                good(name, m)
    check(f"{name}: of {n} that were changed {refused} are refused, as its schema says",
          not wrong and 0 < refused < n, wrong[:5])
