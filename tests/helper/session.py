"""A session of pale-helper driven from outside: this process plays the launcher, the operator and
the processes of the session.  It speaks the four protocols that the helper has: the launcher's
packets, the questions of policy/wire.h, the operator's JSON-RPC and the ring of policy/ring.h.

Each scenario file prints `ok NAME` or `not ok NAME` for each test and ends 1 if one failed.
"""

import array
import ctypes
import fcntl
import json
import mmap
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

STAGE = os.environ["T_STAGE"]
HELPER = os.environ.get("T_HELPER", STAGE + "/libexec/pale/pale-helper")
PALE = STAGE + "/bin/pale"
SCRATCH = os.environ["T_SCRATCH"]
LIBC = ctypes.CDLL(None, use_errno=True)

WAIT_S = 10
ASK, ALLOW, DENY = 0x5AD6DB1, 0x52A2925 ^ 0xFFFFFFF, 0
OP = {"read": 1, "write": 2, "exec": 14, "connect": 15, "attach": 19}
REASONS = {21: "never", 22: "nobody", 23: "timeout", 24: "human", 25: "repeated"}
STRINGS = ("path", "given", "raw", "ident", "cwd", "git_branch", "host")

# Everything is asked that a test asks for; the timeout is a test's own matter.
POLICY = "[session]\napprovals = ask\ntimeout = %s\n[commands]\nask = ask-me\ndeny = deny-me\n"


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(what, text):
    if not what:
        raise Failed(text)


def prctl(option, *args):
    if LIBC.prctl(option, *(ctypes.c_ulong(a) for a in args)) < 0:
        raise OSError(ctypes.get_errno(), "prctl")


# --- questions --------------------------------------------------------------------------------------


def put_str(s):
    raw = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<I", len(raw) + 1) + raw + b"\0"


def ask_frame(op="exec", argv=("ask-me",), magic=0x454C4150, version=4, kind=1, flags=0, **texts):
    """A question as policy/wire.h packs it."""
    if op == "exec":
        texts.setdefault("path", "/opt/bin/" + (argv[0] if argv else "none"))
        texts.setdefault("cwd", "/srv")
    else:
        argv = ()
    for i, name in enumerate(STRINGS):
        flags |= (1 << i) if name in texts else 0
    body = struct.pack("<IHHIIIIHHH", magic, version, kind, flags, os.getpid(), 0xFFFFFFFF, 0, OP.get(op, op), 1, 0)
    for name in STRINGS:
        body += put_str(texts[name]) if name in texts else b""
    body += struct.pack("<I", len(argv))
    return body + b"".join(put_str(a) for a in argv)


def frame_head(kind, magic=0x454C4150, version=4):
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
        expect((magic, version, kind) == (0x454C4150, 4, 2), "no answer frame: %r" % frame[:16])
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


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    s.settimeout(WAIT_S)
    return s


def receive(s):
    """One packet, b"" when the other side hung up."""
    try:
        return s.recv(1 << 17)
    except ConnectionResetError:
        return b""


def send_with_fds(s, data, fds):
    s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


# --- processes outside of every session -----------------------------------------------------------------

"""The tests play the launcher, and neither that nor what descends from it may be the operator.  So main() splits:
the tests go on in a child, and the parent starts a process of its own for each line of an operator."""

outside_ctl = None


def outside_request(**what):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(30)
    what.update(uid=os.geteuid(), gid=os.getegid())
    send_with_fds(outside_ctl, json.dumps(what).encode(), [theirs.fileno()])
    theirs.close()
    return ours


def outside(fn, *args):
    """What a function of this file, by its name, returns in a clean process."""
    ours = outside_request(run=fn.__name__, args=args)
    got = json.loads(receive(ours) or b'{"failed": "it ended without a word"}')
    ours.close()
    expect("failed" not in got, got.get("failed"))
    return got["result"]


def lent(path):
    """A connection that a clean process made and gave away."""
    ours = outside_request(lend=path)
    _, anc, _, _ = ours.recvmsg(16, socket.CMSG_SPACE(4))
    got = socket.socket(fileno=array.array("i", anc[0][2])[0])
    got.settimeout(WAIT_S)
    return got


def pump(a, b):
    p = select.poll()
    p.register(a, select.POLLIN)
    p.register(b, select.POLLIN)
    while True:
        for fd, _ in p.poll():
            source, to = (a, b) if fd == a.fileno() else (b, a)
            data = receive(source)
            if not data:
                return
            try:
                to.send(data)
            except OSError:
                # What the other side said before it went shall still be heard.
                if to is b and (last := receive(b)):
                    a.send(last)
                return


def outside_serve(what, line):
    if os.geteuid() == 0 and what["uid"] != 0:
        os.setgroups([])
        os.setresgid(*[what["gid"]] * 3)
        os.setresuid(*[what["uid"]] * 3)
    if "run" in what:
        try:
            got = {"result": getattr(sys.modules["__main__"], what["run"])(*what["args"])}
        except BaseException as e:
            got = {"failed": "%s: %s" % (type(e).__name__, e)}
        line.send(json.dumps(got).encode())
        return
    try:
        s = connect(what.get("line") or what["lend"])
    except OSError as e:
        line.send(b"%d" % e.errno)
        return
    if "lend" in what:
        send_with_fds(line, b"x", [s.fileno()])
        receive(line)
        return
    line.send(b"0")
    s.settimeout(None)
    pump(line, s)


def outside_start():
    """Returns in the child."""
    global outside_ctl
    sys.stdout.flush()
    outside_ctl, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    tests_pid = os.fork()
    if tests_pid == 0:
        theirs.close()
        return
    outside_ctl.close()
    p = select.poll()
    p.register(os.pidfd_open(tests_pid), select.POLLIN)
    p.register(theirs, select.POLLIN)
    children = set()
    while all(fd == theirs.fileno() for fd, _ in p.poll()):
        data, anc, _, _ = theirs.recvmsg(1 << 16, socket.CMSG_SPACE(4))
        if not data:
            break
        pid = os.fork()
        if pid == 0:
            theirs.close()
            try:
                line = socket.socket(fileno=array.array("i", anc[0][2])[0])
                outside_serve(json.loads(data), line)
            finally:
                os._exit(0)
        os.close(array.array("i", anc[0][2])[0])
        children.add(pid)
        children = {c for c in children if not os.waitpid(c, os.WNOHANG)[0]}
    _, status = os.waitpid(tests_pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 255)


# --- the ring ---------------------------------------------------------------------------------------

RING_SLOTS, RING_SLOT, RING_HEAD = 1 << 17, 64, 320
M64 = (1 << 64) - 1


def sum_add(total, data):
    factor = 0x9E3779B97F4A7C15 + 2 * len(data)
    while len(data) >= 8:
        total += (int.from_bytes(data[:8], "little") ^ 0xA0761D6478BD642F) * factor & M64
        data, factor = data[8:], factor + 0x632BE59BD9B4E01A
    w = len(data)
    for byte in data:
        w = (w << 8 | byte) & M64
    total = total + ((w ^ 0xA0761D6478BD642F) & M64) * (factor & M64) & M64
    return total ^ total >> 29


NOTES = ("none", "around", "dynamic", "static", "name", "floor")


class Ring:
    """A writer of policy/ring.h; one at a time."""

    def __init__(self, fd):
        self.map = mmap.mmap(fd, 0)

    def u64(self, at):
        return struct.unpack_from("<Q", self.map, at)[0]

    def decide(self, target, verdict=ALLOW, op="read", **more):
        self.write(1, target, verdict=verdict, op=OP[op], **more)

    def attach(self, exe, **more):
        self.write(2, "", op=OP["attach"], exe=exe, **more)

    def write(self, kind, target, verdict=0, op=0, approval=b"", exe="", note="none", image=0, pid=None, when=None):
        target, exe, pid = target.encode(), exe.encode(), pid or os.getpid()
        head = self.u64(64)
        tail = struct.pack("<IIIiiQIHHBBBBBBBx", 0xFFFFFFFF, 0, verdict, pid, os.getppid(),
                           time.time_ns() if when is None else when, 0, len(target), len(exe), len(approval), kind, op,
                           5, 1, image, NOTES.index(note))
        total = sum_add(sum_add(1, tail), target)
        for text in (exe, approval):
            total = sum_add(total, text) if text else total
        entry = struct.pack("<I", (total ^ total >> 32) & 0xFFFFFFFF) + tail
        entry += target + b"\0" + exe + b"\0" + approval + b"\0"
        slots = (8 + len(entry) + RING_SLOT - 1) // RING_SLOT
        at = RING_HEAD + head % RING_SLOTS * RING_SLOT
        struct.pack_into("<Q", self.map, 64, head + slots)
        self.map[at + 8 : at + 8 + len(entry)] = entry
        tag = 2 | slots << 2 | (pid & 0x7FFFFF) << 9 | (head & 0xFFFFFFFF) << 32
        struct.pack_into("<Q", self.map, at, tag)


SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def memory(content=b"", size=None, seals=SEALS):
    """A file without a name: its descriptor."""
    fd = os.memfd_create("memory", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, content)
    os.ftruncate(fd, len(content) if size is None else size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def kernel_ring(size=None, version=5, **how):
    """What the launcher makes for the supervisor."""
    return memory(struct.pack("<QII", 0x31474E4952454C50, version, RING_SLOTS), size or ring_size(), **how)


size_of_ring = []


def ring_size():
    """As the helper makes it."""
    if not size_of_ring:
        s = Session().start()
        size_of_ring.append(os.path.getsize(s.runtime + "/ring"))
        s.finish()
    return size_of_ring[0]


# --- the session ------------------------------------------------------------------------------------

count = 0


class Session:
    """A helper of this test's own.  `before` runs in the child before the exec."""

    def __init__(self, policy=POLICY, timeout="60s", prefix=(), before=None, argv=("pale-helper", "session"), env=None,
                 root=None, state_root=None, program=HELPER, stderr=None, level="hooks", foreign=False):
        global count
        self.level, self.nonce, self.kernel_fd = level, os.urandom(16), -1
        if level != "hooks":
            self.kernel_fd = kernel_ring()
        count += 1
        self.id = "s%d-%d" % (os.getpid(), count)
        root = root or SCRATCH
        # A helper of another user says itself where the session is.
        self.foreign = foreign
        self.runtime = root + "/r/" + self.id
        self.state = (state_root or root) + "/st/" + self.id
        for d in map(os.path.dirname, () if foreign else (self.runtime, self.state)):
            os.makedirs(d, 0o700, exist_ok=True)
        self.policy = policy % timeout if "%s" in policy else policy
        self.bye = self.status = None
        self.told = []  # asked and answered
        self.asked = []
        self.fd, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.fd.settimeout(WAIT_S)
        self.pid = os.fork()
        if self.pid == 0:
            self.become(theirs, prefix, before, argv, env, program, stderr)
        theirs.close()
        running.append(self)

    def become(self, theirs, prefix, before, argv, env, program, stderr):
        try:
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(stderr if fd == 2 and stderr is not None else null, fd)
            os.dup2(theirs.fileno(), 3)
            os.set_inheritable(3, True)
            os.closerange(4, 256)
            # Python's own; a shell starts its children without.
            for sig in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(sig, signal.SIG_DFL)
            if before:
                before()
            if prefix:
                os.execve(prefix[0], list(prefix) + [program, "session"], env or {})
            os.execve(program, list(argv), env or {})
        finally:
            os._exit(99)

    # The launcher's packets.

    def bundle(self, **more):
        # Layer 2 is the user's own file.
        b = {"home": "/home/nobody", "workspace": "/srv", "cwd": "/srv", "agent": "test", "session": self.id,
             "danger": False, "allow_sensitive": False, "allow_denylisted": False, "allow_unhooked": False,
             "no_prompt": False, "self_write": [], "self_hide": [], "reals": [], "idents": [],
             "sources": [[2, "/policy.ini", self.policy]]}
        b.update(more)
        return json.dumps(b).encode()

    def message(self, **more):
        m = {"type": "start", "version": 4, "reach": ["terminal"], "session": self.id, "runtime_dir": self.runtime, "state_dir": self.state,
             "agent": "test", "level": self.level, "argv": ["test"], "not_enforced": "nothing", "facts": "a machine", "limits": ""}
        if self.level != "hooks":
            m["nonce"] = self.nonce.hex()
        m.update(more)
        return {k: v for k, v in m.items() if v is not None}

    def send_start(self, message=None, bundle=None, fds=1, ring=None):
        fd = os.memfd_create("bundle")
        os.write(fd, bundle if bundle is not None else self.bundle())
        data = message if isinstance(message, bytes) else json.dumps(message or self.message()).encode()
        passed = [fd] * fds
        if self.level != "hooks":
            passed.append(self.kernel_fd if ring is None else ring)
        if passed:
            send_with_fds(self.fd, data, passed)
        else:
            self.fd.send(data)
        os.close(fd)

    def packet(self):
        """The next message to the launcher, what it is told of questions aside."""
        while True:
            raw = receive(self.fd)
            p = json.loads(raw) if raw else None
            if not p or p.get("type") not in ("asked", "answered"):
                return p
            self.told.append(p)

    def start(self, reach=None, **bundle):
        self.send_start(None if reach is None else self.message(reach=reach), bundle=self.bundle(**bundle))
        first = self.packet()
        expect(first and first["type"] == "ready", "not ready: %r" % first)
        expect(self.foreign == ("runtime_dir" in first), "whose directories? %r" % first)
        self.runtime = first.get("runtime_dir", self.runtime)
        self.state = first.get("state_dir", self.state)
        return self

    def tell(self, **message):
        self.fd.send(json.dumps(message).encode())

    def finish(self, status="exit 0"):
        """The session's orderly end; the helper's exit code."""
        self.tell(type="exit", status=status)
        while True:
            p = self.packet()
            if p is None or p.get("type") == "bye":
                break
        self.bye = p
        return self.wait()

    def wait(self, seconds=WAIT_S):
        """The wait status as subprocess has it: an exit code, or minus the signal."""
        end = time.monotonic() + seconds
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                raise Failed("the helper does not end")
            else:
                time.sleep(0.002)
        return self.status

    def close(self):
        self.fd.close()
        if self.kernel_fd >= 0:
            os.close(self.kernel_fd)
            self.kernel_fd = -1
        if self.status is None:
            try:
                self.wait(3)
            except Failed:
                os.kill(self.pid, signal.SIGKILL)
                self.wait()
        for d in (self.runtime, self.state):
            shutil.rmtree(d, ignore_errors=True)

    # The session's processes.

    def ask(self, frame=None, pid=None, **question):
        """Asks and does not wait: the connection.  Above level hooks as the supervisor does, for pid."""
        s = connect(self.runtime + "/agent.sock")
        if self.level != "hooks":
            s.send(behalf_frame(self.nonce, pid or os.getpid()))
        s.send(frame if frame is not None else ask_frame(**question))
        return s

    def ask_paced(self, **question):
        """As ask(), no more than nine in a second."""
        while len(self.asked) >= 9 and self.asked[-9] > time.monotonic() - 1.05:
            time.sleep(0.02)
        self.asked.append(time.monotonic())
        return self.ask(**question)

    def ask_many(self, n):
        return [self.ask_paced(argv=["ask-me", str(i)]) for i in range(n)]

    def answer(self, s):
        got = Answer(receive(s))
        s.close()
        return got

    def question(self, **question):
        return self.answer(self.ask(**question))

    def ring(self):
        with open(self.runtime + "/ring", "r+b") as f:
            return Ring(f.fileno())

    def kernel_ring(self):
        """The supervisor's."""
        return Ring(self.kernel_fd)

    # The operator.

    def operator(self):
        line = outside_request(line=self.runtime + "/control.sock")
        failed = int(receive(line) or 111)
        if failed:
            raise OSError(failed, os.strerror(failed))
        line.settimeout(WAIT_S)
        return line

    def call(self, method, on=None, **params):
        """The whole reply."""
        s = on or self.operator()
        s.send(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode() + b"\n")
        raw = receive(s)
        if not on:
            s.close()
        return json.loads(raw) if raw else None

    def result(self, method, **params):
        reply = self.call(method, **params)
        expect(reply and "result" in reply, "%s: %r" % (method, reply))
        return reply["result"]

    def cards(self, state="pending"):
        return [c for c in self.result("approval/list")["approvals"] if c["state"] == state]

    def card(self, n=1, state="pending"):
        """The newest card, once there are n of them."""
        until(lambda: len(self.cards(state)) >= n, "no question appears")
        return self.cards(state)[-1]

    def read_whole(self, card, on):
        """Reads the whole card on that line: what an answer must say, or the error."""
        at = 0
        while True:
            reply = self.call("approval/show", on=on, id=card["id"], offset=at)
            if not reply or "error" in reply:
                return reply
            piece = reply["result"]
            at = piece["next"]
            if at >= piece["size"]:
                return {"nonce": piece["nonce"], "digest": piece["digest"]}

    def respond(self, card, decision="approved", on=None, **more):
        line = on or self.operator()
        answer = self.read_whole(card, line)
        reply = answer if not answer or "error" in answer else self.call("approval/respond", on=line, id=card["id"],
                                                           decision=decision, **{**answer, **more})
        if not on:
            line.close()
        return reply

    # What is on the disk.

    def ledger_path(self):
        return self.state + "/ledger.jsonl"

    def records(self, op=None):
        """All but the checkpoints, or those of an operation."""
        with open(self.ledger_path(), "rb") as f:
            whole = f.read().split(b"\n")[:-1]
        all_ = [json.loads(line) for line in whole]
        return [r for r in all_ if r["op"] == op or (op is None and r["op"] != "checkpoint")]

    def verify(self):
        """What `pale log verify` says of the file."""
        p = subprocess.run([PALE, "log", "verify", "--json", self.ledger_path()], capture_output=True)
        return json.loads(p.stdout)[0]

    def expect_whole(self):
        v = self.verify()
        expect(v["ok"], "log verify: %r" % v)


def until(what, text, seconds=WAIT_S):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise Failed(text)
        time.sleep(0.01)


def is_quiet(s, seconds=0.15):
    return not select.select([s], [], [], seconds)[0]


def in_child(body):
    """Runs body in a forked child and returns the JSON value it gives back."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(w, json.dumps(body()).encode())
        except BaseException as e:
            os.write(w, json.dumps("raised %r" % e).encode())
        os._exit(0)
    os.close(w)
    data = b""
    while chunk := os.read(r, 65536):
        data += chunk
    os.close(r)
    os.waitpid(pid, 0)
    return json.loads(data) if data else None


# --- running ----------------------------------------------------------------------------------------

running = []
tests = []


def test(fn):
    tests.append(fn)
    return fn


def main():
    outside_start()
    failed, slow = 0, bool(os.environ.get("T_TIMES"))
    chosen = sys.argv[1:]
    for fn in tests:
        if chosen and fn.__name__ not in chosen:
            continue
        began = time.monotonic()
        try:
            fn()
            print("ok", fn.__name__, *(["%.2f s" % (time.monotonic() - began)] if slow else []))
        except Skipped as e:
            print("ok", fn.__name__, "# skip:", e)
        except Exception as e:
            failed += 1
            print("not ok", fn.__name__ + ":", e)
            if not isinstance(e, Failed):
                traceback.print_exc(file=sys.stdout)
        finally:
            while running:
                running.pop().close()
            sys.stdout.flush()
    sys.exit(1 if failed else 0)
