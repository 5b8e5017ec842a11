/*
 * The files that the program of an exec opens and runs by itself, because its words name them: the program of
 * a dynamic loader, the script of an interpreter.  They are found as they would be for the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/command/script.h"
#include "policy/programs/tool.h"
#include "policy/system/cleanup.h"

#include "tools/base/outside.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"

#include "exec.h"

struct finder {
	struct exec *x;
	struct caller *c;
	struct stat st; /* of what was found last, by this word */
	const char *word;
};

/* loads_find_fn.  A file without a name (a memfd, a removed file) may be of any kind. */
static const char *find(void *ctx, const char *word, struct elf_info *ret)
{
	struct finder *f = ctx;
	char *real = caller_scratch(f->c, LIMIT_PATH), link[PROCFS_LINK_MAX];
	char *word_kept = caller_scratch(f->c, strlen(word) + 1);
	_cleanup_close_ int fd = real ? exec_hold(f->x, f->c, word, real) : -1;

	if (word_kept)
		memcpy(word_kept, word, strlen(word) + 1);
	f->word = word_kept;
	if (!real || !word_kept)
		f->x->is_unknown = true;
	if (fd < 0 || fstat(fd, &f->st) < 0 || !S_ISREG(f->st.st_mode) || f->st.st_nlink == 0) {
		/* A loader that searches may find a file there although this call did not. */
		if (ret && fd != -ENOENT && fd != -ENOTDIR && fd != -EACCES)
			f->x->is_unknown |= fd < 0 || !S_ISDIR(f->st.st_mode);
		return NULL;
	}
	procfs_own_link(fd, link);
	if (ret)
		(void)exec_inspect(link, ret);
	if (ret)
		ret->is_executable = faccessat(AT_FDCWD, link, X_OK, AT_EACCESS) == 0;
	return real;
}

/* loads_path_fn.  Of the environment that was judged. */
static const char *path_list(void *ctx, const char *name)
{
	struct finder *f = ctx;
	size_t len = strlen(name);
	struct words env;

	if (words_read(f->c, f->x->envp, &env) < 0 || !exec_env_is(&f->x->env, &env))
		return NULL;
	for (size_t i = 0; i < env.n; i++)
		if (strncmp(env.v[i], name, len) == 0 && env.v[i][len] == '=')
			return env.v[i] + len + 1;
	return NULL;
}

/* True where the caller is env(1), in a file that the session cannot write, and passes on the last words
 * of its own command line: these were judged when env itself was executed. */
static bool is_by_env(const struct request *req, struct caller *c)
{
	char exe[LIMIT_PATH], words[LIMIT_PATH];
	int n = caller_program(c, exe, words, sizeof(words));

	for (size_t i = req->argc; i > 0 && n > 0; i--) {
		const char *word = req->argv[i - 1];
		int len = (int)strlen(word) + 1;

		n -= len;
		if (n <= 0 || memcmp(words + n, word, (size_t)len) != 0)
			return false;
	}
	return n > 0 && strcmp(path_basename(exe), "env") == 0 && outside_is(&c->image, exe);
}

void exec_loads(struct exec *x, struct caller *c, struct request *req, const struct elf_info *elf)
{
	struct finder f = { .x = x, .c = c };

	if (!loads_fill(req, elf, &c->image, find, path_list, &f))
		x->is_unknown = true;
	else if (req->loads)
		exec_stamp(x, &f.st, req->loads);
	if (!req->ident)
		req->ident = tool_of(req->path);
	req->variable = exec_variable(x, c, req);
}

/* Keeps the verdict on the script t, where a rule is stricter about it.  True: it is kept. */
static bool keep_tool(struct exec *x, struct caller *c, const struct request *of, struct finder *f,
		      struct tool_script *t)
{
	struct decision d;

	t->req.variable = exec_variable(x, c, &t->req);
	d = verdict_of(c, &t->req);
	if (!script_is_held(&x->script.d, &d) || (t->keeps_name && is_by_env(of, c)))
		return false;
	if (d.verdict == VERDICT_ASK) {
		x->tool = f->word;
		x->tool_file = f->st;
		exec_stamp(x, &f->st, t->req.path);
	}
	x->script.d = d;
	x->script.held = t->req;
	return true;
}

int exec_tool(struct exec *x, struct caller *c, const struct request *of)
{
	struct finder f = { .x = x, .c = c };
	struct tool_script t = { .split = caller_scratch(c, sizeof(*t.split)) };

	for (;;) {
		if (!t.words)
			t.words = caller_scratch(c, TOOL_WORDS(of->argc) * sizeof(*t.words));
		if (!t.words || !t.split)
			return -ENOMEM;
		if (!tool_find(of, find, path_list, &f, &t))
			return 0;
		if (keep_tool(x, c, of, &f, &t))
			t.words = NULL;
	}
}
