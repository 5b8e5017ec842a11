# The first run: pale init finds the agents, writes a policy that explains itself and lints clean, and says
# what to type next.
. "$T_LIB"

MINE=.config/pale/policy.ini

# An agent on PATH as npm installs it: agent NAME.
agent() {
	mkdir -p "$S/lib/$1/bin" "$S/bin"
	printf '#!/bin/bash\necho "$0 ran" >>%q\n' "$S/ran" >"$S/lib/$1/bin/$1"
	chmod +x "$S/lib/$1/bin/$1"
	ln -sf "../lib/$1/bin/$1" "$S/bin/$1"
	PATH=$S/bin:$PATH
}

# Each example is good: take the hash from every line that is one.
all_examples() {
	sed -E 's/^# ([a-z_]+ = )/\1/' "$1"
}

t_first_run() {
	agent opencode
	agent crush
	run pale init
	rc_is 0
	err_is_empty
	grep -qE "^found  opencode +hooked +$S/bin/opencode$" "$S/out" || fail "opencode is not told"
	grep -qE "^found  crush +hooked " "$S/out" || fail "crush is not told"
	grep -qE "^wrote  $HOME/$MINE  \(preset agent, [0-9]+ rules, lint clean\)$" "$S/out" ||
		fail "what was written is not told"
	out_has "level  "
	[ "$(tail -1 "$S/out")" = "next:  pale run -- opencode" ] || fail "the next command is not the last line"
	[ "$(stat -c %a ~/$MINE)" = 600 ] || fail "its mode is another"
	[ ! -e "$S/ran" ] || fail "an agent was run"
	run pale lint
	rc_is 0
	# And what it says to type works.
	run pale run -q -- opencode
	rc_not 125
	[ -z "$(find ~/.config/pale -name '.new-*')" ] || fail "something is left"
}

# What README shows is what comes: the same lines but for numbers and directories.
shape() {
	sed -E 's#/[^ ]*/#DIR/#g; s/[0-9][0-9.]*[^ ,;)]*/N/g; s/ +/ /g'
}

t_as_in_readme() {
	local line
	agent opencode
	run pale init
	rc_is 0
	sed -n '/^    \$ pale init$/,/^$/p' "${T_LIB%/*}/escapes/README.md" | sed '1d;$d;s/^    //' | shape >"$S/readme"
	[ "$(wc -l <"$S/readme")" -ge 4 ] || fail "README shows no first run"
	shape <"$S/out" >"$S/shapes"
	while read -r line; do
		grep -qxF -e "$line" "$S/shapes" || fail "README shows: $line"
	done <"$S/readme"
}

# The file shows the language: each of its examples is a line that pale takes.
t_examples_are_good() {
	local which
	run pale init
	rc_is 0
	all_examples ~/$MINE >"$S/all.ini"
	diff <(grep -c ' = ' "$S/all.ini") <(grep -cE '^[a-z_]+ = ' "$S/all.ini") || true
	[ "$(grep -cE '^[a-z_]+ = ' "$S/all.ini")" -gt 15 ] || fail "there are no examples"
	chmod 600 "$S/all.ini"
	run pale lint "$S/all.ini" --json
	[ "$RC" -le 1 ] || fail "the examples are not understood"
	out_lacks '"error"'
	run pale init --project
	rc_is 0
	out_has ".pale/policy.ini  (it may only tighten, lint clean)"
	all_examples .pale/policy.ini >"$S/project.ini"
	cp "$S/project.ini" .pale/policy.ini
	run pale policy show
	rc_is 0
	out_has "release/*"
	err_lacks "error"
}

t_never_over_another() {
	printf '# mine\n' | policy
	run pale init
	rc_is 1
	err_has "stays as it is"
	err_has "pale init --force"
	file_is ~/$MINE "# mine"
	# What is lacking is told all the same, and nothing that was done before.
	out_has "keeps  $HOME/$MINE"
	out_has "lint clean)"
	out_has "level  "
	out_has "next:  pale run -- "
	out_lacks "wrote"
	run pale init --agent no-such-agent
	rc_is 1
	out_has "lacks  no-such-agent is not on PATH"
	printf '[commands]\ndeny = frobnicate *\nalow = ls\n' | policy
	run pale init
	rc_is 1
	err_has "policy.ini:3:1: error: unknown key"
	err_has "stays as it is"
	run pale init --json
	rc_is 1
	python3 -c 'import json, sys; j = json.load(open(sys.argv[1]))
assert j["kept"] and not j["written"] and j["findings"] and j["text"] is None, j' "$S/out" ||
		fail "not in JSON"
	printf '# mine\n' | policy
	run pale init --force --preset review
	rc_is 0
	out_has "kept   the old one as $HOME/$MINE.old"
	file_is ~/$MINE.old "# mine"
	grep -q '^preset = review$' ~/$MINE || fail "the preset is another"
	run pale init --force
	rc_is 0
	file_is ~/$MINE.old "# mine"
	grep -q '^preset = review$' ~/$MINE.old1 || fail "the second one is not kept"
}

t_dry_run() {
	run pale init -n
	rc_is 0
	out_has "would write"
	out_has "preset = agent"
	missing ~/$MINE
	run pale init -n --json
	rc_is 0
	python3 - "$S/out" <<-'PY' || fail "the report"
		import json, sys
		j = json.load(open(sys.argv[1]))
		assert j["written"] is False and j["preset"] == "agent" and j["findings"] == [] and j["rules"] > 100, j
		assert j["next"].startswith("pale run -- ") and j["machine"]["level"] in ("strict", "full", "hooks"), j
		assert "preset = agent\n" in j["text"], j
	PY
	missing ~/.config/pale
}

t_agent_that_is_not_here() {
	PATH=$(dirname "$(command -v pale)"):/usr/bin:/bin
	run pale init --agent crush
	rc_is 0
	out_has "lacks  crush is not on PATH"
	out_has "next:  pale run -- crush"
}

# An agent's own sandbox cannot start inside: what to do is said before it is met.
t_what_an_agent_needs() {
	agent codex
	run pale init --agent codex
	rc_is 0
	out_has "note   start it with -s danger-full-access"
	out_has "next:  pale run -- codex"
}

# The comments of what is written are true: where the state lies.
t_where_the_state_lies() {
	run pale init
	rc_is 0
	grep -q 'lie outside of the workspace, in ~/.local/share/pale' ~/$MINE || fail "another place"
	OPTS=(-n)
	fsh 'echo $XDG_CONFIG_HOME'
	grep -q "^$HOME/.local/share/pale/" "$S/out" || fail "it lies elsewhere"
	missing .pale
	run pale help environment
	out_has PALE_PROMPT
}

t_refusals() {
	run pale init --preset agnet
	rc_is 2
	err_has 'did you mean `agent`'
	run pale init --project --preset review
	rc_is 2
	run pale init there
	rc_is 2
	mkdir -p "$HOME/elsewhere/dir" && ln -s "$HOME/elsewhere/dir" .pale
	run pale init --project
	rc_is 2
	err_has "a link of the project"
	missing "$HOME/elsewhere/dir/policy.ini"
	rm .pale
	fence pale init
	rc_is 1
	err_has "a session may not write policies"
	missing ~/$MINE
}

t_no_place_to_write() {
	mkdir -p ~/.config && chmod 500 ~/.config
	[ "$(id -u)" != 0 ] || skip "root writes everywhere"
	run pale init
	chmod 700 ~/.config
	rc_is 2
	err_has "Permission denied"
}

scenario "$@"
