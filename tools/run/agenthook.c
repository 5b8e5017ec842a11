/*
 * The hooks by which agents ask before they use one of their own tools.  They are installed for the session
 * where its policy has rules about tools.
 *
 * A hook comes from words of the command line or from a file of the installation, and so stands above every
 * file that the agent may write: what these files say does not switch it off.
 */
#include "agenthook.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/judge/eval.h"
#include "policy/presets/agents.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/git/gitbranch.h"
#include "tools/question/question.h"

#include "agentname.h"
#include "run_impl.h"

#define HOOK_WORDS 5

/* Exit status 2 denies for every agent, also where pale was killed or could not be executed. */
#define OR_ELSE	   " || { echo 'pale: no answer, so the tool is not used' >&2; exit 2; }"
#define ASK(agent) "'%s' tool hook " agent OR_ELSE

/* `%s` is the path of pale.  A question waits for a day at most, and the hook for longer. */
static const struct hook {
	const char *agent;
	const char *words[HOOK_WORDS];
	const char *variable, *value, *file; /* `%s` in value: the path of file */
	const char *against, *about; /* options that would switch it off; a part of such a setting's name */
} hooks[] = {
	/* Its own settings could set these variables: two start it without hooks, the others run something
	 * else in place of the hook. */
	{ .agent = "claude",
	  .words = { "--settings",
		     "{\"disableAllHooks\": false, \"env\": {\"CLAUDE_CODE_SIMPLE\": \"0\", "
		     "\"CLAUDE_CODE_SAFE_MODE\": \"0\", \"CLAUDE_CODE_SHELL_PREFIX\": \"\", "
		     "\"LD_PRELOAD\": \"\", \"LD_AUDIT\": \"\", \"LD_LIBRARY_PATH\": \"\"}, \"hooks\": "
		     "{\"PreToolUse\": [{\"matcher\": "
		     "\"*\", "
		     "\"hooks\": [{\"type\": \"command\", \"timeout\": 90000, \"command\": \"" ASK(
			     "claude") "\"}]}]}}" },
	  .against = "--settings --managed-settings --bare --safe-mode" },
	/* codex runs a hook of the command line only together with all hooks that were not reviewed. */
	{ .agent = "codex",
	  .words = { "--dangerously-bypass-hook-trust", "-c", "features.hooks=true", "-c",
		     "hooks={PreToolUse=[{matcher=\"*\",hooks=[{type=\"command\",timeout=90000,command="
		     "\"" ASK("codex") "\"}]}],state={\"/<session-flags>/"
				       "config.toml:pre_tool_use:0:0\"={enabled="
				       "true}}}" },
	  .against = "",
	  .about = "hooks" },
	{ .agent = "opencode",
	  .variable = "OPENCODE_CONFIG_CONTENT",
	  .value = "{\"plugin\": [\"file://%s\"]}",
	  .file = "tool-opencode.js",
	  .against = "--pure" },
};

/* Agents whose hooks are not used, since what the agent may write could leave them out. */
static const struct {
	const char *agent, *why;
} unsafe[] = {
	{ "gemini", "its own settings can switch off any hook by its name" },
	{ "qwen", "it leaves out a hook of pale's where its own settings have some" },
};

static const struct hook *find_hook(const char *agent)
{
	for (size_t i = 0; agent && i < NELEM(hooks); i++)
		if (strcmp(hooks[i].agent, agent) == 0)
			return &hooks[i];
	return NULL;
}

const char *agenthook_lacks(const char *agent)
{
	if (!agent || !*agent || find_hook(agent))
		return NULL;
	for (size_t i = 0; i < NELEM(unsafe); i++)
		if (strcmp(unsafe[i].agent, agent) == 0)
			return unsafe[i].why;
	return agent_find(agent) ? "pale knows no hook of it" : "it is no agent that pale knows";
}

/* The word is one of the options in list, also with `=` and a value. */
static bool is_option(const char *word, const char *list)
{
	size_t n = strcspn(word, "=");

	for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
		if (strcspn(at, " ") == n && strncmp(at, word, n) == 0)
			return true;
	return false;
}

/* The first word that would switch the hook off, or NULL. */
static const char *word_against(const struct hook *k, char *const *argv)
{
	for (size_t i = 0; argv[i]; i++) {
		bool is_value = i > 0 && is_option(argv[i - 1], "-c --config --enable --disable");

		if (is_option(argv[i], k->against) ||
		    (k->about && (is_value || argv[i][0] == '-') && strstr(argv[i], k->about)))
			return argv[i];
	}
	return NULL;
}

/* The text with value in the place of `%s`; or NULL. */
static char *put(const char *text, const char *value)
{
	const char *at = strstr(text, "%s");
	char *out;

	if (!at)
		return strdup(text);
	return asprintf(&out, "%.*s%s%s", (int)(at - text), text, value, at + 2) < 0 ? NULL : out;
}

/* Puts the hook's words into the command at that place. */
static int add_words(struct run *r, const struct hook *k, size_t at)
{
	size_t n = 0;
	char **argv;

	while (n < HOOK_WORDS && k->words[n])
		n++;
	argv = calloc(r->argc + n + 1, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	memcpy(argv, r->argv, at * sizeof(*argv));
	memcpy(argv + at + n, r->argv + at, (r->argc - at) * sizeof(*argv));
	for (size_t i = 0; i < n; i++) {
		argv[at + i] = put(k->words[i], r->installed.self);
		if (!argv[at + i])
			return -ENOMEM; // NOLINT(clang-analyzer-unix.Malloc): the run ends
	}
	/* Both live as long as the run. */
	r->argv = argv;
	r->argc += n;
	return 0;
}

static int add_file(struct run *r, const struct hook *k)
{
	_cleanup_free_ char *value = NULL;
	char path[PATH_MAX];
	int e = installed_beside(&r->installed, k->file, path);

	if (e < 0) {
		talk("%s is missing beside %s: %s would use its tools without being asked", k->file,
		     r->installed.preload, k->agent);
		return e;
	}
	value = put(k->value, path);
	e = value ? environment_set(&r->environment, k->variable, value, "the hook of [tools]") : -ENOMEM;
	return e < 0 ? e : environment_set(&r->environment, "PALE_TOOL_HOOK", r->installed.self, "the same");
}

/* The policy has a rule about tools.  A nested run has an image already, with the session's rules too. */
static bool has_rules(const struct run *r)
{
	const struct policy *p = &r->policy;

	if (r->launch.nested)
		return image_has_tools(&r->launch.image);
	for (size_t i = 0; i < p->n_rules; i++)
		if (rule_is_tool(p->rules[i].kind))
			return true;
	return false;
}

static const struct hook *wanted_hook(const struct run *r)
{
	const struct hook *k = find_hook(r->bundle.agent);

	return k && has_rules(r) && r->fence.level > LEVEL_HOOKS ? k : NULL;
}

static int refuse(const struct hook *k, const char *why, const char *what)
{
	talk("%s%s%s: %s cannot be started like this, because the policy has rules about tools", what,
	     *what ? ": " : "", why, k->agent);
	return EXIT_PALE;
}

int agenthook_install(struct run *r)
{
	const struct hook *k = wanted_hook(r);
	const char *against;
	size_t at;
	int e;

	if (!k)
		return 0;
	at = agent_words_at(r->argv, r->o->workspace);
	against = word_against(k, r->argv + (at ? at : 1));
	if (against)
		return refuse(k, "switches hooks off or sets its own", against);
	if (strpbrk(r->installed.self, "'\"\\%"))
		return refuse(
			k, "the path has a quote, a backslash or a percent sign, which a hook cannot carry",
			r->installed.self);
	/* In a nested run it is that of the session around, or what the session put there: it is replaced. */
	if (k->variable && !r->launch.nested && environment_get(&r->environment, k->variable))
		return refuse(k, "the variable is set already", k->variable);
	if (k->words[0] && !at)
		return refuse(k,
			      "the command does not start it by its own name, where the hook could be added",
			      r->argv[0]);
	e = k->words[0] ? add_words(r, k, at) : add_file(r, k);
	return e < 0 ? EXIT_PALE : 0;
}

static bool may_run(const struct run *r, const char *const *words, size_t n)
{
	_cleanup_free_ struct question *q = calloc(1, sizeof(*q));
	const struct image *img = &r->launch.image;
	struct git_env git = git_env_of(img);
	bool may = q && question_init(q, OP_EXEC, (char *const *)words, n, r->bundle.cwd, img, &git) == 0 &&
		   eval(img, &q->req).verdict == VERDICT_ALLOW;

	if (q)
		question_done(q);
	return may;
}

/* A shell runs the hook of most agents. */
int agenthook_check(const struct run *r)
{
	const struct hook *k = wanted_hook(r);
	_cleanup_free_ char *line = k ? put("'%s' tool hook ", r->installed.self) : NULL;
	const char *const words[] = { r->installed.self, "tool", "hook", k ? k->agent : "" };
	const char *const shell[] = { "sh", "-c", line };

	if (!k || (line && may_run(r, words, NELEM(words)) && may_run(r, shell, NELEM(shell))))
		return 0;
	return refuse(k, "the policy does not let the agent run its hook", "");
}

void agenthook_tell(const struct run *r)
{
	const char *lacks = agenthook_lacks(r->bundle.agent);

	if (!has_rules(r))
		return;
	if (r->fence.level == LEVEL_HOOKS)
		talk("the rules about tools do not hold at level hooks");
	else if (lacks)
		talk("the rules about tools do not hold for %s: %s", r->bundle.agent, lacks);
}
