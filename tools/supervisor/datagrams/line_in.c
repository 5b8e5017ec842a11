/*
 * Into a line: what is put there and from whom it is, and the forwarder's answers.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "policy/base/util.h"

#include "tools/supervisor/hosts/resolver.h"

#include "line.h"

#define QUESTION_LONG 4096u /* no question is */

/* --- into the session ------------------------------------------------------------------------- */

static size_t unread_of(const struct line *l)
{
	int n = 0;

	return ioctl(l->watch.fd, SIOCOUTQ, &n) < 0 ? 1 : (size_t)n;
}

/* Under the lock. */
static void take_note(struct line *l, size_t len, const struct line_addr *from)
{
	struct line_note *n = &l->notes[(l->first_note + l->n_notes) % LINE_NOTES];

	n->len = (uint32_t)len;
	n->from = *from;
	if (l->n_notes < LINE_NOTES)
		l->n_notes++;
	else
		l->first_note = (l->first_note + 1) % LINE_NOTES;
}

int line_hand_on(struct line *l, const void *data, size_t len, const struct line_addr *from)
{
	struct lines *all = l->all;
	int r = 0;

	pthread_mutex_lock(&all->lock);
	if (!l->notes)
		l->notes = malloc(LINE_NOTES * sizeof(*l->notes));
	if (!l->notes)
		r = -ENOMEM;
	/* All was taken: what was noted says nothing any more. */
	if (r == 0 && l->n_notes > 0 && unread_of(l) == 0)
		l->n_notes = 0;
	if (r == 0 && send(l->watch.fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		r = -errno;
	if (r == 0)
		take_note(l, len, from);
	pthread_mutex_unlock(&all->lock);
	return r;
}

void line_refused(struct line *l)
{
	pthread_mutex_lock(&l->all->lock);
	if (!l->dead && !l->error) {
		l->error = ECONNREFUSED;
		(void)send(l->watch.fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	pthread_mutex_unlock(&l->all->lock);
}

int line_take_error(struct line *l, int fd)
{
	char first;
	int e;

	pthread_mutex_lock(&l->all->lock);
	e = l->error;
	l->error = 0;
	if (e && recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		(void)recv(fd, &first, 1, MSG_DONTWAIT);
	pthread_mutex_unlock(&l->all->lock);
	return e;
}

/*
 * What is unread is the last so many messages: the sum of their lengths tells how many, the first one's own
 * length which, where an empty one stands beside it.
 */
bool line_source(struct line *l, size_t unread, size_t len, struct line_addr *ret)
{
	size_t sum = 0;

	for (unsigned i = l->n_notes; i-- > 0;) {
		const struct line_note *n = &l->notes[(l->first_note + i) % LINE_NOTES];

		sum += n->len;
		if (sum > unread)
			break;
		if (sum == unread && n->len == len) {
			*ret = n->from;
			return true;
		}
	}
	return false;
}

/* --- the forwarder ------------------------------------------------------------------------------- */

struct line_query {
	struct line *line;
	struct line_query *next;
	struct line_addr dest;
};

static void query_unlink(struct line_query *q)
{
	struct line_query **at = &q->line->queries;

	while (*at && *at != q)
		at = &(*at)->next;
	if (*at)
		*at = q->next;
	q->line->n_queries--;
}

void line_drop_queries(struct line *l)
{
	while (l->queries) {
		struct line_query *q = l->queries;

		l->queries = q->next;
		free(q);
	}
}

void line_forget_queries(struct line *l)
{
	for (struct line_query *q = l->queries; q; q = q->next)
		resolver_forget(l->all->sup, q);
	line_drop_queries(l);
}

/* A socket that was connected to somebody else meanwhile hears nothing of it. */
static void on_reply(void *cookie, const uint8_t *msg, size_t len)
{
	struct line_query *q = cookie;
	struct line *l = q->line;
	bool wanted;

	pthread_mutex_lock(&l->all->lock);
	wanted = l->peer.len == 0 || line_same_addr(&l->peer, &q->dest);
	pthread_mutex_unlock(&l->all->lock);
	query_unlink(q);
	if (wanted)
		(void)line_hand_on(l, msg, len, &q->dest);
	free(q);
}

void line_ask_now(struct line *l, const struct asker *who, const void *data, size_t len,
		  const struct line_addr *dest)
{
	struct line_query *q;

	if (l->n_queries >= LINE_QUERIES || len > QUESTION_LONG || !(q = malloc(sizeof(*q))))
		return;
	*q = (struct line_query){ .line = l, .next = l->queries, .dest = *dest };
	l->queries = q;
	l->n_queries++;
	if (resolver_query(l->all->sup, who, data, len, on_reply, q))
		return;
	query_unlink(q);
	free(q);
}

/* A question of a worker's, on its way to the loop. */
struct errand {
	struct loop_job job;
	struct line *line;
	struct asker who;
	struct line_addr dest;
	size_t len;
	uint8_t data[];
};

static void on_errand(struct loop_job *j)
{
	struct errand *e = CONTAINER_OF(j, struct errand, job);

	atomic_fetch_sub(&e->line->all->posted, 1);
	if (!e->line->dead)
		line_ask_now(e->line, &e->who, e->data, e->len, &e->dest);
	line_put(e->line);
	free(e);
}

void line_ask_forwarder(struct line *l, const struct asker *who, const void *data, size_t len,
			const struct line_addr *dest)
{
	struct lines *all = l->all;
	struct errand *e = NULL;

	if (len <= QUESTION_LONG && atomic_fetch_add(&all->posted, 1) < LINE_JOBS)
		e = malloc(sizeof(*e) + len);
	if (!e) {
		if (len <= QUESTION_LONG)
			atomic_fetch_sub(&all->posted, 1);
		return;
	}
	*e = (struct errand){ .job.run = on_errand, .line = l, .who = *who, .dest = *dest, .len = len };
	memcpy(e->data, data, len);
	pthread_mutex_lock(&all->lock);
	l->users++;
	pthread_mutex_unlock(&all->lock);
	loop_post(all->loop, &e->job);
}
