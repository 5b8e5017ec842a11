/*
 * Asks the name servers of resolv.conf(5) a question that the caller has judged already.
 *
 * Each server is asked by UDP from a socket of its own (so from a port that the kernel chooses at random),
 * with an id and a spelling of its own.  Where a server does not answer within a second, the next one is
 * asked as well, and both answers are accepted.  A truncated answer is asked for again by TCP.  All of it
 * ends before a client's usual limit of five seconds.
 *
 * All of it runs in the loop's thread.
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

/* conf is borrowed: the path of the file with the servers, which is checked before each question.  NULL
 * where there is no memory. */
struct upstream *upstream_new(struct loop *l, const char *conf, uint16_t port);
/* No query may be open any more. */
void upstream_free(struct upstream *u);

/* Called once.  a is borrowed; NULL where no server gave an answer. */
typedef void (*upstream_fn)(void *cookie, const struct dns_answer *a);
/* Asks the servers.  fn is called later, never before this returns, and not after upstream_cancel().  q is
 * copied.  NULL where there is no memory. */
struct upstream_query *upstream_ask(struct upstream *u, const struct dns_question *q, upstream_fn fn,
				    void *cookie);
void upstream_cancel(struct upstream_query *uq);

#endif
