# levels: full strict
# limit: 120
# What one session leaves for the next: HEAD, and links in place of refs.
. "$T_LIB"

# A repository on topic with main one commit behind.
repo() {
	git init -q -b main . && git add file &&
		git commit -q -m one && git checkout -q -b topic && git commit -q --allow-empty -m two
	MAIN=$(git rev-parse main)
}

t_head_stays_off_a_protected_branch() {
	local how
	repo
	git branch -q master
	for how in 'echo "ref: refs/heads/main" >$H' 'echo "ref: refs/heads/main" >x; mv x $H' \
		'echo "ref:  refs/heads/main" >x; mv x $H' 'printf "ref: refs/heads/main" >x; mv x $H' \
		'git -c alias.s=symbolic-ref s HEAD refs/heads/main' \
		'git -c alias.c=checkout c main' 'git -c alias.c=switch c master' \
		'git checkout -q main~0; git -c alias.s=symbolic-ref s HEAD refs/heads/main' \
		'rm -f $H; echo "ref: refs/heads/main" >$H' 'rm -f $H; echo "ref: refs/heads/main" >x; ln x $H; ln -s x $H' \
		'ln $H y && echo "ref: refs/heads/main" >y; mv $H y; echo "ref: refs/heads/main" >y; mv y $H' \
		'ln -sf refs/heads/main $H' 'git -c core.preferSymlinkRefs=true -c alias.s=symbolic-ref s HEAD refs/heads/main' \
		'exec 9<>$H; echo "ref: refs/heads/main" >&9' \
		'echo "ref: refs/heads/main" >x; exec 9<>x; ln -f x $H; mv x $H' \
		'printf "ref: refs/heads/topic\n" >x; exec 9<>x; mv x $H; echo "ref: refs/heads/main" >&9' \
		'echo "ref: refs/heads/main" >x; busybox mv x $H
			busybox cp x $H; busybox sh -c "echo ref: refs/heads/main >$H"; cp x $H; dd if=x of=$H status=none' \
		'echo "ref: refs/heads/main" >x
			python3 -c "import ctypes; ctypes.CDLL(None).renameat2(-100, b\"x\", -100, b\".git/HEAD\", 2)"' \
		'cp -r .git .g; echo "ref: refs/heads/main" >.g/HEAD; mv .git .old; mv .g .git' \
		'git checkout -q -b other; git switch -q -; git -c alias.w=worktree w add -q -f w main; cp w/.git .git'; do
		fsh "H=.git/HEAD; $how; true"
		! grep -qs "refs/heads/ma" .git/HEAD || fail "HEAD is $(cat .git/HEAD): $how"
		rm -rf x y w .g && echo "ref: refs/heads/topic" >"$S/head" &&
			rm -f .git/HEAD && cp "$S/head" .git/HEAD && git worktree prune
		[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved: $how"
	done
	fsh 'echo "ref: refs/heads/main" >x; mv x .git/HEAD'
	denied rename "$W/.git/HEAD" "the next session would begin on it"
	fsh 'echo "ref: refs/heads/main" >.git/HEAD; sync .git/HEAD'
	denied write "$W/.git/HEAD" "the next session would begin on it"
	# what is unprotected, or no branch at all
	fsh 'set -e; git branch inplace
		echo "ref: refs/heads/inplace" >.git/HEAD; [ "$(git branch --show-current)" = inplace ]
		git checkout -q topic; git checkout -q --detach main; git checkout -q -b new
		git switch -q topic; echo "ref: refs/heads/new" >x; mv x .git/HEAD; git symbolic-ref HEAD refs/heads/topic
		git rebase -q --force-rebase main
		git stash list; git bisect start -q HEAD main >/dev/null; git bisect reset 2>/dev/null
		git checkout -q --orphan o; git checkout -q topic; git worktree add -q w new; git worktree remove w'
	rc_is 0
	not_denied
	[ "$(git symbolic-ref HEAD)" = refs/heads/topic ] || fail "HEAD is not topic"
}

# In a linked worktree HEAD lies beside the repository that has the branches.
t_head_of_a_linked_worktree() {
	repo
	git worktree add -q ~/wt -b side
	cd ~/wt
	fsh 'echo "ref: refs/heads/main" >x
		mv x $(git rev-parse --git-dir)/HEAD; git -c alias.c=checkout c -q main; git checkout -q -b next'
	rc_is 0
	[ "$(git symbolic-ref HEAD)" = refs/heads/next ] || fail "HEAD is $(git symbolic-ref HEAD)"
	denied rename "$W/.git/worktrees/wt/HEAD" "the next session would begin on it"
}

t_back_to_where_it_began() {
	repo
	git branch -q master main && git checkout -q main
	fsh 'set -e; git checkout -q topic; git checkout -q main
		git checkout -q --detach; git switch -q main; git checkout -q topic; echo "ref: refs/heads/main" >x
		mv x .git/HEAD; git commit -q --allow-empty -m grown; git rebase -q --force-rebase HEAD~1'
	rc_is 0
	not_denied
	[ "$(git symbolic-ref HEAD)" = refs/heads/main ] || fail "HEAD is not main"
	fsh 'echo "ref: refs/heads/master" >x; mv x .git/HEAD'
	denied rename "$W/.git/HEAD" "master is a protected branch"
}

# What an earlier session may have made of .git/refs, before the operator made main; it is in $1 of these.
LINKS=('mkdir hh; cp -r .git/refs/heads/. hh; rm -r .git/refs/heads; ln -s ../../hh .git/refs/heads'
	'cp -r .git/refs rr; rm -r .git/refs; ln -s ../rr .git/refs' 'ln -s ../../../hm .git/refs/heads/main; echo $T >hm'
	'ln -s ../../../h1 .git/refs/heads/main; ln -s h2 h1; ln -s $PWD/hm h2; echo $T >hm'
	'mkdir -p hh; cp -r .git/refs/heads/. hh
		rm -r .git/refs/heads; ln -s hh l1; ln -s $PWD/l1 l2; ln -s ../../l2 .git/refs/heads'
	'mkdir -p d/e hh; cp -r .git/refs/heads/. hh
		rm -r .git/refs/heads; ln -s d/e l1; mkdir d/hh; ln -s ../../l1/../../hh .git/refs/heads')

# What the next one tries, with the branch at $F.
TRIES=('echo $T >$F' 'echo $T >x; mv x $F' 'rm -f $F; echo $T >$F' 'echo $T >.git/refs/heads/main'
	'echo $T >x; mv x .git/refs/heads/main' 'rm -f .git/refs/heads/main; echo $T >.git/refs/heads/main'
	'rm -f .git/refs/heads; mkdir -p .git/refs/heads; echo $T >.git/refs/heads/main'
	'mv .git/refs/heads x; mkdir .git/refs/heads; echo $T >.git/refs/heads/main'
	'mv .git/refs x; mkdir -p .git/refs/heads; echo $T >.git/refs/heads/main'
	'mkdir y; echo $T >y/main; mv hh x; mv y hh' 'mkdir -p y/heads; echo $T >y/heads/main; mv rr x; mv y rr'
	'mkdir y; echo $T >y/main; for l in l1 l2 h1 h2; do rm -f $l; ln -sfn $PWD/y $l; ln -sfn $PWD/y .git/refs/heads; done'
	'for l in h1 h2; do echo $T >x; rm -f $l; mv x $l; done' 'echo "$T refs/heads/main" >.git/packed-refs; rm -f $F'
	'git -c alias.b=branch b -f main topic; git -c alias.b=branch b -D main'
	'git -c alias.u=update-ref u refs/heads/main topic')

# A session closes no directory in which the branches are found; one that was closed is told by the next start.
t_nothing_is_closed() {
	local how at
	need busybox python3
	repo
	for at in .git .git/refs .git/refs/heads; do
		for how in "chmod 111 $at" "busybox chmod 0 $at" "chmod u-r $at" \
			"python3 -c 'import os; os.fchmod(os.open(\"$at\", os.O_RDONLY), 0)'" \
			"python3 -c 'import os; os.setxattr(\"$at\", \"system.posix_acl_access\",
    bytes.fromhex(\"02000000010000000000000004000000ffffffff20000000ffffffff\"))'"; do
			fsh "$how"
			rc_not 0 "$how"
			[ "$(stat -c %a $at)" = 755 ] || fail "$how: $(stat -c %a $at)"
		done
	done
	err_has "the protected branches are found there, by the next session too"
	fsh 'set -e; git branch a/b; git branch -D a/b
		git tag t; git pack-refs --all; git gc -q; git checkout -q -b new; git commit -q --allow-empty -m x'
	rc_is 0
	git branch -q release/1 main
	printf '[git]\nprotect = release/*\n' | policy
	for how in '111 .git/refs/heads' '0 .git/refs/heads' \
		'644 .git/refs/heads' '0 .git/refs' '0 .git' '600 .git/refs/heads/release' '0 .git/packed-refs' \
		'0 .git/refs/heads/main'; do
		at=${how#* }
		git pack-refs
		[ "$at" != .git/refs/heads/main ] || git update-ref --create-reflog refs/heads/main main~0
		[ -e "$at" ] || { mkdir -p "${at%/*}" && git rev-parse main >"$at"; }
		chmod $how
		run pale run -q -- touch ran
		chmod u+rwX $at
		rc_is 125 "$how"
		err_has "pale: $W/$at"
		case $at in
		.git/refs/heads/*) err_has "is \
closed to you" "pale cannot read which branches are protected; first: chmod -R u+rwX '$W/.git/refs/heads'" ;;
		*) err_has "is closed to you" "pale cannot read which branches are protected; first: chmod u+rwX '$W/$at'" ;;
		esac
		missing ran
	done
	run pale run -q -- touch ran
	rc_is 0
}

t_links_in_place_of_refs() {
	local how way f
	for how in "${LINKS[@]}"; do
		rm -rf .git hh rr hm h1 h2 l1 l2 d && git init -q -b topic . && git add file && git commit -q -m one
		fsh "T=$(git rev-parse topic); $how"
		rc_is 0
		rm -f .git/refs/heads/main.lock &&
			git update-ref --no-deref refs/heads/main topic && git commit -q --allow-empty -m two
		# git may have put a file in the place of a link
		f=$(realpath .git/refs/heads/main) MAIN=$(git rev-parse main)
		[ "$(git cat-file -t main)" = commit ] || fail "no main: $how"
		fsh true
		rc_is 0
		[ "$f" = "$W/.git/refs/heads/main" ] ||
			err_has "protected branch main: a symbolic link leads to $f: the branch is protected there"
		for way in "${TRIES[@]}"; do
			fsh "F=$f T=$(git rev-parse topic); $way; true"
			[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved: $how: $way"
			rm -rf x y
		done
		fsh 'git commit -q --allow-empty -m three
			git branch new; git checkout -q new; git checkout -q topic; git branch -D new'
		rc_is 0
		not_denied
	done
	fsh "echo x >$f"
	denied write "$f" "a part of the workspace's repository that lies elsewhere"
}

t_links_that_are_not_held_are_told() {
	local how
	repo
	git pack-refs --all && rm -rf .git/refs/heads && cp -a .git "$S/packed"
	mkdir ~/aside
	for how in 'ln -s ~/aside .git/refs/heads' \
		'ln -s ../../nothing/there .git/refs/heads; mkdir .git/refs/heads/../x 2>/dev/null; touch nothing' \
		'ln -s heads .git/refs/heads' 'ln -s / .git/refs/heads' \
		'mkdir .git/refs/heads; ln -s main .git/refs/heads/main' 'mkdir "a*"; ln -s "../../a*" .git/refs/heads' \
		'mkdir a; touch a/main.lock; ln -s ../../a .git/refs/heads'; do
		rm -rf .git a* nothing && cp -a "$S/packed" .git && bash -c "$how"
		run pale run -q -- true
		rc_is 0
		err_has "branch main"
		[ -z "$(ls -A ~/aside)" ] || fail "a link was followed: $how"
		[ ! -e /main ] || fail "a link was followed: $how"
	done
	# near by, the file is written where git reads it
	rm -rf .git a* && cp -a "$S/packed" .git && mkdir hh && ln -s ../../hh .git/refs/heads
	run pale run -q -- bash -c "echo '$(git rev-parse topic) refs/heads/main' >.git/packed-refs; echo x >hh/main"
	err_has "protected branch main: a symbolic link leads to $W/hh/main"
	file_is hh/main "$MAIN"
	[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved"
	# and the one that it begins on does not grow there
	echo "ref: refs/heads/main" >.git/HEAD
	fsh 'git commit -q --allow-empty -m x'
	[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved"
	# a directory that is larger than anybody looks through
	rm -rf hh && mkdir hh && (cd hh && seq -f 'f%g' 5000 | xargs touch)
	run pale run -q -- true
	err_has "symbolic links lead to too many files"
}

scenario "$@"
