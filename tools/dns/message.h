/*
 * DNS messages, in and out, by ldns: bytes in, values out.  No socket, no clock, no state.
 *
 * Nothing that comes in goes out again as it came: of a client's message one question is understood, and from
 * that the upstream query is built anew; of an upstream answer the records are understood that answer the
 * question, and from those each client's reply is built.
 *
 * Bytes are hostile in both directions: every length is checked, names are bounded, chains of CNAMEs end.
 */
#ifndef PALE_DNS_MESSAGE_H
#define PALE_DNS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/base/op.h"

#define DNS_MESSAGE_MAX 65535u /* RFC 1035, 4.2.2 */
#define DNS_QUERY_MAX	1232u  /* of a client: a name, EDNS and its padding (RFC 8467) have room */
#define DNS_UDP_PLAIN	512u   /* what a client takes that says nothing else */
#define DNS_UDP_OURS	1232u  /* what we take: no fragments (DNS flag day 2020) */
#define DNS_NAME_WIRE	255u
#define DNS_CHAIN_MAX	16u /* CNAMEs that lead to an answer */

/* RFC 1035, 6891. */
enum dns_rcode {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
	DNS_BADVERS = 16
};

/* Why, for a client that speaks EDNS: RFC 8914.  DNS_WHY_NOT says nothing. */
enum dns_why {
	DNS_WHY_NOT = -1,
	DNS_WHY_OTHER = 0,
	DNS_WHY_BLOCKED = 15,
	DNS_WHY_PROHIBITED = 18,
	DNS_WHY_UNREACHABLE = 22
};

enum {
	DNS_TYPE_A = 1,
	DNS_TYPE_CNAME = 5,
	DNS_TYPE_PTR = 12,
	DNS_TYPE_AAAA = 28,
	DNS_TYPE_HTTPS = 65,
};

/* One question, class IN, and what its client can take. */
struct dns_question {
	uint16_t id, type;
	bool has_name; /* else the message had no question that could be read */
	bool rd, cd, ad;
	bool has_edns, wants_dnssec;
	size_t size; /* the longest reply: 512 or what EDNS says; the caller raises it for a stream */
	/* Lower case, without the root's dot; bytes that no host name has as \DDD, cut where too long. */
	char name[LIMIT_HOST];
	size_t n_wire;
	uint8_t wire[DNS_NAME_WIRE]; /* as the client spelt it */
};

/*
 * Understands a client's message.  DNS_NOERROR, or the code to refuse it with by dns_refuse(); -EBADMSG: it
 * is no query at all and gets no reply, lest two servers talk to each other for ever.
 */
int dns_question_read(struct dns_question *ret, const uint8_t *msg, size_t len);

/* What was sent upstream. */
struct dns_asked {
	uint16_t id, type;
	size_t n_wire;
	uint8_t wire[DNS_NAME_WIRE]; /* in a spelling of its own (draft-vixie-dnsext-dns0x20) */
};

/*
 * Builds the upstream query for q: an id and a spelling drawn from `random`, recursion desired, nothing of
 * the client's but name, type and the two bits that ask for DNSSEC's records.  The length; 0: no room.
 */
#define DNS_RANDOM (2 + DNS_NAME_WIRE / 8 + 1)
enum dns_edns { DNS_PLAIN, DNS_EDNS };
size_t dns_query_build(const struct dns_question *q, enum dns_edns edns, const uint8_t random[DNS_RANDOM],
		       struct dns_asked *ret, uint8_t *buf, size_t size);

/* What a message that came from the server that was asked is. */
enum dns_fit {
	DNS_FITS,
	DNS_ALIEN,     /* not an answer to this question: another id or question; wait on */
	DNS_TRUNCATED, /* ask again by TCP: it was cut, is longer than we take, or spelt otherwise */
	DNS_NO_EDNS,   /* it does not know EDNS */
	DNS_BROKEN     /* an answer to this, and unusable */
};
/* Over TCP nobody can guess his way in, and the spelling need not be kept. */
enum dns_over { DNS_UDP, DNS_TCP };

struct dns_answer;
/* The answer, where it fits; the caller frees it. */
enum dns_fit dns_answer_read(const struct dns_asked *asked, enum dns_over over, const uint8_t *msg,
			     size_t len, struct dns_answer **ret);
void dns_answer_free(struct dns_answer *a);
enum dns_rcode dns_answer_rcode(const struct dns_answer *a);
/*
 * Each address that the answer holds for the name that was asked, CNAMEs followed and the hints of HTTPS
 * and SVCB included: 16 bytes, v4 mapped; ttl in seconds, the least on the way.
 */
typedef void (*dns_addr_fn)(void *cookie, const uint8_t addr[16], uint32_t ttl);
void dns_answer_addrs(const struct dns_answer *a, dns_addr_fn fn, void *cookie);

/*
 * Replies to q: the length, at most q->size and size; 0: no memory, or no room for a header.  What does not
 * fit is said to be truncated.
 */
size_t dns_reply(const struct dns_question *q, const struct dns_answer *a, uint8_t *buf, size_t size);
size_t dns_refuse(const struct dns_question *q, int rcode, enum dns_why why, uint8_t *buf, size_t size);
/* Answered here: the addresses of q's type among these; none: the name exists and has no such record. */
size_t dns_reply_addrs(const struct dns_question *q, const uint8_t (*addrs)[16], size_t n, uint8_t *buf,
		       size_t size);
/* Answered here: the name, which is plain. */
size_t dns_reply_ptr(const struct dns_question *q, const char *name, uint8_t *buf, size_t size);
/* The address that a name below in-addr.arpa or ip6.arpa stands for; false for any other name. */
bool dns_reverse(const char *name, uint8_t ret[16]);

#endif
