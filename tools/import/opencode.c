/*
 * opencode's opencode.json: `permission`, where the last pattern that matches holds.
 */
#include <string.h>

#include "import.h"

/* A tool's rules: one word for all, or patterns in their order. */
typedef void pattern_fn(struct import *im, const char *from, const char *pattern, const char *action);

static bool is_action(const char *s)
{
	return strcmp(s, "allow") == 0 || strcmp(s, "ask") == 0 || strcmp(s, "deny") == 0;
}

static void one_pattern(struct import *im, const char *from, const char *pattern, const json_t *value,
			pattern_fn *fn)
{
	const char *action = json_is_string(value) ? json_string_value(value) : "";

	if (is_action(action))
		fn(im, from, pattern, action);
	else
		carry_tell(im, TOLD_LOST, from, "is neither allow nor ask nor deny: not understood");
}

/* How a member's name stands behind the path of its object. */
static const char *const dotted[] = { ".", "" }, *const quoted[] = { "[\"", "\"]" };

static char *member_path(const char *path, const char *const around[2], const char *name)
{
	char *from;

	return asprintf(&from, "%s%s%s%s", path, around[0], name, around[1]) < 0 ? NULL : from;
}

typedef void visit_fn(struct import *im, const char *from, const char *name, const json_t *value);

static void members_each(struct import *im, const char *path, const json_t *object, visit_fn *visit)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value)
	{
		_cleanup_free_ char *from = member_path(path, dotted, name);

		if (from)
			visit(im, from, name, value);
	}
}

static void patterns_read(struct import *im, const char *path, const json_t *patterns, pattern_fn *fn)
{
	const char *pattern;
	json_t *value;

	if (!json_is_object(patterns)) {
		one_pattern(im, path, "*", patterns, fn);
		return;
	}
	json_object_foreach((json_t *)patterns, pattern, value)
	{
		_cleanup_free_ char *from = member_path(path, quoted, pattern);

		if (from)
			one_pattern(im, from, pattern, value, fn);
	}
}

static void bash(struct import *im, const char *from, const char *pattern, const char *action)
{
	_cleanup_free_ char *words = NULL, *exact = NULL;
	const char *why = NULL;

	if (strcmp(pattern, "*") == 0) {
		/* The last that matches holds, and this matches all. */
		for (size_t i = 0; i < im->n; i++)
			if (carry_opens(&im->list[i]) && strcmp(im->list[i].section, "commands") == 0) {
				carry_tell(im, TOLD_NOTE, im->list[i].from,
					   "left out: the later `*` holds there");
				im->list[i].dropped = true;
			}
		carry_setting(im, "commands", "default", from, action);
		return;
	}
	words = words_of(pattern, action[0] == 'a' && action[1] == 'l' ? WORDS_GLOB : WORDS_GLOB_ALL, &why);
	if (!words) {
		carry_tell(im, TOLD_LOST, from, "%s: %s", action, why ? why : "out of memory");
		return;
	}
	if (strcmp(action, "allow") == 0 && !strchr(pattern, '*') && asprintf(&exact, "%s $", words) < 0)
		exact = NULL;
	(void)carry_rule(im, "commands", action, from, exact ? exact : words);
}

static const char *const edits[] = { "write", "ask_write", "readonly" };
static const char *const reads[] = { "read", "ask", "deny" };

static const char *key_of(const char *const keys[3], const char *action)
{
	return action[0] == 'd' ? keys[2] : action[1] == 's' ? keys[1] : keys[0];
}

/* `$HOME/x` is written so there. */
static char *pattern_path(const char *pattern)
{
	_cleanup_free_ char *home = NULL;

	if (strncmp(pattern, "$HOME", 5) != 0)
		return path_of(pattern);
	return asprintf(&home, "~%s", pattern + 5) < 0 ? NULL : path_of(home);
}

static void path_rule(struct import *im, const char *key, const char *from, const char *pattern)
{
	_cleanup_free_ char *path = pattern_path(pattern), *below = NULL;

	/* Its star crosses slashes: `*.env` is one anywhere. */
	if (path && pattern[0] == '*' && pattern[1] != '*' && !strchr(pattern, '/') &&
	    asprintf(&below, "**/%s", path) < 0)
		below = NULL;
	if (path)
		(void)carry_rule(im, "files", key, from, below ? below : path);
}

static void edit(struct import *im, const char *from, const char *pattern, const char *action)
{
	if (strcmp(pattern, "*") != 0)
		path_rule(im, key_of(edits, action), from, pattern);
	else if (strcmp(action, "allow") != 0)
		(void)carry_rule(im, "files", key_of(edits, action), from, ".");
}

static void read_tool(struct import *im, const char *from, const char *pattern, const char *action)
{
	if (strcmp(pattern, "*") != 0)
		path_rule(im, key_of(reads, action), from, pattern);
	else if (strcmp(action, "allow") != 0)
		carry_tell(im, TOLD_LOST, from,
			   "%s of all reading: nothing would start; deny the places that matter", action);
}

static void outside(struct import *im, const char *from, const char *pattern, const char *action)
{
	static const char *const keys[] = { "write", "ask", "deny" };

	if (strcmp(pattern, "*") != 0) {
		path_rule(im, key_of(keys, action), from, pattern);
		return;
	}
	if (action[0] == 'd') {
		(void)carry_rule(im, "files", "deny", from, "~");
		carry_tell(im, TOLD_LOST, from,
			   "the home directory is closed; what programs are made of stays readable");
	} else if (strcmp(action, "ask") == 0) {
		carry_tell(im, TOLD_WEAKER, from,
			   "reading outside the workspace is free but for secrets; writing is "
			   "denied");
	} else {
		carry_tell(im, TOLD_STRICTER, from, "writing outside the workspace needs a place by name");
	}
}

static void fetch(struct import *im, const char *from, const char *pattern, const char *action)
{
	_cleanup_free_ char *host = strcmp(pattern, "*") == 0 ? NULL : host_of_url(pattern);

	if (host)
		(void)carry_rule(im, "network", action, from, host);
	else
		carry_tell(im, strcmp(action, "allow") == 0 ? TOLD_STRICTER : TOLD_LOST, from,
			   "%s: a tool of the agent; here hosts are named, whoever reaches for them", action);
}

static void own(struct import *im, const char *from, const char *pattern, const char *action)
{
	(void)pattern;
	if (strcmp(action, "allow") != 0)
		carry_tell(im, TOLD_LOST, from, "%s: a tool of the agent; keep the rule there", action);
}

static const struct {
	const char *tool;
	pattern_fn *fn;
} tools[] = {
	{ "bash", bash },      { "edit", edit },      { "write", edit },
	{ "patch", edit },     { "read", read_tool }, { "external_directory", outside },
	{ "webfetch", fetch },
};

static pattern_fn *tool_find(const char *name)
{
	for (size_t i = 0; i < NELEM(tools); i++)
		if (strcmp(tools[i].tool, name) == 0)
			return tools[i].fn;
	return own;
}

/* One word for every tool: those that come later say otherwise. */
static void for_all(struct import *im, const char *from, const json_t *value)
{
	one_pattern(im, from, "*", value, bash);
	one_pattern(im, from, "*", value, edit);
	one_pattern(im, from, "*", value, own);
}

static void of_tool(struct import *im, const char *from, const char *name, const json_t *rules)
{
	if (strcmp(name, "*") == 0)
		for_all(im, from, rules);
	else
		patterns_read(im, from, rules, tool_find(name));
}

static void on_permission(struct import *im, const char *path, const json_t *value)
{
	if (json_is_object(value))
		members_each(im, path, value, of_tool);
	else
		for_all(im, path, value);
}

static void switch_off(struct import *im, const char *from, const char *name, const json_t *on)
{
	if (json_is_false(on))
		tool_find(name)(im, from, "*", "deny");
}

/* `tools: { bash: false }`, of before there were permissions. */
static void on_tools(struct import *im, const char *path, const json_t *value)
{
	members_each(im, path, value, switch_off);
}

/* All agents of one opencode are one process, and held alike: by the rules for all of them. */
static void of_agent(struct import *im, const char *from, const char *pattern, const char *action)
{
	(void)pattern;
	if (strcmp(action, "allow") == 0)
		carry_tell(im, TOLD_STRICTER, from,
			   "allow: what is asked or denied of all agents is so of this one");
	else
		carry_tell(im, TOLD_LOST, from,
			   "%s: for this agent alone, in the process of all: keep it there", action);
}

static void of_agents_tool(struct import *im, const char *from, const char *name, const json_t *rules)
{
	(void)name;
	patterns_read(im, from, rules, of_agent);
}

static void on_agent_permission(struct import *im, const char *path, const json_t *value)
{
	if (json_is_object(value))
		members_each(im, path, value, of_agents_tool);
	else
		one_pattern(im, path, "*", value, of_agent);
}

static void on_agent_tools(struct import *im, const char *path, const json_t *value)
{
	const char *name;
	json_t *on;

	json_object_foreach((json_t *)value, name, on) if (json_is_false(on))
		of_agent(im, path, name, "deny");
}

static void on_agent(struct import *im, const char *path, const json_t *agent)
{
	static const struct {
		const char *name;
		member_fn *fn;
	} members[] = { { "permission", on_agent_permission }, { "tools", on_agent_tools } };

	for (size_t i = 0; i < NELEM(members); i++) {
		const json_t *value = json_object_get(agent, members[i].name);
		_cleanup_free_ char *from = NULL;

		if (value && asprintf(&from, "%s.%s", path, members[i].name) < 0)
			from = NULL;
		if (from)
			members[i].fn(im, from, value);
	}
}

static void one_agent(struct import *im, const char *from, const char *name, const json_t *agent)
{
	(void)name;
	if (!json_is_true(json_object_get(agent, "disable")))
		on_agent(im, from, agent);
}

static void on_agents(struct import *im, const char *path, const json_t *value)
{
	members_each(im, path, value, one_agent);
}

void read_opencode(struct import *im, const json_t *root)
{
	static const struct {
		const char *name;
		member_fn *fn;
	} mine[] = {
		{ "tools", on_tools },
		{ "permission", on_permission },
		{ "agent", on_agents },
		{ "mode", on_agents },
	};

	im->commands = im->files = im->hosts = ORDER_LAST;
	carry_setting(im, "commands", "default", "(what no rule names is allowed)", "allow");
	for (size_t i = 0; i < NELEM(mine); i++)
		if (json_object_get(root, mine[i].name))
			mine[i].fn(im, mine[i].name, json_object_get(root, mine[i].name));
}
