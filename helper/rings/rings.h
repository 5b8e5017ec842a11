/* The rings of a session, as the helper reads them. */
#ifndef PALE_HELPER_RINGS_H
#define PALE_HELPER_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/wire/ring.h"

#include "helper/ledger/programs.h"

struct feed {
	const char *via;
	struct ring_header *ring; /* NULL: not at this level */
	struct ring_reader reader;
	ring_alive_fn alive; /* NULL: the writer is not the process that the record is about */
	uint64_t ring_lost_seen, reader_lost_seen;
	struct ring_record next; /* read and not yet recorded, where has_next */
	bool has_next;
};

struct rings {
	struct feed feed[FEEDS];
	enum feed_id row_of; /* the last `row` records came from this ring */
	unsigned row;
	unsigned tampered; /* kinds of tampering with the session's ring that are recorded already (bits of
			      enum ring_tamper) */
	bool is_fresh;	   /* one of them is new: drain_found_tampering() */
};

/* Maps a ring, which the launcher made in memory of sealed size.  0 or -errno.  The caller keeps fd. */
int ringmap_adopt(struct feed *f, int fd);

#endif
