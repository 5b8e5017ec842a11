# levels: full strict
# limit: 120
# A day of ordinary work leaves no denial and no question in the ledger.
. "$T_LIB"

# step COMMAND: one tool call of an agent; its end has to be good, and nothing may stand in its way.
step() {
	fsh "$1"
	rc_is 0 "$1: $(tail -3 "$S/err")"
	not_denied
}

# In the last session too: what was not printed is counted by the helper all the same.
quiet_day() {
	not_recorded approval/request '[a-z]*'
	! ledgers | grep '"session/end"' | grep -v 'denied: hook=0 kernel=0' || fail "something was denied"
}

t_git() {
	need git
	step 'git init -q && git add . && git commit -qm one
		git checkout -q -b f && git checkout -q - && git checkout -q f'
	step 'echo two >>file && git diff && git add -p </dev/null; git commit -qam two && git log --oneline'
	step 'git stash list && echo x >>file && git stash -q && git stash pop -q &&
		git commit -qam three --amend'
	step 'git rebase -q HEAD~1 && git tag v1 && git branch side &&
		git worktree add -q wt side && git worktree remove wt'
	step 'git status --short && git grep -n hello && git blame file >/dev/null &&
		git -c gc.packRefs=false gc -q && git fsck'
	quiet_day
}

t_c() {
	need cc make
	step 'printf "#include <stdio.h>\nint main(void) { return puts(\"hi\") < 0; }\n" >m.c'
	step 'printf "m: m.c\n\tcc -g -o m m.c\nclean:\n\trm -f m\n" >Makefile && make -s && ./m && make -s clean && make -s'
	step '! command -v gdb >/dev/null || gdb -q -batch -ex "info functions main" ./m >/dev/null'
	step 'mktemp -d && ls -la ~ >/dev/null &&
		find . -name "*.c" && grep -rn main m.c && id && uname -a && df . >/dev/null'
	step 'ps aux >/dev/null && pgrep -l bash && mount >/dev/null &&
		free >/dev/null; cat /etc/os-release /proc/cpuinfo >/dev/null'
	quiet_day
}

t_python() {
	need python3
	step 'printf "import json, tempfile\nprint(json.dumps(tempfile.mkdtemp()))\n" >m.py && python3 m.py'
	step 'printf "import unittest\nclass T(unittest.TestCase):\n def test(self): self.assertTrue(True)\n" >test_m.py
		python3 -m unittest -q && python3 -m compileall -q . && python3 -c "import sqlite3, multiprocessing, ssl"'
	step 'python3 -m venv --without-pip v && v/bin/python -c "import sys; print(sys.prefix)"'
	step 'python3 -c "import socket
a = socket.socket(type=socket.SOCK_DGRAM); a.bind((\"127.0.0.1\", 0))
b = socket.socket(type=socket.SOCK_DGRAM); b.sendto(b\"x\", a.getsockname()); print(a.recv(1))"'
	quiet_day
}

# ~/.npmrc holds a token here, as it does for whoever publishes.
t_npm() {
	need node npm
	step 'export npm_config_update_notifier=false; npm init -y >/dev/null &&
		npm pkg set scripts.test="node t.js" && echo "console.log(1)" >t.js && npm test --silent'
	step 'export npm_config_update_notifier=false; mkdir -p dep &&
		 echo "{\"name\":\"dep\",\"version\":\"1.0.0\"}" >dep/package.json && npm install --offline \
		--no-audit --no-fund ./dep'
	step 'export npm_config_update_notifier=false; npm ls &&
		 npm pack --dry-run 2>/dev/null && node -e "fs.mkdtempSync(os.tmpdir() + \"/a\")"'
	quiet_day
}

t_git_clean_leaves_the_scratch() {
	need git
	git init -q . && git add file && git commit -qm one
	fsh 'for d in "$TMPDIR" "$XDG_DATA_HOME" "$XDG_CACHE_HOME"; do echo "scratch of one" >"$d/x"; done
		git clean -fdx && cat "$TMPDIR/x" "$XDG_DATA_HOME/x" "$XDG_CACHE_HOME/x" && mktemp'
	rc_is 0
	[ "$(grep -c "scratch of one" "$S/out")" = 3 ] || fail "$(cat "$S/out")"
	out_has "$HOME/.local/share/pale/"
	err_lacks "Removing"
	not_denied
	# Each workspace has its own, and no other session reaches it.
	mkdir ../other
	OPTS=(-w "$HOME/other")
	fsh "cat $HOME/.local/share/pale/*/*/x; ls $HOME/.local/share/pale/*/*/"
	out_lacks "scratch of one"
	! grep -qx x "$S/out" || fail "the other session lists it"
}

t_histories_stay_inside() {
	fsh 'HISTFILE=$HISTFILE bash --norc -ic "echo one; history -a"; echo "$HISTFILE $TMUX_TMPDIR"'
	out_has "$(echo ~/.local/share/pale/*)/state/history"
	not_denied
	quiet_day
}

# Where a tool's own place in the home is closed, it has one in the agent's state.
t_places_of_tools() {
	fsh 'echo $GNUPGHOME $SCREENDIR $EMACSNATIVELOADPATH
		[ -d "$GNUPGHOME" ] && [ -d "$XDG_CONFIG_HOME/emacs" ] && echo made'
	out_has "$(echo ~/.local/share/pale/*)/data/gnupg $(echo ~/.local/share/pale/*)/tmp "
	out_has made
	need gpg
	fsh 'echo hi >plain; gpg -q --batch --list-keys &&
		gpg -q --batch --passphrase x --pinentry-mode loopback -c plain && echo done'
	rc_is 0
	out_has done
	exists plain.gpg
	not_denied
	quiet_day
}

# A secret that is one optional file does not exist, and tools go on without it; the record stays.
t_optional_secrets() {
	fsh 'cat ~/.npmrc'
	err_has "No such file"
	not_denied
	recorded read deny "$HOME/.npmrc" "sensitive = ~/.npmrc"
	fsh 'echo x >~/.npmrc'
	denied write "$HOME/.npmrc"
	mkdir workspace
	OPTS=(--preset bridge)
	fsh 'cat ~/.npmrc'
	denied read "$HOME/.npmrc"
}

# Where ordinary permissions refuse, the kernel's answer stands and is not counted.
t_refused_anyway() {
	[ "$(id -u)" != 0 ] || skip "root may read everything"
	fsh 'cat /etc/shadow; echo >/etc/hostname; exit 0'
	err_has "Permission denied"
	not_denied
	recorded read deny /etc/shadow "ordinary permissions refuse it too"
	quiet_day
}

t_ssh_for_git() {
	local config
	printf '%s\n' "Host work" "  HostName git.example.org" \
		"  ProxyCommand touch $S/ran" "Match all" "  User x" >~/.ssh/config
	echo "git.example.org ssh-ed25519 AAAA" >~/.ssh/known_hosts
	echo "ssh-ed25519 AAAA me" >~/.ssh/id_rsa.pub
	fsh 'eval "cat ${GIT_SSH_COMMAND#ssh -F }"; cd "$XDG_CONFIG_HOME/ssh"; cat known_hosts *.pub'
	out_has "HostName git.example.org"
	out_has "git.example.org ssh-ed25519 AAAA"
	out_has "ssh-ed25519 AAAA me"
	out_lacks ProxyCommand
	out_lacks "User x"
	no_decoy
	fsh 'cd "$XDG_CONFIG_HOME"; echo "ProxyCommand touch ran" >>ssh/config; rm -f ssh/config; mv ssh x'
	config=$(echo ~/.local/share/pale/*/config/ssh/config)
	denied delete "$config"
	[ "$(grep -c ProxyCommand "$config")" = 0 ] || fail "the session wrote it"
	! command -v ssh >/dev/null || fsh 'eval "$GIT_SSH_COMMAND -G work"'
	! command -v ssh >/dev/null || out_has "hostname git.example.org"
	# Sessions that start at the same time do not disturb each other.
	for _ in {1..12}; do pale run -q -- true 2>>"$S/together" & done
	wait
	[ ! -s "$S/together" ] || fail "$(cat "$S/together")"
}

t_models_only() {
	printf '[network]\nmode = models\nallow = own.example:443\n' | policy
	run pale explain connect api.anthropic.com
	rc_is 0
	for host in github.com own.example registry.npmjs.org; do
		run pale explain connect "$host"
		rc_is 1 "$host"
	done
	run pale lint
	out_has "has no effect in network mode models"
}

t_hosts_that_take_uploads_are_asked_for() {
	local host
	for host in storage.googleapis.com huggingface.co cdn.jsdelivr.net gist.github.com registry-1.docker.io; do
		run pale explain connect "$host"
		rc_is 3 "$host"
	done
	for host in api.github.com repo.packagist.org cdn.playwright.dev; do
		run pale explain connect "$host"
		rc_is 0 "$host"
	done
}

scenario "$@"
