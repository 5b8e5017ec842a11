/*
 * The ring: decision records from many processes to the helper, through shared memory, without a
 * system call on the way.
 *
 * The memory is mapped shared by every process of the session.  It has no path, all of it is allocated, and
 * its size is sealed, so that a store into it cannot fail.  WIRE_RING_NAME says how a new process finds it.
 * The ring is a bounded queue of 64-byte slots; a record takes 1 to RING_RECORD_SLOTS consecutive slots, and
 * may wrap.  A writer reserves slots by moving `head` with a compare-and-swap, marks its first slot RESERVED
 * with its pid, fills the record, performs its act, and publishes the record with one compare-and-swap.  A
 * writer that is killed leaves a reservation, which the reader recognises (dead pid, or too old).  If it is
 * filled, it is read as a decision; if not, it is counted as lost, and the act was not performed.  It blocks
 * no other writer.  If the ring is full, the writer waits a bounded time for the reader, then gives up and
 * reports the loss where the session cannot write.
 *
 * The agent's processes can write here, so neither side trusts the content.  Records are claims (`via` =
 * hook), and every length is checked.  No word in here can stop a writer, or tell the reader how much is
 * missing: the reader trusts its own position and the slots' tags, and notes what others changed (enum
 * ring_tamper).  Writers never unmap the ring.
 */
#ifndef PALE_RING_H
#define PALE_RING_H

#include <stdatomic.h>
#include <string.h>

#include "policy/base/op.h"

#define RING_MAGIC   0x31474e4952454c50ull
#define RING_VERSION 8u
#define RING_SLOT    64u
/*
 * 4 MiB, all of it allocated at the start of a session.  A writer that finds the ring full wakes the reader,
 * so in a burst of records the size decides how often that happens, not whether a record is lost.
 */
#define RING_SLOTS	  (1u << 16)
#define RING_RECORD_SLOTS 80u /* the longest record: 5 KiB */

struct ring_header {
	uint64_t magic;
	uint32_t version, slots;
	/* Read for every record and rarely written: in a cache line of its own. */
	_Atomic int32_t root_pid;	    /* the agent's pid, set by pale run: its attach is the agent's */
	_Alignas(64) _Atomic uint64_t head; /* next slot to reserve */
	_Alignas(64) _Atomic uint64_t tail; /* next slot to read */
	/*
	 * Number of records that writers gave up.  It counts in the supervisor's ring, and in the session's
	 * ring only at level hooks.  At other levels the supervisor counts the hooks' losses in hook_lost of
	 * its own ring.
	 */
	_Alignas(64) _Atomic uint64_t lost;
	_Atomic uint64_t hook_lost;
	_Atomic uint64_t hook_robbed; /* how many of those were RING_ROBBED */
	_Atomic uint64_t unwritten; /* set by the helper: repeats that it has counted and not recorded yet */
	_Atomic uint32_t attached;  /* processes that announced themselves */
	_Atomic uint32_t root_attached; /* 1 once root_pid has announced itself */
	/* Counts (ring_count_begin()).  A cached path of a directory is valid while they are unchanged. */
	_Alignas(64) _Atomic uint64_t moved; /* renames: any directory may have another path */
	_Atomic uint64_t wandered;	     /* changes of a working directory */
	_Atomic uint32_t pushes; /* set by the supervisor: a push may reach a host; a hint for hooks */
};

/*
 * The upper half of such a count is the number of changes under way, the lower half that of finished changes.
 * While a change is under way no cached path is valid.  A process that is killed in the middle leaves its
 * change under way for ever, and then no path is cached any more.  Both return the count before.
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
	/* Only the supervisor writes these. */
	RING_OUTCOME, /* the result of an act that a human approved; `rule` is that result */
	RING_CLAIM    /* a denial that a hook reports: all but pid and id is the process's claim */
};

/* A result of RING_OUTCOME: the kernel (an exec) or another thread performs the act and reports nothing.
 * Other results are 0 or an errno. */
#define RING_HANDED_ON UINT32_MAX

/* NOTE_ANYWAY as the ledger has it, for its readers. */
#define NOTE_ANYWAY_TEXT "ordinary permissions refuse it too"

/* What else is known about a record.  Only the supervisor's ring has notes. */
enum ring_note {
	NOTE_NONE,
	NOTE_AROUND,  /* denied; the process has hooks, and made the call without them */
	NOTE_DYNAMIC, /* RING_ATTACH: a dynamic program that runs without hooks */
	NOTE_STATIC,  /* RING_ATTACH: a program that cannot have hooks */
	NOTE_NAME,    /* the host is a name that the process claims to have looked up */
	NOTE_FLOOR,   /* allowed, but the floor prevents the exec: the file is newer than the session */
	NOTE_ANYWAY,  /* denied, and ordinary permissions refuse it too */
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
	uint32_t image; /* the image that decided, plus ring_image_base(); `rule` is a rule of this image */
	enum ring_note note;
	int32_t pid, ppid;
	uint64_t time_ns;   /* CLOCK_REALTIME */
	const char *target; /* path, host:port, or the argv joined (see record.h) */
	size_t target_len;
	size_t target_cut; /* bytes that did not fit */
	/* RING_ATTACH: the program.  In the supervisor's ring, for a decision about a host with a name: the
	 * address. */
	const char *exe;
	const char *approval; /* id of the approval that allowed it, or "" */
	uint32_t id;	      /* id of a denial, as it is shown to people; 0: none */
	const char *why;      /* details of a denial's reason, or "" */
};

/*
 * A record names an image by its number and, since a session can reload its policy, by its generation.  The
 * reader distinguishes the latest RING_GENERATIONS: number + ring_image_base(generation) < 256.
 */
#define RING_GENERATIONS 3u
#define RING_IMAGES	 85u
static inline uint32_t ring_image_base(uint32_t generation)
{
	return generation % RING_GENERATIONS * RING_IMAGES;
}

/* The record of a decision about req.  The writer adds pid, time and image.  Pointers stay borrowed. */
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

/* Called while the ring is full: waits a little, or returns false to give up.  round counts from 0. */
typedef bool (*ring_wait_fn)(unsigned round);

/*
 * How long a writer waits.  An idle reader sleeps long, so the writer wakes it; it then reads a million
 * records a second.  It may also wait for the disk, or check a passphrase.  A reader that is dead or stopped
 * must not stop the writer: after RING_FULL_ROUNDS, in all five seconds, the record is given up.
 */
#define RING_FULL_ROUNDS 750
#define RING_FULL_AWAKE	 250 /* rounds in which the reader is woken, and naps are short */
#define RING_FULL_KICK	 50

/* Nanoseconds of the nap in this round. */
static inline long ring_full_nap_ns(unsigned round)
{
	return round < RING_FULL_AWAKE ? 200000 : 10000000;
}

/* True in a round that wakes the reader first. */
static inline bool ring_full_wakes(unsigned round)
{
	return round < RING_FULL_AWAKE && round % RING_FULL_KICK == 0;
}

/*
 * Appends a record.  A long target is cut (target_cut says by how many bytes).  The caller counts what was
 * not written.  async-signal-safe, vfork-safe, lock-free but for the wait.
 */
enum ring_written {
	RING_LOST, /* the ring was full */
	RING_WRITTEN,
	RING_ROBBED /* the reserved slot was in use: the head was moved back */
};
enum ring_written ring_write(struct ring_header *h, const struct ring_record *r, ring_wait_fn wait);

/*
 * The same around an act: ring_begin() puts the record into the ring before the act, and ring_end() publishes
 * it afterwards, so that the decision is known even if the writer is killed in between.  keep is false where
 * the record is void: the act was refused, and is tried and recorded in another way.
 */
struct ring_hold {
	uint64_t *tag; /* NULL: there is nothing to complete */
	uint64_t mine;
};
enum ring_written ring_begin(struct ring_header *h, const struct ring_record *r, ring_wait_fn wait,
			     struct ring_hold *ret);
void ring_end(const struct ring_hold *hold, bool keep);

/*
 * A table of the names by which processes of the session looked up addresses (claims, like all content).
 * It is small, lies after the slots and is lock-free; the latest name of an address counts, and the oldest
 * entries are replaced.  async-signal-safe.
 */
void ring_name_put(struct ring_header *h, const uint8_t addr[16], const char *name);
/* Copies the name (a buffer of LIMIT_HOST bytes, NUL-terminated); false where the address has none. */
bool ring_name_find(struct ring_header *h, const uint8_t addr[16], char *name);

/* What the reader found overwritten, one bit each in ring_reader.tampered. */
enum ring_tamper {
	TAMPER_HEADER, /* magic, version or size */
	TAMPER_HEAD,
	TAMPER_TAIL,
	TAMPER_TAG,    /* a slot's tag that no writer makes */
	TAMPER_RECORD, /* a wrong checksum, or a value that no writer uses */
	TAMPER_COUNT
};
#define RING_TAMPERED "its processes wrote over the memory of their records, so not all of them may be here"

struct ring_reader {
	struct ring_header *h;
	uint64_t stuck_pos, stuck_since_ns; /* an unpublished reservation and when it was first seen */
	uint64_t lost;			    /* reservations skipped by the reader */
	uint64_t untagged;		    /* how many of these had no tag of a writer */
	char store[RING_SLOT * RING_RECORD_SLOTS + 1];
	uint64_t next;	      /* the reader's own position */
	uint64_t freed, last; /* slots before freed are free (the tail); start of the last record */
	bool keeps;	      /* what was read stays in the ring until ring_done() */
	unsigned tampered;
	uint64_t seen; /* head as last read: reading it often would slow the writers */
};
/* True where the process pid is alive. */
typedef bool (*ring_alive_fn)(int32_t pid);
/*
 * Reads the next record: 1 with *ret valid until the next call, 0 where there is no record yet.  A
 * reservation that is filled is read if its writer is dead or its act takes long.  One that is not filled
 * is skipped, and counted in `lost`, if its writer is dead or took longer than a second.  alive may be
 * NULL: all are alive.
 */
int ring_read(struct ring_reader *rd, uint64_t now_ns, ring_alive_fn alive, struct ring_record *ret);
/* For a reader that keeps: frees all that was read, or all but the last record. */
void ring_done(struct ring_reader *rd, bool but_the_last);

#endif
