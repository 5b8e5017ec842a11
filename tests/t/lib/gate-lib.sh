# The gate without a session: git with a git-remote-pale of the test's own, which plays the supervisor, too.

# A bare o.git with main and one tag in $S/srv, served by git daemon; URL is where.
upstream() {
	need python3
	mkdir -p "$S/srv" && git init -q --bare ${FORMAT:+--object-format=$FORMAT} "$S/srv/o.git" || fail "no upstream"
	if [ "${1:-}" != empty ]; then
		git init -q ${FORMAT:+--object-format=$FORMAT} ~/src && echo one >~/src/a && git -C ~/src add a &&
			git -C ~/src commit -qm one && git -C ~/src tag v1 && git -C ~/src push -q "$S/srv/o.git" main v1
	fi
	served
}

served() {
	PORT=$(python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	# its hooks are not the operator's
	GIT_CONFIG_GLOBAL=/dev/null git daemon --reuseaddr --listen=127.0.0.1 --port="$PORT" --base-path="$S/srv" \
		--export-all --enable=receive-pack >"$S/daemon.log" 2>&1 &
	until_true 10 git ls-remote "git://127.0.0.1:$PORT/o.git" || fail "no git daemon"
	URL=git://127.0.0.1:$PORT/o.git
}

# order [KEY=JSON]...: what the supervisor says, but for these.
order() {
	python3 - "$STATE" "$@" >"$S/order" <<-'PY'
		import json, sys
		o = {"session": "s1", "agent": "opencode", "state": sys.argv[1], "git": "/usr/bin/git",
		     "branch": "session/{id}/{branch}", "fetch": ["refs/heads/*", "refs/tags/*"],
		     "protect": ["main", "release/*"], "deny": [".env*"], "max_files": 300, "max_size": 4194304}
		for a in sys.argv[2:]:
		    key, _, value = a.partition("=")
		    o[key] = json.loads(value)
		print(json.dumps(o))
	PY
}

# Where git finds git-remote-pale, and what that is told.
gate_ready() {
	mkdir -p "$S/bin" "$STATE"
	printf '#!/bin/sh\nexec python3 "%s/t/git-remote-pale.py" "$@"\n' "$T_BASE" >"$S/bin/git-remote-pale"
	chmod 755 "$S/bin/git-remote-pale"
	# by its words it is known among those of other tests
	cp "$T_STAGE/libexec/pale/pale-gate" "$S/bin/" || fail "no pale-gate"
	export PATH="$S/bin:$PATH" GATE_ORDER=$S/order GATE_LOG=$S/gate.log GATE_ANSWER=yes \
		GATE_PROGRAM=$S/bin/pale-gate
	order
}

# An upstream, and the agent's clone of it in $W, with a commit more on topic.
cloned() {
	upstream
	gate_ready
	rm -f file
	run git clone -q "pale::$URL" .
	rc_is 0 "clone"
	git checkout -q -b topic && echo two >b && git add b && git commit -qm two
}

# The upstream's ref, or nothing: at REF
at() {
	git -C "$S/srv/o.git" rev-parse -q --verify "$1"
}

# What the gate said last: said KEY...
said() {
	python3 -c 'import json, sys
j = json.loads(open(sys.argv[1]).read().splitlines()[-1])
for key in sys.argv[2:]: j = j[key]
print(j)' "$GATE_LOG" "$@"
}

# Answers what waits: go ANSWER, with GATE_ANSWER="wait $S/go".
go() {
	echo "$1" >"$S/go.new" && mv "$S/go.new" "$S/go"
}

# The pids of this test's processes whose words match; all of them name its scratch directory, or its port.
those() {
	local dir
	for dir in /proc/[0-9]*; do
		{ tr '\0' ' ' <"$dir/cmdline" | grep -E -- "$1" | grep -qE "$S/|:$PORT/"; } 2>/dev/null && echo "${dir#/proc/}"
	done
	return 0
}
