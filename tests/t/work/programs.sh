# nightly: hooks
# limit: 120
# Programs that bring their own interposers, runtimes or filters: what works bare works inside, and
# what the fence denies stays denied.
. "$T_LIB"

# Runs the same line bare and fenced, each in a directory of its own; the outputs must be the same.
same_as_bare() {
	mkdir -p bare fenced
	(cd bare && bash -c "$1") >"$S/bare" 2>&1
	run bash -c 'cd fenced && exec pale run -q -- bash -c "$1" 2>&1' - "$1"
	diff "$S/bare" "$S/out" >"$S/diff" || fail "differs from bare: $(cat "$S/diff")"
}

# --- objects preloaded inside -----------------------------------------------------------------------

t_fakeroot() {
	need fakeroot tar
	same_as_bare 'fakeroot bash -c "
		touch f && chown 5:6 f && chmod 4755 f && chown 5:6 f && mkdir -m 700 d && chown 7:8 d && chmod 1777 d
		mknod dev c 1 3 && ln -s f l && chown -h 3:3 l && mv f g && stat -c \"%n %a %u %g %F %t\" *
		tar cf t.tar d dev g l && tar tvf t.tar | cut -d\" \" -f1,2
		rm g && touch h && stat -c \"%n %u\" h"'
	grep -q 'character special' "$S/out" || fail "fakeroot made no device"
}

t_fakeroot_gives_no_right() {
	need fakeroot
	echo keep >"$HOME/.bashrc"
	fsh 'fakeroot bash -c "chmod 777 ~/.bashrc; chown 5 ~/.bashrc
		rm ~/elsewhere/file; mv file ~/elsewhere/; mkdir ~/elsewhere/d; mknod ~/elsewhere/p p; cat ~/.ssh/id_rsa"'
	no_decoy
	[ "$(stat -c %a "$HOME/.bashrc")" != 777 ] || fail ".bashrc was changed"
	[ "$(ls "$HOME/elsewhere")" = file ] || fail "something was made or removed elsewhere"
}

# An emulator whose mknodat calls __xmknodat, as fakeroot's does: it must not come back to itself.
t_emulator_behind_us() {
	cat >e.c <<-'END'
		#include <sys/stat.h>
		#include <unistd.h>
		static int told(const char *what) { write(1, what, 6); return 0; }
		int __xmknodat(int v, int d, const char *p, mode_t m, dev_t *t) { return told("mknod\n"); }
		int mknodat(int d, const char *p, mode_t m, dev_t t) { return __xmknodat(0, d, p, m, &t); }
		int chown(const char *p, uid_t u, gid_t g) { return told("chown\n"); }
		int fchownat(int d, const char *p, uid_t u, gid_t g, int f) { return told("chown\n"); }
		int fchown(int fd, uid_t u, gid_t g) { return told("chown\n"); }
		int unlinkat(int d, const char *p, int f) { return told("unlin\n"); }
	END
	gcc -w -shared -fPIC -o e.so e.c || fail "does not compile"
	echo 'import os; os.mknod("dev", 0o20600, 259); os.chown("file", 0, 0); os.chown(0, 0, 0); os.unlink("file")' >p.py
	fsh 'LD_PRELOAD=$PWD/e.so python3 p.py'
	rc_is 0
	out_is "$(printf 'mknod\nchown\nchown\nunlin')"
	[ -e file ] || fail "the emulator was not asked"
}

# One that changes the time is entered by the program alone: it starts as bare, and dates no record.
t_time_that_is_faked() {
	cat >t.c <<-'END'
		#include <time.h>
		#include <unistd.h>
		int clock_gettime(clockid_t id, struct timespec *t) { write(1, "asked\n", 6); t->tv_sec = t->tv_nsec = 1; return 0; }
	END
	gcc -w -shared -fPIC -o t.so t.c || fail "does not compile"
	fsh 'LD_PRELOAD=$PWD/t.so cat file; cat ~/.ssh/id_rsa'
	out_is "hello from the workspace"
	no_decoy
	[ "$(pale log --all --json | grep -c '"time":"19')" = 0 ] || fail "the program dated a record"
}

t_faketime() {
	need faketime
	same_as_bare 'faketime 2001-02-03 date +%F; faketime 2001-02-03 bash -c "date +%F; touch f; cat f"'
}

# --- runtimes that want to be first -----------------------------------------------------------------

t_address_sanitizer() {
	echo \
		'int main(int c, char **v) { char *p = __builtin_malloc(8); p[8 * (c > 1)] = 1; __builtin_free(p); return 0; }' >a.c
	gcc -fsanitize=address -o a a.c || fail "does not compile"
	fence ./a
	rc_is 0 "a sanitized program starts"
	fsh 'ASAN_OPTIONS=detect_leaks=0 ./a' && rc_is 0 "with options of its own"
	fence ./a fault
	rc_not 0
	err_has heap-buffer-overflow
}

# glibc's loader cuts this variable in its program's own environment, as git's test suite has it.
t_tunables() {
	echo text >file
	fsh 'GLIBC_TUNABLES=glibc.malloc.check=1:glibc.malloc.perturb=165: cat file'
	rc_is 0
	out_is text
}

# --- filters ----------------------------------------------------------------------------------------

t_man() {
	need man
	man -P cat man >"$S/bare" 2>/dev/null && [ -s "$S/bare" ] || skip "no manual pages here"
	fsh 'man -P cat man 2>/dev/null'
	cmp -s "$S/bare" "$S/out" || fail "the page differs from bare"
}

# --- programs that cannot be held -------------------------------------------------------------------

t_explain_says_what_run_does() {
	echo 'int main(void) { return 0; }' >s.c
	gcc -static -o s s.c || fail "does not compile"
	fsh ./s
	[ "$T_LEVEL" = hooks ] || { rc_is 0 && run pale explain exec ./s && rc_is 0 && return 0; }
	rc_is 126
	run pale explain --level hooks exec ./s
	rc_is 1
	out_has 'would run outside the fence'
	out_has 'allow-unhooked'
	run pale explain exec /bin/true
	rc_is 0
}

# --- caches -----------------------------------------------------------------------------------------

t_ccache_in_the_runtime_directory() {
	run pale explain write /run/user/1000/ccache-tmp/cpp_stdout.tmp.x.i
	rc_is 0
	run pale explain write /run/user/1000/other
	rc_is 1
}

t_modules_of_the_user() {
	mkdir -p "$HOME/.local"
	fsh 'mkdir -p ~/.local/lib/python3.11/site-packages'
	rc_not 0
	err_has 'use a venv in the workspace'
}

scenario "$@"
