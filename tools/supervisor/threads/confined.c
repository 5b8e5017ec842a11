/*
 * The Landlock system calls of the session, and how a thread enters its caller's domain.  Why: see domain.c.
 */
#include "confined.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/domain.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/supervisor.h"
#include "tools/wall/confine.h"
#include "tools/wall/landlock.h"

#include "workers.h"

int caller_enter(struct caller *c)
{
	if (!caller_is_confined(c))
		return 0;
	/* A file of git that is judged after it was written is put in place later, by a thread outside of the
	 * domain. */
	if (c->git_late || !c->worker)
		return -EACCES;
	/* A thread that this one made would be in the domain as well. */
	if (!workers_replace(c->sup, c->worker->index))
		return -EAGAIN;
	c->worker->spent = true;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -EACCES;
	return domains_enter(c->sup, caller_tgid(c));
}

/* --- the calls ----------------------------------------------------------------------------------------- */

/* What a ruleset limits.  Attributes that pale does not know count as limits on all sockets. */
static unsigned limits_of(const struct ll_ruleset_attr *attr, size_t size)
{
	bool is_unknown = size > sizeof(*attr);

	return (is_unknown || attr->handled_access_net ? DOMAIN_LIMITS_INET : 0) |
	       (is_unknown || attr->scoped & LL_SCOPE_ABSTRACT_UNIX ||
				attr->handled_access_fs >= LL_FS_RESOLVE_UNIX
			? DOMAIN_LIMITS_UNIX
			: 0);
}

struct answer carry_ruleset(struct caller *c)
{
	union {
		struct ll_ruleset_attr attr;
		char bytes[4096]; /* a page, as many as the kernel takes */
	} u = { .attr = { 0 } };
	size_t size = c->arg[1];
	int set, r;

	/* A question about the kernel's version. */
	if (c->arg[2] != 0)
		return answer_continue();
	if (size > sizeof(u))
		return answer_result(-E2BIG);
	r = caller_read(c, c->arg[0], &u, size);
	if (r < 0)
		return answer_result(r);
	set = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &u, size, 0);
	if (set < 0)
		return answer_result(-errno);
	domains_note(c->sup, limits_of(&u.attr, size));
	return answer_fd(set, true);
}

struct answer carry_ruleset_rule(struct caller *c)
{
	struct ll_path_beneath_attr path;
	struct ll_net_port_attr port;
	bool is_path = c->arg[1] == LL_RULE_PATH_BENEATH;
	void *rule = is_path ? (void *)&path : (void *)&port;
	_cleanup_close_ int set = caller_fd(c, (int)c->arg[0]);
	_cleanup_close_ int beneath = -1;
	int r;

	if (set < 0)
		return answer_result(set);
	if (!is_path && c->arg[1] != LL_RULE_NET_PORT)
		return answer_result(-EINVAL);
	r = caller_read(c, c->arg[2], rule, is_path ? sizeof(path) : sizeof(port));
	if (r == 0 && is_path)
		path.parent_fd = r = beneath = caller_fd(c, path.parent_fd);
	return answer_result(r < 0 ? r : domains_add_rule(c->sup, set, c->arg[1], rule, c->arg[3]));
}

static bool is_ruleset(int fd)
{
	char name[64];

	return procfs_fd_path(fd, name, sizeof(name)) > 0 &&
	       strcmp(name, "anon_inode:[landlock-ruleset]") == 0;
}

/* A flag that the kernel refuses would leave a mark without a domain. */
static bool flags_are_known(uint32_t flags)
{
	int abi = landlock_abi();
	uint32_t known = abi >= LANDLOCK_TSYNC ? LL_RESTRICT_TSYNC : 0;

	return (flags & ~(known | (abi >= LANDLOCK_LOGS ? LL_RESTRICT_LOGS : 0))) == 0;
}

/*
 * The kernel restricts the caller's thread; its other threads count as restricted from here on.  If another
 * thread exchanges the descriptor meanwhile, the program harms only itself: it stays in every domain that it
 * was in before.  Where the kernel refuses one layer too many (E2BIG), the mark stays as well.
 */
struct answer carry_restrict(struct caller *c)
{
	int set, r;

	if (!flags_are_known((uint32_t)c->arg[1]))
		return answer_result(-EINVAL);
	/* Without a ruleset only what is logged changes. */
	if ((int)c->arg[0] < 0)
		return answer_continue();
	set = caller_fd(c, (int)c->arg[0]);
	if (set < 0)
		return answer_result(set);
	r = is_ruleset(set) ? domains_add(c->sup, caller_tgid(c), set) : -EBADFD;
	if (r == 0)
		return answer_continue();
	close(set);
	return answer_result(r);
}
