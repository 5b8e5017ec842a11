# nightly: hooks
# A real agent from npm, offline, driven by a scripted model: it works, and it is judged.
# limit: 150
. "$T_LIB"
A=$(dirname "$T_LIB")/agents
. "$A/npm.sh"
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
	OPTS=(--agent opencode)
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

# Each has its own state and login; a name that pale does not know has nobody's.
t_another_agents_state_is_closed() {
	mkdir -p ~/.codex ~/.claude ~/.local/share/opencode
	echo "$DECOY" | tee ~/.codex/auth.json ~/.claude/.credentials.json ~/.local/share/opencode/auth.json >/dev/null
	OPTS=(--agent codex)
	fsh 'echo x >~/.codex/new; grep -c . ~/.codex/auth.json; cat ~/.claude/.credentials.json; echo x >~/.claude/new'
	out_is 1
	denied read "$HOME/.claude/.credentials.json" "agent claude:"
	file_is ~/.codex/new x
	missing ~/.claude/new
	OPTS=()
	fsh 'cat ~/.codex/auth.json; busybox cat ~/.local/share/opencode/auth.json; echo x >~/.codex/other'
	out_is ""
	missing ~/.codex/other
}

# Who runs is told by what the operator typed, or by what lies outside the workspace.
t_the_agent_is_known() {
	local dir=$HOME/lib/node_modules/@openai/codex
	mkdir -p "$dir/bin" ~/bin node_modules/x
	printf '#!/bin/sh\nexit 0\n' | tee "$dir/bin/codex.js" ~/bin/claude node_modules/x/cli.js >/dev/null
	echo '{"name": "@openai/codex", "version": "1"}' >"$dir/package.json"
	echo '{"name": "@openai/codex"}' >node_modules/x/package.json
	chmod +x "$dir/bin/codex.js" ~/bin/claude node_modules/x/cli.js
	ln -s "$dir/bin/codex.js" ~/bin/cx
	ln -s ../../bin/claude own
	said() {
		run pale run -v "${@:2}"
		rc_is 0
		case $1 in
		none) err_lacks "pale: agent " ;;
		*) err_has "pale: agent $1: pale's profile for it applies" ;;
		esac
	}
	said claude ~/bin/claude
	said codex ~/bin/cx
	err_has "codex: its own sandbox cannot start in here: start it with -s danger-full-access"
	said codex ~/bin/cx -s danger-full-access
	err_lacks "cannot start in here"
	said codex -- env A=1 nice ~/bin/cx
	said none -- sh node_modules/x/cli.js
	said none node_modules/x/cli.js
	# Neither is a file of the workspace by its name, however it is found.
	cp ~/bin/claude node_modules/x/claude
	said none node_modules/x/claude
	err_has "note: an agent could have written what this starts, so it is not taken for claude"
	PATH=$PWD/node_modules/x:$PATH said none claude
	said none env A=1 node_modules/x/claude
	# Nor what runs one, or what that finds here first.
	printf '#!/bin/sh\nexit 0\n' >env && chmod +x env
	said none ./env claude
	cp env npx && PATH=$PWD:$PATH said none npx @anthropic-ai/claude-code
	rm env npx
	echo 'pass' >aider.py
	said none python3 -m aider
	mkdir aider && mv aider.py aider/__main__.py
	said none python3 -m aider
	rm -r aider
	mkdir -p ~/npx && cp ~/bin/claude ~/npx/npx
	PATH=$HOME/npx:$PATH said claude npx @anthropic-ai/claude-code@2
	mkdir -p node_modules/@anthropic-ai/claude-code
	PATH=$HOME/npx:$PATH said none npx @anthropic-ai/claude-code@2
	rm -r node_modules/@anthropic-ai
	said claude --agent claude node_modules/x/claude
	said claude --agent claude true
	said none --agent somebody ~/bin/claude
	said none true
}

# What a profile says to its agent, and to no other.
t_what_an_agent_is_told() {
	export ANTHROPIC_BASE_URL=http://127.0.0.1:9 OPENCODE_CONFIG=/x
	OPTS=(--agent claude)
	fence env
	out_has DISABLE_AUTOUPDATER=1
	out_has ANTHROPIC_BASE_URL=http://127.0.0.1:9
	out_lacks OPENCODE
	OPTS=(--agent opencode)
	fence env
	out_has OPENCODE_DISABLE_AUTOUPDATE=1
	out_has OPENCODE_CONFIG=/x
	out_lacks ANTHROPIC_BASE_URL
	OPTS=()
	fence env
	out_lacks DISABLE_AUTOUPDATE
}

# codex copies itself to its state and starts that; what is newer than the session nobody may execute.
t_its_first_start_executes_from_its_state() {
	[ ! -e ~/.codex ] || fail "no fresh home"
	OPTS=(--agent codex)
	fsh 'mkdir -p ~/.codex/bin && cp /bin/echo ~/.codex/bin/ && ~/.codex/bin/echo one'
	rc_is 0
	out_is one
	missing ~/.claude
	missing ~/.gemini
}

# codex leaves a daemon whose socket is in /tmp and which executes what it is told; tmux does as well.
t_a_daemon_outside_is_not_reached() {
	local dir listen reach
	[ "$T_LEVEL" != hooks ] || skip "level hooks knows a socket by its name alone"
	dir=$(mktemp -d /tmp/pale-agent.XXXXXX)
	listen='import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); s.accept()[0].send(b"hi")'
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
	# What is left of one that has ended is what it is bare: then codex begins its own.
	rm ~/.config/pale/policy.ini
	fence python3 -c "$reach" "$dir/daemon"
	rc_is 1
	err_has ConnectionRefusedError
	not_denied
	rm -r "$dir"
}

scenario "$@"
