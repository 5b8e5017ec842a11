# limit: 60
# pale learn on a terminal: each proposal is asked about, and one key answers.
. "$T_LIB"

MINE=.config/pale/policy.ini
OPTS=(--observe)

# What is typed for each question: one key, or a line where one is asked for.
review() {
	local want=$1
	shift
	printf '%b' "$1" >"$S/typed"
	shift
	need python3
	RC=0
	python3 - "$S/typed" pale learn "$@" >"$S/out" 2>&1 <<-'PY' || RC=$?
		import os, pty, select, sys, time
		typed = open(sys.argv[1]).read().splitlines()
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp(sys.argv[2], sys.argv[2:])
		seen, at, end = "", 0, time.time() + 30
		while time.time() < end:
		    if typed and any(seen[at:].endswith(q) for q in ("Abo(r)t: ", "New line: ", "changed: ")):
		        end_of_line = b"" if seen.endswith("Abo(r)t: ") else b"\n"
		        at = len(seen)
		        os.write(fd, typed.pop(0).encode() + end_of_line)
		    if not select.select([fd], [], [], 0.05)[0]:
		        continue
		    try:
		        data = os.read(fd, 4096)
		    except OSError:
		        break
		    if not data:
		        break
		    seen += data.decode(errors="replace")
		sys.stdout.write(seen)
		if typed:
		    sys.exit("never asked for: %r" % typed)
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	PY
	rc_is "$want" "pale learn on a terminal"
}

t_review() {
	policy <<<'preset = agent'
	mkdir -p ~/build/out ~/other/place
	fsh 'for i in 1 2 3; do echo $i >~/build/out/$i; done; echo x >~/other/place/x; echo y >~/other/place/y'
	review 0 'G\nA\nD\nS\n'
	grep -qxF 'write = ~/build' ~/$MINE || fail "what was widened is not there"
	grep -qxF 'readonly = ~/other/place' ~/$MINE || fail "what was denied is not there"
	run pale lint
	rc_is 0
	OPTS=(-n)
	fsh 'echo 1 >~/build/new; echo x >~/other/place/z'
	file_is ~/build/new 1
	missing ~/other/place/z
}

# Before they are saved the new lines are shown where they will stand.
t_new_lines_have_sections() {
	policy <<<$'preset = agent\n\n[network]\nask = other.example\n\n[commands]\nask = id -g\n'
	mkdir -p ~/build/out
	fsh 'echo 1 >~/build/out/1; id -g; getent hosts own.example'
	review 0 'A\nA\nA\nS\n'
	tr -d '\r' <"$S/out" | grep -A12 '^  \[network\]$' | grep -v '^. #' | head -6 >"$S/shown"
	printf '%s\n' '  [network]' '+ allow = own.example:443' '  [commands]' '+ allow = id -g $' '+ [files]' \
		'+ write = ~/build/out/1' | cmp -s - "$S/shown" || fail "shown is: $(cat "$S/out")"
}

# What an answer holds for is not asked about again, neither what was taken nor what was denied.
t_answers_hold_for_others() {
	policy <<<'preset = agent'
	fsh 'for h in a.example.net b.example.net a.example.org b.example.org; do getent hosts $h; done; getent hosts a.example.net a.example.org'
	review 0 'G\nA\nG\nD\nS\n'
	for h in net org; do
		out_has "allow = b.example.$h:443: what you answered to another holds for it too"
		! grep -q "1  allow = b.example.$h:443" "$S/out" || fail "it was asked about b.example.$h"
	done
	! grep -q 'b.example' ~/$MINE || fail "there are more lines than answers"
	run pale learn --json
	python3 - "$S/out" <<-'PY' || fail "something is still proposed"
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert j["proposals"] == [] and j["covered"] == 2 and len(j["left"]) == 2, j
	PY
}

# Where that line is refused in the end, the others are not taken either, and it is said of each.
t_answers_that_do_not_hold() {
	policy <<<'preset = agent'
	fsh 'for h in a.discord.com b.discord.com; do getent hosts $h; done'
	review 1 'N\nallow = *.discord.com:443\nA\n'
	out_has "not taken: allow = *.discord.com:443: covers discord.com, where anyone can publish or collect"
	out_has "not taken: allow = b.discord.com:443: the line that holds for it too was not taken"
	file_is ~/$MINE 'preset = agent'
}

# What was denied is not proposed again: a rule denies it, whatever the port, and the name's look-up too.
t_denied_stays_denied() {
	policy <<<'preset = agent'
	fsh 'getent hosts evil.example; exec 3<>/dev/tcp/evil.example/443'
	review 0 'D\nS\n'
	grep -qxF 'deny = evil.example' ~/$MINE || fail "the host is not denied: $(cat ~/$MINE)"
	run pale learn
	rc_is 0
	out_has "resolve evil.example: a rule denies it"
	out_lacks "[network] allow"
	out_lacks "not taken"
	run pale lint
	err_has "no findings"
}

# readonly would let it be read as before.
t_review_denies_reading() {
	policy <<<$'preset = agent\n[files]\nask = ~/docs'
	mkdir -p ~/docs && echo x >~/docs/f
	fsh 'cat ~/docs/f'
	review 0 'D\nS\n'
	grep -qxF 'deny = ~/docs/f' ~/$MINE || fail "reading is not denied: $(cat ~/$MINE)"
	OPTS=(-n)
	fsh 'cat ~/docs/f'
	rc_not 0
	denied read "$HOME/docs/f"
}

t_review_own_lines() {
	policy <<<'preset = agent'
	mkdir -p ~/build/out
	fsh 'echo 1 >~/build/out/1'
	review 1 'N\nwrite = ~\nR\n'
	out_has "it cannot be taken: the whole home directory is too much"
	file_is ~/$MINE 'preset = agent'
	review 0 'N\nwrite = ~/build/*/1\nA\nS\n'
	grep -qxF 'write = ~/build/*/1' ~/$MINE || fail "the own line is not there"
	# One that does not allow what it is for is not taken.
	policy <<<'preset = agent'
	review 1 'E\nwrite = ~/elsewhere/file\nA\n'
	out_has "it would not hold"
	file_is ~/$MINE 'preset = agent'
	review 1 'I\n'
	file_is ~/$MINE 'preset = agent'
	# Nor one that lint has a mere note about.
	fsh 'getent hosts own.example'
	review 1 'N\nallow = pastebin.com:443\nA\n'
	out_has "not taken: allow = pastebin.com:443: anyone can publish on pastebin.com"
	file_is ~/$MINE 'preset = agent'
}

# An arrow ends in a letter, and what is pasted begins with one: neither is an answer.  Enter behind a letter is none
# to the next question.
t_one_key() {
	policy <<<'preset = agent'
	mkdir -p ~/build/out ~/other/place
	fsh 'for i in 1 2 3; do echo $i >~/build/out/$i; done; echo x >~/other/place/x; echo y >~/other/place/y'
	cp ~/$MINE "$S/before"
	review 1 '\033[A\nad\nxyz\ni\nF\n'
	cmp -s ~/$MINE "$S/before" || fail "what is no key took a line"
	[ "$(grep -c '^1/2 ' "$S/out")" = 4 ] || fail "it was not asked again: $(cat "$S/out")"
	review 1 '\004\n'
	cmp -s ~/$MINE "$S/before" || fail "the end of input took a line"
}

# Whatever ends the question, the terminal is as it was; a stopped one asks again.
t_terminal_is_put_back() {
	policy <<<'preset = agent'
	mkdir -p ~/build/out
	fsh 'echo 1 >~/build/out/1'
	need python3
	cat >"$S/keys.py" <<-'PY'
		import os, pty, select, signal, termios, time
		def modes(fd):
		    return termios.tcgetattr(fd)[:4]
		def wait_for(fd, text):
		    seen, end = "", time.time() + 20
		    while not seen.endswith(text):
		        assert time.time() < end, seen
		        if select.select([fd], [], [], 0.1)[0]:
		            seen += os.read(fd, 4096).decode()
		def start():
		    fd, slave = pty.openpty()
		    pid = os.fork()
		    if pid == 0:  # who leads the session stays, so that pale can be stopped
		        os.setsid()
		        os.close(os.open(os.ttyname(slave), os.O_RDWR))
		        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
		        for i in range(3):
		            os.dup2(slave, i)
		        child = os.fork()
		        if child == 0:
		            os.setpgid(0, 0)
		            os.tcsetpgrp(0, os.getpid())
		            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
		            os.execvp("pale", ["pale", "learn"])
		        while True:
		            status = os.waitpid(child, os.WUNTRACED)[1]
		            if not os.WIFSTOPPED(status):
		                os._exit(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 100 + os.WEXITSTATUS(status))
		            os.write(pipe[1], bytes([modes(0) == before]))
		            os.kill(child, signal.SIGCONT)
		    return pid, fd, slave
		probe = pty.openpty()
		before = modes(probe[1])
		pipe = os.pipe()
		def code(pid, fd, slave):
		    status = os.waitpid(pid, 0)[1]
		    assert modes(slave) == before, "the modes are others"
		    return os.WEXITSTATUS(status)
		ASK = "Abo(r)t: "
		for key, want in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT), (b"i", 101), (b"\x04", 101)):
		    t = start()
		    wait_for(t[1], ASK)
		    assert modes(t[2]) != before
		    os.write(t[1], key)
		    got = code(*t)
		    assert got == want, (key, got)
		for sig in (signal.SIGTERM, signal.SIGHUP):
		    t = start()
		    wait_for(t[1], ASK)
		    os.killpg(os.tcgetpgrp(t[1]), sig)
		    assert code(*t) == sig, sig
		t = start()
		wait_for(t[1], ASK)
		os.write(t[1], b"\x1a")
		assert os.read(pipe[0], 1) == b"\1", "stopped with other modes"
		wait_for(t[1], ASK)
		os.write(t[1], b"i")
		assert code(*t) == 101
		print("as it was")
	PY
	run python3 "$S/keys.py"
	rc_is 0
	out_is "as it was"
}

scenario "$@"

# Ports nobody may grant, but the operator may change the line that is proposed.
t_review_own_ports() {
	local line
	policy <<<'preset = agent'
	printf 'import socket\ns = socket.socket()\ns.bind(("93.184.215.10", 8082))\n' >listen.py
	fence python3 -B listen.py
	for line in 'bind = 22,8082' 'bind = 1-9999' 'bind = 8082x' 'bind = *' 'bind = 99999' 'bind ='; do
		review 1 "E\n$line\nR\n"
		out_has "it cannot be taken: "
	done
	review 1 'E\nbind = 9000-9100\nA\n'
	out_has "it would not hold"
	review 0 'E\nbind = 8000-8100,9000\nA\nS\n'
	grep -qxF 'bind = 8000-8100,9000' ~/$MINE || fail "the own line is not there"
	run pale lint
	rc_is 0
}
