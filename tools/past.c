/*
 * What a change of the policy would have meant here: the ledgers of this workspace, judged anew.
 */
#include <string.h>

#include "edit.h"

#define LEDGERS_MAX 20	   /* the newest */
#define RECORDS_MAX 200000 /* in all of them: a second's work */

static void read_ledger(const struct ledger_ref *ref, struct changes *c, size_t *left)
{
	struct line_reader r;
	char path[PATH_MAX];
	const char *line, *err;
	size_t len;

	if (path_join(path, sizeof(path), ref->dir, LEDGER_NAME) < 0 || line_reader_open(&r, path) < 0)
		return;
	while (*left > 0 && line_reader_next(&r, &line, &len) == 1) {
		struct record_owned rec;

		(*left)--;
		if (record_from_line(line, len, &rec, &err) < 0)
			continue;
		(void)changes_add(c, &rec.r);
		record_done(&rec);
	}
	line_reader_close(&r);
}

static void read_past(struct changes *c, const char *workspace)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	size_t n = 0, used = 0, left = RECORDS_MAX;

	if (ledgers_list(NULL, &refs, &n) < 0)
		return;
	while (n-- > 0 && used < LEDGERS_MAX) {
		_cleanup_free_ char *of = session_fact(refs[n].dir, "workspace");

		if (!of || strcmp(of, workspace) != 0)
			continue;
		read_ledger(&refs[n], c, &left);
		used++;
	}
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
		printf("of what was decided here before, nothing would be decided otherwise\n");
	if (c->unknown)
		printf("%llu of %llu recorded deeds cannot be judged anew\n", (unsigned long long)c->unknown,
		       (unsigned long long)c->judged);
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
