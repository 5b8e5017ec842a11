/*
 * Job control: what the shell does with its job, and the terminal with its foreground, is done to the agent.
 *
 * The shell sees the front stop when the agent does.  An agent that wants the terminal, from the background
 * of its pty, gets it where the operator's is ours; else we stop as it would have, until we are in the
 * foreground.
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

/* Takes a SIGCONT that has come; false where none has. */
static bool was_continued(void)
{
	const struct timespec now = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	return sigtimedwait(&set, NULL, &now) == SIGCONT;
}

/*
 * Stops us, and for a stop that a terminal makes all of our group, as if the agent were one of it.  Returns
 * when we go on: false where nobody could have let us, so that the kernel did not stop us (an orphaned
 * group).
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
	/* Whoever has the terminal now has set its modes. */
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
	/* What it wrote before, the end of its full screen too, comes before the shell's prompt. */
	pump_drain(f);
	tty_give_back(f);
	went_on = stop_alike(sig);
	if (!went_on && wants_terminal(sig))
		relay_hang_up(f);
	else
		job_continued(f);
}
