# nightly: hooks strict
# limit: 90
# Traps of what else is loaded: allocators, sanitizers, other interposers, other name spaces, no loader.
. "$T_LIB"
. "$T_BASE/t/held.sh"

# The file of a shared object, or skip.
object() {
	local name=$1 f
	f=$(ldconfig -p 2>/dev/null | sed -n "s/^\s*$name .*=> //p" | head -n1)
	[ -n "$f" ] || f=$(find /usr/lib -name "$name" 2>/dev/null | head -n1)
	[ -n "$f" ] || skip "no $name"
	echo "$f"
}

# A program that allocates and opens in threads, in a child of them, and in programs that this starts, one of them
# while its threads run and before one more of them.
cat_c() {
	cat >c.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void *work(void *number)
		{
			char name[32];
			for (int i = 0; i < 100; i++) {
				char *room = malloc((size_t)i * 100 + 1);
				snprintf(name, sizeof name, "made%ld-%d", (long)number, i);
				FILE *f = fopen(name, "w");
				if (f && room && fputs(memset(room, 0, (size_t)i * 100 + 1), f) >= 0)
					fclose(f);
				free(room);
				unlink(name);
			}
			return NULL;
		}
		int main(int c, char **v)
		{
			pthread_t t[4];
			char line[4096] = "";
			for (long i = 0; i < 4; i++)
				pthread_create(&t[i], NULL, work, (void *)i);
			if (system("exit 0") != 0)
				return 1;
			for (int i = 0; i < 4; i++)
				pthread_join(t[i], NULL);
			pthread_create(&t[0], NULL, work, NULL);
			pthread_join(t[0], NULL);
			if (fork() == 0) {
				FILE *f = fopen(v[c - 1], "r");
				return puts(f && fgets(line, sizeof line, f) ? line : "nothing") < 0;
			}
			wait(NULL);
			snprintf(line, sizeof line, "cat '%s'", v[c - 1]);
			return system(line) < 0;
		}
	END
	${CC:-gcc} -O1 -g "$@" -o c c.c -lpthread >cc.log 2>&1 || fail "does not build: $(cat cc.log)"
	rm cc.log
}

# --- before ours ------------------------------------------------------------------------------------

t_constructor_before_ours() {
	cat >lib.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <unistd.h>
		static int fd;
		__attribute__((constructor(101))) static void early(int c, char **v)
		{
			char b[99];
			fd = c > 1 ? open(v[1], O_RDONLY) : -1;
			int n = (int)read(fd, b, sizeof b);
			if (n > 0 && write(1, b, (size_t)n) < 0)
				_exit(1);
		}
		int late(void) { return fd; }
	END
	cat >m.c <<-'END'
		#include <fcntl.h>
		int late(void);
		static int pre(void) { return open("file", O_RDONLY) < 0; }
		static int (*const before)(void) __attribute__((used, section(".preinit_array"))) = pre;
		int main(void) { return late() < 0; }
	END
	gcc -shared -fPIC -Wl,-z,initfirst -o liblate.so lib.c && gcc -o m m.c -L. -llate -Wl,-rpath,'$ORIGIN' ||
		fail "no compiler"
	same './m "$F"'
	[ "$T_LEVEL" != hooks ] || skip "before our constructor level hooks judges nothing"
	held kernel './m "$F"'
}

t_allocator_called_before_libc() {
	cat >m.c <<-'END'
		#include <fcntl.h>
		#include <stddef.h>
		#include <stdio.h>
		#include <string.h>
		#include <unistd.h>
		static char room[1 << 22] __attribute__((aligned(16)));
		static size_t used, opened;
		static void configured(void)
		{
			char b[9];
			int fd = open("file", O_RDONLY);
			opened += read(fd, b, sizeof b) > 0;
			close(fd);
		}
		void *malloc(size_t n)
		{
			if (!opened)
				configured();
			void *p = room + used;
			used += (n + 31) & ~15ul;
			return used > sizeof room ? NULL : p;
		}
		void *calloc(size_t n, size_t m) { return malloc(n * m); }
		void *realloc(void *p, size_t n) { void *q = malloc(n); return p && q ? memcpy(q, p, n) : q; }
		void free(void *p) { (void)p; }
		int main(int c, char **v)
		{
			char b[99];
			FILE *f = fopen(v[1], "r");
			printf("%d %d %s", c, (int)opened, f && fgets(b, sizeof b, f) ? b : "none\n");
			return 0;
		}
	END
	gcc -o m m.c || fail "no compiler"
	holds hook './m "$F"'
}

# --- allocators -------------------------------------------------------------------------------------

allocator() {
	A=$(object "$1") || { echo "$A"; exit 77; }
	export A
	cat_c
	holds hook \
		'LD_PRELOAD="$A" ./c "$F"; LD_PRELOAD="$A:libutil.so.1" python3 -c "print(open(\"$F\").read())" 2>/dev/null; true'
	cat_c -Wl,--no-as-needed "$A"
	holds hook './c "$F"'
}

t_jemalloc() {
	allocator libjemalloc.so.2
}

t_tcmalloc() {
	allocator libtcmalloc_minimal.so.4
}

t_mimalloc() {
	allocator libmimalloc.so.2.0
}

# --- sanitizers -------------------------------------------------------------------------------------

# The address sanitizer makes the directory of its log while it starts.
t_asan() {
	cat_c -fsanitize=address
	holds hook './c "$F"; ASAN_OPTIONS=log_path=./log/c ./c "$F"'
}

t_ubsan() {
	cat_c -fsanitize=undefined
	holds hook './c "$F"'
}

# Bare it cannot start where addresses are too random: then neither does it inside.
thread_sanitizer() {
	cat_c -fsanitize=thread
	setarch -R ./c file >/dev/null 2>&1 || skip "the thread sanitizer does not start here"
	holds hook 'setarch -R ./c "$F"'
}

t_tsan() {
	thread_sanitizer
}

# clang puts the runtime into the program itself, whose functions come before all others.
clang_has() {
	need clang
	echo 'int main(void) { return 0; }' | clang -x c -fsanitize="$1" -o runtime - 2>/dev/null ||
		skip "clang has no runtime of the $1 sanitizer"
	rm runtime
	CC=clang
}

t_clang_tsan() {
	clang_has thread
	thread_sanitizer
}

t_clang_asan() {
	clang_has address
	t_asan
}

t_clang_ubsan() {
	clang_has undefined
	t_ubsan
}

t_clang_msan() {
	clang_has memory
	cat_c -fsanitize=memory
	holds hook 'setarch -R ./c "$F"'
}

t_valgrind() {
	need valgrind
	if [ "$T_LEVEL" = hooks ]; then
		fence valgrind -q cat file
		rc_not 0
		denied exec '' 'statically linked'
		return
	fi
	same 'valgrind -q --error-exitcode=9 cat "$F"; valgrind -q --trace-children=yes sh -c "cat \"\$F\"; echo x >made"'
	held hook 'valgrind -q cat "$F"; valgrind -q --trace-children=yes sh -c "cat \"\$F\""'
}

# --- name spaces of the loader ----------------------------------------------------------------------

t_RTLD_DEEPBIND() {
	cat >p.c <<-'END'
		#include <fcntl.h>
		int plugin_open(const char *p, int f);
		int plugin_open(const char *p, int f) { return open(p, f); }
	END
	gcc -shared -fPIC -o plugin.so p.c || fail "no compiler"
	same '"$T" deepbind "$F" $PWD/plugin.so'
	# The plugin's own call and the program's: at level hooks the flag is taken away, above the kernel sees it.
	[ "$T_LEVEL" = hooks ] || held kernel '"$T" deepbind "$F" $PWD/plugin.so'
	held hook '"$T" deepbind "$F" $PWD/plugin.so'
	[ "$(grep -c 'errno 13' "$S/out")" = 2 ] || fail "not both calls were refused"
}

t_dlmopen() {
	if [ "$T_LEVEL" = hooks ]; then
		fence "$T" dlmopen "$HOME/.ssh/id_rsa"
		rc_not 0
		no_decoy
		denied exec libc.so.6 'a name space of its own'
		recorded exec deny libc.so.6 '"via":"hook"'
		return
	fi
	same '"$T" dlmopen "$F"'
	held kernel '"$T" dlmopen "$F"'
	held hook '"$T" dlmopen "$F"'
	[ "$(grep -c 'errno 13' "$S/out")" = 2 ] || fail "not both calls were refused"
}

t_static_pie() {
	cat >m.c <<-'END'
		#include <stdio.h>
		int main(int c, char **v) {
			char b[99];
			FILE *f = fopen(v[1], "r");
			if (!f) return perror("m"), c;
			printf("%s", fgets(b, 99, f));
			return 0;
		}
	END
	gcc -static-pie -fPIE -o m m.c || fail "does not compile"
	if [ "$T_LEVEL" = hooks ]; then
		fsh './m file'
		rc_is 126
		recorded exec deny ./m '"via":"hook"'
		return
	fi
	holds kernel './m "$F"; true'
}

# --- other interposers ------------------------------------------------------------------------------

# Before ours in the list, behind it, and in a list with spaces.
beside() {
	A=$(object "$1") || { echo "$A"; exit 77; }
	export A
	shift
	holds hook "LD_PRELOAD=\"\$A\" $1"
	held hook "P=\$LD_PRELOAD; LD_PRELOAD=\"\$A:\$P\" $1; LD_PRELOAD=\"\$P \$A\" $1; LD_PRELOAD=\"libutil.so.1 \$A\" $1"
}

# Without its wrapper it leaves its shared memory behind, by the pid.
no_litter() {
	local file
	for file in /dev/shm/*faketime_*; do
		kill -0 "${file##*_}" 2>/dev/null || rm -f "$file"
	done
}

t_libfaketime() {
	trap no_litter EXIT
	beside libfaketime.so.1 'FAKETIME="2001-02-03 04:05:06" sh -c "date +%F; cat \"\$F\"; echo x >made; mv made moved"'
}

t_libeatmydata() {
	beside libeatmydata.so 'sh -c "cat \"\$F\"
		sync file; dd if=file of=copy conv=fsync status=none; sqlite3 db \"create table t (a)\" 2>/dev/null
		rm -f db; python3 -c \"import os; os.fsync(os.open(\\\"copy\\\", os.O_RDWR | os.O_SYNC))\""'
}

t_fakeroot() {
	need fakeroot
	holds hook 'fakeroot sh -c "touch f; chown 5:6 f; stat -c %u:%g f; cat \"\$F\""'
}

t_fakeroot_by_tcp() {
	need fakeroot-tcp
	[ "$T_LEVEL" = hooks ] || skip "its server listens for the world"
	printf '[network]\nallow = localhost:1024-65535\n' | policy
	holds hook 'fakeroot-tcp sh -c "touch f; chown 5:6 f; stat -c %u:%g f; cat \"\$F\""'
}

# --- chroot -----------------------------------------------------------------------------------------

# A container whose root is a directory: pale runs inside of it.
t_chroot_in_a_container() {
	unshare -Ur true 2>/dev/null || skip "nobody may make name spaces here"
	mkdir -p "$S/root"
	cat >"$S/enter" <<-'END'
		set -e
		root=$1; shift
		mount -t tmpfs none "$root"
		mkdir -p "$root"/{proc,dev,etc} "$root$HOME" "$root$T_BASE" "$root/tmp"
		for d in /usr /dev /etc /proc "$T_BASE"; do mkdir -p "$root$d"; mount --rbind "$d" "$root$d"; done
		for l in bin lib lib64 sbin; do ln -s usr/$l "$root/$l"; done
		cd "$root"
		exec /usr/sbin/chroot . /bin/bash -c 'cd "$0" && exec "$@"' "$PWD_INSIDE" "$@"
	END
	PWD_INSIDE=$W unshare -Urm bash "$S/enter" "$S/root" pale run -q -- bash -c 'cat file; echo x >made
		cat ~/.ssh/id_rsa; env -i /bin/cat '"$HOME/.ssh/id_rsa" >"$S/out" 2>"$S/err" </dev/null
	RC=$?
	out_has "hello from the workspace"
	exists made
	no_decoy
	recorded read deny "$HOME/.ssh/id_rsa" "\"via\":\"$(teller hook)\""
}

scenario "$@"
