/*
 * Where agents worked: the workspaces of all sessions so far, in the state directory, which no agent can
 * see.  A file in such a place may have been written by an agent, whatever workspace the next session uses.
 *
 * The paths stand in one file, each between two NULs.  A file that has grown is rewritten without the paths
 * that no longer exist.  A writer holds a lock on the file, and starts again where another process has
 * replaced it.
 */
#include "worked.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/image/image.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#define WORKED	   "worked"
#define WORKED_NEW "worked.new"
#define GROWN_MAX  (256u << 10)
#define READ_MAX   (1u << 20)

static int read_paths(const struct dirs *dirs, char **ret, size_t *ret_len)
{
	char path[PATH_MAX];
	int r = path_join(path, sizeof(path), dirs->state, WORKED);

	return r < 0 ? r : file_read(path, READ_MAX, ret, ret_len);
}

bool worked_in(const struct dirs *dirs, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = read_paths(dirs, &text, &len);

	/* A file that cannot be read may hold the path. */
	if (r < 0)
		return r != -ENOENT;
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		if (text[at] == '/' && path_is_under(path, text + at))
			return true;
	return false;
}

static bool holds(const char *text, size_t len, const char *path)
{
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		if (strcmp(text + at, path) == 0)
			return true;
	return false;
}

/* A NUL comes first, since the entry before may have been cut short. */
static int put_path(int fd, const char *path)
{
	char entry[PATH_MAX + 2] = "";
	size_t len = strlen(path) + 2;

	if (len > sizeof(entry))
		return -ENAMETOOLONG;
	memcpy(entry + 1, path, len - 1);
	return write(fd, entry, len) == (ssize_t)len ? 0 : -ENOSPC;
}

static int open_at(const struct dirs *dirs, const char *name, int flags, char path[PATH_MAX])
{
	int r = path_join(path, PATH_MAX, dirs->state, name), fd;

	if (r < 0)
		return r;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	return fd < 0 ? -errno : fd;
}

/* Replaces the file by a rename, so that a reader finds the old or the new one. */
static int shrink(const struct dirs *dirs, const char *text, size_t len)
{
	char new[PATH_MAX], old[PATH_MAX];
	_cleanup_close_ int fd = open_at(dirs, WORKED_NEW, O_TRUNC, new);
	int r = fd < 0 ? fd : path_join(old, sizeof(old), dirs->state, WORKED);

	for (size_t at = 0; r == 0 && at < len; at += strlen(text + at) + 1)
		if (text[at] == '/' && access(text + at, F_OK) == 0)
			r = put_path(fd, text + at);
	if (r == 0 && rename(new, old) < 0)
		r = -errno;
	return r;
}

/* Opens and locks the file: a descriptor or -errno.  Where the file system has no locks, only one writer at
 * a time is expected. */
static int hold(const struct dirs *dirs)
{
	struct stat mine, there;
	char path[PATH_MAX];

	for (;;) {
		int fd = open_at(dirs, WORKED, O_APPEND, path);

		if (fd < 0)
			return fd;
		while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
			;
		if (fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_ino == there.st_ino &&
		    mine.st_dev == there.st_dev)
			return fd;
		(void)close(fd);
	}
}

/* 1 where a smaller file has replaced this one. */
static int note_path(const struct dirs *dirs, int fd, const char *workspace, bool may_shrink)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = read_paths(dirs, &text, &len);

	if (r < 0)
		return r;
	if (holds(text, len, workspace))
		return 0;
	if (len <= GROWN_MAX || !may_shrink)
		return put_path(fd, workspace);
	r = shrink(dirs, text, len);
	return r < 0 ? r : 1;
}

int worked_note(const struct dirs *dirs, const char *workspace)
{
	int r = 1;

	for (int i = 0; r == 1 && i < 2; i++) {
		_cleanup_close_ int fd = hold(dirs);

		r = fd < 0 ? fd : note_path(dirs, fd, workspace, i == 0);
	}
	return r;
}

void worked_begin(const struct dirs *dirs, const struct image *img, const char *workspace)
{
	int e;

	if (img->h->mode <= MODE_READ_ONLY)
		return;
	e = dir_make(dirs->state);
	if (e == 0)
		e = worked_note(dirs, workspace);
	if (e < 0)
		talk("cannot note in %s that an agent worked here: %s", dirs->state, strerror(-e));
}
