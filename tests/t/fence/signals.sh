# levels: full strict
# limit: 120
# Signals: none leaves the session, those within it arrive.  On a kernel whose Landlock scopes signals, and as one
# that has no such scope.
. "$T_LIB"

SIGNALS=$T_BASE/t/signals.py

# on_each CHECK: for an older Landlock, then for the machine's own.
on_each() {
	OPTS=(--abi-max 2)
	"$1"
	OPTS=(--abi-max 5)
	"$1"
	OPTS=()
	"$1"
}

victim() {
	rm -f "$S"/got*
	python3 "$SIGNALS" victim "$S/got" &
	VICTIM=$!
	until_true 10 test -e "$S/got.pids" || fail "no victim"
}

nobody_got_out() {
	victim
	# shellcheck disable=SC2046
	python3 -c 'import os, sys; os.dup2(os.pidfd_open(int(sys.argv[1])), 0); os.execvp(sys.argv[2], sys.argv[2:])' \
		$VICTIM pale run -q "${OPTS[@]}" -- python3 "$SIGNALS" outside $(cat "$S/got.pids") >"$S/out" 2>"$S/err"
	RC=$?
	rc_is 0
	kill -0 $VICTIM || fail "the victim is dead (${OPTS[*]})"
	# What was sent before it arrives before it: it is the last.
	kill -HUP $VICTIM
	until_true 10 grep -q "^1$" "$S/got" || fail "the victim takes no signals"
	[ "$(cat "$S/got")" = 1 ] || fail "the victim got signals (${OPTS[*]}): $(cat "$S/got")"
	kill -9 $VICTIM
	! wait $VICTIM 2>/dev/null
}

t_none_leaves() {
	on_each nobody_got_out
}

# Numbers of the supervisor's and the helper's threads, which no filter knew when it was made.
supervisor_lives() {
	local pid
	rm -f numbers
	pale run -q "${OPTS[@]}" -- python3 "$SIGNALS" at numbers >"$S/out" 2>"$S/err" &
	pid=$!
	until_true 10 pgrep -f -P $pid "$SIGNALS at" || fail "no session"
	until_true 10 eval '[ "$(ls /proc/$pid/task | wc -l)" -gt 1 ]' || fail "the supervisor has one thread"
	# shellcheck disable=SC2046
	(ls /proc/$pid/task && for helper in $(pgrep -P $pid pale-helper); do ls /proc/$helper/task; done) >"$S/numbers"
	mv "$S/numbers" numbers
	wait $pid
	RC=$?
	rc_is 0 "the supervisor or the helper is dead (${OPTS[*]})"
	out_is tried
	pale log verify >/dev/null || fail "the ledger has no end"
}

t_the_supervisor_lives() {
	on_each supervisor_lives
}

all_arrive() {
	fence python3 "$SIGNALS" inside
	rc_is 0
	out_is "done"
}

t_within_they_arrive() {
	on_each all_arrive
}

# A program that is killed while it is compared with what was judged is its parent's to wait for.
t_killed_as_it_begins() {
	fence timeout 60 python3 -c 'import os, random, subprocess, time
for i in range(400):
    p = subprocess.Popen(["sleep", "60"])
    time.sleep(random.uniform(0, 0.002))
    os.kill(p.pid, 9)
    p.wait()
print("done")'
	rc_is 0
	out_is "done"
}

# A run inside a run is a wall as well, for what is inside.
nested_signals_its_own() {
	fsh "sleep 60 & out=\$!
		pale run -q -n -- bash -c 'python3 $SIGNALS reach '\$out'
			sleep 60 & python3 $SIGNALS reach \$!; python3 $SIGNALS reach \$\$; kill \$!'
		pale run -q -n -- sleep 60 & sleep 0.5; python3 $SIGNALS reach \$!; kill \$! \$out"
	out_is "no
yes
yes
yes"
}

t_a_nested_run_signals_its_own() {
	on_each nested_signals_its_own
}

scenario "$@"
