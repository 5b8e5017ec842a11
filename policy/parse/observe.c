/*
 * --observe: operations that are only asked about, or that no rule names, are allowed, so that they can be
 * recorded and a policy can be learnt from them.
 *
 * These stay closed: every path that a rule closes, makes read-only or keeps in its place (secrets, pale's
 * own files, files that later run as the operator), denylisted commands, protected branches, other
 * programs' sockets, datagrams, ports that listen beyond the machine, addresses that are not public.  All
 * rules of the machine's floor stay.
 */
#include <stdlib.h>
#include <string.h>

#include "parse_impl.h"
#include "policy/base/addr.h"

void observe_settings(struct settings *s)
{
	s->mode = MODE_DANGER;
	s->reads = READS_NOTIFY; /* reads that the floor alone handles are not recorded */
	s->relative_only = false;
	s->cmd_default = VERDICT_ALLOW;
	s->network = NETWORK_OPEN;
	s->net_default = VERDICT_DENY; /* still applies to addresses that are not public */
}

/* True for an address, a network or localhost: the addresses of a name are judged by such rules. */
static bool is_address(const char *pattern)
{
	size_t n = strcspn(pattern, "/");
	const char *colon = strchr(pattern, ':');
	uint8_t addr[16];

	if (pattern[0] == '[' || strncmp(pattern, "localhost", 9) == 0)
		return true;
	if (addr_parse(pattern, n, addr))
		return true;
	return colon && addr_parse(pattern, (size_t)(colon - pattern), addr);
}

static bool stays(const struct rule *r)
{
	if (r->layer == LAYER_FLOOR)
		return true;
	switch (r->kind) {
	case RULE_FILE_ASK:
	case RULE_FILE_ASK_WRITE:
	case RULE_CMD_ASK:
	case RULE_CMD_DENY:
	case RULE_NET_ASK:
	case RULE_TOOL_ASK:
	case RULE_TOOL_DENY:
		return false;
	case RULE_NET_DENY:
		return is_address(r->pattern ? r->pattern : "");
	case RULE_FILE_WRITE:
	case RULE_FILE_READ:
	case RULE_FILE_DENY:
	case RULE_FILE_READONLY:
	case RULE_FILE_KEEP:
	case RULE_FILE_SENSITIVE:
	case RULE_FILE_SYSTEM:
	case RULE_FILE_SELF:
	case RULE_FILE_HIDDEN:
	case RULE_CMD_ALLOW:
	case RULE_CMD_DENYLIST:
	case RULE_NET_ALLOW:
	case RULE_NET_CORE:
	case RULE_NET_MODEL:
	case RULE_NET_EXTRA:
	case RULE_NET_UDP:
	case RULE_NET_UNIX:
	case RULE_NET_BIND:
	case RULE_BRANCH:
	case RULE_FILE_GIT:
	case RULE_FILE_PLACE:
	case RULE_FILE_HOME:
	case RULE_TOOL_ALLOW:
	case RULE_KIND_COUNT:
	default:
		return true;
	}
}

void observe_rules(struct policy *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_rules; i++) {
		struct rule *r = &p->rules[i];

		if (stays(r)) {
			p->rules[kept++] = *r;
			continue;
		}
		free(r->text);
		free(r->pattern);
		free(r->file);
		free(r->message);
	}
	p->n_rules = kept;
}
