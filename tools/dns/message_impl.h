/* What question.c, answer.c and reply.c share.  Private to them. */
#ifndef PALE_DNS_MESSAGE_IMPL_H
#define PALE_DNS_MESSAGE_IMPL_H

#include <ldns/ldns.h>

#include "message.h"

struct dns_answer {
	ldns_pkt *pkt;
	/* Of pkt: the name that was asked and what CNAMEs made of it; the least of their ttls. */
	const ldns_rdf *chain[DNS_CHAIN_MAX + 1];
	size_t n_chain;
	uint32_t ttl;
};

/* Two names in wire form; letters are equal in either case, which no length byte can be mistaken for. */
bool dns_wire_equal(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
static inline bool dns_name_is(const ldns_rdf *name, const uint8_t *wire, size_t n)
{
	return dns_wire_equal(ldns_rdf_data(name), ldns_rdf_size(name), wire, n);
}

/* The record answers the question: its owner is on the chain, or a DNAME that led along it. */
bool dns_answer_has(const struct dns_answer *a, const ldns_rr *rr);

#endif
