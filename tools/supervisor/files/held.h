/*
 * Files that a call names: held while they are judged, and their attributes changed.
 *
 * What a call names, held: judged, recorded and acted on as one thing, never by the caller's path
 * again.  Private to names.c, rename.c, attrs.c and xattrs.c.
 *
 * An *entry* is a directory that is held and one name in it: what unlink, rename and mkdir work on.
 * An *object* is the very file, held O_PATH or by a duplicate of the caller's descriptor: what chmod,
 * truncate and setxattr change, and what link gives another name.
 *
 * The near way is for a path without a symbolic link: its text is judged, and the kernel proves by
 * RESOLVE_NO_SYMLINKS (openat2(2), Linux 5.6) that the text was the real path.  All else goes far, by
 * the resolver; so does whatever is not plainly allowed, since errors of existence come before a denial.
 */
#ifndef PALE_HELD_H
#define PALE_HELD_H

#include <errno.h>
#include <sys/types.h>

#include "tools/supervisor/supervisor.h"

#define NO_ARG (-1)

/*
 * Where a system call keeps what names its file: indices of its arguments, NO_ARG where it has none.
 * The first member of every table's rows, so that row_of() finds them by `nr`.
 */
struct naming {
	int nr;
	int8_t path;
	int8_t dirfd; /* without a path: the file itself, which must be open and no O_PATH */
	int8_t flags;
	int8_t rest;	/* the first argument that says what to do with it */
	unsigned known; /* flags there are: others are EINVAL before anything else */
	unsigned fixed; /* flags that the call stands for */
	bool opened;	/* AT_EMPTY_PATH takes no O_PATH descriptor, and a path of NULL is an empty one */
};

/* The row of system call nr in a list of rows that start with a struct naming; NULL: none. */
const void *row_of(const void *list, size_t n, size_t size, int nr);
#define ROW_OF(list, nr) row_of(list, sizeof(list) / sizeof((list)[0]), sizeof((list)[0]), nr)

/* The flags of the call, or -EINVAL. */
int naming_flags(const struct naming *n, const struct caller *c);

struct held {
	struct place place;
	struct request req;
	struct decision d;
	bool is_far;  /* place.r is filled */
	bool is_free; /* nothing to judge: it has no name, or was judged when it was opened */
	bool owned;
	int fd;		       /* ENTRY: its directory; OBJECT: itself */
	const char *name;      /* ENTRY */
	char text[LIMIT_PATH]; /* the near way's path, or the object's own */
	struct held_seen {
		bool is_noted;
		dev_t dev;
		ino_t ino; /* 0: nothing was there */
	} seen;
};

/* In the call's scratch memory, nothing held yet; NULL where that is used up.  held_done() in each case. */
struct held *held_new(struct caller *c, enum op op, unsigned access);
/*
 * Finds and holds what the call names; nothing is asked or recorded yet.  0 or the kernel's own error.
 * held_object() takes of `flags` AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH.
 */
int held_entry(struct held *h, struct caller *c, const struct naming *n);
int held_object(struct held *h, struct caller *c, const struct naming *n, unsigned flags);
/* Somebody would be asked about it, before git's own look at it. */
static inline bool held_is_asked(const struct held *h)
{
	return !h->is_free && h->d.verdict == VERDICT_ASK && h->d.reason != REASON_GIT;
}
/* Whoever is asked is told what is done besides the path, in one line; too long: it is denied. */
void held_does(struct held *h, struct caller *c, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* ENTRY: from here on, what lies there must not become another (held_stands()). */
void held_note(struct held *h);
/* 0, or -ESTALE and a record where another thing lies there by now.  That it is gone the kernel says. */
int held_stands(const struct held *h, struct caller *c);
/* May it?  0, -EACCES, -ESTALE, or what the kernel says earlier.  May wait for a human. */
int held_allow(struct held *h, struct caller *c);
/* st_mode of what lies at the entry, 0 where nothing does. */
unsigned held_mode(const struct held *h);
/* The path by which this process reaches the object itself, for calls that know no descriptor. */
struct self_path {
	char text[40];
};
struct self_path held_self(const struct held *h);
/* Harmless for NULL. */
void held_done(struct held *h);

/* What a C library's wrapper returned, as a system call does. */
static inline long call_result(long r)
{
	return r < 0 ? -errno : r;
}

#endif
