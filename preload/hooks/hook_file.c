/*
 * The open family, stdio's opens and opendir.  There is no policy here: each hook implements libc's
 * interface on top of check_open().
 */
#include <stdarg.h>

#include "policy/base/fileop.h"

#include "preload/judge/check.h"
#include "preload/judge/check_open.h"
#include "preload/process/cancel.h"
#include "preload/process/gate.h"
#include "preload/process/memory.h"
#include "preload/process/real.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "hooks.h"
#include "late.h"

/* The mode argument exists only if a file may be created.  O_TMPFILE contains O_DIRECTORY, so all of its
 * bits must be compared. */
static unsigned mode_argument(int flags, va_list ap)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, unsigned) : 0;
}

static int open_result(int dirfd, const char *path, int flags, unsigned mode)
{
	return (int)libc_result(check_open(dirfd, path, flags, mode));
}

int open(const char *path, int flags, ...)
{
	unsigned mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_argument(flags, ap);
	va_end(ap);
	return open_result(AT_FDCWD, path, flags, mode);
}

int openat(int dirfd, const char *path, int flags, ...)
{
	unsigned mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_argument(flags, ap);
	va_end(ap);
	return open_result(dirfd, path, flags, mode);
}

/* They are the same on 64-bit systems. */
SAME_HOOK(open64, open);
SAME_HOOK(__open, open);
SAME_HOOK(__open64, open);
SAME_HOOK(openat64, openat);

/* Programs built with _FORTIFY_SOURCE import these. */
int __open_2(const char *path, int flags)
{
	return open_result(AT_FDCWD, path, flags, 0);
}

int __openat_2(int dirfd, const char *path, int flags)
{
	return open_result(dirfd, path, flags, 0);
}

SAME_HOOK(__open64_2, __open_2);
SAME_HOOK(__openat64_2, __openat_2);

/*
 * openat2 with the caller's own resolve flags: judged, then passed to the kernel unchanged, because its
 * flags already say how the walk must end.  glibc has a wrapper since 2.43; before that it is called by
 * syscall().
 */
int openat2(int dirfd, const char *path, const struct open_how *how, size_t size)
{
	struct open_how copy, look = { .flags = O_PATH | O_CLOEXEC };
	unsigned access;
	long r;

	if (!judging() || !path || !how || size < sizeof copy)
		return (int)libc_result(raw4(SYS_openat2, dirfd, path, how, size));
	if (!memory_has(how, sizeof copy) || !memory_has_path(path))
		return fail(-EFAULT);
	/* An empty path is looked at last: any other error is about the structure. */
	r = raw4(SYS_openat2, AT_FDCWD, "", how, size);
	if (r != -ENOENT)
		return fail((int)r);
	memcpy(&copy, how, sizeof copy);
	if (copy.resolve == 0 && size == sizeof copy && copy.flags <= INT32_MAX)
		return open_result(dirfd, path, (int)copy.flags, (unsigned)copy.mode);
	if (copy.flags & O_PATH) {
		/* Before ABI 3 of Landlock the gate has no openat2 (filter.c). */
		r = gate4(SYS_openat2, dirfd, path, how, size);
		return (int)libc_result(r == -ENOSYS ? raw4(SYS_openat2, dirfd, path, how, size) : r);
	}
	access = open_access((int)copy.flags);
	look.resolve = copy.resolve;
	/* With RESOLVE_IN_ROOT "/" means dirfd: it is judged so. */
	while (copy.resolve & RESOLVE_IN_ROOT && *path == '/')
		path++;
	path = *path ? path : ".";
	/* What leaves the constraint is refused for that, before any permission. */
	r = gate_openat2(dirfd, path, &look);
	if (r >= 0)
		sys_close((int)r);
	if (r == -EXDEV || r == -ELOOP)
		return fail((int)r);
	r = check_only(open_op(access), access, dirfd, path, RESOLVE_FOLLOW_LAST);
	if (r < 0)
		return fail((int)r);
	return (int)libc_result(raw4(SYS_openat2, dirfd, path, &copy, sizeof copy));
}

int creat(const char *path, mode_t mode)
{
	return open_result(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

SAME_HOOK(creat64, creat);

/* --- stdio -------------------------------------------------------------------------------------- */

/* The open(2) flags of an fopen mode, or -1 if the mode is invalid (libc then fails with EINVAL). */
static int stdio_flags(const char *mode)
{
	int flags;

	switch (*mode) {
	case 'r':
		flags = O_RDONLY;
		break;
	case 'w':
		flags = O_WRONLY | O_CREAT | O_TRUNC;
		break;
	case 'a':
		flags = O_WRONLY | O_CREAT | O_APPEND;
		break;
	default:
		return -1;
	}
	for (const char *m = mode + 1; *m && *m != ','; m++) {
		if (*m == '+')
			flags = (flags & ~O_ACCMODE) | O_RDWR;
		else if (*m == 'x')
			flags |= O_EXCL;
		else if (*m == 'e')
			flags |= O_CLOEXEC;
	}
	return flags;
}

/* Judges an open that libc itself makes, for what only libc can do (",ccs=" conversions, freopen).  The
 * time in between is a race that only Landlock closes. */
static int stdio_check(const char *path, int flags)
{
	unsigned access = open_access(flags);

	return check_only(open_op(access), access, AT_FDCWD, path, RESOLVE_FOLLOW_LAST);
}

FILE *fopen(const char *path, const char *mode)
{
	int flags = mode ? stdio_flags(mode) : -1;
	FILE *f;
	int fd;

	if (!judging() || !path || flags < 0) {
		if (!real.fopen)
			real_init();
		return real.fopen(path, mode);
	}
	if (strchr(mode, ',')) {
		fd = stdio_check(path, flags);
		if (fd < 0) {
			fail(fd);
			return NULL;
		}
		return real.fopen(path, mode);
	}
	fd = check_open(AT_FDCWD, path, flags, 0666);
	if (fd < 0) {
		fail(fd);
		return NULL;
	}
	f = fdopen(fd, mode);
	if (!f)
		sys_close(fd);
	return f;
}

SAME_HOOK(fopen64, fopen);

FILE *freopen(const char *path, const char *mode, FILE *f)
{
	int flags = mode ? stdio_flags(mode) : -1;

	if (!real.freopen)
		real_init();
	if (judging() && path && flags >= 0) {
		int r = stdio_check(path, flags);

		if (r < 0) {
			/* freopen closes the stream whatever happens to the new file. */
			fclose(f);
			fail(r);
			return NULL;
		}
	}
	return real.freopen(path, mode, f);
}

SAME_HOOK(freopen64, freopen);

/* Opens a directory as libc does, which is not a cancellation point. */
static int open_directory(int dirfd, const char *path)
{
	int was = cancel_disable();
	int fd = check_open(dirfd, path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC, 0);

	cancel_restore(was);
	return fd;
}

DIR *opendir(const char *path)
{
	DIR *d;
	int fd = open_directory(AT_FDCWD, path);

	if (fd < 0) {
		fail(fd);
		return NULL;
	}
	d = fdopendir(fd);
	if (!d)
		sys_close(fd);
	return d;
}

/*
 * scandir opens its directory inside libc (libuv lists every directory by it).  So the directory is opened
 * here, and libc gets "." below that descriptor.
 */
#define SCAN_BODY(real_scan, dirfd, path)                                                                    \
	do {                                                                                                 \
		int fd = open_directory(dirfd, path);                                                        \
		int n, saved;                                                                                \
                                                                                                             \
		if (fd < 0)                                                                                  \
			return fail(fd);                                                                     \
		if (!real_scan)                                                                              \
			real_init();                                                                         \
		n = real_scan(fd, ".", list, filter, compar);                                                \
		saved = errno;                                                                               \
		sys_close(fd);                                                                               \
		errno = saved;                                                                               \
		return n;                                                                                    \
	} while (0)

int scandirat(int dirfd, const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	      int (*compar)(const struct dirent **, const struct dirent **))
{
	SCAN_BODY(real.scandirat, dirfd, path);
}

int scandirat64(int dirfd, const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
		int (*compar)(const struct dirent64 **, const struct dirent64 **))
{
	SCAN_BODY(real.scandirat64, dirfd, path);
}

/* musl has only these two. */
int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	    int (*compar)(const struct dirent **, const struct dirent **))
{
	static __typeof__(scandir) *libc_scan;

	if (!judging())
		return LATE(libc_scan, "scandir")(path, list, filter, compar);
	return scandirat(AT_FDCWD, path, list, filter, compar);
}

int scandir64(const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
	      int (*compar)(const struct dirent64 **, const struct dirent64 **))
{
	static __typeof__(scandir64) *libc_scan;

	if (!judging())
		return LATE(libc_scan, "scandir64")(path, list, filter, compar);
	return scandirat64(AT_FDCWD, path, list, filter, compar);
}
