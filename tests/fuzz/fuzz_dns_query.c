/*
 * A client's message of any bytes: what goes upstream for it is what a query for its name and type is by
 * hand, byte for byte, and holds nothing else of it; what it is refused with is a whole message of its own id
 * and question.
 */
#include <errno.h>

#include "tests/fuzz/dns_walk.h"
#include "tools/dns/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t random_bytes[DNS_RANDOM];

/* The name as text: a C string of what may stand in a host name, dots and \DDD. */
static void name_is_text(const struct dns_question *q)
{
	size_t n = strnlen(q->name, sizeof(q->name));

	REQUIRE(n < sizeof(q->name));
	for (size_t i = 0; i < n; i++)
		REQUIRE(islower((unsigned char)q->name[i]) || isdigit((unsigned char)q->name[i]) ||
			strchr("-_.\\", q->name[i]));
}

/* The same query written by hand, its letters lower. */
static size_t by_hand(const struct dns_question *q, enum dns_edns edns, uint8_t *msg)
{
	size_t n = 12;

	memset(msg, 0, 600);
	memcpy(msg, random_bytes, 2);
	msg[2] = 1;
	msg[3] = q->cd ? 0x10 : 0;
	msg[5] = 1;
	for (size_t i = 0; i < q->n_wire; i++)
		msg[n++] = (uint8_t)tolower(q->wire[i]);
	msg[n++] = (uint8_t)(q->type >> 8);
	msg[n++] = (uint8_t)q->type;
	msg[n + 1] = 1;
	n += 2;
	if (edns == DNS_PLAIN)
		return n;
	msg[11] = 1;
	msg[n + 2] = 41;
	msg[n + 3] = DNS_UDP_OURS >> 8;
	msg[n + 4] = DNS_UDP_OURS & 0xff;
	msg[n + 7] = q->wants_dnssec ? 0x80 : 0;
	return n + 11;
}

static void upstream(const struct dns_question *q)
{
	for (int edns = DNS_PLAIN; edns <= DNS_EDNS; edns++) {
		uint8_t buf[600], want[600];
		struct dns_asked a;
		size_t n = dns_query_build(q, (enum dns_edns)edns, random_bytes, &a, buf, sizeof(buf));
		size_t n_want = by_hand(q, (enum dns_edns)edns, want);

		REQUIRE(n == n_want);
		REQUIRE(memcmp(buf + 12, a.wire, a.n_wire) == 0 && a.type == q->type);
		for (size_t i = 12; i < 12 + q->n_wire; i++)
			buf[i] = (uint8_t)tolower(buf[i]);
		REQUIRE(memcmp(buf, want, n) == 0);
		for (size_t room = 0; room < n; room += 7)
			REQUIRE(dns_query_build(q, (enum dns_edns)edns, random_bytes, &a, buf, room) == 0);
	}
}

/* One message to a client that is whole, short enough, and says whose it is. */
static void is_reply(const struct dns_question *q, const uint8_t *msg, size_t n, unsigned rcode)
{
	REQUIRE(n >= 12 && n <= q->size);
	REQUIRE(at16(msg) == q->id && msg[2] & 0x80 && (msg[3] & 15u) == (rcode & 15u));
	REQUIRE(at16(msg + 4) == q->has_name);
	if (q->has_name)
		REQUIRE(n >= 12 + q->n_wire && memcmp(msg + 12, q->wire, q->n_wire) == 0 &&
			at16(msg + 12 + q->n_wire) == q->type);
	walk(msg, n, NULL, NULL);
}

static void replies(const struct dns_question *q, int code)
{
	static const int codes[] = { DNS_SERVFAIL, DNS_NXDOMAIN, DNS_REFUSED };
	static const uint8_t addrs[2][16] = { { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 },
					      { 0x20, 0x01, [15] = 9 } };
	uint8_t buf[4096], addr[16];
	size_t n;

	n = dns_refuse(q, code, DNS_WHY_NOT, buf, sizeof(buf));
	is_reply(q, buf, n, (unsigned)code);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		n = dns_refuse(q, codes[i], DNS_WHY_BLOCKED, buf, sizeof(buf));
		is_reply(q, buf, n, (unsigned)codes[i]);
	}
	REQUIRE(dns_refuse(q, code, DNS_WHY_OTHER, buf, 11) == 0);
	if (!q->has_name)
		return;
	n = dns_reply_addrs(q, addrs, 2, buf, sizeof(buf));
	is_reply(q, buf, n, DNS_NOERROR);
	REQUIRE(at16(buf + 6) == (q->type == DNS_TYPE_A || q->type == DNS_TYPE_AAAA));
	(void)dns_reverse(q->name, addr);
	n = dns_reply_ptr(q, "host.example", buf, sizeof(buf));
	is_reply(q, buf, n, DNS_NOERROR);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *msg = copy_of(data, size);
	struct dns_question q;
	int code = dns_question_read(&q, msg, size);

	for (size_t i = 0; i < sizeof(random_bytes); i++)
		random_bytes[i] = (uint8_t)(i * 37 + size);
	REQUIRE(code >= 0 || code == -EBADMSG);
	REQUIRE(code >= 0 || size < 12 || msg[2] & 0x80);
	if (code >= 0) {
		REQUIRE(q.id == at16(msg) && q.n_wire <= DNS_NAME_WIRE && q.size >= DNS_UDP_PLAIN);
		name_is_text(&q);
		replies(&q, code);
	}
	if (code == DNS_NOERROR) {
		REQUIRE(q.has_name && q.n_wire > 0);
		upstream(&q);
	}
	free(msg);
	return 0;
}
