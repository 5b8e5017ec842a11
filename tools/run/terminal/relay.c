/*
 * The front's loop: relays bytes, sizes, signals and stops until the back has ended.  Nothing here runs in
 * a signal handler.
 */
#include "relay.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/base/util.h"

void relay_hang_up(struct front *f)
{
	f->raw = false;
	job_tell(f, RELAY_GONE);
	/* The kernel sends SIGHUP to the agent's session, and its reads return end of file. */
	if (f->master >= 0)
		(void)close(f->master);
	f->master = -1;
}

static void terminal_gone(struct front *f)
{
	f->gone = true;
	relay_hang_up(f);
}

/* The back is our only child. */
static void look_at_back(struct front *f)
{
	int status;

	if (waitpid(f->back, &status, WNOHANG) != f->back)
		return;
	f->status = status;
	f->ended = true;
}

/* The terminal's own signals are for the whole group, others only for the process they were sent to. */
static void pass_on(const struct front *f, const struct signalfd_siginfo *si)
{
	const union sigval group = { .sival_int = RELAY_GROUP };

	if (si->ssi_code == SI_KERNEL)
		(void)sigqueue(f->back, (int)si->ssi_signo, group);
	else
		(void)kill(f->back, (int)si->ssi_signo);
}

static void on_signal(struct front *f, const struct signalfd_siginfo *si)
{
	switch (si->ssi_signo) {
	case SIGCHLD:
		look_at_back(f);
		return;
	case SIGWINCH:
		f->resized = true;
		return;
	case SIGCONT:
		job_continued(f);
		return;
	case SIGHUP:
		if (!f->gone && tty_is_gone(f->tty))
			terminal_gone(f);
		break;
	default:
		break;
	}
	if (!f->ended)
		pass_on(f, si);
}

static void take_signals(struct front *f)
{
	struct signalfd_siginfo si;

	while (read(f->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		on_signal(f, &si);
	/* Several size changes need one update. */
	if (f->resized)
		tty_pass_size(f);
	f->resized = false;
}

/* Reads from the back the signal that stopped the agent, or notes that the back is gone. */
static void hear_back(struct front *f)
{
	unsigned char sig;
	ssize_t n = recv(f->link, &sig, sizeof(sig), MSG_DONTWAIT);

	if (n > 0) {
		job_stopped(f, sig);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		(void)close(f->link);
		f->link = -1;
	}
}

/* Reading keys ended.  In the background we may not read: another process then took the terminal. */
static void no_keys(struct front *f)
{
	if (tty_is_gone(f->tty) || tty_is_ours(f->tty))
		terminal_gone(f);
	else
		f->raw = false;
}

static void pump(struct front *f, const struct pollfd *tty, const struct pollfd *master)
{
	if (tty->revents & (POLLHUP | POLLERR | POLLNVAL)) {
		terminal_gone(f);
		return;
	}
	if ((master->revents & (POLLIN | POLLHUP) || tty->revents & POLLOUT) && f->master >= 0 &&
	    pump_screen(f) == -EPIPE)
		terminal_gone(f);
	if ((tty->revents & POLLIN || master->revents & POLLOUT) && f->master >= 0 && pump_keys(f) == -EIO)
		no_keys(f);
}

void relay_run(struct front *f)
{
	while (!f->ended) {
		const short of_tty =
			(short)((f->raw && !f->keys.len ? POLLIN : 0) | (f->screen.len ? POLLOUT : 0));
		const short of_master = (short)((f->screen.len ? 0 : POLLIN) | (f->keys.len ? POLLOUT : 0));
		struct pollfd p[] = {
			{ .fd = f->gone ? -1 : f->tty, .events = of_tty },
			/* A descriptor that is hung up is always ready, so it is not polled. */
			{ .fd = of_master ? f->master : -1, .events = of_master },
			{ .fd = f->link, .events = POLLIN },
			{ .fd = f->sigfd, .events = POLLIN },
		};

		if (poll(p, NELEM(p), -1) < 0)
			continue;
		if (p[3].revents)
			take_signals(f);
		if (!f->ended && p[2].revents && f->link >= 0)
			hear_back(f);
		pump(f, &p[0], &p[1]);
	}
	pump_drain(f);
	tty_give_back(f);
}
