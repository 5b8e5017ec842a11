/*
 * The names of a program, against the program of a rule: see cmd.h.
 *
 * Strings are checked by image_str().  Pure.
 */
#include "cmd.h"

#include <string.h>

#include "policy/base/path.h"

static void names_add(struct cmd_names *names, const char *p, size_t len)
{
	if (!p || len == 0 || names->n == sizeof(names->list) / sizeof(names->list[0]))
		return;
	for (size_t i = 0; i < names->n; i++)
		if (names->list[i].len == len && memcmp(names->list[i].p, p, len) == 0)
			return;
	names->list[names->n++] = (struct cmd_name){ p, len };
}

/* python3.11 has the names python3 and python too: rules are written for the language. */
static void names_add_versioned(struct cmd_names *names, const char *name)
{
	static const char *const bases[] = { "python", "pypy", "perl",	"ruby",	  "lua",
					     "luajit", "php",  "node",	"nodejs", "tclsh",
					     "wish",   "java", "guile", "deno",	  "pip" };

	if (!name)
		return;
	names_add(names, name, strlen(name));
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		size_t n = strlen(bases[i]);
		const char *rest = name + n;

		if (strncmp(name, bases[i], n) != 0 || !*rest || rest[strspn(rest, "-.0123456789")] != '\0')
			continue;
		names_add(names, name, n);
		names_add(names, name, n + strcspn(rest, "."));
	}
}

void cmd_names_of(const struct command *c, const char *extra, struct cmd_names *names)
{
	names->n = 0;
	names_add_versioned(names, c->program);
	names_add_versioned(names, c->alias);
	names_add_versioned(names, extra);
	if (c->path)
		names_add(names, c->path, strlen(c->path));
}

bool cmd_program_matches(const struct cmd_table *t, const struct cmd_entry *e, const struct cmd_names *names)
{
	const char *want = image_str(t->img, e->program);
	size_t len = strlen(want);

	for (size_t i = 0; i < names->n; i++) {
		const struct cmd_name *n = &names->list[i];
		bool is_path = n->p[0] == '/';

		switch ((enum cmd_program)e->program_kind) {
		case PROGRAM_NAME:
		case PROGRAM_PATH:
			if (n->len == len && memcmp(n->p, want, len) == 0)
				return true;
			break;
		case PROGRAM_GLOB:
		case PROGRAM_PATH_GLOB:
			if (is_path == (e->program_kind == PROGRAM_PATH_GLOB) &&
			    glob_match(want, len, n->p, n->len))
				return true;
			break;
		}
	}
	return false;
}

bool cmd_called_matches(const struct cmd_table *t, const struct cmd_entry *e, const struct command *c)
{
	const char *name = path_basename(image_str(t->img, e->program));
	bool is_glob = e->program_kind == PROGRAM_GLOB || e->program_kind == PROGRAM_PATH_GLOB;
	struct cmd_names called = { .n = 0 }, want = { .n = 0 };

	if (!c->called)
		return true;
	names_add_versioned(&called, c->called);
	names_add_versioned(&want, name);
	for (size_t i = 0; i < called.n; i++) {
		const struct cmd_name *is = &called.list[i];

		if (is_glob && glob_match(name, strlen(name), is->p, is->len))
			return true;
		for (size_t k = 0; k < want.n; k++)
			if (want.list[k].len == is->len && memcmp(want.list[k].p, is->p, is->len) == 0)
				return true;
	}
	return false;
}
