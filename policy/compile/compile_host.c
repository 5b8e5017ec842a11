/*
 * Host and bind rules to the tables that eval_host.c reads (see layout.h).
 *
 * Accepts NAME, *.NAME, *, v4, v6, CIDR and localhost, each with an optional `:PORTS` (v6 in
 * brackets then).  PORTS is `443`, `3000-3999` or a list of these; `bind =` takes PORTS alone.
 * Names are A-labels already.  Everything else is an error.
 */
#include "compile.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/base/addr.h"
#include "policy/image/layout.h"

#define MAX_PORTS 16u

enum item_kind { ITEM_NAME, ITEM_ADDR, ITEM_BIND };

/* One ref with the key that finds it. */
struct item {
	enum item_kind kind;
	uint32_t form, name, hash, prefix, spec;
	uint8_t addr[16];
	struct host_ref ref;
};

struct ports {
	unsigned n;
	struct {
		uint16_t lo, hi;
	} list[MAX_PORTS];
};

struct items {
	struct compiler *c;
	struct bytes bytes;
};

static struct item *item_of(const struct items *s)
{
	return (struct item *)(void *)s->bytes.p;
}

static size_t n_items(const struct items *s)
{
	return s->bytes.len / sizeof(struct item);
}

/* Reads a decimal number up to 65535.  Returns its end, or NULL if there is no such number. */
static const char *parse_port(const char *s, uint16_t *ret)
{
	unsigned v = 0;
	const char *start = s;

	for (; *s >= '0' && *s <= '9' && s - start < 6; s++)
		v = v * 10 + (unsigned)(*s - '0');
	*ret = (uint16_t)v;
	return s == start || v > UINT16_MAX ? NULL : s;
}

/* No port and `*` both leave the list empty, which means every port. */
static const char *parse_ports(const char *s, struct ports *ret)
{
	ret->n = 0;
	if (strcmp(s, "*") == 0)
		return NULL;
	for (;;) {
		uint16_t lo, hi;

		if (ret->n == MAX_PORTS)
			return "too many ports";
		s = parse_port(s, &lo);
		hi = lo;
		if (s && *s == '-')
			s = parse_port(s + 1, &hi);
		if (!s || hi < lo)
			return "not a port or a range of ports";
		ret->list[ret->n].lo = lo;
		ret->list[ret->n++].hi = hi;
		if (*s == '\0')
			return NULL;
		if (*s++ != ',')
			return "not a port or a range of ports";
	}
}

/* Splits text into host and ports; ports is NULL if text has none. */
static const char *split(const char *text, const char **ret_host, size_t *ret_len, const char **ret_ports)
{
	const char *colon = strchr(text, ':'), *end;

	*ret_host = text;
	*ret_len = strlen(text);
	*ret_ports = NULL;
	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end || (end[1] != '\0' && end[1] != ':'))
			return "not an address in brackets";
		*ret_host = text + 1;
		*ret_len = (size_t)(end - text - 1);
		*ret_ports = end[1] ? end + 2 : NULL;
	} else if (colon && !strchr(colon + 1, ':')) {
		*ret_len = (size_t)(colon - text);
		*ret_ports = colon + 1;
	}
	return *ret_len == 0 || *ret_len >= LIMIT_HOST ? "not a host" : NULL;
}

static void add_item(struct items *s, struct item *it, const struct ports *ports)
{
	for (unsigned i = 0; i < ports->n; i++) {
		it->ref.lo = ports->list[i].lo;
		it->ref.hi = ports->list[i].hi;
		it->ref.flags |= REF_PORTED;
		bytes_put(&s->bytes, it, sizeof(*it));
	}
	if (ports->n > 0)
		return;
	it->ref.lo = 0;
	it->ref.hi = UINT16_MAX;
	bytes_put(&s->bytes, it, sizeof(*it));
}

static void add_addr(struct items *s, const struct item *proto, const uint8_t addr[16], unsigned prefix,
		     const struct ports *ports)
{
	struct item it = *proto;

	it.kind = ITEM_ADDR;
	it.prefix = prefix;
	memcpy(it.addr, addr, sizeof(it.addr));
	it.hash = hash_addr(addr, prefix);
	add_item(s, &it, ports);
}

/* Writes name in lower case without a final dot.  Returns the number of labels, or 0 if s is not a name. */
static unsigned take_name(const char *s, size_t n, char *name)
{
	unsigned labels = 1, len = 0;

	if (n > 1 && s[n - 1] == '.')
		n--;
	for (size_t i = 0; i < n; i++) {
		char c = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] | 0x20) : s[i];

		if (c == '.') {
			if (len == 0 || i + 1 == n)
				return 0;
			labels++;
			len = 0;
		} else if (++len > 63 ||
			   !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')) {
			return 0;
		}
		name[i] = c;
	}
	name[n] = '\0';
	/* "10.0.0" and "1.2.3.400" are mistyped addresses, and as names would never match. */
	return n == 0 || strspn(name + n - len, "0123456789") == len ? 0 : labels;
}

static uint32_t hash_host(const char *name, uint32_t form)
{
	uint32_t h = HOST_HASH_SEED;

	for (size_t i = strlen(name); i-- > 0;)
		h = hash_host_byte(h, name[i]);
	return hash_host_end(h, form);
}

static void add_localhost(struct items *s, const struct item *proto, const struct ports *ports)
{
	static const uint8_t v4[16] = { [10] = 0xff, [11] = 0xff, [12] = 127 }, v6[16] = { [15] = 1 };

	add_addr(s, proto, v4, V4_PREFIX + 8, ports);
	add_addr(s, proto, v6, 128, ports);
}

static const char *add_name(struct items *s, struct item *it, const char *host, size_t n,
			    const struct ports *ports)
{
	char name[LIMIT_HOST] = "";
	bool below = host[0] == '*' && (n == 1 || host[1] == '.');
	unsigned labels = 0;

	if (below && n > 1)
		labels = take_name(host + 2, n - 2, name);
	else if (!below)
		labels = take_name(host, n, name);
	if (labels == 0 && !(below && n == 1))
		return memchr(host, '*', n) ? "`*` stands for whole labels at the front: `*.example.org`"
					    : "not a host";
	it->kind = ITEM_NAME;
	it->form = below ? HOST_BELOW : HOST_EXACT;
	it->name = compile_string(s->c, name);
	it->hash = hash_host(name, it->form);
	it->spec = labels * 4 + (below ? 0 : 2);
	if (!below && strcmp(name, "localhost") == 0) {
		it->ref.flags |= REF_LOCAL;
		add_localhost(s, it, ports);
	}
	add_item(s, it, ports);
	return NULL;
}

static const char *parse_prefix(const char *s, const char *end, bool v4, unsigned *ret)
{
	unsigned v = 0, max = v4 ? 32 : 128;

	if (s == end || end - s > 3)
		return "not a prefix length";
	for (; s < end; s++) {
		if (*s < '0' || *s > '9')
			return "not a prefix length";
		v = v * 10 + (unsigned)(*s - '0');
	}
	*ret = (v4 ? V4_PREFIX : 0) + v;
	return v > max ? "prefix too long" : NULL;
}

/* True if host is an address or a network; *ret_why is then its fault, or NULL. */
static bool take_addr(const char *host, size_t n, uint8_t addr[16], unsigned *ret_prefix,
		      const char **ret_why)
{
	const char *slash = memchr(host, '/', n);
	size_t len = slash ? (size_t)(slash - host) : n;
	uint8_t net[16];

	*ret_why = NULL;
	*ret_prefix = 128;
	if (!addr_parse(host, len, addr)) {
		*ret_why = slash || memchr(host, ':', n) ? "not an address" : NULL;
		return *ret_why != NULL;
	}
	if (slash)
		*ret_why = parse_prefix(slash + 1, host + n, addr_is_v4(addr), ret_prefix);
	else
		addr_canonical(addr);
	if (*ret_why)
		return true;
	memcpy(net, addr, sizeof(net));
	addr_mask(net, *ret_prefix);
	if (memcmp(net, addr, sizeof(net)) != 0)
		*ret_why = "address has bits behind its prefix";
	return true;
}

static const char *add_rule(struct items *s, const struct rule *r, uint32_t index)
{
	struct item it = { .ref = { .rule = index,
				    .kind = (uint8_t)r->kind,
				    .layer = (uint8_t)r->layer,
				    .rank = (uint8_t)r->rank } };
	const char *host, *port_text, *why, *text = r->pattern ? r->pattern : "";
	struct ports ports = { 0 };
	uint8_t addr[16];
	unsigned prefix;
	size_t n;

	if (r->kind == RULE_NET_BIND) {
		it.kind = ITEM_BIND;
		why = parse_ports(text, &ports);
		if (!why)
			add_item(s, &it, &ports);
		return why;
	}
	why = split(text, &host, &n, &port_text);
	if (!why && port_text)
		why = parse_ports(port_text, &ports);
	for (unsigned i = 0; !why && i < ports.n; i++)
		why = ports.list[i].lo == 0 ? "nothing is reached at port 0" : NULL;
	if (why)
		return why;
	if (!take_addr(host, n, addr, &prefix, &why))
		return text[0] == '[' ? "not an address in brackets" : add_name(s, &it, host, n, &ports);
	if (!why)
		add_addr(s, &it, addr, prefix, &ports);
	return why;
}

static int compare_key(const struct item *a, const struct item *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->form != b->form)
		return a->form < b->form ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	return memcmp(a->addr, b->addr, sizeof(a->addr));
}

static int compare_items(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	int r = compare_key(a, b);

	return r ? r : a->ref.rule < b->ref.rule ? -1 : a->ref.rule > b->ref.rule;
}

static uint32_t table_size(size_t n)
{
	uint32_t cap = 1;

	while (cap < n * 2 + 1)
		cap *= 2;
	return cap;
}

static void place(struct host_slot *hosts, struct addr_slot *addrs, uint32_t mask, const struct item *it,
		  uint32_t ref, uint32_t n_ref)
{
	uint32_t i = it->hash & mask;

	if (it->kind == ITEM_NAME) {
		while (hosts[i].n_ref)
			i = (i + 1) & mask;
		hosts[i] = (struct host_slot){ it->hash, it->name, it->form, it->spec, ref, n_ref };
	} else if (it->kind == ITEM_ADDR) {
		while (addrs[i].n_ref)
			i = (i + 1) & mask;
		addrs[i] = (struct addr_slot){ .prefix = it->prefix, .ref = ref, .n_ref = n_ref };
		memcpy(addrs[i].addr, it->addr, sizeof(it->addr));
	}
}

static void write_tables(struct items *s, struct host_slot *hosts, struct addr_slot *addrs, uint32_t cap)
{
	const struct item *it = item_of(s);
	size_t n = n_items(s);
	struct host_head head = { .n_slot = cap, .n_ref = (uint32_t)n };
	struct addr_head ahead = { .n_slot = cap };

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && compare_key(&it[i], &it[j]) == 0; j++)
			;
		place(hosts, addrs, cap - 1, &it[i], (uint32_t)i, (uint32_t)(j - i));
		if (it[i].kind == ITEM_ADDR)
			ahead.prefixes[it[i].prefix / 64] |= 1ull << it[i].prefix % 64;
		if (it[i].kind == ITEM_BIND) {
			head.bind = (uint32_t)i;
			head.n_bind = (uint32_t)(j - i);
		}
	}
	compile_section(s->c, SEC_HOST, &head, sizeof(head));
	compile_section(s->c, SEC_HOST, hosts, cap * sizeof(*hosts));
	for (size_t i = 0; i < n; i++)
		compile_section(s->c, SEC_HOST, &it[i].ref, sizeof(it[i].ref));
	compile_section(s->c, SEC_ADDR, &ahead, sizeof(ahead));
	compile_section(s->c, SEC_ADDR, addrs, cap * sizeof(*addrs));
}

static int write_items(struct items *s)
{
	uint32_t cap = table_size(n_items(s));
	struct host_slot *hosts = calloc(cap, sizeof(*hosts));
	struct addr_slot *addrs = calloc(cap, sizeof(*addrs));

	if (n_items(s) > 1)
		qsort(item_of(s), n_items(s), sizeof(struct item), compare_items);
	if (hosts && addrs)
		write_tables(s, hosts, addrs, cap);
	else
		s->c->err = -ENOMEM;
	free(hosts);
	free(addrs);
	return s->c->err;
}

static bool is_host_kind(enum rule_kind kind)
{
	return (kind >= RULE_NET_ALLOW && kind <= RULE_NET_UDP) || kind == RULE_NET_BIND;
}

int compile_host(struct compiler *c, const struct policy *p, struct diags *d)
{
	struct items s = { .c = c };
	int err = 0;

	for (size_t i = 0; i < p->n_rules && err != -ENOMEM; i++) {
		const struct rule *r = &p->rules[i];
		const char *why = is_host_kind(r->kind) ? add_rule(&s, r, (uint32_t)i) : NULL;

		if (why)
			err = compile_error(d, r, "bad-host", why) ? -ENOMEM : -EBADMSG;
	}
	if (!err)
		err = s.bytes.err ? s.bytes.err : write_items(&s);
	bytes_done(&s.bytes);
	return err;
}
