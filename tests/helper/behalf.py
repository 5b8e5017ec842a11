"""Above level hooks the supervisor connects for everybody, and proves that it is the one."""

import subprocess

from session import *

FULL = dict(level="full")


def line(s, *frames, fds=None):
    """A connection of this process, which is the launcher, with these frames on it."""
    c = connect(s.runtime + "/agent.sock")
    for frame in frames:
        try:
            if fds:
                send_with_fds(c, frame, fds)
            else:
                c.send(frame)
        except (BrokenPipeError, ConnectionResetError):
            pass
    return c


def is_dropped(c):
    try:
        return receive(c) == b""
    finally:
        c.close()


def nothing_asked(s):
    expect(s.cards() == [] and s.question(argv=["deny-me"]).reason == "1", "the helper is no longer well")


@test
def the_right_nonce():
    for level in ("full", "strict"):
        s = Session(level=level).start()
        with subprocess.Popen(["sleep", "60"]) as child:
            w = s.ask(argv=["ask-me", "a"], pid=child.pid)
            card = s.card()
            child_exe = os.readlink("/proc/%d/exe" % child.pid)
            expect((card["pid"], card["exe"]) == (child.pid, child_exe), "card of another: %r" % card)
            s.respond(card)
            expect(s.answer(w).allowed, "not allowed")
            child.kill()
        s.finish()
        asked = s.records("approval/request")
        expect([(r["pid"], r["level"]) for r in asked] == [(child.pid, level)], "records %r" % asked)
        s.expect_whole()


@test
def every_wrong_nonce():
    s = Session(**FULL).start()
    question = ask_frame(argv=["ask-me", "a"])
    for bit in range(128):
        wrong = bytearray(s.nonce)
        wrong[bit // 8] ^= 1 << bit % 8
        expect(is_dropped(line(s, behalf_frame(bytes(wrong), os.getpid()), question)), "bit %d does not count" % bit)
    for wrong in (b"\0" * 16, b"\xff" * 16, s.nonce[::-1]):
        expect(is_dropped(line(s, behalf_frame(wrong, os.getpid()), question)), "nonce %r" % wrong)
    nothing_asked(s)


@test
def no_word_whose_it_is():
    s = Session(**FULL).start()
    question, behalf = ask_frame(argv=["ask-me", "a"]), behalf_frame(s.nonce, os.getpid())
    expect(is_dropped(line(s, question)), "a question of nobody")
    expect(is_dropped(line(s, question, behalf)), "a question before its asker")
    expect(is_dropped(line(s, frame_head(3) + struct.pack("<I", 0))), "a nested run of nobody")
    nothing_asked(s)


@test
def said_twice():
    s = Session(**FULL).start()
    behalf = behalf_frame(s.nonce, os.getpid())
    expect(is_dropped(line(s, behalf, behalf)), "twice")
    expect(is_dropped(line(s, behalf, behalf_frame(s.nonce, 1), ask_frame(argv=["ask-me", "a"]))),
        "another's name later")
    c = line(s, behalf, ask_frame(argv=["ask-me", "b"]))
    s.card()
    c.send(behalf)
    expect(is_dropped(c), "behind the question")
    until(lambda: s.cards() == [], "the card of a dropped peer stays")
    nothing_asked(s)


@test
def frames_that_are_none():
    s = Session(**FULL).start()
    good = behalf_frame(s.nonce, os.getpid())
    question = ask_frame(argv=["ask-me", "a"])
    bad = [good[:n] for n in range(1, len(good))] + [good + b"\0"]
    bad += [behalf_frame(s.nonce, pid) for pid in (0, -1, -(1 << 31))]
    bad += [behalf_frame(s.nonce, 1, magic=0), behalf_frame(s.nonce, 1, version=7), behalf_frame(s.nonce, 1, version=9)]
    for frame in bad:
        expect(is_dropped(line(s, frame, question)), "%r" % frame)
    expect(is_dropped(line(s, good, fds=[0])), "with a descriptor")
    nothing_asked(s)


@test
def not_at_level_hooks():
    s = Session().start()
    for nonce in (s.nonce, b"\0" * 16):
        expect(is_dropped(line(s, behalf_frame(nonce, os.getpid()))), "nobody speaks for others at this level")
    nothing_asked(s)


@test
def another_process_with_the_nonce():
    s = Session(**FULL).start()
    behalf, question = behalf_frame(s.nonce, os.getpid()), ask_frame(argv=["ask-me", "a"])
    expect(in_child(lambda: is_dropped(line(s, behalf, question))) is True, "another process connects")
    expect(in_child(lambda: is_dropped(line(s, question))) is True, "another process asks for itself")
    # On a line of the supervisor's own.
    c = connect(s.runtime + "/agent.sock")
    expect(in_child(lambda: c.send(behalf)) == len(behalf), "nothing was sent")
    expect(is_dropped(c), "another process says whose the line is")
    nothing_asked(s)


@test
def a_question_that_does_not_come():
    s = Session(**FULL).start()
    silent, half = line(s), line(s, behalf_frame(s.nonce, os.getpid()))
    began = time.monotonic()
    expect(is_dropped(silent) and is_dropped(half), "kept")
    expect(time.monotonic() - began < 6, "kept for long")
    nothing_asked(s)


@test
def a_dead_asker_is_hung_up():
    s = Session(**FULL).start()
    w = s.ask(argv=["ask-me", "a"], pid=os.getpid())
    s.card()
    w.close()
    until(lambda: s.cards() == [], "the card stays")
    s.finish()
    expect(len(s.records("approval/cancelled")) == 1, "not told")


@test
def the_process_asks_on_the_supervisors_line():
    """The connection is made for it, the question is its own to write."""
    s = Session(**FULL).start()
    c = line(s, behalf_frame(s.nonce, os.getpid()))
    question = ask_frame(argv=["ask-me", "a"])
    expect(in_child(lambda: c.send(question)) == len(question), "nothing was sent")
    s.respond(s.card())
    expect(s.answer(c).allowed, "not allowed")


@test
def not_on_the_operators_socket():
    s = Session(**FULL).start()
    w = s.ask(argv=["ask-me", "a"])
    s.card()
    c = s.operator()
    c.send(behalf_frame(s.nonce, os.getpid()))
    raw = receive(c)
    expect(raw == b"" or "error" in json.loads(raw), "understood: %r" % raw)
    c.close()
    expect(is_quiet(w) and len(s.cards()) == 1, "it did something")


main()
