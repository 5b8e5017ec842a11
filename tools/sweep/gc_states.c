/*
 * Sweeps the agent's own session state.  The agent may have made any of these files.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"

#include "gc.h"

#define DATA	 "data/opencode"
#define DATABASE "opencode.db"

/* While a session lives here, what was written or read since it began may be its own.  Reading is seen only
 * where the file system keeps access times. */
bool gc_is_stale_tree(const struct sweep *g, int at, const char *name)
{
	bool shared = g->here_since != INT64_MAX;
	int64_t cutoff = g->here_since < g->cutoff ? g->here_since : g->cutoff;

	return !gc_is_live(g, name) && gc_tree_newest(g, at, name, cutoff - 1, shared) < cutoff;
}

/* A directory whose entries are one kind of thing each. */
struct heap {
	struct sweep *g;
	enum gc_kind kind;
	const char *dir;
};

static void sweep_one(void *ctx, int at, const char *name)
{
	const struct heap *h = ctx;
	struct sweep *g = h->g;

	if (!gc_is_stale_tree(g, at, name)) {
		/* The time may have ended before the result was known. */
		g->left += gc_is_over(g);
		return;
	}
	gc_settle(g, h->kind, name, h->dir, name, g->mode == GC_REMOVE ? gc_tree_remove(g, at, name) : 0);
}

static void sweep_each(struct sweep *g, enum gc_kind kind, int fd, const char *dir)
{
	struct heap h = { .g = g, .kind = kind, .dir = dir };

	gc_each(g, fd, sweep_one, &h);
}

/* A directory for each session, as the seed has it. */
static void sweep_sessions(struct sweep *g, int fd, const char *dir)
{
	sweep_each(g, GC_DIRECTORY, fd, dir);
}

/* Reports a database, which only its own program can change. */
static void tell_database(struct sweep *g, int fd, const char *dir)
{
	struct stat st;

	if (g->told && fstatat(fd, DATABASE, &st, AT_SYMLINK_NOFOLLOW) == 0)
		gc_note(g,
			"%s/" DATABASE
			" is left alone: sessions in opencode's database are opencode's to remove",
			dir);
}

static const struct {
	const char *name; /* below DATA; NULL is DATA itself */
	void (*sweep)(struct sweep *g, int fd, const char *dir);
} parts[] = {
	{ "session", sweep_sessions },
	{ NULL, tell_database },
};

/* Opens the directory `path`, below the workspace or absolute, and writes its absolute path to ret: a
 * descriptor, or -errno. */
static int open_part(const struct sweep *g, const char *path, char ret[PATH_MAX])
{
	const char *top = path[0] == '/' ? "/" : g->policy->workspace;
	_cleanup_close_ int held = open(top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (path_normalise(top, path, ret, PATH_MAX) < 0)
		return -ENAMETOOLONG;
	return held < 0 ? -errno : gc_open_dir(held, path + (path[0] == '/'));
}

static void sweep_part(struct sweep *g, const char *state, size_t i)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX], dir[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/" DATA "%s%s", state, parts[i].name ? "/" : "",
			 parts[i].name ? parts[i].name : "");

	if (n >= (int)sizeof(path))
		return;
	fd = open_part(g, path, dir);
	if (fd >= 0)
		parts[i].sweep(g, fd, dir);
	else if (fd != -ENOENT && fd != -ENOTDIR && parts[i].name)
		gc_note(g, "%s is left alone: %s", dir,
			fd == -ELOOP ? "a symbolic link leads there" : strerror(-fd));
}

/* The system empties /tmp, but not these directories. */
void gc_scratch(struct sweep *g)
{
	char path[PATH_MAX], dir[PATH_MAX];
	_cleanup_close_ int fd = -1;

	if (!g->policy->state || path_join(path, sizeof(path), g->policy->state, "tmp") < 0)
		return;
	fd = open_part(g, path, dir);
	if (fd >= 0)
		sweep_each(g, GC_SCRATCH, fd, dir);
}

void gc_states(struct sweep *g)
{
	/* The directories of the policy, of the seed, and of pale. */
	const char *const states[] = { g->policy->state, ".opencode", ".pale" };

	for (size_t i = 0; i < NELEM(states); i++) {
		if (!states[i] || (i > 0 && states[0] && strcmp(states[i], states[0]) == 0))
			continue;
		for (size_t j = 0; j < NELEM(parts); j++)
			sweep_part(g, states[i], j);
	}
}
