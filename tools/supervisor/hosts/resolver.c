/* Judges and records the names that the session asks for, and passes allowed ones to the forwarder. */
#include "resolver.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/system.h"

#include "tools/dns/door.h"
#include "tools/dns/forwarder.h"
#include "tools/dns/name_limits.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/verdict/pushes.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/verdict.h"

#include "inquiry.h"

#define RESOLV_CONF "/etc/resolv.conf"
#define DNS_PORT    53

/* What is kept with a question that waits: struct forwarder_query's `who`. */
struct mark {
	struct asker who;
	struct host_yes yes; /* which allowed the question */
};

struct resolver {
	struct supervisor *sup;
	struct upstream *upstream;
	struct forwarder *forwarder;
	struct door *door;
	struct dns_limits *limits;
	struct worker *desk; /* for what is decided in the loop's thread */
	struct inquiries inquiries;
};

/* --- a name is judged ----------------------------------------------------------------------------------- */

static struct mark *mark_of(const struct forwarder_query *q)
{
	return (struct mark *)(void *)(uintptr_t)q->who;
}

/* True where a rule names the host in full, without `*`.  Only that one name can be looked up by it, so
 * the limits against data in names (dns_limits_pass()) do not apply. */
static bool is_in_full(const struct image *img, const struct decision *d)
{
	const struct image_rule *rule;
	struct image of;

	if (d->reason != REASON_RULE || !decision_image(img, d, &of))
		return false;
	rule = image_rule(&of, d->rule);
	return rule && !strchr(image_str(&of, rule->pattern), '*');
}

static struct decision judge_name(struct resolver *r, struct caller *c, const struct request *req,
				  uint16_t type)
{
	struct decision d = verdict_of(c, req);

	(void)pushes_reach(c, req, &d);
	if (d.verdict != VERDICT_DENY && !is_in_full(&c->image, &d) &&
	    !dns_limits_pass(r->limits, req->host, type, clock_awake_ns() / NS_S))
		d = (struct decision){ .verdict = VERDICT_DENY, .reason = REASON_EXFIL, .rule = RULE_NONE };
	return d;
}

static struct request request_of(const struct forwarder_query *q)
{
	return (struct request){
		.op = OP_RESOLVE,
		.access = op_access(OP_RESOLVE),
		.host = q->q.name,
	};
}

/* Asks the operator, or uses an earlier answer. */
static enum forwarder_word consult(struct resolver *r, struct caller *c, const struct request *req,
				   struct mark *m, struct decision *d)
{
	const struct grant *g = inquiry_granted(&r->inquiries, &m->who, req->host);

	if (g) {
		d->verdict = VERDICT_ALLOW;
		d->reason = REASON_HUMAN;
		m->yes = g->yes;
		record_decision(c, req, req->host, d, g->yes.approval);
		return FORWARDER_YES;
	}
	if (inquiry_begin(&r->inquiries, &m->who, req->host, d) == 0)
		return FORWARDER_LATER;
	verdict_refuse(c, req, req->host, REASON_FLOOD);
	return FORWARDER_NO;
}

static enum forwarder_word judge_query(void *owner, struct forwarder_query *q)
{
	struct resolver *r = owner;
	struct mark *m = mark_of(q);
	struct request req = request_of(q);
	struct decision d;
	struct caller c;

	asker_stand_in(&c, r->sup, &m->who, r->desk);
	d = judge_name(r, &c, &req, q->q.type);
	if (d.verdict == VERDICT_ASK)
		return consult(r, &c, &req, m, &d);
	return verdict_conclude(&c, &req, req.host, d) ? FORWARDER_YES : FORWARDER_NO;
}

static bool is_asked(const struct forwarder_query *q, void *arg)
{
	const struct inquiry *i = arg;

	return asker_is(&mark_of(q)->who, &i->asking.who) && strcmp(q->q.name, i->name) == 0;
}

/* As is_asked(), and notes the approval: the queries found are answered next. */
static bool take_approval(const struct forwarder_query *q, void *arg)
{
	const struct inquiry *i = arg;

	if (!is_asked(q, arg))
		return false;
	mark_of(q)->yes = i->yes;
	return true;
}

static void on_answered(void *cookie, const struct inquiry *i)
{
	struct resolver *r = cookie;

	if (i->allowed)
		forwarder_settle(r->forwarder, take_approval, (void *)(uintptr_t)i, FORWARDER_YES,
				 DNS_WHY_NOT);
	else
		forwarder_settle(r->forwarder, is_asked, (void *)(uintptr_t)i, FORWARDER_NO,
				 DNS_WHY_PROHIBITED);
}

/* --- what the forwarder tells and wants to know -------------------------------------------------------- */

static void learn_address(void *owner, const struct forwarder_query *q, const uint8_t addr[16], uint32_t ttl)
{
	const struct mark *m = mark_of(q);
	struct resolver *r = owner;
	struct host_name name = { .yes = m->yes, .askers = { m->who.tgid }, .n_askers = 1 };

	snprintf(name.name, sizeof(name.name), "%s", q->q.name);
	hosts_learn(r->sup->hosts, &name, addr, ttl);
}

static bool reverse(void *owner, const uint8_t addr[16], char ret[LIMIT_HOST])
{
	struct resolver *r = owner;
	struct host_name name;

	if (hosts_find(r->sup->hosts, addr, &name, 1) == 0)
		return false;
	memcpy(ret, name.name, LIMIT_HOST);
	return true;
}

static void flooded(void *owner, const struct forwarder_query *q)
{
	struct request req = request_of(q);
	struct resolver *r = owner;
	struct caller c;

	asker_stand_in(&c, r->sup, &mark_of(q)->who, r->desk);
	verdict_refuse(&c, &req, req.host, REASON_FLOOD);
}

/* A query that is not a valid question: recorded once per process. */
static void nonsense(void *owner, const void *who, const char *name)
{
	struct request req = { .op = OP_RESOLVE, .access = op_access(OP_RESOLVE), .host = name };
	const struct mark *m = who;
	struct resolver *r = owner;
	struct caller c;

	asker_stand_in(&c, r->sup, &m->who, r->desk);
	verdict_refuse_once(&c, &req, name[0] ? name : "what is no question about a name", REASON_MALFORMED);
}

/* --- made at the first use -------------------------------------------------------------------------- */

static const struct forwarder_ops ops = {
	.who_size = sizeof(struct mark),
	.judge = judge_query,
	.learn = learn_address,
	.reverse = reverse,
	.flooded = flooded,
	.nonsense = nonsense,
};

static void resolver_free(struct resolver *r)
{
	door_free(r->door);
	forwarder_free(r->forwarder);
	upstream_free(r->upstream);
	dns_limits_free(r->limits);
	desk_free(r->desk);
	free(r);
}

static struct resolver *resolver_new(struct supervisor *s)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->sup = s;
	inquiries_init(&r->inquiries, s, s->loop);
	r->inquiries.done = on_answered;
	r->inquiries.cookie = r;
	r->desk = desk_new(s);
	r->limits = dns_limits_new();
	r->upstream = upstream_new(s->loop, RESOLV_CONF, DNS_PORT);
	if (r->upstream)
		r->forwarder = forwarder_new(r->upstream, &ops, r);
	if (r->forwarder)
		r->door = door_new(s->loop, r->forwarder, sizeof(struct mark));
	if (r->desk && r->limits && r->door)
		return r;
	resolver_free(r);
	return NULL;
}

/* Under net_lock.  Nothing is started while the supervisor stops. */
static bool have_base(struct supervisor *s)
{
	if (atomic_load(&s->stopping))
		return s->loop && s->hosts;
	if (!s->loop && loop_start(&s->loop) < 0)
		s->loop = NULL;
	if (!s->hosts)
		s->hosts = hosts_new();
	return s->loop && s->hosts;
}

static struct resolver *resolver_of(struct supervisor *s)
{
	struct resolver *r;

	pthread_mutex_lock(&s->net_lock);
	if (!s->resolver && have_base(s))
		s->resolver = resolver_new(s);
	r = s->resolver;
	pthread_mutex_unlock(&s->net_lock);
	return r;
}

struct loop *session_loop(struct supervisor *s)
{
	struct loop *l;

	pthread_mutex_lock(&s->net_lock);
	(void)have_base(s);
	l = s->loop;
	pthread_mutex_unlock(&s->net_lock);
	return l;
}

struct hosts *session_hosts(struct supervisor *s)
{
	struct hosts *h;

	pthread_mutex_lock(&s->net_lock);
	if (!s->hosts)
		s->hosts = hosts_new();
	h = s->hosts;
	pthread_mutex_unlock(&s->net_lock);
	return h;
}

/* --- for other rooms -------------------------------------------------------------------------------- */

bool resolver_query(struct supervisor *s, const struct asker *who, const uint8_t *msg, size_t len,
		    resolver_reply reply, void *cookie)
{
	struct resolver *r = resolver_of(s);
	const struct mark m = { .who = *who };

	return r && forwarder_ask(r->forwarder, &m, FORWARDER_DATAGRAM, msg, len, reply, cookie);
}

void resolver_forget(struct supervisor *s, void *cookie)
{
	struct resolver *r = resolver_of(s);

	if (r)
		forwarder_forget(r->forwarder, cookie);
}

int resolver_door(struct supervisor *s, int family, struct sockaddr_storage *ret, socklen_t *ret_len)
{
	struct resolver *r = resolver_of(s);

	return r ? door_address(r->door, family, ret, ret_len) : -ENOMEM;
}

int resolver_expect(struct supervisor *s, const struct sockaddr_storage *from, const struct asker *who)
{
	struct resolver *r = resolver_of(s);
	const struct mark m = { .who = *who };

	return r ? door_expect(r->door, from, &m) : -ENOMEM;
}

bool resolver_end(struct supervisor *s)
{
	/* No callback runs from here on.  A thread that asks may still post to the loop, so the loop is
	 * freed last. */
	if (s->loop)
		loop_end(s->loop);
	atomic_store(&s->stopping, true);
	return !s->resolver || inquiries_end(&s->resolver->inquiries);
}

void resolver_done(struct supervisor *s)
{
	if (s->resolver)
		resolver_free(TAKE_PTR(s->resolver));
	loop_stop(TAKE_PTR(s->loop));
	hosts_free(TAKE_PTR(s->hosts));
}
