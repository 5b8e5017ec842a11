/*
 * The exec family: the program is judged, the environment repaired, and the kernel's execve called.
 *
 * This often runs in a vfork child, on its parent's stack and memory: nothing that is written here outlives
 * the call, and nothing is held across the exec.
 */
#include <stdarg.h>

#include "preload/judge/exec_program.h"
#include "preload/process/envp.h"
#include "preload/process/sys.h"

#include "hooks.h"

extern char **environ;

#define SHELL_PATH "/bin/sh"
#define WORDS_NEAR 256

/* A vector of argument words, on the stack if it is short. */
struct words {
	char **v;
	char *near[WORDS_NEAR];
	void *map;
	size_t map_size;
};

static bool words_get(struct words *w, size_t n)
{
	w->v = w->near;
	w->map = NULL;
	if (n <= WORDS_NEAR)
		return true;
	w->map_size = n * sizeof(char *);
	w->map = scratch_get(w->map_size);
	w->v = w->map;
	return w->map != NULL;
}

static void words_put(struct words *w)
{
	if (w->map)
		scratch_put(w->map, w->map_size);
}

/* execve with the session in its environment.  Returns only on failure. */
static int exec_go(const struct exec_query *q)
{
	struct env_arena arena;
	char **env = env_repair(&arena, q->envp);
	long r = -ENOMEM;

	if (env && (q->flags || q->dirfd != AT_FDCWD))
		r = carried5(SYS_execveat, q->dirfd, q->path, q->argv, env, q->flags);
	else if (env)
		r = carried3(SYS_execve, q->path, q->argv, env);
	env_done(&arena);
	return (int)r;
}

int exec_judged(const struct exec_query *q)
{
	int r = exec_check(q);

	return r == EXEC_ALLOWED || r == EXEC_PLAIN ? exec_go(q) : r;
}

static int exec_result(int r)
{
	return fail(r == EXEC_DENIED ? -EACCES : r);
}

static int exec_path(const char *path, char *const argv[], char *const envp[])
{
	struct exec_query q = {
		.dirfd = AT_FDCWD, .path = path, .cwd = AT_FDCWD, .raw = path, .argv = argv, .envp = envp
	};

	return exec_result(exec_judged(&q));
}

/* Lets the shell read a file that the kernel does not know as a program. */
static int exec_script(const char *path, char *const argv[], char *const envp[])
{
	struct exec_query q = { .dirfd = AT_FDCWD, .path = SHELL_PATH, .cwd = AT_FDCWD, .envp = envp };
	struct words w;
	size_t n = 0;
	int r;

	while (argv && argv[n])
		n++;
	if (!words_get(&w, n + 3))
		return -ENOMEM;
	w.v[0] = (char *)SHELL_PATH;
	w.v[1] = (char *)path;
	for (size_t i = 1; i < n; i++)
		w.v[i + 1] = argv[i];
	w.v[n > 1 ? n + 1 : 2] = NULL;
	q.argv = w.v;
	r = exec_judged(&q);
	words_put(&w);
	return r;
}

/* A denied candidate ends the search: the caller does not mean another program of the same name. */
int exec_searched(struct exec_query *q, const char *file, enum exec_noexec how)
{
	struct exec_search s;
	char path[LIMIT_PATH] UNINITIALIZED;
	int r;

	exec_search_start(&s, file);
	q->raw = strchr(file, '/') ? file : NULL;
	q->path = path;
	/* NOLINTBEGIN(clang-analyzer-core.StackAddressEscape): the caller does not use q->path
	 * afterwards */
	for (;;) {
		r = exec_search_next(&s, path);
		if (r < 0)
			return r;
		r = exec_judged(q);
		if (r == -ENOEXEC && how == NOEXEC_IS_SCRIPT)
			r = exec_script(path, q->argv, q->envp);
		if (r == EXEC_DENIED || !exec_search_goes_on(&s, r))
			return r;
	}
	/* NOLINTEND(clang-analyzer-core.StackAddressEscape) */
}

static int exec_search(const char *file, char *const argv[], char *const envp[])
{
	struct exec_query q = { .dirfd = AT_FDCWD, .cwd = AT_FDCWD, .argv = argv, .envp = envp };

	return file ? exec_result(exec_searched(&q, file, NOEXEC_IS_SCRIPT)) : fail(-EFAULT);
}

int execve(const char *path, char *const argv[], char *const envp[])
{
	return exec_path(path, argv, envp);
}

int execv(const char *path, char *const argv[])
{
	return exec_path(path, argv, environ);
}

int execvp(const char *file, char *const argv[])
{
	return exec_search(file, argv, environ);
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return exec_search(file, argv, envp);
}

int execveat(int dirfd, const char *path, char *const argv[], char *const envp[], int flags)
{
	struct exec_query q = { .dirfd = dirfd,
				.path = path,
				.flags = flags,
				.cwd = AT_FDCWD,
				.raw = path,
				.argv = argv,
				.envp = envp };

	return exec_result(exec_judged(&q));
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
	struct exec_query q = {
		.dirfd = fd, .path = "", .flags = AT_EMPTY_PATH, .cwd = AT_FDCWD, .argv = argv, .envp = envp
	};

	if (fd < 0)
		return fail(-EINVAL);
	return exec_result(exec_judged(&q));
}

/* --- execl*: the words are counted, then collected --------------------------------------------- */

/* Counts the words of a list that starts with arg, without the NULL at its end. */
static size_t list_count(const char *arg, va_list ap)
{
	size_t n = 0;

	for (; arg; arg = va_arg(ap, const char *))
		n++;
	return n;
}

/* Collects n words.  ap is left after their NULL, where execle has its environment. */
static void list_collect(char **v, size_t n, const char *arg, va_list ap)
{
	for (size_t i = 0; i < n; i++, arg = va_arg(ap, const char *))
		v[i] = (char *)arg;
	v[n] = NULL;
}

typedef int (*exec_fn)(const char *path, char *const argv[], char *const envp[]);

enum list_tail { TAIL_NONE, TAIL_ENVP };

static int exec_list(exec_fn fn, enum list_tail tail, const char *path, const char *arg, va_list ap)
{
	char *const *envp = environ;
	struct words w;
	va_list again;
	size_t n;
	int r;

	va_copy(again, ap);
	n = list_count(arg, again);
	va_end(again);
	if (!words_get(&w, n + 1))
		return fail(-ENOMEM);
	va_copy(again, ap);
	list_collect(w.v, n, arg, again);
	if (tail == TAIL_ENVP)
		envp = va_arg(again, char *const *);
	va_end(again);
	r = fn(path, w.v, envp);
	words_put(&w);
	return r;
}

int execl(const char *path, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list(exec_path, TAIL_NONE, path, arg, ap);
	va_end(ap);
	return r;
}

int execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list(exec_search, TAIL_NONE, file, arg, ap);
	va_end(ap);
	return r;
}

int execle(const char *path, const char *arg, ...)
{
	va_list ap;
	int r;

	va_start(ap, arg);
	r = exec_list(exec_path, TAIL_ENVP, path, arg, ap);
	va_end(ap);
	return r;
}
