/*
 * From a question to its answer.  This order holds at whatever moment a process is killed:
 *
 *   1. `approval/request` is on the disk before the card is shown.  If the helper is killed before that, no
 *      human was asked; the asking process sees its connection close, which is a denial.
 *   2. A human answers.  A grant beyond this question is on the disk first (grants_add), then the
 *      `approval/decision`; only then is the answer sent, to the human's client too.  If the helper is killed
 *      between the two, the grant holds and can be listed and revoked, and the question itself is denied.
 *   3. An asking process acts at most once for each answer: the answer ends the connection, and the same
 * answer cannot be requested again.  If the helper is killed between decision and answer, the act is denied,
 * and the ledger has a decision without `approval/outcome`.  A late approval is used up before the process
 *      that asks again gets its answer.
 *   4. `approval/outcome` follows the record of the act (via = kernel), or says that no act followed.
 *
 * If the ledger cannot be written, the answer is no.  The question is judged again here, by the helper's own
 * image: a denied act is not asked about, and what the asking process claims about the verdict is ignored.
 */
#include "broker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/judge/eval.h"
#include "policy/rules/rule.h"
#include "policy/system/system.h"
#include "policy/wire/wire.h"

#include "helper/base/images.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/control/conn.h"
#include "helper/ledger/tally.h"

#include "approval.h"
#include "grants_held.h"
#include "new_card.h"
#include "outcome.h"
#include "queue.h"
#include "reach_human.h"
#include "shown.h"

#define TEXT_MAX 2048
#define NS_TOUCH (120 * NS_S)
#define NS_HOLD	 (WIRE_HOLD_S * NS_S)

/* --- answers --- */

static bool send_answer(struct conn *c, const struct wire_answer *a)
{
	char frame[TEXT_MAX + 256], text[TEXT_MAX];
	struct wire_answer cut = *a;
	bool told;
	int n;

	snprintf(text, sizeof(text), "%s", a->text ? a->text : "");
	cut.text = text;
	n = wire_put_answer(frame, sizeof(frame), &cut);
	told = n > 0 && send(c->fd, frame, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n;
	conn_drop(c);
	return told;
}

static void refuse_question(struct conn *c, enum reason reason, const char *text)
{
	const struct wire_answer a = {
		.verdict = VERDICT_DENY, .reason = reason, .text = text, .approval = ""
	};

	(void)send_answer(c, &a);
}

static bool waits_for(const struct conn *c, const struct approval *ap)
{
	return c->kind == CONN_AGENT && c->waits == ap;
}

static unsigned count_waiters(const struct helper *h, const struct approval *ap)
{
	unsigned n = 0;

	for (size_t i = 0; i < CONNS_MAX; i++)
		n += waits_for(&h->conns[i], ap);
	return n;
}

unsigned broker_tell(struct helper *h, struct approval *ap, size_t first, const struct wire_answer *a)
{
	unsigned n = 0;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		struct conn *c = &h->conns[i];
		pid_t pid = c->pid;

		if (!waits_for(c, ap) || c->place >= first)
			continue;
		c->waits = NULL;
		/* Before the answer, since the act's record may be in the ring before answer() returns. */
		if (a->verdict == VERDICT_ALLOW)
			outcome_expect(ap, pid);
		if (!send_answer(c, a) && a->verdict == VERDICT_ALLOW)
			outcome_forgo(ap);
		else
			n++;
	}
	return n;
}

/* --- cards --- */

/* Drops the expired card of this question: a new card takes its place. */
static void forget_expired(struct helper *h, const char *print)
{
	for (size_t i = h->queue->n; i > 0; i--)
		if (h->queue->list[i - 1]->state == APPROVAL_EXPIRED &&
		    strcmp(h->queue->list[i - 1]->print, print) == 0)
			queue_forget(h->queue, h->queue->list[i - 1]);
}

static void make_room(struct helper *h)
{
	struct approval *old = queue_dispensable(h->queue);

	if (old && old->state == APPROVAL_APPROVED)
		outcome_end(h, old, "not known yet, and too many others wait");
	else if (old)
		queue_forget(h->queue, old);
}

/* Drops the processes that are gone from the card, which thereby becomes another card. */
static void drop_gone(struct helper *h, struct approval *ap)
{
	struct conn *at[CARD_ASKERS] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < CONNS_MAX; i++)
		if (waits_for(&h->conns[i], ap))
			at[h->conns[i].place] = &h->conns[i];
	for (size_t i = 0; i < ap->n_askers; i++) {
		if (!at[i]) {
			free(ap->asker[i].exe);
			continue;
		}
		ap->asker[n] = ap->asker[i];
		at[i]->place = n++;
	}
	ap->n_askers = n;
}

/* Adds c to those that ask ap's question; false where c was refused. */
static bool join_askers(struct helper *h, struct conn *c, struct approval *ap)
{
	int r;

	if (ap->n_askers == CARD_ASKERS)
		drop_gone(h, ap);
	r = card_join(h, ap, c->pid);
	if (r < 0) {
		refuse_question(c, r == -EMSGSIZE ? REASON_TOO_LONG : REASON_NOBODY,
				r == -EMSGSIZE
					? "the question is too long to be shown whole, so it is not asked"
					: "too many wait for this question already");
		return false;
	}
	c->waits = ap;
	c->place = ap->n_askers - 1;
	return true;
}

static void card_open(struct helper *h, struct conn *c, const struct request *req, uint32_t image,
		      const struct decision *d, const char *print)
{
	const struct card_question q = {
		.req = req, .decision = d, .image = image, .pid = c->pid, .print = print
	};
	struct approval *ap = card_new(h, &q);

	if (!ap) {
		refuse_question(c, REASON_NOBODY, "the helper is out of memory");
		return;
	}
	if (!join_askers(h, c, ap)) {
		approval_free(ap);
		return;
	}
	if (card_record_request(h, ap) < 0) {
		c->waits = NULL;
		approval_free(ap);
		refuse_question(c, REASON_NOBODY, "the ledger cannot be written, so nothing can be asked");
		return;
	}
	forget_expired(h, print);
	make_room(h);
	if (queue_add(h->queue, ap, clock_boot_ns()) < 0) {
		c->waits = NULL;
		approval_free(ap);
		refuse_question(c, REASON_NOBODY, "too many questions wait already");
		return;
	}
	h->tally->asked++;
	reach_asked(h, ap);
}

/*
 * Only the launcher may ask about the command that the operator typed, and only before it runs.  What the
 * ring says about the agent does not count: it is a claim of the agent.
 */
static bool may_be_root(const struct helper *h, const struct conn *c)
{
	return c->pid == h->launcher_pid && h->root_pid == 0;
}

static bool settled(struct conn *c, const struct image *img, const struct decision *d)
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
	send_answer(c, &a);
	return true;
}

/* True where this policy and every outer one allow questions. */
static bool approvals_are_on(const struct image *img)
{
	struct image at = *img;

	do {
		if (at.h->approvals != APPROVALS_ASK)
			return false;
	} while (image_outer(&at, &at));
	return true;
}

static bool allow(struct conn *c, enum reason why, const char *id)
{
	const struct wire_answer granted = {
		.verdict = VERDICT_ALLOW, .reason = why, .text = "", .approval = id
	};

	return send_answer(c, &granted);
}

/* Answers c, or makes it wait, where this question was asked before; false where it is new. */
static bool known(struct helper *h, struct conn *c, const char *print)
{
	struct approval *ap;

	switch (queue_lookup(h->queue, print, clock_boot_ns(), &ap)) {
	case KNOWN_LATE:
		outcome_expect(ap, c->pid);
		if (!allow(c, REASON_HUMAN, ap->id))
			outcome_forgo(ap);
		return true;
	case KNOWN_DENIED:
		refuse_question(c, REASON_REPEATED, "not asked again until the operator says `pale turn`");
		return true;
	case KNOWN_PENDING:
		(void)join_askers(h, c, ap);
		return true;
	case KNOWN_FULL:
		refuse_question(c, REASON_NOBODY, "too many questions wait already");
		return true;
	case KNOWN_RATE:
		h->tally->flooded++;
		refuse_question(c, REASON_FLOOD, "too many questions in one second");
		return true;
	case KNOWN_NOTHING:
		break;
	}
	return false;
}

static bool granted(struct helper *h, struct conn *c, const struct request *req, uint32_t image)
{
	char id[GRANT_ID_HEX];

	if (!grants_cover(h, image, req, c->pid, id))
		return false;
	(void)allow(c, REASON_GRANT, id);
	return true;
}

static void inquire(struct helper *h, struct conn *c, const struct request *req, uint32_t image)
{
	const struct image *img = image_of(h, image);
	char print[PRINT_HEX];
	struct decision d;
	const char *why;

	if (!img) {
		refuse_question(c, REASON_MALFORMED, "the session has no such image");
		return;
	}
	d = eval(img, req);
	if (settled(c, img, &d))
		return;
	if (!approvals_are_on(img)) {
		refuse_question(c, REASON_NEVER, "");
		return;
	}
	if (granted(h, c, req, image))
		return;
	approval_print(req, image, print);
	if (known(h, c, print))
		return;
	if (!image_may_ask(h, image))
		refuse_question(c, REASON_NOBODY, "");
	else if (!reach_anybody(h, &why))
		refuse_question(c, REASON_NOBODY, why);
	else
		card_open(h, c, req, image, &d, print);
}

void broker_ask(struct helper *h, struct conn *c, struct wire_ask *ask)
{
	ask->req.is_root = ask->req.is_root && may_be_root(h, c);
	if (shown_env(h, ask) < 0) {
		refuse_question(c, REASON_TOO_LONG,
				"too many variables differ from those of the session's start");
		return;
	}
	inquire(h, c, &ask->req, ask->image);
}

void broker_ask_rest(struct helper *h, struct approval *ap)
{
	struct conn *rest[CARD_ASKERS];
	struct approval kept = { .image = ap->image };
	size_t n = 0;

	for (size_t i = 0; i < CONNS_MAX; i++) {
		if (!waits_for(&h->conns[i], ap))
			continue;
		h->conns[i].waits = NULL;
		rest[n++] = &h->conns[i];
	}
	if (n > 0 && card_keep(&kept, &ap->req) < 0)
		while (n > 0)
			refuse_question(rest[--n], REASON_NOBODY, "the helper is out of memory");
	if (ap->outcome.n_askers == 0)
		outcome_end(h, ap, "never used: the process that asked is gone");
	/* This may free ap, to make room for a new card. */
	for (size_t i = 0; i < n; i++)
		inquire(h, rest[i], &kept.req, kept.image);
	free(kept.store);
}

void broker_hangup(struct helper *h, struct conn *c)
{
	struct approval *ap = c->waits;

	c->waits = NULL;
	if (!ap || count_waiters(h, ap) > 0 || approval_move(ap, APPROVAL_CANCELLED) < 0)
		return;
	(void)card_record(h, ap, "approval/cancelled", "", " the asker is gone", CARD_BUFFERED);
	reach_closed(h, ap, "", GRANT_ONCE);
	queue_forget(h->queue, ap);
}

/* --- time --- */

void broker_touch(struct approval *ap)
{
	uint64_t want = clock_boot_ns() + NS_TOUCH, more;

	if (ap->state != APPROVAL_PENDING || want <= ap->until_ns)
		return;
	more = want - ap->until_ns;
	if (more > NS_HOLD - ap->held_ns)
		more = NS_HOLD - ap->held_ns;
	ap->until_ns += more;
	ap->held_ns += more;
}

static void expire(struct helper *h, struct approval *ap, uint64_t now_ns)
{
	const struct wire_answer a = {
		.verdict = VERDICT_DENY, .reason = REASON_TIMEOUT, .text = "", .approval = ""
	};

	ap->until_ns = now_ns + NS_LISTED;
	h->tally->expired++;
	(void)card_record(h, ap, "approval/expired", "deny", " no answer came in time", CARD_BUFFERED);
	broker_tell(h, ap, BROKER_ALL, &a);
	reach_closed(h, ap, "", GRANT_ONCE);
}

void broker_tick(struct helper *h, uint64_t now_ns)
{
	struct approval *ap;

	while ((ap = queue_overdue(h->queue, now_ns))) {
		if (approval_move(ap, APPROVAL_EXPIRED) == 0)
			expire(h, ap, now_ns);
		else if (ap->state == APPROVAL_LATE)
			outcome_end(h, ap, "never used: it was not asked again in time");
		else
			queue_forget(h->queue, ap);
	}
	outcome_tick(h, now_ns);
}

/* Judges one waiting question by the current policy, and answers it where it need not be asked any more. */
static void rejudge(struct helper *h, struct approval *ap)
{
	const struct image *img = image_of(h, ap->image);
	struct decision d = { .verdict = VERDICT_DENY, .reason = REASON_MALFORMED, .rule = RULE_NONE };
	struct wire_answer a = { .text = "", .approval = "" };
	char text[1024];

	if (img)
		d = eval(img, &ap->req);
	if (d.verdict == VERDICT_ASK || approval_move(ap, APPROVAL_CANCELLED) < 0)
		return;
	a.verdict = d.verdict == VERDICT_ALLOW ? VERDICT_ALLOW : VERDICT_DENY;
	a.reason = d.reason;
	if (a.verdict == VERDICT_DENY && img) {
		decision_describe(img, &d, text, sizeof(text));
		a.text = text;
	}
	(void)card_record(h, ap, "approval/cancelled", verdict_name(a.verdict),
			  " the policy was loaded again and settles it", CARD_BUFFERED);
	broker_tell(h, ap, BROKER_ALL, &a);
	reach_closed(h, ap, "", GRANT_ONCE);
	queue_forget(h->queue, ap);
}

void broker_rejudge(struct helper *h)
{
	for (size_t i = h->queue->n; i > 0; i--)
		if (h->queue->list[i - 1]->state == APPROVAL_PENDING)
			rejudge(h, h->queue->list[i - 1]);
}

void broker_cancel_all(struct helper *h, const char *why)
{
	const struct wire_answer a = {
		.verdict = VERDICT_DENY, .reason = REASON_NOBODY, .text = why, .approval = ""
	};

	/* outcome_end_all() records approvals without an act, after the last record of the rings. */
	for (size_t i = h->queue->n; i > 0; i--) {
		struct approval *ap = h->queue->list[i - 1];
		bool waits = ap->state == APPROVAL_PENDING;

		if (approval_move(ap, APPROVAL_CANCELLED) < 0)
			continue;
		if (waits) {
			(void)card_record(h, ap, "approval/cancelled", "", " the session is over",
					  CARD_BUFFERED);
			broker_tell(h, ap, BROKER_ALL, &a);
			reach_closed(h, ap, "", GRANT_ONCE);
		}
		queue_forget(h->queue, ap);
	}
}
