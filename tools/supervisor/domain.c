/*
 * Programs that confine themselves with Landlock (landlock(7)).
 *
 * What the supervisor performs for such a program and its children must be checked against the program's own
 * domain, and the kernel checks a call against the domain of the thread that makes it.  So the supervisor
 * keeps a descriptor of each ruleset, and the thread that serves such a call puts the rulesets of its caller
 * on itself before it acts.  A domain cannot be left: the thread ends with the call, and another one takes
 * its place.
 *
 * A domain is what its ruleset held when it was made.  So the supervisor itself makes the rulesets and adds
 * their rules, from arguments that it reads once, and adds nothing to a ruleset that it keeps.
 *
 * The supervisor cannot see a domain.  It sees the call that makes one, and marks the process by a resource
 * limit without any other use (RLIMIT_LOCKS, since Linux 2.4.25): it is inherited over fork and exec, and
 * the filter lets no program set it.  A mark that is unknown permits nothing.  Which kinds of access are
 * limited is noted for all programs of the session together.
 */
#include "domain.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/base/proc.h"
#include "tools/wall/confine.h"
#include "tools/wall/landlock.h"

#include "caller.h"
#include "file_limit.h"
#include "supervisor.h"

#define DOMAINS_MAX 256 /* the most domains with a process in them; one more is refused: ENOMEM */

/* A program's own domain, in which it and its children are. */
struct domain {
	rlim_t mark;   /* the hard RLIMIT_LOCKS of its processes */
	rlim_t parent; /* the mark of the domain around it, or the limit of the session */
	int set;       /* its ruleset */
	pid_t tgid;    /* the process that made it */
	bool used;     /* by forget_unused() only */
};

struct domains {
	_Atomic unsigned limits; /* of any of them */
	rlim_t unmarked;	 /* the limit with which the session began, which the supervisor has, too */
	pthread_mutex_t lock;	 /* for what follows */
	rlim_t made;		 /* domains so far */
	size_t n, max;
	struct domain list[DOMAINS_MAX];
};

int domains_new(struct supervisor *s)
{
	struct rlimit own;

	s->domains = calloc(1, sizeof(*s->domains));
	if (!s->domains)
		return -ENOMEM;
	s->domains->unmarked = getrlimit(RLIMIT_LOCKS, &own) < 0 ? 0 : own.rlim_max;
	s->domains->max = limit_by_files(DOMAINS_MAX, 4);
	pthread_mutex_init(&s->domains->lock, NULL);
	return 0;
}

void domains_done(struct supervisor *s)
{
	if (!s->domains)
		return;
	for (size_t i = 0; i < s->domains->n; i++)
		close(s->domains->list[i].set);
	pthread_mutex_destroy(&s->domains->lock);
	free(s->domains);
}

/* 0, which is no mark, where the process is gone. */
static rlim_t mark_of(pid_t pid)
{
	struct rlimit limit;

	return prlimit(pid, RLIMIT_LOCKS, NULL, &limit) < 0 ? 0 : limit.rlim_max;
}

bool caller_is_confined(struct caller *c)
{
	const struct domains *all = c->sup->domains;

	return atomic_load_explicit(&all->limits, memory_order_acquire) &&
	       mark_of(caller_tgid(c)) < all->unmarked;
}

/* Under the lock. */
static struct domain *find_domain(struct domains *all, rlim_t mark)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].mark == mark)
			return &all->list[i];
	return NULL;
}

/* Under the lock: true where mark is of the domain of that mark, or of one inside of it. */
static bool is_within(struct domains *all, rlim_t mark, rlim_t around)
{
	while (mark != around) {
		const struct domain *d = find_domain(all, mark);

		if (!d)
			return false;
		mark = d->parent;
	}
	return true;
}

bool caller_may_look_into(struct caller *c, pid_t pid)
{
	struct domains *all = c->sup->domains;
	bool may;

	pthread_mutex_lock(&all->lock);
	may = is_within(all, mark_of(pid), mark_of(caller_tgid(c)));
	pthread_mutex_unlock(&all->lock);
	return may;
}

/* 0 where both descriptors are of one ruleset; -1 where that is not known. */
static long compare_sets(int a, int b)
{
	return syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, a, b);
}

/* Under the lock: true where a domain is made of the ruleset, or where that cannot be told. */
static bool is_in_force(const struct domains *all, int set)
{
	for (size_t i = 0; i < all->n; i++)
		if (compare_sets(all->list[i].set, set) <= 0)
			return true;
	return false;
}

/* Under the lock: forgets the domains in which no process is left.  A process that is overlooked has an
 * unknown mark, and its calls are refused. */
static void forget_unused(struct domains *all)
{
	DIR *proc = opendir("/proc");
	struct domain *d;
	size_t kept = 0;

	if (!proc)
		return;
	for (pid_t pid = proc_next(proc); pid > 0; pid = proc_next(proc))
		for (d = find_domain(all, mark_of(pid)); d && !d->used; d = find_domain(all, d->parent))
			d->used = true;
	closedir(proc);
	for (size_t i = 0; i < all->n; i++) {
		if (all->list[i].used)
			all->list[kept++] = all->list[i];
		else
			close(all->list[i].set);
	}
	all->n = kept;
	for (size_t i = 0; i < kept; i++)
		all->list[i].used = false;
}

/*
 * Under the lock.  Each thread of a process may make the same call (Go programs do).  A ruleset that is the
 * process's own domain already limits nothing more, so no domain is made.
 */
static int add_domain(struct domains *all, pid_t pid, int set)
{
	struct rlimit limit;
	struct domain d = { .set = set, .parent = mark_of(pid), .tgid = pid };
	const struct domain *own = find_domain(all, d.parent);

	if (own && own->tgid == pid && compare_sets(own->set, set) == 0) {
		close(set);
		return 0;
	}
	if (all->n == all->max)
		forget_unused(all);
	if (all->n == all->max)
		return -ENOMEM;
	/* Below all that were made before, since without privilege a limit can only be lowered. */
	if (all->made + 1 >= all->unmarked || d.parent == 0)
		return -EPERM;
	d.mark = all->unmarked - ++all->made;
	limit = (struct rlimit){ d.mark, d.mark };
	if (prlimit(pid, RLIMIT_LOCKS, &limit, NULL) < 0)
		return -errno;
	all->list[all->n++] = d;
	return 0;
}

int domains_add(struct supervisor *s, pid_t tgid, int set)
{
	int r;

	pthread_mutex_lock(&s->domains->lock);
	r = add_domain(s->domains, tgid, set);
	pthread_mutex_unlock(&s->domains->lock);
	if (r == 0)
		domains_note(s, DOMAIN_LIMITS_ANY);
	return r;
}

int domains_add_rule(struct supervisor *s, int set, uint64_t type, const void *rule, uint64_t flags)
{
	int r = -EPERM;

	pthread_mutex_lock(&s->domains->lock);
	if (!is_in_force(s->domains, set))
		r = syscall(NR_LANDLOCK_ADD_RULE, set, type, rule, flags) < 0 ? -errno : 0;
	pthread_mutex_unlock(&s->domains->lock);
	return r;
}

int domains_enter(struct supervisor *s, pid_t tgid)
{
	rlim_t mark = mark_of(tgid);
	int r = 0;

	pthread_mutex_lock(&s->domains->lock);
	while (r == 0 && mark != s->domains->unmarked) {
		const struct domain *d = find_domain(s->domains, mark);

		r = d && landlock_restrict(d->set) == 0 ? 0 : -EACCES;
		mark = d ? d->parent : mark;
	}
	pthread_mutex_unlock(&s->domains->lock);
	return r;
}

void domains_note(struct supervisor *s, unsigned limits)
{
	atomic_fetch_or(&s->domains->limits, limits);
}

bool caller_may_reach(struct caller *c, bool is_unix)
{
	unsigned limits = atomic_load(&c->sup->domains->limits);

	return !(limits & (is_unix ? DOMAIN_LIMITS_UNIX : DOMAIN_LIMITS_INET)) || !caller_is_confined(c);
}
