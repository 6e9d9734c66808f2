# SPDX-License-Identifier: GPL-2.0
"""
Throw-away network namespaces, links in them, and the module itself.
"""

import contextlib
import ctypes
import os
import random
import socket
import time

import ktap
import srpol
from ktap import run

_libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


def _setns(fd):
    if _libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def ip(batch):
    """Run a batch of ip commands."""
    run("ip", "-batch", "-", input=batch)


class Netns:
    """A namespace with lo up and duplicate address detection off."""

    def __init__(self, *links):
        self.name = f"srpol-{random.getrandbits(32):08x}"
        ip(f"netns add {self.name}")
        ktap.cleanup(self.delete)
        with self:
            for dev in ("all", "default"):
                self.sysctl(f"net/ipv6/conf/{dev}/accept_dad", 0)
        self.ip("link set lo up\n" + "".join(links))

    def delete(self):
        if self.name:
            run("ip", "netns", "del", self.name)
            self.name = None

    def __enter__(self):
        """Run a with block in here: sockets it makes stay here."""
        self._old = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        with contextlib.closing(open(f"/run/netns/{self.name}", "rb")) as f:
            _setns(f.fileno())
        return self

    def __exit__(self, *_):
        _setns(self._old)
        os.close(self._old)

    def ip(self, batch):
        """Run a batch of ip commands in here."""
        run("ip", "-n", self.name, "-batch", "-", input=batch)

    def sysctl(self, name, value):
        """Set a network sysctl; inside a with block of this namespace."""
        with open(f"/proc/sys/{name}", "w", encoding="ascii") as f:
            f.write(str(value))

    def run(self, *command, **kwargs):
        return run("ip", "netns", "exec", self.name, *command, **kwargs)

    def ifindex(self, dev):
        with self:
            return socket.if_nametoindex(dev)

    def client(self):
        with self:
            return srpol.Srpol()

    def listener(self, *groups):
        with self:
            return srpol.Listener(*groups)


def load_module():
    """Load the module for this program."""
    run("insmod", srpol.MODULE)
    srpol.forget_family()
    ktap.cleanup(unload_module)


def unload_module():
    if os.path.isdir("/sys/module/srpol"):
        run("rmmod", "srpol")


def is_there(name):
    """Has the other end of a namespace's veth not disappeared?"""
    return os.path.exists(f"/sys/class/net/{name}")


def gone(name, seconds=20):
    """Wait for the end of a namespace, return how long that took."""
    start = time.monotonic()
    ktap.busywait(lambda: not is_there(name), seconds,
                  f"end of namespace {name}")
    return time.monotonic() - start
