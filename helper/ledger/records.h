/*
 * From the rings to the ledger: what a record says, whose program it is about, repeats that become one, and
 * the counts of the session.  Included only by helper.h.
 */
#ifndef PALE_RECORDS_H
#define PALE_RECORDS_H

#include <jansson.h>
#include <sys/types.h>

#include "policy/base/buf.h"
#include "policy/record/record.h"
#include "policy/wire/ring.h"

#include "ledger.h"

/* --- procs.c --- */

#define PROCS_MAX 4096

struct proc {
	int32_t pid, ppid;
	char *exe; /* raw bytes */
	uint64_t used;
	bool attached; /* reported by its hooks or the supervisor, not looked up */
};

/* Bounded map from pid to program, filled by the attach records, otherwise from /proc. */
struct procs {
	struct proc slot[PROCS_MAX];
	uint64_t clock;
	bool inherits; /* a process that cannot be looked up has its parent's program: a claim */
};

/* True where this process was not reported before. */
bool procs_attach(struct procs *p, int32_t pid, int32_t ppid, const char *exe);
/* The supervisor's report, for a helper that may not look itself. */
void procs_tell(struct procs *p, int32_t pid, const char *exe);
/* Never NULL; the exe is "" where it is not known.  Borrowed until the next call. */
const struct proc *procs_find(struct procs *p, int32_t pid);
void procs_done(struct procs *p);
/* As procs_find(), but looks nothing up: NULL where the program is not known. */
const struct proc *procs_known(struct procs *p, int32_t pid);
/* The process becomes another program, which is looked up again. */
void procs_outdate(struct procs *p, int32_t pid);
/* Parent of a process by /proc/PID/stat, or -errno. */
pid_t proc_parent(pid_t pid);

/* --- fold.c --- */

#define FOLD_MAX 4096 /* a power of two */

struct fold_entry {
	uint64_t key;
	uint64_t deadline_ns;
	uint32_t chain; /* position + 1 of the next entry of this bucket */
	char *strings;	/* exe, target, rule, approval, detail: one block, freed with the entry */
	struct event e;
};

/* Decisions of the last two seconds, oldest first. */
struct fold {
	struct fold_entry ring[FOLD_MAX];
	uint32_t bucket[FOLD_MAX]; /* position + 1 in ring by key, 0 = none */
	uint64_t first, next;
	uint64_t repeats; /* counted, but not recorded yet */
	struct ledger *ledger;
};

enum fold_urgency { FOLD_WAIT, FOLD_NOW };

/* Records e at once, or counts it as a repeat of an equal event.  Equal events have the same key. */
void fold_add(struct fold *f, uint64_t key, const struct event *e, uint64_t now_ns);
/* Records the repeats of events that are older than the window; FOLD_NOW: of all events. */
void fold_flush(struct fold *f, enum fold_urgency urgency, uint64_t now_ns);
/* Counts a repeat, whose event need not be built then.  False where it is no repeat. */
bool fold_repeat(struct fold *f, uint64_t key);

/* --- drain.c --- */

/*
 * Where records come from.  Records of the hooks are claims of the processes; the supervisor's are what it
 * saw and did itself, in a ring that no process of the session can reach.
 */
enum feed_id { FEED_HOOK, FEED_KERNEL, FEEDS };

struct feed {
	const char *via;
	struct ring_header *ring; /* NULL: not at this level */
	struct ring_reader reader;
	ring_alive_fn alive; /* NULL: the writer is not the process that the record is about */
	uint64_t ring_lost_seen, reader_lost_seen;
	struct ring_record next; /* read and not yet recorded, where has_next */
	bool has_next;
};

struct rings {
	struct feed feed[FEEDS];
	enum feed_id row_of; /* the last `row` records came from this ring */
	unsigned row;
	unsigned tampered; /* kinds of tampering with the session's ring that are recorded already (bits of
			      enum ring_tamper) */
	bool is_fresh;	   /* one of them is new: drain_found_tampering() */
};

/* --- tally.c --- */

/* What holds a program: the hooks (and the kernel behind them), or the kernel alone. */
enum held { HELD_HOOKS, HELD_KERNEL, HELD_STATIC, HELDS };

struct tally {
	uint64_t processes[HELDS];
	uint64_t calls[FEEDS], denied[FEEDS];
	uint64_t observed; /* allowed only because of --observe */
	uint64_t around;   /* denied by the kernel though the process has hooks */
	uint64_t asked, approved, refused, expired;
	uint64_t flooded; /* refused without a question: too many at a time */
};

uint64_t tally_denied(const struct tally *t);
json_t *tally_json(const struct tally *t);
/* "; processes: hooked=3 ...", appended. */
void tally_text(const struct tally *t, struct out *o);

#endif
