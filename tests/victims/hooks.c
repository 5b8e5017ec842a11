/*
 * Performs one call of preload/hooks/hooks.def on a given place and prints what came of it:
 *
 *   hooks NAME DIR [DIR2]      the function NAME          ->  "NAME result errno"
 *   hooks NAME:w DIR           an open, for writing
 *   hooks syscall:NAME DIR     its twin through syscall()
 *   hooks --list               every row, with its operation
 *
 * DIR holds `file`, `dir` and `prog` (a copy of this program); `new` does not exist.  For the
 * network DIR is a port of the loopback, for names it is the name.  Each row has a function
 * call_NAME below: a row of the table without one does not compile.  errno holds a marker before
 * the call, so that a run under the fence can be compared with a bare one to the last digit.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <poll.h>
#include <resolv.h>
#include <sched.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>
#include <wordexp.h>

#include "tests/victims/rawcall.h"

#undef res_query
#undef res_search
#undef res_nquery
#undef res_nsearch
#undef res_querydomain
#undef res_nquerydomain
#undef res_send
#undef res_nsend

#define MARKER 77 /* no call here fails with EBADFD */
#define NONE   -1

/* Called as any program finds it: the first in the search order, ours or libc's. */
#define HOOK(name, ret, args, op, nr)                                                                        \
	typedef ret name##_type args;                                                                        \
	static name##_type *f_##name;
#include "preload/hooks/hooks.def"
#undef HOOK

static const char *dir_a, *dir_b;
static int for_writing;
static const char *label; /* the row as it was asked for */

static const char *in_dir(const char *dir, const char *leaf)
{
	static char buf[8][4352];
	static unsigned next;
	char *at = buf[next++ % 8];

	snprintf(at, sizeof(buf[0]), "%s/%s", dir, leaf);
	return at;
}

#define A(leaf) in_dir(dir_a, leaf)
#define B(leaf) in_dir(dir_b, leaf)

/* A directory descriptor that no hook has seen. */
static int fd_of(const char *dir)
{
	return (int)raw_call(SYS_openat, AT_FDCWD, (long)dir, O_PATH | O_DIRECTORY, 0, 0, 0);
}

static long of_fd(int fd)
{
	if (fd >= 0)
		raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return fd < 0 ? -1 : 0;
}

static long of_pointer(const void *p)
{
	return p ? 0 : -1;
}

static int flags_of(void)
{
	return for_writing ? O_WRONLY | O_CREAT : O_RDONLY;
}

static const char *leaf_of(void)
{
	return for_writing ? "new" : "file";
}

#include "tests/victims/hooks_file.h"
#include "tests/victims/hooks_exec.h"
#include "tests/victims/hooks_meta.h"
#include "tests/victims/hooks_net.h"
#include "tests/victims/hooks_res.h"
#include "tests/victims/hooks_walk.h"

static long call_syscall(void)
{
	return f_syscall(SYS_openat, AT_FDCWD, A("file"), O_RDONLY, 0);
}

struct row {
	const char *name, *op;
	long (*call)(void);
	void **slot;
	long nr;
};

static const struct row rows[] = {
#define HOOK(name, ret, args, op, nr) { #name, #op, call_##name, (void **)&f_##name, nr },
#include "preload/hooks/hooks.def"
#undef HOOK
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static long twin_nr;

/* Takes the place of a function: its arguments are the system call's own. */
static long twin(long a, long b, long c, long d, long e, long f)
{
	return f_syscall(twin_nr, a, b, c, d, e, f);
}

static int is_one_of(const char *name, const char *const *names)
{
	while (*names && !strstr(name, *names))
		names++;
	return *names != NULL;
}

/* Where these act is not the caller's to say: hooks/inner.sh. */
static int has_own_place(const char *name)
{
	static const char *const names[] = { "tmpfile", "shm_", "sem_", "ruserpass", NULL };

	return is_one_of(name, names);
}

static int only_lists(const char *name)
{
	static const char *const names[] = { "dir", "glob", "ftw", "fts", NULL };

	return is_one_of(name, names);
}

static void list(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		/* What is never allowed has no allowed place: hooks/inner.sh and escapes/tried.sh have these.
		 */
		if (strcmp(rows[i].op, "OP_NONE") == 0 && rows[i].nr == NONE &&
		    strcmp(rows[i].name, "syscall") != 0)
			continue;
		if (has_own_place(rows[i].name))
			continue;
		printf("%s %s\n", rows[i].name, rows[i].op);
		if (strcmp(rows[i].op, "OP_READ") == 0 && !only_lists(rows[i].name))
			printf("%s:w OP_WRITE\n", rows[i].name);
		if (rows[i].nr != NONE)
			printf("syscall:%s %s\n", rows[i].name, rows[i].op);
	}
}

static const struct row *find(const char *name, size_t len)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == len && strncmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

static int run(void)
{
	const char *name = strncmp(label, "syscall:", 8) == 0 ? label + 8 : label;
	const struct row *row = find(name, strcspn(name, ":"));
	long r;
	int e;

	if (!row)
		return 2;
	for_writing = strchr(name, ':') != NULL;
	if (!*row->slot && row->nr == NONE) {
		printf("%s absent\n", label);
		return 0;
	}
	/* What this libc has no function for is its system call. */
	if (name != label || !*row->slot) {
		twin_nr = row->nr;
		*row->slot = (void *)twin;
	}
	errno = MARKER;
	r = row->call();
	e = errno;
	printf("%s %ld %d\n", label, r, e);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "ran") == 0) {
		printf("%s 0 %d\n", argv[2], MARKER);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	if (argc < 3)
		return 2;
	for (size_t i = 0; i < ROWS; i++)
		*rows[i].slot = dlsym(RTLD_DEFAULT, rows[i].name);
	dir_a = argv[2];
	dir_b = argc > 3 ? argv[3] : argv[2];
	label = argv[1];
	setvbuf(stdout, NULL, _IONBF, 0);
	return run();
}
