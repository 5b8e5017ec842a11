/*
 * Names of operations, verdicts and reasons.  Tables only: no state, no allocation.
 */
#include "op.h"
#include "util.h"

#include <string.h>

static const struct {
	const char *name;
	unsigned access;
} ops[OP_COUNT] = {
	[OP_NONE] = { "none", 0 },
	[OP_READ] = { "read", ACCESS_READ },
	[OP_WRITE] = { "write", ACCESS_WRITE },
	[OP_DELETE] = { "delete", ACCESS_DELETE },
	[OP_RENAME] = { "rename", ACCESS_WRITE | ACCESS_DELETE },
	[OP_LINK] = { "link", ACCESS_WRITE },
	[OP_SYMLINK] = { "symlink", ACCESS_WRITE },
	[OP_MKDIR] = { "mkdir", ACCESS_WRITE },
	[OP_MKNOD] = { "mknod", ACCESS_WRITE },
	[OP_TRUNCATE] = { "truncate", ACCESS_WRITE },
	[OP_CHMOD] = { "chmod", ACCESS_WRITE },
	[OP_CHOWN] = { "chown", ACCESS_WRITE },
	[OP_UTIME] = { "utime", ACCESS_WRITE },
	[OP_XATTR] = { "xattr", ACCESS_WRITE },
	[OP_EXEC] = { "exec", ACCESS_READ },
	[OP_CONNECT] = { "connect", 0 },
	[OP_UNIX] = { "unix", ACCESS_WRITE },
	[OP_RESOLVE] = { "resolve", 0 },
	[OP_BIND] = { "bind", 0 },
	[OP_ATTACH] = { "attach", 0 },
	[OP_TOOL] = { "tool", 0 },
	[OP_PUSH] = { "push", 0 },
};

static const char *const reasons[REASON_COUNT] = {
	[REASON_NONE] = "no reason given",
	[REASON_RULE] = "a rule of the policy",
	[REASON_OUTSIDE] = "outside the workspace",
	[REASON_INSIDE] = "inside the workspace",
	[REASON_READABLE] = "nothing forbids reading it",
	[REASON_READONLY] = "mode is read-only",
	[REASON_ABSOLUTE] = "absolute path; only relative paths are accepted",
	[REASON_TRAVERSAL] = "path with a `..` segment",
	[REASON_ANCESTOR] = "a directory above a protected path may not be moved or removed",
	[REASON_SELF] = "it belongs to pale",
	[REASON_DEFAULT] = "default: no rule names this command",
	[REASON_HOST] = "default: no rule names this host or port",
	[REASON_TOOL] = "default: no rule names this tool",
	[REASON_CHILDREN] = "mode read-only runs no commands",
	[REASON_OFFLINE] = "the network is off",
	[REASON_URL] = "the network is off and the command names a URL",
	[REASON_REBIND] = "a public name that answers with a private address",
	[REASON_TRUNK] =
		"a protected branch, or a branch that pale cannot determine (in a push write SOURCE:TARGET)",
	[REASON_DANGER] = "mode is danger",
	[REASON_OPERATOR] = "the command that the operator started",
	[REASON_UNHOOKED] = "the program would run outside the fence",
	[REASON_TOO_LONG] = "too long to be judged",
	[REASON_MALFORMED] = "the request cannot be understood",
	[REASON_NEVER] = "it needs approval, and this session never asks",
	[REASON_NOBODY] = "it needs approval, and no one can be reached to answer",
	[REASON_TIMEOUT] = "no answer came in time",
	[REASON_HUMAN] = "the operator answered",
	[REASON_GRANT] = "granted by the operator",
	[REASON_PUSH] = "[git] push",
	[REASON_GATE] = "[git] remote: through the gate",
	[REASON_PROCESS] = "it belongs to a process outside the session",
	[REASON_CHANGED] = "it changed after pale judged it",
	[REASON_SOCKET] = "a kind of socket that pale cannot judge",
	[REASON_DNS] = "names are looked up by pale itself",
	[REASON_FLOOR] = "newer than the session, so Landlock does not let it be executed",
	[REASON_UNPROVEN] = "pale cannot determine what would run",
	[REASON_LOADER] =
		"pale cannot determine which program it would open; name an existing file by its path",
	[REASON_UNREADABLE] =
		"its file can be executed but not read, so pale cannot determine what would run",
	[REASON_WAY] = "a directory above a path that a rule opens",
	[REASON_OWN] = "the session's own",
	[REASON_UDP] = "no `udp =` rule names it, and nothing else lets datagrams out",
	[REASON_EXFIL] = "names this long or this many could carry data to a name server",
	[REASON_PROOF] = "an irreversible command needs confirmation despite the rule that allows it; "
			 "`passphrase = no` below the rule lifts that",
	[REASON_FLOOD] = "too many at a time",
	[REASON_ASTRAY] = "an IPv6 form of a private address, which may be routed elsewhere",
	[REASON_UNIX] = "no `unix =` rule names it, and what listens there acts outside the fence",
	[REASON_GIT] = "git obeys this file, so pale judges what is written to it",
	[REASON_REPEATED] = "already denied in this turn",
	[REASON_HOME] = "no rule opens this entry of the home",
	[REASON_ABSENT] = "a secret, which does not exist for the session",
	[REASON_VARIABLE] = "an allow rule covers only the environment that the session began with",
};

const char *op_name(enum op op)
{
	return (unsigned)op < OP_COUNT ? ops[op].name : "?";
}

const char *op_section(enum op op)
{
	if (op == OP_EXEC)
		return "commands";
	if (op == OP_TOOL)
		return "tools";
	if (op == OP_PUSH)
		return "git";
	return op == OP_CONNECT || op == OP_RESOLVE || op == OP_UNIX || op == OP_BIND ? "network" : "files";
}

const char *verdict_name(enum verdict v)
{
	switch (v) {
	case VERDICT_ALLOW:
		return "allow";
	case VERDICT_ASK:
		return "ask";
	case VERDICT_DENY:
		return "deny";
	}
	return "?";
}

const char *reason_text(enum reason r)
{
	return (unsigned)r < REASON_COUNT && reasons[r] ? reasons[r] : "?";
}

static const char *const levels[LEVEL_COUNT] = {
	[LEVEL_HOOKS] = "hooks",
	[LEVEL_FULL] = "full",
	[LEVEL_STRICT] = "strict",
};

const char *level_name(enum level level)
{
	return (unsigned)level < LEVEL_COUNT ? levels[level] : "?";
}

enum level level_by_name(const char *name)
{
	unsigned i = 0;

	while (i < LEVEL_COUNT && strcmp(levels[i], name) != 0)
		i++;
	return (enum level)i;
}

enum op op_by_name(const char *name)
{
	for (size_t i = OP_NONE + 1; name && i < NELEM(ops); i++)
		if (strcmp(ops[i].name, name) == 0)
			return (enum op)i;
	return OP_NONE;
}

unsigned op_access(enum op op)
{
	return (unsigned)op < OP_COUNT ? ops[op].access : 0;
}

const char *access_name(unsigned access)
{
	static const char *const names[ACCESS_ALL + 1] = { "", "r", "w", "rw", "d", "rd", "wd", "rwd" };

	return names[access & ACCESS_ALL];
}
