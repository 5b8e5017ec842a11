/* A caller's (dirfd, path), judged: the place to act on, and what is left to others. */
#ifndef PALE_PRELOAD_CHECK_H
#define PALE_PRELOAD_CHECK_H

#include <stdbool.h>

#include "policy/base/op.h"
#include "policy/file/resolve.h"
#include "policy/judge/eval.h"
#include "policy/wire/ring.h"

#include "preload/process/sys.h"

/*
 * Judges req, made of (dirfd, path), by its lexical path.  True if it is allowed; req->path is then where
 * the path leads, in buf (NEAR_PATH bytes) or path itself.
 */
bool near_allows(struct request *req, int dirfd, const char *path, char *buf, struct decision *ret);

/*
 * A judged place to act on: *at(dirfd, name).  name points into own, near or the scratch memory that
 * spot_done() frees, so no other thread changes it in between.  The structure is large, so only what must
 * be cleared is (UNINITIALIZED).
 */
struct spot {
	int dirfd;
	bool owned;
	bool anchored;
	int anchor; /* from sys_anchor(), held until the act is done */
	bool magic; /* the last component is a /proc magic link: follow it, without O_NOFOLLOW */
	const char *name;
	const char *whole; /* the path that the near way judged; name is its tail */
	struct resolved *scratch;
	/* The allowed target, whose record is open from the check until spot_done(); NULL: no record is
	 * open. */
	const char *target;
	struct ring_hold hold;
	char own[NEAR_PATH]; /* the caller's path as it was when it was judged */
	char near[NEAR_PATH];
};

/* The set of the session's processes, as a hook can know it.  NULL above level hooks, where the supervisor
 * knows it better. */
const struct pids *pids_judged(void);

/* What a check returns besides -errno. */
enum {
	CHECK_ACT,   /* allowed: act on the judged place */
	CHECK_PLAIN, /* not denied here: make the plain call with the caller's own arguments */
};

/*
 * Judges op on (dirfd, path).  CHECK_ACT: allowed, *ret is where to act.  -errno: denied (-EACCES, reported
 * and recorded), or the path does not resolve.  CHECK_PLAIN: nothing is judged here (outside a session, at
 * level strict), or, above level hooks, the verdict is ask, the place cannot be held, or Landlock does not
 * restrict the call, so that it must not pass the gate.  follow says whether the operation follows a
 * symbolic link in the last component.
 */
int check_path(struct spot *ret, enum op op, int dirfd, const char *path, enum resolve_follow follow);
/* The last component of path if it is an ordinary name, else NULL ("", "x/", ".", "a/.."). */
const char *plain_last(const char *path);
/* st_mode of (dirfd, name), 0 if it does not exist.  A last symbolic link is not followed. */
unsigned mode_of(int dirfd, const char *name);

/*
 * Checks the second place of a call that has two, like check_access(), without following a last symbolic
 * link.  If it lies in the directory that the first spot holds, that descriptor is used.  *first must
 * outlive *ret.
 */
int check_beside(struct spot *ret, const struct spot *first, enum op op, unsigned access, int dirfd,
		 const char *path);
/* Like check_path(), with the access given (open: read, write or both). */
int check_access(struct spot *ret, enum op op, unsigned access, int dirfd, const char *path,
		 enum resolve_follow follow);
/* Frees what a check holds, after -errno too, and records what it allowed. */
void spot_done(struct spot *s);
/* Called after the act on a judged place, with its result r.  Returns r, or CHECK_PLAIN if the gate refused
 * the act. */
long spot_did(struct spot *s, long r);
/* Judges an act that is then done with the caller's own arguments and not through the gate: 0 or -errno.
 * The supervisor records it; at level hooks the record is made here. */
int check_only(enum op op, unsigned access, int dirfd, const char *path, enum resolve_follow follow);

/*
 * Carries out the verdict on a request.  CHECK_ACT: allowed, to be recorded when it is done.
 * CHECK_RECORDED: allowed by the operator's answer, and recorded.  CHECK_PLAIN: left to the supervisor.
 * -EACCES: denied, recorded and reported.  -ENOENT: denied and recorded; the target must look absent.
 */
#define CHECK_RECORDED 2
struct decision verdict_of(const struct request *req);
int conclude(const struct request *req, const char *target, const struct decision *verdict);

/*
 * Judges a finished canonical request: evaluates it, asks the helper if the verdict is ask, records it, and
 * reports a denial on stderr.  target is the text for people (path, argv line, host:port).  True: go on.
 * Above level hooks that means: make the plain call with the caller's own arguments, which the supervisor
 * asks about, performs and records; only a denial ends here.  (The look-up of a host name is not a system
 * call, so it is handled here.)  async-signal-safe, vfork-safe, errno kept.
 */
bool judge(const struct request *req, const char *target);
/* Records and reports a denial that the caller has decided, with its reason in d.  why adds text to it; ""
 * adds none. */
void refuse(const struct request *req, const char *target, struct decision d, const char *why);

#endif
