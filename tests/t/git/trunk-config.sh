# levels: full strict
# limit: 120
# What the operator's own `git fetch`, `git pull` and `git push` do after the session, by the workspace's configuration.
. "$T_LIB"

# On topic; main follows origin's, which is one behind; ~/evil.git has another main.
repo() {
	git init -q --bare ~/o.git &&
		git init -q ~/src && cd ~/src && git commit -q --allow-empty -m one && git push -q ~/o.git main
	git commit -q --allow-empty -m evil && git clone -q --bare . ~/evil.git
	cd "$W" && rm -f file && git clone -q ~/o.git . && git checkout -q -b topic && git commit -q --allow-empty -m two
	MAIN=$(git rev-parse main)
	cp .git/config "$S/config"
}

# Each is refused as a configuration, and the operator's own git does what it did.
each() {
	local how before
	before=$(git config -l --local | sort)
	for how; do
		fsh "E=$HOME/evil.git; $how; true"
		[ "$(git config -l --local | sort)" = "$before" ] || fail "written: $how"
		[ ! -e .git/config.worktree ] || fail "config.worktree: $how"
		rm -rf sub && git worktree prune
	done
}

# By what the file says afterwards, where part of it may be written.
later() {
	local how
	for how; do
		fsh "E=$HOME/evil.git; $how; true"
		git checkout -q main && {
			git fetch; git pull --no-edit
			git push; git fetch --all; git checkout -q topic; git push
		} >/dev/null 2>&1 </dev/null
		[ "$(git rev-parse main)" = "$MAIN" ] || fail "main moved: $how"
		[ "$(git -C ~/o.git rev-parse main)" = "$MAIN" ] || fail "pushed: $how"
		[ "$(git -C ~/evil.git log -1 --format=%s main)" = evil ] || fail "pushed elsewhere: $how"
		[ "$(git symbolic-ref HEAD)" = refs/heads/topic ] || git checkout -q topic
		cp "$S/config" "$S/copy" && mv "$S/copy" .git/config
		rm -rf .git/config.worktree origin
	done
}

t_refspecs() {
	local spec
	repo
	for spec in +refs/heads/topic:refs/heads/main refs/pull/1/head:refs/heads/pr-1 \
		'refs/heads/*:refs/heads/*' '+refs/*:refs/*' topic:main topic:heads/main 'refs/heads/*:refs/heads/ma*' \
		topic:refs/tags/main topic:refs/main '+refs/x/*:refs/replace/*' 'refs/heads/*:refs/h*'; do
		each "git config --add remote.origin.fetch $spec" \
			"git config remote.new.fetch $spec" "git config --replace-all remote.origin.fetch $spec"
	done
	denied rename "$W/.git/config" 'remote.origin.fetch decides where a later fetch, pull or push goes'
	for spec in topic HEAD:refs/for/main topic:main refs/heads/topic:refs/heads/main : +: HEAD @ +main \
		'refs/heads/*' 'refs/heads/*:refs/heads/*' topic:HEAD :main 'refs/*'; do
		each "git config remote.origin.push $spec" "git config remote.new.push $spec"
	done
	each 'git config remote.origin.mirror true' 'git config remote.origin.mirror yes'
	later 'git remote add --mirror=push new $E; git config branch.topic.remote new' \
		'git remote add --mirror=fetch new $E; git config branch.topic.remote new'
	fsh 'set -e; git config --add remote.origin.fetch +refs/heads/topic:refs/remotes/origin/t
		git config --add remote.origin.fetch "+refs/pull/*/head:refs/remotes/origin/pr/*"
		git config --add remote.origin.fetch "+refs/tags/*:refs/tags/*"
		git config --add remote.origin.fetch "^refs/heads/wip/*"
		git config remote.origin.mirror false; git config --add remote.origin.fetch main'
	rc_is 0
	not_denied
}

t_where_main_comes_from() {
	repo
	each 'git config branch.main.remote $E' 'git config branch.main.merge refs/heads/topic' \
		'git config --add branch.main.merge refs/heads/topic' 'git config branch.main.pushRemote $E' \
		'git config branch.main.rebase true' \
		'git config branch.main.remote .' 'git config remote.pushDefault $E' 'git config push.default matching' \
		'git config push.default upstream' 'git config push.default tracking' \
		'git config core.bare true' 'git config rebase.updateRefs true' 'git config alias.st "reset --hard topic"' \
		'git config alias.l "branch -f main"' 'git config alias.unstage "reset HEAD --"' \
		'git config url.$E.insteadOf x' 'git config url.$E.pushInsteadOf x' \
		'git config branch.master.remote origin; git config branch.master.merge refs/heads/main'
	denied rename "$W/.git/config" 'branch.master.merge'
	later 'git branch -u topic main; git branch --set-upstream-to=topic main' \
		'git remote add new $E; git config branch.main.remote new' \
		'git remote add new $E; git config remote.pushDefault new' \
		'git remote add new $E; git config branch.main.pushRemote new' \
		'git config --unset branch.main.remote
			git config --rename-section remote.origin remote.up; git remote add origin $E' \
		'git config --unset branch.main.remote; git remote add origin2 $E; git remote remove origin' \
		'git config --rename-section remote.origin remote.up; git clone -q --bare $E origin' \
		'git config --unset remote.origin.url; git clone -q --bare $E origin' \
		'git config --rename-section branch.main branch.x
			git config --rename-section branch.x branch.main; git config branch.main.remote $E' \
		'rm -f .git/config
			printf "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = $E\n\
[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n" >.git/config' \
		'git config branch.topic.merge refs/heads/main
			git config branch.topic.remote origin; git config push.default upstream'
}

# A remote that stood there stays, by its name and where it leads; one of the session's own comes, leads
# elsewhere and goes.
t_remotes_that_stood_there() {
	repo
	each 'git remote set-url origin $E' 'git remote set-url --add origin $E' 'git remote set-url --push origin $E' \
		'git config remote.origin.pushurl $E' 'git config --replace-all remote.origin.url $E'
	denied rename "$W/.git/config" 'the operator may set it: git config remote.origin.url'
	# git asks a promisor for a missing object by itself, at the operator's next diff
	each 'git config remote.origin.promisor true' 'git config remote.new.promisor true'
	denied rename "$W/.git/config" 'remote.new.promisor'
	each 'git config extensions.partialClone origin' 'git config extensions.partialClone evil'
	denied rename "$W/.git/config" 'extensions.partialclone'
	later 'git remote remove origin; git remote add origin $E
		git config branch.main.remote origin; git config branch.main.merge refs/heads/main' \
		'git remote rename origin up; git remote add origin $E; git remote set-url up $E' \
		'git config remote.origin.x y; git config --remove-section remote.origin; git config remote.origin.url $E'
	each 'git remote rename origin up' 'git remote remove origin' 'git config --unset branch.main.remote' \
		'git config --remove-section branch.main' 'git config --unset-all remote.origin.url'
	fsh 'set -e; git remote add up ~/evil.git
		git remote set-url up x; git remote rename up upper; git remote remove upper'
	rc_is 0
	not_denied
}

# What a worktree has besides.
t_beside_the_whole() {
	repo
	git config extensions.worktreeConfig true && cp .git/config "$S/config"
	each 'git config --worktree remote.origin.url $E' 'git config --worktree remote.new.url $E' \
		'git config --worktree branch.main.remote $E' 'git config --worktree push.default matching' \
		'git config --worktree core.bare true' 'git config --worktree remote.pushDefault $E' \
		'printf "[remote \"origin\"]\n\turl = x\n" >.git/config.worktree'
	denied write "$W/.git/config.worktree" "a session may not change it"
	fsh 'set -e; git config --worktree user.name x
		git sparse-checkout set --cone . >/dev/null; git sparse-checkout disable'
	rc_is 0
	not_denied
}

t_ordinary_configuration() {
	repo
	printf '[files]\nwrite = ~/o.git\n[commands]\nallow = git push\n' | policy
	fsh 'set -e; git remote add new https://h/x.git; git remote set-url new https://h/y.git
		git remote set-url --push new no; git remote rename new newer; git remote remove newer
		git push -q -u origin topic:topic
		git checkout -q -b next origin/main 2>/dev/null; git branch -u origin/main >/dev/null
		git branch -m next nexter; git branch -d nexter >/dev/null 2>&1 || git checkout -q topic
		git config push.default current; git config push.autoSetupRemote true; git config branch.autoSetupRebase always
		git config pull.rebase true; git config fetch.prune true; git config core.bare false
		git config alias.co checkout; git config alias.s "status -s"; git fetch -q; git init -q .
		git remote set-branches --add origin topic; git remote set-head origin -a >/dev/null
		git config branch.main.description x; git config user.name y; sed -i /=.y/s/y/z/ .git/config
		git clone -q --mirror ~/o.git m.git
		git clone -q ~/o.git c; git -C c remote set-url origin x; git -C c config branch.main.merge refs/heads/x
		git -c protocol.file.allow=always submodule --quiet add ~/o.git sub 2>/dev/null'
	rc_is 0
	not_denied
	# what the operator has there himself may stay, and what he adds meanwhile
	git config remote.origin.push refs/heads/main && git config push.default matching &&
		git config remote.origin.mirror true && git config branch.main.rebase true
	bg other bash -c 'touch up; until [ -e go ]; do sleep 0.1; done
		git config user.name w && git config --unset remote.origin.mirror'
	until_true 10 test -e up
	git remote set-url origin ~/evil.git && touch go
	bg_wait other
	[ "$(git config user.name)" = w ] || fail "not written beside the operator"
}

# A repository of the session's own says what the session likes.
t_a_new_repository() {
	rm -f file
	git init -q --bare ~/o.git
	fsh 'set -e; git init -q .; git commit -q --allow-empty -m x
		git remote add origin ~/o.git; git remote set-url origin ~/p.git; git config branch.main.remote origin
		git config branch.main.merge refs/heads/main; git remote rename origin up; git config branch.main.remote up'
	rc_is 0
	not_denied
}

scenario "$@"
