/*
 * A forwarder: questions in, judged by its owner, asked of upstream, answered.
 *
 * Some questions are answered here and not sent on: the machine's own names (RFC 6761) and names of
 * addresses.  Equal questions at the same time are sent once.  At most FORWARDER_MAX questions may wait;
 * further ones are answered SERVFAIL at once.
 *
 * All of it runs in the loop's thread.
 */
#ifndef PALE_DNS_FORWARDER_H
#define PALE_DNS_FORWARDER_H

#include "message.h"
#include "upstream.h"

#define FORWARDER_MAX 1024u

struct forwarder;

/* A question that waits; `who` identifies its client to the owner. */
struct forwarder_query {
	struct forwarder *f;
	struct forwarder_query *next, **at; /* in the list of all */
	struct forwarder_query *beside;	    /* in the list of those that wait for the same answer */
	struct flight *flight;		    /* NULL: it waits for the owner's decision */
	void (*reply)(void *cookie, const uint8_t *msg, size_t len);
	void *cookie;
	struct dns_question q;
	_Alignas(16) uint8_t who[];
};

enum forwarder_word { FORWARDER_NO, FORWARDER_YES, FORWARDER_LATER };

struct forwarder_ops {
	size_t who_size;
	/* Whether q->q.name may be looked up.  LATER: forwarder_settle() decides. */
	enum forwarder_word (*judge)(void *owner, struct forwarder_query *q);
	/* The answer to q contains the address. */
	void (*learn)(void *owner, const struct forwarder_query *q, const uint8_t addr[16], uint32_t ttl);
	/* The name of the address in this session; false where it is not known. */
	bool (*reverse)(void *owner, const uint8_t addr[16], char name[LIMIT_HOST]);
	/* The first of too many questions. */
	void (*flooded)(void *owner, const struct forwarder_query *q);
	/*
	 * A message that is no question, or of a kind that is not forwarded.  name: "" where it has none.
	 */
	void (*nonsense)(void *owner, const void *who, const char *name);
};

/* All pointers are borrowed.  NULL where there is no memory. */
struct forwarder *forwarder_new(struct upstream *u, const struct forwarder_ops *ops, void *owner);
/* Waiting questions get no answer. */
void forwarder_free(struct forwarder *f);

enum forwarder_transport { FORWARDER_DATAGRAM, FORWARDER_STREAM };
/*
 * Asks a question for a client.  who: ops->who_size bytes, copied.  True: reply will be called once,
 * perhaps before this returns, unless forwarder_forget() comes first.  False: it is no question, or there
 * is no memory.
 */
bool forwarder_ask(struct forwarder *f, const void *who, enum forwarder_transport by, const uint8_t *msg,
		   size_t len, void (*reply)(void *cookie, const uint8_t *msg, size_t len), void *cookie);
/* Removes all questions with this cookie: they get no answer. */
void forwarder_forget(struct forwarder *f, const void *cookie);
/* Passes the owner's decision to the waiting questions that `is` selects. */
void forwarder_settle(struct forwarder *f, bool (*is)(const struct forwarder_query *q, void *arg), void *arg,
		      enum forwarder_word word, enum dns_why why);

#endif
