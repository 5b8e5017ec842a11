# levels: full strict hooks
# What libc opens, walks and starts by itself, where no hook of open or exec would see it.
. "$T_LIB"

V=$T_VICTIMS/hooks

# A program of libc's own walks, which prints what it is shown: walk HOW PATH.
walker() {
	cat >walk.c <<-'END'
		#define _GNU_SOURCE
		#include <fts.h>
		#include <ftw.h>
		#include <glob.h>
		#include <stdio.h>
		#include <string.h>
		static int show(const char *p, const struct stat *s, int t, struct FTW *f)
		{
			printf("%s %d\n", p, t);
			return 0;
		}
		static int show_old(const char *p, const struct stat *s, int t) { return show(p, s, t, 0); }
		static int walk_fts(char *root)
		{
			char *roots[] = { root, 0 };
			FTS *w = fts_open(roots, FTS_PHYSICAL, 0);
			FTSENT *e;
			while ((e = fts_read(w)))
				printf("%s %d %d\n", e->fts_path, e->fts_info, e->fts_info == FTS_DNR ? e->fts_errno : 0);
			return fts_close(w);
		}
		static int walk_glob(char *pattern)
		{
			glob_t g = { 0 };
			int flags = GLOB_BRACE | GLOB_TILDE | GLOB_MARK;
			int r = glob(pattern, flags, 0, &g), kept = g.gl_flags & GLOB_ALTDIRFUNC;
			glob("f*", flags | GLOB_APPEND, 0, &g);
			for (size_t i = 0; i < g.gl_pathc; i++)
				puts(g.gl_pathv[i]);
			globfree(&g);
			return kept ? 99 : r;
		}
		int main(int argc, char **argv)
		{
			if (!strcmp(argv[1], "fts"))
				return walk_fts(argv[2]);
			if (!strcmp(argv[1], "glob"))
				return walk_glob(argv[2]);
			if (!strcmp(argv[1], "ftw"))
				return -ftw(argv[2], show_old, 8);
			return -nftw(argv[2], show, 8, FTW_PHYS | FTW_DEPTH);
		}
	END
	gcc -w -o walk walk.c || fail "does not compile"
	mkdir -p tree/a/b "tree/c d" &&
		touch tree/a/f1 tree/a/b/f2 tree/.hidden && ln -s a tree/link && ln -s nowhere tree/gone
}

t_walks_are_what_they_are_bare() {
	local how
	walker
	for how in fts ftw nftw; do
		"./walk" $how tree | LC_ALL=C sort >"$S/bare"
		fsh './walk '$how' tree | LC_ALL=C sort'
		diff "$S/bare" "$S/out" || fail "$how differs"
		err_is_empty
	done
	for how in 'tree/*' 'tree/*/f?' \
		'tree/{a,c*}/*' 'tree/.*' 'tr*/a/../*' '/none/*' 'tree/gone*' '~/work/tr*/*' "$W/tree/[a-z]*"; do
		"./walk" glob "$how" >"$S/bare"
		echo $? >>"$S/bare"
		fsh './walk glob "$1"; echo $?' - "$how"
		diff "$S/bare" "$S/out" || fail "glob $how differs"
		err_is_empty
	done
}

# ~/.ssh has an id_rsa: nobody shows its name who has to open the directory for it.
t_walks_do_not_enter() {
	walker
	fsh './walk glob "$HOME/.ssh/*"
		./walk glob "$HOME/.ss?/*"; ./walk fts ~/.ssh; ./walk fts ~; ./walk nftw ~/.ssh; ./walk ftw ~/.ssh'
	out_lacks id_rsa
	out_has ".ssh 4 13"
	out_has elsewhere/file
	denied read "$HOME/.ssh"
	recorded read deny "$HOME/.ssh\""
}

t_temporary_and_shared() {
	cat >shared.c <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <semaphore.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/stat.h>
		#include <unistd.h>
		#define TRY(x) (errno = 0, printf("%s %d %d\n", #x, (int)(long)(x), errno))
		#define IS(x) (errno = 0, printf("%s %d %d\n", #x, (x) != 0, errno))
		static char big[400];
		int main(int argc, char **argv)
		{
			char *n = argv[1], buf[8] = "";
			struct stat st;
			int fd;
			FILE *f = tmpfile();
			fstat(fileno(f), &st);
			printf("%o %d %d\n", st.st_mode, (int)st.st_nlink, fcntl(fileno(f), F_GETFL) & ~(O_TMPFILE | O_NOFOLLOW));
			fputs("abc", f);
			rewind(f);
			puts(fgets(buf, 8, f));
			memset(big, 'x', sizeof(big) - 1);
			TRY(shm_open(n, O_RDWR, 0));
			IS((fd = shm_open(n, O_RDWR | O_CREAT | O_EXCL, 0640)) >= 0);
			printf("%d\n", fcntl(fd, F_GETFD));
			TRY(ftruncate(fd, 4096));
			TRY(shm_open(n, O_RDWR | O_CREAT | O_EXCL, 0640));
			TRY(shm_unlink(n));
			TRY(shm_unlink(n));
			TRY(shm_open("", O_RDWR, 0));
			TRY(shm_open("/", O_RDWR, 0));
			TRY(shm_open(big, O_RDWR, 0));
			TRY(shm_open("a/b", O_RDWR | O_CREAT, 0600));
			TRY(sem_open(n, 0));
			sem_t *s = sem_open(n, O_CREAT | O_EXCL, 0600, 1);
			IS(s != SEM_FAILED);
			TRY(sem_trywait(s));
			TRY(sem_trywait(s));
			TRY(sem_open(n, O_CREAT | O_EXCL, 0600, 1));
			TRY(sem_unlink(n));
			TRY(sem_unlink(n));
			TRY(sem_unlink("a/b"));
			return 0;
		}
	END
	gcc -w -o shared shared.c || fail "does not compile"
	./shared "/pale-t-$$" >"$S/bare"
	fsh './shared "/pale-t-$1"' - $$
	diff "$S/bare" "$S/out" || fail "differs from bare"
	err_is_empty
	recorded write allow "/dev/shm/pale-t-$$"
	recorded write allow "\"/tmp"
}

t_shared_and_denied() {
	local call
	policy <<-'EOF2'
		[files]
		deny = /dev/shm/pale-no
		deny = /dev/shm/sem.pale-no
		deny = /tmp
	EOF2
	for call in shm_open sem_open; do
		fence "$V" $call /pale-no
		out_is "$call -1 13"
		grep -qE "^pale: denied (write|link) /dev/shm/" "$S/err" || fail "$call: nothing said"
	done
	for call in shm_unlink sem_unlink; do
		fence "$V" $call /pale-no
		grep -qE "^$call -1 (2|13)$" "$S/out" || fail "$call is not denied"
	done
	for call in tmpfile tmpfile64; do
		fence "$V" $call x
		grep -qE "^$call -1 13$" "$S/out" || fail "$call is not denied"
		err_has "pale: denied write /tmp"
	done
	[ ! -e /dev/shm/pale-no ] || fail "it was made"
}

# The password that ~/.netrc has for a host: libc would read it out.
t_netrc() {
	echo "machine h.example login me password $DECOY" >"$HOME/.netrc"
	chmod 600 "$HOME/.netrc"
	out=$("$V" ruserpass x)
	[ "$out" = "ruserpass 1 77" ] || fail "bare: $out"
	fence "$V" ruserpass x
	out_lacks "ruserpass 1"
	denied read "$HOME/.netrc"
}

t_never() {
	local call
	for call in fsopen fsconfig \
		fspick mount_setattr open_by_handle_at acct swapon swapoff quotactl unshare clone __clone; do
		fence "$V" $call x
		out_is "$call -1 1"
	done
	for call in 'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); print(l.unshare(0x400), ctypes.get_errno())' \
		'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); print(l.syscall(272, 0x10000000), ctypes.get_errno())' \
		'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); print(l.syscall(56, 0x10000011,0,0,0,0), ctypes.get_errno())' \
		'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); print(l.syscall(435, 0, 0), ctypes.get_errno())'; do
		fence python3 -c "$call"
		cat "$S/out" >>"$S/all"
	done
	cp "$S/all" "$S/out"
	out_is "$(printf '0 0\n-1 1\n-1 1\n-1 38')"
}

# --- syscall() --------------------------------------------------------------------------------------

# What is no pointer is the kernel's to refuse, and what nobody knows passes through.
t_bad_pointers_and_numbers() {
	cat >bad.c <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/socket.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		#define TRY(...) (errno = 0, printf("%s %ld", #__VA_ARGS__, syscall(__VA_ARGS__)), printf(" %d\n", errno))
		int main(void)
		{
			char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char *end = strcpy(page + 4096 - 5, "file"), *bad[] = { page + 4096, page + 4096 + 3, (char *)1, (char *)-4096 };
			setvbuf(stdout, 0, _IONBF, 0);
			mprotect(page + 4096, 4096, PROT_NONE);
			for (int i = 0; i < 4; i++) {
				char *b = bad[i];
				TRY(SYS_open, b, O_RDONLY);
				TRY(SYS_openat, AT_FDCWD, b, O_WRONLY | O_CREAT, 0600);
				TRY(SYS_openat2, AT_FDCWD, "file", b, 24);
				TRY(SYS_openat2, AT_FDCWD, b, b, 24);
				TRY(SYS_unlink, b);
				TRY(SYS_rename, "file", b);
				TRY(SYS_rename, b, "file");
				TRY(SYS_linkat, AT_FDCWD, b, AT_FDCWD, "x", 0);
				TRY(SYS_symlink, b, "x");
				TRY(SYS_symlink, "x", b);
				TRY(SYS_mkdir, b, 0700);
				TRY(SYS_chmod, b, 0600);
				TRY(SYS_fchmodat2, AT_FDCWD, b, 0600, 0);
				TRY(SYS_truncate, b, 0);
				TRY(SYS_utimensat, AT_FDCWD, b, 0, 0);
				TRY(SYS_utimensat, AT_FDCWD, "file", b, 0);
				TRY(SYS_utime, "file", b);
				TRY(SYS_setxattr, b, "user.x", "x", 1, 0);
				TRY(SYS_setxattr, "file", b, "x", 1, 0);
				TRY(SYS_execve, b, 0, 0);
				TRY(SYS_execve, "/bin/true", b, 0);
				TRY(SYS_execve, "/bin/true", 0, b);
				int s = socket(AF_INET, SOCK_STREAM, 0);
				TRY(SYS_connect, s, b, 16);
				TRY(SYS_bind, s, b, 16);
				close(s);
			}
			TRY(SYS_unlink, 0);
			TRY(SYS_access, end, R_OK);
			TRY(SYS_open, end, O_RDONLY);
			TRY(9999);
			TRY(-1);
			TRY(1 << 20, 1, 2, 3, 4, 5, 6);
			TRY(SYS_gettid) == getpid();
			return 0;
		}
	END
	gcc -w -DSYS_fchmodat2=452 -o bad bad.c || fail "does not compile"
	./bad | sed 's/gettid [0-9]*/gettid/' >"$S/bare"
	fsh './bad | sed "s/gettid [0-9]*/gettid/"'
	diff "$S/bare" "$S/out" || fail "differs from bare"
	err_is_empty
}

# Attributes by directory and name, for which libc has no function yet.
t_attributes_at() {
	[ "$T_LEVEL" != hooks ] || skip "at level hooks nobody judges it"
	cat >atx.c <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <stdint.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct { uint64_t value; uint32_t size, flags; } args = { (uintptr_t)"x", 1, 0 };
			struct { uint64_t flags; uint32_t a, b, c, d; } attr = { 0 };
			int fd = open(argv[1], O_PATH);
			printf("%d", syscall(463, AT_FDCWD, argv[1], 0, "user.t", &args, sizeof(args)) < 0 ? errno : 0);
			printf(" %d", syscall(463, fd, "", AT_EMPTY_PATH, "user.t", &args, sizeof(args)) < 0 ? errno : 0);
			printf(" %d", syscall(466, AT_FDCWD, argv[1], 0, "user.t") < 0 ? errno : 0);
			printf(" %d\n", syscall(469, AT_FDCWD, argv[1], &attr, sizeof(attr), 0) < 0 ? errno : 0);
			return 0;
		}
	END
	gcc -w -o atx atx.c || fail "does not compile"
	./atx file >"$S/bare"
	[ "$(cut -d' ' -f1 "$S/bare")" = 0 ] || skip "no setxattrat here"
	fence ./atx file
	diff "$S/bare" "$S/out" || fail "differs from bare"
	fence ./atx "$HOME/elsewhere/file"
	# A descriptor by O_PATH is none to change attributes by: who says so first differs.
	grep -qxE '13 (13|9) 13 13' "$S/out" || fail "changed"
	denied xattr "$HOME/elsewhere/file"
}

# --- another libc -----------------------------------------------------------------------------------

# musl loads the object, for it wants no name that musl lacks, and every hook hands on: the kernel carries
# all.  Where there is no kernel behind us the program is refused, with the reason.
t_musl_loads_and_hands_on() {
	need musl-gcc
	cat >l.c <<-'END'
		#include <fcntl.h>
		int peek(const char *p) { return open(p, O_RDONLY) >= 0; }
	END
	cat >m.c <<-'END'
		#define _GNU_SOURCE
		#include <dirent.h>
		#include <dlfcn.h>
		#include <errno.h>
		#include <fcntl.h>
		#include <ftw.h>
		#include <glob.h>
		#include <netdb.h>
		#include <pthread.h>
		#include <sched.h>
		#include <semaphore.h>
		#include <signal.h>
		#include <spawn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/socket.h>
		#include <sys/stat.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#include <wordexp.h>
		#define TRY(x) (errno = 0, printf("%s %d", #x, (int)(x)), printf(" %d\n", errno))
		extern char **environ;
		static int seen(const char *p, const struct stat *s, int t, struct FTW *f) { return 0; }
		static int child(void *arg) { return 9; }
		static char stack[65536];
		int main(int argc, char **argv)
		{
			struct dirent **list;
			char name[] = "tXXXXXX", dir[] = "dXXXXXX", *words[] = { "sh", "-c", "cat file; exit 3", 0 };
			posix_spawn_file_actions_t fa;
			struct addrinfo *res = 0;
			wordexp_t w;
			glob_t g;
			pid_t pid;
			int status;
			setvbuf(stdout, 0, _IONBF, 0);
			TRY(scandir("sub", &list, 0, alphasort));
			TRY(glob("sub/*", 0, 0, &g));
			TRY(g.gl_pathc);
			TRY(nftw("sub", seen, 4, 0));
			TRY(fclose(fopen("file", "r")));
			TRY(freopen("file", "r", stdin) != 0);
			TRY(tmpfile() != 0);
			TRY(mkstemp(name) >= 0);
			TRY(mkdtemp(dir) != 0);
			TRY(rename(name, "renamed"));
			TRY(remove(dir));
			TRY(chmod("renamed", 0600));
			TRY(unlink("renamed"));
			TRY(opendir("sub") != 0);
			TRY(shm_open(argv[1], O_RDWR | O_CREAT, 0600) >= 0);
			TRY(shm_unlink(argv[1]));
			TRY(sem_open(argv[1], O_CREAT, 0600, 1) != SEM_FAILED);
			TRY(sem_unlink(argv[1]));
			TRY(wordexp("sub/f*", &w, 0));
			TRY(w.we_wordc);
			TRY(system("cat file; exit 4"));
			TRY(pclose(popen("exit 5", "r")));
			posix_spawn_file_actions_init(&fa);
			posix_spawn_file_actions_addopen(&fa, 1, "spawned", O_WRONLY | O_CREAT, 0644);
			TRY(posix_spawnp(&pid, "sh", &fa, 0, words, environ));
			TRY(waitpid(pid, &status, 0) == pid);
			TRY(status);
			TRY(access("spawned", R_OK));
			pid = clone(child, stack + sizeof(stack), SIGCHLD, 0);
			TRY(waitpid(pid, &status, 0) == pid);
			TRY(status);
			if (!vfork())
				execl("/bin/sh", "sh", "-c", "exit 6", (char *)0);
			TRY(wait(&status) > 0);
			TRY(status);
			TRY(getaddrinfo("127.0.0.1", "80", 0, &res));
			TRY(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
			TRY(dlopen("./l.so", RTLD_NOW | RTLD_GLOBAL) != 0);
			int (*peek)(const char *) = dlsym(RTLD_DEFAULT, "peek");
			TRY(peek("file"));
			TRY(argc > 2 && peek(argv[2]));
			TRY(argc > 2 && open(argv[2], O_RDONLY) >= 0);
			return 0;
		}
	END
	musl-gcc -shared -fPIC -o l.so l.c && musl-gcc -w -o m m.c || fail "no compiler"
	mkdir sub && touch sub/f1 sub/f2
	./m /pale-t-$$ >"$S/bare"
	rm -f spawned
	if [ "$T_LEVEL" = hooks ]; then
		fence ./m /pale-t-$$
		rc_is 126
		err_has "is linked against musl: level hooks cannot fence it"
		fsh './m x'
		rc_is 126
		denied exec ./m "linked against musl"
		fsh "$(interpreter m)"' ./m x'
		rc_is 126
		denied exec /lib "outside the fence"
		return
	fi
	fsh './m "/pale-t-$1"' - $$
	diff "$S/bare" "$S/out" || fail "differs from bare"
	err_is_empty
	fsh '"$2" ./m "/pale-t-$1"' - $$ "$(interpreter m)"
	diff "$S/bare" "$S/out" || fail "differs from bare, by its loader"
	fsh './m "/pale-t-$1" ~/.ssh/id_rsa | tail -2' - $$
	out_is "$(printf 'argc > 2 && peek(argv[2]) 0 13\nargc > 2 && open(argv[2], O_RDONLY) >= 0 0 13')"
	denied read "$HOME/.ssh/id_rsa"
}

interpreter() {
	readelf -lW "$1" | sed -n 's/.*interpreter: \(.*\)\]/\1/p'
}

# --- libraries --------------------------------------------------------------------------------------

# libc goes by who calls: the program's own RUNPATH is the one that is searched.
t_dlopen_is_the_programs() {
	mkdir -p lib
	echo 'int n(void) { return 7; }' >l.c
	cat >d.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		int main(void)
		{
			void *l = dlopen("libpale-t.so", RTLD_NOW);
			printf("%s\n", l ? "found" : dlerror());
			l = dlopen("libnone.so", RTLD_NOW);
			printf("%s\n", l ? "found" : dlerror());
			l = dlopen(0, RTLD_NOW);
			printf("%d %d\n", l && dlsym(l, "main") == 0, dlmopen(LM_ID_BASE, "libpale-t.so", RTLD_NOW) != 0);
			return 0;
		}
	END
	gcc -shared -fPIC -o lib/libpale-t.so l.c && gcc -o d d.c -Wl,--enable-new-dtags,-rpath,"$W/lib" ||
		fail "does not compile"
	./d >"$S/bare"
	grep -qx found "$S/bare" || fail "bare does not find it"
	fence ./d
	diff "$S/bare" "$S/out" || fail "differs from bare"
}

t_deepbind_and_name_spaces() {
	cat >l.c <<-'END'
		#include <fcntl.h>
		#include <stdlib.h>
		#include <stdio.h>
		#include <string.h>
		int peek(const char *p) { return open(p, O_RDONLY) >= 0; }
	END
	cat >d.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		#include <string.h>
		int main(int argc, char **argv)
		{
			void *l = strcmp(argv[1], "deep") ? dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW) :
							    dlopen(argv[2], RTLD_NOW | RTLD_DEEPBIND);
			int (*peek)(const char *) = l ? (int (*)(const char *))dlsym(l, "peek") : 0;
			printf("%s\n", peek ? peek(argv[3]) ? "read" : "not read" : dlerror());
			return 0;
		}
	END
	gcc -shared -fPIC -o l.so l.c && gcc -o d d.c || fail "does not compile"
	fsh './d deep ./l.so ~/.ssh/id_rsa; ./d deep ./l.so file; ./d space ./l.so ~/.ssh/id_rsa; ./d space ./l.so file'
	denied read "$HOME/.ssh/id_rsa"
	if [ "$T_LEVEL" = hooks ]; then
		out_is \
			"$(printf 'not read\nread\n%s\n%s' 'invalid namespace: Invalid argument' 'invalid namespace: Invalid argument')"
		denied exec ./l.so "outside the fence"
	else
		out_is "$(printf 'not read\nread\nnot read\nread')"
	fi
}

scenario "$@"
