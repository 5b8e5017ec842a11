/*
 * A forwarder: questions in, judged by whoever owns it, asked of upstream, answered.
 *
 * Some are answered here and sent to nobody: the machine's own names (RFC 6761) and names of addresses. Equal
 * questions that are under way at the same time are asked once.  Of more than FORWARDER_MAX at a time the
 * rest is answered SERVFAIL at once.
 *
 * In the loop's thread, all of it.
 */
#ifndef PALE_DNS_FORWARDER_H
#define PALE_DNS_FORWARDER_H

#include "message.h"
#include "upstream.h"

#define FORWARDER_MAX 1024u

struct forwarder;

/* A question that waits; `who` is what the owner knows of it, the owner's own. */
struct forwarder_query {
	struct forwarder *f;
	struct forwarder_query *next, **at; /* of all */
	struct forwarder_query *beside;	    /* of those that wait for the same answer */
	struct flight *flight;		    /* NULL: it waits for the owner's word */
	void (*reply)(void *cookie, const uint8_t *msg, size_t len);
	void *cookie;
	struct dns_question q;
	_Alignas(16) uint8_t who[];
};

enum forwarder_word { FORWARDER_NO, FORWARDER_YES, FORWARDER_LATER };

struct forwarder_ops {
	size_t who_size;
	/* May q->q.name be looked up?  LATER: by forwarder_settle(). */
	enum forwarder_word (*judge)(void *owner, struct forwarder_query *q);
	/* An answer to q holds the address. */
	void (*learn)(void *owner, const struct forwarder_query *q, const uint8_t addr[16], uint32_t ttl);
	/* What the address is called here; false: nobody knows. */
	bool (*reverse)(void *owner, const uint8_t addr[16], char name[LIMIT_HOST]);
	/* The first of those that are too many. */
	void (*flooded)(void *owner, const struct forwarder_query *q);
	/* What is no question, or of a kind that is asked of nobody.  name: "" where it has none. */
	void (*nonsense)(void *owner, const void *who, const char *name);
};

/* All borrowed.  NULL: no memory. */
struct forwarder *forwarder_new(struct upstream *u, const struct forwarder_ops *ops, void *owner);
/* What waits is forgotten. */
void forwarder_free(struct forwarder *f);

enum forwarder_transport { FORWARDER_DATAGRAM, FORWARDER_STREAM };
/*
 * who: ops->who_size bytes, copied.  True: reply will be called once, perhaps in here, unless
 * forwarder_forget() comes before; false: it was no question, or there is no memory.
 */
bool forwarder_ask(struct forwarder *f, const void *who, enum forwarder_transport by, const uint8_t *msg,
		   size_t len, void (*reply)(void *cookie, const uint8_t *msg, size_t len), void *cookie);
/* Nothing of this cookie's is answered any more. */
void forwarder_forget(struct forwarder *f, const void *cookie);
/* The owner's word on all that wait for it and that `is` picks. */
void forwarder_settle(struct forwarder *f, bool (*is)(const struct forwarder_query *q, void *arg), void *arg,
		      enum forwarder_word word, enum dns_why why);

#endif
