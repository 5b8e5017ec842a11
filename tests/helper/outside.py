"""Processes outside of every session.

The tests play the launcher, and neither that nor what descends from it may be the operator.  So main() splits:
the tests go on in a child, and the parent starts a process of its own for each line of an operator.
"""

from basics import *


outside_ctl = None


def outside_request(**what):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(30)
    what.update(uid=os.geteuid(), gid=os.getegid())
    send_with_fds(outside_ctl, json.dumps(what).encode(), [theirs.fileno()])
    theirs.close()
    return ours


def outside(fn, *args):
    """What a function of this file, by its name, returns in a clean process."""
    ours = outside_request(run=fn.__name__, args=args)
    got = json.loads(receive(ours) or b'{"failed": "it ended without a word"}')
    ours.close()
    expect("failed" not in got, got.get("failed"))
    return got["result"]


def lent(path):
    """A connection that a clean process made and gave away."""
    ours = outside_request(lend=path)
    _, anc, _, _ = ours.recvmsg(16, socket.CMSG_SPACE(4))
    got = socket.socket(fileno=array.array("i", anc[0][2])[0])
    got.settimeout(WAIT_S)
    return got


def pump(a, b):
    p = select.poll()
    p.register(a, select.POLLIN)
    p.register(b, select.POLLIN)
    while True:
        for fd, _ in p.poll():
            source, to = (a, b) if fd == a.fileno() else (b, a)
            data = receive(source)
            if not data:
                return
            try:
                to.send(data)
            except OSError:
                # What the other side said before it went shall still be heard.
                if to is b and (last := receive(b)):
                    a.send(last)
                return


def outside_serve(what, line):
    if os.geteuid() == 0 and what["uid"] != 0:
        os.setgroups([])
        os.setresgid(*[what["gid"]] * 3)
        os.setresuid(*[what["uid"]] * 3)
    if "run" in what:
        try:
            got = {"result": getattr(sys.modules["__main__"], what["run"])(*what["args"])}
        except BaseException as e:
            got = {"failed": "%s: %s" % (type(e).__name__, e)}
        line.send(json.dumps(got).encode())
        return
    try:
        s = connect(what.get("line") or what["lend"])
    except OSError as e:
        line.send(b"%d" % e.errno)
        return
    if "lend" in what:
        send_with_fds(line, b"x", [s.fileno()])
        receive(line)
        return
    line.send(b"0")
    s.settimeout(None)
    pump(line, s)


def outside_start():
    """Returns in the child."""
    global outside_ctl
    sys.stdout.flush()
    outside_ctl, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    tests_pid = os.fork()
    if tests_pid == 0:
        theirs.close()
        return
    outside_ctl.close()
    p = select.poll()
    p.register(os.pidfd_open(tests_pid), select.POLLIN)
    p.register(theirs, select.POLLIN)
    children = set()
    while all(fd == theirs.fileno() for fd, _ in p.poll()):
        data, anc, _, _ = theirs.recvmsg(1 << 16, socket.CMSG_SPACE(4))
        if not data:
            break
        pid = os.fork()
        if pid == 0:
            theirs.close()
            try:
                line = socket.socket(fileno=array.array("i", anc[0][2])[0])
                outside_serve(json.loads(data), line)
            finally:
                os._exit(0)
        os.close(array.array("i", anc[0][2])[0])
        children.add(pid)
        children = {c for c in children if not os.waitpid(c, os.WNOHANG)[0]}
    _, status = os.waitpid(tests_pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 255)
