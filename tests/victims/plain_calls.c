/*
 * Asks the kernel itself, past the C library: what every caller may expect of a call that is carried.
 *
 *   threads N FILE   N threads read FILE at the same time
 *   fifo N FILE      N children open a FIFO that nobody writes, and are killed
 *   storm N DIR      makes and removes DIR N times under signals: nothing is done twice
 *   open FILE        once; its errno is the exit status
 *   wait FILE        opens FILE again and again until the answer changes; prints both
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

static const char *file;

static long raw_open(const char *path)
{
	return raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY, 0, 0, 0);
}

static void *open_in_thread(void *arg)
{
	long fd = raw_open(file);

	(void)arg;
	if (fd >= 0)
		close((int)fd);
	return fd >= 0 ? NULL : (void *)-fd;
}

static int do_threads(int n)
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	pthread_attr_t small;
	void *r;
	int bad = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], &small, open_in_thread, NULL) != 0)
			return 2;
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], &r);
		bad += r != NULL;
	}
	printf("%d of %d failed\n", bad, n);
	return bad != 0;
}

static int do_fifo(int n)
{
	pid_t *pids = calloc((size_t)n, sizeof(*pids));
	int status, killed = 0;

	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(raw_open(file) < 0);
	}
	usleep(300000);
	for (int i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		killed += WIFSIGNALED(status);
	}
	printf("%d of %d waited\n", killed, n);
	return killed != n;
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* A call that was interrupted has not been done, so the next try finds nothing of it. */
static int do_storm(int n)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 300 }, { 0, 300 } };
	long r;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < n; i++) {
		while ((r = raw_call(SYS_mkdirat, AT_FDCWD, (long)file, 0700, 0, 0, 0)) == -EINTR)
			;
		if (r == 0)
			while ((r = raw_call(SYS_unlinkat, AT_FDCWD, (long)file, AT_REMOVEDIR, 0, 0, 0)) ==
			       -EINTR)
				;
		if (r < 0) {
			printf("round %d: %s\n", i, strerror((int)-r));
			return 1;
		}
	}
	printf("%d rounds\n", n);
	return 0;
}

static int do_wait(void)
{
	long first = raw_open(file), now;

	printf("first %s\n", first < 0 ? strerror((int)-first) : "opened");
	fflush(stdout);
	while ((now = raw_open(file)) == first || (now >= 0 && first >= 0))
		usleep(1000);
	printf("then %s\n", now < 0 ? strerror((int)-now) : "opened");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 3 ? atoi(argv[2]) : 0;
	long r;

	file = argc > 2 ? argv[argc - 1] : "";
	if (strcmp(what, "threads") == 0)
		return do_threads(n);
	if (strcmp(what, "fifo") == 0)
		return do_fifo(n);
	if (strcmp(what, "storm") == 0)
		return do_storm(n);
	if (strcmp(what, "wait") == 0)
		return do_wait();
	r = raw_open(file);
	return r < 0 ? (int)-r : 0;
}
