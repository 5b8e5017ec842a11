"""A nested run starts when the supervisor holds it by its own image."""

from session import *

TIGHT = "[files]\ndeny = /srv/closed\n"
AT_PASS, AT_LEVEL = 48, 74  # in struct image_header


def narrow(s, policy=TIGHT, pid=None, outer=0):
    """Asks for an image inside the one that holds; the connection."""
    c = connect(s.runtime + "/agent.sock")
    if s.level != "hooks":
        c.send(behalf_frame(s.nonce, pid or os.getpid()))
    frame = frame_head(3) + struct.pack("<I", outer)
    if policy is None:
        c.send(frame)
        return c
    seals = SEALS | fcntl.F_SEAL_WRITE
    fd = memory(s.bundle(sources=[[2, "/tight.ini", policy]]), seals=seals)
    send_with_fds(c, frame, [fd])
    os.close(fd)
    return c


def narrowed(c):
    """(image or None, text, bytes of the image's file)"""
    data, anc, _, _ = c.recvmsg(4096, socket.CMSG_SPACE(8))
    c.close()
    fds = array.array("i")
    for _, _, d in anc:
        fds.frombytes(d)
    image, n = struct.unpack_from("<II", data, 8)
    content = b""
    if fds:
        expect(len(fds) == 2, "%d descriptors" % len(fds))
        content = os.pread(fds[0], 1 << 20, 0)
    for fd in fds:
        os.close(fd)
    return (None if image == 0xFFFFFFFF else image), data[16 : 16 + n - 1].decode(), content


def told(s):
    p = s.packet()
    expect(p and p["type"] == "narrowed", "the launcher hears %r" % p)
    return p


def note(s, p, held=True):
    s.tell(type="noted", pid=p["pid"], image=p["image"], held=held)


def word(content):
    return struct.unpack_from("<Q", content, AT_PASS)[0], content[AT_LEVEL]


@test
def answered_when_the_supervisor_knows():
    s = Session(level="full").start()
    c = narrow(s, pid=4242)
    p = told(s)
    expect(p == {"type": "narrowed", "pid": 4242, "image": 1}, "told %r" % p)
    expect(is_quiet(c, 0.3), "answered before the supervisor knew")
    expect(os.path.exists(s.runtime + "/image.1"), "the supervisor is told of an image that is not there")
    note(s, p)
    image, _, content = narrowed(c)
    expect(image == 1 and content, "image %r" % image)
    with open(s.runtime + "/image", "rb") as f:
        outer = f.read()
    expect(word(content) == word(outer) and word(outer)[0] != 0 and word(outer)[1] == 1, "level or pass differ")
    s.finish()
    expect(len(s.records("session/narrow")) == 1, "not recorded")
    s.expect_whole()


@test
def a_supervisor_that_cannot():
    s = Session(level="full").start()
    c = narrow(s)
    note(s, told(s), held=False)
    image, text, content = narrowed(c)
    expect(image is None and "supervisor" in text and not content, "%r %r" % (image, text))


@test
def a_supervisor_that_is_silent():
    s = Session(level="strict").start()
    began = time.monotonic()
    c = narrow(s)
    told(s)
    image, text, content = narrowed(c)
    expect(image is None and "supervisor" in text and not content, "%r %r" % (image, text))
    expect(4 < time.monotonic() - began < 9, "after %.1f s" % (time.monotonic() - began))
    # Its late word is nobody's.
    s.tell(type="noted", pid=os.getpid(), image=1, held=True)
    expect(s.question(argv=["deny-me"]).reason == "1" and s.finish() == 0, "the helper is no longer well")


@test
def many_at_once():
    s = Session(level="full").start()
    asked = {}
    for i in range(8):
        # Two processes a policy: the same image, another process.
        asked[5000 + i] = narrow(s, policy="[files]\ndeny = /srv/%d\n" % (i // 2), pid=5000 + i)
    heard = [told(s) for _ in asked]
    expect(sorted(p["pid"] for p in heard) == sorted(asked), "told of %r" % heard)
    expect(sorted(p["image"] for p in heard) == [1, 1, 2, 2, 3, 3, 4, 4], "told of %r" % heard)
    for p in reversed(heard):
        expect(is_quiet(asked[p["pid"]], 0), "answered by another's word")
        note(s, p)
        expect(narrowed(asked[p["pid"]])[0] == p["image"], "another image")


@test
def gone_before_the_word():
    s = Session(level="full").start()
    c = narrow(s)
    p = told(s)
    c.close()
    note(s, p)
    c = narrow(s)
    note(s, told(s))
    expect(narrowed(c)[0] == 1, "no longer served")


@test
def asking_for_what_holds_tells_nobody():
    s = Session(level="full").start()
    image, _, content = narrowed(narrow(s, policy=None))
    expect(image == 0 and content, "image %r" % image)
    expect(is_quiet(s.fd), "the supervisor is told of nothing new")


@test
def at_level_hooks_at_once():
    s = Session().start()
    image, _, content = narrowed(narrow(s))
    expect(image == 1 and word(content) == (0, 0), "image %r" % image)
    expect(is_quiet(s.fd), "the launcher is asked where there is no supervisor")
    s.tell(type="noted", pid=1, image=1, held=True)
    s.wait()
    expect("protocol" in s.records()[-1]["detail"], "a word of a supervisor that is none")


@test
def bad_words():
    for more in (dict(), dict(pid=0), dict(pid=-1), dict(pid=1 << 40), dict(image=0), dict(image=65), dict(held=1),
        dict(held=None)):
        s = Session(level="full").start()
        m = dict(type="noted", pid=1, image=1, held=True)
        m.update(more)
        s.tell(**(m if more else dict(type="noted")))
        s.wait()
        expect("protocol" in s.records()[-1]["detail"], "%r is understood" % more)
        s.close()


@test
def the_pass():
    seen = set()
    for level, number in (("hooks", 0), ("full", 1), ("full", 1), ("full", 1), ("strict", 2)):
        s = Session(level=level).start()
        with open(s.runtime + "/image", "rb") as f:
            got, is_level = word(f.read())
        expect(is_level == number and (got != 0) == (level == "full"), "%s: pass %x" % (level, got))
        expect(got == 0 or got not in seen, "the same pass twice")
        seen.add(got)


main()
