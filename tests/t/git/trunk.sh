# levels: full strict
# limit: 180
# Protected branches: one that the session did not begin on stays, as a file; one that it began on may grow.
. "$T_LIB"

# A repository on branch $1 (topic), with main two commits behind; $2 packed: all refs are.
repo() {
	git init -q . && git add file && git commit -q -m one && git commit -q --allow-empty -m "one and a half"
	git checkout -q -b topic && git commit -q --allow-empty -m two
	[ "${2:-}" != packed ] || git pack-refs --all
	git checkout -q "${1:-topic}"
	MAIN=$(git rev-parse main)
	TOPIC=$(git rev-parse topic)
}

# The operator's own policy opens a branch of the preset, and the project's does not.
t_unprotected() {
	repo
	printf '[git]\nunprotect = main\n' | policy
	fsh 'git checkout -q main && git commit -q --allow-empty -m x && git branch -f topic && git reset -q --hard HEAD~2'
	rc_is 0
	not_denied
	[ "$(git rev-parse main)" != "$MAIN" ] || fail "main did not move"
	rm -rf .git
	printf '[git]\nunprotect = ma*\n' | policy
	run pale lint
	out_has 'the preset has no `protect = ma*`'
	printf '' | policy
	repo
	fence git checkout -q main
	run pale explain exec git checkout main
	out_has "set [git] unprotect = main in your own policy.ini"
	mkdir -p .pale && printf '[git]\nunprotect = main\n' >.pale/policy.ini
	fsh 'git checkout -q main'
	rc_not 0
	err_has 'stands in the user'
	main_stays "by the project's policy"
}

# What says no branch by its words: nothing of it reaches main, and the rest runs.
t_words_that_name_no_branch() {
	repo
	fsh 'set -e; echo "create refs/heads/new HEAD" | git update-ref --stdin
		printf "reset refs/heads/fast\nfrom %s\n\n" $(git rev-parse HEAD) | git fast-import --quiet
		git commit -q --allow-empty -m x; git reflog delete --updateref new@{0}; git checkout -q new; git checkout -q -
		git branch -q -u new; git branch -q -D "@{-1}"; git rev-parse -q --verify fast'
	rc_is 0
	not_denied
	fsh 'echo "update refs/heads/main $(git rev-parse HEAD)" | git update-ref --stdin
		printf "reset refs/heads/main\nfrom %s\n\n" $(git rev-parse HEAD) | git fast-import --force --quiet
		git reflog delete --updateref --rewrite main@{0}; git reflog expire --updateref --expire=now --all; true'
	main_stays "by words that name no branch"
}

# For whoever looks at the branch, by its name in full.
main_stays() {
	[ "$(git rev-parse refs/heads/main)" = "$MAIN" ] || fail "main moved: $1"
	git log -1 refs/heads/main >/dev/null 2>&1 || fail "the repository is broken: $1"
}

# What every way to a ref comes down to, for a branch that is not checked out; $R has the refs, $O HEAD.
WAYS=('echo $T >$R/refs/heads/main'
	'echo $T >$O/x; mv $O/x $R/refs/heads/main' 'rm -f $R/refs/heads/main; echo $T >$R/refs/heads/main'
	'mv $R/refs/heads/main $O/x; mv $O/x $R/refs/heads/other; echo $T >$R/refs/heads/main'
	'ln -sf topic $R/refs/heads/main'
	'ln -f $R/refs/heads/topic $R/refs/heads/main' 'ln $R/refs/heads/main $O/y && echo $T >$O/y'
	'cp -r $R/refs/heads $R/h; echo $T >$R/h/main; mv $R/refs/heads $R/old; mv $R/h $R/refs/heads'
	'cp -r $R/refs $R/r; echo $T >$R/r/heads/main; mv $R/refs $R/old; mv $R/r $R/refs'
	'echo "$T refs/heads/main" >$R/packed-refs; rm -f $R/refs/heads/main'
	'echo "$T refs/heads/main" >$O/x; mv $O/x $R/packed-refs; rm -f $R/refs/heads/main'
	'rm -f $R/packed-refs $R/refs/heads/main' 'truncate -s 0 $R/refs/heads/main' 'exec 9>>$R/refs/heads/main; echo $T >&9'
	'echo "ref: refs/heads/main" >$O/HEAD; git commit -q --allow-empty -m x'
	'echo "ref: refs/heads/main" >$O/x; mv $O/x $O/HEAD; git reset -q --hard topic'
	'echo "ref: refs/heads/main" >$R/refs/heads/al
		git checkout -q al; git commit -q --allow-empty -m x; git update-ref refs/heads/al topic'
	'git clone -q -b topic . e; git -C e branch -f main topic
		echo $PWD/e/.git >$O/commondir; echo $PWD/e/.git >$O/x; mv $O/x $O/commondir'
	'git -c alias.b=branch b -f main topic; git -c alias.b=branch b -D main; git -c alias.b=branch b -M topic main'
	'git -c alias.u=update-ref u refs/heads/main topic; echo "update refs/heads/main $T" |
		git -c alias.u=update-ref u --stdin; git -c alias.u=update-ref u -d refs/heads/main'
	'git -c alias.f=fetch f -q . +topic:main; git -c alias.p=push p -q . +topic:main'
	'git -c alias.w=worktree w add -q w main && git -C w commit -q --allow-empty -m x'
	'python3 -c "import ctypes, os; r = os.environ[\"R\"].encode(); open(\"y\", \"w\").write(os.environ[\"T\"])
ctypes.CDLL(None).renameat2(-100, b\"y\", -100, r + b\"/refs/heads/main\", 2)"'
	'mkdir -p d; echo $T >d/main; rm -rf $R/refs/heads; mv -T d $R/refs/heads; ln -s $PWD/d $R/refs/heads'
	'B="busybox"; echo $T >y; $B mv y $R/refs/heads/main
		$B cp y $R/refs/heads/main; $B rm -f $R/refs/heads/main; $B ln -sf topic $R/refs/heads/main
		$B sh -c "echo $T >$R/refs/heads/main"; $B truncate -s 0 $R/refs/heads/main; $B mv $R/refs/heads $R/refs/h')

# Each way, tried on what was there before.
by_each() {
	local how
	rm -rf "$S/kept" && cp -a "$R" "$S/kept"
	for how in "${WAYS[@]}"; do
		fsh "export R=$R O=$O T=$TOPIC; $how; true"
		git symbolic-ref HEAD refs/heads/topic
		main_stays "$how"
		rm -rf e d w x y "$R/old" "$R/h" "$R/r" "$R/refs/h" "$R/refs/heads/other" "$R/refs/heads/al" "$R/packed-refs"
		[ ! -e "$S/kept/packed-refs" ] || cp -p "$S/kept/packed-refs" "$R/packed-refs"
		git worktree prune
		git update-ref refs/heads/topic "$TOPIC"
	done
}

t_by_file() {
	repo topic
	R=$W/.git O=$W/.git by_each
	fsh 'echo x >.git/refs/heads/main'
	denied write "$W/.git/refs/heads/main" "a protected branch stays where it is"
}

t_by_file_packed() {
	repo topic packed
	R=$W/.git O=$W/.git by_each
}

work='set -e; git commit -q --allow-empty -m three
	git checkout -q -b next; git checkout -q -; git branch a; git reset -q --hard HEAD~1; git tag v'

# Two branches beside the workspace.
beside() {
	git init -q ~/repo && cd ~/repo && echo one >f && git add f && git commit -q -m one &&
		git checkout -q -b topic && git commit -q --allow-empty -m two && git checkout -q "$1"
}

t_linked_worktree() {
	beside main
	git worktree add -q ~/wt topic 2>/dev/null
	cd ~/wt
	R=$HOME/repo/.git O=$HOME/repo/.git/worktrees/wt MAIN=$(git rev-parse main) TOPIC=$(git rev-parse topic)
	# the operator's own HEAD is main, and gives no right to it here
	by_each
	fsh "echo x >$R/refs/heads/main"
	denied write "$R/refs/heads/main" "a protected branch stays where it is"
	fsh 'rm .git; echo "gitdir: x" >.git; mv .git y'
	denied delete ~/wt/.git
	exists .git
	fsh "$work"
	rc_is 0
	main_stays work
	# git tries to remove the directory of all worktrees, which has this one
	fsh 'git gc -q; git worktree prune; rmdir ~/elsewhere'
	err_lacks worktrees
	err_has 'Directory not empty'
}

# A linked worktree that is made by hand, or led elsewhere by hand: a commit in it would move the branch.
t_linked_by_hand() {
	repo topic
	git worktree add -q -b feature ../wt0 || fail "no worktree"
	fsh 'mkdir -p .git/worktrees/w w; echo ../.. >.git/worktrees/w/commondir
		echo $PWD/w/.git >.git/worktrees/w/gitdir; echo "gitdir: $PWD/.git/worktrees/w" >w/.git
		echo "ref: refs/heads/main" >.git/worktrees/w/HEAD
		for to in w wt0; do echo "ref: refs/heads/main" >x; mv x .git/worktrees/$to/HEAD; done
		busybox sh -c "echo ref: refs/heads/main >.git/worktrees/w/HEAD"
		ln -s refs/heads/main y; mv -T y .git/worktrees/w/HEAD
		git worktree add -q -b other w2 && git -C w2 checkout -q -b third && git -C w2 commit -q --allow-empty -m x; true'
	! grep -rs refs/heads/main .git/worktrees || fail "a worktree names it: $(grep -r refs/heads/main .git/worktrees)"
	[ "$(git -C w2 branch --show-current)" = third ] || fail "a worktree inside"
}

# A clone without a protected branch: a file for a remote would let the next push move one outside.
t_remotes_as_files() {
	git init -q -b main "$S/up" && git -C "$S/up" commit -q --allow-empty -m one && git -C "$S/up" branch topic
	git clone -q -b topic --single-branch "file://$S/up" "$S/down" && mv "$S/down/.git" . || fail "no clone"
	fsh 'mkdir .git/remotes .git/branches; printf "URL: x\nPush: refs/heads/topic:refs/heads/main\n" >.git/remotes/b1
		echo x >.git/branches/b2; echo y >f; busybox cp f .git/remotes/b3; mv f .git/branches/b4; true'
	[ -z "$(find .git/remotes .git/branches -type f 2>/dev/null)" ] || fail "a remote is a file"
	denied mkdir "$W/.git/remotes"
}

t_submodule() {
	beside main
	git checkout -q topic
	cd "$W" && git init -q . && git -c protocol.file.allow=always submodule --quiet add ~/repo sub && cd sub
	git branch -q main origin/main
	R=$(git rev-parse --absolute-git-dir) MAIN=$(git rev-parse main) TOPIC=$(git rev-parse topic)
	O=$R by_each
	fsh "$work"
	rc_is 0
	main_stays work
}

# The layout of a bare repository with its worktrees beside it, the workspace being what holds both.
t_a_bare_repository_inside() {
	beside topic
	git clone -q --bare ~/repo "$W/.bare"
	cd "$W" && echo "gitdir: ./.bare" >.git && rm file
	R=$W/.bare MAIN=$(git rev-parse main) TOPIC=$(git rev-parse topic)
	O=$R by_each
	fsh 'echo "gitdir: x" >.git; rm -f .git'
	file_is .git "gitdir: ./.bare"
}

# Names of branches that mean something else elsewhere, and one that lies deeper.
t_a_branch_by_any_name() {
	local b
	printf '[git]\nprotect = config\nprotect = hooks/x\nprotect = release/*\n' | policy
	git init -q . && git add file &&
		git commit -q -m one && for b in config hooks/x release/1/2 release/2 other; do git branch $b; done
	git checkout -q -b topic && git commit -q --allow-empty -m two && git pack-refs --all
	MAIN=$(git rev-parse config)
	fsh 'for b in config hooks/x release/2 release/1/2; do
			git rev-parse topic >.git/refs/heads/$b
			git rev-parse topic >.git/y; mv .git/y .git/refs/heads/$b; rm -rf .git/refs/heads/$b
		done
		git commit -q --allow-empty -m x; git branch -f other topic; git branch new'
	for b in config hooks/x release/1/2 release/2; do
		[ "$(git rev-parse "refs/heads/$b")" = "$MAIN" ] || fail "$b moved"
	done
	[ "$(git rev-parse other)" != "$MAIN" ] &&
		git rev-parse -q --verify new >/dev/null || fail "an unprotected one did not move"
	# one that is not there yet may come to be
	fsh 'git update-ref refs/heads/release/3 topic
		echo $(git rev-parse topic) >.git/refs/heads/release/4; git rev-parse release/4'
	rc_is 0
}

t_ordinary_work_on_a_topic() {
	repo topic packed
	fsh 'set -e; git commit -q --allow-empty -m three
		git checkout -q -b next; git branch -D topic >/dev/null; git checkout -q -b topic
		git rebase -q main; git branch a
		git branch -m a b; git tag v; git merge -q next; git stash list; git fetch -q . topic:fetched
		git branch x/y; git branch -d x/y >/dev/null
		git branch x >/dev/null; echo x >>file; git stash -q; git stash pop -q; git checkout -q file
		git checkout -q --detach main; git checkout -q topic
		git clone -q --no-hardlinks . c; git -C c commit -q --allow-empty -m c; rm -rf c
		git worktree add -q w b; git -C w commit -q --allow-empty -m w
		git worktree remove w; git cherry-pick --allow-empty next; echo x >>file; git commit -q -a -m x
		git revert --no-edit HEAD >/dev/null; git reset -q --hard main; git checkout -q -b back; git switch -q -'
	rc_is 0
	not_denied
	main_stays work
	# git says that it could not take the file away, and goes on
	fsh 'set -e; git gc -q; git pack-refs --all; git pack-refs --all --prune; git rev-parse main'
	rc_is 0
	out_has "$MAIN"
	exists .git/refs/heads/main
	# and the operator's own git goes on from there
	git pack-refs --all && git branch -f main topic &&
		git gc -q && git branch -D main >/dev/null || fail "the operator cannot"
}

# --- the branch that the session begins on -----------------------------------------------------------------

# The commit that stood is still in main's past.
main_grows() {
	git merge-base --is-ancestor "$MAIN" refs/heads/main || fail "main lost a commit: $1"
}

t_began_on() {
	local how
	repo main "${1:-}"
	# What cannot be shown would be asked: here it is denied at once.
	OPTS=(-n)
	OLD=$(git rev-parse main~1) OTHER=$(git commit-tree -m other "$(git rev-parse main^{tree})")
	rm -rf "$S/kept" && cp -a .git "$S/kept"
	for how in 'git reset -q --hard HEAD~1' 'git commit -q --amend --allow-empty -m x' \
		'git rebase -q --root --force-rebase' 'git reset -q --soft $OTHER' \
		'echo x >.git/refs/heads/main' 'echo $OLD >.git/refs/heads/main' \
		'echo $OLD >x; mv x .git/refs/heads/main' 'echo $OTHER >x; ln -f x .git/refs/heads/main' \
		'ln -sf topic .git/refs/heads/main' 'chmod 0 .git/refs/heads/main; busybox chmod 0 .git/refs/heads/main' \
		'rm .git/refs/heads/main; echo $OLD >.git/refs/heads/main' 'mv .git/refs/heads/main x' \
		'git -c alias.u=update-ref u refs/heads/main $OLD
			git update-ref HEAD $OLD; git -c alias.u=update-ref u -d refs/heads/main; git update-ref -d HEAD' \
		'git checkout -q topic; git -c alias.b=branch b -f main $OLD
			git -c alias.b=branch b -D main; git -c alias.b=branch b -M topic main' \
		'echo "ref: refs/heads/topic" >x; mv x .git/refs/heads/main' \
		'echo "ref: refs/heads/x" >x
			mv x .git/HEAD; echo $OTHER >.git/refs/heads/x; git checkout -q main; git reset -q --hard $OTHER' \
		'echo "$OLD refs/heads/main" >.git/packed-refs; rm -f .git/refs/heads/main' \
		'mv .git/refs/heads .git/h; mkdir .git/refs/heads; echo $OLD >.git/refs/heads/main' 'mv .git .g; cp -r .g .git' \
		'FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter "echo x" main' \
		'printf "reset refs/heads/main\nfrom $OLD\n" | git -c alias.i=fast-import i --force --quiet' \
		'git -c alias.f=fetch f -q -u . +$OLD:main' \
		'git checkout -q --orphan o; git commit -q -m o; git -c alias.c=checkout c -q -B main' \
		'git symbolic-ref refs/heads/al refs/heads/main; git checkout -q al; git reset -q --hard $OLD' \
		'git replace --graft $OTHER $MAIN; echo $OTHER >x; mv x .git/refs/heads/main' \
		'git replace $OTHER $MAIN; git reset -q --hard $OTHER' \
		'mkdir -p .git/info; echo "$OTHER $MAIN" >.git/info/grafts; git reset -q --hard $OTHER' \
		'printf "%040d\n" 0 >x; mv x .git/refs/heads/main
			printf "%064d\n" 0 >x; mv x .git/refs/heads/main; sed -i s/./0/g .git/refs/heads/main' \
		'printf "$OLD" >x; mv x .git/refs/heads/main' 'printf "$MAIN $OLD\n" >x; mv x .git/refs/heads/main' \
		'mkfifo x; (echo $MAIN >x &); mv x .git/refs/heads/main' \
		'printf "$MAIN\n" >x; exec 9<>x; mv x .git/refs/heads/main; echo $OLD >&9' \
		'truncate -s 0 .git/refs/heads/main; exec 9<>.git/refs/heads/main; echo $OLD >&9' \
		'git worktree add -q -f w main && git -C w reset -q --hard HEAD~1' \
		'cp -r .git evil; echo $OLD >evil/refs/heads/main; echo ../evil >.git/commondir' \
		'python3 -c "import ctypes
ctypes.CDLL(None).renameat2(-100, b\".git/refs/heads/topic\", -100, b\".git/refs/heads/main\", 2)"' \
		'echo $OLD >y; busybox mv y .git/refs/heads/main
			busybox rm -f .git/refs/heads/main; busybox sh -c "echo $OLD >.git/refs/heads/main"
			busybox cp -f y .git/refs/heads/main; busybox ln -sf topic .git/refs/heads/main' \
		'python3 -c "
import os, zlib
n = \"1\" * 40
os.makedirs(\".git/objects/11\", exist_ok=True)
t = b\"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\\nparent %s\\n\" % os.environ[\"MAIN\"].encode()
t += b\"author a <a> 0 +0000\\ncommitter a <a> 0 +0000\\n\\nx\\n\"
open(\".git/objects/11/\" + n[2:], \"wb\").write(zlib.compress(b\"commit %d\\0\" % len(t) + t))"
	echo 1111111111111111111111111111111111111111 >x; mv x .git/refs/heads/main'; do
		fsh "export OLD=$OLD OTHER=$OTHER MAIN=$MAIN; $how; true"
		main_grows "$how"
		rm -rf .git x y w evil .g && cp -a "$S/kept" .git && git reset -q --hard main
	done
	fsh 'git reset -q --hard HEAD~1'
	denied rename "$W/.git/refs/heads/main" "main would lose commits that it had when the session began"
	git reset -q --hard
	fsh 'rm -f .git/refs/heads/main'
	denied delete "$W/.git/refs/heads/main" "may grow"
}

t_began_on_packed() {
	t_began_on packed
}

t_began_on_a_linked_worktree() {
	beside topic
	git worktree add -q ~/wt main 2>/dev/null
	cd ~/wt
	git commit -q --allow-empty -m more
	MAIN=$(git rev-parse main)
	fsh 'set -e; git commit -q --allow-empty -m three
		git commit -q --amend --allow-empty -m four; git reset -q --hard HEAD~1; git merge -q --no-edit topic'
	rc_is 0
	not_denied
	for how in 'git reset -q --hard HEAD~1' \
		'git commit -q --amend --allow-empty -m x' "git rev-parse topic >x; mv x ~/repo/.git/refs/heads/main"; do
		git reset -q --hard "$MAIN"
		fsh "$how"
		main_grows "$how"
		denied rename ~/repo/.git/refs/heads/main "would lose commits"
	done
}

# Growth of every kind, and the way back to what stood; the end says where it stood.
t_ordinary_work_on_main() {
	repo main packed
	git clone -q --bare . ~/o.git && git remote add origin ~/o.git && git fetch -q && git branch -q -u origin/main
	git clone -q ~/o.git ~/other 2>/dev/null &&
		git -C ~/other commit -q --allow-empty -m theirs && git -C ~/other push -q origin HEAD:main
	run pale run -- bash -c 'set -e; git pull -q --ff-only; git commit -q --allow-empty -m three
		git commit -q --amend --allow-empty -m four; git merge -q --no-edit topic
		git checkout -q -b work; git switch -q -; git checkout -q work
		git commit -q --allow-empty -m w; git checkout -q main; git merge -q --ff-only work; git branch -q -d work
		echo x >>file; git stash -q; git stash pop -q; git commit -q -a -m x; git revert --no-edit HEAD >/dev/null
		git reset -q --hard HEAD~1; git cherry-pick --allow-empty topic >/dev/null
		git checkout -q -b feature HEAD~1; git commit -q --allow-empty -m f; git rebase -q main
		git checkout -q main; git worktree add -q w feature; git worktree remove w; git tag v; git fetch -q
		git bisect start -q HEAD HEAD~2 >/dev/null; git bisect reset 2>/dev/null
		git clone -q . c; rm -rf c; GIT_SEQUENCE_EDITOR=true git rebase -q -i --exec true HEAD~1 2>/dev/null
		git checkout -q --detach; git checkout -q main'
	rc_is 0
	not_denied
	main_grows work
	[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "HEAD"
	err_has "pale: protected branch main was at \
${MAIN:0:12} and is now at $(git rev-parse main | cut -c1-12); to go back: git update-ref refs/heads/main $MAIN"
	run pale run -- git gc -q
	rc_is 0
	run pale run -- git reset -q --hard "$MAIN"
	denied rename "$W/.git/refs/heads/main"
	fsh 'git commit -q --allow-empty -m y
		git reset -q --hard HEAD~1; git rebase --root --force-rebase; git rebase --abort; git status'
	[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "the rebase was not taken back"
	run pale run -- true
	err_lacks "protected branch main was at"
}

# What cannot be shown is asked, and a yes puts in place what was asked about.
t_asked() {
	local id
	repo main
	OTHER=$(git cat-file commit main | sed 's/^author/parent 1111111111111111111111111111111111111111\n&/' |
		git hash-object -w --literally -t commit --stdin)
	bg moved bash -c "echo $OTHER >x; mv x .git/refs/heads/main"
	id=$(pending_id) || exit 1
	run pale approve "$id"
	bg_wait moved
	rc_is 0
	file_is .git/refs/heads/main "$OTHER"
	git update-ref refs/heads/main "$MAIN"
	OPTS=(-n)
	fsh "echo $OTHER >x; mv x .git/refs/heads/main"
	denied rename "$W/.git/refs/heads/main" "may not contain every commit"
	file_is .git/refs/heads/main "$MAIN"
}

# A commit whose head is not of the form that git writes: git sees no parent in it, or cannot read it.
t_commits_of_another_form() {
	local head tree
	repo main
	OPTS=(-n)
	tree=$(git rev-parse 'main^{tree}')
	for head in 'tree %s\nparent %s' \
		'tree %s\nparent %s x\nauthor a <a> 0 +0000\n' 'tree %s\r\nparent %s\r\nauthor a <a> 0 +0000\n' \
		'tree %s\nparent %s\n' 'tree %s\nparent %s\r\nauthor a <a> 0 +0000\n' 'tree %s\n\nparent %s\nauthor a <a> 0 +0000\n' \
		'tree %s \nparent %s\nauthor a <a> 0 +0000\n' 'tree %s\nPARENT %s\nauthor a <a> 0 +0000\n' \
		'tree %s\nparent 0000000000000000000000000000000000000000 \nparent %s\nauthor a <a> 0 +0000\n' \
		'tree x\ntree %s\nparent %s\nauthor a <a> 0 +0000\n' 'tree %s\nauthor a <a> 0 +0000\nparent %s\n'; do
		fsh 'H=$(printf "$1" "$2" "$3" | git hash-object -t commit -w --literally --stdin) && echo "made $H"
			git commit-tree -p $H -m x "$2" >x || echo $H >x; mv x .git/refs/heads/main' sh "$head" "$tree" "$MAIN"
		out_has made
		file_is .git/refs/heads/main "$MAIN"
		denied rename "$W/.git/refs/heads/main"
	done
}

# A yes is for the commit that was shown.
t_asked_for_each_commit() {
	local id i
	repo main
	for i in 1 2; do
		git cat-file commit main | sed "s/^author/parent ${i}111111111111111111111111111111111111111\n&/" |
			git hash-object -w --literally -t commit --stdin >x$i
	done
	cp x1 y1
	bg moved bash -c 'mv x1 .git/refs/heads/main & sleep 1; mv x2 .git/refs/heads/main; echo "second $?"; wait'
	id=$(pending_id) || exit 1
	until_true 10 bash -c '[ "$(pale pending | grep -c "may not contain every commit")" = 2 ]' ||
		fail "the two are not shown: $(pale pending)"
	pale pending | grep -q "commit $(cat y1) may not contain every commit that main had" || fail "the commit is not shown"
	run pale approve "$id" --session --yes
	rc_not 0
	run pale approve "$id"
	rc_is 0
	until_true 10 cmp -s y1 .git/refs/heads/main || fail "the first is not in place"
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait moved
	out_has "second 1"
	file_is .git/refs/heads/main "$(cat y1)"
}

# Where git keeps no branch as a file nothing is promised, and nothing is broken.
t_reftable() {
	git init -q --ref-format=reftable . 2>/dev/null || skip "this git knows no reftable"
	git add file && git commit -q -m one && git checkout -q -b topic
	fsh 'git commit -q --allow-empty -m two'
	rc_is 0
	not_denied
}

# A name in the repository does not say that: an earlier session may have made it.
t_no_reftable() {
	local make
	for make in 'mkdir .git/reftable' 'ln -s ../refs .git/reftable'; do
		rm -rf .git
		repo topic
		fsh "$make"
		fsh "git rev-parse topic >.git/refs/heads/main; rm -f .git/refs/heads/main; mv .git/refs/heads .git/refs/h"
		main_stays "$make"
	done
}

# The start: what stands in its way is said, and nothing is followed.
t_the_start() {
	repo topic packed
	run pale run -q -- true
	rc_is 0
	file_is .git/refs/heads/main "$MAIN"
	rm .git/refs/heads/main && touch .git/refs/heads/main.lock
	run pale run -q -- true
	rc_is 125
	err_has "cannot protect branch main"
	missing .git/refs/heads/main
	rm .git/refs/heads/main.lock
	# an earlier session's links
	rm -r .git/refs/heads && mkdir ~/aside && ln -s ~/aside .git/refs/heads
	run pale run -q -- true
	[ -z "$(ls -A ~/aside)" ] || fail "a link was followed"
	rm .git/refs/heads && mkdir .git/refs/heads
	printf '%s refs/heads/../../../x\n%s refs/heads/main/../y\n' "$MAIN" "$MAIN" >>.git/packed-refs
	printf '[git]\nprotect = **\n' | policy
	run pale run -q -- true
	missing x
	missing .git/refs/heads/y
	# many at a time, beside a git that moves one
	rm -rf .git && git init -q . && git commit -q --allow-empty -m one
	for i in $(seq 40); do git branch b$i; done
	git pack-refs --all && rm -rf .git/refs/heads/*
	for i in $(seq 20); do
		git commit-tree -m "$i" 'HEAD^{tree}' | xargs git update-ref refs/heads/b7 || echo lost
	done >"$S/moved" 2>&1 &
	run pale run -q -- true
	rc_is 0
	wait
	[ ! -s "$S/moved" ] || fail "git was in the way: $(cat "$S/moved")"
	[ "$(ls .git/refs/heads | wc -l)" = 41 ] || fail "not all are files"
}

# By the words, which is the first ring.
t_by_words() {
	repo
	fsh "git checkout main; git branch -f main topic
		git update-ref refs/heads/main topic; git fetch . topic:main; git symbolic-ref HEAD refs/heads/main; true"
	main_stays words
	[ "$(git symbolic-ref HEAD)" = refs/heads/topic ] || fail "HEAD is not topic"
	denied exec "git checkout main" "[git] protect = main"
	# the branch that the session begins on may be gone back to, and no other
	git branch -q master main && git checkout -q main
	fsh 'git checkout -q topic; git checkout master; git checkout -q main'
	denied exec "git checkout master" "[git] protect = master"
	[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "no way back to main"
}

# HEAD's branch is renamed by its one new name: what HEAD is must be known, and no push is.
t_names_of_branches() {
	repo topic
	git worktree add -q ~/w -b side 2>/dev/null
	fsh 'set -e; git branch -m a; git branch -M b
		mkdir sub; cd sub; git branch -m topic; XDG_CONFIG_HOME=$PWD git branch -m a; git branch -m topic'
	rc_is 0
	not_denied
	git checkout -q main && TOPIC=$(git rev-parse topic)
	# what git passes by tells nothing of the branch it works on
	fsh 'git branch -m x; mkdir -p s/.git t b; echo "ref: refs/heads/topic" | tee s/.git/HEAD t/HEAD >b/HEAD
		(cd s; git branch -m x); (cd sub; GIT_DIR=../.git git branch -m x)
		mkdir b/objects b/refs; echo "gitdir: ../nowhere" >t/.git
		(cd t; git branch -m x); (cd b; GIT_COMMON_DIR=$PWD/../.git git branch -m x); true'
	[ "$(git rev-parse main)" = "$MAIN" ] && [ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "main was renamed"
}

t_a_new_repository() {
	fsh 'set -e; git init -q .; git add file; git commit -q -m one; git checkout -q -b topic; git gc -q'
	rc_is 0
	not_denied
}

scenario "$@"
