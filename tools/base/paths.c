/*
 * Where things are: home, configuration, state, runtime directories.
 *
 * A directory that holds sockets or secrets is used only where it belongs to this user, is no link, and is
 * closed to all other users.
 */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "output.h"

#define RUNTIME_ROOM (1 << 20) /* bytes */

int path_join(char *buf, size_t size, const char *dir, const char *name)
{
	int n = snprintf(buf, size, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static const char *home_of_user(void)
{
	const char *home = getenv("HOME");

	return home && home[0] == '/' ? home : home_of_login();
}

const char *home_of_login(void)
{
	const struct passwd *pw = getpwuid(getuid());

	return pw && pw->pw_dir[0] == '/' ? pw->pw_dir : NULL;
}

/* $variable/pale, or home/fallback/pale where it is unset or (as the XDG specification says) relative. */
static int xdg_dir(char *buf, size_t size, const char *variable, const char *home, const char *fallback)
{
	const char *value = getenv(variable);
	int n;

	if (value && value[0] == '/')
		return path_join(buf, size, value, "pale");
	n = snprintf(buf, size, "%s/%s/pale", home, fallback);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int dirs_find(struct dirs *ret)
{
	const char *home = home_of_user();
	int r;

	if (!home)
		return -ENOENT;
	r = path_real(home, ret->home, sizeof(ret->home));
	if (r < 0)
		return r;
	r = xdg_dir(ret->config, sizeof(ret->config), "XDG_CONFIG_HOME", ret->home, ".config");
	if (r < 0)
		return r;
	return xdg_dir(ret->state, sizeof(ret->state), "XDG_STATE_HOME", ret->home, ".local/state");
}

int dir_make(const char *dir)
{
	char buf[PATH_MAX];
	size_t len = strlen(dir);

	if (len >= sizeof(buf) || dir[0] != '/')
		return -EINVAL;
	memcpy(buf, dir, len + 1);
	for (char *p = buf + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(buf, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(buf, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int dir_check_private(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid == geteuid() && (st.st_mode & 077) == 0 ? 0 : -EPERM;
}

int dir_check_own(const char *dir)
{
	struct stat st;

	if (stat(dir, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	return st.st_uid == geteuid() && !(st.st_mode & 022) ? 0 : -EPERM;
}

int dir_open_own(int dir, const char *name, const char *shown)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int held = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	char self[40];
	struct stat st;
	int fd;

	if (held < 0 || fstat(held, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & S_IWOTH))
		return -EPERM;
	if ((st.st_mode & S_IRWXU) != S_IRWXU) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", held);
		if (chmod(self, (st.st_mode & 0777) | S_IRWXU) < 0)
			return -errno;
		talk("%s was closed to you (mode %03o) and is opened again", shown,
		     (unsigned)st.st_mode & 0777);
	}
	fd = openat(held, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

size_t runtime_candidates(char list[RUNTIME_CANDIDATES][PATH_MAX])
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	unsigned uid = geteuid();
	struct dirs dirs;
	size_t n = 0;

	if (xdg && xdg[0] == '/' && path_join(list[n], PATH_MAX, xdg, "pale") == 0)
		n++;
	snprintf(list[n++], PATH_MAX, "/run/user/%u/pale", uid);
	snprintf(list[n++], PATH_MAX, "/dev/shm/pale-%u", uid);
	snprintf(list[n++], PATH_MAX, "/tmp/pale-%u", uid);
	/* Other users may have taken the two above; they cannot make this one. */
	if (dirs_find(&dirs) == 0 && path_join(list[n], PATH_MAX, dirs.state, "run") == 0)
		n++;
	return n;
}

/* Many users share this parent by design: only the directory in it must be private. */
static bool is_shared_parent(const char *parent)
{
	return strcmp(parent, "/tmp") == 0 || strcmp(parent, "/dev/shm") == 0;
}

/* For the compiled policy, which is the largest file there.  Any user can fill a shared parent.  A file
 * system of no size has no limit. */
static bool has_room(const char *dir)
{
	struct statvfs fs;

	return statvfs(dir, &fs) < 0 || fs.f_blocks == 0 ||
	       (uint64_t)fs.f_bavail * fs.f_frsize >= RUNTIME_ROOM;
}

static int runtime_try(const char *dir)
{
	struct sockaddr_un sun;
	char parent[PATH_MAX];
	int r;

	/* The longest socket path below it must fit. */
	if (strlen(dir) + sizeof("/xxxxxx/control.sock") > sizeof(sun.sun_path))
		return -ENAMETOOLONG;
	snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(dir, '/') - dir), dir);
	if (!is_shared_parent(parent)) {
		r = dir_check_private(parent);
		if (r < 0)
			return r;
	}
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	r = dir_check_private(dir);
	return r == 0 && !has_room(dir) ? -ENOSPC : r;
}

/* Reports a directory that another user made first, with that user's id, or one on a full file system: the
 * operator must be able to act on it. */
static void tell_taken(const char *dir, int error)
{
	struct stat st;

	if (error == -ENOSPC)
		talk("the file system of %s is full, and the next place is tried", dir);
	else if (lstat(dir, &st) == 0 && st.st_uid != geteuid())
		talk("%s belongs to user %u and is not used: have it removed, or set XDG_RUNTIME_DIR to a "
		     "directory of your own (mode 0700)",
		     dir, (unsigned)st.st_uid);
}

int runtime_make(char *buf, size_t size)
{
	char list[RUNTIME_CANDIDATES][PATH_MAX];
	size_t n = runtime_candidates(list);
	int r = -ENOENT;

	for (size_t i = 0; i < n; i++) {
		/* The last one lies below the state directory, which the first session has to make. */
		if (i + 1 == n)
			(void)dir_make(list[i]);
		r = runtime_try(list[i]);
		if (r < 0) {
			tell_taken(list[i], r);
			continue;
		}
		if (strlen(list[i]) >= size)
			return -ENAMETOOLONG;
		strcpy(buf, list[i]);
		return 0;
	}
	return r;
}

/* Resolves the longest existing ancestor and appends the rest unchanged. */
static int real_of_ancestor(char *path, char *buf, size_t size)
{
	char rest[PATH_MAX] = "";

	for (;;) {
		char real[PATH_MAX], joined[PATH_MAX];
		char *slash = strrchr(path, '/');

		if (realpath(path[0] ? path : "/", real)) {
			int n = snprintf(buf, size, "%s%s", rest[0] && !real[1] ? "" : real, rest);

			return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
		}
		if (!slash || (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP))
			return -errno;
		if (snprintf(joined, sizeof(joined), "%s%s", slash, rest) >= (int)sizeof(joined))
			return -ENAMETOOLONG;
		strcpy(rest, joined);
		*slash = '\0';
	}
}

int path_real(const char *path, char *buf, size_t size)
{
	char cwd[PATH_MAX], lexical[PATH_MAX], real[PATH_MAX];
	int r;

	/* Resolve the whole path first: `..` after a symbolic link does not lead where the text says. */
	if (realpath(path, real)) {
		if (strlen(real) >= size)
			return -ENAMETOOLONG;
		strcpy(buf, real);
		return 0;
	}
	if (!getcwd(cwd, sizeof(cwd)))
		return -errno;
	r = path_normalise(cwd, path, lexical, sizeof(lexical));
	if (r < 0)
		return r;
	return real_of_ancestor(lexical, buf, size);
}
