/*
 * Every row of tests/cases/cases.tsv passes, or stands in conflicts.tsv with its reason.
 *
 * A row that fails unlisted fails the suite; so does a listed conflict that has come to pass, and a
 * listed row or pattern that names nothing.  Run from the top of the tree.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "policy/base/path.h"

Suite *suite_cases(void);

#define CASES	      "tests/cases/cases.tsv"
#define CONFLICTS     "tests/cases/conflicts.tsv"
#define MAX_CONFLICTS 512

/* `row N verdict reason`: pale says otherwise.  `skip source category reason`: the rows do not fit. */
struct conflict {
	char *line;
	unsigned row;
	const char *verdict, *source, *category, *reason;
	unsigned used;
};

static struct conflict conflicts[MAX_CONFLICTS];
static size_t n_conflicts;
static unsigned n_passed, n_settled, n_skipped, n_failed;

/* Cuts *p at the next tab. */
static const char *cut(char **p)
{
	char *field = *p, *tab = strchr(field, '\t');

	if (tab)
		*tab = '\0';
	*p = tab ? tab + 1 : field + strlen(field);
	return field;
}

static void conflict_read(char *line, unsigned number)
{
	struct conflict *c = &conflicts[n_conflicts];
	char *p = c->line = strdup(line);
	const char *kind = cut(&p);

	ck_assert_uint_lt(n_conflicts, MAX_CONFLICTS);
	if (strcmp(kind, "row") == 0) {
		c->row = (unsigned)atoi(cut(&p));
		c->verdict = cut(&p);
	} else {
		ck_assert_msg(strcmp(kind, "skip") == 0, "%s:%u: row or skip", CONFLICTS, number);
		c->source = cut(&p);
		c->category = cut(&p);
	}
	c->reason = cut(&p);
	ck_assert_msg(*c->reason, "%s:%u: no reason", CONFLICTS, number);
	n_conflicts++;
}

static void each_line(const char *path, void (*fn)(char *line, unsigned number))
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	unsigned number = 0;

	ck_assert_msg(f != NULL, "%s: run from the top of the tree", path);
	while (getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		number++;
		if (line[0] && line[0] != '#')
			fn(line, number);
	}
	free(line);
	(void)fclose(f);
}

/* \\ \n \t in place */
static const char *unescape(const char *field)
{
	char *out = (char *)(uintptr_t)field;

	for (const char *p = field; *p; p++) {
		if (*p == '\\' && p[1]) {
			p++;
			*out++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
		} else {
			*out++ = *p;
		}
	}
	*out = '\0';
	return field;
}

static bool glob(const char *pattern, const char *text)
{
	return glob_match(pattern, strlen(pattern), text, strlen(text));
}

static struct conflict *find_conflict(const struct kase *c)
{
	for (size_t i = 0; i < n_conflicts; i++)
		if (conflicts[i].row == c->row)
			return &conflicts[i];
	return NULL;
}

static struct conflict *find_skip(const struct kase *c)
{
	for (size_t i = 0; i < n_conflicts; i++)
		if (conflicts[i].row == 0 && glob(conflicts[i].source, c->source) &&
		    glob(conflicts[i].category, c->category))
			return &conflicts[i];
	return NULL;
}

/* The other tools' words for a verdict; NULL for what is none. */
static const char *expected_verdict(const char *word)
{
	static const struct {
		const char *word, *verdict;
	} words[] = {
		{ "deny", "deny" },	    { "allow", "allow" },    { "ask", "ask" },
		{ "match", "deny" },	    { "no-match", "allow" }, { "dangerous", "ask" },
		{ "not-flagged", "allow" }, { "valid", "valid" },    { "invalid", "invalid" },
		{ "not split", "invalid" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(word, words[i].word, strlen(words[i].word)) == 0)
			return words[i].verdict;
	return NULL;
}

static const char *case_run(const struct kase *c, const struct plan *plan)
{
	uint8_t *bytes = NULL;
	struct image img;
	const char *got;

	if (case_compile(c, plan, &img, &bytes) < 0)
		got = "invalid";
	else
		got = plan->run(&img, c);
	free(bytes);
	return got;
}

static void complain(const struct kase *c, const char *got, const char *why)
{
	n_failed++;
	printf("cases.tsv:%u: %s: got %s, expected %s (%s, %s, %s, %s)\n", c->row, why, got, c->expected,
	       c->source, c->category, c->setup, c->action);
}

static void case_check(const struct kase *c)
{
	const struct plan *plan = case_plan(c);
	struct conflict *conflict = find_conflict(c), *skip = conflict ? NULL : find_skip(c);
	const char *want = expected_verdict(c->expected), *got;

	if (skip || (conflict && strcmp(conflict->verdict, "-") == 0)) {
		(skip ? skip : conflict)->used++;
		n_skipped++;
		return;
	}
	if (!plan || !want) {
		complain(c, "nothing", plan ? "no verdict" : "no plan and no reason");
		return;
	}
	got = case_run(c, plan);
	if (conflict)
		conflict->used++;
	if (strcmp(got, want) == 0) {
		if (conflict)
			complain(c, got, "listed as a conflict, but passes");
		else
			n_passed++;
	} else if (!conflict) {
		complain(c, got, "unlisted");
	} else if (strcmp(got, conflict->verdict) != 0) {
		complain(c, got, "settled otherwise");
	} else {
		n_settled++;
	}
}

static void row_read(char *line, unsigned number)
{
	struct kase c = { .row = number };
	char *p = line;

	if (number == 1)
		return;
	c.source = unescape(cut(&p));
	c.category = unescape(cut(&p));
	c.setup = unescape(cut(&p));
	c.action = unescape(cut(&p));
	c.expected = unescape(cut(&p));
	case_check(&c);
}

START_TEST(test_cases)
{
	each_line(CONFLICTS, conflict_read);
	each_line(CASES, row_read);
	for (size_t i = 0; i < n_conflicts; i++) {
		if (conflicts[i].used == 0) {
			n_failed++;
			printf("conflicts.tsv: names no row: %s\n", conflicts[i].line);
		}
		free(conflicts[i].line);
	}
	printf("cases: %u pass, %u settled otherwise, %u do not fit, %u fail\n", n_passed, n_settled,
	       n_skipped, n_failed);
	ck_assert_uint_eq(n_failed, 0);
}
END_TEST

Suite *suite_cases(void)
{
	Suite *s = suite_create("cases");
	TCase *t = tcase_create("rows");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_cases);
	suite_add_tcase(s, t);
	return s;
}
