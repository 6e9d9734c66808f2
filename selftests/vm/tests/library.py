#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
libsrpol's example, built with what is installed, on the module: a transaction
by the library is there, and one that is refused names what is to blame.
"""

import os
import select
import subprocess
import tempfile

from cli_lib import TOP, client, ns, srpol
from ktap import before, cleanup, eq, main, run, test

work = tempfile.mkdtemp()
cleanup(run, "rm", "-rf", work)
environment = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": work,
               "PKG_CONFIG_PATH": f"{work}/usr/lib/pkgconfig",
               "LD_LIBRARY_PATH": f"{work}/usr/lib"}
run("make", "-C", TOP, "install-lib", f"DESTDIR={work}", "PREFIX=/usr")
run("sh", "-c", f"cc -o {work}/drain {TOP}/Documentation/examples/drain.c "
    "$(pkg-config --cflags --libs libsrpol)", env=environment)


run("sh", "-c", f"cc -Wall -Wextra -Werror -pthread -o {work}/clients "
    f"{TOP}/selftests/vm/clients/clients.c "
    "$(pkg-config --cflags --libs libsrpol libmnl)", env=environment)


def drain(*words):
    """Status, output and what it complains of."""
    done = subprocess.run(["ip", "netns", "exec", ns.name, f"{work}/drain",
                           *words], env=environment, text=True, check=False,
                          capture_output=True)
    return done.returncode, done.stdout, done.stderr


@before
def start():
    """Three paths that are up."""
    client.clear()
    srpol(batch="".join(f"path add {i} segs fc00::{i} dev u0 via fd00:1::2\n"
                        for i in (1, 2, 3)))


@test
def transaction():
    "paths go out of service together"
    eq(drain("1", "3"), (0, "path 1 down\npath 2 up\npath 3 down\n", ""))
    eq([p["reason"] for p in client.dump("path")],
       ["admin-down", "none", "admin-down"])


@test
def refused():
    "a transaction that is refused changes nothing and says why"
    status, output, error = drain("1", "4")
    eq((status, output), (1, ""))
    eq(error, "drain: object does not exist and NLM_F_CREATE is not set\n")
    eq([p["reason"] for p in client.dump("path")], ["none"] * 3)


@test
def many():
    "a thousand objects come in one dump"
    srpol(batch="".join(f"path add {i} segs fc00::{i} dev u0 via fd00:1::2\n"
                        for i in range(4, 1004)))
    status, output, error = drain()
    eq((status, error), (0, ""))
    eq(output, "".join(f"path {i} up\n" for i in range(1, 1004)))


@test
def clients():
    "threads and a child with connections of their own, a listener that is too slow, and srpol replace meanwhile"
    client.clear()
    files = []
    for n in 50, 60:
        files.append(f"{work}/{n}")
        with open(files[-1], "w", encoding="ascii") as f:
            f.writelines(f"path add {i} segs fc00::{n}\n"
                         for i in range(1, n + 1))
    many = subprocess.Popen(
        ["ip", "netns", "exec", ns.name, f"{work}/clients", "6", "15"],
        env=environment, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    replaced = 0
    while not select.select([many.stdout], [], [], 0)[0] or not replaced:
        srpol("replace", "-f", files[replaced % 2])
        replaced += 1
    eq((many.communicate(), many.returncode), (("done\n", ""), 0))
    print(f"# {replaced} times replaced", flush=True)
    eq([p["id"] for p in client.dump("path")],
       list(range(1, 51 + 10 * ((replaced - 1) % 2))))


main()
