/*
 * [environment]: `pass =`, `deny =` and `set =` into the policy's list.
 *
 * A project that is not trusted may only tighten, so only its `deny =` lines count.
 */
#include "parse_impl.h"
#include "policy/base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_name(struct parser *ps, const struct key_def *def, const struct ini_pair *pair,
		    const char *pattern, const char *value)
{
	struct policy *p = ps->p;
	struct environ_rule *r;

	if (!ps->applies)
		return 0;
	r = LIST_NEW(p->environ, p->n_environ);
	if (!r)
		return -ENOMEM;
	p->n_environ++;
	*r = (struct environ_rule){ .kind = (enum environ_kind)def->id,
				    .pattern = strdup(pattern),
				    .value = value ? strdup(value) : NULL,
				    .file = strdup(ps->src->path),
				    .line = pair->line };
	return r->pattern && r->file && (!value || r->value) ? 0 : -ENOMEM;
}

/* 0; -EINVAL after adding a finding about a bad name, so that the line adds nothing; -ENOMEM. */
static int check_name(struct parser *ps, const struct key_def *def, const struct ini_pair *pair,
		      const char *name)
{
	bool good = def->id == ENVIRON_SET ? environ_is_name(name) : environ_is_pattern(name);
	int err = 0;

	if (!good)
		err = parser_error(ps, pair, "bad-value",
				   def->id == ENVIRON_SET ? "write NAME=VALUE"
							  : "write a name, or a pattern as in CARGO_*",
				   "`%s` is no name of a variable", name);
	else if (def->id != ENVIRON_DENY && environ_is_name(name) && environ_is_never(name))
		err = parser_error(ps, pair, "bad-value", NULL, "`%s` is pale's to set", name);
	else
		return 0;
	return err < 0 ? err : -EINVAL;
}

static int apply(struct parser *ps, const struct key_def *def, const struct ini_pair *pair, const char *name,
		 const char *value)
{
	int err = check_name(ps, def, pair, name);

	if (err < 0)
		return err == -EINVAL ? 0 : err;
	err = def->id == ENVIRON_DENY ? 0 : parser_may_say(ps, def, pair, NULL);
	if (err < 0)
		return err == -EBADMSG ? 0 : err;
	return add_name(ps, def, pair, name, value);
}

int parser_on_environ(struct parser *ps, const struct key_def *def, const struct ini_pair *pair)
{
	size_t n = strcspn(pair->value, "=");
	char *name;
	int err;

	if (def->id != ENVIRON_SET)
		return apply(ps, def, pair, pair->value, NULL);
	if (pair->value[n] != '=')
		return parser_error(ps, pair, "bad-value", "write NAME=VALUE", "`%s` sets nothing",
				    pair->value);
	name = strndup(pair->value, n);
	if (!name)
		return -ENOMEM;
	err = apply(ps, def, pair, name, pair->value + n + 1);
	free(name);
	return err;
}
