# limit: 90
# What the gate refuses at the ref, and that nothing reaches the remote then.
. "$T_LIB"
. "$T_BASE/t/gate-lib.sh"

# Is the remote as it was?
unmoved() {
	[ "$(git -C "$S/srv/o.git" for-each-ref)" = "$BEFORE" ] || fail "the remote changed: $1"
}

# refused SENTENCE PUSH...
refused() {
	local why=$1
	shift
	run git push origin "$@"
	rc_not 0 "$*"
	err_has "$why"
	unmoved "$*"
}

begin() {
	cloned
	BEFORE=$(git -C "$S/srv/o.git" for-each-ref)
}

t_by_the_name() {
	begin
	git tag v2
	refused "tags are not pushed" v2
	refused "only branches are pushed" HEAD:refs/for/main
	refused "only branches are pushed" HEAD:refs/notes/x
	refused "the session has no such branch" :main
	refused "another ref of this push becomes the same branch" --atomic topic topic:session/s1/topic
	order 'branch="{branch}"'
	refused "the branch is protected by the policy" topic:main
	refused "the branch is protected by the policy" topic:release/1
	git -C ~/src push -q "$S/srv/o.git" main:dev
	BEFORE=$(git -C "$S/srv/o.git" for-each-ref)
	refused "only branches of the session itself are removed" :dev
	git checkout -q --orphan other && git commit -qm other
	refused "not the session's" +other:dev
	order 'branch="x/{id}/{branch}/y"'
	refused 'must end with {branch}' topic
	[ ! -s "$GATE_LOG" ] || fail "asked: $(cat "$GATE_LOG")"
}

# Names that git's own push does not make: a client that says what it likes.
t_hostile_names() {
	local name
	begin
	for name in 'refs/heads/..' 'refs/heads/a..b' 'refs/heads/a.lock' 'refs/heads/-x/../../main' 'refs/heads/' \
		'refs/heads/a b' $'refs/heads/\e[31mred' 'refs/heads/a~1' 'refs/heads/x*' 'refs/heads/@{' \
		'refs/heads/a:refs/heads/main' 'refs/heads//a' 'refs/heads/.a' "refs/heads/$(printf %4000s x | tr ' ' x)" \
		HEAD main ../../config refs/changes/1/head; do
		run python3 "$T_BASE/t/raw-push.py" "$URL" "$(git rev-parse main)" "$name"
		out_lacks "ok $name"
		unmoved "$name"
	done
	[ ! -s "$GATE_LOG" ] || fail "asked: $(cat "$GATE_LOG")"
	# one that begins with - is a name
	run git push origin topic:refs/heads/-x
	rc_is 0
	[ "$(at refs/heads/session/s1/-x)" = "$(git rev-parse topic)" ] || fail "not pushed"
}

t_no_commit() {
	local oid
	begin
	oid=$(git rev-parse topic:b)
	run python3 "$T_BASE/t/raw-push.py" "$URL" "$oid" refs/heads/x topic
	out_lacks "ok refs"
	unmoved blob
	run python3 "$T_BASE/t/raw-push.py" "$URL" "$(echo missing | git hash-object --stdin)" refs/heads/x
	out_lacks "ok refs"
	unmoved missing
}

t_many_refs() {
	local i
	begin
	for i in $(seq 40); do echo "create refs/heads/b$i $(git rev-parse topic)"; done | git update-ref --stdin
	refused "a push has at most" --all
	[ ! -s "$GATE_LOG" ] || fail "asked"
}

# All or nothing.
t_atomic() {
	begin
	git branch two
	git tag v2
	refused "the push is atomic" --atomic topic two v2
	[ ! -s "$GATE_LOG" ] || fail "asked"
	export GATE_ANSWER="no not today"
	refused "denied: not today" --atomic topic two
	export GATE_ANSWER=yes
	run git push --atomic origin topic two
	rc_is 0
	[ "$(at refs/heads/session/s1/two)" = "$(git rev-parse two)" ] || fail "not pushed"
	# of others, each by itself
	git branch three
	run git push origin three v2
	rc_not 0
	[ "$(at refs/heads/session/s1/three)" = "$(git rev-parse three)" ] || fail "three is not pushed"
}

t_denied() {
	begin
	export GATE_ANSWER=$'no not \e[31mthis\nok refs/heads/topic'
	refused 'denied: not \x1b[31mthis\x0aok' topic
	[ "$(said done result)" = denied ] || fail "the supervisor was told: $(cat "$GATE_LOG")"
	grep -q '"denied"' "$STATE/gate/changes/1.json" || fail "change 1"
}

# The checks refuse in the quarantine: of what came in nothing stays.
t_checked() {
	local before
	begin
	run git fetch origin
	before=$(cd "$STATE" && find gate -path '*objects*' -type f | sort)
	echo secret >.env && git add -f .env && git commit -qm env
	refused ".env" topic
	[ "$(cd "$STATE" && find gate -path '*objects*' | grep -c tmp_)" = 0 ] || fail "a quarantine is left"
	[ "$(cd "$STATE" && find gate -path '*objects*' -type f | sort)" = "$before" ] || fail "objects are left"
	[ ! -e "$STATE/gate/changes/1.json" ] || fail "a change is left"
	git reset -q --hard HEAD~1
	echo "token = hunter2hunter2hunter2" >c && git add c && git commit -qm c
	GATE_SECRETS=other-value-of-some-length,hunter2hunter2hunter2 refused "c:1" topic
	[ -z "$(ls -d "$STATE"/gate/intake.* 2>/dev/null)" ] || fail "a directory of the intake is left"
}

# The remote's own hook refuses, with what a terminal would obey.
t_by_the_server() {
	begin
	printf '#!/bin/sh\nprintf "no\\033[31m way\\n" >&2\nexit 1\n' >"$S/srv/o.git/hooks/pre-receive"
	chmod 755 "$S/srv/o.git/hooks/pre-receive"
	refused 'pre-receive hook declined' topic
	err_has '\x1b[31m way'
	[ "$(said done result)" = failed ] || fail "the supervisor was told: $(cat "$GATE_LOG")"
	! grep -q $'\e' "$S/err" || fail "an escape"
}

# It moves while the person thinks.
t_moved_meanwhile() {
	begin
	run git push origin topic
	rc_is 0
	git commit -q --allow-empty -m three
	export GATE_ANSWER="wait $S/go"
	git push origin topic 2>"$S/err" &
	until_true 10 grep -q "of change 2" "$S/err" || fail "it does not wait"
	git -C ~/src commit -q --allow-empty -m foreign &&
		git -C ~/src push -q -f "$S/srv/o.git" main:session/s1/topic
	go yes
	! wait $! || fail "pushed"
	err_has "moved at 127.0.0.1 since"
	[ "$(at refs/heads/session/s1/topic)" = "$(git -C ~/src rev-parse main)" ] || fail "overwritten"
}

scenario "$@"
