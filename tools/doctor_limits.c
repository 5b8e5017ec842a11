/* What pale doctor says of limits: by what means this machine holds each. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "doctor.h"
#include "limits.h"

static const char *raise_of(enum resource r, enum means m)
{
	if (m == MEANS_RLIMIT && r == RESOURCE_MEMORY)
		return "a cgroup bounds them together: systemd's, or one delegated to the user";
	if (m == MEANS_RLIMIT && r == RESOURCE_PROCESSES)
		return "a cgroup counts the session alone: systemd's, or one delegated to the user";
	return m == MEANS_NONE ? "a cgroup: systemd's, or one delegated to the user" : NULL;
}

void doctor_limits(doctor_add_fn add, void *ctx)
{
	static char names[RESOURCE_COUNT][32], texts[RESOURCE_COUNT][64];
	struct limits_host *h = calloc(1, sizeof(*h));

	if (!h)
		return;
	limits_look(h, "", geteuid());
	for (unsigned i = 0; i < RESOURCE_COUNT; i++) {
		enum resource r = (enum resource)i;
		enum means m = limits_means(h, r);

		snprintf(names[i], sizeof(names[i]), "limit %s", resource_name(r));
		snprintf(texts[i], sizeof(texts[i]), "by %s", means_text(m, r));
		add(ctx, names[i], m == MEANS_NONE ? FOUND_MISSING : FOUND_OK, texts[i], raise_of(r, m));
	}
	free(h);
}
