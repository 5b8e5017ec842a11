/*
 * Tells the words, options and option values of a command apart, by a table of well known programs.
 *
 * An option that is not in the table counts as one without a value, so its value counts as a word: a rule
 * may then match less than its author expects, but never the wrong subcommand.  Pure.
 */
#include "cmd.h"

#include <string.h>

#include "policy/base/path.h"

#define EVERYWHERE  OPTIONS_EVERYWHERE
#define SINGLE_DASH OPTIONS_SINGLE_DASH
#define PLUS	    OPTIONS_PLUS
#define ABBREVIATED OPTIONS_ABBREVIATED
#define REST_NAMED  OPTIONS_REST_NAMED
#define FIRST_ENDS  OPTIONS_FIRST_ENDS
#define SECOND_ENDS OPTIONS_SECOND_ENDS
#define OLD_STYLE   OPTIONS_OLD_STYLE
#define REFSPECS    OPTIONS_REFSPECS
#define RUNS	    OPTIONS_RUNS
#define GOALS	    OPTIONS_GOALS
#define URLS	    OPTIONS_URLS
#define MAY_TAKE    OPTIONS_MAY_TAKE
#define GROUPS	    OPTIONS_GROUPS
#define NESTED	    OPTIONS_NESTED
#define INPUT	    OPTIONS_INPUT
#define CUT_WORDS   OPTIONS_CUT_WORDS
#define OPEN_END    OPTIONS_OPEN_END
static const struct cmd_options table[] = {
#define OPTIONS(programs, sub, flags, harmless, named, runs, words)                                          \
	{ programs, sub, { harmless, named, runs }, words, flags },
#define SAME(programs, sub, letters, name)
#define HELP(programs, options, first, second)
#define NAMES(programs, forms)
#include "options.def"
#undef OPTIONS
#undef SAME
#undef HELP
#undef NAMES
};

static const struct help {
	const char *lists[4];
} helps[] = {
#define OPTIONS(programs, sub, flags, harmless, named, runs, words)
#define SAME(programs, sub, letters, name)
#define HELP(programs, options, first, second) { { programs, options, first, second } },
#define NAMES(programs, forms)
#include "options.def"
#undef OPTIONS
#undef SAME
#undef HELP
#undef NAMES
};

static uint32_t hash_byte(uint32_t h, uint8_t byte)
{
	return (h ^ byte) * 16777619u;
}

uint32_t cmd_hash(const char *program, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = hash_byte(h, (uint8_t)program[i]);
	return h;
}

uint32_t cmd_hash_word(uint32_t hash, const char *word)
{
	hash = hash_byte(hash, 0xff);
	for (; *word; word++)
		hash = hash_byte(hash, (uint8_t)*word);
	return hash;
}

bool word_in_list(const char *list, const char *word, size_t len)
{
	while (*list) {
		size_t n = strcspn(list, " ");

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

bool cmd_only_prints(const struct command *c, const char *program)
{
	size_t n = command_count(c), words = 0, i;
	const char *is[4] = { program }, *arg = "";

	for (; words < n && (arg = command_arg(c, words))[0] != '-'; words++)
		if (words < 2)
			is[2 + words] = arg;
	if (words + 1 != n)
		return false;
	is[1] = arg;
	for (const struct help *h = helps; h < helps + sizeof(helps) / sizeof(helps[0]); h++) {
		for (i = 0; i < 4 && is[i]; i++)
			if (*h->lists[i] && !word_in_list(h->lists[i], is[i], strlen(is[i])))
				break;
		if (i == 4 || !is[i])
			return true;
	}
	return false;
}

bool word_like_list(const char *globs, const char *word)
{
	size_t len = strlen(word);

	for (size_t n; *globs; globs += n + (globs[n] == ' ')) {
		n = strcspn(globs, " ");
		if (glob_match(globs, n, word, len))
			return true;
	}
	return false;
}

const struct cmd_options *cmd_options_find(const char *program, const char *sub)
{
	for (size_t i = 0; program && i < sizeof(table) / sizeof(table[0]); i++)
		if (!table[i].sub == !sub && word_like_list(table[i].programs, program) &&
		    (!sub || word_in_list(table[i].sub, sub, strlen(sub))))
			return &table[i];
	return NULL;
}

/* Finds the option name (len bytes) in list, also abbreviated where cut is true.  Sets its mark. */
static bool find_in(const char *list, const char *name, size_t len, bool cut, char *ret_mark)
{
	for (size_t n, bare; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		bare = n - (strchr("=?+", list[n - 1]) != NULL);
		if ((bare == len || (cut && bare > len)) && memcmp(list, name, len) == 0) {
			*ret_mark = bare < n ? list[bare] : '\0';
			return true;
		}
	}
	return false;
}

/* -Bdir, -Dexec.args: an option of list with an attached value, or the beginning of some options' names. */
static bool begins_as(const struct cmd_options *row, const char *list, const char *name, size_t len,
		      char *ret_mark)
{
	for (size_t n; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n < 2 || list[n - 1] != '?' || n - 1 >= len || memcmp(list, name, n - 1) != 0 ||
		    !(row->flags & OPTIONS_SINGLE_DASH || strchr(".@/", list[n - 2])))
			continue;
		*ret_mark = '?';
		return true;
	}
	return false;
}

/*
 * -qfFILE and -fileFILE, as commons-cli has them (SINGLE_DASH | ABBREVIATED): what stands behind the first
 * letter, or the long name, that takes a value is the value.
 */
static bool is_glued(const struct cmd_options *row, const char *name, size_t len, enum cmd_class *ret,
		     char *ret_mark)
{
	char letter[] = "-x";
	enum cmd_class class = CLASS_HARMLESS;

	for (size_t n = len; n-- > 3;)
		for (unsigned i = 0; i < CLASS_COUNT; i++)
			if (find_in(row->options[i], name, n, false, ret_mark) && *ret_mark) {
				*ret_mark = '?';
				*ret = (enum cmd_class)i;
				return true;
			}
	*ret = CLASS_HARMLESS;
	for (size_t at = 1; at < len; at++) {
		letter[1] = name[at];
		for (unsigned i = 0; i < CLASS_COUNT; i++)
			if (find_in(row->options[i], letter, 2, false, ret_mark))
				class = (enum cmd_class)i;
		*ret = class > *ret ? class : *ret;
		if (*ret_mark) {
			*ret_mark = at + 1 < len ? '?' : *ret_mark;
			return true;
		}
	}
	return *ret != CLASS_HARMLESS;
}

static bool is_listed(const struct cmd_options *row, const char *name, size_t len, enum cmd_class *ret,
		      char *ret_mark)
{
	bool single = row && row->flags & OPTIONS_SINGLE_DASH, dashes = len > 2 && name[1] == '-';
	bool cuts = row && len > 2 && (dashes || single) && (row->flags & OPTIONS_ABBREVIATED);

	if (single && dashes) {
		name++; /* some accept both: terraform --auto-approve */
		len--;
	}
	for (unsigned i = 0; row && i < CLASS_COUNT; i++)
		if (find_in(row->options[i], name, len, false, ret_mark) ||
		    begins_as(row, row->options[i], name, len, ret_mark)) {
			*ret = (enum cmd_class)i;
			return true;
		}
	/* of the options that it may abbreviate, the worst counts */
	for (unsigned i = CLASS_COUNT; cuts && i-- > 0;)
		if (find_in(row->options[i], name, len, true, ret_mark)) {
			*ret = (enum cmd_class)i;
			return true;
		}
	if (cuts && single && !dashes)
		return is_glued(row, name, len, ret, ret_mark);
	*ret = CLASS_HARMLESS;
	return cuts && len > 5 && memcmp(name, "--no-", 5) == 0;
}

enum cmd_class cmd_option_class(const struct cmd_options *global, const struct cmd_options *sub,
				const char *name, size_t len, char *ret_mark)
{
	const struct cmd_options *rest = sub ? sub : global;
	enum cmd_class class;

	*ret_mark = '\0';
	if (is_listed(sub, name, len, &class, ret_mark) || is_listed(global, name, len, &class, ret_mark))
		return class;
	return rest && rest->flags & OPTIONS_REST_NAMED ? CLASS_NAMED : CLASS_HARMLESS;
}

bool cmd_letter_takes(const struct cmd_options *row, char letter)
{
	const char name[] = { '-', letter };
	char mark;

	(void)cmd_option_class(NULL, row, name, sizeof(name), &mark);
	return mark != '\0';
}

/* The first letter of a cluster that takes a value, and its mark; NULL: not found.  It ends the cluster. */
static const char *taking_letter(const struct cmd_options *global, const struct cmd_options *sub,
				 const char *cluster, char *ret_mark)
{
	char letter[] = "-x";

	for (const char *p = cluster + 1; *p; p++) {
		letter[1] = *p;
		(void)cmd_option_class(global, sub, letter, 2, ret_mark);
		if (*ret_mark)
			return p;
	}
	return NULL;
}

bool cmd_options_take(const struct cmd_options *global, const struct cmd_options *sub, const char *option)
{
	unsigned flags = (sub ? sub->flags : 0) | (global ? global->flags : 0);
	size_t len = strcspn(option, "=");
	const char *letter;
	char mark;

	if ((!sub && !global) || option[0] != '-' || !option[1])
		return false;
	if (option[1] == '-' || flags & OPTIONS_SINGLE_DASH) {
		(void)cmd_option_class(global, sub, option, len, &mark);
		return mark == '=' && !option[len];
	}
	/* -am MESSAGE takes the next word, -mMESSAGE has it */
	letter = taking_letter(global, sub, option, &mark);
	return letter && mark == '=' && !letter[1];
}

/* The first word of a command, where it is attached to a letter (-mMODULE), or NULL. */
static const char *joined_word(const struct cmd_options *row, const char *arg)
{
	char mark;
	const char *p = arg[1] == '-' ? NULL : taking_letter(NULL, row, arg, &mark);

	return p && mark == '+' && p[1] ? p + 1 : NULL;
}

struct cmd_walk cmd_walk_words(const struct cmd_view *v)
{
	return (struct cmd_walk){ .view = v,
				  .next = v->from,
				  .skipped = v->from ? v->skip : 0,
				  .only_words = v->from_words,
				  .seen_sub = v->from > 0 };
}

void cmd_walk_rows(const struct cmd_walk *w, const struct cmd_options **ret_global,
		   const struct cmd_options **ret_sub)
{
	const struct cmd_view *v = w->view;
	bool everywhere = v->global && v->global->flags & OPTIONS_EVERYWHERE;
	bool past = w->past_sub && v->sub && v->sub->flags & OPTIONS_NESTED;

	*ret_global = !w->seen_sub || everywhere ? v->global : NULL;
	*ret_sub = w->seen_sub && !past ? v->sub : NULL;
}

enum cmd_arg cmd_walk_next(struct cmd_walk *w, const char **ret)
{
	const struct cmd_view *v = w->view;
	const char *arg;

	if (w->joined) {
		*ret = w->joined;
		w->joined = NULL;
		w->seen_sub = true;
		return ARG_WORD;
	}
	*ret = "";
	if (w->next >= v->count)
		return ARG_END;
	*ret = arg = command_arg(v->c, w->next++);
	if (w->value_next) {
		w->value_next = false;
		return ARG_VALUE;
	}
	if (!w->only_words && arg[0] == '-' && arg[1]) {
		const struct cmd_options *global, *sub;

		if (strcmp(arg, "--") == 0) {
			w->only_words = true;
			return ARG_DASHDASH;
		}
		cmd_walk_rows(w, &global, &sub);
		w->value_next = cmd_options_take(global, sub, arg);
		if (!w->seen_sub && v->global && v->global->flags & OPTIONS_FIRST_ENDS)
			w->joined = joined_word(v->global, arg);
		return ARG_OPTION;
	}
	if (!w->seen_sub && arg[0] == '+' && v->global && (v->global->flags & OPTIONS_PLUS))
		return ARG_VALUE;
	if (w->skipped < v->skip) {
		w->skipped++;
		return ARG_VALUE;
	}
	w->past_sub = w->seen_sub;
	w->seen_sub = true;
	return ARG_WORD;
}

bool cmd_walk_at_option(const struct cmd_walk *w, enum cmd_arg kind)
{
	const struct cmd_options *row = w->view->global;

	return kind == ARG_OPTION ||
	       (kind == ARG_WORD && w->next == 1 && row && row->flags & OPTIONS_OLD_STYLE);
}

/* The row of options.def by one of the names of c. */
static const struct cmd_options *row_of(const struct command *c, const char *sub)
{
	const struct cmd_options *row = cmd_options_find(c->program, sub);

	return row ? row : cmd_options_find(c->alias, sub);
}

/*
 * Sets the first word of v, and its row.  Returns the kind of the argument before it, with its text in
 * *ret_before.
 */
static enum cmd_arg read_sub(struct cmd_view *v, const char **ret_before)
{
	struct cmd_walk w = { .view = v };
	enum cmd_arg kind = ARG_WORD, before;

	v->word = "";
	do {
		before = kind;
		*ret_before = v->word;
		kind = cmd_walk_next(&w, &v->word);
	} while (kind != ARG_END && kind != ARG_WORD);
	v->sub = row_of(v->c, v->word);
	return before;
}

struct cmd_view cmd_view_of(const struct command *c)
{
	struct cmd_view v = { .c = c, .count = command_count(c) };
	const char *before;

	v.global = row_of(c, NULL);
	(void)read_sub(&v, &before);
	return v;
}

bool cmd_view_skip(struct cmd_view *v)
{
	const char *before;

	if (!v->global || !(v->global->flags & OPTIONS_MAY_TAKE) || !*v->word ||
	    read_sub(v, &before) != ARG_OPTION || strchr(before, '='))
		return false;
	v->skip++;
	(void)read_sub(v, &before);
	return *v->word;
}

bool cmd_view_goal(struct cmd_view *v)
{
	const struct cmd_options *row = v->sub ? v->sub : v->global;
	struct cmd_walk w = cmd_walk_words(v);
	enum cmd_arg kind;
	const char *word;

	if (!row || !(row->flags & (OPTIONS_GOALS | OPTIONS_URLS)))
		return false;
	do {
		kind = cmd_walk_next(&w, &word);
	} while (kind != ARG_END && kind != ARG_WORD);
	v->from = w.next;
	v->from_words = w.only_words;
	while (kind != ARG_END && (kind = cmd_walk_next(&w, &word)) != ARG_WORD)
		;
	return kind == ARG_WORD;
}

const char *cmd_word_at(const struct cmd_view *view, size_t n)
{
	struct cmd_walk w = { .view = view };
	const char *arg;
	enum cmd_arg kind;
	size_t seen = 0;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END)
		if (kind == ARG_WORD && seen++ == n + 1)
			return arg;
	return NULL;
}
