/*
 * The file of grants that are kept.
 *
 * It is opened by the descriptor of a directory that only the helper's user may write; a link, or another
 * user's file, in its place is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "helper/base/images.h"

#include "grants_held.h"

bool store_changed(int dir, struct stat *known)
{
	struct stat st = { 0 };
	bool same;

	if (fstatat(dir, GRANT_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		memset(&st, 0, sizeof(st));
	same = st.st_ino == known->st_ino && st.st_dev == known->st_dev && st.st_size == known->st_size &&
	       memcmp(&st.st_mtim, &known->st_mtim, sizeof(st.st_mtim)) == 0 &&
	       memcmp(&st.st_ctim, &known->st_ctim, sizeof(st.st_ctim)) == 0;
	*known = st;
	return !same;
}

static const char *not_ours(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is no regular file";
	if (st->st_uid != geteuid() || (st->st_mode & (S_IWGRP | S_IWOTH)))
		return "another user may write it";
	return st->st_size > GRANT_FILE_MAX ? "it is too long" : NULL;
}

int store_read(int dir, struct grant_list *ret, const char **ret_why)
{
	_cleanup_close_ int fd =
		openat(dir, GRANT_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	char *text;

	*ret = (struct grant_list){ 0 };
	*ret_why = "it cannot be read";
	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	*ret_why = not_ours(&st);
	if (*ret_why)
		return -EBADMSG;
	*ret_why = "it cannot be read";
	text = calloc(1, (size_t)st.st_size + 1);
	if (!text || read(fd, text, (size_t)st.st_size) != st.st_size) {
		free(text);
		return -EIO;
	}
	return grant_list_parse(text, ret, ret_why);
}
