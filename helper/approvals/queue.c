/*
 * The queue of questions as a value: the questions, the answers, and what still holds.  No I/O and no
 * clock, so that every interleaving can be tested.
 *
 * One table says which states may follow a state and what each state allows.  An answer that comes after
 * the deadline does not change what has happened: the question was denied, once; an approval then is good
 * for one retry.
 */
#include "queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/record/digest.h"
#include "policy/system/system.h"

#include "helper/base/images.h"

#include "approval.h"

#define NS_MINUTE (60 * NS_S)

#define TO(state) (1u << APPROVAL_##state)

static const struct {
	const char *name;
	unsigned next;
	bool is_listed, may_answer, has_clock;
} states[APPROVAL_STATES] = {
	[APPROVAL_PENDING] = { "pending", TO(APPROVED) | TO(DENIED) | TO(EXPIRED) | TO(CANCELLED), true, true,
			       true },
	[APPROVAL_EXPIRED] = { "expired", TO(LATE) | TO(DENIED) | TO(CANCELLED), true, true, true },
	[APPROVAL_LATE] = { "late", TO(APPROVED) | TO(DONE), false, false, true },
	[APPROVAL_APPROVED] = { "approved", TO(DONE), false, false, false },
	[APPROVAL_DENIED] = { "denied", 0, false, false, false },
	[APPROVAL_CANCELLED] = { "cancelled", 0, false, false, false },
	[APPROVAL_DONE] = { "done", 0, false, false, false },
};

const char *approval_state_name(enum approval_state s)
{
	return s < APPROVAL_STATES ? states[s].name : "?";
}

bool approval_is_listed(const struct approval *ap)
{
	return states[ap->state].is_listed;
}

bool approval_may_answer(const struct approval *ap)
{
	return states[ap->state].may_answer;
}

int approval_move(struct approval *ap, enum approval_state to)
{
	if (to >= APPROVAL_STATES || !(states[ap->state].next & 1u << to))
		return -EPERM;
	ap->state = to;
	return 0;
}

void approval_free(struct approval *ap)
{
	if (!ap)
		return;
	grant_offers_done(&ap->offers);
	for (size_t i = 0; i < ap->n_tree; i++)
		free(ap->tree[i].exe);
	for (size_t i = 0; i < ap->n_askers; i++)
		free(ap->asker[i].exe);
	free(ap->asker);
	free(ap->outcome.asker);
	free(ap->store);
	free(ap->target);
	free(ap->exe);
	free(ap->rule);
	free(ap);
}

/* --- what makes two questions the same --- */

void approval_print(const struct request *req, uint32_t image, char print[PRINT_HEX])
{
	const uint32_t numbers[] = {
		(uint32_t)req->op, req->access,		req->port, req->has_addr && !req->host,
		req->is_datagram,  (uint32_t)req->argc, image
	};
	struct digest d;

	digest_begin(&d, "pale-approval-1");
	digest_bytes(&d, numbers, sizeof(numbers));
	digest_text(&d, req->path);
	digest_text(&d, req->host);
	/*
	 * With a name, the address may change from lookup to lookup; a bare address is the question itself.
	 */
	if (numbers[3])
		digest_bytes(&d, req->addr, sizeof(req->addr));
	for (size_t i = 0; i < req->argc; i++)
		digest_text(&d, req->argv[i]);
	/* The same words in another directory, or a push of another branch, are another command. */
	digest_text(&d, req->op == OP_EXEC ? req->cwd : NULL);
	digest_text(&d, req->op == OP_EXEC ? req->git_branch : NULL);
	digest_text(&d, req->aim);
	digest_text(&d, req->file);
	digest_text(&d, req->loads);
	for (size_t i = 0; req->env && req->env[i]; i++)
		digest_text(&d, req->env[i]);
	digest_end(&d, print);
}

/* --- the list --- */

static struct approval *find_alike(struct queue *a, const char *print, enum approval_state state)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->list[i]->state == state && strcmp(a->list[i]->print, print) == 0)
			return a->list[i];
	return NULL;
}

struct approval *queue_by_id(struct queue *a, const char *id)
{
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->list[i]->id, id) == 0)
			return a->list[i];
	return NULL;
}

size_t queue_count(const struct queue *a, enum approval_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		n += a->list[i]->state == state;
	return n;
}

/* The number of questions in the last `ns` nanoseconds; only those of this rule, where rule is not 0. */
static size_t count_recent(const struct queue *a, uint64_t rule, uint64_t now_ns, uint64_t ns)
{
	size_t n = 0;

	for (size_t i = 0; i < RECENT_MAX; i++)
		n += a->recent[i].rule != 0 && (rule == 0 || a->recent[i].rule == rule) &&
		     now_ns < a->recent[i].ns + ns;
	return n;
}

static struct approval *use_late(struct queue *a, const char *print, uint64_t now_ns)
{
	struct approval *ap;

	for (size_t i = 0; i < a->n; i++) {
		ap = a->list[i];
		if (ap->state == APPROVAL_LATE && strcmp(ap->print, print) == 0 && now_ns < ap->until_ns &&
		    approval_move(ap, APPROVAL_APPROVED) == 0)
			return ap;
	}
	return NULL;
}

static bool is_denied(const struct queue *a, const char *print)
{
	for (size_t i = 0; i < a->n_denied; i++)
		if (strcmp(a->denied[i], print) == 0)
			return true;
	return false;
}

enum approval_known queue_lookup(struct queue *a, const char *print, uint64_t now_ns,
				 struct approval **ret_card)
{
	*ret_card = use_late(a, print, now_ns);
	if (*ret_card)
		return KNOWN_LATE;
	if (is_denied(a, print))
		return KNOWN_DENIED;
	*ret_card = find_alike(a, print, APPROVAL_PENDING);
	if (*ret_card)
		return KNOWN_PENDING;
	if (queue_count(a, APPROVAL_PENDING) >= LIMIT_PENDING)
		return KNOWN_FULL;
	return count_recent(a, 0, now_ns, NS_S) >= RATE_MAX ? KNOWN_RATE : KNOWN_NOTHING;
}

static struct approval *oldest(struct queue *a, enum approval_state state)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->list[i]->state == state)
			return a->list[i];
	return NULL;
}

struct approval *queue_dispensable(struct queue *a)
{
	struct approval *ap;

	if (a->n < APPROVALS_MAX)
		return NULL;
	ap = oldest(a, APPROVAL_EXPIRED);
	return ap ? ap : oldest(a, APPROVAL_APPROVED);
}

/* FNV-1a; never 0. */
static uint64_t rule_hash(const char *rule)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (const char *p = rule ? rule : ""; *p; p++)
		h = (h ^ (uint8_t)*p) * 0x100000001b3ull;
	return h ? h : 1;
}

int queue_add(struct queue *a, struct approval *ap, uint64_t now_ns)
{
	uint64_t rule = rule_hash(ap->rule);

	if (queue_count(a, APPROVAL_PENDING) >= LIMIT_PENDING)
		return -ENOSPC;
	if (a->n == APPROVALS_MAX)
		return -ENOSPC;
	a->recent[a->next_recent] = (struct recent){ .rule = rule, .ns = now_ns };
	a->next_recent = (a->next_recent + 1) % RECENT_MAX;
	ap->is_flood = count_recent(a, rule, now_ns, NS_MINUTE) > FLOOD;
	ap->state = APPROVAL_PENDING;
	a->list[a->n++] = ap;
	return 0;
}

void queue_forget(struct queue *a, struct approval *ap)
{
	for (size_t i = 0; ap && i < a->n; i++) {
		if (a->list[i] != ap)
			continue;
		memmove(&a->list[i], &a->list[i + 1], (a->n - i - 1) * sizeof(a->list[0]));
		a->n--;
		approval_free(ap);
		return;
	}
}

int queue_find(struct queue *a, const char *prefix, struct approval **ret)
{
	size_t len = strlen(prefix);
	struct approval *found = NULL;

	if (len < 4)
		return -ENOENT;
	for (size_t i = 0; i < a->n; i++) {
		if (!approval_is_listed(a->list[i]) || strncmp(a->list[i]->id, prefix, len) != 0)
			continue;
		if (found)
			return -EEXIST;
		found = a->list[i];
	}
	if (!found)
		return -ENOENT;
	*ret = found;
	return 0;
}

bool queue_take_short(struct queue *a, const char *id)
{
	unsigned at = 0;

	for (int i = 0; i < SHORT_DIGITS; i++)
		at = at << 4 | (unsigned)(id[i] <= '9' ? id[i] - '0' : id[i] - 'a' + 10);
	/* By then the first ones are old enough to be used again. */
	if (a->n_shorts >= SHORTS / 2) {
		memset(a->shorts, 0, sizeof(a->shorts));
		a->n_shorts = 0;
	}
	if (a->shorts[at / 8] & 1u << at % 8)
		return false;
	a->shorts[at / 8] |= (uint8_t)(1u << at % 8);
	a->n_shorts++;
	return true;
}

int queue_short(const struct queue *a, const struct approval *ap)
{
	int digits = SHORT_DIGITS;

	for (size_t i = 0; i < a->n; i++)
		while (a->list[i] != ap && digits < APPROVAL_ID_HEX - 1 &&
		       strncmp(a->list[i]->id, ap->id, (size_t)digits) == 0)
			digits++;
	return digits;
}

/* --- denials and time --- */

void queue_deny(struct queue *a, const struct approval *ap)
{
	/* A full table drops its oldest entry: that question is asked again, which does no harm. */
	memcpy(a->denied[a->next_denied], ap->print, PRINT_HEX);
	a->next_denied = (a->next_denied + 1) % DENIED_MAX;
	if (a->n_denied < DENIED_MAX)
		a->n_denied++;
}

struct approval *queue_overdue(struct queue *a, uint64_t now_ns)
{
	for (size_t i = 0; i < a->n; i++)
		if (states[a->list[i]->state].has_clock && now_ns >= a->list[i]->until_ns)
			return a->list[i];
	return NULL;
}

void queue_turn(struct queue *a)
{
	a->n_denied = 0;
	a->next_denied = 0;
	a->turn++;
}

void queue_done(struct queue *a)
{
	while (a->n > 0)
		queue_forget(a, a->list[a->n - 1]);
}

/* --- cards that were closed --- */

void queue_note_closed(struct queue *a, const struct approval *ap, const char *by)
{
	struct closed *c = &a->closed[a->next_closed];

	memcpy(c->id, ap->id, sizeof(c->id));
	snprintf(c->by, sizeof(c->by), "%s", by);
	c->state = ap->state;
	a->next_closed = (a->next_closed + 1) % CLOSED_MAX;
}

const struct closed *queue_closed(const struct queue *a, const char *prefix)
{
	size_t len = strlen(prefix);

	for (size_t i = 0; len >= SHORT_DIGITS && i < CLOSED_MAX; i++)
		if (strncmp(a->closed[i].id, prefix, len) == 0)
			return &a->closed[i];
	return NULL;
}
