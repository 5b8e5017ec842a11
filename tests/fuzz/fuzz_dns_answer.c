/*
 * An upstream server's message of any bytes: what is no answer to the question teaches nothing; of what is
 * one each address stands in it and is the asked name's, by a chain of aliases that is walked by hand; what
 * clients are given is whole, has their own id, question and size, and no record of another name.
 *
 * Input: one byte that chooses, then the message; or with its low bit, what comes behind the right id and
 * question: flags, three counts, records.
 */
#include "tests/fuzz/dns_walk.h"
#include "tools/dns/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint16_t types[] = { 1, 28, 65, 5, 16, 15, 33, 6 };

/* What a client asked, and what was sent upstream for it. */
struct world {
	struct dns_question q;
	struct dns_asked asked;
	const uint8_t *msg;
	size_t len;
	size_t n_addrs;
	size_t n_owners;
	struct walk_name chain[64], owners[64];
};

static void ask(struct world *w, unsigned type, size_t limit)
{
	static const uint8_t name[] = "\3wWw\7example\3Org\0";
	uint8_t msg[64] = { 0x12, 0x34, 1, 0, 0, 1 }, buf[512], random_bytes[DNS_RANDOM];

	memcpy(msg + 12, name, sizeof(name) - 1);
	msg[12 + sizeof(name) - 1] = (uint8_t)(type >> 8);
	msg[12 + sizeof(name)] = (uint8_t)type;
	msg[12 + sizeof(name) + 2] = 1;
	REQUIRE(dns_question_read(&w->q, msg, 12 + sizeof(name) + 3) == DNS_NOERROR);
	w->q.size = limit;
	w->q.has_edns = limit > 512;
	memset(random_bytes, 0xa6, sizeof(random_bytes));
	REQUIRE(dns_query_build(&w->q, DNS_EDNS, random_bytes, &w->asked, buf, sizeof(buf)));
}

/* The id and question that were asked, in front of the rest. */
static size_t behind_the_question(const struct world *w, const uint8_t *data, size_t size, uint8_t *msg)
{
	size_t n = 12;

	memset(msg, 0, 12);
	msg[0] = (uint8_t)(w->asked.id >> 8);
	msg[1] = (uint8_t)w->asked.id;
	memcpy(msg + 2, data, size < 2 ? size : 2);
	msg[2] |= 0x80;
	msg[5] = 1;
	for (unsigned i = 0; i < 3; i++)
		msg[7 + 2 * i] = size > 2 + i ? data[2 + i] : 0;
	memcpy(msg + n, w->asked.wire, w->asked.n_wire);
	n += w->asked.n_wire;
	msg[n++] = (uint8_t)(w->asked.type >> 8);
	msg[n++] = (uint8_t)w->asked.type;
	msg[n++] = 0;
	msg[n++] = 1;
	if (size > 5) {
		memcpy(msg + n, data + 5, size - 5);
		n += size - 5;
	}
	return n;
}

/* Each address stands in the message as it is. */
static void one_addr(void *cookie, const uint8_t addr[16], uint32_t ttl)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct world *w = cookie;
	bool v4 = memcmp(addr, mapped, sizeof(mapped)) == 0;

	REQUIRE(ttl < 0x80000000u);
	REQUIRE(memmem(w->msg, w->len, addr + (v4 ? 12 : 0), v4 ? 4 : 16));
	w->n_addrs++;
}

/* A reply's answer section: aliases make the chain longer; every other owner must be on it at the end. */
static void one_record(void *cookie, const uint8_t *msg, size_t len, const struct walk_record *r)
{
	struct world *w = cookie;

	if (r->section != 1 || w->n_owners >= 64)
		return;
	w->owners[w->n_owners] = r->owner;
	w->chain[w->n_owners].n = 0;
	/* One without a name leads nowhere. */
	if (r->type == 5 && r->n_data > 0)
		REQUIRE(walk_name(msg, len, r->data, &w->chain[w->n_owners]) == r->data + r->n_data);
	if (r->type == 39) /* DNAME: above the chain, not on it */
		w->owners[w->n_owners].n = 0;
	w->n_owners++;
}

static bool on_chain(const struct world *w, const struct walk_name *start, const struct walk_name *name)
{
	const struct walk_name *at = start;

	for (size_t step = 0; step <= w->n_owners; step++) {
		const struct walk_name *next = NULL;

		if (walk_equal(at, name))
			return true;
		for (size_t i = 0; i < w->n_owners && !next; i++)
			if (w->chain[i].n && walk_equal(&w->owners[i], at))
				next = &w->chain[i];
		if (!next)
			return false;
		at = next;
	}
	return false;
}

static void one_reply(struct world *w, const struct dns_answer *a, size_t limit)
{
	static uint8_t buf[DNS_MESSAGE_MAX];
	struct walk_name start;
	size_t n;

	w->q.size = limit;
	n = dns_reply(&w->q, a, buf, sizeof(buf));
	REQUIRE(n >= 12 && n <= limit);
	REQUIRE(at16(buf) == w->q.id && buf[2] & 0x80 && at16(buf + 4) == 1);
	REQUIRE(memcmp(buf + 12, w->q.wire, w->q.n_wire) == 0);
	w->n_owners = 0;
	walk(buf, n, one_record, w);
	REQUIRE(walk_name(buf, n, 12, &start));
	for (size_t i = 0; i < w->n_owners; i++)
		REQUIRE(!w->owners[i].n || on_chain(w, &start, &w->owners[i]) || w->n_owners == 64);
}

static void fits(struct world *w, struct dns_answer *a)
{
	REQUIRE(w->len >= 12 && at16(w->msg) == w->asked.id && w->msg[2] & 0x80);
	w->n_addrs = 0;
	dns_answer_addrs(a, one_addr, w);
	REQUIRE(w->n_addrs <= w->len / 4);
	one_reply(w, a, 512);
	one_reply(w, a, 1232);
	one_reply(w, a, DNS_MESSAGE_MAX);
	dns_answer_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	static uint8_t whole[DNS_MESSAGE_MAX];

	if (size < 1 || size > DNS_MESSAGE_MAX - 64)
		return 0;
	ask(&w, types[data[0] >> 1 & 7], 1232);
	w.len = size - 1;
	if (data[0] & 1)
		w.len = behind_the_question(&w, data + 1, size - 1, whole);
	else
		memcpy(whole, data + 1, w.len);
	for (int over = DNS_UDP; over <= DNS_TCP; over++) {
		uint8_t *msg = copy_of(whole, w.len);
		struct dns_answer *a = NULL;

		w.msg = msg;
		if (dns_answer_read(&w.asked, (enum dns_over)over, msg, w.len, &a) == DNS_FITS)
			fits(&w, a);
		else
			REQUIRE(!a);
		free(msg);
	}
	return 0;
}
