/*
 * pale policy test: the examples inside a policy (`match =`, `not_match =`), each judged by the evaluator.
 *
 * Without FILE those of all policies that hold here, with FILE those of that file alone, as lint has it.
 */
#include <errno.h>
#include <string.h>

#include "policy/example.h"

#include "edit.h"
#include "tools.h"

struct tally {
	size_t n[EXAMPLE_SILENT + 1];
	json_t *list;
};

static const char *key_of(const struct policy_example *e)
{
	return e->negative ? "not_match" : "match";
}

static void report(const struct policy *p, const struct policy_example *e, const struct example_verdict *v)
{
	static const struct {
		const char *word;
		enum paint paint;
	} shown[] = {
		[EXAMPLE_HOLDS] = { "ok", PAINT_GREEN },
		[EXAMPLE_FAILS] = { "FAIL", PAINT_RED },
		[EXAMPLE_SILENT] = { "skip", PAINT_DIM },
	};
	const struct rule *r = &p->rules[e->first];

	printf("%s%-5s%s", paint_on(stdout, shown[v->result].paint), shown[v->result].word,
	       paint_off(stdout));
	print_escaped(stdout, e->file);
	printf(":%u:%u: %s = ", e->line, e->col, key_of(e));
	print_escaped(stdout, e->text);
	printf("  [%s] %s = ", rule_section(r->kind), rule_key(r->kind));
	print_escaped(stdout, r->text);
	putchar('\n');
	if (v->why[0]) {
		fputs("     ", stdout);
		print_recorded(stdout, v->why);
		putchar('\n');
	}
}

static json_t *to_json(const struct policy *p, const struct policy_example *e,
		       const struct example_verdict *v)
{
	const struct rule *r = &p->rules[e->first];
	bool judged = v->result != EXAMPLE_SILENT;

	return json_pack("{so, si, si, ss, so, ss, ss, so, si, ss, so, so}", "file", json_text(e->file),
			 "line", (int)e->line, "column", (int)e->col, "key", key_of(e), "example",
			 json_text(e->text), "section", rule_section(r->kind), "rule_key", rule_key(r->kind),
			 "rule", json_text(r->text), "rule_line", (int)r->line, "result",
			 example_result_name(v->result), "verdict",
			 judged ? json_string(verdict_name(v->d.verdict)) : json_null(), "why",
			 json_text(v->why[0] ? v->why : NULL));
}

static int judge_all(const struct loaded *l, struct tally *t)
{
	const struct policy *p = &l->policy;

	for (size_t i = 0; i < p->n_examples; i++) {
		struct example_verdict v;
		int r = example_judge(p, &l->bundle, &l->image, &p->examples[i], &v);

		if (r < 0)
			return r;
		t->n[v.result]++;
		if (t->list)
			json_array_append_new(t->list, to_json(p, &p->examples[i], &v));
		else
			report(p, &p->examples[i], &v);
	}
	return 0;
}

static void summary(const struct tally *t)
{
	size_t all = t->n[EXAMPLE_HOLDS] + t->n[EXAMPLE_FAILS] + t->n[EXAMPLE_SILENT];

	if (all == 0)
		talk("no examples; write `match = ...` and `not_match = ...` below a rule");
	else
		talk("%zu example%s: %zu hold, %zu fail, %zu not judged", all, all == 1 ? "" : "s",
		     t->n[EXAMPLE_HOLDS], t->n[EXAMPLE_FAILS], t->n[EXAMPLE_SILENT]);
}

static int load(const struct options *o, const char *file, struct loaded *l, struct diags *d)
{
	struct bundle b;
	int r;

	if (!file)
		return loaded_init(l, o, d);
	bundle_init(&b);
	r = bundle_gather_file(o, file, &b, d);
	if (r == 0)
		r = loaded_from_bundle(l, &b, d);
	bundle_done(&b);
	return r;
}

/* A policy with an error has no examples that could be judged. */
static int failed(const struct diags *d, int r)
{
	print_diags(stderr, d);
	if (d->n_errors == 0)
		talk("the policy cannot be loaded: %s", strerror(-r));
	return EXIT_USAGE;
}

int policy_test(const struct options *o, int argc, char **argv)
{
	struct tally t = { .list = o->json ? json_array() : NULL };
	struct loaded l = { 0 };
	struct diags d;
	int r, code;

	if (argc > 1) {
		talk("policy test takes one file at most");
		return EXIT_USAGE;
	}
	diags_init(&d);
	r = load(o, argc ? argv[0] : NULL, &l, &d);
	if (r == 0)
		r = judge_all(&l, &t);
	if (r < 0) {
		code = failed(&d, r);
		json_decref(t.list);
	} else {
		if (o->json)
			print_json(json_pack("{so, si, si, si}", "examples", t.list, "holds",
					     (int)t.n[EXAMPLE_HOLDS], "fails", (int)t.n[EXAMPLE_FAILS],
					     "silent", (int)t.n[EXAMPLE_SILENT]));
		summary(&t);
		code = t.n[EXAMPLE_FAILS] ? EXIT_FINDINGS : EXIT_OK;
	}
	diags_done(&d);
	loaded_done(&l);
	return code;
}
