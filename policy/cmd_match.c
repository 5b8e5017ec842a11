/*
 * One command against one rule: see cmd.h.
 *
 * Options, operands (`if=`) and `--` match anywhere, words in order.  Indices are checked by the caller
 * or here, strings by image_str().  Pure.
 */
#include "cmd.h"

#include <string.h>

#include "path.h"

static void names_add(struct cmd_names *names, const char *p, size_t len)
{
	if (!p || len == 0 || names->n == sizeof(names->list) / sizeof(names->list[0]))
		return;
	for (size_t i = 0; i < names->n; i++)
		if (names->list[i].len == len && memcmp(names->list[i].p, p, len) == 0)
			return;
	names->list[names->n++] = (struct cmd_name){ p, len };
}

/* python3.11 answers to python3 and python too: rules are written for the language. */
static void names_add_versioned(struct cmd_names *names, const char *name)
{
	static const char *const bases[] = { "python", "pypy",	 "perl",  "ruby", "lua",  "luajit", "php",
					     "node",   "nodejs", "tclsh", "wish", "java", "guile",  "deno" };

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

static bool is_relative(const char *word)
{
	return *word && word[0] != '/' && word[0] != '~' && !path_has_dotdot(word);
}

static bool value_matches(const char *pattern, uint32_t match, const char *value)
{
	switch ((enum cmd_match)match) {
	case MATCH_LITERAL:
		return strcmp(pattern, value) == 0;
	case MATCH_GLOB:
		return glob_match(pattern, strlen(pattern), value, strlen(value));
	case MATCH_ANY:
		return true;
	case MATCH_RELATIVE:
		return is_relative(value);
	case MATCH_NONE:
		break;
	}
	return false;
}

/* The short option's letter in a cluster; a letter that takes a value ends the cluster. */
static const char *find_letter(const struct cmd_view *v, const char *arg, char letter)
{
	const char *by_global = v->global ? v->global->shorts : "", *by_sub = v->sub ? v->sub->shorts : "";

	if (arg[1] == '-' || (v->global && (v->global->flags & KNOWN_SINGLE_DASH)))
		return strlen(arg) == 2 && arg[1] == letter ? arg + 1 : NULL;
	for (const char *p = arg + 1; *p; p++) {
		if (*p == letter)
			return p;
		if (strchr(by_sub, *p) || (!v->sub && strchr(by_global, *p)))
			return NULL;
	}
	return NULL;
}

static bool long_matches(const char *name, const char *arg, enum cmd_reading reading)
{
	size_t len = strcspn(arg, "=");

	if (arg[1] != '-')
		return false;
	if (strlen(name) == len)
		return memcmp(name, arg, len) == 0;
	return reading == READ_WIDE && len > 2 && strncmp(name, arg, len) == 0;
}

static bool flag_matches(const char *name, const char *arg)
{
	size_t n = strlen(name);

	return strncmp(name, arg, n) == 0 && (arg[n] == '\0' || arg[n] == '=');
}

/*
 * Is the option arg the one that the token names?  *ret_value is its attached value, or NULL.  Words
 * that option syntax does not reach (TOKEN_WORD, ...) never match.
 */
static bool option_matches(const struct cmd_view *v, const struct cmd_token *tok, const char *text,
			   const char *arg, enum cmd_reading reading, const char **ret_value)
{
	const char *p;

	*ret_value = NULL;
	switch ((enum cmd_token_kind)tok->kind) {
	case TOKEN_SHORT:
		p = find_letter(v, arg, text[0]);
		*ret_value = p && p[1] ? p + 1 : NULL;
		return p != NULL;
	case TOKEN_LONG:
		p = strchr(arg, '=');
		*ret_value = p ? p + 1 : NULL;
		return long_matches(text, arg, reading);
	case TOKEN_FLAG:
		p = strchr(arg, '=');
		*ret_value = p ? p + 1 : NULL;
		return flag_matches(text, arg);
	case TOKEN_FLAG_GLOB:
		return glob_match(text, strlen(text), arg, strlen(arg));
	case TOKEN_WORD:
	case TOKEN_REST:
	case TOKEN_OPERAND:
	case TOKEN_DASHDASH:
		break;
	}
	return false;
}

/* Does one argument anywhere satisfy a token that has no place of its own? */
static bool token_anywhere(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_token *tok,
			   enum cmd_reading reading)
{
	struct cmd_walk w = { .view = v };
	const char *text = image_str(t->img, tok->text), *value = image_str(t->img, tok->value), *arg, *has;
	enum cmd_arg kind;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		if (tok->kind == TOKEN_DASHDASH && kind == ARG_DASHDASH)
			return true;
		if (tok->kind == TOKEN_OPERAND && kind == ARG_WORD && strncmp(arg, text, strlen(text)) == 0)
			return true;
		if (kind != ARG_OPTION || !option_matches(v, tok, text, arg, reading, &has))
			continue;
		if (tok->match == MATCH_NONE ||
		    value_matches(value, tok->match, has ? has : command_arg(v->c, w.next)))
			return true;
	}
	return false;
}

static bool is_placed(const struct cmd_token *tok)
{
	return tok->kind == TOKEN_WORD || tok->kind == TOKEN_REST;
}

static bool next_word(struct cmd_walk *w, const char **ret)
{
	enum cmd_arg kind;

	do {
		kind = cmd_walk_next(w, ret);
	} while (kind != ARG_END && kind != ARG_WORD);
	return kind == ARG_WORD;
}

/* The tokens with a place against the words in order; only the last `...` needs to grow. */
static bool words_match(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e)
{
	const struct cmd_token *tok = t->tokens + e->first, *end = tok + e->count, *after_rest = NULL;
	struct cmd_walk w = { .view = v }, mark = w;
	const char *word;

	for (;;) {
		while (tok < end && !is_placed(tok))
			tok++;
		if (tok < end && tok->kind == TOKEN_REST) {
			after_rest = ++tok;
			mark = w;
			continue;
		}
		if (tok == end && e->end == END_OPEN)
			return true;
		if (!next_word(&w, &word))
			return tok == end;
		if (tok < end && value_matches(image_str(t->img, tok->text), tok->match, word)) {
			tok++;
			continue;
		}
		if (!after_rest || !next_word(&mark, &word))
			return false;
		w = mark;
		tok = after_rest;
	}
}

/* `allow = cmd -x $`: every option, each letter of a cluster, must be one that the rule names. */
static bool options_named(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e)
{
	struct cmd_walk w = { .view = v };
	const char *arg, *has;
	enum cmd_arg kind;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		size_t named = 0, need;

		if (kind != ARG_OPTION)
			continue;
		for (uint32_t i = 0; i < e->count; i++) {
			const struct cmd_token *tok = t->tokens + e->first + i;

			if (!option_matches(v, tok, image_str(t->img, tok->text), arg, READ_STRICT, &has))
				continue;
			/* a value behind the letter is the letter's, where the rule speaks of it */
			named += tok->kind != TOKEN_SHORT || tok->match != MATCH_NONE ? strlen(arg) : 1;
		}
		need = arg[1] == '-' ? 1 : strlen(arg) - 1;
		if (named < need)
			return false;
	}
	return true;
}

bool cmd_entry_matches(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e,
		       enum cmd_reading reading)
{
	if (e->count > t->h->n_tokens || e->first > t->h->n_tokens - e->count)
		return false;
	for (uint32_t i = 0; i < e->count; i++) {
		const struct cmd_token *tok = t->tokens + e->first + i;

		if (!is_placed(tok) && !token_anywhere(t, v, tok, reading))
			return false;
	}
	if (!words_match(t, v, e))
		return false;
	return reading == READ_WIDE || e->end == END_OPEN || options_named(t, v, e);
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
