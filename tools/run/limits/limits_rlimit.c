/*
 * Limits by setrlimit(2), put on the agent's first process before its first instruction; all processes that
 * it starts inherit them, and only root can raise them again.
 *
 * Memory is RLIMIT_DATA: private writable memory.  RLIMIT_AS would also count address space that runtimes
 * reserve and never use (Bun 130 GiB, Node and Go less), so they would not start.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/proc.h"
#include "tools/base/readfile.h"

#include "limits.h"

static const struct {
	enum resource r;
	__rlimit_resource_t which;
} rlimits[] = {
	{ RESOURCE_MEMORY, RLIMIT_DATA },
	{ RESOURCE_PROCESSES, RLIMIT_NPROC },
	{ RESOURCE_FILES, RLIMIT_NOFILE },
	{ RESOURCE_FILE_SIZE, RLIMIT_FSIZE },
};

static size_t threads_in(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	const char *at;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read(path, 16384, &text, &len) < 0)
		return 0;
	at = strstr(text, "\nThreads:");
	return at ? strtoul(at + strlen("\nThreads:"), NULL, 10) : 0;
}

static bool is_of_user(pid_t pid, uid_t uid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 && st.st_uid == uid;
}

size_t threads_of(uid_t uid)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	size_t n = 0;
	pid_t pid;

	while ((pid = proc_next(proc)))
		n += is_of_user(pid, uid) ? threads_in(pid) : 0;
	return n;
}

/* Never raises a limit. */
static int lower_limit(pid_t pid, __rlimit_resource_t which, uint64_t value)
{
	struct rlimit now;

	if (prlimit(pid, which, NULL, &now) < 0)
		return -errno;
	if (now.rlim_max > value)
		now.rlim_max = value;
	if (now.rlim_cur > value)
		now.rlim_cur = value;
	return prlimit(pid, which, &now, NULL) < 0 ? -errno : 0;
}

int rlimits_set(const struct session_limits *s, pid_t pid)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < NELEM(rlimits); i++) {
		enum resource r = rlimits[i].r;
		uint64_t value = s->want.of[r].value;

		if (s->by[r] != MEANS_RLIMIT)
			continue;
		if (r == RESOURCE_PROCESSES)
			value += s->others;
		e = lower_limit(pid, rlimits[i].which, value);
	}
	return e;
}
