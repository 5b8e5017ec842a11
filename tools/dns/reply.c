/*
 * Replies to clients, each built from nothing: the client's own id, spelling and limits, and only the
 * records of the answer that answer the question.
 */
#include <stdlib.h>
#include <string.h>

#include "message_impl.h"

#define HERE_TTL 30u /* for answers made here, which may change at any time */

/* --- the frame ---------------------------------------------------------------------------------------- */

static ldns_rdf *name_of(const struct dns_question *q)
{
	return ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME, q->n_wire, q->wire);
}

/* Takes over the fields, even after an error. */
static ldns_rr *record_new(ldns_rdf *owner, unsigned type, ldns_rdf *data)
{
	ldns_rr *rr = ldns_rr_new();

	if (!rr || !owner || !data || !ldns_rr_push_rdf(rr, data)) {
		ldns_rr_free(rr);
		ldns_rdf_deep_free(owner);
		ldns_rdf_deep_free(data);
		return NULL;
	}
	ldns_rr_set_owner(rr, owner);
	ldns_rr_set_type(rr, type);
	ldns_rr_set_class(rr, LDNS_RR_CLASS_IN);
	ldns_rr_set_ttl(rr, HERE_TTL);
	return rr;
}

static bool add_record(ldns_pkt *p, ldns_pkt_section section, ldns_rr *rr)
{
	if (rr && ldns_pkt_push_rr(p, section, rr))
		return true;
	ldns_rr_free(rr);
	return false;
}

static bool add_question(ldns_pkt *p, const struct dns_question *q)
{
	ldns_rr *rr = ldns_rr_new();

	if (!rr)
		return false;
	ldns_rr_set_question(rr, true);
	ldns_rr_set_owner(rr, name_of(q));
	ldns_rr_set_type(rr, q->type);
	ldns_rr_set_class(rr, LDNS_RR_CLASS_IN);
	return add_record(p, LDNS_SECTION_QUESTION, rr);
}

static ldns_pkt *frame_new(const struct dns_question *q, int rcode)
{
	ldns_pkt *p = ldns_pkt_new();

	if (!p)
		return NULL;
	ldns_pkt_set_id(p, q->id);
	ldns_pkt_set_qr(p, true);
	ldns_pkt_set_rd(p, q->rd);
	ldns_pkt_set_ra(p, true);
	ldns_pkt_set_cd(p, q->cd);
	ldns_pkt_set_rcode(p, (uint8_t)(rcode & 0xf));
	if (q->has_edns) {
		ldns_pkt_set_edns_udp_size(p, DNS_UDP_OURS);
		ldns_pkt_set_edns_do(p, q->wants_dnssec);
		ldns_pkt_set_edns_extended_rcode(p, (uint8_t)(rcode >> 4));
	}
	if (q->has_name && !add_question(p, q)) {
		ldns_pkt_free(p);
		return NULL;
	}
	return p;
}

static size_t put_message(const ldns_pkt *p, uint8_t *buf, size_t room)
{
	uint8_t *wire = NULL;
	size_t n = 0;

	if (ldns_pkt2wire(&wire, p, &n) != LDNS_STATUS_OK)
		return 0;
	if (n <= room)
		memcpy(buf, wire, n);
	free(wire);
	return n;
}

static void empty_section(ldns_pkt *p, ldns_pkt_section section)
{
	ldns_rr_list *list = ldns_rr_list_new();

	if (!list)
		return;
	if (section == LDNS_SECTION_ANSWER) {
		ldns_rr_list_deep_free(ldns_pkt_answer(p));
		ldns_pkt_set_answer(p, list);
	} else {
		ldns_rr_list_deep_free(ldns_pkt_authority(p));
		ldns_pkt_set_authority(p, list);
	}
	ldns_pkt_set_section_count(p, section, 0);
}

/* Completes and encodes the message. */
static size_t finish_message(ldns_pkt *p, const struct dns_question *q, uint8_t *buf, size_t size)
{
	size_t room = q->size < size ? q->size : size, n;

	if (!p)
		return 0;
	n = put_message(p, buf, room);
	if (n > room) {
		ldns_pkt_set_tc(p, true);
		empty_section(p, LDNS_SECTION_ANSWER);
		empty_section(p, LDNS_SECTION_AUTHORITY);
		n = put_message(p, buf, room);
	}
	ldns_pkt_free(p);
	return n > room ? 0 : n;
}

/* --- replies from a name server's answer ------------------------------------------------------------ */

/* Writes the part of a name that equals the question's in the client's spelling: the query used another
 * spelling, which compressed names in the answer share. */
static void respell(ldns_rdf *name, const struct dns_question *q)
{
	uint8_t *wire = ldns_rdf_data(name);
	size_t n = ldns_rdf_size(name);

	for (size_t at = 0; at < n && wire[at] > 0; at += wire[at] + 1u) {
		size_t len = n - at;

		for (size_t i = 0; len <= q->n_wire && i + len <= q->n_wire && q->wire[i] > 0;
		     i += q->wire[i] + 1u)
			if (q->n_wire - i == len && dns_wire_equal(wire + at, len, q->wire + i, len)) {
				memcpy(wire + at, q->wire + i, len);
				return;
			}
	}
}

static ldns_rr *copy_of(const ldns_rr *rr, const struct dns_question *q)
{
	ldns_rr *copy = ldns_rr_clone(rr);

	if (!copy)
		return NULL;
	respell(ldns_rr_owner(copy), q);
	for (size_t i = 0; i < ldns_rr_rd_count(copy); i++)
		if (ldns_rdf_get_type(ldns_rr_rdf(copy, i)) == LDNS_RDF_TYPE_DNAME)
			respell(ldns_rr_rdf(copy, i), q);
	return copy;
}

/* A missing name or record is proven by SOA alone, or by the DNSSEC records. */
static bool is_proof(const struct dns_question *q, const ldns_rr *rr)
{
	return q->wants_dnssec || ldns_rr_get_type(rr) == LDNS_RR_TYPE_SOA;
}

static bool copy_records(ldns_pkt *p, const struct dns_question *q, const struct dns_answer *a)
{
	const ldns_rr_list *answer = ldns_pkt_answer(a->pkt), *authority = ldns_pkt_authority(a->pkt);

	for (size_t i = 0; i < ldns_rr_list_rr_count(answer); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(answer, i);

		if (dns_answer_has(a, rr) && !add_record(p, LDNS_SECTION_ANSWER, copy_of(rr, q)))
			return false;
	}
	for (size_t i = 0; i < ldns_rr_list_rr_count(authority); i++) {
		const ldns_rr *rr = ldns_rr_list_rr(authority, i);

		if (is_proof(q, rr) && !add_record(p, LDNS_SECTION_AUTHORITY, copy_of(rr, q)))
			return false;
	}
	return true;
}

size_t dns_reply(const struct dns_question *q, const struct dns_answer *a, uint8_t *buf, size_t size)
{
	ldns_pkt *p = frame_new(q, (int)dns_answer_rcode(a));

	if (!p)
		return 0;
	ldns_pkt_set_ad(p, ldns_pkt_ad(a->pkt) && (q->ad || q->wants_dnssec));
	if (!copy_records(p, q, a)) {
		ldns_pkt_free(p);
		return 0;
	}
	return finish_message(p, q, buf, size);
}

/* --- replies made here -------------------------------------------------------------------------------- */

static void add_why(ldns_pkt *p, enum dns_why why)
{
	uint8_t data[2];
	ldns_edns_option_list *list = ldns_edns_option_list_new();
	ldns_edns_option *option;

	ldns_write_uint16(data, (uint16_t)why);
	option = ldns_edns_new_from_data(LDNS_EDNS_EDE, sizeof(data), data);
	if (list && option && ldns_edns_option_list_push(list, option)) {
		ldns_pkt_set_edns_option_list(p, list);
		return;
	}
	ldns_edns_deep_free(option);
	ldns_edns_option_list_deep_free(list);
}

size_t dns_refuse(const struct dns_question *q, int rcode, enum dns_why why, uint8_t *buf, size_t size)
{
	ldns_pkt *p = frame_new(q, rcode);

	if (p && q->has_edns && why != DNS_WHY_NOT)
		add_why(p, why);
	return finish_message(p, q, buf, size);
}

static const uint8_t v4_mapped[12] = { [10] = 0xff, [11] = 0xff };

static bool add_addr(ldns_pkt *p, const struct dns_question *q, const uint8_t addr[16])
{
	bool is_v4 = memcmp(addr, v4_mapped, sizeof(v4_mapped)) == 0;
	ldns_rdf *data;

	if (q->type != (is_v4 ? DNS_TYPE_A : DNS_TYPE_AAAA))
		return true;
	data = is_v4 ? ldns_rdf_new_frm_data(LDNS_RDF_TYPE_A, 4, addr + 12)
		     : ldns_rdf_new_frm_data(LDNS_RDF_TYPE_AAAA, 16, addr);
	return add_record(p, LDNS_SECTION_ANSWER, record_new(name_of(q), q->type, data));
}

size_t dns_reply_addrs(const struct dns_question *q, const uint8_t (*addrs)[16], size_t n, uint8_t *buf,
		       size_t size)
{
	ldns_pkt *p = frame_new(q, DNS_NOERROR);

	for (size_t i = 0; p && i < n; i++)
		(void)add_addr(p, q, addrs[i]);
	return finish_message(p, q, buf, size);
}

size_t dns_reply_ptr(const struct dns_question *q, const char *name, uint8_t *buf, size_t size)
{
	ldns_pkt *p = frame_new(q, DNS_NOERROR);

	if (p)
		(void)add_record(p, LDNS_SECTION_ANSWER,
				 record_new(name_of(q), LDNS_RR_TYPE_PTR, ldns_dname_new_frm_str(name)));
	return finish_message(p, q, buf, size);
}

/* --- names of addresses -------------------------------------------------------------------------------- */

/* "7.2.0.192.in-addr.arpa", RFC 1035, 3.5. */
static bool reverse_v4(const char *name, uint8_t ret[16])
{
	const char *s = name;
	char *end;

	memset(ret, 0, 16);
	ret[10] = ret[11] = 0xff;
	for (int i = 15; i >= 12; i--, s = end + 1) {
		unsigned long v;

		if (*s < '0' || *s > '9')
			return false;
		v = strtoul(s, &end, 10);
		if (v > 255 || end - s > 3 || *end != '.')
			return false;
		ret[i] = (uint8_t)v;
	}
	return strcmp(s, "in-addr.arpa") == 0;
}

/* 32 nibbles, the last first, RFC 3596, 2.5. */
static bool reverse_v6(const char *name, uint8_t ret[16])
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(name) != 64 + strlen("ip6.arpa") || strcmp(name + 64, "ip6.arpa") != 0)
		return false;
	for (int i = 0; i < 32; i++) {
		const char *d = strchr(digits, name[2 * i]);
		int at = 15 - i / 2;

		if (!d || name[2 * i + 1] != '.')
			return false;
		ret[at] = (uint8_t)(i % 2 ? ret[at] | (d - digits) << 4 : d - digits);
	}
	return true;
}

bool dns_reverse(const char *name, uint8_t ret[16])
{
	return reverse_v4(name, ret) || reverse_v6(name, ret);
}
