/*
 * The presets' part of pale doctor: which rules differ from those of the version that the policy was written
 * for (`version =`), or that was used before this one.
 */
#include <errno.h>
#include <stdio.h>

#include "tools/base/options.h"
#include "tools/base/paths.h"
#include "tools/gather/load.h"
#include "tools/gather/presets_known.h"
#include "tools/sessions/sessions.h"

#include "doctor.h"

#define RULES_SHOWN 20

struct counting {
	struct checkup *c; /* NULL: count alone */
	unsigned n;
};

static void add_rule(void *ctx, char mark, const char *rule, int len)
{
	struct counting *k = ctx;

	if (k->c && k->n++ < RULES_SHOWN)
		checkup_add(k->c, FOUND_NOTE, mark == '+' ? "  new rule" : "  rule is gone", NULL, "%.*s",
			    len, rule);
}

static void report(struct checkup *c, const struct dirs *dirs, const struct policy *p)
{
	static char hint[VERSION_MAX + 64];
	struct counting k = { NULL, 0 };
	char own[VERSION_MAX], since[VERSION_MAX];
	int n = presets_compare(dirs, p, since, add_rule, &k);

	presets_version(own);
	snprintf(hint, sizeof(hint), "once you know them, write in your policy: version = %s", own);
	if (n == -ENOENT && p->version)
		checkup_add(c, FOUND_NOTE, "presets", NULL, "%s; those of %s were never used here", own,
			    p->version);
	else if (n <= 0)
		checkup_add(c, FOUND_OK, "presets", NULL, "%s", own);
	else
		checkup_add(c, FOUND_NOTE, "presets", hint, "%s: rules differ from %s: %d", own, since, n);
	k.c = c;
	if (n > 0)
		(void)presets_compare(dirs, p, since, add_rule, &k);
	if (n > RULES_SHOWN)
		checkup_add(c, FOUND_NOTE, "  more rules", NULL, "%d", n - RULES_SHOWN);
}

void doctor_presets(struct checkup *c)
{
	const struct options o = { 0 };
	struct diags found;
	struct loaded l;
	struct dirs dirs;

	if (session_around() || dirs_find(&dirs) < 0)
		return;
	/* A policy with errors says no version; `pale lint` shows them. */
	diags_init(&found);
	(void)loaded_init(&l, &o, &found);
	report(c, &dirs, &l.policy);
	loaded_done(&l);
	diags_done(&found);
}
