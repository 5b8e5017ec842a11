/*
 * Threads of ours beside the main one.
 */
#ifndef PALE_THREAD_H
#define PALE_THREAD_H

#include <pthread.h>

/*
 * Makes a thread with so many bytes of stack, which no signal disturbs but `but` (0: none) and SIGBUS: a
 * fault that is blocked ends the process before its handler can mend it.  0 or -errno.
 */
int thread_start(pthread_t *ret, size_t stack, int but, void *(*main)(void *arg), void *arg);

#endif
