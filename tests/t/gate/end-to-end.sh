# limit: 120
# levels: full strict
# Sessions whose remote is a ghost, from the agent's git to a real server and back: what is asked, what is pushed,
# what the server and the person say, and that no secret of the operator ever is inside.
. "$T_LIB"
. "$(dirname "$T_LIB")/git-servers.sh"
. "$(dirname "$T_LIB")/sentinel-lib.sh"

# An upstream with one commit, cloned into the workspace: cloned BASE-URL
cloned() {
	upstream project
	find "$W" -mindepth 1 -delete
	git clone -q "$1/project.git" . 2>/dev/null
	git checkout -q -B main && echo 1 >file && git add file && git commit -q -m one && git push -q origin main ||
		fail "no upstream"
	UP=$FORGE/git/project.git
	BEFORE=$(refs)
}

refs() {
	git -C "$UP" for-each-ref --format='%(refname) %(objectname)'
}

# Where the branches of sessions are at the remote.
arrived() {
	refs | sed -nE 's|^refs/heads/session/[^/]*/topic ||p'
}

untouched() {
	[ "$(refs)" = "$BEFORE" ] || fail "the upstream changed: $(refs)"
}

pushed() {
	arrived | grep -qx "$(git rev-parse topic)" || fail "not pushed: $(refs)"
	[ "$(git -C "$UP" rev-parse main)" = "$(git rev-parse origin/main)" ] || fail "main moved"
}

WORK='git checkout -q -b topic && echo 2 >>file && git commit -q -am two && git push origin topic'

# While the agent fetches, pushes and fails to push, each of its processes is searched.
watched() {
	local words='echo $$ >../pid; until [ -e ../go ]; do sleep 0.02; done
		git fetch -q && '$WORK' && git ls-remote -q && git fetch -q && git push origin topic:locked; env >env
		git config -l >config; cat ~/.git-credentials ~/.ssh/id_forge 2>/dev/null; rm config env; true'
	printf '[git]\npush = allow\n[files]\nwrite = %s\n' "$HOME/pid" | policy
	bg watched bash -c "$words"
	until_true 20 test -s "$HOME/pid" || fail "no session: $(cat "$S/watched.err")"
	secret_watch "$1" "$(cat "$HOME/pid")"
	touch "$HOME/go"
	bg_wait watched
	err_has "! [remote rejected] topic -> locked"
	secret_nowhere "$1" "$W" "$STATE" "$HOME/.local/share/pale" "$S/out" "$S/err"
	grep -qE "looked at [0-9]{2,} processes" "$S/watched" || fail "few processes were seen: $(cat "$S/watched")"
	pushed
}

t_no_password_inside() {
	serve_https
	cloned "$HTTPS_URL"
	watched "$FORGE_SECRET"
	not_recorded connect allow '"127.0.0.1:'
}

t_no_key_inside() {
	serve_ssh
	cloned "$SSH_URL"
	watched "$(sed -n 3p "$HOME/.ssh/id_forge")"
}

# The password in the remote's URL: git inside has it in .git/config, but the gate's names and records do not.
t_password_in_the_url() {
	serve_http
	cloned "$HTTP_URL"
	git config --global --unset credential.helper
	git remote set-url origin "http://$FORGE_USER:$FORGE_SECRET@${HTTP_URL#http://}/project.git"
	printf '[git]\npush = allow\n' | policy
	fsh "$WORK"
	rc_is 0
	pushed
	secret_nowhere "$FORGE_SECRET" "$S/out" "$S/err" "$STATE/sessions"
}

t_yes() {
	serve_http
	cloned "$HTTP_URL"
	bg push bash -c "$WORK"
	id=$(pending_id 20) || fail "not asked: $(cat "$S/push.err")"
	untouched
	pale pending >"$S/card"
	grep -qF "refs/heads/session/" "$S/card" && grep -qF "$HTTP_URL/project.git" "$S/card" || fail "$(cat "$S/card")"
	pale approve "$id" >/dev/null || fail approve
	bg_wait push
	rc_is 0
	pushed
	run pale changes
	out_has pushed
	verifies
}

t_no() {
	serve_http
	cloned "$HTTP_URL"
	bg push bash -c "$WORK"
	id=$(pending_id 20) || fail "not asked: $(cat "$S/push.err")"
	pale deny "$id" --reason "not on a Friday" >/dev/null || fail deny
	bg_wait push
	rc_is 1
	err_has "! [remote rejected] topic -> topic (denied: not on a Friday)"
	untouched
	run pale changes
	out_has denied
}

# The question ends without an answer: the operator pushes later, and exactly what was shown.
t_late() {
	serve_http
	cloned "$HTTP_URL"
	printf '[session]\ntimeout = 2s\n' | policy
	fsh "$WORK"
	rc_is 1
	err_has "kept as change 1; pale push 1"
	untouched
	git commit -q --allow-empty -m later
	run pale push 1
	rc_is 0
	[ "$(arrived)" = "$(git rev-parse topic~1)" ] || fail "not pushed: $(refs)"
}

# The operator's own password is refused: the agent is told by whom and why, and no password.
t_wrong_password() {
	serve_http
	cloned "$HTTP_URL"
	sed -i "s/$FORGE_SECRET/wrong/" "$HOME/.git-credentials"
	fsh 'git fetch'
	rc_is 128
	err_has "remote error: 127.0.0.1"
	err_has "credentials (401)"
	fsh "$WORK"
	rc_is 128
	err_has "remote error: 127.0.0.1"
	untouched
}

t_no_certificate() {
	serve_https
	cloned "$HTTPS_URL"
	git config --global --unset "http.$HTTPS_URL.sslCAInfo"
	fsh 'git fetch'
	rc_is 128
	err_has "a certificate that your git does not trust"
}

t_server_is_gone() {
	serve_daemon
	cloned "$DAEMON_URL"
	serve_end
	fsh 'git fetch'
	rc_is 128
	err_has "cannot be reached"
}

# What the server says comes back at the ref, with nothing that a terminal obeys.
t_server_refuses() {
	serve_http
	cloned "$HTTP_URL"
	printf '#!/bin/sh\nprintf "no \\033[2J\\007 never\\n" >&2\nexit 1\n' >"$UP/hooks/pre-receive" &&
		chmod 755 "$UP/hooks/pre-receive"
	printf '[git]\npush = allow\n' | policy
	fsh "$WORK"
	rc_is 1
	err_has "(127.0.0.1 refused it: [remote rejected] (pre-receive hook declined): no \\x1b[2J\\x07 never)"
	! grep -q $'[\033\007]' "$S/err" || fail "raw bytes of the server"
	untouched
}

t_protected_by_gitolite() {
	serve_gitolite
	find "$W" -mindepth 1 -delete
	git clone -q "$GITOLITE_URL/project.git" . 2>/dev/null
	git checkout -q -B main && echo 1 >file && git add file && git commit -q -m one && git push -q origin main ||
		fail "no upstream"
	UP=$FORGE/gitolite/repositories/project.git
	printf '[git]\npush = allow\n' | policy
	fsh "$WORK; git push origin topic:release"
	rc_is 1
	err_has "! [remote rejected] topic -> release (127.0.0.1 refused it: [remote rejected] (hook declined): FATAL: W"
	refs | grep -q 'session/.*/topic ' || fail "not pushed"
	! refs | grep -q release || fail "release was made"
}

# --- who goes away, and what moves meanwhile --------------------------------------------------------------

# Starts a push that is asked about; sets ID.
asked() {
	bg push bash -c "${1:-$WORK}"
	ID=$(pending_id 20) || fail "not asked: $(cat "$S/push.err")"
}

# The agent's git was ended while it waited: a yes pushes what was shown.
t_git_is_gone() {
	serve_http
	cloned "$HTTP_URL"
	asked "git checkout -q -b topic && echo 2 >>file && git commit -q -am two
		git push -q origin topic & until [ -e ../go ]; do sleep 0.02; done
		kill %1; until [ -e ../end ]; do sleep 0.02; done"
	touch "$HOME/go"
	sleep 0.3
	untouched
	pale approve "$ID" >/dev/null || fail approve
	until_true 20 pushed_now || fail "not pushed: $(refs)"
	touch "$HOME/end"
	bg_wait push
	pushed
}

pushed_now() {
	refs | grep -q '^refs/heads/session/.*/topic '
}

# pale run was killed while it waited: nothing is pushed, the change is kept, and the operator pushes it.
t_killed() {
	serve_http
	cloned "$HTTP_URL"
	asked
	kill -9 "$BG"
	wait "$BG" 2>/dev/null
	until_true 20 nothing_is_pending || fail "it is asked on"
	untouched
	run pale changes
	out_has open
	run pale push 1
	rc_is 0
	pushed
}

nothing_is_pending() {
	! has_pending
}

# The branch moved at the remote between question and yes: it is not overwritten.
t_moved() {
	local other
	serve_http
	cloned "$HTTP_URL"
	printf '[git]\nbranch = agents/{branch}\n' | policy
	asked
	other=$(git -C "$UP" commit-tree -m other "main^{tree}")
	git -C "$UP" update-ref refs/heads/agents/topic "$other"
	pale approve "$ID" >/dev/null || fail approve
	bg_wait push
	rc_is 1
	err_has "the branch moved at 127.0.0.1 since"
	[ "$(git -C "$UP" rev-parse agents/topic)" = "$other" ] || fail "it was overwritten"
}

# Two sessions push at once, from clones of one remote.
t_two_at_once() {
	local one two
	serve_http
	cloned "$HTTP_URL"
	cp -a "$W" "$HOME/second"
	printf '[git]\npush = allow\n' | policy
	bg one bash -c "$WORK" && one=$BG
	cd "$HOME/second" || fail cd
	bg two bash -c "$WORK" && two=$BG
	wait "$one" && wait "$two" || fail "$(cat "$S/one.err" "$S/two.err")"
	[ "$(refs | grep -c '^refs/heads/session/.*/topic ')" = 2 ] || fail "not both: $(refs)"
	run pale changes --json
	python3 -c 'import json, sys
changes = json.load(open(sys.argv[1]))
assert sorted(c["number"] for c in changes) == [1, 2], changes' "$S/out" || fail "changes"
}

# Fetches and pushes of one session beside one another.
t_many_at_once() {
	serve_http
	cloned "$HTTP_URL"
	printf '[git]\npush = allow\n' | policy
	fsh 'git checkout -q -b topic && git commit -q --allow-empty -m two
		for i in 1 2 3 4 5; do
			{ git push -q origin "topic:b$i" 2>"err-$i" || echo "push $i"; } &
			{ git ls-remote -q origin >/dev/null || echo "ls-remote $i"; } &
		done; wait'
	rc_is 0
	out_is ""
	[ "$(refs | grep -c '^refs/heads/session/.*/b[1-5] ')" = 5 ] || fail "not all: $(refs)"
}

# The connection is lost during the push, which reached the remote or did not: what is said is what is there.
t_connection_lost() {
	serve_http
	serve_cutting "$HTTP_URL"
	cloned "$CUTTING_URL"
	printf '[git]\npush = allow\n' | policy
	echo before >"$FORGE/cut"
	fsh "$WORK"
	missing "$FORGE/cut"
	[ "$RC" = 0 ] || err_has "kept as change 1; pale push 1"
	[ "$RC" = 0 ] || untouched
	run pale push 1
	pushed
	git commit -q --allow-empty -m three
	echo after >"$FORGE/cut"
	fsh 'git push origin topic'
	missing "$FORGE/cut"
	rc_is 0
	pushed
	run pale changes
	out_lacks open
	out_lacks failed
}

# --- ways around it ----------------------------------------------------------------------------------------

# Without the ghost there is neither the host nor a credential.
t_no_way_beside() {
	local how
	serve_http
	cloned "$HTTP_URL"
	unset PALE_PROMPT
	for how in 'GIT_CONFIG_NOSYSTEM=1 git push origin topic' 'GIT_CONFIG_SYSTEM=/dev/null git push origin topic' \
		'git -c remote.origin.vcs= push origin topic' "git push $HTTP_URL/project.git topic" \
		"curl -sS -m 5 $HTTP_URL/project.git/info/refs?service=git-receive-pack" \
		"git -c remote.o.url=$HTTP_URL/other.git -c remote.o.vcs=pale ls-remote o" \
		"printf 'connect git-upload-pack\n\n' | git remote-pale origin $HTTP_URL/other.git"; do
		fsh "git checkout -q -B topic && git commit -q --allow-empty -m two; $how"
		rc_not 0 "$how"
		untouched
		no_decoy
	done
	secret_nowhere "$FORGE_SECRET" "$S/out" "$S/err" "$W"
}

# The gate's files are the operator's alone.
t_the_gate_is_closed() {
	serve_http
	cloned "$HTTP_URL"
	fsh 'git fetch; cat ~/.local/state/pale/gate/*/config; echo evil >>~/.local/state/pale/gate/evil
		rm -rf ~/.local/state/pale/gate; ls ~/.local/state/pale/gate'
	out_lacks repositoryformatversion
	missing "$STATE/gate/evil"
	[ -n "$(ls -d "$STATE"/gate/*.git)" ] || fail "the gate is gone"
}

# A value that the session was given: the push is refused before a question, and nothing of it stays in the gate.
t_a_secret_is_pushed() {
	serve_http
	cloned "$HTTP_URL"
	export DEPLOY_TOKEN=Zq8vKx21mWp04Lr7sTnY
	OPTS=(-e DEPLOY_TOKEN)
	fsh 'git checkout -q -b topic && printf "%s" "$DEPLOY_TOKEN" | base64 >config.txt && git add . &&
		git commit -q -m two; git push origin topic'
	rc_is 1
	err_has "config.txt:1"
	err_has "! [remote rejected]"
	untouched
	rm config.txt
	secret_nowhere "$DEPLOY_TOKEN" "$STATE/gate" "$STATE/sessions" "$S/err"
}

scenario "$@"
