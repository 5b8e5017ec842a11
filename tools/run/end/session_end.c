/*
 * The end of a session that does not come from the command: its time is over, or the operator stops it.
 *
 * All processes of the session get TERM (and CONT, in case they are stopped); those that remain after a
 * grace are killed, repeatedly, until none is left.  Time is CLOCK_MONOTONIC: setting the clock changes
 * nothing, and a machine that sleeps does not use it up.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "policy/system/system.h"

#include "tools/run/limits/limits.h"

#include "reap.h"

#define GRACE_MS 5000
#define AGAIN_MS 20 /* between two rounds of KILL */
#define KILLS_MS 3000

/*
 * When the agent stops, so does pale, for the shell to see it; the time limit must hold even then.  SIGCONT
 * makes a stopped process continue; where pale runs, it is only read from the descriptor of signals.
 */
static int arm_timer(struct session_clock *c, uint64_t seconds)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT };
	const struct itimerspec at = { .it_value = { .tv_sec = (time_t)seconds } };

	if (timer_create(CLOCK_MONOTONIC, &event, &c->timer) < 0)
		return -errno;
	c->has_timer = true;
	return timer_settime(c->timer, 0, &at, NULL) < 0 ? -errno : 0;
}

int session_clock_start(struct session_clock *c, uint64_t seconds)
{
	if (seconds == 0)
		return 0;
	c->deadline_ms = clock_awake_ms() + seconds * 1000;
	return arm_timer(c, seconds);
}

void session_clock_done(struct session_clock *c)
{
	if (c->has_timer)
		(void)timer_delete(c->timer);
	c->has_timer = false;
}

void session_clock_stop(struct session_clock *c, bool now)
{
	uint64_t grace = now ? 0 : GRACE_MS;

	if (c->why == END_TIME || c->why == END_HELPER)
		return;
	/* A second call may only make it end earlier. */
	if (c->why == END_ITSELF || now)
		c->kill_ms = clock_awake_ms() + grace;
	c->why = now ? END_AT_ONCE : c->why == END_AT_ONCE ? END_AT_ONCE : END_STOP;
}

void session_clock_unrecorded(struct session_clock *c)
{
	c->why = END_HELPER;
	c->kill_ms = clock_awake_ms();
}

int session_clock_wait(const struct session_clock *c, int ms)
{
	uint64_t now, next = c->why == END_ITSELF ? c->deadline_ms : c->kill_ms;

	if (next == 0)
		return ms;
	now = clock_awake_ms();
	if (next <= now)
		next = now + (c->why == END_ITSELF ? 0 : AGAIN_MS);
	return ms < 0 || (uint64_t)ms > next - now ? (int)(next - now > 60000 ? 60000 : next - now) : ms;
}

bool session_clock_tick(struct session_clock *c, pid_t spare)
{
	uint64_t now;

	if (c->why == END_ITSELF && c->deadline_ms == 0)
		return false;
	now = clock_awake_ms();
	if (c->why == END_ITSELF && now >= c->deadline_ms) {
		c->why = END_TIME;
		c->kill_ms = now + GRACE_MS;
	}
	if (c->why == END_ITSELF)
		return false;
	if (!c->told && now < c->kill_ms) {
		(void)tree_signal(SIGTERM, spare);
		/* A stopped process does not act on TERM. */
		(void)tree_signal(SIGCONT, spare);
		c->told = true;
	}
	if (now >= c->kill_ms)
		(void)tree_signal(SIGKILL, spare);
	return true;
}

bool session_clock_gives_up(const struct session_clock *c)
{
	return c->why != END_ITSELF && (uint64_t)clock_awake_ms() > c->kill_ms + KILLS_MS;
}

unsigned session_clock_grace(const struct session_clock *c, unsigned usual_ms)
{
	uint64_t now;

	if (c->why == END_ITSELF)
		return usual_ms;
	now = clock_awake_ms();
	return now < c->kill_ms ? (unsigned)(c->kill_ms - now) : 0;
}
