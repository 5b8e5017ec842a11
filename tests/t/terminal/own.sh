# limit: 120
# The agent's own terminal: what it is, that nothing of it is lost or changed on the way, and that the
# operator's stays his.
. "$T_LIB"
. "$(dirname "$T_LIB")/terminal.sh"

t_it_has_one_of_its_own() {
	operator <<-'PY'
		import os
		t = Terminal(*PALE, "python3", "-c", """if 1:
		    import os, sys
		    names = {os.ttyname(fd) for fd in range(3)}
		    tty = os.open("/dev/tty", os.O_RDWR)
		    os.write(tty, b"by tty\\n")
		    print(names.pop(), len(names), os.tcgetpgrp(tty) == os.getpgrp(), os.getsid(0) != os.getpid())""")
		t.ends()
		words = t.seen.decode().split()
		same("said", words[:2] + words[3:], ["by", "tty", "0", "True", "True"])
		if words[2] == os.ttyname(t.slave): sys.exit("it has the operator's")
		same("modes", t.modes(), t.before)
	PY
}

t_the_operators_is_out_of_reach() {
	cat >"$S/reach.py" <<-'PY'
		import errno, fcntl, os, sys, termios
		def attempt(name, f):
		    try: f(); print(name, "WORKED")
		    except OSError as e: print(name, errno.errorcode[e.errno])
		theirs = sys.argv[1]
		attempt("write", lambda: os.open(theirs, os.O_WRONLY | os.O_NOCTTY))
		attempt("read", lambda: os.open(theirs, os.O_RDONLY | os.O_NOCTTY))
		attempt("take", lambda: os.open(theirs, os.O_RDWR))
		attempt("push", lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x"))
		for pid in [int(p) for p in os.listdir("/proc") if p.isdigit()]:
		    if pid == os.getpid(): continue
		    try: fds = os.listdir("/proc/%d/fd" % pid)
		    except OSError: fds = ["0", "1", "2", "3", "4", "5", "6"]
		    for fd in fds:
		        try:
		            got = os.open("/proc/%d/fd/%s" % (pid, fd), os.O_RDWR | os.O_NOCTTY)
		            if os.isatty(got) and os.ttyname(got) == theirs: print("REACHED", pid, fd)
		        except OSError: pass
		for fd in range(3, 256):
		    try:
		        if os.isatty(fd) and os.ttyname(fd) == theirs: print("INHERITED", fd)
		    except OSError: pass
		print("done")
	PY
	SCRIPT=$S/reach.py operator <<-'PY'
		import os
		t = Terminal("sh", "-c", "exec 3<>/dev/tty; exec pale run -q -- python3 $SCRIPT $(tty)")
		t.ends()
		lines = [l for l in t.seen.decode().splitlines() if not l.startswith("pale: ")]
		same("said", lines, ["write EACCES", "read EACCES", "take EACCES", "push EPERM", "done"])
	PY
}

# At level hooks no wall keeps it from the name, but nothing it was given leads there.
t_own_at_level_hooks() {
	cat >"$S/look.py" <<-'PY'
		import os, sys
		fds = [fd for fd in range(256) if os.isatty(fd)]
		names = {os.ttyname(fd) for fd in fds if fd != 3}
		three = os.fstat(3).st_rdev == os.stat(names.copy().pop()).st_rdev
		tty = os.open("/dev/tty", os.O_RDWR)
		print(len(names), three, sys.argv[1] in names, os.tcgetpgrp(tty) == os.getpgrp())
	PY
	SCRIPT=$S/look.py operator <<-'PY'
		t = Terminal("sh", "-c", "exec 3<>/dev/tty; exec pale run --level hooks -q -- python3 $SCRIPT $(tty)")
		t.ends()
		same("said", t.seen.split(), [b"1", b"True", b"False", b"True"])
	PY
}

# Every byte, both ways, in raw mode; what a program asks of a terminal, and what the terminal answers.
t_bytes_pass_unchanged() {
	cat >"$S/talker.py" <<-'PY'
		import os, sys, tty
		tty.setraw(0)
		queries = b"\x1b[c\x1b]11;?\x1b\\\x1b[?u\x1b[?2004h\x1b[6n\x1b[>q"
		os.write(1, b"<" + queries + bytes(range(256)) * 64 + b">")
		got, want = b"", int(sys.argv[1])
		while len(got) < want: got += os.read(0, 65536)
		tty_ok = got == b"\x1b[?62;4c\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[?0u\x1b[200~paste\r\x03\x1a\x11\x13\x04\xff" \
		    b"\x1b[201~" + bytes(range(256)) * 16
		os.write(1, b"SAME" if tty_ok else b"OTHER " + repr(got).encode())
	PY
	SCRIPT=$S/talker.py operator <<-'PY'
		import os
		answer = b"\x1b[?62;4c\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[?0u\x1b[200~paste\r\x03\x1a\x11\x13\x04\xff" \
		    b"\x1b[201~" + bytes(range(256)) * 16
		def talk(*fence):
		    t = Terminal(*fence, "python3", os.environ["SCRIPT"], str(len(answer)))
		    text = t.until(bytes(range(256)) + b">")
		    t.type(answer)
		    t.ends()
		    return text + t.seen
		same("all that was seen", talk(), talk(*PALE))
	PY
}

# What full-screen programs ask a terminal or switch on, one by one: the operator's sees the question as it
# was written, and the answer comes by one read, as without a relay.
t_each_answer_in_one_piece() {
	cat >"$S/asker.py" <<-'PY'
		import os, sys, tty
		tty.setraw(0)
		for query in sys.argv[1:]:
		    os.write(1, bytes.fromhex(query))
		    os.write(1, b"=" + os.read(0, 4096).hex().encode() + b";")
	PY
	SCRIPT=$S/asker.py operator <<-'PY'
		import os
		table = [
		    (b"\x1b[c", b"\x1b[?62;1;4;6;22c"),                  # DA1
		    (b"\x1b[>c", b"\x1b[>41;370;0c"),                    # DA2
		    (b"\x1b[=c", b"\x1bP!|00000000\x1b\\"),             # DA3
		    (b"\x1b[>q", b"\x1bP>|XTerm(370)\x1b\\"),           # XTVERSION
		    (b"\x1b]10;?\x07", b"\x1b]10;rgb:dcdc/dcdc/dcdc\x07"),
		    (b"\x1b]11;?\x1b\\", b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"),
		    (b"\x1b]4;1;?\x1b\\", b"\x1b]4;1;rgb:cdcd/0000/0000\x1b\\"),
		    (b"\x1b[?u", b"\x1b[?31u"),                          # kitty's keyboard
		    (b"\x1b[>1u", b"\x1b[97;5u"),                        # a key in its way
		    (b"\x1b[5n", b"\x1b[0n"),
		    (b"\x1b[6n", b"\x1b[24;80R"),                        # where the cursor is
		    (b"\x1b[14t", b"\x1b[4;768;1280t"),
		    (b"\x1b[18t", b"\x1b[8;24;80t"),
		    (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),                # synchronized output
		    (b"\x1bP+q544e\x1b\\", b"\x1bP1+r544e=787465726d\x1b\\"),
		    (b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", b"\x1b_Gi=31;OK\x1b\\"),
		    (b"\x1b[?2004h", b"\x1b[200~a paste\r\x03\x04\x1a\x11\x13\x1c\x1b[201~"),
		    (b"\x1b[?1000h\x1b[?1006h", b"\x1b[<0;12;7M\x1b[<0;12;7m"), # mouse
		    (b"\x1b[?1000l", b"\x1b[M !!\xff\xa1\x80"),
		    (b"\x1b[?1004h", b"\x1b[I\x1b[O"),                   # focus
		    (b"\xc3\xa4 \xf0\x9f\x98\x80", b"\xf0\x9f\x98\x80\xff\x00\x7f\r\n"),
		    (b"\x1b]52;c;?\x07", b"\x1b]52;c;" + b"QUJD" * 200 + b"\x07"),
		    (b"\x1b", b"\x1b"),                                  # the key itself
		]
		def talk(*fence):
		    t = Terminal(*fence, "python3", os.environ["SCRIPT"], *(q.hex() for q, _ in table))
		    for query, answer in table:
		        before = t.until(query)
		        if before != query: sys.exit("%r came as %r" % (query, before))
		        t.type(answer)
		        got = t.until(b";")
		        if got != b"=" + answer.hex().encode() + b";": sys.exit("%r: %r" % (answer, got))
		    t.ends()
		    same("what is left", t.seen, b"")
		talk()
		talk(*PALE)
		for level in "strict", "hooks":
		    talk("pale", "run", "--level", level, "-q", "--")
	PY
}

# More at once than any buffer holds, both ways at the same time.
t_a_long_paste() {
	operator <<-'PY'
		import threading
		t = Terminal(*PALE, "python3", "-c", """if 1:
		    import os, tty
		    tty.setraw(0)
		    os.write(1, b"ready")
		    left = 1000000
		    while left:
		        data = os.read(0, 4096)
		        left -= len(data)
		        while data: data = data[os.write(1, data):]""")
		t.until(b"ready")
		text = bytes(range(250)) * 4000
		typist = threading.Thread(target=t.type, args=(text,))
		typist.start()
		t.until(lambda: len(t.seen) >= len(text))
		typist.join()
		t.ends()
		same("text", t.seen == text, True)
	PY
}

# A program's last bytes come though it ends at once, and as many as it wrote.
t_no_last_byte_is_lost() {
	operator <<-'PY'
		for argv in (["sh", "-c", "seq 400000; printf end"], ["sh", "-c", "printf end; kill -9 $$"], ["printf", "end"]):
		    bare, fenced = Terminal(*argv), Terminal(*PALE, *argv)
		    same("status", fenced.end(), bare.end())
		    same("bytes", len(fenced.seen), len(bare.seen))
		    same("text", fenced.seen, bare.seen)
		# Whoever stays behind and writes has no part in it.
		t = Terminal(*PALE, "sh", "-c", "(trap '' HUP TERM; while :; do echo more; sleep 0.01; done) & echo end")
		t.ends()
		same("modes", t.modes(), t.before)
	PY
}

t_it_begins_like_the_operators() {
	operator <<-'PY'
		import os, termios
		def look(*fence):
		    t = Terminal(*fence, "sh", "-c", "echo ready; read go; stty -a; stty size; echo $TERM", rows=33, cols=101,
		        env={"TERM": "no-such-terminal"})
		    t.until(b"ready")
		    t.type(b"\n")
		    t.ends()
		    return t.seen
		bare = look()
		same("stty", look(*PALE), bare)
		if b"33 101" not in bare or b"no-such-terminal" not in bare: sys.exit(repr(bare))
	PY
}

t_sizes_are_passed_on() {
	operator <<-'PY'
		import os
		t = Terminal(*PALE, "python3", "-uc", """if 1:
		    import os, signal
		    seen = lambda *a: print("size %d %d." % tuple(os.get_terminal_size()[::-1]))
		    signal.signal(signal.SIGWINCH, seen)
		    seen()
		    while True: signal.pause()""")
		t.until(b"size 24 80.")
		t.size(50, 132)
		t.until(b"size 50 132.")
		# A storm: the last one counts.
		for i in range(2000): t.size(20 + i % 7, 60 + i % 11)
		t.size(61, 161)
		t.until(b"size 61 161.")
		t.type(b"\x03")
		t.ends(130)
	PY
}

# However it ends, the terminal is as it was.
t_the_terminal_is_put_back() {
	operator <<-'PY'
		import os, signal
		raw = """if 1:
		    import os, sys, tty, signal
		    tty.setraw(0)
		    print("ready", os.getpid(), "", end="", flush=True)
		    while True: signal.pause()"""
		def session():
		    t = Terminal(*PALE, "python3", "-c", raw)
		    t.until(b"ready ")
		    t.until(lambda: b" " in t.seen)
		    return t, int(t.seen.split()[0])
		def ended(t, want):
		    t.ends(want)
		    until(lambda: t.modes() == t.before)
		t, agent = session()
		if not t.is_raw(): sys.exit("not raw")
		os.kill(agent, signal.SIGKILL)
		ended(t, 137)
		t, agent = session()
		os.kill(t.pid, signal.SIGTERM)
		ended(t, 143)
		# pale run itself: the front, then what stands behind it
		t, agent = session()
		os.kill(t.pid, signal.SIGKILL)
		ended(t, 137)
		until(lambda: not alive(agent))
		t, agent = session()
		with open("/proc/%d/task/%d/children" % (t.pid, t.pid)) as f: back = int(f.read())
		os.kill(back, signal.SIGKILL)
		ended(t, 137)
	PY
}

# One that stops the output of its own terminal stops nobody else, nor who outlives it.
t_stopped_output() {
	operator <<-'PY'
		stop = "import termios; print('stopped', flush=True); termios.tcflow(0, termios.TCOOFF)"
		stay = "import os, signal, time\nif os.fork(): os._exit(0)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
		stay += stop + "\ntime.sleep(60)"
		for script in (stop, stay):
		    t = Terminal("pale", "run", "--", "python3", "-c", script)
		    t.until(b"records, ")
		    t.ends(0)
	PY
}

t_a_closed_terminal_ends_all() {
	operator <<-'PY'
		import os
		def ready(script):
		    t = Terminal(*PALE, "bash", "-c", script)
		    t.until(b"ready ")
		    t.until(lambda: t.seen.count(b" ") == 2)
		    return t, [int(w) for w in t.seen.split()]
		# One that goes by SIGHUP, and one that does not care.
		for script in ("sleep 300 & echo ready $$ $! ''; wait", "trap '' HUP; sleep 300 & echo ready $$ $! ''; wait; wait"):
		    t, pids = ready(script)
		    t.hang_up()
		    until(lambda: os.waitpid(t.pid, os.WNOHANG)[0] == t.pid)
		    until(lambda: not any(map(alive, pids)))
	PY
	verifies
}

# Only what is the terminal is replaced.
t_pipes_and_files_stay() {
	cat >look <<-'END'
		for fd in 0 1 2; do
			test -t $fd && echo $fd tty >&2 || echo $fd $(readlink /proc/$$/fd/$fd | sed "s/:.*//") >&2
		done
	END
	operator <<-'PY'
		def run(line):
		    t = Terminal("bash", "-c", line)
		    code = t.end()
		    same("modes", t.modes(), t.before)
		    return code, t.seen.decode().replace("\r", "")
		same("no input", run("pale run -q -- bash look </dev/null")[1], "0 /dev/null\n1 tty\n2 tty\n")
		same("a pipe", run("pale run -q -- bash look | cat")[1], "0 tty\n1 pipe\n2 tty\n")
		same("between", run("echo | pale run -q -- bash look | cat")[1], "0 pipe\n1 pipe\n2 tty\n")
		# statuses, and who ends whom
		same("head", run("yes | pale run -q -- head -n 2; echo ${PIPESTATUS[*]}"), (0, "y\ny\n141 0\n"))
		same("seq", run("pale run -q -- seq 1000000 | head -n 1; echo ${PIPESTATUS[*]}"), (0, "1\n141 0\n"))
		same("ends", run("pale run -q -- sh -c 'echo x; exit 3' | cat; echo ${PIPESTATUS[*]}"), (0, "x\n3 0\n"))
		# Lines of a stream that is the terminal are as they are without a fence.
		bare, fenced = (run(f + "sh -c 'seq 9 >&2' | cat")[1] for f in ("", "pale run -q -- "))
		same("lines", fenced, bare)
	PY
}

# In a pipeline another one may be reading the keys: the agent has them when it asks for them.
t_keys_are_whose_they_are() {
	operator <<-'PY'
		other = "python3 -uc 'import sys; t = open(\"/dev/tty\"); print(\"other\", flush=True); "
		other += "print(\"had\", t.readline().strip(), sys.stdin.read().strip())'"
		t = Terminal("bash", "-c", "pale run -q -- sh -c 'until test -e go; do sleep 0.05; done; cat go' | " + other)
		t.until(b"other")
		t.type(b"keys\r")
		open("go.new", "w").write("late"); os.rename("go.new", "go")
		t.until(b"had keys late")
		t.ends()
		# It asks, by /dev/tty, with its output in a pipe.
		t = Terminal("bash", "-c", "pale run -q -- sh -c 'echo prompt >/dev/tty; read x </dev/tty; echo got $x' | cat")
		t.until(b"prompt")
		t.type(b"some words\r")
		t.until(b"got some words")
		t.ends()
		same("modes", t.modes(), t.before)
		# ^C in a pipeline is for all of it.
		t = Terminal("bash", "-c", "pale run -q -- sh -c 'echo ready >&2; exec sleep 300' | cat; echo ${PIPESTATUS[*]} >s")
		t.until(b"ready")
		t.type(b"\x03")
		t.end()
	PY
}

# Where there is no terminal there is one process, and what it always was.
t_without_a_terminal() {
	setsid -w pale run -q -- sh -c 'test -t 0 || echo none; echo $PPID; (: </dev/tty) 2>/dev/null || echo no tty
		python3 -c "import os, sys; print(os.getsid(int(sys.argv[1])))" $$
		python3 -c "import os, sys; print(os.getsid(int(sys.argv[1])))" $PPID' \
		</dev/null >"$S/out" 2>"$S/err" &
	local pid=$!
	wait $pid
	out_has none
	out_has "no tty"
	[ "$(sed -n 4p "$S/out")" = "$(sed -n 5p "$S/out")" ] || fail "a session of its own"
}

# A run inside the session has the terminal of the session.
t_nested_runs_share_it() {
	operator <<-'PY'
		t = Terminal(*PALE, "sh", "-c", "tty; pale run -q -- tty")
		t.ends()
		names = t.seen.split()
		same("names", names[0], names[1])
	PY
}

scenario "$@"
