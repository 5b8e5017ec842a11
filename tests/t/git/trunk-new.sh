# levels: full strict hooks
# limit: 180
# A repository that the session made, and that has no remote, has no protected branch.
. "$T_LIB"

# All of GitHub's own start lines, and what tests of programs do.
START='set -e; git init -q -b trunk a; cd a; git commit -q --allow-empty -m one; git branch -M main
	git checkout -q -b f; git checkout -q main; git checkout -q -; git checkout -q -; git branch -m master
	git switch -q -c main; git branch -q -f master; git update-ref refs/heads/master HEAD; git branch -q -D master
	git symbolic-ref HEAD refs/heads/main; git worktree add -q ../w -b topic
	cd ..; git -C a checkout -q f; git --git-dir=a/.git branch -M f main; git -C w checkout -q -b release/1
	git init -q -b main b && cd b && git checkout -q --orphan master'

is_hooks() { [ "$T_LEVEL" = hooks ]; }

t_made_by_the_session() {
	fsh "$START"
	if is_hooks; then
		# there the words alone are judged, and explain says so
		denied exec "git branch -M main"
		run pale explain exec git branch -M main
		rc_is 1
		return
	fi
	rc_is 0
	not_denied
	# explain has the same answer where the session is, and another outside: a new session begins with main
	fsh 'git init -q n; cd n; pale explain exec git branch -M main; pale explain exec git push ../a main'
	out_has ALLOW
	out_has DENY
	cd a
	run pale explain exec git branch -M main
	rc_is 1
}

t_in_the_workspace_itself() {
	! is_hooks || skip "the words alone are judged"
	fsh 'set -e; git init -q -b master .; git add file; git commit -q -m one; git branch -M main; git checkout -q -b f
		git checkout -q main; git status'
	rc_is 0
	not_denied
	# that was another session
	fsh 'git branch -M main topic; git checkout -q -b f2; git checkout -q -B main'
	denied exec "git branch -M main topic"
	denied exec "git checkout -q -B main"
}

# The operator's own `git init`, before the first commit.
t_unborn() {
	local how
	! is_hooks || skip "the words alone are judged"
	git init -q -b master .
	run pale explain exec git branch -M main
	rc_is 0
	fsh 'set -e; git add file; git commit -q -m one; git branch -M main; git checkout -q -b f; git checkout -q main'
	rc_is 0
	not_denied
	[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "HEAD is $(git symbolic-ref HEAD)"
	rm -rf .git
	git init -q -b master . && git remote add origin ../o
	fsh 'git commit -q --allow-empty -m one; git branch -M main; echo "ref: refs/heads/main" >x; mv x .git/HEAD'
	denied exec "git branch -M main"
	denied rename "$W/.git/HEAD" "protected branch"
	run pale explain exec git branch -M main
	rc_is 1
	for how in 'git config include.path more' 'git config includeIf.gitdir:/.path more' \
		'git config --global remote.o.url ../old' 'git config --global include.path more' \
		'printf "[remote \"o\"]\n\turl = ../old\n" >.git/config.worktree' 'git commit -q --allow-empty -m x'; do
		rm -rf .git && git init -q -b master . && cp ~/.gitconfig "$S/before" && eval "$how"
		run pale explain exec git branch -M main
		rc_is 1 "$how"
		fsh 'git commit -q --allow-empty -m one; git branch -M main; git init -q x; git -C x branch -M main'
		denied exec "git branch -M main"
		cp "$S/before" ~/.gitconfig
	done
	# HEAD follows the same rule
	rm -rf .git && git init -q -b master .
	fsh 'git commit -q --allow-empty -m one; git remote add origin ../o; echo "ref: refs/heads/main" >x; mv x .git/HEAD'
	denied rename "$W/.git/HEAD" "protected branch"
}

# Each way to a remote or to a branch that was there before: the words are denied.
t_still_protected() {
	local how n=0
	git init -q -b master old && git -C old commit -q --allow-empty -m one && git -C old branch main
	git -C old worktree add -q ../tree -b topic 2>/dev/null
	for how in 'git remote add origin ../old' 'git config remote.x.pushurl ../old' \
		'git config remote.pushDefault ../old' 'git config branch.main.remote ../old' \
		'mkdir -p .git/remotes; echo "URL: ../old" >.git/remotes/o' 'mkdir -p .git/branches; echo ../old >.git/branches/o' \
		'export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.o.url GIT_CONFIG_VALUE_0=x' \
		'export GIT_DIR=$PWD/../old/.git' 'export GIT_DIR=$PWD/.git' 'export GIT_COMMON_DIR=$PWD/../old/.git' \
		'cd ../old' 'cd ../tree' 'rm -rf .git; ln -s ../old/.git .git' 'rm -rf .git; echo "gitdir: ../old/.git" >.git' \
		'rm -rf .git/refs; ln -s ../../old/.git/refs .git/refs' \
		'rm -rf .git/refs/heads; ln -s ../../../old/.git/refs/heads .git/refs/heads' 'rm -rf .git; git clone -q ../old .'; do
		n=$((n + 1))
		fsh "mkdir n$n; cd n$n; git init -q -b topic .; git commit -q --allow-empty -m x; ($how; git branch -M main) 2>&1
			($how; git checkout -q -B master) 2>&1; ($how; git update-ref refs/heads/main HEAD) 2>&1"
		denied_out "git branch -M main" "$how"
		denied_out "git checkout -q -B master" "$how"
		denied_out "git update-ref refs/heads/main HEAD" "$how"
	done
	fsh 'git init -q -b topic z; cd z; git commit -q --allow-empty -m x; git -C ../old branch -M main
		git --git-dir=../old/.git branch -f main; git --git-dir ../old/.git branch -D main; git push ../old HEAD:main
		git -C . -C ../old switch -C main; git fetch . topic:main; cd ..; git -C z -C ../old branch -M x main; true'
	denied exec "git -C ../old branch -M main"
	denied exec "git --git-dir=../old/.git branch -f main"
	denied exec "git --git-dir ../old/.git branch -D main"
	denied exec "git push ../old HEAD:main"
	denied exec "git -C . -C ../old switch -C main"
	denied exec "git -C z -C ../old branch -M x main"
}

denied_out() {
	grep -q "denied exec $1" "$S/out" "$S/err" || fail "not denied: $1: $2"
}

scenario "$@"
