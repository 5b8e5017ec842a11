/*
 * The sweep: what sessions leave behind is removed once it is older than the policy's expiry.
 *
 * Everything is done as the operator, outside every session, by descriptors of directories that were reached
 * without a link.  What a live session may need stays, whatever its age.
 */
#ifndef PALE_GC_H
#define PALE_GC_H

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "sweep.h"
#include "tools/base/tools.h"

/* A session that is not known to be over. */
struct gc_live {
	char id[SESSION_ID_MAX];
	int64_t since; /* its start, 0 where nobody knows */
	bool here;     /* works in this workspace, or in one around or below it */
};

#define GC_SEEN_MAX  65536 /* ids that are told apart; those behind it are counted one by one */
#define GC_ITEMS_MAX 10000 /* listed in JSON */

enum gc_mode { GC_REMOVE, GC_LIST };

/* What something that goes is. */
enum gc_kind { GC_LOG, GC_DIRECTORY, GC_ENTRY, GC_RUNTIME, GC_SCRATCH, GC_LEDGER, GC_KIND_COUNT };

/* One sweep. */
struct sweep {
	const struct gc_policy *policy;
	enum gc_mode mode;
	bool told;	   /* each finding is printed on standard output */
	int64_t now;	   /* seconds */
	int64_t cutoff;	   /* what was written before it is old */
	uint64_t until_ns; /* CLOCK_MONOTONIC; 0: no limit */
	char root[PATH_MAX];
	struct gc_live *live;
	size_t n_live;
	int64_t here_since; /* start of the oldest session that lives here, INT64_MAX where none does */
	uint64_t *seen;	    /* hashes of ids, a table */
	size_t n_seen;
	size_t pruned; /* sessions */
	size_t things; /* files, trees, entries */
	size_t of[GC_KIND_COUNT];
	size_t failed; /* what would not go */
	size_t left;   /* not looked at, since time was up */
	json_t *items, *notes;
};

/* --- gc.c --- */

/* Time is up: whoever walks stops. */
bool gc_is_over(const struct sweep *g);
/* One more that is not looked at, since time is up; false where it is time to stop counting, too. */
bool gc_leave(struct sweep *g);
/* Something of session `id` at dir/name (or an entry of it) goes, or would. */
void gc_found(struct sweep *g, enum gc_kind kind, const char *id, const char *dir, const char *name);
/* A sentence for the operator. */
void gc_note(struct sweep *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* dir/name could not be removed: the first of them is told with its reason (-errno). */
void gc_failed(struct sweep *g, const char *dir, const char *name, int error);
/* What came of dir/name, by gc_tree_remove() or as it: 0 gc_found(), -ETIME it is left, else gc_failed(). */
void gc_settle(struct sweep *g, enum gc_kind kind, const char *id, const char *dir, const char *name, int r);
bool gc_is_live(const struct sweep *g, const char *id);
/* Whole seconds of mtime: before the cutoff, and not from the future. */
bool gc_is_old(const struct sweep *g, int64_t mtime);

/* --- gc_live.c --- */

/* Which sessions live.  0 or -ENOMEM. */
int gc_live_read(struct sweep *g);
/* The session whose runtime directory this is is over, its command and its helper are gone. */
bool gc_is_dead(const struct session_ref *ref);

/* --- gc_walk.c --- */

/* A directory of ours below at, by a path without links and mount points, for reading; -errno. */
int gc_open_dir(int at, const char *path);
/* A stream of a copy of fd, or NULL. */
DIR *gc_stream(int fd);
typedef void gc_entry_fn(void *ctx, int at, const char *name);
/* Calls fn for each entry of directory fd, until time is up; those behind that are counted. */
void gc_each(struct sweep *g, int fd, gc_entry_fn *fn, void *ctx);
/* It was made or changed since the oldest session that lives here began, and may be its own: cp -a and touch
 * set the other times back, this one nobody does. */
bool gc_may_be_used(const struct sweep *g, const struct stat *st);
/* The newest time in the tree at/name, 32 levels deep; stops at the first one after `enough`, and says
 * INT64_MAX where time was up, nobody knows, or it may be used.  Of accesses too where accessed. */
int64_t gc_tree_newest(const struct sweep *g, int at, const char *name, int64_t enough, bool accessed);
/* Removes the tree at/name: 0, -ETIME where time was up, or -errno of the first thing that would not go. */
int gc_tree_remove(const struct sweep *g, int at, const char *name);

/* --- gc_logs.c, gc_states.c, gc_own.c, gc_entries.c: what is swept --- */

/* *.stdout and *.stderr in directory fd, those with a session's id for a name alone where `ids`. */
void gc_logs(struct sweep *g, int fd, const char *dir, bool ids);
/* Nobody has the file open for writing, as far as the file system can say. */
bool gc_is_quiet(int fd);
/* Sessions in the workspace's state directories. */
void gc_states(struct sweep *g);
/* What programs leave in TMPDIR, where that lies in the workspace. */
void gc_scratch(struct sweep *g);
/* The tree at/name is no live session's, and neither written nor, while one lives here, read since the
 * cutoff. */
bool gc_is_stale_tree(const struct sweep *g, int at, const char *name);
/* Entries of sessions.json in the root, whose descriptor is at. */
void gc_entries(struct sweep *g, int at);
/* Runtime directories of sessions that were killed. */
void gc_own(struct sweep *g);
/* Ledgers past their retention. */
void gc_ledgers(struct sweep *g);

#endif
