/* One connection to the helper: of a process of the session that asks, or of an operator. */
#ifndef PALE_HELPER_CONN_H
#define PALE_HELPER_CONN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/base/pace.h"

#define CONNS_MAX 160

enum conn_kind { CONN_FREE, CONN_AGENT, CONN_CONTROL };
/*
 * What comes next on an agent's connection: the process that it asks for, its one question, or nothing.
 * STAGE_SENT: it was sent descriptors, which it may not have received yet.
 */
enum conn_stage { STAGE_BEHALF, STAGE_QUESTION, STAGE_WAIT, STAGE_SENT };

struct conn {
	enum conn_kind kind;
	struct pace pace;
	enum conn_stage stage;
	int fd;
	pid_t pid;
	uint64_t deadline_ns;	/* agent: its next message, or the supervisor's, must come by then; 0: none */
	struct approval *waits; /* agent: the card of its question */
	size_t place;		/* agent: its index in waits->asker */
	uint32_t narrows;  /* agent: the image that the supervisor must apply before the answer, 0: none */
	struct peer *peer; /* control: helper/control/control.h */
};

struct helper;

/* Makes a connection, which owns fd.  NULL if all connections are in use; then fd is closed. */
struct conn *conn_add(struct helper *h, enum conn_kind kind, int fd, pid_t pid);
/* Closes it; its slot may be in use again at once. */
void conn_drop(struct conn *c);

#endif
