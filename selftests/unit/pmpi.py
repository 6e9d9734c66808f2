#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
libsrpol-pmpi.so in programs of one rank: what MPI calls an error is reported as
without it, programs do not take each other's owners, messages cost little, and
srpold may be started anew.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
PROGRAMS = f"{BUILD}/selftests/mpi"
LIBRARY = f"{BUILD}/lib/libsrpol-pmpi.so"

sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

from ktap import cleanup, eq, main, match, test             # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="srpol-")
RUN = FOLDER.name


def start(program, *words, **env):
    """One rank, without mpirun: nothing but this process."""
    return subprocess.Popen(
        [f"{PROGRAMS}/{program}", *words], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={
            "PATH": os.environ["PATH"], "TMPDIR": RUN,
            "OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_btl": "self",
            "OMPI_MCA_plm": "isolated", **env})


def run(program, *words, **env):
    """Likewise, to its end."""
    with start(program, *words, **env) as started:
        out, err = started.communicate(timeout=120)
    return subprocess.CompletedProcess(started.args, started.returncode, out,
                                       err)


def owner(**env):
    """Whose demands are taken back when the program ends."""
    path = f"{RUN}/demands"
    with socket.socket(socket.AF_UNIX) as srpold:
        srpold.bind(path)
        srpold.listen(1)
        srpold.settimeout(60)
        done = run("errors", "fatal", LD_PRELOAD=LIBRARY, SRPOL_DEMANDS=path,
                   **env)
        os.remove(path)
        eq(done.returncode, 0, done.stderr)
        with srpold.accept()[0] as client, client.makefile() as lines:
            return json.loads(lines.readline())["owner"]


def restarted():
    """What is said to a srpold that is started anew after the first line."""
    path = f"{RUN}/demands"
    with socket.socket(socket.AF_UNIX) as srpold:
        srpold.bind(path)
        srpold.listen(1)
        srpold.settimeout(60)
        with start("dup", "wait", LD_PRELOAD=LIBRARY,
                   SRPOL_DEMANDS=path) as program:
            with srpold.accept()[0] as client, client.makefile() as lines:
                first = json.loads(lines.readline())
            program.communicate("go on\n", timeout=120)
        os.remove(path)
        # nobody comes if there was no second connection
        srpold.setblocking(False)
        try:
            with srpold.accept()[0] as client, client.makefile() as lines:
                return first, json.loads(lines.readline())
        except OSError as why:
            return first, why


def errors_are_its_own(words, n):
    """The library in between changes nothing that the program is told."""
    want = run("errors", *words)
    eq((want.returncode, want.stdout.count("\n")), (0, n), want.stderr)
    got = run("errors", *words, LD_PRELOAD=LIBRARY, SRPOL_DEMANDS=f"{RUN}/nowhere")
    eq((got.returncode, got.stdout), (0, want.stdout), got.stderr)


@test
def errors():
    "errors of the program are its own: each is reported once, and it goes on"
    errors_are_its_own((), 12)


@test
def errors_fatal():
    "so it is where only those that it handles itself do not end it"
    errors_are_its_own(("fatal",), 8)


@test
def steps():
    "two steps of a job of Slurm are two owners, of the job they began in"
    first, second = (owner(SLURM_JOB_ID="4711") for _ in "12")
    eq(first == second, False, first)
    match(first, "^mpi-4711-")


@test
def lookups():
    "who is where is looked up once for a communicator, not for each message"
    done = run("dup", LD_PRELOAD=LIBRARY, SRPOL_DEMANDS=f"{RUN}/nowhere")
    eq((done.returncode, done.stdout), (0, "lookups 3\n"), done.stderr)


@test
def restart():
    "srpold that is started anew: the next line is for the new one"
    first, second = restarted()
    eq(second, first)


cleanup(FOLDER.cleanup)
main()
