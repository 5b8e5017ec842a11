/*
 * The name of each kind of rule in a policy file, and the verdict that it gives.
 *
 * Not in rule.c, which allocates: the preload shows these names when it denies a call.
 */
#include "policy/rules/rule.h"

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
	[RULE_FILE_ASK_WRITE] = { "files", "ask_write", VERDICT_ASK },
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
	[RULE_NET_MODEL] = { "network", "model", VERDICT_ALLOW },
	[RULE_NET_EXTRA] = { "network", "extra", VERDICT_ALLOW },
	[RULE_NET_UDP] = { "network", "udp", VERDICT_ALLOW },
	[RULE_NET_UNIX] = { "network", "unix", VERDICT_ALLOW },
	[RULE_NET_BIND] = { "network", "bind", VERDICT_ALLOW },
	[RULE_BRANCH] = { "git", "protect", VERDICT_DENY },
	[RULE_FILE_GIT] = { "git", "guard", VERDICT_ASK },
	[RULE_FILE_PLACE] = { "files", "place", VERDICT_DENY },
	[RULE_FILE_HOME] = { "files", "home", VERDICT_DENY },
	[RULE_TOOL_ALLOW] = { "tools", "allow", VERDICT_ALLOW },
	[RULE_TOOL_ASK] = { "tools", "ask", VERDICT_ASK },
	[RULE_TOOL_DENY] = { "tools", "deny", VERDICT_DENY },
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
