/*
 * What opencode kept of its sessions in files, below data/opencode/storage, and keeps where it was not yet
 * carried over into its database:
 *
 *   session/PROJECT/SESSION.json   message/SESSION/MESSAGE.json   part/MESSAGE/PART.json
 *   session_diff/SESSION.json, session_share/SESSION.json, todo/SESSION.json
 *
 * A session is as old as the newer of its own file and its messages, and goes whole: parts of a message that
 * is old belong to a session that may not be.  Its own file, or its messages where that is gone, go last, so
 * that a sweep that was cut short is gone on with.
 */
#include "gc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define SUFFIX ".json"

struct storage {
	struct sweep *g;
	const char *dir;
	int fd, session, message, part; /* the directories, or -errno */
};

/* The id before .json, which is the name of something elsewhere. */
static bool split(const char *name, char id[NAME_MAX + 1])
{
	size_t n = strlen(name), m = strlen(SUFFIX);

	if (n <= m || strcmp(name + n - m, SUFFIX) != 0)
		return false;
	snprintf(id, NAME_MAX + 1, "%.*s", (int)(n - m), name);
	return strcmp(id, ".") != 0 && strcmp(id, "..") != 0;
}

static bool is_there(int at, const char *name)
{
	struct stat st;

	return at >= 0 && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int drop(const struct storage *s, int at, const char *name)
{
	return is_there(at, name) ? gc_tree_remove(s->g, at, name) : 0;
}

/* --- one session --- */

static int drop_parts(const struct storage *s, const char *session)
{
	_cleanup_close_ int fd = s->part < 0 || s->message < 0 ? -1 : gc_open_dir(s->message, session);
	DIR *stream = fd < 0 ? NULL : gc_stream(fd);
	char message[NAME_MAX + 1];
	const struct dirent *e;
	int r = 0;

	while (r == 0 && stream && (e = readdir(stream))) {
		if (gc_is_over(s->g))
			r = -ETIME;
		else if (split(e->d_name, message))
			r = drop(s, s->part, message);
	}
	if (stream)
		(void)closedir(stream);
	return r;
}

static int drop_beside(const struct storage *s, const char *file)
{
	static const char *const beside[] = { "session_diff", "session_share", "todo" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < NELEM(beside); i++) {
		_cleanup_close_ int fd = gc_open_dir(s->fd, beside[i]);

		r = drop(s, fd, file);
	}
	return r;
}

static int drop_session(const struct storage *s, const char *id)
{
	char file[NAME_MAX + sizeof(SUFFIX)];
	int r = drop_parts(s, id);

	snprintf(file, sizeof(file), "%s" SUFFIX, id);
	if (r == 0)
		r = drop_beside(s, file);
	return r == 0 ? drop(s, s->message, id) : r;
}

/* dir/name goes as the last that is left of session id. */
static void sweep_session(const struct storage *s, const char *id, int at, const char *dir, const char *name)
{
	int r = s->g->mode == GC_REMOVE ? drop_session(s, id) : 0;

	if (r == 0 && s->g->mode == GC_REMOVE)
		r = drop(s, at, name);
	gc_settle(s->g, GC_DIRECTORY, id, dir, name, r);
}

static bool is_stale(const struct storage *s, const char *id, int at, const char *name)
{
	return !gc_is_live(s->g, id) && gc_is_stale_tree(s->g, at, name) &&
	       (!is_there(s->message, id) || gc_is_stale_tree(s->g, s->message, id));
}

/* --- all of them --- */

typedef void each_fn(const struct storage *s, int at, const char *dir, const char *name);

struct each {
	const struct storage *s;
	const char *dir;
	each_fn *fn;
};

static void on_entry(void *ctx, int at, const char *name)
{
	const struct each *e = ctx;

	e->fn(e->s, at, e->dir, name);
}

static void each(const struct storage *s, int fd, const char *dir, each_fn *fn)
{
	struct each e = { .s = s, .dir = dir, .fn = fn };

	gc_each(s->g, fd, on_entry, &e);
}

static void on_session(const struct storage *s, int at, const char *dir, const char *name)
{
	char id[NAME_MAX + 1];

	if (!split(name, id))
		return;
	if (is_stale(s, id, at, name))
		sweep_session(s, id, at, dir, name);
	else
		s->g->left += gc_is_over(s->g);
}

static void on_project(const struct storage *s, int at, const char *dir, const char *name)
{
	_cleanup_close_ int fd = gc_open_dir(at, name);
	char path[PATH_MAX];

	if (fd >= 0 && path_join(path, sizeof(path), dir, name) == 0)
		each(s, fd, path, on_session);
}

/* Some project has that session. */
static bool is_known(const struct storage *s, const char *id)
{
	DIR *stream = s->session < 0 ? NULL : gc_stream(s->session);
	char path[2 * NAME_MAX + 16];
	const struct dirent *e;
	bool known = false;

	if (stream)
		rewinddir(stream);
	while (!known && stream && (e = readdir(stream))) {
		snprintf(path, sizeof(path), "%s/%s" SUFFIX, e->d_name, id);
		known = gc_is_over(s->g) || is_there(s->session, path);
	}
	if (stream)
		(void)closedir(stream);
	return known;
}

/* Messages of a session whose own file is gone. */
static void on_messages(const struct storage *s, int at, const char *dir, const char *name)
{
	if (!is_known(s, name) && gc_is_stale_tree(s->g, at, name))
		sweep_session(s, name, at, dir, name);
	else
		s->g->left += gc_is_over(s->g);
}

static void each_below(const struct storage *s, int fd, const char *name, each_fn *fn)
{
	char dir[PATH_MAX];

	if (fd >= 0 && path_join(dir, sizeof(dir), s->dir, name) == 0)
		each(s, fd, dir, fn);
	else if (fd == -ELOOP)
		gc_note(s->g, "%s/%s is left alone: it is a symbolic link", s->dir, name);
}

void gc_storage(struct sweep *g, int fd, const char *dir)
{
	_cleanup_close_ int session = gc_open_dir(fd, "session"), message = gc_open_dir(fd, "message"),
			    part = gc_open_dir(fd, "part");
	const struct storage s = {
		.g = g, .dir = dir, .fd = fd, .session = session, .message = message, .part = part
	};

	each_below(&s, session, "session", on_project);
	each_below(&s, message, "message", on_messages);
}
