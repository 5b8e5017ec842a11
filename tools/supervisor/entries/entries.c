/*
 * Entries of directories, removed and made: unlink, rmdir, symlink, mkdir, mknod.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/files/held.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/threads/confined.h"
#include "tools/supervisor/verdict/made.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/shm.h"
#include "tools/wall/numbers.h"

/* --- remove ------------------------------------------------------------------------------------- */

static const struct naming unlinks[] = {
	{ __NR_unlink, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG },
	{ __NR_unlinkat, .path = 1, .dirfd = 0, .flags = 2, .known = AT_REMOVEDIR },
	{ __NR_rmdir, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .fixed = AT_REMOVEDIR },
};

struct answer carry_unlink(struct caller *c)
{
	const struct naming *n = ROW_OF(unlinks, c->nr);
	struct held *h = held_new(c, OP_DELETE, op_access(OP_DELETE));
	int flags = n ? naming_flags(n, c) : -ENOSYS;
	long r = flags < 0 ? flags : h ? held_entry(h, c, n) : -ENOMEM;

	if (r == 0) {
		held_does(h, c, "%s", flags & AT_REMOVEDIR ? "an empty directory" : "");
		r = held_allow(h, c);
	}
	if (r == 0)
		r = caller_enter(c);
	if (r == 0)
		r = call_result(unlinkat(h->fd, h->name, flags));
	held_done(h);
	return answer_result(r);
}

/* --- make --------------------------------------------------------------------------------------- */

/* What is to be made, its arguments read. */
struct made {
	const uint64_t *arg; /* mode and device */
	char *target;	     /* of a symbolic link */
};

/* The kernel's checks that come before it looks at the path. */
typedef int (*made_check)(struct caller *c, struct made *m);
typedef int (*made_act)(const struct held *h, const struct made *m);
/* Describes the new entry for the operator, if there is a question. */
typedef void (*made_say)(struct held *h, struct caller *c, const struct made *m);

static int check_target(struct caller *c, struct made *m)
{
	int n;

	m->target = caller_scratch(c, LIMIT_PATH);
	if (!m->target)
		return -ENOMEM;
	n = caller_string(c, m->arg[0], m->target, LIMIT_PATH);
	return n == 0 ? -ENOENT : n < 0 ? n : 0;
}

static int make_symlink(const struct held *h, const struct made *m)
{
	return symlinkat(m->target, h->fd, h->name);
}

static int make_dir(const struct held *h, const struct made *m)
{
	return mkdirat(h->fd, h->name, (mode_t)m->arg[0]);
}

/* The kernel takes 16 bits of the mode (umode_t). */
static mode_t node_mode(const struct made *m)
{
	return (mode_t)m->arg[0] & 0xffff;
}

/* As may_mknod() in the kernel's fs/namei.c. */
static int check_node(struct caller *c, struct made *m)
{
	(void)c;
	switch (node_mode(m) & S_IFMT) {
	case 0:
	case S_IFREG:
	case S_IFIFO:
	case S_IFSOCK:
	case S_IFCHR:
	case S_IFBLK:
		return 0;
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

/* A device node is made where the kernel lets the caller's user make one: it asks for CAP_MKNOD. */
static int make_node(const struct held *h, const struct made *m)
{
	return mknodat(h->fd, h->name, node_mode(m), (dev_t)(unsigned)m->arg[1]);
}

static void say_symlink(struct held *h, struct caller *c, const struct made *m)
{
	held_does(h, c, "target %s", m->target);
}

static void say_dir(struct held *h, struct caller *c, const struct made *m)
{
	held_does(h, c, "mode %04o", (unsigned)m->arg[0] & 07777);
}

static void say_node(struct held *h, struct caller *c, const struct made *m)
{
	mode_t mode = node_mode(m);
	unsigned dev = (unsigned)m->arg[1];

	if (S_ISCHR(mode) || S_ISBLK(mode))
		held_does(h, c, "%s device %u:%u, mode %04o", S_ISCHR(mode) ? "character" : "block",
			  major((dev_t)dev), minor((dev_t)dev), mode & 07777);
	else
		held_does(h, c, "%s, mode %04o",
			  S_ISFIFO(mode)   ? "a pipe"
			  : S_ISSOCK(mode) ? "a socket"
					   : "a file",
			  mode & 07777);
}

struct making {
	struct naming at;
	enum op op;
	made_check check; /* NULL: nothing */
	made_act act;
	made_say say;
	bool has_mode; /* the caller's umask is taken from it */
};

static const struct making makings[] = {
	{ { __NR_symlink, .path = 1, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 0 },
	  OP_SYMLINK,
	  check_target,
	  make_symlink,
	  say_symlink,
	  false },
	{ { __NR_symlinkat, .path = 2, .dirfd = 1, .flags = NO_ARG, .rest = 0 },
	  OP_SYMLINK,
	  check_target,
	  make_symlink,
	  say_symlink,
	  false },
	{ { __NR_mkdir, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 },
	  OP_MKDIR,
	  NULL,
	  make_dir,
	  say_dir,
	  true },
	{ { __NR_mkdirat, .path = 1, .dirfd = 0, .flags = NO_ARG, .rest = 2 },
	  OP_MKDIR,
	  NULL,
	  make_dir,
	  say_dir,
	  true },
	{ { __NR_mknod, .path = 0, .dirfd = NO_ARG, .flags = NO_ARG, .rest = 1 },
	  OP_MKNOD,
	  check_node,
	  make_node,
	  say_node,
	  true },
	{ { __NR_mknodat, .path = 1, .dirfd = 0, .flags = NO_ARG, .rest = 2 },
	  OP_MKNOD,
	  check_node,
	  make_node,
	  say_node,
	  true },
};

/*
 * Under the caller's umask, which the kernel itself applies, except where the directory has a default ACL
 * (acl(5)).  The mask is this thread's own (unshare(CLONE_FS)).
 */
static long make_masked(struct caller *c, const struct making *row, const struct held *h,
			const struct made *m)
{
	bool masked = row->has_mode && node_mode(m) & 0777;
	int mask = masked ? caller_umask(c) : 0;
	mode_t own;
	long r;

	if (mask < 0)
		return mask;
	if (!masked)
		return call_result(row->act(h, m));
	own = umask((mode_t)mask);
	r = call_result(row->act(h, m));
	(void)umask(own);
	return r;
}

struct answer carry_make(struct caller *c)
{
	const struct making *row = ROW_OF(makings, c->nr);
	struct made m = { .target = NULL };
	struct held *h = row ? held_new(c, row->op, op_access(row->op)) : NULL;
	long r = row ? h ? 0 : -ENOMEM : -ENOSYS;
	struct timespec since;

	if (r == 0) {
		m.arg = &c->arg[row->at.rest];
		r = row->check ? row->check(c, &m) : 0;
	}
	if (r == 0)
		r = held_entry(h, c, &row->at);
	if (r == 0) {
		row->say(h, c, &m);
		r = held_allow(h, c);
	}
	if (r == 0)
		r = caller_enter(c);
	since = made_now();
	if (r == 0)
		r = make_masked(c, row, h, &m);
	if (r == 0 && shm_is_entry(h->req.path))
		made_at(c->sup, h->fd, h->name, &since);
	held_done(h);
	return answer_result(r);
}
