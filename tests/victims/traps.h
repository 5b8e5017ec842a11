/* What the traps share; the second half of them: limits, signals, threads.  See traps.c. */
#ifndef PALE_TRAPS_H
#define PALE_TRAPS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* The third word of the command line, or NULL. */
extern const char *word;
extern char **environ;

/* Prints the first line of an open file and closes it, or the errno that there is instead. */
static void show_errno(int fd, int error)
{
	char line[256];
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line);

	if (fd < 0)
		printf("errno %d\n", error);
	else
		printf("%.*s\n", n > 0 ? (int)strcspn(line, "\n") : 0, line);
	close(fd);
}

static void show(int fd)
{
	show_errno(fd, errno);
}

/* --- limits ------------------------------------------------------------------------------------- */

/* With any of 0, 1 and 2 closed, the lowest free number is what open gives, and nothing else lands there. */
static int standard_closed(const char *file)
{
	FILE *out = fdopen(fcntl(1, F_DUPFD_CLOEXEC, 10), "w");

	for (int set = 1; set < 8; set++) {
		int saved[3], fd;

		for (int i = 0; i < 3; i++) {
			saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
			if (set >> i & 1)
				close(i);
		}
		fd = open(file, O_RDONLY);
		fprintf(out, "%d: %d", set, fd);
		close(fd);
		fd = open("made", O_CREAT | O_WRONLY, 0600);
		fprintf(out, " %d", fd);
		close(fd);
		fprintf(out, " %d", rename("made", "moved"));
		fprintf(out, " %d", system("exit 3"));
		fprintf(out, " %d\n", unlink("moved"));
		for (int i = 0; i < 3; i++) {
			dup2(saved[i], i);
			close(saved[i]);
		}
	}
	fflush(out);
	show(open(file, O_RDONLY));
	return 0;
}

/* WORD: how many there may be. */
static int few_descriptors(const char *file)
{
	rlim_t n = (rlim_t)atol(word);
	struct rlimit few = { n, n };
	int fd, again;

	close_range(3, ~0u, 0);
	setrlimit(RLIMIT_NOFILE, &few);
	fd = open("made", O_CREAT | O_WRONLY, 0600);
	printf("%d\n", fd);
	again = open(file, O_RDONLY);
	printf("%d", again);
	close(again);
	printf("%d", rename("made", "moved"));
	printf("%d", mkdir("d", 0755));
	printf("%d", symlink("d", "d/l"));
	printf("%d\n", unlink("moved"));
	close(fd);
	show(open(file, O_RDONLY));
	fflush(stdout);
	execl("/bin/cat", "cat", file, NULL);
	return -1;
}

/* WORD: megabytes. */
static int small_address_space(const char *file)
{
	rlim_t size = (rlim_t)atol(word) << 20;
	struct rlimit small = { size, size };

	show(open(file, O_RDONLY));
	fflush(stdout);
	setrlimit(RLIMIT_AS, &small);
	setenv("LC_ALL", "C", 1);
	execl("/bin/cat", "cat", file, NULL);
	dprintf(2, "cat: %s\n", strerror(errno));
	return -1;
}

/* A deed of every kind; how many went wrong. */
static int deeds(const char *file, int n)
{
	char a[48], b[64];
	int bad = 0, fd;

	snprintf(a, sizeof a, "%s-%d-%d", "deed", (int)gettid(), n);
	snprintf(b, sizeof b, "%s.to", a);
	fd = open(a, O_CREAT | O_RDWR | O_EXCL, 0600);
	bad += fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0;
	bad += rename(a, b) != 0;
	bad += chmod(b, 0640) != 0;
	bad += symlink(b, a) != 0;
	fd = open(a, O_RDONLY);
	bad += fd < 0 || close(fd) != 0;
	bad += unlink(a) != 0;
	bad += unlink(b) != 0;
	bad += mkdir(a, 0700) != 0;
	bad += rmdir(a) != 0;
	fd = open(file, O_RDONLY);
	bad += fd < 0;
	close(fd);
	return bad;
}

static void *deeds_and_a_program(void *file)
{
	long bad = deeds(file, 0);
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	show(open(file, O_RDONLY));
	return (void *)(bad + (status != 0));
}

static int small_stacks(const char *file)
{
	pthread_attr_t attr;
	pthread_t t;
	void *bad;

	pthread_attr_init(&attr);
	/* What the system calls the least, and what programs then ask for: the loader's own data is in it. */
	pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	if (pthread_create(&t, &attr, deeds_and_a_program, (void *)file) != 0)
		return -1;
	pthread_join(t, &bad);
	printf("bad %ld\n", (long)bad);
	return 0;
}

static const char *signal_file;
static volatile sig_atomic_t signal_bad, signal_count;

#define SIGNALS_WANTED 200

/* The next comes soon after this one is done, however slow the machine is. */
static void on_signal(int sig)
{
	const struct itimerval soon = { .it_value.tv_usec = 300 };
	int saved = errno;

	signal_bad += deeds(signal_file, signal_count++ + 1000);
	if (sig == SIGALRM && signal_count < SIGNALS_WANTED)
		setitimer(ITIMER_REAL, &soon, NULL);
	errno = saved;
}

static int alternate_stack(const char *file)
{
	stack_t stack = { .ss_size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 8192 };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	stack.ss_sp = malloc(stack.ss_size);
	signal_file = file;
	if (sigaltstack(&stack, NULL) < 0 || sigaction(SIGUSR1, &act, NULL) < 0)
		return -1;
	raise(SIGUSR1);
	printf("bad %d of %d\n", (int)signal_bad, (int)signal_count);
	show(open(file, O_RDONLY));
	return 0;
}

/* --- signals and threads ------------------------------------------------------------------------ */

/* A timer at a high rate interrupts hooks anywhere, and its handler enters them again. */
static int signals(const char *file)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int bad = 0;

	signal_file = file;
	sigaction(SIGALRM, &act, NULL);
	raise(SIGALRM);
	for (int i = 0; signal_count < SIGNALS_WANTED; i++)
		bad += deeds(file, i);
	printf("bad %d, in handlers %d of %d\n", bad, (int)signal_bad, (int)signal_count);
	show(open(file, O_RDONLY));
	return 0;
}

static atomic_bool done;

static void *busy(void *file)
{
	long bad = 0;

	for (int i = 0; !done; i++) {
		free(malloc((size_t)i % 5000));
		bad += deeds(file, i);
	}
	return (void *)bad;
}

static int child_of_threads(const char *file, int i)
{
	void *p = malloc(100000);
	int bad = deeds(file, i);

	free(p);
	if (bad)
		return 100 + bad;
	execl("/bin/cat", "cat", file, NULL);
	return 99;
}

/* WORD: how many. */
static int forks_in_threads(const char *file)
{
	pthread_t t[3];
	long bad = 0;
	void *r;
	int status;

	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, busy, (void *)file);
	for (int i = 0; i < atoi(word); i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (i)
				dup2(open("/dev/null", O_WRONLY), 1);
			_exit(child_of_threads(file, i));
		}
		waitpid(pid, &status, 0);
		bad += status != 0;
	}
	done = true;
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &r);
		bad += (long)r;
	}
	printf("bad %ld\n", bad);
	return 0;
}

static int unknown_calls(const char *file)
{
	static const long unknown[] = { -1, 400, 420, 511, 600, 1000, 9999, 0x3fffffff, 0x7fffffff };

	for (unsigned i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
		long r = syscall(unknown[i], 1, 2, 3, 4, 5, 6);

		printf("%ld: %ld %d\n", unknown[i], r, errno);
	}
	printf("%d %d\n", syscall(SYS_getpid) == getpid(), syscall(SYS_gettid) == gettid());
	show((int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY, 0));
	return 0;
}

/* A filter of the program's own: no getppid any more.  It has the same word to say of its children. */
static int own_filter(const char *file)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof code / sizeof code[0], code };

	printf("%d\n", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	printf("%d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
	printf("%ld", syscall(SYS_getppid));
	printf(" %d\n", errno);
	show(open(file, O_RDONLY));
	fflush(stdout);
	execl("/bin/cat", "cat", file, NULL);
	return -1;
}

static int not_dumpable(const char *file)
{
	printf("%d\n", prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	printf("bad %d\n", deeds("file", 0));
	show(open(file, O_RDONLY));
	fflush(stdout);
	execl("/bin/cat", "cat", file, NULL);
	return -1;
}

/* --- cancellation ------------------------------------------------------------------------------- */

static void said(void *what)
{
	printf("cleaned up %s\n", (const char *)what);
}

static const char *cancel_file;
static atomic_int stage;

/* Nothing in here but open and close: both are cancellation points. */
static void *opens_for_ever(void *unused)
{
	pthread_cleanup_push(said, "opens");
	for (;;) {
		int fd = open(cancel_file, O_RDONLY);

		stage = 1;
		if (fd >= 0)
			syscall(SYS_close, fd);
	}
	pthread_cleanup_pop(0);
	return unused;
}

/* Cancelled before it opens, with cancellation off and on again. */
static void *opens_once(void *unused)
{
	int old, fd;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	stage = 2;
	while (stage != 3)
		syscall(SYS_sched_yield);
	fd = open("file", O_RDONLY);
	printf("disabled %d\n", fd >= 0);
	close(fd);
	pthread_setcancelstate(old, NULL);
	pthread_cleanup_push(said, "once");
	fd = openat(AT_FDCWD, cancel_file, O_RDONLY);
	printf("opened in spite of it\n");
	pthread_cleanup_pop(0);
	return unused;
}

static void join(pthread_t t)
{
	struct timespec soon;
	void *r;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 5;
	if (pthread_timedjoin_np(t, &r, &soon) != 0)
		printf("not cancelled\n");
	else
		printf("joined %d\n", r == PTHREAD_CANCELED);
}

static void await(int what)
{
	while (stage != what)
		usleep(1000);
}

static int cancelled(const char *file)
{
	pthread_t t;

	cancel_file = file;
	pthread_create(&t, NULL, opens_for_ever, NULL);
	await(1);
	pthread_cancel(t);
	join(t);
	pthread_create(&t, NULL, opens_once, NULL);
	await(2);
	pthread_cancel(t);
	stage = 3;
	join(t);
	show(open(file, O_RDONLY));
	return 0;
}

static void *waits_for_a_writer(void *unused)
{
	pthread_cleanup_push(said, "waiting");
	stage = 4;
	open("fifo", O_RDONLY);
	printf("opened without a writer\n");
	pthread_cleanup_pop(0);
	return unused;
}

/* In the middle of an open that waits for the other end. */
static int cancelled_waiting(const char *file)
{
	pthread_t t;

	mkfifo("fifo", 0600);
	pthread_create(&t, NULL, waits_for_a_writer, NULL);
	await(4);
	usleep(200000);
	pthread_cancel(t);
	join(t);
	show(open(file, O_RDONLY));
	fflush(stdout);
	_exit(0);
}

#endif
