/*
 * The review of what was learnt, one lesson after the other, in the letters that aa-logprof has: (A)llow,
 * (D)eny, (I)gnore, (G)lob, (N)ew, (E)dit, (F)inish, Abo(r)t, and at the end (S)ave.
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
		fprintf(stderr, "  %c %zu  ", k == t->at && strcmp(t->line, g->line[k]) == 0 ? '*' : ' ',
			k + 1);
		print_escaped(stderr, g->line[k]);
		fputc('\n', stderr);
	}
	if (t->at < g->n_lines && strcmp(t->line, g->line[t->at]) != 0) {
		fputs("  * new  ", stderr);
		print_escaped(stderr, t->line);
		fputc('\n', stderr);
	}
}

/* Without its newline; false at the end of input.  The rest of a longer line is no answer to the next
 * question. */
static bool read_answer(const char *question, char *buf, size_t size)
{
	int c;

	fputs(question, stderr);
	fflush(stderr);
	if (!fgets(buf, (int)size, stdin))
		return false;
	if (!strchr(buf, '\n'))
		while ((c = getc(stdin)) != EOF && c != '\n')
			;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
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

/* Why the operator's own line cannot be taken, or NULL.  It has to be one that may be granted; which ports
 * are listened on nobody may grant, but it may be learnt. */
static const char *own_wrong(const struct learn *l, const struct lesson *g, const char *line, char why[256])
{
	if (strlen(line) >= GRANT_LINE)
		return "it is too long";
	if (strcmp(g->section, "network") == 0 && lesson_is_bind(line))
		return lesson_bind_wrong(line);
	return grant_check(&l->now.image, g->section, line, NULL, why, 256) < 0 ? why : NULL;
}

static bool write_own(const struct learn *l, size_t i, const char *question)
{
	const struct lesson *g = &l->lessons.list[i];
	char line[GRANT_LINE + 2], buf[256];
	const char *why;

	if (!read_answer(question, line, sizeof(line)))
		return false;
	if (line[0] == '\0')
		return true;
	why = own_wrong(l, g, line, buf);
	if (why)
		fprintf(stderr, "it cannot be taken: %s\n", why);
	else
		strcpy(l->taken[i].line, line);
	return true;
}

/* Without the port: who may not be reached at one is not looked up, nor asked about at another. */
static int host_length(const char *value)
{
	const char *end = value[0] == ' ' && value[1] == '[' ? strchr(value, ']') : NULL;
	const char *colon = strchr(end ? end : value, ':');

	return colon && !strchr(colon + 1, ':') ? (int)(colon - value) : (int)strlen(value);
}

/* The same the other way round: a rule that denies what the narrowest line would allow. */
static void deny(const struct learn *l, size_t i)
{
	struct taken *t = &l->taken[i];
	const char *value = strchr(t->line, '=') + 1;
	bool is_host = strcmp(l->lessons.list[i].section, "network") == 0 && t->line[0] == 'a';
	char line[GRANT_LINE + 16];

	if (strncmp(t->line, "unix ", 5) == 0 || lesson_is_bind(t->line)) {
		fputs("what no rule allows of this is denied as it is: (I)gnore\n", stderr);
		return;
	}
	/* What was read is closed; what was written stays as it is. */
	snprintf(line, sizeof(line), "%s =%.*s", strncmp(t->line, "write", 5) == 0 ? "readonly" : "deny",
		 is_host ? host_length(value) : (int)strlen(value), value);
	if (strlen(line) >= sizeof(t->line)) {
		fputs("it is too long for a rule\n", stderr);
		return;
	}
	strcpy(t->line, line);
	t->choice = CHOICE_DENY;
}

static void explain(void)
{
	fputs("  A  take the line that is marked\n  D  deny it by a rule, so that it is not proposed again\n"
	      "  I  leave it as it is\n  G  the next wider line\n  N  write a line in its place\n"
	      "  E  change the line that is marked\n  F  leave the rest as it is\n"
	      "  R  leave everything as it is\n",
	      stderr);
}

enum after { AFTER_NEXT, AFTER_SAME, AFTER_FINISH, AFTER_ABORT };

static enum after act(const struct learn *l, size_t i, int letter)
{
	struct taken *t = &l->taken[i];

	switch (letter) {
	case 'a':
		t->choice = CHOICE_ALLOW;
		return AFTER_NEXT;
	case 'd':
		deny(l, i);
		return t->choice == CHOICE_DENY ? AFTER_NEXT : AFTER_SAME;
	case 'i':
		return AFTER_NEXT;
	case 'g':
		widen(l, i);
		return AFTER_SAME;
	case 'n':
		return write_own(l, i, "New line: ") ? AFTER_SAME : AFTER_ABORT;
	case 'e':
		fprintf(stderr, "%s\n", t->line);
		return write_own(l, i, "Write it again, changed: ") ? AFTER_SAME : AFTER_ABORT;
	case 'f':
	case 's':
		return AFTER_FINISH;
	case 'r':
	case 'q':
		return AFTER_ABORT;
	default:
		explain();
		return AFTER_SAME;
	}
}

static enum after ask_one(const struct learn *l, size_t i)
{
	enum after after = AFTER_SAME;

	while (after == AFTER_SAME) {
		int letter;

		print_choices(l, i);
		letter = ask_key(
			"(A)llow / (D)eny / (I)gnore / (G)lob / (N)ew / (E)dit / (F)inish / Abo(r)t: ");
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
		if (l->taken[i].choice == CHOICE_NONE)
			continue;
		loaded_done(&now);
		now = (struct loaded){ 0 };
		is_now = learn_load(l, &now) == 0;
	}
	loaded_done(&now);
	return after == AFTER_ABORT ? 0 : ask_save(l);
}
