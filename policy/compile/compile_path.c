/*
 * Path rules to the trie that eval_path.c walks (see layout.h).
 *
 * While it grows, all edges are in one hash table and the rules of a node in a list; at the end
 * both become flat arrays.  Children have higher numbers than their parents, so one pass from the end
 * computes `guard`.
 */
#include "compile.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/base/path.h"
#include "policy/image/layout.h"

/* Edge forms during building; at the end the globs move out of the table. */
#define EDGE_GLOB (1u << 30)
#define MAX_NODES EDGE_GLOB

struct node {
	struct path_node out;
	uint32_t parent;
	uint32_t first_ref; /* in refs, 1-based list through ref_next */
};

struct ref {
	struct path_ref out;
	uint32_t next;
};

struct trie {
	struct compiler *c;
	struct bytes nodes, refs;
	struct path_edge *edges;
	size_t n_edges, cap_edges;
	int err;
};

static struct node *node_of(struct trie *t, uint32_t i)
{
	return (struct node *)(void *)t->nodes.p + i;
}

static uint32_t n_nodes(const struct trie *t)
{
	return (uint32_t)(t->nodes.len / sizeof(struct node));
}

static uint32_t node_new(struct trie *t, uint32_t parent, uint32_t flags, uint32_t spec)
{
	struct node n = { .parent = parent, .out = { .flags = flags, .spec = spec, .guard = RULE_NONE } };

	if (n_nodes(t) >= MAX_NODES)
		t->err = -E2BIG;
	bytes_put(&t->nodes, &n, sizeof(n));
	if (t->nodes.err)
		t->err = t->nodes.err;
	return t->err ? 0 : n_nodes(t) - 1;
}

/* Strings are interned, so equal names have equal offsets. */
static struct path_edge *edge_slot(struct path_edge *edges, size_t cap, uint32_t parent, uint32_t hash,
				   uint32_t name)
{
	size_t i = hash & (cap - 1);

	while (edges[i].child && (edges[i].parent != parent || edges[i].name != name))
		i = (i + 1) & (cap - 1);
	return &edges[i];
}

static void edges_grow(struct trie *t)
{
	size_t cap = t->cap_edges ? t->cap_edges * 2 : 1024;
	struct path_edge *edges = calloc(cap, sizeof(*edges));

	if (!edges) {
		t->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < t->cap_edges; i++) {
		const struct path_edge *e = &t->edges[i];

		if (e->child)
			*edge_slot(edges, cap, e->parent, e->hash, e->name) = *e;
	}
	free(t->edges);
	t->edges = edges;
	t->cap_edges = cap;
}

struct component {
	uint32_t form; /* 0, EDGE_SUFFIX or EDGE_GLOB */
	uint32_t flags, spec;
	const char *name;
	size_t n;
};

static void note_edge(struct path_node *n, uint32_t form, uint32_t name_hash)
{
	if (form == EDGE_GLOB) {
		n->n_glob++;
		return;
	}
	n->flags |= form == EDGE_SUFFIX ? NODE_SUFFIX : NODE_LITERAL;
	n->seen |= name_bit(name_hash);
}

/* The child of parent along this edge, created if it is missing; 0 on failure. */
static uint32_t child_of(struct trie *t, uint32_t parent, const struct component *k)
{
	uint32_t name = compile_string_n(t->c, k->name, k->n);
	uint32_t name_hash = hash_name(k->name, k->n);
	uint32_t hash = hash_edge(parent | k->form, name_hash);
	struct path_edge *e;

	if (t->n_edges * 2 >= t->cap_edges)
		edges_grow(t);
	if (t->err || name == 0)
		return 0;
	e = edge_slot(t->edges, t->cap_edges, parent | k->form, hash, name);
	if (e->child)
		return e->child;
	*e = (struct path_edge){ parent | k->form, hash, name,
				 node_new(t, parent, k->flags, node_of(t, parent)->out.spec + k->spec) };
	t->n_edges++;
	note_edge(&node_of(t, parent)->out, k->form, name_hash);
	return e->child;
}

static uint32_t any_of(struct trie *t, uint32_t parent)
{
	uint32_t child;

	if (node_of(t, parent)->out.flags & NODE_ANY_DEPTH)
		return parent;
	if (node_of(t, parent)->out.any)
		return node_of(t, parent)->out.any;
	child = node_new(t, parent, NODE_ANY_DEPTH, node_of(t, parent)->out.spec);
	if (child)
		node_of(t, parent)->out.any = child;
	return child;
}

/* True for `*.ext` where ext has neither dot nor glob: it is found by hash, without matching globs. */
static bool is_suffix(const char *s, size_t n)
{
	return n > 2 && s[0] == '*' && s[1] == '.' && glob_is_literal(s + 2, n - 2) &&
	       !memchr(s + 2, '.', n - 2) && !memchr(s + 2, '\\', n - 2);
}

static size_t unquote(const char *s, size_t n, char *buf)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		buf[len++] = s[i];
	}
	return len;
}

static uint32_t descend(struct trie *t, uint32_t parent, const char *s, size_t n)
{
	char name[LIMIT_PATH] UNINITIALIZED;
	struct component k = { .name = s, .n = n };

	if (n == 2 && s[0] == '*' && s[1] == '*')
		return any_of(t, parent);
	if (glob_is_literal(s, n)) {
		k.flags = NODE_NAMED | (node_of(t, parent)->out.flags & NODE_EXACT);
		k.spec = SPEC_LITERAL;
		k.n = unquote(s, n, name);
		k.name = name;
	} else if (is_suffix(s, n)) {
		k.form = EDGE_SUFFIX;
		k.spec = SPEC_PARTIAL;
		k.name = s + 1;
		k.n = n - 1;
	} else {
		k.form = EDGE_GLOB;
		k.spec = n == 1 && s[0] == '*' ? SPEC_STAR : SPEC_PARTIAL;
	}
	return child_of(t, parent, &k);
}

/* Keeps only the first of several rules of one kind, layer and rank for a path: the others never decide. */
static void add_ref(struct trie *t, uint32_t node, const struct path_ref *r)
{
	struct ref *refs = (struct ref *)(void *)t->refs.p, new = { .out = *r };

	for (uint32_t i = node_of(t, node)->first_ref; i; i = refs[i - 1].next)
		if (refs[i - 1].out.kind == r->kind && refs[i - 1].out.layer == r->layer &&
		    refs[i - 1].out.rank == r->rank)
			return;
	new.next = node_of(t, node)->first_ref;
	bytes_put(&t->refs, &new, sizeof(new));
	if (t->refs.err) {
		t->err = t->refs.err;
		return;
	}
	node_of(t, node)->first_ref = (uint32_t)(t->refs.len / sizeof(new));
	node_of(t, node)->out.n_ref++;
}

/* The workspace's rule is built in and has no line; a decision by it names a reason instead of the rule. */
static bool is_workspace(const struct rule *r)
{
	return r->kind == RULE_FILE_WRITE && r->line == 0 && r->text && strcmp(r->text, "the workspace") == 0;
}

static void add_rule(struct trie *t, const struct rule *r, enum rule_kind kind, uint32_t index)
{
	const struct path_ref ref = { .rule = index,
				      .kind = (uint8_t)kind,
				      .layer = (uint8_t)r->layer,
				      .rank = (uint8_t)r->rank,
				      .inside = is_workspace(r) };
	uint32_t node = 0;

	for (const char *p = r->pattern; *p && !t->err;) {
		const char *end = strchrnul(p, '/');
		size_t n = (size_t)(end - p);

		if (n > 0 && !(n == 1 && *p == '.'))
			node = descend(t, node, p, n);
		p = *end ? end + 1 : end;
	}
	if (!t->err && !t->c->err)
		add_ref(t, node, &ref);
}

/* --- which directories must not move ---------------------------------------------------------------- */

static bool keeps_in_place(unsigned kind)
{
	return kind == RULE_FILE_DENY || kind == RULE_FILE_READONLY || kind == RULE_FILE_KEEP ||
	       kind == RULE_FILE_SENSITIVE || kind == RULE_FILE_SELF || kind == RULE_FILE_HIDDEN;
}

static bool is_hard_kind(unsigned kind)
{
	return kind == RULE_FILE_SENSITIVE || kind == RULE_FILE_SELF || kind == RULE_FILE_HIDDEN;
}

/* True if a write rule of the same layer and a higher rank lifts the protection. */
static bool is_lifted(const struct ref *refs, uint32_t first, const struct path_ref *by)
{
	if (is_hard_kind(by->kind))
		return false;
	for (uint32_t i = first; i; i = refs[i - 1].next)
		if (refs[i - 1].out.kind == RULE_FILE_WRITE && refs[i - 1].out.layer == by->layer &&
		    refs[i - 1].out.rank > by->rank)
			return true;
	return false;
}

static uint32_t protected_by(const struct trie *t, const struct node *n)
{
	const struct ref *refs = (const struct ref *)(const void *)t->refs.p;

	for (uint32_t i = n->first_ref; i; i = refs[i - 1].next)
		if (keeps_in_place(refs[i - 1].out.kind) && !is_lifted(refs, n->first_ref, &refs[i - 1].out))
			return refs[i - 1].out.rule;
	return RULE_NONE;
}

static void set_guards(struct trie *t)
{
	for (uint32_t i = n_nodes(t); i-- > 1;) {
		const struct node *n = node_of(t, i);
		struct path_node *parent = &node_of(t, n->parent)->out;
		uint32_t rule = protected_by(t, n);

		/* From the end to the front, so that the first rule is the one that is reported. */
		if (rule == RULE_NONE)
			rule = n->out.guard;
		if (rule != RULE_NONE)
			parent->guard = rule;
	}
}

/* True if a rule allows writing the path: then the directories above it may be created too.  The rules of
 * an untrusted project do not count (ballot.h). */
static bool is_granted(const struct trie *t, const struct node *n)
{
	const struct ref *refs = (const struct ref *)(const void *)t->refs.p;

	for (uint32_t i = n->first_ref; i; i = refs[i - 1].next)
		if (refs[i - 1].out.kind == RULE_FILE_WRITE && refs[i - 1].out.layer != LAYER_PROJECT)
			return true;
	return false;
}

static void set_ways(struct trie *t)
{
	for (uint32_t i = n_nodes(t); i-- > 1;) {
		const struct node *n = node_of(t, i);

		if (n->out.flags & NODE_WAY || (n->out.flags & NODE_EXACT && is_granted(t, n)))
			node_of(t, n->parent)->out.flags |= NODE_WAY;
	}
}

/* --- flat ------------------------------------------------------------------------------------------- */

static void write_refs(struct trie *t)
{
	const struct ref *refs = (const struct ref *)(const void *)t->refs.p;
	uint32_t at = 0, at_glob = 0;

	for (uint32_t i = 0; i < n_nodes(t); i++) {
		struct node *n = node_of(t, i);

		n->out.ref = at;
		n->out.glob = at_glob;
		at += n->out.n_ref;
		at_glob += n->out.n_glob;
		for (uint32_t j = n->first_ref; j; j = refs[j - 1].next)
			compile_section(t->c, SEC_PATH_REF, &refs[j - 1].out, sizeof(refs[0].out));
		compile_section(t->c, SEC_PATH_NODE, &n->out, sizeof(n->out));
	}
}

static uint8_t fixed_byte(char c)
{
	return strchr("*?[]\\", c) ? 0 : (uint8_t)c;
}

static void put_glob(struct trie *t, struct path_glob *globs, const struct path_edge *e, uint32_t *used)
{
	uint32_t parent = e->parent & ~EDGE_GLOB;
	const char *s = (const char *)t->c->sec[SEC_STRINGS].p + e->name;
	size_t n = strlen(s);
	uint8_t last = n > 1 && s[n - 2] == '\\' ? 0 : fixed_byte(s[n - 1]);

	/* A last byte inside an unclosed bracket is literal too, so it may be used. */
	globs[node_of(t, parent)->out.glob + used[parent]++] =
		(struct path_glob){ e->name, e->child, (uint16_t)n, fixed_byte(s[0]), last };
}

static int write_edges(struct trie *t)
{
	size_t n_globs = 0, cap = 1;
	uint32_t *used = calloc(n_nodes(t) + 1, sizeof(*used));
	struct path_edge *flat;
	struct path_glob *globs;

	for (size_t i = 0; i < t->cap_edges; i++)
		n_globs += t->edges[i].child && t->edges[i].parent & EDGE_GLOB;
	while (cap < (t->n_edges - n_globs) * 2 + 1)
		cap *= 2;
	flat = calloc(cap, sizeof(*flat));
	globs = calloc(n_globs + 1, sizeof(*globs));
	for (size_t i = 0; used && flat && globs && i < t->cap_edges; i++) {
		const struct path_edge *e = &t->edges[i];

		if (e->child && e->parent & EDGE_GLOB)
			put_glob(t, globs, e, used);
		else if (e->child)
			*edge_slot(flat, cap, e->parent, e->hash, e->name) = *e;
	}
	if (!used || !flat || !globs)
		t->err = -ENOMEM;
	if (!t->err)
		t->err = compile_section(t->c, SEC_PATH_EDGE, flat, cap * sizeof(*flat));
	if (!t->err)
		t->err = compile_section(t->c, SEC_PATH_GLOB, globs, n_globs * sizeof(*globs));
	free(used);
	free(flat);
	free(globs);
	return t->err;
}

static bool is_path_kind(enum rule_kind kind)
{
	return kind <= RULE_FILE_HIDDEN || kind == RULE_NET_UNIX || kind == RULE_FILE_GIT ||
	       kind == RULE_FILE_PLACE || kind == RULE_FILE_HOME;
}

/* True for a rule to leave out: a sensitive root that is lifted, or a rule that needs a check of the
 * content at level hooks, where there is no supervisor to make the check and a process can avoid the
 * hooks. */
static bool is_for_nobody(const struct settings *s, const struct rule *r)
{
	bool needs_look = r->kind == RULE_FILE_GIT || (r->kind == RULE_FILE_WRITE && r->rank == RANK_BUILTIN);

	return (r->kind == RULE_FILE_SENSITIVE && s->allow_sensitive && s->home == HOME_OPEN) ||
	       (needs_look && s->level == LEVEL_HOOKS);
}

/* If the home is closed, a sensitive root that --allow-sensitive-roots lifts needs a rule that opens it. */
static enum rule_kind kind_here(const struct settings *s, const struct rule *r)
{
	return r->kind == RULE_FILE_SENSITIVE && s->allow_sensitive ? RULE_FILE_READ : r->kind;
}

static int compile_rule(struct trie *t, const struct policy *p, uint32_t i, struct diags *d)
{
	const struct rule *r = &p->rules[i];
	const char *pattern = r->pattern ? r->pattern : "";
	const struct unix_name u = { compile_string(t->c, pattern), i };

	if (is_for_nobody(&p->s, r))
		return 0;
	if (r->kind == RULE_NET_UNIX && pattern[0] == '@')
		return compile_section(t->c, SEC_UNIX, &u, sizeof(u));
	if (pattern[0] != '/' || strlen(pattern) >= LIMIT_PATH || path_has_dotdot(pattern)) {
		int err = compile_error(d, r, "bad-path", "not an absolute, normalised path");

		return err ? err : -EBADMSG;
	}
	add_rule(t, r, kind_here(&p->s, r), i);
	return t->err ? t->err : t->c->err;
}

int compile_path(struct compiler *c, const struct policy *p, struct diags *d)
{
	struct trie t = { .c = c };
	int err = 0, bad = 0;

	node_new(&t, 0, NODE_NAMED | NODE_EXACT, 0);
	edges_grow(&t);
	for (size_t i = 0; i < p->n_rules && !t.err && (!err || err == -EBADMSG); i++) {
		err = is_path_kind(p->rules[i].kind) ? compile_rule(&t, p, (uint32_t)i, d) : 0;
		if (err)
			bad = err;
	}
	if (!bad && !t.err) {
		set_guards(&t);
		set_ways(&t);
		write_refs(&t);
		bad = write_edges(&t);
	}
	bytes_done(&t.nodes);
	bytes_done(&t.refs);
	free(t.edges);
	return t.err ? t.err : bad ? bad : c->err;
}
