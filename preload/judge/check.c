/*
 * The judgement of a hooked call: from the words of the caller to a judged file, program or destination.
 *
 * This file turns a caller's (dirfd, path) into a judged place to act on.
 *
 * The near way is the cheap one: the lexical path is judged, and an open of its parent with
 * RESOLVE_NO_SYMLINKS proves that the lexical path is the real one.  Whatever is not plainly allowed there
 * (a symbolic link on the way, a denial, a question, a long path) takes the far way: the resolver walks the
 * path, both spellings are judged, and the kernel's own errors come before ours.
 */
#include "check.h"

#include <limits.h>
#include <sys/resource.h>

#include "policy/base/fileop.h"
#include "policy/base/path.h"
#include "policy/file/procpath.h"
#include "policy/programs/mark.h"

#include "preload/process/gate.h"
#include "preload/process/memory.h"
#include "preload/process/real.h"
#include "preload/process/session.h"
#include "preload/tell/ask.h"
#include "preload/tell/log.h"
#include "preload/tell/say.h"

#include "check_open.h"

#define TRY_FAR INT_MIN

/* A hook knows a process of its session by the session's mark, which is a resource limit (mark.h). */
static bool is_of_session(const struct pids *p, int32_t pid)
{
	struct rlimit own, its;

	(void)p;
	return raw4(SYS_prlimit64, 0, MARK_RESOURCE, NULL, &own) == 0 &&
	       raw4(SYS_prlimit64, pid, MARK_RESOURCE, NULL, &its) == 0 && its.rlim_cur == own.rlim_cur;
}

const struct pids *pids_judged(void)
{
	static const struct pids session_pids = { is_of_session };

	return judging_alone() ? &session_pids : NULL;
}

/* True if the call can be left to a supervisor.  The look-up of a host name is not a system call, so it
 * cannot. */
static bool is_carried(enum op op)
{
	return op != OP_RESOLVE && gate_stands();
}

int conclude(const struct request *req, const char *target, const struct decision *verdict)
{
	struct decision d = *verdict;
	struct answer a;
	int saved = errno;

	if (d.verdict == VERDICT_ALLOW)
		return CHECK_ACT;
	a.text[0] = a.approval[0] = '\0';
	if (d.verdict == VERDICT_ASK) {
		if (is_carried(req->op))
			return CHECK_PLAIN;
		ask_helper(req, target, d.rule, &a);
		d.verdict = a.verdict;
		d.reason = a.reason;
	}
	if (d.verdict == VERDICT_ALLOW || proc_is_look(req->op, d.reason, target))
		log_decision(req, target, &d, a.approval);
	else
		deny(req, target, &d, a.approval, a.text);
	errno = saved;
	if (d.verdict == VERDICT_ALLOW)
		return CHECK_RECORDED;
	return d.reason == REASON_PROCESS || decision_is_absence(&d, req->op) ? -ENOENT : -EACCES;
}

/* The verdict of the policy; if the session's policy cannot be read, a denial. */
struct decision verdict_of(const struct request *req)
{
	const struct image *img = image_now();

	/* The helper or the supervisor, which is asked, judges by the newer image. */
	return img ? eval(img, req) : (struct decision){ .verdict = VERDICT_ASK, .rule = RULE_NONE };
}

bool near_allows(struct request *req, int dirfd, const char *path, char *buf, struct decision *ret)
{
	const struct image *img = image_now();

	if (!img)
		return false;
	req->memo = sys_memos();
	req->pids = pids_judged();
	req->path = path;
	/* A path that the memo knows is normalised: it needs no check for that. */
	if (req->memo && path[0] == '/' && eval_leaf(img, req, ret))
		return true;
	req->path = sys_near(dirfd, path, buf, NEAR_PATH);
	if (!req->path)
		return false;
	*ret = eval(img, req);
	return ret->verdict == VERDICT_ALLOW;
}

bool judge(const struct request *req, const char *target)
{
	struct decision d = verdict_of(req);
	int r = conclude(req, target, &d);

	if (r == CHECK_ACT && !is_carried(req->op))
		log_decision(req, target, &d, "");
	return r >= 0;
}

void refuse(const struct request *req, const char *target, struct decision d, const char *why)
{
	int saved = errno;

	d.verdict = VERDICT_DENY;
	deny(req, target, &d, "", why);
	errno = saved;
}

/* True for the calls that Landlock restricts.  If another preloaded object stands between the preload and
 * libc, that object makes them. */
static bool passes_gate(enum op op)
{
	return op >= OP_DELETE && op <= OP_MKNOD && !real_interposed;
}

/* What to do with an allowed call at this level. */
static int spot_allowed(struct spot *s, const struct request *req, const struct decision *d)
{
	if (gate_stands() && !passes_gate(req->op))
		return CHECK_PLAIN;
	s->target = req->path;
	log_begin(req, req->path, d, "", &s->hold);
	return CHECK_ACT;
}

/* Voids the record: the act is not done, or is done and recorded in another way. */
static __attribute__((cold, noinline)) void spot_unmake(struct spot *s)
{
	if (s->target)
		ring_end(&s->hold, false);
	s->target = NULL;
}

/* Closes the held directory and voids the record, before the far way starts. */
static void spot_let_go(struct spot *s)
{
	if (s->owned)
		sys_close(s->dirfd);
	s->owned = false;
	s->whole = NULL;
	spot_unmake(s);
}

void spot_done(struct spot *s)
{
	if (s->target)
		ring_end(&s->hold, true);
	s->target = NULL;
	spot_let_go(s);
	if (s->anchored)
		sys_close(s->anchor);
	s->anchored = false;
	if (s->scratch) {
		resolved_done(&sys_self, s->scratch);
		scratch_put(s->scratch, sizeof *s->scratch);
	}
	s->scratch = NULL;
}

long spot_did(struct spot *s, long r)
{
	if (!gate_refused(r))
		return r;
	spot_unmake(s);
	return CHECK_PLAIN;
}

unsigned mode_of(int dirfd, const char *name)
{
	struct stat st;

	return raw4(SYS_newfstatat, dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode : 0;
}

/* True if the directory has entries besides "." and "..". */
static __attribute__((cold)) bool has_entries(int dirfd, const char *name)
{
	struct linux_dirent64 {
		uint64_t ino, off;
		unsigned short len;
		unsigned char type;
		char name[];
	} * d;
	_Alignas(8) char buf[1024];
	unsigned count = 0;
	long n, fd = gate4(SYS_openat, dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	n = raw3(SYS_getdents64, fd, buf, sizeof buf);
	for (long at = 0; at < n; at += d->len, count++)
		d = (struct linux_dirent64 *)(buf + at);
	sys_close((int)fd);
	return count > 2;
}

/*
 * The error that the kernel would return before it checks permissions; 0 if the policy decides.  A
 * directory that is not empty cannot be removed, whatever lies below it; git stash tries to, and git gc in a
 * linked worktree.
 */
static int earlier_error(const struct decision *d, const struct request *req, const struct resolved *r)
{
	int e = op_existence(req->op, req->access, mode_of(r->parent, r->name), req->path);

	if (e == 0 && req->op == OP_DELETE &&
	    (d->reason == REASON_ANCESTOR || d->reason == REASON_SELF || d->reason == REASON_OUTSIDE) &&
	    has_entries(r->parent, r->name))
		return -ENOTEMPTY;
	return e;
}

/*
 * No descriptor is free, so nothing can be held: a path without any symbolic link is judged and then used
 * as it is.  The time in between is a race that only Landlock closes.
 */
static __attribute__((cold)) int spot_unheld(struct spot *ret, enum op op, unsigned access, int dirfd,
					     const char *path, struct resolved *r)
{
	struct request req = { .op = op, .access = access, .raw = path, .path = r->given };
	int n = sys_lexical(dirfd, path, r->given, sizeof r->given);
	char c;

	if (n < 0)
		return n;
	memcpy(r->path, r->given, (size_t)n + 1);
	for (char *p = r->path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (gate4(SYS_readlinkat, AT_FDCWD, r->path, &c, 1) >= 0)
			return -EMFILE;
		*p = '/';
	}
	if (!judge(&req, req.path))
		return -EACCES;
	ret->dirfd = dirfd;
	ret->name = path;
	return 0;
}

/* True if a second open of an own descriptor, by its magic link, gives no more access than it has. */
static __attribute__((cold)) bool reopens_own(const struct resolved *r, unsigned access)
{
	long fl = r->magic && r->magic_fd >= 0 ? raw2(SYS_fcntl, r->magic_fd, F_GETFL) : -1;
	unsigned has;

	if (fl < 0 || fl & O_PATH)
		return false;
	has = open_access((int)fl & O_ACCMODE);
	return (access & ~has) == 0;
}

__attribute__((cold)) bool check_is_own(const struct resolved *r, unsigned access)
{
	return r->magic &&
	       (r->path[0] != '/' || strncmp(r->path, "/memfd:", 7) == 0 || reopens_own(r, access));
}

static __attribute__((cold)) int spot_far(struct spot *ret, enum op op, unsigned access, int dirfd,
					  const char *path, enum resolve_follow follow)
{
	struct resolved *r = scratch_get(sizeof *r);
	struct request req = { .op = op, .access = access, .raw = path };
	struct decision d;
	int e;

	if (!r)
		return -ENOMEM;
	ret->scratch = r;
	e = resolve(&sys_self, dirfd, path, follow, r);
	if (e == -EMFILE || e == -ENFILE)
		return gate_stands() ? CHECK_PLAIN : spot_unheld(ret, op, access, dirfd, path, r);
	if (e < 0)
		return e;
	ret->dirfd = r->parent;
	ret->name = r->name;
	ret->magic = r->magic;
	if ((op == OP_READ || op == OP_WRITE) && check_is_own(r, access))
		return CHECK_ACT;
	req.path = r->path;
	req.given = req.through = r->same ? NULL : r->given;
	req.pids = pids_judged();
	d = verdict_of(&req);
	if (d.verdict != VERDICT_ALLOW && state_now() == STATE_LIVE) {
		e = earlier_error(&d, &req, r);
		if (e < 0)
			return e;
	}
	e = conclude(&req, req.path, &d);
	return e == CHECK_ACT ? spot_allowed(ret, &req, &d) : e == CHECK_RECORDED ? CHECK_ACT : e;
}

const char *plain_last(const char *path)
{
	const char *last = path_basename(path);

	if (!*last || last[0] != '.')
		return *last ? last : NULL;
	return last[1] == '\0' || (last[1] == '.' && last[2] == '\0') ? NULL : last;
}

/* Opens the directory of the entry at last of the absolute path, following no symbolic link.  Returns a
 * descriptor that the caller must close, or -errno. */
static int hold_parent(const char *path, const char *last)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	char parent[NEAR_PATH] UNINITIALIZED;
	size_t n = (size_t)(last - path);

	if (n == 0 || n >= sizeof parent)
		return -ELOOP;
	memcpy(parent, path, n);
	parent[n] = '\0';
	return (int)gate_openat2(AT_FDCWD, parent, &how);
}

static bool is_link(int dirfd, const char *name)
{
	char c;

	return gate4(SYS_readlinkat, dirfd, name, &c, 1) >= 0;
}

/*
 * True for an error of hold_parent() that means that the near way cannot be used, and not that the file
 * does not exist.  The directory that a relative path starts at may have been renamed, so there ENOENT is
 * such an error.
 */
static bool hold_goes_far(long e, const char *path)
{
	return (e == -ENOENT && path[0] != '/') || e == -ELOOP || e == -ENOSYS || e == -EPERM ||
	       e == -EINVAL || e == -EMFILE || e == -ENFILE || e == -EAGAIN;
}

/* The directory that first holds, if the entry at last of path lies in it too; else -1. */
static int held_beside(const struct spot *first, const char *path, const char *last)
{
	size_t n = (size_t)(last - path);

	return first && first->whole && (size_t)(first->name - first->whole) == n &&
			       strncmp(first->whole, path, n) == 0
		       ? first->dirfd
		       : -1;
}

/* The act uses the judged path, whose parent is held: by then a relative path may start at another
 * directory. */
static int spot_near(struct spot *ret, enum op op, unsigned access, int dirfd, const char *path,
		     enum resolve_follow follow, const struct spot *first)
{
	struct request req = { .op = op, .access = access, .raw = path };
	const char *last;
	struct decision d;
	int fd, r;

	if (!plain_last(path) || !near_allows(&req, dirfd, path, ret->near, &d))
		return TRY_FAR;
	r = spot_allowed(ret, &req, &d);
	if (r != CHECK_ACT)
		return r;
	last = path_basename(req.path);
	fd = held_beside(first, req.path, last);
	if (fd < 0) {
		fd = hold_parent(req.path, last);
		ret->owned = fd >= 0;
	}
	if (fd < 0)
		return hold_goes_far(fd, path) ? TRY_FAR : fd;
	ret->dirfd = fd;
	ret->name = last;
	ret->whole = req.path;
	return follow == RESOLVE_FOLLOW_LAST && is_link(fd, last) ? TRY_FAR : CHECK_ACT;
}

/* Sets all members but those that are written before they are read. */
static void spot_start(struct spot *s, int dirfd, const char *path)
{
	s->dirfd = dirfd;
	s->name = path;
	s->owned = s->anchored = s->magic = false;
	s->scratch = NULL;
	s->target = s->whole = NULL;
}

/* True for a path that names no entry of a directory, but a directory: the kernel neither removes nor renames
 * it, whatever it is. */
static bool names_no_entry(const char *path)
{
	size_t end = strlen(path), n = 0;

	while (end > 0 && path[end - 1] == '/')
		end--;
	while (n < end && path[end - n - 1] != '/')
		n++;
	return n == 0 || (n <= 2 && path[end - n] == '.' && path[end - 1] == '.');
}

static int check_held(struct spot *ret, enum op op, unsigned access, int dirfd, const char *path,
		      enum resolve_follow follow, const struct spot *first)
{
	const char *own;
	int r = TRY_FAR;

	spot_start(ret, dirfd, path);
	if (!judging() || !path)
		return CHECK_PLAIN;
	if (!memory_has_path(path))
		return -EFAULT;
	if (!*path)
		return CHECK_PLAIN;
	own = path_own(path, ret->own);
	if (own && (op == OP_DELETE || op == OP_RENAME) && names_no_entry(own)) {
		ret->name = own;
		return CHECK_ACT;
	}
	if (own)
		r = spot_near(ret, op, access, dirfd, own, follow, first);
	if (r == TRY_FAR) {
		spot_let_go(ret);
		ret->anchor = sys_anchor(dirfd, path);
		ret->anchored = ret->anchor != dirfd;
		r = spot_far(ret, op, access, ret->anchor, path, follow);
	}
	if (r < 0)
		spot_unmake(ret);
	return r;
}

int check_access(struct spot *ret, enum op op, unsigned access, int dirfd, const char *path,
		 enum resolve_follow follow)
{
	return check_held(ret, op, access, dirfd, path, follow, NULL);
}

int check_beside(struct spot *ret, const struct spot *first, enum op op, unsigned access, int dirfd,
		 const char *path)
{
	return check_held(ret, op, access, dirfd, path, RESOLVE_ENTRY_LAST, first);
}

int check_path(struct spot *ret, enum op op, int dirfd, const char *path, enum resolve_follow follow)
{
	return check_access(ret, op, op_access(op), dirfd, path, follow);
}

int check_only(enum op op, unsigned access, int dirfd, const char *path, enum resolve_follow follow)
{
	struct spot s UNINITIALIZED;
	int r = check_access(&s, op, access, dirfd, path, follow);

	if (gate_stands())
		spot_unmake(&s);
	spot_done(&s);
	return r < 0 ? r : 0;
}
