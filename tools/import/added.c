/*
 * Closing rules that were added where something narrower is opened (order.c): which of them are needed, and
 * one line of the report for all that came of one rule.
 *
 * What the source opens there may not have been carried over (check.c); the preset or an agent's profile may
 * open it all the same.  So the evaluator is asked, with the lines and without, whoever runs: a line goes
 * only where nothing becomes weaker by that.
 */
#include <errno.h>
#include <string.h>

#include "policy/agents.h"
#include "policy/path.h"

#include "import.h"

#define SHOWN 3

/* Something that the pattern is about: each wildcard is one letter.  False where that is not so easy. */
static bool sample_of(const struct loaded *l, const char *pattern, char buf[PATH_MAX])
{
	char text[PATH_MAX];
	size_t n = 0;

	for (const char *s = pattern; *s && n + 1 < sizeof(text); s++) {
		if (strchr("[]\\", *s))
			return false;
		text[n++] = *s == '*' || *s == '?' ? 'x' : *s;
	}
	text[n] = '\0';
	if (text[0] != '~')
		return path_normalise(l->bundle.workspace, text, buf, PATH_MAX) >= 0;
	return path_normalise(l->bundle.home, text[1] ? text + 2 : ".", buf, PATH_MAX) >= 0;
}

static enum verdict verdict_of(const struct loaded *l, const char *path, unsigned access)
{
	const struct request req = { .op = access == ACCESS_READ ? OP_READ : OP_WRITE,
				     .access = access,
				     .path = path,
				     .cwd = l->bundle.workspace };

	return eval(&l->image, &req).verdict;
}

/* Without that line, and the others that are in doubt, is anything judged otherwise? */
static bool is_needed(const struct carried *c, const struct loaded *with, const struct loaded *without)
{
	char path[PATH_MAX];

	return !sample_of(with, c->value, path) ||
	       verdict_of(with, path, ACCESS_READ) != verdict_of(without, path, ACCESS_READ) ||
	       verdict_of(with, path, ACCESS_WRITE) != verdict_of(without, path, ACCESS_WRITE);
}

/* Takes the doubt from each line that is needed where that agent runs (NULL: none that is known).  0 or
 * -errno. */
static int doubt_less(const struct import *im, const char *agent, const char *with, const char *without,
		      bool *doubted)
{
	struct loaded a = { 0 }, b = { 0 };
	struct diags d;
	int r;

	diags_init(&d);
	r = check_load(im, agent, with, &a, &d);
	if (r == 0)
		r = check_load(im, agent, without, &b, &d);
	for (size_t i = 0; r == 0 && i < im->n; i++)
		if (doubted[i] && is_needed(&im->list[i], &a, &b))
			doubted[i] = false;
	loaded_done(&a);
	loaded_done(&b);
	diags_done(&d);
	return r;
}

/* doubted: lines against what was not carried over.  Leaves those in doubt that nobody needs.  0 or -errno.
 */
static int settle_doubts(struct import *im, bool *doubted)
{
	_cleanup_free_ char *with = carry_text(im), *without = NULL;
	const struct agent_profile *agent = NULL;
	int r = 0;

	for (size_t i = 0; i < im->n; i++)
		im->list[i].dropped |= doubted[i];
	without = carry_text(im);
	if (!with || !without)
		return -ENOMEM;
	for (size_t i = 0; r == 0; i++) {
		r = doubt_less(im, agent ? agent->name : NULL, with, without, doubted);
		agent = agent_profile(i);
		if (!agent)
			break;
	}
	return r;
}

static int take_out(struct import *im)
{
	_cleanup_free_ bool *doubted = calloc(im->n + 1, sizeof(*doubted));
	_cleanup_free_ bool *candidate = calloc(im->n + 1, sizeof(*candidate));
	bool any = false;
	int r;

	if (!doubted || !candidate)
		return -ENOMEM;
	for (size_t i = 0; i < im->n; i++) {
		const struct carried *c = &im->list[i];

		candidate[i] = doubted[i] = c->origin != NONE && !c->dropped &&
					    strcmp(c->section, "files") == 0 && !order_is_opened(im, i);
		any |= doubted[i];
	}
	r = any ? settle_doubts(im, doubted) : 0;
	for (size_t i = 0; i < im->n; i++)
		if (candidate[i])
			im->list[i].dropped = doubted[i];
	return r;
}

/* --- the report --- */

static void tell_one(struct import *im, size_t i)
{
	const struct carried *c = &im->list[i], *a = &im->list[c->against];

	carry_tell(im, TOLD_NOTE, c->from, "`%s = %s` added: there it holds against `%s = %s` (%s)", c->key,
		   c->value, a->key, a->value, a->from);
}

static void tell_many(struct import *im, size_t origin, size_t n)
{
	const struct carried *d = &im->list[origin];
	char list[512] = "";
	size_t shown = 0;

	for (size_t i = 0; i < im->n && shown < SHOWN; i++)
		if (im->list[i].origin == origin && !im->list[i].dropped)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s`%s`",
				 shown++ ? ", " : "", im->list[i].value);
	carry_tell(im, TOLD_NOTE, d->from,
		   "`%s = %s` added for %zu places, where it holds against narrower rules: %s%s", d->key,
		   d->value, n, list, n > SHOWN ? ", ..." : "");
}

int added_settle(struct import *im)
{
	int r = take_out(im);

	for (size_t origin = 0; r == 0 && origin < im->n; origin++) {
		size_t n = 0, last = 0;

		for (size_t i = 0; i < im->n; i++)
			if (im->list[i].origin == origin && !im->list[i].dropped) {
				n++;
				last = i;
			}
		if (n == 1)
			tell_one(im, last);
		else if (n > 1)
			tell_many(im, origin, n);
	}
	return r ? r : im->error;
}
