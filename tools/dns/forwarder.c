/*
 * The way of one query: judged, sent upstream once for all clients that wait for the same name,
 * answered.
 */
#include "forwarder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"

/* A query that the name servers have not answered yet. */
struct flight {
	struct flight *next, **at;
	struct forwarder *f;
	struct upstream_query *uq;
	struct forwarder_query *waiting;
};

struct forwarder {
	struct upstream *upstream;
	const struct forwarder_ops *ops;
	void *owner;
	struct forwarder_query *queries;
	struct flight *flights;
	unsigned n;
	bool flooded; /* this has been reported */
	char host[LIMIT_HOST];
	uint8_t out[DNS_MESSAGE_MAX]; /* the reply that is being made and sent */
};

/* --- the end of a query ------------------------------------------------------------------------------- */

static void query_free(struct forwarder_query *q)
{
	struct forwarder *f = q->f;

	*q->at = q->next;
	if (q->next)
		q->next->at = q->at;
	if (--f->n <= FORWARDER_MAX / 2)
		f->flooded = false;
	free(q);
}

/* Frees the query before it calls reply(), which may forget or ask other queries. */
static void send_reply(struct forwarder_query *q, size_t len)
{
	void (*reply)(void *cookie, const uint8_t *msg, size_t n) = q->reply;
	struct forwarder *f = q->f;
	void *cookie = q->cookie;

	if (len == 0)
		len = dns_refuse(&q->q, DNS_SERVFAIL, DNS_WHY_NOT, f->out, sizeof(f->out));
	query_free(q);
	reply(cookie, f->out, len);
}

static void refuse_query(struct forwarder_query *q, int code, enum dns_why why)
{
	send_reply(q, dns_refuse(&q->q, code, why, q->f->out, sizeof(q->f->out)));
}

/* --- flights -------------------------------------------------------------------------------------------- */

static void flight_free(struct flight *fl)
{
	*fl->at = fl->next;
	if (fl->next)
		fl->next->at = fl->at;
	free(fl);
}

static void learn_address(void *cookie, const uint8_t addr[16], uint32_t ttl)
{
	struct forwarder_query *q = cookie;

	q->f->ops->learn(q->f->owner, q, addr, ttl);
}

static void deliver(struct forwarder_query *q, const struct dns_answer *a)
{
	q->flight = NULL;
	if (!a) {
		refuse_query(q, DNS_SERVFAIL, DNS_WHY_UNREACHABLE);
		return;
	}
	dns_answer_addrs(a, learn_address, q);
	send_reply(q, dns_reply(&q->q, a, q->f->out, sizeof(q->f->out)));
}

/* A reply may make its receiver forget other queries, so they are taken one by one. */
static void on_answer(void *cookie, const struct dns_answer *a)
{
	struct flight *fl = cookie;
	struct forwarder_query *q;

	fl->uq = NULL;
	while ((q = fl->waiting)) {
		fl->waiting = q->beside;
		deliver(q, a);
	}
	flight_free(fl);
}

static bool is_equal(const struct dns_question *a, const struct dns_question *b)
{
	return a->type == b->type && a->cd == b->cd && a->wants_dnssec == b->wants_dnssec &&
	       a->n_wire == b->n_wire && strcmp(a->name, b->name) == 0;
}

static struct flight *find_flight(struct forwarder *f, const struct dns_question *q)
{
	for (struct flight *fl = f->flights; fl; fl = fl->next)
		if (fl->uq && fl->waiting && is_equal(&fl->waiting->q, q))
			return fl;
	return NULL;
}

static struct flight *make_flight(struct forwarder *f, const struct dns_question *q)
{
	struct flight *fl = calloc(1, sizeof(*fl));

	if (!fl)
		return NULL;
	fl->f = f;
	fl->uq = upstream_ask(f->upstream, q, on_answer, fl);
	if (!fl->uq) {
		free(fl);
		return NULL;
	}
	fl->next = f->flights;
	fl->at = &f->flights;
	if (fl->next)
		fl->next->at = &fl->next;
	f->flights = fl;
	return fl;
}

static void fly(struct forwarder_query *q)
{
	struct flight *fl = find_flight(q->f, &q->q);

	if (!fl)
		fl = make_flight(q->f, &q->q);
	if (!fl) {
		refuse_query(q, DNS_SERVFAIL, DNS_WHY_OTHER);
		return;
	}
	q->flight = fl;
	q->beside = fl->waiting;
	fl->waiting = q;
}

static void leave_flight(struct forwarder_query *q)
{
	struct flight *fl = TAKE_PTR(q->flight);
	struct forwarder_query **p = &fl->waiting;

	while (*p && *p != q)
		p = &(*p)->beside;
	if (*p)
		*p = q->beside;
	if (fl->waiting || !fl->uq)
		return;
	upstream_cancel(fl->uq);
	flight_free(fl);
}

/* --- answered here ----------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *tail)
{
	size_t n = strlen(name), n_tail = strlen(tail);

	if (n < n_tail || strcmp(name + n - n_tail, tail) != 0)
		return false;
	return n == n_tail || name[n - n_tail - 1] == '.';
}

static bool is_own(const struct forwarder *f, const char *name)
{
	return ends_in(name, "localhost") || (f->host[0] && strcmp(name, f->host) == 0);
}

/* An address such as "192.0.2.7" used as a name: no top-level domain is a number (RFC 3696, 2). */
static bool is_number(const char *name)
{
	const char *last = strrchr(name, '.');

	last = last ? last + 1 : name;
	return *last && last[strspn(last, "0123456789")] == '\0';
}

static void reply_reverse(struct forwarder_query *q)
{
	struct forwarder *f = q->f;
	char name[LIMIT_HOST];
	uint8_t addr[16];

	if (q->q.type == DNS_TYPE_PTR && dns_reverse(q->q.name, addr) &&
	    f->ops->reverse(f->owner, addr, name))
		send_reply(q, dns_reply_ptr(&q->q, name, f->out, sizeof(f->out)));
	else
		refuse_query(q, DNS_NXDOMAIN, DNS_WHY_NOT);
}

/* True where the query was answered here. */
static bool reply_here(struct forwarder_query *q)
{
	static const uint8_t here[][16] = { { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 },
					    { [15] = 1 } };
	struct forwarder *f = q->f;

	if (is_own(f, q->q.name)) {
		send_reply(q, dns_reply_addrs(&q->q, here, NELEM(here), f->out, sizeof(f->out)));
		return true;
	}
	if (ends_in(q->q.name, "in-addr.arpa") || ends_in(q->q.name, "ip6.arpa")) {
		reply_reverse(q);
		return true;
	}
	if (is_number(q->q.name)) {
		refuse_query(q, DNS_NXDOMAIN, DNS_WHY_NOT);
		return true;
	}
	return false;
}

/* --- a query's course -------------------------------------------------------------------------------- */

static void proceed(struct forwarder_query *q, enum forwarder_word word, enum dns_why why)
{
	if (word == FORWARDER_YES)
		fly(q);
	else if (word == FORWARDER_NO)
		refuse_query(q, DNS_NXDOMAIN, why);
}

static void flood(struct forwarder_query *q)
{
	struct forwarder *f = q->f;

	if (!f->flooded)
		f->ops->flooded(f->owner, q);
	f->flooded = true;
	refuse_query(q, DNS_SERVFAIL, DNS_WHY_OTHER);
}

static struct forwarder_query *query_new(struct forwarder *f, const void *who)
{
	struct forwarder_query *q = calloc(1, sizeof(*q) + f->ops->who_size);

	if (!q)
		return NULL;
	q->f = f;
	memcpy(q->who, who, f->ops->who_size);
	q->next = f->queries;
	q->at = &f->queries;
	if (q->next)
		q->next->at = &q->next;
	f->queries = q;
	f->n++;
	return q;
}

bool forwarder_ask(struct forwarder *f, const void *who, enum forwarder_transport by, const uint8_t *msg,
		   size_t len, void (*reply)(void *cookie, const uint8_t *msg, size_t len), void *cookie)
{
	struct forwarder_query *q;
	struct dns_question question;
	int code = dns_question_read(&question, msg, len);

	if (code != DNS_NOERROR)
		f->ops->nonsense(f->owner, who, question.name);
	if (code < 0)
		return false;
	q = query_new(f, who);
	if (!q)
		return false;
	q->q = question;
	q->reply = reply;
	q->cookie = cookie;
	if (by == FORWARDER_STREAM)
		q->q.size = DNS_MESSAGE_MAX;
	if (code != DNS_NOERROR)
		refuse_query(q, code, DNS_WHY_NOT);
	else if (f->n > FORWARDER_MAX)
		flood(q);
	else if (!reply_here(q))
		proceed(q, f->ops->judge(f->owner, q), DNS_WHY_BLOCKED);
	return true;
}

void forwarder_settle(struct forwarder *f, bool (*is)(const struct forwarder_query *q, void *arg), void *arg,
		      enum forwarder_word word, enum dns_why why)
{
	struct forwarder_query *q = f->queries;

	/* Settling one query may remove others, so the search starts again. */
	while (q)
		if (!q->flight && is(q, arg)) {
			proceed(q, word, why);
			q = f->queries;
		} else {
			q = q->next;
		}
}

void forwarder_forget(struct forwarder *f, const void *cookie)
{
	struct forwarder_query *q, *next;

	for (q = f->queries; q; q = next) {
		next = q->next;
		if (q->cookie != cookie)
			continue;
		if (q->flight)
			leave_flight(q);
		query_free(q);
	}
}

struct forwarder *forwarder_new(struct upstream *u, const struct forwarder_ops *ops, void *owner)
{
	struct forwarder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->upstream = u;
	f->ops = ops;
	f->owner = owner;
	if (gethostname(f->host, sizeof(f->host) - 1) < 0)
		f->host[0] = '\0';
	for (char *p = f->host; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p |= 0x20;
	return f;
}

void forwarder_free(struct forwarder *f)
{
	if (!f)
		return;
	while (f->queries) {
		if (f->queries->flight)
			leave_flight(f->queries);
		query_free(f->queries);
	}
	free(f);
}
