/* The rule on other processes: see procpath.h. */
#include "procpath.h"

#include <string.h>

#define PID_DIGITS 9

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

bool proc_is_closed(const char *path, const struct pids *pids)
{
	const char *rest = strncmp(path, "/proc/", 6) == 0 ? path + 6 : "";
	int32_t pid;

	/* A component that only starts with a digit, as "12 (deleted)", is not a process of the session. */
	if (!is_digit(*rest))
		return false;
	pid = proc_take_pid(&rest);
	return pid == 0 || !pids->has(pids, pid);
}

bool proc_is_look(enum op op, enum reason reason, const char *path)
{
	return op == OP_READ && reason == REASON_PROCESS && strncmp(path, "/proc/", 6) == 0;
}

bool reason_is_quiet(enum op op, enum reason reason, const char *path)
{
	return proc_is_look(op, reason, path) ||
	       (op == OP_READ && (reason == REASON_HOME || reason == REASON_ABSENT));
}
