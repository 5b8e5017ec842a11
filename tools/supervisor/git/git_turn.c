/*
 * The turn: of all calls that change what git obeys only one is served at a time, from its allowance to its
 * end.  See git.h.
 */
#include <pthread.h>
#include <time.h>

#include "tools/supervisor/caller.h"

#include "git.h"

#define TURN_NS 50000000

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

bool git_take_turn(struct caller *c)
{
	if (c->git_turn)
		return false;
	pthread_mutex_lock(&one_at_a_time);
	c->git_turn = true;
	return true;
}

bool git_wait_turn(struct caller *c)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += TURN_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	c->git_turn = c->git_turn || pthread_mutex_timedlock(&one_at_a_time, &until) == 0;
	return c->git_turn;
}

bool git_try_turn(struct caller *c)
{
	c->git_turn = c->git_turn || pthread_mutex_trylock(&one_at_a_time) == 0;
	return c->git_turn;
}

void git_release(struct caller *c)
{
	if (c->git_turn)
		pthread_mutex_unlock(&one_at_a_time);
	c->git_turn = false;
}
