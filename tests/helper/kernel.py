"""The supervisor's ring: what it saw, beside what the processes say."""

import collections
import subprocess

from session import *


def counts(s):
    return s.result("session/info")["counts"]


def calls(s, op="read"):
    return [(r["via"], r["target"], r["detail"]) for r in s.records(op)]


@test
def starts_without_its_due():
    def tell(s, **how):
        s.send_start(**how)
        p = s.packet()
        expect(p and p["type"] == "error" and s.wait() not in (0, -11, -7), "%r: %r" % (how, p))
        expect(not os.path.exists(s.runtime) and not os.path.exists(s.state), "something is left")
        return p["text"]

    def full():
        return Session(level="full")

    for nonce in (None, "", "00", "0" * 31, "0" * 33, "0" * 34, "x" * 32, 7):
        s = full()
        expect("nonce" in tell(s, message=s.message(nonce=nonce)), "nonce %r" % nonce)
    null = os.open("/dev/null", os.O_RDWR)
    size = RING_SIZE
    bad = [null, ring_memory(seals=0), memory(size=size), memory(b"x" * 4096), ring_memory(size=size - 4096),
           ring_memory(size=size + 4096), ring_memory(version=2)]
    bad += [ring_memory(seals=SEALS & ~seal) for seal in (fcntl.F_SEAL_GROW, fcntl.F_SEAL_SHRINK, fcntl.F_SEAL_SEAL)]
    for i, ring in enumerate(bad):
        expect("supervisor's ring" in tell(full(), kernel=ring), "supervisor's ring %d" % i)
        for level in "full", "hooks":
            expect("session's ring" in tell(Session(level=level), ring=ring), "ring %d" % i)
    expect("ring" in tell(Session(level="full"), message=None, fds=0), "no bundle")
    for fds in (2, 3, 8):
        expect(tell(full(), fds=fds), "%d descriptors" % (fds + 1))
    for fd in bad:
        os.close(fd)


@test
def told_by_the_supervisor():
    s = Session(level="full").start()
    k, n = s.kernel_ring(), s.ring()
    k.decide("/srv/seen")
    k.decide("/etc/a", verdict=DENY, note="around")
    k.decide("/opt/new", op="exec", note="floor")
    k.decide("example.org:443", op="connect", note="name")
    k.decide("cdn.example:443", op="connect", exe="93.184.216.34")
    k.decide("cdn.example:443", op="connect", exe="93.184.216.34")
    k.decide("cdn.example:443", op="connect", exe="[2606:2800:0:0:0:0:0:1]")
    k.decide("odd.example:443", op="connect", exe="no address; id=0000")
    n.decide("hook.example:443", op="connect", exe="93.184.216.34")
    n.decide("/srv/seen")
    expect(s.finish() == 0, "ended %r" % s.status)
    expect(sorted(via for via, target, _ in calls(s) if target == "/srv/seen") == ["hook", "kernel"], "%r" % calls(s))
    for op, words in (("read", "went around the hooks"), ("exec", "newer than the session"), ("connect", "claimed")):
        told = [r for r in s.records(op) if words in r["detail"]]
        expect(len(told) == 1 and told[0]["via"] == "kernel" and told[0]["level"] == "full", "%s: %r" % (op, told))
    # where a name led, of those who can know it: a record for each address
    led = [(r["target"], r["count"], r["detail"].partition(" addr=")[2]) for r in s.records("connect")]
    expect(sorted(x for x in led if x[2]) == [("cdn.example:443", 1, "93.184.216.34"),
                                              ("cdn.example:443", 1, "93.184.216.34"),
                                              ("cdn.example:443", 1, "[2606:2800:0:0:0:0:0:1]")], "%r" % led)
    expect(not any("0000" in r["detail"].split()[1:] for r in s.records("connect")), "%r" % led)
    expect(s.bye["denied"] == 1 and s.bye["lost"] == 0, "%r" % s.bye)
    s.expect_whole()


@test
def no_process_says_what_the_supervisor_says():
    for level in ("hooks", "full"):
        s = Session(level=level).start()
        n = s.ring()
        for note in NOTES:
            n.decide("/etc/" + note, verdict=DENY, note=note, id=0x215AB3C)
            n.attach("/bin/" + note, note=note, pid=1)
        s.finish()
        expect(len(s.records("read")) == len(NOTES), "not all are read")
        # nor does it choose an id where a supervisor is that gives them
        own = "id=0215ab3c" if level == "hooks" else ""
        expect(all(r["via"] == "hook" and r["detail"] == own for r in s.records("read")), "%r" % calls(s))
        expect(s.records("attach") == [], "a claim is an attach record")
        expect("static=0" in s.records()[-1]["detail"] and "around=0" in s.records()[-1]["detail"], "counted")
        s.close()


@test
def what_hooks_tell_of_has_the_supervisors_id():
    """A denial that was told to the supervisor is a claim, but for its id; the reason that was said is recorded."""
    s = Session(level="full").start()
    k, n = s.kernel_ring(), s.ring()
    for claim in (4, 1):
        k.write(claim, "/etc/told", verdict=DENY, op=OP["read"], id=0x10 + claim, why="a reason\n")
    # the same kind in the ring that everybody writes, the same deed under another id, and without a reason
    n.write(4, "/etc/told", verdict=DENY, op=OP["read"], id=0x99, why="a reason\n")
    k.write(4, "/etc/told", verdict=DENY, op=OP["read"], id=0x15, why="another")
    k.write(4, "/etc/told", verdict=DENY, op=OP["read"], id=0x15, why="another")
    k.write(1, "/etc/told", op=OP["read"], verdict=ALLOW)
    s.finish()
    told = sorted((r["via"], r["verdict"], r["detail"], r["rule"].partition(": ")[2]) for r in s.records("read"))
    expect(told == [("hook", "deny", "", "a reason\\\\x0a"), ("hook", "deny", "id=00000014", "a reason\\\\x0a"),
                    ("hook", "deny", "id=00000015", "another"), ("hook", "deny", "id=00000015", "another"),
                    ("kernel", "allow", "", ""), ("kernel", "deny", "id=00000011", "a reason\\\\x0a")], "%r" % told)
    s.expect_whole()


@test
def in_the_order_of_their_times():
    s = Session(level="full").start()
    k, n, base = s.kernel_ring(), s.ring(), time.time_ns() - 10**9
    with Stopped(s):
        for i in range(200):
            (n if i % 3 else k).decide("/etc/%d" % i, verdict=DENY, when=base + i)
    s.finish()
    expect([r["target"] for r in s.records("read")] == ["/etc/%d" % i for i in range(200)], "another order")
    s.expect_whole()


@test
def claimed_times_hold_nobody_back():
    for when in (0, 1, M64):
        s = Session(level="full").start()
        k, n = s.kernel_ring(), s.ring()
        with Stopped(s):
            for i in range(2000):
                n.decide("/etc/%d" % i, verdict=DENY, when=when)
            k.decide("/etc/seen", verdict=DENY)
        s.finish()
        place = [r["target"] for r in s.records("read")].index("/etc/seen")
        expect(place <= 256, "behind %d claims of the time %d" % (place, when))
        expect(len(s.records("read")) == 2001, "lost")
        s.close()


@test
def alike_but_not_the_same():
    """Repeats are folded, but never the one kind into the other."""
    s = Session(level="full").start()
    k, n = s.kernel_ring(), s.ring()
    with Stopped(s):
        for _ in range(50):
            k.decide("/srv/x", pid=os.getpid())
            n.decide("/srv/x", pid=os.getpid())
            k.decide("/srv/x", pid=os.getpid(), note="name")
    s.finish()
    told = sorted((r["via"], "claimed" in r["detail"], r["count"]) for r in s.records("read"))
    expect(told == [("hook", False, 1), ("hook", False, 49), ("kernel", False, 1), ("kernel", False, 49),
                    ("kernel", True, 1), ("kernel", True, 49)], "%r" % told)


@test
def what_runs_without_hooks():
    s = Session(level="full").start()
    k, n = s.kernel_ring(), s.ring()
    with Stopped(s):
        for i in range(30):
            k.attach("/opt/static", note="static", pid=100000 + i)
        k.attach("/opt/go", note="static", pid=100100)
        k.attach("/opt/bare", note="dynamic", pid=100101)
        for i in range(4):
            n.attach("/bin/sh", pid=100200 + i)
        k.decide("/srv/a")
        k.decide("/srv/b", verdict=DENY)
        k.decide("/srv/c", verdict=DENY, note="around")
        for _ in range(5):
            n.decide("/srv/d")
        n.decide("/srv/e", verdict=DENY)
    until(lambda: counts(s)["calls"]["hook"] == 6, "not counted")
    expect(counts(s) == {"processes": {"hooked": 4, "kernel_only": 1, "static": 31}, "calls": {"hook": 6, "kernel": 3},
                         "denied": {"hook": 1, "kernel": 2}, "around": 1,
                         "approvals": {"asked": 0, "approved": 0, "denied": 0, "expired": 0}}, "%r" % counts(s))
    s.finish()
    told = collections.Counter()
    for r in s.records("attach"):
        told[r["target"], r["detail"]] += r["count"]
    expect(told == {("/opt/static", "static program"): 30, ("/opt/go", "static program"): 1,
                    ("/opt/bare", "not hooked"): 1}, "%r" % told)
    expect(all(r["via"] == "kernel" and r["op"] == "attach" for r in s.records("attach")), "via")
    end = s.records()[-1]["detail"]
    expect("hooked=4 kernel-only=1 static=31; calls: hook=6 kernel=3; denied: hook=1 kernel=2 around=1" in end, end)


@test
def approvals_are_counted():
    s = Session(level="full", timeout="1s").start()
    for i, decision in enumerate(("approved", "denied", "approved")):
        w = s.ask(argv=["ask-me", str(i)])
        s.respond(s.card(), decision)
        s.answer(w)
    expect(s.question(argv=["ask-me", "late"]).reason == "timeout", "no timeout")
    got = counts(s)["approvals"]
    expect(got == {"asked": 4, "approved": 2, "denied": 1, "expired": 1}, "%r" % got)


@test
def the_program_is_not_the_processs_word():
    s = Session(level="full").start()
    k, n = s.kernel_ring(), s.ring()
    with subprocess.Popen(["sleep", "60"]) as child:
        real = os.readlink("/proc/%d/exe" % child.pid)
        for i in range(3):
            n.attach("/usr/bin/git", pid=child.pid)
            time.sleep(0.05)
            k.decide("/etc/%d" % i, verdict=DENY, pid=child.pid)
            n.decide("/etc/%d" % i, verdict=DENY, pid=child.pid)
            until(lambda: counts(s)["calls"]["hook"] == i + 1, "not read")
        child.kill()
    # Nobody can look at this one any more: it is told by its own word, and that is told.
    gone = subprocess.Popen(["true"])
    gone.wait()
    n.attach("/usr/bin/dead", pid=gone.pid)
    time.sleep(0.05)
    k.decide("/etc/dead", verdict=DENY, pid=gone.pid)
    s.finish()
    for i in range(3):
        told = {r["via"]: r["exe"] for r in s.records("read") if r["target"] == "/etc/%d" % i}
        expect(told == {"kernel": real, "hook": "/usr/bin/git"}, "%r" % told)
    dead = [r for r in s.records("read") if r["target"] == "/etc/dead"][0]
    expect(dead["exe"] == "/usr/bin/dead" and "exe claimed" in dead["detail"], "%r" % dead)


@test
def who_executed_it_is_not_what_runs():
    """A program without hooks says nothing: it must not go by its parent's name."""
    s = Session(level="full").start()
    k, n, dead = s.kernel_ring(), s.ring(), subprocess.Popen(["true"])
    dead.wait()
    with Stopped(s):
        n.attach("/bin/bash", pid=dead.pid)
        n.decide("static x", op="exec", pid=dead.pid)
        k.decide("/etc/static", verdict=DENY, pid=dead.pid)
    s.finish()
    expect([(r["exe"], r["via"]) for r in s.records("exec")] == [("/bin/bash", "hook")], "%r" % s.records("exec"))
    expect([r["exe"] for r in s.records("read")] == [""], "%r" % s.records("read"))


@test
def a_process_counts_once():
    s = Session(level="full").start()
    n, k = s.ring(), s.kernel_ring()
    with Stopped(s):
        for exe in ("/bin/bash", "/bin/cat"):
            n.attach(exe, pid=200001)
            n.decide("x", op="exec", pid=200001)
            k.attach(exe, pid=200002, note="static")
    s.finish()
    expect("hooked=1 kernel-only=0 static=1;" in s.records()[-1]["detail"], s.records()[-1]["detail"])


@test
def a_writer_that_died():
    """The launcher is killed in the middle of a record: what is whole is kept, the session ends."""
    s = Session(level="full").start()
    k = s.kernel_ring()
    k.decide("/srv/whole")
    head = k.u64(64)
    struct.pack_into("<Q", k.map, 64, head + 3)
    s.fd.close()
    expect(s.wait() == 0, "ended %r" % s.status)
    expect([t for _, t, _ in calls(s)] == ["/srv/whole"], "%r" % calls(s))
    last = s.records()[-1]
    expect(last["op"] == "session/end" and last["detail"].startswith("pale run died") and "lost=1" in last["detail"],
           "%r" % last)
    expect(not os.path.exists(s.runtime), "the runtime directory is left behind")
    s.expect_whole()


@test
def callers_that_are_dead_when_it_is_written():
    """The supervisor's records carry the pid of who called: that one's death loses nothing."""
    s = Session(level="full").start()
    k = s.kernel_ring()
    dead = subprocess.Popen(["true"])
    dead.wait()
    head = k.u64(64)
    struct.pack_into("<Q", k.map, 64, head + 2)
    at = RING_HEAD + head % RING_SLOTS * RING_SLOT
    struct.pack_into("<Q", k.map, at, 1 | 2 << 2 | (dead.pid & 0x7FFFFF) << 9 | (head & 0xFFFFFFFF) << 32)
    time.sleep(0.3)
    struct.pack_into("<Q", k.map, 64, head)
    struct.pack_into("<Q", k.map, at, 0)
    k.decide("/srv/late", pid=dead.pid)
    s.finish()
    expect([t for _, t, _ in calls(s)] == ["/srv/late"] and s.bye["lost"] == 0, "%r %r" % (calls(s), s.bye))


@test
def the_first_record():
    for level in ("hooks", "full", "strict"):
        s = Session(level=level)
        s.send_start(message=s.message(facts="Linux 6.18, Landlock ABI 7", not_enforced="this and that"))
        expect(s.packet() == {"type": "ready"}, "not ready")
        info = s.result("session/info")
        expect((info["level"], info["facts"]) == (level, "Linux 6.18, Landlock ABI 7"), "%r" % info)
        s.finish()
        first = s.records()[0]
        for words in ("level=" + level, "Landlock ABI 7", "not enforced: this and that"):
            expect(words in first["detail"], first["detail"])
        expect({r["level"] for r in s.records()} == {level}, "level of the records")
        s.close()


main()
