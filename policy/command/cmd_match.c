/*
 * One command against one rule: see cmd.h.
 *
 * Options, operands (`if=`) and `--` match anywhere, words in order.  Indices are checked by the caller
 * or here, strings by image_str().  Pure.
 */
#include "cmd.h"

#include <string.h>

#include "git.h"
#include "policy/base/path.h"

static bool is_relative(const char *word)
{
	return *word && word[0] != '/' && word[0] != '~' && !path_has_dotdot(word);
}

bool cmd_value_matches(const char *pattern, uint32_t match, const char *value)
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

/*
 * Finds the letter of a short option in a cluster.  A letter that takes a value ends the cluster.  In an
 * old-style cluster (`tar xIf`) each letter counts, because the values are the words after it.
 */
static const char *find_letter(const struct cmd_view *v, const char *arg, char letter)
{
	/* GROUPS: whether a letter takes a value depends on a subcommand that has no row, so no letter
	 * ends the cluster */
	bool groups = v->global && v->global->flags & (OPTIONS_GROUPS | OPTIONS_OPEN_END);

	if (arg[0] != '-')
		return strchr(arg, letter);
	if (arg[1] == '-' || (v->global && (v->global->flags & OPTIONS_SINGLE_DASH)))
		return strlen(arg) == 2 && arg[1] == letter ? arg + 1 : NULL;
	for (const char *p = arg + 1; *p; p++) {
		if (*p == letter)
			return p;
		if (!groups && cmd_letter_takes(v->sub ? v->sub : v->global, *p))
			return NULL;
	}
	return NULL;
}

static bool flag_matches(const char *name, const char *arg)
{
	size_t n = strlen(name);

	return strncmp(name, arg, n) == 0 && (arg[n] == '\0' || arg[n] == '=');
}

bool cmd_option_matches(const struct cmd_view *v, const struct cmd_token *tok, const char *text,
			const char *arg, enum cmd_reading reading, const char **ret_value)
{
	bool single = v->global && v->global->flags & OPTIONS_SINGLE_DASH;
	size_t len;
	const char *p;

	/* Go's flags have one dash or two */
	if (single && reading != READ_STRICT && tok->kind != TOKEN_SHORT) {
		text += text[0] == '-' && text[1] == '-';
		arg += arg[0] == '-' && arg[1] == '-';
	}
	len = strcspn(arg, "=");
	*ret_value = arg[len] ? arg + len + 1 : NULL;
	switch ((enum cmd_token_kind)tok->kind) {
	case TOKEN_SHORT:
		p = find_letter(v, arg, text[0]);
		/* Programs in Go read -v=/ as -v /. */
		*ret_value = p && p[1] && arg[0] == '-' ? p + 1 + (p[1] == '=') : NULL;
		return p != NULL;
	case TOKEN_LONG:
	case TOKEN_FLAG:
		return flag_matches(text, arg) ||
		       (tok->kind == TOKEN_LONG && reading != READ_STRICT && strncmp(text, arg, len) == 0);
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

static const struct same {
	const char *programs, *sub, *letters, *names;
} sames[] = {
#define OPTIONS(programs, sub, flags, harmless, named, runs, words)
#define SAME(programs, sub, letters, names) { programs, sub, letters, names },
#define HELP(programs, options, first, second)
#define NAMES(programs, forms)
#include "options.def"
#undef OPTIONS
#undef SAME
#undef HELP
#undef NAMES
};

static bool in_list(const char *list, const char *word)
{
	return word && word_in_list(list, word, strlen(word));
}

/* Is arg one of these names of an option (SAME of options.def)?  next: the argument after it. */
static bool has_name(const struct cmd_view *v, const char *names, bool is_word, const char *arg,
		     const char *next, const char **ret_value)
{
	static const struct cmd_token tok = { .kind = TOKEN_LONG };
	char name[32];

	for (size_t n, bare; *names; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		bare = strcspn(names, " =");
		if ((names[0] != '-') != is_word || bare >= sizeof(name))
			continue;
		memcpy(name, names, bare);
		name[bare] = '\0';
		*ret_value = NULL;
		if (is_word ? glob_match(names, n, arg, strlen(arg))
			    : cmd_option_matches(v, &tok, name, arg, READ_WIDE, ret_value) &&
				      (bare == n || word_in_list(*ret_value ? *ret_value : next,
								 names + bare + 1, n - bare - 1)))
			return true;
	}
	return false;
}

bool cmd_option_is(const struct cmd_view *v, const struct cmd_token *tok, const char *text, bool is_word,
		   const char *arg, const char *next, const char **ret_value)
{
	struct cmd_token other = { .kind = TOKEN_SHORT };

	if (!is_word && cmd_option_matches(v, tok, text, arg, READ_WIDE, ret_value))
		return true;
	for (const struct same *s = sames; s < sames + sizeof(sames) / sizeof(sames[0]); s++) {
		if (!in_list(s->programs, v->c->program) && !in_list(s->programs, v->c->alias))
			continue;
		if ((s->sub && !in_list(s->sub, v->word)) ||
		    (tok->kind == TOKEN_SHORT ? !strchr(s->letters, text[0]) : !in_list(s->names, text)))
			continue;
		if (has_name(v, s->names, is_word, arg, next, ret_value))
			return true;
		for (const char *p = s->letters; *p && !is_word; p++)
			if (cmd_option_matches(v, &other, p, arg, READ_WIDE, ret_value))
				return true;
	}
	return false;
}

/* Does any argument match a token that has no place of its own? */
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
		bool is_option = cmd_walk_at_option(&w, kind);
		const char *next = command_arg(v->c, w.next);

		if (!is_option && (kind != ARG_WORD || reading == READ_STRICT))
			continue;
		if (!(reading == READ_STRICT ? cmd_option_matches(v, tok, text, arg, reading, &has)
					     : cmd_option_is(v, tok, text, !is_option, arg, next, &has)))
			continue;
		if (tok->match == MATCH_NONE || cmd_value_matches(value, tok->match, has ? has : next))
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

const char *cmd_same_refspec(const struct cmd_view *v, const char *word)
{
	const char *colon = strchr(word, ':'), *to;

	if (!colon || !v->sub || !(v->sub->flags & OPTIONS_REFSPECS))
		return NULL;
	word = git_short_branch(word);
	to = git_short_branch(colon + 1);
	return *to && strlen(to) == (size_t)(colon - word) && strncmp(word, to, (size_t)(colon - word)) == 0
		       ? to
		       : NULL;
}

/*
 * For deny and ask rules: :app:publish is also publish, and so is pub where words may be cut short.
 * To make(1), ./publish is publish too, and .DEFAULT_GOAL=publish names that goal.
 */
static bool goal_matches(const struct cmd_view *v, const struct cmd_token *tok, const char *text,
			 const char *word)
{
	unsigned flags = v->global ? v->global->flags : 0;
	const char *whole = word, *end;

	if (flags & OPTIONS_GOALS) {
		end = strchr(word, '=');
		if (end && strncmp(word, ".DEFAULT_GOAL", 13) == 0)
			word = end + 1;
		while (word[0] == '.' && word[1] == '/')
			word += 1 + strspn(word + 1, "/");
		end = strrchr(word, ':');
		word = end ? end + 1 : word;
	}
	return (word != whole && cmd_value_matches(text, tok->match, word)) ||
	       (flags & OPTIONS_CUT_WORDS && tok->match == MATCH_LITERAL && *word &&
		strncmp(text, word, strlen(word)) == 0);
}

static bool word_matches(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_token *tok,
			 const char *word, enum cmd_reading reading)
{
	const char *text = image_str(t->img, tok->text), *same = cmd_same_refspec(v, word);

	return cmd_value_matches(text, tok->match, word) ||
	       (same && cmd_value_matches(text, tok->match, same)) ||
	       (reading != READ_STRICT && goal_matches(v, tok, text, word));
}

/* Matches the tokens that have a place with the words, in order; only the last `...` needs to grow. */
static bool words_match(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e,
			enum cmd_reading reading)
{
	const struct cmd_token *tok = t->tokens + e->first, *end = tok + e->count, *after_rest = NULL;
	struct cmd_walk w = cmd_walk_words(v), mark = w;
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
		if (tok < end && word_matches(t, v, tok, word, reading)) {
			tok++;
			continue;
		}
		if (!after_rest || !next_word(&mark, &word))
			return false;
		w = mark;
		tok = after_rest;
	}
}

size_t cmd_rule_words(const struct cmd_table *t, const struct cmd_entry *e)
{
	size_t n = 0;

	for (uint32_t i = 0; i < e->count; i++) {
		if (t->tokens[e->first + i].kind == TOKEN_REST)
			return SIZE_MAX;
		n += t->tokens[e->first + i].kind == TOKEN_WORD;
	}
	return n;
}

bool cmd_entry_matches(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e,
		       enum cmd_reading reading)
{
	/*
	 * A rule that names an option means it, even where the command prints; a glob may match another
	 * program.
	 */
	bool prints = reading == READ_ACTS && e->program_kind == PROGRAM_NAME;

	if (e->count > t->h->n_tokens || e->first > t->h->n_tokens - e->count)
		return false;
	/* for a further goal a rule without words, or with `...`, is not matched again: it has matched the
	 * whole command already */
	if (v->from) {
		size_t words = cmd_rule_words(t, e);

		if (words == 0 || words == SIZE_MAX)
			return false;
	}
	if (!words_match(t, v, e, reading))
		return false;
	for (uint32_t i = 0; i < e->count; i++) {
		const struct cmd_token *tok = t->tokens + e->first + i;

		if (is_placed(tok))
			continue;
		if (!token_anywhere(t, v, tok, reading))
			return false;
		prints = false;
	}
	if (reading == READ_STRICT)
		return cmd_entry_covers(t, v, e);
	return !prints || !cmd_only_prints(v->c, image_str(t->img, e->program));
}
