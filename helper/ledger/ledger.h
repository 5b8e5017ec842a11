/*
 * The ledger: records from the rings become chained lines in files, which are kept for a time.
 *
 * The ledger as the helper writes it: events become chained lines, lines are buffered and written together,
 * checkpoints are added, and full files are set aside and compressed.
 *
 *   ledger     the file: group commit, failures, losses
 *   event      an event's line: masked, escaped, hashed
 *   fold       repeats become one record
 *   programs   pid -> program
 *   tally      counts for the last record
 *   signing    the key; when a checkpoint is due
 *   journal    heads sent to the system's journal
 *   rotate     full files and their compression
 *   kept       ledgers of ended sessions: compressed, the oldest removed
 *   retention  ledgers of sessions that ended long ago
 *   bounds     limits for each owner
 *   outlives   what outlives a session, in a ledger of its own
 *   mask       removes secrets from texts
 */
#ifndef PALE_HELPER_LEDGER_H
#define PALE_HELPER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/record/checkpoint.h"
#include "policy/record/record.h"

#include "event.h"

struct mask;

#define LEDGER_FILE	"ledger.jsonl"
#define RESERVE_FILE	"ledger.reserve" /* keeps room on the disk: see ledger.c */
#define LEDGER_PART	"ledger.%u.jsonl"
#define LEDGER_SIZE	((off_t)64 << 20) /* size at which a file is set aside */
#define LEDGER_SIZE_MIN ((off_t)64 << 10)

struct ledger {
	int fd;
	int dirfd; /* borrowed: the directory of the file and its parts */
	mode_t mode;
	off_t size, full_at; /* configured size of a file; size at which this file is set aside */
	unsigned part;	     /* number of the next part */
	bool rotating;
	bool last;	 /* RESERVE_FILE may be used up now */
	bool is_keeping; /* what is in the buffer may take of it */
	size_t spare;	 /* bytes of RESERVE_FILE that are left for such records */
	int error;	 /* 0, or why the file cannot be written (-errno) */
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
	bool is_over;  /* the last call refused */

	const struct mask *mask; /* borrowed; NULL: no text is masked */

	uid_t owner;		      /* uid of the session's user */
	struct checkpoint_key key;    /* valid where sealed */
	bool sealed;		      /* checkpoints are signed */
	uint64_t point_seq, point_ns; /* seq and time (CLOCK_BOOTTIME) of the last checkpoint */
	char point_hash[RECORD_HASH_HEX];
	uint64_t told_seq; /* seq of the last checkpoint that was sent to the journal */
	int untold;	   /* 0, or why the journal did not take it (-errno) */

	struct text_memo exe, rule; /* event.c */
	char *scratch;
	size_t scratch_cap;
};

/* Creates LEDGER_FILE with this mode in dirfd, and starts the chain.  0 or -errno. */
int ledger_open(struct ledger *l, int dirfd, mode_t mode, const char *session, const char *agent,
		const char *level);
/* Sets the size in bytes at which a file is set aside; at most half of RLIMIT_FSIZE, at least
 * LEDGER_SIZE_MIN. */
void ledger_limit(struct ledger *l, off_t size);
/* Appends to the buffer; the next flush writes it.  A denial, a question or an answer is written at once; on
 * a full disk into room that was kept for it.  0 or -errno (the loss is counted). */
int ledger_append(struct ledger *l, const struct event *e);
/* Appends, and waits until the record is on the disk.  0 or -errno: then the caller must not act. */
int ledger_append_durable(struct ledger *l, const struct event *e);
/* Writes the buffer with one write.  0 or -errno. */
int ledger_flush(struct ledger *l);
/* The same, and waits until all of it is on the disk. */
int ledger_sync(struct ledger *l);
/* The same for denials, questions and answers alone: 0 also where nothing else can be written. */
int ledger_sync_kept(struct ledger *l);
/* Flush, fdatasync when it is time, and retry after a failure; a checkpoint when one is due. */
void ledger_tick(struct ledger *l, uint64_t now_ns);
/* Before the last records: from now on they may use the disk space that RESERVE_FILE has kept free. */
void ledger_last(struct ledger *l);
/* After the last record: removes RESERVE_FILE. */
void ledger_unreserve(const struct ledger *l);
void ledger_close(struct ledger *l);
struct helper;
/* Writes e to the machine's ledger, and waits until it is on the disk.  0 or -errno. */
int machine_event(const struct helper *h, const struct event *e);
/* The head: the hash of the last record that was written to the file. */
static inline const char *ledger_head(const struct ledger *l)
{
	return l->good_prev;
}

#endif
