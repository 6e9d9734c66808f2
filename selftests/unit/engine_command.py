#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srpol engine, job and fabric: what they ask of an engine, which this program plays
at a socket, and what they say when it is silent.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(TOP, "selftests/ynl"))

from ktap import busywait, eq, main, match, test          # noqa: E402

SRPOL = os.path.join(os.environ.get("BUILD", os.path.join(TOP, "build")), "bin/srpol")
OK, USAGE, REFUSED = 0, 1, 2


@contextlib.contextmanager
def engine(*answers):
    """An engine: its socket, and the request that it gets. It answers these lines."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(
            socket.AF_UNIX) as server:
        path = f"{folder}/engine.sock"
        server.bind(path)
        server.listen()
        got = []

        def answer():
            with contextlib.suppress(OSError), server.accept()[0] as client:
                got.append(json.loads(client.makefile().readline()))
                for line in answers:
                    client.sendall(json.dumps(line).encode() + b"\n")

        thread = threading.Thread(target=answer)
        thread.start()
        yield path, got
        # a command that did not connect leaves accept() waiting
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def srpol(*words, status=OK, error="^$"):
    done = subprocess.run([SRPOL, *words], encoding="utf-8", check=False,
                          errors="surrogateescape", capture_output=True, timeout=60)
    eq(done.returncode, status, f"exit status of {words}: {done.stderr!r}")
    match(done.stderr, error, f"stderr of {words}")
    return done.stdout


def tool(folder, name, script):
    """A tool that a bug-report finds before the real one."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)


@contextlib.contextmanager
def bug_report(folder, archive="report.tar.gz", ignore=()):
    """One that is made in the folder, with the tools that are there."""
    def before():
        for sig in ignore:
            signal.signal(sig, signal.SIG_IGN)

    with subprocess.Popen(
            [SRPOL, "bug-report", archive], cwd=folder, text=True, preexec_fn=before,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={"TMPDIR": folder, "PATH": f"{folder}:{os.environ['PATH']}"}) as process:
        try:
            yield process
        finally:
            process.kill()


def has_ended(pid):
    """Also one that its parent has not reaped: some inits never do."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rpartition(") ")[2].startswith("Z")
    except (FileNotFoundError, ProcessLookupError):
        return True


def stopped_in(folder, sig, **options):
    """What one says that gets a signal while a tool hangs; nothing is left of it."""
    there = set(os.listdir(folder)) | {"pid"}
    with bug_report(folder, **options) as process:
        busywait(lambda: os.path.exists(f"{folder}/pid"), 60)
        with open(f"{folder}/pid", encoding="ascii") as f:
            hangs = int(f.read())
        for ignored in options.get("ignore", ()):
            process.send_signal(ignored)
        process.send_signal(sig)
        said = process.communicate(timeout=60)[1]
    eq(process.returncode, -sig, "how it ends")
    busywait(lambda: has_ended(hangs), 60, "end of the tool")
    eq(set(os.listdir(folder)), there, "what is left")
    os.remove(f"{folder}/pid")
    return said


HANG = "echo $$ > $TMPDIR/pid.new; mv $TMPDIR/pid.new $TMPDIR/pid; exec sleep 1000"
STOPPED = "Error: srpol: stopped by a signal; there is no archive.\n"
HANGING = contextlib.ExitStack()


@test
def forbidden():
    "an engine that others may ask is not said to be missing"
    with engine() as (path, _):
        folder, user = os.path.dirname(path), []
        if not os.geteuid():
            user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                    "--bounding-set=-all", "--"]
        # not everybody may see where the tree is
        command = shutil.copy(SRPOL, folder)
        os.chmod(folder, 0o755)
        os.chmod(path, 0)
        for words in (("engine", "show"), ("fabric", "show")):
            done = subprocess.run([*user, command, *words, "socket", path],
                                  capture_output=True, text=True, check=False)
            eq(done.returncode, REFUSED, done.stderr)
            match(done.stderr, r"^Error: srpol: not every user may ask (srpold|srpol-fabricd): "
                  rf"{path}: Permission denied\.\n", "message")


@test
def hangs():
    "bug-report: a signal ends it while a tool hangs, and the tool; nohup's does not"
    with tempfile.TemporaryDirectory() as folder:
        for name in "rdma", "tar":
            tool(folder, name, HANG)
            for sig in signal.SIGTERM, signal.SIGINT:
                eq(stopped_in(folder, sig), STOPPED, f"{name}: why")
            eq(stopped_in(folder, signal.SIGTERM, ignore=[signal.SIGHUP]), STOPPED, name)
            os.remove(f"{folder}/{name}")
    # ends in late()
    folder = HANGING.enter_context(tempfile.TemporaryDirectory())
    tool(folder, "rdma", HANG)
    HANGING.process = HANGING.enter_context(bug_report(folder))
    HANGING.folder = folder


@test
def linked():
    "bug-report: an archive that is a link holds nothing of a report that failed"
    with tempfile.TemporaryDirectory() as folder:
        tool(folder, "tar", "echo some of it; exit 1")
        os.symlink("target", f"{folder}/report.tar.gz")
        with bug_report(folder) as process:
            eq(process.communicate(timeout=60)[1],
               "Error: srpol: report.tar.gz: tar failed; there is no archive.\n", "why")
        eq(process.returncode, REFUSED, "status")
        eq(sorted(os.listdir(folder)), ["tar", "target"], "what is left")
        eq(os.path.getsize(f"{folder}/target"), 0, "its size")


@test
def times():
    "fabric job: a time is rounded up to whole seconds, the longest one too"
    for time, seconds in (("1s", 1), ("1001ms", 2), ("4294966s", 4294966),
                          ("4294967s", 4294967)):
        with engine({"reply": {"decision": "accept"}}) as (path, got):
            srpol("-j", "fabric", "job", "add", "j", "hosts", "a,b", "bytes", "9",
                  "for", time, "socket", path)
        eq(got[0]["for-s"], seconds, time)


@test
def not_utf8():
    "a word that JSON cannot hold is refused, not left out"
    for line in ("fabric why a b tenant \udcff", "fabric job del j tenant \udcff",
                 "fabric plan from \udcff", "engine why \udcff",
                 "engine demand add \udcff src a dst b bytes 1",
                 "engine watch owner \udcff", "job add j comm a\udcffb",
                 "job add j src ::/0 paths s1,\udce2\udc82"):
        with engine({"reply": {}}) as (path, got):
            srpol(*line.split(), "socket", path, status=USAGE,
                  error='^Error: ".*" is not UTF-8\\.\n$')
        eq(got, [], line)
    with engine({"reply": {}}) as (path, got):
        srpol("-j", "fabric", "why", "a", "b", "tenant", "\u20ac", "socket", path)
    eq(got[0]["tenant"], "\u20ac", "but this")


BYTES = "is not a number from 1 to 9007199254740991"
JOB = "fabric job add j hosts a,b bytes 9"

# command, what the sentence says
MISTAKES = (
    ("engine link", 'link: "" is not one of set reset'),
    ("engine link drop a b", 'link: "drop" is not one of set reset'),
    ("engine link set a b rate 1G",
     'link set: "rate" is not one of capacity state'),
    ("engine demand clear o", 'demand: "clear" is not one of add del show'),
    ("engine demand add o src a dst b bytes 0", f'bytes: "0" {BYTES}'),
    ("engine demand add o src a dst b bytes 9007199254740992",
     f'bytes: "9007199254740992" {BYTES}'),
    ("engine demand add o src a dst b bytes +1", f'bytes: "\\+1" {BYTES}'),
    ("engine demand add o src a dst b bytes 99999999999999999999",
     f'bytes: "9{{20}}" {BYTES}'),
    ("fabric job add j demand a b 1k", f'bytes: "1k" {BYTES}'),
    ("fabric job add j hosts a,b bytes 9007199254740992",
     f'bytes: "9007199254740992" {BYTES}'),
    ("fabric job change j", 'job: "change" is not one of add del'),
    ("fabric tenant", 'tenant: "" is not one of add del'),
    ("fabric why a b rail 64", 'rail: "64" is not a number from 0 to 63'),
    ("fabric why a b rail 1 to-rail x", 'to-rail: "x" is not a number from 0 to 63'),
    (f"{JOB} rail 64", 'rail: "64" is not a number from 0 to 63'),
    (f"{JOB} priority 8", 'priority: "8" is not a number from 0 to 7'),
    (f"{JOB} flows 0", 'flows: "0" is not a number from 1 to 256'),
    (f"{JOB} flows 257", 'flows: "257" is not a number from 1 to 256'),
    ("fabric job del " + 48 * "j", 'job: "j{48}" is longer than 47 bytes'),
    ("fabric tenant add t color 1",
     'color: "1" is not a number from 2 to 4294967295'),
    ("fabric tenant add t color 9 priority 8",
     'priority: "8" is not a number from 0 to 7'),
    ("fabric tenant add t color 9 backup 0",
     'backup: "0" is not a number from 1 to 4294967295'),
    ("fabric plan what-if leaf-down a", 'what-if: "leaf-down" is not link-down'),
    ("job add j pid 0", 'pid: "0" is not a number from 1 to 2147483647'),
    ("job add j comm a color 0", 'color: "0" is not a number from 1 to 4294967295'),
    ("job add j comm a backup 0", 'backup: "0" is not a number from 1 to 4294967295'),
)


@test
def mistakes():
    "what makes no sense: the word and its range are named, and no engine is asked"
    for line, why in MISTAKES:
        srpol(*line.split(), status=USAGE, error=f"^Error: {why}\\.\n$")


@test
def longest():
    "fabric: names of as many bytes as the engine takes, and its largest numbers"
    for line in (f"fabric job del {47 * 'j'}", f"fabric tenant del {47 * 't'}",
                 f"fabric tenant add {47 * 't'} color 4294967295 priority 7",
                 f"fabric job add {47 * 'j'} hosts a,b bytes 9007199254740991 rail 63 "
                 "priority 7 flows 256"):
        with engine({"reply": {"decision": "accept"}}) as (path, got):
            srpol("-j", *line.split(), "socket", path)
        eq(got[0]["name"], line.split()[3], line)
    eq((got[0]["all-to-all"], got[0]["priority"], got[0]["flows"]),
       ({"hosts": ["a", "b"], "bytes": 9007199254740991, "rail": 63}, 7, 256),
       "its numbers")


def shown(line, reply):
    """What a command makes of this reply."""
    with engine({"reply": reply}) as (path, _):
        return srpol(*line.split(), "socket", path)


@test
def interval():
    "engine show: the interval of probes that is in use, if another is configured"
    reply = {"paths": 900, "probes": 900, "interval_ms": 10.0, "multiplier": 3}
    match(shown("engine show", reply), " every 10ms multiplier 3\n", "an older srpold")
    match(shown("engine show", {**reply, "interval_used_ms": 10.0}),
          " every 10ms multiplier 3\n", "as configured")
    match(shown("engine show", {**reply, "interval_used_ms": 45.0}),
          " every 10ms used 45ms multiplier 3\n", "the budget is too small")


@test
def why():
    "engine why: whose weights are in force, and those of the plan"
    path = {"path": 8192, "name": "A-s1-B", "weight": 3, "buckets": 10, "probes": "up",
            "narrowest": "l1-s1", "capacity_bps": 100, "capacity_from": "topology",
            "quality_percent": 75}
    policy = {"from": {"host": "A", "rail": 0}, "to": {"host": "B", "rail": 0,
              "address": "fd00:b::1"}, "color": 100, "policy": "the engine's",
              "paths": [path], "changes": []}
    said = shown("engine why B", {"policies": [policy]})
    match(said, "\tpath 8192 name A-s1-B weight 3 buckets 10 up narrowest l1-s1 "
          "100bit/s from topology quality 75%\n$", "without a plan")
    assert "active" not in said, said
    path["planned"] = 15
    said = shown("engine why B", {"policies": [{**policy, "by": "plan", "preference": 100}]})
    match(said, " is the engine's\n\tactive candidate path: preference 100 by plan\n",
          "whose weights")
    match(said, "weight 3 buckets 10 up .* quality 75% planned 15\n$", "the plan's")


@test
def missing():
    "job show: rules that the module does not have, if there are any"
    job = {"name": "j", "color": 1000, "comm": "x", "rules": 3, "bytes": 9, "collisions": 0}
    match(shown("job show", [{**job, "rules_missing": 0}]),
          "rules 3 bytes 9 collisions 0\n$", "none")
    match(shown("job show", [{**job, "rules_missing": 2}]),
          "rules 3 bytes 9 collisions 0 rules-missing 2\n$", "two")


@test
def heard():
    "engine topology: what peers say of a link, if they do"
    link = {"from": "l1", "to": "s1", "state": "up", "rate_bps": 9, "capacity_bps": 9,
            "capacity_from": "topology", "quality_percent": 100, "quality": "good"}
    match(shown("engine topology", [{**link, "heard_percent": 100}]),
          "quality 100% good\n$", "nothing")
    match(shown("engine topology", [{**link, "heard_percent": 50}]),
          "quality 100% good heard 50%\n$", "half of it is to be used")


@test
def silent():
    "an engine that ends the connection: each command says so"
    for line in ("engine show", "engine watch", "job show", "fabric show"):
        with engine() as (path, got):
            srpol(*line.split(), "socket", path, status=REFUSED,
                  error="^Error: .*: no answer\\.\n$")
        eq(len(got), 1, line)
    with engine({"reply": {}}) as (path, got):
        srpol("engine", "watch", "socket", path, status=REFUSED,
              error="^Error: srpold ended the connection\\.\n$")
    with engine({"error": "not now"}) as (path, got):
        srpol("engine", "watch", "socket", path, status=REFUSED,
              error="^Error: srpol: srpold: not now\\.\n$")


@test
def left_out():
    "engine watch: it says of how many destinations it will not tell; events follow"
    event = {"event": "plan", "time_us": 1, "host": "a", "epoch": 5, "term": 1}
    for n, told in ((0, ""), (1, "1 destination or job"), (7, "7 destinations or jobs")):
        said = told and f"srpol: {told} will not be told of: no room in srpold\n"
        for json_too in (), ("-j",):
            with engine({"reply": {"all": True, "destinations": 1, "jobs": 0,
                                   "left_out": n}}, event) as (path, _):
                out = srpol(*json_too, "engine", "watch", "socket", path, status=REFUSED,
                            error=f"^{said}Error: srpold ended the connection\\.\n$")
            match(out, '"epoch":5' if json_too else "epoch 5", "event")


@contextlib.contextmanager
def stopped(backlog):
    """The socket of an engine that has been stopped: nobody accepts or answers."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(
            socket.AF_UNIX) as server:
        path = f"{folder}/engine.sock"
        server.bind(path)
        server.listen(backlog)
        yield path


@contextlib.contextmanager
def asked(what):
    """A request that an engine has accepted: the engine's end, and the process."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(
            socket.AF_UNIX) as server:
        server.bind(f"{folder}/engine.sock")
        server.listen()
        with subprocess.Popen([SRPOL, "-j", "engine", what, "socket",
                               f"{folder}/engine.sock"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            try:
                server.settimeout(60)
                with server.accept()[0] as client:
                    client.makefile().readline()
                    yield client, process
            finally:
                process.kill()


def state(process):
    """Its letter."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as f:
        return f.read().rpartition(") ")[2][0]


@test
def resumed():
    "a command that is stopped and goes on has its answer"
    with asked("show") as (client, process):
        busywait(lambda: state(process) == "S", 60, "it waits")
        process.send_signal(signal.SIGSTOP)
        busywait(lambda: state(process) == "T", 60, "it is stopped")
        process.send_signal(signal.SIGCONT)
        # it sleeps again, or has ended
        busywait(lambda: state(process) in "SZ", 60, "it goes on")
        client.sendall(b'{"reply": {"name": "x"}}\n')
        said, error = process.communicate(timeout=60)
    eq((process.returncode, error), (OK, ""), "how it ends")
    match(said, '"name": *"x"', "its answer")


@test
def late():
    "an engine that does not answer: each command says so and ends; a watch goes on"
    lines = ("engine show", "engine link reset a b", "engine watch", "job show",
             "job add j comm a", "fabric show",
             "fabric job add j hosts a,b bytes 9")
    with stopped(100) as path, stopped(0) as full, \
            socket.socket(socket.AF_UNIX) as first, asked("watch") as (client, watch):
        client.sendall(b'{"reply": {}}\n')
        # of whom there may be one
        first.connect(full)
        at_once = [(f"{line} {where}", subprocess.Popen(
            [SRPOL, *line.split(), "socket", where], stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, text=True))
            for line in lines for where in (path, full)]
        try:
            for line, process in at_once:
                said = process.communicate(timeout=300)[1]
                eq(process.returncode, REFUSED, line)
                match(said, r"^Error: srpol: srpol\S+ runs, but has not answered for "
                      r"30 s: \S+: it has been stopped, or is busy, and may still do "
                      r"what was asked for\.\n$", line)
            client.sendall(b'{"event": "late", "late_ms": 7}\n')
            client.shutdown(socket.SHUT_RDWR)
            said, error = watch.communicate(timeout=60)
            eq(said, '{"event":"late","late_ms":7}\n', "a watch after that time")
            match(error, "^Error: srpold ended the connection", "how it ends")
        finally:
            for _, process in at_once:
                process.kill()


@test
def after_bug_report():
    "bug-report in a file of commands: a signal ends what comes after it"
    with tempfile.TemporaryDirectory() as folder, socket.socket(
            socket.AF_UNIX) as server:
        server.bind(f"{folder}/engine.sock")
        server.listen()
        server.settimeout(60)
        with subprocess.Popen([SRPOL, "-b", "-"], stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.DEVNULL, cwd=folder) as command:
            try:
                command.stdin.write("bug-report report.tar.gz\n"
                                    "engine show socket engine.sock\n")
                command.stdin.close()
                with server.accept()[0] as client:
                    client.recv(1)
                    command.send_signal(signal.SIGTERM)
                    eq(command.wait(timeout=60), -signal.SIGTERM, "how it ends")
            finally:
                command.kill()


@test
def late():
    "bug-report: a tool that hangs is ended, and the archive has all other parts"
    with HANGING:
        error = HANGING.process.communicate(timeout=120)[1]
        eq((HANGING.process.returncode, error), (OK, ""), "how it ends")
        with tarfile.open(f"{HANGING.folder}/report.tar.gz") as archive:
            parts = {os.path.basename(m.name): archive.extractfile(m).read()
                     for m in archive if m.isfile()}
    match(parts["rdma"].decode(), "\nended, as it took longer than 60 s\n", "rdma")
    assert parts["modules"] and len(parts) > 20, parts.keys()


main()
