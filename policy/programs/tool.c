/*
 * Finds the scripts that an interpreter's options or first operand name.  Nothing else is read: not the words
 * of the script, and not program text that is given with -c or -e.
 */
#include "tool.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"

enum interpreter_flag {
	IS_SHELL = 1,	   /* `+x` is an option, -o within a cluster takes the next word */
	SEARCHES_JS = 2,   /* X may be X.js or X/index.js */
	SEARCHES_MAIN = 4, /* X may be X/__main__.py */
	LOOKS_FIRST = 8,   /* in the list `search`, and only then in the working directory */
	BY_OPTION = 16,	   /* only options name scripts, each its own */
	ONE_DASH = 32,	   /* a long option may have one dash */
	W_IS_LONG = 64,	   /* -W exec and -Wexec are --exec */
};

/*
 * shorts, longs: options that take the next word, also with an underscore for a dash; one that ends in `+`
 * takes a script, and may be cut short.  rest: letters whose value is the rest of the word.  stop: letters
 * with which it runs no file.  plain: long options without a value, which may have one dash, so they are not
 * read as letters.  joined: letters after which the script stands, attached or as the next word. verb: the
 * word before the script.  search: the variable with the directories in which it looks for a name without a
 * slash that the working directory does not have.  Which of several files it takes depends on who may read or
 * execute them, so each is judged.
 */
static const struct interpreter {
	const char *names, *shorts, *longs, *rest, *stop, *joined, *verb;
	unsigned flags;
	const char *search, *plain;
} interpreters[] = {
	{ "python pypy", "WXQ", "check-hash-based-pycs", "", "c", "m", "", SEARCHES_MAIN, NULL, NULL },
	{ "node nodejs", "rC",
	  "require import loader experimental-loader conditions title allow-fs-read allow-fs-write "
	  "build-snapshot-config cpu-prof-dir cpu-prof-interval cpu-prof-name diagnostic-dir "
	  "disable-proto disable-warning dns-result-order env-file env-file-if-exists "
	  "es-module-specifier-resolution experimental-config-file experimental-default-type "
	  "experimental-policy experimental-sea-config experimental-specifier-resolution "
	  "experimental-test-isolation heap-prof-dir heap-prof-interval heap-prof-name "
	  "heapsnapshot-near-heap-limit heapsnapshot-signal icu-data-dir input-type "
	  "inspect-publish-uid inspect-port debug-port localstorage-file max-http-header-size "
	  "network-family-autoselection-attempt-timeout openssl-config policy-integrity "
	  "redirect-warnings report-dir report-directory report-filename report-signal secure-heap "
	  "secure-heap-min snapshot-blob stack-trace-limit test-concurrency test-coverage-branches "
	  "test-coverage-exclude test-coverage-functions test-coverage-include test-coverage-lines "
	  "test-global-setup test-isolation test-name-pattern test-reporter "
	  "test-reporter-destination test-shard test-skip-pattern test-timeout tls-cipher-list "
	  "tls-keylog tls-max-v1.2 tls-min-v1.0 trace-event-categories trace-event-file-pattern "
	  "trace-require-module unhandled-rejections use-largepages v8-pool-size watch-path",
	  "", "ep", "", "", SEARCHES_JS, NULL, NULL },
	{ "bun", "r", "preload require cwd config", "", "ep", "", "run", SEARCHES_JS, NULL, NULL },
	{ "deno", "c", "config import-map lock cert location seed ext env-file", "", "", "", "run", 0, NULL,
	  NULL },
	/* bash shell.c (open_shell_script), ksh93 path.c, zsh init.c (PATH_SCRIPT) */
	{ "sh bash rbash dash ash ksh mksh lksh pdksh posh yash", "oO", "rcfile init-file", "", "cs", "", "",
	  IS_SHELL | ONE_DASH, "PATH",
	  "debug debugger dump-po-strings dump-strings login noediting noprofile norc posix pretty-print "
	  "restricted "
	  "verbose" },
	{ "zsh", "oO", "emulate", "", "cs", "", "", IS_SHELL, "PATH", NULL },
	{ "fish", "CdDfop",
	  "init-command debug debug-output debug-stack-frames features profile profile-startup", "", "c", "",
	  "", 0, NULL, NULL },
	/* with -S */
	{ "ruby", "IrCEX", "backtrace-limit disable dump enable encoding external-encoding internal-encoding",
	  "FKTWix", "e", "", "", LOOKS_FIRST, "PATH", NULL },
	{ "perl", "IMm", "", "CDFix:", "eE", "", "", LOOKS_FIRST, "PATH", NULL },
	{ "php", "dczStg", "define php-ini zend-extension server docroot", "", "rBRFEi", "f", "", 0, NULL,
	  NULL },
	{ "lua luajit", "el", "", "", "", "", "", 0, NULL, NULL },
	{ "tclsh wish", "", "encoding", "", "", "", "", IS_SHELL | ONE_DASH, NULL, NULL },
	{ "expect expectk", "cD", "", "", "", "fb", "", 0, NULL, NULL },
	{ "awk gawk mawk nawk original-awk", "vFel",
	  "assign field-separator source load file+ exec+ e+ E+ include+", "W", "", "fEi", "",
	  BY_OPTION | LOOKS_FIRST | W_IS_LONG, "AWKPATH", NULL },
	{ "sed gsed", "el", "expression line-length file+", "", "", "f", "", BY_OPTION, NULL, NULL },
	{ "make gmake", "CIoWE",
	  "file+ makefile+ directory include-dir old-file assume-old what-if new-file assume-new eval", "",
	  "", "f", "", BY_OPTION, NULL, NULL },
	/* n: -nx is one option */
	{ "gdb gdb-multiarch", "", "ex iex eval-command init-eval-command command+ ix+ init-command+", "",
	  "n", "x", "", BY_OPTION | ONE_DASH, NULL, NULL },
};

/* Where a program looks that has no such list. */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What the scripts of well known tools are called, by the end of their path. */
static const struct {
	const char *file, *tool;
} tools[] = {
	{ "/npm-cli.js", "npm" },
	{ "/npx-cli.js", "npx" },
	{ "/pnpm.cjs", "pnpm" },
	{ "/pnpx.cjs", "pnpx" },
	{ "/yarn.js", "yarn" },
	{ "/yarn.cjs", "yarn" },
	{ "/npm/index.js", "npm" },
	{ "/corepack.js", "corepack" },
	{ "/dist/npm.js", "npm" },
	{ "/dist/npx.js", "npx" },
	{ "/dist/pnpm.js", "pnpm" },
	{ "/pnpm.mjs", "pnpm" },
	{ "/twine/__main__.py", "twine" },
	{ "/poetry/__main__.py", "poetry" },
	{ "/hatch/__main__.py", "hatch" },
};

const char *tool_of(const char *path)
{
	size_t len = path ? strlen(path) : 0;

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		size_t n = strlen(tools[i].file);

		if (len >= n && strcmp(path + len - n, tools[i].file) == 0)
			return tools[i].tool;
	}
	return NULL;
}

static const struct interpreter *interpreter_of(const struct command *c)
{
	struct cmd_names names;

	/* python3.11 is python. */
	cmd_names_of(c, NULL, &names);
	for (size_t i = 0; i < names.n; i++)
		for (size_t r = 0; r < sizeof(interpreters) / sizeof(interpreters[0]); r++)
			if (word_in_list(interpreters[r].names, names.list[i].p, names.list[i].len))
				return &interpreters[r];
	return NULL;
}

/* Is the long option of that name in the list?  script: as one that takes a script. */
static bool is_long(const struct interpreter *r, const char *name, bool script)
{
	size_t len = script ? strcspn(name, "=") : strlen(name), n;
	char dashed[64];

	if (len >= sizeof(dashed))
		return false;
	for (size_t i = 0; i < len; i++)
		dashed[i] = name[i] == '_' ? '-' : name[i];
	for (const char *p = r->longs; script && len > 0 && *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (p[n - 1] == '+' && len < n && (len > 1 || n == 2 || !(r->flags & ONE_DASH)) &&
		    memcmp(p, dashed, len) == 0)
			return true;
	}
	return !script && word_in_list(r->longs, dashed, len);
}

/* The name of the long option at word *at, or "" for another word.  *at moves to the word that holds the
 * name. */
static const char *long_name(const struct interpreter *r, const struct command *c, size_t *at)
{
	const char *arg = command_arg(c, *at);

	if (arg[0] == '-' && arg[1] == '-')
		return arg + 2;
	if (arg[0] == '-' && arg[1] == 'W' && r->flags & W_IS_LONG)
		return arg[2] ? arg + 2 : command_arg(c, ++*at);
	return r->flags & ONE_DASH ? arg + 1 : "";
}

/*
 * Reads the letters of arg, which is word *at, which moves to the last word that they take.  Returns the
 * script that one of them takes, "" where no file runs, or NULL.
 */
static const char *read_letters(const struct interpreter *r, const struct command *c, const char *arg,
				size_t *at)
{
	for (const char *p = arg + 1; *p; p++) {
		if (strchr(r->stop, *p))
			return "";
		if (strchr(r->rest, *p))
			return NULL;
		if (strchr(r->joined, *p))
			return p[1] ? p + 1 : command_arg(c, ++*at);
		if (!strchr(r->shorts, *p))
			continue;
		*at += r->flags & IS_SHELL || !p[1];
		if (!(r->flags & IS_SHELL))
			break;
	}
	return NULL;
}

/* The word that names the script, from word `from` on, and in *ret_at the index of the word before the
 * script's own words; NULL where there is no script. */
static const char *script_of(const struct interpreter *r, const struct command *c, size_t from,
			     size_t *ret_at)
{
	size_t n = command_count(c);
	bool verb = false;

	for (size_t i = from; i < n; i++) {
		const char *arg = command_arg(c, i), *joined = NULL, *name = long_name(r, c, &i);
		bool option = r->flags & IS_SHELL ? *arg == '-' || *arg == '+' : *arg == '-' && arg[1];

		*ret_at = i;
		if (!option && !verb && *r->verb && strcmp(arg, r->verb) == 0)
			verb = true;
		else if (!option && r->flags & BY_OPTION)
			continue;
		else if (!option)
			return arg;
		else if (strcmp(arg, "--") == 0)
			return i + 1 < n && !(r->flags & BY_OPTION) ? command_arg(c, *ret_at = i + 1) : NULL;
		else if (is_long(r, name, true))
			joined = strchr(name, '=') ? strchr(name, '=') + 1 : command_arg(c, ++i);
		else if (is_long(r, name, false))
			i++;
		else if (arg[1] != '-' && !(r->plain && word_in_list(r->plain, name, strlen(name))))
			joined = read_letters(r, c, arg, &i);
		*ret_at = i;
		if (joined && (*joined || !(r->flags & BY_OPTION)))
			return *joined ? joined : NULL;
	}
	return NULL;
}

/* node takes a URL for a script, too: `file:///a%20b.js?x`.  The path of it, or -1 where it is too long. */
static int path_of_url(const char *url, char *path, size_t size)
{
	const char *p = url + strlen("file:");
	size_t len = 0;
	unsigned byte;

	if (strncmp(p, "//", 2) == 0)
		p += 2 + strcspn(p + 2, "/");
	for (; *p && !strchr("?#", *p); p++) {
		if (len + 1 >= size)
			return -1;
		if (*p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2])) {
			(void)sscanf(p + 1, "%2x", &byte);
			path[len++] = (char)byte;
			p += 2;
		} else {
			path[len++] = *p;
		}
	}
	path[len] = '\0';
	return (int)len;
}

/* The file of the script that word names, with what node or python adds to a name. */
static const char *find_script(const struct interpreter *r, const char *word, loads_find_fn *find, void *ctx)
{
	static const char *const ends[] = { "", ".js", ".cjs", "/index.js" }, *const mains[] = {
		"", "/__main__.py"
	};
	const char *const *list = r->flags & SEARCHES_MAIN ? mains : ends;
	size_t len, n = r->flags & SEARCHES_MAIN ? 2 : r->flags & SEARCHES_JS ? 4 : 1;
	const char *real = NULL;
	char name[LIMIT_PATH], path[LIMIT_PATH];

	if (r->flags & SEARCHES_JS && strncasecmp(word, "file:", 5) == 0) {
		if (path_of_url(word, path, sizeof(path)) < 0)
			return NULL;
		word = path;
	}
	len = strlen(word);
	for (size_t i = 0; !real && i < n && len + strlen(list[i]) < sizeof(name); i++) {
		memcpy(name, word, len);
		strcpy(name + len, list[i]);
		real = find(ctx, name, NULL);
	}
	return real;
}

/*
 * A tool's script that node loads before the script at word `at`, and that gets that script's words; or
 * NULL.
 */
static const char *find_preloaded(const struct interpreter *r, const struct command *c, size_t at,
				  loads_find_fn *find, void *ctx)
{
	for (size_t i = 0; r->flags & SEARCHES_JS && i < at; i++) {
		const char *arg = command_arg(c, i), *eq = strchr(arg, '='), *file;

		if (*arg == '-')
			arg = eq ? eq + 1 : arg[1] == 'r' ? arg + 2 : "";
		file = *arg ? find_script(r, arg, find, ctx) : NULL;
		if (tool_of(file))
			return file;
	}
	return NULL;
}

/* The directories in which r looks for word, or NULL. */
static const char *search_list(const struct interpreter *r, const char *word, loads_path_fn *path, void *ctx)
{
	const char *list = r->search && !strchr(word, '/') ? path(ctx, r->search) : NULL;

	return list || !r->search || strchr(word, '/') ? list : DEFAULT_PATH;
}

/* The next file in the list by the word's name, or NULL. */
static const char *next_in_list(struct tool_script *t, loads_find_fn *find, void *ctx)
{
	char at[LIMIT_PATH];
	const char *real = NULL, *path;

	while (!real && (path = loads_next(&t->list, t->word, at)))
		real = *path ? find(ctx, path, NULL) : NULL;
	return real;
}

/* Goes on to the next word that names a script, and its file; NULL: not found. */
static const char *next_script(const struct interpreter *r, const struct command *c, loads_find_fn *find,
			       loads_path_fn *path, void *ctx, struct tool_script *ret)
{
	const char *file, *word = script_of(r, c, ret->next, &ret->at);

	ret->word = word;
	ret->next = r->flags & BY_OPTION ? ret->at + 1 : command_count(c);
	if (!word)
		return NULL;
	file = find_preloaded(r, c, ret->at, find, ctx);
	if (file)
		ret->word = file;
	else
		file = find_script(r, word, find, ctx);
	if (!file || r->flags & LOOKS_FIRST)
		ret->list = search_list(r, word, path, ctx);
	return file;
}

bool tool_find(const struct request *of, loads_find_fn *find, loads_path_fn *path, void *ctx,
	       struct tool_script *ret)
{
	const char *extra, *name, *file;
	struct command c = command_of(of, &extra), inner;
	const struct interpreter *r;
	size_t n;

	for (unsigned depth = 0; depth < LIMIT_DEPTH && (request_unwrap(of, depth, &c, &inner, &extra) ||
							 command_unwrap_split(&c, ret->split, &inner) > 0);
	     depth++)
		c = inner;
	n = command_count(&c);
	r = interpreter_of(&c);
	if (!r)
		return false;
	do {
		file = next_in_list(ret, find, ctx);
		if (!file)
			file = next_script(r, &c, find, path, ctx, ret);
		name = file ? file : ret->word;
	} while (name && !*path_basename(name));
	if (!name || n - ret->at >= TOOL_WORDS(of->argc))
		return false;
	ret->words[0] = *path_basename(ret->word) ? ret->word : name;
	for (size_t i = ret->at + 1; i < n; i++)
		ret->words[i - ret->at] = command_arg(&c, i);
	ret->words[n - ret->at] = NULL;
	ret->req = (struct request){ .op = OP_EXEC,
				     .access = op_access(OP_EXEC),
				     .is_root = of->is_root,
				     .path = file,
				     .cwd = of->cwd,
				     .env = of->env,
				     .argv = ret->words,
				     .argc = n - ret->at,
				     .ident = tool_of(name) };
	ret->keeps_name = strcmp(path_basename(name), path_basename(ret->word)) == 0 ||
			  (ret->req.ident && strcmp(ret->req.ident, path_basename(ret->word)) == 0);
	return true;
}
