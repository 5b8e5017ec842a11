/*
 * The resolver on a kernel that lies: every system call answers what the input says.
 *
 * Whatever it answers, the resolver ends, holds at most two descriptors on the way and none but
 * the parent afterwards, and gives terminated, absolute paths and a name that is one component.
 * Input: a path with its NUL, then one byte or more per system call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/file/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)                                                                                           \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

static struct cursor in;
static int held;

static int lie_errno(void)
{
	static const int errs[] = { ENOENT, ENOTDIR, ELOOP, EACCES, EMFILE, ENOSYS, EINVAL, ENAMETOOLONG };

	return -errs[get_u8(&in) % (sizeof errs / sizeof errs[0])];
}

/* A text as the kernel would write it: no NUL in it, none behind it. */
static int lie_text(char *buf, size_t size)
{
	size_t n = get_u8(&in);

	if (n > 250)
		n = (n - 250) * 900;
	if (n > in.left)
		n = in.left;
	if (n > size)
		n = size;
	for (size_t i = 0; i < n; i++) {
		buf[i] = (char)get_u8(&in);
		if (buf[i] == '\0')
			buf[i] = '/';
	}
	return (int)n;
}

static int lie_open_path(int dirfd, const char *path, bool directory, bool no_symlinks, bool nofollow)
{
	(void)dirfd;
	(void)directory;
	(void)no_symlinks;
	(void)nofollow;
	REQUIRE(path[0] != '\0' && strlen(path) < LIMIT_PATH);
	if (in.left == 0 || get_u8(&in) % 4 == 0)
		return lie_errno();
	REQUIRE(++held <= 2);
	return 100 + held;
}

static int lie_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	(void)dirfd;
	(void)path;
	if (in.left == 0 || get_u8(&in) % 3 == 0)
		return -EINVAL;
	if (get_u8(&in) % 8 == 0)
		return lie_errno();
	return lie_text(buf, size);
}

static int lie_cwd_path(char *buf, size_t size)
{
	int n;

	if (get_u8(&in) % 16 == 1)
		return lie_errno();
	buf[0] = '/';
	n = lie_text(buf + 1, size - 2);
	buf[1 + n] = '\0';
	return 1 + n;
}

static int lie_fd_path(int fd, char *buf, size_t size)
{
	int n = lie_cwd_path(buf, size - 10);

	(void)fd;
	if (n > 0 && get_u8(&in) % 16 == 1)
		strcpy(buf + n, " (deleted)");
	else if (n > 0 && get_u8(&in) % 16 == 1)
		buf[0] = 'p';
	return n;
}

static int lie_close(int fd)
{
	(void)fd;
	REQUIRE(--held >= 0);
	return 0;
}

static int lie_is_magic(int dirfd)
{
	(void)dirfd;
	return get_u8(&in) % 2;
}

static int lie_own_pid(void)
{
	return 42;
}

static const struct resolve_sys lies = {
	.open_path = lie_open_path,
	.readlinkat = lie_readlinkat,
	.fd_path = lie_fd_path,
	.cwd_path = lie_cwd_path,
	.close = lie_close,
	.is_magic = lie_is_magic,
	.own_pid = lie_own_pid,
};

static void check(const struct resolved *r)
{
	size_t n = strnlen(r->name, sizeof r->name);

	REQUIRE(n > 0 && n < sizeof r->name && strcmp(r->name, "..") != 0);
	REQUIRE(!memchr(r->name, '/', n - 1));
	REQUIRE(strnlen(r->path, sizeof r->path) < sizeof r->path);
	REQUIRE(strnlen(r->given, sizeof r->given) < sizeof r->given);
	REQUIRE(r->given[0] == '/' || r->magic);
	REQUIRE(r->path[0] == '/' || r->magic);
	REQUIRE(r->magic || r->magic_fd == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct resolved r;
	const uint8_t *end = memchr(data, '\0', size);
	int err;

	if (!end)
		return 0;
	for (int follow = RESOLVE_NOFOLLOW_LAST; follow <= RESOLVE_ENTRY_LAST; follow++) {
		in = cursor_of(end + 1, size - (size_t)(end - data) - 1);
		held = 0;
		err = resolve(&lies, -100, (const char *)data, (enum resolve_follow)follow, &r);
		if (err == 0)
			check(&r);
		REQUIRE(err <= 0 && held == (err == 0 && r.parent_owned ? 1 : 0));
		resolved_done(&lies, &r);
		REQUIRE(held == 0);
	}
	return 0;
}
