"""The operator's protocol: digests, limits, who is told of what."""

import threading

from session import *

CODES = {"parse": -32700, "request": -32600, "method": -32601, "params": -32602, "refused": -32001, "no card": -32002,
         "failed": -32003, "digest": -32005, "closed": -32006, "step-up": -32007, "rule": -32008,
         "limit": -32009, "version": -32010, "state": -32011, "scope": -32012}


def expect_error(reply, name):
    expect(reply and "error" in reply and reply["error"]["code"] == CODES[name], "not %s: %r" % (name, reply))


def waiting(s, *words):
    w = s.ask(argv=["ask-me", *words])
    return w, s.card()


def respond(s, line, card, **params):
    return s.call("approval/respond", on=line, id=card["id"], decision="approved", **params)


@test
def hello_says_what_is_spoken():
    s = Session().start()
    got = s.result("hello", version=4, client="test")
    expect(got["version"] == 4 and got["session"] == s.id and got["uid"] == os.geteuid(), "hello %r" % got)
    expect(got["sealed"] is False and got["stepup"] in ([], ["pam"]), "hello %r" % got)
    expect_error(s.call("hello", version=1), "version")
    expect_error(s.call("hello", client="x" * 65), "params")
    expect_error(s.call("hello", scopes=["root"]), "params")


@test
def what_was_renounced_is_gone():
    s = Session().start()
    w, card = waiting(s)
    line = s.operator()
    s.call("hello", on=line, scopes=["read"])
    expect("result" in s.call("approval/list", on=line), "it may not look")
    expect_error(s.call("turn/begin", on=line), "scope")
    seen = s.read_whole(card, line)
    expect_error(respond(s, line, card, **seen), "scope")
    s.call("hello", on=line, scopes=["read", "answer", "manage"])
    expect_error(respond(s, line, card, **seen), "scope")
    expect(is_quiet(w), "answered")


@test
def a_card_says_all():
    s = Session().start()
    w, card = waiting(s, "a b", "\x1b[0m")
    for name in ("id", "short", "state", "agent", "session", "turn", "op", "access", "target", "argv", "file", "branch",
                 "cwd", "exe", "pid", "tree", "rule", "risk", "stepup",
                 "offers", "asked", "deadline_ns", "left_s", "askers"):
        expect(name in card, "the card lacks " + name)
    expect(card_digest(card) not in json.dumps(s.call("approval/show", id=card["id"])), "the digest is told")
    expect(card["argv"] == ["ask-me", "a b", "\\x1b[0m"], "argv %r" % card["argv"])
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    expect(now < card["deadline_ns"] < now + 61e9 and card["session"] == s.id, "card %r" % card)


@test
def a_card_that_does_not_fit_is_not_asked():
    """Escaped, this is beyond a packet."""
    s = Session().start()
    for long in (dict(argv=["ask-me", "\x01" * 5000], cwd="/" + "\x01" * 4000), dict(argv=["ask-me", "x" * 31000]),
                 dict(argv=["ask-me"] + ["y"] * 10500)):
        a = s.question(**long)
        expect(not a.allowed and a.reason == "long" and "too long to be shown" in a.text, "answer %r" % a)
    expect(s.cards() == [] and not s.records("approval/request"), "asked")
    w, card = waiting(s, "x" * 20000)
    expect(card["argv"] == ["ask-me", "x" * 20000], "not whole")
    expect("result" in s.respond(card) and s.answer(w).allowed, "not allowed")


@test
def no_answer_without_the_digest():
    """What a client shows is what it answers: each member of the card counts, and none that is not shown."""
    s = Session().start()
    w, card = waiting(s, "a")
    line = s.operator()
    expect_error(respond(s, line, card), "digest")
    right = card_digest(card)
    for wrong in ("", "0" * 64, right[:-1], right + "0", right.upper(), " " + right):
        expect_error(respond(s, line, card, digest=wrong), "digest")
    for name in CARD_MEMBERS:
        for other in ("x", None, {}):
            expect_error(respond(s, line, card, digest=card_digest({**card, name: other})), "digest")
        if name in card:
            less = card_digest({k: v for k, v in card.items() if k != name})
            expect_error(respond(s, line, card, digest=less), "digest")
    expect(is_quiet(w) and len(s.cards()) == 1, "answered")
    expect("result" in respond(s, line, card, digest=card_digest({**card, "left_s": 0, "short": "?"})),
        "the right one is refused")
    expect(s.answer(w).allowed, "not allowed")


@test
def a_digest_is_for_one_card():
    s = Session().start()
    w, card = waiting(s, "a")
    v = s.ask(argv=["ask-me", "b"])
    other = s.card(2)
    line = s.operator()
    expect_error(respond(s, line, other, digest=card_digest(card)), "digest")
    expect_error(respond(s, line, card, digest=card_digest(other)), "digest")
    expect(is_quiet(w) and is_quiet(v), "answered")


@test
def an_answer_is_not_replayed():
    s = Session().start()
    line = s.operator()
    w, card = waiting(s)
    seen = s.read_whole(card, line)
    expect("result" in respond(s, line, card, **seen) and s.answer(w).allowed, "not allowed")
    reply = respond(s, line, card, **seen)
    expect("error" in reply and reply["error"]["code"] in (CODES["closed"], CODES["no card"]), "reply %r" % reply)
    w, again = waiting(s)
    expect(again["id"] != card["id"] and card_digest(again) != card_digest(card), "two questions are one")
    expect_error(respond(s, line, again, **seen), "digest")
    expect(is_quiet(w), "answered")


@test
def two_approvers_at_once():
    """The first to be heard decides; the other is told who it was, and nothing is done twice."""
    for round in range(20):
        s = Session().start()
        w, card = waiting(s)
        lines = [s.operator(), s.operator()]
        seen = [s.read_whole(card, line) for line in lines]
        for line, what, decision, by in zip(lines, seen, ("approved", "denied"), ("ana", "ben")):
            line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "approval/respond",
                                  "params": {"id": card["id"], "decision": decision, "by": by, **what}}).encode())
        replies = [json.loads(receive(line)) for line in lines]
        won = [i for i, r in enumerate(replies) if "result" in r]
        expect(len(won) == 1, "replies %r" % replies)
        lost = replies[1 - won[0]]["error"]
        expect(lost["code"] in (CODES["closed"], CODES["no card"]), "the second is told %r" % lost)
        a = s.answer(w)
        expect(a.allowed == (won[0] == 0), "the other one counted")
        expect(len(s.records("approval/decision")) == 1, "two decisions")
        s.finish()


@test
def expired_and_cancelled():
    s = Session(timeout="1s").start()
    line = s.operator()
    w, card = waiting(s)
    w.close()
    until(lambda: not s.cards(), "the card stays")
    reply = s.call("approval/show", on=line, id=card["id"])
    expect("error" in reply and reply["error"]["code"] in (CODES["closed"], CODES["no card"]), "reply %r" % reply)


@test
def lines_are_modest():
    s = Session().start()
    line = s.operator()
    deep = b'{"jsonrpc":"2.0","id":1,"method":"session/info","params":{"a":' + b"[" * 9 + b"]" * 9 + b"}}"
    crowd = b'{"jsonrpc":"2.0","id":1,"method":"session/info","params":{"a":[' + b"1," * 300 + b"1]}}"
    quoted = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/info",
        "params": {"a": "[{,:\\\"" * 200}}).encode()
    for raw, well in ((deep, False), (crowd, False), (quoted, True), (b"\xff" * 100, False), (b'"' * 101, False)):
        line.send(raw)
        reply = json.loads(receive(line))
        expect(("result" in reply) == well, "%r: %r" % (raw[:80], reply))
        if not well:
            expect_error(reply, "parse")
    bad = [dict(until="2030-01-01"), dict(scope="session", until="2030-01-01T25:00:00Z"),
           dict(scope="project", until="soon"), dict(scope="project", until="2030-1-1"),
           dict(scope="once", rule="allow = x"), dict(scope="session", rule="x" * 5000), dict(scope="for ever"),
           dict(by="b" * 129), dict(reason="r" * 1025)]
    w, card = waiting(s)
    for more in bad:
        expect_error(s.respond(card, on=line, **more), "params")
    expect(is_quiet(w), "answered")


def crowd_of(runtime, n):
    lines, told = [], []
    for _ in range(n):
        c = connect(runtime + "/control.sock")
        lines.append(c)
        try:
            c.send(b'{"jsonrpc":"2.0","id":1,"method":"session/info"}')
            reply = json.loads(receive(c) or b"{}")
        except OSError:
            reply = json.loads(receive(c) or b"{}")
        told.append("result" in reply or reply.get("error", {}).get("code"))
    return told


@test
def a_process_has_eight_connections():
    s = Session().start()
    told = outside(crowd_of, s.runtime, 12)
    expect(told[:8] == [True] * 8, "told %r" % told)
    expect(True not in told[8:] and set(told[8:]) <= {CODES["limit"], None}, "told %r" % told)
    expect("result" in s.call("session/info"), "nobody else may connect")
    w, card = waiting(s)
    s.respond(card)
    expect(s.answer(w).allowed, "the agent's places are eaten")


@test
def operators_do_not_eat_the_agents_places():
    s = Session().start()
    lines = [s.operator() for _ in range(40)]
    w = s.ask(argv=["deny-me"])
    expect(not s.answer(w).hung_up, "the agent is not heard")
    for line in lines:
        line.close()
    until(lambda: "result" in (s.call("session/info") or {}), "no operator is heard any more")


def note(line, method, seconds=WAIT_S):
    """The next notification of that name; others are passed over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        raw = receive(line)
        if not raw:
            break
        j = json.loads(raw)
        if j.get("method") == method:
            return j["params"]
    raise Failed("no " + method)


@test
def subscribers_are_told_of_questions():
    s = Session().start()
    line = s.operator()
    expect(s.call("log/subscribe", on=line, approvals=True)["result"] == {"approvals": True, "records": False},
        "subscribed")
    w = s.ask(argv=["ask-me", "a"])
    told = note(line, "approval/request")
    card = s.card()
    expect(told["id"] == card["id"] and card_digest(told) == card_digest(card) and told["target"] == "ask-me a",
        "told %r" % told)
    s.respond(card, by="ana")
    s.answer(w)
    told = note(line, "approval/resolved")
    expect(told["id"] == card["id"] and told["state"] == "approved" and told["by"] == "ana"
        and told["scope"] == "once", "%r" % told)
    reply = s.call("approval/show", id=card["id"])
    expect_error(reply, "closed")
    expect("ana" in reply["error"]["message"], "it does not say who: %r" % reply)
    s.result("turn/begin")
    expect(note(line, "turn/began")["turn"] == 2, "turn")
    expect(s.call("log/subscribe", on=line)["result"] == {"approvals": False, "records": False}, "not unsubscribed")


@test
def subscribers_are_told_of_the_refused():
    s = Session().start()
    line = s.operator()
    s.call("log/subscribe", on=line, approvals=True)
    me = connect(s.runtime + "/control.sock")
    told = note(line, "approval/refused")
    expect(told["pid"] == os.getpid() and told["why"].startswith("the process "), "told %r" % told)
    # The launcher is told too, once for each process.
    connect(s.runtime + "/control.sock")
    note(line, "approval/refused")
    warned = s.packet()
    expect(warned["type"] == "warn" and "%d" % os.getpid() in warned["text"], "launcher is told %r" % warned)
    expect(is_quiet(s.fd), "and told again")
    me.close()


@test
def records_as_they_are_written():
    s = Session().start()
    line = s.operator()
    s.call("log/subscribe", on=line, records=True)
    s.ring().decide("/srv/seen", verdict=DENY)
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        r = note(line, "log/record")["record"]
        if r["target"] == "/srv/seen":
            break
    expect(r == [x for x in s.records() if x["target"] == "/srv/seen"][0], "not what is on the disk")


def sleeper(runtime):
    c = connect(runtime + "/control.sock")
    c.send(b'{"jsonrpc":"2.0","id":1,"method":"log/subscribe","params":{"records":true,"approvals":true}}')
    receive(c)
    open(runtime + "/../asleep", "w").close()
    while not os.path.exists(runtime + "/../awake"):
        time.sleep(0.01)
    lost = got = 0
    while raw := c.recv(1 << 17, socket.MSG_DONTWAIT) if is_ready(c) else b"":
        j = json.loads(raw)
        got += j["method"] == "log/record"
        lost += j["params"]["count"] if j["method"] == "log/lost" else 0
    return [got, lost]


def is_ready(c):
    return bool(select.select([c], [], [], 3)[0])


@test
def who_does_not_read_holds_nobody_up():
    s = Session().start()
    for name in ("asleep", "awake"):
        if os.path.exists(s.runtime + "/../" + name):
            os.unlink(s.runtime + "/../" + name)
    got = []
    t = threading.Thread(target=lambda: got.append(outside(sleeper, s.runtime)))
    t.start()
    until(lambda: os.path.exists(s.runtime + "/../asleep"), "no subscriber")
    ring = s.ring()
    began = time.monotonic()
    for i in range(5000):
        ring.decide("/srv/%d/%s" % (i, "x" * 200), verdict=DENY)
    until(lambda: len(s.records("read")) == 5000, "the records do not come", 20)
    expect("result" in s.call("session/info"), "the helper is held up")
    expect(s.question(argv=["deny-me"]).reason == "1", "the helper is held up")
    # Nothing more is recorded: it hears what it missed as soon as it has read the rest.
    open(s.runtime + "/../awake", "w").close()
    t.join()
    told, lost = got[0]
    expect(told > 0 and lost > 0 and told + lost >= 4900, "told %d, lost %d" % (told, lost))


@test
def explain_judges_by_this_policy():
    s = Session().start()
    for params, verdict in ((dict(op="exec", args=["ask-me", "x"]), "ask"), (dict(op="exec", args=["deny-me"]), "deny"),
                            (dict(op="exec", args=["true"]), "allow"), (dict(op="write", args=["/etc/passwd"]), "deny"),
                            (dict(op="write", args=["file"], cwd="/srv"), "allow"),
                            (dict(op="connect", args=["192.0.2.1", "443"]), None)):
        got = s.result("policy/explain", **params)
        expect(verdict in (None, got["verdict"]) and got["rule"], "%r: %r" % (params, got))
    for bad in (dict(op="exec"), dict(op="fly", args=["x"]), dict(op="exec", args=[1]),
        dict(op="connect", args=["x", "0"]),
                dict(op="read", args=["a", "b"]), dict(op="read", args=["x"], cwd="rel"),
                dict(op="exec", args=["x"] * 129)):
        expect_error(s.call("policy/explain", **bad), "params")


main()
