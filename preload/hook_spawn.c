/*
 * posix_spawn, system and popen: judged in the parent, then libc's own, with the environment
 * repaired.  What libc executes below them never passes an exec hook.
 */
/* Before the poison of internal.h. */
#include <stdlib.h>

#include "preload/hooks.h"

#include "preload/exec.h"

extern char **environ;

#define SHELL_PATH "/bin/sh"

/* --- posix_spawn -------------------------------------------------------------------------------- */

/*
 * glibc's file actions as far as they change the directory (its layout since 2.29): a relative
 * program is meant from there.
 */
enum { ACTION_OPEN = 2, ACTION_CHDIR = 3, ACTION_FCHDIR = 4 };

struct action {
	int tag;
	union {
		const char *path;
		int fd;
		struct {
			int fd;
			char *path;
			int flags;
			mode_t mode;
		} open; /* the widest: it gives the stride */
	} u;
};

/* An open that the child will do in dir.  0 or -errno. */
static int check_child_open(int dir, const char *path, int flags)
{
	unsigned want = open_access(flags);
	struct spot spot;
	int r;

	if (flags & O_PATH)
		return 0;
	r = check_access(&spot, want & ACCESS_WRITE ? OP_WRITE : OP_READ, want, dir, path,
			 flags & O_NOFOLLOW ? RESOLVE_NOFOLLOW_LAST : RESOLVE_FOLLOW_LAST);
	spot_done(&spot);
	return r;
}

enum walk { WALK_DIRS, WALK_JUDGE };

/*
 * The directory in which the child will execute: AT_FDCWD, a descriptor to close, or -errno.
 * WALK_JUDGE looks at the opens as well: what was ordered may have come to mean something else.
 */
static int spawn_cwd(const posix_spawn_file_actions_t *fa, enum walk how)
{
	const struct action *actions = fa ? (const void *)fa->__actions : NULL;
	int dir = AT_FDCWD;

	for (int i = 0; actions && i < fa->__used; i++) {
		const struct action *a = &actions[i];
		int from = dir, r;

		if (a->tag == ACTION_OPEN && how == WALK_JUDGE) {
			r = check_child_open(dir, a->u.open.path, a->u.open.flags);
			if (r == 0)
				continue;
			if (dir >= 0)
				sys_close(dir);
			return r;
		}
		if (a->tag == ACTION_CHDIR)
			dir = (int)raw4(SYS_openat, from, a->u.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
		else if (a->tag == ACTION_FCHDIR)
			dir = (int)raw4(SYS_openat, a->u.fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
		else
			continue;
		if (from >= 0)
			sys_close(from);
		if (dir < 0)
			return dir;
	}
	return dir;
}

struct spawn {
	pid_t *pid;
	const posix_spawn_file_actions_t *fa;
	const posix_spawnattr_t *attr;
};

static int spawn_go(const struct spawn *s, const struct exec_query *q)
{
	struct env_arena arena;
	char **env = env_repair(&arena, q->envp);
	int r = env ? real.posix_spawn(s->pid, q->path, s->fa, s->attr, q->argv, env) : ENOMEM;

	env_done(&arena);
	return r;
}

/* Finds, judges, spawns.  0, or an errno as posix_spawn returns it. */
static int spawn_search(const struct spawn *s, struct exec_query *q, const char *file)
{
	struct exec_search search;
	char path[LIMIT_PATH];
	int r;

	exec_search_start(&search, file);
	q->path = path;
	for (;;) {
		r = exec_search_next(&search, path);
		if (r < 0)
			return -r;
		r = exec_check(q);
		if (r == EXEC_ALLOWED)
			return spawn_go(s, q);
		if (r == EXEC_DENIED)
			return EACCES;
		if (!exec_search_goes_on(&search, r))
			return -r;
	}
}

enum spawn_how { SPAWN_PATH, SPAWN_SEARCH };

static int spawn_judged(const struct spawn *s, enum spawn_how how, const char *path, char *const argv[],
			char *const envp[])
{
	struct exec_query q = { .path = path, .raw = path, .argv = argv, .envp = envp };
	int dir, r;

	dir = spawn_cwd(s->fa, WALK_JUDGE);
	if (dir < 0 && dir != AT_FDCWD)
		return -dir;
	q.dirfd = q.cwd = dir;
	if (how == SPAWN_SEARCH && !strchr(path, '/')) {
		q.raw = NULL;
		r = spawn_search(s, &q, path);
	} else {
		r = exec_check(&q);
		r = r == EXEC_ALLOWED ? spawn_go(s, &q) : r == EXEC_DENIED ? EACCES : -r;
	}
	if (dir >= 0)
		sys_close(dir);
	return r;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *fa,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	struct spawn s = { pid, fa, attr };

	if (!real.posix_spawn)
		real_init();
	if (!in_session())
		return real.posix_spawn(pid, path, fa, attr, argv, envp);
	return spawn_judged(&s, SPAWN_PATH, path, argv, envp);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *fa,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	struct spawn s = { pid, fa, attr };

	if (!real.posix_spawnp)
		real_init();
	if (!in_session())
		return real.posix_spawnp(pid, file, fa, attr, argv, envp);
	return spawn_judged(&s, SPAWN_SEARCH, file, argv, envp);
}

/* The open happens in the child, unseen: judged when it is ordered.  What does not resolve then is an
 * error at once, so that a name cannot be ordered first and made to mean something later. */
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *fa, int fd, const char *path, int flags,
				     mode_t mode)
{
	int dir, r;

	if (!real.posix_spawn_file_actions_addopen)
		real_init();
	if (!in_session() || flags & O_PATH)
		return real.posix_spawn_file_actions_addopen(fa, fd, path, flags, mode);
	dir = spawn_cwd(fa, WALK_DIRS);
	r = check_child_open(dir, path, flags);
	if (dir >= 0)
		sys_close(dir);
	if (r < 0)
		return -r;
	return real.posix_spawn_file_actions_addopen(fa, fd, path, flags, mode);
}

/* --- system, popen ------------------------------------------------------------------------------ */

/* The shell that libc will start for command. */
static int shell_check(const char *command)
{
	const char *const argv[] = { "sh", "-c", command, NULL };
	struct exec_query q = { .dirfd = AT_FDCWD,
				.path = SHELL_PATH,
				.cwd = AT_FDCWD,
				.argv = (char *const *)argv,
				.envp = environ };
	int r = exec_check(&q);

	return r == EXEC_DENIED ? -EACCES : r;
}

static void put_quoted(struct out *o, const char *s)
{
	text_str(o, "'");
	for (const char *quote; (quote = strchr(s, '\'')) != NULL; s = quote + 1) {
		put_bytes(o, s, (size_t)(quote - s));
		text_str(o, "'\\''");
	}
	text_str(o, s);
	text_str(o, "'");
}

/* NAME=value as a shell would assign it. */
static void put_assignment(struct out *o, const char *entry)
{
	size_t name = strcspn(entry, "=") + 1;

	put_bytes(o, entry, name);
	put_quoted(o, entry + name);
	text_str(o, " ");
}

/* A command that a shell may be handed, and the memory behind it. */
struct shell_words {
	const char *command;
	void *map;
	size_t map_size;
};

/*
 * libc hands `environ` to the shell, and environ is the program's: where it has lost the session
 * the shell is told to bring it back, and to start over with it.
 */
static bool shell_words(struct shell_words *w, const char *command)
{
	struct env_arena arena;
	char **env = env_repair(&arena, environ);
	struct out o;

	*w = (struct shell_words){ .command = command };
	if (env == environ)
		return true;
	if (env) {
		w->map_size = 4 * (strlen(env[0]) + strlen(env[1]) + strlen(command)) + 64;
		w->map = scratch_get(w->map_size);
	}
	if (w->map) {
		o = out_of(w->map, w->map_size);
		put_assignment(&o, env[0]);
		put_assignment(&o, env[1]);
		text_str(&o, "exec " SHELL_PATH " -c ");
		put_quoted(&o, command);
		w->command = text_end(&o);
	}
	env_done(&arena);
	return w->map != NULL;
}

static void shell_words_put(struct shell_words *w)
{
	if (w->map)
		scratch_put(w->map, w->map_size);
}

/* Denied is -1 with EACCES: 127 would claim that a shell ran. */
int system(const char *command)
{
	struct shell_words w;
	int r;

	if (!real.system)
		real_init();
	if (!in_session() || !command)
		return real.system(command);
	r = shell_check(command);
	if (r < 0)
		return fail(r);
	if (!shell_words(&w, command))
		return fail(-ENOMEM);
	r = real.system(w.command);
	shell_words_put(&w);
	return r;
}

FILE *popen(const char *command, const char *mode)
{
	struct shell_words w;
	FILE *f;
	int r;

	if (!real.popen)
		real_init();
	if (!in_session() || !command || !mode)
		return real.popen(command, mode);
	r = shell_check(command);
	if (r == 0 && !shell_words(&w, command))
		r = -ENOMEM;
	if (r < 0) {
		fail(r);
		return NULL;
	}
	f = real.popen(w.command, mode);
	shell_words_put(&w);
	return f;
}

/*
 * Substitution of commands starts a shell with `environ`, which is the program's: where it has lost
 * the session, or where such a shell is denied, there is no substitution.
 */
int wordexp(const char *words, wordexp_t *ret, int flags)
{
	if (!real.wordexp)
		real_init();
	if (in_session() && words && !(flags & WRDE_NOCMD) && (strstr(words, "$(") || strchr(words, '`')) &&
	    (!env_is_intact(environ) || shell_check(words) < 0))
		flags |= WRDE_NOCMD;
	return real.wordexp(words, ret, flags);
}
