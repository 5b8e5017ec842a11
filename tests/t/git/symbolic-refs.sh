# levels: full strict
# limit: 120
# Symbolic refs: a push of a name that leads to a protected branch counts as one of that, and none is made in the
# workspace's repository.
. "$T_LIB"

# main of ~/far is one behind main here; the workspace is on topic.
far() {
	git init -q . && git add file && git commit -q -m one && git clone -q --bare . ~/far && git remote add origin ~/far
	git commit -q --allow-empty -m two && git checkout -q -b topic && git fetch -q
	FAR=$(git -C ~/far rev-parse main)
	printf '[commands]\nallow = git push\nallow = git -C\n[files]\nwrite = ~/far\n' | policy
}

# Each way, in a repository's directory, and the push, by p, from above it.  A clone of the agent's own is
# guarded by no rule on files.
WAYS=('echo "ref: refs/heads/main" >refs/heads/feature; p push origin feature'
	'echo "ref:refs/heads/main" >feature; p push origin feature'
	'echo "ref: refs/heads/main" >refs/tags/feature; p push origin feature'
	'mkdir refs/remotes/feature; echo "ref: refs/heads/main" >refs/remotes/feature/HEAD; p push origin +feature'
	'ln -s refs/heads/main X; p push origin X'
	'echo "ref: refs/heads/b" >refs/heads/a; echo "ref: refs/heads/main" >refs/heads/b; p push -q origin topic heads/a'
	'echo "ref: refs/heads/main" >refs/heads/a; echo "ref: refs/heads/a" >HEAD; p push origin HEAD'
	'echo "ref: refs/heads/main" >refs/heads/a; echo "ref: refs/heads/a" >HEAD; p push origin'
	'git -c alias.s=symbolic-ref s refs/heads/feature refs/heads/main; p push origin refs/heads/feature'
	'git worktree add -q -f ../w topic; echo "ref: refs/heads/main" >worktrees/w/HEAD; p push origin worktrees/w/HEAD'
	'git worktree add -q -f ../w topic; echo "ref: refs/heads/main" >HEAD; p -C w push origin main-worktree/HEAD'
	'git worktree add -q -f ../w topic; echo "ref: refs/heads/main" >refs/heads/a; p -C w push origin a')

pushes() {
	local how
	for how in "${WAYS[@]}"; do
		fsh "p() { cd ..; git \"\$@\"; }; mkdir g; cp -r .git g; cd g/.git; git config push.default current; $how; true"
		[ "$(git -C ~/far rev-parse main)" = "$FAR" ] || fail "pushed: $how"
		denied exec "git" "a protected branch, or a branch that pale cannot determine"
		rm -rf g
	done
}

t_a_push_follows_them() {
	far
	pushes
}

t_ordinary_pushes() {
	far
	git remote set-head origin main
	fsh 'set -e; git symbolic-ref refs/heads/alias refs/heads/topic
		git push -q origin topic; git commit -q --allow-empty -m three; git push -q origin HEAD
		git push -q -u origin HEAD:other; git checkout -q -b d/e; git push -q -u origin d/e; git push -q
		git tag v1; git push -q origin tag v1
		git push -q origin v1 topic; git worktree add -q w; cd w; git push -q -u origin w; git push -q'
	rc_is 0
	not_denied
	[ "$(git -C ~/far branch --format='%(refname:short)' | xargs)" = "d/e main other topic w" ] ||
		fail "not pushed: $(git -C ~/far branch)"
}

# By configuration a session could send what was allowed to another place, and tags along.
t_a_push_goes_where_it_says() {
	local how
	far
	git clone -q --bare . ~/evil
	printf '[files]\nwrite = ~/evil\n[session]\napprovals = never\n' >>~/.config/pale/policy.ini
	for how in 'env -u XDG_CONFIG_HOME HOME=$PWD/h' \
		'env XDG_CONFIG_HOME=$PWD/h' 'env GIT_CONFIG_GLOBAL=$PWD/h/.gitconfig' \
		'env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=url.$E.pushInsteadOf GIT_CONFIG_VALUE_0=$F'; do
			fsh "F=$HOME/far E=$HOME/evil; mkdir -p h/git; printf '[url \"%s\"]\n\tpushInsteadOf = %s\n' \$E \$F >h/.gitconfig
			cp h/.gitconfig h/git/config; $how git push -q origin topic:new"
		[ -z "$(git -C ~/evil branch --list new)" ] || fail "pushed elsewhere: $how"
		denied exec "git push -q origin topic:new" "[commands] ask = git push"
		rm -rf h
	done
	fsh 'git tag -a -m t v1; git config push.followTags true
		git push -q origin topic:new; mkdir h; XDG_CONFIG_HOME=$PWD/h git push -q origin topic:two'
	[ "$(git -C ~/far branch --format='%(refname:short)' | xargs)" = "main new two" ] || fail "not pushed"
	[ -z "$(git -C ~/far tag)" ] || fail "tags went along"
}

t_none_is_made() {
	local how
	far
	git branch -q there
	for how in 'echo "ref: refs/heads/main" >$R/feature' \
		'echo "ref: refs/heads/main" >$R/there' 'echo "ref: refs/heads/main" >x; mv x $R/there' \
		'echo "ref:refs/heads/main" >x; cp x $R/feature; busybox mv x $R/feature' \
		'echo "ref: refs/heads/main" >x; ln x $R/feature' \
		'ln -s refs/heads/main $R/feature' 'echo "ref: refs/heads/main" >x; ln -s $PWD/x $R/feature' \
		'mkdir d; echo "ref: refs/heads/main" >d/feature; mv d $R/d' \
		'mkfifo $R/feature' 'mkdir -p d; echo "ref: refs/heads/main" >d/feature; ln -s $PWD/d $R/d' \
		'git -c alias.s=symbolic-ref s refs/heads/feature refs/heads/main' \
		'git -c alias.s=symbolic-ref s refs/tags/feature refs/heads/main' \
		'echo "ref: X" >$R/feature; echo "ref: refs/heads/main" >.git/X' \
		'exec 9<>$R/there; echo "ref: refs/heads/main" >&9; exec 9>&-' \
		'git rev-parse topic >x; exec 9<>x; mv x $R/feature; echo "ref: refs/heads/main" >&9' \
		'echo "ref: refs/heads/main" >x; python3 -c "import ctypes
ctypes.CDLL(None).renameat2(-100, b\"x\", -100, b\".git/refs/heads/there\", 2)"'; do
		fsh "R=.git/refs/heads; $how; true"
		rm -rf .git/X x
		! grep -rqs "^ref:" .git/refs || fail "made: $how"
		[ -z "$(find .git/refs -type l -o -type p)" ] || fail "made: $how"
		rm -rf d .git/refs/heads/feature .git/refs/heads/d .git/refs/tags/feature .git/refs/heads/there &&
			git update-ref refs/heads/there topic
	done
	fsh 'echo "ref: refs/heads/main" >x; mv x .git/refs/heads/feature'
	denied rename "$W/.git/refs/heads/feature" "no symbolic ref may lead to a protected branch"
	fsh 'echo "ref: refs/heads/main" >.git/refs/tags/feature; sync .git'
	denied write "$W/.git/refs/tags/feature" "no symbolic ref may lead to a protected branch"
	# of a session that began there, too
	git checkout -q main
	fsh 'git branch feature; echo "ref: refs/heads/main" >x
		mv x .git/refs/heads/feature; git -c alias.s=symbolic-ref s refs/remotes/origin/HEAD refs/heads/main'
	[ -z "$(git for-each-ref --format='%(symref)' | grep main)" ] ||
		fail "$(git for-each-ref --format='%(refname) %(symref)')"
}

t_ordinary_refs() {
	far
	fsh 'set -e; for b in index HEAD2 config objects hooks/pre-push a/index a/b/c; do
			git branch $b; git branch -f $b main
			git rev-parse topic >.git/refs/heads/$b; git branch -m $b x/y; git branch -m x/y $b; git branch -D -q $b
		done
		git remote set-head origin main; git remote set-head -d origin
		git remote set-head origin -a; git symbolic-ref refs/heads/alias refs/heads/topic
		git commit -q --allow-empty -m x; git symbolic-ref -d refs/heads/alias
		git tag t; git tag -f t topic~1; git tag -d t; git stash list; echo y >file; git stash -q; git stash pop -q
		git notes add -m n; git fetch -q; git update-ref refs/heads/z topic; git update-ref -d refs/heads/z
		rm -rf .git/refs/remotes; git fetch -q
		git worktree add -q w; git -C w commit -q --allow-empty -m y; git worktree remove w; git checkout -q file
		git rebase -q --force-rebase main; git bisect start -q HEAD main >/dev/null; git bisect reset 2>/dev/null'
	rc_is 0
	not_denied
	git fsck 2>"$S/fsck" || fail "$(cat "$S/fsck")"
}

scenario "$@"
