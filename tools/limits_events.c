/*
 * How often a scope's limits were reached, told though its cgroup is gone by the time it is asked.
 *
 * Systemd removes the cgroup of a scope with its last process, and 252 ends all of a scope in which the
 * kernel ended one process for its memory.  A file of a cgroup that is gone cannot be read any more, though
 * it is open.  So these files are polled, which the kernel answers before it ends the process; and who came
 * too late all the same finds the count in the cgroup above, where that of all below it is added up.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include "policy/path.h"

#include "limits.h"
#include "tools.h"

static const struct {
	const char *name, *word;
} files[RESOURCE_COUNT] = {
	[RESOURCE_MEMORY] = { "memory.events", "oom_kill" },
	[RESOURCE_PROCESSES] = { "pids.events", "max" }, /* each cgroup's own */
};

static int open_file(const char *dir, enum resource r)
{
	char path[PATH_MAX];

	return path_join(path, sizeof(path), dir, files[r].name) < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

void scope_watch(struct session_limits *s)
{
	struct scope_events *e = &s->events;
	char above[PATH_MAX];

	*e = (struct scope_events){ .open = true, .any = epoll_create1(EPOLL_CLOEXEC), .above = -1 };
	for (unsigned r = 0; r < RESOURCE_COUNT; r++) {
		struct epoll_event changed = { .events = EPOLLPRI };

		e->of[r] = s->by[r] == MEANS_SCOPE && files[r].name
				   ? open_file(s->scope_dir, (enum resource)r)
				   : -1;
		if (e->any >= 0 && e->of[r] >= 0)
			(void)epoll_ctl(e->any, EPOLL_CTL_ADD, e->of[r], &changed);
	}
	if (e->of[RESOURCE_MEMORY] >= 0 && path_join(above, sizeof(above), s->scope_dir, "..") == 0)
		e->above = open_file(above, RESOURCE_MEMORY);
	limits_tick(s);
}

static void shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void scope_unwatch(struct session_limits *s)
{
	struct scope_events *e = &s->events;

	if (!e->open)
		return;
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		shut(&e->of[r]);
	shut(&e->above);
	shut(&e->any);
	e->open = false;
}

int limits_fd(const struct session_limits *s)
{
	return s->events.open ? s->events.any : -1;
}

static bool count(int fd, enum resource r, uint64_t *ret)
{
	char text[1024];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return false;
	text[n] = '\0';
	*ret = cgroup_count(text, files[r].word);
	return true;
}

static void keep(struct session_limits *s, enum resource r, uint64_t hit)
{
	if (hit > s->scope_hit[r])
		s->scope_hit[r] = hit;
}

/* What others below the cgroup above have had of its count: exact where ours did not change meanwhile. */
static void look_beside(struct scope_events *e, uint64_t ours)
{
	uint64_t all, again;

	if (count(e->above, RESOURCE_MEMORY, &all) &&
	    count(e->of[RESOURCE_MEMORY], RESOURCE_MEMORY, &again) && again == ours && all >= ours)
		e->beside = all - ours;
}

static void look(struct session_limits *s, enum resource r)
{
	struct scope_events *e = &s->events;
	uint64_t n;

	if (count(e->of[r], r, &n)) {
		keep(s, r, n);
		if (r == RESOURCE_MEMORY)
			look_beside(e, n);
		return;
	}
	/* Gone, and ready for ever where it is polled. */
	shut(&e->of[r]);
	if (r == RESOURCE_MEMORY && count(e->above, r, &n) && n > e->beside)
		keep(s, r, n - e->beside);
}

void limits_tick(struct session_limits *s)
{
	for (unsigned r = 0; s->events.open && r < RESOURCE_COUNT; r++)
		if (s->events.of[r] >= 0)
			look(s, (enum resource)r);
}
