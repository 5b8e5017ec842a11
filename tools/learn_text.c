/*
 * What the policy becomes by what is taken, and the proof that it does: the ledger's events judged anew.
 *
 * The file's own lines stay as they are; each learnt one is put behind the last of its section.
 */
#include <errno.h>
#include <string.h>

#include "init.h"
#include "learn.h"

/* --- the text --- */

struct text {
	char *buf;
	size_t len;
};

/* 0 or -ENOMEM. */
static int insert(struct text *t, size_t at, const char *what)
{
	size_t n = strlen(what);
	char *grown = realloc(t->buf, t->len + n + 1);

	if (!grown)
		return -ENOMEM;
	t->buf = grown;
	memmove(grown + at + n, grown + at, t->len - at + 1);
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the text goes on behind it */
	memcpy(grown + at, what, n);
	t->len += n;
	return 0;
}

/* Behind the last line of `[section]` that says something or is a comment; SIZE_MAX where there is none. */
static size_t section_end(const struct text *t, const char *section)
{
	size_t end = SIZE_MAX, n = strlen(section);
	bool inside = false;

	for (size_t at = 0; at < t->len;) {
		const char *line = t->buf + at;
		size_t len = strcspn(line, "\n"), next = at + len + (line[len] == '\n');

		if (line[0] == '[')
			inside = end == SIZE_MAX && len == n + 2 && strncmp(line + 1, section, n) == 0 &&
				 line[n + 1] == ']';
		if (inside && len > 0)
			end = next;
		at = next;
	}
	return end;
}

static int add_line(struct text *t, const char *section, const char *line, const char *comment)
{
	size_t at = section_end(t, section);
	char head[64], rule[2 * GRANT_LINE + 256];
	int r;

	if (t->len && t->buf[t->len - 1] != '\n') {
		r = insert(t, t->len, "\n");
		if (r < 0)
			return r;
		at = section_end(t, section);
	}
	if (at == SIZE_MAX) {
		snprintf(head, sizeof(head), "%s[%s]\n", t->len ? "\n" : "", section);
		r = insert(t, t->len, head);
		if (r < 0)
			return r;
		at = t->len;
	}
	snprintf(rule, sizeof(rule), "# %s\n%s\n", comment, line);
	return insert(t, at, rule);
}

int learn_build(const struct learn *l, size_t only, char **ret)
{
	struct text t = { .buf = l->file.old ? strdup(l->file.old) : init_text(INIT_USER, "agent") };
	int r = t.buf ? 0 : -ENOMEM;

	t.len = t.buf ? strlen(t.buf) : 0;
	for (size_t i = 0; r == 0 && i < l->lessons.n; i++) {
		const struct lesson *g = &l->lessons.list[i];
		char comment[200];

		if (!l->taken[i].is_taken || (only != LEARN_ALL && only != i))
			continue;
		snprintf(comment, sizeof(comment), "learnt from %s: %zu thing%s", l->from, g->n_events,
			 g->n_events == 1 ? "" : "s");
		r = add_line(&t, g->section, l->taken[i].line, comment);
	}
	if (r < 0)
		free(t.buf);
	else
		*ret = t.buf;
	return r;
}

/* --- the replay --- */

static bool allows(const struct learn *l, const struct loaded *after, const struct lesson_event *e,
		   struct decision *ret)
{
	return record_judge(&after->image, &e->r, l->workspace, ret) == 0 && ret->verdict == VERDICT_ALLOW;
}

bool learn_is_answered(const struct learn *l, const struct loaded *after, size_t i)
{
	const struct lesson *g = &l->lessons.list[i];

	for (size_t k = 0; k < g->n_events; k++) {
		const struct lesson_event *e = &l->lessons.events[g->events[k]];
		struct decision d;

		if (!allows(l, after, e, &d))
			return false;
	}
	return true;
}

void learn_take_back(struct taken *t, const char *why)
{
	t->is_taken = false;
	snprintf(t->why, sizeof(t->why), "%s", why);
}

/* Each own event has to be allowed.  True where one was taken back. */
static bool check_own(struct learn *l, const struct loaded *after)
{
	bool any = false;

	for (size_t i = 0; i < l->lessons.n; i++) {
		const struct lesson *g = &l->lessons.list[i];

		for (size_t k = 0; l->taken[i].is_taken && k < g->n_events; k++) {
			char rule[256], why[400];
			struct decision d = { VERDICT_DENY, REASON_MALFORMED, RULE_NONE, 0 };

			if (allows(l, after, &l->lessons.events[g->events[k]], &d))
				continue;
			decision_describe(&after->image, &d, rule, sizeof(rule));
			snprintf(why, sizeof(why), "it would not hold: %s still %s", rule,
				 d.verdict == VERDICT_ASK ? "asks" : "denies");
			learn_take_back(&l->taken[i], why);
			any = true;
		}
	}
	return any;
}

/* Whose line lets this happen, which is left out? */
static void find_culprit(struct learn *l, const struct lesson_event *e)
{
	for (size_t i = 0; i < l->lessons.n; i++) {
		struct loaded alone = { 0 };
		struct decision d;
		struct diags diags;
		char *text = NULL, why[512];

		if (!l->taken[i].is_taken || learn_build(l, i, &text) < 0)
			continue;
		diags_init(&diags);
		if (policy_load_with(&l->file, text, strlen(text), &alone, &diags) < 0 ||
		    allows(l, &alone, e, &d)) {
			snprintf(why, sizeof(why), "it would also allow %s %.200s, which is left out: %s",
				 e->r.op, e->r.target, e->why);
			learn_take_back(&l->taken[i], why);
		}
		diags_done(&diags);
		loaded_done(&alone);
		free(text);
	}
}

/* Nothing that is left out may happen now.  True where something was taken back. */
static bool check_others(struct learn *l, const struct loaded *after)
{
	for (size_t i = 0; i < l->lessons.n_events; i++) {
		const struct lesson_event *e = &l->lessons.events[i];
		struct decision d;
		size_t before = learn_taken(l);

		if (e->covered || !e->why || !allows(l, after, e, &d))
			continue;
		/* A directory on the way to what may be written. */
		if (d.reason == REASON_WAY)
			continue;
		find_culprit(l, e);
		if (learn_taken(l) < before)
			return true;
	}
	return false;
}

static void count(struct learn *l, const struct loaded *after)
{
	l->replayed = 0;
	for (size_t i = 0; i < l->lessons.n; i++) {
		const struct lesson *g = &l->lessons.list[i];
		struct decision d;

		for (size_t k = 0; k < g->n_events; k++) {
			l->replayed += allows(l, after, &l->lessons.events[g->events[k]], &d);
		}
		if (l->taken[i].answered && !learn_is_answered(l, after, i)) {
			learn_take_back(&l->taken[i], "the line that holds for it too was not taken");
			l->taken[i].answered = false;
		}
	}
}

int learn_load(const struct learn *l, struct loaded *ret)
{
	struct diags d;
	char *text;
	int r = learn_build(l, LEARN_ALL, &text);

	if (r < 0)
		return r;
	diags_init(&d);
	r = policy_load_with(&l->file, text, strlen(text), ret, &d);
	diags_done(&d);
	free(text);
	return r;
}

/* One round: -EAGAIN where something was taken back. */
static int replay(struct learn *l)
{
	struct loaded after = { 0 };
	struct diags d;
	char *text = NULL;
	int r = learn_build(l, LEARN_ALL, &text);

	if (r < 0)
		return r;
	diags_init(&d);
	r = policy_load_with(&l->file, text, strlen(text), &after, &d);
	if (learn_check_lint(l, text, &d))
		r = -EAGAIN;
	else if (r < 0)
		print_diags(stderr, &d);
	else if (check_own(l, &after) || check_others(l, &after))
		r = -EAGAIN;
	else
		count(l, &after);
	diags_done(&d);
	loaded_done(&after);
	free(l->text);
	l->text = text;
	return r;
}

int learn_replay(struct learn *l)
{
	int r;

	do
		r = replay(l);
	while (r == -EAGAIN);
	if (r < 0)
		talk("what was learnt cannot be judged: %s", strerror(-r));
	return r;
}

size_t learn_taken(const struct learn *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->lessons.n; i++)
		n += l->taken[i].is_taken;
	return n;
}

void learn_print_new(FILE *f, const struct learn *l)
{
	for (size_t i = 0; i < l->lessons.n; i++) {
		if (!l->taken[i].is_taken)
			continue;
		fprintf(f, "+ [%s] ", l->lessons.list[i].section);
		print_escaped(f, l->taken[i].line);
		fputc('\n', f);
	}
}
