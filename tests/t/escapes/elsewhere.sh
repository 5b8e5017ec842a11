# limit: 60
# levels: full strict
# What fell elsewhere: each escape of another fence that was published, tried bare, where it comes true, and inside.
# tests/escapes/elsewhere.tsv has a row for each, and pale-guarantees(7) shows it.
. "$T_LIB"

ROWS=$T_BASE/t/escapes/elsewhere.tsv

# A repository with a branch main and one remote, whose main is one commit behind.
repository() {
	git init -q --bare "$HOME/remote.git"
	git init -q .
	git commit -q --allow-empty -m one
	git remote add origin "$HOME/remote.git"
	git push -q origin main
	git commit -q --allow-empty -m two
	git switch -q -c topic
	git commit -q --allow-empty -m three
	BEFORE=$(git -C "$HOME/remote.git" rev-parse main)
}

main_stays() {
	[ "$(git -C "$HOME/remote.git" rev-parse main)" = "$BEFORE" ] || fail "the remote's main moved: $*"
}

never_asked() {
	{ printf 'preset = agent\n[session]\napprovals = never\n[files]\nwrite = ~/remote.git\n' && cat; } | policy
}

t_table() {
	{
		echo '| where | what happened | here |'
		grep -v '^#' "$ROWS" | awk -F'\t' '{ print "| " $2 " | " $3 " | " $4 " |" }'
	} | diff - <(bash "$T_BASE/t/escapes/tables.sh" of "$T_BASE/t/escapes/pale-guarantees.7" elsewhere) ||
		fail "the table of pale-guarantees(7) is not that of elsewhere.tsv"
	sed -n 's/^t_\([a-z_]*\)() {$/\1/p' "$0" | grep -vx table | sort >"$S/tests"
	grep -v '^#' "$ROWS" | cut -f1 | sort | diff - "$S/tests" ||
		fail "a row has no test, or a test has no row"
}

t_settings_made_later() {
	local how
	mkdir .claude
	for how in 'echo "{}" >.claude/settings.json' 'echo "{}" >x && mv x .claude/settings.json' \
		'ln -s ../x .claude/settings.json' 'echo "{}" >x && ln x .claude/settings.json' \
		'rm -r .claude; mkdir y && echo "{}" >y/settings.json && mv -T y .claude' \
		'cd .claude && "$T_VICTIMS/raw-static" create settings.json'; do
		rm -rf x y
		fsh "$how"
		rc_not 0 "$how"
		missing .claude/settings.json
		mkdir -p .claude
	done
	recorded 'write|rename|link|create' deny "$W/.claude/settings.json" "[files] readonly = .claude/settings.json"
}

t_link_out() {
	ln -s "$HOME/elsewhere" out
	echo x >out/bare
	file_is "$HOME/elsewhere/bare" x
	rm out
	fsh 'ln -s ../elsewhere out; echo x >out/new; ln -s ../outside-file f; echo x >>f; ln -s ../../none g; : >g'
	missing "$HOME/elsewhere/new"
	missing "$HOME/../none"
	file_is "$HOME/outside-file" "$DECOY outside-file"
	recorded write deny "$HOME/elsewhere/new"
}

t_worktree() {
	repository
	git worktree add -q ../linked -b other
	git init -q "$HOME/elsewhere/hub"
	run env -C "$HOME/linked" pale run -q -- bash -c '
		echo ok >f && git add f && git commit -qm inside
		echo "echo ran >>$HOME/ran" >../work/.git/hooks/post-commit
		git config core.fsmonitor "touch ran"
		echo "gitdir: $HOME/elsewhere/hub/.git" >.git
		git commit -q --allow-empty -m away
		git branch -f main HEAD'
	missing "$HOME/work/.git/hooks/post-commit"
	missing ran
	[ -z "$(git -C "$HOME/elsewhere/hub" rev-list --all)" ] || fail "another repository has a commit"
	[ "$(git rev-parse main)" != "$(git rev-parse other)" ] || fail "main was moved"
	git log --format=%s other | grep -qx inside || fail "an ordinary commit in a worktree failed"
}

t_null_byte() {
	printf '[network]\nmode = replace\ndefault = deny\nallow = *.allowed.example:443\n' | policy
	fence python3 -c '
import socket, struct
def ask(name):
    q = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0)
    for label in name: q += bytes([len(label)]) + label
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(5)
    s.connect(("127.0.0.53", 53))
    s.send(q + b"\0\0\1\0\1")
    print(s.recv(512)[3] & 15)
ask([b"evil", b"example\0", b"allowed", b"example"])
ask([b"evil\0x", b"allowed", b"example"])'
	! grep -qvx '[135]' "$S/out" || fail "a name with a null byte was answered"
	[ -s "$S/out" ] || grep -q denied "$S/err" || fail "nothing was said"
	recorded resolve deny 'allowed.example'
}

t_shell_builtins() {
	repository
	printf '#!/bin/sh\necho ran >>%s/ran\n' "$HOME" >"$HOME/elsewhere/stolen"
	chmod +x "$HOME/elsewhere/stolen"
	script -qec "GIT_PAGER='$HOME/elsewhere/stolen' git -p branch" /dev/null >/dev/null 2>&1 </dev/null
	exists "$HOME/ran"
	rm "$HOME/ran"
	never_asked <<-'INI'
		[commands]
		deny = stolen
	INI
	fsh 'export GIT_PAGER=$HOME/elsewhere/stolen EDITOR=$HOME/elsewhere/stolen; typeset -x PAGER=$EDITOR
		declare -x GIT_EXTERNAL_DIFF=$EDITOR; export GIT_SSH_COMMAND=$EDITOR
		git -p branch; git diff HEAD^ HEAD; git commit --allow-empty; git ls-remote ssh://localhost/x
		echo $(<&-); eval "$EDITOR"'
	missing "$HOME/ran"
	recorded exec deny stolen "[commands] deny = stolen"
}

t_git_keys() {
	local key
	repository
	git init -q sub
	for key in core.fsmonitor core.hooksPath core.sshCommand core.editor filter.x.clean diff.external alias.x; do
		fsh "git config $key '!touch ran'"
		[ -z "$(git config --local $key)" ] || fail "$key was set"
		fsh "git -C sub config $key '!touch ran'"
		[ -z "$(git -C sub config --local $key)" ] || fail "$key was set in a nested repository"
	done
	recorded 'write|rename' deny "$W/.git/config"
}

t_pyvenv() {
	run pale run -- sh -c 'mkdir -p .venv/bin; printf "home = %s\n" "$PWD" >.venv/pyvenv.cfg
		cp /bin/true .venv/bin/python'
	rc_is 0
	err_has "changed, runs later: .venv/bin (1 program)"
}

t_docker_socket() {
	mkdir -p "$HOME/run"
	python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
while True:
    c = s.accept()[0]; open(sys.argv[1] + ".called", "a").write("x"); c.close()' "$HOME/run/docker.sock" &
	until_true 10 test -S "$HOME/run/docker.sock"
	fence python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("../run/docker.sock")'
	rc_not 0
	fsh 'ln -s ../run/docker.sock s; "$T_VICTIMS/net-static" unix s'
	rc_not 0
	missing "$HOME/run/docker.sock.called"
	recorded unix deny "$HOME/run/docker.sock"
	kill $!
}

t_nested_hooks() {
	git init -q vendor/sub
	fsh 'echo "touch ran" >vendor/sub/.git/hooks/pre-commit; chmod +x vendor/sub/.git/hooks/pre-commit
		git init -q new; echo "touch ran" >new/.git/hooks/pre-commit
		git init -q -c core.hooksPath=. third; mkdir -p t/.git/hooks; echo x >t/.git/hooks/post-checkout'
	missing vendor/sub/.git/hooks/pre-commit
	missing new/.git/hooks/pre-commit
	missing t/.git/hooks/post-checkout
	recorded write deny "$W/vendor/sub/.git/hooks/pre-commit"
}

t_lost_writes() {
	fsh 'echo kept >made; echo kept >~/new; mkdir -p a/b && echo kept >a/b/c
		echo kept >/tmp/$$.pale && mv /tmp/$$.pale moved
		grep -c . ~/new; stat -f -c %T . >type'
	file_is made kept
	file_is a/b/c kept
	file_is moved kept
	missing "$HOME/new"
	denied write "$HOME/new"
	file_is type "$(stat -f -c %T .)"
}

t_settings_edited() {
	local text
	text=$(printf '[network]\nmode = replace\ndefault = deny\nallow = good.example:443\n')
	policy <<<"$text"
	bg edited bash -c 'touch ready; until [ -e again ]; do sleep 0.05; done
		for i in 1 2 3; do getent ahosts evil.example; echo $?; "$T_VICTIMS/net-static" connect 45.33.32.66 80; echo $?; done
		touch done; until [ -e end ]; do sleep 0.05; done'
	until_true 30 test -e ready || fail "it does not run"
	printf '%s\n[files]\nwrite = ~/other\n' "$text" | policy
	run pale policy reload
	rc_is 0
	printf '%s\n[files]\nwrit = ~/other\n' "$text" | policy
	run pale policy reload
	rc_not 0
	touch again
	until_true 20 test -e done
	touch end
	bg_wait edited
	! grep -qx 0 "$S/out" || fail "a host was reached after a reload"
	recorded 'resolve|connect' deny evil.example
	recorded connect deny 45.33.32.66:80
}

t_innocent_name() {
	ln -s ../.ssh/authorized_keys notes.md
	fsh 'echo key >>notes.md; echo key >notes.md; cp /etc/hostname notes.md'
	missing "$HOME/.ssh/authorized_keys"
	recorded write deny "$HOME/.ssh/authorized_keys"
	printf 'preset = agent\n[files]\nask_write = ~/elsewhere/*\n' | policy
	ln -s ../elsewhere/asked innocent.txt
	bg innocent sh -c 'echo key >innocent.txt'
	pending_id >"$S/id"
	pale pending | grep -qF "$HOME/elsewhere/asked" || fail "the card does not name what the link leads to"
	run pale deny "$(cat "$S/id")"
	bg_wait innocent
	missing "$HOME/elsewhere/asked"
}

t_push_url() {
	repository
	never_asked <<<'[git]'
	fsh 'git push "$HOME/remote.git" topic:main; git push "file://$HOME/remote.git" HEAD:main
		git push --repo="$HOME/remote.git" HEAD:refs/heads/main; git -c remote.x.url="$HOME/remote.git" push x +topic:main
		git remote add y "$HOME/remote.git"; git push y topic:main; git -C . push "$HOME/remote.git" main'
	main_stays
	recorded exec deny "git push $HOME/remote.git topic:main"
}

t_push_options() {
	local words
	repository
	never_asked <<-'INI'
		[commands]
		allow = git push origin topic
	INI
	fsh 'git push -q origin topic; exit $?'
	rc_is 0 "an allowed push"
	git commit -q --amend --allow-empty -m four
	BEFORE=$(git -C "$HOME/remote.git" rev-parse topic)
	for words in '--forc origin topic' '-uf origin topic' '-fu origin topic' '--force-with-l origin topic' \
		'origin +topic' '-qf origin topic' '--mirr origin' '--del origin topic' 'origin :topic' '-d origin topic'; do
		fsh "git push $words; exit \$?"
		rc_not 0 "$words"
		[ "$(git -C "$HOME/remote.git" rev-parse topic)" = "$BEFORE" ] || fail "the remote's topic moved: $words"
	done
	fsh 'git -c push.default=matching push -f; git -c remote.origin.push=+topic push; git pus --force origin topic'
	[ "$(git -C "$HOME/remote.git" rev-parse topic)" = "$BEFORE" ] || fail "the remote's topic moved"
}

t_default_branch() {
	repository
	never_asked <<<$'[commands]\nallow = git push origin HEAD\nallow = git push' 
	fsh 'git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/topic; git config init.defaultBranch topic
		git branch -u origin/main; git -c push.default=upstream push; git push origin HEAD:main
		git push origin topic:refs/heads/main
		git switch -q main && git push origin HEAD; git push'
	main_stays
}

scenario "$@"
