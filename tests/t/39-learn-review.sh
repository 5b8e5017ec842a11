# limit: 60
# pale learn on a terminal: each proposal is asked about, and one key answers.
. "$T_LIB"

MINE=.config/pale/policy.ini
OPTS=(--observe)

# What is typed for each question.
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
		    if typed and seen[at:].endswith("Abo(r)t: "):
		        at = len(seen)
		        os.write(fd, typed.pop(0).encode())
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
	review 0 'G\nA\nI\nS\n'
	grep -qxF 'write = ~/build' ~/$MINE || fail "what was widened is not there"
	! grep -qF '~/other' ~/$MINE || fail "what was left is there"
	run pale lint
	rc_is 0
	OPTS=(-n)
	fsh 'echo 1 >~/build/new; echo x >~/other/place/z'
	file_is ~/build/new 1
	missing ~/other/place/z
}

# Before they are saved the new lines are shown with their sections.
t_new_lines_have_sections() {
	policy <<<$'preset = agent\n\n[network]\nask = other.example\n\n[commands]\nask = id -g\n'
	mkdir -p ~/build/out
	fsh 'echo 1 >~/build/out/1; id -g; getent hosts own.example'
	review 0 'A\nA\nA\nS\n'
	tr -d '\r' <"$S/out" | grep '^+ ' | sort >"$S/shown"
	printf '%s\n' '+ [commands] allow = id -g $' '+ [files] write = ~/build/out/1' '+ [network] allow = own.example:443' |
		cmp -s - "$S/shown" || fail "shown is: $(cat "$S/out")"
}

# What an answer holds for is not asked about again.
t_answers_hold_for_others() {
	policy <<<'preset = agent'
	fsh 'for h in a.example.net b.example.net a.example.org b.example.org; do getent hosts $h; done; getent hosts a.example.net a.example.org'
	review 0 'G\nA\nG\nA\nS\n'
	for h in net org; do
		out_has "allow = b.example.$h:443: what you answered to another holds for it too"
		! grep -q "1  allow = b.example.$h:443" "$S/out" || fail "it was asked about b.example.$h"
	done
	! grep -q 'b.example' ~/$MINE || fail "there are more lines than answers"
	run pale learn --json
	python3 - "$S/out" <<-'PY' || fail "something is still proposed"
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert j["proposals"] == [] and j["covered"] == 4 and j["left"] == [], j
	PY
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
