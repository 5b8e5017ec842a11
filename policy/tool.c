/*
 * Scripts by their interpreters.  Only an interpreter's first operand counts: what a script does with other
 * words, or an interpreter with a text of its own (-c, -e), nobody can tell from a command line.
 */
#include "tool.h"

#include <string.h>

#include "cmd.h"
#include "path.h"

/* Options that take the next word; with a letter of stop it runs no file. */
static const struct {
	const char *names, *shorts, *longs, *stop;
} interpreters[] = {
	{ "python pypy", "WXQ", "check-hash-based-pycs", "c" }, /* of -m the module is the first operand */
	{ "node nodejs", "rC", "require import loader experimental-loader conditions title", "ep" },
	{ "bun", "r", "preload require cwd config", "ep" },
	{ "sh bash dash ash zsh ksh", "oO", "rcfile init-file", "cs" },
	{ "ruby", "IrC", "", "e" },
	{ "perl", "I", "", "eE" },
};

/* What the scripts of well known tools are called. */
static const struct {
	const char *file, *tool;
} tools[] = {
	{ "npm-cli.js", "npm" }, { "npx-cli.js", "npx" }, { "pnpm.cjs", "pnpm" },
	{ "pnpx.cjs", "pnpx" },	 { "yarn.js", "yarn" },
};

const char *tool_of(const char *path)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (strcmp(path_basename(path), tools[i].file) == 0)
			return tools[i].tool;
	return NULL;
}

/* Index of the word that is the script, or the count. */
static size_t script_at(const struct command *c)
{
	struct cmd_names names;

	/* python3.11 is python. */
	cmd_names_of(c, NULL, &names);
	for (size_t i = 0; i < names.n; i++)
		for (size_t r = 0; r < sizeof(interpreters) / sizeof(interpreters[0]); r++)
			if (word_in_list(interpreters[r].names, names.list[i].p, names.list[i].len))
				return command_operand(c, interpreters[r].shorts, interpreters[r].longs,
						       interpreters[r].stop);
	return command_count(c);
}

bool tool_find(const struct request *of, loads_find_fn *find, void *ctx, struct tool_script *ret)
{
	const char *extra, *word, *name;
	struct command c = command_of(of, &extra), inner;
	size_t n, at;

	for (unsigned depth = 0; depth < LIMIT_DEPTH && request_unwrap(of, depth, &c, &inner, &extra);
	     depth++)
		c = inner;
	n = command_count(&c);
	at = script_at(&c);
	word = command_arg(&c, at);
	if (at >= n || !*path_basename(word) || n - at >= TOOL_WORDS(of->argc))
		return false;
	for (size_t i = at; i < n; i++)
		ret->words[i - at] = command_arg(&c, i);
	ret->words[n - at] = NULL;
	ret->req = (struct request){ .op = OP_EXEC,
				     .access = op_access(OP_EXEC),
				     .is_root = of->is_root,
				     .path = find(ctx, word, NULL),
				     .cwd = of->cwd,
				     .env = of->env,
				     .argv = ret->words,
				     .argc = n - at };
	name = ret->req.path ? ret->req.path : word;
	ret->req.ident = tool_of(name);
	ret->keeps_name = strcmp(path_basename(name), path_basename(word)) == 0 ||
			  (ret->req.ident && strcmp(ret->req.ident, path_basename(word)) == 0);
	return true;
}
