# SPDX-License-Identifier: GPL-2.0
"""
Requests that a well-behaved client can not make.
"""

import socket
import struct

from srpol import Netlink


def attr(number, payload=b"", nested=False, length=None):
    """One attribute; length, if given, is what its header claims."""
    claimed = len(payload) + 4 if length is None else length
    head = struct.pack("HH", claimed & 0xffff,
                       number | (Netlink.NLA_F_NESTED if nested else 0))
    return head + payload + b"\0" * (-len(payload) % 4)


class RawSocket:
    """Sends bytes as they are, returns what comes back."""

    def __init__(self, seconds=5):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                                  Netlink.NETLINK_GENERIC)
        for option in (Netlink.NETLINK_EXT_ACK, Netlink.NETLINK_CAP_ACK):
            self.sock.setsockopt(Netlink.SOL_NETLINK, option, 1)
        self.sock.settimeout(seconds)
        self.sock.bind((0, 0))
        self.seq = 0

    def close(self):
        self.sock.close()

    def message(self, family, cmd, body, flags=0, version=1, reserved=0):
        self.seq += 1
        flags |= Netlink.NLM_F_REQUEST | Netlink.NLM_F_ACK
        return struct.pack("IHHII", 20 + len(body), family, flags, self.seq,
                           0) + struct.pack("BBH", cmd, version, reserved) \
            + body

    def errno(self, message):
        """Send; the error that comes back, 0 for an acknowledgement."""
        self.sock.send(message)
        while True:
            data = self.sock.recv(1 << 17)
            while len(data) >= 16:
                length, kind = struct.unpack_from("IH", data)
                if kind in (Netlink.NLMSG_ERROR, Netlink.NLMSG_DONE):
                    return -struct.unpack_from("i", data, 16)[0]
                data = data[(length + 3) & ~3:]
