# retry: timeouts
# nightly: hooks strict
# limit: 90
# Who answers a question: no code of the session, by any of its ways; every operator, wherever he sits.
. "$T_LIB"

ask_touch() {
	policy <<-EOF2
		[session]
		timeout = 120s
		[commands]
		ask = touch
	EOF2
}

# What level hooks does not hold (README, its table): without a wall whatever needs no answer can be done.
beyond_hooks='by_renaming_it|by_a_socket_in_its_place|by_a_session_of_its_own_making|by_typing_into_the_terminal'
beyond_hooks="$beyond_hooks|by_killing_the_helper|by_tracing_the_helper|by_tmux|by_systemd_run|by_at"

t_no_attempt_is_accepted() {
	local id got
	need python3
	ask_touch
	git init -q .
	if command -v tmux >/dev/null; then
		mkdir "$S/tmux"
		export T_TMUX=$S/tmux/sock
		tmux -S "$T_TMUX" -f /dev/null new-session -d -s op 2>/dev/null || unset T_TMUX
	fi
	bg inner bash -c 'touch a & until test -s id; do sleep 0.05; done
		python3 "$0" "$(cat id)" >"$1" 2>&1; echo tried >done; wait; echo "status $?"' \
		"${T_LIB%/*}/helper/attempts.py" "$W/tries"
	id=$(pending_id) || exit 1
	echo "$id" >id
	until_true 60 test -e done || fail "the attempts do not end: $(cat tries)"
	[ -z "${T_TMUX:-}" ] || tmux -S "$T_TMUX" kill-server 2>/dev/null
	[ "$(grep -c '^[a-z_]*: ' tries)" -ge 30 ] || fail "only so many tried: $(cat tries)"
	got=$(grep ACCEPTED tries)
	[ "$T_LEVEL" != hooks ] || got=$(grep -vE "^($beyond_hooks): " <<<"$got")
	[ -z "$got" ] || fail "accepted: $got"
	missing a
	[ -z "$(records approval/decision '[a-z]*')" ] || fail "an answer was recorded"
	if [ "$T_LEVEL" != hooks ]; then
		has_pending || fail "the question is gone"
		# Above hooks no connect reaches the helper; it is the supervisor that refuses.
		grep -q '^by_system_call: .*Error' tries || fail "$(grep by_system_call tries)"
		run pale deny "$id"
		rc_is 0 "the operator's own answer"
	else
		# By a system call the helper is reached, and it knows whom it sees.
		grep -q '^by_system_call: .*the helper: the process ' tries || fail "$(grep by_system_call tries)"
		recorded approval/refused deny
		run pale deny "$id"
	fi
	bg_wait inner
	missing a
}

t_orphans_of_a_killed_supervisor() {
	local id dir
	ask_touch
	bg killed bash -c 'setsid python3 - "$PALE_SESSION_DIR" >tries 2>&1 <<"PY" &
import os, socket, sys, time
while not os.path.exists("killed"):
    time.sleep(0.01)
for _ in range(50):
    try:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(sys.argv[1] + "/control.sock")
        s.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"approval/list\"}")
        print("answer", s.recv(4096), flush=True)
    except OSError as e:
        print("refused", e, flush=True)
    time.sleep(0.02)
PY
touch a'
	id=$(pending_id) || exit 1
	kill -9 "$BG"
	: >killed
	sleep 2
	! grep -q '"result"' tries 2>/dev/null || fail "$(cat tries)"
	missing a
	[ -z "$(records approval/decision '[a-z]*')" ] || fail "an answer was recorded"
}

# Asks, answers as `"$@" pale approve ID` would, expects the act.  WRAP is around `pale run`.
WRAP=()
operator_may() {
	local id
	ask_touch
	"${WRAP[@]}" pale run -q -- bash -c 'touch a; :' >"$S/op.out" 2>"$S/op.err" </dev/null &
	BG=$!
	id=$(pending_id) || exit 1
	run "$@" pale approve "$id"
	rc_is 0 "$*"
	wait "$BG" || fail "the command failed: $(cat "$S/op.err")"
	exists a
}

t_operator_in_a_login_session() {
	operator_may setsid --wait
}

t_operator_by_script() {
	need script
	operator_with_shell() {
		shift
		script -qec "pale $*" /dev/null
	}
	operator_may operator_with_shell
}

t_operator_in_tmux() {
	need tmux
	operator_in_pane() {
		local i
		mkdir -p "$S/tmux"
		shift
		tmux -S "$S/tmux/s" -f /dev/null new-session -d -x 80 -y 24 "pale $*; echo \$? >$S/tmux/rc"
		until_true 10 test -s "$S/tmux/rc" || return 1
		return "$(cat "$S/tmux/rc")"
	}
	operator_may operator_in_pane
}

t_operator_without_a_terminal() {
	operator_may setsid --wait env -i PATH="$PATH" HOME="$HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR"
}

# A terminal that cannot gain privileges, and a container with a filter of its own: marked alike.
t_operator_without_new_privileges() {
	WRAP=(setpriv --no-new-privs)
	operator_may setpriv --no-new-privs
}

t_operator_in_a_filtered_container() {
	local filter
	need python3
	filter=$S/filter.py
	cat >"$filter" <<-'PY'
		import ctypes, os, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		prog = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000))
		fprog = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 1, ctypes.addressof(prog)))
		assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, fprog, 0, 0) == 0
		os.execvp(sys.argv[1], sys.argv[1:])
	PY
	WRAP=(python3 "$filter")
	operator_may python3 "$filter"
}

# And outside of what `pale run` itself is marked by, whoever is marked is refused.
t_a_marked_operator_is_refused() {
	local id
	ask_touch
	bg plain bash -c 'touch a; :'
	id=$(pending_id) || exit 1
	for marks in "setpriv --no-new-privs" "unshare -Urpf --mount-proc"; do
		run $marks pale approve "$id"
		rc_not 0 "$marks"
	done
	recorded approval/refused deny "inside a session"
	missing a
	# The session says it where it was started, too.
	until_true 5 grep -q 'tried to act as the operator' "$S/plain.err" ||
		fail "no word at the launcher: $(cat "$S/plain.err")"
	run pale deny "$id"
	bg_wait plain
}

t_type_ahead_is_no_consent() {
	local id
	need python3
	ask_touch
	bg ahead bash -c 'touch a; :'
	id=$(pending_id) || exit 1
	python3 - "$id" >"$S/pty" 2>&1 <<-'PY' || fail "$(cat "$S/pty")"
		import os, pty, select, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    time.sleep(0.3)
		    os.execvp("pale", ["pale", "approve", sys.argv[1], "--session"])
		os.write(fd, b"y\ny\ny\n")
		seen = b""
		end = time.time() + 10
		while b"[y/N]" not in seen and time.time() < end:
		    if select.select([fd], [], [], 0.1)[0]:
		        try:
		            seen += os.read(fd, 4096)
		        except OSError:
		            break
		print(seen.decode())
		if b"[y/N]" not in seen:
		    sys.exit("no question" if b"cannot" not in seen and b"rule" not in seen else 0)
		time.sleep(0.5)
		os.write(fd, b"n\n")
		_, status = os.waitpid(pid, 0)
		sys.exit(0 if os.waitstatus_to_exitcode(status) else "what was typed before counted")
	PY
	missing a
	run pale deny "$id"
	bg_wait ahead
}

t_questions_are_followed() {
	local id
	ask_touch
	pale pending --follow >"$S/follow" 2>&1 </dev/null &
	bg asks bash -c 'touch a; :'
	id=$(pending_id) || exit 1
	until_true 10 grep -q "touch" "$S/follow" || fail "the question is not shown: $(cat "$S/follow")"
	USER=ana pale approve "$id"
	until_true 10 grep -q "approved by ana" "$S/follow" || fail "its end is not: $(cat "$S/follow")"
	bg_wait asks
	exists a
}

scenario "$@"
