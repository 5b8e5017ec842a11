# limit: 90
# Preset controller: the commands of seed 003's controller and no other, and its push to the session's own ref.
. "$T_LIB"
. "$(dirname "$T_LIB")/git-servers.sh"

# VERDICT | COMMAND: 0 allowed, 1 denied
ROWS='0|git status
0|git diff
0|git diff --cached
0|git add a b
0|git commit -m message
0|git push origin HEAD:refs/heads/session/abc123
0|git fetch origin
0|git log
0|git log --oneline
0|git log --oneline -n 5
1|git push
1|git push --force
1|git push --force origin HEAD:refs/heads/session/abc123
1|git push -f origin HEAD:refs/heads/session/abc123
1|git push origin +HEAD:refs/heads/session/abc123
1|git push --no-verify origin HEAD:refs/heads/session/abc123
1|git push origin HEAD:main
1|git push origin :refs/heads/session/abc123
1|git push other HEAD:refs/heads/session/abc123
1|git remote add x https://example.org/x
1|git remote remove origin
1|git config credential.helper store
1|git config credential.https://example.org.username x
1|git config user.name x
1|git fetch --upload-pack=x origin
1|git fetch origin +refs/heads/*:refs/heads/*
1|git -c core.pager=x log
1|git log --output=f
1|git diff --ext-diff
1|git commit
1|git rebase main
1|git clone https://example.org/x
1|ls
1|curl https://example.org
1|python3 -c 1
1|gh pr create'

t_the_words() {
	local want command
	git init -q . && git commit -q --allow-empty -m one && git checkout -q -b topic
	while IFS='|' read -r want command; do
		# shellcheck disable=SC2086 # it is words
		run pale explain --preset controller exec -- $command
		[ "$RC" = "$want" ] || fail "$command: $RC, not $want: $(cat "$S/out")"
	done <<<"$ROWS"
}

t_a_push_to_the_sessions_ref() {
	serve_daemon
	upstream project
	cd "$W" || exit
	git clone -q "$DAEMON_URL/project.git" r 2>/dev/null
	cd r || exit
	git checkout -q -B main && echo 1 >file && git add file && git commit -q -m one && git push -q origin main
	export GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 ANTHROPIC_API_KEY=sk-ant-api03-x
	OPTS=(--preset controller)
	bg push bash -c 'echo 2 >>file; git add file; git commit -q -m two; git fetch -q origin; ls
		git push origin HEAD:refs/heads/session/any; echo "${GITHUB_TOKEN-none} ${ANTHROPIC_API_KEY}"'
	pale approve "$(pending_id)" >/dev/null
	bg_wait push
	out_is "none sk-ant-api03-x"
	err_has "denied exec ls"
	git -C "$FORGE/git/project.git" for-each-ref --format='%(refname)' >"$S/refs"
	grep -qE '^refs/heads/session/[a-z0-9]{6}$' "$S/refs" || fail "not pushed there: $(cat "$S/refs" "$S/err")"
	[ "$(wc -l <"$S/refs")" = 2 ] || fail "more was pushed: $(cat "$S/refs")"
}

scenario "$@"
