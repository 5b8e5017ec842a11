/* The connections of a session: of its processes that ask, and of its operators. */
#include "conn.h"

#include <unistd.h>

#include "helper/base/pace.h"
#include "helper/base/state.h"

#include "control_peer.h"

struct conn *conn_add(struct helper *h, enum conn_kind kind, int fd, pid_t pid)
{
	size_t used = 0;
	struct conn *c = NULL;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		used += h->conns[i].kind != CONN_FREE;
		if (!c && h->conns[i].kind == CONN_FREE)
			c = &h->conns[i];
	}
	/* Keep some connections free for the operator. */
	if (!c || used >= h->conns_max || (kind == CONN_AGENT && used + 8 >= h->conns_max)) {
		close(fd);
		return NULL;
	}
	*c = (struct conn){ .kind = kind, .fd = fd, .pid = pid, .pace.left = PACE_BURST };
	return c;
}

void conn_drop(struct conn *c)
{
	close(c->fd);
	peer_free(c->peer);
	*c = (struct conn){ .kind = CONN_FREE, .fd = -1 };
}
