/*
 * One log: a new file, bounded.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/paths.h"
#include "tools/sessions/sessions.h"

#include "outputs.h"

int outlog_dir(const char *dir)
{
	struct stat st;
	int r = dir_make(dir);
	int fd = r < 0 ? r : open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return r < 0 ? r : -errno;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 022) == 0)
		return fd;
	(void)close(fd);
	return -EPERM;
}

int outlog_open(struct outlog *l, int dirfd, const char *id, enum output which, uint64_t bytes)
{
	char name[SESSION_ID_MAX + 16];
	struct rlimit files;

	snprintf(name, sizeof(name), "%s%s", id, which == OUTPUT_STDOUT ? ".stdout" : ".stderr");
	*l = (struct outlog){ .left = bytes };
	l->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (l->fd < 0)
		return -errno;
	/* A write beyond this limit raises a signal. */
	if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < l->left)
		l->left = files.rlim_cur;
	return 0;
}

/* Returns how much of buf was written. */
static size_t put_text(struct outlog *l, const char *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(l->fd, buf + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			l->error = n < 0 ? -errno : -EIO;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

void outlog_write(struct outlog *l, const char *buf, size_t len)
{
	static const char end[] = "\n[pale: the log is full]\n";

	if (l->fd < 0)
		return;
	if (len > l->left) {
		l->full = true;
		len = (size_t)l->left;
	}
	l->left -= put_text(l, buf, len);
	if (l->full && !l->error)
		(void)put_text(l, end, sizeof(end) - 1);
	if (l->full || l->error)
		outlog_close(l);
}

void outlog_close(struct outlog *l)
{
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
}
