/*
 * Passes on the agent's output: one thread for each of the two streams, so that a reader that does not read
 * blocks only its own stream, as it would without us.
 *
 * When a reader is gone, we close our end of the agent's pipe: the agent's next write gets SIGPIPE.  Where
 * both streams are one file (2>&1) they share one pipe, which keeps their order.
 */
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/thread.h"

#define BUFFER	  (64 * 1024)
#define PIPE_SIZE (256 * 1024)
#define STACK	  (256 * 1024)
#define HURRY_S	  1

struct stream {
	int fd;	      /* where the stream goes: 1 or 2, which we never close */
	int from, to; /* the pipe */
	int stop;     /* becomes readable when no more output will come; borrowed */
	struct outlog log;
	int error; /* -errno of the operator's file */
	pthread_t thread;
	bool runs, stands;
	char buf[BUFFER];
};

struct outputs {
	struct stream *of[OUTPUT_COUNT]; /* NULL: a terminal, or the same as the first */
	bool joined;			 /* standard error goes where standard output goes */
	int stop;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* --- a thread --- */

/* 0 or -errno of the operator's file, which may be non-blocking (EAGAIN). */
static int pass_on(const struct stream *s, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(s->fd, buf, len);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = s->fd, .events = POLLOUT };

			(void)poll(&p, 1, -1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Waits until there is something to read, or no more output will come. */
static bool wait_more(const struct stream *s)
{
	struct pollfd p[] = { { .fd = s->from, .events = POLLIN }, { .fd = s->stop, .events = POLLIN } };

	while (poll(p, NELEM(p), -1) < 0 && errno == EINTR)
		;
	return p[0].revents != 0;
}

static void *pump(void *arg)
{
	struct stream *s = arg;

	while (wait_more(s)) {
		ssize_t n = read(s->from, s->buf, sizeof(s->buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		outlog_write(&s->log, s->buf, (size_t)n);
		s->error = pass_on(s, s->buf, (size_t)n);
		if (s->error < 0)
			break;
	}
	close_fd(&s->from);
	return NULL;
}

/* --- setting up --- */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool same_file(int a, int b)
{
	pid_t self = getpid();

	return syscall(SYS_kcmp, self, self, KCMP_FILE, a, b) == 0;
}

static void stream_free(struct stream *s)
{
	if (!s)
		return;
	close_fd(&s->from);
	close_fd(&s->to);
	outlog_close(&s->log);
	free(s);
}

/* 0 with *ret, or -errno. */
static int stream_new(struct stream **ret, int dirfd, const char *id, enum output which, uint64_t bytes)
{
	struct stream *s = calloc(1, sizeof(*s));
	int fds[2], r;

	if (!s)
		return -ENOMEM;
	s->fd = which == OUTPUT_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
	s->from = s->to = s->log.fd = -1;
	r = pipe2(fds, O_CLOEXEC) < 0 ? -errno : 0;
	if (r == 0) {
		s->from = fds[0];
		s->to = fds[1];
		(void)fcntl(s->to, F_SETPIPE_SZ, PIPE_SIZE);
		r = outlog_open(&s->log, dirfd, id, which, bytes);
	}
	if (r < 0)
		stream_free(s);
	else
		*ret = s;
	return r;
}

static void outputs_free(struct outputs *o)
{
	for (size_t i = 0; o && i < OUTPUT_COUNT; i++)
		stream_free(o->of[i]);
	if (o)
		close_fd(&o->stop);
	free(o);
}

static int open_streams(struct outputs *o, int dirfd, const char *id, uint64_t bytes)
{
	bool out = is_open(STDOUT_FILENO) && !isatty(STDOUT_FILENO);
	bool err = is_open(STDERR_FILENO) && !isatty(STDERR_FILENO);
	int r = 0;

	o->joined = out && err && same_file(STDOUT_FILENO, STDERR_FILENO);
	if (out)
		r = stream_new(&o->of[OUTPUT_STDOUT], dirfd, id, OUTPUT_STDOUT, bytes);
	if (r == 0 && err && !o->joined)
		r = stream_new(&o->of[OUTPUT_STDERR], dirfd, id, OUTPUT_STDERR, bytes);
	return r;
}

struct outputs *outputs_open(const char *dir, const char *id, uint64_t bytes)
{
	struct outputs *o = dir ? calloc(1, sizeof(*o)) : NULL;
	_cleanup_close_ int dirfd = -1;
	int r;

	if (!o)
		return NULL;
	o->stop = eventfd(0, EFD_CLOEXEC);
	dirfd = o->stop < 0 ? -errno : outlog_dir(dir);
	r = dirfd < 0 ? dirfd : open_streams(o, dirfd, id, bytes);
	if (r == 0 && (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO)))
		talk("output to the terminal is not logged; script(1) can log it");
	if (r == 0)
		return o;
	talk("session %s is not logged in %s: %s", id, dir,
	     r == -EPERM ? "others may write there, or it is not yours" : strerror(-r));
	outputs_free(o);
	return NULL;
}

void outputs_child(const struct outputs *o)
{
	if (!o)
		return;
	if (o->of[OUTPUT_STDOUT])
		(void)dup2(o->of[OUTPUT_STDOUT]->to, STDOUT_FILENO);
	if (o->of[OUTPUT_STDERR])
		(void)dup2(o->of[OUTPUT_STDERR]->to, STDERR_FILENO);
	else if (o->joined)
		(void)dup2(STDOUT_FILENO, STDERR_FILENO);
}

void outputs_start(struct outputs *o)
{
	for (size_t i = 0; o && i < OUTPUT_COUNT; i++) {
		struct stream *s = o->of[i];
		int r;

		if (!s)
			continue;
		close_fd(&s->to);
		s->stop = o->stop;
		r = thread_start(&s->thread, STACK, 0, pump, s);
		s->runs = r == 0;
		/* The reader is gone: the agent's next write fails. */
		if (r < 0)
			close_fd(&s->from);
		if (r < 0)
			s->error = r;
	}
}

/* A thread that waits for a blocked reader is left until the process exits, with all that it uses. */
static bool join_thread(struct stream *s, const struct timespec *until)
{
	int error = until ? pthread_clockjoin_np(s->thread, NULL, CLOCK_MONOTONIC, until)
			  : pthread_join(s->thread, NULL);

	s->stands = error != 0;
	return !s->stands;
}

static void tell_withheld(const struct stream *s)
{
	const char *name = s->fd == STDOUT_FILENO ? "standard output" : "standard error";

	if (s->stands) {
		talk("the rest of %s is lost: nothing reads it", name);
		return;
	}
	if (s->error < 0 && s->error != -EPIPE)
		talk("%s could not be written: %s", name, strerror(-s->error));
	if (s->log.error)
		talk("the log of %s ends early: %s", name, strerror(-s->log.error));
	else if (s->log.full)
		talk("the log of %s is full (log_size): the rest of it was not logged", name);
}

void outputs_close(struct outputs *o, bool hurry)
{
	struct timespec until;
	bool whole = true;

	if (!o)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += HURRY_S;
	(void)eventfd_write(o->stop, 1);
	for (size_t i = 0; i < OUTPUT_COUNT; i++)
		if (o->of[i] && o->of[i]->runs && !join_thread(o->of[i], hurry ? &until : NULL))
			whole = false;
	for (size_t i = 0; i < OUTPUT_COUNT; i++)
		if (o->of[i])
			tell_withheld(o->of[i]);
	if (whole)
		outputs_free(o);
}
