/*
 * The queue of questions as a value: who was asked what, what a human said, what still holds.
 * No I/O and no clock, so that every interleaving can be tested.
 *
 * One table says how a card may move.  An answer that comes after the time is over moves nothing:
 * the question was denied, once; it leaves a grant for one retry.
 */
#include "helper.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#define NS_LATE (600 * NS_S)

static const bool steps[APPROVAL_STATES][APPROVAL_STATES] = {
	[APPROVAL_PENDING] = { [APPROVAL_APPROVED] = true,
			       [APPROVAL_DENIED] = true,
			       [APPROVAL_EXPIRED] = true,
			       [APPROVAL_CANCELLED] = true },
};

static const char *const state_names[APPROVAL_STATES] = {
	[APPROVAL_PENDING] = "pending", [APPROVAL_APPROVED] = "approved",   [APPROVAL_DENIED] = "denied",
	[APPROVAL_EXPIRED] = "expired", [APPROVAL_CANCELLED] = "cancelled",
};

const char *approval_state_name(enum approval_state s)
{
	return s < APPROVAL_STATES ? state_names[s] : "?";
}

int approval_move(struct approval *ap, enum approval_state to)
{
	if (to >= APPROVAL_STATES || !steps[ap->state][to])
		return -EPERM;
	ap->state = to;
	return 0;
}

void approval_free(struct approval *ap)
{
	if (!ap)
		return;
	for (size_t i = 0; i < ap->n_tree; i++)
		free(ap->tree[i].exe);
	grant_offers_done(&ap->offers);
	free(ap->store);
	free(ap->target);
	free(ap->exe);
	free(ap->rule);
	free(ap);
}

/* --- what makes two questions the same --- */

static void print_bytes(crypto_hash_sha256_state *st, const void *bytes, size_t len)
{
	const unsigned char prefix[4] = { (unsigned char)len, (unsigned char)(len >> 8),
					  (unsigned char)(len >> 16), (unsigned char)(len >> 24) };

	crypto_hash_sha256_update(st, prefix, sizeof(prefix));
	crypto_hash_sha256_update(st, bytes, len);
}

static void print_text(crypto_hash_sha256_state *st, const char *s)
{
	print_bytes(st, s ? s : "", s ? strlen(s) : 0);
}

void approval_print(const struct request *req, char print[PRINT_HEX])
{
	static const char domain[] = "pale-approval-1";
	unsigned char digest[crypto_hash_sha256_BYTES];
	const uint32_t numbers[] = { (uint32_t)req->op,		  req->access,	    req->port,
				     req->has_addr && !req->host, req->is_datagram, (uint32_t)req->argc };
	crypto_hash_sha256_state st;

	crypto_hash_sha256_init(&st);
	crypto_hash_sha256_update(&st, (const unsigned char *)domain, sizeof(domain));
	print_bytes(&st, numbers, sizeof(numbers));
	print_text(&st, req->path);
	print_text(&st, req->host);
	/* By name the address may change from lookup to lookup; a bare address is the question itself. */
	if (numbers[3])
		print_bytes(&st, req->addr, sizeof(req->addr));
	for (size_t i = 0; i < req->argc; i++)
		print_text(&st, req->argv[i]);
	/* The same words in another directory are another command. */
	print_text(&st, req->op == OP_EXEC ? req->cwd : NULL);
	crypto_hash_sha256_final(&st, digest);
	sodium_bin2hex(print, PRINT_HEX, digest, sizeof(digest));
}

/* --- the list --- */

struct approval *queue_pending(struct queue *a, const char *print)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->list[i]->state == APPROVAL_PENDING && strcmp(a->list[i]->print, print) == 0)
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

static bool use_late(struct queue *a, const char *print, uint64_t now_ns, char ret_id[APPROVAL_ID_HEX])
{
	for (size_t i = 0; i < a->n_late; i++) {
		struct late *g = &a->late[i];
		bool live = g->until_ns == 0 || now_ns < g->until_ns;

		if (strcmp(g->print, print) != 0)
			continue;
		memcpy(ret_id, g->id, APPROVAL_ID_HEX);
		if (g->until_ns != 0)
			*g = a->late[--a->n_late];
		if (live)
			return true;
		i--;
	}
	return false;
}

enum approval_known queue_lookup(struct queue *a, const char *print, uint64_t now_ns,
				 char ret_id[APPROVAL_ID_HEX])
{
	if (use_late(a, print, now_ns, ret_id))
		return KNOWN_GRANT;
	for (size_t i = 0; i < a->n_denied; i++)
		if (strcmp(a->denied[i], print) == 0)
			return KNOWN_DENIED;
	if (queue_pending(a, print))
		return KNOWN_PENDING;
	return queue_count(a, APPROVAL_PENDING) >= LIMIT_PENDING ? KNOWN_FULL : KNOWN_NOTHING;
}

static struct approval *oldest_expired(struct queue *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->list[i]->state != APPROVAL_PENDING)
			return a->list[i];
	return NULL;
}

int queue_add(struct queue *a, struct approval *ap)
{
	if (queue_count(a, APPROVAL_PENDING) >= LIMIT_PENDING)
		return -ENOSPC;
	if (a->n == APPROVALS_MAX)
		queue_forget(a, oldest_expired(a));
	if (a->n == APPROVALS_MAX)
		return -ENOSPC;
	ap->state = APPROVAL_PENDING;
	ap->count = 1;
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
		if (strncmp(a->list[i]->id, prefix, len) != 0)
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

int queue_short(const struct queue *a, const struct approval *ap)
{
	int digits = 4;

	for (size_t i = 0; i < a->n; i++)
		while (a->list[i] != ap && digits < APPROVAL_ID_HEX - 1 &&
		       strncmp(a->list[i]->id, ap->id, (size_t)digits) == 0)
			digits++;
	return digits;
}

/* --- what a human said --- */

static int late_add(struct queue *a, const struct approval *ap, uint64_t until_ns)
{
	struct late *g;

	if (a->n_late == LATE_MAX)
		return -ENOSPC;
	g = &a->late[a->n_late++];
	memcpy(g->print, ap->print, sizeof(g->print));
	memcpy(g->id, ap->id, sizeof(g->id));
	g->until_ns = until_ns;
	return 0;
}

/* Late approvals that nobody came back for. */
static void drop_stale(struct queue *a, uint64_t now_ns)
{
	for (size_t i = a->n_late; i > 0; i--)
		if (a->late[i - 1].until_ns != 0 && now_ns >= a->late[i - 1].until_ns)
			a->late[i - 1] = a->late[--a->n_late];
}

bool queue_has_room(struct queue *a, const struct approval *ap, enum approval_state said,
		    enum grant_scope scope, uint64_t now_ns)
{
	bool grants = said == APPROVAL_APPROVED && (scope == GRANT_SESSION || ap->state == APPROVAL_EXPIRED);

	drop_stale(a, now_ns);
	return !grants || a->n_late < LATE_MAX;
}

int queue_remember(struct queue *a, const struct approval *ap, enum approval_state said,
		   enum grant_scope scope, uint64_t now_ns)
{
	if (said == APPROVAL_APPROVED && scope == GRANT_SESSION)
		return late_add(a, ap, 0);
	if (said == APPROVAL_APPROVED)
		return ap->state == APPROVAL_EXPIRED ? late_add(a, ap, now_ns + NS_LATE) : 0;
	/* A full table forgets its oldest: that question is asked again, which harms nobody. */
	memcpy(a->denied[a->next_denied], ap->print, PRINT_HEX);
	a->next_denied = (a->next_denied + 1) % DENIED_MAX;
	if (a->n_denied < DENIED_MAX)
		a->n_denied++;
	return 0;
}

struct approval *queue_overdue(struct queue *a, uint64_t now_ns)
{
	for (size_t i = 0; i < a->n; i++)
		if (now_ns >= a->list[i]->until_ns)
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
