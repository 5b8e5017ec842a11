/*
 * system, popen and wordexp: the shell is judged here, then libc's own function does the work, with the
 * session restored in the environment.  What libc executes then passes no exec hook, and so at level full
 * not the gate either: the supervisor judges it again.
 */
/* Included before the #pragma poison of banned.h. */
#include <stdlib.h>

#include "policy/base/buf.h"

#include "preload/judge/exec_program.h"
#include "preload/process/envp.h"
#include "preload/process/real.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include "hooks.h"

extern char **environ;

#define SHELL_PATH "/bin/sh"

/* Judges the shell that libc starts for command: 0 or -errno. */
static int shell_check(const char *command)
{
	const char *const argv[] = { "sh", "-c", command, NULL };
	struct exec_query q = { .dirfd = AT_FDCWD,
				.path = SHELL_PATH,
				.cwd = AT_FDCWD,
				.argv = (char *const *)argv,
				.envp = environ };

	return exec_check_only(&q);
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

/* A command that may be passed to a shell, and its memory. */
struct shell_words {
	const char *command;
	void *map;
	size_t map_size;
};

/*
 * libc passes `environ` to the shell, and the program may have changed it.  If it lacks the session, the
 * command makes the shell set the session's variables again and start another shell with them.
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

/* A denial is -1 with EACCES: 127 would mean that a shell ran. */
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
	if (r != 0) {
		fail(r);
		return NULL;
	}
	f = real.popen(w.command, mode);
	shell_words_put(&w);
	return f;
}

/*
 * A command substitution starts a shell with `environ`, which the program may have changed.  If it lacks
 * the session, or if such a shell is denied, there is no substitution.
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
