# needs: git git-lfs
# limit: 60
# Git, porcelain and plumbing, on repositories and remotes of this machine.

export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always

# A repository with some history in the current directory.
some_repo() {
	git init -q -b base .
	mkdir -p src doc
	for i in 1 2 3 4 5; do
		seq $((i * 20)) >src/f$i && echo "chapter $i" >doc/c$i && git add . && git commit -qm "commit $i"
	done
	git tag v1 HEAD~2 && git tag -a v2 -m 'the second' HEAD
	git checkout -qb topic HEAD~2 && echo topic >topic && git add . && git commit -qm topic && git checkout -q base
}

# How objects are packed depends on times.  The directory stays, and HEAD: no session takes these away.
forget() {
	rm -rf "$1"/.git/{objects/*,index,logs,info,rr-cache,gc.log} "$1"/.git/*_HEAD
}

# What a repository is, whatever its packs are called.
repo_is() {
	git -C "$1" for-each-ref && git -C "$1" log --all --format='%H %s' | sort &&
		git -C "$1" fsck --full 2>&1 | grep -v '^dangling' && git -C "$1" status --short --branch
	forget "$1"
}

p_git_clone() { some_repo && cd .. && mv work up && mkdir work && mv up work/; }
c_git_clone() {
	git clone -q up a && git clone -q --bare up b.git && git clone -q --mirror up m.git &&
		git clone -q --depth 2 "file://$PWD/up" shallow && git clone -q --no-local --single-branch -b topic up one
	git clone --shared up s 2>&1 && git clone -q --reference up --dissociate up r && git clone -q --filter=blob:none \
		"file://$PWD/up" partial 2>/dev/null; git -C shallow log --oneline && git -C one branch -a
	git -C a remote -v | sed "s|$PWD|W|" && echo x >>a/src/f1 && git -C a commit -qam x && git -C a remote add bare \
		"$PWD/b.git" && git -C b.git fetch -q "$PWD/a" HEAD:side && git -C b.git log -1 --format=%s side
	git -C r fetch -q "$PWD/b.git" side && git -C r merge -q FETCH_HEAD && git -C r log -1 --format=%H &&
		git -C r pull -q --rebase "$PWD/a" base && git -C a fetch -q --all --prune --tags && git -C a ls-remote bare | sort &&
		git -C m.git remote update 2>&1 && git -C shallow fetch -q --unshallow && git -C shallow rev-list --count HEAD
	git clone -q nosuch x
	(cd a && git bundle create -q ../bu --all && git bundle verify -q ../bu) && git clone -q bu frombundle
	for d in a shallow one r frombundle; do repo_is $d; done
	rm -rf up bu m.git b.git s partial
}

p_git_branches() { some_repo; }
c_git_branches() {
	git merge -q --no-edit topic && git log --graph --oneline && git checkout -q topic && echo conflict >src/f1 &&
		git commit -qam a && git checkout -q base && echo other >src/f1 && git commit -qam b && git merge topic
	git status --short && git diff --name-only --diff-filter=U &&
		git checkout --ours src/f1 && git add . && git commit -qm merged && git cherry-pick topic~1 2>&1 | tail -1
	git cherry-pick --skip; git revert --no-edit HEAD~1 -m 1 2>&1 | head -2
	git revert --abort 2>/dev/null; git reset -q --hard && git checkout -q -b reb topic~1 && echo r >r &&
		git add r && git commit -qm r && git rebase -q base && git log --format=%s -3 && git switch -q -c third &&
		git branch -m third fourth && git branch -vv && git branch -D fourth 2>&1 | cut -c1-20
	git checkout -q base && GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' GIT_EDITOR=true git rebase -q -i HEAD~2 &&
		git log -3 --format=%B && git rebase -q --exec 'echo run >>ran' HEAD~1 && cat ran && rm ran && git tag -d v1 &&
		git describe && git reflog | wc -l && git rerere status && git notes add -m note && git log -1 --format=%N
	repo_is .
}

p_git_worktrees() { some_repo; }
c_git_worktrees() {
	git worktree add -q wt topic && git worktree add -q -b new wt2 HEAD~1 &&
		git worktree add -q --detach "$TMPDIR/far" && git worktree list | sed "s|$PWD|W|;s|$TMPDIR|T|"
	cat wt/.git | sed "s|$PWD|W|" && (cd wt && echo w >w && git add w && git commit -qm w && git log --oneline -2 &&
		git rev-parse --git-common-dir | sed "s|$PWD|W|;s|.*/work/|W/|") && git log --oneline -1 topic
	git worktree lock wt2 && git worktree remove wt2
	git worktree unlock wt2 && mv wt2 moved && git worktree repair moved | sed "s|$PWD|W|;s|: .*||" &&
		git worktree move moved wt3 && git worktree remove wt3 &&
		rm -rf wt && git worktree prune -v | sed 's/:.*//' && git -C "$TMPDIR/far" status | head -1 &&
		git worktree remove "$TMPDIR/far" && git branch -D topic new 2>&1 | cut -c1-20
	git -C src status -sb && (cd src && git add -A .. && git rev-parse --show-prefix --is-inside-work-tree) &&
		GIT_DIR=.git GIT_WORK_TREE=. git -C . status -s &&
		mkdir alt && git --work-tree=alt checkout -q HEAD -- doc && ls alt/doc && git status -s
	repo_is .
}

p_git_submodules() { mkdir up lib && (cd lib && some_repo) && (cd up && some_repo); }
c_git_submodules() {
	cd up && git submodule add -q "$PWD/../lib" lib 2>&1 && git commit -qm 'with lib' && git submodule status |
		cut -c1-60 && cd .. && git clone -q --recurse-submodules up all 2>&1 && cat all/lib/topic all/lib/src/f1 2>/dev/null |
		head -1 && cat .gitmodules all/.gitmodules 2>/dev/null | sed "s|$PWD|W|;s|url = .*/work|url = W|"
	(cd lib && echo n >n && git add n && git commit -qm n) && git -C all submodule update -q --remote 2>&1 &&
		git -C all status -s && git -C all diff --submodule | head -2 && git -C all commit -qam up &&
		git -C all submodule foreach -q 'git log -1 --format=%s' && git -C all submodule summary HEAD~1 | head -3
	git clone -q up plain && ls plain/lib && git -C plain submodule update --init -q 2>&1 &&
		git -C plain submodule deinit -q --all && ls plain/lib && git -C all rm -q lib &&
		git -C all commit -qm gone && git -C up subtree --help >/dev/null 2>&1; git -C all log --oneline -3
	rm -rf up lib all plain
}

p_git_packs() { some_repo; }
c_git_packs() {
	git gc -q --prune=now && git count-objects | cut -d, -f1 &&
		ls .git/objects/pack | sed 's/pack-.*\././' | sort -u && git repack -qadf --depth=5 &&
		git prune && git fsck --full --strict && git verify-pack -v .git/objects/pack/*.idx | grep -c blob
	git pack-refs --all && cat .git/packed-refs && git rev-parse v2^{commit} && git cat-file -p HEAD^{tree} &&
		echo blob | git hash-object -w --stdin && git cat-file --batch-check <<<HEAD &&
		git ls-tree -r HEAD --name-only && git ls-files -s | head -2 && git write-tree &&
		git rev-list --objects --all | wc -l && git commit-graph write && git multi-pack-index write &&
		git maintenance run --auto -q && git unpack-objects -n <$(ls .git/objects/pack/*.pack) >/dev/null 2>&1
	git archive --prefix=p/ HEAD | tar tf - && git archive --format=tar.gz HEAD doc | tar tzf - &&
		git fast-export --all | cksum && git update-ref refs/heads/raw HEAD~1 &&
		git symbolic-ref HEAD && git for-each-ref --format='%(refname) %(objecttype)' &&
		git shortlog -s HEAD && git blame -s src/f3 | tail -1 && git grep -n 'chapter [23]' &&
		git log --stat --oneline -1 && git show --format=%an v2 | head -8 && git name-rev HEAD~1 &&
		git show-ref --heads && git diff --stat HEAD~2 && git range-diff HEAD~2..HEAD~1 HEAD~1..HEAD | head -1
	forget .
}

p_git_patches() { some_repo; }
c_git_patches() {
	git format-patch -q -3 -o out --cover-letter && ls out && git checkout -q -b applied HEAD~3 &&
		git am -q out/000[123]*.patch && git log --format='%s %ad' --date=short -3 && git diff base --stat
	echo stash >>src/f1 && echo new >untracked && git stash -q -u && git status -s && git stash list | cut -c1-12 &&
		git stash show -p | tail -1 && git stash pop -q && git status -s && git diff >p && git checkout -q . &&
		git apply --check p && git apply --index p && git diff --cached --numstat && git reset -q &&
		git checkout -q -- . && printf 'y\nn\n' | git add -p >/dev/null 2>&1; git clean -ndx && git clean -qfd &&
		git mv doc/c1 doc/moved && git commit -qm mv && git log --follow --format=%s doc/moved | wc -l
	git am -q <out/0001-commit-3.patch
	git am --abort && git request-pull v2 . base 2>&1 | head -3 && git bisect start -q base base~4 >/dev/null &&
		git bisect run sh -c '! test -e doc/c4' | grep -c 'first bad' &&
		git bisect reset -q 2>/dev/null && git status -sb | head -1 && git sparse-checkout set src &&
		ls && git sparse-checkout disable && ls && git update-index --assume-unchanged doc/c2 && echo x >>doc/c2 &&
		git status -s && git config alias.st 'status -sb' && git st && git config --local --list | grep -c alias
	forget . && rm -r out
}

# Hooks that are there already run; what the agent may not do is write one.
p_git_runs_hooks() {
	some_repo
	printf '#!/bin/sh\necho "pre-commit $(git diff --cached --name-only)"\necho ran >>ran\n' >.git/hooks/pre-commit
	printf '#!/bin/sh\nsed -i 1s/^/[hook]\\ / "$1"\n' >.git/hooks/commit-msg
	printf '#!/bin/sh\necho "post-checkout $3"\n' >.git/hooks/post-checkout
	printf '#!/bin/sh\ngrep -q bad src/f1 && echo refused && exit 1\nexit 0\n' >.git/hooks/pre-merge-commit
	chmod +x .git/hooks/*
	printf '*.up filter=upper\n*.one diff=words\n' >.gitattributes
	git config filter.upper.clean 'tr A-Z a-z' &&
		git config filter.upper.smudge 'tr a-z A-Z' && git config diff.words.textconv 'tr " " "\n" <'
}
c_git_runs_hooks() {
	echo change >>src/f1 && echo LOUD >x.up && echo a b >x.one &&
		git add . 2>&1 && git commit -m message && git log -1 --format=%s && git checkout -q topic &&
		git checkout base 2>&1 && cat ran && git cat-file -p HEAD:x.up && rm x.up && git checkout x.up 2>&1 &&
		cat x.up && git commit --allow-empty --no-verify -qm quiet && git log -1 --format=%s
	echo 'c d' >>x.one && git diff | tail -2 && git difftool -y -x 'diff -q' HEAD -- x.one | wc -l &&
		GIT_PAGER='sed s/^/p:/' git -p log --oneline -1 && GIT_EDITOR='sh -c "echo edited >$1" -' git commit -qa &&
		git log -1 --format=%s && git config core.fsmonitor false &&
		git credential fill <<<'protocol=x' 2>&1 | head -1 && GIT_TRACE=1 git rev-parse HEAD 2>&1 | grep -c trace
	forget .
} 2>&1

p_git_large() { git init -q -b base . &&
	for d in {1..12}; do mkdir $d && for f in {1..50}; do echo "$d $f" >$d/f$f; done; done; }
c_git_large() {
	git add . && git commit -qm all && git status -s && for d in {1..12}; do echo more >>$d/f7; done &&
		git diff --stat | tail -1 && git commit -qam more && git rm -rq 1 2 3 && git checkout -q HEAD -- 1 &&
		git status -s | wc -l && git reset -q --hard HEAD~1 && git gc -q && git clone -q . copy && (cd copy && ls | wc -l &&
		git checkout -q --orphan empty && git rm -rfq . && ls -A) && rm -rf copy && git grep -c '^7 ' | wc -l &&
		git mv 4 four && git status -s | wc -l && git log --name-only --oneline | wc -l && git read-tree --reset -u HEAD &&
		git checkout-index -a --prefix=out/ && diff -r 5 out/5 && git ls-files | xargs -n 50 -P 4 git hash-object | wc -l
	forget .
}

# What the preset keeps: the trunk, and hooks.
p_git_kept() { git init -q -b main . && echo x >f && git add f && git commit -qm x && git checkout -qb topic; }
c_git_kept() {
	git checkout -q main
	git update-ref refs/heads/main HEAD
	git branch -qD main
	echo '#!/bin/sh' >.git/hooks/pre-commit
	rm -rf .git && git init -q -b topic . && git status -sb
}

# Written in Go.
p_git_lfs() { some_repo && git lfs install --local && git lfs update --force && git lfs track '*.bin'; }
c_git_lfs() {
	head -c 100000 /dev/zero >big.bin && git add . && git commit -qm lfs && git cat-file -p HEAD:big.bin &&
		git lfs ls-files && rm big.bin && git checkout big.bin 2>&1 && stat -c %s big.bin && git lfs fsck && git lfs status
	forget . && rm -rf .git/lfs
}
