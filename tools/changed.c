/*
 * The report at the end of a session: see changed.h.
 *
 * A file changed where its ctime says so, which nobody can set back.  The walk takes what is near first,
 * leaves out what packages are unpacked into, whose programs it counts, and ends after a fixed time: it
 * then says so.  Nothing is followed, nothing but package.json and `.git` files is opened.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "changed.h"
#include "policy/buf.h"
#include "policy/cmd.h"
#include "tools.h"

#define BUDGET_MS   200
#define LINES_MAX   20
#define DIRS_MAX    20000
#define PACKAGE_MAX (1024 * 1024)
#define TARGET_MAX  256
#define NAMES_MAX   10

struct walk {
	const struct changed_mark *m;
	struct timespec end;
	char **dirs; /* to be looked at, relative to the workspace; a queue, so that what is near comes first
		      */
	size_t head, n, cap;
	unsigned lines, more;
	bool cut;
};

/* --- package.json ------------------------------------------------------------------------------------ */

/* Its scripts: a new reference, or NULL. */
static json_t *scripts_of(int dirfd, const char *path)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	json_t *package, *scripts;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > PACKAGE_MAX)
		return NULL;
	package = json_loadfd(fd, 0, NULL);
	scripts = json_incref(json_object_get(package, "scripts"));
	json_decref(package);
	return scripts;
}

/* The names of those that are new or changed, "scripts.a, scripts.b"; false where there are none. */
static bool put_names(struct out *o, json_t *before, json_t *now)
{
	const char *key;
	json_t *value;
	unsigned n = 0;

	json_object_foreach(now, key, value)
	{
		if (json_equal(json_object_get(before, key), value) || n++ >= NAMES_MAX)
			continue;
		text_str(o, n > 1 ? ", " : "");
		text_str(o, "scripts.");
		text_escaped(o, key, strlen(key));
	}
	if (n > NAMES_MAX)
		text_str(o, ", ...");
	return n > 0;
}

/* --- what is said ------------------------------------------------------------------------------------- */

static void say(struct walk *w, const char *path, const char *what)
{
	char line[1024];
	struct out o = out_of(line, sizeof(line));

	if (w->lines++ >= LINES_MAX) {
		w->more++;
		return;
	}
	text_escaped(&o, path, strnlen(path, 600));
	text_str(&o, " (");
	text_str(&o, what);
	text_str(&o, ")");
	text_end(&o);
	talk("changed, runs later: %s", line);
}

static bool is_new(const struct walk *w, const struct stat *st)
{
	const struct timespec *c = &st->st_ctim, *s = &w->m->since;

	return c->tv_sec > s->tv_sec || (c->tv_sec == s->tv_sec && c->tv_nsec >= s->tv_nsec);
}

/* The workspace's own scripts are compared, those of other packages cannot be. */
static void say_package(struct walk *w, int dir, const char *path)
{
	json_t *now = scripts_of(dir, "package.json");
	char what[512];
	struct out o = out_of(what, sizeof(what));

	if (put_names(&o, strcmp(path, "package.json") == 0 ? w->m->scripts : NULL, now)) {
		text_end(&o);
		say(w, path, what);
	}
	json_decref(now);
}

/* A `.git` that is a file or a link names another repository, which git obeys. */
static void say_pointer(struct walk *w, int dir, const char *path, const struct stat *st)
{
	char text[TARGET_MAX] = "", what[2 * TARGET_MAX];
	struct out o = out_of(what, sizeof(what));
	ssize_t n = 0;

	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(dir, ".git", text, sizeof(text) - 1);
	} else {
		_cleanup_close_ int fd = openat(dir, ".git", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	}
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	text_str(&o, "git, points to ");
	text_escaped(&o, strncmp(text, "gitdir: ", 8) == 0 ? text + 8 : text,
		     strlen(strncmp(text, "gitdir: ", 8) == 0 ? text + 8 : text));
	text_end(&o);
	say(w, path, what);
}

static void look_at(struct walk *w, int dir, const char *name, const char *path)
{
	const char *runner = changed_runner(path);
	struct stat st;

	if (!runner || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode) ||
	    !is_new(w, &st))
		return;
	if (strcmp(name, "package.json") == 0)
		say_package(w, dir, path);
	else if (strcmp(name, ".git") == 0)
		say_pointer(w, dir, path, &st);
	else
		say(w, path, runner);
}

/* A directory changes as something comes to be in it, a plugin's files with it. */
static void look_home(void *ctx, int dir, const char *name, const char *path, const char *runner)
{
	struct walk *w = ctx;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_new(w, &st))
		say(w, path, runner);
}

/* --- the walk ------------------------------------------------------------------------------------------ */

/* Where packages are unpacked: their programs are counted, all else in there is other people's. */
static const struct {
	const char *dir, *programs;
} packages[] = {
	{ "node_modules", "node_modules/.bin" },
	{ ".venv", ".venv/bin" },
	{ "venv", "venv/bin" },
};

/* Of git's own directories only these hold what is obeyed. */
static bool is_of_interest(const char *parent, const char *name)
{
	const char *git = strstr(parent, ".git");
	bool inside = git && (git == parent || git[-1] == '/') && (git[4] == '\0' || git[4] == '/');

	if (inside && strstr(git, "/modules"))
		return !word_in_list("objects refs logs lfs info", name, strlen(name));
	return !inside || strcmp(name, "hooks") == 0 || strcmp(name, "modules") == 0;
}

static void queue(struct walk *w, const char *path)
{
	char **dirs = w->dirs;

	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 64;
		dirs = w->cap > DIRS_MAX ? NULL : realloc(w->dirs, w->cap * sizeof(*dirs));
	}
	if (!dirs) {
		w->cap = w->n;
		w->cut = true;
		return;
	}
	w->dirs = dirs;
	w->dirs[w->n] = strdup(path);
	w->n += w->dirs[w->n] != NULL;
}

static int open_dir(const struct walk *w, const char *path)
{
	_cleanup_close_ int top = open(w->m->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return top < 0 ? -1
		       : openat(top, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* New programs in a directory that PATH is likely to have. */
static void count_programs(struct walk *w, const char *parent, const char *programs)
{
	char path[PATH_MAX], what[64];
	const struct dirent *e;
	unsigned n = 0;
	struct stat st;
	DIR *d;
	int fd;

	if (snprintf(path, sizeof(path), "%s%s%s", parent, *parent ? "/" : "", programs) >= (int)sizeof(path))
		return;
	fd = open_dir(w, path);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)) != NULL)
		n += fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) &&
		     (S_ISLNK(st.st_mode) || st.st_mode & 0111) && is_new(w, &st);
	closedir(d);
	snprintf(what, sizeof(what), "%u program%s", n, n == 1 ? "" : "s");
	if (n > 0)
		say(w, path, what);
}

static bool is_package_dir(struct walk *w, const char *parent, const char *name)
{
	for (size_t i = 0; i < NELEM(packages); i++)
		if (strcmp(name, packages[i].dir) == 0) {
			count_programs(w, parent, packages[i].programs);
			return true;
		}
	return false;
}

/* Out of time? */
static bool is_late(const struct walk *w)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > w->end.tv_sec || (now.tv_sec == w->end.tv_sec && now.tv_nsec > w->end.tv_nsec);
}

static bool is_dir(int dir, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* A directory that the session closed: what lies in it is not known. */
static void say_closed(struct walk *w, const char *at)
{
	_cleanup_close_ int top = open(w->m->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (top >= 0 && fstatat(top, at, &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0 && is_new(w, &st))
		say(w, *at ? at : ".", "closed meanwhile, its files are not known");
}

static void walk_dir(struct walk *w, const char *at)
{
	int fd = open_dir(w, at);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;
	char path[PATH_MAX];
	unsigned seen = 0;
	int n;

	if (!d && fd >= 0)
		close(fd);
	if (fd < 0 && errno == EACCES)
		say_closed(w, at);
	n = snprintf(path, sizeof(path), "%s%s", at, *at ? "/" : "");
	while (d && n < (int)sizeof(path) && (e = readdir(d)) != NULL) {
		size_t len = strlen(e->d_name);

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    (size_t)n + len >= sizeof(path))
			continue;
		memcpy(path + n, e->d_name, len + 1);
		if (++seen % 256 == 0 && is_late(w)) {
			w->cut = true;
			break;
		}
		if (!is_dir(dirfd(d), e))
			look_at(w, dirfd(d), e->d_name, path);
		else if (!changed_is_state(path) && is_of_interest(at, e->d_name) &&
			 !is_package_dir(w, at, e->d_name))
			queue(w, path);
	}
	if (d)
		closedir(d);
}

static void walk_all(struct walk *w)
{
	queue(w, "");
	while (w->head < w->n) {
		char *at = w->dirs[w->head++];

		w->cut |= w->cut || is_late(w);
		if (!w->cut || !*at)
			walk_dir(w, at);
		free(at);
	}
	free(w->dirs);
}

/* --- the session --------------------------------------------------------------------------------------- */

void changed_begin(struct changed_mark *m, const char *workspace, const char *home)
{
	char path[PATH_MAX];

	*m = (struct changed_mark){ .workspace = workspace, .home = home };
	/* The clock that file systems go by. */
	clock_gettime(CLOCK_REALTIME_COARSE, &m->since);
	if (path_join(path, sizeof(path), workspace, "package.json") == 0)
		m->scripts = scripts_of(AT_FDCWD, path);
}

void changed_report(struct changed_mark *m)
{
	struct walk w = { .m = m };

	if (!m->workspace)
		return;
	clock_gettime(CLOCK_MONOTONIC, &w.end);
	w.end.tv_nsec += BUDGET_MS * 1000000L;
	w.end.tv_sec += w.end.tv_nsec / 1000000000L;
	w.end.tv_nsec %= 1000000000L;
	walk_all(&w);
	changed_home(m->home, look_home, &w);
	if (w.more)
		talk("changed, runs later: %u more", w.more);
	if (w.cut)
		talk("changed, runs later: the workspace is large, and not all of it was looked at; see: "
		     "pale "
		     "session show");
	changed_done(m);
}

void changed_done(struct changed_mark *m)
{
	json_decref(m->scripts);
	*m = (struct changed_mark){ .workspace = NULL };
}
