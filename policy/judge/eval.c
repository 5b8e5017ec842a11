/*
 * One request, one image, one decision: which function judges which operation, and what holds for all of
 * them (limits, approvals = never, the operator's own command, outer sessions).
 *
 * A request that is not understood is denied.  The code must not allocate, lock, read a clock or call
 * anything but mem* and str*.
 */
#include "eval.h"

#include <string.h>

#include "ballot.h"

typedef void (*judge_fn)(const struct image *, const struct request *, struct decision *, struct trace *);

/* A command is judged by its words, and its program file as something that is read. */
static void eval_exec(const struct image *img, const struct request *req, struct decision *d, struct trace *t)
{
	struct decision file = decision_deny(REASON_MALFORMED, RULE_NONE);
	struct request r = *req;

	eval_command(img, req, d, t);
	if (!req->path)
		return;
	r.access = ACCESS_READ;
	eval_path(img, &r, &file, t);
	decision_tighten(d, &file);
}

/* Operations without an entry are denied: OP_NONE, OP_ATTACH and those that only a newer caller knows. */
static const judge_fn judges[OP_COUNT] = {
	[OP_READ] = eval_path,	 [OP_WRITE] = eval_path,   [OP_DELETE] = eval_path,
	[OP_RENAME] = eval_path, [OP_LINK] = eval_path,	   [OP_SYMLINK] = eval_path,
	[OP_MKDIR] = eval_path,	 [OP_MKNOD] = eval_path,   [OP_TRUNCATE] = eval_path,
	[OP_CHMOD] = eval_path,	 [OP_CHOWN] = eval_path,   [OP_UTIME] = eval_path,
	[OP_XATTR] = eval_path,	 [OP_EXEC] = eval_exec,	   [OP_CONNECT] = eval_host,
	[OP_UNIX] = eval_host,	 [OP_RESOLVE] = eval_host, [OP_BIND] = eval_host,
#ifndef PALE_PRELOAD /* no hook of libpale judges these */
	[OP_TOOL] = eval_tool,	 [OP_PUSH] = eval_push,
#endif
};

void trace_add(struct trace *t, uint32_t rule, enum verdict v, unsigned specificity)
{
	const size_t cap = sizeof(t->list) / sizeof(t->list[0]);
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->n; i++)
		if (t->list[i].rule == rule && t->list[i].specificity >= specificity)
			return;
	for (i = 0; i < t->n && t->list[i].specificity >= specificity; i++)
		;
	if (i >= cap)
		return;
	if (t->n == cap)
		t->n--;
	memmove(t->list + i + 1, t->list + i, (t->n - i) * sizeof(t->list[0]));
	t->list[i] = (struct beaten){ rule, v, specificity, false };
	t->n++;
}

void trace_uncovered(struct trace *t, uint32_t rule)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].rule == rule)
			return;
	if (t->n < sizeof(t->list) / sizeof(t->list[0]))
		t->list[t->n++] = (struct beaten){ rule, VERDICT_ALLOW, 0, true };
}

static struct decision eval_one(const struct image *img, const struct request *req, struct trace *t)
{
	struct decision d = decision_deny(REASON_MALFORMED, RULE_NONE);

	if (!img->h || (unsigned)req->op >= OP_COUNT || !judges[req->op])
		return d;
	judges[req->op](img, req, &d, t);
	if (d.verdict == VERDICT_ASK && req->is_root)
		d = (struct decision){ VERDICT_ALLOW, REASON_OPERATOR, d.rule, 0 };
	/* With REASON_GIT the supervisor looks at the file, and asks no question. */
	if (d.verdict == VERDICT_ASK && d.reason != REASON_GIT && img->h->approvals != APPROVALS_ASK)
		d = decision_deny(REASON_NEVER, d.rule);
	if (d.verdict != VERDICT_ALLOW && d.verdict != VERDICT_ASK)
		d.verdict = VERDICT_DENY;
	return d;
}

/* Judges by an outer session's image too; true where another session is around that one. */
static bool eval_around(struct image *img, const struct request *req, uint32_t depth, struct decision *d)
{
	struct decision around;
	size_t len;

	if (!image_sec(img, SEC_OUTER, &len)) {
		/* A section that exists but cannot be read must not drop the outer policy. */
		if (img->h && img->h->sec[SEC_OUTER].len > 0)
			*d = decision_deny(REASON_MALFORMED, RULE_NONE);
		return false;
	}
	if (depth >= LIMIT_DEPTH || !image_outer(img, img)) {
		*d = decision_deny(REASON_MALFORMED, RULE_NONE);
		return false;
	}
	around = eval_one(img, req, NULL);
	around.nested = depth + 1;
	decision_tighten(d, &around);
	return true;
}

/* Not part of eval(), so that the common case does not copy the request. */
static __attribute__((noinline)) void eval_outer(const struct image *img, const struct request *req,
						 struct decision *d)
{
	struct image around = *img;
	struct request inner = *req;

	/* The operator of a nested session is the agent of the one around it. */
	inner.is_root = false;
	inner.memo = NULL; /* of another image */
	for (uint32_t depth = 0; eval_around(&around, &inner, depth, d); depth++)
		;
}

struct decision eval(const struct image *img, const struct request *req)
{
	struct decision d;

	if (req->memo && !req->given && req->path && eval_leaf(img, req, &d))
		return d;
	d = eval_one(img, req, NULL);
	if (img->h && img->h->sec[SEC_OUTER].len > 0)
		eval_outer(img, req, &d);
	return d;
}

struct decision eval_trace(const struct image *img, const struct request *req, struct trace *trace)
{
	if (trace)
		trace->n = 0;
	return eval_one(img, req, trace);
}
