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

scenario "$@"
