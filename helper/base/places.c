/*
 * The directories above a session's own: the launcher names them, or a helper that runs as another user
 * makes them (places.h).  Each is opened by descriptor from its parent, so that no link leads elsewhere,
 * and used only where no other user can write.
 */
#include "places.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "images.h"
#include "state.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Tags of an access list; <linux/posix_acl.h> is not for programs. */
enum { ACL_USER_OBJ = 1, ACL_USER = 2, ACL_GROUP_OBJ = 4, ACL_MASK = 16, ACL_OTHER = 32 };

/*
 * Owner and helper are two users: an access list lets this one user into the directory and no other.  Files
 * in it may then be open to all users (the ring must be writable).
 */
int places_admit(int dirfd, uid_t owner)
{
	/* As the kernel reads "system.posix_acl_access", version 2. */
	const struct {
		uint32_t version;
		struct {
			uint16_t tag, perm;
			uint32_t id;
		} entry[5];
	} list = { htole32(2),
		   { { htole16(ACL_USER_OBJ), htole16(7), UINT32_MAX },
		     { htole16(ACL_USER), htole16(5), htole32(owner) },
		     { htole16(ACL_GROUP_OBJ), 0, UINT32_MAX },
		     { htole16(ACL_MASK), htole16(5), UINT32_MAX },
		     { htole16(ACL_OTHER), 0, UINT32_MAX } } };

	return fsetxattr(dirfd, "system.posix_acl_access", &list, sizeof(list), 0) < 0 ? -errno : 0;
}

mode_t places_readable(const struct helper *h)
{
	return h->foreign ? 0644 : 0600;
}

static int check_ours(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

/* --- helper and owner are one user: the directories above those that the launcher names --- */

/* The directory that is `up` components above the last one of PATH. */
static int open_above(const char *path, int up, int *ret_fd)
{
	_cleanup_free_ char *dir = strdup(path);
	_cleanup_close_ int fd = -1;
	int r;

	if (!dir)
		return -ENOMEM;
	for (; up > 0; up--) {
		char *slash = strrchr(dir, '/');

		if (!slash || slash == dir)
			return -EINVAL;
		*slash = '\0';
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = check_ours(fd);
	if (r < 0)
		return r;
	*ret_fd = fd;
	fd = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): what closes it reads it */
	return 0;
}

static int open_told(struct helper *h, const char **ret_err, const char **ret_path)
{
	const char *const paths[] = { h->state_dir, h->runtime_dir };
	int *const fds[] = { &h->places.sessions, &h->places.runtime };

	for (size_t i = 0; i < NELEM(paths); i++) {
		const char *name = strrchr(paths[i], '/');
		int r;

		*ret_path = paths[i];
		*ret_err = "the session's directory must be an absolute path";
		if (paths[i][0] != '/' || !name || name[1] == '\0' || strcmp(name, "/..") == 0 ||
		    strcmp(name, "/.") == 0)
			return -EINVAL;
		r = open_above(paths[i], 1, fds[i]);
		*ret_err = r == -EPERM ? "the directory above the session's must belong to this user and be "
					 "writable by no other"
			   : r == -EINVAL ? "the session's directory must be an absolute path"
					  : "the directory above the session's cannot be opened";
		if (r < 0)
			return r;
	}
	/* Without it nothing is kept across sessions; this is reported where something should be kept. */
	(void)open_above(h->state_dir, 2, &h->places.user);
	return 0;
}

/* --- a helper of another user --- */

static int open_install(const char *path, int *ret_fd)
{
	*ret_fd = open(path, OPEN_DIR);
	return *ret_fd < 0 ? -errno : check_ours(*ret_fd);
}

/* The directory NAME of this owner in `up`; created where it is missing. */
static int open_admitted(int up, const char *name, uid_t owner, int *ret_fd)
{
	int r;

	if (mkdirat(up, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	*ret_fd = openat(up, name, OPEN_DIR);
	if (*ret_fd < 0)
		return -errno;
	r = check_ours(*ret_fd);
	return r < 0 ? r : places_admit(*ret_fd, owner);
}

static int name_places(struct helper *h)
{
	free(h->runtime_dir);
	free(h->state_dir);
	h->runtime_dir = h->state_dir = NULL;
	if (asprintf(&h->runtime_dir, PLACE_RUNTIME "/%u/%s", (unsigned)h->owner, h->session) < 0)
		h->runtime_dir = NULL;
	if (asprintf(&h->state_dir, PLACE_STATE "/%u/sessions/%s", (unsigned)h->owner, h->session) < 0)
		h->state_dir = NULL;
	return h->runtime_dir && h->state_dir ? 0 : -ENOMEM;
}

int places_open_owner(struct helper *h, const char **ret_err, const char **ret_path)
{
	_cleanup_close_ int run = -1;
	char uid[16];
	int r;

	if (h->places.sessions >= 0)
		return 0;
	snprintf(uid, sizeof(uid), "%u", (unsigned)h->owner);
	*ret_err = "the installation is not whole: this directory must belong to pale-helper's user and be "
		   "writable by no other (see pale doctor)";
	*ret_path = PLACE_STATE;
	r = open_install(PLACE_STATE, &h->places.root);
	if (r < 0)
		return r;
	*ret_path = PLACE_RUNTIME;
	r = open_install(PLACE_RUNTIME, &run);
	if (r < 0)
		return r;
	*ret_err = "the directory of this user cannot be had, or lies on a file system without access lists";
	r = open_admitted(run, uid, h->owner, &h->places.runtime);
	if (r < 0)
		return r;
	*ret_path = PLACE_STATE;
	r = open_admitted(h->places.root, uid, h->owner, &h->places.user);
	return r < 0 ? r : open_admitted(h->places.user, "sessions", h->owner, &h->places.sessions);
}

int places_open(struct helper *h, const char **ret_err, const char **ret_path)
{
	int r;

	if (!h->foreign)
		return open_told(h, ret_err, ret_path);
	*ret_err = "out of memory";
	*ret_path = PLACE_STATE;
	r = name_places(h);
	return r < 0 ? r : places_open_owner(h, ret_err, ret_path);
}

int places_open_user(const struct helper *h)
{
	return h->places.user < 0 ? -EPERM : h->places.user;
}

int places_open_root(struct helper *h)
{
	return h->places.root < 0 ? -ENOENT : h->places.root;
}

void places_close(struct helper *h)
{
	int *const fds[] = { &h->places.root, &h->places.user, &h->places.sessions, &h->places.runtime };

	for (size_t i = 0; i < NELEM(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}
