# How `pale run` ends, and what reaches the command.
. "$T_LIB"

t_exit_status() {
	local n
	for n in 0 1 2 42 255; do
		fsh "exit $n"
		rc_is $n
	done
}

t_death_by_signal() {
	local sig
	for sig in TERM KILL SEGV HUP; do
		# The status of a shell says 128 + n; python sees the signal itself.
		run python3 -c '
import subprocess, sys
r = subprocess.run(["pale", "run", "-q", "--", "bash", "-c", "kill -%s $$" % sys.argv[1]])
import signal
print(signal.Signals(-r.returncode).name if r.returncode < 0 else r.returncode)' $sig
		out_is SIG$sig
	done
}

t_not_found() {
	fence no-such-program-here
	rc_is 127
	err_has "no-such-program-here"
	run pale run -q -- ./no-such
	rc_is 127
}

t_not_executable() {
	fence ./file
	rc_is 126
}

t_usage() {
	run pale run
	rc_is 125
	run pale run --no-such-option -- true
	rc_is 125
	run pale run --polcy x -- true
	rc_is 125
	err_has "policy"
	run pale lintt
	rc_is 2
	err_has "lint"
	run pale run --preset no-such -- true
	rc_is 125
	run pale run -p "$HOME/no-such.ini" -- true
	rc_is 125
	err_has "no-such.ini"
}

t_level() {
	local level
	for level in full strict hooks; do
		run pale run --level $level -- touch made.$level
		rc_is 0
		err_has "level $level"
		exists made.$level
	done
	run pale run -- true
	err_has "level full"
	run pale run --level most -- touch made
	rc_is 125
	err_has "most"
	missing made
}

t_level_that_is_not_to_be_had() {
	run pale run --abi-max 0 -- touch made
	rc_is 125
	err_has "level full is not available here"
	err_has Landlock
	missing made
	run pale run --level strict --abi-max 0 -- touch made
	rc_is 125
	missing made
	run pale run --abi-max x -- touch made
	rc_is 125
	missing made
	run pale run --level hooks --abi-max 0 -- touch made
	rc_is 0
}

t_banner_tells_what_is_not_enforced() {
	run pale run --level hooks -- true
	rc_is 0
	err_has "hooks"
	err_has "static"
	err_has "configuration and branches written as files"
	recorded session/start '[a-z]*' static
}

t_first_record_tells_what_the_kernel_has() {
	run pale run -- true
	recorded session/start '[a-z]*' 'level=full' 'Landlock ABI'
}

t_lingers() {
	bash -c 'time -p pale run -q --linger -- sh -c "(sleep 1; echo late >late) & exit 3"' 2>"$S/err"
	file_is late late
	pale run -q -- sh -c '(sleep 1; echo late >late2) & exit 3'
	[ $? = 3 ] || fail "the status is the command's"
	sleep 1.3
	missing late2
}

t_signals_are_passed_on() {
	bg trap bash -c 'trap "echo got; exit 9" USR1; echo ready; while :; do sleep 0.05; done'
	until_true 10 grep -q ready "$S/trap.out" || fail "did not start"
	kill -USR1 $BG
	bg_wait trap
	rc_is 9
	out_has got
}

t_term_ends_it() {
	bg long sleep 30
	until_true 10 pgrep -f "^sleep 30$" -u "$(id -u)" || fail "did not start"
	kill -TERM $BG
	bg_wait long
	rc_is 143
}

t_leftovers_are_ended() {
	fsh 'sleep 31 & echo $!'
	rc_is 0
	! kill -0 "$(cat "$S/out")" 2>/dev/null || fail "a process was left behind"
}

t_workspace_must_be_one() {
	cd "$HOME" || exit 1
	run pale run -- true
	rc_is 125
	run pale run -w / -- true
	rc_is 125
	run pale run -w "$W" -- true
	rc_is 0
}

t_stdin_stdout_pass() {
	RC=0
	echo "through" | pale run -q -- cat >"$S/out" 2>"$S/err" || RC=$?
	rc_is 0
	out_is through
}

t_terminal() {
	need script
	RC=0
	script -qec "pale run -q -- bash -c 'test -t 0 &&
		tty && stty size >/dev/null && echo sane'" /dev/null >"$S/out" 2>"$S/err" </dev/null || RC=$?
	rc_is 0
	out_has /dev/pts/
	out_has sane
}

# A stopped command stops `pale run` too, so that the shell gets its terminal back; CONT goes on.
t_job_control() {
	cat >"$S/terminal.py" <<-'EOF2'
		import os, pty, signal
		def shell():
		    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
		    pid = os.fork()
		    os.setpgid(pid, pid)  # 0: the caller itself
		    os.tcsetpgrp(0, pid or os.getpid())
		    if pid == 0:
		        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
		        os.execvp("pale", ["pale", "run", "-q", "--", "bash", "-c", "echo ready; kill -TSTP $$; echo resumed; tty"])
		    _, status = os.waitpid(pid, os.WUNTRACED)
		    os.tcsetpgrp(0, os.getpgrp())
		    print("stopped" if os.WIFSTOPPED(status) else "ended %d" % status, flush=True)
		    os.tcsetpgrp(0, pid)
		    os.kill(pid, signal.SIGCONT)
		    _, status = os.waitpid(pid, 0)
		    print("status", os.waitstatus_to_exitcode(status), flush=True)
		pid, fd = pty.fork()
		if pid == 0:
		    shell()
		    os._exit(0)
		text = b""
		try:
		    while data := os.read(fd, 4096): text += data
		except OSError: pass
		print(text.decode().replace("\r", ""))
	EOF2
	run timeout 20 python3 "$S/terminal.py"
	rc_is 0
	out_has stopped
	out_has "status 0"
	out_has resumed
	out_has /dev/pts/
}

t_interrupt_from_the_terminal() {
	cat >"$S/terminal.py" <<-'EOF2'
		import os, pty, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp("pale", ["pale", "run", "-q", "--", "bash", "-c",
		        "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"])
		text = b""
		while b"ready" not in text: text += os.read(fd, 4096)
		os.write(fd, b"\x03")
		print("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	EOF2
	run timeout 20 python3 "$S/terminal.py"
	rc_is 0
	out_is "status 5"
}

t_no_trace_left() {
	fence true
	[ -z "$(find "$XDG_RUNTIME_DIR" -mindepth 2 2>/dev/null)" ] ||
		fail "left in the runtime directory: $(find "$XDG_RUNTIME_DIR")"
	run pale session list
	rc_is 0
}

t_killed_launcher_takes_helper_along() {
	local helper
	bg long sleep 32
	until_true 10 has_session || fail "no session"
	helper=$(pgrep -P $BG -x pale-helper)
	[ -n "$helper" ] || fail "no helper"
	kill -9 $BG
	wait $BG 2>/dev/null
	until_true 10 bash -c "! kill -0 $helper" || fail "the helper lives on"
	verifies_or_open
}

has_session() {
	pale session list --json | grep -q '"'
}

# A session without an end may be told so, but never as broken.
verifies_or_open() {
	run pale log verify
	out_lacks "bad record"
	[ "$RC" -le 1 ] || fail "verify cannot run"
}

scenario "$@"
