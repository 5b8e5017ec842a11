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
def the_same_question_is_one_card():
    s = Session().start()
    waiters = [s.ask(argv=["ask-me", "a"]) for _ in range(5)]
    until(lambda: len(s.card()["askers"]) == 5, "not counted together")
    expect(len(s.cards()) == 1, "more than one card")
    waiters.pop().close()
    # The one that hung up is counted out when the helper sees it.
    time.sleep(0.3)
    reply = s.respond(s.card())
    expect(reply["result"]["waiters"] == 4, "waiters %r" % reply)
    expect(all(s.answer(w).allowed for w in waiters), "not all are answered")
    expect(len(s.records("approval/request")) == 1, "more than one request")


def shown(s):
    card = s.card()
    return card, card_digest(card)


def asks(s, n, **question):
    """n more processes ask the same; the card has them all."""
    before = len(s.card()["askers"]) if s.cards() else 0
    got = [s.ask(argv=["ask-me", "a"], **question) for _ in range(n)]
    until(lambda: len(s.card()["askers"]) == before + n, "not all are on the card")
    return got


@test
def a_yes_is_for_those_who_were_shown():
    s = Session().start()
    first = asks(s, 2)
    card, digest = shown(s)
    late = asks(s, 3)
    got = s.call("approval/respond", id=card["id"], decision="approved", digest=digest)
    expect(got["result"]["waiters"] == 2, "%r" % got)
    expect(all(s.answer(w).allowed for w in first), "who was shown is not allowed")
    expect(all(is_quiet(w, 0.05) for w in late), "who came later was answered")
    again = s.card()
    expect(again["id"] != card["id"] and len(again["askers"]) == 3, "%r" % again)
    expect("error" in s.call("approval/respond", id=again["id"], decision="approved", digest=digest),
        "the digest holds on")
    s.respond(again)
    expect(all(s.answer(w).allowed for w in late), "they cannot be allowed")
    s.finish()
    decisions = s.records("approval/decision")
    expect(["acts=%d" % n in r["detail"] for n, r in zip((2, 3), decisions)] == [True, True], "%r" % decisions)
    expect(len(s.records("approval/request")) == 2, "their question is not on the disk")
    s.expect_whole()


@test
def who_takes_the_place_of_another_was_not_shown():
    s = Session().start()
    first = asks(s, 3)
    card, digest = shown(s)
    for w in first[:2]:
        w.close()
    instead = asks(s, 2)
    got = s.call("approval/respond", id=card["id"], decision="approved", digest=digest)
    expect(got["result"]["waiters"] == 1 and s.answer(first[2]).allowed, "%r" % got)
    expect(all(is_quiet(w, 0.05) for w in instead), "another has acted in the place of who is gone")
    # All who were shown are gone: nobody is allowed.
    card, digest = shown(s)
    more = asks(s, 1)
    for w in instead:
        w.close()
    time.sleep(0.3)
    got = s.call("approval/respond", id=card["id"], decision="approved", digest=digest)
    expect(got["result"]["waiters"] == 0 and is_quiet(more[0]), "%r" % got)
    s.finish()
    s.expect_whole()


@test
def a_no_is_for_all():
    s = Session().start()
    all_ = asks(s, 2)
    card, digest = shown(s)
    all_ += asks(s, 2)
    s.call("approval/respond", id=card["id"], decision="denied", digest=digest)
    expect([s.answer(w).reason for w in all_] == ["human"] * 4, "not all were refused")
    expect(s.cards() == [], "asked on")


@test
def a_wider_yes_reaches_the_others_as_a_grant():
    s = Session().start()
    first = asks(s, 1)
    card, digest = shown(s)
    late = asks(s, 2)
    got = s.call("approval/respond", id=card["id"], decision="approved", scope="session", digest=digest)["result"]
    expect(s.answer(first[0]).approval == card["id"], "not the approval")
    expect([s.answer(w).approval for w in late] == [got["grant"]] * 2, "the others are not covered by the grant")


@test
def a_late_yes_is_for_one():
    s = Session(timeout="1s").start()
    for w in asks(s, 3):
        expect(s.answer(w).reason == "timeout", "not late")
    expect(s.respond(s.card(state="expired"))["result"]["late"], "not late")
    tries = [s.ask(argv=["ask-me", "a"]) for _ in range(4)]
    card = s.card()
    expect([is_quiet(w, 0.05) for w in tries].count(False) == 1, "not one of four")
    expect(len(card["askers"]) == 3, "%r" % card)


@test
def no_more_ask_than_are_shown():
    s = Session().start()
    first = asks(s, 64)
    card, digest = shown(s)
    a = s.question(argv=["ask-me", "a"])
    expect(not a.allowed and "too many" in a.text, "%r" % a)
    for w in first[:10]:
        w.close()
    time.sleep(0.3)
    w = s.ask(argv=["ask-me", "a"])
    until(lambda: len(s.card()["askers"]) == 55, "no room where others are gone")
    got = s.call("approval/respond", id=card["id"], decision="approved", digest=digest)
    expect(got["error"]["code"] == -32005, "an old card counts: %r" % got)
    expect(s.respond(s.card())["result"]["waiters"] == 55, "not all")
    s.answer(w)


@test
def another_question_does_not_join():
    """Whatever decides what happens makes a card of its own."""
    s = Session().start()
    waiters = [s.ask(argv=["ask-me", "a"], **more) for more in (dict(), dict(cwd="/tmp"),
        dict(path="/opt/other/ask-me"),
                                                                dict(git_branch="b"),
                                                                dict(path="/opt/bin/ask-me", ident="git"))]
    until(lambda: len(s.cards()) >= 4, "they joined")
    for w in waiters:
        w.close()


FIRST = ("KUBECONFIG=/staging", "PATH=/bin", "HOME=/root", "GH_TOKEN=0123456789abcdef",
    "LD_PRELOAD=/lib/libpale.so", "TERM=x")


@test
def the_environment_is_part_of_the_question():
    """What differs from the session's first environment makes another card; a yes to one is none to another."""
    s = Session(policy="[session]\ntimeout = 60s\n[commands]\nask = deploytool\nask = kubectl\n", first=FIRST).start()
    same = list(FIRST) + ["PWD=/srv", "SHLVL=3", "_=/bin/x", "OLDPWD=/", "PALE_SESSION_DIR=/x", "COLUMNS=80"]
    w = s.ask(argv=["deploytool", "up"], env=same)
    card = s.card()
    expect(card["env"] == [], "noise: %r" % card["env"])
    variants = [["DEPLOY_TARGET=production"], ["MAKEFLAGS=-f other"], ["npm_config_registry=http://x"], ["X="],
        ["PWD=/elsewhere"],
                ["KUBECONFIG=/production"], ["LD_PRELOAD=/lib/libpale.so:/tmp/x.so"], ["PATH=/tmp:/bin"],
                ["GH_TOKEN=another-secret-1"]]
    others = []
    for n, more in enumerate(variants, 2):
        names = {m.partition("=")[0] for m in more}
        others.append(s.ask_paced(argv=["deploytool", "up"],
            env=[e for e in same if e.partition("=")[0] not in names] + more))
        got = s.card(n)
        expect(len(got["askers"]) == 1 and len(got["env"]) == 1 and card_digest(got) != card_digest(card),
            "%r" % got["env"])
        if "GH_TOKEN" in names:
            expect(got["env"][0].startswith("GH_TOKEN=*** (masked, #") and "another" not in json.dumps(got),
                "%r" % got["env"])
        else:
            expect(got["env"] == more, "%r" % got["env"])
    # Twice in one environment, and what is gone.
    others.append(s.ask_paced(argv=["deploytool", "twice"], env=same + ["KUBECONFIG=/production"]))
    expect(s.card(11)["env"] == ["KUBECONFIG=/production"], "the second of two is not shown")
    others.append(s.ask_paced(argv=["deploytool", "up", "x"], env=["HOME=/root"]))
    expect(sorted(s.card(12)["env"]) == ["GH_TOKEN", "KUBECONFIG", "PATH"], "what is unset: %r" % s.card()["env"])
    # A known program's target is shown where it is the session's own.
    others.append(s.ask_paced(argv=["kubectl", "apply"], env=same))
    expect(s.card(13)["env"] == ["KUBECONFIG=/staging"], "%r" % s.card()["env"])
    s.respond(card)
    expect(s.answer(w).allowed and all(is_quiet(o, 0.02) for o in others), "a yes is for others, too")
    asked = [r["detail"] for r in s.records("approval/request")]
    expect(any("env=DEPLOY_TARGET=production " in d for d in asked)
        and not any("another-secret" in d for d in asked), "%r" % asked)
    for o in others:
        o.close()
    s.finish()
    s.expect_whole()


@test
def secrets_are_told_apart_though_masked():
    s = Session(first=()).start()
    waiters = [s.ask(argv=["ask-me"], env=["API_KEY=" + v]) for v in ("a", "b", "a")]
    until(lambda: len(s.cards()) == 2 and sum(len(c["askers"]) for c in s.cards()) == 3, "not two")
    shown = [c["env"][0] for c in s.cards()]
    expect(shown[0] != shown[1] and all(x.startswith("API_KEY=*") for x in shown), "%r" % shown)
    for w in waiters:
        w.close()


@test
def what_directs_a_command_is_readable():
    """No word in a name, a path or a command hides where a command goes; what is a secret stays one."""
    s = Session(first=()).start()
    shown = ["GIT_CONFIG_KEY_0=url./w/evil.git.insteadOf", "KUBECONFIG=/w/token=production",
        "GIT_SSH_COMMAND=TOKEN=/tmp/x; $TOKEN",
             "GIT_SSH=ssh --password /tmp/x", "GOOGLE_APPLICATION_CREDENTIALS=/w/x", "OLDPWD_=/x", "PWD=/elsewhere",
             "PATH=/w/token=a/bin:/bin"]
    hidden = ["GITHUB_TOKEN=hunter2-a", "GEM_HOST_API_KEY=hunter2-b", "npm_config__authToken=hunter2-c",
        "GIT_PASSWORD=hunter2-d",
              "DEPLOY=x --token=hunter2-e", "npm_config_registry=https://u:hunter2-f@h/"]
    w = s.ask(argv=["ask-me"], env=shown + hidden)
    got = s.card()["env"]
    expect(got[:len(shown)] == shown, "%r" % got)
    expect("hunter2" not in json.dumps(got) and sum("(masked, #" in e for e in got) == len(hidden), "%r" % got)
    expect(any(e.startswith("npm_config_registry=https://u:***@h/ (masked") for e in got), "%r" % got)
    w.close()
    w = s.ask_paced(argv=["git", "push", "o", "x:x"], path="/usr/bin/git", aim="https://h/token=a")
    until(lambda: any(c["to"] == "host h: https://h/token=a" for c in s.cards()), "%r" % [c["to"] for c in s.cards()])
    w.close()
    expect(not any("hunter2" in r["detail"] for r in s.records("approval/request")), "a secret is written down")


@test
def where_a_push_goes_is_part_of_the_question():
    """Its destinations make another card, and a grant is for them alone; where they are not known nothing lasts."""
    s = Session(policy="[session]\ntimeout = 60s\n[commands]\nask = git push\n").start()
    push = dict(argv=["git", "push", "o", "x:x"], path="/usr/bin/git")
    # Where nobody could tell, it is for once.
    w = s.ask(**push, aim="\nsome reason")
    card = s.card()
    expect(card["to"] == "not known: some reason", "%r" % card["to"])
    expect(card["offers"]["lines"] == [] and "not known" in card["offers"]["why_none"], "%r" % card["offers"])
    for more in (dict(), dict(rule="allow = git push o x:x")):
        expect("error" in s.respond(card, scope="session", **more), "it lasts")
    s.respond(card)
    expect(s.answer(w).allowed, "a yes is none")
    # Where nobody has looked, as at level hooks, what is granted answers the like of it alone.
    w = s.ask(**push)
    card = s.card()
    expect(card["to"] == "not known: pale does not determine it at level hooks", "%r" % card["to"])
    expect("result" in s.respond(card, scope="session"), "it may not last")
    expect(s.answer(w).allowed and s.question(**push).allowed, "the grant does not hold")
    w = s.ask(**push, aim="https://h/a")
    card = s.card()
    expect(card["to"] == "host h: https://h/a", "%r" % card["to"])
    expect("result" in s.respond(card, scope="session"), "it may not last")
    expect(s.answer(w).allowed and s.question(**push, aim="https://h/a").allowed, "the grant does not hold")
    others = [dict(aim="\nhttps://h/a"), dict(aim="https://h/b"), dict(aim="https://h/a\nssh://g@k/a"),
        dict(aim="https://u:passw1@h/a"),
              dict(aim="https://u:passw2@h/a")]
    waiters = []
    digests = set()
    for n, more in enumerate(others, 1):
        waiters.append(s.ask_paced(**push, **more))
        got = s.card(n)
        expect(len(got["askers"]) == 1, "joined: %r" % more)
        digests.add(card_digest({**got, "id": "", "askers": [], "pid": 0}))
    expect(len(digests) == len(others), "two have one digest")
    expect(s.cards()[2]["to"] == "host h: https://h/a, and host k: ssh://g@k/a", "%r" % s.cards()[2]["to"])
    expect(all(c["to"].startswith("host h: https://u:***@h/a (masked, #") for c in s.cards()[3:]),
        "%r" % s.cards()[3]["to"])
    grants = s.result("grants/list")["grants"]
    expect(sum(" to host h: https://h/a" in g["bound"] for g in grants) == 1, "%r" % grants)
    asked = [r["detail"] for r in s.records("approval/request")]
    expect(any("to=host h: https://h/a " in d for d in asked) and not any("passw" in d for d in asked), "%r" % asked)
    for w in waiters:
        w.close()
    s.finish()
    s.expect_whole()


@test
def an_environment_that_cannot_be_shown_is_not_asked():
    s = Session().start()
    for env in (["A=" + "x" * 61000], ["V%d=%s" % (i, "\x01" * 10) for i in range(1500)]):
        a = s.question(argv=["ask-me"], env=env)
        expect(not a.allowed and a.reason == "long", "%r" % a)
    expect(not s.cards(), "asked")


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
