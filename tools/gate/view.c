/* What a change changes: see view.h. */
#include "view.h"

#include <errno.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/run/end/changed.h"

#define LIST_MAX (256u << 20)

/* The next piece of a list whose pieces end with NULs, or NULL. */
static char *next_piece(char **at, const char *end)
{
	char *piece = *at;

	if (piece >= end)
		return NULL;
	*at += strlen(piece) + 1;
	return piece;
}

/* Fills f from `:100644 100755 OID OID M`; of a merge, which has more parents, the last mode and name count.
 */
static bool read_raw(char *raw, struct view_file *f)
{
	char *words[2 * 66 + 1], *save = NULL;
	size_t parents = strspn(raw, ":"), n = 0;

	for (char *w = strtok_r(raw + parents, " ", &save); w && n < NELEM(words);
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	if (parents == 0 || n != 2 * (parents + 1) + 1)
		return false;
	f->old_mode = (unsigned)strtoul(words[0], NULL, 8);
	f->new_mode = (unsigned)strtoul(words[parents], NULL, 8);
	snprintf(f->old_oid, GIT_HEX, "%s", words[parents + 1]);
	snprintf(f->new_oid, GIT_HEX, "%s", words[2 * parents + 1]);
	f->status = *words[n - 1];
	return true;
}

static int add_file(struct view *v, const struct view_file *file, const char *path, const char *from)
{
	struct view_file *f = LIST_NEW(v->files, v->n_files);

	if (!f)
		return -ENOMEM;
	*f = *file;
	v->n_files++;
	f->path = strdup(path);
	f->from = from ? strdup(from) : NULL;
	if (!f->path || (from && !f->from))
		return -ENOMEM;
	f->runner = changed_runner(path);
	if (!f->runner && from)
		f->runner = changed_runner(from);
	return 0;
}

/* One entry of --raw at *at; 1 where none is left. */
static int read_entry(char **at, const char *end, struct view_file *ret, char **path, char **from)
{
	char *raw = next_piece(at, end);

	*ret = (struct view_file){ .path = NULL };
	*from = NULL;
	if (!raw || *raw != ':')
		return 1;
	if (!read_raw(raw, ret))
		return -EBADMSG;
	if (ret->status == 'R' || ret->status == 'C')
		*from = next_piece(at, end);
	*path = next_piece(at, end);
	return *path ? 0 : -EBADMSG;
}

/* --numstat: `12\t3\tPATH`, or `12\t3\t`, then the two paths of a rename; in the order of --raw. */
static int read_counts(struct view *v, char *at, const char *end)
{
	for (size_t i = 0; i < v->n_files; i++) {
		char *line = next_piece(&at, end), *tab = line ? strchr(line, '\t') : NULL;
		struct view_file *f = &v->files[i];

		if (!tab || !strchr(tab + 1, '\t'))
			return -EBADMSG;
		f->added = *line == '-' ? -1 : strtol(line, NULL, 10);
		f->deleted = *line == '-' ? -1 : strtol(tab + 1, NULL, 10);
		v->added += f->added > 0 ? (unsigned long)f->added : 0;
		v->deleted += f->deleted > 0 ? (unsigned long)f->deleted : 0;
		if (strchr(tab + 1, '\t')[1] == '\0' && (!next_piece(&at, end) || !next_piece(&at, end)))
			return -EBADMSG;
	}
	return 0;
}

static int read_files(struct view *v, const char *new)
{
	const char *const words[] = {
		"diff-tree", "-z", "--raw", "--numstat", VIEW_DIFF, v->base, new, NULL
	};
	_cleanup_free_ char *list = NULL;
	char *at, *last, *path, *from;
	struct view_file f;
	size_t len = 0;
	int e = plumbing_read(&v->depot, words, NULL, LIST_MAX, &list, &len);

	if (e < 0)
		return e;
	for (at = last = list; (e = read_entry(&at, list + len, &f, &path, &from)) == 0; last = at) {
		e = add_file(v, &f, path, from);
		if (e < 0)
			break;
	}
	return e < 0 ? e : read_counts(v, last, list + len);
}

static bool is_final(const struct view *v, size_t n, const char *path, const char *oid)
{
	for (size_t i = 0; i < n; i++) {
		const struct view_file *f = &v->files[i];

		if (strcmp(f->path, path) == 0 && strcmp(f->new_oid, oid) == 0)
			return true;
	}
	return false;
}

/* What a commit wrote that the last one does not have: no comparison of the ends shows it. */
static int read_earlier(struct view *v, const char *new)
{
	_cleanup_free_ char *list = NULL;
	const char *const words[] = { "log",	     VIEW_LOG,
				      "-z",	     "--format=",
				      "--raw",	     "--no-renames",
				      "--no-abbrev", new,
				      "--not",	     v->is_whole ? NULL : v->base,
				      NULL };
	char *at, *path, *from;
	size_t len = 0, n = v->n_files;
	struct view_file f;
	int e;

	/* A single commit has no earlier one. */
	if (v->n_commits < 2)
		return 0;
	e = plumbing_read(&v->depot, words, NULL, LIST_MAX, &list, &len);
	if (e < 0)
		return e;
	for (at = list; (e = read_entry(&at, list + len, &f, &path, &from)) == 0;) {
		if (oid_is_none(f.new_oid) || is_final(v, v->n_files, path, f.new_oid))
			continue;
		f.status = 'H';
		f.added = f.deleted = 0;
		e = add_file(v, &f, path, NULL);
		if (e < 0)
			break;
	}
	v->n_earlier = v->n_files - n;
	return e < 0 ? e : at < list + len ? -EBADMSG : 0;
}

/* The first line of .gitattributes text that makes git hide or change files, or 0. */
static unsigned hiding_line(const char *text)
{
	static const char *const words[] = {
		"-diff",   "binary", "filter",	"ident",  "working-tree-encoding",
		"diff=",   "-text",  "eol=",	"-merge", "linguist-",
		"export-", "merge=", "encoding"
	};

	for (unsigned line = 1; *text; line++) {
		size_t n = strcspn(text, "\n");
		_cleanup_free_ char *copy = strndup(text, n);

		for (size_t i = 0; copy && *copy != '#' && i < NELEM(words); i++)
			if (strstr(copy, words[i]))
				return line;
		text += n + (text[n] != '\0');
	}
	return 0;
}

static int read_hiding(struct view *v)
{
	int e = 0;

	for (size_t i = 0; i < v->n_files && e == 0; i++) {
		struct view_file *f = &v->files[i];
		const char *const words[] = { "cat-file", "blob", f->new_oid, NULL };
		_cleanup_free_ char *text = NULL;
		size_t len;

		if (strcmp(path_basename(f->path), ".gitattributes") != 0 || oid_is_none(f->new_oid) ||
		    f->new_mode == 0160000)
			continue;
		e = plumbing_read(&v->depot, words, NULL, LIST_MAX, &text, &len);
		f->hides = text ? hiding_line(text) : 0;
	}
	return e;
}

static int read_commits(struct view *v, const char *new)
{
	const char *const words[] = { "rev-list", "--reverse", "--topo-order",
				      new,	  "--not",     v->is_whole ? NULL : v->base,
				      NULL };
	_cleanup_free_ char *list = NULL;
	size_t len = 0;
	int e = plumbing_read(&v->depot, words, NULL, LIST_MAX, &list, &len);

	for (char *line = list, *save = NULL; e == 0 && (line = strtok_r(line, "\n", &save)); line = NULL) {
		char **at = LIST_NEW(v->commits, v->n_commits);

		e = at && (*at = strdup(line)) ? 0 : -ENOMEM;
		v->n_commits += e == 0;
	}
	return e;
}

static int order(const void *a, const void *b)
{
	const struct view_file *x = a, *y = b;
	int kind = (x->status == 'H') - (y->status == 'H') ?: (y->runner != NULL) - (x->runner != NULL);

	return kind ?: strcmp(x->path, y->path) ?: strcmp(x->new_oid, y->new_oid);
}

int view_make(const struct change *c, const char *git, struct view *ret)
{
	int e;

	*ret = (struct view){ .depot = { git, c->repository } };
	ret->is_whole = !*c->base;
	snprintf(ret->base, GIT_HEX, "%s", *c->base ? c->base : empty_tree(c->new_oid));
	e = plumbing_attributes(c->repository);
	e = e ?: read_commits(ret, c->new_oid);
	e = e ?: read_files(ret, c->new_oid);
	e = e ?: read_earlier(ret, c->new_oid);
	e = e ?: read_hiding(ret);
	if (e == 0 && ret->n_files > 0)
		qsort(ret->files, ret->n_files, sizeof(*ret->files), order);
	for (size_t i = 0; i < ret->n_files; i++)
		ret->n_later += ret->files[i].runner && ret->files[i].status != 'H';
	return e;
}

void view_done(struct view *v)
{
	for (size_t i = 0; i < v->n_files; i++) {
		free(v->files[i].path);
		free(v->files[i].from);
	}
	for (size_t i = 0; i < v->n_commits; i++)
		free(v->commits[i]);
	free(v->files);
	free(v->commits);
	*v = (struct view){ .files = NULL };
}

const char *view_kind(const struct view_file *f)
{
	unsigned mode = f->new_mode ?: f->old_mode;

	if (mode == 0120000)
		return "link";
	if (mode == 0160000)
		return "submodule";
	if (mode == 0100755)
		return f->old_mode == mode ? "executable" : "newly executable";
	return f->old_mode == 0100755 ? "no longer executable" : "";
}
