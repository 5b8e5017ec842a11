"""A policy loaded anew, by a launcher that is slow, dead, or lies."""

import stat

from session import *

AT_SUPERSEDED = 16  # in struct image_header
OLD = "[files]\ndeny = /srv/closed\n"
NEW = "[files]\ndeny = /srv/other\n"


def begun(level="full", **more):
    s = Session(level=level, policy=OLD, **more).start()
    s.tell(type="agent", pid=os.getpid())
    return s


def ask_for(s):
    """The operator's line, once the launcher is told to gather."""
    line = s.operator()
    line.settimeout(25)
    line.send(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "policy/reload", "params": {}}).encode() + b"\n")
    p = s.packet()
    expect(p and p["type"] == "gather", "the launcher hears %r" % p)
    return line


def gathered(s, policy=NEW, **bundle):
    fd = memory(s.bundle(sources=[[2, "/policy.ini", policy]], **bundle))
    send_with_fds(s.fd, json.dumps({"type": "bundle", "diags": []}).encode(), [fd])
    os.close(fd)


def told_to_take(s):
    p = s.packet()
    expect(p == {"type": "reload"}, "the launcher hears %r" % p)


def taken(s, ok=True):
    s.tell(type="reloaded", ok=ok, performed=True)


def came(line):
    reply = json.loads(receive(line))
    expect("result" in reply, "%r" % reply)
    return reply["result"]


def marked(f):
    return os.pread(f.fileno(), 4, AT_SUPERSEDED) != bytes(4)


@test
def the_files():
    s = begun()
    with open(s.runtime + "/image", "rb") as old:
        line = ask_for(s)
        gathered(s)
        told_to_take(s)
        expect(not marked(old), "marked before the supervisor's word")
        taken(s)
        expect(came(line)["loaded"], "not loaded")
        expect(marked(old) and os.fstat(old.fileno()).st_nlink == 0, "the old file judges on")
    with open(s.runtime + "/image", "rb") as new:
        expect(not marked(new) and stat.S_IMODE(os.fstat(new.fileno()).st_mode) == 0o400, "the new one")
    expect(not os.path.exists(s.runtime + "/image.new"), "left behind")
    s.finish()
    s.expect_whole()


@test
def a_supervisor_that_cannot():
    s = begun()
    with open(s.runtime + "/image", "rb") as old:
        line = ask_for(s)
        gathered(s)
        told_to_take(s)
        taken(s, ok=False)
        got = came(line)
        expect(not got["loaded"] and "supervisor" in got["error"] and not marked(old), "%r" % got)
    s.finish()


@test
def a_supervisor_that_is_late():
    s = begun()
    with open(s.runtime + "/image", "rb") as old:
        line = ask_for(s)
        gathered(s)
        told_to_take(s)
        got = came(line)
        expect(not got["loaded"] and got["late"] and not marked(old), "%r" % got)
        reply = s.call("policy/reload")
        expect("has not answered" in reply["error"]["message"], "%r" % reply)
        taken(s)
        until(lambda: marked(old), "its late word counts for nothing")
    s.finish()
    details = [r["detail"] for r in s.records("policy/reload")]
    expect("does not answer" in details[0] and "generation=1" in details[1], "%r" % details)
    s.expect_whole()


@test
def a_name_that_is_not_had():
    s = begun()
    with open(s.runtime + "/image", "rb") as old:
        line = ask_for(s)
        gathered(s)
        told_to_take(s)
        os.unlink(s.runtime + "/image.new")
        taken(s)
        got = came(line)
        expect(marked(old), "hooks judge by the old policy on")
    expect("could not be put in place" in got["kept"][0], "%r" % got["kept"])
    expect("could not be put in place" in s.records("policy/reload")[-1]["detail"], "not recorded")
    s.finish()
    s.expect_whole()


@test
def a_file_that_cannot_be_marked():
    s = begun()
    line = ask_for(s)
    os.unlink(s.runtime + "/image")
    gathered(s)
    got = came(line)
    expect(not got["loaded"] and "cannot be marked" in got["error"], "%r" % got)
    s.finish()


@test
def killed_in_the_middle():
    s = begun()
    with open(s.runtime + "/image", "rb") as old:
        line = ask_for(s)
        gathered(s)
        told_to_take(s)
        os.kill(s.pid, signal.SIGKILL)
        s.wait()
        expect(receive(line) == b"" and not marked(old), "an answer of the dead")
    v = s.verify()
    expect("bad" not in json.dumps(v.get("error", "")), "%r" % v)


@test
def a_floor_that_is_claimed():
    """In an installation of its own user only."""
    if not os.stat(HELPER).st_mode & stat.S_ISUID:
        raise Skipped("the helper is the user's own")
    s = Session(foreign=True, level="hooks", policy=OLD).start()
    s.tell(type="agent", pid=os.getpid())
    line = ask_for(s)
    fd = memory(s.bundle(sources=[[1, "/etc/pale/policy.ini", "[files]\ndeny = /srv/mine\n"],
                                  [2, "/policy.ini", NEW]]))
    send_with_fds(s.fd, json.dumps({"type": "bundle", "diags": []}).encode(), [fd])
    got = came(line)
    expect(got["loaded"], "%r" % got)
    expect(not s.question(op="read", path="/srv/closed").allowed, "the claimed floor replaced the machine's")
    why = s.question(op="read", path="/srv/x/closed")
    expect(not why.allowed and "policy.ini:2 [files] deny = **/closed" in why.text, "%r" % why)
    s.finish()


main()
