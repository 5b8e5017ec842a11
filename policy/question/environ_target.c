/* Which variables are shown; see environ_target.h. */
#include "environ_target.h"

#include <errno.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/command/argv.h"
#include "policy/command/cmd.h"
#include "policy/command/git.h"
#include "policy/record/digest.h"
#include "policy/rules/environ.h"

static const struct row {
	const char *names, *programs;
	bool is_shown, is_obeyed;
} targets[] = {
#define TARGET(names, programs, source) { names, programs, true, true },
#define SHOWN(names, programs, source)	{ names, programs, true, false },
#define OBEYED(names, programs, source) { names, programs, false, true },
#define SECRET(names)
#define DEFAULTS(entries)
#include "environ_targets.def"
#undef TARGET
#undef SHOWN
#undef OBEYED
#undef SECRET
#undef DEFAULTS
};
#define N_TARGETS (sizeof(targets) / sizeof(targets[0]))
_Static_assert(N_TARGETS <= 64, "a bit of environ_rows() for each");

#define TARGET(names, programs, source)
#define SHOWN(names, programs, source)
#define OBEYED(names, programs, source)
#define SECRET(names) names
#define DEFAULTS(entries)
static const char secrets[] =
#include "environ_targets.def"
	;
#undef SECRET
#undef DEFAULTS
#define SECRET(names)
#define DEFAULTS(entries) entries
static const char defaults[] =
#include "environ_targets.def"
	;

/* Shells and terminals change these by themselves; pale sets its own ones again at each exec. */
static const char idle[] = "_ SHLVL LINES COLUMNS TERM PALE_*";

static bool list_has(const char *list, const char *word, size_t len)
{
	for (size_t n; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (glob_match(list, n, word, len))
			return true;
	}
	return false;
}

static char folded(char c)
{
	return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Compares names as npm does: without case, and with - and _ as one. */
static bool has_name(const struct row *row, const char *name, size_t len)
{
	for (const char *p = row->names; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " "), at = 0;

		while (at < n && at < len && folded(p[at]) == folded(name[at]))
			at++;
		if (at < n ? p[at] == '*' : at == len)
			return true;
		p += n;
	}
	return false;
}

/* The name of the program, or any word (a wrapper may stand before it), is in programs. */
static bool runs_one_of(const struct request *req, const char *programs)
{
	const char *const files[] = { req->path, req->ident, req->loads, req->loads_ident }, *name;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		name = files[i] ? path_basename(files[i]) : "";
		if (list_has(programs, name, strlen(name)))
			return true;
	}
	for (size_t i = 0; i < req->argc; i++) {
		name = path_basename(req->argv[i]);
		if (list_has(programs, name, strlen(name)))
			return true;
	}
	return false;
}

static bool is_target(const struct request *req, const char *name, size_t len)
{
	for (const struct row *row = targets; row < targets + N_TARGETS; row++)
		if (row->is_shown && has_name(row, name, len) && runs_one_of(req, row->programs))
			return true;
	return false;
}

/* A shell's text has `cd -`, `~-` or the name itself: a `-` that is a word, however it is quoted.  strchr(3)
 * finds the NUL of the list, too, so the end of the text counts as the end of a word. */
static bool goes_back(const char *text)
{
	if (strstr(text, "~-") || strstr(text, "OLDPWD"))
		return true;
	for (const char *at = strchr(text, '-'); at; at = strchr(at + 1, '-'))
		if (at > text && strchr(" \t\n'\"=", at[-1]) && strchr(" \t\n'\";&|)}", at[1]))
			return true;
	return false;
}

/* Shells set OLDPWD at each `cd`: it counts only where the command may go there. */
static bool is_idle(const struct request *req, const char *entry, size_t len)
{
	if (len != 6 || memcmp(entry, "OLDPWD", len) != 0)
		return list_has(idle, entry, len);
	for (size_t i = 0; i < req->argc; i++)
		if (goes_back(req->argv[i]))
			return false;
	return true;
}

bool environ_is_shown(const struct request *req, const char *entry, enum environ_was was)
{
	size_t len = strcspn(entry, "=");
	const char *value = entry[len] ? entry + len + 1 : NULL;

	if (is_idle(req, entry, len))
		return false;
	/* PWD is the working directory, which a question shows anyway. */
	if (len == 3 && memcmp(entry, "PWD", len) == 0 &&
	    (!value || (req->cwd && strcmp(value, req->cwd) == 0)))
		return false;
	/* LD_PRELOAD was removed: pale adds itself again. */
	if (!value && strcmp(entry, "LD_PRELOAD") == 0)
		return false;
	return was == WAS_OTHER || (value && is_target(req, entry, len));
}

bool environ_is_target(const char *name)
{
	enum environ_class class = environ_class_of(name);
	size_t len = strlen(name);

	if (list_has(secrets, name, len))
		return false;
	for (const struct row *row = targets; row < targets + N_TARGETS; row++)
		if (row->is_shown && has_name(row, name, len))
			return true;
	return class != CLASS_OTHER && class != CLASS_SECRET && !environ_name_is_secret(name);
}

int environ_print(const char *entry, char print[ENVIRON_PRINT])
{
	char hex[DIGEST_HEX];
	struct digest d;

	if (!strchr(entry, '='))
		return -EINVAL;
	digest_begin(&d, "pale-variable-1");
	digest_text(&d, entry);
	digest_end(&d, hex);
	memcpy(print, hex, ENVIRON_PRINT - 1);
	print[ENVIRON_PRINT - 1] = '\0';
	return 0;
}

/* --- what an allow does not cover --- */

/* The rows of one command; a module after an interpreter's -m counts as a program, too. */
static uint64_t rows_of(const struct command *c, const char *extra)
{
	const struct cmd_view v = cmd_view_of(c);
	struct cmd_names names;
	uint64_t rows = 0;

	if (git_is(c) && !git_is_online(c))
		return 0;
	cmd_names_of(c, extra, &names);
	if (v.global && v.global->flags & OPTIONS_FIRST_ENDS &&
	    names.n < sizeof(names.list) / sizeof(*names.list))
		names.list[names.n++] = (struct cmd_name){ v.word, strlen(v.word) };
	for (size_t i = 0; i < N_TARGETS; i++)
		for (size_t n = 0; n < names.n && targets[i].is_obeyed; n++)
			if (word_in_list(targets[i].programs, names.list[n].p, names.list[n].len))
				rows |= UINT64_C(1) << i;
	return rows;
}

uint64_t environ_rows(const struct request *req)
{
	const char *extra;
	struct command c = command_of(req, &extra), inner;
	struct split store;
	uint64_t rows = 0;
	int wraps;

	for (unsigned depth = 0; depth <= LIMIT_DEPTH; depth++) {
		rows |= rows_of(&c, extra);
		wraps = request_unwrap(req, depth, &c, &inner, &extra);
		if (!wraps)
			wraps = command_unwrap_split(&c, &store, &inner);
		if (wraps <= 0)
			break;
		c = inner;
	}
	return rows;
}

static bool in_rows(uint64_t rows, const char *entry)
{
	for (size_t i = 0; i < N_TARGETS; i++)
		if (rows >> i & 1 && has_name(&targets[i], entry, strcspn(entry, "=")))
			return true;
	return false;
}

/* The entry of that name, or NULL. */
static const char *entry_of_name(const char *const *env, const char *entry, size_t len)
{
	for (; *env; env++)
		if (strncmp(*env, entry, len) == 0 && ((*env)[len] == '=' || !(*env)[len]))
			return *env;
	return NULL;
}

static bool is_default(const char *entry, const char *home)
{
	char text[256];
	size_t name = strcspn(entry, "="), len = home ? strlen(home) : 0;
	const char *value = entry + name + (entry[name] == '=');
	bool below = len > 0 && strncmp(value, home, len) == 0 && value[len] == '/';
	struct out o = out_of(text, sizeof(text));

	put_bytes(&o, entry, (size_t)(value - entry));
	text_str(&o, below ? "~" : "");
	text_str(&o, below ? value + len : value);
	return !o.failed && !path_has_dotdot(value) && list_has(defaults, text, o.len);
}

const char *environ_change(uint64_t rows, const char *const *env, const char *const *first)
{
	const char *home = entry_of_name(first, "HOME", 4), *was;

	for (size_t i = 0; env[i]; i++) {
		was = entry_of_name(first, env[i], strcspn(env[i], "="));
		if (!(was && strcmp(was, env[i]) == 0) && in_rows(rows, env[i]) &&
		    !is_default(env[i], home ? home + 5 : NULL))
			return env[i];
	}
	for (size_t i = 0; first[i]; i++)
		if (in_rows(rows, first[i]) && !entry_of_name(env, first[i], strcspn(first[i], "=")))
			return first[i];
	return NULL;
}
