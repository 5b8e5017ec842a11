/*
 * [session] state: the agent's data, configuration, cache, state and scratch in the workspace, so that it
 * neither reads nor changes what the operator's own programs keep in his home.
 *
 * Earlier sessions wrote in there.  So every step is taken from a held directory, through no link, and what
 * is neither a directory nor ours ends the start: nothing is repaired, replaced or followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "policy/path.h"

#include "relocate.h"
#include "tools.h"

/* A socket's path has 108 bytes, and programs add their own names to TMPDIR. */
#define TMPDIR_MAX 80

static const struct {
	const char *name, *variable;
} places[] = {
	{ "data", "XDG_DATA_HOME" },   { "config", "XDG_CONFIG_HOME" },
	{ "cache", "XDG_CACHE_HOME" }, { "state", "XDG_STATE_HOME" },
	{ "tmp", "TMPDIR" },
};

static int refuse(const char *path, int error)
{
	bool stands = error == -ELOOP || error == -ENOTDIR || error == -EXDEV || error == -EPERM;

	if (stands)
		talk("%s is no directory of yours alone (a link, a file, somebody else's): remove it, or use "
		     "--keep-home",
		     path);
	else
		talk("%s cannot be made for the agent's state: %s; --keep-home goes without", path,
		     strerror(-error));
	return error;
}

/* The directory called name below dir, made where it is missing: its descriptor, or -errno. */
static int step(int dir, const char *name)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	struct stat st;
	long fd;
	int error = 0;

	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	if (fstat((int)fd, &st) < 0)
		error = -errno;
	else if (st.st_uid != geteuid() || (st.st_mode & S_IWOTH))
		error = -EPERM;
	if (error == 0)
		return (int)fd;
	(void)close((int)fd);
	return error;
}

static int close_to_others(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return (st.st_mode & 077) == 0 || fchmod(fd, st.st_mode & 0700) == 0 ? 0 : -errno;
}

/* A file that is there is left as it is, whatever it is. */
static int write_new(int dir, const char *name, const char *text)
{
	_cleanup_close_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t len = strlen(text);

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	return write(fd, text, len) == (ssize_t)len ? 0 : -ENOSPC;
}

/* Only what is made here: a project may keep other files of its own beside it in git. */
static int ignore_in_git(int dir)
{
	return write_new(dir, ".gitignore", "/.gitignore\n/data/\n/config/\n/cache/\n/state/\n/tmp/\n");
}

/* Who commits is said in $XDG_CONFIG_HOME/git/config too, which the agent's git would not find any more. */
static int include_git(int config, const char *home)
{
	const char *own = getenv("XDG_CONFIG_HOME");
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	int n = own && own[0] == '/' ? snprintf(path, sizeof(path), "%s/git/config", own)
				     : snprintf(path, sizeof(path), "%s/.config/git/config", home);
	_cleanup_close_ int git = -1;

	if (n >= (int)sizeof(path) || strpbrk(path, "\"\\\n") || access(path, R_OK) < 0)
		return 0;
	git = step(config, "git");
	if (git < 0)
		return git;
	return asprintf(&text, "[include]\n\tpath = \"%s\"\n", path) < 0 ? -ENOMEM
									 : write_new(git, "config", text);
}

static int make_place(int dir, const char *path, size_t i, const char *home, struct environment *env)
{
	_cleanup_close_ int fd = step(dir, places[i].name);
	char place[PATH_MAX];
	int r = fd < 0 ? fd : close_to_others(fd);

	if (r == 0)
		r = path_join(place, sizeof(place), path, places[i].name);
	if (r == 0 && strcmp(places[i].name, "config") == 0)
		r = include_git(fd, home);
	if (r < 0) {
		char shown[2 * PATH_MAX];

		snprintf(shown, sizeof(shown), "%s/%s", path, places[i].name);
		return refuse(shown, r);
	}
	/* Sockets in too long a directory could not be named: then scratch stays where it was. */
	if (strcmp(places[i].variable, "TMPDIR") == 0 && strlen(place) > TMPDIR_MAX)
		return 0;
	return environment_set(env, places[i].variable, place, "by [session] state");
}

/* WORKSPACE/STATE, component by component: its descriptor, or -errno after telling. */
static int walk(const char *workspace, const char *state, char path[PATH_MAX])
{
	int fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t len = strlen(workspace);

	if (fd < 0)
		return refuse(workspace, -errno);
	memcpy(path, workspace, len + 1);
	while (*state) {
		size_t n = strcspn(state, "/");
		_cleanup_free_ char *name = strndup(state, n);
		_cleanup_close_ int parent = fd;

		if (!name || len + n + 2 > PATH_MAX)
			return name ? -ENAMETOOLONG : -ENOMEM;
		len += (size_t)snprintf(path + len, PATH_MAX - len, "/%s", name);
		fd = step(parent, name);
		if (fd < 0)
			return refuse(path, fd);
		state += n + strspn(state + n, "/");
	}
	return fd;
}

static int make_all(const struct relocation *rel, const struct bundle *b, struct environment *env)
{
	char path[PATH_MAX];
	_cleanup_close_ int dir = walk(b->workspace, rel->state, path);
	int r = dir < 0 ? dir : ignore_in_git(dir);

	if (dir >= 0 && r < 0)
		refuse(path, r);
	for (size_t i = 0; r == 0 && i < NELEM(places); i++)
		r = make_place(dir, path, i, b->home, env);
	return r;
}

/* --- where the agent starts ---------------------------------------------------------------------------- */

void relocation_enter(const struct relocation *rel, const struct bundle *b)
{
	if (rel->moved && chdir(b->workspace) < 0)
		talk("%s: %s", b->workspace, strerror(errno));
}

void relocation_leave(const struct relocation *rel, const struct bundle *b)
{
	if (rel->moved && chdir(b->cwd) < 0)
		talk("%s: %s", b->cwd, strerror(errno));
}

/* The program was found from where its owner stands. */
static int move_in(struct relocation *rel, const struct bundle *b, struct environment *env,
		   char found[PATH_MAX])
{
	char whole[PATH_MAX];

	if (path_is_under(b->cwd, b->workspace))
		return 0;
	if (path_normalise(b->cwd, found, whole, sizeof(whole)) < 0)
		return -ENAMETOOLONG;
	if (chdir(b->workspace) < 0) {
		talk("%s: %s", b->workspace, strerror(errno));
		return -errno;
	}
	rel->moved = true;
	strcpy(found, whole);
	return environment_set(env, "PWD", b->workspace, "the workspace");
}

int relocation_plan(struct relocation *rel, const struct options *o, const struct policy *p)
{
	/* In mode read-only nobody writes state; inside a session it is moved already. */
	if (!p->state || o->keep_home || p->s.mode == MODE_READ_ONLY || session_around())
		return 0;
	rel->state = strdup(p->state);
	return rel->state ? 0 : -ENOMEM;
}

int relocation_make(struct relocation *rel, const struct bundle *b, struct environment *env,
		    char found[PATH_MAX])
{
	int r;

	if (!rel->state)
		return 0;
	r = make_all(rel, b, env);
	return r < 0 ? r : move_in(rel, b, env, found);
}

void relocation_done(struct relocation *rel)
{
	free(rel->state);
	rel->state = NULL;
}
