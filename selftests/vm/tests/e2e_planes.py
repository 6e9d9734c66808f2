# SPDX-License-Identifier: GPL-2.0
"""What e2e_planes.sh sends: datagrams of many flows, to port 9.

	e2e_planes.py receive FILE		each one that comes is a line there
	e2e_planes.py send SRC DST FLOWS ROUNDS	so many of each flow
	e2e_planes.py stream SRC DST FLOWS FILE	numbered, and each is a line with
						its time there, until there is a
						file FILE.end
	e2e_planes.py lost SENT RECEIVED	how many of a stream, and milliseconds
						from the first one to the last
"""
import os
import socket
import sys
import time


def flows_of(src, n):
    socks = []
    for port in range(20000, 20000 + n):
        s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        s.bind((src, port))
        socks.append(s)
    return socks


def receive(file):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.bind(("::", 9))
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        os.write(fd, s.recv(64) + b"\n")


def send(src, dst, flows, rounds):
    socks = flows_of(src, int(flows))
    for _ in range(int(rounds)):
        for s in socks:
            s.sendto(b"x", (dst, 9))
        time.sleep(0.01)


def stream(src, dst, flows, file):
    socks = flows_of(src, int(flows))
    n = 0
    with open(file, "w") as out:
        while not os.path.exists(file + ".end"):
            out.write(f"{n} {time.monotonic()}\n")
            out.flush()
            socks[n % len(socks)].sendto(str(n).encode(), (dst, 9))
            n += 1
            time.sleep(0.001)


def lost(sent, received):
    with open(received) as lines:
        came = {line.strip() for line in lines}
    with open(sent) as lines:
        times = [float(at) for n, at in map(str.split, lines) if n not in came]
    span = (times[-1] - times[0]) * 1000 if times else 0
    print(f"{len(times)} {span:.1f}")


globals()[sys.argv[1]](*sys.argv[2:])
