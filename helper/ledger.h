/*
 * The ledger as the helper writes it: events become chained lines, lines gather and leave by one write,
 * checkpoints say what it came to, full files are set aside and compressed.
 *
 *   ledger      the file: group commit, failures, what is lost
 *   line        an event's line: masked, escaped, hashed
 *   checkpoint  the signing key; when a checkpoint is due; heads told to the journal
 *   rotate      files that are full, and their compression
 *   retention   ledgers of sessions long ended
 *   mask        secrets out of texts
 */
#ifndef PALE_LEDGER_H
#define PALE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/checkpoint.h"
#include "policy/record.h"

#include "mask.h"

/* --- line.c --- */

/*
 * What a record says; the ledger adds the rest.  Strings go in raw: the ledger takes secrets out and
 * escapes.  NULL is "".
 */
struct event {
	uint64_t time_ns; /* CLOCK_REALTIME, 0 = now */
	int64_t pid, ppid;
	const char *exe, *op, *target;
	size_t target_len; /* 0: target ends at its NUL */
	const char *access, *verdict, *rule, *via, *approval, *detail;
	uint64_t count; /* 0 counts as 1 */
};

/* A text of the last record as it was written: most records have the same program and rule. */
struct text_memo {
	char *raw, *escaped;
	size_t len, cap;
};

struct ledger;
/* Chains the event and puts its line behind what is buffered.  0 or -errno. */
int line_add(struct ledger *l, const struct event *e);
void line_done(struct ledger *l);

/* --- ledger.c --- */

#define LEDGER_FILE	"ledger.jsonl"
#define RESERVE_FILE	"ledger.reserve" /* keeps room on the disk for the last records */
#define LEDGER_PART	"ledger.%u.jsonl"
#define LEDGER_SIZE	((off_t)64 << 20) /* of a file, before it is set aside */
#define LEDGER_SIZE_MIN ((off_t)64 << 10)
#define RETENTION_DAYS	90 /* without a record, before a ledger is removed */

struct ledger {
	int fd;
	int dirfd; /* borrowed: where the file lies, and those that were full */
	mode_t mode;
	off_t size, full_at; /* a file is set aside beyond */
	unsigned part;	     /* number of the next one that is */
	bool rotating;
	bool last; /* the reserve may be used up */
	int error; /* 0, or why nothing can be written (-errno) */
	uint64_t retry_ns;
	off_t good; /* the file holds whole records up to here */
	char *buf;
	size_t len, cap;
	uint64_t buffered; /* records in buf */
	uint64_t dirty_ns; /* since when something is written and not synced; 0 = nothing */
	uint64_t seq, good_seq;
	char prev[RECORD_HASH_HEX], good_prev[RECORD_HASH_HEX];
	uint64_t lost;	     /* records that could not be written since the error */
	uint64_t lost_total; /* of the whole session, however lost */
	uint64_t turn;
	const char *session, *agent, *level; /* borrowed, escaped by the caller */

	/* Told of what was written, whole lines; or NULL. */
	void (*written)(void *ctx, const char *lines, size_t len);
	void *ctx;

	/* Asked now and then whether more may be written: 0 or -errno; or NULL. */
	int (*room)(void *ctx);
	void *room_ctx;
	off_t unasked; /* bytes written since */

	const struct mask *mask; /* borrowed; NULL: nothing is taken out of texts */

	uid_t owner;		   /* whose session it is */
	struct checkpoint_key key; /* where sealed; else checkpoints are not signed */
	bool sealed;
	uint64_t point_seq, point_ns; /* the last checkpoint's, and when (CLOCK_BOOTTIME) */
	char point_hash[RECORD_HASH_HEX];
	uint64_t told_seq; /* of the last checkpoint that the journal was told */
	int untold;	   /* 0, or why it did not take that (-errno) */

	struct text_memo exe, rule; /* line.c */
	char *scratch;
	size_t scratch_cap;
};

/* Creates LEDGER_FILE, of this mode, in dirfd and starts the chain. 0 or -errno. */
int ledger_open(struct ledger *l, int dirfd, mode_t mode, const char *session, const char *agent,
		const char *level);
/* A file is set aside when it is that large (LEDGER_SIZE), or half of what RLIMIT_FSIZE allows. */
void ledger_limit(struct ledger *l, off_t size);
/* Appends to the buffer; written with the next flush. 0 or -errno (the loss is counted). */
int ledger_append(struct ledger *l, const struct event *e);
/* Appends and waits until it is on the disk.  A failure means: do not act. */
int ledger_append_durable(struct ledger *l, const struct event *e);
/* One write of all that is buffered. 0 or -errno. */
int ledger_flush(struct ledger *l);
/* The same, and waits until all of it is on the disk. */
int ledger_sync(struct ledger *l);
/* Flush, fdatasync when it is time, and retry after a failure; a checkpoint when one is due. */
void ledger_tick(struct ledger *l, uint64_t now_ns);
/* The end is near: what was kept free on the disk for the last records is theirs now, if they need it. */
void ledger_last(struct ledger *l);
/* All is said: nothing is kept free any more. */
void ledger_unreserve(const struct ledger *l);
void ledger_close(struct ledger *l);
/* How the session's head is told: the hash of the last record on the disk. */
static inline const char *ledger_head(const struct ledger *l)
{
	return l->good_prev;
}

/* --- checkpoint.c --- */

struct helper;

/*
 * The key that seals ledgers, in the directory root (PLACE_STATE of a setuid install): made at first use,
 * and the public half beside it for whoever verifies.  0, or -errno with a static sentence: a key that is
 * there and cannot be read is no reason to make another.
 */
int checkpoint_key_load(int root, struct checkpoint_key *ret, const char **ret_err);
/* Is it time for a checkpoint? */
bool checkpoint_due(const struct ledger *l, uint64_t now_ns);
/* Appends one, of all that was appended before.  0 or -errno. */
int checkpoint_add(struct ledger *l);
/* All that was written is on the disk: a checkpoint among it is told to the journal. */
void checkpoint_synced(struct ledger *l);

/* --- rotate.c --- */

/* A new LEDGER_FILE, locked as long as it is open: its descriptor, or -errno. */
int ledger_file_make(const struct ledger *l);
bool rotate_due(const struct ledger *l);
/*
 * Seals what is there, sets the file aside as ledger.N.jsonl, goes on in a new one and has the old one
 * compressed (.gz).  Where that cannot be done the file goes on growing.
 */
void rotate(struct ledger *l);
/* Ends the compression: what is not done by now stays as it is. */
void rotate_stop(void);
#define PART_NAME_MAX 64
/* What a part that was set aside is called: with ending "" as it was written, ".gz" compressed. */
void ledger_part_name(char name[PART_NAME_MAX], unsigned part, const char *ending);
/* One part, whole, on the disk and under its compressed name, or not at all: 0 or -errno; -EINTR once *stop
 * is set. */
int ledger_compress(int dirfd, unsigned part, mode_t mode, const _Atomic bool *stop);

/* --- retention.c --- */

/* Removes ledgers of sessions that ended long ago; bounded in time. */
void retention_run(struct helper *h);
/* Bytes of all ledgers that are kept for this owner. */
off_t retention_sum(const struct helper *h);
/* A file in a session's directory that a helper made. */
bool retention_is_helpers(const char *name);
/* The helper of the session that lies there lives, or it cannot be told that it does not. */
bool retention_is_live(int dirfd);
/* Removes an ended session's ledger, and records that and why; false where it stays. */
bool retention_remove(struct helper *h, int sessions, const char *name, const char *why);

/* --- kept.c --- */

/* Starts to look at what ended sessions keep; what is too much goes in a later tick. */
void kept_look(struct helper *h);
void kept_tick(struct helper *h);
/* Stops looking. */
void kept_done(void);

/* --- journal.c --- */

/* Whether the system's journal would take a head, where there is one, now: 0 or -errno. */
int journal_look(void);
/* Tells it the last checkpoint; never blocks for long.  0, also where there is no journal, or -errno. */
int journal_head(const struct ledger *l);

#endif
