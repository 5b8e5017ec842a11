/*
 * A number beside a cached value that is odd while the value is written.
 *
 * There is one writer at a time: a second one, in another thread or in a signal handler, does not write.
 * Readers never wait and never write: they take the number, read the value, and discard it where the number
 * is odd or has changed since.  The value may be shared within one process, not between processes.  Nothing
 * here allocates or makes a system call (async-signal-safe, vfork-safe).
 */
#ifndef PALE_SEQLOCK_H
#define PALE_SEQLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a read: returns the number to pass to seq_is_whole(). */
static inline uint32_t seq_read(const uint32_t *seq)
{
	return __atomic_load_n(seq, __ATOMIC_ACQUIRE);
}

/* Ends a read: true where no write was under way when seq_read() returned this number, nor began since. */
static inline bool seq_is_whole(const uint32_t *seq, uint32_t was)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(was & 1) && __atomic_load_n(seq, __ATOMIC_RELAXED) == was;
}

/* Begins a write.  False where another write is under way; where true, seq_give() must end the write. */
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
