/*
 * The ids of denials, as people are shown them.  Private to the supervisor.
 *
 * An id is given here and nowhere else, outside of all that the session can reach, and no two denials of one
 * session have the same: neither names that were chosen for it nor a record that was forged make an id lead
 * to another deed.  A deed that repeats keeps its id while it is remembered, so that its records fold into
 * one.
 */
#ifndef PALE_IDS_H
#define PALE_IDS_H

#include <pthread.h>
#include <stdint.h>

#include "policy/ring.h"

#define IDS_KEY	   16
#define IDS_RECENT 1024

struct ids {
	pthread_mutex_t lock;
	uint8_t key[IDS_KEY]; /* a secret of this session */
	uint32_t given;	      /* how many */
	struct {
		uint64_t deed;
		uint32_t id;
	} recent[IDS_RECENT]; /* by deed; the latest that fell on a place */
};

/* 0 or -errno. */
int ids_init(struct ids *ids);
/* The id of the denial in r. */
uint32_t ids_find(struct ids *ids, const struct ring_record *r);
/* A mark for "process pid did op to target" that no choice of target makes equal to another. */
uint64_t ids_mark(const struct ids *ids, int32_t pid, enum op op, const char *target);

#endif
