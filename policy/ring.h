/*
 * The ring: decision records from many processes to the helper, through shared memory, without a
 * system call on the way.
 *
 * The memory is mapped shared by every process of the session.  It has no path, all of it is allocated, and
 * its size is sealed, so that a store into it cannot fail; how a new process finds it is said at
 * WIRE_RING_NAME.  It is a bounded queue of 64-byte slots; a record takes 1 to RING_RECORD_SLOTS slots in a
 * row (wrapping).  A writer reserves by moving `head` with a compare-and-swap, marks its first slot RESERVED
 * with its pid, fills, acts, and publishes with one release store.  Killed at any point it leaves a
 * reservation that the reader recognises (dead pid, or too old): filled, it is read as the decision that it
 * is, else it is counted as lost, and then nothing was done yet.  Nobody else is blocked by it.  Full ring:
 * the writer waits a bounded time for the reader (back-pressure), then gives up and says so where the session
 * cannot write: never silent.
 *
 * The agent's processes can write here, so all of it is hostile to both sides.  Records are claims (`via` =
 * hook) and every length is checked.  No word in here tells a writer to stop, or the reader how much is
 * missing: the reader trusts its own position and the slots' tags, and notes what it did not write itself
 * (enum ring_tamper).  The mapping is never unmapped by writers.
 */
#ifndef PALE_RING_H
#define PALE_RING_H

#include <stdatomic.h>
#include <string.h>

#include "op.h"

#define RING_MAGIC   0x31474e4952454c50ull
#define RING_VERSION 6u
#define RING_SLOT    64u
/*
 * 1 MiB, all of it allocated at the start of a session.  A writer that finds it full wakes the reader, so its
 * size decides how often that happens in a burst of records, not whether one is lost.
 */
#define RING_SLOTS	  (1u << 14)
#define RING_RECORD_SLOTS 80u /* the longest record: 5 KiB */

struct ring_header {
	uint64_t magic;
	uint32_t version, slots;
	/* What every record reads and hardly anybody writes has a line of its own. */
	_Atomic int32_t root_pid;	    /* pid whose attach proves the agent; set by pale run */
	_Alignas(64) _Atomic uint64_t head; /* next slot to reserve */
	_Alignas(64) _Atomic uint64_t tail; /* next slot to read */
	/*
	 * Records given up by writers.  Believed of the supervisor's ring; of the session's where there is no
	 * supervisor, which otherwise keeps the hooks' count in hook_lost of its own ring.
	 */
	_Alignas(64) _Atomic uint64_t lost;
	_Atomic uint64_t hook_lost;
	_Atomic uint64_t hook_robbed;	/* as many of those were RING_ROBBED */
	_Atomic uint64_t unwritten;	/* the helper's word: repeats that it counted and has not recorded */
	_Atomic uint32_t attached;	/* processes that announced themselves */
	_Atomic uint32_t root_attached; /* 1 once root_pid has announced itself */
	/* Counts (ring_count_begin): what is remembered of the path of a directory ends where they change. */
	_Alignas(64) _Atomic uint64_t moved; /* renames: any directory may be called otherwise */
	_Atomic uint64_t wandered;	     /* changes of a working directory */
};

/*
 * Such a count has in its upper half how many are at it, in its lower how many are done.  While
 * somebody is at it nothing can be said; killed in the middle, he leaves it so for good, and nobody
 * remembers anything any more.  Returns the count before.
 */
#define RING_COUNT_BUSY (1ull << 32)
static inline uint64_t ring_count_begin(_Atomic uint64_t *count)
{
	return atomic_fetch_add_explicit(count, RING_COUNT_BUSY, memory_order_acq_rel);
}

static inline uint64_t ring_count_end(_Atomic uint64_t *count, bool done)
{
	return atomic_fetch_add_explicit(count, (uint64_t)done - RING_COUNT_BUSY, memory_order_acq_rel);
}

enum ring_kind {
	RING_DECISION = 1,
	RING_ATTACH,
	/* The supervisor's alone. */
	RING_OUTCOME, /* what came of what a human approved; `rule` is the result */
	RING_CLAIM    /* a denial that a hook tells of: the process's word but for pid and id */
};

/* Of a RING_OUTCOME: the kernel itself acts (an exec), or another thread, and does not tell.  Else 0 or an
 * errno. */
#define RING_HANDED_ON UINT32_MAX

/* What else is known of a record: only the supervisor's ring has these. */
enum ring_note {
	NOTE_NONE,
	NOTE_AROUND,  /* denied, though the process has live hooks: it went around them */
	NOTE_DYNAMIC, /* RING_ATTACH: no hooks attached, though they could have */
	NOTE_STATIC,  /* RING_ATTACH: a program that no hook can be in */
	NOTE_NAME,    /* the host is a name that the process claims to have looked up */
	NOTE_FLOOR,   /* allowed, but the floor lets nobody execute it: it is newer than the session */
	NOTE_COUNT
};

/* One record.  Strings are borrowed on write and point into the caller's copy on read. */
struct ring_record {
	enum ring_kind kind;
	enum op op;
	enum verdict verdict;
	enum reason reason;
	unsigned access;
	uint32_t rule, nested;
	uint32_t image; /* that decided, with ring_image_base(): rule is one of its own */
	enum ring_note note;
	int32_t pid, ppid;
	uint64_t time_ns;   /* CLOCK_REALTIME */
	const char *target; /* path, host:port, or the argv joined (see record.h) */
	size_t target_len;
	size_t target_cut; /* bytes that did not fit */
	/* RING_ATTACH: the program.  A decision about a host that has a name: the address, in the
	 * supervisor's ring. */
	const char *exe;
	const char *approval; /* id of the approval that allowed it, or "" */
	uint32_t id;	      /* of a denial, as people are shown it; 0: none */
	const char *why;      /* of a denial: more of its reason, or "" */
};

/*
 * A record names an image by its number and, since the policy of a session can be loaded anew, by its
 * generation, of which the reader tells the latest few apart: number + ring_image_base(generation) < 256.
 */
#define RING_GENERATIONS 3u
#define RING_IMAGES	 85u
static inline uint32_t ring_image_base(uint32_t generation)
{
	return generation % RING_GENERATIONS * RING_IMAGES;
}

/* The record of a decision about req: who writes it adds who, when and by which image.  Pointers stay
 * borrowed. */
static inline struct ring_record ring_decision(const struct request *req, const struct decision *d,
					       const char *target)
{
	return (struct ring_record){
		.kind = RING_DECISION,
		.op = req->op,
		.verdict = d->verdict,
		.reason = d->reason,
		.access = req->access,
		.rule = d->rule,
		.nested = d->nested,
		.target = target,
		.target_len = strlen(target),
		.why = "",
	};
}

size_t ring_size(void);
/* Lays out an empty ring in zeroed memory of ring_size() bytes. */
void ring_init(struct ring_header *h);
/* 0 or -EINVAL. */
int ring_check(const void *base, size_t size);

/* What a writer does while the ring is full: waits a little, returns false to give up. */
typedef bool (*ring_wait_fn)(unsigned round);
/*
 * Appends.  Long targets are cut (target_cut says by how much).  What was not written is the caller's to
 * count. async-signal-safe, vfork-safe, lock-free but for the wait.
 */
enum ring_written {
	RING_LOST, /* it was full, or the reader gave this writer up */
	RING_WRITTEN,
	RING_ROBBED /* what was reserved was another's: somebody moved the head back */
};
enum ring_written ring_write(struct ring_header *h, const struct ring_record *r, ring_wait_fn wait);

/*
 * The same around an act: the record is in the ring before it, and complete after it, so that a writer that
 * is killed in between has told its decision.  ring_end(): to be kept, or not (the act was refused and will
 * be tried, and recorded, in another way).
 */
struct ring_hold {
	uint64_t *tag; /* NULL: there is nothing to complete */
	uint64_t mine;
};
enum ring_written ring_begin(struct ring_header *h, const struct ring_record *r, ring_wait_fn wait,
			     struct ring_hold *ret);
void ring_end(const struct ring_hold *hold, bool keep);

/*
 * Which name was an address reached by, as processes of the session looked it up (claims, as all
 * in here)?  A small table behind the slots, lock-free; the latest name counts, the oldest entries
 * are forgotten.  async-signal-safe.
 */
void ring_name_put(struct ring_header *h, const uint8_t addr[16], const char *name);
/* Copies the name (LIMIT_HOST bytes, terminated). */
bool ring_name_find(struct ring_header *h, const uint8_t addr[16], char *name);

/* What the reader found written over, one bit each in ring_reader.tampered. */
enum ring_tamper {
	TAMPER_HEADER, /* magic, version or size */
	TAMPER_HEAD,
	TAMPER_TAIL,
	TAMPER_TAG,    /* of a slot: none that a writer makes */
	TAMPER_RECORD, /* the checksum, or what no writer says */
	TAMPER_COUNT
};
#define RING_TAMPERED "its processes wrote over the memory of their records, so not all of them may be here"

struct ring_reader {
	struct ring_header *h;
	uint64_t stuck_pos, stuck_since_ns; /* an unpublished reservation and when it was first seen */
	uint64_t lost;			    /* reservations skipped by the reader */
	char store[RING_SLOT * RING_RECORD_SLOTS + 1];
	uint64_t next;	      /* the reader's own position */
	uint64_t freed, last; /* what the writers have back, as the tail says; where the last record began */
	bool keeps;	      /* what was read stays in the ring until ring_done() */
	unsigned tampered;
	uint64_t seen; /* head when it was last looked at: the writers' hot line is left alone while it can */
};
/* Is pid alive? */
typedef bool (*ring_alive_fn)(int32_t pid);
/*
 * Next record: 1 with *ret valid until the next call, 0 when there is none (yet).  A reservation that is
 * filled is read where its writer is dead or its act takes long; one that is not is skipped and counted
 * where its writer is dead or took longer than a second.
 */
int ring_read(struct ring_reader *rd, uint64_t now_ns, ring_alive_fn alive, struct ring_record *ret);
/* Of a reader that keeps: what was read, perhaps but the last record, is needed no more. */
void ring_done(struct ring_reader *rd, bool but_the_last);

#endif
