/*
 * Path rules: what the trie's walk (trie.c) found, turned into a decision.
 *
 * Guarantees: both spellings of a path are judged and the strictest counts, as far as a rule names the
 * second; a walk that broke denies.  May not allocate.
 */
#include "policy/base/path.h"
#include "policy/file/procpath.h"
#include "trie.h"

/* Written under mode read-only too, where a write rule names them: they keep nothing. */
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

/* What a rule opens of the workspace that mode none closes. */
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

static struct decision decide_hard(const struct image *img, uint32_t rule)
{
	struct decision d = decision_deny(REASON_SELF, rule);

	if (!is_kind(img, &d, RULE_FILE_SELF) && !is_kind(img, &d, RULE_FILE_HIDDEN))
		d.reason = REASON_RULE;
	return d;
}

/*
 * What such a directory bears: that it comes to be, and that it is filled (O_TMPFILE writes to it).  One that
 * is only like one of the session's own may go and change its mode: who copies a project does that.
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
	/* It votes on nothing: what may be written is written once it was looked at. */
	if (i != 0 && w->tally.git != RULE_NONE && d.verdict == VERDICT_ALLOW)
		return (struct decision){ VERDICT_ASK, REASON_GIT, w->tally.git, 0 };
	/* Nobody wrote the workspace's own rule, so it is told as the reason. */
	if (d.verdict == VERDICT_ALLOW && d.rule == w->tally.inside && d.rule != RULE_NONE)
		d.reason = REASON_INSIDE;
	return d;
}

/*
 * Moving a directory away takes what is protected below it along.  Removing one takes nothing: it
 * is empty by then; so that is refused only above the very place a rule names (~/.ssh, .git/hooks
 * of the workspace), not above every place that is like one (any clone's .git/hooks).  Nor does a
 * link come to be there, where the directory is missing: it would choose what lies at that place.
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

/* A directory that leads to a place of a write rule may be made: `write = ~/.local/share/x` is of no use
 * where ~/.local cannot come to be.  And where the home is closed, it is listed, like one that leads to what
 * may be read. */
static void judge_way(const struct walk *w, struct decision *d)
{
	bool lists = d->reason == REASON_HOME;

	for (unsigned i = 0; i < w->n_next; i++) {
		const struct path_node *n = &w->nodes[w->active[w->turn][i]];

		if (n->flags & NODE_WAY || (lists && n->flags & NODE_EXACT && n->guard != RULE_NONE))
			*d = (struct decision){ VERDICT_ALLOW, REASON_WAY, RULE_NONE, 0 };
	}
}

/* paths = relative: what is named absolutely must be a system path that is read, or a device.  Mode
 * danger is for work on absolute paths. */
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

/* A socket that a unix rule names is allowed by it; any other as its file would be for writing. */
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
 * An answer that holds for any unnamed name beside this one: it allows (so nothing that comes after
 * changes it), and hangs neither on the argument as it was spelled nor on devices or processes; no outer
 * session has a say, and the operation is judged by its path alone.
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
	static const unsigned char order[] = { 1, 2, 0 }; /* a write explains more than the read beside it */
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
		/* A link outside that leads into the workspace: no rule speaks against it, and what is acted
		 * on is the real path. */
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

/* It is of a process outside the session, or was reached through one. */
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
