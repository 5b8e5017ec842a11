#!/usr/bin/python3
"""What the escapes try to reach: target.py DIR KEY

Listens where nobody of the session may call (TCP, UDP, unix and abstract sockets), has a terminal, shared
memory, semaphores, a message queue, and a neighbour: a process that stands in the key's directory and has it open.
In a network of its own (netprobe.sh) it also has the ports of name servers, and answers as one.
DIR/env says where, once all is there; DIR/calls gets the name of each probe that comes in, in whatever.
"""
import ctypes
import os
import re
import select
import signal
import socket
import struct
import sys
import time

HERE, KEY = sys.argv[1:]
ALONE = "ESCAPE_NET" in os.environ
ALLOWED = "151.101.1.10"  # whoever comes there may: GOOD of netprobe.h
GROUP = "224.0.0.251"

# --- the name server --------------------------------------------------------------------------------------

EVIL, EVIL6 = "45.33.32.66", "2600:3c01::66"
ANSWERS = {
    ("good.example", 1): "151.101.1.14",
    ("lo.wild.example", 1): "127.0.0.1",
    ("lo.wild.example", 28): "::1",
    ("any.wild.example", 1): "0.0.0.0",
    ("private.wild.example", 1): "10.7.7.7",
    ("mapped.wild.example", 28): "::ffff:10.7.7.7",
    ("nat64.wild.example", 28): "64:ff9b::10.7.7.7",
    ("unique.wild.example", 28): "fc00::66",
    ("carrier.wild.example", 1): "100.64.0.66",
    ("metadata.wild.example", 1): "169.254.169.254",
    ("metadata.wild.example", 28): "fd00:ec2::254",
    ("lie.wild.example", 1): "151.101.1.14",
}
# Names that tell by how they are written, or under which number.
TOLD = {b"CaSeSpEaKsVoLuMeSoFbItS": "dns_case_bits"}
NUMBER = (0xBEEF, b"number")


def packed(address):
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)


def wire_name(name):
    return b"".join(bytes([len(label)]) + label for label in name.encode().split(b".")) + b"\0"


def record(owner, kind, data):
    return owner + struct.pack(">HHIH", kind, 1, 60, len(data)) + data


def read_name(message):
    labels, at = [], 12
    while message[at]:
        if message[at] > 63:
            raise ValueError
        labels.append(message[at + 1:at + 1 + message[at]].decode("latin-1").lower())
        at += 1 + message[at]
    return ".".join(labels), at + 5


def answer(message):
    """None where it is no query."""
    if len(message) < 17 or message[2] & 0xf8 or message[4:6] != b"\0\1":
        return None
    try:
        name, end = read_name(message)
        kind = struct.unpack(">H", message[end - 4:end - 2])[0]
    except (IndexError, ValueError, struct.error):
        return None
    address = ANSWERS.get((name, kind))
    if name.endswith("leak.example"):
        address = {1: EVIL, 28: EVIL6}.get(kind)
    records = [record(b"\xc0\x0c", kind, packed(address))] if address else []
    if name == "lie.wild.example":
        records.append(record(wire_name("good.example"), 1, packed(EVIL)))
        records.append(record(wire_name("www.wild.example"), 1, packed(EVIL)))
    code = 0 if any(name == known for known, _ in ANSWERS) or address else 3
    return message[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(records), 0, 0) \
        + message[12:end] + b"".join(records)


def questions(stream):
    """Those that came together, each behind its length."""
    while len(stream) > 2:
        end = 2 + struct.unpack(">H", stream[:2])[0]
        yield stream[2:end]
        stream = stream[end:]


# --- who came ---------------------------------------------------------------------------------------------

NAME = re.compile(rb"(?<![a-z_])(?:net|dns|unix|py|bb)_[a-z0-9_]+")


def names_in(message):
    found = [m.decode() for m in NAME.findall(message)] or [m.decode() for m in NAME.findall(message.lower())]
    found += [probe for text, probe in TOLD.items() if text in message]
    if len(message) > 12 and struct.unpack(">H", message[:2])[0] == NUMBER[0] and NUMBER[1] in message.lower():
        found.append("dns_query_number")
    return found


# --- what there is ----------------------------------------------------------------------------------------

def bound(family, kind, address, protocol=0):
    s = socket.socket(family, kind, protocol)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    if ALONE or kind == socket.SOCK_STREAM:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if kind == socket.SOCK_STREAM:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.setsockopt(socket.IPPROTO_TCP, 23, 16)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    s.bind(address)
    return s


def lite(port):
    """UDP-Lite, where the kernel has it."""
    for family, address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
        try:
            yield bound(family, socket.SOCK_DGRAM, (address, port), 136)
        except OSError:
            pass


def tcp_and_udp():
    """A port that is free for all four."""
    for port in range(30000 + os.getpid() % 20000, 60000):
        made = []
        try:
            for family, address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
                for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
                    made.append(bound(family, kind, (address, port)))
            return port, made + list(lite(port))
        except OSError:
            for s in made:
                s.close()
    raise SystemExit("no port is free")


def name_servers():
    for family, address in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            yield bound(family, kind, (address, 53))
    yield bound(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 853))
    yield bound(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 80))
    group = bound(socket.AF_INET, socket.SOCK_DGRAM, ("0.0.0.0", 5353))
    group.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
        socket.inet_aton(GROUP) + socket.inet_aton("127.0.0.1"))
    yield group


def unix_sockets(port):
    for name, kind in (("stream", socket.SOCK_STREAM), ("seqpacket", socket.SOCK_SEQPACKET),
        ("dgram", socket.SOCK_DGRAM)):
        for address in (os.path.join(HERE, name), "\0escapes-%s-%d" % (name, port)):
            s = socket.socket(socket.AF_UNIX, kind)
            s.bind(address)
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


# --- the day's work ---------------------------------------------------------------------------------------

class Door:
    """All that can be called, until the last who came has been written down."""

    def __init__(self, sockets, calls):
        self.listening = sockets
        self.waiting = list(sockets)
        self.calls = calls
        for s in sockets:
            s.setblocking(False)

    def note(self, message):
        for name in names_in(message):
            print(name, file=self.calls)

    def datagram(self, s):
        message, sender = s.recvfrom(4096)
        if s.family == socket.AF_UNIX or s.getsockname()[0] != ALLOWED:
            self.note(message)
        reply = answer(message) if s.family != socket.AF_UNIX else None
        if reply and s.getsockname()[1] == 53:
            s.sendto(reply, sender)

    def stream(self, s):
        message = s.recv(4096)
        if not message:
            self.waiting.remove(s)
            s.close()
            return
        if s.family == socket.AF_UNIX or s.getsockname()[0] != ALLOWED:
            self.note(message)
        if message[:4] == b"GET ":
            s.send(b"HTTP/1.0 200 OK\r\n\r\n")
            self.waiting.remove(s)
            s.close()
        elif s.family != socket.AF_UNIX:
            s.send(b"".join(struct.pack(">H", len(r)) + r for r in map(answer, questions(message)) if r))

    def serve(self, timeout=None):
        """False: nobody was there."""
        ready = select.select(self.waiting, [], [], timeout)[0]
        for s in ready:
            try:
                if s.type == socket.SOCK_DGRAM:
                    self.datagram(s)
                elif s in self.listening:
                    self.waiting.append(s.accept()[0])
                else:
                    self.stream(s)
            except OSError:
                if s not in self.listening and s in self.waiting:
                    self.waiting.remove(s)
                    s.close()
        return bool(ready)


class Ended(Exception):
    pass


def ended(*_):
    raise Ended


def main():
    os.chdir(HERE)
    port, sockets = tcp_and_udp()
    sockets += unix_sockets(port)
    if ALONE:
        sockets += name_servers()
        sockets.append(bound(socket.AF_INET, socket.SOCK_DGRAM, (ALLOWED, port)))
    for s in sockets:
        if s.type != socket.SOCK_DGRAM:
            s.listen(256)
    libc = ctypes.CDLL(None)
    segment, semaphores, queue = libc.shmget(port, 4096, 0o1600), libc.semget(port, 1, 0o1600), \
        libc.msgget(port, 0o1600)
    master, terminal = os.openpty()
    shared = "/dev/shm/escape-%d" % port
    with open(shared, "w") as f:
        f.write("shared")
    if not os.path.islink(os.path.dirname(KEY) + "/link"):
        os.symlink("/srv/vault", os.path.dirname(KEY) + "/link")
    os.setxattr(KEY, "user.escape", b"secret")
    pid = neighbour()
    signal.signal(signal.SIGTERM, ended)
    with open("env.new", "w") as f:
        print("ESCAPE_PORT=%d\nESCAPE_PID=%d\nESCAPE_PTS=%s" % (port, pid, os.ttyname(terminal)), file=f)
        print("ESCAPE_IPC='%d %d %d'" % (segment, semaphores, queue), file=f)
    os.rename("env.new", "env")
    door = Door(sockets, open("calls", "a", buffering=1))
    try:
        while True:
            door.serve()
    except Ended:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end = time.monotonic() + 3
        while door.serve(0.05) and time.monotonic() < end:
            pass
    finally:
        os.unlink(shared)
        libc.shmctl(segment, 0, None)
        libc.semctl(semaphores, 0, 0)
        libc.msgctl(queue, 0, None)


main()
