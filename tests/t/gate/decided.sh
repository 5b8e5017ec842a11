# limit: 60
# A change after its question: seen, and pushed by the operator.
. "$T_LIB"
. "$T_BASE/t/gate-lib.sh"

t_denied_then_pushed() {
	cloned
	GATE_ANSWER=no run git push origin topic
	rc_not 0
	! at refs/heads/session/s1/topic || fail "it is there"
	run pale changes
	rc_is 0
	out_has "1  denied"
	out_has "refs/heads/session/s1/topic  127.0.0.1  s1"
	run pale review 1
	rc_is 0
	out_has "change 1, denied"
	out_has "against  $(git rev-parse main)"
	out_has "A  b  +1 -0"
	out_has "|+ two"
	run pale push 1
	rc_is 0
	out_has "pushed change 1: $(git rev-parse --short=12 topic) as refs/heads/session/s1/topic of git://127.0.0.1:"
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse topic)" ] || fail "it is not there"
	run pale changes
	out_has "1  pushed"
	run pale push 1
	rc_is 1
	err_has "change 1 is pushed already"
	run pale log --machine
	out_has "change/push"
	out_has "refs/heads/session/s1/topic git://127.0.0.1:"
}

# The ref is not any more where it was when the change was made.
t_moved() {
	cloned
	GATE_ANSWER=no run git push origin topic
	git -C "$S/srv/o.git" update-ref refs/heads/session/s1/topic main
	run pale push 1
	rc_is 1
	err_has "change 1 is not pushed: "
	[ "$(at refs/heads/session/s1/topic)" = "$(at refs/heads/main)" ] || fail "it was overwritten"
	run pale changes
	out_has "1  failed"
}

# What the checks refuse leaves nothing: no object, no change, no question.
t_secret() {
	cloned
	printf 'a\ntoken = ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n' >c && git add c && git commit -qm secret
	git rm -q c && git commit -qm "no more"
	blob=$(git rev-parse HEAD~:c)
	run git push origin topic
	rc_not 0
	err_has "c:2: looks like a secret"
	! at refs/heads/session/s1/topic || fail "it is there"
	! git --git-dir "$(echo "$STATE"/gate/*.git)" cat-file -e "$blob" 2>/dev/null || fail "the object is kept"
	run pale changes
	err_has "no session pushed anything yet"
	! grep -q '"ask"' "$GATE_LOG" || fail "it was asked about"
}

scenario "$@"
