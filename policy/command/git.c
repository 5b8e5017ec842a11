/*
 * Which branches a git command touches: see git.h.
 *
 * The function of the subcommand walks the words and reports every branch that the command would touch.  In
 * doubt a branch counts as touched: no harm is done where git would refuse the command as ambiguous.  Pure,
 * bounded.
 */
#include "git.h"

#include <string.h>

#include "cmd.h"
#include "git_typo.h"
#include "policy/base/path.h"

struct git_scan {
	struct cmd_view view;
	const struct image *img; /* NULL: no branch is protected, only wants is needed */
	const char *head;
	bool local; /* it writes to this repository alone */
	unsigned wants;
	bool hit;
	uint32_t rule;
};

static const char *strip_prefix(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : s;
}

const char *git_short_branch(const char *ref)
{
	const char *s = strip_prefix(ref, "refs/heads/");

	return s != ref ? s : strip_prefix(ref, "heads/");
}

static const struct branch_pattern *patterns(const struct git_scan *s, size_t *ret_n)
{
	const struct branch_pattern *p = NULL;
	size_t len = 0;

	if (s->img)
		p = image_sec(s->img, SEC_BRANCH, &len);
	*ret_n = p ? len / sizeof(*p) : 0;
	return p;
}

/* The branch is unknown: it may be any of the protected ones. */
static void touch_unknown(struct git_scan *s)
{
	size_t n;
	const struct branch_pattern *p = patterns(s, &n);

	s->wants |= s->local ? GIT_WANTS_NEW : 0;
	if (n > 0 && !s->hit)
		s->rule = p[0].rule;
	s->hit |= n > 0;
}

static void touch_branch(struct git_scan *s, const char *name)
{
	bool wild = strchr(name, '*') != NULL;
	size_t n, len = strlen(name);
	const struct branch_pattern *p = patterns(s, &n);

	s->wants |= s->local ? GIT_WANTS_NEW : 0;
	for (size_t i = 0; i < n && !s->hit; i++) {
		const char *pat = git_short_branch(image_str(s->img, p[i].pattern));

		if (wild ? !globs_overlap(pat, name) : !glob_match(pat, strlen(pat), name, len))
			continue;
		s->hit = true;
		s->rule = p[i].rule;
	}
}

static void touch_head(struct git_scan *s)
{
	s->wants |= GIT_WANTS_HEAD;
	if (s->head && *s->head)
		touch_branch(s, s->head);
	else
		touch_unknown(s);
}

/* A ref as the remote or update-ref reads it; tags, notes and remote-tracking refs are no branches. */
static void touch_ref(struct git_scan *s, const char *ref)
{
	const char *name = git_short_branch(ref);

	if (name == ref && globs_overlap(ref, "refs/heads/") && strchr(ref, '*'))
		touch_unknown(s); /* a glob above refs/heads/ */
	else if (name != ref || (strncmp(ref, "refs/", 5) != 0 && strncmp(ref, "tags/", 5) != 0))
		touch_branch(s, name);
}

/* A word that names a branch.  Where it says which only by the past (-, @{-1}, topic@{u}), the file is held.
 */
static void touch_goal(struct git_scan *s, const char *word)
{
	if (strcmp(word, "-") != 0 && strncmp(word, "@{", 2) != 0 && !strchr(word, '*'))
		touch_branch(s, git_short_branch(word));
}

/*
 * The branch that checkout or switch goes to.  The one that the session began on does not count as touched.
 */
static void touch_place(struct git_scan *s, const char *word)
{
	if (!s->img || strcmp(word, image_str(s->img, s->img->h->git_head)) != 0)
		touch_goal(s, word);
}

/* Was a configuration key with this beginning set on the command line (-c, --config-env)? */
static bool sets_config(const struct git_scan *s, const char *lower)
{
	const struct command *c = s->view.c;

	for (size_t i = 0; i < s->view.count; i++) {
		const char *arg = command_arg(c, i), *key = NULL;
		size_t n = 0;

		if (arg[0] != '-')
			continue;
		if (strcmp(arg, "-c") == 0 || strcmp(arg, "--config-env") == 0)
			key = command_arg(c, ++i);
		else if (strncmp(arg, "--config-env=", 13) == 0)
			key = arg + 13;
		while (key && lower[n] && (key[n] | 0x20) == lower[n])
			n++;
		if (key && !lower[n])
			return true;
	}
	return false;
}

/* In a namespace a push does not go to HEAD's branch. */
static bool has_namespace(const struct git_scan *s)
{
	struct cmd_walk w = { .view = &s->view };
	const char *arg;
	enum cmd_arg kind;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END && kind != ARG_WORD)
		if (kind == ARG_OPTION && strncmp(arg, "--namespace", 11) == 0)
			return true;
	return false;
}

/* Is the option arg one of the blank-separated longs, abbreviated or not? */
static bool long_matches(const char *longs, const char *arg)
{
	size_t len = strcspn(arg, "=");

	while (len > 0 && *longs) {
		size_t n = strcspn(longs, " ");

		if (len <= n && strncmp(longs, arg, len) == 0)
			return true;
		longs += n + (longs[n] == ' ');
	}
	return false;
}

/*
 * The first letter of the cluster that is one of letters.  After a letter that takes a value none counts.
 */
static const char *short_matches(const struct git_scan *s, const char *letters, const char *arg)
{
	for (const char *p = arg + 1; *p; p++) {
		if (strchr(letters, *p))
			return p;
		if (cmd_letter_takes(s->view.sub, *p))
			return NULL;
	}
	return NULL;
}

static bool has_option(const struct git_scan *s, const char *letters, const char *longs)
{
	struct cmd_walk w = { .view = &s->view };
	const char *arg;
	enum cmd_arg kind;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		if (kind != ARG_OPTION || !w.seen_sub)
			continue;
		if (arg[1] == '-' ? long_matches(longs, arg + 2) : short_matches(s, letters, arg) != NULL)
			return true;
	}
	return false;
}

/* Touches the value of each such option: -B main, -Bmain, --orphan main, --orphan=main. */
static void touch_values(struct git_scan *s, const char *letters, const char *longs)
{
	struct cmd_walk w = { .view = &s->view };
	const char *arg;
	enum cmd_arg kind;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		const char *value = NULL;

		if (kind != ARG_OPTION || !w.seen_sub)
			continue;
		if (arg[1] != '-') {
			const char *p = short_matches(s, letters, arg);

			value = p ? p + 1 : NULL;
		} else if (long_matches(longs, arg + 2)) {
			value = strchr(arg, '=') ? strchr(arg, '=') + 1 : "";
		}
		if (value && !*value)
			value = command_arg(s->view.c, w.next);
		if (value)
			touch_branch(s, git_short_branch(value));
	}
}

/* Word n after the subcommand, or NULL. */
static const char *word_at(const struct git_scan *s, size_t n)
{
	return cmd_word_at(&s->view, n);
}

/*
 * Configuration may send a branch that is named without a target elsewhere: remote.*.push, or its upstream.
 */
static bool is_mapped(const struct git_scan *s)
{
	return s->head && !*s->head;
}

/* A push refspec: [+]src[:dst]. */
static void push_refspec(struct git_scan *s, const char *spec)
{
	const char *colon, *dst;

	if (*spec == '^')
		return;
	spec += *spec == '+';
	colon = strchr(spec, ':');
	dst = colon ? colon + 1 : spec;
	if (colon && (!*dst || strcmp(dst, "HEAD") == 0 || strcmp(dst, "@") == 0))
		touch_unknown(s); /* `:` pushes every branch that both sides have; HEAD is the remote's */
	else if (strcmp(dst, "HEAD") == 0 || strcmp(dst, "@") == 0)
		touch_head(s);
	else if (strstr(dst, "@{") || strcmp(dst, "-") == 0 || (!colon && is_mapped(s)))
		touch_unknown(s);
	else
		touch_ref(s, dst);
}

/* The words do not show the value that --config-env sets. */
static bool has_config_env(const struct git_scan *s)
{
	for (size_t i = 0; i < s->view.count; i++)
		if (strncmp(command_arg(s->view.c, i), "--config-env", 12) == 0)
			return true;
	return false;
}

static bool config_maps_refs(const struct git_scan *s)
{
	return sets_config(s, "remote.") || sets_config(s, "include");
}

/*
 * With push.default = upstream (formerly tracking) a branch goes where branch.NAME.merge says, even a named
 * one.
 */
static bool config_maps_push(const struct git_scan *s)
{
	return config_maps_refs(s) || sets_config(s, "push.default=u") || sets_config(s, "push.default=t") ||
	       sets_config(s, "branch.") || has_config_env(s);
}

static void scan_push(struct git_scan *s)
{
	size_t n = 1;
	const char *word;

	/* send-pack that a push over https started: that push was judged, and send-pack talks only to it */
	if (has_option(s, "", "stateless-rpc") && !has_option(s, "", "no-stateless-rpc") &&
	    strcmp(s->view.word, "send-pack") == 0)
		return;
	s->wants |= GIT_WANTS_CONFIG;
	if (has_option(s, "", "all branches mirror prune stdin") || config_maps_push(s))
		touch_unknown(s);
	for (; (word = word_at(s, n)) != NULL; n++) {
		if (strcmp(word, "tag") == 0)
			n++;
		else
			push_refspec(s, word);
	}
	if (n > 1)
		return;
	if (sets_config(s, "push.") || strchr(s->view.word, '-'))
		touch_unknown(s); /* send-pack without refs: every branch that both sides have */
	touch_head(s);
}

/* fetch and pull write the right side of a refspec into this repository. */
static void scan_fetch(struct git_scan *s)
{
	/* how git itself fetches what a partial clone lacks: object names on stdin, no refs */
	bool lazy = has_option(s, "", "filter") && has_option(s, "", "no-write-fetch-head");
	const char *word;

	if ((has_option(s, "", "stdin") && !lazy) || has_option(s, "", "refmap") || config_maps_refs(s))
		touch_unknown(s);
	for (size_t n = 1; (word = word_at(s, n)) != NULL; n++) {
		const char *colon = strchr(word, ':');

		if (colon && colon[1] && word[0] != '^')
			touch_ref(s, colon + 1);
	}
}

/* The new branch that an option names; --track origin/main makes the local branch main. */
static bool touch_made(struct git_scan *s, const char *letters, const char *longs)
{
	const char *word = word_at(s, 0);

	if (has_option(s, letters, longs)) {
		touch_values(s, letters, longs);
		return true;
	}
	if (!word || !has_option(s, "t", "track"))
		return false;
	word = strip_prefix(strip_prefix(word, "refs/"), "remotes/");
	if (strchr(word, '/'))
		touch_branch(s, strchr(word, '/') + 1);
	return false;
}

static void scan_checkout(struct git_scan *s)
{
	struct cmd_walk w = { .view = &s->view };
	size_t before = 0, behind = 0;
	const char *arg;
	enum cmd_arg kind;

	if (touch_made(s, "bB", "orphan"))
		return;
	if (has_option(s, "dp", "detach patch pathspec-from-file"))
		return;
	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		before += kind == ARG_WORD && !w.only_words;
		behind += kind == ARG_WORD && w.only_words;
	}
	/* the subcommand counts as one; a second word, or one after `--`, is a file */
	if (before == 2 && behind == 0)
		touch_place(s, word_at(s, 0));
}

static void scan_switch(struct git_scan *s)
{
	const char *word = word_at(s, 0);

	if (touch_made(s, "cC", "create force-create orphan"))
		return;
	if (word && !has_option(s, "d", "detach"))
		touch_place(s, word);
}

static void scan_branch(struct git_scan *s)
{
	const char *first = word_at(s, 0), *second = word_at(s, 1), *word;

	if (!first || has_option(s, "r", "remotes"))
		return;
	if (has_option(s, "dD", "delete")) {
		for (size_t n = 0; (word = word_at(s, n)) != NULL; n++)
			touch_goal(s, word);
		return;
	}
	if (has_option(s, "mM", "move")) {
		touch_goal(s, first);
		if (second)
			touch_goal(s, second);
		else
			touch_head(s);
	} else if (has_option(s, "cC", "copy")) {
		touch_goal(s, second ? second : first);
	} else if (has_option(s, "f", "force")) {
		touch_goal(s, first);
	}
}

static void scan_update_ref(struct git_scan *s)
{
	const char *ref = word_at(s, 0);

	/* commit and reset move HEAD's branch too, but do not delete it */
	if (ref && strcmp(ref, "HEAD") == 0 && has_option(s, "d", ""))
		touch_head(s);
	else if (ref)
		touch_ref(s, ref);
}

static void scan_symbolic_ref(struct git_scan *s)
{
	const char *name = word_at(s, 0), *target = word_at(s, 1);

	if (name && (target || has_option(s, "d", "delete")))
		touch_ref(s, name);
	if (target)
		touch_ref(s, target);
}

static void scan_worktree(struct git_scan *s)
{
	const char *verb = word_at(s, 0), *path = word_at(s, 1), *goal = word_at(s, 2);

	if (!verb || !path || strcmp(verb, "add") != 0)
		return;
	touch_values(s, "bB", "");
	/* without a goal the branch is named after the directory */
	if (!has_option(s, "bBd", "detach"))
		touch_goal(s, goal ? goal : path_basename(path));
}

static void scan_rebase(struct git_scan *s)
{
	/* rebase UPSTREAM BRANCH goes to BRANCH first and moves it */
	const char *goal = word_at(s, has_option(s, "", "root") ? 0 : 1);

	if (goal)
		touch_goal(s, goal);
}

static const struct {
	const char *sub;
	void (*scan)(struct git_scan *s);
	bool local;
} scans[] = {
	{ "push", scan_push, false },
	{ "send-pack", scan_push, false },
	{ "http-push", scan_push, false },
	{ "fetch", scan_fetch, false },
	{ "pull", scan_fetch, false },
	{ "checkout", scan_checkout, true },
	{ "switch", scan_switch, true },
	{ "branch", scan_branch, true },
	{ "update-ref", scan_update_ref, true },
	{ "symbolic-ref", scan_symbolic_ref, true },
	{ "worktree", scan_worktree, true },
	{ "rebase", scan_rebase, true },
};

static void scan_helper(struct git_scan *s)
{
	s->wants |= GIT_WANTS_CALLER;
	if (!s->head || !*s->head)
		touch_unknown(s);
}

static void scan_command(struct git_scan *s, const struct command *c)
{
	bool is_new = s->head && strcmp(s->head, GIT_NEW) == 0;

	s->view = cmd_view_of(c);
	if (is_new)
		s->head = "";
	/* That of a ghost leads to the gate alone, which judges the refs. */
	if (strncmp(s->view.word, "remote-", 7) == 0 && strcmp(s->view.word + 7, "pale") != 0)
		scan_helper(s);
	if (s->head && strcmp(s->head, GIT_UNTOLD) == 0)
		s->head = "";
	if (s->head && has_namespace(s))
		s->head = "";
	for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); i++) {
		s->local = scans[i].local;
		if (s->local && is_new)
			continue;
		if (strcmp(s->view.word, scans[i].sub) == 0 || git_could_correct(s->view.word, scans[i].sub))
			scans[i].scan(s);
	}
}

bool git_touches_trunk(const struct image *img, const struct command *c, const char *head, uint32_t *ret_rule)
{
	struct git_scan s = { .img = img, .head = head };
	size_t n;

	if (!git_is(c) || !patterns(&s, &n) || n == 0)
		return false;
	scan_command(&s, c);
	if (s.hit)
		*ret_rule = s.rule;
	return s.hit;
}

unsigned git_wants(const struct command *c)
{
	struct git_scan s = { .img = NULL };

	if (!git_is(c))
		return 0;
	scan_command(&s, c);
	return s.wants;
}
