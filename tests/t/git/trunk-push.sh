# levels: full strict
# limit: 180
# A push that a configuration would send to a protected branch.
. "$T_LIB"

# A push goes where the words say, or nowhere: whatever configuration, and whichever repository, stands behind them.
t_a_push_by_configuration() {
	local how
	local map='GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.push GIT_CONFIG_VALUE_0=refs/heads/topic:refs/heads/main'
	git init -q . && git add file &&
		git commit -q -m one && git clone -q --bare . ~/o.git && git remote add origin ~/o.git && git fetch -q
	printf '[files]\nwrite = ~/o.git\n[commands]\nallow = git push\n' | policy
	git branch -q -u origin/main main &&
		git checkout -q -b topic && git commit -q --allow-empty -m two && git branch -f main topic
	MAIN=$(git rev-parse origin/main)
	cp .git/config "$S/before"
	for how in 'git push origin main' \
		'git -c push.default=upstream -c branch.topic.merge=refs/heads/main push origin topic' "$map git push origin topic" \
		'git config remote.origin.push refs/heads/topic:refs/heads/main; git push origin topic; git push' \
		'git config push.default upstream; git config branch.topic.remote origin
			git config branch.topic.merge refs/heads/main; git push origin topic; git push' \
		'mkdir -p $XDG_CONFIG_HOME/git
			printf "[remote \"origin\"]\n\tpush = refs/heads/topic:refs/heads/main\n" >$XDG_CONFIG_HOME/git/config
			git push origin topic; rm $XDG_CONFIG_HOME/git/config' \
		"git checkout -q --detach; $map git push origin topic; git checkout -q topic" \
		"mkdir -p half/.git; cp .git/HEAD half/.git; cd half; $map git push origin topic" \
		'mkdir evil; echo "ref: refs/heads/main" >evil/HEAD; echo ../.git >evil/commondir; cd evil; git push' \
		'cd evil; ln -sf refs/heads/main HEAD; git push' \
		'mkdir -p h/.git; echo ../../.git >h/.git/commondir; ln -s refs/heads/main h/.git/HEAD; cd h; git push' \
		"$map git -C . push origin topic" "$map git --namespace=x push origin topic" \
		'git --shallow-file x push origin topic:main' 'git -c help.autocorrect=immediate pushh origin topic:main' \
		'git -c help.autocorrect=1 pus origin topic:main' \
		'export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=help.autocorrect GIT_CONFIG_VALUE_0=-1
			git psuh origin topic:main; git ppush origin topic:main'; do
		fsh "$how; true"
		[ "$(git -C ~/o.git rev-parse main)" = "$MAIN" ] || fail "pushed: $how"
		cp "$S/before" "$S/copy" && mv "$S/copy" .git/config
	done
	denied exec "git" "or a branch that pale cannot determine"
	git config push.autoSetupRemote true
	fsh 'set -e; git push -q origin topic; git push -q origin topic:other
		git push -q; git checkout -q -b next; git push -q; git push -q -u origin next'
	rc_is 0
	not_denied
	[ "$(git -C ~/o.git branch --format='%(refname:short)' | xargs)" = "main next other topic" ] || fail "not pushed"
	# What gemini and copilot give their shells leads nowhere else; the same with one key more does.
	how='export GIT_CONFIG_COUNT=4 GIT_CONFIG_SYSTEM=/dev/null'
	how+=' GIT_CONFIG_KEY_0=credential.helper GIT_CONFIG_VALUE_0= GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false'
	how+=' GIT_CONFIG_KEY_2=core.pager GIT_CONFIG_VALUE_2=cat'
	how+=' GIT_CONFIG_KEY_3=safe.bareRepository GIT_CONFIG_VALUE_3=explicit'
	fsh "set -e; $how; git push -q origin topic:third
		git checkout -q -b fourth; git push -q origin fourth; GIT_CONFIG_NOSYSTEM=1 git push -q"
	rc_is 0
	not_denied
	[ "$(git -C ~/o.git branch --format='%(refname:short)' | xargs)" = "fourth main next other third topic" ] ||
		fail "not pushed"
	fsh "$how GIT_CONFIG_KEY_3=Remote.origin.push GIT_CONFIG_VALUE_3=fourth:main; git push origin fourth; git push"
	fsh "export GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=$W/x
		printf '[remote \"origin\"]\npush = fourth:main' >x; git push origin fourth"
	fsh "printf '[remote \"origin\"]\npush = fourth:main' >x; GIT_CONFIG_SYSTEM=$W/x git push origin fourth"
	[ "$(git -C ~/o.git rev-parse main)" = "$MAIN" ] || fail "pushed to main"
	denied exec "git" "or a branch that pale cannot determine"
}

scenario "$@"
