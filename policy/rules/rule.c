/*
 * The policy as a value: settings and the list of rules.
 *
 * A setting that no file names has the value that policy_init() gives it.  That is zero for most, which is
 * their strictest value; not so for `home`, `demands` and `relative_only`, which start at their weakest:
 * presets and layers raise them.  No I/O, no globals that change.
 */
#include "policy/base/util.h"
#include "rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void policy_init(struct policy *p)
{
	memset(p, 0, sizeof(*p));
	p->s.mode = MODE_READ_ONLY;
	p->s.timeout_s = 120;
	p->s.stepup = STEPUP_AUTO;
	p->s.gc = GC_OWN;
	p->s.expiry_s = 48 * 3600;
	p->s.log_mib = 64;
	p->s.ledger_mib = 2048;
	p->s.push = VERDICT_ASK;
	p->s.change_files = 300;
	p->s.change_bytes = 4 << 20;
}

void environ_rule_done(struct environ_rule *r)
{
	free(r->pattern);
	free(r->value);
	free(r->file);
}

void word_list_done(struct word_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i]);
	free(l->list);
	*l = (struct word_list){ .list = NULL };
}

int word_list_add(struct word_list *l, const char *word)
{
	char **to = LIST_NEW(l->list, l->n);

	if (to)
		*to = strdup(word);
	return to && *to ? (l->n++, 0) : -ENOMEM;
}

void policy_done(struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		free(p->rules[i].text);
		free(p->rules[i].pattern);
		free(p->rules[i].file);
		free(p->rules[i].message);
	}
	free(p->rules);
	for (size_t i = 0; i < p->n_environ; i++)
		environ_rule_done(&p->environ[i]);
	free(p->environ);
	free(p->state);
	for (size_t i = 0; i < p->n_shares; i++)
		free(p->shares[i]);
	free(p->shares);
	word_list_done(&p->ghosts);
	word_list_done(&p->fetched);
	word_list_done(&p->change_deny);
	free(p->branch);
	free(p->logs);
	for (size_t i = 0; i < RESOURCE_COUNT; i++)
		free(p->limits.of[i].file);
	for (size_t i = 0; i < p->n_idents; i++)
		free(p->idents[i].name);
	free(p->idents);
	free(p->workspace);
	free(p->home);
	free(p->git_head);
	free(p->preset);
	free(p->version);
	free(p->network_file);
	free(p->level_file);
	memset(p, 0, sizeof(*p));
}

struct rule *policy_add(struct policy *p)
{
	struct rule *r = LIST_NEW(p->rules, p->n_rules);

	p->n_rules += r != NULL;
	return r;
}

const char *network_name(enum network network)
{
	static const char *const names[] = { "off", "strict", "merge", "replace", "open", "models" };

	return (unsigned)network < NELEM(names) ? names[network] : "?";
}
