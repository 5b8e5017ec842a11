/*
 * DNS messages, in and out, by ldns: bytes in, values out.  No socket, no clock, no state.
 *
 * No message is passed on as it came.  From a client's message one question is read, and the query to the
 * name server is built from that.  From an answer the records that answer the question are read, and each
 * client's reply is built from those.
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
#define DNS_QUERY_MAX	1232u  /* from a client: enough for a name, EDNS and its padding (RFC 8467) */
#define DNS_UDP_PLAIN	512u   /* the most that a client without EDNS accepts */
#define DNS_UDP_OURS	1232u  /* the most that we accept: no fragments (DNS flag day 2020) */
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

/* The reason, for a client that uses EDNS: RFC 8914.  DNS_WHY_NOT: no reason is sent. */
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

/* One question, class IN, and what its client accepts. */
struct dns_question {
	uint16_t id, type;
	bool has_name; /* false: the message had no readable question */
	bool rd, cd, ad;
	bool has_edns, wants_dnssec;
	size_t size; /* the longest reply: 512, or the size from EDNS; the caller raises it for a stream */
	/* Lower case, without the root's dot; bytes that no host name has are written as \DDD; cut where
	 * too long. */
	char name[LIMIT_HOST];
	size_t n_wire;
	uint8_t wire[DNS_NAME_WIRE]; /* in the client's spelling */
};

/* Reads a client's message.  DNS_NOERROR, or the code for dns_refuse(); -EBADMSG: it is no query and gets
 * no reply, so that two servers cannot send messages to each other for ever. */
int dns_question_read(struct dns_question *ret, const uint8_t *msg, size_t len);

/* A query as it was sent. */
struct dns_asked {
	uint16_t id, type;
	size_t n_wire;
	uint8_t wire[DNS_NAME_WIRE]; /* in a random spelling (draft-vixie-dnsext-dns0x20) */
};

/*
 * Builds the query for q: an id and a spelling from `random`, recursion desired; of the client's message
 * only name, type and the two bits that ask for DNSSEC records.  Its length, or 0 where there is no room.
 */
#define DNS_RANDOM (2 + DNS_NAME_WIRE / 8 + 1)
enum dns_edns { DNS_PLAIN, DNS_EDNS };
size_t dns_query_build(const struct dns_question *q, enum dns_edns edns, const uint8_t random[DNS_RANDOM],
		       struct dns_asked *ret, uint8_t *buf, size_t size);

/* The result of reading a message from the server. */
enum dns_fit {
	DNS_FITS,
	DNS_ALIEN,     /* another id or question: go on waiting */
	DNS_TRUNCATED, /* ask again by TCP: cut, too long, or in another spelling */
	DNS_NO_EDNS,   /* the server does not know EDNS */
	DNS_BROKEN     /* an answer to this question that cannot be used */
};
/* Over TCP an attacker cannot inject an answer, so the spelling need not match. */
enum dns_over { DNS_UDP, DNS_TCP };

struct dns_answer;
/* Reads an answer; *ret is set where it fits, and the caller must free it. */
enum dns_fit dns_answer_read(const struct dns_asked *asked, enum dns_over over, const uint8_t *msg,
			     size_t len, struct dns_answer **ret);
void dns_answer_free(struct dns_answer *a);
enum dns_rcode dns_answer_rcode(const struct dns_answer *a);
/* Calls fn for each address that the answer holds for the name in the query, with CNAMEs followed and the
 * hints of HTTPS and SVCB included: 16 bytes, v4 mapped; ttl in seconds, the smallest along the chain. */
typedef void (*dns_addr_fn)(void *cookie, const uint8_t addr[16], uint32_t ttl);
void dns_answer_addrs(const struct dns_answer *a, dns_addr_fn fn, void *cookie);

/* Builds a reply to q.  Its length, at most q->size and size; 0: no memory, or no room for a header.  Where
 * records do not fit, the reply is marked as truncated. */
size_t dns_reply(const struct dns_question *q, const struct dns_answer *a, uint8_t *buf, size_t size);
size_t dns_refuse(const struct dns_question *q, int rcode, enum dns_why why, uint8_t *buf, size_t size);
/*
 * A reply with the addresses of q's type among these; without such an address the name has no such record.
 */
size_t dns_reply_addrs(const struct dns_question *q, const uint8_t (*addrs)[16], size_t n, uint8_t *buf,
		       size_t size);
/* A reply with the name, which must need no escapes. */
size_t dns_reply_ptr(const struct dns_question *q, const char *name, uint8_t *buf, size_t size);
/* The address that a name below in-addr.arpa or ip6.arpa stands for; false for another name. */
bool dns_reverse(const char *name, uint8_t ret[16]);

#endif
