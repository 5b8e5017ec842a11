/*
 * posix_spawn, implemented here: a child that shares the parent's memory performs the file actions and the
 * exec, which are judged at that time and in that place.  libc's own function would open and execute by
 * bare system calls, without a hook.  This follows glibc's spawni.c exactly: the order of the attributes,
 * signals blocked meanwhile, and no handler left that could run in the parent's memory.
 */
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "preload/judge/check_open.h"
#include "preload/judge/exec_program.h"
#include "preload/process/cancel.h"
#include "preload/process/envp.h"
#include "preload/process/memory.h"
#include "preload/process/real.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "hooks.h"
#include "late.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Room for the judgement of an exec: a search through PATH, an environment and the evaluator. */
#define CHILD_STACK ((size_t)128 * 1024)

#define KNOWN_FLAGS                                                                                          \
	(POSIX_SPAWN_RESETIDS | POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |     \
	 POSIX_SPAWN_SETSCHEDPARAM | POSIX_SPAWN_SETSCHEDULER | POSIX_SPAWN_USEVFORK | POSIX_SPAWN_SETSID)

/* A signal set of the kernel: one word. */
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
	const char *file; /* to be found in PATH; NULL: the query has the path */
	sigmask mask;	  /* the caller's */
	int *pidfd;	  /* where to store the child's pidfd, NULL: only its pid is wanted */
	int error;	  /* the errno if the child could not execute */
};

/* --- in the child ------------------------------------------------------------------------------- */

/* Resets the handlers, since a handler would run in the parent's memory until the exec. */
static void reset_signals(const struct spawn *s)
{
	sigmask defaults = 0;

	if (s->flags & POSIX_SPAWN_SETSIGDEF)
		memcpy(&defaults, &s->attr->__sd, sizeof defaults);
	for (int sig = 1; sig <= SIGNALS; sig++) {
		uintptr_t act[4]; /* the kernel's structure: handler, flags, restorer, mask */
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

/* A descriptor that is not open is closed already; a number that cannot be a descriptor is an error. */
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
	/* Austin Group issue 411: the descriptor must survive the exec. */
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

/* Returns the child's pid, or -errno.  The parent waits until the child has executed or ended
 * (CLONE_VFORK). */
static long spawn_start(struct spawn *s)
{
	const sigmask all = ~(sigmask)0;
	/* The room is directly above the stack, so that the pages that are used are neighbours. */
	char *stack = scratch_get(CHILD_STACK + EXEC_ROOM);
	long pid;
	int was;

	if (!stack)
		return -ENOMEM;
	s->query.room = stack + CHILD_STACK;
	raw4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &s->mask, sizeof all);
	/* A cancellation that is pending in the parent must not take effect in the child, which shares its
	 * memory. */
	was = cancel_disable();
	pid = raw_clone(CLONE_VM | CLONE_VFORK | SIGCHLD | (s->pidfd ? CLONE_PIDFD : 0), stack + CHILD_STACK,
			s->pidfd, spawn_child, s);
	if (pid > 0 && s->error) {
		raw4(SYS_wait4, pid, NULL, 0, NULL);
		if (s->pidfd)
			sys_close(*s->pidfd);
	}
	cancel_restore(was);
	raw4(SYS_rt_sigprocmask, SIG_SETMASK, &s->mask, NULL, sizeof all);
	scratch_put(stack, CHILD_STACK + EXEC_ROOM);
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
	if (!memory_has_words(s->query.envp))
		return EFAULT;
	s->query.dirfd = s->query.cwd = AT_FDCWD;
	/* Repaired here and not in the child, which could not free the memory after the exec. */
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

/* glibc has these two functions since 2.39.  Outside a session libc's own are called, or they fail with
 * ENOSYS. */
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
