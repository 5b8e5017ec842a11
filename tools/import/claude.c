/*
 * Claude Code's settings.json: permissions (deny beats ask beats allow) and its sandbox.
 *
 * Its rules are about tools.  Those that run commands, touch files or fetch become rules of ours; what only
 * the agent itself can hold (MCP servers, sub-agents, searches) is told and stays there.
 */
#include <string.h>

#include "import.h"

enum claude_verdict { CLAUDE_ALLOW, CLAUDE_ASK, CLAUDE_DENY };
static const char *const verdicts[] = { "allow", "ask", "deny" };

struct claude_rule {
	enum claude_verdict verdict;
	const char *from, *text; /* as written */
	const char *spec;	 /* between the parentheses, or NULL */
};

static void lost(struct import *im, const struct claude_rule *r, const char *why)
{
	carry_tell(im, TOLD_LOST, r->from, "%s `%s`: %s", verdicts[r->verdict], r->text, why);
}

/* --- commands --- */

static void on_bash(struct import *im, const struct claude_rule *r)
{
	_cleanup_free_ char *spec = NULL, *words = NULL, *exact = NULL;
	const char *why = NULL;
	size_t n;

	if (!r->spec || strcmp(r->spec, "*") == 0 || strcmp(r->spec, ":*") == 0) {
		carry_setting(im, "commands", "default", r->from, verdicts[r->verdict]);
		return;
	}
	spec = strdup(r->spec);
	n = strlen(r->spec);
	if (!spec)
		return;
	/* `git push:*` is whatever begins so; without a star it is these words and no more. */
	if (n > 2 && strcmp(spec + n - 2, ":*") == 0)
		spec[n - 2] = '\0';
	words = words_of(spec, r->verdict == CLAUDE_ALLOW ? WORDS_GLOB : WORDS_GLOB_ALL, &why);
	if (!words) {
		lost(im, r, why ? why : "out of memory");
		return;
	}
	if (r->verdict == CLAUDE_ALLOW && !strchr(r->spec, '*') && asprintf(&exact, "%s $", words) < 0)
		exact = NULL;
	(void)carry_rule(im, "commands", verdicts[r->verdict], r->from, exact ? exact : words);
}

/* --- files --- */

/* `//x` is absolute, `/x` the project's; a name without a slash is one anywhere below. */
static char *claude_path(const struct claude_rule *r)
{
	const char *spec = r->spec;
	_cleanup_free_ char *path = NULL;
	char *below;

	if (strncmp(spec, "//", 2) == 0)
		return path_of(spec + 1);
	path = path_of(spec[0] == '/' ? spec + 1 : spec);
	if (!path || r->verdict == CLAUDE_ALLOW || strchr(spec, '/') || spec[0] == '~' ||
	    strcmp(path, ".") == 0)
		return TAKE_PTR(path);
	return asprintf(&below, "**/%s", path) < 0 ? NULL : below;
}

static void file_rule(struct import *im, const struct claude_rule *r, const char *key)
{
	_cleanup_free_ char *path = claude_path(r);

	if (path)
		(void)carry_rule(im, "files", key, r->from, path);
	else
		lost(im, r, "out of memory");
}

static void on_read(struct import *im, const struct claude_rule *r)
{
	static const char *const keys[] = { "read", "ask", "deny" };

	if (r->spec)
		file_rule(im, r, keys[r->verdict]);
	else if (r->verdict == CLAUDE_ALLOW)
		carry_tell(im, TOLD_NOTE, r->from, "reading is free but for secrets and what is denied");
	else
		lost(im, r, "nothing would start that may read nothing; deny the places that matter");
}

static void on_edit(struct import *im, const struct claude_rule *r)
{
	static const char *const keys[] = { "write", "ask_write", "readonly" };

	if (r->spec)
		file_rule(im, r, keys[r->verdict]);
	else if (r->verdict != CLAUDE_ALLOW)
		(void)carry_rule(im, "files", keys[r->verdict], r->from, ".");
}

/* --- hosts and the rest --- */

static void on_fetch(struct import *im, const struct claude_rule *r)
{
	if (r->spec && strncmp(r->spec, "domain:", 7) == 0)
		(void)carry_rule(im, "network", verdicts[r->verdict], r->from, r->spec + 7);
	else if (r->verdict == CLAUDE_ALLOW)
		lost(im, r, "every host; here hosts are named, or write [network] mode = open");
	else
		lost(im, r, "a tool of the agent; keep the rule there: here hosts are named");
}

static void on_own(struct import *im, const struct claude_rule *r)
{
	lost(im, r, "a tool of the agent; keep the rule there");
}

static const struct {
	const char *tool;
	void (*fn)(struct import *im, const struct claude_rule *r);
} tools[] = {
	{ "Bash", on_bash },	  { "Read", on_read },	       { "Glob", on_read },	 { "Grep", on_read },
	{ "LS", on_read },	  { "NotebookRead", on_read }, { "Edit", on_edit },	 { "Write", on_edit },
	{ "MultiEdit", on_edit }, { "NotebookEdit", on_edit }, { "WebFetch", on_fetch },
};

static void one_rule(struct import *im, enum claude_verdict verdict, const char *from, const char *text)
{
	size_t name = strcspn(text, "("), n = strlen(text);
	struct claude_rule r = { .verdict = verdict, .from = from, .text = text };
	_cleanup_free_ char *spec = NULL;

	if (text[name] == '(' && (n < name + 3 || text[n - 1] != ')')) {
		lost(im, &r, "not understood");
		return;
	}
	if (text[name] == '(') {
		spec = strndup(text + name + 1, n - name - 2);
		if (!spec)
			return;
		r.spec = spec;
	}
	for (size_t i = 0; i < NELEM(tools); i++)
		if (strlen(tools[i].tool) == name && strncmp(tools[i].tool, text, name) == 0) {
			tools[i].fn(im, &r);
			return;
		}
	on_own(im, &r);
}

static void one_allow(struct import *im, const char *from, const char *text)
{
	one_rule(im, CLAUDE_ALLOW, from, text);
}

static void one_ask(struct import *im, const char *from, const char *text)
{
	one_rule(im, CLAUDE_ASK, from, text);
}

static void one_deny(struct import *im, const char *from, const char *text)
{
	one_rule(im, CLAUDE_DENY, from, text);
}

static void on_allow(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, one_allow);
}

static void on_ask(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, one_ask);
}

static void on_deny(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, one_deny);
}

static void one_directory(struct import *im, const char *from, const char *text)
{
	_cleanup_free_ char *path = path_of(text);

	if (path)
		(void)carry_rule(im, "files", "write", from, path);
}

static void on_directories(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, one_directory);
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

static void keep_there(struct import *im, const char *path, const json_t *value)
{
	(void)value;
	carry_tell(im, TOLD_NOTE, path, "is about the agent itself; keep it there");
}

static void on_permissions(struct import *im, const char *path, const json_t *value)
{
	static const struct member table[] = {
		{ "allow", on_allow },
		{ "ask", on_ask },
		{ "deny", on_deny },
		{ "additionalDirectories", on_directories },
		{ "defaultMode", on_mode },
		{ "disableBypassPermissionsMode", keep_there },
		{ "disableAutoMode", keep_there },
		{ NULL, NULL },
	};

	members_read(im, path, value, table);
}

static void one_excluded(struct import *im, const char *from, const char *text)
{
	carry_tell(im, TOLD_STRICTER, from, "`%s` ran outside the sandbox; here it is fenced as all else",
		   text);
}

static void on_excluded(struct import *im, const char *path, const json_t *value)
{
	strings_read(im, path, value, one_excluded);
}

static void on_sandbox(struct import *im, const char *path, const json_t *value)
{
	static const struct member table[] = {
		{ "enabled", NULL },
		{ "network", walls_network },
		{ "filesystem", walls_filesystem },
		{ "excludedCommands", on_excluded },
		{ "autoAllowBashIfSandboxed", NULL },
		{ "allowUnsandboxedCommands", NULL },
		{ "failIfUnavailable", NULL },
		{ "ignoreViolations", keep_there },
		{ "enableWeakerNestedSandbox", keep_there },
		{ "ripgrep", keep_there },
		{ NULL, NULL },
	};
	const json_t *enabled = json_object_get(value, "enabled");

	members_read(im, path, value, table);
	if (json_is_true(enabled) && !json_is_false(json_object_get(value, "autoAllowBashIfSandboxed")))
		carry_setting(im, "commands", "default", path, "allow");
}

/* Its sandbox holds commands; here the agent is inside too, and is nothing without its model. */
static void own_hosts(struct import *im, const json_t *root)
{
	static const char *const hosts[] = { "*.anthropic.com:443", "claude.ai:443", "*.claude.com:443" };

	if (!json_object_get(json_object_get(root, "sandbox"), "network"))
		return;
	for (size_t i = 0; i < NELEM(hosts); i++)
		(void)carry_rule(im, "network", "allow", "(the agent's own model)", hosts[i]);
	carry_setting(im, "network", "default", "sandbox.network", "ask");
	carry_tell(im, TOLD_WEAKER, "sandbox.network",
		   "the agent is inside the fence too, so its model's hosts and servers on "
		   "localhost "
		   "may be reached");
}

/* Of its many settings those that say what may be done; the names of the others are told in one line. */
void read_claude(struct import *im, const json_t *root)
{
	static const struct member mine[] = {
		{ "permissions", on_permissions },
		{ "sandbox", on_sandbox },
		{ "additionalDirectories", on_directories },
	};
	_cleanup_free_ char *others = NULL;
	const char *name;
	json_t *value;

	carry_setting(im, "commands", "default", "(what no rule names is asked)", "ask");
	for (size_t i = 0; i < NELEM(mine); i++)
		if (json_object_get(root, mine[i].name))
			mine[i].fn(im, mine[i].name, json_object_get(root, mine[i].name));
	own_hosts(im, root);
	json_object_foreach((json_t *)root, name, value)
	{
		char *grown;
		bool known = name[0] == '$';

		for (size_t i = 0; i < NELEM(mine); i++)
			known = known || strcmp(mine[i].name, name) == 0;
		if (known || asprintf(&grown, "%s%s%s", others ? others : "", others ? ", " : "", name) < 0)
			continue;
		free(others);
		others = grown;
	}
	if (others)
		carry_tell(im, TOLD_NOTE, "the file", "not about permissions, not looked at: %s", others);
}
