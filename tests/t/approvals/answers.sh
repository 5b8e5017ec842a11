# nightly: hooks
# Questions and answers: once, session, denied for the turn, never, too late, nobody there.
. "$T_LIB"

# The digest of the only card, and an answer that carries one.
card_digest() {
	pale pending --json | python3 -c "import json, sys
sys.path.insert(0, '${T_LIB%/*}/helper')
from carddigest import card_digest
print(card_digest(json.load(sys.stdin)[0]))"
}

answer_digest() {
	python3 - "$XDG_RUNTIME_DIR" "$@" <<-'PY' || fail "the answer"
		import glob, json, socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.connect(glob.glob(sys.argv[1] + "/pale/*/control.sock")[0])
		s.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "approval/respond",
		    "params": {"id": sys.argv[2], "digest": sys.argv[3], "decision": "approved"}}).encode())
		assert "result" in json.loads(s.recv(1 << 17))
	PY
}

ask_touch() {
	policy <<-EOF2
		[session]
		timeout = ${1:-60s}
		[commands]
		ask = touch
	EOF2
}

t_once_is_once() {
	local id
	ask_touch
	bg twice bash -c 'touch a && touch a; echo "status $?"'
	id=$(pending_id) || exit 1
	run pale approve "$id"
	rc_is 0
	until_true 10 test -e a || fail "not run after the approval"
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait twice
	out_is "status 126"
}

# A script, a link to one, or a directory above it is exchanged while the question waits: the yes is for the old one.
t_a_script_exchanged_while_it_is_asked() {
	local how id
	[ "$T_LEVEL" != hooks ] || skip "at level hooks the kernel finds the program again"
	printf '[commands]\nask = deploy.sh\n' | policy
	while IFS='|' read -r command how; do
		rm -rf sub sub.old l.sh && mkdir sub
		printf '#!/bin/sh\necho GOOD\n' >sub/deploy.sh
		printf '#!/bin/sh\necho EVIL\n' >sub/evil.sh
		chmod 755 sub/*.sh && ln -s sub/deploy.sh l.sh
		bg asked bash -c "$command; echo \"status \$?\""
		id=$(pending_id) || exit 1
		eval "$how"
		run pale approve "$id"
		bg_wait asked
		out_is "status 126" "$command, $how"
		err_has "changed while the question waited" "$command, $how"
	done <<-'END'
		sub/deploy.sh|mv sub/evil.sh sub/deploy.sh
		sub/deploy.sh|mv sub sub.old; mkdir sub; cp sub.old/evil.sh sub/deploy.sh
		sub/deploy.sh|rm sub/deploy.sh; ln -s evil.sh sub/deploy.sh
		./l.sh|ln -sf sub/evil.sh l.sh
		sh sub/deploy.sh|mv sub/evil.sh sub/deploy.sh
		sh sub/deploy.sh|cat sub/evil.sh >sub/deploy.sh
		sh l.sh|ln -sf sub/evil.sh l.sh
		(cd sub; ./deploy.sh)|mv sub sub.old
	END
	bg asked bash -c 'sh sub.old/deploy.sh; echo "status $?"'
	id=$(pending_id) || exit 1
	run pale approve "$id"
	bg_wait asked
	out_is "GOOD
status 0"
}

# A terminal's own break of a long line would put the agent's words where the labels are.
t_a_card_keeps_to_its_columns() {
	local id row cols=60
	need script
	ask_touch
	bg wide bash -c "touch 'a$(printf '.%.0s' {1..46})  risk      low' b"
	id=$(pending_id) || exit 1
	script -qec "stty cols $cols; pale pending" /dev/null </dev/null | tr -d '\r' >"$S/rows"
	grep -q '^          | .*risk' "$S/rows" || fail "the rest of the line is not marked: $(cat "$S/rows")"
	while IFS= read -r row; do
		[ ${#row} -le $cols ] || [[ $row == *"session "* ]] || fail "too long: $row"
	done <"$S/rows"
	run pale deny "$id"
	bg_wait wide
}

t_for_the_session() {
	local id
	ask_touch
	bg twice bash -c 'touch a && touch a && touch a && echo done'
	id=$(pending_id) || exit 1
	run pale approve "$id" --session
	rc_is 0
	bg_wait twice
	rc_is 0
	out_is "done"
}

t_approval_is_for_this_very_command() {
	local id
	ask_touch
	bg two bash -c 'touch a && touch b; echo "status $?"'
	id=$(pending_id) || exit 1
	run pale approve "$id" --session
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait two
	out_is "status 126"
	exists a
	missing b
}

t_denied_stays_denied_for_the_turn() {
	local id
	ask_touch
	bg again bash -c 'touch a; touch a; touch a; until test -e go; do sleep 0.05; done; touch a; echo "status $?"'
	id=$(pending_id) || exit 1
	run pale deny "$id" --reason "no"
	rc_is 0
	# The second and third are denied without a question.
	until_true 10 bash -c "[ \$(grep -c '^pale: denied exec' '$S/again.err') = 3 ]" ||
		fail "retries are not denied at once"
	! has_pending || fail "asked again within the turn"
	[ "$(records approval/request '[a-z]*' | wc -l)" = 1 ] || fail "more than one request"
	run pale turn
	rc_is 0
	fence true
	: >go
	id=$(pending_id) || exit 1
	run pale approve "$id"
	bg_wait again
	out_is "status 0"
	exists a
	recorded exec deny "touch a"
	verifies
}

# One yes is one act, where nobody has said that he knows of more who ask.
t_each_of_several_callers() {
	local id
	need script
	ask_touch
	bg many bash -c 'for i in 1 2 3; do (touch a && echo x >>acts) & done; wait'
	id=$(pending_id) || exit 1
	until_true 10 bash -c "pale pending | grep -q 'asked 3 times'" || fail "not three"
	run pale approve "$id" --yes
	rc_is 1
	err_has "nothing was approved: 3 callers wait for this" "pale approve ${id:0:4} --callers 3"
	run pale approve "$id" --callers 2
	rc_is 1
	run pale approve "$id" --callers x
	rc_is 2
	# What was typed before the question does not count, so it is typed until it is read.
	run bash -c "while sleep 0.3 && echo n 2>/dev/null; do :; done | script -qec 'pale approve $id' /dev/null"
	rc_is 1
	out_has "Allow this for all 3 callers? [y/N]"
	missing acts
	has_pending || fail "it was answered"
	run pale approve "$id" --callers 3
	rc_is 0
	bg_wait many
	[ "$(wc -l <acts)" = 3 ] || fail "$(wc -l <acts) acts"
}

t_session_cannot_approve_itself() {
	local id
	ask_touch
	bg inner bash -c '(for i in 1 2 3 4 5 6 7 8 9 10; do
				sleep 0.2
				pale approve "$(cat id 2>/dev/null)"
			done) >tries 2>&1 & touch a; echo "status $?"'
	id=$(pending_id) || exit 1
	echo "$id" >id
	until_true 10 test -s tries || fail "the agent did not try"
	sleep 1
	missing a
	has_pending || fail "the question is gone"
	run pale deny "$id"
	bg_wait inner
	out_is "status 126"
	missing a
	not_recorded approval/decision '[a-z]*' approved
}

t_socket_is_out_of_reach() {
	local id
	ask_touch
	bg inner bash -c 'python3 - <<"PY" >tries 2>&1
import glob, os, socket
d = os.environ["PALE_SESSION_DIR"]
for name in ("control.sock",):
    for kind in (socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
        s = socket.socket(socket.AF_UNIX, kind)
        try:
            s.connect(d + "/" + name)
            s.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"approval/list\"}\n")
            print("answer", s.recv(4096))
        except OSError as e:
            print("refused", e)
PY
touch a; echo "status $?"'
	id=$(pending_id) || exit 1
	run pale deny "$id"
	bg_wait inner
	grep -q refused tries || fail "$(cat tries)"
	! grep -q "\"result\"" tries || fail "$(cat tries)"
}

# The same by raw system calls, which no hook sees: the helper itself must refuse.
t_helper_refuses_the_tainted() {
	local id dir
	ask_touch
	bg wait bash -c 'touch a'
	id=$(pending_id) || exit 1
	dir=$(dirname "$(find "$XDG_RUNTIME_DIR" -name control.sock)")
	# An operator's shell that cannot gain privileges is one inside some fence.
	run setpriv --no-new-privs pale approve "$id"
	rc_not 0
	missing a
	has_pending || fail "answered"
	[ -S "$dir/control.sock" ] || fail "no socket"
	run pale deny "$id"
	wait "$BG"
	missing a
}

t_never() {
	printf '[session]\napprovals = never\n[commands]\nask = touch\n' | policy
	fsh 'touch a; echo "status $?"; cat file'
	out_has "status 126"
	out_has "hello"
	denied exec "touch a"
	missing a
	not_recorded approval/request '[a-z]*'
	policy </dev/null
	OPTS=(-n)
	ask_touch
	fsh 'touch a; echo "status $?"'
	out_has "status 126"
	missing a
}

t_timeout_denies() {
	ask_touch 1s
	fsh 'touch a; echo "status $?"'
	out_is "status 126"
	missing a
	denied exec "touch a"
	recorded exec deny "touch a"
	verifies
}

t_late_approval_leaves_a_grant() {
	local id
	ask_touch 1s
	bg late bash -c 'touch a; until test -e go; do sleep 0.05; done; touch a; echo "status $?"; touch a; echo "status $?"'
	id=$(pending_id) || exit 1
	until_true 10 grep -q '^pale: denied' "$S/late.err" || fail "no timeout"
	run pale approve "$id"
	rc_is 0
	: >go
	bg_wait late
	[ "$(head -1 "$S/out")" = "status 0" ] || fail "the retry was not allowed"
	[ "$(sed -n 2p "$S/out")" = "status 126" ] || fail "the grant was not for one use"
	exists a
}

# The third record: what came of it.
outcome_of() {
	until_true 5 outcome_is "$@" || fail "no outcome: $* in $(records approval/outcome '[a-z]*')"
}

outcome_is() {
	[ -n "$(records approval/outcome '[a-z]*' "outcome: $2" "$1")" ]
}

t_outcome_is_recorded() {
	local by=performed exec="handed to the kernel"
	[ "$T_LEVEL" != hooks ] || { by="begun, as the process says" && exec=$by; }
	mkdir ~/Documents
	printf '[session]\ntimeout = 60s\n[commands]\nask = touch\n[files]\nask = ~/Documents\n' | policy
	bg outcome bash -c 'touch a; echo x >~/Documents/note
		read x <~/Documents/no-such-file; until test -e go; do sleep 0.05; done'
	run pale approve "$(pending_id)"
	outcome_of "touch a" "$exec"
	run pale approve "$(pending_id)"
	outcome_of "Documents/note" "$by"
	: >go
	wait "$BG"
	exists a
	file_is ~/Documents/note x
	[ "$(records approval/outcome '[a-z]*' | wc -l)" = "$(records approval/decision allow | wc -l)" ] ||
		fail "not one outcome for each approval"
	verifies
}

t_failure_is_told() {
	[ "$T_LEVEL" != hooks ] || skip "only the process knows"
	local id
	mkdir -p ~/Documents/sub
	printf '[session]\ntimeout = 60s\n[files]\nask = ~/Documents\n' | policy
	bg fails bash -c 'mkdir ~/Documents/sub/made; echo "status $?"'
	id=$(pending_id) || exit 1
	mkdir ~/Documents/sub/made
	run pale approve "$id"
	bg_wait fails
	out_is "status 1"
	outcome_of "Documents/sub/made" "failed: EEXIST"
	verifies
}

# Nobody to ask is told at once, and who could have been.
t_nobody_there() {
	ask_touch
	RC=0
	env -u PALE_PROMPT -u TMUX -u DISPLAY -u WAYLAND_DISPLAY setsid -w pale run -q -- \
		bash -c 'touch a; echo "status $?"' >"$S/out" 2>"$S/err" </dev/null || RC=$?
	out_is "status 126"
	denied exec "touch a" "PALE_PROMPT=1"
	missing a
	not_recorded approval/request '[a-z]*'
	RC=0
	# The banner promises no answer either.
	env -u PALE_PROMPT -u TMUX -u DISPLAY -u WAYLAND_DISPLAY setsid -w pale run -- true >"$S/out" 2>"$S/err" </dev/null
	err_has "no terminal can ask you: questions are refused"
	run pale run -- true
	err_has "questions wait in another terminal"
	PALE_PROMPT=0 pale run -q -- bash -c 'touch a; echo "status $?"' >"$S/out" 2>"$S/err" </dev/null || RC=$?
	out_is "status 126"
	missing a
	not_recorded approval/request '[a-z]*'
}

t_unknown_id() {
	local id
	ask_touch
	run pale approve 0123abcd
	rc_not 0
	bg wait bash -c 'touch a'
	id=$(pending_id) || exit 1
	run pale approve 0000000000000000
	rc_not 0
	run pale approve ""
	rc_not 0
	run pale approve "$id"
	rc_is 0
	run pale approve "$id"
	rc_not 0 "answered twice"
	wait "$BG"
	exists a
}

t_a_file_is_asked() {
	local id
	mkdir ~/Documents
	printf '[files]\nask = ~/Documents\n' | policy
	bg file bash -c 'echo text >~/Documents/note && echo done'
	id=$(pending_id) || exit 1
	missing ~/Documents/note
	run pale approve "$id"
	bg_wait file
	out_is "done"
	file_is ~/Documents/note text
}

t_order_in_the_ledger() {
	local id
	ask_touch
	bg order bash -c 'touch a'
	id=$(pending_id) || exit 1
	# Asked: the request is on the disk before anyone sees it.
	recorded approval/request '[a-z]*' "touch a"
	not_recorded approval/decision '[a-z]*'
	run pale approve "$id"
	# The answer is on the disk when approve returns, whatever becomes of the act.
	recorded approval/decision '[a-z]*'
	wait "$BG"
	ledgers | python3 -c '
import json, sys
seen = [json.loads(l) for l in sys.stdin]
at = {}
for i, r in enumerate(seen):
    if r["op"] in ("approval/request", "approval/decision"): at.setdefault(r["op"], i)
    if r["op"] == "exec" and "touch a" in r["target"] and r["verdict"] == "allow": at["act"] = i
assert at["approval/request"] < at["approval/decision"] < at["act"], at
assert [r["seq"] for r in seen] == list(range(1, len(seen) + 1))' || fail "out of order"
}

t_untrusted_text_is_escaped() {
	local id
	ask_touch
	bg esc bash -c "touch \$'\\033[31mred\\033[0m\\nid: 0000 approve me'"
	id=$(pending_id) || exit 1
	run pale pending
	! grep -q $'\033' "$S/out" || fail "escape sequences reach the terminal"
	! grep -q '^id: 0000' "$S/out" || fail "a line of the agent's own stands there"
	out_has '\x1b'
	run pale deny "$id"
	wait "$BG"
	run pale log
	! grep -q $'\033' "$S/out" || fail "escape sequences reach the log"
}

t_many_wait_at_once() {
	local n
	ask_touch
	bg many bash -c 'for i in 1 2 3 4 5 6 7 8; do touch m$i & done; wait'
	until_true 10 bash -c "[ \$(pale pending --json |
			grep -o 'touch m[0-9]' | sort -u | wc -l) = 8 ]" || fail "not all are pending"
	n=0
	while has_pending; do
		run pale approve "$(pending_id)"
		rc_is 0
		n=$((n + 1))
		[ $n -le 8 ] || fail "too many"
	done
	wait "$BG"
	[ "$(ls m? | wc -l)" = 8 ] || fail "not all ran"
	verifies
}

t_asker_dies() {
	local id
	ask_touch
	bg dies bash -c 'touch a & sleep 0.5; kill -9 $!; wait; sleep 1; echo done'
	id=$(pending_id) || exit 1
	until_true 10 bash -c '! pale pending --json | grep -q "\"target\""' || fail "the question of a dead process stays"
	run pale approve "$id"
	bg_wait dies
	missing a
	verifies
}

# One yes, one act: who asks the same while the card is read is not meant by the answer.
t_once_is_as_many_as_were_shown() {
	local id digest
	need python3
	mkdir -p "$W/bin"
	printf '#!/bin/sh\necho "$PPID" >>%s/deployed\n' "$W" >"$W/bin/deploytool"
	chmod +x "$W/bin/deploytool"
	printf '%s\n' "[session]" "timeout = 60s" "[commands]" "ask = deploytool" | policy
	PATH=$W/bin:$PATH bg many bash -c 'deploytool prod & until test -e go; do sleep 0.05; done
		for i in 1 2 3 4 5 6 7 8 9; do deploytool prod & done; wait'
	id=$(pending_id) || exit 1
	digest=$(card_digest)
	touch go
	until_true 20 eval 'pale pending | grep -q "10 processes or threads ask"' ||
		fail "not ten on the card: $(pale pending)"
	answer_digest "$id" "$digest"
	until_true 10 test -s deployed || fail "the one that was shown did not act"
	until_true 10 eval 'pale pending |
		grep -q "9 processes or threads ask"' || fail "the others do not ask: $(pale pending)"
	sleep 0.5
	[ "$(wc -l <deployed)" = 1 ] || fail "one yes, $(wc -l <deployed) acts"
	run pale deny "$(pending_id)"
	bg_wait many
	[ "$(wc -l <deployed)" = 1 ] || fail "denied, and $(wc -l <deployed) acts"
}

# What a variable says about where a command goes stands on its card, and makes it another one.
t_variables_are_on_the_card() {
	local way
	mkdir -p "$W/bin"
	printf '#!/bin/sh\necho "${DEPLOY_TARGET-none} ${KUBECONFIG-none}" >>%s/deployed\n' "$W" >"$W/bin/deploytool"
	chmod +x "$W/bin/deploytool"
	printf '%s\n' "[session]" "timeout = 60s" \
		"[commands]" "ask = deploytool" "[environment]" "set = KUBECONFIG=/staging" | policy
	PATH=$W/bin:$PATH bg vars bash -c 'deploytool up
		DEPLOY_TARGET=PRODUCTION deploytool up
		export DEPLOY_TARGET=OTHER; deploytool up; unset DEPLOY_TARGET
		KUBECONFIG=/token=production deploytool up
		(unset KUBECONFIG; deploytool up)
		python3 -c "import os
os.execve(\"$(command -v deploytool)\", [\"deploytool\", \"up\"], {**os.environ, \"MAKEFLAGS\": \"-i\"})"'
	for way in "" 'with      DEPLOY_TARGET=PRODUCTION' \
		'with      DEPLOY_TARGET=OTHER' 'with      KUBECONFIG=/token=production' \
		'unset     KUBECONFIG' 'with      MAKEFLAGS=-i'; do
		pending_id >"$S/id" || exit 1
		pale pending >"$S/card"
		if [ -z "$way" ]; then
			! grep -qE '^  (with|unset) ' "$S/card" || fail "noise: $(cat "$S/card")"
		else
			grep -qF -e "$way" "$S/card" || fail "no $way: $(cat "$S/card")"
			[ "$(grep -cE '^  (with|unset) ' "$S/card")" = 1 ] || fail "noise: $(cat "$S/card")"
		fi
		run pale approve "$(cat "$S/id")"
		until_true 10 eval '! pale pending | grep -q "$(cat "$S/id")"' || fail "it stays"
	done
	bg_wait vars
	printf '%s\n' 'none /staging' \
		'PRODUCTION /staging' 'OTHER /staging' 'none /token=production' 'none none' 'none /staging' >"$S/want"
	cmp -s "$S/want" deployed || fail "not what was shown: $(cat deployed)"
}

scenario "$@"
