/*
 * Grants of commands: which lines are too broad, and what a grant covers.
 *
 * Guarantees that each command that the policy asks about is covered by a rule, and that no grant covers a
 * program that runs what its arguments say.
 */
#include "grant_impl.h"

#include <string.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"
#include "policy/command/sentence.h"

/* --- a line that a human wrote --- */

static const char *broad_sentence(const struct sentence *s)
{
	const char *program = path_basename(s->words[0].text), *words[SENTENCE_WORDS];
	const struct command c = { .program = program, .args = words, .n = s->n - 1 };
	bool said = s->closed;

	if (!s->words[0].quoted && !glob_is_literal(s->words[0].text, strlen(s->words[0].text)))
		return "any program is too much: name the one that is needed";
	if (name_is_runner(program))
		return "this program runs what its arguments say: allow it once";
	for (size_t i = 1; i < s->n; i++) {
		const struct word *w = &s->words[i];

		words[i - 1] = w->text;
		said |= w->quoted || (strcmp(w->text, "*") != 0 && strcmp(w->text, "...") != 0);
	}
	if (command_is_runner(&c))
		return "with these words the program runs another one: allow it once";
	return said ? NULL : "every use of this program is too much: add the words that matter, or `$`";
}

static int broad_choice(const struct sentence *s, void *ctx)
{
	const char **why = ctx;

	*why = broad_sentence(s);
	return *why ? -1 : 0;
}

const char *grant_broad_command(const char *pattern)
{
	struct sentence s UNINITIALIZED;
	const char *why = NULL;

	if (sentence_read(pattern, &s) < 0)
		return s.fault;
	if (sentence_expand(&s, broad_choice, &why) < 0 && !why)
		why = s.fault ? s.fault : "this cannot be read";
	return why;
}

/* --- what a grant covers --- */

static bool has_rest(const struct sentence *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->words[i].quoted && strcmp(s->words[i].text, "...") == 0)
			return true;
	return false;
}

/*
 * If a grant fixes the number of words, an option must be at the same place as in the grant, with the same
 * value after it.  (In other rules options match at any place.)
 */
static bool is_in_place(const struct sentence *s, const struct command *c)
{
	if (command_count(c) + 1 != s->n)
		return false;
	for (size_t i = 1; i < s->n; i++) {
		const char *w = s->words[i].text, *arg = command_arg(c, i - 1);

		/* The match of the rule has checked (a|b) already. */
		if ((w[0] == '-' || arg[0] == '-') && (w[0] != '(' || s->words[i].quoted) &&
		    strcmp(w, arg) != 0 &&
		    (s->words[i].quoted || !glob_match(w, strlen(w), arg, strlen(arg))))
			return false;
	}
	return true;
}

/* True if the session may write the program's file, so that its name does not tell what it does. */
bool program_is_own(const struct image *img, const char *path)
{
	const struct request write = { .op = OP_WRITE, .access = ACCESS_WRITE, .path = path };

	return path && eval(img, &write).verdict != VERDICT_DENY;
}

struct coverage {
	const struct image *grants, *img;
	const char *path; /* the outermost command's file; others have their own, if known */
	struct asked asked;
	size_t at;
	bool held; /* a command is not covered */
	uint32_t rule;
};

static void note_verdict(const struct command *c, const struct decision *d, void *ctx)
{
	struct asked *a = ctx;

	(void)c;
	if (a->n < ASKED_MAX)
		a->verdict[a->n] = verdict_strictest(a->verdict[a->n], d->verdict);
	a->n++;
}

bool commands_asked(const struct image *img, const struct request *req, struct asked *ret)
{
	struct image at = *img;

	for (size_t i = 0; i < ASKED_MAX; i++)
		ret->verdict[i] = VERDICT_ALLOW;
	do {
		ret->n = 0;
		if (!eval_command_each(&at, req, note_verdict, ret) || ret->n > ASKED_MAX)
			return false;
	} while (image_outer(&at, &at));
	return true;
}

/* Checks the conditions that a grant has beyond the match of its rule. */
static bool is_covered(const struct coverage *co, const struct command *c, const struct decision *d,
		       const char *path)
{
	const struct image_rule *r = d->verdict == VERDICT_ALLOW ? image_rule(co->grants, d->rule) : NULL;
	struct sentence s UNINITIALIZED;

	if (!r || r->kind != RULE_CMD_ALLOW || command_is_runner(c) ||
	    sentence_read(image_str(co->grants, r->pattern), &s) < 0)
		return false;
	if (!strchr(s.words[0].text, '/') && program_is_own(co->img, path))
		return false;
	return !s.closed || has_rest(&s) || is_in_place(&s, c);
}

static void note_grant(const struct command *c, const struct decision *d, void *ctx)
{
	struct coverage *co = ctx;
	size_t i = co->at++;

	if (i >= co->asked.n || co->asked.verdict[i] == VERDICT_ALLOW)
		return;
	if (co->asked.verdict[i] != VERDICT_ASK || !is_covered(co, c, d, i == 0 ? co->path : c->path))
		co->held = true;
	else
		co->rule = d->rule;
}

bool grant_covers_command(const struct image *grants, const struct image *img, const struct request *req,
			  uint32_t *ret_rule)
{
	struct coverage co = { .grants = grants, .img = img, .path = req->path, .rule = RULE_NONE };

	if (!commands_asked(img, req, &co.asked))
		return false;
	if (!eval_command_each(grants, req, note_grant, &co) || co.at != co.asked.n || co.held)
		return false;
	*ret_rule = co.rule;
	return true;
}
