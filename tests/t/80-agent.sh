# levels: full hooks
# A real agent from npm, offline, driven by a scripted model: it works, and it is judged.
# limit: 150
. "$T_LIB"
A=$(dirname "$T_LIB")/agents
. "$A/agent.sh"
. "$A/deeds.sh"

works() {
	world
	good_steps >"$S/steps"
	play fenced "$1" "$S/steps"
	rc_is 0
	all_steps
	file_is copy "a
b"
	[ "$(./made)" = "hello there" ] || fail "the build is not the one that was asked"
	[ "$(git log -1 --format=%s)" = side ] || fail "no commit"
	not_recorded write deny "$W"
	not_recorded read deny "$W"
	recorded write allow "$W/made.c"
	recorded exec allow '"git add -A ."'
	verifies
}

is_judged() {
	world
	play_bad fenced "$1"
	rc_is 0
	all_steps
	[ -z "$(harm)" ] || fail "$(harm)"
	judged_all
	verifies
}

t_qwen_works() {
	agent_need qwen
	works qwen
}

t_qwen_is_judged() {
	agent_need qwen
	is_judged qwen
}

# It is too large to be fetched for this.
t_codex_works() {
	agent_have codex
	works codex
}

t_codex_is_judged() {
	agent_have codex
	is_judged codex
}

# claude signs in there at its first start.
t_claude_may_sign_in() {
	run pale explain connect platform.claude.com:443
	rc_is 0
}

# At the first start in a home the directories above an agent's own do not exist.
t_the_way_to_its_state_is_made() {
	fsh 'mkdir -p ~/.local/share/opencode/log ~/.config/opencode && echo x >~/.local/share/opencode/log/1'
	rc_is 0
	file_is ~/.local/share/opencode/log/1 x
	fsh 'mkdir ~/.local/share/other; : >~/.local/share/file; rmdir ~/.config/opencode ~/.config; mkdir ~/own'
	denied mkdir "$HOME/.local/share/other" "outside the workspace"
	missing ~/.local/share/other
	missing ~/.local/share/file
	missing ~/own
	exists ~/.config
}

# codex copies itself to its state and starts that; what is newer than the session nobody may execute.
t_its_first_start_executes_from_its_state() {
	[ ! -e ~/.codex ] && [ ! -e ~/.cache ] || fail "no fresh home"
	OPTS=(--agent codex)
	fsh 'mkdir -p ~/.codex/bin ~/.cache/bin && cp /bin/echo ~/.codex/bin/ && cp /bin/echo ~/.cache/bin/ &&
		~/.codex/bin/echo one && ~/.cache/bin/echo two'
	rc_is 0
	out_is "one
two"
	missing ~/.claude
	missing ~/.gemini
}

# codex leaves a daemon whose socket is in /tmp and which executes what it is told; tmux does as well.
t_a_daemon_outside_is_not_reached() {
	local dir listen reach
	[ "$T_LEVEL" != hooks ] || skip "level hooks knows a socket by its name alone"
	dir=$(mktemp -d /tmp/pale-agent.XXXXXX)
	listen='import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); s.accept()[0].send(b"hi")'
	reach='import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(9).decode())'
	python3 -c "$listen" "$dir/daemon" &
	SERVERS+=($!)
	until_true 10 test -S "$dir/daemon" || fail "no daemon"
	fence python3 -c "$reach" "$dir/daemon"
	rc_is 1
	denied unix "$dir/daemon" "it belongs to a process outside the session"
	recorded unix deny "$dir/daemon" '"via":"kernel"'
	fsh 'python3 -c "$1" "$0/own" & until [ -S "$0/own" ]; do sleep 0.02; done; sleep 0.1; python3 -c "$2" "$0/own"' \
		"$dir" "$listen" "$reach"
	rc_is 0
	out_is hi
	policy <<-END
		preset = agent
		[network]
		unix = $dir/daemon
	END
	fence python3 -c "$reach" "$dir/daemon"
	rc_is 0
	out_is hi
	servers_end
	rm -r "$dir"
}

scenario "$@"
