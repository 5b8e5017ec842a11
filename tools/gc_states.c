/*
 * Session directories of the agent's own state, which lies in the workspace: everything here may be the
 * agent's making.
 */
#include "gc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define SESSIONS "data/opencode/session"

/* By the seed, and by pale. */
static const char *const states[] = { ".opencode", ".pale" };

/*
 * While a session lives here, what was written or read since it began may be its own; a read is seen where
 * the file system keeps times of access.
 */
static bool is_stale(const struct sweep *g, int dirfd, const char *name)
{
	bool shared = g->here_since != INT64_MAX;
	int64_t cutoff = g->here_since < g->cutoff ? g->here_since : g->cutoff;

	return !gc_is_live(g, name) && gc_tree_newest(g, dirfd, name, cutoff - 1, shared) < cutoff;
}

static void sweep_one(struct sweep *g, int dirfd, const char *dir, const char *name)
{
	int r;

	if (!is_stale(g, dirfd, name)) {
		/* Time may have been up before that was known. */
		g->left += gc_is_over(g);
		return;
	}
	r = g->mode == GC_REMOVE ? gc_tree_remove(g, dirfd, name) : 0;
	if (r == 0)
		gc_found(g, "session", name, dir, name);
	else if (r == -ETIME)
		g->left++;
	else
		gc_failed(g, dir, name, r);
}

static void sweep_dir(struct sweep *g, int fd, const char *dir)
{
	DIR *stream = gc_stream(fd);
	const struct dirent *e;

	while (stream && (e = readdir(stream))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!gc_is_over(g))
			sweep_one(g, dirfd(stream), dir, e->d_name);
		else if (!gc_leave(g))
			break;
	}
	if (stream)
		(void)closedir(stream);
}

static void sweep_state(struct sweep *g, int workspace, const char *state)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX], dir[PATH_MAX];

	if (path_join(path, sizeof(path), state, SESSIONS) < 0 ||
	    path_join(dir, sizeof(dir), g->policy->workspace, path) < 0)
		return;
	fd = gc_open_dir(workspace, path);
	if (fd >= 0)
		sweep_dir(g, fd, dir);
	else if (fd != -ENOENT && fd != -ENOTDIR)
		gc_note(g, "%s is left alone: %s", dir,
			fd == -ELOOP ? "a symbolic link leads there" : strerror(-fd));
}

void gc_states(struct sweep *g)
{
	_cleanup_close_ int ws = open(g->policy->workspace, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (size_t i = 0; ws >= 0 && i < NELEM(states); i++)
		sweep_state(g, ws, states[i]);
}
