/*
 * Roundabout ways, by system calls of its own: `turns WHAT ARG...`.  Exits 0 where nothing was got.
 *
 *   place PATH FLAGS         what O_PATH holds, opened again by its magic link
 *   parent FILE              a child that is its parent's sibling makes FILE
 *   socket GOOD BAD ROUNDS   connects by a descriptor that is now the one, now the other
 *   pty FILE ROUNDS          opens an own terminal by a path that becomes FILE
 *   traced PROGRAM GOOD BAD ROUNDS   executes it while a tracer writes into its words
 *   again PALE OBJECT        executes PALE with OBJECT in it
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

#define FLIPPED 50 /* the descriptor that changes */

static int raw_open(const char *path, int flags)
{
	return (int)raw_call(SYS_openat, AT_FDCWD, (long)path, flags, 0644, 0, 0);
}

static int by_place(char **v)
{
	char link[40], text[256];
	int held = raw_open(v[0], O_PATH), fd;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	fd = raw_open(link, (int)strtol(v[1], NULL, 0) | O_NOCTTY);
	if (held < 0 || fd < 0) {
		printf("%s\n", held < 0 ? "no place" : strerror(-fd));
		return 0;
	}
	n = read(fd, text, sizeof(text));
	printf("got %.*s\n", n > 0 ? (int)n : 0, text);
	return 1;
}

/* The second child of a fork tells by its exit, for it is not ours to wait for. */
static int by_parent(char **v)
{
	long pid = raw_call(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0, 0);

	if (pid == 0) {
		(void)raw_open(v[0], O_CREAT | O_WRONLY);
		_exit(0);
	}
	sleep(1);
	return access(v[0], F_OK) == 0;
}

static void *flip_descriptor(void *arg)
{
	const int *fd = arg;

	for (;;) {
		dup2(fd[0], FLIPPED);
		dup2(fd[1], FLIPPED);
	}
	return NULL;
}

static int by_socket(char **v)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX }, peer;
	int fd[] = { raw_open(v[0], O_PATH), raw_open(v[1], O_PATH) }, won = 0, reached = 0;
	pthread_t thread;

	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", FLIPPED);
	dup2(fd[0], FLIPPED);
	pthread_create(&thread, NULL, flip_descriptor, fd);
	for (int i = atoi(v[2]); i > 0; i--) {
		int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		socklen_t len = sizeof(peer);

		memset(&peer, 0, sizeof(peer));
		if (raw_call(SYS_connect, s, (long)&to, sizeof(to), 0, 0, 0) == 0 &&
		    getpeername(s, (struct sockaddr *)&peer, &len) == 0) {
			reached++;
			won += strcmp(peer.sun_path, v[1]) == 0;
		}
		close(s);
	}
	printf("reached %d, won %d\n", reached, won);
	return won || !reached;
}

static char path[64], wanted[64];
static _Atomic int delay;

static void *change_path(void *arg)
{
	(void)arg;
	for (;;) {
		int n = atomic_exchange(&delay, 0);

		if (n == 0)
			continue;
		for (volatile int i = 0; i < n; i++)
			;
		memcpy(path, wanted, sizeof(path));
	}
	return NULL;
}

/* In a session without a terminal, so that an open may become its terminal. */
static int open_terminals(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char name[sizeof(path)] = "";
	pthread_t thread;

	grantpt(master);
	unlockpt(master);
	ptsname_r(master, name, sizeof(name));
	pthread_create(&thread, NULL, change_path, NULL);
	for (int i = 1; i < 60; i++) {
		struct stat st;
		int fd;

		memcpy(path, name, sizeof(path));
		atomic_store(&delay, i * 3000);
		fd = raw_open(path, O_WRONLY);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			return 1;
		if (fd >= 0)
			ioctl(fd, TIOCNOTTY);
		close(fd);
	}
	return 0;
}

static int by_pty(char **v)
{
	int won = 0;

	snprintf(wanted, sizeof(wanted), "%s", v[0]);
	for (int i = atoi(v[1]); i > 0; i--) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0) {
			setsid();
			_exit(open_terminals());
		}
		waitpid(pid, &status, 0);
		won += WIFEXITED(status) && WEXITSTATUS(status) == 1;
	}
	printf("won %d\n", won);
	return won > 0;
}

static void write_word(pid_t pid, const char *word)
{
	struct iovec from = { (void *)word, strlen(word) + 1 }, to = { path, strlen(word) + 1 };

	process_vm_writev(pid, &from, 1, &to, 1, 0);
}

static void start_traced(char **v)
{
	char *args[] = { v[0], path, NULL };

	snprintf(path, sizeof(path), "%s", v[1]);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	raw_call(SYS_execve, (long)v[0], (long)args, (long)environ, 0, 0, 0);
	_exit(1);
}

/* What was executed says so by itself. */
static int by_tracer(char **v)
{
	for (int i = atoi(v[3]); i > 0; i--) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			start_traced(v);
		waitpid(pid, &status, 0);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		for (unsigned k = 0; waitpid(pid, &status, WNOHANG) == 0; k++)
			write_word(pid, v[1 + k % 2]);
		while (!WIFEXITED(status) && !WIFSIGNALED(status)) {
			ptrace(PTRACE_CONT, pid, NULL, NULL);
			waitpid(pid, &status, 0);
		}
	}
	return 0;
}

/* With nothing of ours in the environment. */
static int by_launcher(char **v)
{
	char preload[256], *args[] = { "pale", "run", "true", NULL }, *env[] = { preload, NULL };

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", v[1]);
	printf("%ld\n", raw_call(SYS_execve, (long)v[0], (long)args, (long)env, 0, 0, 0));
	return 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **v);
		int words;
	} ways[] = {
		{ "place", by_place, 2 }, { "parent", by_parent, 1 }, { "socket", by_socket, 3 },
		{ "pty", by_pty, 2 },	  { "traced", by_tracer, 4 }, { "again", by_launcher, 2 },
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0 && argc == 2 + ways[i].words)
			return ways[i].run(argv + 2);
	return 2;
}
