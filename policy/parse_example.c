/*
 * `match =` and `not_match =` below a rule: kept with the rule they belong to.
 *
 * An example that cannot be read is an error of the file; whether it holds is for lint and for
 * `pale policy test` to say, which have the whole policy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"
#include "parse_impl.h"

static int keep(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	struct policy *p = ps->p;
	struct policy_example *grown = reallocarray(p->examples, p->n_examples + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->examples = grown;
	grown[p->n_examples] = (struct policy_example){ .text = strdup(pair->value),
							.negative = def->id == 1,
							.first = ps->last_first,
							.end = ps->last_end,
							.file = strdup(ps->src->path),
							.line = pair->line,
							.col = pair->value_col };
	/* A half-copied example is still owned by the policy, which frees it. */
	p->n_examples++;
	return grown[p->n_examples - 1].text && grown[p->n_examples - 1].file ? 0 : -ENOMEM;
}

int parser_on_example(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	struct example_request *x;
	const char *why = "";
	int err;

	if (!ps->last_rule)
		return parser_error(ps, pair, "stray-example", "put it below the rule it is about",
				    "`%s` without a rule above it in this section", def->key);
	x = malloc(sizeof(*x));
	if (!x)
		return -ENOMEM;
	err = example_parse(ps->b, ps->last_kind, pair->value, x, &why);
	free(x);
	if (err == -ENOMEM)
		return err;
	if (err < 0)
		return parser_error(ps, pair, "bad-example", why, "`%s` is no example of such a rule",
				    pair->value);
	/* The section of another agent: read, and not kept. */
	return ps->last_first < ps->last_end ? keep(ps, def, pair) : 0;
}
