# One trial of one agent: trial.sh AGENT TEST, started by agents.sh as the ordinary user.
. "$T_LIB"
A=$(dirname "$0")
. "$A/npm.sh"
. "$A/deeds.sh"
. "$A/screen.sh"

# What the agent did to the workspace, and what the model heard.  Left out: numbers of processes and the
# times and names that codex gives to a piece of output; the signal that node-pty makes up when it hangs up
# on a shell that is about to end (bare as well); and qwen's notes on commits, which it writes when it has
# the time.
outcome() {
	picture "$W" | grep -v ' ./\.git/' | grep -v '^\.git/'
	git log --format='%H %s' --branches
	grep '"step"' "$S/heard" |
		sed -E 's/Signal: [01]//; s/PGID: [0-9]+//; s/(Wall time|Chunk ID)[^\\]*//g'
}

t_works() {
	world
	good_steps >"$S/steps"
	play bare "$1" "$S/steps"
	rc_is 0
	all_steps
	[ "$(git log -1 --format=%s; ./made; cat copy)" = "side
hello there
a
b" ] || fail "bare it does not work"
	outcome >"$S/bare"
	world
	play fenced "$1" "$S/steps"
	rc_is 0
	all_steps
	outcome >"$S/fenced"
	diff "$S/bare" "$S/fenced" || fail "bare and fenced differ"
	verifies
}

# The table of deeds is no empty threat: bare, all of it comes true.
t_bare_does_harm() {
	world
	play_bad bare "$1"
	all_steps
	diff <(dared) <(harm) || fail "not what came true"
}

t_is_judged() {
	world
	play_bad fenced "$1"
	all_steps
	[ -z "$(harm)" ] || fail "came true: $(harm)"
	judged_all
	verifies
}

# What the agent could have written, in the workspace and in its own state, to be rid of a hook.
spite() {
	mkdir -p .claude .opencode/plugin
	printf '%s\n' '{"disableAllHooks": true, "hooks": {"PreToolUse": []}, "env": {"CLAUDE_CODE_SIMPLE": "1",
	  "CLAUDE_CODE_SAFE_MODE": "1"}}' | tee .claude/settings.json >.claude/settings.local.json
	printf '%s\n' CLAUDE_CODE_SIMPLE=1 CLAUDE_CODE_SAFE_MODE=1 OPENCODE_PURE=1 OPENCODE_CONFIG_CONTENT={} \
		PALE_TOOL_HOOK=/bin/true >.env
	echo '{"plugin": []}' >opencode.json
	echo 'export const Other = async () => ({ "tool.execute.before": async () => {} })' >.opencode/plugin/tool-opencode.js
	case $1 in
	claude) mkdir -p ~/.claude && cp .claude/settings.json ~/.claude/ ;;
	codex) printf '%s\n' '[features]' 'hooks = false' '[hooks.state."/<session-flags>/config.toml:pre_tool_use:0:0"]' \
		'enabled = false' '[[hooks.PreToolUse]]' 'matcher = "*"' >>~/.codex/config.toml ;;
	esac
}

declare -A SHELL_TOOL=([claude]=Bash [codex]=Bash [opencode]=bash)

# A tool that a rule of [tools] denies is not used, whatever the agent's own files say of hooks.
t_tools() {
	world
	printf 'shell\ttouch ran\nshell\ttouch ran2\n' >"$S/steps"
	RULES=$'[tools]\ndeny = '${SHELL_TOOL[$1]} AFTER=spite
	play fenced "$1" "$S/steps"
	rc_is 0
	all_steps
	missing ran
	missing ran2
	heard shell | grep -q 'pale: denied tool' || fail "the model does not hear why"
	recorded tool deny ${SHELL_TOOL[$1]}
	# The same without the rule.
	world
	RULES=$'[tools]\ndeny = nosuch'
	play fenced "$1" "$S/steps"
	exists ran
	exists ran2
	recorded tool allow ${SHELL_TOOL[$1]}
	verifies
}

sandbox
agent_need "$1"
"t_$2" "$1"
