/* Writes a file whole; see replacefile.h. */
#include "replacefile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_fresh(int fd, const struct stat *like, mode_t mode, const char *text, size_t len)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (like && (st.st_uid != like->st_uid || st.st_gid != like->st_gid) &&
	    fchown(fd, st.st_uid == like->st_uid ? (uid_t)-1 : like->st_uid, like->st_gid) < 0)
		return -errno;
	if (fchmod(fd, like ? like->st_mode & 07777 : mode) < 0)
		return -errno;
	r = write_all(fd, text, len);
	return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
}

int replace_file(int dir, const char *name, const struct stat *like, mode_t mode, const char *text,
		 size_t len)
{
	char fresh[NAME_MAX + 1];
	int fd, r, n = snprintf(fresh, sizeof(fresh), ".new-%s", name);

	if (n < 0 || (size_t)n >= sizeof(fresh))
		return -ENAMETOOLONG;
	if (unlinkat(dir, fresh, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	r = fd < 0 ? -errno : write_fresh(fd, like, mode, text, len);
	if (fd >= 0)
		(void)close(fd);
	if (r == 0 && renameat(dir, fresh, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, fresh, 0);
	else
		(void)fsync(dir);
	return r;
}
