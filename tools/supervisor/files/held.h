/*
 * Files that a call names: held while they are judged, and their attributes changed.
 *
 * A file that a call names is held once: it is judged, recorded and changed through that, and the caller's
 * path is not used again.  Private to entries.c, rename.c, attrs.c and xattrs.c.
 *
 * An *entry* is a directory that is held and one name in it: unlink, rename and mkdir work on entries.  An
 * *object* is the file itself, held with O_PATH or by a duplicate of the caller's descriptor: chmod,
 * truncate and setxattr change objects, and link gives one another name.
 *
 * The near way is for a path without a symbolic link: its text is judged, and the kernel proves by
 * RESOLVE_NO_SYMLINKS (openat2(2), Linux 5.6) that the text was the real path.  All other paths take the
 * far way, through the resolver; so does a path that is not plainly allowed, since errors about existence
 * come before a denial.
 */
#ifndef PALE_HELD_H
#define PALE_HELD_H

#include <errno.h>
#include <sys/types.h>

#include "tools/supervisor/place.h"

#define NO_ARG (-1)

/*
 * Which arguments of a system call name its file: their indices, NO_ARG where it has no such argument.  The
 * first member of every table's rows, so that row_of() finds them by `nr`.
 */
struct naming {
	int nr;
	int8_t path;
	int8_t dirfd; /* without a path: the file itself, by an open descriptor that is not O_PATH */
	int8_t flags;
	int8_t rest;	/* the first argument after those that name the file */
	unsigned known; /* flags that exist: others cause EINVAL before anything else */
	unsigned fixed; /* flags that the call implies */
	bool opened;	/* AT_EMPTY_PATH takes no O_PATH descriptor, and a NULL path is an empty one */
};

/* The row of system call nr in a list of rows that start with a struct naming, or NULL. */
const void *row_of(const void *list, size_t n, size_t size, int nr);
#define ROW_OF(list, nr) row_of(list, sizeof(list) / sizeof((list)[0]), sizeof((list)[0]), nr)

/* The flags of the call, or -EINVAL. */
int naming_flags(const struct naming *n, const struct caller *c);

struct held {
	struct place place;
	struct request req;
	struct decision d;
	bool is_far;  /* place.r is filled */
	bool is_free; /* not judged: it has no name, or was judged when it was opened */
	bool owned;
	int fd;		       /* ENTRY: its directory; OBJECT: the object itself */
	const char *name;      /* ENTRY */
	char text[LIMIT_PATH]; /* the near way's path, or the object's own */
	struct held_seen {
		bool is_noted;
		dev_t dev;
		ino_t ino; /* 0: not found */
	} seen;
};

/* Allocates in the call's scratch memory, with nothing held yet; NULL where that is used up.  held_done()
 * must be called in each case. */
struct held *held_new(struct caller *c, enum op op, unsigned access);
/*
 * Finds and holds what the call names; nothing is asked or recorded yet.  0 or the kernel's own error.  Of
 * `flags`, held_object() uses AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH.
 */
int held_entry(struct held *h, struct caller *c, const struct naming *n);
int held_object(struct held *h, struct caller *c, const struct naming *n, unsigned flags);
/* True where the operator would be asked about it, before git's own check. */
static inline bool held_is_asked(const struct held *h)
{
	return !h->is_free && h->d.verdict == VERDICT_ASK && h->d.reason != REASON_GIT;
}
/* Adds one line to a question: what is done besides the path.  If it is too long, the act is denied. */
void held_does(struct held *h, struct caller *c, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* ENTRY: from here on, the object at the entry must not be replaced (held_stands()). */
void held_note(struct held *h);
/* 0, or -ESTALE and a record where another object is there by now.  If it is gone, the kernel reports
 * that. */
int held_stands(const struct held *h, struct caller *c);
/* Whether the act is allowed: 0, -EACCES, -ESTALE, or the kernel's error that comes earlier.  May wait for
 * the operator. */
int held_allow(struct held *h, struct caller *c);
/* st_mode of the object at the entry, 0 where the entry is missing. */
unsigned held_mode(const struct held *h);
/* The path by which this process reaches the object itself, for calls that take no descriptor. */
struct self_path {
	char text[40];
};
struct self_path held_self(const struct held *h);
/* NULL is allowed. */
void held_done(struct held *h);

/* Converts the result of a C library wrapper to that of the system call. */
static inline long call_result(long r)
{
	return r < 0 ? -errno : r;
}

#endif
