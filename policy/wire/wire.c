/*
 * The wire protocol's codec.  Frames are built and read through buf.h alone, so no length that a
 * peer wrote is ever trusted.  A frame that no encoder here makes (other version, unknown bit,
 * string over its limit, bytes left over) does not decode.
 *
 * Linked into the preload: no allocation, no system call, no state.
 */
#include "wire.h"

#include <errno.h>
#include <string.h>

/* Flags above the bits of the optional strings. */
#define ASK_HAS_ADDR 0x1000u
#define ASK_IS_ROOT  0x2000u
#define ASK_DATAGRAM 0x4000u
#define ASK_HAS_ENV  0x8000u
#define ASK_IS_HERE  0x10000u
#define ASK_FLAGS    (ASK_HAS_ADDR | ASK_IS_ROOT | ASK_DATAGRAM | ASK_HAS_ENV | ASK_IS_HERE)

/* The optional strings of a request, in the order of the frame; bit i of the flags says that string i is
 * there. */
static const struct {
	size_t off;
	size_t limit;
} strings[] = {
	{ offsetof(struct request, path), LIMIT_PATH },
	{ offsetof(struct request, given), LIMIT_PATH },
	{ offsetof(struct request, raw), LIMIT_PATH },
	{ offsetof(struct request, ident), LIMIT_HOST },
	{ offsetof(struct request, cwd), LIMIT_PATH },
	{ offsetof(struct request, git_branch), LIMIT_PATH },
	{ offsetof(struct request, host), LIMIT_HOST },
	{ offsetof(struct request, aim), LIMIT_PATH },
	{ offsetof(struct request, file), LIMIT_HOST },
	{ offsetof(struct request, loads), LIMIT_PATH },
	{ offsetof(struct request, loads_ident), LIMIT_HOST },
	{ offsetof(struct request, variable), LIMIT_HOST },
};

#define N_STRINGS   (sizeof(strings) / sizeof(strings[0]))
#define ASK_STRINGS ((1u << N_STRINGS) - 1)

static const char *string_of(const struct request *req, size_t i)
{
	const char *s;

	memcpy(&s, (const char *)req + strings[i].off, sizeof(s));
	return s;
}

static void string_set(struct request *req, size_t i, const char *s)
{
	memcpy((char *)req + strings[i].off, &s, sizeof(s));
}

static void put_header(struct out *o, enum wire_type type)
{
	put_u32(o, WIRE_MAGIC);
	put_u16(o, WIRE_VERSION);
	put_u16(o, (uint16_t)type);
}

static bool get_header(struct cursor *c, enum wire_type type)
{
	uint32_t magic = get_u32(c);
	uint16_t version = get_u16(c);
	uint16_t got = get_u16(c);

	return !c->failed && magic == WIRE_MAGIC && version == WIRE_VERSION && got == type;
}

int wire_type(const void *frame, size_t len)
{
	for (int type = WIRE_ASK; type <= WIRE_BEHALF; type++) {
		struct cursor c = cursor_of(frame, len);

		if (get_header(&c, (enum wire_type)type))
			return type;
	}
	return -EPROTO;
}

static int frame_len(const struct out *o)
{
	if (o->failed || o->len > LIMIT_FRAME)
		return -EMSGSIZE;
	return (int)o->len;
}

int wire_put_ask(void *frame, size_t cap, const struct request *req, uint32_t rule, uint32_t image,
		 int32_t pid)
{
	struct out o = out_of(frame, cap);
	uint32_t flags = (req->has_addr ? ASK_HAS_ADDR : 0) | (req->is_root ? ASK_IS_ROOT : 0) |
			 (req->is_datagram ? ASK_DATAGRAM : 0) | (req->env ? ASK_HAS_ENV : 0) |
			 (req->is_here ? ASK_IS_HERE : 0);
	uint32_t envc = 0;

	if (req->argc > LIMIT_ARGC || (req->argc > 0 && !req->argv))
		return -EMSGSIZE;
	for (size_t i = 0; i < N_STRINGS; i++) {
		const char *s = string_of(req, i);

		if (s && strlen(s) >= strings[i].limit)
			return -EMSGSIZE;
		flags |= s ? 1u << i : 0;
	}
	put_header(&o, WIRE_ASK);
	put_u32(&o, flags);
	put_u32(&o, (uint32_t)pid);
	put_u32(&o, rule);
	put_u32(&o, image);
	put_u16(&o, (uint16_t)req->op);
	put_u16(&o, (uint16_t)req->access);
	put_u16(&o, req->port);
	if (req->has_addr)
		put_bytes(&o, req->addr, sizeof(req->addr));
	for (size_t i = 0; i < N_STRINGS; i++)
		if (flags & (1u << i))
			put_str(&o, string_of(req, i));
	put_u32(&o, (uint32_t)req->argc);
	for (size_t i = 0; i < req->argc; i++) {
		if (!req->argv[i])
			return -EMSGSIZE;
		put_str(&o, req->argv[i]);
	}
	if (!req->env)
		return frame_len(&o);
	while (envc <= WIRE_ENV && req->env[envc])
		envc++;
	if (envc > WIRE_ENV)
		return -EMSGSIZE;
	put_u32(&o, envc);
	for (uint32_t i = 0; i < envc; i++)
		put_str(&o, req->env[i]);
	return frame_len(&o);
}

static bool get_strings(struct cursor *c, uint32_t flags, struct request *req)
{
	for (size_t i = 0; i < N_STRINGS; i++) {
		const char *s;

		if (!(flags & (1u << i)))
			continue;
		s = get_str(c);
		if (c->failed || strlen(s) >= strings[i].limit)
			return false;
		string_set(req, i, s);
	}
	return true;
}

/* Reads a count, at most max, and that many strings; puts NULL after them. */
static bool get_list(struct cursor *c, const char **store, size_t max, size_t *ret_n)
{
	uint32_t n = get_u32(c);

	if (c->failed || n > max)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		store[i] = get_str(c);
		if (c->failed)
			return false;
	}
	store[n] = NULL;
	*ret_n = n;
	return true;
}

static bool get_lists(struct cursor *c, uint32_t flags, struct wire_ask *ret)
{
	size_t envc;

	if (!get_list(c, ret->argv_store, LIMIT_ARGC, &ret->req.argc))
		return false;
	ret->req.argv = ret->req.argc > 0 ? ret->argv_store : NULL;
	if (!(flags & ASK_HAS_ENV))
		return true;
	ret->req.env = ret->env_store;
	return get_list(c, ret->env_store, WIRE_ENV, &envc);
}

int wire_get_ask(const void *frame, size_t len, struct wire_ask *ret)
{
	struct cursor c = cursor_of(frame, len);
	uint32_t flags;
	uint16_t op, access;

	if (len > LIMIT_FRAME || !get_header(&c, WIRE_ASK))
		return -EPROTO;
	memset(&ret->req, 0, sizeof(ret->req));
	flags = get_u32(&c);
	ret->pid = (int32_t)get_u32(&c);
	ret->rule = get_u32(&c);
	ret->image = get_u32(&c);
	op = get_u16(&c);
	access = get_u16(&c);
	ret->req.port = get_u16(&c);
	if (c.failed || (flags & ~(ASK_STRINGS | ASK_FLAGS)))
		return -EPROTO;
	if (op == OP_NONE || op >= OP_COUNT || op == OP_ATTACH || access > ACCESS_ALL)
		return -EPROTO;
	ret->req.op = (enum op)op;
	ret->req.access = access;
	ret->req.is_root = flags & ASK_IS_ROOT;
	ret->req.has_addr = flags & ASK_HAS_ADDR;
	ret->req.is_datagram = flags & ASK_DATAGRAM;
	ret->req.is_here = flags & ASK_IS_HERE;
	if (ret->req.has_addr) {
		const void *addr = get_bytes(&c, sizeof(ret->req.addr));

		if (!addr)
			return -EPROTO;
		memcpy(ret->req.addr, addr, sizeof(ret->req.addr));
	}
	if (!get_strings(&c, flags, &ret->req) || !get_lists(&c, flags, ret) || c.left != 0)
		return -EPROTO;
	return 0;
}

int wire_put_answer(void *frame, size_t cap, const struct wire_answer *a)
{
	struct out o = out_of(frame, cap);

	put_header(&o, WIRE_ANSWER);
	put_u32(&o, (uint32_t)a->verdict);
	put_u16(&o, (uint16_t)a->reason);
	put_str(&o, a->text);
	put_str(&o, a->approval);
	return frame_len(&o);
}

int wire_get_answer(const void *frame, size_t len, struct wire_answer *ret)
{
	struct cursor c = cursor_of(frame, len);
	uint32_t verdict;
	uint16_t reason;

	if (len > LIMIT_FRAME || !get_header(&c, WIRE_ANSWER))
		return -EPROTO;
	verdict = get_u32(&c);
	reason = get_u16(&c);
	ret->text = get_str(&c);
	ret->approval = get_str(&c);
	if (c.failed || c.left != 0 || reason >= REASON_COUNT)
		return -EPROTO;
	if (verdict != VERDICT_ALLOW && verdict != VERDICT_DENY)
		return -EPROTO;
	ret->verdict = (enum verdict)verdict;
	ret->reason = (enum reason)reason;
	return 0;
}

int wire_put_narrow(void *frame, size_t cap, uint32_t image)
{
	struct out o = out_of(frame, cap);

	put_header(&o, WIRE_NARROW);
	put_u32(&o, image);
	return frame_len(&o);
}

int wire_get_narrow(const void *frame, size_t len, uint32_t *ret_image)
{
	struct cursor c = cursor_of(frame, len);
	uint32_t image;

	if (!get_header(&c, WIRE_NARROW))
		return -EPROTO;
	image = get_u32(&c);
	if (c.failed || c.left != 0 || image > WIRE_IMAGE_MAX)
		return -EPROTO;
	*ret_image = image;
	return 0;
}

int wire_put_narrowed(void *frame, size_t cap, const struct wire_narrowed *n)
{
	struct out o = out_of(frame, cap);

	put_header(&o, WIRE_NARROWED);
	put_u32(&o, n->image);
	put_str(&o, n->text);
	return frame_len(&o);
}

int wire_get_narrowed(const void *frame, size_t len, struct wire_narrowed *ret)
{
	struct cursor c = cursor_of(frame, len);
	struct wire_narrowed n;

	if (len > LIMIT_FRAME || !get_header(&c, WIRE_NARROWED))
		return -EPROTO;
	n.image = get_u32(&c);
	n.text = get_str(&c);
	if (c.failed || c.left != 0 || (n.image > WIRE_IMAGE_MAX && n.image != WIRE_IMAGE_NONE))
		return -EPROTO;
	*ret = n;
	return 0;
}

int wire_put_behalf(void *frame, size_t cap, const struct wire_behalf *b)
{
	struct out o = out_of(frame, cap);

	put_header(&o, WIRE_BEHALF);
	put_bytes(&o, b->nonce, sizeof(b->nonce));
	put_u32(&o, (uint32_t)b->pid);
	return frame_len(&o);
}

int wire_get_behalf(const void *frame, size_t len, struct wire_behalf *ret)
{
	struct cursor c = cursor_of(frame, len);
	const void *nonce;

	if (!get_header(&c, WIRE_BEHALF))
		return -EPROTO;
	nonce = get_bytes(&c, sizeof(ret->nonce));
	ret->pid = (int32_t)get_u32(&c);
	if (c.failed || c.left != 0 || ret->pid <= 0)
		return -EPROTO;
	memcpy(ret->nonce, nonce, sizeof(ret->nonce));
	return 0;
}

void wire_image_name(char name[WIRE_IMAGE_NAME], uint32_t number)
{
	struct out o = out_of(name, WIRE_IMAGE_NAME);

	text_str(&o, WIRE_IMAGE_FILE);
	if (number > 0) {
		text_str(&o, ".");
		text_uint(&o, number);
	}
	text_end(&o);
}

int wire_image_number(const char *name)
{
	char own[WIRE_IMAGE_NAME];

	for (uint32_t i = 0; i <= WIRE_IMAGE_MAX; i++) {
		wire_image_name(own, i);
		if (strcmp(name, own) == 0)
			return (int)i;
	}
	return -EINVAL;
}
