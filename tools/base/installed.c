/*
 * The installed parts of pale, and the kind of its helper: one that runs as the calling user, one that is
 * setuid to a user of its own, or one that systemd starts for each connection.
 */
#include "installed.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "policy/file/elfkind.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "foreign.h"
#include "paths.h"
#include "readfile.h"

static int find_part(const char *dir, const char *const *places, char *ret)
{
	for (; *places; places++) {
		char tried[PATH_MAX];

		if (path_join(tried, sizeof(tried), dir, *places) == 0 && realpath(tried, ret))
			return 0;
	}
	return -ENOENT;
}

/* True for an ELF object for this machine without an interpreter, as a shared object is. */
static bool is_loadable(int fd)
{
	struct elf_info info;

	elf_inspect(file_read_at, &fd, &info);
	return info.kind == ELF_STATIC || info.kind == ELF_DYNAMIC;
}

static int check_preload(const char *path, char *why, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	/* The loader ignores a preload that it cannot use, and the program would run unfenced. */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !is_loadable(fd)) {
		snprintf(why, size, "%s cannot be loaded: the agent would run without it", path);
		return -EACCES;
	}
	if (strpbrk(path, " :\t\n")) {
		snprintf(why, size,
			 "the path of %s has a space or a colon, which LD_PRELOAD cannot carry; install pale "
			 "elsewhere",
			 path);
		return -EINVAL;
	}
	return 0;
}

/* The setuid bit must take effect and lead to a user other than root, and only root may be able to replace
 * the file. */
static int check_setuid(struct installed *in, const struct stat *st, char *why, size_t size)
{
	struct statvfs fs;

	in->helper_kind = HELPER_SETUID;
	in->helper_uid = st->st_uid;
	if (st->st_uid == 0)
		snprintf(why, size, "%s is setuid root; it must belong to a user of its own", in->helper);
	else if ((st->st_mode & (S_IWGRP | S_IWOTH)) || !dir_chain_is_roots(in->helper))
		snprintf(why, size,
			 "%s is setuid, but others than root can replace it or a directory above it",
			 in->helper);
	else if (statvfs(in->helper, &fs) == 0 && (fs.f_flag & ST_NOSUID))
		snprintf(why, size, "%s is setuid on a file system that is mounted nosuid", in->helper);
	else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) > 0)
		snprintf(why, size, "%s is setuid, which no_new_privs of this terminal or container forbids",
			 in->helper);
	else
		return 0;
	return -EPERM;
}

/* A setuid helper comes first, then the service, then a helper that runs as the calling user. */
static int find_helper_kind(struct installed *in, char *why, size_t size)
{
	struct stat st;

	in->helper_uid = geteuid();
	if (stat(in->helper, &st) < 0) {
		snprintf(why, size, "%s: %s", in->helper, strerror(errno));
		return -errno;
	}
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return check_setuid(in, &st, why, size);
	if (lstat(PLACE_SERVICE, &st) < 0)
		return 0;
	in->helper_kind = HELPER_SERVICE;
	if (S_ISSOCK(st.st_mode) && foreign_uid(&in->helper_uid) == 0 &&
	    (st.st_uid == 0 || st.st_uid == in->helper_uid))
		return 0;
	snprintf(why, size,
		 PLACE_SERVICE
		 " is not a socket of root or of pale-helper's user, in a directory of that user");
	return -EPERM;
}

static int find_all(struct installed *ret, char *why, size_t size)
{
	static const char *const preload[] = { "libpale.so", "../lib/pale/libpale.so", NULL };
	static const char *const helper[] = { "pale-helper", "../libexec/pale/pale-helper", NULL };
	static const char *const gate[] = { "pale-gate", "../libexec/pale/pale-gate", NULL };
	static const char *const remote[] = { "git-remote-pale", "../libexec/pale/git-remote-pale", NULL };
	char copy[PATH_MAX];
	const char *dir;
	ssize_t n;

	*ret = (struct installed){ .helper_kind = HELPER_OWN };
	n = readlink("/proc/self/exe", ret->self, sizeof(ret->self) - 1);
	if (n < 0) {
		snprintf(why, size, "cannot tell where pale itself is: /proc/self/exe: %s", strerror(errno));
		return -errno;
	}
	ret->self[n] = '\0';
	strcpy(copy, ret->self);
	dir = dirname(copy);
	if (find_part(dir, preload, ret->preload) < 0) {
		snprintf(why, size, "libpale.so is missing: neither in %s nor in %s/../lib/pale", dir, dir);
		return -ENOENT;
	}
	if (find_part(dir, helper, ret->helper) < 0 || access(ret->helper, X_OK) < 0) {
		snprintf(why, size, "pale-helper is missing: neither in %s nor in %s/../libexec/pale", dir,
			 dir);
		return -ENOENT;
	}
	if (check_preload(ret->preload, why, size) < 0)
		return -EACCES;
	if (find_part(dir, gate, ret->gate) < 0 || find_part(dir, remote, ret->remote) < 0)
		ret->gate[0] = ret->remote[0] = '\0';
	return find_helper_kind(ret, why, size);
}

const char *const installed_hooks[] = { "tool-opencode.js", NULL };

int installed_beside(const struct installed *in, const char *name, char path[PATH_MAX])
{
	char copy[PATH_MAX];
	int r;

	strcpy(copy, in->preload);
	r = path_join(path, PATH_MAX, dirname(copy), name);
	if (r == 0 && access(path, R_OK) < 0)
		r = -errno;
	return r;
}

/* The run and the protection of these files both need the result, so it is kept. */
int installed_find(struct installed *ret, char *why, size_t size)
{
	static struct installed found;
	int r = 0;

	if (!found.self[0])
		r = find_all(ret, why, size);
	else
		*ret = found;
	if (r == 0)
		found = *ret;
	return r;
}
