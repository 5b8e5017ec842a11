/*
 * Messages: a denial is one line on the standard error of the process that failed, as the hooks write it.
 *
 * The descriptor is the caller's own, so its kind decides.  A line is written to a pipe, a terminal, one
 * end of a socketpair, and to a file if a program of the session was started with it as standard error or
 * if it is only appended to.  No line is written to a file that a program opened when descriptor 2 was
 * free, to a connection, or to a terminal while a program draws its screen.
 */
#include "tell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/base/fileop.h"
#include "policy/base/sockaddr.h"
#include "policy/file/procpath.h"
#include "policy/lesson/known_sockets.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/ids.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/supervisor.h"

#include "shm.h"

/* A write of up to PIPE_BUF bytes is not split. */
#define LINE_SIZE PIPE_BUF

#define CHOSEN_PORTS 32768u /* from here on the kernel chooses: ip_local_port_range, ip(7) */

/* In /proc/PID/fdinfo/N (proc(5)). */
#define FLAGS "\nflags:"

/* A program that reads single keys draws the screen itself: a line would spoil it. */
static bool takes_keys(int fd)
{
	struct termios t;

	return tcgetattr(fd, &t) < 0 || !(t.c_lflag & ICANON);
}

/* A known agent draws on the session's terminal from its first line on, before the terminal's mode shows
 * it. */
bool tell_is_drawn_on(struct caller *c, int fd, dev_t rdev)
{
	const struct supervisor_setup *s = session_setup(c->sup);

	return (s->draws && rdev == s->terminal) || takes_keys(fd);
}

static _Atomic uint64_t *file_slot(struct supervisor *s, const struct stat *st, uint64_t *ret_mark)
{
	*ret_mark = ((uint64_t)st->st_ino * 0x9e3779b97f4a7c15ull) ^ (uint64_t)st->st_dev;
	return &s->err_files[(*ret_mark >> 32) % SAID_MAX];
}

/* Descriptor 2 stays open in the program that is executed. */
static bool keeps_err(int proc)
{
	char info[128];
	const char *flags =
		file_read_small(proc, "fdinfo/2", info, sizeof(info)) > 0 ? strstr(info, FLAGS) : NULL;

	return flags && !(strtoul(flags + strlen(FLAGS), NULL, 8) & O_CLOEXEC);
}

void tell_begin(struct caller *c)
{
	int proc = caller_proc(c);
	uint64_t mark;
	struct stat st;

	if (proc >= 0 && fstatat(proc, "fd/2", &st, 0) == 0 && S_ISREG(st.st_mode) && keeps_err(proc))
		atomic_store(file_slot(c->sup, &st, &mark), mark);
}

/* As in the hooks: exec >log 2>&1. */
static bool is_stdout_too(struct caller *c)
{
	return syscall(SYS_kcmp, (long)c->tid, (long)c->tid, KCMP_FILE, 1, 2) == 0 && caller_alive(c);
}

static bool is_log(struct caller *c, int fd, const struct stat *st)
{
	int flags = fcntl(fd, F_GETFL);
	uint64_t mark;

	return is_stdout_too(c) || atomic_load(file_slot(c->sup, st, &mark)) == mark ||
	       (flags >= 0 && flags & O_APPEND);
}

/* As in the hooks: a socket with an address at either end carries a protocol, which a line would disturb. */
static bool is_socketpair(int fd)
{
	struct sockaddr_storage own = { 0 }, peer = { 0 };
	socklen_t n = sizeof(own), m = sizeof(peer), len = sizeof(int);
	int type = 0;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM &&
	       getsockname(fd, (struct sockaddr *)&own, &n) == 0 && own.ss_family == AF_UNIX &&
	       getpeername(fd, (struct sockaddr *)&peer, &m) == 0 && n == sizeof(sa_family_t) && m == n;
}

static bool may_talk(struct caller *c, int fd, const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFIFO:
		return true;
	case S_IFCHR:
		return !tell_is_drawn_on(c, fd, st->st_rdev);
	case S_IFSOCK:
		return is_socketpair(fd);
	default:
		return S_ISREG(st->st_mode) && is_log(c, fd, st);
	}
}

/* Never waits: the reader may be the caller itself.  Pipes support RWF_NOWAIT since Linux 5.5, terminals do
 * not. */
static void write_now(int fd, bool is_socket, const void *line, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	struct iovec iov = { (void *)line, len };

	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
		return;
	if (is_socket)
		(void)!send(fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	else if (pwritev2(fd, &iov, 1, -1, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP)
		(void)!write(fd, line, len);
}

static void tell_denial(struct caller *c, struct out *o)
{
	_cleanup_close_ int fd = c->err > 0 ? fcntl(c->err, F_DUPFD_CLOEXEC, 0) : caller_fd(c, STDERR_FILENO);

	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !may_talk(c, fd, &st))
		return;
	/* A line that fills the buffer is cut, but still ends with a newline. */
	if (o->len == o->cap)
		o->len--;
	o->failed = false;
	text_str(o, "\n");
	write_now(fd, S_ISSOCK(st.st_mode), o->p, o->len);
}

/* A decision is printed once per process.  For an exec, once per target whatever was decided, since
 * execvp(3) goes on to the next directory of PATH. */
static bool is_first(struct caller *c, enum op op, const char *target, uint32_t id)
{
	pid_t pid = caller_tgid(c);

	return mark_first(c->sup->said,
			  op == OP_EXEC ? ids_mark(&c->sup->ids, pid, op, target) : (uint64_t)pid << 32 | id);
}

/* For a denial that no rule made: appends the rule that would allow it, which the operator can add. */
static void put_rule(struct out *o, const struct request *req, const struct decision *d)
{
	const struct known_socket *known = req->op == OP_UNIX && req->path ? socket_known(req->path) : NULL;

	if (d->reason != REASON_HOST && d->reason != REASON_PROCESS)
		return;
	if (req->op == OP_UNIX && req->path) {
		text_str(o, known ? known->what : "who listens there is outside the fence");
		text_str(o, ": `unix = ");
		denial_text(o, req->path);
		text_str(o, "` in [network] would allow it");
	} else if (req->op == OP_BIND && req->has_addr) {
		text_str(o, "`bind = ");
		text_uint(o, req->port);
		text_str(o, "` in [network] would allow it");
	} else if (req->op == OP_CONNECT && d->reason == REASON_PROCESS) {
		text_str(o, req->is_datagram ? "`udp = " : "`allow = ");
		text_inet(o, req->addr);
		text_str(o, ":");
		text_uint(o, req->port);
		text_str(o, "` in [network] would allow it");
	} else if (d->reason == REASON_PROCESS && shm_is_entry(req->path)) {
		text_str(o, "`write = ");
		denial_text(o, req->path);
		text_str(o, "` in [files] would allow it");
	}
}

/* As in the hooks: the file has no permission for this user, or a new name would be made in a directory that
 * this user cannot write to. */
bool tell_is_refused_anyway(const struct request *req)
{
	int mode = access_mode(req->op, req->access);
	const char *slash = req->path && req->path[0] == '/' ? strrchr(req->path, '/') : NULL;
	char dir[LIMIT_PATH] UNINITIALIZED;

	if (!slash)
		return false;
	if (access(req->path, mode) == 0 || (errno != ENOENT && errno != EACCES))
		return false;
	if (errno == EACCES)
		return mode != F_OK;
	if (!op_makes(req->op) || slash == req->path)
		return false;
	(void)snprintf(dir, sizeof(dir), "%.*s", (int)(slash - req->path), req->path);
	return access(dir, W_OK) < 0 && errno == EACCES;
}

void tell_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		 const char *why, uint32_t id)
{
	char line[LINE_SIZE] UNINITIALIZED, reason[1024], more[LIMIT_PATH + 256];
	struct out o = out_of(line, sizeof(line)), m = out_of(more, sizeof(more));
	const struct denial s = {
		.op = req->op, .target = target, .reason = reason, .id = id, .more = more, .to_agent = true
	};
	const char *message = decision_message(&c->image, d);

	/* ps and top look into every process: a hundred lines would be useless.  Nor is a line written
	 * about what does not exist. */
	if (proc_is_look(req->op, d->reason, target) || decision_is_absence(d, req->op) ||
	    !is_first(c, req->op, target, id))
		return;
	denial_reason(&c->image, d, why, reason, sizeof(reason));
	if (message)
		text_str(&m, message);
	else
		put_rule(&m, req, d);
	text_end(&m);
	text_str(&o, "pale: ");
	denial_sentence(&o, &s);
	tell_denial(c, &o);
}

/* Of a port that the kernel chose, most likely, there is nothing to say: it is another one each time. */
void tell_narrowed(struct caller *c, const struct request *req, const char *target)
{
	char line[LINE_SIZE] UNINITIALIZED;
	struct out o = out_of(line, sizeof(line));

	if (req->port == 0 || req->port >= CHOSEN_PORTS ||
	    !mark_first(c->sup->said, ids_mark(&c->sup->ids, caller_tgid(c), req->op, target)))
		return;
	text_str(&o, "pale: port ");
	text_uint(&o, req->port);
	text_str(&o, " is reachable from this machine only; to open it: `bind = ");
	text_uint(&o, req->port);
	text_str(&o, "` in [network]");
	tell_denial(c, &o);
}

void tell_asking(struct caller *c, const struct request *req, const char *target)
{
	char line[LINE_SIZE] UNINITIALIZED;
	struct out o = out_of(line, sizeof(line));

	/* `env tool` asks for env and then, in the same process, for the tool: the line is written once per
	 * process. */
	if (req->op == OP_EXEC &&
	    !mark_first(c->sup->said, ids_mark(&c->sup->ids, caller_tgid(c), OP_COUNT, "")))
		return;
	text_str(&o, "pale: waiting for approval: ");
	text_str(&o, op_name(req->op));
	text_str(&o, " ");
	o.cap /= 2;
	denial_text(&o, target);
	o.cap = sizeof(line);
	o.failed = false;
	text_str(&o, "; answer from another terminal: pale pending");
	tell_denial(c, &o);
}
