/*
 * A scope of systemd's: the user's own manager, or the machine's where pale runs as root, puts the agent's
 * first process into a cgroup with the limits.
 *
 * It is asked by busctl(1): a scope wants a pid, and systemd-run --scope would have to become the command.
 * What it answers is believed only once the process stands in that scope.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "limits.h"
#include "tools.h"

#define WAIT_MS 5000
#define STEP_MS 5

static bool exists(const char *root, const char *path)
{
	char full[PATH_MAX];

	return snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full) &&
	       access(full, F_OK) == 0;
}

enum scope scope_find(const char *root, uid_t uid)
{
	char bus[64];

	/* Limits are version 2's: a hybrid machine has its controllers elsewhere. */
	if (!exists(root, "/sys/fs/cgroup/cgroup.controllers") || !exists(root, "/run/systemd/system") ||
	    !exists(root, "/usr/bin/busctl"))
		return SCOPE_NONE;
	if (uid == 0)
		return exists(root, "/run/dbus/system_bus_socket") ? SCOPE_SYSTEM : SCOPE_NONE;
	snprintf(bus, sizeof(bus), "/run/user/%u/bus", (unsigned)uid);
	return exists(root, bus) ? SCOPE_USER : SCOPE_NONE;
}

/* Appends one word to buf and its place to words. */
struct words {
	char **list;
	size_t n, max;
	char *at;
	size_t left;
};

static void word(struct words *w, const char *text)
{
	size_t n = strlen(text) + 1;

	if (w->n + 1 >= w->max || n > w->left) {
		w->max = 0;
		return;
	}
	w->list[w->n++] = memcpy(w->at, text, n);
	w->list[w->n] = NULL;
	w->at += n;
	w->left -= n;
}

static void property(struct words *w, const char *name, uint64_t value)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, value);
	word(w, name);
	word(w, "t");
	word(w, number);
}

int scope_words(const struct session_limits *s, pid_t pid, char *buf, size_t size, char **words, size_t max)
{
	static const char *const call[] = { "call",
					    "org.freedesktop.systemd1",
					    "/org/freedesktop/systemd1",
					    "org.freedesktop.systemd1.Manager",
					    "StartTransientUnit",
					    "ssa(sv)a(sa(sv))" };
	/* A second is a million of them, and a processor is a second each second. */
	static const struct {
		enum resource r;
		const char *name;
		uint64_t times;
	} properties[] = { { RESOURCE_MEMORY, "MemoryMax", 1 },
			   { RESOURCE_CPU, "CPUQuotaPerSecUSec", 10000 },
			   { RESOURCE_PROCESSES, "TasksMax", 1 } };
	struct words w = { .list = words, .max = max, .at = buf, .left = size };
	bool memory = s->by[RESOURCE_MEMORY] == MEANS_SCOPE;
	char number[24];
	size_t n = memory ? 3 : 2; /* PIDs, CollectMode, MemorySwapMax */

	word(&w, "/usr/bin/busctl");
	word(&w, s->scope == SCOPE_SYSTEM ? "--system" : "--user");
	word(&w, "--quiet");
	for (size_t i = 0; i < NELEM(call); i++)
		word(&w, call[i]);
	word(&w, s->unit);
	word(&w, "fail");
	for (size_t i = 0; i < NELEM(properties); i++)
		n += s->by[properties[i].r] == MEANS_SCOPE;
	snprintf(number, sizeof(number), "%zu", n);
	word(&w, number);
	/* One whose process was killed for its memory has failed, and goes all the same. */
	word(&w, "CollectMode");
	word(&w, "s");
	word(&w, "inactive-or-failed");
	word(&w, "PIDs");
	word(&w, "au");
	word(&w, "1");
	snprintf(number, sizeof(number), "%d", (int)pid);
	word(&w, number);
	for (size_t i = 0; i < NELEM(properties); i++)
		if (s->by[properties[i].r] == MEANS_SCOPE)
			property(&w, properties[i].name,
				 s->want.of[properties[i].r].value * properties[i].times);
	if (memory)
		property(&w, "MemorySwapMax", 0);
	word(&w, "0");
	return w.max ? (int)w.n : -E2BIG;
}

static int run(char *const *words)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (null >= 0) {
			(void)dup2(null, STDIN_FILENO);
			(void)dup2(null, STDOUT_FILENO);
		}
		execv(words[0], words);
		_exit(EXIT_NOT_FOUND);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EREMOTEIO;
}

/* The job is done when the process is where it belongs: in *ret_dir. */
static bool stands_in(pid_t pid, const char *unit, char ret_dir[PATH_MAX])
{
	_cleanup_free_ char *text = NULL;
	char path[64], end[80], *at;
	size_t len;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	snprintf(end, sizeof(end), "/%s\n", unit);
	if (file_read(path, 16384, &text, &len) < 0 || !strstr(text, end))
		return false;
	at = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (!at)
		return false;
	at += strcspn(at, "/");
	n = snprintf(ret_dir, PATH_MAX, "/sys/fs/cgroup%.*s", (int)strcspn(at, "\n"), at);
	return n < PATH_MAX;
}

/* The manager takes a limit that it cannot hold, too: one whose controller nobody delegated to it. */
static int check_held(const struct session_limits *s)
{
	static const char *const files[RESOURCE_COUNT] = { [RESOURCE_MEMORY] = "/memory.max",
							   [RESOURCE_CPU] = "/cpu.max",
							   [RESOURCE_PROCESSES] = "/pids.max" };

	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		if (s->by[r] == MEANS_SCOPE && files[r] && !exists(s->scope_dir, files[r]))
			return -EOPNOTSUPP;
	return 0;
}

int scope_make(struct session_limits *s, pid_t pid)
{
	char buf[1024], *words[48];
	int r = scope_words(s, pid, buf, sizeof(buf), words, NELEM(words));

	if (r > 0)
		r = run(words);
	if (r < 0)
		return r;
	for (int ms = 0; ms < WAIT_MS; ms += STEP_MS) {
		if (stands_in(pid, s->unit, s->scope_dir))
			return check_held(s);
		(void)poll(NULL, 0, STEP_MS);
	}
	return -ETIMEDOUT;
}
