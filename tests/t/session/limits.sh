# Limits of a session: the time, who is ended by it, resource limits, and what is told of them.
. "$T_LIB"

# All that a test starts inside leaves its pid in a file of this directory.
pids() {
	mkdir -p pids
	export T_PIDS=$PWD/pids
}

all_are_gone() {
	local f
	[ -n "$(ls pids)" ] || fail "nothing ran"
	for f in pids/*; do
		! kill -0 "${f##*/}" 2>/dev/null || fail "$(ps -o pid,stat,args -p "${f##*/}" | tail -1) lives on"
	done
}

# --- the time -----------------------------------------------------------------------------------------

# Daemons, other sessions, stopped ones, who does not listen to TERM.
t_time_ends_everybody() {
	pids
	cat >tree.py <<-'END'
		import os, signal, sys, time

		def here():
		    open(os.path.join(os.environ["T_PIDS"], str(os.getpid())), "w").close()

		def child(f):
		    if os.fork() == 0:
		        here()
		        f()
		        while True:
		            time.sleep(60)

		def daemon():
		    os.setsid()
		    if os.fork():
		        os._exit(0)
		    here()

		signal.signal(signal.SIGTERM, signal.SIG_IGN)
		child(daemon)
		child(lambda: os.kill(os.getpid(), signal.SIGSTOP))
		child(lambda: (os.setpgid(0, 0), child(os.setsid)))
		here()
		print("ready", flush=True)
		while True:
		    time.sleep(60)
	END
	printf '[limits]\ntime = 2s\n' | policy
	run pale run -v -- python3 tree.py
	rc_is 124
	out_is ready
	err_has "pale: limits: time 2s"
	err_has "pale: time limit 2s of policy.ini:2 reached: ended"
	all_are_gone
	recorded session/limit "" "time limit 2s of policy.ini:2 reached"
	recorded session/end "" "exit 124 (time limit)"
	recorded session/start "" "limits: time 2s"
	run pale session show
	out_has "limits     time 2s"
	out_has "exit 124 (time limit)"
	verifies
}

# Who stops itself takes the launcher along, and the time goes on.
t_time_of_the_stopped() {
	pids
	run pale run -q --timeout 1s -- bash -c ': >$T_PIDS/$$; kill -STOP $$; sleep 60'
	rc_is 124
	err_has "pale: time limit 1s of --timeout reached: ended"
	all_are_gone
}

# Each ends as soon as it has a child, so that whoever is looked for is gone; TERM means nothing to them.
# A command that is dead and cannot be waited for, as one in a file system that does not answer.
t_time_of_the_unkillable() {
	local tracer agent
	need strace
	OPTS=(--timeout 6s)
	bg held sleep 600
	until_true 10 pgrep -P "$BG" -x sleep >/dev/null || fail "it does not begin"
	agent=$(pgrep -P "$BG" -x sleep)
	strace -qq -o "$S/trace" -p "$agent" &
	tracer=$!
	until_true 5 grep -qs "^TracerPid:.$tracer" "/proc/$agent/status" || fail "it is not traced"
	kill -STOP "$tracer"
	until_true 40 eval '! kill -0 "$BG"' 2>/dev/null || {
		kill -KILL "$tracer"
		fail "the session goes on"
	}
	kill -KILL "$tracer"
	bg_wait held
	rc_is 124
	err_has "1 processes of the session would not end"
	err_has "changed, runs later: the workspace was not looked at"
}

t_time_of_a_storm() {
	pids
	cat >storm.py <<-'END'
		import os, signal, time

		signal.signal(signal.SIGTERM, signal.SIG_IGN)
		for _ in range(8):
		    if os.fork() == 0:
		        os.setsid()
		        while os.fork() == 0:
		            pass
		        os._exit(0)
		open(os.path.join(os.environ["T_PIDS"], str(os.getpid())), "w").close()
		time.sleep(60)
	END
	run timeout -k 1 30 pale run -q --timeout 1s -- python3 storm.py
	rc_is 124
	all_are_gone
	! pgrep -u "$(id -u)" -f "^python3 storm.py" >/dev/null || fail "the storm goes on"
	err_lacks "would not end"
}

# The command is over and leaves such a storm: it is ended long before it would end by itself.
t_storm_that_is_left() {
	cat >storm.py <<-'END'
		import os, signal, time

		end = time.monotonic() + 30
		signal.signal(signal.SIGTERM, signal.SIG_IGN)
		for _ in range(40):
		    if os.fork() == 0:
		        while time.monotonic() < end:
		            try:
		                if os.fork():
		                    os._exit(0)
		            except OSError:
		                pass
		        os._exit(0)
	END
	# The machine is others' too.
	ulimit -u 2500
	run timeout -k 1 20 pale run -q -- python3 storm.py
	rc_is 0
	err_lacks "would not end"
	! pgrep -u "$(id -u)" -f "^python3 storm.py" >/dev/null || fail "the storm goes on"
}

# In time nothing is told, and the command's own end is the end.
t_in_time() {
	run pale run -q --timeout 1h --limit time=30m -- bash -c 'exit 7'
	rc_is 7
	err_is_empty
	run pale run -q --linger --timeout 2s -- bash -c 'setsid sleep 60 & exit 3'
	rc_is 124
}

# --- resource limits ----------------------------------------------------------------------------------

t_files_and_sizes() {
	printf '[limits]\nfiles = 64\nfile_size = 1M\n' | policy
	fsh 'ulimit -n; ulimit -Hn; head -c 900k /dev/zero >ok && head -c 2M /dev/zero >much; stat -c %s ok much
		python3 -c "
f = []
try:
    while True:
        f.append(open(\"/dev/null\"))
except OSError as e:
    print(e.errno, len(f) < 64)"; ulimit -n 65 || echo held'
	out_is "$(printf '64\n64\n921600\n1048576\n24 True\nheld')"
	# A nested run has them too, and its own options none.
	fsh 'pale run -q --timeout 1s -- true
		echo $?; pale run -q --limit files=32 -- true; echo $?; pale run -q --no-prompt -- bash -c "ulimit -n"'
	out_is "$(printf '125\n125\n64')"
}

# The shell's own fork bomb, by whatever means this machine has: no more than it may, and nothing is left.
t_fork_bomb() {
	local most=0 n
	bomb() {
		pgrep -c -u "$(id -u)" -f "^bash -c : bomb $T_SCRATCH"
	}
	pale run --timeout 4s --limit processes=100 -- bash -c ": bomb $T_SCRATCH"'; :(){ :|:& };:; sleep 60' \
		>"$S/out" 2>"$S/err" </dev/null &
	BG=$!
	while kill -0 $BG 2>/dev/null; do
		n=$(bomb)
		[ "$n" -le "$most" ] || most=$n
		sleep 0.1
	done
	RC=0
	wait $BG || RC=$?
	rc_is 124
	# Who looks while they come and go sees some that were never there at once; without a limit it is thousands.
	[ "$most" -gt 5 ] && [ "$most" -le 300 ] || fail "there were $most processes of it"
	[ "$(bomb)" = 0 ] || fail "$(bomb) of it are left"
	err_has "pale: time limit 4s of --timeout reached: ended"
	err_has "fork"
	# and the next session starts as ever
	fence true
	rc_is 0
}

# By whatever means this machine has.
t_memory() {
	local how
	run pale run -v --limit memory=200M -- python3 -c 'print(len(bytes(300 << 20)))'
	rc_not 0
	out_lacks 314572800
	how=$(sed -n 's/^pale: limits: memory 200M by //p' "$S/err")
	[ -n "$how" ] || fail "not told who holds it"
	run pale run -q --limit memory=200M -- python3 -c 'print(len(bytes(20 << 20)))'
	rc_is 0
	out_is 20971520
}

# A hard limit that is lower already stays.
t_only_lower() {
	run bash -c 'ulimit -n 100; pale run -q --limit files=1000 -- bash -c "ulimit -n"'
	rc_is 0
	out_is 100
	printf '[limits]\ntime = 1m\nfiles = 100\n' | policy
	run pale run -q --timeout 2m -- true
	rc_is 125
	err_has "--timeout: policy.ini:2 limits time to 1m: the command line may only lower it"
	run pale run -q --limit files=50 --limit file_size=1M -- bash -c 'ulimit -n; ulimit -f'
	out_is "$(printf '50\n1024')"
	mkdir -p .pale
	printf '[limits]\nfiles = 30\ntime = 2m\n' >.pale/policy.ini
	run pale run -q -- bash -c 'ulimit -n'
	out_is 30
	run pale run -- true
	err_has ".pale/policy.ini:3:1: warning: \`time\` is ignored"
}

t_refused() {
	local wrong
	for wrong in --timeout=0s --timeout=soon --limit=memory --limit=memory=4 --limit=memroy=4G --limit=cpu=50; do
		run pale run -q "$wrong" -- true
		rc_is 125 "$wrong"
		[ -s "$S/err" ] || fail "nothing is told of $wrong"
	done
	run pale run -q --limit memroy=4G -- true
	err_has "did you mean \`memory\`"
	printf '[limits]\nmemory = 4\n' | policy
	run pale run -q -- true
	rc_is 125
	err_has "policy.ini:2:10: error: invalid value \`4\`, expected 1M to 1024T"
	missing "$STATE/sessions/x"
}

# Nothing but a cgroup holds the processor.
t_what_cannot_be_held() {
	pale doctor --json | python3 -c '
import json, sys
sys.exit(not [c for c in json.load(sys.stdin)["checks"] if c["name"] == "limit cpu" and c["verdict"] == "missing"])' ||
		skip "this user can limit the processor here"
	printf '[limits]\ncpu = 50%%\n' | policy
	run pale run -q -- true
	rc_is 125
	err_has "cannot enforce cpu = 50% (policy.ini:2) on this machine"
	printf '[limits]\ncpu = 50%%\nenforce = best\n' | policy
	run pale run -- true
	rc_is 0
	err_has "pale: limits: cpu 50% NOT ENFORCED"
	recorded session/start "" "cpu 50% NOT ENFORCED"
}

# None: nothing is told, nothing is set.
# The limit of POSIX queues is the session's mark (policy/programs/mark.h): it is lower inside, and no
# other limit differs.
t_without_limits() {
	run bash -c 'ulimit -a; ulimit -Ha'
	grep -v -e ' -q)' "$S/out" >"$S/bare"
	run pale run -- bash -c 'ulimit -a; ulimit -Ha'
	rc_is 0
	grep -v -e ' -q)' "$S/out" >"$S/inside"
	diff "$S/bare" "$S/inside" >"$S/diff" || fail "differs: $(cat "$S/diff")"
	err_lacks "limits:"
}

t_shown() {
	printf '[limits]\nmemory = 4G\ntime = 90m\n' | policy
	run pale policy show
	out_has "[limits]"
	out_has "memory = 4G"
	out_has "time = 90m"
	run pale policy show --json
	[ "$(python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); print(j["limits"])' "$S/out")" = \
		"{'memory': '4G', 'time': '90m', 'enforce': 'all'}" ] || fail "not in JSON"
}

scenario "$@"
