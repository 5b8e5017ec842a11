# nightly: hooks
# Reading the ledger: filters, following, JSON.
. "$T_LIB"

t_filters() {
	fsh 'cat file; cat ~/.ssh/id_rsa; echo x >made'
	run pale log --op write
	out_has made
	out_lacks id_rsa
	run pale log --verdict deny --op read
	out_has id_rsa
	out_lacks made
	run pale log --op read --verdict deny --path "$HOME/.aws"
	out_lacks id_rsa
	run pale log --op nonsense
	rc_is 2
	run pale log --verdict nonsense
	rc_is 2
}

t_since() {
	fsh 'cat file'
	run pale log --since 10m
	out_has "cat file"
	run pale log --since 2100-01-01T00:00:00Z
	out_lacks "cat file"
	run pale log --since 2020-01-01T00:00:00Z
	out_has "cat file"
	run pale log --since yesterday-or-so
	rc_is 2
}

t_one_session() {
	local first
	fsh 'cat file'
	first=$(basename "$(ls -d "$STATE"/sessions/*)")
	fsh 'echo x >second'
	run pale log --session "$first"
	out_has "cat file"
	out_lacks second
	run pale log
	out_has "cat file"
	out_has second
	run pale log verify --session "$first"
	rc_is 0
	[ "$(wc -l <"$S/out")" = 1 ] || fail "more than one session verified"
	run pale log --session no-such
	rc_not 0
}

t_follow() {
	local follower
	bg long bash -c 'until test -e go; do sleep 0.05; done; cat file; until test -e stop; do sleep 0.05; done'
	until_true 10 bash -c 'pale session list --json | grep -q "\""' || fail "no session"
	pale log --follow >"$S/followed" 2>&1 &
	follower=$!
	sleep 0.3
	: >go
	until_true 10 grep -q "cat file" "$S/followed" || fail "not followed: $(cat "$S/followed")"
	: >stop
	wait $BG
	kill $follower 2>/dev/null
	return 0
}

t_repeats_are_folded() {
	fsh 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do read -r x <file; done'
	[ "$(records read allow "\"$W/file\"" | wc -l)" -le 2 ] || fail "not folded"
	records read allow "\"$W/file\"" | grep -o '"count":[0-9]*' |
		cut -d: -f2 | awk '{ n += $1 } END { exit n != 12 }' || fail "the counts are wrong"
	verifies
}

# Words behind the cut may differ, so neither is a repeat of the other.
t_long_commands_are_not_folded() {
	local words n ids
	words=$(head -c 6000 /dev/zero | tr '\0' w)
	printf '[commands]\ndeny = tac\n' | policy
	fsh "/bin/true $words x; /bin/true $words y; /bin/true $words z; tac $words x; tac $words y; exit 0"
	n=$(records exec allow '"target":"/bin/true w' | grep -c '"count":1,')
	[ "$n" = 3 ] || fail "$n records"
	ids=$(records exec deny '"target":"tac w' | grep -oE 'id=[0-9a-f]+' | sort -u | wc -l)
	[ "$ids" = 2 ] || fail "$ids ids"
	verifies
}

t_json_is_the_record() {
	fsh 'cat file'
	run pale log --all --json
	diff <(python3 -c '
import json, sys
for l in sys.stdin: print(json.dumps(json.loads(l), sort_keys=True))' <"$S/out") <(ledgers | python3 -c '
import json, sys
for l in sys.stdin: print(json.dumps(json.loads(l), sort_keys=True))') >"$S/diff" ||
		fail "pale log --json is not the ledger"
}

# As JSON or not, the same records; what is denied is what the end of the run counts.
t_the_same_records() {
	local n session
	fsh 'cat file; echo x >made; cat ~/.ssh/id_rsa ~/.none; cat /etc/shadow; echo x >~/out; exit 0'
	fence true
	for n in "" "--verdict deny" "--all" "--op read"; do
		run pale log $n
		[ "$(grep -c '^#' "$S/out")" = "$(pale log $n --json | wc -l)" ] || fail "pale log $n: others as JSON"
	done
	OPTS=(-v)
	run pale run -- bash -c 'cat ~/.ssh/id_rsa ~/.none; cat /etc/shadow; echo x >~/out; exit 0'
	n=$(sed -n 's/.* records, \([0-9]*\) denied.*/\1/p' "$S/err")
	session=$(sed -n 's/.*pale log --session \([a-z2-7]*\)$/\1/p' "$S/err" | tail -1)
	run pale log --session "$session" --verdict deny
	[ "$(wc -l <"$S/out")" = "$n" ] || fail "the run counted $n"
	run pale log --session "$session" --verdict deny --all
	[ "$T_LEVEL" = hooks ] || [ "$(wc -l <"$S/out")" -gt "$n" ] || fail "--all has no more"
}

# As tail(1) does: the last few, then what comes.
t_follow_begins_with_the_last() {
	local follower
	fsh 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do : >made-$i-; done'
	pale log --follow >"$S/followed" 2>&1 &
	follower=$!
	until_true 10 grep -q "made-12-" "$S/followed" || fail "the last is not shown"
	fsh ': >made-new-'
	until_true 10 grep -q "made-new-" "$S/followed" || fail "not followed"
	kill $follower 2>/dev/null
	! grep -q "made-1-" "$S/followed" || fail "the first is shown too"
	timeout 2 pale log --follow --since 10m >"$S/followed" 2>&1
	grep -q "made-1-" "$S/followed" || fail "--since shows not all"
}

# What was only read is of no interest until it is asked for.
t_what_matters() {
	fsh 'cat file; echo x >made; cat ~/.ssh/id_rsa; exit 0'
	run pale log
	out_has "exec cat file"
	out_has "$W/made"
	out_has ".ssh/id_rsa"
	out_lacks "read $W/file"
	run pale log --all
	out_has "read $W/file"
	need script
	# shellcheck disable=SC2016 # the shell of script(1) expands it
	PAGER='sed s/^/paged:/' script -qec 'pale log --op exec' /dev/null >"$S/paged" </dev/null
	grep -q '^paged:.*cat file' "$S/paged" || fail "no pager: $(head -3 "$S/paged")"
	# Of more than a screen, the way to its end.
	need less
	fsh 'for i in $(seq 40); do : >made-$i-; done'
	(sleep 3 && printf G && sleep 1 && printf q && sleep 1) |
		script -qec 'stty rows 20; unset LESS PAGER; pale log' "$S/typed" >/dev/null
	grep -q 'G goes to the newest' "$S/typed" || fail "it does not say how to get to the end"
	grep -q 'made-40-' "$S/typed" || fail "that is not the end"
	PAGER=cat script -qec 'pale log --op exec' /dev/null >"$S/paged" </dev/null
	grep -q 'cat file' "$S/paged" || fail "cat is no pager"
}

# A record names the program that acted, whatever the process executes next.
t_who_acted() {
	local op python sleep
	python="\"exe\":\"$(realpath "$(command -v python3)")\"" sleep="\"exe\":\"$(realpath /bin/sleep)\""
	fence python3 -c '
import os
open("made", "w").close()
os.chmod("made", 0o600)
try: open(os.environ["HOME"] + "/.ssh/id_rsa")
except OSError: pass
os.execv("/bin/sleep", ["sleep", "0.5"])'
	rc_is 0
	for op in "chmod allow" "read deny"; do
		# shellcheck disable=SC2086
		recorded $op "$python"
		# shellcheck disable=SC2086
		not_recorded $op "$sleep"
	done
	recorded exec allow "$python" '"target":"sleep 0.5"'
	not_recorded exec allow '"target":"sleep 0.5"' '"ppid":0'
}

scenario "$@"
