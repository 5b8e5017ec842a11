"""What one user may take of an installed helper, and what others find then.  Runs as root, as setuid.py."""

from users import *


@test
def sessions_of_one_user_are_bounded():
    """Those that say nothing count, too; another user has places of his own; a place comes back."""

    def fill():
        silent = [session() for _ in range(10)]
        time.sleep(0.5)
        said = [verdict_of(session()) for _ in range(25)]
        got = [said.count("ready"), sum("32 sessions" in t for t in said)]
        silent[0].fd.close()
        silent[0].wait(12)
        until(lambda: verdict_of(session()) == "ready", "no place comes back", 5)
        return got

    got = as_user(STARTER, fill)
    expect(got == [22, 3], "%r" % got)

    def fill_and_hold():
        held = [session() for _ in range(40)]
        time.sleep(0.5)
        os.write(w, b"g")
        os.read(r2, 1)

    r, w = os.pipe()
    r2, w2 = os.pipe()
    pid = os.fork()
    if pid == 0:
        become(STARTER)
        try:
            fill_and_hold()
        finally:
            os._exit(0)
    os.read(r, 1)
    said = as_user(STRANGER, lambda: verdict_of(session()))
    os.write(w2, b"g")
    os.waitpid(pid, 0)
    expect(said == "ready", "another user finds no place: %s" % said)


@hostile
def memory_is_bounded():
    s = session().start()
    with open("/proc/%d/limits" % s.pid) as f:
        data = next(line for line in f if line.startswith("Max data size")).split()[3:5]
    expect(data == [str(192 << 20)] * 2, "%r" % data)
    # As much as a start message may bring: refused or served, and the next session starts.
    big = session()
    big.send_start(bundle=big.bundle(workspace="/" + "x" * (60 << 20)))
    big.packet()
    expect(verdict_of(session()) == "ready", "no other session starts")


@hostile
def a_sessions_ledger_is_bounded():
    s = session()
    s.send_start(message=s.message(ledger_size=1 << 16))
    first = s.packet()
    expect(first["type"] == "ready", "%r" % first)
    s.runtime, s.state = first["runtime_dir"], first["state_dir"]
    ring, n, warned = s.ring(), 0, None
    end = time.monotonic() + 60
    while not warned and time.monotonic() < end:
        for _ in range(200):
            ring.decide("/srv/" + os.urandom(1500).hex(), verdict=DENY)
            n += 1
        if not is_quiet(s.fd, 0.02):
            warned = s.packet()
    expect(warned and warned["type"] == "warn" and "quota" in warned["text"], "%r after %d" % (warned, n))
    expect(not s.question(argv=["ask-me", "x"]).allowed, "asked without a record")
    for _ in range(2000):
        ring.decide("/srv/" + os.urandom(1500).hex(), verdict=DENY)
    time.sleep(1.5)
    s.finish()
    size = sum(os.stat(s.state + "/" + f).st_size for f in os.listdir(s.state))
    expect(size < 3 << 20, "%d bytes" % size)
    lost = sum(r["count"] for r in s.records("loss"))
    expect(lost > 400, "%d of %d are said to be lost" % (lost, n))
    v = s.verify()
    expect(v["ok"], "%r" % v)
    expect(verdict_of(session()) == "ready", "no other session starts")


@hostile
def messages_are_paced():
    """Whoever floods the control socket waits; another connection is answered meanwhile."""
    s = session().start()
    flood, other = s.operator(), s.operator()
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/info"}).encode()
    flood.setblocking(False)
    sent = answered = 0
    began, slowest = time.monotonic(), 0.0
    while time.monotonic() < began + 3:
        try:
            for _ in range(100):
                flood.send(line)
                sent += 1
        except BlockingIOError:
            pass
        try:
            while flood.recv(65536):
                answered += 1
        except BlockingIOError:
            pass
        if answered % 500 == 0:
            at = time.monotonic()
            s.call("session/info", on=other)
            slowest = max(slowest, time.monotonic() - at)
    expect(answered <= 2000 + 1000 * 4, "%d messages in three seconds" % answered)
    expect(answered >= 2000, "only %d answers" % answered)
    expect(slowest < 1.5, "another connection waits for %.2f s" % slowest)


main()
