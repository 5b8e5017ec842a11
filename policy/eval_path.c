/*
 * Path rules against one path: a walk down the trie with a small set of active nodes.
 *
 * A rule covers its path and everything beneath, so it votes as soon as the walk reaches its
 * node.  Specificity is that of the pattern: 4 per literal component, 2 for one with a partial
 * glob, 1 for `*`, 0 for `**`.
 *
 * Guarantees: bounded work per component and under 2 KiB of stack; a walk that needs more than
 * MAX_ACTIVE nodes at once, or an image that does not add up, denies.  May not allocate.
 */
#include <endian.h>

#include "ballot.h"
#include "eval.h"
#include "layout.h"
#include "path.h"
#include "section.h"

#define MAX_ACTIVE 64u

/* Columns: the three accesses, and connecting to a socket file. */
#define COL_CONNECT 8u
#define N_COL	    4u

/* What a kind of rule says, as masks of columns; no bit is no opinion. */
static const struct opinion {
	uint8_t allow, ask, deny, hard;
} opinions[RULE_KIND_COUNT] = {
	[RULE_FILE_WRITE] = { .allow = ACCESS_ALL },
	[RULE_FILE_READ] = { .allow = ACCESS_READ },
	[RULE_FILE_DENY] = { .deny = ACCESS_ALL | COL_CONNECT },
	[RULE_FILE_READONLY] = { .deny = ACCESS_WRITE | ACCESS_DELETE },
	[RULE_FILE_KEEP] = { .deny = ACCESS_DELETE },
	[RULE_FILE_ASK] = { .ask = ACCESS_ALL },
	/* Not for connecting: `unix = ~/.gnupg/S.gpg-agent` grants the agent, not the keys beside it. */
	[RULE_FILE_SENSITIVE] = { .hard = ACCESS_ALL },
	[RULE_FILE_SYSTEM] = { .allow = ACCESS_READ },
	[RULE_FILE_SELF] = { .hard = ACCESS_WRITE | ACCESS_DELETE },
	[RULE_FILE_HIDDEN] = { .hard = ACCESS_ALL | COL_CONNECT },
	[RULE_NET_UNIX] = { .allow = COL_CONNECT },
};

/* Written under mode read-only too, where a write rule names them: they keep nothing. */
static const char *const devices[] = {
	"/dev/null", "/dev/zero",   "/dev/full",   "/dev/tty", "/dev/ptmx",
	"/dev/pts",  "/dev/stdout", "/dev/stderr", "/dev/fd",  "/proc/self/fd",
};

struct walk {
	const struct image *img;
	const struct path_node *nodes;
	const struct path_edge *edges;
	const struct path_glob *globs;
	const struct path_ref *refs;
	const char *strings;
	size_t n_nodes, n_edges, n_globs, n_refs, n_strings;
	struct trace *trace;
	unsigned want;	 /* columns */
	bool system;	 /* a system rule covers the path */
	bool broken;	 /* the image does not add up, or too many nodes are active */
	uint32_t inside; /* the workspace's own rule, where it covers the path */
	struct ballot col[N_COL];
	uint64_t hard_key[N_COL];
	uint32_t hard[N_COL];
	unsigned n_next, turn;
	uint32_t active[2][MAX_ACTIVE]; /* by turns the nodes stood on and those reached from them */
};

/* One component of the path; ext is found when the first node asks for it. */
struct component {
	const char *name, *ext;
	size_t n, n_ext;
	uint32_t hash, ext_hash;
};

/* Sets every field that is read before it is written; clearing all of it costs more than the walk. */
static void walk_open(struct walk *w, const struct image *img, unsigned want, struct trace *t)
{
	w->img = img;
	w->want = want;
	w->trace = t;
	w->nodes = image_section(img, SEC_PATH_NODE, &w->n_nodes);
	w->edges = image_section(img, SEC_PATH_EDGE, &w->n_edges);
	w->globs = image_section(img, SEC_PATH_GLOB, &w->n_globs);
	w->refs = image_section(img, SEC_PATH_REF, &w->n_refs);
	w->strings = image_section(img, SEC_STRINGS, &w->n_strings);
	w->n_nodes /= sizeof(*w->nodes);
	w->n_edges /= sizeof(*w->edges);
	w->n_globs /= sizeof(*w->globs);
	w->n_refs /= sizeof(*w->refs);
	/* Empty means a missing section, not an empty policy: the writer always makes root and table. */
	w->broken = w->n_nodes == 0 || w->n_edges == 0 || (w->n_edges & (w->n_edges - 1)) != 0;
	w->system = false;
	w->inside = RULE_NONE;
	w->n_next = w->turn = 0;
	for (unsigned i = 0; i < N_COL; i++) {
		memset(w->col[i].key, 0, sizeof(w->col[i].key));
		w->hard_key[i] = 0;
	}
}

static enum verdict opinion_verdict(const struct opinion *o, unsigned mask)
{
	if ((o->deny | o->hard) & mask)
		return VERDICT_DENY;
	return o->ask & mask ? VERDICT_ASK : VERDICT_ALLOW;
}

static void vote(struct walk *w, const struct path_ref *ref, unsigned spec)
{
	const struct opinion *o = &opinions[ref->kind];
	unsigned any = (unsigned)(o->allow | o->ask | o->deny | o->hard) & w->want;

	for (unsigned i = 0; i < N_COL; i++) {
		unsigned bit = 1u << i;
		enum verdict v;
		uint64_t key;

		if (!(any & bit))
			continue;
		v = opinion_verdict(o, bit);
		key = ballot_key(spec, ref->rank, verdict_weight(v));
		if (!(o->hard & bit)) {
			ballot_cast(&w->col[i], ref->layer, key, v, ref->rule);
		} else if (key > w->hard_key[i]) {
			w->hard_key[i] = key;
			w->hard[i] = ref->rule;
		}
	}
	if (any && w->trace)
		trace_add(w->trace, ref->rule, opinion_verdict(o, any), spec);
}

static void collect(struct walk *w, const struct path_node *n)
{
	if (n->ref > w->n_refs || n->n_ref > w->n_refs - n->ref) {
		w->broken = true;
		return;
	}
	for (uint32_t i = 0; i < n->n_ref; i++) {
		const struct path_ref *ref = &w->refs[n->ref + i];

		if (ref->kind >= RULE_KIND_COUNT) {
			w->broken = true;
			return;
		}
		if (ref->inside)
			w->inside = ref->rule;
		w->system |= ref->kind == RULE_FILE_SYSTEM;
		vote(w, ref, n->spec);
	}
}

static void activate(struct walk *w, uint32_t node)
{
	uint32_t *next = w->active[w->turn];

	for (unsigned i = 0; i < w->n_next; i++)
		if (next[i] == node)
			return;
	if (w->n_next < MAX_ACTIVE)
		next[w->n_next++] = node;
	else
		w->broken = true;
}

/* The walk has consumed a component (or the root's slash) and stands on node i. */
static inline void enter(struct walk *w, uint32_t i)
{
	const struct path_node *n = &w->nodes[i];

	if (i >= w->n_nodes || n->any >= w->n_nodes) {
		w->broken = true;
		return;
	}
	if (n->n_ref > 0)
		collect(w, n);
	if (n->flags & (NODE_LITERAL | NODE_SUFFIX | NODE_ANY_DEPTH) || n->n_glob > 0 ||
	    n->guard != RULE_NONE)
		activate(w, i);
	/* `**` may stand for no component at all, but only a component earns its own rules. */
	if (n->any)
		activate(w, n->any);
}

static bool edge_is(const struct walk *w, const struct path_edge *e, const char *name, size_t n)
{
	return e->name < w->n_strings && n < w->n_strings - e->name &&
	       memcmp(w->strings + e->name, name, n) == 0 && w->strings[e->name + n] == '\0';
}

static void follow_edge(struct walk *w, uint32_t parent, uint32_t name_hash, const char *name, size_t n)
{
	uint32_t hash = hash_edge(parent, name_hash);
	size_t mask = w->n_edges - 1;

	for (size_t i = 0; i < w->n_edges; i++) {
		const struct path_edge *e = &w->edges[(hash + i) & mask];

		if (e->child == 0)
			return;
		if (e->hash == hash && e->parent == parent && edge_is(w, e, name, n)) {
			enter(w, e->child);
			return;
		}
	}
}

static void follow_suffix(struct walk *w, uint32_t parent, const struct path_node *node, struct component *k)
{
	if (!k->ext) {
		const char *dot = memrchr(k->name, '.', k->n);

		k->ext = dot ? dot : k->name + k->n;
		k->n_ext = (size_t)(k->name + k->n - k->ext);
		k->ext_hash = hash_name(k->ext, k->n_ext);
	}
	if (k->n_ext > 0 && node->seen & name_bit(k->ext_hash))
		follow_edge(w, parent | EDGE_SUFFIX, k->ext_hash, k->ext, k->n_ext);
}

static void follow_globs(struct walk *w, const struct path_node *node, const char *name, size_t n)
{
	if (node->glob > w->n_globs || node->n_glob > w->n_globs - node->glob) {
		w->broken = true;
		return;
	}
	for (uint32_t i = 0; i < node->n_glob; i++) {
		const struct path_glob *g = &w->globs[node->glob + i];

		if ((g->first && g->first != (uint8_t)name[0]) ||
		    (g->last && g->last != (uint8_t)name[n - 1]))
			continue;
		if (g->pattern >= w->n_strings || g->len >= w->n_strings - g->pattern)
			w->broken = true;
		else if (glob_match(w->strings + g->pattern, g->len, name, n))
			enter(w, g->child);
	}
}

static void step(struct walk *w, struct component *k)
{
	const uint32_t *active = w->active[w->turn];
	unsigned n_active = w->n_next;
	uint64_t bit = name_bit(k->hash);

	w->turn ^= 1;
	w->n_next = 0;
	for (unsigned i = 0; i < n_active && !w->broken; i++) {
		const struct path_node *node = &w->nodes[active[i]];

		if (node->flags & NODE_ANY_DEPTH)
			enter(w, active[i]);
		if (node->flags & NODE_LITERAL && node->seen & bit)
			follow_edge(w, active[i], k->hash, k->name, k->n);
		if (node->flags & NODE_SUFFIX)
			follow_suffix(w, active[i], node, k);
		if (node->n_glob > 0)
			follow_globs(w, node, k->name, k->n);
	}
}

/* Exact: bit 7 of each byte that is zero. */
static inline uint64_t zero_bytes(uint64_t v)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7full;

	return ~(((v & low) + low) | v | low);
}

/* 8 bytes at p, those from end on as zeros; never reads outside [start, end). */
static inline uint64_t load_word(const char *start, const char *p, const char *end)
{
	uint64_t w = 0;
	size_t left = (size_t)(end - p);

	if (left >= 8) {
		memcpy(&w, p, 8);
		return le64toh(w);
	}
	if (end - start >= 8) {
		memcpy(&w, end - 8, 8);
		return left ? le64toh(w) >> (64 - left * 8) : 0;
	}
	while (left-- > 0)
		w = w << 8 | (uint8_t)p[left];
	return w;
}

/* Fills k with the component at p, which may be empty, and returns its end. */
static inline const char *next_component(const char *start, const char *p, const char *end,
					 struct component *k)
{
	uint64_t h = 0;

	k->name = p;
	k->ext = NULL;
	for (;; p += 8) {
		uint64_t w = load_word(start, p, end);
		uint64_t stop = zero_bytes(w) | zero_bytes(w ^ 0x2f2f2f2f2f2f2f2full);
		unsigned n;

		if (!stop) {
			h = hash_word(h, w);
			continue;
		}
		n = (unsigned)__builtin_ctzll(stop) / 8;
		if (n > 0)
			h = hash_word(h, w & (~0ull >> (64 - n * 8)));
		k->n = (size_t)(p + n - k->name);
		k->hash = hash_words_end(h);
		return p + n;
	}
}

static bool is_dot(const struct component *k)
{
	return k->n == 1 && k->name[0] == '.';
}

static bool is_dotdot(const struct component *k)
{
	return k->n == 2 && k->name[0] == '.' && k->name[1] == '.';
}

static void walk_path(struct walk *w, const char *path, size_t len)
{
	struct component k = { 0 };

	if (!w->broken)
		enter(w, 0);
	for (const char *p = path, *end = path + len; p < end && !w->broken; p++) {
		p = next_component(path, p, end, &k);
		if (is_dotdot(&k))
			w->broken = true; /* not normalised: it would be judged as another file */
		else if (k.n > 0 && !is_dot(&k))
			step(w, &k);
	}
}

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

static struct decision unnamed(const struct image *img, unsigned bit)
{
	struct decision d = { VERDICT_ALLOW, REASON_READABLE, RULE_NONE, 0 };

	if (bit == ACCESS_READ)
		return d;
	if (img->h->mode == MODE_DANGER && img->h->allow_danger)
		d.reason = REASON_DANGER;
	else
		d = decision_deny(img->h->mode == MODE_READ_ONLY ? REASON_READONLY : REASON_OUTSIDE,
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

static struct decision decide(const struct walk *w, unsigned i, const char *path)
{
	const struct image *img = w->img;
	struct decision d = decision_deny(REASON_MALFORMED, RULE_NONE);

	if (w->hard_key[i])
		return decide_hard(img, w->hard[i]);
	if (!ballot_result(&w->col[i], &d))
		d = unnamed(img, 1u << i);
	if (1u << i != ACCESS_READ && img->h->mode == MODE_READ_ONLY && d.verdict != VERDICT_DENY &&
	    !(is_kind(img, &d, RULE_FILE_WRITE) && is_device(path)))
		d = decision_deny(REASON_READONLY, RULE_NONE);
	/* Nobody wrote the workspace's own rule, so it is told as the reason. */
	if (d.verdict == VERDICT_ALLOW && d.rule == w->inside && d.rule != RULE_NONE)
		d.reason = REASON_INSIDE;
	return d;
}

/*
 * Moving a directory away takes what is protected below it along.  Removing one takes nothing: it
 * is empty by then; so that is refused only above the very place a rule names (~/.ssh, .git/hooks
 * of the workspace), not above every place that is like one (any clone's .git/hooks).
 */
static void judge_ancestor(const struct walk *w, enum op op, struct decision *d)
{
	unsigned guarded = op == OP_DELETE ? NODE_EXACT : NODE_NAMED;

	for (unsigned i = 0; i < w->n_next && d->verdict != VERDICT_DENY; i++) {
		const struct path_node *n = &w->nodes[w->active[w->turn][i]];

		if (n->guard != RULE_NONE && n->flags & guarded)
			*d = decision_deny(REASON_ANCESTOR, n->guard);
	}
}

/* paths = relative: what is named absolutely must be a system path that is read, or a device.  Mode
 * danger is for work on absolute paths. */
static void judge_raw(const struct walk *w, const struct request *req, const char *path, struct decision *d)
{
	bool spared = w->system && (!(w->want & ~(unsigned)ACCESS_READ) || is_device(path));
	const struct image_header *h = w->img->h;

	if (h->mode == MODE_DANGER && h->allow_danger)
		return;
	if (!h->relative_only || !req->raw || req->is_root || d->verdict == VERDICT_DENY || spared)
		return;
	if (req->raw[0] == '/')
		*d = decision_deny(REASON_ABSOLUTE, RULE_NONE);
	else if (path_has_dotdot(req->raw))
		*d = decision_deny(REASON_TRAVERSAL, RULE_NONE);
}

/* A socket that a unix rule names is allowed by it; any other as its file would be for writing. */
static struct decision decide_connect(struct walk *w, const char *path)
{
	struct decision d = decision_deny(REASON_MALFORMED, RULE_NONE);

	if (w->hard_key[3])
		return decide_hard(w->img, w->hard[3]);
	if (ballot_result(&w->col[3], &d))
		return d;
	d = decide(w, 1, path);
	if (d.reason == REASON_OUTSIDE)
		d.reason = REASON_HOST;
	return d;
}

static struct decision judge_spelling(const struct image *img, const struct request *req, unsigned access,
				      const char *path, struct trace *t)
{
	static const unsigned char order[] = { 1, 2, 0 }; /* a write explains more than the read beside it */
	struct decision d = decision_deny(REASON_MALFORMED, RULE_NONE), other;
	size_t len = strnlen(path, LIMIT_PATH);
	struct walk w UNINITIALIZED; /* walk_open() sets what is read; clearing it costs */
	bool first = true;

	if (len >= LIMIT_PATH)
		return decision_deny(REASON_TOO_LONG, RULE_NONE);
	if (path[0] != '/')
		return d;
	walk_open(&w, img, req->op == OP_UNIX ? ACCESS_WRITE | COL_CONNECT : access, t);
	walk_path(&w, path, len);
	if (w.broken)
		return d;
	if (req->op == OP_UNIX)
		return decide_connect(&w, path);
	for (size_t i = 0; i < sizeof(order); i++) {
		if (!(access & 1u << order[i]))
			continue;
		other = decide(&w, order[i], path);
		if (first)
			d = other;
		else
			decision_tighten(&d, &other);
		first = false;
	}
	if (access & ACCESS_DELETE || req->op == OP_RENAME)
		judge_ancestor(&w, req->op, &d);
	judge_raw(&w, req, path, &d);
	return d;
}

void eval_path(const struct image *img, const struct request *req, struct decision *d, struct trace *t)
{
	unsigned access = req->access ? req->access : op_access(req->op);
	struct decision other;

	*d = decision_deny(REASON_MALFORMED, RULE_NONE);
	if (!img->h || !req->path || access == 0 || access & ~(unsigned)ACCESS_ALL)
		return;
	*d = judge_spelling(img, req, access, req->path, t);
	if (!req->given)
		return;
	other = judge_spelling(img, req, access, req->given, t);
	decision_tighten(d, &other);
}
