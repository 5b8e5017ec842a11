/*
 * posix_spawn, made here: a child that shares our memory does what was ordered, its opens and its exec
 * judged where and when they happen.  libc's own would open and execute unseen, by bare system calls. Follows
 * glibc's spawni.c to the letter: order of the attributes, signals blocked meanwhile, no handler left that
 * could run in our memory.
 */
#include "hooks.h"

#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "late.h"
#include "preload/judge/exec.h"
#include "preload/process/cancel.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Room for the judgement of an exec: a search through PATH, an environment, the evaluator. */
#define CHILD_STACK ((size_t)128 * 1024)

#define KNOWN_FLAGS                                                                                          \
	(POSIX_SPAWN_RESETIDS | POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |     \
	 POSIX_SPAWN_SETSCHEDPARAM | POSIX_SPAWN_SETSCHEDULER | POSIX_SPAWN_USEVFORK | POSIX_SPAWN_SETSID)

/* A signal set as the kernel has it: one word. */
#define SIGNALS 64
typedef uint64_t sigmask;

/* glibc's file actions: its layout since 2.29, its tags until 2.41. */
enum action_tag {
	ACTION_CLOSE,
	ACTION_DUP2,
	ACTION_OPEN,
	ACTION_CHDIR,
	ACTION_FCHDIR,
	ACTION_CLOSEFROM,
	ACTION_TCSETPGRP
};

struct action {
	int tag;
	union {
		const char *path;
		struct {
			int fd, to;
		} fds;
		struct {
			int fd;
			char *path;
			int flags;
			mode_t mode;
		} open;
	} u;
};

struct spawn {
	const posix_spawn_file_actions_t *fa;
	const posix_spawnattr_t *attr;
	int flags; /* of attr */
	struct exec_query query;
	const char *file; /* to be found in PATH; NULL: the query has its path */
	sigmask mask;	  /* the caller's */
	int *pidfd;	  /* where the child's descriptor goes, NULL: its number alone is wanted */
	int error;	  /* what kept the child from executing */
};

/* --- in the child ------------------------------------------------------------------------------- */

/* A handler would run in the parent's memory; exec itself resets only what is left. */
static void reset_signals(const struct spawn *s)
{
	sigmask defaults = 0;

	if (s->flags & POSIX_SPAWN_SETSIGDEF)
		memcpy(&defaults, &s->attr->__sd, sizeof defaults);
	for (int sig = 1; sig <= SIGNALS; sig++) {
		uintptr_t act[4]; /* the kernel's: handler, flags, restorer, mask */
		const uintptr_t none[4] = { 0 };
		bool wanted = defaults >> (sig - 1) & 1;

		if (raw4(SYS_rt_sigaction, sig, NULL, act, sizeof(sigmask)) < 0)
			continue;
		if (act[0] > (uintptr_t)SIG_IGN || (wanted && act[0] != (uintptr_t)SIG_DFL))
			raw4(SYS_rt_sigaction, sig, none, NULL, sizeof(sigmask));
	}
}

static long set_attributes(const struct spawn *s)
{
	const posix_spawnattr_t *a = s->attr;
	long r = 0;

	if (s->flags & POSIX_SPAWN_SETSCHEDULER)
		r = raw3(SYS_sched_setscheduler, 0, a->__policy, &a->__sp);
	else if (s->flags & POSIX_SPAWN_SETSCHEDPARAM)
		r = raw2(SYS_sched_setparam, 0, &a->__sp);
	if (r >= 0 && s->flags & POSIX_SPAWN_SETSID)
		r = raw0(SYS_setsid);
	if (r >= 0 && s->flags & POSIX_SPAWN_SETPGROUP)
		r = raw2(SYS_setpgid, 0, a->__pgrp);
	if (r >= 0 && s->flags & POSIX_SPAWN_RESETIDS) {
		r = raw3(SYS_setresuid, -1, raw0(SYS_getuid), -1);
		if (r >= 0)
			r = raw3(SYS_setresgid, -1, raw0(SYS_getgid), -1);
	}
	return r;
}

/* What is not open is closed already; a number that cannot be a descriptor is an error. */
static long act_close(int fd)
{
	struct rlimit limit = { 0 };
	long r = raw1(SYS_close, fd);

	if (r >= 0)
		return 0;
	raw4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	return fd < 0 || (rlim_t)fd >= limit.rlim_cur ? r : 0;
}

static long act_dup2(int fd, int to)
{
	long flags;

	if (fd != to)
		return raw3(SYS_dup3, fd, to, 0);
	/* Austin Group issue 411: the descriptor is meant to survive the exec. */
	flags = raw2(SYS_fcntl, fd, F_GETFD);
	return flags < 0 ? flags : raw3(SYS_fcntl, fd, F_SETFD, flags & ~FD_CLOEXEC);
}

static long act_open(const struct action *a)
{
	long r, fd;

	raw1(SYS_close, a->u.open.fd);
	fd = check_open(AT_FDCWD, a->u.open.path, a->u.open.flags | O_LARGEFILE, a->u.open.mode);
	if (fd < 0 || fd == a->u.open.fd)
		return fd;
	r = raw3(SYS_dup3, fd, a->u.open.fd, 0);
	sys_close((int)fd);
	return r;
}

static long act_tcsetpgrp(const struct spawn *s, int fd)
{
	pid_t group = s->flags & POSIX_SPAWN_SETPGROUP ? s->attr->__pgrp : 0;

	if (group == 0)
		group = (pid_t)raw1(SYS_getpgid, 0);
	return raw3(SYS_ioctl, fd, TIOCSPGRP, &group);
}

static long act(const struct spawn *s, const struct action *a)
{
	switch ((enum action_tag)a->tag) {
	case ACTION_CLOSE:
		return act_close(a->u.fds.fd);
	case ACTION_DUP2:
		return act_dup2(a->u.fds.fd, a->u.fds.to);
	case ACTION_OPEN:
		return act_open(a);
	case ACTION_CHDIR:
		return sys_wander(SYS_chdir, RAW_ARG(a->u.path));
	case ACTION_FCHDIR:
		return sys_wander(SYS_fchdir, a->u.fds.fd);
	case ACTION_CLOSEFROM:
		return raw3(SYS_close_range, a->u.fds.fd, UINT32_MAX, 0);
	case ACTION_TCSETPGRP:
		return act_tcsetpgrp(s, a->u.fds.fd);
	}
	return -ENOTSUP;
}

static long act_all(const struct spawn *s)
{
	const struct action *actions = s->fa ? (const void *)s->fa->__actions : NULL;
	long r = 0;

	for (int i = 0; actions && i < s->fa->__used && r >= 0; i++)
		r = act(s, &actions[i]);
	return r;
}

static int spawn_child(void *arg)
{
	struct spawn *s = arg;
	const void *mask = s->flags & POSIX_SPAWN_SETSIGMASK ? (const void *)&s->attr->__ss : &s->mask;
	long r;

	reset_signals(s);
	r = set_attributes(s);
	if (r >= 0)
		r = act_all(s);
	if (r >= 0) {
		raw4(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(sigmask));
		r = s->file ? exec_searched(&s->query, s->file, NOEXEC_FAILS) : exec_judged(&s->query);
	}
	s->error = r == EXEC_DENIED ? EACCES : (int)-r;
	raw1(SYS_exit_group, 127);
	return 0;
}

/* --- in the parent ------------------------------------------------------------------------------ */

/* The child's pid, or -errno.  Ours waits for it to have executed or ended. */
static long spawn_start(struct spawn *s)
{
	const sigmask all = ~(sigmask)0;
	/* The room lies above the stack, so that the pages that are touched are neighbours. */
	char *stack = scratch_get(CHILD_STACK + EXEC_ROOM);
	int saved = errno, was;
	long pid;

	if (!stack)
		return -ENOMEM;
	s->query.room = stack + CHILD_STACK;
	raw4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &s->mask, sizeof all);
	/* A cancellation that waits for the parent is none of the child, whose memory is the same. */
	was = cancel_disable();
	pid = real.clone(spawn_child, stack + CHILD_STACK,
			 CLONE_VM | CLONE_VFORK | SIGCHLD | (s->pidfd ? CLONE_PIDFD : 0), s, s->pidfd);
	if (pid < 0)
		pid = -errno;
	else if (s->error) {
		raw4(SYS_wait4, pid, NULL, 0, NULL);
		if (s->pidfd)
			sys_close(*s->pidfd);
	}
	cancel_restore(was);
	raw4(SYS_rt_sigprocmask, SIG_SETMASK, &s->mask, NULL, sizeof all);
	scratch_put(stack, CHILD_STACK + EXEC_ROOM);
	errno = saved;
	return pid > 0 && s->error ? -s->error : pid;
}

/* 0, or an errno as posix_spawn returns it. */
static int spawn(struct spawn *s, pid_t *ret_pid)
{
	struct env_arena arena;
	long pid;

	s->flags = s->attr ? s->attr->__flags : 0;
	if (s->flags & ~KNOWN_FLAGS)
		return ENOTSUP;
	s->query.dirfd = s->query.cwd = AT_FDCWD;
	/* Here and not in the child, who could not give its memory back after the exec. */
	s->query.envp = env_repair(&arena, s->query.envp);
	pid = s->query.envp ? spawn_start(s) : -ENOMEM;
	env_done(&arena);
	if (pid < 0)
		return (int)-pid;
	if (ret_pid)
		*ret_pid = (pid_t)pid;
	return 0;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *fa,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	struct spawn s = {
		.fa = fa,
		.attr = attr,
		.query = { .path = path, .raw = path, .argv = argv, .envp = envp },
	};

	if (in_session())
		return spawn(&s, pid);
	if (!real.posix_spawn)
		real_init();
	return real.posix_spawn(pid, path, fa, attr, argv, envp);
}

/* glibc has these two since 2.39.  Outside of a session they are what libc has, which may be nothing. */
int pidfd_spawn(int *pidfd, const char *path, const posix_spawn_file_actions_t *fa,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	static __typeof__(pidfd_spawn) *libc_spawn;
	struct spawn s = {
		.fa = fa,
		.attr = attr,
		.pidfd = pidfd,
		.query = { .path = path, .raw = path, .argv = argv, .envp = envp },
	};

	if (in_session())
		return spawn(&s, NULL);
	return LATE(libc_spawn, "pidfd_spawn") ? libc_spawn(pidfd, path, fa, attr, argv, envp) : ENOSYS;
}

int pidfd_spawnp(int *pidfd, const char *file, const posix_spawn_file_actions_t *fa,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	static __typeof__(pidfd_spawnp) *libc_spawn;
	struct spawn s = {
		.fa = fa,
		.attr = attr,
		.pidfd = pidfd,
		.query = { .argv = argv, .envp = envp },
		.file = file,
	};

	if (in_session() && file)
		return spawn(&s, NULL);
	return LATE(libc_spawn, "pidfd_spawnp") ? libc_spawn(pidfd, file, fa, attr, argv, envp) : ENOSYS;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *fa,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	struct spawn s = {
		.fa = fa,
		.attr = attr,
		.query = { .argv = argv, .envp = envp },
		.file = file,
	};

	if (in_session() && file)
		return spawn(&s, pid);
	if (!real.posix_spawnp)
		real_init();
	return real.posix_spawnp(pid, file, fa, attr, argv, envp);
}
