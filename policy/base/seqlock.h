/*
 * A number beside a cached value that is odd while the value is written.
 *
 * There is one writer at a time: who comes second, a thread or a signal handler, goes without.  Readers
 * never wait and never write: they take the number, read, and throw away what they read where it is odd or
 * another one by then.  Where an entry is shared it is shared within one process; nothing here allocates
 * or makes a system call (async-signal-safe, vfork-safe).
 */
#ifndef PALE_SEQLOCK_H
#define PALE_SEQLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Where a reader starts: the number that seq_is_whole() is to find again. */
static inline uint32_t seq_read(const uint32_t *seq)
{
	return __atomic_load_n(seq, __ATOMIC_ACQUIRE);
}

/* Nothing was written since seq_read() gave this number, nor was then. */
static inline bool seq_is_whole(const uint32_t *seq, uint32_t was)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(was & 1) && __atomic_load_n(seq, __ATOMIC_RELAXED) == was;
}

/* False: somebody else is writing.  seq_give() follows where it is true. */
static inline bool seq_take(uint32_t *seq)
{
	uint32_t was = __atomic_load_n(seq, __ATOMIC_RELAXED);

	return !(was & 1) &&
	       __atomic_compare_exchange_n(seq, &was, was + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline void seq_give(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELEASE);
}

#endif
