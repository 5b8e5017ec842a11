/*
 * May a datagram go there?  Judged by the names that lead to the address and by `udp =` rules, once for each
 * peer of a line: as a stream is judged once.
 */
#include "tools/supervisor/line.h"

#include <errno.h>
#include <string.h>

#include "tools/supervisor/notify.h"
#include "tools/tools.h"

#define ASKING_MAX 16 /* threads that wait for a human's word on a line */
#define STACK_SIZE (256u << 10)

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

bool line_knows(const struct line *l, const struct line_addr *dest)
{
	struct line_peer p;

	if (!peer_of(dest, &p))
		return false;
	for (size_t i = 0; i < n_known(l); i++)
		if (l->peers[i].port == p.port && memcmp(l->peers[i].addr, p.addr, 16) == 0)
			return true;
	return false;
}

void line_learn(struct line *l, const struct line_addr *dest)
{
	struct line_peer p;

	if (peer_of(dest, &p) && !line_knows(l, dest))
		l->peers[l->n_peers++ % LINE_PEERS] = p;
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

bool line_judge(struct caller *c, const struct line_addr *dest)
{
	char target[INET_TARGET];
	struct request req;
	struct meaning m;

	if (!find_meaning(c, dest, &req, &m))
		return false;
	inet_target(&req, target);
	if (!m.approval[0])
		return verdict_conclude(c, &req, target, m.d);
	verdict_granted(c, &req, target, m.d, m.approval);
	return true;
}

/* --- in the loop's thread ------------------------------------------------------------------------ */

/* A human's word is waited for in a thread of its own. */
struct consult {
	struct loop_job job;
	struct line *line;
	struct worker *desk;
	struct line_way way;
	bool allowed;
};

/* What the verdict on a peer says, for the line too unless that was connected anew since. */
static void settle(struct line *l, struct line_way *way, bool allowed)
{
	way->passage = allowed ? PASSAGE_OPEN : PASSAGE_CLOSED;
	pthread_mutex_lock(&l->all->lock);
	if (allowed)
		line_learn(l, &way->peer);
	if (l->turn == way->turn)
		l->passage = way->passage;
	pthread_mutex_unlock(&l->all->lock);
}

static void on_answer(struct loop_job *j)
{
	struct consult *q = (struct consult *)((char *)j - offsetof(struct consult, job));
	struct line *l = q->line;

	settle(l, &q->way, q->allowed);
	if (!l->dead)
		line_pump(l);
	line_put(l);
	desk_free(q->desk);
	free(q);
}

static void *ask(void *arg)
{
	struct consult *q = arg;
	struct lines *all = q->line->all;
	struct caller c;

	asker_stand_in(&c, all->sup, &q->way.who, q->desk);
	q->allowed = line_judge(&c, &q->way.peer);
	loop_post(all->loop, &q->job);
	atomic_fetch_sub(&all->asking, 1);
	return NULL;
}

static int ask_apart(struct consult *q)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, ask, q);
	pthread_attr_destroy(&attr);
	return -r;
}

static bool put_question(struct line *l, const struct consult *what)
{
	struct lines *all = l->all;
	struct consult *q = NULL;

	if (atomic_fetch_add(&all->asking, 1) < ASKING_MAX)
		q = malloc(sizeof(*q));
	if (q) {
		*q = *what;
		q->desk = desk_new(all->sup);
		q->job.run = on_answer;
	}
	if (q && q->desk && ask_apart(q) == 0)
		return true;
	atomic_fetch_sub(&all->asking, 1);
	if (q)
		desk_free(q->desk);
	free(q);
	return false;
}

/* What the policy says, without asking. */
static enum verdict foresee(struct caller *c, const struct line_addr *dest)
{
	struct request req;
	struct meaning m;

	return find_meaning(c, dest, &req, &m) ? m.d.verdict : VERDICT_DENY;
}

void line_judge_way(struct line *l, struct line_way *way)
{
	struct lines *all = l->all;
	struct consult q = { .line = l };
	struct caller c;

	asker_stand_in(&c, all->sup, &way->who, all->desk);
	if (foresee(&c, &way->peer) != VERDICT_ASK) {
		settle(l, way, line_judge(&c, &way->peer));
		return;
	}
	pthread_mutex_lock(&all->lock);
	way->passage = PASSAGE_ASKED;
	if (l->turn == way->turn)
		l->passage = PASSAGE_ASKED;
	l->users++;
	pthread_mutex_unlock(&all->lock);
	q.way = *way;
	if (put_question(l, &q))
		return;
	settle(l, way, false);
	line_put(l);
}
