# nightly: strict hooks
# limit: 120
# Places: repositories that lie elsewhere, names that are links, directories that come and go, trees that are
# bound twice, what /dev and /proc name, and programs that live below the home directory.
. "$T_LIB"

G=(-c user.name=T -c user.email=t@example.org)
export GIT_AUTHOR_DATE=2026-01-02T03:04:05Z GIT_COMMITTER_DATE=2026-01-02T03:04:05Z

# A workspace as it is: moves there and compares a line bare and fenced, each in a copy of $HOME/KEPT/.
repository() {
	git init -q "$1"
	(cd "$1" && echo one >f && git add f && git commit -qm one && echo two >f && git commit -qam two)
}

# same LINE: bare, then inside, in the same directory made anew by `world`; output and status are equal.
same() {
	local here=$PWD
	world
	cd "$here" && run bash -c "$1"
	mv "$S/out" "$S/bare" && mv "$S/err" "$S/bare.err" && echo "status $RC" >>"$S/bare"
	cd / && world
	cd "$here" && fsh "$1"
	echo "status $RC" >>"$S/out"
	diff "$S/bare" "$S/out" >"$S/diff" || fail "$1: output differs: $(cat "$S/diff")"
	diff "$S/bare.err" "$S/err" >"$S/diff" || fail "$1: stderr differs: $(cat "$S/diff")"
}

world() { :; }

# --- a linked worktree (row 3) ------------------------------------------------------------------------

linked() {
	rm -rf ~/repo ~/wt
	repository ~/repo
	git -C ~/repo worktree add -q -b side ~/wt 2>/dev/null
}

t_linked_worktree_works() {
	world() { linked; }
	linked
	cd ~/wt
	same 'echo x >f && git commit -qam three &&
		echo y >g && git add g && git commit -qm four && git log --format=%s && git status -s
		git rebase -q --onto HEAD~2 HEAD~1 && git log --format=%s
		git branch other; git tag v1; echo z >>f; git stash -q && git stash pop -q && git diff --stat
		git checkout -q -b topic && git commit -qam five && git checkout -q side && git merge -q topic &&
			git reset -q --hard HEAD~1; git cherry-pick topic; git notes add -m n; git reflog | wc -l
		git gc -q 2>/dev/null && git fsck &&
			git repack -adq && git pack-refs --all 2>/dev/null && git for-each-ref --format="%(refname)"'
	same 'git bisect start -q HEAD HEAD~1; git bisect reset -q; git rebase -q -x true HEAD~1; git worktree list | wc -l
		git show-ref | wc -l; git fetch -q . HEAD:refs/heads/fetched; git log -1 --format=%s fetched'
	[ -z "$(find ~/repo -name '*.lock')" ] || fail "a lock is left: $(find ~/repo -name '*.lock')"
	[ -z "$(find ~/repo ~/wt -type f -size 0 ! -path '*.sample' ! -name '*.lock' | grep -v /logs/)" ] ||
		fail "a ghost: $(find ~/repo ~/wt -type f -size 0)"
}

# The repository but for what a worktree shares with it, and what another one has.
seen() {
	(cd ~/repo && find . ../wt3 \( -path ./.git/worktrees/wt \
		-o -path ./.git/objects -o -path ./.git/refs -o -path ./.git/logs \) -prune -o -printf '%p %y %m\n' | sort
		cksum .git/config .git/HEAD .git/hooks/* .git/worktrees/wt3/[A-Za-z]* .git/worktrees/wt3/logs/* f ../wt3/f \
			2>/dev/null)
}

t_linked_worktree_opens_nothing_else() {
	local own=$HOME/repo/.git/worktrees/wt before
	linked
	git -C ~/repo worktree add -q ~/wt3 2>/dev/null
	before=$(seen)
	cd ~/wt
	fsh 'R=~/repo/.git; for f in $R/config $R/HEAD $R/hooks/pre-commit \
		$R/description $R/info/attributes $R/worktrees/wt3/HEAD $R/worktrees/wt3/config.worktree $R/worktrees/new \
			$R/worktrees/wt/config.worktree $R/worktrees/wt/commondir $R/worktrees/wt/gitdir ~/repo/f ~/repo/new ~/wt3/f; do
			echo x >>$f; ln -sf /etc/passwd $f; rm -f $f; busybox rm -f $f; python3 -c "import os, sys
os.rename(\"f\", sys.argv[1])" $f; done
		git config core.hooksPath /tmp; git config extensions.worktreeConfig true
		git worktree add -q ../wt2; mv $R/worktrees/wt $R/worktrees/gone; mv $R/worktrees/wt $PWD/gone
		mv $R/hooks /tmp/hooks; rm -rf $R/hooks; mkdir $R/hooks; mv $R $R.moved; true'
	diff <(echo "$before") <(seen) >"$S/diff" || fail "the repository was changed: $(cat "$S/diff")"
	[ "$(cat "$own/commondir")" = ../.. ] &&
		[ "$(cat "$own/gitdir")" = "$HOME/wt/.git" ] || fail "the pointers were changed"
	missing "$own/config.worktree"
	missing ~/wt2
	git -C ~/repo worktree remove ~/wt3
	denied write "$HOME/repo/.git/config" \
		"$([ "$T_LEVEL" = hooks ] && echo "outside the workspace" || echo "the whole repository uses it")"
	denied write "$own/config.worktree" "built in"
	fsh 'git push -q ~/repo HEAD:main; git push -q ~/repo +HEAD:refs/heads/main; git branch -f main HEAD'
	[ "$(git -C ~/repo log -1 --format=%s main)" = two ] || fail "the trunk was moved"
}

# What git writes of branches goes into the configuration that all worktrees share.
t_linked_worktree_names_its_branches() {
	[ "$T_LEVEL" != hooks ] || skip "nobody looks there"
	world() { linked && git -C ~/repo remote add o ~/repo &&
		git -C ~/repo config branch.side.description mine && git -C ~/repo config branch.side.remote o; }
	world
	cd ~/wt
	same 'git branch -m renamed && git branch -M again &&
		git branch -c again copy && git branch -D copy && git branch a && git branch -m a b && git branch -u again b
		git config branch.b.merge refs/heads/x
		git checkout -q --track -b t again && git config -l --local; git status -sb; cat ~/repo/.git/config'
	[ "$(stat -c %a ~/repo/.git/config)" = "$(stat -c %a ~/repo/.git/HEAD)" ] || fail "another mode"
	missing ~/repo/.git/config.lock
	missing ~/repo/.git/config.pale
	fsh 'git branch -m main x; git branch -M main; git branch -M b main; git branch -m main'
	[ "$(git symbolic-ref HEAD)" = refs/heads/t ] &&
		[ "$(git log -1 --format=%s main)" = two ] || fail "the trunk was renamed"
}

t_linked_worktree_configures_no_more() {
	local before how
	linked
	if [ "$T_LEVEL" = hooks ]; then
		cd ~/wt
		fsh 'git branch -m side renamed'
		denied write "$HOME/repo/.git/config.lock" "outside the workspace"
		return
	fi
	git -C ~/repo remote add o ~/repo
	git -C ~/repo config branch.main.remote o
	cd ~/wt
	before=$(cd ~/repo/.git && stat -c '%n %f %h' . config hooks && cat config)
	for how in 'git config user.name x' 'git remote add p x' \
		'git config remote.o.url x' 'git remote remove o' 'git config branch.side.remote https://h/x' \
		'git config branch.side.pushRemote p' 'git config branch.main.remote .' \
		'git config --unset branch.main.remote' 'git config --rename-section branch.main branch.x' \
		'git config branch.side.mergeoptions "-s evil"' 'git config core.fsmonitor evil' \
		'git config branch.autoSetupRebase always' 'git config core.worktree $PWD' 'git config gpg.format ssh' \
		'chmod 666 $C' 'touch $C' 'rm $C' 'mv $C $C.lock' 'mv $C x' 'ln $C x && echo >>x' \
		'truncate -s 0 $C' 'cp $C x; cp x $C' 'echo >x; mv x $C' 'echo >x; ln -f x $C' 'ln -sf x $C' \
		'rm -f $C; mkdir $C' 'mkdir x; mv -T x $C' 'cp $C x; chmod 666 x; mv x $C; stat -c %a $C' \
		'echo x >$C.pale' 'busybox rm $C' 'busybox sh -c "echo x >>$C"' 'exec 9<$C; echo x >>/proc/self/fd/9' \
		'printf "\n[branch" >>x; mv x $C' \
		'python3 -c "import ctypes; ctypes.CDLL(None).renameat2(-100, b\"x\", -100, b\"$C\", 2)"' \
		'mkfifo x; mv x $C' 'setfattr -n user.x -v y $C'; do
		fsh "C=$HOME/repo/.git/config; cp \$C x; $how; rm -rf x \$C.lock"
		[ "$(cd ~/repo/.git && stat -c '%n %f %h' . config hooks && cat config)" = "$before" ] ||
			fail "$how: $(cat ~/repo/.git/config)"
	done
	[ -z "$(getfattr -d ~/repo/.git/config 2>/dev/null)" ] || fail "an attribute"
	fsh 'git config user.name x'
	denied rename "$HOME/repo/.git/config" "user.name belongs to the whole repository"
	# who opens the repository by a rule has the usual look, and who keeps it keeps it
	printf '[files]\nwrite = ~/repo\n' | policy
	fsh 'git config user.name x && git branch -m new'
	rc_is 0
	not_denied
	printf '[files]\nreadonly = ~/repo/.git/config\n' | policy
	fsh 'git branch -m newer'
	denied rename "$HOME/repo/.git/config" "policy.ini:2 [files] readonly"
}

# Pointers that an agent wrote, in this session or in one before, and pointers that do not agree.
t_linked_worktree_pointers_are_proven() {
	repository ~/victim
	repository ~/repo
	mkdir ~/forged
	try() {
		fsh 'echo x >~/victim/.git/refs/heads/new; echo x >~/victim/.git/objects/new; echo x >~/repo/.git/refs/heads/new'
		missing ~/victim/.git/refs/heads/new
		missing ~/victim/.git/objects/new
		missing ~/repo/.git/refs/heads/new
	}
	cd "$W"
	echo "gitdir: $HOME/victim/.git" >.git && try
	# An own directory in a writable place that claims the victim for its repository.
	mkdir -p "/tmp/$$.g/worktrees/w" && echo "$HOME/victim/.git" >"/tmp/$$.g/worktrees/w/commondir"
	echo "$W/.git" >"/tmp/$$.g/worktrees/w/gitdir" && cp ~/victim/.git/HEAD "/tmp/$$.g/worktrees/w/"
	echo "gitdir: /tmp/$$.g/worktrees/w" >.git && try
	ln -s ~/victim/.git "/tmp/$$.g/link" && echo "../../link" >"/tmp/$$.g/worktrees/w/commondir" && try
	rm -rf "/tmp/$$.g"
	# Another's worktree: its directory points back to somebody else.
	git -C ~/repo worktree add -q ~/wt 2>/dev/null
	cp ~/wt/.git .git && try
	rm .git && ln -s ~/victim/.git .git &&
		fsh 'echo x >~/victim/.git/refs/heads/new' && missing ~/victim/.git/refs/heads/new
	# Written during the session: what holds was settled before.
	rm .git
	fsh 'echo "gitdir: $HOME/repo/.git/worktrees/wt" >.git; echo x >~/repo/.git/refs/heads/new
		cd ~/wt; pale run -q -- bash -c "echo x >~/repo/.git/refs/heads/new"; echo x >~/repo/.git/refs/heads/new'
	missing ~/repo/.git/refs/heads/new
	# What is no repository, and one whose files say that it stays as it is.
	rm -f "$W/.git"
	cd ~/wt && mv ~/repo/.git/objects ~/repo/.git/o && try && mv ~/repo/.git/o ~/repo/.git/objects
	printf '[files]\nreadonly = ~/repo\n' | policy
	try
}

# Links in the place of what the next session may write, made by a session or come with a repository, open
# nothing; the operator's own, made where no session writes, do.
t_links_of_a_session_open_nothing() {
	local place
	mkdir -p ~/victim ~/stuff/build ~/own .husky ~/.npm
	printf '[files]\nwrite = ~/via/build\nwrite = /tmp/%s/deep/x\n' "${S##*/}" | policy
	ln -s ~/stuff ~/via
	ln -s ../../victim .husky/_
	linked
	fsh 'rmdir ~/.npm
		for link in ~/.npm ~/.pub-cache ~/.m2/repository ~/.codex/x; do mkdir -p ${link%/*}; ln -s ~/victim $link; done
		mkdir -p /tmp/'"${S##*/}"'; ln -s ~/victim /tmp/'"${S##*/}"'/deep; mkdir ~/victim/x; true'
	mkdir -p ~/victim/x
	(cd ~/repo && fsh 'rm -rf .git/logs .git/lfs; for name in rr-cache lfs logs; do ln -s ~/victim .git/$name; done')
	for place in "$W" ~/wt; do
		cd "$place"
		fence bash -c 'cd ~; for d in victim victim/x .npm .pub-cache .m2/repository work/.husky/_ repo/.git/rr-cache \
			repo/.git/lfs; do echo x >$d/new; busybox sh -c "echo x >$d/static"; done; echo x >stuff/build/mine'
		[ -z "$(find ~/victim -type f)" ] || fail "from $place: $(find ~/victim -type f)"
		file_is ~/stuff/build/mine x
		rm ~/stuff/build/mine
	done
	rm -r "/tmp/${S##*/}"
	run pale run -- true
	err_has "~/.npm\` does not open $HOME/victim: a session may have made the symbolic link that leads there"
	# What a rule closes it closes behind each link.
	cd "$W"
	ln -sfn ~/victim ~/.pub-cache && echo "$DECOY" >~/victim/key
	printf '[files]\ndeny = ~/.pub-cache\n' | policy
	fsh 'cat ~/victim/key; busybox cat ~/victim/key'
	no_decoy
}

t_worktrees_from_the_repository() {
	export T=/tmp/wt-${S##*/} T_PASS=T
	world() { rm -rf ~/repo $T && repository ~/repo; }
	world
	cd ~/repo
	same 'git worktree add -q in 2>&1 && git worktree add -q $T 2>&1
		(cd $T && echo n >n && git add n && git commit -qm n && git rebase -q main); git worktree list | wc -l
		git gc -q 2>/dev/null; git worktree remove in; git worktree remove $T; git worktree prune; ls .git/worktrees 2>&1'
	fsh 'git worktree add -q ~/outside'
	rc_not 0
	missing ~/outside
	rm -rf "$T"
	[ -z "$(find . -name '*.lock')" ] || fail "a lock is left"
}

t_submodule() {
	repository ~/lib
	git config --global protocol.file.allow always
	world() {
		rm -rf ~/repo
		repository ~/repo
		git -C ~/repo submodule --quiet add ~/lib sub
		git -C ~/repo commit -qm sub
	}
	world
	cd ~/repo
	same 'cd sub && git checkout -q -b t && echo n >n &&
		git add n && git commit -qm n && git log --format=%s && cd .. && git add sub && git commit -qm moved &&
		git submodule status | wc -l && git submodule update --quiet && git diff --stat HEAD~1'
	cd ~/repo/sub
	same 'git checkout -q -b t &&
		echo n >n && git add n && git commit -qm n && git log --format=%s && git gc -q 2>/dev/null && git status -s'
	fsh 'M=~/repo/.git/modules/sub; for f in $M/config $M/hooks/pre-commit $M/config.worktree $M/commondir \
		~/repo/.git/config ~/repo/.git/HEAD ~/repo/f; do echo "#" >>$f; done; mv $M/config $M/c; mv $M/hooks $M/h'
	! grep -rq '^#$' ~/repo/.git/modules/sub/config ~/repo/.git/config ~/repo/f || fail "written"
	missing ~/repo/.git/modules/sub/hooks/pre-commit
	exists ~/repo/.git/modules/sub/hooks
}

# --- .git that may not be written, that may not go (row 4), and ghosts (rows 5 and 7) ------------------

t_git_directory_readonly() {
	repository ~/repo
	printf '[files]\nreadonly = .git\n' | policy
	cd ~/repo
	fsh 'git status -s && git log --format=%s && git diff && echo x >f && git diff --stat
		git commit -qam no; rm -rf .git; mv .git g; ls .git | wc -l'
	out_has two
	out_has "1 file changed"
	[ "$(git log --format=%s | head -1)" = two ] || fail "committed"
	git fsck >/dev/null 2>&1 || fail "the repository is damaged"
}

t_git_directory_kept() {
	repository ~/repo
	printf '[files]\nkeep = .git\n' | policy
	cd ~/repo
	fsh 'mv .git g; mv .git /tmp/; python3 -c "import os; os.rename(\".git\", \"g\")"; busybox mv .git g; true'
	git fsck >/dev/null 2>&1 || fail "the repository went"
}

# Nothing comes to be for what a rule names, nor for what a session reads.
t_no_ghosts() {
	local before
	printf '[files]\ndeny = .env\ndeny = secrets\nreadonly = .bashrc\nreadonly = sub/dir/x\n' | policy
	fsh true
	before=$(picture "$HOME" | grep -v .local/state)
	fsh 'cat .env secrets/x .bashrc ~/.zshrc ~/.vimrc .mcp.json
		ls -la . >/dev/null; git status; echo y >.bashrc; mkdir secrets; true'
	[ "$before" = "$(picture "$HOME" | grep -v .local/state)" ] ||
		fail "$(diff <(echo "$before") <(picture "$HOME" | grep -v .local/state))"
}

t_denied_path_comes_and_goes() {
	printf '[files]\ndeny = secret\ndeny = gone\n' | policy
	mkdir gone
	echo "$DECOY" >gone/key
	mkfifo go went
	bg s bash -c 'echo ready >"$1"; read -r x <"$2"
		cat secret; cat gone/key; ls; echo x >new; cat new; git init -q r && echo made; true' - went go
	read -r _ <went
	echo "$DECOY" >secret
	rm -r gone
	echo go >go
	bg_wait s
	rc_is 0
	no_decoy
	out_has made
	file_is new x
	denied read "$W/secret"
	err_has "gone/key"
}

scenario "$@"
