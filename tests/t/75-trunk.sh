# levels: full strict
# limit: 120
# Protected branches as the files that they are: what no word of a command says is stopped at the file.
. "$T_LIB"

# A repository on branch $1 (topic), with main two commits behind and one of them packed.
repo() {
	git init -q . && git add file && git commit -q -m one
	[ "${2:-}" != packed ] || git pack-refs --all
	git checkout -q -b topic && git commit -q --allow-empty -m two
	git checkout -q "${1:-topic}"
	MAIN=$(git rev-parse main)
	TOPIC=$(git rev-parse topic)
}

main_stays() {
	[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved: $1"
	[ "$(git symbolic-ref HEAD)" = refs/heads/topic ] || fail "HEAD is not topic: $1"
	git fsck >/dev/null 2>&1 || fail "the repository is broken: $1"
}

by_file() {
	local how
	repo topic "$1"
	for how in 'echo $T >.git/refs/heads/main' 'echo $T >.git/x; mv .git/x .git/refs/heads/main' \
		'rm -f .git/refs/heads/main; echo $T >.git/refs/heads/main' \
		'mv .git/refs/heads/main .git/x; mv .git/x .git/refs/heads/other; echo $T >.git/refs/heads/main' \
		'ln -sf topic .git/refs/heads/main' 'ln -f .git/refs/heads/topic .git/refs/heads/main' \
		'cp -r .git/refs/heads .git/h; echo $T >.git/h/main; mv .git/refs/heads .git/old; mv .git/h .git/refs/heads' \
		'cp -r .git/refs .git/r; echo $T >.git/r/heads/main; mv .git/refs .git/old; mv .git/r .git/refs' \
		'echo "$T refs/heads/main" >.git/packed-refs; rm -f .git/refs/heads/main' \
		'echo "$T refs/heads/main" >x; mv x .git/packed-refs; rm -f .git/refs/heads/main' \
		'rm -f .git/packed-refs .git/refs/heads/main; echo $T >.git/refs/heads/main' \
		'echo "ref: refs/heads/main" >.git/HEAD' 'echo "ref: refs/heads/main" >x; mv x .git/HEAD' \
		'rm .git/HEAD; echo "ref: refs/heads/main" >x; mv x .git/HEAD; echo "ref: refs/heads/topic" >.git/HEAD' \
		'printf "ref:\trefs/heads/main\n" >x; mv x .git/HEAD' 'echo "ref:refs/heads/main" >x; mv x .git/HEAD' \
		'git clone -q -b topic . evil; git -C evil branch -f main topic; echo ../evil/.git >.git/commondir' \
		'git clone -q -b topic . evil; git -C evil update-ref refs/heads/main topic; echo ../evil/.git >c; mv c .git/commondir' \
		'mv .git .gone; git clone -q -b topic .gone evil; cp -r evil/.git .git; echo $T >.git/refs/heads/main' \
		'mv .git .gone; echo $T >.gone/refs/heads/main; mv .gone .git' \
		'printf "ref:\nrefs/heads/main\n" >x; mv x .git/HEAD' 'mv .git/objects store' \
		'sorted; printf "$M refs/heads/main\n$T refs/heads/main\n$T refs/heads/topic\n" >>x; mv x .git/packed-refs; rm -f .git/refs/heads/main' \
		'sorted; printf "$T refs/heads/topic\n$M refs/heads/main\n" >>x; mv x .git/packed-refs; rm -f .git/refs/heads/main' \
		'sorted; printf "$M refs/heads/main" >>x; mv x .git/packed-refs; rm -f .git/refs/heads/main' \
		'ln -sf refs/heads/main .git/HEAD' 'truncate -s 0 .git/refs/heads/main' \
		'exec 9>>.git/refs/heads/main; echo $T >&9'; do
		fsh "T=$TOPIC M=$MAIN; sorted() { echo '# pack-refs with: peeled fully-peeled sorted ' >x; }; $how; true"
		rm -rf evil
		[ -e .git/HEAD ] || echo "ref: refs/heads/topic" >.git/HEAD
		main_stays "$how"
	done
	denied write "$W/.git/refs/heads/main" "main is a protected branch and is not checked out"
}

t_by_file() {
	by_file loose
}

t_by_file_packed() {
	by_file packed
}

# Each way in the list, tried on a repository whose branches lie in $R and whose HEAD in $O.
by_store() {
	local how
	MAIN=$(git rev-parse main) TOPIC=$(git rev-parse topic)
	for how in 'echo $T >$R/refs/heads/main' 'echo $T >$R/refs/x; mv $R/refs/x $R/refs/heads/main' \
		'rm -f $R/refs/heads/main; echo $T >$R/refs/heads/main' 'ln -sf topic $R/refs/heads/main' \
		'mv $R/refs/heads $R/refs/h; mkdir $R/refs/heads; echo $T >$R/refs/heads/main' \
		'echo "$T refs/heads/main" >$R/packed-refs; rm -f $R/refs/heads/main' \
		'echo "$T refs/heads/main" >$O/x; mv $O/x $R/packed-refs; rm -f $R/refs/heads/main' \
		'echo "ref: refs/heads/main" >$O/HEAD' 'echo "ref: refs/heads/main" >$O/x; mv $O/x $O/HEAD' \
		'rm $O/HEAD; echo "ref: refs/heads/main" >$O/x; mv $O/x $O/HEAD; echo "ref: refs/heads/topic" >$O/HEAD' \
		'git clone -q -b topic . e; git -C e update-ref refs/heads/main $T; echo $PWD/e/.git >$O/commondir; echo $PWD/e/.git >$O/x; mv $O/x $O/commondir' \
		'git clone -q -b topic . e; echo "gitdir: e/.git" >.git; echo "gitdir: e/.git" >e/x; mv e/x .git; ln -sf e/.git .git; rm .git; echo "gitdir: e/.git" >.git'; do
		fsh "T=$TOPIC R=$R O=$O; $how; true"
		rm -rf e
		[ -e "$O/HEAD" ] || echo "ref: refs/heads/topic" >"$O/HEAD"
		main_stays "$how"
	done
	fsh 'set -e; git commit -q --allow-empty -m three; git checkout -q -b next; git checkout -q topic; git rebase -q main; git pack-refs --all; git gc -q
git branch a; git reset -q --hard HEAD~1; git tag v'
	rc_is 0
	main_stays "ordinary work"
}

# A repository of two branches beside the workspace.
beside() {
	git init -q ~/repo && cd ~/repo && echo one >f && git add f && git commit -q -m one &&
		git checkout -q -b topic && git commit -q --allow-empty -m two && git checkout -q "$1"
}

t_linked_worktree() {
	beside main
	git worktree add -q ~/wt topic 2>/dev/null
	cd ~/wt
	R=$HOME/repo/.git O=$HOME/repo/.git/worktrees/wt
	# the operator's own HEAD is main, and gives no right to it here
	by_store
	fsh "echo x >$R/refs/heads/main"
	denied write "$R/refs/heads/main" "main is a protected branch and is not checked out"
}

t_linked_worktree_on_main() {
	beside topic
	git worktree add -q ~/wt main 2>/dev/null
	cd ~/wt
	fsh 'set -e; git commit -q --allow-empty -m three; git commit -q --amend --allow-empty -m four; git rebase -q topic; git pack-refs --all
git commit -q --allow-empty -m five; git reset -q --hard HEAD~1'
	rc_is 0
	not_denied
	[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail HEAD
}

t_submodule() {
	beside main
	git checkout -q topic
	cd "$W" && git init -q . && git -c protocol.file.allow=always submodule --quiet add ~/repo sub && cd sub
	git branch -q main origin/main
	R=$(git rev-parse --absolute-git-dir) O=$R
	by_store
}

# The layout of a bare repository with its worktrees beside it, the workspace being what holds both.
t_a_bare_repository_inside() {
	beside topic
	git clone -q --bare ~/repo "$W/.bare"
	cd "$W" && echo "gitdir: ./.bare" >.git && rm file
	R=$W/.bare O=$W/.bare
	fsh 'rm -f .bare/refs/heads/main; echo "$(git rev-parse topic) refs/heads/main" >.bare/x; mv .bare/x .bare/packed-refs; git rev-parse topic >.bare/refs/heads/main; echo "gitdir: x" >.git'
	[ "$(git rev-parse main)" = "$(git -C ~/repo rev-parse main)" ] || fail "main moved"
	denied write "$W/.git" "exchanged as a whole"
}

t_a_worktree_below() {
	repo topic
	git worktree add -q w -b side 2>/dev/null
	fsh 'echo "ref: refs/heads/main" >.git/worktrees/w/HEAD; echo "ref: refs/heads/main" >.git/x; mv .git/x .git/worktrees/w/HEAD'
	[ "$(git -C w symbolic-ref HEAD)" = refs/heads/side ] || fail "main is checked out in w"
	fsh 'set -e; git -C w checkout -q -b other; git worktree add -q v -b third 2>/dev/null; git -C v commit -q --allow-empty -m x; git worktree remove v'
	rc_is 0
	not_denied
}

# A push goes where the words say, or nowhere: whatever configuration, and whichever repository, stands behind them.
t_a_push_by_configuration() {
	local how map='GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.push GIT_CONFIG_VALUE_0=refs/heads/topic:refs/heads/main'
	git init -q . && git add file && git commit -q -m one && git clone -q --bare . ~/o.git && git remote add origin ~/o.git && git fetch -q
	printf '[files]\nwrite = ~/o.git\n[commands]\nallow = git push\n' | policy
	git branch -q -u origin/main main && git checkout -q -b topic && git commit -q --allow-empty -m two && git branch -f main topic
	MAIN=$(git rev-parse origin/main)
	cp .git/config "$S/before"
	for how in 'git push origin main' 'git -c push.default=upstream -c branch.topic.merge=refs/heads/main push origin topic' "$map git push origin topic" \
		'git config remote.origin.push refs/heads/topic:refs/heads/main; git push origin topic; git push' \
		'git config push.default upstream; git config branch.topic.remote origin; git config branch.topic.merge refs/heads/main; git push origin topic; git push' \
		'mkdir -p $XDG_CONFIG_HOME/git; printf "[remote \"origin\"]\n\tpush = refs/heads/topic:refs/heads/main\n" >$XDG_CONFIG_HOME/git/config; git push origin topic; rm $XDG_CONFIG_HOME/git/config' \
		"git checkout -q --detach; $map git push origin topic; git checkout -q topic" "mkdir -p half/.git; cp .git/HEAD half/.git; cd half; $map git push origin topic" \
		'mkdir evil; echo "ref: refs/heads/main" >evil/HEAD; echo ../.git >evil/commondir; cd evil; git push' 'cd evil; ln -sf refs/heads/main HEAD; git push' \
		'mkdir -p h/.git; echo ../../.git >h/.git/commondir; ln -s refs/heads/main h/.git/HEAD; cd h; git push' "$map git -C . push origin topic" "$map git --namespace=x push origin topic"; do
		fsh "$how; true"
		[ "$(git -C ~/o.git rev-parse main)" = "$MAIN" ] || fail "pushed: $how"
		cp "$S/before" "$S/copy" && mv "$S/copy" .git/config
	done
	denied exec "git" "or one that cannot be told"
	git config push.autoSetupRemote true
	fsh 'set -e; git push -q origin topic; git push -q origin topic:other; git push -q; git checkout -q -b next; git push -q; git push -q -u origin next'
	rc_is 0
	not_denied
	[ "$(git -C ~/o.git branch --format='%(refname:short)' | xargs)" = "main next other topic" ] || fail "not pushed"
}

# Names of branches that mean something else elsewhere.
t_a_branch_by_any_name() {
	local b
	printf '[git]\nprotect = config\nprotect = hooks/x\n' | policy
	git init -q . && git add file && git commit -q -m one && git branch config && git branch hooks/x && git branch other
	git checkout -q -b topic && git commit -q --allow-empty -m two
	MAIN=$(git rev-parse config)
	fsh 'for b in config hooks/x; do git rev-parse topic >.git/refs/heads/$b; git rev-parse topic >.git/y; mv .git/y .git/refs/heads/$b; done; git commit -q --allow-empty -m x; git branch -f other topic'
	for b in config hooks/x; do
		[ "$(git rev-parse "refs/heads/$b")" = "$MAIN" ] || fail "$b moved"
	done
	[ "$(git rev-parse other)" != "$MAIN" ] || fail "an unprotected one did not move"
}

# By the words, which is the first ring.
t_by_words() {
	repo
	fsh "git checkout main; git branch -f main topic; git update-ref refs/heads/main topic; git fetch . topic:main; git symbolic-ref HEAD refs/heads/main; true"
	main_stays words
	denied exec "git checkout main" "[git] protect = main"
}

t_ordinary_work_on_a_topic() {
	repo topic
	fsh 'set -e; git commit -q --allow-empty -m three; git checkout -q -b next; git branch -D topic >/dev/null; git checkout -q -b topic
git rebase -q main; git pack-refs --all; git gc -q; git branch a; git branch -m a b; git tag v; git merge -q next
git branch x/y; git pack-refs --all --prune; git branch -d x/y >/dev/null; git branch x >/dev/null
git checkout -q --detach main; git checkout -q topic; git clone -q --no-hardlinks . c; git -C c commit -q --allow-empty -m c; rm -rf c
git worktree add -q w b; git -C w commit -q --allow-empty -m w; git worktree remove w; git reset -q --hard main'
	rc_is 0
	not_denied
	[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved"
}

# HEAD's branch is renamed by its one new name: what HEAD is must be known, and no push is.
t_names_of_branches() {
	repo topic
	git worktree add -q ~/w -b side 2>/dev/null
	fsh 'set -e; git branch -m a; git branch -M b; mkdir sub; cd sub; git branch -m topic; XDG_CONFIG_HOME=$PWD git branch -m a; git branch -m topic'
	rc_is 0
	not_denied
	git checkout -q main && TOPIC=$(git rev-parse topic)
	# what git passes by tells nothing of the branch it works on
	fsh 'git branch -m x; mkdir -p s/.git t b; echo "ref: refs/heads/topic" | tee s/.git/HEAD t/HEAD >b/HEAD; (cd s; git branch -m x); (cd sub; GIT_DIR=../.git git branch -m x)
mkdir b/objects b/refs; echo "gitdir: ../nowhere" >t/.git; (cd t; git branch -m x); (cd b; GIT_COMMON_DIR=$PWD/../.git git branch -m x); true'
	[ "$(git rev-parse main)" = "$MAIN" ] && [ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "main was renamed"
}

# Who works on main works on main.
t_ordinary_work_on_main() {
	repo main
	fsh 'set -e; git commit -q --allow-empty -m three; git commit -q --amend --allow-empty -m four; git merge -q --no-edit topic
git rebase -q topic; git pack-refs --all; git commit -q --allow-empty -m five; git reset -q --hard HEAD~1; git stash list'
	rc_is 0
	not_denied
	[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "HEAD"
	[ "$(git rev-parse main)" != "$MAIN" ] || fail "main did not move"
}

t_a_new_repository() {
	fsh 'set -e; git init -q .; git add file; git commit -q -m one; git checkout -q -b topic; git gc -q'
	rc_is 0
	not_denied
}

scenario "$@"
