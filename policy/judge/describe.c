/*
 * A decision in words.
 *
 * The text is always NUL-terminated and cut at the size given, and untrusted text (rules of a project, file
 * names) is escaped.  Nothing here allocates: the preload prints these sentences inside a failing call.
 */
#include <string.h>

#include "eval.h"
#include "policy/base/buf.h"
#include "policy/base/path.h"

/* The section of the policy that a reason without a rule comes from. */
static const char *const reason_sections[REASON_COUNT] = {
	[REASON_OUTSIDE] = "files",    [REASON_INSIDE] = "files",     [REASON_READABLE] = "files",
	[REASON_ABSOLUTE] = "files",   [REASON_TRAVERSAL] = "files",  [REASON_ANCESTOR] = "files",
	[REASON_READONLY] = "session", [REASON_CHILDREN] = "session", [REASON_DANGER] = "session",
	[REASON_NEVER] = "session",    [REASON_OFFLINE] = "network",  [REASON_URL] = "network",
	[REASON_REBIND] = "network",   [REASON_TRUNK] = "git",	      [REASON_DEFAULT] = "commands",
	[REASON_HOST] = "network",     [REASON_WAY] = "files",	      [REASON_UDP] = "network",
	[REASON_UNIX] = "network",     [REASON_EXFIL] = "network",    [REASON_FLOOD] = "network",
	[REASON_ASTRAY] = "network",   [REASON_GIT] = "git",	      [REASON_TOOL] = "tools",
};

static bool is_in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-';
}

void denial_text(struct out *o, const char *s)
{
	static const char *const marks[] = { "id=", "explain " };
	const char *from = s;

	for (const char *p = s; *p && !o->failed; p++)
		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
			size_t n = strlen(marks[i]);

			if (strncmp(p, marks[i], n) != 0 || (p > s && is_in_word(p[-1])))
				continue;
			text_escaped(o, from, (size_t)(p - from) + n - 1);
			text_str(o, "\\x");
			text_hex(o, (uint8_t)p[n - 1], 2);
			from = p + n;
		}
	text_escaped(o, from, strlen(from));
}

static void put_section(struct out *o, const char *section)
{
	text_str(o, "[");
	text_str(o, section);
	text_str(o, "] ");
}

static void put_rule(struct out *o, const struct image *img, const struct image_rule *r)
{
	denial_text(o, path_basename(image_str(img, r->file)));
	if (r->line > 0) {
		text_str(o, ":");
		text_uint(o, r->line);
	}
	text_str(o, " ");
	if (r->kind < RULE_KIND_COUNT) {
		put_section(o, rule_section(r->kind));
		text_str(o, rule_key(r->kind));
		text_str(o, " = ");
	}
	denial_text(o, image_str(img, r->text));
}

bool decision_image(const struct image *img, const struct decision *d, struct image *ret)
{
	*ret = *img;
	if (d->nested > LIMIT_DEPTH)
		return false;
	for (uint32_t i = 0; i < d->nested; i++)
		if (!image_outer(ret, ret))
			return false;
	return true;
}

static const struct image_rule *deciding_rule(const struct image *img, const struct decision *d,
					      struct image *ret)
{
	if (!decision_image(img, d, ret) || d->rule == RULE_NONE)
		return NULL;
	return image_rule(ret, d->rule);
}

bool decision_is_by_port(const struct image *img, const struct decision *d)
{
	struct image from;
	const struct image_rule *r = deciding_rule(img, d, &from);

	if (r && (r->rank != RANK_PRESET || r->layer == LAYER_FLOOR))
		return false;
	return d->verdict == VERDICT_ASK ||
	       (d->verdict == VERDICT_DENY &&
		(d->reason == REASON_HOST || d->reason == REASON_UDP || d->reason == REASON_NEVER));
}

void decision_describe(const struct image *img, const struct decision *d, char *buf, size_t size)
{
	struct out o = out_of(buf, size);
	struct image from;
	const struct image_rule *r = deciding_rule(img, d, &from);
	/* The rule that opens the workspace is in no file: only its reason is printed. */
	bool by_rule = r && d->reason != REASON_INSIDE;

	if (by_rule)
		put_rule(&o, &from, r);
	if (!by_rule && (unsigned)d->reason < REASON_COUNT && reason_sections[d->reason])
		put_section(&o, reason_sections[d->reason]);
	if (by_rule && d->reason != REASON_RULE)
		text_str(&o, ": ");
	if (!by_rule || d->reason != REASON_RULE)
		text_str(&o, reason_text(d->reason));
	if (d->nested)
		text_str(&o, " (outer session)");
	text_end(&o);
}

const char *decision_message(const struct image *img, const struct decision *d)
{
	struct image from;
	const struct image_rule *r = deciding_rule(img, d, &from);
	const char *s = r ? image_str(&from, r->message) : "";

	return *s ? s : NULL;
}

void denial_reason(const struct image *img, const struct decision *d, const char *why, char *buf, size_t size)
{
	struct out o;
	size_t len;

	decision_describe(img, d, buf, size);
	len = strlen(buf);
	o = out_of(buf + len, size - len);
	if (*why) {
		text_str(&o, ": ");
		denial_text(&o, why);
	}
	text_end(&o);
}

/* A target takes at most half of the remaining room: a longer one is cut, and "..." follows. */
static void put_target(struct out *o, const char *target)
{
	const size_t cap = o->cap;

	o->cap = o->len + (cap - o->len) / 2;
	denial_text(o, target);
	o->cap = cap;
	if (o->failed) {
		o->failed = false;
		text_str(o, "...");
	}
}

void denial_sentence(struct out *o, const struct denial *s)
{
	text_str(o, "denied ");
	text_str(o, op_name(s->op));
	text_str(o, " ");
	put_target(o, s->target);
	text_str(o, " (");
	text_str(o, s->reason);
	text_str(o, ")");
	if (s->id) {
		text_str(o, " id=");
		text_hex(o, s->id, DENIAL_ID_HEX);
		text_str(o, "; see: pale explain ");
		text_hex(o, s->id, DENIAL_ID_HEX);
	}
	if (s->more && *s->more) {
		text_str(o, "; ");
		text_str(o, s->more);
	}
	if (s->to_agent && s->op == OP_EXEC)
		text_str(o, "; do not retry, choose another way");
}

uint32_t denial_mark(enum op op, const char *target, const struct decision *d, const char *why)
{
	const uint64_t key[] = { image_checksum(target, strlen(target)), image_checksum(why, strlen(why)),
				 (uint64_t)op << 32 | (uint64_t)d->reason,
				 (uint64_t)d->nested << 32 | d->rule };
	const uint64_t h = image_checksum(key, sizeof(key));
	const uint32_t mark = (uint32_t)(h ^ h >> 32);

	return mark ? mark : 1;
}
