/*
 * Ring -> fold -> ledger.  What comes by the ring is a claim of a process inside the fence
 * (`via` = hook): nothing here believes an index, a length or an id before it has checked it.
 * Losses are records too.
 */
#include "helper.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <time.h>

#define COUNT_MAX   (1ull << 53) /* what every JSON reader still reads exactly */
#define GRACE_TRIES 50		 /* of a millisecond each, for writers in the middle of a record */

const char *access_name(unsigned access)
{
	static const char *const names[ACCESS_ALL + 1] = { "", "r", "w", "rw", "d", "rd", "wd", "rwd" };

	return names[access & ACCESS_ALL];
}

void decision_texts(const struct image *img, const struct decision *d, enum op op, const char *target,
		    char *rule, size_t rule_size, char *detail, size_t detail_size)
{
	struct out o = out_of(detail, detail_size);

	decision_describe(img, d, rule, rule_size);
	/* Printed for every record, hence by hand. */
	text_str(&o, "id=");
	text_hex(&o, decision_id(op, target, d), 4);
	text_end(&o);
}

static bool is_alive(int32_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

static uint64_t key_of(const struct helper *h, const struct ring_record *r, const char *exe)
{
	struct {
		uint64_t target, exe, approval;
		uint32_t op, verdict, reason, access, rule, nested, image, pad;
	} k = { .op = (uint32_t)r->op,
		.verdict = (uint32_t)r->verdict,
		.reason = (uint32_t)r->reason,
		.access = r->access,
		.rule = r->rule,
		.nested = r->nested,
		.image = r->image };
	uint64_t key;

	crypto_shorthash((unsigned char *)&k.target, (const unsigned char *)r->target, r->target_len,
			 h->fold_key);
	crypto_shorthash((unsigned char *)&k.exe, (const unsigned char *)exe, strlen(exe), h->fold_key);
	if (r->approval[0] != '\0')
		crypto_shorthash((unsigned char *)&k.approval, (const unsigned char *)r->approval,
				 strlen(r->approval), h->fold_key);
	crypto_shorthash((unsigned char *)&key, (const unsigned char *)&k, sizeof(k), h->fold_key);
	return key;
}

static bool is_approval_id(const char *id)
{
	size_t n = strlen(id);

	return n > 0 && n < APPROVAL_ID_HEX && strspn(id, "0123456789abcdef") == n;
}

/* The record's event; buffers are the caller's. */
static void record_decision(struct helper *h, const struct ring_record *r, const struct proc *proc,
			    uint64_t key, uint64_t now_ns)
{
	const struct decision d = {
		.verdict = r->verdict, .reason = r->reason, .rule = r->rule, .nested = r->nested
	};
	char target[RING_SLOT * RING_RECORD_SLOTS + 1], rule[1024], detail[128] = "";
	const char *approval = is_approval_id(r->approval) ? r->approval : "";
	struct event e = { .time_ns = r->time_ns,
			   .pid = r->pid,
			   .ppid = proc->ppid ? proc->ppid : r->ppid,
			   .exe = proc->exe,
			   .op = op_name(r->op),
			   .target = target,
			   .access = access_name(r->access),
			   .verdict = verdict_name(r->verdict),
			   .rule = rule,
			   .via = "hook",
			   .approval = approval,
			   .detail = detail };
	size_t len;

	memcpy(target, r->target, r->target_len);
	target[r->target_len] = '\0';
	if (image_of(h, r->image))
		decision_texts(image_of(h, r->image), &d, r->op, target, rule, sizeof(rule), detail,
			       sizeof(detail));
	else
		snprintf(rule, sizeof(rule), "claimed: an image that this session does not have");
	len = strlen(detail);
	if (r->image > 0)
		snprintf(detail + len, sizeof(detail) - len, " image=%u", r->image);
	len = strlen(detail);
	if (r->target_cut > 0)
		snprintf(detail + len, sizeof(detail) - len, " cut=%zu", r->target_cut);
	e.target_len = r->target_len;
	if (r->op == OP_EXEC) {
		mask_secrets(target);
		e.target_len = strlen(target);
	}
	fold_add(&h->fold, key, &e, r->verdict != VERDICT_ALLOW || approval[0] ? FOLD_NOW : FOLD_WAIT,
		 now_ns);
}

static void record_attach(struct helper *h, const struct ring_record *r)
{
	const struct event e = { .time_ns = r->time_ns,
				 .pid = r->pid,
				 .ppid = r->ppid,
				 .exe = r->exe,
				 .op = op_name(OP_ATTACH),
				 .target = r->exe,
				 .via = "hook",
				 .detail = "the agent is hooked" };

	procs_attach(&h->feed[FEED_HOOK].procs, r->pid, r->ppid, r->exe);
	if (r->pid == h->root_pid)
		(void)ledger_append(&h->ledger, &e);
}

static void drain_one(struct helper *h, struct ring_record *r, uint64_t now_ns)
{
	const struct proc *proc;
	uint64_t key;

	if (r->kind == RING_ATTACH) {
		record_attach(h, r);
		return;
	}
	if (r->verdict != VERDICT_ALLOW && r->verdict != VERDICT_ASK) {
		r->verdict = VERDICT_DENY;
		h->ledger.denied++;
	}
	proc = procs_find(&h->feed[FEED_HOOK].procs, r->pid);
	key = key_of(h, r, proc->exe);
	if (!fold_repeat(&h->fold, key))
		record_decision(h, r, proc, key, now_ns);
}

static void record_loss(struct helper *h, uint64_t n, const char *why)
{
	char detail[128];
	struct event e = { .op = "loss", .via = "helper", .detail = detail };

	e.count = n < COUNT_MAX ? n : COUNT_MAX;
	snprintf(detail, sizeof(detail), "%llu records were lost: %s", (unsigned long long)e.count, why);
	h->ledger.lost_total += e.count;
	(void)ledger_append(&h->ledger, &e);
}

/* How many were in it nobody can tell any more. */
static void record_cut(struct helper *h)
{
	const struct event e = {
		.op = "loss",
		.via = "helper",
		.detail = "the ring was cut short from inside the session: what it held is lost"
	};

	h->ledger.lost_total++;
	(void)ledger_append(&h->ledger, &e);
}

static void report_losses(struct helper *h)
{
	uint64_t lost = atomic_load(&h->feed[FEED_HOOK].ring->lost);

	if (lost > h->feed[FEED_HOOK].ring_lost_seen)
		record_loss(h, lost - h->feed[FEED_HOOK].ring_lost_seen, "the ring was full");
	h->feed[FEED_HOOK].ring_lost_seen = lost;
	if (h->feed[FEED_HOOK].reader.lost > h->feed[FEED_HOOK].reader_lost_seen)
		record_loss(h, h->feed[FEED_HOOK].reader.lost - h->feed[FEED_HOOK].reader_lost_seen,
			    "their writers died or stalled while writing");
	h->feed[FEED_HOOK].reader_lost_seen = h->feed[FEED_HOOK].reader.lost;
}

size_t drain_turn(struct helper *h)
{
	uint64_t now = clock_boot_ns();
	struct ring_record r;
	size_t n = 0;

	if (ringmap_mend(h, now))
		record_cut(h);
	while (n < DRAIN_MAX && ring_read(&h->feed[FEED_HOOK].reader, now, is_alive, &r) == 1) {
		drain_one(h, &r, now);
		n++;
	}
	report_losses(h);
	fold_flush(&h->fold, FOLD_WAIT, now);
	return n;
}

static bool ring_is_empty(const struct helper *h)
{
	return atomic_load(&h->feed[FEED_HOOK].ring->head) == atomic_load(&h->feed[FEED_HOOK].ring->tail);
}

void drain_all(struct helper *h)
{
	const struct timespec ms = { .tv_nsec = NS_MS };
	/* A writer that does not stop must not keep the session from its last record. */
	size_t left = RING_SLOTS, n;
	struct ring_record r;

	for (int i = 0; i < GRACE_TRIES; i++) {
		while (left > 0 && (n = drain_turn(h)) > 0)
			left -= n < left ? n : left;
		if (ring_is_empty(h))
			break;
		nanosleep(&ms, NULL);
	}
	/* Whoever is still writing is given up: two looks, a long second apart by this clock. */
	for (; left > 0 && (ring_read(&h->feed[FEED_HOOK].reader, 1, is_alive, &r) == 1 ||
			    ring_read(&h->feed[FEED_HOOK].reader, UINT64_MAX, is_alive, &r) == 1);
	     left--)
		drain_one(h, &r, clock_boot_ns());
	report_losses(h);
	fold_flush(&h->fold, FOLD_NOW, 0);
}
