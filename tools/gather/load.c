/*
 * From options to an image that can judge: gathers, parses and looks up real paths, compiles.  The helper
 * compiles the same bundle for a session, so both give the same answers.
 */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/record/passphrase.h"

#include "tools/base/options.h"
#include "tools/base/paths.h"
#include "tools/git/trunk.h"

#include "gather.h"
#include "proven.h"

/*
 * Names that lead to a different file in each process; their real paths here are those of this process.
 * The session's /proc/self is another one, and a rule for `/dev/stdout` must not open the file that the
 * operator redirected output to.
 */
static bool is_each_ones_own(const char *path)
{
	static const char *const list[] = { "/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr" };

	for (size_t i = 0; i < NELEM(list); i++)
		if (path_is_under(path, list[i]))
			return true;
	return false;
}

static int find_real(void *ctx, struct bundle *b, const char *prefix)
{
	char real[PATH_MAX] UNINITIALIZED;

	if (prefix[0] != '/' || is_each_ones_own(prefix) || reals_find(ctx, prefix, real, sizeof(real)) < 0 ||
	    strcmp(real, prefix) == 0 || is_each_ones_own(real))
		return 0;
	return bundle_add_real(b, prefix, real);
}

/* Parses again with the additions to the bundle; the findings were reported the first time. */
static int parse_proven(const struct bundle *b, struct policy *p)
{
	struct diags d;
	int r;

	policy_done(p);
	policy_init(p);
	diags_init(&d);
	r = policy_parse(b, p, &d);
	diags_done(&d);
	return r;
}

int bundle_parse(struct bundle *b, const struct bundle *first, struct policy *p, struct diags *d)
{
	struct reals reals = { .n = 0 };
	int r = policy_parse_finding(b, p, d, find_real, &reals);

	reals_done(&reals);
	/* A running session keeps the protected branches of its start. */
	if (r == 0 && !first)
		r = trunk_gather(b, p);
	if (r == 0)
		r = reals_prove(b, p, first, d);
	return r == 0 && b->n_unproven > 0 ? parse_proven(b, p) : r;
}

/* The same as stepup_proves() in the session's helper.  Where a helper keeps the passphrase in a place of
 * its own, it cannot be known here. */
static bool proves(enum stepup mode)
{
	char path[LIMIT_PATH];
	struct dirs dirs;

	if (mode != STEPUP_AUTO)
		return mode != STEPUP_NONE;
	return dirs_find(&dirs) == 0 && path_join(path, sizeof(path), dirs.state, PASSPHRASE_FILE) >= 0 &&
	       faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int build(struct loaded *l, struct diags *d)
{
	int r = bundle_parse(&l->bundle, NULL, &l->policy, d);

	/* The bundle says only now what it knows of branches. */
	if (r == 0 && (l->bundle.n_git_trunk > 0 || l->bundle.git_unborn))
		r = parse_proven(&l->bundle, &l->policy);
	l->policy.s.level = l->level;
	l->policy.s.proves = proves(l->policy.s.stepup);
	if (r == 0)
		r = image_compile(&l->policy, NULL, d, &l->bytes, &l->size);
	if (r == 0)
		r = image_open_checked(&l->image, l->bytes, l->size);
	return r;
}

int loaded_from_bundle(struct loaded *l, struct bundle *b, struct diags *d)
{
	memset(l, 0, sizeof(*l));
	policy_init(&l->policy);
	l->level = LEVEL_FULL;
	l->bundle = *b;
	bundle_init(b);
	return build(l, d);
}

int loaded_init(struct loaded *l, const struct options *o, struct diags *d)
{
	int r;

	memset(l, 0, sizeof(*l));
	policy_init(&l->policy);
	l->level = o->level ? level_by_name(o->level) : LEVEL_FULL;
	r = bundle_gather(o, NULL, &l->bundle, d);
	return r < 0 ? r : build(l, d);
}

void loaded_done(struct loaded *l)
{
	free(l->bytes);
	policy_done(&l->policy);
	bundle_done(&l->bundle);
}
