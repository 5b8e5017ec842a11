/*
 * Splits this process in two, with a pty between them.
 *
 * The shell's child stays the front, since only it can be the job that the shell stops and waits for; the
 * rest of pale run moves into the new child, which can therefore lead a session.  The split comes first, so
 * the front holds no socket, no policy, and no secret except typed keys.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/base/util.h"

#include "tools/base/options.h"
#include "tools/base/output.h"

#include "relay.h"

static const int served[] = { SIGTERM, SIGINT,	SIGHUP,	 SIGQUIT, SIGUSR1,
			      SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD, SIGWINCH };

struct split {
	int tty, master, slave, link[2];
	dev_t number; /* of the operator's terminal */
	bool at_once; /* the agent starts with the terminal: no other process of a pipeline can want it */
	struct termios modes;
	struct winsize size;
};

static int open_pty(struct split *s)
{
	s->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (s->master < 0 || grantpt(s->master) < 0 || unlockpt(s->master) < 0)
		return -errno;
	/* Opened through the master, not by name: /dev/pts may be of another mount (Linux 4.13). */
	s->slave = ioctl(s->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (s->slave < 0 || tcsetattr(s->slave, TCSANOW, &s->modes) < 0)
		return -errno;
	(void)ioctl(s->slave, TIOCSWINSZ, &s->size);
	return 0;
}

static bool is_theirs(const struct split *s, int fd)
{
	return tty_number(fd) == s->number;
}

/* 0 or -errno. */
static int prepare(struct split *s)
{
	s->number = tty_number(s->tty);
	if (tcgetattr(s->tty, &s->modes) < 0)
		return -errno;
	(void)ioctl(s->tty, TIOCGWINSZ, &s->size);
	s->at_once = is_theirs(s, STDIN_FILENO) && is_theirs(s, STDOUT_FILENO) && tty_is_ours(s->tty);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->link) < 0)
		return -errno;
	return open_pty(s);
}

/* --- the back --------------------------------------------------------------------------------------- */

/* Replaces each descriptor of the operator's terminal that would reach the agent by one of the pty; others
 * stay. */
static int replace_descriptors(const struct split *s)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d))) {
		int fd = (int)strtol(e->d_name, NULL, 10), flags = fcntl(fd, F_GETFD);

		if (e->d_name[0] == '.' || flags < 0 || flags & FD_CLOEXEC || !is_theirs(s, fd))
			continue;
		if (dup2(s->slave, fd) < 0)
			r = -errno;
	}
	closedir(d);
	return r;
}

static enum relay_side be_back(struct split *s, const sigset_t *mask, int sigfd, struct terminal *t)
{
	(void)close(s->master);
	(void)close(s->link[0]);
	(void)close(sigfd);
	*t = (struct terminal){
		.is = true,
		.fore = s->at_once,
		.fd = s->slave,
		.link = s->link[1],
		.theirs = s->tty,
		.modes = s->modes,
	};
	if (setsid() < 0 || ioctl(s->slave, TIOCSCTTY, 0) < 0 || replace_descriptors(s) < 0) {
		talk("the agent's own terminal cannot be set up: %s", strerror(errno));
		_exit(EXIT_PALE);
	}
	sigprocmask(SIG_SETMASK, mask, NULL);
	return RELAY_IS_BACK;
}

/* --- the front -------------------------------------------------------------------------------------- */

/* The other end of a pipe must see end of file when the agent closes it, not when we do. */
static void let_go_of_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	if (null > STDERR_FILENO)
		(void)close(null);
}

static void be_front(struct split *s, struct front *f, struct relay_end *end)
{
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)close(s->slave);
	(void)close(s->link[1]);
	let_go_of_streams();
	f->tty = s->tty;
	f->master = s->master;
	f->link = s->link[0];
	f->given = s->modes;
	f->keen = s->at_once;
	tty_pass_size(f);
	if (f->keen)
		(void)tty_take(f);
	relay_run(f);
	if (WIFSIGNALED(f->status))
		end->signal = WTERMSIG(f->status);
	else
		end->code = WEXITSTATUS(f->status);
	sigprocmask(SIG_SETMASK, &f->old_mask, NULL);
}

/* Blocks the signals before the fork, so that none is lost.  SIGTTIN and SIGTTOU are for the agent, on its
 * own terminal. */
static int block_signals(struct front *f)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NELEM(served); i++)
		sigaddset(&set, served[i]);
	f->sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (f->sigfd < 0)
		return -errno;
	sigaddset(&set, SIGTTIN);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &f->old_mask);
	return 0;
}

static enum relay_side refuse_relay(int error, struct relay_end *end)
{
	talk("cannot make a terminal for the agent: %s; it may not use yours; to run without one, start pale "
	     "by setsid(1) with all three standard streams redirected",
	     strerror(-error));
	*end = (struct relay_end){ .code = EXIT_PALE };
	return RELAY_OVER;
}

enum relay_side relay_split(struct terminal *t, struct relay_end *end)
{
	static struct front f;
	struct split s = { .tty = tty_find() };
	int r;

	*end = (struct relay_end){ 0 };
	if (s.tty < 0)
		return RELAY_NONE;
	r = prepare(&s);
	if (r == 0)
		r = block_signals(&f);
	if (r < 0)
		return refuse_relay(r, end);
	f.back = fork();
	if (f.back < 0)
		return refuse_relay(-errno, end);
	if (f.back == 0)
		return be_back(&s, &f.old_mask, f.sigfd, t);
	be_front(&s, &f, end);
	return RELAY_OVER;
}
