/*
 * libc's open is a cancellation point; ours makes raw system calls, which are none.  What libc does
 * around the one call that may wait is done here by its public names, in programs with threads.
 *
 * A thread that ends in that call never comes back: a held directory or a scratch page of an open that
 * waits stays behind, as its descriptor may in libc's own.  vfork-safe as far as libc's open is.
 */
#ifndef PALE_PRELOAD_CANCEL_H
#define PALE_PRELOAD_CANCEL_H

#include <stdbool.h>

/* Ends the thread where it was cancelled before: called while nothing is held. */
void cancel_point(void);
/*
 * From here to cancel_end() a cancellation ends the thread at once.  Returns what cancel_end() is to put
 * back.  Without threads both do nothing.
 */
int cancel_begin(void);
void cancel_end(int was);
/* From here to cancel_restore() none does, not even in an open; likewise. */
int cancel_disable(void);
void cancel_restore(int was);

#endif
