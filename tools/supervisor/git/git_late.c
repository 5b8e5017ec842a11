/*
 * What is written in place, judged once it is complete: see git.h.
 *
 * cp writes a configuration into an existing repository, and git-lfs writes a hook: neither can be judged
 * when the file is opened.  The process therefore writes into a file without a name.  When the last
 * descriptor of this file is closed, and before any later call of the session is served, the supervisor reads
 * the text once and judges it.  It then installs the text as a new file under the name, or prints why it does
 * not. Until then an existing configuration, index or HEAD stays as it was, for every process that reads it.
 *
 * The kernel queues the event of a close(2) before that returns (fs/file_table.c, __fput()).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/gitfiles/gitconfig.h"
#include "policy/gitfiles/githook.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/supervisor/asker.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/open/open.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/call_record.h"

#include "git.h"

#define LATE_MAX 64

/* Of an open these make sense for a file that was made already. */
#define KEPT_FLAGS (O_ACCMODE | O_APPEND | O_NONBLOCK | O_DSYNC | O_SYNC | O_NOATIME)

struct late {
	int wd; /* 0: nobody's */
	int file, dir, err;
	char name[NAME_MAX + 1];
	bool is_new;
	struct stat place; /* the file of that name: an empty one, or an index as it was */
	uint32_t rule;
	struct asker who;
};

/* Under the turn of git.c. */
static struct late all[LATE_MAX];
static struct worker *desk;
static int events = -1; /* inotify(7) */
static _Atomic unsigned n_all;

static void forget(struct late *l)
{
	if (l->file >= 0)
		close(l->file);
	if (l->dir >= 0)
		close(l->dir);
	if (l->err >= 0)
		close(l->err);
	if (l->wd > 0)
		n_all--;
	l->wd = 0;
}

/* --- the end ------------------------------------------------------------------------------------------ */

static bool is_allowed(const struct caller *c, const struct late *l, const char *text, size_t len,
		       const char *path, char *why, size_t size)
{
	const struct git_home *home = &session_setup(c->sup)->git;
	const struct image *img = &c->image;

	if (strcmp(l->name, "config") == 0 || strcmp(l->name, "config.worktree") == 0) {
		_cleanup_free_ char *before = NULL;
		size_t before_len = 0;

		if (!l->is_new)
			(void)git_file_read(l->dir, l->name, GITCONFIG_MAX, &before, &before_len,
					    &(mode_t){ 0 });
		return git_config_allows(img, before, before_len, text, len, path, why, size) &&
		       git_index_fits(l->dir, before, before_len, text, len, why, size) &&
		       git_own_allows(home, img, path, before, before_len, text, len, why, size);
	}
	if (git_is_ref(home, path) && !githook_is_lfs_name(l->name))
		return git_ref_may_be(img, text, why, size);
	if (strcmp(l->name, "index") == 0)
		return git_index_may_be(l->dir, text, len, why, size);
	if (strcmp(l->name, "commondir") == 0)
		return git_common_may_be(l->dir, text, why, size);
	if (strcmp(l->name, "HEAD") == 0)
		return git_now_may_be(img, text, why, size);
	snprintf(why, size, "%s", GIT_A_HOOK);
	return githook_is_lfs(l->name, text, len);
}

static void path_of(const struct late *l, char path[LIMIT_PATH])
{
	char link[64], dir[LIMIT_PATH];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", l->dir);
	n = readlink(link, dir, sizeof(dir) - 1);
	dir[n > 0 ? n : 0] = '\0';
	if (path_join(path, LIMIT_PATH, dir, l->name) < 0)
		path[0] = '\0';
}

static void deny(struct caller *c, const struct late *l, const char *path, const char *why)
{
	const struct decision d = { VERDICT_DENY, REASON_GIT, l->rule, 0 };
	const struct request req = { .op = OP_WRITE, .access = ACCESS_WRITE, .path = path };

	c->err = l->err > 0 ? l->err : 0;
	record_denied(c, &req, path, &d, "", why);
}

/* Nobody removed it meanwhile, or put another there: this one would have gone with it. */
static bool has_place(const struct late *l)
{
	struct stat st;

	return fstatat(l->dir, l->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == l->place.st_ino &&
	       st.st_dev == l->place.st_dev;
}

static size_t most(const struct late *l)
{
	return strcmp(l->name, "index") == 0 ? GIT_INDEX_MAX : GITCONFIG_MAX;
}

/* Read, judged, and put in its place: false with the reason in why, and what was there before is there. */
static bool complete(struct caller *c, const struct late *l, const char *path, char *why, size_t size)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	mode_t mode = 0;
	int r = git_fd_read(l->file, most(l), &text, &len, &mode);

	if (r == 0 && !is_allowed(c, l, text, len, path, why, size))
		r = -EPERM;
	else if (r == -EFBIG)
		snprintf(why, size, "it is too large");
	else if (r == 0) {
		r = git_file_install(l->dir, l->name, text, len, mode);
		if (r < 0)
			snprintf(why, size, "it cannot be put in its place: %s", strerror(-r));
	} else
		snprintf(why, size, "it cannot be read: %s", strerror(-r));
	if (r < 0 && l->is_new)
		(void)unlinkat(l->dir, l->name, 0);
	return r == 0;
}

static void finish(struct supervisor *s, struct late *l)
{
	char path[LIMIT_PATH], why[256];
	struct caller c;

	path_of(l, path);
	if (has_place(l)) {
		asker_stand_in(&c, s, &l->who, desk);
		if (!complete(&c, l, path, why, sizeof(why)))
			deny(&c, l, path, why);
	}
	forget(l);
}

static void finish_closed(struct supervisor *s)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while ((n = read(events, buf, sizeof(buf))) > 0) {
		const struct inotify_event *e;

		for (char *p = buf; p < buf + n; p += sizeof(*e) + e->len) {
			e = (const struct inotify_event *)(const void *)p;
			for (size_t i = 0; i < NELEM(all); i++)
				if (e->mask & IN_CLOSE_WRITE && all[i].wd == e->wd)
					finish(s, &all[i]);
		}
	}
}

void git_late_finish(struct supervisor *s)
{
	if (n_all > 0)
		finish_closed(s);
}

void git_late_settle(struct supervisor *s)
{
	struct caller c = { .sup = s };

	/* Whoever has the turn has done so, or the next does. */
	if (n_all > 0 && git_try_turn(&c)) {
		finish_closed(s);
		git_release(&c);
	}
}

void git_late_wait(struct supervisor *s)
{
	struct caller c = { .sup = s };

	if (n_all > 0 && git_wait_turn(&c)) {
		finish_closed(s);
		git_release(&c);
	}
}

/* --- the beginning -------------------------------------------------------------------------------------- */

/* The main thread is woken by each close. */
static bool is_ready(struct supervisor *s)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	if (!desk)
		desk = desk_new(s);
	if (events < 0) {
		events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (events >= 0)
			(void)epoll_ctl(s->waiters, EPOLL_CTL_ADD, events, &e);
	}
	return desk && events >= 0;
}

static struct late *find_free(void)
{
	for (size_t i = 0; i < NELEM(all); i++)
		if (all[i].wd <= 0)
			return &all[i];
	return NULL;
}

/* 0, or -errno as the caller's own open would have had it. */
static int take_place(struct late *l)
{
	_cleanup_close_ int fd =
		openat(l->dir, l->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 || fstat(fd, &l->place) < 0 ? -errno : 0;
}

/* What stands there is what the caller finds in his own, too. */
static int take_text(struct late *l, int flags)
{
	_cleanup_close_ int fd =
		openat(l->dir, l->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	mode_t mode = 0;
	int r = fd < 0 || fstat(fd, &l->place) < 0 ? -EACCES : git_fd_read(fd, most(l), &text, &len, &mode);

	if (r == 0 && !(flags & O_TRUNC) && pwrite(l->file, text, len, 0) != (ssize_t)len)
		r = -EACCES;
	return r < 0 || fchmod(l->file, mode & 0777) < 0 ? -EACCES : 0;
}

/* The descriptor that the caller gets, or -errno. */
static int begin(struct caller *c, struct late *l, const struct opening *o)
{
	int mask = caller_umask(c), fd, e;
	char self[64];

	if (mask < 0 || l->file < 0 || l->dir < 0)
		return -EACCES;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", l->file);
	fd = open(self, (o->flags & KEPT_FLAGS) | O_CLOEXEC);
	if (fd < 0)
		return -EACCES;
	/* Before its mode is set, for this needs permission to read: an open without O_CREAT has no mode. */
	l->wd = inotify_add_watch(events, self, IN_CLOSE_WRITE);
	e = l->wd <= 0 || fchmod(l->file, o->mode & 0777 & ~(mode_t)mask) < 0 ? -EACCES
	    : l->is_new							      ? take_place(l)
									      : take_text(l, o->flags);
	if (e == 0)
		return fd;
	l->wd = 0;
	close(fd);
	return e;
}

int git_late_open(struct caller *c, const struct opening *o, int dir, const char *name)
{
	struct late *l = is_ready(c->sup) ? find_free() : NULL;
	int fd;

	if (!l)
		return -EACCES;
	*l = (struct late){ .file = memfd_create(name, MFD_CLOEXEC),
			    .dir = fcntl(dir, F_DUPFD_CLOEXEC, 0),
			    .err = caller_fd(c, STDERR_FILENO),
			    .is_new = c->git_late_new,
			    .rule = c->git_late_rule,
			    .who = asker_of(c) };
	snprintf(l->name, sizeof(l->name), "%s", name);
	fd = begin(c, l, o);
	if (fd < 0)
		forget(l);
	else
		n_all++;
	return fd;
}
