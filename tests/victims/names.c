/*
 * What is done to names and attributes, without libc: the same matrix of calls, to be run bare and
 * carried, whose lines must be the same.
 *
 *	names matrix N DIR   each N-th case of each call with each path, in a directory of its own below
 *	                     DIR; a line each: the call, its result, and what the directory looks like then
 *	names outside DIR    each call once on what stands in DIR, absolutely and through a link
 *	names descriptors DIR   the same by descriptors that were not opened for writing
 *	names pair N DIR     N times mknod and unlink in DIR
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/victims/raw.h"

#define NELEM(a)	 (sizeof(a) / sizeof((a)[0]))
#define NR_fchmodat2	 452
#define NR_setxattrat	 463
#define NR_removexattrat 466
#define NR_file_setattr	 469

/* --- calls -------------------------------------------------------------------------------------- */

/* Descriptors of the fixture, at numbers that nothing else has. */
enum { FD_DIR = 40, FD_DIR_PATH, FD_READ, FD_WRITE, FD_PATH, FD_LINK, FD_TMP, FD_GONE, FD_PIPE, FD_NONE };

enum kind { NUM, TEXT, PATH1, PATH2 };
struct arg {
	enum kind kind;
	long num;
	const void *text;
};

#define N(n)                                                                                                 \
	{                                                                                                    \
		NUM, (long)(n), NULL                                                                         \
	}
#define T(t)                                                                                                 \
	{                                                                                                    \
		TEXT, 0, t                                                                                   \
	}
#define P                                                                                                    \
	{                                                                                                    \
		PATH1, 0, NULL                                                                               \
	}
#define Q                                                                                                    \
	{                                                                                                    \
		PATH2, 0, NULL                                                                               \
	}
#define CWD N(AT_FDCWD)

struct call {
	const char *name;
	long nr;
	struct arg arg[6];
};

static const long seconds[2] = { 100000000, 200000000 };
static const long micro[4] = { 100000001, 5, 200000001, 7 };
static const long micro_bad[4] = { 1, 1000000, 2, 0 };
static const long nano[4] = { 100000002, 5, 200000002, 7 };
static const long nano_bad[4] = { 1, 1000000000, 2, 0 };
static const long nano_omit[4] = { 0, UTIME_OMIT, 0, UTIME_OMIT };
static const long nano_half[4] = { 0, UTIME_OMIT, 200000003, 9 };
static const long nano_now[4] = { 0, UTIME_NOW, 0, UTIME_OMIT };
static const struct {
	uint64_t value;
	uint32_t size, flags;
} xargs = { 0, 0, 0 };
static const uint64_t xargs_long[3] = { 0, 0, 1 };
static const struct {
	uint64_t xflags;
	uint32_t rest[4];
} fattr;

/* With the flag that ext4 gives each file: without it the file system would move its blocks. */
static const int flags_plain = FS_EXTENT_FL, flags_nodump = FS_EXTENT_FL | FS_NODUMP_FL;

#ifndef __NR_unlink
#error "the old calls are part of the matrix: x86-64 only"
#endif

static const struct call entry_calls[] = {
	{ "unlink", SYS_unlink, { P } },
	{ "unlinkat", SYS_unlinkat, { CWD, P, N(0) } },
	{ "unlinkat dir", SYS_unlinkat, { N(FD_DIR), P, N(0) } },
	{ "unlinkat none", SYS_unlinkat, { N(FD_NONE), P, N(0) } },
	{ "unlinkat rmdir", SYS_unlinkat, { CWD, P, N(AT_REMOVEDIR) } },
	{ "unlinkat dir rmdir", SYS_unlinkat, { N(FD_DIR_PATH), P, N(AT_REMOVEDIR) } },
	{ "unlinkat flags", SYS_unlinkat, { CWD, P, N(0x1000) } },
	{ "rmdir", SYS_rmdir, { P } },
	{ "mkdir", SYS_mkdir, { P, N(0777) } },
	{ "mkdir bits", SYS_mkdir, { P, N(07751) } },
	{ "mkdirat file", SYS_mkdirat, { N(FD_READ), P, N(0755) } },
	{ "mkdirat dir", SYS_mkdirat, { N(FD_DIR_PATH), P, N(0755) } },
	{ "mknod reg", SYS_mknod, { P, N(S_IFREG | 0666), N(0) } },
	{ "mknod 0", SYS_mknod, { P, N(0604), N(0) } },
	{ "mknod fifo", SYS_mknod, { P, N(S_IFIFO | 0666), N(0) } },
	{ "mknod sock", SYS_mknodat, { CWD, P, N(S_IFSOCK | 0666), N(0) } },
	{ "mknod dir", SYS_mknod, { P, N(S_IFDIR | 0666), N(0) } },
	{ "mknod link", SYS_mknod, { P, N(S_IFLNK | 0666), N(0) } },
	{ "mknod chr", SYS_mknod, { P, N(S_IFCHR | 0666), N(0x103) } },
	{ "mknodat dir", SYS_mknodat, { N(FD_DIR), P, N(S_IFREG | 0666), N(0) } },
	{ "symlink", SYS_symlink, { T("target"), P } },
	{ "symlink empty", SYS_symlink, { T(""), P } },
	{ "symlink null", SYS_symlink, { N(0), P } },
	{ "symlinkat dir", SYS_symlinkat, { T("t"), N(FD_DIR), P } },
};

static const struct call attr_calls[] = {
	{ "truncate 2", SYS_truncate, { P, N(2) } },
	{ "truncate 100", SYS_truncate, { P, N(100) } },
	{ "truncate -1", SYS_truncate, { P, N(-1) } },
	{ "chmod", SYS_chmod, { P, N(0711) } },
	{ "chmod bits", SYS_chmod, { P, N(0106755) } },
	{ "fchmodat dir", SYS_fchmodat, { N(FD_DIR), P, N(0711) } },
	{ "fchmodat2", NR_fchmodat2, { CWD, P, N(0711), N(0) } },
	{ "fchmodat2 nofollow", NR_fchmodat2, { CWD, P, N(0711), N(AT_SYMLINK_NOFOLLOW) } },
	{ "fchmodat2 empty", NR_fchmodat2, { N(FD_READ), P, N(0711), N(AT_EMPTY_PATH) } },
	{ "fchmodat2 flags", NR_fchmodat2, { CWD, P, N(0711), N(0x10) } },
	{ "chown", SYS_chown, { P, N(-1), N(-1) } },
	{ "chown other", SYS_chown, { P, N(12345), N(-1) } },
	{ "lchown", SYS_lchown, { P, N(-1), N(-1) } },
	{ "fchownat", SYS_fchownat, { N(FD_DIR), P, N(-1), N(-1), N(0) } },
	{ "fchownat empty", SYS_fchownat, { N(FD_PATH), P, N(-1), N(-1), N(AT_EMPTY_PATH) } },
	{ "fchownat flags", SYS_fchownat, { CWD, P, N(-1), N(-1), N(0x20) } },
	{ "utime", SYS_utime, { P, T(seconds) } },
	{ "utime null", SYS_utime, { P, N(0) } },
	{ "utime fault", SYS_utime, { P, N(8) } },
	{ "utimes", SYS_utimes, { P, T(micro) } },
	{ "utimes bad", SYS_utimes, { P, T(micro_bad) } },
	{ "futimesat", SYS_futimesat, { N(FD_DIR), P, T(micro) } },
	{ "utimensat", SYS_utimensat, { CWD, P, T(nano), N(0) } },
	{ "utimensat nofollow", SYS_utimensat, { CWD, P, T(nano), N(AT_SYMLINK_NOFOLLOW) } },
	{ "utimensat empty", SYS_utimensat, { N(FD_PATH), P, T(nano), N(AT_EMPTY_PATH) } },
	{ "utimensat bad", SYS_utimensat, { CWD, P, T(nano_bad), N(0) } },
	{ "utimensat omit", SYS_utimensat, { CWD, P, T(nano_omit), N(0) } },
	{ "utimensat half", SYS_utimensat, { CWD, P, T(nano_half), N(0) } },
	{ "utimensat now", SYS_utimensat, { CWD, P, T(nano_now), N(0) } },
	{ "utimensat flags", SYS_utimensat, { CWD, P, T(nano), N(0x2000) } },
	{ "setxattr", SYS_setxattr, { P, T("user.a"), T("value"), N(5), N(0) } },
	{ "setxattr none", SYS_setxattr, { P, T("user.a"), N(0), N(0), N(0) } },
	{ "setxattr create", SYS_setxattr, { P, T("user.x"), T("v"), N(1), N(XATTR_CREATE) } },
	{ "setxattr replace", SYS_setxattr, { P, T("user.a"), T("v"), N(1), N(XATTR_REPLACE) } },
	{ "setxattr flags", SYS_setxattr, { P, T("user.a"), T("v"), N(1), N(8) } },
	{ "setxattr name", SYS_setxattr, { P, T(""), T("v"), N(1), N(0) } },
	{ "setxattr big", SYS_setxattr, { P, T("user.a"), T("v"), N(65537), N(0) } },
	{ "setxattr fault", SYS_setxattr, { P, T("user.a"), N(8), N(5), N(0) } },
	{ "setxattr trusted", SYS_setxattr, { P, T("trusted.a"), T("v"), N(1), N(0) } },
	{ "setxattr unknown", SYS_setxattr, { P, T("nonsense"), T("v"), N(1), N(0) } },
	{ "lsetxattr", SYS_lsetxattr, { P, T("user.a"), T("value"), N(5), N(0) } },
	{ "removexattr", SYS_removexattr, { P, T("user.x") } },
	{ "lremovexattr", SYS_lremovexattr, { P, T("user.x") } },
	{ "setxattrat", NR_setxattrat, { CWD, P, N(0), T("user.b"), T(&xargs), N(16) } },
	{ "setxattrat short", NR_setxattrat, { CWD, P, N(0), T("user.b"), T(&xargs), N(8) } },
	{ "setxattrat long", NR_setxattrat, { CWD, P, N(0), T("user.b"), T(xargs_long), N(24) } },
	{ "setxattrat huge", NR_setxattrat, { CWD, P, N(0), T("user.b"), T(&xargs), N(5000) } },
	{ "setxattrat empty",
	  NR_setxattrat,
	  { N(FD_READ), P, N(AT_EMPTY_PATH), T("user.b"), T(&xargs), N(16) } },
	{ "removexattrat", NR_removexattrat, { N(FD_DIR), P, N(AT_SYMLINK_NOFOLLOW), T("user.x") } },
	{ "file_setattr", NR_file_setattr, { CWD, P, T(&fattr), N(24), N(0) } },
	{ "file_setattr short", NR_file_setattr, { CWD, P, T(&fattr), N(20), N(0) } },
	{ "file_setattr empty", NR_file_setattr, { N(FD_READ), P, T(&fattr), N(24), N(AT_EMPTY_PATH) } },
};

/* Descriptors stand in for P here. */
static const struct call fd_calls[] = {
	{ "fchmod", SYS_fchmod, { P, N(0711) } },
	{ "fchmodat2 fd", NR_fchmodat2, { P, T(""), N(0711), N(AT_EMPTY_PATH) } },
	{ "fchmodat2 fd null", NR_fchmodat2, { P, N(0), N(0711), N(AT_EMPTY_PATH) } },
	{ "fchmodat2 fd flags", NR_fchmodat2, { P, T(""), N(0711), N(0) } },
	{ "fchown", SYS_fchown, { P, N(-1), N(-1) } },
	{ "fchownat fd", SYS_fchownat, { P, T(""), N(-1), N(-1), N(AT_EMPTY_PATH) } },
	{ "futimens", SYS_utimensat, { P, N(0), T(nano), N(0) } },
	{ "futimens flags", SYS_utimensat, { P, N(0), T(nano), N(AT_SYMLINK_NOFOLLOW) } },
	{ "futimens empty", SYS_utimensat, { P, T(""), T(nano), N(AT_EMPTY_PATH) } },
	{ "futimens omit", SYS_utimensat, { P, N(0), T(nano_omit), N(0) } },
	{ "futimes", SYS_futimesat, { P, N(0), T(micro) } },
	{ "fsetxattr", SYS_fsetxattr, { P, T("user.a"), T("value"), N(5), N(0) } },
	{ "fremovexattr", SYS_fremovexattr, { P, T("user.x") } },
	{ "setxattrat fd", NR_setxattrat, { P, T(""), N(AT_EMPTY_PATH), T("user.b"), T(&xargs), N(16) } },
	{ "setxattrat fd null", NR_setxattrat, { P, N(0), N(AT_EMPTY_PATH), T("user.b"), T(&xargs), N(16) } },
	{ "removexattrat fd", NR_removexattrat, { P, T(""), N(AT_EMPTY_PATH), T("user.x") } },
	{ "file_setattr fd", NR_file_setattr, { P, T(""), T(&fattr), N(24), N(AT_EMPTY_PATH) } },
	{ "setflags", SYS_ioctl, { P, N(FS_IOC_SETFLAGS), T(&flags_plain) } },
	{ "setflags nodump", SYS_ioctl, { P, N(FS_IOC_SETFLAGS), T(&flags_nodump) } },
	{ "setflags fault", SYS_ioctl, { P, N(FS_IOC_SETFLAGS), N(8) } },
	{ "fssetxattr", SYS_ioctl, { P, N(FS_IOC_FSSETXATTR), T(&fattr) } },
	{ "unlinkat fd", SYS_unlinkat, { P, T("x"), N(0) } },
	{ "linkat fd follow", SYS_linkat, { P, T("x"), CWD, T("new"), N(AT_SYMLINK_FOLLOW) } },
};

static const struct call two_calls[] = {
	{ "rename", SYS_rename, { P, Q } },
	{ "renameat dir", SYS_renameat, { N(FD_DIR), P, CWD, Q } },
	{ "rename noreplace", SYS_renameat2, { CWD, P, CWD, Q, N(RENAME_NOREPLACE) } },
	{ "rename exchange", SYS_renameat2, { CWD, P, CWD, Q, N(RENAME_EXCHANGE) } },
	{ "rename whiteout", SYS_renameat2, { CWD, P, CWD, Q, N(RENAME_WHITEOUT) } },
	{ "rename both", SYS_renameat2, { CWD, P, CWD, Q, N(RENAME_EXCHANGE | RENAME_NOREPLACE) } },
	{ "rename flags", SYS_renameat2, { CWD, P, CWD, Q, N(0x80) } },
	{ "link", SYS_link, { P, Q } },
	{ "linkat dir", SYS_linkat, { CWD, P, N(FD_DIR), Q, N(0) } },
	{ "linkat follow", SYS_linkat, { CWD, P, CWD, Q, N(AT_SYMLINK_FOLLOW) } },
	{ "linkat flags", SYS_linkat, { CWD, P, CWD, Q, N(AT_SYMLINK_NOFOLLOW) } },
};

/* O_TMPFILE is published by its magic link (open(2)). */
static const struct call publish_calls[] = {
	{ "publish", SYS_linkat, { CWD, T("/proc/self/fd/46"), CWD, P, N(AT_SYMLINK_FOLLOW) } },
	{ "publish gone", SYS_linkat, { CWD, T("/proc/self/fd/47"), CWD, P, N(AT_SYMLINK_FOLLOW) } },
	{ "publish open", SYS_linkat, { CWD, T("/proc/self/fd/42"), CWD, P, N(AT_SYMLINK_FOLLOW) } },
};

/* --- paths -------------------------------------------------------------------------------------- */

static char name_256[257], name_255[256], path_4096[4097];

static const char *const paths[] = {
	"f",
	"f/",
	"f/.",
	"l",
	"l/",
	"dang",
	"dang/",
	"dang/x",
	"loop",
	"loop/x",
	"d",
	"d/",
	"d//",
	"d/.",
	"d/..",
	"d/x",
	"d/./x",
	"d/../f",
	"d/x/",
	"..",
	".",
	"./",
	"./f",
	"",
	"e",
	"e/",
	"e/..",
	"ld",
	"ld/",
	"ld/x",
	"ld/.",
	"ld/../f",
	"nope",
	"nope/",
	"nope/x",
	"nope/..",
	"f/x",
	"f/..",
	"ro/f",
	"ro/new",
	"shut/x",
	"fifo",
	"sg/new",
	"x",
	"y/",
	"../case/f",
	name_255,
	name_256,
	path_4096,
	"/proc/self/cwd/f",
	"/proc/self/cwd/new",
	"/proc/thread-self/cwd/d/x",
	"/proc/self/fd/40/x",
	NULL,
};

/* For calls that follow: the links themselves are procfs's, which nobody may change. */
static const char *const magic[] = {
	"/proc/self/fd/42", "/proc/self/fd/43",	 "/proc/self/fd/44", "/proc/self/fd/45",
	"/proc/self/fd/46", "/proc/self/fd/47",	 "/proc/self/fd/48", "/proc/self/fd/49",
	"/dev/fd/42",	    "/proc/self/fd/42/", "/proc/self/exe/x",
};

static const char *const firsts[] = {
	"f",   "f/", "l",    "l/",     "dang", "loop", "d", "d/",   "d/.",  "e", "e/", "ld",
	"ld/", "..", "nope", "nope/x", "f/x",  "d/x",  "x", "ro/f", "fifo", "h", "",   NULL,
};

static const char *const seconds_of[] = {
	"f", "h", "l", "new", "new/", "d", "d/", "d/y", "e", "e/", "e/z", ".", "nope/x", "ro/f", "ro/new", "",
};

static const long descriptors[] = { FD_DIR, FD_DIR_PATH, FD_READ, FD_WRITE, FD_PATH, FD_LINK,
				    FD_TMP, FD_GONE,	 FD_PIPE, FD_NONE,  -1 };

/* --- the fixture -------------------------------------------------------------------------------- */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "names: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

static void open_as(int number, const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	must(fd >= 0 && dup2(fd, number) == number, path);
	close(fd);
}

static void make_files(void)
{
	must(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0 && mkdir("ro", 0755) == 0, "mkdir");
	must(mkdir("shut", 0755) == 0 && mkdir("sg", 0755) == 0, "mkdir");
	put("f", "hello", 0644);
	put("gone", "gone", 0644);
	put("d/x", "below", 0600);
	put("ro/f", "read only", 0644);
	put("shut/x", "shut", 0644);
	must(link("f", "h") == 0, "link");
	must(symlink("f", "l") == 0 && symlink("d", "ld") == 0, "symlink");
	must(symlink("nowhere", "dang") == 0 && symlink("loop", "loop") == 0, "symlink");
	must(mkfifo("fifo", 0644) == 0, "mkfifo");
	(void)setxattr("f", "user.x", "there", 5, 0);
	(void)setxattr("d/x", "user.x", "there", 5, 0);
}

static void open_files(void)
{
	int pipes[2];

	open_as(FD_DIR, "d", O_RDONLY | O_DIRECTORY);
	open_as(FD_DIR_PATH, "d", O_PATH | O_DIRECTORY);
	open_as(FD_READ, "f", O_RDONLY);
	open_as(FD_WRITE, "f", O_RDWR);
	open_as(FD_PATH, "f", O_PATH);
	open_as(FD_LINK, "l", O_PATH | O_NOFOLLOW);
	open_as(FD_TMP, ".", O_TMPFILE | O_RDWR);
	open_as(FD_GONE, "gone", O_RDONLY);
	must(unlink("gone") == 0, "unlink");
	must(pipe(pipes) == 0 && dup2(pipes[0], FD_PIPE) == FD_PIPE, "pipe");
	close(pipes[0]);
	close(pipes[1]);
	must(chmod("ro", 0555) == 0 && chmod("shut", 0) == 0 && chmod("sg", 02775) == 0, "chmod");
}

/* Makes a directory of the name `case` and stands in it. */
static void begin(void)
{
	umask(0);
	must(mkdir("case", 0755) == 0 && chdir("case") == 0, "case");
	make_files();
	open_files();
	umask(027);
}

/* --- what it looks like ------------------------------------------------------------------------- */

/* Only what the calls set is told of the times. */
static void show_times(const struct stat *st)
{
	if (st->st_atim.tv_sec < 1000000000)
		printf(" a%ld.%ld", (long)st->st_atim.tv_sec, st->st_atim.tv_nsec);
	if (st->st_mtim.tv_sec < 1000000000)
		printf(" m%ld.%ld", (long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

static void show_attrs(const char *path)
{
	static const char *const names[] = { "user.a", "user.b", "user.x" };
	char value[64];

	for (size_t i = 0; i < NELEM(names); i++) {
		ssize_t n = lgetxattr(path, names[i], value, sizeof(value));

		if (n >= 0)
			printf(" %s=%.*s", names[i], (int)n, value);
	}
}

static void show(const char *dir);

static void show_one(const char *dir, const char *name)
{
	char path[PATH_MAX], text[PATH_MAX];
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (lstat(path, &st) < 0)
		return;
	printf("; %.20s %o %u", path + 2, st.st_mode, (unsigned)st.st_nlink);
	if (S_ISREG(st.st_mode))
		printf(" %ld", (long)st.st_size);
	n = S_ISLNK(st.st_mode) ? readlink(path, text, sizeof(text)) : 0;
	printf(n > 0 ? " -> %.*s" : "%.*s", (int)n, text);
	show_times(&st);
	show_attrs(path);
	if (S_ISDIR(st.st_mode) && strcmp(name, ".") != 0)
		show(path);
}

static void show(const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, "..") != 0 &&
		    (strcmp(dir, ".") == 0 || strcmp(list[i]->d_name, ".") != 0))
			show_one(dir, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void remove_tree(const char *dir)
{
	struct dirent **list;
	char path[PATH_MAX];
	int n;

	(void)chmod(dir, 0700);
	n = scandir(dir, &list, NULL, NULL);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		if (strcmp(list[i]->d_name, ".") != 0 && strcmp(list[i]->d_name, "..") != 0 &&
		    unlink(path) < 0)
			remove_tree(path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	must(rmdir(dir) == 0, dir);
}

/* --- the matrix --------------------------------------------------------------------------------- */

static const char *where;
static long step; /* only every so many-th case is performed */

static long value_of(const struct arg *a, long p, long q)
{
	switch (a->kind) {
	case NUM:
		return a->num;
	case TEXT:
		return (long)a->text;
	case PATH1:
		return p;
	case PATH2:
		return q;
	}
	return 0;
}

static long perform(const struct call *c, long p, long q)
{
	long v[6];

	for (int i = 0; i < 6; i++)
		v[i] = value_of(&c->arg[i], p, q);
	return raw_call(c->nr, v[0], v[1], v[2], v[3], v[4], v[5]);
}

static void one(const struct call *c, long p, long q, const char *told)
{
	static long count;
	long r;

	if (count++ % step != 0)
		return;
	must(chdir(where) == 0, where);
	begin();
	r = perform(c, p, q);
	printf("%s %s: %ld %s", c->name, told, r, r < 0 ? strerrorname_np((int)-r) : "");
	(void)chdir(where);
	if (chdir("case") == 0)
		show(".");
	putchar('\n');
	must(chdir(where) == 0, where);
	remove_tree("case");
}

static const char *name_of(const char *path)
{
	static char text[80];

	snprintf(text, sizeof(text), "%.40s", path ? *path ? path : "\"\"" : "NULL");
	return text;
}

static void with_paths(const struct call *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < NELEM(paths); k++)
			one(&list[i], (long)paths[k], 0, name_of(paths[k]));
}

static bool is_following(const struct call *c)
{
	return c->name[0] != 'l' && !strstr(c->name, "nofollow") && c->nr != NR_removexattrat;
}

static void with_magic(const struct call *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < NELEM(magic) && is_following(&list[i]); k++)
			one(&list[i], (long)magic[k], 0, name_of(magic[k]));
}

static void with_descriptors(void)
{
	char told[32];

	for (size_t i = 0; i < NELEM(fd_calls); i++)
		for (size_t k = 0; k < NELEM(descriptors); k++) {
			snprintf(told, sizeof(told), "fd%ld", descriptors[k]);
			one(&fd_calls[i], descriptors[k], 0, told);
		}
}

static void with_two(void)
{
	char told[128];

	for (size_t i = 0; i < NELEM(two_calls); i++)
		for (size_t k = 0; k < NELEM(firsts); k++)
			for (size_t m = 0; m < NELEM(seconds_of); m++) {
				snprintf(told, sizeof(told), "%s -> %s", name_of(firsts[k]),
					 *seconds_of[m] ? seconds_of[m] : "\"\"");
				one(&two_calls[i], (long)firsts[k], (long)seconds_of[m], told);
			}
}

static int matrix(long every, const char *dir)
{
	where = dir;
	step = every > 0 ? every : 1;
	memset(name_256, 'n', 256);
	memset(name_255, 'n', 255);
	memset(path_4096, '/', 4096);
	path_4096[4095] = 'f';
	with_paths(entry_calls, NELEM(entry_calls));
	with_paths(attr_calls, NELEM(attr_calls));
	with_magic(attr_calls, NELEM(attr_calls));
	with_paths(publish_calls, NELEM(publish_calls));
	with_descriptors();
	with_two();
	return 0;
}

/* --- outside ------------------------------------------------------------------------------------ */

/* Every call on DIR/file, or on DIR/new where it makes something, which a policy is to deny. */
static int outside(const char *dir)
{
	static const struct call *const lists[] = { entry_calls, attr_calls, two_calls };
	static const size_t counts[] = { NELEM(entry_calls), NELEM(attr_calls), NELEM(two_calls) };
	static const char *const tails[] = { "file", "new", "dir", "dir/", "link" };
	char far[PATH_MAX];

	put("inside", "mine", 0644);
	for (size_t l = 0; l < NELEM(lists); l++)
		for (size_t i = 0; i < counts[l]; i++)
			for (size_t t = 0; t < NELEM(tails); t++) {
				snprintf(far, sizeof(far), "%s/%s", dir, tails[t]);
				printf("%s %s: %ld\n", lists[l][i].name, tails[t],
				       perform(&lists[l][i], (long)far, (long)"inside"));
				if (lists[l] == two_calls)
					printf("%s to %s: %ld\n", lists[l][i].name, tails[t],
					       perform(&lists[l][i], (long)"inside", (long)far));
			}
	return 0;
}

/* Descriptors that were opened for reading, or for nothing, give no right to change. */
static int outside_fds(const char *dir)
{
	char far[PATH_MAX];

	snprintf(far, sizeof(far), "%s/file", dir);
	open_as(FD_READ, far, O_RDONLY);
	open_as(FD_PATH, far, O_PATH);
	open_as(FD_DIR, dir, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < NELEM(fd_calls); i++)
		for (long fd = FD_DIR; fd <= FD_PATH; fd++)
			if (fd != FD_DIR_PATH && fd != FD_WRITE)
				printf("%s fd%ld: %ld\n", fd_calls[i].name, fd, perform(&fd_calls[i], fd, 0));
	return 0;
}

/* --- speed -------------------------------------------------------------------------------------- */

static int pairs(long n, const char *dir)
{
	must(chdir(dir) == 0, dir);
	for (long i = 0; i < n; i++) {
		must(raw_call(SYS_mknod, (long)"pair", S_IFREG | 0644, 0, 0, 0, 0) == 0, "mknod");
		must(raw_call(SYS_unlink, (long)"pair", 0, 0, 0, 0, 0) == 0, "unlink");
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "matrix") == 0)
		return matrix(atol(argv[2]), argv[3]);
	if (argc == 3 && strcmp(argv[1], "outside") == 0)
		return outside(argv[2]);
	if (argc == 3 && strcmp(argv[1], "descriptors") == 0)
		return outside_fds(argv[2]);
	if (argc == 4 && strcmp(argv[1], "pair") == 0)
		return pairs(atol(argv[2]), argv[3]);
	fprintf(stderr, "usage: names outside|descriptors DIR | matrix|pair N DIR\n");
	return 2;
}
