# limit: 120
# Texts that lie to whoever reads them on a terminal (tests/victims/hostile_text.h), through every surface that
# shows what an agent said: printable ASCII and whole lines of pale's own, and nothing lost.
. "$T_LIB"

# Each argument is a file that a person would read.
printable() {
	local name
	for name; do
		[ -s "$name" ] || fail "$name is empty"
	done
	! LC_ALL=C grep -anm 1 '[^ -~]' "$@" >"$S/bad" || fail "what is shown is not printable ASCII: $(cat -v "$S/bad")"
}

# What was said by names of files below DIR, as `pale log --json` has it, is all of it and nothing else.
all_recorded() {
	"$T_VICTIMS/hostile" list >"$S/said"
	python3 - "$S/said" "$S/log.json" "$1" <<-'PY' || fail "the ledger does not lead back to what was said"
		import json, os, re, sys
		def back(s):
		    return re.sub(rb"\\x([0-9a-f]{2})|\\\\", lambda m: bytes([int(m[1], 16)]) if m[1] else b"\\", s.encode("utf-8"))
		said = {bytes.fromhex(l.strip()).replace(b"/", b"_") for l in open(sys.argv[1])}
		# Longer names the kernel does not take.
		said = {t for t in said if len(t) <= 255}
		top = sys.argv[3].encode() + b"/"
		seen = {back(r["target"]) for r in map(json.loads, open(sys.argv[2])) if r["op"] == "write"}
		seen = {t[len(top):] for t in seen if t.startswith(top)}
		assert said == seen, (len(said), len(seen), sorted(said - seen)[:3], sorted(seen - said)[:3])
	PY
}

t_denials_and_records() {
	local id
	fence "$T_VICTIMS/hostile" open "$HOME/elsewhere"
	out_lacks opened
	printable "$S/err"
	# Every line is a whole one of ours.
	! grep -vE '^pale: (denied write /.* \(.*\) id=[0-9a-f]{8}|[0-9]+ more|session )' "$S/err" ||
		fail "a line of another's"
	mv "$S/err" "$S/denials"
	pale log >"$S/log" 2>&1
	pale log --all --json >"$S/log.json"
	pale session show >"$S/show" 2>&1
	pale session show --json >"$S/show.json" 2>&1
	printable "$S/log" "$S/log.json" "$S/show" "$S/show.json"
	[ "$(grep -cvE '^(session |#[0-9]+ )' "$S/log")" = 0 ] || fail "the log has lines of another's"
	all_recorded "$(realpath "$HOME")/elsewhere"
	for id in $(sed -n 's/.* id=\([0-9a-f]*\).*/\1/p' "$S/denials" | awk 'NR % 40 == 1'); do
		pale explain "$id" >"$S/explain" 2>&1
		printable "$S/explain"
		pale explain --json "$id" >"$S/explain" 2>&1
		printable "$S/explain"
	done
	verifies
}

# A ledger that another program wrote, with a chain that holds: each field holds TEXT in turn, JSON-escaped or raw.
forge() {
	python3 - "$1" "$STATE/sessions" <<-'PY'
		import hashlib, json, os, sys
		text, top = sys.argv[1].encode().decode("unicode_escape"), sys.argv[2]
		names = ("time", "session", "agent", "exe", "op", "target", "access", "verdict", "rule", "via", "level",
		    "approval", "detail")
		order = ["seq", "time", "session", "turn", "agent", "pid", "ppid", "exe", "op", "target", "access", "verdict",
		    "rule", "via", "level",
		    "approval", "detail", "count", "prev"]
		def chained(records, session):
		    prev, lines = hashlib.sha256(b"pale-ledger-1\0" + session.encode()).hexdigest(), []
		    for r in records:
		        r["prev"] = prev
		        h = hashlib.sha256(b"pale-ledger-1\0")
		        for k in order:
		            v = str(r[k]).encode()
		            h.update(len(v).to_bytes(4, "little") + v)
		        prev = r["hash"] = h.hexdigest()
		        lines.append(json.dumps(r, separators=(",", ":"), ensure_ascii=len(sys.argv) > 3))
		    return "\n".join(lines) + "\n"
		def record(n, of, **more):
		    r = dict(seq=n, time="2026-11-22T00:00:0%d.000000Z" % n, session=of, turn=1, agent="a", pid=7, ppid=1,
		        exe="/usr/bin/x", op="write",
		        target="/etc/x", access="w", verdict="deny", rule="policy.ini:1", via="hook", level="full", approval="",
		        detail="id=7f3a", count=1)
		    r.update(more)
		    return r
		for i, name in enumerate(names):
		    session = "forged%02d" % i
		    bad = {name: text[:31] if name == "time" else text}
		    if name == "approval":
		        bad["op"] = "approval/request"
		    os.makedirs(os.path.join(top, session), 0o700)
		    with open(os.path.join(top, session, "ledger.jsonl"), "w", encoding="utf-8") as f:
		        f.write(chained([record(1, session, op="session/start"), record(2, session, **bad), record(3, session)],
		            session))
		    json.dump(dict(session=session,
		        **{k: text for k in ("agent", "started", "workspace", "level", "preset", "status", "facts", "limits")},
		        argv=[text], pid=1), open(os.path.join(top, session, "session.json"), "w"))
		os.makedirs(os.path.join(top, text[:40].replace("/", "_")), 0o700)
	PY
}

# shown LOCALE COMMAND...: what is on a terminal with that locale, without colours.
shown() {
	local locale=$1
	shift
	NO_COLOR=1 PAGER=cat LC_ALL=$locale script -qefc "$*" /dev/null </dev/null | tr -d '\r' >"$S/shown"
}

# What a terminal shows as itself is letters of one script in each word, from left to right, and loses nothing.
t_on_a_terminal_with_utf8() {
	need script
	fence "$T_VICTIMS/hostile" open "$HOME/elsewhere"
	fsh 'touch ../caf\u00e9 ../p\u0430ypal ../\u0430\u0440\u0440'
	fence touch $'../caf\u00e9' $'../p\u0430ypal' $'../\u0430\u0440\u0440'
	shown C.UTF-8 pale log
	grep -q $'h/caf\u00e9 ' "$S/shown" || fail "a plain word is escaped"
	grep -qF 'h/p\xd0\xb0ypal' "$S/shown" || fail "two scripts in a word are not escaped"
	grep -qF 'h/\xd0\xb0\xd1\x80\xd1\x80' "$S/shown" || fail "a word that looks Latin is not escaped"
	python3 - "$S/shown" <<-'PY' || fail "something misleads"
		import re, sys, unicodedata as u
		text = open(sys.argv[1], encoding="utf-8").read()
		for c in set(text) - {"\n"} - set(map(chr, range(32, 127))):
		    assert u.category(c)[0] == "L" and u.bidirectional(c) == "L" and u.normalize("NFKC", c) == c, repr(c)
		cjk = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA")
		for w in re.findall(r"[^\W_]+", text):
		    if not w.isascii():
		        of = {"CJK" if n in cjk else n for n in (u.name(c).split()[0] for c in w if not c.isdigit())}
		        assert len(of) == 1, (w, of)
	PY
	# Elsewhere it is ASCII.
	shown C pale log
	printable "$S/shown"
	LC_ALL=C.UTF-8 pale log >"$S/log"
	printable "$S/log"
}

# A card is the same card in each locale: what it is known by is made of the record.
t_a_card_in_two_locales() {
	local id
	need script
	printf '[files]\nask_write = caf*\n' | policy
	bg asked touch $'caf\u00e9'
	id=$(pending_id)
	shown C.UTF-8 pale pending
	grep -q $'caf\u00e9' "$S/shown" || fail "$(cat "$S/shown")"
	grep digest "$S/shown" >"$S/one"
	shown C pale pending
	printable "$S/shown"
	grep digest "$S/shown" | diff "$S/one" - || fail "two digests"
	script -qefc "LC_ALL=C.UTF-8 pale approve -y $id" /dev/null </dev/null >"$S/shown" || fail "$(cat "$S/shown")"
	bg_wait asked
	rc_is 0
	exists $'caf\u00e9'
}

# Every command that prints what a ledger holds, over ledgers of another's making.
t_a_foreign_ledger() {
	local text cmd n=0
	for text in '\x1b[2Jx' '\x1b]0;title\x07' \
		'\nsession ok' '\rok' '\x9b2J' '\x7f\x08\x08' '\u202eevil' '\u200bx' '\x1b[2' '\u2028x'; do
		rm -rf "$STATE/sessions"
		forge "$text" || fail "no ledger was forged"
		for cmd in "log" "log --json" "log verify" \
			"log verify --json" "session list" "session list --all" "session show" "session show forged09" \
			"session show forged11" "session show --json forged05" \
			"explain 7f3a" "learn" "learn --session forged09" "learn --json" \
			"completion candidates session show ''" \
			"completion candidates log --session ''" "grants" "pending" "doctor" "log --session forged04" \
			"log verify $STATE/sessions/forged11/ledger.jsonl" "log verify $STATE/sessions/forged00/ledger.jsonl"; do
			eval "run pale $cmd"
			cat "$S/out" "$S/err" | tr '\t' ' ' >"$S/both"
			[ -s "$S/both" ] || continue
			printable "$S/both"
			! grep -qxF 'session ok' "$S/both" || fail "pale $cmd: a line of another's"
			n=$((n + 1))
		done
	done
	[ $n -gt 150 ] || fail "only $n commands said something"
}

t_commands() {
	printf '[commands]\ndeny = nope\n' | policy
	mkdir -p bin
	printf '#!/bin/sh\necho ran\n' >bin/nope
	chmod +x bin/nope
	fence "$T_VICTIMS/hostile" exec "$W/bin/nope"
	out_lacks ran
	printable "$S/err"
	pale log >"$S/log" 2>&1
	pale log --all --json >"$S/log.json"
	printable "$S/log" "$S/log.json"
	[ "$(grep -cvE '^(session |#[0-9]+ )' "$S/log")" = 0 ] || fail "the log has lines of another's"
}

# A helper that lies as well: cards of raw text in each field, escaped by nobody; of every text, or of one of STEP.
liar() {
	"$T_VICTIMS/hostile" list >"$S/said"
	mkdir -p "$XDG_RUNTIME_DIR/pale/liar77"
	chmod 700 "$XDG_RUNTIME_DIR/pale" "$XDG_RUNTIME_DIR/pale/liar77"
	cat >"$S/liar.py" <<-'PY'
		import json, os, re, select, socket, sys
		dir, said, step = sys.argv[1:]
		texts = [bytes.fromhex(l.strip()) for l in open(said)]
		def raw(t):
		    try:
		        return t.decode()
		    except UnicodeDecodeError:
		        return re.sub(rb"[^\x20-\x5b\x5d-\x7e]", lambda m: b"\\x%02x" % m[0][0], t).decode()
		cards = range(0, len(texts), int(step))
		def record(i):
		    t = raw(texts[i])
		    return {"seq": i, "time": t, "session": t, "agent": t, "pid": 7, "exe": t, "op": t, "target": t, "verdict": t,
		        "rule": t if i % 2 else "", "detail": t}
		def card(i):
		    t = raw(texts[i])
		    return {"id": "%032x" % (i + 0x77770000), "short": "%032x" % (i + 0x77770000), "state": "pending",
		        "agent": t, "session": "liar77", "turn": 1, "op": t if i % 2 else "exec", "access": "", "target": t,
		        "argv": ["git", t, t],
		        "cwd": t, "exe": t, "pid": 7, "tree": [{"pid": 7, "exe": t, "claimed": True}], "rule": t,
		        "risk": {"level": t if i % 2 else "critical", "reasons": [t]}, "stepup": True, "stepup_by": "passphrase",
		        "flood": False,
		        "offers": {"section": "commands", "lines": [t], "why_none": t}, "asked": "2026-11-22T16:00:00.000000Z",
		        "deadline_ns": 1 << 60, "left_s": 99,
		        "askers": [{"pid": 7, "exe": t, "claimed": True}, {"pid": 8, "exe": t, "claimed": True}]}
		def answer(method, p):
		    at = int(p.get("from", 0))
		    if method == "hello":
		        return {"version": 4, "session": "liar77", "helper": os.getpid(), "uid": os.getuid(), "level": "full",
		            "sealed": False, "stepup": ["passphrase"]}
		    if method == "session/info":
		        return {"session": "liar77", "agent": raw(texts[0]), "level": raw(texts[0])}
		    if method == "approval/list":
		        page = {"approvals": [card(i) for i in cards[at:at + 4]]}
		        if at + 4 < len(cards):
		            page["next"] = at + 4
		        return page
		    if method == "log/subscribe":
		        return {}
		    i = int(p.get("id", "0"), 16) - 0x77770000
		    if method == "approval/show":
		        return card(i)
		    if method == "approval/respond":
		        return {"id": p["id"], "decision": raw(texts[i]), "scope": "once", "late": False, "waiters": 1,
		            "also": [], "grant": raw(texts[i])}
		    if method == "stepup/status":
		        return {"set": True, "phrase": raw(texts[at]), "left": 3, "busy": False}
		    return None
		# What is said unasked: records to who subscribed, and in the end how some of the questions ended.
		def notices(method, p, result):
		    if method == "log/subscribe" and p.get("records"):
		        return [("log/record", {"record": record(i)}) for i in cards]
		    if method == ("log/subscribe" if p.get("approvals") else "approval/list") and "next" not in result:
		        return [("approval/resolved",
		            {"id": "%032x" % (i + 0x77770000), "state": raw(texts[i]), "by": raw(texts[i])}) for i in cards[::9]]
		    return []
		def send(c, j):
		    c.send(json.dumps({"jsonrpc": "2.0", **j}, ensure_ascii=False).encode())
		os.chdir(dir)
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.bind("control.sock"); os.chmod("control.sock", 0o600); s.listen(16)
		conns = [s]
		while True:
		    for c in select.select(conns, [], [])[0]:
		        if c is s:
		            conns.append(s.accept()[0])
		            continue
		        try:
		            line = c.recv(1 << 17)
		        except ConnectionResetError:
		            line = b""
		        if not line:
		            conns.remove(c); c.close()
		            continue
		        q = json.loads(line)
		        r = answer(q["method"], q.get("params", {}))
		        say = {"result": r} if r is not None else {"error": {"code": -32601, "message": raw(texts[5]) + "\n"}}
		        try:
		            send(c, {"id": q.get("id"), **say})
		            for method, params in notices(q["method"], q.get("params", {}), r) if r is not None else []:
		                send(c, {"method": method, "params": params})
		        except (BrokenPipeError, ConnectionResetError):
		            pass
	PY
	python3 "$S/liar.py" "$XDG_RUNTIME_DIR/pale/liar77" "$S/said" "${1:-1}" 2>"$S/liar.err" &
	LIAR=$!
	until_true 10 test -S "$XDG_RUNTIME_DIR/pale/liar77/control.sock" || fail "$(cat "$S/liar.err")"
}

# Cards as lines: every text is there whole, one argument a line, with labels of our own.
shown_whole() {
	python3 - "$S/said" "$1" "${2:-1}" <<-'PY' || fail "a text is not shown whole"
		import re, sys
		# Blanks at an end or beside others are shown as \x20.
		shown = {l[12:].replace("\\x20", " ").encode() for l in open(sys.argv[2]).read().split("\n")}
		hexed = lambda m: b"\\x%02x" % m[0][0]
		for l in open(sys.argv[1]).read().split()[::int(sys.argv[3])]:
		    t = bytes.fromhex(l)
		    try:
		        t.decode()
		    except UnicodeDecodeError:
		        t = re.sub(rb"[^\x20-\x5b\x5d-\x7e]", hexed, t)
		    assert re.sub(rb"[^\x20-\x7e]", hexed, t) in shown, t
	PY
}

t_cards_of_a_lying_helper() {
	liar
	run pale pending
	mv "$S/out" "$S/pending"
	[ ! -s "$S/err" ] || printable "$S/err"
	[ -s "$S/pending" ] || fail "no card is shown: $(cat "$S/liar.err")"
	printable "$S/pending"
	[ "$(grep -c '^0*7777[0-9a-f]*  ' "$S/pending")" = 531 ] || fail "not every card is shown"
	! grep -vE '^(0*7777[0-9a-f]*  session liar77|  |$)' "$S/pending" || fail "a line of another's"
	shown_whole "$S/pending"
	run pale pending --json
	printable "$S/out"
	kill $LIAR
}

# How some of the questions ended is told when all were shown.
t_lines_of_follow() {
	liar
	pale pending --follow >"$S/lines" 2>"$S/lines.err" &
	WATCH=$!
	until_true 60 eval '[ "$(grep -c "^0000  session liar77  " "$S/lines")" = 59 ]' ||
		fail "$(tail -n 30 "$S/lines") $(cat "$S/liar.err")"
	kill $WATCH
	wait $WATCH
	[ ! -s "$S/lines.err" ] || printable "$S/lines.err"
	printable "$S/lines"
	[ "$(grep -c '^0*7777[0-9a-f]*  session liar77' "$S/lines")" = 531 ] || fail "not every card is shown"
	! grep -vE '^(0*7777[0-9a-f]*  session liar77|0000  session liar77  |  |$)' "$S/lines" || fail "a line of another's"
	shown_whole "$S/lines"
	kill $LIAR
}

t_events_of_follow() {
	liar
	pale pending --follow --json >"$S/events" 2>"$S/lines.err" &
	WATCH=$!
	until_true 60 eval '[ "$(grep -c "approval/resolved" "$S/events")" = 59 ]' ||
		fail "$(tail -c 300 "$S/events" "$S/liar.err")"
	kill $WATCH
	wait $WATCH
	[ ! -s "$S/lines.err" ] || printable "$S/lines.err"
	printable "$S/events"
	python3 - "$S/said" "$S/events" <<-'PY' || fail "an event is not whole"
		import json, re, sys
		hexed = lambda m: b"\\x%02x" % m[0][0]
		said = []
		for l in open(sys.argv[1]):
		    t = bytes.fromhex(l.strip())
		    try:
		        said.append(t.decode())
		    except UnicodeDecodeError:
		        said.append(re.sub(rb"[^\x20-\x5b\x5d-\x7e]", hexed, t).decode())
		events = [json.loads(l) for l in open(sys.argv[2])]
		of = lambda method, key: [e["params"][key] for e in events if e["method"] == method]
		assert set(said) == set(of("approval/request", "target"))
		assert said[::9] == of("approval/resolved", "state") == of("approval/resolved", "by")
	PY
	kill $LIAR
}

# What tmux has on its screen, without the lines that are ours.
screen() {
	tmux -S "$S/tmux" -f /dev/null capture-pane -N -p -t w | sed 's/\xe2\x94\x80/-/g'
}

on_screen() {
	screen >"$S/screen"
	grep -qF -e "$1" "$S/screen"
}

t_the_popups_card() {
	local i ids=()
	need tmux
	liar 8
	for i in $(seq 0 8 530); do
		ids+=("$(printf 'liar77/%032x' $((i + 0x77770000)))")
	done
	# High enough for the longest of them.
	tmux -S "$S/tmux" -f /dev/null new-session -d -s w -x 200 -y 300 "for id in ${ids[*]}; do pale watch --card \$id; done"
	for i in $(seq 0 8 530); do
		id=$(printf %032x $((i + 0x77770000)))
		until_true 20 eval 'on_screen "$id" && on_screen " digest "' || fail "no card $i: $(cat "$S/liar.err"; screen)"
		tmux -S "$S/tmux" send-keys -t w q
		cat "$S/screen" >>"$S/screens"
	done
	# Rows that go on stand behind a bar; behind the label's place each row is the text's.
	python3 - "$S/screens" >"$S/cards" <<-'PY' || fail "no rows"
		import sys
		rows = []
		for l in open(sys.argv[1]):
		    l = l.rstrip(" \n")
		    at = l.find("\u2502")
		    if at >= 0 and not l[:at].strip():
		        rows[-1] += l[at + 1:]
		    else:
		        rows.append(l)
		print("\n".join(rows))
	PY
	printable "$S/cards"
	shown_whole "$S/cards" 8
	kill $LIAR
}

t_the_screen_of_watch() {
	local i
	need tmux
	liar 3
	tmux -S "$S/tmux" -f /dev/null new-session -d -s w -x 120 -y 60 "pale watch"
	until_true 20 on_screen "Questions (1" || fail "no question"
	sleep 1
	for i in {1..20}; do
		tmux -S "$S/tmux" send-keys -t w j j j
		screen >>"$S/screens"
	done
	sed 's/\xe2\x94\x82/|/g' "$S/screens" >"$S/seen"
	printable "$S/seen"
	kill $LIAR
}

# One question a notice, denied there; what its arguments say is what the ledger says.
t_the_desktops_notice() {
	need python3
	printf '[session]\ntimeout = 60s\n[commands]\nask = nope\n' | policy
	mkdir -p bin "$S/bin"
	printf '#!/bin/sh\necho ran\n' >bin/nope
	cat >"$S/bin/notify-send" <<-END
		#!/bin/bash
		printf '%s\0' "\$@" >>"$S/notice"
		printf '\0' >>"$S/notice"
		exec sleep 60
	END
	chmod +x bin/nope "$S/bin/notify-send"
	# Denies what the last notice told of; no more than ten questions a second are asked.
	while sleep 0.12; do
		card=$(tr '\0' '\n' <"$S/notice" | sed -n 's/.*pale watch --card //p' | tail -1)
		[ -z "$card" ] || pale deny "${card#*/}"
	done >/dev/null 2>&1 &
	PATH=$S/bin:$PATH DISPLAY=:99 fence "$T_VICTIMS/hostile" exec "$W/bin/nope" 8
	kill $!
	out_lacks ran
	printable "$S/err"
	pale log --all --json >"$S/log.json"
	python3 - "$S/notice" "$S/log.json" <<-'PY' || fail "a notice lies"
		import json, re, sys
		data = open(sys.argv[1], "rb").read()
		assert not re.search(rb"[^\x20-\x7e\0]", data)
		told = [n.split("\0") for n in data.decode().split("\0\0") if n]
		texts = set()
		for n in told:
		    assert n[:-2] == ["-a", "pale", "-u", "critical", "-w", "--"], n
		    assert re.fullmatch(r"pale: an agent asks(, risk (low|medium|high|critical))?", n[-2]), n
		    m = re.fullmatch(r"exec (.*?)( \(cut\))?\\nThe whole: pale watch --card [a-z0-9]+/[a-z0-9]+", n[-1])
		    assert m, n
		    assert not re.search(r"[<>]|&(?!(amp|lt|gt);)", m[1]), n
		    for a, b in ("\\\\", "\\"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"):
		        m1 = m[1] if a == "\\\\" else m1
		        m1 = m1.replace(a, b)
		    texts.add((m1, bool(m[2])))
		visible = lambda t: re.sub(rb"[^\x20-\x7e]", lambda m: b"\\x%02x" % m[0][0], t.encode()).decode()
		asked = {visible(r["target"]) for r in map(json.loads, open(sys.argv[2])) if r["op"] == "exec"
		    and "nope" in r["target"] and r["verdict"] == "deny"}
		assert len(told) >= 60 and len(asked) == len(told), (len(told), len(asked))
		assert texts == {(t[:200], len(t) > 200) for t in asked}, sorted(texts ^ {(t[:200], len(t) > 200) for t in asked})[:4]
	PY
}

# Runs ARG... with a terminal to ask for the passphrase on, which adds to $S/told; the rest is no terminal.
confirm() {
	python3 - "$S" "$@" <<-'PY'
		import os, pty, sys
		top, cmd = sys.argv[1], sys.argv[2:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.dup2(0, 9)
		    for to, name in enumerate(("/dev/null", top + "/out", top + "/err")):
		        os.dup2(os.open(name, os.O_RDWR | (to and os.O_CREAT | os.O_TRUNC)), to)
		    os.execvp(cmd[0], cmd)
		shown = b""
		while True:
		    try:
		        shown += os.read(fd, 65536)
		    except OSError:
		        break
		    if shown.endswith(b"passphrase: "):
		        os.write(fd, b"secret secret\n")
		os.waitpid(pid, 0)
		open(top + "/told", "ab").write(shown.replace(b"\r\n", b"\n"))
	PY
}

t_answers_of_a_lying_helper() {
	local i id callers
	liar
	for i in $(seq 0 18 530); do
		id=$(printf %032x $((i + 0x77770000)))
		confirm pale approve "$id"
		callers=$(sed -n 's/.*--callers \([0-9]*\).*/\1/p' "$S/err")
		[ -z "$callers" ] || confirm pale approve "$id" --callers "$callers"
		[ ! -s "$S/out" ] || printable "$S/out"
		printable "$S/err"
		! grep -v '^pale: ' "$S/err" || fail "a line of another's"
	done
	printable "$S/told"
	[ "$(grep -c '^pale: approve ' "$S/told")" = 30 ] || fail "not every question was asked"
	run pale turn
	printable "$S/err"
	kill $LIAR
}

scenario "$@"
