"""The questions of policy/wire/wire.h and their answers."""

from basics import *


def put_str(s):
    raw = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<I", len(raw) + 1) + raw + b"\0"


def ask_frame(op="exec", argv=("ask-me",), magic=0x454C4150, version=8, kind=1, flags=0, env=None, **texts):
    """A question as policy/wire/wire.h packs it."""
    if op == "exec":
        texts.setdefault("path", "/opt/bin/" + (argv[0] if argv else "none"))
        texts.setdefault("cwd", "/srv")
    else:
        argv = ()
    for i, name in enumerate(STRINGS):
        flags |= (1 << i) if name in texts else 0
    flags |= 0x8000 if env is not None else 0
    body = struct.pack("<IHHIIIIHHH", magic, version, kind, flags, os.getpid(), 0xFFFFFFFF, 0, OP.get(op, op), 1, 0)
    for name in STRINGS:
        body += put_str(texts[name]) if name in texts else b""
    body += struct.pack("<I", len(argv)) + b"".join(put_str(a) for a in argv)
    return body if env is None else body + struct.pack("<I", len(env)) + b"".join(put_str(e) for e in env)


def frame_head(kind, magic=0x454C4150, version=8):
    return struct.pack("<IHH", magic, version, kind)


def behalf_frame(nonce, pid, **head):
    """Whose the connection is, as the supervisor says it."""
    return frame_head(5, **head) + nonce + struct.pack("<i", pid)


class Answer:
    def __init__(self, frame):
        self.hung_up = not frame
        self.allowed = False
        self.reason = self.text = self.approval = ""
        if not frame:
            return
        magic, version, kind, verdict, reason = struct.unpack_from("<IHHIH", frame)
        expect((magic, version, kind) == (0x454C4150, 8, 2), "no answer frame: %r" % frame[:16])
        expect(verdict in (ALLOW, DENY), "verdict %x" % verdict)
        self.allowed = verdict == ALLOW
        self.reason = REASONS.get(reason, str(reason))
        at = 14
        texts = []
        for _ in range(2):
            (n,) = struct.unpack_from("<I", frame, at)
            texts.append(frame[at + 4 : at + 4 + n - 1].decode())
            at += 4 + n
        self.text, self.approval = texts
        expect(at == len(frame), "bytes behind the answer")

    def __repr__(self):
        return "hung up" if self.hung_up else "%s %s %r" % (self.allowed, self.reason, self.text)
