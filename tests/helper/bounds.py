"""What one user of a setuid helper can take from the others: room in the runtime directory, descriptors in flight."""

from users import *


def large(n):
    """A policy whose image has some n MiB."""
    path = "/" + "x" * 160
    return "[files]\n" + "".join("deny = %s%d\n" % (path, i) for i in range(n * 2500))


def bytes_of(user):
    d = "%s/%d" % (RUN, user.pw_uid)
    return sum(os.lstat(p + "/" + f).st_size for p, _, files in os.walk(d) for f in files)


def size_of(path):
    return os.stat(path).st_size if os.path.exists(path) else 0


@test
def images_of_one_user_are_bounded():
    """All his sessions' together; another user's session starts meanwhile; room comes back."""
    policy = large(6)

    def fill():
        return [verdict_of(session(policy=policy)) for _ in range(26)]

    def other(_):
        return [as_user(STRANGER, lambda: verdict_of(session(policy=policy))), bytes_of(STARTER)]

    said, (theirs, size) = held_until(STARTER, fill, other)
    refused = [t for t in said if t != "ready"]
    expect(theirs == "ready", "another user: " + theirs)
    expect(90 << 20 < size <= 128 << 20, "%d bytes" % size)
    expect(len(refused) > 3 and all("this user's sessions" in t for t in refused), "%r" % said)
    until(lambda: bytes_of(STARTER) == 0, "something is left")
    expect(as_user(STARTER, lambda: verdict_of(session(policy=policy))) == "ready", "no room comes back")


@test
def half_of_the_runtime_directory_is_for_small_policies():
    """Many users together: a large policy finds no room where half of it is taken, an ordinary one does."""
    subprocess.run(["mount", "-o", "remount,size=64m", "/run"], check=True)
    try:
        with open("/run/filler", "wb") as f:
            os.posix_fallocate(f.fileno(), 0, 40 << 20)
        said = as_user(STARTER, lambda: [verdict_of(session(policy=large(6))), verdict_of(session())])
    finally:
        os.unlink("/run/filler")
        subprocess.run(["mount", "-o", "remount,size=50%", "/run"], check=True)
    expect("this user's sessions" in said[0] and said[1] == "ready", "%r" % said)


@test
def what_is_kept_open_is_emptied():
    """Whoever keeps a file of an ended session open keeps a page of it: the image, and what it replaced."""

    def keep():
        s = session(policy=large(2)).start()
        held = [os.open(s.runtime + "/image", flag) for flag in (os.O_RDONLY, os.O_PATH)]
        s.tell(type="agent", pid=os.getpid())
        for size in (20000, 30000, 40000):
            s.tell(type="limit", text="x", limits="y" * size)
            until(lambda: size_of(s.runtime + "/session.json") > size, "it is not written")
            held.append(os.open(s.runtime + "/session.json", os.O_RDONLY))
        before = sum(os.fstat(f).st_size for f in held)
        s.finish()
        return [before, [[os.fstat(f).st_size, os.fstat(f).st_nlink] for f in held],
            list(os.pread(held[0], 20, 0)[16:])]

    before, after, superseded = as_user(STARTER, keep)
    expect(before > 4 << 20, "%d bytes" % before)
    expect(all(size <= 4096 and links == 0 for size, links in after), "%r" % after)
    expect(superseded == [1, 0, 0, 0], "the image still decides: %r" % superseded)


@test
def a_killed_helpers_files_go_with_the_next_session():
    def begin():
        s = session(policy=large(2)).start()
        return [s.pid, s.runtime]

    def kill(got):
        os.kill(got[0], signal.SIGKILL)
        time.sleep(0.2)
        return as_user(STARTER, lambda: verdict_of(session()))

    (_, d), said = held_until(STARTER, begin, kill)
    expect(said == "ready", said)
    expect(not os.path.exists(d), "it is left behind")


def unread_rings(s, n):
    """That many connections that have asked for the ring, and how many of them were answered."""
    lines = [connect(s.runtime + "/agent.sock") for _ in range(n)]
    for line in lines:
        line.send(frame_head(3) + struct.pack("<I", 0))
    time.sleep(1)
    return lines, [line for line in lines if not is_quiet(line, 0)]


@hostile
def answers_that_nobody_receives_are_bounded():
    s = session().start()
    lines, answered = unread_rings(s, 60)
    expect(len(answered) == 16, "%d answers wait" % len(answered))
    # Whoever hangs up in one direction or both has not received it.
    for line in answered:
        line.shutdown(socket.SHUT_RDWR)
    more, answered = unread_rings(s, 60)
    expect(not answered, "%d more answers wait" % len(answered))
    for line in lines:
        line.close()
    until(lambda: not is_quiet(more[0], 0) or unread_rings(s, 1)[1], "nobody is answered any more")


@test
def descriptors_that_nobody_receives_are_the_senders_users_alone():
    """The kernel counts those of all helpers together; a helper whose own limit is low still passes the ring."""

    def fill():
        held = [unread_rings(session().start(), 20) for _ in range(8)]
        return sum(len(answered) for _, answered in held)

    def other():
        s = session(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096))).start()
        lines, answered = unread_rings(s, 1)
        return len(answered)

    n, theirs = held_until(STARTER, fill, lambda _: as_user(STRANGER, other))
    expect(n == 8 * 16, "%d answers wait" % n)
    expect(theirs == 1, "another user's session gets no ring")


if __name__ == "__main__":
    main()
