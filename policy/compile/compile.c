/*
 * Rules to image: strings, the rule table, the header, and the sections one after the other.
 *
 * Guarantees that the same policy gives the same bytes (the id is made from the content), and that
 * an image has no uninitialised bytes.  Allocates; runs in the helper and in tools.
 */
#include "compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/image/layout.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

#define MIN_CAP	   4096u
#define IMAGE_MAX  (256u << 20)
#define CHECK_FROM (offsetof(struct image_header, checksum) + sizeof(uint64_t))

static bool bytes_reserve(struct bytes *b, size_t n)
{
	size_t need, cap = b->cap ? b->cap : MIN_CAP;
	uint8_t *p;

	if (b->err)
		return false;
	if (__builtin_add_overflow(b->len, n, &need) || need > IMAGE_MAX) {
		b->err = -E2BIG;
		return false;
	}
	if (need <= b->cap)
		return true;
	while (cap < need)
		cap *= 2;
	p = realloc(b->p, cap);
	if (!p) {
		b->err = -ENOMEM;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void bytes_put(struct bytes *b, const void *data, size_t n)
{
	if (n == 0 || !bytes_reserve(b, n) || !b->p)
		return;
	memcpy(b->p + b->len, data, n);
	b->len += n;
}

void bytes_u8(struct bytes *b, uint8_t v)
{
	bytes_put(b, &v, sizeof(v));
}

void bytes_u32(struct bytes *b, uint32_t v)
{
	bytes_put(b, &v, sizeof(v));
}

void bytes_align(struct bytes *b, size_t n)
{
	static const uint8_t zero[64];
	size_t over = b->len & (n - 1);

	if (over && n <= sizeof(zero))
		bytes_put(b, zero, n - over);
}

void bytes_done(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}

static const char *interned(const struct compiler *c, uint32_t off)
{
	return (const char *)c->sec[SEC_STRINGS].p + off;
}

/* The slot of s, or the free slot for it. */
static uint32_t *intern_slot(struct compiler *c, const char *s, size_t n)
{
	size_t mask = c->intern_cap - 1;

	for (size_t i = hash_name(s, n) & mask;; i = (i + 1) & mask) {
		const char *have = interned(c, c->intern[i]);

		if (c->intern[i] == 0 || (strncmp(have, s, n) == 0 && have[n] == '\0'))
			return &c->intern[i];
	}
}

static bool intern_grow(struct compiler *c)
{
	size_t old_cap = c->intern_cap, cap = old_cap ? old_cap * 2 : 4096;
	uint32_t *old = c->intern, *new = calloc(cap, sizeof(*new));

	if (!new) {
		c->err = -ENOMEM;
		return false;
	}
	c->intern = new;
	c->intern_cap = cap;
	for (size_t i = 0; i < old_cap; i++) {
		const char *str = interned(c, old[i]);

		/* image_compile() frees the table. */
		if (old[i])
			*intern_slot(c, str, strlen(str)) = old[i]; // NOLINT(clang-analyzer-unix.Malloc)
	}
	free(old);
	return true;
}

uint32_t compile_string_n(struct compiler *c, const char *s, size_t n)
{
	struct bytes *b = &c->sec[SEC_STRINGS];
	uint32_t *slot, off;

	if (c->err || !s || n == 0 || memchr(s, '\0', n))
		return 0;
	if (b->len == 0)
		bytes_u8(b, 0); /* offset 0 is "" */
	if (b->err || (c->intern_n * 2 >= c->intern_cap && !intern_grow(c)))
		return 0;
	slot = intern_slot(c, s, n);
	if (*slot != 0)
		return *slot;
	off = (uint32_t)b->len;
	bytes_put(b, s, n);
	bytes_u8(b, 0);
	if (b->err)
		return 0;
	*slot = off;
	c->intern_n++;
	return off;
}

uint32_t compile_string(struct compiler *c, const char *s)
{
	return s ? compile_string_n(c, s, strlen(s)) : 0;
}

int compile_section(struct compiler *c, enum image_section_id id, const void *data, size_t len)
{
	bytes_put(&c->sec[id], data, len);
	if (c->sec[id].err && !c->err)
		c->err = c->sec[id].err;
	return c->err;
}

int compile_error(struct diags *d, const struct rule *r, const char *code, const char *text)
{
	const char *shown = r->text ? r->text : "";

	return diag_add(d, SEVERITY_ERROR, code, r->file ? r->file : "", r->line, r->col, NULL, "%s: `%s`",
			text, shown);
}

static bool is_hard(enum rule_kind kind)
{
	return kind == RULE_FILE_SENSITIVE || kind == RULE_FILE_SELF || kind == RULE_FILE_HIDDEN ||
	       kind == RULE_CMD_DENYLIST;
}

static void compile_rules(struct compiler *c, const struct policy *p)
{
	uint32_t file = 0;

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		/* The rules of one file are consecutive. */
		bool same = i > 0 && r->file && r[-1].file && strcmp(r->file, r[-1].file) == 0;
		const struct image_rule ir = {
			.text = compile_string(c, r->text),
			.pattern = compile_string(c, r->pattern),
			.file = same ? file : compile_string(c, r->file),
			.message = compile_string(c, r->message),
			.line = r->line,
			.kind = (uint8_t)r->kind,
			.layer = (uint8_t)r->layer,
			.rank = (uint8_t)r->rank,
			.hard = is_hard(r->kind),
			.absent = r->absent,
			.proof = p->s.proves && r->kind == RULE_CMD_ALLOW && r->rank != RANK_PRESET &&
				 !r->unproven,
		};

		file = ir.file;
		compile_section(c, SEC_RULES, &ir, sizeof(ir));
	}
}

static void compile_pass(struct compiler *c, const struct policy *p)
{
	for (size_t i = 0; i < p->n_environ; i++) {
		uint32_t off;

		if (p->environ[i].kind != ENVIRON_PASS)
			continue;
		off = compile_string(c, p->environ[i].pattern);
		compile_section(c, SEC_PASS, &off, sizeof(off));
	}
}

static void compile_idents(struct compiler *c, const struct policy *p)
{
	for (size_t i = 0; i < p->n_idents; i++) {
		struct image_ident id = { .name = compile_string(c, p->idents[i].name) };

		memcpy(id.build_id, p->idents[i].build_id, sizeof(id.build_id));
		compile_section(c, SEC_IDENT, &id, sizeof(id));
	}
}

static int compile_outer(struct compiler *c, const struct image *outer)
{
	struct image around;
	unsigned depth = 1;

	if (!outer || !outer->h)
		return 0;
	for (around = *outer; image_outer(&around, &around); depth++)
		;
	/* The evaluator would deny everything at this depth: refuse the policy here instead. */
	if (depth >= LIMIT_DEPTH)
		return -E2BIG;
	return compile_section(c, SEC_OUTER, outer->base, outer->size);
}

static void fill_settings(struct image_header *h, const struct settings *s)
{
	h->mode = (uint8_t)s->mode;
	h->approvals = (uint8_t)s->approvals;
	h->reads = (uint8_t)s->reads;
	h->network = (uint8_t)s->network;
	h->relative_only = s->relative_only;
	h->children_in_ro = s->children_in_ro;
	h->allow_sensitive = s->allow_sensitive;
	h->allow_denylisted = s->allow_denylisted;
	h->allow_danger = s->allow_danger;
	h->allow_unhooked = s->allow_unhooked;
	h->observe = s->observe;
	h->cmd_default = s->cmd_default;
	h->net_default = s->net_default;
	h->push = s->push;
	h->timeout_s = s->timeout_s;
	h->level = (uint8_t)s->level;
	h->stepup = (uint8_t)s->stepup;
	h->launch = (uint8_t)s->launch;
}

static int write_sections(const struct compiler *c, struct bytes *out, struct image_header *h)
{
	size_t all = sizeof(*h);

	for (size_t i = 0; i < SEC_COUNT; i++)
		all += c->sec[i].len + 8;
	if (!bytes_reserve(out, all))
		return out->err;
	bytes_put(out, h, sizeof(*h));
	for (size_t i = 0; i < SEC_COUNT; i++) {
		const struct bytes *s = &c->sec[i];

		if (s->len == 0)
			continue;
		bytes_align(out, 8);
		h->sec[i] = (struct image_span){ (uint32_t)out->len, (uint32_t)s->len };
		bytes_put(out, s->p, s->len);
	}
	bytes_align(out, 8);
	return out->err;
}

/* Pass and time are not part of the id: the same policy has the same id in every session. */
static int compile_finish(const struct compiler *c, struct image_header *h, uint64_t pass, uint64_t began,
			  uint8_t **ret_bytes, size_t *ret_size)
{
	struct bytes out = { 0 };
	int err = write_sections(c, &out, h);

	if (err) {
		bytes_done(&out);
		return err;
	}
	h->magic = IMAGE_MAGIC;
	h->version = IMAGE_NUMBERS;
	h->size = (uint32_t)out.len;
	memcpy(out.p, h, sizeof(*h));
	h->id = image_checksum(out.p + CHECK_FROM, out.len - CHECK_FROM);
	h->pass = pass;
	h->began = began;
	memcpy(out.p, h, sizeof(*h));
	h->checksum = image_checksum(out.p + CHECK_FROM, out.len - CHECK_FROM);
	memcpy(out.p, h, sizeof(*h));
	*ret_bytes = out.p;
	*ret_size = out.len;
	return 0;
}

static int compile_parts(struct compiler *c, const struct policy *p, const struct image *outer,
			 struct diags *d)
{
	static int (*const parts[])(struct compiler *, const struct policy *, struct diags *) = {
		compile_path,
		compile_host,
		compile_cmd,
	};
	int err = compile_outer(c, outer), bad = 0;

	if (err)
		return err;
	bytes_u8(&c->sec[SEC_STRINGS], 0);
	compile_rules(c, p);
	compile_pass(c, p);
	compile_idents(c, p);
	/* Every part reports its findings before the policy is refused. */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !c->err; i++) {
		err = parts[i](c, p, d);
		if (err && err != -EBADMSG)
			return err;
		if (err)
			bad = err;
	}
	for (size_t i = 0; i < SEC_COUNT && !c->err; i++)
		c->err = c->sec[i].err;
	return c->err ? c->err : bad;
}

int image_compile(const struct policy *p, const struct image *outer, struct diags *d, uint8_t **ret_bytes,
		  size_t *ret_size)
{
	struct compiler c = { 0 };
	struct image_header h = { 0 };
	const struct image_header *around = outer ? outer->h : NULL;
	int err = compile_parts(&c, p, outer, d);

	fill_settings(&h, &p->s);
	h.parent = around ? around->id : 0;
	/* The whole session has one filter, so a nested run has the level of the outer one. */
	if (around)
		h.level = around->level;
	h.workspace = compile_string(&c, p->workspace);
	h.home = compile_string(&c, p->home);
	h.git_head = compile_string(&c, p->git_head ? p->git_head : "");
	h.git_unborn = around ? around->git_unborn : p->git_unborn;
	h.preset = compile_string(&c, p->preset);
	if (!err)
		err = c.err ? c.err : c.sec[SEC_STRINGS].err;
	if (!err)
		err = compile_finish(&c, &h, around ? around->pass : p->s.pass,
				     around ? around->began : p->s.began, ret_bytes, ret_size);
	for (size_t i = 0; i < SEC_COUNT; i++)
		bytes_done(&c.sec[i]);
	free(c.intern);
	return err;
}
