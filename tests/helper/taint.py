"""Who may be the operator: only what was clean before the session and stays clean."""

import signal

from session import *

PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 38, 4, 36
INFO = b'{"jsonrpc":"2.0","id":1,"method":"session/info"}'


def tries(runtime, line=None):
    """What comes of a call by this very process: a refusal, hung up, or an answer."""
    raw = b""
    try:
        line = line or connect(runtime + "/control.sock")
        line.send(INFO)
        raw = receive(line)
    except (BrokenPipeError, ConnectionResetError):
        pass
    # What was said before the line was closed stands behind the error.
    raw = raw or receive(line)
    if not raw:
        return "hung up"
    reply = json.loads(raw)
    return reply["error"]["message"] if "error" in reply else "answered"


def refused(what):
    return isinstance(what, str) and (what == "hung up" or what.startswith("the process is "))


def detached(body):
    """The same in an orphan in a session of its own."""

    def first():
        r, w = os.pipe()
        if os.fork() == 0:
            os.setsid()
            parent = os.getpid()
            if os.fork() == 0:
                while os.getppid() == parent:
                    time.sleep(0.001)
                os.write(w, json.dumps(body()).encode())
            os._exit(0)
        os.close(w)
        os.wait()
        return json.loads(os.read(r, 65536))

    return in_child(first)


@test
def clean_operator():
    s = Session().start()
    expect(outside(tries, s.runtime) == "answered", "the operator is refused")
    expect(tries(s.runtime).startswith("the process performs"),
        "the launcher, who connects for the agent, is the operator")


@test
def no_new_privs_above_the_baseline():
    s = Session().start()

    def body():
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return tries(s.runtime)

    got = in_child(body)
    expect(got.startswith("the process is inside"), got)
    s.finish()
    told = s.records("approval/refused")
    expect(len(told) == 1 and told[0]["verdict"] == "deny" and s.id in told[0]["detail"], "records %r" % told)


@test
def children_of_the_launcher():
    s = Session().start()
    got = in_child(lambda: tries(s.runtime))
    expect(got.startswith("the process is inside"), got)


@test
def the_agent_and_its_children():
    s = Session().start()

    def agent():
        s.tell(type="agent", pid=os.getpid())
        until(lambda: os.path.exists(s.runtime + "/session.json"), "no description")
        return [tries(s.runtime), in_child(lambda: tries(s.runtime))]

    for got in in_child(agent):
        expect(got.startswith("the process is inside"), got)


@test
def an_orphan_in_a_session_of_its_own():
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    s = Session().start()
    got = detached(lambda: tries(s.runtime))
    expect(got.startswith("the process is inside"), got)


@test
def non_dumpable_peer():
    s = Session().start()

    def body():
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        prctl(PR_SET_DUMPABLE, 0)
        return tries(s.runtime)

    expect(refused(in_child(body)), "answered")


def a_child_on_my_line(runtime):
    line = connect(runtime + "/control.sock")
    return [in_child(lambda: tries(runtime, line)), tries(runtime, line)]


@test
def a_line_that_was_handed_on():
    s = Session().start()
    child, after = outside(a_child_on_my_line, s.runtime)
    expect(refused(child), "a child answers on an inherited line")
    expect(after == "hung up", "the line is still good")
    expect(refused(in_child(lambda: tries(s.runtime, lent(s.runtime + "/control.sock")))), "a friend's line is good")


def goes_inside(runtime, when):
    line = connect(runtime + "/control.sock")
    before = tries(runtime, line) if when == "later" else "answered"
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return [before, tries(runtime, line)]


@test
def a_line_whose_owner_went_inside():
    """Connected clean, tainted before the first word, or after it: seen when the word comes."""
    s = Session().start()
    for when in ("at once", "later"):
        before, after = outside(goes_inside, s.runtime, when)
        expect(before == "answered" and refused(after), "%s: %s, then %s" % (when, before, after))


def marked(runtime):
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return tries(runtime)


@test
def a_baseline_is_no_zero():
    """An operator in a container that is marked itself: no worse than the launcher is."""

    def launcher():
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        s = Session().start()
        got = [outside(marked, s.runtime), detached(lambda: tries(s.runtime))]
        for r in running:
            r.close()
        return got

    operator, orphan = in_child(launcher)
    expect(operator == "answered", "the operator is refused: " + operator)
    expect(refused(orphan), "where the marks tell nothing, an orphan is the operator")


def dies_at_once(runtime):
    """Connects, asks and is gone before it is heard; its parent tells when."""
    pid = os.fork()
    if pid == 0:
        line = connect(runtime + "/control.sock")
        line.send(INFO)
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


@test
def the_dead_are_not_heard():
    s = Session().start()
    os.kill(s.pid, signal.SIGSTOP)
    gone = outside(dies_at_once, s.runtime)
    os.kill(s.pid, signal.SIGCONT)
    until(lambda: s.records("approval/refused"), "not refused")
    told = s.records("approval/refused")[0]
    expect(told["pid"] == gone, "records %r" % told)


def in_a_name_space(runtime, what):
    """A clean process, but one whose pids are its own."""
    if LIBC.unshare(0x10000000 | 0x20000000) < 0:
        return "no name spaces here"
    return in_child(lambda: tries(runtime))


@test
def deeper_name_spaces():
    s = Session().start()
    got = outside(in_a_name_space, s.runtime, "pid")
    if got.startswith("no name"):
        raise Skipped(got)
    expect(refused(got), got)


def execs_and_asks(runtime, marks):
    """Another program on the same line and pid: marked or not, it is what it is then."""
    line = connect(runtime + "/control.sock")
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        mine = connect(runtime + "/control.sock")
        mine.settimeout(None)
        for fd in (mine.fileno(), w):
            os.set_inheritable(fd, True)
        code = ("import ctypes,socket,os,json\n"
                "if %d: ctypes.CDLL(None).prctl(38,1,0,0,0)\n"
                "s=socket.socket(fileno=%d)\n"
                "s.send(%r)\n"
                "os.write(%d,s.recv(65536) or b'{}')\n" % (marks, mine.fileno(), INFO, w))
        os.execv(sys.executable, [sys.executable, "-c", code])
    os.close(w)
    got = json.loads(os.read(r, 65536) or b"{}")
    os.waitpid(pid, 0)
    line.close()
    return "answered" if "result" in got else got.get("error", {}).get("message", "hung up")


@test
def exec_after_connect():
    s = Session().start()
    expect(outside(execs_and_asks, s.runtime, 0) == "answered", "an operator's program may not execute another")
    expect(refused(outside(execs_and_asks, s.runtime, 1)), "it went inside and is heard")


def posix_spawned(runtime):
    """vfork: a child on its parent's line."""
    line = connect(runtime + "/control.sock")
    os.set_inheritable(line.fileno(), True)
    code = "import os,sys;os.write(%d,%r)" % (line.fileno(), INFO)
    subprocess.run([sys.executable, "-c", code], close_fds=False)
    try:
        raw = receive(line)
    except OSError:
        raw = b""
    return "answered" if b'"result"' in raw else "hung up"


@test
def vfork_on_a_line():
    s = Session().start()
    expect(outside(posix_spawned, s.runtime) == "hung up", "a child answers on its parent's line")


def launch_below():
    """A session whose launcher is a child of this process: its runtime directory, its helper, and how to end it."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        s = Session().start()
        theirs.send(json.dumps([s.runtime, s.pid]).encode())
        theirs.recv(1)
        s.finish()
        os._exit(0)
    theirs.close()
    return *json.loads(ours.recv(4096)), ours


def reuse_in_here():
    """pid 1 of pid and user name spaces of its own, and outside of the session."""
    runtime, helper, end = launch_below()
    os.kill(helper, signal.SIGSTOP)
    # Marked, it connects and asks; it dies, and a clean process is born with its pid.
    pid = os.fork()
    if pid == 0:
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        line = connect(runtime + "/control.sock")
        line.send(INFO)
        if os.fork() == 0:
            # The line lives on in here.
            raw = b""
            try:
                # What was said before it was closed stands behind the error.
                raw = receive(line) or receive(line)
            finally:
                os.write(kept_w, raw or b"hung up")
                os._exit(0)
        os._exit(0)
    os.waitpid(pid, 0)
    again = 0
    for _ in range(50):
        with open("/proc/sys/kernel/ns_last_pid", "w") as f:
            f.write(str(pid - 1))
        again = os.fork()
        if again == 0:
            time.sleep(30)
            os._exit(0)
        if again == pid:
            break
        os.kill(again, 9)
        os.waitpid(again, 0)
    os.kill(helper, signal.SIGCONT)
    got = os.read(kept_r, 65536).decode()
    os.kill(again, 9)
    os.waitpid(again, 0)
    end.send(b"x")
    return [again == pid, got]


kept_r, kept_w = os.pipe()


@test
def a_pid_that_comes_again():
    """In a pid name space of its own, where the next pid can be chosen."""

    def there():
        if LIBC.unshare(0x10000000 | 0x20000000 | 0x00020000) < 0:
            return None

        def first():
            # The user's name space belongs to nobody yet: an operator is whoever started this.
            LIBC.mount(b"proc", b"/proc", b"proc", 0, None)
            return reuse_in_here()

        return in_child(first)

    got = in_child(there)
    if got is None:
        raise Skipped("no name spaces here")
    expect(isinstance(got, list), "%r" % got)
    expect(got[0], "the pid did not come again")
    expect('"result"' not in got[1], "the first is taken for the second: " + got[1])
    expect("gone" in got[1], "refused, but not for that: " + got[1])


def hands_descriptors_over(runtime, call):
    line = connect(runtime + "/control.sock")
    send_with_fds(line, call.encode(), [0])
    return receive(line).decode()


@test
def descriptors_are_refused():
    s = Session().start()
    expect(outside(hands_descriptors_over, s.runtime, INFO.decode()) == "", "answered")
    w = s.ask(argv=["ask-me"])
    card = s.card()
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "turn/begin"})
    expect(outside(hands_descriptors_over, s.runtime, call) == "", "answered")
    expect(is_quiet(w) and s.result("session/info")["turn"] == 1, "a call with descriptors counts")


def killed_with_a_call(runtime, helper, accepted):
    """A process whose call is not read before it is gone; accepted or not by then."""
    pid = os.fork()
    if pid == 0:
        if not accepted:
            os.kill(helper, signal.SIGSTOP)
        line = connect(runtime + "/control.sock")
        if accepted:
            line.send(INFO)
            expect(b"result" in receive(line), "not accepted")
            os.kill(helper, signal.SIGSTOP)
        line.send(INFO)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    os.kill(helper, signal.SIGCONT)
    return pid


@test
def who_was_accepted_and_was_killed_is_no_attempt():
    s = Session().start()
    for _ in range(5):
        outside(killed_with_a_call, s.runtime, s.pid, True)
        expect("result" in s.call("session/info"), "the helper is gone")
    expect(not s.records("approval/refused"), "refused: %r" % s.records("approval/refused"))
    pid = outside(killed_with_a_call, s.runtime, s.pid, False)
    until(lambda: s.records("approval/refused"), "who never could be looked at is not recorded")
    r, = s.records("approval/refused")
    expect(r["pid"] == pid, "another one: %r" % r)


main()
