/*
 * The policy as a value: what each kind of rule is called and says, and the list of rules.
 *
 * Guarantees that an empty policy is the strictest one (every enum's zero is its strict end), so
 * that a setting nobody made allows nothing.  No I/O, no globals that change.
 */
#include "rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *section, *key;
	enum verdict verdict;
} kinds[RULE_KIND_COUNT] = {
	[RULE_FILE_WRITE] = { "files", "write", VERDICT_ALLOW },
	[RULE_FILE_READ] = { "files", "read", VERDICT_ALLOW },
	[RULE_FILE_DENY] = { "files", "deny", VERDICT_DENY },
	[RULE_FILE_READONLY] = { "files", "readonly", VERDICT_DENY },
	[RULE_FILE_KEEP] = { "files", "keep", VERDICT_DENY },
	[RULE_FILE_ASK] = { "files", "ask", VERDICT_ASK },
	[RULE_FILE_SENSITIVE] = { "files", "sensitive", VERDICT_DENY },
	[RULE_FILE_SYSTEM] = { "files", "system", VERDICT_ALLOW },
	[RULE_FILE_SELF] = { "files", "self", VERDICT_DENY },
	[RULE_FILE_HIDDEN] = { "files", "hidden", VERDICT_DENY },
	[RULE_CMD_ALLOW] = { "commands", "allow", VERDICT_ALLOW },
	[RULE_CMD_ASK] = { "commands", "ask", VERDICT_ASK },
	[RULE_CMD_DENY] = { "commands", "deny", VERDICT_DENY },
	[RULE_CMD_DENYLIST] = { "commands", "denylist", VERDICT_DENY },
	[RULE_NET_ALLOW] = { "network", "allow", VERDICT_ALLOW },
	[RULE_NET_ASK] = { "network", "ask", VERDICT_ASK },
	[RULE_NET_DENY] = { "network", "deny", VERDICT_DENY },
	[RULE_NET_CORE] = { "network", "core", VERDICT_ALLOW },
	[RULE_NET_UNIX] = { "network", "unix", VERDICT_ALLOW },
	[RULE_NET_BIND] = { "network", "bind", VERDICT_ALLOW },
	[RULE_BRANCH] = { "git", "protect", VERDICT_DENY },
};

const char *rule_key(enum rule_kind kind)
{
	return (unsigned)kind < RULE_KIND_COUNT ? kinds[kind].key : "?";
}

const char *rule_section(enum rule_kind kind)
{
	return (unsigned)kind < RULE_KIND_COUNT ? kinds[kind].section : "?";
}

enum verdict rule_verdict(enum rule_kind kind)
{
	return (unsigned)kind < RULE_KIND_COUNT ? kinds[kind].verdict : VERDICT_DENY;
}

void policy_init(struct policy *p)
{
	memset(p, 0, sizeof(*p));
	p->s.timeout_s = 120;
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
	for (size_t i = 0; i < p->n_pass; i++)
		free(p->pass[i]);
	free(p->pass);
	for (size_t i = 0; i < p->n_idents; i++)
		free(p->idents[i].name);
	free(p->idents);
	free(p->workspace);
	free(p->home);
	free(p->preset);
	memset(p, 0, sizeof(*p));
}

struct rule *policy_add(struct policy *p)
{
	if (p->n_rules == p->cap_rules) {
		size_t cap = p->cap_rules ? p->cap_rules * 2 : 64;
		struct rule *rules = reallocarray(p->rules, cap, sizeof(*rules));

		if (!rules)
			return NULL;
		p->rules = rules;
		p->cap_rules = cap;
	}
	memset(&p->rules[p->n_rules], 0, sizeof(p->rules[0]));
	return &p->rules[p->n_rules++];
}
