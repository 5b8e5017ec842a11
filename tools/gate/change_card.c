/* The card of a question about a push: see change.h. */
#include <stdlib.h>
#include <string.h>

#include "policy/base/op.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#include "courier.h"
#include "plumbing.h"
#include "view.h"

#define NAMES_MAX 12  /* of a line, which ends with the number of the others */
#define LINE_ROOM 600 /* bytes of names in a line: a card must fit into a question */

/* A line of files for which `say` has a word; each with it in brackets. */
static void print_some(FILE *f, const struct view *v, const char *head,
		       const char *(*say)(const struct view_file *))
{
	size_t n = 0, told = 0, used = 0;

	for (size_t i = 0; i < v->n_files; i++) {
		const char *what = v->files[i].status == 'H' ? NULL : say(&v->files[i]);
		_cleanup_free_ char *path = what ? text_visible(v->files[i].path) : NULL;

		if (!what)
			continue;
		n++;
		used += strlen(path ?: "?") + strlen(what) + 5;
		if (told < NAMES_MAX && used <= LINE_ROOM)
			fprintf(f, "%s%s (%s)", told++ == 0 ? head : ", ", path ?: "?", what);
	}
	if (n > told)
		fprintf(f, "%s%zu more", told > 0 ? " and " : head, n - told);
	if (n > 0)
		fputc('\n', f);
}

static const char *say_runner(const struct view_file *f)
{
	return f->runner;
}

/* What is no ordinary file, or becomes a program. */
static const char *say_special(const struct view_file *f)
{
	const char *kind = view_kind(f);

	if (f->status != 'D' && f->added < 0 && !*kind)
		return "binary";
	return f->status == 'D' || strcmp(kind, "executable") == 0 || !*kind ? NULL : kind;
}

static const char *say_removed(const struct view_file *f)
{
	return f->status == 'D' ? "removed" : NULL;
}

static const char *say_hiding(const struct view_file *f)
{
	static _Thread_local char where[32];

	snprintf(where, sizeof(where), "line %u", f->hides);
	return f->hides ? where : NULL;
}

/* The commit that a yes names, and what the branch would lose: 0, or -errno where git does not say. */
static int print_commit(FILE *f, const struct change *c, const char *git)
{
	const struct depot d = { .git = git, .repository = c->repository };
	char range[2 * GIT_HEX + 4];
	const char *const words[] = { "rev-list", "--count", range, "--", NULL };
	_cleanup_free_ char *lost = NULL;
	size_t len;
	int e;

	fprintf(f, "commit %s, ", c->new_oid);
	if (oid_is_none(c->old_oid)) {
		fputs("a new branch\n", f);
		return 0;
	}
	snprintf(range, sizeof(range), "%s..%s", c->new_oid, c->old_oid);
	e = plumbing_read(&d, words, NULL, 64, &lost, &len);
	if (e < 0)
		return e;
	fprintf(f, "onto %s", c->old_oid);
	if (strtoul(lost, NULL, 10) > 0)
		fprintf(f, ", and takes commits away: %lu", strtoul(lost, NULL, 10));
	fputc('\n', f);
	return 0;
}

char *change_card(const struct change *c, const char *git)
{
	_cleanup_free_ char *ref = text_visible(c->ref), *shown = courier_shown(c->url),
			    *url = text_visible(shown ?: "?");
	char *text = NULL;
	size_t size;
	struct view v;
	int e = view_make(c, git, &v);
	FILE *f = e == 0 && ref && url ? open_memstream(&text, &size) : NULL;

	if (f) {
		fprintf(f, "change %u: %zu commit%s, %zu file%s, +%lu -%lu lines, to %s of %s\n", c->number,
			v.n_commits, v.n_commits == 1 ? "" : "s", v.n_files - v.n_earlier,
			v.n_files - v.n_earlier == 1 ? "" : "s", v.added, v.deleted, ref, url);
		e = print_commit(f, c, git);
		print_some(f, &v, "runs later: ", say_runner);
		print_some(f, &v, "special: ", say_special);
		print_some(f, &v, "removed: ", say_removed);
		print_some(f, &v, "attributes that hide or change files, not obeyed here: ", say_hiding);
		if (v.n_earlier > 0)
			fprintf(f, "earlier versions in the history: %zu\n", v.n_earlier);
		fprintf(f, "to see it: pale review %u\n", c->number);
		if (fclose(f) != 0 || e < 0 || size >= LIMIT_PATH) {
			free(text);
			text = NULL;
		}
	}
	view_done(&v);
	return text;
}
