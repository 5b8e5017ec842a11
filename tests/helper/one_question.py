"""What one question is: who waits for its answer, and what of a command the operator is shown and answers."""

import time

from session import *


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
    expect(s.card(11)["env"] == ["KUBECONFIG=/staging", "KUBECONFIG=/production"], "%r" % s.card(11)["env"])
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


main()
