# SPDX-License-Identifier: GPL-2.0
"""
The srpol netlink family through the kernel's own YNL client, which knows it
from Documentation/netlink/specs/srpol.yaml alone.

Members are named as in the spec with '_' for '-', addresses are text (IPv4
becomes v4-mapped), a segment list is a list of addresses:

    client = Srpol()
    client.new("path", id=1, sids=["fc00::1", "fc00::2"])
    client.get("path", id=1)["state"]
"""

import contextlib
import errno
import ipaddress
import os
import socket
import struct
import sys

import yaml

from ktap import busywait

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
SPEC = os.path.join(TOP, "Documentation/netlink/specs/srpol.yaml")
MODULE = os.environ.get("SRPOL_MODULE", os.path.join(TOP, "kmod/srpol.ko"))

sys.path.insert(0, os.path.join(BUILD, "ksrc/tools/net/ynl"))

from lib import Netlink, NlError, YnlFamily     # noqa: E402
import lib.ynl                                  # noqa: E402

ADDRESSES = {"block", "src", "dst", "via", "endpoint", "bsid", "node", "prefix",
             "address", "sid"}
KINDS = ("path", "policy", "rule", "endpoint", "sid", "dev")

EXCL = Netlink.NLM_F_CREATE | Netlink.NLM_F_EXCL
REPLACE = Netlink.NLM_F_CREATE | Netlink.NLM_F_REPLACE
CHANGE = Netlink.NLM_F_REPLACE

SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33

_specs = {}


def _load(stream):
    """The pure Python loader takes seconds in an emulated guest."""
    text = stream if isinstance(stream, str) else stream.read()
    if text not in _specs:
        _specs[text] = yaml.load(text, Loader=yaml.CSafeLoader)
    return _specs[text]


yaml.safe_load = _load

# A name may hold any bytes; the client takes them for ASCII.
lib.ynl.NlAttr.as_strz = lambda self: \
    self.raw[:-1].decode("ascii", "backslashreplace")


def packed(address):
    """16 bytes of an address given as text."""
    ip = ipaddress.ip_address(address)
    if ip.version == 4:
        return b"\0" * 10 + b"\xff\xff" + ip.packed
    return ip.packed


def text(address):
    """An address as replies show it."""
    return str(ipaddress.IPv6Address(packed(address)))


def encode(members):
    """What the YNL client wants for these members."""
    out = {}
    for name, value in members.items():
        name = name.replace("_", "-")
        if isinstance(value, (list, tuple)):
            if name == "sids":
                value = [v if isinstance(v, dict) else {"sid": v}
                         for v in value]
            value = [encode(v) if isinstance(v, dict) else v for v in value]
        elif isinstance(value, dict):
            value = encode(value)
        elif name in ADDRESSES and isinstance(value, str):
            value = packed(value)
        out[name] = value
    return out


def decode(reply):
    """A reply in the form encode() takes."""
    out = {}
    for name, value in reply.items():
        if name == "sids" and isinstance(value, list):
            value = [text(ipaddress.IPv6Address(v["sid"])) for v in value]
        elif isinstance(value, list):
            value = [decode(v) if isinstance(v, dict) else v for v in value]
        elif isinstance(value, dict):
            value = decode(value)
        out[name.replace("-", "_")] = value
    return out


class Refused(Exception):
    """
    A request was refused: errno, extack message, attribute to blame; in a
    transaction also which of its requests, from 0, to which the attributes
    belong then.
    """

    def __init__(self, error, extack, index=None):
        extack = extack or {}
        self.errno = abs(error)
        self.msg = extack.get("msg", "")
        self.attr = extack.get("bad-attr", "").lstrip(".")
        self.miss = extack.get("miss-type", "")
        self.index = index
        super().__init__(str(self))

    def __str__(self):
        return (f"{errno.errorcode.get(self.errno, self.errno)}"
                f" msg={self.msg!r} attr={self.attr!r} miss={self.miss!r}" +
                ("" if self.index is None else f" index={self.index}"))


def nested(number, payload, flag=Netlink.NLA_F_NESTED):
    """One attribute that holds others, or any bytes."""
    return struct.pack("HH", len(payload) + 4, number | flag) + payload + \
        b"\0" * (-len(payload) % 4)


class Srpol:
    """A client in the network namespace it is made in."""

    def __init__(self):
        self.ynl = YnlFamily(SPEC, schema="")

    def close(self):
        self.ynl.sock.close()

    def op(self, name, members, flags=0):
        try:
            reply = self.ynl.do(name, encode(members), [flags])
        except NlError as error:
            raise Refused(error.error, error.nl_msg.extack) from None
        return decode(reply) if reply else None

    def new(self, kind, flags=EXCL, **members):
        return self.op(f"{kind}-new", members, flags)

    def replace(self, kind, **members):
        return self.op(f"{kind}-new", members, REPLACE)

    def change(self, kind, **members):
        return self.op(f"{kind}-new", members, CHANGE)

    def delete(self, kind, **key):
        return self.op(f"{kind}-del", key)

    def get(self, kind, **key):
        return self.op(f"{kind}-get", key)

    def config(self, **members):
        return self.op("config-set", members)

    def message(self, name, members, flags=0):
        """The bytes of a request."""
        return self.ynl._encode_message(self.ynl.ops[name], encode(members),
                                        [flags], 1)

    def apply(self, *requests):
        """
        One transaction; a request is (operation, members, flags), the last
        two may be left out, or the bytes of a message.
        """
        messages = [r if isinstance(r, bytes) else
                    self.message(r[0], *(r[1:] or ({},))) for r in requests]
        names = [None if isinstance(r, bytes) else r[0] for r in requests]
        self.apply_messages(messages, names)

    def apply_messages(self, messages, names=None):
        """The same, of encoded messages."""
        head = self.ynl.nlproto.message(
            Netlink.NLM_F_REQUEST | Netlink.NLM_F_ACK,
            self.ynl.ops["apply"].req_value, 1, 77)
        body = b"".join(nested(1, nested(1, m, 0)) for m in messages)
        with contextlib.suppress(PermissionError):
            self.ynl.sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE,
                                     1 << 28)
        self.ynl.sock.send(struct.pack("I", 4 + len(head) + len(body)) +
                           head + body)
        reply = lib.ynl.NlMsg(self.ynl.sock.recv(1 << 17), 0)
        if reply.error:
            raise self._blame(reply, messages, names)

    def _blame(self, reply, messages, names):
        """Which of these messages was refused, and which attribute of it."""
        extack = dict(reply.extack or {})
        offset = extack.pop("bad-attr-offs", None)
        at = 20
        for index, message in enumerate(messages):
            size = 8 + (len(message) + 3 & ~3)
            if offset is not None and at <= offset < at + size:
                break
            at += size
        else:
            return Refused(reply.error, extack)
        name = names[index] if names else None
        if name:
            op = self.ynl.ops[name]
            if offset >= at + 8 + 20:
                attrs = lib.ynl.NlAttrs(message[20:])
                extack["bad-attr"] = self.ynl._decode_extack_path(
                    attrs, op.attr_set, 20, offset - at - 8)
            missing = extack.get("miss-type")
            if missing in op.attr_set.attrs_by_val:
                extack["miss-type"] = op.attr_set.attrs_by_val[missing].name
        return Refused(reply.error, extack, index)

    def dump(self, kind):
        try:
            return [decode(r) for r in self.ynl.dump(f"{kind}-get", {})]
        except NlError as error:
            raise Refused(error.error, error.nl_msg.extack) from None

    def clear(self):
        """Delete all objects."""
        for kind in DELETE_ORDER:
            for obj in self.dump(kind):
                self.delete(kind, **{k: obj[k] for k in KEYS[kind]})

    def picture(self):
        """All that can be seen, states, ids and generation included."""
        return {kind: self.dump(kind) for kind in KINDS} | \
            {"config": self.get("config")}

    def everything(self):
        """All that is configured, without what events can change."""
        all_ = {kind: [configured(kind, obj) for obj in self.dump(kind)]
                for kind in KINDS}
        config = self.get("config")
        config.pop("generation")
        config.pop("used")
        return {**all_, "config": config}


# What tells one object of a kind from the others.
KEYS = {
    "path": ("id",), "policy": ("color", "endpoint"), "rule": ("priority",),
    "endpoint": ("prefix", "prefix_len"), "sid": ("sid", "prefix_len"),
    "dev": ("ifindex",),
}

# An order in which they can be deleted.
DELETE_ORDER = ("policy", "path", "rule", "endpoint", "sid", "dev")

# What the module adds to an object that was entered.
STATE = {
    "path": {"state", "reason", "out_ifindex", "out_via", "out_lladdr",
             "out_src", "overhead", "mtu", "users", "ifname"},
    "policy": {"state", "reason", "id", "revision"},
    "rule": {"reason", "id", "ifname"},
    "sid": {"id", "state", "reason", "ifname"},
    "dev": {"running", "mtu"},
    "endpoint": set(),
}
CANDIDATE_STATE = {"active", "state", "reason"}
LIST_STATE = {"state", "reason", "buckets"}


def without(members, names):
    return {k: v for k, v in members.items() if k not in names}


def configured(kind, obj):
    """The part of a reply that was entered."""
    obj = without(obj, STATE[kind])
    if "candidate" in obj:
        obj["candidate"] = [without(c, CANDIDATE_STATE)
                            for c in obj["candidate"]]
        for cand in obj["candidate"]:
            if "segment_list" in cand:
                cand["segment_list"] = [without(li, LIST_STATE)
                                for li in cand["segment_list"]]
    return obj


class Listener:
    """
    Notifications of some groups, as (name, members). dropped: those that wait() found
    before the ones it waited for.
    """

    def __init__(self, *groups):
        self.queue = []
        self.dropped = []
        self.ynl = YnlFamily(SPEC, schema="")
        with contextlib.suppress(PermissionError):
            self.ynl.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE,
                                     1 << 22)
        # ntf_subscribe() would bind the socket for each group
        self.ynl.sock.bind((0, 0))
        for group in groups:
            number = self.ynl.nlproto.get_mcast_id(group, None)
            self.ynl.sock.setsockopt(Netlink.SOL_NETLINK,
                                     Netlink.NETLINK_ADD_MEMBERSHIP, number)

    def close(self):
        self.ynl.sock.close()

    def _read(self):
        self.ynl.check_ntf()
        arrived, self.ynl.async_msg_queue = self.ynl.async_msg_queue, []
        self.queue += [(m["name"], decode(m["msg"])) for m in arrived]

    def take(self):
        """All that have not been taken yet."""
        self._read()
        queue, self.queue = self.queue, []
        return queue

    def wait(self, name, seconds=10, **members):
        """The next one of a name with these members; drops those before."""
        begin = len(self.dropped)

        def look():
            self._read()
            while self.queue:
                found, got = self.queue.pop(0)
                if found == name and members.items() <= got.items():
                    return got
                self.dropped.append((found, got))
            return None

        try:
            return busywait(look, seconds)
        except AssertionError:
            raise AssertionError(f"no {name} {members} within {seconds} s, "
                                 f"but {self.dropped[begin:]}") from None


def forget_family():
    """The module was loaded anew, so the family may have other numbers."""
    lib.ynl.genl_family_name_to_id = None


def family_id():
    return YnlFamily(SPEC, schema="").nlproto.family_id
