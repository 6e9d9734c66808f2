#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The global engine and hosts with an etcd that wants certificates, and users with
roles: wrong certificates and passwords, and hosts that write what is not
theirs. Certificates are made here, with openssl.
"""

import json
import os
import signal
import subprocess
import sys
import time

import engine as e
from engine import RUN, check, wait_for

DENIED = "permission denied"
HOSTS = ["h0", "h1"]
JOB = json.dumps({"all-to-all": {"hosts": HOSTS, "bytes": 1 << 30}})


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            f"/CN={name}", "-keyout", f"{RUN}/{name}.key", "-out",
            f"{RUN}/{name}.pem")


def certificate(name, by, address="127.0.0.1"):
    """
    For servers and clients: etcd's gateway is both. It refuses clients that
    have a common name, so that nobody thinks that it counts.
    """
    with open(f"{RUN}/{name}.ext", "w", encoding="ascii") as f:
        f.write(f"subjectAltName=IP:{address}\n"
                "extendedKeyUsage=serverAuth,clientAuth\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj", f"/O={name}", "-keyout", f"{RUN}/{name}.key",
            "-out", f"{RUN}/{name}.csr")
    openssl("x509", "-req", "-days", "2", "-in", f"{RUN}/{name}.csr", "-CA",
            f"{RUN}/{by}.pem", "-CAkey", f"{RUN}/{by}.key", "-CAcreateserial",
            "-extfile", f"{RUN}/{name}.ext", "-out", f"{RUN}/{name}.pem")


def password(name, word):
    with open(f"{RUN}/{name}.password", "w", encoding="ascii") as f:
        f.write(f"{word}\n")


class Etcd:
    """One member; who it lets in is what matters here."""

    def __init__(self):
        self.port, self.peer = e.free_ports(2)
        self.url = f"https://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        peer = f"http://127.0.0.1:{self.peer}"
        self.process = e.Process(
            "etcd-tls", f"{e.BUILD}/tools/bin/etcd", "--name", "m", "--data-dir",
            f"{RUN}/etcd-tls", "--listen-client-urls", self.url,
            "--advertise-client-urls", self.url, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer, "--initial-cluster",
            f"m={peer}", "--unsafe-no-fsync", "--client-cert-auth",
            "--trusted-ca-file", f"{RUN}/ca.pem", "--cert-file",
            f"{RUN}/server.pem", "--key-file", f"{RUN}/server.key")

    def ctl(self, *words, user=None, cert="engine", text=None):
        who = ["--user", f"{user}:{user}"] if user else []
        return subprocess.run(
            [e.ETCDCTL, "--endpoints", self.url, "--cacert", f"{RUN}/ca.pem",
             "--cert", f"{RUN}/{cert}.pem", "--key", f"{RUN}/{cert}.key",
             "--command-timeout", "60s", "--dial-timeout", "60s", *who, *words],
            input=text, text=True, env={**os.environ, "ETCDCTL_API": "3"},
            check=False, capture_output=True)

    def done(self, *words, **more):
        """What is said of something that may be done twice, once it is done."""
        return e.done_at_last(lambda: self.ctl(*words, **more)).stdout

    def denied(self, *words, **more):
        """What is said of something that is done, or not permitted."""
        return e.done_at_last(lambda: self.ctl(*words, **more), DENIED)

    def get(self, key):
        return self.done("get", "--print-value-only", f"/srpol/{key}",
                         user="root")[:-1]

    def revision(self):
        return json.loads(self.done("get", "x", "-w", "json",
                                    user="root"))["header"]["revision"]

    def users(self):
        """A host reads plans, and writes its report and acknowledgement."""
        def do(*words, again="already exists"):
            """The answer to one that was done may have been lost."""
            e.done_at_last(lambda: self.ctl(*words), again)

        def grant(role, kind, key, *more):
            do("role", "grant-permission", role, kind, f"/srpol/{key}", *more)

        for name in ("root", "engine", "reader", *HOSTS):
            do("user", "add", f"{name}:{name}")
        for role in ("root", "engine", "host", "reader", *HOSTS):
            do("role", "add", role)
        grant("engine", "readwrite", "", "--prefix")
        grant("host", "read", "plan/", "--prefix")
        grant("host", "read", "index/", "--prefix")
        grant("reader", "read", "", "--prefix")
        for i, host in enumerate(HOSTS):
            grant(host, "readwrite", f"link/0/leaf0.{i}/{host}")
            grant(host, "readwrite", f"load/0/leaf0.{i}/{host}")
            grant(host, "readwrite", f"ack/0/{host}")
            do("user", "grant-role", host, "host")
            do("user", "grant-role", host, host)
        do("user", "grant-role", "root", "root")
        do("user", "grant-role", "engine", "engine")
        do("user", "grant-role", "reader", "reader")
        do("auth", "enable", again="user name is empty")


def store(etcd, name, cert=None, ca="ca", **more):
    return {"kind": "etcd", "endpoints": [etcd.url],
            "cacert": f"{RUN}/{ca}.pem", "cert": f"{RUN}/{cert or name}.pem",
            "key": f"{RUN}/{cert or name}.key", "user": name,
            "password-file": f"{RUN}/{name}.password", **more}


def without(where, *keys):
    return {k: v for k, v in where.items() if k not in keys}


def log_of(name):
    with open(f"{e.OUT}/{name}.log", encoding="utf-8", errors="replace") as f:
        return f.read()


def test_config(etcd):
    good = store(etcd, "engine")
    for what, bad, text in (
            ("a certificate without its key", without(good, "key"),
             "belong together"),
            ("a user without a password", without(good, "password-file"),
             "belong together"),
            ("a password file that is not there",
             {**good, "password-file": f"{RUN}/none"}, "No such file"),
            ("certificates without TLS",
             {**good, "endpoints": ["http://127.0.0.1:1"]}, "https://")):
        with open(f"{RUN}/bad.json", "w", encoding="ascii") as f:
            json.dump({"topology": f"{RUN}/topology.json", "store": bad}, f)
        done = subprocess.run([e.FABRICD, "--check-config", "-c",
                               f"{RUN}/bad.json"], capture_output=True,
                              text=True, check=False)
        check(f"configuration: {what}", done.returncode == 1 and
              text in done.stderr, done.stderr)


def test_intruders(etcd, before):
    """None of them gets anything done; each is told why."""
    for name, where, text in (
            ("stranger", store(etcd, "engine", cert="stranger"), "SSL"),
            ("nobody", without(store(etcd, "engine"), "cert", "key"), "SSL"),
            ("misled", store(etcd, "engine", ca="other"), "SSL"),
            ("guesser", {**store(etcd, "engine"),
                         "password-file": f"{RUN}/wrong.password"},
             "authentication failed"),
            ("anonymous", without(store(etcd, "engine"), "user",
                                  "password-file"), "user name is empty")):
        # a wrong password has to be told without more words than a service has
        intruder = e.start_engine(name, where, verbose=name != "guesser")
        wait_for(f"{name} is told", lambda n=name, t=text: t.lower() in
                 log_of(n).lower())
        shown = e.ask(name, "show")
        check(f"refused, and said so: {name}", not shown["leads"] and
              shown["stats"]["elected"] == 0, log_of(name)[-500:])
        check(f"it ends as it should: {name}", intruder.end() == 0)
    said = log_of("guesser").count("login of user engine is refused: ")
    check("a login that is refused again and again is told once", said == 1,
          log_of("guesser"))
    check("nothing was changed by any of them",
          etcd.revision() == before, (etcd.revision(), before))


def test_reader(etcd):
    """An engine that may write nothing: etcd says so, so it is known to be undone."""
    password("reader", "reader")
    reader = e.start_engine("reader", store(etcd, "reader", cert="engine"))
    wait_for("what it reads", lambda: e.ask("reader", "jobs"))
    for what, words in (
            ("tenant", ("tenant-add", {"name": "red", "color": 10})),
            ("job", ("job-add", {"name": "b", "demands": [
                {"src": "h0", "dst": "h1", "bytes": 1000}]}))):
        try:
            said = e.ask("reader", words[0], **words[1])
        except ValueError as why:
            said = str(why)
        check(f"a {what} that etcd refuses is said to be refused, with its reason",
              said == "the store refused it: etcdserver: permission denied", said)
    check("nothing is unsure", e.ask("reader", "show")["stats"]["unsure"] == 0)
    check("it ends as it should: reader", reader.end() == 0)


def test_host_writes(etcd):
    before = etcd.revision()
    head = etcd.get("plan/0/head")
    for key in ("plan/0/head", "plan/0/0000000009/leaf0.0",
                "index/0/0000000009", "engine/0/leader", "ack/0/h1",
                "link/0/leaf0.1/h1", "load/0/leaf0.1/h1", "job/x/y", "resv/0/x/y", "cap/0",
                "cfg/tenant/x"):
        done = etcd.denied("put", f"/srpol/{key}", user="h0", cert="h0",
                           text="{}")
        check(f"a host that writes {key} is refused", done.returncode != 0 and
              DENIED in done.stderr, done.stderr)
    done = etcd.denied("get", "/srpol/job/", "--prefix", user="h0", cert="h0")
    check("a host that reads jobs is refused", done.returncode != 0 and
          DENIED in done.stderr, done.stderr)
    check("nothing was changed by that", etcd.revision() == before and
          etcd.get("plan/0/head") == head)


def test_tls():
    authority("ca")
    authority("other")
    for name in ("server", "engine", *HOSTS):
        certificate(name, "ca")
        password(name, name)
    certificate("stranger", "other")
    password("wrong", "guess")
    etcd = Etcd()
    test_config(etcd)
    # elections are not the subject, and would be among what was written
    server = e.start_engine("engine", store(etcd, "engine"), **{"lease-s": 600})
    wait_for("engine", lambda: e.ask("engine", "show") and
             "connect" in log_of("engine"))
    etcd.start()
    etcd.done("put", "warm", "1")
    etcd.users()
    began = time.monotonic()
    wait_for("leader", lambda: e.ask("engine", "show")["leads"])
    took = time.monotonic() - began
    check("an engine that was there before etcd does not wait for its next renewal",
          took < 100, f"{took:.1f} s, of 150")
    hosts = [e.Hosts(f"host-{h}", [h], store(etcd, h), **{"lease-s": 60})
             for h in HOSTS]
    etcd.done("put", "/srpol/job/t/a", user="root", text=JOB)
    wait_for("plan", lambda: all(h.last(n)["chunks"]
                                 for h, n in zip(hosts, HOSTS)))

    def acked():
        shown = e.ask("engine", "show")
        return [h["epoch"] for h in shown["hosts"]] == [shown["epoch"]] * 2

    wait_for("acknowledgements", acked)
    check("with certificates, users and roles hosts apply plans and acknowledge",
          True)
    hosts[0].tell("report h0 leaf0.0 spine0.1 0")
    wait_for("report", lambda: hosts[0].last("h0")["seen"] == 1)
    wait_for("acknowledgements", acked)
    check("and report links", True)
    hosts[0].tell("measured h0 leaf0.0 spine0.1 1000000")
    wait_for("load", lambda: e.ask("engine", "show")["load"]["bps"] == 1e9)
    check("and say what they send", True)
    test_intruders(etcd, etcd.revision())
    test_host_writes(etcd)
    test_reader(etcd)

    # etcd forgets all tokens
    term = e.ask("engine", "show")["term"]
    etcd.process.end(signal.SIGKILL)
    etcd.start()
    etcd.done("put", "warm", "2", user="root")
    hosts[0].tell("report h0 leaf0.0 spine0.2 0")
    wait_for("report", lambda: hosts[0].last("h0")["seen"] > 1)
    wait_for("acknowledgements", acked)
    shown = e.ask("engine", "show")
    check("when tokens are void, engine and hosts log in again",
          shown["leads"] and shown["term"] == term, shown)
    check("hosts end as they should", all(h.end() == 0 for h in hosts))
    check("the engine ends as it should", server.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_tls,)))
