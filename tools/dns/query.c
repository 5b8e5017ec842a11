/*
 * Questions: reads a client's, and builds the query to the name server.
 */
#include <errno.h>
#include <string.h>

#include "message_impl.h"

#include "policy/base/buf.h"

#define HEADER 12u

/* Types that no record has: OPT, and RFC 6895's range for questions and meta data. */
static bool is_meta(unsigned type)
{
	return type == LDNS_RR_TYPE_OPT || (type >= 128 && type <= 255);
}

bool dns_wire_equal(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++) {
		uint8_t x = a[i], y = b[i];

		if (x == y)
			continue;
		if ((x ^ y) != 0x20 || (x | 0x20) < 'a' || (x | 0x20) > 'z')
			return false;
	}
	return true;
}

static bool is_plain(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static void put_byte(struct out *o, uint8_t c)
{
	char plain[2] = { 0 };

	if (c >= 'A' && c <= 'Z')
		c |= 0x20;
	plain[0] = (char)c;
	if (is_plain(c)) {
		text_str(o, plain);
		return;
	}
	text_str(o, "\\");
	text_str(o, c < 10 ? "00" : c < 100 ? "0" : "");
	text_uint(o, c);
}

/* ldns has checked that the labels end inside the name. */
static void put_name(struct dns_question *q)
{
	struct out o = out_of(q->name, sizeof(q->name));

	for (size_t at = 0; at < q->n_wire && q->wire[at] > 0; at += q->wire[at] + 1u) {
		if (at > 0)
			text_str(&o, ".");
		for (size_t i = 1; i <= q->wire[at] && at + i < q->n_wire; i++)
			put_byte(&o, q->wire[at + i]);
	}
	(void)text_end(&o);
}

static int take_name(struct dns_question *q, const ldns_rr *rr)
{
	const ldns_rdf *owner = ldns_rr_owner(rr);
	size_t n = ldns_rdf_size(owner);

	if (n == 0 || n > sizeof(q->wire))
		return DNS_FORMERR;
	memcpy(q->wire, ldns_rdf_data(owner), n);
	q->n_wire = n;
	q->type = (uint16_t)ldns_rr_get_type(rr);
	q->has_name = true;
	put_name(q);
	if (ldns_rr_get_class(rr) != LDNS_RR_CLASS_IN || is_meta(q->type))
		return DNS_REFUSED;
	return q->type == 0 ? DNS_FORMERR : DNS_NOERROR;
}

static void take_edns(struct dns_question *q, const ldns_pkt *p)
{
	size_t size = ldns_pkt_edns_udp_size(p);

	q->has_edns = ldns_pkt_edns(p);
	if (!q->has_edns)
		return;
	q->wants_dnssec = ldns_pkt_edns_do(p);
	q->size = size < DNS_UDP_PLAIN ? DNS_UDP_PLAIN : size > 4096 ? 4096 : size;
}

static int take_packet(struct dns_question *q, const ldns_pkt *p)
{
	int r;

	if (ldns_pkt_qdcount(p) != 1 || ldns_pkt_ancount(p) != 0 || ldns_pkt_nscount(p) != 0)
		return DNS_FORMERR;
	q->cd = ldns_pkt_cd(p);
	q->ad = ldns_pkt_ad(p);
	take_edns(q, p);
	r = take_name(q, ldns_rr_list_rr(ldns_pkt_question(p), 0));
	if (q->has_edns && ldns_pkt_edns_version(p) != 0)
		return DNS_BADVERS;
	return r;
}

int dns_question_read(struct dns_question *ret, const uint8_t *msg, size_t len)
{
	ldns_pkt *p = NULL;
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->size = DNS_UDP_PLAIN;
	if (len < HEADER || LDNS_QR_WIRE(msg))
		return -EBADMSG;
	ret->id = LDNS_ID_WIRE(msg);
	ret->rd = LDNS_RD_WIRE(msg);
	if (LDNS_OPCODE_WIRE(msg) != LDNS_PACKET_QUERY)
		return DNS_NOTIMP;
	if (len > DNS_QUERY_MAX || LDNS_QDCOUNT(msg) != 1)
		return DNS_FORMERR;
	if (ldns_wire2pkt(&p, msg, len) != LDNS_STATUS_OK)
		return DNS_FORMERR;
	r = take_packet(ret, p);
	ldns_pkt_free(p);
	return r;
}

/* --- the query to the name server ---------------------------------------------------------------------- */

/* Gives each letter a random case. */
static void spell(uint8_t *wire, size_t n, const uint8_t *random)
{
	for (size_t i = 0; i < n; i++)
		if ((wire[i] | 0x20) >= 'a' && (wire[i] | 0x20) <= 'z') {
			wire[i] |= 0x20;
			wire[i] ^= (uint8_t)((random[i / 8] >> i % 8 & 1) << 5);
		}
}

static ldns_pkt *packet_of(const struct dns_question *q, enum dns_edns edns, const struct dns_asked *asked)
{
	ldns_rdf *name = ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME, asked->n_wire, asked->wire);
	ldns_pkt *p =
		name ? ldns_pkt_query_new(name, (ldns_rr_type)q->type, LDNS_RR_CLASS_IN, LDNS_RD) : NULL;

	if (!p) {
		ldns_rdf_deep_free(name);
		return NULL;
	}
	ldns_pkt_set_id(p, asked->id);
	ldns_pkt_set_cd(p, q->cd);
	if (edns == DNS_EDNS) {
		ldns_pkt_set_edns_udp_size(p, DNS_UDP_OURS);
		ldns_pkt_set_edns_do(p, q->wants_dnssec);
	}
	return p;
}

size_t dns_query_build(const struct dns_question *q, enum dns_edns edns, const uint8_t random[DNS_RANDOM],
		       struct dns_asked *ret, uint8_t *buf, size_t size)
{
	uint8_t *wire = NULL;
	size_t n = 0;
	ldns_pkt *p;

	memset(ret, 0, sizeof(*ret));
	if (q->n_wire > sizeof(ret->wire))
		return 0;
	ret->id = ldns_read_uint16(random);
	ret->type = q->type;
	ret->n_wire = q->n_wire;
	memcpy(ret->wire, q->wire, q->n_wire);
	spell(ret->wire, ret->n_wire, random + 2);
	p = packet_of(q, edns, ret);
	if (p && ldns_pkt2wire(&wire, p, &n) == LDNS_STATUS_OK && n <= size)
		memcpy(buf, wire, n);
	else
		n = 0;
	free(wire);
	ldns_pkt_free(p);
	return n;
}
