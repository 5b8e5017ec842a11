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

# Each way, in a repository's directory, and the push, by p, from above it.  A clone of the agent's own is guarded by no rule on files.
WAYS=('echo "ref: refs/heads/main" >refs/heads/feature; p push origin feature' 'echo "ref:refs/heads/main" >feature; p push origin feature'
	'echo "ref: refs/heads/main" >refs/tags/feature; p push origin feature' 'mkdir refs/remotes/feature; echo "ref: refs/heads/main" >refs/remotes/feature/HEAD; p push origin +feature'
	'ln -s refs/heads/main X; p push origin X' 'echo "ref: refs/heads/b" >refs/heads/a; echo "ref: refs/heads/main" >refs/heads/b; p push -q origin topic heads/a'
	'echo "ref: refs/heads/main" >refs/heads/a; echo "ref: refs/heads/a" >HEAD; p push origin HEAD' 'echo "ref: refs/heads/main" >refs/heads/a; echo "ref: refs/heads/a" >HEAD; p push origin'
	'git -c alias.s=symbolic-ref s refs/heads/feature refs/heads/main; p push origin refs/heads/feature' 'git worktree add -q -f ../w topic; echo "ref: refs/heads/main" >worktrees/w/HEAD; p push origin worktrees/w/HEAD'
	'git worktree add -q -f ../w topic; echo "ref: refs/heads/main" >HEAD; p -C w push origin main-worktree/HEAD' 'git worktree add -q -f ../w topic; echo "ref: refs/heads/main" >refs/heads/a; p -C w push origin a')

pushes() {
	local how
	for how in "${WAYS[@]}"; do
		fsh "p() { cd ..; git \"\$@\"; }; mkdir g; cp -r .git g; cd g/.git; git config push.default current; $how; true"
		[ "$(git -C ~/far rev-parse main)" = "$FAR" ] || fail "pushed: $how"
		denied exec "git" "a protected branch, or one that cannot be told"
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
	fsh 'set -e; git symbolic-ref refs/heads/alias refs/heads/topic; git push -q origin topic; git commit -q --allow-empty -m three; git push -q origin HEAD; git push -q -u origin HEAD:other; git checkout -q -b d/e; git push -q -u origin d/e; git push -q
git tag v1; git push -q origin tag v1; git push -q origin v1 topic; git worktree add -q w; cd w; git push -q -u origin w; git push -q'
	rc_is 0
	not_denied
	[ "$(git -C ~/far branch --format='%(refname:short)' | xargs)" = "d/e main other topic w" ] || fail "not pushed: $(git -C ~/far branch)"
}

scenario "$@"
