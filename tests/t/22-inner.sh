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
	gcc -w -o walk walk.c || skip "no compiler"
	mkdir -p tree/a/b "tree/c d" && touch tree/a/f1 tree/a/b/f2 tree/.hidden && ln -s a tree/link && ln -s nowhere tree/gone
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
	for how in 'tree/*' 'tree/*/f?' 'tree/{a,c*}/*' 'tree/.*' 'tr*/a/../*' '/none/*' 'tree/gone*' '~/work/tr*/*' "$W/tree/[a-z]*"; do
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
	fsh './walk glob "$HOME/.ssh/*"; ./walk glob "$HOME/.ss?/*"; ./walk fts ~/.ssh; ./walk fts ~; ./walk nftw ~/.ssh; ./walk ftw ~/.ssh'
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
			printf("%o %d %d\n", st.st_mode, (int)st.st_nlink, fcntl(fileno(f), F_GETFL) & ~O_TMPFILE);
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
	gcc -w -o shared shared.c || skip "no compiler"
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
	for call in fsopen fsconfig fspick mount_setattr open_by_handle_at acct swapon swapoff quotactl unshare clone __clone; do
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
	gcc -shared -fPIC -o lib/libpale-t.so l.c && gcc -o d d.c -Wl,--enable-new-dtags,-rpath,"$W/lib" || skip "no compiler"
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
	gcc -shared -fPIC -o l.so l.c && gcc -o d d.c || skip "no compiler"
	fsh './d deep ./l.so ~/.ssh/id_rsa; ./d deep ./l.so file; ./d space ./l.so ~/.ssh/id_rsa; ./d space ./l.so file'
	denied read "$HOME/.ssh/id_rsa"
	if [ "$T_LEVEL" = hooks ]; then
		out_is "$(printf 'not read\nread\n%s\n%s' 'invalid namespace: Invalid argument' 'invalid namespace: Invalid argument')"
		denied exec ./l.so "outside the fence"
	else
		out_is "$(printf 'not read\nread\nnot read\nread')"
	fi
}

scenario "$@"
