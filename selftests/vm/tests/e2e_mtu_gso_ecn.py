# SPDX-License-Identifier: GPL-2.0
"""
Part of e2e_mtu_gso_ecn.sh, which has set up paths 1 and 2; the second, for
packets with mark 2, marks every packet CE. Prints "ok NAME" or "not ok NAME |
WHY".
"""

import contextlib
import errno
import json
import re
import socket
import struct
import subprocess
import threading
import time

HOSTS = {6: ("fd00:a::1", "fd00:b::1"), 4: ("10.0.10.1", "10.0.20.1")}
DEVICE_MTU = 9000
# IPv6 header, SRH of 3 SIDs reduced to 2
PATH_MTU = DEVICE_MTU - 40 - 8 - 2 * 16
HEADERS = {6: 40 + 8, 4: 20 + 8}

IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_MTU, IP_RECVTOS = 10, 2, 14, 13
IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO, IPV6_MTU = 23, 2, 24
NAMES = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"]

TRANSFER = 16 << 20


def show(*command):
    return json.loads(subprocess.check_output(["srpol", "-j", *command,
                                               "show"]))


def reasons():
    return {r["reason"]: r["packets"] for r in show("stats")}


@contextlib.contextmanager
def counted():
    """A dict that has what was counted within the block, after it."""
    delta = {}
    before = reasons()
    yield delta
    after = reasons()
    delta.update({k: after[k] - before[k] for k in after})


def test(name):
    """Run a function now and say how it went."""
    def run(fn):
        try:
            fn()
        except Exception as error:
            print(f"not ok {name} | {type(error).__name__} {error}",
                  flush=True)
        else:
            print(f"ok {name}", flush=True)
    return run


def eq(got, want, what):
    if got != want:
        raise AssertionError(f"{what} is {got!r}, not {want!r}")


def family(version):
    return socket.AF_INET6 if version == 6 else socket.AF_INET


def pair(version, port, mark=0):
    """A connected UDP socket of A, and B's that receives from it."""
    a, b = HOSTS[version]
    receiver = socket.socket(family(version), socket.SOCK_DGRAM)
    receiver.bind((b, port))
    receiver.settimeout(5)
    sender = socket.socket(family(version), socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
    sender.bind((a, port))
    sender.connect((b, port))
    return sender, receiver


def path_mtu(version):
    """What the kernel has learnt about the way from A to B."""
    a, b = HOSTS[version]
    route = subprocess.check_output(["ip", "route", "get", b, "from", a],
                                    text=True)
    found = re.search(r"mtu (\d+)", route)
    return int(found[1]) if found else None


def transfer(version, port):
    """TRANSFER bytes by TCP; return segments sent, all of this machine."""
    a, b = HOSTS[version]
    chunk = bytes(range(256)) * 1024
    got = []

    def serve(server):
        connection, _ = server.accept()
        with connection:
            connection.settimeout(30)
            n = 0
            while True:
                data = connection.recv(len(chunk))
                if not data:
                    break
                # the pattern is where it belongs, at the ends at least
                assert data[0] == n % 256, "bytes are out of place"
                n += len(data)
                assert data[-1] == (n - 1) % 256, "bytes are out of place"
            got.append(n)

    with socket.create_server((b, port), family=family(version)) as server:
        thread = threading.Thread(target=serve, args=[server])
        thread.start()
        with socket.create_connection((b, port), 30, (a, 0)) as s:
            for _ in range(TRANSFER // len(chunk)):
                s.sendall(chunk)
            s.shutdown(socket.SHUT_WR)
            s.settimeout(30)
            eq(s.recv(1), b"", "answer")
            info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        thread.join(30)
    eq(got, [TRANSFER], "bytes received")
    # struct tcp_info: tcpi_snd_mss, tcpi_segs_out
    return struct.unpack_from("I", info, 16)[0], \
        struct.unpack_from("I", info, 136)[0]


@test("paths know what fits: device MTU less outer headers")
def _():
    for path in show("path"):
        if path["id"] in (1, 2):
            eq(path["mtu"], PATH_MTU, f"MTU of path {path['id']}")


def too_big(version):
    """A learns the path's MTU from the first packet that does not fit."""
    with contextlib.ExitStack() as stack:
        sender, receiver = map(stack.enter_context, pair(version, 5000))
        if version == 6:
            level, get = socket.IPPROTO_IPV6, IPV6_MTU
            sender.setsockopt(level, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO)
        else:
            level, get = socket.IPPROTO_IP, IP_MTU
            sender.setsockopt(level, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        fits = bytes(PATH_MTU - HEADERS[version])
        eq(path_mtu(version), None, "MTU learnt before")
        with counted() as count:
            sender.send(fits)
            eq(len(receiver.recv(65536)), len(fits), "largest that fits")
            eq(path_mtu(version), None, "MTU learnt from it")
            sender.send(fits + b"x")
            end = time.monotonic() + 5
            while sender.getsockopt(level, get) == DEVICE_MTU and \
                    time.monotonic() < end:
                time.sleep(0.05)
        eq(sender.getsockopt(level, get), PATH_MTU, "MTU of the socket")
        eq(path_mtu(version), PATH_MTU, "MTU of the route")
        eq(count["too-big"], 1, "too-big")
        eq(count["icmp-sent"], 1, "icmp-sent")
        eq(sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR),
           errno.EMSGSIZE, "error of the socket")
        try:
            sender.send(fits + b"x")
            raise AssertionError("it could be sent once more")
        except OSError as error:
            eq(error.errno, errno.EMSGSIZE, "errno")
        sender.send(fits)
        eq(len(receiver.recv(65536)), len(fits), "largest that fits, again")


def tcp(version, port, learning):
    with counted() as count:
        mss, segments = transfer(version, port)
    print(f"TCP over IPv{version}: MSS {mss}, {segments} segments, "
          f"{count['steered']} packets steered both ways, "
          f"{count['too-big']} too big", flush=True)
    if learning:
        assert count["too-big"] > 0, "nothing was too big"
        eq(count["icmp-sent"], count["too-big"], "ICMP errors")
    else:
        eq(count["too-big"], 0, "too-big")
    eq(path_mtu(version), PATH_MTU, "MTU of the route")
    assert mss <= PATH_MTU - HEADERS[version] - 12, f"MSS {mss}"
    least = TRANSFER // mss
    assert segments >= least, f"{segments} segments"
    # both ways together: super-packets, and acknowledgements of these
    assert count["steered"] < segments * 0.75, "super-packets were cut up"
    eq({k: count[k] for k in ("no-room", "no-headroom", "bad-inner",
                              "truncated", "unparsed")},
       dict.fromkeys(("no-room", "no-headroom", "bad-inner", "truncated",
                      "unparsed"), 0), "drops")


@test("IPv6: Packet Too Big reaches a local sender")
def _():
    too_big(6)


@test("IPv6: TCP that knows the path's MTU stays whole, nothing is too big")
def _():
    tcp(6, 5001, False)


@test("IPv4: TCP finds the path's MTU and completes")
def _():
    tcp(4, 5002, True)


@test("IPv4: TCP that knows the path's MTU stays whole, nothing is too big")
def _():
    tcp(4, 5003, False)


@test("IPv4: Fragmentation Needed reaches a local sender")
def _():
    subprocess.check_call(["ip", "route", "flush", "cache"])
    too_big(4)


def ecn(version, mark):
    """ECN field and DSCP received, by ECN field sent."""
    dscp = 26 << 2
    got = {}
    with contextlib.ExitStack() as stack:
        sender, receiver = map(stack.enter_context,
                               pair(version, 5010 + mark, mark))
        if version == 6:
            level, option = socket.IPPROTO_IPV6, socket.IPV6_TCLASS
            receiver.setsockopt(level, socket.IPV6_RECVTCLASS, 1)
        else:
            level, option = socket.IPPROTO_IP, socket.IP_TOS
            receiver.setsockopt(level, IP_RECVTOS, 1)
        for field, name in enumerate(NAMES):
            receiver.settimeout(5 if field or not mark else 0.5)
            sender.setsockopt(level, option, dscp | field)
            sender.send(b"%d" % field)
            try:
                data, extra, _, _ = receiver.recvmsg(100, 100)
            except TimeoutError:
                got[name] = "nothing"
                continue
            eq(data, b"%d" % field, "payload")
            tos = extra[0][2][0]
            eq(tos >> 2, 26, "DSCP")
            got[name] = NAMES[tos & 3]
    return got


def congestion(version):
    with counted() as count:
        got = ecn(version, 2)
    eq(got, {"Not-ECT": "nothing", "ECT(1)": "CE", "ECT(0)": "CE",
             "CE": "CE"}, "what arrives")
    eq(count["ecn-drop"], 1, "ecn-drop")
    eq(count["ecn-ce"], 2, "ecn-ce")
    eq(count["decap"], 3, "decap")


def no_congestion(version):
    with counted() as count:
        got = ecn(version, 0)
    eq(got, dict(zip(NAMES, NAMES)), "what arrives")
    eq(count["ecn-drop"] + count["ecn-ce"], 0, "ecn-drop and ecn-ce")


for v in HOSTS:
    test(f"IPv{v}: without congestion the ECN field arrives as it was sent")(
        lambda v=v: no_congestion(v))
    test(f"IPv{v}: a mark of the fabric arrives as CE; Not-ECT is dropped")(
        lambda v=v: congestion(v))
