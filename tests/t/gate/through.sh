# limit: 60
# A fetch and a push through the gate, as an agent's git makes them.
. "$T_LIB"
. "$T_BASE/t/gate-lib.sh"

t_fetch_and_push() {
	cloned
	[ "$(git rev-parse main v1)" = "$(git -C ~/src rev-parse main v1)" ] || fail "another clone"
	[ "$(git symbolic-ref refs/remotes/origin/HEAD)" = refs/remotes/origin/main ] || fail "HEAD"
	run git push origin topic
	rc_is 0
	err_has "session/s1/topic"
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse topic)" ] || fail "it is not there"
	[ "$(at refs/heads/main)" = "$(git rev-parse main)" ] || fail "main moved"
	[ "$(said done result)" = pushed ] || fail "the supervisor was told: $(cat "$GATE_LOG")"
	grep -q '"target": *"refs/heads/session/s1/topic git://' "$GATE_LOG" || fail "the question: $(cat "$GATE_LOG")"
	# the agent's git knows it, and fetches it
	[ "$(git rev-parse origin/session/s1/topic)" = "$(git rev-parse topic)" ] || fail "it is not tracked"
	run git fetch origin
	rc_is 0
	# once more, and then a rewind of the session's own
	git commit -q --allow-empty -m three && run git push origin topic
	rc_is 0
	git reset -q --hard HEAD~2 && echo other >b && git add b && git commit -qm other && run git push origin topic
	rc_is 0
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse topic)" ] || fail "it was not rewound"
	# what is there already is not asked about
	: >"$GATE_LOG"
	run git push origin topic
	rc_is 0
	[ ! -s "$GATE_LOG" ] || fail "asked"
	# and what the remote has new comes in
	git -C ~/src commit -q --allow-empty -m more && git -C ~/src push -q "$S/srv/o.git" main
	run git pull -q --no-rebase origin main
	rc_is 0
	run git push origin :session/s1/topic
	rc_is 0
	! at refs/heads/session/s1/topic || fail "it is not removed"
}

scenario "$@"
