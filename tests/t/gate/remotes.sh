# limit: 300
# Remotes of all kinds: empty ones, those of another format, with many refs, that refuse, and URLs that are none.
. "$T_LIB"
. "$T_BASE/t/gate-lib.sh"

t_empty() {
	upstream empty
	gate_ready
	rm -f file
	run git clone -q "pale::$URL" .
	rc_is 0
	git checkout -q -b topic && echo one >a && git add a && git commit -qm one
	run git push origin topic
	rc_is 0
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse topic)" ] || fail "not pushed"
	run git push origin topic
	rc_is 0
}

t_sha256() {
	FORMAT=sha256 upstream
	gate_ready
	rm -f file
	run git clone -q "pale::$URL" .
	rc_is 0
	[ "$(git rev-parse --show-object-format)" = sha256 ] || fail "another format"
	git checkout -q -b topic && echo two >b && git add b && git commit -qm two
	run git push origin topic
	rc_is 0
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse topic)" ] || fail "not pushed"
}

# The remote becomes one of another format: another repository, and what was pushed stays.
t_another_format() {
	cloned
	run git push origin topic
	rc_is 0
	rm -rf "$S/srv/o.git" ~/src
	git init -q --bare --object-format=sha256 "$S/srv/o.git" && git init -q --object-format=sha256 ~/src &&
		git -C ~/src commit -q --allow-empty -m one && git -C ~/src push -q "$S/srv/o.git" main
	run git clone -q "pale::$URL" "$S/c"
	rc_is 0
	[ "$(ls -d "$STATE"/gate/*.git | wc -l)" = 2 ] || fail "$(ls "$STATE/gate")"
}

t_shallow_and_partial() {
	upstream
	echo two >>~/src/a && git -C ~/src commit -qam two && git -C ~/src push -q "$S/srv/o.git" main
	gate_ready
	rm -f file
	run git clone -q --depth 1 "pale::$URL" .
	rc_is 0
	[ "$(git rev-list --count HEAD)" = 1 ] || fail "not shallow"
	echo two >b && git add b && git commit -qm two && run git push origin HEAD:topic
	rc_is 0
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse HEAD)" ] || fail "not pushed"
	run git fetch -q --unshallow
	rc_is 0
	run git clone -q --filter=blob:none "pale::$URL" "$S/p"
	rc_is 0
	run git -C "$S/p" show HEAD~1:a
	rc_is 0
	out_is one
}

# `fetch` of the policy: what it does not name is neither shown nor given.
t_hidden() {
	local hidden
	upstream
	git -C ~/src checkout -q -b secret && git -C ~/src commit -q --allow-empty -m secret &&
		git -C ~/src push -q "$S/srv/o.git" secret
	hidden=$(git -C ~/src rev-parse secret)
	gate_ready
	order 'fetch=["refs/heads/main"]'
	run git ls-remote "pale::$URL"
	out_has refs/heads/main
	out_has HEAD
	out_lacks secret
	out_lacks v1
	git init -q c
	run git -C c fetch "pale::$URL" "$hidden"
	rc_not 0
	git -C "$S/srv/o.git" symbolic-ref HEAD refs/heads/secret
	run git ls-remote "pale::$URL"
	out_lacks HEAD
	out_lacks "$hidden"
	order 'fetch=["refs/heads/m*n"]'
	run git ls-remote "pale::$URL"
	err_has '`fetch` of the policy names no refs'
	order 'fetch=[]'
	run git ls-remote "pale::$URL"
	rc_is 0
	out_is ""
	# what is waiting is of no one's fetch
	order
	git clone -q "pale::$URL" d && cd d && git commit -q --allow-empty -m x && GATE_ANSWER=eof run git push origin HEAD:y
	err_has "kept as change 1"
	run git ls-remote origin
	out_lacks refs/changes
}

t_many_refs() {
	upstream
	git -C "$S/srv/o.git" rev-parse main >"$S/oid"
	{
		echo "# pack-refs with: peeled fully-peeled sorted"
		seq -f "$(cat "$S/oid") refs/heads/b%06g" 100001
		echo "$(cat "$S/oid") refs/heads/main"
	} >"$S/srv/o.git/packed-refs"
	rm -f "$S/srv/o.git/refs/heads/main" "$S/srv/o.git/refs/tags/v1"
	gate_ready
	run git ls-remote "pale::$URL"
	rc_is 0
	[ "$(wc -l <"$S/out")" = 100003 ] || fail "$(wc -l <"$S/out") refs"
	git init -q c && cd c && git fetch -q "pale::$URL" main && git checkout -q FETCH_HEAD &&
		git commit -q --allow-empty -m x
	run git push "pale::$URL" HEAD:refs/heads/topic
	rc_is 0
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse HEAD)" ] || fail "not pushed"
}

# refused_by URL SENTENCE: a fetch and a push say it.
refused_by() {
	run git ls-remote "pale::$1"
	rc_not 0 "$1"
	err_has "remote error: "
	err_has "$2"
	! grep -q $'\e' "$S/err" || fail "an escape: $1"
	run git push "pale::$1" HEAD:refs/heads/x
	rc_not 0 "$1"
	err_has "$2"
}

t_refusals() {
	need python3
	gate_ready
	git init -q . && git add file && git commit -qm one
	python3 "$T_BASE/t/answers.py" "$S/port" &
	until_true 10 test -e "$S/port" || fail "no server"
	local http="http://127.0.0.1:$(cat "$S/port")"
	refused_by "$http/401/a.git" '127.0.0.1 wants a user name and a password, and your git has none for it; set a'
	refused_by "http://me:hunter2@${http#http://}/401/a.git" '127.0.0.1 refused your credentials (401)'
	err_lacks hunter2
	refused_by "$http/403/a.git" '127.0.0.1 forbids it (403)'
	refused_by "$http/404/a.git" '127.0.0.1 has no such repository, or does not show it to you (404)'
	refused_by "$http/302/a.git" '127.0.0.1 has moved it to another URL (302)'
	refused_by "$http/429/a.git" '(429); try again later'
	refused_by "$http/500/a.git" '127.0.0.1 failed: '
	refused_by "$http/cut/a.git" '127.0.0.1 '
	refused_by "git://127.0.0.1:1/a.git" '127.0.0.1 cannot be reached'
	refused_by "https://no-such-host.invalid/a.git" 'cannot be found: the name is not known'
	refused_by "ssh://127.0.0.1:1/a.git" '127.0.0.1 cannot be reached'
	upstream empty
	refused_by "git://127.0.0.1:$PORT/none.git" '127.0.0.1 has no such repository'
	[ -z "$(find "$STATE" -name '*.git')" ] || fail "a repository was made"
}

t_urls() {
	local url
	need python3
	gate_ready
	git init -q . && git add file && git commit -qm one
	for url in file:///etc /etc ./x ext::sh 'ext::sh -c touch% ran' "fd::3" --upload-pack=touch -x:y \
		'ssh://-oProxyCommand=touch/x' '-oProxyCommand=touch:x' 'host:x y' $'https://h/a\nb' $'https://h/\e[31m' \
		'ftp://h/x' 'HTTPS://h/x' 'https://' 'https:///x' 'git@-h:x' '::x' 'pale::https://h/x'; do
		run env GATE_URL="$url" git ls-remote pale::x
		rc_not 0 "$url"
		err_has "pale fetches and pushes by https, http, ssh, git and HOST:PATH alone"
		[ ! -e ran ] || fail "it ran: $url"
	done
	[ ! -e "$STATE/gate" ] || fail "a gate was made"
	# scp's form is ssh's
	run env GATE_URL=me@no-such-host.invalid:a.git git ls-remote pale::x
	err_has "no-such-host.invalid cannot be found"
}

# The floor has no other place for a git.
t_another_git() {
	upstream
	gate_ready
	mkdir -p "$S/own" && printf '#!/bin/sh\nexec git "$@"\n' >"$S/own/git" && chmod 755 "$S/own/git"
	order "git=\"$S/own/git\""
	run git ls-remote "pale::$URL"
	rc_not 0
	err_has "must be installed below /usr"
}

# The operator's configuration is the courier's: its credentials, but no hook of it runs.
t_operators_configuration() {
	cloned
	mkdir -p "$S/hooks"
	for hook in pre-push reference-transaction post-checkout; do
		printf '#!/bin/sh\necho %s >>"%s/ran"\n' $hook "$S" >"$S/hooks/$hook" && chmod 755 "$S/hooks/$hook"
	done
	git config --global core.hooksPath "$S/hooks"
	git config --global push.followTags true
	git config --global url."$URL".insteadOf "https://forge.example/o"
	git -c core.hooksPath=/dev/null commit -q --allow-empty -m x
	run git -c core.hooksPath=/dev/null push "pale::https://forge.example/o" topic
	rc_is 0
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse topic)" ] || fail "not pushed"
	[ ! -e "$S/ran" ] || fail "a hook ran: $(cat "$S/ran")"
}

scenario "$@"
