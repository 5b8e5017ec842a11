/*
 * fence (fence.json): files and hosts, lists of commands and of ssh hosts, and the file that it extends.
 */
#include <string.h>

#include "policy/base/path.h"
#include "policy/system/cleanup.h"

#include "import.h"

#define EXTENDS_MAX 10 /* as in fence */

/* templates.S: an object of fence's own templates. */
extern const char fence_templates[] __attribute__((visibility("hidden")));

static void command_rule(struct import *im, const struct member *m, const char *from, const char *text)
{
	const char *why;
	_cleanup_free_ char *words = words_of(text, WORDS_LITERAL, &why);

	if (words)
		(void)carry_rule(im, "commands", m->key, from, words);
	else
		carry_tell(im, TOLD_LOST, from, "`%s`: %s", text, why);
}

static void defaults(struct import *im, const char *path, const json_t *value)
{
	if (!flag_read(im, path, value))
		carry_tell(im, TOLD_STRICTER, path, "the preset's denylist stays");
}

static void ssh_host(struct import *im, const struct member *m, const char *from, const char *text)
{
	_cleanup_free_ char *host = format("%s:22", text);

	rule_read(im, m, from, host);
}

/* Commands that run on another machine cannot be judged here. */
static void ssh_commands(struct import *im, const char *path, const json_t *value)
{
	if (json_array_size(value) == 0 && !json_is_true(value))
		return;
	(void)carry_rule(im, "commands", "ask", path, "ssh");
	carry_tell(im, TOLD_LOST, path, "commands on other machines are not judged; each ssh is asked");
}

static const struct member command[] = {
	{ "deny", .each = command_rule, .key = "deny" },
	{ "allow", .each = command_rule, .key = "allow" },
	{ "useDefaults", .read = defaults },
	{ "runtimeExecPolicy", MACHINERY },
	{ "acceptSharedBinaryCannotRuntimeDeny", MACHINERY },
	{ .name = NULL },
};

static const struct member ssh[] = {
	{ "allowedHosts", .each = ssh_host, .section = "network", .key = "allow" },
	{ "deniedHosts", .each = rule_read, .section = "network", .key = "deny" },
	{ "allowedCommands", .read = ssh_commands },
	{ "deniedCommands", .read = ssh_commands },
	{ "inheritDeny", .read = ssh_commands },
	{ .name = "allowAllCommands" },
	{ .name = NULL },
};

static const struct member file_members[] = {
	{ "network", .read = walls_network },
	{ "filesystem", .members = walls_filesystem },
	{ "command", .members = command },
	{ "ssh", .members = ssh },
	{ "devices", MACHINERY },
	{ .name = "$schema" },
	{ .name = "extends" },
	{ .name = "allowPty" },
	{ .name = NULL },
};

static json_t *template_of(const char *name, char *why, size_t size)
{
	_cleanup_json_ json_t *all = json_loads(fence_templates, 0, NULL);

	(void)snprintf(why, size, "no template of that name is known here (fence config show)");
	return json_incref(json_object_get(all, name));
}

/*
 * Loads what `extends` names: the user's own file (@base), a file relative to the directory of `file`, or a
 * template.  *ret_file is the file's name (the caller must free it), NULL for a template.  NULL with the
 * reason.
 */
static json_t *base_load(const char *file, const char *name, char **ret_file, char *why, size_t size)
{
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");

	home = home ? home : "";
	if (strcmp(name, "@base") == 0) {
		_cleanup_free_ char *dir = config && config[0] == '/' ? format("%s/fence", config)
								      : format("%s/.config/fence", home);

		*ret_file = format("%s/fence.json", dir);
		if (access(*ret_file, F_OK) != 0) {
			free(*ret_file);
			*ret_file = format("%s/fence.jsonc", dir);
		}
		return object_load(*ret_file, why, size);
	}
	if (!strchr(name, '/') && !strstr(name, ".json"))
		return template_of(name, why, size);
	if (strncmp(name, "~/", 2) == 0)
		*ret_file = format("%s%s", home, name + 1);
	else
		*ret_file =
			format("%.*s%s", name[0] == '/' ? 0 : (int)(path_basename(file) - file), file, name);
	return object_load(*ret_file, why, size);
}

static bool read_level(struct import *im, const char *path, const char *file, const json_t *root,
		       unsigned deep);

/* Reads what `extends` at path names.  True if that has rules about the network. */
static bool read_base(struct import *im, const char *path, const char *file, const char *name, unsigned deep)
{
	_cleanup_free_ char *base = NULL, *at = format("%s(%s)", path, name);
	char why[256];
	_cleanup_json_ json_t *root = base_load(file, name, &base, why, sizeof(why));

	if (!root)
		carry_tell(im, TOLD_LOST, path, "`%s`: %s", name, why);
	else if (!base)
		carry_tell(im, TOLD_NOTE, path, "`%s` as fence had it in August 2026 (fence config show)",
			   name);
	return root && read_level(im, at, base ? base : file, root, deep + 1);
}

/* Reads one file or template: first what it extends, to whose lists its own are added.  True if any of them
 * has rules about the network. */
static bool read_level(struct import *im, const char *path, const char *file, const json_t *root,
		       unsigned deep)
{
	const json_t *extends = json_object_get(root, "extends");
	_cleanup_free_ char *at = format("%s%sextends", path, path[0] ? "." : "");
	bool network = json_object_get(root, "network") != NULL;

	if (extends && !json_is_string(extends))
		carry_tell(im, TOLD_LOST, at, "is no name: not understood");
	else if (extends && deep == EXTENDS_MAX)
		carry_tell(im, TOLD_LOST, at, "more than %d files, or they go in a circle", EXTENDS_MAX);
	else if (extends)
		network |= read_base(im, at, file, json_string_value(extends), deep);
	members_read(im, path, root, file_members);
	return network;
}

static bool has_rule(const struct import *im, const char *key, const char *value)
{
	for (size_t i = 0; i < im->n; i++)
		if (strcmp(im->list[i].key, key) == 0 && strcmp(im->list[i].value, value) == 0)
			return true;
	return false;
}

/* By default fence makes no file writable and no host reachable. */
void read_fence(struct import *im, const json_t *root)
{
	im->allow_beats_deny = true;
	if (!read_level(im, "", im->file, root, 0)) {
		carry_setting(im, "network", "mode", "(no network)", "replace");
		carry_setting(im, "network", "default", "(no network)", "deny");
	}
	/* The preset allows connections to the session's own servers. */
	if (!has_rule(im, "allow", "localhost"))
		(void)carry_rule(im, "network", "deny", "(no allowLocalOutbound)", "localhost");
	if (!has_rule(im, "write", ".") && !has_rule(im, "write", "/")) {
		(void)carry_rule(im, "files", "readonly", "(not in allowWrite)", ".");
		carry_tell(im, TOLD_NOTE, "filesystem.allowWrite",
			   "`.` is not in it: the workspace is readonly");
	}
	carry_tell(im, TOLD_WEAKER, "(not in allowWrite)",
		   "the preset beneath lets its own places be written: /tmp, caches, the agents' state "
		   "directories (pale policy show)");
	carry_setting(im, "commands", "default", "(what no rule names)", "allow");
}
