/*
 * Sweeps the agent's own session state in the workspace.  The agent may have made any of these files.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

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

static void sweep_part(struct sweep *g, int workspace, const char *state, size_t i)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX], dir[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/" DATA "%s%s", state, parts[i].name ? "/" : "",
			 parts[i].name ? parts[i].name : "");

	if (n >= (int)sizeof(path) || path_join(dir, sizeof(dir), g->policy->workspace, path) < 0)
		return;
	fd = gc_open_dir(workspace, path);
	if (fd >= 0)
		parts[i].sweep(g, fd, dir);
	else if (fd != -ENOENT && fd != -ENOTDIR && parts[i].name)
		gc_note(g, "%s is left alone: %s", dir,
			fd == -ELOOP ? "a symbolic link leads there" : strerror(-fd));
}

static void sweep_scratch(struct sweep *g, const char *top, const char *below)
{
	_cleanup_close_ int ws = open(top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int fd = ws < 0 ? -errno : gc_open_dir(ws, below);
	char dir[PATH_MAX];

	if (fd >= 0 && path_join(dir, sizeof(dir), top, below) == 0)
		sweep_each(g, GC_SCRATCH, fd, dir);
}

/* The system empties /tmp, but not these directories. */
void gc_scratch(struct sweep *g)
{
	char path[PATH_MAX];

	if (g->policy->state && path_join(path, sizeof(path), g->policy->state, "tmp") == 0)
		sweep_scratch(g, g->policy->workspace, path);
	if (g->policy->scratch)
		sweep_scratch(g, g->policy->scratch, ".");
}

void gc_states(struct sweep *g)
{
	/* The directories of the policy, of the seed, and of pale. */
	const char *const states[] = { g->policy->state, ".opencode", ".pale" };
	_cleanup_close_ int ws = open(g->policy->workspace, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (size_t i = 0; ws >= 0 && i < NELEM(states); i++) {
		if (!states[i] || (i > 0 && states[0] && strcmp(states[i], states[0]) == 0))
			continue;
		for (size_t j = 0; j < NELEM(parts); j++)
			sweep_part(g, ws, states[i], j);
	}
}
