/*
 * Functions that open or make files inside libc, without a hook of open: temporary files, mount and login
 * tables, and stdio under its old names.
 */
#include <mntent.h>
#include <stdio_ext.h>
#include <utmp.h>
#include <utmpx.h>

#include "policy/base/buf.h"

#include "preload/judge/check.h"
#include "preload/judge/check_open.h"
#include "preload/process/envp.h"
#include "preload/process/raw.h"
#include "preload/process/real.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "hooks.h"
#include "late.h"

extern char **environ;

/* --- mkstemp and similar functions -------------------------------------------------------------- */

#define TEMP_XS	   6
#define TEMP_TRIES 62 * 62

/* The six X before the suffix, or NULL. */
static char *temp_slot(char *template, int suffix)
{
	size_t n = strlen(template);

	if (suffix < 0 || n < TEMP_XS + (size_t)suffix)
		return NULL;
	template += n - TEMP_XS - (size_t)suffix;
	return strncmp(template, "XXXXXX", TEMP_XS) == 0 ? template : NULL;
}

static long temp_name(char *slot)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	uint8_t bytes[TEMP_XS];
	long r;

	do
		r = raw3(SYS_getrandom, bytes, sizeof bytes, 0);
	while (r == -EINTR);
	for (int i = 0; i < TEMP_XS; i++)
		slot[i] = letters[bytes[i] % (sizeof letters - 1)];
	return r < 0 ? r : 0;
}

static long temp_open(char *template, char *slot, int flags)
{
	long r = -EEXIST;

	flags = (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL;
	for (int i = 0; i < TEMP_TRIES && r == -EEXIST; i++) {
		r = temp_name(slot);
		if (r == 0)
			r = check_open(AT_FDCWD, template, flags, 0600);
	}
	return r;
}

static int temp_file(char *template, int suffix, int flags)
{
	char *slot = temp_slot(template, suffix);
	int saved = errno;
	long r;

	if (!slot)
		return fail(-EINVAL);
	r = temp_open(template, slot, flags);
	if (r < 0)
		return fail(r);
	errno = saved;
	return (int)r;
}

int mkstemp(char *template)
{
	return temp_file(template, 0, 0);
}

SAME_HOOK(mkstemp64, mkstemp);

int mkostemp(char *template, int flags)
{
	return temp_file(template, 0, flags);
}

SAME_HOOK(mkostemp64, mkostemp);

int mkstemps(char *template, int suffix)
{
	return temp_file(template, suffix, 0);
}

SAME_HOOK(mkstemps64, mkstemps);

int mkostemps(char *template, int suffix, int flags)
{
	return temp_file(template, suffix, flags);
}

SAME_HOOK(mkostemps64, mkostemps);

char *mkdtemp(char *template)
{
	char *slot = temp_slot(template, 0);
	int saved = errno, r = slot ? -1 : fail(-EINVAL);

	for (int i = 0; slot && i < TEMP_TRIES && r < 0 && (i == 0 || errno == EEXIST); i++) {
		long e = temp_name(slot);

		r = e < 0 ? fail(e) : mkdir(template, 0700);
	}
	if (r < 0)
		return NULL;
	errno = saved;
	return template;
}

/* A file without a name in P_tmpdir, or one that loses its name at once. */
static int temp_nameless(void)
{
	char template[] = P_tmpdir "/tmpfXXXXXX";
	int fd = check_open(AT_FDCWD, P_tmpdir, O_RDWR | O_EXCL | O_TMPFILE, 0600);

	/* The errors of file systems and kernels that do not support O_TMPFILE. */
	if (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -ENOENT)
		return fd;
	fd = (int)temp_open(template, temp_slot(template, 0), 0);
	if (fd >= 0)
		unlink(template);
	return fd;
}

FILE *tmpfile(void)
{
	static FILE *(*libc_tmpfile)(void);
	FILE *f;
	int fd;

	if (!judging())
		return LATE(libc_tmpfile, "tmpfile")();
	fd = temp_nameless();
	if (fd < 0) {
		fail(fd);
		return NULL;
	}
	f = fdopen(fd, "w+");
	if (!f)
		sys_close(fd);
	return f;
}

SAME_HOOK(tmpfile64, tmpfile);

/* --- tables ------------------------------------------------------------------------------------- */

/* Like libc's own, which is an fopen with "ce" after the mode. */
FILE *setmntent(const char *path, const char *mode)
{
	size_t n = strlen(mode);
	char with[32];
	FILE *f;

	if (n > sizeof with - 3) {
		fail(-EINVAL);
		return NULL;
	}
	memcpy(with, mode, n); /* NOLINT(bugprone-not-null-terminated-result): the next line ends it */
	memcpy(with + n, "ce", 3);
	f = fopen(path, with);
	if (f)
		__fsetlocking(f, FSETLOCKING_BYCALLER);
	return f;
}

SAME_HOOK(__setmntent, setmntent);

/* A process that may not write the file cannot write it by these functions either; they only read
 * it then. */
static int check_login_file(const char *path)
{
	bool writable = path && raw3(SYS_faccessat, AT_FDCWD, path, W_OK) == 0;

	return check_only(writable ? OP_WRITE : OP_READ, writable ? ACCESS_READ | ACCESS_WRITE : ACCESS_READ,
			  AT_FDCWD, path, RESOLVE_FOLLOW_LAST);
}

int utmpname(const char *path)
{
	int r = check_login_file(path);

	if (!real.utmpname)
		real_init();
	return r < 0 ? fail(r) : real.utmpname(path);
}

int utmpxname(const char *path)
{
	return utmpname(path);
}

void updwtmp(const char *path, const struct utmp *entry)
{
	int r = check_login_file(path);

	if (!real.updwtmp)
		real_init();
	if (r < 0)
		fail(r);
	else
		real.updwtmp(path, entry);
}

/* Both structures are the same in glibc. */
void updwtmpx(const char *path, const struct utmpx *entry)
{
	updwtmp(path, (const struct utmp *)(const void *)entry);
}

/* Reads the password for a host from ~/.netrc. */
int ruserpass(const char *host, const char **name, const char **pass)
{
	static __typeof__(ruserpass) *libc_ruserpass;
	const char *home = env_value(environ, "HOME", 4);
	char path[NEAR_PATH];
	struct out o = out_of(path, sizeof path);
	int r;

	text_str(&o, home ? home : "");
	text_str(&o, "/.netrc");
	text_end(&o);
	r = home && judging_alone() ? check_only(OP_READ, ACCESS_READ, AT_FDCWD, path, RESOLVE_FOLLOW_LAST)
				    : 0;
	return r == -EACCES ? fail(r) : LATE(libc_ruserpass, "ruserpass")(host, name, pass);
}

/* --- stdio under its old names ------------------------------------------------------------------ */

FILE *_IO_fopen(const char *path, const char *mode)
{
	return fopen(path, mode);
}

FILE *_IO_popen(const char *command, const char *mode)
{
	return popen(command, mode);
}
