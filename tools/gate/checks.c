/*
 * The checks of a push: see checks.h.  They walk the trees of each new commit, as far as these differ from
 * those of all its parents, and count while they walk: a tree that unfolds into very many paths ends at the
 * limit.
 */
#include <errno.h>
#include <search.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"

#include "checks_impl.h"

#define ENTRIES_MAX  100000 /* entries of trees, directories counted in */
#define FINDINGS_MAX 50
#define PARENTS_MAX  64
#define DEPTH_MAX    128
#define GIT_REV	     (GIT_HEX + 16)
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
	const char *name, *id; /* id: the object's name as bytes */
};

/* A directory's tree in the commit or in a parent; hint: where the next entry is likely to be found. */
struct side {
	struct object tree;
	size_t hint;
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
	ret->id = nul + 1;
	*at = (size_t)(nul + 1 - tree->data) + raw;
	return true;
}

static void item_oid(const struct item *e, size_t raw, char ret[GIT_HEX])
{
	sodium_bin2hex(ret, GIT_HEX, (const unsigned char *)e->id, raw);
}

/* Both sides are in the same order: what is looked for next stands behind what was found last. */
static bool item_find(struct side *side, size_t raw, const char *name, struct item *ret)
{
	for (int pass = 0; pass < 2; pass++) {
		size_t at = pass == 0 ? side->hint : 0;

		while (side->tree.data && item_next(&side->tree, raw, &at, ret))
			if (strcmp(ret->name, name) == 0) {
				side->hint = at;
				return true;
			}
	}
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

/* A file's content: secrets once for each content that is new, what a name makes special each time. */
static int check_content(struct checks *ck, const char *path, unsigned mode, const char *oid,
			 const char *before)
{
	bool special = mode == MODE_LINK || strcasecmp(path, ".gitmodules") == 0;
	int r = tfind(oid, &ck->fresh, compare) ? set_add(&ck->blobs, oid) : 0, is_new = r > 0;
	struct object blob, old = { .data = NULL };

	if (r < 0 || (!is_new && !special))
		return r;
	r = is_new ? read_new(ck, path, oid, &blob) : batch_get(&ck->batch, oid, OBJECT_MAX, &blob);
	if (r != 0)
		return r;
	if (mode == MODE_LINK)
		check_link(ck, path, blob.data, blob.len);
	else if (special)
		r = check_modules(ck, path, oid, &blob);
	if (r == 0 && is_new && *before)
		r = batch_get(&ck->batch, before, OBJECT_MAX, &old);
	if (r == 0 && is_new)
		check_secrets(ck, path, blob.data, blob.len, old.data ? &old : NULL);
	object_done(&old);
	object_done(&blob);
	return r;
}

/* An entry that no parent has like this. */
static int check_entry(struct checks *ck, const char *path, unsigned mode, const char *oid,
		       const char *before)
{
	int r = set_add(&ck->paths, path);

	if (r > 0) {
		check_name(ck, path);
		check_secrets(ck, path, path, strlen(path), NULL);
		r = mode == MODE_TREE ? 0 : limit_of_files(ck, path);
	}
	if (r != 0 || mode == MODE_TREE || mode == MODE_SUB)
		return r;
	return check_content(ck, path, mode, oid, before);
}

/* The trees of a directory: in the commit, and in its parents ("" where a parent lacks it); by name, or as
 * COMMIT^{tree}. */
struct trees {
	char oid[GIT_REV];
	size_t n;
	char parent[PARENTS_MAX][GIT_REV];
};

static int walk(struct checks *ck, const char *dir, const struct trees *t, unsigned depth);

/* True where a parent has the same.  Otherwise `below` and `before` are what the parents have of that name.
 */
static bool is_known(const struct item *e, struct side *all, size_t raw, struct trees *below,
		     char before[GIT_HEX], bool *ret_named)
{
	for (size_t i = 0; i < below->n; i++) {
		struct item old;

		if (!item_find(&all[1 + i], raw, e->name, &old))
			continue;
		if (old.mode == e->mode && memcmp(old.id, e->id, raw) == 0)
			return true;
		*ret_named = true;
		if (old.mode == MODE_TREE)
			item_oid(&old, raw, below->parent[i]);
		else if (old.mode != MODE_SUB)
			item_oid(&old, raw, before);
	}
	return false;
}

static int walk_entry(struct checks *ck, const char *dir, const struct item *e, struct side *all,
		      const struct trees *t, unsigned depth)
{
	_cleanup_free_ struct trees *below = calloc(1, sizeof(*below));
	_cleanup_free_ char *path = NULL;
	size_t raw = ck->raw;
	char before[GIT_HEX] = "";
	bool named = false;
	int r;

	if (!below)
		return -ENOMEM;
	below->n = t->n;
	if (is_known(e, all, raw, below, before, &named))
		return 0;
	if (asprintf(&path, "%s%s%s", dir, *dir ? "/" : "", e->name) < 0)
		return -ENOMEM;
	if (++ck->n_entries > ENTRIES_MAX || depth > DEPTH_MAX) {
		check_finding(ck, path, 0, "more directories and files than can be checked");
		return STOPPED;
	}
	if (!named)
		check_twin(ck, path, &all[0].tree, raw, e->name);
	item_oid(e, raw, below->oid);
	r = check_entry(ck, path, e->mode, below->oid, before);
	return r == 0 && e->mode == MODE_TREE ? walk(ck, path, below, depth + 1) : r;
}

static int walk(struct checks *ck, const char *dir, const struct trees *t, unsigned depth)
{
	_cleanup_free_ struct side *all = calloc(1 + t->n, sizeof(*all));
	struct item e;
	size_t at = 0;
	int r = all ? batch_get(&ck->batch, t->oid, OBJECT_MAX, &all[0].tree) : -ENOMEM;

	/* Below the top git writes none; such trees could unfold for very long without any file to count. */
	if (r == 0 && depth > 0 && all[0].tree.len == 0) {
		check_finding(ck, dir, 0, "a directory without files");
		r = STOPPED;
	}
	for (size_t i = 0; i < t->n && r == 0; i++)
		if (*t->parent[i])
			r = batch_get(&ck->batch, t->parent[i], OBJECT_MAX, &all[1 + i].tree);
	while (r == 0 && item_next(&all[0].tree, ck->raw, &at, &e))
		r = walk_entry(ck, dir, &e, all, t, depth);
	for (size_t i = 0; all && i <= t->n; i++)
		object_done(&all[i].tree);
	return r;
}

/* --- commits --- */

#define SIGNATURE_MAX 16384

/* What git writes before a commit's message: a screen shows no other line, so it could carry anything. */
static void check_headers(struct checks *ck, const char *name, const char *text)
{
	static const char *const known[] = { "tree ",	  "parent ", "author ",	       "committer ",
					     "encoding ", "gpgsig ", "gpgsig-sha256 ", "mergetag " };
	size_t more = 0, n;
	unsigned line = 1;

	for (; *text && *text != '\n'; text += n + (text[n] == '\n'), line++) {
		bool is_known = *text == ' ' && line > 1;

		n = strcspn(text, "\n");
		more += *text == ' ' ? n : 0;
		for (size_t i = 0; i < NELEM(known) && !is_known; i++)
			is_known = strncmp(text, known[i], strlen(known[i])) == 0;
		if (!is_known) {
			check_finding(ck, name, line, "a header of the commit that git does not write");
			return;
		}
	}
	if (more > SIGNATURE_MAX)
		check_finding(ck, name, 0, "a signature of more than %d bytes", SIGNATURE_MAX);
}

static int check_commit(struct checks *ck, const char *oid)
{
	_cleanup_free_ struct trees *t = calloc(1, sizeof(*t));
	char name[GIT_HEX + 8];
	struct object o;
	int r;

	snprintf(name, sizeof(name), "commit %.12s", oid);
	ck->raw = strlen(oid) / 2;
	if (!t)
		return -ENOMEM;
	r = read_new(ck, name, oid, &o);
	if (r != 0)
		return r;
	check_secrets(ck, name, o.data, o.len, NULL);
	check_headers(ck, name, o.data);
	for (const char *p = strchr(o.data, '\n'); p && strncmp(p, "\nparent ", 8) == 0 && r == 0;
	     p = strchr(p + 1, '\n')) {
		r = t->n == PARENTS_MAX ? -E2BIG : 0;
		if (r == 0)
			snprintf(t->parent[t->n], GIT_REV, "%s^%zu^{tree}", oid, t->n + 1);
		t->n += r == 0;
	}
	object_done(&o);
	snprintf(t->oid, GIT_REV, "%s^{tree}", oid);
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
	struct object o;
	int r;

	if (oid_is_none(ref->new_oid))
		return 0;
	check_secrets(ck, ref->name, ref->name, strlen(ref->name), NULL);
	r = batch_get(&ck->batch, ref->new_oid, OBJECT_MAX, &o);
	if (r == 0 && strcmp(o.type, "commit") != 0) {
		check_finding(ck, ref->name, 0, "is no commit");
		r = STOPPED;
	}
	object_done(&o);
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
