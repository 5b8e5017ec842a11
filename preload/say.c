/*
 * Say it: a denial is one line on the stderr of the process that failed, once per rule and target,
 * so that the agent learns what rule stopped it and does not try the same again for ever.
 */
#include "preload/internal.h"

#include <sys/ioctl.h>
#include <termios.h>

#include "policy/wire.h"

#include "preload/process.h"

#define SAY_SIZE 16384
#define SAY_TAIL 2048 /* room for what follows the target */

/* True the first time this process is told of this id.  An exec is always told: it is new each time. */
static bool say_first_time(enum op op, unsigned id)
{
	uint32_t mark = id + 1, seen;

	if (op == OP_EXEC || !process)
		return true;
	for (unsigned i = 0; i < SAID_SLOTS; i++) {
		uint32_t *slot = &process->said[(id + i) % SAID_SLOTS];

		seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
		if (seen == mark)
			return false;
		if (seen == 0 &&
		    __atomic_compare_exchange_n(slot, &seen, mark, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return true;
}

/* One end of a socketpair, as node and Bun give their children for stderr; a socket with a name at either end
 * carries somebody's protocol. */
static bool is_socketpair(void)
{
	static const long calls[] = { SYS_getsockname, SYS_getpeername };
	int type = 0;
	socklen_t len = sizeof(type);

	if (raw5(SYS_getsockopt, 2, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_STREAM)
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct sockaddr_storage name = { 0 };

		len = sizeof(name);
		if (raw3(calls[i], 2, &name, &len) < 0 || name.ss_family != AF_UNIX ||
		    len != sizeof(name.ss_family))
			return false;
	}
	return true;
}

/* The file that was descriptor 2 when the program started; none where it was closed. */
static struct {
	uint64_t dev, ino;
} first_stderr;

void say_init(void)
{
	struct stat st;

	if (raw2(SYS_fstat, 2, &st) < 0)
		return;
	first_stderr.dev = st.st_dev;
	first_stderr.ino = st.st_ino;
}

/* Not a file that the program opened after it had closed its stderr.  What is appended to is a log. */
static bool is_log(const struct stat *st)
{
	long flags = raw2(SYS_fcntl, 2, F_GETFL);

	return (st->st_dev == first_stderr.dev && st->st_ino == first_stderr.ino) ||
	       (flags >= 0 && flags & O_APPEND);
}

/* A program that takes keys one by one draws the screen itself: a line would smear it.  The supervisor knows
 * more of a screen, and tells later what was not said. */
static bool is_drawn_on(unsigned id)
{
	struct termios t;
	long r = raw3(SYS_ioctl, 2, WIRE_MAY_SAY, id);

	if (r != -ENOTTY)
		return r != 0;
	return raw3(SYS_ioctl, 2, TCGETS, &t) == 0 && !(t.c_lflag & ICANON);
}

/* stderr as a place to talk: not a connection or a directory that happens to be descriptor 2. */
static void say_line(struct out *o, unsigned id)
{
	struct stat st;

	text_str(o, "\n");
	if (raw2(SYS_fstat, 2, &st) < 0)
		return;
	if (S_ISFIFO(st.st_mode) || (S_ISCHR(st.st_mode) && !is_drawn_on(id)) ||
	    (S_ISREG(st.st_mode) && is_log(&st)))
		raw3(SYS_write, 2, o->p, o->len);
	else if (S_ISSOCK(st.st_mode) && is_socketpair())
		raw6(SYS_sendto, 2, RAW_ARG(o->p), RAW_ARG(o->len), MSG_NOSIGNAL, 0, 0);
}

/* "pale: denied OP TARGET"; a target that fills the line is cut, and what follows still has room. */
static void put_what(struct out *o, const char *what, const struct request *req, const char *target)
{
	size_t cap = o->cap;

	o->cap -= SAY_TAIL;
	text_str(o, what);
	text_str(o, op_name(req->op));
	text_str(o, " ");
	text_escaped(o, target, strlen(target));
	o->cap = cap;
	if (o->failed) {
		o->failed = false;
		text_str(o, "...");
	}
}

/* " (RULE: why)" */
static void put_why(struct out *o, const struct decision *d, const char *why)
{
	char rule[512];

	text_str(o, " (");
	if (state_now() == STATE_LIVE) {
		decision_describe(session.now, d, rule, sizeof rule);
		text_str(o, rule);
	} else {
		text_str(o, "the session's policy cannot be read");
	}
	if (*why) {
		text_str(o, ": ");
		text_escaped(o, why, strlen(why));
	}
	text_str(o, ")");
}

void say_denied(const struct request *req, const char *target, const struct decision *d, const char *text)
{
	unsigned id = decision_id(req->op, target, d);
	const char *message = state_now() == STATE_LIVE ? decision_message(session.now, d) : NULL;
	bool said = d->reason == REASON_HUMAN;
	struct out o;
	char *line;

	if (!say_first_time(req->op, id))
		return;
	line = scratch_get(SAY_SIZE);
	if (!line)
		return;
	o = out_of(line, SAY_SIZE);
	put_what(&o, "pale: denied ", req, target);
	put_why(&o, d, said ? "" : text);
	text_str(&o, " id=");
	text_hex(&o, id, 4);
	text_str(&o, "; see: pale explain ");
	text_hex(&o, id, 4);
	if (said && *text) {
		text_str(&o, "; said: ");
		text_escaped(&o, text, strlen(text));
	}
	if (message) {
		text_str(&o, "; ");
		text_str(&o, message);
	}
	if (req->op == OP_EXEC)
		text_str(&o, "; do not retry, choose another way");
	say_line(&o, id);
	scratch_put(line, SAY_SIZE);
}

void say_asking(const struct request *req, const char *target)
{
	struct out o;
	char *line = scratch_get(SAY_SIZE);

	if (!line)
		return;
	o = out_of(line, SAY_SIZE);
	put_what(&o, "pale: waiting for approval: ", req, target);
	text_str(&o, "; answer from another terminal: pale pending");
	say_line(&o, WIRE_SAY_NO_ID);
	scratch_put(line, SAY_SIZE);
}
