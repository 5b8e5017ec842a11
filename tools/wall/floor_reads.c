/*
 * What the policy denies to read, and whether the planned floor holds all of it.
 *
 * Where it does, the supervisor may let the kernel perform an allowed open for reading (open_pass.c).
 * Landlock knows no patterns, and cannot bar what does not exist.  So a pattern of names in one directory
 * bars what it matches now; a missing place is a gap, which is watched during the session (gaps.c).  The
 * floor cannot hold any other pattern, nor what needs a question inside a granted directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/judge/eval.h"

#include "floor.h"

static const bool keeps[RULE_KIND_COUNT] = {
	[RULE_FILE_DENY] = true,   [RULE_FILE_ASK] = true,  [RULE_FILE_SENSITIVE] = true,
	[RULE_FILE_HIDDEN] = true, [RULE_FILE_HOME] = true,
};

static enum verdict verdict_on(const struct image *img, const char *path)
{
	const struct request req = { .op = OP_READ, .access = ACCESS_READ, .path = path };

	return eval(img, &req).verdict;
}

static void unquote(const char *s, size_t n, char *to)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		*to++ = s[i];
	}
	*to = '\0';
}

enum names floor_names(const struct image *img, const struct image_rule *rule, char path[LIMIT_PATH])
{
	const char *s = image_str(img, rule->pattern), *last = strrchr(s, '/');
	size_t n = strlen(s), dir = last ? (size_t)(last - s) + 1 : 0;

	if (s[0] != '/' || !last || n >= LIMIT_PATH)
		return NAMES_ANY;
	if (glob_is_literal(s, n)) {
		unquote(s, n, path);
		return NAMES_ONE;
	}
	if (!glob_is_literal(s, dir) || strcmp(last + 1, "**") == 0)
		return NAMES_ANY;
	unquote(s, dir, path);
	strcat(path, last + 1);
	return NAMES_SOME;
}

/* --- before the walk ------------------------------------------------------------------------------ */

int floor_each_match(const char *path, int (*fn)(const char *full, void *arg), void *arg)
{
	size_t len = (size_t)(strrchr(path, '/') - path) + 1;
	const char *pattern = path + len;
	char full[LIMIT_PATH] UNINITIALIZED;
	const struct dirent *e;
	int r = 0;
	DIR *dir;

	memcpy(full, path, len);
	full[len] = '\0';
	dir = opendir(full);
	if (!dir)
		return FLOOR_NO_LIST;
	for (;;) {
		size_t n;

		errno = 0;
		e = r == 0 ? readdir(dir) : NULL;
		if (!e)
			break;
		n = strlen(e->d_name);

		if (!glob_match(pattern, strlen(pattern), e->d_name, n) || len + n >= sizeof(full))
			continue;
		memcpy(full + len, e->d_name, n + 1);
		r = fn(full, arg);
	}
	/* The entries that were not read may match. */
	if (r == 0 && errno)
		r = FLOOR_NO_LIST;
	(void)closedir(dir);
	return r;
}

struct barring {
	const struct image *img;
	struct floor_walk *w;
};

static int bar_match(const char *full, void *arg)
{
	const struct barring *b = arg;

	const struct request req = { .op = OP_READ, .access = ACCESS_READ, .path = full };
	struct decision d = eval(b->img, &req);

	/* A directory that is listed only for the sake of what lies in it (REASON_WAY) gets no grant
	 * itself. */
	return d.verdict == VERDICT_DENY || d.reason == REASON_WAY
		       ? walk_bar(b->w, full, FLOOR_READ | FLOOR_WRITE)
		       : 0;
}

/* Bars the matching names in path's directory.  0 or -ENOMEM. */
static int bar_names(struct barring *b, const char *path, size_t len, const char *name)
{
	const char *pattern = path + len;
	char full[LIMIT_PATH] UNINITIALIZED;
	int r = 0;

	memcpy(full, path, len);
	for (; r == 0 && *name; name += strlen(name) + 1) {
		size_t n = strlen(name);

		if (!glob_match(pattern, strlen(pattern), name, n) || len + n >= sizeof(full))
			continue;
		memcpy(full + len, name, n + 1);
		r = bar_match(full, b);
	}
	return r;
}

/* path ends in a pattern.  Links are barred too: what they lead to has rules of its own. */
static int bar_matches(const struct image *img, struct floor_walk *w, const char *path)
{
	size_t len = (size_t)(strrchr(path, '/') - path) + 1;
	struct barring b = { img, w };
	char dir[LIMIT_PATH] UNINITIALIZED;
	const char *names;
	int r;

	memcpy(dir, path, len);
	dir[len > 1 ? len - 1 : len] = '\0';
	names = floor_list(w, dir);
	if (names)
		return bar_names(&b, path, len, names);
	r = floor_each_match(path, bar_match, &b);
	return r == FLOOR_NO_LIST ? 0 : r;
}

int reads_bar(const struct image *img, struct floor_walk *w)
{
	char path[LIMIT_PATH] UNINITIALIZED;
	const struct image_rule *rule;
	int r = 0;

	for (uint32_t i = 0; r == 0 && (rule = image_rule(img, i)); i++) {
		enum names names = NAMES_ANY;

		if (rule->kind < RULE_KIND_COUNT && keeps[rule->kind])
			names = floor_names(img, rule, path);
		if (names == NAMES_SOME)
			r = bar_matches(img, w, path);
		/* The entries of the home are granted one by one, even where none of them is barred yet:
		 * so an entry that appears later is not granted. */
		if (r == 0 && rule->kind == RULE_FILE_HOME)
			r = walk_bar(w, path, FLOOR_READ | FLOOR_WRITE);
		if (r == 0 && (names == NAMES_SOME || (names == NAMES_ONE && floor_look(w, path) == -ENOENT)))
			r = floor_add_gap(w->floor, path);
	}
	return r;
}

/* --- after it -------------------------------------------------------------------------------------- */

static bool is_gap(const struct floor *f, const char *path)
{
	for (size_t i = 0; i < f->n_gaps; i++)
		if (strcmp(f->gaps[i].path, path) == 0)
			return true;
	return false;
}

/* True where the floor grants no reading that this rule forbids.  False for an ask rule with a pattern,
 * whose matches are not barred. */
static bool holds_rule(const struct image *img, const struct floor *f, const struct image_rule *rule)
{
	char path[LIMIT_PATH] UNINITIALIZED;
	enum names names = floor_names(img, rule, path);

	if (names == NAMES_ANY || (names == NAMES_SOME && rule->kind == RULE_FILE_ASK))
		return false;
	if (!(floor_grants(f, path) & FLOOR_READ) || is_gap(f, path))
		return true;
	/* A stronger rule above it allows the path, and so everything below. */
	return names == NAMES_ONE && verdict_on(img, path) == VERDICT_ALLOW;
}

bool floor_holds_reads(const struct image *img, const struct floor *f)
{
	const struct image_rule *rule;
	struct image outer;

	/* `paths = relative` denies absolute names, and a floor does not know the name that a call uses. */
	if (img->h->relative_only || image_outer(img, &outer))
		return false;
	for (uint32_t i = 0; (rule = image_rule(img, i)); i++)
		if (rule->kind >= RULE_KIND_COUNT || (keeps[rule->kind] && !holds_rule(img, f, rule)))
			return false;
	return true;
}

void reads_settle(const struct image *img, struct floor *f)
{
	size_t used = 0;

	for (size_t i = 0; i < f->n_gaps; i++)
		if (floor_grants(f, f->gaps[i].path) & FLOOR_READ)
			f->gaps[used++] = f->gaps[i];
		else
			free(f->gaps[i].path);
	f->n_gaps = used;
	f->holds_reads = floor_holds_reads(img, f);
}
