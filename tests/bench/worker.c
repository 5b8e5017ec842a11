/*
 * The measured process: one bare, one under the fence, both told what to do by the driver.
 *
 * Reads requests from stdin, a line each, answers "VALUE STATUS": nanoseconds (bytes for mem)
 * and 0 or what went wrong.  Works in its current directory.
 *
 *   call KIND N     N calls of that kind           (the time of one)
 *   threads N       8 threads, N opens each, all at once   (wall time for one open of each)
 *   processes N     200 processes, N opens each, likewise (wall time of one open)
 *   crowd MS        64 processes open for so long  (the 99th percentile of one open)
 *   run ARG...      one program, found in PATH     (wall time)
 *   mem             bytes that only this process has: dirty private pages (clean ones of a file are
 *                   the page cache's, and count as private only while nobody else maps them)
 *
 * Linked statically it is a program that the hooks cannot be in, and drops LD_PRELOAD, so that what it
 * starts has none either.
 *
 *   worker serve    instead: accepts connections on loopback, port on stdout, until stdin ends
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define CROWD	    64
#define CROWD_OPENS 20000 /* of one process, at most */
#define PORT_ENV    "BENCH_PORT"

static char deep[4096]; /* an absolute path, six directories deep and more */

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int open_close(const char *path, int flags)
{
	int fd = open(path, flags, 0644);

	return fd < 0 ? errno : close(fd);
}

static int call_open_abs(void)
{
	return open_close(deep, O_RDONLY | O_CLOEXEC);
}

static int call_open_rel(void)
{
	return open_close("calls/file", O_RDONLY | O_CLOEXEC);
}

static int call_open_write(void)
{
	return open_close(deep, O_WRONLY | O_CLOEXEC);
}

static int call_unlink_create(void)
{
	if (unlink("calls/again") < 0 && errno != ENOENT)
		return errno;
	return open_close("calls/again", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
}

static int call_rename_pair(void)
{
	if (rename("calls/one", "calls/two") < 0 || rename("calls/two", "calls/one") < 0)
		return errno;
	return 0;
}

static int call_list(void)
{
	DIR *d = opendir("calls/dir");

	if (!d)
		return errno;
	while (readdir(d))
		;
	return closedir(d);
}

/* The peer takes it and closes it; a reset leaves no port behind in TIME_WAIT. */
static int call_connect(void)
{
	const struct linger reset = { .l_onoff = 1 };
	const char *port = getenv(PORT_ENV);
	struct sockaddr_in peer = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)atoi(port ? port : "0")),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	r = connect(fd, (const struct sockaddr *)&peer, sizeof peer) < 0 ? errno : 0;
	close(fd);
	return r;
}

static int call_getpid(void)
{
	return getpid() > 0 ? 0 : ESRCH;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int call_spawn(void)
{
	char name[] = "true";
	char *const argv[] = { name, NULL };
	pid_t pid;
	int r = posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ);

	return r ? r : wait_for(pid);
}

static int call_fork_exec(void)
{
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	return wait_for(pid);
}

static const struct {
	const char *name;
	int (*fn)(void);
} calls[] = {
	{ "open_abs", call_open_abs },
	{ "open_rel", call_open_rel },
	{ "open_write", call_open_write },
	{ "unlink_create", call_unlink_create },
	{ "rename_pair", call_rename_pair },
	{ "list", call_list },
	{ "connect", call_connect },
	{ "getpid", call_getpid },
	{ "spawn", call_spawn },
	{ "fork_exec", call_fork_exec },
};

static int do_call(char *args, double *ret)
{
	char *kind = strtok(args, " ");
	char *times = strtok(NULL, " ");
	long n = times ? atol(times) : 1;
	double start;
	int r = 0;

	for (size_t i = 0; kind && i < sizeof calls / sizeof calls[0]; i++) {
		if (strcmp(calls[i].name, kind) != 0)
			continue;
		start = now_ns();
		for (long k = 0; k < n && r == 0; k++)
			r = calls[i].fn();
		*ret = (now_ns() - start) / (double)n;
		return r;
	}
	return EINVAL;
}

/* --- many callers at once --- */

#define THREADS	  8
#define PROCESSES 200

/* What a thread or a process of many does, once all are there. */
struct many {
	long n;
	pthread_barrier_t start;
	_Atomic int status;
};

static void *many_member(void *arg)
{
	struct many *m = arg;
	int r = 0;

	pthread_barrier_wait(&m->start);
	for (long k = 0; k < m->n && r == 0; k++)
		r = call_open_abs();
	if (r)
		m->status = r;
	return NULL;
}

static int do_threads(char *args, double *ret)
{
	struct many m = { .n = atol(args) };
	pthread_t id[THREADS];
	double start;

	pthread_barrier_init(&m.start, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&id[i], NULL, many_member, &m) != 0)
			return EAGAIN;
	start = now_ns();
	pthread_barrier_wait(&m.start);
	for (int i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	*ret = (now_ns() - start) / (double)m.n;
	pthread_barrier_destroy(&m.start);
	return m.status;
}

/* Forked first and let go together by the end of a pipe. */
static int do_processes(char *args, double *ret)
{
	long n = atol(args);
	int gate[2], r = 0;
	double start;
	char c;

	if (pipe(gate) < 0)
		return errno;
	for (int i = 0; i < PROCESSES && r == 0; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			close(gate[1]);
			r = read(gate[0], &c, 1) == 0 ? 0 : EIO;
			for (long k = 0; k < n && r == 0; k++)
				r = call_open_abs();
			_exit(r);
		}
		r = pid < 0 ? errno : 0;
	}
	start = now_ns();
	close(gate[0]);
	close(gate[1]);
	for (int status; wait(&status) > 0;)
		r = status ? EIO : r;
	*ret = (now_ns() - start) / (double)(n * PROCESSES);
	return r;
}

struct crowd {
	double until;
	_Atomic uint32_t n[CROWD];
	float took[CROWD][CROWD_OPENS];
};

static int crowd_member(struct crowd *c, int who)
{
	uint32_t n = 0;
	double start, end = 0;
	int r = 0;

	for (; r == 0 && n < CROWD_OPENS && end < c->until; n++) {
		start = now_ns();
		r = call_open_abs();
		end = now_ns();
		c->took[who][n] = (float)(end - start);
	}
	c->n[who] = n;
	return r;
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

/* Moves all times to the front. */
static double crowd_p99(struct crowd *c)
{
	float *all = c->took[0];
	size_t n = 0;

	for (int who = 0; who < CROWD; who++) {
		memmove(all + n, c->took[who], c->n[who] * sizeof *all);
		n += c->n[who];
	}
	qsort(all, n, sizeof *all, by_size);
	return n ? (double)all[n * 99 / 100] : 0;
}

static int do_crowd(char *args, double *ret)
{
	struct crowd *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r = 0;

	if (c == MAP_FAILED)
		return errno;
	c->until = now_ns() + atof(args) * 1e6;
	for (int who = 0; who < CROWD; who++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(crowd_member(c, who));
		r = pid < 0 ? errno : r;
	}
	for (int status; wait(&status) > 0;)
		r = status ? EIO : r;
	*ret = crowd_p99(c);
	munmap(c, sizeof *c);
	return r;
}

static int do_run(char *args, double *ret)
{
	posix_spawn_file_actions_t quiet;
	char *argv[64] = { NULL };
	size_t n = 0;
	double start;
	pid_t pid;
	int r;

	for (char *a = strtok(args, " "); a && n < 63; a = strtok(NULL, " "))
		argv[n++] = a;
	if (n == 0)
		return EINVAL;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	start = now_ns();
	r = posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ);
	if (r == 0)
		r = wait_for(pid);
	*ret = now_ns() - start;
	posix_spawn_file_actions_destroy(&quiet);
	return r;
}

/* Dirty pages of private mappings: the kernel also counts those of the shared ring, until the helper
 * has looked at them. */
static int do_mem(char *args, double *ret)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[4352], perms[8] = "";
	long kb;

	(void)args;
	if (!f)
		return errno;
	*ret = 0;
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%*x-%*x %7s", perms) == 1)
			continue;
		if (perms[3] == 'p' && sscanf(line, "Private_Dirty: %ld kB", &kb) == 1)
			*ret += (double)kb * 1024;
	}
	fclose(f);
	return 0;
}

static const struct {
	const char *name;
	int (*fn)(char *args, double *ret);
} requests[] = { { "call", do_call },	{ "threads", do_threads }, { "processes", do_processes },
		 { "crowd", do_crowd }, { "run", do_run },	   { "mem", do_mem } };

static int serve(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof here;
	struct pollfd p[] = { { .fd = 0, .events = POLLIN },
			      { .fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN } };
	int listener = p[1].fd;

	if (bind(listener, (struct sockaddr *)&here, len) < 0 || listen(listener, 1024) < 0 ||
	    getsockname(listener, (struct sockaddr *)&here, &len) < 0)
		return 1;
	printf("%d\n", ntohs(here.sin_port));
	fclose(stdout);
	while (poll(p, 2, -1) > 0 && !p[0].revents)
		close(accept(listener, NULL, NULL));
	return 0;
}

int main(int argc, char **argv)
{
	char line[4096], *rest;
	double value;
	int status;

	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
#ifdef STATIC
	unsetenv("LD_PRELOAD");
#endif
	if (!getcwd(deep, sizeof deep - 64))
		return 1;
	strcat(deep, "/calls/1/2/3/4/file");
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		rest = line + strcspn(line, " ");
		if (*rest)
			*rest++ = '\0';
		value = 0;
		status = EINVAL;
		for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
			if (strcmp(requests[i].name, line) == 0)
				status = requests[i].fn(rest, &value);
		printf("%.1f %d\n", value, status);
		fflush(stdout);
	}
	return 0;
}
