/* Shared by query.c, answer.c and reply.c; private to them. */
#ifndef PALE_DNS_MESSAGE_IMPL_H
#define PALE_DNS_MESSAGE_IMPL_H

#include <ldns/ldns.h>

#include "message.h"

struct dns_answer {
	ldns_pkt *pkt;
	/*
	 * The names in pkt: the one in the query and those its CNAMEs lead to; the smallest of their TTLs.
	 */
	const ldns_rdf *chain[DNS_CHAIN_MAX + 1];
	size_t n_chain;
	uint32_t ttl;
};

/* Compares two names in wire form without regard to case; no length byte is in the range of letters. */
bool dns_wire_equal(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
static inline bool dns_name_is(const ldns_rdf *name, const uint8_t *wire, size_t n)
{
	return dns_wire_equal(ldns_rdf_data(name), ldns_rdf_size(name), wire, n);
}

/* True where the record answers the question: its owner is on the chain, or it is a DNAME that the chain
 * follows. */
bool dns_answer_has(const struct dns_answer *a, const ldns_rr *rr);

#endif
