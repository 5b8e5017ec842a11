/*
 * The approvals against a naive model: random interleavings of asking, answering, expiring, hanging up,
 * acting, new turns and kills at every durable write.  Nobody is allowed without a decision that was on the
 * disk by then, nobody twice by one answer, and no answer that was acknowledged is lost.
 *
 * The broker is the helper's own, with everything around it played here; the queue comes with test_approve.c.
 */
#include <check.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "image_fixture.h"

static ssize_t model_send(int fd, const void *frame, size_t len, int flags);
static int model_kill(pid_t pid, int sig);

#define send model_send
#define kill model_kill
#include "helper/approvals/respond.c"
#undef TEXT_MAX
#include "helper/approvals/broker.c"

#include "helper/approvals/outcome.c"
#undef send
#undef kill

Suite *suite_approve_model(void);

#define QUESTIONS 12
#define ASKERS	  24
#define LOG_MAX	  400000
#define STEPS	  100000

/* --- the disk ----------------------------------------------------------------------------------------- */

struct entry {
	char op[24];
	char id[APPROVAL_ID_HEX];
	bool allow;
};

static struct entry log_[LOG_MAX];
static size_t written, durable;
static jmp_buf killed;
static bool may_die, disk_fails;
static struct approval *unborn; /* made, and in no queue before it is on the disk */
static uint64_t seed, now;

static unsigned roll(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static void die_sometimes(void)
{
	if (may_die && roll(150) == 0)
		longjmp(killed, 1);
}

int card_record(struct helper *h, const struct approval *ap, const char *op, const char *verdict,
		const char *more, enum card_record how)
{
	struct entry *e = &log_[written];
	int r = 0;

	(void)more;
	if (disk_fails) {
		unborn = NULL;
		return -ENOSPC;
	}
	ck_assert_uint_lt(written, LOG_MAX);
	snprintf(e->op, sizeof(e->op), "%s", op);
	memcpy(e->id, ap->id, sizeof(e->id));
	e->allow = strcmp(verdict, "allow") == 0;
	written++;
	if (how == CARD_DURABLE)
		r = ledger_sync(h->ledger);
	unborn = NULL;
	return r;
}

int ledger_sync(struct ledger *l)
{
	(void)l;
	die_sometimes();
	if (disk_fails)
		return -EIO;
	durable = written;
	die_sometimes();
	return 0;
}

int ledger_sync_kept(struct ledger *l)
{
	return ledger_sync(l);
}

static size_t count_log(const char *op, const char *id, size_t upto)
{
	size_t n = 0;

	/* The cards of the last few thousand records are all that live. */
	for (size_t i = upto > 4000 ? upto - 4000 : 0; i < upto; i++)
		n += strcmp(log_[i].op, op) == 0 && strcmp(log_[i].id, id) == 0;
	return n;
}

/* --- the world ---------------------------------------------------------------------------------------- */

enum told { TOLD_NOTHING, TOLD_YES, TOLD_NO };

struct asker {
	struct conn *conn; /* waits */
	unsigned question;
	enum told told;
	char id[APPROVAL_ID_HEX];
	bool dead;
};

static struct helper *h;
static struct fixture policy;
static struct asker askers[ASKERS];
static unsigned ids;
static size_t allowed, answered, crashes;

/* The naive model: what a human's words are still good for. */
static struct {
	unsigned yes; /* that may be told yet: waiters at the time of an approval, or one for a late one */
	bool denied;  /* in this turn */
	uint64_t late_ns; /* until when a late approval holds, 0: none */
} model[QUESTIONS];

static struct asker *asker_of(int fd)
{
	return &askers[fd - 1000];
}

static ssize_t model_send(int fd, const void *frame, size_t len, int flags)
{
	struct asker *a = asker_of(fd);
	struct wire_answer w;

	(void)flags;
	die_sometimes();
	ck_assert_int_eq(wire_get_answer(frame, len, &w), 0);
	ck_assert_msg(a->told == TOLD_NOTHING, "answered twice");
	a->told = w.verdict == VERDICT_ALLOW ? TOLD_YES : TOLD_NO;
	snprintf(a->id, sizeof(a->id), "%s", w.approval);
	answered++;
	if (w.verdict == VERDICT_ALLOW) {
		size_t i = durable;

		while (i > 0 && !(strcmp(log_[i - 1].op, "approval/decision") == 0 &&
				  strcmp(log_[i - 1].id, w.approval) == 0 && log_[i - 1].allow))
			i--;
		ck_assert_msg(i > 0, "allowed without a decision on the disk");
		ck_assert_msg(model[a->question].yes > 0, "allowed though nobody said so, or twice");
		model[a->question].yes--;
		allowed++;
	}
	return (ssize_t)len;
}

static int model_kill(pid_t pid, int sig)
{
	(void)sig;
	errno = ESRCH;
	return asker_of((int)pid)->dead ? -1 : 0;
}

void conn_drop(struct conn *c)
{
	asker_of(c->fd)->conn = NULL;
	c->kind = CONN_FREE;
	c->waits = NULL;
}

#include "approve_world.h"

/* --- the steps ---------------------------------------------------------------------------------------- */

static unsigned question_of(const struct approval *ap)
{
	return (unsigned)atoi(ap->target);
}

/* Of the first `seen` that asked. */
static unsigned waiters_of(const struct approval *ap, size_t seen)
{
	unsigned n = 0;

	for (size_t i = 0; i < ASKERS; i++)
		n += askers[i].conn && askers[i].conn->waits == ap && askers[i].conn->place < seen;
	return n;
}

static void ask(void)
{
	static struct wire_ask frame;
	static char words[QUESTIONS][16];
	static const char *argv[QUESTIONS][3];
	unsigned i = roll(ASKERS), q = roll(QUESTIONS);
	struct asker *a = &askers[i];
	struct conn *c = &h->conns[i];
	bool late, denied;

	if (a->conn)
		return;
	/* Who was not meant by an answer asks it again, from the card. */
	snprintf(words[q], sizeof(words[q]), "%u", q);
	argv[q][0] = "ask-me";
	argv[q][1] = words[q];
	frame.req = (struct request){ .op = OP_EXEC, .argv = argv[q], .argc = 2, .cwd = "/ws" };
	*a = (struct asker){ .conn = c, .question = q };
	*c = (struct conn){ .kind = CONN_AGENT, .fd = 1000 + (int)i, .pid = 1000 + (pid_t)i };
	late = model[q].late_ns > now;
	denied = model[q].denied;
	if (late) {
		model[q].late_ns = 0;
		model[q].yes++;
	}
	broker_ask(h, c, &frame);
	if (late)
		ck_assert_msg(a->told == TOLD_YES, "an answer was lost: the late approval is not used");
	else if (denied)
		ck_assert_msg(a->told == TOLD_NO, "asked again in the same turn");
	else
		ck_assert_int_ne(a->told, TOLD_YES);
}

static struct approval *some_card(void)
{
	return h->queue->n > 0 ? h->queue->list[roll((unsigned)h->queue->n)] : NULL;
}

static void respond(void)
{
	struct approval *ap = some_card();
	struct broker_reply reply = { .said = roll(3) ? APPROVAL_APPROVED : APPROVAL_DENIED,
				      .reason = "",
				      .by = "model",
				      .group = roll(8) == 0 };
	struct broker_result result;
	char id[APPROVAL_ID_HEX];
	bool may, late, approved = reply.said == APPROVAL_APPROVED;
	unsigned q;

	if (!ap)
		return;
	may = approval_may_answer(ap);
	/* Some came after the card was read. */
	reply.seen = 1 + roll((unsigned)ap->n_askers);
	late = ap->state == APPROVAL_EXPIRED;
	q = question_of(ap);
	memcpy(id, ap->id, sizeof(id));
	/* Groups of the model are denials: what an approval takes along is the policy's business. */
	reply.group = reply.group && !approved;
	for (size_t i = 0; i < h->queue->n; i++) {
		const struct approval *other = h->queue->list[i];

		if (may && !approved && (other == ap || (reply.group && other->state == APPROVAL_PENDING)))
			model[question_of(other)].denied = true;
	}
	/* Whatever is killed from here on, nobody is told yes more often than this. */
	if (may && approved && !late)
		model[q].yes += waiters_of(ap, reply.seen);
	if (broker_respond(h, ap, &reply, &result) < 0) {
		ck_assert_msg(!may || (approved && disk_fails), "refused without a reason");
		if (may && approved && !late)
			model[q].yes -= waiters_of(ap, reply.seen);
		return;
	}
	ck_assert_msg(may, "answered twice");
	ck_assert_msg(disk_fails || count_log("approval/decision", id, durable) == 1,
		      "acknowledged and not on the disk");
	if (approved && late)
		model[q].late_ns = now + NS_LISTED;
}

static void hang_up(void)
{
	struct asker *a = &askers[roll(ASKERS)];

	a->dead = true;
	if (a->conn) {
		broker_hangup(h, a->conn);
		conn_drop(a->conn);
	}
}

static void act(void)
{
	const struct asker *a = &askers[roll(ASKERS)];

	if (a->told != TOLD_YES)
		return;
	outcome_begun(h, a->id, FEED_KERNEL);
	outcome_done(h, a->id, roll(4) ? 0 : ENOENT);
}

static void pass_time(void)
{
	now += (uint64_t)roll(20000) * NS_MS;
	if (roll(40) == 0)
		now += 300 * NS_S;
	broker_tick(h, now);
}

static void next_turn(void)
{
	queue_turn(h->queue);
	for (size_t i = 0; i < QUESTIONS; i++)
		model[i].denied = false;
}

static void disk(void)
{
	disk_fails = !disk_fails && roll(4) == 0;
}

static void step(void)
{
	static void (*const steps[])(void) = { ask,	ask, ask, respond,   respond,
					       hang_up, act, act, pass_time, disk };

	if (roll(60) == 0)
		next_turn();
	else
		steps[roll(NELEM(steps))]();
	ck_assert_uint_le(h->queue->n, APPROVALS_MAX);
}

/* --- a life, and the next one ------------------------------------------------------------------------- */

static void begin(void)
{
	h = calloc(1, sizeof(*h));
	h->queue = calloc(1, sizeof(*h->queue));
	h->tally = calloc(1, sizeof(*h->tally));
	h->conns = calloc(CONNS_MAX, sizeof(*h->conns));
	h->queue->turn = 1;
	h->level = LEVEL_FULL;
	memset(model, 0, sizeof(model));
	memset(askers, 0, sizeof(askers));
	disk_fails = false;
}

static void end(void)
{
	queue_done(h->queue);
	free(h->queue);
	free(h->tally);
	free(h->conns);
	free(h);
}

/* Each id: one request, at most one decision and one outcome, in this order, the outcome of a yes alone. */
static void check_log(void)
{
	static uint8_t seen[LOG_MAX];
	enum { REQUEST = 1, YES = 2, NO = 4, OUTCOME = 8 };

	memset(seen, 0, sizeof(seen));
	for (size_t i = 0; i < durable; i++) {
		const struct entry *e = &log_[i];
		uint8_t *s = &seen[strtoul((char[9]){ e->id[0], e->id[1], e->id[2], e->id[3], e->id[4],
						      e->id[5], e->id[6], e->id[7] },
					   NULL, 16)];

		if (strcmp(e->op, "approval/request") == 0) {
			ck_assert_int_eq(*s, 0);
			*s |= REQUEST;
		} else if (strcmp(e->op, "approval/decision") == 0) {
			ck_assert_msg(*s == REQUEST, "decided twice, or never asked");
			*s |= e->allow ? YES : NO;
		} else if (strcmp(e->op, "approval/outcome") == 0) {
			ck_assert_msg(*s == (REQUEST | YES), "an outcome without a yes, or two");
			*s |= OUTCOME;
		}
	}
}

START_TEST(a_hundred_thousand_steps)
{
	volatile int left = STEPS;

	fixture_init(&policy);
	fixture_rule(&policy, RULE_CMD_ASK, "ask-me");
	fixture_compile(&policy);
	seed = 20261122;
	now = NS_S;
	while (left > 0) {
		begin();
		may_die = true;
		if (setjmp(killed) == 0) {
			for (int life = 0; life < 4000 && left > 0; life++, left--)
				step();
			may_die = false;
			disk_fails = false;
			broker_cancel_all(h, "over");
			outcome_end_all(h);
			ck_assert_uint_eq(h->queue->n, 0);
			(void)ledger_sync(h->ledger);
		} else {
			/* What was not on the disk is gone, or some of it is not. */
			durable += roll((unsigned)(written - durable) + 1);
			crashes++;
			/* A process takes its memory along. */
			approval_free(unborn);
			unborn = NULL;
		}
		written = durable;
		may_die = false;
		end();
	}
	check_log();
	ck_assert_uint_gt(crashes, 50);
	ck_assert_uint_gt(allowed, 1000);
	ck_assert_uint_gt(answered, 10000);
	fixture_done(&policy);
}
END_TEST

Suite *suite_approve_model(void)
{
	Suite *s = suite_create("approve_model");
	TCase *t = tcase_create("approve_model");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_hundred_thousand_steps);
	suite_add_tcase(s, t);
	return s;
}
