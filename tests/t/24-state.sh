# limit: 60
# [session] state: the agent keeps its state in the workspace, and starts there.
. "$T_LIB"

state() {
	printf '[session]\nstate = %s\n' "${1:-.opencode}" | policy
}

# The seed's layout: a bridge with its .env, its sources and the agent's workspace/.
bridge() {
	mkdir -p bridge/workspace bridge/src
	cd bridge || exit 99
	printf 'GH_TOKEN=fromfile\n' >.env
	echo '{}' >sessions.json
}

t_redirected() {
	state
	bridge
	run pale run -q -w workspace -- bash -c 'pwd; env | grep -E "^(XDG_|TMPDIR|GH_)" | grep -v RUNTIME | LC_ALL=C sort; echo x >"$XDG_DATA_HOME/f"; mktemp >/dev/null && echo made'
	rc_is 0
	out_is "$W/bridge/workspace
GH_TOKEN=fromfile$([ ${#W} -gt 45 ] || printf '\nTMPDIR=%s' "$W/bridge/workspace/.opencode/tmp")
XDG_CACHE_HOME=$W/bridge/workspace/.opencode/cache
XDG_CONFIG_HOME=$W/bridge/workspace/.opencode/config
XDG_DATA_HOME=$W/bridge/workspace/.opencode/data
XDG_STATE_HOME=$W/bridge/workspace/.opencode/state
made"
	file_is workspace/.opencode/data/f x
	[ "$(stat -c %a workspace/.opencode/data)" = 700 ] || fail "modes"
	# Again, with all of it there.
	run pale run -q -w workspace -- cat .opencode/data/f
	out_is x
}

t_git_sees_none_of_it_and_knows_its_owner() {
	need git
	state
	rm ~/.gitconfig
	mkdir -p ~/.config/git
	printf '[user]\n\tname = Xenia\n\temail = x@example.org\n' >~/.config/git/config
	git init -q .
	fsh 'echo x >"$XDG_DATA_HOME/f"; git status --porcelain; git config user.name'
	rc_is 0
	out_is "?? file
Xenia"
}

t_where_its_owner_stands() {
	state
	mkdir sub
	cd sub
	run pale run -q -w .. -- pwd
	out_is "$W/sub"
	# A relative program is the one that was meant.
	cd "$HOME"
	printf '#!/bin/sh\npwd\n' >prog && chmod 755 prog
	run pale run -q -w work -- ./prog
	out_is "$W"
}

t_home_is_kept_on_demand() {
	state
	run pale run -q --keep-home -- bash -c 'echo "${XDG_DATA_HOME-none}"'
	out_is none
	missing .opencode
	run pale run -q --mode read-only -- pwd
	missing .opencode
}

t_no_word_of_it_no_state() {
	fence bash -c 'echo "${XDG_DATA_HOME-none}"'
	out_is none
	[ "$(ls -A)" = file ] || fail "something was made: $(ls -A)"
}

# What an agent left in the place of a directory ends the start, and is named.
t_what_stands_in_the_way() {
	state
	local what
	mkdir "$HOME/target"
	for what in .opencode .opencode/data .opencode/tmp; do
		for with in 'ln -s "$HOME/target"' mkfifo touch; do
			rm -rf .opencode
			mkdir -p "$(dirname $what)"
			eval "$with $what"
			run timeout 20 pale run -q -- touch ran
			rc_is 125 "$with $what"
			err_has "$W/$what is no directory of yours"
			err_has "remove it, or use --keep-home"
			missing ran
			[ -z "$(ls -A "$HOME/target")" ] || fail "something went through the link"
			run pale run -q --keep-home -- touch ran
			rc_is 0
			rm ran
		done
	done
	rm -rf .opencode && mkdir .opencode && chmod 777 .opencode
	run pale run -q -- true
	rc_is 125
	# What an earlier session wrote is not written through.
	rm -rf .opencode && mkdir .opencode && ln -s "$HOME/target/f" .opencode/.gitignore
	run pale run -q -- true
	missing "$HOME/target/f"
}

t_workspace_that_cannot_be_written() {
	state
	chmod 555 .
	run pale run -q -- true
	chmod 755 .
	rc_is 125
	err_has "--keep-home"
}

t_bad_words() {
	local word
	for word in /tmp/x '~/x' .. ../x .pale .git/x '*' . a/../../b; do
		state "$word"
		run pale lint
		rc_is 1 "$word"
		out_has bad-path
	done
	printf '[session]\nstate = .x\n' >.pale.ini
	mkdir .pale && mv .pale.ini .pale/policy.ini
	rm ~/.config/pale/policy.ini
	run pale run -- true
	rc_is 0
	err_has "may only tighten"
	missing .x
}

scenario "$@"
