/* The operator's calls about the ledger: its head, and its records as they are written. */
#include <string.h>

#include "helper/base/state.h"
#include "helper/control/call.h"
#include "helper/control/conn.h"
#include "helper/control/control_peer.h"
#include "helper/ledger/fold.h"
#include "helper/ledger/ledger.h"

#include "methods.h"

/* Bytes that wait for a slow subscriber; records beyond that are not sent, but counted (log/lost). */
#define RECORDS_QUEUED (256u << 10)

static json_t *log_head(struct call *call)
{
	struct ledger *l = call->h->ledger;

	fold_flush(call->h->fold, FOLD_NOW, 0);
	(void)ledger_flush(l);
	return json_pack("{s:I, s:s, s:I, s:b}", "records", (json_int_t)l->good_seq, "hash", ledger_head(l),
			 "lost", (json_int_t)l->lost_total, "ledger_ok", l->error == 0);
}

/* The line is JSON already. */
static int tell_record(struct conn *c, const char *line, size_t len)
{
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"log/record\",\"params\":{\"record\":";
	char packet[LIMIT_FRAME];
	int r;

	if (c->peer->queued > RECORDS_QUEUED || sizeof(head) - 1 + len + 2 > sizeof(packet)) {
		c->peer->lost++;
		return 0;
	}
	r = peer_tell_lost(c->peer, c->fd);
	if (r < 0)
		return r;
	memcpy(packet, head, sizeof(head) - 1);
	memcpy(packet + sizeof(head) - 1, line, len);
	memset(packet + sizeof(head) - 1 + len, '}', 2);
	return peer_send(c->peer, c->fd, packet, sizeof(head) - 1 + len + 2);
}

static int tell_records(struct conn *c, const char *lines, size_t len)
{
	while (len > 0) {
		const char *end = memchr(lines, '\n', len);
		size_t n = end ? (size_t)(end - lines) : len;
		int r = n > 0 ? tell_record(c, lines, n) : 0;

		if (r < 0)
			return r;
		n += end ? 1 : 0;
		lines += n;
		len -= n;
	}
	return 0;
}

/*
 * Sends whole lines of the ledger, as they were written, to each subscriber.  Without subscribers it is not
 * called again.
 */
static void tell_all(void *ctx, const char *lines, size_t len)
{
	struct helper *h = ctx;
	size_t listeners = 0;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &h->conns[i];

		if (c->kind != CONN_CONTROL || !c->peer->records)
			continue;
		listeners++;
		if (tell_records(c, lines, len) < 0)
			c->peer->broken = true;
	}
	if (listeners == 0)
		h->ledger->written = NULL;
}

/* {"approvals": bool, "records": bool}: replaces the earlier subscription. */
static json_t *log_subscribe(struct call *call)
{
	struct peer *p = call->c->peer;

	p->approvals = call_flag(call, "approvals");
	p->records = call_flag(call, "records");
	call->h->ledger->written = tell_all;
	call->h->ledger->ctx = call->h;
	return json_pack("{s:b, s:b}", "approvals", p->approvals, "records", p->records);
}

const struct method control_log[] = {
	{ "log/head", SESSION_LIVE | SESSION_ENDING, CONTROL_READ, log_head },
	{ "log/subscribe", SESSION_LIVE, CONTROL_READ, log_subscribe },
	{ 0 },
};
