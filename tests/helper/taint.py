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
    expect(outside(tries, s.runtime) == "answered", "the operator is refused")
    expect(tries(s.runtime).startswith("the peer performs"), "the launcher, who connects for the agent, is the operator")


@test
def no_new_privs_above_the_baseline():
    s = Session().start()

    def body():
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return tries(s.runtime)

    got = in_child(body)
    expect(got.startswith("the peer is inside"), got)
    s.finish()
    told = s.records("approval/refused")
    expect(len(told) == 1 and told[0]["verdict"] == "deny" and s.id in told[0]["detail"], "records %r" % told)


@test
def children_of_the_launcher():
    s = Session().start()
    got = in_child(lambda: tries(s.runtime))
    expect(got.startswith("the peer is inside"), got)


@test
def the_agent_and_its_children():
    s = Session().start()

    def agent():
        s.tell(type="agent", pid=os.getpid())
        until(lambda: os.path.exists(s.runtime + "/session.json"), "no description")
        return [tries(s.runtime), in_child(lambda: tries(s.runtime))]

    for got in in_child(agent):
        expect(got.startswith("the peer is inside"), got)


@test
def an_orphan_in_a_session_of_its_own():
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    s = Session().start()
    got = detached(lambda: tries(s.runtime))
    expect(got.startswith("the peer is inside"), got)


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


main()
