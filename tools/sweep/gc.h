/*
 * The sweep: what sessions leave behind is removed once it is older than the policy's expiry.
 *
 * The sweep runs as the operator, outside all sessions, and uses descriptors of directories that were
 * reached without a link.  What a live session may need stays, whatever its age.
 */
#ifndef PALE_GC_H
#define PALE_GC_H

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "tools/sessions/sessions.h"

#include "sweep.h"

/* A session that is not known to be over. */
struct gc_live {
	char id[SESSION_ID_MAX];
	int64_t since; /* its start, 0 if unknown */
	bool here;     /* its workspace is this one, or lies around or below it */
};

#define GC_SEEN_MAX  65536 /* most ids of which repeats are recognised */
#define GC_ITEMS_MAX 10000 /* listed in JSON */

enum gc_mode { GC_REMOVE, GC_LIST };

/* Kinds of what is removed. */
enum gc_kind { GC_LOG, GC_DIRECTORY, GC_ENTRY, GC_RUNTIME, GC_SCRATCH, GC_LEDGER, GC_KIND_COUNT };

/* One sweep. */
struct sweep {
	const struct gc_policy *policy;
	enum gc_mode mode;
	bool told;	   /* each item is printed on standard output */
	int64_t now;	   /* seconds */
	int64_t cutoff;	   /* what was last written before this time is old */
	uint64_t until_ns; /* CLOCK_MONOTONIC; 0: no limit */
	char root[PATH_MAX];
	struct gc_live *live;
	size_t n_live;
	int64_t here_since; /* start of the oldest live session here, INT64_MAX without one */
	uint64_t *seen;	    /* hashes of ids, a table */
	size_t n_seen;
	size_t pruned; /* sessions */
	size_t things; /* files, trees, entries */
	size_t of[GC_KIND_COUNT];
	size_t failed; /* what could not be removed */
	size_t left;   /* not looked at, since time was up */
	json_t *items, *notes;
};

/* --- gc.c --- */

/* The time is up: walks must stop. */
bool gc_is_over(const struct sweep *g);
/* Counts one more entry that was not looked at, since time is up; false when counting must stop, too. */
bool gc_leave(struct sweep *g);
/* Notes that dir/name (or an entry of it) of session `id` is removed, or would be. */
void gc_found(struct sweep *g, enum gc_kind kind, const char *id, const char *dir, const char *name);
/* Adds a message for the operator. */
void gc_note(struct sweep *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* dir/name could not be removed: the first one is reported with its reason (-errno). */
void gc_failed(struct sweep *g, const char *dir, const char *name, int error);
/* Notes the result r of removing dir/name, as gc_tree_remove() returns it: 0 gc_found(), -ETIME counts it
 * as left, else gc_failed(). */
void gc_settle(struct sweep *g, enum gc_kind kind, const char *id, const char *dir, const char *name, int r);
bool gc_is_live(const struct sweep *g, const char *id);
/* mtime (seconds) is before the cutoff, and not in the future. */
bool gc_is_old(const struct sweep *g, int64_t mtime);

/* --- gc_live.c --- */

/* Finds the live sessions.  0 or -ENOMEM. */
int gc_live_read(struct sweep *g);
/* The session of this runtime directory is over: its command and its helper are gone. */
bool gc_is_dead(const struct session_ref *ref);

/* --- gc_walk.c --- */

/* Opens a directory of ours below at for reading, by a path without links and mount points: a descriptor or
 * -errno. */
int gc_open_dir(int at, const char *path);
/* A directory stream on a copy of fd, or NULL. */
DIR *gc_stream(int fd);
typedef void gc_entry_fn(void *ctx, int at, const char *name);
/* Calls fn for each entry of directory fd, until time is up; the remaining entries are counted. */
void gc_each(struct sweep *g, int fd, gc_entry_fn *fn, void *ctx);
/* It was made or changed since the oldest live session here began, so it may be that session's.  This is
 * its ctime: cp -a and touch can set back the other times. */
bool gc_may_be_used(const struct sweep *g, const struct stat *st);
/*
 * The newest time in the tree at/name, 32 levels deep; stops at the first one after `enough`.  INT64_MAX
 * where time was up, the time is unknown, or the tree may be in use.  Includes access times where
 * accessed.
 */
int64_t gc_tree_newest(const struct sweep *g, int at, const char *name, int64_t enough, bool accessed);
/* Removes the tree at/name: 0, -ETIME where time was up, or the first -errno. */
int gc_tree_remove(const struct sweep *g, int at, const char *name);

/* --- gc_logs.c, gc_states.c, gc_own.c, gc_entries.c: what is swept --- */

/* *.stdout and *.stderr in directory fd; with `ids` only those whose name is a session's id. */
void gc_logs(struct sweep *g, int fd, const char *dir, bool ids);
/* No process has the file open for writing, as far as the file system can tell. */
bool gc_is_quiet(int fd);
/* Sweeps the sessions in the workspace's state directories. */
void gc_states(struct sweep *g);
/* Files that programs left in TMPDIR, where that lies in the workspace. */
void gc_scratch(struct sweep *g);
/* The tree at/name is no live session's, and was not written since the cutoff, nor read while a session
 * lives here. */
bool gc_is_stale_tree(const struct sweep *g, int at, const char *name);
/* Sweeps the entries of sessions.json in the root, whose descriptor is at. */
void gc_entries(struct sweep *g, int at);
/* Sweeps the runtime directories of sessions that were killed. */
void gc_own(struct sweep *g);
/* Sweeps the ledgers past their retention. */
void gc_ledgers(struct sweep *g);

#endif
