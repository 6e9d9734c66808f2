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

number = failures = 0


def check(name, good, why=""):
    global number, failures
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} {name}", flush=True)
    if not good:
        failures += 1
        print(f"# {why}", flush=True)


def start(run_dir, program, *words, **env):
    """One rank, without mpirun: nothing but this process."""
    return subprocess.Popen(
        [f"{PROGRAMS}/{program}", *words], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={
            "PATH": os.environ["PATH"], "TMPDIR": run_dir,
            "OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_btl": "self",
            "OMPI_MCA_plm": "isolated", **env})


def run(run_dir, program, *words, **env):
    """Likewise, to its end."""
    with start(run_dir, program, *words, **env) as started:
        out, err = started.communicate(timeout=120)
    return subprocess.CompletedProcess(started.args, started.returncode, out,
                                       err)


def owner(run_dir, **env):
    """Whose demands are taken back when the program ends."""
    path = f"{run_dir}/demands"
    with socket.socket(socket.AF_UNIX) as srpold:
        srpold.bind(path)
        srpold.listen(1)
        srpold.settimeout(60)
        done = run(run_dir, "errors", "fatal", LD_PRELOAD=LIBRARY, SRPOL_DEMANDS=path,
                   **env)
        os.remove(path)
        if done.returncode:
            return done
        with srpold.accept()[0] as client, client.makefile() as lines:
            return json.loads(lines.readline())["owner"]


def restarted(run_dir):
    """What is said to a srpold that is started anew after the first line."""
    path = f"{run_dir}/demands"
    with socket.socket(socket.AF_UNIX) as srpold:
        srpold.bind(path)
        srpold.listen(1)
        srpold.settimeout(60)
        with start(run_dir, "dup", "wait", LD_PRELOAD=LIBRARY,
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


def main():
    print("KTAP version 1")
    with tempfile.TemporaryDirectory(prefix="srpol-") as run_dir:
        for words, n in ((), 12), (("fatal",), 8):
            want = run(run_dir, "errors", *words)
            got = run(run_dir, "errors", *words, LD_PRELOAD=LIBRARY,
                      SRPOL_DEMANDS=f"{run_dir}/nowhere")
            check(f"errors of the program {' '.join(words)} are its own: each "
                  "is reported once, and it goes on",
                  want.returncode == 0 and want.stdout.count("\n") == n and
                  (got.returncode, got.stdout) == (0, want.stdout),
                  (want, got))
        first, second = (owner(run_dir, SLURM_JOB_ID="4711") for _ in "12")
        check("two steps of a job of Slurm are two owners",
              isinstance(first, str) and first != second, (first, second))
        check("the job is the one that the program began in",
              isinstance(first, str) and first.startswith("mpi-4711-"), first)
        done = run(run_dir, "dup", LD_PRELOAD=LIBRARY,
                   SRPOL_DEMANDS=f"{run_dir}/nowhere")
        check("who is where is looked up once for a communicator, not for each "
              "message", (done.returncode, done.stdout) == (0, "lookups 3\n"),
              done)
        first, second = restarted(run_dir)
        check("srpold that is started anew: the next line is for the new one",
              first == second, (first, second))
    print(f"1..{number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
