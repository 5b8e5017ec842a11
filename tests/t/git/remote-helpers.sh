# levels: full strict hooks
# limit: 120
# Remote helpers push what their standard input says: git starts them for what was judged, and nobody else does.
. "$T_LIB"

# ~/far/bare.git over http at $URL, main of which is behind topic, the branch that the workspace is on.
far() {
	git init -q -b main . && git add file && git commit -q -m one && mkdir ~/far && git clone -q --bare . ~/far/bare.git
	git -C ~/far/bare.git config http.receivepack true
	python3 "${T_LIB%/*}/helper/githttp.py" ~/far "$S/port" 2>"$S/server" &
	SERVER=$!
	trap 'kill $SERVER' EXIT
	until_true 5 test -s "$S/port" || fail "no server: $(cat "$S/server")"
	URL=http://127.0.0.1:$(cat "$S/port")/bare.git
	printf '%s\n' '[git]' 'remote = none' '[commands]' 'allow = git push' 'allow = git -c a.b=c push' '[network]' \
		"allow = localhost:$(cat "$S/port")" | policy
	git checkout -q -b topic && git commit -q --allow-empty -m two && git remote add origin "$URL"
	MAIN=$(git rev-parse main)
}

t_by_a_helper() {
	local how p='push refs/heads/topic:refs/heads/main\n\n'
	far
	for how in 'git remote-http origin $U' 'git remote-https origin $U' "$(git --exec-path)/git-remote-http origin \$U" \
		'git --exec-path=/usr/lib/git-core -C . remote-http origin $U' \
		'env git remote-http origin $U' 'git -c alias.x=remote-http x origin $U' \
		'git config alias.x remote-http; git x origin $U' 'git -c alias.x="!git remote-http origin $U" x' \
		'(exec -a git-push git remote-http origin $U)' '(exec -a "git push" git remote-http origin $U)' \
		'git -c help.autocorrect=immediate remote-htp origin $U' \
		'git -c protocol.ext.allow=always ls-remote "ext::git remote-http origin $U"' \
		'GIT_ASKPASS=$(git --exec-path)/git-remote-http git credential fill' \
		'cp "$(command -v git)" git; ./git remote-http origin $U' \
		'mkdir b; cp "$(command -v git)" b
			printf "[alias]\nls-remote = x\n" >b/c; GIT_EXEC_PATH=$PWD/b git remote-http origin $U' \
		'git http-push $U refs/heads/topic:refs/heads/main' \
		'git remote-ext origin "git-receive-pack /x"' 'git remote-fd origin 7'; do
		fsh "export U=$URL; printf '$p' | $how; true"
		[ "$(git -C ~/far/bare.git rev-parse main)" = "$MAIN" ] || fail "pushed: $how"
		rm -rf git b && git config --unset alias.x
	done
	fsh "printf '$p' | git remote-http origin $URL"
	denied exec "git remote-http origin" "[git] protect = main"
	run pale explain exec git remote-http origin "$URL"
	out_has "a protected branch"
}

t_ordinary_work() {
	far
	fsh "set -e; git ls-remote -q; git fetch -q
		git pull -q origin main; git push -q origin topic; git -C . -c a.b=c push -q origin topic:other
		git remote show origin >/dev/null
		git remote update >/dev/null 2>&1; git -c alias.obtain=fetch obtain -q; git clone -q $URL c
		git -C c fetch -q; git-push -q origin topic 2>/dev/null || $(git --exec-path)/git-push -q origin topic
		git clone -q --filter=blob:none --no-checkout $URL d; git -c protocol.allow=always submodule --quiet add $URL sub
		git submodule --quiet update; sh -c 'exec git fetch -q'; setsid -w git fetch -q; rm -rf c d"
	rc_is 0
	not_denied
	[ "$(git -C ~/far/bare.git branch --format='%(refname:short)' | xargs)" = "main other topic" ] || fail "not pushed"
	fsh 'git push -q origin topic:main'
	denied exec "git push" "[git] protect = main"
}

scenario "$@"
