/*
 * Executes one thing while another thread of it says another: `flip ROUNDS PROGRAM GOOD BAD [WORD...]`.
 *
 * Each round is a fork whose child executes argv {PROGRAM GOOD WORD...} while its second thread exchanges
 * GOOD for BAD and back, as fast as it can, in the memory that the kernel reads.  What ran says
 * so by itself; the exit status is 0 where all rounds were tried.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

static char word[64];
static char good[64], bad[64];
static char *args[8];
static _Atomic int running;

static void *flipper(void *arg)
{
	volatile char *w = word;

	(void)arg;
	atomic_store(&running, 1);
	for (unsigned i = 0;; i++) {
		const char *from = i & 1 ? bad : good;

		for (size_t k = 0; k < 5; k++)
			w[k] = from[k];
		for (volatile unsigned n = i * 7919 % 2000; n > 0; n--)
			;
	}
	return NULL;
}

/* Past the hooks, so that the kernel's side alone is asked. */
static void child(void)
{
	extern char **environ;
	pthread_t t;

	if (pthread_create(&t, NULL, flipper, NULL) != 0)
		_exit(99);
	while (!atomic_load(&running))
		;
	raw_call(SYS_execve, (long)args[0], (long)args, (long)environ, 0, 0, 0);
	_exit(98);
}

int main(int argc, char **argv)
{
	int rounds = argc > 4 ? atoi(argv[1]) : 0, done = 0;

	if (rounds <= 0 || argc > 10)
		return 2;
	snprintf(good, sizeof(good), "%s", argv[3]);
	snprintf(bad, sizeof(bad), "%s", argv[4]);
	strcpy(word, good);
	args[0] = argv[2];
	args[1] = word;
	for (int i = 5; i < argc; i++)
		args[i - 3] = argv[i];
	for (; done < rounds; done++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			child();
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			break;
	}
	fprintf(stderr, "rounds %d\n", done);
	return done == rounds ? 0 : 1;
}
