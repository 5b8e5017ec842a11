/* Makes small files, and lists directories without the names that begin with a dot. */

#include "smallfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

DIR *dir_open(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

const char *dir_next(DIR *dir)
{
	const struct dirent *e;

	do
		e = dir ? readdir(dir) : NULL;
	while (e && e->d_name[0] == '.');
	return e ? e->d_name : NULL;
}

int file_create(int dirfd, const char *name, mode_t mode, const void *bytes, size_t len)
{
	_cleanup_close_ int fd =
		openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd < 0)
		return -errno;
	/* The umask is 077, and a setuid install serves files to another user. */
	if (fchmod(fd, mode) < 0)
		return -errno;
	return write_all(fd, bytes, len);
}

void file_drop(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	/* Under a second name it is meant to stay. */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
		(void)!ftruncate(fd, 0);
	(void)unlinkat(dirfd, name, 0);
}
