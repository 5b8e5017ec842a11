/*
 * May a datagram go there?  Judged by the names that lead to the address and by `udp =` rules, once for each
 * peer of a line, as a stream is judged once; and anew when the policy was reloaded, since a line has no end
 * as a stream has.
 */
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/supervisor.h"

#include "line.h"

/* --- addresses ----------------------------------------------------------------------------------- */

static bool peer_of(const struct line_addr *a, struct line_peer *ret)
{
	return sockaddr_reached(&a->at, a->len, ret->addr, &ret->port);
}

bool line_is_dns(const struct line_addr *dest)
{
	struct line_peer p;

	return peer_of(dest, &p) && p.port == DNS_PORT;
}

bool line_is_here(const struct line_addr *dest)
{
	static const uint8_t v6[16] = { [15] = 1 }, v4[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 };
	struct line_peer p;

	return peer_of(dest, &p) &&
	       (memcmp(p.addr, v6, sizeof(v6)) == 0 || memcmp(p.addr, v4, sizeof(v4)) == 0);
}

bool line_same_addr(const struct line_addr *a, const struct line_addr *b)
{
	struct line_peer x, y;

	return peer_of(a, &x) && peer_of(b, &y) && x.port == y.port && memcmp(x.addr, y.addr, 16) == 0;
}

static size_t n_known(const struct line *l)
{
	return l->n_peers < LINE_PEERS ? l->n_peers : LINE_PEERS;
}

static struct line_peer *find_known(struct line *l, const struct line_peer *p)
{
	for (size_t i = 0; i < n_known(l); i++)
		if (l->peers[i].port == p->port && memcmp(l->peers[i].addr, p->addr, 16) == 0)
			return &l->peers[i];
	return NULL;
}

static bool is_current(const struct line *l, const struct image *policy)
{
	return policy == session_image(l->all->sup);
}

/* NULL where the peer was allowed by an earlier policy only. */
static const struct line_peer *find_allowed(struct line *l, const struct line_peer *p)
{
	const struct line_peer *known = find_known(l, p);

	return known && (!known->policy || is_current(l, known->policy)) ? known : NULL;
}

bool line_knows(struct line *l, const struct line_addr *dest)
{
	struct line_peer p;

	return peer_of(dest, &p) && find_allowed(l, &p);
}

enum line_passage line_passage(const struct line *l)
{
	return l->passage == PASSAGE_ASKED || is_current(l, l->policy) ? l->passage : PASSAGE_UNJUDGED;
}

void line_learn(struct line *l, const struct line_addr *dest, uint64_t cookie, const struct image *policy)
{
	struct line_peer p, *known;

	if (!peer_of(dest, &p))
		return;
	known = find_known(l, &p);
	if (!known)
		known = &l->peers[l->n_peers++ % LINE_PEERS];
	p.cookie = cookie;
	p.policy = policy;
	*known = p;
}

/* --- who is there ------------------------------------------------------------------------------------ */

static struct port reached_at(struct line *l, const struct line_peer *p)
{
	struct request req = { .op = OP_CONNECT, .has_addr = true, .is_datagram = true, .port = p->port };

	memcpy(req.addr, p->addr, sizeof(req.addr));
	return ports_find(&l->all->sup->ports, &req, l->who.image);
}

bool line_may_send(struct line *l, const struct line_addr *dest)
{
	struct line_peer p;
	const struct line_peer *known = peer_of(dest, &p) ? find_allowed(l, &p) : NULL;

	return known && (known->cookie == 0 || reached_at(l, &p).cookie == known->cookie);
}

uint64_t line_own_cookie(struct line *l, const struct line_addr *addr)
{
	struct port port = { .owner = PORT_UNKNOWN };
	struct line_peer p;

	if (peer_of(addr, &p) && line_is_here(addr))
		port = reached_at(l, &p);
	return port.owner == PORT_OWN ? port.cookie : 0;
}

/* --- the verdict --------------------------------------------------------------------------------- */

/* What a datagram to dest asks for, and what the policy says of it.  False: dest is no address. */
static bool find_meaning(struct caller *c, const struct line_addr *dest, struct request *req,
			 struct meaning *ret)
{
	*req = (struct request){
		.op = OP_CONNECT, .access = op_access(OP_CONNECT), .has_addr = true, .is_datagram = true
	};
	if (!sockaddr_reached(&dest->at, dest->len, req->addr, &req->port))
		return false;
	meaning_find(c, req, ret);
	return true;
}

enum line_leave line_judge(struct caller *c, const struct line_addr *dest, uint64_t *ret_cookie)
{
	struct request req;
	struct meaning m;

	*ret_cookie = 0;
	if (!find_meaning(c, dest, &req, &m))
		return LEAVE_NONE;
	*ret_cookie = m.port.cookie;
	if (m.port.owner == PORT_NOBODYS)
		return LEAVE_LOST;
	return meaning_conclude(c, &req, &m) ? LEAVE_GIVEN : LEAVE_NONE;
}

/* --- in the loop's thread ------------------------------------------------------------------------ */

bool line_renew(struct line *l, const struct line_addr *dest)
{
	const struct image *policy = session_image(l->all->sup);
	struct line_peer p;
	struct request req;
	struct meaning m;
	struct caller c;
	bool was;

	pthread_mutex_lock(&l->all->lock);
	was = peer_of(dest, &p) && find_known(l, &p);
	pthread_mutex_unlock(&l->all->lock);
	if (!was)
		return false;
	asker_stand_in(&c, l->all->sup, &l->who, l->all->desk);
	if (!find_meaning(&c, dest, &req, &m) || m.d.verdict != VERDICT_ALLOW)
		return false;
	pthread_mutex_lock(&l->all->lock);
	line_learn(l, dest, m.port.cookie, policy);
	pthread_mutex_unlock(&l->all->lock);
	return true;
}

/*
 * What the verdict on a peer says, for the line too unless that was connected anew since.  One that was for
 * who is there now is for this message.
 */
static void settle(struct line *l, struct line_way *way, enum line_leave leave, uint64_t cookie)
{
	bool lasts = cookie == 0 && leave != LEAVE_LOST;

	way->passage = leave == LEAVE_GIVEN ? PASSAGE_OPEN : PASSAGE_CLOSED;
	pthread_mutex_lock(&l->all->lock);
	if (leave == LEAVE_GIVEN)
		line_learn(l, &way->peer, cookie, way->policy);
	if (l->turn == way->turn) {
		l->passage = lasts || leave == LEAVE_NONE ? way->passage : PASSAGE_UNJUDGED;
		l->policy = way->policy;
	}
	pthread_mutex_unlock(&l->all->lock);
	if (leave == LEAVE_LOST)
		line_refused(l);
}

static struct line_consult *consult_of(struct asking *a)
{
	return CONTAINER_OF(a, struct line_consult, asking);
}

static void on_heard(struct asking *a)
{
	struct line_consult *q = consult_of(a);
	struct line *l = TAKE_PTR(q->line);

	q->way.policy = session_image(l->all->sup); /* the helper asks by the newest */
	settle(l, &q->way, q->leave, q->cookie);
	if (!l->dead)
		line_pump(l);
	line_put(l);
}

static void ask(struct asking *a, struct caller *c)
{
	struct line_consult *q = consult_of(a);

	q->leave = line_judge(c, &q->way.peer, &q->cookie);
}

/* False: too many are asked already, or no thread is to be had. */
static bool put_question(struct line *l, const struct line_way *way)
{
	struct lines *all = l->all;
	struct line_consult *q = NULL;

	for (size_t i = 0; i < NELEM(all->consults) && !q; i++)
		if (!all->consults[i].line)
			q = &all->consults[i];
	if (!q)
		return false;
	*q = (struct line_consult){
		.asking = { .sup = all->sup,
			    .loop = all->loop,
			    .who = way->who,
			    .ask = ask,
			    .heard = on_heard },
		.line = l,
		.way = *way,
	};
	if (asking_begin(&q->asking) == 0)
		return true;
	q->line = NULL;
	return false;
}

bool line_consults_end(struct lines *all)
{
	bool ended = true;

	for (size_t i = 0; i < NELEM(all->consults); i++)
		if (all->consults[i].line)
			ended &= asking_end(&all->consults[i].asking);
	return ended;
}

bool line_is_question(struct caller *c, const struct line_addr *dest)
{
	struct request req;
	struct meaning m;

	return find_meaning(c, dest, &req, &m) && m.d.verdict == VERDICT_ASK && m.port.owner != PORT_NOBODYS;
}

void line_judge_way(struct line *l, struct line_way *way)
{
	struct lines *all = l->all;
	enum line_leave leave;
	struct caller c;
	uint64_t cookie;

	pthread_mutex_lock(&all->lock);
	if (line_may_send(l, &way->peer))
		way->passage = PASSAGE_OPEN;
	pthread_mutex_unlock(&all->lock);
	if (way->passage == PASSAGE_OPEN)
		return;
	way->policy = session_image(all->sup);
	asker_stand_in(&c, all->sup, &way->who, all->desk);
	if (!line_is_question(&c, &way->peer)) {
		leave = line_judge(&c, &way->peer, &cookie);
		settle(l, way, leave, cookie);
		return;
	}
	pthread_mutex_lock(&all->lock);
	way->passage = PASSAGE_ASKED;
	if (l->turn == way->turn)
		l->passage = PASSAGE_ASKED;
	l->users++;
	pthread_mutex_unlock(&all->lock);
	if (put_question(l, way))
		return;
	settle(l, way, LEAVE_NONE, 0);
	line_put(l);
}
