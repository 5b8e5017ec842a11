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
	fsh 'echo a >made && cat made &&
		echo b >/tmp/pale-seed.$$ && cat /tmp/pale-seed.$$ && rm /tmp/pale-seed.$$ && head -c0 /etc/passwd'
	rc_is 0
	out_is "a
b"
	fsh 'echo x >../made; echo x >~/made; mkdir ~/.cache/x'
	missing ../made
	missing ~/made
	for f in ../.env ../sessions.json \
		../src/bridge.ts ~/.ssh/id_rsa ~/.aws/credentials ~/.gitconfig ~/.gnupg/secring.gpg; do
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
	export OPENAI_API_KEY=from-the-shell \
		ANTHROPIC_API_KEY=anthropic-of-shell AWS_SECRET_ACCESS_KEY=$DECOY DEPLOY_TOKEN=$DECOY USER=tess
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

# "Default Secret Pass-list": each of the four, as .env has it.
t_pass_list() {
	local name
	bridge
	for name in GH_TOKEN GCLOUD_PROJECT OPENAI_API_KEY ANTHROPIC_API_KEY; do
		echo "$name=of-env-file-$name"
	done >../.env
	fence env
	rc_is 0
	for name in GH_TOKEN GCLOUD_PROJECT OPENAI_API_KEY ANTHROPIC_API_KEY; do
		out_has "$name=of-env-file-$name"
	done
}

# "Only core developer domains (GitHub, Google, Wikipedia, NPM, PyPI)." "MERGE (Default)": by name alone; what is
# really reached is in story/seed-network.sh.
t_core_domains() {
	local host
	bridge
	reaches() {
		run pale explain --preset bridge connect "$2:443"
		rc_is "$1" "$2"
	}
	echo 'SANDBOX_NETWORK_MODE=STRICT' >../.env
	for host in github.com api.github.com \
		www.google.com en.wikipedia.org registry.npmjs.org pypi.org files.pythonhosted.org; do
		reaches 0 $host
	done
	for host in own.example gitlab.com crates.io bing.com github.com.own.example; do
		reaches 1 $host
	done
	echo 'WHITE_LIST_DOMAINS=own.example' >../.env
	reaches 0 own.example
	reaches 0 pypi.org
	reaches 1 crates.io
}

# Seed 002: "a Write-then-Read test across two independent process spawns to guarantee persistence". "SQLite state and
# files are stored in this stable folder".
t_persistence() {
	bridge
	fence python3 -c '
import os, sqlite3
open("notes", "w").write("of the first turn")
db = sqlite3.connect(os.environ["XDG_DATA_HOME"] + "/state.db")
db.execute("create table t (a)"); db.execute("insert into t values (7)"); db.commit()'
	rc_is 0
	cd .. || exit 99
	fence python3 -c '
import os, sqlite3
print(open("notes").read(),
    sqlite3.connect(os.environ["XDG_DATA_HOME"] + "/state.db").execute("select a from t").fetchall())'
	rc_is 0
	out_is "of the first turn [(7,)]"
	exists workspace/.opencode/data/state.db
}

# Seed 002: "Allow sessions to install and use tools ... within their sandbox without affecting the host".
t_tools_of_its_own() {
	local dir
	bridge
	printf '#!/bin/sh\necho "of its own"\n' >tool
	fsh 'mkdir -p "$XDG_DATA_HOME/bin" && install -m 755 tool "$XDG_DATA_HOME/bin" && PATH=$XDG_DATA_HOME/bin:$PATH && tool
		python3 -m venv --without-pip v && echo "answer = 42" >$(echo v/lib/python3*/site-packages)/own.py &&
			v/bin/python -c "import own; print(own.answer)"'
	rc_is 0
	out_is "of its own
42"
	mkdir -p ~/.local/bin
	for dir in ~/.local/bin ~/bin /usr/local/bin; do
		fsh "install -m 755 tool $dir/pale-seed-tool"
		rc_not 0 "$dir"
		missing "$dir/pale-seed-tool"
	done
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
	grep -qE '^\[Sandbox\] GC sweep started\.\.\. Pruned 12 stale sessions in [0-9]+\.[0-9]s\.$' "$S/err" ||
		fail "no line of the sweep: $(cat "$S/err")"
	[ "$(ls "$dir")" = ses_young ] || fail "left: $(ls "$dir")"
	run pale run "${OPTS[@]}" -- true
	err_has "[Sandbox] GC sweep started... Pruned 0 stale sessions in"
}

scenario "$@"
