/*
 * Job control: what the shell does to its job, and the terminal to its foreground, is passed on to the
 * agent.
 *
 * The shell sees the front stop when the agent does.  An agent in the background of its pty that wants the
 * terminal gets it if the operator's terminal is ours; else we stop as the agent would have, until we are
 * in the foreground.
 */
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "relay.h"

void job_tell(const struct front *f, enum relay_word word)
{
	const char byte = (char)word;

	(void)!send(f->link, &byte, 1, MSG_NOSIGNAL);
}

/* Consumes a pending SIGCONT; false if none is pending. */
static bool was_continued(void)
{
	const struct timespec now = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	return sigtimedwait(&set, NULL, &now) == SIGCONT;
}

/*
 * Stops us, and for a stop by the terminal our whole group, as if the agent were in it.  Returns when we
 * continue: false in an orphaned group, which the kernel does not stop since no shell could continue it.
 */
static bool stop_alike(int sig)
{
	sigset_t set;

	(void)was_continued();
	if (sig == SIGSTOP) {
		(void)kill(getpid(), SIGSTOP);
		return was_continued();
	}
	(void)signal(sig, SIG_DFL);
	(void)kill(0, sig);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return was_continued();
}

void job_continued(struct front *f)
{
	if (f->ended)
		return;
	if (f->keen && tty_is_ours(f->tty) && tty_take(f)) {
		job_tell(f, RELAY_FRONT);
		return;
	}
	/* The process that has the terminal now has set its modes. */
	f->raw = false;
	job_tell(f, RELAY_BACK);
}

static bool wants_terminal(int sig)
{
	return sig == SIGTTIN || sig == SIGTTOU;
}

void job_stopped(struct front *f, int sig)
{
	bool went_on;

	f->keen |= wants_terminal(sig);
	if (wants_terminal(sig) && !f->gone && tty_is_ours(f->tty)) {
		job_continued(f);
		return;
	}
	/* The agent's earlier output, such as the end of its full screen, must come before the shell's
	 * prompt. */
	pump_drain(f);
	tty_give_back(f);
	went_on = stop_alike(sig);
	if (!went_on && wants_terminal(sig))
		relay_hang_up(f);
	else
		job_continued(f);
}
