/*
 * The floor's plan: what Landlock grants, from the policy and the file system as it is now.
 *
 * The policy's rules only say where to look; the evaluator decides whether a place is denied or may be
 * written, so the floor cannot disagree with it.  A place is barred by its literal path, or by a pattern of
 * names in one directory.  The supervisor enforces what other patterns deny, and what is finer than "read"
 * and "write".  An error about one place grants less, never more.
 */
#include "floor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/judge/eval.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/paths.h"

#define FLOOR_ALL (FLOOR_READ | FLOOR_WRITE)

/* What rules of a kind can mean for the places that they name literally. */
enum use {
	USE_BAR = 1,   /* may forbid reading and writing */
	USE_GUARD = 2, /* may forbid writing: pale's own files, even in a writable root */
	USE_READ = 4,  /* may allow reading, even in a barred place */
	USE_WRITE = 8, /* may make it a writable root */
};

static const unsigned char uses[RULE_KIND_COUNT] = {
	[RULE_FILE_WRITE] = USE_WRITE | USE_READ,
	[RULE_FILE_READ] = USE_READ,
	[RULE_FILE_READONLY] = USE_READ,
	[RULE_FILE_KEEP] = USE_READ,
	[RULE_FILE_ASK_WRITE] = USE_READ,
	[RULE_FILE_SYSTEM] = USE_READ,
	[RULE_FILE_DENY] = USE_BAR,
	[RULE_FILE_SENSITIVE] = USE_BAR,
	[RULE_FILE_SELF] = USE_GUARD,
	[RULE_FILE_HIDDEN] = USE_BAR | USE_GUARD,
};

/*
 * Never granted, whatever the policy says, so opens always go to the supervisor.  In /proc a rule would
 * hold for one process, and also for the next one in that directory; only the supervisor knows whose a
 * directory is.  Terminals cannot be told apart: the operator's other terminals stand beside the session's,
 * and a process that opens one reads what is typed there.  The same holds for other users' files in
 * /dev/shm (shm.c), except for what a rule names there.
 */
#define SHM "/dev/shm"
static const struct {
	const char *path;
	unsigned grants;
} carried[] = {
	{ "/proc", FLOOR_ALL },	       { SHM, FLOOR_ALL },
	{ "/dev/ptmx", FLOOR_WRITE },  { "/dev/pts", FLOOR_ALL },
	{ "/dev/console", FLOOR_ALL },
};

/* Files in /proc that belong to no process and that programs read: granted like the rest of the tree. */
static const char *const of_nobody[] = {
	"/proc/cpuinfo", "/proc/filesystems", "/proc/meminfo", "/proc/stat", "/proc/sys",
};
#define CONSOLES 64 /* "/dev/tty0" and so on: virtual ones (Documentation/admin-guide/devices.txt) */

struct plan {
	const struct image *img;
	struct floor_walk walk;
	char path[LIMIT_PATH], real[PATH_MAX];
};

static bool is_allowed(const struct image *img, enum op op, const char *path)
{
	const struct request req = { .op = op, .access = op_access(op), .path = path };

	return eval(img, &req).verdict == VERDICT_ALLOW;
}

static bool is_denied(const struct image *img, enum op op, const char *path)
{
	const struct request req = { .op = op, .access = op_access(op), .path = path };

	return eval(img, &req).verdict == VERDICT_DENY;
}

/* --- the policy's places ---------------------------------------------------------------------------- */

/* The rule's path in p->path; false where it is a real pattern. */
static bool literal_path(struct plan *p, const struct image_rule *rule)
{
	return floor_names(p->img, rule, p->path) == NAMES_ONE;
}

/* Calls fn for each place that a rule of such a use names literally.  0 or fn's result. */
static int each_place(struct plan *p, unsigned use, int (*fn)(struct plan *p, unsigned use))
{
	const struct image_rule *rule;
	int r = 0;

	for (uint32_t i = 0; r == 0 && (rule = image_rule(p->img, i)); i++)
		if (rule->kind < RULE_KIND_COUNT && uses[rule->kind] & use && literal_path(p, rule))
			r = fn(p, uses[rule->kind] & use);
	return r;
}

/* --- what is barred --------------------------------------------------------------------------------- */

static int bar_place(struct plan *p, unsigned use)
{
	unsigned grants = 0;
	int there;

	if (use & USE_BAR && is_denied(p->img, OP_READ, p->path))
		grants = FLOOR_ALL;
	else if (use & USE_GUARD && is_denied(p->img, OP_WRITE, p->path))
		grants = FLOOR_WRITE;
	there = grants ? floor_look(&p->walk, p->path) : -ENOENT;
	if (there == -ENOENT)
		return 0;
	/*
	 * Bars the link, which must not be replaced, and the place that it leads to, which the rule means.
	 */
	if (there == -ELOOP && realpath(p->path, p->real) && walk_bar(&p->walk, p->real, grants) < 0)
		return -ENOMEM;
	return walk_bar(&p->walk, p->path, grants);
}

/* Under `reads = floor` only Landlock limits reading in /proc and SHM, so reading is not barred there. */
static unsigned carried_grants(const struct image *img, size_t i)
{
	return i < 2 && img->h->reads == READS_FLOOR ? FLOOR_WRITE : carried[i].grants;
}

static int plan_bars(struct plan *p)
{
	int r = each_place(p, USE_BAR | USE_GUARD, bar_place);

	if (r == 0)
		r = reads_bar(p->img, &p->walk);
	for (size_t i = 0; r == 0 && i < NELEM(carried); i++)
		r = walk_bar(&p->walk, carried[i].path, carried_grants(p->img, i));
	for (unsigned i = 0; r == 0 && i < CONSOLES; i++) {
		snprintf(p->path, sizeof(p->path), "/dev/tty%u", i);
		r = walk_bar(&p->walk, p->path, FLOOR_ALL);
	}
	walk_ready(&p->walk);
	return r;
}

/* --- what is granted -------------------------------------------------------------------------------- */

static unsigned carried_on(const char *path)
{
	unsigned grants = 0;

	for (size_t i = 0; i < NELEM(carried); i++)
		if (path_is_under(path, carried[i].path) &&
		    (strcmp(carried[i].path, SHM) != 0 || strcmp(path, SHM) == 0))
			grants |= carried[i].grants;
	return grants;
}

/* What the policy allows on path itself; reading alone is left out where the walk from the root grants it
 * already. */
static unsigned allowed_on(const struct plan *p, unsigned use, const char *path)
{
	unsigned grants = 0, never = carried_on(path);

	if (use & USE_WRITE && !(never & FLOOR_WRITE) && is_allowed(p->img, OP_WRITE, path))
		grants |= FLOOR_WRITE;
	if (use & USE_READ && !(never & FLOOR_READ) && (grants || walk_barred(&p->walk, path) & FLOOR_READ) &&
	    is_allowed(p->img, OP_READ, path))
		grants |= FLOOR_READ;
	return grants;
}

static int grant_place(struct plan *p, unsigned use)
{
	unsigned grants = allowed_on(p, use, p->path);

	/* A link needs no grant: its real path has a rule of its own. */
	if (!grants || floor_look(&p->walk, p->path) < 0)
		return 0;
	return walk_grant(&p->walk, p->path, grants);
}

static int plan_grants(struct plan *p)
{
	const char *workspace = image_str(p->img, p->img->h->workspace);
	int r = walk_grant(&p->walk, "/", FLOOR_READ | allowed_on(p, USE_WRITE, "/"));

	for (size_t i = 0; r == 0 && i < NELEM(of_nobody); i++)
		if (is_allowed(p->img, OP_READ, of_nobody[i]))
			r = walk_grant(&p->walk, of_nobody[i], FLOOR_READ);
	if (r == 0)
		r = each_place(p, USE_READ | USE_WRITE, grant_place);
	/* A `[` in the workspace's name makes its rule a pattern, so it is granted here. */
	if (r || strlen(workspace) >= sizeof(p->path))
		return r;
	strcpy(p->path, workspace);
	return grant_place(p, USE_READ | USE_WRITE);
}

/* The hooks of each process map this file.  The supervisor opens later images of the session. */
int floor_add_session(struct floor *f, const char *dir)
{
	char path[PATH_MAX];
	int r = path_join(path, sizeof(path), dir, WIRE_IMAGE_FILE);

	if (r == 0)
		r = floor_add(f, path, FLOOR_READ);
	floor_sort(f);
	return r;
}

int floor_plan(const struct image *img, struct floor *ret)
{
	_cleanup_free_ struct plan *p = calloc(1, sizeof(*p));
	int r;

	*ret = (struct floor){ 0 };
	if (!p)
		return -ENOMEM;
	p->img = img;
	p->walk.floor = ret;
	r = plan_bars(p);
	if (r == 0)
		r = plan_grants(p);
	walk_done(&p->walk);
	floor_sort(ret);
	if (r == 0)
		reads_settle(img, ret);
	return r;
}
