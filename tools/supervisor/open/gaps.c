/*
 * The floor's gaps: what is kept from being read and was not there when the floor was planned.
 *
 * The directory in which a gap would appear is watched, or the nearest one above that is there.  Once
 * something denied has appeared under what is granted, the floor does not hold for the rest of the
 * session: then the supervisor performs each open for reading itself, as where it never held.
 *
 * Whoever makes such a file is outside the session: inside, making it is denied, or asked.  Between its
 * making and the kernel's word of it lie microseconds; for that long a call that is on its way may see it.
 *
 * A grant goes with its object.  What is moved, perhaps to where nothing may be read, takes it along: so what
 * is granted, and what leads to it, is watched too where somebody may move it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "policy/base/path.h"

#include "tools/base/tools.h"
#include "tools/supervisor/notify.h"

#define NEWS	    (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define ROUNDS	    64 /* directories that appear while they are looked for */
#define NOT_WATCHED (-1)

/* It is there, it may not be read, and the floor grants it. */
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

/* Something bears such a name, as far as can be told. */
static bool has_open(struct supervisor *s, const char *path)
{
	return floor_each_match(path, match_is_open, s) != 0;
}

/* Watches the nearest directory above path that is there; *ret_len is its length, with the slash.  Its
 * descriptor or -errno. */
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

/* False: it is open, or cannot be watched. */
static bool arm(struct supervisor *s, size_t i)
{
	char path[LIMIT_PATH] UNINITIALIZED;
	struct stat st;

	memcpy(path, s->setup->floor->gaps[i].path, strlen(s->setup->floor->gaps[i].path) + 1);
	for (int round = 0; round < ROUNDS; round++) {
		size_t len;
		char *next;

		s->gaps.wd[i] = watch_above(s->gaps.fd, path, &len);
		if (s->gaps.wd[i] < 0)
			return false;
		next = strchr(path + len, '/');
		if (!next)
			return !has_open(s, path) && !is_open(s, path);
		*next = '\0';
		/* Made since. */
		if (lstat(path, &st) < 0)
			return true;
		*next = '/';
	}
	return false;
}

/* Is gone from its place, or something else is there. */
static bool has_left(const struct floor_rule *r)
{
	struct stat st;

	return stat(r->path, &st) < 0 || (r->is_dir && (st.st_dev != r->dev || st.st_ino != r->ino));
}

/* The directories in which what is granted, or what leads there, could be moved by us.  False: not watched,
 * or it has been moved already. */
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
			/* The list is sorted: what was seen for the rule before need not be asked again. */
			if (path_is_under(last, dir))
				break;
			if (access(dir, W_OK) == 0 && inotify_add_watch(s->gaps.fd, dir, NEWS) < 0)
				return false;
		}
		strcpy(last, r->path);
		*strrchr(last, '/') = '\0';
	}
	return true;
}

/* A rule's path has a component of this name, and so perhaps its object went. */
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
	for (size_t i = 0; i < s->setup->floor->n_gaps && !s->gaps.open; i++)
		if (!arm(s, i))
			s->gaps.open = true;
}

/* The event tells of a gap, or that what is watched is not where it was. */
static bool concerns(const struct supervisor *s, const struct inotify_event *e)
{
	const struct floor *f = s->setup->floor;

	/* Without a floor nothing is watched. */
	if (!f || e->len == 0 || e->mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF))
		return true;
	for (size_t i = 0; i < f->n_gaps; i++) {
		const char *name = s->gaps.wd[i] == e->wd ? strrchr(f->gaps[i].path, '/') + 1 : NULL;

		/* A directory may be one on the way. */
		if (name && (e->mask & IN_ISDIR || glob_match(name, strlen(name), e->name, strlen(e->name)) ||
			     strcmp(name, e->name) == 0))
			return true;
	}
	return false;
}

/* Reads what happened.  True: something that concerns a gap. */
static bool has_news(struct supervisor *s)
{
	_Alignas(struct inotify_event) char buf[4096] UNINITIALIZED;
	bool found = false;
	ssize_t n;

	while ((n = read(s->gaps.fd, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(buf + at);

			if (e->mask & IN_MOVED_FROM && names_grant(s->setup->floor, e->name))
				s->gaps.open = true;
			found |= concerns(s, e);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	return found || (n < 0 && errno != EAGAIN);
}

void gaps_start(struct supervisor *s)
{
	const struct floor *f = s->setup->floor;
	const bool watches = f && f->holds_reads && s->setup->level == LEVEL_FULL;

	s->gaps.fd = NOT_WATCHED;
	pthread_mutex_init(&s->gaps.lock, NULL);
	s->gaps.open = !watches;
	if (!watches)
		return;
	s->gaps.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	s->gaps.wd = calloc(f->n_gaps + 1, sizeof(*s->gaps.wd));
	s->gaps.open = s->gaps.fd < 0 || !s->gaps.wd;
}

bool gaps_hold(struct supervisor *s)
{
	if (atomic_load_explicit(&s->gaps.open, memory_order_relaxed) ||
	    atomic_load_explicit(&s->gaps.lacks, memory_order_acquire))
		return false;
	if (s->gaps.fd < 0)
		return true;
	pthread_mutex_lock(&s->gaps.lock);
	/* At the first question, and what appeared before it is found: most short sessions never ask. */
	if (!s->gaps.armed && !arm_grants(s))
		s->gaps.open = true;
	if (!s->gaps.armed || has_news(s))
		arm_all(s);
	s->gaps.armed = true;
	pthread_mutex_unlock(&s->gaps.lock);
	return !s->gaps.open;
}

void gaps_done(struct supervisor *s)
{
	if (s->gaps.fd >= 0)
		(void)close(s->gaps.fd);
	free(s->gaps.wd);
	pthread_mutex_destroy(&s->gaps.lock);
}
