/* The rules that no file holds: the workspace may be written, pale's own files may not. */
#include "parse_impl.h"
#include "policy/command/git.h"
#include "policy/base/path.h"
#include "policy/rules/agent_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rule workspace = {
	.kind = RULE_FILE_WRITE,
	.layer = LAYER_USER,
	.rank = RANK_PRESET,
	.text = (char *)"the workspace",
	.file = (char *)"built in",
};
/* Mode none. */
static const struct rule closed_workspace = {
	.kind = RULE_FILE_DENY,
	.layer = LAYER_USER,
	.rank = RANK_PRESET,
	.text = (char *)"the workspace, in mode none",
	.file = (char *)"built in",
};

static int add_own(struct parser *ps, enum rule_kind kind, const char *text, const char *dir,
		   const char *path)
{
	char buf[LIMIT_PATH];
	struct rule proto = { .kind = kind,
			      .layer = LAYER_FLOOR,
			      .rank = RANK_BUILTIN,
			      .text = (char *)text,
			      .file = (char *)"built in" };

	/* A path of pale's own that cannot be normalised cannot be protected: refuse the policy. */
	if (path_normalise(dir, path, buf, sizeof(buf)) < 0)
		return diag_add(ps->d, SEVERITY_ERROR, "bad-path", "built in", 0, 0, NULL,
				"cannot protect `%s`", path);
	return parser_add_path(ps, &proto, buf);
}

/* True if a rule of this rank or a higher one closes the path; then no built-in rule opens it. */
static bool is_closed(const struct parser *ps, const char *path, enum rank rank)
{
	for (size_t i = 0; i < ps->p->n_rules; i++) {
		const struct rule *r = &ps->p->rules[i];

		if (r->layer == LAYER_USER && r->rank >= rank &&
		    strcmp(rule_section(r->kind), "files") == 0 && rule_verdict(r->kind) != VERDICT_ALLOW &&
		    path_is_covered(path, r->pattern))
			return true;
	}
	return false;
}

/* True if a rule of a file opens the path, or the mode opens every path. */
static bool is_opened(const struct parser *ps, const char *path)
{
	for (size_t i = 0; i < ps->p->n_rules; i++) {
		const struct rule *r = &ps->p->rules[i];

		if (r->kind == RULE_FILE_WRITE && r->layer == LAYER_USER && r->line > 0 &&
		    path_is_covered(path, r->pattern))
			return true;
	}
	return ps->p->s.mode == MODE_DANGER;
}

/*
 * RANK_BUILTIN marks a configuration that may be written only after a check of the new content: the
 * supervisor (git_own.c) allows only changes that concern branches.  At a level without that check
 * compile_path.c leaves the rule out.  A configuration that a file opens as a whole needs no such rule.
 */
static int add_git(struct parser *ps, enum rule_kind kind, const char *pattern)
{
	bool is_config = strncmp(path_basename(pattern), "config", 6) == 0 && kind == RULE_FILE_WRITE;
	const struct rule proto = {
		.kind = kind,
		.layer = LAYER_USER,
		.rank = is_config ? RANK_BUILTIN : RANK_PRESET,
		.text = (char *)"a part of the workspace's repository that lies elsewhere",
		.file = (char *)"built in",
	};
	char buf[LIMIT_PATH];

	if (path_normalise("/", pattern, buf, sizeof(buf)) < 0 || is_closed(ps, buf, RANK_PRESET) ||
	    (is_config && is_opened(ps, buf)))
		return 0;
	return parser_add_path(ps, &proto, buf);
}

/*
 * Names of files that git obeys, in any repository.  The supervisor judges what is written there
 * (tools/supervisor/git/git.h), because it knows the files around.
 */
static const char *const git_names[] = {
	"/**/config", "/**/config.worktree", "/**/config.pale", "/**/objects",
	"/**/hooks",  "/**/hooks/*",	     "/**/index",	"/**/commondir",
};

/*
 * Hooks of git-lfs in the workspace's own repository.  The presets protect all hooks, but these may be
 * written with the text that git-lfs has for them, if the supervisor checks it (compile_path.c leaves the
 * rules out at a level without that check).
 */
static const char *const lfs_hooks[] = { "pre-push", "post-checkout", "post-commit", "post-merge" };

static int add_lfs(struct parser *ps, const char *top)
{
	const struct rule proto = {
		.kind = RULE_FILE_WRITE,
		.layer = LAYER_USER,
		.rank = RANK_BUILTIN,
		.text = (char *)"git-lfs's own hooks",
		.file = (char *)"built in",
	};
	char dir[LIMIT_PATH], hook[LIMIT_PATH];
	int err = 0;

	if (path_normalise(top, ".git/hooks", dir, sizeof(dir)) < 0)
		return 0;
	for (size_t i = 0; err == 0 && i < sizeof(lfs_hooks) / sizeof(lfs_hooks[0]); i++)
		if (path_normalise(dir, lfs_hooks[i], hook, sizeof(hook)) >= 0 &&
		    !is_closed(ps, hook, RANK_USER))
			err = parser_add_path(ps, &proto, hook);
	return err;
}

static int add_guard(struct parser *ps, const char *text, const char *pattern)
{
	const struct rule proto = {
		.kind = RULE_FILE_GIT,
		.layer = LAYER_USER,
		.rank = RANK_BUILTIN,
		.text = (char *)text,
		.file = (char *)"built in",
	};

	return parser_add_path(ps, &proto, pattern);
}

/* Refuses the policy: without a path the rule could not protect anything. */
static int no_usable_path(struct parser *ps)
{
	return diag_add(ps->d, SEVERITY_ERROR, "bad-path", "built in", 0, 0, NULL,
			"the workspace has no usable path");
}

bool policy_protects(const struct policy *p, const char *branch)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct rule *r = &p->rules[i];
		const char *pattern =
			r->kind == RULE_BRANCH && r->pattern ? git_short_branch(r->pattern) : "";

		if (glob_match(pattern, strlen(pattern), branch, strlen(branch)))
			return true;
	}
	return false;
}

static int add_file(struct parser *ps, enum rule_kind kind, const char *text, const char *dir,
		    const char *name)
{
	const struct rule proto = {
		.kind = kind,
		.layer = LAYER_USER,
		.rank = kind == RULE_FILE_GIT ? RANK_BUILTIN : RANK_PRESET,
		.text = (char *)text,
		.file = (char *)"built in",
	};
	char path[LIMIT_PATH];
	int n = snprintf(path, sizeof(path), "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);

	return n < (int)sizeof(path) ? parser_add_path(ps, &proto, path) : no_usable_path(ps);
}

#define TRUNK_TEXT "a protected branch stays where it is; git gc and pack-refs go on"
#define HEAD_TEXT  "the protected branch that the session began on may grow; git gc and pack-refs go on"
/* Directories with remotes as files, which git still reads but no longer writes. */
static const char *const old_remotes[] = { "remotes", "branches" };

/* If the session changed the permissions of these, the next session would not find the branches. */
static const char *const trunk_places[] = { ".", "refs", "refs/heads" };

#define SHOW_TEXT "the protected branches are found there, by the next session too"
#define WAY_TEXT  "it says where the protected branches are"

/*
 * Each protected branch is a file of its own at this point (tools/git/trunk.c), and git prefers that file
 * to packed-refs.  The branch that the workspace is on may move to another commit, which the supervisor
 * checks.
 */
static int add_trunk(struct parser *ps, const char *common, const char *branch)
{
	bool is_head = ps->b->git_head && strcmp(branch, ps->b->git_head) == 0;
	char name[LIMIT_PATH];
	int r;

	if (snprintf(name, sizeof(name), "refs/heads/%s", branch) >= (int)sizeof(name))
		return no_usable_path(ps);
	if (!is_head)
		return add_file(ps, RULE_FILE_READONLY, TRUNK_TEXT, common, name);
	r = add_file(ps, RULE_FILE_KEEP, HEAD_TEXT, common, name);
	return r < 0 ? r : add_file(ps, RULE_FILE_GIT, name, common, name);
}

/* Protects the branches and the files that say where the repository is.  top: the normalised workspace. */
static int add_trunks(struct parser *ps, const char *top)
{
	const struct bundle *b = ps->b;
	char dot_git[LIMIT_PATH];
	bool some = false;
	int r = 0;

	/* Also where no protected branch is: a clone of another branch can push to one. */
	for (size_t i = 0; r == 0 && b->git_common && i < sizeof(old_remotes) / sizeof(old_remotes[0]); i++)
		r = add_file(ps, RULE_FILE_READONLY, "git takes it for a remote", b->git_common,
			     old_remotes[i]);
	for (size_t i = 0; r == 0 && b->git_common && i < b->n_git_trunk; i++) {
		/* After a reload the policy may differ from the one that the branches were found with. */
		if (!policy_protects(ps->p, b->git_trunk[i]))
			continue;
		some = true;
		r = add_trunk(ps, b->git_common, b->git_trunk[i]);
	}
	if (r < 0 || !some)
		return r;
	if (path_normalise(top, ".git", dot_git, sizeof(dot_git)) < 0)
		return no_usable_path(ps);
	if (strcmp(dot_git, b->git_own) != 0)
		r = add_file(ps, RULE_FILE_READONLY, WAY_TEXT, top, ".git");
	if (r == 0)
		r = add_file(ps, RULE_FILE_READONLY, WAY_TEXT, b->git_own, "commondir");
	if (r == 0)
		r = add_file(ps, RULE_FILE_GIT, "refs", b->git_common, "refs/**");
	for (size_t i = 0; r == 0 && i < sizeof(trunk_places) / sizeof(trunk_places[0]); i++)
		r = add_own(ps, RULE_FILE_PLACE, SHOW_TEXT, b->git_common, trunk_places[i]);
	return r;
}

static int add_git_names(struct parser *ps, const char *top)
{
	const char *own = ps->b->git_own;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(git_names) / sizeof(git_names[0]); i++)
		r = add_guard(ps, git_names[i] + 1, git_names[i]);
	if (r == 0 && own)
		r = add_file(ps, RULE_FILE_GIT, "HEAD", own, "HEAD");
	if (r == 0 && ps->b->git_common)
		r = add_file(ps, RULE_FILE_GIT, "HEAD", ps->b->git_common, "worktrees/*/HEAD");
	return r < 0 ? r : add_trunks(ps, top);
}

#define PROJECT_TEXT "a project's policy, which its owner changes, outside the session"
#define PLACE_TEXT   "the agent's state, a directory that may be filled and no more"
#define CONFIG_TEXT                                                                                          \
	"git, curl, wget and ssh obey what is there, as they do ~/.gitconfig, ~/.curlrc and ~/.wgetrc"
/* Configuration that would change what allowed commands do. */
static const char *const obeyed[] = { "git", ".curlrc", "curlrc", "wget", "ssh", "pale" };

/* The agent's state, where it lies outside the workspace.  Other sessions cannot reach it where the home
 * closes what no rule names. */
static int add_state(struct parser *ps, const char *state)
{
	const struct rule proto = { .kind = RULE_FILE_WRITE,
				    .layer = LAYER_USER,
				    .rank = RANK_PRESET,
				    .text = (char *)"the agent's state",
				    .file = (char *)"built in" };
	char buf[LIMIT_PATH];

	return path_normalise("/", state, buf, sizeof(buf)) < 0 ? no_usable_path(ps)
								: parser_add_path(ps, &proto, buf);
}

/* The agent's state keeps the directories that pale made (relocate.c): the next session uses them. */
static int add_places(struct parser *ps, const char *top, const char *state)
{
	const char *end = state[0] == '/' ? strrchr(state, '/') : state;
	char name[LIMIT_PATH];
	int r = state[0] == '/' ? add_state(ps, state) : 0;

	while (r == 0 && *end) {
		end = strchrnul(end + 1, '/');
		(void)snprintf(name, sizeof(name), "%.*s", (int)(end - state), state);
		r = add_own(ps, RULE_FILE_PLACE, PLACE_TEXT, top, name);
	}
	for (size_t i = 0; r == 0 && i < STATE_PLACES; i++) {
		(void)snprintf(name, sizeof(name), "%.*s/%s", LIMIT_PATH / 2, state, state_places[i].name);
		r = add_own(ps, RULE_FILE_PLACE, PLACE_TEXT, top, name);
	}
	for (size_t i = 0; r == 0 && i < sizeof(obeyed) / sizeof(obeyed[0]); i++) {
		(void)snprintf(name, sizeof(name), "%.*s/config/%s", LIMIT_PATH / 2, state, obeyed[i]);
		r = add_file(ps, RULE_FILE_READONLY, CONFIG_TEXT, top, name);
	}
	return r;
}

/*
 * Protects the project's own policy.  If the agent's state is beside it, pale has made .pale before the
 * session starts, it is no link, and it cannot be moved because it is above a protected file; so the rule
 * names the file alone.  Otherwise the session cannot make .pale at all.  The policies of all other
 * projects are protected too: a later session may start there, and a policy prepared elsewhere could be
 * moved there.
 */
static int add_project(struct parser *ps, const char *top)
{
	const char *state = policy_state(ps->b, ps->p);
	const char *name = policy_state_is_beside_project(ps->b, ps->p) ? ".pale/policy.ini" : ".pale";
	int r = add_own(ps, RULE_FILE_SELF, PROJECT_TEXT, top, name);

	if (r == 0)
		r = add_own(ps, RULE_FILE_SELF, PROJECT_TEXT, "/", "/**/.pale/policy.ini");
	if (r == 0)
		r = add_own(ps, RULE_FILE_PLACE, PLACE_TEXT, "/", "/**/.pale");
	return r < 0 || !state ? r : add_places(ps, state[0] == '/' ? "/" : top, state);
}

int parser_add_builtin(struct parser *ps)
{
	const struct bundle *b = ps->b;
	char buf[LIMIT_PATH];
	int err = 0;

	if (b->workspace && ps->p->s.mode != MODE_READ_ONLY &&
	    path_normalise("/", b->workspace, buf, sizeof(buf)) < 0)
		return no_usable_path(ps);
	if (b->workspace && ps->p->s.mode == MODE_NONE)
		err = parser_add_path(ps, &closed_workspace, buf);
	if (b->workspace && ps->p->s.mode > MODE_READ_ONLY) {
		err = parser_add_path(ps, &workspace, buf);
		for (size_t i = 0; err == 0 && i < b->n_git_write; i++)
			err = add_git(ps, RULE_FILE_WRITE, b->git_write[i]);
		for (size_t i = 0; err == 0 && i < b->n_git_keep; i++)
			err = add_git(ps, RULE_FILE_READONLY, b->git_keep[i]);
		if (err == 0)
			err = add_git_names(ps, buf);
		if (err == 0)
			err = add_lfs(ps, buf);
	}
	if (err == 0 && b->workspace)
		err = add_project(ps, b->workspace);
	/* An agent that could write its own log could forge it. */
	if (err == 0 && ps->p->logs)
		err = add_own(ps, RULE_FILE_SELF, ps->p->logs, "/", ps->p->logs);
	for (size_t i = 0; err == 0 && i < b->n_self_write; i++)
		err = add_own(ps, RULE_FILE_SELF, b->self_write[i], "/", b->self_write[i]);
	for (size_t i = 0; err == 0 && i < b->n_self_hide; i++)
		err = add_own(ps, RULE_FILE_HIDDEN, b->self_hide[i], "/", b->self_hide[i]);
	return err;
}
