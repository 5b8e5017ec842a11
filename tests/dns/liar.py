"""A name server that lies: liar.py DIR ADDRESS[/LIE]...

What it does to a question is in the first label of the name (a row in LIES below); every other name is
answered by TRUTH.  Serves UDP and TCP port 53 of each ADDRESS.  DIR/asked gets a line "PROTO NAME TYPE" for
each question, names in lower case; DIR/ready is made once it serves.  ADDRESS/LIE does that to every question.

What is a lie says EVIL, an address that nobody may be let to for it.
"""
import os
import random
import select
import socket
import struct
import sys
import time

TRUTH = socket.inet_aton("93.184.216.34")
EVIL = socket.inet_aton("93.184.66.6")
A, CNAME, OPT, HTTPS = 1, 5, 41, 65
QR, AA, TC, RD, RA = 0x8000, 0x0400, 0x0200, 0x0100, 0x0080
NOERROR, SERVFAIL, REFUSED = 0, 2, 5


def pack_name(text):
    return b"".join(bytes([len(l)]) + l.encode() for l in text.split(".") if l) + b"\0"


def record(owner, kind, data, ttl=60):
    return owner + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


class Question:
    def __init__(self, packet):
        self.id, self.flags = struct.unpack(">HH", packet[:4])
        labels, at = [], 12
        while packet[at]:
            labels.append(packet[at + 1:at + 1 + packet[at]].decode("latin-1"))
            at += 1 + packet[at]
        self.labels = labels
        self.name = ".".join(labels).lower()
        self.bytes = packet[12:at + 5]
        self.kind = struct.unpack(">H", packet[at + 1:at + 3])[0]
        self.packet = packet

    def answer(self, *records, flags=QR | RD | RA, rcode=NOERROR, id=None, question=None, counts=None, tail=b""):
        """An answer with these records; every part can be lied about."""
        id = self.id if id is None else id
        question = self.bytes if question is None else question
        an, ns, ar = counts or (len(records), 0, 0)
        head = struct.pack(">HHHHHH", id & 0xffff, flags | rcode, 1 if question else 0, an, ns, ar)
        return head + question + b"".join(records) + tail

    def address(self, addr, owner=b"\xc0\x0c", ttl=60):
        return record(owner, A, addr, ttl)

    def says(self, addr, **lies):
        if self.kind != A:
            return self.answer(**lies)
        return self.answer(self.address(addr), **lies)

    def truth(self):
        return self.says(TRUTH)


# --- one lie each: (server, question, where from) sends what it will ----------------------------------

def then_truth(lie):
    """First the lie, and a moment later the truth: who believes the first has lost."""
    def both(server, q, to):
        lie(server, q, to)
        server.later(0.15, lambda: server.send(q.truth(), to))
    return both


def wrong_id(server, q, to):
    for i in range(1, 20):
        server.send(q.says(EVIL, id=q.id + i), to)


def wrong_question(server, q, to):
    server.send(q.says(EVIL, question=pack_name("other.example") + q.bytes[-4:]), to)


def wrong_type(server, q, to):
    server.send(q.says(EVIL, question=q.bytes[:-4] + struct.pack(">HH", CNAME, 1)), to)


def wrong_class(server, q, to):
    server.send(q.says(EVIL, question=q.bytes[:-2] + struct.pack(">H", 3)), to)


def wrong_case(server, q, to):
    if to[0] == "udp":
        server.send(q.says(EVIL, question=q.bytes.swapcase()), to)


def lower_case(server, q, to):
    """No lie: there are servers that do not keep the spelling."""
    server.send(q.says(TRUTH, question=q.bytes.lower()), to)


def no_question(server, q, to):
    server.send(q.says(EVIL, question=b""), to)


def no_response(server, q, to):
    server.send(q.says(EVIL, flags=RD), to)


def from_elsewhere(addr, port, q, to):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind((addr, port))
        s.sendto(q.says(EVIL), to[1:])


def other_port(server, q, to):
    from_elsewhere(server.addr, 0, q, to)


def other_address(server, q, to):
    from_elsewhere("127.77.66.66", 53, q, to)


def garbage(server, q, to):
    rnd = random.Random(7)
    for n in (0, 1, 11, 12, 13, 40, 512, 4000) if to[0] == "udp" else ():
        server.send(struct.pack(">H", q.id)[:n] + rnd.randbytes(max(0, n - 2)), to)


def flood(server, q, to):
    for i in range(3000 if to[0] == "udp" else 0):
        server.send(q.says(EVIL, id=random.getrandbits(16) & ~1 | ~q.id & 1), to)


def oversize(server, q, to):
    """More than anybody asked for in a datagram; a stream tells the truth."""
    server.send(q.truth() if to[0] == "tcp" else q.answer(*[q.address(EVIL)] * 4000), to)


def loop(server, q, to):
    server.send(q.answer(tail=b"\xc0\x1e" + q.bytes[-4:] + b"\0\0\0\x3c\0\4" + EVIL, counts=(1, 0, 0),
                         question=b"\xc0\x0c" + q.bytes[-4:]), to)
    at = 12 + len(q.bytes)
    server.send(q.answer(record(struct.pack(">H", 0xc000 | at), A, EVIL)), to)
    server.send(q.answer(record(struct.pack(">HH", 0xc000 | at + 2, 0xc000 | at), A, EVIL)), to)


def forward(server, q, to):
    server.send(q.answer(record(b"\xff\xff", A, EVIL)), to)


def counts(server, q, to):
    server.send(q.answer(q.address(EVIL), counts=(65535, 65535, 65535)), to)


def short_address(server, q, to):
    server.send(q.answer(record(b"\xc0\x0c", A, EVIL[:3])), to)


def unasked(server, q, to):
    """A true answer, with somebody else's address in every section."""
    other = record(pack_name("victim.example"), A, EVIL)
    truth = [q.address(TRUTH)] if q.kind == A else []
    server.send(q.answer(*truth, other, other, other, counts=(len(truth) + 1, 1, 1)), to)


def cname_loop(server, q, to):
    one, two = pack_name("one.example"), pack_name("two.example")
    server.send(q.answer(record(b"\xc0\x0c", CNAME, one), record(one, CNAME, two), record(two, CNAME, one)), to)


def cname_self(server, q, to):
    server.send(q.answer(record(b"\xc0\x0c", CNAME, q.bytes[:-4])), to)


def cname_apart(server, q, to):
    """An alias, and an address of a name that the alias does not lead to."""
    server.send(q.answer(record(b"\xc0\x0c", CNAME, pack_name("one.example")),
                         record(pack_name("two.example"), A, EVIL)), to)


def thousands(server, q, to):
    if to[0] == "udp":
        return server.send(q.answer(flags=QR | TC), to)
    server.send(q.answer(*[q.address(struct.pack(">I", 0x5db90000 + i)) for i in range(4000)]), to)


def tc_for_ever(server, q, to):
    server.send(q.answer(flags=QR | RD | RA | TC), to)


def tc_then(lie):
    """Truncated by UDP, the lie by TCP."""
    def both(server, q, to):
        if to[0] == "udp":
            server.send(q.answer(flags=QR | RD | RA | TC), to)
        else:
            lie(server, q, to)
    return both


def tcp_close(server, q, to):
    server.raw(struct.pack(">H", 200) + q.says(EVIL)[:20], to)
    server.hang_up(to)


def tcp_zero(server, q, to):
    server.raw(b"\0\0" * 50, to)
    server.later(0.2, lambda: server.hang_up(to))


def tcp_long(server, q, to):
    server.raw(b"\xff\xff" + q.says(EVIL), to)


def tcp_stall(server, q, to):
    server.raw(b"\0", to)


def tcp_wrong_id(server, q, to):
    server.send(q.says(EVIL, id=q.id + 1), to)
    server.later(0.2, lambda: server.hang_up(to))


def tcp_garbage(server, q, to):
    rnd = random.Random(9)
    server.raw(rnd.randbytes(3000), to)
    server.later(0.2, lambda: server.hang_up(to))


def silent(server, q, to):
    pass


def late(server, q, to):
    server.later(10, lambda: server.send(q.says(EVIL), to))


def slow(server, q, to):
    server.later(1.0, lambda: server.send(q.truth(), to))


def failing(server, q, to):
    server.send(q.answer(rcode=SERVFAIL), to)


def refusing(server, q, to):
    server.send(q.answer(rcode=REFUSED), to)


def inside(text):
    """An answer that is true, and leads to where no public name may lead."""
    def lie(server, q, to):
        server.send(q.says(socket.inet_aton(text)), to)
    return lie


LIES = {
    # The truth comes too, and must be what arrives.
    "wrong-id": then_truth(wrong_id),
    "wrong-question": then_truth(wrong_question),
    "wrong-type": then_truth(wrong_type),
    "wrong-class": then_truth(wrong_class),
    "wrong-case": then_truth(wrong_case),
    "no-question": then_truth(no_question),
    "no-response": then_truth(no_response),
    "other-port": then_truth(other_port),
    "other-address": then_truth(other_address),
    "garbage": then_truth(garbage),
    "flood": then_truth(flood),
    "unasked": unasked,
    "lower-case": lower_case,
    "slow": slow,
    # It does not: nobody may hang, and nothing of it may be believed.
    "oversize": oversize,
    "loop": loop,
    "forward": forward,
    "counts": counts,
    "short-address": short_address,
    "cname-loop": cname_loop,
    "cname-self": cname_self,
    "cname-apart": cname_apart,
    "thousands": thousands,
    "tc-for-ever": tc_for_ever,
    "tcp-close": tc_then(tcp_close),
    "tcp-zero": tc_then(tcp_zero),
    "tcp-long": tc_then(tcp_long),
    "tcp-stall": tc_then(tcp_stall),
    "tcp-wrong-id": tc_then(tcp_wrong_id),
    "tcp-garbage": tc_then(tcp_garbage),
    "silent": silent,
    "late": late,
    "failing": failing,
    "refusing": refusing,
    "to-loopback": inside("127.0.0.1"),
    "to-private": inside("10.1.2.3"),
    "to-metadata": inside("169.254.169.254"),
}


class Server:
    """One address: its two doors."""

    def __init__(self, world, text):
        addr, _, always = text.partition("/")
        self.world, self.addr, self.always = world, addr, always
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.tcp = socket.socket()
        for s in (self.udp, self.tcp):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((addr, 53))
            s.setblocking(False)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.tcp.listen(512)

    def later(self, seconds, what):
        self.world.timers.append((time.monotonic() + seconds, what))

    def raw(self, data, to):
        try:
            to[1].sendall(data)
        except OSError:
            pass

    def send(self, message, to):
        if to[0] == "tcp":
            return self.raw(struct.pack(">H", len(message)) + message, to)
        try:
            self.udp.sendto(message, to[1:])
        except OSError:
            pass

    def hang_up(self, to):
        if to[0] == "tcp":
            try:
                to[1].shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def judge(self, packet, to):
        try:
            q = Question(packet)
        except (IndexError, struct.error):
            return
        self.world.log.write("%s %s %d\n" % (to[0], q.name, q.kind))
        lie = LIES.get(self.always or q.name.split(".")[0])
        if lie:
            lie(self, q, to)
        else:
            self.send(q.truth(), to)


class World:
    def __init__(self, place, addrs):
        self.timers, self.streams = [], {}
        self.log = open(place + "/asked", "w", buffering=1)
        self.servers = [Server(self, a) for a in addrs]
        open(place + "/ready", "w").close()

    def fire(self):
        now = time.monotonic()
        due = [t for t in self.timers if t[0] <= now]
        self.timers = [t for t in self.timers if t[0] > now]
        for _, what in due:
            what()
        return min([t[0] for t in self.timers] + [now + 1]) - now

    def take(self, stream):
        server, have = self.streams[stream]
        try:
            data = stream.recv(65536)
        except OSError:
            data = b""
        have += data
        while len(have) >= 2 and len(have) >= 2 + struct.unpack(">H", have[:2])[0]:
            n = 2 + struct.unpack(">H", have[:2])[0]
            server.judge(have[2:n], ("tcp", stream))
            have = have[n:]
        self.streams[stream] = (server, have)
        if not data:
            del self.streams[stream]
            stream.close()

    def serve(self):
        doors = {s.udp: s for s in self.servers} | {s.tcp: s for s in self.servers}
        while True:
            wait = self.fire()
            for s in select.select(list(doors) + list(self.streams), [], [], max(0, wait))[0]:
                if s in self.streams:
                    self.take(s)
                elif s is doors[s].tcp:
                    stream, _ = s.accept()
                    self.streams[stream] = (doors[s], b"")
                else:
                    for _ in range(64):
                        try:
                            packet, peer = s.recvfrom(65535)
                        except OSError:
                            break
                        doors[s].judge(packet, ("udp",) + peer)


if __name__ == "__main__":
    World(sys.argv[1], sys.argv[2:]).serve()
