# SPDX-License-Identifier: GPL-2.0
"""
e2e_rtnl.py DEVICE: hold the RTNL, as a driver does that resets its NIC, until the
end of standard input.

The kernel answers ETHTOOL_GSET under the RTNL, into a buffer of which the end is a
page that userfaultfd keeps away: it waits for that page.
"""

import ctypes
import fcntl
import mmap
import os
import socket
import struct
import sys
import threading

SIOCETHTOOL = 0x8946
ETHTOOL_GSET = 1
SYS_USERFAULTFD = 323
UFFDIO_API = 0xc018aa3f
UFFDIO_REGISTER = 0xc020aa00
UFFDIO_ZEROPAGE = 0xc020aa04
PAGE = mmap.PAGESIZE


def main():
    fd = ctypes.CDLL(None, use_errno=True).syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "userfaultfd")
    fcntl.ioctl(fd, UFFDIO_API, struct.pack("QQQ", 0xaa, 0, 0))
    pages = mmap.mmap(-1, 2 * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    # what is asked is in the page that is there
    pages[PAGE - 8:PAGE - 4] = struct.pack("I", ETHTOOL_GSET)
    fcntl.ioctl(fd, UFFDIO_REGISTER,
                struct.pack("QQQQ", start + PAGE, PAGE, 1, 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        ifreq = struct.pack("16sQ8x", sys.argv[1].encode(), start + PAGE - 8)
        asks = threading.Thread(target=fcntl.ioctl, args=(sock, SIOCETHTOOL, ifreq))
        asks.start()
        os.read(fd, 32)
        print("held", flush=True)
        sys.stdin.read()
        fcntl.ioctl(fd, UFFDIO_ZEROPAGE,
                    struct.pack("QQQQ", start + PAGE, PAGE, 0, 0))
        asks.join()


main()
