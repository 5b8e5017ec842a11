/*
 * Finds the operator's terminal, takes it and gives it back.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "relay.h"

#define STANDARD_FDS 3
#define PTMX	     makedev(5, 2) /* Documentation/admin-guide/devices.txt */
#define OPEN_TTY     (O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)

dev_t tty_number(int fd)
{
	unsigned nr;
	struct stat st;

	/* A master reports its slave's number. */
	if (fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev == PTMX || ioctl(fd, TIOCGDEV, &nr) < 0)
		return 0;
	/* The encoding of the kernel's new_encode_dev(). */
	return makedev(nr >> 8 & 0xfff, (nr & 0xff) | (nr >> 12 & 0xfff00));
}

/* Opens the same terminal again with a file description of its own, where that is possible. */
static int opened_anew(int fd)
{
	char path[64];
	int own;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, OPEN_TTY);
	if (own >= 0 && tty_number(own) == tty_number(fd))
		return own;
	if (own >= 0)
		(void)close(own);
	/* After su(1) another user may own the terminal: our writes may block then, and the whole loop with
	 * them. */
	return fcntl(fd, F_DUPFD_CLOEXEC, STANDARD_FDS);
}

int tty_find(void)
{
	int controlling = open("/dev/tty", OPEN_TTY), fd = 0;
	dev_t nr = 0;

	while (fd < STANDARD_FDS && !(nr = tty_number(fd)))
		fd++;
	if (!nr || (controlling >= 0 && tty_number(controlling) == nr))
		return controlling;
	if (controlling >= 0)
		(void)close(controlling);
	return opened_anew(fd);
}

bool tty_is_ours(int tty)
{
	pid_t group = tcgetpgrp(tty);

	/* ENOTTY: it is not our controlling terminal, so it has no foreground group for us. */
	return group < 0 ? errno == ENOTTY : group == getpgrp();
}

void tty_pass_size(const struct front *f)
{
	struct winsize size;

	if (f->master >= 0 && ioctl(f->tty, TIOCGWINSZ, &size) == 0)
		(void)ioctl(f->master, TIOCSWINSZ, &size);
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_lflag == b->c_lflag &&
	       memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

/*
 * Modes of the pty that no program changed follow the operator's terminal.  A job that starts in the
 * background finds the modes of the shell's line editor there, and later, in the foreground, the usual
 * ones.
 */
static void pass_modes(struct front *f)
{
	struct termios now;

	if (f->master < 0 || tcgetattr(f->master, &now) < 0 || !same_modes(&now, &f->given))
		return;
	/* A master's modes are its slave's. */
	if (tcsetattr(f->master, TCSANOW, &f->modes) == 0)
		f->given = f->modes;
}

bool tty_take(struct front *f)
{
	struct termios raw;

	/* After a SIGSTOP, before which no modes were restored, f->raw is still set and f->modes are still
	 * valid. */
	if (!f->raw && tcgetattr(f->tty, &f->modes) < 0)
		return false;
	raw = f->modes;
	cfmakeraw(&raw);
	tty_pass_size(f);
	pass_modes(f);
	f->raw = tcsetattr(f->tty, TCSANOW, &raw) == 0;
	return f->raw;
}

void tty_give_back(struct front *f)
{
	if (f->raw)
		(void)tcsetattr(f->tty, TCSANOW, &f->modes);
	f->raw = false;
}

bool tty_is_gone(int tty)
{
	struct pollfd p = { .fd = tty };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLNVAL);
}
