/*
 * Calls in a signal handler on a small stack: `esc_signal SECRET` says how each ended.
 *
 * 8 KiB is what SIGSTKSZ was for 25 years, and what programs still give.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK 8192
#define GUARD 4096

static const char *secret;
static int way;

static void handler(int sig)
{
	(void)sig;
	switch (way) {
	case 0:
		_exit(open("file", O_RDONLY) < 0);
	case 1:
		_exit(open("../work/file", O_RDONLY) < 0);
	case 2:
		_exit(open(secret, O_RDONLY) >= 0);
	case 3:
		_exit(unlink(secret) == 0);
	case 4:
		_exit(chmod("../work/file", 0644) != 0);
	case 5:
		_exit(mkdir("made", 0700) != 0 || rmdir("made") != 0);
	default:
		_exit(0);
	}
}

static void attempt(void)
{
	char *m = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t ss = { .ss_sp = m + GUARD, .ss_size = STACK };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	if (m == MAP_FAILED || mprotect(m, GUARD, PROT_NONE) != 0 || sigaltstack(&ss, NULL) != 0 ||
	    sigaction(SIGUSR1, &sa, NULL) != 0)
		_exit(99);
	raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2)
		return 2;
	secret = argv[1];
	for (way = 0; way < 6; way++) {
		pid_t pid = fork();

		if (pid == 0)
			attempt();
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		printf("%d %d %d\n", way, WIFSIGNALED(status) ? WTERMSIG(status) : 0, WEXITSTATUS(status));
	}
	return 0;
}
