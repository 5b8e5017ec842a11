/*
 * Names that the operator is asked about, each in a thread of its own; and the names that were allowed, for
 * as long as programs look up the same name again.  Private to resolver.c.
 *
 * Everything but the asking itself runs in the loop's thread.
 */
#ifndef PALE_INQUIRY_H
#define PALE_INQUIRY_H

#include "tools/supervisor/hosts/hosts.h"
#include "tools/supervisor/threads/asking.h"
#include "tools/supervisor/verdict/verdict_answer.h"

#define INQUIRIES_MAX 64
#define GRANTS_MAX    128

struct grant {
	struct asker who;
	char name[LIMIT_HOST];
	struct host_yes yes;
};

struct inquiry {
	struct inquiries *all; /* NULL: free */
	struct asking asking;
	char name[LIMIT_HOST];
	struct decision decision; /* the policy's: ask */
	bool allowed;
	struct verdict_answer answer;
	struct host_yes yes; /* whose it would be; what it is, where the operator allowed the name */
};

struct inquiries {
	struct supervisor *sup;
	struct loop *loop;
	/* Called when the operator has answered, or could not be asked. */
	void (*done)(void *cookie, const struct inquiry *i);
	void *cookie;
	struct inquiry list[INQUIRIES_MAX];
	struct grant grants[GRANTS_MAX];
	size_t n_granted; /* the next one to forget */
};

void inquiries_init(struct inquiries *q, struct supervisor *s, struct loop *l);
/* Asks, unless the question waits already: 0, -EAGAIN (too many questions wait) or another -errno. */
int inquiry_begin(struct inquiries *q, const struct asker *who, const char *name, const struct decision *d);
/* The grant for this asker and name, or NULL. */
const struct grant *inquiry_granted(const struct inquiries *q, const struct asker *who, const char *name);
/* Called when the loop does not run any more and the supervisor stops: ends and joins the threads.  False:
 * one did not end. */
bool inquiries_end(struct inquiries *q);
bool asker_is(const struct asker *a, const struct asker *b);

#endif
