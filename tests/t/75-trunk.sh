# levels: full
# limit: 60
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
		'ln -sf refs/heads/main .git/HEAD' 'truncate -s 0 .git/refs/heads/main' \
		'exec 9>>.git/refs/heads/main; echo $T >&9'; do
		fsh "T=$TOPIC; $how; true"
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
