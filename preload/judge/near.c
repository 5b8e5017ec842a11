/*
 * Opens a program's file and gets its real path by one open.  What costs time at each exec is /proc, where
 * the kernel makes three objects for every process that looks into it, so the path is not read from there.
 *
 * The usual links in a program's path, its first component (/bin) and its last (cc, python3), are followed
 * by readlink and string operations.  That proves nothing; the open itself does, since it follows no link.
 */
#include "near.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "policy/base/path.h"

#include "preload/process/gate.h"

/* The most links that are followed by string operations. */
#define LINKS_MAX 5

/* Follows, in near, the link that ends at `at`.  False, with near unchanged, if it is not a link or its
 * target needs a walk. */
static bool follow(char *near, size_t at)
{
	char out[NEAR_PATH] UNINITIALIZED, target[NEAR_PATH / 4] UNINITIALIZED;
	char end = near[at], *slash, kept;
	size_t used, rest;
	long n;

	near[at] = '\0';
	n = gate4(SYS_readlinkat, AT_FDCWD, near, target, sizeof target);
	slash = strrchr(near, '/');
	near[at] = end;
	if (n <= 0 || n >= (long)sizeof target || !slash)
		return false;
	target[n] = '\0';
	slash += slash == near;
	kept = *slash;
	*slash = '\0';
	n = path_has_dotdot(target) ? -ELOOP : path_normalise(near, target, out, sizeof out);
	*slash = kept;
	if (n <= 0)
		return false;
	used = strlen(out);
	rest = strlen(near + at) + 1;
	if (used + rest > sizeof out)
		return false;
	memcpy(out + used, near + at, rest);
	memcpy(near, out, used + rest);
	return true;
}

/* The end of the first component.  A loop and not strcspn, as in policy/base/path.c. */
static size_t first_end(const char *near)
{
	size_t at = 1;

	while (near[at] && near[at] != '/')
		at++;
	return at;
}

/* These directories in the root are mostly links, since /usr is merged (hier(7)): to follow the link first
 * saves an open that fails. */
static void follow_merged(char *near)
{
	if (strncmp(near, "/bin/", 5) == 0 || strncmp(near, "/sbin/", 6) == 0 ||
	    strncmp(near, "/lib", 4) == 0)
		(void)follow(near, first_end(near));
}

/* Opens near if it is a regular file.  *ret_type is the file type, 0 if it was not read.  The type is read
 * first, since to open a FIFO or a device may have an effect; with O_PATH it has none. */
static long open_file(const char *near, struct open_how *how, mode_t *ret_type)
{
	struct stat st;
	long r;

	*ret_type = 0;
	if (how->flags & O_PATH)
		return gate_openat2(AT_FDCWD, near, how);
	r = raw4(SYS_newfstatat, AT_FDCWD, near, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0)
		return r;
	*ret_type = st.st_mode & S_IFMT;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	return S_ISREG(st.st_mode) ? gate_openat2(AT_FDCWD, near, how) : -EACCES;
}

int sys_open_real(int dirfd, const char *path, unsigned flags, char near[NEAR_PATH])
{
	/* With O_PATH these flags are an error (EINVAL). */
	struct open_how how = { .flags = flags | O_CLOEXEC | (flags & O_PATH ? 0u : O_NOCTTY | O_NONBLOCK),
				.resolve = RESOLVE_NO_SYMLINKS };
	const char *lexical, *last = path + strlen(path) - 1;
	mode_t type;
	size_t len;
	long r;

	/* "x/" and "x/." become x by string operations, but the kernel refuses them for a file. */
	if (last < path || *last == '/' || *last == '.')
		return -ELOOP;
	lexical = sys_near(dirfd, path, near, NEAR_PATH);
	len = lexical ? strlen(lexical) + 1 : 0;
	if (len == 0 || len > NEAR_PATH)
		return -ELOOP;
	memmove(near, lexical, len);
	follow_merged(near);
	for (unsigned i = 0; i < LINKS_MAX; i++) {
		r = open_file(near, &how, &type);
		if (r != -ELOOP)
			return (int)r;
		if (!(type != S_IFREG && follow(near, strlen(near))) && !follow(near, first_end(near)))
			return -ELOOP;
	}
	return -ELOOP;
}
