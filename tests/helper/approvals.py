"""From a question to its answer: once, session, denied for the turn, too late, too many, nobody."""

import os
import resource
import time

from session import *


@test
def approved_once_is_once():
    s = Session().start()
    w = s.ask(argv=["ask-me", "a"])
    card = s.card()
    expect(card["target"] == "ask-me a" and card["cwd"] == "/srv", "card %r" % card)
    reply = s.respond(card)
    expect(reply["result"]["waiters"] == 1 and not reply["result"]["late"], "reply %r" % reply)
    a = s.answer(w)
    expect(a.allowed and a.reason == "human" and a.approval == card["id"], "answer %r" % a)
    expect(s.cards() == [], "the card is still there")
    expect("error" in s.respond(card), "answered twice")
    w = s.ask(argv=["ask-me", "a"])
    expect(s.card()["id"] != card["id"], "one approval answered twice")
    w.close()
    expect(s.finish() == 0, "exit code")
    s.expect_whole()


@test
def denied_with_its_reason_and_not_asked_again():
    s = Session().start()
    w = s.ask(argv=["ask-me", "a"])
    s.respond(s.card(), "denied", reason="use \x1b[31mmake\n")
    a = s.answer(w)
    expect(not a.allowed and a.reason == "human" and a.text == "use \\x1b[31mmake\\x0a", "answer %r" % a)
    for _ in range(3):
        a = s.question(argv=["ask-me", "a"])
        expect(not a.allowed and a.reason == "repeated", "repeat %r" % a)
    w = s.ask(argv=["ask-me", "b"])
    s.card()
    expect(s.result("turn/begin")["turn"] == 2, "turn")
    again = s.ask(argv=["ask-me", "a"])
    s.respond(s.card(2))
    expect(s.answer(again).allowed, "not asked anew in the next turn")
    expect(len(s.records("approval/request")) == 3, "requests on the disk")
    w.close()
    s.finish()
    expect([r["turn"] for r in s.records("turn/begin")] == [2], "the turn is not written down")
    s.expect_whole()


@test
def session_grant_is_for_this_question_only():
    s = Session().start()
    w = s.ask(argv=["ask-me", "a"])
    card = s.card()
    reply = s.respond(card, scope="session")["result"]
    expect(s.answer(w).allowed, "not allowed")
    for _ in range(3):
        a = s.question(argv=["ask-me", "a"])
        expect(a.allowed and a.approval == reply["grant"], "grant %r" % a)
    others = [dict(argv=["ask-me", "b"]), dict(argv=["ask-me", "A"]), dict(argv=["ask-me", "a", ""])]
    waiters = []
    for n, other in enumerate(others, 1):
        waiters.append(s.ask(**other))
        s.card(n)
    s.result("turn/begin")
    expect(s.question(argv=["ask-me", "a"]).allowed, "a session's grant ends with the turn")


@test
def hanging_up_cancels():
    s = Session().start()
    w = s.ask(argv=["ask-me", "a"])
    card = s.card()
    w.close()
    until(lambda: s.cards() == [], "the card stays")
    expect("error" in s.respond(card), "a cancelled question was answered")
    s.finish()
    expect(len(s.records("approval/cancelled")) == 1 and not s.records("approval/decision"), "records")
    s.expect_whole()


@test
def a_second_frame_is_hanging_up():
    s = Session().start()
    w = s.ask(argv=["ask-me", "a"])
    s.card()
    w.send(ask_frame(argv=["ask-me", "b"]))
    expect(receive(w) == b"", "answered")
    until(lambda: s.cards() == [], "the card stays")


@test
def nobody_answers_in_time():
    s = Session(timeout="1s").start()
    began = time.monotonic()
    w = s.ask(argv=["ask-me", "a"])
    card = s.card()
    a = s.answer(w)
    took = time.monotonic() - began
    expect(not a.allowed and a.reason == "timeout" and 0.9 < took < 2, "answer %r after %.1f s" % (a, took))
    late = s.respond(card)
    expect(late["result"]["late"] and late["result"]["waiters"] == 0, "late %r" % late)
    a = s.question(argv=["ask-me", "a"])
    expect(a.allowed and a.approval == card["id"], "no grant for the retry: %r" % a)
    w = s.ask(argv=["ask-me", "a"])
    s.card()
    w.close()
    s.finish()
    expect([r["op"] for r in s.records() if r["op"].startswith("approval/")][:3] ==
           ["approval/request", "approval/expired", "approval/decision"], "order")
    s.expect_whole()


@test
def late_denial_is_kept():
    s = Session(timeout="1s").start()
    w = s.ask(argv=["ask-me", "a"])
    card = s.card()
    s.answer(w)
    expect(s.respond(card, "denied")["result"]["late"], "not late")
    expect(s.question(argv=["ask-me", "a"]).reason == "repeated", "asked again")


@test
def sixty_four_wait_and_the_next_is_denied():
    s = Session().start()
    waiters = s.ask_many(64)
    until(lambda: s.result("session/info")["pending"] == 64, "not all wait")
    time.sleep(1)
    a = s.question(argv=["ask-me", "one more"])
    expect(not a.allowed and a.reason == "nobody" and "too many" in a.text, "answer %r" % a)
    joined = s.ask(argv=["ask-me", "5"])
    listed, at = [], 0
    while at is not None:
        page = s.result("approval/list", **{"from": at})
        listed += page["approvals"]
        at = page.get("next")
    expect(len({c["id"] for c in listed}) == 64, "the list has %d" % len(listed))
    for c in listed:
        s.respond(c)
    expect(all(s.answer(w).allowed for w in waiters + [joined]), "not all are answered")
    s.finish()
    s.expect_whole()


def is_served(s):
    try:
        return s.question(argv=["deny-me"]).reason == "1"
    except (OSError, Failed):
        return False


@test
def many_connections_leave_the_operator_a_place():
    s = Session().start()
    idle = [connect(s.runtime + "/agent.sock") for _ in range(200)]
    expect(s.result("session/info")["session"] == s.id, "no answer")
    time.sleep(2)
    until(lambda: is_served(s), "idle connections are kept for ever")
    expect(len(idle) == 200, "connections")


@test
def never_and_nobody():
    s = Session(policy="[session]\napprovals = never\n[commands]\nask = ask-me\n").start()
    a = s.question(argv=["ask-me"])
    expect(not a.allowed and a.reason == "never", "answer %r" % a)
    expect(not s.records("approval/request"), "asked")
    s = Session().start(no_prompt=True)
    a = s.question(argv=["ask-me"])
    expect(not a.allowed and a.reason in ("never", "nobody"), "answer %r" % a)
    expect(not s.records("approval/request"), "asked")


@test
def judged_again_here():
    s = Session().start()
    a = s.question(argv=["deny-me"])
    expect(not a.allowed and a.reason == "1" and "deny-me" in a.text, "answer %r" % a)
    expect(s.cards() == [], "a deny was asked")
    expect(s.question(argv=["true"]).allowed, "an allowed one is not")


@test
def only_the_launcher_speaks_for_the_operator():
    s = Session().start()
    root = ask_frame(argv=["ask-me", "typed"], flags=0x2000)
    expect(s.question(frame=root).allowed, "the launcher may not ask for what was typed")
    gone = os.fork()
    if gone == 0:
        time.sleep(60)
    s.tell(type="agent", pid=gone)
    until(lambda: s.result("session/info")["pid"] == gone, "the agent's pid is not known")
    w = s.ask(frame=root)
    s.card()
    w.close()
    os.kill(gone, 9)
    os.waitpid(gone, 0)

    def as_agent():
        # What the ring says is the agent's word: it must not matter.
        w = s.ask(frame=root)
        r = is_quiet(w, 0.3)
        w.close()
        return r

    s = Session().start()
    go_r, go_w = os.pipe()

    def agent():
        os.read(go_r, 1)
        return as_agent()

    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(w, b"y" if agent() else b"n")
        os._exit(0)
    s.tell(type="agent", pid=pid)
    until(lambda: s.result("session/info")["pid"] == pid, "the agent's pid is not known")
    os.write(go_w, b"g")
    expect(os.read(r, 1) == b"y", "the agent passed for the operator's own command")
    os.waitpid(pid, 0)
    for fd in (go_r, go_w, r, w):
        os.close(fd)


@test
def a_grant_that_does_not_fit_is_not_recorded():
    s = Session(timeout="60s").start()
    for i in range(256):
        w = s.ask_paced(argv=["ask-me", str(i)])
        expect("result" in s.respond(s.card(), scope="session"), "grant %d" % i)
        expect(s.answer(w).allowed, "grant %d" % i)
    w = s.ask(argv=["ask-me", "more"])
    card = s.card()
    reply = s.respond(card, scope="session")
    expect("too many" in reply["error"]["message"], "reply %r" % reply)
    expect(is_quiet(w), "the one who waits was told")
    expect(not [r for r in s.records("approval/decision") if r["approval"] == card["id"]], "an allow is written down")
    expect("result" in s.respond(card), "nor can it be approved once")
    expect(s.answer(w).allowed, "not allowed")


@test
def ten_a_second():
    s = Session().start()
    waiters = [s.ask(argv=["ask-me", str(i)]) for i in range(14)]
    until(lambda: len(s.cards()) == 10, "not ten are asked")
    told = [s.answer(w) for w in waiters if not is_quiet(w, 0.2)]
    expect(len(told) == 4 and all(not a.allowed and "one second" in a.text for a in told), "%r" % told)
    expect(len(s.records("approval/request")) == 10, "requests on the disk")
    time.sleep(1.05)
    w = s.ask(argv=["ask-me", "later"])
    card = s.card(11)
    expect(card["target"] == "ask-me later" and card["flood"], "%r" % card)
    w.close()


@test
def a_denied_group_is_what_one_rule_asked():
    s = Session(policy="[session]\ntimeout = 60s\n[commands]\nask = ask-me\nask = other\n").start()
    alike = [s.ask(argv=["ask-me", str(i)]) for i in range(4)]
    other = s.ask(argv=["other", "x"])
    until(lambda: len(s.cards()) == 5, "not all wait")
    card = next(c for c in s.cards() if c["target"] == "ask-me 2")
    reply = s.respond(card, "denied", group=True, reason="not now")["result"]
    expect(len(reply["also"]) == 3 and card["id"] not in reply["also"], "%r" % reply)
    for w in alike:
        a = s.answer(w)
        expect(not a.allowed and a.reason == "human" and a.text == "not now", "%r" % a)
    expect([c["target"] for c in s.cards()] == ["other x"], "what another rule asked is gone")
    other.close()
    s.finish()
    decisions = s.records("approval/decision")
    expect(len(decisions) == 4 and len({r["approval"] for r in decisions}) == 4, "not one record each")
    expect(sum("with=" + card["id"] in r["detail"] for r in decisions) == 3, "which answer it was is not told")
    s.expect_whole()


@test
def an_approved_group_is_what_the_rule_covers():
    s = Session().start()
    inside = [s.ask(argv=["ask-me", "x", str(i)]) for i in range(3)]
    outside = s.ask(argv=["ask-me", "y"])
    until(lambda: len(s.cards()) == 4, "not all wait")
    card = next(c for c in s.cards() if c["target"] == "ask-me x 1")
    shown = [card_digest(c) for c in s.cards() if c["target"] != "ask-me x 2"]
    reply = s.respond(card, group=True, rule="allow = ask-me x *", **{"with": shown})["result"]
    expect(len(reply["also"]) == 1, "what was not shown was answered: %r" % reply)
    expect(s.answer(inside.pop(0)).allowed and s.answer(inside.pop(0)).allowed and is_quiet(inside[0]),
        "not those shown")
    reply = s.respond(next(c for c in s.cards() if c["target"] == "ask-me x 2"), group=True, rule="allow = ask-me x *",
                      **{"with": "x"})["result"]
    expect(reply["also"] == [], "%r" % reply)
    expect(all(s.answer(w).allowed for w in inside), "not all are allowed")
    expect([c["target"] for c in s.cards()] == ["ask-me y"], "too much or too little")
    again = s.ask(argv=["ask-me", "x", "1"])
    until(lambda: len(s.cards()) == 2, "once was for longer")
    for w in (outside, again):
        w.close()
    s.finish()
    s.expect_whole()


@test
def looked_at_it_waits_longer():
    s = Session(timeout="1s").start()
    w = s.ask(argv=["ask-me", "a"])
    line = s.operator()
    s.read_whole(s.card(), line)
    time.sleep(1.5)
    card = s.card()
    expect(60 < card["left_s"] <= 120, "left %r" % card["left_s"])
    s.respond(card)
    expect(s.answer(w).allowed, "not allowed")


@test
def nobody_there():
    s = Session().start(reach=[])
    a = s.question(argv=["ask-me"])
    expect(not a.allowed and a.reason == "nobody" and "PALE_PROMPT=1" in a.text, "answer %r" % a)
    expect(not s.records("approval/request"), "asked")
    line = s.operator()
    expect("result" in s.call("log/subscribe", on=line, approvals=True), "subscribe")
    w = s.ask(argv=["ask-me"])
    s.card()
    line.close()
    w.close()


@test
def what_came_of_it():
    """At level hooks the process's own record is all there is, and it is told as a claim."""
    s = Session().start()
    ring = s.ring()
    w = s.ask(argv=["ask-me", "a"])
    card = s.card()
    s.respond(card)
    expect(s.answer(w).allowed, "not allowed")
    expect(not s.records("approval/outcome"), "an outcome before the act")
    ring.decide("ask-me a", op="exec", approval=card["id"].encode())
    until(lambda: s.records("approval/outcome"), "no outcome")
    gone = os.fork()
    if gone == 0:
        w = s.ask(argv=["ask-me", "b"])
        receive(w)
        os._exit(0)
    s.respond(s.card())
    os.waitpid(gone, 0)
    until(lambda: len(s.records("approval/outcome")) == 2, "nobody tells that it was not used")
    w = s.ask(argv=["ask-me", "c"])
    s.respond(s.card())
    s.answer(w)
    s.finish()
    told = [r["detail"].split("outcome: ")[1].split(" cwd=")[0] for r in s.records("approval/outcome")]
    expect(told == ["begun, as the process says", "never used: the process that asked is gone",
                    "never used: the session is over"], "%r" % told)
    s.expect_whole()


@test
def sixteen_sessions_of_sixty_four():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sessions = [Session(timeout="120s").start() for _ in range(16)]
    waiters = {s: [] for s in sessions}
    for i in range(64):
        for s in sessions:
            waiters[s].append(s.ask_paced(argv=["ask-me", str(i)]))
    for s in sessions:
        until(lambda: s.result("session/info")["pending"] == 64, "not all wait", 60)
    for s in sessions:
        line, at, cards = s.operator(), 0, []
        while at is not None:
            page = s.call("approval/list", on=line, **{"from": at})["result"]
            cards += page["approvals"]
            at = page.get("next")
        for c in cards:
            expect("result" in s.respond(c, on=line), "not answered")
        line.close()
    for s in sessions:
        expect(all(s.answer(w).allowed for w in waiters[s]), "not all are allowed")
        s.finish()
        expect(len(s.records("approval/decision")) == 64, "decisions on the disk")
        s.expect_whole()


@test
def long_targets_are_shown_whole():
    s = Session().start()
    long = "x\n\u202e" * 2000
    w = s.ask(argv=["ask-me", long])
    card = s.card()
    expect("\n" not in card["target"] and card["target"].count("x\\x0a") == 2000, "target %d" % len(card["target"]))
    w.close()


@test
def operator_protocol():
    s = Session().start()
    o = s.operator()
    bad = [(b"x", -32700), (b"[]", -32600), (b"[" * 60000, -32700), (b'{"jsonrpc":"2.0","id":1,"method":"no"}', -32601),
           (b'{"jsonrpc":"1.0","id":1,"method":"session/info"}', -32600),
           (b'{"jsonrpc":"2.0","id":[],"method":"session/info"}', -32600),
           (b'{"jsonrpc":"2.0","id":1,"method":"session/info","params":[]}', -32600),
           (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"session/info"}', -32700),
           (b'{"jsonrpc":"2.0","id":1,"method":"approval/respond"}', -32602),
           (b'{"jsonrpc":"2.0","id":1,"method":"approval/respond","params":{"id":"0000"}}', -32002)]
    for line, code in bad:
        o.send(line)
        reply = json.loads(receive(o))
        expect(reply["error"]["code"] == code, "%r: %r" % (line[:60], reply))
    o.send(b'{"jsonrpc":"2.0","method":"session/info"}')
    expect(is_quiet(o), "a notification is answered")
    w = s.ask(argv=["ask-me"])
    card = s.card()
    for more in (dict(decision="yes"), dict(decision="approved", scope="ever"),
                 dict(decision="denied", reason="r" * 1025), dict(decision="denied", by="b" * 129)):
        expect(s.call("approval/respond", id=card["id"], **more)["error"]["code"] == -32602, "%r" % more)
    expect(s.call("approval/respond", id=card["id"][:3], decision="approved")["error"]["code"] == -32002,
        "three digits")
    expect(is_quiet(w), "answered by a bad call")
    o.send(b"y" * 70000)
    expect(receive(o) == b"", "a line over the limit keeps the connection")


main()
