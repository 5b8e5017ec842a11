/* The means that can hold each limit, best first, and their names. */
#include "limits.h"

/* Best first. */
static const enum means order[RESOURCE_COUNT][MEANS_COUNT] = {
	[RESOURCE_MEMORY] = { MEANS_SCOPE, MEANS_CGROUP, MEANS_RLIMIT },
	[RESOURCE_CPU] = { MEANS_SCOPE, MEANS_CGROUP },
	[RESOURCE_PROCESSES] = { MEANS_SCOPE, MEANS_CGROUP, MEANS_RLIMIT },
	[RESOURCE_FILES] = { MEANS_RLIMIT },
	[RESOURCE_FILE_SIZE] = { MEANS_RLIMIT },
	[RESOURCE_TIME] = { MEANS_CLOCK },
};

static bool has_means(const struct limits_host *h, enum means m, enum resource r)
{
	switch (m) {
	case MEANS_SCOPE:
		return h->bus[0] && h->scope_has[r];
	case MEANS_CGROUP:
		return h->v2[0] && h->v2_has[r];
	case MEANS_RLIMIT:
		/* RLIMIT_NPROC does not limit root. */
		return r != RESOURCE_PROCESSES || h->uid != 0;
	case MEANS_CLOCK:
		return true;
	case MEANS_NONE:
	case MEANS_COUNT:
		break;
	}
	return false;
}

enum means limits_means(const struct limits_host *h, enum resource r)
{
	for (size_t i = 0; i < MEANS_COUNT && order[r][i] != MEANS_NONE; i++)
		if (has_means(h, order[r][i], r))
			return order[r][i];
	return MEANS_NONE;
}

const char *means_text(enum means m, enum resource r)
{
	static const char *const texts[MEANS_COUNT] = {
		[MEANS_NONE] = "nothing",     [MEANS_SCOPE] = "systemd scope",
		[MEANS_CGROUP] = "cgroup v2", [MEANS_RLIMIT] = "rlimit (each process)",
		[MEANS_CLOCK] = "the clock",
	};

	if (m == MEANS_RLIMIT && r == RESOURCE_MEMORY)
		return "rlimit (each process, private memory)";
	if (m == MEANS_RLIMIT && r == RESOURCE_PROCESSES)
		return "rlimit (counted for the whole user)";
	return (unsigned)m < MEANS_COUNT ? texts[m] : "?";
}
