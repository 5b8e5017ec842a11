/*
 * What pale itself made for sessions that were killed: runtime directories, and scratch in /tmp.  Both lie
 * where nobody but the operator writes, and go soon: they are of no use to anybody, and take memory.
 */
#include "gc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "policy/path.h"

#define SOON_S 3600 /* or the expiry, where that is less */
#define SLOW_S 60   /* a session may take that long to say that it lives */

static int64_t soon(const struct sweep *g)
{
	int64_t s = g->policy->expiry_s < SOON_S ? g->policy->expiry_s : SOON_S;

	return g->now - (s < SLOW_S ? SLOW_S : s);
}

/* A run that uses it holds a lock on it, whichever runtime directory it was started with. */
static bool is_used(int at, const char *name)
{
	_cleanup_close_ int fd = gc_open_dir(at, name);

	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0;
}

static void remove_one(struct sweep *g, int at, const char *kind, const char *dir, const char *name)
{
	struct stat st;
	int r;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_mtime >= soon(g) || is_used(at, name))
		return;
	r = g->mode == GC_REMOVE ? gc_tree_remove(g, at, name) : 0;
	if (r == 0)
		gc_found(g, kind, name, dir, name);
	else if (r == -ETIME)
		g->left++;
	else
		gc_failed(g, dir, name, r);
}

static void sweep_runtime(struct sweep *g)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;

	if (sessions_list(&refs, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		_cleanup_close_ int up = -1;
		char dir[PATH_MAX];

		if (gc_is_live(g, refs[i].id) || dir_check_private(refs[i].dir) < 0)
			continue;
		snprintf(dir, sizeof(dir), "%.*s", (int)(path_basename(refs[i].dir) - refs[i].dir - 1),
			 refs[i].dir);
		up = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (up >= 0 && !gc_is_over(g))
			remove_one(g, up, "runtime", dir, refs[i].id);
	}
}

static bool is_id(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]))
			return false;
	return len >= 4 && len < SESSION_ID_MAX;
}

static void sweep_scratch(struct sweep *g)
{
	_cleanup_close_ int fd = -1;
	const struct dirent *e;
	char dir[64];
	DIR *stream;

	snprintf(dir, sizeof(dir), "/tmp/pale-tmp-%u", geteuid());
	if (dir_check_private(dir) < 0)
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	stream = fd < 0 ? NULL : gc_stream(fd);
	while (stream && (e = readdir(stream)))
		if (is_id(e->d_name) && !gc_is_live(g, e->d_name) && !gc_is_over(g))
			remove_one(g, dirfd(stream), "scratch", dir, e->d_name);
	if (stream)
		(void)closedir(stream);
}

void gc_own(struct sweep *g)
{
	sweep_runtime(g);
	sweep_scratch(g);
}
