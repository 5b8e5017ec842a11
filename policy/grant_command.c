/*
 * Grants of commands: which lines are too much, and what a grant covers.
 *
 * Guarantees that each command which the policy asks about is covered by a rule of its own, and that no grant
 * speaks of a program that runs what its arguments say.
 */
#include "grant_impl.h"

#include <string.h>

#include "cmd.h"
#include "git.h"
#include "path.h"
#include "sentence.h"

/* --- a line that a human wrote --- */

static const char *broad_sentence(const struct sentence *s)
{
	const char *program = path_basename(s->words[0].text);
	bool said = s->closed;

	if (!s->words[0].quoted && !glob_is_literal(s->words[0].text, strlen(s->words[0].text)))
		return "any program is too much: name the one that is needed";
	if (name_is_runner(program))
		return "this program runs what its arguments say: allow it once";
	for (size_t i = 1; i < s->n; i++) {
		const struct word *w = &s->words[i];

		if (word_is_escape(program, w->text))
			return "with this word the program runs another one: allow it once";
		said |= w->quoted || (strcmp(w->text, "*") != 0 && strcmp(w->text, "...") != 0);
	}
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

/* Options of a push that change nothing about what is pushed where. */
static bool is_harmless_push(const char *option)
{
	return word_in_list(
		"-u -q -v -n --set-upstream --quiet --verbose --progress --no-progress --dry-run --porcelain",
		option, strlen(option));
}

static bool rule_names_option(const struct sentence *s, const char *option)
{
	size_t n = strcspn(option, "=");

	for (size_t i = 1; i < s->n; i++)
		if (strncmp(s->words[i].text, option, n) == 0 &&
		    (s->words[i].text[n] == '\0' || s->words[i].text[n] == '='))
			return true;
	return false;
}

/* A refspec with two ends, or forced, counts only where a word of the rule is such a one. */
static bool rule_names_refspec(const struct sentence *s, const char *word)
{
	for (size_t i = 1; i < s->n; i++) {
		const char *w = s->words[i].text;

		if ((strchr(word, ':') && !strchr(w, ':')) || (word[0] == '+' && w[0] != '+'))
			continue;
		if (strcmp(w, word) == 0 ||
		    (!s->words[i].quoted && glob_match(w, strlen(w), word, strlen(word))))
			return true;
	}
	return false;
}

/* The words of a rule about a push that stand in order; SIZE_MAX where it says `...`. */
static size_t rule_words(const struct sentence *s)
{
	const struct cmd_known *push = cmd_known_find("git", "push");
	size_t n = 0;

	for (size_t i = 1; i < s->n; i++) {
		const struct word *w = &s->words[i];

		if (!w->quoted && strcmp(w->text, "...") == 0)
			return SIZE_MAX;
		if (w->text[0] == '-')
			i += cmd_known_takes(push, w->text);
		else
			n++;
	}
	return n;
}

static bool push_is_covered(const struct sentence *s, const struct command *c)
{
	struct cmd_view v = cmd_view_of(c);
	struct cmd_walk w = { .view = &v };
	size_t n = 0, limit = rule_words(s);
	enum cmd_arg kind;
	const char *arg;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		if (kind == ARG_OPTION && !is_harmless_push(arg) && !rule_names_option(s, arg))
			return false;
		if (kind != ARG_WORD)
			continue;
		if (++n > limit)
			return false;
		if ((strchr(arg, ':') || arg[0] == '+') && !rule_names_refspec(s, arg))
			return false;
	}
	return true;
}

static bool has_rest(const struct sentence *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->words[i].quoted && strcmp(s->words[i].text, "...") == 0)
			return true;
	return false;
}

/*
 * Where the words are counted they are these: an option stands where it stood, with the value that stood
 * behind it.  (Elsewhere options match anywhere.)
 */
static bool is_in_place(const struct sentence *s, const struct command *c)
{
	if (command_count(c) + 1 != s->n)
		return false;
	for (size_t i = 1; i < s->n; i++) {
		const char *w = s->words[i].text, *arg = command_arg(c, i - 1);

		/* (a|b) is one of them, which the rule's match has seen */
		if ((w[0] == '-' || arg[0] == '-') && (w[0] != '(' || s->words[i].quoted) &&
		    strcmp(w, arg) != 0 &&
		    (s->words[i].quoted || !glob_match(w, strlen(w), arg, strlen(arg))))
			return false;
	}
	return true;
}

/* Is the program's file one that the session may write?  Then its name says nothing about it. */
bool program_is_own(const struct image *img, const char *path)
{
	const struct request write = { .op = OP_WRITE, .access = ACCESS_WRITE, .path = path };

	return path && eval(img, &write).verdict != VERDICT_DENY;
}

struct coverage {
	const struct image *grants, *img;
	const char *path; /* the outermost command's file; of the others nothing is run yet */
	struct asked asked;
	size_t at;
	bool held; /* something is not covered */
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

/* Beyond what the rule matches: what makes a grant narrower than a policy's rule. */
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
	if (s.closed && !has_rest(&s) && !is_in_place(&s, c))
		return false;
	if (git_is(c) && strcmp(cmd_view_of(c).word, "push") == 0)
		return push_is_covered(&s, c);
	return true;
}

static void note_grant(const struct command *c, const struct decision *d, void *ctx)
{
	struct coverage *co = ctx;
	size_t i = co->at++;

	if (i >= co->asked.n || co->asked.verdict[i] == VERDICT_ALLOW)
		return;
	if (co->asked.verdict[i] != VERDICT_ASK || !is_covered(co, c, d, i == 0 ? co->path : NULL))
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
