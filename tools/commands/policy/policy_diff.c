/*
 * pale policy diff: which decisions in a ledger a changed policy would have made otherwise.
 *
 * The one evaluator judges by both policies, each with all that would be loaded with it.  An incomplete
 * record (masked, cut, or of a nested run) is judged by neither, and reported.  Memory is bounded whatever
 * the ledger holds: repeats are merged, and records beyond the bounds are only counted.
 */
#include <errno.h>
#include <string.h>

#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/commands/learn/learn.h"
#include "tools/gather/load.h"

#define DEEDS_MAX    16384 /* most different deeds that are judged */
#define SLOTS	     (2 * DEEDS_MAX)
#define DIFFERS_MAX  4096
#define SKIPPED_MAX  100
#define RULE_TEXT    384
#define NOT_RECORDED "the record is incomplete (masked, cut, or of a nested run)"

struct verdicts {
	enum verdict verdict;
	char rule[RULE_TEXT];
};

/* One deed that the two policies judge differently. */
struct differing {
	char *op, *target; /* owned; the target is escaped as in the record */
	uint64_t count;
	struct verdicts old, new;
};

struct slot {
	uint64_t hash;
	uint32_t at; /* index + 1 among those that differ; 0: the same by both, or not judged */
};

struct policy_diff {
	struct options o;
	const char *new_file, *old_file; /* NULL: the policy that holds here */
	char workspace[PATH_MAX], agent[64];
	bool ready;
	struct loaded old, new;
	struct slot *slots;
	struct differing *list;
	char *skipped[SKIPPED_MAX]; /* owned */
	size_t n_slots, n;
	uint64_t judged, n_skipped, beyond;
};

/* --- the two policies --- */

static int load_policy(struct policy_diff *pd, const char *file, struct loaded *ret)
{
	struct options o = pd->o;
	struct diags d;
	int r;

	if (file)
		o.policy = file;
	diags_init(&d);
	r = loaded_init(ret, &o, &d);
	if (r < 0)
		print_diags(stderr, &d);
	if (r < 0 && d.n_errors == 0)
		talk("%s cannot be loaded: %s", file ? file : "the policy", strerror(-r));
	diags_done(&d);
	return r;
}

/* Loads both policies for the ledger's workspace and agent, which its first record names. */
static int get_ready(struct policy_diff *pd)
{
	int r;

	if (pd->ready)
		return 0;
	pd->ready = true;
	if (!pd->o.workspace && pd->workspace[0] && access(pd->workspace, F_OK) == 0)
		pd->o.workspace = pd->workspace;
	if (!pd->o.agent && pd->agent[0])
		pd->o.agent = pd->agent;
	r = load_policy(pd, pd->old_file, &pd->old);
	if (r == 0)
		r = load_policy(pd, pd->new_file, &pd->new);
	if (!pd->workspace[0] && r == 0)
		snprintf(pd->workspace, sizeof(pd->workspace), "%s", pd->new.bundle.workspace);
	return r;
}

static int note_start(struct policy_diff *pd, const struct record *r)
{
	_cleanup_free_ char *workspace = text_unescape(r->target);

	if (pd->ready || !workspace)
		return workspace ? 0 : -ENOMEM;
	snprintf(pd->workspace, sizeof(pd->workspace), "%s", workspace);
	snprintf(pd->agent, sizeof(pd->agent), "%s", r->agent);
	return get_ready(pd);
}

/* --- one deed --- */

static uint64_t hash_add(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return (h ^ 0xff) * 0x100000001b3ull;
}

/* The slot of a record's deed; NULL if there is no room.  *ret_new: the slot was empty. */
static struct slot *find_slot(struct policy_diff *pd, const struct record *r, bool *ret_new)
{
	uint64_t h = hash_add(hash_add(0xcbf29ce484222325ull, r->op), r->target);

	h = hash_add(hash_add(h, r->access), r->verdict) | 1;
	for (size_t i = 0;; i++) {
		struct slot *s = &pd->slots[((h >> 8) + i) % SLOTS];

		*ret_new = s->hash == 0;
		if (s->hash == h)
			return s;
		if (s->hash)
			continue;
		if (pd->n_slots == DEEDS_MAX)
			return NULL;
		pd->n_slots++;
		s->hash = h;
		return s;
	}
}

static struct verdicts verdicts_of(const struct image *img, const struct decision *d)
{
	struct verdicts v = { .verdict = decision_verdict(d) };

	decision_describe(img, d, v.rule, sizeof(v.rule));
	return v;
}

static int keep_change(struct policy_diff *pd, const struct record *r, const struct decision *old,
		       const struct decision *new, struct slot *slot)
{
	struct differing *x = &pd->list[pd->n];

	if (pd->n == DIFFERS_MAX) {
		pd->beyond++;
		return 0;
	}
	*x = (struct differing){ .op = strdup(r->op),
				 .target = strdup(r->target),
				 .count = r->count ? r->count : 1,
				 .old = verdicts_of(&pd->old.image, old),
				 .new = verdicts_of(&pd->new.image, new) };
	slot->at = (uint32_t)++pd->n;
	return x->op && x->target ? 0 : -ENOMEM;
}

static int skip(struct policy_diff *pd, const struct record *r)
{
	char **slot = &pd->skipped[pd->n_skipped];

	if (pd->n_skipped++ >= SKIPPED_MAX)
		return 0;
	return asprintf(slot, "%s %s", r->op, r->target) < 0 ? (*slot = NULL, -ENOMEM) : 0;
}

static int compare(struct policy_diff *pd, const struct record *r, struct slot *slot)
{
	struct decision old, new;
	int e = record_judge(&pd->old.image, r, pd->workspace, &old);

	if (e == 0)
		e = record_judge(&pd->new.image, r, pd->workspace, &new);
	if (e != 0)
		return e == -EINVAL ? skip(pd, r) : e;
	pd->judged++;
	return decision_verdict(&old) == decision_verdict(&new) ? 0 : keep_change(pd, r, &old, &new, slot);
}

static bool is_decision(const struct record *r)
{
	enum op op = op_by_name(r->op);

	return op != OP_NONE && op != OP_ATTACH &&
	       (strcmp(r->verdict, "allow") == 0 || strcmp(r->verdict, "deny") == 0);
}

static int compare_record(void *ctx, struct record_owned *rec)
{
	const struct record *r = &rec->r;
	struct policy_diff *pd = ctx;
	struct slot *slot;
	bool fresh;
	int e;

	if (strcmp(r->op, "session/start") == 0)
		return note_start(pd, r);
	if (!is_decision(r))
		return 0;
	e = get_ready(pd);
	if (e < 0)
		return e;
	slot = find_slot(pd, r, &fresh);
	if (!slot) {
		pd->beyond++;
		return 0;
	}
	if (fresh)
		return compare(pd, r, slot);
	if (slot->at)
		pd->list[slot->at - 1].count += r->count ? r->count : 1;
	return 0;
}

static int on_ledger(const char *path, void *ctx)
{
	struct policy_diff *pd = ctx;

	return ledger_walk(&pd->o, path, compare_record, pd);
}

/* --- the report --- */

static void print_side(char mark, const struct verdicts *v)
{
	enum paint paint = mark == '-' ? PAINT_RED : PAINT_GREEN;

	printf("%s%c%-5s ", paint_on(stdout, paint), mark, verdict_name(v->verdict));
	print_escaped(stdout, v->rule);
	printf("%s\n", paint_off(stdout));
}

static void print_name(const char *mark, const char *file)
{
	printf("%s ", mark);
	print_escaped(stdout, file ? file : "the policy that holds here");
	putchar('\n');
}

static void print_skipped(const struct policy_diff *pd)
{
	if (!pd->n_skipped)
		return;
	printf("\nnot judged: %s\n", NOT_RECORDED);
	for (size_t i = 0; i < pd->n_skipped && i < SKIPPED_MAX; i++) {
		fputs("  ", stdout);
		print_recorded(stdout, pd->skipped[i] ? pd->skipped[i] : "?");
		putchar('\n');
	}
	if (pd->n_skipped > SKIPPED_MAX)
		printf("  and %llu more\n", (unsigned long long)pd->n_skipped - SKIPPED_MAX);
}

static void print_report(const struct policy_diff *pd)
{
	if (pd->n) {
		print_name("---", pd->old_file ? pd->old_file : pd->o.policy);
		print_name("+++", pd->new_file);
	}
	for (size_t i = 0; i < pd->n; i++) {
		const struct differing *x = &pd->list[i];

		printf("@@ %s ", x->op);
		print_recorded(stdout, x->target);
		printf(" (%llu time%s) @@\n", (unsigned long long)x->count, x->count == 1 ? "" : "s");
		print_side('-', &x->old);
		print_side('+', &x->new);
	}
	print_skipped(pd);
	if (pd->beyond)
		printf("\n%llu records were not looked at: too many different ones\n",
		       (unsigned long long)pd->beyond);
	talk("%zu of %llu different requests would be decided differently", pd->n,
	     (unsigned long long)pd->judged);
}

static json_t *side_to_json(const struct verdicts *v)
{
	return json_pack("{ss, so}", "verdict", verdict_name(v->verdict), "rule", json_text(v->rule));
}

static void print_report_json(const struct policy_diff *pd)
{
	json_t *list = json_array(), *skipped = json_array();

	for (size_t i = 0; i < pd->n; i++) {
		const struct differing *x = &pd->list[i];

		json_array_append_new(list,
				      json_pack("{ss, so, sI, so, so}", "op", x->op, "target",
						json_text(x->target), "count", (json_int_t)x->count, "old",
						side_to_json(&x->old), "new", side_to_json(&x->new)));
	}
	for (size_t i = 0; i < pd->n_skipped && i < SKIPPED_MAX; i++)
		json_array_append_new(skipped, json_text(pd->skipped[i]));
	print_json(json_pack("{so, so, sI, so, sI, so, sI}", "old",
			     json_text(pd->old_file ? pd->old_file : pd->o.policy), "new",
			     json_text(pd->new_file), "judged", (json_int_t)pd->judged, "differ", list,
			     "not_judged_count", (json_int_t)pd->n_skipped, "not_judged", skipped, "beyond",
			     (json_int_t)pd->beyond));
}

/* --- together --- */

static void diff_done(struct policy_diff *pd)
{
	for (size_t i = 0; i < pd->n; i++) {
		free(pd->list[i].op);
		free(pd->list[i].target);
	}
	for (size_t i = 0; i < SKIPPED_MAX; i++)
		free(pd->skipped[i]);
	loaded_done(&pd->old);
	loaded_done(&pd->new);
	free(pd->slots);
	free(pd->list);
	free(pd);
}

static int diff(struct policy_diff *pd)
{
	pd->slots = calloc(SLOTS, sizeof(*pd->slots));
	pd->list = calloc(DIFFERS_MAX, sizeof(*pd->list));
	if (!pd->slots || !pd->list) {
		talk("out of memory");
		return EXIT_USAGE;
	}
	/* A policy that cannot be loaded is an error even if the ledger has no records. */
	if (ledgers_chosen(&pd->o, 0, NULL, on_ledger, pd) < 0 || get_ready(pd) < 0 || !pd->new.image.h)
		return EXIT_USAGE;
	if (pd->o.json)
		print_report_json(pd);
	else
		print_report(pd);
	return pd->n ? EXIT_FINDINGS : EXIT_OK;
}

int policy_diff(const struct options *o, int argc, char **argv)
{
	struct policy_diff *pd;
	int code;

	if (argc < 1 || argc > 2) {
		talk("policy diff needs the new policy, and the old one unless it is the policy that holds "
		     "here");
		return EXIT_USAGE;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return EXIT_USAGE;
	pd->o = *o;
	pd->new_file = argv[0];
	pd->old_file = argc > 1 ? argv[1] : NULL;
	code = diff(pd);
	diff_done(pd);
	return code;
}
