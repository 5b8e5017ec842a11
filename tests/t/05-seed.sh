# limit: 90
# The seed's own story, sentence by sentence, with preset bridge: what a launcher's directory looks like, what
# its agent gets, reaches and may not touch.
. "$T_LIB"

# "Every agent process is confined to a dedicated `workspace/` subfolder. The bridge remains the trusted
# orchestrator in the root directory."
bridge() {
	B=$HOME/bridge
	mkdir -p "$B/workspace" "$B/src" "$B/logs"
	cd "$B" || exit 99
	echo "GH_TOKEN=$DECOY" >.env && chmod 600 .env
	echo "{}" >sessions.json
	echo "$DECOY" >src/bridge.ts
	cd workspace || exit 99
	OPTS=(--preset bridge)
}

# "Allow Write: ./workspace, /private/tmp. Allow Read: /. Strict Deny: ../.env, ../sessions.json, ../src/, ~/.ssh/,
# ~/.aws/, ~/.gitconfig, ~/.gnupg/. (Absolute lockdown of host secrets)."
t_filesystem() {
	local f
	bridge
	fsh 'echo a >made && cat made && echo b >/tmp/pale-seed.$$ && cat /tmp/pale-seed.$$ && rm /tmp/pale-seed.$$ && head -c0 /etc/passwd'
	rc_is 0
	out_is "a
b"
	fsh 'echo x >../made; echo x >~/made; mkdir ~/.cache/x'
	missing ../made
	missing ~/made
	for f in ../.env ../sessions.json ../src/bridge.ts ~/.ssh/id_rsa ~/.aws/credentials ~/.gitconfig ~/.gnupg/secring.gpg; do
		[ -e "$f" ] || fail "no $f to be read"
		fence cat "$f"
		rc_not 0 "$f"
		out_is ""
		fsh 'echo x >>"$0"' "$f"
		rc_not 0 "$f"
	done
	# Hard: no rule of a policy lifts it.
	printf '[files]\nread = ../.env\nread = ~/.ssh\n' | policy
	fence cat ../.env
	rc_not 0
	fence cat ~/.ssh/id_rsa
	rc_not 0
}

# "The agent process will **not** inherit the full shell environment. Instead, it only receives: 1. Standard paths
# (PATH, HOME, USER). 2. ... 3. Whitelist of secrets from .env (e.g., GH_TOKEN, GCLOUD_PROJECT)." "Users can leave
# these empty in .env to prevent the agent from using these tools."
t_environment() {
	bridge
	printf 'GH_TOKEN=gh-of-env-file\nGCLOUD_PROJECT="a project"\nOPENAI_API_KEY=\nDB_PASSWORD=%s\n' "$DECOY" >../.env
	export OPENAI_API_KEY=from-the-shell ANTHROPIC_API_KEY=anthropic-of-shell AWS_SECRET_ACCESS_KEY=$DECOY DEPLOY_TOKEN=$DECOY USER=tess
	fence env
	rc_is 0
	out_has "PATH="
	out_has "HOME=$HOME"
	out_has "USER=tess"
	out_has "GH_TOKEN=gh-of-env-file"
	out_has "GCLOUD_PROJECT=a project"
	out_has "ANTHROPIC_API_KEY=anthropic-of-shell"
	out_lacks OPENAI_API_KEY
	out_lacks DB_PASSWORD
	out_lacks AWS_SECRET
	out_lacks DEPLOY_TOKEN
	out_lacks "$DECOY"
}

# "CWD Enforcement: cwd: ./workspace", "the bridge redirects all state paths to the sandbox".
t_state() {
	bridge
	cd .. || exit 99
	fsh 'pwd; printf "%s\n" "$XDG_DATA_HOME" "$XDG_CONFIG_HOME" "$XDG_CACHE_HOME"; echo x >"$XDG_DATA_HOME/f"'
	rc_is 0
	out_is "$B/workspace
$B/workspace/.opencode/data
$B/workspace/.opencode/config
$B/workspace/.opencode/cache"
	file_is workspace/.opencode/data/f x
}

# "Denied: `git checkout main`, `git checkout master`, `git push origin (main|master)`."
t_git() {
	bridge
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	git init -q --bare remote && git init -q repo && cd repo || exit 99
	git commit -q --allow-empty -m one && git remote add origin ../remote && git push -q origin HEAD:main HEAD:master
	git branch -q -M work && git branch -q main && git branch -q master
	OPTS+=(-w ..)
	fsh 'git status --short && echo a >a && git add a && git commit -qm two && git push -q origin work'
	rc_is 0
	[ "$(git -C ../remote log -1 --format=%s work)" = two ] || fail "the branch was not pushed"
	for words in "checkout main" "checkout master" "push origin main" "push origin master" "push origin HEAD:main"; do
		fsh "git $words"
		rc_not 0 "git $words"
	done
	# "Customizable: User can define PRIMARY_BRANCH_PATTERNS in .env."
	git branch -q release/1 && git branch -q other
	echo 'PRIMARY_BRANCH_PATTERNS=main,release/*' >>"$B/.env"
	fsh 'git checkout -q release/1'
	rc_not 0
	fsh 'git checkout -q other && git checkout -q work'
	rc_is 0
	[ "$(git branch --show-current)" = work ] || fail "the trunk is checked out"
	[ "$(git -C ../remote log -1 --format=%s main)" = one ] || fail "the trunk was pushed to"
}

# "The bridge performs a blocking cleanup sweep on every startup. [Sandbox] GC sweep started... Pruned 12 stale
# sessions in 0.4s."
t_garbage_collection() {
	local i dir
	bridge
	dir=.opencode/data/opencode/session
	for i in {1..12}; do
		mkdir -p "$dir/ses_$i"
		echo x >"$dir/ses_$i/info.json"
		find "$dir/ses_$i" -exec touch -d "-49 hours" {} +
	done
	mkdir -p "$dir/ses_young"
	run pale run "${OPTS[@]}" -- true
	rc_is 0
	grep -qE '^\[Sandbox\] GC sweep started\.\.\. Pruned 12 stale sessions in [0-9]+\.[0-9]s\.$' "$S/err" || fail "no line of the sweep: $(cat "$S/err")"
	[ "$(ls "$dir")" = ses_young ] || fail "left: $(ls "$dir")"
	run pale run "${OPTS[@]}" -- true
	err_has "[Sandbox] GC sweep started... Pruned 0 stale sessions in"
}

scenario "$@"
