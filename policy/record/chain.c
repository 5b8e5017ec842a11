/* Verifies the lines of a ledger; see chain.h. */
#include "chain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/buf.h"

#define OP_END	     "session/end"
#define OP_LOSS	     "loss"
#define OP_REQUEST   "approval/request"
#define OP_DECISION  "approval/decision"
#define OP_OUTCOME   "approval/outcome"
#define OP_EXPIRED   "approval/expired"
#define OP_CANCELLED "approval/cancelled"
#define OP_REMOVED   "ledger/removed"

void record_chain_init(struct record_chain *c)
{
	memset(c, 0, sizeof(*c));
	c->next_seq = 1;
}

void record_chain_pin(struct record_chain *c, const uint8_t key[CHECKPOINT_KEY_BYTES])
{
	memcpy(c->key, key, CHECKPOINT_KEY_BYTES);
	c->has_key = true;
}

void record_chain_pin_owner(struct record_chain *c, uint32_t uid)
{
	c->owner_must = uid;
	c->owner_known = true;
}

bool record_chain_expect(struct record_chain *c, uint64_t count, const char *hash)
{
	struct chain_head *h;

	if (strspn(hash, "0123456789abcdef") != strlen(hash) || strlen(hash) != RECORD_HASH_HEX - 1)
		return false;
	/* Drop the oldest: a newer head covers more records. */
	if (c->n_heads == CHAIN_HEADS_MAX)
		memmove(c->heads, c->heads + 1, --c->n_heads * sizeof(*c->heads));
	h = &c->heads[c->n_heads++];
	*h = (struct chain_head){ .count = count };
	memcpy(h->hash, hash, RECORD_HASH_HEX);
	return true;
}

/* True where a head that was added is not in the ledger. */
static bool misses_head(const struct record_chain *c)
{
	for (size_t i = 0; i < c->n_heads; i++)
		if (!c->heads[i].met)
			return true;
	return false;
}

const char *record_chain_finish(const struct record_chain *c)
{
	if (misses_head(c))
		return "a head that was kept before is not in it: the ledger was cut short or rewritten";
	if (!c->has_key)
		return NULL;
	if (c->sealed == 0)
		return "nothing in it is sealed by the key that is known";
	/* The checkpoint that seals the end is the last record. */
	return c->ended && c->sealed + 2 < c->next_seq ? "its end is not sealed by the key that is known"
						       : NULL;
}

/* --- the position of a record --- */

/* What is wrong with the position of r in the chain, or NULL. */
static const char *place_fault(struct record_chain *c, const struct record *r)
{
	/* Only one checkpoint follows the end record. */
	if (c->last || (c->ended && strcmp(r->op, CHECKPOINT_OP) != 0))
		return "a record follows the session's end";
	if (c->next_seq == 1) {
		if (strlen(r->session) >= sizeof(c->session))
			return "the session's name is too long";
		strcpy(c->session, r->session);
		record_genesis(r->session, c->prev);
		c->has_owner = checkpoint_owner(r->detail, &c->owner);
		if (c->has_owner && c->owner_known && c->owner != c->owner_must)
			return "it is the ledger of another user";
	}
	if (strcmp(r->session, c->session) != 0)
		return "the record belongs to another session";
	if (r->seq > c->next_seq)
		return "records are missing before this one, or were swapped (seq jumps ahead)";
	if (r->seq < c->next_seq)
		return "the record was repeated or swapped (seq goes back)";
	if (strcmp(r->prev, c->prev) != 0)
		return "the record before this one was replaced (prev does not match)";
	return NULL;
}

static const char *head_fault(struct record_chain *c, const struct record *r)
{
	for (size_t i = 0; i < c->n_heads; i++) {
		struct chain_head *h = &c->heads[i];
		bool same = strcmp(h->hash, r->hash) == 0;

		if (h->count == r->seq && !same)
			return "the head that was kept for this record differs: the ledger was rewritten";
		if (same)
			h->met = h->count == 0 || h->count == r->seq;
	}
	return NULL;
}

/* --- checkpoints --- */

static const char *checkpoint_fault(struct record_chain *c, const struct record *r)
{
	struct checkpoint point;
	char pinned[CHECKPOINT_KEY_HEX];

	if (strcmp(r->op, CHECKPOINT_OP) != 0)
		return NULL;
	if (checkpoint_parse(r->detail, &point) < 0)
		return "the checkpoint cannot be read";
	if (point.count != r->seq - 1 || strcmp(point.head, r->prev) != 0)
		return "the checkpoint does not match the records before it";
	if (point.has_owner != c->has_owner || point.owner != c->owner)
		return "the checkpoint names another user than the first record";
	c->checkpoints++;
	if (!point.sig[0])
		return c->has_key ? "the checkpoint is not signed, and a key is known" : NULL;
	if (!checkpoint_is_signed(&point, r->session, r->time))
		return "the checkpoint's signature is wrong";
	checkpoint_key_print(c->key, pinned);
	if (c->has_key && strcmp(pinned, point.key) != 0)
		return "the checkpoint is signed by another key than the one that is known";
	if (c->has_key)
		c->sealed = point.count;
	c->signed_to = point.count;
	memcpy(c->signer, point.key, sizeof(c->signer));
	return NULL;
}

/* --- questions --- */

static struct chain_question *question_find(struct record_chain *c, const char *id)
{
	for (size_t i = 0; i < c->n_open; i++)
		if (strcmp(c->open[i].id, id) == 0)
			return &c->open[i];
	return NULL;
}

static void question_close(struct record_chain *c, struct chain_question *q)
{
	*q = c->open[--c->n_open];
}

/* Adds a question.  The record's detail begins with the question's kind: "op=exec cwd=...". */
static void question_open(struct record_chain *c, const struct record *r)
{
	struct chain_question *q = &c->open[c->n_open];
	struct out o = out_of(q->what, sizeof(q->what));
	size_t kind;

	if (c->n_open == CHAIN_OPEN_MAX || strlen(r->approval) >= sizeof(q->id))
		return;
	strcpy(q->id, r->approval);
	q->stage = STAGE_ASKED;
	q->seq = r->seq;
	if (strncmp(r->detail, "op=", 3) == 0) {
		char word[16];

		kind = strcspn(r->detail + 3, " ");
		snprintf(word, sizeof(word), "%.*s", (int)(kind < 15 ? kind : 15), r->detail + 3);
		text_str(&o, word);
		text_str(&o, " ");
	}
	text_str(&o, r->target);
	text_end(&o);
	c->n_open++;
}

/* True where r approves one act, whose outcome must follow.  A grant is used later, any number of times. */
static bool decides_once(const struct record *r)
{
	return strcmp(r->verdict, "allow") == 0 && strstr(r->detail, " scope=once") != NULL &&
	       strstr(r->detail, " scope=once late") == NULL;
}

static void follow_questions(struct record_chain *c, const struct record *r)
{
	struct chain_question *q;

	if (!r->approval[0])
		return;
	q = question_find(c, r->approval);
	if (!q && strcmp(r->op, OP_REQUEST) == 0)
		question_open(c, r);
	if (!q)
		return;
	if (strcmp(r->op, OP_DECISION) == 0 && decides_once(r))
		q->stage = STAGE_APPROVED;
	else if (strcmp(r->op, OP_DECISION) == 0 || strcmp(r->op, OP_OUTCOME) == 0 ||
		 strcmp(r->op, OP_EXPIRED) == 0 || strcmp(r->op, OP_CANCELLED) == 0)
		question_close(c, q);
	else if (q->stage == STAGE_APPROVED && strcmp(r->op, OP_REQUEST) != 0)
		/* The record of the approved act. */
		question_close(c, q);
}

/* --- together --- */

static const char *fault_of(struct record_chain *c, const struct record *r)
{
	const char *fault = place_fault(c, r);

	if (!fault)
		fault = checkpoint_fault(c, r);
	return fault ? fault : head_fault(c, r);
}

/* "...; until=2026-11-22T00:00:00.000000Z": ledgers that ended by then may have been removed. */
static void note_removed(struct record_chain *c, const struct record *r)
{
	const char *until = strstr(r->detail, "until=");

	if (until && strlen(until + 6) < sizeof(c->removed_until) && strcmp(until + 6, c->removed_until) > 0)
		strcpy(c->removed_until, until + 6);
}

static void go_on(struct record_chain *c, const struct record *r)
{
	c->next_seq++;
	memcpy(c->prev, r->hash, sizeof(c->prev));
	c->last = c->ended;
	if (strcmp(r->op, OP_REMOVED) == 0)
		note_removed(c, r);
	c->ended = c->ended || strcmp(r->op, OP_END) == 0;
	c->lost += strcmp(r->op, OP_LOSS) == 0 ? r->count : 0;
	c->tampered = c->tampered || strcmp(r->op, RECORD_TAMPERED) == 0;
	follow_questions(c, r);
}

int record_chain_check(struct record_chain *c, const char *line, size_t len, const char **ret_err)
{
	size_t end = len > 0 && line[len - 1] == '\n' ? len - 1 : len;
	struct record_owned o;
	char hash[RECORD_HASH_HEX];
	const char *fault;
	int r;

	c->line++;
	if (end == 0 || line[end - 1] != '}') {
		*ret_err = "the line is cut off: torn by a crash or a full disk, or truncated";
		return -EBADMSG;
	}
	r = record_from_line(line, end, &o, ret_err);
	if (r < 0)
		return r;
	memcpy(hash, o.r.hash, sizeof(hash));
	record_hash(&o.r);
	fault = strcmp(hash, o.r.hash) != 0 ? "the record was edited (its hash does not match)"
					    : fault_of(c, &o.r);
	if (!fault)
		go_on(c, &o.r);
	record_done(&o);
	*ret_err = fault ? fault : "";
	return fault ? -EBADMSG : 0;
}
