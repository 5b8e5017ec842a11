/* The rule on other processes: see procpath.h. */
#include "procpath.h"

#include <string.h>

#define PID_DIGITS 9

/*
 * The files that the kernel shows of any process to any user, without the access check of ptrace(2).  ps,
 * top, pgrep and container detection read them.
 */
static const char *const shown_to_all[] = {
	"stat",	     "statm",	       "status",    "cmdline", "comm",	    "cgroup",	     "cpuset",
	"limits",    "loginuid",       "sessionid", "oom_adj", "oom_score", "oom_score_adj", "sched",
	"schedstat", "timens_offsets", "mountinfo", "mounts",  "task",	    "wchan",
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int32_t proc_take_pid(const char **at)
{
	int32_t pid = 0;
	size_t n = 0;

	while (n <= PID_DIGITS && is_digit((*at)[n]))
		n++;
	if (n == 0 || n > PID_DIGITS || ((*at)[n] != '/' && (*at)[n] != '\0'))
		return 0;
	for (size_t i = 0; i < n; i++)
		pid = pid * 10 + ((*at)[i] - '0');
	*at += n + ((*at)[n] == '/');
	return pid;
}

static bool is_shown_to_all(const char *name)
{
	for (size_t i = 0; i < sizeof(shown_to_all) / sizeof(shown_to_all[0]); i++)
		if (strcmp(name, shown_to_all[i]) == 0)
			return true;
	return *name == '\0';
}

bool proc_is_closed(const char *path, unsigned access, const struct pids *pids)
{
	const char *rest = strncmp(path, "/proc/", 6) == 0 ? path + 6 : "";
	int32_t pid;

	/* A component that only starts with a digit, as "12 (deleted)", is closed below. */
	if (!is_digit(*rest))
		return false;
	pid = proc_take_pid(&rest);
	if (pid != 0 && pids->has(pids, pid))
		return false;
	if (pid == 0 || access & ~(unsigned)ACCESS_READ)
		return true;
	if (strncmp(rest, "task/", 5) == 0) {
		rest += 5;
		if (proc_take_pid(&rest) == 0)
			return true;
	}
	return !is_shown_to_all(rest);
}
