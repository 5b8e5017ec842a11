# nightly: hooks strict
# limit: 120
# Traps of what a running program does: names of open, limits, signals, threads, filters, tracers.
. "$T_LIB"
. "$T_BASE/t/held.sh"

# --- names of open ----------------------------------------------------------------------------------

t_O_TMPFILE_mode() {
	holds hook '"$T" tmpfile "$F"'
	fence "$T" tmpfile file "$HOME/elsewhere"
	out_has 'errno 13'
	denied write "$HOME/elsewhere"
}

t_open_2_family() {
	holds hook '"$T" fortified "$F"'
	cat >m.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <unistd.h>
		int main(int c, char **v)
		{
			char b[32] = "";
			int n = (int)read(open(v[1], c > 5 ? O_RDWR : O_RDONLY), b, sizeof b - 1);
			printf("%d %s", n, b);
			n = (int)read(openat(AT_FDCWD, v[1], c > 5 ? O_RDWR : O_RDONLY), b, sizeof b - 1);
			printf("%d %s", n, b);
			return 0;
		}
	END
	gcc -O2 -D_FORTIFY_SOURCE=2 -o m m.c || fail "no compiler"
	nm -D m | grep -q __openat_2 || fail "the compiler calls no __openat_2"
	holds hook './m "$F"'
}

t_64_bit_names() {
	# it lists them: where the state lies is there bare too
	mkdir -m 700 .pale
	holds hook '"$T" large-names "$F"'
}

t_unknown_system_calls() {
	holds hook '"$T" unknown-calls "$F"'
}

# --- limits -----------------------------------------------------------------------------------------

# At level hooks a new program takes the ring out of a socket, so it needs two descriptors for a moment.  Before
# Landlock's third version openat2 is not there, and a path is walked with two, whose numbers are not free then.
t_tiny_RLIMIT_NOFILE() {
	local n=4
	[ "$(abi)" -ge 3 ] || skip "a new file does not get the lowest descriptor here"
	[ "$T_LEVEL" != hooks ] || n=6
	holds hook '"$T" few-descriptors "$F" '$n
}

# Where the ring finds no room the program is told so, and nothing gets through.
t_RLIMIT_AS() {
	local mb
	holds hook '"$T" small-address-space "$F" 64'
	for mb in 32 24 16 12 10 8 6; do
		F=$HOME/.ssh/id_rsa
		fence "$T" small-address-space "$F" $mb
		no_decoy
		fence "$T" small-address-space "$W/file" $mb
		[ "$(grep -c hello "$S/out")" = 2 ] || [ -s "$S/err" ] || fail "$mb MB: neither read nor told"
	done
}

t_small_thread_stacks() {
	holds hook '"$T" small-stacks "$F" | grep -v bad; "$T" small-stacks file'
}

t_sigaltstack_handlers() {
	holds hook '"$T" alternate-stack "$F" | grep -v bad; "$T" alternate-stack file'
}

t_deep_stacks() {
	cat >m.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/resource.h>
		#include <unistd.h>
		static char *name;
		static int deep(int n)
		{
			char b[1024] = "";
			if (n)
				return deep(n - 1) + b[0];
			n = (int)read(open(name, O_RDONLY), b, 100);
			return printf("%.*s", n, b);
		}
		int main(int c, char **v)
		{
			(void)c;
			name = v[1];
			return deep(7900) < 0;
		}
	END
	gcc -O0 -o m m.c || fail "no compiler"
	# About 64 KiB are left.
	holds hook '(ulimit -s 8600; ./m "$F"; true)'
}

t_ulimit_f() {
	holds hook 'exec 2>/dev/null; (ulimit -f 1; cat "$F"; head -c 3000 /dev/zero >big
			echo $?; trap "" XFSZ; head -c 3000 /dev/zero >big2; echo $?); (ulimit -f 0; cat "$F"); true'
}

t_ulimit_u() {
	holds hook '(ulimit -u 12000; cat "$F"; (cat "$F")); true'
}

t_SIGPIPE() {
	holds hook 'yes | head -n1; echo "${PIPESTATUS[@]}"
		(trap "" PIPE; yes 2>&1 | head -n1 >/dev/null; echo "${PIPESTATUS[@]}"); cat "$F" | cat; python3 -c "
import os, signal
print(signal.getsignal(signal.SIGPIPE))"'
}

# --- signals and threads ----------------------------------------------------------------------------

t_signal_handlers_that_open_files() {
	holds hook '"$T" signals "$F" | grep -v bad; "$T" signals file'
}

t_multithreaded_fork() {
	local n=50
	[ "$T_LEVEL" != full ] || n=200
	export n
	same '"$T" forks-in-threads "$F" $n'
	held hook '"$T" forks-in-threads "$F" 3 | grep -v bad'
}

t_cancellation_points() {
	holds hook '"$T" cancelled "$F"'
}

# The stack is unwound through our hooks, by a cancellation as by an exception.
t_unwinding_through_hooks() {
	cat >m.cc <<-'END'
		#include <arpa/inet.h>
		#include <cstdio>
		#include <cstdlib>
		#include <dirent.h>
		#include <fcntl.h>
		#include <pthread.h>
		#include <sys/stat.h>
		#include <unistd.h>
		struct Owner {
			const char *what;
			~Owner() { printf("released %s\n", what); }
		};
		static void *opens(void *) { Owner o{"open"}; open("fifo", O_RDONLY); return nullptr; }
		static void *sends(void *fd)
		{
			Owner o{"sendto"};
			static char b[1 << 16];
			for (;;)
				sendto((int)(long)fd, b, sizeof b, 0, nullptr, 0);
		}
		static void *shell(void *) { Owner o{"system"}; if (system("sleep 9")) return nullptr; return nullptr; }
		static void ended(void *(*f)(void *), long arg)
		{
			pthread_t t;
			void *r;
			pthread_create(&t, nullptr, f, (void *)arg);
			usleep(100000);
			pthread_cancel(t);
			pthread_join(t, &r);
			printf("%d\n", r == PTHREAD_CANCELED);
		}
		static int thrower(const struct dirent *) { throw 7; }
		int main(int, char **v)
		{
			int sv[2];
			struct dirent **list;
			mkfifo("fifo", 0600);
			ended(opens, 0);
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0)
				ended(sends, sv[0]);
			ended(shell, 0);
			try { Owner o{"scandir"}; scandir(".", &list, thrower, nullptr); } catch (int i) { printf("caught %d\n", i); }
			fflush(stdout);
			execl("/bin/cat", "cat", v[1], nullptr);
		}
	END
	g++ -O1 -o m m.cc -lpthread || fail "no compiler"
	holds hook './m "$F"'
}

t_cancellation_of_a_waiting_open() {
	holds hook '"$T" cancelled-waiting "$F"'
}

# --- filters, tracers -------------------------------------------------------------------------------

t_own_seccomp_filter() {
	holds hook '"$T" own-filter "$F"'
}

t_PR_SET_DUMPABLE_0() {
	holds hook '"$T" not-dumpable "$F"'
}

# A traced program can be made into another one: level strict verifies what runs, and starts none.
strict_refuses_tracers() {
	[ "$T_LEVEL" = strict ] || return 0
	fence "$@"
	rc_not 0
	out_lacks 'hello from'
	err_has 'another process traces it'
	exit 0
}

t_strace_of_a_child() {
	need strace
	strict_refuses_tracers strace cat file
	holds hook 'strace -f -e trace=openat,openat2,execve -o trace sh -c "cat \"\$F\""
		grep -c execve trace; rm trace; cat "$F"'
}

t_gdb_of_a_child() {
	need gdb
	strict_refuses_tracers gdb -q -nx -batch -ex 'set startup-with-shell off' -ex 'run file' /bin/cat
	holds hook 'gdb -q -nx -batch -ex "set startup-with-shell off" -ex "break read" -ex \
		"run \"$F\"" -ex "bt -frame-arguments none" -ex kill /bin/cat 2>/dev/null | grep -c "^#.* read "
		gdb -q -nx -batch -ex "run \"$F\"" /bin/cat 2>/dev/null | grep -v -e process -e thread -e "^\$"; cat "$F"'
}

scenario "$@"
