"""Who may be the operator: only what was clean before the session and stays clean."""

import signal

from session import *

PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 38, 4, 36
INFO = b'{"jsonrpc":"2.0","id":1,"method":"session/info"}'


def tries(s, line=None):
    """What comes of a call: a refusal, hung up, or an answer."""
    raw = b""
    try:
        line = line or s.operator()
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
    return isinstance(what, str) and (what == "hung up" or what.startswith("the peer is "))


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
    expect(tries(s) == "answered", "the operator is refused")


@test
def no_new_privs_above_the_baseline():
    s = Session().start()

    def body():
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return tries(s)

    got = in_child(body)
    expect(got.startswith("the peer is inside"), got)
    s.finish()
    told = s.records("approval/refused")
    expect(len(told) == 1 and told[0]["verdict"] == "deny" and s.id in told[0]["detail"], "records %r" % told)


@test
def children_of_the_launcher():
    s = Session().start()
    got = in_child(lambda: tries(s))
    expect(got.startswith("the peer is inside"), got)


@test
def the_agent_and_its_children():
    s = Session().start()

    def agent():
        s.tell(type="agent", pid=os.getpid())
        until(lambda: os.path.exists(s.runtime + "/session.json"), "no description")
        return [tries(s), in_child(lambda: tries(s))]

    for got in in_child(agent):
        expect(got.startswith("the peer is inside"), got)


@test
def an_orphan_in_a_session_of_its_own():
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    s = Session().start()
    got = detached(lambda: tries(s))
    expect(got.startswith("the peer is inside"), got)


@test
def non_dumpable_peer():
    s = Session().start()

    def body():
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        prctl(PR_SET_DUMPABLE, 0)
        return tries(s)

    expect(refused(in_child(body)), "answered")


@test
def a_line_that_was_handed_on():
    s = Session().start()
    line = s.operator()
    expect(refused(in_child(lambda: tries(s, line))), "a child answers on an inherited line")
    expect(tries(s, line) == "hung up", "the line is still good")

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line = s.operator()
    send_with_fds(ours, b"x", [line.fileno()])

    def friend():
        _, anc, _, _ = theirs.recvmsg(16, socket.CMSG_SPACE(4))
        got = socket.socket(fileno=array.array("i", anc[0][2])[0])
        got.settimeout(WAIT_S)
        return tries(s, got)

    expect(refused(in_child(friend)), "a friend's line is good")


@test
def a_line_whose_owner_went_inside():
    """Connected clean, tainted before the first word: seen when the word comes."""
    s = Session().start()
    go_r, go_w = os.pipe()
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.read(go_r, 1)
        line = s.operator()
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        os.write(w, tries(s, line).encode())
        os._exit(0)
    os.write(go_w, b"g")
    got = os.read(r, 4096).decode()
    os.waitpid(pid, 0)
    expect(refused(got), got)
    for fd in (go_r, go_w, r, w):
        os.close(fd)


@test
def going_inside_with_an_open_line():
    """The launcher itself may operate: so this process, tainted in a copy of it, must not any more."""

    def launcher():
        s = Session().start()
        line = s.operator()
        before = tries(s, line)
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        after = tries(s, line)
        for r in running:
            r.close()
        return [before, after]

    before, after = in_child(launcher)
    expect(before == "answered" and refused(after), "%s, then %s" % (before, after))


@test
def a_baseline_is_no_zero():
    """An operator in a container that is marked itself: no worse than the helper is."""

    def launcher():
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        s = Session().start()
        got = [tries(s), detached(lambda: tries(s))]
        for r in running:
            r.close()
        return got

    operator, orphan = in_child(launcher)
    expect(operator == "answered", "the operator is refused: " + operator)
    expect(refused(orphan), "where the marks tell nothing, an orphan is the operator")


@test
def descriptors_are_refused():
    s = Session().start()
    line = s.operator()
    send_with_fds(line, INFO, [0])
    expect(receive(line) == b"", "answered")
    w = s.ask(argv=["ask-me"])
    card = s.card()
    line = s.operator()
    send_with_fds(line, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "approval/respond",
                                    "params": {"id": card["id"], "decision": "approved"}}).encode(), [0, 1, 2])
    expect(receive(line) == b"", "answered")
    expect(is_quiet(w) and len(s.cards()) == 1, "a call with descriptors counts")


main()
