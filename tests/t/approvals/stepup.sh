# nightly: hooks
# limit: 150
# What cannot be taken back needs the passphrase: asked on a terminal, checked by the helper, for one card.
. "$T_LIB"
. "$T_BASE/t/stepup-lib.sh"

t_set_change_remove() {
	tty short short -- pale passphrase set
	rc_is 1
	out_has "at least 8 characters"
	tty "$SECRET" "another horse battery" -- pale passphrase set
	rc_is 1
	out_has "two different passphrases"
	tty "$SECRET" "$SECRET" "$PHRASE" -- pale passphrase set
	rc_is 0
	out_lacks "$SECRET"
	[ "$(stat -c %a "$STATE/passphrase")" = 600 ] || fail "its mode"
	! grep -q "correct" "$STATE/passphrase" || fail "it lies there"
	grep -qF '$argon2id$v=19$m=65536,t=2,p=1$' "$STATE/passphrase" || fail "no hash"
	tty "$SECRET" -- pale passphrase check
	rc_is 0
	out_has "$PHRASE"
	tty "wrong one" -- pale passphrase check
	rc_is 1
	out_has "this is not the passphrase"
	# Changed and removed by who knows it.
	tty "wrong one" -- pale passphrase set
	rc_is 1
	tty "wrong one" -- pale passphrase remove
	rc_is 1
	exists "$STATE/passphrase"
	tty "$SECRET" "a second passphrase" "a second passphrase" "two phrases" -- pale passphrase set
	rc_is 0
	tty "a second passphrase" -- pale passphrase remove
	rc_is 0
	missing "$STATE/passphrase"
	run pale passphrase set
	rc_is 1 "there is no terminal"
	run pale passphrase show
	rc_is 2
}

t_no_session_reaches_it() {
	set_passphrase
	fsh 'cat ~/.local/state/pale/passphrase
		echo x >~/.local/state/pale/passphrase; rm -f ~/.local/state/pale/passphrase; pale passphrase remove; true'
	out_lacks argon2id
	grep -q argon2id "$STATE/passphrase" || fail "it was changed"
}

t_critical_needs_it() {
	publisher
	set_passphrase
	bg pub bash -c "npm publish || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		card = c.card()
		assert card["stepup"] is True and card["stepup_by"] == "passphrase", card
		assert c.call("hello", version=4)["stepup"] == ["passphrase"]
		assert c.call("stepup/status")["phrase"] == "seven blue herons"
		r = c.respond()
		assert r["code"] == -32007 and "passphrase" in r["message"], r
		r = c.respond(secret=secret, scope="session")
		assert r["code"] == -32007, r
		r = c.respond(confirmed="pam")
		assert r["code"] == -32007, r
		r = c.respond(secret="not this one")
		assert r["code"] == -32007 and "not the passphrase" in r["message"], r
		r = c.respond(secret=secret)
		assert r["decision"] == "approved", r
	PY
	bg_wait pub
	rc_is 0
	file_is published publish
	ledgers >"$S/all"
	grep -q '"stepup/refused"' "$S/all" || fail "the wrong one is not recorded"
	grep '"approval/decision"' "$S/all" | grep -q 'confirmed=passphrase' || fail "not said what confirmed it"
	! grep -q "correct horse\|not this one" "$S/all" || fail "a passphrase is in the ledger"
	verifies
}

# The same by pale itself, on the operator's terminal: his phrase, the digest, no echo.
t_asked_on_the_terminal() {
	local id digest
	publisher
	set_passphrase
	bg pub bash -c "npm publish || exit 3"
	id=$(pending_id) || exit 1
	tty "not this one" -- pale approve "$id"
	rc_is 1
	out_has "your phrase: $PHRASE"
	out_has "this is not the passphrase"
	missing published
	tty "$SECRET" -- pale approve "$id" --session
	rc_is 1
	missing published
	# No terminal, no desktop: nobody can be asked.
	run setsid env -u DISPLAY -u WAYLAND_DISPLAY pale approve "$id"
	rc_is 1
	err_has "no terminal to ask on"
	digest=$(pale pending --json | python3 -c "import json, sys
sys.path.insert(0, '${T_LIB%/*}/helper')
from carddigest import card_digest
print(card_digest(json.load(sys.stdin)[0])[:16])")
	tty "$SECRET" -- pale approve "$id"
	rc_is 0
	out_has "npm publish"
	out_has "($digest)"
	out_lacks "$SECRET"
	bg_wait pub
	rc_is 0
	file_is published publish
}

# A desktop and a program that would ask there are no terminal: nothing is asked, nothing approved.
t_asked_on_a_terminal_alone() {
	local id
	publisher
	set_passphrase
	bg pub bash -c "npm publish || exit 3"
	id=$(pending_id) || exit 1
	printf '#!/bin/sh\ntouch %s/asked\nprintf "OK\\nOK\\nD %s\\nOK\\n"\n' "$S" "$SECRET" >"$S/pinentry"
	chmod +x "$S/pinentry"
	DISPLAY=:7 PALE_PINENTRY=$S/pinentry run setsid -w pale approve "$id"
	rc_is 1
	err_has "needs the passphrase, and there is no terminal to ask on"
	[ ! -e "$S/asked" ] || fail "another program asked"
	tty "$SECRET" -- pale approve "$id"
	rc_is 0
	bg_wait pub
	file_is published publish
}

# The last wrong passphrase was N seconds earlier.
later() {
	python3 -c 'import struct, sys
f = open(sys.argv[1], "r+b")
wrong, at = struct.unpack("QQ", f.read(16))
f.seek(0)
f.write(struct.pack("QQ", wrong, at - int(sys.argv[2])))' "$STATE/passphrase.tries" "$1"
}

# Tries are counted over all sessions: many helpers at once have no more of them than one.
t_tries_of_many_sessions() {
	local i pids=()
	publisher
	set_passphrase
	for i in 1 2 3 4 5 6; do
		bg "many$i" sleep 60
		pids+=($BG)
	done
	until_true 20 eval '[ "$(ls -d "$XDG_RUNTIME_DIR"/pale/*/control.sock | wc -l)" = 6 ]' ||
		fail "six sessions do not run"
	talk <<-'PY'
		import threading
		def guess(client, got, n):
		    got.append(client.call("stepup/check", secret="wrong %d" % n).get("code"))
		got, threads = [], []
		for n, path in enumerate(sockets * 4):
		    threads.append(threading.Thread(target=guess, args=(Client(path), got, n)))
		[t.start() for t in threads]
		[t.join() for t in threads]
		# The others are told to wait, which is no answer.
		looked = [c for c in got if c == -32007]
		assert len(looked) == 3 and len(got) == 24, got
		assert all(Client(path).call("stepup/status")["left"] == 0 for path in sockets)
		assert all(Client(path).call("stepup/check", secret=secret).get("code") == -32009 for path in sockets)
	PY
	[ "$(ledgers | grep -c '"stepup/refused"')" = 3 ] ||
		fail "$(ledgers | grep -c '"stepup/refused"') wrong ones were looked at"
	kill "${pids[@]}"
	wait "${pids[@]}"
	# A new session does not begin anew, nor does damage; the wait ends by the clock, and grows.  Eight of them,
	# because each makes but four checks in ten seconds.
	pids=()
	for i in 1 2 3 4 5 6 7 8; do
		bg "more$i" sleep 60
		pids+=($BG)
	done
	until_true 20 eval '[ "$(ls -d "$XDG_RUNTIME_DIR"/pale/*/control.sock | wc -l)" = 8 ]' ||
		fail "eight sessions do not run"
	export -f later
	export STATE
	talk <<-'PY'
		import itertools, subprocess
		turns = itertools.cycle(map(Client, sockets))
		RIGHT, WRONG, WAIT = None, -32007, -32009
		def check(*expected):
		    for code in expected:
		        got = next(turns).call("stepup/check", secret="wrong" if code == WRONG else secret)
		        assert got.get("code") == code, (expected, got)
		def later(seconds):
		    subprocess.run(["bash", "-c", "later %d" % seconds], check=True)
		check(WAIT)
		later(61)
		check(RIGHT, WRONG, WRONG, WRONG, WAIT)
		later(61)
		check(WRONG, WRONG, WRONG, WAIT)
		later(61)
		check(WAIT)
		later(61)
		check(RIGHT)
		open(sys.argv[2] + "/passphrase.tries", "w").write("x")
		check(WAIT)
		later(61)
		check(RIGHT)
		# A clock that was ahead keeps nobody out for ever; an hour without a wrong one forgets.
		check(WRONG, WRONG, WRONG)
		later(-1000000)
		check(WAIT)
		later(61)
		check(WRONG, WRONG)
		later(3601)
		check(WRONG, WRONG, WRONG, WAIT)
		later(61)
		check(RIGHT)
	PY
	kill "${pids[@]}"
}

t_three_wrong_ones_and_a_minute() {
	publisher
	set_passphrase
	bg pub bash -c "npm publish || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		for i in range(3):
		    # Each by a connection of its own: what is counted is the session's.
		    r = Client().respond(secret="wrong %d" % i)
		    assert r["code"] == -32007, r
		r = Client().respond(secret=secret)
		assert r["code"] == -32009 and "wait " in r["message"], r
		assert c.call("stepup/status")["left"] == 0
		r = c.call("stepup/check", secret=secret)
		assert r["code"] == -32009, r
		r = c.call("stepup/remove", secret=secret)
		assert r["code"] == -32009, r
		# Denying is always safe.
		r = c.respond(decision="denied")
		assert r["decision"] == "denied", r
	PY
	bg_wait pub
	rc_is 3
	missing published
}

# A check takes a tenth of a second, in which the helper does nothing else: right ones are few as well, so that
# what a session asks meanwhile is answered soon.
t_checks_do_not_hold_a_session_up() {
	publisher
	set_passphrase
	bg pub bash -c "npm publish || sleep 60"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		flood = [Client() for _ in range(6)]
		for i in range(10):
		    for f in flood:
		        f.s.send(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "stepup/check",
		            "params": {"secret": secret}}).encode())
		r = c.respond(decision="denied")
		assert r["decision"] == "denied", r
		got = [json.loads(f.s.recv(65536)) for f in flood for i in range(10)]
		right = [g for g in got if "result" in g]
		few = [g for g in got if "wait 10 s" in g.get("error", {}).get("message", "")]
		assert 4 <= len(right) <= 12 and len(right) + len(few) == 60, got
		assert all(g["error"]["code"] == -32009 for g in few), few
	PY
	kill "$BG"
	missing published
}

t_what_is_not_critical_does_not() {
	publisher
	set_passphrase
	bg run bash -c "npm run build || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		assert c.card()["stepup"] is False, c.card()
		assert c.respond()["decision"] == "approved"
	PY
	bg_wait run
	file_is published "run build"
}

t_none_is_needed_where_none_is_set() {
	publisher
	bg pub bash -c "npm publish || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		assert c.card()["stepup"] is False, c.card()
		assert c.respond()["decision"] == "approved"
	PY
	bg_wait pub
	file_is published publish
}

t_policy_says() {
	publisher "stepup = passphrase"
	bg pub bash -c "npm publish || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		assert c.card()["stepup"] is True, c.card()
		r = c.respond(secret="whatever it is")
		assert r["code"] == -32007 and "passphrase is set" in r["message"], r
		c.respond(decision="denied")
	PY
	bg_wait pub
	missing published
	set_passphrase
	publisher "stepup = none"
	bg pub bash -c "npm publish || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		assert c.card()["stepup"] is False, c.card()
		assert c.respond()["decision"] == "approved"
	PY
	bg_wait pub
	file_is published publish
	publisher "stepup = pam"
	bg pub bash -c "npm publish || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		assert c.card()["stepup_by"] == "pam", c.card()
		r = c.respond(secret=secret)
		assert r["code"] == -32007 and "PAM" in r["message"], r
	PY
	run pale pending
	out_has "an approval is confirmed by PAM"
	tty "wrong one" -- pale approve "$(pending_id)"
	rc_is 1
	out_has "approve "
	out_lacks "phrase"
	talk <<-'PY'
		assert c.respond(confirmed="pam")["decision"] == "approved"
	PY
	bg_wait pub
	recorded approval/decision allow "confirmed=pam"
}

# What stands in the passphrase's place and is none: nothing critical can be approved, and it says why.
t_damaged() {
	publisher
	set_passphrase
	echo '{"version": 1, "hash": "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$AAAA", "phrase": "x"}' >"$STATE/passphrase"
	bg pub bash -c "npm publish || exit 3"
	until_true 10 has_pending || { mv "$S/"*.err "$S/err"; fail "nothing is pending"; }
	talk <<-'PY'
		r = c.respond(secret=secret)
		assert r["code"] == -32007 and "damaged" in r["message"], r
	PY
	set -- "$STATE/passphrase"
	chmod 644 "$1"
	talk <<-'PY'
		r = c.respond(secret=secret)
		assert r["code"] == -32007 and "alone" in r["message"], r
		c.respond(decision="denied")
	PY
	bg_wait pub
	missing published
	run pale passphrase check
	rc_is 1
}

scenario "$@"
