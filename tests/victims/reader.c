/*
 * Does what the lines of its input say, and says yes or no to each: `reader [raw]`.
 *
 *   read PATH, write PATH     by libc, or by the bare system call: what no hook sees
 *   vfork PATH, thread PATH   read by a child that shares our memory, by a thread that was there before
 *   maps                      how many images of a policy are mapped
 *
 * Linked statically it is a program that the preload cannot hold.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

static bool raw;
static int to_thread[2], from_thread[2];
static char asked[4096];

static bool can_open(const char *path, int flags)
{
	long fd =
		raw ? raw_call(SYS_openat, AT_FDCWD, (long)path, flags, 0644, 0, 0) : open(path, flags, 0644);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

static void *serve(void *unused)
{
	char c;

	while (read(to_thread[0], &c, 1) == 1) {
		c = can_open(asked, O_RDONLY);
		if (write(from_thread[1], &c, 1) != 1)
			break;
	}
	return unused;
}

static bool by_thread(const char *path)
{
	char c = 0;

	strcpy(asked, path);
	return write(to_thread[1], "x", 1) == 1 && read(from_thread[0], &c, 1) == 1 && c;
}

static bool by_vfork(const char *path)
{
	int status = -1;
	pid_t pid = vfork();

	if (pid == 0)
		_exit(can_open(path, O_RDONLY) ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int mapped_images(void)
{
	char line[4096];
	int n = 0;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, "/image") != NULL;
	if (f)
		fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	char line[4096], verb[16], path[4096];
	pthread_t t;

	raw = argc > 1 && strcmp(argv[1], "raw") == 0;
	if (pipe(to_thread) < 0 || pipe(from_thread) < 0 || pthread_create(&t, NULL, serve, NULL) != 0)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		bool yes = false;

		if (sscanf(line, "%15s %4095s", verb, path) < 1)
			continue;
		if (strcmp(verb, "maps") == 0) {
			printf("%d\n", mapped_images());
			continue;
		}
		if (strcmp(verb, "read") == 0)
			yes = can_open(path, O_RDONLY);
		else if (strcmp(verb, "write") == 0)
			yes = can_open(path, O_WRONLY | O_CREAT);
		else if (strcmp(verb, "vfork") == 0)
			yes = by_vfork(path);
		else if (strcmp(verb, "thread") == 0)
			yes = by_thread(path);
		puts(yes ? "yes" : "no");
	}
	return 0;
}
