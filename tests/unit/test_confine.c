/* What this kernel has, what is told where it has not, and what is left of an inheritance. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/wall/confine.h"

Suite *suite_confine(void);

static const struct kernel good = {
	.landlock_abi = 7,
	.listener = true,
	.addfd_send = true,
	.wait_killable = true,
	.sync_wake_up = true,
	.pidfd_getfd = true,
	.yama = -1,
};

static void lacks(const struct kernel *k, const char *part)
{
	char text[256];

	ck_assert_ptr_nonnull(strstr(kernel_lacks(k, LEVEL_FULL, text, sizeof(text)), part));
	ck_assert_str_eq(kernel_lacks(k, LEVEL_HOOKS, text, sizeof(text)), "");
	ck_assert_int_eq(kernel_level(k), LEVEL_HOOKS);
}

START_TEST(each_lack_is_told)
{
	struct kernel k = good;
	char text[256];

	ck_assert_str_eq(kernel_lacks(&k, LEVEL_STRICT, text, sizeof(text)), "");
	ck_assert_int_eq(kernel_level(&k), LEVEL_STRICT);
	/* Faster, not safer. */
	k.sync_wake_up = false;
	ck_assert_int_eq(kernel_level(&k), LEVEL_STRICT);
	k = good;
	k.wait_killable = false;
	lacks(&k, "5.19");
	k.addfd_send = false;
	lacks(&k, "5.14");
	k.pidfd_getfd = false;
	lacks(&k, "pidfd_getfd");
	k.listener = false;
	k.listener_error = EBUSY;
	lacks(&k, "taken");
	k.listener_error = EPERM;
	lacks(&k, "forbids");
	k.listener_error = ENOSYS;
	lacks(&k, "CONFIG_SECCOMP_FILTER");
	k.landlock_abi = 0;
	lacks(&k, "Landlock");
}
END_TEST

START_TEST(the_abi_is_masked)
{
	struct kernel k;
	int here = landlock_abi();

	for (int max = 0; max <= ABI_MAX; max++) {
		ck_assert_int_eq(kernel_probe(max, &k), 0);
		ck_assert_int_eq(k.landlock_abi, here < max ? here : max);
	}
}
END_TEST

/* Runs act in a child; its exit status, 128 + N after signal N. */
static int in_child(int (*act)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(act());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The one listener of a chain of processes is taken: the probe says so, and its own child did no harm. */
static int probe_beneath_a_listener(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { .len = 1, .filter = all };
	struct kernel k;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0)
		return 2;
	if (kernel_probe(ABI_MAX, &k) < 0)
		return 3;
	return !k.listener && k.listener_error == EBUSY ? 0 : 1;
}

static int probe_leaves_nothing(void)
{
	struct kernel k;

	if (kernel_probe(ABI_MAX, &k) < 0)
		return 2;
	/* no_new_privs and the filter are the child's alone. */
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 && prctl(PR_GET_SECCOMP) == 0 ? 0 : 1;
}

static bool full_is_here(void)
{
	struct kernel k;

	return kernel_probe(ABI_MAX, &k) == 0 && kernel_level(&k) != LEVEL_HOOKS;
}

START_TEST(the_listener_is_asked_for)
{
	if (full_is_here())
		ck_assert_int_eq(in_child(probe_beneath_a_listener), 0);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 && prctl(PR_GET_SECCOMP) == 0)
		ck_assert_int_eq(in_child(probe_leaves_nothing), 0);
}
END_TEST

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Many descriptors are found by their list, few and low ones by their number. */
static int far_from;

/* Inherits one of each kind; a bit for each thing that is not as it should be. */
static int confined(void)
{
	struct floor_rule rule = { .path = (char *)(uintptr_t) "/", .grants = FLOOR_READ };
	struct floor floor = { .list = &rule, .n = 1 };
	struct filter_setup setup = { .level = LEVEL_FULL, .pass = 1, .own = { getppid() }, .n_own = 1 };
	int file = open("/etc/passwd", O_RDONLY), dir = open("/", O_RDONLY | O_PATH), ends[2], pair[2];
	int device = open("/dev/null", O_RDWR), far = fcntl(file, F_DUPFD, far_from), listener, signal = 0,
	    gone[6];
	struct confine c = { .ruleset = -1 };
	struct kernel k;

	if (kernel_probe(ABI_MAX, &k) < 0 || pipe(ends) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return 64;
	memcpy(gone, (int[]){ file, dir, device, far, pair[0], pair[1] }, sizeof(gone));
	setup.landlock_abi = k.landlock_abi;
	if (confine_make(&k, &setup, &floor, &c) < 0)
		return 65;
	listener = confine_self(&c);
	if (listener < 0)
		return 66;
	/* The listener has the lowest number that was free again. */
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (gone[i] != listener && is_open(gone[i]))
			return 67;
	if (!is_open(0) || !is_open(1) || !is_open(2) || !is_open(ends[0]) || !is_open(ends[1]))
		return 68;
	if (!(fcntl(listener, F_GETFD) & FD_CLOEXEC))
		return 69;
	(void)prctl(PR_GET_PDEATHSIG, &signal);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || signal != SIGKILL)
		return 70;
	return kill(getppid(), 0) == -1 && errno == EPERM ? 0 : 71;
}

START_TEST(the_child_is_alone)
{
	static const int from[] = { 20, 63, 64, 300 };

	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]) && full_is_here(); i++) {
		far_from = from[i];
		ck_assert_int_eq(in_child(confined), 0);
	}
}
END_TEST

Suite *suite_confine(void)
{
	Suite *s = suite_create("confine");
	TCase *t = tcase_create("confine");

	tcase_add_test(t, each_lack_is_told);
	tcase_add_test(t, the_abi_is_masked);
	tcase_add_test(t, the_listener_is_asked_for);
	tcase_add_test(t, the_child_is_alone);
	suite_add_tcase(s, t);
	return s;
}
