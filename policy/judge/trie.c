/*
 * Path rules against one path: a walk down the trie with a small set of active nodes.
 *
 * A rule covers its path and everything below, so it votes as soon as the walk reaches its node.
 * Specificity is that of the pattern: 4 per literal component, 2 for one with a partial glob, 1 for `*`, 0
 * for `**`.
 *
 * The work per component is bounded, and the stack is less than 2 KiB.  A walk that needs more than
 * MAX_ACTIVE nodes at once, or that meets an inconsistent image, is broken, which denies.  The code must
 * not allocate.
 */
#include "trie.h"

#include <endian.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/seqlock.h"
#include "policy/image/section.h"

/* The verdicts of each kind of rule, as masks of columns; without a bit there is no verdict. */
static const struct opinion {
	uint8_t allow, ask, deny, hard;
} opinions[RULE_KIND_COUNT] = {
	[RULE_FILE_WRITE] = { .allow = ACCESS_ALL },
	[RULE_FILE_READ] = { .allow = ACCESS_READ },
	[RULE_FILE_DENY] = { .deny = ACCESS_ALL | COL_CONNECT },
	[RULE_FILE_READONLY] = { .deny = ACCESS_WRITE | ACCESS_DELETE },
	[RULE_FILE_KEEP] = { .deny = ACCESS_DELETE },
	[RULE_FILE_ASK] = { .ask = ACCESS_ALL },
	[RULE_FILE_ASK_WRITE] = { .ask = ACCESS_WRITE | ACCESS_DELETE },
	/* Not for connecting: `unix = ~/.gnupg/S.gpg-agent` grants the agent, not the keys beside it. */
	[RULE_FILE_SENSITIVE] = { .hard = ACCESS_ALL },
	[RULE_FILE_SYSTEM] = { .allow = ACCESS_READ },
	[RULE_FILE_SELF] = { .hard = ACCESS_WRITE | ACCESS_DELETE },
	[RULE_FILE_HIDDEN] = { .hard = ACCESS_ALL | COL_CONNECT },
	[RULE_NET_UNIX] = { .allow = COL_CONNECT },
};

/* One component of the path; ext is set when a node first needs it. */
struct component {
	const char *name, *ext;
	size_t n, n_ext;
	uint32_t hash, ext_hash;
};

/* Sets every field that is read before it is written; clearing all of it costs more than the walk. */
void walk_open(struct walk *w, const struct image *img, enum op op, unsigned want, struct trace *t)
{
	w->img = img;
	w->op = op;
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
	/*
	 * An empty section is a missing one, not an empty policy: the writer always makes root and table.
	 */
	w->broken = w->n_nodes == 0 || w->n_edges == 0 || (w->n_edges & (w->n_edges - 1)) != 0;
	w->odd = w->unnamed = false;
	w->tally.system = false;
	w->tally.inside = w->tally.git = w->tally.place = RULE_NONE;
	w->tally.one_place = false;
	w->tally.home = w->tally.opener = RULE_NONE;
	w->tally.home_key = w->tally.open_key = 0;
	w->n_next = w->turn = 0;
	for (unsigned i = 0; i < N_COL; i++) {
		memset(w->tally.col[i].key, 0, sizeof(w->tally.col[i].key));
		w->tally.hard_key[i] = 0;
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
			ballot_cast(&w->tally.col[i], ref->layer, key, v, ref->rule);
		} else if (key > w->tally.hard_key[i]) {
			w->tally.hard_key[i] = key;
			w->tally.hard[i] = ref->rule;
		}
	}
	if (any && w->trace)
		trace_add(w->trace, ref->rule, opinion_verdict(o, any), spec);
}

/*
 * Keeps the strongest rule that closes the home and the strongest rule that opens the path, compared as in a
 * ballot.  All rules that open (OPENS_HOME) count as one side, which wins a tie.
 */
static void weigh_home(struct walk *w, const struct path_ref *ref, unsigned spec)
{
	bool closes = ref->kind == RULE_FILE_HOME;
	uint64_t key = ballot_key(spec, ref->rank, 0);
	uint64_t *most = closes ? &w->tally.home_key : &w->tally.open_key;

	if (key <= *most || ref->layer == LAYER_PROJECT || !(closes || 1u << ref->kind & OPENS_HOME))
		return;
	*most = key;
	*(closes ? &w->tally.home : &w->tally.opener) = ref->rule;
	if (closes && w->trace)
		trace_add(w->trace, ref->rule, VERDICT_DENY, spec);
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
			w->tally.inside = ref->rule;
		w->tally.system |= ref->kind == RULE_FILE_SYSTEM;
		if (ref->kind == RULE_FILE_GIT)
			w->tally.git = ref->rule;
		if (ref->kind == RULE_FILE_PLACE && !w->tally.one_place) {
			w->tally.place = ref->rule;
			w->tally.one_place = n->flags & NODE_EXACT;
		}
		weigh_home(w, ref, n->spec);
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
	/* `**` may match no component at all, but its own rules count only after it has matched one. */
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

static __attribute__((noinline)) void find_suffix(struct component *k)
{
	const char *dot = memrchr(k->name, '.', k->n);

	k->ext = dot ? dot : k->name + k->n;
	k->n_ext = (size_t)(k->name + k->n - k->ext);
	k->ext_hash = hash_name(k->ext, k->n_ext);
}

static void follow_suffix(struct walk *w, uint32_t parent, const struct path_node *node, struct component *k)
{
	if (!k->ext)
		find_suffix(k);
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
	w->tally.git = w->tally.place = RULE_NONE;
	w->tally.one_place = false;
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
static __attribute__((noinline)) const char *next_component(const char *start, const char *p, const char *end,
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

/* Walks the components of path from `at` on. */
static void walk_from(struct walk *w, const char *path, const char *at, const char *end)
{
	struct component k = { 0 };

	for (const char *p = at; p < end && !w->broken; p++) {
		p = next_component(path, p, end, &k);
		if (is_dotdot(&k))
			w->broken = true; /* not normalised: it would be judged as another file */
		else if (k.n > 0 && !is_dot(&k))
			step(w, &k);
		else if (p > path)
			w->odd = true;
	}
}

/* --- memos --- */

/* What is known of a directory, in the storage of a memo. */
struct memo_state {
	struct tally tally;
	unsigned n;
	uint32_t active[MEMO_ACTIVE];
};

_Static_assert(sizeof(struct memo_state) <= sizeof(((struct eval_memo *)0)->state), "a state fits its memo");

/* The way of the memo for a directory, which is the first dir bytes of path, at least 2. */
static inline struct eval_memo *memo_way(struct eval_memo *memos, unsigned op, unsigned want,
					 const char *path, size_t dir)
{
	uint64_t tail = load_word(path, path + (dir > 8 ? dir - 8 : 0), path + dir);
	uint64_t h = (tail ^ (dir << 8 | want << 5 | op)) * 0x9e3779b97f4a7c15ull;

	return &memos[(h ^ h >> 7) >> 32 & (MEMO_WAYS - 1)];
}

static bool memo_is(const struct eval_memo *m, const void *base, unsigned want, const char *dir, size_t len)
{
	return m->base == base && m->want == want && m->len == len && len <= sizeof(m->dir) &&
	       memcmp(m->dir, dir, len) == 0;
}

static bool memo_recall(const struct eval_memo *m, struct walk *w, const char *dir, size_t len)
{
	uint32_t seq = seq_read(&m->seq);
	struct memo_state s UNINITIALIZED;

	if (!memo_is(m, w->img->base, w->want, dir, len))
		return false;
	memcpy(&s, m->state, sizeof(s));
	if (!seq_is_whole(&m->seq, seq) || s.n > MEMO_ACTIVE)
		return false;
	w->tally = s.tally;
	w->n_next = s.n;
	memcpy(w->active[w->turn], s.active, sizeof(s.active));
	return true;
}

static __attribute__((cold)) void memo_keep(struct eval_memo *m, const struct walk *w, const char *dir,
					    size_t len)
{
	struct memo_state s UNINITIALIZED;

	if (w->broken || w->odd || w->n_next > MEMO_ACTIVE || len > sizeof(m->dir) || !seq_take(&m->seq))
		return;
	s.tally = w->tally;
	s.n = w->n_next;
	memcpy(s.active, w->active[w->turn], sizeof(s.active));
	memcpy(m->state, &s, sizeof(s));
	memcpy(m->dir, dir, len);
	m->len = (uint32_t)len;
	m->want = w->want;
	m->op = OP_NONE;
	m->base = w->img->base;
	seq_give(&m->seq);
}

/* Collects the bits of the names that the active nodes know; a glob has no bit. */
static __attribute__((cold)) void note_names(struct walk *w)
{
	w->literal = w->suffix = 0;
	w->unnamed = !w->broken;
	for (unsigned i = 0; i < w->n_next; i++) {
		const struct path_node *n = &w->nodes[w->active[w->turn][i]];

		w->literal |= n->flags & NODE_LITERAL ? n->seen : 0;
		w->suffix |= n->flags & NODE_SUFFIX ? n->seen : 0;
		w->unnamed &= n->n_glob == 0;
	}
}

/* True where no rule concerns the name that ends at end: neither it nor its suffix has its bit. */
static inline bool is_unnamed(uint64_t literal, uint64_t suffix, const char *name, const char *end)
{
	struct component k;

	if (next_component(name, name, end, &k) != end || k.n == 0 || is_dot(&k) || is_dotdot(&k) ||
	    literal & name_bit(k.hash))
		return false;
	if (suffix)
		find_suffix(&k);
	return !suffix || k.n_ext == 0 || !(suffix & name_bit(k.ext_hash));
}

void walk_path(struct walk *w, const char *path, size_t len, struct eval_memo *memo)
{
	const char *slash = memrchr(path, '/', len);
	size_t dir = slash ? (size_t)(slash - path) + 1 : 0;

	if (memo && !w->trace && !w->broken && dir > 1)
		memo = memo_way(memo, w->op, w->want, path, dir);
	else
		memo = NULL;
	if (!memo || !memo_recall(memo, w, path, dir)) {
		if (!w->broken)
			enter(w, 0);
		walk_from(w, path, path, path + dir);
		if (memo)
			memo_keep(memo, w, path, dir);
	}
	if (memo) {
		note_names(w);
		w->unnamed = w->unnamed && is_unnamed(w->literal, w->suffix, path + dir, path + len);
	}
	walk_from(w, path, path + dir, path + len);
}

__attribute__((cold)) void memo_answer(struct eval_memo *memo, const struct walk *w, const char *path,
				       size_t len, const struct decision *d)
{
	size_t dir = (size_t)((const char *)memrchr(path, '/', len) - path) + 1;
	struct eval_memo *m = memo_way(memo, w->op, w->want, path, dir);

	if (!seq_take(&m->seq))
		return;
	if (memo_is(m, w->img->base, w->want, path, dir)) {
		m->literal = w->literal;
		m->suffix = w->suffix;
		m->leaf = *d;
		m->op = w->op;
	}
	seq_give(&m->seq);
}

bool eval_leaf(const struct image *img, const struct request *req, struct decision *ret)
{
	unsigned want = req->access ? req->access : op_access(req->op);
	size_t len = strlen(req->path);
	const char *slash = memrchr(req->path, '/', len);
	size_t dir = slash ? (size_t)(slash - req->path) + 1 : 0;
	const struct eval_memo *m;
	struct decision d;
	uint32_t seq;

	if (dir < 2 || len >= LIMIT_PATH)
		return false;
	m = memo_way(req->memo, req->op, want, req->path, dir);
	seq = seq_read(&m->seq);
	if (m->op != req->op || !memo_is(m, img->base, want, req->path, dir) ||
	    !is_unnamed(m->literal, m->suffix, slash + 1, req->path + len))
		return false;
	d = m->leaf;
	if (!seq_is_whole(&m->seq, seq))
		return false;
	*ret = d;
	return true;
}
