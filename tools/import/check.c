/*
 * What would come out, read by the parser and by lint as `pale lint FILE` has it, and mended until both are
 * content: a line that is none, or that gives away too much, is taken out and told.
 */
#include <errno.h>
#include <string.h>

#include "tools/edit.h"

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

/* "add `deny = git -c`, or ask": the command, in buf; NULL where the hint is another. */
static const char *hinted_command(const char *hint, char *buf, size_t size)
{
	const char *from = hint ? strstr(hint, "`deny = ") : NULL, *to;

	if (!from)
		return NULL;
	from += strlen("`deny = ");
	to = strchr(from, '`');
	if (!to || (size_t)(to - from) >= size)
		return NULL;
	memcpy(buf, from, (size_t)(to - from));
	buf[to - from] = '\0';
	return buf;
}

static void drop(struct import *im, size_t i, const struct diag *g, enum told_kind kind)
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

/* The command with the option that makes it run another: as specific as the rule, so that it wins. */
static char *with_option(const char *rule, const char *hinted)
{
	const char *option = strchr(hinted, ' ');
	size_t n = strlen(rule);
	char *both;

	if (!option || option[1] != '-')
		return strdup(hinted);
	if (n > 2 && strcmp(rule + n - 2, " $") == 0)
		n -= 2;
	option++;
	return asprintf(&both, "%.*s %.*s", (int)n, rule, (int)strcspn(option, "="), option) < 0 ? NULL
												 : both;
}

/* An allowed program that can be made to run another: the way to it is asked. */
static void on_escape(struct import *im, size_t i, const struct diag *g)
{
	char command[256];
	const char *hinted = hinted_command(g->hint, command, sizeof(command));
	_cleanup_free_ char *ask = hinted ? with_option(im->list[i].value, hinted) : NULL;

	if (!ask || !carry_rule(im, "commands", "ask", im->list[i].from, ask)) {
		drop(im, i, g, TOLD_LOST);
		return;
	}
	carry_tell(im, TOLD_STRICTER, im->list[i].from,
		   "`ask = %s` added below `%s`: it can run something else", ask, im->list[i].value);
}

static void on_interpreter(struct import *im, size_t i, const struct diag *g)
{
	im->list[i].key = "ask";
	carry_tell(im, TOLD_STRICTER, im->list[i].from, "`%s` is asked, not allowed: %s", im->list[i].value,
		   g->text);
}

static void on_nothing(struct import *im, size_t i, const struct diag *g)
{
	drop(im, i, g, TOLD_NOTE);
}

static const struct {
	const char *code;
	void (*mend)(struct import *im, size_t i, const struct diag *g);
} mends[] = {
	{ "escape", on_escape }, { "interpreter", on_interpreter }, { "duplicate", on_nothing },
	{ "tied", on_nothing },	 { "unreachable", on_nothing },
};

/* What is said of a line that stays: the source says it too.  That a path does not exist yet is the
 * machine's. */
static const char *const kept[] = { "user-content", "missing-path" };

static bool is_kept(const struct diag *g)
{
	for (size_t i = 0; g->severity == SEVERITY_NOTE && i < NELEM(kept); i++)
		if (strcmp(kept[i], g->code) == 0)
			return true;
	return false;
}

static bool mend(struct import *im, const struct diag *g)
{
	size_t i = line_find(im, g->line);

	if (is_kept(g) || strcmp(g->file, NAME) != 0 || i == im->n)
		return false;
	for (size_t k = 0; k < NELEM(mends); k++)
		if (strcmp(mends[k].code, g->code) == 0) {
			mends[k].mend(im, i, g);
			return true;
		}
	drop(im, i, g, TOLD_LOST);
	return true;
}

/* As `pale lint` would find it, with nothing of this machine's other policies. */
static int look(const struct import *im, const char *text, struct diags *d)
{
	struct options alone = *im->o;
	struct loaded l = { 0 };
	struct bundle b;
	int r;

	alone.policy = NAME;
	bundle_init(&b);
	r = bundle_gather_without(&alone, &b, d);
	for (size_t i = 0; i < b.n_sources; i++) {
		free(b.sources[i].path);
		free(b.sources[i].text);
	}
	b.n_sources = 0;
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

		if (is_kept(&d->list[k]) && strcmp(d->list[k].code, "missing-path") != 0 && i < im->n)
			carry_tell(im, TOLD_NOTE, im->list[i].from, "`%s = %s` is carried over: %s",
				   im->list[i].key, im->list[i].value, d->list[k].text);
	}
}

/* 1 where something was mended, 0 where there was nothing to mend, -errno. */
static int round_of(struct import *im)
{
	_cleanup_free_ char *text = carry_text(im);
	struct diags d;
	int r, mended = 0;

	if (!text)
		return -ENOMEM;
	diags_init(&d);
	r = look(im, text, &d);
	/* Each finding by itself: a line that is gone has no second one. */
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
		r = im->error ? im->error : round_of(im);
	return r == 1 ? -ELOOP : r;
}
