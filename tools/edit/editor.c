/*
 * The operator's editor, on one file.
 */
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/base/output.h"
#include "tools/base/shellsplit.h"

#include "edit.h"

extern char **environ;

struct words {
	char **argv; /* owned; the last word is the file */
	size_t n;
};

static void words_done(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->argv[i]);
	free(w->argv);
}

static int words_add(struct words *w, const char *word)
{
	char **grown = realloc(w->argv, (w->n + 2) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	w->argv = grown;
	grown[w->n] = strdup(word);
	if (!grown[w->n])
		return -ENOMEM;
	grown[++w->n] = NULL;
	return 0;
}

/* Splits the command at blanks and quotes; a second command or a redirection is an error. */
static int split_command(struct words *w, const char *command, const char *file)
{
	struct shell_part *parts = NULL;
	size_t n = 0;
	int r = shell_split(command, &parts, &n);

	if (r == 0 && (n != 1 || parts[0].op != OP_EXEC || parts[0].n == 0))
		r = -EINVAL;
	for (size_t i = 0; r == 0 && i < parts[0].n; i++)
		r = words_add(w, parts[0].words[i]);
	shell_parts_done(parts, n);
	return r < 0 ? r : words_add(w, file);
}

/* As system(3): signals from the terminal go to the editor, which gets their default handlers. */
static int spawn_wait(char *const *argv, int *ret_status)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, intr, quit;
	posix_spawnattr_t attr;
	sigset_t set;
	pid_t pid;
	int r = posix_spawnattr_init(&attr);

	if (r != 0)
		return -r;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	(void)posix_spawnattr_setsigdefault(&attr, &set);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	sigaction(SIGINT, &ignore, &intr);
	sigaction(SIGQUIT, &ignore, &quit);
	r = posix_spawnp(&pid, argv[0], NULL, &attr, argv, environ);
	while (r == 0 && waitpid(pid, ret_status, 0) < 0)
		r = errno == EINTR ? 0 : errno;
	sigaction(SIGINT, &intr, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	posix_spawnattr_destroy(&attr);
	return -r;
}

static int run_editor(const char *command, const char *file, int *ret_status)
{
	struct words w = { 0 };
	int r = split_command(&w, command, file);

	if (r == 0)
		r = spawn_wait(w.argv, ret_status);
	words_done(&w);
	return r;
}

static const char *chosen(void)
{
	const char *editor = getenv("VISUAL");

	if (!editor || !*editor)
		editor = getenv("EDITOR");
	return editor && *editor ? editor : NULL;
}

int editor_run(const char *file)
{
	const char *own = chosen(), *command = own ? own : "editor";
	int status = 0, r = run_editor(command, file, &status);

	if (r == -ENOENT && !own)
		r = run_editor(command = "vi", file, &status);
	if (r < 0)
		talk("the editor (%s) cannot be run: %s", command,
		     r == -EINVAL ? "it is no plain command" : strerror(-r));
	else if (status != 0)
		talk("the editor (%s) failed", command);
	return r < 0 ? r : status != 0 ? -EIO : 0;
}
