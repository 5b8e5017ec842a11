# levels: full strict
# limit: 120
# What git obeys: configuration and hooks of any repository, judged by what they say.
. "$T_LIB"

# As printf takes it.
EVIL='[core]\n\tfsmonitor = touch pwned\n'

# fsh with that in $E.
esh() {
	fence bash -c "E='$EVIL'; $1"
}

repo() {
	git init -q . && git add file && git commit -q -m one
}

# A repository that the session made must not make the operator's git run anything.
status_is_clean() {
	(cd "$W" && git status >/dev/null 2>&1 && git -C "${1:-.}" status >/dev/null 2>&1)
	[ -z "$(find "$W" -name pwned)" ] || fail "the operator's git ran the session's program"
}

t_harmless_keys_are_written() {
	repo
	fsh 'set -e
git config user.name Somebody
git remote add origin https://github.com/x/y.git
git remote set-url origin git@github.com:x/y.git
git config branch.side.remote origin
git config --add branch.side.merge refs/heads/main
git config lfs.repositoryformatversion 0
git remote add other ../other.git
git remote remove other
git config filter.lfs.clean "git-lfs clean -- %f"
git config filter.lfs.process "git-lfs filter-process"
git config alias.st "status -s"
git config --unset user.name
git config --rename-section branch.side branch.topic
sed -i s/topic/other/ .git/config
git config submodule.lib.update none
for f in openpgp x509 ssh; do git config gpg.format $f; done'
	rc_is 0
	not_denied
	[ "$(git config branch.other.merge)" = refs/heads/main ] || fail "not written"
	[ "$(stat -c %a .git/config)" = "$(stat -c %a .git/HEAD)" ] || fail "another mode"
	missing .git/config.lock
	missing .git/config.pale
}

# Nobody is asked, so nobody being there changes nothing.
t_with_nobody_to_ask() {
	repo
	OPTS=(-n)
	fsh 'set -e; git config user.name x; git init -q sub; git checkout -q -b topic; git commit -q --allow-empty -m x'
	rc_is 0
	not_denied
	fsh 'git config core.editor evil'
	denied rename "$W/.git/config" "core.editor"
}

# Each of them would run something, later, as the operator.
t_keys_that_run_code_are_refused() {
	local k
	repo
	cat >keys <<-'KEYS'
		core.hooksPath|evil
		core.fsmonitor|touch pwned
		core.fsmonitor|true
		core.sshCommand|evil
		core.pager|evil
		core.editor|evil
		core.gitProxy|evil
		core.askPass|evil
		core.worktree|/
		core.worktree|../..
		core.worktree|hooks
		core.worktree|../sub
		core.attributesFile|x
		alias.x|!evil
		alias.st|-c core.pager=evil log
		alias.st|log --output=x
		diff.x.command|evil
		diff.x.textconv|evil
		diff.external|evil
		filter.x.clean|evil
		filter.lfs.smudge|evil
		merge.x.driver|evil
		credential.helper|!evil
		credential.https://x.helper|evil
		gpg.program|evil
		gpg.ssh.program|evil
		gpg.openpgp.program|evil
		gpg.x509.program|evil
		gpg.ssh.defaultKeyCommand|evil
		gpg.format|evil
		gpg.format|SSH
		gpg.format|../ssh
		include.path|evil
		includeIf.gitdir:/.path|evil
		remote.origin.uploadpack|evil
		remote.origin.receivepack|evil
		remote.origin.vcs|evil
		remote.origin.url|ext::evil
		protocol.ext.allow|always
		http.proxy|http://evil
		url.https://evil/.insteadOf|https://github.com/
		sequence.editor|evil
		submodule.x.update|!evil
		extensions.refStorage|reftable:///x
		remote.pushDefault|ext::evil
		remotes.default|ext::evil
		pull.twohead|evil
		rebase.instructionFormat|%nexec evil
		merge.tool|../../evil
		submodule.x.gitdir|/x
		hook.x.command|evil
		format.outputDirectory|/x
		alias.st|log '--out'put=x
		core.everNew|x
		uploadpack.packObjectsHook|evil
		gc.recentObjectsHook|evil
		trailer.x.command|evil
		man.x.cmd|evil
		pager.log|evil
		lfs.customtransfer.x.path|evil
		sendemail.smtpserver|/x
		branch.main.mergeoptions|-s evil
		nobody.knows|this
	KEYS
	cp .git/config "$S/before"
	# shellcheck disable=SC2016
	fsh 'n=0; while IFS="|" read -r k v; do git config "$k" "$v" 2>>said && echo "written: $k $v"; done <keys; true'
	rm said keys
	[ ! -s "$S/out" ] || fail "written"
	cmp .git/config "$S/before" || fail "changed"
	fsh 'git config core.hooksPath evil'
	denied rename "$W/.git/config" 'core.hookspath could make git run a program'
	recorded rename deny "$W/.git/config"
	missing .git/config.pale
}

# What stood there before is the operator's, and may stay.
t_what_stands_there_stays() {
	repo
	git config core.editor vim && git config alias.x '!true'
	fsh 'git config user.name x && git config --unset alias.x'
	rc_is 0
	[ "$(git config core.editor)" = vim ] || fail "lost"
}

# What runs nothing, sends nothing elsewhere and reads nothing outside.
t_keys_that_run_nothing() {
	local k
	repo
	cat >"$S/keys" <<-'KEYS'
		format.pretty|%h %s
		feature.manyFiles|true
		core.commentString|;;
		protocol.version|2
		commitGraph.maxNewFilters|100
		repack.cruftWindow|10
		versionsort.suffix|-rc
		log.diffMerges|on
		merge.renormalize|true
		diff.wordRegex|[a-z]+|.
		pull.octopus|octopus
		branch.sort|-committerdate
		help.autocorrect|10
		interactive.singleKey|true
		fsck.badDate|ignore
		alias.lg|log --pretty=format:'%h %s'
	KEYS
	cp "$S/keys" keys
	fsh 'set -e; while IFS="|" read -r k v; do git config "$k" "$v"; done <keys; rm keys'
	rc_is 0
	not_denied
	while IFS='|' read -r k v; do
		[ "$(git config "$k")" = "$v" ] || fail "$k"
	done <"$S/keys"
	[ "$(git lg -1)" = "$(git log -1 --pretty=format:'%h %s')" ] || fail "the alias"
}

# A file that is there is judged by what it says once it is closed, and is as it was until then.
t_rewritten_in_place() {
	repo
	fsh 'set -e; printf "[user]\n\tname = N\n" >>.git/config; git config user.name
		cat .git/config >x; printf "[pull]\n\tff = only\n" >>x; cat x >.git/config; git config pull.ff
		exec 9>>.git/config; printf "[alias]\n" >&9; cmp -s x .git/config; printf "\tst = status\n" >&9; exec 9>&-
		git config alias.st; rm x'
	rc_is 0
	not_denied
	[ "$(cat "$S/out" | xargs)" = "N only status" ] || fail "$(cat "$S/out")"
	cp .git/config "$S/before"
	esh 'printf "$E" >>.git/config; printf "$E" >.git/config; cat .git/config
		printf "[core\n" >.git/config; printf "[pull]\n\tff = only\n$E" >.git/config'
	denied write "$W/.git/config" "core.fsmonitor could make git run a program"
	cmp .git/config "$S/before" || fail "changed"
	cmp "$S/out" "$S/before" || fail "seen otherwise"
	status_is_clean
	missing .git/config.pale
	# what stood there stays the measure
	git config core.editor vim
	fsh 'printf "[user]\n\temail = a@b\n" >>.git/config'
	not_denied
	[ "$(git config user.email)" = a@b ] && [ "$(git config core.editor)" = vim ] || fail "not written"
}

t_by_other_means() {
	repo
	cp .git/config "$S/before"
	for how in 'printf "$E" >>.git/config' 'printf "$E" >x; mv x .git/config' 'printf "$E" >x; ln -f x .git/config' \
		'printf "$E" >x; ln -sf ../x .git/config' 'printf "$E" >x; cp x .git/config' \
		'ln .git/config y && printf "$E" >>y' \
		'python3 -c "import ctypes; ctypes.CDLL(None).renameat2(-100, b\"x\", -100, b\".git/config\", 2)"' \
		'truncate -s 0 .git/config' \
		'rm .git/config; printf "$E" >.git/config' 'printf "$E" >.git/config.worktree' \
		'exec 9<.git/config; printf "$E" >/proc/self/fd/9' 'printf "\\0$E" >x; mv x .git/config' \
		'printf "[core\n" >x; mv x .git/config' 'printf "$E" >.git/config.pale' \
		'python3 -c "import os; f=os.open(\".git/config\",os.O_RDONLY)
os.link(\"/proc/self/fd/%d\"%f,\"z\",follow_symlinks=True); open(\"z\",\"a\").write(os.environ[\"E\"])"'; do
		esh "$how"
		status_is_clean
		[ -e .git/config ] && ! grep -q fsmonitor .git/config || [ ! -e .git/config ] || fail "$how"
		[ ! -e .git/config.worktree ] || fail "$how"
		rm -f x y z && cp "$S/before" "$S/copy" && mv "$S/copy" .git/config
	done
}

# Judged is what was read, and that is put in place: whoever holds the old file open has that.
t_an_open_file_is_left_behind() {
	repo
	cat >"$W/late.py" <<-'PY'
		import os
		f = open('.git/config.lock', 'w')
		f.write(open('.git/config').read())
		f.flush()
		os.rename('.git/config.lock', '.git/config')
		f.write('[core]\n\tfsmonitor = touch pwned\n')
		f.close()
	PY
	fence python3 late.py
	rc_is 0
	! grep -q fsmonitor .git/config || fail "written behind the judge"
	status_is_clean
}

# A pointer leads anywhere: what it leads to is judged wherever it lies, and whatever it is called.
t_a_repository_by_any_name() {
	repo
	esh 'mkdir -p evil/refs evil/objects sub; echo "ref: refs/heads/x" >evil/HEAD; echo "gitdir: ../evil" >sub/.git
printf "$E" >evil/config; printf "$E" >x; mv x evil/config
mkdir b; printf "$E" >b/config; mkdir b/refs; echo "ref: refs/heads/x" >b/HEAD; mkdir b/objects
mkdir o; mv o b/objects; ln -s ../evil/objects b/objects; echo >b/objects
mkdir s && echo "gitdir: ../b" >s/.git'
	missing b/objects
	! grep -qs fsmonitor evil/config || fail "written into a repository"
	denied mkdir "$W/b/objects"
	status_is_clean sub
	status_is_clean s
	# what was open when it became a repository is left behind as well
	cat >late.py <<-'PY'
		import os
		os.makedirs('c/refs')
		open('c/HEAD', 'w').write('ref: refs/heads/x\n')
		f = open('c/config', 'w')
		f.write('[core]\n\tbare = false\n')
		f.flush()
		os.mkdir('c/objects')
		f.write('[core]\n\tfsmonitor = touch pwned\n')
		f.close()
	PY
	fence python3 late.py
	rc_is 0
	! grep -q fsmonitor c/config || fail "written behind the judge"
}

t_hooks_of_any_repository() {
	local h='printf "#!/bin/sh\ntouch pwned\n"'
	repo
	git init -q sub && git init -q --bare bare
	fsh "for d in sub/.git bare; do
			$h >\$d/hooks/post-checkout; chmod +x \$d/hooks/post-checkout
			$h >x; chmod +x x; mv x \$d/hooks/pre-commit; ln x \$d/hooks/commit-msg; ln -s ../../x \$d/hooks/post-commit
			cp x \$d/hooks/post-index-change; mv \$d/hooks/pre-commit.sample \$d/hooks/pre-commit; rm -rf \$d/hooks
			mkdir e; $h >e/post-index-change
			chmod +x e/post-index-change; mv e \$d/hooks; ln -s ../../e \$d/hooks; rm -rf e x; done
		mkdir -p k/hooks k/refs; $h >k/hooks/post-index-change
		chmod +x k/hooks/post-index-change; cp .git/HEAD k; mkdir k/objects; true"
	for d in sub/.git bare; do
		[ -z "$(find $d/hooks/ -type f ! -name '*.sample' 2>/dev/null)" ] || fail "a hook in $d"
		[ ! -L $d/hooks ] || fail "$d/hooks is a link"
	done
	missing k/objects
	status_is_clean sub
}

# Copied in whatever order: what is written in place is judged once it is complete, and not there before.
t_a_copy_of_a_repository() {
	repo
	git remote add origin https://github.com/x/y.git
	fsh 'set -e
		cp -r .git c1; cp -a .git c2; tar cf - .git | tar xf - --transform "s,^.git,c3,"
		python3 -c "import shutil; shutil.copytree(\".git\", \"c4\")"
		for d in c5 c6 c7; do mkdir -p $d/objects $d/refs; cp .git/HEAD $d; done
		cp -p .git/config c5/config; chmod 600 c5/config
		cat .git/config >c6/config; echo "[user]" >>c7/config; git -C c7 config core.bare true
		umask 077; mkdir -p c8/objects; python3 -c "
import os
fd = os.open(\"c8/config\", os.O_RDWR|os.O_CREAT|os.O_EXCL, 0o644)
os.write(fd, open(\".git/config\", \"rb\").read())
os.lseek(fd, 0, 0); assert b\"origin\" in os.read(fd, 999); os.close(fd)
os.utime(\"c8/config\", (1, 1))"
		for d in c1 c2 c3 c4 c5 c6; do git --git-dir=$d remote get-url origin; done'
	rc_is 0
	not_denied
	for d in c1 c2 c3 c4 c5 c6 c8; do
		cmp .git/config $d/config || fail "$d"
	done
	[ "$(stat -c %a c5/config c8/config | xargs)" = "600 600" ] || fail "modes: $(stat -c %a c5/config c8/config)"
	[ "$(git config -f c7/config core.bare)" = true ] || fail "lost"
}

# The same with what would run: it never comes to be, whoever holds on to it.
t_an_evil_copy() {
	repo
	esh 'export E; printf "$E" >evil
		for d in d1 d2 d3 d4 d5; do mkdir -p $d/objects $d/refs; cp .git/HEAD $d; echo "gitdir: ../$d" >$d/.git; done
		cp evil d1/config; cat evil >d2/config
		(exec 9>d3/config; printf "[core]\n" >&9; (sleep 0.2; cat evil >&9) & )
		sleep 0.1; [ ! -s d3/config ] || echo "there at once"; sleep 0.4
		python3 -c "
import mmap, os
f = os.open(\"d4/config\", os.O_RDWR|os.O_CREAT, 0o644)
e = os.environ[\"E\"].encode().decode(\"unicode_escape\").encode()
os.write(f, b\"#\" * len(e) + b\"\n\"); m = mmap.mmap(f, len(e))
g = os.open(\"/proc/self/fd/%d\" % f, os.O_RDWR); os.close(f)
m[:] = e; m.close()"
		printf "$E" >d5/config; printf "[core]\n\tbare = false\n" >d5/config; true'
	[ ! -s "$S/out" ] || fail "before it was complete"
	for d in d1 d2 d3; do missing $d/config; done
	! grep -qs fsmonitor d?/config || fail "written"
	denied write "$W/d1/config" "core.fsmonitor could make git run a program"
	recorded write deny "$W/d2/config"
	for d in d1 d2 d3 d4 d5; do status_is_clean $d; done
	fsh 'head -c 2000000 /dev/zero >d1/config; exec 8>d2/config; echo x >&8; kill -9 $$'
	missing d1/config
	missing d2/config
	# more than are served at once are refused
	fsh 'for i in $(seq 70); do mkdir -p n$i/objects; done; python3 -c "
fs = []
for i in range(1, 71):
	try: fs.append(open(\"n%d/config\" % i, \"w\"))
	except PermissionError: pass
print(len(fs))"; echo "[core]" >n70/config'
	out_has 64
	file_is n70/config "[core]"
}

# git-lfs's own hooks, to the letter, and no others of these names.
t_hooks_of_lfs() {
	local h
	repo
	fsh 'for h in pre-push post-merge; do
			printf "#!/bin/sh\ngit lfs %s \"\$@\"\n" $h >.git/hooks/$h
			chmod +x .git/hooks/$h
		done
		mkdir -p b.git/objects b.git/hooks; install -m 755 .git/hooks/pre-push b.git/hooks/pre-push
		printf "#!/bin/sh\ntouch pwned\n" >.git/hooks/post-commit; cp .git/hooks/pre-push .git/hooks/post-checkout
		cp .git/hooks/pre-push .git/hooks/pre-commit; cp .git/hooks/pre-push .git/hooks/pre-push.x
		printf "#!/bin/sh\ngit lfs post-rewrite\n" >.git/hooks/post-rewrite
		echo "touch pwned" >>.git/hooks/pre-push; true'
	for h in pre-push post-merge; do
		[ "$(sed -n 2p .git/hooks/$h)" = "git lfs $h \"\$@\"" ] && [ "$(wc -l <.git/hooks/$h)" = 2 ] || fail "$h"
		[ -x .git/hooks/$h ] || fail "$h is not executable"
	done
	[ -x b.git/hooks/pre-push ] || fail "not in another repository"
	for h in post-commit post-checkout pre-commit post-rewrite; do missing .git/hooks/$h; done
	denied write "$W/.git/hooks/post-commit" "may write only those of git lfs"
	status_is_clean
	# one that the operator wrote stays
	printf '#!/bin/sh\nexit 1\n' >.git/hooks/post-checkout &&
		cp .git/hooks/post-checkout "$S/own" && chmod +x .git/hooks/post-checkout
	fsh 'cd .git/hooks; rm -f post-merge; rm -f post-checkout; mv post-checkout x.sample; mv post-checkout ../x
		mv x.sample post-checkout; cp pre-push post-checkout; ln -f pre-push post-checkout; ln -sf x post-checkout
		chmod -x post-checkout; truncate -s 0 post-checkout; cat pre-push >../p; mv ../p post-checkout'
	cmp .git/hooks/post-checkout "$S/own" && [ -x .git/hooks/post-checkout ] || fail "the operator's hook"
	missing .git/hooks/post-merge
	# a rule of the operator's keeps them all, and level hooks has nobody to look
	run pale run -q --level hooks -- bash -c 'printf "#!/bin/sh\ngit lfs post-merge \"\$@\"\n" >.git/hooks/post-merge'
	missing .git/hooks/post-merge
	printf '[files]\nreadonly = .git/hooks\n' | policy
	fsh 'printf "#!/bin/sh\ngit lfs post-merge \"\$@\"\n" >.git/hooks/post-merge'
	missing .git/hooks/post-merge
}

# A rule of the operator's that names the directory opens it, and one that names what is far above does not.
t_hooks_by_a_rule() {
	local rule hook='printf "#!/bin/sh\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit'
	for rule in '.git/hooks/*' '**/.git/hooks/*' '.git/hooks/pre-commit'; do
		repo
		printf '[files]\nwrite = %s\n' "$rule" | policy
		fsh "$hook; cp .git/hooks/pre-commit x; mv x .git/hooks/pre-commit"
		rc_is 0
		not_denied
		[ -x .git/hooks/pre-commit ] || fail "$rule"
		fsh 'rm .git/hooks/pre-commit'
		rc_is 0
		rm -rf .git
	done
	mkdir -p hooks
	git init -q hooks/a
	for rule in '**' 'hooks/**' '**/hooks/a' 'hooks' '.git/hooks/post-commit'; do
		repo
		printf '[files]\nwrite = %s\n' "$rule" | policy
		fsh "$hook; cd hooks/a; $hook"
		missing .git/hooks/pre-commit
		missing hooks/a/.git/hooks/pre-commit
		rm -rf .git
	done
	repo
	printf '[files]\nreadonly = .git/hooks/*\nwrite = hooks/*\n' | policy
	fsh "$hook; cd hooks/a; $hook"
	missing .git/hooks/pre-commit
	missing hooks/a/.git/hooks/pre-commit
}

t_git_lfs() {
	need git-lfs
	repo
	fsh 'set -e; git lfs install --local; git lfs track "*.bin"; head -c 5000 /dev/zero >a.bin
		git add .; git commit -qm lfs; git lfs ls-files; git lfs update; git lfs fsck'
	rc_is 0
	not_denied
	cp -r .git/hooks "$S/hooks"
	run git lfs update
	rc_is 0
	diff -r .git/hooks "$S/hooks" || fail "git-lfs itself writes others"
	[ "$(ls .git/hooks | grep -vc sample)" = 4 ] || fail "not four"
}

# The same names in a project that is no repository are nobody's business.
t_other_files_of_these_names() {
	fsh 'set -e; mkdir -p src/hooks src/config src/objects a/config
echo 1 >src/hooks/useIt.ts; echo 2 >src/config/x; echo 3 >src/objects/y; echo 4 >src/hooks/useIt.ts
mkdir b; echo x >b/config; echo y >>b/config; mv b/config b/c; mv b/c b/config; chmod 600 b/config; rm -r b
mkdir h/ h/hooks; echo "#!/bin/sh" >h/hooks/run; chmod +x h/hooks/run; mv h/hooks h/other; rm -r h'
	rc_is 0
	not_denied
}

# What people do with repositories inside repositories.
t_ordinary_work() {
	repo
	git clone -q --bare . "$HOME/lib.git"
	fsh 'set -e; export GIT_ALLOW_PROTOCOL=file
		git init -q nested; cd nested; git config user.name N; echo x >f; git add f; git commit -qm n; cd ..; rm -rf nested
		git clone -q --no-hardlinks ~/lib.git copy; git -C copy config user.email a@b; git -C copy fetch -q; rm -rf copy
		git checkout -q -b topic
		git submodule --quiet add file://$HOME/lib.git sub 2>/dev/null ||
			git -c protocol.file.allow=always submodule --quiet add file://$HOME/lib.git sub
		git commit -qm sub; git submodule --quiet update --init
		git submodule status >/dev/null; git submodule deinit -f sub >/dev/null
		git -c protocol.file.allow=always submodule --quiet update --init
		git worktree add -q wt side 2>/dev/null || git worktree add -q -b side wt
		git -C wt commit -q --allow-empty -m w; git worktree remove wt
		echo a >>file; git stash -q; git stash pop -q; git commit -qam a
		for i in 1 2; do echo $i >>file; git commit -qam $i; done
		GIT_SEQUENCE_EDITOR=true git rebase -q -i HEAD~2
		git bisect start -q HEAD HEAD~2 >/dev/null; git bisect good >/dev/null; git bisect reset 2>/dev/null
		git merge -q --no-ff side -m merged; git sparse-checkout set --cone . >/dev/null; git sparse-checkout disable
		git fsck 2>/dev/null; git init -q --separate-git-dir=apart.git apart; git -C apart commit -q --allow-empty -m x
		git clone -q --bare . bare.git; git -C bare.git worktree add -q ../bw side; git -C bw status >/dev/null'
	rc_is 0
	not_denied
	# the file of a protected branch stays beside packed-refs, which git says and lives with
	fsh 'git gc -q'
	rc_is 0
	[ "$(grep -c '^pale: denied' "$S/err")" = 1 ] || fail "more than the branch's file was denied"
}

# As opencode keeps them: elsewhere, with the workspace as their work tree.
t_snapshots_of_the_workspace() {
	repo
	fsh 'set -e; export GIT_DIR=$(mktemp -d)/snapshot; GIT_WORK_TREE=$PWD git init -q
git config core.autocrlf false; git --work-tree "$PWD" add file; git write-tree; rm -rf "$(dirname "$GIT_DIR")"'
	rc_is 0
	not_denied
	fsh 'export GIT_DIR=$(mktemp -d)/snapshot; GIT_WORK_TREE=$HOME git init -q'
	rc_not 0
	denied mkdir "" core.worktree
}

# Who waits for somebody holds up no other that git's files are judged for.
t_nobody_waits_with_the_turn() {
	local write='timeout 8 git config user.name x; echo "written $?"'
	repo
	fsh "mkdir a; mkfifo a/config
		ln -s config a/link; (echo one >a/config) & sleep 0.2; (echo two >a/link) & sleep 0.3; $write
		cat a/config; mkdir -p a/hooks; mkfifo a/hooks/x; (echo three >a/hooks/x) & sleep 0.3; $write; cat a/hooks/x; wait"
	[ "$(sort "$S/out" | xargs)" = "one three two written 0 written 0" ] || fail "a FIFO"
	# what waits for its other end is that FIFO and nothing else
	esh "mkdir b; mkfifo b/config; (printf \"\$E\" >b/config) & sleep 0.3; mkdir b/objects b/refs
		cp .git/HEAD b; rm -f b/config; mv b/config b/f; cp .git/config b/config; cat b/f & sleep 0.2; true"
	! grep -qs fsmonitor b/config || fail "written behind the judge"
	fsh "mkdir c; echo x >c/config; python3 -c '
import fcntl, os, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open(\"c/config\", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
print(\"leased\", flush=True); os.read(0, 1)' < <(sleep 12) & until ls c | grep -q config; do :; done; sleep 0.4
(echo y >>c/config) & python3 -c 'import os; os.truncate(\"c/config\", 0)' & sleep 0.4; $write; kill %1"
	out_has "written 0"
	err_has "Resource temporarily unavailable"
	printf '[files]\nask = ~/asked\n' | policy
	mkdir ~/asked && cp .git/config ~/asked/f && echo '# asked' >>~/asked/f
	bg asked bash -c "mv ~/asked/f .git/config & mkdir -p d/hooks
		echo x >d/hooks/y; mv d/hooks/y ~/asked/y & while [ ! -e go ]; do sleep 0.1; done; $write; touch done; wait"
	until_true 10 has_pending && sleep 0.4 && touch go
	until_true 10 test -e done || fail "a question holds the others up"
	pale approve "$(pending_id)" >/dev/null
	until_true 10 has_pending && pale approve "$(pending_id)" >/dev/null
	bg_wait asked
	grep -q 'written 0' "$S/out" || fail "not written"
	grep -q '# asked' .git/config && [ -e ~/asked/y ] || fail "not moved"
}

t_speed_of_a_clone() {
	fsh 'git init -q x && cd x && for i in $(seq 300); do echo $i >f$i; done &&
		git add . && git commit -qm x && cd .. && git clone -q --no-hardlinks x y'
	rc_is 0
	not_denied
}
# A copy of a repository has the samples of hooks, which git never runs; none becomes a hook.
t_copies_with_samples() {
	need rsync
	policy <<<'preset = agent'
	git init -q src
	fsh 'cp -r src a && rsync -a src/ b && (mkdir c; tar -cC src . | tar -xC c)'
	rc_is 0
	[ "$(ls a/.git/hooks)" = "$(ls src/.git/hooks)" ] && [ "$(ls b/.git/hooks)" = "$(ls src/.git/hooks)" ] ||
		fail "samples are missing"
	fsh 'cd b/.git/hooks; echo x >.a.sample.ABCDEF; mv .a.sample.ABCDEF pre-commit; mv pre-commit.sample pre-push
		ln .a.sample.ABCDEF pre-merge; ln -s .a.sample.ABCDEF pre-rebase; cp update.sample update
		echo x >.sample.ABCDEF; echo x >.pre-commit.ABCDEF; echo x >pre-commit.sample.ABCDEF
		echo x >.x.sample.ABCDEFG; echo x >Pre-Commit; echo x >"pre-commit "
		mkdir .d.sample.ABCDEF; echo x >.d.sample.ABCDEF/pre-commit'
	[ -z "$(ls -A b/.git/hooks | grep -v -e '\.sample$' -e '^\.a\.sample\.ABCDEF$' -e '^\.d\.')" ] ||
		fail "made: $(ls -A b/.git/hooks)"
}

# What husky init does, which the operator may do: each part is denied with a line that says so.
t_husky() {
	git init -q . && mkdir -p .husky
	fsh 'mkdir .husky/_ && echo x >.husky/_/h && echo open; echo x >.husky/pre-commit; git config core.hooksPath .husky/_'
	out_has open
	denied write "$W/.husky/pre-commit" "the operator can run husky init"
	denied rename "$W/.git/config" "the operator may set it: git config core.hookspath VALUE"
}

scenario "$@"
