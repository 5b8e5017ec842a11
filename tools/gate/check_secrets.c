/*
 * Checks for secrets: the values that the session holds, as they are, in base64 and in hexadecimal; then what
 * has the shape of a secret (policy/record/secret.h).  Blanks, line ends and NULs do not count in a value, so
 * that wrapped lines and UTF-16 hide none.
 */
#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "policy/record/secret.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "checks_impl.h"

#define VALUES_MAX (1u << 20)
#define VALUE_MIN  6 /* shorter ones stand in any text */

struct needle {
	char *text;
	size_t len;
	const char *form;
};

struct needles {
	struct needle *list;
	size_t n;
};

static bool counts(char c)
{
	return c != '\0' && !isspace((unsigned char)c);
}

/* Moves what counts to the front.  Returns its length. */
static size_t squeeze(char *to, const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (counts(text[i]))
			to[n++] = text[i];
	return n;
}

static int add_needle(struct needles *s, const char *text, size_t len, const char *form)
{
	struct needle *at = LIST_NEW(s->list, s->n);

	if (!at || !(at->text = malloc(len + 1)))
		return -ENOMEM;
	at->len = squeeze(at->text, text, len);
	at->form = form;
	if (at->len < VALUE_MIN)
		free(at->text);
	else
		s->n++;
	return 0;
}

static int add_hex(struct needles *s, const char *value, size_t len)
{
	_cleanup_free_ char *hex = malloc(2 * len + 1);
	int r;

	if (!hex)
		return -ENOMEM;
	sodium_bin2hex(hex, 2 * len + 1, (const unsigned char *)value, len);
	r = add_needle(s, hex, 2 * len, "in hexadecimal");
	for (char *c = hex; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return r ?: add_needle(s, hex, 2 * len, "in hexadecimal");
}

/* The characters that stand for this value alone, where `shift` bytes are before it in its group of three. */
static int add_base64(struct needles *s, const char *value, size_t len, size_t shift, int variant)
{
	size_t room = sodium_base64_encoded_len(shift + len, variant), skip = shift == 0 ? 0 : shift + 1;
	_cleanup_free_ char *bytes = calloc(1, shift + len), *text = malloc(room);

	if (!bytes || !text)
		return -ENOMEM;
	memcpy(bytes + shift, value, len);
	sodium_bin2base64(text, room, (unsigned char *)bytes, shift + len, variant);
	return add_needle(s, text + skip, (shift + len) * 8 / 6 - skip, "in base64");
}

static int add_value(struct needles *s, const char *value, size_t len)
{
	int r = add_needle(s, value, len, "as it is");

	if (len < VALUE_MIN)
		return 0;
	for (size_t shift = 0; shift < 3 && r == 0; shift++) {
		r = add_base64(s, value, len, shift, sodium_base64_VARIANT_ORIGINAL);
		r = r ?: add_base64(s, value, len, shift, sodium_base64_VARIANT_URLSAFE);
	}
	return r ?: add_hex(s, value, len);
}

int check_needles(struct checks *ck)
{
	_cleanup_free_ char *all = NULL;
	ssize_t n;
	int r = 0;

	ck->needles = calloc(1, sizeof(*ck->needles));
	all = malloc(VALUES_MAX);
	if (!ck->needles || !all)
		return -ENOMEM;
	if (ck->rules->secrets_fd < 0)
		return 0;
	n = read_up_to(ck->rules->secrets_fd, all, VALUES_MAX, 0);
	if (n < 0 || n == VALUES_MAX || (n > 0 && all[n - 1] != '\0'))
		return n < 0 ? (int)n : -EBADMSG;
	for (size_t i = 0, len; i < (size_t)n && r == 0; i += len + 1) {
		len = strlen(all + i);
		r = add_value(ck->needles, all + i, len);
	}
	explicit_bzero(all, (size_t)n);
	return r;
}

void check_needles_done(struct checks *ck)
{
	for (size_t i = 0; ck->needles && i < ck->needles->n; i++) {
		explicit_bzero(ck->needles->list[i].text, ck->needles->list[i].len);
		free(ck->needles->list[i].text);
	}
	if (ck->needles)
		free(ck->needles->list);
	free(ck->needles);
}

/* The lines from text[at] to text[last] stand in the file as it was. */
static bool was_there(const char *text, size_t len, size_t at, size_t last, const struct object *before)
{
	const char *start = memrchr(text, '\n', at), *end = memchr(text + last, '\n', len - last);

	start = start ? start + 1 : text;
	end = end ?: text + len;
	return before && memmem(before->data, before->len, start, (size_t)(end - start));
}

static void find_values(struct checks *ck, const char *path, const char *text, size_t len,
			const struct object *before)
{
	_cleanup_free_ char *dense = malloc(len + 1);
	size_t n = dense ? squeeze(dense, text, len) : 0;

	for (size_t i = 0; i < ck->needles->n; i++) {
		const struct needle *s = &ck->needles->list[i];
		const char *hit = dense ? memmem(dense, n, s->text, s->len) : text;
		size_t at = 0, last;

		if (!hit)
			continue;
		for (size_t kept = dense ? (size_t)(hit - dense) : 0;
		     kept > 0 || (at < len && !counts(text[at])); at++)
			kept -= counts(text[at]);
		last = at;
		for (size_t left = dense ? s->len - 1 : 0; left > 0 && last + 1 < len;)
			left -= counts(text[++last]);
		if (!was_there(text, len, at, last, before))
			check_finding(ck, path, check_line(text, at), "a secret value of this session, %s",
				      s->form);
	}
}

/* --- shapes --- */

/* Two letters by which a shape begins. */
static unsigned char begins[1 << 13];

static void add_lead(void *ctx, const char *lead, bool any_case)
{
	(void)ctx;
	for (int k = 0; k < (any_case ? 4 : 1); k++) {
		unsigned a = (unsigned char)(k & 1 ? toupper((unsigned char)lead[0]) : lead[0]);
		unsigned b = (unsigned char)(k & 2 ? toupper((unsigned char)lead[1]) : lead[1]);

		begins[(a << 8 | b) >> 3] |= (unsigned char)(1u << (b & 7));
	}
}

static bool may_begin(const char *p)
{
	unsigned pair = (unsigned)(unsigned char)p[0] << 8 | (unsigned char)p[1];

	return begins[pair >> 3] & 1u << (pair & 7);
}

/*
 * The mask of the ledger finds a secret in doubt, which costs nothing there.  A push it would stop: so a
 * value must look like one, not like a word, a variable, a call or a placeholder.
 */
static bool looks_random(const char *p, size_t n, size_t least)
{
	bool seen[256] = { false };
	size_t letters = 0, digits = 0, distinct = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (!isalnum(c) && !strchr("+/=_-~!#%^.", c))
			return false;
		letters += isalpha(c) != 0;
		digits += isdigit(c) != 0;
		distinct += !seen[c];
		seen[c] = true;
	}
	return n >= least && letters >= 2 && digits >= 2 && distinct >= 7;
}

static bool is_real(const char *text, size_t i, const struct secret_hit *hit)
{
	const char *p = text + hit->at;
	size_t lead = hit->at - i, n = hit->len;

	if (strncmp(text + i, "-----BEGIN", 10) == 0)
		return n >= 100;
	/* The head of JSON in base64 begins like a token, which has three parts. */
	if (lead == 3 && memcmp(text + i, "eyJ", 3) == 0)
		return memchr(p, '.', n) && looks_random(p, n, 30);
	/* A name's value: what follows the last blank (`Bearer ...`). */
	if (lead > 0 && strchr("=: '\"/@", text[hit->at - 1])) {
		const char *blank = memrchr(p, ' ', n);

		return looks_random(blank ? blank + 1 : p, blank ? (size_t)(p + n - blank - 1) : n, 10);
	}
	return looks_random(p, n, 8) || (n >= 16 && strncmp(text + i, "AKIA", 4) == 0);
}

static void find_shapes(struct checks *ck, const char *path, const char *text, size_t len,
			const struct object *before)
{
	struct secret_hit hit;

	if (!may_begin("gh"))
		secret_leads(add_lead, NULL);
	for (size_t i = 0; i + 1 < len; i++) {
		if (!may_begin(text + i) || !secret_at(text, len, i, &hit) || !is_real(text, i, &hit))
			continue;
		if (!was_there(text, len, hit.at, hit.at + hit.len - 1, before))
			check_finding(ck, path, check_line(text, i), "looks like a secret (%u characters)",
				      (unsigned)hit.len);
		i = hit.at + hit.len - 1;
	}
}

void check_secrets(struct checks *ck, const char *path, const char *text, size_t len,
		   const struct object *before)
{
	find_values(ck, path, text, len, before);
	find_shapes(ck, path, text, len, before);
}
