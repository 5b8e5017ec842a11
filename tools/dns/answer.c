/*
 * Answers of the name servers: whether one belongs to our query, and what it says about the name in the
 * query.  Everything else in it is ignored: a server can only affect the answer to the name that it was
 * asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "message_impl.h"

#define HEADER	12u
#define TTL_TOP 0x80000000u /* RFC 2181, 8: such a TTL counts as 0 */

static bool wire_is(const struct dns_asked *a, enum dns_over over, const uint8_t *name)
{
	if (over == DNS_UDP)
		return memcmp(name, a->wire, a->n_wire) == 0;
	return dns_wire_equal(name, a->n_wire, a->wire, a->n_wire);
}

/* Compares the question's bytes; a correct server does not compress them. */
static bool is_our_question(const struct dns_asked *a, enum dns_over over, const uint8_t *msg, size_t len)
{
	const uint8_t *name = msg + HEADER;

	if (len < HEADER || !LDNS_QR_WIRE(msg) || LDNS_ID_WIRE(msg) != a->id ||
	    LDNS_OPCODE_WIRE(msg) != LDNS_PACKET_QUERY)
		return false;
	/* A server that did not understand the query does not repeat the question. */
	if (LDNS_QDCOUNT(msg) == 0)
		return LDNS_RCODE_WIRE(msg) == DNS_FORMERR || LDNS_RCODE_WIRE(msg) == DNS_NOTIMP;
	if (LDNS_QDCOUNT(msg) != 1 || len < HEADER + a->n_wire + 4)
		return false;
	return wire_is(a, over, name) && ldns_read_uint16(name + a->n_wire) == a->type &&
	       ldns_read_uint16(name + a->n_wire + 2) == LDNS_RR_CLASS_IN;
}

/* --- the chain ---------------------------------------------------------------------------------------- */

static bool names_equal(const ldns_rdf *a, const ldns_rdf *b)
{
	return dns_name_is(a, ldns_rdf_data(b), ldns_rdf_size(b));
}

static uint32_t ttl_of(const ldns_rr *rr)
{
	uint32_t ttl = ldns_rr_ttl(rr);

	return ttl >= TTL_TOP ? 0 : ttl;
}

static const ldns_rr *cname_of(const struct dns_answer *a, const ldns_rdf *name)
{
	const ldns_rr_list *list = ldns_pkt_answer(a->pkt);

	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(list, i);

		if (ldns_rr_get_type(rr) == LDNS_RR_TYPE_CNAME && ldns_rr_rd_count(rr) == 1 &&
		    names_equal(ldns_rr_owner(rr), name))
			return rr;
	}
	return NULL;
}

static bool is_on_chain(const struct dns_answer *a, const ldns_rdf *name)
{
	for (size_t i = 0; i < a->n_chain; i++)
		if (names_equal(a->chain[i], name))
			return true;
	return false;
}

/* False where the chain is a circle, or too long. */
static bool follow_alias(struct dns_answer *a, unsigned type)
{
	const ldns_rdf *name = ldns_rr_owner(ldns_rr_list_rr(ldns_pkt_question(a->pkt), 0));
	const ldns_rr *rr;

	a->ttl = UINT32_MAX;
	a->chain[a->n_chain++] = name;
	while (type != LDNS_RR_TYPE_CNAME && (rr = cname_of(a, name))) {
		name = ldns_rr_rdf(rr, 0);
		if (a->n_chain > DNS_CHAIN_MAX || is_on_chain(a, name))
			return false;
		a->chain[a->n_chain++] = name;
		if (ttl_of(rr) < a->ttl)
			a->ttl = ttl_of(rr);
	}
	return true;
}

static bool is_below(const ldns_rdf *name, const ldns_rdf *parent)
{
	const uint8_t *wire = ldns_rdf_data(name);
	size_t n = ldns_rdf_size(name), n_parent = ldns_rdf_size(parent);
	size_t at = 0;

	while (at < n && n - at > n_parent && wire[at] > 0)
		at += wire[at] + 1u;
	return at > 0 && at < n && dns_name_is(parent, wire + at, n - at);
}

bool dns_answer_has(const struct dns_answer *a, const ldns_rr *rr)
{
	if (is_on_chain(a, ldns_rr_owner(rr)))
		return true;
	if (ldns_rr_get_type(rr) != LDNS_RR_TYPE_DNAME)
		return false;
	for (size_t i = 0; i < a->n_chain; i++)
		if (is_below(a->chain[i], ldns_rr_owner(rr)))
			return true;
	return false;
}

/* --- reading ------------------------------------------------------------------------------------------ */

enum dns_fit dns_answer_read(const struct dns_asked *asked, enum dns_over over, const uint8_t *msg,
			     size_t len, struct dns_answer **ret)
{
	struct dns_answer *a;

	if (over == DNS_UDP && len > DNS_UDP_OURS)
		return DNS_TRUNCATED;
	/* The spelling differs from ours: a guess, or a server that does not keep it.  Over a stream that
	 * does not matter. */
	if (!is_our_question(asked, over, msg, len))
		return is_our_question(asked, DNS_TCP, msg, len) ? DNS_TRUNCATED : DNS_ALIEN;
	if (LDNS_TC_WIRE(msg) && over == DNS_UDP)
		return DNS_TRUNCATED;
	if (LDNS_RCODE_WIRE(msg) == DNS_FORMERR || LDNS_RCODE_WIRE(msg) == DNS_NOTIMP)
		return DNS_NO_EDNS;
	a = calloc(1, sizeof(*a));
	if (!a)
		return DNS_BROKEN;
	if (LDNS_TC_WIRE(msg) || ldns_wire2pkt(&a->pkt, msg, len) != LDNS_STATUS_OK ||
	    !follow_alias(a, asked->type)) {
		dns_answer_free(a);
		return DNS_BROKEN;
	}
	*ret = a;
	return DNS_FITS;
}

void dns_answer_free(struct dns_answer *a)
{
	if (!a)
		return;
	ldns_pkt_free(a->pkt);
	free(a);
}

enum dns_rcode dns_answer_rcode(const struct dns_answer *a)
{
	return (enum dns_rcode)ldns_pkt_get_rcode(a->pkt);
}

/* --- addresses ---------------------------------------------------------------------------------------- */

struct telling {
	dns_addr_fn fn;
	void *cookie;
	uint32_t ttl;
};

static void tell_address(const struct telling *t, const uint8_t *addr, size_t n)
{
	uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff };

	if (n != 4 && n != 16)
		return;
	memcpy(mapped + sizeof(mapped) - n, addr, n);
	t->fn(t->cookie, mapped, t->ttl);
}

/* RFC 9460, 2.2: priority, target, parameters of key, length and value. */
#define SVC_IPV4HINT 4u
#define SVC_IPV6HINT 6u

static void tell_hints(const struct telling *t, const uint8_t *p, size_t n)
{
	size_t at = 2, len, size;
	unsigned key;

	while (at < n && p[at] > 0)
		at += p[at] + 1u;
	for (at++; at + 4 <= n; at += 4 + len) {
		key = ldns_read_uint16(p + at);
		len = ldns_read_uint16(p + at + 2);
		size = key == SVC_IPV4HINT ? 4 : key == SVC_IPV6HINT ? 16 : 0;
		if (len > n - at - 4)
			return;
		for (size_t i = 0; size && i + size <= len; i += size)
			tell_address(t, p + at + 4 + i, size);
	}
}

/* All of a record's data in one buffer: whether ldns knows the fields depends on how ldns was built. */
static size_t rdata_of(const ldns_rr *rr, uint8_t *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < ldns_rr_rd_count(rr); i++) {
		const ldns_rdf *f = ldns_rr_rdf(rr, i);
		size_t len = ldns_rdf_size(f);

		if (len > size - n)
			return 0;
		memcpy(buf + n, ldns_rdf_data(f), len);
		n += len;
	}
	return n;
}

static void tell_record(const struct telling *t, const ldns_rr *rr)
{
	uint8_t data[4096] UNINITIALIZED;
	unsigned type = ldns_rr_get_type(rr);
	size_t n = rdata_of(rr, data, sizeof(data));

	if ((type == LDNS_RR_TYPE_A && n == 4) || (type == LDNS_RR_TYPE_AAAA && n == 16))
		tell_address(t, data, n);
	else if (type == LDNS_RR_TYPE_HTTPS || type == LDNS_RR_TYPE_SVCB)
		tell_hints(t, data, n);
}

void dns_answer_addrs(const struct dns_answer *a, dns_addr_fn fn, void *cookie)
{
	const ldns_rr_list *list = ldns_pkt_answer(a->pkt);

	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(list, i);
		struct telling t = { fn, cookie, ttl_of(rr) < a->ttl ? ttl_of(rr) : a->ttl };

		if (is_on_chain(a, ldns_rr_owner(rr)))
			tell_record(&t, rr);
	}
}
