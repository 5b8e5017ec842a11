/*
 * What an allow rule covers beyond its words: see cmd.h.
 *
 * An option that changes what the command does must stand in the rule, and nothing on the command line may
 * take back an option of the rule.  Pure.
 */
#include "cmd.h"

#include <string.h>

#include "policy/base/path.h"

/* An option of the command, or one letter of a cluster, and its value ("": it has none). */
struct option {
	const char *arg;
	char letter; /* 0: the whole of arg */
	bool joined; /* the value is attached, to an option that does not take the next word (-SKEY) */
	const char *value;
};

static bool rule_names_option(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e,
			      const struct option *o)
{
	for (uint32_t i = 0; i < e->count; i++) {
		const struct cmd_token *tok = t->tokens + e->first + i;
		const char *text = image_str(t->img, tok->text), *has;

		if (o->letter && tok->kind == TOKEN_SHORT
			    ? text[0] != o->letter
			    : !cmd_option_matches(v, tok, text, o->arg, READ_STRICT, &has))
			continue;
		if ((tok->match == MATCH_NONE && !(o->joined && tok->kind == TOKEN_SHORT)) ||
		    cmd_value_matches(image_str(t->img, tok->value), tok->match, o->value))
			return true;
	}
	return false;
}

/* True where text cannot be more option letters or an option, because it does not begin with a letter
 * after its dashes (two at most).  So it is a value, whatever the option letter before it takes. */
static bool is_only_value(const char *text)
{
	size_t dashes = text[0] != '-' ? 0 : text[1] != '-' ? 1 : 2;

	return !((text[dashes] | 0x20) >= 'a' && (text[dashes] | 0x20) <= 'z');
}

/*
 * Does the letter take a value for certain?  In gh each subcommand gives the letters a meaning of its own: -i
 * takes a value in one and none in another.
 */
static bool surely_takes(const struct cmd_view *v, const struct cmd_options *sub, const char *letter)
{
	char mark = '\0';

	if (!v->global || !(v->global->flags & OPTIONS_GROUPS))
		return true;
	if (sub && !(sub->flags & OPTIONS_GROUPS))
		(void)cmd_option_class(NULL, sub, letter, 2, &mark);
	return mark == '=';
}

/*
 * An option, or a letter of a cluster, that changes what the command does is covered only where the rule
 * names it.  A rule that ends in `$` covers no other option at all.
 */
static bool option_is_covered(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e,
			      const struct cmd_walk *w, const char *arg)
{
	const char *next = w->value_next ? command_arg(v->c, w->next) : "", *eq = strchr(arg, '=');
	const struct cmd_options *global, *sub;
	struct option o = { .arg = arg, .value = eq ? eq + 1 : next };
	char name[] = "-x", mark;

	cmd_walk_rows(w, &global, &sub);
	/* npm accepts a subcommand's options before it, too */
	if (v->global && v->global->flags & OPTIONS_EVERYWHERE && !w->past_sub)
		sub = v->sub;
	if (arg[1] == '-' || (v->global && v->global->flags & OPTIONS_SINGLE_DASH))
		return (e->end == END_OPEN &&
			cmd_option_class(global, sub, arg, strcspn(arg, "="), &mark) == CLASS_HARMLESS) ||
		       rule_names_option(t, v, e, &o);
	for (const char *p = arg + (arg[0] == '-'); *p; p++) {
		o.letter = name[1] = *p;
		bool free =
			cmd_option_class(global, sub, name, 2, &mark) == CLASS_HARMLESS && e->end == END_OPEN;

		o.value = mark && p[1] ? p + 1 : next;
		/* MODULE of -mMODULE is a word of the command, which the rule's words match */
		o.joined = mark == '?' && p[1];
		if (!free && !rule_names_option(t, v, e, &o)) {
			/* what follows an unknown letter is its value, where the rule names it so */
			o.value = p + 1;
			return !mark && p[1] && rule_names_option(t, v, e, &o);
		}
		if (mark == '=' && !surely_takes(v, sub, name)) {
			if (!p[1] && *next == '-' && !is_only_value(next))
				return false;
			if (p[1] && !is_only_value(p + 1))
				continue;
		}
		if (mark && p[1] && arg[0] == '-')
			return true;
	}
	return true;
}

/* Does the rule have a word of this form (len bytes) that matches word? */
static bool rule_names_form(const struct cmd_table *t, const struct cmd_entry *e, const char *form,
			    size_t len, const char *word)
{
	for (uint32_t i = 0; i < e->count; i++) {
		const struct cmd_token *tok = t->tokens + e->first + i;
		const char *text = image_str(t->img, tok->text);

		if (!glob_match(form, len, text, strlen(text)))
			continue;
		if (tok->kind == TOKEN_WORD
			    ? cmd_value_matches(text, tok->match, word)
			    : tok->kind == TOKEN_OPERAND && strncmp(word, text, strlen(text)) == 0)
			return true;
	}
	return false;
}

/* push REMOTE REFSPEC: a rule with so many words names what is pushed, and covers no other refspec. */
#define REFSPEC_AT 3

/*
 * A word of a special form (+ref, a:b, SHELL=) is covered only where the rule has a word of that form that
 * matches it; +a:b has two forms.  any: the rule is for a push and names no refspec, so it covers each a:b.
 */
static bool word_is_covered(const struct cmd_table *t, const struct cmd_entry *e, bool any, const char *forms,
			    const char *word)
{
	for (size_t n; *forms; forms += n + (forms[n] == ' ')) {
		n = strcspn(forms, " ");
		if (any && forms[0] == '*' && forms[1] == ':')
			continue;
		if (glob_match(forms, n, word, strlen(word)) && !rule_names_form(t, e, forms, n, word))
			return false;
	}
	return true;
}

/* --- what takes an option of the rule back --- */

/* Words that switch an option off in some program.  Where one means something else the allow does not cover
 * the command, which is safe. */
static bool is_off(const char *value)
{
	static const char off[] = "false 0 no none off null never";

	return !*value || word_in_list(off, value, strlen(value));
}

/*
 * True where arg is an option of the rule, with a value that the rule does not have, or switched off.  npm
 * takes the next word for the value of a switch where it is `false`.
 */
static bool is_changed(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_token *tok,
		       const char *arg, const char *next)
{
	const char *has = NULL, *value = image_str(t->img, tok->value);
	char mark = '\0';

	if (!cmd_option_is(v, tok, image_str(t->img, tok->text), false, arg, next, &has))
		return false;
	if (tok->match != MATCH_NONE)
		return !cmd_value_matches(value, tok->match, has ? has : next);
	if (tok->kind == TOKEN_SHORT)
		return false;
	(void)cmd_option_class(v->global, v->sub, arg, strcspn(arg, "="), &mark);
	return !mark && is_off(has ? has : *next ? next : "1");
}

/* --no-dry-run is the opposite of --dry-run, and --dry-run is that of --no-dry-run. */
static bool is_opposite(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_token *tok,
			const char *arg)
{
	const char *text = image_str(t->img, tok->text), *has = NULL;
	char positive[64] = "--";
	size_t n = strcspn(arg, "=");

	if (strncmp(text, "--no-", 5) == 0 && n > 2 && arg[1] == '-' &&
	    strncmp(text + 5, arg + 2, n - 2) == 0)
		return true;
	if (strncmp(arg, "--no-", 5) != 0 || n >= sizeof(positive))
		return false;
	memcpy(positive + 2, arg + 5, n - 5);
	return cmd_option_is(v, tok, text, false, positive, "", &has);
}

static bool takes_back(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e,
		       const char *arg, const char *next)
{
	for (uint32_t i = 0; i < e->count; i++) {
		const struct cmd_token *tok = t->tokens + e->first + i;

		if (tok->kind >= TOKEN_SHORT && tok->kind <= TOKEN_FLAG &&
		    (is_changed(t, v, tok, arg, next) || is_opposite(t, v, tok, arg)))
			return true;
	}
	return false;
}

bool cmd_entry_covers(const struct cmd_table *t, const struct cmd_view *v, const struct cmd_entry *e)
{
	const struct cmd_options *row = v->sub ? v->sub : v->global;
	unsigned flags = row ? row->flags : 0;
	size_t words = 0, named = cmd_rule_words(t, e), before = flags & OPTIONS_GROUPS ? named : 0;
	bool refspecs = flags & OPTIONS_REFSPECS, goals = flags & (OPTIONS_GOALS | OPTIONS_URLS);
	struct cmd_walk w = { .view = v };
	enum cmd_arg kind;
	const char *arg;

	/* the rule allows the shell with any input, which may contain any command, so its options need not
	 * be named */
	if (flags & OPTIONS_INPUT && e->count == 0 && e->end == END_OPEN)
		return true;
	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		if (cmd_walk_at_option(&w, kind) &&
		    (takes_back(t, v, e, arg, command_arg(v->c, w.next)) ||
		     !option_is_covered(t, v, e, &w, arg) || (words < before && !w.value_next)))
			return false;
		if (kind != ARG_WORD)
			continue;
		words += !(flags & OPTIONS_GOALS && strchr(arg, '='));
		if (goals && named > 0 && words > named)
			return false;
		if (refspecs && named >= REFSPEC_AT && words > named)
			return false;
		if (row && row->words && !cmd_same_refspec(v, arg) &&
		    !word_is_covered(t, e, refspecs && named < REFSPEC_AT, row->words, arg))
			return false;
		if (flags & OPTIONS_FIRST_ENDS && e->end == END_OPEN &&
		    words > (v->sub || flags & OPTIONS_SECOND_ENDS))
			return true;
	}
	return true;
}
