/*
 * Compiles grants and evaluates them: see grant.h.
 *
 * Guarantees that an image of grants holds only granted rules (none of a preset, none that is built in, and
 * no settings), and that grants do not change the verdict of a request that the policy does not ask
 * about.
 */
#include "grant_impl.h"
#include "policy/base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRANTS_FILE "grant"

static const char *const scopes[GRANT_SCOPES] = {
	[GRANT_ONCE] = "once",
	[GRANT_SESSION] = "session",
	[GRANT_PROJECT] = "project",
	[GRANT_ALWAYS] = "always",
};

const char *grant_scope_name(enum grant_scope scope)
{
	return (unsigned)scope < GRANT_SCOPES ? scopes[scope] : "?";
}

enum grant_scope grant_scope_by_name(const char *name)
{
	unsigned i = 0;

	while (i < GRANT_SCOPES && (!name || strcmp(name, scopes[i]) != 0))
		i++;
	return (enum grant_scope)i;
}

static bool is_granted_kind(enum rule_kind kind)
{
	static const enum rule_kind kinds[] = { RULE_FILE_WRITE, RULE_FILE_READ, RULE_CMD_ALLOW,
						RULE_NET_ALLOW,	 RULE_NET_UDP,	 RULE_NET_UNIX,
						RULE_TOOL_ALLOW };

	for (size_t i = 0; i < NELEM(kinds); i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

/* --- compiling --- */

/* Each line is a source of its own, so that no line affects another. */
static int add_line(struct bundle *b, const struct grant_line *g, size_t i)
{
	char name[24], *text;
	int err;

	if (strpbrk(g->line, "\r\n") || strpbrk(g->section, "]\r\n"))
		return -EBADMSG;
	if (asprintf(&text, "[%s]\n%s\n", g->section, g->line) < 0)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%zu", i + 1);
	err = bundle_add_source(b, SOURCE_USER, name, text, strlen(text));
	free(text);
	return err;
}

static char *image_string(const struct image *img, uint32_t off)
{
	const char *s = image_str(img, off);

	return s[0] ? strdup(s) : NULL;
}

static int refuse_line(struct diags *d, size_t i, const char *text)
{
	int err = diag_add(d, SEVERITY_ERROR, "bad-grant", GRANTS_FILE, (unsigned)i + 1, 0, NULL, "%s", text);

	return err < 0 ? err : -EBADMSG;
}

static int fill_bundle(struct bundle *b, const struct image *base, const struct grant_line *list, size_t n,
		       struct diags *d)
{
	int err, bad = 0;

	b->home = image_string(base, base->h->home);
	b->workspace = image_string(base, base->h->workspace);
	/* The parser always reads a preset; this one is empty. */
	err = bundle_add_source(b, SOURCE_PRESET, "preset", "", 0);
	for (size_t i = 0; err == 0 && i < n; i++) {
		err = add_line(b, &list[i], i);
		if (err == -EBADMSG) {
			bad = refuse_line(d, i, "a grant is one line");
			err = bad == -EBADMSG ? 0 : bad;
		}
	}
	return err ? err : bad;
}

/* Sets the line of each finding to the number of its grant, which is the name of the source. */
static void number_findings(struct diags *d, size_t from)
{
	for (size_t i = from; i < d->n; i++)
		if (d->list[i].file[0] >= '0' && d->list[i].file[0] <= '9')
			d->list[i].line = (unsigned)strtoul(d->list[i].file, NULL, 10);
}

static void swap_rules(struct rule *a, struct rule *b)
{
	struct rule t = *a;

	*a = *b;
	*b = t;
}

/* Moves the rules that are not granted to the end.  Returns the number of granted rules. */
static size_t keep_granted(struct policy *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].line > 0)
			swap_rules(&p->rules[n++], &p->rules[i]);
	return n;
}

/* Checks that each line has made rules, all of a kind that may be granted. */
static int check_rules(struct policy *p, size_t n, struct diags *d)
{
	bool *seen = calloc(n + 1, sizeof(*seen));
	int err = seen ? 0 : -ENOMEM;

	for (size_t i = 0; err == 0 && i < p->n_rules; i++) {
		struct rule *r = &p->rules[i];
		char *name = strdup(GRANTS_FILE);

		if (!name) {
			err = -ENOMEM;
			break;
		}
		r->line = (unsigned)strtoul(r->file, NULL, 10);
		free(r->file);
		r->file = name;
		if (!is_granted_kind(r->kind))
			err = refuse_line(d, r->line - 1, "a grant is a rule that allows");
		else
			seen[r->line - 1] = true;
	}
	for (size_t i = 0; err == 0 && i < n; i++)
		if (!seen[i])
			err = refuse_line(d, i, "a grant is a rule that allows");
	free(seen);
	return err;
}

/* Settings that deny everything that no rule allows. */
static struct settings silent(const struct image *base)
{
	return (struct settings){
		.mode = MODE_WORKSPACE_WRITE,
		.approvals = APPROVALS_ASK,
		.timeout_s = 1,
		.cmd_default = VERDICT_DENY,
		.net_default = VERDICT_DENY,
		.network = NETWORK_MERGE,
		.level = (enum level)base->h->level,
	};
}

static int compile_grants(struct bundle *b, struct policy *p, const struct image *base, size_t n,
			  struct diags *d, uint8_t **ret_bytes, size_t *ret_size)
{
	size_t from = d->n, total;
	int err = policy_parse(b, p, d);

	number_findings(d, from);
	if (err < 0)
		return err;
	total = p->n_rules;
	p->n_rules = keep_granted(p);
	err = check_rules(p, n, d);
	if (err == 0 && p->n_environ > 0)
		err = -EBADMSG;
	p->s = silent(base);
	if (err == 0)
		err = image_compile(p, NULL, d, ret_bytes, ret_size);
	p->n_rules = total;
	return err;
}

int grants_compile(const struct image *base, const struct grant_line *list, size_t n, struct diags *d,
		   uint8_t **ret_bytes, size_t *ret_size)
{
	struct bundle b;
	struct policy p;
	int err;

	if (!base->h)
		return -EBADMSG;
	bundle_init(&b);
	policy_init(&p);
	err = fill_bundle(&b, base, list, n, d);
	if (err == 0)
		err = compile_grants(&b, &p, base, n, d, ret_bytes, ret_size);
	policy_done(&p);
	bundle_done(&b);
	return err;
}

int grants_open(const struct image *base, const struct grant_line *list, size_t n, uint8_t **ret_bytes,
		struct image *ret)
{
	struct diags d;
	size_t size;
	int r;

	diags_init(&d);
	r = grants_compile(base, list, n, &d, ret_bytes, &size);
	diags_done(&d);
	return r < 0 ? r : image_open(ret, *ret_bytes, size);
}

/* --- evaluating --- */

/* True if a rule of the grants allows the request, and not a default. */
static bool by_rule(const struct image *grants, const struct decision *d, enum rule_kind only)
{
	const struct image_rule *r = d->verdict == VERDICT_ALLOW ? image_rule(grants, d->rule) : NULL;

	return r && (only == RULE_KIND_COUNT || r->kind == only);
}

/* The verdict of img and its outer images about reading the program's file. */
static enum verdict file_verdict(const struct image *img, const struct request *read)
{
	enum verdict v = VERDICT_ALLOW;
	struct image at = *img;
	struct decision d;

	do {
		eval_path(&at, read, &d, NULL);
		v = verdict_strictest(v, d.verdict);
	} while (image_outer(&at, &at));
	return v;
}

static bool covers_exec(const struct image *grants, const struct image *img, const struct request *req,
			uint32_t *ret_rule)
{
	struct request read = *req;
	struct decision d;
	bool file = false;

	*ret_rule = RULE_NONE;
	read.access = ACCESS_READ;
	read.memo = NULL;
	if (req->path && file_verdict(img, &read) != VERDICT_ALLOW) {
		eval_path(grants, &read, &d, NULL);
		if (!by_rule(grants, &d, RULE_KIND_COUNT))
			return false;
		file = true;
	}
	if (!grant_covers_command(grants, img, req, ret_rule))
		return false;
	if (*ret_rule == RULE_NONE && file)
		*ret_rule = d.rule;
	return *ret_rule != RULE_NONE;
}

bool grants_allow(const struct image *grants, const struct image *img, const struct request *req,
		  size_t *ret_index)
{
	struct request bare = *req;
	struct decision d = { VERDICT_DENY, REASON_NONE, RULE_NONE, 0 };
	const struct image_rule *r;

	bare.memo = NULL;
	bare.is_root = false;
	if (!grants->h || !img->h || eval(img, &bare).verdict != VERDICT_ASK)
		return false;
	if (req->op == OP_EXEC) {
		if (!covers_exec(grants, img, &bare, &d.rule))
			return false;
	} else {
		d = eval(grants, &bare);
		if (!by_rule(grants, &d, req->op == OP_UNIX ? RULE_NET_UNIX : RULE_KIND_COUNT))
			return false;
	}
	r = image_rule(grants, d.rule);
	if (!r || r->line == 0)
		return false;
	*ret_index = r->line - 1;
	return true;
}
