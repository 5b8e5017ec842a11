/*
 * A valid image with bytes changed at will: opening and judging with it must stay inside it and
 * come to an end.  Input: triples of (u32 offset, u8 how, u8 value), then text that becomes the
 * path, host and words of the requests.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/judge/eval.h"
#include "policy/parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *image, *copy;
static size_t image_size;

static const struct {
	enum rule_kind kind;
	const char *pattern;
} rules[] = {
	{ RULE_FILE_WRITE, "/ws" },	      { RULE_FILE_DENY, "/**/.env" },
	{ RULE_FILE_KEEP, "/**/*.sqlite" },   { RULE_FILE_READONLY, "/ws/.git/hooks" },
	{ RULE_FILE_SENSITIVE, "/h/*/.ssh" }, { RULE_FILE_ASK, "/h/[a-z]?/D*" },
	{ RULE_FILE_SYSTEM, "/usr" },	      { RULE_NET_ALLOW, "*.example.org:443" },
	{ RULE_NET_DENY, "10.0.0.0/8" },      { RULE_NET_ALLOW, "localhost:3000-3999" },
	{ RULE_NET_UNIX, "@/tmp/*" },	      { RULE_NET_BIND, "8080" },
	{ RULE_CMD_ALLOW, "git status" },     { RULE_CMD_DENY, "git push origin (main|master)" },
	{ RULE_CMD_ASK, "npm publish ..." },  { RULE_CMD_DENYLIST, "rm -rf /" },
	{ RULE_BRANCH, "release/*" },
};

static void build(const struct image *outer)
{
	struct policy p;
	struct diags d;
	uint8_t *bytes;

	policy_init(&p);
	diags_init(&d);
	p.s.mode = MODE_WORKSPACE_WRITE;
	p.s.approvals = APPROVALS_ASK;
	p.s.network = NETWORK_MERGE;
	p.s.net_default = p.s.cmd_default = VERDICT_ASK;
	p.workspace = strdup("/ws");
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct rule *r = policy_add(&p);

		r->kind = rules[i].kind;
		r->layer = LAYER_USER;
		r->rank = RANK_USER;
		r->line = (unsigned)i + 1;
		r->text = strdup(rules[i].pattern);
		r->pattern = strdup(rules[i].pattern);
		r->file = strdup("policy.ini");
	}
	if (image_compile(&p, outer, &d, &bytes, &image_size) < 0)
		abort();
	image = bytes;
	policy_done(&p);
	diags_done(&d);
}

static void setup(void)
{
	struct image outer;
	uint8_t *first;

	if (image)
		return;
	build(NULL);
	first = image;
	if (image_open_checked(&outer, first, image_size) < 0)
		abort();
	build(&outer);
	free(first);
	copy = malloc(image_size);
}

/* Changes that random bytes would seldom make: small numbers, and off by one. */
static void mutate(uint8_t *at, size_t room, uint8_t how, uint8_t value)
{
	uint32_t v = value;

	if (how % 4 == 0 || room < 4) {
		at[0] = value;
		return;
	}
	memcpy(&v, at, 4);
	v = how % 4 == 1 ? value : how % 4 == 2 ? v + (uint32_t)(int8_t)value : UINT32_MAX - value;
	memcpy(at, &v, 4);
}

static void judge(const struct image *img, const char *text)
{
	const char *argv[] = { "git", text, "origin", text, NULL };
	struct request req = {
		.path = text, .given = "/ws/x", .raw = text, .argv = argv, .argc = 4, .host = text
	};
	struct trace t;
	char buf[300];

	for (unsigned op = OP_NONE; op <= OP_COUNT; op++) {
		struct decision d;

		req.op = (enum op)op;
		req.has_addr = op % 2;
		req.addr[15] = (uint8_t)text[0];
		d = eval(img, &req);
		decision_describe(img, &d, buf, sizeof(buf));
		decision_message(img, &d);
		denial_mark(req.op, text, &d, text);
		denial_reason(img, &d, text, buf, sizeof(buf));
		eval_trace(img, &req, &t);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image img;
	char text[64] = "/h/ab/.ssh/x.sqlite";
	size_t n = size < 8 * 6 ? size / 6 : 8;

	setup();
	memcpy(copy, image, image_size);
	for (size_t i = 0; i < n; i++) {
		uint32_t off;

		memcpy(&off, data + i * 6, 4);
		off %= (uint32_t)image_size;
		mutate(copy + off, image_size - off, data[i * 6 + 4], data[i * 6 + 5]);
	}
	data += n * 6;
	size -= n * 6;
	if (size > 0) {
		size = size < sizeof(text) ? size : sizeof(text) - 1;
		memcpy(text, data, size);
		text[size] = '\0';
	}
	/* A mutation may hit the header's identity; most of the work lies behind it. */
	memcpy(copy, image, offsetof(struct image_header, checksum));
	if (image_open(&img, copy, image_size) == 0)
		judge(&img, text);
	image_open_checked(&img, copy, image_size);
	return 0;
}
