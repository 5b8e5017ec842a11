/* A program that runs to its end: see courier_run.h. */
#include "courier_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#define ERR_MAX (32u << 10)

struct text {
	char *p;
	size_t len, cap, max;
	bool keep_last, full;
};

/* Reads what is there.  False at the end. */
static bool take(int fd, struct text *t)
{
	ssize_t n;

	if (t->keep_last && t->len >= t->max) {
		memmove(t->p, t->p + t->max / 2, t->len - t->max / 2);
		t->len -= t->max / 2;
	}
	if (t->cap - t->len < 4097) {
		size_t cap = t->cap ? 2 * t->cap : 8192;
		char *p = realloc(t->p, cap);

		if (!p) {
			t->full = true;
			return false;
		}
		t->p = p;
		t->cap = cap;
	}
	n = read(fd, t->p + t->len, t->cap - t->len - 1);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	t->len += (size_t)n;
	t->full |= !t->keep_last && t->len > t->max;
	return n > 0 && !t->full;
}

static _Noreturn void child(const struct run *r, int out, int err)
{
	sigset_t none;
	int in = open("/dev/null", O_RDONLY);

	(void)setsid();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || chdir("/") < 0 ||
	    close_range(3, ~0u, 0) < 0)
		_exit(125);
	(void)execve(r->argv[0], (char *const *)r->argv, (char *const *)r->env);
	dprintf(2, "fatal: git cannot be executed: %s\n", strerror(errno));
	_exit(126);
}

/* A program that it leaves behind, such as a cache of credentials, may keep the pipes: the end is the
 * process's. */
static void listen_to(const struct run *r, struct pollfd p[3], struct text *out, struct text *err)
{
	int64_t end = clock_awake_ms() + (int64_t)r->seconds * 1000, left;

	while ((left = end - clock_awake_ms()) > 0 && !out->full) {
		int n = poll(p, 3, (int)left);

		if (n < 0 && errno != EINTR)
			return;
		if (n <= 0)
			continue;
		if (p[0].revents && !take(p[0].fd, out))
			p[0].fd = -1;
		if (p[1].revents && !take(p[1].fd, err))
			p[1].fd = -1;
		if (p[2].revents && !(p[0].revents & POLLIN) && !(p[1].revents & POLLIN))
			return;
	}
}

static int await(struct run *r, pid_t pid, int fds[2])
{
	struct text out = { .max = r->out_max }, err = { .max = ERR_MAX, .keep_last = true };
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p[3] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN, 0 }, { pidfd, POLLIN, 0 } };
	siginfo_t how = { 0 };

	listen_to(r, p, &out, &err);
	/* The first that it started has its number, until it is waited for. */
	if (waitid(P_PID, (id_t)pid, &how, WEXITED | WNOHANG | WNOWAIT) < 0 || how.si_pid == 0) {
		(void)kill(-pid, SIGKILL);
		(void)kill(pid, SIGKILL);
	}
	while (waitid(P_PID, (id_t)pid, &how, WEXITED) < 0 && errno == EINTR)
		;
	r->status = how.si_code == CLD_EXITED && !out.full ? how.si_status : -1;
	r->out = out.p ?: strdup("");
	r->err = err.p ?: strdup("");
	if (!r->out || !r->err)
		return -ENOMEM;
	r->out[out.p ? out.len : 0] = r->err[err.p ? err.len : 0] = '\0';
	r->out_len = out.len;
	return 0;
}

int run_program(struct run *r)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, e = 0;
	pid_t pid = -1;

	r->out = r->err = NULL;
	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0 || pipe2(err, O_CLOEXEC | O_NONBLOCK) < 0)
		e = -errno;
	/* Only our own ends do not wait. */
	if (e == 0 && (fcntl(out[1], F_SETFL, 0) < 0 || fcntl(err[1], F_SETFL, 0) < 0))
		e = -errno;
	if (e == 0 && (pid = fork()) < 0)
		e = -errno;
	if (pid == 0)
		child(r, out[1], err[1]);
	cleanup_close(&out[1]);
	cleanup_close(&err[1]);
	if (e == 0)
		e = await(r, pid, (int[]){ out[0], err[0] });
	cleanup_close(&out[0]);
	cleanup_close(&err[0]);
	return e;
}

void run_done(struct run *r)
{
	free(r->out);
	free(r->err);
	r->out = r->err = NULL;
}
