"""What is no question and no start: dropped, told, and nothing left behind."""

import random

from session import *


def is_dropped(s, frame, fds=None):
    c = connect(s.runtime + "/agent.sock")
    if fds is None:
        c.send(frame)
    else:
        send_with_fds(c, frame, fds)
    got = receive(c)
    c.close()
    return got == b""


def alive(s):
    return s.question(argv=["deny-me"]).reason == "1"


@test
def every_truncation():
    s = Session().start()
    good = ask_frame(argv=["ask-me", "a"], git_branch="main")
    for n in range(1, len(good)):
        expect(is_dropped(s, good[:n]), "%d of %d bytes are a question" % (n, len(good)))
    expect(is_dropped(s, good + b"\0"), "a byte too many")
    expect(alive(s) and s.cards() == [], "the helper is no longer well")


@test
def wrong_heads_and_numbers():
    s = Session().start()
    bad = [ask_frame(magic=0), ask_frame(version=0), ask_frame(version=99), ask_frame(kind=0), ask_frame(kind=2),
           ask_frame(kind=9), ask_frame(op=0), ask_frame(op=19), ask_frame(op=22), ask_frame(op=65535),
           ask_frame(flags=0x80), ask_frame(flags=0x100), ask_frame(flags=0x1000), ask_frame(flags=0x200),
           ask_frame(cwd="x" * 4096),
           ask_frame(cwd=b"a\0b"), ask_frame(argv=["a", b"a\0b"])]
    for i, frame in enumerate(bad):
        expect(is_dropped(s, frame), "frame %d is a question" % i)
    expect(alive(s) and s.cards() == [], "the helper is no longer well")


@test
def too_long_and_with_descriptors():
    s = Session().start()
    expect(is_dropped(s, ask_frame(argv=["ask-me"] + ["x" * 60] * 1100)), "over 64 KiB")
    expect(is_dropped(s, b"x" * 65537), "over 64 KiB")
    good = ask_frame(argv=["ask-me", "a"])
    for n in (1, 2, 8, 9, 100):
        expect(is_dropped(s, good, [0] * n), "%d descriptors" % n)
    w = s.ask(argv=["ask-me"] + ["x" * 60] * 300)
    s.card()
    w.close()
    before = len(os.listdir("/proc/self/fd"))
    expect(before > 3 and alive(s), "the helper is no longer well")


@test
def flipped_bits():
    s = Session().start()
    good = ask_frame(argv=["ask-me", "a"], git_branch="main")
    dice = random.Random(7)
    for _ in range(1500):
        frame = bytearray(good)
        for _ in range(dice.randint(1, 4)):
            frame[dice.randrange(len(frame))] ^= 1 << dice.randrange(8)
        c = connect(s.runtime + "/agent.sock")
        c.send(frame)
        c.close()
    until(lambda: s.cards() == [], "cards of the dead stay")
    expect(alive(s), "the helper is no longer well")
    s.finish()
    s.expect_whole()


def started(s, **how):
    """The launcher's side of a bad start: what it was told."""
    s.send_start(**how)
    p = s.packet()
    code = s.wait()
    expect(p is None or p["type"] != "ready", "it is ready")
    expect(code not in (0, -11, -6), "ended %d" % code)
    left = [d for d in (s.state, s.runtime) if os.path.exists(d)]
    expect(not left, "left behind: %r" % left)
    return p["text"] if p else ""


@test
def bad_starts():
    def with_(**more):
        s = Session()
        return started(s, message=s.message(**more))

    for more in (dict(type="stop"), dict(version=2), dict(version=9), dict(version=11), dict(version=None),
        dict(environment=None),
                 dict(environment=[]), dict(session=None), dict(session=""),
                 dict(session="../x"), dict(session="a/b"), dict(session=".x"), dict(session="x" * 64),
                 dict(session=7), dict(runtime_dir=None), dict(state_dir=None), dict(level="half"), dict(level=None),
                 dict(argv="x"), dict(not_enforced=None), dict(facts=None), dict(limits=None), dict(nonce="0" * 32)):
        expect(with_(**more), "no word about %r" % more)
    for raw in (b"x", b"[]", b"{}", b"null", b"[" * 60000, b'{"type":"start","type":"start"}', b"\xff\xfe"):
        expect(started(Session(), message=raw), "no word about %r" % raw[:20])
    expect(started(Session(), fds=0), "no word about a missing bundle")
    expect(started(Session(), fds=2), "no word about two descriptors")
    for bundle in (b"", b"x", b"{}x", b"[]", b"[" * 100000, bytes(44) + b"x",
                   encode({})[:-1], encode({"sources": [[9, "a", "b"]]})):
        expect(started(Session(), bundle=bundle), "no word about the bundle %r" % bundle[:30])


@test
def bad_directories():
    for more in (dict(runtime_dir="relative/x"), dict(runtime_dir="/"), dict(runtime_dir="/x"),
        dict(state_dir="/tmp/.."),
                 dict(runtime_dir="/nonexistent/x"), dict(state_dir="/tmp/pale-test-x"), dict(state_dir="")):
        s = Session()
        expect(started(s, message=s.message(**more)), "no word about %r" % more)
    s = Session()
    os.mkdir(s.runtime)
    open(s.runtime + "/mine", "w").close()
    s.send_start()
    expect(s.packet()["type"] == "error" and s.wait() != 0, "a directory that was there before is used")
    expect(os.path.exists(s.runtime + "/mine"), "another's file is gone")
    loose = SCRATCH + "/loose"
    os.mkdir(loose)
    os.chmod(loose, 0o770)
    s = Session()
    text = started(s, message=s.message(state_dir=loose + "/x"))
    expect("writable by no other" in text, text)


@test
def state_directory_that_cannot_be_written():
    if os.geteuid() == 0:
        raise Skipped("root writes everywhere")
    shut = SCRATCH + "/shut"
    os.mkdir(shut, 0o500)
    s = Session()
    text = started(s, message=s.message(state_dir=shut + "/x"))
    expect(shut + "/x" in text and "Permission denied" in text, text)


@test
def a_policy_with_errors():
    s = Session(policy="[files]\nwrit = /x\n[nonsense]\n")
    s.send_start()
    p = s.packet()
    expect(p["type"] == "error" and s.wait() == 1, "%r" % p)
    where = {(d["file"], d["line"]) for d in p["diags"]}
    expect(("/policy.ini", 2) in where and ("/policy.ini", 3) in where, "findings %r" % p["diags"])
    expect(not os.path.exists(s.state) and not os.path.exists(s.runtime), "something is left")


@test
def bad_packets_of_the_launcher():
    for raw in (b"x", b"{}", b'{"type":"agent"}', b'{"type":"agent","pid":-1}', b'{"type":"agent","pid":4294967297}',
                b'{"type":"exit"}', b'{"type":"start"}', b"x" * 70000):
        s = Session().start()
        s.fd.send(raw)
        s.wait()
        last = s.records()[-1]
        expect(last["op"] == "session/end" and not os.path.exists(s.runtime), "%r: %r" % (raw[:30], last))
        s.expect_whole()
        s.close()
    s = Session().start()
    s.tell(type="agent", pid=os.getpid())
    s.tell(type="agent", pid=os.getpid())
    s.wait()
    expect("protocol" in s.records()[-1]["detail"], "a second agent")


main()
