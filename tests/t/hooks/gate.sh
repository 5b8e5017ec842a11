#!/bin/bash
# retry: timeouts
# The gate: which calls a hook makes with the session's pass, which go down to the supervisor, and
# who records what.  By the ledger: `via` says hook for what the gate let through, kernel for what
# was carried.

. "$T_LIB"

OPTS=(--level full)

hooked() {
	recorded "$1" allow '"via":"hook"' "$2"
	not_recorded "$1" '[a-z]*' '"via":"kernel"' "$2"
}

carried() {
	recorded "$1" "$2" '"via":"kernel"' "$3"
	not_recorded "$1" '[a-z]*' '"via":"hook"' "$3"
}

t_allowed_calls_pass() {
	fsh 'echo x >new; cat new >/dev/null
		ln -s new sym; ln new hard; mv hard moved; mkdir dir; mkfifo pipe; rm moved; rmdir dir'
	rc_is 0
	err_is_empty
	hooked write "$W/new"
	hooked symlink "$W/sym"
	hooked link "$W/hard"
	hooked rename "$W/moved"
	hooked mkdir "$W/dir"
	hooked mknod "$W/pipe"
	hooked delete "$W/moved"
	# What becomes of an exec is looked at from outside, so none passes.
	carried exec allow '"target":"cat new"'
}

# Landlock bounds none of these, so they are the supervisor's whoever asks; except the times of a file that is
# open for writing (t_times_of_what_is_written).
t_attributes_never_pass() {
	fsh 'chmod 600 file; python3 -c \
		"import os; os.utime(\"file\", (1, 1)); os.truncate(\"file\", 3); os.setxattr(\"file\", \"user.a\", b\"b\")"'
	rc_is 0
	[ "$(stat -c '%a %s' file)" = "600 3" ] || fail "nothing was done"
	carried chmod allow "$W/file"
	carried utime allow "$W/file"
	carried truncate allow "$W/file"
	carried xattr allow "$W/file"
}

# The denied times are of a file that the session may read and its user owns.
t_times_of_what_is_written() {
	policy <<-END
		[files]
		readonly = locked
	END
	echo x >locked
	fence python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def times(name, flags):
    fd = os.open(name, flags)
    then = (ctypes.c_long * 4)(1, 2, 3, 4)
    print(libc.futimens(fd, then), ctypes.get_errno() if flags != os.O_WRONLY else 0)
times("new", os.O_WRONLY | os.O_CREAT)
times("new", os.O_WRONLY)
times("new", os.O_RDONLY)
times("locked", os.O_RDONLY)
print(libc.futimens(99, None), ctypes.get_errno())'
	rc_is 0
	[ "$(cat "$S/out")" = $'0 0\n0 0\n0 0\n-1 13\n-1 9' ] || fail "not the results"
	[ "$(stat -c %Y new)" = 3 ] || fail "nothing was done"
	carried utime allow "$W/new"
	carried utime deny "$W/locked"
}

# Truncation without write access: older kernels' Landlock does not know it.
t_a_truncating_read_never_passes() {
	fence python3 -c 'import os; os.open("file", os.O_RDONLY | os.O_TRUNC)'
	rc_is 0
	carried write allow "$W/file"
}

t_denials_end_in_the_hook() {
	fsh 'cat ~/.ssh/id_rsa; echo x >>~/outside-file; rm ~/outside-file'
	no_decoy
	file_is ~/outside-file "$DECOY outside-file"
	for op in write delete; do
		recorded $op deny '"via":"hook"' "$HOME/outside-file"
		not_recorded $op '[a-z]*' '"via":"kernel"' "$HOME/outside-file"
	done
}

# A pattern is no root of the floor: the gate refuses what the policy allows, and the plain call gets it.
t_what_the_floor_refuses_is_carried() {
	policy <<-END
		[files]
		write = ~/notes-*
	END
	fsh 'echo kept >~/notes-1; mv ~/notes-1 ~/notes-2; cat ~/notes-2; cp ~/notes-2 ~/notes-3; rm ~/notes-3'
	rc_is 0
	out_is kept
	file_is ~/notes-2 kept
	missing ~/notes-3
	carried write allow "$HOME/notes-1"
	carried rename allow "$HOME/notes-2"
	carried delete allow "$HOME/notes-3"
}

t_questions_are_the_supervisors() {
	policy <<-END
		[files]
		ask = ~/elsewhere
	END
	bg ask cat "$HOME/elsewhere/file"
	pale approve "$(pending_id)" >/dev/null || fail "cannot approve"
	bg_wait ask
	rc_is 0
	out_has elsewhere/file
	recorded read allow '"via":"kernel"' "$HOME/elsewhere/file"
	not_recorded read '[a-z]*' '"via":"hook"' "$HOME/elsewhere/file"
}

# At strict no hook judges: not even a denial is its own.
t_strict_closes_it() {
	OPTS=(--level strict)
	fsh 'echo x >new; cat ~/.ssh/id_rsa; rm new'
	no_decoy
	missing new
	carried write allow "$W/new"
	carried delete allow "$W/new"
	carried read deny "$HOME/.ssh/id_rsa"
}

t_the_pass_stays_in_the_image() {
	mkdir d
	fence "$T_VICTIMS/pass" d
	rc_is 0
	err_is_empty
	[ "$(sed 's/ at .*//' "$S/out")" = $'clean\nplanted\nin memory' ] || fail "the pass is elsewhere"
}

t_strict_has_none() {
	mkdir d
	OPTS=(--level strict)
	fence "$T_VICTIMS/pass" d
	rc_is 0
	out_is closed
}

# A hook that holds a directory needs a descriptor that the program may not have left.
t_no_descriptor_left() {
	mkdir em
	fence python3 -c '
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
os.mkdir("em/warm")
try:
    while True: os.dup(0)
except OSError: pass
os.mkdir("em/b"); os.rename("em/b", "em/c"); os.symlink("x", "em/l"); os.unlink("em/l")
try: os.open("file", os.O_RDONLY)
except OSError as e: print(e.strerror)'
	rc_is 0
	out_is 'Too many open files'
	exists em/c
	missing em/l
}

# A signal reaches who waits to be heard by the supervisor: such a call is made again, for it never
# ends so bare.
t_signals_do_not_show() {
	fence python3 -c '
import os, signal
hits = 0
def handler(*_):
    global hits
    hits += 1
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
for i in range(4000): os.close(os.open("file", os.O_RDONLY | os.O_TRUNC))
signal.setitimer(signal.ITIMER_REAL, 0)
print(hits > 100)'
	rc_is 0
	out_is True
}

# ... but an open that waits for somebody is meant to end by it.
t_a_signal_ends_a_waiting_open() {
	mkfifo pipe
	fence timeout 10 python3 -c '
import ctypes, os, signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, True)
signal.alarm(1)
libc = ctypes.CDLL(None, use_errno=True)
print(libc.open(b"pipe", os.O_RDONLY), ctypes.get_errno())'
	rc_is 0
	out_is '-1 4'
}

SPAWNS='
import functools, os, signal
print = functools.partial(print, flush=True)
def spawn(*words, **how):
    try: pid = os.posix_spawnp(words[0], words, dict(PATH=os.environ["PATH"]), **how)
    except OSError as e: return e.strerror
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
to = (os.POSIX_SPAWN_OPEN, 1, "out", os.O_WRONLY | os.O_CREAT, 0o600)
print(spawn("echo", "spawned", file_actions=[to]))
print(spawn("sh", "-c", "echo $LD_PRELOAD >second; kill -TERM $$", setsigdef=[signal.SIGTERM], setpgroup=0))
print(spawn("cat", file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.environ["HOME"] + "/.ssh/id_rsa", os.O_RDONLY, 0)]))
print(spawn("nothing-of-that-name"))
print(spawn("sh", "-c", "cat <&9", file_actions=[(os.POSIX_SPAWN_DUP2, os.open("file", os.O_RDONLY), 9),
    (os.POSIX_SPAWN_CLOSE, 0)]))
'

# Its opens pass the gate, and the environment that it is given is repaired.
t_a_spawn_passes() {
	fence python3 -c "$SPAWNS"
	rc_is 0
	[ "$(cat "$S/out")" = $'0\n-15\nPermission denied\nNo such file or directory\nhello from the workspace\n0' ] ||
		fail "other results"
	file_is out spawned
	grep -q libpale second || fail "the preload is lost"
	carried exec allow '"target":"echo spawned"'
	hooked write "$W/out"
	recorded read deny '"via":"hook"' "$HOME/.ssh/id_rsa"
}

t_a_spawn_is_what_it_is_bare() {
	run python3 -c "$(sed /id_rsa/d <<<"$SPAWNS")"
	mv "$S/out" "$S/bare"
	fence python3 -c "$(sed /id_rsa/d <<<"$SPAWNS")"
	cmp "$S/bare" "$S/out" || fail "differs"
}

# An emulator between us and libc hears of every name, with the words that the program said.
t_other_preloads_hear_of_names() {
	cat >e.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		#include <sys/stat.h>
		int mkdirat(int d, const char *p, mode_t m) {
			int (*next)(int, const char *, mode_t) = dlsym(RTLD_NEXT, "mkdirat");
			dprintf(1, "mkdir %s\n", p);
			return next(d, p, m);
		}
	END
	command -v gcc >/dev/null || skip "no gcc"
	gcc -w -shared -fPIC -o e.so e.c || fail "does not compile"
	fsh 'LD_PRELOAD=$PWD/e.so python3 -c "import os; os.mkdir(\"../work/d\"); os.rmdir(\"d\")"'
	rc_is 0
	out_is 'mkdir ../work/d'
	carried mkdir allow "$W/d"
	carried delete allow "$W/d"
}

# A hook judges a relative name by what it remembers of the working directory: every way to another one ends that.
# (A rule inside a writable directory, which the floor does not know.)
t_the_working_directory_is_known() {
	mkdir fine bad
	touch fine/f bad/f
	policy <<-END
		[files]
		readonly = ~/work/bad
	END
	fence "$T_VICTIMS/wander" "$W/fine" "$W/bad"
	rc_is 0
	out_is "back 0
chdir 13
back 0
fchdir 13
back 0
syscall 13
back 0
raw 13
back 0
rawfd 13
back 0
nftw 13
back 0
vfork 13
parent 0
young 13
parent 0
moved 0"
	recorded write allow '"via":"hook"' "$W/fine-moved/f"
}

# A directory that is renamed goes by its new name for those who work in it: at once where the session
# renamed it, a moment later where somebody outside did.
t_the_working_directory_moves() {
	mkdir -p one/two
	bg inside bash -c 'cd one/two; echo 1 >f; mv ../../one ../../uno; echo 2 >f; touch ready
		until [ -e go ]; do :; done; read -t 0.2 <><(:); echo 3 >f; cat f'
	until_true 10 test -e uno/two/ready || fail "it does not start"
	mv uno eins
	touch eins/two/go
	bg_wait inside
	rc_is 0
	out_is 3
	recorded write allow '"via":"hook"' "$W/one/two/f"
	recorded write allow '"via":"hook"' "$W/uno/two/f"
	recorded write allow '"via":"hook"' "$W/eins/two/f"
}

# What a program is called is proven by opening it as a place: the kernel makes three objects in /proc for each
# process that asks there.
t_a_start_asks_no_proc() {
	need strace
	[ "$(abi)" -ge 3 ] || skip "openat2 does not pass the gate before ABI 3"
	fsh 'for p in /bin/true /usr/bin/awk; do strace -f -o "trace${p##*/}" $p 1; done'
	for p in true awk; do
		grep -qE 'openat2.*O_PATH.*= [0-9]' "trace$p" || fail "$p: no place is opened"
		! grep -q /proc/self/exe "trace$p" || fail "$p: /proc is asked"
	done
}

scenario "$@"
