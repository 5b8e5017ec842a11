# limit: 60
# nightly: strict
# pale run --observe: what the policy asks about or does not name happens and is recorded with what would have
# been decided; secrets, pale's own, what runs later, the trunk and other programs' sockets are held all the
# same, by libc, by raw system calls and in static programs.
. "$T_LIB"

OPTS=(--observe)

t_files_that_no_rule_names() {
	fsh 'echo new >../made; echo more >>../outside-file; mkdir ../dir; mv ../made ../dir/moved; rm ../elsewhere/file'
	rc_is 0
	err_is_empty
	file_is ~/dir/moved new
	missing ~/elsewhere/file
	recorded write allow "\"$HOME/made\"" "observed=deny" "outside the workspace"
	recorded mkdir allow "\"$HOME/dir\"" "observed=deny"
	recorded delete allow "\"$HOME/elsewhere/file\"" "observed=deny"
	fsh 'echo new >inside'
	recorded write allow "\"$W/inside\""
	not_recorded write allow "\"$W/inside\"" "observed="
	verifies
}

# What the supervisor lets git write by looking at it is nothing that the policy does not allow.
t_ordinary_git() {
	git init -q && git config user.email a@b &&
		git config user.name a && git commit -q --allow-empty -m x && git switch -q -c topic
	run pale run --observe -- sh -c 'echo 1 >f
		git add f; git commit -qm f; git config alias.st status; git switch -q -c t2; git tag v1; git gc -q'
	rc_is 0
	err_has ": 0 requests were made that the policy does not allow"
}

t_commands_and_questions() {
	policy <<-'INI'
		preset = agent
		[commands]
		deny = id -u
		ask = id -g
		default = ask
		[files]
		ask_write = guarded
	INI
	fsh 'id -u; id -g; id -n -u; echo x >guarded'
	rc_is 0
	err_is_empty
	file_is guarded x
	recorded exec allow '"id -u"' "observed=deny" "policy.ini:3 [commands] deny = id -u"
	recorded exec allow '"id -g"' "observed=ask" "policy.ini:4 [commands] ask = id -g"
	recorded write allow "\"$W/guarded\"" "observed=ask" "ask_write = guarded"
	[ "$(pale pending)" = "" ] || fail "something is asked"
	# What is explained is the policy, not the observation.
	run pale explain exec id -u
	rc_is 1
}

t_secrets_stay() {
	local how
	for how in cat "$T_VICTIMS/raw" "$T_VICTIMS/raw-static"; do
		for file in .ssh/id_rsa .aws/credentials .config/gh/hosts.yml .bash_history; do
			fence "$how" "$HOME/$file"
			rc_not 0 "$how $file"
			no_decoy
			recorded read deny "$HOME/$file"
		done
	done
	fsh 'echo x >~/.ssh/config; mv ~/.ssh ~/gone; ln ~/.aws/credentials .; rm -rf ~/.gnupg'
	exists ~/.ssh/id_rsa
	[ ! -s ~/.ssh/config ] || fail "a secret place was written"
	missing credentials
	exists ~/.gnupg/secring.gpg
	not_recorded read allow "$HOME/.ssh/id_rsa"
}

t_own_files_and_what_runs_later() {
	printf '# mine\n' | policy
	git init -q .
	echo before >~/.bashrc
	fsh 'echo x >~/.config/pale/policy.ini
		echo x >~/.bashrc; echo x >.git/hooks/pre-commit; ls ~/.local/state/pale; mv ~/.config/pale ~/p'
	file_is ~/.config/pale/policy.ini "# mine"
	file_is ~/.bashrc before
	missing .git/hooks/pre-commit
	recorded write deny "$HOME/.config/pale/policy.ini"
	recorded write deny "$HOME/.bashrc"
	fsh 'pale trust --yes; pale policy edit'
	rc_not 0
}

t_trunk_and_denylist() {
	git init -q --bare ~/remote.git
	git init -q .
	git add file
	git commit -q -m one
	git remote add origin ~/remote.git
	fence git push -q origin HEAD:main
	rc_not 0
	[ -z "$(git -C ~/remote.git for-each-ref)" ] || fail "main was pushed"
	fence env git -C . push --all origin
	rc_not 0
	fence git push -q origin HEAD:refs/heads/feature
	rc_is 0
	[ -n "$(git -C ~/remote.git for-each-ref refs/heads/feature)" ] || fail "a branch was not pushed"
	recorded exec allow "git push -q origin HEAD:refs/heads/feature" "observed=ask"
	printf '#!/bin/sh\n' >shutdown && chmod +x shutdown
	fence ./shutdown now
	rc_not 0
	recorded exec deny "./shutdown now"
}

t_sockets_of_others() {
	need python3
	python3 - "$HOME/sock" <<-'PY' &
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.bind(sys.argv[1])
		s.listen()
		s.settimeout(60)
		s.accept()[0].send(b"reached")
	PY
	until_true 20 test -S ~/sock || fail "no listener"
	fence python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(9))' "$HOME/sock"
	rc_not 0
	out_lacks reached
	recorded unix deny "$HOME/sock"
	kill %1
}

t_said_and_counted() {
	run pale run --observe -- bash -c 'echo x >../made; cat ~/.ssh/id_rsa'
	err_has "observing: all is allowed and recorded; still blocked: secrets"
	err_has "1 request was made that the policy does not allow; see: pale learn --session"
	recorded session/start '' "observing; "
	run pale session show
	out_has "observed   all was allowed except what pale-run(1) lists for --observe; 1 times the policy would have"
	out_has "denied or asked; see: pale learn"
	run pale session show --json
	python3 -c 'import json, sys; j = json.load(open(sys.argv[1]))
assert j["observing"] and j["observed"] == 1, j' "$S/out" ||
		fail "not in JSON"
	run pale run -- true
	err_lacks "observing"
	run pale session show
	out_lacks "observed "
	not_recorded session/start '' "observing; " '"seq":2'
}

t_never_by_a_file_nor_inside() {
	OPTS=()
	fsh 'pale run --observe -- touch ~/made'
	rc_is 125
	err_has "--observe cannot be used inside session"
	missing ~/made
	printf '[session]\nobserve = yes\n' | policy
	fence true
	rc_is 125
	err_has "unknown"
}

# A nested run under an observed session narrows as ever.
t_nested_narrows() {
	fsh "pale run -q --mode read-only -- touch $HOME/made"
	rc_not 0
	missing ~/made
}

t_at_level_hooks() {
	OPTS=(--observe --level hooks)
	fsh 'echo new >../made; cat ~/.ssh/id_rsa'
	file_is ~/made new
	no_decoy
	recorded write allow "\"$HOME/made\"" "observed=deny" '"level":"hooks"'
	recorded read deny "$HOME/.ssh/id_rsa"
}

# Loaded anew it is the new policy that is observed, and nothing is held that was not.
t_reload() {
	policy <<<'preset = agent'
	bg bg bash -c 'id -u; touch ready; until [ -e go ]; do sleep 0.05; done; id -g; echo x >../made'
	until_true 20 test -e ready || fail "it does not start"
	printf 'preset = agent\n[commands]\ndeny = id\n' | policy
	run pale policy reload
	rc_is 0
	touch go
	bg_wait bg
	rc_is 0
	file_is ~/made x
	recorded exec allow '"id -g"' "observed=deny" "policy.ini:3 [commands] deny = id"
	not_recorded exec allow '"id -u"' "observed="
}

scenario "$@"
