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

sandbox
agent_need "$1"
"t_$2" "$1"
