/*
 * Makes a cgroup v2 of our own below a directory that is delegated to us.
 *
 * Its name is pale-SESSION.PID, with the launcher's pid.  It is removed when the session has ended.  The
 * next start that makes a cgroup removes those of killed launchers: only empty ones whose launcher is dead.
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

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#include "limits.h"

#define PERIOD_US  100000 /* period of cpu limits, the kernel's default */
#define SMALL_FILE (64 * 1024)
#define REMOVE_MS  2000
#define STEP_US	   5000

/* The file that limits a resource, and the one where the kernel counts how often the limit was reached. */
static const struct {
	const char *controller, *file, *events, *word;
} files[RESOURCE_COUNT] = {
	[RESOURCE_MEMORY] = { "memory", "memory.max", "memory.events", "oom_kill" },
	[RESOURCE_CPU] = { "cpu", "cpu.max", NULL, NULL },
	[RESOURCE_PROCESSES] = { "pids", "pids.max", "pids.events", "max" },
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

/* We may move one of our processes from its cgroup to one below dir. */
static bool may_make_in(const char *dir)
{
	char procs[PATH_MAX];

	return access(dir, W_OK | X_OK) == 0 && path_join(procs, sizeof(procs), dir, "cgroup.procs") == 0 &&
	       access(procs, W_OK) == 0;
}

/* --- where we are ------------------------------------------------------------------------------------ */

/* The path of our cgroup, from /proc/self/cgroup. */
static bool own_path(const char *cgroups, char *buf, size_t size)
{
	const char *at = strncmp(cgroups, "0::", 3) == 0 ? cgroups : strstr(cgroups, "\n0::");

	if (!at)
		return false;
	at = strstr(at, "0::") + 3;
	return snprintf(buf, size, "%.*s", (int)strcspn(at, "\n"), at) < (int)size;
}

/* 36 35 0:31 ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS, of proc(5).  Names with blanks, which the kernel
 * escapes, are not found. */
struct mount {
	char root[PATH_MAX], point[PATH_MAX];
};

static bool mount_read(const char *line, struct mount *m)
{
	const char *after = strstr(line, " - ");

	return after && strncmp(after, " - cgroup2 ", 11) == 0 &&
	       sscanf(line, "%*d %*d %*s %4095s %4095s", m->root, m->point) == 2;
}

/* Our cgroup's directory: in the mount of version 2, relative to its root. */
static bool own_dir(const struct limits_host *h, char *mounts, const char *cgroups, char *buf)
{
	char path[PATH_MAX], *save = NULL;
	_cleanup_free_ struct mount *m = malloc(sizeof(*m));

	if (!m || !own_path(cgroups, path, sizeof(path)))
		return false;
	for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *below = path;

		if (!mount_read(line, m))
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

/* Goes up from our own cgroup to the first one that passes controllers on to its children and that we may
 * change. */
static void look_v2(struct limits_host *h, char *mounts, const char *cgroups)
{
	char dir[PATH_MAX];

	if (!own_dir(h, mounts, cgroups, dir))
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
	if (mounts && cgroups)
		look_v2(ret, mounts, cgroups);
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

		/* The kernel refuses to remove one that is not empty. */
		if (pid > 0 && kill(pid, 0) < 0 && errno == ESRCH)
			(void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	(void)closedir(d);
}

/* Swap would be memory beyond the limit.  Without swap accounting the file does not exist. */
static int set_swap(const char *dir)
{
	int r = write_file(dir, "memory.swap.max", "0");

	return r == -ENOENT || r == -EOPNOTSUPP ? 0 : r;
}

static int set_limit(const char *dir, enum resource r, uint64_t value)
{
	char text[64];
	int e;

	if (r == RESOURCE_CPU)
		snprintf(text, sizeof(text), "%llu %d", (unsigned long long)value * (PERIOD_US / 100),
			 PERIOD_US);
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	e = write_file(dir, files[r].file, text);
	return e == 0 && r == RESOURCE_MEMORY ? set_swap(dir) : e;
}

static int make_in(struct session_limits *s, const char *dir, const char *session)
{
	char name[64], path[PATH_MAX];

	snprintf(name, sizeof(name), "pale-%s.%d", session, (int)getpid());
	if (path_join(path, sizeof(path), dir, name) < 0)
		return -ENAMETOOLONG;
	cgroups_sweep(dir);
	if (mkdir(path, 0755) < 0)
		return -errno;
	strcpy(s->cgroup, path);
	return 0;
}

int cgroup_make(struct session_limits *s, const struct limits_host *h, const char *session)
{
	int e = 0;

	for (unsigned r = 0; e == 0 && r < RESOURCE_COUNT; r++) {
		if (s->by[r] != MEANS_CGROUP)
			continue;
		if (!s->cgroup[0])
			e = make_in(s, h->v2, session);
		if (e == 0)
			e = set_limit(s->cgroup, r, s->want.of[r].value);
	}
	return e;
}

int cgroup_add(const struct session_limits *s, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return s->cgroup[0] ? write_file(s->cgroup, "cgroup.procs", text) : 0;
}

/* The number after a word in a text of lines such as "oom_kill 3"; 0 if the word is not found. */
static uint64_t count_after(const char *text, const char *word)
{
	unsigned long long n = 0;
	size_t len = strlen(word);

	for (const char *at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (strncmp(at, word, len) == 0 && at[len] == ' ' && sscanf(at + len, " %llu", &n) == 1)
			return n;
	return 0;
}

uint64_t cgroup_hit(const struct session_limits *s, enum resource r)
{
	_cleanup_free_ char *text =
		s->cgroup[0] && files[r].events ? small_file(s->cgroup, files[r].events) : NULL;

	return count_after(text, files[r].word);
}

/* A cgroup is busy for a moment after its last process was reaped. */
void cgroup_remove(struct session_limits *s)
{
	for (int us = 0; s->cgroup[0] && rmdir(s->cgroup) < 0 && errno == EBUSY && us < REMOVE_MS * 1000;
	     us += STEP_US)
		(void)usleep(STEP_US);
	s->cgroup[0] = '\0';
}
