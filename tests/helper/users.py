"""The helper installed setuid, and several users in turn: run as root.  T_HELPER is the installed helper, T_USER who
starts it."""

import pwd
import resource
import signal
import subprocess

from session import *

PALE_USER = pwd.getpwnam("pale")
STARTER = pwd.getpwnam(os.environ["T_USER"])
STRANGER = pwd.getpwnam("nobody")
RUN, LIB = "/run/pale", "/var/lib/pale"


def become(user):
    os.setgroups([])
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)


def as_user(user, body):
    """Runs body as user; what it returns, or a failure of this test."""

    def inside():
        become(user)
        try:
            return [body(), None]
        except Exception as e:
            return [None, "%s: %s" % (type(e).__name__, e)]
        finally:
            while running:
                running.pop().close()

    got, failed = in_child(inside)
    expect(failed is None, failed)
    return got


def hostile(fn):
    """A test whose body is the starting user."""

    def run():
        as_user(STARTER, fn)

    run.__name__ = fn.__name__
    return test(run)


def session(**how):
    return Session(foreign=True, **how)


def denied(what, text):
    try:
        what()
    except PermissionError:
        return
    raise Failed(text)


def verdict_of(s):
    """Ready, or the sentence of the refusal.  A refusal may come before the start message is taken."""
    try:
        s.send_start()
    except BrokenPipeError:
        pass
    p = s.packet()
    return p["type"] if p["type"] == "ready" else p["text"]


def held_until(user, body, then):
    """Runs body as user in a child that keeps what it has until `then` is over; what both return."""
    back, back_w = os.pipe()
    go, go_w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(go_w)
            become(user)
            os.write(back_w, json.dumps(body()).encode())
            os.read(go, 1)
            while running:
                running.pop().close()
        finally:
            os._exit(0)
    os.close(back_w)
    os.close(go)
    try:
        said = os.read(back, 65536)
        expect(said, "the first user failed")
        got = json.loads(said)
        return got, then(got)
    finally:
        os.close(go_w)
        os.close(back)
        os.waitpid(pid, 0)
