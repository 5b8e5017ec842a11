/*
 * Parses and lints the resulting policy as `pale lint FILE` does, and repairs it until neither has a
 * finding: a line that does not parse, or that allows too much, is removed and reported.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/command/cmd.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/edit/edit.h"
#include "tools/gather/load.h"

#include "import.h"

#define ROUNDS_MAX 32
#define NAME	   "/nonexistent/pale-import.ini"

static size_t line_find(const struct import *im, unsigned line)
{
	for (size_t i = 0; i < im->n; i++)
		if (!im->list[i].dropped && im->list[i].line == line)
			return i;
	return im->n;
}

static void drop_line(struct import *im, size_t i, const struct diag *g, enum told_kind kind)
{
	const struct carried *c = &im->list[i];

	/* The file has no name yet. */
	const char *other = strstr(g->text, NAME ":");

	carry_tell(im, kind, c->from, "`%s = %s` %s: %.*s%s%s", c->key, c->value,
		   kind == TOLD_NOTE ? "left out" : "cannot be held",
		   other ? (int)(other - g->text) : (int)strlen(g->text), g->text, other ? "line " : "",
		   other ? other + strlen(NAME ":") : "");
	im->list[i].dropped = true;
}

/* An allowed program that runs what its arguments say, or that an option makes run another, becomes
 * `ask`. */
static void ask_instead(struct import *im, size_t i, const struct diag *g)
{
	im->list[i].key = "ask";
	carry_tell(im, TOLD_STRICTER, im->list[i].from, "`%s` is asked, not allowed: %s", im->list[i].value,
		   g->text);
}

/* Findings for which a line stays: they hold for the source too, or only say that a path does not exist
 * here yet. */
static bool is_kept(const struct diag *g)
{
	static const char codes[] = "user-content missing-path options";

	return g->severity == SEVERITY_NOTE && word_in_list(codes, g->code, strlen(g->code));
}

static bool mend(struct import *im, const struct diag *g)
{
	static const char *const needless[] = { "duplicate", "tied", "unreachable" };
	enum told_kind kind = TOLD_LOST;
	size_t i = line_find(im, g->line);

	if (is_kept(g) || strcmp(g->file, NAME) != 0 || i == im->n)
		return false;
	for (size_t k = 0; k < NELEM(needless); k++)
		if (strcmp(needless[k], g->code) == 0)
			kind = TOLD_NOTE;
	if (strcmp(g->code, "interpreter") == 0 || strcmp(g->code, "escape") == 0)
		ask_instead(im, i, g);
	else
		drop_line(im, i, g, kind);
	return true;
}

/* Lints as `pale lint FILE` does, without this machine's other policies. */
static int lint_text(const struct import *im, const char *text, struct diags *d)
{
	struct options alone = *im->o;
	struct loaded l = { 0 };
	struct bundle b;
	int r;

	alone.policy = NAME;
	bundle_init(&b);
	r = bundle_gather_without(&alone, &b, d);
	bundle_drop_sources(&b, d);
	if (r == -EBADMSG && !d->n_errors)
		r = 0;
	if (r == 0)
		r = bundle_add_source(&b, SOURCE_USER, NAME, text, strlen(text));
	if (r == 0)
		r = loaded_from_bundle(&l, &b, d);
	if (r == 0)
		r = lint_loaded(&l, d);
	bundle_done(&b);
	loaded_done(&l);
	return r;
}

static void tell_kept(struct import *im, const struct diags *d)
{
	for (size_t k = 0; k < d->n; k++) {
		size_t i = line_find(im, d->list[k].line);

		if (is_kept(&d->list[k]) && strcmp(d->list[k].code, "user-content") == 0 && i < im->n)
			carry_tell(im, TOLD_NOTE, im->list[i].from, "`%s = %s` is carried over: %s",
				   im->list[i].key, im->list[i].value, d->list[k].text);
	}
}

/* One round: 1 where a line was changed, 0 where no line was, or -errno. */
static int mend_all(struct import *im)
{
	_cleanup_free_ char *text = carry_text(im);
	struct diags d;
	int r, mended = 0;

	diags_init(&d);
	r = lint_text(im, text, &d);
	/* A line that was removed has no second finding. */
	for (size_t i = 0; i < d.n; i++)
		mended |= mend(im, &d.list[i]);
	if (r < 0 && !mended)
		print_diags(stderr, &d);
	if (r == 0 && !mended)
		tell_kept(im, &d);
	diags_done(&d);
	return mended ? 1 : r;
}

int check_settle(struct import *im)
{
	int r = 1;

	for (unsigned i = 0; r == 1 && i < ROUNDS_MAX; i++)
		r = mend_all(im);
	return r == 1 ? -ELOOP : r;
}
