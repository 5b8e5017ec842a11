/*
 * Say it: a denial is one line on the standard error of the process that failed, as the hooks write it.
 *
 * The descriptor is the caller's own, so what it is decides: the session's standard error, a pipe or a
 * terminal is talked to; a file or a connection that happens to be descriptor 2 never is.  Nor is a terminal
 * while a program draws its screen: what would be said on the session's is told when that is over.
 */
#include "tools/supervisor/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>
#include <termios.h>

#include "policy/buf.h"
#include "policy/sockets.h"

#include "tools/tools.h"
#include "tools/unsaid.h"

/* What PIPE_BUF promises to be written whole. */
#define LINE_SIZE PIPE_BUF

/* A program that takes keys one by one draws the screen itself: a line would smear it. */
static bool takes_keys(int fd)
{
	struct termios t;

	return tcgetattr(fd, &t) < 0 || !(t.c_lflag & ICANON);
}

/* A terminal on which this denial is not to be said now. */
static bool is_drawn_on(struct caller *c, int fd, dev_t rdev, unsigned id)
{
	const struct supervisor_setup *s = session_setup(c->sup);

	if (!s->unsaid || rdev != s->terminal)
		return takes_keys(fd);
	if (!s->unsaid->draws && !atomic_load(&s->unsaid->alternate) && !takes_keys(fd))
		return false;
	unsaid_note(s->unsaid, id);
	return true;
}

static bool may_talk(struct caller *c, int fd, unsigned id)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (S_ISFIFO(st.st_mode))
		return true;
	if (S_ISCHR(st.st_mode))
		return st.st_rdev == caller_tty(c) && !is_drawn_on(c, fd, st.st_rdev, id);
	return S_ISREG(st.st_mode) && st.st_dev == c->sup->err_dev && st.st_ino == c->sup->err_ino;
}

/* Never waits: the reader may be the caller itself.  A pipe knows RWF_NOWAIT since Linux 5.5, a terminal
 * does not. */
static void write_now(int fd, const void *line, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	struct iovec iov = { (void *)line, len };

	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
		return;
	if (pwritev2(fd, &iov, 1, -1, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP)
		(void)!write(fd, line, len);
}

int tell_may(struct caller *c)
{
	_cleanup_close_ int fd = caller_fd(c, (int)c->arg[0]);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !isatty(fd))
		return -ENOTTY;
	return is_drawn_on(c, fd, st.st_rdev, (unsigned)c->arg[2]) ? -EBUSY : 0;
}

static void tell(struct caller *c, struct out *o, unsigned id)
{
	_cleanup_close_ int fd = c->err > 0 ? fcntl(c->err, F_DUPFD_CLOEXEC, 0) : caller_fd(c, STDERR_FILENO);

	if (fd < 0 || !may_talk(c, fd, id))
		return;
	/* A line that fills the room is cut, but ends. */
	if (o->len == o->cap)
		o->len--;
	o->failed = false;
	text_str(o, "\n");
	write_now(fd, o->p, o->len);
}

/* A process is told once of a decision, but of each exec: it is new each time. */
static bool is_first(struct caller *c, enum op op, unsigned id)
{
	uint64_t mark = (uint64_t)caller_tgid(c) << 17 | 1u << 16 | id;

	return op == OP_EXEC || mark_first(c->sup->said, mark);
}

/* ps and top look into every process there is: a hundred lines would say nothing. */
static bool is_silent(const struct request *req, const struct decision *d)
{
	return d->reason == REASON_PROCESS && req->op == OP_READ;
}

/* Which rule would change it, where no rule has spoken; who writes that is the operator. */
static void put_rule(struct out *o, const struct request *req, const struct decision *d)
{
	const struct known_socket *known = req->op == OP_UNIX && req->path ? socket_known(req->path) : NULL;

	if (d->reason != REASON_HOST && d->reason != REASON_PROCESS)
		return;
	if (req->op == OP_UNIX && req->path) {
		text_str(o, "; ");
		text_str(o, known ? known->what : "who listens there is outside the fence");
		text_str(o, ": `unix = ");
		text_escaped(o, req->path, strlen(req->path));
		text_str(o, "` in [network] would allow it");
	} else if (req->op == OP_BIND && req->has_addr) {
		text_str(o, "; `bind = ");
		text_uint(o, req->port);
		text_str(o, "` in [network] would allow it");
	}
}

void tell_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		 const char *text)
{
	const char *message = decision_message(&c->image, d);
	const unsigned id = decision_id(req->op, target, d);
	bool said = d->reason == REASON_HUMAN;
	char line[LINE_SIZE] UNINITIALIZED;
	struct out o = out_of(line, sizeof(line));

	if (is_silent(req, d) || !is_first(c, req->op, id))
		return;
	text_str(&o, "pale: ");
	denial_put(&o, &c->image, req->op, target, d, said ? "" : text);
	if (said && *text) {
		text_str(&o, "; said: ");
		text_escaped(&o, text, strlen(text));
	}
	if (message) {
		text_str(&o, "; ");
		text_str(&o, message);
	} else {
		put_rule(&o, req, d);
	}
	if (req->op == OP_EXEC)
		text_str(&o, "; do not retry, choose another way");
	tell(c, &o, id);
}

void tell_narrowed(struct caller *c, const struct request *req, const char *target, const struct decision *d)
{
	char line[LINE_SIZE] UNINITIALIZED;
	struct out o = out_of(line, sizeof(line));

	if (!is_first(c, req->op, decision_id(req->op, target, d)))
		return;
	text_str(&o, "pale: this machine alone is served at port ");
	text_uint(&o, req->port);
	text_str(&o, "; `bind = ");
	text_uint(&o, req->port);
	text_str(&o, "` in [network] would open it to others");
	tell(c, &o, WIRE_SAY_NO_ID);
}

void tell_asking(struct caller *c, const struct request *req, const char *target)
{
	char line[LINE_SIZE] UNINITIALIZED;
	struct out o = out_of(line, sizeof(line));

	text_str(&o, "pale: waiting for approval: ");
	text_str(&o, op_name(req->op));
	text_str(&o, " ");
	text_escaped(&o, target, strnlen(target, LINE_SIZE / 8));
	text_str(&o, "; answer from another terminal: pale pending");
	tell(c, &o, WIRE_SAY_NO_ID);
}
