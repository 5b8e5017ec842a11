/*
 * Reads the files and hosts of fence and Claude's sandbox: lists of what may be written and reached, and of
 * what may not.
 */
#include <string.h>

#include "policy/system/cleanup.h"

#include "import.h"

static void deny_read(struct import *im, const struct member *m, const char *from, const char *text)
{
	bool all = strcmp(text, "/") == 0;

	rule_read(im, m, from, all ? "~" : text);
	if (all)
		carry_tell(im, TOLD_LOST, from,
			   "`/`: the home directory is closed; what programs are made of (/usr, /etc) stays "
			   "readable");
}

static void default_deny_read(struct import *im, const char *path, const json_t *value)
{
	if (!flag_read(im, path, value))
		return;
	/* The default: allowRead and allowWrite are stronger. */
	(void)carry_rule(im, "files", "deny", "(defaultDenyRead)", "~");
	carry_tell(im, TOLD_LOST, path,
		   "the home directory is closed; outside of it reading stays free but for secrets");
}

const struct member walls_filesystem[] = {
	{ "allowWrite", .each = rule_read, .section = "files", .key = "write" },
	{ "denyWrite", .each = rule_read, .section = "files", .key = "readonly" },
	{ "denyRead", .each = deny_read, .section = "files", .key = "deny" },
	{ "allowRead", .each = rule_read, .section = "files", .key = "read" },
	{ "defaultDenyRead", .read = default_deny_read },
	{ "allowGitConfig", .kind = TOLD_STRICTER,
	  .said = "what of git's configuration runs code stays closed" },
	{ "disabled", .kind = TOLD_STRICTER, .said = "weakens the fence there; not carried over" },
	{ "wslInterop", MACHINERY },
	{ .name = NULL },
};

static void allow_host(struct import *im, const struct member *m, const char *from, const char *text)
{
	if (strcmp(text, "*") == 0)
		carry_setting(im, "network", "mode", from, "open");
	else
		rule_read(im, m, from, text);
}

static void local_outbound(struct import *im, const char *path, const json_t *value)
{
	if (flag_read(im, path, value))
		(void)carry_rule(im, "network", "allow", path, "localhost");
}

static void local_ports(struct import *im, const char *path, const json_t *value)
{
	size_t i;
	json_t *port;

	if (!json_is_array(value))
		carry_tell(im, TOLD_LOST, path, "is no list: not understood");
	json_array_foreach((json_t *)value, i, port)
	{
		/* A port that is no number is an error for the parser, too. */
		_cleanup_free_ char *host = format(
			"localhost:%lld", json_is_integer(port) ? (long long)json_integer_value(port) : -1);

		(void)carry_rule(im, "network", "allow", path, host);
	}
}

void walls_network(struct import *im, const char *path, const json_t *value)
{
	static const struct member table[] = {
		{ "allowedDomains", .each = allow_host, .section = "network", .key = "allow" },
		{ "deniedDomains", .each = rule_read, .section = "network", .key = "deny" },
		{ "allowUnixSockets", .each = rule_read, .section = "network", .key = "unix" },
		{ "allowAllUnixSockets", .kind = TOLD_STRICTER,
		  .said = "unix sockets are named one by one: what listens there acts outside the fence" },
		{ "allowLocalBinding", .kind = TOLD_NOTE,
		  .said = "free ports of loopback from 1024 on need no rule" },
		{ "allowLocalOutbound", .read = local_outbound },
		{ "allowLocalOutboundPorts", .read = local_ports },
		{ "httpProxyPort", MACHINERY },
		{ "socksProxyPort", MACHINERY },
		{ "allowMachLookup", MACHINERY },
		{ .name = NULL },
	};

	/* Only the source's own list holds, unless it has a `*`. */
	carry_setting(im, "network", "mode", path, "replace");
	carry_setting(im, "network", "default", path, "deny");
	members_read(im, path, value, table);
}
