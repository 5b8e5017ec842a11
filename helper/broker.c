/*
 * From a question to its answer.  The order is the promise: the request is on the disk before
 * anyone can see it, the decision is on the disk before the one who waits hears of it, and a
 * ledger that cannot be written answers no.
 *
 * The question is judged again here, on this process' own image: a deny is never asked, and what
 * the asker claims about the verdict counts for nothing.
 */
#include "helper.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/rule.h"

#define NS_LISTED (600 * NS_S)
#define TEXT_MAX  2048

/* --- answers --- */

static void answer(struct helper *h, struct conn *c, const struct wire_answer *a)
{
	char frame[TEXT_MAX + 256], text[TEXT_MAX];
	struct wire_answer cut = *a;
	int n;

	snprintf(text, sizeof(text), "%s", a->text ? a->text : "");
	cut.text = text;
	n = wire_put_answer(frame, sizeof(frame), &cut);
	if (n > 0)
		(void)!send(c->fd, frame, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	conn_drop(h, c);
}

static void refuse(struct helper *h, struct conn *c, enum reason reason, const char *text)
{
	const struct wire_answer a = {
		.verdict = VERDICT_DENY, .reason = reason, .text = text, .approval = ""
	};

	answer(h, c, &a);
}

/* Everyone who waits for ap. */
static unsigned answer_waiters(struct helper *h, const struct approval *ap, const struct wire_answer *a)
{
	unsigned n = 0;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		if (h->conns[i].kind != CONN_AGENT || h->conns[i].waits != ap)
			continue;
		h->conns[i].waits = NULL;
		answer(h, &h->conns[i], a);
		n++;
	}
	return n;
}

static unsigned count_waiters(const struct helper *h, const struct approval *ap)
{
	unsigned n = 0;

	for (size_t i = 0; i < CONNS_MAX; i++)
		n += h->conns[i].kind == CONN_AGENT && h->conns[i].waits == ap;
	return n;
}

/* --- cards --- */

enum card_record { CARD_BUFFERED, CARD_DURABLE };

/* One record about a card.  What is kept is masked; what is shown to the human is not. */
static int card_record(struct helper *h, const struct approval *ap, const char *op, const char *verdict,
		       const char *more, enum card_record how)
{
	_cleanup_free_ char *target = strdup(ap->target), *detail = NULL;
	struct event e = { .pid = ap->pid,
			   .exe = ap->exe,
			   .op = op,
			   .target = target,
			   .access = access_name(ap->req.access),
			   .verdict = verdict,
			   .rule = ap->rule,
			   .via = "helper",
			   .approval = ap->id };
	pid_t parent = proc_parent((pid_t)ap->pid);

	e.ppid = parent > 0 ? parent : 0;
	if (!target || asprintf(&detail, "op=%s cwd=%s%s", op_name(ap->req.op),
				ap->req.cwd ? ap->req.cwd : "", more) < 0)
		return -ENOMEM;
	e.detail = detail;
	return how == CARD_DURABLE ? ledger_append_durable(&h->ledger, &e) : ledger_append(&h->ledger, &e);
}

static void forget_expired(struct helper *h, const char *print)
{
	for (size_t i = h->queue.n; i > 0; i--)
		if (h->queue.list[i - 1]->state == APPROVAL_EXPIRED &&
		    strcmp(h->queue.list[i - 1]->print, print) == 0)
			queue_forget(&h->queue, h->queue.list[i - 1]);
}

static void card_open(struct helper *h, struct conn *c, const struct wire_ask *ask, const struct decision *d,
		      const char *print)
{
	const struct card_question q = {
		.req = &ask->req, .decision = d, .image = ask->image, .pid = c->pid, .print = print
	};
	struct approval *ap = card_new(h, &q);

	if (!ap) {
		refuse(h, c, REASON_NOBODY, "the helper is out of memory");
		return;
	}
	if (card_record(h, ap, "approval/request", "ask", "", CARD_DURABLE) < 0) {
		approval_free(ap);
		refuse(h, c, REASON_NOBODY, "the ledger cannot be written, so nothing can be asked");
		return;
	}
	forget_expired(h, print);
	if (queue_add(&h->queue, ap) < 0) {
		approval_free(ap);
		refuse(h, c, REASON_NOBODY, "too many questions wait already");
		return;
	}
	c->waits = ap;
	h->tally.asked++;
}

/*
 * Only the launcher asks for what the operator typed, and only before that runs.  What the ring
 * says of the agent is the agent's own word and must not matter here.
 */
static bool may_be_root(const struct helper *h, const struct conn *c)
{
	return c->pid == h->launcher_pid && h->root_pid == 0;
}

static bool settled(struct helper *h, struct conn *c, const struct image *img, const struct decision *d)
{
	struct wire_answer a = { .verdict = d->verdict, .reason = d->reason, .text = "", .approval = "" };
	char text[1024];

	if (d->verdict == VERDICT_ASK)
		return false;
	if (d->verdict != VERDICT_ALLOW) {
		a.verdict = VERDICT_DENY;
		decision_describe(img, d, text, sizeof(text));
		a.text = text;
	}
	answer(h, c, &a);
	return true;
}

/* By this policy and every one around it: a nested run does not get to ask where nobody may be asked. */
static bool approvals_are_on(const struct image *img)
{
	struct image at = *img;

	do {
		if (at.h->approvals != APPROVALS_ASK)
			return false;
	} while (image_outer(&at, &at));
	return true;
}

void broker_ask(struct helper *h, struct conn *c, struct wire_ask *ask)
{
	struct wire_answer granted = { .verdict = VERDICT_ALLOW, .reason = REASON_HUMAN, .text = "" };
	const struct image *img = image_of(h, ask->image);
	struct request *req = &ask->req;
	char print[PRINT_HEX], id[APPROVAL_ID_HEX] = "";
	struct decision d;

	if (!img) {
		refuse(h, c, REASON_MALFORMED, "the session has no such image");
		return;
	}
	req->is_root = req->is_root && may_be_root(h, c);
	d = eval(img, req);
	if (settled(h, c, img, &d))
		return;
	approval_print(req, print);
	switch (queue_lookup(&h->queue, print, clock_boot_ns(), id)) {
	case KNOWN_GRANT:
		granted.approval = id;
		answer(h, c, &granted);
		return;
	case KNOWN_DENIED:
		refuse(h, c, REASON_REPEATED, "denied before in this turn");
		return;
	case KNOWN_PENDING:
		c->waits = queue_pending(&h->queue, print);
		c->waits->count++;
		return;
	case KNOWN_FULL:
		refuse(h, c, REASON_NOBODY, "too many questions wait already");
		return;
	case KNOWN_NOTHING:
		break;
	}
	if (!approvals_are_on(img))
		refuse(h, c, REASON_NEVER, "");
	else if (!image_may_ask(h, ask->image))
		refuse(h, c, REASON_NOBODY, "");
	else
		card_open(h, c, ask, &d, print);
}

static int fail(struct broker_result *ret, int err, const char *text)
{
	snprintf(ret->err, sizeof(ret->err), "%s", text);
	return err;
}

static int decision_record(struct helper *h, const struct approval *ap, const struct broker_reply *reply)
{
	_cleanup_free_ char *more = NULL;

	if (asprintf(&more, " scope=%s%s by=%s pid=%d%s%s%s%s",
		     reply->scope == GRANT_SESSION ? "session" : "once",
		     ap->state == APPROVAL_EXPIRED ? " late" : "", reply->by, reply->pid,
		     reply->confirmed && *reply->confirmed ? " confirmed=" : "",
		     reply->confirmed ? reply->confirmed : "", reply->reason[0] ? " reason=" : "",
		     reply->reason) < 0)
		return -ENOMEM;
	return card_record(h, ap, "approval/decision", reply->said == APPROVAL_APPROVED ? "allow" : "deny",
			   more, CARD_DURABLE);
}

int broker_respond(struct helper *h, struct approval *ap, const struct broker_reply *reply,
		   struct broker_result *ret)
{
	bool approved = reply->said == APPROVAL_APPROVED;
	struct wire_answer a = { .verdict = approved ? VERDICT_ALLOW : VERDICT_DENY,
				 .reason = REASON_HUMAN,
				 .approval = ap->id };
	char said[TEXT_MAX];
	struct out o = out_of(said, sizeof(said) - 1);

	*ret = (struct broker_result){ .late = ap->state == APPROVAL_EXPIRED };
	/* It is shown on the terminal of the one who was refused. */
	text_escaped(&o, reply->reason, strlen(reply->reason));
	said[o.len] = '\0';
	a.text = said;
	/* Before the record: an allow that is written down must also hold. */
	if (!queue_has_room(&h->queue, ap, reply->said, reply->scope, clock_boot_ns()))
		return fail(ret, -ENOSPC, "too many approvals wait to be used: approve it once");
	if (decision_record(h, ap, reply) < 0 && approved)
		return fail(ret, -EIO,
			    "the decision could not be written to the ledger, so nothing was approved");
	(void)queue_remember(&h->queue, ap, reply->said, reply->scope, clock_boot_ns());
	(void)approval_move(ap, reply->said);
	h->tally.approved += approved;
	h->tally.refused += !approved;
	ret->waiters = answer_waiters(h, ap, &a);
	queue_forget(&h->queue, ap);
	return 0;
}

#define NS_TOUCH (120 * NS_S)
#define NS_HOLD	 (600 * NS_S)

void broker_touch(struct helper *h, struct approval *ap)
{
	uint64_t want = clock_boot_ns() + NS_TOUCH, more;

	(void)h;
	if (ap->state != APPROVAL_PENDING || want <= ap->until_ns)
		return;
	more = want - ap->until_ns;
	if (more > NS_HOLD - ap->held_ns)
		more = NS_HOLD - ap->held_ns;
	ap->until_ns += more;
	ap->held_ns += more;
}

void broker_hangup(struct helper *h, struct conn *c)
{
	struct approval *ap = c->waits;

	c->waits = NULL;
	if (!ap || count_waiters(h, ap) > 0 || approval_move(ap, APPROVAL_CANCELLED) < 0)
		return;
	(void)card_record(h, ap, "approval/cancelled", "", " the asker is gone", CARD_BUFFERED);
	queue_forget(&h->queue, ap);
}

void broker_tick(struct helper *h, uint64_t now_ns)
{
	const struct wire_answer a = {
		.verdict = VERDICT_DENY, .reason = REASON_TIMEOUT, .text = "", .approval = ""
	};
	struct approval *ap;

	while ((ap = queue_overdue(&h->queue, now_ns))) {
		if (approval_move(ap, APPROVAL_EXPIRED) < 0) {
			queue_forget(&h->queue, ap);
			continue;
		}
		ap->until_ns = now_ns + NS_LISTED;
		h->tally.expired++;
		(void)card_record(h, ap, "approval/expired", "deny", " nobody answered in time",
				  CARD_BUFFERED);
		answer_waiters(h, ap, &a);
	}
}

void broker_cancel_all(struct helper *h, const char *why)
{
	const struct wire_answer a = {
		.verdict = VERDICT_DENY, .reason = REASON_NOBODY, .text = why, .approval = ""
	};

	while (h->queue.n > 0) {
		struct approval *ap = h->queue.list[0];

		if (approval_move(ap, APPROVAL_CANCELLED) == 0) {
			(void)card_record(h, ap, "approval/cancelled", "", " the session is over",
					  CARD_BUFFERED);
			answer_waiters(h, ap, &a);
		}
		queue_forget(&h->queue, ap);
	}
}
