/*
 * Directories and servers of a helper that runs as another user.  Only owners decide whether a path is
 * trusted: /run belongs to root, PLACE_RUNTIME in it belongs to that user, and only that user can change
 * what it made below.
 */
#include "foreign.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/wire/wire.h"

#define NO_UID ((uid_t)-1)

/* The owner of a directory that is no link and that only its owner may write, else NO_UID. */
static uid_t owner_alone(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return NO_UID;
	return st.st_uid;
}

bool dir_chain_is_roots(const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	if (path[0] != '/' || strlen(path) >= sizeof(dir))
		return false;
	strcpy(dir, path);
	while ((slash = strrchr(dir, '/'))) {
		*slash = '\0';
		if (owner_alone(dir[0] ? dir : "/") != 0)
			return false;
	}
	return true;
}

int foreign_uid(uid_t *ret)
{
	struct stat st;
	uid_t uid;

	if (lstat(PLACE_RUNTIME, &st) < 0)
		return -errno;
	uid = owner_alone(PLACE_RUNTIME);
	if (uid == NO_UID || uid == 0 || !dir_chain_is_roots(PLACE_RUNTIME))
		return -EPERM;
	*ret = uid;
	return 0;
}

static int of_this_user(char *buf, size_t size, const char *place, const char *more)
{
	int n = snprintf(buf, size, "%s/%u%s", place, (unsigned)geteuid(), more);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int foreign_runtime(char *buf, size_t size)
{
	return of_this_user(buf, size, PLACE_RUNTIME, "");
}

int foreign_sessions(char *buf, size_t size)
{
	return of_this_user(buf, size, PLACE_STATE, "/sessions");
}

int foreign_check_dir(const char *dir)
{
	char base[PATH_MAX];
	uid_t uid = NO_UID;
	int r = foreign_runtime(base, sizeof(base));

	if (r == 0 && !path_is_under(dir, base))
		r = -EPERM;
	if (r == 0)
		r = foreign_uid(&uid);
	/* Only that user can make the directories between PLACE_RUNTIME and dir, since base is the user's
	 * alone. */
	if (r == 0 && (path_has_dotdot(dir) || owner_alone(base) != uid || owner_alone(dir) != uid))
		r = -EPERM;
	return r;
}

int foreign_check_server(int fd, const char *dir)
{
	struct ucred cred = { .pid = 0, .uid = NO_UID, .gid = NO_UID };
	socklen_t len = sizeof(cred);
	uid_t uid = NO_UID;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	if (cred.uid == geteuid())
		return 0;
	return foreign_check_dir(dir) == 0 && foreign_uid(&uid) == 0 && cred.uid == uid ? 0 : -EPERM;
}
