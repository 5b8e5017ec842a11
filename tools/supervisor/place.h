/* From a caller's (dirfd, path) to a held place, by the one resolver. */
#ifndef PALE_PLACE_H
#define PALE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/base/op.h"
#include "policy/file/resolve.h"

struct caller;

/*
 * A path from the caller, read once, and later held.  base is the directory that a relative path starts
 * from, held if place_base() was called, else -1; r is the resolved place.  place_done() closes both.
 */
struct place {
	int dirfd; /* the argument: a descriptor number of the caller, or AT_FDCWD */
	int base;
	bool foreign;	      /* a magic link of a process outside the session was found on the way */
	bool crossed;	      /* any magic link was found on the way */
	bool beyond;	      /* one of a process outside the caller's own Landlock domain */
	char raw[LIMIT_PATH]; /* the argument as the caller wrote it */
	struct resolved r;
};

/* Reads the path at addr; nothing is looked up yet.  0 or -errno. */
int place_read(struct place *p, struct caller *c, int dirfd, uint64_t addr);
/* The same for a given text ("/proc/self/fd/N").  0 or -ENAMETOOLONG. */
int place_from(struct place *p, int dirfd, const char *path);
/* Holds the directory that raw starts from.  A descriptor, which place_done() closes; AT_FDCWD where raw is
 * absolute; -EBADF, -ENOTDIR, -ESRCH. */
int place_base(struct place *p, struct caller *c);
/*
 * Resolves the path as the kernel would for the caller: /proc/self means the caller.  Holds the base of a
 * relative path. 0 or -errno; -EACCES with p->foreign set where a magic link of a process outside the
 * session is on the way, or with p->beyond.
 */
int place_resolve(struct place *p, struct caller *c, enum resolve_follow follow);
/*
 * The lexical absolute path, for the near way: its length, or -errno (`..`, too long, unknown): then
 * place_resolve() is needed.  It is the real path if the kernel opens it with RESOLVE_NO_SYMLINKS.  It
 * means the same as the caller's path while the base is held, or if place_stands() is true afterwards.
 */
int place_lexical(struct place *p, struct caller *c, char *buf, size_t size);
/*
 * Where a lexical path begins with a link that a merged /usr leaves in the root ("/lib/x"), the path
 * without that link, in buf; else lexical itself.
 */
const char *place_unmerged(const char *lexical, char *buf, size_t size);
/* True where the directory that a relative path starts from still has the path that place_lexical() put in
 * front. */
bool place_stands(struct place *p, struct caller *c, const char *lexical);
/* A resolved place as the caller spelled its path, which is judged in addition to the real path.  NULL
 * where both are the same, or where the path leads through a magic link, whose text does not tell its
 * target. */
const char *place_given(const struct place *p);
/* Releases r, so that the path can be resolved again; place_done() releases everything. */
void place_release(struct place *p);
void place_done(struct place *p);
/* True where the place is on procfs, in the directory of a process that does not belong to the session. */
bool place_is_foreign(const struct place *p, struct caller *c);

/* The directory that a name is in, or the object itself where only that is held; -1: not held. */
struct git_at {
	int dir, object;
	bool is_open; /* the call opens it by this name */
	bool is_new;  /* and creates it */
};

#endif
