/*
 * Path rules: turns what the walk of the trie (trie.c) found into a decision.
 *
 * Both spellings of a path are judged and the stricter verdict counts; the second spelling, the given one,
 * counts only where a rule names it.  A broken walk denies.  The code must not allocate.
 */
#include "policy/base/path.h"
#include "policy/file/procpath.h"
#include "trie.h"

/* Mode read-only allows writing to these, where a write rule names them: they store nothing. */
static const char *const devices[] = {
	"/dev/null", "/dev/zero",   "/dev/full",   "/dev/tty", "/dev/ptmx",
	"/dev/pts",  "/dev/stdout", "/dev/stderr", "/dev/fd",  "/proc/self/fd",
};

static bool is_device(const char *path)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (path_is_under(path, devices[i]))
			return true;
	return false;
}

static bool is_kind(const struct image *img, const struct decision *d, enum rule_kind kind)
{
	const struct image_rule *r = image_rule(img, d->rule);

	return r && r->kind == kind;
}

/* Is path in a workspace that mode none closes?  A rule may open a part of it. */
static bool is_named_part(const struct image *img, const char *path)
{
	return img->h->mode == MODE_NONE && path_is_under(path, image_str(img, img->h->workspace));
}

static struct decision unnamed(const struct image *img, unsigned bit)
{
	struct decision d = { VERDICT_ALLOW, REASON_READABLE, RULE_NONE, 0 };

	if (bit == ACCESS_READ)
		return d;
	if (img->h->mode == MODE_DANGER && img->h->allow_danger)
		d.reason = REASON_DANGER;
	else
		d = decision_deny(img->h->mode <= MODE_READ_ONLY ? REASON_READONLY : REASON_OUTSIDE,
				  RULE_NONE);
	return d;
}

static bool is_absent(const struct image *img, uint32_t rule)
{
	const struct image_rule *r = image_rule(img, rule);

	return r && r->absent;
}

static struct decision decide_hard(const struct image *img, uint32_t rule)
{
	struct decision d = decision_deny(REASON_SELF, rule);

	if (!is_kind(img, &d, RULE_FILE_SELF) && !is_kind(img, &d, RULE_FILE_HIDDEN))
		d.reason = is_absent(img, rule) ? REASON_ABSENT : REASON_RULE;
	return d;
}

/*
 * True where a directory of pale's own permits the operation.  Making it and writing to it (O_TMPFILE) are
 * permitted.  A directory that only matches the rule's pattern, and is not the session's own, may also be
 * removed and have its mode, owner and attributes changed: copying a project does that.
 */
static bool place_bears(const struct walk *w)
{
	const unsigned never = 1u << OP_RENAME | 1u << OP_LINK | 1u << OP_SYMLINK | 1u << OP_MKNOD;
	const unsigned elsewhere = 1u << OP_DELETE | 1u << OP_CHMOD | 1u << OP_CHOWN | 1u << OP_XATTR;

	return !(1u << w->op & (w->tally.one_place ? never | elsewhere : never));
}

static struct decision decide(const struct walk *w, unsigned i, const char *path)
{
	const struct image *img = w->img;
	struct decision d = decision_deny(REASON_MALFORMED, RULE_NONE);

	if (w->tally.hard_key[i])
		return decide_hard(img, w->tally.hard[i]);
	if (!ballot_result(&w->tally.col[i], &d))
		d = unnamed(img, 1u << i);
	if (d.verdict != VERDICT_DENY && w->tally.home_key > w->tally.open_key && d.reason != REASON_DANGER)
		return decision_deny(REASON_HOME, w->tally.home);
	if (d.reason == REASON_READABLE && w->tally.home_key)
		d = (struct decision){ VERDICT_ALLOW, REASON_RULE, w->tally.opener, 0 };
	if (1u << i != ACCESS_READ && img->h->mode <= MODE_READ_ONLY && d.verdict != VERDICT_DENY &&
	    !(is_kind(img, &d, RULE_FILE_WRITE) && (is_device(path) || is_named_part(img, path))))
		d = decision_deny(REASON_READONLY, RULE_NONE);
	if (i != 0 && w->tally.place != RULE_NONE && d.verdict != VERDICT_DENY && !place_bears(w))
		return decision_deny(REASON_SELF, w->tally.place);
	/*
	 * A rule for files that git obeys (RULE_FILE_GIT) has no verdict of its own.  A write that the other
	 * rules allow gets ASK with REASON_GIT: the supervisor checks the file before it is written.
	 */
	if (i != 0 && w->tally.git != RULE_NONE && d.verdict == VERDICT_ALLOW)
		return (struct decision){ VERDICT_ASK, REASON_GIT, w->tally.git, 0 };
	/* The workspace's own rule is in no file, so it is shown as the reason. */
	if (d.verdict == VERDICT_ALLOW && d.rule == w->tally.inside && d.rule != RULE_NONE)
		d.reason = REASON_INSIDE;
	return d;
}

/*
 * Moving a directory takes along what is protected below it.  Removing a directory takes nothing along,
 * because it is empty by then: that is refused only above the exact place that a rule names (~/.ssh,
 * .git/hooks of the workspace), not above every place that matches (.git/hooks of any clone).  The same
 * holds for making a link where the directory is missing: the link would choose what is at that place.
 */
static void judge_ancestor(const struct walk *w, enum op op, struct decision *d)
{
	unsigned guarded = op == OP_RENAME ? NODE_NAMED : NODE_EXACT;

	for (unsigned i = 0; i < w->n_next && d->verdict != VERDICT_DENY; i++) {
		const struct path_node *n = &w->nodes[w->active[w->turn][i]];

		if (n->guard != RULE_NONE && n->flags & guarded)
			*d = decision_deny(REASON_ANCESTOR, n->guard);
	}
}

/*
 * A directory that leads to the place of a write rule may be made: `write = ~/.local/share/x` is of no use
 * where ~/.local cannot be made.  Where the home is closed, such a directory may be listed, and so may one
 * that leads to what may be read.
 */
static void judge_way(const struct walk *w, struct decision *d)
{
	bool lists = d->reason == REASON_HOME;

	for (unsigned i = 0; i < w->n_next; i++) {
		const struct path_node *n = &w->nodes[w->active[w->turn][i]];

		if (n->flags & NODE_WAY || (lists && n->flags & NODE_EXACT && n->guard != RULE_NONE))
			*d = (struct decision){ VERDICT_ALLOW, REASON_WAY, RULE_NONE, 0 };
	}
}

/*
 * With `paths = relative` an absolute name is denied, unless it is a system path that is only read, or a
 * device.  Mode danger is exempt, since it is for work on absolute paths.
 */
static void judge_raw(const struct walk *w, const struct request *req, const char *path, struct decision *d)
{
	bool spared = w->tally.system && (!(w->want & ~(unsigned)ACCESS_READ) || is_device(path));
	const struct image_header *h = w->img->h;

	if (h->mode == MODE_DANGER && h->allow_danger)
		return;
	if (!h->relative_only || !req->raw || req->is_root || d->verdict == VERDICT_DENY || spared)
		return;
	if (req->raw[0] == '/')
		*d = decision_deny(REASON_ABSOLUTE, RULE_NONE);
	else if (path_has_dotdot(req->raw))
		*d = decision_deny(REASON_TRAVERSAL, RULE_NONE);
	else if (d->reason == REASON_READABLE && !path_is_under(path, image_str(w->img, h->workspace)))
		*d = decision_deny(REASON_OUTSIDE, RULE_NONE);
}

/* A unix rule that names the socket decides; otherwise it is judged as a write to its file. */
static struct decision decide_connect(struct walk *w, const char *path)
{
	struct decision d = decision_deny(REASON_MALFORMED, RULE_NONE);

	if (w->tally.hard_key[3])
		return decide_hard(w->img, w->tally.hard[3]);
	if (ballot_result(&w->tally.col[3], &d))
		return d;
	d = decide(w, 1, path);
	if (d.reason == REASON_DANGER && w->img->h->observe)
		d = decision_deny(REASON_OUTSIDE, RULE_NONE);
	if (d.reason == REASON_OUTSIDE)
		d.reason = REASON_UNIX;
	return d;
}

/*
 * True where the answer holds for every unnamed name in the directory: it allows (so no later step changes
 * it), and does not depend on the argument as given, on devices or on processes; no outer session takes
 * part, and the path alone decides about the operation.
 */
static bool is_common(const struct image *img, const struct request *req, unsigned access,
		      const struct decision *d)
{
	return d->verdict == VERDICT_ALLOW && req->op >= OP_READ && req->op < OP_EXEC &&
	       !(req->pids && path_is_under(req->path, "/proc")) && !img->h->relative_only &&
	       (img->h->mode > MODE_READ_ONLY || access == ACCESS_READ) && img->h->sec[SEC_OUTER].len == 0;
}

static struct decision judge_spelling(const struct image *img, const struct request *req, unsigned access,
				      const char *path, struct trace *t)
{
	static const unsigned char order[] = { 1, 2, 0 }; /* a denied write explains more than a read */
	struct decision d = decision_deny(REASON_MALFORMED, RULE_NONE), other;
	size_t len = strnlen(path, LIMIT_PATH);
	struct walk w UNINITIALIZED; /* walk_open() sets what is read; clearing it costs */
	struct eval_memo *memo = path == req->path ? req->memo : NULL;
	bool first = true;

	if (len >= LIMIT_PATH)
		return decision_deny(REASON_TOO_LONG, RULE_NONE);
	if (path[0] != '/')
		return d;
	walk_open(&w, img, req->op, req->op == OP_UNIX ? ACCESS_WRITE | COL_CONNECT : access, t);
	walk_path(&w, path, len, memo);
	if (w.broken)
		return d;
	if (req->op == OP_UNIX)
		return decide_connect(&w, path);
	for (size_t i = 0; i < sizeof(order); i++) {
		if (!(access & 1u << order[i]))
			continue;
		other = decide(&w, order[i], path);
		/*
		 * A link outside leads into the workspace: no rule denies it, and the operation acts on the
		 * real path.
		 */
		if (path == req->given && other.reason == REASON_OUTSIDE)
			other = (struct decision){ VERDICT_ALLOW, REASON_READABLE, RULE_NONE, 0 };
		if (first)
			d = other;
		else
			decision_tighten(&d, &other);
		first = false;
	}
	if (access & ACCESS_DELETE || (req->op >= OP_RENAME && req->op <= OP_SYMLINK))
		judge_ancestor(&w, req->op, &d);
	if ((req->op == OP_MKDIR && d.reason == REASON_OUTSIDE) ||
	    (access == ACCESS_READ && d.reason == REASON_HOME))
		judge_way(&w, &d);
	judge_raw(&w, req, path, &d);
	if (memo && w.unnamed && is_common(img, req, access, &d))
		memo_answer(memo, &w, path, len, &d);
	return d;
}

/* The path is of a process outside the session, or was reached through one. */
static bool is_of_another(const struct request *req)
{
	return req->pids && (proc_is_closed(req->path, req->pids) ||
			     (req->through && proc_is_closed(req->through, req->pids)));
}

void eval_path(const struct image *img, const struct request *req, struct decision *d, struct trace *t)
{
	unsigned access = req->access ? req->access : op_access(req->op);
	struct decision other;

	*d = decision_deny(REASON_MALFORMED, RULE_NONE);
	if (!img->h || !req->path || access == 0 || access & ~(unsigned)ACCESS_ALL)
		return;
	*d = judge_spelling(img, req, access, req->path, t);
	if (req->given) {
		other = judge_spelling(img, req, access, req->given, t);
		decision_tighten(d, &other);
	}
	if (is_of_another(req)) {
		other = decision_deny(REASON_PROCESS, RULE_NONE);
		decision_tighten(d, &other);
	}
}
