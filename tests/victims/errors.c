/*
 * Calls with bad arguments, to be compared: `errors GROUP` makes every call of a group in the current
 * directory and prints what came of it, one line each, the same bare as inside.
 *
 * Each call runs in a process of its own, so that a crash is a line too.  The rows stand in errors_*.h.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define PAGE	 4096

/* A call and its text.  p is the bad pointer, in the groups that have one. */
struct row {
	const char *text;
	long (*call)(char *p);
};

/* A descriptor and its flags, or -1. */
static long opened(long fd)
{
	if (fd >= 0)
		printf("fl=%o fd=%d ", fcntl((int)fd, F_GETFL), fcntl((int)fd, F_GETFD));
	return fd;
}

/* The working directory at a descriptor from min on. */
static int open_at(int min)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY), high = fcntl(fd, F_DUPFD, min);

	close(fd);
	return high;
}

/* A larger structure of a later kernel. */
struct long_how {
	struct open_how how;
	uint64_t tail;
};

/* bind of a new socket to an address and port, with its length. */
static long bound(int type, const char *addr, int port, socklen_t len)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	inet_pton(AF_INET, addr, &sa.sin_addr);
	return bind(socket(AF_INET, type, 0), (struct sockaddr *)&sa, len);
}

static long connected_to(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	strcpy(sa.sun_path, path);
	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&sa, sizeof(sa));
}

/* A name of n bytes. */
static char *name_of(size_t n)
{
	static char name[8192];

	memset(name, 'n', n);
	name[n] = '\0';
	return name;
}

#define ROW(name, expr)                                                                                      \
	static long name(char *p)                                                                            \
	{                                                                                                    \
		(void)p;                                                                                     \
		return (long)(expr);                                                                         \
	}
#include "tests/victims/errors_pointers.h"
#include "tests/victims/errors_lowest.h"
#include "tests/victims/errors_arguments.h"
#undef ROW

#define ROW(name, expr) { #expr, name },
static const struct row pointers[] = {
#include "tests/victims/errors_pointers.h"
};
static const struct row lowest[] = {
#include "tests/victims/errors_lowest.h"
};
static const struct row arguments[] = {
#include "tests/victims/errors_arguments.h"
};
#undef ROW

/* Prints the result and the error of a call.  The result of an open is the descriptor's number. */
static void print_row(const char *text, const char *with, const struct row *r, char *p)
{
	int status;
	pid_t pid;

	printf("%s%s: ", text, with);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		errno = 0;
		status = (int)r->call(p);
		printf("%d %s", status, strerrorname_np(errno));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal %d", WTERMSIG(status));
	printf("\n");
}

/* A name at the end of a page, without its 0; the next page cannot be read. */
static char *endless(void)
{
	char *m = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(m + PAGE - 4, "file", 4);
	mprotect(m + PAGE, PAGE, PROT_NONE);
	return m + PAGE - 4;
}

static void run_pointers(void)
{
	char *gone = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *shut = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *bad[] = { NULL, (char *)1, (char *)-1, (char *)0xdeadc0de, gone, shut, endless() };
	static const char *const names[] = { "NULL", "1", "-1", "0xdeadc0de", "gone", "shut", "endless" };

	munmap(gone, PAGE);
	for (size_t r = 0; r < NELEM(pointers); r++)
		for (size_t i = 0; i < NELEM(bad); i++)
			print_row(pointers[r].text, names[i], &pointers[r], bad[i]);
}

static void put_tree(void)
{
	int fd = open("file", O_WRONLY | O_CREAT, 0644);

	if (fd < 0 || write(fd, "content\n", 8) != 8)
		exit(90);
	close(fd);
	if (mkdir("dir", 0755) || symlink("file", "link") || symlink("link", "chain") ||
	    symlink("dir", "to-dir") || symlink("fresh", "dangling") || symlink("loop", "loop") ||
	    symlink("/etc", "to-etc"))
		exit(91);
	close(open("shut", O_WRONLY | O_CREAT, 0));
	fd = open("dir/inner", O_WRONLY | O_CREAT, 0644);
	close(fd);
}

static void *nothing(void *arg)
{
	return arg;
}

/* With descriptor 0 free and with a gap at 5; before and after there was a thread. */
static void run_lowest(void)
{
	int file = open("file", O_RDONLY);
	pthread_t thread;

	for (int fd = 3; fd < 8; fd++)
		dup2(file, fd);
	for (int round = 0; round < 2; round++) {
		close(5);
		for (size_t r = 0; r < NELEM(lowest); r++)
			print_row(lowest[r].text, round ? " threads" : "", &lowest[r], NULL);
		dup2(file, 5);
		close(0);
		for (size_t r = 0; r < NELEM(lowest); r++)
			print_row(lowest[r].text, round ? " 0 threads" : " 0", &lowest[r], NULL);
		dup2(file, 0);
		pthread_create(&thread, NULL, nothing, NULL);
		pthread_join(thread, NULL);
	}
}

static void run_arguments(void)
{
	for (size_t r = 0; r < NELEM(arguments); r++)
		print_row(arguments[r].text, "", &arguments[r], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} groups[] = { { "pointers", run_pointers },
		       { "lowest", run_lowest },
		       { "arguments", run_arguments } };

	for (size_t i = 0; argc == 2 && i < NELEM(groups); i++)
		if (strcmp(argv[1], groups[i].name) == 0) {
			put_tree();
			groups[i].run();
			return 0;
		}
	return 2;
}
