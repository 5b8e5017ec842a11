/*
 * What this kernel can do, found out by trying: version numbers mislead (backports, sandboxes around this
 * process, boot parameters).  One child takes a listener of its own and makes all tests.  The filter ends
 * with the child, so it never affects another process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "numbers.h"
#include "policy/system/system.h"

/* Newer than Debian 12's headers: Linux 6.6. */
#define NOTIF_SET_FLAGS	   SECCOMP_IOW(4, __u64)
#define NOTIF_SYNC_WAKE_UP 1UL

/* The child's results, on a page that parent and child share. */
struct finding {
	int listener_error;
	bool addfd_send, wait_killable, sync_wake_up;
};

static long take_listener(unsigned long flags)
{
	/* This filter affects only the child that makes the tests. */
	static struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	static struct sock_fprog program = { .len = 1, .filter = all };

	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | flags,
		       &program);
}

/* The kernel checks flags before the descriptor (kernel/seccomp.c, seccomp_notify_addfd()). */
static bool has_addfd_send(int listener)
{
	struct seccomp_notif_addfd addfd = { .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = (__u32)-1 };

	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addfd) < 0 && errno == EBADF;
}

static void ask_listener(struct finding *f)
{
	long fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		f->listener_error = errno;
		return;
	}
	fd = take_listener(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	f->wait_killable = fd >= 0;
	if (fd < 0 && errno == EINVAL)
		fd = take_listener(0);
	if (fd < 0) {
		f->listener_error = errno;
		return;
	}
	f->listener_error = 0;
	f->addfd_send = has_addfd_send((int)fd);
	f->sync_wake_up = ioctl((int)fd, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP) == 0;
}

static int wait_for(pid_t pid, int *ret_status)
{
	return TEMP_FAILURE_RETRY(waitpid(pid, ret_status, 0)) < 0 ? -errno : 0;
}

/*
 * vfork: a copy of this process's memory would cost more than all tests together.  vfork() may act as
 * fork() (vfork(2), Standard description; the thread sanitizer makes it so), so the child writes its
 * results to a shared page.
 */
static int probe_listener(struct finding *ret)
{
	struct finding *found =
		mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigset_t all, old;
	int status = 0, r;
	pid_t pid;

	*ret = (struct finding){ .listener_error = ECHILD };
	if (found == MAP_FAILED)
		return -errno;
	*found = *ret;
	/* Handlers must not run in a child that shares this process's memory. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
	if (pid == 0) {
		ask_listener(found); /* NOLINT(clang-analyzer-unix.Vfork): system calls alone */
		_exit(0);
	}
	r = pid < 0 ? -errno : wait_for(pid, &status);
	sigprocmask(SIG_SETMASK, &old, NULL);
	*ret = *found;
	(void)munmap(found, sizeof(*found));
	return r;
}

static int read_number(const char *path, int missing)
{
	char buf[16];
	int n;

	return file_read_small(AT_FDCWD, path, buf, sizeof(buf)) > 0 && sscanf(buf, "%d", &n) == 1 ? n
												   : missing;
}

static int lesser(int a, int b)
{
	return a < b ? a : b;
}

int kernel_probe(int abi_max, struct kernel *ret)
{
	struct finding f;
	int r = probe_listener(&f);

	*ret = (struct kernel){
		.landlock_abi = lesser(lesser(landlock_abi(), abi_max), ABI_MAX),
		.listener = r == 0 && f.listener_error == 0,
		.listener_error = f.listener_error,
		.addfd_send = f.addfd_send,
		.wait_killable = f.wait_killable,
		.sync_wake_up = f.sync_wake_up,
		.pidfd_getfd = syscall(__NR_pidfd_getfd, -1, 0, 0) < 0 && errno == EBADF,
		.yama = read_number("/proc/sys/kernel/yama/ptrace_scope", -1),
	};
	if (ret->landlock_abi < 0)
		ret->landlock_abi = 0;
	return r;
}

bool kernel_has_userns(void)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(syscall(__NR_unshare, CLONE_NEWUSER) == 0 ? 0 : 1);
	return pid > 0 && wait_for(pid, &status) == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const char *listener_advice(const char *release)
{
	if (strcasestr(release, "microsoft"))
		return "WSL takes the seccomp listener for mirrored networking: set networkingMode=nat below "
		       "[wsl2] in .wslconfig, then run wsl --shutdown";
	return NULL;
}

static const char *lacks_listener(int error)
{
	static struct utsname u;
	const char *advice = error == EBUSY && uname(&u) == 0 ? listener_advice(u.release) : NULL;

	if (advice)
		return advice;
	switch (error) {
	case EBUSY:
		return "the seccomp listener is taken by the sandbox or container around this process, and "
		       "there is one only: start pale outside of it";
	case EPERM:
	case EACCES:
		return "the sandbox or container around this process forbids seccomp(2): permit it there or "
		       "start pale outside";
	default:
		return "the kernel gives no seccomp listener: Linux 5.19 with CONFIG_SECCOMP_FILTER does";
	}
}

static const char *lacks(const struct kernel *k)
{
	if (k->landlock_abi < 1)
		return "the kernel has no Landlock: Linux 5.13 has it where `landlock` is among the names in "
		       "/sys/kernel/security/lsm (boot parameter lsm=)";
	if (!k->listener)
		return lacks_listener(k->listener_error);
	if (!k->pidfd_getfd)
		return "descriptors of other processes cannot be had (pidfd_getfd): Linux 5.6 with them, or "
		       "a "
		       "container that permits the call";
	if (!k->addfd_send)
		return "a descriptor cannot be put in and answered in one step: Linux 5.14 can";
	if (!k->wait_killable)
		return "a signal could make a call be done and then fail: Linux 5.19 waits";
	return "";
}

const char *kernel_lacks(const struct kernel *k, enum level level, char *buf, size_t size)
{
	snprintf(buf, size, "%s", level == LEVEL_HOOKS ? "" : lacks(k));
	return buf;
}

enum level kernel_level(const struct kernel *k)
{
	return *lacks(k) ? LEVEL_HOOKS : LEVEL_STRICT;
}
