# limit: 60
# levels: full hooks
# nightly: strict
# [session] workspace: the directory that the agent works in, by the policy.
. "$T_LIB"

# The seed's layout: a bridge with its .env, its sources and the agent's workspace/.
bridge() {
	mkdir -p bridge/workspace bridge/src
	cd bridge || exit 99
	printf 'GH_TOKEN=fromfile\n' >.env
	echo '{}' >sessions.json
}

# [session] workspace: the directory below, as the seed has it.
t_workspace_by_policy() {
	bridge
	mkdir workspace/sub
	printf '[session]\nworkspace = workspace\n' | policy
	run pale run -q -- bash -c 'pwd; echo x >made; echo x >../made'
	rc_not 0
	out_is "$W/bridge/workspace"
	file_is workspace/made x
	missing made
	cd workspace || exit 99
	run pale run -q -- pwd
	out_is "$W/bridge/workspace"
	# Not one that happens to be called so somewhere above.
	cd sub || exit 99
	run pale run -q -- pwd
	rc_is 125
	err_has "there is no such directory in $W/bridge/workspace/sub"
	err_has "-w"
	run pale run -q -w . -- pwd
	out_is "$W/bridge/workspace/sub"
	for word in /tmp .. '*' .git .pale; do
		printf '[session]\nworkspace = %s\n' "$word" | policy
		run pale lint
		rc_is 1 "$word"
		out_has bad-path
	done
}

# An agent that worked here chooses no workspace for the next one: neither elsewhere, by a link, nor one without
# the project's policy.
t_workspace_is_not_the_agents_choice() {
	local how
	bridge
	printf '[session]\nworkspace = workspace\n' | policy
	mkdir -p "$HOME/target/workspace"
	cd workspace || exit 99
	for how in 'ln -s ../../../target workspace' 'rm workspace; mkdir workspace'; do
		run pale run -q -w . -- bash -c "$how"
		rc_is 0 "$how"
		run pale run -q -- touch made
		rc_is 125 "$how"
		err_has "[session] workspace: "
		err_has "name the workspace with -w"
		missing "$HOME/target/made"
		missing workspace/made
		run pale run -q -w . -- pwd
		out_is "$W/bridge/workspace"
	done
	# A link on the way.
	printf '[session]\nworkspace = way/workspace\n' | policy
	ln -s ../../../target way
	run pale run -q -- touch made
	rc_is 125
	err_has "a symbolic link leads there from $W/bridge/workspace"
	missing "$HOME/target/workspace/made"
}

# Rules would take such a name for a pattern: the project's policy would lie open, and the neighbours with it.
t_workspace_that_is_a_pattern() {
	local name
	printf '[files]\nwrite = %s/\n' "$W" | policy
	for name in '[id]' 'a\b' 'a*b' '**' 'a?b'; do
		mkdir -p "$W/$name/sub" && cd "$W/$name/sub" || exit 99
		run pale run -q -- bash -c 'mkdir -p .pale; echo "[files]" >.pale/policy.ini'
		rc_is 125 "$name"
		err_has "which are patterns in rules"
		err_has "go to a directory above, or name one with -w"
		missing .pale
		cd .. && run pale run -q -w "$W" -- bash -c 'echo x >f'
		rc_is 0 "$name"
		file_is f x
	done
}

scenario "$@"
