# limit: 600
# Killed in the middle: whatever was done is recorded.
. "$T_LIB"

# Killed between the decision and the end of an act (opens, renames, removals): whatever was done is recorded.
t_killed_in_the_act() {
	cat >acts.py <<-'EOF'
		import os, random, signal, time
		for n in range(80):
		    pid = os.fork()
		    if pid == 0:
		        for i in range(100000):
		            name = "made-%d-%d" % (n, i)
		            os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600))
		            if i % 3 == 0:
		                os.mkdir("dir-%d-%d" % (n, i))
		            if i % 3 == 1:
		                os.symlink("x", "link-%d-%d" % (n, i))
		        os._exit(0)
		    time.sleep(random.uniform(0.001, 0.01))
		    os.kill(pid, signal.SIGKILL)
		    os.waitpid(pid, 0)
	EOF
	fsh 'python3 acts.py'
	rc_is 0
	verifies
	ls | grep -E '^(made|dir|link)-' | sort >"$S/done"
	[ "$(wc -l <"$S/done")" -gt 50 ] || fail "nothing was done"
	records '(write|mkdir|symlink)' allow | grep -oE '(made|dir|link)-[0-9]+-[0-9]+"' | tr -d '"' | sort -u >"$S/told"
	comm -23 "$S/done" "$S/told" >"$S/untold"
	[ ! -s "$S/untold" ] || fail "done, and not recorded: $(head -3 "$S/untold")"
}

# Nobody goes on without a helper: hooked, static, one of a session of its own, one who makes no call that is carried.
# What each did until then is in the ledger or in what the supervisor kept, whatever moment it was.
t_helper_killed_at_any_moment() {
	local round helper
	cat >acts.py <<-'EOF'
		import os, signal, sys
		for n in range(3):
		    if os.fork() == 0:
		        os.setsid()
		        signal.signal(signal.SIGTERM, signal.SIG_IGN)
		        if n == 2:
		            while True:
		                pass
		        break
		open("pids/%d" % os.getpid(), "w").close()
		for i in range(10**9):
		    os.close(os.open("made-%d-%d" % (os.getpid(), i), os.O_WRONLY | os.O_CREAT, 0o600))
	EOF
	mkdir pids
	for round in 1 2 3 4 5 6; do
		[ $((round % 2)) = 0 ] && OPTS=(--level strict) || OPTS=(--level full)
		bg "killed$round" python3 acts.py
		until_true 20 eval '[ "$(ls pids | wc -l)" = $((3 * round)) ]' || fail "it does not begin"
		sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
		helper=$(pgrep -P "$BG" -x pale-helper) || fail "no helper"
		kill -9 "$helper"
		bg_wait "killed$round"
		rc_is 125
	done
	pgrep -f acts.py && fail "somebody goes on"
	ls | grep '^made-' | sort >"$S/done"
	[ "$(wc -l <"$S/done")" -gt 50 ] || fail "nothing was done"
	{ records write allow; cat "$STATE/unwritten.jsonl"
	} | grep -oE 'made-[0-9]+-[0-9]+"' | tr -d '"' | sort -u >"$S/told"
	comm -23 "$S/done" "$S/told" >"$S/untold"
	[ ! -s "$S/untold" ] ||
		fail "done, and not recorded: $(wc -l <"$S/untold") of $(wc -l <"$S/done"), $(head -3 "$S/untold")"
}

count_of() {
	od -An -tu8 -N8 "$1" | tr -d ' '
}

# What is denied is kept as what is allowed is, by whom it was denied: hooks and supervisor.
t_denials_of_a_killed_helper_are_kept() {
	local helper level
	# How many were denied is counted in shared memory, which costs no call: the helper is to be behind.
	cat >denied.py <<-'EOF'
		import mmap, struct, sys
		f = open(sys.argv[1], "w+b")
		f.truncate(4096)
		count = mmap.mmap(f.fileno(), 4096)
		for i in range(10**9):
		    try:
		        open("%s/late-%s-%d." % (sys.argv[2], sys.argv[1], i), "w")
		    except OSError:
		        struct.pack_into("Q", count, 0, i + 1)
	EOF
	for level in full strict hooks full full; do
		OPTS=(--level "$level")
		rm -f "$level"
		bg "$level" python3 denied.py "$level" "$HOME/elsewhere"
		until_true 20 eval '[ -e "$level" ] && [ "$(count_of "$level")" -gt 200 ]' || fail "it does not begin"
		helper=$(pgrep -P "$BG" -x pale-helper) || fail "no helper"
		kill -9 "$helper"
		bg_wait "$level"
		rc_is 125
		seq -f "late-$level-%.0f." 0 $(($(count_of "$level") - 1)) | sort >"$S/done"
		{ records write deny; grep '"verdict":"deny"' "$STATE/unwritten.jsonl"; } |
			grep -oE "late-$level-[0-9]+\." | sort -u >"$S/told"
		comm -23 "$S/done" "$S/told" >"$S/untold"
		[ ! -s "$S/untold" ] || fail "$level: denied, and not recorded: $(wc -l <"$S/untold") of $(wc -l <"$S/done")"
		rm -rf "$STATE"
	done
}

# A helper that was stopped for a while is still the session's: it is spared until it has written all, and the
# end record says how the session ended.
t_helper_stopped_and_continued() {
	local helper
	OPTS=(--timeout 3s)
	bg stopped bash -c 'trap "" TERM; touch ready
		i=0; while :; do echo x >"made-$((i++))"; sleep 0.02; done'
	until_true 20 test -e ready || fail "it does not begin"
	helper=$(pgrep -P "$BG" -x pale-helper) || fail "no helper"
	kill -STOP "$helper"
	sleep 0.5
	kill -CONT "$helper"
	bg_wait stopped
	rc_is 124
	missing "$STATE/unwritten.jsonl"
	recorded session/end "" "exit 124"
	ls | grep '^made-' | sort >"$S/done"
	records write allow | grep -oE 'made-[0-9]+"' | tr -d '"' | sort -u >"$S/told"
	comm -23 "$S/done" "$S/told" >"$S/untold"
	[ -s "$S/done" ] && [ ! -s "$S/untold" ] || fail "done, and not recorded: $(head -3 "$S/untold")"
}

# A flood waits for a helper that stands still, as one does that waits for the disk: nothing is lost.
t_a_flood_waits_for_the_helper() {
	local helper level
	cat >flood.py <<-'EOF'
		import sys
		open("ready", "w").close()
		for i in range(int(sys.argv[1])):
		    open("/etc/passwd").close()
	EOF
	for level in hooks full strict; do
		OPTS=(--level "$level")
		rm -f ready
		bg "$level" python3 flood.py 60000
		until_true 20 test -e ready || fail "it does not begin"
		helper=$(pgrep -P "$BG" -x pale-helper) || fail "no helper"
		kill -STOP "$helper"
		sleep 3
		kill -CONT "$helper"
		bg_wait "$level"
		rc_is 0
		recorded session/end "" "lost=0"
		rm -rf "$STATE"
	done
}

# Helper, supervisor or agent, while questions are open and programs start: nothing that was done is without its
# record, nothing is done twice, and no process of the session goes on.
t_any_of_them_killed_at_any_moment() {
	need busybox
	printf '[session]\ntimeout = 60s\n[commands]\nask = deed\n' | policy
	run python3 "$T_BASE/t/killed.py" "${KILLS:-9}" "$STATE"
	rc_is 0
}

# It grows without bound as little as ledgers do, and goes as they go.
t_unwritten_is_kept_within_bounds() {
	mkdir -p "$STATE"
	python3 -c 'import sys; sys.stdout.write("{\"session\":\"before\",}\n" * 1800000)' >"$STATE/unwritten.jsonl"
	bg killed bash -c 'echo >ready; while :; do echo >f; done'
	until_true 20 test -e ready || fail "it does not begin"
	kill -9 "$(pgrep -P "$BG" -x pale-helper)"
	bg_wait killed
	rc_is 125
	grep -q before "$STATE/unwritten.old.jsonl" && ! grep -q before "$STATE/unwritten.jsonl" || fail "it is not begun anew"
	session=$(grep -ohE 'session [a-z0-9]{6}' "$S/err" | head -1 | cut -d' ' -f2)
	cp "$STATE/unwritten.jsonl" kept
	grep -m1 "$session" kept >>"$STATE/unwritten.old.jsonl" && [ -n "$session" ] || fail "nothing of $session"
	run pale log verify
	out_has "$(grep -c "$session" kept | awk '{ print $1 + 1 }') decisions that its helper had not written"
	run pale session show "$session"
	out_has "$(grep -c "$session" kept | awk '{ print $1 + 1 }') decisions: they are in"
	run pale session gc
	[ -e "$STATE/unwritten.old.jsonl" ] && [ -e "$STATE/unwritten.jsonl" ] || fail "it went too early"
	touch -d '91 days ago' "$STATE"/unwritten*.jsonl
	run pale session gc --dry-run
	out_has unwritten.jsonl
	run pale session gc
	rc_is 0
	missing "$STATE/unwritten.jsonl"
	missing "$STATE/unwritten.old.jsonl"
}

scenario "$@"
