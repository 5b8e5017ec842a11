/*
 * The review of what was learnt, one lesson after the other, in letters that aa-logprof has: (A)llow,
 * (I)gnore, (G)lob, (F)inish, Abo(r)t, and at the end (S)ave.  Other lines are written by `pale policy edit`.
 */
#include <errno.h>
#include <string.h>

#include "learn.h"

#define SHOWN 3

void learn_print_lesson(FILE *f, const struct learn *l, size_t i)
{
	const struct lesson *g = &l->lessons.list[i];

	fprintf(f, "%zu thing%s, %llu time%s\n", g->n_events, g->n_events == 1 ? "" : "s",
		(unsigned long long)g->count, g->count == 1 ? "" : "s");
	for (size_t k = 0; k < g->n_events && k < SHOWN; k++) {
		const struct lesson_event *e = &l->lessons.events[g->events[k]];

		fputs("    ", f);
		print_recorded(f, e->r.op);
		fputc(' ', f);
		print_recorded(f, e->r.target);
		fputc('\n', f);
	}
	if (g->n_events > SHOWN)
		fprintf(f, "    and %zu more\n", g->n_events - SHOWN);
}

static void print_choices(const struct learn *l, size_t i)
{
	const struct lesson *g = &l->lessons.list[i];
	const struct taken *t = &l->taken[i];

	fprintf(stderr, "\n%zu/%zu  [%s] ", i + 1, l->lessons.n, g->section);
	learn_print_lesson(stderr, l, i);
	for (size_t k = 0; k < g->n_lines; k++) {
		fprintf(stderr, "  %c %zu  ", k == t->at ? '*' : ' ', k + 1);
		print_escaped(stderr, g->line[k]);
		fputc('\n', stderr);
	}
}

static void widen(const struct learn *l, size_t i)
{
	const struct lesson *g = &l->lessons.list[i];
	struct taken *t = &l->taken[i];

	if (t->at + 1 >= g->n_lines) {
		fputs("nothing wider may be taken\n", stderr);
		return;
	}
	strcpy(t->line, g->line[++t->at]);
}

enum after { AFTER_NEXT, AFTER_SAME, AFTER_FINISH, AFTER_ABORT };

static enum after act(const struct learn *l, size_t i, int letter)
{
	switch (letter) {
	case 'a':
		l->taken[i].is_taken = true;
		return AFTER_NEXT;
	case 'i':
		return AFTER_NEXT;
	case 'g':
		widen(l, i);
		return AFTER_SAME;
	case 'f':
	case 's':
		return AFTER_FINISH;
	case 'r':
	case 'q':
		return AFTER_ABORT;
	default:
		return AFTER_SAME;
	}
}

static enum after ask_one(const struct learn *l, size_t i)
{
	enum after after = AFTER_SAME;

	while (after == AFTER_SAME) {
		int letter;

		print_choices(l, i);
		letter = ask_key("(A)llow / (I)gnore / (G)lob / (F)inish / Abo(r)t: ");
		after = letter < 0 ? AFTER_ABORT : act(l, i, letter);
	}
	return after;
}

static void print_taken_back(const struct learn *l)
{
	for (size_t i = 0; i < l->lessons.n; i++) {
		if (!l->taken[i].why[0])
			continue;
		fputs("not taken: ", stderr);
		print_escaped(stderr, l->taken[i].line);
		fputs(": ", stderr);
		print_recorded(stderr, l->taken[i].why);
		fputc('\n', stderr);
	}
}

static int ask_save(struct learn *l)
{
	int letter;

	if (learn_replay(l) < 0)
		return 0;
	print_taken_back(l);
	if (learn_taken(l) == 0)
		return 0;
	fputc('\n', stderr);
	learn_print_new(stderr, l);
	do
		letter = ask_key("(S)ave / Abo(r)t: ");
	while (letter >= 0 && letter != 's' && letter != 'r');
	return letter == 's';
}

/* An answer to one may be one to others too: *now is the policy with the answers so far. */
static bool is_answered(struct learn *l, const struct loaded *now, size_t i)
{
	if (!learn_is_answered(l, now, i))
		return false;
	l->taken[i].answered = true;
	fprintf(stderr, "\n%zu/%zu  [%s] ", i + 1, l->lessons.n, l->lessons.list[i].section);
	print_escaped(stderr, l->taken[i].line);
	fputs(": what you answered to another holds for it too\n", stderr);
	return true;
}

int learn_review(struct learn *l)
{
	enum after after = AFTER_NEXT;
	struct loaded now = { 0 };
	bool is_now = false;

	for (size_t i = 0; i < l->lessons.n && after == AFTER_NEXT; i++) {
		if (is_now && is_answered(l, &now, i))
			continue;
		after = ask_one(l, i);
		if (!l->taken[i].is_taken)
			continue;
		loaded_done(&now);
		now = (struct loaded){ 0 };
		is_now = learn_load(l, &now) == 0;
	}
	loaded_done(&now);
	return after == AFTER_ABORT ? 0 : ask_save(l);
}
