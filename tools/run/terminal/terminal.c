/*
 * The back's side of the agent's terminal: its foreground group, the messages to and from the front, and
 * the clean-up when the front was killed.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "terminal.h"

#define DYING_MS 1000

void terminal_hand(const struct terminal *t, pid_t group)
{
	if (t->is && t->fd >= 0)
		(void)tcsetpgrp(t->fd, group);
}

bool terminal_is_ours(const struct terminal *t)
{
	return t->is && t->fd >= 0 && tcgetpgrp(t->fd) == getpgrp();
}

void terminal_stopped(const struct terminal *t, int sig)
{
	const char byte = (char)sig;

	if (t->is && t->link >= 0)
		(void)!send(t->link, &byte, 1, MSG_NOSIGNAL);
}

/* The modes are the raw modes that the front set, so no other program has changed them. */
static bool is_raw(const struct termios *now, const struct termios *before)
{
	struct termios raw = *before;

	cfmakeraw(&raw);
	return now->c_iflag == raw.c_iflag && now->c_oflag == raw.c_oflag && now->c_lflag == raw.c_lflag;
}

/*
 * The front was killed.  A shell that already prompts has set modes of its own, which must stay.  The
 * terminal is not our controlling terminal, so this raises no SIGTTOU.
 */
static void put_in_order(struct terminal *t)
{
	struct termios now;

	if (t->fore && tcgetattr(t->theirs, &now) == 0 && is_raw(&now, &t->modes))
		(void)tcsetattr(t->theirs, TCSANOW, &t->modes);
}

int terminal_hear(struct terminal *t)
{
	char byte;
	ssize_t n;

	if (!t->is || t->link < 0)
		return 0;
	n = recv(t->link, &byte, 1, MSG_DONTWAIT);
	if (n == 1) {
		t->fore = byte == RELAY_FRONT;
		t->gone |= byte == RELAY_GONE;
		return byte;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	put_in_order(t);
	(void)close(t->link);
	t->link = -1;
	return 0;
}

void terminal_end(const struct terminal *t)
{
	struct termios modes;

	if (!t->is || t->fd < 0)
		return;
	terminal_hand(t, getpgrp());
	/* The process that stopped the output may be gone; our messages would wait for ever. */
	(void)tcflow(t->fd, TCOON);
	if (tcgetattr(t->fd, &modes) < 0)
		return;
	modes.c_oflag |= OPOST | ONLCR;
	modes.c_lflag |= ISIG;
	(void)tcsetattr(t->fd, TCSANOW, &modes);
}

static bool is_hung_up(const struct terminal *t)
{
	struct pollfd p = { .fd = t->fd };

	return t->fd < 0 || (poll(&p, 1, 0) > 0 && p.revents & POLLHUP);
}

/*
 * A killed front's descriptors close one by one: the agent may end by the hang-up before our connection
 * closes.
 */
void terminal_done(struct terminal *t)
{
	struct pollfd p = { .events = POLLIN };

	if (!t->is)
		return;
	while (terminal_hear(t))
		;
	p.fd = t->link;
	if (!is_hung_up(t))
		terminal_end(t);
	else if (!t->gone && t->link >= 0 && poll(&p, 1, DYING_MS) > 0)
		(void)terminal_hear(t);
}
