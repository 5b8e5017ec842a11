# limit: 60
# The sweep of what old sessions left: what goes, what stays, what is said of it.
. "$T_LIB"

OPTS=(--level hooks)

# A launcher's directory as the seed has it: the workspace in it, the rest beside.
bridge() {
	mkdir -p "$HOME/bridge/workspace/.opencode/data/opencode/session" "$HOME/bridge/logs"
	cd "$HOME/bridge/workspace" || exit 99
	B=$HOME/bridge
	SESSIONS=$B/workspace/.opencode/data/opencode/session
	printf '[session]\ngc = all\n' | policy
}

# A start, which has two seconds: on a disk that stands still that is not enough for anything.
start() {
	fence "${@:-true}"
	! grep -q "time was up" "$S/err" || skip "two seconds were not enough for a few files"
}

# old HOURS PATH...: last written so many hours ago, with all that is in it.
old() {
	local hours=$1
	shift
	find "$@" -exec touch -h -d "-$hours hours" {} +
}

# The session that runs in this test's own runtime directory: others of the user may run elsewhere.
session_here() {
	until_true 20 eval '[ -e "$XDG_RUNTIME_DIR"/pale/*/session.json ]' && cd "$XDG_RUNTIME_DIR/pale" && echo *
}

ms() {
	echo $((($(date +%s) - $1 * 3600) * 1000))
}

json_is() {
	python3 -c '
import json, sys
got = json.load(open(sys.argv[1])); want = json.loads(sys.argv[2])
sys.exit(0 if json.dumps(got) == json.dumps(want) else "got %s" % json.dumps(got))' "$1" "$2" || fail "$1 is not $2"
}

# The seed's own words: 48 hours, logs, session directories, entries, and the line.
t_seed() {
	local i
	bridge
	for i in 1 2 3 4; do
		echo out >"$B/logs/ses_$i.stdout"
		echo err >"$B/logs/ses_$i.stderr"
		mkdir "$SESSIONS/ses_$i"
		echo x >"$SESSIONS/ses_$i/info.json"
	done
	echo mine >"$B/logs/notes.txt"
	old 49 "$B"/logs/ses_[123].* "$B/logs/notes.txt" "$SESSIONS"/ses_[123]
	old 47 "$B"/logs/ses_4.* "$SESSIONS/ses_4"
	printf '{"ses_1":{"updated":%s},"ses_9":{"updated":%s},"ses_4":{"updated":%s},"note":"kept"}\n' \
		"$(ms 50)" "$(ms 500)" "$(ms 1)" >"$B/sessions.json"
	chmod 640 "$B/sessions.json"
	run pale run "${OPTS[@]}" -- true
	rc_is 0
	! grep -q "time was up" "$S/err" || skip "two seconds were not enough for a few files"
	recorded session/sweep "" "sessions=4 log=6 session=3 entry=2 failed=0 left=0"
	grep -qE '^\[Sandbox\] GC sweep started\.\.\. Pruned 4 stale sessions in [0-9]+\.[0-9]s\.$' "$S/err" ||
		fail "the line is not there"
	[ "$(ls "$B/logs")" = "notes.txt"$'\n'"ses_4.stderr"$'\n'"ses_4.stdout" ] || fail "logs: $(ls "$B/logs")"
	[ "$(ls "$SESSIONS")" = ses_4 ] || fail "sessions: $(ls "$SESSIONS")"
	json_is "$B/sessions.json" \
		"{\"ses_4\":{\"updated\":$(sed 's/.*ses_4":{"updated":\([0-9]*\).*/\1/' "$B/sessions.json")},\"note\":\"kept\"}"
	[ "$(stat -c %a "$B/sessions.json")" = 640 ] || fail "mode of sessions.json"
	[ "$(ls -A "$B")" = "logs"$'\n'"sessions.json"$'\n'"workspace" ] || fail "something is left: $(ls -A "$B")"
	# Nothing to do: said too, since this launcher's things are swept.
	run pale run "${OPTS[@]}" -- true
	err_has "Pruned 0 stale sessions in "
	start
	err_lacks "GC sweep"
	[ "$(records session/sweep "" | wc -l)" = 1 ] || fail "a sweep of nothing is in the ledger"
	verifies
}

# What nobody asked for is not done: a project's logs are its own.
t_own_by_default() {
	mkdir -p logs .opencode/data/opencode/session/ses_1
	echo x >logs/a.stdout
	echo '{"ses_1":{"updated":1}}' >sessions.json
	old 500 logs .opencode sessions.json
	start
	rc_is 0
	err_lacks "GC sweep"
	exists logs/a.stdout
	exists .opencode/data/opencode/session/ses_1
	grep -q ses_1 sessions.json || fail "an entry went"
	# and a project cannot ask for it
	mkdir -p .pale
	printf '[session]\ngc = all\nexpiry = 1s\n' >.pale/policy.ini
	run pale run --level hooks -- true
	err_has "\`gc\` is ignored"
	err_has "\`expiry\` is ignored"
	exists logs/a.stdout
}

# What programs leave in TMPDIR is no session, and goes by the same age.
t_scratch() {
	fence bash -c 'echo x >"$TMPDIR/young"
		mkdir "$TMPDIR/d" && echo x >"$TMPDIR/d/f"; echo x >"$TMPDIR/old"; ln -s "$HOME/keep" "$TMPDIR/link"'
	rc_is 0
	mkdir ~/keep && echo x >~/keep/f
	local tmp
	tmp=$(echo ~/.local/share/pale/*/tmp)
	old 49 ~/keep "$tmp/old" "$tmp/d" "$tmp/link"
	start
	[ "$(ls "$tmp")" = young ] || fail "left: $(ls "$tmp")"
	file_is ~/keep/f x
	recorded session/sweep "" "sessions=0 scratch=3"
	# Elsewhere than the policy has it nothing is anybody's scratch.
	mkdir -p .x/tmp none/tmp && echo x >.x/tmp/f && echo x >none/tmp/f
	old 49 .x none
	printf '[session]\nstate = none\n' | policy
	start
	file_is none/tmp/f x
	file_is .x/tmp/f x
}

t_expiry() {
	bridge
	touch "$B"/logs/{a,b,c}.stdout
	old 3 "$B/logs/a.stdout"
	old 30 "$B/logs/b.stdout"
	echo SESSION_EXPIRY_HOURS=24 >"$B/.env"
	chmod 600 "$B/.env"
	start
	rc_is 0
	exists "$B/logs/a.stdout"
	missing "$B/logs/b.stdout"
	# the environment is behind the file, the policy above both
	export SESSION_EXPIRY_HOURS=2
	start
	missing "$B/logs/a.stdout"
	old 1 "$B/logs/c.stdout"
	printf '[session]\ngc = all\nexpiry = 30m\n' | policy
	start
	missing "$B/logs/c.stdout"
	run pale policy show
	out_has "gc = all"
	out_has "expiry = 1800s"
}

t_ill_formed() {
	local bad
	bridge
	touch "$B/logs/a.stdout"
	old 5000 "$B/logs/a.stdout"
	for bad in 0 -1 48h 1.5 two 999999 '4 8'; do
		echo "SESSION_EXPIRY_HOURS='$bad'" >"$B/.env"
		start
		rc_is 125 "$bad"
		err_has ".env:1:"
		err_has "hours"
		exists "$B/logs/a.stdout"
	done
	rm "$B/.env"
	for bad in 0s 48 5000d -1h 1w; do
		printf '[session]\ngc = all\nexpiry = %s\n' "$bad" | policy
		start
		rc_is 125 "$bad"
		err_has "policy.ini:3:10"
		run pale session gc --older-than "$bad"
		rc_is 2
		exists "$B/logs/a.stdout"
	done
}

t_command() {
	bridge
	touch "$B"/logs/{a,b}.stdout "$B/logs/a.stderr"
	old 60 "$B"/logs/a.*
	echo '[{"id":"a","updated":"2001-02-03T04:05:06Z"},{"id":"b"}]' >"$B/sessions.json"
	cp "$B/sessions.json" "$S/before"
	run pale session gc --dry-run
	rc_is 0
	out_has "would remove log $B/logs/a.stdout"
	out_has "would remove log $B/logs/a.stderr"
	out_has "would remove entry $B/sessions.json: a"
	err_has "pale: 1 stale session would be removed"
	exists "$B/logs/a.stdout"
	cmp -s "$B/sessions.json" "$S/before" || fail "a dry run wrote"
	run pale session gc --dry-run --json --older-than 100h
	rc_is 0
	python3 -c 'import json,sys; j=json.load(open(sys.argv[1]))
assert (j["pruned"],j["dry_run"],[r["kind"] for r in j["removed"]])==(1,True,["entry"]), j' "$S/out" || fail "json"
	run pale session gc
	rc_is 0
	err_has "Pruned 1 stale sessions in"
	missing "$B/logs/a.stdout"
	exists "$B/logs/b.stdout"
	json_is "$B/sessions.json" '[{"id":"b"}]'
	run pale session gc --older-than 1s --dry-run
	out_lacks "b.stdout"
	run pale session gc me
	rc_is 2
	fsh 'pale session gc'
	rc_is 2
	err_has "inside a session"
}

t_entries() {
	bridge
	# by text, by seconds, nested; no time, a time nobody knows, the future, another shape
	cat >"$B/sessions.json" <<-END
		{
		    "version": 3,
		    "sessions": [
		        {"id": "iso", "updated": "2020-01-01T00:00:00.5+02:00"},
		        {"id": "none", "title": "x"},
		        {"id": "seconds", "created": 1500000000},
		        {"id": "nested", "time": {"created": 1500000000000, "updated": 1500000000001}},
		        {"id": "fresh", "created": 1500000000000, "updated": $(ms 1)},
		        {"id": "odd", "updated": "yesterday"},
		        {"id": "both", "created": 1500000000000, "updated": "?"},
		        {"id": "ahead", "updated": $(ms -9000)},
		        {"id": 7, "updated": 1},
		        "text", 5, null, []
		    ],
		    "more": {"a": [1.5, true, "\u00e9\u0000"]}
		}
	END
	start
	rc_is 0
	python3 - "$B/sessions.json" <<-'END' || fail "what is kept is not right"
		import json, sys
		text = open(sys.argv[1]).read()
		j = json.loads(text)
		ids = [e["id"] if isinstance(e, dict) else e for e in j["sessions"]]
		assert ids == ["none", "fresh", "odd", "both", "ahead", 7, "text", 5, None, []], ids
		assert list(j) == ["version", "sessions", "more"] and j["more"]["a"] == [1.5, True, "\u00e9\0"], j
		assert text.startswith('{\n    "version": 3,\n') and text.endswith("}\n"), text
	END
	# Nothing to take out: not a byte changes.
	cp -p "$B/sessions.json" "$S/before"
	start
	cmp -s "$B/sessions.json" "$S/before" && [ ! "$B/sessions.json" -nt "$S/before" ] || fail "written for nothing"
}

t_entries_broken() {
	local text
	bridge
	for text in '{"a":{"updated":1}' $'{"a\xff":{"updated":1}}' 'x'; do
		printf '%s' "$text" >"$B/sessions.json"
		start
		rc_is 0
		err_has "sessions.json is left as it is: it is not JSON that is read here"
		file_is "$B/sessions.json" "$text"
	done
	# What another reader may take is nobody's to take away.
	for text in '{"a":{"updated":1},"a":{"updated":2}}' '{"a":{"updated":99999999999999999999}}'; do
		printf '%s' "$text" >"$B/sessions.json"
		start
		rc_is 0
		err_has "sessions.json is left as it is: "
		file_is "$B/sessions.json" "$text"
	done
	printf 'null' >"$B/sessions.json"
	start
	rc_is 0
	err_is_empty
	file_is "$B/sessions.json" null
	printf '{"a":{"updated":1}}%*s' $((17 << 20)) '' >"$B/sessions.json"
	start
	rc_is 0
	err_has "more than 16 MiB"
	grep -q updated "$B/sessions.json" || fail "a huge one was written"
	: >"$B/sessions.json"
	start
	rc_is 0
	err_is_empty
	rm "$B/sessions.json"
	echo '{"a":{"updated":1}}' >"$S/elsewhere"
	ln -s "$S/elsewhere" "$B/sessions.json"
	start
	err_has "symbolic link"
	grep -q updated "$S/elsewhere" || fail "the link was followed"
	rm "$B/sessions.json"
	mkfifo "$B/sessions.json"
	start
	rc_is 0
	err_has "no regular file"
	rm "$B/sessions.json"
	mkdir "$B/sessions.json"
	start
	rc_is 0
}

# No room, no right to write: the old file stays whole.
t_entries_read_only() {
	[ "$(id -u)" != 0 ] || skip "root writes anywhere"
	bridge
	echo '{"a":{"updated":1}}' >"$B/sessions.json"
	chmod 555 "$B"
	run pale session gc
	chmod 755 "$B"
	rc_is 1
	err_has "sessions.json cannot be rewritten: Permission denied"
	err_has "Pruned 0 stale"
	grep -q updated "$B/sessions.json" || fail "it went"
}

# A session that lives keeps all that is its own, however old that looks.
t_live() {
	local id
	bridge
	touch "$B/logs/other.stdout"
	mkdir "$SESSIONS/theirs" "$SESSIONS/done"
	old 900 "$B"/logs/* "$SESSIONS"/*
	policy </dev/null
	sleep 1.1 # times of a session are of whole seconds
	bg long bash -c 'until test -e stop; do sleep 0.05; done'
	id=$(session_here) || fail "it does not run"
	printf '[session]\ngc = all\n' | policy
	touch "$B/logs/$id.stdout"
	mkdir "$SESSIONS/$id"
	printf '{"%s":{"updated":1},"x":{"pale":"%s","updated":1},"gone":{"updated":1}}' "$id" "$id" >"$B/sessions.json"
	old 900 "$B"/logs/$id.stdout "$SESSIONS/$id"
	# One of them it has just read: only the time of the last access says so.
	touch -a "$SESSIONS/theirs"
	run pale session gc
	rc_is 0
	exists "$B/logs/$id.stdout"
	missing "$B/logs/other.stdout"
	[ "$(ls "$SESSIONS" | sort)" = "$(printf '%s\n' "$id" theirs | sort)" ] || fail "sessions: $(ls "$SESSIONS")"
	json_is "$B/sessions.json" "{\"$id\":{\"updated\":1},\"x\":{\"pale\":\"$id\",\"updated\":1}}"
	exists "$XDG_RUNTIME_DIR/pale/$id"
	: >stop
	bg_wait long
	rc_is 0
	# Its helper may have a moment to go.
	until_true 20 test ! -e "$XDG_RUNTIME_DIR/pale/$id" || fail "its runtime directory is still there"
	run pale session gc
	missing "$B/logs/$id.stdout"
	missing "$SESSIONS/theirs"
	json_is "$B/sessions.json" '{}'
}

# A log that somebody still writes stays.
t_open_log() {
	bridge
	exec 7>"$B/logs/busy.stdout"
	# Over some file systems the kernel cannot say who has a file open.
	python3 -c '
import fcntl, os, sys
try: fcntl.fcntl(os.open(sys.argv[1], os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
except BlockingIOError: sys.exit(0)
except OSError: pass
sys.exit(1)' "$B/logs/busy.stdout" || skip "no leases here"
	old 900 "$B/logs/busy.stdout"
	start
	exists "$B/logs/busy.stdout"
	exec 7>&-
	start
	missing "$B/logs/busy.stdout"
}

# What a killed session leaves in the runtime directory goes, though nothing else may be swept.
t_killed() {
	local helper id dir
	bg long bash -c 'until test -e stop; do sleep 0.05; done'
	id=$(session_here) || fail "it does not run"
	dir=$XDG_RUNTIME_DIR/pale/$id
	helper=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["helper_pid"])' "$dir/session.json")
	kill -9 "$helper"
	bg_wait long
	rc_is 125
	exists "$dir"
	old 2 "$dir"
	run pale run --level hooks -- true
	err_has "Pruned 1 stale sessions"
	missing "$dir"
	exists "$STATE/sessions/$id/ledger.jsonl"
	printf '[session]\ngc = off\n' | policy
	mkdir -m 700 "$dir"
	old 99 "$dir"
	start
	exists "$dir"
}

# What [session] state names is where the agent's state is, and so where it is swept.
t_state() {
	local dir
	bridge
	printf '[session]\ngc = all\nstate = .agent/state\n' | policy
	for dir in .agent/state .opencode .pale .other; do
		mkdir -p $dir/data/opencode/session/ses_$dir
	done
	old 60 .agent .opencode .pale .other
	start
	rc_is 0
	exists .other/data/opencode/session/ses_.other
	for dir in .agent/state .opencode .pale; do
		[ -z "$(ls -A $dir/data/opencode/session)" ] || fail "$dir: $(ls -A $dir/data/opencode/session)"
	done
	recorded session/sweep "" "sessions=3 session=3 failed=0 left=0"
}

# Two seconds a start: then it says how much it has not looked at, and the next one goes on.
t_time_is_up() {
	local i
	need strace
	bridge
	for i in $(seq 60); do echo x >"$B/logs/s$i.stdout"; done
	old 60 "$B/logs"
	run strace -qq -o /dev/null -e trace=unlinkat -e inject=unlinkat:delay_enter=100000 pale run --level hooks -- true
	rc_is 0
	err_has "the sweep's time was up: "
	grep -qE 'time was up: (3[0-9]|4[0-9]) entries' "$S/err" || fail "it did not stop after two seconds"
	i=$(ls "$B/logs" | wc -l)
	[ "$i" -ge 30 ] && [ "$i" -lt 60 ] || fail "$i are left"
	recorded session/sweep "" "log=$((60 - i)) failed=0 left=$i"
	run pale session gc
	rc_is 0
	[ -z "$(ls "$B/logs")" ] || fail "left: $(ls "$B/logs")"
}

# What comes from the future is never old.
t_future() {
	bridge
	touch -d '+300 days' "$B/logs/ahead.stdout"
	touch .opencode/data/opencode/opencode.db
	old 900 .opencode/data/opencode/opencode.db
	run pale session gc
	rc_is 0
	err_has "opencode.db is left alone"
	exists "$B/logs/ahead.stdout"
	exists .opencode/data/opencode/opencode.db
}

scenario "$@"
