/* Cancellation of threads: see cancel.h. */
#include "cancel.h"

#include <pthread.h>

#include "real.h"
#include "sys.h"

/* Nothing was changed, so there is nothing to restore: a thread may start or end between the two calls. */
#define AS_IT_WAS (-1)

void cancel_point(void)
{
	if (!sys_is_alone() && real.pthread_testcancel)
		real.pthread_testcancel();
}

static int cancel_set(int (*set)(int to, int *was), int to)
{
	int was = AS_IT_WAS;

	if (!sys_is_alone() && set)
		set(to, &was);
	return was;
}

int cancel_begin(void)
{
	return cancel_set(real.pthread_setcanceltype, PTHREAD_CANCEL_ASYNCHRONOUS);
}

void cancel_end(int was)
{
	if (was != AS_IT_WAS)
		real.pthread_setcanceltype(was, NULL);
}

int cancel_disable(void)
{
	return cancel_set(real.pthread_setcancelstate, PTHREAD_CANCEL_DISABLE);
}

void cancel_restore(int was)
{
	if (was != AS_IT_WAS)
		real.pthread_setcancelstate(was, NULL);
}
