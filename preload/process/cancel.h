/*
 * libc's open is a cancellation point; ours makes raw system calls, which are not.  In programs with
 * threads, what libc does around the one call that may wait is done here, by libc's public functions.
 *
 * A thread that is cancelled in that call does not return: a held directory or scratch memory of an open
 * that waits is leaked, as the descriptor may be in libc's own open.  It is vfork-safe as far as libc's
 * open is.
 */
#ifndef PALE_PRELOAD_CANCEL_H
#define PALE_PRELOAD_CANCEL_H

#include <stdbool.h>

/* Ends the thread if it has been cancelled.  Called while nothing is held. */
void cancel_point(void);
/*
 * From here to cancel_end() a cancellation ends the thread at once.  Returns the value to pass to
 * cancel_end().  Without threads both do nothing.
 */
int cancel_begin(void);
void cancel_end(int was);
/* From here to cancel_restore() a cancellation has no effect, not even in an open.  Returns the value to
 * pass to cancel_restore(). */
int cancel_disable(void);
void cancel_restore(int was);

#endif
