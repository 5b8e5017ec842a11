# levels: full strict
# limit: 120
# Opens by system calls that no hook sees: carried, they give what they give bare; denied, they give
# nothing; FIFOs wait and terminals stay whose they are.
. "$T_LIB"

# --- as bare --------------------------------------------------------------------------------------------

# The same opens bare and carried, each in a fresh directory: result, flags, modes, and what is there afterwards.
compare() {
	local program=$1 what=$2 least=$3
	policy <<-END
		[files]
		write = /proc
		write = /
	END
	OPTS=(--keep-home) # links are counted
	mkdir bare in
	(cd bare && "$T_VICTIMS/$program" "$what" >"$S/bare") || fail "the bare run failed"
	[ "$(wc -l <"$S/bare")" -ge "$least" ] || fail "too few cases"
	cd in || exit 99
	fence "$T_VICTIMS/$program" "$what"
	rc_is 0
	diff "$S/bare" "$S/out" >"$S/diff" || fail "they differ: $(head -c 2000 "$S/diff")"
}

t_every_kind_in_every_way_as_bare() {
	compare carried-static matrix 2000
}

t_arguments_and_constraints_as_bare() {
	compare carried-static calls 900
}

# A process that has the hooks, and goes around them.
t_around_the_hooks_as_bare() {
	compare carried calls 900
}

# --- denied ---------------------------------------------------------------------------------------------

EACCES=13
ENOENT=2
EEXIST=17
EISDIR=21
WRONLY=1
RDWR=2
CREAT=0100
EXCL=0200
TRUNC=01000

# open_gives ERRNO FLAGS PATH
open_gives() {
	fence "$T_VICTIMS/carried-static" one "$2" "$3"
	rc_is "$1" "open $2 $3"
}

t_a_secret_is_not_read() {
	ln -s "$HOME/.ssh/id_rsa" key
	open_gives $EACCES 0 "$HOME/.ssh/id_rsa"
	denied read "$HOME/.ssh/id_rsa"
	open_gives $EACCES 0 key
	open_gives $EACCES 0 ../.ssh/../.ssh/id_rsa
	open_gives $EACCES 0 "/proc/self/cwd/../.ssh/id_rsa"
	open_gives $EACCES 0 "/proc/self/root$HOME/.ssh/id_rsa"
	recorded read deny "$HOME/.ssh/id_rsa" '"via":"kernel"'
}

t_what_exists_comes_first() {
	open_gives $ENOENT 0 "$HOME/.ssh/nothing"
	open_gives $EEXIST $((WRONLY | CREAT | EXCL)) "$HOME/outside-file"
	open_gives $EISDIR $WRONLY "$HOME"
	open_gives $EACCES $((WRONLY | CREAT)) "$HOME/new"
	missing "$HOME/new"
	open_gives $EACCES $((WRONLY | TRUNC)) "$HOME/outside-file"
	open_gives $EACCES $TRUNC "$HOME/outside-file"
	file_is "$HOME/outside-file" "$DECOY outside-file"
	# O_CREAT of what exists is a read
	open_gives 0 $CREAT "$HOME/outside-file"
}

t_other_processes_are_foreign() {
	local env
	for env in environ maps fd/0 cwd root/etc/hostname fd stat cmdline; do
		open_gives $ENOENT 0 /proc/$$/$env
	done
	open_gives $ENOENT 0 /proc/1/cmdline
	recorded read deny /proc/$$/environ 'outside the session'
}

# A descriptor gives no more by its link than it has, whatever it is a descriptor of.
t_a_link_gives_what_the_descriptor_has() {
	echo mine >"$HOME/given"
	RC=0
	pale run -q -- "$T_VICTIMS/carried-static" one $WRONLY /dev/stdin <"$HOME/given" >"$S/out" 2>"$S/err" || RC=$?
	rc_is $EACCES "reading gives no writing"
	RC=0
	pale run -q -- "$T_VICTIMS/carried-static" one $WRONLY /dev/stdout >"$HOME/given2" 2>"$S/err" || RC=$?
	rc_is 0 "writing gives writing"
}

# --- waiting ----------------------------------------------------------------------------------------------

# Programs that no hook is in: `env -u LD_PRELOAD` takes them out for what bash starts after.
bare_sh() {
	fence env -u LD_PRELOAD bash -c "$@"
}

t_a_fifo_waits_for_its_other_end() {
	mkfifo f
	bare_sh 'cat f >got & sleep 0.3; echo one >f; wait; (sleep 0.3; echo two >f) & cat f >>got; wait'
	rc_is 0
	file_is got "one
two"
}

t_a_fifo_is_left_when_its_reader_dies() {
	mkfifo f
	bare_sh 'for i in $(seq 20); do cat f & done; sleep 0.5; kill -9 $(jobs -p); wait
		for i in $(seq 20); do timeout 0.1 cat f; done; (echo on >f) & cat f'
	rc_is 0
	out_has on
}

# Who was killed while it waited is not there for the next one to meet, at once: what is written is read.
t_a_fifo_has_no_dead_readers() {
	mkfifo f
	bare_sh 'for i in $(seq 15); do
			timeout 0.1 cat f
			(echo "on $i" >f) & timeout 2 cat f; kill $! 2>/dev/null; wait
		done'
	rc_is 0
	[ "$(grep -c '^on' "$S/out")" = 15 ] || fail "lost: $(cat "$S/out")"
}

# The same at the other end, where who comes next opens through a hook.
t_a_fifo_has_no_dead_writers() {
	mkfifo f
	fence bash -c 'for i in $(seq 15); do
			env -u LD_PRELOAD timeout 0.1 bash -c "echo x >f"
			timeout 0.2 cat f; echo "rc $?"
		done'
	rc_is 0
	[ "$(grep -c '^rc 124' "$S/out")" = 15 ] || fail "met the dead: $(cat "$S/out")"
}

# The supervisor's own copy is closed before the opener goes on: else the next one meets a reader that is none.
t_a_fifo_opened_again_and_again() {
	OPTS=(--level strict -e "SLOW=${SLOW:-1}")
	cat >p.py <<-'END'
		import os, signal
		os.mkfifo("f")
		r, w = os.pipe()
		if os.fork() == 0:
		    for i in range(2000):
		        fd = os.open("f", os.O_WRONLY)
		        os.write(fd, b"x")
		        os.close(fd)
		        os.read(r, 1)
		    os._exit(0)
		signal.alarm(25 * int(os.environ["SLOW"]))
		for i in range(2000):
		    fd = os.open("f", os.O_RDONLY)
		    while os.read(fd, 9):
		        pass
		    os.close(fd)
		    os.write(w, b".")
		print("done")
	END
	fence python3 -B p.py
	out_is done
}

t_nobody_reads_a_fifo() {
	mkfifo f
	open_gives 6 $((WRONLY | 04000)) f
	open_gives 0 04000 f
	open_gives 0 $RDWR f
}

# --- terminals --------------------------------------------------------------------------------------------

t_who_has_no_terminal_gets_none() {
	fence setsid -w "$T_VICTIMS/carried-static" one $RDWR /dev/tty
	rc_is 6 "ENXIO"
}

t_a_pty_of_the_session_works() {
	need script python3
	bare_sh 'script -qec "echo into the terminal >/dev/tty; tty" /dev/null'
	rc_is 0
	out_has "into the terminal"
	out_has /dev/pts/
	bare_sh 'python3 -c "
import os, pty
master, slave = pty.openpty()
again = os.open(os.ttyname(slave), os.O_RDWR | os.O_NOCTTY)
os.write(again, b\"seen\")
print(os.read(master, 9))"'
	rc_is 0
	out_has seen
}

# As ptys were made before TIOCSCTTY, and expect still does: a session's leader opens the slave.
t_a_leader_takes_the_terminal_it_opens() {
	need python3
	fence python3 -c '
import os, pty
master, slave = pty.openpty()
name, other = os.ttyname(slave), os.ttyname(pty.openpty()[1])
if os.fork() == 0:
    os.setsid()
    os.open(name, os.O_RDWR | os.O_NOCTTY)
    try: os.open("/dev/tty", os.O_RDWR)
    except OSError as e: print("none yet", e.errno)
    mine = os.open(name, os.O_RDWR)
    os.open(other, os.O_RDWR)
    print("mine", os.tcgetpgrp(mine) == os.getpid(), os.isatty(os.open("/dev/tty", os.O_RDWR)), flush=True)
    os._exit(0)
os.wait()'
	rc_is 0
	out_is "none yet 6
mine True True"
}

# The terminal of somebody else of the same user.
t_a_pty_of_others_is_theirs() {
	need script
	script -qec "tty >$S/tty; sleep 20" /dev/null >/dev/null 2>&1 </dev/null &
	until_true 5 test -s "$S/tty" || fail "no terminal was made"
	local other
	other=$(cat "$S/tty")
	[ -c "$other" ] || fail "no terminal: $other"
	open_gives $EACCES $RDWR "$other"
	denied write "$other" "outside the session"
	open_gives $EACCES 0 "$other"
	open_gives $EACCES 04000 "$other"
}

scenario "$@"
