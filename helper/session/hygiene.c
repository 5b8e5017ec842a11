/*
 * Start-up of a program that may be installed setuid and may be started by a user that it must not trust:
 * nothing is inherited that is not needed.  The order is fixed: each step relies on the ones before it.  No
 * locale, no name service, no PATH, no output but the sentence that the caller prints.
 */
#include "hygiene.h"

#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#define EXIT_NO_ARGV 127
#define EXIT_REFUSED 125

/* A file that gets one of these numbers would receive the helper's messages (as in CVE-2002-0572). */
static int fill_std_fds(const char **ret_err)
{
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", O_RDWR | O_NOCTTY) != fd) {
			*ret_err = "cannot open /dev/null for a closed standard descriptor";
			return EXIT_REFUSED;
		}
	}
	return 0;
}

static void close_the_rest(void)
{
	/* 3 is the session.  Kernels before 5.9 do not have close_range. */
	if (close_range(4, ~0u, 0) < 0)
		closefrom(4);
	(void)fcntl(3, F_SETFD, FD_CLOEXEC);
}

/* A directory that only root can change. */
static bool is_roots_alone(const char *dir)
{
	struct stat st;

	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == 0 &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * A user can keep an old copy by a hard link, which stays setuid after an upgrade: so the helper refuses to
 * run from any place that is not root's, whatever fs.protected_hardlinks says.
 */
static bool stands_where_root_put_it(void)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0 || path[0] != '/')
		return false;
	path[n] = '\0';
	while ((slash = strrchr(path, '/'))) {
		*slash = '\0';
		if (!is_roots_alone(path[0] ? path : "/"))
			return false;
	}
	return true;
}

/*
 * The terminal's keys send signals to whole process groups: a helper in the group of the process that
 * started it would be stopped by ^Z.  A group's leader cannot leave it; systemd's children lead a session
 * without a terminal.
 */
static bool leave_terminal(void)
{
	int tty;

	if (setsid() >= 0)
		return true;
	tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (tty >= 0)
		close(tty);
	return tty < 0 && getsid(0) == getpid();
}

static void reset_timers_and_signals(void)
{
	static const int timers[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
	static const int ignored[] = { SIGPIPE, SIGXFSZ, SIGXCPU };
	const struct itimerval zero = { 0 };
	static const unsigned long zeros[8];
	const struct sigaction sa = { .sa_handler = SIG_IGN };
	sigset_t none;

	for (size_t i = 0; i < NELEM(timers); i++)
		(void)setitimer((enum __itimer_which)timers[i], &zero, NULL);
	/*
	 * By the system call: libc reserves 32 and 33 and would leave them as they were inherited.  A
	 * kernel sigaction of zeros is SIG_DFL on every architecture.
	 */
	for (int sig = 1; sig < NSIG; sig++)
		(void)syscall(SYS_rt_sigaction, sig, zeros, NULL, NSIG / 8);
	for (size_t i = 0; i < NELEM(ignored); i++)
		(void)sigaction(ignored[i], &sa, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Sets all three ids, so that the user that started the helper cannot signal it, and it cannot get that
 * identity back; and checks both.
 */
static int drop_for_good(uid_t *ret_owner, bool *ret_foreign, const char **ret_err)
{
	uid_t ruid = getuid(), euid = geteuid(), u[3];
	gid_t rgid = getgid(), egid = getegid(), g[3];

	*ret_owner = ruid;
	*ret_foreign = ruid != euid;
	if (ruid == euid && rgid == egid)
		return 0;
	*ret_err = "pale-helper must not be installed setuid root: give it to a user of its own";
	if (euid == 0 && ruid != 0)
		return EXIT_REFUSED;
	*ret_err = "cannot give up the caller's identity";
	if (ruid == 0 && setgroups(0, NULL) < 0 && errno != EPERM)
		return EXIT_REFUSED;
	if (setresgid(egid, egid, egid) < 0 || setresuid(euid, euid, euid) < 0)
		return EXIT_REFUSED;
	if (getresuid(&u[0], &u[1], &u[2]) < 0 || getresgid(&g[0], &g[1], &g[2]) < 0)
		return EXIT_REFUSED;
	for (size_t i = 0; i < 3; i++)
		if (u[i] != euid || g[i] != egid)
			return EXIT_REFUSED;
	if ((ruid != euid && (setuid(ruid) == 0 || seteuid(ruid) == 0)) ||
	    (rgid != egid && setegid(rgid) == 0))
		return EXIT_REFUSED;
	*ret_err = NULL;
	return 0;
}

int hygiene(int argc, uid_t *ret_owner, bool *ret_foreign, const char **ret_err)
{
	const struct rlimit no_core = { 0, 0 };
	int r;

	*ret_err = NULL;
	if (argc < 1)
		return EXIT_NO_ARGV;
	r = fill_std_fds(ret_err);
	if (r != 0)
		return r;
	close_the_rest();
	reset_timers_and_signals();
	umask(077);
	/* The helper is not root and cannot raise a hard limit that was lowered to make it fail halfway. */
	if (limits_check(true, ret_err) < 0)
		return EXIT_REFUSED;
	*ret_err = "cannot clear the environment";
	if (clearenv() != 0)
		return EXIT_REFUSED;
	r = drop_for_good(ret_owner, ret_foreign, ret_err);
	if (r != 0)
		return r;
	*ret_err = "leads a process group of a terminal: this program is started by `pale run`";
	if (!leave_terminal() && *ret_foreign)
		return EXIT_REFUSED;
	*ret_err = "a setuid pale-helper serves only from where root installed it";
	if (*ret_foreign && !stands_where_root_put_it())
		return EXIT_REFUSED;
	*ret_err = "cannot protect the process (dumpable, core, working directory)";
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || setrlimit(RLIMIT_CORE, &no_core) < 0 || chdir("/") < 0)
		return EXIT_REFUSED;
	*ret_err = NULL;
	return 0;
}
