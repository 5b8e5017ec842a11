/*
 * A program of one thread whose working directory or descriptor turns to another directory while libc's
 * functions act below it: `shared GOOD BAD TRIES` prints for each kind and act how often the act was done in
 * BAD.
 *
 * It is turned by a process that shares them, clone(2) with CLONE_FS or CLONE_FILES, or by the handler of a
 * signal.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int good, bad, dir;
static bool by_files;

static void turn(int to)
{
	(void)!(by_files ? dup2(to, dir) : fchdir(to));
}

static int turner(void *arg)
{
	(void)arg;
	for (unsigned i = 0;; i++) {
		turn(bad);
		for (volatile unsigned n = i * 53 % 900; n > 0; n--)
			;
		turn(good);
		for (volatile unsigned n = i * 53 % 900; n > 0; n--)
			;
	}
	return 0;
}

static void on_alarm(int sig)
{
	(void)sig;
	turn(bad);
}

static int at(void)
{
	return by_files ? dir : AT_FDCWD;
}

static void do_open(void)
{
	int fd = openat(at(), "new", O_WRONLY | O_CREAT, 0600);

	if (fd >= 0)
		close(fd);
	(void)unlinkat(good, "new", 0);
}

static void do_mkdir(void)
{
	(void)mkdirat(at(), "new", 0700);
	(void)unlinkat(good, "new", AT_REMOVEDIR);
}

static void do_unlink(void)
{
	int fd = openat(good, "file", O_WRONLY | O_CREAT, 0600);

	if (fd >= 0)
		close(fd);
	(void)unlinkat(at(), "file", 0);
}

static void do_rename(void)
{
	int fd = openat(good, "file", O_WRONLY | O_CREAT, 0600);

	if (fd >= 0)
		close(fd);
	(void)renameat(at(), "file", at(), "new");
	(void)unlinkat(good, "new", 0);
}

/* BAD has a file `file` and nothing else.  True where that is no longer so, which is mended. */
static bool is_won(void)
{
	struct stat st;
	bool made = fstatat(bad, "new", &st, 0) == 0, gone = fstatat(bad, "file", &st, 0) < 0;

	return made || gone;
}

static void mend(void)
{
	(void)unlinkat(bad, "new", 0);
	(void)unlinkat(bad, "new", AT_REMOVEDIR);
	close(openat(bad, "file", O_WRONLY | O_CREAT, 0600));
}

static unsigned long tries_shared(void (*act)(void), unsigned long tries)
{
	static char stack[65536];
	pid_t pid = clone(turner, stack + sizeof(stack), (by_files ? CLONE_FILES : CLONE_FS) | SIGCHLD, NULL);
	unsigned long won = 0;

	for (; pid > 0 && tries > 0 && !won; tries--) {
		act();
		won += is_won();
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return pid > 0 ? won : 99;
}

static unsigned long tries_signal(void (*act)(void), unsigned long tries)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	unsigned long won = 0;
	timer_t timer;

	sigaction(SIGALRM, &sa, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return 99;
	for (; tries > 0 && !won; tries--) {
		struct itimerspec soon = { .it_value.tv_nsec = 1 + (long)(tries * 37 % 30000) };

		turn(good);
		timer_settime(timer, 0, &soon, NULL);
		act();
		won += is_won();
	}
	timer_delete(timer);
	return won;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(void);
	} acts[] = {
		{ "open", do_open }, { "mkdir", do_mkdir }, { "unlink", do_unlink }, { "rename", do_rename }
	};
	unsigned long tries = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;

	good = tries ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
	bad = tries ? open(argv[2], O_RDONLY | O_DIRECTORY) : -1;
	dir = dup(good);
	if (dir < 0 || bad < 0)
		return 2;
	for (int files = 0; files < 2; files++)
		for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
			by_files = files;
			turn(good);
			printf("%s %s: %lu", files ? "descriptor" : "directory", acts[i].name,
			       tries_shared(acts[i].act, tries));
			mend();
			turn(good);
			printf(" %lu\n", tries_signal(acts[i].act, tries));
			mend();
		}
	return 0;
}
