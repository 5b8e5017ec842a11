/*
 * Where things are: home, configuration, state, runtime directories, and pale's own parts.
 *
 * A directory that holds sockets or secrets is used only where it is ours, no link, and closed to
 * everybody else.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "policy/path.h"

#include "tools.h"

int path_join(char *buf, size_t size, const char *dir, const char *name)
{
	int n = snprintf(buf, size, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static const char *home_of_user(void)
{
	const char *home = getenv("HOME");
	const struct passwd *pw;

	if (home && home[0] == '/')
		return home;
	pw = getpwuid(getuid());
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

size_t runtime_candidates(char list[RUNTIME_CANDIDATES][PATH_MAX])
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	unsigned uid = geteuid();
	size_t n = 0;

	if (xdg && xdg[0] == '/' && path_join(list[n], PATH_MAX, xdg, "pale") == 0)
		n++;
	snprintf(list[n++], PATH_MAX, "/run/user/%u/pale", uid);
	snprintf(list[n++], PATH_MAX, "/dev/shm/pale-%u", uid);
	snprintf(list[n++], PATH_MAX, "/tmp/pale-%u", uid);
	return n;
}

/* A parent that is shared by design: the candidate itself is the private directory. */
static bool is_shared_parent(const char *parent)
{
	return strcmp(parent, "/tmp") == 0 || strcmp(parent, "/dev/shm") == 0;
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
	return dir_check_private(dir);
}

int runtime_make(char *buf, size_t size)
{
	char list[RUNTIME_CANDIDATES][PATH_MAX];
	size_t n = runtime_candidates(list);
	int r = -ENOENT;

	for (size_t i = 0; i < n; i++) {
		r = runtime_try(list[i]);
		if (r < 0)
			continue;
		if (strlen(list[i]) >= size)
			return -ENAMETOOLONG;
		strcpy(buf, list[i]);
		return 0;
	}
	return r;
}

static int find_part(const char *dir, const char *const *places, char *ret)
{
	for (; *places; places++) {
		char tried[PATH_MAX];

		if (path_join(tried, sizeof(tried), dir, *places) == 0 && realpath(tried, ret))
			return 0;
	}
	return -ENOENT;
}

/* An ELF object for this machine; a shared object has no interpreter, as a static program has none. */
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

int installed_find(struct installed *ret, char *why, size_t size)
{
	static const char *const preload[] = { "libpale.so", "../lib/pale/libpale.so", NULL };
	static const char *const helper[] = { "pale-helper", "../libexec/pale/pale-helper", NULL };
	ssize_t n = readlink("/proc/self/exe", ret->self, sizeof(ret->self) - 1);
	char copy[PATH_MAX];
	const char *dir;

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
	return check_preload(ret->preload, why, size);
}

/* Resolves the longest existing ancestor; the rest is appended as it is. */
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

	/* The file itself first: `..` behind a symbolic link is not what the text says. */
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
