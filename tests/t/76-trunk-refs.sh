# levels: full strict
# limit: 120
# Ways to a protected branch by another ref's name: symbolic refs, names that git finds first, replaced objects.
. "$T_LIB"

# A repository on topic, with main two commits behind; $1 packed: its refs are.
repo() {
	git init -q . && git add file && git commit -q -m one
	git checkout -q -b topic && git commit -q --allow-empty -m two
	[ "${1:-}" != packed ] || git pack-refs --all
	MAIN=$(git rev-parse main) TOPIC=$(git rev-parse topic)
}

# The operator's own git afterwards finds main as it was, by that name, on topic.
stands() {
	[ "$(git rev-parse refs/heads/main)" = "$MAIN" ] || fail "main moved: $1"
	[ "$(git rev-parse main 2>&1)" = "$MAIN" ] || fail "main is ambiguous: $1"
	[ "$(git log -1 --format=%s main)" = one ] || fail "main shows another: $1"
	[ "$(git symbolic-ref HEAD)" = refs/heads/topic ] || fail "HEAD is not topic: $1"
	[ -z "$(git worktree list --porcelain | grep 'branch refs/heads/main$')" ] || fail "main is checked out: $1"
	[ -z "$(git for-each-ref --format='%(symref)' | grep 'heads/main$')" ] || fail "a symbolic ref to main: $1"
}

# Each is tried alone, on what was there before.
each() {
	local how
	rm -rf "$S/git" && cp -a .git "$S/git"
	for how; do
		fsh "T=$TOPIC M=$MAIN; $how; true"
		stands "$how"
		rm -rf .git evil sub d y && cp -a "$S/git" .git
	done
}

t_symbolic_refs() {
	repo
	each 'echo "ref: refs/heads/main" >.git/refs/heads/al; git checkout al' \
		'echo "ref: refs/heads/main" >x; mv x .git/refs/heads/al; git checkout al' \
		'echo "ref: refs/heads/main" >x; cp x .git/refs/heads/al; ln -f x .git/refs/heads/al; ln -sf ../../../x .git/refs/heads/al' \
		'ln -s refs/heads/main .git/refs/heads/al; ln -s refs/heads/main x; mv x .git/refs/heads/al; git checkout al' \
		'git symbolic-ref refs/heads/al refs/heads/main; git -c alias.s=symbolic-ref s refs/heads/al refs/heads/main' \
		'git update-ref refs/heads/al topic; echo "ref: refs/heads/main" >.git/refs/heads/al; echo "ref: refs/heads/main" | tee .git/refs/heads/al' \
		'git update-ref refs/heads/al topic; exec 9<>.git/refs/heads/al; echo "ref: refs/heads/main" >&9; exec 9>&-; git checkout -q al; git commit -q --allow-empty -m x; git checkout topic' \
		'echo "ref: refs/heads/mainx" >.git/refs/heads/al; truncate -s 20 .git/refs/heads/al; git checkout al' \
		'git update-ref refs/heads/al topic; ln .git/refs/heads/al y; echo "ref: refs/heads/main" >y' \
		'echo "$T" >y; ln y .git/refs/heads/al; echo "ref: refs/heads/main" >y' \
		'exec 9>y; echo "$T" >&9; mv y .git/refs/heads/al; python3 -c "import os; os.ftruncate(9, 0); os.pwrite(9, b\"ref: refs/heads/main\", 0)"' \
		'mkfifo .git/refs/heads/al; (echo "ref: refs/heads/main" >.git/refs/heads/al &); git checkout al' \
		'printf "ref:\n refs/heads/main\n" >.git/refs/heads/al; printf "ref:\trefs/heads/main" >.git/refs/heads/al' \
		'mkdir -p .git/refs/other; echo "ref: refs/heads/main" >.git/refs/other/x; git symbolic-ref HEAD refs/other/x; git symbolic-ref HEAD refs/heads/topic' \
		'mkdir d; echo "ref: refs/heads/main" >d/x; mv d .git/refs/heads/d; ln -s ../../../d .git/refs/heads/d; git checkout d/x' \
		'echo "ref: refs/heads/b" >.git/refs/heads/a; echo "ref: refs/heads/main" >.git/refs/heads/b; git checkout a' \
		'echo "ref: refs/heads/main" >.git/FOO; echo "ref: FOO" >.git/refs/heads/al; git checkout al' \
		'echo "ref: refs/heads/../heads/main" >.git/refs/heads/al; echo "ref: refs//heads/main" >x; mv x .git/refs/heads/al' \
		'mkdir -p .git/refs/remotes/origin; echo "ref: refs/heads/main" >.git/refs/remotes/origin/HEAD; echo "ref: refs/remotes/origin/HEAD" >.git/refs/heads/al; git checkout al' \
		'echo $T >x; echo "ref: refs/heads/main" >.git/refs/heads/al; python3 -c "import ctypes; ctypes.CDLL(None).renameat2(-100, b\"y\", -100, b\".git/refs/heads/topic\", 2)"' \
		'echo "ref: refs/heads/main" >y; python3 -c "import ctypes; ctypes.CDLL(None).renameat2(-100, b\"y\", -100, b\".git/refs/heads/topic\", 2)"' \
		'mkdir -p .git/refs/worktree; echo "ref: refs/heads/main" >.git/refs/worktree/x; echo "ref: refs/worktree/x" >y; mv y .git/HEAD; echo "ref: refs/heads/topic" >y; mv y .git/HEAD'
	fsh 'echo "ref: refs/heads/main" >x; mv x .git/refs/heads/al'
	denied rename "$W/.git/refs/heads/al" "it would lead to the protected branch main"
	fsh 'echo "ref: refs/heads/main" >.git/refs/heads/al'
	denied write "$W/.git/refs/heads/al" "it would lead to the protected branch main"
	missing .git/refs/heads/al
}

# What git moves as it moves a branch, by whoever runs it later.
t_pseudo_refs() {
	local f
	repo
	for f in ORIG_HEAD BISECT_HEAD BISECT_EXPECTED_REV; do
		each "echo 'ref: refs/heads/main' >.git/$f" "echo 'ref: refs/heads/main' >x; mv x .git/$f; ln -sf refs/heads/main .git/$f" \
			"git symbolic-ref $f refs/heads/x; echo \$T >.git/$f; echo 'ref: refs/heads/main' >.git/$f"
		fsh "echo 'ref: refs/heads/main' >x; mv x .git/$f"
		denied rename "$W/.git/$f" "no other's name"
		fsh "echo 'ref: refs/heads/main' >.git/$f"
		denied write "$W/.git/$f" "no other's name"
		missing .git/$f
	done
	fsh 'set -e; git reset -q --hard HEAD~1; git reset -q --hard ORIG_HEAD; git merge -q main; git bisect start -q HEAD HEAD~1 >/dev/null; git bisect reset 2>/dev/null; git bisect start -q --no-checkout HEAD HEAD~1 >/dev/null; git bisect reset 2>/dev/null'
	rc_is 0
	not_denied
}

# A rebase that somebody else ends: it moves what it says that it was of.
t_unfinished_rebases() {
	local d f how made
	repo
	for d in rebase-merge rebase-apply; do
		made="mkdir -p .git/$d; echo \$M >.git/$d/onto; echo \$T >.git/$d/orig-head; touch .git/$d/interactive .git/$d/rebasing .git/$d/git-rebase-todo .git/$d/done; echo 1 >.git/$d/next; echo 1 >.git/$d/last"
		f=.git/$d/head-name
		for how in "echo refs/heads/main >$f" "echo refs/heads/main >x; mv x $f" "echo refs/heads/x >$f; echo refs/heads/main >$f" "echo refs/heads/x >x; ln x $f; echo refs/heads/main >x" \
			"ln -s ../../x $f; echo refs/heads/main >x" "rm -r .git/$d; mkdir e; cp -r .git/HEAD e/onto; echo refs/heads/main >e/head-name; mv e .git/$d; ln -s ../e .git/$d" \
			"printf 'refs/heads/main \n' >$f" "printf 'refs/heads/x\n%s\n%s\nrefs/heads/main\n%s\n%s\n' \$M \$T \$M \$T >.git/$d/update-refs"; do
			fsh "T=$TOPIC M=$MAIN; $made; $how; true"
			git rebase --abort >/dev/null 2>&1
			[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved: $how"
			[ "$(git symbolic-ref HEAD)" != refs/heads/main ] || fail "main is checked out: $how"
			[ "$d" != rebase-merge ] || ! grep -qs main .git/$d/update-refs || fail "written: $how"
			rm -rf .git/$d e x && git symbolic-ref HEAD refs/heads/topic && git reset -q --hard "$TOPIC"
		done
		fsh "mkdir .git/$d; echo refs/heads/main >.git/$d/head-name"
		denied write "$W/.git/$d/head-name" "main is a protected branch"
		rm -r .git/$d
	done
	fsh 'set -e; git checkout -q -b a; git commit -q --allow-empty -m a; git branch b; git commit -q --allow-empty -m c; git commit -q --allow-empty -m d
GIT_SEQUENCE_EDITOR=true git rebase -q -i --update-refs --keep-empty main; GIT_SEQUENCE_EDITOR="sed -i 1iedit" git rebase -q -i HEAD~1 || true; git rebase --abort 2>/dev/null || true; echo x >f; git add f; git commit -q -m f; git rebase -q --apply --force-rebase HEAD~1
git format-patch -q -1; git reset -q --hard HEAD~1; git am -q *.patch; git worktree add -q w topic; git -C w rebase -q --force-rebase main'
	rc_is 0
	not_denied
}

# What git finds before refs/heads/main, when somebody says main.
t_names_found_first() {
	local p
	repo
	git update-ref refs/remotes/origin/main main
	mkdir .git/heads
	for p in main heads/main refs/main refs/tags/main refs/remotes/main; do
		each "echo \$T >.git/$p" "echo \$T >x; mv x .git/$p" "ln -s refs/heads/topic .git/$p" "echo \$T >x; ln x .git/$p" "git update-ref $p topic"
		fsh "echo x >y; mv y .git/$p"
		denied rename "$W/.git/$p" "git would take"
	done
	each 'git tag main topic' 'git tag -a -m x main topic' 'git fetch -q . topic:refs/tags/main' 'mkdir d; echo $T >d/main; mv d .git/refs/tags/d; mv .git/refs/tags .git/t; mv d .git/refs/tags'
	# of the remote's branch, too
	for p in origin/main refs/origin/main refs/tags/origin/main refs/heads/origin/main; do
		fsh "mkdir -p .git/$(dirname "$p") d; echo \$(git rev-parse topic) >d/main; [ -e .git/refs/\$(dirname $p) ] || rmdir .git/$(dirname "$p"); mv -T d .git/$(dirname "$p"); ln -s ../d .git/$(dirname "$p"); mkdir -p .git/$(dirname "$p"); echo \$(git rev-parse topic) >.git/$p; git update-ref $p topic; git update-ref refs/heads/x topic"
		[ "$(git rev-parse origin/main 2>&1)" = "$MAIN" ] || fail "origin/main is ambiguous: $p"
	done
	fsh 'set -e; git tag v1; git tag -a -m x main/x; git branch mainline; git tag maintenance; git branch x-main; git update-ref refs/remotes/other/main topic; git tag -d main/x; git pack-refs --all'
	rc_is 0
	not_denied
	# one that is there goes, and is packed as it is
	git tag main main
	fsh 'set -e; git pack-refs --all; git tag -d main'
	rc_is 0
	printf '[git]\nprotect = release/*\nprotect = x\n' | policy
	git branch release/1 main && git branch x main
	fsh 'set -e; git tag release/0; git tag v2; git tag a/x'
	not_denied
	fsh 'git tag release/1 topic; mkdir .git/release; echo $(git rev-parse topic) >.git/release/1; mkdir -p d; echo $(git rev-parse topic) >d/1; rmdir .git/release; mv d .git/release; ln -s ../d .git/release; ln -s ../../../d .git/refs/release; true'
	[ "$(git rev-parse release/1 2>&1)" = "$MAIN" ] || fail "release/1 is ambiguous"
}

# A name in capitals each worktree has for itself.
t_names_in_a_linked_worktree() {
	local own p
	git init -q ~/repo && cd ~/repo && git commit -q --allow-empty -m one && git branch RELEASE && git checkout -q -b topic && git commit -q --allow-empty -m two
	git checkout -q --detach && git worktree add -q ~/wt topic 2>/dev/null && cd ~/wt
	own=$HOME/repo/.git/worktrees/wt MAIN=$(git rev-parse RELEASE)
	printf '[git]\nprotect = RELEASE\n' | policy
	for p in "$own/RELEASE" "$HOME/repo/.git/RELEASE" "$HOME/repo/.git/refs/tags/RELEASE"; do
		fsh "git rev-parse topic >$p; git rev-parse topic >x; mv x $p"
		[ "$(git rev-parse RELEASE 2>&1)" = "$MAIN" ] || fail "ambiguous: $p"
		missing "$p"
	done
	fsh "echo 'ref: refs/heads/RELEASE' >$own/ORIG_HEAD; echo 'ref: refs/heads/RELEASE' >$HOME/repo/.git/refs/heads/al; mkdir -p $own/refs/worktree; echo 'ref: refs/heads/RELEASE' >$own/refs/worktree/x; ls $own"
	! grep -qs ref: "$own/ORIG_HEAD" && [ ! -e "$own/refs/worktree/x" ] && [ ! -e ~/repo/.git/refs/heads/al ] || fail "a symbolic ref"
	fsh 'set -e; git commit -q --allow-empty -m x; git reset -q --hard HEAD~1; git checkout -q -b next; git rebase -q topic; git tag v; git stash list; git branch -m nexter'
	rc_is 0
	not_denied
}

t_names_in_packed_refs() {
	local p
	repo packed
	for p in refs/main refs/remotes/main refs/tags/main "refs/replace/$MAIN" refs/heads/main/x; do
		each "{ cat .git/packed-refs; echo \$T $p; } | (read -r h; echo \$h; sort -k2,2) >x; mv x .git/packed-refs"
		fsh "{ cat .git/packed-refs; echo $TOPIC $p; } | (read -r h; echo \$h; LC_ALL=C sort -k2,2) >x; mv x .git/packed-refs"
		denied rename "$W/.git/packed-refs"
		! grep -q "$p" .git/packed-refs || fail "packed: $p"
	done
	fsh "{ cat .git/packed-refs; echo $TOPIC refs/heads/other; echo $TOPIC refs/tags/v; } | (read -r h; echo \$h; LC_ALL=C sort -k2,2) >x; mv x .git/packed-refs; git rev-parse other v"
	rc_is 0
	not_denied
}

# Another object in the place of main's, or other parents of its commits.
t_replaced_objects() {
	repo
	each "git replace $MAIN $TOPIC" 'mkdir -p .git/refs/replace; echo $T >.git/refs/replace/$M' 'echo $T >x; mv x .git/refs/replace/$M' \
		'git update-ref refs/replace/$M $T' 'git replace --graft HEAD~1; git replace --graft $M $T' 'echo "$M $T" >.git/info/grafts; echo "$M $T" >x; mv x .git/info/grafts'
	fsh "git replace $MAIN $TOPIC"
	denied rename "$W/.git/refs/replace/$MAIN" "another object in the place"
	# what the operator replaced may be taken back
	git replace "$MAIN" "$TOPIC"
	fsh "set -e; git pack-refs --all; git replace -d $MAIN >/dev/null; git replace -l"
	rc_is 0
	out_is ""
}

# What is nobody's to remove, or to put in its place.
t_what_stays() {
	repo packed
	each 'rm -f .git/HEAD; mv .git/HEAD x; echo "ref: refs/heads/main" >.git/HEAD' 'mkdir .git/refs/heads/main; mkdir -p .git/refs/heads/main/x; echo $T >.git/refs/heads/main/x' \
		'rm -rf .git/refs' 'rmdir .git/refs/heads .git/refs/tags .git/refs' 'mkdir -p .git/remotes; printf "URL: .\nPull: +refs/heads/topic:refs/heads/main\n" >.git/remotes/origin; echo "..#topic" >.git/branches/main; git fetch -q'
	[ -e .git/HEAD ] && [ -d .git/refs/heads ] || fail "HEAD or refs is gone"
	fsh 'rm .git/HEAD'
	denied delete "$W/.git/HEAD" "another repository"
	fsh 'mkdir -p .git/remotes; echo "URL: x" >.git/remotes/origin'
	denied write "$W/.git/remotes/origin" "nobody writes it any more"
}

# Where git would make it, no directory comes with refs in it.
t_a_missing_directory() {
	repo packed
	rm -r .git/refs/heads
	each 'mkdir d; echo $T >d/main; mv -T d .git/refs/heads' 'mkdir d; echo $T >d/main; ln -s ../../d .git/refs/heads' 'mkdir d; echo $T >d/main; ln -s ../../d y; mv -T y .git/refs/heads'
	fsh 'git commit -q --allow-empty -m three; git branch x'
	rc_is 0
	not_denied
}

# A worktree by hand, as its files.
t_worktrees_by_hand() {
	local made='mkdir -p .git/worktrees/x sub; echo "gitdir: $PWD/.git/worktrees/x" >sub/.git; echo $PWD/sub/.git >.git/worktrees/x/gitdir'
	repo
	each "$made; echo 'ref: refs/heads/main' >.git/worktrees/x/HEAD; echo ../.. >.git/worktrees/x/commondir; git -C sub commit -q --allow-empty -m x" \
		"$made; echo ../.. >.git/worktrees/x/commondir; echo 'ref: refs/heads/main' >.git/worktrees/x/HEAD" \
		"$made; ln -s refs/heads/main .git/worktrees/x/HEAD; echo ../.. >.git/worktrees/x/commondir" \
		"$made; echo 'ref: refs/heads/main' >y; mv y .git/worktrees/x/HEAD; ln -f y .git/worktrees/x/HEAD; echo ../.. >.git/worktrees/x/commondir" \
		"$made; echo \$T >.git/worktrees/x/HEAD; echo ../.. >.git/worktrees/x/commondir; exec 9<>.git/worktrees/x/HEAD; echo 'ref: refs/heads/main' >&9" \
		"$made; rm -r .git/worktrees/x; mkdir evil; echo 'ref: refs/heads/main' >evil/HEAD; echo ../.. >evil/commondir; mv evil .git/worktrees/x; ln -s ../../evil .git/worktrees/x" \
		"$made; rm -r .git/worktrees; mkdir -p evil/x; echo 'ref: refs/heads/main' >evil/x/HEAD; mv evil .git/worktrees; ln -s ../evil .git/worktrees" \
		"$made; echo 'ref: refs/worktree/a' >.git/worktrees/x/HEAD; echo ../.. >.git/worktrees/x/commondir; mkdir -p .git/worktrees/x/refs/worktree; echo 'ref: refs/heads/main' >.git/worktrees/x/refs/worktree/a" \
		"git worktree add -q sub main" "git -c alias.w=worktree w add -q sub main" "git worktree add -q sub refs/heads/main; git worktree add -q sub heads/main; git worktree add -q --checkout sub main" \
		"git worktree add -q -B main sub topic" "git worktree add -q sub -b t2 topic; git -C sub checkout main; git -C sub symbolic-ref HEAD refs/heads/main; echo 'ref: refs/heads/main' >sub/x; mv sub/x .git/worktrees/sub/HEAD"
	fsh "$made; echo 'ref: refs/heads/main' >.git/worktrees/x/HEAD"
	denied write "$W/.git/worktrees/x/HEAD" "main is a protected branch"
	missing .git/worktrees/x/HEAD
}

# The operator's other worktree is on main, which gives no right to it here.
t_anothers_worktree_on_main() {
	repo
	git worktree add -q ~/wt main
	fsh "echo 'ref: refs/heads/topic2' >x; mv x .git/worktrees/wt/HEAD; echo 'ref: refs/heads/topic2' >.git/worktrees/wt/HEAD; echo $TOPIC >x; mv x .git/refs/heads/main; git update-ref refs/heads/x topic"
	[ "$(git rev-parse refs/heads/main)" = "$MAIN" ] || fail "main moved"
	denied rename "$W/.git/refs/heads/main" "is not checked out"
}

# Refs that are written in place, as some programs do, and symbolic ones that lead to no protected branch.
t_ordinary_refs() {
	repo
	fsh "set -e; T=$TOPIC; echo \$T >.git/refs/heads/new; echo \$T >>.git/refs/tags/t; exec 9<>.git/refs/heads/new; read -r x <&9; [ \$x = \$T ]; echo >&9; exec 9>&-
git symbolic-ref refs/heads/alias refs/heads/topic; git checkout -q alias; git commit -q --allow-empty -m x; git checkout -q topic
umask 027; git rev-parse HEAD~1 >.git/refs/heads/new; git rev-parse new topic; git stash list; git notes add -m x; git update-ref refs/wip/a topic; git update-ref -d refs/wip/a"
	rc_is 0
	not_denied
	[ "$(git rev-parse new topic t | xargs)" = "$TOPIC $(git rev-parse topic) $TOPIC" ] || fail "written otherwise"
	[ "$(stat -c %a .git/refs/heads/new)" = "$(stat -c %a .git/refs/heads/topic)" ] || fail "another mode"
	# a branch that is another's name, by the operator himself
	git symbolic-ref refs/heads/trunk2 refs/heads/main && git checkout -q trunk2
	fsh 'git commit -q --allow-empty -m three && git checkout -q topic && git symbolic-ref HEAD'
	rc_is 0
	not_denied
	fsh 'git commit -q --allow-empty -m x; git checkout -q trunk2; git -c alias.s=symbolic-ref s HEAD refs/heads/trunk2'
	denied rename "$W/.git/HEAD" "is not checked out"
}

# A clone makes a symbolic ref of its own; and what is not the workspace's is nobody's business here.
t_clones_and_remotes() {
	repo
	git clone -q --bare . ~/o.git && rm -rf .git file && git clone -q ~/o.git .
	fsh 'set -e; git symbolic-ref refs/remotes/origin/HEAD; git checkout -q -b next; git fetch -q; git remote set-head origin -d; git remote set-head origin -a >/dev/null
git remote add main ~/o.git; git fetch -q main; git remote set-head main -a >/dev/null; git remote rename main m2; git remote remove m2; git gc -q; git branch -r; git clone -q . c; git -C c tag main; git -C c -c alias.s=symbolic-ref s refs/heads/al refs/heads/topic; git -C c replace HEAD HEAD~1 2>/dev/null || true'
	rc_is 0
	not_denied
	out_has refs/remotes/origin/
}

scenario "$@"
