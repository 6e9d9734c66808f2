#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
What hosts measured, told over three real NATS servers on loopback instead of
the store: servers that are killed and stopped, messages that are none, and,
with TLS and a list of what each user may publish, hosts that speak for others.
Engine and hosts have the sanitizers of selftests/engine.
"""

import json
import signal
import socket
import subprocess
import sys
import time

import engine as e
from engine import BUILD, HOSTS, RUN, ask, check, store_put, wait_for
from tls import authority, certificate, password

SERVER = f"{BUILD}/tools/bin/nats-server"
STORE = {"kind": "embedded", "socket": f"{RUN}/store.sock"}
LINK = ("leaf0.0", "spine0.0")
# What hosts repeat every 10 s is forgotten after 30.
SOON_S = 10


class Nats:
    """A cluster of three."""

    def __init__(self):
        self.ports = e.free_ports(3)
        self.routes = e.free_ports(3)
        self.urls = [f"nats://127.0.0.1:{p}" for p in self.ports]
        self.members = [None] * 3
        for i in range(3):
            self.start(i)

    def start(self, i):
        routes = ",".join(f"nats://127.0.0.1:{p}" for p in self.routes)
        self.members[i] = e.Process(
            f"nats{i}", SERVER, "-a", "127.0.0.1", "-p", str(self.ports[i]),
            "--cluster_name", "test", "--cluster",
            f"nats://127.0.0.1:{self.routes[i]}", "--routes", routes)

    def client(self, i):
        """Who does not behave needs no library."""
        s = socket.create_connection(("127.0.0.1", self.ports[i]), timeout=30)
        s.makefile().readline()
        s.sendall(b'CONNECT {"verbose":false}\r\n')
        return s


def stored(prefix):
    """Keys, leased ones as well, which the store does not write to its file."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(STORE["socket"])
        s.sendall(json.dumps({"id": 1, "op": "range", "key": f"/srpol/{prefix}",
                              "prefix": True, "revision": 0}).encode() + b"\n")
        return s.makefile().readline().count(f'"/srpol/{prefix}')


def load():
    return ask("bus", "show")["load"]


def follow(hosts):
    epoch = ask("bus", "show")["epoch"]
    return all(hosts.epoch(h) == epoch for h in HOSTS)


def measured(hosts, host, kbps):
    hosts.tell(f"measured {host} {LINK[0]} {LINK[1]} {kbps}")


def heard(what, kbps):
    wait_for(what, lambda: load()["bps"] == kbps * 1000)


def test_told(hosts):
    wait_for("the bus", lambda: ask("bus", "show")["bus"] == "connected")
    for i, host in enumerate(HOSTS):
        measured(hosts, host, 1000 << i)
    heard("loads of four hosts", 15000)
    wait_for("acknowledgements", lambda: stored("ack/0/") == 4)
    check("what hosts measure is told on the bus, and nothing of it is stored",
          load()["hosts"] == 4 and not stored("load/"), load())


def test_killed(nats, hosts):
    for i in range(2):
        nats.members[i].end(signal.SIGKILL)
        measured(hosts, "h0", 2000 << i)
        heard("the new load", 14000 + (2000 << i))
    check("two of three servers killed, one after the other: loads are told on",
          wait_for("the bus", lambda: ask("bus", "show")["bus"] == "connected"))

    def without():
        """Loads that count after the next plan, if that came soon enough."""
        began = time.monotonic()
        nats.members[2].end(signal.SIGKILL)
        wait_for("the end of the bus",
                 lambda: ask("bus", "show")["bus"] == "unconnected")
        measured(hosts, "h0", 7)
        epoch = ask("bus", "show")["epoch"]
        hosts.tell(f"report h2 leaf0.2 spine0.2 {capacities.pop()}")
        wait_for("a plan", lambda: ask("bus", "show")["epoch"] > epoch)
        wait_for("hosts with it", lambda: follow(hosts))
        now = load()
        if time.monotonic() - began < SOON_S:
            return now
        nats.start(2)
        measured(hosts, "h0", 4000)
        heard("all loads again", 18000)
        return None

    capacities = [n * 10 ** 9 for n in range(99)]
    now = wait_for("a plan without the bus", without)
    check("without the bus plans are made and applied, and what was heard counts",
          now["bps"] == 18000000, now)
    for i in range(3):
        nats.start(i)
    heard("what changed meanwhile", 14007)
    check("the bus is back: what changed meanwhile is told, unasked", True)


def test_stopped(nats, hosts):
    """Nobody knows to whom the hosts are connected: all, one after the other."""
    for i in range(3):
        nats.members[i].p.send_signal(signal.SIGSTOP)
        epoch = ask("bus", "show")["epoch"]
        hosts.tell(f"report h2 leaf1.2 spine1.{i} 0")
        wait_for("a plan", lambda: ask("bus", "show")["epoch"] > epoch)
        wait_for("hosts with it", lambda: follow(hosts))
        measured(hosts, "h1", 4000 << i)
        # what is lost with a server that is deaf comes with the next connection
        heard("the new load", 12007 + (4000 << i))
        nats.members[i].p.send_signal(signal.SIGCONT)
    check("servers that are deaf are left, and hold nobody up", True)


def test_wrong(nats, hosts):
    topology = ask("bus", "show")["topology"]
    with open(f"{RUN}/topology.json") as f:
        t = json.load(f)
    # in both directions; the last is one between switches
    links = 2 * (len(t["links"]) + sum(len(h["nics"]) for h in t["hosts"]))
    good = {"topology": topology, "links": [[links - 1, 5]], "rest": 0}
    bodies = [b"", b"nonsense", b"[]", b"\x00\xff" * 9, b"[" * 60000,
              json.dumps({**good, "topology": "0" * 64}).encode(),
              json.dumps({**good, "links": [[links, 1]]}).encode(),
              # another's NIC
              json.dumps({**good, "links": [[0, 1]]}).encode()]
    subjects = ["srpol.load.0.leaf0.nobody", "srpol.load.0.x", "srpol.load.0.=",
                "srpol.load.0.a=2", "srpol.load.0.a=2e", "srpol.load.0.a=41",
                "srpol.load.0.a=00", "srpol.load.0." + "a" * 300,
                "srpol.load.0." + ".".join("a" * 60),
                # a leaf that it is not on
                "srpol.load.0.leaf0=2E1.h3"]
    body = json.dumps(good).encode()
    s = nats.client(0)

    def publish(subject, body):
        s.sendall(f"PUB {subject} {len(body)}\r\n".encode() + body + b"\r\n")

    def wrong():
        """Loads after all of that, if the others still count."""
        for wrong_body in bodies:
            publish("srpol.load.0.leaf0=2E3.h3", wrong_body)
        for subject in subjects:
            publish(subject, body)
        publish("srpol.load.0.leaf0=2E2.h2", b" " * 70000)
        publish("srpol.load.1.leaf0=2E2.h2", body)
        publish("srpol.more.0.leaf0=2E0.h2", body)
        wait_for("refusals", lambda: load()["refused"] ==
                 refused + len(bodies) + len(subjects))
        now = load()
        publish("srpol.load.0.leaf0=2E3.h3", body)
        # its own last word was another
        wait_for("h3", lambda: time.monotonic() - began > SOON_S or
                 load()["hosts"] == len(HOSTS) and load()["bps"] % 1000000 == 12000)
        return now

    for _ in range(20):
        wait_for("all hosts", lambda: load()["hosts"] == len(HOSTS))
        refused, began = load()["refused"], time.monotonic()
        # they repeat what they measured now and then
        hosts.process.p.send_signal(signal.SIGSTOP)
        now = wrong()
        hosts.process.p.send_signal(signal.SIGCONT)
        in_time = time.monotonic() - began < SOON_S
        if in_time:
            break
    check("what is no load, or nobody's, is refused and counted",
          now["hosts"] == len(HOSTS) - 1, now)
    check("what is one counts again", in_time, load())
    many = f"PUB srpol.load.0.leaf0=2E3.h3 {len(body)}\r\n".encode() + body + b"\r\n"
    for _ in range(20):
        s.sendall(many * 1000)
    # one of them may be lost as well
    wait_for("the end", lambda: publish("srpol.load.0.leaf0=2E0.nobody", body) or
             load()["refused"] > refused + len(bodies) + len(subjects))
    wait_for("all hosts", lambda: load()["hosts"] == len(HOSTS))
    last = load()
    check("twenty thousand messages leave the last state",
          last["refused"] < refused + 1000, last)
    s.close()


def test_silent(hosts):
    hosts.process.end(9)
    wait_for("the end of loads", lambda: load()["hosts"] == 0)
    check("what dead hosts said ends", load()["bps"] == 0, load())


class Secure:
    """A server with TLS whose users may publish what is theirs."""

    def __init__(self, name, cert):
        self.name, self.cert = name, cert
        self.port, = e.free_ports(1)
        self.url = f"tls://127.0.0.1:{self.port}"
        self.start()

    def start(self, suffix=""):
        """Passwords are names and the suffix."""
        users = [f'{{user: {h}, password: {h}{suffix}, permissions: {{publish: '
                 f'"srpol.load.0.leaf0=2E{i}.{h}", subscribe: {{deny: ">"}}}}}}'
                 for i, h in enumerate(HOSTS)]
        users.append(f'{{user: engine, password: engine{suffix}, permissions: '
                     '{publish: {deny: ">"}, subscribe: "srpol.load.>"}}')
        with open(f"{RUN}/{self.name}.conf", "w", encoding="ascii") as f:
            f.write(f'listen: 127.0.0.1:{self.port}\n'
                    f'tls {{ cert_file: "{RUN}/{self.cert}.pem", '
                    f'key_file: "{RUN}/{self.cert}.key" }}\n'
                    f'authorization {{ users: [{", ".join(users)}] }}\n')
        self.process = e.Process(self.name, SERVER, "-c", f"{RUN}/{self.name}.conf")

    def refusals(self, user):
        with open(f"{e.OUT}/{self.name}.log", encoding="utf-8") as f:
            return f.read().count(f'authentication error - User "{user}"')


def login(url, user, ca="ca"):
    return {"servers": [url], "cacert": f"{RUN}/{ca}.pem", "user": user,
            "password-file": f"{RUN}/{user}.password"}


def test_tls():
    for name in ("ca", "other"):
        authority(name)
    certificate("server", "ca")
    # of the same authority, for another machine
    certificate("elsewhere", "ca", "127.0.0.9")
    for user in ("engine", *HOSTS):
        password(user, user)
    server = Secure("secure", "server")
    url, wrong = server.url, Secure("elsewhere", "elsewhere").url
    e.start_engine("bus", STORE, bus=login(url, "engine"))
    wait_for("the bus", lambda: ask("bus", "show")["bus"] == "connected")
    hosts = [e.Hosts(f"tls-{h}", [h], STORE, bus=login(url, user), folder="tls")
             for h, user in (("h0", "h0"), ("h1", "h2"))]
    for h in hosts:
        measured(h, h.hosts[0], 1000)
    heard("the load of h0", 1000)
    wait_for("a complaint", lambda: "Permissions Violation" in said("tls-h1"))
    measured(hosts[0], "h0", 3000)
    heard("more of h0", 3000)
    check("a host that speaks for another is not heard",
          load()["hosts"] == 1 and not load()["refused"], load())
    hosts += [e.Hosts(f"tls-{name}", ["h2"], STORE, folder="tls", bus=bus)
              for name, bus in (
                  ("authority", login(url, "h2", "other")),
                  ("name", login(wrong, "h2")),
                  ("password", {**login(url, "h2"),
                                "password-file": f"{RUN}/h3.password"}))]
    for h in hosts[2:]:
        measured(h, "h2", 50)
    good = e.Hosts("tls-good", ["h3"], STORE, folder="tls", bus=login(url, "h3"))
    measured(good, "h3", 5)
    heard("the load of h3", 3005)
    check("a wrong authority, a server of another name and a wrong password: no bus",
          load()["hosts"] == 2, load())
    for name, why in (("authority", "local issuer certificate"),
                      ("name", "mismatch"),
                      ("password", "Authorization Violation")):
        wait_for(f"why: {name}", lambda: why in said(f"tls-{name}"))
    check("and each of them says why", True)
    server.process.end()
    server.start("-other")
    users = ("engine", "h0", "h3")
    wait_for("refusals", lambda: all(server.refusals(u) > 2 for u in users))
    server.process.end()
    server.start()
    measured(hosts[0], "h0", 10000)
    measured(good, "h3", 7000)
    heard("loads by the passwords of before", 17000)
    check("a server that knew no password is no end of the bus", True)


def said(name):
    with open(f"{e.OUT}/{name}.log", encoding="utf-8") as f:
        return f.read()


def refused(bus):
    with open(f"{RUN}/refused.json", "w", encoding="ascii") as f:
        json.dump({"topology": f"{RUN}/topology.json", "bus": bus}, f)
    return subprocess.run([e.FABRICD, "-c", f"{RUN}/refused.json", "-k"],
                          capture_output=True, text=True, check=False)


def test_config():
    for bus, text in (
            ([], '"bus" is not an object'), ({}, '"bus" needs "servers"'),
            ({"servers": ["http://a"]}, '"servers" is not a list'),
            ({"servers": "nats://a"}, '"servers" is not a list'),
            ({"servers": ["nats://"]}, '"servers" is not a list'),
            ({"servers": ["nats://x:y@a"]}, '"password-file", not part of a server'),
            ({"servers": ["nats://a"], "user": "x", "password-file": "/dev/null"},
             '"password-file": /dev/null: no regular file'),
            ({"servers": ["nats://a"], "cacert": "x"}, "are for tls://"),
            ({"servers": ["nats://a"], "prefix": "a.b"}, '"prefix"'),
            ({"servers": ["nats://a"], "subject": "x"}, '"subject"')):
        done = refused(bus)
        check(f"refused: {json.dumps(bus)}", done.returncode == 1 and
              text in done.stderr, done)


def test_nats():
    nats = Nats()
    bus = {"servers": nats.urls}
    first = e.start_engine("bus", STORE, bus=bus)
    wait_for("leader", lambda: ask("bus", "show")["leads"])
    hosts = e.Hosts("hosts", HOSTS, STORE, bus=bus, **{"lease-s": 10})
    store_put("job/t/a", e.JOB)
    wait_for("plans", lambda: all(hosts.epoch(h) for h in HOSTS))
    test_told(hosts)
    test_killed(nats, hosts)
    test_stopped(nats, hosts)
    test_wrong(nats, hosts)
    test_silent(hosts)
    check("the engine ends as it should", first.end() == 0)


if __name__ == "__main__":
    sys.exit(e.main((test_config, test_nats, test_tls)))
