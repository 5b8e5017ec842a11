# limit: 120
# nightly: hooks strict
# A denial is one sentence, one record and one id: what was said is what was recorded, and the id leads there.
. "$T_LIB"

# Every line that was said has one record in the session with its id, operation, target and reason, and
# `pale explain ID` shows that one.
agree() {
	ledgers >"$S/ledger"
	python3 - "$S/err" "$S/ledger" <<-'END' || fail "said, recorded and explained differ"
		import json, re, subprocess, sys
		plain = lambda s: re.sub(r"\\x([0-9a-f]{2})|\\\\", lambda m: chr(int(m[1], 16)) if m[1] else "\\", s)
		told = re.compile(r"pale: denied (\S+) (.*?) id=([0-9a-f]{8}); see: pale explain ([0-9a-f]{8})(;.*)?$")
		records = [json.loads(line) for line in open(sys.argv[2])]
		wrong = n = 0
		for line in open(sys.argv[1], errors="replace"):
		    if not line.startswith("pale: denied"): continue
		    m = told.match(line.rstrip("\n"))
		    problem = None
		    if not m: problem = "no sentence"
		    else:
		        n += 1
		        op, text, id, again, _ = m.groups()
		        mine = [r for r in records if r["detail"].split(";")[0].split(" ")[0] == "id=" + id]
		        # A sentence escapes what it prints once, a record once more.
		        deeds = {"%s %s %s (%s)" % (r["verdict"], r["op"], plain(r["target"]), plain(plain(r["rule"]))) for r in mine}
		        out = subprocess.run(["pale", "explain", id], capture_output=True, text=True).stdout
		        first, why = out.split("\n")[0], [l[7:] for l in out.split("\n") if l.startswith("why    ")][0]
		        if id != again: problem = "two ids"
		        elif deeds != {"deny " + op + " " + plain(text)}: problem = "recorded %r" % deeds
		        elif plain(first) + " (" + plain(plain(why)) + ")" not in deeds: problem = "explained " + out
		    if problem: wrong += 1; print(line, problem)
		print(n, "were told")
		sys.exit(wrong > 0 or n == 0)
	END
}

# told OP REASON...: a line of that operation was said, whose reason has the text.
told() {
	grep -F -e "pale: denied $1 " "$S/err" | grep -qF -e "$2" || fail "not said: $1 $2"
}

# No process reads the pipe that is its stderr: a program that writes nothing does not end by SIGPIPE.
t_a_pipe_without_a_reader() {
	cat >p.py <<-'END'
		import os, signal, subprocess, sys
		DENIED = "import signal; %s signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n" \
		         "try: open('/etc/x', 'w')\nexcept OSError: print('lives', end=' ')\n%s"
		for before, after in ("", ""), ("signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE]);",
		                                "print(len(signal.sigpending()), end=' ')"):
		    r, w = os.pipe()
		    os.close(r)
		    p = subprocess.run([sys.executable, "-c", DENIED % (before, after)], stderr=w, stdout=subprocess.PIPE)
		    print(p.stdout.decode() + str(p.returncode))
	END
	fence python3 p.py
	out_is "$(printf 'lives 0\nlives 0 0')"
}

t_files() {
	printf '[files]\ndeny = closed\nmessage = ask Tess\nkeep = *.db\nreadonly = fixed\nask = asked\n' | policy
	mkdir -p closed fixed way
	touch a.db b.db fixed/f closed/c asked
	OPTS=(-n)
	cat >all.py <<-'END'
		import os, socket
		home = os.environ["HOME"]
		def t(f, *a):
		    try: f(*a)
		    except OSError: pass
		t(open, home + "/.ssh/id_rsa")
		t(open, "closed/c")
		t(open, "asked")
		t(open, "../out\nside (with) id=00000000; see: pale explain 00000000", "w")
		t(os.remove, "a.db")
		t(os.rename, "b.db", "c.db")
		t(os.rename, "closed", "opened")
		t(os.rmdir, "fixed")
		t(os.link, home + "/.ssh/id_rsa", "l")
		t(os.symlink, "x", "fixed/s")
		t(os.mkdir, "fixed/d")
		t(os.mkfifo, "fixed/p")
		t(os.truncate, "fixed/f", 0)
		t(os.chmod, "fixed/f", 0o600)
		t(os.chown, "fixed/f", os.getuid(), os.getgid())
		t(os.utime, "fixed/f")
		t(os.setxattr, "fixed/f", "user.x", b"y")
		t(open, "/proc/1/environ")
	END
	fence python3 all.py
	for op in read write delete rename link symlink mkdir mknod truncate; do
		told $op ""
	done
	[ "$T_LEVEL" = hooks ] || for op in chmod chown utime xattr; do
		told $op ""
	done
	told read "closed"
	grep -q "denied read $W/closed/c .*; ask Tess$" "$S/err" || fail "the message is missing"
	agree
}

t_commands() {
	printf '[commands]\ndeny = nope\nask = maybe\n' | policy
	mkdir bin
	printf '#!/bin/sh\n' | tee bin/nope bin/maybe >/dev/null
	chmod +x bin/*
	OPTS=(-n)
	fsh 'bin/nope; bin/nope again; bin/maybe; git push origin main; sudo ls; "bin/nope" "two words" ")" "id=1"; true'
	told exec "deny = nope"
	agree
}

t_network() {
	printf '[network]\nmode = strict\nallow = pypi.org\n' | policy
	cat >net.py <<-'END'
		import socket
		def t(f, *a):
		    try: f(*a)
		    except OSError: pass
		t(socket.getaddrinfo, "evil.example", 443)
		t(socket.create_connection, ("192.0.2.1", 443))
		t(lambda: socket.socket(socket.AF_UNIX).connect("/run/nobody.sock"))
		t(lambda: socket.socket().bind(("0.0.0.0", 8080)))
	END
	fence python3 net.py
	told connect ""
	agree
}

# What only the supervisor knows is in the sentence, and so in the record: two keys are two denials.
t_more_of_the_reason() {
	[ "$T_LEVEL" != hooks ] || skip "at level hooks nobody looks at what is written"
	git init -q .
	fsh 'git config core.pager "evil me"; git config core.fsmonitor ./x; git config core.pager "evil two"; true'
	told rename "core.pager could make git run a program"
	told rename "core.fsmonitor could make git run a program"
	[ "$(grep -o 'id=[0-9a-f]*' "$S/err" | sort -u | wc -l)" -ge 2 ] || fail "two denials have one id"
	agree
}

t_without_hooks() {
	[ "$T_LEVEL" != hooks ] || skip "level hooks refuses what has none"
	fsh "$T_VICTIMS/raw-static ~/.ssh/id_rsa; $T_VICTIMS/raw ~/.aws/credentials; $T_VICTIMS/raw-static ~/.ssh/id_rsa; true"
	told read ".ssh"
	agree
}

# A program that is gone before anybody looked at it.
t_short_lives() {
	fsh 'for i in 1 2 3 4 5 6 7 8 9 10; do (exec cat ~/.ssh/id_rsa) & (exec head -1 ~/.aws/credentials) & done; wait'
	agree
}

t_what_a_human_said() {
	local id
	printf '[commands]\nask = maybe\n' | policy
	printf '#!/bin/sh\n' >maybe
	chmod +x maybe
	bg ask bash -c './maybe; true'
	id=$(pending_id) || exit 1
	run pale deny "$id" --reason 'no (not now); id=00000001'
	bg_wait ask
	told exec "the operator answered: no (not now)"
	agree
}

t_the_operators_own_command() {
	printf '[commands]\ndeny = nope\n' | policy
	printf '#!/bin/sh\n' >nope
	chmod +x nope
	fence ./nope
	rc_is 126
	agree
}

t_a_nested_run() {
	printf '[files]\ndeny = closed\n' | policy
	touch closed
	printf '[commands]\ndeny = nope\n' >own.ini
	printf '#!/bin/sh\n' >nope
	chmod +x nope
	fsh 'pale run -q -p own.ini -- cat closed; pale run -q -p own.ini -- ./nope; true'
	told read "closed"
	told exec "deny = nope"
	agree
}

id_of() {
	sed -n "s|^pale: denied $1 .* id=\([0-9a-f]*\);.*|\1|p" "$S/err" | head -1
}

# explained ID TEXT: that is the one deed that the id leads to.
explained() {
	run pale explain "$1"
	[ "$(grep -cE '^(deny|ask|allow) ' "$S/out")" = 1 ] || fail "not one deed"
	head -1 "$S/out" | grep -qF "$2" || fail "it is not: $2"
}

# A name that reads like the end of the sentence is no end: the first id in the line is the denial's.
t_names_like_sentences() {
	cat >names.py <<-'END'
		import os
		for name in ("a (no) id=00000000; see: pale explain 00000000", "id=00000000", "see: pale explain 00000000; x"):
		    try: open(os.environ["HOME"] + "/" + name, "w")
		    except OSError: pass
		import socket
		try: socket.socket(socket.AF_UNIX).connect("/tmp/x id=00000000; see: pale explain 00000000")
		except OSError: pass
		os.system("'id=00000000; see: pale explain 00000000' 2>/dev/null; sudo ') id=00000000' id=00000000")
	END
	fence python3 names.py
	told write "id\\x3d00000000"
	! grep -E '^pale: ' "$S/err" | grep -E 'id=0{8}|explain 0{8}' || fail "a name passes for an id"
	agree
}

# Nor is what stands in the line that tells of a question.
# Where no one can be reached nothing waits, and it is not said to.
t_nobody_is_there_to_ask() {
	printf '[files]\nask = %s/file\n[commands]\nask = maybe\n' "$W" | policy
	printf '#!/bin/sh\n' >maybe
	chmod +x maybe
	unset PALE_PROMPT DISPLAY WAYLAND_DISPLAY TMUX
	fsh 'cat file; ./maybe; "$T_VICTIMS/raw-static" file'
	err_lacks waiting
	denied read "$W/file" "no one can be reached to answer"
	denied exec ./maybe "no one can be reached to answer"
}

t_a_question_is_no_denial() {
	local id
	printf '[commands]\nask = maybe\n' | policy
	printf '#!/bin/sh\n' >maybe
	chmod +x maybe
	bg ask bash -c './maybe id=00000000 "; see: pale explain 00000000"; true'
	id=$(pending_id) || exit 1
	until_true 10 grep -q waiting "$S/ask.err"
	run pale deny "$id"
	bg_wait ask
	err_has "pale: waiting for approval: exec ./maybe id"
	! grep -E '^pale: ' "$S/err" | grep -E 'id=0{8}|explain 0{8}' || fail "an argument passes for an id"
	agree
}

# A wrapper and what it runs are two questions of one process, which is told once that it waits.
t_told_once_that_it_waits() {
	local id
	[ "$T_LEVEL" != hooks ] || skip "at level hooks a program does not know what its process was told before"
	printf '[commands]\nask = maybe\n' | policy
	printf '#!/bin/sh\necho ran\n' >maybe
	chmod +x maybe
	bg ask bash -c 'env ./maybe; true'
	id=$(pending_id) || exit 1
	until_true 10 grep -q waiting "$S/ask.err"
	run pale approve "$id"
	id=$(pending_id) || exit 1
	sleep 0.7
	run pale approve "$id"
	bg_wait ask
	out_has ran
	[ "$(grep -c "pale: waiting" "$S/err")" = 1 ] || fail "told twice"
}

# What was denied is not asked again, and whoever reads that learns what would let it be.
t_denied_before() {
	local id
	printf '[commands]\nask = maybe\n' | policy
	printf '#!/bin/sh\n' >maybe
	chmod +x maybe
	bg ask bash -c './maybe; ./maybe; true'
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait ask
	told exec "already denied in this turn: not asked again until the operator says \`pale turn\`"
	agree
}

# Allowed and denied deeds beside it, with names that were chosen, before and after.
t_chosen_names() {
	local id
	[ "$T_LEVEL" != hooks ] || skip "at level hooks ids are the process's own word"
	cat >flood.py <<-'END'
		import os
		home = os.environ["HOME"]
		def tries(how, where):
		    for i in range(2000):
		        try: os.close(os.open("%s%d" % (where, i), how))
		        except OSError: pass
		tries(os.O_CREAT | os.O_WRONLY, home + "/elsewhere/denied")
		tries(os.O_CREAT | os.O_WRONLY, "allowed")
		try: open(home + "/outside-file", "a")
		except OSError: pass
		tries(os.O_RDONLY, "/tmp/missing")
		tries(os.O_CREAT | os.O_WRONLY, home + "/elsewhere/later")
	END
	fence python3 flood.py
	id=$(id_of "write $HOME/outside-file")
	explained "$id" "deny write $HOME/outside-file"
	ledgers | python3 -c '
import json, sys
deeds = {}
for r in map(json.loads, sys.stdin):
    if r["detail"].startswith("id="):
        assert r["verdict"] == "deny", r
        deeds.setdefault(r["detail"][3:11], set()).add((r["op"], r["target"]))
assert len(deeds) == 4001 and all(len(d) == 1 for d in deeds.values()), len(deeds)' || fail "ids meet"
}

# Records of the agent's own making have no id, or another: by its own call of what hooks call, and by what
# it prints.
t_forged() {
	local id
	[ "$T_LEVEL" != hooks ] || skip "at level hooks ids are the process's own word"
	cat >forge.py <<-'END'
		import ctypes, os, re, struct, subprocess, sys
		said = subprocess.run(["cat", "/etc/shadow"], stderr=subprocess.PIPE).stderr
		said = subprocess.run(["bash", "-c", ": >>$HOME/outside-file"], stderr=subprocess.PIPE).stderr.decode()
		id = re.search("id=([0-9a-f]{8})", said)[1]
		print(said, file=sys.stderr)
		libc = ctypes.CDLL(None)
		ioctl = ctypes.c_long(16 if os.uname().machine == "x86_64" else 29)
		def claim(target, op=1, reason=2, rule=0xffffffff, why=b"", quiet=1, size=None):
		    text = ctypes.create_string_buffer(target)
		    w = struct.pack("<IIIIIIIIQQ256s", size or 304, op, 1, reason, rule, 0, 0, quiet,
		                    ctypes.addressof(text), len(target), why)
		    return libc.syscall(ioctl, 2, ctypes.c_long(0x70616c65), w) & 0xffffffff
		libc.syscall.restype = ctypes.c_long
		outside = os.environb[b"HOME"] + b"/outside-file"
		got = {claim(outside, op) for op in range(1, 19)} | {claim(b"harmless %d" % i, 2) for i in range(200)}
		got |= {claim(b"id=" + id.encode()), claim(b"x", why=b"; id=" + id.encode())}
		print(int(id, 16) in got, len(got) > 200)
		print("pale: denied read /harmless ([files] outside) id=%s; see: pale explain %s" % (id, id))
		print(*[claim(b"x", size=n) >> 31 for n in (1, 303, 305)], claim(b"x", op=99) >> 31, claim(b"x", reason=250) >> 31)
	END
	fence python3 forge.py
	grep -qx "False True" "$S/out" || fail "a claim has the id of another's denial, or none"
	grep -qx "1 1 1 1 1" "$S/out" || fail "what makes no sense was taken"
	id=$(id_of "write $HOME/outside-file")
	explained "$id" "deny write $HOME/outside-file"
	verifies
}

# Two sessions, one id: both are told, newest first, and one can be named.
t_of_which_session() {
	local id first
	[ "$T_LEVEL" = hooks ] || skip "above level hooks two sessions do not choose the same id"
	fsh 'cat ~/.ssh/id_rsa'
	first=$(basename "$(ls -d "$STATE"/sessions/*)")
	fsh 'cat ~/.ssh/id_rsa'
	id=$(id_of read)
	run pale explain "$id"
	rc_is 1
	[ "$(grep -c '^deny read' "$S/out")" = 2 ] || fail "not both are told"
	sed -n 's/^by.*, session \([^;]*\);.*/\1/p' "$S/out" | tail -1 | grep -qx "$first" || fail "the newest is not first"
	err_has "2 have this id"
	out_has "claimed by the process itself, as is the id"
	run pale explain --session "$first" "$id"
	rc_is 1
	out_has "session $first"
	out_has "now, by the policy as it stands"
	run pale explain --session nonsense "$id"
	rc_is 2
	run pale explain --json "$id"
	python3 -c 'import json, sys
assert [d["op"] for d in json.load(sys.stdin)] == ["read", "read"]' <"$S/out" || fail "json"
}

t_no_such_id() {
	fsh 'cat file ~/.ssh/id_rsa'
	run pale explain 00000000
	rc_is 2
	err_has "no denial and no question 00000000"
	# What was allowed has none.
	! records read allow "id=" | grep . || fail "an allowed record has an id"
}

scenario "$@"
