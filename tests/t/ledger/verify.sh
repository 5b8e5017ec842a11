# The ledger: verifies after anything, and names what was done to it.
. "$T_LIB"

a_session() {
	fsh 'cat file; cat ~/.ssh/id_rsa; echo x >made; rm made; ls / >/dev/null; echo x > ../outside'
	LEDGER=$(ls "$STATE"/sessions/*/ledger.jsonl)
	verifies
}

# tampered NAME EXPECTED_LINE: verify must fail and name the line or the record.
tampered() {
	run pale log verify
	rc_is 1 "$1"
	cat "$S/out" "$S/err" >"$S/both"
	grep -qE "(^|[^0-9])$2([^0-9]|$)" "$S/both" || fail "$1: record $2 is not named"
}

t_edited() {
	a_session
	sed -i '4s/"target":"./"target":"X/' "$LEDGER"
	tampered edited 4
}

t_verdict_edited() {
	a_session
	local n
	n=$(grep -n '"verdict":"deny"' "$LEDGER" | head -1 | cut -d: -f1)
	sed -i "${n}s/\"verdict\":\"deny\"/\"verdict\":\"allow\"/" "$LEDGER"
	tampered "verdict edited" "$n"
}

t_every_field_counts() {
	a_session
	cp "$LEDGER" "$S/good"
	python3 - "$S/good" >"$S/fields" <<'PY'
import json, sys
line = open(sys.argv[1]).readlines()[4]
for k in json.loads(line): print(k)
PY
	while read -r field; do
		python3 - "$S/good" "$LEDGER" "$field" <<'PY'
import json, sys
lines = open(sys.argv[1]).readlines()
r = json.loads(lines[4])
v = r[sys.argv[3]]
if isinstance(v, int): v += 1
elif len(v) == 64: v = ("0" if v[0] != "0" else "1") + v[1:]
else: v += "x"
r[sys.argv[3]] = v
lines[4] = json.dumps(r, separators=(",", ":"), ensure_ascii=False) + "\n"
open(sys.argv[2], "w").writelines(lines)
PY
		run pale log verify
		rc_is 1 "field $field"
	done <"$S/fields"
	cp "$S/good" "$LEDGER"
	verifies
}

t_dropped() {
	a_session
	sed -i 3d "$LEDGER"
	tampered dropped '[34]'
}

t_first_dropped() {
	a_session
	sed -i 1d "$LEDGER"
	tampered "first dropped" '[12]'
}

t_swapped() {
	a_session
	sed -i '3{h;d};4{G}' "$LEDGER"
	tampered swapped '[34]'
}

t_doubled() {
	a_session
	sed -i 3p "$LEDGER"
	tampered doubled '[34]'
}

t_truncated_at_a_line() {
	a_session
	sed -i '$d' "$LEDGER"
	run pale log verify
	cat "$S/out" "$S/err" >"$S/both"
	grep -qiE 'end|truncat|open|cut' "$S/both" || fail "a ledger without its end is not told"
}

t_torn_line() {
	a_session
	truncate -s -20 "$LEDGER"
	run pale log verify
	rc_is 1
	cat "$S/out" "$S/err" >"$S/both"
	grep -qiE 'torn|truncat|unfinished|cut' "$S/both" || fail "a torn line is not told"
}

t_garbage() {
	a_session
	printf '\0\377{"seq":' >>"$LEDGER"
	run pale log verify
	rc_is 1
	run pale log
	[ "$RC" -le 1 ] || fail "pale log cannot run"
}

t_moved_between_sessions() {
	local first second
	a_session
	first=$LEDGER
	fence true
	second=$(ls "$STATE"/sessions/*/ledger.jsonl | grep -vF "$first")
	cp "$first" "$second"
	run pale log verify
	rc_is 1 "a ledger in another session's place"
}

t_agent_cannot_touch_it() {
	fsh "ls $STATE; cat $STATE/sessions/*/ledger.jsonl
		echo x >>$STATE/sessions/x; rm -rf $STATE; mv $STATE away; mv ~/.local ~/gone"
	rc_not 0
	grep -q '^pale: denied' "$S/err" || fail "nothing denied"
	out_lacks '"seq"'
	exists "$STATE/sessions"
	verifies
}

t_helper_killed() {
	local helper id
	printf '[commands]\nask = touch\n' | policy
	bg killed bash -c ': >begun; until test -e go; do sleep 0.05; done
		touch a; echo "status $?"; cat file; cat ~/.ssh/id_rsa'
	until_true 10 test -e begun || fail "it does not begin"
	helper=$(pgrep -P $BG -x pale-helper)
	kill -9 "$helper"
	: >go
	bg_wait killed
	rc_is 125
	err_has "the helper died: the session was ended"
	no_decoy
	missing a
	run pale log verify
	rc_is 1
	out_has "no end record"
}

t_helper_killed_while_asked() {
	local helper id
	printf '[commands]\nask = touch\n' | policy
	bg killed bash -c 'touch a; echo "status $?"'
	id=$(pending_id) || exit 1
	kill -9 "$(pgrep -P $BG -x pale-helper)"
	bg_wait killed
	rc_is 125
	missing a
	run pale log verify
	rc_is 1
	out_has "no end record"
	out_has "the helper died while ${id:0:4} (exec touch a, #"
	out_has "waited: it was never answered, nothing was done"
	recorded approval/request '[a-z]*' "touch a"
	run pale log verify --json
	[ "$(python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["open"][0]["state"])' <"$S/out")" = pending ] ||
		fail "the open question is not in the report"
}

# The head that pale run told is kept, and what does not hold it any more is no good.
t_rolled_back() {
	a_session
	[ "$(wc -l <"$STATE/heads.jsonl")" = 1 ] || fail "not one head is kept"
	cp "$LEDGER" "$S/whole"
	local head n left
	n=$(wc -l <"$LEDGER")
	head=$(tail -1 "$LEDGER" | python3 -c 'import json, sys; print(json.load(sys.stdin)["hash"])')
	grep -q "\"records\":$n,\"head\":\"$head\"" "$STATE/heads.jsonl" || fail "another head is kept"
	for left in 1 2 $((n - 2)) $((n - 1)); do
		head -n "$left" "$S/whole" >"$LEDGER"
		run pale log verify
		rc_is 1 "$left of $n records"
		out_has "cut short or rewritten"
	done
	cp "$S/whole" "$LEDGER"
	run pale log verify --head "$head"
	rc_is 0
	run pale log verify --head "${head//[0-9]/a}"
	rc_is 1 "a head that it never had"
	run pale log verify --head abc
	rc_is 2
}

# Made anew by who can hash: every record is whole, the chain holds, and the head is another.
t_made_anew() {
	a_session
	python3 - "$LEDGER" <<'PY'
import hashlib, json, os, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
prev = hashlib.sha256(b"pale-ledger-1\0" + lines[0]["session"].encode()).hexdigest()
with open(sys.argv[1], "w") as f:
    for r in lines:
        if r["verdict"] == "deny":
            r["verdict"] = "allow"
        if r["op"] == "checkpoint":
            r["detail"] = "count=%d head=%s owner=%d not sealed" % (r["seq"] - 1, prev, os.getuid())
        r["prev"] = prev
        h = hashlib.sha256(b"pale-ledger-1\0")
        for name, value in r.items():
            if name != "hash":
                raw = str(value).encode()
                h.update(len(raw).to_bytes(4, "little") + raw)
        r["hash"] = prev = h.hexdigest()
        f.write(json.dumps(r, separators=(",", ":"), ensure_ascii=False) + "\n")
PY
	run pale log verify
	rc_is 1
	out_has "the head that was kept for this record differs"
	rm "$STATE/heads.jsonl"
	run pale log verify
	rc_is 0 "what nothing else speaks against"
	out_has "not sealed"
}

# long_ledger N FILE: the session's, with its record of a read N times.
long_ledger() {
	python3 - "$LEDGER" "$@" <<'PY'
import hashlib, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
one = next(r for r in lines if r["op"] == "read")
prev = hashlib.sha256(b"pale-ledger-1\0" + lines[0]["session"].encode()).hexdigest()
with open(sys.argv[3], "w") as f:
    for seq in range(int(sys.argv[2])):
        r = lines[0] if seq == 0 else one
        r["seq"], r["prev"] = seq + lines[0]["seq"], prev
        h = hashlib.sha256(b"pale-ledger-1\0")
        for name, value in r.items():
            if name != "hash":
                raw = str(value).encode()
                h.update(len(raw).to_bytes(4, "little") + raw)
        r["hash"] = prev = h.hexdigest()
        f.write(json.dumps(r, separators=(",", ":"), ensure_ascii=False) + "\n")
PY
}

# shown WORD...: what is on a terminal, with each line's changes, where time flies.
shown() {
	script -qefc "faketime -f '+0 x1000' $*" /dev/null </dev/null | tr '\r' '\n' >"$S/shown"
}

t_progress_on_a_terminal() {
	need script python3 faketime
	a_session
	rm "$STATE/heads.jsonl"
	long_ledger 20000 long.jsonl
	head -200 long.jsonl >short.jsonl
	printf '[files]\ndeny = x\n' >new.ini
	chmod 600 new.ini
	for line in "pale log verify long.jsonl" "pale learn --ledger long.jsonl" \
		"pale policy diff --ledger long.jsonl new.ini"; do
		shown "$line"
		grep -qE '^pale: [0-9]{4,} records read' "$S/shown" || fail "no progress: $line: $(cat "$S/shown")"
		# It is wiped out, and nothing stands behind it.
		grep -A1 'records read' "$S/shown" | tail -1 | grep -qE '^ +$' || fail "it stays: $line: $(cat "$S/shown")"
		run faketime -f '+0 x1000' $line
		err_lacks "records read"
		script -qefc "${line/long/short}" /dev/null </dev/null >"$S/shown"
		! grep -q 'records read' "$S/shown" || fail "progress of what is short: $line"
	done
}

# A ledger that is gone is missed, whatever way it went; one that was removed for its age or for room is not.
t_gone() {
	local gone way
	for way in 'rm -rf "$D"' 'mv "$D" "$S/away"' 'rm "$D/ledger.jsonl"' ': >"$D/ledger.jsonl"' \
		'mv "$D" "$STATE/sessions/.hidden"' \
		'ln -sfn nowhere "$D/ledger.jsonl"' 'head -3 "$D/ledger.jsonl" >"$S/3"; cp "$S/3" "$D/ledger.jsonl"' \
		'rm -rf "$STATE/sessions"'; do
		rm -rf "$STATE"
		a_session
		fence true
		D=${LEDGER%/*}
		gone=${D##*/}
		verifies
		eval "$way"
		run pale log verify
		rc_not 0 "$way"
		out_has "bad: $gone: "
		run pale log verify --session "$gone"
		rc_not 0 "$way, by name"
		run pale log verify --json
		rc_not 0 "$way, as JSON"
		python3 -c 'import json, sys
assert [l for l in json.load(open(sys.argv[1])) if l["session"] == sys.argv[2] and not l["ok"]]' "$S/out" "$gone" ||
			fail "$way: not in the JSON"
	done
	out_has "its ledger is gone, although a head of it was kept"
	# Older than what is kept: nobody misses it.
	sed -i 's/"time":"[0-9]*-/"time":"2020-/' "$STATE/heads.jsonl"
	run pale log verify
	rc_is 0
}

# Of another user's session, by its own word: the first record and each checkpoint say whose it is.
t_of_another_user() {
	a_session
	head -1 "$LEDGER" | grep -q "; owner=$(id -u); " || fail "the first record names no owner"
	[ "$(grep -c '"checkpoint".*head=[0-9a-f]* owner='"$(id -u)"' not sealed' "$LEDGER")" = 1 ] ||
		fail "the checkpoint names no owner"
	run pale log verify --user "$(id -un)"
	rc_is 0
	run pale log verify --user "$(id -u)" "$LEDGER"
	rc_is 0
	for other in root 0 nobody 65534; do
		run pale log verify --user $other "$LEDGER"
		rc_is 1 "--user $other"
		out_has "it is the ledger of another user"
	done
	for other in no-such-user 1x -1 "" 4294967295; do
		run pale log verify --user "$other" "$LEDGER"
		rc_is 2 "--user $other"
	done
}

t_the_end_is_told() {
	run pale run -v -- true
	rc_is 0
	grep -qE '^pale: ledger head [0-9a-f]{12}\.\.\. \([0-9]+ records\), not sealed$' "$S/err" ||
		fail "the head is not told"
}

# Another start looks whether this session lives in the very moment in which its ledger is made.
t_looked_at_while_made() {
	need strace
	run strace -f -qq -e trace=flock -e inject=flock:error=EAGAIN:when=1 -o \
		"$S/trace" pale run -q --level hooks -- echo made
	grep -q "LOCK_EX.*INJECTED" "$S/trace" || fail "nothing was injected"
	rc_is 0
	out_is made
	verifies
}

t_pruned() {
	a_session
	run pale log prune
	out_is ""
	# its helper locks it to the end
	until_true 5 flock -n "$LEDGER" true || fail "the helper does not end"
	touch -d '100 days ago' "$LEDGER"
	run pale log prune --dry-run
	rc_is 0
	out_has "would remove"
	exists "$LEDGER"
	# As the sweep does.
	run pale session gc --dry-run
	out_has "would remove ledger $LEDGER"
	exists "$LEDGER"
	cp -a "$(dirname "$LEDGER")" "$S/kept"
	run pale session gc
	rc_is 0
	out_has "removed ledger $LEDGER"
	err_has "Pruned 1 stale sessions"
	missing "$(dirname "$LEDGER")"
	cp -a "$S/kept" "$(dirname "$LEDGER")"
	run pale log prune
	rc_is 0
	missing "$(dirname "$LEDGER")"
}

# left NAME DAYS MEBIBYTES: what a session that ended so long ago left, with a part that nobody compressed.
left() {
	local dir=$STATE/sessions/$1
	mkdir -p -m 700 "$dir"
	echo '{}' >"$dir/ledger.jsonl"
	head -c "${3}M" /dev/urandom >"$dir/ledger.0.jsonl"
	touch -d "$2 days ago" "$dir/ledger.jsonl"
}

t_what_ended_sessions_keep_is_bounded() {
	local name
	printf '[ledger]\nsize = 5M\n' | policy
	mkdir -p -m 700 "$STATE/sessions"
	left oldest 30 2
	left older 20 2
	left old 10 2
	left new 1 2
	# A head is kept a moment after the ledger was last written.
	printf '{"time":"%s","session":"older","records":1,"head":"0","sealed":false}\n' \
		"$(date -u -d '20 days ago + 1 second' +%FT%TZ)" >"$STATE/heads.jsonl"
	# The owner may read ledgers, and could keep their bytes by a descriptor.
	exec 9<"$STATE/sessions/oldest/ledger.jsonl"
	fence bash -c 'sleep 3'
	rc_is 0
	for name in oldest older; do
		until_true 10 test ! -e "$STATE/sessions/$name"
		missing "$STATE/sessions/$name"
		recorded ledger/removed '[a-z]*' "$name" "[ledger] size is 5 MiB"
	done
	[ "$(stat -L -c %s "/proc/$$/fd/9")" = 0 ] || fail "the bytes are kept"
	run pale log verify
	out_lacks "older"
	for name in old new; do
		exists "$STATE/sessions/$name/ledger.jsonl"
		not_recorded ledger/removed '[a-z]*' "\"$name\""
	done
}

t_a_part_left_behind_is_compressed_later() {
	mkdir -p -m 700 "$STATE/sessions"
	left ended 5 1
	cp "$STATE/sessions/ended/ledger.0.jsonl" "$S/part"
	fence bash -c 'sleep 3'
	missing "$STATE/sessions/ended/ledger.0.jsonl"
	zcat "$STATE/sessions/ended/ledger.0.jsonl.gz" | cmp - "$S/part" || fail "the part is another one"
	not_recorded ledger/removed '[a-z]*'
}

t_a_live_session_is_not_too_old() {
	local live
	printf '[ledger]\nsize = 1M\n' | policy
	bg first bash -c 'until [ -e end ]; do sleep 0.1; done'
	until_true 30 bash -c 'ls "$0"/sessions/*/ledger.jsonl' "$STATE" || fail "it does not run"
	live=$(echo "$STATE"/sessions/*)
	head -c 3M /dev/urandom >"$live/ledger.7.jsonl"
	touch -d '30 days ago' "$live/ledger.7.jsonl"
	fence bash -c 'sleep 2'
	exists "$live/ledger.7.jsonl"
	touch end
	bg_wait first
}

t_writers_killed() {
	fsh 'for i in $(seq 20); do
			(while :; do cat file >/dev/null; done) & p=$!
			sleep 0.02; kill -9 $p
		done 2>/dev/null; wait; echo done'
	out_has "done"
	verifies
}

t_many_writers() {
	fsh 'for i in $(seq 8); do (for j in $(seq 40); do : <file; : >f$i.$j; done) & done; wait'
	rc_is 0
	verifies
	[ "$(records write allow | grep -oE 'f[1-8]\.[0-9]+"' | sort -u | wc -l)" = 320 ] || fail "records are missing"
	not_recorded 'loss' '[a-z]*'
}

scenario "$@"
