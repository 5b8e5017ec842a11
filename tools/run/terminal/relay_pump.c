/*
 * Copies bytes between the operator's terminal and the agent's.  What is read is written at once; bytes
 * that are not accepted wait, and nothing more is read until they are written.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"

#include "relay.h"

#define ROUNDS	  32 /* most reads of the agent's output in one call */
#define LOOK_MS	  100
#define DRAIN_MAX (16u << 20) /* a process that still runs may write for ever */

static int pump_fill(struct pump *p, int fd)
{
	ssize_t n = read(fd, p->buf, sizeof(p->buf));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n <= 0)
		return -EIO;
	p->at = 0;
	p->len = (size_t)n;
	return 0;
}

static int pump_empty(struct pump *p, int fd)
{
	while (p->len) {
		ssize_t n = write(fd, p->buf + p->at, p->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -EAGAIN : -EPIPE;
		p->at += (size_t)n;
		p->len -= (size_t)n;
	}
	return 0;
}

int pump_keys(struct front *f)
{
	int r = 0;

	if (!f->keys.len && f->raw)
		r = pump_fill(&f->keys, f->tty);
	if (r == 0)
		r = pump_empty(&f->keys, f->master);
	return r == -EAGAIN ? 0 : r;
}

/* While the operator's terminal is not raw, it turns "\n" into "\r\n", which the pty has done already. */
static void undo_newlines(struct pump *p)
{
	char *to = p->buf;

	for (size_t i = 0; i < p->len; i++)
		if (p->buf[i] != '\r' || i + 1 == p->len || p->buf[i + 1] != '\n')
			*to++ = p->buf[i];
	p->len = (size_t)(to - p->buf);
}

/* One read and its write. */
static int pump_step(struct front *f)
{
	int r = 0;

	if (!f->screen.len) {
		r = pump_fill(&f->screen, f->master);
		if (r == 0 && !f->raw)
			undo_newlines(&f->screen);
	}
	return r < 0 ? r : pump_empty(&f->screen, f->tty);
}

int pump_screen(struct front *f)
{
	int r = 0;

	for (int i = 0; r == 0 && i < ROUNDS; i++)
		r = pump_step(f);
	return r == -EAGAIN ? 0 : r;
}

/* A signal that ends us is pending.  It is not consumed: the loop reads it next. */
static bool told_to_end(void)
{
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < NELEM(ends); i++)
		if (sigismember(&pending, ends[i]))
			return true;
	return false;
}

/* Waits until the operator's terminal accepts more: the operator may hold it by ^S for any time. */
static bool wait_for_operator(const struct front *f)
{
	struct pollfd p = { .fd = f->tty, .events = POLLOUT };

	while (!told_to_end())
		if (poll(&p, 1, LOOK_MS) > 0)
			return !(p.revents & (POLLHUP | POLLERR | POLLNVAL));
	return false;
}

void pump_drain(struct front *f)
{
	size_t done = 0;
	int r = 0;

	while (!f->gone && f->master >= 0 && done < DRAIN_MAX) {
		r = pump_step(f);
		/* Nothing is left to read, or the reader is gone. */
		if (r < 0 && (r != -EAGAIN || !f->screen.len))
			return;
		if (r == -EAGAIN && !wait_for_operator(f))
			return;
		done += f->screen.at;
	}
}
