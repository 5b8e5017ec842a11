# limit: 90
# The sweep among what an agent may have planted: links, pipes, depth, closed directories, names, masses.
. "$T_LIB"

OPTS=(--level hooks)

bridge() {
	B=$HOME/bridge
	SESSIONS=$B/workspace/.opencode/data/opencode/session
	mkdir -p "$SESSIONS" "$B/logs"
	cd "$B/workspace" || exit 99
	printf '[session]\ngc = all\n' | policy
}

old() {
	find "$@" -exec touch -h -d '-900 hours' {} +
}

treasure() {
	mkdir -p "$HOME/treasure/deep"
	echo gold >"$HOME/treasure/deep/gold"
	old "$HOME/treasure"
}

unharmed() {
	file_is "$HOME/treasure/deep/gold" gold
}

t_links() {
	bridge
	treasure
	ln -s "$HOME/treasure" "$SESSIONS/link"
	mkdir "$SESSIONS/ses"
	ln -s "$HOME/treasure" "$SESSIONS/ses/link"
	ln -s ../../../../../../../treasure/deep "$SESSIONS/ses/rel"
	ln "$HOME/treasure/deep/gold" "$SESSIONS/ses/hard"
	ln -s "$HOME/treasure/deep/gold" "$B/logs/gold.stdout"
	ln "$HOME/treasure/deep/gold" "$B/logs/hard.stderr"
	old "$SESSIONS" "$B/logs"
	run pale session gc
	rc_is 0
	[ -z "$(ls -A "$SESSIONS" "$B/logs" | grep -v :)" ] || fail "left: $(ls -AR "$SESSIONS" "$B/logs")"
	unharmed
	[ -d "$HOME/treasure/deep" ] || fail "a directory went"
}

# Whatever part of the way is a link, nothing behind it is swept.
t_link_on_the_way() {
	local part
	bridge
	treasure
	cp -a "$HOME/treasure/deep/gold" "$HOME/treasure/gold.stdout"
	rmdir "$B/logs"
	ln -s "$HOME/treasure" "$B/logs"
	run pale session gc
	rc_is 0
	err_has "logs is left alone: it is a symbolic link"
	file_is "$HOME/treasure/gold.stdout" gold
	for part in "$SESSIONS" "$B/workspace/.opencode/data/opencode" \
		"$B/workspace/.opencode/data" "$B/workspace/.opencode"; do
		mkdir -p "$SESSIONS" "$HOME/treasure/data/opencode/session/x" \
			"$HOME/treasure/opencode/session/x" "$HOME/treasure/session/x"
		old "$HOME/treasure"
		rm -rf "$part"
		ln -s "$HOME/treasure" "$part"
		run pale session gc
		rc_is 0
		err_has "a symbolic link leads there"
		unharmed
		exists "$HOME/treasure/data/opencode/session/x"
		exists "$HOME/treasure/session/x"
		rm "$part"
	done
}

t_odd_things() {
	bridge
	mkdir -p "$SESSIONS/ses/closed/in" "$SESSIONS/bare"
	mkfifo "$SESSIONS/pipe" "$SESSIONS/ses/pipe" "$B/logs/pipe.stdout"
	python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$SESSIONS/ses/s"
	echo x >"$SESSIONS/ses/closed/in/f"
	echo x >"$SESSIONS/$(printf 'a\nb\033]0;x\007')"
	echo x >"$B/logs/$(printf 'a\nb\033]0;x\007').stdout"
	touch -- "$SESSIONS/-rf" "$SESSIONS/ses/*" "$SESSIONS/ses/ "
	mkdir "$B/logs/dir.stdout"
	old "$SESSIONS" "$B/logs"
	chmod 000 "$SESSIONS/ses/closed/in" "$SESSIONS/bare"
	chmod 500 "$SESSIONS/ses/closed"
	run pale session gc
	rc_is 0
	[ -z "$(ls -A "$SESSIONS")" ] || fail "left: $(ls -AR "$SESSIONS")"
	# Neither was a log.
	exists "$B/logs/pipe.stdout"
	exists "$B/logs/dir.stdout"
	[ "$(ls "$B/logs" | wc -l)" = 2 ] || fail "left: $(ls "$B/logs")"
	! grep -q "$(printf '\033')" "$S/out" "$S/err" || fail "an escape sequence came out"
	out_has 'a\x0ab\x1b'
}

# Deeper than is walked: it stays, and that is told.  Wider than any list should be: it is removed.
t_deep_and_wide() {
	bridge
	python3 - "$SESSIONS" <<-'END'
		import os, sys
		top = os.open(sys.argv[1], os.O_RDONLY)
		os.mkdir("deep", dir_fd=top)
		at = os.open("deep", os.O_RDONLY, dir_fd=top)
		for i in range(3000):
		    os.mkdir("d", dir_fd=at)
		    os.utime("d", (1, 1), dir_fd=at)
		    new = os.open("d", os.O_RDONLY, dir_fd=at)
		    os.close(os.open("f", os.O_CREAT, dir_fd=new))
		    os.close(at)
		    at = new
		os.mkdir("wide", dir_fd=top)
		at = os.open("wide", os.O_RDONLY, dir_fd=top)
		for i in range(20000):
		    os.close(os.open("f%d" % i, os.O_CREAT | os.O_WRONLY, dir_fd=at))
		    os.utime("f%d" % i, (1, 1), dir_fd=at)
		os.utime("wide", (1, 1), dir_fd=top)
	END
	# Looked into is 32 deep: what lies there is old.
	(cd "$SESSIONS/deep" && for i in $(seq 40); do touch -d @1 f . && cd d || exit; done) 2>/dev/null
	touch -d @1 "$SESSIONS/deep"
	run pale session gc
	rc_is 1
	[ "$(ls -A "$SESSIONS")" = deep ] || fail "left: $(ls "$SESSIONS")"
	err_has "session/deep cannot be removed: it is more than 32 directories deep"
	err_has "Pruned 1 stale sessions"
}

# What it cannot remove is told once and stops nothing.
t_immutable() {
	bridge
	mkdir -p "$SESSIONS/a/in" "$SESSIONS/b"
	touch "$SESSIONS/a/in/f" "$SESSIONS/b/f"
	old "$SESSIONS"
	chattr +i "$SESSIONS/a/in/f" 2>/dev/null || skip "no immutable files here"
	run pale session gc
	chattr -i "$SESSIONS/a/in/f"
	rc_is 1
	err_has "session/a cannot be removed: Operation not permitted"
	err_has "Pruned 1 stale sessions"
	missing "$SESSIONS/b"
}

# Somebody renames and plants while it walks.
t_moving() {
	local round
	bridge
	treasure
	for round in 1 2 3 4 5; do
		mkdir -p "$SESSIONS/ses"
		for i in $(seq 60); do mkdir -p "$SESSIONS/ses/d$i/e/f"; done
		old "$SESSIONS"
		python3 - "$SESSIONS" "$HOME/treasure" "$S/go$round" <<-'END' &
			import os, sys
			top, treasure, stop = sys.argv[1:]
			while not os.path.exists(stop):
			    for i in range(1, 61):
			        d = "%s/ses/d%d" % (top, i)
			        try:
			            os.rename(d, d + ".x")
			            os.symlink(treasure, d)
			        except OSError:
			            pass
		END
		run pale session gc
		: >"$S/go$round"
		wait
		unharmed
	done
	[ -d "$HOME/treasure/deep" ] || fail "a directory went"
}

# However much stands in two bytes, a start has no time for it.
t_crammed_entries() {
	bridge
	python3 -c 'import sys
open(sys.argv[1], "w").write("[" + "{}," * 4000000 + "{\"id\":\"a\",\"time\":1}]")' "$B/sessions.json"
	(
		ulimit -d 200000
		run pale run "${OPTS[@]}" -- true
		rc_is 0
		err_has "sessions.json is left as it is: it has more than 2 MiB, too much for a start: pale session gc"
	) || exit
	grep -qE "in [01]\.[0-9]s\.$" "$S/err" || fail "it took long"
	run pale session gc
	rc_is 0
	err_has "Pruned 1 stale sessions"
	! grep -q '"a"' "$B/sessions.json" || fail "the entry is still there"
}

# What one removes under the other's hands is no failure, and no file is written by two.
t_two_at_once() {
	local i
	bridge
	python3 - "$B" "$SESSIONS" <<-'END'
		import os, sys
		b, sessions = sys.argv[1:]
		for i in range(800):
		    d = "%s/s%d" % (sessions, i)
		    os.makedirs(d + "/a/b")
		    for name in (d + "/a/b/f", d + "/a/f", "%s/logs/s%d.stdout" % (b, i), "%s/logs/s%d.stderr" % (b, i)):
		        open(name, "w").close()
		        os.utime(name, (1, 1))
		    for name in (d + "/a/b", d + "/a", d):
		        os.utime(name, (1, 1))
	END
	for i in 1 2 3; do
		pale session gc >/dev/null 2>"$S/gc$i" &
	done
	wait
	! grep -H "removed:" "$S"/gc? || fail "one failed for another"
	[ -z "$(ls -A "$SESSIONS" "$B/logs" | grep -v :)" ] || fail "something is left"
	echo '{"old": {"time": 1}}' >"$B/sessions.json"
	echo half >"$B/.sessions.json.pale"
	run flock "$B/sessions.json" pale session gc
	rc_is 0
	err_has "sessions.json is left as it is: another sweep has it"
	file_is "$B/.sessions.json.pale" half
	run pale session gc
	file_is "$B/sessions.json" '{}'
}

# The figure: 1,000 stale sessions in a second.  Of the processor's time: what a busy disk adds says nothing.
t_thousand() {
	bridge
	python3 - "$B" "$SESSIONS" <<-'END'
		import json, os, sys
		b, sessions = sys.argv[1:]
		entries = {}
		for i in range(1000):
		    for name in ("%s/logs/s%d.stdout" % (b, i), "%s/logs/s%d.stderr" % (b, i)):
		        open(name, "w").write("x" * 100)
		        os.utime(name, (1000, 1000))
		    d = "%s/s%d" % (sessions, i)
		    os.mkdir(d)
		    for name in ("info.json", "messages.json", "parts.json"):
		        open(d + "/" + name, "w").write("{}")
		        os.utime(d + "/" + name, (1000, 1000))
		    os.utime(d, (1000, 1000))
		    entries["s%d" % i] = {"title": "a session", "time": {"created": 1500000000000, "updated": 1500000000000}}
		json.dump(entries, open(b + "/sessions.json", "w"))
	END
	run python3 -c '
import json, resource, subprocess
said = json.loads(subprocess.run(["pale", "session", "gc", "--json"], stdout=subprocess.PIPE, check=True).stdout)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(said["pruned"], "sessions", said["seconds"], "s", used.ru_utime + used.ru_stime, "s of the processor")
assert said["pruned"] == 1000 and used.ru_utime + used.ru_stime < 1'
	rc_is 0
	[ -z "$(ls -A "$SESSIONS" "$B/logs" | grep -v :)" ] || fail "something is left"
}

# What is made while a session lives here may be its own: a copy is as old as what it was made of.  What was
# copied was read.
t_live_copies() {
	bridge
	mkdir -p "$SESSIONS/theirs/in" "$SESSIONS/moved" "$B/workspace/backup"
	touch "$SESSIONS/theirs/in/file" "$B/logs/theirs.stdout"
	old "$B"/logs/* "$SESSIONS"/*
	mv "$SESSIONS/moved" backup/moved
	policy </dev/null
	sleep 1.1 # times of a session are of whole seconds
	bg long bash -c "cp -a ${SESSIONS#$PWD/}/theirs ${SESSIONS#$PWD/}/copy; until test -e stop; do sleep 0.05; done"
	until_true 20 test -e "$SESSIONS/copy/in/file" || fail "it does not run"
	printf '[session]\ngc = all\n' | policy
	mv backup/moved "$SESSIONS/"
	cp -a "$B/logs/theirs.stdout" "$B/logs/copy.stdout"
	run pale session gc
	rc_is 0
	[ "$(cd "$SESSIONS" && ls -d *)" = "$(printf '%s\n' copy moved theirs)" ] || fail "sessions: $(ls "$SESSIONS")"
	[ "$(ls "$B/logs")" = copy.stdout ] || fail "logs: $(ls "$B/logs")"
	: >stop
	bg_wait long
	rc_is 0
	run pale session gc
	[ -z "$(ls "$SESSIONS" "$B/logs" | grep -v :)" ] || fail "left: $(ls "$SESSIONS" "$B/logs")"
}

scenario "$@"
