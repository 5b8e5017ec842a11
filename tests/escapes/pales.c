/* Ways at pale itself: its supervisor, its helper, and processes of the same user that are of no session. */
#include "escape.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#ifndef PTRACE_SEIZE
#define PTRACE_SEIZE 0x4206
#endif

#define EACH(name, ...)                                                                                      \
	PROBE(pale_##name)                                                                                   \
	{                                                                                                    \
		pid_t pid = escape_pale;                                                                     \
		__VA_ARGS__                                                                                  \
	}                                                                                                    \
	PROBE(helper_##name)                                                                                 \
	{                                                                                                    \
		pid_t pid = escape_helper;                                                                   \
		if (pid <= 0)                                                                                \
			return NOT_HERE;                                                                     \
		__VA_ARGS__                                                                                  \
	}

/* SIGURG does nothing to who does not wait for it. */
EACH(kill, { return if_done(DO(kill, pid, SIGURG)); })
EACH(kill_high_bits, { return if_done(SC(kill, 1L << 32 | pid, SIGURG)); })
EACH(tkill, { return if_done(SC(tkill, pid, SIGURG)); })
EACH(tgkill, { return if_done(SC(tgkill, pid, pid, SIGURG)); })
EACH(sigqueue, {
	siginfo_t si = { .si_signo = SIGURG, .si_code = SI_QUEUE };

	return if_done(SC(rt_sigqueueinfo, pid, SIGURG, &si));
})
EACH(tgsigqueue, {
	siginfo_t si = { .si_signo = SIGURG, .si_code = SI_QUEUE };

	return if_done(SC(rt_tgsigqueueinfo, pid, pid, SIGURG, &si));
})
EACH(pidfd_signal, {
	int fd = (int)SC(pidfd_open, pid, 0);

	return fd < 0 ? STOPPED : if_done(SC(pidfd_send_signal, fd, SIGURG, NULL, 0));
})
EACH(proc_signal, {
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = (int)DO(open, path, O_RDONLY | O_DIRECTORY, 0);
	return fd < 0 ? STOPPED : if_done(SC(pidfd_send_signal, fd, SIGURG, NULL, 0));
})
/* Limits, priorities and schedules are set to what they are: it is the leave that counts. */
EACH(prlimit, {
	struct rlimit old;

	if (SC(prlimit64, pid, RLIMIT_CORE, NULL, &old) < 0)
		return STOPPED;
	old.rlim_cur = 0;
	return if_done(SC(prlimit64, pid, RLIMIT_CORE, &old, NULL));
})
EACH(setpriority, { return if_done(DO(setpriority, PRIO_PROCESS, pid, getpriority(PRIO_PROCESS, 0))); })
EACH(ioprio, { return if_done(SC(ioprio_set, 1, pid, 2 << 13 | 4)); })
EACH(schedule, {
	struct sched_param sp = { 0 };

	return if_done(SC(sched_setscheduler, pid, SCHED_OTHER, &sp));
})
EACH(sched_attr, {
	uint32_t a[12] = { 48, [4] = (uint32_t)getpriority(PRIO_PROCESS, 0) };

	return if_done(SC(sched_setattr, pid, a, 0));
})
EACH(affinity, {
	cpu_set_t set;

	if (SC(sched_getaffinity, pid, sizeof(set), &set) < 0)
		return STOPPED;
	return if_done(SC(sched_setaffinity, pid, sizeof(set), &set));
})
EACH(ptrace, { return if_done(SC(ptrace, PTRACE_SEIZE, pid, 0, 0)); })
EACH(read_memory, {
	char buf[8];
	struct iovec local = { buf, sizeof(buf) }, remote = { (void *)&escape_call, sizeof(buf) };
	long n = SC(process_vm_readv, pid, &local, 1, &remote, 1, 0);

	/* Nothing mapped there tells as well that we may look. */
	return n > 0 || errno == EFAULT ? WORKED : STOPPED;
})
EACH(write_memory, {
	char buf[8] = "";
	struct iovec local = { buf, sizeof(buf) }, remote = { NULL, sizeof(buf) };
	long n = SC(process_vm_writev, pid, &local, 1, &remote, 1, 0);

	return n > 0 || errno == EFAULT ? WORKED : STOPPED;
})
EACH(take_descriptor, {
	int fd = (int)SC(pidfd_open, pid, 0);

	return fd < 0 ? STOPPED : if_done(SC(pidfd_getfd, fd, 0, 0));
})
EACH(proc_mem, {
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return if_done(DO(open, path, O_RDWR, 0));
})
EACH(proc_environ, {
	char path[64], buf[16];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	return read((int)DO(open, path, O_RDONLY, 0), buf, sizeof(buf)) > 0 ? WORKED : STOPPED;
})
EACH(proc_maps, {
	char path[64], buf[16];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return read((int)DO(open, path, O_RDONLY, 0), buf, sizeof(buf)) > 0 ? WORKED : STOPPED;
})
EACH(proc_descriptors, {
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return if_done(DO(open, path, O_RDONLY | O_DIRECTORY, 0));
})
EACH(oom_score, {
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = (int)DO(open, path, O_WRONLY, 0);
	return fd >= 0 && write(fd, "500", 3) == 3 ? WORKED : STOPPED;
})
EACH(kcmp, { return if_done(SC(kcmp, getpid(), pid, 0, 0, 0)); })
EACH(move_pages, { return if_done(SC(move_pages, pid, 0, 0, 0, 0)); })

/* --- the same user's other processes ------------------------------------------------------------------ */

PROBE(other_kill)
{
	return if_done(DO(kill, escape_neighbour, SIGURG));
}

PROBE(other_tkill)
{
	return if_done(SC(tkill, escape_neighbour, SIGURG));
}

PROBE(other_sigqueue)
{
	siginfo_t si = { .si_signo = SIGURG, .si_code = SI_QUEUE };

	return if_done(SC(rt_sigqueueinfo, escape_neighbour, SIGURG, &si));
}

PROBE(other_pidfd_signal)
{
	int fd = (int)SC(pidfd_open, escape_neighbour, 0);

	return fd < 0 ? STOPPED : if_done(SC(pidfd_send_signal, fd, SIGURG, NULL, 0));
}

PROBE(other_group)
{
	return if_done(SC(kill, -getpgid(escape_neighbour), SIGURG));
}

PROBE(other_ptrace)
{
	return if_done(SC(ptrace, PTRACE_SEIZE, escape_neighbour, 0, 0));
}

PROBE(other_memory)
{
	char buf[8];
	struct iovec local = { buf, sizeof(buf) }, remote = { NULL, sizeof(buf) };

	return SC(process_vm_readv, escape_neighbour, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT
		       ? WORKED
		       : STOPPED;
}

PROBE(other_environ)
{
	char path[64], buf[16];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)escape_neighbour);
	return read((int)DO(open, path, O_RDONLY, 0), buf, sizeof(buf)) > 0 ? WORKED : STOPPED;
}

PROBE(other_mem)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)escape_neighbour);
	return if_done(DO(open, path, O_RDWR, 0));
}

PROBE(other_prlimit)
{
	struct rlimit rl = { 0, 0 };

	return if_done(SC(prlimit64, escape_neighbour, RLIMIT_CORE, &rl, NULL));
}

PROBE(other_priority)
{
	uint32_t a[12] = { 48, 0, 0, 0, 19 };

	if (DO(setpriority, PRIO_PROCESS, escape_neighbour, 19) == 0)
		return WORKED;
	if (SC(ioprio_set, 1, escape_neighbour, 3 << 13) == 0)
		return WORKED;
	return if_done(SC(sched_setattr, escape_neighbour, a, 0));
}

PROBE(other_schedule)
{
	struct sched_param sp = { 0 };
	cpu_set_t set;

	if (SC(sched_setscheduler, escape_neighbour, SCHED_OTHER, &sp) == 0)
		return WORKED;
	if (SC(sched_setparam, escape_neighbour, &sp) == 0)
		return WORKED;
	if (SC(sched_getaffinity, escape_neighbour, sizeof(set), &set) < 0)
		return STOPPED;
	return if_done(SC(sched_setaffinity, escape_neighbour, sizeof(set), &set));
}

PROBE(other_descriptor)
{
	int fd = (int)SC(pidfd_open, escape_neighbour, 0);

	return fd < 0 ? STOPPED : if_done(SC(pidfd_getfd, fd, 0, 0));
}

/* --- taking the fence off ------------------------------------------------------------------------------ */

static struct sock_filter allow_all[] = { { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
static struct sock_fprog allowing = { 1, allow_all };

/* An own filter that allows everything does not allow what an older one does not. */
PROBE(fence_filter_over_ours)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || SC(seccomp, 1, 0, &allowing) < 0)
		return STOPPED;
	return read_it((int)DO(open, escape_key, O_RDONLY, 0));
}

PROBE(fence_second_listener)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return STOPPED;
	return if_done(SC(seccomp, 1, 8, &allowing));
}

PROBE(fence_notify_over_ours)
{
	struct sock_filter f[] = { { BPF_LD | BPF_W | BPF_ABS, 0, 0, 0 },
				   { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_getppid },
				   { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF },
				   { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
	struct sock_fprog p = { 4, f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || SC(seccomp, 1, 0, &p) < 0)
		return STOPPED;
	return read_it((int)DO(open, escape_key, O_RDONLY, 0));
}

/* Whom the supervisor cannot look into gets nothing, not everything. */
PROBE(fence_not_dumpable)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return read_it((int)DO(open, escape_key, O_RDONLY, 0));
}

PROBE(fence_own_mem)
{
	static char path[4096];
	int mem = (int)DO(open, "/proc/self/mem", O_RDWR, 0);

	/* The path stands in memory that is written by another way while it is read. */
	snprintf(path, sizeof(path), "%s", "locked/file");
	if (mem < 0 || pwrite(mem, escape_key, strlen(escape_key) + 1, (off_t)(uintptr_t)path) < 0)
		return STOPPED;
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(fence_name_at_edge_of_memory)
{
	/* Not in one piece of what can be read: the last bytes before a hole. */
	extern char **environ;
	char *name = environ[0];
	long page = sysconf(_SC_PAGESIZE);
	char *end;

	if (!name)
		return NOT_HERE;
	end = (char *)(((uintptr_t)name + (uintptr_t)page) & ~((uintptr_t)page - 1));
	if (DO(open, end - 1, O_RDONLY, 0) >= 0)
		return STOPPED;
	return read_it((int)DO(open, escape_key, O_RDONLY, 0));
}
