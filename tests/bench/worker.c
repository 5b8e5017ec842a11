/*
 * The measured process: one bare, one under the fence, both told what to do by the driver.
 *
 * Reads requests from stdin, a line each, answers "VALUE STATUS": nanoseconds (bytes for mem)
 * and 0 or what went wrong.  Works in its current directory.
 *
 *   call KIND N     N calls of that kind           (the time of one)
 *   run ARG...      one program, found in PATH     (wall time)
 *   mem             bytes that only this process has: dirty private pages (clean ones of a file are
 *                   the page cache's, and count as private only while nobody else maps them)
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

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
} requests[] = { { "call", do_call }, { "run", do_run }, { "mem", do_mem } };

int main(void)
{
	char line[4096], *rest;
	double value;
	int status;

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
