/*
 * A program's file and its real path by one open: what costs at each exec is the kernel's /proc, which
 * makes three objects for every process that looks into it, so the name is not asked there.
 *
 * The usual links of a program's name, its first component (/bin) and its last (cc, python3), are
 * followed in words.  Words prove nothing: the open itself does, which follows no link.
 */
#include "preload/process/gate.h"

#include "policy/base/path.h"

/* Links that are followed in words. */
#define LINKS_MAX 5

/* near with the link that ends at `at` followed; false, and near as it was, where it is none or its words
 * need a walk. */
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

/* Where the first component ends.  By hand, as in policy/base/path.c. */
static size_t first_end(const char *near)
{
	size_t at = 1;

	while (near[at] && near[at] != '/')
		at++;
	return at;
}

/* What a merged /usr leaves in the root is mostly a link (hier(7)): asked first, it spares an open that
 * fails. */
static void follow_merged(char *near)
{
	if (strncmp(near, "/bin/", 5) == 0 || strncmp(near, "/sbin/", 6) == 0 ||
	    strncmp(near, "/lib", 4) == 0)
		(void)follow(near, first_end(near));
}

/* *ret_type is 0 where nobody looked: to open a FIFO or a device may do something, but not as a place
 * alone (O_PATH). */
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
	/* Beside O_PATH nothing else may stand (EINVAL). */
	struct open_how how = { .flags = flags | O_CLOEXEC | (flags & O_PATH ? 0u : O_NOCTTY | O_NONBLOCK),
				.resolve = RESOLVE_NO_SYMLINKS };
	const char *lexical, *last = path + strlen(path) - 1;
	mode_t type;
	size_t len;
	long r;

	/* "x/" and "x/." are x in words, but a file is no directory. */
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
