#!/usr/bin/python3
"""What the escapes try to reach: target.py DIR KEY

Listens where nobody of the session may call (TCP, UDP, unix and abstract sockets), has a terminal, shared
memory, semaphores, a message queue, and a neighbour: a process that stands in the key's directory and has it open.
DIR/env says where, once all is there; DIR/calls gets the name of whoever called.
"""
import ctypes
import os
import select
import signal
import socket
import sys

HERE, KEY = sys.argv[1:]


def tcp_and_udp():
    """A port that is free for all four."""
    for port in range(30000 + os.getpid() % 20000, 60000):
        made = []
        try:
            for family, any_address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    s = socket.socket(family, kind)
                    made.append(s)
                    if family == socket.AF_INET6:
                        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                    if kind == socket.SOCK_STREAM:
                        s.setsockopt(socket.IPPROTO_TCP, 23, 16)
                    s.bind((any_address, port))
            return port, made
        except OSError:
            for s in made:
                s.close()
    raise SystemExit("no port is free")


def unix_sockets(port):
    for name, kind in (("stream", socket.SOCK_STREAM), ("seqpacket", socket.SOCK_SEQPACKET), ("dgram", socket.SOCK_DGRAM)):
        s = socket.socket(socket.AF_UNIX, kind)
        s.bind(os.path.join(HERE, name))
        yield s
        if name != "seqpacket":
            s = socket.socket(socket.AF_UNIX, kind)
            s.bind("\0escapes-%s-%d" % (name, port))
            yield s


def neighbour():
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        os.chdir(os.path.dirname(KEY))
        os.dup2(os.open(KEY, os.O_RDONLY), 0)
        while True:
            signal.pause()
    return pid



def main():
    os.chdir(HERE)
    port, sockets = tcp_and_udp()
    sockets += unix_sockets(port)
    for s in sockets:
        if s.type != socket.SOCK_DGRAM:
            s.listen(64)
    libc = ctypes.CDLL(None)
    segment, semaphores, queue = libc.shmget(port, 4096, 0o1600), libc.semget(port, 1, 0o1600), libc.msgget(port, 0o1600)
    master, terminal = os.openpty()
    with open("env.new", "w") as f:
        print("ESCAPE_PORT=%d\nESCAPE_PID=%d\nESCAPE_PTS=%s" % (port, neighbour(), os.ttyname(terminal)), file=f)
        print("ESCAPE_IPC='%d %d %d'" % (segment, semaphores, queue), file=f)
    os.rename("env.new", "env")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    calls = open("calls", "a", buffering=1)
    waiting = list(sockets)
    try:
        while True:
            for s in select.select(waiting, [], [])[0]:
                if s.type != socket.SOCK_DGRAM and s in sockets:
                    waiting.append(s.accept()[0])
                    continue
                text = s.recv(200)
                if text:
                    print(text.decode("ascii", "replace"), file=calls)
                elif s not in sockets:
                    waiting.remove(s)
                    s.close()
    finally:
        libc.shmctl(segment, 0, None)
        libc.semctl(semaphores, 0, 0)
        libc.msgctl(queue, 0, None)


main()
