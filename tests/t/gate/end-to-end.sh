# limit: 120
# levels: full strict
# Sessions whose remote is a ghost, from the agent's git to a real server and back: what is asked, what is pushed, what
# the server and the person say, and that no secret of the operator ever is inside.
. "$T_LIB"
. "$(dirname "$T_LIB")/git-servers.sh"
. "$(dirname "$T_LIB")/sentinel.sh"

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

untouched() {
	[ "$(refs)" = "$BEFORE" ] || fail "the upstream changed: $(refs)"
}

pushed() {
	[ "$(refs | sed -nE 's|^refs/heads/session/[^/]*/topic ||p')" = "$(git rev-parse topic)" ] || fail "not pushed: $(refs)"
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
	err_has "waiting for approval of change 1"
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
	[ "$(refs | sed -nE 's|^refs/heads/session/[^/]*/topic ||p')" = "$(git rev-parse topic~1)" ] || fail "not pushed: $(refs)"
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
	err_has "! [remote rejected] topic -> release (127.0.0.1 refused it: [remote rejected] (hook declined): FATAL: W refs/"
	refs | grep -q 'session/.*/topic ' || fail "not pushed"
	! refs | grep -q release || fail "release was made"
}

scenario "$@"
