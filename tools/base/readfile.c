/*
 * Reading whole files, and policy files with the checks that make them trustworthy.
 */
#include "readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/op.h"
#include "policy/base/util.h"
#include "policy/parse/parse.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

static int read_to_end(int fd, size_t limit, char **ret_text, size_t *ret_len)
{
	_cleanup_free_ char *buf = NULL;
	size_t len = 0, cap = 0;

	for (;;) {
		ssize_t n;

		if (len + 1 >= cap) {
			size_t want = cap ? cap * 2 : 8192;
			char *grown = realloc(buf, want);

			if (!grown)
				return -ENOMEM;
			buf = grown;
			cap = want;
		}
		n = read_up_to(fd, buf + len, cap - len - 1, -1);
		if (n < 0)
			return (int)n;
		len += (size_t)n;
		if (len > limit)
			return -EFBIG;
		if (len + 1 < cap)
			break;
	}
	buf[len] = '\0';
	*ret_text = TAKE_PTR(buf);
	*ret_len = len;
	return 0;
}

/* O_NONBLOCK: opening a FIFO must not block; the caller then refuses it, since it is no regular file. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int file_read_as(const char *path, size_t limit, char **ret_text, size_t *ret_len, struct stat *ret_st)
{
	_cleanup_close_ int fd = open_file(path);

	if (fd < 0)
		return fd;
	if (fstat(fd, ret_st) < 0)
		return -errno;
	if (!S_ISREG(ret_st->st_mode))
		return -EINVAL;
	return read_to_end(fd, limit, ret_text, ret_len);
}

int file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len)
{
	struct stat st;

	return file_read_as(path, limit, ret_text, ret_len, &st);
}

static int refuse_file(struct diags *d, const char *path, const char *code, const char *hint, const char *why)
{
	int r = diag_add(d, SEVERITY_ERROR, code, path, 0, 0, hint, "%s", why);

	return r < 0 ? r : -EPERM;
}

int policy_file_check(const char *path, const struct stat *st, struct diags *d)
{
	if (!S_ISREG(st->st_mode))
		return refuse_file(d, path, "policy-file", NULL, "is not a regular file");
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return refuse_file(d, path, "policy-owner", NULL, "belongs neither to you nor to root");
	if (st->st_mode & 022)
		return refuse_file(d, path, "policy-mode", "chmod go-w", "may be written by others");
	/* A session could write to it by its other name, which may lie in the workspace. */
	if (st->st_nlink > 1 && st->st_uid != 0)
		return refuse_file(d, path, "policy-link", "replace it with a copy (cp, then mv)",
				   "has a second name (a hard link), which pale cannot protect");
	if (st->st_size > (off_t)LIMIT_POLICY)
		return refuse_file(d, path, "policy-size", NULL, "is larger than a policy may be (8 MiB)");
	return 0;
}

int policy_file_read(const char *path, char **ret_text, size_t *ret_len, struct diags *d)
{
	_cleanup_close_ int fd = open_file(path);
	struct stat st;
	int r;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return -ENOENT;
	if (fd < 0)
		return refuse_file(d, path, "policy-file", NULL, strerror(-fd));
	if (fstat(fd, &st) < 0)
		return refuse_file(d, path, "policy-file", NULL, strerror(errno));
	r = policy_file_check(path, &st, d);
	if (r < 0)
		return r;
	r = read_to_end(fd, LIMIT_POLICY, ret_text, ret_len);
	if (r == -EFBIG)
		return refuse_file(d, path, "policy-size", NULL, "grew larger than a policy may be (8 MiB)");
	return r < 0 && r != -ENOMEM ? refuse_file(d, path, "policy-file", NULL, strerror(-r)) : r;
}

long file_read_at(void *ctx, void *buf, size_t len, uint64_t off)
{
	ssize_t n = pread(*(int *)ctx, buf, len, (off_t)off);

	return n < 0 ? -errno : (long)n;
}
