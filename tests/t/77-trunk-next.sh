# levels: full strict
# limit: 120
# What one session leaves for the next: HEAD, and links in place of refs.
. "$T_LIB"

# A repository on topic with main one commit behind.
repo() {
	git init -q -b main . && git add file && git commit -q -m one && git checkout -q -b topic && git commit -q --allow-empty -m two
	MAIN=$(git rev-parse main)
}

t_head_stays_off_a_protected_branch() {
	local how
	repo
	git branch -q master
	for how in 'echo "ref: refs/heads/main" >$H' 'echo "ref: refs/heads/main" >x; mv x $H' 'echo "ref:  refs/heads/main" >x; mv x $H' 'printf "ref: refs/heads/main" >x; mv x $H' \
		'git -c alias.s=symbolic-ref s HEAD refs/heads/main' 'git -c alias.c=checkout c main' 'git -c alias.c=switch c master' \
		'git checkout -q main~0; git -c alias.s=symbolic-ref s HEAD refs/heads/main' 'rm -f $H; echo "ref: refs/heads/main" >$H' 'rm -f $H; echo "ref: refs/heads/main" >x; ln x $H; ln -s x $H' \
		'ln -sf refs/heads/main $H' 'git -c core.preferSymlinkRefs=true -c alias.s=symbolic-ref s HEAD refs/heads/main' 'exec 9<>$H; echo "ref: refs/heads/main" >&9' \
		'echo "ref: refs/heads/main" >x; exec 9<>x; ln -f x $H; mv x $H' 'printf "ref: refs/heads/topic\n" >x; exec 9<>x; mv x $H; echo "ref: refs/heads/main" >&9' \
		'echo "ref: refs/heads/main" >x; busybox mv x $H; busybox cp x $H; busybox sh -c "echo ref: refs/heads/main >$H"; cp x $H; dd if=x of=$H status=none' \
		'echo "ref: refs/heads/main" >x; python3 -c "import ctypes; ctypes.CDLL(None).renameat2(-100, b\"x\", -100, b\".git/HEAD\", 2)"' \
		'cp -r .git .g; echo "ref: refs/heads/main" >.g/HEAD; mv .git .old; mv .g .git' 'git checkout -q -b other; git switch -q -; git -c alias.w=worktree w add -q -f w main; cp w/.git .git'; do
		fsh "H=.git/HEAD; $how; true"
		! grep -qs "refs/heads/ma" .git/HEAD || fail "HEAD is $(cat .git/HEAD): $how"
		rm -rf x w .g && echo "ref: refs/heads/topic" >"$S/head" && rm -f .git/HEAD && cp "$S/head" .git/HEAD && git worktree prune
		[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved: $how"
	done
	fsh 'echo "ref: refs/heads/main" >x; mv x .git/HEAD'
	denied rename "$W/.git/HEAD" "the next session would begin on it"
	# what is unprotected, or no branch at all
	fsh 'set -e; git checkout -q --detach main; git checkout -q -b new; git switch -q topic; echo "ref: refs/heads/new" >x; mv x .git/HEAD; git symbolic-ref HEAD refs/heads/topic
git rebase -q --force-rebase main; git stash list; git bisect start -q HEAD main >/dev/null; git bisect reset 2>/dev/null; git checkout -q --orphan o; git checkout -q topic; git worktree add -q w new; git worktree remove w'
	rc_is 0
	not_denied
	[ "$(git symbolic-ref HEAD)" = refs/heads/topic ] || fail "HEAD is not topic"
}

# In a linked worktree HEAD lies beside the repository that has the branches.
t_head_of_a_linked_worktree() {
	repo
	git worktree add -q ~/wt -b side
	cd ~/wt
	fsh 'echo "ref: refs/heads/main" >x; mv x $(git rev-parse --git-dir)/HEAD; git -c alias.c=checkout c -q main; git checkout -q -b next'
	rc_is 0
	[ "$(git symbolic-ref HEAD)" = refs/heads/next ] || fail "HEAD is $(git symbolic-ref HEAD)"
	denied rename "$W/.git/worktrees/wt/HEAD" "the next session would begin on it"
}

t_back_to_where_it_began() {
	repo
	git branch -q master main && git checkout -q main
	fsh 'set -e; git checkout -q topic; git checkout -q main; git checkout -q --detach; git switch -q main; git checkout -q topic; echo "ref: refs/heads/main" >x; mv x .git/HEAD; git commit -q --allow-empty -m grown; git rebase -q --force-rebase HEAD~1'
	rc_is 0
	not_denied
	[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "HEAD is not main"
	fsh 'echo "ref: refs/heads/master" >x; mv x .git/HEAD'
	denied rename "$W/.git/HEAD" "master is a protected branch"
}

scenario "$@"
