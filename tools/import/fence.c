/*
 * fence (fence.json): walls, and a list of commands and of ssh hosts.
 */
#include <string.h>

#include "fence.h"

#define EXTENDS_MAX 10 /* as in fence */

static void nothing(struct import *im, const char *path, const json_t *value)
{
	(void)value;
	carry_tell(im, TOLD_NOTE, path, "is about how that program does its work");
}

static void command_rule(struct import *im, const char *key, const char *from, const char *text)
{
	const char *why;
	_cleanup_free_ char *words = words_of(text, WORDS_LITERAL, &why);

	if (words)
		(void)carry_rule(im, "commands", key, from, words);
	else
		carry_tell(im, TOLD_LOST, from, "`%s`: %s", text, why ? why : "out of memory");
}

static void on_deny(struct import *im, const char *from, const char *text)
{
	command_rule(im, "deny", from, text);
}

static void on_allow(struct import *im, const char *from, const char *text)
{
	command_rule(im, "allow", from, text);
}

static void deny(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_deny);
}

static void allow(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_allow);
}

static void defaults(struct import *im, const char *path, const json_t *value)
{
	if (!flag_read(im, path, value))
		carry_tell(im, TOLD_STRICTER, path, "the preset's denylist stays");
}

static void command(struct import *im, const char *path, const json_t *value)
{
	static const struct member table[] = {
		{ "deny", deny },
		{ "allow", allow },
		{ "useDefaults", defaults },
		{ "runtimeExecPolicy", nothing },
		{ "acceptSharedBinaryCannotRuntimeDeny", nothing },
		{ NULL, NULL },
	};

	members_read(im, path, value, table);
}

static void on_ssh_deny(struct import *im, const char *from, const char *text)
{
	(void)carry_rule(im, "network", "deny", from, text);
}

static void on_ssh_allow(struct import *im, const char *from, const char *text)
{
	_cleanup_free_ char *host = NULL;

	if (asprintf(&host, "%s:22", text) < 0)
		host = NULL;
	else
		(void)carry_rule(im, "network", "allow", from, host);
}

static void ssh_allowed(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_ssh_allow);
}

static void ssh_denied(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, on_ssh_deny);
}

/* What runs on another machine cannot be judged here. */
static void ssh_commands(struct import *im, const char *path, const json_t *value)
{
	if (json_is_false(value))
		return;
	if (json_array_size(value) == 0 && !json_is_true(value))
		return;
	(void)carry_rule(im, "commands", "ask", path, "ssh");
	carry_tell(im, TOLD_LOST, path, "commands on other machines are not judged; each ssh is asked");
}

static void ssh(struct import *im, const char *path, const json_t *value)
{
	static const struct member table[] = {
		{ "allowedHosts", ssh_allowed },
		{ "deniedHosts", ssh_denied },
		{ "allowedCommands", ssh_commands },
		{ "deniedCommands", ssh_commands },
		{ "allowAllCommands", NULL },
		{ "inheritDeny", ssh_commands },
		{ NULL, NULL },
	};

	members_read(im, path, value, table);
}

/*
 * One file or template: what it extends holds first, its lists are added to that one's.  Whether any of them
 * speaks of the network.
 */
static bool read_level(struct import *im, const char *path, const char *file, const json_t *root,
		       unsigned deep)
{
	static const struct member table[] = {
		{ "$schema", NULL },
		{ "network", walls_network },
		{ "filesystem", walls_filesystem },
		{ "command", command },
		{ "ssh", ssh },
		{ "extends", NULL },
		{ "devices", nothing },
		{ "allowPty", NULL },
		{ NULL, NULL },
	};
	bool network = json_object_get(root, "network") != NULL;
	const json_t *extends = json_object_get(root, "extends");
	_cleanup_free_ char *at = NULL;
	struct fence_base base;

	if (asprintf(&at, "%s%sextends", path, path[0] ? "." : "") < 0) {
		at = NULL;
		return network;
	}
	if (extends && deep == EXTENDS_MAX)
		carry_tell(im, TOLD_LOST, at, "more than %d files, or they go in a circle", EXTENDS_MAX);
	else if (extends) {
		if (fence_base_read(im, file, at, extends, &base))
			network |=
				read_level(im, base.path, base.file ? base.file : file, base.root, deep + 1);
		fence_base_done(&base);
	}
	members_read(im, path, root, table);
	return network;
}

void read_fence(struct import *im, const json_t *root)
{
	im->allow_beats_deny = true;
	walls_missing(im, read_level(im, "", im->file, root, 0));
	carry_setting(im, "commands", "default", "(what no rule names)", "allow");
}
