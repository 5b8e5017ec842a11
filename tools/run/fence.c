/*
 * The kernel's side of the fence for one session: what this machine can do, and from the policy what
 * Landlock and the filter shall hold.
 *
 * The order: the machine is probed before the policy is gathered, so that a level that cannot be reached is
 * refused at once; the fence is planned when the policy is compiled; the child itself puts it on.
 */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/environment/statedirs.h"

#include "run.h"

static const char *const not_enforced[LEVEL_COUNT] = {
	[LEVEL_HOOKS] = "programs that make system calls without libc (static, Go, parts of Bun) are not "
			"seen, no kernel wall stands behind the hooks, and of git only the words of "
			"commands and the rules on .git/hooks hold: configuration and branches written as "
			"files do not",
	[LEVEL_FULL] = "hostile machine code in the agent can ignore `readonly`, `keep` and patterns inside "
		       "writable "
		       "directories (--level strict holds it to them)",
	[LEVEL_STRICT] = "what the kernel shows of files without opening them: names, sizes, times",
};

const char *fence_not_enforced(enum level level)
{
	return (unsigned)level < LEVEL_COUNT ? not_enforced[level] : "";
}

int fence_level(const char *name, enum level *ret)
{
	*ret = name ? level_by_name(name) : LEVEL_FULL;
	if (*ret < LEVEL_COUNT)
		return 0;
	talk("unknown level `%s`; the levels are full (the default), strict and hooks", name);
	return EXIT_PALE;
}

int abi_limit(const char *text)
{
	char *end;
	long v;

	if (!text)
		return ABI_MAX;
	v = strtol(text, &end, 10);
	if (end != text && !*end && v >= 0 && v <= ABI_MAX)
		return (int)v;
	talk("--abi-max is a number from 0 to %d", ABI_MAX);
	return -EINVAL;
}

int fence_probe(struct fence *f, enum level level, const char *abi_max)
{
	int limit = abi_limit(abi_max), r;
	char why[512];

	f->level = level;
	f->confine.ruleset = -1;
	if (limit < 0)
		return EXIT_PALE;
	if (level == LEVEL_HOOKS)
		return 0;
	r = kernel_probe(limit, &f->kernel);
	if (r < 0) {
		talk("cannot find out what this kernel can do: %s", strerror(-r));
		return EXIT_PALE;
	}
	if (!*kernel_lacks(&f->kernel, level, why, sizeof(why)))
		return 0;
	talk("level %s is not available here: %s", level_name(level), why);
	talk("--level hooks runs with the preload alone; see: pale doctor");
	return EXIT_PALE;
}

int fence_raise(struct fence *f, const struct policy *p, const struct options *o)
{
	if (p->s.demands <= f->level)
		return 0;
	if (o->level)
		talk("level %s is used instead of %s: %s:%u says `level = %s`", level_name(p->s.demands),
		     level_name(f->level), p->level_file, p->level_line, level_name(p->s.demands));
	if (f->level == LEVEL_HOOKS)
		return fence_probe(f, p->s.demands, o->abi_max);
	f->level = p->s.demands; /* full and strict need the same kernel features */
	return 0;
}

/* 0 or -errno.  The helper chooses the pass. */
static int compile_policy(struct fence *f, struct policy *p)
{
	struct diags d;
	size_t size = 0;
	int r;

	diags_init(&d);
	p->s.level = f->level;
	r = image_compile(p, NULL, &d, &f->ahead_bytes, &size);
	if (r == 0)
		r = image_open(&f->ahead, f->ahead_bytes, size);
	diags_done(&d);
	return r;
}

static void forget_ahead(struct fence *f)
{
	free(f->ahead_bytes);
	f->ahead_bytes = NULL;
	f->ahead = (struct image){ 0 };
	confine_done(&f->confine);
	floor_done(&f->floor);
}

void fence_ahead(struct fence *f, struct policy *p)
{
	int r;

	if (f->level == LEVEL_HOOKS)
		return;
	r = compile_policy(f, p);
	/* Missing directories are made once the helper has confirmed the session. */
	if (r == 0 && state_dirs_lack(&f->ahead))
		r = -ENOENT;
	if (r == 0)
		r = floor_plan(&f->ahead, &f->floor);
	if (r == 0)
		r = f->confine.ruleset = landlock_ruleset(&f->floor, f->kernel.landlock_abi);
	if (r < 0)
		forget_ahead(f);
}

/* The floor of this policy: the one made ahead, or a new one. */
static int make_floor(struct fence *f, const struct launch *l)
{
	int r = 0;

	if (!f->ahead.h || !image_is_alike(&f->ahead, &l->image)) {
		forget_ahead(f);
		r = floor_plan(&l->image, &f->floor);
	}
	return r < 0 ? r : floor_add_session(&f->floor, l->runtime_dir);
}

int fence_make(struct fence *f, const struct launch *l)
{
	struct filter_setup setup = { .level = f->level,
				      .pass = l->image.h->pass,
				      .reads = (enum reads)l->image.h->reads,
				      .landlock_abi = f->kernel.landlock_abi,
				      .own = { getpid(), l->pid },
				      .n_own = l->pid > 0 ? 2 : 1 };
	int r;

	if (f->level == LEVEL_HOOKS)
		return 0;
	r = make_floor(f, l);
	if (r == 0)
		r = confine_make(&f->kernel, &setup, &f->floor, &f->confine);
	if (r < 0)
		talk("cannot set up Landlock and seccomp: %s", landlock_why(r));
	return r < 0 ? EXIT_PALE : 0;
}

void fence_facts(const struct fence *f, char *buf, size_t size)
{
	const struct kernel *k = &f->kernel;
	struct utsname un;

	if (uname(&un) < 0)
		un.release[0] = '\0';
	if (f->level == LEVEL_HOOKS)
		snprintf(buf, size, "Linux %s", un.release);
	else
		snprintf(buf, size, "Linux %s, Landlock ABI %d%s%s", un.release, k->landlock_abi,
			 k->yama > 0 ? ", Yama" : "", k->sync_wake_up ? "" : ", no SYNC_WAKE_UP");
}

void fence_done(struct fence *f)
{
	if (f->level == LEVEL_HOOKS)
		return;
	forget_ahead(f);
}
