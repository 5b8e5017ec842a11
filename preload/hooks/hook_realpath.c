/*
 * realpath(3): libc calls readlink(2) for each component, and above level hooks each call goes to the
 * supervisor.  If no component is a link, one open without access proves the lexical path, which tells the
 * caller only what it named itself.  Everything else is left to libc.
 */
#include <limits.h>

#include "preload/process/gate.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "hooks.h"
#include "late.h"

typedef char *realpath_type(const char *path, char *resolved);

/* Opens what path names, if no component of it is a link.  Returns a descriptor or -errno. */
static int open_straight(const char *path)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };

	return (int)gate_openat2(AT_FDCWD, path, &how);
}

/*
 * Cuts `at` after the first component that does not exist, as libc's realpath leaves it.  False unless the
 * components before it exist and are not links.
 */
static bool cut_at_missing(char *at)
{
	char *slash;
	int fd;

	do {
		slash = strrchr(at, '/');
		if (!slash || slash == at)
			return false;
		*slash = '\0';
		fd = open_straight(at);
	} while (fd == -ENOENT);
	*slash = '/';
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0;
}

/* Writes the real path of path to at.  Returns 0 or -errno; -ELOOP: only a walk can find it. */
static int real_words(const char *path, char at[NEAR_PATH])
{
	const char *near = path ? sys_near(AT_FDCWD, path, at, NEAR_PATH) : NULL;
	size_t len = near ? strlen(near) + 1 : 0;
	int fd;

	if (len == 0 || len > NEAR_PATH)
		return -ELOOP;
	memmove(at, near, len);
	fd = open_straight(path);
	if (fd == -ENOENT)
		return cut_at_missing(at) ? -ENOENT : -ELOOP;
	if (fd < 0)
		return -ELOOP;
	sys_close(fd);
	return 0;
}

/* If the result must be allocated, libc does all the work: a hook does not allocate. */
char *realpath(const char *path, char *resolved)
{
	static realpath_type *libc_realpath;
	char at[NEAR_PATH] UNINITIALIZED;
	int r = resolved && judging() && gate_stands() ? real_words(path, at) : -ELOOP;

	if (r == -ELOOP)
		return LATE(libc_realpath, "realpath")(path, resolved);
	strcpy(resolved, at);
	errno = r < 0 ? -r : errno;
	return r < 0 ? NULL : resolved;
}

/* Programs built with _FORTIFY_SOURCE import this. */
char *__realpath_chk(const char *path, char *resolved, size_t size)
{
	static char *(*libc_realpath_chk)(const char *path, char *resolved, size_t size);

	if (size < PATH_MAX)
		return LATE(libc_realpath_chk, "__realpath_chk")(path, resolved, size);
	return realpath(path, resolved);
}
