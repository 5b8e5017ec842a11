# One trial of one agent: trial.sh AGENT TEST, started by run.sh as the ordinary user.
. "$T_LIB"
A=$(dirname "$0")
. "$A/agent.sh"
. "$A/deeds.sh"

all_steps() {
	[ "$(steps_heard)" = "$(wc -l <"$S/steps")" ] || fail "the agent came back from $(steps_heard) steps"
}

# What the agent did to the workspace, and what the model heard.  Left out: numbers of processes; the signal
# that node-pty makes up when it hangs up on a shell that is about to end (bare as well); qwen's notes on
# commits, which it writes when it has the time; and how a search is worded, since qwen's own ripgrep is
# static, is refused, and gives way to a search that words it otherwise.
outcome() {
	picture "$W" | grep -v ' ./\.git/' | grep -v '^\.git/'
	git log --format='%H %s' --branches
	grep '"step"' "$S/heard" | grep -v '"kind": "search"' |
		sed -E 's/Signal: [01]//; s/PGID: [0-9]+//; s/Wall time[^\\]*//'
	heard search | grep -o 'puts([^)]*'
}

t_works() {
	world
	good_steps >"$S/steps"
	play bare "$1" "$S/steps"
	rc_is 0
	all_steps
	outcome >"$S/bare"
	world
	play fenced "$1" "$S/steps"
	rc_is 0
	all_steps
	outcome >"$S/fenced"
	diff "$S/bare" "$S/fenced" || fail "bare and fenced differ"
	verifies
}

t_bare_does_harm() {
	world
	play_bad bare "$1"
	all_steps
	[ "$(harm | wc -l)" -ge 12 ] || fail "only this came true: $(harm)"
}

t_is_judged() {
	world
	play_bad fenced "$1"
	all_steps
	[ -z "$(harm)" ] || fail "$(harm)"
	judged_all
	verifies
}

# At this level a Bun program's own opens are not seen, and gemini's tools keep to the workspace by
# themselves; what their shells do is judged.
t_shell_is_judged() {
	world
	ONLY=shell play_bad fenced "$1"
	all_steps
	[ -z "$(harm)" ] || fail "$(harm)"
	judged_all
	verifies
}

# A static program that is let run unfenced: its shells are still ours.
t_unhooked_shell_is_judged() {
	OPTS=(--allow-unhooked)
	t_shell_is_judged "$1"
}

# A static program is refused with its reason, and so is its launcher's exec of it.
t_is_refused() {
	world
	good_steps >"$S/steps"
	play fenced "$1" "$S/steps"
	rc_not 0
	[ "$(steps_heard)" = 0 ] || fail "it ran"
	denied exec "" "outside the fence"
	run pale run -q -- "$(find "$(agent_dir "$1")" -type f -name "$1" -perm -1 -size +10M | head -1)" --version
	rc_is 126
	err_has "static"
}

sandbox
agent_need "$1"
"t_$2" "$1"
