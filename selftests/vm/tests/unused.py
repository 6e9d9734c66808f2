#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Namespaces that come and go while the module is loaded and nobody uses it.

SRPOL_NAMESPACES says how many, and SRPOL_ROUNDS how often they do so with the
module and without it. "make long-namespaces" has idle time passed over as well
(SRPOL_CLOCK=counted) and a bound of 2 %; here the clock counts instructions while
the guest is busy, and follows the host's while it waits.

SRPOL_TIMEOUT=600
"""

import os
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

import ktap                                             # noqa: E402
import net                                              # noqa: E402
from net import CLONE_NEWNET                            # noqa: E402
from ktap import eq, main, say, test                    # noqa: E402

net.load_module()


@test
def unused_namespaces():
    "namespaces that are not configured cost nothing"
    number = int(os.environ.get("SRPOL_NAMESPACES", "200"))
    rounds = int(os.environ.get("SRPOL_ROUNDS", "3"))

    def all_of_them():
        """Seconds that it takes to make and end them, to the last one."""
        start = time.monotonic()
        pid = os.fork()
        if not pid:
            for _ in range(number):
                net._libc.unshare(CLONE_NEWNET)
            os._exit(0)
        eq(os.waitpid(pid, 0)[1], 0)
        last = net.Netns()
        name = last.name
        net.ip(f"link add {name} type veth peer name v0 netns {name}\n")
        last.delete()
        net.gone(name, 600)
        return time.monotonic() - start

    took = {True: [], False: []}
    for nr in range(rounds):
        for loaded in (True, False) if nr % 2 else (False, True):
            if loaded != os.path.isdir("/sys/module/srpol"):
                if loaded:
                    ktap.run("insmod", net.srpol.MODULE)
                else:
                    net.unload_module()
            took[loaded].append(all_of_them())
    if not os.path.isdir("/sys/module/srpol"):
        ktap.run("insmod", net.srpol.MODULE)
    net.srpol.forget_family()
    with_, without = sorted(took[True]), sorted(took[False])
    for what, values in ("with the module", with_), ("without it", without):
        say(f"{number} namespaces {what}: "
            + " ".join(f"{value:.2f}" for value in values) + " s")
    if os.environ.get("SRPOL_CLOCK") == "counted":
        # The least has no host in it: a clock that counts instructions leaps
        # ahead while the processor waits for a file of the host.
        assert with_[0] <= without[0] * 1.02, took
    else:
        assert with_[0] < without[0] * 1.2, took


main()
