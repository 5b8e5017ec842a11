"""How it starts, whatever it inherits, and how it ends, however that comes."""

import ctypes
import platform
import re
import resource
import signal

from session import *

RT_SIGACTION = 13 if platform.machine() == "x86_64" else 134


def works(s):
    """A whole session: asked, approved, ended; the exit code."""
    w = s.ask(argv=["ask-me", "a"])
    s.respond(s.card())
    expect(s.answer(w).allowed, "not allowed")
    code = s.finish()
    expect(code == 0, "ended %r" % code)
    s.expect_whole()
    expect(not os.path.exists(s.runtime), "the runtime directory is left behind")


def limits(s, name):
    with open("/proc/%d/limits" % s.pid) as f:
        return next(line for line in f if line.startswith(name))[26:].split()[:2]


def status(s, name):
    with open("/proc/%d/status" % s.pid) as f:
        return next(line for line in f if line.startswith(name + ":")).split(":")[1].split()


# --- starts -------------------------------------------------------------------------------------------


@test
def closed_descriptors():
    for subset in range(8):

        def before():
            for fd in range(3):
                if subset & 1 << fd:
                    os.close(fd)

        works(Session(before=before).start())


@test
def no_session_on_three():
    def closed():
        os.close(3)

    def regular():
        fd = os.memfd_create("x")
        os.dup2(fd, 3)

    def stream():
        a, _ = socket.socketpair()
        os.dup2(a.fileno(), 3)

    for before in (closed, regular, stream):
        expect(Session(before=before).wait() == 2, "it runs without a session")


@test
def inherited_descriptors_are_closed():
    fifo = SCRATCH + "/fifo"
    os.mkfifo(fifo)
    r = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    def before():
        os.dup2(os.open(fifo, os.O_WRONLY), 77, inheritable=True)

    s = Session(before=before).start()
    expect(os.read(r, 1) == b"", "a descriptor of the starter's is still open")
    os.close(r)
    works(s)


@test
def signals_ignored_and_blocked():
    def before():
        for sig in range(1, 65):
            try:
                signal.signal(sig, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        # libc refuses to touch the two it uses itself; they are inherited all the same.
        ignore = (ctypes.c_ulong * 8)(1)
        for sig in 32, 33:
            ctypes.CDLL(None).syscall(RT_SIGACTION, sig, ignore, None, 8)
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))

    s = Session(before=before).start()
    # SIGPIPE, SIGXCPU, SIGXFSZ; nothing else of what was inherited.
    expect(int(status(s, "SigIgn")[0], 16) == 1 << 12 | 1 << 23 | 1 << 24, "ignored %s" % status(s, "SigIgn"))
    expect(int(status(s, "SigBlk")[0], 16) == 1 << 0 | 1 << 1 | 1 << 14, "blocked %s" % status(s, "SigBlk"))
    os.kill(s.pid, signal.SIGTERM)
    s.wait()
    expect("told to stop" in s.records()[-1]["detail"], "SIGTERM has no effect")


@test
def timers():
    def before():
        signal.setitimer(signal.ITIMER_REAL, 0.15)

    s = Session(before=before).start()
    time.sleep(0.3)
    works(s)


@test
def umask_and_working_directory():
    gone = SCRATCH + "/gone"
    for mask in (0, 0o777):

        def before():
            os.mkdir(gone)
            os.chdir(gone)
            os.rmdir(gone)
            os.umask(mask)

        s = Session(before=before).start()
        modes = {name: os.stat(path).st_mode & 0o7777 for name, path in
                 dict(state=s.state, runtime=s.runtime, ledger=s.ledger_path(),
                      image=s.runtime + "/image", agent=s.runtime + "/agent.sock",
                      control=s.runtime + "/control.sock").items()}
        expect(modes == dict(state=0o700, runtime=0o700, ledger=0o600, image=0o400, agent=0o600,
                             control=0o600), "umask %o: %r" % (mask, modes))
        works(s)


@test
def arguments():
    for argv in (None, (), ("",), ("pale-helper",), ("pale-helper", "sessions"), ("pale-helper", "session", "x"),
                 ("pale-helper", "session", "x" * 100000), ("x",) * 100000):

        def before():
            # By hand: python refuses what a hostile starter would not.
            words = [a.encode() for a in argv or ()] + [None]
            LIBC.execve(HELPER.encode(), (ctypes.c_char_p * len(words))(*words) if argv is not None else None, None)

        code = Session(before=before).wait()
        expect(code == 2, "arguments %.40r: ended %r" % (argv, code))


# A sanitizer's own runtime wants terabytes of addresses and files of its own before main() is there to refuse.
with open(HELPER, "rb") as f:
    SANITIZED = re.search(rb"__[at]san_init\0", f.read())


@test
def low_limits_are_refused():
    if SANITIZED:
        return
    for which, value in ((resource.RLIMIT_NOFILE, 63), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_FSIZE, 1 << 20),
                         (resource.RLIMIT_AS, 100 << 20), (resource.RLIMIT_DATA, 10 << 20),
                         (resource.RLIMIT_STACK, 400 << 10), (resource.RLIMIT_CPU, 10)):

        def before():
            resource.setrlimit(which, (value, value))

        r, w = os.pipe()
        code = Session(before=before, stderr=w).wait()
        os.close(w)
        said = os.read(r, 4096)
        os.close(r)
        expect(code == 125 and b"RLIMIT_" in said, "limit %d: ended %r saying %r" % (which, code, said))


@test
def low_soft_limits_are_raised():
    if SANITIZED:
        return

    def before():
        for which, value in ((resource.RLIMIT_NOFILE, 20), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CPU, 1)):
            resource.setrlimit(which, (value, resource.getrlimit(which)[1]))

    works(Session(before=before).start())


@test
def protected_process():
    s = Session().start()
    expect(limits(s, "Max core file size") == ["0", "0"], "core %r" % limits(s, "Max core file size"))
    if os.geteuid() != 0:
        expect(os.stat("/proc/%d/environ" % s.pid).st_uid == 0, "it can be dumped")
        expect(LIBC.ptrace(16, s.pid, 0, 0) < 0, "it can be traced")
    expect(os.getsid(s.pid) == s.pid, "it has our terminal")


# --- ends ---------------------------------------------------------------------------------------------


@test
def the_launcher_dies():
    s = Session().start()
    w = s.ask(argv=["ask-me", "a"])
    s.card()
    s.fd.close()
    a = s.answer(w)
    expect(not a.allowed and not a.hung_up, "answer %r" % a)
    expect(s.wait() == 0, "ended %r" % s.status)
    last = s.records()[-1]
    expect(last["op"] == "session/end" and last["detail"].startswith("pale run died"), "%r" % last)
    expect(len(s.records("approval/cancelled")) == 1, "the question is not told")
    expect(not os.path.exists(s.runtime), "the runtime directory is left behind")
    s.expect_whole()


@test
def the_launcher_dies_at_its_start():
    for send in (False, True):
        s = Session()
        if send:
            s.send_start()
        s.fd.close()
        s.wait()
        expect(not os.path.exists(s.runtime), "the runtime directory is left behind")
        if os.path.exists(s.ledger_path()):
            s.expect_whole()


@test
def told_to_stop():
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        s = Session().start()
        s.ring().decide("/srv/seen")
        w = s.ask(argv=["ask-me", "a"])
        s.card()
        os.kill(s.pid, sig)
        expect(not s.answer(w).allowed, "allowed")
        expect(s.packet()["type"] == "bye" and s.wait() == 0, "ended %r" % s.status)
        expect([r for r in s.records("read") if r["target"] == "/srv/seen"], "a record of the ring is lost")
        s.expect_whole()


@test
def killed():
    s = Session().start()
    w = s.ask(argv=["ask-me", "a"])
    s.card()
    os.kill(s.pid, signal.SIGKILL)
    expect(s.answer(w).hung_up, "answered")
    s.wait()
    v = s.verify()
    expect(not v["ok"] and not v["why"] and not v["ended"] and v["records"] >= 2, "log verify: %r" % v)


@test
def killed_soon_after():
    """What was allowed is in the file before the repeats of it could be counted, and who is killed then loses
    their count, which the launcher can tell."""
    s = Session(level="full").start()
    ring = s.ring()
    with Stopped(s):
        for i in range(50):
            ring.decide("/srv/%d" % i)
            ring.decide("/srv/0")
    until(lambda: len(s.records("read")) == 50, "not written", 1.5)
    expect(struct.unpack_from("<Q", s.kernel_ring().map, UNWRITTEN)[0] == 50, "the repeats are not counted")
    os.kill(s.pid, signal.SIGKILL)
    s.wait()
    expect([r["target"] for r in s.records("read")] == ["/srv/%d" % i for i in range(50)], "%r" % s.records("read"))


@test
def an_act_under_way():
    """A decision is told though its writer is killed in the act, or is long at it."""
    s = Session().start()
    ring = s.ring()
    dead = subprocess.Popen(["true"])
    dead.wait()
    ring.decide("/srv/dead", pid=dead.pid, state=RESERVED)
    ring.decide("/srv/slow", state=RESERVED)
    ring.decide("/srv/refused", state=VOID)
    ring.decide("/srv/behind")
    until(lambda: len(s.records("read")) == 3, "not written", 1.5)
    expect([r["target"] for r in s.records("read")] == ["/srv/dead", "/srv/slow", "/srv/behind"],
        "%r" % s.records("read"))
    s.finish()
    expect(s.bye["lost"] == 0, "%r" % s.bye)


# --- the ring -----------------------------------------------------------------------------------------


@test
def the_ring_is_read():
    s = Session().start()
    ring = s.ring()
    for i in range(300):
        ring.decide("/srv/%d" % i)
        ring.decide("/srv/same")
    ring.decide("/etc/x\n\x1b", verdict=DENY)
    s.finish()
    read = s.records("read")
    expect(len(read) == 303 and sum(r["count"] for r in read) == 601, "%d records" % len(read))
    expect(all(r["via"] == "hook" for r in read), "via")
    expect([r["target"] for r in read if r["verdict"] == "deny"] == ["/etc/x\\x0a\\x1b"], "the denial")
    expect(s.bye["denied"] == 1 and s.bye["lost"] == 0, "%r" % s.bye)
    s.expect_whole()


@test
def the_ring_has_no_path():
    s = Session().start()
    expect(sorted(os.listdir(s.runtime)) == ["agent.sock", "control.sock", "image"], "%r" % os.listdir(s.runtime))
    works(s)


@test
def a_new_process_gets_the_ring():
    """At level hooks the helper passes it: with the image, and as often as somebody asks."""
    s = Session().start()
    waiting = s.ask_many(20)
    for i in range(200):
        line = s.ask(frame=frame_head(3) + bytes(4))
        _, fds, _, _ = socket.recv_fds(line, 4096, 4)
        expect(len(fds) == 2 and os.fstat(fds[1]).st_ino == os.fstat(s.ring_fd).st_ino, "%r" % fds)
        Ring(fds[1]).decide("/srv/%d" % i)
        for fd in fds:
            os.close(fd)
        line.close()
    works(s)
    expect(len(s.records("read")) == 200, "%d records" % len(s.records("read")))


@test
def a_ring_of_nonsense():
    import random

    dice = random.Random(11)
    s = Session().start()
    ring = s.ring()
    for _ in range(60):
        for at in (64, 128, 192, RING_HEAD + dice.randrange(RING_SLOTS) * RING_SLOT):
            struct.pack_into("<Q", ring.map, at,
                dice.choice([0, 1, M64, 1 << 63, dice.getrandbits(64), dice.getrandbits(17)]))
        ring.map[RING_HEAD : RING_HEAD + 65536] = dice.randbytes(65536)
        time.sleep(0.002)
    works(s)
    expect(s.bye["tampered"] is True, "%r" % s.bye)


@test
def tampering_is_told():
    """What the session cannot write tells how much is lost, where there is a supervisor; each kind is told once."""
    for level in "hooks", "full":
        s = Session(level=level).start()
        ring = s.ring()
        expect(s.result("session/info")["tampered"] == "", "told before it is so")
        struct.pack_into("<Q", ring.map, 192, 1000)
        for _ in range(20):
            struct.pack_into("<Q", ring.map, 128, 1 << 40)
            struct.pack_into("<Q", ring.map, 0, 7)
            time.sleep(0.02)
        if level == "full":
            struct.pack_into("<Q", s.kernel_ring().map, 200, 3)
        until(lambda: s.result("session/info")["tampered"], "it is not told")
        s.finish()
        told = sorted(r["detail"] for r in s.records("session/tampered"))
        expect(told == ["the position of the helper", "the ring's magic number, version or size"], "%r" % told)
        lost = [r["count"] for r in s.records("loss")]
        expect(lost == [3 if level == "full" else 1000], "%s: %r" % (level, lost))
        expect(s.bye["tampered"] is True and s.verify()["tampered"] is True, "%r" % s.bye)
        with open(s.state + "/session.json") as f:
            expect("wrote over" in json.load(f)["tampered"], "not in session.json")
        s.expect_whole()


main()
