/*
 * Claude Code's settings.json: permissions (deny beats ask beats allow) and its sandbox.
 *
 * Its rules are about tools.  Rules for tools that run commands or use files become rules about commands and
 * files, rules that name a tool alone become rules of [tools]; rules for some uses of any other tool are
 * reported and stay in the source.
 */
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "import.h"

struct claude_rule {
	const char *verdict, *from, *text; /* as written */
	const char *spec;		   /* between the parentheses, or NULL */
	const char *key;		   /* pale's key for rules about files */
	bool allows;
};

static void lost(struct import *im, const struct claude_rule *r, const char *why)
{
	carry_tell(im, TOLD_LOST, r->from, "%s `%s`: %s", r->verdict, r->text, why);
}

static void on_bash(struct import *im, const struct claude_rule *r)
{
	_cleanup_free_ char *spec = NULL, *words = NULL, *rule = NULL;
	const char *why;
	size_t n;

	if (!r->spec || strcmp(r->spec, "*") == 0 || strcmp(r->spec, ":*") == 0) {
		carry_setting(im, "commands", "default", r->from, r->verdict);
		return;
	}
	/* `git push:*` is any command that begins so; without a star it is exactly these words. */
	n = strlen(r->spec);
	n -= n > 2 && strcmp(r->spec + n - 2, ":*") == 0 ? 2 : 0;
	spec = format("%.*s", (int)n, r->spec);
	words = words_of(spec, r->allows ? WORDS_GLOB : WORDS_GLOB_ALL, &why);
	if (!words) {
		lost(im, r, why);
		return;
	}
	rule = format("%s%s", words, r->allows && !strchr(r->spec, '*') ? " $" : "");
	(void)carry_rule(im, "commands", r->verdict, r->from, rule);
}

static void on_files(struct import *im, const struct claude_rule *r)
{
	const char *spec = r->spec ? r->spec : ".";
	_cleanup_free_ char *path = NULL, *rule = NULL;
	bool anywhere;

	if (!r->spec && strcmp(r->key, "read") == 0)
		carry_tell(im, TOLD_NOTE, r->from, "reading is free but for secrets and what is denied");
	else if (!r->spec && (strcmp(r->key, "ask") == 0 || strcmp(r->key, "deny") == 0))
		lost(im, r, "no program could start if nothing may be read; deny the places that matter");
	if (!r->spec && strcmp(r->key, "readonly") != 0 && strcmp(r->key, "ask_write") != 0)
		return;
	/* `//x` is absolute, `/x` is relative to the project; a name without a slash is a file anywhere
	 * below it. */
	anywhere = !r->allows && !strchr(spec, '/') && spec[0] != '~';
	path = path_of(spec + (spec[0] == '/'));
	rule = format("%s%s", anywhere && strcmp(path, ".") != 0 ? "**/" : "", path);
	(void)carry_rule(im, "files", r->key, r->from, rule);
}

/* `mcp__github` is each tool of that server. */
static void on_tool(struct import *im, const struct claude_rule *r)
{
	bool is_server = strncmp(r->text, "mcp__", 5) == 0 && !strstr(r->text + 5, "__");
	_cleanup_free_ char *rule = format("%s%s", r->text, is_server && !strchr(r->text, '*') ? "__*" : "");

	if (r->spec)
		lost(im, r, "some uses of a tool of the agent; keep the rule there");
	else if (rule[strcspn(rule, "*")] && rule[strcspn(rule, "*") + 1])
		lost(im, r, "a `*` inside of a name; name the tools");
	else
		(void)carry_rule(im, "tools", r->verdict, r->from, rule);
}

static void on_fetch(struct import *im, const struct claude_rule *r)
{
	if (r->spec && strncmp(r->spec, "domain:", 7) == 0)
		(void)carry_rule(im, "network", r->verdict, r->from, r->spec + 7);
	else
		on_tool(im, r);
	if (!r->spec && r->allows)
		carry_tell(im, TOLD_STRICTER, r->from,
			   "`%s`: its hosts are judged too; name them, or write [network] mode = open",
			   r->text);
}

/* Tools with keys are about files: the keys for allow, ask and deny. */
static const struct tool {
	const char *name;
	void (*fn)(struct import *im, const struct claude_rule *r);
	const char *allow, *ask, *deny;
} tools[] = {
	{ "Bash", on_bash, NULL, NULL, NULL },
	{ "WebFetch", on_fetch, NULL, NULL, NULL },
	{ "Read", on_files, "read", "ask", "deny" },
	{ "Glob", on_files, "read", "ask", "deny" },
	{ "Grep", on_files, "read", "ask", "deny" },
	{ "LS", on_files, "read", "ask", "deny" },
	{ "NotebookRead", on_files, "read", "ask", "deny" },
	{ "Edit", on_files, "write", "ask_write", "readonly" },
	{ "Write", on_files, "write", "ask_write", "readonly" },
	{ "MultiEdit", on_files, "write", "ask_write", "readonly" },
	{ "NotebookEdit", on_files, "write", "ask_write", "readonly" },
};

static void one_rule(struct import *im, const struct member *m, const char *from, const char *text)
{
	size_t name = strcspn(text, "("), n = strlen(text);
	struct claude_rule r = {
		.verdict = m->key, .from = from, .text = text, .allows = strcmp(m->key, "allow") == 0
	};
	_cleanup_free_ char *spec = NULL;

	if (text[name] == '(' && (n < name + 3 || text[n - 1] != ')')) {
		lost(im, &r, "not understood");
		return;
	}
	if (text[name] == '(')
		spec = format("%.*s", (int)(n - name - 2), text + name + 1);
	r.spec = spec;
	for (size_t i = 0; i < NELEM(tools); i++)
		if (strlen(tools[i].name) == name && strncmp(tools[i].name, text, name) == 0) {
			r.key = r.allows		     ? tools[i].allow
				: strcmp(m->key, "ask") == 0 ? tools[i].ask
							     : tools[i].deny;
			tools[i].fn(im, &r);
			return;
		}
	on_tool(im, &r);
}

static void on_mode(struct import *im, const char *path, const json_t *value)
{
	const char *mode = json_is_string(value) ? json_string_value(value) : "?";

	if (strcmp(mode, "plan") == 0)
		carry_setting(im, "session", "mode", path, "read-only");
	else if (strcmp(mode, "dontAsk") == 0)
		carry_setting(im, "session", "approvals", path, "never");
	else if (strcmp(mode, "bypassPermissions") == 0)
		carry_tell(im, TOLD_STRICTER, path, "commands that no rule names are asked all the same");
	else if (strcmp(mode, "default") == 0)
		carry_tell(im, TOLD_WEAKER, path,
			   "it asks before each edit; for that write [files] ask_write = .");
	else if (strcmp(mode, "acceptEdits") != 0)
		carry_tell(im, TOLD_LOST, path, "`%s` is not understood", mode);
}

#define KEEP_THERE .kind = TOLD_NOTE, .said = "is about the agent itself; keep it there"

static const struct member permissions[] = {
	{ "allow", .each = one_rule, .key = "allow" },
	{ "ask", .each = one_rule, .key = "ask" },
	{ "deny", .each = one_rule, .key = "deny" },
	{ "additionalDirectories", .each = rule_read, .section = "files", .key = "write" },
	{ "defaultMode", .read = on_mode },
	{ "disableBypassPermissionsMode", KEEP_THERE },
	{ "disableAutoMode", KEEP_THERE },
	{ .name = NULL },
};

/* Its sandbox holds only commands; pale holds the agent too, which needs to reach its model. */
static void sandbox_network(struct import *im, const char *path, const json_t *value)
{
	static const char *const hosts[] = { "*.anthropic.com:443", "claude.ai:443", "*.claude.com:443" };

	walls_network(im, path, value);
	for (size_t i = 0; i < NELEM(hosts); i++)
		(void)carry_rule(im, "network", "allow", "(the agent's own model)", hosts[i]);
	carry_setting(im, "network", "default", path, "ask");
	carry_tell(im, TOLD_WEAKER, path,
		   "the agent is inside the fence too, so its model's hosts and servers on localhost may be "
		   "reached");
}

static void one_excluded(struct import *im, const struct member *m, const char *from, const char *text)
{
	(void)m;
	carry_tell(im, TOLD_STRICTER, from, "`%s` ran outside the sandbox; here it is fenced as all else",
		   text);
}

static void on_sandbox(struct import *im, const char *path, const json_t *value)
{
	static const struct member table[] = {
		{ "network", .read = sandbox_network },
		{ "filesystem", .members = walls_filesystem },
		{ "excludedCommands", .each = one_excluded },
		{ .name = "enabled" },
		{ .name = "autoAllowBashIfSandboxed" },
		{ .name = "allowUnsandboxedCommands" },
		{ .name = "failIfUnavailable" },
		{ "ignoreViolations", KEEP_THERE },
		{ "enableWeakerNestedSandbox", KEEP_THERE },
		{ "ripgrep", KEEP_THERE },
		{ .name = NULL },
	};

	members_read(im, path, value, table);
	if (json_is_true(json_object_get(value, "enabled")) &&
	    !json_is_false(json_object_get(value, "autoAllowBashIfSandboxed")))
		carry_setting(im, "commands", "default", path, "allow");
}

/* Reads the settings about permissions; the names of all others are reported in one line. */
void read_claude(struct import *im, const json_t *root)
{
	static const struct member mine[] = {
		{ "permissions", .members = permissions },
		{ "sandbox", .read = on_sandbox },
		{ "additionalDirectories", .each = rule_read, .section = "files", .key = "write" },
		{ .name = "$schema" },
		{ .name = NULL },
	};
	_cleanup_json_ json_t *rest = json_copy((json_t *)root), *own = json_object();
	_cleanup_free_ char *others = format("%s", "");
	const char *name;
	json_t *value;

	carry_setting(im, "commands", "default", "(what no rule names is asked)", "ask");
	for (const struct member *m = mine; m->name; m++) {
		(void)json_object_set(own, m->name, json_object_get(root, m->name));
		(void)json_object_del(rest, m->name);
	}
	members_read(im, "", own, mine);
	for (size_t i = 0; i < im->n; i++)
		if (strcmp(im->list[i].section, "tools") == 0 && carry_opens(&im->list[i])) {
			carry_tell(im, TOLD_WEAKER, "permissions",
				   "tools that no rule names are allowed; `ask = *` in [tools] asks");
			break;
		}
	json_object_foreach(rest, name, value)
	{
		_cleanup_free_ char *before = others;

		others = format("%s%s%s", before, before[0] ? ", " : "", name);
	}
	if (others[0])
		carry_tell(im, TOLD_NOTE, "the file", "not about permissions, not looked at: %s", others);
}
