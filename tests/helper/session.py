"""A session of pale-helper driven from outside: this process plays the launcher, the operator and
the processes of the session.  It speaks the four protocols that the helper has: the launcher's
packets, the questions of policy/wire/wire.h, the operator's JSON-RPC and the ring of policy/wire/ring.h.

Each scenario file prints `ok NAME` or `not ok NAME` for each test and ends 1 if one failed.
"""

from bundles import encode
from outside import *
from questions import *
from rings import *


def ring_memory(size=RING_SIZE, version=8, **how):
    """What the launcher makes, for the session and for the supervisor."""
    return memory(struct.pack("<QII", 0x31474E4952454C50, version, RING_SLOTS), size, **how)


# --- the session ------------------------------------------------------------------------------------

count = 0


class Session:
    """A helper of this test's own.  `before` runs in the child before the exec."""

    def __init__(self, policy=POLICY, timeout="60s", prefix=(), before=None, argv=("pale-helper", "session"), env=None,
                 root=None, state_root=None, program=HELPER, stderr=None, level="hooks", foreign=False, first=()):
        global count
        self.level, self.nonce, self.ring_fd, self.kernel_fd = level, os.urandom(16), ring_memory(), -1
        self.environment = {e.partition("=")[0]: variable_print(e) for e in first}
        if level != "hooks":
            self.kernel_fd = ring_memory()
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

    def members(self, **more):
        """What a bundle says; layer 2 is the user's own file."""
        b = {"home": "/home/nobody", "workspace": "/srv", "cwd": "/srv", "agent": "test", "session": self.id,
             "danger": False, "allow_sensitive": False, "allow_denylisted": False, "allow_unhooked": False,
             "no_prompt": False, "self_write": [], "self_hide": [], "reals": [], "idents": [],
             "sources": [[2, "/policy.ini", self.policy]]}
        b.update(more)
        return b

    def bundle(self, **more):
        return encode(self.members(**more))

    def message(self, **more):
        m = {"type": "start", "version": 10, "environment": self.environment, "reach": ["terminal"],
            "session": self.id, "runtime_dir": self.runtime, "state_dir": self.state,
             "agent": "test", "level": self.level, "argv": ["test"], "not_enforced": "nothing",
             "facts": "a machine", "limits": ""}
        if self.level != "hooks":
            m["nonce"] = self.nonce.hex()
        m.update(more)
        return {k: v for k, v in m.items() if v is not None}

    def send_start(self, message=None, bundle=None, fds=1, ring=None, kernel=None):
        fd = os.memfd_create("bundle")
        os.write(fd, bundle if bundle is not None else self.bundle())
        data = message if isinstance(message, bytes) else json.dumps(message or self.message()).encode()
        passed = [fd] * fds + [self.ring_fd if ring is None else ring]
        if self.level != "hooks":
            passed.append(self.kernel_fd if kernel is None else kernel)
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
        for fd in (self.ring_fd, self.kernel_fd):
            if fd >= 0:
                os.close(fd)
        self.ring_fd = self.kernel_fd = -1
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
        """As ask(), no more than nine in a second by the helper's clock: of when it has read them."""
        while len(self.asked) >= 9 and self.asked[-9] > time.monotonic() - 1.05:
            time.sleep(0.02)
        s = self.ask(**question)
        until(lambda: was_read(s), "the helper does not read")
        self.asked.append(time.monotonic())
        return s

    def ask_many(self, n):
        return [self.ask_paced(argv=["ask-me", str(i)]) for i in range(n)]

    def answer(self, s):
        got = Answer(receive(s))
        s.close()
        return got

    def question(self, **question):
        return self.answer(self.ask(**question))

    def ring(self):
        return Ring(self.ring_fd)

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
        reply = self.call("approval/show", on=on, id=card["id"])
        return reply if not reply or "error" in reply else {"digest": card_digest(reply["result"])}

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


def variable_print(entry):
    """What the launcher tells of a variable of the session's first environment."""
    return hashlib.sha256(b"pale-variable-1\0" + struct.pack("<I", len(entry)) + entry.encode()).hexdigest()[:32]


def was_read(s):
    """Nothing that was sent on this unix socket waits at its other end."""
    return struct.unpack("i", fcntl.ioctl(s, termios.TIOCOUTQ, bytes(4)))[0] == 0


class Stopped:
    """The helper stands still, so that what is written meanwhile is there at once."""

    def __init__(self, s):
        self.s = s

    def __enter__(self):
        os.kill(self.s.pid, signal.SIGSTOP)

    def __exit__(self, *_):
        os.kill(self.s.pid, signal.SIGCONT)


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
