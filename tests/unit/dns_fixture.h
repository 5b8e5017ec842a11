/* DNS messages by hand: what a test says is what stands in them. */
#ifndef PALE_TEST_DNS_FIXTURE_H
#define PALE_TEST_DNS_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "tools/dns/message.h"

struct packet {
	size_t n;
	uint8_t p[4096];
};

static inline void put8(struct packet *k, unsigned v)
{
	ck_assert_uint_lt(k->n, sizeof(k->p));
	k->p[k->n++] = (uint8_t)v;
}

static inline void put16(struct packet *k, unsigned v)
{
	put8(k, v >> 8);
	put8(k, v & 0xff);
}

static inline void pk_bytes(struct packet *k, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put8(k, ((const uint8_t *)p)[i]);
}

static inline void put_name(struct packet *k, const char *name)
{
	while (*name) {
		size_t n = strcspn(name, ".");

		put8(k, (unsigned)n);
		pk_bytes(k, name, n);
		name += n + (name[n] == '.');
	}
	put8(k, 0);
}

static inline void put_pointer(struct packet *k, unsigned to)
{
	put16(k, 0xc000 | to);
}

/* flags: QR 0x8000, TC 0x0200, RD 0x0100, RA 0x0080. */
static inline struct packet header(unsigned id, unsigned flags, unsigned qd, unsigned an, unsigned ar)
{
	struct packet k = { 0 };

	put16(&k, id);
	put16(&k, flags);
	put16(&k, qd);
	put16(&k, an);
	put16(&k, 0);
	put16(&k, ar);
	return k;
}

static inline struct packet query(unsigned id, const char *name, unsigned type)
{
	struct packet k = header(id, 0x0100, 1, 0, 0);

	put_name(&k, name);
	put16(&k, type);
	put16(&k, 1);
	return k;
}

static inline void put_opt(struct packet *k, unsigned size, unsigned version, unsigned flags)
{
	put8(k, 0);
	put16(k, 41);
	put16(k, size);
	put8(k, 0);
	put8(k, version);
	put16(k, flags);
	put16(k, 0);
	k->p[11]++;
}

/* A record behind its owner: type, class IN, ttl, data. */
static inline void put_record(struct packet *k, unsigned type, unsigned ttl, const void *data, size_t n)
{
	put16(k, type);
	put16(k, 1);
	put16(k, ttl >> 16);
	put16(k, ttl & 0xffff);
	put16(k, (unsigned)n);
	pk_bytes(k, data, n);
	/* as many as there are */
	if (++k->p[7] == 0)
		k->p[6]++;
}

static inline unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* The answer to what was asked, without records: its question stands at 12. */
static inline struct packet answer_to(const struct dns_asked *a)
{
	struct packet k = header(a->id, 0x8180, 1, 0, 0);

	pk_bytes(&k, a->wire, a->n_wire);
	put16(&k, a->type);
	put16(&k, 1);
	return k;
}

static inline struct dns_question question(const char *name, unsigned type)
{
	struct packet k = query(7, name, type);
	struct dns_question q;

	ck_assert_int_eq(dns_question_read(&q, k.p, k.n), DNS_NOERROR);
	return q;
}

static inline struct dns_asked ask(const struct dns_question *q)
{
	uint8_t random[DNS_RANDOM], buf[512];
	struct dns_asked a;

	memset(random, 0x5a, sizeof(random));
	ck_assert_uint_gt(dns_query_build(q, DNS_EDNS, random, &a, buf, sizeof(buf)), 0);
	return a;
}

#endif
