/*
 * bind(2) of unix sockets: a socket file is made.
 *
 * The kernel keeps the name by which a socket was bound, letter by letter, and programs read it back
 * (getsockname(2): Python's multiprocessing, Go's net.Listen).  So a socket is bound by the caller's own
 * name for it, in the caller's directory and under its umask.  The kernel ensures that the name leads to
 * the judged place: a thread that is made for this one call may, by Landlock, make sockets below the judged
 * directory only.  A name that means something else in this process (/proc/self) therefore fails, and the
 * place is then named by its descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "policy/base/fileop.h"
#include "policy/system/cleanup.h"

#include "tools/base/thread.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/net/net.h"
#include "tools/supervisor/threads/confined.h"
#include "tools/supervisor/verdict/made.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"
#include "tools/wall/landlock.h"

#define STACK_SIZE (64u << 10)

/* --- the thread --- */

struct job {
	const struct endpoint *e;
	const struct resolved *at;
	int base; /* the directory that a relative path starts from, or AT_FDCWD */
	mode_t umask;
	int result;
};

/* From here on this thread can make sockets below `dir` only.  0 or -errno. */
static int confine_to(int dir)
{
	const struct ll_ruleset_attr attr = { .handled_access_fs = LL_FS_MAKE_SOCK };
	const struct ll_path_beneath_attr rule = { .allowed_access = LL_FS_MAKE_SOCK, .parent_fd = dir };
	/* The size in ABI 1: later fields are not used. */
	_cleanup_close_ int set =
		(int)syscall(NR_LANDLOCK_CREATE_RULESET, &attr, sizeof(attr.handled_access_fs), 0);

	if (set < 0 || syscall(NR_LANDLOCK_ADD_RULE, set, LL_RULE_PATH_BENEATH, &rule, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(NR_LANDLOCK_RESTRICT_SELF, set, 0) < 0)
		return -errno;
	return 0;
}

static int bind_own_words(const struct job *j)
{
	return bind(j->e->fd, &j->e->addr.sa, j->e->len) < 0 ? -errno : 0;
}

static int bind_held(const struct job *j)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int n = snprintf(un.sun_path, sizeof(un.sun_path), "/proc/self/fd/%d/%s", j->at->parent, j->at->name);

	if (n < 0 || (size_t)n >= sizeof(un.sun_path))
		return -ENAMETOOLONG;
	return bind(j->e->fd, (const struct sockaddr *)&un, sizeof(un)) < 0 ? -errno : 0;
}

static int job_do(const struct job *j)
{
	int r;

	if (unshare(CLONE_FS) < 0 || (j->base != AT_FDCWD && fchdir(j->base) < 0))
		return -errno;
	umask(j->umask);
	r = confine_to(j->at->parent);
	if (r == 0)
		r = bind_own_words(j);
	return r == -EACCES || r == -ENOENT || r == -ENOTDIR ? bind_held(j) : r;
}

static void *thread_main(void *arg)
{
	struct job *j = arg;

	j->result = job_do(j);
	return NULL;
}

/* Runs the job in its thread and waits for it, which does not take long.  0 or -errno. */
static int job_run(struct job *j)
{
	pthread_t thread;
	int r = thread_start(&thread, STACK_SIZE, 0, thread_main, j);

	if (r < 0)
		return r;
	pthread_join(thread, NULL);
	return j->result;
}

/* --- a socket file --- */

static bool is_socket_at(const struct resolved *at)
{
	struct stat st;

	return fstatat(at->parent, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
}

/* True where the socket was made below the judged directory but not in it: a path was exchanged in
 * between. */
static bool was_moved(struct caller *c, const struct request *req, const struct resolved *at)
{
	if (is_socket_at(at))
		return false;
	verdict_refuse(c, req, req->path, REASON_CHANGED);
	return true;
}

/* 0, or the error of bind(2). */
static int judge_place(struct caller *c, const struct place *p, const struct request *req)
{
	struct decision d = verdict_of(c, req);
	int e = d.verdict == VERDICT_ALLOW ? 0 : verdict_earlier(&d, req, &p->r);

	if (e < 0)
		return e == -EEXIST ? -EADDRINUSE : e;
	return verdict_conclude(c, req, req->path, d) ? 0 : -EACCES;
}

static int bind_at(struct caller *c, const struct endpoint *e, struct place *p)
{
	struct request req = {
		.op = OP_MKNOD, .access = op_access(OP_MKNOD), .path = p->r.path, .raw = p->raw
	};
	struct job j = { .e = e, .at = &p->r, .base = place_base(p, c) };
	struct timespec since;
	int mask, r;

	req.given = p->r.same ? NULL : p->r.given;
	if (place_is_foreign(p, c)) {
		verdict_refuse(c, &req, req.path, REASON_PROCESS);
		return -EACCES;
	}
	r = judge_place(c, p, &req);
	r = r < 0 ? r : caller_enter(c);
	if (r < 0)
		return r;
	mask = caller_umask(c);
	if (mask < 0 || !caller_alive(c))
		return mask < 0 ? mask : -ESRCH;
	j.umask = (mode_t)mask;
	since = made_now();
	r = job_run(&j);
	if (r == 0 && was_moved(c, &req, &p->r))
		return -EACCES;
	if (r == 0)
		made_at(c->sup, p->r.parent, p->r.name, &since);
	return r;
}

static struct answer bind_path(struct caller *c, const struct endpoint *e, const char *path)
{
	struct request req = { .op = OP_MKNOD, .access = op_access(OP_MKNOD), .path = path };
	struct place *p = caller_scratch(c, sizeof(*p));
	int r;

	if (!p)
		return answer_result(-ENOMEM);
	r = place_from(p, AT_FDCWD, path);
	if (r == 0)
		r = place_resolve(p, c, RESOLVE_ENTRY_LAST);
	if (r == -EACCES && p->foreign)
		verdict_refuse(c, &req, path, REASON_PROCESS);
	if (r == 0)
		r = bind_at(c, e, p);
	place_done(p);
	return answer_result(r);
}

/* --- any --- */

/* The kernel chooses the name, or it is an abstract one, or one that the kernel refuses. */
static struct answer bind_nameless(struct caller *c, const struct endpoint *e)
{
	const struct timespec ever = { 0 };

	if (bind(e->fd, &e->addr.sa, e->len) < 0)
		return answer_result(-errno);
	made_at(c->sup, e->fd, "", &ever);
	return answer_result(0);
}

/* No rule is about listening under an abstract name: a client that connects to it is judged by `unix =`. */
static struct answer bind_abstract(struct caller *c, const struct endpoint *e, const char *name)
{
	struct request req = { .op = OP_BIND, .access = op_access(OP_BIND), .path = name };
	const struct decision d = { .verdict = VERDICT_ALLOW, .reason = REASON_HOST, .rule = RULE_NONE };
	if (!verdict_conclude(c, &req, name, d) || !caller_alive(c))
		return answer_result(-EACCES);
	return bind_nameless(c, e);
}

struct answer bind_unix(struct caller *c, const struct endpoint *e)
{
	char name[SOCKADDR_NAME];

	switch (sockaddr_unix(&e->addr, e->len, name)) {
	case SOCKADDR_PATH:
		return bind_path(c, e, name);
	case SOCKADDR_ABSTRACT:
		return bind_abstract(c, e, name);
	case SOCKADDR_NONE:
		break;
	}
	return bind_nameless(c, e);
}
