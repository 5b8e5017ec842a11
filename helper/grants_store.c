/*
 * The file of grants that are kept: read whole, replaced whole, one writer at a time.
 *
 * Reached by the held descriptor of a directory that nobody but us may write; a link or a file of somebody
 * else's in its place is no file of ours.
 */
#include "grants.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "helper.h"

#define LOCK_TRIES 10
#define LOCK_NS	   (5 * NS_MS)
#define FRESH_FILE GRANT_FILE ".new"

int store_lock(int dir)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = openat(dir, GRANT_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), err;

	if (fd < 0)
		return -errno;
	for (int i = 0; fcntl(fd, F_OFD_SETLK, &lock) < 0; i++) {
		err = errno;
		if ((err != EAGAIN && err != EACCES) || i == LOCK_TRIES) {
			close(fd);
			return -err;
		}
		(void)nanosleep(&(struct timespec){ .tv_nsec = LOCK_NS }, NULL);
	}
	return fd;
}

bool store_changed(int dir, const struct stat *known)
{
	struct stat st = { 0 };

	if (fstatat(dir, GRANT_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		memset(&st, 0, sizeof(st));
	return st.st_ino != known->st_ino || st.st_dev != known->st_dev || st.st_size != known->st_size ||
	       st.st_mtim.tv_sec != known->st_mtim.tv_sec || st.st_mtim.tv_nsec != known->st_mtim.tv_nsec ||
	       st.st_ctim.tv_sec != known->st_ctim.tv_sec || st.st_ctim.tv_nsec != known->st_ctim.tv_nsec;
}

static const char *not_ours(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is no regular file";
	if (st->st_uid != geteuid() || (st->st_mode & (S_IWGRP | S_IWOTH)))
		return "somebody else may write it";
	return st->st_size > GRANT_FILE_MAX ? "it is too long" : NULL;
}

static int read_all(int fd, char *buf, size_t size, size_t *ret_len)
{
	size_t len = 0;

	for (;;) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		len += (size_t)n;
		if (n == 0)
			break;
		if (len == size)
			return -EFBIG;
	}
	*ret_len = len;
	return 0;
}

json_t *store_read(int dir, struct stat *ret, int *ret_err, const char **ret_why)
{
	_cleanup_close_ int fd =
		openat(dir, GRANT_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	memset(ret, 0, sizeof(*ret));
	*ret_err = -EBADMSG;
	*ret_why = "it is no regular file";
	if (fd < 0 && errno == ENOENT)
		return grant_file_parse("", 0, ret_why);
	if (fd < 0 || fstat(fd, ret) < 0) {
		*ret_err = errno == ELOOP || errno == ENXIO ? -EBADMSG : -errno;
		return NULL;
	}
	*ret_why = not_ours(ret);
	if (*ret_why)
		return NULL;
	text = malloc(GRANT_FILE_MAX + 2);
	*ret_err = text ? read_all(fd, text, GRANT_FILE_MAX + 2, &len) : -ENOMEM;
	if (*ret_err < 0)
		return NULL;
	*ret_err = -EBADMSG;
	*ret_why = "it is empty";
	return len > 0 ? grant_file_parse(text, len, ret_why) : NULL;
}

int store_write(int dir, const json_t *file, mode_t mode, struct stat *ret)
{
	_cleanup_free_ char *text = grant_file_text(file);
	_cleanup_close_ int fd = -1;
	int r;

	if (!text)
		return -ENOMEM;
	if (strlen(text) > GRANT_FILE_MAX)
		return -EFBIG;
	(void)unlinkat(dir, FRESH_FILE, 0);
	r = file_create(dir, FRESH_FILE, mode, text, strlen(text));
	if (r < 0)
		return r;
	fd = openat(dir, FRESH_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0 || renameat(dir, FRESH_FILE, dir, GRANT_FILE) < 0 || fstat(fd, ret) < 0 ||
	    fsync(dir) < 0) {
		r = -errno;
		(void)unlinkat(dir, FRESH_FILE, 0);
	}
	return r;
}

const char *store_aside(int dir, char *buf, size_t size)
{
	char id[9];

	if (random_hex(id, 4) < 0)
		return NULL;
	snprintf(buf, size, "grants.broken-%s.json", id);
	if (renameat(dir, GRANT_FILE, dir, buf) < 0)
		return NULL;
	(void)fsync(dir);
	return buf;
}
