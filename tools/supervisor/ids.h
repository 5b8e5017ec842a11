/*
 * The ids of denials, as people are shown them.  Private to the supervisor.
 *
 * Ids are made only here, where no process of the session can reach, and two different denials of one session
 * never have the same id.  So neither chosen names nor a forged record make an id refer to another denial.  A
 * denial that repeats keeps its id while it is remembered, so that its records are counted as one.
 */
#ifndef PALE_IDS_H
#define PALE_IDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/wire/ring.h"

#define IDS_KEY	   16
#define IDS_RECENT 1024
#define SAID_MAX   1024 /* marks in a table of what was said already */

struct ids {
	pthread_mutex_t lock;
	uint8_t key[IDS_KEY]; /* a secret of this session */
	uint32_t given;	      /* number of ids made */
	struct {
		uint64_t deed;
		uint32_t id;
	} recent[IDS_RECENT]; /* at deed % IDS_RECENT: the latest denial with that remainder */
};

/* 0 or -errno. */
int ids_init(struct ids *ids);
/* The id of the denial in r. */
uint32_t ids_find(struct ids *ids, const struct ring_record *r);
/* A keyed hash of "process pid did op to target": the key is secret, so no target can be chosen to collide.
 */
uint64_t ids_mark(const struct ids *ids, int32_t pid, enum op op, const char *target);
/* True the first time that mark is set in the table; a mark may be forgotten for another one. */
bool mark_first(_Atomic uint64_t table[SAID_MAX], uint64_t mark);

#endif
