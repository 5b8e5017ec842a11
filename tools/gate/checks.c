/*
 * The checks of a push: see checks.h.  They walk the trees of each new commit, as far as these differ from
 * those of all its parents, and count while they walk: a tree that unfolds into very many paths ends at the
 * limit.
 */
#include <errno.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#include "checks_impl.h"

#define ENTRIES_MAX  100000 /* entries of trees, directories counted in */
#define FINDINGS_MAX 50
#define PARENTS_MAX  64
#define DEPTH_MAX    128
#define LIST_MAX     (64u << 20)
#define STOPPED	     1 /* a limit was reached */

#define MODE_TREE 040000u
#define MODE_LINK 0120000u
#define MODE_SUB  0160000u

void check_finding(struct checks *ck, const char *path, unsigned line, const char *fmt, ...)
{
	_cleanup_free_ char *where = text_visible(path), *text = NULL, *shown = NULL;
	va_list ap;

	if (++ck->n_findings == FINDINGS_MAX)
		fputs("more was found\n", ck->out);
	if (ck->n_findings >= FINDINGS_MAX)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	shown = text ? recorded_visible(text) : NULL;
	fputs(where ?: "?", ck->out);
	if (line)
		fprintf(ck->out, ":%u", line);
	fprintf(ck->out, ": %s\n", shown ?: "refused");
}

unsigned check_line(const char *text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

/* --- sets of names --- */

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* 1 where s is new in the set, 0 where it was there, -ENOMEM. */
static int set_add(void **set, const char *s)
{
	char *copy = strdup(s), **at = copy ? tsearch(copy, set, compare) : NULL;
	bool is_new = at && *at == copy;

	if (!is_new)
		free(copy);
	return at ? is_new : -ENOMEM;
}

/* --- trees --- */

struct item {
	unsigned mode;
	const char *name;
	char oid[GIT_HEX];
};

/* The entry of a tree at *at, which moves on; false at the end. */
static bool item_next(const struct object *tree, size_t raw, size_t *at, struct item *ret)
{
	const char *p = tree->data + *at, *nul;
	size_t left = tree->len - *at;
	char *name;

	nul = left ? memchr(p, '\0', left) : NULL;
	if (!nul || (size_t)(tree->data + tree->len - nul - 1) < raw)
		return false;
	ret->mode = (unsigned)strtoul(p, &name, 8);
	ret->name = name + (*name == ' ');
	for (size_t i = 0; i < raw; i++)
		snprintf(ret->oid + 2 * i, 3, "%02x", (unsigned char)nul[1 + i]);
	*at = (size_t)(nul + 1 - tree->data) + raw;
	return true;
}

static bool item_find(const struct object *tree, size_t raw, const char *name, struct item *ret)
{
	size_t at = 0;

	while (item_next(tree, raw, &at, ret))
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}

/* Another entry that some file systems take for the same. */
static void check_twin(struct checks *ck, const char *path, const struct object *tree, size_t raw,
		       const char *name)
{
	struct item e;
	size_t at = 0;

	while (item_next(tree, raw, &at, &e))
		if (strcasecmp(e.name, name) == 0 && strcmp(e.name, name) != 0) {
			_cleanup_free_ char *twin = text_visible(e.name);

			check_finding(ck, path, 0, "differs only in case from `%s` beside it", twin ?: "?");
		}
}

static int limit_of_files(struct checks *ck, const char *path)
{
	unsigned max = ck->rules->max_files ?: ENTRIES_MAX;

	if (++ck->n_paths <= max)
		return 0;
	check_finding(ck, path, 0, "the push changes more than %u files ([changes] max_files)", max);
	return STOPPED;
}

static int too_large(struct checks *ck, const char *path)
{
	if (ck->rules->max_size && ck->rules->max_size < OBJECT_MAX)
		check_finding(ck, path, 0, "the push adds more than %llu bytes ([changes] max_size)",
			      (unsigned long long)ck->rules->max_size);
	else
		check_finding(ck, path, 0, "too large to be checked");
	return STOPPED;
}

/* Reads an object that is new, within what is left of max_size. */
static int read_new(struct checks *ck, const char *path, const char *oid, struct object *ret)
{
	uint64_t max = ck->rules->max_size ?: UINT64_MAX;
	int e = batch_get(&ck->batch, oid,
			  max - ck->bytes < OBJECT_MAX ? (size_t)(max - ck->bytes) : OBJECT_MAX, ret);

	if (e == 0)
		ck->bytes += ret->len;
	return e == -EFBIG ? too_large(ck, path) : e;
}

/* A file's content, once for each content. */
static int check_content(struct checks *ck, const char *path, const struct item *e, const char *before)
{
	struct object blob, old = { .data = NULL };
	int r = tfind(e->oid, &ck->fresh, compare) ? set_add(&ck->blobs, e->oid) : 0;

	if (r <= 0)
		return r;
	r = read_new(ck, path, e->oid, &blob);
	if (r != 0)
		return r;
	/* Where it cannot be read (it is too large), everything is new. */
	if (*before)
		r = batch_get(&ck->batch, before, OBJECT_MAX, &old);
	if (r == 0)
		check_secrets(ck, path, blob.data, blob.len, old.data ? &old : NULL);
	object_done(&old);
	object_done(&blob);
	return r;
}

static int check_special(struct checks *ck, const char *path, const struct item *e)
{
	struct object blob;
	int r;

	if (e->mode != MODE_LINK && strcmp(path, ".gitmodules") != 0)
		return 0;
	r = batch_get(&ck->batch, e->oid, 1u << 20, &blob);
	if (r < 0)
		return r == -EFBIG ? too_large(ck, path) : r;
	if (e->mode == MODE_LINK)
		check_link(ck, path, blob.data, blob.len);
	else
		r = check_modules(ck, path, e->oid, &blob);
	object_done(&blob);
	return r;
}

/* An entry that no parent has like this. */
static int check_entry(struct checks *ck, const char *path, const struct item *e, const char *before)
{
	int r = set_add(&ck->paths, path);

	if (r > 0) {
		check_name(ck, path);
		check_secrets(ck, path, path, strlen(path), NULL);
		r = e->mode == MODE_TREE ? 0 : limit_of_files(ck, path);
	}
	if (r == 0 && e->mode != MODE_TREE && e->mode != MODE_SUB)
		r = check_special(ck, path, e);
	if (r == 0 && e->mode != MODE_TREE && e->mode != MODE_SUB)
		r = check_content(ck, path, e, before);
	return r;
}

/* The trees of a directory: in the commit, and in its parents ("" where a parent lacks it). */
struct trees {
	char oid[GIT_HEX];
	size_t n;
	char parent[PARENTS_MAX][GIT_HEX];
};

static int walk(struct checks *ck, const char *dir, const struct trees *t, unsigned depth);

static int walk_entry(struct checks *ck, const char *dir, const struct item *e, const struct object *all,
		      const struct trees *t, unsigned depth)
{
	_cleanup_free_ struct trees *below = calloc(1, sizeof(*below));
	_cleanup_free_ char *path = NULL;
	size_t raw = strlen(t->oid) / 2;
	char before[GIT_HEX] = "";
	bool known = false;
	int r;

	if (!below || asprintf(&path, "%s%s%s", dir, *dir ? "/" : "", e->name) < 0)
		return -ENOMEM;
	memcpy(below->oid, e->oid, GIT_HEX);
	below->n = t->n;
	for (size_t i = 0; i < t->n; i++) {
		struct item old;

		if (!all[1 + i].data || !item_find(&all[1 + i], raw, e->name, &old))
			continue;
		if (old.mode == e->mode && strcmp(old.oid, e->oid) == 0)
			return 0;
		known = true;
		if (old.mode == MODE_TREE)
			memcpy(below->parent[i], old.oid, GIT_HEX);
		else if (old.mode != MODE_SUB)
			memcpy(before, old.oid, GIT_HEX);
	}
	if (++ck->n_entries > ENTRIES_MAX || depth > DEPTH_MAX) {
		check_finding(ck, path, 0, "more directories and files than can be checked");
		return STOPPED;
	}
	if (!known)
		check_twin(ck, path, &all[0], raw, e->name);
	r = check_entry(ck, path, e, before);
	return r == 0 && e->mode == MODE_TREE ? walk(ck, path, below, depth + 1) : r;
}

static int walk(struct checks *ck, const char *dir, const struct trees *t, unsigned depth)
{
	_cleanup_free_ struct object *all = calloc(1 + t->n, sizeof(*all));
	struct item e;
	size_t at = 0;
	int r = all ? batch_get(&ck->batch, t->oid, OBJECT_MAX, &all[0]) : -ENOMEM;

	/* Below the top git writes none; such trees could unfold for very long without any file to count. */
	if (r == 0 && depth > 0 && all[0].len == 0) {
		check_finding(ck, dir, 0, "a directory without files");
		r = STOPPED;
	}
	for (size_t i = 0; i < t->n && r == 0; i++)
		if (*t->parent[i])
			r = batch_get(&ck->batch, t->parent[i], OBJECT_MAX, &all[1 + i]);
	while (r == 0 && item_next(&all[0], strlen(t->oid) / 2, &at, &e))
		r = walk_entry(ck, dir, &e, all, t, depth);
	for (size_t i = 0; all && i <= t->n; i++)
		object_done(&all[i]);
	return r;
}

/* --- commits --- */

/* Copies the object's name after `word ` at *at, which moves on. */
static bool header(const char **at, const char *word, char ret[GIT_HEX])
{
	size_t n = strlen(word), len;

	if (strncmp(*at, word, n) != 0)
		return false;
	len = strspn(*at + n, "0123456789abcdef");
	if ((len != 40 && len != 64) || (*at)[n + len] != '\n')
		return false;
	memcpy(ret, *at + n, len);
	ret[len] = '\0';
	*at += n + len + 1;
	return true;
}

static int tree_of(struct checks *ck, const char *commit, char ret[GIT_HEX])
{
	struct object o;
	const char *at;
	int r = batch_get(&ck->batch, commit, OBJECT_MAX, &o);

	if (r < 0)
		return r;
	at = o.data;
	r = strcmp(o.type, "commit") == 0 && header(&at, "tree ", ret) ? 0 : -EBADMSG;
	object_done(&o);
	return r;
}

static int check_commit(struct checks *ck, const char *oid)
{
	_cleanup_free_ struct trees *t = calloc(1, sizeof(*t));
	char name[GIT_HEX + 8], parent[GIT_HEX];
	struct object o;
	const char *at;
	int r;

	snprintf(name, sizeof(name), "commit %.12s", oid);
	if (!t)
		return -ENOMEM;
	r = read_new(ck, name, oid, &o);
	if (r != 0)
		return r;
	at = o.data;
	r = header(&at, "tree ", t->oid) ? 0 : -EBADMSG;
	while (r == 0 && header(&at, "parent ", parent))
		r = t->n == PARENTS_MAX ? -E2BIG : tree_of(ck, parent, t->parent[t->n++]);
	if (r == 0)
		check_secrets(ck, name, o.data, o.len, NULL);
	object_done(&o);
	return r == 0 ? walk(ck, "", t, 0) : r;
}

/* What rev-list tells of the new objects: their names go to fn until it returns other than 0. */
static int each_new(struct checks *ck, const char *oid, const char *what,
		    int (*fn)(struct checks *, const char *))
{
	const char *const words[] = { "rev-list", what, "--no-object-names", oid, "--not", "--branches",
				      "--tags",	  NULL };
	const char *const commits[] = { "rev-list", "--reverse", oid, "--not", "--branches", "--tags", NULL };
	char line[GIT_HEX + 8];
	struct plumbing p;
	int r = plumbing_start(&p, &ck->depot, what ? words : commits, false, -1), end;

	while (r == 0 && fgets(line, sizeof(line), p.from)) {
		line[strcspn(line, "\n")] = '\0';
		r = fn(ck, line);
	}
	end = plumbing_end(&p, r != 0);
	return r ?: end;
}

static int add_fresh(struct checks *ck, const char *oid)
{
	int r = set_add(&ck->fresh, oid);

	return r < 0 ? r : 0;
}

static int check_ref(struct checks *ck, const struct check_ref *ref)
{
	char tree[GIT_HEX];
	int r;

	if (oid_is_none(ref->new_oid))
		return 0;
	check_secrets(ck, ref->name, ref->name, strlen(ref->name), NULL);
	r = tree_of(ck, ref->new_oid, tree);
	if (r == -EBADMSG) {
		check_finding(ck, ref->name, 0, "is no commit");
		return STOPPED;
	}
	r = r ?: each_new(ck, ref->new_oid, "--objects", add_fresh);
	return r ?: each_new(ck, ref->new_oid, NULL, check_commit);
}

int checks_run(const struct check_rules *rules, const char *git, const char *repository,
	       const struct check_ref *refs, size_t n, FILE *out)
{
	struct checks ck = { .rules = rules, .depot = { git, repository }, .out = out };
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);
	int r = check_needles(&ck);

	r = r ?: batch_start(&ck.batch, &ck.depot);
	for (size_t i = 0; i < n && r == 0; i++)
		r = check_ref(&ck, &refs[i]);
	(void)plumbing_end(&ck.batch, true);
	if (r < 0)
		fprintf(out, "a check could not run: %s\n", strerror(-r));
	check_needles_done(&ck);
	tdestroy(ck.fresh, free);
	tdestroy(ck.paths, free);
	tdestroy(ck.blobs, free);
	(void)fflush(out);
	(void)signal(SIGPIPE, old);
	return r < 0 ? r : ck.n_findings > 0;
}
