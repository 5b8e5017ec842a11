/*
 * Names that a human is asked about, each in a thread of its own; and what was granted, for as long as
 * programs look the same name up again.  Private to resolver.c.
 *
 * In the loop's thread, all but the asking itself.
 */
#ifndef PALE_INQUIRY_H
#define PALE_INQUIRY_H

#include "tools/supervisor/notify.h"
#include "tools/supervisor/threads/asking.h"

#define INQUIRIES_MAX 64
#define GRANTS_MAX    128
#define GRANT_S	      120u /* a name that one was let look up may be looked up again for so long */

struct grant {
	struct asker who;
	char name[LIMIT_HOST];
	char approval[40];
	uint64_t until_s;
};

struct inquiry {
	struct inquiries *all; /* NULL: free */
	struct asking asking;
	char name[LIMIT_HOST];
	struct decision decision; /* the policy's: ask */
	bool allowed;
	struct verdict_answer answer;
};

struct inquiries {
	struct supervisor *sup;
	struct loop *loop;
	/* A human has answered, or nobody could. */
	void (*done)(void *cookie, const struct inquiry *i);
	void *cookie;
	struct inquiry list[INQUIRIES_MAX];
	struct grant grants[GRANTS_MAX];
	size_t n_granted; /* the next one to forget */
};

void inquiries_init(struct inquiries *q, struct supervisor *s, struct loop *l);
/* Asks, unless it is being asked: 0, -EAGAIN (as many are asked as can be) or another -errno. */
int inquiry_begin(struct inquiries *q, const struct asker *who, const char *name, const struct decision *d);
/* What was granted to them, NULL: nothing. */
const struct grant *inquiry_granted(const struct inquiries *q, const struct asker *who, const char *name);
/* The loop runs no more and the supervisor is stopping: ends and joins the threads.  False: one would not. */
bool inquiries_end(struct inquiries *q);
bool asker_is(const struct asker *a, const struct asker *b);

#endif
