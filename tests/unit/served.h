/*
 * A child under a small filter whose carried calls this process serves: the supervisor's own loop with a
 * suite's handler in the dispatcher's place.
 */
#ifndef PALE_TEST_SERVED_H
#define PALE_TEST_SERVED_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "policy/wire/ring.h"

#include "tests/unit/image_fixture.h"
#include "tools/supervisor/serve/dispatch.h"
#include "tools/supervisor/setup.h"
#include "tools/wall/confine.h"

/* What a child does; its return value is its exit status: 0 is well. */
typedef int (*deed_fn)(void);

struct carried {
	struct fixture policy;
	struct kernel kernel;
	struct supervisor_setup setup;
	struct supervisor *sup;
	struct ring_reader *reader;
	char dir[64]; /* runtime directory */
	int listener, go;
	pid_t child;
};

/* The handler of the calls that are carried here: getpgid(2), and getsid(2), which has none. */
extern carry_fn carried_handler;

/* An empty session whose policy has what `rules` adds.  Nothing runs yet. */
void carried_init(struct carried *t, void (*rules)(struct fixture *f));
/* Starts the child, which waits, and the supervisor. */
void carried_start(struct carried *t, deed_fn deed);
/* Lets the child begin. */
void carried_go(struct carried *t);
/* Waits for the child: its exit status, or 128 and the signal; ticks meanwhile. */
int carried_wait(struct carried *t);
/* init, start, go, wait. */
int carried_run(struct carried *t, deed_fn deed);
void carried_done(struct carried *t);
/* Waits with ticks until `is_so`; fails after ten seconds. */
void carried_until(struct carried *t, bool (*is_so)(struct carried *t));
/* The next record of the supervisor's ring; false where there is none. */
bool carried_record(struct carried *t, struct ring_record *ret);

/* How many entries a directory has. */
size_t carried_entries(const char *dir);

/* In a deed: says which line was wrong. */
#define EXPECT(x)                                                                                            \
	do {                                                                                                 \
		if (!(x)) {                                                                                  \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                              \
			return 1;                                                                            \
		}                                                                                            \
	} while (0)

/* In the child: the carried call with its arguments; -errno. */
long carried_call(long a, long b, long c);

#endif
