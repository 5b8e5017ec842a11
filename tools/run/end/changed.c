/*
 * The report at the end of a session: see changed.h.
 *
 * A file has changed if its ctime says so, which no process can set back.  The walk visits directories near
 * the top first, skips directories of unpacked packages (it counts the programs in them), and ends after a
 * fixed time, which it then reports.  It follows no link and opens no file.
 */
#include "changed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/base/util.h"
#include "policy/command/cmd.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#define BUDGET_MS 200
#define LINES_MAX 20
#define DIRS_MAX  20000

struct walk {
	const struct changed_mark *m;
	struct timespec end;
	char **dirs; /* a queue, relative to the workspace: the nearest first */
	size_t head, n, cap;
	unsigned lines, more;
	bool cut;
};

/* --- what is said ------------------------------------------------------------------------------------- */

static void say_change(struct walk *w, const char *path, const char *what)
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

static void look_at(struct walk *w, int dir, const char *name, const char *path)
{
	const char *runner = changed_runner(path);
	struct stat st;

	if (runner && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) &&
	    is_new(w, &st))
		say_change(w, path, runner);
}

/* A directory changes when an entry is added to it, such as the files of a plugin. */
static void look_home(void *ctx, int dir, const char *name, const char *path, const char *runner)
{
	struct walk *w = ctx;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_new(w, &st))
		say_change(w, path, runner);
}

/* --- the walk ------------------------------------------------------------------------------------------ */

/* Directories of unpacked packages: only their programs are counted. */
static const struct {
	const char *dir, *programs;
} packages[] = {
	{ "node_modules", "node_modules/.bin" },
	{ ".venv", ".venv/bin" },
	{ "venv", "venv/bin" },
};

/* Of git's own directories only these hold files that git obeys. */
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

/* NULL with errno. */
static DIR *open_dir(const struct walk *w, const char *path)
{
	_cleanup_close_ int top = open(w->m->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = top < 0 ? -1
			 : openat(top, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		(void)close(fd);
	return d;
}

/* Counts new programs in a directory that is likely to be in PATH. */
static void count_programs(struct walk *w, const char *parent, const char *programs)
{
	_cleanup_dir_ DIR *d = NULL;
	char path[PATH_MAX], what[64];
	const struct dirent *e;
	unsigned n = 0;
	struct stat st;

	if (snprintf(path, sizeof(path), "%s%s%s", parent, *parent ? "/" : "", programs) >= (int)sizeof(path))
		return;
	d = open_dir(w, path);
	while (d && (e = readdir(d)) != NULL)
		n += fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) &&
		     (S_ISLNK(st.st_mode) || st.st_mode & 0111) && is_new(w, &st);
	snprintf(what, sizeof(what), "%u program%s", n, n == 1 ? "" : "s");
	if (n > 0)
		say_change(w, path, what);
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

/* The time of the walk is over. */
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

/* Reports a directory that the session made unreadable, so that its content is unknown. */
static void say_closed(struct walk *w, const char *at)
{
	_cleanup_close_ int top = open(w->m->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (top >= 0 && fstatat(top, at, &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0 && is_new(w, &st))
		say_change(w, *at ? at : ".", "closed meanwhile, its files are not known");
}

static void walk_dir(struct walk *w, const char *at)
{
	_cleanup_dir_ DIR *d = open_dir(w, at);
	const struct dirent *e;
	char path[PATH_MAX];
	unsigned seen = 0;
	int n;

	if (!d && errno == EACCES)
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
	*m = (struct changed_mark){ .workspace = workspace, .home = home };
	/* The clock that file systems use for timestamps. */
	clock_gettime(CLOCK_REALTIME_COARSE, &m->since);
}

void changed_report(const struct changed_mark *m)
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
}
