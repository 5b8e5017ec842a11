"""What is on the disk, and when: the order of writes, errors, and a kill at any system call."""

import collections
import re
import resource
import subprocess

from session import *

STRACE = shutil.which("strace")
# How many kills a run affords; more with T_KILLS=1000.
KILLS = int(os.environ.get("T_KILLS", "70"))


def traced(*options):
    if not STRACE:
        raise Skipped("strace is not installed")
    return (STRACE, "-qq", "-f", "-o", SCRATCH + "/trace") + options


def calls():
    """(name, first argument, whole line) of each traced call, in order."""
    out = []
    with open(SCRATCH + "/trace", errors="replace") as f:
        for line in f:
            m = re.match(r"\d+ +(\w+)\((\d*)", line)
            if m:
                out.append((m.group(1), m.group(2), line))
    return out


@test
def durable_before_anyone_is_told():
    s = Session(prefix=traced("-e", "trace=write,fdatasync,fsync,sendto,recvmsg")).start()
    w = s.ask(argv=["ask-me", "a"])
    card = s.card()
    s.respond(card)
    expect(s.answer(w).allowed, "not allowed")
    w = s.ask(argv=["ask-me", "b"])
    s.respond(s.card(), "denied")
    expect(not s.answer(w).allowed, "allowed")
    s.finish()
    s.wait()
    trace = calls()
    ledgers = {fd for name, fd, _ in trace if name in ("fdatasync", "fsync")}
    expect(len(ledgers) == 1, "synced descriptors %r" % ledgers)
    ledger = ledgers.pop()
    dirty, synced, answers = True, 0, 0
    for name, fd, line in trace:
        if name == "write" and fd == ledger:
            dirty = True
        elif name in ("fdatasync", "fsync"):
            expect(line.rstrip().endswith("= 0"), line)
            dirty, synced = False, synced + 1
        elif name == "sendto" and not synced:
            dirty = False  # ready: the session's first record may still be on its way
        elif name == "sendto" and fd != "3":
            answers += 1
            expect(not dirty, "told before it was on the disk: " + line)
    expect(synced >= 4 and answers >= 4, "%d syncs, %d answers" % (synced, answers))


class Story:
    """What was seen from outside, to be held against what is on the disk."""

    def __init__(self, s):
        self.s = s
        self.cards, self.decided, self.allowed = set(), [], []

    def ask(self, decision, scope="once", **question):
        w = self.s.ask(**question)
        card = None
        until(lambda: self.s.cards() or not is_quiet(w, 0), "neither card nor answer", 3)
        for card in self.s.cards():
            self.cards.add(card["id"])
        if card:
            reply = self.s.respond(card, decision, scope=scope)
            if reply and "result" in reply:
                self.decided.append((card["id"], "allow" if decision == "approved" else "deny"))
            elif is_quiet(w, 0.02):
                w.close()
                return
        self.got(self.s.answer(w))

    def got(self, a):
        if a.allowed:
            self.allowed.append(a.approval)

    def tell(self):
        s = self.s
        s.send_start()
        if (s.packet() or {}).get("type") != "ready":
            return
        ring = s.ring()
        for i in range(40):
            ring.decide("/srv/%d" % i)
        self.ask("approved", argv=["ask-me", "a"])
        self.ask("denied", argv=["ask-me", "b"])
        self.got(s.question(argv=["ask-me", "b"]))
        for i in range(40):
            ring.decide("/etc/%d" % i, verdict=DENY)
        self.ask("approved", "session", argv=["ask-me", "c"])
        self.got(s.question(argv=["ask-me", "c"]))
        w = s.ask(argv=["ask-me", "d"])
        self.cards.update(c["id"] for c in s.cards())
        w.close()
        s.result("turn/begin")
        s.finish()

    def run(self):
        try:
            self.tell()
        except (Failed, OSError, TypeError):
            pass
        self.s.wait(5)

    def check(self, what):
        s = self.s
        if not os.path.exists(s.ledger_path()):
            expect(not self.cards and not self.allowed, what + ": seen without a ledger")
            return
        v = s.verify()
        expect(not v["why"] or v["records"] == 0, "%s: log verify: %r" % (what, v))
        requests = {r["approval"] for r in s.records("approval/request")}
        decisions = [(r["approval"], r["verdict"]) for r in s.records("approval/decision")]
        expect(self.cards <= requests, what + ": shown before it was on the disk")
        # A denial holds even where it cannot be written: nothing is done by it.
        expect(all(d in decisions for d in self.decided if d[1] == "allow"), what + ": approved and not on the disk")
        made = {r["approval"] for r in s.records("grant/made")}
        count = collections.Counter(self.allowed)
        for approval, n in count.items():
            expect((approval, "allow") in decisions or approval in made,
                   what + ": allowed without a decision on the disk")
            expect(n == 1 or approval in made, what + ": allowed twice by one approval")
        expect(len(set(decisions)) == len({a for a, _ in decisions}), what + ": decided twice")
        outcomes = [r["approval"] for r in s.records("approval/outcome")]
        expect(len(outcomes) == len(set(outcomes)), what + ": two outcomes")
        expect({(a, "allow") for a in outcomes} <= set(decisions), what + ": an outcome of what nobody approved")


def story(what, *options):
    s = Session(prefix=traced(*options))
    st = Story(s)
    st.run()
    st.check(what)
    s.close()
    return st


@test
def killed_at_any_call():
    whole = story("undisturbed")
    expect(len(whole.decided) == 3 and len(whole.allowed) == 3, "the story goes otherwise: %r" % whole.allowed)
    trace = calls()
    ready = next(i for i, c in enumerate(trace) if c[0] == "sendto")
    before = collections.Counter(c[0] for c in trace[:ready])
    total = collections.Counter(c[0] for c in trace)
    points = []
    for name in sorted(total):
        last, first = total[name], before[name] + 1
        points += [(name, n) for n in {first, (first + last) // 2, last} if n >= first]
        if name in ("write", "fdatasync", "sendto", "recvmsg", "ftruncate", "unlinkat", "poll", "accept4"):
            points += [(name, n) for n in range(first, last)]
        if before[name]:
            points.append((name, before[name]))
    points = sorted(set(points))
    step = max(1, -(-len(points) // KILLS))
    died = 0
    for name, n in points[::step]:
        s = Session(prefix=traced("-e", "trace=" + name, "-e", "inject=%s:signal=KILL:when=%d" % (name, n)))
        st = Story(s)
        st.run()
        died += s.status == -9
        st.check("killed at %s %d" % (name, n))
        s.close()
    expect(died > len(points[::step]) // 2, "only %d of %d were killed" % (died, len(points[::step])))


@test
def errors_of_the_disk():
    for call, error in (("fdatasync", "EIO"), ("write", "ENOSPC"), ("write", "EIO"), ("write", "EROFS")):
        for n in range(1, 7):
            what = "%s %s from the %d." % (call, error, n)
            st = story(what, "-e", "trace=" + call, "-e", "inject=%s:error=%s:when=%d+" % (call, error, n))
            expect(st.s.status in (0, 1), "%s: ended %r" % (what, st.s.status))


@test
def one_error_passes():
    """A decision that could not be written may be given again, and counts once."""
    seen = 0
    for n in range(1, 8):
        s = Session(prefix=traced("-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=%d" % n)).start()
        w = s.ask(argv=["ask-me", "a"])
        until(lambda: s.cards() or not is_quiet(w, 0), "neither card nor answer")
        card = s.cards()
        if card:
            reply = s.respond(card[0])
            if "error" in reply:
                seen += 1
                expect("ledger" in reply["error"]["message"], "%r" % reply)
                expect(is_quiet(w), "allowed by a decision that is not on the disk")
                until(lambda: "result" in s.respond(card[0]), "cannot be approved again", 5)
        a = s.answer(w)
        expect(a.allowed if card else a.reason == "nobody", "%d: %r" % (n, a))
        s.finish()
        v = s.verify()
        expect(not v["why"], "%d: %r" % (n, v))
        s.close()
    expect(seen > 0, "no decision met the error")


@test
def full_disk():
    full = SCRATCH + "/full"
    if not os.environ.get("T_FULL"):
        raise Skipped("a small file system needs root")
    s = Session(state_root=full).start()
    ring = s.ring()
    w = s.ask(argv=["ask-me", "before"])
    card = s.card()
    filler = os.open(full + "/filler", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(filler, b"x" * 512)
    except OSError:
        os.close(filler)
    for i in range(3000):
        ring.decide("/srv/%d" % i, verdict=DENY)
    warned = s.packet()
    expect(warned["type"] == "warn" and "No space" in warned["text"], "%r" % warned)
    a = s.question(argv=["ask-me", "full"])
    expect(not a.allowed and a.reason == "nobody" and "ledger" in a.text, "answer %r" % a)
    expect("error" in s.respond(card) and is_quiet(w), "approved without a record")
    expect(s.result("session/info")["ledger_ok"] is False, "session/info says that all is well")
    os.unlink(full + "/filler")
    until(lambda: "result" in s.respond(card), "no recovery", 5)
    expect(s.answer(w).allowed, "not allowed")
    s.finish()
    lost = [r for r in s.records("loss") if "could not be written" in r["detail"]]
    expect(lost and sum(r["count"] for r in lost) >= 2, "losses %r" % lost)
    s.expect_whole()
    told = s.records()
    expect([r["seq"] for r in told] == list(range(1, len(told) + 1)), "sequence")



@test
def full_disk_to_the_end():
    """What was kept free is there for the last records: the ledger says what is missing, and ends."""
    full = SCRATCH + "/full"
    if not os.environ.get("T_FULL"):
        raise Skipped("a small file system needs root")
    s = Session(state_root=full).start()
    ring = s.ring()
    filler = os.open(full + "/filler", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(filler, b"x" * 512)
    except OSError:
        os.close(filler)
    for i in range(3000):
        ring.decide("/srv/%d" % i, verdict=DENY)
    expect(s.packet()["type"] == "warn", "no warning")
    s.finish()
    told = s.records()
    expect(told[-1]["op"] == "session/end" and told[-2]["op"] == "loss", "%r" % told[-2:])
    expect(told[-2]["count"] + len(told) >= 3000, "%r" % told[-2])
    s.expect_whole()
    os.unlink(full + "/filler")


@test
def no_longer_files():
    """A limit on files in the place of the disk's."""
    s = Session().start()
    ring = s.ring()
    size = os.path.getsize(s.ledger_path())
    resource.prlimit(s.pid, resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
    for i in range(50):
        ring.decide("/srv/%d" % i, verdict=DENY)
    warned = s.packet()
    expect(warned["type"] == "warn" and "too large" in warned["text"], "%r" % warned)
    a = s.question(argv=["ask-me", "x"])
    expect(not a.allowed and a.reason == "nobody", "%r" % a)
    resource.prlimit(s.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    time.sleep(1.2)
    s.finish()
    lost = [r for r in s.records("loss") if "could not be written" in r["detail"]]
    expect(sum(r["count"] for r in lost) >= 50, "%r" % lost)
    s.expect_whole()


def parts(s):
    return sorted(n for n in os.listdir(s.state) if n.startswith("ledger.") and n != "ledger.jsonl")


@test
def set_aside_when_full():
    s = Session()
    s.send_start(message=s.message(ledger_size=1 << 16))
    expect(s.packet() == {"type": "ready"}, "not ready")
    ring = s.ring()
    for i in range(900):
        ring.decide("/srv/%d" % i, verdict=DENY)
    until(lambda: [n for n in parts(s) if n.endswith(".gz")], "nothing is compressed")
    s.finish()
    v = s.verify()
    expect(v["ok"] and v["records"] > 900 and v["checkpoints"] >= 4, "%r" % v)
    made = parts(s)
    expect(len(made) >= 4 and not [n for n in made if n.endswith(".new")], "%r" % made)
    expect("ledger.reserve" not in os.listdir(s.state), "what was kept free is still there")
    first = next(n for n in made if n.startswith("ledger.1."))
    second = next(n for n in made if n.startswith("ledger.2."))
    os.rename(s.state + "/" + first, s.state + "/away")
    v = s.verify()
    expect(not v["ok"] and "missing" in v["why"], "without its first part: %r" % v)
    os.rename(s.state + "/away", s.state + "/" + first)
    os.rename(s.state + "/" + second, s.state + "/away")
    v = s.verify()
    expect(not v["ok"] and "missing" in v["why"], "without its second part: %r" % v)
    os.rename(s.state + "/away", s.state + "/" + second)
    expect(s.verify()["ok"], "put back")
    gz = next(n for n in made if n.endswith(".gz"))
    with open(s.state + "/" + gz, "r+b") as f:
        whole = bytearray(f.read())
        for at in range(20, len(whole), len(whole) // 40):
            whole[at] ^= 1
            f.seek(0)
            f.write(whole)
            f.flush()
            expect(not s.verify()["ok"], "a flipped bit at %d of %s" % (at, gz))
            whole[at] ^= 1


@test
def followed_over_the_edge():
    """Who reads along loses nothing when a file is set aside, nor does who comes later."""
    s = Session()
    os.makedirs(SCRATCH + "/xdg/pale", exist_ok=True)
    os.symlink(os.path.dirname(s.state), SCRATCH + "/xdg/pale/sessions")
    log = [PALE, "log", "--all", "--since", "1h", "--json", "--session", s.id]
    env = dict(os.environ, XDG_STATE_HOME=SCRATCH + "/xdg")
    s.send_start(message=s.message(ledger_size=1 << 16))
    expect(s.packet() == {"type": "ready"}, "not ready")
    with open(SCRATCH + "/followed", "w") as out:
        p = subprocess.Popen(log + ["--follow"], env=env, stdout=out)
    try:
        ring = s.ring()
        for i in range(900):
            ring.decide("/srv/%d" % i, verdict=DENY)
            time.sleep(0.001)
        s.finish()
        want = s.verify()["records"]
        later = subprocess.run(log, env=env, capture_output=True, text=True).stdout.splitlines()
        followed = lambda: open(SCRATCH + "/followed").read().splitlines()
        until(lambda: len(followed()) >= want, "only %d of %d" % (len(followed()), want), 5)
        for lines in (later, followed()):
            expect([json.loads(line)["seq"] for line in lines] == list(range(1, want + 1)),
                "%d of %d" % (len(lines), want))
        expect(len(parts(s)) >= 4, "%r" % parts(s))
    finally:
        p.kill()
        p.wait()
        os.unlink(SCRATCH + "/xdg/pale/sessions")


@test
def old_ledgers_go():
    """Those of sessions that ended long ago; nothing else, and nowhere else."""
    s = Session()
    base = os.path.dirname(s.state)
    away = SCRATCH + "/away"
    for name in ("old", "held", "young", "more", "linked"):
        os.makedirs("%s/%s" % (base, name) if name != "linked" else away)
        top = base + "/" + name if name != "linked" else away
        for file in ("ledger.jsonl", "ledger.1.jsonl.gz", "session.json"):
            with open(top + "/" + file, "w") as f:
                f.write("{}\n")
            if name != "young":
                os.utime(top + "/" + file, (1, time.time() - 91 * 86400))
    os.symlink(away, base + "/linked")
    os.mkdir(base + "/not-ours")
    os.utime(base + "/not-ours", (1, 1))
    with open(base + "/more/keep-me", "w"):
        pass
    for name in ("old", "held", "more", "linked"):
        os.utime(base + "/" + name, (1, time.time() - 91 * 86400), follow_symlinks=False)
    held = os.open(base + "/held/ledger.jsonl", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    s.start()
    time.sleep(0.1)
    s.finish()
    os.close(held)
    expect(not os.path.exists(base + "/old"), "an old one is still there")
    for path in ("/held/ledger.jsonl", "/young/ledger.jsonl", "/more/keep-me", "/linked/ledger.jsonl", "/not-ours"):
        expect(os.path.exists(base + path), path + " is gone")
    told = s.records("ledger/removed")
    expect([r["target"] for r in told] == ["old"] and "91 days" in told[0]["detail"], "%r" % told)
    for name in ("held", "young", "more"):
        shutil.rmtree(base + "/" + name)
    os.unlink(base + "/linked")
    os.rmdir(base + "/not-ours")


main()
