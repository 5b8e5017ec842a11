/*
 * What `pale lint` says of a learnt line: such a one is not proposed, and not taken where the operator wrote
 * it.
 *
 * Lint itself is asked, about the policy as it would be.  One finding is let pass: what does not exist yet is
 * what a session was denied to make.
 */
#include <errno.h>
#include <string.h>

#include "learn.h"

/* --- findings about lines that are taken --- */

/* It says so of the policy as it is. */
static bool is_known(const struct diags *known, const struct diag *g)
{
	for (size_t i = 0; i < known->n; i++)
		if (strcmp(known->list[i].code, g->code) == 0 && strcmp(known->list[i].text, g->text) == 0)
			return true;
	return false;
}

/* Of which lesson is that line? */
static bool blame(struct learn *l, const char *text, const struct diag *g)
{
	unsigned line = 1;

	for (; *text && line < g->line; line++) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	for (size_t i = 0; i < l->lessons.n; i++) {
		size_t n = strlen(l->taken[i].line);

		if (l->taken[i].is_taken && strncmp(text, l->taken[i].line, n) == 0 &&
		    (text[n] == '\n' || !text[n])) {
			learn_take_back(&l->taken[i], g->text);
			return true;
		}
	}
	return false;
}

bool learn_check_lint(struct learn *l, const char *text, const struct diags *d)
{
	bool any = false;

	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->list[i].code, "missing-path") != 0 && !is_known(&l->known, &d->list[i]))
			any |= blame(l, text, &d->list[i]);
	return any;
}

/* --- before anything is proposed --- */

static bool is_line_of(const struct lesson *g, const char *section, const char *line)
{
	for (size_t k = 0; k < g->n_lines && strcmp(g->section, section) == 0; k++)
		if (strcmp(g->line[k], line) == 0)
			return true;
	return false;
}

/* Takes the line at k of each lesson, each line once: no two of them are about the same things. */
static void take_all_at(struct learn *l, size_t k)
{
	for (size_t i = 0; i < l->lessons.n; i++) {
		const struct lesson *g = &l->lessons.list[i];
		bool again = g->n_lines <= k;

		for (size_t j = 0; !again && j < i; j++)
			again = is_line_of(&l->lessons.list[j], g->section, g->line[k]);
		l->taken[i] = (struct taken){ .is_taken = !again };
		if (!again)
			strcpy(l->taken[i].line, g->line[k]);
	}
}

/* Takes back what lint complains of.  0 or -ENOMEM. */
static int lint_taken(struct learn *l)
{
	struct loaded after = { 0 };
	struct diags d;
	char *text;
	int r = learn_build(l, LEARN_ALL, &text);

	if (r < 0)
		return r;
	diags_init(&d);
	r = policy_load_with(&l->file, text, strlen(text), &after, &d);
	(void)learn_check_lint(l, text, &d);
	diags_done(&d);
	loaded_done(&after);
	free(text);
	return r == -ENOMEM ? r : 0;
}

/* The reason outlives what it was made of. */
static const char *keep_reason(struct learn *l, const char *why)
{
	char **grown = reallocarray(l->reasons, l->n_reasons + 1, sizeof(*grown)), *text;

	if (!grown)
		return "pale lint complains of it";
	l->reasons = grown;
	if (asprintf(&text, "pale lint: %s", why) < 0)
		return "pale lint complains of it";
	return l->reasons[l->n_reasons++] = text;
}

/* Takes that line out of each lesson that has it; one that has none left is dropped. */
static void remove_line(struct learn *l, const char *section, const char *line, const char *why)
{
	for (size_t i = 0; i < l->lessons.n;) {
		struct lesson *g = &l->lessons.list[i];
		size_t kept = 0;

		for (size_t k = 0; k < g->n_lines; k++) {
			if (strcmp(g->section, section) == 0 && strcmp(g->line[k], line) == 0)
				continue;
			if (kept != k)
				memcpy(g->line[kept], g->line[k], sizeof(g->line[k]));
			kept++;
		}
		g->n_lines = kept;
		if (kept)
			i++;
		else
			lessons_drop(&l->lessons, i, keep_reason(l, why));
	}
}

/* A line that was refused, and of which section. */
struct refused {
	const char *section;
	char line[GRANT_LINE], why[512];
};

static void note_refused(const struct learn *l, struct refused *list, size_t *n)
{
	for (size_t i = 0; i < l->lessons.n; i++) {
		struct refused *f = &list[*n];

		if (!l->taken[i].why[0])
			continue;
		f->section = l->lessons.list[i].section;
		strcpy(f->line, l->taken[i].line);
		strcpy(f->why, l->taken[i].why);
		++*n;
	}
}

int learn_propose(struct learn *l)
{
	struct refused *list = calloc(l->lessons.n * LESSON_LADDER + 1, sizeof(*list));
	size_t n = 0;
	int r = list ? 0 : -ENOMEM;

	for (size_t k = 0; r == 0 && l->lessons.n && k < LESSON_LADDER; k++) {
		take_all_at(l, k);
		r = lint_taken(l);
		note_refused(l, list, &n);
	}
	for (size_t i = n; i-- > 0;)
		remove_line(l, list[i].section, list[i].line, list[i].why);
	free(list);
	for (size_t i = 0; i < l->lessons.n; i++) {
		l->taken[i] = (struct taken){ .at = 0 };
		strcpy(l->taken[i].line, l->lessons.list[i].line[0]);
	}
	return r;
}
