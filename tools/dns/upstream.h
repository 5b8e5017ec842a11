/*
 * Asking the name servers of resolv.conf(5) a question that one is free to ask.
 *
 * Each server is asked by UDP from a socket of its own (so from a port that the kernel draws), with an id and
 * a spelling of its own; who does not answer within a second is not forgotten, but the next is asked as well.
 * A truncated answer is asked for again by TCP.  All of it ends before a client's own five seconds do.
 *
 * In the loop's thread, all of it.
 */
#ifndef PALE_DNS_UPSTREAM_H
#define PALE_DNS_UPSTREAM_H

#include "message.h"
#include "tools/base/loop.h"

#define UPSTREAM_SERVERS 3u /* as glibc takes (MAXNS) */
#define UPSTREAM_TRY_NS	 1000000000ull
#define UPSTREAM_ALL_NS	 4500000000ull

struct upstream;
struct upstream_query;

/* conf is borrowed: the file with the servers, looked at before each question.  NULL: no memory. */
struct upstream *upstream_new(struct loop *l, const char *conf, uint16_t port);
/* No query is under way any more. */
void upstream_free(struct upstream *u);

/* Once.  a is borrowed; NULL: none of the servers gave one. */
typedef void (*upstream_fn)(void *cookie, const struct dns_answer *a);
/* Later, never in here, unless upstream_cancel() comes before.  q is copied.  NULL: no memory. */
struct upstream_query *upstream_ask(struct upstream *u, const struct dns_question *q, upstream_fn fn,
				    void *cookie);
void upstream_cancel(struct upstream_query *uq);

#endif
