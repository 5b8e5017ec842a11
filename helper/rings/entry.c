/*
 * Writes one record of a ring into the ledger.
 *
 * A record in the session's ring is a claim of a process inside the fence (`via` = hook): an image that
 * this session does not have is recorded as a claim, and notes that only the supervisor can make are
 * ignored.  A record in the supervisor's ring is attested (`via` = kernel), and so is the name of its
 * program: claimed names are kept in another table.  A denial that hooks reported to the supervisor is a
 * claim, too, but its pid and its id are the supervisor's.
 */
#include "entry.h"

#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/file/procpath.h"
#include "policy/judge/eval.h"

#include "helper/approvals/approval.h"
#include "helper/approvals/outcome.h"
#include "helper/base/images.h"
#include "helper/base/state.h"
#include "helper/ledger/event.h"
#include "helper/ledger/fold.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/programs.h"
#include "helper/ledger/tally.h"

#include "observed.h"
#include "rings.h"

static const char *const notes[NOTE_COUNT] = {
	[NOTE_NONE] = NULL,
	[NOTE_AROUND] = "went around the hooks",
	[NOTE_DYNAMIC] = "not hooked",
	[NOTE_STATIC] = "static program",
	[NOTE_NAME] = "name claimed by the process",
	[NOTE_ANYWAY] = NOTE_ANYWAY_TEXT,
	[NOTE_FLOOR] = "newer than the session: the floor does not let it be executed",
};

/* --- the program of a process --- */

/* A program, and how its name is known. */
struct who {
	const char *exe;
	int32_t ppid;
	bool claimed; /* the process itself gave the name, in a record that is attested otherwise */
};

/*
 * A process that exited before it was looked at has the name that it gave itself, if there is one; the
 * record says so.
 */
static struct who who_is(struct helper *h, enum feed_id id, int32_t pid)
{
	const struct proc *p = procs_find(&h->procs[id], pid);
	struct who who = { .exe = p->exe, .ppid = p->ppid };
	const struct proc *said;

	if (id == FEED_HOOK || *p->exe)
		return who;
	said = procs_known(&h->procs[FEED_HOOK], pid);
	if (said && *said->exe)
		who = (struct who){ .exe = said->exe, .ppid = said->ppid, .claimed = true };
	return who;
}

/* --- decisions --- */

static uint64_t key_of(const struct helper *h, enum feed_id id, const struct ring_record *r, const char *exe)
{
	struct {
		uint64_t target, exe, approval, addr, why, time;
		uint32_t kind, op, verdict, reason, access, rule, nested, image, note, feed, id, unused;
	} k = { .kind = (uint32_t)r->kind,
		.op = (uint32_t)r->op,
		.verdict = (uint32_t)r->verdict,
		.reason = (uint32_t)r->reason,
		.access = r->access,
		.rule = r->rule,
		.nested = r->nested,
		.image = r->image,
		.note = (uint32_t)r->note,
		.feed = (uint32_t)id,
		.id = r->id,
		/* Targets that were cut may differ behind the cut, so these are never repeats. */
		.time = r->target_cut > 0 ? r->time_ns : 0 };
	uint64_t key;

	crypto_shorthash((unsigned char *)&k.target, (const unsigned char *)r->target, r->target_len,
			 h->fold_key);
	crypto_shorthash((unsigned char *)&k.exe, (const unsigned char *)exe, strlen(exe), h->fold_key);
	/* In an attach it is the program, which k.exe stands for. */
	if (r->kind == RING_DECISION && r->exe[0] != '\0')
		crypto_shorthash((unsigned char *)&k.addr, (const unsigned char *)r->exe, strlen(r->exe),
				 h->fold_key);
	if (r->approval[0] != '\0')
		crypto_shorthash((unsigned char *)&k.approval, (const unsigned char *)r->approval,
				 strlen(r->approval), h->fold_key);
	if (r->why[0] != '\0')
		crypto_shorthash((unsigned char *)&k.why, (const unsigned char *)r->why, strlen(r->why),
				 h->fold_key);
	crypto_shorthash((unsigned char *)&key, (const unsigned char *)&k, sizeof(k), h->fold_key);
	return key;
}

static bool is_approval_id(const char *id)
{
	size_t n = strlen(id);

	return n > 0 && n < APPROVAL_ID_HEX && strspn(id, "0123456789abcdef") == n;
}

static bool is_address(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && n < INET6_ADDRSTRLEN + 2 && strspn(text, "0123456789abcdef.:[]") == n;
}

/* The id of a denial, and further details. */
static void put_detail(const struct ring_record *r, const struct who *who, const char *observed, char *detail,
		       size_t size)
{
	struct out o = out_of(detail, size);

	if (r->id) {
		text_str(&o, "id=");
		text_hex(&o, r->id, DENIAL_ID_HEX);
	}
	if (observed) {
		text_str(&o, " observed=");
		text_str(&o, observed);
	}
	if (r->image % RING_IMAGES > 0) {
		text_str(&o, " image=");
		text_uint(&o, r->image % RING_IMAGES);
	}
	if (is_address(r->exe)) {
		text_str(&o, " addr=");
		text_str(&o, r->exe);
	}
	if (r->target_cut > 0) {
		text_str(&o, " cut=");
		text_uint(&o, r->target_cut);
	}
	if (notes[r->note]) {
		text_str(&o, "; ");
		text_str(&o, notes[r->note]);
	}
	if (who->claimed)
		text_str(&o, "; exe claimed");
	text_end(&o);
}

/* Under --observe: true where this was allowed, and the policy as it is would not have allowed it. */
static bool would_deny(struct helper *h, const struct ring_record *r, const char *target,
		       const struct event *e, struct decision *ret, const struct image **ret_img)
{
	bool would = h->observed && r->verdict == VERDICT_ALLOW && !e->approval[0] &&
		     r->image % RING_IMAGES == 0 && r->target_cut == 0 &&
		     observed_judge(h, r, target, is_address(r->exe) ? r->exe : "", ret, ret_img);

	h->tally->observed += would;
	return would;
}

/* Adds the record's event.  Its strings are in buffers here; the fold copies them. */
static void add_decision(struct helper *h, enum feed_id id, const struct ring_record *r,
			 const struct who *who, uint64_t key, uint64_t now_ns)
{
	const struct decision d = {
		.verdict = r->verdict, .reason = r->reason, .rule = r->rule, .nested = r->nested
	};
	char target[RING_SLOT * RING_RECORD_SLOTS + 1] UNINITIALIZED, rule[1024] UNINITIALIZED, detail[256];
	const char *approval = is_approval_id(r->approval) ? r->approval : "";
	struct event e = { .time_ns = r->time_ns,
			   .pid = r->pid,
			   .ppid = who->ppid ? who->ppid : r->ppid,
			   .exe = who->exe,
			   .op = op_name(r->op),
			   .target = target,
			   .access = access_name(r->access),
			   .verdict = verdict_name(r->verdict),
			   .rule = rule,
			   .via = h->rings->feed[id].via,
			   .approval = approval,
			   .detail = detail };
	const struct image *img = image_recorded(h, r->image), *judge = NULL;
	struct decision would;

	memcpy(target, r->target, r->target_len);
	target[r->target_len] = '\0';
	if (would_deny(h, r, target, &e, &would, &judge))
		decision_describe(judge, &would, rule, sizeof(rule));
	else if (img)
		denial_reason(img, &d, r->why, rule, sizeof(rule));
	else
		snprintf(rule, sizeof(rule), "claimed: an image that this session does not have");
	put_detail(r, who, judge ? verdict_name(would.verdict) : NULL, detail, sizeof(detail));
	e.target_len = r->target_len;
	fold_add(h->fold, key, &e, now_ns);
}

/* The supervisor reports the result of an approved act. */
static void entry_outcome(struct helper *h, enum feed_id id, const struct ring_record *r)
{
	if (id == FEED_KERNEL && is_approval_id(r->approval))
		outcome_done(h, r->approval, r->rule);
}

/* names: the feed by whose reports the program is known. */
static void entry_decision(struct helper *h, enum feed_id id, enum feed_id names, struct ring_record *r,
			   uint64_t now_ns)
{
	struct who who;
	uint64_t key;

	if (r->verdict != VERDICT_ALLOW && r->verdict != VERDICT_ASK)
		r->verdict = VERDICT_DENY;
	h->tally->calls[id]++;
	h->tally->denied[id] += r->verdict == VERDICT_DENY && r->note != NOTE_ANYWAY &&
				!reason_is_quiet(r->op, r->reason, r->target);
	h->tally->around += r->note == NOTE_AROUND;
	who = who_is(h, names, r->pid);
	key = key_of(h, id, r, who.exe);
	if (!fold_repeat(h->fold, key))
		add_decision(h, id, r, &who, key, now_ns);
	if (r->verdict == VERDICT_ALLOW && is_approval_id(r->approval))
		outcome_begun(h, r->approval, id);
	/*
	 * The process may become another program.  If the new program has hooks, they report it.  If it has
	 * none, the process must not keep the earlier name.  Above level hooks the supervisor records execs,
	 * in a ring of its own: what hooks recorded before an exec may be read after it, so their table
	 * keeps the name, and the supervisor reports the new program.
	 */
	if (id == FEED_HOOK && r->op == OP_EXEC && r->verdict == VERDICT_ALLOW)
		procs_outdate(&h->procs[FEED_HOOK], r->pid);
}

/* --- processes --- */

/* The hooks in a process report that they are there. */
static void attach_hooked(struct helper *h, const struct ring_record *r)
{
	const struct event e = { .time_ns = r->time_ns,
				 .pid = r->pid,
				 .ppid = r->ppid,
				 .exe = r->exe,
				 .op = op_name(OP_ATTACH),
				 .target = r->exe,
				 .via = h->rings->feed[FEED_HOOK].via,
				 .detail = "the agent is hooked" };

	/* A forked child reports once, and again when it has become another program. */
	h->tally->processes[HELD_HOOKS] += procs_attach(&h->procs[FEED_HOOK], r->pid, r->ppid, r->exe);
	if (r->pid == h->root_pid)
		(void)ledger_append(h->ledger, &e);
}

/* The supervisor met a process without hooks.  One record stands for many processes of one program. */
static void attach_unhooked(struct helper *h, const struct ring_record *r, uint64_t now_ns)
{
	const struct event e = { .time_ns = r->time_ns,
				 .pid = r->pid,
				 .ppid = r->ppid,
				 .exe = r->exe,
				 .op = op_name(OP_ATTACH),
				 .target = r->exe,
				 .via = h->rings->feed[FEED_KERNEL].via,
				 .detail = notes[r->note] };

	bool is_new;

	if (r->note != NOTE_STATIC && r->note != NOTE_DYNAMIC) {
		procs_tell(&h->procs[FEED_KERNEL], r->pid, r->ppid, r->exe);
		return;
	}
	is_new = procs_attach(&h->procs[FEED_KERNEL], r->pid, r->ppid, r->exe);
	h->tally->processes[r->note == NOTE_STATIC ? HELD_STATIC : HELD_KERNEL] += is_new;
	fold_add(h->fold, key_of(h, FEED_KERNEL, r, r->exe), &e, now_ns);
}

void entry_add(struct helper *h, enum feed_id id, struct ring_record *r, uint64_t now_ns)
{
	enum feed_id names = id;

	/*
	 * A process can write any byte into its ring, but not what only the supervisor can see, nor an id
	 * where a supervisor gives the ids.
	 */
	if (id == FEED_HOOK && (h->level != LEVEL_HOOKS || r->verdict == VERDICT_ALLOW))
		r->id = 0;
	if (id == FEED_HOOK || (r->kind == RING_CLAIM && r->note != NOTE_ANYWAY))
		r->note = NOTE_NONE;
	if (r->kind == RING_CLAIM) {
		r->kind = RING_DECISION;
		id = FEED_HOOK;
	}
	if (id == FEED_HOOK) {
		if (r->kind == RING_DECISION)
			r->exe = "";
	}
	if (r->kind == RING_OUTCOME)
		entry_outcome(h, id, r);
	else if (r->kind == RING_DECISION)
		entry_decision(h, id, names, r, now_ns);
	else if (id == FEED_HOOK)
		attach_hooked(h, r);
	else
		attach_unhooked(h, r, now_ns);
}
