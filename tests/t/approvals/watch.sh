# limit: 60
# pale watch on a terminal: what it shows, which key answers when, and that nothing else does.
. "$T_LIB"
. "$T_BASE/t/watch-lib.sh"

t_allow_once() {
	ask_touch
	watch 80 24
	bg once bash -c 'touch a; touch a; echo "status $?"'
	settled
	keys y
	must_show "approved once by you"
	until_true 10 test -e a || fail "not run after the approval"
	must_show "Questions (1)"
	settled
	keys n
	bg_wait once
	out_is "status 126"
	verifies
}

t_read_to_the_end_first() {
	local long
	ask_touch
	long=$(printf 'x%.0s' {1..4000})
	watch 80 24
	bg long bash -c "touch ${long:0:200} ${long:0:200} ${long:0:200} ${long:0:200} ${long:0:200}-the-tail
		echo \"status \$?\""
	must_show "Space reads on"
	sleep 0.7
	keys y
	must_show "read it to its end first"
	keys n N 1 2 e g m h s p A
	sleep 0.5
	has_pending || fail "answered before it was read"
	must_not_show "digest"
	keys Space
	keys End
	must_show "digest"
	must_show "-- end --"
	sleep 0.3
	keys y
	bg_wait long
	! grep -q 'status 126' "$S/out" || fail "not allowed after it was read"
}

t_what_was_typed_before_answers_nothing() {
	ask_touch
	watch 80 24
	keys y y y y y
	bg early bash -c 'touch a; echo "status $?"'
	until has_pending; do
		keys y
	done
	sleep 1
	missing a
	has_pending || fail "answered by what was typed before"
	settled
	keys n
	bg_wait early
	out_is "status 126"
}

t_answered_elsewhere() {
	local id
	ask_touch
	watch 80 24
	bg other bash -c 'touch a; echo "status $?"'
	settled
	id=$(pending_id) || exit 1
	USER=ana run pale deny "$id"
	rc_is 0
	must_show "denied by ana"
	bg_wait other
	must_show "Questions (0)"
	must_show "nothing waits"
}

t_deny_and_tell() {
	ask_touch
	watch 80 24
	bg tell bash -c 'touch a; echo "status $?"'
	settled
	keys N
	must_show "tell the agent:"
	keys Enter
	must_show "not answered"
	has_pending || fail "answered without a reason"
	settled
	keys N
	must_show "tell the agent:"
	keys -l "use make instead"
	keys Enter
	must_show "denied by you"
	bg_wait tell
	out_is "status 126"
	err_has "use make instead"
}

t_a_wider_answer_shows_its_rule() {
	printf '[session]\ntimeout = 60s\n[commands]\nask = git push\n' | policy
	git init -q --bare "$S/remote"
	git init -q . && git remote add origin "$S/remote" && git commit -q --allow-empty -m one && git branch feature/x
	printf '[files]\nwrite = %s\n' "$S/remote" >>"$HOME/.config/pale/policy.ini"
	watch 80 30
	bg wide bash -c 'git push -q origin feature/x && git push -q origin feature/x && echo done'
	settled
	keys s
	keys 4
	must_show "no rule is offered under 4"
	has_pending || fail "answered by a key of the rule's"
	keys 1
	must_show "grant for:"
	must_show "[commands] allow = git push"
	keys Escape
	must_show "digest"
	keys 1
	must_show "grant for:"
	keys s
	must_show "approved for: session"
	bg_wait wide
	out_is "done"
}

t_a_rule_for_a_time() {
	ask_touch
	watch 80 24
	bg timed bash -c 'touch a; touch a; touch b; touch b; echo "status $?"'
	settled
	keys 1
	must_show "m, h"
	must_show "15 min"
	keys h
	must_show "for: session"
	settled
	pale grants | grep -q "session until .* (\(59\|60\)m left)" || fail "not an hour: $(pale grants)"
	keys 1
	must_show "grant for:"
	keys m
	bg_wait timed
	out_is "status 0"
	[ "$(records grant/made '' | wc -l)" = 2 ] || fail "granted $(records grant/made '')"
}

t_screen_sizes() {
	ask_touch
	watch 40 10
	bg small bash -c 'touch a; echo "status $?"'
	must_show "exec"
	tmx resize-window -t w -x 39 -y 10
	must_show "too small: 40x10 at least"
	for i in {1..40}; do
		tmx resize-window -t w -x $((40 + i * 3 % 80)) -y $((10 + i % 30))
	done
	tmx resize-window -t w -x 80 -y 24
	settled
	must_show "touch"
	keys n
	bg_wait small
	keys q
	must_show "ended 0"
}

t_no_colour() {
	ask_touch
	NO_COLOR=1 watch 80 24
	bg plain bash -c 'touch a'
	settled
	! tmx capture-pane -e -p -t w | grep -qE $'\033\\[[0-9;]*3[1-7]m' || fail "colour with NO_COLOR"
	keys n
	bg_wait plain
}

t_sessions_come_and_go() {
	local helper
	ask_touch
	watch 120 40
	must_show "0 sessions"
	bg one bash -c 'touch a'
	must_show "1 session"
	pale run -q -- bash -c 'touch b' >/dev/null 2>&1 </dev/null &
	must_show "2 sessions"
	must_show "Questions (2)"
	helper=$(pale session list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["session"])')
	helper=$(python3 - "$XDG_RUNTIME_DIR/pale/$helper/control.sock" <<-'END'
		import socket, struct, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.connect(sys.argv[1])
		print(struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
	END
	)
	kill -9 "$helper" || fail "no helper $helper"
	must_show "has ended"
	must_show "1 session"
	must_show "Questions (1)"
	settled
	keys n
	must_show "Questions (0)"
}

t_hostile_text() {
	ask_touch
	watch 80 24
	bg hostile bash -c "touch \$'\\033]0;t\\007\\033[2J' \
		\$'a\\n rule       policy: allow\\n' \$'\\xe2\\x80\\xaegpj.exe' 'two  blanks ' ''"
	settled
	must_show 'touch'
	must_show '\x1b]0;t\x07\x1b[2J'
	must_show '(empty)'
	must_show 'two\x20\x20blanks\x20'
	must_not_show ' rule       policy: allow'
	! screen | LC_ALL=C tr -d '\n' | sed 's/\xe2\x94\x80//g; s/\xe2\x94\x82//g' | LC_ALL=C grep -q '[^ -~]' ||
		fail "not ASCII: $(screen | od -c | head -40)"
	keys n
	bg_wait hostile
}

t_not_without_a_terminal() {
	run pale watch
	rc_is 2
	err_has "watch needs a terminal; elsewhere: pale pending --follow"
}

t_not_inside_a_session() {
	policy </dev/null
	fence pale watch
	rc_is 1
	err_has "does not answer its own questions"
}

t_whole_screen() {
	local id session
	ask_touch
	watch 80 24
	bg whole bash -c 'touch asked-for'
	settled
	must_show "y allow once"
	id=$(pending_id) || exit 1
	session=$(pale session list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["session"])')
	golden "${id:0:4}" "$session" >"$S/screen"
	keys n
	bg_wait whole
	diff -u - "$S/screen" <<-'END' || fail "the screen differs"
	 pale watch   1 waits   1 session
	- Questions (1) -
	 ID   low          NNs  bash       exec touch asked-for
	- ID  session SESSION  agent bash  denied in NN s -
	 exec       touch
	            asked-for
	 in         SCRATCH/h/work
	 by         /usr/bin/bash (PID)
	 rule       policy.ini:4 [commands] ask = touch
	 risk       low
	 wider 1    [commands] allow = touch asked-for $
	 digest     DIGEST






	- Decisions: denied, asked -




	y allow once  n deny  N deny and tell  1 a rule  e write one  g all  ? q
	END
}

scenario "$@"
