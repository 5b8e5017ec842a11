/*
 * A host rule as text and a host as text: parsing accepts or gives a finding, and judging by what
 * was accepted stays inside the image.  Input: rule, NUL, host, the last 16 bytes an address.
 *
 * What explain is told is what was judged, and a rule of plain labels speaks of exactly those hosts that a
 * reading of its text by hand says: of the name itself, or of what stands before a `*.`.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/base/addr.h"
#include "policy/judge/eval.h"
#include "policy/parse/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)                                                                                           \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

#define PORT 443u

static bool same(const struct decision *a, const struct decision *b)
{
	return a->verdict == b->verdict && a->reason == b->reason && a->rule == b->rule &&
	       a->nested == b->nested;
}

/* eval() and what explain prints: one verdict, its rule among those that matched, a text that ends. */
static struct decision decide(const struct image *img, const struct request *req)
{
	struct decision d = eval(img, req), told;
	struct trace t = { .n = 0 };
	bool found = false;
	char text[300];

	told = eval_trace(img, req, &t);
	REQUIRE(same(&d, &told));
	REQUIRE(t.n <= sizeof(t.list) / sizeof(t.list[0]));
	for (size_t i = 0; i < t.n; i++)
		found = found || t.list[i].rule == d.rule;
	REQUIRE(d.reason != REASON_RULE || found);
	memset(text, 'X', sizeof(text));
	decision_describe(img, &d, text, sizeof(text));
	REQUIRE(memchr(text, '\0', sizeof(text)));
	return d;
}

/* Letters, digits and hyphens between dots, short enough, with a letter in its last label: none can be read
 * as an address. */
static bool is_plain(const char *name)
{
	size_t label = 0, total = strlen(name);
	bool letter = false;

	for (const char *s = name; *s; s++) {
		letter = *s == '.' ? false : letter || isalpha((unsigned char)*s);
		label = *s == '.' ? 0 : label + 1;
		if (*s == '.' ? s == name || s[-1] == '.' || !s[1] : !isalnum((unsigned char)*s) && *s != '-')
			return false;
		if (label > 63 || (unsigned char)*s > 127)
			return false;
	}
	return letter && total < 254;
}

static bool is_localhost(const char *host)
{
	size_t n = strlen(host);

	return n >= 9 && strcasecmp(host + n - 9, "localhost") == 0 && (n == 9 || host[n - 10] == '.');
}

/* Whether a rule of plain labels means this plain host at PORT; -1: it is no such rule. */
static int means(const char *rule, const char *host)
{
	char name[600];
	const char *colon = strchr(rule, ':');
	bool below = strncmp(rule, "*.", 2) == 0;
	unsigned long port;
	char *end;
	size_t n, m;

	snprintf(name, sizeof(name), "%.*s", colon ? (int)(colon - rule) : (int)strlen(rule), rule);
	if (colon) {
		port = strtoul(colon + 1, &end, 10);
		if (!isdigit((unsigned char)colon[1]) || *end || port > 65535)
			return -1;
		if (port != PORT)
			return is_plain(name + (below ? 2 : 0)) ? 0 : -1;
	}
	if (!is_plain(name + (below ? 2 : 0)))
		return -1;
	if (!below)
		return strcasecmp(name, host) == 0;
	n = strlen(host);
	m = strlen(name + 1);
	return n > m && strcasecmp(host + n - m, name + 1) == 0;
}

/* A refusal in mode open and a grant where nothing else is: both as the text reads. */
static void agree(const struct image *img, const struct rule *r, const char *host)
{
	struct request req = { .op = OP_CONNECT, .host = host, .port = PORT };
	int want;

	/* The machine itself needs rules of its own (pale.ini(5), mode open). */
	if (!is_plain(host) || is_localhost(host) || r->kind == RULE_NET_BIND)
		return;
	req.is_datagram = r->kind == RULE_NET_UDP;
	want = means(r->pattern, host);
	if (want < 0)
		return;
	REQUIRE((eval(img, &req).verdict == VERDICT_ALLOW) == (r->kind == RULE_NET_DENY ? !want : want));
	/* What opens streams opens no datagrams, nor the other way round. */
	req.is_datagram = !req.is_datagram;
	REQUIRE(r->kind == RULE_NET_DENY || eval(img, &req).verdict == VERDICT_DENY);
}

static void judge(const struct image *img, const char *host, const uint8_t *addr)
{
	static const enum op ops[] = { OP_CONNECT, OP_RESOLVE, OP_BIND };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct request req = { .op = ops[i], .host = host, .port = PORT, .has_addr = addr != NULL };

		if (addr)
			memcpy(req.addr, addr, sizeof(req.addr));
		decide(img, &req);
		req.is_datagram = true;
		decide(img, &req);
	}
}

/* One rule alone: it compiles and is judged by, or there is an error. */
static void try_rule(struct rule *r, enum network mode, const char *host, const uint8_t *addr)
{
	struct policy p = { .s = { .network = mode, .net_default = VERDICT_DENY }, .rules = r, .n_rules = 1 };
	struct image img;
	struct diags d;
	uint8_t *bytes;
	size_t len;

	diags_init(&d);
	if (image_compile(&p, NULL, &d, &bytes, &len) == 0) {
		REQUIRE(image_open_checked(&img, bytes, len) == 0);
		judge(&img, host, NULL);
		judge(&img, host, addr);
		judge(&img, NULL, addr);
		agree(&img, r, host);
		free(bytes);
	} else {
		REQUIRE(d.n_errors);
	}
	diags_done(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		enum rule_kind kind;
		enum network mode;
	} tries[] = { { RULE_NET_DENY, NETWORK_OPEN },
		      { RULE_NET_ALLOW, NETWORK_REPLACE },
		      { RULE_NET_BIND, NETWORK_OPEN },
		      { RULE_NET_UDP, NETWORK_MERGE } };
	char text[600] = "";
	const uint8_t *addr = size >= 16 ? data + size - 16 : NULL;
	const char *host;
	size_t len, n;

	n = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
	memcpy(text, data, n);
	len = strlen(text);
	host = text + (len < n ? len + 1 : len);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct rule r = {
			.kind = tries[i].kind, .layer = LAYER_USER, .rank = RANK_USER, .pattern = text
		};

		try_rule(&r, tries[i].mode, host, addr);
	}
	return 0;
}
