/*
 * The policy's text with the learnt lines, and its check: the ledger's events are judged again by it.
 *
 * The file's own lines are not changed; the learnt lines are appended, by section.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/commands/machine/pale_init.h"
#include "tools/gather/load.h"

#include "learn.h"

/* --- the text --- */

static void print_raw(FILE *f, const char *line)
{
	fputs(line, f);
}

static void print_sections(FILE *f, const struct learn *l, const struct lesson *only,
			   void (*print)(FILE *f, const char *line))
{
	static const char *const sections[] = { "files", "commands", "network" };

	for (size_t s = 0; s < NELEM(sections); s++) {
		bool begun = false;

		for (size_t i = 0; i < l->lessons.n; i++) {
			const struct lesson *g = &l->lessons.list[i];

			if (g->why[0] || (only && only != g) || strcmp(g->section, sections[s]) != 0)
				continue;
			if (!begun)
				fprintf(f, "\n[%s]\n", sections[s]);
			begun = true;
			fprintf(f, "# learnt from %s: %zu thing%s, %llu time%s\n", l->from, g->n_events,
				g->n_events == 1 ? "" : "s", (unsigned long long)g->count,
				g->count == 1 ? "" : "s");
			print(f, g->line);
			fputc('\n', f);
		}
	}
}

void learn_print_lines(FILE *f, const struct learn *l)
{
	print_sections(f, l, NULL, print_escaped);
}

/* The file with all lessons taken, or with that one lesson only (the caller must free it); NULL on
 * ENOMEM. */
static char *build(const struct learn *l, const struct lesson *only)
{
	_cleanup_free_ char *first = l->file.old ? NULL : init_text(INIT_USER, "agent");
	const char *old = l->file.old ? l->file.old : first;
	char *text = NULL;
	size_t len;
	FILE *f = old ? open_memstream(&text, &len) : NULL;
	bool failed;

	if (!f)
		return NULL;
	len = strlen(old);
	fputs(old, f);
	if (len && old[len - 1] != '\n')
		fputc('\n', f);
	print_sections(f, l, only, print_raw);
	failed = ferror(f);
	if (fclose(f) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}

/* --- the replay --- */

static bool allows(const struct learn *l, const struct loaded *after, const struct lesson_event *e,
		   struct decision *ret)
{
	return record_judge(&after->image, &e->r, l->workspace, ret) == 0 && ret->verdict == VERDICT_ALLOW;
}

static bool is_known(const struct diags *known, const struct diag *g)
{
	for (size_t i = 0; i < known->n; i++)
		if (strcmp(known->list[i].code, g->code) == 0 && strcmp(known->list[i].text, g->text) == 0)
			return true;
	return false;
}

/* The lesson of that line of the text; NULL: the line is the policy's own. */
static struct lesson *lesson_at(const struct learn *l, const char *text, unsigned line)
{
	for (unsigned at = 1; *text && at < line; at++) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	for (size_t i = 0; i < l->lessons.n; i++) {
		struct lesson *g = &l->lessons.list[i];
		size_t n = strlen(g->line);

		if (!g->why[0] && strncmp(text, g->line, n) == 0 && (text[n] == '\n' || !text[n]))
			return g;
	}
	return NULL;
}

/* One finding is ignored: a path may not exist yet because the session was denied to make it.  True if a
 * lesson was taken back. */
static bool check_lint(const struct learn *l, const char *text, const struct diags *d)
{
	bool any = false;

	for (size_t i = 0; i < d->n; i++) {
		const struct diag *g = &d->list[i];
		struct lesson *of = NULL;

		if (strcmp(g->code, "missing-path") != 0 && !is_known(&l->known, g))
			of = lesson_at(l, text, g->line);
		if (of)
			snprintf(of->why, sizeof(of->why), "pale lint: %s", g->text);
		any |= of != NULL;
	}
	return any;
}

/* Each lesson must allow its own events.  True if a lesson was taken back. */
static bool check_own(struct learn *l, const struct loaded *after)
{
	bool any = false;

	for (size_t i = 0; i < l->lessons.n; i++) {
		struct lesson *g = &l->lessons.list[i];

		for (size_t k = 0; !g->why[0] && k < g->n_events; k++) {
			struct decision d = { VERDICT_DENY, REASON_MALFORMED, RULE_NONE, 0 };
			char rule[256];

			if (allows(l, after, &l->lessons.events[g->events[k]], &d))
				continue;
			decision_describe(&after->image, &d, rule, sizeof(rule));
			snprintf(g->why, sizeof(g->why), "it would not hold: %s still %s", rule,
				 d.verdict == VERDICT_ASK ? "asks" : "denies");
			any = true;
		}
	}
	return any;
}

/* Takes back a lesson whose line allows this event, which is left out. */
static bool take_back_culprit(struct learn *l, const struct lesson_event *e)
{
	bool any = false;

	for (size_t i = 0; i < l->lessons.n; i++) {
		struct lesson *g = &l->lessons.list[i];
		_cleanup_free_ char *text = g->why[0] ? NULL : build(l, g);
		struct loaded alone = { 0 };
		struct decision d;
		struct diags diags;

		if (!text)
			continue;
		diags_init(&diags);
		if (policy_load_with(&l->file, text, strlen(text), &alone, &diags) < 0 ||
		    allows(l, &alone, e, &d)) {
			snprintf(g->why, sizeof(g->why),
				 "it would also allow %s %.200s, which is left out: %s", e->r.op, e->r.target,
				 e->why);
			any = true;
		}
		diags_done(&diags);
		loaded_done(&alone);
	}
	return any;
}

/* No event that is left out may be allowed now.  True if a lesson was taken back. */
static bool check_others(struct learn *l, const struct loaded *after)
{
	for (size_t i = 0; i < l->lessons.n_events; i++) {
		const struct lesson_event *e = &l->lessons.events[i];
		struct decision d;

		/* REASON_WAY: a parent directory of a path that may be written. */
		if (!e->covered && e->why && allows(l, after, e, &d) && d.reason != REASON_WAY &&
		    take_back_culprit(l, e))
			return true;
	}
	return false;
}

static uint64_t count_replayed(const struct learn *l, const struct loaded *after)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->lessons.n_events; i++) {
		const struct lesson_event *e = &l->lessons.events[i];
		struct decision d;

		n += !e->covered && !e->why && allows(l, after, e, &d);
	}
	return n;
}

/* One round: -EAGAIN if a lesson was taken back. */
static int replay(struct learn *l)
{
	struct loaded after = { 0 };
	struct diags d;
	int r;

	free(l->text);
	l->text = build(l, NULL);
	if (!l->text)
		return -ENOMEM;
	diags_init(&d);
	r = policy_load_with(&l->file, l->text, strlen(l->text), &after, &d);
	if (check_lint(l, l->text, &d))
		r = -EAGAIN;
	else if (r < 0)
		print_diags(stderr, &d);
	else if (check_own(l, &after) || check_others(l, &after))
		r = -EAGAIN;
	else
		l->replayed = count_replayed(l, &after);
	diags_done(&d);
	loaded_done(&after);
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
		n += !l->lessons.list[i].why[0];
	return n;
}
