/*
 * Which links count.  A rule opens what it names and, where that is a symbolic link, the link's target: but
 * only where the operator made the link.  A link in a place that a session may write may come from an
 * earlier session or from a repository (`.husky/_`, ~/.npm), and could lead anywhere.
 *
 * A rule that keeps something closed follows every link.
 */
#include "proven.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "policy/base/op.h"
#include "policy/base/path.h"
#include "policy/image/image.h"
#include "policy/judge/eval.h"
#include "policy/parse/parse.h"
#include "policy/rules/rule.h"

#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */

struct prover {
	struct bundle *b;
	const struct policy *p;
	bool live; /* the running session may have made the link under an earlier policy */
	/* What the policy allows with all real paths: rather too much than too little.  Made when it is
	 * first needed. */
	struct policy wide;
	uint8_t *bytes;
	struct image image;
};

/* True where no process of this user can make a link in dir, inside a session or outside. */
static bool is_others(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && st.st_uid != geteuid() && access(dir, W_OK) < 0;
}

/* After an error there is no image, and nothing is proven. */
static void make_image(struct prover *pr)
{
	struct diags d;
	size_t size = 0;

	if (pr->bytes)
		return;
	diags_init(&d);
	if (policy_parse(pr->b, &pr->wide, &d) == 0 &&
	    image_compile(&pr->wide, NULL, &d, &pr->bytes, &size) == 0 &&
	    image_open_checked(&pr->image, pr->bytes, size) < 0)
		pr->image = (struct image){ 0 };
	diags_done(&d);
}

/* True where a session may make path, or something above it. */
static bool may_be_made(struct prover *pr, const char *path)
{
	char at[PATH_MAX];
	size_t n = strlen(path);

	if (pr->live)
		return true;
	make_image(pr);
	if (!pr->image.h || n >= sizeof(at))
		return true;
	memcpy(at, path, n + 1);
	for (; n > 0; n = (size_t)(strrchr(at, '/') - at)) {
		const struct request req = { .op = OP_SYMLINK, .access = op_access(OP_SYMLINK), .path = at };

		at[n] = '\0';
		if (eval(&pr->image, &req).verdict != VERDICT_DENY)
			return true;
	}
	return false;
}

/* A walk along a path: the real path so far, and the rest. */
struct walk {
	char at[PATH_MAX], rest[2 * PATH_MAX];
	unsigned links;
};

/* Follows the link in w->at: puts its text before the rest.  False: unproven. */
static bool follow_link(struct prover *pr, struct walk *w, const char *link)
{
	char text[PATH_MAX], rest[2 * PATH_MAX];
	ssize_t n = readlink(link, text, sizeof(text) - 1);

	if (n <= 0 || ++w->links > LINKS_MAX || (!is_others(w->at[0] ? w->at : "/") && may_be_made(pr, link)))
		return false;
	text[n] = '\0';
	if (snprintf(rest, sizeof(rest), "%s/%s", text, w->rest) >= (int)sizeof(rest))
		return false;
	strcpy(w->rest, rest);
	if (text[0] == '/')
		w->at[0] = '\0';
	return true;
}

/* Walks one component.  False: unproven. */
static bool walk_component(struct prover *pr, struct walk *w)
{
	char *name = w->rest + strspn(w->rest, "/"), next[PATH_MAX];
	size_t n = strcspn(name, "/");
	struct stat st;

	if (n == 2 && memcmp(name, "..", 2) == 0 && w->at[0])
		*strrchr(w->at, '/') = '\0';
	else if (n > 0 && !(n <= 2 && memcmp(name, "..", n) == 0)) {
		if (snprintf(next, sizeof(next), "%s/%.*s", w->at, (int)n, name) >= (int)sizeof(next))
			return false;
		memmove(w->rest, name + n, strlen(name + n) + 1);
		if (lstat(next, &st) == 0 && S_ISLNK(st.st_mode))
			return follow_link(pr, w, next);
		strcpy(w->at, next);
		return true;
	}
	memmove(w->rest, name + n, strlen(name + n) + 1);
	return true;
}

/* The link may have changed since the look-up, so its target is checked again. */
static bool is_proven(struct prover *pr, const struct real *r)
{
	struct walk w = { .links = 0 };

	if (strlen(r->prefix) >= sizeof(w.rest))
		return false;
	strcpy(w.rest, r->prefix);
	while (w.rest[0])
		if (!walk_component(pr, &w))
			return false;
	return strcmp(w.at[0] ? w.at : "/", r->real) == 0;
}

static int warn_unproven(const struct prover *pr, const struct real *r, struct diags *d)
{
	const size_t n = strlen(r->prefix);
	int e = 0;

	for (size_t i = 0; e == 0 && i < pr->p->n_rules; i++) {
		const struct rule *rule = &pr->p->rules[i];

		if (rule->kind != RULE_FILE_WRITE || strncmp(rule->pattern, r->prefix, n) != 0 ||
		    (rule->pattern[n] && rule->pattern[n] != '/'))
			continue;
		e = diag_add(
			d, SEVERITY_WARNING, "unproven-link", rule->file, rule->line, rule->col,
			"to open it, name that path in a rule of its own",
			"`%s` does not open %s: a session may have made the symbolic link that leads there",
			rule->text, r->real);
	}
	return e;
}

/* True where the link led to the same place when the session began. */
static bool led_there(const struct bundle *first, const struct real *r)
{
	bool found = false;

	for (size_t i = 0; i < first->n_reals && !found; i++)
		found = strcmp(first->reals[i].prefix, r->prefix) == 0 &&
			strcmp(first->reals[i].real, r->real) == 0;
	for (size_t i = 0; i < first->n_unproven && found; i++)
		found = strcmp(first->unproven[i], r->prefix) != 0;
	return found;
}

int reals_prove(struct bundle *b, const struct policy *p, const struct bundle *first, struct diags *d)
{
	struct prover pr = { .b = b, .p = p };
	int e = 0;

	policy_init(&pr.wide);
	for (size_t i = 0; e == 0 && i < b->n_reals; i++) {
		pr.live = first && !led_there(first, &b->reals[i]);
		if (is_proven(&pr, &b->reals[i]))
			continue;
		e = warn_unproven(&pr, &b->reals[i], d);
		if (e == 0)
			e = bundle_add_unproven(b, b->reals[i].prefix);
	}
	free(pr.bytes);
	policy_done(&pr.wide);
	return e;
}
