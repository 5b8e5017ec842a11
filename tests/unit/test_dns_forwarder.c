/* The forwarder between a client and a name server that lies, is late, or is not there. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/dns_server.h"
#include "tools/dns/door.h"
#include "tools/dns/forwarder.h"

Suite *suite_dns_forwarder(void);

/* --- the forwarder ---------------------------------------------------------- */

static char conf[] = "/tmp/pale-dns-XXXXXX";
static struct loop *loop;
static struct upstream *upstream;
static struct forwarder *forwarder;
static _Atomic int judged, learnt, floods, nonsenses;
static uint8_t last_learnt[16];

static enum forwarder_word judge(void *owner, struct forwarder_query *q)
{
	(void)owner;
	atomic_fetch_add(&judged, 1);
	ck_assert_int_eq(q->who[0], 'w');
	if (strstr(q->q.name, "evil"))
		return FORWARDER_NO;
	return strstr(q->q.name, "wait") ? FORWARDER_LATER : FORWARDER_YES;
}

static void learn(void *owner, const struct forwarder_query *q, const uint8_t addr[16], uint32_t ttl)
{
	(void)owner;
	(void)q;
	ck_assert_uint_eq(ttl, 60);
	memcpy(last_learnt, addr, 16);
	atomic_fetch_add(&learnt, 1);
}

static bool reverse(void *owner, const uint8_t addr[16], char name[LIMIT_HOST])
{
	(void)owner;
	strcpy(name, "www.example.com");
	return addr[15] == 7;
}

static void flooded(void *owner, const struct forwarder_query *q)
{
	(void)owner;
	(void)q;
	atomic_fetch_add(&floods, 1);
}

static void nonsense(void *owner, const void *who, const char *name)
{
	(void)owner;
	(void)who;
	(void)name;
	atomic_fetch_add(&nonsenses, 1);
}

static const struct forwarder_ops ops = { 8, judge, learn, reverse, flooded, nonsense };
static const char who[8] = "who";

static void conf_write(const char *text)
{
	FILE *f = fopen(conf, "w");

	fputs(text, f);
	fclose(f);
}

static void setup(void)
{
	strcpy(conf, "/tmp/pale-dns-XXXXXX");
	close(mkstemp(conf));
	conf_write("nameserver 127.0.0.1\n");
	server_start();
	ck_assert_int_eq(loop_start(&loop), 0);
	upstream = upstream_new(loop, conf, port);
	forwarder = forwarder_new(upstream, &ops, NULL);
	atomic_store(&judged, 0);
	atomic_store(&learnt, 0);
	atomic_store(&floods, 0);
}

static void teardown(void)
{
	loop_end(loop);
	forwarder_free(forwarder);
	upstream_free(upstream);
	loop_stop(loop);
	server_stop();
	unlink(conf);
}

/* Runs it in the loop's thread, and waits until it is done. */
struct deed {
	struct loop_job job;
	void (*fn)(void *arg);
	void *arg;
	sem_t done;
};

static void on_deed(struct loop_job *j)
{
	struct deed *d = (struct deed *)(void *)j;

	d->fn(d->arg);
	sem_post(&d->done);
}

static void in_loop(void (*fn)(void *arg), void *arg)
{
	struct deed d = { { .run = on_deed }, fn, arg, .done = { { 0 } } };

	sem_init(&d.done, 0, 0);
	loop_post(loop, &d.job);
	while (sem_wait(&d.done) < 0)
		;
}

struct client {
	struct packet ask, got;
	bool taken;
	sem_t done;
};

static void on_reply(void *cookie, const uint8_t *msg, size_t len)
{
	struct client *c = cookie;

	pk_bytes(&c->got, msg, len);
	sem_post(&c->done);
}

static void ask_it(void *arg)
{
	struct client *c = arg;

	c->taken = forwarder_ask(forwarder, who, FORWARDER_DATAGRAM, c->ask.p, c->ask.n, on_reply, c);
}

static void begin(struct client *c, const char *name, unsigned type)
{
	memset(c, 0, sizeof(*c));
	c->ask = query(0x4242, name, type);
	sem_init(&c->done, 0, 0);
	in_loop(ask_it, c);
	ck_assert(c->taken);
}

static bool comes(struct client *c, unsigned seconds)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += seconds;
	while (sem_timedwait(&c->done, &end) < 0)
		if (errno == ETIMEDOUT)
			return false;
	ck_assert_uint_eq(get16(c->got.p), 0x4242);
	ck_assert_mem_eq(c->got.p + 12, c->ask.p + 12, c->ask.n - 12);
	return true;
}

static unsigned ask_for(const char *name, unsigned type)
{
	struct client c;

	begin(&c, name, type);
	ck_assert(comes(&c, 6));
	return c.got.p[3] & 0xfu;
}

/* --- its answers ---------------------------------------------------------- */

START_TEST(test_answers)
{
	struct client c;

	begin(&c, "Ok.Example", 1);
	ck_assert(comes(&c, 2));
	ck_assert_mem_eq(c.got.p + c.got.n - 4, "\300\0\2\7", 4);
	ck_assert_int_eq(atomic_load(&learnt), 1);
	ck_assert_mem_eq(last_learnt + 12, "\300\0\2\7", 4);
	ck_assert_uint_eq(ask_for("none.example", 1), DNS_NXDOMAIN);
	ck_assert_uint_eq(ask_for("old.example", 1), DNS_NOERROR);
	ck_assert_uint_eq(ask_for("fail.example", 1), DNS_SERVFAIL);
}
END_TEST

START_TEST(test_liar)
{
	ck_assert_uint_eq(ask_for("liar.example", 1), DNS_NOERROR);
	ck_assert_int_eq(atomic_load(&learnt), 1);
	ck_assert_mem_eq(last_learnt + 12, "\300\0\2\7", 4);
}
END_TEST

/* Nothing in another spelling is believed; there are servers that keep none, and a stream tells. */
START_TEST(test_spelling)
{
	int before = atomic_load(&asked_tcp);

	ck_assert_uint_eq(ask_for("spelt.example", 1), DNS_NOERROR);
	ck_assert_int_eq(atomic_load(&asked_tcp), before + 1);
	ck_assert_int_eq(atomic_load(&learnt), 300); /* the stream's */
}
END_TEST

/* The whole answer is learnt though the client has no room for it. */
START_TEST(test_truncated)
{
	struct client c;

	begin(&c, "long.example", 1);
	ck_assert(comes(&c, 3));
	ck_assert_int_eq(atomic_load(&asked_tcp), 1);
	ck_assert_int_eq(atomic_load(&learnt), 300);
	ck_assert_uint_eq(get16(c.got.p + 2), 0x8380);
}
END_TEST

START_TEST(test_denied_is_not_asked)
{
	ck_assert_uint_eq(ask_for("a.evil.example", 1), DNS_NXDOMAIN);
	ck_assert_uint_eq(ask_for("a.b.evil.example", 28), DNS_NXDOMAIN);
	ck_assert_int_eq(atomic_load(&judged), 2);
	ck_assert_int_eq(atomic_load(&asked), 0);
}
END_TEST

START_TEST(test_own_names)
{
	ck_assert_uint_eq(ask_for("localhost", 1), DNS_NOERROR);
	ck_assert_uint_eq(ask_for("a.localhost", 28), DNS_NOERROR);
	ck_assert_uint_eq(ask_for("7.2.0.192.in-addr.arpa", 12), DNS_NOERROR);
	ck_assert_uint_eq(ask_for("8.2.0.192.in-addr.arpa", 12), DNS_NXDOMAIN);
	ck_assert_uint_eq(ask_for("secret.2.0.192.in-addr.arpa", 12), DNS_NXDOMAIN);
	ck_assert_int_eq(atomic_load(&nonsenses), 0);
	ck_assert_uint_eq(ask_for("ok.example", 255), DNS_REFUSED);
	ck_assert_int_eq(atomic_load(&nonsenses), 1);
	ck_assert_int_eq(atomic_load(&judged), 0);
	ck_assert_int_eq(atomic_load(&asked), 0);
}
END_TEST

/* A server that answers later than others would be asked again. */
START_TEST(test_late)
{
	ck_assert_uint_eq(ask_for("late.example", 1), DNS_NOERROR);
	ck_assert_int_ge(atomic_load(&asked), 1);
}
END_TEST

START_TEST(test_dead)
{
	struct timespec from, to;
	struct client c;

	clock_gettime(CLOCK_MONOTONIC, &from);
	ck_assert_uint_eq(ask_for("dead.example", 1), DNS_SERVFAIL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	ck_assert_int_ge(to.tv_sec - from.tv_sec, 4);
	ck_assert_int_lt(to.tv_sec - from.tv_sec, 10);
	/* Nobody is there at all: at once; the file is read anew. */
	conf_write("nameserver 127.0.0.77\n");
	begin(&c, "ok.example", 1);
	ck_assert(comes(&c, 1));
	ck_assert_uint_eq(c.got.p[3] & 0xf, DNS_SERVFAIL);
	/* The first is dead: the second. */
	conf_write("nameserver 127.0.0.77\nnameserver 127.0.0.1\n");
	begin(&c, "ok.example", 1);
	ck_assert(comes(&c, 1));
	ck_assert_uint_eq(c.got.p[3] & 0xf, DNS_NOERROR);
}
END_TEST

/* --- many ---------------------------------------------------------- */

static bool is_any(const struct forwarder_query *q, void *arg)
{
	(void)q;
	(void)arg;
	return true;
}

static void settle(void *arg)
{
	forwarder_settle(forwarder, is_any, NULL, *(enum forwarder_word *)arg, DNS_WHY_PROHIBITED);
}

START_TEST(test_asked_once)
{
	enum forwarder_word yes = FORWARDER_YES, no = FORWARDER_NO;
	struct client c[4];

	for (int i = 0; i < 4; i++)
		begin(&c[i], "wait.example", 1);
	ck_assert(!comes(&c[0], 1));
	in_loop(settle, &yes);
	for (int i = 0; i < 4; i++)
		ck_assert(comes(&c[i], 2));
	ck_assert_int_eq(atomic_load(&asked), 1);
	ck_assert_int_eq(atomic_load(&learnt), 4);
	for (int i = 0; i < 4; i++)
		begin(&c[i], "wait.example", 1);
	in_loop(settle, &no);
	for (int i = 0; i < 4; i++)
		ck_assert(comes(&c[i], 1) && (c[i].got.p[3] & 0xf) == DNS_NXDOMAIN);
	ck_assert_int_eq(atomic_load(&asked), 1);
}
END_TEST

static void forget(void *arg)
{
	forwarder_forget(forwarder, arg);
}

START_TEST(test_forgotten)
{
	struct client c[3];

	begin(&c[0], "wait.example", 1);
	begin(&c[1], "late.example", 1);
	begin(&c[2], "late.example", 1);
	for (int i = 0; i < 2; i++)
		in_loop(forget, &c[i]);
	ck_assert(comes(&c[2], 6));
	ck_assert(!comes(&c[0], 0) && !comes(&c[1], 0));
}
END_TEST

START_TEST(test_flood)
{
	static struct client c[FORWARDER_MAX + 20];
	char name[32];

	for (unsigned i = 0; i < FORWARDER_MAX + 20; i++) {
		snprintf(name, sizeof(name), "wait%u.example", i);
		begin(&c[i], name, 1);
	}
	for (unsigned i = FORWARDER_MAX; i < FORWARDER_MAX + 20; i++)
		ck_assert(comes(&c[i], 1) && (c[i].got.p[3] & 0xf) == DNS_SERVFAIL);
	ck_assert_int_eq(atomic_load(&floods), 1);
}
END_TEST

/* --- by TCP ---------------------------------------------------------- */

static int door_connect(struct door *d, bool announced)
{
	struct sockaddr_storage at, from;
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(door_address(d, AF_INET, &at, &len), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, len), 0);
	len = sizeof(from);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&from, &len), 0);
	if (announced)
		ck_assert_int_eq(door_expect(d, &from, who), 0);
	return fd;
}

static ssize_t read_message(int fd, uint8_t *buf, size_t size)
{
	uint8_t head[2];

	if (recv(fd, head, 2, MSG_WAITALL) != 2)
		return -1;
	ck_assert_uint_le(get16(head), size);
	return recv(fd, buf, get16(head), MSG_WAITALL);
}

static void send_message(int fd, unsigned id, const char *name)
{
	struct packet k = query(id, name, 1), framed = { 0 };

	put16(&framed, (unsigned)k.n);
	pk_bytes(&framed, k.p, k.n);
	ck_assert_int_eq(send(fd, framed.p, framed.n, MSG_NOSIGNAL), framed.n);
}

START_TEST(test_door)
{
	struct door *d = door_new(loop, forwarder, sizeof(who));
	static uint8_t buf[DNS_MESSAGE_MAX];
	unsigned seen = 0;
	int fd = door_connect(d, true);

	/* Two at once, answered in any order; then one that has no room in a datagram. */
	send_message(fd, 1, "late.example");
	send_message(fd, 2, "a.evil.example");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_gt(read_message(fd, buf, sizeof(buf)), 12);
		seen |= get16(buf);
	}
	ck_assert_uint_eq(seen, 3);
	send_message(fd, 4, "long.example");
	ck_assert_int_gt(read_message(fd, buf, sizeof(buf)), 4096);
	ck_assert_uint_eq(get16(buf + 6), 300);
	close(fd);
	/* Who was not announced is neither read from nor kept. */
	atomic_store(&judged, 0);
	fd = door_connect(d, false);
	send_message(fd, 1, "ok.example");
	ck_assert_int_lt(read_message(fd, buf, sizeof(buf)), 0);
	ck_assert_int_eq(atomic_load(&judged), 0);
	close(fd);
	/* Nonsense ends the connection. */
	fd = door_connect(d, true);
	ck_assert_int_eq(send(fd, "\377\377nonsense", 10, MSG_NOSIGNAL), 10);
	ck_assert_int_lt(read_message(fd, buf, sizeof(buf)), 0);
	close(fd);
	loop_end(loop);
	door_free(d);
}
END_TEST

Suite *suite_dns_forwarder(void)
{
	Suite *s = suite_create("dns_forwarder");
	TCase *c = tcase_create("dns_forwarder");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 30);
	tcase_add_test(c, test_answers);
	tcase_add_test(c, test_liar);
	tcase_add_test(c, test_spelling);
	tcase_add_test(c, test_truncated);
	tcase_add_test(c, test_denied_is_not_asked);
	tcase_add_test(c, test_own_names);
	tcase_add_test(c, test_late);
	tcase_add_test(c, test_dead);
	tcase_add_test(c, test_asked_once);
	tcase_add_test(c, test_forgotten);
	tcase_add_test(c, test_flood);
	tcase_add_test(c, test_door);
	suite_add_tcase(s, c);
	return s;
}
