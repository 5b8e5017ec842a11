/* DNS messages: what is understood of a client's, what goes upstream, what counts as an answer. */
#include <stdio.h>

#include "tests/unit/dns_fixture.h"

Suite *suite_dns_message(void);

/* --- questions ---------------------------------------------------------------------------------------- */

START_TEST(test_question)
{
	struct packet k = query(0x1234, "RegisTry.npmjs.ORG", DNS_TYPE_A);
	struct dns_question q;

	ck_assert_int_eq(dns_question_read(&q, k.p, k.n), DNS_NOERROR);
	ck_assert_str_eq(q.name, "registry.npmjs.org");
	ck_assert_uint_eq(q.id, 0x1234);
	ck_assert_uint_eq(q.type, DNS_TYPE_A);
	ck_assert_uint_eq(q.size, 512);
	ck_assert(q.rd && !q.has_edns && !q.cd && !q.ad);
	ck_assert_mem_eq(q.wire, "\10RegisTry\5npmjs\3ORG", q.n_wire);
	put_opt(&k, 1400, 0, 0x8000);
	ck_assert_int_eq(dns_question_read(&q, k.p, k.n), DNS_NOERROR);
	ck_assert(q.has_edns && q.wants_dnssec);
	ck_assert_uint_eq(q.size, 1400);
}
END_TEST

START_TEST(test_edns_sizes)
{
	static const unsigned sizes[][2] = { { 100, 512 }, { 512, 512 }, { 4096, 4096 }, { 65535, 4096 } };
	struct dns_question q;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct packet k = query(1, "a.example", DNS_TYPE_A);

		put_opt(&k, sizes[i][0], 0, 0);
		ck_assert_int_eq(dns_question_read(&q, k.p, k.n), DNS_NOERROR);
		ck_assert_uint_eq(q.size, sizes[i][1]);
	}
}
END_TEST

/* Bytes that no host name has never look like one that has a rule. */
START_TEST(test_strange_names)
{
	struct packet k = header(1, 0x0100, 1, 0, 0);
	struct dns_question q;

	pk_bytes(&k, "\6a.b\0c \3com\0\0\1\0\1", 16);
	ck_assert_int_eq(dns_question_read(&q, k.p, k.n), DNS_NOERROR);
	ck_assert_str_eq(q.name, "a\\046b\\000c\\032.com");
	k = header(1, 0x0100, 1, 0, 0);
	for (int i = 0; i < 3; i++) {
		put8(&k, 63);
		for (int j = 0; j < 63; j++)
			put8(&k, 0xff);
	}
	pk_bytes(&k, "\0\0\1\0\1", 5);
	ck_assert_int_eq(dns_question_read(&q, k.p, k.n), DNS_NOERROR);
	ck_assert_uint_eq(strlen(q.name), LIMIT_HOST - 1);
	ck_assert_ptr_nonnull(strchr(q.name, '\\'));
}
END_TEST

static int code_of(struct packet k)
{
	struct dns_question q;

	return dns_question_read(&q, k.p, k.n);
}

START_TEST(test_refused_questions)
{
	struct packet k = query(1, "a.example", 255);

	ck_assert_int_eq(code_of(k), DNS_REFUSED); /* ANY */
	ck_assert_int_eq(code_of(query(1, "a.example", 252)), DNS_REFUSED);
	ck_assert_int_eq(code_of(query(1, "a.example", 41)), DNS_REFUSED);
	ck_assert_int_eq(code_of(query(1, "a.example", 0)), DNS_FORMERR);
	k = query(1, "a.example", 1);
	k.p[k.n - 1] = 3; /* class CH */
	ck_assert_int_eq(code_of(k), DNS_REFUSED);
	k = query(1, "a.example", 1);
	k.p[2] |= 0x20; /* NOTIFY */
	ck_assert_int_eq(code_of(k), DNS_NOTIMP);
	k = query(1, "a.example", 1);
	k.p[2] |= 0x80; /* an answer */
	ck_assert_int_eq(code_of(k), -EBADMSG);
	k = query(1, "a.example", 1);
	put_opt(&k, 1232, 1, 0);
	ck_assert_int_eq(code_of(k), DNS_BADVERS);
}
END_TEST

START_TEST(test_broken_questions)
{
	struct packet k = query(1, "a.example", 1), two = k;
	struct dns_question q;

	for (size_t n = 0; n < k.n; n++)
		ck_assert_int_eq(dns_question_read(&q, k.p, n), n < 12 ? -EBADMSG : DNS_FORMERR);
	two.p[5] = 2;
	put_name(&two, "b.example");
	put16(&two, 1);
	put16(&two, 1);
	ck_assert_int_eq(code_of(two), DNS_FORMERR);
	ck_assert_int_eq(code_of(header(1, 0x0100, 0, 0, 0)), DNS_FORMERR);
	/* A name that points to itself, and one that points behind the end. */
	for (unsigned to = 12; to < 3000; to += 2000) {
		k = header(1, 0x0100, 1, 0, 0);
		put_pointer(&k, to);
		put16(&k, 1);
		put16(&k, 1);
		ck_assert_int_eq(code_of(k), DNS_FORMERR);
	}
	/* Longer than 255 bytes. */
	k = header(1, 0x0100, 1, 0, 0);
	for (int i = 0; i < 5; i++)
		pk_bytes(&k, "\77aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 64);
	pk_bytes(&k, "\0\0\1\0\1", 5);
	ck_assert_int_eq(code_of(k), DNS_FORMERR);
	/* Records that come with it, and more than a query needs. */
	k = query(1, "a.example", 1);
	put_pointer(&k, 12);
	put_record(&k, 1, 60, "abcd", 4);
	ck_assert_int_eq(code_of(k), DNS_FORMERR);
	k = query(1, "a.example", 1);
	k.n = DNS_QUERY_MAX + 1;
	ck_assert_int_eq(code_of(k), DNS_FORMERR);
}
END_TEST

/* Nothing of the client's message goes upstream but name, type, CD and DO. */
START_TEST(test_upstream_query)
{
	struct packet k = query(0x1111, "www.Example.com", DNS_TYPE_AAAA);
	uint8_t random[DNS_RANDOM] = { 0xab, 0xcd, 0xff, 0x00, 0xff }, buf[512];
	struct dns_question q, back;
	struct dns_asked a;
	size_t n;

	k.p[2] |= 0x04; /* AA: nonsense in a query */
	k.p[3] |= 0x70; /* Z, AD, CD */
	ck_assert_int_eq(dns_question_read(&q, k.p, k.n), DNS_NOERROR);
	n = dns_query_build(&q, DNS_EDNS, random, &a, buf, sizeof(buf));
	ck_assert_uint_eq(n, 12 + 17 + 4 + 11);
	ck_assert_mem_eq(buf, "\xab\xcd\x01\x10\0\1\0\0\0\0\0\1", 12);
	ck_assert_mem_eq(buf + 12, "\3WWW\7EXAmple\3com", 16);
	ck_assert_int_eq(dns_question_read(&back, buf, n), DNS_NOERROR);
	ck_assert_str_eq(back.name, "www.example.com");
	ck_assert(back.has_edns && !back.wants_dnssec && back.cd);
	ck_assert_uint_eq(back.size, DNS_UDP_OURS);
	ck_assert_uint_eq(dns_query_build(&q, DNS_PLAIN, random, &a, buf, sizeof(buf)), n - 11);
	ck_assert_uint_eq(dns_query_build(&q, DNS_EDNS, random, &a, buf, n - 1), 0);
}
END_TEST

/* --- answers: whose ---------------------------------------------------------------------------------- */

static enum dns_fit fit(const struct dns_asked *a, enum dns_over over, const struct packet *k)
{
	struct dns_answer *answer = NULL;
	enum dns_fit f = dns_answer_read(a, over, k->p, k->n, &answer);

	ck_assert_int_eq(f == DNS_FITS, answer != NULL);
	dns_answer_free(answer);
	return f;
}

START_TEST(test_alien_answers)
{
	struct dns_question q = question("www.example.com", DNS_TYPE_A);
	struct dns_asked a = ask(&q);
	struct packet good = answer_to(&a), k = good;

	ck_assert_int_eq(fit(&a, DNS_UDP, &good), DNS_FITS);
	k.p[1] ^= 1; /* id */
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_ALIEN);
	k = good;
	k.p[2] &= 0x7f; /* a query */
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_ALIEN);
	k = good;
	k.p[13] ^= 1; /* another name */
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_ALIEN);
	ck_assert_int_eq(fit(&a, DNS_TCP, &k), DNS_ALIEN);
	k = good;
	k.p[13] ^= 0x20; /* another spelling */
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_TRUNCATED);
	ck_assert_int_eq(fit(&a, DNS_TCP, &k), DNS_FITS);
	k = good;
	k.p[k.n - 3] = 28; /* another type */
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_ALIEN);
	k = good;
	k.p[5] = 0; /* no question */
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_ALIEN);
	k.p[3] |= DNS_FORMERR;
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_NO_EDNS);
	for (size_t n = 0; n < good.n; n++) {
		k.n = n;
		ck_assert_int_eq(fit(&a, DNS_UDP, &k), n < 12 ? DNS_ALIEN : fit(&a, DNS_UDP, &k));
		ck_assert_int_ne(fit(&a, DNS_UDP, &k), DNS_FITS);
	}
}
END_TEST

START_TEST(test_broken_answers)
{
	struct dns_question q = question("www.example.com", DNS_TYPE_A);
	struct dns_asked a = ask(&q);
	struct packet good = answer_to(&a), k = good;

	k.p[2] |= 0x02;
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_TRUNCATED);
	ck_assert_int_eq(fit(&a, DNS_TCP, &k), DNS_BROKEN);
	/* Longer than was asked for. */
	k = good;
	k.n = DNS_UDP_OURS + 1;
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_TRUNCATED);
	/* A record that ends behind the message; an owner that points to itself. */
	k = good;
	put_pointer(&k, 12);
	put_record(&k, DNS_TYPE_A, 60, "abcd", 4);
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_FITS);
	k.n--;
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_BROKEN);
	k = good;
	put_pointer(&k, (unsigned)k.n);
	put_record(&k, DNS_TYPE_A, 60, "abcd", 4);
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_BROKEN);
	/* More records promised than there are. */
	k = good;
	k.p[6] = 0xff;
	ck_assert_int_eq(fit(&a, DNS_UDP, &k), DNS_BROKEN);
}
END_TEST

static void put_cname(struct packet *k, const char *owner, const char *target, unsigned ttl)
{
	struct packet name = { 0 };

	put_name(&name, target);
	put_name(k, owner);
	put_record(k, DNS_TYPE_CNAME, ttl, name.p, name.n);
}

START_TEST(test_chains_end)
{
	struct dns_question q = question("a.example", DNS_TYPE_A);
	struct dns_asked a = ask(&q);
	struct packet circle = answer_to(&a), longest = circle, longer;
	char owner[16] = "a.example", target[16];

	put_cname(&circle, "a.example", "b.example", 60);
	put_cname(&circle, "b.example", "A.EXAMPLE", 60);
	ck_assert_int_eq(fit(&a, DNS_UDP, &circle), DNS_BROKEN);
	for (unsigned i = 0; i < DNS_CHAIN_MAX; i++) {
		snprintf(target, sizeof(target), "n%u.example", i);
		put_cname(&longest, owner, target, 60);
		strcpy(owner, target);
	}
	ck_assert_int_eq(fit(&a, DNS_UDP, &longest), DNS_FITS);
	longer = longest;
	put_cname(&longer, owner, "z.example", 60);
	ck_assert_int_eq(fit(&a, DNS_UDP, &longer), DNS_BROKEN);
}
END_TEST

/* --- answers: addresses ------------------------------------------------------------------------------ */

struct learnt {
	size_t n;
	uint8_t addr[8][16];
	uint32_t ttl[8];
};

static void learn(void *cookie, const uint8_t addr[16], uint32_t ttl)
{
	struct learnt *l = cookie;

	ck_assert_uint_lt(l->n, 8);
	memcpy(l->addr[l->n], addr, 16);
	l->ttl[l->n++] = ttl;
}

static struct learnt learn_of(const struct dns_asked *a, const struct packet *k)
{
	struct learnt l = { 0 };
	struct dns_answer *answer;

	ck_assert_int_eq(dns_answer_read(a, DNS_UDP, k->p, k->n, &answer), DNS_FITS);
	dns_answer_addrs(answer, learn, &l);
	dns_answer_free(answer);
	return l;
}

/* CNAMEs lead back to the name that was asked; what the answer says of others is not believed. */
START_TEST(test_addresses)
{
	struct dns_question q = question("www.example.com", DNS_TYPE_A);
	struct dns_asked a = ask(&q);
	struct packet k = answer_to(&a);
	struct learnt l;

	put_cname(&k, "cdn.example.net", "edge.example.net", 30);
	put_cname(&k, "www.example.com", "cdn.example.net", 300);
	put_name(&k, "edge.example.net");
	put_record(&k, DNS_TYPE_A, 600, "\300\0\2\7", 4);
	put_name(&k, "evil.example.net");
	put_record(&k, DNS_TYPE_A, 600, "\300\0\2\10", 4);
	put_name(&k, "edge.example.net");
	put_record(&k, DNS_TYPE_A, 0x80000001, "\300\0\2\11", 4);
	l = learn_of(&a, &k);
	ck_assert_uint_eq(l.n, 2);
	ck_assert_mem_eq(l.addr[0], "\0\0\0\0\0\0\0\0\0\0\xff\xff\300\0\2\7", 16);
	ck_assert_uint_eq(l.ttl[0], 30);
	ck_assert_uint_eq(l.ttl[1], 0);
}
END_TEST

START_TEST(test_hints)
{
	static const uint8_t data[] = "\0\1\0"			       /* priority 1, target "." */
				      "\0\1\0\3\2h2"		       /* alpn */
				      "\0\4\0\10\300\0\2\7\300\0\2\10" /* ipv4hint */
				      "\0\6\0\20\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1";
	struct dns_question q = question("www.example.com", DNS_TYPE_HTTPS);
	struct dns_asked a = ask(&q);
	struct packet k = answer_to(&a);
	struct learnt l;

	put_pointer(&k, 12);
	put_record(&k, DNS_TYPE_HTTPS, 60, data, sizeof(data) - 1);
	l = learn_of(&a, &k);
	ck_assert_uint_eq(l.n, 3);
	ck_assert_mem_eq(l.addr[1] + 10, "\xff\xff\300\0\2\10", 6);
	ck_assert_mem_eq(l.addr[2], "\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	/* A hint that is longer than its record. */
	k = answer_to(&a);
	put_pointer(&k, 12);
	put_record(&k, DNS_TYPE_HTTPS, 60, "\0\1\0\0\4\0\10\300\0\2\7", 11);
	ck_assert_uint_le(learn_of(&a, &k).n, 0);
}
END_TEST

/* --- replies
 * ------------------------------------------------------------------------------------------------
 */

static struct packet reply_to(const struct dns_question *q, const struct dns_asked *a, const struct packet *k)
{
	struct dns_answer *answer;
	struct packet r = { 0 };

	ck_assert_int_eq(dns_answer_read(a, DNS_UDP, k->p, k->n, &answer), DNS_FITS);
	r.n = dns_reply(q, answer, r.p, sizeof(r.p));
	dns_answer_free(answer);
	ck_assert_uint_ge(r.n, 12);
	return r;
}

/* The client's id and spelling, also where upstream's names point into the question. */
START_TEST(test_reply)
{
	struct dns_question q = question("Www.example.COM", DNS_TYPE_A);
	struct dns_asked a = ask(&q);
	struct packet k = answer_to(&a), r;

	ck_assert_mem_ne(a.wire, q.wire, q.n_wire);
	put_pointer(&k, 12);
	put_record(&k, DNS_TYPE_CNAME, 60, "\3cdn\300\20", 6); /* cdn.example.com */
	pk_bytes(&k, "\3cdn\300\20", 6);
	put_record(&k, DNS_TYPE_A, 60, "\300\0\2\7", 4);
	put_name(&k, "evil.example");
	put_record(&k, DNS_TYPE_A, 60, "\300\0\2\10", 4);
	r = reply_to(&q, &a, &k);
	ck_assert_uint_eq(get16(r.p), 7);
	ck_assert_uint_eq(get16(r.p + 2), 0x8180);
	ck_assert_uint_eq(get16(r.p + 6), 2);
	ck_assert_mem_eq(r.p + 12, "\3Www\7example\3COM", 16);
	ck_assert_ptr_nonnull(memmem(r.p, r.n, "\300\0\2\7", 4));
	ck_assert_ptr_null(memmem(r.p, r.n, "evil", 4));
	ck_assert_ptr_null(memmem(r.p + 28, r.n - 28, "WwW", 3));
	ck_assert_ptr_null(memmem(r.p, r.n, a.wire + 5, 7));
}
END_TEST

START_TEST(test_reply_fits)
{
	struct dns_question q = question("big.example", 16);
	struct dns_asked a = ask(&q);
	struct packet k = answer_to(&a), r;
	uint8_t text[200] = { 199 };

	for (int i = 0; i < 5; i++) {
		text[1] = (uint8_t)('a' + i);
		put_pointer(&k, 12);
		put_record(&k, 16, 60, text, sizeof(text));
	}
	r = reply_to(&q, &a, &k);
	ck_assert_uint_eq(get16(r.p + 2), 0x8380); /* TC */
	ck_assert_uint_eq(get16(r.p + 6), 0);
	ck_assert_uint_le(r.n, 512);
	q.size = 1232;
	q.has_edns = true;
	r = reply_to(&q, &a, &k);
	ck_assert_uint_eq(get16(r.p + 2), 0x8180);
	ck_assert_uint_eq(get16(r.p + 6), 5);
	ck_assert_uint_eq(get16(r.p + 10), 1); /* OPT */
}
END_TEST

START_TEST(test_refusals)
{
	struct dns_question q = question("secret.evil.example", DNS_TYPE_A);
	uint8_t buf[512];
	size_t n = dns_refuse(&q, DNS_NXDOMAIN, DNS_WHY_BLOCKED, buf, sizeof(buf));

	ck_assert_uint_eq(n, 12 + 21 + 4);
	ck_assert_uint_eq(get16(buf + 2), 0x8183);
	q.has_edns = true;
	n = dns_refuse(&q, DNS_NXDOMAIN, DNS_WHY_BLOCKED, buf, sizeof(buf));
	ck_assert_uint_gt(n, 12 + 21 + 4 + 11);
	ck_assert_mem_eq(buf + n - 6, "\0\17\0\2\0\17", 6); /* RFC 8914 */
	ck_assert_uint_eq(dns_refuse(&q, DNS_NXDOMAIN, DNS_WHY_BLOCKED, buf, 20), 0);
	/* Where the question could not be read there is none in the reply. */
	memset(&q, 0, sizeof(q));
	q.size = 512;
	ck_assert_uint_eq(dns_refuse(&q, DNS_FORMERR, DNS_WHY_NOT, buf, sizeof(buf)), 12);
	q.has_edns = true;
	n = dns_refuse(&q, DNS_BADVERS, DNS_WHY_NOT, buf, sizeof(buf));
	ck_assert_uint_eq(n, 23);
	ck_assert_uint_eq(buf[17], 1); /* the upper bits of 16 */
}
END_TEST

START_TEST(test_local_replies)
{
	static const uint8_t here[][16] = { { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 },
					    { [15] = 1 } };
	struct dns_question q = question("localhost", DNS_TYPE_A);
	uint8_t buf[512], addr[16];
	size_t n = dns_reply_addrs(&q, here, 2, buf, sizeof(buf));

	ck_assert_uint_eq(get16(buf + 6), 1);
	ck_assert_mem_eq(buf + n - 4, "\177\0\0\1", 4);
	q.type = 16;
	ck_assert_uint_gt(dns_reply_addrs(&q, here, 2, buf, sizeof(buf)), 12);
	ck_assert_uint_eq(get16(buf + 2) & 0xf, DNS_NOERROR);
	ck_assert_uint_eq(get16(buf + 6), 0);
	q = question("7.2.0.192.in-addr.arpa", DNS_TYPE_PTR);
	n = dns_reply_ptr(&q, "www.example.com", buf, sizeof(buf));
	ck_assert_ptr_nonnull(memmem(buf, n, "\3www\7example\3com", 17));
	ck_assert(dns_reverse("7.2.0.192.in-addr.arpa", addr));
	ck_assert_mem_eq(addr + 10, "\xff\xff\300\0\2\7", 6);
	ck_assert(dns_reverse("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
			      addr));
	ck_assert_mem_eq(addr, "\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	ck_assert(!dns_reverse("256.2.0.192.in-addr.arpa", addr));
	ck_assert(!dns_reverse("2.0.192.in-addr.arpa", addr));
	ck_assert(!dns_reverse("www.example.com", addr));
}
END_TEST

Suite *suite_dns_message(void)
{
	Suite *s = suite_create("dns_message");
	TCase *c = tcase_create("dns_message");

	tcase_add_test(c, test_question);
	tcase_add_test(c, test_edns_sizes);
	tcase_add_test(c, test_strange_names);
	tcase_add_test(c, test_refused_questions);
	tcase_add_test(c, test_broken_questions);
	tcase_add_test(c, test_upstream_query);
	tcase_add_test(c, test_alien_answers);
	tcase_add_test(c, test_broken_answers);
	tcase_add_test(c, test_chains_end);
	tcase_add_test(c, test_addresses);
	tcase_add_test(c, test_hints);
	tcase_add_test(c, test_reply);
	tcase_add_test(c, test_reply_fits);
	tcase_add_test(c, test_refusals);
	tcase_add_test(c, test_local_replies);
	suite_add_tcase(s, c);
	return s;
}
