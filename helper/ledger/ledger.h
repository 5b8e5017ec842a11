/*
 * The ledger: records from the rings become chained lines in files, which are kept for a time.
 *
 * The ledger as the helper writes it: events become chained lines, lines are buffered and written together,
 * checkpoints are added, and full files are set aside and compressed.
 *
 *   ledger      the file: group commit, failures, losses
 *   line        an event's line: masked, escaped, hashed
 *   checkpoint  the signing key; when a checkpoint is due; heads sent to the journal
 *   rotate      full files and their compression
 *   retention   ledgers of sessions that ended long ago
 *   mask        removes secrets from texts
 */
#ifndef PALE_LEDGER_H
#define PALE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/record/checkpoint.h"
#include "policy/record/record.h"

#include "mask.h"

/* --- line.c --- */

/*
 * The content of a record; the ledger adds the rest.  Strings are raw and borrowed: the ledger masks secrets
 * and escapes.  NULL is "".
 */
struct event {
	uint64_t time_ns; /* CLOCK_REALTIME, 0 = now */
	int64_t pid, ppid;
	const char *exe, *op, *target;
	size_t target_len; /* 0: target ends at its NUL */
	const char *access, *verdict, *rule, *via, *approval, *detail;
	uint64_t count; /* 0 counts as 1 */
};

/* A text of the last record in its escaped form: most records have the same program and rule. */
struct text_memo {
	char *raw, *escaped;
	size_t len, cap;
};

struct ledger;
/* Chains the event and appends its line to the buffer.  0 or -errno. */
int line_add(struct ledger *l, const struct event *e);
void line_done(struct ledger *l);

/* --- ledger.c --- */

#define LEDGER_FILE	"ledger.jsonl"
#define RESERVE_FILE	"ledger.reserve" /* keeps room on the disk for the last records */
#define LEDGER_PART	"ledger.%u.jsonl"
#define LEDGER_SIZE	((off_t)64 << 20) /* size at which a file is set aside */
#define LEDGER_SIZE_MIN ((off_t)64 << 10)
#define RETENTION_DAYS	90 /* without a record, before a ledger is removed */

struct ledger {
	int fd;
	int dirfd; /* borrowed: the directory of the file and its parts */
	mode_t mode;
	off_t size, full_at; /* configured size of a file; size at which this file is set aside */
	unsigned part;	     /* number of the next part */
	bool rotating;
	bool last; /* RESERVE_FILE may be used up now */
	int error; /* 0, or why the file cannot be written (-errno) */
	uint64_t retry_ns;
	off_t good; /* the file holds whole records up to here */
	char *buf;
	size_t len, cap;
	uint64_t buffered; /* records in buf */
	uint64_t dirty_ns; /* time of the oldest write that is not synced (CLOCK_BOOTTIME); 0 = none */
	uint64_t seq, good_seq;
	char prev[RECORD_HASH_HEX], good_prev[RECORD_HASH_HEX];
	uint64_t lost;	     /* records that could not be written since the error */
	uint64_t lost_total; /* records lost in the whole session, for any reason */
	uint64_t turn;
	const char *session, *agent, *level; /* borrowed, escaped by the caller */

	/* Called with the lines that were written; or NULL. */
	void (*written)(void *ctx, const char *lines, size_t len);
	void *ctx;

	/* Called from time to time: 0 where more may be written, or -errno; or NULL. */
	int (*room)(void *ctx);
	void *room_ctx;
	off_t unasked; /* bytes written since the last call */

	const struct mask *mask; /* borrowed; NULL: no text is masked */

	uid_t owner;		      /* uid of the session's user */
	struct checkpoint_key key;    /* valid where sealed */
	bool sealed;		      /* checkpoints are signed */
	uint64_t point_seq, point_ns; /* seq and time (CLOCK_BOOTTIME) of the last checkpoint */
	char point_hash[RECORD_HASH_HEX];
	uint64_t told_seq; /* seq of the last checkpoint that was sent to the journal */
	int untold;	   /* 0, or why the journal did not take it (-errno) */

	struct text_memo exe, rule; /* line.c */
	char *scratch;
	size_t scratch_cap;
};

/* Creates LEDGER_FILE with this mode in dirfd, and starts the chain.  0 or -errno. */
int ledger_open(struct ledger *l, int dirfd, mode_t mode, const char *session, const char *agent,
		const char *level);
/* Sets the size in bytes at which a file is set aside; at most half of RLIMIT_FSIZE, at least
 * LEDGER_SIZE_MIN. */
void ledger_limit(struct ledger *l, off_t size);
/* Appends to the buffer; the next flush writes it.  0 or -errno (the loss is counted). */
int ledger_append(struct ledger *l, const struct event *e);
/* Appends, and waits until the record is on the disk.  0 or -errno: then the caller must not act. */
int ledger_append_durable(struct ledger *l, const struct event *e);
/* Writes the buffer with one write.  0 or -errno. */
int ledger_flush(struct ledger *l);
/* The same, and waits until all of it is on the disk. */
int ledger_sync(struct ledger *l);
/* Flush, fdatasync when it is time, and retry after a failure; a checkpoint when one is due. */
void ledger_tick(struct ledger *l, uint64_t now_ns);
/* Before the last records: from now on they may use the disk space that RESERVE_FILE has kept free. */
void ledger_last(struct ledger *l);
/* After the last record: removes RESERVE_FILE. */
void ledger_unreserve(const struct ledger *l);
void ledger_close(struct ledger *l);
/* The head: the hash of the last record that was written to the file. */
static inline const char *ledger_head(const struct ledger *l)
{
	return l->good_prev;
}

/* --- checkpoint.c --- */

struct helper;

/*
 * Loads the key that signs checkpoints from the directory root (PLACE_STATE of a setuid install).  The key is
 * made at first use, with its public key beside it for verifiers.  0, or -errno with a static sentence.  A
 * key that exists and cannot be read is not replaced.
 */
int checkpoint_key_load(int root, struct checkpoint_key *ret, const char **ret_err);
/* True where a checkpoint is due. */
bool checkpoint_due(const struct ledger *l, uint64_t now_ns);
/* Appends a checkpoint of all records before it.  0 or -errno. */
int checkpoint_add(struct ledger *l);
/* Called when all that was written is on the disk: sends a new checkpoint to the journal. */
void checkpoint_synced(struct ledger *l);

/* --- rotate.c --- */

/* Creates LEDGER_FILE, locked as long as it is open: its descriptor, or -errno. */
int ledger_file_make(const struct ledger *l);
bool rotate_due(const struct ledger *l);
/*
 * Adds a checkpoint, sets the file aside as ledger.N.jsonl, continues in a new file and has the old one
 * compressed (.gz).  If that fails, the file continues to grow.
 */
void rotate(struct ledger *l);
/* Ends the compression: parts that are not done stay uncompressed. */
void rotate_stop(void);
#define PART_NAME_MAX 64
/* The file name of a part: ending is "" as it was written, ".gz" compressed. */
void ledger_part_name(char name[PART_NAME_MAX], unsigned part, const char *ending);
/*
 * Compresses one part.  0 once the compressed file is on the disk and the other one is removed, or -errno,
 * and nothing has changed; -EINTR once *stop is set.
 */
int ledger_compress(int dirfd, unsigned part, mode_t mode, const _Atomic bool *stop);

/* --- retention.c --- */

/* Removes ledgers of sessions that ended long ago; bounded in time. */
void retention_run(struct helper *h);
/* Bytes of all ledgers of this owner. */
off_t retention_sum(const struct helper *h);
/* True where a helper makes a file of this name in a session's directory. */
bool retention_is_helpers(const char *name);
/* True where the helper of the session in this directory lives, or may live. */
bool retention_is_live(int dirfd);
/* Removes an ended session's ledger, and records that and why; false where it was not removed. */
bool retention_remove(struct helper *h, int sessions, const char *name, const char *why);

/* --- kept.c --- */

/* Starts the thread that compresses and measures the ledgers of ended sessions.  kept_tick() removes the
 * oldest ones, once the thread is done. */
void kept_look(struct helper *h);
void kept_tick(struct helper *h);
/* Stops the thread. */
void kept_done(void);

/* --- journal.c --- */

/* Whether the system's journal takes entries now: 0, also where the system has no journal, or -errno. */
int journal_look(void);
/* Sends it the last checkpoint; never blocks for long.  0, also without a journal, or -errno. */
int journal_head(const struct ledger *l);

#endif
