/*
 * What a change of the policy would mean here: the ledgers of this workspace, judged again.
 */
#include "policy_past.h"

#include <string.h>

#include "policy/lesson/rejudge.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/gather/load.h"
#include "tools/ledgers/ledgers.h"

#define LEDGERS_MAX 20	   /* the newest */
#define RECORDS_MAX 200000 /* in all of them: about a second */

struct past {
	struct changes *c;
	size_t left; /* how many more records may be read */
};

static int judge_record(void *ctx, struct record_owned *rec)
{
	struct past *p = ctx;

	if (p->left == 0)
		return 1;
	p->left--;
	progress_step();
	(void)changes_add(p->c, &rec->r);
	return 0;
}

static void read_past(struct changes *c, const char *workspace)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	struct past p = { .c = c, .left = RECORDS_MAX };
	size_t n = 0, used = 0;

	if (ledgers_list(NULL, &refs, &n) < 0)
		return;
	while (n-- > 0 && used < LEDGERS_MAX) {
		_cleanup_free_ char *of = session_fact(refs[n].dir, "workspace");

		if (!of || strcmp(of, workspace) != 0)
			continue;
		(void)ledger_each(refs[n].dir, NULL, judge_record, &p);
		used++;
	}
	progress_end();
}

static void print_change(const struct changes *c, enum change what)
{
	printf("%llu %s:\n", (unsigned long long)c->n[what], change_text(what));
	for (size_t i = 0; i < CHANGE_NAMES && i < c->n[what]; i++) {
		fputs("  ", stdout);
		print_recorded(stdout, c->name[what][i] ? c->name[what][i] : "?");
		putchar('\n');
	}
}

static void print_changes(const struct changes *c)
{
	for (int i = 0; i < CHANGES; i++)
		if (c->n[i])
			print_change(c, (enum change)i);
	if (changes_none(c) && c->judged)
		printf("no earlier decision in this workspace would change\n");
	if (c->unknown)
		printf("%llu of %llu recorded requests cannot be judged again\n",
		       (unsigned long long)c->unknown, (unsigned long long)c->judged);
}

void past_report(const struct loaded *before, const struct loaded *after)
{
	_cleanup_free_ struct changes *c = malloc(sizeof(*c));

	if (!c)
		return;
	changes_init(c, &before->image, &after->image, after->bundle.workspace);
	read_past(c, after->bundle.workspace);
	print_changes(c);
	changes_done(c);
}
