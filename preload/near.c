/*
 * A program's file and its real path by one open: what costs at each exec is the kernel's /proc, which
 * makes three objects for every process that looks into it, so the name is not asked there.
 *
 * The usual links of a program's name, its first component (/bin) and its last (cc, python3), are
 * followed in words.  Words prove nothing: the open itself does, which follows no link.
 */
#include "preload/gate.h"

#include "policy/path.h"

/* Links that are followed in words. */
#define LINKS_MAX 5

/* near with the link that ends at `at` followed; false where it is none or its words need a walk. */
static bool follow(char *near, size_t at)
{
	char out[NEAR_PATH] UNINITIALIZED, target[NEAR_PATH / 4] UNINITIALIZED;
	char end = near[at], *slash;
	size_t used, rest;
	long n;

	near[at] = '\0';
	n = raw4(SYS_readlinkat, AT_FDCWD, near, target, sizeof target);
	slash = strrchr(near, '/');
	if (n <= 0 || n >= (long)sizeof target || !slash)
		return false;
	target[n] = '\0';
	*(slash == near ? slash + 1 : slash) = '\0';
	if (path_has_dotdot(target) || path_normalise(near, target, out, sizeof out) <= 0)
		return false;
	used = strlen(out);
	near[at] = end;
	rest = strlen(near + at) + 1;
	if (used + rest > sizeof out)
		return false;
	memcpy(out + used, near + at, rest);
	memcpy(near, out, used + rest);
	return true;
}

int sys_open_real(int dirfd, const char *path, unsigned flags, char near[NEAR_PATH])
{
	struct open_how how = { .flags = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
				.resolve = RESOLVE_NO_SYMLINKS };
	const char *lexical, *last = path + strlen(path) - 1;
	struct stat st;
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
	for (unsigned i = 0; i < LINKS_MAX; i++) {
		/* Looked at first: to open a FIFO or a device may do something. */
		r = raw4(SYS_newfstatat, AT_FDCWD, near, &st, AT_SYMLINK_NOFOLLOW);
		if (r < 0)
			return (int)r;
		if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
			return -EACCES;
		r = S_ISREG(st.st_mode) ? gate_openat2(AT_FDCWD, near, &how) : -ELOOP;
		if (r != -ELOOP)
			return (int)r;
		len = S_ISLNK(st.st_mode) ? strlen(near) : strcspn(near + 1, "/") + 1;
		if (!follow(near, len))
			return -ELOOP;
	}
	return -ELOOP;
}
