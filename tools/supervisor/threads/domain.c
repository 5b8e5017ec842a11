/*
 * Programs that confine themselves with Landlock (landlock(7)).
 *
 * What the supervisor performs for such a program and its children must be checked against the program's own
 * domain, and the kernel checks a call against the domain of the thread that makes it.  So the supervisor
 * keeps a descriptor of each ruleset, and the thread that serves such a call puts the rulesets of its caller
 * on itself before it acts.  A domain cannot be left: the thread ends with the call, and another one takes
 * its place.
 *
 * The supervisor cannot see a domain.  It sees the call that makes one, and marks the process by a resource
 * limit without any other use (RLIMIT_LOCKS, since Linux 2.4.25): it is inherited over fork and exec, and
 * the filter lets no program set it.  A mark that is unknown permits nothing.  Which kinds of access are
 * limited is noted for all programs of the session together.
 */
#include "domain.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tools/base/proc.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/supervisor.h"
#include "tools/wall/confine.h"
#include "tools/wall/landlock.h"

#include "workers.h"

enum { LIMITS_ANY = 1, LIMITS_INET = 2, LIMITS_UNIX = 4 };

#define DOMAINS_MAX 256 /* in which processes live at a time; beyond them no program gets one: ENOMEM */

/* A program's own domain, in which it and its children are. */
struct domain {
	rlim_t mark;   /* the hard RLIMIT_LOCKS of its processes */
	rlim_t parent; /* the mark of the domain around it, or the limit of the session */
	int set;       /* its ruleset */
	bool used;     /* by forget_unused() only */
};

struct domains {
	_Atomic unsigned limits; /* LIMITS_*, of any of them */
	rlim_t unmarked;	 /* the limit with which the session began, which the supervisor has, too */
	pthread_mutex_t lock;	 /* for what follows */
	rlim_t made;		 /* domains so far */
	size_t n;
	struct domain list[DOMAINS_MAX];
};

int domains_new(struct supervisor *s)
{
	struct rlimit own;

	s->domains = calloc(1, sizeof(*s->domains));
	if (!s->domains)
		return -ENOMEM;
	s->domains->unmarked = getrlimit(RLIMIT_LOCKS, &own) < 0 ? 0 : own.rlim_max;
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

/* --- the domains of the session ------------------------------------------------------------------------ */

/* Under the lock. */
static struct domain *find_domain(struct domains *all, rlim_t mark)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].mark == mark)
			return &all->list[i];
	return NULL;
}

/* Under the lock: forgets the domains in which no process is left.  One that is missed here is refused later.
 */
static void forget_unused(struct domains *all)
{
	DIR *proc = opendir("/proc");
	struct domain *d;
	size_t kept = 0;

	for (pid_t pid = proc_next(proc); pid > 0; pid = proc_next(proc))
		for (d = find_domain(all, mark_of(pid)); d && !d->used; d = find_domain(all, d->parent))
			d->used = true;
	if (proc)
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

/* Under the lock: marks the process as one of a new domain inside of the one that it is in.  Consumes set
 * where it succeeds. */
static int add_domain(struct domains *all, pid_t pid, int set)
{
	struct rlimit limit;
	struct domain d = { .set = set, .parent = mark_of(pid) };

	if (all->n == DOMAINS_MAX)
		forget_unused(all);
	if (all->n == DOMAINS_MAX)
		return -ENOMEM;
	/* Below all that were made before, since without privilege a limit can only be lowered. */
	if (all->made == all->unmarked || d.parent == 0)
		return -EPERM;
	d.mark = all->unmarked - ++all->made;
	limit = (struct rlimit){ d.mark, d.mark };
	if (prlimit(pid, RLIMIT_LOCKS, &limit, NULL) < 0)
		return -errno;
	all->list[all->n++] = d;
	return 0;
}

/* Under the lock: this thread enters the domain of that mark, and those around it. */
static int enter(struct domains *all, rlim_t mark)
{
	for (const struct domain *d; mark != all->unmarked; mark = d->parent) {
		d = find_domain(all, mark);
		if (!d || landlock_restrict(d->set) < 0)
			return -EACCES;
	}
	return 0;
}

int caller_enter(struct caller *c)
{
	struct domains *all = c->sup->domains;
	int r;

	if (!caller_is_confined(c))
		return 0;
	/* What is written into such a file is put in its place later, by another thread. */
	if (c->git_late || !c->worker)
		return -EACCES;
	/* A thread that this one made would be in the domain as well. */
	if (!workers_replace(c->sup, c->worker->index))
		return -EAGAIN;
	c->worker->spent = true;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -EACCES;
	pthread_mutex_lock(&all->lock);
	r = enter(all, mark_of(caller_tgid(c)));
	pthread_mutex_unlock(&all->lock);
	return r;
}

bool caller_may_reach(struct caller *c, bool is_unix)
{
	unsigned limits = atomic_load(&c->sup->domains->limits);

	return !(limits & (is_unix ? LIMITS_UNIX : LIMITS_INET)) || !caller_is_confined(c);
}

/* --- the calls -------------------------------------------------------------------------------------------
 */

/* The attributes are only noted: a program that changes them meanwhile weakens its own domain. */
struct answer carry_ruleset(struct caller *c)
{
	struct ll_ruleset_attr attr = { 0 };
	size_t size = c->arg[1] < sizeof(attr) ? c->arg[1] : sizeof(attr);
	unsigned limits = c->arg[1] > sizeof(attr) ? LIMITS_INET | LIMITS_UNIX : 0;

	if (size > 0 && caller_read(c, c->arg[0], &attr, size) == 0) {
		limits |= attr.handled_access_net ? LIMITS_INET : 0;
		limits |= attr.scoped & LL_SCOPE_ABSTRACT_UNIX || attr.handled_access_fs >= LL_FS_RESOLVE_UNIX
				  ? LIMITS_UNIX
				  : 0;
		atomic_fetch_or(&c->sup->domains->limits, limits);
	}
	return answer_continue();
}

static bool is_ruleset(int fd)
{
	char name[64], link[PROCFS_LINK_MAX];
	ssize_t n;

	procfs_own_link(fd, link);
	n = readlink(link, name, sizeof(name) - 1);
	name[n < 0 ? 0 : n] = '\0';
	return strstr(name, "landlock-ruleset") != NULL;
}

/* The kernel restricts the caller's thread; its other threads count as restricted from here on. */
struct answer carry_restrict(struct caller *c)
{
	struct domains *all = c->sup->domains;
	int set, r;

	/* Without a ruleset only what is logged changes. */
	if ((int)c->arg[0] < 0)
		return answer_continue();
	set = caller_fd(c, (int)c->arg[0]);
	if (set < 0)
		return answer_result(set);
	r = is_ruleset(set) ? 0 : -EBADFD;
	if (r == 0) {
		pthread_mutex_lock(&all->lock);
		r = add_domain(all, caller_tgid(c), set);
		pthread_mutex_unlock(&all->lock);
	}
	if (r < 0) {
		close(set);
		return answer_result(r);
	}
	atomic_fetch_or(&all->limits, LIMITS_ANY);
	return answer_continue();
}
