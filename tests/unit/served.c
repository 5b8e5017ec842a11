#include "tests/unit/served.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/wire/ring.h"

#include "tools/supervisor/serve/notify.h"
#include "tools/supervisor/supervisor.h"

#define WAIT_KILLABLE_RECV (1u << 5) /* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19 */
#define TICK_NS		   20000000  /* faster than in a session */
#define UNTIL_TICKS	   500
#define HANG_TICKS	   6000 /* two minutes: a sanitizer on a busy machine is slow */

carry_fn carried_handler;

void dispatch_init(void)
{
}

carry_fn dispatch_find(int nr)
{
	return nr == SYS_getpgid ? carried_handler : NULL;
}

long carried_call(long a, long b, long c)
{
	long r = syscall(SYS_getpgid, a, b, c);

	return r < 0 ? -errno : r;
}

static int listen_for_calls(void)
{
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(rows) / sizeof(rows[0]), .filter = rows };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE_RECV, &prog);
}

static void child_main(int tell, int go, deed_fn deed)
{
	int listener = listen_for_calls();
	char byte;

	if (write(tell, &listener, sizeof(listener)) != sizeof(listener) || read(go, &byte, 1) != 1)
		_exit(99);
	close(listener);
	close(tell);
	close(go);
	_exit(deed());
}

void carried_init(struct carried *t, void (*rules)(struct fixture *f))
{
	memset(t, 0, sizeof(*t));
	fixture_init(&t->policy);
	t->policy.p.s.level = LEVEL_FULL;
	if (rules)
		rules(&t->policy);
	fixture_compile(&t->policy);
	t->setup.kernel_ring =
		mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(t->setup.kernel_ring, MAP_FAILED);
	ring_init(t->setup.kernel_ring);
	t->reader = calloc(1, sizeof(*t->reader));
	t->reader->h = t->setup.kernel_ring;
	strcpy(t->dir, "/tmp/pale-carried-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t->dir));
	t->kernel.sync_wake_up = true;
	t->setup.level = LEVEL_FULL;
	t->setup.kernel = &t->kernel;
	t->setup.image = &t->policy.img;
	t->setup.session_dir = t->dir;
	t->setup.preload = "/no/such/libpale.so";
}

void carried_start(struct carried *t, deed_fn deed)
{
	int tell[2], go[2], listener, pidfd;

	ck_assert_int_eq(pipe2(tell, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	t->child = fork();
	ck_assert_int_ge(t->child, 0);
	if (t->child == 0)
		child_main(tell[1], go[0], deed);
	close(tell[1]);
	close(go[0]);
	t->go = go[1];
	ck_assert_int_eq(read(tell[0], &listener, sizeof(listener)), sizeof(listener));
	close(tell[0]);
	ck_assert_int_ge(listener, 0);
	pidfd = (int)syscall(SYS_pidfd_open, t->child, 0);
	t->listener = (int)syscall(SYS_pidfd_getfd, pidfd, listener, 0);
	ck_assert_int_ge(t->listener, 0);
	close(pidfd);
	t->setup.root = t->child;
	ck_assert_int_eq(supervisor_start(&t->setup, t->listener, &t->sup), 0);
	t->sup->interval_ns = 0;
}

void carried_go(struct carried *t)
{
	ck_assert_int_eq(write(t->go, "", 1), 1);
}

static void tick(struct carried *t)
{
	const struct timespec nap = { .tv_nsec = TICK_NS };

	nanosleep(&nap, NULL);
	supervisor_tick(t->sup);
}

int carried_wait(struct carried *t)
{
	int status;

	for (int i = 0; i < HANG_TICKS; i++) {
		if (waitpid(t->child, &status, WNOHANG) == t->child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		tick(t);
	}
	kill(t->child, SIGKILL);
	ck_abort_msg("the child hangs");
	return -1;
}

int carried_run(struct carried *t, deed_fn deed)
{
	carried_init(t, NULL);
	carried_start(t, deed);
	carried_go(t);
	return carried_wait(t);
}

void carried_until(struct carried *t, bool (*is_so)(struct carried *t))
{
	for (int i = 0; i < UNTIL_TICKS; i++) {
		if (is_so(t))
			return;
		tick(t);
	}
	ck_abort_msg("it never came to be so");
}

static bool is_alive(int32_t pid)
{
	(void)pid;
	return true;
}

bool carried_record(struct carried *t, struct ring_record *ret)
{
	/* That of the program alone, which comes before the first record of each task, is not counted. */
	do
		if (ring_read(t->reader, 1, is_alive, ret) != 1)
			return false;
	while (ret->kind == RING_ATTACH && ret->note == NOTE_NONE);
	return true;
}

size_t carried_entries(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

void carried_done(struct carried *t)
{
	(void)supervisor_stop(t->sup);
	close(t->go);
	munmap(t->setup.kernel_ring, ring_size());
	free(t->reader);
	fixture_done(&t->policy);
	rmdir(t->dir);
}
