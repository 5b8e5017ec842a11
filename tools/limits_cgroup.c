/*
 * Cgroups of our own: version 2 below a directory that is delegated to us, version 1 below our own cgroup of
 * each controller.
 *
 * One is called pale-SESSION.PID, after the launcher.  It is removed when the session has ended; what a
 * killed launcher left, the next start that makes one removes: empty ones alone, whose launcher is dead.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/path.h"

#include "limits.h"
#include "tools.h"

#define PERIOD_US  100000 /* of cpu limits, the kernel's own choice */
#define SMALL_FILE (64 * 1024)
#define REMOVE_MS  2000
#define STEP_US	   5000

/* What holds a resource in either version; cpu is written in words of its own. */
static const struct {
	const char *controller, *v2, *v1;
} files[RESOURCE_COUNT] = {
	[RESOURCE_MEMORY] = { "memory", "memory.max", "memory.limit_in_bytes" },
	[RESOURCE_CPU] = { "cpu", "cpu.max", "cpu.cfs_quota_us" },
	[RESOURCE_PROCESSES] = { "pids", "pids.max", "pids.max" },
};

/* --- small files ------------------------------------------------------------------------------------- */

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
		if ((at == list || strchr(" ,\n", at[-1])) && (at[n] == '\0' || strchr(" ,\n", at[n])))
			return true;
	return false;
}

static char *small_file(const char *dir, const char *name)
{
	char path[PATH_MAX], *text = NULL;
	size_t len;

	if (path_join(path, sizeof(path), dir, name) < 0 || file_read(path, SMALL_FILE, &text, &len) < 0)
		return NULL;
	return text;
}

static int write_file(const char *dir, const char *name, const char *text)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];

	if (path_join(path, sizeof(path), dir, name) < 0)
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -errno;
}

bool cgroup_controllers(const char *dir, const char *name, bool ret_has[RESOURCE_COUNT])
{
	_cleanup_free_ char *list = small_file(dir, name);

	for (unsigned r = 0; list && r < RESOURCE_COUNT; r++)
		ret_has[r] = files[r].controller && has_word(list, files[r].controller);
	return list != NULL;
}

/* A process of ours may be moved from its cgroup to one below dir. */
static bool may_make_in(const char *dir)
{
	char procs[PATH_MAX];

	return access(dir, W_OK | X_OK) == 0 && path_join(procs, sizeof(procs), dir, "cgroup.procs") == 0 &&
	       access(procs, W_OK) == 0;
}

/* --- where we are ------------------------------------------------------------------------------------ */

/* The path of our cgroup by controller, "" for version 2, from /proc/self/cgroup. */
static bool own_path(const char *cgroups, const char *controller, char *buf, size_t size)
{
	const char *line = cgroups;

	while (line && *line) {
		const char *end = strchrnul(line, '\n');
		_cleanup_free_ char *copy = strndup(line, (size_t)(end - line));
		char *list = copy ? strchr(copy, ':') : NULL;
		char *path = list ? strchr(list + 1, ':') : NULL;

		line = *end ? end + 1 : end;
		if (!path)
			continue;
		*path++ = '\0';
		list++;
		if (*controller ? has_word(list, controller) : *list == '\0')
			return snprintf(buf, size, "%s", path) < (int)size;
	}
	return false;
}

/* 36 35 0:31 ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS, of proc(5).  Names with blanks are no cgroups. */
struct mount {
	char root[PATH_MAX], point[PATH_MAX], type[16], options[256];
};

static bool mount_read(const char *line, struct mount *m)
{
	const char *after = strstr(line, " - ");

	return after && sscanf(line, "%*d %*d %*s %4095s %4095s", m->root, m->point) == 2 &&
	       sscanf(after, " - %15s %*s %255s", m->type, m->options) == 2;
}

/* Our cgroup's directory: in the mount of that controller ("" for version 2), relative to its root. */
static bool own_dir(const struct limits_host *h, char *mounts, const char *cgroups, const char *controller,
		    char *buf)
{
	char path[PATH_MAX], *save = NULL;
	_cleanup_free_ char *copy = strdup(mounts);
	_cleanup_free_ struct mount *m = malloc(sizeof(*m));

	if (!copy || !m || !own_path(cgroups, controller, path, sizeof(path)))
		return false;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *below = path;

		if (!mount_read(line, m) || strcmp(m->type, *controller ? "cgroup" : "cgroup2") != 0 ||
		    (*controller && !has_word(m->options, controller)))
			continue;
		if (strcmp(m->root, "/") != 0) {
			if (!path_is_under(path, m->root))
				continue;
			below = path + strlen(m->root);
		}
		return snprintf(buf, PATH_MAX, "%s%s%s", h->root, m->point,
				strcmp(below, "/") == 0 ? "" : below) < PATH_MAX;
	}
	return false;
}

/* Upwards from our own to the first that hands controllers on to those below it and is ours to change. */
static void look_v2(struct limits_host *h, char *mounts, const char *cgroups)
{
	char dir[PATH_MAX];

	if (!own_dir(h, mounts, cgroups, "", dir))
		return;
	for (;;) {
		bool known = cgroup_controllers(dir, "cgroup.subtree_control", h->v2_has);
		char *slash = strrchr(dir, '/');

		if (!known || !slash)
			return;
		if (h->v2_has[RESOURCE_MEMORY] && h->v2_has[RESOURCE_PROCESSES] && may_make_in(dir)) {
			strcpy(h->v2, dir);
			return;
		}
		*slash = '\0';
	}
}

void limits_look(struct limits_host *ret, const char *root, uid_t uid)
{
	_cleanup_free_ char *mounts = NULL, *cgroups = NULL;
	char dir[PATH_MAX];

	memset(ret, 0, sizeof(*ret));
	ret->root = root;
	ret->uid = uid;
	scope_find(ret);
	if (snprintf(dir, sizeof(dir), "%s/proc/self", root) >= (int)sizeof(dir))
		return;
	mounts = small_file(dir, "mountinfo");
	cgroups = small_file(dir, "cgroup");
	if (!mounts || !cgroups)
		return;
	look_v2(ret, mounts, cgroups);
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		if (files[r].controller && own_dir(ret, mounts, cgroups, files[r].controller, dir) &&
		    may_make_in(dir))
			strcpy(ret->v1[r], dir);
}

/* --- ours --------------------------------------------------------------------------------------------- */

/* pale-SESSION.PID: the launcher's pid, or 0. */
static pid_t launcher_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	char *end;
	long pid;

	if (strncmp(name, "pale-", 5) != 0 || !dot || !isdigit((unsigned char)dot[1]))
		return 0;
	for (const char *c = name + 5; c < dot; c++)
		if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c))
			return 0;
	pid = strtol(dot + 1, &end, 10);
	return *end == '\0' && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

void cgroups_sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d))) {
		pid_t pid = launcher_of(e->d_name);

		/* One that is not empty the kernel keeps. */
		if (pid > 0 && kill(pid, 0) < 0 && errno == ESRCH)
			(void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	(void)closedir(d);
}

/* The cgroup of that name in dir: made once, though several controllers share it. */
static const char *cgroup_in(struct session_limits *s, const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (path_join(path, sizeof(path), dir, name) < 0)
		return NULL;
	for (size_t i = 0; i < s->n_cgroups; i++)
		if (strcmp(s->cgroup[i], path) == 0)
			return s->cgroup[i];
	cgroups_sweep(dir);
	if (s->n_cgroups == LIMITS_CGROUPS || mkdir(path, 0755) < 0)
		return NULL;
	s->cgroup[s->n_cgroups] = strdup(path);
	return s->cgroup[s->n_cgroups] ? s->cgroup[s->n_cgroups++] : NULL;
}

static int set_cpu(const char *dir, enum means by, uint64_t percent)
{
	char text[64];
	unsigned long long quota = percent * (PERIOD_US / 100);

	if (by == MEANS_CGROUP2) {
		snprintf(text, sizeof(text), "%llu %d", quota, PERIOD_US);
		return write_file(dir, files[RESOURCE_CPU].v2, text);
	}
	snprintf(text, sizeof(text), "%d", PERIOD_US);
	if (write_file(dir, "cpu.cfs_period_us", text) < 0)
		return -EIO;
	snprintf(text, sizeof(text), "%llu", quota);
	return write_file(dir, files[RESOURCE_CPU].v1, text);
}

/* Swap would be memory beyond the limit; where the kernel counts none there is no such file. */
static int set_swap(const char *dir, enum means by, const char *text)
{
	int r = by == MEANS_CGROUP2 ? write_file(dir, "memory.swap.max", "0")
				    : write_file(dir, "memory.memsw.limit_in_bytes", text);

	return r == -ENOENT || r == -EOPNOTSUPP ? 0 : r;
}

static int set_limit(const char *dir, enum means by, enum resource r, uint64_t value)
{
	char text[32];
	int e;

	if (r == RESOURCE_CPU)
		return set_cpu(dir, by, value);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	e = write_file(dir, by == MEANS_CGROUP2 ? files[r].v2 : files[r].v1, text);
	return e == 0 && r == RESOURCE_MEMORY ? set_swap(dir, by, text) : e;
}

int cgroups_make(struct session_limits *s, const struct limits_host *h, const char *session)
{
	char name[64];

	snprintf(name, sizeof(name), "pale-%s.%d", session, (int)getpid());
	for (unsigned r = 0; r < RESOURCE_COUNT; r++) {
		enum means by = s->by[r];
		const char *dir;
		int e;

		if (by != MEANS_CGROUP1 && by != MEANS_CGROUP2)
			continue;
		dir = cgroup_in(s, by == MEANS_CGROUP2 ? h->v2 : h->v1[r], name);
		e = dir ? set_limit(dir, by, r, s->want.of[r].value) : -EACCES;
		if (e < 0)
			return e;
	}
	return 0;
}

int cgroups_add(const struct session_limits *s, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	for (size_t i = 0; i < s->n_cgroups; i++) {
		int r = write_file(s->cgroup[i], "cgroup.procs", text);

		if (r < 0)
			return r;
	}
	return 0;
}

uint64_t cgroup_count(const char *text, const char *word)
{
	unsigned long long n = 0;
	size_t len = strlen(word);

	for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (strncmp(at, word, len) == 0 && at[len] == ' ' && sscanf(at + len, " %llu", &n) == 1)
			return n;
	return 0;
}

static uint64_t count_in(const char *dir, const char *name, const char *word)
{
	_cleanup_free_ char *text = small_file(dir, name);

	return cgroup_count(text, word);
}

static uint64_t hit_in(const char *dir, enum resource r)
{
	if (r == RESOURCE_PROCESSES)
		return count_in(dir, "pids.events", "max");
	if (r == RESOURCE_MEMORY)
		return count_in(dir, "memory.events", "oom_kill") +
		       count_in(dir, "memory.oom_control", "oom_kill");
	return 0;
}

uint64_t cgroups_hit(const struct session_limits *s, enum resource r)
{
	uint64_t n = s->scope_hit[r];

	for (size_t i = 0; i < s->n_cgroups; i++)
		n += hit_in(s->cgroup[i], r);
	return n;
}

/* A cgroup is busy for a moment after its last process was buried. */
static void remove_one(const char *dir)
{
	for (int us = 0; rmdir(dir) < 0 && errno == EBUSY && us < REMOVE_MS * 1000; us += STEP_US)
		(void)usleep(STEP_US);
}

void cgroups_remove(struct session_limits *s)
{
	while (s->n_cgroups > 0) {
		char *dir = s->cgroup[--s->n_cgroups];

		remove_one(dir);
		free(dir);
	}
}
