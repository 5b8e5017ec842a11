# levels: full strict
# What did not come through the hooks is carried: judged, recorded, said, and answered once, whoever dies.
. "$T_LIB"

CALLER=$T_VICTIMS/plain_calls

t_recorded_as_seen_by_the_kernel() {
	fence "$CALLER" open file
	rc_is 0
	recorded read allow "$W/file" '"via":"kernel"'
	fence "$CALLER" open ~/.ssh/id_rsa
	rc_is 13
	denied read "$HOME/.ssh/id_rsa"
	recorded read deny "$HOME/.ssh/id_rsa" '"via":"kernel"'
	verifies
}

t_said_once_in_a_process() {
	fsh "$CALLER threads 20 ~/.ssh/id_rsa"
	out_has "20 of 20 failed"
	[ "$(grep -c '^pale: denied read' "$S/err")" = 1 ] || fail "not said once"
}

t_a_thousand_threads() {
	fence "$CALLER" threads 1000 file
	rc_is 0
	out_is "0 of 1000 failed"
}

t_nothing_is_done_twice_in_a_storm_of_signals() {
	fence "$CALLER" storm 3000 made
	rc_is 0
	out_is "3000 rounds"
	missing made
}

threads_of() {
	ls "/proc/$1/task" 2>/dev/null | wc -l
}

few_threads() {
	[ "$(threads_of "$1")" -le 4 ]
}

t_killed_readers_leave_no_thread() {
	mkfifo pipe
	bg readers bash -c "$CALLER fifo 20 pipe; touch killed; until [ -e go ]; do sleep 0.05; done"
	until_true 20 test -e killed || fail "the readers were not killed"
	until_true 10 few_threads "$BG" || fail "$(threads_of "$BG") threads are left"
	touch go
	bg_wait readers
	rc_is 0
	out_is "20 of 20 waited"
}

t_what_blocks_holds_up_nobody() {
	mkfifo pipe
	bg one bash -c "$CALLER open pipe & $CALLER open file; echo \$?; wait"
	until_true 10 grep -q . "$S/one.out" || fail "one that blocks held up another"
	: >pipe
	bg_wait one
	out_is 0
}

t_an_unhooked_process_is_asked_for() {
	local id
	policy <<-EOF
		[files]
		ask = $W/file
	EOF
	bg ask "$CALLER" open file
	id=$(pending_id) || exit 1
	until_true 10 grep -q waiting "$S/ask.err"
	run pale approve "$id"
	rc_is 0
	bg_wait ask
	rc_is 0
	err_has "pale: waiting for approval: read $W/file"
	recorded read allow "$W/file" '"via":"kernel"'
	bg ask "$CALLER" open file
	id=$(pending_id) || exit 1
	run pale deny "$id" --reason "not this one"
	bg_wait ask
	rc_is 13
	denied read "$W/file" "the operator answered: not this one"
}

nothing_pending() {
	! has_pending
}

t_a_dead_asker_takes_its_question_back() {
	policy <<-EOF
		[files]
		ask = $W/file
	EOF
	bg ask bash -c "$CALLER open file & p=\$!
		until [ -e go ]; do sleep 0.05; done
		kill -9 \$p; wait
		until [ -e end ]; do sleep 0.05; done"
	pending_id >/dev/null || exit 1
	touch go
	until_true 10 nothing_pending || fail "the question is still there"
	touch end
	bg_wait ask
}

# An exec that brings the denial to a file must not find it there.
t_a_file_that_is_its_stderr() {
	fsh "$CALLER open ~/.ssh/id_rsa 2>log; echo \$?"
	out_is 13
	grep -q "pale: denied read $HOME/.ssh/id_rsa" log || fail "it did not hear"
}

t_a_dead_supervisor_denies() {
	bg it bash -c "exec $CALLER wait file"
	until_true 10 grep -q '^first opened' "$S/it.out" || fail "it never began"
	kill -9 "$BG"
	until_true 10 dead_or_denied || fail "it goes on"
}

# Its own end, or ENOSYS for whatever outlives it.
dead_or_denied() {
	grep -q '^then Function not implemented' "$S/it.out" || ! pgrep -f "^$CALLER wait file" >/dev/null
}

# Killed with its helper, at once: the agent, its daemons and who changed sessions and groups are ended all the
# same, and nobody else is.
t_killed_with_its_helper() {
	mkdir pids
	cat >tree.py <<-'END'
		import os, signal, time
		def here():
		    open("pids/%d" % os.getpid(), "w").close()
		def child(f):
		    if os.fork() == 0:
		        f()
		        here()
		        while True:
		            time.sleep(60)
		def daemon():
		    os.setsid()
		    if os.fork():
		        os._exit(0)
		def busy():
		    here()
		    while True:
		        pass
		for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
		    signal.signal(sig, signal.SIG_IGN)
		child(daemon)
		child(os.setsid)
		child(lambda: os.kill(os.getpid(), signal.SIGSTOP) if os.fork() == 0 else None)
		child(busy)
		here()
		while True:
		    time.sleep(60)
	END
	sleep 300 &
	bg it python3 tree.py
	until_true 20 eval '[ "$(ls pids | wc -l)" -ge 5 ]' || fail "it does not begin: $(ls pids)"
	kill_with_its_helper
	until_true 10 nobody_lives || fail "left: $(cd pids && ps -o pid,stat,args -p "$(ls | paste -sd,)")"
	kill %1 || fail "somebody else was ended"
}

nobody_lives() {
	local f
	for f in pids/*; do
		! kill -0 "${f##*/}" 2>/dev/null || [ "$(ps -o stat= -p "${f##*/}" | cut -c1)" = Z ] || return 1
	done
}

# Both at once: the session that bg began.
kill_with_its_helper() {
	kill -9 "$(pgrep -P "$BG" -x pale-helper)" "$BG"
}

# How many lives the runaways had so far.
lives() {
	od -An -tu8 lives | tr -d ' '
}

at_rest() {
	local n
	n=$(lives)
	sleep 0.2
	[ "$n" = "$(lives)" ]
}

# Whoever forks and ends, again and again, is gone before he is looked at; his child is not.
t_killed_with_its_helper_nobody_runs_away() {
	local how
	for how in 3000 '3000 setsid' 1000 '1000 setsid' '3000 setsid' '1000 8 at once' '1000 setsid 8 at once'; do
		rm -f lives
		case $how in
		*' 8 at once') bg it bash -c "for i in 1 2 3 4 5 6 7 8; do $T_VICTIMS/flee lives ${how% 8*} & done; wait" ;;
		*) bg it "$T_VICTIMS/flee" lives $how ;;
		esac
		until_true 20 eval '[ -s lives ] && [ "$(lives)" -gt 5 ]' || fail "$how: it does not begin"
		kill_with_its_helper
		until_true 1 at_rest || fail "$how: still runs, after $(lives) lives"
	done
}

# Of whom /proc says nothing by his own number: the first thread has ended, another one has not.
t_killed_without_its_first_thread() {
	local who
	need python3
	cat >headless.py <<-'END'
		import ctypes, mmap, os, threading, time
		if os.fork():
		    time.sleep(60)
		os.setsid()
		fd = os.open("lives", os.O_RDWR | os.O_CREAT)
		os.ftruncate(fd, 8)
		at = mmap.mmap(fd, 8)
		def beat():
		    for i in range(30000):
		        at[0:8] = i.to_bytes(8, "little")
		        time.sleep(0.001)
		threading.Thread(target=beat).start()
		ctypes.CDLL(None).syscall(60, 0)
	END
	for who in 'kill_with_its_helper' 'kill -9 $BG'; do
		rm -f lives
		bg it python3 headless.py
		until_true 20 eval '[ -s lives ] && [ "$(lives)" -gt 300 ]' || fail "$who: it does not begin"
		eval "$who"
		until_true 1 at_rest || fail "$who: still runs, after $(lives) beats"
	done
}

t_around_the_hooks() {
	[ "$T_LEVEL" = full ] || skip "at strict everything goes down"
	fence "$CALLER" open ~/.ssh/id_rsa
	recorded read deny "$HOME/.ssh/id_rsa" "went around the hooks"
	fsh 'cat ~/.ssh/id_rsa'
	[ -z "$(records read deny 'went around' '/cat"')" ] || fail "an ordinary denial is called a way around"
	fsh "env -i $CALLER-static open ~/.ssh/id_rsa"
	[ "$(records read deny "went around" | wc -l)" = 1 ] || fail "a program without hooks went around none"
}

t_a_program_that_cannot_be_read() {
	[ "$(id -u)" != 0 ] || skip "root reads everything"
	cp "$CALLER" hidden
	chmod 0111 hidden
	fence ./hidden open file
	rc_not 0 "its memory is nobody's to read, so nothing is opened for it"
}

# Each script of a chain makes another command line of it, which is judged too.
t_scripts_with_many_words() {
	printf '#!/bin/sh\necho $#\n' >last
	printf '#!./last\n' >middle
	printf '#!./middle\n' >first
	chmod 755 first middle last
	fsh './first $(seq 1 120000)'
	out_has 120002
}

scenario "$@"
