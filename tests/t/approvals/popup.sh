# limit: 60
# A question over a full-screen agent: a popup of tmux, a notice of the desktop.
. "$T_LIB"

need tmux git python3

inner() {
	tmux -S "$S/inner" -f /dev/null "$@"
}

# A terminal of its own, whose screen can be looked at with the popup on it, is a client of the inner server.
outer() {
	tmux -S "$S/outer" -f /dev/null "$@"
}

desk() {
	inner new-session -d -s i -x "$1" -y "$2" "bash --norc"
	inner set -g status off
	outer new-session -d -s o -x "$1" -y "$2" "TMUX= tmux -S $S/inner attach"
	outer set -g status off
	until_true 10 on_screen '$' || fail "no terminal"
}

screen() {
	outer capture-pane -p -t o
}

on_screen() {
	screen | grep -qF -e "$1"
}

must_show() {
	until_true "${2:-15}" on_screen "$1" || fail "the screen lacks: $1
$(screen)"
}

is_gone() {
	! on_screen "$1"
}

keys() {
	outer send-keys -t o "$@"
}

# The agent: a full screen that pushes when it is told to.
agent() {
	cat >agent.py <<-'END'
		import os, subprocess, sys, time
		print("\033[?1049h\033[2J\033[H", end="")
		for i in range(1, 25):
		    print("\033[%d;1Hthe agent's own line %d" % (i, i), end="")
		sys.stdout.flush()
		while not os.path.exists("go"): time.sleep(0.05)
		try:
		    code = subprocess.run(["git", "push", "-q", "origin"] + sys.argv[1:], stdin=subprocess.DEVNULL,
		        stdout=open("push.out", "w"), stderr=subprocess.STDOUT).returncode
		except PermissionError:
		    code = 126
		with open("pushed.new", "w") as f: f.write(str(code))
		os.rename("pushed.new", "pushed")
		while not os.path.exists("end"): time.sleep(0.05)
		print("\033[?1049l", end="")
	END
	inner send-keys -t i "pale run -q ${OPTS[*]-} -- python3 agent.py $*" Enter
	must_show "the agent's own line 24"
}

repository() {
	printf '[session]\ntimeout = 60s\n[files]\nwrite = %s\n[commands]\nask = git push\n' "$S/remote" | policy
	git init -q --bare "$S/remote"
	git init -q . && git remote add origin "$S/remote" && git commit -q --allow-empty -m one && git branch feature/x
}

is_as_before() {
	screen >"$S/after"
	cmp -s "$S/before" "$S/after"
}

t_read_in_full_allowed_once_and_pushed() {
	local i many=()
	repository
	for i in {10..39}; do
		git branch "b$i" && many+=("b$i")
	done
	desk 100 30
	agent feature/x "${many[@]}"
	screen >"$S/before"
	: >go
	must_show "may the agent do this?"
	must_show "Space reads on"
	sleep 0.7
	keys y
	must_show "read it to its end first"
	[ ! -e pushed ] || fail "answered before it was read"
	keys Space Space Space
	must_show "digest"
	must_show "-- end --"
	sleep 0.3
	keys y
	must_show "approved once by you"
	until_true 10 test -e pushed || fail "the push did not end"
	[ "$(cat pushed)" = 0 ] || fail "the push failed: $(cat push.out)"
	git -C "$S/remote" rev-parse -q --verify feature/x >/dev/null || fail "nothing was pushed"
	until_true 10 is_as_before || fail "the agent's screen is another: $(diff "$S/before" "$S/after")"
	: >end
	verifies
}

t_what_was_typed_for_the_agent_answers_nothing() {
	repository
	desk 100 30
	agent feature/x
	: >go
	until on_screen "may the agent do this?"; do
		keys y
	done
	sleep 1
	has_pending || fail "answered by what was typed before"
	keys q
	until_true 10 is_gone "may the agent do this?" || fail "q does not leave it"
	has_pending || fail "leaving it answered it"
	run pale deny "$(pending_id)"
	until_true 10 test -e pushed || fail "no end"
	[ "$(cat pushed)" != 0 ] || fail "pushed"
	: >end
}

t_answered_elsewhere_closes_it() {
	repository
	desk 80 24
	agent feature/x
	: >go
	must_show "may the agent do this?"
	USER=ana run pale deny "$(pending_id)"
	rc_is 0
	must_show "denied by ana"
	until_true 10 is_gone "may the agent do this?" || fail "the popup stays"
	: >end
}

t_one_after_the_other() {
	printf '[session]\ntimeout = 60s\n[commands]\nask = touch\n' | policy
	desk 100 30
	inner send-keys -t i "pale run -q -- bash -c 'touch a & touch b & touch c & wait; ls'" Enter
	for _ in 1 2 3; do
		must_show "may the agent do this?"
		must_show digest
		sleep 0.8
		keys y
		must_show "approved once"
		until_true 10 is_gone "approved once" || fail "the popup stays"
	done
	until_true 10 test -e c || fail "not all ran"
	exists a
	exists b
}

t_an_expired_one_makes_room() {
	printf '[session]\ntimeout = 10s\n[commands]\nask = touch\n' | policy
	desk 100 30
	inner send-keys -t i "pale run -q -- bash -c 'touch first; touch second; echo end'" Enter
	must_show "denied in"
	must_show "expired: approving" 20
	# The agent asks again, and nobody has touched a key.
	must_show "denied in"
	must_show digest
	sleep 0.8
	keys y
	must_show "approved once"
	until_true 10 test -e second || fail "not run"
	missing first
}

t_an_expired_one_leaves_the_screen() {
	local id
	printf '[session]\ntimeout = 2s\n[commands]\nask = touch\n' | policy
	desk 100 30
	inner send-keys -t i "pale run -q -- bash -c 'touch first; sleep 30'" Enter
	must_show "may the agent do this?"
	id=$(pending_id) || exit 1
	until_true 20 is_gone "may the agent do this?" || fail "the popup stays"
	# It waits for a late answer still.
	run pale approve "$id"
	rc_is 0
}

# Whoever tries to be the operator is told of on the surfaces, and on the agent's terminal when it is free.
t_a_warning_stays_off_the_agents_screen() {
	local socket
	repository
	desk 120 30
	cat >tries.py <<-'END'
		import glob, os, socket, time
		print("\033[?1049h\033[2J\033[H", end="")
		print("the agent's own line 24", end="", flush=True)
		while not os.path.exists("go"): time.sleep(0.05)
		for path in glob.glob(os.environ["XDG_RUNTIME_DIR"] + "/pale/*/control.sock"):
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    try: s.connect(path)
		    except OSError: pass
		while not os.path.exists("end"): time.sleep(0.05)
		print("\033[?1049l", end="")
	END
	inner send-keys -t i "pale run -q -- python3 tries.py" Enter
	must_show "the agent's own line 24"
	outer new-session -d -s v -x 160 -y 30 "pale watch"
	until_true 10 eval 'outer capture-pane -p -t v | grep -q "1 session"' || fail "no watch"
	# An attempt that reaches the helper, from below the launcher: a child of the fence is stopped before it.
	python3 - "$XDG_RUNTIME_DIR" <<-'END'
		import ctypes, glob, os, socket, sys
		ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.connect(glob.glob(sys.argv[1] + "/pale/*/control.sock")[0])
		print(s.recv(65536))
	END
	until_true 10 eval 'outer capture-pane -p -t v | grep -q "tried to act as you"' ||
		fail "watch does not say so: $(outer capture-pane -p -t v)"
	sleep 0.5
	is_gone "tried to act" || fail "on the agent's screen: $(screen)"
	: >go
	: >end
	must_show "tried to act as the operator"
}

t_a_new_one_after_one_was_left() {
	printf '[session]\ntimeout = 60s\n[commands]\nask = touch\n' | policy
	desk 100 30
	inner send-keys -t i "pale run -q -- bash -c 'touch first & \
until [ -e go ]; do sleep 0.1; done; touch second; wait'" Enter
	must_show "may the agent do this?"
	must_show digest
	sleep 0.8
	keys q
	until_true 10 is_gone "may the agent do this?" || fail "q does not leave it"
	sleep 1
	is_gone "may the agent do this?" || fail "it comes again"
	: >go
	must_show "may the agent do this?"
	must_show digest
	sleep 0.8
	keys y
	must_show "approved once"
	until_true 10 test -e second || fail "the answer was for another"
	missing first
	run pale deny "$(pending_id)"
}

# Of two clients the one that was used last, so that a question is answered where somebody is.
t_two_clients_on_one_pane() {
	printf '[session]\ntimeout = 60s\n[commands]\nask = touch\n' | policy
	desk 100 30
	outer new-session -d -s p -x 100 -y 30 "TMUX= tmux -S $S/inner attach"
	until_true 10 eval 'outer capture-pane -p -t p | grep -qF "$"' || fail "no second client"
	sleep 1.1
	outer send-keys -t p "pale run -q -- bash -c 'touch a'" Enter
	until_true 10 eval 'outer capture-pane -p -t p | grep -q digest' || fail "the client that was used shows nothing"
	is_gone "may the agent do this?" || fail "the other one shows it, too"
	sleep 0.8
	outer send-keys -t p y
	until_true 10 test -e a || fail "not run"
	until_true 10 eval '! outer capture-pane -p -t p | grep -q "may the agent"' || fail "the popup stays"
}

t_no_popup_where_none_is_wanted() {
	repository
	desk 80 24
	OPTS=(--surfaces none)
	agent feature/x
	: >go
	until_true 10 has_pending || fail "nothing is pending"
	sleep 1
	is_gone "may the agent do this?" || fail "a popup"
	run pale deny "$(pending_id)"
	: >end
	run pale run --surfaces tmux -- true
	rc_is 0
	run pale run --surfaces both -- true
	rc_is 125
	err_has "--surfaces takes tmux, desktop or none"
}

notices() {
	mkdir "$S/bin"
	cat >"$S/bin/notify-send" <<-END
		#!/bin/bash
		printf '%s\n' "\$@" >>"$S/notice"
		echo "$1"
	END
	chmod 755 "$S/bin/notify-send"
	export PATH="$S/bin:$PATH" DISPLAY=:99
}

t_a_notice_says_what_to_run() {
	printf '[session]\ntimeout = 60s\n[commands]\nask = touch\n' | policy
	notices ""
	bg notice bash -c "touch '<b>bold</b>' \$'\\033[31m' '$(printf 'y%.0s' {1..300})'; echo \"status \$?\""
	until_true 10 test -s "$S/notice" || fail "no notice"
	run pale deny "$(pending_id)"
	bg_wait notice
	out_is "status 126"
	grep -qF '&lt;b&gt;bold&lt;/b&gt;' "$S/notice" || fail "$(cat "$S/notice")"
	grep -qF '\\x1b' "$S/notice" || fail "$(cat "$S/notice")"
	grep -qF '(cut)' "$S/notice" || fail "$(cat "$S/notice")"
	grep -qF 'pale watch --card' "$S/notice" || fail "$(cat "$S/notice")"
	verifies
}

# Where there is tmux, nothing is noticed beside the popup.
t_a_popup_or_a_notice() {
	repository
	notices ""
	desk 100 30
	agent feature/x
	: >go
	must_show "may the agent do this?"
	[ ! -e "$S/notice" ] || fail "both"
	run pale deny "$(pending_id)"
	until_true 10 test -e pushed || fail "no end"
	: >end
}

# What a notice's program writes is no answer.
t_a_notice_answers_nothing() {
	printf '[session]\ntimeout = 60s\n[commands]\nask = touch\n' | policy
	notices "deny approve"
	bg notice bash -c 'touch a; echo "status $?"'
	until_true 10 test -s "$S/notice" || fail "no notice"
	sleep 0.5
	has_pending || fail "answered"
	missing a
	run pale deny "$(pending_id)"
	bg_wait notice
	out_is "status 126"
}

# The installed program knows the options that are given to it; without a desktop it gets no further.
t_notify_send_knows_its_options() {
	need notify-send
	run timeout 5 env -u DBUS_SESSION_BUS_ADDRESS notify-send -a pale -u critical -w -- one two
	! grep -qi option "$S/err" || fail "$(cat "$S/err")"
}

scenario "$@"
