/*
 * Threads beside the main one.
 */
#ifndef PALE_THREAD_H
#define PALE_THREAD_H

#include <pthread.h>

/* Makes a thread with a stack of `stack` bytes.  All signals are blocked in it except `but` (0: no signal)
 * and SIGBUS: a blocked fault ends the process before its handler can run.  0 or -errno. */
int thread_start(pthread_t *ret, size_t stack, int but, void *(*main)(void *arg), void *arg);

#endif
