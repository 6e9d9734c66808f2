# SPDX-License-Identifier: GPL-2.0
"""
Pinned BPF maps, read and written as bytes.
"""

import ctypes
import errno
import os
import platform
import struct

_libc = ctypes.CDLL(None, use_errno=True)
# arm64 has the numbers of all newer architectures
_NR_BPF = 321 if platform.machine() == "x86_64" else 280

LOOKUP, UPDATE, NEXT_KEY, OBJ_GET, INFO = 1, 2, 4, 7, 15


def _bpf(cmd, attr):
    buf = ctypes.create_string_buffer(attr.ljust(128, b"\0"), 128)
    ret = _libc.syscall(_NR_BPF, cmd, buf, 128)
    if ret < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {cmd}")
    return ret


class Map:
    """A map pinned at a path."""

    def __init__(self, path):
        name = ctypes.create_string_buffer(path.encode())
        self.fd = _bpf(OBJ_GET, struct.pack("QII", ctypes.addressof(name),
                                            0, 0))
        info = ctypes.create_string_buffer(256)
        _bpf(INFO, struct.pack("IIQ", self.fd, 256, ctypes.addressof(info)))
        self.key_size, self.value_size, self.max_entries = \
            struct.unpack_from("III", info.raw, 8)

    def close(self):
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getitem__(self, key):
        k = ctypes.create_string_buffer(key, self.key_size)
        v = ctypes.create_string_buffer(self.value_size)
        _bpf(LOOKUP, struct.pack("IxxxxQQQ", self.fd, ctypes.addressof(k),
                                 ctypes.addressof(v), 0))
        return v.raw

    def __setitem__(self, key, value):
        k = ctypes.create_string_buffer(key, self.key_size)
        v = ctypes.create_string_buffer(value, self.value_size)
        _bpf(UPDATE, struct.pack("IxxxxQQQ", self.fd, ctypes.addressof(k),
                                 ctypes.addressof(v), 0))

    def keys(self):
        found = []
        after = None
        while True:
            k = ctypes.create_string_buffer(after or b"", self.key_size)
            n = ctypes.create_string_buffer(self.key_size)
            try:
                _bpf(NEXT_KEY, struct.pack(
                    "IxxxxQQ", self.fd,
                    ctypes.addressof(k) if after is not None else 0,
                    ctypes.addressof(n)))
            except OSError as why:
                if why.errno == errno.ENOENT:
                    return found
                raise
            after = n.raw
            found.append(after)

    def items(self):
        return [(k, self[k]) for k in self.keys()]
