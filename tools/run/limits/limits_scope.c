/*
 * A systemd scope: the user's service manager, or the machine's where pale runs as root, puts the agent's
 * first process into a cgroup with the limits.
 *
 * The request is made by busctl(1), which takes a pid; systemd-run --scope would have to become the command
 * itself.  The answer counts only once the process is in that scope.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/options.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#include "limits.h"

#define BUSCTL	"/usr/bin/busctl"
#define UNIT	"pale-%s.scope"
#define WAIT_MS 10000 /* for the manager's answer, and until the process is in the scope */
#define STEP_MS 5

/* Names of a unit's limits, in systemd.resource-control(5) and in its cgroup.  A processor is 1000000
 * microseconds each second. */
static const struct {
	const char *property, *file;
	uint64_t times;
} held[RESOURCE_COUNT] = {
	[RESOURCE_MEMORY] = { "MemoryMax", "memory.max", 1 },
	[RESOURCE_CPU] = { "CPUQuotaPerSecUSec", "cpu.max", 10000 },
	[RESOURCE_PROCESSES] = { "TasksMax", "pids.max", 1 },
};

/* --- the service manager ------------------------------------------------------------------------------- */

static bool exists(const char *root, const char *path)
{
	char full[PATH_MAX];

	return snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full) &&
	       access(full, F_OK) == 0;
}

/* A bus that ended leaves its socket; one that hangs has a full queue after a time. */
static bool is_listened_on(const char *root, const char *path)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	return snprintf(to.sun_path, sizeof(to.sun_path), "%s%s", root, path) < (int)sizeof(to.sun_path) &&
	       fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0;
}

/* A manager accepts limits even for a controller that it does not have and so cannot pass on.  Where that
 * cannot be seen here, the scope itself shows it. */
static void look_at_controllers(struct limits_host *h)
{
	char dir[PATH_MAX];

	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		h->scope_has[r] = held[r].file != NULL;
	if (h->uid == 0)
		snprintf(dir, sizeof(dir), "%s/sys/fs/cgroup", h->root);
	else
		snprintf(dir, sizeof(dir), "%s/sys/fs/cgroup/user.slice/user-%u.slice/user@%u.service",
			 h->root, (unsigned)h->uid, (unsigned)h->uid);
	(void)cgroup_controllers(dir, "cgroup.controllers", h->scope_has);
}

void scope_find(struct limits_host *h)
{
	/* Limits need cgroup v2: a hybrid machine has its controllers in version 1. */
	if (!exists(h->root, "/sys/fs/cgroup/cgroup.controllers") ||
	    !exists(h->root, "/run/systemd/system") || !exists(h->root, BUSCTL))
		return;
	/* Our own manager, even where our environment names another bus. */
	if (h->uid == 0)
		strcpy(h->bus, "/run/dbus/system_bus_socket");
	else
		snprintf(h->bus, sizeof(h->bus), "/run/user/%u/bus", (unsigned)h->uid);
	if (is_listened_on(h->root, h->bus))
		look_at_controllers(h);
	else
		h->bus[0] = '\0';
}

/* --- the request --------------------------------------------------------------------------------------- */

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
	struct words w = { .list = words, .max = max, .at = buf, .left = size };
	bool memory = s->by[RESOURCE_MEMORY] == MEANS_SCOPE;
	char number[24], address[96], unit[80];
	size_t n = memory ? 3 : 2; /* PIDs, CollectMode, MemorySwapMax */

	snprintf(address, sizeof(address), "--address=unix:path=%s", s->bus);
	word(&w, BUSCTL);
	word(&w, address);
	word(&w, "--quiet");
	for (size_t i = 0; i < NELEM(call); i++)
		word(&w, call[i]);
	snprintf(unit, sizeof(unit), UNIT, s->session);
	word(&w, unit);
	word(&w, "fail");
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		n += s->by[r] == MEANS_SCOPE;
	snprintf(number, sizeof(number), "%zu", n);
	word(&w, number);
	/* A scope whose process was killed for its memory has failed, and is to be removed too. */
	word(&w, "CollectMode");
	word(&w, "s");
	word(&w, "inactive-or-failed");
	word(&w, "PIDs");
	word(&w, "au");
	word(&w, "1");
	snprintf(number, sizeof(number), "%d", (int)pid);
	word(&w, number);
	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		if (s->by[r] == MEANS_SCOPE)
			property(&w, held[r].property, s->want.of[r].value * held[r].times);
	if (memory)
		property(&w, "MemorySwapMax", 0);
	word(&w, "0");
	return w.max ? (int)w.n : -E2BIG;
}

/* --- the call and its effect --------------------------------------------------------------------------- */

static pid_t start(char *const *words, int complaints)
{
	pid_t pid = fork();
	int null;

	if (pid != 0)
		return pid;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(complaints, STDERR_FILENO) < 0)
		_exit(EXIT_NOT_FOUND);
	execv(words[0], words);
	_exit(EXIT_NOT_FOUND);
}

/* Reads all output of fd, truncated to buf, until its end; false at the deadline, and then buf is no
 * text. */
static bool hear_out(int fd, int64_t deadline, char *buf, size_t size)
{
	char part[256];
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - clock_awake_ms();
		size_t room = size - 1 - len;

		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(fd, part, sizeof(part));
		if (n > 0 && room > 0) {
			memcpy(buf + len, part, (size_t)n < room ? (size_t)n : room);
			len += (size_t)n < room ? (size_t)n : room;
		}
	}
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EREMOTEIO;
}

/* On a bus that hangs, busctl waits for minutes, whatever timeout it is given for the call. */
static int run_busctl(char *const *words, int64_t deadline, char *ret_why, size_t size)
{
	bool ended;
	pid_t pid;
	int p[2], r;

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	pid = start(words, p[1]);
	r = pid < 0 ? -errno : 0;
	(void)close(p[1]);
	ended = r == 0 && hear_out(p[0], deadline, ret_why, size);
	if (!ended)
		ret_why[0] = '\0';
	(void)close(p[0]);
	if (r < 0)
		return r;
	if (!ended)
		(void)kill(pid, SIGKILL);
	r = status_of(pid);
	return ended ? r : -ETIMEDOUT;
}

/* The job is done when the process is in the scope; its directory goes to ret_dir. */
static bool stands_in(pid_t pid, const char *session, char ret_dir[PATH_MAX])
{
	_cleanup_free_ char *text = NULL;
	char path[64], end[96], *at;
	size_t len;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	snprintf(end, sizeof(end), "/" UNIT "\n", session);
	if (file_read(path, 16384, &text, &len) < 0 || !strstr(text, end))
		return false;
	at = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (!at)
		return false;
	at += strcspn(at, "/");
	n = snprintf(ret_dir, PATH_MAX, "/sys/fs/cgroup%.*s", (int)strcspn(at, "\n"), at);
	return n < PATH_MAX;
}

/* Where a controller was not passed on to the scope, its files do not exist. */
static bool holds_all(const struct session_limits *s, const char *dir)
{
	char path[PATH_MAX];

	for (unsigned r = 0; r < RESOURCE_COUNT; r++)
		if (s->by[r] == MEANS_SCOPE &&
		    (path_join(path, sizeof(path), dir, held[r].file) < 0 || access(path, F_OK) < 0))
			return false;
	return true;
}

static int make(const struct session_limits *s, pid_t pid, char *ret_why, size_t size)
{
	char buf[1024], dir[PATH_MAX], *words[48];
	int64_t deadline = clock_awake_ms() + WAIT_MS;
	int r = scope_words(s, pid, buf, sizeof(buf), words, NELEM(words));

	if (r > 0)
		r = run_busctl(words, deadline, ret_why, size);
	if (r < 0)
		return r;
	while (!stands_in(pid, s->session, dir)) {
		if (clock_awake_ms() >= deadline)
			return -ETIMEDOUT;
		(void)poll(NULL, 0, STEP_MS);
	}
	if (holds_all(s, dir))
		return 0;
	snprintf(ret_why, size, "a controller was not handed on to it");
	return -ENOTSUP;
}

int scope_make(const struct session_limits *s, pid_t pid, char *ret_why, size_t size)
{
	int r;

	ret_why[0] = '\0';
	r = make(s, pid, ret_why, size);
	if (r < 0 && ret_why[0] == '\0')
		snprintf(ret_why, size, "%s", strerror(-r));
	return r;
}
