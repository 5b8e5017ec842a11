/* Starts a thread with its signals blocked before it runs. */
#include "thread.h"

#include <signal.h>

int thread_start(pthread_t *ret, size_t stack, int but, void *(*main)(void *arg), void *arg)
{
	sigset_t mask, before;
	pthread_attr_t attr;
	int r;

	sigfillset(&mask);
	sigdelset(&mask, SIGBUS);
	if (but)
		sigdelset(&mask, but);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	/* The new thread inherits the mask, so it never runs without it. */
	pthread_sigmask(SIG_SETMASK, &mask, &before);
	r = pthread_create(ret, &attr, main, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -r;
}
