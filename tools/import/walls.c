/*
 * Files and hosts as fence and Claude's sandbox have them: lists of what may be written and reached, and
 * of what may not.
 */
#include <errno.h>
#include <string.h>

#include "import.h"

static void path_rule(struct import *im, const char *key, const char *from, const char *text)
{
	_cleanup_free_ char *path = path_of(text);

	if (!path)
		im->error = -ENOMEM;
	else
		(void)carry_rule(im, "files", key, from, path);
}

static void on_write(struct import *im, const char *from, const char *text)
{
	path_rule(im, "write", from, text);
}

static void on_deny_write(struct import *im, const char *from, const char *text)
{
	path_rule(im, "readonly", from, text);
}

static void on_deny_read(struct import *im, const char *from, const char *text)
{
	if (strcmp(text, "/") == 0) {
		(void)carry_rule(im, "files", "deny", from, "~");
		carry_tell(im, TOLD_LOST, from,
			   "`/`: the home directory is closed; what programs are made of (/usr, /etc) stays "
			   "readable");
		return;
	}
	path_rule(im, "deny", from, text);
}

static void on_read(struct import *im, const char *from, const char *text)
{
	path_rule(im, "read", from, text);
}

static void allow_write(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_write);
}

static void deny_write(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_deny_write);
}

static void deny_read(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_deny_read);
}

static void allow_read(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_read);
}

static void default_deny_read(struct import *im, const char *path, const json_t *value)
{
	if (!flag_read(im, path, value))
		return;
	/* What no rule names: allowRead and allowWrite are stronger. */
	(void)carry_rule(im, "files", "deny", "(defaultDenyRead)", "~");
	carry_tell(im, TOLD_LOST, path,
		   "the home directory is closed; outside of it reading stays free but for secrets");
}

static void git_config(struct import *im, const char *path, const json_t *value)
{
	if (flag_read(im, path, value))
		carry_tell(im, TOLD_STRICTER, path, "what of git's configuration runs code stays closed");
}

static void weaker_only(struct import *im, const char *path, const json_t *value)
{
	if (!json_is_false(value) && !json_is_null(value))
		carry_tell(im, TOLD_STRICTER, path, "weakens the fence there; not carried over");
}

static void machinery(struct import *im, const char *path, const json_t *value)
{
	(void)value;
	carry_tell(im, TOLD_NOTE, path, "is about how that program does its work");
}

void walls_filesystem(struct import *im, const char *path, const json_t *value)
{
	static const struct member table[] = {
		{ "allowWrite", allow_write },
		{ "denyWrite", deny_write },
		{ "denyRead", deny_read },
		{ "allowRead", allow_read },
		{ "defaultDenyRead", default_deny_read },
		{ "allowGitConfig", git_config },
		{ "wslInterop", machinery },
		{ "disabled", weaker_only },
		{ NULL, NULL },
	};

	members_read(im, path, value, table);
}

static void on_allow_host(struct import *im, const char *from, const char *text)
{
	if (strcmp(text, "*") == 0)
		carry_setting(im, "network", "mode", from, "open");
	else
		(void)carry_rule(im, "network", "allow", from, text);
}

static void on_deny_host(struct import *im, const char *from, const char *text)
{
	(void)carry_rule(im, "network", "deny", from, text);
}

static void on_socket(struct import *im, const char *from, const char *text)
{
	(void)carry_rule(im, "network", "unix", from, text);
}

static void allowed_hosts(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_allow_host);
}

static void denied_hosts(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_deny_host);
}

static void sockets(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_socket);
}

static void all_sockets(struct import *im, const char *path, const json_t *value)
{
	if (flag_read(im, path, value))
		carry_tell(im, TOLD_STRICTER, path,
			   "unix sockets are named one by one: what listens there acts outside the fence");
}

static void local_binding(struct import *im, const char *path, const json_t *value)
{
	if (flag_read(im, path, value))
		carry_tell(im, TOLD_NOTE, path, "free ports of loopback from 1024 on need no rule");
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

	if (!json_is_array(value)) {
		carry_tell(im, TOLD_LOST, path, "is no list: not understood");
		return;
	}
	json_array_foreach((json_t *)value, i, port)
	{
		char host[32];

		(void)snprintf(host, sizeof(host), "localhost:%lld",
			       json_is_integer(port) ? (long long)json_integer_value(port) : -1);
		(void)carry_rule(im, "network", "allow", path, host);
	}
}

void walls_network(struct import *im, const char *path, const json_t *value)
{
	static const struct member table[] = {
		{ "allowedDomains", allowed_hosts },
		{ "deniedDomains", denied_hosts },
		{ "allowUnixSockets", sockets },
		{ "allowAllUnixSockets", all_sockets },
		{ "allowLocalBinding", local_binding },
		{ "allowLocalOutbound", local_outbound },
		{ "allowLocalOutboundPorts", local_ports },
		{ "httpProxyPort", machinery },
		{ "socksProxyPort", machinery },
		{ "allowMachLookup", machinery },
		{ NULL, NULL },
	};

	/* Its own list alone; a `*` in it says otherwise. */
	carry_setting(im, "network", "mode", path, "replace");
	carry_setting(im, "network", "default", path, "deny");
	members_read(im, path, value, table);
}

static bool has_rule(const struct import *im, const char *key, const char *value)
{
	for (size_t i = 0; i < im->n; i++)
		if (!im->list[i].dropped && strcmp(im->list[i].key, key) == 0 &&
		    strcmp(im->list[i].value, value) == 0)
			return true;
	return false;
}

void walls_missing(struct import *im, bool network)
{
	if (!network) {
		carry_setting(im, "network", "mode", "(no network)", "replace");
		carry_setting(im, "network", "default", "(no network)", "deny");
	}
	/* The preset lets the session's own servers be reached. */
	if (!has_rule(im, "allow", "localhost"))
		(void)carry_rule(im, "network", "deny", "(no allowLocalOutbound)", "localhost");
	if (!has_rule(im, "write", ".") && !has_rule(im, "write", "/")) {
		(void)carry_rule(im, "files", "readonly", "(not in allowWrite)", ".");
		carry_tell(im, TOLD_NOTE, "filesystem.allowWrite",
			   "`.` is not in it: the workspace is readonly");
	}
	carry_tell(im, TOLD_WEAKER, "(not in allowWrite)",
		   "the preset beneath lets its own places be written: /tmp, caches, the "
		   "agents' state "
		   "directories (pale policy show)");
}
