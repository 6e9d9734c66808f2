# SPDX-License-Identifier: GPL-2.0
"""
KTAP for Python test programs. A test is a function with @test; it passes when
it returns and fails when it raises, which `assert`, eq() and match() do.

    @test
    def path_is_created():
        "a path is created"
        eq(client.get("path", id=1)["encap"], "reduced")

    ktap.main()
"""

import os
import re
import subprocess
import sys
import time
import traceback

CLOCK_MONOTONIC_COARSE = 6      # <linux/time.h>; Python has no name for it

_tests = []
_before = []
_cleanups = []


def test(fn):
    """Register a test; its docstring is what the result line says."""
    _tests.append(fn)
    return fn


def before(fn):
    """Call this function before each test."""
    _before.append(fn)
    return fn


def cleanup(fn, *args):
    """Call fn(*args) at the end, once, in reverse order of registration."""
    if (fn, args) not in _cleanups:
        _cleanups.append((fn, args))


def eq(got, want, what=""):
    """Fail unless got == want; for dicts say which members differ."""
    if got == want:
        return
    if isinstance(got, dict) and isinstance(want, dict):
        keys = [k for k in {**got, **want} if got.get(k) != want.get(k)]
        got = {k: got[k] for k in keys if k in got}
        want = {k: want[k] for k in keys if k in want}
    raise AssertionError(f"{what}: got {got!r}, not {want!r}")


def match(text, pattern, what=""):
    """Fail unless the regular expression is found in text."""
    if not re.search(pattern, text or ""):
        raise AssertionError(f"{what}: {text!r} does not match {pattern!r}")


def say(*words):
    """A diagnostic line."""
    for line in " ".join(str(w) for w in words).splitlines():
        print("#", line, flush=True)


def patience(seconds):
    """How long something may take here that takes so long on an idle machine."""
    return seconds * 3 * int(os.environ.get("SRPOL_SLOWER", 1))


def busywait(fn, seconds=10, what=""):
    """Call fn until it returns something true, and return that.

    The seconds are what it may take on an idle machine, which this one need not be.
    """
    seconds = patience(seconds)
    end = time.monotonic() + seconds
    while True:
        # the last look is one after the end
        late = time.monotonic() > end
        result = fn()
        if result:
            return result
        if late:
            raise AssertionError(f"not within {seconds} s: {what or fn}")
        time.sleep(0.01)


def run(*command, check=True, **kwargs):
    """Run a command, return its output; raise with that output if it fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **kwargs)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout


def skip_all(why):
    """This machine can not run the program at all."""
    print(f"1..0 # SKIP {why}", flush=True)
    _clean()
    sys.exit(4)


def _clean():
    while _cleanups:
        fn, args = _cleanups.pop()
        try:
            fn(*args)
        except Exception:       # the other clean-ups are still wanted
            say("clean-up failed:", traceback.format_exc())


def _why():
    """The exception being handled: where, and what it says."""
    frames = traceback.extract_tb(sys.exc_info()[2])[1:]
    where = " > ".join(f"{os.path.basename(f.filename)}:{f.lineno}"
                       for f in frames)
    return f"{where}\n{traceback.format_exc(0, chain=False)}"


def main():
    """Run all tests and leave with the status that follows."""
    words = sys.argv[1:]
    tests = [t for t in _tests
             if not words or any(w in t.__name__ for w in words)]
    failed = 0
    print("KTAP version 1")
    print(f"1..{len(tests)}", flush=True)
    for number, fn in enumerate(tests, 1):
        mark = "ok"
        start = time.monotonic()
        try:
            for setup in _before:
                setup()
            fn()
        except Exception:
            mark = "not ok"
            failed += 1
            say(_why())
        name = (fn.__doc__ or fn.__name__).strip().splitlines()[0]
        print(f"{mark} {number} {name}")
        say(f"{time.monotonic() - start:.2f} s")
    _clean()
    sys.exit(1 if failed else 0)
