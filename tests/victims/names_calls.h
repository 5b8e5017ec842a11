/* The matrix of names.c: calls, and the paths and descriptors that each is tried with. */
#ifndef PALE_TESTS_NAMES_CALLS_H
#define PALE_TESTS_NAMES_CALLS_H

#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

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

/* What architectures younger than the *at() calls lack fails there with ENOSYS, bare and carried. */
#ifndef SYS_unlink
#define SYS_unlink    (-1)
#define SYS_rmdir     (-1)
#define SYS_rename    (-1)
#define SYS_link      (-1)
#define SYS_symlink   (-1)
#define SYS_mkdir     (-1)
#define SYS_mknod     (-1)
#define SYS_chmod     (-1)
#define SYS_chown     (-1)
#define SYS_lchown    (-1)
#define SYS_utime     (-1)
#define SYS_utimes    (-1)
#define SYS_futimesat (-1)
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

#endif
