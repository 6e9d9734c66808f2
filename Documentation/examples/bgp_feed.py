#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1
"""
Keep a feed for srpold in step with BGP: what the NICs of other hosts carry, as the
switches of each plane say.

    bgp_feed.py TOPOLOGY HOST FEED [--gobgp "COMMAND"] [--settle S]

HOST has a BGP session with the gateway of each of its NICs, by a gobgpd of its own that
accepts routes and gives none. Each gateway announces the locator of each host that it
reaches, with the Link Bandwidth extended community (RFC 10005, bytes per second) where
that is not all of it. FEED is written as a whole whenever it changes:

    {"links": [{"from": "B", "to": "plane3", "capacity": 400000000000},
               {"from": "C", "to": "plane0", "state": "down"}]}

A host whose locator a gateway has announced and withdrawn, or has not announced for
--settle seconds after its session came up, is down on that plane. A gateway without a
session says nothing: whether this host's own NIC works is for the kernel and for probes
to find out. Without an answer of gobgpd the feed stays as it is, and so it does while
its folder cannot be written.
"""

import argparse
import ipaddress
import json
import os
import re
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import time

LOOK_S = 1		# for sessions, and for gobgpd to come back
TOGETHER_S = 0.05	# routes that change at a time come one by one
ANSWER_S = 10
ESTABLISHED = 6
EXTENDED_COMMUNITIES = 16
LINK_BANDWIDTH = 4
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def rate(value):
    """bit/s of a rate as topology files have it."""
    if isinstance(value, int):
        return value
    number, unit = re.fullmatch(r"([0-9.]+)([kMGT]?)", value).groups()
    return round(float(number) * UNITS[unit])


class Link:
    """A NIC of another host, and the gateway here that leads to it."""

    def __init__(self, host, nic, gateway):
        self.ends = {"from": host["name"], "to": nic["leaf"]}
        self.locator = ipaddress.ip_network(host["locator"])
        self.gateway = gateway
        self.rate = rate(nic["rate"]) * nic.get("cables", 1)

    def has_route(self, routes):
        return self.locator in routes.get(self.gateway, {})

    def words(self, routes, is_settled):
        """What the feed has of it, if anything. Settled: no route is no path."""
        if not self.has_route(routes):
            return {**self.ends, "state": "down"} if is_settled else None
        bandwidth = routes[self.gateway][self.locator]
        if bandwidth is None or bandwidth >= self.rate:
            return None
        if bandwidth < 1:
            return {**self.ends, "state": "down"}
        return {**self.ends, "capacity": bandwidth}


def links_of(topology, name):
    """By rail and plane a NIC of each other host is reached by the one here."""
    hosts = {host["name"]: host for host in topology["hosts"]}
    if name not in hosts:
        sys.exit(f"bgp_feed: the topology has no host {name}")
    place = lambda nic: (nic.get("rail", 0), nic.get("plane", 0))
    gateways = {place(nic): str(ipaddress.ip_address(nic["gateway"]))
                for nic in hosts[name]["nics"] if "gateway" in nic}
    if not gateways:
        sys.exit(f"bgp_feed: no NIC of host {name} has a gateway")
    return [Link(host, nic, gateways[place(nic)])
            for host in hosts.values() if host["name"] != name
            for nic in host["nics"] if place(nic) in gateways]


def bandwidth_of(path):
    """bit/s of a path of gobgp's JSON, None: nothing is said of it."""
    for attribute in path["attrs"]:
        if attribute["type"] != EXTENDED_COMMUNITIES:
            continue
        for community in attribute["value"]:
            if community.get("subtype") == LINK_BANDWIDTH and \
                    "bandwidth" in community:
                return int(8 * community["bandwidth"])
    return None


class Gobgp:
    def __init__(self, command):
        self.command = shlex.split(command)
        self.monitor = None

    def ask(self, *words):
        done = subprocess.run([*self.command, *words, "-j"], check=True,
                              capture_output=True, timeout=ANSWER_S)
        return json.loads(done.stdout)

    def routes(self):
        """Bandwidth by neighbor and prefix."""
        found = {}
        for prefix, paths in self.ask("global", "rib", "-a", "ipv6").items():
            for path in paths:
                if path.get("stale"):
                    continue
                # what gobgpd was given by its own operator is of no neighbor
                neighbor = found.setdefault(path.get("neighbor-ip"), {})
                neighbor[ipaddress.ip_network(prefix)] = bandwidth_of(path)
        return found

    def sessions(self):
        """When each session came up, in seconds since 1970."""
        return {n["state"]["neighbor_address"]:
                n["timers"]["state"]["uptime"]["seconds"]
                for n in self.ask("neighbor")
                if n["state"].get("session_state") == ESTABLISHED}

    def wait(self):
        """Until routes change, but no longer than LOOK_S."""
        if self.monitor is None or self.monitor.poll() is not None:
            self.monitor = subprocess.Popen(
                [*self.command, "monitor", "global", "rib", "-a", "ipv6", "-j"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with selectors.DefaultSelector() as selector:
            selector.register(self.monitor.stdout, selectors.EVENT_READ)
            if not selector.select(LOOK_S):
                return
            time.sleep(TOGETHER_S)
            if not os.read(self.monitor.stdout.fileno(), 1 << 20):
                self.monitor.kill()
                self.monitor.wait()
                time.sleep(LOOK_S)

    def end(self):
        if self.monitor:
            self.monitor.kill()
            self.monitor.wait()


def write(path, text):
    """All of it or nothing: srpold reads it when the new file has its name."""
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile("w", dir=folder, prefix=".bgp_feed-",
                                     delete=False) as f:
        try:
            f.write(text)
            f.flush()
            os.chmod(f.name, 0o644)
            os.replace(f.name, path)
        except OSError:
            os.unlink(f.name)
            raise


class Trouble:
    """Told once, until it is over or another one."""

    def __init__(self):
        self.told = None

    def tell(self, what):
        if what != self.told:
            print(f"bgp_feed: {what}", file=sys.stderr)
        self.told = what
        time.sleep(LOOK_S)

    def over(self):
        self.told = None


def keep(links, gobgp, feed, settle):
    written, trouble = None, Trouble()
    seen = {}		# in which session there was a route last, by link
    while True:
        try:
            sessions, routes = gobgp.sessions(), gobgp.routes()
        except (subprocess.SubprocessError, OSError, ValueError, LookupError, TypeError,
                AttributeError) as e:
            trouble.tell(f"no answer, the feed stays: {e}")
            continue
        said = []
        for link in links:
            since = sessions.get(link.gateway)
            if since is None:
                continue
            if link.has_route(routes):
                seen[link] = since
            words = link.words(routes, seen.get(link) == since or
                               time.time() - since >= settle)
            if words:
                said.append(words)
        text = json.dumps({"links": said}, indent=1) + "\n"
        try:
            if text != written:
                write(feed, text)
                written = text
        except OSError as e:
            trouble.tell(f"{feed} cannot be written: {e.strerror}")
            continue
        trouble.over()
        gobgp.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("topology")
    parser.add_argument("host")
    parser.add_argument("feed")
    parser.add_argument("--gobgp", default="gobgp",
                        help='command, with options, as "gobgp -p 50052"')
    parser.add_argument("--settle", type=float, default=5, metavar="S",
                        help="seconds that a neighbor has to announce all (5)")
    args = parser.parse_args()
    with open(args.topology, encoding="utf-8") as f:
        links = links_of(json.load(f), args.host)
    gobgp = Gobgp(args.gobgp)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        keep(links, gobgp, args.feed, args.settle)
    finally:
        gobgp.end()


if __name__ == "__main__":
    main()
