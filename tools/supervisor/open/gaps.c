/*
 * The floor's gaps: what is kept from being read and was not there when the floor was planned.
 *
 * The directory in which a gap would appear is watched, or the nearest one above that is there.  Once
 * something denied has appeared under what is granted, the floor does not hold for the rest of the
 * session: then the supervisor performs each open for reading itself, as where it never held.
 *
 * Such a file is made outside the session: inside, making it is denied, or asked about.  Microseconds pass
 * between its creation and the kernel's event; for that long a call that is under way may see it.
 *
 * A grant belongs to its object.  An object that is moved keeps its grant, even at a place where nothing
 * may be read.  So granted objects, and the directories that lead to them, are watched too where they can
 * be moved.
 */
#include "gaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/path.h"

#include "tools/supervisor/supervisor.h"
#include "tools/wall/confine.h"

#define NEWS	    (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define ROUNDS	    64 /* limit on retries, since directories may appear during the search */
#define NOT_WATCHED (-1)

struct gaps {
	pthread_mutex_t lock;
	int fd;			 /* inotify(7), -1: nothing to watch */
	int *wd;		 /* one watch for each gap */
	bool armed;		 /* the gaps are watched */
	_Atomic unsigned spared; /* opens of gaps_spare() */
	_Atomic bool open;	 /* the floor does not hold these rules any more */
	_Atomic bool lacks;	 /* nor does it hold those of the policy loaded last */
};

/* The path exists, it may not be read, and the floor grants it. */
static bool is_open(const struct supervisor *s, const char *path)
{
	const struct request req = { .op = OP_READ, .access = ACCESS_READ, .path = path };
	struct stat st;

	return lstat(path, &st) == 0 && floor_grants(s->setup->floor, path) & FLOOR_READ &&
	       eval(session_image(s), &req).verdict != VERDICT_ALLOW;
}

static int match_is_open(const char *full, void *s)
{
	return is_open(s, full);
}

/* True where a path that matches the pattern exists and is open, or where the directory cannot be listed. */
static bool has_open(struct supervisor *s, const char *path)
{
	return floor_each_match(path, match_is_open, s) != 0;
}

/* Watches the nearest existing directory above path; *ret_len is the length of its path, with the slash.
 * The watch descriptor or -errno. */
static int watch_above(int fd, char *path, size_t *ret_len)
{
	size_t len = strlen(path);
	int wd;

	do {
		char keep;

		while (len > 1 && path[len - 1] == '/')
			len--;
		while (len > 0 && path[len - 1] != '/')
			len--;
		keep = path[len];
		path[len] = '\0';
		wd = inotify_add_watch(fd, path, NEWS);
		path[len] = keep;
	} while (wd < 0 && (errno == ENOENT || errno == ENOTDIR) && len > 1);
	*ret_len = len;
	return wd < 0 ? -errno : wd;
}

/* False: the gap is open, or cannot be watched. */
static bool arm_gap(struct supervisor *s, size_t i)
{
	char path[LIMIT_PATH] UNINITIALIZED;
	struct stat st;

	memcpy(path, s->setup->floor->gaps[i].path, strlen(s->setup->floor->gaps[i].path) + 1);
	for (int round = 0; round < ROUNDS; round++) {
		size_t len;
		char *next;

		s->gaps->wd[i] = watch_above(s->gaps->fd, path, &len);
		if (s->gaps->wd[i] < 0)
			return false;
		next = strchr(path + len, '/');
		if (!next)
			return !has_open(s, path) && !is_open(s, path);
		*next = '\0';
		/* Still missing after the watch began. */
		if (lstat(path, &st) < 0)
			return true;
		*next = '/';
	}
	return false;
}

/* The object is gone from its place, or another one is there. */
static bool has_left(const struct floor_rule *r)
{
	struct stat st;

	return stat(r->path, &st) < 0 || (r->is_dir && (st.st_dev != r->dev || st.st_ino != r->ino));
}

/* Watches the directories in which a granted object, or a directory that leads to it, could be moved by
 * this user.  False: one cannot be watched, or an object has been moved already. */
static bool arm_grants(struct supervisor *s)
{
	const struct floor *f = s->setup->floor;
	char last[LIMIT_PATH] = "", dir[LIMIT_PATH] UNINITIALIZED;

	for (size_t i = 0; i < f->n; i++) {
		const struct floor_rule *r = &f->list[i];

		if (!r->holds || !(r->grants & FLOOR_READ) || strlen(r->path) >= sizeof(dir))
			continue;
		if (has_left(r))
			return false;
		strcpy(dir, r->path);
		for (char *slash = strrchr(dir, '/'); slash && slash > dir; slash = strrchr(dir, '/')) {
			*slash = '\0';
			/* The list is sorted: these directories were handled for the rule before. */
			if (path_is_under(last, dir))
				break;
			if (access(dir, W_OK) == 0 && inotify_add_watch(s->gaps->fd, dir, NEWS) < 0)
				return false;
		}
		strcpy(last, r->path);
		*strrchr(last, '/') = '\0';
	}
	return true;
}

/* True where a rule's path has a component of this name, so that its object may have moved. */
static bool names_grant(const struct floor *f, const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < f->n; i++) {
		if (!(f->list[i].grants & FLOOR_READ))
			continue;
		for (const char *p = strchr(f->list[i].path, '/'); p; p = strchr(p + 1, '/'))
			if (strncmp(p + 1, name, n) == 0 && (p[n + 1] == '/' || p[n + 1] == '\0'))
				return true;
	}
	return false;
}

static void arm_all(struct supervisor *s)
{
	for (size_t i = 0; i < s->setup->floor->n_gaps && !s->gaps->open; i++)
		if (!arm_gap(s, i))
			s->gaps->open = true;
}

/* True where the event is about a gap, or a watched directory is not in its place any more. */
static bool concerns(const struct supervisor *s, const struct inotify_event *e)
{
	const struct floor *f = s->setup->floor;

	/* Without a floor nothing is watched. */
	if (!f || e->len == 0 || e->mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF))
		return true;
	for (size_t i = 0; i < f->n_gaps; i++) {
		const char *name = s->gaps->wd[i] == e->wd ? strrchr(f->gaps[i].path, '/') + 1 : NULL;

		/* A new directory may be one on the way to a gap. */
		if (name && (e->mask & IN_ISDIR || glob_match(name, strlen(name), e->name, strlen(e->name)) ||
			     strcmp(name, e->name) == 0))
			return true;
	}
	return false;
}

/* Reads the events.  True: one of them concerns a gap. */
static bool has_news(struct supervisor *s)
{
	_Alignas(struct inotify_event) char buf[4096] UNINITIALIZED;
	bool found = false;
	ssize_t n;

	while ((n = read(s->gaps->fd, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(buf + at);

			if (e->mask & IN_MOVED_FROM && names_grant(s->setup->floor, e->name))
				s->gaps->open = true;
			found |= concerns(s, e);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	return found || (n < 0 && errno != EAGAIN);
}

int gaps_new(struct supervisor *s)
{
	const struct floor *f = s->setup->floor;
	const bool watches = f && f->holds_reads && s->setup->level == LEVEL_FULL;
	struct gaps *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	s->gaps = g;
	g->fd = NOT_WATCHED;
	pthread_mutex_init(&g->lock, NULL);
	g->open = !watches;
	if (!watches)
		return 0;
	g->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	g->wd = calloc(f->n_gaps + 1, sizeof(*g->wd));
	g->open = g->fd < 0 || !g->wd;
	return 0;
}

void gaps_lack(struct supervisor *s, bool lacks)
{
	atomic_store(&s->gaps->lacks, lacks);
}

bool gaps_spare(struct supervisor *s, unsigned n)
{
	if (atomic_load_explicit(&s->gaps->spared, memory_order_relaxed) >= n)
		return false;
	(void)atomic_fetch_add_explicit(&s->gaps->spared, 1, memory_order_relaxed);
	return true;
}

bool gaps_hold(struct supervisor *s)
{
	if (atomic_load_explicit(&s->gaps->open, memory_order_relaxed) ||
	    atomic_load_explicit(&s->gaps->lacks, memory_order_acquire))
		return false;
	if (s->gaps->fd < 0)
		return true;
	pthread_mutex_lock(&s->gaps->lock);
	/* Watching begins at the first call of this function, and gaps that have been filled before are
	 * found then: most short sessions never call it. */
	if (!s->gaps->armed && !arm_grants(s))
		s->gaps->open = true;
	if (!s->gaps->armed || has_news(s))
		arm_all(s);
	s->gaps->armed = true;
	pthread_mutex_unlock(&s->gaps->lock);
	return !s->gaps->open;
}

void gaps_done(struct supervisor *s)
{
	if (s->gaps->fd >= 0)
		(void)close(s->gaps->fd);
	free(s->gaps->wd);
	pthread_mutex_destroy(&s->gaps->lock);
	free(s->gaps);
}
