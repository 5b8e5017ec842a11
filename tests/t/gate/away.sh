# limit: 90
# Who goes away while a push is under way: the agent's git, the supervisor, the courier's git, the gate itself.
. "$T_LIB"
. "$T_BASE/t/gate-lib.sh"

# A push that waits for an answer; PUSH is its pid.
waiting() {
	cloned
	rm -f "$S/go"
	export GATE_ANSWER="wait $S/go"
	git push origin topic 2>"$S/err" &
	PUSH=$!
	until_true 10 grep -q "waiting for approval of change 1" "$S/err" || fail "it does not wait"
}

arrived() {
	[ "$(at refs/heads/session/s1/topic)" = "$(git rev-parse topic)" ]
}

# The processes that one started, less the supervisor, which left its session.
below() {
	local pid
	for pid in $(ps -o pid= --ppid "$1"); do
		[ "$(ps -o sid= -p "$pid")" != "$(ps -o sid= -p $$)" ] || { echo "$pid" && below "$pid"; }
	done
}

# A late yes pushes by itself.
t_the_client() {
	waiting
	kill -9 $PUSH $(below $PUSH)
	sleep 0.5
	! arrived || fail "pushed without an answer"
	go yes
	until_true 10 arrived || fail "it was not pushed"
	until_true 10 grep -q '"pushed"' "$STATE/gate/changes/1.json" || fail "it is not written down"
	until_true 10 eval '[ -z "$(ls -d "$STATE"/gate/intake.* 2>/dev/null)" ]' || fail "a directory is left"
}

# Nobody can answer: it is kept, and nothing is pushed.
t_the_supervisor() {
	waiting
	go eof
	! wait $PUSH || fail "pushed"
	err_has "kept as change 1; pale push 1"
	! arrived || fail "pushed"
	grep -q '"open"' "$STATE/gate/changes/1.json" || fail "it is not open"
	# it keeps the commit
	git -C "$STATE"/gate/*.git cat-file -e refs/changes/1/head || fail "the commit is lost"
}

# A remote whose hook keeps the push waiting, before or after it has taken the commit: slow HOOK.
slow() {
	cat >"$S/srv/o.git/hooks/$1" <<-END
		#!/bin/sh
		cat >/dev/null
		[ -e "$S/once" ] && exit 0
		: >"$S/once"
		for i in \$(seq 300); do [ -e "$S/free" ] || sleep 0.1; done
	END
	chmod 755 "$S/srv/o.git/hooks/$1"
}

kill_courier() {
	go yes
	until_true 10 test -e "$S/once" || fail "the courier does not push"
	kill -9 $(those 'git .* push --porcelain') || fail "no courier"
}

# The remote has it already: that is what is said.
t_courier_killed_after() {
	waiting
	slow post-receive
	kill_courier
	wait $PUSH || fail "it is called a failure"
	arrived || fail "it is not there"
	grep -q '"pushed"' "$STATE/gate/changes/1.json" || fail "it is not written down"
}

# The remote does not have it: it stays open, and can be pushed later.
t_courier_killed_before() {
	waiting
	slow pre-receive
	kill_courier
	! wait $PUSH || fail "it is called a success"
	err_has "kept as change 1; pale push 1"
	grep -q '"open"' "$STATE/gate/changes/1.json" || fail "it is not open"
	# the remote goes on, and a later push of the change finds that
	: >"$S/free"
	until_true 10 arrived || fail "the remote did not take it"
	run pale push 1
	rc_is 0
	grep -q '"pushed"' "$STATE/gate/changes/1.json" || fail "it is not written down"
}

# The gate itself: the change is on the disk, and nothing half done.
t_the_gate() {
	waiting
	kill -9 $(those 'bin/pale-gate')
	! wait $PUSH || fail "pushed"
	go yes
	sleep 0.3
	! arrived || fail "pushed"
	grep -q '"open"' "$STATE/gate/changes/1.json" || fail "it is not open"
	until_true 5 eval '[ -z "$(those receive-pack.*/intake)" ]' || fail "the intake goes on"
	rm -f "$S/go"
	GATE_ANSWER=yes run git push origin topic
	rc_is 0
	arrived || fail "not pushed"
}

# Many at once on one gate: each gets its own, and no number twice.
t_at_once() {
	local i pids=()
	cloned
	for i in 1 2 3 4 5 6; do
		git worktree add -q -b "b$i" "$S/w$i" topic && git -C "$S/w$i" commit -q --allow-empty -m "of $i"
	done
	for i in 1 2 3 4 5 6; do
		git -C "$S/w$i" push -q origin "b$i" 2>"$S/err.$i" &
		pids+=($!)
		git clone -q "pale::$URL" "$S/c$i" 2>"$S/err.c$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || fail "one failed: $(cat "$S"/err.*)"; done
	for i in 1 2 3 4 5 6; do
		[ "$(at "refs/heads/session/s1/b$i")" = "$(git rev-parse "b$i")" ] || fail "b$i is not there"
		git -C "$S/c$i" fsck --strict 2>"$S/err" >"$S/out" || fail "clone $i"
	done
	[ "$(ls "$STATE/gate/changes/" | grep -c '^[1-6].json$')" = 6 ] || fail "$(ls "$STATE/gate/changes")"
	git -C "$STATE"/gate/*.git fsck --strict >"$S/out" 2>"$S/err" || fail "the gate is damaged"
}

scenario "$@"
