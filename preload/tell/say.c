/*
 * Reports denials: one line on the stderr of the process that failed, once per rule and target, so that the
 * agent learns which rule stopped it and does not repeat the attempt for ever.
 */
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

#include "policy/base/fileop.h"
#include "policy/wire/wire.h"

#include "preload/process/process.h"
#include "preload/process/raw.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "log.h"

#define SAY_SIZE    16384
#define REASON_SIZE 1024 /* the last bytes of the line's memory: the stack may be small */

/* True the first time that this process reports this mark. */
static bool say_first_time(uint32_t mark)
{
	uint32_t seen;

	if (!process)
		return true;
	for (unsigned i = 0; i < SAID_SLOTS; i++) {
		uint32_t *slot = &process->said[(mark + i) % SAID_SLOTS];

		seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
		if (seen == mark)
			return false;
		if (seen == 0 &&
		    __atomic_compare_exchange_n(slot, &seen, mark, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return true;
}

/*
 * True unless the last denied exec of this process had the same target: execvp(3) goes on to the next
 * directory of PATH, whatever was decided.  A vfork child shares its parent's page, so its pid is part of
 * the mark.
 */
static bool exec_first_time(const char *target)
{
	static const struct decision any;
	uint32_t mark = denial_mark(OP_EXEC, target, &any, "") + (uint32_t)raw0(SYS_getpid);

	return !process || __atomic_exchange_n(&process->said_exec, mark, __ATOMIC_RELAXED) != mark;
}

/* True for one end of a socketpair, which node and Bun give their children as stderr.  A socket with a name
 * at either end belongs to another protocol. */
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

/* The file that was descriptor 2 when the program started; zero if that was closed. */
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

/*
 * False for a file that the program opened as descriptor 2 after it had closed its stderr.  True for the
 * first stderr, for a file that is stdout as well, by one open (exec >log 2>&1), or is open for appending,
 * and, for an exec, for a descriptor 2 that the new program inherits.
 */
static bool is_log(const struct stat *st, enum op op)
{
	long pid = raw0(SYS_getpid);

	return (st->st_dev == first_stderr.dev && st->st_ino == first_stderr.ino) ||
	       (first_stderr.ino != 0 && raw5(SYS_kcmp, pid, pid, KCMP_FILE, 1, 2) == 0) ||
	       raw2(SYS_fcntl, 2, F_GETFL) & O_APPEND || (op == OP_EXEC && raw2(SYS_fcntl, 2, F_GETFD) == 0);
}

/* True if the program draws the screen itself (it reads single keys): a line would spoil the screen.  The
 * supervisor knows more about the screen, so it is asked if there is one. */
static bool is_drawn_on(void)
{
	struct termios t;
	long r = level_now() == LEVEL_HOOKS ? -ENOTTY : raw3(SYS_ioctl, 2, WIRE_DENIED, NULL);

	if (r >= 0)
		return r != 0;
	return raw3(SYS_ioctl, 2, TCGETS, &t) == 0 && !(t.c_lflag & ICANON);
}

/* Writes to a pipe.  If no process reads it, the kernel sends SIGPIPE to the writer; but the program did not
 * write this, so the signal is taken away. */
static void write_pipe(const struct out *o)
{
	const uint64_t sigpipe = 1ull << (SIGPIPE - 1);
	const struct timespec now = { 0 };
	uint64_t mask, pending = 0;

	if (raw4(SYS_rt_sigprocmask, SIG_BLOCK, &sigpipe, &mask, sizeof mask) < 0)
		return;
	raw2(SYS_rt_sigpending, &pending, sizeof pending);
	if (raw3(SYS_write, 2, o->p, o->len) == -EPIPE && !(pending & sigpipe))
		raw4(SYS_rt_sigtimedwait, &sigpipe, NULL, &now, sizeof sigpipe);
	raw4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

/* Writes the line to stderr, unless descriptor 2 is something else, such as a connection or a directory. */
static void say_line(struct out *o, enum op op)
{
	struct stat st;

	text_str(o, "\n");
	if (raw2(SYS_fstat, 2, &st) < 0)
		return;
	if (S_ISFIFO(st.st_mode))
		write_pipe(o);
	else if ((S_ISCHR(st.st_mode) && !is_drawn_on()) || (S_ISREG(st.st_mode) && is_log(&st, op)))
		raw3(SYS_write, 2, o->p, o->len);
	else if (S_ISSOCK(st.st_mode) && is_socketpair())
		raw6(SYS_sendto, 2, RAW_ARG(o->p), RAW_ARG(o->len), MSG_NOSIGNAL, 0, 0);
}

void say_text(const char *text)
{
	char line[256];
	struct out o = out_of(line, sizeof line);

	text_str(&o, text);
	say_line(&o, OP_ATTACH);
}

/* True for a file that has no permission for this user, and for a new name in a directory that this user
 * cannot write to: the policy is not what refuses it (Python tries to cache each module below /usr/lib). */
static bool is_refused_anyway(const struct request *req)
{
	char dir[NEAR_PATH] UNINITIALIZED;
	int mode = access_mode(req->op, req->access);
	const char *path = req->path && req->path[0] == '/' ? path_own(req->path, dir) : NULL;
	char *slash = path ? strrchr(dir, '/') : NULL;
	long r = path ? raw3(SYS_faccessat, AT_FDCWD, dir, mode) : 0;

	if (r == -EACCES)
		return mode != F_OK;
	if (!slash || slash == dir || r != -ENOENT || !op_makes(req->op))
		return false;
	*slash = '\0';
	return raw3(SYS_faccessat, AT_FDCWD, dir, W_OK) == -EACCES;
}

void deny(const struct request *req, const char *target, const struct decision *d, const char *approval,
	  const char *why)
{
	struct denial denial = { .op = req->op, .target = target, .to_agent = true };
	bool is_quiet, is_live = state_now() == STATE_LIVE;
	char *line, *reason;
	struct out o;

	if (!is_live)
		why = "the session's policy cannot be read";
	is_quiet = decision_is_absence(d, req->op) || is_refused_anyway(req) ||
		   (req->op == OP_EXEC ? !exec_first_time(target)
				       : !say_first_time(denial_mark(req->op, target, d, why)));
	denial.id = log_denied(req, target, d, approval, why, &is_quiet);
	line = is_quiet ? NULL : scratch_get(SAY_SIZE);
	if (!line)
		return;
	reason = line + SAY_SIZE - REASON_SIZE;
	denial_reason(session.now, d, why, reason, REASON_SIZE);
	denial.reason = reason;
	denial.more = is_live ? decision_message(session.now, d) : NULL;
	o = out_of(line, SAY_SIZE - REASON_SIZE);
	text_str(&o, "pale: ");
	denial_sentence(&o, &denial);
	say_line(&o, req->op);
	scratch_put(line, SAY_SIZE);
}

void say_asking(const struct request *req, const char *target)
{
	struct out o;
	char *line = scratch_get(SAY_SIZE);

	if (!line)
		return;
	o = out_of(line, SAY_SIZE);
	text_str(&o, "pale: waiting for approval: ");
	text_str(&o, op_name(req->op));
	text_str(&o, " ");
	o.cap /= 2;
	denial_text(&o, target);
	o.cap = SAY_SIZE;
	o.failed = false;
	text_str(&o, "; answer from another terminal: pale pending");
	say_line(&o, req->op);
	scratch_put(line, SAY_SIZE);
}
